"""What the labels of values are, in slow and obvious Python."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sqlaudit.hierarchies.levels import DateLevel, DatePart, Hierarchy, MaskLevel, TopLevel, WidthLevel, decimal_text


def exact(value: Any) -> Fraction | None:
    """A number as the decimal that it prints as, None when it is none."""
    if isinstance(value, float):
        return None if math.isnan(value) or math.isinf(value) else Fraction(repr(value))
    return Fraction(value)


def interval(level: WidthLevel, value: Any) -> str | None:
    """By walking from the origin, interval by interval."""
    if level.low is not None and value < level.low:
        return "<" + decimal_text(level.low)
    if level.high is not None and value >= level.high:
        return ">=" + decimal_text(level.high)
    number = exact(value)
    if number is None or abs(number) >= (10**15 if isinstance(value, float) else 10**20):
        return None
    start = level.origin + level.width * ((number - level.origin) // level.width)
    assert start <= number < start + level.width
    end = start + level.width
    first = start if level.low is None else max(start, level.low)
    last = end if level.high is None else min(end, level.high)
    return f"[{padded(first, level.decimals)}, {padded(last, level.decimals)})"


def padded(number: Fraction, decimals: int) -> str:
    """With exactly so many decimals."""
    return f"{Decimal(number.numerator) / Decimal(number.denominator):.{decimals}f}"


def mask(level: MaskLevel, text: str) -> str:
    """Character by character."""
    kept = level.count if level.keeps else len(text) - level.count
    return "".join(character if i < kept else "*" for i, character in enumerate(text))


def date_part(level: DateLevel, value: datetime.date) -> str:
    """By the calendar."""
    year = value.year
    spans = {
        DatePart.DAY: f"{year:04}-{value.month:02}-{value.day:02}",
        DatePart.MONTH: f"{year:04}-{value.month:02}",
        DatePart.QUARTER: f"{year:04}-Q{[1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4][value.month - 1]}",
        DatePart.YEAR: f"{year:04}",
    }
    lengths = {"5 years": 5, "decade": 10, "10 years": 10, "20 years": 20, "century": 100}
    if level.part not in lengths:
        return spans[level.part]
    first = next(first for first in range(year, -1, -1) if first % lengths[level.part] == 0)
    return f"{first:04}-{first + lengths[level.part] - 1:04}"


def label(hierarchy: Hierarchy, number: int, value: Any) -> Any:
    """The label of a value at a level, without the default."""
    level = hierarchy.level(number)
    if isinstance(level, TopLevel):
        return "*"
    if level is None or value is None:
        return value
    if isinstance(level, WidthLevel):
        return interval(level, value)
    if isinstance(level, MaskLevel):
        return mask(level, str(value))
    assert isinstance(level, DateLevel)
    return date_part(level, value)
