"""A table with further cells hidden: written, read again, and nothing follows from it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from tests.cli.runner import run
from tests.reports.schemas import validator
from tests.tabular.test_hidden import counts

BY = ["region", "sector"]


def protected(table: pd.DataFrame, **more: Any) -> sqlaudit.AggregatesResult:
    given = {"by": BY, "count": "n", "require": {"threshold": 5}, "protect": True}
    return sqlaudit.aggregates(table, **{**given, **more})


def test_a_protected_table_has_no_unsafe_cell_and_none_that_totals_give_back(tmp_path: Path) -> None:
    file = tmp_path / "safe.parquet"
    found = protected(counts("n"), to=file, show_values=True)
    one = found.protection
    assert one is not None
    # two unsafe cells, and what the square through both takes: (a, u) and (b, t)
    assert (one.unsafe, one.secondary, one.cost, one.bound, one.unprotected, one.safe) == (2, 2, 29, 29, 0, True)
    assert {tuple(key.values()) for key in one.keys} == {("a", "u"), ("b", "t")}
    again = sqlaudit.aggregates(file, by=BY, count="n", require={"no_unpickable_cell": 4, "threshold": 5})
    assert (again.cells, again.hidden, again.deducible, again.status.value) == (12, 4, 0, "pass")
    assert again.totals == tuple(BY)
    before = counts("n").set_index(BY).n
    after = pd.read_parquet(file).set_index(BY).n
    assert after.dropna().astype(int).to_dict() == before[after.dropna().index].astype(int).to_dict()
    validator("aggregates").validate(json.loads(json.dumps(found.to_dict())))


def test_what_hiding_costs_decides_which_cells_are_hidden() -> None:
    table = counts("n")
    table["value"] = table.n * 10
    by_one = protected(table, price="1").protection
    assert by_one is not None
    assert (by_one.cost, by_one.bound) == (2, 2)
    by_value = protected(table, price="value", value="value", fast=True).protection
    assert by_value is not None
    assert by_value.safe
    assert by_value.bound <= by_value.cost


def test_rows_of_persons_become_a_protected_table(tmp_path: Path) -> None:
    rows = pd.DataFrame(
        {"ward": ["a"] * 9 + ["b"] * 8 + ["a", "a"] + ["b"] * 7, "ill": ["x"] * 9 + ["y"] * 8 + ["y"] * 2 + ["x"] * 7}
    )
    file = tmp_path / "safe.csv"
    found = sqlaudit.aggregates(
        rows,
        by=["ward", "ill"],
        microdata=True,
        grouping="ward;ill;ward,ill;()",
        require={"threshold": 3},
        protect=True,
        to=file,
    )
    assert found.protection is not None
    assert (found.protection.unsafe, found.protection.secondary, found.protection.safe) == (1, 3, True)
    written = pd.read_csv(file)
    assert list(written.columns) == ["ward", "ill", "count"]
    assert (len(written), int(written["count"].isna().sum())) == (9, 4)
    assert written[(written.ward == "Total") & (written.ill == "Total")]["count"].tolist() == [26]
    again = sqlaudit.aggregates(
        file, by=["ward", "ill"], count="count", require=["threshold=3", "no_unpickable_cell=2"]
    )
    assert (again.hidden, again.problems, again.status.value) == (4, (), "pass")


def test_a_table_with_hidden_cells_has_nothing_to_protect() -> None:
    with pytest.raises(UsageError, match="Give the table before any cell was hidden"):
        protected(counts())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--to", "safe.csv"), "--to applies to a protected table only: add --protect"),
        (("--protect",), "No rule for unsafe cells is given. Name one with --require threshold=5"),
        (("--protect", "--require", "threshold=5", "--to", "safe.txt"), "safe.txt"),
    ],
)
def test_what_has_no_meaning_is_refused(tmp_path: Path, more: tuple[str, ...], said: str) -> None:
    path = tmp_path / "counts.csv"
    counts("n").to_csv(path, index=False)
    ran = run("aggregates", str(path), "--by", "region,sector", "--count", "n", *more)
    assert ran.code == 2
    assert said in ran.err


def test_the_command_writes_and_says_so(tmp_path: Path) -> None:
    path, file = tmp_path / "counts.csv", tmp_path / "safe.csv"
    counts("n").to_csv(path, index=False)
    asked = ("aggregates", str(path), "--by", "region,sector", "--count", "n", "--require", "threshold=5", "--protect")
    ran = run(*asked, "--to", str(file))
    assert ran.code == 0
    assert "wrote 12 cells to" in ran.err
    assert "hiding 2 unsafe cells and 2 further cells" in ran.out
    assert "no other choice costs less" in " ".join(ran.out.split())
    assert file.read_text().count("\n") == 13
    over = run(*asked, "--to", str(path))
    assert over.code == 2
    assert "cannot be overwritten" in over.err


def test_what_cannot_be_protected_is_not_written(tmp_path: Path) -> None:
    """One region with everything in it: its count is the total, and structural zeros leave nothing open."""
    table = pd.DataFrame({"region": ["a", "b", "Total"], "n": [2, 0, 2], "nobody": [False, True, True]})
    file = tmp_path / "safe.csv"
    found = sqlaudit.aggregates(
        table,
        by=["region"],
        count="n",
        structural="nobody",
        require={"threshold": 5},
        protect=True,
        to=file,
        total={"region": "Total"},
    )
    assert found.protection is not None
    assert (found.protection.safe, found.protection.file, file.exists()) == (False, "", False)


def test_controlled_rounding_is_the_other_way(tmp_path: Path) -> None:
    file = tmp_path / "safe.csv"
    found = protected(counts("n"), round_to=5, to=file).protection
    assert found is not None
    assert (found.unsafe, found.secondary, found.safe, found.rounded_to) == (2, 0, True, 5)
    assert found.bound == found.cost > 0
    table = pd.read_csv(file).set_index(BY).n
    assert not (table % 5).any()
    before = counts("n").set_index(BY).n
    assert (table - before[table.index]).abs().sum() == found.cost
    assert (table - before[table.index]).abs().max() < 5
    for region in ("a", "b", "Total"):
        assert table[region]["Total"] == sum(table[region][sector] for sector in "stu")
    again = sqlaudit.aggregates(file, by=BY, count="n", require={"no_unpickable_cell": 1})
    assert (again.totals, again.problems, again.hidden) == (tuple(BY), (), 0)


def test_rounding_that_leaves_a_cell_too_close_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "safe.csv"
    found = protected(counts("n"), round_to=2, to=file).protection
    assert found is not None
    # a threshold of five asks for limits that are four apart, and rounding to two leaves two
    assert (found.safe, found.unprotected, found.file, file.exists()) == (False, 2, "", False)


def test_rounding_has_one_budget_for_all_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlaudit.tabular import protect

    given: list[float] = []

    def noted(work: Any) -> Any:
        def run(*values: Any, seconds: float) -> Any:
            given.append(seconds)
            monkeypatch.setattr(time, "monotonic", lambda: clock + 10.0 * len(given))
            return work(*values, seconds=5.0)

        return run

    clock = time.monotonic()
    for name in ("round_together", "deduce"):
        monkeypatch.setattr(protect, name, noted(getattr(protect, name)))
    table = pd.DataFrame({"region": ["a", "b", "Total"], "n": [7, 12, 19], "x": [70, 20, 90]})
    asked = {"by": ["region"], "count": "n", "value": "x", "require": {"threshold": 8}, "protect": True, "round_to": 5}
    sqlaudit.aggregates(table, time_limit=25.0, **asked)
    assert [round(one) for one in given] == [25, 15, 5, 1]
