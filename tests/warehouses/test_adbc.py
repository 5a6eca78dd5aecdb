"""A policy asked over ADBC of four databases says what a run on DuckDB says, and nothing is written.

pip install -r tests/warehouses/requirements.txt, as .ci/run does.
"""

from __future__ import annotations

import datetime
import json
import shutil
import sqlite3
from pathlib import Path

import duckdb
import psycopg
import pytest

import sqlaudit
from sqlaudit.base.errors import EngineError, Incomplete, UsageError
from sqlaudit.base.spec import Limits
from sqlaudit.engines.adbc import AdbcReader, adbc_place
from tests.gates.standalone.answering import alike
from tests.gates.standalone.random_policies import KINDS, Cells, _created, random_policy, unclear
from tests.warehouses.flight import serving

SEEDS = range(3)
KIND = ("sqlite", "duckdb", "postgresql", "flightsql")


def in_sqlite(file: Path, rows: Cells) -> str:
    """The table in an SQLite file; dates are texts there."""
    connection = sqlite3.connect(file)
    connection.execute(_created("sqlite", KINDS))
    texts = [[one.isoformat() if isinstance(one, datetime.date) else one for one in row] for row in rows]
    connection.executemany(f"INSERT INTO visits VALUES ({', '.join('?' for _ in KINDS)})", texts)
    connection.commit()
    connection.close()
    return f"adbc:sqlite:///{file}"


def in_postgres(admin: str, reader: str, rows: Cells) -> str:
    """The table in PostgreSQL, readable by the auditor."""
    with psycopg.connect(admin) as connection:
        connection.execute("DROP TABLE IF EXISTS visits CASCADE")
        connection.execute(_created("postgres", KINDS))
        connection.cursor().executemany(f"INSERT INTO visits VALUES ({', '.join('%s' for _ in KINDS)})", rows)
        connection.execute("GRANT SELECT ON visits TO PUBLIC")
    return f"adbc:{reader}"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KIND)
def test_a_database_says_what_a_run_says(
    kind: str, seed: int, tmp_path: Path, postgres_url: str, postgres_admin_url: str
) -> None:
    made = random_policy(seed, tmp_path)
    expected = sqlaudit.gate(made.path)
    copy = shutil.copy(tmp_path / "odd.duckdb", tmp_path / "copy.duckdb")
    if kind == "flightsql":
        with serving(Path(copy)) as server:
            db = f"adbc:flightsql:grpc://127.0.0.1:{server.port}"
            alike(expected, sqlaudit.gate(made.path, db=db, dialect="duckdb"))
        assert server.asked
        assert all(text.startswith(("WITH", "SELECT")) for text in server.asked)
        return
    db = {
        "sqlite": lambda: in_sqlite(tmp_path / "odd.sqlite", made.rows),
        "duckdb": lambda: f"adbc:duckdb:{copy}",
        "postgresql": lambda: in_postgres(postgres_admin_url, postgres_url, made.rows),
    }[kind]()
    alike(expected, sqlaudit.gate(made.path, db=db))


@pytest.mark.parametrize("values", [None, "fold", "exact"])
@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "postgresql"])
@pytest.mark.parametrize("seed", SEEDS)
def test_names_of_several_spellings(
    seed: int, kind: str, values: str | None, tmp_path: Path, postgres_url: str, postgres_admin_url: str
) -> None:
    made = random_policy(seed, tmp_path, values)
    copy = shutil.copy(tmp_path / "odd.duckdb", tmp_path / "copy.duckdb")
    db = {
        "sqlite": lambda: in_sqlite(tmp_path / "odd.sqlite", made.rows),
        "duckdb": lambda: f"adbc:duckdb:{copy}",
        "postgresql": lambda: in_postgres(postgres_admin_url, postgres_url, made.rows),
    }[kind]()
    dialect = "postgres" if kind == "postgresql" else kind
    alike(sqlaudit.gate(made.plain), sqlaudit.gate(made.path, db=db), unclear(made.rows, dialect, values))


def opened(kind: str, folder: Path, admin: str) -> str:
    """A database with one table, over a role that may write."""
    row = [(1, "x", datetime.date(2020, 1, 1), 1, "flu", 1)]
    if kind == "sqlite":
        return in_sqlite(folder / "x.sqlite", row)
    if kind == "duckdb":
        duckdb.connect(str(folder / "x.duckdb")).execute(_created("duckdb", KINDS)).close()
        return f"adbc:duckdb:///{folder / 'x.duckdb'}"
    return in_postgres(admin, admin, row)


WRITES = {
    "sqlite": ["PRAGMA query_only = 0", "PRAGMA user_version = 3"],
    "duckdb": [
        "SELECT * FROM read_text('/etc/hostname')",
        "ATTACH '/tmp/nowhere.db'",
        "SET enable_external_access = true",
    ],
    "postgresql": ["SELECT set_config('transaction_read_only', 'off', true)", "SET TRANSACTION READ WRITE"],
}


@pytest.mark.parametrize("kind", WRITES)
def test_nothing_can_be_written(kind: str, tmp_path: Path, postgres_admin_url: str) -> None:
    """Whatever a view or a query of a policy might do: the database itself refuses."""
    db = opened(kind, tmp_path, postgres_admin_url)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with AdbcReader(adbc_place(db), Limits(timeout=60)) as reader:
        every = [
            "INSERT INTO visits (a) VALUES (1)",
            "CREATE TABLE other (a INT)",
            "DROP TABLE visits",
            "DELETE FROM visits",
        ]
        for sql in [*every, *WRITES[kind], *every]:
            if sql == "PRAGMA query_only = 0":  # is taken; the file itself was opened read-only
                reader.rows(sql)
                continue
            with pytest.raises(EngineError) as error:
                reader.rows(sql)
            assert "visits" not in str(error.value)
        (row,) = reader.rows("SELECT COUNT(*) AS n FROM visits")
        assert row["n"] == (0 if kind == "duckdb" else 1)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_file_that_cannot_be_read_without_a_trace_is_refused(tmp_path: Path) -> None:
    db = in_sqlite(tmp_path / "log.sqlite", [])
    connection = sqlite3.connect(tmp_path / "log.sqlite")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    with pytest.raises(UsageError, match="this file has a write-ahead log"):
        sqlaudit.gate(policy(tmp_path, "visits"), db=db)
    assert {path.name for path in tmp_path.iterdir()} == {"log.sqlite", "policy.yml"}


def policy(folder: Path, *tables: str) -> Path:
    path = folder / "policy.yml"
    entries = [{"table": name, "quasi_identifiers": ["a"], "requirements": ["k=1"]} for name in tables]
    for entry in entries:
        entry["connection"] = "main"
    written = {"version": "1", "connections": {"main": {"env": "NOT_SET"}}, "tables": entries}
    path.write_text(json.dumps(written), encoding="utf-8")
    return path


def test_a_statement_that_fails_is_an_error_of_its_test_alone(tmp_path: Path, postgres_admin_url: str) -> None:
    for kind in WRITES:
        result = sqlaudit.gate(policy(tmp_path, "nowhere", "visits"), db=opened(kind, tmp_path, postgres_admin_url))
        outcomes = [test.outcome.value for test in result.tests]
        assert outcomes == ["error", "undetermined" if kind == "duckdb" else "pass"], result.tests
        assert "no column or table 'nowhere'" in result.tests[0].message
        assert "over the ADBC driver" in result.tests[0].message
        assert len(result.notes) == 1
        assert "read-only" in result.notes[0] or "READ ONLY" in result.notes[0]


def test_a_column_that_is_not_there_is_named(tmp_path: Path, postgres_admin_url: str) -> None:
    path = policy(tmp_path, "visits")
    written = json.loads(path.read_text(encoding="utf-8"))
    written["tables"][0]["quasi_identifiers"] = ["zap"]
    path.write_text(json.dumps(written), encoding="utf-8")
    for kind in WRITES:
        result = sqlaudit.gate(path, db=opened(kind, tmp_path, postgres_admin_url))
        assert result.tests[0].outcome.value == "error"
        assert "'zap'" in result.tests[0].message, result.tests


def test_rows_that_a_role_may_not_see_are_no_half_table(
    tmp_path: Path, postgres_admin_url: str, postgres_url: str
) -> None:
    db = opened("postgresql", tmp_path, postgres_admin_url)
    with psycopg.connect(postgres_admin_url) as connection:
        connection.execute("ALTER TABLE visits ENABLE ROW LEVEL SECURITY")
        connection.execute("CREATE POLICY everybody ON visits USING (a > 5)")
    (test,) = sqlaudit.gate(policy(tmp_path, "visits"), db=f"adbc:{postgres_url}").tests
    assert test.outcome.value == "error"
    (test,) = sqlaudit.gate(policy(tmp_path, "visits"), db=db).tests  # whoever owns the table sees all of it
    assert test.outcome.value == "pass"


@pytest.mark.parametrize("kind", WRITES)
def test_the_time_limit_ends_a_statement(kind: str, tmp_path: Path, postgres_admin_url: str) -> None:
    numbers = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) SELECT MAX(i) FROM n"
    )
    place = adbc_place(opened(kind, tmp_path, postgres_admin_url))
    late = pytest.raises(Incomplete, match=r"^The time limit of 1\.5 seconds was reached\.$")
    with AdbcReader(place, Limits(timeout=1.5)) as reader, late:
        reader.rows(numbers)


def test_no_password_is_told(tmp_path: Path) -> None:
    db = "adbc:postgresql://somebody:hush@127.0.0.1:1/db"
    with pytest.raises(EngineError) as error:
        sqlaudit.gate(policy(tmp_path, "visits"), db=db)
    assert str(error.value).startswith("The database could not be reached (OperationalError, over the ADBC driver")
    assert "hush" not in repr(adbc_place(db))


def test_an_empty_table_passes_nothing(tmp_path: Path) -> None:
    made = in_sqlite(tmp_path / "empty.sqlite", [])
    (test,) = sqlaudit.gate(policy(tmp_path, "visits"), db=made).tests
    assert test.outcome.value == "undetermined"
