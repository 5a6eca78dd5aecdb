"""Individual risk: sdcMicro's documented example, a long series, and the same in SQL."""

from __future__ import annotations

from fractions import Fraction
from math import isclose, log

import pytest

from sqlaudit.base.spec import Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.population.sample import individual_risk
from tests.audit_values import values_query
from tests.population import oracle

SHARES = ("1/1000000000", "1/541", "1/50", "1/5", "0.49", "1/2", "0.51", "0.8", "0.9999")
MEMBERS = (1, 2, 3, 4, 7, 12, 13, 14, 40, 1000)


@pytest.mark.parametrize("share", SHARES)
def test_a_long_series(share: str) -> None:
    for members in MEMBERS:
        exact = float(oracle.individual_risk(members, Fraction(share)))
        assert isclose(individual_risk(members, float(Fraction(share))), exact, rel_tol=1e-12)


def test_the_formulas_of_the_paper() -> None:
    p, q = 0.02, 0.98
    assert isclose(individual_risk(1, p), p / q * log(1 / p), rel_tol=1e-14)
    assert isclose(individual_risk(2, p), p / q - (p / q) ** 2 * log(1 / p), rel_tol=1e-13)
    assert isclose(individual_risk(3, p), p / q * (q / 2 - p + p**2 / q * log(1 / p)) / q, rel_tol=1e-12)
    assert individual_risk(4, 1.0) == individual_risk(4, 1.5) == 0.25


def test_the_same_in_sql(engine: Engine) -> None:
    """Classes of f rows whose weights add up to f/p people, each a table of its own weights."""
    cases = [(members, Fraction(share)) for members in MEMBERS[:9] for share in SHARES[1:]]
    rows = []
    for number, (members, share) in enumerate(cases):
        rows += [{"c": number, "w": round(float(1 / share), 6)} for _ in range(members)]
    table = engine.open(Target(query=values_query(rows, {"c": "int", "w": "float"}))).sql
    for number, (members, share) in enumerate(cases):
        if number % 4 == 0:
            found = _journalist(engine, f"(SELECT * FROM {table} AS v WHERE c = {number})")
            people = round(float(1 / share), 6)
            assert isclose(found, members * individual_risk(members, 1 / people), rel_tol=1e-12)


def _journalist(engine: Engine, source: str) -> float:
    statement = render(
        "population/weighted_classes.sql",
        engine.dialect,
        source=Raw(source),
        keys=[Raw("c")],
        solo=False,
        weight=Raw("w"),
    )
    return float(engine.run(statement)[0][2])
