"""The best safe node of a lattice far too large to visit, by proven lower bounds (implicit hitting sets).

Every unsafe node is a constraint on the safe ones: some column must rise above it. The cheapest node that satisfies
the constraints known so far cannot be undercut by any safe node. It is asked; when it is unsafe, it is raised to a
maximal unsafe node, which is a new constraint; when it is safe, it is the best. The number of questions depends on
how many unsafe nodes it takes to prove the answer, not on the size of the lattice. (Moreno-Centeno and Karp, The
Implicit Hitting Set Approach, Operations Research 61, 2013.)

Where suppression makes the loss of a node larger than its bound, or safety is not inherited, the same search goes on
through all nodes whose bound is below the best loss so far: it is exact, and may be long; the bound that is proven when
it is stopped is part of the result.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.errors import BudgetSpent, Stop, never
from sqlaudit.lattices.search.border import Border, Constraints, probe_small_subsets
from sqlaudit.lattices.search.choice import TAGGED
from sqlaudit.lattices.search.inquiry import Inquiry
from sqlaudit.lattices.search.local import LocalSearch
from sqlaudit.lattices.search.loss import Floats, Incumbent, NodeLoss, round_bound, round_loss
from sqlaudit.lattices.verdicts import Node, at_level

_BETWEEN_LOOKS = 64
"""Boxes between two looks at the clock."""
_PRICED = 64
"""Constraints that take part in a dual bound."""
_SIDE_BY_SIDE = 32
"""Candidates of one question where more than one will be needed anyhow."""
_VERDICTS_A_COLUMN = 20
"""Verdicts that the search for a cheap node takes, for each column."""
_LONG = 2000
"""Verdicts after which a search that the first safe candidate ends is long enough to be stopped: a better node that
local search finds does not shorten it."""
_ALONE = 4
"""With fewer failing candidates each is raised to several constraints at once, which saves questions."""

# The cheapest nodes that satisfy all constraints known so far, in order, while constraints keep coming.
#
# The nodes that are still open are a set of disjoint boxes [low, cap], kept in a heap by a lower bound of the loss in
# each. When the finest node of the cheapest box breaks a constraint, the box is split by it: one column after the other
# takes over to satisfy it, and those before it are capped so that they do not. A box's bound is the loss of its finest
# node plus a dual bound on what it takes to satisfy the broken constraints: each constraint is given a price no column
# can undercut, and the prices that one step of a column pays for together never exceed what the step costs.
#
# Constraints that come later only ever remove nodes, so boxes and bounds stay right and nothing is computed twice.
# Every node of a box is lexicographically at least its finest one, so of equal losses the smallest levels come first.


class Box(NamedTuple):
    """The nodes between `low` and `cap`, none of which loses less than `bound`; `total` sums up the terms of `low`."""

    bound: float
    low: Node
    cap: Node
    total: float


class Boxes:
    """The open part of a lattice.

    Args:
        heights: the highest level of every column.
        loss: its lower bounds are used.
        constraints: looked up at every step; may grow.
        stop: returns True when the budget is used up.
    """

    def __init__(self, heights: Sequence[int], loss: NodeLoss, constraints: Constraints, stop: Stop = never) -> None:
        self._heights = tuple(heights)
        self._loss, self._constraints, self._stop = loss, constraints, stop
        self._round = round_loss if loss.exact is None and loss.rising else round_bound
        # for every level the least term of it and those above: never falling, and equal to the terms if they never do
        least = [np.minimum.accumulate(np.array(column, dtype=np.float64)[::-1])[::-1] for column in loss.terms]
        self._terms = [column.tolist() for column in least]
        self._table = np.full((len(least), max(map(len, least), default=0) + 1), math.inf)
        """The terms; beyond a column's height they are infinite."""
        for row, column in zip(self._table, least, strict=True):
            row[: len(column)] = column
        self._columns = np.arange(len(heights))
        self._taken = 0
        self._heap: list[Box] = []
        self.open((0,) * len(heights), self._heights, -math.inf)

    @property
    def bound(self) -> float:
        """No open node loses less; infinite when none is open."""
        return self._heap[0].bound if self._heap else math.inf

    def open(self, low: Node, cap: Node, at_least: float) -> None:
        """Open a box of which a lower bound is known."""
        total = sum((column[level] for column, level in zip(self._terms, low, strict=True)), 0.0)
        bound = max(at_least, self._round(self._loss.transform_sum(total)))
        heapq.heappush(self._heap, Box(bound, low, cap, total))

    def take_cheapest(self, best: tuple[float, Node]) -> Box | None:
        """Take out the cheapest box whose finest node breaks no constraint; None when all of it is at least `best`.

        Raises:
            BudgetSpent: the budget ended before.
        """
        while self._heap and (self._heap[0].bound, self._heap[0].low) < best:
            self._taken += 1
            if self._taken % _BETWEEN_LOOKS == 0 and self._stop():
                raise BudgetSpent
            box = heapq.heappop(self._heap)
            if not self._constraints.match(box.low):
                return box
            self._branch(box)
        return None

    def open_without_finest(self, box: Box) -> None:
        """Open what is left of a box without its finest node."""
        cap = list(box.cap)
        for column, level in enumerate(box.low):
            if level < box.cap[column]:
                low = at_level(box.low, column, level + 1)
                self.open(low, tuple(cap), box.bound)
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
        total = box.total + _compute_dual_bound(spare, needed, cheapest, self._columns)
        bound = max(box.bound, round_bound(self._loss.transform_sum(total)))
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
            self.open(at_level(box.low, column, level), tuple(cap), box.bound)
            cap[column] = level - 1


def _compute_dual_bound(
    spare: Floats, needed: NDArray[np.int64], cheapest: Floats, columns: NDArray[np.int64]
) -> float:
    """Return what it costs at least to satisfy constraints.

    Args:
        spare: for each column what every level costs more than the current one; used up.
        needed: for each constraint the level that satisfies it, in every column.
        cheapest: for each constraint the cost of its cheapest column.
        columns: the indexes of the columns.
    """
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


class BoundsSearch:
    """The search for the best safe node.

    Args:
        border: what is known, and who is asked.
        incumbent: the best safe node so far.
    """

    def __init__(self, border: Border, incumbent: Incumbent) -> None:
        self.border, self.incumbent = border, incumbent
        self._loss: NodeLoss = incumbent.loss
        self._random = random.Random(0)
        self._boxes = Boxes(border.heights, self._loss, border.constraints, border.inquiry.stop)
        # the first candidate that is safe ends the search, so asking for more at once would be waste
        self._first_ends = border.monotone and self._loss.exact is None and self._loss.rising
        self._local = LocalSearch(border, incumbent) if border.nodes > TAGGED else None

    def run(self, most_verdicts: float = math.inf) -> None:
        """Search; the incumbent is then the best safe node, or there is none.

        Args:
            most_verdicts: when they are used up, the incumbent is only the best node so far.

        Raises:
            BudgetSpent: the budget ended before; `border.lower` is proven.
        """
        border, last = self.border, most_verdicts + self.border.inquiry.checked
        if not border.ask_top():
            return
        self._note_bound(self._boxes.bound)
        probe_small_subsets(border)
        while border.inquiry.checked <= last and (boxes := self._take_candidates()):
            self._decide([box.low for box in boxes])
            for box in boxes:
                self._reopen(box)
            if self._local is not None and (border.inquiry.checked >= _LONG or not self._first_ends):
                self._local.take_turn()

    def _take_candidates(self) -> list[Box]:
        """Take the cheapest boxes for the next question; none when no open node can be best."""
        boxes: list[Box] = []
        try:
            while len(boxes) < (1 if self._first_ends else _SIDE_BY_SIDE):
                box = self._boxes.take_cheapest(self.incumbent.key)
                if box is None:
                    break
                boxes.append(box)
        except BudgetSpent:
            # raised between two boxes, so that none is missing: what is proven by then counts
            self._note_bound(boxes[0].bound if boxes else self._boxes.bound)
            raise
        self._note_bound(boxes[0].bound if boxes else self._boxes.bound)
        return boxes

    def _note_bound(self, bound: float) -> None:
        """Note that no safe node that is not known yet loses less than the bound."""
        self.border.lower = min(bound, self.incumbent.key[0])

    def _decide(self, nodes: Sequence[Node]) -> None:
        """Ask about candidates, offer the safe ones, and find the constraints that failing ones break."""
        border = self.border
        border.ask([node for node in nodes if self._is_open(node)])
        self.incumbent.offer(self.incumbent.select_candidates([node for node in nodes if border.is_safe(node)]))
        failing = [node for node in nodes if border.is_passing(node) is False and not border.constraints.match(node)]
        starts = [(node, order) for node in failing for order in self._orders(node, alone=len(failing) < _ALONE)]
        border.raise_to_border([node for node, _ in starts], [order for _, order in starts])

    def _is_open(self, node: Node) -> bool:
        return self.border.is_passing(node) is None if self.border.monotone else node not in self.border.safe

    def _reopen(self, box: Box) -> None:
        """Open again what a candidate's verdict leaves of its box."""
        border = self.border
        if border.constraints.match(box.low):
            self._boxes.open(box.low, box.cap, box.bound)
        elif not (border.is_safe(box.low) and self._loss.never_falls):
            self._boxes.open_without_finest(box)

    def _orders(self, node: Node, *, alone: bool) -> list[list[int]]:
        """Return in which orders to raise the columns.

        Those that cost little at their top come first, so that a constraint is left to the dear ones; when there is
        little else to ask, also the other way round and by chance.
        """
        terms = self._loss.terms
        cheap_first = sorted(range(len(node)), key=lambda at: (terms[at][-1] - terms[at][node[at]], at))
        if not alone:
            return [cheap_first]
        return [cheap_first, cheap_first[::-1], self._random.sample(cheap_first, len(node))]


def look_for_cheap_node(heights: Sequence[int], inquiry: Inquiry, incumbent: Incumbent, *, monotone: bool) -> None:
    """Offer the safe node with the smallest lower bound, or the best that some questions lead to.

    A good node known early spares all nodes whose lower bound is above its loss. Where few nodes speak against the
    safe ones, this also settles most of the lattice; where many do, it would take too long to finish.

    Raises:
        BudgetSpent: the budget ended before.
    """
    loss = incumbent.loss
    if all(low == high for column in loss.terms for low, high in pairwise(column)):
        return
    cheap = Incumbent(NodeLoss(loss.terms, loss.transform), inquiry.stop)
    search = BoundsSearch(Border(heights, inquiry, monotone=monotone, incumbent=cheap), cheap)
    search.run(_VERDICTS_A_COLUMN * len(heights))
    if cheap.best is not None:
        incumbent.offer([cheap.best.node])
