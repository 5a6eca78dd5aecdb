"""`sqlaudit compare`: a release beside its original."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.options import request_from
from sqlaudit.base.spec import Limits, Target
from sqlaudit.cli.options import (
    Demands,
    Work,
    bucket_parameters,
    in_buckets,
    limit_options,
    output_options,
    read_from,
    read_parameters,
    require_options,
    work_options,
)
from sqlaudit.cli.output import Output
from sqlaudit.cli.requests import given_options
from sqlaudit.cli.sections import Sectioned, in_section, shared
from sqlaudit.release.compare.request import CompareRequest

if TYPE_CHECKING:
    from sqlaudit.release.compare.result import CompareResult

_tables_of = in_section("What to look at")


def _tables(*, original: str, release: str, other_release: str | None, db: str | None, **values: Any) -> dict[str, Any]:
    second = (values.pop("buckets"), values.pop("bucket_column"), values.pop("bucket_count"))
    read = read_from(values)
    names = {"original": original, "release": release, "other": other_release}
    given = {role: name for role, name in names.items() if name is not None}
    if not all(given.values()):
        raise UsageError("Name the original and the release: a name is empty.")
    tables = {role: Target(relation=name, read=read) for role, name in given.items()}
    tables["release"] = in_buckets(tables["release"], *second)
    return {"db": db, "tables": tables}


_table_options = shared(
    _tables,
    click.argument("original"),
    click.argument("release"),
    _tables_of("--db", metavar="DATABASE", help="A DuckDB file, or a PostgreSQL URL. Without it both are files."),
    _tables_of("--other-release", metavar="TABLE", help="Another release: which of the two is coarser?"),
    *read_parameters,
    *bucket_parameters,
)


@click.command(cls=Sectioned)
@_table_options
@given_options(CompareRequest, "comparison")
@require_options
@output_options
@work_options
@limit_options
def command(
    tables: dict[str, Any],
    db: str | None,
    comparison: dict[str, Any],
    asked: Demands,
    output: Output,
    work: Work,
    limits: Limits,
) -> int:
    """Compare RELEASE with its ORIGINAL: is it one, is it safe, what was lost, what is still of use?

    The release is audited by itself as well, and attacked as far as that takes no other
    table. `sqlaudit attack` knows more attackers.

    \b
      sqlaudit compare patients.csv release.csv --qi age,sex,zip --sensitive diagnosis \\
          --hierarchies hierarchies.yml --require k=5
    Exit code 1: the release fails a requirement, or is no generalization of the original.
    """
    from sqlaudit.cli.plan import show_statements
    from sqlaudit.cli.session import session
    from sqlaudit.release.compare.report import compare_document
    from sqlaudit.release.compare.run import compare_tables, plan_comparison

    request = request_from(CompareRequest, comparison, **tables, requirements=asked.requirements, inputs=asked.inputs)
    with session(db, limits, work, *request.targets) as engine:
        if work.dry_run or work.explain:
            names = tuple(dict.fromkeys(name for t in request.targets for name in engine.open(t).tables or (t.name,)))
            show_statements(engine, names, plan_comparison(engine, request), work, output)
            return ExitCode.OK
        result = compare_tables(engine, request)
    output.emit(lambda: compare_document(result), result.to_dict)
    return code_of(result)


def code_of(result: CompareResult) -> ExitCode:
    """The exit code that a result asks for."""
    from sqlaudit.release.compare.result import Answer

    unsafe = bool(result.audit.required) and not result.audit.passed
    return ExitCode.REQUIREMENT_FAILED if unsafe or result.generalization.answer is Answer.NO else ExitCode.OK
