"""From a problem to the best solution that there is time for: exact programs over patterns or groups, with bounds."""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlaudit.base import solver
from sqlaudit.base.solver import Floats, Program, solve
from sqlaudit.remedies.suppress.fast import MOST, Watch, choices, fast, improved
from sqlaudit.remedies.suppress.problem import PatternCandidates, Problem, Solution, candidates, reduced, solution_of
from sqlaudit.remedies.suppress.request import How

# The exact program over patterns: which anonymization patterns are open, and how many copies each of them gets.
#
# For a pattern p and a unit t that matches it, x(p,t) copies of t are attached to p, and y(p) says whether p is open:
#
#     minimize    sum cost(p) x(p,t)
#     subject to  sum_p x(p,t) = s(t)                      every copy is attached
#                 sum_t x(p,t) >= k y(p)                   an open pattern has k rows
#                 x(p,t) <= u(p,t) y(p)                    a closed one has none
#                 z(p,v) <= sum over t with value v of x(p,t),  z(p,v) <= y(p),  sum_v z(p,v) >= l y(p)
#
# The last line is for l > 1 alone. Once the y are chosen the rest is a network flow with whole bounds, so only the y
# have to be integers: corners of such programs are whole. u(p,t) is s(t), and for l = 1 at most 2k-2 unless p
# suppresses nothing: of more copies in p, so many could keep everything that both they and the rest of p are k, at a
# lower cost. Source: Chakaravarthy, Pandit, Sabharwal, section 4, with open patterns as variables instead of a loop
# over all subsets.

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
        """The values of the x and y that a solution is, and each z as high as the x allow."""
        values = np.zeros(len(self.program.costs))
        for unit, count, pattern in self.found.attached(start):
            values[int(self.found.starts[pattern]) + self.found.units[pattern].index(unit)] = count
            values[len(self.found.members) + pattern] = 1
        for there, attached in self.present:
            values[there] = min(1.0, sum(values[variable] for variable in attached))
        return values


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


# The exact program over groups, for few rows and many columns, where patterns explode and groups of rows do not.
#
# Every solution is a partition of the rows into groups that are large and diverse enough, and a group that can be
# parted into two such groups may be: each part costs no more than it did inside. So only groups that cannot be parted
# are needed; for l = 1 these have k to 2k-1 rows. With copies that are alike, a group is how many copies of each unit
# it has, and the program says how often each kind of group is used: minimize sum cost(g) n(g), where the sum over g of
# a(g,t) n(g) is s(t). Source: Chakaravarthy, Pandit, Sabharwal, section 2 (the partition view); the size of groups:
# Aggarwal et al., Anonymizing Tables, ICDT 2005.

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
        for unit, count, group in start.pieces:
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


# From a problem to the best solution that there is time for: fast first, then exact where possible, with a bound.

MOST_PAIRS = 250_000
"""Pairs of a pattern and a unit in the exact program."""
IMPROVED_PAIRS = 600_000
"""Pairs up to which a fast answer is improved."""
MOST_WORK = 20_000_000
"""Units that are looked at while its patterns are made."""
MOST_GROUPS = 60_000
"""Groups in the exact program over groups."""
RELAXED_PAIRS = 15_000
RELAXED_SECONDS = 10.0
"""Up to which size, and how long, a fast answer is compared with the relaxed program."""


@dataclass(frozen=True)
class Decided:
    """A solution with what is known of its quality.

    Args:
        solution: the best one found. bound: no solution costs less.
        method: what found the bound: `patterns`, `groups` (the exact programs), `relaxed` or `counting`.
        stopped: why the exact program did not end: `time`, `interrupted`, `size`, or empty.
        variables: of the program, 0 when there was none. patterns: that the program chooses from.
        fast_cost: what the fast way alone found.
    """

    solution: Solution
    bound: int
    method: str
    stopped: str
    variables: int
    patterns: int
    fast_cost: int

    @property
    def optimal(self) -> bool:
        """Whether no solution costs less."""
        return self.solution.cost == self.bound


def decide(problem: Problem, how: How, seconds: float | None, watch: Watch | None = None) -> Decided:
    """The best solution that there is time for.

    Args:
        problem: what is asked; the whole table as one group satisfies it.
        how: exactly or not. seconds: for the exact program. watch: told of progress.

    Raises:
        MissingDriver: an exact answer was asked for, and there is no solver.
    """
    asked, problem = problem, reduced(problem)
    found = _decide(problem, how, seconds, watch or (lambda step, share: None))
    best = found.solution
    return replace(found, solution=solution_of(asked, best.units, best.copies, best.groups))


def _decide(problem: Problem, how: How, seconds: float | None, watch: Watch) -> Decided:
    started = time.monotonic()
    start = fast(problem, watch)
    found = Decided(start, 0, "counting", "", 0, 0, start.cost)
    try:
        found = _bounded(found, base_cost(problem), "counting")
        if found.optimal:
            return found
        watch("making patterns", None)
        chosen = candidates(problem, IMPROVED_PAIRS, MOST_WORK)
        if chosen is not None:
            watch("improving the answer", None)
            better = improved(problem, chosen, start)
            found = replace(found, solution=better, fast_cost=better.cost)
        if found.optimal:
            return found
        if how is How.FAST or (how is How.AUTO and not solver.available()):
            return _relaxed(problem, found, chosen)
        left = None if seconds is None else seconds - (time.monotonic() - started)
        return _exact(problem, found, chosen, left, watch)
    except KeyboardInterrupt:
        return replace(found, stopped="interrupted")


def _exact(
    problem: Problem, found: Decided, chosen: PatternCandidates | None, seconds: float | None, watch: Watch
) -> Decided:
    watch("making the program", None)
    made = _program(problem, chosen)
    if made is None:
        return replace(found, stopped="size")
    program, method = made
    watch("solving the program", None)
    answer = program.solved(problem, _step(problem), found.solution, seconds)
    best = found.solution
    if answer.best is not None and answer.best.cost < best.cost:
        best = answer.best
    patterns = chosen.patterns if chosen and method == "patterns" else 0
    found = replace(
        found, solution=best, stopped=answer.stopped, variables=len(program.program.costs), patterns=patterns
    )
    return _bounded(found, _whole(answer.bound, problem), method)


def _program(problem: Problem, chosen: PatternCandidates | None) -> tuple[PatternProgram | GroupProgram, str] | None:
    """The smaller one of the two exact programs, with its name; None when both are too large."""
    pairs = len(chosen.members) if chosen else MOST_PAIRS
    groups = group_program(problem, min(MOST_GROUPS, pairs))
    if groups is not None:
        return groups, "groups"
    return (pattern_program(problem, chosen), "patterns") if chosen and pairs <= MOST_PAIRS else None


def _relaxed(problem: Problem, found: Decided, chosen: PatternCandidates | None) -> Decided:
    """A fast answer with the bound of the relaxed program, where that is small."""
    if chosen is None or len(chosen.members) > RELAXED_PAIRS or not solver.available():
        return found
    solved = solver.solve(pattern_program(problem, chosen).program, step=1, seconds=RELAXED_SECONDS, relaxed=True)
    if solved.stopped == "interrupted":
        return replace(found, stopped="interrupted")
    return _bounded(found, _whole(solved.bound, problem), "relaxed")


def _step(problem: Problem) -> int:
    """Costs of solutions differ by multiples of it."""
    return math.gcd(*problem.weights) or 1


def _whole(bound: float, problem: Problem) -> int:
    """The lowest cost that a bound leaves, up to the tolerance of the solver."""
    if not math.isfinite(bound):
        return 0
    step = _step(problem)
    return math.ceil((bound - 1e-6 - 1e-9 * abs(bound)) / step) * step


def _bounded(found: Decided, bound: int, method: str) -> Decided:
    """With a further bound, if it is better; no bound is above what a solution costs."""
    if bound <= found.bound and method not in {"patterns", "groups"}:
        return found
    return replace(found, bound=min(max(bound, found.bound), found.solution.cost), method=method)


# A lower bound for every solution: what each row pays at least, whatever the others do.
#
# A row can only be published under a pattern that has k compatible rows and l sensitive values among them, so it pays
# at least what the cheapest of these costs; the sum over all rows is a bound. (The base cost in the hardness proof of
# Chakaravarthy, Pandit, Sabharwal is of this kind.)


def base_cost(problem: Problem, most: int = MOST) -> int:
    """What all rows pay at least.

    Args:
        problem: what is asked. most: choices of columns that are looked at; rows that none of them settles count with
            the cost that was reached.

    Example:
        >>> three = Problem(np.array([[1, 1], [1, 2], [2, 3]]), np.array([1, 1, 2]), np.zeros(3, int), 2, 1, (1, 1))
        >>> base_cost(three)
        2
    """
    if problem.trivial:
        return 0
    everything = np.ones(problem.units, dtype=np.bool_)
    open_ = everything.copy()
    total = reached = 0
    for looked, (cost, kept) in enumerate(choices(problem, most)):
        reached = cost if looked < most else reached  # a chain leaves choices out
        if looked >= most:
            continue
        units, _ = problem.grouped(kept, everything, problem.sizes)
        settled = units[open_[units]]
        total += cost * int(problem.sizes[settled].sum())
        open_[settled] = False
        if not open_.any():
            return _of_a_group(problem, total)
    return _of_a_group(problem, total + reached * int(problem.sizes[open_].sum()))


def _of_a_group(problem: Problem, cost: int) -> int:
    """No row pays alone: where one has to, all k rows of its group do."""
    return max(cost, problem.k * min(problem.weights)) if cost else 0
