"""A solution made better, move by move: open a pattern for rows that pay more now, or close one whose rows can leave.

The moves are those of local search for facility location (patterns are facilities, rows are clients), where a pattern
needs k rows and l sensitive values to be open. It ends where no move helps, or after a number of looks.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np

from sqlaudit.remedies.suppress.candidates import PatternCandidates
from sqlaudit.remedies.suppress.problem import Problem, Solution, solution_of

LOOKS = 3_000_000
"""Pairs of a pattern and a unit that are looked at, at most."""


def improved(problem: Problem, found: PatternCandidates, start: Solution, looks: int = LOOKS) -> Solution:
    """A solution that costs no more.

    Args:
        problem: what is asked. found: its patterns. start: a solution. looks: pairs that are looked at, at most.
    """
    search = _Search(problem, found, start)
    budget = looks
    while budget > 0:
        better = False
        for pattern in range(found.patterns):
            better |= search.open(pattern)
        for pattern in list(search.members):
            better |= search.close(pattern)
        budget -= 2 * len(found.members)
        if not better:
            break
    best = search.solution()
    return best if best.cost < start.cost else start


class _Search:
    """Which copies are attached to which pattern."""

    def __init__(self, problem: Problem, found: PatternCandidates, start: Solution) -> None:
        self._problem = problem
        self._costs: list[int] = found.costs.tolist()
        self._sensitive: list[int] = problem.sensitive.tolist()
        bounds = found.starts.tolist()
        units: list[int] = found.members.tolist()
        self._units = [units[a:b] for a, b in pairwise(bounds)]
        self._patterns: list[list[int]] = [[] for _ in range(problem.units)]
        for pattern in sorted(range(found.patterns), key=self._costs.__getitem__):
            for unit in self._units[pattern]:
                self._patterns[unit].append(pattern)
        self.members: dict[int, Counter[int]] = defaultdict(Counter)
        self._homes: list[set[int]] = [set() for _ in range(problem.units)]
        self._sizes: Counter[int] = Counter()
        self._values: dict[int, Counter[int]] = defaultdict(Counter)
        number = {(kept, unit): p for p, kept in enumerate(found.kept) for unit in self._units[p]}
        kept = [tuple(np.flatnonzero(~row).tolist()) for row in start.starred]
        for unit, count, group in zip(start.units.tolist(), start.copies.tolist(), start.groups.tolist(), strict=True):
            self._put(unit, number[kept[group], unit], count)

    def solution(self) -> Solution:
        """The partition that it is."""
        listed = [(unit, n, pattern) for pattern, members in self.members.items() for unit, n in members.items()]
        units, copies, groups = (np.array(part, dtype=np.int64) for part in zip(*listed, strict=True))
        return solution_of(self._problem, units, copies, groups)

    def open(self, pattern: int) -> bool:
        """Attach to a pattern the copies that pay more elsewhere, and what it needs besides, if that costs less."""
        cost, taken, gain = self._costs[pattern], Counter(self._values.get(pattern, ())), 0
        size = self._sizes[pattern]
        offers = sorted(
            (
                (self._costs[home] - cost, unit, home)
                for unit in self._units[pattern]
                for home in self._homes[unit]
                if home != pattern
            ),
            reverse=True,
        )
        moves: list[tuple[int, int, int]] = []
        for worth, unit, home in offers:
            enough = size >= self._problem.k and len(taken) >= self._problem.l
            if worth <= 0 and enough:
                break
            count = self._spare(unit, home)
            if worth <= 0:
                wanted = self._problem.k - size if size < self._problem.k else int(self._sensitive[unit] not in taken)
                count = min(count, wanted)
            if count > 0:
                self._move(unit, home, pattern, count)
                moves.append((unit, home, count))
                size += count
                taken[self._sensitive[unit]] += count
                gain += worth * count
        if moves and gain > 0 and size >= self._problem.k and len(taken) >= self._problem.l:
            return True
        for unit, home, count in reversed(moves):
            self._move(unit, pattern, home, count)
        return False

    def close(self, pattern: int) -> bool:
        """Attach all copies of a pattern to other open ones, if that costs less."""
        if not self._sizes[pattern]:
            return False
        cost, change = self._costs[pattern], 0
        moves: list[tuple[int, int, int]] = []
        for unit, count in self.members[pattern].items():
            there = next((p for p in self._patterns[unit] if p != pattern and self._sizes[p]), None)
            if there is None:
                return False
            change += count * (self._costs[there] - cost)
            moves.append((unit, there, count))
        if change >= 0:
            return False
        for unit, there, count in moves:
            self._move(unit, pattern, there, count)
        return True

    def _spare(self, unit: int, home: int) -> int:
        """How many copies of a unit a pattern can do without."""
        spare = min(self.members[home][unit], self._sizes[home] - self._problem.k)
        if self._problem.l > 1 and len(self._values[home]) <= self._problem.l:
            spare = min(spare, self._values[home][self._sensitive[unit]] - 1)
        return spare

    def _put(self, unit: int, pattern: int, count: int) -> None:
        self.members[pattern][unit] += count
        self._homes[unit].add(pattern)
        self._sizes[pattern] += count
        self._values[pattern][self._sensitive[unit]] += count

    def _move(self, unit: int, source: int, target: int, count: int) -> None:
        self._put(unit, target, count)
        self.members[source][unit] -= count
        if not self.members[source][unit]:
            del self.members[source][unit]
            self._homes[unit].discard(source)
        self._sizes[source] -= count
        values = self._values[source]
        values[self._sensitive[unit]] -= count
        if not values[self._sensitive[unit]]:
            del values[self._sensitive[unit]]
