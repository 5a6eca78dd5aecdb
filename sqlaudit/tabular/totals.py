"""The equations between the cells of a table, with the totals between them that are not published.

A grand total beside its leaves reveals as much as one with all totals in between. So the equations have further cells,
which no one sees, where a total is missing that some published total is made of.
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
    cache_per_table,
    published_measures,
)
from sqlaudit.tabular.secondary.system import (
    Dimension,
    Equations,
    Integers,
    build_equations,
    find_repeated_keys,
    find_rounding_base,
    find_wrong_sums,
)

Facet = frozenset[tuple[int, int]]
"""The levels by which a table is broken down: (axis, level), where level 1 is the first below the total."""
MOST_INNER = 20_000
"""Largest number of cells added for the table behind cyclic margins; beyond it, no hidden cell counts as safe."""


def find_facets(cells: TableCells) -> tuple[Facet, ...]:
    """Return the finest tables of which some cells are published."""
    depths = _cell_depths(cells)
    _, different = np.unique(cells.pack_keys(depths), return_index=True)
    facets = [
        frozenset((axis, level) for axis, depth in enumerate(cell_depths) for level in range(1, depth + 1))
        for cell_depths in depths[different].tolist()
    ]
    return tuple(facet for facet in facets if not any(facet < other for other in facets))


def _cell_depths(cells: TableCells) -> Codes:
    """Return the number of steps from each cell up to the total, in each dimension."""
    return np.stack(
        [_code_depths(dimension)[cells.keys[:, axis]] for axis, dimension in enumerate(cells.dimensions)], axis=1
    )


def _code_depths(dimension: Breakdown) -> Codes:
    """Return the number of steps from each code up to a code without a parent."""
    depths = np.zeros(dimension.size, dtype=np.int32)
    above = dimension.parents.copy()
    while bool((below := above != NO_PARENT).any()):
        depths += below
        above[below] = dimension.parents[above[below]]
    return depths


def has_cycle(facets: Collection[Facet]) -> bool:
    """Return True if margins form a cycle: taking tables away from outside (Graham; Yu and Ozsoyoglu) leaves some.

    Example:
        >>> has_cycle([frozenset({(0, 1), (1, 1)}), frozenset({(1, 1), (2, 1)})])
        False
        >>> has_cycle([frozenset({(0, 1), (1, 1)}), frozenset({(1, 1), (2, 1)}), frozenset({(0, 1), (2, 1)})])
        True
    """
    facets_left = list(facets)
    while len(facets_left) > 1:
        shared_levels = [
            frozenset(level for level in facet if sum(level in other for other in facets_left) > 1)
            for facet in facets_left
        ]
        distinct = list(dict.fromkeys(shared_levels))
        maximal = [facet for facet in distinct if not any(facet < other for other in distinct)]
        if maximal == facets_left:
            return True
        facets_left = maximal
    return False


def find_inner_keys(cells: TableCells, facets: Collection[Facet]) -> Codes | None:
    """Return the keys of the table that all facets are margins of; None when they are too many.

    Only keys that have a cell in each margin count: a cell that a published margin does not have is zero, and so are
    those that it would be the sum of.
    """
    keys = np.zeros((1, 0), dtype=np.int32)
    for axis, dimension in enumerate(cells.dimensions):
        used = np.unique(cells.keys[:, axis])
        leaves = used[~np.isin(used, dimension.parents[used])]  # codes without parts in the table
        if len(keys) * len(leaves) > 50 * MOST_INNER:
            return None
        keys = np.concatenate([np.repeat(keys, len(leaves), axis=0), np.tile(leaves, len(keys))[:, None]], axis=1)
        keys = keys[_lie_in_margins(cells, keys, facets, axis)]
    return keys if len(keys) <= MOST_INNER else None


def _lie_in_margins(cells: TableCells, keys: Codes, facets: Collection[Facet], last: int) -> Bools:
    """Return True for keys that have a cell in each margin whose last dimension this is.

    Args:
        keys: in the dimensions up to `last`.
        last: axis of the last dimension of the keys.
    """
    is_inside = np.ones(len(keys), dtype=np.bool_)
    for facet in facets:
        axes = sorted({axis for axis, _ in facet})
        if not axes or axes[-1] != last:
            continue
        heights = {axis: max(level for other, level in facet if other == axis) for axis in axes}
        margin = np.zeros((len(keys), len(cells.dimensions)), dtype=np.int32)
        for axis in axes:
            margin[:, axis] = _climb_to_depth(cells.dimensions[axis], keys[:, axis], heights[axis])
        of_facet = (_cell_depths(cells) <= [heights.get(axis, 0) for axis in range(len(cells.dimensions))]).all(axis=1)
        margin_cells = cells.pack_keys(cells.keys[of_facet], axes)
        is_inside &= np.isin(cells.pack_keys(margin, axes), margin_cells)
    return is_inside


def _climb_to_depth(dimension: Breakdown, codes: Codes, depth: int) -> Codes:
    """Return the codes, or for deeper ones their ancestors at this depth."""
    climbed, deep = codes.copy(), _code_depths(dimension)
    while bool((below := deep[climbed] > depth).any()):
        climbed[below] = dimension.parents[climbed[below]]
    return climbed


Scalar = TypeVar("Scalar", bound=np.generic)
_MOST_TIMES, _MOST_FURTHER = 4, 100_000
"""Largest number of unpublished cells that are added: a factor of the published ones, and a constant."""
_MOST_WAYS_UP = 4_096


@dataclass(frozen=True, eq=False)
class CompletedTable:
    """A table completed by totals that are not published, with its equations.

    Args:
        cells: number of published cells; they come first.
        missing: the keys of the further cells, which are not published.
        equations: between all cells.
        loose: True if limits may be narrower than the equations show.
    """

    cells: int
    missing: Codes
    equations: Equations
    loose: bool = False

    def with_missing(self, of_cells: npt.NDArray[Scalar], fill: int | bool) -> npt.NDArray[Scalar]:
        """Return an array of the published cells with a value for each cell that is not published."""
        return np.concatenate([of_cells, np.full(len(self.missing), fill, dtype=of_cells.dtype)])

    def add_up(self, units: Integers, is_published: Bools) -> tuple[Integers, Bools, Integers]:
        """Return the values of all cells, where they are known, and the number of published cells in each.

        A cell that is not published is known where all its parts are.
        """
        values, is_known = (
            self.with_missing(np.where(is_published, units, 0), 0),
            self.with_missing(is_published, False),
        )
        counts = np.ones(len(values), dtype=np.int64)
        equations = self.equations
        unpublished = equations.totals >= self.cells
        while True:
            are_parts_known = np.zeros(len(equations), dtype=np.bool_)
            if len(equations):
                are_parts_known = np.logical_and.reduceat(is_known[equations.parts], equations.starts[:-1])
            ready = np.flatnonzero(are_parts_known & ~is_known[equations.totals] & unpublished)
            if not len(ready):
                return values, is_known, counts
            cells, first = np.unique(equations.totals[ready], return_index=True)
            values[cells] = equations.sums(values)[ready[first]]
            counts[cells] = equations.sums(counts)[ready[first]]
            is_known[cells] = True


@cache_per_table
def complete_table(cells: TableCells) -> CompletedTable | None:
    """Return the table with its equations; None of several releases, repeated cells, or too many missing totals."""
    dimensions = [
        Dimension(dimension.size, (dimension.parents.astype(np.int64),) if dimension.is_total.any() else ())
        for dimension in cells.dimensions
    ]
    if cells.release is not None or len(find_repeated_keys(cells.keys.astype(np.int64), dimensions)):
        return None
    facets = find_facets(cells)
    is_cyclic = bool(cells.hidden.any()) and has_cycle(facets)
    inner = find_inner_keys(cells, facets) if is_cyclic else cells.keys[:0]
    missing = _find_totals_between(cells, cells.keys[:0] if inner is None else inner, above_all=len(facets) > 1)
    if missing is None:
        return None
    keys = np.concatenate([cells.keys, missing]).astype(np.int64)
    return CompletedTable(len(cells), missing, build_equations(keys, dimensions), loose=inner is None)


def find_missing_totals(cells: TableCells) -> Codes:
    """Return the keys of totals of published cells that the table does not have."""
    return _find_new_totals(cells, cells.keys, [cells.keys])


def _find_totals_between(cells: TableCells, inner: Codes, *, above_all: bool) -> Codes | None:
    """Return the keys of missing cells: `inner` and missing totals whose own totals are published.

    Each round finds the totals one level above those of the round before. None if there are too many missing cells.

    Args:
        inner: keys of cells below all published ones.
        above_all: True to return missing totals above all published cells as well, where several tables meet in them.
    """
    limit = _MOST_TIMES * len(cells) + _MOST_FURTHER
    inner = inner[~np.isin(cells.pack_keys(inner), cells.packed_keys)]
    found_keys: list[Codes] = [cells.keys, inner]
    newest = np.concatenate(found_keys)
    while len(newest):
        totals = _find_new_totals(cells, newest, found_keys)
        newest = totals if above_all else totals[_are_below_published(cells, totals)]
        found_keys.append(newest)
        if sum(map(len, found_keys)) > limit + len(cells):
            return None
    return np.concatenate(found_keys[1:])  # without the published cells


def _find_new_totals(cells: TableCells, keys: Codes, known_keys: Sequence[Codes]) -> Codes:
    """Return the keys of the totals directly above the cells with these keys, each once, without `known_keys`."""
    above = [keys[:0]]
    for axis, dimension in enumerate(cells.dimensions):
        parents = dimension.parents[keys[:, axis]]
        moved = keys[parents != NO_PARENT].copy()
        moved[:, axis] = parents[parents != NO_PARENT]
        above.append(moved)
    totals = np.concatenate(above)
    numbers, first = np.unique(cells.pack_keys(totals), return_index=True)
    known_numbers = np.concatenate([cells.pack_keys(keys) for keys in known_keys])
    return totals[first[~np.isin(numbers, known_numbers)]]


def _are_below_published(cells: TableCells, keys: Codes) -> Bools:
    """Return True for keys that are part of a published cell, directly or not; for all if that takes too long."""
    heights = [int(_code_depths(dimension).max(initial=0)) for dimension in cells.dimensions]
    ways = [steps for steps in product(*(range(height + 1) for height in heights)) if any(steps)]
    is_below = np.zeros(len(keys), dtype=np.bool_)
    if not len(keys) or len(ways) > _MOST_WAYS_UP:
        return ~is_below
    published = np.unique(cells.packed_keys)
    for steps in ways:
        up, has_parents = keys.copy(), ~is_below
        for axis, step in enumerate(steps):
            for _ in range(step):
                parents = cells.dimensions[axis].parents[up[:, axis]]
                has_parents &= parents != NO_PARENT
                up[:, axis] = np.where(parents != NO_PARENT, parents, up[:, axis])
        is_below[has_parents] |= np.isin(cells.pack_keys(up[has_parents]), published)
    return is_below


def count_contributors(cells: TableCells) -> int | None:
    """Return the contributors in the grand total, else the sum over cells that are no totals of others."""
    contributors = cells.contributors
    if contributors is None:
        return None
    is_grand_total = find_grand_totals(cells)
    is_counted = is_grand_total if bool(is_grand_total.any()) else ~cells.totals
    return int(sum(contributors.units[is_counted & contributors.known].tolist()))


def find_grand_totals(cells: TableCells) -> Bools:
    """Return True for the cell that is the total of all dimensions, where there is one."""
    columns = zip(cells.dimensions, cells.keys.T, strict=True)
    is_grand_total: Bools = np.logical_and.reduce([dimension.is_grand[codes] for dimension, codes in columns])
    return is_grand_total


_FEWEST = 5
"""Smallest number of wrong totals that counts as noise; half of all compared totals must be wrong, too."""


@dataclass(frozen=True, eq=False)
class SumErrors:
    """Totals of one measure that differ from their parts by more than the rounding of each.

    Args:
        equations: the equations of these totals.
        compared: number of equations whose numbers are all known.
        small: True if nearly all differ by as little as noise in each cell causes.
    """

    equations: Integers
    compared: int
    small: bool

    @property
    def is_noisy(self) -> bool:
        """True if so many totals are wrong that noise was added."""
        missed = len(self.equations)
        return self.small and missed >= _FEWEST and 2 * missed >= self.compared


def _find_measure_errors(name: str, measure: CellMeasure, table: CompletedTable) -> SumErrors | None:
    """Return the totals of a measure that are not the sum of their parts; None of numbers that are too large to add up.

    Args:
        name: the measure, `count` or `value`.
    """
    units = as_integers(measure)
    if units is None:
        return None
    equations = table.equations
    values, is_known, counts = table.add_up(units, measure.known)
    wrong = find_wrong_sums(equations, values, is_known)
    parts = equations.sums(counts)[wrong] + counts[equations.totals[wrong]]
    differences = equations.residuals(values)[wrong]
    off = np.abs(differences)
    base = find_rounding_base(units[measure.known])
    rounding = 2 * (base.base - 1) if base is not None else int(name == "value")
    beyond = 2 * off > parts * rounding
    wrong, parts, off, differences = wrong[beyond], parts[beyond], off[beyond], differences[beyond]
    near = off <= np.abs(values[equations.totals[wrong]]) // 10 + 3 * parts * 10**measure.places
    compared = int((~equations.touching(~is_known)).sum())
    small = 10 * int(near.sum()) >= 9 * len(wrong) and bool((differences > 0).any()) and bool((differences < 0).any())
    return SumErrors(wrong, compared, small)


@cache_per_table
def find_sum_errors(cells: TableCells) -> dict[str, SumErrors]:
    """Return for each measure the totals that are not the sums of their parts."""
    table = complete_table(cells)
    errors = (
        {}
        if table is None
        else {name: _find_measure_errors(name, measure, table) for name, measure in published_measures(cells)}
    )
    return {name: error for name, error in errors.items() if error is not None}


def is_noisy(cells: TableCells) -> bool:
    """Return True if so many totals differ from their parts, by so little, that noise was added."""
    return any(errors.is_noisy for errors in find_sum_errors(cells).values())


def find_broken_totals(cells: TableCells, *, noisy: bool) -> Bools:
    """Return the totals that are not the sum of their parts, beyond rounding.

    Args:
        noisy: True for the totals of measures with noise, False for those of other measures.
    """
    if (table := complete_table(cells)) is None:
        return np.zeros(len(cells), dtype=np.bool_)
    equations = table.equations
    is_broken = np.zeros(equations.cells, dtype=np.bool_)
    for errors in find_sum_errors(cells).values():
        for equation in errors.equations.tolist() if errors.is_noisy is noisy else ():
            total = equations.totals[equation]  # the parts of an unpublished total are wrong instead
            is_broken[total if total < table.cells else equations.parts_of(equation)] = True
    return is_broken[: table.cells]


def add_left_out_cells(cells: TableCells) -> TableCells:
    """Return the cells and, as hidden ones, those without a row that totals count: `HAVING` leaves such rows out.

    Where a total is more than its parts, these are all parts without a row, except for those that another total, which
    is the sum of its parts, shows to be 0.
    """
    name = "value" if cells.count is None else "count"
    measure = cells.value if cells.count is None else cells.count
    table, errors = complete_table(cells), find_sum_errors(cells).get(name)
    if table is None or measure is None or errors is None or errors.is_noisy or bool((measure.units < 0).any()):
        return cells
    values, is_known, _ = table.add_up(as_integers(measure), measure.known)  # type: ignore[arg-type]  # otherwise there are no errors
    keys, equations = np.concatenate([cells.keys, table.missing]), table.equations
    totals = keys[equations.totals]
    axes = np.argmax(totals != keys[equations.parts[equations.starts[:-1]]], axis=1)
    exceeding = errors.equations[equations.residuals(values)[errors.equations] > 0]
    is_shut = ~equations.touching(~is_known)
    is_shut[errors.equations] = False
    width = range(len(cells.dimensions))
    zero = cells.pack_keys(keys[is_known & (values == 0)])
    full = [np.append(zero, cells.pack_keys(totals[is_shut & (axes == axis)])) for axis in width]
    present, seen = cells.pack_keys(keys), [cells.pack_keys(keys[:0])] * len(width)
    front = [totals[exceeding[axes[exceeding] == axis]] for axis in width]
    left_out = keys[:0]
    while any(map(len, front)):
        seen = [np.append(numbers, cells.pack_keys(other)) for numbers, other in zip(seen, front, strict=True)]
        new = _find_new_parts(cells, front, np.append(present, cells.pack_keys(left_out)))
        above = [_move_to_parents(cells, new, axis) for axis in width]
        empty = np.logical_or.reduce([np.isin(cells.pack_keys(above[at]), full[at]) for at in width])
        left_out = np.concatenate([left_out, new[~empty]])
        if len(left_out) > _MOST_TIMES * len(cells) + _MOST_FURTHER:
            return cells
        known_totals = cells.pack_keys(keys[is_known])
        front = [
            keys[np.isin(cells.pack_keys(keys), known_totals) & ~np.isin(cells.pack_keys(keys), seen[at])]
            for at, keys in enumerate(np.unique(keys[~empty], axis=0) for keys in above)
        ]
    return cells.with_hidden_cells(left_out) if len(left_out) else cells


def _find_new_parts(cells: TableCells, totals: Sequence[Codes], known_numbers: Wholes) -> Codes:
    """Return the keys of the parts of totals, each once, without the known ones.

    Args:
        totals: for each dimension the keys of those whose parts differ in this one.
        known_numbers: packed keys that are known.
    """
    parts_by_total = [cells.keys[:0]]
    for axis, (dimension, keys) in enumerate(zip(cells.dimensions, totals, strict=True)):
        codes = np.union1d(cells.keys[:, axis], np.arange(1, dimension.size))  # codes of other releases, too
        for total in np.unique(keys[:, axis]):
            parts = codes[dimension.parents[codes] == total]
            part_keys = np.repeat(keys[keys[:, axis] == total], len(parts), axis=0)
            part_keys[:, axis] = np.resize(parts, len(part_keys))
            parts_by_total.append(part_keys)
    all_parts = np.unique(np.concatenate(parts_by_total), axis=0)
    return all_parts[~np.isin(cells.pack_keys(all_parts), known_numbers)]


def _move_to_parents(cells: TableCells, keys: Codes, axis: int) -> Codes:
    """Return the keys of the totals of some cells in one dimension. A cell without a total there keeps its key."""
    moved, parents = keys.copy(), cells.dimensions[axis].parents[keys[:, axis]]
    moved[:, axis] = np.where(parents == NO_PARENT, keys[:, axis], parents)
    return moved
