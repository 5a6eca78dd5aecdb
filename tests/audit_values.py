"""Small tables as queries: the same rows on every engine, without creating anything in it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import sqlglot

TYPES = {
    "int": "BIGINT",
    "text": "TEXT",
    "float": "DOUBLE PRECISION",
    "bool": "BOOLEAN",
    "date": "DATE",
    "decimal": "DECIMAL(20, 4)",
}


def values_query(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> str:
    """A SELECT that returns the rows; `columns` gives name to kind (a key of TYPES).

    Example:
        >>> values_query([{"a": 1}], {"a": "int"})
        'SELECT CAST(x0 AS BIGINT) AS "a" FROM (VALUES (\\'1\\')) AS given(x0)'
    """
    names = list(columns)
    lines = [[_text(row[name]) for name in names] for row in rows] or [["NULL"] * len(names)]
    casts = (f"CAST(x{i} AS {TYPES[columns[n]]}) AS " + '"' + n.replace('"', '""') + '"' for i, n in enumerate(names))
    given = ", ".join(f"x{i}" for i in range(len(names)))
    listed = ", ".join("(" + ", ".join(line) + ")" for line in lines)
    empty = "" if rows else " WHERE 1 = 0"
    return "SELECT " + ", ".join(casts) + f" FROM (VALUES {listed}) AS given({given})" + empty


ROW, CELL, NOTHING = "¶", "¦", "∅"
"""What `long_query` puts between rows, between cells, and for a missing value."""


def long_query(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> str:
    """As `values_query`, for some forty rows and more: one text, read in a moment where lists of cells are not.

    Spark has no such functions, and a cell that holds a mark cannot be told from two: these get the list.

    Example:
        >>> long_query([{"a": 1}, {"a": 2}], {"a": "int"})[:48]
        'SELECT CAST(nullif(r[2], \'∅\') AS BIGINT) AS "a" '
    """
    cells = [[NOTHING if row[name] is None else str(row[name]) for name in columns] for row in rows]
    marked = any(mark in str(value) for row in rows for value in row.values() for mark in (ROW, CELL, NOTHING))
    if marked or not rows or "spark" in os.environ.get("SQLAUDIT_ENGINES", ""):
        return values_query(rows, columns)
    casts = (
        f"CAST(nullif(r[{place}], '{NOTHING}') AS {TYPES[kind]}) AS " + '"' + name.replace('"', '""') + '"'
        for place, (name, kind) in enumerate(columns.items(), start=2)
    )
    text = ROW.join(CELL.join(["", *line]) for line in cells).replace("'", "''")  # no row is without any text
    split = f"string_to_array(unnest(string_to_array('{text}', '{ROW}')), '{CELL}')"
    return "SELECT " + ", ".join(casts) + f" FROM (SELECT {split} AS r) AS given"


def spelled(text: str, dialect: str) -> str:
    """The SQL of a test for a statement of its own: Spark alone reads what DuckDB and PostgreSQL read otherwise.

    Example:
        >>> spelled('SELECT CAST("v" AS VARCHAR)', "spark")
        'SELECT CAST(`v` AS STRING)'
    """
    return sqlglot.transpile(text, read="duckdb", write="spark")[0] if dialect == "spark" else text


def _text(value: Any) -> str:
    return "NULL" if value is None else "'" + str(value).replace("'", "''") + "'"
