"""From a problem to the best solution that there is time for: fast first, then exact where possible, with a bound.

A lower bound for every solution: what each row pays at least, whatever the others do.

A row can only be published under a pattern that has k compatible rows and l sensitive values among them, so it pays at
least what the cheapest of these costs; the sum over all rows is a bound. (The base cost in the hardness proof of
Chakaravarthy, Pandit, Sabharwal is of this kind.)
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np

from sqlaudit.remedies.suppress import solver
from sqlaudit.remedies.suppress.by_groups import GroupProgram, group_program
from sqlaudit.remedies.suppress.by_patterns import PatternProgram, pattern_program
from sqlaudit.remedies.suppress.candidates import PatternCandidates, candidates
from sqlaudit.remedies.suppress.improving import improved
from sqlaudit.remedies.suppress.lending import MOST, choices
from sqlaudit.remedies.suppress.problem import Problem, Solution, groups_of, reduced, solution_of
from sqlaudit.remedies.suppress.request import How
from sqlaudit.remedies.suppress.sweep import Watch, fast

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
    found = _decide(problem, how, seconds, watch or _unwatched)
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


def _unwatched(step: str, share: float | None) -> None:
    """Progress that nobody watches."""


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
    open_ = np.ones(problem.units, dtype=np.bool_)
    total = reached = 0
    for looked, (cost, kept) in enumerate(choices(problem, most)):
        reached = cost if looked < most else reached  # a chain leaves choices out
        units = np.flatnonzero(problem.comparable(kept))
        if looked >= most or not len(units):
            continue
        groups = groups_of(problem.codes[units], kept)
        good = problem.satisfied(groups, problem.sizes[units], units, int(groups.max()) + 1)[groups]
        settled = units[good & open_[units]]
        total += cost * int(problem.sizes[settled].sum())
        open_[settled] = False
        if not open_.any():
            return _of_a_group(problem, total)
    return _of_a_group(problem, total + reached * int(problem.sizes[open_].sum()))


def _of_a_group(problem: Problem, cost: int) -> int:
    """No row pays alone: where one has to, all k rows of its group do."""
    return max(cost, problem.k * min(problem.weights)) if cost else 0
