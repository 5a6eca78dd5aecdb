"""`sqlaudit persons`: what somebody learns who knows some events of a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.options import request_from
from sqlaudit.base.spec import Limits, Requirement, Target
from sqlaudit.cli.exits import worst
from sqlaudit.cli.options import Work, limit_options, output_options, target_options, work_options
from sqlaudit.cli.output import Output, check_plot, write_plot
from sqlaudit.cli.requests import given_options
from sqlaudit.cli.sections import Sectioned, in_section, shared
from sqlaudit.events.request import PersonsRequest

if TYPE_CHECKING:
    from sqlaudit.events.result import PersonsResult


def _requirements(*, require: tuple[str, ...]) -> dict[str, tuple[Requirement, ...]]:
    if not require:
        return {"required": ()}
    from sqlaudit.models.registry import OF_PERSONS
    from sqlaudit.models.requirements import parse_requirements

    return {"required": tuple(one for text in require for one in parse_requirements(text, among=OF_PERSONS))}


@click.command(cls=Sectioned)
@target_options
@given_options(PersonsRequest, "given")
@shared(
    _requirements,
    in_section("What must hold of persons")(
        "--require",
        multiple=True,
        metavar="MODEL=LIMIT",
        help="km@2=5, profile_k=5, unicity@4=5%, coherence@2=k:5,h:0.8",
    ),
)
@click.option(
    "--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw the curve into a .svg or .png file."
)
@output_options
@work_options
@limit_options
def command(
    target: Target,
    db: str | None,
    given: Mapping[str, Any],
    required: tuple[Requirement, ...],
    plot: Path | None,
    output: Output,
    work: Work,
    limits: Limits,
) -> int:
    """Tell what somebody learns who knows some events of a person in TARGET.

    For tables with many rows a person: visits, claims, purchases, positions. An event is one
    combination of the --qi; with how few known events are persons found? Only counts leave the
    database. Exit code with --require 0: all hold, 1: one fails or cannot be decided.

    \b
      sqlaudit persons visits.csv --entity patient_id --qi "clinic,date_trunc('month', day)"
      sqlaudit persons visits.csv --entity patient_id --qi clinic --known 1..3 --random 4
      sqlaudit persons visits.csv --entity patient_id --qi clinic --require km@2=5 \\
          --require unicity@4=5%
    """
    from sqlaudit.cli.plan import show_statements
    from sqlaudit.cli.session import session
    from sqlaudit.events.report import persons_document
    from sqlaudit.events.run import find_persons, plan_persons

    if plot is not None:
        check_plot(plot)
    request = replace(_request(given, target), requirements=required)
    with session(db, limits, work, target, *request.targets) as engine:
        if work.dry_run or work.explain:
            tables, planned = plan_persons(engine, target, request)
            show_statements(engine, tables or (target.name,), planned, work, output)
            return ExitCode.OK
        result = find_persons(engine, target, request)
        if result.by_hand:  # what is proven is worth telling before the way out
            output.emit(lambda: persons_document(result), result.to_dict)
            return ExitCode.INTERRUPTED
    output.emit(lambda: persons_document(result), result.to_dict)
    if plot is not None:
        _draw(plot, result)
    verdict = ExitCode.OK if result.passed else ExitCode.REQUIREMENT_FAILED
    return verdict if result.complete else worst(verdict, ExitCode.INCOMPLETE)


def _request(given: Mapping[str, Any], target: Target) -> PersonsRequest:
    """A table of persons is read as the target is."""
    tables = {
        name: Target(relation=given[name], read=target.read) for name in ("static_from",) if given.get(name) is not None
    }
    return request_from(PersonsRequest, {**given, **tables})


def _draw(path: Path, result: PersonsResult) -> None:
    from sqlaudit.events.pictures import curve_picture
    from sqlaudit.reports.page.pictures import draw_file

    picture = curve_picture(result)
    if picture is None:
        raise UsageError("There is no curve to draw: ask for more known events with --known, of a table with persons.")
    write_plot(path, lambda kind: draw_file(picture, kind))
