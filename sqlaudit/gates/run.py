"""A run of a policy: one connection after the other, every table in turn; what goes wrong in one leaves the others."""

from __future__ import annotations

import datetime
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from sqlaudit.audits.models_asked import Combinations, person_warnings
from sqlaudit.audits.request import request_verdicts
from sqlaudit.audits.result import AuditResult
from sqlaudit.audits.run import audit_table
from sqlaudit.base.addresses import Whereabouts
from sqlaudit.base.errors import EngineError, ExitCode, Interrupted, SqlauditError, UsageError
from sqlaudit.base.names import closest
from sqlaudit.base.parameter_names import about, speaking
from sqlaudit.base.relation import Relation
from sqlaudit.base.result import Warned
from sqlaudit.base.spec import Coverage, Limits, Requirement, Roles, Target
from sqlaudit.base.version import __version__
from sqlaudit.classes.failing import FailingClass
from sqlaudit.classes.inputs import further_targets
from sqlaudit.classes.opening import open_table
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine, ProgressHook
from sqlaudit.engines.writing import files_read
from sqlaudit.gates.answered import WarehouseAnswers
from sqlaudit.gates.connections import database_of
from sqlaudit.gates.cube_tests import CubeTests
from sqlaudit.gates.judging import attempt, blank, broken, errored, judged, with_exit_code
from sqlaudit.gates.nodes import in_a_policy
from sqlaudit.gates.release_tests import ReleaseTests
from sqlaudit.gates.result import (
    CellLimit,
    ColumnLimit,
    Connection,
    CubeLimit,
    Dataset,
    GateResult,
    GateTest,
    Limit,
    LossLimit,
    Mistake,
    Policy,
    SafeHarborLimit,
    SeriesLimit,
    SyntheticLimit,
    TableEntry,
    TestSpec,
)
from sqlaudit.gates.shared_runs import (
    CellTests,
    ColumnSetTests,
    LossTests,
    SafeHarborTests,
    SeriesTests,
    SharedRuns,
    SyntheticTests,
)
from sqlaudit.gates.stored import digest
from sqlaudit.gates.tables import PersonsTables
from sqlaudit.models.phrases import columns_check, identifier_checks
from sqlaudit.profiles.warnings import audit_warnings

# The tests of one table over an open engine: one audit for all models, and the searches for column sets.

Store = Callable[[str, Iterable[FailingClass]], None]
"""Takes the failing classes in a table."""
Key = tuple[str, Target, Roles, tuple[str, ...], int]


@dataclass
class TableTests:
    """Runs the tests of tables over one engine; tables with the same rows and roles share one audit.

    Args:
        engine: an open engine. entries: all tables that will be tested on it.
        today: the day that exceptions are compared with.
        store: takes the failing classes. show_values: whether these may have their keys.
    """

    engine: Engine
    entries: Sequence[TableEntry]
    today: datetime.date
    store: Store | None = None
    show_values: bool = False
    _audits: dict[Key, AuditResult] = field(default_factory=dict)
    _found: dict[int, TableEntry | SqlauditError] = field(default_factory=dict)
    _joined: dict[int, Relation] = field(default_factory=dict)
    """The rows of tables that are joined with those of their persons, by the entry that was found."""

    def __post_init__(self) -> None:
        self._persons = PersonsTables(self.engine)

    def of_nobody(self) -> tuple[Mistake, ...]:
        """The tables of persons that no table which was tested is about: their column may be misspelled."""
        if any(isinstance(entry_or_error, SqlauditError) for entry_or_error in self._found.values()):
            return ()  # which is said already
        persons_entries = dict.fromkeys(persons_entry for entry in self.entries for persons_entry in entry.persons)
        return tuple(
            Mistake(
                persons_entry.place, f"no table has the column {persons_entry.entity!r} of {persons_entry.target.name}."
            )
            for persons_entry in persons_entries
            if persons_entry not in self._persons.used
        )

    def run(self, entry: TableEntry) -> tuple[list[GateTest], tuple[Warned, ...]]:
        """The results of a table's tests in their order, and the warnings of its audit.

        Raises:
            Interrupted: somebody pressed Ctrl-C.
        """
        entry_with_persons = self._with_persons(entry)
        return (
            (_all_errored(entry, entry_with_persons), ())
            if isinstance(entry_with_persons, SqlauditError)
            else self._run(entry_with_persons, entry)
        )

    def _with_persons(self, entry: TableEntry) -> TableEntry | SqlauditError:
        """The entry with what the policy says of its persons; or why they do not fit together."""
        if not entry.persons:
            return entry
        if id(entry) not in self._found:
            entry_or_error = attempt(lambda: self._persons.of(entry))
            if isinstance(entry_or_error, SqlauditError):
                self._found[id(entry)] = entry_or_error
            else:
                self._found[id(entry)], relation = entry_or_error
                if relation is not None:
                    self._joined[id(entry_or_error[0])] = relation
        return self._found[id(entry)]

    def _rows(self, entry: TableEntry) -> Relation:
        """The rows of a table, with those of its persons where they are joined."""
        assert entry.target is not None
        return self._joined.get(id(entry)) or self.engine.open(entry.target)

    def _run(self, entry: TableEntry, alone: TableEntry) -> tuple[list[GateTest], tuple[Warned, ...]]:
        """Run the tests of a table in their order: one audit for all models, and one run for each other question."""
        if entry.release is not None:
            return ReleaseTests(self.engine, self.today).run(entry, entry.release)
        audit = attempt(lambda: self._audit(entry)) if any(spec.model for spec in entry.tests) else None
        results: list[GateTest] = []
        cube = CubeTests(self.engine, self.today)
        # No row of it is a person, or no test is about single ones
        of_cells = all(isinstance(spec.limit, CellLimit | CubeLimit) for spec in entry.tests)
        known_columns = _Known(()) if of_cells else self._known(entry)
        runs: dict[type[Limit], tuple[SharedRuns[Any, Any], TableEntry]] = {
            LossLimit: (LossTests(self.engine, self.today), alone),
            SeriesLimit: (SeriesTests(self.engine, self.today), alone),
            SyntheticLimit: (SyntheticTests(self.engine, self.today), alone),
            CellLimit: (CellTests(self.engine, self.today), entry),
            ColumnLimit: (ColumnSetTests(self.engine, self.today, self._rows), entry),
            SafeHarborLimit: (SafeHarborTests(self.engine, self.today, self._rows), entry),
        }
        for spec in entry.tests:
            before = len(results)
            if spec.mistake:
                results.append(errored(entry, spec, UsageError(spec.mistake)))
            elif isinstance(spec.limit, CubeLimit):
                results += cube.run(alone, spec, spec.limit)
            elif spec.limit is not None:
                run, table = runs[type(spec.limit)]
                results += run.run(table, spec, spec.limit)
            elif audit is not None and spec.model is not None:
                results += self._of_model(entry, spec, spec.model, audit)
            else:
                results.append(self._of_columns(entry, spec, known_columns))
            if len(results) == before:
                results.append(errored(entry, spec, UsageError("It has no result, so nothing was tested.")))
        warnings = () if isinstance(known_columns, SqlauditError) else known_columns.warnings
        return results, tuple(
            dict.fromkeys((*warnings, *cube.remarks, *(remark for run, _ in runs.values() for remark in run.remarks)))
        )

    def _known(self, entry: TableEntry) -> _Known | SqlauditError:
        """Return what is known of a table's columns: from its audit, or from a look at them where no model was tested.

        Raises:
            Interrupted: somebody pressed Ctrl-C.
        """
        audit = self._audits.get(_key(entry))
        if audit is not None:
            return _Known(audit.warnings, audit.rows, audit.classes.count)
        return attempt(lambda: self._look_at(entry))

    def _look_at(self, entry: TableEntry) -> _Known:
        table = open_table(self.engine, self._rows(entry), entry.roles)
        warnings = audit_warnings(self.engine, table.relation, table.roles, insensitive=entry.insensitive)
        return _Known((*warnings, *person_warnings(table, Combinations(self.engine))))

    def _of_columns(self, entry: TableEntry, spec: TestSpec, known_columns: _Known | SqlauditError) -> GateTest:
        """A test of columns and not of their values: an identifier that is there, or columns without a role."""
        if isinstance(known_columns, SqlauditError):
            return errored(entry, spec, known_columns)
        if spec.identifier:
            (check,) = identifier_checks([spec.identifier], (), known_columns.rows)
        else:
            check = columns_check(known_columns.warnings, known_columns.rows)
        return judged(entry, spec, check, known_columns.rows, known_columns.classes, self.today)

    def _of_model(
        self, entry: TableEntry, spec: TestSpec, model: Requirement, audit: AuditResult | SqlauditError
    ) -> list[GateTest]:
        """The results of a test that a privacy model decides."""
        audit_or_error = audit
        if isinstance(audit, UsageError):  # one of the requirements may be to blame: each on its own
            alone = entry.roles
            if spec.sensitive and not alone.joint:
                alone = replace(alone, sensitive=spec.sensitive)
            audit_or_error = attempt(lambda: self._audit_of(entry, alone, (model,)))
        if isinstance(audit_or_error, SqlauditError):
            return [errored(entry, spec, audit_or_error)]
        checks = [
            check for check in audit_or_error.checks if check.text == model.text and spec.is_about(check.sensitive)
        ]
        return [
            judged(entry, spec, check, audit_or_error.rows, audit_or_error.classes.count, self.today)
            for check in checks
        ]

    def _audit(self, entry: TableEntry) -> AuditResult:
        """Return the audit of a table, done once for the models of all entries with the same rows, roles and inputs."""
        key = _key(entry)
        if key not in self._audits:
            sharing = [other for other in self.entries if self._has_key(other, key)]
            models = {spec.requirement: spec.model for other in sharing for spec in other.tests if spec.model}
            self._audits[key] = self._audit_of(entry, entry.roles, tuple(models.values()))
        return self._audits[key]

    def _has_key(self, entry: TableEntry, key: object) -> bool:
        """Return True if an audit with this key is the entry's; False if its persons are not known."""
        with_persons = self._with_persons(entry)
        return not isinstance(with_persons, SqlauditError) and _key(with_persons) == key

    def _audit_of(self, entry: TableEntry, roles: Roles, requirements: tuple[Requirement, ...]) -> AuditResult:
        assert entry.target is not None
        keep = None if self.store is None else partial(self.store, entry.name)
        show_values = self.show_values and self.store is not None
        fields = {"coverage": Coverage(insensitive=entry.insensitive), "show_values": show_values}
        request = request_verdicts(entry.target, roles, requirements, entry.inputs, **fields)
        return audit_table(self.engine, request, relation=self._joined.get(id(entry)), export=keep)


@dataclass(frozen=True)
class _Known:
    """What is known of a table's columns; without an audit no one counted rows and classes."""

    warnings: tuple[Warned, ...]
    rows: int | None = None
    classes: int | None = None


def _key(entry: TableEntry) -> Key:
    """Return what two entries must have in common to share an audit."""
    assert entry.target is not None
    target, inputs = replace(entry.target, label=""), entry.inputs
    return entry.connection, target, entry.roles, entry.insensitive, id(inputs) if inputs else 0


def _skipped(entry: TableEntry) -> list[GateTest]:
    """The tests of a table that is not tested any more."""
    return [blank(entry, spec) for spec in entry.tests]


def _all_errored(table: TableEntry, error: SqlauditError) -> list[GateTest]:
    return [errored(table, spec, error) for spec in table.tests]


# Which tests are wanted: dbt's way to say it, `tag:release,patients+ owner:ethics`.

METHODS = ("table", "tag", "owner", "severity", "requirement", "connection")
_Tests = Mapping[tuple[str, int], tuple[TableEntry, TestSpec]]
"""Tests of a policy, by the name of their table and their place in it."""


def select(tables: Sequence[TableEntry], selections: Sequence[str]) -> tuple[TableEntry, ...]:
    """The tables with the tests that are wanted; tables without any are left out.

    Args:
        tables: of a policy. selections: selections, of which a test fits one at least; in a text they are separated by
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
    unions = [union for text in selections for union in text.split()]
    if not unions:
        return tuple(tables)
    all_tests = {(table.name, index): (table, test) for table in tables for index, test in enumerate(table.tests)}
    selected: set[tuple[str, int]] = set()
    for union in unions:
        fits = [_part(tables, all_tests, part) for part in union.split(",") if part]
        fitting = set.intersection(*fits) if fits else set()
        if not fitting:
            names = [table.name for table in tables]
            tags = [f"tag:{tag}" for table, test in all_tests.values() for tag in (*table.tags, *test.tags)]
            names_and_tags = ", ".join(dict.fromkeys([*names, *tags]))[:300]
            hint = closest(union.strip("+"), [*names, *tags]) or f" Available: {names_and_tags}."
            raise UsageError(f"{about('select')} {union!r} matches no test.{hint}")
        selected |= fitting
    chosen = (
        replace(table, tests=tuple(test for i, test in enumerate(table.tests) if (table.name, i) in selected))
        for table in tables
    )
    return tuple(table for table in chosen if table.tests)


def _part(tables: Sequence[TableEntry], all_tests: _Tests, part: str) -> set[tuple[str, int]]:
    """The tests that one part of a selection means."""
    bare = part.strip("+")
    method, _, name = bare.partition(":") if ":" in bare else ("table", "", bare)
    if method not in METHODS:
        raise UsageError(
            f"{about('select')}: there is no method {method!r}.{closest(method, METHODS)} See {', '.join(METHODS)}."
        )
    fits = {key for key, (table, test) in all_tests.items() if _fits(method, name, table, test)}
    named, reached = {table for table, _ in fits}, set()
    if part.startswith("+"):
        reached |= _reached({table.name: table.derived_from for table in tables}, named)
    if part.endswith("+"):
        children: dict[str, list[str]] = {}
        for table in tables:
            for parent in table.derived_from:
                children.setdefault(parent, []).append(table.name)
        reached |= _reached(children, named)
    return {key for key in all_tests if key in fits or key[0] in reached}


def _reached(edges: Mapping[str, Sequence[str]], start: set[str]) -> set[str]:
    """Return what edges lead to, at any distance."""
    reached: set[str] = set()
    waiting = list(start)
    while waiting:
        new = [name for name in edges.get(waiting.pop(), ()) if name not in reached]
        reached.update(new)
        waiting += new
    return reached


def _fits(method: str, name: str, table: TableEntry, test: TestSpec) -> bool:
    names = {
        "table": (table.name, table.name.rpartition(".")[2], re.sub(r"\.v[^.]+$", "", table.name)),
        "tag": (*table.tags, *test.tags),
        "owner": (test.owner or table.owner,),
        "severity": (test.severity,),
        "requirement": (test.requirement, test.requirement.partition("=")[0]),
        "connection": (table.connection,),
    }
    return any(fnmatchcase(candidate, name) for candidate in names[method])


OpenEngine = Callable[[str | Whereabouts | None, Limits, Sequence[Target]], AbstractContextManager[Engine]]
"""Opens an engine for a database and the targets that will be read."""
Settle = Callable[[GateTest], GateTest]
"""Gives a finished test its final outcome: a baseline may accept it."""


def open_engine(
    db: str | Whereabouts | None, limits: Limits, targets: Sequence[Target]
) -> AbstractContextManager[Engine]:
    """An engine, without progress or signals."""
    return connect(db, limits, *targets)


@speaking(in_a_policy)
def run_policy(policy: Policy, run: GateRun) -> GateResult:
    """The results of all selected tests, in the policy's order.

    Raises:
        UsageError: a selection that fits no test, or a policy without any.
        Interrupted: somebody pressed Ctrl-C.
    """
    tables = select(policy.tables, run.selected)
    mistakes = [*policy.mistakes, *(mistake for table in policy.tables for mistake in table.mistakes)]
    if not tables and not mistakes:
        raise UsageError(f"{policy.file}: no tables to test.")
    run.of_tables(policy, tables)
    return GateResult(
        policy=policy.file,
        tests=tuple(test for table in tables for test in run.results[id(table)]),
        mistakes=tuple(dict.fromkeys([*mistakes, *run.mistakes])),
        time=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        seconds=round(time.monotonic() - run.began, 3),
        tables=len(tables),
        warnings=tuple(run.warnings),
        places=tuple((table.name, table.place) for table in tables),
        datasets=tuple((table.name, _dataset(policy, table)) for table in tables),
        versions={"sqlaudit": __version__, **run.versions},
    )


def _dataset(policy: Policy, table: TableEntry) -> Dataset:
    """Return what catalogues call a table: where the policy does not say its namespace, the name of its connection."""
    connection = policy.connections.get(table.connection)
    namespace = (connection.namespace if connection else "") or table.connection or "file"
    target = table.target
    return Dataset(namespace, target.relation if target and target.relation and table.connection else table.name)


def _relation(table: TableEntry, connection: Connection | None, name: str = "") -> str:
    """Return what a table's tests read: database, schema and name; a file or query by its name.

    The database is called as the policy does where it connects by the environment, which nothing is told of.
    """
    target = table.target
    if target is None or connection is None or not target.relation:
        return target.name if target else ""
    file = Path(connection.value).stem if connection.kind == "duckdb" else ""
    return f"{table.database or file or connection.name}.{name or target.relation}"


def _broken(table: TableEntry) -> list[GateTest]:
    """Return the tests of a table whose policy has mistakes, none of which is run."""
    lines = sorted({mistake.place.line for mistake in table.mistakes if mistake.place.line is not None})
    line_numbers = " and ".join(map(str, lines))
    at = (
        f"mistakes in lines {line_numbers}"
        if len(lines) > 1
        else f"a mistake in line {line_numbers}"
        if lines
        else "a mistake"
    )
    message = f"Not run: the policy of this table has {at}."
    return [broken(table, spec, spec.mistake or message, ExitCode.USAGE) for spec in table.tests]


@dataclass
class GateRun:
    """How a policy is run, and what was found so far.

    Args:
        selected: as for `--select`. fail_fast: stop after the first table with a failing test.
        limits: budgets for all connections together. today: what exceptions are compared with.
        show_values: whether the failing classes have their keys. opener: opens engines.
        tell: says at once what no one should wait for: the tables that are not there.
        settle: gives tests their final outcome. store: takes the failing classes.
        answers: what a warehouse answered already; with these nothing is connected.
    """

    selected: Sequence[str]
    fail_fast: bool
    limits: Limits
    today: datetime.date
    show_values: bool
    opener: OpenEngine
    tell: Callable[[str], None]
    settle: Settle
    store: Store | None = None
    answers: WarehouseAnswers | None = None
    connections: Mapping[str, Connection] = field(default_factory=dict)
    number: int = 0
    began: float = field(default_factory=time.monotonic)
    results: dict[int, list[GateTest]] = field(default_factory=dict)
    relations: dict[int, str] = field(default_factory=dict)
    warnings: list[tuple[str, Warned]] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    stopped: bool = False
    tested: int = 0

    def of_tables(self, policy: Policy, tables: Sequence[TableEntry]) -> None:
        """Test the tables of a policy: by what was answered, or over one connection after the other."""
        self.connections, self.number = policy.connections, len(tables)
        self.results |= {id(table): _broken(table) for table in tables if table.mistakes}
        sound = [table for table in tables if not table.mistakes]
        if self.answers is None:
            for connection in dict.fromkeys(table.connection for table in sound):
                self._on_connection(connection, [table for table in sound if table.connection == connection])
            return
        for table in sound:
            tests = _skipped(table)
            if not self.stopped:
                tests = [test for spec in table.tests for test in self.answers.of_test(table, spec, self.today)]
            self._keep([(table, tests)])

    def _on_connection(self, name: str, tables: Sequence[TableEntry]) -> None:
        """Test all tables of one connection."""
        if self.stopped:
            self._keep([(table, _skipped(table)) for table in tables])
            return
        with ExitStack() as stack:
            try:
                database = database_of(self.connections[name]) if name else None
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
        opener = self.opener
        try:
            return tables, stack.enter_context(opener(database, self._limits(), _targets(tables)))
        except UsageError as error:
            if len(tables) == 1:
                raise
            broken = {}
            for table in tables:  # a file that cannot be read, a query that is none
                try:
                    with opener(database, self._limits(), _targets([table])):
                        pass
                except UsageError as table_error:
                    broken[id(table)] = table_error
            if len(broken) == len(tables):
                raise error from None
        self._keep([(table, _all_errored(table, broken[id(table)])) for table in tables if id(table) in broken])
        rest = [table for table in tables if id(table) not in broken]
        return rest, stack.enter_context(opener(database, self._limits(), _targets(rest)))

    def _test(self, engine: Engine, tables: Sequence[TableEntry]) -> None:
        """Test tables of one connection one after another, and keep what is found; skip the rest once stopped."""
        inner = engine.progress
        self._tell_missing(engine, tables)
        runner = TableTests(engine, tables, self.today, self.store, self.show_values)
        for table in tables:
            if self.stopped:
                self._keep([(table, _skipped(table))])
                continue
            self.tested += 1
            name = f"{self.tested} of {self.number} {table.name}"
            if inner is not None:
                engine.progress = _with_table(inner, name)
                inner(name, None)
            tests, warnings = runner.run(table)
            self._name_relation(engine, table)
            self.warnings += [(table.name, warning) for warning in warnings]
            self._keep([(table, tests)])
        if not self.stopped and not self.selected:
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
            number = f"{len(missing)} of {len(tables)} tables cannot be read. Their tests will be errors"
            self.tell(f"{number}: {', '.join(missing)}.")

    def _name_relation(self, engine: Engine, table: TableEntry) -> None:
        """Note which table of the database was tested, with its schema."""
        if table.connection and table.target is not None and table.target.relation:
            opened = attempt(lambda: engine.open(table.target))  # type: ignore[arg-type]
            if not isinstance(opened, SqlauditError) and len(opened.tables) == 1:
                self.relations[id(table)] = _relation(table, self.connections[table.connection], opened.tables[0])

    def _keep(self, results: Sequence[tuple[TableEntry, list[GateTest]]]) -> None:
        for table, tests in results:
            connection, folder = self.connections.get(table.connection), Path(table.place.file).parent
            relation = self.relations.get(id(table)) or _relation(table, connection)
            digested = [
                replace(test, asked=digest(folder, test.asked, connection), relation=relation) for test in tests
            ]
            settled = [with_exit_code(self.settle(test)) for test in digested]
            self.results[id(table)] = settled
            self.stopped = self.stopped or (self.fail_fast and any(test.blocks for test in settled))

    def _limits(self) -> Limits:
        """The budgets with what is left of the time."""
        limits = self.limits
        if limits.timeout is None:
            return limits
        return replace(limits, timeout=max(0.1, limits.timeout - (time.monotonic() - self.began)))


def files_of(policy: Policy) -> Iterator[Path]:
    """Every file that a policy's tests read, as far as they can be found: the policy, databases, tables."""
    yield Path(policy.file)
    for connection in policy.connections.values():
        with suppress(SqlauditError):  # a test will say so
            yield from files_read(database_of(connection), ())
    yield from (table.made.file for table in policy.tables if table.made is not None and table.made.file)
    yield from (Path(other.relation) for table in policy.tables if table.cube for other in table.cube.request.compared)
    yield from files_read(None, _targets([table for table in policy.tables if table.target is not None]))


def _targets(tables: Sequence[TableEntry]) -> list[Target]:
    """Everything that will be read for the tables."""
    targets = []
    for table in tables:
        assert table.target is not None
        targets += [other for test in table.tests if test.limit is not None for other in test.limit.others]
        targets += [other.target for other in table.persons]
        targets += [table.target, *further_targets(table.inputs, table.target)]
    return targets


def _with_table(inner: ProgressHook, name: str) -> ProgressHook:
    """Progress that says which table is at work."""
    return lambda step, share: inner(f"{name}: {step}", share)


def mistakes_of(policy: Policy) -> list[Mistake]:
    """Every mistake of a policy, also those of single requirements."""
    mistakes = [*policy.mistakes, *(mistake for table in policy.tables for mistake in table.mistakes)]
    tests = [(test, table) for table in policy.tables for test in table.tests if test.mistake]
    return [*mistakes, *(Mistake(test.place, f"{table.name}: {test.mistake}") for test, table in tests)]
