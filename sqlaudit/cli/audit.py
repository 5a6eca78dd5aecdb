"""`sqlaudit audit`: measure a table, report, and write certificates and failing classes."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlaudit.audits.request import AuditRequest
from sqlaudit.base.errors import EngineError, ExitCode, Incomplete, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.cli.exits import say, tell, worst
from sqlaudit.cli.options import FurtherReports, further_options, output_options
from sqlaudit.cli.runner import Job, job_command
from sqlaudit.reports.document import plural

if TYPE_CHECKING:
    from sqlaudit.audits.result import AuditResult
    from sqlaudit.classes.failing import AllFailing, FailingClass
    from sqlaudit.engines.contract import Engine


@job_command(AuditRequest, output_options, further_options)
def command(job: Job, request: AuditRequest, further: FurtherReports) -> int:
    """Measure how easily the people in a table can be re-identified.

    TARGET is a file (CSV, Excel, Parquet, JSON, Arrow, SPSS, Stata, SAS; globs work), or with --db a table or view.
    Nothing is written to the database.

    \b
    Measure everything:
      sqlaudit audit patients.csv --qi age,sex,zip --sensitive diagnosis
    Require limits. Exit code 0: met, 1: failed or undecided, 2: invalid request,
    3: database error, 4: time limit reached, 130: interrupted.
      sqlaudit audit patients.csv --qi age,sex,zip --sensitive diagnosis \\
          --require k=5 --require l=3
    """
    if not request.roles.quasi_identifiers:
        raise UsageError(_missing_roles_message(job, request))
    if request.criteria:
        from sqlaudit.audits.criteria.criteria import wanted_besides

        besides = wanted_besides(request.roles, request.requirements)
        request = replace(request, requirements=(*request.requirements, *besides))
    if request.worst_classes is None and job.output.format not in ("html", "json"):
        request = replace(request, worst_classes=0)  # texts do without the statement
    return run_audit(job, request, further)


def run_audit(job: Job, request: AuditRequest, further: FurtherReports = FurtherReports()) -> int:
    """Audit, report, export and certify. Return the exit code of all of it.

    Raises:
        SqlauditError: the audit cannot be done.
    """
    from sqlaudit.audits.run import audit, audit_table, code_of
    from sqlaudit.base.files import TABLE_SUFFIXES, check_destination
    from sqlaudit.engines.writing import refuse_overwriting

    if further.failing_classes_to is not None:
        check_destination(further.failing_classes_to, TABLE_SUFFIXES)
    if further.file is not None and request.target.buckets is not None:
        raise UsageError("A certificate covers one table: leave out --certificate or --buckets.")
    if further.key is not None and further.new_key:
        refuse_overwriting([further.file, job.output.file], [further.key, further.key.with_suffix(".pub.pem")])
    if further.file is not None and request.safe_harbor is not None:
        raise UsageError("A certificate covers groups of rows, not hipaa-safe-harbor: use two runs.")
    file = further.failing_classes_to
    export = None if file is None else _FailingClassesExport(file, request.show_values)
    measure: Callable[[Engine, AuditRequest], AuditResult] = functools.partial(audit_table, export=export)
    if further.file is not None:
        measure = _certified_audit(request, further, job.db is not None)

    report_of = None
    if request.criteria:
        from sqlaudit.audits.criteria.criteria import criteria_of

        report_of = functools.partial(criteria_of, public=request.criteria == "public", presets=request.presets)
    return job.run(
        audit,
        request,
        lambda engine: measure(engine, request),
        code=lambda result: worst(code_of(result), export.code if export is not None else ExitCode.OK),
        report_of=report_of,
    )


def _missing_roles_message(job: Job, request: AuditRequest) -> str:
    """Return the message for an audit without quasi-identifiers. It names those that a profile proposes, if one can
    run.
    """
    from sqlaudit.base.names import option_value
    from sqlaudit.cli.session import session

    proposed: tuple[str, ...] = ()
    if not (job.work.dry_run or job.work.explain):
        from sqlaudit.profiles.run import likely_quasi_identifiers

        assigned = {name for names in request.roles.by_role().values() for name in names}
        opened = session(job.db, job.limits, job.work, request.target)
        with contextlib.suppress(UsageError, EngineError, Incomplete), opened as engine:
            proposed = likely_quasi_identifiers(engine, request.target, assigned)
    message = "No quasi-identifiers are given. Name what others may know about a person, "
    if not proposed:
        return message + "for example --qi age,sex."
    return f"{message}with --qi. `sqlaudit profile` proposes: {option_value(proposed)}"


def _certified_audit(
    request: AuditRequest, further: FurtherReports, db: bool
) -> Callable[[Engine, AuditRequest], AuditResult]:
    """Return a function that audits and writes the certificate. Its key is read now, before any work begins.

    Raises:
        UsageError: the certificate cannot be written, or the audit would run statements that cannot be repeated.
    """
    from sqlaudit.certificates.making import audit_certified

    if further.failing_classes_to is not None:
        raise UsageError("--certificate and --failing-classes-to exclude each other: use two runs.")
    if request.criteria:
        raise UsageError("--certificate and --criteria exclude each other: use two runs.")
    if "population" in request.inputs and request.target.reading is not None and request.target.reading.tables:
        raise UsageError("A certificate has no --read beside a population. Write 'read' under it in the inputs file.")
    key = further.signing_key()

    def audit(engine: Engine, request: AuditRequest) -> AuditResult:
        result, certificate = audit_certified(engine, request, db, key)
        further.write(certificate)
        return result

    return audit


@dataclass
class _FailingClassesExport:
    """Write all failing classes to a file. Errors are printed and kept as an exit code.

    The report is printed even when the export fails. Where a requirement fails and nothing can be listed, no file is
    written: an empty one would suggest that no class fails.
    """

    path: Path
    show_values: bool
    code: ExitCode = ExitCode.OK
    classes: int = 0

    def __call__(self, failing: AllFailing) -> None:
        """Stream the classes into the file."""
        from sqlaudit.base.files import write_rows
        from sqlaudit.classes.failing import failing_batches

        if failing.unnamed and not failing.parts:
            say(f"{str(self.path)!r} was not written, because there is nothing to list. {' '.join(failing.unnamed)}")
            self.code = ExitCode.USAGE
            return
        names, batches = failing_batches(self._counted(failing), failing.keys, failing.figures)
        try:
            write_rows(self.path, names, batches)
        except UsageError as error:
            say(str(error))
            self.code = error.exit_code
            return
        hidden = "" if self.show_values else " Values are left out; --show-values adds them."
        missing = "".join(f" Not there: {sentence}" for sentence in failing.unnamed)
        tell(
            f"wrote {plural(self.classes, 'failing class', 'failing classes')} to {str(self.path)!r}.{hidden}{missing}"
        )

    def _counted(self, failing: Iterable[FailingClass]) -> Iterator[FailingClass]:
        """Pass failing classes on and count them."""
        for failing_class in failing:
            self.classes += failing_class.classes
            yield failing_class
