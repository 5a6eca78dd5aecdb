"""A lower bound for every solution: what each row pays at least, whatever the others do.

A row can only be published under a pattern that has k compatible rows and l sensitive values among them, so it pays at
least what the cheapest of these costs; the sum over all rows is a bound. (The base cost in the hardness proof of
Chakaravarthy, Pandit, Sabharwal is of this kind.)
"""

from __future__ import annotations

import numpy as np

from sqlaudit.remedies.suppress.choices import MOST, choices
from sqlaudit.remedies.suppress.problem import Problem, groups_of


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
            return total
    return total + reached * int(problem.sizes[open_].sum())
