"""How open hidden cells are left: by the protection levels of the Handbook, tried on all tables that fit."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.tabular.secondary import intervals
from tests.tabular.secondary import oracle

BY = ["region", "sector"]
TOTAL = "Total"


def drawn(seed: int, rows: int = 2, columns: int = 3) -> pd.DataFrame:
    """A table of turnover with its totals, and the two largest contributions to each cell."""
    chance = random.Random(seed)
    firms = {
        (row, column): sorted((chance.randint(1, 4) for _ in range(chance.randint(2, 4))), reverse=True)
        for row in range(rows)
        for column in range(columns)
    }
    firms[0, 0] = [12, 3, 1]
    found = []
    for row in (*range(rows), TOTAL):
        for column in (*range(columns), TOTAL):
            some = sorted(
                (one for (a, b), all_ in firms.items() if row in (a, TOTAL) and column in (b, TOTAL) for one in all_),
                reverse=True,
            )
            found.append((str(row), str(column), len(some), sum(some), some[0], some[1]))
    return pd.DataFrame(found, columns=[*BY, "firms", "turnover", "first", "second"])


def limits(table: pd.DataFrame, written: pd.DataFrame) -> dict[tuple[str, str], tuple[int, int]]:
    """The least and the largest turnover of each hidden cell over all tables that fit what was written."""
    keys = [tuple(key) for key in table[BY].itertuples(index=False)]
    codes = [[int(one) if one != TOTAL else 3 for one in key] for key in keys]
    sums = sorted(oracle.equations(codes, [[[3, 3, 3, -1]]] * 2))
    values = written.set_index(BY).turnover
    known = [None if pd.isna(values[key]) else int(values[key]) for key in keys]
    most = int(table.turnover.max())
    found = oracle.intervals(len(keys), sums, known, [(0, most)] * len(keys))
    return {key: both for key, value, both in zip(keys, known, found, strict=True) if value is None}


def protected(table: pd.DataFrame, file: Path, rule: dict[str, Any], **more: Any) -> sqlaudit.AggregatesResult:
    return sqlaudit.aggregates(
        table,
        by=BY,
        contributors="firms",
        value="turnover",
        largest=["first", "second"],
        require=rule,
        protect=True,
        price="1",
        to=file,
        **more,
    )


def estimate(rule: str, value: int, top: tuple[int, int], least: int, most: int) -> bool:
    """Whether the limits let the rule hold: the second largest knows only that the value is at most the upper one."""
    first, second = top
    if rule == "p_percent":
        share = Fraction(2 * first)
    elif rule == "pq":
        share = first * (1 + Fraction(60, 80))
    else:
        return 40 * most >= 100 * first and value - least >= min(value, Fraction(100 * first, 40) - value)
    level = share - first - (value - first - second)
    return most - second >= share and value - least >= min(value, level)


RULES = {"p_percent": 100, "pq": {"p": 60, "q": 80}, "dominance": {"n": 1, "k": 40}}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", [2, 4])
def test_no_table_that_fits_tells_a_contributor_more_than_the_rule_lets(rule: str, seed: int, tmp_path: Path) -> None:
    table, file = drawn(seed), tmp_path / "safe.csv"
    found = protected(table, file, {rule: RULES[rule]}, show_values=True)
    assert found.protection is not None
    assert found.protection.safe
    hidden = limits(table, pd.read_csv(file, dtype={"region": str, "sector": str}))
    unsafe = [tuple(key.values()) for one in found.rules for key in one.keys]
    assert ("0", "0") in unsafe
    rows = table.set_index(BY)
    for key in unsafe:
        one = rows.loc[key]
        assert estimate(rule, int(one.turnover), (int(one["first"]), int(one["second"])), *hidden[key])


@pytest.mark.parametrize(
    ("rule", "parameters", "level"),
    [
        ("p_percent", {"p": 20}, 2),  # 0.2 · 60 − 10
        ("pq", {"p": 10, "q": 50}, 2),
        ("dominance", {"n": 1, "k": 50}, 20),  # 60 · 100/50 − 100
        ("dominance", {"n": 2, "k": 75}, 20),  # 90 · 100/75 − 100
        ("dominance", {"n": 2, "k": 70}, 29),  # 128.57 − 100
        ("dominance", {"n": 2, "k": 95}, -5),  # safe
    ],
)
def test_levels_are_those_of_the_handbook(rule: str, parameters: dict[str, int], level: int) -> None:
    import numpy as np

    from sqlaudit.models.base import Context
    from sqlaudit.models.registry import CELL_RULES
    from sqlaudit.tabular.cells import CellMeasure, TableCells

    def one(number: int) -> CellMeasure:
        return CellMeasure(np.array([number]), np.array([True]))

    cells = TableCells((), np.zeros((1, 0), dtype=np.int32), value=one(100), largest=(one(60), one(30)))
    given = {name: Fraction(value) for name, value in parameters.items()}
    asked = CELL_RULES[rule](given, Context(None, 0)).level(cells)
    assert asked is not None
    assert (asked[0].tolist(), asked[1].tolist()) == ([level], [True])


def test_a_share_of_nothing_cannot_be_protected(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Choose a larger k"):
        protected(drawn(1), tmp_path / "safe.csv", {"dominance": {"n": 1, "k": 0}})


@pytest.mark.parametrize(
    ("total", "rule", "unsafe"),
    [
        (184, "p_percent=10", 1),  # the first firm of a has 50, the second 30: 50 · 1.1 + 30 = 85
        (185, "p_percent=10", 0),
        (173, "p_percent=10", 2),  # of b: 40 · 1.1 + 30 = 74
        (174, "p_percent=10", 1),
        (184, "pq=p:8,q:80", 1),
        (185, "pq=p:8,q:80", 0),
        (183, "dominance=n:1,k:60", 1),  # 50 is 60% of 83 1/3
        (184, "dominance=n:1,k:60", 0),
    ],
)
def test_hidden_sums_are_judged_by_their_upper_limits(total: int, rule: str, unsafe: int) -> None:
    rows = [("a", "*", 50, 30), ("b", "*", 40, 30), ("c", "100", 20, 20), (TOTAL, str(total), 60, 50)]
    table = pd.DataFrame(rows, columns=["region", "turnover", "first", "second"])
    asked: dict[str, Any] = {"by": ["region"], "value": "turnover", "hidden": ["*"], "require": [rule]}
    found = sqlaudit.aggregates(table, largest=["first", "second"], **asked)
    assert (found.rules[0].cells, found.rules[0].judged, found.rules[0].undecided) == (unsafe, 4, 0)
    assert found.status.value == ("fail" if unsafe else "pass")
    without = sqlaudit.aggregates(table, **asked)
    assert without.rules[0].cells == 0


def test_hidden_sums_whose_limits_nobody_found_are_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    table = drawn(1)
    table["turnover"] = table.turnover.where(~(table.region.isin(["0", "1"]) & table.sector.isin(["0", "1"])))
    asked: dict[str, Any] = {"by": BY, "value": "turnover", "largest": ["first", "second"], "require": ["p_percent=1"]}
    decided = sqlaudit.aggregates(table, **asked)
    assert (decided.rules[0].undecided, decided.rules[0].judged) == (0, len(table))
    monkeypatch.setattr(intervals, "available", lambda: False)
    found = sqlaudit.aggregates(table, **asked)
    assert found.rules[0].undecided == 4 - found.rules[0].cells > 0
    assert not found.passed
    assert "the solver HiGHS" in found.rules[0].note


@pytest.mark.parametrize("seed", range(4))
def test_a_protected_table_passes_the_rule_that_it_was_protected_from(seed: int, tmp_path: Path) -> None:
    table = drawn(seed)
    asked: dict[str, Any] = {"by": BY, "value": "turnover", "largest": ["first", "second"], "require": ["p_percent=30"]}
    file = tmp_path / "safe.csv"
    made = sqlaudit.aggregates(table, protect=True, price="value", to=file, **asked).protection
    assert made is not None
    assert made.unsafe > 0
    assert made.safe
    again = table.drop(columns="turnover").merge(pd.read_csv(file, dtype=dict.fromkeys(BY, str)), on=BY)
    hidden = sqlaudit.aggregates(again, contributors="firms", **asked)
    assert (hidden.hidden, hidden.rules[0].cells, hidden.status.value) == (made.unsafe + made.secondary, 0, "pass")
