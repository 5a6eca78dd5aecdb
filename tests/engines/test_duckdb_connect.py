"""Which engine follows from `--db`."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Target
from sqlaudit.engines import _is_postgres, connect
from tests.engines.duckdb_helpers import sentence


@pytest.mark.parametrize(
    ("db", "postgres"),
    [
        ("postgresql://auditor@host/db", True),
        ("postgres://host/db?sslmode=require", True),
        ("postgresql://", True),
        ("service=clinic", True),
        ("host=localhost dbname=clinic", True),
        ("host = localhost", True),
        ("dbname='a=b://c'", True),
        ("clinic.duckdb", False),
        ("folder/clinic.db", False),
        ("mysql://host/db?a=b", False),
        ("my-file=1.duckdb", False),
    ],
)
def test_what_is_postgresql(db: str, postgres: bool) -> None:
    assert _is_postgres(db) == postgres


@pytest.mark.parametrize("name", ["clinic.duckdb", "clinic.db", "clinic", "a=b.duckdb"])
def test_a_file_that_exists_is_duckdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    with duckdb.connect(name) as connection:
        connection.execute("CREATE TABLE p AS SELECT 1 AS a")
    with connect(name) as engine:
        assert (engine.name, engine.open(Target(relation="p")).columns[0].name) == ("DuckDB", "a")


@pytest.mark.parametrize(
    ("db", "expected"),
    [
        (
            "mysql://me:secret@host/db",
            "db is a MySQL database, which sqlaudit does not connect to. Write the checks as SQL with `sqlaudit "
            "compile`, or run a policy through an ADBC driver: `sqlaudit test` with adbc:…",
        ),
        ("nope.duckdb", "There is no database file 'nope.duckdb'."),
        (":memory:", "There is no database file ':memory:'."),
    ],
)
def test_what_is_no_database(db: str, expected: str) -> None:
    with pytest.raises(UsageError) as caught:
        connect(db)
    assert sentence(caught.value) == expected


def test_without_a_database_it_is_duckdb() -> None:
    with connect() as engine:
        assert engine.name == "DuckDB"
