"""Which levels that are computed, not listed, have a given cell."""

from __future__ import annotations

import datetime
import math
from fractions import Fraction

from sqlaudit.base.relation import Kind
from sqlaudit.hierarchies.cell_text import read_cell
from sqlaudit.hierarchies.cells import Bound, Cell, Interval, Mask, point_of, whole
from sqlaudit.hierarchies.level_sql import LIMITS
from sqlaudit.hierarchies.levels import DateLevel, Level, MaskLevel, WidthLevel

_NOWHERE = Interval(Fraction(0), Fraction(0), True, True)


def as_interval(cell: Cell, kind: Kind) -> Interval | None:
    """The cell as an interval, None when it is none; a mask of the last digits of whole numbers is one, too."""
    if isinstance(cell, Mask):
        digits = cell.pattern.rstrip("*")
        if kind is not Kind.INTEGER or not (digits.isascii() and digits.isdecimal()) or digits.startswith("0"):
            return None
        unit = 10 ** (len(cell.pattern) - len(digits))
        return Interval(Fraction(int(digits) * unit), Fraction((int(digits) + 1) * unit), False, True)
    if not isinstance(cell, Interval):
        return None
    return whole(cell) if kind is Kind.INTEGER else cell


def is_of_level(cell: Cell, level: Level, kind: Kind) -> bool:
    """Whether a computed level gives some value this cell."""
    if isinstance(level, MaskLevel) and isinstance(cell, Mask):
        text = cell.pattern
        kept = min(level.count, len(text)) if level.keeps else max(0, len(text) - level.count)
        return "*" not in text[:kept] and set(text[kept:]) <= {"*"}
    if isinstance(level, WidthLevel) and isinstance(cell, Interval):
        return as_interval(cell, kind) == as_interval(_of_width(level, cell), kind)
    if isinstance(level, DateLevel) and isinstance(cell, Interval):
        return read_cell(_of_part(level, cell.low), kind) == cell
    return False


def has_label(level: Level, key: str, kind: Kind) -> bool:
    """Whether a computed level covers the value with a key; what it does not cover gets the default."""
    if isinstance(level, DateLevel):
        return isinstance(point_of(key, kind), datetime.datetime)
    if not isinstance(level, WidthLevel):
        return True
    number = point_of(key, kind)
    if not isinstance(number, Fraction | float) or math.isnan(number):
        return False
    below = level.low is not None and number < level.low
    above = level.high is not None and number >= level.high
    return below or above or -LIMITS[kind] < number < LIMITS[kind]


def _of_width(level: WidthLevel, cell: Interval) -> Interval:
    """The interval of a level in which a cell begins (or ends, when it has no beginning)."""
    if cell.low is None:
        return Interval(None, level.low, False, True) if level.low is not None else _NOWHERE
    if not isinstance(cell.low, Fraction):
        return _NOWHERE
    if level.high is not None and cell.low >= level.high:
        return Interval(level.high, None)
    start = level.origin + level.width * ((cell.low - level.origin) // level.width)
    end = start + level.width
    low = start if level.low is None else max(start, level.low)
    return Interval(low, end if level.high is None else min(end, level.high), False, True)


def _of_part(level: DateLevel, low: Bound | None) -> str:
    """The label of a date level in whose time a moment lies, empty without one."""
    if low is None or isinstance(low, Fraction):
        return ""
    year = low.year
    span = {"decade": 10, "century": 100}.get(level.part.value)
    if span:
        return f"{year // span * span:04}-{year // span * span + span - 1:04}"
    return {
        "day": f"{year:04}-{low.month:02}-{low.day:02}",
        "month": f"{year:04}-{low.month:02}",
        "quarter": f"{year:04}-Q{(low.month + 2) // 3}",
        "year": f"{year:04}",
    }[level.part.value]
