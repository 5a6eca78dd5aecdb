"""From a check to the outcome of a test: severity, thresholds on failing rows, and exceptions. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar, get_args

from sqlaudit.base.errors import ExitCode, Interrupted, SqlauditError
from sqlaudit.base.result import Status
from sqlaudit.gates.result import (
    CubeLimit,
    Excepted,
    GateTest,
    Limit,
    Outcome,
    PolicyException,
    ReleaseLimit,
    TableEntry,
    TestSpec,
)
from sqlaudit.gates.stored import digest
from sqlaudit.gates.tables import excepts
from sqlaudit.models.base import Check

T = TypeVar("T")


def blank(entry: TableEntry, spec: TestSpec, outcome: Outcome = Outcome.SKIPPED, message: str = "") -> GateTest:
    """A test without figures."""
    roles, joint = entry.roles, entry.roles.joint
    sorted_roles = replace(
        roles,
        quasi_identifiers=tuple(sorted(roles.quasi_identifiers)),
        sensitive=roles.sensitive if joint else (),
        identifiers=(),
    )
    newer = (ReleaseLimit, CubeLimit)  # not among them, or older baselines have another digest
    kinds = (kind for kind in get_args(Limit) if kind not in newer)
    limits = (spec.limit if isinstance(spec.limit, kind) else None for kind in kinds)
    what = (spec.model, *limits, spec.identifier, spec.all_named)
    further_parts: tuple[object, ...] = (
        spec.sensitive if joint else (),
        entry.insensitive if spec.all_named else (),
        *([] if entry.release is None else [entry.release]),
        *([spec.limit] if isinstance(spec.limit, CubeLimit) else []),
    )
    return GateTest(
        table=entry.name,
        requirement=spec.requirement,
        outcome=outcome,
        place=spec.place,
        message=message,
        connection=entry.connection,
        severity=spec.severity,
        tags=tuple(dict.fromkeys((*entry.tags, *spec.tags))),
        owner=spec.owner or entry.owner,
        description=spec.description or entry.description,
        columns={name: entry.role_places.get(name, spec.place) for name in roles.quasi_identifiers},
        asked=digest(
            Path(entry.place.file).parent, entry.target, sorted_roles, entry.inputs, entry.persons, what, further_parts
        ),
    )


def errored(entry: TableEntry, spec: TestSpec, error: SqlauditError) -> GateTest:
    """A test that could not be run; at the line of the column when the error is about one of the roles."""
    message = str(error)
    named = [location for column, location in entry.role_places.items() if repr(column) in message]
    test = broken(entry, spec, message, error.exit_code)
    return replace(test, place=named[0]) if named else test


def broken(entry: TableEntry, spec: TestSpec, message: str, code: ExitCode, sensitive: str | None = None) -> GateTest:
    """A test that ended in an error."""
    return replace(blank(entry, spec, Outcome.ERROR, message), exit_code=code, sensitive=sensitive)


def attempt(run: Callable[[], T]) -> T | SqlauditError:
    """Return what comes of it, or the error that it ends in.

    Raises:
        Interrupted: somebody pressed Ctrl-C.
    """
    try:
        return run()
    except Interrupted:
        raise
    except SqlauditError as error:
        return error


def judged(
    entry: TableEntry, spec: TestSpec, check: Check, rows: int | None, classes: int | None, today: datetime.date
) -> GateTest:
    """The test that a check decides."""
    outcome, message = outcome_of(spec, check, among(check, rows))
    test = replace(
        blank(entry, spec, outcome, message), sensitive=check.sensitive, check=check, rows=rows, classes=classes
    )
    return with_exit_code(excepted(test, spec, entry.exceptions, today))


def with_exit_code(test: GateTest) -> GateTest:
    """The test with the exit code that its outcome asks for; errors keep their own."""
    if test.outcome is Outcome.ERROR:
        return test
    return replace(test, exit_code=ExitCode.REQUIREMENT_FAILED if test.blocks else ExitCode.OK)


def outcome_of(spec: TestSpec, check: Check, rows: int) -> tuple[Outcome, str]:
    """Return how a test ends before exceptions, and what its thresholds allowed.

    As in dbt: with severity error, `error_if` decides first and then `warn_if`; with severity warn, `warn_if` alone.
    """
    gentle = spec.severity == "warn"
    if check.status is Status.PASS:
        return Outcome.PASS, ""
    if check.status not in (Status.FAIL, Status.WARN):
        why = check.note or ("the table has no rows" if not rows else "it could not be decided")
        return Outcome.WARN if gentle else Outcome.UNDETERMINED, f"{why[0].upper()}{why[1:].rstrip('.')}."
    failing, message = check.failing_rows, ""
    if failing is None:
        return Outcome.WARN if gentle else Outcome.FAIL, ""
    for limit, outcome in ((spec.error_if, Outcome.FAIL), (spec.warn_if, Outcome.WARN)):
        if gentle and outcome is Outcome.FAIL:
            continue
        if limit is None or limit.met(failing, rows):
            return outcome, message
        if not limit.met(rows, rows):
            return outcome, f"'{limit.text}' allows every row of this table, so it is not used. Write a smaller limit."
        message = message or f"Within the limit '{limit.text}'."
    return Outcome.PASS, message


def among(check: Check, rows: int | None) -> int:
    """Return the number of rows (or people) of which a check counts the failing ones."""
    return int(check.details.get("persons") or rows or 0)


def excepted(test: GateTest, spec: TestSpec, exceptions: Sequence[PolicyException], today: datetime.date) -> GateTest:
    """The test with the exception that the policy makes for it, if there is one."""
    matching = [
        exception
        for exception in exceptions
        if excepts(exception.requirement, spec) and exception.sensitive in ("", test.sensitive or "")
    ]
    if not matching:
        return test
    last = max(matching, key=lambda exception: exception.until)
    noted = replace(test, exception=Excepted(last.until.isoformat(), last.reason, last.until < today, last.place))
    failing = test.check.failing_rows if test.check is not None else None
    if test.outcome not in (Outcome.FAIL, Outcome.WARN):
        message = "The exception is no longer needed." if test.outcome is Outcome.PASS else ""
    elif last.until < today:
        message = f"Its exception expired on {last.until.isoformat()}."
    elif last.up_to is None or (
        test.check is not None and failing is not None and last.up_to.met(failing, among(test.check, test.rows))
    ):
        return replace(noted, outcome=Outcome.EXCEPTED)
    else:
        message = f"Its exception is for up to {last.up_to.text.removeprefix('<= ')} only."
    return replace(noted, message=" ".join(filter(None, (test.message, message))))
