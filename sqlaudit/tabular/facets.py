"""Which margins of one and the same table several published tables are, and what that tells beyond their sums.

Counts by region and sector, by sector and age, and by region and age are margins of one table of three dimensions.
Numbers that agree wherever two of them meet may still belong to no such table. Where margins hang together in a chain
or a tree, each choice of numbers that agree belongs to a table (Vorob'ev 1962; in whole numbers Dobra and Fienberg
2000). Where they hang together in a circle, the cells of that table are needed: unpublished, and not below zero.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from sqlaudit.tabular.cells import NO_PARENT, Bools, Breakdown, Codes, TableCells

Facet = frozenset[tuple[int, int]]
"""How far a table is broken down: dimensions with levels, 1 the first below the total."""
MOST_INNER = 20_000
"""So many cells of the table behind circular margins are added; beyond, no hidden cell is called safe."""


def facets_of(cells: TableCells) -> tuple[Facet, ...]:
    """The finest tables of which some cells are published."""
    found = [frozenset(_levels(depth)) for depth in _different(_depths(cells)).tolist()]
    return tuple(one for one in found if not any(one < other for other in found))


def _different(depths: Codes) -> Codes:
    """Each different row once, in order; as one number a row while that is wide enough, since sorting rows is slow."""
    sizes = depths.max(axis=0, initial=0).astype(np.int64) + 1
    if not depths.size or np.prod(sizes.astype(np.float64)) >= 2.0**62:
        return np.unique(depths, axis=0)
    numbers = np.zeros(len(depths), dtype=np.int64)
    for place, size in enumerate(sizes.tolist()):
        numbers = numbers * size + depths[:, place]
    return np.stack(np.unravel_index(np.unique(numbers), sizes.tolist()), axis=1).astype(depths.dtype)


def _levels(depths: Sequence[int]) -> list[tuple[int, int]]:
    return [(place, level) for place, depth in enumerate(depths) for level in range(1, depth + 1)]


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
    leaves = [_leaves(cells, place) for place in range(len(cells.dimensions))]
    found = np.zeros((1, 0), dtype=np.int32)
    for place, some in enumerate(leaves):
        if len(found) * len(some) > 50 * MOST_INNER:
            return None
        found = np.concatenate([np.repeat(found, len(some), axis=0), np.tile(some, len(found))[:, None]], axis=1)
        found = found[_within(cells, found, facets, place)]
    return found if len(found) <= MOST_INNER else None


def _leaves(cells: TableCells, place: int) -> Codes:
    """The codes of a dimension that are no sums of others that are there."""
    used = np.unique(cells.keys[:, place])
    sums = cells.dimensions[place].parents[used]
    return used[~np.isin(used, sums)]


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
