"""`sqlaudit hierarchy`: make, check and write the hierarchy of one column."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.spec import Limits, Target
from sqlaudit.cli.options import Work, limit_options, output_options, target_options, work_options
from sqlaudit.cli.output import Output
from sqlaudit.cli.requests import request_options
from sqlaudit.cli.sections import Sectioned
from sqlaudit.hierarchies.request import HierarchyRequest


def column_behind_query(command: Callable[..., Any]) -> Callable[..., Any]:
    """With `--query` there is no TARGET, so the first argument is the COLUMN."""

    @functools.wraps(command)
    def shifted(*args: Any, **values: Any) -> Any:
        if values["query"] and values["column"] is None:
            values["name"], values["column"] = None, values["name"]
        if values["column"] is None:
            raise UsageError("Name the COLUMN whose hierarchy it is, after the TARGET.")
        return command(*args, **values)

    return shifted


@click.command(cls=Sectioned)
@column_behind_query
@target_options
@click.argument("column", metavar="COLUMN", required=False)
@request_options(HierarchyRequest, "request")
@output_options
@work_options
@limit_options
def command(
    target: Target, db: str | None, column: str, request: HierarchyRequest, output: Output, work: Work, limits: Limits
) -> int:
    """Make the hierarchy of a COLUMN of TARGET, check it against the values that occur, and write it.

    Tells for every level how many groups there are, how small the smallest is, and whether
    the levels are nested. Values are neither shown nor written unless you say so.

    \b
      sqlaudit hierarchy patients.csv age --widths 5,10,20 --low 15 --high 90
      sqlaudit hierarchy patients.csv zip --mask 1,2,3 --to zip.csv
      sqlaudit hierarchy patients.csv job --from jobs.csv --default other
    """
    from sqlaudit.base.files import check_destination
    from sqlaudit.cli.plan import show_statements
    from sqlaudit.cli.session import session
    from sqlaudit.hierarchies.api import check_hierarchy, plan_hierarchy
    from sqlaudit.hierarchies.report import hierarchy_document

    made = request.hierarchy(column)
    if request.to is not None:
        check_destination(request.to, (".csv",))
    with session(db, limits, work, target) as engine:
        if work.dry_run or work.explain:
            tables = engine.open(target).tables or (target.name,)
            show_statements(engine, tables, plan_hierarchy(engine, target, made), work, output)
            return ExitCode.OK
        result = check_hierarchy(engine, target, made, request.to, request.show_values)
    output.emit(lambda: hierarchy_document(result), result.to_dict)
    return ExitCode.OK if result.usable else ExitCode.REQUIREMENT_FAILED
