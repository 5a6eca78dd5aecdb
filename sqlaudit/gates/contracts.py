"""Data contracts as policies: the quality blocks of an Open Data Contract (ODCS 3) whose engine is sqlaudit.

Source: Open Data Contract Standard 3.1 (bitol-io/open-data-contract-standard), `quality` of type custom.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import SqlauditError
from sqlaudit.base.names import closest
from sqlaudit.base.nodes import Node
from sqlaudit.base.spec import Target
from sqlaudit.gates.connections import conninfo
from sqlaudit.gates.nodes import NO_NODES, NO_TEXTS, Mistakes, place_of, text, texts
from sqlaudit.gates.result import Mistake
from sqlaudit.gates.spec import Connection, Policy, TableEntry

ENGINE = "sqlaudit"
KIND = "DataContract"
ELSEWHERE = "server"
"""The kind of a connection to what sqlaudit does not connect to."""
_POSTGRES = ("host", "port", "database", "schema")
_NEEDED = {"duckdb": ("database",), "postgres": _POSTGRES, "postgresql": _POSTGRES}
"""What a server says at least, by the types that sqlaudit connects to."""
_GENTLE = ("warn", "warning", "info")
_BLOCK = "a quality block"


def is_contract(root: Node) -> bool:
    """Whether a file is a data contract, and no policy."""
    pairs: list[tuple[Node, Node]] = root.value if root.is_mapping else []  # type: ignore[assignment]
    return any((key.value, value.value) == ("kind", KIND) for key, value in pairs)


def read_contract(root: Node, path: str | Path) -> Policy:
    """The policy in a data contract: a table for each quality block of sqlaudit.

    Raises:
        UsageError: it is a contract of another version, or no block in it is sqlaudit's.
    """
    _each_key_once(root)
    file, found, mistakes = Path(path), _children(root), Mistakes()
    version = _plain(found.get("apiVersion"))
    if not version.removeprefix("v").startswith("3."):
        raise found.get("apiVersion", root).fail("this sqlaudit reads data contracts of 'apiVersion' v3.0 and later.")
    servers = _servers(found.get("servers"), mistakes)
    connections = {name: _connection(name, node, file.parent, mistakes) for name, node in servers.items()}
    objects = mistakes.attempt(lambda node: tuple(node.items("'schema'")), found.get("schema"), NO_NODES)
    tables = [
        _table(one, block, servers, file.parent) for one in objects for block in _blocks(one, "quality", mistakes)
    ]
    for one in objects:
        _refuse_in_columns(one, mistakes)
    if not tables and not mistakes:
        raise root.fail(f"no quality block of the contract is 'type: custom' with 'engine: {ENGINE}'.")
    return Policy(str(path), connections, tuple(tables), tuple(mistakes))


def _children(node: Node) -> dict[str, Node]:
    """The values of a mapping by key; none for something else."""
    return {str(key.value): value for key, value in node.pairs("")} if node.is_mapping else {}


def _each_key_once(node: Node) -> None:
    """Nothing for a file whose mappings have each key once, since nobody reads the other one.

    Raises:
        UsageError: one has a key twice.
    """
    inside = [value for _, value in node.pairs("")] if node.is_mapping else node.value
    for one in inside if isinstance(inside, list) else ():
        assert isinstance(one, Node)
        _each_key_once(one)


def _plain(node: Node | None) -> str:
    return node.value if node is not None and isinstance(node.value, str) else ""


def _servers(node: Node | None, mistakes: Mistakes) -> dict[str, Node]:
    """The servers by name; one without is called by its number."""
    servers: dict[str, Node] = {}
    for number, one in enumerate(mistakes.attempt(lambda given: tuple(given.items("'servers'")), node, NO_NODES), 1):
        name = _plain(_children(one).get("server")) or f"server {number}"
        if name in servers:
            mistakes.append(Mistake(place_of(one), f"the contract has two servers {name!r}."))
        servers[name] = one
    return servers


def _connection(name: str, node: Node, folder: Path, mistakes: Mistakes) -> Connection:
    """Where a server's tables are; users and passwords are what libpq finds, for a contract has none.

    What the standard requires has to be there: libpq would find another database in the environment.
    """
    found = {key: _plain(value) for key, value in _children(node).items()}
    kind, place = found.get("type", ""), place_of(node)
    if missing := [key for key in _NEEDED.get(kind, ()) if not found.get(key)]:
        mistakes.append(Mistake(place, f"server {name!r} of type {kind} needs {' and '.join(map(repr, missing))}."))
    elif kind == "duckdb":
        return Connection(name, "duckdb", found["database"], place, folder)
    elif kind in _NEEDED:
        given = {"host": found["host"], "port": found["port"], "dbname": found["database"]}
        return Connection(name, "url", conninfo(given), place, folder)
    return Connection(name, ELSEWHERE, kind or "a server without a type", place, folder)


def _blocks(node: Node, key: str, mistakes: Mistakes) -> Iterator[Node]:
    """The quality blocks of an object that are sqlaudit's; those of other engines are theirs."""
    for block in mistakes.attempt(lambda one: tuple(one.items(f"'{key}'")), _children(node).get(key), NO_NODES):
        found = _children(block)
        engine = _plain(found.get("engine"))
        if engine != ENGINE:
            if engine and (hint := closest(engine.lower(), [ENGINE])):
                mistakes.append(Mistake(place_of(found["engine"]), f"there is no engine {engine!r}.{hint}"))
            continue
        if _plain(found.get("type")) != "custom":
            mistakes.append(Mistake(place_of(block), f"{_BLOCK} with 'engine: {ENGINE}' is of 'type: custom'."))
        elif "implementation" not in found:
            said = "has no 'implementation'; write roles and requirements there, as a policy has them"
            mistakes.append(Mistake(place_of(block), f"{_BLOCK} with 'engine: {ENGINE}' {said}."))
        else:
            yield block


def _refuse_in_columns(node: Node, mistakes: Mistakes) -> None:
    """Keep a mistake for each block of sqlaudit at a column: what it asks is asked of a table."""
    found = _children(node)
    inner = [found[key] for key in ("items",) if key in found]
    listed = found.get("properties")
    if listed is not None and not listed.is_mapping and isinstance(listed.value, list):
        inner += listed.value  # type: ignore[arg-type]
    for column in inner:
        for block in _blocks(column, "quality", mistakes):
            said = f"{_BLOCK} with 'engine: {ENGINE}' belongs to the table, and not to one of its columns."
            mistakes.append(Mistake(place_of(block), said))
        _refuse_in_columns(column, mistakes)


def _table(node: Node, block: Node, servers: Mapping[str, Node], folder: Path) -> TableEntry:
    """The table that a block is about, with what its implementation says."""
    from dataclasses import replace

    from sqlaudit.gates.reading import table_of

    mistakes, about, table = Mistakes(), _children(block), _children(node)
    given = mistakes.attempt(_implementation, about["implementation"], Node([], block.place, is_mapping=True))
    own = _children(given)
    server = _server(own.get("server"), servers, block, mistakes)
    schema = _plain(_children(servers[server]).get("schema")) if server in servers else ""
    name = mistakes.attempt(text("the object's name"), table.get("name"), "")
    if not name:
        mistakes.append(Mistake(place_of(node), "an object of the contract's 'schema' has no 'name'."))
    physical = _plain(table.get("physicalName")) or name
    relation = f"{schema}.{physical}" if schema and "." not in physical else physical
    kept = [pair for pair in given.value or [] if pair[0].value != "server"]  # type: ignore[index, union-attr]
    if "severity" not in own and _plain(about.get("severity")).lower() in _GENTLE:
        at = about["severity"].place
        kept.append((Node("severity", at), Node("warn", at)))
    extra: dict[str, Any] = {
        "name": name,
        "description": _plain(about.get("description")),
        "tags": mistakes.attempt(texts("tags"), about.get("tags"), NO_TEXTS),
    }
    inside = Node(kept, given.place, is_mapping=True)  # type: ignore[arg-type]
    made = table_of(inside, Target(relation=relation or "unnamed"), server, folder, extra)
    return replace(made, mistakes=(*mistakes, *made.mistakes))


def _implementation(node: Node) -> Node:
    """What a block says: a mapping, or a text that holds one.

    Raises:
        UsageError: it is something else.
    """
    if isinstance(node.value, str):
        from sqlaudit.base.yaml_nodes import composed

        try:
            read = composed(node.value, "the text")
        except (SqlauditError, RecursionError):
            raise node.fail("the text of 'implementation' is not YAML.") from None
        node = node if read is None else _at(read, node.place)
    node.pairs("'implementation'")
    return node


def _at(node: Node, place: str) -> Node:
    """A node with all in it at one place: a text has no lines of its own that others could look up."""
    if not isinstance(node.value, list):
        return Node(node.value, place)
    if node.is_mapping:
        pairs = [(_at(key, place), _at(value, place)) for key, value in node.value]  # type: ignore[misc]
        return Node(pairs, place, is_mapping=True)
    return Node([_at(one, place) for one in node.value], place)  # type: ignore[arg-type]


def _server(given: Node | None, servers: Mapping[str, Node], block: Node, mistakes: Mistakes) -> str:
    """The server that a block is about, empty after a mistake."""
    if given is None and len(servers) == 1:
        return next(iter(servers))
    if given is None:
        said = "several 'servers'; name one as 'server' in the implementation" if servers else "no 'servers'"
        mistakes.append(Mistake(place_of(block), f"it is not said where this table is: the contract has {said}."))
        return ""
    name = mistakes.attempt(text("server"), given, "")
    if name and name not in servers:
        mistakes.append(Mistake(place_of(given), f"the contract has no server {name!r}.{closest(name, servers)}"))
    return name if name in servers else ""
