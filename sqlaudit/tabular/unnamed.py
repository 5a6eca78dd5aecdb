"""Values that may stand for all others of a dimension though nobody said so, by the numbers that are published.

Too little to take them for totals, and too much to call hidden cells safe: whatever is at least as large as all that is
published beside it may have the hidden cells as the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sqlaudit.tabular.cells import NO_PARENT, Bools, CellMeasure, TableCells, Wholes
from sqlaudit.tabular.secondary.rounding import rounding_base

_MOST_GROUPS, _MOST_STEPS = 100, 5_000
"""So many groups of cells, and ways to put a value under others in them, are tried for each value."""
_MOST_ALONE = 100
"""Of so many values without others beside them it is asked whether they are the total of the table."""
_NOISE = 50
"""A total may miss its parts by fiftieth of itself, as where noise was added to each."""
_ADDABLE = 2**40
"""Numbers below this, a million of them, add up within 64 bits."""


def likely_totals(cells: TableCells, place: int, known_total: int | None = None) -> list[int]:
    """Values that may be the sum of all others in some group of cells, and in none are something else.

    Others may be sums themselves, of further ones: a country beside its regions and their towns. Then each of these
    has to find a place below it, and what is left of a sum is that of hidden cells.

    Args:
        cells: the table. place: of the dimension. known_total: the code that stands for all in any case; groups that
            publish it say nothing of others, as they have to add up to it.
    """
    codes, parents = cells.keys[:, place], cells.dimensions[place].parents
    group, groups = cells.groups(place)
    looked = (parents[codes] == NO_PARENT) & (codes != known_total)
    says, denies = np.zeros(len(parents), dtype=np.bool_), np.zeros(len(parents), dtype=np.bool_)
    nested: list[_Nested] = []
    for one in cells.published:
        lacks = np.bincount(group[(codes == known_total) & ~one.known], minlength=groups) > 0
        which = looked if known_total is None else looked & lacks[group]
        found = _Nested(codes[which], group[which], groups, CellMeasure(one.units[which], one.known[which]))
        says |= found.said(len(parents), found.possible)
        denies |= found.said(len(parents), found.impossible)
        nested.append(found)
    return [int(code) for code in np.flatnonzero(says & ~denies) if all(one.is_top(int(code)) for one in nested)]


def lone_totals(cells: TableCells, place: int, totals: Mapping[int, int]) -> list[int]:
    """Values that have no cell beside others, and are at least as much as all others: the total of a whole table.

    Args:
        cells: the table. place: of the dimension. totals: by dimension, the code that is known to stand for all.
    """
    codes = cells.keys[:, place]
    group, groups = cells.groups(place)
    beside = np.bincount(group, minlength=groups)[group] > 1
    alone = np.setdiff1d(codes, codes[beside])
    below = np.ones(len(cells), dtype=np.bool_)
    for other, code in totals.items():
        below &= (cells.keys[:, other] != code) | (other == place)
    found = set()
    for one in cells.published:
        for code in alone[:_MOST_ALONE].tolist():
            own, others = (codes == code) & one.known, (codes != code) & below
            whole = (
                sum(one.units[own & below].tolist()) if bool((own & below).any()) else max(one.units[own], default=-1)
            )
            if bool((others & ~one.known).any()) and whole >= sum(one.units[others & one.known].tolist()):
                found.add(code)
    return sorted(found)


@dataclass
class _Nested:
    """Cells in groups that differ in one dimension alone, of which one may be the sum of all others.

    Args:
        codes: in that dimension. group: the number of each cell's. groups: how many.
    """

    codes: Wholes
    group: Wholes
    groups: int
    one: CellMeasure
    steps: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        units, known, group = self.one.units, self.one.known, self.group
        self.hidden = np.bincount(group[~known], minlength=self.groups)
        self.beside = np.bincount(group, minlength=self.groups)[group] - 1
        sums = np.zeros(self.groups, dtype=units.dtype if int(np.abs(units).max(initial=0)) < _ADDABLE else object)
        np.add.at(sums, group, units)  # what is not known is 0
        base = None if units.dtype == object else rounding_base(units[known].astype(np.int64))
        each = 2 * (base.base - 1) if base is not None else 0
        noise = np.where(self.beside > 1, np.abs(units) // _NOISE, 0)
        self.slack = np.maximum(np.where(self.beside > 0, (self.beside + 1) * each, 0), noise)
        others, whole = sums[group] - units, self.hidden[group] == 0
        if bool((units < 0).any()):  # then hidden cells may be below zero, too
            self.flat = np.where(whole, np.abs(units - others) <= self.slack, True).astype(np.bool_)
            self.deep = np.zeros_like(known)
        else:
            largest = np.zeros(self.groups, dtype=units.dtype)
            np.maximum.at(largest, group, units)
            enough = units + self.slack >= others
            self.flat = np.where(whole, enough & (units - self.slack <= others), enough).astype(np.bool_)
            top = units + self.slack >= largest[group]
            self.deep = (top & (2 * (units + self.slack) >= others) & ~self.flat).astype(np.bool_)
        seen = known & (self.beside > 0)
        self.possible = seen & (self.flat | self.deep) & ((units != 0).astype(np.bool_) | ~whole)
        self.impossible = seen & ~(self.flat | self.deep)

    def said(self, size: int, which: Bools) -> Bools:
        """The codes of some cells."""
        found = np.zeros(size, dtype=np.bool_)
        found[self.codes[which]] = True
        return found

    def is_top(self, code: int) -> bool:
        """Whether all others find a place below a value, in every group where they are more than the value together."""
        deep = np.flatnonzero((self.codes == code) & self.deep & self.one.known)
        for cell in deep[np.argsort(self.beside[deep], kind="stable")][:_MOST_GROUPS].tolist():
            beside = (self.group == self.group[cell]) & self.one.known
            beside[cell] = False
            values = sorted(self.one.units[beside].tolist(), reverse=True)
            self.steps = 0
            top, slack = int(self.one.units[cell]), int(self.slack[cell])
            if not self._fits(values, [top], [0], int(self.hidden[self.group[cell]]), slack):
                return False
        return True

    def _fits(self, values: Sequence[int], left: list[int], parts: list[int], hidden: int, slack: int) -> bool:
        """Put the next value under the first one, or under one of those that are there already.

        Args:
            values: that have no place yet, in falling order. left: of the sum, then of each of its parts. parts: how
                many each has. hidden: sums that hidden cells may be the rest of.
        """
        self.steps += 1
        if self.steps > _MOST_STEPS:
            return True  # nobody knows
        if not values:
            return sum(rest > slack for rest, some in zip(left, parts, strict=True) if some) <= hidden
        tried = set()
        for place, rest in enumerate(left):
            if rest + slack < values[0] or (rest, parts[place] > 0, place == 0) in tried:
                continue
            tried.add((rest, parts[place] > 0, place == 0))
            own = [values[0]] if place == 0 else []
            further = [rest - values[0] if at == place else one for at, one in enumerate(left)] + own
            more = [some + (at == place) for at, some in enumerate(parts)] + [0] * len(own)
            if self._fits(values[1:], further, more, hidden, slack):
                return True
        return False
