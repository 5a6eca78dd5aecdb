"""Where a table of a policy is: its connection, and the table, file or query with how it is read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sqlaudit.base.names import closest
from sqlaudit.base.nodes import Node
from sqlaudit.base.spec import FILE_FORMATS, ReadOptions, Target
from sqlaudit.gates.keys import READ, Keys, described, keys_of
from sqlaudit.gates.nodes import NO_TEXTS, Mistakes, choice, chosen, flag, place_of, text
from sqlaudit.gates.result import Mistake
from sqlaudit.gates.spec import Connection

PLACE: Keys = {
    "table": described("A table or view of the connection."),
    "file": described("A CSV, Parquet, JSON or Arrow file, from the folder of the policy; globs work."),
    "query": described("One SELECT over the connection; give it a name."),
    "connection": described("A name under connections."),
    "where": described("Only the rows for which this SQL condition holds."),
    "read": READ,
}
READ_KEYS: Keys = keys_of(ReadOptions) | {
    "null_values": {"type": "array", "items": {"type": "string"}, "description": "Texts that mean NULL."}
}
_SPELLED = {"tab": "\t", "\\t": "\t"}


def read_connection(
    found: Mapping[str, Node],
    defaults: Mapping[str, Node],
    connections: Mapping[str, Connection | None],
    node: Node,
    mistakes: Mistakes,
) -> str:
    """The name of the connection, empty for a file."""
    if "file" in found and "connection" not in found:
        return ""
    given = found.get("connection", defaults.get("connection"))
    if given is None and len(connections) == 1:
        return _sound(next(iter(connections)), connections, node, mistakes)
    if given is None:
        if "file" not in found:
            said = (
                "name its 'connection'" if connections else "the policy has no 'connections'; for a file write 'file'"
            )
            mistakes.append(Mistake(place_of(node), f"it is not said where this table is: {said}."))
        return ""
    name = mistakes.attempt(text("connection"), given, "")
    if name and name not in connections:
        hint = closest(name, connections) or (f" There are: {', '.join(connections)}." if connections else "")
        mistakes.append(Mistake(place_of(given), f"there is no connection {name!r}.{hint}"))
        return name
    return _sound(name, connections, given, mistakes)


def _sound(name: str, connections: Mapping[str, Connection | None], node: Node, mistakes: Mistakes) -> str:
    """The connection's name; a connection with a mistake keeps its tables from being tested."""
    if name and connections[name] is None:
        mistakes.append(Mistake(place_of(node), f"there is a mistake in its connection {name!r}."))
    return name


def read_target(
    found: Mapping[str, Node], connection: str, node: Node, folder: Path, mistakes: Mistakes
) -> Target | None:
    """What is tested, None after a mistake."""
    kinds = [kind for kind in ("table", "file", "query") if kind in found]
    if len(kinds) != 1:
        said = f"has {' and '.join(kinds)}; keep one" if kinds else "needs a table, a file or a query"
        mistakes.append(Mistake(place_of(node), f"a table of the policy {said}."))
        return None
    kind = kinds[0]
    written = mistakes.attempt(text(kind), found[kind], "")
    if not written:
        return None
    where = mistakes.attempt(text("where"), chosen(found, "where"), "")
    if kind == "query" and where:
        mistakes.append(Mistake(place_of(found["where"]), "put the condition into the query itself."))
    if kind == "file" and connection:
        mistakes.append(Mistake(place_of(found["file"]), "a file has no connection; for a table write 'table'."))
    read = _read_options(found["read"], mistakes) if chosen(found, "read") else ReadOptions()
    if kind == "query" and "name" not in found:
        mistakes.append(Mistake(place_of(found["query"]), "a query needs a 'name', by which reports call it."))
    label = mistakes.attempt(text("name"), found.get("name"), "") or ("" if kind == "query" else written)
    if kind == "query":
        return Target(query=written, read=read, label=label)
    return Target(relation=str(folder / written) if kind == "file" else written, where=where, read=read, label=label)


def _read_options(node: Node, mistakes: Mistakes) -> ReadOptions:
    found = mistakes.section(node, "'read'", READ_KEYS)
    attempt = mistakes.attempt
    separator = attempt(lambda one: one.text("delimiter"), found.get("delimiter"), "")
    no_header: bool | None = None
    return ReadOptions(
        attempt(choice("format", FILE_FORMATS), found.get("format"), ""),
        _SPELLED.get(separator, separator),
        attempt(text("encoding"), found.get("encoding"), ""),
        attempt(_null_values, found.get("null_values"), NO_TEXTS),
        attempt(flag("all_text"), found.get("all_text"), False),
        attempt(flag("header"), found.get("header"), no_header),
        attempt(flag("hive_partitioning"), found.get("hive_partitioning"), False),
    )


def _null_values(node: Node) -> tuple[str, ...]:
    return tuple(item.text("null_values") for item in node.items("null_values"))
