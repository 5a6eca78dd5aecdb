"""`sqlaudit suppress`: the fewest cells to make `*` so that a release is safe, and that release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.publication import Publication, Suppressed
from sqlaudit.base.spec import Limits, Roles, Target
from sqlaudit.cli.options import (
    Asked,
    Work,
    keep_option,
    limit_options,
    output_options,
    require_options,
    role_options,
    target_options,
    work_options,
)
from sqlaudit.cli.output import Output, say_written
from sqlaudit.cli.parsing import duration, split_lists
from sqlaudit.cli.parsing import weights as column_weights
from sqlaudit.cli.plan import show_statements
from sqlaudit.cli.sections import Sectioned, in_section, shared
from sqlaudit.cli.session import session
from sqlaudit.remedies.suppress.api import targets_of
from sqlaudit.remedies.suppress.deciding import How
from sqlaudit.remedies.suppress.report import suppress_document
from sqlaudit.remedies.suppress.request import SuppressRequest
from sqlaudit.remedies.suppress.result import SuppressResult
from sqlaudit.remedies.suppress.run import plan_suppression, suppress_table

_how = in_section("How the cells are chosen")
_release = in_section("The release")


def _chosen(
    *, exact: bool, fast: bool, rows: str | None, weights: tuple[str, ...], time_limit: float | None, seed: int | None
) -> dict[str, Any]:
    if exact and fast:
        raise UsageError("Give --exact or --fast, not both.")
    how = How.EXACT if exact else How.FAST if fast else How.AUTO
    return {
        "chosen": {
            "how": how,
            "whole": Suppressed(rows) if rows else None,
            "weights": column_weights(weights, "--weights"),
            "time_limit": time_limit,
            "seed": seed,
        }
    }


def _published(*, publish_sql: bool, to: Path | None, keep_column: tuple[str, ...]) -> dict[str, Publication]:
    return {"published": Publication(to, publish_sql, split_lists(keep_column, "--keep-column"))}


_how_options = shared(
    _chosen,
    _how("--exact", is_flag=True, help="Prove that no fewer will do, or say how many fewer may; needs HiGHS."),
    _how("--fast", is_flag=True, help="Take a good answer at once, with a bound. Neither: exact where that is small."),
    _how(
        "--rows",
        type=click.Choice([one.value for one in Suppressed]),
        help="Suppress whole rows and no single cells: leave them out, or star them.",
    ),
    _how("--weights", multiple=True, metavar="COLUMN=NUMBER", help="What a cell costs: zip=3,sex=1; 1 when not named."),
    _how(
        "--time-limit",
        default="60s",
        show_default=True,
        callback=duration,
        metavar="TIME",
        help="Time for the exact program; then the best answer so far, with its gap.",
    ),
    _how("--seed", type=int, metavar="N", help="Which copies of a row part; without it a secret number decides."),
)
_release_options = shared(
    _published,
    _release("--publish-sql", is_flag=True, help="Print the SELECT that makes the release."),
    _release(
        "--to",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write the release to a .parquet or .csv file, or its SELECT to a .sql file.",
    ),
    keep_option,
)


@click.command(cls=Sectioned)
@target_options
@role_options
@require_options
@_how_options
@_release_options
@output_options
@work_options
@limit_options
def command(
    target: Target,
    db: str | None,
    roles: Roles,
    asked: Asked,
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
    request = SuppressRequest(target, roles, asked.requirements, asked.inputs, **chosen)
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
    sql = result.release.sql if result.release and published.with_sql else ""
    output.emit(lambda: suppress_document(result), result.to_dict, sql)
