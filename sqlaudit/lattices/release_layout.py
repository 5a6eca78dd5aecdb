"""The columns of a release, and the steps in which they are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlaudit.audits.emit import bare
from sqlaudit.base.columns_of import Resolved, columns_read
from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import Roles
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.hierarchy import Hierarchy, Use
from sqlaudit.hierarchies.level_sql import Holds, published
from sqlaudit.lattices.attributes import Attribute


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
class LaidColumn:
    name: str
    expression: str
    key: bool = False


@dataclass(frozen=True)
class Layout:
    """Which columns go into the release, and in which steps they are made."""

    given: list[LaidColumn] = field(default_factory=list)
    coarsened: list[LaidColumn] = field(default_factory=list)
    published: list[LaidColumn] = field(default_factory=list)
    joins: list[str] = field(default_factory=list)

    def name(self, wanted: str) -> str:
        """A name that no column has yet."""
        taken = {column.name.casefold() for column in (*self.given, *self.coarsened)}
        while wanted.casefold() in taken:
            wanted += "_"
        return wanted


def role_columns(opened: OpenedForRelease) -> list[set[str]]:
    """The columns behind the quasi-identifiers, the sensitive attributes, the identifiers and the entity."""
    roles = opened.roles
    entity = (roles.entity,) if roles.entity else ()
    groups: tuple[Sequence[Resolved], ...] = (roles.quasi_identifiers, roles.sensitive, roles.identifiers, entity)
    dialect = opened.engine.dialect
    return [{name for role in group for name in columns_read(role, opened.relation, dialect)} for group in groups]


def layout_of(opened: OpenedForRelease, levels: Mapping[str, int], persons: bool) -> Layout:
    keys, sensitive, identifiers, entity = role_columns(opened)
    both = sorted(keys & sensitive)
    if both:
        raise UsageError(
            f"Column {both[0]!r} is both coarsened and read by a sensitive expression; a release that keeps the second "
            "gives the first away."
        )
    layout = Layout()
    by_column = {role.column: place for place, role in enumerate(opened.roles.quasi_identifiers)}
    for place, role in enumerate(opened.roles.quasi_identifiers):
        if role.column is None:
            _add_key(opened, layout, place, levels)
    for column in opened.relation.columns:
        if column.name in by_column:
            _add_key(opened, layout, by_column[column.name], levels)
        elif column.name not in {*keys, *identifiers} and (persons or column.name not in entity):
            add(opened, layout, column.name, quote(column.name, opened.engine.dialect))
    if not layout.published:
        raise UsageError("Nothing is left to publish: every column is dropped or a direct identifier.")
    return layout


def add(opened: OpenedForRelease, layout: Layout, name: str, sql: str, *, shown: bool = True) -> None:
    """A column that stays as it is."""
    layout.given.append(LaidColumn(name, sql))
    layout.coarsened.append(LaidColumn(name, _of("given", name, opened)))
    if shown:
        layout.published.append(LaidColumn(name, ""))


def add_originals(opened: OpenedForRelease, layout: Layout) -> tuple[tuple[str, str], ...]:
    """The quasi-identifiers as they were, in columns of their own: the names of these, and their own names."""
    found: list[tuple[str, str]] = []
    for key in [column.name for column in layout.published if column.key]:
        name = layout.name(f"sqlaudit_original_{len(found) + 1}")
        layout.coarsened.append(LaidColumn(name, _of("given", key, opened)))
        layout.published.append(LaidColumn(name, ""))
        found.append((name, key))
    return tuple(found)


def _add_key(opened: OpenedForRelease, layout: Layout, place: int, levels: Mapping[str, int]) -> None:
    """A quasi-identifier at its level; one that is dropped is not in the release."""
    hierarchy, role = opened.hierarchies[place], opened.roles.quasi_identifiers[place]
    if hierarchy.use is Use.DROP:
        return
    name, dialect = role.column or role.label, opened.engine.dialect
    if name in {column.name for column in opened.relation.columns} and role.column is None:
        raise UsageError(f"The release would have two columns called {name!r}; name the expression in another way.")
    value = _of("given", name, opened)
    found = published(hierarchy, levels[role.label], value, dialect, opened.holds[place], f"labels_{place + 1}")
    layout.given.append(LaidColumn(name, role.sql))
    layout.coarsened.append(LaidColumn(name, found.expression))
    layout.published.append(LaidColumn(name, "", key=True))
    if found.join:
        layout.joins.append(found.join)


def _of(table: str, name: str, opened: OpenedForRelease) -> str:
    return f"{table}.{quote(name, opened.engine.dialect)}"


def rendered(opened: OpenedForRelease, layout: Layout, source: str, **parameters: Any) -> str:
    """The statement; text in the engine's dialect travels as it is."""

    def columns(listed: Sequence[LaidColumn]) -> list[dict[str, Any]]:
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
