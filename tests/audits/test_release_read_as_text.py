"""A release in CSV whose texts read as equal numbers: its reader is told how to read the groups that were audited."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlaudit
from tests.cli.runner import run

ROLES: dict[str, Any] = {"qi": ["code", "age"], "require": ["k=2"]}
WRITERS: list[Callable[..., Any]] = [sqlaudit.lattice, sqlaudit.recode, sqlaudit.suppress]


def table(folder: Path, other: str) -> Path:
    """A Parquet file of 16 rows: two codes of texts, two ages, four rows of each pair."""
    file = folder / "original.parquet"
    with duckdb.connect() as session:
        session.execute(
            "CREATE TABLE t AS SELECT CASE WHEN i % 2 = 0 THEN '1' ELSE $1 END AS code, 20 + (i // 2) % 2 AS age "
            "FROM range(16) AS r(i)",
            [other],
        )
        session.execute(f"COPY t TO '{file}'")
    return file


@pytest.mark.parametrize("write", WRITERS)
def test_texts_that_read_as_equal_numbers_are_announced(write: Callable[..., Any], tmp_path: Path) -> None:
    release = tmp_path / "release.csv"
    result = write(table(tmp_path, "1.0"), **ROLES, to=release)
    assert [one.code for one in result.remarks] == ["texts_read_as_numbers"]
    assert "all_text=True" in result.remarks[0].message
    assert "2 groups instead of 4" in result.remarks[0].message
    plain, as_text = (sqlaudit.audit(release, **ROLES, read={"all_text": value}) for value in (False, True))
    assert (plain.classes.count, as_text.classes.count) == (2, 4)


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize(("other", "name"), [("2", "release.csv"), ("x", "release.csv"), ("1.0", "release.parquet")])
def test_other_releases_are_read_as_they_are(write: Callable[..., Any], other: str, name: str, tmp_path: Path) -> None:
    result = write(table(tmp_path, other), **ROLES, to=tmp_path / name)
    assert not result.remarks
    assert sqlaudit.audit(tmp_path / name, **ROLES).classes.count == 4


def test_the_report_names_the_option(tmp_path: Path) -> None:
    file, release = table(tmp_path, "1.0"), tmp_path / "release.csv"
    for command in ("lattice", "recode", "suppress"):
        ended = run(command, str(file), "--qi", "code,age", "--require", "k=2", "--to", str(release))
        assert "--all-text" in ended.said
        release.unlink()
