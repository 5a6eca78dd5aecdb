"""All minimal safe nodes of a lattice too large to tag: dualize what is known, and advance.

The minimal nodes that satisfy all known constraints are enumerated; one that is safe is a minimal safe node, one
that is not leads to a new constraint. When all of them are safe, none is missing. (Gunopulos, Mannila et al.:
Discovering All Most Specific Sentences, ACM TODS 28, 2003; the enumeration is that of Murakami and Uno, Efficient
algorithms for dualizing large-scale hypergraphs, Discrete Applied Mathematics 170, 2014, with levels in place of
elements: whenever a column is raised to a level, some constraint must need just that, given the other columns.)
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlaudit.base.errors import BudgetSpent, Stop
from sqlaudit.lattices.search.border import Border, Constraints, FinerNodes, probe_small_subsets
from sqlaudit.lattices.verdicts import Node, at_level

_BETWEEN_LOOKS = 256
"""Nodes between two looks at the clock."""
_TOGETHER = 64
"""Nodes of one question."""
_COMPARED = 16
"""Broken constraints of which the one with the fewest ways out is taken."""


def enumerate_minimal_nodes(constraints: Constraints, excluded: FinerNodes, stop: Stop) -> Iterator[Node]:
    """Yield the minimal nodes that satisfy all constraints, except those at or above an excluded node.

    Constraints that are added meanwhile are obeyed from then on, but nodes that need them may be missed.

    Raises:
        BudgetSpent: the budget ended before.

    Example:
        >>> from sqlaudit.base.errors import never
        >>> constraints = Constraints((2, 1))
        >>> constraints.add((1, 0))
        >>> sorted(enumerate_minimal_nodes(constraints, FinerNodes((2, 1)), never))
        [(0, 1), (2, 0)]
    """
    bottom = (0,) * len(constraints.heights)
    stack: list[tuple[Node, Node]] = [(bottom, constraints.heights)]
    taken = 0
    while stack:
        taken += 1
        if taken % _BETWEEN_LOOKS == 0 and stop():
            raise BudgetSpent
        low, cap = stack.pop()
        if excluded.match(low) or not _is_needed(constraints, low):
            continue
        broken = constraints.match(low)
        if not broken:
            yield low
        else:
            stack += _branch(constraints, broken, low, cap)


def _is_needed(constraints: Constraints, low: Node) -> bool:
    """Return True if every raised column is needed at its level, as long as no other column rises further."""
    by_level = constraints.by_level
    # the constraints that the columns after each one break, from the last column on, then those before it
    after = [(1 << len(constraints.nodes)) - 1]
    for sets, level in zip(reversed(by_level), reversed(low), strict=True):
        after.append(after[-1] & sets[level])
    before = after[0]
    for at, (sets, level) in enumerate(zip(by_level, low, strict=True)):
        others = before & after[len(low) - 1 - at]
        if level and not others & sets[level - 1] & ~sets[level]:
            return False
        before &= sets[level]
    return True


def _branch(constraints: Constraints, broken: int, low: Node, cap: Node) -> list[tuple[Node, Node]]:
    """Return the ways to satisfy one broken constraint, disjoint; a column that is raised stays at its level."""
    number = _select_narrowest(constraints, broken, cap)
    free, branches = list(cap), []
    for column, level in enumerate(constraints.nodes[number]):
        for raised in range(level + 1, cap[column] + 1):
            branches.append((at_level(low, column, raised), at_level(free, column, raised)))
        free[column] = min(free[column], level)
    return branches


def _select_narrowest(constraints: Constraints, broken: int, cap: Node) -> int:
    """Return the number of the constraint with the fewest ways out, of the first broken ones."""
    numbers: list[int] = []
    while broken and len(numbers) < _COMPARED:
        bit = broken & -broken
        broken ^= bit
        numbers.append(bit.bit_length() - 1)

    def count_ways(number: int) -> int:
        return sum(max(0, top - level) for top, level in zip(cap, constraints.nodes[number], strict=True))

    return min(numbers, key=count_ways)


class MinimalSearch:
    """The search for all minimal safe nodes where safety is inherited.

    Args:
        border: what is known, and who is asked.
        limit: the search ends when the border has so many nodes on one side: minimal safe ones, or maximal unsafe ones.
    """

    def __init__(self, border: Border, limit: int) -> None:
        self.border, self.limit = border, limit
        self.minimal = FinerNodes(border.heights)
        self.complete = False

    def run(self) -> None:
        """Search; `minimal` then holds minimal safe nodes, all of them when `complete`.

        Raises:
            BudgetSpent: the budget ended before.
        """
        border = self.border
        if not border.ask_top():
            self.complete = True
            return
        probe_small_subsets(border)
        constraints = -1
        while constraints != len(border.constraints.nodes):
            constraints = len(border.constraints.nodes)
            if not self._advance():
                return
        self.complete = True

    def _advance(self) -> bool:
        """Decide the nodes of one enumeration. Return False when the border is too large."""
        border, waiting = self.border, list[Node]()
        for node in enumerate_minimal_nodes(border.constraints, self.minimal, border.inquiry.stop):
            waiting.append(node)
            if len(waiting) == _TOGETHER:
                self._decide(waiting)
                waiting = []
                if self._is_at_limit():
                    return False
        self._decide(waiting)
        return not self._is_at_limit()

    def _is_at_limit(self) -> bool:
        return max(len(self.minimal.nodes), len(self.border.constraints.nodes)) >= self.limit

    def _decide(self, nodes: list[Node]) -> None:
        """Ask about candidates: those that pass are minimal, those that fail are raised to constraints."""
        border = self.border
        border.ask([node for node in nodes if border.is_passing(node) is None])
        failing = []
        for at, node in enumerate(nodes):
            if border.is_passing(node):
                self.minimal.add(node)
            else:
                # each begins with another column, so that they lead to different constraints
                columns, first = range(len(node)), at % len(node)
                failing.append((node, [*columns[first:], *columns[:first]]))
        border.raise_to_border([node for node, _ in failing], [order for _, order in failing])
