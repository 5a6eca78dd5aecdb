"""Queries of users: which tables and files one names, and what stands in their place when it runs."""

from __future__ import annotations

from collections.abc import Mapping

import sqlglot
from sqlglot import exp

from sqlaudit.base.errors import UsageError
from sqlaudit.base.guard import guard_query
from sqlaudit.engines.duckdb.catalog import Name

DIALECT = "duckdb"
_READERS = ("read_", "parquet_", "sniff_", "glob")


def files_named(text: str) -> list[str]:
    """What a query may mean by files: the names without a schema.

    Raises:
        UsageError: it is not one SELECT, or calls a function that reads files by itself.
    """
    return [table.name for table in named_tables(guard_query(text, DIALECT)) if not table.db]


def named_tables(root: exp.Query) -> list[exp.Table]:
    """The places in a query that name a table or a file, in the order of the text; not its own CTEs.

    Raises:
        UsageError: a function that reads files by itself.
    """
    own = {cte.alias.lower() for cte in root.find_all(exp.CTE)}
    tables = list(root.find_all(exp.Table, bfs=False))
    for table in tables:
        _refuse_reader(table)
    return [t for t in tables if isinstance(t.this, exp.Identifier) and (t.db or t.name.lower() not in own)]


def put_in_full(table: exp.Table, known: Name) -> None:
    """Write the full name of a table: a view in memory does not look where the query would."""
    full = table.copy()
    for key, part in zip(("catalog", "db", "this"), known, strict=True):
        full.set(key, exp.to_identifier(part, quoted=True))
    table.replace(full)


def put_view(table: exp.Table, view: str) -> None:
    """Write the name of a view in the place of a file (under the same alias)."""
    found = exp.to_table(view, dialect=DIALECT)
    table.set("db", found.args.get("db"))
    table.set("catalog", found.args.get("catalog"))
    if not table.alias:
        table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name, quoted=True)))
    table.this.replace(found.this)


def _refuse_reader(table: exp.Table) -> None:
    """The engine's wall refuses these too; here it is said what to write instead."""
    call = table.this
    name = call.name.lower() if isinstance(call, exp.Anonymous) else ""
    if isinstance(call, exp.ReadCSV | exp.ReadParquet) or name.startswith(_READERS):
        raise UsageError("A query reads files by name: write FROM 'file.csv' instead of calling a function for it.")


# What a relation of a session means outside of it: a FROM item without the session's views and its name of a file.

_OWN = ("SELECT * FROM read_", "SELECT * FROM (SELECT /* as written */")


def lasting(sql: str, views: Mapping[str, str], catalog: str) -> str:
    """A FROM item that means the same in any session that has the database, or can read the files.

    Args:
        sql: the relation's FROM item. views: the session's views and the SELECT behind each.
        catalog: the name under which the session has attached the database, empty without one.

    Raises:
        UsageError: the relation is a frame, which lives in Python alone.

    Example:
        >>> lasting('"clinic"."main"."people"', {}, "clinic")
        '"main"."people"'
        >>> lasting('"input"."people"', {'"input"."people"': "SELECT * FROM read_csv('people.csv')"}, "")
        "(SELECT * FROM read_csv('people.csv'))"
    """
    body = views.get(sql)
    if body is None:
        return _spelled(sql, views, catalog)
    if body.startswith(_OWN):  # a call of ours, whose arguments no parser should touch
        return "(" + body + ")"
    return "(" + _spelled(body, views, catalog, query=True) + ")"


def _spelled(sql: str, views: Mapping[str, str], catalog: str, *, query: bool = False) -> str:
    root = sqlglot.parse_one(sql if query else "SELECT * FROM " + sql, dialect=DIALECT)
    own = {cte.alias for cte in root.find_all(exp.CTE)}
    for table in list(root.find_all(exp.Table)):
        name = exp.Table(this=table.this, db=table.args.get("db"), catalog=table.args.get("catalog"))
        inner = views.get(name.sql(dialect=DIALECT))
        if inner is not None:
            alias = table.alias or table.name
            table.set("this", exp.Var(this=lasting(name.sql(dialect=DIALECT), views, catalog)))
            table.set("db", None)
            table.set("catalog", None)
            table.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
        elif table.catalog == catalog and catalog:
            table.set("catalog", None)
        elif not table.db and table.name.startswith("sqlaudit_frame") and table.name not in own:
            raise UsageError(
                "A view cannot read a frame or a file of Arrow, Excel, SPSS, Stata or SAS. Write the release to a file."
            )
    if query:
        return root.sql(dialect=DIALECT)
    source = root.find(exp.From)
    assert source is not None
    return str(source.this.sql(dialect=DIALECT))
