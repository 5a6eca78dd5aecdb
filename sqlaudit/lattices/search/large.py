"""Searches for lattices too large to tag: the border, lower bounds by hitting sets, and all minimal safe nodes."""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.errors import BudgetSpent, Stop, never
from sqlaudit.lattices.search.tags import Floats, Incumbent, Inquiry, NodeLoss, Progress, lowered, rounded
from sqlaudit.lattices.verdicts import Node, Verdict, at_level, just_below

# What is known about a lattice too large to tag: the nodes on both sides of the border, as bit sets.
#
# An unsafe node m is a constraint on every safe node v: some column of v lies above its level in m. Constraints and
# safe nodes are kept by number; for every column and level there is a set of numbers, so that looking a node up is one
# intersection a column, however many are known.


class _Numbered:
    """Nodes by number: for each column and level the set of those that agree with this level alone, as bits."""

    def __init__(self, heights: Sequence[int]) -> None:
        self.heights = tuple(heights)
        self.nodes: list[Node] = []
        self.agreeing: list[list[int]] = [[0] * (height + 1) for height in heights]

    def agree(self, level: int, height: int) -> range:
        """The levels of a column, so high, with which a node at this level agrees."""
        raise NotImplementedError

    def add(self, node: Node) -> None:
        """Note a node, unless one that is noted already says as much."""
        if self.found(node):
            return
        bit = 1 << len(self.nodes)
        self.nodes.append(node)
        for column, level in zip(self.agreeing, node, strict=True):
            for at in self.agree(level, len(column) - 1):
                column[at] |= bit

    def found(self, node: Node) -> int:
        """The nodes that agree with all levels of this one."""
        left = (1 << len(self.nodes)) - 1
        for column, level in zip(self.agreeing, node, strict=True):
            left &= column[level]
            if not left:
                break
        return left


class Constraints(_Numbered):
    """Unsafe nodes whose finer nodes are all unsafe: what a safe node must rise above. Those found are not satisfied.

    Example:
        >>> constraints = Constraints((2, 2))
        >>> constraints.add((1, 2))
        >>> constraints.found((1, 1)), constraints.found((2, 0))
        (1, 0)
    """

    def __init__(self, heights: Sequence[int]) -> None:
        super().__init__(heights)
        self._matrix: NDArray[np.int64] = np.zeros((0, len(heights)), dtype=np.int64)

    def agree(self, level: int, height: int) -> range:
        """The levels that do not rise above it."""
        return range(level + 1)

    @property
    def matrix(self) -> NDArray[np.int64]:
        """The constraints, one row each."""
        if len(self._matrix) < len(self.nodes):
            grown = np.array(self.nodes[len(self._matrix) :], dtype=np.int64)
            self._matrix = np.concatenate([self._matrix, grown.reshape(-1, len(self.heights))])
        return self._matrix


class SafeNodes(_Numbered):
    """Safe nodes whose coarser nodes are all known to be safe, or of no interest. Those found are the same or finer."""

    def agree(self, level: int, height: int) -> range:
        """The levels at or above it."""
        return range(level, height + 1)


# A search that keeps only the border between safe and unsafe nodes, for lattices too large to tag.
#
# From an unsafe node up to a maximal one, asking little; several climbs side by side.
#
# A climb is a generator that yields the node it wants to know and is sent whether the inherited requirements hold
# there, so that one question carries the next node of every climb.

Climb = Generator[Node, bool, Node]
Known = Callable[[Node], bool | None]
Settle = Callable[[Sequence[Node]], list[bool]]


def climb_to_border(start: Node, heights: Sequence[int], order: Sequence[int]) -> Climb:
    """Go from a node where the inherited requirements fail to a coarsest such node.

    Columns are raised to their top in blocks that double while the node keeps failing and halve when it does not; a
    column that cannot be raised to its top is raised as far as it can be, by binary search. What was too high for a
    column stays so when others rise, so one pass is enough.

    Args:
        start: a node that fails. order: the columns, those to be raised first first.

    Returns:
        A node that fails while every node strictly above it passes.
    """
    node, at, block = list(start), 0, 1
    left = [column for column in order if node[column] < heights[column]]
    while at < len(left):
        columns = left[at : at + block]
        raised = [heights[column] if column in columns else level for column, level in enumerate(node)]
        if not (yield tuple(raised)):
            node, at, block = raised, at + len(columns), 2 * block
        elif len(columns) > 1:
            block = len(columns) // 2
        else:
            node[columns[0]] = yield from _highest(node, columns[0], heights[columns[0]])
            at += 1
    return tuple(node)


def _highest(node: Sequence[int], column: int, passing: int) -> Generator[Node, bool, int]:
    """The highest level of the column at which the node fails; `passing` is known to be too high."""
    failing = node[column]
    while passing - failing > 1:
        middle = (passing + failing) // 2
        if (yield at_level(node, column, middle)):
            passing = middle
        else:
            failing = middle
    return failing


def side_by_side(climbs: Iterable[Climb], known: Known, settle: Settle) -> list[Node]:
    """Where the climbs end, in their order; they are answered from what is known, else together."""
    running = list(climbs)
    ends: list[Node | None] = [None] * len(running)
    wanted: dict[int, Node] = {}

    def advance(number: int, answer: bool | None) -> None:
        try:
            node = next(running[number]) if answer is None else running[number].send(answer)
            while (seen := known(node)) is not None:
                node = running[number].send(seen)
            wanted[number] = node
        except StopIteration as end:
            ends[number] = end.value

    for number in range(len(running)):
        advance(number, None)
    while wanted:
        asked, wanted = wanted, {}
        nodes = list(dict.fromkeys(asked.values()))
        answers = dict(zip(nodes, settle(nodes), strict=True))
        for number, node in asked.items():
            advance(number, answers[node])
    return [end for end in ends if end is not None]


class Border:
    """What is known of a lattice by asking about its border, and who is asked.

    Args:
        heights: of the columns. inquiry: who is asked. monotone: whether safety is inherited.
        incumbent: the best safe node so far; None without a loss.
    """

    def __init__(
        self, heights: Sequence[int], inquiry: Inquiry, *, monotone: bool, incumbent: Incumbent | None = None
    ) -> None:
        self.heights, self.monotone = tuple(heights), monotone
        self.inquiry, self.incumbent = inquiry, incumbent
        self.nodes = math.prod(height + 1 for height in heights)
        self.constraints = Constraints(heights)
        self.passing = SafeNodes(heights)
        """Nodes at which the inherited requirements hold."""
        self.safe: dict[Node, bool] = {}
        """The verdicts."""
        self.lower: float | None = None
        self._failing: set[Node] = set()

    def passes(self, node: Node) -> bool | None:
        """Whether the inherited requirements hold at a node; None when that is not known."""
        if node in self._failing or self.constraints.found(node):
            return False
        return True if self.passing.found(node) else None

    def known(self, node: Node) -> bool | None:
        """Whether a node is safe; None when that is not known."""
        passes = self.passes(node)
        return passes if passes is False or self.monotone else self.safe.get(node)

    def ask(self, nodes: Sequence[Node]) -> list[bool]:
        """Whether the inherited requirements hold at the nodes; none of them was asked before.

        Raises:
            BudgetSpent: before a batch.
        """
        answers = []
        for verdicts in self.inquiry.ask(nodes):
            answers += [self._learn(one) for one in verdicts]
            if self.incumbent is not None:
                self.incumbent.offer(self.incumbent.worth([one.node for one in verdicts if one.safe]))
            self._tell()
        return answers

    def raise_to_border(self, nodes: Sequence[Node], orders: Sequence[Sequence[int]], *, more: bool = True) -> None:
        """Find constraints that failing nodes break: coarsest failing nodes above each.

        Args:
            nodes: failing nodes. orders: for each the columns, those that are raised first first.
            more: with the columns of a constraint at their top, look for another one, and so on.

        Raises:
            BudgetSpent: the budget ended before.
        """
        climbs = [self._cores(node, order, more) for node, order in zip(nodes, orders, strict=True)]
        side_by_side(climbs, self.passes, self.ask)

    def minimal(self) -> list[Node]:
        """The nodes that are known to be safe with nothing below them that could be."""
        found = (node for node, safe in self.safe.items() if safe)
        return sorted(node for node in found if all(self.passes(below) is False for below in just_below(node)))

    def conclude(self) -> None:
        """Let nodes that failed and that a stopped search did not raise to the border speak against finer ones."""
        for node in sorted(self._failing, key=sum, reverse=True):
            self.constraints.add(node)

    def unknown(self) -> int:
        """How many nodes there are of which it is not known whether they are safe; looks at every one."""
        known = np.zeros([height + 1 for height in self.heights], dtype=np.bool_)
        for node in self.constraints.nodes:
            known[tuple(slice(0, level + 1) for level in node)] = True
        for node in self.passing.nodes if self.monotone else ():
            known[tuple(slice(level, None) for level in node)] = True
        for node in () if self.monotone else self.safe:
            known[node] = True
        return int(known.size - np.count_nonzero(known))

    def _cores(self, start: Node, order: Sequence[int], more: bool) -> Climb:
        node = start
        while True:
            end = yield from climb_to_border(node, self.heights, order)
            self.constraints.add(end)
            node = tuple(top if high < top else level for level, high, top in zip(node, end, self.heights, strict=True))
            if not more or (yield node):
                return end

    def _learn(self, verdict: Verdict) -> bool:
        self.safe[verdict.node] = verdict.safe
        passes = verdict.safe if self.monotone else verdict.prunable_safe
        if passes:
            self.passing.add(verdict.node)
        else:
            self._failing.add(verdict.node)
        return passes

    def _tell(self) -> None:
        best = self.incumbent.best.loss if self.incumbent is not None and self.incumbent.best else None
        checked = self.inquiry.checked
        self.inquiry.tell(Progress(checked, self.nodes, checked, best, self.lower))


def probe_small_subsets(border: Border) -> None:
    """Ask about single columns and pairs of columns as they are, the others at their top: cheap, strong constraints.

    Raises:
        BudgetSpent: the budget ended before.
    """
    columns = [at for at, height in enumerate(border.heights) if height]
    for width in (1, 2):
        chosen = combinations(columns, width)
        nodes = [tuple(0 if at in some else top for at, top in enumerate(border.heights)) for some in chosen]
        unknown = [node for node in nodes if border.passes(node) is None]
        passes = border.ask(unknown)
        failing = [node for node, passed in zip(unknown, passes, strict=True) if not passed]
        border.raise_to_border(failing, [columns] * len(failing), more=False)


# The cheapest nodes that satisfy all constraints known so far, in order, while constraints keep coming.
#
# The nodes that are still open are a set of disjoint boxes [low, cap], kept in a heap by a lower bound of the loss in
# each. When the finest node of the cheapest box breaks a constraint, the box is split by it: one column after the other
# takes over to satisfy it, and those before it are capped so that they do not. A box's bound is the loss of its finest
# node plus a dual bound on what it takes to satisfy the broken constraints: each constraint is given a price no column
# can undercut, and the prices that one step of a column pays for together never exceed what the step costs. (Implicit
# hitting sets: Moreno-Centeno and Karp, The Implicit Hitting Set Approach, Operations Research 61, 2013.)
#
# Constraints that come later only ever remove nodes, so boxes and bounds stay right and nothing is computed twice.
# Every node of a box is lexicographically at least its finest one, so of equal losses the smallest levels come first.

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
        # for every level the least term of it and those above: never falling, and equal to the terms if they never do
        least = [np.minimum.accumulate(np.array(column, dtype=np.float64)[::-1])[::-1] for column in loss.terms]
        self._terms = [column.tolist() for column in least]
        self._table = np.full((len(least), max(map(len, least), default=0) + 1), math.inf)
        """The terms; beyond a column's height they are infinite."""
        for row, column in zip(self._table, least, strict=True):
            row[: len(column)] = column
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
            if not self._constraints.found(box.low):
                return box
            self._branch(box)
        return None

    def without_finest(self, box: Box) -> None:
        """Open what is left of a box without its finest node."""
        cap = list(box.cap)
        for column, level in enumerate(box.low):
            if level < box.cap[column]:
                low = at_level(box.low, column, level + 1)
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
            self.put(at_level(box.low, column, level), tuple(cap), box.bound)
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


# The best safe node of a lattice far too large to visit, by proven lower bounds (implicit hitting sets).
#
# Every unsafe node is a constraint on the safe ones: some column must rise above it. The cheapest node that satisfies
# the constraints known so far cannot be undercut by any safe node. It is asked; when it is unsafe, it is raised to a
# maximal unsafe node, which is a new constraint; when it is safe, it is the best. The number of questions depends on
# how many unsafe nodes it takes to prove the answer, not on the size of the lattice.
#
# Where suppression makes the loss of a node larger than its bound, or safety is not inherited, the same walk goes on
# through all nodes whose bound is below the best loss known: it is exact, and may be long; what is proven is said.

_SIDE_BY_SIDE = 32
"""Candidates of one question where more than one will be needed anyhow."""
_LOOKS_A_COLUMN = 20
_ALONE = 4
"""With fewer failing candidates each is raised to several constraints at once, which saves questions."""


class BoundsSearch:
    """The search for the best safe node.

    Args:
        border: what is known, and who is asked. incumbent: the best safe node so far.
    """

    def __init__(self, border: Border, incumbent: Incumbent) -> None:
        self.border, self.incumbent = border, incumbent
        self._loss: NodeLoss = incumbent.loss
        self._random = random.Random(0)
        self._boxes = Boxes(border.heights, self._loss, border.constraints, border.inquiry.stop)
        # the first candidate that is safe ends the search, so asking for more at once would be waste
        self._first_ends = border.monotone and self._loss.exact is None and self._loss.rising

    def run(self, most: float = math.inf) -> None:
        """Search; the incumbent is then the best safe node, or there is none.

        Args:
            most: verdicts; when they are used up the incumbent is only the best node met.

        Raises:
            BudgetSpent: the budget ended before; `border.lower` is proven.
        """
        border, most = self.border, most + self.border.inquiry.checked
        if not border.ask([border.heights])[0]:
            border.constraints.add(border.heights)
            return
        self._note_bound(self._boxes.bound)
        probe_small_subsets(border)
        while border.inquiry.checked <= most and (boxes := self._candidates()):
            self._decide([box.low for box in boxes])
            for box in boxes:
                self._put_back(box)

    def _candidates(self) -> list[Box]:
        boxes: list[Box] = []
        try:
            while len(boxes) < (1 if self._first_ends else _SIDE_BY_SIDE):
                box = self._boxes.next(self.incumbent.key)
                if box is None:
                    break
                boxes.append(box)
        except BudgetSpent:
            self._note_bound(boxes[0].bound if boxes else self._boxes.bound)
            raise
        self._note_bound(boxes[0].bound if boxes else self._boxes.bound)
        return boxes

    def _note_bound(self, bound: float) -> None:
        """No safe node that is not known yet loses less than the bound."""
        self.border.lower = min(bound, self.incumbent.key[0])

    def _decide(self, nodes: Sequence[Node]) -> None:
        """Ask about candidates, take in the safe ones, and find what speaks against those that fail."""
        border = self.border
        border.ask([node for node in nodes if self._open(node)])
        self.incumbent.offer(self.incumbent.worth([node for node in nodes if border.known(node)]))
        failing = [node for node in nodes if border.passes(node) is False and not border.constraints.found(node)]
        starts = [(node, order) for node in failing for order in self._orders(node, alone=len(failing) < _ALONE)]
        border.raise_to_border([node for node, _ in starts], [order for _, order in starts])

    def _open(self, node: Node) -> bool:
        return self.border.passes(node) is None if self.border.monotone else node not in self.border.safe

    def _put_back(self, box: Box) -> None:
        border = self.border
        if border.constraints.found(box.low):
            self._boxes.put(box.low, box.cap, box.bound)
        elif not (border.known(box.low) and self._loss.never_falls):
            self._boxes.without_finest(box)

    def _orders(self, node: Node, *, alone: bool) -> list[list[int]]:
        """In which orders to raise the columns: those that cost little at their top first, so that a constraint is left
        to the dear ones; when there is little else to ask, also the other way round and by chance."""
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
    search.run(_LOOKS_A_COLUMN * len(heights))
    if cheap.best is not None:
        incumbent.offer([cheap.best.node])


# All minimal safe nodes of a lattice too large to tag: dualize what is known, and advance.
#
# The minimal nodes that satisfy all known constraints are enumerated; one that is safe is a minimal safe node, one
# that is not leads to a new constraint. When all of them are safe, none is missing. (Gunopulos, Mannila et al.:
# Discovering All Most Specific Sentences, ACM TODS 28, 2003; the enumeration is that of Murakami and Uno, Efficient
# algorithms for dualizing large-scale hypergraphs, Discrete Applied Mathematics 170, 2014, with levels in place of
# elements: whenever a column is raised to a level, some constraint must need just that, given the other columns.)

_BETWEEN_LOOKS = 256
_TOGETHER = 64
"""Nodes of one question."""


def minimal_nodes(constraints: Constraints, without: SafeNodes, stop: Stop = never) -> Iterator[Node]:
    """The minimal nodes that satisfy all constraints, except those at or above a node of `without`.

    Constraints that are added meanwhile are obeyed from then on, but nodes that need them may be missed.

    Raises:
        BudgetSpent: the budget ended before.

    Example:
        >>> constraints = Constraints((2, 1))
        >>> constraints.add((1, 0))
        >>> sorted(minimal_nodes(constraints, SafeNodes((2, 1))))
        [(0, 1), (2, 0)]
    """
    bottom = (0,) * len(constraints.heights)
    stack: list[tuple[Node, Node]] = [(bottom, constraints.heights)]
    looked = 0
    while stack:
        looked += 1
        if looked % _BETWEEN_LOOKS == 0 and stop():
            raise BudgetSpent
        low, cap = stack.pop()
        if without.found(low) or not _needed(constraints, low):
            continue
        broken = constraints.found(low)
        if not broken:
            yield low
        else:
            stack += _branches(constraints, broken, low, cap)


def _needed(constraints: Constraints, low: Node) -> bool:
    """Whether every raised column is needed at its level, as long as no other column rises further."""
    below = constraints.agreeing
    everything = (1 << len(constraints.nodes)) - 1
    after = [everything]
    for column, level in zip(reversed(below), reversed(low), strict=True):
        after.append(after[-1] & column[level])
    before = everything
    for at, (column, level) in enumerate(zip(below, low, strict=True)):
        others = before & after[len(low) - 1 - at]
        if level and not others & column[level - 1] & ~column[level]:
            return False
        before &= column[level]
    return True


def _branches(constraints: Constraints, broken: int, low: Node, cap: Node) -> list[tuple[Node, Node]]:
    """The ways to satisfy one broken constraint, disjoint; a column that is raised stays where it is put."""
    number = _narrow(constraints, broken, cap)
    free, found = list(cap), []
    for column, level in enumerate(constraints.nodes[number]):
        for raised in range(level + 1, cap[column] + 1):
            found.append((at_level(low, column, raised), at_level(free, column, raised)))
        free[column] = min(free[column], level)
    return found


def _narrow(constraints: Constraints, broken: int, cap: Node) -> int:
    """One of the first broken constraints: that with the fewest ways out."""
    numbers: list[int] = []
    while broken and len(numbers) < 16:
        bit = broken & -broken
        broken ^= bit
        numbers.append(bit.bit_length() - 1)

    def ways(number: int) -> int:
        return sum(max(0, top - level) for top, level in zip(cap, constraints.nodes[number], strict=True))

    return min(numbers, key=ways)


class MinimalSearch:
    """The search for all minimal safe nodes where safety is inherited.

    Args:
        border: what is known, and who is asked. limit: the search ends when the border has so many nodes on one side:
            minimal safe ones found, or maximal unsafe ones met.
    """

    def __init__(self, border: Border, limit: int) -> None:
        self.border, self.limit = border, limit
        self.found = SafeNodes(border.heights)
        self.complete = False

    def run(self) -> None:
        """Search; `found` then holds minimal safe nodes, all of them when `complete`.

        Raises:
            BudgetSpent: the budget ended before.
        """
        border = self.border
        if not border.ask([border.heights])[0]:
            border.constraints.add(border.heights)
            self.complete = True
            return
        probe_small_subsets(border)
        known = -1
        while known != len(border.constraints.nodes):
            known = len(border.constraints.nodes)
            if not self._advance():
                return
        self.complete = True

    def _advance(self) -> bool:
        """One enumeration; False when the border is too large."""
        border, waiting = self.border, list[Node]()
        for node in minimal_nodes(border.constraints, self.found, border.inquiry.stop):
            waiting.append(node)
            if len(waiting) == _TOGETHER:
                self._decide(waiting)
                waiting = []
                if self._too_many():
                    return False
        self._decide(waiting)
        return not self._too_many()

    def _too_many(self) -> bool:
        return max(len(self.found.nodes), len(self.border.constraints.nodes)) >= self.limit

    def _decide(self, nodes: list[Node]) -> None:
        border = self.border
        border.ask([node for node in nodes if border.passes(node) is None])
        failing = []
        for at, node in enumerate(nodes):
            if border.passes(node):
                self.found.add(node)
            else:
                columns = range(len(node))
                failing.append((node, [*columns[at % len(node) :], *columns[: at % len(node)]]))
        border.raise_to_border([node for node, _ in failing], [order for _, order in failing])
