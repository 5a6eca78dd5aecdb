"""Which tests are wanted: dbt's way to say it, `tag:release,patients+ owner:ethics`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import closest
from sqlaudit.base.words import about
from sqlaudit.gates.spec import TableEntry, TestSpec

METHODS = ("table", "tag", "owner", "severity", "requirement", "connection")


def select(tables: Sequence[TableEntry], wanted: Sequence[str]) -> tuple[TableEntry, ...]:
    """The tables with the tests that are wanted; tables without any are left out.

    Args:
        tables: of a policy. wanted: selections, of which a test fits one at least; in a text they are separated by
            spaces. In one selection the parts between commas must all fit. A part is a table's name (`*` stands for
            anything), with + before it for what it is derived from, and behind it for what is derived from it; or
            tag:, owner:, severity:, requirement: or connection: and a name.

    Raises:
        UsageError: an unknown method, or a selection that fits no test.

    Example:
        >>> from sqlaudit.gates.result import Place
        >>> spec = TestSpec("k=5", Place("p.yml", 3), tags=("release",))
        >>> tables = [TableEntry("patients", Place("p.yml", 2), None, tests=(spec,))]
        >>> [table.name for table in select(tables, ["tag:r*"])]
        ['patients']
    """
    unions = [union for text in wanted for union in text.split()]
    if not unions:
        return tuple(tables)
    kept: set[tuple[str, int]] = set()
    for union in unions:
        fits = _fitting(tables, union)
        if not fits:
            raise UsageError(f"{about('select')} {union!r} fits no test.{_hint(tables, union)}")
        kept |= fits
    chosen = (
        replace(table, tests=tuple(test for i, test in enumerate(table.tests) if (table.name, i) in kept))
        for table in tables
    )
    return tuple(table for table in chosen if table.tests)


def _fitting(tables: Sequence[TableEntry], union: str) -> set[tuple[str, int]]:
    parts = [part for part in union.split(",") if part]
    fits = set(_all(tables))
    for part in parts:
        fits &= _part(tables, part)
    return fits if parts else set()


def _all(tables: Sequence[TableEntry]) -> Iterator[tuple[str, int]]:
    for table in tables:
        for position, _ in enumerate(table.tests):
            yield table.name, position


def _part(tables: Sequence[TableEntry], part: str) -> set[tuple[str, int]]:
    before, bare, after = part.startswith("+"), part.strip("+"), part.endswith("+")
    method, colon, name = bare.partition(":")
    if not colon:
        method, name = "table", bare
    if method not in METHODS:
        raise UsageError(
            f"{about('select')}: there is no method {method!r}.{closest(method, METHODS)} See {', '.join(METHODS)}."
        )
    fits = {
        (table.name, position)
        for table in tables
        for position, test in enumerate(table.tests)
        if _fits(method, name, table, test)
    }
    if not (before or after):
        return fits
    names = _reached(tables, {table for table, _ in fits}, before, after)
    return {pair for pair in _all(tables) if pair in fits or pair[0] in names}


def _reached(tables: Sequence[TableEntry], named: set[str], before: bool, after: bool) -> set[str]:
    """The tables that these are derived from (before), or that are derived from these (after), at any distance."""
    parents = {table.name: table.derived_from for table in tables}
    children: dict[str, list[str]] = {}
    for name, above in parents.items():
        for parent in above:
            children.setdefault(parent, []).append(name)
    found: set[str] = set()
    for edges in ([parents] if before else []) + ([children] if after else []):
        found |= _closure(edges, named)
    return found


def _closure(edges: Mapping[str, Sequence[str]], start: set[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(start)
    while waiting:
        for name in edges.get(waiting.pop(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found


def _fits(method: str, name: str, table: TableEntry, test: TestSpec) -> bool:
    if method == "table":
        return fnmatchcase(table.name, name) or fnmatchcase(table.name.rpartition(".")[2], name)
    if method == "tag":
        return any(fnmatchcase(tag, name) for tag in (*table.tags, *test.tags))
    if method == "owner":
        return fnmatchcase(test.owner or table.owner, name)
    if method == "severity":
        return fnmatchcase(test.severity, name)
    if method == "connection":
        return fnmatchcase(table.connection, name)
    return fnmatchcase(test.requirement, name) or fnmatchcase(test.requirement.partition("=")[0], name)


def _hint(tables: Sequence[TableEntry], union: str) -> str:
    names = [table.name for table in tables]
    tags = [f"tag:{tag}" for table in tables for test in table.tests for tag in (*table.tags, *test.tags)]
    near = closest(union.strip("+"), [*names, *tags])
    return near or f" There are: {', '.join(dict.fromkeys([*names, *tags]))[:300]}."
