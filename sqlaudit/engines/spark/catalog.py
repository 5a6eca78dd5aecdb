"""What Spark's catalog holds, for proposals and completion: there is no information_schema to ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from sqlaudit.base.names import quote
from sqlaudit.engines.spark.start import PySparkException

MOST_TABLES = 100
"""Of so many tables the columns are read in advance; each is a question to the metastore."""
_OURS = "sqlaudit_"


def tables(session: Any) -> list[tuple[str, str]]:
    """(schema, name) of the tables and views of the current catalog; temporary views have no schema."""
    found = set()
    for (schema,) in session.sql("SHOW DATABASES").collect():
        for row in session.sql("SHOW TABLES IN " + quote(schema, "spark")).collect():
            if not row["tableName"].startswith(_OURS):
                found.add(("" if row["isTemporary"] else schema, row["tableName"]))
    return sorted(found)


def columns(session: Any, listed: Sequence[tuple[str, str]], most: int) -> list[tuple[str, str, str]]:
    """(schema, table, column) of the first tables; a view that cannot be resolved is left out."""
    return list(_columns(session, listed))[:most]


def _columns(session: Any, listed: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    for schema, name in listed[:MOST_TABLES]:
        place = ".".join(quote(part, "spark") for part in (schema, name) if part)
        with suppress(PySparkException):
            for column in session.table(place).schema.names:
                yield schema, name, column
