"""Opening targets in PostgreSQL: the relation, the columns that this role may read, and their types."""

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

# Names in PostgreSQL's catalog: the relation that a user means, the types of its columns, and what may be read.

Ask = Callable[[str, Mapping[str, Any]], list[tuple[Any, ...]]]
"""A function that runs a template of the folder `postgres` with parameters."""

DIALECT = "postgres"


class NamePart(NamedTuple):
    """One part of a name as the user wrote it."""

    text: str
    quoted: bool


@dataclass(frozen=True)
class CatalogRelation:
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
    """Return the parts of a dotted name; the whole text as one part if its quotes do not match.

    Example:
        >>> [part.text for part in split_name('clinic."Odd ""name"".x"')]
        ['clinic', 'Odd "name".x']
    """
    return [NamePart(*part) for part in name_parts(text) or [(text, False)]]


def find_relation(ask: Ask, text: str, database: str) -> CatalogRelation:
    """Return the relation that a user means: the exact name first, then the same name in upper or lower case.

    Args:
        ask: runs a query over the catalog. text: the name as written. database: the name of the current database.

    Raises:
        UsageError: there is none, it is in another database, or the name fits several equally well.
    """
    parts = split_name(text)
    if len(parts) == 3 and parts[0].text.casefold() == database.casefold():
        parts = parts[1:]
    if len(parts) <= 2:
        exact = _relations(ask, parts[-1].text, parts[0].text if len(parts) == 2 else None)
        if exact:
            return _choose(exact, text, len(parts) == 2)
    named_as_a_whole = _relations(ask, text, None)
    if named_as_a_whole:
        return _choose(named_as_a_whole, text, False)
    known_relations = _relations(ask, None, None)
    folded = [relation for relation in known_relations if len(parts) <= 2 and _matches(relation, parts)]
    if folded:
        return _choose(folded, text, len(parts) == 2)
    on_path = [relation.name for relation in known_relations if relation.on_search_path]
    near = closest(text, on_path) if len(parts) == 1 else ""
    near = near or closest(text, [relation.full_name for relation in known_relations])
    raise UsageError(f"There is no table or view {text!r} in the database {database!r}.{near}")


def _relations(ask: Ask, name: str | None, schema: str | None) -> list[CatalogRelation]:
    """Return the relations of the catalog with exactly this name and schema; None = any."""
    return [CatalogRelation(*row) for row in ask("relations.sql", {"name": name, "schema": schema})]


def _visible(ask: Ask, name: str | None = None) -> list[CatalogRelation]:
    """Return the relations of exactly this name, or all, that can be named without a schema."""
    return [relation for relation in _relations(ask, name, None) if relation.on_search_path]


def _matches(relation: CatalogRelation, parts: Sequence[NamePart]) -> bool:
    """Return True if a relation has a name of these parts; unquoted parts match in upper or lower case."""
    names = (relation.schema, relation.name)[-len(parts) :]
    return all(
        part.text == name if part.quoted else part.text.casefold() == name.casefold()
        for part, name in zip(parts, names, strict=True)
    )


def _choose(candidates: Sequence[CatalogRelation], text: str, qualified: bool) -> CatalogRelation:
    """Return the candidate that is meant. An unqualified name means the one on the search path, as for PostgreSQL."""
    meant = candidates if qualified else [relation for relation in candidates if relation.on_search_path]
    if len(meant) == 1:
        return meant[0]
    if not meant and len(candidates) == 1 and not candidates[0].schema_usable:
        return candidates[0]  # `refuse_unreadable` reports what is missing
    names = " or ".join(repr(relation.full_name) for relation in candidates[:5])
    if not meant:
        raise UsageError(f"No table {text!r} is on the search path. Write {names}.")
    raise UsageError(f"{text!r} may be several tables. Write one of {names} exactly.")


def refuse_unreadable(relation: CatalogRelation, role: str) -> None:
    """Refuse a relation that cannot be read in full.

    Raises:
        PermissionDenied: the schema is closed, or row-level security hides rows.
        EngineError: a materialized view that was never filled, or an unlogged table on a standby.
    """
    if not relation.schema_usable:
        grant = f"GRANT USAGE ON SCHEMA {quote(relation.schema, DIALECT)} TO {quote(role, DIALECT)}"
        raise PermissionDenied(f"The role {role!r} may not use the schema {relation.schema!r} ({grant}).")
    if relation.row_security:
        raise row_security(f"the table {relation.full_name!r}")
    if relation.missing_on_standby:
        raise EngineError(f"The table {relation.full_name!r} is unlogged, so a standby does not have its rows.")
    if not relation.has_data:
        raise EngineError(f"The materialized view {relation.full_name!r} has no data yet (REFRESH MATERIALIZED VIEW).")


def readable_columns(ask: Ask, relation: CatalogRelation, role: str) -> tuple[list[str], list[str]]:
    """Return the columns that this role may read, and those that it may not.

    Raises:
        PermissionDenied: it may read no column.
        UsageError: the relation has no columns.
    """
    columns = ask("columns.sql", {"id": relation.id})
    readable = [name for name, may_read in columns if may_read]
    if not columns:
        raise UsageError(f"The table {relation.full_name!r} has no columns.")
    if not readable:
        grant = f"GRANT SELECT ON {relation.sql} TO {quote(role, DIALECT)}"
        raise PermissionDenied(f"The role {role!r} may not read {relation.full_name!r} ({grant}).")
    return readable, [name for name, may_read in columns if not may_read]


@dataclass(frozen=True)
class DescribedColumn:
    """A column of a result.

    Args:
        info: its name, type and kind. collatable: True if a collation decides which of its values are equal.
        foreign: True if its type is of an extension, with operators of its own.
    """

    info: ColumnInfo
    collatable: bool
    foreign: bool


def describe(ask: Ask, fields: Sequence[tuple[str, int, int]]) -> list[DescribedColumn]:
    """Return columns from the fields of a result: name, type number, type modifier (a domain is its base)."""
    kinds = ask("types.sql", {"oids": [oid for _, oid, _ in fields], "modifiers": [mod for *_, mod in fields]})
    return [
        DescribedColumn(
            ColumnInfo(name, spelling, Kind.TEXT if is_enum else _KINDS.get(type_name, Kind.OTHER)), collatable, foreign
        )
        for (name, *_), (spelling, type_name, is_enum, collatable, foreign) in zip(fields, kinds, strict=True)
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
"""Kinds by the type's plain name. Arrays, ranges, JSON, money, networks, intervals and the rest are OTHER."""


Names = Callable[[str], Iterable[str]]
Fields = Sequence[tuple[str, int, int]]
"""Name, type number and modifier of each column."""


Probe = Callable[..., Fields]
"""`probe(select, during, names)` plans a SELECT, runs it without reading a row, and returns its columns. By SQLSTATE,
`names` returns the names from which a hint is taken."""


@dataclass(frozen=True)
class _TextColumns:
    """Columns that are read in another form than their own.

    Args:
        as_text: columns without equality, which are read as their texts.
        one_each: columns whose equal values may have several texts, which are read as one text per value. So all later
            steps (joins, dictionaries, DuckDB beside the server) treat the same values as equal as the database does,
            and no operator is looked up outside of pg_catalog.
    """

    as_text: tuple[str, ...] = ()
    one_each: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        return bool(self.as_text or self.one_each)


@dataclass(frozen=True)
class PostgresOpener:
    """Opener of targets on one connection.

    Args:
        ask: runs a query over the catalog. probe: plans a SELECT. session: the role and the database.
        respelled: returns which columns of a SELECT have a nondeterministic collation.
    """

    ask: Ask
    probe: Probe
    session: ServerFacts
    respelled: Callable[[str, Sequence[str]], Sequence[bool]]

    def open(self, target: Target) -> Relation:
        """Return the relation of a target; `Engine.open` lists what is raised."""
        if target.frame is not None:
            raise UsageError(f"A frame cannot be audited in PostgreSQL: leave out {about('db')}.")
        if target.read_as(()) != ReadOptions():
            raise UsageError(f"Options for reading files do not apply to PostgreSQL. Use {spelled('query')}.")
        return self._open_query(target) if target.query else self._open_table(target)

    def _open_table(self, target: Target) -> Relation:
        """Return the relation of a table or view, as a SELECT of its readable columns if needed."""
        relation = find_relation(self.ask, target.relation, self.session.database)
        refuse_unreadable(relation, self.session.role)
        self._refuse_random([relation.name])
        readable, unreadable = readable_columns(self.ask, relation, self.session.role)
        where = self._condition(target, unreadable, relation)
        table = exp.table_(relation.name, db=relation.schema, quoted=True)
        during = spelled("where") if where else f"the table {relation.full_name!r}"
        columns, text_columns = self._columns(_select(readable, table, where), during, lambda _: readable)
        changed = unreadable or text_columns.changed or where
        sql = _parenthesized(_select(readable, table, where, text_columns)) if changed else relation.sql
        return Relation(
            sql,
            tuple(columns),
            target.name,
            (relation.full_name,),
            unreadable=tuple(unreadable),
            remarks=condition_remarks(where, columns, DIALECT),
            respelled=text_columns.one_each,
        )

    def _condition(self, target: Target, unreadable: Sequence[str], relation: CatalogRelation) -> exp.Expression | None:
        """Return the condition of a target; raise PermissionDenied if it reads a column that the role may not."""
        if not target.where:
            return None
        where = guard_expression(target.where, DIALECT, about("where"))
        closed = sorted({column.name for column in where.find_all(exp.Column)} & set(unreadable))
        if closed:
            raise _columns_denied(closed, relation, self.session.role)
        return where

    def _open_query(self, target: Target) -> Relation:
        """Return the relation of a query, with the schemas of its tables written out."""
        query = guard_query(target.query, DIALECT)
        tables = dict.fromkeys(".".join(part.name for part in table.parts) for table in _tables(query))
        self._refuse_random([table.name for table in _tables(query)])
        self._qualify(query)
        where = guard_expression(target.where, DIALECT, about("where")) if target.where else None
        source = query.subquery("target")
        try:
            fields = self.probe(_sql(exp.select("*").from_(source)), spelled("query"), self._names_for_hints(query))
        except (PermissionDenied, UsageError) as refusal:
            raise self._reason(query, refusal) from None
        names = [name for name, *_ in fields]
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            raise UsageError(f"{spelled('query')} has several columns named {twice[0]!r}. Give each its own name (AS).")
        during = spelled("where" if where else "query")
        columns, as_text = self._columns(_select(names, source, where), during, lambda _: names)
        sql = _parenthesized(_select(names, source, where, as_text) if as_text.changed or where else query)
        remarks = condition_remarks(where, columns, DIALECT)
        return Relation(sql, tuple(columns), target.name, tuple(tables), remarks=remarks, respelled=as_text.one_each)

    def _refuse_random(self, names: Sequence[str]) -> None:
        """Refuse views that give other rows each time they are read."""
        views = {name.lower(): text for name, text in self.ask("views.sql", {"names": list(names)})}
        refuse_random_views(names, views, DIALECT)

    def _qualify(self, query: exp.Query) -> None:
        """Write the schema of each table of a query, as the role would find it: statements have no search path."""
        for table in _tables(query):
            name = table.name if table.this.quoted else table.name.lower()
            if not table.db and (visible := _visible(self.ask, name)):
                table.set("db", exp.to_identifier(visible[0].schema, quoted=True))

    def _columns(self, select: exp.Select, during: str, names: Names) -> tuple[list[ColumnInfo], _TextColumns]:
        """Return the columns of a SELECT, and which of them are read as text."""
        described = describe(self.ask, self.probe(_sql(select), during, names))
        columns = [column.info for column in described]
        unusual = [column.name for column in columns if column.kind is Kind.OTHER]
        as_text: tuple[str, ...] = ()
        if unusual and not self._can_group(select, unusual):
            as_text = tuple(name for name in unusual if not self._can_group(select, [name]))
        one_each = tuple(name for name in self._columns_equal_otherwise(select, described) if name not in as_text)
        return [replace(c, type="text") if c.name in one_each else c for c in columns], _TextColumns(as_text, one_each)

    def _columns_equal_otherwise(self, select: exp.Select, described: Sequence[DescribedColumn]) -> list[str]:
        """Return the columns whose equal values may have other texts: by a collation, or operators of an extension."""
        collatable = [column.info.name for column in described if column.collatable and not column.foreign]
        collated = dict(zip(collatable, self.respelled(_sql(select), collatable), strict=True)) if collatable else {}
        return [column.info.name for column in described if column.foreign or collated.get(column.info.name)]

    def _can_group(self, select: exp.Select, names: Sequence[str]) -> bool:
        """Return True if all these columns have an equality, so that rows can be grouped by them."""
        keys = [exp.column(name, quoted=True) for name in names]
        grouped = exp.select(*keys).from_(select.subquery("target")).group_by(*[key.copy() for key in keys])
        try:
            self.probe(_sql(grouped), "a column's equality")
        except UsageError:
            return False
        return True

    def _names_for_hints(self, query: exp.Query) -> Names:
        """Return a function from a SQLSTATE to the names for a hint: tables, or the columns of the query's tables."""

        def names(code: str) -> list[str]:
            visible = _visible(self.ask)
            if code == NO_TABLE:
                return [relation.name for relation in visible]
            used = {table.name.casefold() for table in _tables(query)}
            read = [relation for relation in visible if relation.name.casefold() in used]
            return [name for relation in read for name, _ in self.ask("columns.sql", {"id": relation.id})]

        return names

    def _reason(self, query: exp.Query, refusal: SqlauditError) -> SqlauditError:
        """Return a better reason why a query was refused, if one of its tables has one."""
        if not isinstance(refusal, PermissionDenied):
            return refusal
        try:
            for table in _tables(query):
                self._check_table(table, query)
        except PermissionDenied as reason:
            return reason
        except UsageError:  # the name is defined in the query itself
            return refusal
        return refusal

    def _check_table(self, table: exp.Table, query: exp.Query) -> None:
        """Raise PermissionDenied if the role may not read the table, or the columns of it that a query names."""
        name = ".".join(quote(part.name, DIALECT) for part in table.parts)
        relation = find_relation(self.ask, name, self.session.database)
        refuse_unreadable(relation, self.session.role)
        _, unreadable = readable_columns(self.ask, relation, self.session.role)
        used = {column.name for column in query.find_all(exp.Column)}
        closed = [name for name in unreadable if name in used or query.find(exp.Star)]
        if closed:
            raise _columns_denied(closed, relation, self.session.role)


def _columns_denied(names: Sequence[str], relation: CatalogRelation, role: str) -> PermissionDenied:
    """Return the error for columns that the role may not read, with the GRANT that would allow it."""
    quoted_names = ", ".join(quote(name, DIALECT) for name in names)
    grant = f"GRANT SELECT ({quoted_names}) ON {relation.sql} TO {quote(role, DIALECT)}"
    noun = "column" if len(names) == 1 else "columns"
    listing = ", ".join(map(repr, names))
    return PermissionDenied(f"The role {role!r} may not read the {noun} {listing} of {relation.full_name!r} ({grant}).")


def _tables(query: exp.Query) -> list[exp.Table]:
    """Return the tables that a query reads, without its own CTEs and functions."""
    tables = [table for table in query.find_all(exp.Table) if isinstance(table.this, exp.Identifier)]
    return [table for table in tables if table.db or not names_cte(table)]


def _select(
    names: Sequence[str], source: exp.Expression, where: exp.Expression | None, text_columns: _TextColumns | None = None
) -> exp.Select:
    """Return a SELECT of columns, some of them as text, with a condition."""
    columns = [_select_column(name, text_columns or _TextColumns()) for name in names]
    select = exp.select(*columns).from_(source.copy())
    return select.where(where.copy()) if where is not None else select


def _select_column(name: str, text_columns: _TextColumns) -> exp.Expr:
    """Return a column of a SELECT as it is read: as it is, or as text."""
    column = exp.column(name, quoted=True)
    if name not in text_columns.as_text + text_columns.one_each:
        return column
    text: exp.Expr = exp.cast(column, "text")
    if name in text_columns.one_each:
        collated = exp.Collate(this=text, expression=exp.to_identifier("default", quoted=True))
        text = exp.Window(this=exp.Min(this=collated), partition_by=[exp.column(name, quoted=True)])
    return exp.alias_(text, name, quoted=True)


def _sql(query: exp.Query) -> str:
    return query.sql(dialect=DIALECT, comments=False)


def _parenthesized(query: exp.Query) -> str:
    return query.subquery().sql(dialect=DIALECT, comments=False)
