"""Which cells of a table are sums of which others, with totals in between that nobody published.

A grand total beside its leaves says as much as one with all totals in between. So the equations have further cells,
which nobody sees, where a total is missing that some published total is made of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sqlaudit.tabular.cells import NO_PARENT, Bools, Breakdown, Codes, TableCells
from sqlaudit.tabular.facets import facets_of, in_circle, inner_keys
from sqlaudit.tabular.secondary.structure import Dimension, Equations, Integers, equations_of, repeated

T = TypeVar("T", bound=np.generic)
_MOST_TIMES, _MOST_BESIDES = 4, 100_000
"""So many unpublished cells for each published one, and so many besides, are added; else a table is not solved."""
_MOST_WAYS_UP = 4_096


@dataclass(frozen=True, eq=False)
class AddedUp:
    """A table with its equations.

    Args:
        cells: how many are in the table; they come first. missing: the keys of further cells, which are not published.
        equations: between all of them. loose: whether more may follow than equations say.
    """

    cells: int
    missing: Codes
    equations: Equations
    loose: bool = False

    def with_missing(self, of_cells: npt.NDArray[T], fill: int | bool) -> npt.NDArray[T]:
        """Something of every cell, with a value for those that are not published."""
        return np.concatenate([of_cells, np.full(len(self.missing), fill, dtype=of_cells.dtype)])

    def summed(self, units: Integers, known: Bools) -> tuple[Integers, Bools, Integers]:
        """The values of all cells, where they are known, and of how many published ones each is the sum.

        What is not published is known where everything that it is made of is.
        """
        values, given = self.with_missing(np.where(known, units, 0), 0), self.with_missing(known, False)
        made_of = np.ones(len(values), dtype=np.int64)
        equations = self.equations
        while True:
            whole = np.zeros(len(equations), dtype=np.bool_)
            if len(equations):
                whole = np.logical_and.reduceat(given[equations.parts], equations.starts[:-1])
            ready = np.flatnonzero(whole & ~given[equations.totals] & self._unpublished)
            if not len(ready):
                return values, given, made_of
            cells, first = np.unique(equations.totals[ready], return_index=True)
            values[cells] = equations.sums(values)[ready[first]]
            made_of[cells] = equations.sums(made_of)[ready[first]]
            given[cells] = True

    @cached_property
    def _unpublished(self) -> Bools:
        """The equations of cells that are not published."""
        return np.asarray(self.equations.totals >= self.cells, dtype=np.bool_)


def added_up(cells: TableCells) -> AddedUp | None:
    """The equations of a table; None of several releases, with a cell that is there twice, or too much that is not."""
    if cells.release is not None or len(repeated(cells.keys.astype(np.int64), _solved(cells.dimensions))):
        return None
    facets = facets_of(cells)
    inner: Codes | None = cells.keys[:0]
    if bool(cells.hidden.any()) and in_circle(facets):
        inner = inner_keys(cells, facets)
    below = cells.keys[:0] if inner is None else inner
    missing = _between(cells, below, every=len(facets) > 1)
    if missing is None:
        return None
    keys = np.concatenate([cells.keys, missing]).astype(np.int64)
    return AddedUp(len(cells), missing, equations_of(keys, _solved(cells.dimensions)), loose=inner is None)


def _solved(dimensions: Sequence[Breakdown]) -> list[Dimension]:
    return [
        Dimension(one.size, (one.parents.astype(np.int64),) if bool(one.is_total.any()) else ()) for one in dimensions
    ]


def missing_totals(cells: TableCells) -> Codes:
    """The keys of totals of published cells that are not there themselves."""
    return _outside(cells, cells.keys, [cells.keys])


def _between(cells: TableCells, inner: Codes, *, every: bool) -> Codes | None:
    """The keys of totals that are not there, though larger ones are; None when they are too many.

    Args:
        inner: keys of cells below all published ones. every: those above all, too, where several tables meet in them.
    """
    most = _MOST_TIMES * len(cells) + _MOST_BESIDES
    inner = inner[~np.isin(cells.packed(inner), cells.numbers)]
    found: list[Codes] = [cells.keys, inner]
    looked = np.concatenate(found)
    while len(looked):
        outside = _outside(cells, looked, found)
        looked = outside if every else outside[_below(cells, outside)]
        found.append(looked)
        if sum(map(len, found)) > most + len(cells):
            return None
    return np.concatenate(found[1:])


def _outside(cells: TableCells, keys: Codes, there: Sequence[Codes]) -> Codes:
    """The keys of the totals of some cells, each once, without those that are there."""
    above = [keys[:0]]
    for place, one in enumerate(cells.dimensions):
        parents = one.parents[keys[:, place]]
        moved = keys[parents != NO_PARENT].copy()
        moved[:, place] = parents[parents != NO_PARENT]
        above.append(moved)
    every = np.concatenate(above)
    numbers, first = np.unique(cells.packed(every), return_index=True)
    known = np.concatenate([cells.packed(one) for one in there])
    return every[first[~np.isin(numbers, known)]]


def _below(cells: TableCells, keys: Codes) -> Bools:
    """Which keys are part of a published cell, directly or not."""
    ways = list(_ways_up(cells.dimensions))
    found = np.zeros(len(keys), dtype=np.bool_)
    if not len(keys) or len(ways) > _MOST_WAYS_UP:
        return ~found
    published = np.unique(cells.numbers)
    for steps in ways:
        up, whole = keys.copy(), ~found
        for place, step in enumerate(steps):
            for _ in range(step):
                parents = cells.dimensions[place].parents[up[:, place]]
                whole &= parents != NO_PARENT
                up[:, place] = np.where(parents != NO_PARENT, parents, up[:, place])
        found[whole] |= np.isin(cells.packed(up[whole]), published)
    return found


def _ways_up(dimensions: Sequence[Breakdown]) -> Iterator[tuple[int, ...]]:
    """How many steps up in each dimension, everything but none at all."""
    heights = [_height(one) for one in dimensions]
    return (steps for steps in product(*(range(height + 1) for height in heights)) if any(steps))


def _height(dimension: Breakdown) -> int:
    codes, height = np.flatnonzero(dimension.parents != NO_PARENT), 0
    while len(codes):
        height += 1
        codes = np.unique(dimension.parents[codes])
        codes = codes[dimension.parents[codes] != NO_PARENT]
    return height


def contributors_of(cells: TableCells) -> int | None:
    """How many are behind the whole table: its grand total, else the sum over cells that are no totals of others."""
    found = cells.contributors
    if found is None:
        return None
    every = grand_totals(cells)
    chosen = every if bool(every.any()) else ~cells.totals
    return int(sum(found.units[chosen & found.known].tolist()))


def grand_totals(cells: TableCells) -> Bools:
    """The cell of everybody, where there is one."""
    every = np.ones(len(cells), dtype=np.bool_)
    for place, dimension in enumerate(cells.dimensions):
        every &= dimension.is_grand[cells.keys[:, place]]
    return every
