"""Files are whole or not there, and hold what was measured."""

from __future__ import annotations

import datetime as dt
import os
import uuid
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sqlaudit.base.errors import EngineError, UsageError
from sqlaudit.base.files import check_destination, discard_unfinished, replacing, write_rows, write_text
from sqlaudit.classes.failing import FailingClass, failing_batches

UTC = dt.UTC
FIRST = (1, "x", 1.5, dt.date(2020, 1, 2), Decimal("1.20"), None, True, 2**70, uuid.UUID(int=5), Fraction(1, 4))
SECOND = (2, "", float("inf"), None, Decimal("123.4"), None, None, 1, b"\xab", Fraction(2))
NAMES = ["whole", 'odd "name"', "real", "day", "money", "nothing", "flag", "large", "mixed", "share"]


def broken() -> Iterator[list[tuple[Any, ...]]]:
    """One batch, then the database goes away."""
    yield [FIRST]
    raise EngineError("The database went away.")


def test_parquet_keeps_every_value(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    assert write_rows(file, NAMES, [[FIRST], [SECOND]]) == 2
    described = duckdb.sql(f"DESCRIBE FROM '{file}'").fetchall()
    assert [(row[0], row[1]) for row in described] == [
        ("whole", "BIGINT"),
        ('odd "name"', "VARCHAR"),
        ("real", "DOUBLE"),
        ("day", "DATE"),
        ("money", "DECIMAL(5,2)"),
        ("nothing", "VARCHAR"),
        ("flag", "BOOLEAN"),
        ("large", "DECIMAL(38,0)"),
        ("mixed", "VARCHAR"),
        ("share", "DOUBLE"),
    ]
    assert duckdb.sql(f"FROM '{file}'").fetchall() == [
        (1, "x", 1.5, dt.date(2020, 1, 2), Decimal("1.20"), None, True, Decimal(2**70), str(uuid.UUID(int=5)), 0.25),
        (2, "", float("inf"), None, Decimal("123.40"), None, None, Decimal(1), "ab", 2.0),
    ]


def test_whole_decimals_have_the_type_that_engines_without_them_give(tmp_path: Path) -> None:
    """DuckDB returns 1 of a DECIMAL(9, 0) as a decimal; PostgreSQL and Spark return an int, also among fractions."""
    file = tmp_path / "a.parquet"
    whole = [(Decimal(5), Decimal("1.0"), Decimal(10**19)), (Decimal(-7), Decimal("12.50"), Decimal(1))]
    as_ints = [(5, Decimal("1.0"), 10**19), (-7, Decimal("12.50"), 1)]
    mixed = [(5, 10, Decimal(1)), (Decimal("0.25"), Decimal("2.5"), 2**64)]
    for rows, types in (
        (whole, ["BIGINT", "DECIMAL(4,2)", "DECIMAL(38,0)"]),
        (as_ints, ["BIGINT", "DECIMAL(4,2)", "DECIMAL(38,0)"]),
        (mixed, ["DECIMAL(3,2)", "DECIMAL(3,1)", "DECIMAL(38,0)"]),
    ):
        write_rows(file, ["a", "b", "c"], [rows])
        assert [row[1] for row in duckdb.sql(f"DESCRIBE FROM '{file}'").fetchall()] == types
        assert duckdb.sql(f"FROM '{file}'").fetchall() == rows


def test_parquet_keeps_times_and_strange_texts(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    moment = dt.datetime(2020, 1, 2, 3, 4, 5, 678901)
    texts = ['null\n"\u2028', "\\N", "😀", "x" * 10_000]
    write_rows(file, ["at", "text"], [[(moment, text)] for text in texts])
    assert duckdb.sql(f"FROM '{file}'").fetchall() == [(moment, text) for text in texts]


def test_no_rows(tmp_path: Path) -> None:
    for name in ("a.csv", "a.parquet"):
        assert write_rows(tmp_path / name, ["a", "b"], []) == 0
        assert duckdb.sql(f"SELECT COUNT(*) FROM '{tmp_path / name}'").fetchall() == [(0,)]


def test_csv_cannot_run_formulas(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    cells = ["=1+1", "+1", "-1", "@x", "\tx", "a=b", 'say "hi", ok', None, -5, 0.5, "two\nlines"]
    write_rows(file, ["=name"], [[(cell,)] for cell in cells])
    assert file.read_text("utf-8") == (
        '\'=name\n\'=1+1\n\'+1\n\'-1\n\'@x\n\'\tx\na=b\n"say ""hi"", ok"\n""\n-5\n0.5\n"two\nlines"\n'
    )


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text("old")
    with pytest.raises(EngineError, match="The database went away"):
        write_rows(file, NAMES, broken())
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_permissions_follow_the_umask_and_the_old_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "new.txt", "a")
        (tmp_path / "old.txt").write_text("b")
        (tmp_path / "old.txt").chmod(0o600)
        write_text(tmp_path / "old.txt", "c")
    finally:
        os.umask(before)
    assert (tmp_path / "new.txt").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "old.txt").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "old.txt").read_text() == "c"


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_what_is_no_file_is_written_to() -> None:
    write_text(Path("/dev/null"), "gone")
    assert not Path("/dev/null").is_file()


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught, replacing(tmp_path / "a.txt"):
        raise OSError(28, "No space left on device")
    assert str(caught.value) == f"'{tmp_path / 'a.txt'}' could not be written: No space left on device."
    assert list(tmp_path.iterdir()) == []


def test_destinations_are_checked_before_work(tmp_path: Path) -> None:
    check_destination(tmp_path / "a.csv", (".csv",))
    for path, reason in (
        (tmp_path, "is a folder. Name a file."),
        (tmp_path / "no" / "a.csv", "does not exist."),
        (tmp_path / "a.txt", "must end in .csv."),
    ):
        with pytest.raises(UsageError) as caught:
            check_destination(path, (".csv",) if path.suffix else ())
        assert str(caught.value).endswith(reason)


def test_unfinished_files_can_be_discarded(tmp_path: Path) -> None:
    with replacing(tmp_path / "a.txt") as temporary:
        discard_unfinished()
        assert list(tmp_path.iterdir()) == []
        temporary.write_text("again")
    assert (tmp_path / "a.txt").read_text() == "again"


def test_failing_classes_as_rows() -> None:
    one = FailingClass(1, 2, {"l": 1}, ("k=5", "l=2"), "disease", {"age": 3, "size": "S"}, 1)
    two = FailingClass(2, 2, {"l": None}, ("k=5",), "disease", {"age": None, "size": "M"}, 1)
    names, batches = failing_batches(iter([one, two]), ["age", "size"], ["l"], batch=1)
    assert names == ["age", "size", "size_", "rows", "classes", "sensitive", "failed_requirements", "l"]
    assert list(batches) == [
        [[3, "S", 1, 2, 1, "disease", "k=5, l=2", 1]],
        [[None, "M", 2, 2, 1, "disease", "k=5", None]],
    ]
    names, batches = failing_batches([])
    assert names == ["size", "rows", "classes", "sensitive", "failed_requirements"]
    assert list(batches) == []
