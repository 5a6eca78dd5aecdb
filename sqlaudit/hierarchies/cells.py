"""What a cell of a generalized release stands for: frozen value objects, the same for every way to write a cell.

Numbers are exact fractions, points in time are naive (UTC), values are keys (`matching.key_of`): their text in one
spelling. `cell_text` reads the spellings, `cell_reader` knows the column's hierarchy, `membership` asks in SQL.
"""

from __future__ import annotations

import datetime
import functools
import math
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction

_MASKED_YEAR = re.compile(r"[\d*]{4}(?:-[\d*]{2})?")
_DATE_TEXT = re.compile(r"\d{4}-\d{2}-\d{2}")
Bound = Fraction | datetime.datetime
NUMBERS = ("integer", "decimal", "float")
DATES = ("date", "timestamp")


@dataclass(frozen=True)
class AnyValue:
    """`*`: every value, and NULL."""


@dataclass(frozen=True)
class Exact:
    """One value by its key; None = NULL."""

    key: str | None


@dataclass(frozen=True)
class Interval:
    """The numbers or points in time from `low` to `high`; None = no end. An open end does not belong to it.

    Whole days, months and years are spelled as the time from their beginning (closed) to the next one's (open).
    """

    low: Bound | None
    high: Bound | None
    low_open: bool = False
    high_open: bool = False

    def holds(self, point: Bound | float) -> bool:
        """Whether a number or point in time lies in it; NaN never does."""
        return self._above(point) and self._below(point)

    def _above(self, point: Bound | float) -> bool:
        if self.low is None:
            return not (isinstance(point, float) and math.isnan(point))
        return bool(point > self.low if self.low_open else point >= self.low)  # type: ignore[operator]

    def _below(self, point: Bound | float) -> bool:
        if self.high is None:
            return not (isinstance(point, float) and math.isnan(point))
        return bool(point < self.high if self.high_open else point <= self.high)  # type: ignore[operator]

    def contains(self, other: Interval) -> bool:
        """Whether every point of another interval lies in this one."""
        low = self.low is None or (
            other.low is not None
            and (other.low > self.low or (other.low == self.low and (other.low_open or not self.low_open)))  # type: ignore[operator]
        )
        high = self.high is None or (
            other.high is not None
            and (other.high < self.high or (other.high == self.high and (other.high_open or not self.high_open)))  # type: ignore[operator]
        )
        return low and high


@dataclass(frozen=True)
class Mask:
    """A text in which each `*` stands for one character: `130**` is every text of five that begins with 130.

    What is masked like a year or a month stands for the dates in it, where these are texts: `197*` for 1975-03-01.
    """

    pattern: str

    @property
    def of_dates(self) -> bool:
        """Whether it looks like a masked year or month."""
        return _MASKED_YEAR.fullmatch(self.pattern) is not None

    def holds(self, text: str) -> bool:
        """Whether a text fits.

        Example:
            >>> Mask("130**").holds("13053"), Mask("197*").holds("1975-03-01"), Mask("197*").holds("19753")
            (True, True, False)
        """
        shown = text[: len(self.pattern)] if self.of_dates and _DATE_TEXT.match(text) else text
        return len(shown) == len(self.pattern) and all(a in ("*", b) for a, b in zip(self.pattern, shown, strict=True))

    def contains(self, other: Mask) -> bool:
        """Whether every text that fits another mask fits this one."""
        return len(self.pattern) == len(other.pattern) and all(
            a in ("*", b) for a, b in zip(self.pattern, other.pattern, strict=True)
        )


@dataclass(frozen=True)
class LabelNode:
    """A label of the column's hierarchy, with the level that it was found at."""

    label: str
    level: int


@dataclass(frozen=True)
class Values:
    """One of several values, by their keys: `{a, b}`."""

    keys: frozenset[str]


Cell = AnyValue | Exact | Interval | Mask | LabelNode | Values


@functools.lru_cache(maxsize=1 << 17)
def point_of(key: str, kind: str) -> Bound | float | None:
    """The number or point in time of a key, None when it has none; infinite and undefined floats stay floats."""
    if kind in NUMBERS:
        try:
            number = Decimal(key)
        except InvalidOperation:
            return None
        return Fraction(number) if number.is_finite() else float(key)
    if kind in DATES:
        try:
            found = datetime.datetime.fromisoformat(key)
        except ValueError:
            return None
        return found.astimezone(datetime.UTC).replace(tzinfo=None) if found.tzinfo else found
    return None


def whole(interval: Interval) -> Interval:
    """The same whole numbers between a closed and an open end: `20-29` is `[20, 30)`.

    Example:
        >>> whole(Interval(Fraction(20), Fraction(29))) == whole(Interval(Fraction(39, 2), Fraction(30), False, True))
        True
    """
    low, high = interval.low, interval.high
    if isinstance(low, Fraction):
        low = Fraction(math.floor(low) + 1 if interval.low_open else math.ceil(low))
    if isinstance(high, Fraction):
        high = Fraction(math.ceil(high) if interval.high_open else math.floor(high) + 1)
    return Interval(low, high, False, high is not None)
