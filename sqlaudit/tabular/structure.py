"""Which value of a dimension stands for all others: the one that somebody names, a usual word, or what adds up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sqlaudit.tabular.cells import NO_PARENT, Bools, Breakdown, CellMeasure, TableCells, Wholes


def with_total(dimension: Breakdown, total: int) -> Breakdown:
    """The dimension, all of whose values without a parent are now part of one."""
    parents = np.where(dimension.parents == NO_PARENT, total, dimension.parents).astype(np.int32)
    parents[total] = NO_PARENT
    return replace(dimension, parents=parents)


def adds_up(cells: TableCells, dimension: int, code: int) -> bool:
    """Whether the cells of one value are the sum of all others in a dimension, as far as these are published.

    Nothing may contradict, and something must say so: a group of which everything is known and adds up.
    """
    group, groups = cells.groups(dimension)
    total = cells.keys[:, dimension] == code
    said = False
    for one in cells.published:
        agrees = _agrees(one, group, groups, total)
        if agrees is False:
            return False
        said |= bool(agrees)
    return said


def _agrees(one: CellMeasure, group: Wholes, groups: int, total: Bools) -> bool | None:
    """Whether totals of a measure are the sums of their groups; None when nothing tells."""
    units = one.units
    sums = np.zeros(groups, dtype=units.dtype)
    np.add.at(sums, group[~total], units[~total])
    whole = np.bincount(group[~total & ~one.known], minlength=groups) == 0
    parts = np.bincount(group[~total], minlength=groups)
    at = np.flatnonzero(total & one.known)
    at = at[parts[group[at]] > 0]
    complete = whole[group[at]]
    found, expected = units[at], sums[group[at]]
    if bool(np.any(complete & (found != expected))) or bool(np.any(~complete & (found < expected))):
        return False
    return True if bool(np.any(complete & (parts[group[at]] > 1))) else None
