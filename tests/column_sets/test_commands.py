"""`sqlaudit columns` and `sqlaudit records` as a stranger types them, and the Python calls of the same names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.column_sets.counting import Figures, SetCounter
from tests.cli.runner import patients, run, write_csv
from tests.postgres_load import Loader


def test_columns_says_what_to_change_and_how_far_the_proof_goes(tmp_path: Path) -> None:
    ran = run("columns", patients(tmp_path), "--k", 3, "--exclude", "disease")
    assert ran.code == 0
    assert "patients.csv:1columnset" in "".join(ran.said.split())  # a long path is broken anywhere
    assert "Minimal column sets of at most 2 columns with some rows in classes smaller than 3." in ran.said
    assert "Without age, no such set is left." in ran.said
    assert "Complete: every other set is inside one of 2 safe sets, or contains one of the found sets." in ran.said
    assert "age, sex 1 3 25.0% 1 4" in ran.said
    assert "Column Rows at risk Without it" in ran.said
    assert "age 25.0% 0%" in ran.said
    assert ran.err == "2 columns have 4 sets of at most 2 columns; sets that follow from others are not counted.\n"


def test_columns_as_json(tmp_path: Path) -> None:
    ran = run("columns", patients(tmp_path), "--k", 3, "--columns", "age,sex", "--format", "json")
    data = json.loads(ran.out)
    assert data["complete"] is True
    assert data["sets"] == [
        {
            "columns": ["age", "sex"],
            "classes": 4,
            "min_size": 1,
            "rows_at_risk": 3,
            "unique_rows": 1,
            "share_at_risk": 0.25,
            "distinction": None,
            "distinct_share": pytest.approx(1 / 3),
            "separation": pytest.approx(1 - (12 + 2 + 20) / 132),
        }
    ]
    assert data["maximal_safe_sets"] == [["age"], ["sex"]]
    assert data["repair"] == ["age"]
    assert (data["counts"]["candidates"], data["counts"]["decided"]) == (4, 4)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--identifying",), "separate all rows that differ in any column"),
        (("--identifying", "--epsilon", "10%", "--ratio", "separation"), "a separation of at least 0.9"),
        (("--find", "minimum"), "Proven: the set has one column, so no set is smaller."),
        (("--find", "greedy", "--restarts", 3), "Each set is minimal. Other sets may exist, also smaller ones: "),
        (("--find", "ranking", "--max-size", 1), "3 column sets"),
        (("--max-size", "all", "--tolerance", "0.5"), "more than 50.0% of the rows in classes smaller than 5"),
        (("--nulls", "wildcard"), "equal to anything"),
    ],
)
def test_every_way_to_search_has_its_sentence(tmp_path: Path, options: tuple[object, ...], said: str) -> None:
    ran = run("columns", patients(tmp_path), "--no-effects", *options)
    assert ran.code == 0
    assert said in ran.said


def test_a_budget_that_is_too_small_is_an_incomplete_answer(tmp_path: Path) -> None:
    ran = run("columns", patients(tmp_path), "--time-budget", "0.0000001s", "--no-effects")
    assert ran.code == 4
    assert "Not complete: time budget reached with 1 set undecided." in ran.said


def test_a_search_that_is_stopped_prints_what_is_proven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = json.loads(run("columns", patients(tmp_path), "--format", "json").out)
    figures = SetCounter.figures
    asked = []

    def interrupted(counter: SetCounter, masks: Sequence[int]) -> list[Figures]:
        asked.append(masks)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return figures(counter, masks)

    monkeypatch.setattr(SetCounter, "figures", interrupted)
    ran = run("columns", patients(tmp_path), "--format", "json")
    told = json.loads(ran.out)
    assert ran.code == 130
    assert (told["complete"], told["decided_size"], expected["complete"]) == (False, 0, True)
    assert told["sets"] == [] != expected["sets"]
    asked.clear()
    assert "Not complete: interrupted with" in run("columns", patients(tmp_path)).said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--columns", "agee"), "has no column 'agee'. Did you mean 'age'?"),
        (("--tolerance", "x"), "--tolerance takes a share such as 0.01 or 1%, not 'x'."),
        (("--identifying", "--nulls", "wildcard"), "Identifying sets cannot be searched with wildcards"),
        (("--entity", "age", "--columns", "age,sex"), "cannot be searched"),
    ],
)
def test_what_columns_refuses(tmp_path: Path, options: tuple[object, ...], said: str) -> None:
    ran = run("columns", patients(tmp_path), *options)
    assert ran.code == 2
    assert said in ran.err


def test_plans_are_shown_without_counting(tmp_path: Path) -> None:
    ran = run("columns", patients(tmp_path), "--dry-run")
    assert ran.code == 0
    assert "GROUP BY c0" in ran.out
    ran = run("records", patients(tmp_path), "--qi", "age,sex", "--dry-run")
    assert "found_2" in ran.out


def people(folder: Path) -> Path:
    rows = ["1,30,F,a", "2,30,F,a", "3,30,M,b", "4,40,F,secret", "5,30,F,a"]
    return write_csv(folder / "people.csv", "id,age,sex,job", *rows)


def test_records_shows_records_only_when_asked(tmp_path: Path) -> None:
    ran = run("records", people(tmp_path), "--qi", "age,sex,job")
    assert ran.code == 0
    assert "2 of 5 records (40.0%) are unique on few columns" in ran.said
    assert "secret" not in ran.out
    ran = run("records", people(tmp_path), "--qi", "age,sex,job", "--key", "id", "--show-values")
    assert "SUDA" not in ran.said
    ran = run("records", people(tmp_path), "--qi", "age,sex,job", "--key", "id", "--show-values", "--suda")
    assert "id SUDA DIS-SUDA" in ran.said
    assert "Contribution of each column" in ran.said
    data = json.loads(
        run("records", people(tmp_path), "--qi", "age,sex,job", "--key", "id", "--show-values", "--format", "json").out
    )
    assert [(record["key"], record["suda"]) for record in data["top"]] == [(["3"], 4.0), (["4"], 4.0)]
    assert data["minimal_sample_uniques"] == [{"size": 1, "count": 4}, {"size": 2, "count": 0}, {"size": 3, "count": 0}]
    refused = run("records", people(tmp_path), "--qi", "age", "--key", "id")
    assert (refused.code, "add --show-values" in refused.err) == (2, True)


@pytest.mark.postgres
def test_both_commands_on_postgres(load: Loader, postgres_url: str) -> None:
    table = load("commands", [(30, "F"), (30, "F"), (30, "M"), (40, "F")], ["age", "sex"])
    ran = run("columns", "--db", postgres_url, table.replace('"', ""), "--k", 2)
    assert ran.code == 0
    assert "2 column sets" in ran.said
    ran = run("records", "--db", postgres_url, table.replace('"', ""), "--qi", "age,sex")
    assert "2 of 4 records (50.0%) are unique on few columns" in ran.said


def test_the_python_calls(tmp_path: Path) -> None:
    data = pd.DataFrame({"zip": [1, 1, 2, 2], "sex": list("fmfm"), "age": [30, 30, 30, 30]})
    found = sqlaudit.columns(data, k=2, tolerance=0.5)
    assert [one.columns for one in found.sets] == [("zip", "sex")]
    assert found.tolerance == Fraction(1, 2)
    assert found.explain(["zip", "sex"]).found.unique_rows == 4
    assert sqlaudit.records(data, qi=["zip", "sex"]).uniques_by_size == (0, 4)
    with pytest.raises(UsageError, match="No quasi-identifiers are given"):
        sqlaudit.records(data)
