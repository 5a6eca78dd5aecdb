"""A search that keeps only the border between safe and unsafe nodes, for lattices too large to tag.

From an unsafe node up to a maximal one, asking little; several climbs side by side.

A climb is a generator that yields the node it wants to know and is sent whether the inherited requirements hold there,
so that one question carries the next node of every climb.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Sequence
from itertools import combinations

import numpy as np

from sqlaudit.lattices.search.constraints import Constraints, SafeNodes
from sqlaudit.lattices.search.inquiry import Inquiry, Progress
from sqlaudit.lattices.search.loss import Incumbent
from sqlaudit.lattices.verdicts import Node, Verdict

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
        if (yield (*node[:column], middle, *node[column + 1 :])):
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
        if node in self._failing or self.constraints.broken(node):
            return False
        return True if self.passing.under(node) else None

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
        return sorted(node for node in found if all(self.passes(below) is False for below in _just_below(node)))

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
            end = yield from _noting(climb_to_border(node, self.heights, order), self.constraints)
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


def probe_small_subsets(border: Border, size: int = 2) -> None:
    """Ask about single columns and pairs of columns as they are, the others at their top: cheap, strong constraints.

    Raises:
        BudgetSpent: the budget ended before.
    """
    columns = [at for at, height in enumerate(border.heights) if height]
    for width in range(1, min(size, len(columns)) + 1):
        nodes = [
            tuple(0 if at in chosen else top for at, top in enumerate(border.heights))
            for chosen in combinations(columns, width)
        ]
        unknown = [node for node in nodes if border.passes(node) is None]
        passes = border.ask(unknown)
        failing = [node for node, passed in zip(unknown, passes, strict=True) if not passed]
        border.raise_to_border(failing, [columns] * len(failing), more=False)


def _noting(climb: Climb, constraints: Constraints) -> Generator[Node, bool, Node]:
    end = yield from climb
    constraints.add(end)
    return end


def _just_below(node: Node) -> list[Node]:
    return [(*node[:at], level - 1, *node[at + 1 :]) for at, level in enumerate(node) if level]
