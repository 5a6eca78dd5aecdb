"""Numbers as sentences have them. Counts only; no value of a table."""

from __future__ import annotations

from fractions import Fraction

from sqlaudit.column_sets.result import percent

SINGULAR = {
    "values": "value",
    "rows": "row",
    "cells": "cell",
    "persons": "person",
    "people": "person",
    "positions": "position",
    "classes": "class",
    "finer nodes": "finer node",
}


def some(number: int, unit: str) -> str:
    """A count with its unit.

    Example:
        >>> some(1, "rows"), some(1234, "classes")
        ('1 row', '1,234 classes')
    """
    return f"{number:,} {SINGULAR.get(unit, unit) if number == 1 else unit}"


def of_all(number: int, whole: int, unit: str) -> str:
    """A part of a whole: `3 of 12 rows (25%)`.

    Example:
        >>> of_all(3, 12, "rows"), of_all(0, 0, "rows")
        ('3 of 12 rows (25%)', '0 of 0 rows')
    """
    share = f" ({percent(Fraction(number, whole))})" if whole else ""
    return f"{number:,} of {some(whole, unit)}{share}"


def chance(value: float | Fraction | None) -> str:
    """A probability as a percentage; only certainty prints as 100%.

    Example:
        >>> chance(Fraction(2, 3)), chance(1), chance(None)
        ('67%', '100%', 'unknown')
    """
    return "unknown" if value is None else percent(Fraction(value))
