"""A run of a policy: one connection after the other, every table in turn; what goes wrong in one leaves the others."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlaudit.base.errors import EngineError, ExitCode, Interrupted, SqlauditError, UsageError
from sqlaudit.base.result import Warned
from sqlaudit.base.spec import AuditSpec, Limits, Target
from sqlaudit.base.version import __version__
from sqlaudit.base.whereabouts import Whereabouts
from sqlaudit.base.words import speaking
from sqlaudit.classes.inputs import further_targets
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine, ProgressHook
from sqlaudit.engines.overwriting import files_read
from sqlaudit.gates.answered import WarehouseAnswers
from sqlaudit.gates.connections import database_of
from sqlaudit.gates.judging import blank, errored, with_exit_code
from sqlaudit.gates.nodes import in_a_policy
from sqlaudit.gates.one_table import Store, TableTests, skipped
from sqlaudit.gates.result import Dataset, GateResult, GateTest, Mistake, Outcome
from sqlaudit.gates.selection import select
from sqlaudit.gates.spec import Policy, TableEntry

OpenEngine = Callable[[str | Whereabouts | None, Limits, Sequence[Target]], AbstractContextManager[Engine]]
"""Opens an engine for a database and the targets that will be read."""
Settle = Callable[[GateTest], GateTest]
"""Gives a finished test its final outcome: a baseline may accept it."""


def open_engine(
    db: str | Whereabouts | None, limits: Limits, targets: Sequence[Target]
) -> AbstractContextManager[Engine]:
    """An engine, without progress or signals."""
    return connect(db, limits, *targets)


@dataclass(frozen=True)
class RunOptions:
    """How a policy is run.

    Args:
        selected: as for `--select`. fail_fast: stop after the first table with a failing test.
        limits: budgets for all connections together. today: what exceptions are compared with.
        store: takes the classes that fall short. show_values: whether these have their keys.
        opener: opens engines. settle: gives tests their final outcome.
        answers: what a warehouse answered already; with these nothing is connected.
        tell: says at once what nobody should wait for: the tables that are not there.
    """

    selected: Sequence[str] = ()
    fail_fast: bool = False
    limits: Limits = field(default_factory=Limits)
    today: datetime.date = field(default_factory=lambda: datetime.datetime.now(datetime.UTC).date())
    store: Store | None = None
    show_values: bool = False
    opener: OpenEngine = open_engine
    settle: Settle = lambda test: test
    answers: WarehouseAnswers | None = None
    tell: Callable[[str], None] = lambda sentence: None


@speaking(in_a_policy)
def run_policy(policy: Policy, options: RunOptions) -> GateResult:
    """The results of all selected tests, in the policy's order.

    Raises:
        UsageError: a selection that fits no test, or a policy without any.
        Interrupted: somebody pressed Ctrl-C.
    """
    began = time.monotonic()
    tables = select(policy.tables, options.selected)
    run = _GateRun(policy, options, len(tables), time.monotonic())
    mistakes = [*policy.mistakes, *(mistake for table in policy.tables for mistake in table.mistakes)]
    if not tables and not mistakes:
        raise UsageError(f"{policy.file}: there is nothing to test.")
    sound = [table for table in tables if not table.mistakes]
    run.results |= {id(table): _broken(table) for table in tables if table.mistakes}
    if options.answers is not None:
        run.from_answers(options.answers, sound)
    else:
        for connection in dict.fromkeys(table.connection for table in sound):
            run.on_connection(connection, [table for table in sound if table.connection == connection])
    return GateResult(
        policy=policy.file,
        tests=tuple(test for table in tables for test in run.results[id(table)]),
        mistakes=tuple(dict.fromkeys([*mistakes, *run.mistakes])),
        time=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        seconds=round(time.monotonic() - began, 3),
        tables=len(tables),
        warnings=tuple(run.warnings),
        places=tuple((table.name, table.place) for table in tables),
        datasets=tuple((table.name, _dataset(policy, table)) for table in tables),
        versions={"sqlaudit": __version__, **run.versions},
    )


def _dataset(policy: Policy, table: TableEntry) -> Dataset:
    """What catalogues call a table: where the policy does not say its namespace, the name of its connection."""
    connection = policy.connections.get(table.connection)
    namespace = (connection.namespace if connection else "") or table.connection or "file"
    target = table.target
    return Dataset(namespace, target.relation if target and target.relation and table.connection else table.name)


def _broken(table: TableEntry) -> list[GateTest]:
    lines = sorted({mistake.place.line for mistake in table.mistakes if mistake.place.line is not None})
    listed = " and ".join(map(str, lines))
    at = f"mistakes in lines {listed}" if len(lines) > 1 else f"a mistake in line {listed}" if lines else "a mistake"
    said = f"Not run: the policy of this table has {at}."
    return [
        replace(blank(table, spec, Outcome.ERROR, spec.mistake or said), exit_code=ExitCode.USAGE)
        for spec in table.tests
    ]


def _all_errored(table: TableEntry, error: SqlauditError) -> list[GateTest]:
    return [errored(table, spec, error) for spec in table.tests]


@dataclass
class _GateRun:
    """What a run has found so far."""

    policy: Policy
    options: RunOptions
    number: int
    began: float
    results: dict[int, list[GateTest]] = field(default_factory=dict)
    warnings: list[tuple[str, Warned]] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    stopped: bool = False
    tested: int = 0

    def from_answers(self, answers: WarehouseAnswers, tables: Sequence[TableEntry]) -> None:
        """Judge all tables by what was answered."""
        for table in tables:
            tests = skipped(table) if self.stopped else answers.of_table(table, self.options.today)
            self._keep([(table, tests)])

    def on_connection(self, name: str, tables: Sequence[TableEntry]) -> None:
        """Test all tables of one connection."""
        if self.stopped:
            self._keep([(table, skipped(table)) for table in tables])
            return
        with ExitStack() as stack:
            try:
                database = database_of(self.policy.connections[name]) if name else None
                tables, engine = self._opened(stack, database, tables)
            except Interrupted:
                raise
            except SqlauditError as error:
                self._keep([(table, _all_errored(table, error)) for table in tables])
                return
            if engine is not None:
                self.versions[name or "files"] = engine.version()
                self._test(engine, tables)

    def _opened(
        self, stack: ExitStack, database: Whereabouts | None, tables: Sequence[TableEntry]
    ) -> tuple[Sequence[TableEntry], Engine | None]:
        """The engine for the tables that can be read with it; the others get their error."""
        opener = self.options.opener
        try:
            return tables, stack.enter_context(opener(database, self._limits(), _targets(tables)))
        except UsageError as error:
            if len(tables) == 1:
                raise
            broken = {id(table): found for table in tables if (found := self._error_of(database, table)) is not None}
            if len(broken) == len(tables):
                raise error from None
        self._keep([(table, _all_errored(table, broken[id(table)])) for table in tables if id(table) in broken])
        rest = [table for table in tables if id(table) not in broken]
        return rest, stack.enter_context(opener(database, self._limits(), _targets(rest)))

    def _error_of(self, database: Whereabouts | None, table: TableEntry) -> SqlauditError | None:
        """What keeps an engine from being opened for one table: a file that cannot be read, a query that is none."""
        try:
            with self.options.opener(database, self._limits(), _targets([table])):
                return None
        except UsageError as error:
            return error

    def _test(self, engine: Engine, tables: Sequence[TableEntry]) -> None:
        inner = engine.progress
        self._tell_missing(engine, tables)
        runner = TableTests(engine, tables, self.options.today, self.options.store, self.options.show_values)
        for table in tables:
            if self.stopped:
                self._keep([(table, skipped(table))])
                continue
            self.tested += 1
            name = f"{self.tested} of {self.number} {table.name}"
            engine.progress = _progress(inner, name)
            if inner is not None:
                inner(name, None)
            tests, warnings = runner.run(table)
            self.warnings += [(table.name, warning) for warning in warnings]
            self._keep([(table, tests)])
        if not self.stopped and not self.options.selected:
            self.mistakes += runner.of_nobody()

    def _tell_missing(self, engine: Engine, tables: Sequence[TableEntry]) -> None:
        """Say which tables are not there before the first of several is tested; their tests will be errors."""
        missing = []
        for table in tables if len(tables) > 1 else ():
            assert table.target is not None
            with suppress(EngineError):
                try:
                    engine.open(table.target)
                except UsageError:
                    missing.append(table.name)
        if missing:
            number = f"{len(missing)} of {len(tables)} tables cannot be read, and their tests will be errors"
            self.options.tell(f"{number}: {', '.join(missing)}.")

    def _keep(self, found: Sequence[tuple[TableEntry, list[GateTest]]]) -> None:
        for table, tests in found:
            settled = [with_exit_code(self.options.settle(test)) for test in tests]
            self.results[id(table)] = settled
            self.stopped = self.stopped or (self.options.fail_fast and any(test.blocks for test in settled))

    def _limits(self) -> Limits:
        """The budgets with what is left of the time."""
        limits = self.options.limits
        if limits.timeout is None:
            return limits
        return replace(limits, timeout=max(0.1, limits.timeout - (time.monotonic() - self.began)))


def files_of(policy: Policy) -> Iterator[Path]:
    """Every file that a policy's tests read, as far as they can be found: the policy, databases, tables."""
    yield Path(policy.file)
    for connection in policy.connections.values():
        with suppress(SqlauditError):  # a test will say so
            yield from files_read(database_of(connection), ())
    yield from files_read(None, _targets([table for table in policy.tables if table.target is not None]))


def _targets(tables: Sequence[TableEntry]) -> list[Target]:
    """Everything that will be read for the tables."""
    found = []
    for table in tables:
        assert table.target is not None
        found += [test.loss.original for test in table.tests if test.loss is not None]
        found += [
            one for test in table.tests if test.cells is not None for one in (*test.cells.before, *test.cells.linked)
        ]
        found += [one for test in table.tests if test.series is not None for one in test.series.before]
        found += [one.target for one in table.persons]
        found += [table.target, *further_targets(AuditSpec(table.target, table.roles, (), table.inputs))]
    return found


def _progress(inner: ProgressHook | None, name: str) -> ProgressHook | None:
    """Progress that says which table is at work."""
    if inner is None:
        return None
    return lambda step, share: inner(f"{name}: {step}", share)


def mistakes_of(policy: Policy) -> list[Mistake]:
    """Every mistake of a policy, also those of single requirements."""
    own = [*policy.mistakes, *(mistake for table in policy.tables for mistake in table.mistakes)]
    tests = [(test, table) for table in policy.tables for test in table.tests if test.mistake]
    return [*own, *(Mistake(test.place, f"{table.name}: {test.mistake}") for test, table in tests)]
