"""`sqlaudit audit`: the main job."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from sqlaudit.cli.exits import say, worst
from sqlaudit.cli.options import (
    Asked,
    FailingOptions,
    Work,
    failing_options,
    limit_options,
    output_options,
    require_options,
    role_options,
    target_options,
    work_options,
)
from sqlaudit.cli.output import Output
from sqlaudit.cli.plan import show_plan
from sqlaudit.cli.sections import Sectioned
from sqlaudit.cli.session import session
from sqlaudit.engines.base import Engine
from sqlaudit.errors import ExitCode, SqlauditError, UsageError
from sqlaudit.export import TABLE_SUFFIXES, check_destination, failing_batches, write_rows
from sqlaudit.reports import audit_document
from sqlaudit.reports.figures import plural
from sqlaudit.result import AuditResult
from sqlaudit.spec import AuditSpec, Limits, Roles, Target


@click.command(cls=Sectioned)
@target_options
@role_options
@require_options
@failing_options
@output_options
@work_options
@limit_options
def command(
    target: Target, db: str | None, roles: Roles, asked: Asked, failing: FailingOptions, output: Output, work: Work,
    limits: Limits,
) -> int:  # fmt: skip
    """Tell how easily the people in TARGET can be re-identified.

    TARGET is a file (CSV, Parquet, JSON, Arrow; globs work), or with --db a table or view.
    Nothing is written there.

    \b
    Which figures does the table reach?
      sqlaudit audit patients.csv --qi age,sex,zip --sensitive diagnosis
    Does it meet these limits? Exit code 0: yes, 1: no or undecided, 2: bad
    request, 3: database trouble, 4: out of time, 130: interrupted.
      sqlaudit audit patients.csv --qi age,sex,zip --sensitive diagnosis \\
          --require k=5 --require l=3
    """
    if not roles.quasi_identifiers:
        raise UsageError("Name the quasi-identifiers: what others may know about a person, for instance --qi age,sex.")
    spec = AuditSpec(target, roles, asked.requirements, asked.inputs)
    return run_audit(spec, db, limits, failing, work, output)


def run_audit(
    spec: AuditSpec, db: str | None, limits: Limits, failing: FailingOptions, work: Work, output: Output
) -> ExitCode:
    """Audit, report, export; the exit code of it all.

    Raises:
        SqlauditError: what keeps the audit from being done.
    """
    if failing.file is not None:
        check_destination(failing.file, TABLE_SUFFIXES)
    with session(db, limits, work, spec.target, *_further(spec)) as engine:
        if work.dry_run or work.explain:
            show_plan(engine, spec, work, output)
            return ExitCode.OK
        result, exported = _audit(engine, spec, failing)
    output.emit(lambda: audit_document(result), result.to_dict)
    return worst(code_of(result), exported)


def _further(spec: AuditSpec) -> tuple[Target, ...]:
    """What is read besides the target: a population table that the inputs name."""
    if not spec.inputs:
        return ()
    from sqlaudit.inputs import further_targets

    return further_targets(spec)


def code_of(result: AuditResult) -> ExitCode:
    """The exit code that a result asks for."""
    verdict = ExitCode.REQUIREMENT_FAILED if result.required and not result.passed else ExitCode.OK
    return verdict if result.complete else worst(verdict, ExitCode.INCOMPLETE)


def _audit(engine: Engine, spec: AuditSpec, failing: FailingOptions) -> tuple[AuditResult, ExitCode]:
    from sqlaudit.auditor import Auditor

    every = None if failing.file is not None else failing.number
    result = Auditor(engine, failing_classes=every, show_values=failing.show_values).audit(spec)
    if failing.file is None:
        return result, ExitCode.OK
    told = replace(result, failing=result.failing[: failing.number])
    try:
        _export(result, failing.file, failing.show_values)
    except SqlauditError as error:  # the report is worth printing even when the export is not there
        say(str(error))
        return told, error.exit_code
    return told, ExitCode.OK


def _export(result: AuditResult, path: Path, show_values: bool) -> None:
    names, batches = failing_batches(result.failing)
    write_rows(path, names, batches)
    written = sum(failing.classes for failing in result.failing)
    hidden = "" if show_values else " Their values are left out; --show-values adds them."
    say(f"wrote {plural(written, 'class', 'classes')} that fall short to {str(path)!r}.{hidden}")
