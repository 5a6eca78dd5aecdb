"""The Python interface to policies: `sqlaudit.gate` runs one, against a baseline if there is one."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from sqlaudit.base.errors import SqlauditError, UsageError
from sqlaudit.base.files import check_destination, is_file
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.result import Warned
from sqlaudit.engines.adbc import AdbcPlace
from sqlaudit.engines.command import public
from sqlaudit.engines.writing import refuse_overwriting
from sqlaudit.gates.answered import asked_over_adbc, place_of_answers, read_answers
from sqlaudit.gates.dbt_manifest import load_dbt_policy
from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.request import GateRequest, PolicySource
from sqlaudit.gates.result import (
    UNDECIDED,
    CubeLimit,
    Drift,
    GateResult,
    GateTest,
    Mistake,
    Place,
    Policy,
    ReleaseLimit,
    TableEntry,
    for_attribute,
)
from sqlaudit.gates.run import GateRun, OpenEngine, files_of, open_engine, run_policy, select
from sqlaudit.gates.stored import (
    WITHOUT_ROLE,
    Accepted,
    Baseline,
    FailureStore,
    History,
    Key,
    accept,
    columns_without_role,
    gone_tests,
    settled,
)
from sqlaudit.models.phrases import ALL_NAMED
from sqlaudit.reports.document import plural


def read_policy(source: PolicySource, *, connects: bool = False) -> Policy:
    """Return the policy that is asked for; `connects` if its own connections will be used.

    Raises:
        UsageError: it cannot be read.
    """
    if source.dbt_project is not None:
        return load_dbt_policy(source.dbt_project, source.dbt_target, connects=connects)
    return load_policy(source.policy)


M = TypeVar("M", bound=ReleaseLimit | CubeLimit)


def find_made(policy: Policy, selections: Sequence[str], kind: type[M], what: str) -> tuple[TableEntry, M]:
    """Return the table of a policy of which a file is made, and that file.

    Args:
        policy: the policy. selections: names, or as `sqlaudit test --select` has them; empty = its only one.
        kind, what: of the file, and the section of the policy.

    Raises:
        UsageError: a mistake in the policy, or no such table, or several.
    """
    named = [table for table in policy.tables if table.name in selections]  # also a name with blanks
    tables = named or select(policy.tables, selections)
    if mistakes := [*policy.mistakes, *(mistake for table in tables for mistake in table.mistakes)]:
        raise UsageError(f"{mistakes[0].place}: {mistakes[0].message}")
    found = [(table, table.made) for table in tables if isinstance(table.made, kind)]
    if not found:
        names = ", ".join(table.name for table in tables)
        advice = " `sqlaudit lattice --save` writes one." if kind is ReleaseLimit else ""
        raise UsageError(f"{policy.file}: there is no section {what!r} ({names}).{advice}")
    if len(found) > 1:
        names = ", ".join(table.name for table, _ in found)
        raise UsageError(f"{policy.file} has several {what}s: {names}. Choose one with {spelled('select')}.")
    return found[0]


@public(GateRequest)
def gate(request: GateRequest) -> GateResult:
    """Run the tests of a policy and return what was found.

    Args:
        policy: the file.
        dbt_project: a dbt project's folder instead.
        dbt_target: of its profile, empty = dbt's choice.
        select: which tests, as in dbt: `tag:release`, `patients+`; empty = all.
        fail_fast: stop after the first table with a failing test.
        baseline: a file with an accepted state; only what got worse fails.
        accept: accept what is found, into it; without this the file is only read.
        history: a file that this run is added to, .jsonl.
        store_failures: a DuckDB file for the failing classes.
        show_values: whether it may hold their keys.
        today: what exceptions are compared with; None = today, in UTC.
        results: files with what a warehouse answered to the statements of `sqlaudit compile`; with these nothing is
            connected.
        run: the text that was given to `compile` to tell this run from others.
        db: a database behind an ADBC driver, `adbc:driver:uri`, that is asked by compiled SELECTs in the place of the
            policy's connections.
        dialect: what it speaks, empty = what its driver says.

    Returns:
        One result a test, in the policy's order; `result.passed` says whether the tables may be published.

    Raises:
        UsageError: the policy cannot be read, or a selection fits no test. What goes wrong in one table is part of the
            result instead.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "people.csv").write_text("zip,sex\\n1,f\\n1,f\\n2,m\\n")
        ...     written = Path(folder, "sqlaudit.yml")
        ...     _ = written.write_text("{version: 1, tables: "
        ...         "[{file: people.csv, quasi_identifiers: [zip, sex], requirements: [k=2, {k: 3, severity: warn}]}]}")
        ...     [(test.requirement, test.outcome.value, test.check.failing_rows) for test in gate(written).tests]
        [('k=2', 'fail', 1), ('k=3', 'warn', 3)]
    """
    return run_gate(request)


def run_gate(
    request: GateRequest,
    opener: OpenEngine = open_engine,
    written: Sequence[Path | None] = (),
    tell: Callable[[str], None] = lambda sentence: None,
) -> GateResult:
    """The results of a request, with its history written.

    Args:
        written: files that will be written from the result, which may be none of those that are read.
        tell: is told at once which tables are not there.

    Raises:
        UsageError: as `gate`.
        Interrupted: somebody pressed Ctrl-C.
    """
    policy = read_policy(request.source, connects=not request.results and not request.db)
    files = [Path(file) for file in request.results]
    database = _place(request)
    if database is not None and database.file is not None:
        refuse_overwriting([request.baseline, request.history, request.store_failures, *written], [database.file])
    written_files = [request.baseline if request.accept else None, request.history, request.store_failures, *written]
    refuse_overwriting(written_files, [*files_of(policy), *files])
    if request.baseline is not None and not request.accept:
        refuse_overwriting([request.history, request.store_failures, *written], [request.baseline])
    if request.history is not None:
        check_destination(request.history, (".jsonl",))
    if request.accept and request.baseline is not None:
        check_destination(request.baseline, (".yml", ".yaml"))
    answers = read_answers(files, request.run) if files else None
    if database is not None:
        answers = asked_over_adbc(
            database, request.dialect, select(policy.tables, request.source.select), request.limits
        )
    baseline = Baseline(request.baseline) if request.baseline is not None else None
    accepted_states = (
        baseline.accepted() if baseline is not None and (not request.accept or is_file(baseline.path)) else {}
    )
    store = FailureStore(request.store_failures) if request.store_failures is not None else None

    def settle(test: GateTest) -> GateTest:
        return settled(test, accepted_states.get(test.key)) if baseline is not None and not request.accept else test

    today = request.today or datetime.datetime.now(datetime.UTC).date()
    options = (request.source.select, request.fail_fast, request.limits, today, request.show_values)
    result = run_policy(policy, GateRun(*options, opener, tell, settle, store.add if store else None, answers))
    if store is not None:
        try:
            store.write()
        except SqlauditError as error:
            lost = Mistake(Place(str(store.path)), f"Failing classes were not written: {error}")
            result = replace(result, mistakes=(*result.mistakes, lost))
            store = None
    notes = [*policy.notes, *([] if store is None else [_stored(store, request.show_values)])]
    notes += [] if answers is None else [answers.told, *answers.unused()]
    if request.history is not None:
        notes += _recorded(History(request.history), result, accepted=request.accept)
    if baseline is None:
        return replace(result, notes=tuple(notes))
    result = replace(result, baseline=str(baseline.path))
    if request.accept:
        baseline.write(accept(accepted_states, result, has_all_tests=not request.source.select))
        return replace(result, notes=(*notes, *_accepted(baseline, result)))
    gone = () if request.source.select else gone_tests(accepted_states, result)
    names = tuple(f"{table}: {for_attribute(requirement, sensitive)}" for table, requirement, sensitive in gone)
    warnings = (*result.warnings, *_new_columns(accepted_states, result))
    return replace(result, removed_tests=names, notes=tuple(notes), warnings=warnings)


def _new_columns(accepted_states: Mapping[Key, Accepted], result: GateResult) -> Iterator[tuple[str, Warned]]:
    """Yield a warning for each column without a role that a table did not have when it was accepted."""
    tested = {test.table for test in result.tests if test.requirement == ALL_NAMED}  # where a test says it
    for table, columns in columns_without_role(result).items():
        before = accepted_states.get((table, WITHOUT_ROLE, ""))
        accepted = {names[0] for names, _ in before.findings} if before else {*columns}
        for column in columns:
            if column not in accepted and table not in tested:
                sentence = f"{column} is a new column without a role. Others may know its values: give it one."
                yield table, Warned("new_column", (column,), sentence)


def _place(request: GateRequest) -> AdbcPlace | None:
    """The database that is asked instead of the policy's, if there is one.

    Raises:
        UsageError: it is named beside what it has no use for.
    """
    if not request.db:
        if request.dialect:
            raise UsageError(f"{spelled('dialect')} needs {spelled('db')}.")
        return None
    if request.results or request.store_failures is not None:
        raise UsageError(
            f"{spelled('db')} asks for verdicts and figures alone: leave out {spelled('results')} and "
            f"{spelled('store_failures')}."
        )
    return place_of_answers(request.db)


def _stored(store: FailureStore, show_values: bool) -> str:
    hidden = "with" if show_values else "without"
    classes = plural(store.classes, "failing class is", "failing classes are")
    sentence = f"{classes} in {str(store.path)!r}, {hidden} their values."
    return " ".join([sentence, *(f"Not there: {sentence}" for sentence in store.unnamed)])


def _recorded(history: History, result: GateResult, *, accepted: bool) -> list[str]:
    """Add the run to its history, which may lie where nothing can be written; return what is to be said."""
    try:
        history.add(result, accepted=accepted)
    except SqlauditError as error:
        return [f"This run was not added to the history: {error}"]
    return []


def _accepted(baseline: Baseline, result: GateResult) -> Iterator[str]:
    left = sum(test.outcome in UNDECIDED for test in result.tests)
    yield f"Accepted the state of {len(result.tests) - left:,} tests in {str(baseline.path)!r}."
    if left:
        yield f"{left:,} tests have no result to accept."


def drifted(result: GateResult, drift: Drift) -> list[GateTest]:
    """The tests that moved in one way since they were accepted."""
    return [test for test in result.tests if test.change is not None and test.change.drift is drift]
