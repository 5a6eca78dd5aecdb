"""The border between safe and unsafe nodes, for lattices too large to tag: what is known of it, and how it is found.

An unsafe node m is a constraint on every safe node v: some column of v lies above its level in m. Constraints and
passing nodes are kept by number; for every column and level there is a set of numbers, so that looking a node up is one
intersection a column, however many are known.

A node *passes* when it meets the requirements that coarser nodes inherit; where all are inherited, it is safe.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sqlaudit.lattices.search.inquiry import Inquiry, Progress
from sqlaudit.lattices.search.loss import Incumbent
from sqlaudit.lattices.verdicts import Node, Verdict, at_level, just_below


class _NodeIndex:
    """Nodes by number: for each column and level the set of those that match at this level, as bits."""

    def __init__(self, heights: Sequence[int]) -> None:
        self.heights = tuple(heights)
        self.nodes: list[Node] = []
        self.by_level: list[list[int]] = [[0] * (height + 1) for height in heights]

    def matching_levels(self, level: int, height: int) -> range:
        """Return the levels of a column of this height at which a node with this level is matched."""
        raise NotImplementedError

    def add(self, node: Node) -> None:
        """Note a node, unless one that is noted already says as much."""
        if self.match(node):
            return
        bit = 1 << len(self.nodes)
        self.nodes.append(node)
        for sets, level in zip(self.by_level, node, strict=True):
            for at in self.matching_levels(level, len(sets) - 1):
                sets[at] |= bit

    def match(self, node: Node) -> int:
        """Return the set of nodes that match all levels of this one, as bits; 0 = none."""
        matching = (1 << len(self.nodes)) - 1
        for sets, level in zip(self.by_level, node, strict=True):
            matching &= sets[level]
            if not matching:
                break
        return matching


class Constraints(_NodeIndex):
    """Unsafe nodes whose finer nodes are all unsafe: what a safe node must rise above.

    A node matches the constraints that it breaks: those that it does not rise above.

    Example:
        >>> constraints = Constraints((2, 2))
        >>> constraints.add((1, 2))
        >>> constraints.match((1, 1)), constraints.match((2, 0))
        (1, 0)
    """

    def __init__(self, heights: Sequence[int]) -> None:
        super().__init__(heights)
        self._matrix: NDArray[np.int64] = np.zeros((0, len(heights)), dtype=np.int64)

    def matching_levels(self, level: int, height: int) -> range:
        """Return the levels that do not rise above this one."""
        return range(level + 1)

    @property
    def matrix(self) -> NDArray[np.int64]:
        """The constraints, one row each."""
        if len(self._matrix) < len(self.nodes):
            grown = np.array(self.nodes[len(self._matrix) :], dtype=np.int64)
            self._matrix = np.concatenate([self._matrix, grown.reshape(-1, len(self.heights))])
        return self._matrix


class FinerNodes(_NodeIndex):
    """Nodes that answer for all coarser ones. A node matches those that are the same or finer."""

    def matching_levels(self, level: int, height: int) -> range:
        """Return the levels at or above this one."""
        return range(level, height + 1)


# From a failing node up to a coarsest failing one, with few questions; several climbs side by side.
#
# A climb is a generator that yields the node it wants to know and is sent whether the node passes, so that one question
# carries the next node of every climb.

Climb = Generator[Node, bool, Node]
IsPassing = Callable[[Node], bool | None]
Ask = Callable[[Sequence[Node]], list[bool]]


def climb_to_border(start: Node, heights: Sequence[int], order: Sequence[int]) -> Climb:
    """Go from a node that fails to a coarsest such node.

    Columns are raised to their top in blocks that double while the node keeps failing and halve when it does not; a
    column that cannot be raised to its top is raised as far as it can be, by binary search. What was too high for a
    column stays so when others rise, so one pass is enough.

    Args:
        start: a node that fails.
        heights: the highest level of every column.
        order: the columns, those to be raised first first.

    Returns:
        A node that fails while every node strictly above it passes.
    """
    node, at, block = list(start), 0, 1
    raisable = [column for column in order if node[column] < heights[column]]
    while at < len(raisable):
        columns = raisable[at : at + block]
        raised = [heights[column] if column in columns else level for column, level in enumerate(node)]
        if not (yield tuple(raised)):
            node, at, block = raised, at + len(columns), 2 * block
        elif len(columns) > 1:
            block = len(columns) // 2
        else:
            node[columns[0]] = yield from _find_highest_failing(node, columns[0], heights[columns[0]])
            at += 1
    return tuple(node)


def _find_highest_failing(node: Sequence[int], column: int, passing: int) -> Generator[Node, bool, int]:
    """Find the highest level of the column at which the node fails; `passing` is known to be too high."""
    failing = node[column]
    while passing - failing > 1:
        middle = (passing + failing) // 2
        if (yield at_level(node, column, middle)):
            passing = middle
        else:
            failing = middle
    return failing


def climb_side_by_side(climbs: Iterable[Climb], is_passing: IsPassing, ask: Ask) -> list[Node]:
    """Return where the climbs end, in their order.

    Args:
        climbs: generators that yield nodes.
        is_passing: answers from what is known; None = not known.
        ask: answers the nodes that are not known, of all climbs together.
    """
    running = list(climbs)
    ends: list[Node | None] = [None] * len(running)
    waiting: dict[int, Node] = {}

    def advance(number: int, answer: bool | None) -> None:
        try:
            node = next(running[number]) if answer is None else running[number].send(answer)
            while (passing := is_passing(node)) is not None:
                node = running[number].send(passing)
            waiting[number] = node
        except StopIteration as end:
            ends[number] = end.value

    for number in range(len(running)):
        advance(number, None)
    while waiting:
        asking, waiting = waiting, {}
        nodes = list(dict.fromkeys(asking.values()))
        answers = dict(zip(nodes, ask(nodes), strict=True))
        for number, node in asking.items():
            advance(number, answers[node])
    return [end for end in ends if end is not None]


class Border:
    """What is known of a lattice by asking about its border, and who is asked.

    Args:
        heights: the highest level of every column.
        inquiry: who is asked.
        monotone: True if safety is inherited.
        incumbent: the best safe node so far; None without a loss.
    """

    def __init__(
        self, heights: Sequence[int], inquiry: Inquiry, *, monotone: bool, incumbent: Incumbent | None = None
    ) -> None:
        self.heights, self.monotone = tuple(heights), monotone
        self.inquiry, self.incumbent = inquiry, incumbent
        self.nodes = math.prod(height + 1 for height in heights)
        self.constraints = Constraints(heights)
        self.passing = FinerNodes(heights)
        self.safe: dict[Node, bool] = {}
        """The verdicts."""
        self.lower: float | None = None
        """No safe node loses less; None if unknown."""
        self._failing: set[Node] = set()

    def is_passing(self, node: Node) -> bool | None:
        """Return whether a node passes; None when that is not known."""
        if node in self._failing or self.constraints.match(node):
            return False
        return True if self.passing.match(node) else None

    def is_safe(self, node: Node) -> bool | None:
        """Return whether a node is safe; None when that is not known."""
        passing = self.is_passing(node)
        return passing if passing is False or self.monotone else self.safe.get(node)

    def ask(self, nodes: Sequence[Node]) -> list[bool]:
        """Return whether each node passes; none of them was asked before.

        Raises:
            BudgetSpent: before a batch.
        """
        answers = []
        for verdicts in self.inquiry.ask(nodes):
            answers += [self._learn(verdict) for verdict in verdicts]
            if self.incumbent is not None:
                safe = [verdict.node for verdict in verdicts if verdict.safe]
                self.incumbent.offer(self.incumbent.select_candidates(safe))
            self._report_progress()
        return answers

    def ask_top(self) -> bool:
        """Ask about the coarsest node. Return False if it fails: no node can be safe then.

        Raises:
            BudgetSpent: the budget ended before.
        """
        (passing,) = self.ask([self.heights])
        if not passing:
            self.constraints.add(self.heights)
        return passing

    def raise_to_border(
        self, nodes: Sequence[Node], orders: Sequence[Sequence[int]], *, repeatedly: bool = True
    ) -> None:
        """Find constraints that failing nodes break: coarsest failing nodes above each.

        Args:
            nodes: failing nodes.
            orders: for each the columns, those that are raised first first.
            repeatedly: with the columns of a constraint at their top, look for another one, and so on.

        Raises:
            BudgetSpent: the budget ended before.
        """
        climbs = [self._find_constraints(node, order, repeatedly) for node, order in zip(nodes, orders, strict=True)]
        climb_side_by_side(climbs, self.is_passing, self.ask)

    def minimal(self) -> list[Node]:
        """Return the nodes that are known to be safe with nothing below them that could be."""
        safe = (node for node, is_safe in self.safe.items() if is_safe)
        return sorted(node for node in safe if all(self.is_passing(finer) is False for finer in just_below(node)))

    def conclude(self) -> None:
        """Let nodes that failed and that a stopped search did not raise to the border speak against finer ones."""
        for node in sorted(self._failing, key=sum, reverse=True):
            self.constraints.add(node)

    def count_unknown(self) -> int:
        """Count the nodes of which it is not known whether they are safe; looks at every one."""
        decided = np.zeros([height + 1 for height in self.heights], dtype=np.bool_)
        for node in self.constraints.nodes:
            decided[tuple(slice(0, level + 1) for level in node)] = True
        for node in self.passing.nodes if self.monotone else ():
            decided[tuple(slice(level, None) for level in node)] = True
        for node in () if self.monotone else self.safe:
            decided[node] = True
        return int(decided.size - np.count_nonzero(decided))

    def _find_constraints(self, start: Node, order: Sequence[int], repeatedly: bool) -> Climb:
        node = start
        while True:
            end = yield from climb_to_border(node, self.heights, order)
            self.constraints.add(end)
            node = tuple(top if high < top else level for level, high, top in zip(node, end, self.heights, strict=True))
            if not repeatedly or (yield node):
                return end

    def _learn(self, verdict: Verdict) -> bool:
        self.safe[verdict.node] = verdict.safe
        passing = verdict.safe if self.monotone else verdict.prunable_safe
        if passing:
            self.passing.add(verdict.node)
        else:
            self._failing.add(verdict.node)
        return passing

    def _report_progress(self) -> None:
        best = self.incumbent.best.loss if self.incumbent is not None and self.incumbent.best else None
        checked = self.inquiry.checked
        self.inquiry.on_progress(Progress(checked, self.nodes, checked, best, self.lower))


def probe_small_subsets(border: Border) -> None:
    """Ask about single columns and pairs of columns as they are, the others at their top: cheap, strong constraints.

    Raises:
        BudgetSpent: the budget ended before.
    """
    columns = [at for at, height in enumerate(border.heights) if height]
    for size in (1, 2):
        subsets = combinations(columns, size)
        nodes = [tuple(0 if at in subset else top for at, top in enumerate(border.heights)) for subset in subsets]
        unknown = [node for node in nodes if border.is_passing(node) is None]
        answers = border.ask(unknown)
        failing = [node for node, passing in zip(unknown, answers, strict=True) if not passing]
        border.raise_to_border(failing, [columns] * len(failing), repeatedly=False)
