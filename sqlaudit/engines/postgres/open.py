"""From a target to a relation: what is read, what of it this role may read, and what each column holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sqlglot import exp

from sqlaudit.base.errors import EngineError, PermissionDenied, SqlauditError, UsageError
from sqlaudit.base.guard import condition_remarks, guard_expression, guard_query, names_cte, refuse_random_views
from sqlaudit.base.names import closest, name_parts, quote
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import ColumnInfo, Kind, Relation
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.engines.postgres.connect import ServerFacts
from sqlaudit.engines.postgres.errors import NO_TABLE, row_security

# Names in PostgreSQL's catalog: which relation a user means, what its columns hold, and what may be read.

Ask = Callable[[str, Mapping[str, Any]], list[tuple[Any, ...]]]
"""Runs a template of the folder `postgres` with parameters."""

DIALECT = "postgres"


class NamePart(NamedTuple):
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
    return [NamePart(*part) for part in name_parts(text) or [(text, False)]]


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
    near = closest(text, [found.name for found in known if found.on_search_path]) if len(parts) == 1 else ""
    near = near or closest(text, [found.full_name for found in known])
    raise UsageError(f"There is no table or view {text!r} in the database {database!r}.{near}")


def _relations(ask: Ask, name: str | None, schema: str | None) -> list[FoundRelation]:
    return [FoundRelation(*row) for row in ask("relations.sql", {"name": name, "schema": schema})]


def _visible(ask: Ask, name: str | None = None) -> list[FoundRelation]:
    """The relations, of exactly this name or all, that can be named without a schema."""
    return [found for found in _relations(ask, name, None) if found.on_search_path]


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
        raise UsageError(f"No table {text!r} is on the search path. Write {names}.")
    raise UsageError(f"{text!r} may be several tables. Write one of {names} exactly.")


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
    **dict.fromkeys(("int2", "int4", "int8"), Kind.INTEGER),
    "numeric": Kind.DECIMAL,
    **dict.fromkeys(("float4", "float8"), Kind.FLOAT),
    **dict.fromkeys(("text", "varchar", "bpchar", "char", "name", "citext", "uuid"), Kind.TEXT),
    "date": Kind.DATE,
    **dict.fromkeys(("timestamp", "timestamptz"), Kind.TIMESTAMP),
    **dict.fromkeys(("time", "timetz"), Kind.TIME),
}
"""By the type's plain name. Arrays, ranges, JSON, money, networks, intervals and the rest are OTHER."""


Names = Callable[[str], Iterable[str]]
Fields = Sequence[tuple[str, int, int]]
"""Name, type number and modifier of each column."""


Probe = Callable[..., Fields]
"""`probe(select, during, names)` plans a SELECT, runs it without reading a row, and gives its columns. By SQLSTATE,
`names` gives the known names that a hint chooses from."""


@dataclass(frozen=True)
class _Read:
    """Columns that are read otherwise than they are.

    Args:
        as_text: those without equality, by their texts.
        one_each: those that are equal in other ways than their texts, by one text for all values that are equal. So all
            that follows (joins, dictionaries, DuckDB beside the server) finds equal what the database does, and no
            operator is looked up outside of pg_catalog.
    """

    as_text: tuple[str, ...] = ()
    one_each: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        return bool(self.as_text or self.one_each)


@dataclass(frozen=True)
class PostgresOpener:
    """Opens targets on one connection.

    Args:
        ask: runs a query over the catalog. probe: plans a SELECT. session: the role and the database.
        respelled: says which columns of a SELECT have a nondeterministic collation.
    """

    ask: Ask
    probe: Probe
    session: ServerFacts
    respelled: Callable[[str, Sequence[str]], Sequence[bool]]

    def open(self, target: Target) -> Relation:
        """The relation of a target; see `Engine.open` for what is raised."""
        if target.frame is not None:
            raise UsageError(f"A frame cannot be audited in PostgreSQL: leave out {about('db')}.")
        if target.read != ReadOptions():
            raise UsageError(f"Options for reading files do not apply to PostgreSQL. Use {spelled('query')}.")
        return self._open_query(target) if target.query else self._open_table(target)

    def _open_table(self, target: Target) -> Relation:
        found = find(self.ask, target.relation, self.session.database)
        check(found, self.session.role)
        self._refuse_random([found.name])
        readable, unreadable = readable_columns(self.ask, found, self.session.role)
        where = self._where(target, unreadable, found)
        table = exp.table_(found.name, db=found.schema, quoted=True)
        during = spelled("where") if where else f"the table {found.full_name!r}"
        columns, read = self._columns(_select(readable, table, where), during, lambda _: readable)
        changed = unreadable or read.changed or where
        sql = _parenthesized(_select(readable, table, where, read)) if changed else found.sql
        return Relation(
            sql,
            tuple(columns),
            target.name,
            (found.full_name,),
            unreadable=tuple(unreadable),
            remarks=condition_remarks(where, columns, DIALECT),
            respelled=read.one_each,
        )

    def _where(self, target: Target, unreadable: Sequence[str], found: FoundRelation) -> exp.Expression | None:
        if not target.where:
            return None
        where = guard_expression(target.where, DIALECT, about("where"))
        closed = sorted({column.name for column in where.find_all(exp.Column)} & set(unreadable))
        if closed:
            raise _columns_denied(closed, found, self.session.role)
        return where

    def _open_query(self, target: Target) -> Relation:
        query = guard_query(target.query, DIALECT)
        tables = dict.fromkeys(".".join(part.name for part in table.parts) for table in _tables(query))
        self._refuse_random([table.name for table in _tables(query)])
        self._qualify(query)
        where = guard_expression(target.where, DIALECT, about("where")) if target.where else None
        source = query.subquery("target")
        try:
            fields = self.probe(_sql(exp.select("*").from_(source)), spelled("query"), self._known(query))
        except (PermissionDenied, UsageError) as refusal:
            raise self._reason(query, refusal) from None
        names = [name for name, *_ in fields]
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            raise UsageError(f"{spelled('query')} has several columns named {twice[0]!r}. Give each its own name (AS).")
        during = spelled("where" if where else "query")
        columns, read = self._columns(_select(names, source, where), during, lambda _: names)
        sql = _parenthesized(_select(names, source, where, read) if read.changed or where else query)
        remarks = condition_remarks(where, columns, DIALECT)
        return Relation(sql, tuple(columns), target.name, tuple(tables), remarks=remarks, respelled=read.one_each)

    def _refuse_random(self, names: Sequence[str]) -> None:
        """Refuse views that give other rows each time they are read."""
        views = {name.lower(): text for name, text in self.ask("views.sql", {"names": list(names)})}
        refuse_random_views(names, views, DIALECT)

    def _qualify(self, query: exp.Query) -> None:
        """Give each table of a query the schema in which the role would find it, since statements look nowhere."""
        for table in _tables(query):
            name = table.name if table.this.quoted else table.name.lower()
            if not table.db and (found := _visible(self.ask, name)):
                table.set("db", exp.to_identifier(found[0].schema, quoted=True))

    def _columns(self, select: exp.Select, during: str, names: Names) -> tuple[list[ColumnInfo], _Read]:
        """The columns of a SELECT, and which of them are read otherwise than they are."""
        found = describe(self.ask, self.probe(_sql(select), during, names))
        columns = [column.info for column in found]
        unusual = [column.name for column in columns if column.kind is Kind.OTHER]
        as_text: tuple[str, ...] = ()
        if unusual and not self._can_group(select, unusual):
            as_text = tuple(name for name in unusual if not self._can_group(select, [name]))
        one_each = tuple(name for name in self._equal_otherwise(select, found) if name not in as_text)
        return [replace(c, type="text") if c.name in one_each else c for c in columns], _Read(as_text, one_each)

    def _equal_otherwise(self, select: exp.Select, found: Sequence[Described]) -> list[str]:
        """Columns whose equal values may be other texts: by a collation, or by operators of an extension."""
        asked = [column.info.name for column in found if column.collatable and not column.foreign]
        collated = dict(zip(asked, self.respelled(_sql(select), asked), strict=True)) if asked else {}
        return [column.info.name for column in found if column.foreign or collated.get(column.info.name)]

    def _can_group(self, select: exp.Select, names: Sequence[str]) -> bool:
        keys = [exp.column(name, quoted=True) for name in names]
        grouped = exp.select(*keys).from_(select.subquery("target")).group_by(*[key.copy() for key in keys])
        try:
            self.probe(_sql(grouped), "a column's equality")
        except UsageError:
            return False
        return True

    def _known(self, query: exp.Query) -> Names:
        """Names for hints about a query: tables for an unknown table, else the columns of its tables."""

        def names(code: str) -> list[str]:
            found = _visible(self.ask)
            if code == NO_TABLE:
                return [relation.name for relation in found]
            used = {table.name.casefold() for table in _tables(query)}
            read = [relation for relation in found if relation.name.casefold() in used]
            return [name for relation in read for name, _ in self.ask("columns.sql", {"id": relation.id})]

        return names

    def _reason(self, query: exp.Query, refusal: SqlauditError) -> SqlauditError:
        """A better reason why a query was refused, if one of its tables has one."""
        if not isinstance(refusal, PermissionDenied):
            return refusal
        try:
            for table in _tables(query):
                self._check_table(table, query)
        except PermissionDenied as reason:
            return reason
        except UsageError:  # a name that only the query itself defines
            return refusal
        return refusal

    def _check_table(self, table: exp.Table, query: exp.Query) -> None:
        name = ".".join(quote(part.name, DIALECT) for part in table.parts)
        found = find(self.ask, name, self.session.database)
        check(found, self.session.role)
        _, unreadable = readable_columns(self.ask, found, self.session.role)
        used = {column.name for column in query.find_all(exp.Column)}
        closed = [name for name in unreadable if name in used or query.find(exp.Star)]
        if closed:
            raise _columns_denied(closed, found, self.session.role)


def _columns_denied(names: Sequence[str], found: FoundRelation, role: str) -> PermissionDenied:
    listed = ", ".join(quote(name, DIALECT) for name in names)
    grant = f"GRANT SELECT ({listed}) ON {found.sql} TO {quote(role, DIALECT)}"
    what = "column" if len(names) == 1 else "columns"
    said = ", ".join(map(repr, names))
    return PermissionDenied(f"The role {role!r} may not read the {what} {said} of {found.full_name!r} ({grant}).")


def _tables(query: exp.Query) -> list[exp.Table]:
    """The tables a query reads, without its own CTEs and functions."""
    tables = [table for table in query.find_all(exp.Table) if isinstance(table.this, exp.Identifier)]
    return [table for table in tables if table.db or not names_cte(table)]


def _select(
    names: Sequence[str], source: exp.Expression, where: exp.Expression | None, read: _Read | None = None
) -> exp.Select:
    columns = [_spelled(name, read or _Read()) for name in names]
    select = exp.select(*columns).from_(source.copy())
    return select.where(where.copy()) if where is not None else select


def _spelled(name: str, read: _Read) -> exp.Expr:
    column = exp.column(name, quoted=True)
    if name not in read.as_text + read.one_each:
        return column
    text: exp.Expr = exp.cast(column, "text")
    if name in read.one_each:
        collated = exp.Collate(this=text, expression=exp.to_identifier("default", quoted=True))
        text = exp.Window(this=exp.Min(this=collated), partition_by=[exp.column(name, quoted=True)])
    return exp.alias_(text, name, quoted=True)


def _sql(query: exp.Query) -> str:
    return query.sql(dialect=DIALECT, comments=False)


def _parenthesized(query: exp.Query) -> str:
    return query.subquery().sql(dialect=DIALECT, comments=False)
