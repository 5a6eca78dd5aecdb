"""Pairing of original and released rows: by a key, by position, or by containment of values in cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import ConflictingRoles, UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import NUMBERS, Kind, Relation, Row, Statement
from sqlaudit.base.spec import Folding, Target
from sqlaudit.base.sql import Raw, expression, render
from sqlaudit.classes.opening import apply_spelling_policy, find_columns, repeated_columns
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.workbench import keep
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.reports.document import plural

# Where a comparison computes: what is counted in the database, and the workbench on which the counts are looked at.

PREFIX = "sqlaudit_release_"
TRAVELS_AS = {
    Kind.BOOLEAN: "BOOLEAN",
    Kind.INTEGER: "HUGEINT",
    Kind.FLOAT: "DOUBLE",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
    Kind.TIME: "TIME",
}
"""DuckDB's type for values of a kind that come from another database; others travel as texts."""


@dataclass
class Bench:
    """The engine of the tables, the workbench of the counts, and what is kept there.

    Args:
        engine: where original and release lie. workbench: the engine itself, or a DuckDB in memory.
        prefix: what the names of kept relations begin with. kept: these relations by the rest of their names.
    """

    engine: Engine
    workbench: Engine
    prefix: str = PREFIX
    kept: dict[str, Relation] = field(default_factory=dict)

    @property
    def is_local(self) -> bool:
        """Return True if the tables lie on the workbench themselves."""
        return self.engine is self.workbench

    def over_tables(self, template: str, step: str, **parameters: Any) -> Statement:
        """A template of `sql_templates/release` over original and release, as their engine spells it."""
        return render(f"release/{template}.sql", self.engine.dialect, step=step, **parameters)

    def over_counts(self, template: str, step: str, **parameters: Any) -> Statement:
        """A template of `sql_templates/release` over relations of the workbench."""
        return render(f"release/{template}.sql", self.workbench.dialect, step=step, **parameters)

    def count(self, name: str, statement: Statement, columns: Sequence[tuple[str, str]]) -> Relation:
        """Keep counts from the tables on the workbench."""
        return self._note(name, keep(self.engine, self.workbench, self.prefix + name, statement, columns))

    def rows(self, name: str, columns: Sequence[tuple[str, str]], rows: Sequence[Row]) -> Relation:
        """Keep rows of our own (codes, limits of queries) on the workbench."""
        return self._note(name, self.workbench.keep_rows(self.prefix + name, columns, [rows]))

    def make(self, name: str, template: str, step: str, **parameters: Any) -> Relation:
        """Keep what a template gives over relations of the workbench."""
        statement = self.over_counts(template, step, **parameters)
        return self._note(name, self.workbench.materialize(self.prefix + name, statement))

    def ask(self, template: str, step: str, **parameters: object) -> list[Row]:
        """The rows that a template gives over relations of the workbench."""
        return self.workbench.run(self.over_counts(template, step, **parameters))

    def number(self, template: str, step: str, **parameters: object) -> int:
        """The one whole number that a template gives; 0 for NULL."""
        return int(self.ask(template, step, **parameters)[0][0] or 0)

    def size_of(self, relation: Relation, step: str) -> int:
        """Return how many rows a relation of the workbench has."""
        statement = render("base/row_count.sql", self.workbench.dialect, step=step, source=relation)
        return int(self.workbench.run(statement)[0][0])

    def tell(self, template: str, step: str, **parameters: object) -> dict[str, Any]:
        """The one row that a template gives, by name."""
        statement = self.over_counts(template, step, **parameters)
        return dict(zip(self.workbench.result_names(statement), self.workbench.run(statement)[0], strict=True))

    def forget(self, *names: str) -> None:
        """Drop what is no longer needed."""
        for name in names:
            if self.kept.pop(name, None) is not None:
                self.workbench.drop(self.prefix + name)

    def close(self) -> None:
        """Drop everything that was kept."""
        self.forget(*list(self.kept))

    def _note(self, name: str, relation: Relation) -> Relation:
        self.kept[name] = relation
        return relation


_POSITION = Resolved("position", "ROW_NUMBER() OVER ()", Kind.INTEGER)
"""Numbers rows as they are read: DuckDB numbers in order whatever else it does at once."""


@dataclass(frozen=True)
class Side:
    """One of the tables: where it lies, and its columns in the order of the request.

    `opened` is the table as it was opened, with all of its columns; `relation` may be a copy of those that matter.
    """

    relation: Relation
    opened: Relation
    columns: tuple[Resolved, ...]
    sensitive: tuple[Resolved, ...]
    keys: tuple[Resolved, ...]

    @property
    def roles(self) -> list[Resolved]:
        """Quasi-identifiers, sensitive attributes, keys."""
        return [*self.columns, *self.sensitive, *self.keys]

    def with_roles(self, roles: Sequence[Resolved]) -> Side:
        """Return a copy of the table with other columns in the place of `roles`."""
        qi, values = len(self.columns), len(self.columns) + len(self.sensitive)
        return replace(self, columns=tuple(roles[:qi]), sensitive=tuple(roles[qi:values]), keys=tuple(roles[values:]))


def open_side(engine: Engine, target: Target, request: CompareRequest) -> Side:
    """A table with the columns of the request found in it.

    Raises:
        UsageError: a column that is not there.
    """
    return side_of(engine, engine.open(target), request)


def side_of(engine: Engine, opened: Relation, request: CompareRequest) -> Side:
    """Find the columns of the request in an open table.

    Raises:
        UsageError: a column that is not there, or has two roles.
    """
    columns = find_columns(engine, opened, qi=request.qi, sensitive=request.sensitive, key=request.key)
    if repeated_columns(columns):
        raise ConflictingRoles(
            f"A column is named twice in {spelled('qi')}, {spelled('sensitive')} and {spelled('key')}. Give every "
            "column one role."
        )
    keys = (_POSITION,) if request.by_position else columns["key"]
    return Side(opened, opened, columns["qi"], columns["sensitive"], keys)


def open_release(engine: Engine, target: Target, request: CompareRequest, original: Side) -> tuple[Target, Side]:
    """Open a release, in which texts of the original are texts: "1.0" and "1" of a text file are read as one number.

    Returns:
        The target as it is to be read, and its columns.
    """
    release = open_side(engine, target, request)
    typed = release.opened
    texts = {
        released.column
        for role, released in zip(original.roles, release.roles, strict=True)
        if role.kind is Kind.TEXT and released.kind in NUMBERS
    }
    if not typed.written or not texts:
        return target, release
    target = replace(target, read=replace(target.read, all_text=True))
    read = engine.open(target)
    types = {
        column.name: "" if column.name in texts or column.kind is Kind.TEXT else column.type for column in typed.columns
    }
    columns = [{"name": Raw(quote(name, engine.dialect)), "type": type} for name, type in types.items()]
    sql = expression("release/compare/release_typed.sql", engine.dialect, columns=columns, source=read)
    by_name = {column.name: column for column in read.columns}
    infos = tuple(column if types[column.name] else by_name[column.name] for column in typed.columns)
    return target, side_of(engine, replace(read, sql=f"({sql})", columns=infos, written=""), request)


def folded(engine: Engine, side: Side, request: CompareRequest) -> Side:
    """Return the side with its texts in one spelling where that was asked for, so that it holds between the tables."""
    if request.values is not Folding.FOLD:
        return side
    columns = len(side.columns)
    plain = [request.hierarchies is None or index >= columns for index in range(columns + len(side.sensitive))]
    roles = [
        apply_spelling_policy(engine, side.relation, role, request.values, missing=index >= columns)
        if foldable
        else role
        for index, (role, foldable) in enumerate(zip(side.roles, plain, strict=False))
    ]
    return side.with_roles([*roles, *side.keys])


def copied(bench: Bench, side: Side, name: str) -> Side:
    """The columns that matter, copied where every reading would parse text again."""
    if not side.relation.parsed or not bench.is_local:
        return side
    dialect, roles = bench.engine.dialect, side.roles
    statement = render(
        "classes/copy_columns.sql", dialect, step="read the columns", source=side.relation, columns=roles
    )
    copy = bench.count(name, statement, [])
    moved = [
        replace(role, sql=quote(column.name, dialect), kind=column.kind, column=column.name, type=column.type)
        for role, column in zip(roles, copy.columns, strict=True)
    ]
    return replace(side.with_roles(moved), relation=replace(copy, label=side.opened.label))


def alike(original: Side, release: Side, dialect: str) -> tuple[Side, Side]:
    """Return both sides with sensitive values and keys of one type, so that 1 equals 1.0."""
    original_roles, released_roles = list(original.columns), list(release.columns)
    pairs = zip((*original.sensitive, *original.keys), (*release.sensitive, *release.keys), strict=True)
    for original_role, released_role in pairs:
        numbers = original_role.kind in NUMBERS and released_role.kind in NUMBERS
        type, kind = ("DOUBLE", Kind.FLOAT) if numbers else ("VARCHAR", Kind.TEXT)
        for roles, role in ((original_roles, original_role), (released_roles, released_role)):
            unlike = original_role.kind is not released_role.kind and role.kind is not kind
            roles.append(cast_as(role, type, kind, dialect) if unlike else role)
    return original.with_roles(original_roles), release.with_roles(released_roles)


def cast_as(role: Resolved, type: str, kind: Kind, dialect: str) -> Resolved:
    """A column as a type of DuckDB, spelled for the dialect."""
    sql = expression("release/compare/cast.sql", dialect, column=role, type=type)
    return replace(role, sql=sql, kind=kind, column=None, type=type.lower())


def find_pairing(bench: Bench, request: CompareRequest, original: Side, release: Side) -> str:
    """Return how the request pairs rows, checked: by `key`, `position` or `containment`.

    Raises:
        UsageError: a key that is missing somewhere or not unique; by position, tables of different length, or a
            database whose tables have no order.
    """
    if request.key:
        for side in (original, release):
            _refuse_no_key(bench, side)
        return "key"
    if not request.by_position:
        return "containment"
    if not bench.is_local:
        raise UsageError(
            f"{spelled('by_position', True)}: rows in {bench.engine.name} have no order. Pair them by "
            f"{spelled('key')}, or leave out both options."
        )
    counts = (render("base/row_count.sql", bench.engine.dialect, source=side.relation) for side in (original, release))
    rows, released_rows = (int(bench.engine.run(statement)[0][0]) for statement in counts)
    if rows != released_rows:
        raise UsageError(
            f"{spelled('by_position', True)} needs tables of the same length; the original has {plural(rows, 'row')} "
            f"and the release {released_rows:,}. Pair rows by {spelled('key')}, or leave out both options."
        )
    return "position"


def _refuse_no_key(bench: Bench, side: Side) -> None:
    statement = bench.over_tables("compare/release_keys", "keys", source=side.relation, keys=side.keys)
    rows, nameless, different = (int(value) for value in bench.engine.run(statement)[0])
    if nameless:
        raise UsageError(f"{about('key')}: {side.opened.label} has {plural(nameless, 'row')} without a key.")
    if different < rows:
        keys = plural(different, "different key")
        raise UsageError(
            f"{about('key')}: {side.opened.label} has {plural(rows, 'row')} but only {keys}. A key must be unique."
        )
