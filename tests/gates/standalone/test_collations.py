"""Collations that fold case, in databases that the tests have; `tests/warehouses` has MariaDB's own."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

import duckdb
import pytest

from sqlaudit.gates.standalone.names import DIALECTS, by_letters
from tests.engines.test_postgres_equality import make_folded
from tests.gates.standalone.collations import refuses_what_is_folded
from tests.postgres_load import Loader

_FOLDS = "COLLATE NOCASE"
Fill = Callable[[Sequence[tuple[str, str]]], Callable[[str], Any]]


def test_sqlite() -> None:
    connection = sqlite3.connect(":memory:")
    refuses_what_is_folded(_filled(connection), "sqlite")


def test_duckdb() -> None:
    refuses_what_is_folded(_filled(duckdb.connect()), "duckdb")


@pytest.mark.postgres
def test_postgres(load: Loader) -> None:
    make_folded(load)

    def fill(rows: Sequence[tuple[str, str]]) -> Callable[[str], Any]:
        load.execute("DROP TABLE IF EXISTS pg_temp.people; CREATE TEMPORARY TABLE people (name folded, ill folded)")
        load.connection.cursor().executemany("INSERT INTO people VALUES (%s, %s)", rows)
        return lambda sql: load.connection.execute(sql).fetchone()

    try:
        refuses_what_is_folded(fill, "postgres")
    finally:
        load.execute("DROP TABLE IF EXISTS pg_temp.people")


@pytest.mark.spark
def test_spark() -> None:
    from tests.warehouses.servers import spark

    with spark() as session:

        def fill(rows: Sequence[tuple[str, str]]) -> Callable[[str], Any]:
            schema = "name STRING COLLATE UTF8_LCASE, ill STRING COLLATE UTF8_LCASE"
            session.createDataFrame(rows, schema).createOrReplaceTempView("people")
            return lambda sql: tuple(session.sql(sql).collect()[0])

        refuses_what_is_folded(fill, "spark")


def test_a_dialect_spells_the_letters_of_a_value_or_has_no_such_collation() -> None:
    assert {name for name in DIALECTS if not by_letters("x", name)} == {"clickhouse", "presto", "trino"}


def _filled(connection: Any) -> Fill:
    def fill(rows: Sequence[tuple[str, str]]) -> Callable[[str], Any]:
        connection.execute("DROP TABLE IF EXISTS people")
        connection.execute(f"CREATE TEMPORARY TABLE people (name TEXT {_FOLDS}, ill TEXT {_FOLDS})")
        connection.executemany("INSERT INTO people VALUES (?, ?)", rows)
        return lambda sql: connection.execute(sql).fetchone()

    return fill
