"""Names in PostgreSQL's catalog: which relation a user means, what its columns hold, and what may be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlaudit.base.errors import EngineError, PermissionDenied, UsageError
from sqlaudit.base.names import closest, quote
from sqlaudit.base.relation import ColumnInfo, Kind
from sqlaudit.engines.postgres.errors import row_security

Ask = Callable[[str, Mapping[str, Any]], list[tuple[Any, ...]]]
"""Runs a template of the folder `postgres` with parameters."""

DIALECT = "postgres"


@dataclass(frozen=True)
class NamePart:
    """One part of a name as the user wrote it."""

    text: str
    quoted: bool


@dataclass(frozen=True)
class FoundRelation:
    """A relation of the catalog, and what this role may do with it."""

    id: int
    schema: str
    name: str
    on_search_path: bool
    has_data: bool
    schema_usable: bool
    row_security: bool
    missing_on_standby: bool

    @property
    def full_name(self) -> str:
        """Schema and name, for people."""
        return f"{self.schema}.{self.name}"

    @property
    def sql(self) -> str:
        """Schema and name, quoted."""
        return f"{quote(self.schema, DIALECT)}.{quote(self.name, DIALECT)}"


def split_name(text: str) -> list[NamePart]:
    """The parts of a dotted name; the whole text as one part when its quotes do not match.

    Example:
        >>> [part.text for part in split_name('clinic."Odd ""name"".x"')]
        ['clinic', 'Odd "name".x']
    """
    parts, rest = [], text
    while True:
        part, rest = _first_part(rest)
        if part is None or (rest and not rest.startswith(".")):
            return [NamePart(text, False)]
        parts.append(part)
        if not rest:
            return parts
        rest = rest[1:]


def _first_part(text: str) -> tuple[NamePart | None, str]:
    if not text.startswith('"'):
        name, dot, rest = text.partition(".")
        return (NamePart(name, False) if name else None), dot + rest
    end = 1
    while (end := text.find('"', end)) != -1:
        if text[end : end + 2] != '""':
            return NamePart(text[1:end].replace('""', '"'), True), text[end + 1 :]
        end += 2
    return None, ""


def find(ask: Ask, text: str, database: str) -> FoundRelation:
    """The relation a user means: the exact name first, then the same name in other letters.

    Args:
        ask: runs a query over the catalog. text: the name as written. database: the name of the current database.

    Raises:
        UsageError: there is none, it is in another database, or several are meant equally.
    """
    parts = split_name(text)
    if len(parts) == 3 and parts[0].text.casefold() == database.casefold():
        parts = parts[1:]
    if len(parts) <= 2:
        exact = _relations(ask, parts[-1].text, parts[0].text if len(parts) == 2 else None)
        if exact:
            return _chosen(exact, text, len(parts) == 2)
    whole = _relations(ask, text, None)
    if whole:
        return _chosen(whole, text, False)
    known = _relations(ask, None, None)
    folded = [found for found in known if len(parts) <= 2 and _matches(found, parts)]
    if folded:
        return _chosen(folded, text, len(parts) == 2)
    raise UsageError(f"There is no table or view {text!r} in the database {database!r}.{_hint(text, parts, known)}")


def _relations(ask: Ask, name: str | None, schema: str | None) -> list[FoundRelation]:
    return [FoundRelation(*row) for row in ask("relations.sql", {"name": name, "schema": schema})]


def home(ask: Ask, name: str) -> str | None:
    """The schema in which the role finds a relation of exactly this name, None when it finds none."""
    return next((found.schema for found in _relations(ask, name, None) if found.on_search_path), None)


def visible(ask: Ask) -> list[FoundRelation]:
    """The relations that can be named without a schema, for hints."""
    return [found for found in _relations(ask, None, None) if found.on_search_path]


def _matches(found: FoundRelation, parts: Sequence[NamePart]) -> bool:
    names = (found.schema, found.name)[-len(parts) :]
    return all(
        part.text == name if part.quoted else part.text.casefold() == name.casefold()
        for part, name in zip(parts, names, strict=True)
    )


def _chosen(candidates: Sequence[FoundRelation], text: str, qualified: bool) -> FoundRelation:
    """The one that is meant; an unqualified name means the one on the search path, as it does for PostgreSQL."""
    meant = candidates if qualified else [found for found in candidates if found.on_search_path]
    if len(meant) == 1:
        return meant[0]
    if not meant and len(candidates) == 1 and not candidates[0].schema_usable:
        return candidates[0]  # `check` says what is missing
    names = " or ".join(repr(found.full_name) for found in candidates[:5])
    if not meant:
        raise UsageError(f"No table {text!r} is on the search path; write {names}.")
    raise UsageError(f"{text!r} can mean several tables; write one of {names} exactly.")


def _hint(text: str, parts: Sequence[NamePart], known: Sequence[FoundRelation]) -> str:
    if len(parts) == 1:
        near = closest(text, [found.name for found in known if found.on_search_path])
        if near:
            return near
    return closest(text, [found.full_name for found in known])


def check(found: FoundRelation, role: str) -> None:
    """Refuse a relation that cannot be read in full.

    Raises:
        PermissionDenied: the schema is closed, or row-level security hides rows.
        EngineError: a materialized view that was never filled, or an unlogged table on a standby.
    """
    if not found.schema_usable:
        grant = f"GRANT USAGE ON SCHEMA {quote(found.schema, DIALECT)} TO {quote(role, DIALECT)}"
        raise PermissionDenied(f"The role {role!r} may not use the schema {found.schema!r} ({grant}).")
    if found.row_security:
        raise row_security(f"the table {found.full_name!r}")
    if found.missing_on_standby:
        raise EngineError(f"The table {found.full_name!r} is unlogged, so a standby does not have its rows.")
    if not found.has_data:
        raise EngineError(f"The materialized view {found.full_name!r} has no data yet (REFRESH MATERIALIZED VIEW).")


def readable_columns(ask: Ask, found: FoundRelation, role: str) -> tuple[list[str], list[str]]:
    """The columns this role may read, and those it may not.

    Raises:
        PermissionDenied: it may read none.
        UsageError: the relation has no columns.
    """
    columns = ask("columns.sql", {"id": found.id})
    readable = [name for name, may_read in columns if may_read]
    if not columns:
        raise UsageError(f"The table {found.full_name!r} has no columns.")
    if not readable:
        grant = f"GRANT SELECT ON {found.sql} TO {quote(role, DIALECT)}"
        raise PermissionDenied(f"The role {role!r} may not read {found.full_name!r} ({grant}).")
    return readable, [name for name, may_read in columns if not may_read]


@dataclass(frozen=True)
class Described:
    """A column of a result.

    Args:
        info: its name, type and kind. collatable: whether a collation says which of its values are equal.
        foreign: whether its type is of an extension, with operators of its own.
    """

    info: ColumnInfo
    collatable: bool
    foreign: bool


def describe(ask: Ask, described: Sequence[tuple[str, int, int]]) -> list[Described]:
    """Columns from what the server says about a result: name, type number, type modifier (a domain is its base)."""
    kinds = ask("types.sql", {"oids": [oid for _, oid, _ in described], "modifiers": [mod for *_, mod in described]})
    return [
        Described(
            ColumnInfo(name, written, Kind.TEXT if is_enum else _KINDS.get(type_name, Kind.OTHER)), collatable, foreign
        )
        for (name, *_), (written, type_name, is_enum, collatable, foreign) in zip(described, kinds, strict=True)
    ]


_KINDS = {
    "bool": Kind.BOOLEAN,
    **dict.fromkeys(("int2", "int4", "int8", "oid"), Kind.INTEGER),
    "numeric": Kind.DECIMAL,
    **dict.fromkeys(("float4", "float8"), Kind.FLOAT),
    **dict.fromkeys(("text", "varchar", "bpchar", "char", "name", "citext", "uuid"), Kind.TEXT),
    "date": Kind.DATE,
    **dict.fromkeys(("timestamp", "timestamptz"), Kind.TIMESTAMP),
    **dict.fromkeys(("time", "timetz"), Kind.TIME),
}
"""By the type's plain name. Arrays, ranges, JSON, money, networks, intervals and the rest are OTHER."""
