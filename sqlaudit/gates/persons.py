"""`persons` of a policy: who has rows in many tables, said once for every table with their column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlaudit.base.nodes import Node
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import Roles
from sqlaudit.column_sets.selection import named_column
from sqlaudit.engines.contract import Engine
from sqlaudit.events.sources import with_static
from sqlaudit.gates.keys import TEXT, TEXT_OR_TEXTS, Keys, described
from sqlaudit.gates.nodes import NO_NODES, NO_TEXTS, Mistakes, chosen, place_of, text, texts
from sqlaudit.gates.result import Mistake
from sqlaudit.gates.spec import Connection, PersonsEntry, TableEntry
from sqlaudit.gates.targets import PLACE, read_connection, read_target

KEYS: Keys = {
    **PLACE,
    "table": described("A table or view of the connection, with a row a person."),
    "file": described("A file, from the folder of the policy."),
    "name": described("What errors call it."),
    "entity": described("The column that says who somebody is, of the same name in all tables."),
    "static": described("What is known of a person beside what other tables say.", TEXT_OR_TEXTS),
    "description": TEXT,
}


def read_persons(
    node: Node | None,
    defaults: Mapping[str, Node],
    connections: Mapping[str, Connection | None],
    folder: Path,
    mistakes: Mistakes,
) -> tuple[PersonsEntry, ...]:
    """The tables of persons of a policy."""
    listed = mistakes.attempt(lambda one: tuple(one.items("'persons'")), node, NO_NODES)
    found = [_entry(one, defaults, connections, folder, mistakes) for one in listed]
    kept: list[PersonsEntry] = []
    for entry in found:
        if entry is None:
            continue
        if any((one.connection, one.entity.casefold()) == (entry.connection, entry.entity.casefold()) for one in kept):
            said = f"two tables of 'persons' have the entity {entry.entity!r}; keep one."
            mistakes.append(Mistake(entry.place, said))
        kept.append(entry)
    return tuple(kept)


def _entry(
    node: Node,
    defaults: Mapping[str, Node],
    connections: Mapping[str, Connection | None],
    folder: Path,
    mistakes: Mistakes,
) -> PersonsEntry | None:
    found = mistakes.section(node, "a table of persons", KEYS)
    connection = read_connection(found, defaults, connections, node, mistakes)
    target = read_target(found, connection, node, folder, mistakes)
    entity = mistakes.attempt(text("entity"), chosen(found, "entity"), "")
    if not entity and "entity" not in found:
        said = "a table of persons needs 'entity', the column that says who somebody is."
        mistakes.append(Mistake(place_of(node), said))
    static = mistakes.attempt(texts("static"), chosen(found, "static"), NO_TEXTS)
    if target is None or not entity:
        return None
    return PersonsEntry(target, connection, entity, static, place_of(node))


def persons_apart(entry: TableEntry, persons: Sequence[PersonsEntry]) -> TableEntry:
    """The entry with those tables of persons that its connection has; none when it says so."""
    if not entry.about_persons:
        return entry
    return replace(entry, persons=tuple(one for one in persons if one.connection == entry.connection))


@dataclass
class PersonsTables:
    """Finds over one engine the persons of tables; each table of persons is opened once.

    Args:
        engine: an open engine. used: those that some table is about.
    """

    engine: Engine
    used: list[PersonsEntry] = field(default_factory=list)
    _opened: dict[int, Relation] = field(default_factory=dict)

    def of(self, entry: TableEntry) -> tuple[TableEntry, Relation | None]:
        """The entry with its persons' column and what stays the same of them, and the joined rows where it is joined.

        Raises:
            UsageError: a table of persons lacks its column, or persons of the table are missing there.
            EngineError: the database refused.
        """
        assert entry.target is not None
        known = [(one, self._relation(one)) for one in entry.persons]
        if not known:
            return entry, None
        relation = self.engine.open(entry.target)
        for one, persons in known:
            own = _named(relation, one.entity)
            if own is None or (entry.roles.entity or own).casefold() != own.casefold():
                continue
            roles = replace(entry.roles, entity=own)
            if replace(one.target, label="") == replace(entry.target, label=""):
                return replace(entry, roles=roles), None
            self.used.append(one)
            missing = tuple(name for name in one.static if _named(relation, name) is None)
            joined = with_static(self.engine, relation, persons, own, one.entity, missing) if missing else None
            return replace(entry, roles=_knowing(roles, one.static)), joined
        return entry, None

    def _relation(self, one: PersonsEntry) -> Relation:
        if id(one) not in self._opened:
            found = self.engine.open(one.target)
            for name in (one.entity, *one.static):
                named_column(found, name, "entity" if name == one.entity else "static")
            self._opened[id(one)] = found
        return self._opened[id(one)]


def _named(relation: Relation, name: str) -> str | None:
    """The column of that name, exactly or without regard to case."""
    names = [column.name for column in relation.columns]
    if name in names:
        return name
    return next((other for other in names if other.casefold() == name.casefold()), None)


def _knowing(roles: Roles, static: Sequence[str]) -> Roles:
    """The roles where these columns are known, too, unless they have a role already."""
    given = {name.casefold() for names in roles.by_role().values() for name in names}
    more = tuple(name for name in static if name.casefold() not in given)
    return replace(roles, quasi_identifiers=(*roles.quasi_identifiers, *more)) if roles.quasi_identifiers else roles
