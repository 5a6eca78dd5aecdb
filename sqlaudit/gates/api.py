"""The Python interface to policies: `sqlaudit.gate` runs one, against a baseline if there is one."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlaudit.base.errors import SqlauditError, UsageError
from sqlaudit.base.options import Given, made, takes
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import Limits
from sqlaudit.engines.adbc import AdbcPlace
from sqlaudit.engines.writing import refuse_overwriting
from sqlaudit.gates.answered import asked_over_adbc, place_of_answers, read_answers
from sqlaudit.gates.dbt_manifest import load_dbt_policy
from sqlaudit.gates.reading import DEFAULT_POLICY, load_policy
from sqlaudit.gates.result import UNDECIDED, Drift, GateResult, GateTest, Mistake, Place, Policy, for_attribute
from sqlaudit.gates.run import GateRun, OpenEngine, files_of, open_engine, run_policy, select
from sqlaudit.gates.stored import Accepted, FailureStore, History, Key, settled
from sqlaudit.reports.document import plural


@dataclass(frozen=True)
class GateRequest:
    """What a run of a policy is asked for.

    Args: as those of `gate`.
    """

    policy: str | Path = DEFAULT_POLICY
    dbt_project: str | Path | None = None
    dbt_target: str = ""
    select: Sequence[str] = ()
    fail_fast: bool = False
    baseline: str | Path | None = None
    accept: bool = False
    store_failures: str | Path | None = None
    show_values: bool = False
    limits: Limits = field(default_factory=Limits)
    today: datetime.date | None = None
    results: Sequence[str | Path] = ()
    run: str = ""
    db: str = field(default="", repr=False)
    dialect: str = ""

    def read(self, *, connects: bool = False) -> Policy:
        """The policy that is asked for; `connects` if its own connections will be used.

        Raises:
            UsageError: it cannot be read.
        """
        if self.dbt_project is not None:
            return load_dbt_policy(self.dbt_project, self.dbt_target, connects=connects)
        return load_policy(self.policy)


@takes(
    "policy * dbt_project dbt_target select fail_fast baseline accept store_failures show_values limits today results "
    "run db dialect",
    GateRequest,
    db=("str", ""),
)
def gate(given: Given) -> GateResult:
    """Run the tests of a policy and return what was found.

    Args:
        policy: the file.
        dbt_project: a dbt project's folder instead.
        dbt_target: of its profile, empty = dbt's choice.
        select: which tests, as in dbt: `tag:release`, `patients+`; empty = all.
        fail_fast: stop after the first table with a failing test.
        baseline: a file with an accepted state; only what got worse fails.
        accept: accept what is found, into it.
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
    return run_gate(GateRequest(**vars(given) | {"limits": made(Limits, given.limits, "limits")}))


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
    policy = request.read(connects=not request.results and not request.db)
    files = [Path(one) for one in request.results]
    place = _place(request)
    if place is not None and place.file is not None:
        refuse_overwriting([request.baseline, request.store_failures, *written], [place.file])
    refuse_overwriting([request.baseline, request.store_failures, *written], [*files_of(policy), *files])
    answers = read_answers(files, request.run) if files else None
    if place is not None:
        answers = asked_over_adbc(place, request.dialect, select(policy.tables, request.select), request.limits)
    history = History(Path(request.baseline)) if request.baseline is not None else None
    known = history.accepted() if history is not None and not request.accept else {}
    store = FailureStore(Path(request.store_failures)) if request.store_failures is not None else None

    def settle(test: GateTest) -> GateTest:
        return settled(test, known.get(test.key)) if history is not None and not request.accept else test

    today = request.today or datetime.datetime.now(datetime.UTC).date()
    asked = (request.select, request.fail_fast, request.limits, today, request.show_values)
    result = run_policy(policy, GateRun(*asked, opener, tell, settle, store.add if store else None, answers))
    if store is not None:
        try:
            store.write()
        except SqlauditError as error:
            lost = Mistake(Place(str(store.path)), f"Failing classes were not written: {error}")
            result = replace(result, mistakes=(*result.mistakes, lost))
            store = None
    notes = [*policy.notes, *([] if store is None else [_stored(store, request.show_values)])]
    notes += [] if answers is None else [answers.told, *answers.unused()]
    if history is None:
        return replace(result, notes=tuple(notes))
    gone = [] if request.accept or request.select else _gone(known, result)
    notes += _recorded(history, result, accept=request.accept)
    return replace(result, baseline=str(history.path), gone=tuple(gone), notes=tuple(notes))


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
    said = f"{classes} in {str(store.path)!r}, {hidden} their values."
    return " ".join([said, *(f"Not there: {sentence}" for sentence in store.unnamed)])


def _gone(known: Mapping[Key, Accepted], result: GateResult) -> list[str]:
    """Tests of the baseline that the policy no longer has."""
    here = {test.key for test in result.tests} | {(test.table, test.requirement, "") for test in result.tests}
    return [
        f"{table}: {for_attribute(requirement, sensitive)}"
        for table, requirement, sensitive in known
        if (table, requirement, sensitive) not in here and (table, requirement, "") not in here
    ]


def _recorded(history: History, result: GateResult, *, accept: bool) -> list[str]:
    """Write the run; a baseline that is only compared with may lie where nothing can be written."""
    try:
        kept = history.add(result, accept=accept)
    except SqlauditError as error:
        if accept:
            raise
        return [f"This run was not added to the history: {error}"]
    if not accept:
        return []
    left = sum(test.outcome in UNDECIDED for test in result.tests)
    said = f"Accepted the state of {kept:,} tests in {str(history.path)!r}."
    return [said] + ([f"{left:,} tests have no result to accept."] if left else [])


def drifted(result: GateResult, drift: Drift) -> list[GateTest]:
    """The tests that moved in one way since they were accepted."""
    return [test for test in result.tests if test.change is not None and test.change.drift is drift]
