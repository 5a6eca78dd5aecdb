"""Columns of a DuckDB database whose collation takes texts for equal that are written differently (`COLLATE NOCASE`).

DuckDB tells the collation of no column of a SELECT, so values are looked at, and only where the database or the query
speaks of collations at all. As on PostgreSQL such a column is read with one text for all values that it finds equal:
then everything that follows finds equal what the column does.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlaudit.base.names import quote
from sqlaudit.base.relation import Row
from sqlaudit.base.sql import Raw, expression
from sqlaudit.engines.duckdb.session import DIALECT, DuckDBSession


def respelled(session: DuckDBSession, source: str, described: Sequence[Row], step: str) -> tuple[str, ...]:
    """The columns of text with values that are equal and written differently.

    Args:
        source: a FROM item. described: its columns, as DESCRIBE has them. step: what is being done.
    """
    names = [row[0] for row in described if row[1] == "VARCHAR"]
    if not names:
        return ()
    columns = [quote(name, DIALECT) for name in names]
    statement = expression("engines/duckdb/read_respelled.sql", DIALECT, source=Raw(source), columns=columns)
    found = session.fetch(statement, step)[0]
    return tuple(name for name, differ in zip(names, found, strict=True) if differ)


def with_one_text(names: Sequence[str]) -> str:
    """What is selected where these columns are read with the smallest of equal texts.

    Example:
        >>> with_one_text(["town"])
        '* REPLACE (min("town" COLLATE "binary") OVER (PARTITION BY "town") AS "town")'
    """
    if not names:
        return "*"
    quoted = [quote(name, DIALECT) for name in names]
    each = (f'min({one} COLLATE "binary") OVER (PARTITION BY {one}) AS {one}' for one in quoted)
    return f"* REPLACE ({', '.join(each)})"
