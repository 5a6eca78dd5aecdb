"""Values of a dimension that are the sum of some others, found from the numbers where chance would not have it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from sqlaudit.tabular.cells import TableCells
from sqlaudit.tabular.secondary.structure import Integers

_FEWEST_VALUES, _MOST_VALUES, _MOST_PARTS, _MOST_GROUPS = 3, 200, 40, 12
_MOST_STEPS, _MOST_NUMBERS = 50_000, 5_000_000
_SURE = 16.0
"""Bits by which what adds up is more than what chance would make add up."""


def subtotals_of(cells: TableCells, dimension: int, left_out: Sequence[int]) -> dict[int, int]:
    """The value that each value is part of, for values that are a sum of others in every group of cells.

    A group is of cells that differ in this dimension alone. A sum counts where it is the only one that fits, and where
    so many groups agree in such large numbers that no chance would have it.

    Args:
        cells: the table. dimension: in which. left_out: codes that are neither parts nor sums: totals of everything.
    """
    every = _groups(cells, dimension, left_out)
    if every is None or bool((every < 0).any()):
        return {}
    search = _SumSearch(every[np.argsort(-np.count_nonzero(every, axis=1), kind="stable")[:_MOST_GROUPS]])
    found: dict[int, int] = {}
    others = [code for code in range(every.shape[1]) if bool(every[:, code].any())]
    for code in sorted(others, key=lambda one: (int(every[:, one].sum()), one)):
        left = [one for one in others if one != code and one not in found]
        parts = search.only(code, [one for one in left if bool((every[:, one] <= every[:, code]).all())])
        if parts and np.array_equal(every[:, list(parts)].sum(axis=1), every[:, code]):
            found |= dict.fromkeys(parts, code)
    return found


def _groups(cells: TableCells, dimension: int, left_out: Sequence[int]) -> Integers | None:
    """Groups × values: the numbers of groups of which everything is published, each different one once."""
    if not cells.published or len(np.unique(cells.numbers)) < len(cells):
        return None
    one, size = cells.published[0], cells.dimensions[dimension].size
    if one.units.dtype == object or not _FEWEST_VALUES <= size <= _MOST_VALUES:
        return None
    group, number = cells.groups(dimension)
    code = cells.keys[:, dimension]
    whole = np.ones(number, dtype=np.bool_)
    whole[group[~one.known & ~np.isin(code, list(left_out))]] = False
    row = np.cumsum(whole) - 1
    there = whole[group]
    if not int(whole.sum()) or int(whole.sum()) * size > _MOST_NUMBERS:
        return None
    table = np.zeros((int(whole.sum()), size), dtype=np.int64)
    table[row[group[there]], code[there]] = one.units[there]
    table[:, list(left_out)] = 0
    return np.asarray(np.unique(table, axis=0), dtype=np.int64)


@dataclass
class _SumSearch:
    """Sums of columns that are another column, in all rows.

    Args:
        rows: groups × values.
    """

    rows: Integers
    steps: int = 0
    _found: list[tuple[int, ...]] = field(default_factory=list)

    def only(self, code: int, parts: Sequence[int]) -> tuple[int, ...]:
        """The parts of a value; none where there are several ways, none, or too little that says so."""
        target = self.rows[:, code]
        sure = float(np.log2(target + 1.0).sum()) - len(parts)
        if not 2 <= len(parts) <= _MOST_PARTS or sure < _SURE:
            return ()
        order = sorted(parts, key=lambda one: -int(self.rows[:, one].sum()))
        columns = [self.rows[:, one].tolist() for one in order]
        left = np.cumsum(self.rows[:, order[::-1]], axis=1)[:, ::-1].T.tolist()
        self._found = []
        self._step(columns, [*left, [0] * len(target)], target.tolist(), 0, ())
        found = self._found
        return tuple(order[place] for place in found[0]) if len(found) == 1 and len(found[0]) > 1 else ()

    def _step(
        self, columns: list[list[int]], left: list[list[int]], target: list[int], at: int, taken: tuple[int, ...]
    ) -> None:
        """Take the next value, or leave it, as long as what is left can still be reached."""
        self.steps += 1
        if not any(target):
            self._found.append(taken)
            return
        if at == len(columns) or len(self._found) > 1 or self.steps > _MOST_STEPS:
            self._found += [()] * (self.steps > _MOST_STEPS) * 2
            return
        if any(rest < wanted for rest, wanted in zip(left[at], target, strict=True)):
            return
        smaller = [wanted - own for wanted, own in zip(target, columns[at], strict=True)]
        if min(smaller) >= 0:
            self._step(columns, left, smaller, at + 1, (*taken, at))
        self._step(columns, left, target, at + 1, taken)


def levels_of(rows: Mapping[str | None, Sequence[str | None]], top: str, codes: Mapping[str, int]) -> dict[int, int]:
    """The value that each value is part of, by a hierarchy: the next of its labels that the dimension has.

    Args:
        rows: each value with its labels, finest first. top: the label of the highest level. codes: of the values that
            the dimension has.

    Example:
        >>> rows = {"10115": ("Berlin", "East"), "04103": ("Leipzig", "East")}
        >>> levels_of(rows, "*", {"10115": 1, "04103": 2, "East": 3, "*": 4})
        {1: 3, 3: 4, 2: 3}
    """
    found: dict[int, int] = {}
    for value, labels in rows.items():
        chain = [codes[name] for name in (value, *labels, top) if name is not None and name in codes]
        for part, whole in pairwise(chain):
            if part not in found and not _is_part(whole, part, found):
                found[part] = whole
    return found


def _is_part(code: int, of: int, found: Mapping[int, int]) -> bool:
    """Whether a value is another one, or part of it."""
    while code != of and code in found:
        code = found[code]
    return code == of
