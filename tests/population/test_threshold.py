"""The threshold of risk that keeps a wanted global risk: every threshold tried, the guide's table, what reports say."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from math import prod
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import NullPolicy, Target
from sqlaudit.column_sets.records.request import RecordRequest
from sqlaudit.column_sets.records.result import RiskThreshold
from sqlaudit.column_sets.records.search import find_records
from sqlaudit.engines.contract import Engine
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import render_text
from tests.audit_values import values_query
from tests.cli.runner import run
from tests.column_sets import oracle as sets
from tests.column_sets.test_counting import quick
from tests.population import oracle
from tests.population.test_households import GUIDE, QI

ROWS = st.lists(
    st.tuples(
        st.sampled_from([1, 2, None]), st.sampled_from([1, 2, 3]), st.sampled_from([1, 3, 40]), st.integers(1, 4)
    ),
    min_size=1,
    max_size=12,
)
WANTED = st.sampled_from([Fraction(text) for text in ("1/1000", "1/100", "1/30", "1/10", "1/2", "1")]) | st.integers(
    0, 11
)
"""A global risk, or the place of the risk of the file whose mean is wanted to the last digit."""


def test_of_rows(engine: Engine) -> None:
    @quick(8)
    @given(ROWS, WANTED, st.sampled_from(list(NullPolicy)))
    def run(rows: list[tuple[Any, ...]], wanted: Fraction | int, nulls: NullPolicy) -> None:
        risks = _risks(rows, nulls.value)
        most = _most(risks, wanted)
        request = RecordRequest(_target(rows), ("a", "b"), weights="w", nulls=nulls, max_global_risk=most)
        found = find_records(engine, request).risk.threshold
        assert found is not None
        _check(found, risks, most)
        assert found.households is None

    run()


def test_of_households(engine: Engine) -> None:
    @quick(8)
    @given(ROWS, WANTED, st.sampled_from([NullPolicy.EQUAL, NullPolicy.DISTINCT]))
    def run(rows: list[tuple[Any, ...]], wanted: Fraction | int, nulls: NullPolicy) -> None:
        own = _risks(rows, nulls.value)
        homes = [row[3] for row in rows]
        by_home = {
            home: 1 - prod(1 - risk for risk, one in zip(own, homes, strict=True) if one == home) for home in homes
        }
        risks = [by_home[home] for home in homes]
        most = _most(risks, wanted)
        request = RecordRequest(
            _target(rows), ("a", "b"), weights="w", household="home", nulls=nulls, max_global_risk=most
        )
        household = find_records(engine, request).household
        assert household is not None
        assert household.threshold is not None
        _check(household.threshold, risks, most)
        limit = household.threshold.risk or 0
        assert household.threshold.households == sum(risk > limit * (1 + 1e-9) for risk in by_home.values())

    run()


def test_what_is_met_to_the_last_digit_holds(engine: Engine) -> None:
    """Classes of 2, 9 and 18 rows: every risk of the file is the threshold of the mean that it makes, as a fraction."""
    sizes = (2, 9, 18)
    rows = [{"zip": size} for size in sizes for _ in range(size)]
    target = Target(query=values_query(rows, {"zip": "int"}))
    risks = [Fraction(1, row["zip"]) for row in rows]
    for size in sizes:
        most = sum((min(one, Fraction(1, size)) for one in risks), Fraction(0)) / len(risks)
        found = find_records(engine, RecordRequest(target, ("zip",), max_global_risk=most)).risk.threshold
        assert found is not None
        assert (found.risk, found.rows) == (pytest.approx(1 / size, rel=1e-14), sum(sizes[: sizes.index(size)]))


def test_households_of_equal_risk_stand_together(engine: Engine) -> None:
    """The same three members, read in six orders: their sums differ in the last digit, and no threshold parts them."""
    orders = ["abc", "acb", "bac", "bca", "cab", "cba"]
    weights = {"a": 3, "b": 7, "c": 11}
    rows = [
        {"person": 10 * home + place, "w": weights[one], "home": home}
        for home, order in enumerate(orders)
        for place, one in enumerate(order)
    ]
    target = Target(query=values_query(rows, {"person": "int", "w": "int", "home": "int"}))
    risk = 1 - prod(1 - _risk(1, people) for people in weights.values())
    for most, above in ((risk, 0), (risk * Fraction("0.999"), 6), (Fraction(1), 0)):
        request = RecordRequest(target, ("person",), weights="w", household="home", max_global_risk=most)
        household = find_records(engine, request).household
        assert household is not None
        assert household.threshold is not None
        assert household.threshold.households == above


def test_the_table_of_the_guide() -> None:
    """Ten risks: 0.0054 twice, 0.0074 twice, 0.0126 twice, 0.0251 twice, 0.0282, 0.0290; their mean is 0.0158."""

    def told(most: str) -> tuple[float | None, float | None, int]:
        found = sqlaudit.records(_guide(), qi=QI, weights="w", max_global_risk=most).risk.threshold
        assert found is not None
        digits = [None if one is None else round(one, 9) for one in (found.risk, found.remaining)]
        return digits[0], digits[1], found.rows

    kept = (2 * 0.005424520 + 8 * 0.007403834) / 10
    assert told("1%") == (0.007403834, pytest.approx(kept, abs=2e-9), 6)
    kept = (2 * 0.005424520 + 2 * 0.007403834 + 6 * 0.012563425) / 10
    assert told("1.5%") == (0.012563425, pytest.approx(kept, abs=2e-9), 4)
    assert told("2%") == (0.029010932, 0.015823465, 0)
    assert told("0.1%") == (None, None, 10)


def test_leaving_them_out_keeps_it_too() -> None:
    frame = _guide()
    for most in ("0.6%", "0.8%", "1%", "1.2%", "1.5%"):
        whole = sqlaudit.records(frame, qi=QI, weights="w", max_global_risk=most).risk
        risks = _risks([(*row[:4], row[4]) for row in GUIDE], "equal", columns=4, weight=4)
        assert whole.threshold is not None
        assert whole.threshold.risk is not None
        left = [float(risk) for risk in risks if float(risk) <= whole.threshold.risk * (1 + 1e-12)]
        assert len(left) == len(risks) - whole.threshold.rows
        assert sum(left) / len(left) <= float(Fraction(most[:-1]) / 100)


def test_what_the_report_says() -> None:
    def said(most: str) -> str:
        found = sqlaudit.records(_guide(), qi=QI, weights="w", household="home", max_global_risk=most)
        return render_text(document_of(found), width=1000)

    one = said("1.5%")
    assert "Individual risk: 4 records (40.0%) are above 0.0125634 and must be protected down to it." in one
    assert "Household risk: 6 records in 3 households (60.0%) are above 0.0147529 and must" in one
    assert "The mean is then 0.01397, at most 0.015 as required." in one
    assert "Individual risk: the mean is 0.01582, at most 0.5 as required. No record needs protection." in said("50%")
    none = "Household risk: every risk is too high for a mean of 0.001. All of 10 records in 5 households need"
    assert none in said("0.1%")


def test_the_command(tmp_path: Any) -> None:
    file = tmp_path / "survey.csv"
    _guide().to_csv(file, index=False)
    asked = ["records", str(file), "--qi", ",".join(QI), "--weights", "w", "--household", "home"]
    found = json.loads(run(*asked, "--max-global-risk", "50%", "--format", "json").out)
    assert found["individual_risk"]["threshold"]["households_above"] is None
    assert found["household_risk"]["threshold"] == {
        "max_global_risk": 0.5,
        "risk": pytest.approx(0.0533793, abs=1e-7),
        "global_risk": pytest.approx(0.0313504, abs=1e-7),
        "rows_above": 0,
        "households_above": 0,
    }
    assert "threshold" not in json.loads(run(*asked, "--format", "json").out)["individual_risk"]
    for refused in ("0", "1.1"):
        result = run(*asked, "--max-global-risk", refused)
        assert (result.code, "--max-global-risk" in result.err) == (2, True)


def test_no_rows() -> None:
    found = sqlaudit.records(_guide().head(0), qi=QI, max_global_risk=0.1).risk.threshold
    assert found == RiskThreshold(Fraction(1, 10), None, None, 0)
    with pytest.raises(UsageError, match="max_global_risk"):
        sqlaudit.records(_guide(), qi=QI, max_global_risk=0)


def _guide() -> pd.DataFrame:
    return pd.DataFrame(GUIDE, columns=[*QI, "w"]).assign(home=[1, 1, 2, 2, 3, 3, 4, 4, 5, 5])


def _target(rows: list[tuple[Any, ...]]) -> Target:
    named = [dict(zip(("a", "b", "w", "home"), row, strict=True)) for row in rows]
    return Target(query=values_query(named, dict.fromkeys(("a", "b", "w", "home"), "int")))


def _risks(rows: list[tuple[Any, ...]], nulls: str, columns: int = 2, weight: int = 2) -> list[Fraction]:
    groups = sets.matches(rows, tuple(range(columns)), nulls)
    return [_risk(len(group), sum(rows[place][weight] for place in group)) for group in groups]


@cache
def _risk(members: int, people: int) -> Fraction:
    if people <= members:
        return Fraction(1, members)
    return Fraction(oracle.individual_risk(members, Fraction(members, people)))


def _most(risks: list[Fraction], wanted: Fraction | int) -> Fraction:
    """What is wanted; of a place the mean where that risk is the threshold."""
    if isinstance(wanted, Fraction):
        return wanted
    risk = sorted(risks)[wanted % len(risks)]
    return sum((min(one, risk) for one in risks), Fraction(0)) / len(risks)


def _check(found: RiskThreshold, risks: list[Fraction], most: Fraction) -> None:
    expected = oracle.threshold(risks, most)
    if expected is None:
        assert (found.risk, found.remaining, found.rows) == (None, None, len(risks))
        return
    risk, mean = expected
    assert found.risk == pytest.approx(float(risk), rel=1e-12)
    assert found.remaining == pytest.approx(float(mean), rel=1e-12)
    assert found.rows == sum(one > risk for one in risks)
