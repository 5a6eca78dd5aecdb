"""`sqlaudit suppress`: the fewest cells to make `*` so that a release is safe, and that release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.options import request_from
from sqlaudit.base.publication import Publication
from sqlaudit.base.spec import Limits, Roles, Target
from sqlaudit.cli.options import (
    Demands,
    Work,
    limit_options,
    output_options,
    require_options,
    role_options,
    target_options,
    work_options,
)
from sqlaudit.cli.output import Output, say_written
from sqlaudit.cli.requests import given_options, request_options
from sqlaudit.cli.sections import Sectioned, in_section, shared
from sqlaudit.remedies.suppress.request import How, SuppressRequest

if TYPE_CHECKING:
    from sqlaudit.remedies.suppress.result import SuppressResult

_how = in_section("How the cells are chosen")


def _chosen(*, exact: bool, fast: bool) -> dict[str, How]:
    if exact and fast:
        raise UsageError("Give --exact or --fast, not both.")
    return {"how": How.EXACT if exact else How.FAST if fast else How.AUTO}


_how_options = shared(
    _chosen,
    _how("--exact", is_flag=True, help="Prove that no fewer will do, or say how many fewer may; needs HiGHS."),
    _how("--fast", is_flag=True, help="Take a good answer at once, with a bound. Neither: exact where that is small."),
)


@click.command(cls=Sectioned)
@target_options
@role_options
@require_options
@_how_options
@given_options(SuppressRequest, "chosen")
@request_options(Publication, "published")
@output_options
@work_options
@limit_options
def command(
    target: Target,
    db: str | None,
    roles: Roles,
    asked: Demands,
    how: How,
    chosen: Mapping[str, Any],
    published: Publication,
    output: Output,
    work: Work,
    limits: Limits,
) -> int:
    """Find the fewest cells of TARGET to suppress so that it is safe to publish.

    Cells become *; rows that differ in nothing else are then a class. Patterns of rows are
    counted in the database, and no value leaves it; the release is audited before it is written.

    \b
      sqlaudit suppress patients.csv --qi age,sex,zip --sensitive diagnosis \\
          --require k=5 --require l=2 --weights zip=2 --to release.parquet
    Exit code 0: a safe release was found, 4: --exact was asked for and is not proven.
    """
    from sqlaudit.cli.plan import show_statements
    from sqlaudit.cli.session import session
    from sqlaudit.remedies.suppress.api import targets_of
    from sqlaudit.remedies.suppress.run import plan_suppression, suppress_table

    request = request_from(
        SuppressRequest,
        {**chosen, "how": how},
        target=target,
        roles=roles,
        requirements=asked.requirements,
        inputs=asked.inputs,
    )
    published.check()
    with session(db, limits, work, *targets_of(request)) as engine:
        if work.dry_run or work.explain:
            tables = engine.open(target).tables or (target.name,)
            show_statements(engine, tables, plan_suppression(engine, request, published), work, output)
            return ExitCode.OK
        result = suppress_table(engine, request, published, engine.progress)
        if result.effort.stopped == "interrupted":  # what is known is worth telling before the way out
            _emit(output, result, published)
            return ExitCode.INTERRUPTED
    _emit(output, result, published)
    if result.release is not None:
        say_written(published, result.release.rows)
    return ExitCode.OK if result.complete else ExitCode.INCOMPLETE


def _emit(output: Output, result: SuppressResult, published: Publication) -> None:
    from sqlaudit.remedies.suppress.report import suppress_document

    sql = result.release.sql if result.release and published.with_sql else ""
    output.emit(lambda: suppress_document(result), result.to_dict, sql)
