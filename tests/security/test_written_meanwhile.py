"""Tables that somebody writes to while they are audited: a snapshot, a lock, or a sentence; never two states mixed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import duckdb
import psycopg
import pytest

import sqlaudit
from sqlaudit.base.errors import EngineError, InputError
from sqlaudit.base.files import stamp
from sqlaudit.base.spec import Limits, Target
from sqlaudit.cli.console.workspace import Workspace
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Executed
from tests.cli.console.helpers import console
from tests.postgres_load import Loader

ROWS = "SELECT CAST(i % 7 AS INTEGER) AS age, CAST(i % 3 AS INTEGER) AS disease FROM range({rows}) AS numbers (i)"


def copied(path: Path, rows: int) -> None:
    """A file of so many rows, in the format of its ending."""
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({ROWS.format(rows=rows)}) TO '{path}'")


def asked(result: sqlaudit.AuditResult) -> tuple[object, ...]:
    """The figures of an audit."""
    assert result.classes is not None
    return result.rows, result.classes.count, result.classes.min_size, [check.level for check in result.checks]


@pytest.mark.postgres
def test_postgres_shows_the_table_as_it_was_when_the_engine_connected(
    load: Loader, lasting_postgres_url: str, postgres_admin_url: str
) -> None:
    load("busy", [(i % 7, i % 3) for i in range(210)], ["age", "disease"])
    request = {"qi": ["age"], "sensitive": "disease", "require": ["k=5", "l=2", "t=0.5"]}
    stop, written = threading.Event(), threading.Event()

    def write() -> None:
        with psycopg.connect(postgres_admin_url, autocommit=True) as connection:
            while not stop.is_set():
                connection.execute("INSERT INTO busy SELECT 100 + i, 9 FROM generate_series(1, 50) AS i")
                connection.execute("DELETE FROM busy WHERE age = 3")
                written.set()

    writer = threading.Thread(target=write)
    with connect(lasting_postgres_url) as engine:
        writer.start()
        try:
            assert written.wait(30)
            found = [asked(sqlaudit.audit("busy", db=engine, **request)) for _ in range(3)]
            disclosed = sqlaudit.disclosure_curve("busy", qi=["age"], sensitive="disease", knowledge=0, db=engine)
        finally:
            stop.set()
            writer.join()
    assert found == [(210, 7, 30, [30, 3, pytest.approx(0)])] * 3
    assert (disclosed.rows, [str(value) for value in disclosed.attributes[0].disclosure.curve]) == (210, ["1/3"])
    after = sqlaudit.audit("busy", db=lasting_postgres_url, **request)
    assert after.rows % 50 == 180 % 50  # the thirty rows of age 3 are gone, fifties have come
    assert after.rows > 210


def test_a_duckdb_file_is_locked_against_writers_of_other_processes(tmp_path: Path) -> None:
    file = tmp_path / "a.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE people AS " + ROWS.format(rows=21))
    write = [sys.executable, "-c", f"import duckdb; duckdb.connect({str(file)!r}).execute('DELETE FROM people')"]
    with connect(str(file)) as engine:
        refused = subprocess.run(write, check=False, capture_output=True, text=True)
        assert asked(sqlaudit.audit("people", qi=["age"], db=engine))[:3] == (21, 7, 3)
    assert refused.returncode == 1
    assert "lock" in refused.stderr
    assert subprocess.run(write, check=False).returncode == 0
    assert sqlaudit.audit("people", qi=["age"], db=str(file)).rows == 0


def test_a_writer_of_another_process_keeps_the_audit_out(tmp_path: Path) -> None:
    file = tmp_path / "a.duckdb"
    hold = (
        f"import duckdb\nconnection = duckdb.connect({str(file)!r})\nconnection.execute('CREATE TABLE t AS SELECT 1')\n"
        "print(1, flush=True)\ninput()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "1\n"
        with pytest.raises(EngineError, match=r"is open for writing elsewhere. Close it there, or audit a copy\.$"):
            connect(str(file))
        writer.communicate("\n")


def replaced(file: Path, other: Path) -> None:
    """Another file takes its place."""
    shutil.copy(other, file.with_suffix(".new"))
    file.with_suffix(".new").replace(file)


def overwritten(file: Path, other: Path) -> None:
    """The file gets other content."""
    file.write_bytes(other.read_bytes())


def removed(file: Path, other: Path) -> None:
    """There is none any more."""
    file.unlink()


def touched_later(file: Path, other: Path) -> None:
    """The same size, at another time."""
    facts = file.stat()
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns + 1))


@pytest.mark.parametrize("ending", ["parquet", "csv", "json"])
@pytest.mark.parametrize("change", [replaced, overwritten, removed, touched_later])
def test_a_file_that_changes_during_an_audit_ends_it(
    ending: str, change: Callable[[Path, Path], None], tmp_path: Path
) -> None:
    file, other = tmp_path / f"people.{ending}", tmp_path / f"other.{ending}"
    for path, rows in ((file, 21), (other, 42)):
        copied(path, rows)
    steps: list[str] = []

    def trace(done: Executed) -> None:
        steps.append(done.name)
        if len(steps) == 3:
            change(file, other)

    with connect(None, Limits(), Target(str(file))) as engine:
        engine.tracer = trace
        with pytest.raises(InputError) as caught:
            sqlaudit.audit(str(file), qi=["age"], sensitive="disease", db=engine)
    assert str(caught.value) == (
        f"{str(file)!r} was changed while it was read, so its figures are mixed. Try again, or audit a copy."
    )
    if change is not removed:
        assert sqlaudit.audit(str(file), qi=["age"]).rows == (21 if change is touched_later else 42)


def test_a_new_file_that_fits_a_pattern_is_not_read(tmp_path: Path) -> None:
    for number in (1, 2):
        copied(tmp_path / f"part{number}.parquet", 21)
    pattern = str(tmp_path / "part*.parquet")

    def trace(_: Executed) -> None:
        shutil.copy(tmp_path / "part1.parquet", tmp_path / "part3.parquet")

    with connect(None, Limits(), Target(pattern)) as engine:
        engine.tracer = trace
        assert asked(sqlaudit.audit(pattern, qi=["age"], db=engine))[:3] == (42, 7, 6)
    assert asked(sqlaudit.audit(pattern, qi=["age"]))[:3] == (63, 7, 9)


def test_the_console_opens_a_file_anew_for_every_statement(tmp_path: Path) -> None:
    file, other = tmp_path / "people.parquet", tmp_path / "other.parquet"
    for path, rows in ((file, 21), (other, 42)):
        copied(path, rows)
    with Workspace() as workspace:
        opened = console(workspace)
        count = f"SELECT count(*) AS n FROM '{file}';"
        assert opened.words(count) == "n -- 21 (1 row)"
        replaced(file, other)
        assert opened.words(count) == "n -- 42 (1 row)"
        rows = workspace.rows(workspace.query(f"FROM '{file}'"), None).batches
        overwritten(file, other)
        with pytest.raises(InputError, match="was changed while it was read"):
            list(rows)


def test_a_file_that_is_rewritten_in_place_with_its_time_restored_is_another_one(tmp_path: Path) -> None:
    file = tmp_path / "p.parquet"
    copied(file, 21)
    before, times = stamp(file), file.stat()
    file.write_bytes(file.read_bytes())
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    after = stamp(file)
    assert before is not None
    assert after is not None
    assert (before.inode, before.size, before.changed) == (after.inode, after.size, after.changed)
    assert before != after
