"""What a relation of a session means outside of it: a FROM item without the session's views and its name of a file."""

from __future__ import annotations

from collections.abc import Mapping

import sqlglot
from sqlglot import exp

from sqlaudit.base.errors import UsageError

DIALECT = "duckdb"
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
                "A frame or an Arrow file is read through Python, so no view can read it; write the release to a file."
            )
    if query:
        return root.sql(dialect=DIALECT)
    source = root.find(exp.From)
    assert source is not None
    return str(source.this.sql(dialect=DIALECT))
