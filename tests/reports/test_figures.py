"""Numbers in reports never tell another story than the verdict."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlaudit.reports.document import figure, level_against, limit, part, percent, plural

F = Fraction


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (1234567, "1,234,567"),
        (2.8284271247, "2.828"),
        (0.0031, "0.0031"),
        (12345.678, "12,345.7"),
        (1.99996, "1.99996"),
        (2.0000001, "2.0000001"),
        (1.9999999999999998, "2"),
        (0.0, "0"),
        (-0.5, "−0.5"),
        (F(7, 12), "0.5833"),
        (F(6, 2), "3"),
        (3.1e-9, "3.100e−9"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "undefined"),
        (None, "undefined"),
        (np.float64(0.25), "0.25"),
        (np.int64(4), "4"),
        (10**30, "1,000,000,000,000,000,000,000,000,000,000"),
    ],
)
def test_figure(value: float, shown: str) -> None:
    assert figure(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (F(1, 5), "0.2"),
        (F(9, 100), "0.09"),
        (F(1, 8), "0.125"),
        (F(1, 3), "1/3"),
        (F(5), "5"),
        (5, "5"),
        (F(1, 10**9), "0.000000001"),
        (F(12345, 10), "1234.5"),
        (None, "undefined"),
    ],
)
def test_limit_is_exact(value: Fraction | int | None, shown: str) -> None:
    assert limit(value) == shown


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0, "0%"),
        (0.0, "0%"),
        (1, "100%"),
        (F(1), "100%"),
        (0.0419, "4.2%"),
        (0.00001, "under 0.1%"),
        (0.99999, "over 99.9%"),
        (F(1, 3), "33.3%"),
        (None, "undefined"),
    ],
)
def test_percent(share: float, shown: str) -> None:
    assert percent(share) == shown


def test_part_of_nothing_is_silent() -> None:
    assert part(0, 0) == ""
    assert part(1, 8) == "12.5%"


def test_plural() -> None:
    assert [plural(1, "row"), plural(2, "row"), plural(1000, "class", "classes")] == [
        "1 row",
        "2 rows",
        "1,000 classes",
    ]


@pytest.mark.parametrize(
    ("level", "required", "operator", "holds", "shown"),
    [
        (0.2004, F(1, 5), "<=", False, "0.2004"),
        (0.200000004, F(1, 5), "<=", False, "0.200000004"),
        (0.19999999999999998, F(1, 5), "<=", True, "0.2"),
        (0.20000000000000004, F(1, 5), "<=", True, "0.2"),
        (0.19999999999999998, F(1, 5), "<=", False, "just over 0.2"),
        (2.9999999999999996, 3, ">=", True, "3"),
        (2.9999999999999996, 3, ">=", False, "just under 3"),
        (0.8, F(4, 5), "<", True, "just under 0.8"),
        (0.8, F(4, 5), "<", False, "0.8"),
        (F(10**20 + 1, 5 * 10**20), F(1, 5), "<=", False, "just over 0.2"),
        (F(1, 3), F(1, 3), "<=", True, "1/3"),
        (math.inf, 3, "<", False, "∞"),
        (None, 3, "<", None, "undefined"),
        (1, None, ">=", None, "1"),
    ],
)
def test_level_beside_its_limit(
    level: float, required: Fraction, operator: str, holds: bool | None, shown: str
) -> None:
    assert level_against(level, required, operator, holds) == shown


@settings(derandomize=True, deadline=None, max_examples=300)
@given(
    st.fractions(min_value=0, max_value=10**6, max_denominator=10**6),
    st.decimals(min_value=0, max_value=10**6, places=6),
)
def test_shown_level_lies_on_the_true_side(level: Fraction, decimal: object) -> None:
    required = F(str(decimal))
    shown = level_against(level, required)
    words = shown.split(" ")[:-1]
    value = F(shown.split(" ")[-1].replace(",", ""))
    if words:
        assert value == required
        assert words == ["just", "over"] if level > required else ["just", "under"]
    else:
        assert (value > required) == (level > required)
        assert (value < required) == (level < required)
