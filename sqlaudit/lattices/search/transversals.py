"""All minimal safe nodes of a lattice too large to tag: dualize what is known, and advance.

The minimal nodes that satisfy all known constraints are enumerated; one that is safe is a minimal safe node, one that
is not leads to a new constraint. When all of them are safe, none is missing. (Gunopulos, Mannila et al.: Discovering
All Most Specific Sentences, ACM TODS 28, 2003; the enumeration is that of Murakami and Uno, Efficient algorithms for
dualizing large-scale hypergraphs, Discrete Applied Mathematics 170, 2014, with levels in place of elements: whenever a
column is raised to a level, some constraint must need just that, given the other columns.)
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlaudit.column_sets.budget import BudgetSpent, Stop, never
from sqlaudit.lattices.search.border import Border, probe_small_subsets
from sqlaudit.lattices.search.constraints import Constraints, SafeNodes
from sqlaudit.lattices.verdicts import Node

_LOOK = 256
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
        if looked % _LOOK == 0 and stop():
            raise BudgetSpent
        low, cap = stack.pop()
        if without.under(low) or not _needed(constraints, low):
            continue
        broken = constraints.broken(low)
        if not broken:
            yield low
        else:
            stack += _branches(constraints, broken, low, cap)


def _needed(constraints: Constraints, low: Node) -> bool:
    """Whether every raised column is needed at its level, as long as no other column rises further."""
    below = constraints.below
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
            node = (*low[:column], raised, *low[column + 1 :])
            found.append((node, (*free[:column], raised, *free[column + 1 :])))
        free[column] = min(free[column], level)
    return found


def _narrow(constraints: Constraints, broken: int, cap: Node) -> int:
    """One of the first broken constraints: that with the fewest ways out."""
    best, fewest = -1, -1
    for _ in range(16):
        if not broken:
            break
        bit = broken & -broken
        broken ^= bit
        number = bit.bit_length() - 1
        ways = sum(max(0, top - level) for top, level in zip(cap, constraints.nodes[number], strict=True))
        if fewest < 0 or ways < fewest:
            best, fewest = number, ways
    return best


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
