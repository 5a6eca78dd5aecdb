"""Find the best solution within the time: exact programs over patterns or groups, with lower bounds."""

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
from sqlaudit.remedies.suppress.fast import MOST, Watch, column_choices, improve, solve_fast
from sqlaudit.remedies.suppress.problem import (
    PatternCandidates,
    Problem,
    Solution,
    find_candidates,
    make_solution,
    merge_equal_columns,
)
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

_TOLERANCE = 1e-6


@dataclass(frozen=True)
class ProgramAnswer:
    """The answer of an exact program.

    Args:
        best: the best solution that it found, None for none.
        bound: a lower bound of the cost.
        stopped: the reason why it ended early, empty if it did not.
    """

    best: Solution | None
    bound: float
    stopped: str = ""


@dataclass(frozen=True)
class ExactProgram(ABC):
    """A program, and the meaning of its variables."""

    program: Program

    def solve(self, problem: Problem, step: int, start: Solution | None, seconds: float | None) -> ProgramAnswer:
        """Return the best solution, with a bound.

        Args:
            problem: the problem.
            step: costs of solutions are multiples of it.
            start: a solution to begin with.
            seconds: the time for the solver, None = no limit.
        """
        start_values = self._values(start) if start is not None else None
        answer = solve(self.program, step=step, start=start_values, seconds=seconds)
        best = self._read(problem, answer.values, step) if answer.values is not None else None
        return ProgramAnswer(best, answer.bound, answer.stopped)

    @abstractmethod
    def _read(self, problem: Problem, values: Floats, step: int) -> Solution | None:
        """Return the partition that values stand for."""

    @abstractmethod
    def _values(self, start: Solution) -> Floats | None:
        """Return the values of a solution, None if the program has no variables for it."""


@dataclass(frozen=True)
class PatternProgram(ExactProgram):
    """The program with the meaning of its variables.

    Args:
        program: variables 0 … pairs-1 are the x in the order of the candidates' members, then the y, then the z.
        found: the candidates. present: each z with the x of its pattern and sensitive value.
    """

    candidates: PatternCandidates
    present: Sequence[tuple[int, list[int]]] = ()

    def _read(self, problem: Problem, values: Floats, step: int) -> Solution | None:
        """Return the partition that the solver's values stand for: x, y and z in the order of the comment above.

        Only the y are whole numbers to the solver. If an x is not, or is above 0 where its pattern is closed, the
        program is solved again with these y fixed, and its corner has whole x. Return None if there is no such
        solution.
        """
        x = values[: len(self.candidates.members)]
        is_closed = values[len(x) : len(x) + self.candidates.patterns] < 0.5
        off_by = np.abs(x - np.where(is_closed[self.candidates.owner], 0, np.rint(x)))
        corner = self._corner(values, step) if off_by.max(initial=0) > _TOLERANCE else x
        if corner is None:
            return None
        copies = np.rint(corner).astype(np.int64)
        used = copies > 0
        return make_solution(problem, self.candidates.members[used], copies[used], self.candidates.owner[used])

    def _corner(self, values: Floats, step: int) -> Floats | None:
        """Return the x of a corner of the program with its y fixed, None if there is none."""
        pairs, patterns = len(self.candidates.members), self.candidates.patterns
        lowers, uppers = list(self.program.lowers), list(self.program.uppers)
        for variable in range(pairs, pairs + patterns):
            lowers[variable] = uppers[variable] = float(round(values[variable]))
        corner = solve(replace(self.program, lowers=lowers, uppers=uppers), step=step, relaxed=True)
        return None if corner.values is None else corner.values[:pairs]

    def over(self, opened: Floats, start: Solution, *, only_attached: bool) -> PatternProgram:
        """Return the program restricted to patterns that these values or a solution open, even in part.

        Args:
            opened: values of the relaxed program.
            start: the solution.
            only_attached: restrict the x to those above 0. Otherwise all rows of open patterns stay.
        """
        pairs, uppers = len(self.candidates.members), np.array(self.program.uppers)
        attached, is_open, _ = np.split(
            np.maximum(opened, self._values(start)) > _TOLERANCE, [pairs, pairs + self.candidates.patterns]
        )
        used = np.concatenate([attached if only_attached else is_open[self.candidates.owner], is_open])
        uppers[: len(used)][~used] = 0
        return replace(self, program=replace(self.program, uppers=uppers.tolist()))

    def _values(self, start: Solution) -> Floats:
        """Return the x and y of a solution, and each z as high as the x allow."""
        values = np.zeros(len(self.program.costs))
        for unit, count, pattern in self.candidates.attached(start):
            values[int(self.candidates.starts[pattern]) + self.candidates.units[pattern].index(unit)] = count
            values[len(self.candidates.members) + pattern] = 1
        for presence, attached in self.present:
            values[presence] = min(1.0, sum(values[variable] for variable in attached))
        return values


def pattern_program(problem: Problem, candidates: PatternCandidates) -> PatternProgram:
    """Return the program over the candidates."""
    program = Program()
    pairs = list(zip(candidates.owner.tolist(), candidates.members.tolist(), strict=True))
    most = problem.sizes[candidates.members]
    if problem.l == 1 and not problem.missing_alone:
        free = (candidates.costs == 0)[candidates.owner]
        most = np.where(free, most, np.minimum(most, max(1, 2 * problem.k - 2)))
    bounds: list[float] = most.astype(np.float64).tolist()
    costs = candidates.costs[candidates.owner].astype(np.float64).tolist()
    x = [program.variable(cost, bound, whole=False) for cost, bound in zip(costs, bounds, strict=True)]
    y = [program.variable(0.0, 1.0, whole=True) for _ in range(candidates.patterns)]
    by_pattern: list[list[int]] = [[] for _ in range(candidates.patterns)]
    by_unit: list[list[int]] = [[] for _ in range(problem.units)]
    for pair, (pattern, unit) in enumerate(pairs):
        by_pattern[pattern].append(pair)
        by_unit[unit].append(pair)
        program.row([(x[pair], 1.0), (y[pattern], -bounds[pair])], -math.inf, 0.0)
    for pattern, pairs_inside in enumerate(by_pattern):
        program.row([*((x[pair], 1.0) for pair in pairs_inside), (y[pattern], -float(problem.k))], 0.0, math.inf)
    for unit, pairs_inside in enumerate(by_unit):
        size = float(problem.sizes[unit])
        program.row([(x[pair], 1.0) for pair in pairs_inside], size, size)
    present: list[tuple[int, list[int]]] = []
    if problem.l > 1:
        for pattern, pairs_inside in enumerate(by_pattern):
            present += _require_diversity(
                program, problem, y[pattern], {x[pair]: pairs[pair][1] for pair in pairs_inside}
            )
    return PatternProgram(program, candidates, present)


def _require_diversity(
    program: Program, problem: Problem, is_open: int, members: dict[int, int]
) -> list[tuple[int, list[int]]]:
    """Add the rows by which an open pattern has l sensitive values. Return each z with its x."""
    by_value: dict[int, list[int]] = defaultdict(list)
    for variable, unit in members.items():
        by_value[int(problem.sensitive[unit])].append(variable)
    present: list[tuple[int, list[int]]] = []
    for variables in by_value.values():
        presence = program.variable(0.0, 1.0, whole=False)
        present.append((presence, variables))
        program.row([(presence, 1.0), *((variable, -1.0) for variable in variables)], -math.inf, 0.0)
        program.row([(presence, 1.0), (is_open, -1.0)], -math.inf, 0.0)
    program.row([*((presence, 1.0) for presence, _ in present), (is_open, -float(problem.l))], 0.0, math.inf)
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
    """The program over groups. A variable counts how often its group is used."""

    groups: Sequence[Group]

    def _read(self, problem: Problem, values: Floats, step: int) -> Solution:
        uses = np.rint(values).astype(np.int64).tolist()
        used = [group for group, use_count in zip(self.groups, uses, strict=True) for _ in range(use_count)]
        pieces = [(unit, count, number) for number, group in enumerate(used) for unit, count in group]
        return make_solution(problem, *np.array(pieces, dtype=np.int64).T)

    def _values(self, start: Solution) -> Floats | None:
        """Return how often each group is used in a solution, None if one of its groups can be divided."""
        used: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for unit, count, group in start.pieces:
            used[group].append((unit, count))
        counts = Counter(tuple(sorted(group)) for group in used.values())
        if not counts.keys() <= set(self.groups):
            return None
        return np.array([float(counts[group]) for group in self.groups])


def group_program(problem: Problem, most: int) -> GroupProgram | None:
    """Return the program over groups, None if there are too many groups.

    Args:
        problem: the problem.
        most: the largest number of groups.
    """
    if problem.l == 1 and math.comb(problem.units, problem.k) > most:  # the number of groups with one copy of each unit
        return None
    groups = _minimal_groups(problem, most)
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


def _minimal_groups(problem: Problem, most: int) -> list[tuple[Group, int]] | None:
    """Return all groups that are large and diverse enough and cannot be divided, with the cost of a row of each.

    Return None if there are more than `most`.
    """
    groups: list[tuple[Group, int]] = []
    everything = (1 << problem.width) - 1

    @cache
    def cost(common: int) -> int:
        return sum(weight for column, weight in enumerate(problem.weights) if not common >> column & 1)

    for looked, (group, common, is_minimal) in enumerate(_walk_groups(problem), 1):
        if is_minimal:
            groups.append((group, cost(0 if problem.whole_rows and common != everything else common)))
        if looked > 4 * most + 1000 or len(groups) > most:
            return None
    return groups


def _walk_groups(problem: Problem) -> Iterator[tuple[Group, int, bool]]:
    """Yield groups, extended unit by unit, as (copies, common columns, whether the group is valid and minimal).

    A group that can be divided is not extended, because every larger one can be divided, too.
    """
    sizes, sensitive, agree = problem.sizes.tolist(), problem.sensitive.tolist(), _agreements(problem)
    values = [0] * (max(sensitive) + 1)

    def extend(unit: int, group: Group, common: int, rows: int) -> Iterator[tuple[Group, int, bool]]:
        """Yield a group and its extensions by units from `unit` on."""
        is_valid = can_be_parted = False
        if group and rows >= problem.k:
            present = [count for count in values if count]
            is_valid = len(present) >= problem.l
            # Two valid parts: values that occur twice can be in both, those that occur once are distributed
            single_values = present.count(1)
            shared = single_values >= 2 * max(0, problem.l - len(present) + single_values)
            can_be_parted = is_valid and shared and rows >= 2 * max(problem.k, problem.l)
        yield group, common, is_valid and not can_be_parted
        if can_be_parted:
            return
        for following in range(unit, problem.units):
            together = common & agree[group[0][0] if group else following][following]
            for count in range(1, sizes[following] + 1):
                values[sensitive[following]] += count
                yield from extend(following + 1, (*group, (following, count)), together, rows + count)
                values[sensitive[following]] -= count

    return extend(0, (), (1 << problem.width) - 1, 0)


def _agreements(problem: Problem) -> list[list[int]]:
    """Return for every two units the columns in which they agree, as bits."""
    agreements = []
    for unit in range(problem.units):
        is_equal = problem.codes == problem.codes[unit]
        if problem.missing_alone:
            is_equal &= problem.codes > 0
        agreements.append([sum(1 << column for column in np.flatnonzero(row).tolist()) for row in is_equal])
    return agreements


# The best solution within the time: first a fast one, then an exact one where possible, with a lower bound.

MOST_PAIRS = 250_000
"""Largest number of pairs of a pattern and a unit in the exact program."""
IMPROVED_PAIRS = 600_000
"""Largest number of pairs with which a fast answer is improved."""
MOST_WORK = 20_000_000
"""Largest number of units to look at while patterns are made."""
MOST_GROUPS = 60_000
"""Largest number of groups in the exact program over groups."""
SMALL_PAIRS = 15_000
"""Largest number of pairs with which the exact program is solved at once, and a fast answer bounded by relaxation."""
RELAXED_SECONDS = 10.0
"""Seconds to bound a fast answer by the relaxed program."""


@dataclass(frozen=True)
class BoundedSolution:
    """A solution with a lower bound of the cost.

    Args:
        solution: the best solution so far.
        bound: the lower bound.
        method: the method of the bound: `patterns`, `groups` (the exact programs), `relaxed` or `counting`.
        stopped: why the exact program was not solved: `time`, `interrupted`, `size`, or empty.
        variables: the number of variables of the program, 0 without one.
        patterns: the number of patterns that the program chooses from.
        fast_cost: the cost of the fast solution.
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
        """Return True if no solution costs less."""
        return self.solution.cost == self.bound


def decide(problem: Problem, how: How, seconds: float | None, watch: Watch | None = None) -> BoundedSolution:
    """Return the best solution within the time.

    Args:
        problem: the problem; the whole table as one group satisfies it.
        how: exact, fast, or by size.
        seconds: the time for the search, None = no limit.
        watch: called with the progress.

    Raises:
        MissingDriver: an exact answer is required, and there is no solver.
    """
    original, problem = problem, merge_equal_columns(problem)
    decided = _decide(problem, how, seconds, watch or (lambda step, share: None))
    best = decided.solution
    return replace(decided, solution=make_solution(original, best.units, best.copies, best.groups))


def _decide(problem: Problem, how: How, seconds: float | None, watch: Watch) -> BoundedSolution:
    """Return the fast solution, improved and bounded as far as the method and the time allow."""
    started = time.monotonic()
    start = solve_fast(problem, watch)
    current = BoundedSolution(start, 0, "counting", "", 0, 0, start.cost)
    try:
        current = _with_bound(current, lower_bound(problem), "counting")
        if current.optimal:
            return current
        watch("making patterns", None)
        patterns = find_candidates(problem, IMPROVED_PAIRS, MOST_WORK)
        if patterns is not None:
            watch("improving the answer", None)
            better = improve(problem, patterns, start)
            current = replace(current, solution=better, fast_cost=better.cost)
        if current.optimal:
            return current
        if how is How.FAST or (how is How.AUTO and not solver.available()):
            if patterns is None or len(patterns.members) > SMALL_PAIRS or not solver.available():
                return current
            program = pattern_program(problem, patterns).program
            return _bound_by_relaxation(problem, current, program, RELAXED_SECONDS)[0]
        budget = math.inf if seconds is None else seconds
        return _decide_exactly(problem, current, patterns, how, started + budget, watch)
    except KeyboardInterrupt:
        return replace(current, stopped="interrupted")


def _decide_exactly(
    problem: Problem, current: BoundedSolution, candidates: PatternCandidates | None, how: How, end: float, watch: Watch
) -> BoundedSolution:
    """Return the solution of the exact program, with a proof that none costs less.

    A large program is solved only if `how` is exact. Otherwise the relaxed program bounds the cost, which takes the
    solver a fraction of the time and memory.

    Args:
        end: the end of the time, by `time.monotonic`.
    """
    watch("making the program", None)
    # Use the smaller one of the two exact programs
    pairs = len(candidates.members) if candidates else MOST_PAIRS
    groups, patterns = group_program(problem, min(MOST_GROUPS, pairs)), None
    if groups is None and candidates and pairs <= MOST_PAIRS:
        patterns = pattern_program(problem, candidates)
    program = groups or patterns
    if program is None:
        return replace(current, stopped="size")
    watch("solving the program", None)
    current = replace(
        current, variables=len(program.program.costs), patterns=patterns.candidates.patterns if patterns else 0
    )
    if patterns and pairs > SMALL_PAIRS:
        current, opened = _bound_by_relaxation(problem, current, patterns.program, _seconds_left(end))
        for only_attached in (True, False):
            if opened is not None and not current.optimal and not current.stopped:
                current, _ = _improve_by_program(
                    problem, current, patterns.over(opened, current.solution, only_attached=only_attached), end
                )
        if current.optimal or current.stopped:
            return current
        if how is How.AUTO:
            return replace(current, stopped="size")
    current, bound = _improve_by_program(problem, current, program, end)
    return _with_bound(current, _lowest_cost(bound, problem), "groups" if groups else "patterns")


def _seconds_left(end: float) -> float | None:
    return None if end == math.inf else end - time.monotonic()


def _improve_by_program(
    problem: Problem, current: BoundedSolution, program: ExactProgram, end: float
) -> tuple[BoundedSolution, float]:
    """Return the program's solution if it costs less, and the program's bound."""
    answer = program.solve(problem, _cost_step(problem), current.solution, _seconds_left(end))
    if answer.best is not None and answer.best.cost < current.solution.cost:
        current = replace(current, solution=answer.best)
    return replace(current, stopped=answer.stopped), answer.bound


def _bound_by_relaxation(
    problem: Problem, current: BoundedSolution, program: Program, seconds: float | None
) -> tuple[BoundedSolution, Floats | None]:
    """Return the solution with the bound of the program without whole numbers, and the values of its variables."""
    solved = solve(program, step=1, seconds=seconds, relaxed=True)
    current = _with_bound(current, _lowest_cost(solved.bound, problem), "relaxed")
    return replace(current, stopped=solved.stopped), solved.values


def _cost_step(problem: Problem) -> int:
    """Return the number of which costs of solutions are multiples."""
    return math.gcd(*problem.weights) or 1


def _lowest_cost(bound: float, problem: Problem) -> int:
    """Return the lowest cost that a bound allows, up to the tolerance of the solver."""
    if not math.isfinite(bound):
        return 0
    step = _cost_step(problem)
    return math.ceil((bound - 1e-6 - 1e-9 * abs(bound)) / step) * step


def _with_bound(current: BoundedSolution, bound: int, method: str) -> BoundedSolution:
    """Return the solution with another bound, if that is better. No bound exceeds the cost of the solution."""
    if bound <= current.bound and method not in {"patterns", "groups"}:
        return current
    return replace(current, bound=min(max(bound, current.bound), current.solution.cost), method=method)


# A lower bound of the cost of every solution: the least cost of each row, whatever the others do.
#
# A row can only be published under a pattern that has k compatible rows and l sensitive values among them, so it pays
# at least what the cheapest of these costs; the sum over all rows is a bound. (The base cost in the hardness proof of
# Chakaravarthy, Pandit, Sabharwal is of this kind.)


def lower_bound(problem: Problem) -> int:
    """Return a lower bound of the cost: the sum of the least cost of each row.

    Args:
        problem: the problem. Rows that fit no choice of columns looked at count with the highest cost looked at.

    Example:
        >>> three = Problem(np.array([[1, 1], [1, 2], [2, 3]]), np.array([1, 1, 2]), np.zeros(3, int), 2, 1, (1, 1))
        >>> lower_bound(three)
        2
    """
    if problem.trivial:
        return 0
    everything = np.ones(problem.units, dtype=np.bool_)
    open_ = everything.copy()
    total = reached = 0
    for reached, columns in islice(column_choices(problem), MOST):  # the chain after these skips choices
        units, _ = problem.grouped(columns, everything, problem.sizes)
        fitting = units[open_[units]]
        total += reached * int(problem.sizes[fitting].sum())
        open_[fitting] = False
        if not open_.any():
            break
    total += reached * int(problem.sizes[open_].sum())
    # If one row has a cost, all k rows of its group have
    return max(total, problem.k * min(problem.weights)) if total else 0
