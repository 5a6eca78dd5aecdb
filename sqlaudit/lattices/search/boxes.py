"""The cheapest nodes that satisfy all constraints known so far, in order, while constraints keep coming.

The nodes that are still open are a set of disjoint boxes [low, cap], kept in a heap by a lower bound of the loss in
each. When the finest node of the cheapest box breaks a constraint, the box is split by it: one column after the other
takes over to satisfy it, and those before it are capped so that they do not. A box's bound is the loss of its finest
node plus a dual bound on what it takes to satisfy the broken constraints: each constraint is given a price no column
can undercut, and the prices that one step of a column pays for together never exceed what the step costs. (Implicit
hitting sets: Moreno-Centeno and Karp, The Implicit Hitting Set Approach, Operations Research 61, 2013.)

Constraints that come later only ever remove nodes, so boxes and bounds stay right and nothing is computed twice. Every
node of a box is lexicographically at least its finest one, so of equal losses the smallest levels come first.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sqlaudit.column_sets.budget import BudgetSpent, Stop, never
from sqlaudit.lattices.search.constraints import Constraints
from sqlaudit.lattices.search.loss import Floats, NodeLoss, lowered, rounded
from sqlaudit.lattices.verdicts import Node

_LOOK = 64
"""Boxes between two looks at the clock."""
_PRICED = 64
"""Constraints that take part in a dual bound."""


class Box(NamedTuple):
    """The nodes between `low` and `cap`, none of which loses less than `bound`; `total` sums up the terms of `low`."""

    bound: float
    low: Node
    cap: Node
    total: float


class Boxes:
    """The open part of a lattice.

    Args:
        heights: of the columns. loss: its lower bounds are used. constraints: looked up at every step; may grow.
        stop: whether the budget is used up.
    """

    def __init__(self, heights: Sequence[int], loss: NodeLoss, constraints: Constraints, stop: Stop = never) -> None:
        self._heights = tuple(heights)
        self._loss, self._constraints, self._stop = loss, constraints, stop
        self._round = rounded if loss.exact is None and loss.rising else lowered
        self._terms = [_from_above(column) for column in loss.terms]
        self._table = _padded(self._terms)
        self._columns = np.arange(len(heights))
        self._looked = 0
        bottom = (0,) * len(heights)
        self._heap: list[Box] = []
        self.put(bottom, self._heights, -math.inf)

    @property
    def bound(self) -> float:
        """No open node loses less; infinite when none is open."""
        return self._heap[0].bound if self._heap else math.inf

    def put(self, low: Node, cap: Node, at_least: float) -> None:
        """Open a box of which a lower bound is known."""
        total = sum((column[level] for column, level in zip(self._terms, low, strict=True)), 0.0)
        bound = max(at_least, self._round(self._loss.of_sum(total)))
        heapq.heappush(self._heap, Box(bound, low, cap, total))

    def next(self, best: tuple[float, Node]) -> Box | None:
        """The cheapest box whose finest node breaks no constraint, taken out; None when all of it is at least `best`.

        Raises:
            BudgetSpent: the budget ended before.
        """
        while self._heap and (self._heap[0].bound, self._heap[0].low) < best:
            self._looked += 1
            if self._looked % _LOOK == 0 and self._stop():
                raise BudgetSpent
            box = heapq.heappop(self._heap)
            if not self._constraints.broken(box.low):
                return box
            self._branch(box)
        return None

    def without_finest(self, box: Box) -> None:
        """Open what is left of a box without its finest node."""
        cap = list(box.cap)
        for column, level in enumerate(box.low):
            if level < box.cap[column]:
                low = (*box.low[:column], level + 1, *box.low[column + 1 :])
                self.put(low, tuple(cap), box.bound)
            cap[column] = level

    def _branch(self, box: Box) -> None:
        """Put the box back with a better bound, or split it by the constraint that is dearest to satisfy."""
        broken = self._constraints.matrix
        broken = broken[(broken >= np.array(box.low)).all(axis=1)]
        spare = self._table - self._table[self._columns, list(box.low)][:, None]
        for column, cap in enumerate(box.cap):
            spare[column, cap + 1 :] = math.inf
        needed = broken + 1
        costs = spare[self._columns, needed]
        cheapest = costs.min(axis=1)
        dearest = int(np.argmax(cheapest))
        if math.isinf(cheapest[dearest]):
            return
        total = box.total + _dual(spare, needed, cheapest, self._columns)
        bound = max(box.bound, lowered(self._loss.of_sum(total)))
        if self._heap and bound > self._heap[0].bound:
            heapq.heappush(self._heap, box._replace(bound=bound))
        else:
            self._split(box._replace(bound=bound), needed[dearest], costs[dearest])

    def _split(self, box: Box, needed: NDArray[np.int64], costs: Floats) -> None:
        """Split a box in as many parts as columns can satisfy the constraint, the cheapest column first."""
        cap = list(box.cap)
        for column in np.argsort(costs, kind="stable").tolist():
            if math.isinf(costs[column]):
                return
            level = int(needed[column])
            self.put((*box.low[:column], level, *box.low[column + 1 :]), tuple(cap), box.bound)
            cap[column] = level - 1


def _dual(spare: Floats, needed: NDArray[np.int64], cheapest: Floats, columns: NDArray[np.int64]) -> float:
    """What it takes at least to satisfy constraints, each at the level that it needs of every column."""
    if len(needed) > _PRICED:
        needed = needed[np.argpartition(-cheapest, _PRICED)[:_PRICED]]
    total = 0.0
    for _ in range(2 * len(columns)):
        prices = spare[columns, needed].min(axis=1)
        dearest = int(np.argmax(prices))
        price = float(prices[dearest])
        if price <= 0 or math.isinf(price):
            break
        total += price
        for column, level in enumerate(needed[dearest].tolist()):
            spare[column, level:] -= price
        # a step up to a level also pays for every level above it, so the least of those is what is left
        spare = np.minimum.accumulate(spare[:, ::-1], axis=1)[:, ::-1]
    return total


def _from_above(column: Sequence[float]) -> list[float]:
    """For every level the least term of it and those above: never falling, and equal to the terms if they never do."""
    lowest = list(map(float, column))
    for level in range(len(lowest) - 2, -1, -1):
        lowest[level] = min(lowest[level], lowest[level + 1])
    return lowest


def _padded(terms: Sequence[Sequence[float]]) -> Floats:
    """The terms as a table; beyond a column's height they are infinite."""
    width = max((len(column) for column in terms), default=0) + 1
    return np.array([[*column, *[math.inf] * (width - len(column))] for column in terms]).reshape(len(terms), width)
