"""From a target to a relation: what is read, what of it this role may read, and what each column holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from sqlglot import exp

from sqlaudit.base.division import condition_remarks
from sqlaudit.base.errors import PermissionDenied, SqlauditError, UsageError
from sqlaudit.base.guard import guard_expression, guard_query, names_cte
from sqlaudit.base.names import quote
from sqlaudit.base.relation import ColumnInfo, Kind, Relation
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.base.words import about, spelled
from sqlaudit.engines.postgres import catalog
from sqlaudit.engines.postgres.connect import ServerFacts
from sqlaudit.engines.postgres.errors import NO_TABLE

DIALECT = catalog.DIALECT
Described = Sequence[tuple[str, int, int]]
Names = Callable[[str], Iterable[str]]


class Probe(Protocol):
    """Plans a SELECT, runs it without reading a row, and gives name, type number and modifier of its columns.

    `names` tells, by SQLSTATE, the known names that a hint chooses from.
    """

    def __call__(self, select: str, during: str, names: Names | None = None) -> Described: ...


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

    ask: catalog.Ask
    probe: Probe
    session: ServerFacts
    respelled: Callable[[str, Sequence[str]], Sequence[bool]]

    def open(self, target: Target) -> Relation:
        """The relation of a target; see `Engine.open` for what is raised."""
        if target.frame is not None:
            raise UsageError(f"A frame is audited without {about('db')}: it does not live in PostgreSQL.")
        if target.read != ReadOptions():
            raise UsageError(
                f"Options for reading files have no meaning on PostgreSQL; say what you mean in {spelled('query')}."
            )
        return self._open_query(target) if target.query else self._open_table(target)

    def _open_table(self, target: Target) -> Relation:
        found = catalog.find(self.ask, target.relation, self.session.database)
        catalog.check(found, self.session.role)
        readable, unreadable = catalog.readable_columns(self.ask, found, self.session.role)
        where = self._where(target, unreadable, found)
        table = exp.table_(found.name, db=found.schema, quoted=True)
        during = spelled("where") if where else f"the table {found.full_name!r}"
        columns, read = self._columns(_select(readable, table, where), during, lambda _: readable)
        plain = not (unreadable or read.changed or where)
        sql = found.sql if plain else _parenthesized(_select(readable, table, where, read))
        return Relation(
            sql,
            tuple(columns),
            target.name,
            (found.full_name,),
            unreadable=tuple(unreadable),
            remarks=condition_remarks(where, columns, DIALECT),
            respelled=read.one_each,
        )

    def _where(self, target: Target, unreadable: Sequence[str], found: catalog.FoundRelation) -> exp.Expression | None:
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
        self._qualify(query)
        where = guard_expression(target.where, DIALECT, about("where")) if target.where else None
        source = query.subquery("target")
        try:
            names = [name for name, *_ in self.probe(_sql(_star(source)), spelled("query"), self._known(query))]
        except (PermissionDenied, UsageError) as refusal:
            raise self._reason(query, refusal) from None
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            raise UsageError(f"{spelled('query')} gives several columns the name {twice[0]!r}; name each once (AS).")
        during = spelled("where" if where else "query")
        columns, read = self._columns(_select(names, source, where), during, lambda _: names)
        plain = not (read.changed or where)
        sql = _parenthesized(query) if plain else _parenthesized(_select(names, source, where, read))
        remarks = condition_remarks(where, columns, DIALECT)
        return Relation(sql, tuple(columns), target.name, tuple(tables), remarks=remarks, respelled=read.one_each)

    def _qualify(self, query: exp.Query) -> None:
        """Give each table of a query the schema in which the role would find it, since statements look nowhere."""
        for table in _tables(query):
            if not table.db:
                name = table.name if table.this.quoted else table.name.lower()
                schema = catalog.home(self.ask, name)
                if schema is not None:
                    table.set("db", exp.to_identifier(schema, quoted=True))

    def _columns(self, select: exp.Select, during: str, names: Names) -> tuple[list[ColumnInfo], _Read]:
        """The columns of a SELECT, and which of them are read otherwise than they are."""
        found = catalog.describe(self.ask, self.probe(_sql(select), during, names))
        columns = [column.info for column in found]
        unusual = [column.name for column in columns if column.kind is Kind.OTHER]
        as_text: tuple[str, ...] = ()
        if unusual and not self._can_group(select, unusual):
            as_text = tuple(name for name in unusual if not self._can_group(select, [name]))
        one_each = tuple(name for name in self._equal_otherwise(select, found) if name not in as_text)
        return [replace(c, type="text") if c.name in one_each else c for c in columns], _Read(as_text, one_each)

    def _equal_otherwise(self, select: exp.Select, found: Sequence[catalog.Described]) -> list[str]:
        """Columns whose equal values may be other texts: by a collation, or by operators of an extension."""
        asked = [column.info.name for column in found if column.collatable and not column.foreign]
        collated = dict(zip(asked, self.respelled(_sql(select), asked), strict=True)) if asked else {}
        return [column.info.name for column in found if column.foreign or collated.get(column.info.name)]

    def _can_group(self, select: exp.Select, names: Sequence[str]) -> bool:
        keys = [_column(name) for name in names]
        grouped = exp.select(*keys).from_(select.subquery("target")).group_by(*[key.copy() for key in keys])
        try:
            self.probe(_sql(grouped), "a column's equality")
        except UsageError:
            return False
        return True

    def _known(self, query: exp.Query) -> Names:
        """Names for hints about a query: tables for an unknown table, else the columns of its tables."""

        def names(code: str) -> list[str]:
            found = catalog.visible(self.ask)
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
        found = catalog.find(self.ask, name, self.session.database)
        catalog.check(found, self.session.role)
        _, unreadable = catalog.readable_columns(self.ask, found, self.session.role)
        used = {column.name for column in query.find_all(exp.Column)}
        closed = [name for name in unreadable if name in used or query.find(exp.Star)]
        if closed:
            raise _columns_denied(closed, found, self.session.role)


def _columns_denied(names: Sequence[str], found: catalog.FoundRelation, role: str) -> PermissionDenied:
    listed = ", ".join(quote(name, DIALECT) for name in names)
    grant = f"GRANT SELECT ({listed}) ON {found.sql} TO {quote(role, DIALECT)}"
    what = "column" if len(names) == 1 else "columns"
    said = ", ".join(map(repr, names))
    return PermissionDenied(f"The role {role!r} may not read the {what} {said} of {found.full_name!r} ({grant}).")


def _tables(query: exp.Query) -> list[exp.Table]:
    """The tables a query reads, without its own CTEs and functions."""
    tables = [table for table in query.find_all(exp.Table) if isinstance(table.this, exp.Identifier)]
    return [table for table in tables if table.db or not names_cte(table)]


def _column(name: str) -> exp.Column:
    return exp.column(name, quoted=True)


def _star(source: exp.Expression) -> exp.Select:
    return exp.select("*").from_(source)


def _select(
    names: Sequence[str], source: exp.Expression, where: exp.Expression | None, read: _Read | None = None
) -> exp.Select:
    columns = [_spelled(name, read or _Read()) for name in names]
    select = exp.select(*columns).from_(source.copy())
    return select.where(where.copy()) if where is not None else select


def _spelled(name: str, read: _Read) -> exp.Expr:
    column = _column(name)
    if name not in read.as_text + read.one_each:
        return column
    text: exp.Expr = exp.cast(column, "text")
    if name in read.one_each:
        collated = exp.Collate(this=text, expression=exp.to_identifier("default", quoted=True))
        text = exp.Window(this=exp.Min(this=collated), partition_by=[_column(name)])
    return exp.alias_(text, name, quoted=True)


def _sql(query: exp.Query) -> str:
    return query.sql(dialect=DIALECT, comments=False)


def _parenthesized(query: exp.Query) -> str:
    return query.subquery().sql(dialect=DIALECT, comments=False)
