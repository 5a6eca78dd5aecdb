"""`sqlaudit columns`: which sets of columns re-identify."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sqlaudit.base.errors import ExitCode
from sqlaudit.base.spec import Limits, Target
from sqlaudit.cli.exits import is_quiet
from sqlaudit.cli.options import Work, limit_options, output_options, target_options, work_options
from sqlaudit.cli.output import Output
from sqlaudit.cli.requests import request_options
from sqlaudit.cli.sections import Sectioned
from sqlaudit.column_sets.request import ColumnRequest

if TYPE_CHECKING:
    from sqlaudit.column_sets.walks import Tell
    from sqlaudit.engines.contract import Engine


@click.command(cls=Sectioned)
@target_options
@request_options(ColumnRequest, "request")
@output_options
@work_options
@limit_options
def command(target: Target, db: str | None, request: ColumnRequest, output: Output, work: Work, limits: Limits) -> int:
    """Find the sets of columns of TARGET that re-identify people.

    By default all minimal sets of at most four columns that put somebody into a class of
    fewer than k rows, with the proof that none is missing. Only counts leave the database.

    \b
      sqlaudit columns patients.csv --exclude record_id --k 5 --tolerance 1%
      sqlaudit columns patients.csv --identifying
    """
    from sqlaudit.cli.plan import show_statements
    from sqlaudit.cli.session import session
    from sqlaudit.column_sets.report import columns_document
    from sqlaudit.column_sets.search import find_columns, plan_columns

    with session(db, limits, work, target) as engine:
        if work.dry_run or work.explain:
            relation = engine.open(target)
            planned = plan_columns(engine, relation, request)
            show_statements(engine, relation.tables or (target.name,), planned, work, output)
            return ExitCode.OK
        result = find_columns(engine, target, request, announce=_announce, tell=_teller(engine))
        if result.by_hand:  # what is proven is worth telling before the way out
            output.emit(lambda: columns_document(result), result.to_dict)
            return ExitCode.INTERRUPTED
    output.emit(lambda: columns_document(result), result.to_dict)
    return ExitCode.OK if result.complete or not result.open_sets else ExitCode.INCOMPLETE


def _announce(columns: int, candidates: int, limit: int | None) -> None:
    size = "any number of" if limit is None else f"at most {limit}"
    number = f"{candidates:,}" if candidates < 10**12 else f"about {candidates:.0e}"
    if not is_quiet():
        click.echo(f"{columns} columns have {number} sets of {size} columns; most follow from others.", err=True)


def _teller(engine: Engine) -> Tell:
    """Progress of a walk: sets decided and the border so far."""

    def tell(decided: int, border: int) -> None:
        if engine.progress is not None:
            engine.progress(f"{decided:,} sets decided, border {border:,}; Ctrl-C keeps what is proven", None)

    return tell
