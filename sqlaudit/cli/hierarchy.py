"""`sqlaudit hierarchy`: make, check and write the hierarchy of one column."""

from __future__ import annotations

from typing import Any

import click

from sqlaudit.base.errors import UsageError
from sqlaudit.cli.options import TARGET, target_of
from sqlaudit.cli.requests import OptionGroup, request_options
from sqlaudit.cli.runner import Job, declared, verdict
from sqlaudit.hierarchies.request import HierarchyRequest, check_hierarchy, plan_hierarchy


def _of_column(*, name: str | None, column: str | None, query: str | None, **more: Any) -> dict[str, Any]:
    """With `--query` there is no TARGET, so the first argument is the COLUMN."""
    if query and column is None:
        name, column = None, name
    if column is None:
        raise UsageError("No column is given. Name the COLUMN of the hierarchy after the TARGET.")
    return {"column": column, **target_of(name=name, query=query, **more)}


@declared(
    OptionGroup(_of_column, *TARGET, click.Argument(["column"], metavar="COLUMN", required=False)),
    request_options(HierarchyRequest, "request"),
)
def command(job: Job, column: str, request: HierarchyRequest) -> int:
    """Make the hierarchy of a column, check it against the values, and write it to a file.

    Report for every level the number of groups, the smallest group, and whether the levels are
    nested. Values are neither shown nor written unless you ask for them.

    \b
      sqlaudit hierarchy patients.csv age --widths 5,10,20 --low 15 --high 90
      sqlaudit hierarchy patients.csv zip --mask 1,2,3 --to zip.csv
      sqlaudit hierarchy patients.csv job --from jobs.csv --default other
    """
    from sqlaudit.base.files import check_destination

    made = request.hierarchy(column)
    if request.to is not None:
        check_destination(request.to, (".csv",))
    return job.run(
        lambda engine, _: plan_hierarchy(engine, job.target, made),
        lambda engine: check_hierarchy(engine, job.target, made, request.to, request.show_values),
        lambda result: verdict(result.usable),
    )
