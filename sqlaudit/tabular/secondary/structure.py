"""The additive structure of a table: which cell is the sum of which others.

A cell is a row of codes, one a dimension. A dimension has rollups: in each, a code may have a parent (its total,
its subtotal, the next level of a hierarchy), and the cell of the parent is the sum of the cells of its children, with
the other codes the same. Cells that a table does not have are zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
        size: its codes are 0 … size-1. rollups: for each way to add its codes up, the parent of every code, -1 = none.
    """

    size: int
    rollups: tuple[Integers, ...] = ()

    @classmethod
    def with_total(cls, size: int, total: int) -> Dimension:
        """A dimension in which one code is the total of all others.

        Example:
            >>> Dimension.with_total(3, 2).rollups[0].tolist()
            [2, 2, -1]
        """
        parents = np.full(size, total, dtype=np.int64)
        parents[total] = -1
        return cls(size, (parents,))


@dataclass(frozen=True)
class Equations:
    """Cells that are sums of other cells.

    Args:
        cells: how many cells there are, numbered from 0. totals: the cell that each equation's parts add up to.
        starts: where the parts of each equation begin in `parts`, and where the last one's end. parts: cells.
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
        if not len(self):
            return np.zeros(0, dtype=np.int64)
        return np.asarray(np.add.reduceat(values[self.parts], self.starts[:-1]), dtype=np.int64)

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
        codes: (cells × dimensions) the keys. dimensions: how the codes of each dimension add up.

    Raises:
        UsageError: two cells have the same key.

    Example:
        >>> found = equations_of(np.array([[0], [1], [2]]), [Dimension.with_total(3, 2)])
        >>> found.totals.tolist(), found.parts.tolist()
        ([2], [0, 1])
    """
    twice = repeated(codes, dimensions)
    if len(twice):
        first = int(twice[0]) + 1
        raise UsageError(f"{len(twice):,} cells are in the table more than once; the first is row {first:,}.")
    found = [
        _of_rollup(codes, dimensions, number, parents)
        for number, dimension in enumerate(dimensions)
        for parents in dimension.rollups
    ]
    return _together(len(codes), found)


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


def wrong_sums(equations: Equations, values: Integers, known: Booleans, tolerance: int = 0) -> Integers:
    """The equations whose cells are all known, and that do not add up.

    Args:
        equations: of the table. values: of the cells. known: which values are published.
        tolerance: a difference that is still taken for a rounding of sums.
    """
    judged = ~equations.touching(~known)
    return np.flatnonzero(judged & (np.abs(equations.residuals(np.where(known, values, 0))) > tolerance))


def _of_rollup(codes: Integers, dimensions: Sequence[Dimension], number: int, parents: Integers) -> Equations:
    """The equations of one rollup of one dimension."""
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
    return Equations(len(codes), totals[first], np.append(first, len(parts)), parts)


def _together(cells: int, found: Sequence[Equations]) -> Equations:
    """All equations in one."""
    nothing = np.zeros(0, dtype=np.int64)
    totals = np.concatenate([nothing, *(one.totals for one in found)])
    sizes = np.concatenate([nothing, *(np.diff(one.starts) for one in found)])
    parts = np.concatenate([nothing, *(one.parts for one in found)])
    return Equations(cells, totals, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), parts)


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
