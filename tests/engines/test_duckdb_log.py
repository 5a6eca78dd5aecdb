"""A write-ahead log beside a database file: all of it is replayed, or the database is refused."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from sqlaudit.base.errors import InputError
from sqlaudit.base.spec import Target
from sqlaudit.engines.duckdb.session import refuse_unread_log
from tests.engines.duckdb_helpers import error_of, read, since_2

_PROGRAM = """
import duckdb, os, sys
c = duckdb.connect(sys.argv[1])
c.execute("SET wal_autocheckpoint = '1TB'")
c.execute("CREATE TABLE p (a INTEGER)")
c.execute("CHECKPOINT")
for i in range(int(sys.argv[2])):
    c.execute("INSERT INTO p VALUES (?)", [i])
os._exit(0)
"""
_ADVICE = (
    "so rows may be missing. Open the database once with DuckDB for writing and run CHECKPOINT, or audit a complete "
    "copy."
)
_HEAD, _FRAME = b"\x64\x00\x62", 16


def crashed(path: Path, rows: int = 11) -> Path:
    """A database whose rows are in its log alone, since its writer was killed."""
    subprocess.run([sys.executable, "-c", _PROGRAM, str(path), str(rows)], check=True)
    return path


def _log(path: Path) -> Path:
    before, mark, after = path.name.partition("?")
    return path.with_name(before + ".wal" + mark + after)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return crashed(tmp_path_factory.mktemp("log") / "clinic.duckdb")


@pytest.fixture
def copied(original: Path, tmp_path: Path) -> Path:
    for path in (original, _log(original)):
        shutil.copy(path, tmp_path)
    return tmp_path / original.name


@since_2
@pytest.mark.parametrize("name", ["clinic.duckdb", "a b.duckdb", "a#b.duckdb", "a%41.duckdb", "a?b.duckdb", "a?b=c"])
def test_a_whole_log_is_replayed_whatever_the_file_is_called(original: Path, tmp_path: Path, name: str) -> None:
    shutil.copy(original, tmp_path / name)
    shutil.copy(_log(original), _log(tmp_path / name))
    assert sorted(read(Target(relation="p"), str(tmp_path / name))[1]) == [(i,) for i in range(11)]


@since_2
def test_a_log_is_found_through_a_link(original: Path, tmp_path: Path) -> None:
    link = tmp_path / "linked.duckdb"
    link.symlink_to(original)
    relation, rows = read(Target(relation="p"), str(link))
    assert (relation.sql, len(rows)) == ('"linked"."main"."p"', 11)


@since_2
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda log: log[:-3], "was cut off or is damaged"),
        (lambda log: log[:-30], "was cut off or is damaged"),
        (lambda log: log + b"garbage", "was cut off or is damaged"),
        (lambda log: log + bytes(64), "was cut off or is damaged"),
        (lambda log: log[: -_FRAME - 5], "ends within a transaction"),
    ],
)
def test_a_log_that_is_not_replayed_to_its_end(copied: Path, change: Callable[[bytes], bytes], reason: str) -> None:
    log = _log(copied)
    log.write_bytes(change(log.read_bytes()))
    expected = f"The write-ahead log of {str(copied)!r} {reason}, {_ADVICE}"
    assert error_of(InputError, Target(relation="p"), str(copied)) == expected


def test_every_cut_of_a_log_is_refused_or_loses_nothing(copied: Path) -> None:
    """What passes holds whole transactions: as many rows as commits are left in the log."""
    log, whole = _log(copied), _log(copied).read_bytes()
    passed = []
    for end in range(40, len(whole), 7):
        log.write_bytes(whole[:end])
        try:
            refuse_unread_log(copied, "clinic")  # before DuckDB is asked, which takes longer
            read(Target(relation="p"), str(copied))
        except InputError:
            continue
        passed.append(end)
    commits = {at + 5 for at in range(len(whole)) if whole[at : at + 5] == b"\x64\x00\x64\xff\xff"}
    assert len(commits) == 11
    assert set(passed) <= {whole.index(b"\xff\xff") + 2, *commits}  # a cut there cannot be told from a shorter log


@pytest.mark.parametrize("turned", [5, 607])
def test_a_log_with_a_wrong_checksum(copied: Path, turned: int) -> None:
    log = bytearray(_log(copied).read_bytes())
    log[-turned] ^= 1
    _log(copied).write_bytes(log)
    assert error_of(InputError, Target(relation="p"), str(copied)) == _refused_by_duckdb(copied)


@since_2
def test_a_log_of_another_database(copied: Path, tmp_path: Path) -> None:
    other = crashed(tmp_path / "other.duckdb", 3)
    shutil.copy(_log(other), _log(copied))
    assert error_of(InputError, Target(relation="p"), str(copied)) == _refused_by_duckdb(copied)


@since_2
def test_a_log_of_an_older_state(copied: Path) -> None:
    log = _log(copied).read_bytes()
    for value in (50, 51):
        with duckdb.connect(str(copied)) as connection:
            connection.execute("INSERT INTO p VALUES (?)", [value])
            connection.execute("CHECKPOINT")
    _log(copied).write_bytes(log)
    assert error_of(InputError, Target(relation="p"), str(copied)) == _refused_by_duckdb(copied)


def _refused_by_duckdb(path: Path) -> str:
    return (
        f"The write-ahead log beside {str(path)!r} is damaged, or belongs to another database or to another state of "
        "it: put back the right one, or audit a complete copy."
    )


@pytest.mark.parametrize("name", ["a?b.duckdb.wal", "a.wal.checkpoint?b.duckdb", "a.wal.recovery?b.duckdb"])
def test_a_log_that_duckdb_does_not_look_for(original: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / "a?b.duckdb"
    shutil.copy(original, path)
    shutil.copy(_log(original), tmp_path / name)
    expected = f"The write-ahead log of {str(path)!r} is not read ({name!r}), {_ADVICE}"
    assert error_of(InputError, Target(relation="p"), str(path)) == expected


def test_an_empty_log_is_no_log(copied: Path) -> None:
    _log(copied).write_bytes(b"")
    assert read(Target(relation="p"), str(copied))[1] == []


def test_a_log_that_does_not_say_whose_it_is(copied: Path) -> None:
    log = _log(copied)
    whole = log.read_bytes()
    assert whole.startswith(_HEAD)
    log.write_bytes(b"\x64\x00\x62\x65\x00\x02\xff\xff" + whole[whole.index(b"\xff\xff") + 2 :])
    message = error_of(InputError, Target(relation="p"), str(copied))
    assert "write-ahead log" in message
