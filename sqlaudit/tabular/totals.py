"""Which cells of a table are sums of which others, with totals in between that nobody published.

A grand total beside its leaves says as much as one with all totals in between. So the equations have further cells,
which nobody sees, where a total is missing that some published total is made of.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sqlaudit.tabular.cells import (
    NO_PARENT,
    Bools,
    Breakdown,
    CellMeasure,
    Codes,
    TableCells,
    Wholes,
    as_integers,
    measures_of,
    once_per_table,
)
from sqlaudit.tabular.secondary.system import (
    Dimension,
    Equations,
    Integers,
    equations_of,
    repeated,
    rounding_base,
    wrong_sums,
)

Facet = frozenset[tuple[int, int]]
"""How far a table is broken down: dimensions with levels, 1 the first below the total."""
MOST_INNER = 20_000
"""So many cells of the table behind circular margins are added; beyond, no hidden cell is called safe."""


def facets_of(cells: TableCells) -> tuple[Facet, ...]:
    """The finest tables of which some cells are published."""
    depths = _depths(cells)
    _, different = np.unique(cells.packed(depths), return_index=True)
    found = [
        frozenset((place, level) for place, depth in enumerate(own) for level in range(1, depth + 1))
        for own in depths[different].tolist()
    ]
    return tuple(one for one in found if not any(one < other for other in found))


def _depths(cells: TableCells) -> Codes:
    """How many steps each cell is below the total, in each dimension."""
    return np.stack([_depth(one)[cells.keys[:, at]] for at, one in enumerate(cells.dimensions)], axis=1)


def _depth(dimension: Breakdown) -> Codes:
    found = np.zeros(dimension.size, dtype=np.int32)
    above = dimension.parents.copy()
    while bool((below := above != NO_PARENT).any()):
        found += below
        above[below] = dimension.parents[above[below]]
    return found


def in_circle(facets: Collection[Facet]) -> bool:
    """Whether tables hang together in a circle (they are taken away from outside, as Graham and Yu-Ozsoyoglu do).

    Example:
        >>> in_circle([frozenset({(0, 1), (1, 1)}), frozenset({(1, 1), (2, 1)})])
        False
        >>> in_circle([frozenset({(0, 1), (1, 1)}), frozenset({(1, 1), (2, 1)}), frozenset({(0, 1), (2, 1)})])
        True
    """
    left = list(facets)
    while len(left) > 1:
        shared = [frozenset(level for level in one if sum(level in other for other in left) > 1) for one in left]
        distinct = list(dict.fromkeys(shared))
        kept = [one for one in distinct if not any(one < other for other in distinct)]
        if kept == left:
            return True
        left = kept
    return False


def inner_keys(cells: TableCells, facets: Collection[Facet]) -> Codes | None:
    """The keys of the table that all are margins of, where each margin has a cell for it; None when they are too many.

    A cell that a published margin does not have is zero, and so are those that it would be the sum of.
    """
    found = np.zeros((1, 0), dtype=np.int32)
    for place, dimension in enumerate(cells.dimensions):
        used = np.unique(cells.keys[:, place])
        some = used[~np.isin(used, dimension.parents[used])]  # those that are no sums of others that are there
        if len(found) * len(some) > 50 * MOST_INNER:
            return None
        found = np.concatenate([np.repeat(found, len(some), axis=0), np.tile(some, len(found))[:, None]], axis=1)
        found = found[_within(cells, found, facets, place)]
    return found if len(found) <= MOST_INNER else None


def _within(cells: TableCells, keys: Codes, facets: Collection[Facet], last: int) -> Bools:
    """The keys, in the dimensions up to one, that lie in a cell of each margin that is finished there."""
    kept = np.ones(len(keys), dtype=np.bool_)
    for facet in facets:
        places = sorted({place for place, _ in facet})
        if not places or places[-1] != last:
            continue
        heights = {place: max(level for at, level in facet if at == place) for place in places}
        margin = np.zeros((len(keys), len(cells.dimensions)), dtype=np.int32)
        for at in places:
            margin[:, at] = _climbed(cells.dimensions[at], keys[:, at], heights[at])
        of_facet = (_depths(cells) <= [heights.get(at, 0) for at in range(len(cells.dimensions))]).all(axis=1)
        there = cells.packed(cells.keys[of_facet], places)
        kept &= np.isin(cells.packed(margin, places), there)
    return kept


def _climbed(dimension: Breakdown, codes: Codes, depth: int) -> Codes:
    """The codes, or those above them that are not deeper."""
    found, deep = codes.copy(), _depth(dimension)
    while bool((below := deep[found] > depth).any()):
        found[below] = dimension.parents[found[below]]
    return found


Scalar = TypeVar("Scalar", bound=np.generic)
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

    def with_missing(self, of_cells: npt.NDArray[Scalar], fill: int | bool) -> npt.NDArray[Scalar]:
        """Something of every cell, with a value for those that are not published."""
        return np.concatenate([of_cells, np.full(len(self.missing), fill, dtype=of_cells.dtype)])

    def summed(self, units: Integers, known: Bools) -> tuple[Integers, Bools, Integers]:
        """The values of all cells, where they are known, and of how many published ones each is the sum.

        What is not published is known where everything that it is made of is.
        """
        values, given = self.with_missing(np.where(known, units, 0), 0), self.with_missing(known, False)
        made_of = np.ones(len(values), dtype=np.int64)
        equations = self.equations
        unpublished = equations.totals >= self.cells
        while True:
            whole = np.zeros(len(equations), dtype=np.bool_)
            if len(equations):
                whole = np.logical_and.reduceat(given[equations.parts], equations.starts[:-1])
            ready = np.flatnonzero(whole & ~given[equations.totals] & unpublished)
            if not len(ready):
                return values, given, made_of
            cells, first = np.unique(equations.totals[ready], return_index=True)
            values[cells] = equations.sums(values)[ready[first]]
            made_of[cells] = equations.sums(made_of)[ready[first]]
            given[cells] = True


@once_per_table
def added_up(cells: TableCells) -> AddedUp | None:
    """The equations of a table; None of several releases, with a cell that is there twice, or too much that is not."""
    dimensions = [
        Dimension(one.size, (one.parents.astype(np.int64),) if one.is_total.any() else ()) for one in cells.dimensions
    ]
    if cells.release is not None or len(repeated(cells.keys.astype(np.int64), dimensions)):
        return None
    facets = facets_of(cells)
    circle = bool(cells.hidden.any()) and in_circle(facets)
    inner = inner_keys(cells, facets) if circle else cells.keys[:0]
    missing = _between(cells, cells.keys[:0] if inner is None else inner, every=len(facets) > 1)
    if missing is None:
        return None
    keys = np.concatenate([cells.keys, missing]).astype(np.int64)
    return AddedUp(len(cells), missing, equations_of(keys, dimensions), loose=inner is None)


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
    heights = [int(_depth(one).max(initial=0)) for one in cells.dimensions]
    ways = [steps for steps in product(*(range(height + 1) for height in heights)) if any(steps)]
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
    columns = zip(cells.dimensions, cells.keys.T, strict=True)
    found: Bools = np.logical_and.reduce([one.is_grand[codes] for one, codes in columns])
    return found


_FEWEST = 5
"""So many totals must miss their parts, in both directions, and half of all that can be compared, to be noise."""


@dataclass(frozen=True, eq=False)
class MissedSums:
    """Totals of one measure that differ from their parts by more than the rounding of each.

    Args:
        equations: of these. compared: how many equations have all their numbers. small: whether nearly all differ by so
            little as noise in each cell makes it.
    """

    equations: Integers
    compared: int
    small: bool

    @property
    def noisy(self) -> bool:
        """Whether that is so in so many places that numbers were changed on purpose."""
        missed = len(self.equations)
        return self.small and missed >= _FEWEST and 2 * missed >= self.compared


def _missed_sums(name: str, one: CellMeasure, added: AddedUp) -> MissedSums | None:
    """The totals of a measure that are not the sum of their parts; None of numbers that are too large to add up.

    Args:
        name: of the measure, `count` or `value`.
    """
    units = as_integers(one)
    if units is None:
        return None
    equations = added.equations
    values, known, made_of = added.summed(units, one.known)
    wrong = wrong_sums(equations, values, known)
    parts = equations.sums(made_of)[wrong] + made_of[equations.totals[wrong]]
    apart = equations.residuals(values)[wrong]
    off = np.abs(apart)
    base = rounding_base(units[one.known])
    each = 2 * (base.base - 1) if base is not None else int(name == "value")
    beyond = 2 * off > parts * each
    wrong, parts, off, apart = wrong[beyond], parts[beyond], off[beyond], apart[beyond]
    near = off <= np.abs(values[equations.totals[wrong]]) // 10 + 3 * parts * 10**one.places
    compared = int((~equations.touching(~known)).sum())
    small = 10 * int(near.sum()) >= 9 * len(wrong) and bool((apart > 0).any()) and bool((apart < 0).any())
    return MissedSums(wrong, compared, small)


@once_per_table
def missed_sums(cells: TableCells) -> dict[str, MissedSums]:
    """For each measure the totals that are not the sums of their parts."""
    added = added_up(cells)
    found = {} if added is None else {name: _missed_sums(name, one, added) for name, one in measures_of(cells)}
    return {name: one for name, one in found.items() if one is not None}


def is_noisy(cells: TableCells) -> bool:
    """Whether totals miss their parts in so many places, by so little, that noise was added."""
    return any(one.noisy for one in missed_sums(cells).values())


def broken_totals(cells: TableCells, *, noisy: bool) -> Bools:
    """Totals that are not the sum of their parts, beyond rounding: those of noisy measures, or of others."""
    if (added := added_up(cells)) is None:
        return np.zeros(len(cells), dtype=np.bool_)
    equations = added.equations
    found = np.zeros(equations.cells, dtype=np.bool_)
    for missed in missed_sums(cells).values():
        for equation in missed.equations.tolist() if missed.noisy is noisy else ():
            total = equations.totals[equation]  # where it is not published, its parts are the cells that are wrong
            found[total if total < added.cells else equations.parts_of(equation)] = True
    return found[: added.cells]


def with_left_out(cells: TableCells) -> TableCells:
    """The cells with those that have no row though totals count them, as hidden ones: `HAVING` leaves such rows out.

    Where a total is more than its parts, these are all parts that are not there, but for those that another total,
    which is just the sum of its parts, says to be 0.
    """
    name = "value" if cells.count is None else "count"
    one = cells.value if cells.count is None else cells.count
    added, missed = added_up(cells), missed_sums(cells).get(name)
    if added is None or one is None or missed is None or missed.noisy or bool((one.units < 0).any()):
        return cells
    values, known, _ = added.summed(as_integers(one), one.known)  # type: ignore[arg-type]  # else nothing is missed
    keys, equations = np.concatenate([cells.keys, added.missing]), added.equations
    totals = keys[equations.totals]
    places = np.argmax(totals != keys[equations.parts[equations.starts[:-1]]], axis=1)
    more = missed.equations[equations.residuals(values)[missed.equations] > 0]
    shut = ~equations.touching(~known)
    shut[missed.equations] = False
    width = range(len(cells.dimensions))
    nothing = cells.packed(keys[known & (values == 0)])
    full = [np.append(nothing, cells.packed(totals[shut & (places == place)])) for place in width]
    there, looked = cells.packed(keys), [cells.packed(keys[:0])] * len(width)
    front = [totals[more[places[more] == place]] for place in width]
    found = keys[:0]
    while any(map(len, front)):
        looked = [np.append(one, cells.packed(other)) for one, other in zip(looked, front, strict=True)]
        new = _parts_not_in(cells, front, np.append(there, cells.packed(found)))
        above = [_totals_in(cells, new, place) for place in width]
        empty = np.logical_or.reduce([np.isin(cells.packed(above[at]), full[at]) for at in width])
        found = np.concatenate([found, new[~empty]])
        if len(found) > _MOST_TIMES * len(cells) + _MOST_BESIDES:
            return cells
        known_totals = cells.packed(keys[known])
        front = [
            one[np.isin(cells.packed(one), known_totals) & ~np.isin(cells.packed(one), looked[at])]
            for at, one in enumerate(np.unique(one[~empty], axis=0) for one in above)
        ]
    return cells.with_left_out(found) if len(found) else cells


def _parts_not_in(cells: TableCells, totals: Sequence[Codes], there: Wholes) -> Codes:
    """The keys of the parts of totals, each once, without those that are there.

    Args:
        totals: for each dimension the keys of those whose parts differ in this one.
    """
    found = [cells.keys[:0]]
    for place, (dimension, keys) in enumerate(zip(cells.dimensions, totals, strict=True)):
        codes = np.union1d(cells.keys[:, place], np.arange(1, dimension.size))  # those of other releases, too
        for total in np.unique(keys[:, place]):
            parts = codes[dimension.parents[codes] == total]
            some = np.repeat(keys[keys[:, place] == total], len(parts), axis=0)
            some[:, place] = np.resize(parts, len(some))
            found.append(some)
    every = np.unique(np.concatenate(found), axis=0)
    return every[~np.isin(cells.packed(every), there)]


def _totals_in(cells: TableCells, keys: Codes, place: int) -> Codes:
    """The keys of the totals of some cells in one dimension; of what is part of nothing, its own."""
    found, parents = keys.copy(), cells.dimensions[place].parents[keys[:, place]]
    found[:, place] = np.where(parents == NO_PARENT, keys[:, place], parents)
    return found
