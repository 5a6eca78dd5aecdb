"""Making a view in a DuckDB file: attached for writing to an instance of its own, for one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from sqlaudit.engines.duckdb_catalog import alias_for
from sqlaudit.engines.duckdb_errors import Place, translate
from sqlaudit.engines.writing import View, taken
from sqlaudit.errors import EngineError
from sqlaudit.guard import quote
from sqlaudit.whereabouts import whereabouts

_KIND = """
SELECT 'view' FROM duckdb_views() WHERE database_name = $1 AND schema_name = $2 AND lower(view_name) = lower($3)
UNION ALL
SELECT 'table' FROM duckdb_tables() WHERE database_name = $1 AND schema_name = $2 AND lower(table_name) = lower($3)
"""


def make_view(db: str, view: View, replace: bool) -> None:
    """Make the view; see `create_view`."""
    path = Path(db).absolute()
    alias = alias_for(path)
    during = "making the view"
    try:
        with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
            connection.execute("ATTACH ? AS " + quote(alias, "duckdb"), [str(path)])
            connection.execute("USE " + quote(alias, "duckdb"))
            _make(connection, alias, view, replace)
    except duckdb.IOException:
        raise EngineError(
            f"{whereabouts(db).subject} cannot be written: it is open elsewhere, or this user may not write it."
        ) from None
    except duckdb.Error as error:
        raise translate(error, Place(during, files={str(path): whereabouts(db).label})) from None


def _make(connection: duckdb.DuckDBPyConnection, alias: str, view: View, replace: bool) -> None:
    *schema, name = view.parts()
    with_schema = schema[0] if schema else "main"
    kind = _one(connection, _KIND, [alias, with_schema, name])
    refusal = taken(view, kind, replace)
    if refusal is not None:
        raise refusal
    connection.execute("BEGIN TRANSACTION")
    try:
        if kind:
            connection.execute("DROP VIEW " + view.quoted("duckdb"))
        connection.execute(view.statement("duckdb"))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _one(connection: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[Any]) -> str:
    row = connection.execute(sql, list(parameters)).fetchone()
    return str(row[0]) if row else ""
