"""`sqlaudit persons`: what somebody learns who knows some events of a person."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.options import request_from
from sqlaudit.base.spec import Limits, Target
from sqlaudit.cli.options import Work, limit_options, output_options, target_options, work_options
from sqlaudit.cli.output import Output, check_plot, write_plot
from sqlaudit.cli.requests import given_options
from sqlaudit.cli.sections import Sectioned
from sqlaudit.events.request import PersonsRequest

if TYPE_CHECKING:
    from sqlaudit.events.result import PersonsResult


@click.command(cls=Sectioned)
@target_options
@given_options(PersonsRequest, "given")
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
    plot: Path | None,
    output: Output,
    work: Work,
    limits: Limits,
) -> int:
    """Tell what somebody learns who knows some events of a person in TARGET.

    For tables with many rows a person: visits, claims, purchases, positions. An event is one
    combination of the --qi; with how few known events are persons found? Only counts leave the
    database.

    \b
      sqlaudit persons visits.csv --entity patient_id --qi "clinic,date_trunc('month', day)"
      sqlaudit persons visits.csv --entity patient_id --qi clinic --known 1..3 --random 4
    """
    from sqlaudit.cli.plan import show_statements
    from sqlaudit.cli.session import session
    from sqlaudit.events.report import persons_document
    from sqlaudit.events.run import find_persons, plan_persons

    if plot is not None:
        check_plot(plot)
    request = _request(given, target)
    with session(db, limits, work, target, *request.targets) as engine:
        if work.dry_run or work.explain:
            tables, planned = plan_persons(engine, target, request)
            show_statements(engine, tables or (target.name,), planned, work, output)
            return ExitCode.OK
        result = find_persons(engine, target, request)
    output.emit(lambda: persons_document(result), result.to_dict)
    if plot is not None:
        _draw(plot, result)
    return ExitCode.OK if result.complete else ExitCode.INCOMPLETE


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
