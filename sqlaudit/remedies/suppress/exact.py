"""From a problem to the best solution that there is time for: exact programs over patterns or groups, with bounds."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice

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
class ProgramAnswer:
    """What an exact program said.

    Args:
        best: the best solution it knows, None for none. bound: no solution costs less. stopped: why it ended early.
    """

    best: Solution | None
    bound: float
    stopped: str = ""


@dataclass(frozen=True)
class ExactProgram(ABC):
    """A program, and what its variables mean."""

    program: Program

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

    @abstractmethod
    def _read(self, problem: Problem, values: Floats, step: int) -> Solution | None:
        """The partition that values mean."""

    @abstractmethod
    def _values(self, start: Solution) -> Floats | None:
        """The values that a solution has; None when the program has no variables for it."""


@dataclass(frozen=True)
class PatternProgram(ExactProgram):
    """The program with the meaning of its variables.

    Args:
        program: variables 0 … pairs-1 are the x in the order of the candidates' members, then the y, then the z.
        found: the candidates. present: each z with the x of its pattern and sensitive value.
    """

    found: PatternCandidates
    present: Sequence[tuple[int, list[int]]] = ()

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

    def over(self, opened: Floats, start: Solution, *, alone: bool) -> PatternProgram:
        """The program over what these values open, if in part, and a solution: with all rows of the patterns that are
        open, or `alone` those that are attached."""
        pairs, uppers = len(self.found.members), np.array(self.program.uppers)
        attached, is_open, _ = np.split(
            np.maximum(opened, self._values(start)) > _NEAR, [pairs, pairs + self.found.patterns]
        )
        used = np.concatenate([attached if alone else is_open[self.found.owner], is_open])
        uppers[: len(used)][~used] = 0
        return replace(self, program=replace(self.program, uppers=uppers.tolist()))

    def _values(self, start: Solution) -> Floats:
        """The values of the x and y that a solution is, and each z as high as the x allow."""
        values = np.zeros(len(self.program.costs))
        for unit, count, pattern in self.found.attached(start):
            values[int(self.found.starts[pattern]) + self.found.units[pattern].index(unit)] = count
            values[len(self.found.members) + pattern] = 1
        for there, attached in self.present:
            values[there] = min(1.0, sum(values[variable] for variable in attached))
        return values


def pattern_program(problem: Problem, found: PatternCandidates) -> PatternProgram:
    """The program over the candidates."""
    program = Program()
    pairs = list(zip(found.owner.tolist(), found.members.tolist(), strict=True))
    most = problem.sizes[found.members]
    if problem.l == 1 and not problem.missing_alone:
        free = (found.costs == 0)[found.owner]
        most = np.where(free, most, np.minimum(most, max(1, 2 * problem.k - 2)))
    bounds: list[float] = most.astype(np.float64).tolist()
    costs = found.costs[found.owner].astype(np.float64).tolist()
    x = [program.variable(cost, bound, whole=False) for cost, bound in zip(costs, bounds, strict=True)]
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
class GroupProgram(ExactProgram):
    """The program with the groups that its variables count."""

    groups: Sequence[Group]

    def _read(self, problem: Problem, values: Floats, step: int) -> Solution:
        times = np.rint(values).astype(np.int64).tolist()
        used = [group for group, often in zip(self.groups, times, strict=True) for _ in range(often)]
        pieces = [(unit, count, number) for number, group in enumerate(used) for unit, count in group]
        return solution_of(problem, *np.array(pieces, dtype=np.int64).T)

    def _values(self, start: Solution) -> Floats | None:
        """How often each group is used in a solution; None when one of its groups can be parted."""
        used: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for unit, count, group in start.pieces:
            used[group].append((unit, count))
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
    groups = _groups(problem, most)
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


def _groups(problem: Problem, most: int) -> list[tuple[Group, int]] | None:
    """All groups that are large and diverse enough and cannot be parted, with what a row of each costs; None when there
    are more than allowed."""
    found: list[tuple[Group, int]] = []
    everything = (1 << problem.width) - 1

    @cache
    def cost(kept: int) -> int:
        return sum(weight for column, weight in enumerate(problem.weights) if not kept >> column & 1)

    for looked, (taken, kept, is_found) in enumerate(_walk(problem), 1):
        if is_found:
            found.append((taken, cost(0 if problem.whole and kept != everything else kept)))
        if looked > 4 * most + 1000 or len(found) > most:
            return None
    return found


def _walk(problem: Problem) -> Iterator[tuple[Group, int, bool]]:
    """Copies, taken unit by unit, with the columns in which they agree, and whether they are a group that cannot be
    parted; nothing larger than one that can, as that can be parted, too."""
    sizes, sensitive, agree = problem.sizes.tolist(), problem.sensitive.tolist(), _agreements(problem)
    values = [0] * (max(sensitive) + 1)

    def extend(unit: int, taken: Group, kept: int, rows: int) -> Iterator[tuple[Group, int, bool]]:
        good = can_be_parted = False
        if taken and rows >= problem.k:
            present = [count for count in values if count]
            good = len(present) >= problem.l
            # in two parts that are good, too: values that occur twice can be in both, those that occur once are shared
            once = present.count(1)
            shared = once >= 2 * max(0, problem.l - len(present) + once)
            can_be_parted = good and shared and rows >= 2 * max(problem.k, problem.l)
        yield taken, kept, good and not can_be_parted
        if can_be_parted:
            return
        for following in range(unit, problem.units):
            together = kept & agree[taken[0][0] if taken else following][following]
            for count in range(1, sizes[following] + 1):
                values[sensitive[following]] += count
                yield from extend(following + 1, (*taken, (following, count)), together, rows + count)
                values[sensitive[following]] -= count

    return extend(0, (), (1 << problem.width) - 1, 0)


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
SMALL_PAIRS = 15_000
"""Pairs up to which the exact program is solved at once, and a fast answer is compared with the relaxed one."""
RELAXED_SECONDS = 10.0
"""How long a fast answer is compared with the relaxed program."""


@dataclass(frozen=True)
class Decided:
    """A solution with what is known of its quality.

    Args:
        solution: the best one found. bound: no solution costs less.
        method: what found the bound: `patterns`, `groups` (the exact programs), `relaxed` or `counting`.
        stopped: why the exact program was not solved: `time`, `interrupted`, `size`, or empty.
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
        how: exactly or not. seconds: that the search may take. watch: told of progress.

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
            if chosen is None or len(chosen.members) > SMALL_PAIRS or not solver.available():
                return found
            return _relaxed(problem, found, pattern_program(problem, chosen).program, RELAXED_SECONDS)[0]
        left = math.inf if seconds is None else seconds
        return _proven(problem, found, chosen, how, started + left, watch)
    except KeyboardInterrupt:
        return replace(found, stopped="interrupted")


def _proven(
    problem: Problem, found: Decided, chosen: PatternCandidates | None, how: How, end: float, watch: Watch
) -> Decided:
    """A solution with a proof: of a small program, or when it was asked for, that none costs less; else how far it may
    be from that, for which the solver takes a fraction of the time and memory. `end`: when, by `time.monotonic`."""
    watch("making the program", None)
    # the smaller one of the two exact programs
    pairs = len(chosen.members) if chosen else MOST_PAIRS
    groups, patterns = group_program(problem, min(MOST_GROUPS, pairs)), None
    if groups is None and chosen and pairs <= MOST_PAIRS:
        patterns = pattern_program(problem, chosen)
    program = groups or patterns
    if program is None:
        return replace(found, stopped="size")
    watch("solving the program", None)
    found = replace(found, variables=len(program.program.costs), patterns=patterns.found.patterns if patterns else 0)
    if patterns and pairs > SMALL_PAIRS:
        found, opened = _relaxed(problem, found, patterns.program, _left(end))
        for alone in (True, False):
            if opened is not None and not found.optimal and not found.stopped:
                found, _ = _solved(problem, found, patterns.over(opened, found.solution, alone=alone), end)
        if found.optimal or found.stopped:
            return found
        if how is How.AUTO:
            return replace(found, stopped="size")
    found, bound = _solved(problem, found, program, end)
    return _bounded(found, _whole(bound, problem), "groups" if groups else "patterns")


def _left(end: float) -> float | None:
    return None if end == math.inf else end - time.monotonic()


def _solved(problem: Problem, found: Decided, program: ExactProgram, end: float) -> tuple[Decided, float]:
    """With the solution of a program, if it is better, and the bound of that program."""
    answer = program.solved(problem, _step(problem), found.solution, _left(end))
    if answer.best is not None and answer.best.cost < found.solution.cost:
        found = replace(found, solution=answer.best)
    return replace(found, stopped=answer.stopped), answer.bound


def _relaxed(
    problem: Problem, found: Decided, program: Program, seconds: float | None
) -> tuple[Decided, Floats | None]:
    """With the bound of the program without whole numbers, and the values of its variables."""
    solved = solve(program, step=1, seconds=seconds, relaxed=True)
    found = _bounded(found, _whole(solved.bound, problem), "relaxed")
    return replace(found, stopped=solved.stopped), solved.values


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


def base_cost(problem: Problem) -> int:
    """What all rows pay at least.

    Args:
        problem: what is asked; rows that none of the choices of columns settles count with the cost that was reached.

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
    for reached, kept in islice(choices(problem), MOST):  # a chain, which comes then, leaves choices out
        units, _ = problem.grouped(kept, everything, problem.sizes)
        settled = units[open_[units]]
        total += reached * int(problem.sizes[settled].sum())
        open_[settled] = False
        if not open_.any():
            break
    total += reached * int(problem.sizes[open_].sum())
    # no row pays alone: where one has to, all k rows of its group do
    return max(total, problem.k * min(problem.weights)) if total else 0
