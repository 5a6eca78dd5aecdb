"""Find a solution fast: group rows at the lowest cost, borrow rows for small groups, and improve by moves."""

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
    make_solution,
    starred_columns,
)

# Choices of columns to keep, cheapest suppression first: all choices of few columns, else the first ones and a chain.

Columns = tuple[int, ...]
MOST = 2048
"""Number of choices. After these, one column after the other is starred, the one with most values first."""


def column_choices(problem: Problem, most: int = MOST) -> Iterator[tuple[int, Columns]]:
    """Yield (cost of a row, kept columns), cost ascending. The last choice keeps nothing.

    Example:
        >>> import numpy as np
        >>> two = Problem(np.array([[1, 1], [2, 1]]), np.array([1, 1]), np.array([0, 0]), 2, 1, (1, 3))
        >>> list(column_choices(two))
        [(0, (0, 1)), (1, (1,)), (3, (0,)), (4, ())]
    """
    all_columns = tuple(range(problem.width))
    if problem.whole_rows:
        yield 0, all_columns
        yield sum(problem.weights), ()
        return
    reached = (0, all_columns)
    total = 1 << problem.width
    for reached in islice(_ascending(problem.weights), min(most, total)):
        yield reached
    if total > most:
        yield from _chain(problem, reached[0])


def _ascending(weights: tuple[int, ...]) -> Iterator[tuple[int, Columns]]:
    """Yield every subset of starred columns by the sum of weights (Lawler: a heap of subsets, each extended once)."""
    order = sorted(range(len(weights)), key=lambda column: weights[column])
    yield 0, tuple(range(len(weights)))
    heap: list[tuple[int, tuple[int, ...]]] = [(weights[order[0]], (0,))] if order else []
    while heap:
        cost, positions = heapq.heappop(heap)
        starred = {order[position] for position in positions}
        yield cost, tuple(column for column in range(len(weights)) if column not in starred)
        last = positions[-1]
        if last + 1 < len(order):
            heapq.heappush(heap, (cost + weights[order[last + 1]], (*positions, last + 1)))
            replaced = cost - weights[order[last]] + weights[order[last + 1]]
            heapq.heappush(heap, (replaced, (*positions[:-1], last + 1)))


def _chain(problem: Problem, cost: int) -> Iterator[tuple[int, Columns]]:
    """Star all columns one after the other, most values first. Yield choices that cost more than `cost`."""
    values = problem.codes.max(axis=0, initial=0).tolist()
    by_values = sorted(range(problem.width), key=lambda column: -values[column])
    costs = accumulate(problem.weights[column] for column in by_values)
    steps = ((cost, tuple(sorted(by_values[dropped:]))) for dropped, cost in enumerate(costs, 1))
    yield from dropwhile(lambda step: step[0] <= cost and step[1], steps)


# Rows without a group: groups with more rows than they need lend some, and the rest joins where it costs least.

_JOIN_SINGLY = 30
"""Up to this many units each join the group that costs least for it. More units join one group together."""
_CHOICES = 512


class Ledger(Membership):
    """A partition under construction, with the copies that have no group yet.

    Args:
        problem: the problem.
        units, copies, groups: the groups so far, all of them large and diverse enough.
        left: the number of copies of each unit without a group.
    """

    def __init__(self, problem: Problem, units: Integers, copies: Integers, groups: Integers, left: Integers) -> None:
        super().__init__(problem, zip(units.tolist(), copies.tolist(), groups.tolist(), strict=True))
        self._left = left.copy()
        self._next = int(groups.max(initial=-1)) + 1

    def borrow(self) -> None:
        """Make groups of remaining rows and of rows that others can spare, cheapest suppression first."""
        for _, columns in column_choices(self._problem, _CHOICES):
            if not self._left.any():
                return
            self._borrow_at(columns)

    def join(self) -> None:
        """Put the remaining rows into the groups where that costs least."""
        units = np.flatnonzero(self._left)
        if not len(units):
            return
        for part in [[unit] for unit in units.tolist()] if len(units) <= _JOIN_SINGLY else [units.tolist()]:
            group = self._cheapest(np.array(part))
            for unit in part:
                self.put(unit, group, int(self._left[unit]))
                self._left[unit] = 0

    def _borrow_at(self, columns: Columns) -> None:
        """Complete remaining rows with spare rows that agree in these columns."""
        problem = self._problem
        comparable = np.flatnonzero(problem.comparable(columns))
        if not len(comparable):
            return
        groups = groups_of(problem.codes[comparable], columns)
        waiting = np.bincount(groups, weights=self._left[comparable]) > 0
        members: dict[int, list[int]] = defaultdict(list)
        for unit, group in zip(comparable[waiting[groups]].tolist(), groups[waiting[groups]].tolist(), strict=True):
            members[group].append(unit)
        for units in members.values():
            self._complete(units)

    def _complete(self, units: list[int]) -> None:
        """Make a group of the remaining copies of these units and of borrowed ones, if that is enough."""
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
        """Return True if a group under construction needs a copy: first for further sensitive values, then for rows."""
        if others_first:
            return len(values) < self._problem.l and self.sensitive[unit] not in values
        return size < self._problem.k

    def _cheapest(self, units: Integers) -> int:
        """Return the group that some units join at the lowest additional cost."""
        numbers = [group for group, size in self.sizes.items() if size]
        sizes = np.array([self.sizes[group] for group in numbers], dtype=np.int64)
        members, _, groups = self.partition()
        position = {group: number for number, group in enumerate(numbers)}
        within = np.array([position[group] for group in groups.tolist()])
        starred = starred_columns(self._problem, members, within)
        starred_alone = starred_columns(self._problem, units, np.zeros(len(units), dtype=np.int64))
        first, codes = members[np.unique(within, return_index=True)[1]], self._problem.codes
        joint = starred | starred_alone | (codes[first] != codes[units[0]])
        if self._problem.whole_rows:
            joint |= joint.any(axis=1, keepdims=True)
        weights = np.array(self._problem.weights, dtype=np.float64)
        joining_rows = int(self._left[units].sum())
        return numbers[int(np.argmin((sizes + joining_rows) * (joint @ weights) - sizes * (starred @ weights)))]


# A fast way to a solution: group what can be grouped at the lowest cost first, lend rows where a few are missing.
#
# Over all choices of kept columns, cheapest first: rows that are in no group yet and agree in the kept columns become
# a group if there are enough of them. The remaining rows are too few or not diverse even together. A second walk
# borrows rows for them from groups that have more than they need. The rows that still remain join the groups where
# that costs least. Everything works on units with counts, not on rows. For k alone the answer is within a proven factor
# (`ensure_guarantee`); a lower bound shows how far it is from the optimum at most.
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


def solve_fast(problem: Problem, watch: Watch | None = None) -> Solution:
    """Return a solution, not necessarily the best one.

    Args:
        problem: the problem; the whole table as one group satisfies it.
        watch: called with the progress.
    """
    if problem.trivial:
        groups = groups_of(problem.codes, range(problem.width))
        return make_solution(problem, np.arange(problem.units), problem.sizes, groups)
    sweep = _Sweep(problem)
    for cost, choices in groupby(column_choices(problem), key=itemgetter(0)):
        if watch is not None:
            watch("grouping rows", cost / max(1, sum(problem.weights)))
        sweep.level([columns for _, columns in choices])
        if not sweep.left.any():
            break
    if not sweep.left.any():
        return ensure_guarantee(problem, make_solution(problem, *sweep.partition()))
    ledger = Ledger(problem, *sweep.partition(), sweep.left)
    ledger.borrow()
    ledger.join()
    return ensure_guarantee(problem, make_solution(problem, *ledger.partition()))


class _Sweep:
    """Groups made at the lowest cost, and the copies of each unit that remain."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.left = problem.sizes.copy()
        self._grouped: list[Integers] = [np.zeros((3, 0), dtype=np.int64)]
        self._group_count = 0

    def level(self, choices: Sequence[Columns]) -> None:
        """Group as many rows as possible at one cost. The choice that groups most rows comes first."""
        if len(choices) > 1:
            rows = {columns: int(self.left[self._ready(columns)[0]].sum()) for columns in choices}
            choices = sorted((columns for columns in choices if rows[columns]), key=lambda columns: -rows[columns])
        for columns in choices:
            units, groups = self._ready(columns)
            if len(units):
                self._grouped.append(np.stack([units, self.left[units], groups + self._group_count]))
                self._group_count += int(groups.max()) + 1
                self.left[units] = 0

    def _ready(self, columns: Columns) -> tuple[Integers, Integers]:
        """Return the units without a group that agree with enough others, and the number of each one's group."""
        return self._problem.grouped(columns, self.left > 0, self.left)

    def partition(self) -> tuple[Integers, Integers, Integers]:
        """Return the groups as (units, copies, groups)."""
        units, copies, groups = np.concatenate(self._grouped, axis=1)
        return units, copies, groups


def ensure_guarantee(problem: Problem, solution: Solution) -> Solution:
    """Return the solution, or one that suppresses whole rows if it costs less and so is within the proven factor.

    Args:
        problem: the problem.
        solution: any solution. If l > 1, no factor is known, and it is returned.

    Example:
        >>> four = Problem(np.array([[1], [2], [3]]), np.array([2, 1, 1]), np.zeros(3, int), 2, 1, (1,))
        >>> all_together = make_solution(four, np.arange(3), four.sizes, np.zeros(3, int))
        >>> all_together.cost, ensure_guarantee(four, all_together).cost
        (4, 2)
    """
    if problem.l > 1 or problem.trivial:
        return solution
    leaving = problem.sizes * cannot_stay(problem)
    missing = problem.k - int(leaving.sum())
    if 0 < missing < problem.k:
        spare = problem.sizes - leaving
        rich = np.flatnonzero(spare >= problem.k + missing)
        unit = int(rich[0]) if len(rich) else int(np.where(spare > 0, spare, problem.rows + 1).argmin())
        leaving[unit] += missing if len(rich) else spare[unit]
    if solution.cost <= int(leaving.sum()) * sum(problem.weights):
        return solution
    staying = problem.sizes - leaving
    units = np.concatenate([np.flatnonzero(leaving), np.flatnonzero(staying)])
    copies = np.concatenate([leaving[leaving > 0], staying[staying > 0]])
    own_groups = groups_of(problem.codes, range(problem.width))[staying > 0] + 1
    return make_solution(
        problem, units, copies, np.concatenate([np.zeros(int((leaving > 0).sum()), np.int64), own_groups])
    )


def cannot_stay(problem: Problem) -> Booleans:
    """Return which units have something suppressed in every solution for k alone."""
    too_small = np.asarray(problem.sizes < problem.k, dtype=np.bool_)
    return too_small | ~problem.comparable(range(problem.width))


# Improve a solution by moves: open a pattern for rows that cost more now, or close one whose rows can go elsewhere.
#
# The moves are those of local search for facility location (patterns are facilities, rows are clients), where a pattern
# needs k rows and l sensitive values to be open. The search ends when no move helps, or after `LOOKS` pairs.

LOOKS = 3_000_000
"""Largest number of pairs of a pattern and a unit to look at."""


def improve(problem: Problem, candidates: PatternCandidates, start: Solution) -> Solution:
    """Return a solution that costs no more than `start`.

    Args:
        problem: the problem.
        candidates: its patterns.
        start: a solution.
    """
    search = _Search(problem, candidates, start)
    budget = LOOKS
    while budget > 0:
        better = False
        for pattern in range(candidates.patterns):
            better |= search.open(pattern)
        for pattern in list(search.members):
            better |= search.close(pattern)
        budget -= 2 * len(candidates.members)
        if not better:
            break
    best = make_solution(problem, *search.partition())
    return best if best.cost < start.cost else start


class _Search(Membership):
    """A partition whose groups are patterns, changed by moves."""

    def __init__(self, problem: Problem, candidates: PatternCandidates, start: Solution) -> None:
        self._costs: list[int] = candidates.costs.tolist()
        self._units = candidates.units
        self._patterns: list[list[int]] = [[] for _ in range(problem.units)]
        for pattern in sorted(range(candidates.patterns), key=self._costs.__getitem__):
            for unit in self._units[pattern]:
                self._patterns[unit].append(pattern)
        super().__init__(problem, candidates.attached(start))

    def open(self, pattern: int) -> bool:
        """Attach to a pattern the copies that cost more elsewhere, and others that it needs, if that costs less."""
        cost, values, gain = self._costs[pattern], Counter(self.values.get(pattern, ())), 0
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
            enough = size >= self._problem.k and len(values) >= self._problem.l
            if worth <= 0 and enough:
                break
            count = self.spare(unit, home)
            if worth <= 0:
                missing = self._problem.k - size if size < self._problem.k else int(self.sensitive[unit] not in values)
                count = min(count, missing)
            if count > 0:
                self._move(unit, home, pattern, count)
                moves.append((unit, home, count))
                size += count
                values[self.sensitive[unit]] += count
                gain += worth * count
        if moves and gain > 0 and size >= self._problem.k and len(values) >= self._problem.l:
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
            other = next((p for p in self._patterns[unit] if p != pattern and self.sizes[p]), None)
            if other is None:
                return False
            change += count * (self._costs[other] - cost)
            moves.append((unit, other, count))
        if change >= 0:
            return False
        for unit, other, count in moves:
            self._move(unit, pattern, other, count)
        return True

    def _move(self, unit: int, source: int, target: int, count: int) -> None:
        self.put(unit, target, count)
        self.put(unit, source, -count)
