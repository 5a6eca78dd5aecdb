"""Individual and household risk of records with weights: documented figures of sdcMicro, and brute force."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from random import Random
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import NullPolicy, Target
from sqlaudit.column_sets.records.request import RecordRequest
from sqlaudit.column_sets.records.search import find_records
from sqlaudit.engines.contract import Engine
from sqlaudit.population.sample import individual_risk
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import render_text
from tests.audit_values import values_query
from tests.population import oracle

GUIDE = [
    ("U", "F", "SecInc", "Emp", 180),
    ("U", "F", "SecInc", "Emp", 180),
    ("U", "F", "PrimInc", "NonLF", 215),
    ("U", "M", "SecComp", "Emp", 76),
    ("R", "F", "SecComp", "Unemp", 186),
    ("U", "M", "SecComp", "Emp", 76),
    ("U", "F", "PrimComp", "NonLF", 180),
    ("U", "M", "PostSec", "Unemp", 215),
    ("U", "F", "SecInc", "NonLF", 186),
    ("U", "F", "SecInc", "NonLF", 76),
]
"""SDC Practice Guide (World Bank, IHSN), "Measuring Risk": the example table, with what sdcMicro prints of it."""
QI = ["residence", "gender", "education", "labor"]
RISKS = {(2, 360): 0.005424520, (1, 215): 0.025096439, (2, 152): 0.012563425, (1, 186): 0.028247279}
RISKS |= {(1, 180): 0.029010932, (2, 262): 0.007403834}


def test_the_guide_of_sdcmicro() -> None:
    """Risks with nine decimals, the global risk 0.01582, the expected number 0.1582, and none above 0.05."""
    for (members, people), risk in RISKS.items():
        assert round(individual_risk(members, members / people), 9) == risk
    found = sqlaudit.records(pd.DataFrame(GUIDE, columns=[*QI, "w"]), qi=QI, weights="w")
    assert (round(found.risk.mean, 5), round(found.risk.expected, 4)) == (0.01582, 0.1582)
    assert found.risk.above["0.05"] == 0


@pytest.mark.parametrize(
    ("members", "people", "risk"),
    [
        (12, "1316.701", 0.0008278),
        (10, "2595.686", 0.0004279),
        (10, "2760.185", 0.0004024),
        (7, "5079.996", 0.0002296),
        (15, "5300.859", 0.0002021),
        (42, "5343.714", 0.0001917),
        (17, "5576.081", 0.0001905),
        (23, "10681.032", 0.0000979),
        (52, "12679.477", 0.0000804),
        (41, "15809.289", 0.0000648),
    ],
)
def test_a_report_of_sdcmicro(members: int, people: str, risk: float) -> None:
    """Statistics Sierra Leone, anonymization report of file S1C_PH: the ten highest risks. sdcMicro takes p/(f - q)."""
    assert round(individual_risk(members, float(members / Fraction(people))), 7) == risk


def test_the_household_of_the_guide() -> None:
    """1 - (1 - 0.02)(1 - 0.03)(1 - 0.03) = 0.078, from rows alone in their class with weights that make these risks."""
    weights = [_people_of(0.02), _people_of(0.03), _people_of(0.03)]
    frame = pd.DataFrame({"zip": [1, 2, 3], "w": weights, "home": ["a"] * 3})
    found = sqlaudit.records(frame, qi=["zip"], weights="w", household="home").household
    assert found is not None
    assert (found.households, round(found.highest, 3), round(found.expected, 3)) == (1, 0.078, 0.234)
    assert found.to_dict()["rows_above"] == {"0.5": 0, "0.2": 0, "0.1": 0, "0.05": 3, "0.01": 3}


def _people_of(risk: float) -> float:
    low, high = 1.0, 1e6
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if individual_risk(1, 1 / middle) > risk else (low, middle)
    return round(low, 6)


@pytest.mark.parametrize("nulls", ["equal", "distinct"])
@pytest.mark.parametrize("seed", [1, 2])
def test_households_by_brute_force(engine: Engine, nulls: str, seed: int) -> None:
    random = Random(seed)
    rows = [
        {
            "a": random.choice([1, 2, 3, None]),
            "b": random.choice([1, 2]),
            "w": random.choice([1, 3, 5000]),
            "home": i // 3,
        }
        for i in range(40)
    ]
    target = Target(query=values_query(rows, {"a": "int", "b": "int", "w": "int", "home": "int"}))
    request = RecordRequest(target, ("a", "b"), weights="w", household="home", nulls=NullPolicy(nulls))
    found = find_records(engine, request)
    risks = [_risk(row, rows, nulls) for row in rows]
    homes = {row["home"] for row in rows}
    by_home = {
        home: 1 - prod(1 - r for row, r in zip(rows, risks, strict=True) if row["home"] == home) for home in homes
    }
    expected = sum(by_home[row["home"]] for row in rows)
    assert found.household is not None
    assert found.household.households == len(homes)
    assert found.household.expected == pytest.approx(expected, rel=1e-12)
    assert found.household.highest == pytest.approx(max(by_home.values()), rel=1e-12)
    assert found.risk.expected == pytest.approx(sum(risks), rel=1e-12)


def _risk(row: dict[str, Any], rows: list[dict[str, Any]], nulls: str) -> float:
    alone = nulls == "distinct" and row["a"] is None
    alike = [row] if alone else [other for other in rows if (other["a"], other["b"]) == (row["a"], row["b"])]
    people = sum(other["w"] for other in alike)
    return (
        1 / len(alike)
        if people <= len(alike)
        else float(oracle.individual_risk(len(alike), Fraction(len(alike), people)))
    )


def test_what_the_file_is_taken_for() -> None:
    frame = pd.DataFrame({"zip": [1, 2, 2], "w": [10, 10, 10]})

    def said(**request: Any) -> str:
        return render_text(document_of(sqlaudit.records(frame, qi=["zip"], **request)), width=1000)

    assert "If the file is the whole population" in said()
    assert "as the file is 10.0% of its population" in said(sampling_fraction="10%")
    assert "with the sampling weights w" in said(weights="w")
    by_weights, by_fraction = (
        sqlaudit.records(frame, qi=["zip"], **how) for how in ({"weights": "w"}, {"sampling_fraction": 0.1})
    )
    assert by_weights.risk == by_fraction.risk
    assert sqlaudit.records(frame, qi=["zip"]).risk.highest == 1
    assert by_fraction.to_dict()["of_sample"] is True


def test_refusals() -> None:
    frame = pd.DataFrame({"zip": [1, 2], "w": [10, 0], "home": [1, None]})
    with pytest.raises(UsageError, match="w is missing, 0 or negative in 1 of 2 rows"):
        sqlaudit.records(frame, qi=["zip"], weights="w")
    with pytest.raises(UsageError, match="home is missing in 1 of 2 rows"):
        sqlaudit.records(frame, qi=["zip"], household="home")
    with pytest.raises(UsageError, match="cannot be combined with nulls='wildcard'"):
        sqlaudit.records(frame, qi=["zip"], household="home", nulls="wildcard")
    worse = pd.DataFrame({"zip": [1, 2], "w": [10, float("inf")]})
    with pytest.raises(UsageError, match="too large for a number of people"):
        sqlaudit.records(worse, qi=["zip"], weights="w")
