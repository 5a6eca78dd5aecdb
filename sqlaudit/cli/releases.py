"""`sqlaudit releases`: what several releases of one table say together."""

from __future__ import annotations

from typing import Any

import click

from sqlaudit.base.errors import ExitCode
from sqlaudit.base.spec import Limits, Requirement, Target
from sqlaudit.cli.options import Work, limit_options, output_options, read_from, read_parameters, work_options
from sqlaudit.cli.output import Output
from sqlaudit.cli.requests import request_options
from sqlaudit.cli.sections import Sectioned, in_section, shared
from sqlaudit.release.series.request import SeriesRequest

_what = in_section("What to look at")


def _tables(*, names: tuple[str, ...], db: str | None, **values: Any) -> dict[str, Any]:
    read = read_from(values)
    return {"targets": [Target(relation=name, read=read) for name in names], "db": db}


def _requirements(*, require: tuple[str, ...]) -> dict[str, tuple[Requirement, ...]]:
    if not require:
        return {"required": ()}
    from sqlaudit.models.registry import OF_RELEASES
    from sqlaudit.models.requirements import parse_requirements

    return {"required": tuple(one for text in require for one in parse_requirements(text, among=OF_RELEASES))}


@click.command(cls=Sectioned)
@shared(
    _tables,
    click.argument("names", metavar="RELEASE RELEASE...", nargs=-1),
    _what("--db", metavar="DATABASE", help="A DuckDB file, or a PostgreSQL URL or conninfo. Without it: files."),
    *read_parameters,
)
@request_options(SeriesRequest, "request")
@shared(
    _requirements,
    in_section("What must hold")("--require", multiple=True, metavar="MODEL=LIMIT", help="m_invariance=3"),
)
@output_options
@work_options
@limit_options
def command(
    targets: list[Target],
    db: str | None,
    request: SeriesRequest,
    required: tuple[Requirement, ...],
    output: Output,
    work: Work,
    limits: Limits,
) -> int:
    """Tell what several RELEASEs of one table say together, published one after the other.

    Each may be safe alone. Who is known to be in several has a value that all of their classes
    have; if only one is left, they are singled out. Name all releases, each with the column of
    persons that the owner keeps. Exit code with --require 0: it holds, 1: it fails.

    \b
      sqlaudit releases may.csv june.csv july.csv --entity id --qi age,zip --sensitive diagnosis
      sqlaudit releases --db clinic.duckdb may june july --entity id --qi age,zip \\
          --sensitive diagnosis --require m_invariance=3
    """
    from dataclasses import replace

    from sqlaudit.cli.plan import show_statements
    from sqlaudit.cli.session import session
    from sqlaudit.release.series.report import releases_document
    from sqlaudit.release.series.run import find_in_releases, plan_releases

    request = replace(request, requirements=required)
    with session(db, limits, work, *targets) as engine:
        if work.dry_run or work.explain:
            tables = tuple(dict.fromkeys(name for one in targets for name in engine.open(one).tables or (one.name,)))
            show_statements(engine, tables, plan_releases(engine, targets, request), work, output)
            return ExitCode.OK
        result = find_in_releases(engine, targets, request)
    output.emit(lambda: releases_document(result), result.to_dict)
    return ExitCode.OK if result.passed else ExitCode.REQUIREMENT_FAILED
