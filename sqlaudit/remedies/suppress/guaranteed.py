"""A solution within a proven factor of the best one, for k alone: suppress the rows that cannot stay, and no others.

A row that cannot stay (fewer than k rows are equal to it) is in a group with another row, so that a column of the group
is suppressed; the group has k rows or more, and all of them pay. With r such rows the best solution costs at least
w · max(r, k), w the smallest weight. They are suppressed here as one group; where r < k, rows that could stay join
them, all of one pattern: the k − r that are missing if the pattern can spare them, else all of it, which has fewer
than 2k − r then. So fewer than max(r + 1, 2k) rows are suppressed, each for at most W, the sum of the weights: less
than 2 W / w times the best cost, which is 2m for m columns of equal weight. Source: Chakaravarthy, Pandit, Sabharwal,
section 5, which calls the factor O(m) of suppressing all cells trivial; a table with rows that may stay needs this.
"""

from __future__ import annotations

import numpy as np

from sqlaudit.remedies.suppress.problem import Booleans, Problem, Solution, groups_of, solution_of


def guaranteed(problem: Problem, found: Solution) -> Solution:
    """A solution within the factor: the one that was found, where it costs no more than the rows that are suppressed.

    Args:
        problem: what is asked. found: any solution of it; where l > 1 no factor is known, and it stays.

    Example:
        >>> four = Problem(np.array([[1], [2], [3]]), np.array([2, 1, 1]), np.zeros(3, int), 2, 1, (1,))
        >>> all_together = solution_of(four, np.arange(3), four.sizes, np.zeros(3, int))
        >>> all_together.cost, guaranteed(four, all_together).cost
        (4, 2)
    """
    if problem.l > 1 or problem.trivial:
        return found
    leaving = problem.sizes * cannot_stay(problem)
    missing = problem.k - int(leaving.sum())
    if 0 < missing < problem.k:
        spare = problem.sizes - leaving
        rich = np.flatnonzero(spare >= problem.k + missing)
        unit = int(rich[0]) if len(rich) else int(np.where(spare > 0, spare, problem.rows + 1).argmin())
        leaving[unit] += missing if len(rich) else spare[unit]
    if found.cost <= int(leaving.sum()) * sum(problem.weights):
        return found
    staying = problem.sizes - leaving
    units = np.concatenate([np.flatnonzero(leaving), np.flatnonzero(staying)])
    copies = np.concatenate([leaving[leaving > 0], staying[staying > 0]])
    alone = groups_of(problem.codes, range(problem.width))[staying > 0] + 1
    return solution_of(problem, units, copies, np.concatenate([np.zeros(int((leaving > 0).sum()), np.int64), alone]))


def cannot_stay(problem: Problem) -> Booleans:
    """The units of k alone whose rows something of is suppressed in every solution."""
    few = np.asarray(problem.sizes < problem.k, dtype=np.bool_)
    return few | ~problem.comparable(range(problem.width))
