"""Which columns hide copies, and whether rows occur in two tables more often than in independent draws."""

from __future__ import annotations

from math import exp, sqrt

from sqlaudit.base.frozen import dataclass
from sqlaudit.base.relation import NUMBERS, Kind
from sqlaudit.release.synthetic.interval import at_least

_SELDOM = 0.001
"""Largest share of independent draws that may look like copies."""
_MOST_EXPECTED = 12
"""With fewer expected values in both tables, few are no sign of another spelling."""
_NEARLY = 0.9
"""The share of different values from which on a column is nearly unique."""


@dataclass(frozen=True)
class ColumnOverlap:
    """The values of a column that original and synthetic table share, NULL apart.

    Args:
        name, kind: of the column. rows, synthetic_rows: all rows of the tables.
        own, made, both: different values of the original, of the synthetic table, and of both.
        own_rows, made_rows: rows with a value. once: rows of the original whose value no other row has.
        shared_rows: synthetic rows whose value the original has.
        distance: between the shares of both tables: of ordered values by Kolmogorov and Smirnov, of others the total
            variation; None where a table has no value.
        overlap: whether these are numbers whose ranges overlap. own_span, made_span: how many whole numbers lie from
            the smallest to the largest; None where some are not whole.
    """

    name: str
    kind: Kind
    rows: int
    synthetic_rows: int
    own: int
    made: int
    both: int
    own_rows: int
    made_rows: int
    once: int
    shared_rows: int
    overlap: bool
    own_span: float | None
    made_span: float | None
    distance: float | None = None

    @property
    def is_unmatched(self) -> bool:
        """True if no value is in both tables: none may be missing in one of them, or all."""
        return bool(self.own or self.made) and not self.both

    @property
    def is_hardly_matched(self) -> bool:
        """True if far fewer synthetic rows have a value of the original than rows of an independent draw would.

        Such a draw has a value of the original with the probability 1 - once / rows (Good, 1953).
        """
        if self.is_unmatched:
            return True
        expected = self.synthetic_rows * (self.own_rows - self.once) / max(1, self.rows)
        return expected >= _MOST_EXPECTED and 2 * self.shared_rows < expected

    @property
    def says_too_little(self) -> bool:
        """True if so few synthetic rows have a value of the original that equal values are no measure of disclosure."""
        few = 20 * self.shared_rows * self.rows < self.synthetic_rows * self.own_rows
        return self.is_hardly_matched or few

    @property
    def may_be_drawn(self) -> bool:
        """True if these are numbers of one range so fine that independent draws have few of them in common."""
        fine = self.own >= _NEARLY * self.own_rows and self.made >= _NEARLY * self.made_rows
        return self.overlap and fine and not self.is_row_number and not (self.both and self.is_hardly_matched)

    @property
    def is_row_number(self) -> bool:
        """True if the column numbers the rows of both tables, or has another new value in each row."""
        spans = (self.own, self.own_span, self.rows), (self.made, self.made_span, self.synthetic_rows)
        if self.kind in NUMBERS:
            return all(span and rows > 1 and max(span, rows) <= different / _NEARLY for different, span, rows in spans)
        return all(different == rows > 1 for different, _, rows in spans)

    @property
    def may_hide_copies(self) -> bool:
        """True if copies are worth looking for without this column: it is nearly unique, numbers rows, or differs."""
        sides = (self.own, self.own_rows, self.own_span), (self.made, self.made_rows, self.made_span)
        unique = any(different > 1 and different >= _NEARLY * rows for different, rows, _ in sides)
        numbers = any(span and different > 2 and span <= different / _NEARLY for different, _, span in sides)
        lost = self.made_rows * self.rows < (1 - (1 - _NEARLY) / 2) * self.own_rows * self.synthetic_rows
        return unique or numbers or lost or self.made <= 1 < self.own or self.is_hardly_matched


@dataclass(frozen=True)
class UniqueRows:
    """Figures about the rows that the original has once: how often another table has them.

    Args:
        once, twice: combinations of values that the original has once, and twice. hit: of `once`, those that the other
            table has. hit_rows: its rows with them. own_rows, other_rows: all rows. cells: all combinations.
        own_squares, products, other_squares, shares: sums over all combinations, which d and s of n rows have: of d²/n,
            d·s/n, s²/n and 1/n.
    """

    once: int
    twice: int
    hit: int
    hit_rows: int
    own_rows: int
    other_rows: int
    cells: int
    own_squares: float
    products: float
    other_squares: float
    shares: float

    @property
    def are_copied(self) -> bool:
        """True if the other table has more of them than an independent draw: at least twice as many, significantly.

        Rows of such a draw are of a combination that the original has once with the probability 2 · twice / rows
        (Good, 1953), so that 1 - exp(-2 · twice / once) of these combinations are hit by as many rows.

        Example:
            >>> of_half = (10.0, 0.0, 10.0, 20.0)
            >>> UniqueRows(20, 1, 18, 18, 30, 30, 30, *of_half).are_copied
            True
            >>> UniqueRows(20, 5, 8, 8, 30, 30, 30, *of_half).are_copied
            False
        """
        if not self.hit:
            return False
        times = 2 * self.other_rows / self.own_rows / self.once
        if self.hit < 2 * self.once * -_negative(times * self.twice):
            return False
        doubtful = self.twice + 2 * sqrt(self.twice + 1)  # the number of pairs is drawn, too
        small = 10 * self.twice * self.other_rows <= self.once * self.own_rows
        return (small and 2 * self.hit > self.once and self.hit > 4) or at_least(
            self.hit, self.once, -_negative(times * doubtful)
        ) < _SELDOM

    @property
    def are_too_equal(self) -> bool:
        """True if both tables have nearly the same counts, which independent draws would not.

        It is the chi-square statistic of both tables with its mean and variance, given how often both have a
        combination together (Pearson; Haldane, 1940): three standard deviations below are seldom reached by chance.
        """
        d, s = self.own_rows, self.other_rows
        if not d or not s:
            return False
        share = d * s / (d + s) ** 2
        chi_square = (s / d) * self.own_squares - 2 * self.products + (d / s) * self.other_squares
        variance = 2 * self.cells + (1 / share - 6) * self.shares
        return chi_square < self.cells - 1 - 3 * sqrt(max(variance, 0.0)) and variance > 0


def _negative(x: float) -> float:
    """Return exp(-x) - 1."""
    return exp(-x) - 1
