"""Values of a dimension that only one of two releases has: some may be the same by another name.

Beside each other such cells look as if everybody of the one had left, and everybody of the other had come. Somebody who
knows both names subtracts them, and finds the one person who did.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlaudit.base.whole_arrays import minus
from sqlaudit.tabular.cells import NO_PARENT, Breakdown, CellMeasure, TableCells
from sqlaudit.tabular.exact import alike
from sqlaudit.tabular.secondary.structure import Integers

MOST_PAIRS = 1_000_000
"""So many pairs of cells are looked at; with more, nothing passes."""


@dataclass(frozen=True, eq=False)
class RenamedCells:
    """The changes of cells if values were the same by another name: each cell of a gone value with each of a new one.

    Args:
        cells: the absolute differences of their numbers. older, newer: the number of each in its release.
    """

    cells: TableCells
    older: Integers
    newer: Integers

    def concerned(self, which: Integers) -> int:
        """How many cells of both releases some of the pairs are about."""
        return len(np.unique(self.older[which])) + len(np.unique(self.newer[which]))


def renamed(older: TableCells, newer: TableCells, places: Sequence[int]) -> RenamedCells | None:
    """What changed if values of some dimensions had another name in the newer release; None of too many pairs.

    Args:
        older, newer: with the same codes. places: of the dimensions whose values are names.
    """
    pairs = []
    left = MOST_PAIRS
    for place in places:
        found = _pairs(older, newer, place, left)
        if found is None:
            return None
        pairs.append(found)
        left -= len(found[0])
    nothing = np.zeros(0, dtype=np.int64)
    old, new = (np.concatenate([nothing, *(pair[side] for pair in pairs)]) for side in (0, 1))
    count, contributors, value = (
        _apart(getattr(older, name), getattr(newer, name), old, new) for name in ("count", "contributors", "value")
    )
    who = who_changed(contributors, value)
    cells = TableCells(unconnected(newer.dimensions), newer.keys[new], count, who, value)
    given = [one for one in (count, contributors, value) if one is not None]
    changed = np.logical_or.reduce([(one.units != 0) & one.known for one in given]).astype(np.bool_)
    return RenamedCells(cells.some(changed), old[changed], new[changed])


def _pairs(older: TableCells, newer: TableCells, place: int, most: int) -> tuple[Integers, Integers] | None:
    """The cells of values that only the older one has, with those of the newer one that may be the same."""
    before, after = (np.unique(one.keys[:, place]) for one in (older, newer))
    gone, come = np.setdiff1d(before, after), np.setdiff1d(after, before)
    old, new = (np.flatnonzero(np.isin(one.keys[:, place], codes)) for one, codes in ((older, gone), (newer, come)))
    others = [at for at in range(len(older.dimensions)) if at != place]
    group, other = older.packed(older.keys[old], others), older.packed(newer.keys[new], others)
    order = np.argsort(other, kind="stable")
    first, last = (np.searchsorted(other[order], group, side=side) for side in ("left", "right"))
    times = last - first
    if int(times.sum()) > most:
        return None
    steps = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
    return np.repeat(old, times), new[order[np.repeat(first, times) + steps]]


def _apart(older: CellMeasure | None, newer: CellMeasure | None, old: Integers, new: Integers) -> CellMeasure | None:
    if older is None or newer is None:
        return None
    before, after = alike((older, newer))
    units = np.abs(minus(after.units[new], before.units[old]))
    return CellMeasure(units, (before.known[old] & after.known[new]).astype(np.bool_), before.places)


def who_changed(contributors: CellMeasure | None, value: CellMeasure | None) -> CellMeasure | None:
    """How many came or left; nobody knows it where as many came as left, and the value is another one."""
    if contributors is None or value is None:
        return contributors
    known = contributors.known & ((contributors.units != 0) | (value.units == 0))
    return replace(contributors, known=known.astype(np.bool_))


def unconnected(dimensions: Sequence[Breakdown]) -> tuple[Breakdown, ...]:
    """The dimensions without totals: differences of absolute values do not add up."""
    return tuple(Breakdown(one.name, np.full(one.size, NO_PARENT, dtype=np.int32)) for one in dimensions)


def with_codes_of_both(
    tables: Sequence[TableCells], labels: Sequence[Mapping[tuple[int, int], str]], shift: int
) -> Iterator[TableCells]:
    """Releases whose codes were made apart, with the same codes for the same texts.

    Args:
        labels: of the codes of each, less the shift, by (dimension, code).
    """
    width = range(len(tables[0].dimensions))
    codes: list[dict[str | int, int]] = [{} for _ in width]
    keys = []
    for cells, named in zip(tables, labels, strict=True):
        own = cells.keys.copy()
        for place in width:
            for code in np.unique(cells.keys[:, place]).tolist():
                text = named.get(
                    (place, code - shift), code
                )  # a missing value, or all values: the code is its own name
                number = codes[place].setdefault(text, len(codes[place]))
                own[cells.keys[:, place] == code, place] = number
        keys.append(own)
    dimensions = tuple(
        Breakdown(one.name, np.full(len(some), NO_PARENT, dtype=np.int32))
        for one, some in zip(tables[0].dimensions, codes, strict=True)
    )
    for cells, own in zip(tables, keys, strict=True):
        yield TableCells(dimensions, own, cells.count, cells.contributors, cells.value)
