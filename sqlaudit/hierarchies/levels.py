"""The levels of a hierarchy: frozen value objects, one kind for each way to say how values become coarser.

A level knows what it means, not how it is spelled in SQL (`level_sql`) or checked against a table (`dictionary`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise

from sqlaudit.base.errors import UsageError

TOP = "*"
"""The label of every value, NULL included, at the highest level."""
MOST_DECIMALS = 15
MOST_MASKED = 1000
_LETTERS = "abcde"


@dataclass(frozen=True)
class WidthLevel:
    """Intervals of one width, `[20, 25)`, from an origin; below `low` and from `high` on they are open: `<15`, `>=90`.

    All numbers are finite decimals. Bounds that lie inside an interval cut it: with width 10 and low 15 there is
    `[15, 20)`.
    """

    width: Fraction
    origin: Fraction = Fraction(0)
    low: Fraction | None = None
    high: Fraction | None = None

    @property
    def name(self) -> str:
        """What reports call the level."""
        return f"width {decimal_text(self.width)}"

    @property
    def decimals(self) -> int:
        """Decimals of the bounds in labels."""
        given = (self.width, self.origin, self.low, self.high)
        return max(decimals_of(number) for number in given if number is not None)

    @property
    def example(self) -> str:
        """An interval from the origin, or from the first one that lies above `low`."""
        begin = self.origin
        if self.low is not None and self.low > begin:
            begin += -((begin - self.low) // self.width) * self.width
        return f"[{decimal_text(begin)}, {decimal_text(begin + self.width)})"


@dataclass(frozen=True)
class MaskLevel:
    """Characters of a value's text replaced by `*` from the right: `130**`.

    `count` characters are masked, or with `keeps` all but the first `count`. The length of the text stays visible, and
    a text of fewer characters is masked whole.
    """

    count: int
    keeps: bool = False

    @property
    def name(self) -> str:
        """What reports call the level."""
        return f"first {self.count} kept" if self.keeps else f"last {self.count} masked"

    @property
    def example(self) -> str:
        """What becomes of a text of five letters; of more than five hidden ones there is none."""
        kept = self.count if self.keeps else len(_LETTERS) - self.count
        return _LETTERS[:kept] + "*" * (len(_LETTERS) - kept) if 0 < kept < len(_LETTERS) else ""


class DatePart(StrEnum):
    """What dates are cut to, finest first: `2024-02-29`, `2024-02`, `2024-Q1`, `2024`, `2020-2029`, `2000-2099`."""

    DAY = "day"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    DECADE = "decade"
    CENTURY = "century"


_DATES = {
    DatePart.DAY: "2024-02-29",
    DatePart.MONTH: "2024-02",
    DatePart.QUARTER: "2024-Q1",
    DatePart.YEAR: "2024",
    DatePart.DECADE: "2020-2029",
    DatePart.CENTURY: "2000-2099",
}


@dataclass(frozen=True)
class DateLevel:
    """Dates or times cut to a part."""

    part: DatePart

    @property
    def name(self) -> str:
        """What reports call the level."""
        return self.part.value

    @property
    def example(self) -> str:
        """What becomes of the leap day of 2024."""
        return _DATES[self.part]


@dataclass(frozen=True)
class MappedLevel:
    """A level of the hierarchy's value table; `place` is its position there, 0 = the first."""

    place: int

    @property
    def name(self) -> str:
        """What reports call the level."""
        return "listed"


@dataclass(frozen=True)
class SqlLevel:
    """An expression over the column in the engine's own SQL; the column is called by its name, or `value`."""

    expression: str

    @property
    def name(self) -> str:
        """What reports call the level; never the text, which may hold values."""
        return "SQL"

    @property
    def example(self) -> str:
        """None: what the expression gives is known to the database alone."""
        return ""


@dataclass(frozen=True)
class TopLevel:
    """The highest level: one value, `*`."""

    @property
    def name(self) -> str:
        """What reports call the level."""
        return TOP

    @property
    def example(self) -> str:
        """None: its name says it."""
        return ""


Level = WidthLevel | MaskLevel | DateLevel | MappedLevel | SqlLevel | TopLevel


def width_levels(
    widths: Sequence[Fraction],
    place: str,
    *,
    origin: Fraction = Fraction(0),
    low: Fraction | None = None,
    high: Fraction | None = None,
) -> tuple[Level, ...]:
    """Levels of intervals, finest first, each a multiple of the one before so that they are nested.

    Args:
        widths: the widths. place: what errors begin with, for instance the column's name.
        origin: where an interval begins. low, high: where the open ends begin.

    Raises:
        UsageError: no width, one that is not positive or not a multiple of the one before, or low >= high.

    Example:
        >>> [level.name for level in width_levels([Fraction(5), Fraction(10)], "age")]
        ['width 5', 'width 10']
    """
    if not widths:
        raise UsageError(f"{place}: name at least one width.")
    for level, width in enumerate(widths, 1):
        if width <= 0:
            raise UsageError(f"{place}, level {level}: a width is a number above 0, not {decimal_text(width)}.")
    for level, (below, width) in enumerate(pairwise(widths), 2):
        if width % below or width == below:
            raise UsageError(
                f"{place}, level {level} (width {decimal_text(width)}): is not a multiple of level {level - 1} (width "
                f"{decimal_text(below)}), so an interval there would lie in two of this level; take "
                f"{decimal_text(below * 2)} or another multiple."
            )
    if low is not None and high is not None and low >= high:
        raise UsageError(f"{place}: low ({decimal_text(low)}) must lie below high ({decimal_text(high)}).")
    found = tuple(WidthLevel(width, origin, low, high) for width in widths)
    if any(level.decimals > MOST_DECIMALS for level in found):
        raise UsageError(f"{place}: widths and bounds have at most {MOST_DECIMALS} decimals.")
    return found


def mask_levels(counts: Sequence[int], place: str, *, keeps: bool = False) -> tuple[Level, ...]:
    """Levels of masks, finest first: more characters masked, or fewer kept, from level to level.

    Raises:
        UsageError: no count, one that is out of range, or an order that is not coarser from level to level.
    """
    if not counts:
        raise UsageError(f"{place}: name at least one number of characters.")
    word = "keep" if keeps else "mask"
    for level, count in enumerate(counts, 1):
        if not 1 <= count <= MOST_MASKED:
            raise UsageError(f"{place}, level {level}: {word} between 1 and {MOST_MASKED} characters, not {count}.")
    for level, (below, count) in enumerate(pairwise(counts), 2):
        if count <= below if not keeps else count >= below:
            raise UsageError(
                f"{place}, level {level}: {word} {'fewer' if keeps else 'more'} characters than level {level - 1} "
                f"({below}), not {count}."
            )
    return tuple(MaskLevel(count, keeps) for count in counts)


def date_levels(parts: Sequence[str], place: str) -> tuple[Level, ...]:
    """Levels of dates, finest first.

    Raises:
        UsageError: no part, an unknown one, or an order that is not coarser from level to level.
    """
    known = list(DatePart)
    if not parts:
        raise UsageError(f"{place}: name at least one of {', '.join(known)}.")
    for level, part in enumerate(parts, 1):
        if part not in known:
            why = " A week is not within one month or year, so it is no level." if part == "week" else ""
            raise UsageError(
                f"{place}, level {level}: there is no part of dates {part!r}; there are {', '.join(known)}.{why}"
            )
    for level, (below, part) in enumerate(pairwise(parts), 2):
        if known.index(DatePart(part)) <= known.index(DatePart(below)):
            raise UsageError(f"{place}, level {level} ({part}): is not coarser than level {level - 1} ({below}).")
    return tuple(DateLevel(DatePart(part)) for part in parts)


def decimals_of(number: Fraction) -> int:
    """How many decimals a finite decimal has.

    Example:
        >>> decimals_of(Fraction(1, 4)), decimals_of(Fraction(5))
        (2, 0)
    """
    places = 0
    while (number * 10**places).denominator != 1:
        places += 1
        if places > 4 * MOST_DECIMALS:
            raise UsageError("Widths and bounds are decimals, for instance 0.5.")
    return places


def decimal_text(number: Fraction) -> str:
    """A finite decimal as people write it.

    Example:
        >>> decimal_text(Fraction(-5, 2)), decimal_text(Fraction(40))
        ('-2.5', '40')
    """
    places = decimals_of(number)
    digits = str(abs(number.numerator) * 10**places // number.denominator).rjust(places + 1, "0")
    sign = "-" if number < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)
