"""Which columns to keep, cheapest suppression first: every choice where columns are few, else the first and a chain."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import islice, takewhile

from sqlaudit.remedies.suppress.problem import Problem

Kept = tuple[int, ...]
MOST = 2048
"""So many choices are gone through; then one column after the other is given up, the one with most values first."""


def choices(problem: Problem, most: int = MOST) -> Iterator[tuple[int, Kept]]:
    """(cost of a row, kept columns), cost ascending; the last one keeps nothing.

    Example:
        >>> import numpy as np
        >>> two = Problem(np.array([[1, 1], [2, 1]]), np.array([1, 1]), np.array([0, 0]), 2, 1, (1, 3))
        >>> list(choices(two))
        [(0, (0, 1)), (1, (1,)), (3, (0,)), (4, ())]
    """
    every = tuple(range(problem.width))
    if problem.whole:
        yield 0, every
        yield sum(problem.weights), ()
        return
    reached = (0, every)
    total = 1 << problem.width
    for reached in islice(_ascending(problem.weights), min(most, total)):
        yield reached
    if total > most:
        yield from _chain(problem, reached[0])


def levels(problem: Problem, most: int = MOST) -> Iterator[tuple[int, list[Kept]]]:
    """The same, those of one cost together."""
    rest = choices(problem, most)
    following = next(rest, None)
    while following is not None:
        cost, together = following[0], [following[1]]
        following = None
        for one in rest:
            if one[0] != cost:
                following = one
                break
            together.append(one[1])
        yield cost, together


def _ascending(weights: tuple[int, ...]) -> Iterator[tuple[int, Kept]]:
    """Every subset of starred columns, by the sum of their weights (Lawler: a heap of subsets, each extended once)."""
    order = sorted(range(len(weights)), key=lambda column: weights[column])
    yield 0, tuple(range(len(weights)))
    heap: list[tuple[int, tuple[int, ...]]] = [(weights[order[0]], (0,))] if order else []
    while heap:
        cost, places = heapq.heappop(heap)
        starred = {order[place] for place in places}
        yield cost, tuple(column for column in range(len(weights)) if column not in starred)
        last = places[-1]
        if last + 1 < len(order):
            heapq.heappush(heap, (cost + weights[order[last + 1]], (*places, last + 1)))
            replaced = cost - weights[order[last]] + weights[order[last + 1]]
            heapq.heappush(heap, (replaced, (*places[:-1], last + 1)))


def _chain(problem: Problem, cost: int) -> Iterator[tuple[int, Kept]]:
    """From all columns to none, dropping the one with most values first; only what costs more than what has been."""
    values = problem.codes.max(axis=0, initial=0).tolist()
    falling = sorted(range(problem.width), key=lambda column: -values[column])
    steps = []
    for dropped in range(1, problem.width + 1):
        starred = falling[:dropped]
        steps.append(
            (sum(problem.weights[c] for c in starred), tuple(sorted(set(range(problem.width)) - set(starred))))
        )
    cheap = len(list(takewhile(lambda step: step[0] <= cost and step[1], steps)))
    yield from steps[cheap:]
