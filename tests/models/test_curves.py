"""Class functions that are curves: what they are, on every engine, against their formulas."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Target
from sqlaudit.classes.attribute_inputs import inputs_of
from sqlaudit.classes.facts import SensitiveTable
from sqlaudit.classes.inputs import read_inputs
from sqlaudit.engines.contract import Engine
from tests.conftest import AuditOn

FIGURE = {0: 0, 8000: 1, 15000: 1.5, 25000: 2.5, 60000: 3, 100000: 4, 250000: 4.5, 1000000: 5.5}
"""Hsu, Figure 3.6-1: the classes of the text are one apart each."""
PAY = [0, 4000, 8000, 15000, 20000, 25000, 60000, 80000, 100000, 250000, 1000000]


def numbers(function: Any, values: list[Any], totals: tuple[int, ...] | None = None) -> list[Fraction]:
    table = SensitiveTable("pay", totals or (1,) * len(values), False, True, False, tuple(values))
    found = inputs_of(read_inputs({"class_function": function}), "pay", table)["class_function"]
    return list(found.numbers)


def test_the_classes_of_the_figure() -> None:
    cf = dict(zip(PAY, numbers({"points": FIGURE}, PAY), strict=True))
    steps = [(0, 8000), (15000, 25000), (60000, 100000), (250000, 1000000)]
    assert [cf[high] - cf[low] for low, high in steps] == [1, 1, 1, 1]
    assert (cf[4000], cf[20000], cf[80000]) == (Fraction(1, 2), 2, Fraction(7, 2))


def test_the_curve_of_the_text() -> None:
    b, eta = 0.0001, 2.0
    found = numbers({"gompertz": {"b": b, "eta": eta}}, PAY)
    wanted = [(1 - math.exp(-b * s)) * math.exp(-eta * math.exp(-b * s)) for s in PAY]
    assert [float(one) for one in found] == pytest.approx(wanted, rel=1e-12)


def test_the_distribution_of_the_table() -> None:
    """Sensitiveness in proportion to how many people lie between two values."""
    assert numbers({"distribution": "table"}, [1, 5, 9], (2, 1, 5)) == [Fraction(1, 4), Fraction(3, 8), 1]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x", lambda x: x),
        ("x ** 2 / 4 - -1", lambda x: Fraction(x * x, 4) + 1),
        ("least(x, 5) + 0.25", lambda x: min(x, 5) + Fraction(1, 4)),
        ("ln(1 + x / 2) * sqrt(4)", lambda x: Fraction(math.log(1 + Fraction(x, 2)) * 2)),
    ],
)
def test_expressions(text: str, wanted: Any) -> None:
    assert numbers({"expression": text}, [0, 3, 8]) == [wanted(x) for x in (0, 3, 8)]


CURVES: list[tuple[dict[str, Any], Any]] = [
    ({"points": {0: 0, 2: 1, 8: 3}}, lambda x: x / 2 if x <= 2 else 1 + (x - 2) / 3),
    ({"expression": "ln(1 + x) ** 2 + greatest(-1, x) / 4"}, lambda x: math.log(1 + x) ** 2 + x / 4),
    ({"gompertz": {"b": 0.5, "eta": 1.5}}, lambda x: (1 - math.exp(-x / 2)) * math.exp(-1.5 * math.exp(-x / 2))),
]


@pytest.mark.parametrize(("function", "curve"), CURVES, ids=["points", "expression", "gompertz"])
def test_estimates_over_a_curve(engine: Engine, function: dict[str, Any], curve: Any) -> None:
    """The database computes the curve where no listed number may stand in its SQL."""
    rows = [(1, 0), (1, 1), (1, 2), (1, 2), (2, 5), (2, 8)]
    text = " UNION ALL ".join(f"SELECT {q} AS q, {s} AS s" for q, s in rows)
    inputs = {"class_function": function, "width": 1.5}
    found = sqlaudit.audit(Target(query=text), db=engine, qi=["q"], sensitive="s", require=["psi=9"], inputs=inputs)
    psi = [
        sum(math.exp(-(((curve(s) - curve(x)) / 1.5) ** 2) / 2) for p, s in rows if p == q)
        / 1.5
        / math.sqrt(2 * math.pi)
        for q, x in rows
    ]
    assert found.checks[0].level == pytest.approx(min(psi), rel=1e-12)
    assert found.checks[0].levels["highest"] == pytest.approx(max(psi), rel=1e-12)
    assert found.checks[0].failing_rows == 6


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ({"points": {0: 0}}, "at least two different values"),
        ({"points": {0: 1, 5: 0}}, "must not fall"),
        ({"points": {0: 0, 3: 1}}, "outside the break points"),
        ({"expression": "__import__('os')"}, "may use x"),
        ({"expression": "y + 1"}, "may use x"),
        ({"expression": "x.real"}, "may use x"),
        ({"expression": "exp(x, 1)"}, "may use x"),
        ({"expression": "-x"}, "must not fall"),
        ({"expression": "ln(x - 1)"}, "no number for a value"),
        ({"expression": "exp(x ** 60)"}, "no number for a value"),
        ({"gompertz": {"b": 1}}, "needs b and eta"),
        ({"gompertz": {"b": 0, "eta": 1}}, "greater than 0"),
    ],
)
def test_what_is_no_curve(function: Any, words: str) -> None:
    with pytest.raises(UsageError) as raised:
        numbers(function, [0, 7, 4321])
    assert words in str(raised.value)
    assert "4321" not in str(raised.value)


def test_values_may_be_called_like_curves() -> None:
    table = SensitiveTable("s", (1,), False, False, True, ("points",))
    assert inputs_of(read_inputs({"class_function": {"points": 3}}), "s", table)["class_function"].numbers == (3,)


def test_the_estimate_of_each_value_of_a_class(audit_on: AuditOn) -> None:
    """The figures of Hsu's Figure 3.6-3, of its whole block; by name only where values may be shown."""
    places = {"s0": 0, "s1": 1, "s2": 2, "s3": 2.5, "s4": 4, "s5": 5, "s6": 6, "s7": 8, "s8": 9}
    held = ["s0", "s1", "s2", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s8"]
    rows = [{"q": 1, "s": s} for s in held] + [{"q": 2, "s": "s0"}]
    asked = {"qi": ["q"], "sensitive": "s", "require": ["psi=2"], "inputs": {"class_function": places, "width": 1}}
    named = audit_on(rows, {"q": "int", "s": "text"}, **asked, show_values=True)
    told = {item.key["q"]: item.figures for item in named.failing if item.key}
    wanted = [0.77, 1.26, 1.50, 1.40, 0.94, 0.91, 0.76, 0.94, 1.04]
    assert [round(float(told[1][f"ψ of {value}"] or 0), 2) for value in places] == wanted
    assert told[2]["ψ of s0"] == pytest.approx(1 / math.sqrt(2 * math.pi))
    assert told[2]["ψ of s1"] is None
    hidden = audit_on(rows, {"q": "int", "s": "text"}, **asked).failing
    assert sorted(round(float(item.figures["ψ of value 1"] or 0), 2) for item in hidden) == [0.4, 0.77]
    assert not any("ψ of s" in name for item in hidden for name in item.figures)
