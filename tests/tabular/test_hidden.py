"""What totals tell of hidden cells: found by default, as a rule, and shown with the numbers that give them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest import mock

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.tabular.secondary import intervals
from tests.cli.runner import run
from tests.reports.schemas import validator

FEW = "CASE WHEN n < 5 THEN NULL ELSE n END"
COUNTS = """
    SELECT region, sector, {n} AS n FROM (
        SELECT coalesce(region, 'Total') AS region, coalesce(sector, 'Total') AS sector, sum(n) AS n
        FROM (VALUES ('a', 's', 10), ('a', 't', 3), ('a', 'u', 20), ('b', 's', 8), ('b', 't', 9), ('b', 'u', 4))
            AS leaves(region, sector, n)
        GROUP BY CUBE (region, sector)
    )
"""


def counts(hide: str = FEW) -> pd.DataFrame:
    with sqlaudit_free_duckdb() as connection:
        return connection.execute(COUNTS.format(n=hide)).df()


def sqlaudit_free_duckdb() -> Any:
    import duckdb

    return duckdb.connect()


def audited(table: pd.DataFrame, **more: Any) -> sqlaudit.AggregatesResult:
    return sqlaudit.aggregates(table, by=["region", "sector"], count="n", **more)


def test_small_counts_that_are_left_out_come_back_from_totals() -> None:
    found = audited(counts(), require={"no_unpickable_cell": 1, "threshold": 5}, show_values=True)
    assert (found.hidden, found.deducible) == (2, 2)
    assert [(one.rule, one.cells, one.status.value) for one in found.rules] == [
        ("no_unpickable_cell", 2, "fail"),
        ("threshold", 2, "fail"),
    ]
    known = {(one.cell["region"], one.cell["sector"]): one for one in found.intervals}
    first = known["a", "t"]
    assert (first.lower, first.upper, first.required, first.unsafe) == (3, 3, 1, True)
    added, taken = ({tuple(key.values()) for key in keys} for keys in (first.adds, first.subtracts))
    assert (added, taken) in [({("a", "Total")}, {("a", "s"), ("a", "u")}), ({("Total", "t")}, {("b", "t")})]


def test_what_totals_give_back_is_judged_as_if_it_were_published() -> None:
    for threshold, unsafe in ((3, 0), (4, 1), (5, 2)):
        found = audited(counts(), require={"threshold": threshold})
        assert (found.unsafe_cells, found.rules[0].judged, found.passed) == (unsafe, 12, unsafe == 0)


def test_hidden_cells_of_which_nobody_knows_are_no_pass() -> None:
    table = counts("CASE WHEN region IN ('a', 'b') AND sector IN ('t', 'u') THEN NULL ELSE n END")
    assert audited(table, require={"threshold": 5}).passed
    with mock.patch.object(intervals, "available", return_value=False):
        found = audited(table, require={"threshold": 5})
    assert found.status.value == "undetermined"
    assert [(one.code, one.cells) for one in found.problems] == [("undecided_hidden_cells", 4)]
    assert "pip install 'sqlaudit[remedies]'" in found.problems[0].message


def test_cells_that_hide_each_other_are_open_as_far_as_their_totals_are() -> None:
    table = counts("CASE WHEN region IN ('a', 'b') AND sector IN ('t', 'u') THEN NULL ELSE n END")
    found = audited(table, require={"no_unpickable_cell": 12}, show_values=True)
    # rows 23 and 13, columns 12 and 24
    assert (found.hidden, found.deducible, found.rules[0].cells) == (4, 0, 0)
    assert {(one.lower, one.upper) for one in found.intervals} == {(0, 12), (11, 23), (1, 13)}
    assert audited(table, require={"no_unpickable_cell": 13}).rules[0].cells == 4
    assert audited(table, require={"no_unpickable_cell": "12.5"}).rules[0].cells == 4


def test_nothing_of_hidden_cells_is_told_unless_values_are_shown() -> None:
    found = audited(counts(), require={"no_unpickable_cell": 1})
    assert found.intervals == ()
    assert found.to_dict()["aggregates"]["deducible"] == 2


def test_small_counts_that_alone_are_hidden_are_said_in_one_sentence() -> None:
    assert audited(counts()).small_counts_hidden
    assert not audited(counts("CASE WHEN n <> 20 THEN n END")).small_counts_hidden  # the largest is hidden
    assert not audited(counts("n")).small_counts_hidden


def test_a_base_of_rounding_is_recognised_and_unpicked() -> None:
    rounded = [0, 5, 5, 10, 15, 20, 25, 30, 40, 45, 55, 250]
    table = pd.DataFrame({"region": [*"abcdefghijk", "Total"], "n": rounded})
    (one,) = sqlaudit.aggregates(table, by=["region"], count="n", total={"region": "Total"}).rounded
    assert (one.measure, one.base, one.deducible) == ("count", 5, 0)
    table["n"] = [*rounded[:-1], 298]
    assert sqlaudit.aggregates(table, by=["region"], count="n").rounded == ()
    table["n"] = [*rounded[:-1], 290]
    problems = sqlaudit.aggregates(table, by=["region"], count="n", total={"region": "Total"}).problems
    assert problems == ()  # each cell was rounded apart


def test_a_table_is_drawn_with_marks_where_values_are_shown() -> None:
    found = audited(counts(), require={"no_unpickable_cell": 1, "threshold": 9}, show_values=True)
    assert found.drawn is not None
    assert found.drawn.rows == ("a", "b", "Total")
    assert found.drawn.columns == ("s", "t", "u", "Total")
    assert found.drawn.cells == (("10", "* ?", "20", "33"), ("8 !", "9", "* ?", "21"), ("18", "12", "24", "54"))
    assert audited(counts()).drawn is None
    one = sqlaudit.aggregates(
        pd.DataFrame({"region": ["b", "a"], "value": [1.5, 2]}), by=["region"], value="value", show_values=True
    )
    assert one.drawn is not None
    assert (one.drawn.columns, one.drawn.cells) == ((), (("2.0",), ("1.5",)))


def test_a_table_without_hidden_cells_holds_the_rule() -> None:
    found = audited(counts("n"), require={"no_unpickable_cell": 1})
    assert (found.deducible, found.rules[0].cells, found.rules[0].judged, found.status.value) == (None, 0, 12, "pass")


def test_sums_with_decimal_places_have_limits_in_their_own_unit() -> None:
    table = pd.DataFrame({"region": ["a", "b", "c", "Total"], "value": [1.5, None, None, 10.25]})
    found = sqlaudit.aggregates(
        table, by=["region"], value="value", require={"no_unpickable_cell": "8.75"}, show_values=True
    )
    assert [(one.measure, one.lower, one.upper, one.unsafe) for one in found.intervals] == [
        ("value", 0, 8.75, False),
        ("value", 0, 8.75, False),
    ]
    table["value"] = [1.5, 2.25, None, 10.25]
    known = sqlaudit.aggregates(table, by=["region"], value="value", show_values=True)
    assert (known.deducible, known.intervals[0].lower, known.intervals[0].upper) == (1, 6.5, 6.5)
    validator("aggregates").validate(json.loads(json.dumps(known.to_dict())))


def test_totals_that_are_wrong_are_said_by_cell() -> None:
    table = counts("n")
    table.loc[(table.region == "a") & (table.sector == "s"), "n"] = 11
    found = audited(table, total={"region": "Total", "sector": "Total"}, show_values=True)
    wrong = {one.code: one for one in found.problems}["wrong_totals"]
    assert {tuple(key.values()) for key in wrong.keys} == {("a", "Total"), ("Total", "s")}
    assert wrong.message.startswith("2 cells have a value that is not the sum of the parts")


def test_totals_that_contradict_each_other_leave_hidden_cells_undecided() -> None:
    table = pd.DataFrame(
        {
            "region": ["a", "a", "a", "b", "b", "b", "Total", "Total", "Total"],
            "sector": ["s", "t", "Total"] * 3,
            "n": [None, None, 3, None, None, 4, 9, 9, 7],
        }
    )
    found = audited(table, total={"region": "Total", "sector": "Total"}, require={"no_unpickable_cell": 1})
    assert found.deducible is None
    assert found.status.value == "undetermined"
    assert "totals that are the sums of their parts" in found.rules[0].note


@pytest.mark.parametrize("shown", [True, False])
def test_the_command_shows_which_cells_give_a_hidden_one(tmp_path: Path, shown: bool) -> None:
    path = tmp_path / "counts.csv"
    counts().to_csv(path, index=False)
    more = ("--show-values",) if shown else ()
    ran = run("aggregates", str(path), "--by", "region,sector", "--count", "n", *more)
    assert ran.code == 0
    assert "2 of 2 hidden cells follow from published ones" in ran.out
    assert ("Computed as" in ran.out) is shown


def noisy(hide: bool) -> pd.DataFrame:
    """Counts of four regions and three sectors with totals, to each of which one was added or taken away."""
    rows = [(a, b, 20 + 7 * i + 5 * j) for i, a in enumerate("nesw") for j, b in enumerate("xyz")]
    made = pd.DataFrame(rows, columns=["region", "sector", "n"])
    totals = [made.groupby(one, as_index=False)["n"].sum() for one in (["region"], ["sector"])]
    made = pd.concat([made, *totals, pd.DataFrame({"n": [made["n"].sum()]})], ignore_index=True)
    made[["region", "sector"]] = made[["region", "sector"]].fillna("Total")
    made["n"] = (made["n"] + [1, -1, 1, 1, 1, -1, 1, 1, 1, -1, -1, 1, 2, -1, 1, -2, -1, 1, 1, -1]).astype("Int64")
    if hide:
        made.loc[0, "n"] = None
    return made


def test_totals_that_nearly_add_up_in_many_places_have_noise() -> None:
    """The hidden cell is about what its totals leave, and nothing is claimed to be exact."""
    found = sqlaudit.aggregates(noisy(True), by=["region", "sector"], count="n", require=["no_unpickable_cell=4"])
    assert [one.code for one in found.problems] == ["noisy_totals", "undecided_hidden_cells"]
    assert "as after noise was added" in found.problems[0].message
    assert (found.status.value, found.deducible, found.rules[0].cells) == ("undetermined", None, 0)


def test_changes_of_noisy_tables_are_not_known() -> None:
    older = noisy(False)
    newer = older.assign(n=older["n"] + ([1] + [0] * (len(older) - 1)))
    found = sqlaudit.aggregates(newer, by=["region", "sector"], count="n", before=[older], require=["threshold=3"])
    (two,) = found.differences
    assert (two.unsafe_cells, [(one.status.value, one.undecided) for one in two.unsafe]) == (0, [("undetermined", 1)])
    assert "noise" in two.unsafe[0].note


def test_a_total_that_is_wrong_in_one_place_is_a_mistake() -> None:
    table = pd.DataFrame({"region": ["a", "b", "Total"], "n": [20, 30, 51]})
    found = sqlaudit.aggregates(table, by=["region"], count="n", require=["threshold=3"])
    assert [one.code for one in found.problems] == ["wrong_totals"]


def test_values_that_differ_in_large_letters_or_blanks_are_no_pass() -> None:
    """The total of X is that of x."""
    table = pd.DataFrame({"g": ["x", "x", "X "], "r": ["a", "b", "Total"], "n": [5, None, 8]})
    asked: dict[str, Any] = {"by": ["g", "r"], "count": "n", "total": {"g": ""}}
    found = sqlaudit.aggregates(table, **asked, require=["no_unpickable_cell=3"])
    assert ([one.code for one in found.mistakes], found.status.value) == (["other_names"], "undetermined")
    with pytest.raises(UsageError, match="width must be more than 0"):
        sqlaudit.aggregates(table, **asked, require=["no_unpickable_cell=0"])


@pytest.mark.parametrize("numbers", [[10, -1, 13], [10.0, -1.0, 13.0], ["10", "-1.0", "13"], [10, -1, 2**70]], ids=str)
def test_a_mark_may_be_a_number(numbers: list[Any]) -> None:
    table = pd.DataFrame({"r": ["a", "b", "Total"], "n": numbers})
    found = sqlaudit.aggregates(table, by=["r"], count="n", hidden=["-1"], require=["no_unpickable_cell=4"])
    assert (found.hidden, found.status.value) == (1, "undetermined" if numbers[2] == 2**70 else "fail")


def test_the_numbers_of_contributors_are_what_is_published_where_nothing_else_is() -> None:
    table = pd.DataFrame({"r": ["a", "b", "Total"], "c": pd.array([5, None, 7], dtype="Int64")})
    found = sqlaudit.aggregates(table, by=["r"], contributors="c", require=["threshold=3", "no_unpickable_cell=3"])
    assert [(one.rule, one.cells) for one in found.rules] == [("threshold", 1), ("no_unpickable_cell", 1)]
    assert (found.hidden, found.deducible) == (1, 1)
