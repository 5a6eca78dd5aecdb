"""Rows that found no group: groups that have more than they need lend some, and the rest joins where it costs least.

Which columns to keep, cheapest suppression first: every choice where columns are few, else the first and a chain.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import islice, takewhile

import numpy as np

from sqlaudit.remedies.suppress.problem import Booleans, Integers, Problem, groups_of

Kept = tuple[int, ...]
MOST = 2048
"""So many choices are gone through; then one column after the other is given up, the one with most values first."""


def choices(problem: Problem, most: int = MOST) -> Iterator[tuple[int, Kept]]:
    """(cost of a row, kept columns), cost ascending; the last one keeps nothing.

    Example:
        >>> import numpy as np
        >>> two = Problem(np.array([[1, 1], [2, 1]]), np.array([1, 1]), np.array([0, 0]), 2, 1, (1, 3))
        >>> list(choices(two))
        [(0, (0, 1)), (1, (1,)), (3, (0,)), (4, ())]
    """
    every = tuple(range(problem.width))
    if problem.whole:
        yield 0, every
        yield sum(problem.weights), ()
        return
    reached = (0, every)
    total = 1 << problem.width
    for reached in islice(_ascending(problem.weights), min(most, total)):
        yield reached
    if total > most:
        yield from _chain(problem, reached[0])


def levels(problem: Problem, most: int = MOST) -> Iterator[tuple[int, list[Kept]]]:
    """The same, those of one cost together."""
    rest = choices(problem, most)
    following = next(rest, None)
    while following is not None:
        cost, together = following[0], [following[1]]
        following = None
        for one in rest:
            if one[0] != cost:
                following = one
                break
            together.append(one[1])
        yield cost, together


def _ascending(weights: tuple[int, ...]) -> Iterator[tuple[int, Kept]]:
    """Every subset of starred columns, by the sum of their weights (Lawler: a heap of subsets, each extended once)."""
    order = sorted(range(len(weights)), key=lambda column: weights[column])
    yield 0, tuple(range(len(weights)))
    heap: list[tuple[int, tuple[int, ...]]] = [(weights[order[0]], (0,))] if order else []
    while heap:
        cost, places = heapq.heappop(heap)
        starred = {order[place] for place in places}
        yield cost, tuple(column for column in range(len(weights)) if column not in starred)
        last = places[-1]
        if last + 1 < len(order):
            heapq.heappush(heap, (cost + weights[order[last + 1]], (*places, last + 1)))
            replaced = cost - weights[order[last]] + weights[order[last + 1]]
            heapq.heappush(heap, (replaced, (*places[:-1], last + 1)))


def _chain(problem: Problem, cost: int) -> Iterator[tuple[int, Kept]]:
    """From all columns to none, dropping the one with most values first; only what costs more than what has been."""
    values = problem.codes.max(axis=0, initial=0).tolist()
    falling = sorted(range(problem.width), key=lambda column: -values[column])
    steps = []
    for dropped in range(1, problem.width + 1):
        starred = falling[:dropped]
        steps.append(
            (sum(problem.weights[c] for c in starred), tuple(sorted(set(range(problem.width)) - set(starred))))
        )
    cheap = len(list(takewhile(lambda step: step[0] <= cost and step[1], steps)))
    yield from steps[cheap:]


_ONE_BY_ONE = 30
"""Up to so many units each joins the group that suits it best; more join one group together."""
_CHOICES = 512


class Ledger:
    """Who is in which group, and who is in none.

    Args:
        problem: what is asked. units, copies, groups: the groups so far, all of them good.
        left: for each unit the copies in no group.
    """

    def __init__(self, problem: Problem, units: Integers, copies: Integers, groups: Integers, left: Integers) -> None:
        self._problem = problem
        self._sensitive: list[int] = problem.sensitive.tolist()
        self._left = left.copy()
        self._members: dict[int, Counter[int]] = defaultdict(Counter)
        self._homes: dict[int, set[int]] = defaultdict(set)
        self._sizes: Counter[int] = Counter()
        self._values: dict[int, Counter[int]] = defaultdict(Counter)
        for unit, count, group in zip(units.tolist(), copies.tolist(), groups.tolist(), strict=True):
            self._put(unit, group, count)
        self._next = int(groups.max(initial=-1)) + 1

    def partition(self) -> tuple[Integers, Integers, Integers]:
        """(units, copies, groups)."""
        listed = [(unit, n, group) for group, members in self._members.items() for unit, n in members.items() if n]
        units, copies, groups = (np.array(part, dtype=np.int64) for part in zip(*listed, strict=True))
        return units, copies, groups

    def borrow(self) -> None:
        """Make groups of what is left and of rows that others can spare, cheapest suppression first."""
        for _, kept in choices(self._problem, _CHOICES):
            if not self._left.any():
                return
            self._borrow_at(kept)

    def join(self) -> None:
        """Put what is left into the groups where that costs least."""
        units = np.flatnonzero(self._left)
        if not len(units):
            return
        for part in [[unit] for unit in units.tolist()] if len(units) <= _ONE_BY_ONE else [units.tolist()]:
            group = self._cheapest(np.array(part))
            for unit in part:
                self._put(unit, group, int(self._left[unit]))
                self._left[unit] = 0

    def _put(self, unit: int, group: int, count: int) -> None:
        self._members[group][unit] += count
        self._homes[unit].add(group)
        self._sizes[group] += count
        self._values[group][self._sensitive[unit]] += count

    def _borrow_at(self, kept: Kept) -> None:
        """Complete what is left with spare rows that agree in the kept columns."""
        problem = self._problem
        places = np.flatnonzero(problem.comparable(kept))
        if not len(places):
            return
        same = groups_of(problem.codes[places], kept)
        waiting = np.bincount(same, weights=self._left[places]) > 0
        members: dict[int, list[int]] = defaultdict(list)
        for place, number in zip(places[waiting[same]].tolist(), same[waiting[same]].tolist(), strict=True):
            members[number].append(place)
        for units in members.values():
            self._complete(units)

    def _lends(self, unit: int, group: int) -> bool:
        """Whether a group can do without one copy of a unit."""
        if not self._members[group][unit] or self._sizes[group] <= self._problem.k:
            return False
        values = self._values[group]
        return values[self._sensitive[unit]] > 1 or len(values) > self._problem.l or self._problem.l == 1

    def _complete(self, units: list[int]) -> None:
        """A new group of the copies of these units that are left and of borrowed ones, if that is enough."""
        waiting = [(unit, int(self._left[unit])) for unit in units if self._left[unit]]
        values = {self._sensitive[unit] for unit, _ in waiting}
        size = sum(count for _, count in waiting)
        borrowed: list[tuple[int, int]] = []
        for others_first in (True, False):
            for unit in units:
                for group in sorted(self._homes[unit]):
                    while self._needs(size + len(borrowed), values, unit, others_first) and self._lends(unit, group):
                        self._move(unit, group, -1)
                        borrowed.append((unit, group))
                        values.add(self._sensitive[unit])
        if size + len(borrowed) < self._problem.k or len(values) < self._problem.l:
            for unit, group in borrowed:
                self._move(unit, group, 1)
            return
        for unit, count in [*waiting, *((unit, 1) for unit, _ in borrowed)]:
            self._put(unit, self._next, count)
        for unit, _ in waiting:
            self._left[unit] = 0
        self._next += 1

    def _needs(self, size: int, values: set[int], unit: int, others_first: bool) -> bool:
        """Whether a group to be completed wants a copy: first further sensitive values, then rows."""
        if others_first:
            return len(values) < self._problem.l and self._sensitive[unit] not in values
        return size < self._problem.k

    def _move(self, unit: int, group: int, count: int) -> None:
        self._members[group][unit] += count
        self._sizes[group] += count
        values = self._values[group]
        values[self._sensitive[unit]] += count
        if not values[self._sensitive[unit]]:
            del values[self._sensitive[unit]]

    def _cheapest(self, units: Integers) -> int:
        """The group that some units join at the lowest further cost."""
        numbers = [group for group, size in self._sizes.items() if size]
        first = np.array([next(unit for unit, n in self._members[group].items() if n) for group in numbers])
        starred = np.array([self._starred(group) for group in numbers])
        sizes = np.array([self._sizes[group] for group in numbers], dtype=np.int64)
        codes = self._problem.codes
        joint = starred | (codes[first] != codes[units[0]]) | (codes[units] != codes[units[0]]).any(axis=0)
        if self._problem.missing_alone:
            joint |= (codes[units] == 0).any(axis=0)
        if self._problem.whole:
            joint |= joint.any(axis=1, keepdims=True)
        weights = np.array(self._problem.weights, dtype=np.float64)
        more = int(self._left[units].sum())
        return numbers[int(np.argmin((sizes + more) * (joint @ weights) - sizes * (starred @ weights)))]

    def _starred(self, group: int) -> Booleans:
        units = [unit for unit, n in self._members[group].items() if n]
        codes = self._problem.codes[units]
        starred = codes.min(axis=0) != codes.max(axis=0)
        if self._problem.missing_alone:
            starred |= codes.min(axis=0) == 0
        if self._problem.whole:
            starred |= starred.any()
        return np.asarray(starred, dtype=np.bool_)
