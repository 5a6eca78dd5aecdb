"""`sqlaudit hierarchy`: make, check and write the hierarchy of one column."""

from __future__ import annotations

import click

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.options import all_options_of, request_from, split_list
from sqlaudit.cli.options import TARGET, target_options
from sqlaudit.cli.requests import OptionGroup, option_values, options_for
from sqlaudit.cli.runner import Job, job_command, show_statements
from sqlaudit.hierarchies.request import HierarchyRequest, LevelsForm, ProposalRequest, hierarchy

_OPTIONS = [option for option in all_options_of(HierarchyRequest) if not option.only_python]


def _request(*, name: str | None, column: str | None, query: str | None, **values: object) -> dict[str, object]:
    """Return the request and the database. With `--query` there is no TARGET, so the first argument is the COLUMN."""
    if query and column is None:
        name, column = None, name
    if column is None:
        raise UsageError("No column is given. Name the COLUMN of the hierarchy after the TARGET.")
    values |= {"name": name, "query": query}
    table = target_options.extract(values)
    given = {**table, "column": column, **option_values(_OPTIONS, values)}
    if request_from(LevelsForm, given).propose:
        return {"db": table["db"], "request": ProposalRequest(table["target"], split_list(column, "COLUMN"))}
    return {"db": table["db"], "request": request_from(HierarchyRequest, given)}


@job_command(
    OptionGroup(
        _request,
        *TARGET,
        click.Argument(["column"], metavar="COLUMN", required=False),
        *(parameter for option in _OPTIONS for parameter in options_for(option)),
    )
)
def command(job: Job, request: HierarchyRequest | ProposalRequest) -> int:
    """Make the hierarchy of a column, check it against the values, and write it to a file.

    Report for every level the number of groups, the smallest group, and whether the levels are
    nested. Values are neither shown nor written unless you ask for them.

    \b
      sqlaudit hierarchy patients.csv age --widths 5,10,20 --low 15 --high 90
      sqlaudit hierarchy patients.csv zip --mask 1,2,3 --to zip.csv
      sqlaudit hierarchy patients.csv job --from jobs.csv --default other
      sqlaudit hierarchy patients.csv age,sex,zip --propose > hierarchies.yml
    """
    if isinstance(request, ProposalRequest):
        return _print_proposals(job, request)
    return job.run(hierarchy, request)


def _print_proposals(job: Job, request: ProposalRequest) -> int:
    """Print default levels as a file of hierarchies. Return the exit code."""
    from sqlaudit.base.columns_of import resolve
    from sqlaudit.cli.session import session
    from sqlaudit.hierarchies.defaults import as_file, default_levels, defaults_statements
    from sqlaudit.profiles.names import contents_of

    with session(job.db, job.limits, job.work, request.target) as engine:
        relation = engine.open(request.target)
        columns = [resolve(name, relation, engine.dialect, "COLUMN") for name in request.columns]
        if job.work.dry_run or job.work.explain:
            statements = defaults_statements(engine, relation, columns, contents_of)
            show_statements(engine, (request.target.name,), statements, job.work, job.output)
            return ExitCode.OK
        levels = default_levels(engine, relation, columns, contents_of)
    job.output.write(as_file(request.target.name, request.columns, levels))
    return ExitCode.OK
