"""What is left to find out: equations between hidden cells alone, and what follows from one equation after the other.

Two steps need no program. A cell that is the only unknown one of an equation is determined, and may make another the
only one. Then limits: what the other cells of an equation can be at least and at most bounds each of them. In a block
of cells and equations without a cycle, these limits are the exact intervals, in whole numbers, too: values for the
parts of a tree can be chosen apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sqlaudit.base.errors import UsageError
from sqlaudit.tabular.secondary.structure import Booleans, Equations, Integers

FREE = 1 << 61
"""No limit: an upper limit of FREE, a lower one of -FREE."""
_LARGEST = 1 << 58
_CYCLIC_ROUNDS = 20
"""So many rounds of limits in blocks with cycles; programs finish what these leave."""


class Contradiction(UsageError):
    """PublishedTable numbers that no table fits.

    Args:
        equation: the number of an equation that cannot hold; None where several together cannot.
    """

    def __init__(self, equation: int | None = None) -> None:
        super().__init__(
            "The published numbers contradict each other: no values of the hidden cells fit the totals; "
            "check that totals are sums of their parts, and that limits of cells are right."
        )
        self.equation = equation


@dataclass(frozen=True)
class PublishedTable:
    """A table as an attacker sees it.

    Args:
        equations: which cells are sums of which. values: of the cells, whole multiples of one unit; anything where
            hidden. hidden: the cells that are not published. lower, upper: what everybody knows of hidden cells
            beforehand; -FREE and FREE where nothing. whole: hidden values are whole units (counts), not fractions.
    """

    equations: Equations
    values: Integers
    hidden: Booleans
    lower: Integers
    upper: Integers
    whole: bool = True

    @classmethod
    def of(cls, equations: Equations, values: Integers, hidden: Booleans, *, whole: bool = True) -> PublishedTable:
        """A table of counts, or of sums of what is never negative."""
        nothing = np.zeros(equations.cells, dtype=np.int64)
        return cls(equations, values, hidden, nothing, np.full_like(nothing, FREE), whole)

    def scaled(self, times: int) -> PublishedTable:
        """The same in a smaller unit.

        Raises:
            UsageError: the numbers get too large to be added up exactly.
        """
        known = np.where(self.hidden, 0, self.values)
        if float(np.abs(known).astype(np.float64).sum()) * times >= _LARGEST:  # no sum of cells is larger
            raise UsageError(
                "The values are too large to be added up exactly; round them, or give them in thousands or millions."
            )
        limits = [np.where(np.abs(one) >= FREE, one, one * times) for one in (self.lower, self.upper)]
        return replace(self, values=known * times, lower=limits[0], upper=limits[1])


@dataclass(frozen=True)
class System:
    """Equations between hidden cells: the signed sum of the columns of a row is its right side.

    Args:
        cells: the number of each column's cell. equations: the number of each row's equation.
        starts, columns, signs: the entries, row by row. right: of each row.
    """

    cells: Integers
    equations: Integers
    starts: Integers
    columns: Integers
    signs: Integers
    right: Integers

    @property
    def rows(self) -> Integers:
        """The row of each entry."""
        return np.repeat(np.arange(len(self.equations)), np.diff(self.starts))


def system_of(table: PublishedTable) -> System:
    """The equations in which hidden cells occur, with what is published of them on the right."""
    equations, hidden = table.equations, table.hidden
    kept = np.flatnonzero(equations.touching(hidden))
    values = np.where(hidden, 0, table.values)
    right = equations.residuals(values)[kept]
    column = np.cumsum(hidden) - 1
    row = np.full(len(equations), -1, dtype=np.int64)
    row[kept] = np.arange(len(kept))
    inside = hidden[equations.parts]
    tops = np.flatnonzero(hidden[equations.totals])
    rows = np.concatenate([row[equations.owners[inside]], row[tops]])
    columns = np.concatenate([column[equations.parts[inside]], column[equations.totals[tops]]])
    signs = np.concatenate([np.ones(int(inside.sum()), dtype=np.int64), np.full(len(tops), -1, dtype=np.int64)])
    order = np.argsort(rows, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(kept)))]).astype(np.int64)
    return System(np.flatnonzero(hidden), kept, starts, columns[order], signs[order], right)


@dataclass(frozen=True)
class Determined:
    """What single equations tell, one after the other.

    Args:
        order: the columns that are determined, in the order in which they are. rows: the row that determines each.
        values: of all columns; anything where not determined. known: the determined columns.
        right: of each row, less the determined columns. left: how many columns of each row are not determined.
    """

    order: Integers
    rows: Integers
    values: Integers
    known: Booleans
    right: Integers
    left: Integers


def determined(system: System) -> Determined:
    """The cells that are the only unknown ones of an equation, again and again.

    Raises:
        Contradiction: an equation without unknown cells does not hold.
    """
    by_column = Lookup.of(system.columns, len(system.cells))
    rows = system.rows
    left = np.diff(system.starts)
    right = system.right.copy()
    open_columns = _added(rows, system.columns, len(right))
    open_signs = _added(rows, system.signs, len(right))
    values = np.zeros(len(system.cells), dtype=np.int64)
    known = np.zeros(len(system.cells), dtype=np.bool_)
    found: list[tuple[Integers, Integers]] = []
    looked = np.flatnonzero(left == 1)
    while len(looked):
        columns, first = np.unique(open_columns[looked], return_index=True)
        by = looked[first]
        values[columns] = right[by] * open_signs[by]
        known[columns] = True
        found.append((columns, by))
        entries = by_column.entries(columns)
        at, column, sign = rows[entries], system.columns[entries], system.signs[entries]
        np.subtract.at(right, at, sign * values[column])
        np.subtract.at(left, at, 1)
        np.subtract.at(open_columns, at, column)
        np.subtract.at(open_signs, at, sign)
        touched = np.unique(at)
        looked = touched[left[touched] == 1]
    _hold(system, (left == 0) & (right != 0))
    nothing = np.zeros(0, dtype=np.int64)
    order = np.concatenate([nothing, *(columns for columns, _ in found)])
    return Determined(order, np.concatenate([nothing, *(by for _, by in found)]), values, known, right, left)


@dataclass(frozen=True)
class CellBlocks:
    """Parts of a system that have no cell in common.

    Args:
        of_column, of_row: the number of the block, -1 for determined columns, and rows without unknown ones.
        number: how many there are. tree: the blocks without a cycle.
    """

    of_column: Integers
    of_row: Integers
    number: int
    tree: Booleans


def blocks_of(system: System, done: Determined) -> CellBlocks:
    """The blocks of what is not determined."""
    rows = system.rows
    live = ~done.known[system.columns]
    columns, at = system.columns[live], rows[live]
    label = np.arange(len(system.cells))
    while True:
        least = np.full(len(system.equations), len(system.cells), dtype=np.int64)
        np.minimum.at(least, at, label[columns])
        new = label.copy()
        np.minimum.at(new, columns, least[at])
        np.minimum.at(new, label[columns], least[at])
        new = new[new]
        if np.array_equal(new, label):
            break
        label = new
    of_column, of_row = np.full(len(system.cells), -1, dtype=np.int64), np.full(len(least), -1, dtype=np.int64)
    names, of_column[~done.known] = np.unique(label[~done.known], return_inverse=True)
    of_row[at] = of_column[columns]
    edges, cells, knots = (
        np.bincount(of[of >= 0], minlength=len(names)) for of in (of_column[columns], of_column, of_row)
    )
    return CellBlocks(of_column, of_row, len(names), np.asarray(edges == cells + knots - 1, dtype=np.bool_))


def limits_of(
    system: System, done: Determined, blocks: CellBlocks, lower: Integers, upper: Integers
) -> tuple[Integers, Integers]:
    """Limits of each column that hold for every table that fits, exact in blocks without a cycle.

    Args:
        system, done, blocks: what is known. lower, upper: what is known of each column beforehand.

    Raises:
        Contradiction: no value fits.
    """
    low, high = lower.copy(), upper.copy()
    outside = done.known & ((done.values < lower) | (done.values > upper))
    if outside.any():
        raise Contradiction(int(system.equations[done.rows[np.flatnonzero(outside[done.order])[0]]]))
    low[done.known] = high[done.known] = done.values[done.known]
    by_column, by_row = Lookup.of(system.columns, len(low)), Lookup(system.starts, np.arange(len(system.columns)))
    looked, turn = np.flatnonzero(done.left > 0), 0
    while len(looked):
        columns = _narrowed(system, done, by_row.entries(looked), low, high)
        if (low > high).any():
            raise Contradiction(int(system.equations[_rows_with(system, low > high)[0]]))
        turn += 1
        rows = np.unique(system.rows[by_column.entries(columns)])
        rows = rows[done.left[rows] > 0]
        looked = rows if turn < _CYCLIC_ROUNDS else rows[blocks.tree[blocks.of_row[rows]]]
    return low, high


def _narrowed(system: System, done: Determined, entries: Integers, low: Integers, high: Integers) -> Integers:
    """Narrow the limits of the columns of some rows by what the others of each row allow; returns which changed."""
    entries = entries[~done.known[system.columns[entries]]]
    rows, columns, up = system.rows[entries], system.columns[entries], system.signs[entries] > 0
    least, most = np.where(up, low[columns], -high[columns]), np.where(up, high[columns], -low[columns])
    others_least = _of_the_others(rows, least, least <= -FREE, len(done.right))
    others_most = _of_the_others(rows, most, most >= FREE, len(done.right))
    right = done.right[rows]
    top = np.where(np.abs(others_least) >= FREE, FREE, right - others_least)
    bottom = np.where(np.abs(others_most) >= FREE, -FREE, right - others_most)
    before = low[columns], high[columns]
    np.maximum.at(low, columns, np.where(up, bottom, -top))
    np.minimum.at(high, columns, np.where(up, top, -bottom))
    return np.unique(columns[(low[columns] != before[0]) | (high[columns] != before[1])])


def _of_the_others(rows: Integers, amounts: Integers, free: Booleans, number: int) -> Integers:
    """For each entry the sum of the other entries of its row; FREE where one of these has no limit."""
    finite = np.where(free, 0, amounts)
    sums, frees = _added(rows, finite, number), _added(rows, free.astype(np.int64), number)
    return np.where(frees[rows] - free > 0, FREE, sums[rows] - finite)


def _added(places: Integers, amounts: Integers, number: int) -> Integers:
    """The sum of the amounts at each place."""
    sums = np.zeros(number, dtype=np.int64)
    np.add.at(sums, places, amounts)
    return sums


def _rows_with(system: System, columns: Booleans) -> Integers:
    return np.asarray(system.rows[columns[system.columns]], dtype=np.int64)


def _hold(system: System, broken: Booleans) -> None:
    """Nothing when no row is broken.

    Raises:
        Contradiction: one is.
    """
    if broken.any():
        raise Contradiction(int(system.equations[np.flatnonzero(broken)[0]]))


@dataclass(frozen=True)
class Lookup:
    """The entries that belong to each of some numbers.

    Args:
        starts: where those of each number begin in `places`. places: of entries.
    """

    starts: Integers
    places: Integers

    @classmethod
    def of(cls, numbers: Integers, size: int) -> Lookup:
        """From the number of each entry, of which there are `size` different ones."""
        starts = np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=size))]).astype(np.int64)
        return cls(starts, np.argsort(numbers, kind="stable"))

    def entries(self, numbers: Integers) -> Integers:
        """The entries of some numbers, in their order."""
        sizes = self.starts[numbers + 1] - self.starts[numbers]
        shifts = np.repeat(self.starts[numbers] - np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64), sizes)
        return np.asarray(self.places[shifts + np.arange(int(sizes.sum()))], dtype=np.int64)
