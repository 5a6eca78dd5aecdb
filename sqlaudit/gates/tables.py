"""What a policy says of a table besides its requirements: where it is, whose persons it shares, and exceptions."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from glob import has_magic
from pathlib import Path

from sqlaudit.base.errors import SqlauditError
from sqlaudit.base.files import exists
from sqlaudit.base.names import closest, closest_column
from sqlaudit.base.nodes import Node
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.column_sets.counting import require_column
from sqlaudit.engines.contract import Engine
from sqlaudit.events.sources import with_static
from sqlaudit.gates.keys import READ, TEXT, TEXT_OR_TEXTS, Key, Keys, described, keys_of
from sqlaudit.gates.nodes import Mistakes, PolicySection, day, place_of, text, texts, up_to
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


def read_connection(
    section: PolicySection, defaults: Mapping[str, Node], connections: Mapping[str, Connection | None]
) -> str:
    """The name of the connection, empty for a file."""
    mistakes = section.mistakes
    if "file" in section and "connection" not in section:
        return ""
    named = section.get("connection", defaults.get("connection"))
    if named is not None:
        name = mistakes.attempt(text, named, "", "connection")
    elif len(connections) == 1:
        name = next(iter(connections))
    else:
        problem = "name its 'connection'" if connections else "the policy has no 'connections'; for a file write 'file'"
        mistakes.add(section.node, f"this table has no connection: {problem}.")
        return ""
    if name and name not in connections:
        hint = closest(name, connections) or (f" Available: {', '.join(connections)}." if connections else "")
        mistakes.add(named or section.node, f"there is no connection {name!r}.{hint}")
    elif name and connections[name] is None:  # keeps its tables from being tested
        mistakes.add(named or section.node, f"its connection {name!r} has a mistake.")
    return name


def read_target(section: PolicySection, connection: str, folder: Path) -> Target | None:
    """Return what is tested, None after a mistake."""
    mistakes = section.mistakes
    kinds = [kind for kind in ("table", "file", "query") if kind in section]
    if len(kinds) != 1:
        problem = f"has {' and '.join(kinds)}; keep one" if kinds else "needs a table, a file or a query"
        mistakes.add(section.node, f"a table of the policy {problem}.")
        return None
    kind = kinds[0]
    written = section.take(kind, text, "")
    if not written:
        return None
    where = section.filled.take("where", text, "")
    if kind == "query" and where:
        mistakes.add(section["where"], "put the condition into the query.")
    if kind == "file" and connection:
        mistakes.add(section["file"], "a file has no connection. For a table write 'table'.")
    read = _read_options(section["read"], mistakes) if "read" in section.filled else ReadOptions()
    if kind == "query" and "name" not in section:
        mistakes.add(section["query"], "a query needs a 'name' for reports.")
    label = section.take("name", text, "") or ("" if kind == "query" else written)
    if kind == "query":
        return Target(query=written, read=read, label=label)
    return Target(relation=str(folder / written) if kind == "file" else written, where=where, read=read, label=label)


def _read_options(node: Node, mistakes: Mistakes) -> ReadOptions:
    section = mistakes.section(node, "'read'", READ_KEYS)
    return section.take_request(ReadOptions, null_values=_null_values)


def _null_values(node: Node, what: str) -> tuple[str, ...]:
    """Texts, of which one may be empty."""
    return tuple(item.text(what) for item in node.items(what))


OTHER_KEYS: Keys = {name: PLACE[name] for name in ("table", "file", "read")}
OTHER_TABLE: Key = {"$ref": "#/$defs/other"}
OTHER_TABLES: Key = {"anyOf": [OTHER_TABLE, {"type": "array", "items": OTHER_TABLE}]}


def other_table(
    node: Node, what: str, mistakes: Mistakes, connection: str, folder: Path, patterns: bool = False
) -> Target:
    """A further table: of the connection, or a file, which is looked for beside the policy first.

    It is a text, or a mapping that also says how its file is read.
    """
    kind, read = "", ReadOptions()
    if node.is_mapping:
        section = mistakes.section(node, f"{what!r}", OTHER_KEYS)
        kinds = [kind for kind in ("table", "file") if kind in section]
        if len(kinds) != 1:
            raise node.fail(f"{what!r} is a table or a file.")
        (kind,) = kinds
        read = _read_options(section["read"], mistakes) if "read" in section.filled else read
    name = text(section[kind] if kind else node, what)
    is_beside_policy = not connection and (exists(folder / name) or (patterns and has_magic(name)))
    return Target(relation=str(folder / name) if is_beside_policy or kind == "file" else name, read=read, label=name)


def other_tables(node: Node, what: str, mistakes: Mistakes, connection: str, folder: Path) -> tuple[Target, ...]:
    """Further tables; a single one is a list of one."""
    alone = node.is_mapping or isinstance(node.value, str)
    nodes = [node] if alone else node.items(what)
    return tuple(other_table(item, what, mistakes, connection, folder, patterns=True) for item in nodes)


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
    persons_node: Node | None,
    defaults: Mapping[str, Node],
    connections: Mapping[str, Connection | None],
    folder: Path,
    mistakes: Mistakes,
) -> tuple[PersonsEntry, ...]:
    """The tables of persons of a policy."""
    entries: list[PersonsEntry] = []
    for node in mistakes.items(persons_node, "'persons'"):
        section = mistakes.section(node, "a table of persons", PERSON_KEYS)
        connection = read_connection(section, defaults, connections)
        target = read_target(section, connection, folder)
        entity = section.take("entity", text, "")
        if "entity" not in section:
            mistakes.add(node, "a table of persons needs 'entity', the column that identifies the person.")
        static = section.filled.take("static", texts, ())
        if target is not None and entity:
            entries.append(PersonsEntry(target, connection, entity, static, place_of(node)))
    for number, entry in enumerate(entries):
        same = (other for other in entries[:number] if other.connection == entry.connection)
        if any(other.entity.casefold() == entry.entity.casefold() for other in same):
            sentence = f"two tables of 'persons' have the entity {entry.entity!r}. Keep one."
            mistakes.append(Mistake(entry.place, sentence))
    return tuple(entries)


def persons_apart(entry: TableEntry, persons: Sequence[PersonsEntry]) -> TableEntry:
    """The entry with those tables of persons that its connection has; none when it says so."""
    if not entry.about_persons:
        return entry
    own = tuple(table for table in persons if table.connection == entry.connection)
    if own and entry.made is not None:
        what = "cube" if entry.cube else "release"
        sentence = f"a {what} joins no table of 'persons': write 'persons: false' in this table."
        return replace(entry, mistakes=(*entry.mistakes, Mistake(entry.place, sentence)))
    return replace(entry, persons=own)


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
        opened = [(persons_entry, self._relation(persons_entry)) for persons_entry in entry.persons]
        if not opened:
            return entry, None
        relation = self.engine.open(entry.target)
        for persons_entry, persons in opened:
            column = _named(relation, persons_entry.entity)
            if column is None or (entry.roles.entity or column).casefold() != column.casefold():
                continue
            roles = replace(entry.roles, entity=column)
            if replace(persons_entry.target, label="") == replace(entry.target, label=""):
                return replace(entry, roles=roles), None
            self.used.append(persons_entry)
            if roles.quasi_identifiers:
                names_with_roles = {name.casefold() for names in roles.by_role().values() for name in names}
                static = (name for name in persons_entry.static if name.casefold() not in names_with_roles)
                roles = replace(roles, quasi_identifiers=(*roles.quasi_identifiers, *static))
            missing = tuple(name for name in persons_entry.static if _named(relation, name) is None)
            joined = (
                with_static(self.engine, relation, persons, column, persons_entry.entity, missing) if missing else None
            )
            return replace(entry, roles=roles), joined
        return entry, None

    def _relation(self, entry: PersonsEntry) -> Relation:
        if id(entry) not in self._opened:
            relation = self.engine.open(entry.target)
            for name in (entry.entity, *entry.static):
                require_column(relation, name, "entity" if name == entry.entity else "static")
            self._opened[id(entry)] = relation
        return self._opened[id(entry)]


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


def read_exceptions(section: PolicySection, tests: Sequence[TestSpec]) -> list[PolicyException]:
    """The exceptions that can be read; one that cannot is a mistake, and excepts nothing."""
    nodes = section.mistakes.items(section.get("exceptions"), "'exceptions'")
    exceptions = [_exception(node, tests, section.mistakes) for node in nodes]
    return [exception for exception in exceptions if exception is not None]


def _exception(node: Node, tests: Sequence[TestSpec], mistakes: Mistakes) -> PolicyException | None:
    """Read an exception; None if it has mistakes, which are noted."""
    problems = Mistakes()
    section = problems.section(node, "an exception", EXCEPTION_KEYS)
    subject = "identifier" if "identifier" in section else "requirement"
    missing = [key for key in (subject, "until", "reason") if key not in section]
    if missing:
        problems.add(node, f"an exception needs {' and '.join(missing)}.")
    requirement = section.take("requirement", text, "")
    if subject == "identifier":
        requirement = _excepted_identifier(section, tests)
    elif requirement and not any(excepts(requirement, test) for test in tests):
        hint = closest(requirement, [test.requirement for test in tests])
        problems.add(section["requirement"], f"this table has no requirement {requirement!r}.{hint}")
    sensitive, reason = section.take("sensitive", text, ""), section.take("reason", text, "")
    limit, until = section.take("up_to", up_to, None), section.take("until", day, datetime.date.min)
    mistakes += problems
    return None if problems else PolicyException(requirement, sensitive, until, reason, limit, place_of(node))


def _excepted_identifier(section: PolicySection, tests: Sequence[TestSpec]) -> str:
    """The requirement that an exception for a direct identifier means."""
    node, mistakes = section["identifier"], section.mistakes
    if "requirement" in section:
        mistakes.add(node, "an exception has a requirement or an identifier. Keep one.")
    name = section.take("identifier", text, "")
    identifiers = [test.identifier for test in tests if test.identifier]
    if name and name not in identifiers:
        mistakes.add(node, f"this table has no direct identifier {name!r}.{closest_column(name, identifiers)}")
    return no_identifier(name)


def excepts(requirement: str, test: TestSpec) -> bool:
    """Return True if an exception's requirement stands for a test: `k=5` or `k`, or another name of its model."""
    if requirement == test.requirement or requirement == test.requirement.partition("=")[0]:
        return True
    try:
        return test.model is not None and find_model(requirement).name == test.model.model
    except SqlauditError:
        return False
