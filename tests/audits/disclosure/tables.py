"""The checked buckets of the worst-case paper and others, as tables of rows on any engine."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

Classes = Sequence[Sequence[int]]
COLUMNS = {"room": "int", "disease": "text"}

CHECKED: tuple[tuple[Classes, str, str], ...] = (
    ([[2, 2, 1], [2, 1, 1, 1]], "2/5 2/3 1", "2/5 2/3 1"),
    ([[2, 1, 1]], "1/2 3/4 1", "1/2 2/3 1"),
    ([[3, 3, 2, 2, 1, 1], [4, 2, 2, 1, 1]], "2/5 6/11 12/17 28/33 1", "2/5 1/2 2/3 4/5 1"),
    ([[5, 5, 5, 5], [6, 5, 5, 4], [9, 1, 1, 1, 1, 1]], "9/14 117/137 117/122 1", "9/14 9/13 3/4 1"),
)
"""(classes by counts, maximum disclosure by k, the same for negated atoms)."""


def fractions(text: str) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, text.split()))


def rows_of(classes: Classes, further_values: int = 0) -> list[dict[str, Any]]:
    """One row a person: `room` is the class, `disease` the value; with so many values more in a class of their own.

    The further class is large and even, so that it changes nothing up to k = 4.
    """
    rows = [
        {"room": room, "disease": f"disease {value:03}"}
        for room, counts in enumerate(classes)
        for value, count in enumerate(counts)
        for _ in range(count)
    ]
    return rows + [{"room": 1000, "disease": f"rare {value:03}"} for value in range(further_values)]
