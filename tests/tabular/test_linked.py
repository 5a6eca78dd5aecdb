"""Several published tables that share cells: together they tell what every table behind them says."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Target
from sqlaudit.engines.contract import Engine
from sqlaudit.models.registry import CELL_RULES, requirements
from sqlaudit.tabular import totals
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.run import find_unsafe_cells
from tests.audit_values import values_query
from tests.cli.runner import run as typed
from tests.reports.schemas import validator
from tests.strategies import run

BY = ("region", "sector", "age")
VALUES = (("n", "s"), ("x", "y"), ("a", "b"))
INNER = list(itertools.product(range(2), repeat=3))
EVERY = np.array(list(itertools.product(range(3), repeat=8)))
"""All tables of persons whose cells are at most 2."""
TABLES = [(0, 2), (0, 1), (1, 2)]
Key = tuple[int | None, int | None, int | None]


def key_cells(table: tuple[int, int], with_totals: bool) -> list[Key]:
    """The cells of a margin, None for all values of a dimension."""
    choices = [(0, 1, None) if with_totals else (0, 1) for _ in table]
    found = []
    for codes in itertools.product(*choices):
        one: list[int | None] = [None, None, None]
        for place, code in zip(table, codes, strict=True):
            one[place] = code
        found.append((one[0], one[1], one[2]))
    return found


def parts(key: Key) -> list[int]:
    """The places of the inner cells that a cell is the sum of."""
    return [at for at, one in enumerate(INNER) if all(code in (None, own) for code, own in zip(key, one, strict=True))]


def frame(table: tuple[int, int], cells: dict[Key, int | None]) -> pd.DataFrame:
    rows = [
        [("Total" if key[at] is None else VALUES[at][key[at]]) for at in table] + [n]  # type: ignore[index]
        for key, n in cells.items()
    ]
    made = pd.DataFrame(rows, columns=[*(BY[at] for at in table), "n"])
    return made.astype({"n": "Int64"})


@run(15)
@given(st.data())
def test_intervals_are_those_of_every_table_behind_the_margins(data: st.DataObject) -> None:
    truth = np.array(data.draw(st.lists(st.integers(0, 1), min_size=8, max_size=8)))
    used = TABLES[: data.draw(st.integers(2, 3))]
    published: dict[Key, int] = {}
    hidden: list[Key] = []
    frames = []
    for number, table in enumerate(used):
        cells: dict[Key, int | None] = {}
        for key in key_cells(table, data.draw(st.booleans())):
            n = int(truth[parts(key)].sum())
            hides = number > 0 and data.draw(st.booleans())
            cells[key] = None if hides else n
            if hides:
                hidden.append(key)
            else:
                published[key] = n
        frames.append(frame(table, cells))
    fits = np.ones(len(EVERY), dtype=bool)
    for key, n in published.items():
        fits &= EVERY[:, parts(key)].sum(axis=1) == n
    expected = {key: EVERY[fits][:, parts(key)].sum(axis=1) for key in set(hidden)}
    found = sqlaudit.aggregates(
        frames[0], linked=frames[1:], by=BY, count="n", require={"no_unpickable_cell": 2}, show_values=True
    )
    told = {tuple(one.cell.values()): (one.lower, one.upper) for one in found.intervals}
    wanted = {named(key): (int(one.min()), int(one.max())) for key, one in expected.items()}
    assert {tuple(None if v == "Total" else v for v in key): limits for key, limits in told.items()} == wanted
    (rule,) = found.rules
    assert (rule.cells, rule.undecided) == (sum(high - low < 2 for low, high in wanted.values()), 0)
    assert found.hidden == len(wanted)


def named(key: Key) -> tuple[str | None, ...]:
    return tuple(None if code is None else VALUES[at][code] for at, code in enumerate(key))


SECTORS = [("n", "x", 10), ("n", "y", None), ("s", "x", 8), ("s", "y", None)]
AGES = [("n", "a", 6), ("n", "b", 6), ("s", "a", 9), ("s", "b", 5)]
OF_SECTORS, OF_AGES = ("region", "sector", "n"), ("region", "age", "n")


def table(rows: list[Any], columns: tuple[str, ...]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(columns)).astype({"n": "Int64"})


def linked(first: pd.DataFrame, *others: pd.DataFrame, **more: Any) -> sqlaudit.AggregatesResult:
    given = {"by": BY, "count": "n", "require": {"no_unpickable_cell": 2}, "show_values": True} | more
    return sqlaudit.aggregates(first, linked=others, **given)


def test_margins_in_a_circle_tell_more_than_their_sums() -> None:
    diagonal = [[1, 0], [0, 1]]
    same = [[(a, b, diagonal[i][j]) for i, a in enumerate("ns") for j, b in enumerate(other)] for other in ("xy", "ab")]
    ages = [(s, a, None) for s in "xy" for a in "ab"]
    tables = table(same[0], OF_SECTORS), table(same[1], OF_AGES), table(ages, ("sector", "age", "n"))
    found = linked(*tables)
    limits = {(one.cell["sector"], one.cell["age"]): (one.lower, one.upper) for one in found.intervals}
    assert limits == {("x", "a"): (1, 1), ("x", "b"): (0, 0), ("y", "a"): (0, 0), ("y", "b"): (1, 1)}
    assert found.rules[0].cells == 4


def test_a_circle_of_too_many_cells_calls_nothing_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(totals, "MOST_INNER", 3)
    counts = [[(a, b, 9) for a in "ns" for b in other] for other in ("xy", "ab")]
    ages = [(s, a, None) for s in "xy" for a in "ab"]
    found = linked(table(counts[0], OF_SECTORS), table(counts[1], OF_AGES), table(ages, ("sector", "age", "n")))
    (rule,) = found.rules
    assert (rule.cells, rule.undecided, rule.status.value) == (0, 4, "undetermined")
    assert "fewer linked tables" in rule.note


def test_a_cell_that_one_table_hides_and_another_one_publishes_is_known() -> None:
    hidden = table([*SECTORS[:1], ("n", "y", 2), ("n", "Total", None), *SECTORS[2:3], ("s", "y", 6)], OF_SECTORS)
    found = linked(hidden, table([*AGES, ("n", "Total", 12)], OF_AGES), require={"no_unpickable_cell": 1})
    assert (found.hidden, found.deducible, found.rules[0].cells) == (1, 1, 1)
    (one,) = found.intervals
    assert (one.lower, one.upper, one.adds) == (12, 12, (dict(one.cell),))


def test_totals_of_other_names_are_one(engine: Engine) -> None:
    """Which also compares numbers of one table with texts of another, on every engine."""
    first = [*({"region": a, "sector": b, "n": n} for a, b, n in SECTORS), {"region": "n", "sector": "All", "n": 12}]
    second = [{"region": a, "age": b, "n": str(n)} for a, b, n in [*AGES[:2], ("Total", "a", 15), ("Total", "b", 11)]]
    second += [{"region": "s", "age": "a", "n": "*"}, {"region": "s", "age": "b", "n": "*"}]
    targets = [
        Target(query=values_query(first, {"region": "text", "sector": "text", "n": "int"})),
        Target(query=values_query(second, {"region": "text", "age": "text", "n": "text"})),
    ]
    request = AggregatesRequest(
        targets[0],
        linked=tuple(targets[1:]),
        by=BY,
        count="n",
        hidden=("*",),
        show_values=True,
        requirements=requirements(["no_unpickable_cell=3"], among=CELL_RULES),
    )
    found = find_unsafe_cells(engine, request)
    limits = {tuple(one.cell.values()): (one.lower, one.upper) for one in found.intervals}
    assert {key: limits[key] for key in limits if key[0] == "s"} == {
        ("s", "All", "a"): (9, 9),
        ("s", "All", "b"): (5, 5),
        ("s", "y", None): (6, 6),
    }
    assert limits["n", "y", None] == (2, 2)
    assert found.mistakes == ()


@pytest.mark.parametrize(
    ("others", "codes"),
    [
        ([("n", "a", 6), ("n", "b", 6), ("s", "a", 9), ("s", "b", 5), ("n", "Total", 13)], {"wrong_totals"}),
        ([("n", "a", 6), ("n", "a", 6), ("s", "a", 9), ("s", "b", 5)], {"duplicate_cells"}),
    ],
)
def test_mistakes_of_linked_tables_are_told(others: list[Any], codes: set[str]) -> None:
    found = linked(table([(a, b, n or 2) for a, b, n in SECTORS], OF_SECTORS), table(others, OF_AGES))
    assert {one.code for one in found.mistakes} == codes
    assert found.status.value == "undetermined"


def test_different_numbers_of_a_shared_cell_are_a_mistake() -> None:
    sectors = table([*((a, b, n or 2) for a, b, n in SECTORS), ("n", "Total", 12)], OF_SECTORS)
    found = linked(sectors, table([*AGES, ("n", "Total", 13)], OF_AGES))
    assert ("linked_numbers", 1) in [(one.code, one.cells) for one in found.mistakes]


def test_subtotals_are_those_of_the_table_that_has_them(tmp_path: Path) -> None:
    towns = [(f"t{at}", sector, 11 * at + 7 * len(sector)) for at in range(1, 5) for sector in ("ab", "abcd")]
    hides = [(town, sector, None if (town, sector) == ("t1", "ab") else n) for town, sector, n in towns]
    counties = [("c1", "a", 60), ("c1", "b", 90), ("c2", "a", 100), ("c2", "b", 138)]
    tree = tmp_path / "levels.yml"
    tree.write_text("hierarchies:\n  region:\n    tree:\n      c1: [t1, t2]\n      c2: [t3, t4]\n", encoding="utf-8")
    found = linked(table(hides, OF_SECTORS), table(counties, OF_AGES), hierarchies=str(tree))
    (one,) = found.intervals
    assert (one.lower, one.upper) == (25, 25)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"before": ["x.csv"]}, "compare releases"),
        ({"protect": True}, "cannot be protected"),
        ({"by": (*BY, "sex")}, "linked table has a column 'sex'"),
        ({"microdata": True, "count": ""}, "made from rows"),
    ],
)
def test_what_linked_tables_cannot_is_one_sentence(more: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        linked(table(SECTORS, OF_SECTORS), table(AGES, OF_AGES), **more)


def test_the_command_and_a_policy_link_files(tmp_path: Path) -> None:
    table(SECTORS, OF_SECTORS).to_csv(tmp_path / "sectors.csv", index=False)
    table(AGES, OF_AGES).to_csv(tmp_path / "ages.csv", index=False)
    given = ["aggregates", str(tmp_path / "sectors.csv"), "--linked", str(tmp_path / "ages.csv")]
    given += ["--by", "region,sector,age", "--count", "n", "--require", "no_unpickable_cell=4"]
    result = typed(*given, "--format", "json")
    data = json.loads(result.out)
    validator("aggregates").validate(data)
    assert (result.code, data["aggregates"]["deducible"]) == (1, 2)
    assert [one["by"] for one in data["aggregates"]["linked"]] == [["region", "sector"], ["region", "age"]]
    assert "UNION ALL" in typed(*given, "--dry-run").out
    policy = tmp_path / "policy.yml"
    rules = "{by: [region, sector, age], count: n, linked: ages.csv, require: [no_unpickable_cell=4]}"
    policy.write_text(
        f"tables:\n  - file: sectors.csv\n    requirements:\n      - aggregates: {rules}\n", encoding="utf-8"
    )
    (test,) = sqlaudit.gate(policy).tests
    wanted = "aggregates=no_unpickable_cell=4,by:region+sector+age,count:n,linked:ages.csv"
    assert (test.requirement, test.check and test.check.failing_rows) == (wanted, 2)


def test_one_select_links_no_tables(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yml"
    rules = "{by: [region, sector, age], count: n, linked: ages, require: [threshold=4]}"
    policy.write_text(
        "connections: {house: {url: 'postgresql://nowhere/x'}}\n"
        f"tables:\n  - connection: house\n    table: sectors\n    requirements:\n      - aggregates: {rules}\n",
        encoding="utf-8",
    )
    compiled = typed("compile", "--file", str(policy), "--dialect", "duckdb")
    assert "without linked" in " ".join((compiled.out + compiled.err).split())


@pytest.mark.parametrize("name", ["N", "n ", "north"])
def test_tables_that_call_a_region_by_other_names_are_no_pass(name: str) -> None:
    first = [("n", "x", 10), ("n", "y", None), ("s", "x", 8), ("s", "y", 9)]
    second = [(name, "a", 6), (name, "b", 6), ("s", "a", 9), ("s", "b", 8)]
    found = linked(table(first, OF_SECTORS), table(second, OF_AGES), require=["no_unpickable_cell=3"])
    assert ([one.code for one in found.mistakes], found.status.value) == (["other_names"], "undetermined")
    alike = [("n", *rest) if own == name else (own, *rest) for own, *rest in second]
    found = linked(table(first, OF_SECTORS), table(alike, OF_AGES), require=["no_unpickable_cell=3"])
    assert (found.mistakes, found.status.value, found.deducible) == ((), "fail", 1)
