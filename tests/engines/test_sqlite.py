"""SQLite files: the same figures as from their rows in DuckDB, exact values, one state, and nothing written."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import EngineError, InputError, SqlauditError, UsageError
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Limits, Target
from sqlaudit.engines import connect
from tests.cli.runner import run

ROWS = [(20 + i % 5, "fm"[i // 5 % 2], ("flu", "gout", None)[i % 3], i / 3) for i in range(60)]
BIG = 2**63 - 1


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "clinic.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.execute('CREATE TABLE "pa tients" (age INTEGER, sex TEXT, illness TEXT, dose REAL)')
        made.executemany('INSERT INTO "pa tients" VALUES (?, ?, ?, ?)', ROWS)
        made.execute('CREATE VIEW grown AS SELECT age, sex FROM "pa tients" WHERE age > 21')
        made.commit()
    yield path
    assert sorted(file.name for file in tmp_path.iterdir() if file.name.startswith("clinic")) == ["clinic.sqlite"]


def put(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def values(path: Path, table: str) -> list[tuple[Any, ...]]:
    with connect(str(path)) as engine:
        relation = engine.open(Target(relation=table))
        return engine.run(Statement("all", "SELECT * FROM " + relation.sql))


def test_an_audit_of_a_table_is_that_of_its_rows(clinic: Path) -> None:
    before = clinic.read_bytes()
    asked: dict[str, Any] = {"qi": "age,sex", "sensitive": "illness", "require": {"k": 6, "l": 2}}
    found = sqlaudit.audit("pa tients", db="clinic.sqlite", **asked)
    assert (found.rows, found.classes.count, found.passed) == (60, 10, True)
    frame = pd.DataFrame(ROWS, columns=["age", "sex", "illness", "dose"])
    again = sqlaudit.audit(frame, **asked)
    assert [(one.model, one.level) for one in found.checks] == [(one.model, one.level) for one in again.checks]
    assert sqlaudit.audit("grown", db="clinic.sqlite", qi="age").rows == 36
    assert sqlaudit.audit(query="SELECT age // 10 AS d FROM grown", db=str(clinic), qi="d").classes.count == 1
    assert sqlaudit.audit("pa tients", db=str(clinic), where="age < 22", qi="sex").rows == 24
    assert clinic.read_bytes() == before


def test_the_commands_know_its_tables(clinic: Path) -> None:
    assert run("init", "--db", "clinic.sqlite").code == 0
    assert "duckdb: clinic.sqlite" in Path("sqlaudit.yml").read_text(encoding="utf-8")
    assert {one.table for one in sqlaudit.gate("sqlaudit.yml").tests} == {'"pa tients"', "grown"}
    shown = run("console", "--db", "clinic.sqlite", "-c", "SHOW TABLES; DESCRIBE grown;").said
    assert all(name in shown for name in ('"pa tients"', "grown", "BIGINT", "VARCHAR"))
    ran = run("audit", "--db", "clinic.sqlite", "grwn", "--qi", "age")
    assert (ran.code, ran.err) == (
        2,
        "sqlaudit: There is no table or view 'grwn' in 'clinic.sqlite'. Did you mean 'grown'?\n",
    )
    ran = run("audit", "clinic.sqlite", "--qi", "age")
    assert "'clinic.sqlite' is an SQLite database. Give it with --db, and name one of its tables or views." in ran.err
    ran = run("audit", "--db", "clinic.sqlite", "grown", "--qi", "age", "-o", "clinic.sqlite", "--format", "json")
    assert "'clinic.sqlite' is an input" in ran.err


def test_values_are_exactly_those_of_the_file(clinic: Path) -> None:
    put(
        clinic,
        "CREATE TABLE exact (whole, real, text, bytes, empty INTEGER, both)",
        f"INSERT INTO exact VALUES ({BIG}, 0.1, '00' || char(233), X'00ff', NULL, 1)",
        f"INSERT INTO exact VALUES (-{BIG}, 1e300, '', NULL, NULL, 2.5)",
    )
    assert values(clinic, "exact") == [(BIG, 0.1, "00é", b"\x00\xff", None, 1.0), (-BIG, 1e300, "", None, None, 2.5)]
    with connect(str(clinic)) as engine:
        kinds = {column.name: column.kind.value for column in engine.open(Target(relation="exact")).columns}
    assert (kinds["whole"], kinds["real"], kinds["text"], kinds["empty"]) == ("integer", "float", "text", "integer")


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ("SELECT 1 AS a UNION ALL SELECT '1'", "Column 'a' of 'odd' has values of several types"),
        ("SELECT 0.5 AS a UNION ALL SELECT 9007199254740993", "whole numbers beyond 2^53"),
        ("SELECT CAST(X'ff41' AS TEXT) AS a", "'clinic.sqlite' has a text that is not UTF-8."),
    ],
)
def test_what_has_no_one_type_is_refused(clinic: Path, cells: str, sentence: str) -> None:
    put(clinic, "CREATE TABLE odd AS " + cells)
    with pytest.raises((UsageError, InputError)) as told:
        sqlaudit.audit("odd", db="clinic.sqlite", qi="a")
    assert sentence in str(told.value)
    assert "ff41" not in str(told.value)


def test_a_file_with_a_log_is_read_without_a_trace(clinic: Path) -> None:
    put(clinic, "PRAGMA journal_mode = WAL")
    assert len(values(clinic, "grown")) == 36


def test_a_file_that_was_not_closed_is_refused_and_nothing_is_made_beside_it(clinic: Path, tmp_path: Path) -> None:
    put(clinic, "PRAGMA journal_mode = WAL")
    left = tmp_path / "left"
    left.mkdir()
    with closing(sqlite3.connect(clinic, isolation_level=None)) as writer:
        writer.execute("INSERT INTO \"pa tients\" VALUES (99, 'f', 'flu', 1)")
        for end in ("", "-wal"):
            (left / f"copy.sqlite{end}").write_bytes(Path(f"{clinic}{end}").read_bytes())
    with pytest.raises(InputError, match=r"copy\.sqlite' was not closed by the program that wrote it last"):
        connect(str(left / "copy.sqlite"))
    assert sorted(file.name for file in left.iterdir()) == ["copy.sqlite", "copy.sqlite-wal"]


@pytest.mark.parametrize("index", [None, b"", b"as it was"])
@pytest.mark.parametrize("mode", [b"\x01\x01", b"\x02\x02"])  # what the file says of a log; SQLite reads one anyhow
def test_nothing_beside_a_file_is_made_or_changed(
    clinic: Path, tmp_path: Path, mode: bytes, index: bytes | None
) -> None:
    put(clinic, "PRAGMA journal_mode = WAL")
    left = tmp_path / "left"
    left.mkdir()
    with closing(sqlite3.connect(clinic, isolation_level=None)) as writer:
        writer.execute("INSERT INTO \"pa tients\" VALUES (99, 'f', 'flu', 1)")
        content: dict[str, bytes | None] = {end: Path(f"{clinic}{end}").read_bytes() for end in ("", "-wal", "-shm")}
    whole = clinic.read_bytes()
    content[""] = whole[:18] + mode + whole[20:]
    content["-shm"] = content["-shm"] if index == b"as it was" else index
    for end, held in content.items():
        if held is not None:
            (left / f"copy.sqlite{end}").write_bytes(held)
    before = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in left.iterdir()}
    if index is None:
        with pytest.raises(InputError, match="was not closed by the program that wrote it last"):
            values(left / "copy.sqlite", "pa tients")
    else:
        assert len(values(left / "copy.sqlite", "pa tients")) == 61
    assert {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in left.iterdir()} == before


def test_a_link_to_a_file_is_the_file_with_its_log(clinic: Path, tmp_path: Path) -> None:
    put(clinic, "PRAGMA journal_mode = WAL")
    (tmp_path / "link.sqlite").symlink_to(clinic)
    with closing(sqlite3.connect(clinic, isolation_level=None)) as writer:
        writer.execute("INSERT INTO \"pa tients\" VALUES (99, 'f', 'flu', 1)")
        assert len(values(tmp_path / "link.sqlite", "pa tients")) == 61


def test_a_file_that_was_left_half_written_is_refused(clinic: Path, tmp_path: Path) -> None:
    killed = (
        "import os, sqlite3; c = sqlite3.connect('half.sqlite', isolation_level=None);"
        "c.execute('PRAGMA cache_size=1');c.execute('CREATE TABLE t (a TEXT)'); c.execute('BEGIN');"
        "c.executemany('INSERT INTO t VALUES (?)', [(str(i) * 500,) for i in range(99)]); c.execute('COMMIT');"
        "c.execute('BEGIN'); c.execute('UPDATE t SET a = 0'); os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", killed], cwd=tmp_path, check=False)
    for mode in (b"\x01\x01", b"\x02\x02"):  # also where the header already says that there is a log
        with (tmp_path / "half.sqlite").open("r+b") as file:
            file.seek(18)
            file.write(mode)
        before = sorted(file.name for file in tmp_path.iterdir())
        with pytest.raises(InputError, match=r"'half\.sqlite' is half written: 'half\.sqlite-journal' has"):
            sqlaudit.audit("t", db="half.sqlite", qi="a")
        assert sorted(file.name for file in tmp_path.iterdir()) == before


def test_texts_that_a_collation_takes_for_equal_are_refused(clinic: Path) -> None:
    put(clinic, "CREATE TABLE odd (a TEXT COLLATE NOCASE, b TEXT)", "INSERT INTO odd VALUES ('HIV', 'x'), ('hiv', 'X')")
    put(clinic, "CREATE VIEW one_way AS SELECT LOWER(a) AS a, b FROM odd", "CREATE VIEW same AS SELECT a FROM odd")
    for table in ("odd", "same"):
        with pytest.raises(UsageError, match=f"Column 'a' of '{table}' has texts that its collation treats as equal"):
            sqlaudit.audit(table, db="clinic.sqlite", qi="a")
    assert sorted(values(clinic, "one_way")) == [("hiv", "X"), ("hiv", "x")]
    put(clinic, "DELETE FROM odd WHERE b = 'x'")
    assert values(clinic, "odd") == [("hiv", "X")]


def test_what_is_written_meanwhile_is_not_seen(clinic: Path) -> None:
    put(clinic, "PRAGMA journal_mode = WAL")
    with closing(sqlite3.connect(clinic, isolation_level=None)) as writer:
        writer.execute("INSERT INTO \"pa tients\" VALUES (99, 'f', 'flu', 1)")
        with connect(str(clinic)) as engine:
            writer.execute("INSERT INTO \"pa tients\" VALUES (99, 'f', 'flu', 1)")
            relation = engine.open(Target(relation="pa tients"))
            assert engine.run(Statement("rows", "SELECT COUNT(*) FROM " + relation.sql)) == [(61,)]


def test_damage_and_locks_are_told(clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlaudit.engines.duckdb.sqlite.PATIENCE", 0.1)
    with closing(sqlite3.connect(clinic, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(EngineError, match="is being written by another program"):
            values(clinic, "grown")
    whole = clinic.read_bytes()
    Path("broken.sqlite").write_bytes(whole[:100] + b"\xff" * (len(whole) - 100))
    with pytest.raises(InputError, match=r"'broken\.sqlite' is damaged"):
        connect("broken.sqlite")


def test_a_time_limit_ends_the_reading(clinic: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    put(clinic, "CREATE VIEW endless AS " + endless)
    with pytest.raises(SqlauditError, match="The time limit"):
        sqlaudit.audit("endless", db="clinic.sqlite", qi="i", limits=Limits(timeout=0.3))


def test_sqlalchemy_says_where_the_file_is(clinic: Path) -> None:
    from sqlaudit.engines import place_of

    url = SimpleNamespace(get_backend_name=lambda: "sqlite", database="clinic.sqlite")
    engine = type("Engine", (), {"__module__": "sqlalchemy.engine", "url": url})()
    assert place_of(engine).text == "clinic.sqlite"
