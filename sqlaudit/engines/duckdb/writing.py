"""Making a view in a DuckDB file: attached for writing to an instance of its own, for one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import EngineError, UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.whereabouts import whereabouts
from sqlaudit.engines.duckdb.catalog import alias_for
from sqlaudit.engines.duckdb.driver import duckdb
from sqlaudit.engines.duckdb.errors import translate
from sqlaudit.engines.duckdb.input_errors import ErrorPlace
from sqlaudit.engines.view import View, taken

_KIND = """
SELECT 'view' FROM duckdb_views() WHERE database_name = $1 AND schema_name = $2 AND lower(view_name) = lower($3)
UNION ALL
SELECT 'table' FROM duckdb_tables() WHERE database_name = $1 AND schema_name = $2 AND lower(table_name) = lower($3)
"""

_SHADOWS = """
SELECT DISTINCT lower(own.function_name) AS name
FROM duckdb_functions() AS own
JOIN duckdb_functions() AS built_in ON lower(built_in.function_name) = lower(own.function_name)
WHERE own.database_name = $1 AND NOT own.internal AND built_in.internal
ORDER BY name
LIMIT 4
"""
"""Macros of the database that stand for built-in functions in each view of it."""


def make_view(db: str, view: View, replace: bool) -> None:
    """Make the view; see `create_view`."""
    path = Path(db).absolute()
    alias = alias_for(path)
    during = "making the view"
    try:
        with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
            connection.execute("ATTACH ? AS " + quote(alias, "duckdb"), [str(path)])
            _refuse_shadows(connection, alias, db)
            connection.execute("USE " + quote(alias, "duckdb"))
            _make(connection, alias, view, replace)
    except duckdb.IOException:
        raise EngineError(
            f"{whereabouts(db).subject} cannot be written: it is open elsewhere, or this user may not write it."
        ) from None
    except duckdb.Error as error:
        raise translate(error, ErrorPlace(during, files={str(path): whereabouts(db).label})) from None


def _make(connection: duckdb.DuckDBPyConnection, alias: str, view: View, replace: bool) -> None:
    *schema, name = view.parts()
    with_schema = schema[0] if schema else "main"
    kind = _one(connection, _KIND, [alias, with_schema, name])
    refusal = taken(view, kind, replace)
    if refusal is not None:
        raise refusal
    connection.execute("BEGIN TRANSACTION")
    with ExitStack() as on_failure:
        on_failure.callback(connection.execute, "ROLLBACK")
        if kind:
            connection.execute("DROP VIEW " + view.quoted("duckdb"))
        connection.execute(view.statement("duckdb"))
        connection.execute("COMMIT")
        on_failure.pop_all()


def _refuse_shadows(connection: duckdb.DuckDBPyConnection, alias: str, db: str) -> None:
    """A view is bound in its database again whenever it is read, so such macros would change what it shows."""
    names = [str(name) for (name,) in connection.execute(_SHADOWS, [alias]).fetchall()]
    if names:
        listed = ", ".join(map(repr, names[:3])) + (" and others" if len(names) > 3 else "")
        raise UsageError(
            f"{db!r} has macros with the names of built-in functions ({listed}), which a view in it would call: drop "
            "or rename them, or write the release to a file."
        )


def _one(connection: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[Any]) -> str:
    row = connection.execute(sql, list(parameters)).fetchone()
    return str(row[0]) if row else ""
