"""The release of a node: one SELECT over the table, with its classes that fall short left out or starred.

The SELECT stands alone. It holds the values and labels that the user's hierarchies list, and no other value of the
table: which classes fall short is decided by the requirements inside it, not by a list of classes. Where a requirement
compares with the whole table, the counts of the table at the time of writing stand in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlaudit.audits.emit import bare, keeping
from sqlaudit.base.columns_of import Resolved, columns_read
from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.relation import Relation
from sqlaudit.base.result import Status
from sqlaudit.base.spec import NullPolicy, Roles
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.sql import expression as sql_expression
from sqlaudit.base.words import spelled
from sqlaudit.classes.facts import Frame
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.hierarchy import Hierarchy, Use
from sqlaudit.hierarchies.level_sql import Holds, published
from sqlaudit.lattices.attributes import Attribute, decides
from sqlaudit.models.base import expression
from sqlaudit.models.judge import judge, merged_facts

KEPT = "sqlaudit_release"
"""The name under which the coarsened table is kept for a while, where an engine can."""


@dataclass(frozen=True)
class OpenedForRelease:
    """The table that is released, as it was opened.

    Args:
        engine: an open engine. relation: the table. roles: its roles, resolved in the relation. given: as they were
            given. hierarchies, holds: of each quasi-identifier, and what it holds.
        attributes: the sensitive attributes with what is required of them.
    """

    engine: Engine
    relation: Relation
    roles: ResolvedRoles
    given: Roles
    hierarchies: tuple[Hierarchy, ...]
    holds: tuple[Holds, ...]
    attributes: tuple[Attribute, ...]


@dataclass(frozen=True)
class ReleaseSql:
    """A release as SQL.

    Args:
        sql: the SELECT, in the engine's dialect. ordered: with its rows in the order of what is published.
        columns: its columns. keys: those that are quasi-identifiers.
        unnamed: columns that no role was given to, published as they are.
        over: the same over another FROM item that has the same rows, for instance one that lasts; and whether its rows
            come in the order of what is published.
    """

    sql: str
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    unnamed: tuple[str, ...]
    over: Callable[[str, bool], str] = field(repr=False, compare=False)
    ordered: str = field(default="", repr=False)


@dataclass(frozen=True)
class _ReleasedColumn:
    name: str
    expression: str
    key: bool = False


@dataclass(frozen=True)
class _Layout:
    """Which columns go into the release, and in which steps they are made."""

    given: list[_ReleasedColumn] = field(default_factory=list)
    coarsened: list[_ReleasedColumn] = field(default_factory=list)
    published: list[_ReleasedColumn] = field(default_factory=list)
    joins: list[str] = field(default_factory=list)

    def name(self, wanted: str) -> str:
        """A name that no column has yet."""
        taken = {column.name.casefold() for column in (*self.given, *self.coarsened)}
        while wanted.casefold() in taken:
            wanted += "_"
        return wanted


def release(
    opened: OpenedForRelease, levels: Mapping[str, int], *, suppress: bool, star: bool, persons: bool = False
) -> ReleaseSql:
    """The release of a node.

    Args:
        opened: the table. levels: of each quasi-identifier that takes part, by its label.
        suppress: whether classes fall short at this node. star: star them instead of leaving them out.
        persons: whether the column of persons is in it, for an audit that counts them.

    Raises:
        UsageError: a requirement whose classes no SELECT can tell, or columns that would give values away.
    """
    layout = _layout(opened, levels, persons)
    parameters = _short(opened, layout) if suppress else {"short": ""}

    def over(source: str, ordered: bool) -> str:
        return _render(opened, layout, source, star=star, ordered=ordered, **parameters)

    columns = tuple(column.name for column in layout.published)
    named = {name for names in _role_columns(opened) for name in names}
    keys = tuple(column.name for column in layout.published if column.key)
    unnamed = tuple(name for name in columns if name not in {*keys, *named})
    source = opened.relation.sql
    return ReleaseSql(over(source, False), columns, keys, unnamed, over, over(source, True))


def _role_columns(opened: OpenedForRelease) -> list[set[str]]:
    """The columns behind the quasi-identifiers, the sensitive attributes, the identifiers and the entity."""
    roles = opened.roles
    entity = (roles.entity,) if roles.entity else ()
    groups: tuple[Sequence[Resolved], ...] = (roles.quasi_identifiers, roles.sensitive, roles.identifiers, entity)
    dialect = opened.engine.dialect
    return [{name for role in group for name in columns_read(role, opened.relation, dialect)} for group in groups]


def _layout(opened: OpenedForRelease, levels: Mapping[str, int], persons: bool) -> _Layout:
    keys, sensitive, identifiers, entity = _role_columns(opened)
    both = sorted(keys & sensitive)
    if both:
        raise UsageError(
            f"Column {both[0]!r} is both coarsened and read by a sensitive expression; a release that keeps the second "
            "gives the first away."
        )
    layout = _Layout()
    by_column = {role.column: place for place, role in enumerate(opened.roles.quasi_identifiers)}
    for place, role in enumerate(opened.roles.quasi_identifiers):
        if role.column is None:
            _add_key(opened, layout, place, levels)
    for column in opened.relation.columns:
        if column.name in by_column:
            _add_key(opened, layout, by_column[column.name], levels)
        elif column.name not in {*keys, *identifiers} and (persons or column.name not in entity):
            _add(opened, layout, column.name, quote(column.name, opened.engine.dialect))
    if not layout.published:
        raise UsageError("Nothing is left to publish: every column is dropped or a direct identifier.")
    return layout


def _add(opened: OpenedForRelease, layout: _Layout, name: str, sql: str, *, shown: bool = True) -> None:
    """A column that stays as it is."""
    layout.given.append(_ReleasedColumn(name, sql))
    layout.coarsened.append(_ReleasedColumn(name, _of("given", name, opened)))
    if shown:
        layout.published.append(_ReleasedColumn(name, ""))


def _add_key(opened: OpenedForRelease, layout: _Layout, place: int, levels: Mapping[str, int]) -> None:
    """A quasi-identifier at its level; one that is dropped is not in the release."""
    hierarchy, role = opened.hierarchies[place], opened.roles.quasi_identifiers[place]
    if hierarchy.use is Use.DROP:
        return
    name, dialect = role.column or role.label, opened.engine.dialect
    if name in {column.name for column in opened.relation.columns} and role.column is None:
        raise UsageError(f"The release would have two columns called {name!r}; name the expression in another way.")
    value = _of("given", name, opened)
    found = published(hierarchy, levels[role.label], value, dialect, opened.holds[place], f"labels_{place + 1}")
    layout.given.append(_ReleasedColumn(name, role.sql))
    layout.coarsened.append(_ReleasedColumn(name, found.expression))
    layout.published.append(_ReleasedColumn(name, "", key=True))
    if found.join:
        layout.joins.append(found.join)


def _of(table: str, name: str, opened: OpenedForRelease) -> str:
    return f"{table}.{quote(name, opened.engine.dialect)}"


def _render(opened: OpenedForRelease, layout: _Layout, source: str, **parameters: Any) -> str:
    """The statement; text in the engine's dialect travels as it is."""

    def columns(listed: Sequence[_ReleasedColumn]) -> list[dict[str, Any]]:
        return [
            {"name": quote(c.name, "duckdb"), "expression": Raw(c.expression or "NULL"), "key": c.key} for c in listed
        ]

    given: dict[str, Any] = {
        "star": False,
        "numbers": False,
        "ordered": False,
        "keys": [],
        "condition": "",
        "flag": "",
        "classes": [],
        "failing": [],
    } | parameters
    statement = render(
        "lattices/publish_release.sql",
        opened.engine.dialect,
        step="release",
        source=Raw(source),
        given=columns(layout.given),
        coarsened=columns(layout.coarsened),
        published=columns(layout.published),
        labelled=Raw("\n    ".join(["given", *layout.joins])),
        **given,
    )
    return bare(statement)


def _short(opened: OpenedForRelease, layout: _Layout) -> dict[str, Any]:
    """How the release tells which classes fall short."""
    keys = _class_keys(opened, layout)
    asked = [item for attribute in opened.attributes for item in attribute.asked if decides(item)]
    flag = quote(layout.name("sqlaudit_short"), "duckdb")
    taken = {column.name.casefold() for column in layout.coarsened}
    by_size = not any(item.model.needs_sensitive or item.model.facts() for item in asked)
    if by_size and opened.roles.entity is None and not taken & {"size", "n"}:
        condition = " OR ".join(f"({item.model.failing()})" for item in asked)
        return {"short": "size", "keys": keys, "condition": condition, "flag": flag}
    found = _failing(opened, layout, keys)
    return {"short": "facts", "flag": flag} | found if found["failing"] else {"short": ""}


def _class_keys(opened: OpenedForRelease, layout: _Layout) -> list[str]:
    """What rows of one class share; where missing values are equal to nothing, a row that lacks a label is alone."""
    keys = [column.name for column in layout.published if column.key]
    if opened.given.nulls is NullPolicy.DISTINCT and keys:
        labels = [Raw(column.expression) for column in layout.coarsened if column.name in keys]
        alone = layout.name("sqlaudit_alone")
        layout.coarsened.append(
            _ReleasedColumn(alone, sql_expression("lattices/publish_alone.sql", opened.engine.dialect, labels=labels))
        )
        keys.append(alone)
    return [quote(name, "duckdb") for name in keys]


def _failing(opened: OpenedForRelease, layout: _Layout, keys: Sequence[str]) -> dict[str, Any]:
    """For each sensitive attribute the number of a class, and the statement of those that fall short."""
    sensitive = [_sensitive(opened, layout, attribute) for attribute in opened.attributes]
    entity = _entity(opened, layout)
    names = [layout.name(f"sqlaudit_class_{place + 1}") for place, _ in enumerate(opened.attributes)]
    classes = [(quote(name, "duckdb"), list(keys)) for name in names]
    numbers = _render(opened, layout, opened.relation.sql, short="facts", classes=classes, numbers=True)
    kept = f"({numbers})"
    if opened.engine.can_materialize:
        kept = opened.engine.materialize(KEPT, keeping(opened.engine, "coarsened table", kept)).sql
    failing = []
    for attribute, name, value in zip(opened.attributes, names, sensitive, strict=True):
        frame = Frame(kept, (quote(name, opened.engine.dialect),), entity, False, (False,), value)
        statement = _failing_statement(opened, attribute, frame)
        if statement:
            failing.append((quote(name, "duckdb"), Raw(statement)))
    if opened.engine.can_materialize:
        opened.engine.drop(KEPT)
    return {"classes": classes, "failing": failing}


def _failing_statement(opened: OpenedForRelease, attribute: Attribute, frame: Frame) -> str:
    """The statement of the numbers of the classes that fall short, over the release's own step; empty when none does.

    Raises:
        UsageError: a requirement whose classes no predicate over facts tells.
    """
    asked = [item for item in attribute.asked if decides(item)]
    builder = HistogramBuilder(opened.engine, frame)
    judged = judge(builder.build(frame.sensitive, attribute.table), asked, frame)
    told = {text for text, _ in judged.failing}
    for check in judged.checks:
        if check.status is not Status.PASS and check.text not in told:
            raise UsageError(
                f"The classes that fall short of {check.text!r} cannot be told inside a SELECT, so a release that "
                f"suppresses them cannot be written; search without {spelled('suppress')}, or without this requirement."
            )
    if not judged.failing:
        return ""
    there = Frame("numbered", frame.keys, frame.entity, False, (False,), frame.sensitive)
    histogram = HistogramBuilder(opened.engine, there).standalone(frame.sensitive, attribute.table)
    condition = judged.failing[0][1]
    for _, predicate in judged.failing[1:]:
        condition = expression("either", first=condition, second=predicate)
    statement = histogram.statement(
        "lattices/publish_failing.sql",
        merged_facts([item.model for item in asked]),
        "failing classes",
        condition=condition,
    )
    return f"({bare(statement)})"


def _sensitive(opened: OpenedForRelease, layout: _Layout, attribute: Attribute) -> str | None:
    """The column of the release's step that holds a sensitive attribute; an expression gets one that is not shown."""
    role = attribute.resolved
    if role is None:
        return None
    name = role.column
    if name is None or name not in {column.name for column in layout.given}:
        name = layout.name(f"sqlaudit_sensitive_{attribute.position + 1}")
        _add(opened, layout, name, role.sql, shown=False)
    return quote(name, opened.engine.dialect)


def _entity(opened: OpenedForRelease, layout: _Layout) -> str | None:
    role = opened.roles.entity
    if role is None:
        return None
    name = role.column
    if name is None or name not in {column.name for column in layout.given}:
        name = layout.name("sqlaudit_person")
        _add(opened, layout, name, role.sql, shown=False)
    return quote(name, opened.engine.dialect)
