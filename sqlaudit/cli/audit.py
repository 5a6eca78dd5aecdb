"""`sqlaudit audit`: measure a table, report, and write certificates and failing classes."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlaudit.audits.request import WORST_CLASSES, AuditRequest, requirements_of_presets
from sqlaudit.base.errors import EngineError, ExitCode, Incomplete, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import request_from
from sqlaudit.base.spec import Coverage, SafeHarbor, Target
from sqlaudit.cli.exits import say, tell, worst
from sqlaudit.cli.options import (
    FurtherReports,
    audit_options,
    bucketized_options,
    cover_options,
    coverage_options,
    further_options,
    harbor_options,
    output_options,
    role_options,
    sampling_options,
)
from sqlaudit.cli.requests import given_options
from sqlaudit.cli.runner import Job, job_command, verdict
from sqlaudit.reports.document import About, plural

if TYPE_CHECKING:
    from sqlaudit.audits.result import AuditResult
    from sqlaudit.classes.failing import AllFailing, FailingClass
    from sqlaudit.engines.contract import Engine


@job_command(
    bucketized_options,
    role_options,
    sampling_options,
    audit_options,
    harbor_options,
    coverage_options,
    given_options(AuditRequest, "options"),
    output_options,
    cover_options,
    further_options,
)
def command(
    job: Job, harbor: SafeHarbor, coverage: Coverage, options: Mapping[str, Any], cover: About, further: FurtherReports
) -> int:
    """Measure how easily the people in a table can be re-identified.

    TARGET is a file (CSV, Parquet, JSON, Arrow; globs work), or with --db a table or view.
    Nothing is written to the database.

    \b
    Measure everything:
      sqlaudit audit patients.csv --qi age,sex,zip --sensitive diagnosis
    Require limits. Exit code 0: met, 1: failed or undecided, 2: invalid request,
    3: database error, 4: time limit reached, 130: interrupted.
      sqlaudit audit patients.csv --qi age,sex,zip --sensitive diagnosis \\
          --require k=5 --require l=3
    """
    from sqlaudit.models.phrases import with_accepted

    if not job.roles.quasi_identifiers:
        raise UsageError(_missing_roles_message(job))
    identifiers = with_accepted(job.roles.identifiers, coverage.accepted_identifiers)
    roles = replace(job.roles, identifiers=identifiers, sampling=job.sampling)
    preset_requirements, safe_harbor = requirements_of_presets(
        job.demands.presets, harbor, report=further.criteria is not None
    )
    required = (*preset_requirements, *job.demands.requirements)
    if further.criteria:
        from sqlaudit.audits.criteria.criteria import wanted_besides

        required = (*required, *wanted_besides(roles, required))
    worst_classes = WORST_CLASSES if job.output.format in ("html", "json") else 0  # texts do without the statement
    request = request_from(
        AuditRequest,
        {"worst_classes": worst_classes, **options},
        target=job.target,
        roles=roles,
        requirements=required,
        inputs=job.demands.inputs,
        coverage=coverage,
        safe_harbor=safe_harbor,
    )
    return run_audit(replace(job, output=replace(job.output, cover=cover)), request, further)


def run_audit(job: Job, request: AuditRequest, further: FurtherReports = FurtherReports()) -> int:
    """Audit, report, export and certify. Return the exit code of all of it.

    Raises:
        SqlauditError: the audit cannot be done.
    """
    from sqlaudit.audits.run import audit_table, plan_audit
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
    audit: Callable[[Engine, AuditRequest], AuditResult] = functools.partial(audit_table, export=export)
    if further.file is not None:
        audit = _certified_audit(further, job.db is not None)

    report_of = None
    if further.criteria:
        from sqlaudit.audits.criteria.criteria import criteria_of

        report_of = functools.partial(criteria_of, public=further.criteria == "public", presets=job.demands.presets)
    return job.run(
        lambda engine, _: plan_audit(engine, request),
        lambda engine: audit(engine, request),
        lambda result: worst(code_of(result), export.code if export is not None else ExitCode.OK),
        targets=[request.target, *_further_targets(request)],
        reads=[request.target],
        report_of=report_of,
        open_target=False,
    )


def _missing_roles_message(job: Job) -> str:
    """Return the message for an audit without quasi-identifiers. It names those that a profile proposes, if one can
    run.
    """
    from sqlaudit.cli.session import session
    from sqlaudit.profiles.result import option_value

    proposed: tuple[str, ...] = ()
    if not (job.work.dry_run or job.work.explain):
        from sqlaudit.profiles.run import likely_quasi_identifiers

        assigned = {name for names in job.roles.by_role().values() for name in names}
        opened = session(job.db, job.limits, job.work, job.target)
        with contextlib.suppress(UsageError, EngineError, Incomplete), opened as engine:
            proposed = likely_quasi_identifiers(engine, job.target, assigned)
    message = "No quasi-identifiers are given. Name what others may know about a person, "
    if not proposed:
        return message + "for example --qi age,sex."
    return f"{message}with --qi. `sqlaudit profile` proposes: {option_value(proposed)}"


def _further_targets(request: AuditRequest) -> tuple[Target, ...]:
    """Return what is read besides the target: a population table that the inputs name."""
    if not request.inputs:
        return ()
    from sqlaudit.classes.inputs import further_targets

    return further_targets(request.inputs, request.target)


def code_of(result: AuditResult) -> ExitCode:
    """Return the exit code of an audit's result."""
    return verdict(not result.required or result.passed, result.complete)


def _certified_audit(further: FurtherReports, db: bool) -> Callable[[Engine, AuditRequest], AuditResult]:
    """Return a function that audits and writes the certificate. Its key is read now, before any work begins.

    Raises:
        UsageError: the certificate cannot be written, or the audit would run statements that cannot be repeated.
    """
    from sqlaudit.base.files import check_destination
    from sqlaudit.certificates.certificate import make_key, read_private_key, write_certificate
    from sqlaudit.certificates.making import audit_certified

    file = further.file
    assert file is not None
    check_destination(file, (".json",))
    if further.failing_classes_to is not None:
        raise UsageError("--certificate and --failing-classes-to exclude each other: use two runs.")
    if further.criteria:
        raise UsageError("--certificate and --criteria exclude each other: use two runs.")
    if further.new_key and further.key is not None:
        tell(f"created the key {str(further.key)!r}; publish its public half, {str(make_key(further.key))!r}.")
    key = None if further.key is None else read_private_key(further.key)

    def audit(engine: Engine, request: AuditRequest) -> AuditResult:
        result, certificate = audit_certified(engine, request, db, key)
        write_certificate(file, certificate)
        tell(f"wrote the certificate to {str(file)!r}{'' if key is None else ', signed'}.")
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
