"""`sqlaudit records`: how special single records are."""

from __future__ import annotations

import click

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.spec import Limits, Target
from sqlaudit.base.words import spelled
from sqlaudit.cli.options import Work, limit_options, output_options, target_options, work_options
from sqlaudit.cli.output import Output
from sqlaudit.cli.requests import request_options
from sqlaudit.cli.sections import Sectioned
from sqlaudit.column_sets.records.request import RecordRequest


@click.command(cls=Sectioned)
@target_options
@request_options(RecordRequest, "request")
@output_options
@work_options
@limit_options
def command(target: Target, db: str | None, request: RecordRequest, output: Output, work: Work, limits: Limits) -> int:
    """Tell which records of TARGET are special: unique on few columns, so easily found elsewhere.

    Minimal sample uniques and individual risk, with sampling weights; with --suda also SUDA and DIS-SUDA
    scores and the contribution of each column. Records themselves are shown only with --show-values.

    \b
      sqlaudit records survey.csv --qi age,sex,region,job --weights weight --suda
    """
    from sqlaudit.cli.plan import show_statements
    from sqlaudit.cli.session import session
    from sqlaudit.column_sets.records.report import records_document
    from sqlaudit.column_sets.records.search import find_records, plan_records

    if request.key and not request.show_values:
        raise UsageError(
            f"{spelled('key')} names what records are shown by; add {spelled('show_values', True)} to show them."
        )
    with session(db, limits, work, target) as engine:
        if work.dry_run or work.explain:
            relation = engine.open(target)
            planned = plan_records(engine, relation, request)
            show_statements(engine, relation.tables or (target.name,), planned, work, output)
            return ExitCode.OK
        result = find_records(engine, target, request)
    output.emit(lambda: records_document(result, suda=request.suda), result.to_dict)
    return ExitCode.OK
