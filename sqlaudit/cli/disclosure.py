"""`sqlaudit disclosure`: what an attacker with k pieces of knowledge can learn, in the worst case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from sqlaudit.audits.disclosure.request import ASK, DisclosureRequest, check_roles
from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.options import FILE, option, request_from
from sqlaudit.base.spec import Limits, Roles, Target
from sqlaudit.cli.options import Work, bucketized_options, limit_options, output_options, role_options, work_options
from sqlaudit.cli.output import Output, check_plot, write_plot
from sqlaudit.cli.requests import given_options
from sqlaudit.cli.sections import Sectioned

if TYPE_CHECKING:
    from sqlaudit.audits.disclosure.results import DisclosureResult

_CURVE = ("knowledge", "threshold", "witness", "weakest", "plot")
"""The options that say how a curve is told."""


@dataclass(frozen=True)
class _Asked(DisclosureRequest):
    """What the command line may ask besides.

    Args:
        given: what exactly is known, instead of a worst case. plot: where the curve is drawn.
    """

    given: Path | None = option(
        None,
        FILE,
        "What if exactly this is known? A YAML file with people, knowledge, and what to ask.",
        ASK,
        metavar="FILE",
    )
    plot: Path | None = option(None, FILE, "Draw the curve into a .svg or .png file.", ASK, metavar="FILE")


@click.command(cls=Sectioned)
@bucketized_options
@role_options
@given_options(_Asked, "asked", last=("show_values",))
@output_options
@work_options
@limit_options
def command(
    target: Target, db: str | None, roles: Roles, asked: Mapping[str, Any], output: Output, work: Work, limits: Limits
) -> int:
    """Tell what an attacker with k pieces of knowledge can learn about somebody in TARGET.

    A piece of knowledge is a basic implication: if these persons have these values, then one of
    those has one of those. The curve is the worst case over all such knowledge.

    \b
    How fast does disclosure grow, and when does it reach 0.7?
      sqlaudit disclosure patients.csv --qi age,sex --sensitive disease \\
          --knowledge 0..12 --threshold 0.7 --plot curve.svg
    Which three pieces of knowledge are the worst?
      sqlaudit disclosure patients.csv --qi age,sex --sensitive disease --witness 3
    What if somebody knows exactly this?
      sqlaudit disclosure patients.csv --qi age,sex --sensitive disease --given knowledge.yml
    """
    from sqlaudit.audits.disclosure.report import disclosure_document
    from sqlaudit.audits.disclosure.run import find_disclosure, planned_statements
    from sqlaudit.cli.plan import show_statements
    from sqlaudit.cli.session import session

    if "given" in asked:
        _refuse_curve_options()
        check_roles(roles)
        return _answer(asked["given"], asked["show_values"], target, db, roles, output, work, limits)
    plot = asked.get("plot")
    if plot is not None:
        check_plot(plot)
    request = request_from(DisclosureRequest, asked, target=target, roles=roles)
    with session(db, limits, work, target) as engine:
        if work.dry_run or work.explain:
            relation = engine.open(target)
            tables = relation.tables or (target.name,)
            show_statements(engine, tables, planned_statements(engine, relation, roles), work, output)
            return ExitCode.OK
        result = find_disclosure(engine, request)
    if plot is not None:
        _draw(plot, result)
    output.emit(lambda: disclosure_document(result), result.to_dict)
    return ExitCode.OK


def _refuse_curve_options() -> None:
    context = click.get_current_context()
    for name in _CURVE:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise UsageError(f"--given asks its own question; leave --{name} out.")


def _draw(path: Path, result: DisclosureResult) -> None:
    from sqlaudit.audits.disclosure.plots import draw_curves

    write_plot(path, lambda kind: draw_curves(result, kind))


def _answer(
    file: Path,
    show_values: bool,
    target: Target,
    db: str | None,
    roles: Roles,
    output: Output,
    work: Work,
    limits: Limits,
) -> ExitCode:
    """The answers to what a file asks."""
    from sqlaudit.audits.disclosure.given import load_knowledge
    from sqlaudit.audits.disclosure.what_if import answer, planned_questions
    from sqlaudit.audits.disclosure.what_if_report import what_if_document
    from sqlaudit.cli.plan import show_statements
    from sqlaudit.cli.session import session

    if work.explain:
        raise UsageError("A database has no plan for a statement with open parameters; --dry-run shows the statements.")
    knowledge = load_knowledge(file)
    with session(db, limits, work, target) as engine:
        if work.dry_run:
            relation = engine.open(target)
            tables = relation.tables or (target.name,)
            show_statements(engine, tables, planned_questions(engine, relation, roles, knowledge), work, output)
            return ExitCode.OK
        result = answer(engine, target, roles, knowledge, show_values)
    output.emit(lambda: what_if_document(result), result.to_dict)
    return ExitCode.OK
