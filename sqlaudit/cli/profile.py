"""`sqlaudit profile`: column facts and proposed roles."""

from __future__ import annotations

import click

from sqlaudit.base.errors import ExitCode
from sqlaudit.base.spec import Limits, Target
from sqlaudit.cli.options import Work, limit_options, output_options, target_options, work_options
from sqlaudit.cli.output import Output
from sqlaudit.cli.requests import request_options
from sqlaudit.cli.sections import Sectioned
from sqlaudit.profiles.request import ProfileRequest


@click.command(cls=Sectioned)
@target_options
@request_options(ProfileRequest, "request")
@output_options
@work_options
@limit_options
def command(target: Target, db: str | None, request: ProfileRequest, output: Output, work: Work, limits: Limits) -> int:
    """Look at the columns of TARGET and propose their roles.

    TARGET is a file (CSV, Parquet, JSON, Arrow; globs work), or with --db a table or view.
    Only counts are read, unless --show-values is given. Nothing is written there.

    \b
      sqlaudit profile patients.csv
      sqlaudit profile --db postgresql://auditor@host/db public.patients
    """
    from sqlaudit.cli.plan import show_statements
    from sqlaudit.cli.session import session
    from sqlaudit.profiles.columns import planned_statements
    from sqlaudit.profiles.report import profile_document
    from sqlaudit.profiles.run import profile_target

    with session(db, limits, work, target) as engine:
        if work.dry_run or work.explain:
            relation = engine.open(target)
            tables = relation.tables or (target.name,)
            show_statements(engine, tables, planned_statements(engine, relation), work, output)
            return ExitCode.OK
        result = profile_target(engine, target, request)
    output.emit(lambda: profile_document(result), result.to_dict)
    return ExitCode.OK
