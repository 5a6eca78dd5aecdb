"""`sqlaudit aggregates` as it is typed, and its JSON, its page and its refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from tests.cli.runner import run
from tests.reports.schemas import schema, validator

TABLE = pd.DataFrame(
    {
        "the region": ["a", "a", "b", "Total"],
        "sector": ["s", "t", "s", "Total"],
        "n": ["10", "3", "*", "24"],
        "turnover": [100.5, 20, None, 230.5],
        "x1": [50, 10, 60, 60],
        "x2": [20, 5, 5, 50],
    }
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    TABLE.to_csv(path, index=False)
    return path


def asked(table: Path, *more: Any) -> tuple[str, ...]:
    roles = ("--by", "the region,sector", "--count", "n", "--value", "turnover", "--hidden", "*")
    return ("aggregates", str(table), *roles, *map(str, more))


@pytest.mark.parametrize("more", [{}, {"show_values": True}, {"hidden": ["*"], "largest": ["x1", "x2"]}], ids=str)
def test_the_json_follows_its_schema(more: dict[str, Any]) -> None:
    require = ["threshold=5", "p_percent=10", "dominance=n:1,k:75", "full_cell=any", "zero_structural=any"]
    given = {"by": ["the region", "sector"], "count": "n", "value": "turnover", "hidden": ["*"], "require": require}
    data = sqlaudit.aggregates(pd.concat([TABLE, TABLE[:1]]), **{**given, **more}).to_dict()
    assert data["schema"] == "sqlaudit-aggregates/1" == schema("aggregates")["title"]
    validator("aggregates").validate(json.loads(json.dumps(data)))


def test_the_command_tells_what_python_tells(table: Path) -> None:
    ran = run(*asked(table, "--largest", "x1,x2", "--require", "threshold=5,p_percent=10", "--format", "json"))
    assert ran.code == 1
    told = json.loads(ran.out)["aggregates"]
    assert {name: told[name] for name in ("cells", "contributors", "unsafe_cells", "hidden", "problems")} == {
        "cells": 4,
        "contributors": 24,
        "unsafe_cells": 1,
        "hidden": 1,
        "problems": [
            {
                "code": "missing_totals",
                "cells": 4,
                "message": "4 totals of published cells are not in the table and were not checked.",
            }
        ],
    }
    assert [(one["rule"], one["cells"], one["status"]) for one in told["unsafe"]] == [
        ("threshold", 1, "fail"),
        ("p_percent", 0, "pass"),
    ]


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_every_layout_says_which_rule_fails(table: Path, form: str) -> None:
    ran = run(*asked(table, "--require", "threshold=5", "--format", form))
    assert ran.code == 1
    said = " ".join(ran.out.split())
    assert "1 of 4 cells (25.0%) discloses too much about its contributors" in said
    assert "sector" in said


def test_keys_are_shown_only_when_asked(table: Path) -> None:
    data = [
        json.loads(run(*asked(table, "--require", "threshold=5", "--format", "json", *more)).out)
        for more in ((), ("--show-values",))
    ]
    hidden, shown = (one["aggregates"]["unsafe"][0] for one in data)
    assert "keys" not in hidden
    assert shown["keys"] == [{"the region": "a", "sector": "t"}]


def test_a_table_that_is_safe_ends_well(table: Path) -> None:
    ran = run(*asked(table, "--require", "threshold=3", "--insensitive", "x1,x2"))
    assert ran.code == 0
    assert "every published cell is safe (threshold=3)" in " ".join(ran.out.split())


def test_the_statement_that_reads_the_table_is_shown(table: Path) -> None:
    ran = run(*asked(table, "--dry-run"))
    assert ran.code == 0
    assert "tabular_cells" in ran.out
    assert "Nothing was measured" in ran.out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--require", "treshold=5"), "Did you mean 'threshold'?"),
        (("--require", "k=5"), "Use `sqlaudit audit`"),
        (("--require", "threshold=n:5,zeros:maybe"), "zeros is yes or no"),
        (("--require", "full_cell=secto"), "'secto' is not in --by: the region, sector"),
        (("--total", "sector"), "--total takes column=value"),
        (("--total", "sectr=Total"), "which is not in --by"),
        (("--total", "sector=All"), "no cell has the value given for 'sector'"),
        (("--contributors", "persons"), "no column 'persons'"),
        (("--largest", "x1,x3"), "no column 'x3'"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(table: Path, more: tuple[str, ...], said: str) -> None:
    ran = run(*asked(table, *more))
    assert ran.code == 2
    assert not ran.out
    assert said in " ".join(ran.err.split())


def test_a_table_without_dimensions_or_numbers_is_refused(table: Path) -> None:
    assert "No dimensions are given. Name the columns with --by." in run("aggregates", str(table)).err
    assert "Name a column with --count" in run("aggregates", str(table), "--by", "sector").err
