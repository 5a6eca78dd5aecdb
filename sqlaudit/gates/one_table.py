"""The tests of one table over an open engine: one audit for all models, and the searches for column sets."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlaudit.audits.auditor import Auditor
from sqlaudit.audits.persons import Combinations, persons_told
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.errors import Interrupted, SqlauditError, UsageError
from sqlaudit.base.relation import Relation
from sqlaudit.base.result import Warned
from sqlaudit.base.spec import AuditSpec, Coverage, Requirement, Roles, Target
from sqlaudit.classes.found import FailingClass
from sqlaudit.classes.opening import resolve_roles
from sqlaudit.engines.contract import Engine
from sqlaudit.gates.cells_run import CellTests
from sqlaudit.gates.column_sets_run import ColumnSetTests
from sqlaudit.gates.judging import blank, errored, judged
from sqlaudit.gates.losses_run import LossTests
from sqlaudit.gates.persons import PersonsTables
from sqlaudit.gates.result import GateTest, Mistake
from sqlaudit.gates.series_run import SeriesTests
from sqlaudit.gates.spec import TableEntry, TestSpec
from sqlaudit.models.coverage import columns_check, identifier_checks
from sqlaudit.profiles.warnings import audit_warnings

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
        try:
            known, _ = self._with_persons(entry)
        except Interrupted:
            raise
        except SqlauditError as error:
            return [errored(entry, spec, error) for spec in entry.tests], ()
        return self._run(known, entry)

    def _with_persons(self, entry: TableEntry) -> tuple[TableEntry, Relation | None]:
        """The entry with what the policy says of its persons, and its rows where they are joined with theirs.

        Raises:
            SqlauditError: they do not fit together.
        """
        if not entry.persons:
            return entry, None
        found = self._found.get(id(entry))
        if found is None:
            try:
                found = self._persons.of(entry)
            except Interrupted:
                raise
            except SqlauditError as error:
                found = error
            self._found[id(entry)] = found
            if not isinstance(found, SqlauditError):
                self._found[id(found[0])] = found
        if isinstance(found, SqlauditError):
            raise found
        return found

    def _rows(self, entry: TableEntry) -> Relation | Target:
        """The rows of a table, with those of its persons where they are joined."""
        assert entry.target is not None
        return self._with_persons(entry)[1] or entry.target

    def _key(self, entry: TableEntry) -> Key | None:
        """What two entries must have in common to share an audit; None where nothing can be audited."""
        try:
            return _key(self._with_persons(entry)[0])
        except Interrupted:
            raise
        except SqlauditError:
            return None

    def _run(self, entry: TableEntry, alone: TableEntry) -> tuple[list[GateTest], tuple[Warned, ...]]:
        modelled = [spec for spec in entry.tests if spec.model is not None]
        found = self._modelled(entry, modelled) if modelled else {}
        results: list[GateTest] = []
        of_cells = all(spec.cells is not None for spec in entry.tests)  # no row of it is a person
        known = _Known(()) if of_cells else self._known(entry)
        losses, cells = LossTests(self.engine, self.today), CellTests(self.engine, self.today)
        series, columns = SeriesTests(self.engine, self.today), ColumnSetTests(self.engine, self.today, self._rows)
        for position, spec in enumerate(entry.tests):
            if spec.mistake:
                results.append(errored(entry, spec, UsageError(spec.mistake)))
            elif spec.columns is not None:
                results += columns.run(entry, spec, spec.columns)
            elif spec.loss is not None:
                results += losses.run(alone, spec, spec.loss)
            elif spec.series is not None:
                results += series.run(alone, spec, spec.series)
            elif spec.cells is not None:
                results += cells.run(entry, spec, spec.cells)
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
        assert entry.target is not None
        audit = self._audits.get(_key(entry))
        if audit is not None:
            return _Known(audit.warnings, audit.rows, audit.classes.count)
        try:
            relation = self._with_persons(entry)[1] or self.engine.open(entry.target)
            roles = resolve_roles(entry.roles, relation, self.engine.dialect)
            found = audit_warnings(self.engine, relation, roles, insensitive=entry.insensitive)
            told = persons_told(relation, roles, entry.roles, Combinations(self.engine))
        except Interrupted:
            raise
        except SqlauditError as error:
            return error
        return _Known((*found, *told))

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
        try:
            result = self._audit(entry)
        except Interrupted:
            raise
        except UsageError:  # one of the requirements may be to blame: each on its own
            return {places[id(spec)]: self._alone(entry, spec) for spec in specs}
        except SqlauditError as error:
            return {places[id(spec)]: [errored(entry, spec, error)] for spec in specs}
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
        joined = self._with_persons(entry)[1]
        auditor = Auditor(self.engine, 0, self.show_values and self.store is not None, keep, joined)
        coverage = Coverage(insensitive=entry.insensitive)
        return auditor.audit(AuditSpec(entry.target, roles, requirements, entry.inputs, coverage))

    def _alone(self, entry: TableEntry, spec: TestSpec) -> list[GateTest]:
        assert spec.model is not None
        roles = entry.roles
        if spec.sensitive and not roles.joint:
            roles = replace(roles, sensitive=spec.sensitive)
        try:
            return self._of(entry, spec, self._audit_of(entry, roles, (spec.model,)))
        except Interrupted:
            raise
        except SqlauditError as error:
            return [errored(entry, spec, error)]

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
