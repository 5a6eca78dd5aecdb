"""What a policy says of a table besides its requirements: where it is, whose persons it shares, and exceptions."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlaudit.base.errors import SqlauditError
from sqlaudit.base.names import closest
from sqlaudit.base.nodes import Node
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.column_sets.counting import require_column
from sqlaudit.engines.contract import Engine
from sqlaudit.events.sources import with_static
from sqlaudit.gates.nodes import Mistakes, PolicySection, day, place_of, text, texts, up_to
from sqlaudit.gates.requirements import READ, TEXT, TEXT_OR_TEXTS, Keys, described, keys_of
from sqlaudit.gates.result import Connection, Mistake, PersonsEntry, PolicyException, TableEntry, TestSpec
from sqlaudit.models.phrases import no_identifier
from sqlaudit.models.registry import find_model

# Where a table of a policy is: its connection, and the table, file or query with how it is read.

PLACE: Keys = {
    "table": described("A table or view of the connection."),
    "file": described("A CSV, Parquet, JSON or Arrow file, relative to the policy; globs work."),
    "query": described("One SELECT over the connection; needs a name."),
    "connection": described("A name under connections."),
    "where": described("SQL condition on the rows."),
    "read": READ,
}
_NULLS = described("Texts that mean NULL.", {"type": "array", "items": {"type": "string"}})
READ_KEYS: Keys = keys_of(ReadOptions) | {"null_values": _NULLS}
_SPELLED = {"tab": "\t", "\\t": "\t"}


def read_connection(
    found: PolicySection, defaults: Mapping[str, Node], connections: Mapping[str, Connection | None]
) -> str:
    """The name of the connection, empty for a file."""
    mistakes = found.mistakes
    if "file" in found and "connection" not in found:
        return ""
    given = found.get("connection", defaults.get("connection"))
    if given is not None:
        name = mistakes.attempt(text, given, "", "connection")
    elif len(connections) == 1:
        name = next(iter(connections))
    else:
        said = "name its 'connection'" if connections else "the policy has no 'connections'; for a file write 'file'"
        mistakes.add(found.node, f"this table has no connection: {said}.")
        return ""
    if name and name not in connections:
        hint = closest(name, connections) or (f" There are: {', '.join(connections)}." if connections else "")
        mistakes.add(given or found.node, f"there is no connection {name!r}.{hint}")
    elif name and connections[name] is None:  # keeps its tables from being tested
        mistakes.add(given or found.node, f"its connection {name!r} has a mistake.")
    return name


def read_target(found: PolicySection, connection: str, folder: Path) -> Target | None:
    """What is tested, None after a mistake."""
    mistakes = found.mistakes
    kinds = [kind for kind in ("table", "file", "query") if kind in found]
    if len(kinds) != 1:
        said = f"has {' and '.join(kinds)}; keep one" if kinds else "needs a table, a file or a query"
        mistakes.add(found.node, f"a table of the policy {said}.")
        return None
    kind = kinds[0]
    written = found.take(kind, text, "")
    if not written:
        return None
    where = found.filled.take("where", text, "")
    if kind == "query" and where:
        mistakes.add(found["where"], "put the condition into the query.")
    if kind == "file" and connection:
        mistakes.add(found["file"], "a file has no connection. For a table write 'table'.")
    read = _read_options(found["read"], mistakes) if "read" in found.filled else ReadOptions()
    if kind == "query" and "name" not in found:
        mistakes.add(found["query"], "a query needs a 'name' for reports.")
    label = found.take("name", text, "") or ("" if kind == "query" else written)
    if kind == "query":
        return Target(query=written, read=read, label=label)
    return Target(relation=str(folder / written) if kind == "file" else written, where=where, read=read, label=label)


def _read_options(node: Node, mistakes: Mistakes) -> ReadOptions:
    found = mistakes.section(node, "'read'", READ_KEYS)
    readers = {"delimiter": _delimiter, "null_values": _null_values}
    return ReadOptions(**found.take_options(ReadOptions, **readers))


def _delimiter(node: Node, what: str) -> str:
    written = node.text(what)
    return _SPELLED.get(written, written)


def _null_values(node: Node, what: str) -> tuple[str, ...]:
    """Texts, of which one may be empty."""
    return tuple(item.text(what) for item in node.items(what))


# `persons` of a policy: who has rows in many tables, said once for every table with their column.

PERSON_KEYS: Keys = {
    **PLACE,
    "table": described("A table or view of the connection, with one row per person."),
    "file": described("A file, relative to the policy."),
    "name": described("Name in errors."),
    "entity": described("The column that identifies the person, with the same name in all tables."),
    "static": described("What is known about a person besides other tables.", TEXT_OR_TEXTS),
    "description": TEXT,
}


def read_persons(
    listed: Node | None,
    defaults: Mapping[str, Node],
    connections: Mapping[str, Connection | None],
    folder: Path,
    mistakes: Mistakes,
) -> tuple[PersonsEntry, ...]:
    """The tables of persons of a policy."""
    kept: list[PersonsEntry] = []
    for node in mistakes.items(listed, "'persons'"):
        found = mistakes.section(node, "a table of persons", PERSON_KEYS)
        connection = read_connection(found, defaults, connections)
        target = read_target(found, connection, folder)
        entity = found.take("entity", text, "")
        if "entity" not in found:
            mistakes.add(node, "a table of persons needs 'entity', the column that identifies the person.")
        static = found.filled.take("static", texts, ())
        if target is not None and entity:
            kept.append(PersonsEntry(target, connection, entity, static, place_of(node)))
    for number, entry in enumerate(kept):
        same = (one for one in kept[:number] if one.connection == entry.connection)
        if any(one.entity.casefold() == entry.entity.casefold() for one in same):
            said = f"two tables of 'persons' have the entity {entry.entity!r}. Keep one."
            mistakes.append(Mistake(entry.place, said))
    return tuple(kept)


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
            if roles.quasi_identifiers:
                given = {name.casefold() for names in roles.by_role().values() for name in names}
                more = (name for name in one.static if name.casefold() not in given)
                roles = replace(roles, quasi_identifiers=(*roles.quasi_identifiers, *more))
            missing = tuple(name for name in one.static if _named(relation, name) is None)
            joined = with_static(self.engine, relation, persons, own, one.entity, missing) if missing else None
            return replace(entry, roles=roles), joined
        return entry, None

    def _relation(self, one: PersonsEntry) -> Relation:
        if id(one) not in self._opened:
            found = self.engine.open(one.target)
            for name in (one.entity, *one.static):
                require_column(found, name, "entity" if name == one.entity else "static")
            self._opened[id(one)] = found
        return self._opened[id(one)]


def _named(relation: Relation, name: str) -> str | None:
    """The column of that name, exactly or without regard to case."""
    names = [column.name for column in relation.columns]
    if name in names:
        return name
    return next((other for other in names if other.casefold() == name.casefold()), None)


# What a table may fail for a while, as a policy says it.

EXCEPTION_KEYS: Keys = {
    "requirement": TEXT,
    "identifier": described("A direct identifier that may be in the table until a date."),
    "sensitive": TEXT,
    "until": described(
        "Last day of the exception.", {"type": "string", "format": "date", "pattern": r"^\d{4}-\d{2}-\d{2}$"}
    ),
    "reason": TEXT,
    "up_to": {"type": ["integer", "string"], "description": "Largest number of failing rows: 12 or 1%."},
}


def read_exceptions(found: PolicySection, tests: Sequence[TestSpec]) -> list[PolicyException]:
    """The exceptions that can be read; one that cannot is a mistake, and excepts nothing."""
    nodes = found.mistakes.items(found.get("exceptions"), "'exceptions'")
    made = [_exception(node, tests, found.mistakes) for node in nodes]
    return [exception for exception in made if exception is not None]


def _exception(node: Node, tests: Sequence[TestSpec], mistakes: Mistakes) -> PolicyException | None:
    own = Mistakes()
    found = own.section(node, "an exception", EXCEPTION_KEYS)
    subject = "identifier" if "identifier" in found else "requirement"
    missing = [key for key in (subject, "until", "reason") if key not in found]
    if missing:
        own.add(node, f"an exception needs {' and '.join(missing)}.")
    requirement = found.take("requirement", text, "")
    if subject == "identifier":
        requirement = _excepted_identifier(found, tests)
    elif requirement and not any(excepts(requirement, test) for test in tests):
        hint = closest(requirement, [test.requirement for test in tests])
        own.add(found["requirement"], f"this table has no requirement {requirement!r}.{hint}")
    sensitive, reason = found.take("sensitive", text, ""), found.take("reason", text, "")
    limit, until = found.take("up_to", up_to, None), found.take("until", day, datetime.date.min)
    mistakes += own
    return None if own else PolicyException(requirement, sensitive, until, reason, limit, place_of(node))


def _excepted_identifier(found: PolicySection, tests: Sequence[TestSpec]) -> str:
    """The requirement that an exception for a direct identifier means."""
    node, own = found["identifier"], found.mistakes
    if "requirement" in found:
        own.add(node, "an exception has a requirement or an identifier. Keep one.")
    name = found.take("identifier", text, "")
    known = [test.identifier for test in tests if test.identifier]
    if name and name not in known:
        own.add(node, f"this table has no direct identifier {name!r}.{closest(name, known)}")
    return no_identifier(name)


def excepts(requirement: str, test: TestSpec) -> bool:
    """Whether an exception's requirement means a test: its text, or the name of its model."""
    if requirement == test.requirement or requirement == test.requirement.partition("=")[0]:
        return True
    try:
        return test.model is not None and find_model(requirement).name == test.model.model
    except SqlauditError:
        return False
