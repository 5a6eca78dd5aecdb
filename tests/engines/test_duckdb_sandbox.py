"""What the engine can not reach, what it leaves behind (nothing), and what it changes (nothing)."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sqlaudit.base.errors import EngineError, Interrupted, PermissionDenied, SqlauditError, UsageError
from sqlaudit.base.files import PrivateFolder, remove_leftovers
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Limits, Target
from sqlaudit.engines import connect
from sqlaudit.engines.duckdb.engine import DuckDBEngine
from tests.engines.duckdb_helpers import SECRET, sentence, written

SLOW = "SELECT count(*) FROM range(100000) a(i), range(1000000) b(j) WHERE (i * j) % 7 = 3"


@pytest.fixture
def db(tmp_path: Path) -> str:
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT i AS id, 'SECRET' || i AS name FROM range(1000) r(i)")
        connection.execute("CREATE VIEW young AS SELECT * FROM people WHERE id < 10; CREATE SEQUENCE ids")
    return str(path)


def test_settings_when_the_first_statement_runs(tmp_path: Path) -> None:
    path = written(tmp_path / "people.csv", "a\n1\n")
    with DuckDBEngine(limits=Limits(memory="1GB", threads=1)) as engine:
        engine.open(Target(relation=path))
        found = dict(engine.run(Statement("settings", "SELECT name, value FROM duckdb_settings()")))
    wanted = {
        "access_mode": "automatic",
        "allow_community_extensions": "false",
        "allowed_paths": f"[{path}]",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "enable_external_access": "false",
        "lock_configuration": "true",
        "memory_limit": "953.6 MiB",
        "preserve_insertion_order": "false",
        "python_enable_replacements": "false",
        "temp_file_encryption": "true",
        "threads": "1",
        "TimeZone": "UTC",
    }
    assert {name: found[name] for name in wanted} == wanted
    assert found["allowed_directories"] == f"[{found['temp_directory']}/]"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM sniff_csv('/etc/passwd')",
        "SELECT * FROM parquet_schema('/etc/passwd')",
        "SELECT * FROM query('SELECT * FROM read_text(''/etc/hostname'')')",
        "SELECT * FROM read_csv('https://example.org/a.csv')",
        "COPY (SELECT 1) TO '{folder}/stolen.csv'",
        "ATTACH '{folder}/other.duckdb' AS other",
        "EXPORT DATABASE '{folder}/stolen'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET lock_configuration = false",
        "SET enable_external_access = true",
        "SET temp_directory = '{folder}'",
        "SELECT getenv('HOME')",
        "CREATE TABLE clinic.people2 AS SELECT 1 AS a",
        "INSERT INTO clinic.people VALUES (1, 'x')",
        "UPDATE clinic.people SET id = 1",
        "DROP TABLE clinic.people",
        "DROP VIEW clinic.young",
        "SELECT nextval('clinic.ids')",
    ],
)
def test_walls(db: str, sql: str) -> None:
    """Even SQL that gets past the guard reads no other file, writes nothing, and changes no setting."""
    folder = Path(db).parent
    before = contents(folder)
    with connect(db) as engine:
        engine.open(Target(relation="people"))
        with pytest.raises(SqlauditError) as caught:
            engine.run(Statement("wall", sql.replace("{folder}", str(folder))))
        sentence(caught.value)
        assert engine.run(Statement("after", "SELECT count(*) FROM clinic.people")) == [(1000,)]
    assert contents(folder) == before


def test_the_sentences_at_the_walls(db: str) -> None:
    with connect(db) as engine:
        with pytest.raises(PermissionDenied) as reading:
            engine.run(Statement("peek", "SELECT * FROM read_text('/etc/hostname')"))
        with pytest.raises(EngineError) as writing:
            engine.run(Statement("poke", "DROP TABLE clinic.people"))
        with pytest.raises(EngineError) as setting:
            engine.run(Statement("tune", "SET threads = 1"))
    assert [sentence(caught.value) for caught in (reading, writing, setting)] == [
        "The step 'peek' reads a file that is not an input. Only the named files can be read.",
        "The step 'poke' is a change, but an audit only reads.",
        "The step 'tune' is a change, but an audit only reads.",
    ]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder with its bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def catalog(path: str) -> list[tuple[object, ...]]:
    with duckdb.connect(path, read_only=True) as connection:
        return connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY ALL").fetchall()


def test_an_audited_database_is_the_same_afterwards(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After statements, an error, a cancel, an unfinished export, and kept relations."""
    folder = Path(db).parent
    monkeypatch.chdir(folder)
    before, listed = contents(folder), catalog(db)
    with connect(db) as engine:
        young = engine.open(Target(relation="young", where="id > 3"))
        kept = engine.materialize("classes", Statement("classes", "SELECT * FROM " + young.sql))
        assert engine.run(Statement("count", "SELECT count(*) FROM " + kept.sql)) == [(6,)]
        people = engine.open(Target(relation="people"))
        with pytest.raises(UsageError, match="can't convert"):
            engine.run(Statement("error", "SELECT CAST(name AS INTEGER) FROM " + people.sql))
        threading.Timer(0.2, engine.cancel).start()
        with pytest.raises(Interrupted):
            engine.run(Statement("slow", SLOW))
        next(engine.stream(Statement("export", "SELECT * FROM " + people.sql), batch=10))
    assert contents(folder) == before
    assert catalog(db) == listed


def test_files_are_the_same_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "people.csv", "a,b\n1,x\n")
    monkeypatch.chdir(tmp_path)
    before = contents(tmp_path)
    with connect() as engine:
        relation = engine.open(Target(relation="people.csv"))
        with pytest.raises(SqlauditError):
            engine.run(Statement("poke", "COPY (SELECT 1) TO '" + str(tmp_path / "other.csv") + "'"))
        assert engine.run(Statement("rows", "SELECT * FROM " + relation.sql)) == [(1, "x")]
    assert contents(tmp_path) == before
    assert Path(path).read_text() == "a,b\n1,x\n"


def test_spill_is_private_encrypted_and_gone_afterwards(tmp_path: Path) -> None:
    sql = "SELECT 'SECRET' || i || repeat('z', 60) AS name, count(*) AS n FROM range(600000) r(i) GROUP BY ALL"
    with DuckDBEngine(limits=Limits(memory="50MB", threads=1, temp_directory=str(tmp_path))) as engine:
        kept = engine.materialize("kept", Statement("groups", sql))
        (folder,) = tmp_path.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        spilled = contents(folder)
        assert sum(map(len, spilled.values())) > 1_000_000
        assert not any(SECRET.encode() in part for part in spilled.values())
        assert engine.run(Statement("count", "SELECT count(*) FROM " + kept.sql)) == [(600_000,)]
    assert list(tmp_path.iterdir()) == []


def test_leftovers_of_dead_runs_are_removed_and_of_living_ones_not(tmp_path: Path) -> None:
    with PrivateFolder("spill", str(tmp_path)) as living:
        (living.path / "block").write_text(SECRET)
        parts = living.path.name.split("-")
        dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
        gone = tmp_path / "-".join([*parts[:3], dead.stdout.decode().strip(), "abc"])
        elsewhere = tmp_path / "-".join([*parts[:2], "otherhost", dead.stdout.decode().strip(), "abc"])
        unreadable = tmp_path / "-".join([*parts[:3], "notanumber", "abc"])
        link = tmp_path / "-".join([*parts[:3], dead.stdout.decode().strip(), "link"])
        for folder in (gone, elsewhere, unreadable):
            folder.mkdir()
            (folder / "block").write_text(SECRET)
        link.symlink_to(elsewhere)
        assert remove_leftovers(tmp_path) == [gone]
        assert sorted(tmp_path.iterdir()) == sorted([living.path, elsewhere, unreadable, link])
        assert (elsewhere / "block").read_text() == SECRET
    assert not living.path.exists()


def test_a_killed_run_is_cleaned_up_by_the_next(tmp_path: Path) -> None:
    program = (
        "import os, sys; from sqlaudit.base.spec import Limits; "
        "from sqlaudit.engines.duckdb.engine import DuckDBEngine; "
        "e = DuckDBEngine(limits=Limits(temp_directory=sys.argv[1])); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False).returncode == 9
    assert len(list(tmp_path.iterdir())) == 1
    with DuckDBEngine(limits=Limits(temp_directory=str(tmp_path))):
        (left,) = tmp_path.iterdir()
        assert f"-{os.getpid()}-" in left.name
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"memory": "lots"}, "limits=Limits(memory=…) takes a size such as 4GB, not 'lots'."),
        ({"memory": "-1"}, "limits=Limits(memory=…) takes a size such as 4GB, not '-1'."),
        ({"memory": "0GB"}, "limits=Limits(memory=…) takes a size such as 4GB, not '0GB'."),
        ({"threads": 0}, "limits=Limits(threads=…) must be at least 1 and at most 1,024, not 0."),
        ({"temp_directory": "/no/such"}, "The temporary directory '/no/such' is not a folder."),
        ({"temp_directory": "/proc"}, "The temporary directory '/proc' is not writable."),
    ],
)
def test_limits_that_can_not_be_kept(limits: dict[str, Any], expected: str) -> None:
    with pytest.raises(UsageError) as caught:
        connect(None, Limits(**limits))
    assert sentence(caught.value) == expected
