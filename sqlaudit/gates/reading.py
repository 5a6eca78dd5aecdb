"""From a policy file or a data contract to a `Policy`: every mistake with its line, the rest is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import SqlauditError, UnknownFile, UsageError
from sqlaudit.base.files import exists
from sqlaudit.base.names import closest
from sqlaudit.base.nodes import Node, composed, load_nodes
from sqlaudit.base.options import COLUMN, NAMES, options_of
from sqlaudit.base.parameter_names import speaking
from sqlaudit.base.spec import Coverage, ReadOptions, Roles, Sampling, Target
from sqlaudit.classes.inputs import Inputs, inputs_from, load_inputs
from sqlaudit.gates.connections import conninfo, read_connections
from sqlaudit.gates.cube_section import CUBE, cube_tests, read_cube
from sqlaudit.gates.keys import COLUMN_KEY, COLUMN_LIST, TEXT, YES_OR_NO, Keys, described, keys_of
from sqlaudit.gates.nodes import (
    Mistakes,
    PolicySection,
    children,
    choice,
    column_list,
    column_text,
    flag,
    in_a_policy,
    items_of,
    place_of,
    text,
    text_or_empty,
    texts,
    whole,
)
from sqlaudit.gates.release_section import RELEASE, read_release
from sqlaudit.gates.request import DEFAULT_POLICY
from sqlaudit.gates.requirements import (
    DERIVED_FROM,
    OWNER,
    REQUIREMENTS,
    SEVERITIES,
    SEVERITY,
    TAGS,
    Common,
    read_requirements,
)
from sqlaudit.gates.result import (
    CellLimit,
    Connection,
    LossLimit,
    Mistake,
    Place,
    Policy,
    SeriesLimit,
    SyntheticLimit,
    TableEntry,
    TestSpec,
)
from sqlaudit.gates.tables import PLACE, persons_apart, read_connection, read_exceptions, read_persons, read_target
from sqlaudit.models.phrases import ALL_NAMED, no_identifier

# Data contracts as policies: the quality blocks of an Open Data Contract (ODCS 3) whose engine is sqlaudit.
#
# Source: Open Data Contract Standard 3.1 (bitol-io/open-data-contract-standard), `quality` of type custom.

ENGINE = "sqlaudit"
KIND = "DataContract"
ELSEWHERE = "server"
"""The kind of a connection to what sqlaudit does not connect to."""
_POSTGRES = ("host", "port", "database", "schema")
_NEEDED = {"duckdb": ("database",), "postgres": _POSTGRES, "postgresql": _POSTGRES}
"""What a server says at least, by the types that sqlaudit connects to."""
_GENTLE = ("warn", "warning", "info")
_BLOCK = "a quality block"


def _read_contract(root: Node, path: str | Path) -> Policy:
    """The policy in a data contract: a table for each quality block of sqlaudit.

    Raises:
        UsageError: it is a contract of another version, or no block in it is sqlaudit's.
    """
    _each_key_once(root)
    file, values, mistakes = Path(path), children(root), Mistakes()
    version = text_or_empty(values.get("apiVersion"))
    if not version.removeprefix("v").startswith("3."):
        raise values.get("apiVersion", root).fail("data contracts need 'apiVersion' v3.0 or later.")
    servers = _servers(values.get("servers"), mistakes)
    connections = {name: _connection(name, node, file.parent, mistakes) for name, node in servers.items()}
    objects = mistakes.items(values.get("schema"), "'schema'")
    tables = [
        _table(schema_object, block, servers, file.parent)
        for schema_object in objects
        for block in _blocks(schema_object, mistakes)
    ]
    for schema_object in objects:
        _refuse_in_columns(schema_object, mistakes)
    if not tables and not mistakes:
        raise root.fail(f"no quality block of the contract is 'type: custom' with 'engine: {ENGINE}'.")
    return Policy(str(path), connections, linked(tables), tuple(mistakes))


def _each_key_once(node: Node) -> None:
    """Refuse a file with a mapping that has a key twice, since readers would ignore one of them.

    Raises:
        UsageError: one has a key twice.
    """
    for child in [value for _, value in node.pairs("")] if node.is_mapping else items_of(node):
        _each_key_once(child)


def _servers(node: Node | None, mistakes: Mistakes) -> dict[str, Node]:
    """The servers by name; one without is called by its number."""
    servers: dict[str, Node] = {}
    for position, server in enumerate(mistakes.items(node, "'servers'"), 1):
        name = text_or_empty(children(server).get("server")) or f"server {position}"
        if name in servers:
            mistakes.add(server, f"the contract has two servers {name!r}.")
        servers[name] = server
    return servers


def _connection(name: str, node: Node, folder: Path, mistakes: Mistakes) -> Connection:
    """Return where a server's tables are; users and passwords are what libpq finds, for a contract has none.

    What the standard requires has to be there: libpq would find another database in the environment.
    """
    values = {key: text_or_empty(value) for key, value in children(node).items()}
    kind, location = values.get("type", ""), place_of(node)
    if missing := [key for key in _NEEDED.get(kind, ()) if not values.get(key)]:
        mistakes.append(Mistake(location, f"server {name!r} of type {kind} needs {' and '.join(map(repr, missing))}."))
    elif kind == "duckdb":
        return Connection(name, "duckdb", values["database"], location, folder)
    elif kind in _NEEDED:
        parameters = {"host": values["host"], "port": values["port"], "dbname": values["database"]}
        return Connection(name, "url", conninfo(parameters), location, folder)
    return Connection(name, ELSEWHERE, kind or "a server without a type", location, folder)


def _blocks(node: Node, mistakes: Mistakes) -> Iterator[Node]:
    """The quality blocks of an object that are sqlaudit's; those of other engines are theirs."""
    for block in mistakes.items(children(node).get("quality"), "'quality'"):
        values = children(block)
        engine = text_or_empty(values.get("engine"))
        if engine != ENGINE:
            if engine and (hint := closest(engine.lower(), [ENGINE])):
                mistakes.add(values["engine"], f"there is no engine {engine!r}.{hint}")
            continue
        if text_or_empty(values.get("type")) != "custom":
            mistakes.add(block, f"{_BLOCK} with 'engine: {ENGINE}' is of 'type: custom'.")
        elif "implementation" not in values:
            problem = "has no 'implementation'; write roles and requirements there, as a policy has them"
            mistakes.add(block, f"{_BLOCK} with 'engine: {ENGINE}' {problem}.")
        else:
            yield block


def _refuse_in_columns(node: Node, mistakes: Mistakes) -> None:
    """Keep a mistake for each block of sqlaudit at a column: what it asks is asked of a table."""
    values = children(node)
    inner = [values["items"]] if "items" in values else []
    for column in [*inner, *items_of(values.get("properties"))]:
        for block in _blocks(column, mistakes):
            sentence = f"{_BLOCK} with 'engine: {ENGINE}' belongs to the table, and not to one of its columns."
            mistakes.add(block, sentence)
        _refuse_in_columns(column, mistakes)


def _table(node: Node, block: Node, servers: Mapping[str, Node], folder: Path) -> TableEntry:
    """The table that a block is about, with what its implementation says."""
    mistakes, about, table = Mistakes(), children(block), children(node)
    implementation = mistakes.attempt(_implementation, about["implementation"], Node([], block.place, is_mapping=True))
    settings = children(implementation)
    server = _server(settings.get("server"), servers, block, mistakes)
    schema = text_or_empty(children(servers[server]).get("schema")) if server in servers else ""
    name = mistakes.attempt(text, table.get("name"), "", "the object's name")
    if not name:
        mistakes.add(node, "an object of the contract's 'schema' has no 'name'.")
    physical = text_or_empty(table.get("physicalName")) or name
    relation = f"{schema}.{physical}" if schema and "." not in physical else physical
    pairs = [pair for pair in implementation.value or [] if pair[0].value != "server"]  # type: ignore[index, union-attr]
    if "severity" not in settings and text_or_empty(about.get("severity")).lower() in _GENTLE:
        at = about["severity"].place
        pairs.append((Node("severity", at), Node("warn", at)))
    extra: dict[str, object] = {
        "name": name,
        "description": text_or_empty(about.get("description")),
        "tags": mistakes.attempt(texts, about.get("tags"), (), "tags"),
    }
    inside = Node(pairs, implementation.place, is_mapping=True)  # type: ignore[arg-type]
    entry = table_of(inside, Target(relation=relation or "unnamed"), server, folder, extra)
    return replace(entry, mistakes=(*mistakes, *entry.mistakes))


def _implementation(node: Node) -> Node:
    """Return what a block says: a mapping, or a text that holds one.

    Raises:
        UsageError: it is something else.
    """
    if isinstance(node.value, str):
        try:
            read = composed(node.value, "the text")
        except (SqlauditError, RecursionError):
            raise node.fail("the text of 'implementation' is not YAML.") from None
        node = node if read is None else _at(read, node.place)
    node.pairs("'implementation'")
    return node


def _at(node: Node, place: str) -> Node:
    """A node with all in it at one place: a text has no lines of its own that others could look up."""
    value: Any = node.value
    if node.is_mapping:
        value = [(_at(key, place), _at(child, place)) for key, child in value]
    elif isinstance(value, list):
        value = [_at(child, place) for child in value]
    return Node(value, place, node.is_mapping)


def _server(named: Node | None, servers: Mapping[str, Node], block: Node, mistakes: Mistakes) -> str:
    """The server that a block is about, empty after a mistake."""
    if named is None and len(servers) == 1:
        return next(iter(servers))
    if named is None:
        problem = "several 'servers'; name one as 'server' in the implementation" if servers else "no 'servers'"
        mistakes.add(block, f"it is not said where this table is: the contract has {problem}.")
        return ""
    name = mistakes.attempt(text, named, "", "server")
    if name and name not in servers:
        mistakes.add(named, f"the contract has no server {name!r}.{closest(name, servers)}")
    return name if name in servers else ""


# From a policy file to a `Policy`: every mistake with its line, and whatever can be read is read.

VERSION = "1"
TOP: Keys = {
    "version": {"const": int(VERSION), "description": "The version of the policy's format."},
    "connections": described(
        "Databases of the tables, by a name of your choice. Never with a password.",
        {"type": "object", "additionalProperties": {"$ref": "#/$defs/connection"}},
    ),
    "defaults": {"$ref": "#/$defs/defaults"},
    "persons": described(
        "Tables of people, for every table of their connection with the column that identifies the person.",
        {"type": "array", "items": {"$ref": "#/$defs/persons"}},
    ),
    "tables": {"type": "array", "items": {"$ref": "#/$defs/table"}, "description": "Tables to test."},
}
DEFAULTS: Keys = {
    "connection": described("Default connection."),
    "severity": SEVERITY,
    **keys_of(Roles, "nulls"),
    "tags": TAGS,
    "owner": OWNER,
    "requirements": REQUIREMENTS,
    **keys_of(Coverage, "all_columns_named"),
}
_COLUMN_KINDS = {NAMES: COLUMN_LIST, COLUMN: COLUMN_KEY}
COLUMNS = {name: option for name, option in options_of(Roles) if option.kind in _COLUMN_KINDS}
"""The roles that name columns; a policy has expressions as mappings, too."""
HOW_READ = [name for name, _ in options_of(Roles) if name not in COLUMNS]
"""How columns are read that have a role."""
ROLES: Keys = {
    **keys_of(Roles),
    **{name: described(option.help, _COLUMN_KINDS[option.kind]) for name, option in COLUMNS.items()},
    "quasi_identifiers": described("What others may know about a person: columns or SQL expressions.", COLUMN_LIST),
    **keys_of(Sampling),
}
_ABOUT: Keys = {
    "name": described("Name in reports; unique in the policy."),
    "description": TEXT,
    "owner": OWNER,
    "tags": TAGS,
    "severity": SEVERITY,
    "derived_from": DERIVED_FROM,
    "inputs": {"type": ["string", "object"], "description": "Further inputs of models: a file, or its content."},
    "requirements": REQUIREMENTS,
    "exceptions": {"type": "array", "items": {"$ref": "#/$defs/exception"}},
    **keys_of(Coverage, "insensitive", "all_columns_named"),
}
TABLE: Keys = {
    **PLACE,
    **ROLES,
    **_ABOUT,
    "persons": described("false: no table under persons belongs to this one.", YES_OR_NO),
    RELEASE: {"$ref": "#/$defs/release", "description": "The release of this table, which its requirements are about."},
    CUBE: {"$ref": "#/$defs/cube", "description": "The cube of this table, which may be queried freely."},
}


@speaking(in_a_policy)
def load_policy(path: str | Path) -> Policy:
    """The policy in a YAML file, or in the quality blocks of a data contract.

    Returns:
        All that could be read; mistakes stand in the policy, its tables and its tests.

    Raises:
        InputError: the file cannot be read, or is not YAML.
        UsageError: it is empty or no mapping, or no policy of this version.
    """
    file = Path(path)
    if str(path) == DEFAULT_POLICY and not exists(file):
        advice = "`sqlaudit init` writes one from your tables"
        raise UnknownFile(f"There is no {DEFAULT_POLICY} here or in a folder above; {advice}.")
    root = load_nodes(file)
    if root is None:
        raise UsageError(f"{path}: is empty. `sqlaudit init` writes a policy to start from.")
    return policy_of(root, path)


@speaking(in_a_policy)
def policy_of(root: Node, path: str | Path) -> Policy:
    """Return the policy in the content of a file; `path` is its place, or its name if it has none.

    Raises:
        UsageError: as `load_policy`.
    """
    file = Path(path)
    if text_or_empty(children(root).get("kind")) == KIND:
        return _read_contract(root, path)
    mistakes = Mistakes()
    section = mistakes.section(root, "the policy", TOP)
    if not root.is_mapping:
        raise UsageError(f"{path}: a policy must be a mapping with the keys {', '.join(TOP)}.")
    if "version" in section and section["version"].value != VERSION:
        raise section["version"].fail(f"the version of the policy must be {VERSION}.")
    connections = read_connections(section["connections"], mistakes) if "connections" in section else {}
    if "tables" not in section:
        mistakes.add(root, "the policy has no 'tables'. Name the tables to test.")
    filled = section.filled
    defaults = mistakes.section(filled["defaults"], "'defaults'", DEFAULTS) if "defaults" in filled else _no_keys(root)
    table_nodes = mistakes.items(filled.get("tables"), "'tables'")
    persons = read_persons(filled.get("persons"), defaults, connections, file.parent, mistakes)
    tables = [persons_apart(_read_table(node, defaults, connections, file.parent), persons) for node in table_nodes]
    sound = {name: connection for name, connection in connections.items() if connection is not None}
    return Policy(str(path), sound, linked(tables), tuple(mistakes))


@speaking(in_a_policy)
def table_of(node: Node, target: Target, connection: str, folder: Path, extra: Mapping[str, object]) -> TableEntry:
    """A table whose target is known already (a model of dbt), with what a node says of its roles and requirements.

    Args:
        node: roles and requirements as in a policy, without table, file, query and connection.
        target: what is tested. connection: its name. folder: what relative paths start from.
        extra: fields of `TableEntry` that are known already; tags and roles are added to those of the node.
    """
    mistakes = Mistakes()
    section = mistakes.section(node, "sqlaudit in 'meta'", (*ROLES, *_ABOUT, "where"))
    target = replace(target, where=section.take("where", text, target.where))
    return _filled(section, _no_keys(node), target, connection, folder, extra)


def _read_table(
    node: Node, defaults: PolicySection, connections: Mapping[str, Connection | None], folder: Path
) -> TableEntry:
    section = Mistakes().section(node, "a table", TABLE)
    connection = read_connection(section, defaults, connections)
    return _filled(section, defaults, read_target(section, connection, folder), connection, folder, {})


def _no_keys(node: Node) -> PolicySection:
    return PolicySection(node, Mistakes(), {})


def _filled(
    section: PolicySection,
    defaults: PolicySection,
    target: Target | None,
    connection: str,
    folder: Path,
    extra: Mapping[str, Any],
) -> TableEntry:
    """The entry of a table: what its own keys say, else the defaults of the policy, else what is known already."""
    node, mistakes, with_defaults, filled = section.node, section.mistakes, section.over(defaults), section.filled
    roles = _roles(with_defaults, filled, extra.get("roles") or Roles())
    severity = with_defaults.take("severity", choice, "error", SEVERITIES)
    usual_tags = mistakes.attempt(texts, defaults.filled.get("tags"), (), "tags")
    tags = (*extra.get("tags", ()), *usual_tags, *filled.take("tags", texts, ()))
    owner = with_defaults.take("owner", text, extra.get("owner", ""))
    common = Common(severity, tuple(dict.fromkeys(tags)), owner, folder, connection)
    places = _role_places(filled)
    required = filled.over(defaults.filled).get("requirements")
    if required is None and CUBE not in filled:
        mistakes.add(node, "this table has no 'requirements'. Write for example [k=5].")
    tests = [*mistakes.attempt(read_requirements, required, (), common, roles)]
    named = (
        place_of(with_defaults["all_columns_named"]) if with_defaults.take("all_columns_named", flag, False) else None
    )
    tests += coverage_tests(roles, places, place_of(node), named=named)
    if not tests and not mistakes and CUBE not in filled:
        mistakes.add(node, "this table has no requirements. Write for example [k=5].")
    derived = filled.take("derived_from", texts, ())
    inputs = mistakes.attempt(_inputs, filled.get("inputs"), Inputs(), connection, folder)
    release, cube = None, None
    if RELEASE in filled and CUBE in filled:
        mistakes.add(filled[CUBE], "a table has a 'release' or a 'cube'. Write a second entry with another 'name'.")
    if target is not None and not mistakes:
        parameters = (mistakes, target, roles, tests, inputs, folder)
        release = mistakes.attempt(read_release, filled.get(RELEASE), None, *parameters)
        cube = mistakes.attempt(read_cube, filled.get(CUBE), None, mistakes, target, roles, folder)
    if release is not None:
        requirement = f"{RELEASE}={text_or_empty(children(filled[RELEASE]).get('to'))}".rstrip("=")
        tests.insert(0, TestSpec(requirement, place_of(filled[RELEASE]), limit=release))
    if cube is not None:
        written = text_or_empty(children(filled[CUBE]).get("to"))
        tests = [*cube_tests(cube, written, place_of(filled[CUBE]), severity), *tests]
    name = section.take("name", text, "") or extra.get("name", "") or (target.name if target else "")
    return TableEntry(
        name=name or str(place_of(node)),
        place=place_of(node),
        target=target,
        roles=roles,
        connection=connection,
        inputs=inputs,
        tests=tuple(tests),
        exceptions=tuple(read_exceptions(filled, tests)),
        tags=common.tags,
        owner=owner,
        description=section.take("description", text, extra.get("description", "")),
        derived_from=(*extra.get("derived_from", ()), *derived),
        mistakes=tuple(mistakes),
        role_places=places,
        insensitive=filled.take("insensitive", texts, (), what="'insensitive'"),
        about_persons=filled.take("persons", flag, True),
        database=extra.get("database", ""),
        release=release,
        cube=cube,
    )


def _roles(with_defaults: PolicySection, filled: PolicySection, usual_roles: Roles) -> Roles:
    """The roles of a table, those that are known already first; none after a mistake in how they fit together."""
    fields = with_defaults.take_options(Roles, *HOW_READ)
    for role, option in COLUMNS.items():
        usual = getattr(usual_roles, role)
        if option.kind is COLUMN:
            fields[role] = filled.take(role, column_text, usual)
        else:
            fields[role] = tuple(dict.fromkeys((*usual, *filled.take(role, column_list, (), what=f"'{role}'"))))
    try:
        return replace(usual_roles, **fields, sampling=_sampling(filled))
    except UsageError as error:
        with_defaults.mistakes.keep(error, with_defaults.node)
        return Roles()


def _sampling(filled: PolicySection) -> Sampling:
    """Return how the table is a sample.

    Raises:
        UsageError: it is said twice.
    """
    return Sampling(**filled.take_options(Sampling, population_size=_people))


def _people(node: Node, what: str) -> int:
    return whole(node, what, "of people", 15)


def _role_places(filled: Mapping[str, Node]) -> dict[str, Place]:
    """Return where each column is named, for errors that are only seen in the database."""
    places = {}
    for role in COLUMNS:
        node = filled.get(role)
        for item in [] if node is None else items_of(node) or [node]:
            with suppress(UsageError):  # which is a mistake already
                places[column_text(item, role)] = place_of(item)
    return places


def coverage_tests(
    roles: Roles, places: Mapping[str, Place], table_place: Place, *, named: Place | None
) -> list[TestSpec]:
    """The tests that a table has beside its requirements: no declared identifier is in it, and every column has a role.

    Args:
        roles: of the table. places: where columns are named. table_place: where the table stands.
        named: where it is said that every column needs a role; None = it need not.
    """
    tests = [
        TestSpec(no_identifier(name), places.get(name, table_place), identifier=name) for name in roles.identifiers
    ]
    return tests + ([TestSpec(ALL_NAMED, named, all_named=True)] if named is not None else [])


def _inputs(node: Node, connection: str, folder: Path) -> Inputs:
    """Return what some models need besides, from the policy or the file that it names."""
    inputs = load_inputs(folder / node.value) if isinstance(node.value, str) else inputs_from(node, folder)
    population = inputs.get("population")
    if not connection and isinstance(population, dict) and "table" in population:
        inputs["population"] = {**population, "table": str(folder / population["table"])}
    return inputs


def linked(tables: Sequence[TableEntry]) -> tuple[TableEntry, ...]:
    """The tables of a policy, each with what the others say of it: a twin is a mistake, and an original may be one."""
    targets = {(table.connection, table.name): table.target for table in tables if table.target is not None}
    return tuple(_with_others(_with_rival(_with_twin(table, tables), tables), targets) for table in tables)


def _with_twin(table: TableEntry, tables: Sequence[TableEntry]) -> TableEntry:
    """The table; where another has its name, both get the mistake, since no one knows which one is meant."""
    others = (other for other in tables if other is not table)
    twin = next((other for other in others if other.name.casefold() == table.name.casefold()), None)
    if twin is None:
        return table
    sentence = (
        f"{table.name!r} also stands in line {twin.place.line}: two policies for one table. Merge them, or "
        "give each a 'name' of its own."
    )
    return replace(table, mistakes=(*table.mistakes, Mistake(table.place, sentence)))


def _made_file(table: TableEntry) -> Path | None:
    file = None if table.made is None else table.made.file
    return None if file is None else file.resolve()


def _with_rival(table: TableEntry, tables: Sequence[TableEntry]) -> TableEntry:
    """The table; where another becomes the same file, both get the mistake: one would replace the other."""
    file = _made_file(table)
    others = () if file is None else (other for other in tables if other is not table)
    rival = next((other for other in others if _made_file(other) == file), None)
    if rival is None:
        return table
    sentence = (
        f"the {CUBE if table.cube else RELEASE} of {table.name!r} has the same 'to' as that of {rival.name!r} in line "
        f"{rival.place.line}. Give each {CUBE if table.cube else RELEASE} a file of its own."
    )
    return replace(table, mistakes=(*table.mistakes, Mistake(table.place, sentence)))


def _with_others(table: TableEntry, targets: Mapping[tuple[str, str], Target]) -> TableEntry:
    """The table; an original or older release that bears the name of another entry of its connection is its table.

    Any other is read as this table is, with the options of its own format, unless it says how itself.
    """
    if table.target is None:
        return table
    read = table.target.read

    def alike(other: Target) -> Target:
        return replace(other, read=read, shared=read.given) if other.read == ReadOptions() else other

    def named(other: Target) -> Target:
        return targets.get((table.connection, other.name)) or alike(other)

    def with_others(test: TestSpec) -> TestSpec:
        limit = test.limit
        if isinstance(limit, SeriesLimit):
            return replace(test, limit=replace(limit, before=tuple(map(named, limit.before))))
        if isinstance(limit, LossLimit):
            return replace(test, limit=replace(limit, original=named(limit.original)))
        if isinstance(limit, SyntheticLimit):
            holdout = None if limit.holdout is None else named(limit.holdout)
            return replace(test, limit=replace(limit, original=named(limit.original), holdout=holdout))
        if isinstance(limit, CellLimit):
            before, linked = (tuple(map(alike, others)) for others in (limit.before, limit.linked))
            return replace(test, limit=replace(limit, before=before, linked=linked))
        return test

    return replace(table, tests=tuple(map(with_others, table.tests)))
