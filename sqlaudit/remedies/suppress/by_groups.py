"""The exact program over groups, for few rows and many columns, where patterns explode and groups of rows do not.

Every solution is a partition of the rows into groups that are large and diverse enough, and a group that can be parted
into two such groups may be: each part costs no more than it did inside. So only groups that cannot be parted are
needed; for l = 1 these have k to 2k-1 rows. With copies that are alike, a group is how many copies of each unit it has,
and the program says how often each kind of group is used: minimize sum cost(g) n(g), where the sum over g of
a(g,t) n(g) is s(t). Source: Chakaravarthy, Pandit, Sabharwal, section 2 (the partition view); the size of groups:
Aggarwal et al., Anonymizing Tables, ICDT 2005.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlaudit.remedies.suppress.by_patterns import ProgramAnswer
from sqlaudit.remedies.suppress.problem import Problem, Solution, solution_of
from sqlaudit.remedies.suppress.solver import Floats, Program, solve

Group = tuple[tuple[int, int], ...]
"""(unit, copies), units ascending."""


@dataclass(frozen=True)
class GroupProgram:
    """The program with the groups that its variables count."""

    program: Program
    groups: Sequence[Group]

    def solved(self, problem: Problem, step: int, start: Solution | None, seconds: float | None) -> ProgramAnswer:
        """The best solution, with a bound; the start is only used when all of its groups are candidates.

        Args:
            problem: what is asked. step: costs differ by multiples of it. start: a solution to begin with.
            seconds: the time it may take.
        """
        given = self._values(start) if start is not None else None
        found = solve(self.program, step=step, start=given, seconds=seconds)
        best = self._read(problem, found.values) if found.values is not None else None
        return ProgramAnswer(best, found.bound, found.stopped)

    def _read(self, problem: Problem, values: Floats) -> Solution:
        units, copies, numbers = [], [], []
        number = 0
        for group, times in zip(self.groups, np.rint(values).astype(np.int64).tolist(), strict=True):
            for _ in range(times):
                for unit, count in group:
                    units.append(unit)
                    copies.append(count)
                    numbers.append(number)
                number += 1
        return solution_of(problem, np.array(units), np.array(copies), np.array(numbers))

    def _values(self, start: Solution) -> Floats | None:
        """How often each group is used in a solution."""
        used: dict[int, list[tuple[int, int]]] = {}
        for unit, count, group in zip(start.units.tolist(), start.copies.tolist(), start.groups.tolist(), strict=True):
            used.setdefault(group, []).append((unit, count))
        counts = Counter(tuple(sorted(group)) for group in used.values())
        if not counts.keys() <= set(self.groups):
            return None
        return np.array([float(counts[group]) for group in self.groups])


def group_program(problem: Problem, most: int) -> GroupProgram | None:
    """The program over groups; None when there are too many of them.

    Args:
        problem: what is asked. most: groups, at most.
    """
    if problem.l == 1 and math.comb(problem.units, problem.k) > most:  # so many have one copy of each of their units
        return None
    groups = _Enumeration(problem, most).groups()
    if groups is None:
        return None
    program = Program()
    by_unit: list[list[tuple[int, float]]] = [[] for _ in range(problem.units)]
    for group, cost in groups:
        rows = sum(count for _, count in group)
        most_often = min(int(problem.sizes[unit]) // count for unit, count in group)
        variable = program.variable(float(cost * rows), float(most_often), whole=True)
        for unit, count in group:
            by_unit[unit].append((variable, float(count)))
    for unit, terms in enumerate(by_unit):
        size = float(problem.sizes[unit])
        program.row(terms, size, size)
    return GroupProgram(program, [group for group, _ in groups])


class _Enumeration:
    """All groups that are large and diverse enough and cannot be parted, by taking copies unit by unit."""

    def __init__(self, problem: Problem, most: int) -> None:
        self._problem, self._most = problem, most
        self._sizes: list[int] = problem.sizes.tolist()
        self._values: list[int] = problem.sensitive.tolist()
        self._found: list[tuple[Group, int]] = []
        self._looked = 0
        self._agree = _agreements(problem)
        self._all = (1 << problem.width) - 1
        self._costs: dict[int, int] = {}

    def groups(self) -> list[tuple[Group, int]] | None:
        """(group, cost of a row in it); None when there are more than allowed."""
        return self._found if self._extend(0, [], self._all, Counter()) else None

    def _extend(self, unit: int, taken: list[tuple[int, int]], kept: int, values: Counter[int]) -> bool:
        """Go on with the units from `unit`; False when it was too much."""
        self._looked += 1
        if self._looked > 4 * self._most + 1000:
            return False
        rows = values.total()
        if taken and rows >= self._problem.k and len(values) >= self._problem.l:
            if self._parts(rows, values):
                return True  # so does everything larger
            self._found.append((tuple(taken), self._cost(kept)))
            if len(self._found) > self._most:
                return False
        for following in range(unit, len(self._sizes)):
            together = kept & (self._agree[taken[0][0]][following] if taken else self._agree[following][following])
            for count in range(1, self._sizes[following] + 1):
                values[self._values[following]] += count
                taken.append((following, count))
                fits = self._extend(following + 1, taken, together, values)
                taken.pop()
                values[self._values[following]] -= count
                if not values[self._values[following]]:
                    del values[self._values[following]]
                if not fits:
                    return False
        return True

    def _parts(self, rows: int, values: Counter[int]) -> bool:
        """Whether a group with so many rows of each sensitive value can be parted into two that are good, too.

        Values that occur twice can be in both parts; those that occur once must be shared out.
        """
        often = sum(count > 1 for count in values.values())
        once = len(values) - often
        missing = max(0, self._problem.l - often)
        return once >= 2 * missing and rows >= 2 * max(self._problem.k, self._problem.l)

    def _cost(self, kept: int) -> int:
        if self._problem.whole and kept != self._all:
            kept = 0
        if kept not in self._costs:
            weights = enumerate(self._problem.weights)
            self._costs[kept] = sum(weight for column, weight in weights if not kept >> column & 1)
        return self._costs[kept]


def _agreements(problem: Problem) -> list[list[int]]:
    """For every two units the columns in which they agree, as bits."""
    made = []
    for unit in range(problem.units):
        same = problem.codes == problem.codes[unit]
        if problem.missing_alone:
            same &= problem.codes > 0
        made.append([sum(1 << column for column in np.flatnonzero(row).tolist()) for row in same])
    return made
