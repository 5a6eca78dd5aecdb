"""From a policy file to a `Policy`: every mistake with its line, and whatever can be read is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.nodes import Node, load_nodes
from sqlaudit.base.paths import exists
from sqlaudit.base.spec import Coverage, KnownRows, NullPolicy, Roles, Sampling, Target
from sqlaudit.base.words import speaking
from sqlaudit.classes.inputs import Inputs, inputs_from, load_inputs
from sqlaudit.gates.connections import read_connections
from sqlaudit.gates.contracts import is_contract, read_contract
from sqlaudit.gates.exceptions import read_exceptions
from sqlaudit.gates.keys import (
    DERIVED_FROM,
    OWNER,
    REQUIREMENTS,
    SEVERITIES,
    SEVERITY,
    TAGS,
    TEXT,
    TEXT_OR_TEXTS,
    YES_OR_NO,
    Keys,
    described,
    keys_of,
)
from sqlaudit.gates.nodes import (
    NO_NODES,
    NO_TEXTS,
    Mistakes,
    choice,
    chosen,
    flag,
    in_a_policy,
    mistake_of,
    number,
    people,
    place_of,
    text,
    texts,
)
from sqlaudit.gates.persons import persons_apart, read_persons
from sqlaudit.gates.requirements import Common, read_requirements
from sqlaudit.gates.result import Mistake, Place
from sqlaudit.gates.spec import Connection, Policy, TableEntry, TestSpec
from sqlaudit.gates.targets import PLACE, read_connection, read_target
from sqlaudit.models.coverage import ALL_NAMED, no_identifier

DEFAULT_POLICY = "sqlaudit.yml"
VERSION = "1"
TOP: Keys = {
    "version": {"const": int(VERSION), "description": "The version of the policy's form."},
    "connections": {
        "type": "object",
        "additionalProperties": {"$ref": "#/$defs/connection"},
        "description": "Where tables are, by a name of your own. Never with a password.",
    },
    "defaults": {"$ref": "#/$defs/defaults"},
    "persons": {
        "type": "array",
        "items": {"$ref": "#/$defs/persons"},
        "description": "Tables of persons, for every table of their connection that has the persons' column.",
    },
    "tables": {"type": "array", "items": {"$ref": "#/$defs/table"}, "description": "What is tested."},
}
DEFAULTS: Keys = {
    "connection": described("The connection of tables that name none."),
    "severity": SEVERITY,
    **keys_of(Roles, "nulls"),
    "tags": TAGS,
    "owner": OWNER,
    "requirements": REQUIREMENTS,
    **keys_of(Coverage, "all_columns_named"),
}
COLUMNS = ("quasi_identifiers", "sensitive", "identifiers", "entity")
ROLES: Keys = {
    "quasi_identifiers": described("What others may know about a person: columns or SQL expressions.", TEXT_OR_TEXTS),
    **keys_of(Roles, *COLUMNS[1:], "joint", "nulls", "known_rows"),
    **keys_of(Sampling),
}
_ABOUT: Keys = {
    "name": described("What reports call it; unique in the policy."),
    "description": TEXT,
    "owner": OWNER,
    "tags": TAGS,
    "severity": SEVERITY,
    "derived_from": DERIVED_FROM,
    "inputs": {"type": ["string", "object"], "description": "What some models need besides: a file, or its content."},
    "requirements": REQUIREMENTS,
    "exceptions": {"type": "array", "items": {"$ref": "#/$defs/exception"}},
    **keys_of(Coverage, "insensitive", "all_columns_named"),
}
TABLE: Keys = {
    **PLACE,
    **ROLES,
    **_ABOUT,
    "persons": described("false: no table under persons is about those of this one.", YES_OR_NO),
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
        said = "`sqlaudit init` writes one from your tables"
        raise UsageError(f"There is no {DEFAULT_POLICY} here or in a folder above; {said}.")
    root = load_nodes(file)
    if root is None:
        raise UsageError(f"{path}: is empty; `sqlaudit init` writes a policy to begin with.")
    if is_contract(root):
        read = read_contract(root, path)
        return replace(read, tables=tuple(with_originals(once(read.tables))))
    mistakes = Mistakes()
    found = mistakes.section(root, "the policy", TOP)
    if not root.is_mapping:
        raise UsageError(f"{path}: a policy is a mapping with the keys {', '.join(TOP)}.")
    if "version" in found and found["version"].value != VERSION:
        raise found["version"].fail(f"this sqlaudit reads policies of version {VERSION}.")
    connections = read_connections(found["connections"], mistakes) if "connections" in found else {}
    defaults = mistakes.section(found["defaults"], "'defaults'", DEFAULTS) if chosen(found, "defaults") else {}
    if "tables" not in found:
        mistakes.append(Mistake(place_of(root), "the policy has no 'tables'; name what is to be tested."))
    listed = mistakes.attempt(lambda node: tuple(node.items("'tables'")), chosen(found, "tables"), NO_NODES)
    persons = read_persons(chosen(found, "persons"), defaults, connections, file.parent, mistakes)
    tables = [persons_apart(_table(node, defaults, connections, file.parent), persons) for node in listed]
    sound = {name: connection for name, connection in connections.items() if connection is not None}
    return Policy(str(path), sound, tuple(with_originals(once(tables))), tuple(mistakes))


@speaking(in_a_policy)
def table_of(node: Node, target: Target, connection: str, folder: Path, extra: Mapping[str, Any]) -> TableEntry:
    """A table whose target is known already (a model of dbt), with what a node says of its roles and requirements.

    Args:
        node: roles and requirements as in a policy, without table, file, query and connection.
        target: what is tested. connection: its name. folder: what relative paths start from.
        extra: fields of `TableEntry` that are known already; tags and roles are added to those of the node.
    """
    mistakes = Mistakes()
    found = mistakes.section(node, "sqlaudit in 'meta'", (*ROLES, *_ABOUT, "where"))
    if "where" in found:
        target = replace(target, where=mistakes.attempt(text("where"), found["where"], ""))
    return _filled(node, found, {}, target, connection, folder, mistakes, extra)


def _table(
    node: Node, defaults: Mapping[str, Node], connections: Mapping[str, Connection | None], folder: Path
) -> TableEntry:
    mistakes = Mistakes()
    found = mistakes.section(node, "a table", TABLE)
    connection = read_connection(found, defaults, connections, node, mistakes)
    target = read_target(found, connection, node, folder, mistakes)
    return _filled(node, found, defaults, target, connection, folder, mistakes, {})


def _filled(
    node: Node,
    found: Mapping[str, Node],
    defaults: Mapping[str, Node],
    target: Target | None,
    connection: str,
    folder: Path,
    mistakes: Mistakes,
    extra: Mapping[str, Any],
) -> TableEntry:
    attempt = mistakes.attempt
    roles = _roles(found, defaults, node, mistakes, extra.get("roles"))
    common = Common(
        attempt(choice("severity", SEVERITIES), found.get("severity", defaults.get("severity")), "error"),
        tuple(
            dict.fromkeys(
                (
                    *extra.get("tags", ()),
                    *attempt(texts("tags"), chosen(defaults, "tags"), NO_TEXTS),
                    *attempt(texts("tags"), chosen(found, "tags"), NO_TEXTS),
                )
            )
        ),
        attempt(text("owner"), found.get("owner", defaults.get("owner")), extra.get("owner", "")),
        folder,
        connection,
    )
    places = _role_places(found)
    tests = _tests(found, defaults, common, roles, node, mistakes)
    tests += coverage_tests(roles, places, place_of(node), named=_named(found, defaults, mistakes))
    if not tests and not mistakes:
        mistakes.append(Mistake(place_of(node), "nothing is required of this table; write for instance [k=5]."))
    derived = attempt(texts("derived_from"), chosen(found, "derived_from"), NO_TEXTS)
    name = attempt(text("name"), found.get("name"), "") or extra.get("name", "") or (target.name if target else "")
    return TableEntry(
        name=name or str(place_of(node)),
        place=place_of(node),
        target=target,
        roles=roles,
        connection=connection,
        inputs=_inputs(found, connection, folder, mistakes),
        tests=tuple(tests),
        exceptions=tuple(read_exceptions(found, tests, mistakes)),
        tags=common.tags,
        owner=common.owner,
        description=attempt(text("description"), found.get("description"), extra.get("description", "")),
        derived_from=(*extra.get("derived_from", ()), *derived),
        mistakes=tuple(mistakes),
        role_places=places,
        insensitive=attempt(texts("'insensitive'"), chosen(found, "insensitive"), NO_TEXTS),
        about_persons=attempt(flag("persons"), chosen(found, "persons"), True),
    )


def _roles(
    found: Mapping[str, Node], defaults: Mapping[str, Node], node: Node, mistakes: Mistakes, known: Roles | None
) -> Roles:
    attempt, known = mistakes.attempt, known or Roles()
    nulls = attempt(choice("nulls", [one.value for one in NullPolicy]), found.get("nulls", defaults.get("nulls")), "")
    rows = attempt(choice("known_rows", [one.value for one in KnownRows]), found.get("known_rows"), "")
    lists = [attempt(texts(f"'{role}'"), chosen(found, role), NO_TEXTS) for role in COLUMNS[:3]]
    try:
        return Roles(
            tuple(dict.fromkeys((*known.quasi_identifiers, *lists[0]))),
            tuple(dict.fromkeys((*known.sensitive, *lists[1]))),
            tuple(dict.fromkeys((*known.identifiers, *lists[2]))),
            attempt(text("entity"), chosen(found, "entity"), known.entity or "") or None,
            attempt(flag("joint"), found.get("joint"), known.joint),
            NullPolicy(nulls or "equal"),
            KnownRows(rows or known.known_rows),
            _sampling(found, mistakes),
        )
    except UsageError as error:
        mistakes.append(mistake_of(error, node))
        return Roles()


def _sampling(found: Mapping[str, Node], mistakes: Mistakes) -> Sampling:
    """How the table is a sample.

    Raises:
        UsageError: it is said twice, or with a number out of its range.
    """
    attempt = mistakes.attempt
    nothing: Any = None
    return Sampling(
        attempt(number("sampling_fraction"), chosen(found, "sampling_fraction"), nothing),
        attempt(people("population_size"), chosen(found, "population_size"), nothing),
        attempt(text("weights"), chosen(found, "weights"), nothing),
    )


def _role_places(found: Mapping[str, Node]) -> dict[str, Any]:
    """Where each column is named, for errors that are only seen in the database."""
    places: dict[str, Any] = {}
    for role in COLUMNS:
        node = chosen(found, role)
        if node is None or node.is_mapping:
            continue
        items: Sequence[Any] = node.value if isinstance(node.value, list) else [node]
        places |= {item.value: place_of(item) for item in items if isinstance(item.value, str)}
    return places


def _named(found: Mapping[str, Node], defaults: Mapping[str, Node], mistakes: Mistakes) -> Place | None:
    """Where it is said that every column needs a role; None when it is not."""
    node = found.get("all_columns_named", defaults.get("all_columns_named"))
    wanted = mistakes.attempt(flag("all_columns_named"), node, False)
    return place_of(node) if wanted and node is not None else None


def coverage_tests(roles: Roles, places: Mapping[str, Place], whole: Place, *, named: Place | None) -> list[TestSpec]:
    """The tests that a table has beside its requirements: no declared identifier is in it, and every column has a role.

    Args:
        roles: of the table. places: where columns are named. whole: where the table stands.
        named: where it is said that every column needs a role; None = it need not.
    """
    tests = [TestSpec(no_identifier(name), places.get(name, whole), identifier=name) for name in roles.identifiers]
    return tests + ([TestSpec(ALL_NAMED, named, all_named=True)] if named is not None else [])


def _tests(
    found: Mapping[str, Node],
    defaults: Mapping[str, Node],
    common: Common,
    roles: Roles,
    node: Node,
    mistakes: Mistakes,
) -> list[TestSpec]:
    given = chosen(found, "requirements") or chosen(defaults, "requirements")
    if given is None:
        mistakes.append(Mistake(place_of(node), "this table has no 'requirements'; write for instance [k=5]."))
        return []
    nothing: list[TestSpec] = []
    return mistakes.attempt(lambda one: read_requirements(one, common, roles), given, nothing)


def _inputs(found: Mapping[str, Node], connection: str, folder: Path, mistakes: Mistakes) -> Mapping[str, Any]:
    node = chosen(found, "inputs")
    nothing = Inputs()
    if node is None:
        return nothing
    if isinstance(node.value, str):
        inputs = mistakes.attempt(lambda one: load_inputs(folder / one.text("inputs")), node, nothing)
    else:
        inputs = mistakes.attempt(lambda one: inputs_from(one, folder), node, nothing)
    population = inputs.get("population")
    if not connection and isinstance(population, dict) and "table" in population:
        inputs["population"] = {**population, "table": str(folder / population["table"])}
    return inputs


def once(tables: Sequence[TableEntry]) -> list[TableEntry]:
    """The tables; where two have one name, both get the mistake, since nobody knows which one is meant."""
    found = []
    for table in tables:
        twin = next((other for other in tables if other is not table and _same(other, table)), None)
        if twin is not None:
            said = (
                f"{table.name!r} also stands in line {twin.place.line}: two policies for one table. Merge them, or "
                "give each a 'name' of its own."
            )
            table = replace(table, mistakes=(*table.mistakes, Mistake(table.place, said)))  # noqa: PLW2901
        found.append(table)
    return found


def with_originals(tables: Sequence[TableEntry]) -> list[TableEntry]:
    """The tables; an original or older release that bears the name of another entry of its connection is its table."""
    known = {(table.connection, table.name): table.target for table in tables if table.target is not None}

    def named(table: TableEntry, test: TestSpec) -> TestSpec:
        if test.series is not None:
            before = tuple(known.get((table.connection, one.name), one) for one in test.series.before)
            return replace(test, series=replace(test.series, before=before))
        if test.loss is None:
            return test
        target = known.get((table.connection, test.loss.original.name), test.loss.original)
        return replace(test, loss=replace(test.loss, original=target))

    return [replace(table, tests=tuple(named(table, test) for test in table.tests)) for table in tables]


def _same(first: TableEntry, second: TableEntry) -> bool:
    return first.name.casefold() == second.name.casefold()
