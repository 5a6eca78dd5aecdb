"""`sqlaudit hierarchy`: make, check and write the hierarchy of one column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from sqlaudit.base.errors import ExitCode, UsageError, verdict
from sqlaudit.base.options import split_list
from sqlaudit.cli.options import TARGET, target_of
from sqlaudit.cli.requests import OptionGroup, request_options
from sqlaudit.cli.runner import Job, job_command, show_statements
from sqlaudit.hierarchies.request import HierarchyRequest, check_hierarchy, plan_hierarchy


def _column_and_target(
    *, name: str | None, column: str | None, query: str | None, **read_options: Any
) -> dict[str, Any]:
    """Return the column and the target. With `--query` there is no TARGET, so the first argument is the COLUMN."""
    if query and column is None:
        name, column = None, name
    if column is None:
        raise UsageError("No column is given. Name the COLUMN of the hierarchy after the TARGET.")
    return {"column": column, **target_of(name=name, query=query, **read_options)}


@job_command(
    OptionGroup(_column_and_target, *TARGET, click.Argument(["column"], metavar="COLUMN", required=False)),
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
      sqlaudit hierarchy patients.csv age,sex,zip --propose > hierarchies.yml
    """
    from sqlaudit.base.files import check_destination

    if request.propose:
        return _print_proposals(job, split_list(column, "COLUMN"))
    hierarchy = request.hierarchy(column)
    if request.to is not None:
        check_destination(request.to, (".csv",))
    return job.run_old(
        lambda engine, _: plan_hierarchy(engine, job.target, hierarchy),
        lambda engine: check_hierarchy(engine, job.target, hierarchy, request.to, request.show_values),
        lambda result: verdict(result.usable),
    )


def _print_proposals(job: Job, names: Sequence[str]) -> int:
    """Print default levels as a file of hierarchies. Return the exit code."""
    from sqlaudit.base.columns_of import resolve
    from sqlaudit.cli.session import session
    from sqlaudit.hierarchies.defaults import as_file, default_levels, defaults_statements

    with session(job.db, job.limits, job.work, job.target) as engine:
        relation = engine.open(job.target)
        columns = [resolve(name, relation, engine.dialect, "COLUMN") for name in names]
        if job.work.dry_run or job.work.explain:
            statements = defaults_statements(engine, relation, columns)
            show_statements(engine, (job.target.name,), statements, job.work, job.output)
            return ExitCode.OK
        levels = default_levels(engine, relation, columns)
    job.output.write(as_file(job.target.name, names, levels))
    return ExitCode.OK
