"""Subtotals: of a hierarchy, or found from the numbers; what is made of them is checked and deduced like a total."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from tests.cli.runner import run
from tests.reports.schemas import validator

LEAVES = {"n1": [211, 340, 97], "n2": [150, 61, 402], "n3": [88, 119, 230], "s1": [305, 77, 164], "s2": [42, 298, 513]}
NORTH, SOUTH = ("n1", "n2", "n3"), ("s1", "s2")
TREE = {"region": {"tree": {"everywhere": {"north": list(NORTH), "south": list(SOUTH)}}}}


def table(hide: tuple[tuple[str, str], ...] = (), top: str = "Total") -> pd.DataFrame:
    """Regions in two parts of a country, by sector, all of them with their sums."""
    made = pd.DataFrame(LEAVES, index=list("xyz"))
    made["north"] = made[list(NORTH)].sum(axis=1)
    made["south"] = made[list(SOUTH)].sum(axis=1)
    made[top] = made.north + made.south
    made.loc["Total"] = made.sum()
    long = made.rename_axis("sector").reset_index().melt("sector", var_name="region", value_name="n")
    long["n"] = long["n"].astype(object)
    for region, sector in hide:
        long.loc[(long.region == region) & (long.sector == sector), "n"] = None
    return long


def asked(made: pd.DataFrame, **more: Any) -> sqlaudit.AggregatesResult:
    return sqlaudit.aggregates(made, by=["region", "sector"], count="n", **more)


@pytest.mark.parametrize("top", ["Total", "everywhere"])
def test_sums_of_other_values_are_found_from_the_numbers(top: str) -> None:
    found = asked(table(top=top), require=["threshold=5"])
    assert (found.totals, found.subtotals) == (("region", "sector"), {"region": 2})
    assert (found.contributors, found.problems, found.status.value) == (3097, (), "pass")
    validator("aggregates").validate(found.to_dict())


def test_a_hidden_cell_follows_from_its_subtotal() -> None:
    hide = (("n1", "x"), ("s1", "x"))
    found = asked(table(hide), require=["no_unpickable_cell=5"], show_values=True)
    assert (found.deducible, found.rules[0].cells, found.status.value) == (2, 2, "fail")
    known = {tuple(one.cell.values()): (one.lower, one.upper) for one in found.intervals}
    assert known == {("n1", "x"): (211, 211), ("s1", "x"): (305, 305)}


def test_small_numbers_are_no_proof_of_a_sum() -> None:
    made = pd.DataFrame({"region": ["a", "b", "c", "d"], "n": [1, 2, 3, 6]})
    found = sqlaudit.aggregates(made, by=["region"], count="n", require=["threshold=1"])
    assert (found.totals, found.subtotals, found.contributors) == ((), {}, 12)


def test_several_ways_to_add_up_are_none() -> None:
    made = table()
    numbers = {one: made.loc[made.region == one, "n"].to_numpy() for one in ("n1", "n3")}
    made.loc[made.region == "n2", "n"] = numbers["n1"]
    made.loc[made.region == "north", "n"] = numbers["n1"] + numbers["n3"]  # or n2 and n3: these are the same
    assert asked(made[made.region != "Total"]).subtotals == {"region": 1}


def test_a_hierarchy_says_which_values_are_sums_of_others(tmp_path: Path) -> None:
    hide = tuple((region, sector) for region in ("n1", "s1") for sector in ("x", "y", "z"))
    for more in ({"hierarchies": TREE}, {"hierarchies": TREE, "total": {"region": "everywhere"}}):
        found = asked(table(hide, "everywhere"), require=["no_unpickable_cell=5"], **more)
        assert (found.subtotals, found.deducible) == ({"region": 2}, 6)
    path = tmp_path / "regions.yml"
    path.write_text(
        "hierarchies:\n  region: {tree: {everywhere: {north: [n1, n2, n3], south: [s1, s2]}}}\n", encoding="utf-8"
    )
    table(hide).to_csv(tmp_path / "counts.csv", index=False)
    asking = ("aggregates", str(tmp_path / "counts.csv"), "--by", "region,sector", "--count", "n")
    ran = run(*asking, "--hierarchies", str(path))
    assert "6 of 6 hidden cells follow from published ones" in " ".join(ran.out.split())
    assert "Subtotals in region 2 values" in " ".join(ran.out.split())


def test_a_subtotal_that_is_wrong_or_missing_is_told_by_cell() -> None:
    made = table()
    made.loc[(made.region == "north") & (made.sector == "x"), "n"] += 1
    found = asked(made, hierarchies=TREE, require=["threshold=5"], show_values=True)
    (wrong,) = found.problems
    assert wrong.code == "wrong_totals"
    assert {"region": "north", "sector": "x"} in wrong.keys
    assert found.status.value == "undetermined"
    left = table()[lambda one: (one.region != "north") | (one.sector != "x")]
    missing = asked(left, hierarchies=TREE, require=["threshold=5"], show_values=True)
    assert [(one.code, one.keys) for one in missing.problems] == [
        ("missing_totals", ({"region": "north", "sector": "x"},))
    ]
    assert missing.status.value == "pass"


GAP = {"region": {"tree": {"country": ["n", "s"]}}}


def of_regions(**numbers: int | None) -> pd.DataFrame:
    return pd.DataFrame({"region": list(numbers), "n": pd.array(list(numbers.values()), dtype="Int64")})


def judged(made: pd.DataFrame, **more: Any) -> tuple[str, list[str]]:
    asked_for = {"by": ["region"], "count": "n", "require": ["threshold=5"], "hierarchies": GAP} | more
    found = sqlaudit.aggregates(made, **asked_for)
    return found.status.value, [one.code for one in found.problems]


def test_a_value_that_a_hierarchy_leaves_out_may_be_part_of_its_total() -> None:
    """Of a country of 45 with 20 in the north, the hidden south has 25, or 3 with an island of 22."""
    hidden = of_regions(country=45, n=20, s=None, island=22)
    assert judged(hidden) == ("undetermined", ["unclear_totals"])
    listed = {"region": {"tree": {"country": ["n", "s", "island"]}}}
    assert judged(hidden, hierarchies=listed) == ("fail", [])
    apart = {"region": {"tree": {"world": {"country": ["n", "s"], "abroad": ["island"]}}}}
    assert judged(hidden, hierarchies=apart) == ("pass", [])
    assert judged(of_regions(country=45, n=20, s=25, island=22)) == ("pass", [])
    added = of_regions(Total=67, country=45, n=20, s=None, island=22)
    assert judged(added) == ("pass", [])  # the total says that the island is no part of the country
    assert judged(of_regions(Total=45, country=45, n=20, s=None, island=22))[0] == "undetermined"


def test_a_release_with_a_value_that_a_hierarchy_leaves_out_lets_nothing_pass() -> None:
    older, newer = of_regions(country=45, n=20, s=None, island=22), of_regions(country=60, n=30, s=30, island=22)
    of = {"by": ["region"], "count": "n", "require": ["threshold=5"], "before": [older]}
    assert sqlaudit.aggregates(newer, **of, hierarchies=GAP).status.value == "undetermined"


@pytest.mark.parametrize(
    ("hierarchies", "said"),
    [
        ({"region": {"mask": [1]}}, "subtotals need a list of the values of 'region': a tree, values, or a CSV file"),
        ({"regoin": {"tree": {"a": ["b"]}}}, "regoin"),
    ],
)
def test_a_hierarchy_that_lists_nothing_is_refused(hierarchies: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        asked(table(), hierarchies=hierarchies)
