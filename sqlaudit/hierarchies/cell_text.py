"""How people write generalized cells, as values of `cells`. `docs/hierarchies.md` lists what is understood.

Nothing here knows a hierarchy or a table. What can be read in two ways is settled by the kind of the original column:
`20-30` is an interval of numbers, a span of dates is one of dates, and in a column of texts it is a text.
"""

from __future__ import annotations

import csv
import datetime
import itertools
import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from sqlaudit.base.relation import Kind
from sqlaudit.hierarchies.cells import AnyValue, Bound, Cell, Exact, Interval, Mask, Values
from sqlaudit.hierarchies.matching import key_of

_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
_SPACES = dict.fromkeys(map(ord, "\u00a0\u2007\u2009\u202f"), " ")
_NUMBER = r"[+-]?(?:(?:\d{1,3}(?:[,' ]\d{3})+|\d+)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?|[+-]?(?:inf|infinity|∞)"
_DATE = r"\d{4}(?:-?Q[1-4]|-\d{2}(?:-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?)?)?"
_SIGNS = {
    "<": "<",
    "≤": "<=",
    "<=": "<=",
    "=<": "<=",
    "⩽": "<=",
    "≦": "<=",
    ">": ">",
    "≥": ">=",
    ">=": ">=",
    "=>": ">=",
    "⩾": ">=",
    "≧": ">=",
}
_ONE_END = re.compile("(" + "|".join(sorted(_SIGNS, key=len, reverse=True)) + r")\s*(.+)")
_BRACKETS = re.compile(r"([\[\](])\s*(.*?)\s*([\[\])])")
_BETWEEN = re.compile(r"\s*(?:;|\.\.+|…|/|\bto\b|\s-\s)\s*")
_LAST_YEAR = 9999
_FORMS = {Kind.DATE: _DATE, Kind.TIMESTAMP: _DATE}
_MASKED_DATE = re.compile(r"(?=.*\*)(?:\d{1,3}\*+(?<=^.{4})|\d{4}-\d?\*+(?<=^.{7})|\d{4}-\d{2}-\d?\*+(?<=^.{10}))")
"""A year, month or day of which the last digits are stars."""
_NUMERIC = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)


def read_cell(text: str, kind: Kind) -> Cell | None:
    """What a cell's text stands for in a column whose original holds values of a kind; None when it cannot be read.

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
        return _values(text.strip(), kind)
    if kind in _FORMS and _MASKED_DATE.fullmatch(plain):
        return _masked_date(plain)
    if kind in _NUMERIC or kind in _FORMS:
        return _exact(plain, kind) or (Mask(plain) if "*" in plain else _interval(plain, kind))
    if kind is Kind.BOOLEAN:
        return _exact(plain, kind)
    return Mask(text) if "*" in text else Exact(text)


def _values(text: str, kind: Kind) -> Cell | None:
    """`{a, b}`; a member with a comma stands in double quotes."""
    try:
        (members,) = csv.reader([text[1:-1]], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        return None
    keys = [
        key_of(member.strip().translate(_DASHES) if kind in _NUMERIC else member.strip(), kind) for member in members
    ]
    known = [key for key in keys if key is not None]
    return Values(frozenset(known)) if known and len(known) == len(keys) else None


def _exact(text: str, kind: Kind) -> Exact | None:
    if kind in _NUMERIC:
        text = _without_groups(text) if re.fullmatch(_NUMBER, text, re.IGNORECASE) else text
        key = key_of(text, kind) or key_of(text, Kind.DECIMAL)
    elif kind is Kind.TIMESTAMP and len(text) <= len("2024-02-29"):
        key = None  # a day is all of its moments
    elif kind in _FORMS:
        key = key_of(text, kind) if re.match(r"\d{4}-\d{2}-\d{2}", text) else None
    else:
        key = key_of(text, kind)
    return None if key is None else Exact(key)


def _interval(text: str, kind: Kind) -> Interval | None:
    """An interval in any spelling; None when it is none, or holds no point."""
    found = _part_of_time(text, kind) or _one_end(text, kind) or _bracketed(text, kind) or _span(text, kind)
    if found is None or found.low is None or found.high is None:
        return found
    if found.low == found.high:
        return None if found.low_open or found.high_open else found
    return found if found.low < found.high else None  # type: ignore[operator]


def _masked_date(text: str) -> Cell:
    """`197*`, `1975-0*`, `1975-03-**`: the time from the first date that fits to the last; a mask when none does."""
    stem = text.rstrip("*")
    fitting = [
        period
        for digits in itertools.product("0123456789", repeat=len(text) - len(stem))
        if (period := _date_period(stem + "".join(digits))) is not None
    ]
    if not fitting:
        return Mask(text)
    return Interval(fitting[0][0], fitting[-1][1], False, fitting[-1][1] is not None)


def _part_of_time(text: str, kind: Kind) -> Interval | None:
    """A year, quarter, month or day as the time that it lasts."""
    period = _date_period(text) if kind in _FORMS else None
    if period is None:
        return None
    return Interval(period[0], period[1], False, period[1] is not None and not period[2])


def _one_end(text: str, kind: Kind) -> Interval | None:
    match = _ONE_END.fullmatch(text)
    if match is None and text.endswith("+"):
        return _from(text[:-1].strip(), ">=", kind)
    return _from(match[2], _SIGNS[match[1]], kind) if match else None


def _from(bound: str, sign: str, kind: Kind) -> Interval | None:
    period = _period(bound, kind)
    if period is None:
        return None
    low = _low(period, closed=sign == ">=") if sign[0] == ">" else (None, False)
    high = _high(period, closed=sign == "<=") if sign[0] == "<" else (None, False)
    return Interval(low[0], high[0], low[1], high[1])


def _bracketed(text: str, kind: Kind) -> Interval | None:
    match = _BRACKETS.fullmatch(text)
    if match is None:
        return None
    found = {_between(*ends, kind, match[1] == "[", match[3] == "]") for ends in _splits(match[2], kind)} - {None}
    return found.pop() if len(found) == 1 else None


def _span(text: str, kind: Kind) -> Interval | None:
    """`20-30` without brackets: both ends belong to it."""
    found = {_between(low, high, kind, True, True) for low, high in _splits(text, kind, comma=False) if low and high}
    return found.pop() if len(found) == 1 else None


def _splits(text: str, kind: Kind, *, comma: bool = True) -> Iterator[tuple[str, str]]:
    """Every way to take a text for two bounds, one of which may be empty; the first separator that works decides."""
    parts = _BETWEEN.split(text)
    if len(parts) == 2:
        yield parts[0], parts[1]
        return
    bound = _FORMS.get(kind, _NUMBER)
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


def _between(low: str, high: str, kind: Kind, low_closed: bool, high_closed: bool) -> Interval | None:
    first = _period(low, kind) if low else (None, None, False)
    last = _period(high, kind) if high else (None, None, False)
    if first is None or last is None or not (low or high):
        return None
    start, start_open = _low(first, closed=low_closed)
    end, end_open = _high(last, closed=high_closed)
    return Interval(start, end, start_open, end_open)


def _low(period: Period, *, closed: bool) -> tuple[Bound | None, bool]:
    """The lower end of what begins with (or after) a period."""
    if closed or period[0] is None:
        return period[0], False
    return period[1], period[2]


def _high(period: Period, *, closed: bool) -> tuple[Bound | None, bool]:
    """The upper end of what ends with (or before) a period."""
    if closed:
        return period[1], period[1] is not None and not period[2]
    return period[0], period[0] is not None


def _period(text: str, kind: Kind) -> Period | None:
    return _date_period(text) if kind in _FORMS else _number_period(text)


def _number_period(text: str) -> Period | None:
    plain = text.strip()
    if re.fullmatch(_NUMBER, plain, re.IGNORECASE) is None:
        return None
    if plain.strip("+-").lower() in ("inf", "infinity", "∞"):
        return None, None, False
    number = Fraction(Decimal(_without_groups(plain)))
    return number, number, True


def _without_groups(text: str) -> str:
    return re.sub(r"[,' ]", "", text)


def _date_period(text: str) -> Period | None:
    """A year, quarter, month or day from its beginning to the next one's, or one moment."""
    plain = text.strip().upper()
    if re.fullmatch(_DATE, plain) is None:
        return None
    try:
        if len(plain) > len("2024-02-29"):
            moment = datetime.datetime.fromisoformat(plain)
            return moment, moment, True
        return _calendar(plain)
    except ValueError:
        return None


def _calendar(text: str) -> Period:
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
