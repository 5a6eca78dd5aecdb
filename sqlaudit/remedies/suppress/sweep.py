"""A fast way to a solution: group what can be grouped at the lowest cost first, lend rows where a few are missing.

Over all choices of kept columns, cheapest first: rows that are in no group yet and agree in the kept columns become a
group when there are enough of them. What is left is too small or not diverse even as a whole. A second walk borrows
rows for it from groups that have more than they need; what is left then joins the groups where that costs least.
Everything works on units with counts, not on rows. For k alone the answer is within a proven factor (`guaranteed`); how
far it really is from the optimum is told by a lower bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from sqlaudit.remedies.suppress.guaranteed import guaranteed
from sqlaudit.remedies.suppress.lending import Kept, Ledger, levels
from sqlaudit.remedies.suppress.problem import Integers, Problem, Solution, as_it_is, groups_of, solution_of

Watch = Callable[[str, float | None], None]


def fast(problem: Problem, watch: Watch | None = None) -> Solution:
    """A solution, not necessarily the best one.

    Args:
        problem: what is asked; the whole table as one group satisfies it. watch: told of progress.
    """
    if problem.trivial:
        return as_it_is(problem)
    swept = _Sweep(problem)
    for cost, together in levels(problem):
        if watch is not None:
            watch("grouping rows", cost / max(1, sum(problem.weights)))
        swept.level(together)
        if not swept.left.any():
            break
    if not swept.left.any():
        return guaranteed(problem, solution_of(problem, *swept.partition()))
    ledger = Ledger(problem, *swept.partition(), swept.left)
    ledger.borrow()
    ledger.join()
    return guaranteed(problem, solution_of(problem, *ledger.partition()))


@dataclass
class _Sweep:
    problem: Problem
    left: Integers = field(init=False)
    units: list[Integers] = field(default_factory=list)
    copies: list[Integers] = field(default_factory=list)
    groups: list[Integers] = field(default_factory=list)
    made: int = 0

    def __post_init__(self) -> None:
        self.left = self.problem.sizes.copy()

    def level(self, together: Sequence[Kept]) -> None:
        """Group what can be grouped at one cost; the choice that groups most rows comes first."""
        if len(together) > 1:
            ready = {kept: self._ready(kept) for kept in together}
            rows = {kept: int(self.left[units].sum()) for kept, (units, _) in ready.items()}
            together = sorted((kept for kept in together if rows[kept]), key=lambda kept: -rows[kept])
        for kept in together:
            units, groups = self._ready(kept)
            if len(units):
                self._take(units, groups)

    def _ready(self, kept: Kept) -> tuple[Integers, Integers]:
        """The units in no group yet that agree with enough others, and a number for those that agree."""
        problem = self.problem
        units = np.flatnonzero((self.left > 0) & problem.comparable(kept))
        if not len(units):
            return units, units
        groups = groups_of(problem.codes[units], kept)
        good = problem.satisfied(groups, self.left[units], units, int(groups.max()) + 1)[groups]
        return units[good], groups[good]

    def _take(self, units: Integers, groups: Integers) -> None:
        self.units.append(units)
        self.copies.append(self.left[units])
        self.groups.append(groups + self.made)
        self.made += int(groups.max()) + 1
        self.left[units] = 0

    def partition(self) -> tuple[Integers, Integers, Integers]:
        """(units, copies, groups) of what is grouped."""
        nothing = [np.zeros(0, dtype=np.int64)]
        units, copies, groups = (np.concatenate(part or nothing) for part in (self.units, self.copies, self.groups))
        return units, copies, groups
