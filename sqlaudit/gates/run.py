"""A run of a policy: one connection after the other, every table in turn; what goes wrong in one leaves the others."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from sqlaudit.audits.auditor import Auditor
from sqlaudit.audits.models_asked import Combinations, persons_told
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.addresses import Whereabouts
from sqlaudit.base.errors import EngineError, ExitCode, Interrupted, SqlauditError, UsageError
from sqlaudit.base.names import closest
from sqlaudit.base.parameter_names import about, speaking
from sqlaudit.base.relation import Relation
from sqlaudit.base.result import Warned
from sqlaudit.base.spec import AuditSpec, Coverage, Limits, Requirement, Roles, Target
from sqlaudit.base.version import __version__
from sqlaudit.classes.failing import FailingClass
from sqlaudit.classes.inputs import further_targets
from sqlaudit.classes.opening import resolve_roles
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine, ProgressHook
from sqlaudit.engines.writing import files_read
from sqlaudit.gates.answered import WarehouseAnswers
from sqlaudit.gates.connections import database_of
from sqlaudit.gates.drift import digest
from sqlaudit.gates.judging import attempt, blank, errored, judged, with_exit_code
from sqlaudit.gates.nodes import in_a_policy
from sqlaudit.gates.result import (
    CellLimit,
    ColumnLimit,
    Dataset,
    GateResult,
    GateTest,
    Limit,
    LossLimit,
    Mistake,
    Outcome,
    Policy,
    SeriesLimit,
    TableEntry,
    TestSpec,
)
from sqlaudit.gates.shared_runs import CellTests, ColumnSetTests, LossTests, SeriesTests, SharedRuns
from sqlaudit.gates.tables import PersonsTables
from sqlaudit.models.phrases import columns_check, identifier_checks
from sqlaudit.profiles.warnings import audit_warnings

# The tests of one table over an open engine: one audit for all models, and the searches for column sets.

Store = Callable[[str, Iterable[FailingClass]], None]
"""Takes the classes that fall short in a table."""
Key = tuple[str, Target, Roles, tuple[str, ...], int]


@dataclass
class TableTests:
    """Runs the tests of tables over one engine; tables with the same rows and roles share one audit.

    Args:
        engine: an open engine. entries: all tables that will be tested on it.
        today: the day that exceptions are compared with.
        store: takes the classes that fall short. show_values: whether these may have their keys.
    """

    engine: Engine
    entries: Sequence[TableEntry]
    today: datetime.date
    store: Store | None = None
    show_values: bool = False
    _audits: dict[Key, AuditResult] = field(default_factory=dict)
    _found: dict[int, tuple[TableEntry, Relation | None] | SqlauditError] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._persons = PersonsTables(self.engine)

    def of_nobody(self) -> tuple[Mistake, ...]:
        """The tables of persons that no table which was tested is about: their column may be misspelled."""
        if any(isinstance(found, SqlauditError) for found in self._found.values()):
            return ()  # which is said already
        given = dict.fromkeys(one for entry in self.entries for one in entry.persons)
        return tuple(
            Mistake(one.place, f"no table has the column {one.entity!r} of the persons in {one.target.name}.")
            for one in given
            if one not in self._persons.used
        )

    def run(self, entry: TableEntry) -> tuple[list[GateTest], tuple[Warned, ...]]:
        """The results of a table's tests in their order, and the warnings of its audit.

        Raises:
            Interrupted: somebody pressed Ctrl-C.
        """
        known = self._with_persons(entry)
        if isinstance(known, SqlauditError):
            return [errored(entry, spec, known) for spec in entry.tests], ()
        return self._run(known[0], entry)

    def _with_persons(self, entry: TableEntry) -> tuple[TableEntry, Relation | None] | SqlauditError:
        """The entry with what the policy says of its persons, and its rows where they are joined with theirs; or why
        they do not fit together."""
        if not entry.persons:
            return entry, None
        if id(entry) not in self._found:
            found = attempt(lambda: self._persons.of(entry))
            self._found[id(entry)] = found
            if not isinstance(found, SqlauditError):
                self._found[id(found[0])] = found
        return self._found[id(entry)]

    def _joined(self, entry: TableEntry) -> Relation | None:
        """The rows of a table with those of its persons, where they are joined.

        Raises:
            SqlauditError: they do not fit together.
        """
        found = self._with_persons(entry)
        if isinstance(found, SqlauditError):
            raise found
        return found[1]

    def _rows(self, entry: TableEntry) -> Relation | Target:
        """The rows of a table, with those of its persons where they are joined."""
        assert entry.target is not None
        return self._joined(entry) or entry.target

    def _key(self, entry: TableEntry) -> Key | None:
        """What two entries must have in common to share an audit; None where nothing can be audited."""
        found = self._with_persons(entry)
        return None if isinstance(found, SqlauditError) else _key(found[0])

    def _run(self, entry: TableEntry, alone: TableEntry) -> tuple[list[GateTest], tuple[Warned, ...]]:
        modelled = [spec for spec in entry.tests if spec.model is not None]
        found = self._modelled(entry, modelled) if modelled else {}
        results: list[GateTest] = []
        of_cells = all(isinstance(spec.limit, CellLimit) for spec in entry.tests)  # no row of it is a person
        known = _Known(()) if of_cells else self._known(entry)
        runs: dict[type[Limit], tuple[SharedRuns[Any, Any], TableEntry]] = {
            LossLimit: (LossTests(self.engine, self.today), alone),
            SeriesLimit: (SeriesTests(self.engine, self.today), alone),
            CellLimit: (CellTests(self.engine, self.today), entry),
            ColumnLimit: (ColumnSetTests(self.engine, self.today, self._rows), entry),
        }
        for position, spec in enumerate(entry.tests):
            if spec.mistake:
                results.append(errored(entry, spec, UsageError(spec.mistake)))
            elif spec.limit is not None:
                run, table = runs[type(spec.limit)]
                results += run.run(table, spec, spec.limit)
            elif spec.identifier or spec.all_named:
                results.append(self._of_columns(entry, spec, known))
            else:
                results += found.get(position, [])
        said = () if isinstance(known, SqlauditError) else known.warnings
        return results, said

    def _known(self, entry: TableEntry) -> _Known | SqlauditError:
        """What is known of a table's columns: from its audit, or from a look at them where no model was tested.

        Raises:
            Interrupted: somebody pressed Ctrl-C.
        """
        audit = self._audits.get(_key(entry))
        if audit is not None:
            return _Known(audit.warnings, audit.rows, audit.classes.count)
        return attempt(lambda: self._look_at(entry))

    def _look_at(self, entry: TableEntry) -> _Known:
        assert entry.target is not None
        relation = self._joined(entry) or self.engine.open(entry.target)
        roles = resolve_roles(entry.roles, relation, self.engine)
        found = audit_warnings(self.engine, relation, roles, insensitive=entry.insensitive)
        return _Known((*found, *persons_told(relation, roles, entry.roles, Combinations(self.engine))))

    def _of_columns(self, entry: TableEntry, spec: TestSpec, known: _Known | SqlauditError) -> GateTest:
        """A test of columns and not of their values: an identifier that is there, or columns without a role."""
        if isinstance(known, SqlauditError):
            return errored(entry, spec, known)
        if spec.identifier:
            (check,) = identifier_checks([spec.identifier], (), known.rows)
        else:
            bare = [name for one in known.warnings if one.code == "columns_without_role" for name in one.columns]
            check = columns_check(bare, known.rows)
        return judged(entry, spec, check, known.rows, known.classes, self.today)

    def _modelled(self, entry: TableEntry, specs: Sequence[TestSpec]) -> Mapping[int, list[GateTest]]:
        """The results of all tests that a privacy model decides, by their position in the entry."""
        places = {id(spec): position for position, spec in enumerate(entry.tests)}
        result = attempt(lambda: self._audit(entry))
        if isinstance(result, UsageError):  # one of the requirements may be to blame: each on its own
            return {places[id(spec)]: self._alone(entry, spec) for spec in specs}
        if isinstance(result, SqlauditError):
            return {places[id(spec)]: [errored(entry, spec, result)] for spec in specs}
        return {places[id(spec)]: self._of(entry, spec, result) for spec in specs}

    def _audit(self, entry: TableEntry) -> AuditResult:
        """The audit of a table for all requirements of all entries with the same rows and roles; done once."""
        key = _key(entry)
        if key not in self._audits:
            alike = [other for other in self.entries if self._key(other) == key]
            wanted = {spec.requirement: spec.model for other in alike for spec in other.tests if spec.model}
            self._audits[key] = self._audit_of(entry, entry.roles, tuple(wanted.values()))
        return self._audits[key]

    def _audit_of(self, entry: TableEntry, roles: Roles, requirements: tuple[Requirement, ...]) -> AuditResult:
        assert entry.target is not None
        keep = None if self.store is None else _Keep(self.store, entry.name)
        joined = self._joined(entry)
        auditor = Auditor(self.engine, 0, self.show_values and self.store is not None, keep, joined)
        coverage = Coverage(insensitive=entry.insensitive)
        return auditor.audit(AuditSpec(entry.target, roles, requirements, entry.inputs, coverage))

    def _alone(self, entry: TableEntry, spec: TestSpec) -> list[GateTest]:
        assert spec.model is not None
        roles = entry.roles
        if spec.sensitive and not roles.joint:
            roles = replace(roles, sensitive=spec.sensitive)
        model = spec.model
        found = attempt(lambda: self._of(entry, spec, self._audit_of(entry, roles, (model,))))
        return [errored(entry, spec, found)] if isinstance(found, SqlauditError) else found

    def _of(self, entry: TableEntry, spec: TestSpec, result: AuditResult) -> list[GateTest]:
        assert spec.model is not None
        checks = [
            check
            for check in result.checks
            if check.text == spec.model.text
            and (not spec.sensitive or check.sensitive is None or check.sensitive in spec.sensitive)
        ]
        return [judged(entry, spec, check, result.rows, result.classes.count, self.today) for check in checks]


@dataclass(frozen=True)
class _Known:
    """What is known of a table's columns; without an audit nobody counted rows and classes."""

    warnings: tuple[Warned, ...]
    rows: int | None = None
    classes: int | None = None


@dataclass(frozen=True)
class _Keep:
    """Hands the failing classes of a table on."""

    store: Store
    table: str

    def __call__(self, failing: Iterable[FailingClass]) -> None:
        self.store(self.table, failing)


def _key(entry: TableEntry) -> Key:
    """What two entries must have in common to share an audit."""
    assert entry.target is not None
    inputs: Any = entry.inputs
    return (
        entry.connection,
        replace(entry.target, label=""),
        entry.roles,
        entry.insensitive,
        id(inputs) if inputs else 0,
    )


def skipped(entry: TableEntry) -> list[GateTest]:
    """The tests of a table that is not tested any more."""
    return [blank(entry, spec) for spec in entry.tests]


# Which tests are wanted: dbt's way to say it, `tag:release,patients+ owner:ethics`.

METHODS = ("table", "tag", "owner", "severity", "requirement", "connection")


def select(tables: Sequence[TableEntry], wanted: Sequence[str]) -> tuple[TableEntry, ...]:
    """The tables with the tests that are wanted; tables without any are left out.

    Args:
        tables: of a policy. wanted: selections, of which a test fits one at least; in a text they are separated by
            spaces. In one selection the parts between commas must all fit. A part is a table's name (`*` stands for
            anything), with + before it for what it is derived from, and behind it for what is derived from it; or
            tag:, owner:, severity:, requirement: or connection: and a name.

    Raises:
        UsageError: an unknown method, or a selection that fits no test.

    Example:
        >>> from sqlaudit.gates.result import Place
        >>> spec = TestSpec("k=5", Place("p.yml", 3), tags=("release",))
        >>> tables = [TableEntry("patients", Place("p.yml", 2), None, tests=(spec,))]
        >>> [table.name for table in select(tables, ["tag:r*"])]
        ['patients']
    """
    unions = [union for text in wanted for union in text.split()]
    if not unions:
        return tuple(tables)
    kept: set[tuple[str, int]] = set()
    for union in unions:
        fits = _fitting(tables, union)
        if not fits:
            raise UsageError(f"{about('select')} {union!r} fits no test.{_hint(tables, union)}")
        kept |= fits
    chosen = (
        replace(table, tests=tuple(test for i, test in enumerate(table.tests) if (table.name, i) in kept))
        for table in tables
    )
    return tuple(table for table in chosen if table.tests)


def _fitting(tables: Sequence[TableEntry], union: str) -> set[tuple[str, int]]:
    parts = [part for part in union.split(",") if part]
    fits = set(_all(tables))
    for part in parts:
        fits &= _part(tables, part)
    return fits if parts else set()


def _all(tables: Sequence[TableEntry]) -> Iterator[tuple[str, int]]:
    for table in tables:
        for position, _ in enumerate(table.tests):
            yield table.name, position


def _part(tables: Sequence[TableEntry], part: str) -> set[tuple[str, int]]:
    before, bare, after = part.startswith("+"), part.strip("+"), part.endswith("+")
    method, colon, name = bare.partition(":")
    if not colon:
        method, name = "table", bare
    if method not in METHODS:
        raise UsageError(
            f"{about('select')}: there is no method {method!r}.{closest(method, METHODS)} See {', '.join(METHODS)}."
        )
    fits = {
        (table.name, position)
        for table in tables
        for position, test in enumerate(table.tests)
        if _fits(method, name, table, test)
    }
    if not (before or after):
        return fits
    names = _reached(tables, {table for table, _ in fits}, before, after)
    return {pair for pair in _all(tables) if pair in fits or pair[0] in names}


def _reached(tables: Sequence[TableEntry], named: set[str], before: bool, after: bool) -> set[str]:
    """The tables that these are derived from (before), or that are derived from these (after), at any distance."""
    parents = {table.name: table.derived_from for table in tables}
    children: dict[str, list[str]] = {}
    for name, above in parents.items():
        for parent in above:
            children.setdefault(parent, []).append(name)
    found: set[str] = set()
    for edges in ([parents] if before else []) + ([children] if after else []):
        found |= _closure(edges, named)
    return found


def _closure(edges: Mapping[str, Sequence[str]], start: set[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(start)
    while waiting:
        for name in edges.get(waiting.pop(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found


def _fits(method: str, name: str, table: TableEntry, test: TestSpec) -> bool:
    names = {
        "table": (table.name, table.name.rpartition(".")[2]),
        "tag": (*table.tags, *test.tags),
        "owner": (test.owner or table.owner,),
        "severity": (test.severity,),
        "requirement": (test.requirement, test.requirement.partition("=")[0]),
        "connection": (table.connection,),
    }
    return any(fnmatchcase(one, name) for one in names[method])


def _hint(tables: Sequence[TableEntry], union: str) -> str:
    names = [table.name for table in tables]
    tags = [f"tag:{tag}" for table in tables for test in table.tests for tag in (*table.tags, *test.tags)]
    near = closest(union.strip("+"), [*names, *tags])
    return near or f" There are: {', '.join(dict.fromkeys([*names, *tags]))[:300]}."


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
            connection, folder = self.policy.connections.get(table.connection), Path(table.place.file).parent
            asked = [replace(test, asked=digest(folder, test.asked, connection)) for test in tests]
            settled = [with_exit_code(self.options.settle(test)) for test in asked]
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
        found += [one for test in table.tests if test.limit is not None for one in test.limit.others]
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
