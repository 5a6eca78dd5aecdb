"""Queries of users: the tables and files that they name, and the names that replace these when a query runs."""

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
    """Return the names without a schema in a query, which may be files.

    Raises:
        UsageError: the text is not one SELECT, or calls a function that reads files.
    """
    return [table.name for table in named_tables(guard_query(text, DIALECT)) if not table.db]


def named_tables(root: exp.Query) -> list[exp.Table]:
    """Return the nodes of a query that name a table or a file, in the order of the text, without its CTEs.

    Raises:
        UsageError: the query calls a function that reads files.
    """
    cte_names = {cte.alias.lower() for cte in root.find_all(exp.CTE)}
    tables = list(root.find_all(exp.Table, bfs=False))
    for table in tables:
        _refuse_reader(table)
    return [t for t in tables if isinstance(t.this, exp.Identifier) and (t.db or t.name.lower() not in cte_names)]


def write_full_name(table: exp.Table, name: Name) -> None:
    """Write the full name of a table, since a view in memory looks names up elsewhere than the query."""
    full = table.copy()
    for key, part in zip(("catalog", "db", "this"), name, strict=True):
        full.set(key, exp.to_identifier(part, quoted=True))
    table.replace(full)


def replace_by_view(table: exp.Table, view: str) -> None:
    """Replace a file by the name of a view, under the same alias."""
    view_name = exp.to_table(view, dialect=DIALECT)
    table.set("db", view_name.args.get("db"))
    table.set("catalog", view_name.args.get("catalog"))
    if not table.alias:
        table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name, quoted=True)))
    table.this.replace(view_name.this)


def _refuse_reader(table: exp.Table) -> None:
    """Refuse a function that reads files with a hint. The engine would refuse it, too, but without one."""
    call = table.this
    name = call.name.lower() if isinstance(call, exp.Anonymous) else ""
    if isinstance(call, exp.ReadCSV | exp.ReadParquet) or name.startswith(_READERS):
        raise UsageError("A query reads files by name: write FROM 'file.csv' instead of calling a function for it.")


# The meaning of a session's relation outside of it: a FROM item without the session's views and database name.

_OWN = ("SELECT * FROM read_", "SELECT * FROM (SELECT /* as written */")


def lasting(sql: str, views: Mapping[str, str], catalog: str) -> str:
    """Return a FROM item that means the same in any session that has the database, or can read the files.

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
        return _written_out(sql, views, catalog)
    if body.startswith(_OWN):  # a call of ours, whose arguments no parser should touch
        return "(" + body + ")"
    return "(" + _written_out(body, views, catalog, query=True) + ")"


def _written_out(sql: str, views: Mapping[str, str], catalog: str, *, query: bool = False) -> str:
    """Return a FROM item, or a query, with the session's views written out and without the name of its database."""
    root = sqlglot.parse_one(sql if query else "SELECT * FROM " + sql, dialect=DIALECT)
    cte_names = {cte.alias for cte in root.find_all(exp.CTE)}
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
        elif not table.db and table.name.startswith("sqlaudit_frame") and table.name not in cte_names:
            raise UsageError(
                "A view cannot read a frame or a file of Arrow, Excel, SPSS, Stata or SAS. Write the release to a file."
            )
    if query:
        return root.sql(dialect=DIALECT)
    source = root.find(exp.From)
    assert source is not None
    return str(source.this.sql(dialect=DIALECT))
