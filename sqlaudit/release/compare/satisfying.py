"""Which cells can satisfy a condition, also by values that no original row has (Thesis, Definition 2.5.3).

A cell `1-8` can satisfy `BETWEEN 4 AND 6` though nobody in the original is 4, 5 or 6. What a condition says of values
that are not there is asked of the database: of the constants it names, and of one value in each gap between them, since
a comparison with constants cannot change its answer inside a gap. Of texts, which have no such gaps, the constants and
the texts right after them are asked about, filled up to the length of masks; of a listed hierarchy every value.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import pairwise

import sqlglot
from sqlglot import exp

from sqlaudit.base.relation import Kind
from sqlaudit.hierarchies.cell_levels import as_interval
from sqlaudit.hierarchies.cell_reader import CellReader
from sqlaudit.hierarchies.cells import AnyValue, Bound, Cell, Exact, Interval, Mask, Values, point_of, whole

TYPES = {
    Kind.INTEGER: "BIGINT",
    Kind.DECIMAL: "DECIMAL(38, 9)",
    Kind.FLOAT: "DOUBLE PRECISION",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
    Kind.TEXT: "TEXT",
}
"""What a value is cast to before a condition is asked about it, for the kinds that are asked about."""
MOST_LISTED = 10_000
"""Of a hierarchy that lists more values, these are not asked about."""
_WHOLE = (Kind.INTEGER, Kind.DATE)
_EPOCH = datetime.datetime(1970, 1, 1)
_LONGEST = 2**62


@dataclass(frozen=True)
class Tried:
    """A value that a condition is asked about: its text, and the interval of points it stands for (of texts none)."""

    key: str
    stands_for: Interval | None = None


def tried_values(conditions: Sequence[str], dialect: str, reader: CellReader, cells: Iterable[Cell]) -> list[Tried]:
    """The values that conditions on a column are asked about.

    Args:
        conditions: their SQL. reader: of the column. cells: those that may satisfy them by such values.
    """
    constants = [text for condition in conditions for text in _constants(condition, dialect)]
    found = [Tried(key) for key in _listed(reader)]
    if reader.kind is Kind.TEXT:
        found += [Tried(text) for text in _texts(constants, cells)]
    elif reader.kind in TYPES:
        found += _gaps(sorted({point for text in constants for point in _points(text, reader.kind)}), reader.kind)
    return found


def can_satisfy(cell: Cell, satisfying: Sequence[Tried], reader: CellReader) -> bool:
    """Whether a cell stands for one of the values that satisfy the conditions, or for one like them."""
    if isinstance(cell, AnyValue):
        return bool(satisfying)
    if isinstance(cell, Exact | Values):
        keys = cell.keys if isinstance(cell, Values) else (cell.key,)
        return any(key is not None and _is_like(key, one, reader.kind) for key in keys for one in satisfying)
    span = as_interval(cell, reader.kind)
    return any(
        _meet(span, one.stands_for, reader.kind) if span and one.stands_for else reader.contains(cell, one.key)
        for one in satisfying
    )


def _is_like(key: str, one: Tried, kind: Kind) -> bool:
    if one.stands_for is None:
        return key == one.key
    point = point_of(key, kind)
    return point is not None and one.stands_for.holds(point)


def _constants(condition: str, dialect: str) -> Iterator[str]:
    for literal in sqlglot.parse_one(condition, dialect=dialect).find_all(exp.Literal):
        yield f"-{literal.this}" if isinstance(literal.parent, exp.Neg) else str(literal.this)


def _listed(reader: CellReader) -> list[str]:
    keys = [key for key in reader.labels if key is not None] if reader.kind in TYPES else []
    return keys if len(keys) <= MOST_LISTED else []


def _texts(constants: Sequence[str], cells: Iterable[Cell]) -> list[str]:
    """Constants as they are, and (a pattern without its signs) filled up to the lengths of masks."""
    lengths = sorted({len(cell.pattern) for cell in cells if isinstance(cell, Mask)})
    stems = [text.replace("%", "").replace("_", "0") for text in constants]
    stems += [stem[:-1] + chr(ord(stem[-1]) + 1) for stem in stems if stem and stem[-1] < "z"]
    filled = [stem.ljust(length, sign)[:length] for stem in stems for length in lengths for sign in "0a9z"]
    return list(dict.fromkeys([*constants, *stems, *filled]))


def _points(text: str, kind: Kind) -> Iterator[Fraction]:
    """The number or moment that a constant names, as a number."""
    if kind in (Kind.DATE, Kind.TIMESTAMP):
        moment = point_of(text, kind)
        if isinstance(moment, datetime.datetime):
            yield _number(moment)
        return
    try:
        number = Decimal(text)
    except InvalidOperation:
        return
    if number.is_finite() and abs(number) < _LONGEST:
        yield Fraction(number)


def _gaps(points: Sequence[Fraction], kind: Kind) -> list[Tried]:
    """Every point, and one value from each gap between them."""
    ends: list[Fraction | None] = [None, *points, None]
    pieces = [Interval(point, point) for point in points]
    pieces += [Interval(low, high, low is not None, high is not None) for low, high in pairwise(ends)]
    tried = ((piece, _inside(piece, kind)) for piece in pieces)
    return [Tried(_spelled(value, kind), _of_kind(piece, kind)) for piece, value in tried if value is not None]


def _inside(piece: Interval, kind: Kind) -> Fraction | None:
    """A value of a piece, None when no value lies in it."""
    low, high = _bound(piece.low), _bound(piece.high)
    if kind in _WHOLE:
        found = whole(Interval(low, high, piece.low_open, piece.high_open))
        first, end = _bound(found.low), _bound(found.high)
        if first is None:
            return Fraction(0) if end is None else end - 1
        return first if end is None or first < end else None
    if low is None or high is None:
        return Fraction(0) if low == high else high - 1 if high is not None else (low or Fraction(0)) + 1
    return (low + high) / 2


def _meet(one: Interval, other: Interval, kind: Kind) -> bool:
    """Whether a value lies in both intervals."""
    lows = [(_bound(part.low), part.low_open) for part in (one, other) if part.low is not None]
    highs = [(_bound(part.high), not part.high_open) for part in (one, other) if part.high is not None]
    low, low_open = max(lows, default=(None, False), key=lambda end: (end[0] or 0, end[1]))
    high, high_closed = min(highs, default=(None, True), key=lambda end: (end[0] or 0, end[1]))
    both = Interval(low, high, low_open, not high_closed)
    if kind in _WHOLE:
        both = whole(both)
    if both.low is None or both.high is None:
        return True
    first, last = _bound(both.low) or 0, _bound(both.high) or 0
    return first < last or (first == last and not (both.low_open or both.high_open))


def _bound(bound: Bound | None) -> Fraction | None:
    return _number(bound) if isinstance(bound, datetime.datetime) else bound


def _number(moment: datetime.datetime) -> Fraction:
    """A moment in days since 1970."""
    since = moment - _EPOCH
    return since.days + Fraction(since.seconds * 10**6 + since.microseconds, 86_400 * 10**6)


def _moment(days: Fraction) -> datetime.datetime:
    return _EPOCH + datetime.timedelta(microseconds=int(days * 86_400 * 10**6))


def _of_kind(piece: Interval, kind: Kind) -> Interval:
    """The piece in the points of its kind."""
    if kind not in (Kind.DATE, Kind.TIMESTAMP):
        return piece
    low, high = (None if end is None else _moment(end) for end in (_bound(piece.low), _bound(piece.high)))
    return Interval(low, high, piece.low_open, piece.high_open)


def _spelled(value: Fraction, kind: Kind) -> str:
    if kind in (Kind.DATE, Kind.TIMESTAMP):
        moment = _moment(value)
        return moment.date().isoformat() if kind is Kind.DATE else moment.isoformat(" ")
    if kind is Kind.INTEGER:
        return str(int(value))
    return f"{Decimal(value.numerator) / Decimal(value.denominator):f}"
