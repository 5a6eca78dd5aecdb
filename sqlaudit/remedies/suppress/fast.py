"""Fast ways to a solution: sweeps over what groups at the lowest cost, lending of rows, and moves that improve it."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, dropwhile, groupby, islice
from operator import itemgetter

import numpy as np

from sqlaudit.remedies.rewriting import Integers, groups_of
from sqlaudit.remedies.suppress.problem import (
    Booleans,
    Membership,
    PatternCandidates,
    Problem,
    Solution,
    solution_of,
    starred_in,
)

# Which columns to keep, cheapest suppression first: every choice where columns are few, else the first and a chain.

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
    costs = accumulate(problem.weights[column] for column in falling)
    steps = ((cost, tuple(sorted(falling[dropped:]))) for dropped, cost in enumerate(costs, 1))
    yield from dropwhile(lambda step: step[0] <= cost and step[1], steps)


# Rows that found no group: groups that have more than they need lend some, and the rest joins where it costs least.

_ONE_BY_ONE = 30
"""Up to so many units each joins the group that suits it best; more join one group together."""
_CHOICES = 512


class Ledger(Membership):
    """Who is in which group, and who is in none.

    Args:
        problem: what is asked. units, copies, groups: the groups so far, all of them good.
        left: for each unit the copies in no group.
    """

    def __init__(self, problem: Problem, units: Integers, copies: Integers, groups: Integers, left: Integers) -> None:
        super().__init__(problem, zip(units.tolist(), copies.tolist(), groups.tolist(), strict=True))
        self._left = left.copy()
        self._next = int(groups.max(initial=-1)) + 1

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
                self.put(unit, group, int(self._left[unit]))
                self._left[unit] = 0

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

    def _complete(self, units: list[int]) -> None:
        """A new group of the copies of these units that are left and of borrowed ones, if that is enough."""
        waiting = [(unit, int(self._left[unit])) for unit in units if self._left[unit]]
        values = {self.sensitive[unit] for unit, _ in waiting}
        size = sum(count for _, count in waiting)
        borrowed: list[tuple[int, int]] = []
        for others_first in (True, False):
            for unit in units:
                for group in sorted(self.homes[unit]):
                    while self._needs(size + len(borrowed), values, unit, others_first) and self.spare(unit, group) > 0:
                        self.put(unit, group, -1)
                        borrowed.append((unit, group))
                        values.add(self.sensitive[unit])
        if size + len(borrowed) < self._problem.k or len(values) < self._problem.l:
            for unit, group in borrowed:
                self.put(unit, group, 1)
            return
        for unit, count in [*waiting, *((unit, 1) for unit, _ in borrowed)]:
            self.put(unit, self._next, count)
        for unit, _ in waiting:
            self._left[unit] = 0
        self._next += 1

    def _needs(self, size: int, values: set[int], unit: int, others_first: bool) -> bool:
        """Whether a group to be completed wants a copy: first further sensitive values, then rows."""
        if others_first:
            return len(values) < self._problem.l and self.sensitive[unit] not in values
        return size < self._problem.k

    def _cheapest(self, units: Integers) -> int:
        """The group that some units join at the lowest further cost."""
        numbers = [group for group, size in self.sizes.items() if size]
        sizes = np.array([self.sizes[group] for group in numbers], dtype=np.int64)
        members, _, groups = self.partition()
        place = {group: number for number, group in enumerate(numbers)}
        within = np.array([place[group] for group in groups.tolist()])
        starred = starred_in(self._problem, members, within)
        apart = starred_in(self._problem, units, np.zeros(len(units), dtype=np.int64))
        first, codes = members[np.unique(within, return_index=True)[1]], self._problem.codes
        joint = starred | apart | (codes[first] != codes[units[0]])
        if self._problem.whole:
            joint |= joint.any(axis=1, keepdims=True)
        weights = np.array(self._problem.weights, dtype=np.float64)
        more = int(self._left[units].sum())
        return numbers[int(np.argmin((sizes + more) * (joint @ weights) - sizes * (starred @ weights)))]


# A fast way to a solution: group what can be grouped at the lowest cost first, lend rows where a few are missing.
#
# Over all choices of kept columns, cheapest first: rows that are in no group yet and agree in the kept columns become
# a group when there are enough of them. What is left is too small or not diverse even as a whole. A second walk
# borrows rows for it from groups that have more than they need; what is left then joins the groups where that costs
# least. Everything works on units with counts, not on rows. For k alone the answer is within a proven factor
# (`guaranteed`); how far it really is from the optimum is told by a lower bound.
#
# A row that cannot stay (fewer than k rows are equal to it) is in a group with another row, so that a column of the
# group is suppressed; the group has k rows or more, and all of them pay. With r such rows the best solution costs at
# least w · max(r, k), w the smallest weight. They are suppressed here as one group; where r < k, rows that could stay
# join them, all of one pattern: the k − r that are missing if the pattern can spare them, else all of it, which has
# fewer than 2k − r then. So fewer than max(r + 1, 2k) rows are suppressed, each for at most W, the sum of the weights:
# less than 2 W / w times the best cost, which is 2m for m columns of equal weight. Source: Chakaravarthy, Pandit,
# Sabharwal, section 5, which calls the factor O(m) of suppressing all cells trivial; a table with rows that may stay
# needs this.

Watch = Callable[[str, float | None], None]


def fast(problem: Problem, watch: Watch | None = None) -> Solution:
    """A solution, not necessarily the best one.

    Args:
        problem: what is asked; the whole table as one group satisfies it. watch: told of progress.
    """
    if problem.trivial:
        groups = groups_of(problem.codes, range(problem.width))
        return solution_of(problem, np.arange(problem.units), problem.sizes, groups)
    swept = _Sweep(problem)
    for cost, together in groupby(choices(problem), key=itemgetter(0)):
        if watch is not None:
            watch("grouping rows", cost / max(1, sum(problem.weights)))
        swept.level([kept for _, kept in together])
        if not swept.left.any():
            break
    if not swept.left.any():
        return guaranteed(problem, solution_of(problem, *swept.partition()))
    ledger = Ledger(problem, *swept.partition(), swept.left)
    ledger.borrow()
    ledger.join()
    return guaranteed(problem, solution_of(problem, *ledger.partition()))


class _Sweep:
    """What is grouped at the lowest cost, and the copies that are left of each unit."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.left = problem.sizes.copy()
        self._grouped: list[Integers] = [np.zeros((3, 0), dtype=np.int64)]
        self._made = 0

    def level(self, together: Sequence[Kept]) -> None:
        """Group what can be grouped at one cost; the choice that groups most rows comes first."""
        if len(together) > 1:
            rows = {kept: int(self.left[self._ready(kept)[0]].sum()) for kept in together}
            together = sorted((kept for kept in together if rows[kept]), key=lambda kept: -rows[kept])
        for kept in together:
            units, groups = self._ready(kept)
            if len(units):
                self._grouped.append(np.stack([units, self.left[units], groups + self._made]))
                self._made += int(groups.max()) + 1
                self.left[units] = 0

    def _ready(self, kept: Kept) -> tuple[Integers, Integers]:
        """The units in no group yet that agree with enough others, and a number for those that agree."""
        return self._problem.grouped(kept, self.left > 0, self.left)

    def partition(self) -> tuple[Integers, Integers, Integers]:
        """(units, copies, groups) of what is grouped."""
        units, copies, groups = np.concatenate(self._grouped, axis=1)
        return units, copies, groups


def guaranteed(problem: Problem, found: Solution) -> Solution:
    """A solution within the factor: the one that was found, where it costs no more than the rows that are suppressed.

    Args:
        problem: what is asked. found: any solution of it; where l > 1 no factor is known, and it stays.

    Example:
        >>> four = Problem(np.array([[1], [2], [3]]), np.array([2, 1, 1]), np.zeros(3, int), 2, 1, (1,))
        >>> all_together = solution_of(four, np.arange(3), four.sizes, np.zeros(3, int))
        >>> all_together.cost, guaranteed(four, all_together).cost
        (4, 2)
    """
    if problem.l > 1 or problem.trivial:
        return found
    leaving = problem.sizes * cannot_stay(problem)
    missing = problem.k - int(leaving.sum())
    if 0 < missing < problem.k:
        spare = problem.sizes - leaving
        rich = np.flatnonzero(spare >= problem.k + missing)
        unit = int(rich[0]) if len(rich) else int(np.where(spare > 0, spare, problem.rows + 1).argmin())
        leaving[unit] += missing if len(rich) else spare[unit]
    if found.cost <= int(leaving.sum()) * sum(problem.weights):
        return found
    staying = problem.sizes - leaving
    units = np.concatenate([np.flatnonzero(leaving), np.flatnonzero(staying)])
    copies = np.concatenate([leaving[leaving > 0], staying[staying > 0]])
    alone = groups_of(problem.codes, range(problem.width))[staying > 0] + 1
    return solution_of(problem, units, copies, np.concatenate([np.zeros(int((leaving > 0).sum()), np.int64), alone]))


def cannot_stay(problem: Problem) -> Booleans:
    """The units of k alone whose rows something of is suppressed in every solution."""
    few = np.asarray(problem.sizes < problem.k, dtype=np.bool_)
    return few | ~problem.comparable(range(problem.width))


# A solution made better, move by move: open a pattern for rows that pay more now, or close one whose rows can leave.
#
# The moves are those of local search for facility location (patterns are facilities, rows are clients), where a pattern
# needs k rows and l sensitive values to be open. It ends where no move helps, or after a number of looks.

LOOKS = 3_000_000
"""Pairs of a pattern and a unit that are looked at, at most."""


def improved(problem: Problem, found: PatternCandidates, start: Solution) -> Solution:
    """A solution that costs no more.

    Args:
        problem: what is asked. found: its patterns. start: a solution.
    """
    search = _Search(problem, found, start)
    budget = LOOKS
    while budget > 0:
        better = False
        for pattern in range(found.patterns):
            better |= search.open(pattern)
        for pattern in list(search.members):
            better |= search.close(pattern)
        budget -= 2 * len(found.members)
        if not better:
            break
    best = solution_of(problem, *search.partition())
    return best if best.cost < start.cost else start


class _Search(Membership):
    """Which copies are attached to which pattern."""

    def __init__(self, problem: Problem, found: PatternCandidates, start: Solution) -> None:
        self._costs: list[int] = found.costs.tolist()
        self._units = found.units
        self._patterns: list[list[int]] = [[] for _ in range(problem.units)]
        for pattern in sorted(range(found.patterns), key=self._costs.__getitem__):
            for unit in self._units[pattern]:
                self._patterns[unit].append(pattern)
        super().__init__(problem, found.attached(start))

    def open(self, pattern: int) -> bool:
        """Attach to a pattern the copies that pay more elsewhere, and what it needs besides, if that costs less."""
        cost, taken, gain = self._costs[pattern], Counter(self.values.get(pattern, ())), 0
        size = self.sizes[pattern]
        offers = sorted(
            (
                (self._costs[home] - cost, unit, home)
                for unit in self._units[pattern]
                for home in self.homes[unit]
                if home != pattern
            ),
            reverse=True,
        )
        moves: list[tuple[int, int, int]] = []
        for worth, unit, home in offers:
            enough = size >= self._problem.k and len(taken) >= self._problem.l
            if worth <= 0 and enough:
                break
            count = self.spare(unit, home)
            if worth <= 0:
                wanted = self._problem.k - size if size < self._problem.k else int(self.sensitive[unit] not in taken)
                count = min(count, wanted)
            if count > 0:
                self._move(unit, home, pattern, count)
                moves.append((unit, home, count))
                size += count
                taken[self.sensitive[unit]] += count
                gain += worth * count
        if moves and gain > 0 and size >= self._problem.k and len(taken) >= self._problem.l:
            return True
        for unit, home, count in reversed(moves):
            self._move(unit, pattern, home, count)
        return False

    def close(self, pattern: int) -> bool:
        """Attach all copies of a pattern to other open ones, if that costs less."""
        if not self.sizes[pattern]:
            return False
        cost, change = self._costs[pattern], 0
        moves: list[tuple[int, int, int]] = []
        for unit, count in self.members[pattern].items():
            there = next((p for p in self._patterns[unit] if p != pattern and self.sizes[p]), None)
            if there is None:
                return False
            change += count * (self._costs[there] - cost)
            moves.append((unit, there, count))
        if change >= 0:
            return False
        for unit, there, count in moves:
            self._move(unit, pattern, there, count)
        return True

    def _move(self, unit: int, source: int, target: int, count: int) -> None:
        self.put(unit, target, count)
        self.put(unit, source, -count)
