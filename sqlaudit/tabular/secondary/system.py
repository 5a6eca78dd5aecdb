"""The equations between hidden cells, and what follows from one equation after the other.

Two steps need no program. A cell that is the only unknown one of an equation is determined, and may make another the
only one. Then limits: the least and the largest sum of the other cells of an equation bound each of its cells. In a
block of cells and equations without a cycle, these limits are the exact intervals, in whole numbers, too: values for
the branches of a tree can be chosen independently.
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
        """Return the cells that one equation adds up."""
        return self.parts[self.starts[equation] : self.starts[equation + 1]]

    @property
    def owners(self) -> Integers:
        """The equation of each entry of `parts`."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def sums(self, values: Integers) -> Integers:
        """Return the sum of the parts of each equation."""
        empty = values[:0].astype(np.int64)
        return np.add.reduceat(values[self.parts], self.starts[:-1], dtype=np.int64) if len(self) else empty

    def residuals(self, values: Integers) -> Integers:
        """Return for each equation the total minus the sum of its parts: 0 where it adds up."""
        return np.asarray(values[self.totals] - self.sums(values), dtype=np.int64)

    def touching(self, cells: Booleans) -> Booleans:
        """Return True for equations that contain one of these cells."""
        is_touched = cells[self.totals].copy()
        if len(self):
            is_touched |= np.logical_or.reduceat(cells[self.parts], self.starts[:-1])
        return is_touched


def build_equations(codes: Integers, dimensions: Sequence[Dimension]) -> Equations:
    """Return the equations between the cells of a table, or of several linked tables in one array of cells.

    Args:
        codes: (cells × dimensions) the keys.
        dimensions: how the codes of each dimension add up.

    Raises:
        UsageError: two cells have the same key.

    Example:
        >>> equations = build_equations(np.array([[0], [1], [2]]), [Dimension(3, (np.array([2, 2, -1]),))])
        >>> equations.totals.tolist(), equations.parts.tolist()
        ([2], [0, 1])
    """
    twice = find_repeated_keys(codes, dimensions)
    if len(twice):
        first = int(twice[0]) + 1
        raise UsageError(f"{len(twice):,} cells are in the table more than once. The first is row {first:,}.")
    rollups = [(np.zeros(0, dtype=np.int64),) * 3]
    for number, dimension in enumerate(dimensions):
        rollups += [_build_rollup_equations(codes, dimensions, number, parents) for parents in dimension.rollups]
    totals, sizes, parts = (np.concatenate(arrays) for arrays in zip(*rollups, strict=True))
    return Equations(len(codes), totals, run_starts(sizes), parts)


def find_repeated_keys(codes: Integers, dimensions: Sequence[Dimension]) -> Integers:
    """Return the cells whose key an earlier cell has, too, in order."""
    keys = _pack_keys(codes, [dimension.size for dimension in dimensions])
    ordered = np.sort(keys)
    if not bool((ordered[1:] == ordered[:-1]).any()):
        return np.zeros(0, dtype=np.intp)
    _, first = np.unique(keys, return_index=True)
    again = np.ones(len(codes), dtype=np.bool_)
    again[first] = False
    return np.flatnonzero(again)


def find_wrong_sums(equations: Equations, values: Integers, is_known: Booleans) -> Integers:
    """Return the equations whose cells are all known, and that do not add up.

    Args:
        equations: of the table.
        values: of the cells.
        is_known: True where a value is published.
    """
    is_complete = ~equations.touching(~is_known)
    return np.flatnonzero(is_complete & (equations.residuals(np.where(is_known, values, 0)) != 0))


def _build_rollup_equations(
    codes: Integers, dimensions: Sequence[Dimension], axis: int, parents: Integers
) -> tuple[Integers, Integers, Integers]:
    """Return the equations of one rollup of one dimension: their totals, the number of parts of each, and all parts."""
    others = [other for other in range(len(dimensions)) if other != axis]
    size = dimensions[axis].size
    groups = _pack_keys(codes[:, others], [dimensions[other].size for other in others])
    if len(groups) and int(groups.max()) * size >= _WIDEST:
        groups = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    keys = groups * size + codes[:, axis]
    order = np.argsort(keys, kind="stable")
    above = parents[codes[:, axis]]
    children = np.flatnonzero(above >= 0)
    parent_keys = groups[children] * size + above[children]
    position = np.searchsorted(keys[order], parent_keys)
    position[position == len(order)] = 0
    has_parent_cell = keys[order[position]] == parent_keys if len(order) else np.zeros(0, dtype=np.bool_)
    totals, parts = order[position[has_parent_cell]], children[has_parent_cell]
    sort = np.argsort(totals, kind="stable")
    totals, parts = totals[sort], parts[sort]
    first = np.flatnonzero(np.diff(totals, prepend=-1))
    return totals[first], np.diff(first, append=len(parts)), parts


def run_starts(sizes: Integers) -> Integers:
    """Return where runs of these sizes begin, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _pack_keys(codes: Integers, sizes: Sequence[int]) -> Integers:
    """Return one number for each row of codes, equal where the rows are equal."""
    packed, width = np.zeros(len(codes), dtype=np.int64), 1
    for column, size in enumerate(sizes):
        if width * size >= _WIDEST:
            different, packed = np.unique(packed, return_inverse=True)
            width = len(different)
        packed = packed * size + codes[:, column]
        width *= size
    return packed.astype(np.int64)


FREE = 1 << 61
"""No limit: an upper limit of FREE, a lower one of -FREE."""
_LARGEST = 1 << 58
_CYCLIC_ROUNDS = 20
"""Largest number of rounds of limits in blocks with cycles; programs finish the rest."""


class Contradiction(UsageError):
    """Published numbers that no table fits.

    Args:
        equation: the number of an equation that cannot hold; None where several cannot hold together.
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
        equations: between cells.
        values: of the cells, whole multiples of one unit; any number where hidden.
        hidden: the cells that are not published.
        lower, upper: limits of hidden cells that everybody knows; -FREE and FREE where there are none.
        whole: True if hidden values are whole units (counts), False if they may be fractions.
    """

    equations: Equations
    values: Integers
    hidden: Booleans
    lower: Integers
    upper: Integers
    whole: bool = True

    def scaled(self, times: int) -> PublishedTable:
        """Return the table in a smaller unit.

        Raises:
            UsageError: the numbers get too large to be added up exactly.
        """
        published = np.where(self.hidden, 0, self.values)
        if float(np.abs(published).astype(np.float64).sum()) * times >= _LARGEST:  # an upper limit of all sums
            raise UsageError(
                "The values are too large to be added up exactly. Round them, or give them in thousands or millions."
            )
        limits = [np.where(np.abs(limit) >= FREE, limit, limit * times) for limit in (self.lower, self.upper)]
        return replace(self, values=published * times, lower=limits[0], upper=limits[1])


@dataclass(frozen=True)
class System:
    """Equations between hidden cells: the signed sum of the columns of a row is its right side.

    Args:
        cells: the cell of each column.
        equations: the equation of each row.
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
    def determined(self) -> DeterminedColumns:
        """The columns that single equations determine.

        Raises:
            Contradiction: an equation without unknown cells does not hold.
        """
        return _determine_columns(self)

    @cached_property
    def blocks(self) -> CellBlocks:
        """The blocks of columns that are not determined."""
        return _find_blocks(self)


def build_system(table: PublishedTable) -> System:
    """Return the equations that contain hidden cells, with their published cells on the right."""
    equations, hidden = table.equations, table.hidden
    used = np.flatnonzero(equations.touching(hidden))
    values = np.where(hidden, 0, table.values)
    right = equations.residuals(values)[used]
    column = np.cumsum(hidden) - 1
    row = np.full(len(equations), -1, dtype=np.int64)
    row[used] = np.arange(len(used))
    inside = hidden[equations.parts]
    tops = np.flatnonzero(hidden[equations.totals])
    rows = np.concatenate([row[equations.owners[inside]], row[tops]])
    columns = np.concatenate([column[equations.parts[inside]], column[equations.totals[tops]]])
    signs = np.concatenate([np.ones(int(inside.sum()), dtype=np.int64), np.full(len(tops), -1, dtype=np.int64)])
    order = np.argsort(rows, kind="stable")
    starts = run_starts(np.bincount(rows, minlength=len(used)))
    return System(np.flatnonzero(hidden), used, starts, columns[order], signs[order], right)


@dataclass(frozen=True)
class DeterminedColumns:
    """The columns that single equations determine, one after the other.

    Args:
        order: the determined columns, in the order in which they are determined.
        rows: the row that determines each.
        values: of all columns; any number where not determined.
        known: True for determined columns.
        right: of each row, less the determined columns.
        left: number of columns of each row that are not determined.
    """

    order: Integers
    rows: Integers
    values: Integers
    known: Booleans
    right: Integers
    left: Integers


def _determine_columns(system: System) -> DeterminedColumns:
    """Return the cells that are the only unknown ones of an equation, after determining others, until there are none.

    Raises:
        Contradiction: an equation without unknown cells does not hold.
    """
    by_column = Lookup.of(system.columns, len(system.cells))
    rows = system.rows
    left = np.diff(system.starts)
    right = system.right.copy()
    open_columns = _sum_by_index(rows, system.columns, len(right))
    open_signs = _sum_by_index(rows, system.signs, len(right))
    values = np.zeros(len(system.cells), dtype=np.int64)
    is_known = np.zeros(len(system.cells), dtype=np.bool_)
    order, by_rows = [values[:0]], [values[:0]]
    ready = np.flatnonzero(left == 1)
    while len(ready):
        columns, first = np.unique(open_columns[ready], return_index=True)
        deciding_rows = ready[first]
        values[columns] = right[deciding_rows] * open_signs[deciding_rows]
        is_known[columns] = True
        order.append(columns)
        by_rows.append(deciding_rows)
        entries = by_column.entries(columns)
        at, column, sign = rows[entries], system.columns[entries], system.signs[entries]
        np.subtract.at(right, at, sign * values[column])
        np.subtract.at(left, at, 1)
        np.subtract.at(open_columns, at, column)
        np.subtract.at(open_signs, at, sign)
        touched = np.unique(at)
        ready = touched[left[touched] == 1]
    broken = system.equations[(left == 0) & (right != 0)]
    if len(broken):
        raise Contradiction(int(broken[0]))
    return DeterminedColumns(np.concatenate(order), np.concatenate(by_rows), values, is_known, right, left)


@dataclass(frozen=True)
class CellBlocks:
    """Parts of a system that have no cell in common.

    Args:
        of_column, of_row: the number of the block, -1 for determined columns and for rows without unknown ones.
        number: how many blocks there are.
        tree: True for blocks without a cycle.
    """

    of_column: Integers
    of_row: Integers
    number: int
    tree: Booleans


def _find_blocks(system: System) -> CellBlocks:
    """Return the blocks of the columns that are not determined."""
    unknown = ~system.determined.known
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


def propagate_limits(system: System, lower: Integers, upper: Integers) -> tuple[Integers, Integers]:
    """Return limits of each column that hold for every possible table, exact in blocks without a cycle.

    Args:
        system: the equations of hidden cells.
        lower, upper: limits of each column that everybody knows.

    Raises:
        Contradiction: no value is possible.
    """
    done, blocks = system.determined, system.blocks
    low, high = lower.copy(), upper.copy()
    outside = done.known & ((done.values < lower) | (done.values > upper))
    if outside.any():
        raise Contradiction(int(system.equations[done.rows[np.flatnonzero(outside[done.order])[0]]]))
    low[done.known] = high[done.known] = done.values[done.known]
    by_column, by_row = Lookup.of(system.columns, len(low)), Lookup(system.starts, np.arange(len(system.columns)))
    active, rounds = np.flatnonzero(done.left > 0), 0
    while len(active):
        columns = _narrow_limits(system, by_row.entries(active), low, high)
        if (low > high).any():
            broken = system.rows[(low > high)[system.columns]]
            raise Contradiction(int(system.equations[broken[0]]))
        rounds += 1
        rows = np.unique(system.rows[by_column.entries(columns)])
        rows = rows[done.left[rows] > 0]
        active = rows if rounds < _CYCLIC_ROUNDS else rows[blocks.tree[blocks.of_row[rows]]]
    return low, high


def _narrow_limits(system: System, entries: Integers, low: Integers, high: Integers) -> Integers:
    """Narrow the limits of columns by those of the others in each row, in place. Return the columns that changed."""
    done = system.determined
    entries = entries[~done.known[system.columns[entries]]]
    rows, columns, up = system.rows[entries], system.columns[entries], system.signs[entries] > 0
    least, most = np.where(up, low[columns], -high[columns]), np.where(up, high[columns], -low[columns])
    others_least = _sum_of_others(rows, least, least <= -FREE, len(done.right))
    others_most = _sum_of_others(rows, most, most >= FREE, len(done.right))
    right = done.right[rows]
    top = np.where(np.abs(others_least) >= FREE, FREE, right - others_least)
    bottom = np.where(np.abs(others_most) >= FREE, -FREE, right - others_most)
    before = low[columns], high[columns]
    np.maximum.at(low, columns, np.where(up, bottom, -top))
    np.minimum.at(high, columns, np.where(up, top, -bottom))
    return np.unique(columns[(low[columns] != before[0]) | (high[columns] != before[1])])


def _sum_of_others(rows: Integers, amounts: Integers, free: Booleans, number: int) -> Integers:
    """Return for each entry the sum of the other entries of its row; FREE where one of these has no limit."""
    finite = np.where(free, 0, amounts)
    sums, frees = _sum_by_index(rows, finite, number), _sum_by_index(rows, free.astype(np.int64), number)
    return np.where(frees[rows] - free > 0, FREE, sums[rows] - finite)


def _sum_by_index(index: Integers, amounts: Integers, number: int) -> Integers:
    """Return the sum of the amounts with each index."""
    sums = np.zeros(number, dtype=np.int64)
    np.add.at(sums, index, amounts)
    return sums


@dataclass(frozen=True)
class Lookup:
    """The entries that have each number, as a sorted index.

    Args:
        starts: where the entries of each number begin in `places`.
        places: indices of entries, sorted by their number.
    """

    starts: Integers
    places: Integers

    @classmethod
    def of(cls, numbers: Integers, size: int) -> Lookup:
        """Return the lookup for the number of each entry, of which there are `size` different ones."""
        return cls(run_starts(np.bincount(numbers, minlength=size)), np.argsort(numbers, kind="stable"))

    def entries(self, numbers: Integers) -> Integers:
        """Return the entries of some numbers, in their order."""
        sizes = self.starts[numbers + 1] - self.starts[numbers]
        shifts = np.repeat(self.starts[numbers] - run_starts(sizes)[:-1], sizes)
        return np.asarray(self.places[shifts + np.arange(int(sizes.sum()))], dtype=np.int64)


_CHANCE = Fraction(1, 1_000_000)
_COUNTED = 40


@dataclass(frozen=True)
class RoundingBase:
    """A base that all published values are multiples of.

    Args:
        base: in units of the values.
        cells: number of different values other than zero.
    """

    base: int
    cells: int


def find_rounding_base(values: Integers) -> RoundingBase | None:
    """Return the base that published values are rounded to; None where multiples may be chance.

    Args:
        values: the published cells.

    Example:
        >>> find_rounding_base(np.array([5, 10, 0, 25, 35, 40, 55, 60, 75, 90, 100]))
        RoundingBase(base=5, cells=10)
        >>> find_rounding_base(np.array([4, 6, 8])) is None
        True
    """
    different = np.unique(np.abs(values[values != 0]))
    if not len(different):
        return None
    base = math.gcd(*different.tolist())
    # the chance that this many values (forty at most) are multiples of it when nothing was rounded
    chance = Fraction(1, base ** min(len(different), _COUNTED))
    return RoundingBase(base, len(different)) if base > 1 and chance < _CHANCE else None


def undo_rounding(equations: Equations, values: Integers, base: int) -> PublishedTable:
    """Return the unrounded table as an attacker sees it: each cell is less than the base away from its value.

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
        moved: sum of the distances of cells from their true values.
        bound: proven lower bound of that sum.
        farthest: the largest of these distances.
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
    """Round every cell to a multiple of a base near its value, so that all sums still add up (controlled rounding).

    Each cell becomes one of both neighbours, and a multiple stays, where that is possible; otherwise some go farther.

    Args:
        equations: of the table.
        values: of the cells, none below zero.
        base: of rounding.
        seconds: time limit, None = no limit.

    Returns:
        The table that moves least in all; None where none was found in time.

    Raises:
        MissingDriver: HiGHS is not installed.
    """
    tables = (_round_within(equations, values, base, wider, seconds) for wider in (0, 1, 2))
    return next((table for table in tables if table is not None), None)


def _round_within(
    equations: Equations, values: Integers, base: int, wider: int, seconds: float | None
) -> RoundedTable | None:
    """Return the rounded table that moves least; None where none was found.

    Args:
        wider: number of bases by which a cell may move beyond its neighbours.
    """
    from sqlaudit.base.solver import Program, solve

    lowest = np.maximum(values // base - wider, 0)
    highest = -(-values // base) + wider
    program = Program()
    for low, high, value in zip(lowest.tolist(), highest.tolist(), values.tolist(), strict=True):
        program.variable(0.0, float(high - low), whole=True)
        far = program.variable(1.0, math.inf, whole=False)  # distance of the cell from its value, either way
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
    distances = np.abs(rounded - values)
    bound = math.ceil(solved.bound - 1e-6) if math.isfinite(solved.bound) else 0
    moved = int(distances.sum())
    return RoundedTable(rounded, moved, min(bound, moved), int(distances.max(initial=0)), solved.stopped)
