"""The exact program over patterns: which anonymization patterns are open, and how many copies each of them gets.

For a pattern p and a unit t that matches it, x(p,t) copies of t are attached to p, and y(p) says whether p is open:

    minimize    sum cost(p) x(p,t)
    subject to  sum_p x(p,t) = s(t)                      every copy is attached
                sum_t x(p,t) >= k y(p)                   an open pattern has k rows
                x(p,t) <= u(p,t) y(p)                    a closed one has none
                z(p,v) <= sum over t with value v of x(p,t),  z(p,v) <= y(p),  sum_v z(p,v) >= l y(p)

The last line is for l > 1 alone. Once the y are chosen the rest is a network flow with whole bounds, so only the y have
to be integers: corners of such programs are whole. u(p,t) is s(t), and for l = 1 at most 2k-2 unless p suppresses
nothing: of more copies in p, so many could keep everything that both they and the rest of p are k, at a lower cost.
Source: Chakaravarthy, Pandit, Sabharwal, section 4, with open patterns as variables instead of a loop over all subsets.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlaudit.remedies.suppress.candidates import PatternCandidates
from sqlaudit.remedies.suppress.problem import Problem, Solution, solution_of
from sqlaudit.remedies.suppress.solver import Floats, Program, solve

_NEAR = 1e-6


@dataclass(frozen=True)
class PatternProgram:
    """The program with the meaning of its variables.

    Args:
        program: variables 0 … pairs-1 are the x in the order of the candidates' members, then the y, then the z.
        found: the candidates. present: each z with the x of its pattern and sensitive value.
    """

    program: Program
    found: PatternCandidates
    present: Sequence[tuple[int, list[int]]] = ()

    def solved(self, problem: Problem, step: int, start: Solution | None, seconds: float | None) -> ProgramAnswer:
        """The best solution, with a bound.

        Args:
            problem: what is asked. step: costs differ by multiples of it. start: a solution to begin with.
            seconds: the time it may take.
        """
        given = self._values(start) if start is not None else None
        solved = solve(self.program, step=step, start=given, seconds=seconds)
        best = self._read(problem, solved.values, step) if solved.values is not None else None
        return ProgramAnswer(best, solved.bound, solved.stopped)

    def _read(self, problem: Problem, values: Floats, step: int) -> Solution | None:
        """The partition that values mean; where an x is not whole, a corner with the same open patterns has whole ones.
        None when values within the solver's tolerance are no solution in whole numbers."""
        attached = values[: len(self.found.members)]
        closed = values[len(attached) : len(attached) + self.found.patterns] < 0.5
        astray = np.abs(attached - np.where(closed[self.found.owner], 0, np.rint(attached)))
        corner = self._corner(values, step) if astray.max(initial=0) > _NEAR else attached
        if corner is None:
            return None
        copies = np.rint(corner).astype(np.int64)
        used = copies > 0
        return solution_of(problem, self.found.members[used], copies[used], self.found.owner[used])

    def _corner(self, values: Floats, step: int) -> Floats | None:
        pairs, patterns = len(self.found.members), self.found.patterns
        lowers, uppers = list(self.program.lowers), list(self.program.uppers)
        for place in range(pairs, pairs + patterns):
            lowers[place] = uppers[place] = float(round(values[place]))
        corner = solve(replace(self.program, lowers=lowers, uppers=uppers), step=step, relaxed=True)
        return None if corner.values is None else corner.values[:pairs]

    def _values(self, start: Solution) -> Floats:
        """The values of the x, y and z that a solution is. Its patterns are candidates: what they star differs."""
        values = np.zeros(len(self.program.costs))
        pattern_of = {
            (kept, unit): pattern for pattern, kept in enumerate(self.found.kept) for unit in self._members(pattern)
        }
        kept = [tuple(np.flatnonzero(~row).tolist()) for row in start.starred]
        for unit, count, group in zip(start.units.tolist(), start.copies.tolist(), start.groups.tolist(), strict=True):
            pattern = pattern_of[kept[group], unit]
            place = int(self.found.starts[pattern]) + self._members(pattern).index(unit)
            values[place] = count
            values[len(self.found.members) + pattern] = 1
        self._tell_values_apart(values)
        return values

    def _members(self, pattern: int) -> list[int]:
        members: list[int] = self.found.members[self.found.starts[pattern] : self.found.starts[pattern + 1]].tolist()
        return members

    def _tell_values_apart(self, values: Floats) -> None:
        """Set each z as high as the x allow."""
        for there, attached in self.present:
            values[there] = min(1.0, sum(values[variable] for variable in attached))


@dataclass(frozen=True)
class ProgramAnswer:
    """What an exact program said.

    Args:
        best: the best solution it knows, None for none. bound: no solution costs less. stopped: why it ended early.
    """

    best: Solution | None
    bound: float
    stopped: str = ""


def pattern_program(problem: Problem, found: PatternCandidates) -> PatternProgram:
    """The program over the candidates."""
    program = Program()
    pairs = list(zip(found.owner.tolist(), found.members.tolist(), strict=True))
    bounds = _most(problem, found)
    x = [
        program.variable(float(found.costs[p]), bound, whole=False) for (p, _), bound in zip(pairs, bounds, strict=True)
    ]
    y = [program.variable(0.0, 1.0, whole=True) for _ in range(found.patterns)]
    by_pattern: list[list[int]] = [[] for _ in range(found.patterns)]
    by_unit: list[list[int]] = [[] for _ in range(problem.units)]
    for place, (pattern, unit) in enumerate(pairs):
        by_pattern[pattern].append(place)
        by_unit[unit].append(place)
        program.row([(x[place], 1.0), (y[pattern], -bounds[place])], -math.inf, 0.0)
    for pattern, places in enumerate(by_pattern):
        program.row([*((x[place], 1.0) for place in places), (y[pattern], -float(problem.k))], 0.0, math.inf)
    for unit, places in enumerate(by_unit):
        size = float(problem.sizes[unit])
        program.row([(x[place], 1.0) for place in places], size, size)
    present: list[tuple[int, list[int]]] = []
    if problem.l > 1:
        for pattern, places in enumerate(by_pattern):
            present += _diverse(program, problem, y[pattern], {x[place]: pairs[place][1] for place in places})
    return PatternProgram(program, found, present)


def _most(problem: Problem, found: PatternCandidates) -> list[float]:
    """How many copies of a unit a pattern may get, for each pair."""
    sizes = problem.sizes[found.members]
    if problem.l == 1 and not problem.missing_alone:
        free = (found.costs == 0)[found.owner]
        sizes = np.where(free, sizes, np.minimum(sizes, max(1, 2 * problem.k - 2)))
    most: list[float] = sizes.astype(np.float64).tolist()
    return most


def _diverse(program: Program, problem: Problem, is_open: int, members: dict[int, int]) -> list[tuple[int, list[int]]]:
    """An open pattern has l sensitive values; returns each z with its x."""
    by_value: dict[int, list[int]] = defaultdict(list)
    for variable, unit in members.items():
        by_value[int(problem.sensitive[unit])].append(variable)
    present: list[tuple[int, list[int]]] = []
    for variables in by_value.values():
        there = program.variable(0.0, 1.0, whole=False)
        present.append((there, variables))
        program.row([(there, 1.0), *((variable, -1.0) for variable in variables)], -math.inf, 0.0)
        program.row([(there, 1.0), (is_open, -1.0)], -math.inf, 0.0)
    program.row([*((there, 1.0) for there, _ in present), (is_open, -float(problem.l))], 0.0, math.inf)
    return present
