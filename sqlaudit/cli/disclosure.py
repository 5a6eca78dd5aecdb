"""`sqlaudit disclosure`: what an attacker with k pieces of knowledge can learn, in the worst case."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from sqlaudit.audits.disclosure.report import disclosure_document
from sqlaudit.audits.disclosure.results import DisclosureResult
from sqlaudit.audits.disclosure.run import DisclosureRequest, check_roles, find_disclosure, planned_statements
from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.spec import Limits, Roles, Target
from sqlaudit.cli.options import Work, limit_options, output_options, role_options, target_options, work_options
from sqlaudit.cli.output import Output, check_plot, write_plot
from sqlaudit.cli.plan import show_statements
from sqlaudit.cli.sections import Sectioned, in_section, shared
from sqlaudit.cli.session import session

_RANGE = re.compile(r"(?:(\d{1,6})\s*(?:\.\.|-)\s*)?(\d{1,6})")
_WORST = "worst"


@dataclass(frozen=True)
class CurveQuestion:
    """What is asked of the table, apart from roles."""

    first_k: int
    knowledge: int
    threshold: Fraction | None
    witness: str | None
    weakest: int
    show_values: bool
    given: Path | None
    plot: Path | None

    def request(self, target: Target, roles: Roles) -> DisclosureRequest:
        """The request for a target."""
        witness_k = int(self.witness) if self.witness not in (None, _WORST) else None
        return DisclosureRequest(
            target,
            roles,
            self.knowledge,
            self.first_k,
            self.threshold,
            self.weakest,
            self.witness is not None,
            witness_k,
            self.show_values,
        )


def _knowledge(ctx: click.Context, param: click.Parameter, value: str) -> tuple[int, int]:
    found = _RANGE.fullmatch(value.strip())
    if found is None:
        raise click.BadParameter(f"{value!r} is not a range of numbers; write 0..12, or 12.", ctx, param)
    return int(found[1] or 0), int(found[2])


def _threshold(ctx: click.Context, param: click.Parameter, value: str | None) -> Fraction | None:
    if value is None:
        return None
    try:
        number = Decimal(value)
    except InvalidOperation:
        raise click.BadParameter(f"{value!r} is not a number; write 0.7.", ctx, param) from None
    if not (number.is_finite() and 0 < number <= 1 and number.adjusted() > -30):
        raise click.BadParameter(f"{value!r} is not a probability above 0 and at most 1.", ctx, param)
    return Fraction(number)


def _witness(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value in (None, _WORST) or (value.isascii() and value.isdecimal() and len(value) < 7):
        return value
    raise click.BadParameter(f"{value!r} is not a number of pieces; put --witness behind the TARGET.", ctx, param)


def _refuse_curve_options() -> None:
    context = click.get_current_context()
    for name in ("knowledge", "threshold", "witness", "weakest", "plot"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise UsageError(f"--given asks its own question; leave --{name} out.")


def _question(
    *,
    knowledge: tuple[int, int],
    threshold: Fraction | None,
    witness: str | None,
    weakest: int,
    given: Path | None,
    plot: Path | None,
    show_values: bool,
) -> dict[str, Any]:
    if given is not None:
        _refuse_curve_options()
    if plot is not None:
        check_plot(plot)
    return {"question": CurveQuestion(*knowledge, threshold, witness, weakest, show_values, given, plot)}


_ask = in_section("What to ask")
question_options = shared(
    _question,
    _ask(
        "--knowledge",
        callback=_knowledge,
        default="0..12",
        show_default=True,
        metavar="0..K",
        help="Pieces of knowledge that the curve covers.",
    ),
    _ask("--threshold", callback=_threshold, metavar="C", help="A probability that should not be reached: 0.7."),
    _ask(
        "--witness",
        is_flag=False,
        flag_value=_WORST,
        callback=_witness,
        metavar="[K]",
        help="Show K implications that reach the maximum, as a proof. Without K: as many as reach C, or certainty.",
    ),
    _ask(
        "--weakest",
        type=click.IntRange(0, 1000),
        default=5,
        show_default=True,
        metavar="N",
        help="How many kinds of weakest classes to tell.",
    ),
    _ask(
        "--given",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="What if exactly this is known? A YAML file with people, knowledge, and what to ask.",
    ),
    _ask("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw the curve into a .svg or .png file."),
    _ask("--show-values", is_flag=True, help="Name classes and values, which may name persons."),
)
"""Adds what is asked of a table; the command gets `question: Question`."""


@click.command(cls=Sectioned)
@target_options
@role_options
@question_options
@output_options
@work_options
@limit_options
def command(
    target: Target, db: str | None, roles: Roles, question: CurveQuestion, output: Output, work: Work, limits: Limits
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
    check_roles(roles)
    if question.given is not None:
        return _answer(question.given, question.show_values, target, db, roles, output, work, limits)
    request = question.request(target, roles)
    with session(db, limits, work, target) as engine:
        if work.dry_run or work.explain:
            relation = engine.open(target)
            tables = relation.tables or (target.name,)
            show_statements(engine, tables, planned_statements(engine, relation, roles), work, output)
            return ExitCode.OK
        result = find_disclosure(engine, request)
    if question.plot is not None:
        _draw(question.plot, result)
    output.emit(lambda: disclosure_document(result), result.to_dict)
    return ExitCode.OK


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
