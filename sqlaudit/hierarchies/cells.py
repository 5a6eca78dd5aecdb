"""Cells of a generalized release: their meaning, and their spellings.

Numbers are exact fractions, points in time are naive (UTC), values are keys (`levels.key_of`): their text in one
spelling. `read_cell` reads the spellings, `cell_reader` applies the column's hierarchy, `dictionary` finds the values
in cells by SQL.
"""

from __future__ import annotations

import csv
import datetime
import functools
import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from sqlaudit.base.relation import DATES, NUMBERS, Kind
from sqlaudit.hierarchies.levels import key_of

_MASKED_YEAR = re.compile(r"[\d*]{4}(?:-[\d*]{2})?")
_DATE_TEXT = re.compile(r"\d{4}-\d{2}-\d{2}")
Bound = Fraction | datetime.datetime


@dataclass(frozen=True)
class AnyValue:
    """The cell `*`: every value, and NULL."""


@dataclass(frozen=True)
class Exact:
    """One value by its key; None = NULL."""

    key: str | None


@dataclass(frozen=True)
class Interval:
    """The numbers or points in time from `low` to `high`; None = no end. An open end is not part of it.

    Whole days, months and years are the time from their beginning (closed) to the next one's (open).
    """

    low: Bound | None
    high: Bound | None
    low_open: bool = False
    high_open: bool = False

    def holds(self, point: Bound | float) -> bool:
        """Return True if the interval contains a number or point in time; NaN is in none."""
        if isinstance(point, float) and math.isnan(point):
            return False
        above = self.low is None or (point > self.low if self.low_open else point >= self.low)  # type: ignore[operator]
        return above and (self.high is None or (point < self.high if self.high_open else point <= self.high))  # type: ignore[operator]

    def contains(self, other: Interval) -> bool:
        """Return True if the interval contains every point of another one."""
        low = self.low is None or (other.low is not None and (other.low, other.low_open) >= (self.low, self.low_open))
        high = self.high is None or (
            other.high is not None and (other.high, not other.high_open) <= (self.high, not self.high_open)
        )
        return low and high


@dataclass(frozen=True)
class Mask:
    """A text in which each `*` stands for one character: `130**` is every text of five that begins with 130.

    A mask of a year or a month stands for the dates in it, where these are texts: `197*` for 1975-03-01.
    """

    pattern: str

    @property
    def of_dates(self) -> bool:
        """True if it looks like a masked year or month."""
        return _MASKED_YEAR.fullmatch(self.pattern) is not None

    def holds(self, text: str) -> bool:
        """Return True if a text fits the mask.

        Example:
            >>> Mask("130**").holds("13053"), Mask("197*").holds("1975-03-01"), Mask("197*").holds("19753")
            (True, True, False)
        """
        compared = text[: len(self.pattern)] if self.of_dates and _DATE_TEXT.match(text) else text
        return len(compared) == len(self.pattern) and all(
            a in ("*", b) for a, b in zip(self.pattern, compared, strict=True)
        )

    def contains(self, other: Mask) -> bool:
        """Return True if every text that fits another mask fits this one."""
        return len(self.pattern) == len(other.pattern) and all(
            a in ("*", b) for a, b in zip(self.pattern, other.pattern, strict=True)
        )


@dataclass(frozen=True)
class LabelNode:
    """A label of the column's hierarchy, with its level."""

    label: str
    level: int


@dataclass(frozen=True)
class Values:
    """One of several values, by their keys: `{a, b}`."""

    keys: frozenset[str]


Cell = AnyValue | Exact | Interval | Mask | LabelNode | Values


@functools.lru_cache(maxsize=1 << 17)
def point_of(key: str, kind: str) -> Bound | float | None:
    """Return the number or point in time of a key, None when it has none. Infinite and undefined floats stay floats."""
    if kind in NUMBERS:
        try:
            number = Decimal(key)
        except InvalidOperation:
            return None
        return Fraction(number) if number.is_finite() else float(key)
    if kind in DATES:
        try:
            moment = datetime.datetime.fromisoformat(key)
        except ValueError:
            return None
        return moment.astimezone(datetime.UTC).replace(tzinfo=None) if moment.tzinfo else moment
    return None


def to_half_open(interval: Interval) -> Interval:
    """Return the interval of the same integers with a closed and an open end: `20-29` is `[20, 30)`.

    Example:
        >>> two = Interval(Fraction(20), Fraction(29)), Interval(Fraction(39, 2), Fraction(30), False, True)
        >>> to_half_open(two[0]) == to_half_open(two[1])
        True
    """
    low, high = interval.low, interval.high
    if isinstance(low, Fraction):
        low = Fraction(math.floor(low) + 1 if interval.low_open else math.ceil(low))
    if isinstance(high, Fraction):
        high = Fraction(math.ceil(high) if interval.high_open else math.floor(high) + 1)
    return Interval(low, high, False, high is not None)


# Spellings of generalized cells; `docs/hierarchies.md` lists them.
#
# Nothing here depends on a hierarchy or a table. The type of the original column decides between two readings: `20-30`
# is an interval of numbers, a span of dates is one of dates, and in a column of texts it is a text.

_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
_SPACES = dict.fromkeys(map(ord, "\u00a0\u2007\u2009\u202f"), " ")
_NUMBER = r"[+-]?(?:(?:\d{1,3}(?:[,' ]\d{3})+|\d+)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?|[+-]?(?:inf|infinity|∞)"
_DATE = r"\d{4}(?:-?Q[1-4]|-\d{2}(?:-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?)?)?"
_SPELLINGS = {"<": ("<",), "<=": ("≤", "<=", "=<", "⩽", "≦"), ">": (">",), ">=": ("≥", ">=", "=>", "⩾", "≧")}
_SIGNS = {spelling: sign for sign, spellings in _SPELLINGS.items() for spelling in spellings}
_ONE_END = re.compile("(" + "|".join(sorted(_SIGNS, key=len, reverse=True)) + r")\s*(.+)")
_BRACKETS = re.compile(r"([\[\](])\s*(.*?)\s*([\[\])])")
_BETWEEN = re.compile(r"\s*(?:;|\.\.+|…|/|\bto\b|\s-\s)\s*")
_LAST_YEAR = 9999
_MASKED_DATE = re.compile(r"(?=.*\*)(?:\d{1,3}\*+(?<=^.{4})|\d{4}-\d?\*+(?<=^.{7})|\d{4}-\d{2}-\d?\*+(?<=^.{10}))")
"""A year, month or day of which the last digits are stars."""


def read_cell(text: str, kind: Kind) -> Cell | None:
    """Return the cell of a text, in a column whose original has values of this type; None when it cannot be read.

    Example:
        >>> read_cell("[20-30)", Kind.INTEGER) == read_cell("[20, 30[", Kind.INTEGER)
        True
        >>> read_cell("130**", Kind.TEXT)
        Mask(pattern='130**')
    """
    plain = text.translate(_DASHES).translate(_SPACES).strip()
    if plain == "*":
        return AnyValue()
    if plain.startswith("{") and plain.endswith("}"):
        return _read_values(text.strip(), kind)
    if kind in DATES and _MASKED_DATE.fullmatch(plain):
        return _read_masked_date(plain)
    if kind in NUMBERS or kind in DATES:
        return _read_exact(plain, kind) or (Mask(plain) if "*" in plain else _read_interval(plain, kind))
    if kind is Kind.BOOLEAN:
        return _read_exact(plain, kind)
    return Mask(text) if "*" in text else Exact(text)


def _read_values(text: str, kind: Kind) -> Cell | None:
    """Return the cell of `{a, b}`; a member with a comma is in double quotes."""
    try:
        (members,) = csv.reader([text[1:-1]], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        return None
    keys = [
        key_of(member.strip().translate(_DASHES) if kind in NUMBERS else member.strip(), kind) for member in members
    ]
    readable = [key for key in keys if key is not None]
    return Values(frozenset(readable)) if readable and len(readable) == len(keys) else None


def _read_exact(text: str, kind: Kind) -> Exact | None:
    """Return the cell of one value; None of a text that is none."""
    if kind in NUMBERS:
        text = _without_groups(text) if re.fullmatch(_NUMBER, text, re.IGNORECASE) else text
        key = key_of(text, kind) or key_of(text, Kind.DECIMAL)
    elif kind is Kind.TIMESTAMP and len(text) <= len("2024-02-29"):
        key = None  # a day is all of its moments
    elif kind in DATES:
        key = key_of(text, kind) if re.match(r"\d{4}-\d{2}-\d{2}", text) else None
    else:
        key = key_of(text, kind)
    return None if key is None else Exact(key)


def _read_interval(text: str, kind: Kind) -> Interval | None:
    """Return an interval in any spelling; None of a text that is none, or of an empty interval."""
    interval = _read_period(text, kind) or _read_one_end(text, kind) or _read_two_ends(text, kind)
    if interval is None or interval.low is None or interval.high is None:
        return interval
    if interval.low == interval.high:
        return None if interval.low_open or interval.high_open else interval
    return interval if interval.low < interval.high else None  # type: ignore[operator]


def _read_masked_date(text: str) -> Cell:
    """Return `197*`, `1975-0*`, `1975-03-**` as the time from the first date that fits to the last, else a mask."""
    stem = text.rstrip("*")
    fitting = [
        period
        for digits in itertools.product("0123456789", repeat=len(text) - len(stem))
        if (period := _read_date(stem + "".join(digits))) is not None
    ]
    if not fitting:
        return Mask(text)
    return Interval(fitting[0][0], fitting[-1][1], False, fitting[-1][1] is not None)


def _read_period(text: str, kind: Kind) -> Interval | None:
    """Return a year, quarter, month or day as its time."""
    period = _read_date(text) if kind in DATES else None
    if period is None:
        return None
    return Interval(period[0], period[1], False, period[1] is not None and not period[2])


def _read_one_end(text: str, kind: Kind) -> Interval | None:
    """Return an interval with one bound, `<30` or `30+`; None of a text that is none."""
    match = _ONE_END.fullmatch(text)
    if match is None and not text.endswith("+"):
        return None
    sign, bound = (_SIGNS[match[1]], match[2]) if match else (">=", text[:-1].strip())
    closed = sign.endswith("=")
    return (
        _interval_between(bound, "", kind, closed, True)
        if sign[0] == ">"
        else _interval_between("", bound, kind, True, closed)
    )


def _read_two_ends(text: str, kind: Kind) -> Interval | None:
    """Return an interval in brackets, or `20-30` without, which contains both ends."""
    match = _BRACKETS.fullmatch(text)
    inner, low_closed, high_closed = (match[2], match[1] == "[", match[3] == "]") if match else (text, True, True)
    ends = [bounds for bounds in _split_bounds(inner, kind, comma=match is not None) if match or all(bounds)]
    intervals = {_interval_between(*bounds, kind, low_closed, high_closed) for bounds in ends} - {None}
    return intervals.pop() if len(intervals) == 1 else None


def _split_bounds(text: str, kind: Kind, *, comma: bool) -> Iterator[tuple[str, str]]:
    """Yield every way to split a text into two bounds, one of which may be empty, by the first separator that works."""
    parts = _BETWEEN.split(text)
    if len(parts) == 2:
        yield parts[0], parts[1]
        return
    bound = _DATE if kind in DATES else _NUMBER
    if comma and "," in text:
        spaced = re.fullmatch(r"(.*?)\s*,\s+(.*)|(.*),", text)
        if spaced:
            yield spaced[1] or spaced[3] or "", spaced[2] or ""
            return
        yield from ((text[:at], text[at + 1 :]) for at, sign in enumerate(text) if sign == ",")
        return
    match = re.fullmatch(rf"({bound})?\s*-\s*({bound})?", text, re.IGNORECASE)
    if match:
        yield match[1] or "", match[2] or ""


Period = tuple[Bound | None, Bound | None, bool]
"""The first point, the end, and whether the end still belongs to it; None where there is no end."""


def _interval_between(low: str, high: str, kind: Kind, low_closed: bool, high_closed: bool) -> Interval | None:
    """Return the interval between two bounds, which may be periods of time; None when one of them cannot be read."""
    period = _read_date if kind in DATES else _read_number
    first = period(low) if low else (None, None, False)
    last = period(high) if high else (None, None, False)
    if first is None or last is None or not (low or high):
        return None
    # from where the first period begins, or after it, to where the last one ends, or before it
    start, start_open = (first[0], False) if low_closed or first[0] is None else first[1:]
    end, end_open = (last[1], not last[2]) if high_closed else (last[0], True)
    return Interval(start, end, start_open, end_open and end is not None)


def _read_number(text: str) -> Period | None:
    """Return a number as a period without duration; None of a text that is none."""
    plain = text.strip()
    if re.fullmatch(_NUMBER, plain, re.IGNORECASE) is None:
        return None
    if plain.strip("+-").lower() in ("inf", "infinity", "∞"):
        return None, None, False
    number = Fraction(Decimal(_without_groups(plain)))
    return number, number, True


def _without_groups(text: str) -> str:
    return re.sub(r"[,' ]", "", text)


def _read_date(text: str) -> Period | None:
    """Return a year, quarter, month or day from its beginning to the next one's, or one moment."""
    plain = text.strip().upper()
    if re.fullmatch(_DATE, plain) is None:
        return None
    try:
        if len(plain) > len("2024-02-29"):
            moment = datetime.datetime.fromisoformat(plain)
            return moment, moment, True
        return _calendar_period(plain)
    except ValueError:
        return None


def _calendar_period(text: str) -> Period:
    """Return the period of a year, quarter, month or day."""
    year = int(text[:4])
    months, day = {4: (12, 1), 7: (1, 1), 10: (1, int(text[8:]) if len(text) == 10 else 1)}.get(len(text), (3, 1))
    if "Q" in text:
        months, month = 3, 3 * int(text[-1]) - 2
    else:
        month = int(text[5:7] or 1)
    start = datetime.datetime(year, month, day)
    if len(text) == 10:
        end = start + datetime.timedelta(days=1) if start.date() < datetime.date.max else None
        return start, end, False
    after = month + months
    if year == _LAST_YEAR and after > 12:
        return start, None, False
    return start, datetime.datetime(year + (after > 12), (after - 1) % 12 + 1, 1), False
