"""What is left to find out: equations between hidden cells alone, and what follows from one equation after the other.

Two steps need no program. A cell that is the only unknown one of an equation is determined, and may make another the
only one. Then limits: what the other cells of an equation can be at least and at most bounds each of them. In a block
of cells and equations without a cycle, these limits are the exact intervals, in whole numbers, too: values for the
parts of a tree can be chosen apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sqlaudit.base.errors import UsageError

Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]
_WIDEST = 1 << 62


@dataclass(frozen=True)
class Dimension:
    """One dimension of a table.

    Args:
        size: its codes are 0 … size-1.
        rollups: for each way to add its codes up, the parent of every code, -1 = none.
    """

    size: int
    rollups: tuple[Integers, ...] = ()


@dataclass(frozen=True)
class Equations:
    """Cells that are sums of other cells.

    Args:
        cells: how many cells there are, numbered from 0.
        totals: the cell that each equation's parts add up to.
        starts: where the parts of each equation begin in `parts`, and where the last one's end.
        parts: cells.
    """

    cells: int
    totals: Integers
    starts: Integers
    parts: Integers

    def __len__(self) -> int:
        return len(self.totals)

    def parts_of(self, equation: int) -> Integers:
        """The cells that one equation adds up."""
        return self.parts[self.starts[equation] : self.starts[equation + 1]]

    @property
    def owners(self) -> Integers:
        """The equation of each entry of `parts`."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def sums(self, values: Integers) -> Integers:
        """The sum of the parts of each equation."""
        empty = values[:0].astype(np.int64)
        return np.add.reduceat(values[self.parts], self.starts[:-1], dtype=np.int64) if len(self) else empty

    def residuals(self, values: Integers) -> Integers:
        """For each equation the total minus the sum of its parts: 0 where it adds up."""
        return np.asarray(values[self.totals] - self.sums(values), dtype=np.int64)

    def touching(self, cells: Booleans) -> Booleans:
        """The equations in which one of some cells occurs."""
        found = cells[self.totals].copy()
        if len(self):
            found |= np.logical_or.reduceat(cells[self.parts], self.starts[:-1])
        return found


def equations_of(codes: Integers, dimensions: Sequence[Dimension]) -> Equations:
    """The equations between the cells of a table, or of several linked tables in one array of cells.

    Args:
        codes: (cells × dimensions) the keys.
        dimensions: how the codes of each dimension add up.

    Raises:
        UsageError: two cells have the same key.

    Example:
        >>> found = equations_of(np.array([[0], [1], [2]]), [Dimension(3, (np.array([2, 2, -1]),))])
        >>> found.totals.tolist(), found.parts.tolist()
        ([2], [0, 1])
    """
    twice = repeated(codes, dimensions)
    if len(twice):
        first = int(twice[0]) + 1
        raise UsageError(f"{len(twice):,} cells are in the table more than once. The first is row {first:,}.")
    found = [(np.zeros(0, dtype=np.int64),) * 3]
    for number, dimension in enumerate(dimensions):
        found += [_of_rollup(codes, dimensions, number, parents) for parents in dimension.rollups]
    totals, sizes, parts = (np.concatenate(some) for some in zip(*found, strict=True))
    return Equations(len(codes), totals, starts_of(sizes), parts)


def repeated(codes: Integers, dimensions: Sequence[Dimension]) -> Integers:
    """The cells whose key another cell before them has, too, in order."""
    keys = _packed(codes, [dimension.size for dimension in dimensions])
    ordered = np.sort(keys)
    if not bool((ordered[1:] == ordered[:-1]).any()):
        return np.zeros(0, dtype=np.intp)
    _, first = np.unique(keys, return_index=True)
    again = np.ones(len(codes), dtype=np.bool_)
    again[first] = False
    return np.flatnonzero(again)


def wrong_sums(equations: Equations, values: Integers, known: Booleans) -> Integers:
    """The equations whose cells are all known, and that do not add up.

    Args:
        equations: of the table.
        values: of the cells.
        known: which values are published.
    """
    judged = ~equations.touching(~known)
    return np.flatnonzero(judged & (equations.residuals(np.where(known, values, 0)) != 0))


def _of_rollup(
    codes: Integers, dimensions: Sequence[Dimension], number: int, parents: Integers
) -> tuple[Integers, Integers, Integers]:
    """The equations of one rollup of one dimension: their totals, how many parts each has, and all parts."""
    others = [place for place in range(len(dimensions)) if place != number]
    size = dimensions[number].size
    groups = _packed(codes[:, others], [dimensions[place].size for place in others])
    if len(groups) and int(groups.max()) * size >= _WIDEST:
        groups = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    keys = groups * size + codes[:, number]
    order = np.argsort(keys, kind="stable")
    above = parents[codes[:, number]]
    children = np.flatnonzero(above >= 0)
    wanted = groups[children] * size + above[children]
    place = np.searchsorted(keys[order], wanted)
    place[place == len(order)] = 0
    found = keys[order[place]] == wanted if len(order) else np.zeros(0, dtype=np.bool_)
    totals, parts = order[place[found]], children[found]
    sort = np.argsort(totals, kind="stable")
    totals, parts = totals[sort], parts[sort]
    first = np.flatnonzero(np.diff(totals, prepend=-1))
    return totals[first], np.diff(first, append=len(parts)), parts


def starts_of(sizes: Integers) -> Integers:
    """Where runs of these sizes begin, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _packed(codes: Integers, sizes: Sequence[int]) -> Integers:
    """One number for each row of codes, equal where the rows are."""
    packed, width = np.zeros(len(codes), dtype=np.int64), 1
    for column, size in enumerate(sizes):
        if width * size >= _WIDEST:
            found, packed = np.unique(packed, return_inverse=True)
            width = len(found)
        packed = packed * size + codes[:, column]
        width *= size
    return packed.astype(np.int64)


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
            "The published numbers contradict each other: no values of the hidden cells fit the totals. "
            "Check that totals are the sums of their parts and that the limits of cells are right."
        )
        self.equation = equation


@dataclass(frozen=True)
class PublishedTable:
    """A table as an attacker sees it.

    Args:
        equations: which cells are sums of which.
        values: of the cells, whole multiples of one unit; anything where hidden.
        hidden: the cells that are not published.
        lower, upper: what everybody knows of hidden cells beforehand; -FREE and FREE where nothing.
        whole: hidden values are whole units (counts), not fractions.
    """

    equations: Equations
    values: Integers
    hidden: Booleans
    lower: Integers
    upper: Integers
    whole: bool = True

    def scaled(self, times: int) -> PublishedTable:
        """The same in a smaller unit.

        Raises:
            UsageError: the numbers get too large to be added up exactly.
        """
        known = np.where(self.hidden, 0, self.values)
        if float(np.abs(known).astype(np.float64).sum()) * times >= _LARGEST:  # no sum of cells is larger
            raise UsageError(
                "The values are too large to be added up exactly. Round them, or give them in thousands or millions."
            )
        limits = [np.where(np.abs(one) >= FREE, one, one * times) for one in (self.lower, self.upper)]
        return replace(self, values=known * times, lower=limits[0], upper=limits[1])


@dataclass(frozen=True)
class System:
    """Equations between hidden cells: the signed sum of the columns of a row is its right side.

    Args:
        cells: the number of each column's cell.
        equations: the number of each row's equation.
        starts, columns, signs: the entries, row by row.
        right: of each row.
    """

    cells: Integers
    equations: Integers
    starts: Integers
    columns: Integers
    signs: Integers
    right: Integers

    @cached_property
    def rows(self) -> Integers:
        """The row of each entry."""
        return np.repeat(np.arange(len(self.equations)), np.diff(self.starts))

    @cached_property
    def done(self) -> Determined:
        """What single equations determine.

        Raises:
            Contradiction: an equation without unknown cells does not hold.
        """
        return _determined(self)

    @cached_property
    def blocks(self) -> CellBlocks:
        """The blocks of what is not determined."""
        return _blocks_of(self)


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
    starts = starts_of(np.bincount(rows, minlength=len(kept)))
    return System(np.flatnonzero(hidden), kept, starts, columns[order], signs[order], right)


@dataclass(frozen=True)
class Determined:
    """What single equations tell, one after the other.

    Args:
        order: the columns that are determined, in the order in which they are.
        rows: the row that determines each.
        values: of all columns; anything where not determined.
        known: the determined columns.
        right: of each row, less the determined columns.
        left: how many columns of each row are not determined.
    """

    order: Integers
    rows: Integers
    values: Integers
    known: Booleans
    right: Integers
    left: Integers


def _determined(system: System) -> Determined:
    """The cells that are the only unknown ones of an equation, again and again."""
    by_column = Lookup.of(system.columns, len(system.cells))
    rows = system.rows
    left = np.diff(system.starts)
    right = system.right.copy()
    open_columns = _added(rows, system.columns, len(right))
    open_signs = _added(rows, system.signs, len(right))
    values = np.zeros(len(system.cells), dtype=np.int64)
    known = np.zeros(len(system.cells), dtype=np.bool_)
    order, by_rows = [values[:0]], [values[:0]]
    looked = np.flatnonzero(left == 1)
    while len(looked):
        columns, first = np.unique(open_columns[looked], return_index=True)
        by = looked[first]
        values[columns] = right[by] * open_signs[by]
        known[columns] = True
        order.append(columns)
        by_rows.append(by)
        entries = by_column.entries(columns)
        at, column, sign = rows[entries], system.columns[entries], system.signs[entries]
        np.subtract.at(right, at, sign * values[column])
        np.subtract.at(left, at, 1)
        np.subtract.at(open_columns, at, column)
        np.subtract.at(open_signs, at, sign)
        touched = np.unique(at)
        looked = touched[left[touched] == 1]
    broken = system.equations[(left == 0) & (right != 0)]
    if len(broken):
        raise Contradiction(int(broken[0]))
    return Determined(np.concatenate(order), np.concatenate(by_rows), values, known, right, left)


@dataclass(frozen=True)
class CellBlocks:
    """Parts of a system that have no cell in common.

    Args:
        of_column, of_row: the number of the block, -1 for determined columns, and rows without unknown ones.
        number: how many there are.
        tree: the blocks without a cycle.
    """

    of_column: Integers
    of_row: Integers
    number: int
    tree: Booleans


def _blocks_of(system: System) -> CellBlocks:
    """The blocks of what is not determined."""
    unknown = ~system.done.known
    live = unknown[system.columns]
    columns, at = system.columns[live], system.rows[live]
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
    names, of_column[unknown] = np.unique(label[unknown], return_inverse=True)
    of_row[at] = of_column[columns]
    edges, cells, knots = (
        np.bincount(of[of >= 0], minlength=len(names)) for of in (of_column[columns], of_column, of_row)
    )
    return CellBlocks(of_column, of_row, len(names), np.asarray(edges == cells + knots - 1, dtype=np.bool_))


def limits_of(system: System, lower: Integers, upper: Integers) -> tuple[Integers, Integers]:
    """Limits of each column that hold for every table that fits, exact in blocks without a cycle.

    Args:
        system: what hidden cells fulfil.
        lower, upper: what is known of each column beforehand.

    Raises:
        Contradiction: no value fits.
    """
    done, blocks = system.done, system.blocks
    low, high = lower.copy(), upper.copy()
    outside = done.known & ((done.values < lower) | (done.values > upper))
    if outside.any():
        raise Contradiction(int(system.equations[done.rows[np.flatnonzero(outside[done.order])[0]]]))
    low[done.known] = high[done.known] = done.values[done.known]
    by_column, by_row = Lookup.of(system.columns, len(low)), Lookup(system.starts, np.arange(len(system.columns)))
    looked, turn = np.flatnonzero(done.left > 0), 0
    while len(looked):
        columns = _narrow(system, by_row.entries(looked), low, high)
        if (low > high).any():
            broken = system.rows[(low > high)[system.columns]]
            raise Contradiction(int(system.equations[broken[0]]))
        turn += 1
        rows = np.unique(system.rows[by_column.entries(columns)])
        rows = rows[done.left[rows] > 0]
        looked = rows if turn < _CYCLIC_ROUNDS else rows[blocks.tree[blocks.of_row[rows]]]
    return low, high


def _narrow(system: System, entries: Integers, low: Integers, high: Integers) -> Integers:
    """Narrow the limits of the columns of some rows by what the others of each row allow; returns which changed."""
    done = system.done
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


@dataclass(frozen=True)
class Lookup:
    """The entries that belong to each of some numbers.

    Args:
        starts: where those of each number begin in `places`.
        places: of entries.
    """

    starts: Integers
    places: Integers

    @classmethod
    def of(cls, numbers: Integers, size: int) -> Lookup:
        """From the number of each entry, of which there are `size` different ones."""
        return cls(starts_of(np.bincount(numbers, minlength=size)), np.argsort(numbers, kind="stable"))

    def entries(self, numbers: Integers) -> Integers:
        """The entries of some numbers, in their order."""
        sizes = self.starts[numbers + 1] - self.starts[numbers]
        shifts = np.repeat(self.starts[numbers] - starts_of(sizes)[:-1], sizes)
        return np.asarray(self.places[shifts + np.arange(int(sizes.sum()))], dtype=np.int64)


# The base that published cells are rounded to, and whether totals unpick it.

_CHANCE = Fraction(1, 1_000_000)
_COUNTED = 40


@dataclass(frozen=True)
class RoundedTo:
    """A base that all published values are multiples of.

    Args:
        base: in units of the values.
        cells: how many different values other than zero say so.
    """

    base: int
    cells: int


def rounding_base(values: Integers) -> RoundedTo | None:
    """The base that published values are rounded to; None where chance would do.

    Args:
        values: the published cells.

    Example:
        >>> rounding_base(np.array([5, 10, 0, 25, 35, 40, 55, 60, 75, 90, 100]))
        RoundedTo(base=5, cells=10)
        >>> rounding_base(np.array([4, 6, 8])) is None
        True
    """
    different = np.unique(np.abs(values[values != 0]))
    if not len(different):
        return None
    base = math.gcd(*different.tolist())
    # how likely so many values (forty count) are multiples of it when nothing was rounded
    chance = Fraction(1, base ** min(len(different), _COUNTED))
    return RoundedTo(base, len(different)) if base > 1 and chance < _CHANCE else None


def unrounded(equations: Equations, values: Integers, base: int) -> PublishedTable:
    """The table before it was rounded, as an attacker sees it: nothing is known but that each cell is near its value.

    Args:
        equations: of the table before it was rounded.
        values: the rounded cells, none below zero.
        base: of rounding.
    """
    everything = np.ones(len(values), dtype=np.bool_)
    return PublishedTable(equations, values, everything, np.maximum(values - base + 1, 0), values + base - 1)


@dataclass(frozen=True)
class RoundedTable:
    """A table whose cells are multiples of a base, and that still adds up.

    Args:
        values: of the cells.
        moved: the sum of how far cells are from their true values.
        bound: none moves less.
        farthest: how far the farthest cell is.
        stopped: `time` when the search ended early, else empty.
    """

    values: Integers
    moved: int
    bound: int
    farthest: int
    stopped: str = ""


def round_together(
    equations: Equations, values: Integers, base: int, *, seconds: float | None = None
) -> RoundedTable | None:
    """Controlled rounding: every cell becomes a multiple of a base near its value, so that all sums still add up.

    Each cell becomes one of both neighbours, and a multiple stays, where that is possible; else some go further.

    Args:
        equations: of the table.
        values: of the cells, none below zero.
        base: of rounding.
        seconds: how long it may take, None = as long as it needs.

    Returns:
        The table that moves least in all; None where none was found in time.

    Raises:
        MissingDriver: HiGHS is not installed.
    """
    tables = (_rounded(equations, values, base, wider, seconds) for wider in (0, 1, 2))
    return next((found for found in tables if found is not None), None)


def _rounded(
    equations: Equations, values: Integers, base: int, wider: int, seconds: float | None
) -> RoundedTable | None:
    """The same, where cells may move by so many bases more than to a neighbour."""
    from sqlaudit.base.solver import Program, solve

    lowest = np.maximum(values // base - wider, 0)
    highest = -(-values // base) + wider
    program = Program()
    for low, high, value in zip(lowest.tolist(), highest.tolist(), values.tolist(), strict=True):
        program.variable(0.0, float(high - low), whole=True)
        far = program.variable(1.0, math.inf, whole=False)  # how far the cell is from its value, from both sides
        program.row([(far, 1.0), (far - 1, -float(base))], float(base * low - value), math.inf)
        program.row([(far, 1.0), (far - 1, float(base))], float(value - base * low), math.inf)
    for number, left in enumerate(equations.residuals(lowest).tolist()):
        parts = [(2 * int(part), 1.0) for part in equations.parts_of(number)]
        program.row([*parts, (2 * int(equations.totals[number]), -1.0)], float(left), float(left))
    solved = solve(program, step=1.0, seconds=seconds)
    if solved.values is None:
        return None
    rounded = (lowest + np.rint(solved.values[::2]).astype(np.int64)) * base
    if equations.residuals(rounded).any():
        return None
    apart = np.abs(rounded - values)
    bound = math.ceil(solved.bound - 1e-6) if math.isfinite(solved.bound) else 0
    moved = int(apart.sum())
    return RoundedTable(rounded, moved, min(bound, moved), int(apart.max(initial=0)), solved.stopped)
