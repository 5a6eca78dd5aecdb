"""Local search: a good safe node early, in lattices where the proof of the best one takes long.

From a node that fails, columns are raised until one is safe, cheap ones more often; from there columns are lowered as
long as it stays safe, dear ones first. Then one to three columns of the node that this led to get other levels, by
chance, and so on: iterated local search (Lourenço, Martin and Stützle, Handbook of Metaheuristics, 2003). The numbers
are drawn from a seed of its own, so the same search asks the same questions.

It only proposes nodes: what is proven, and the best node of a search that ends, do not depend on it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from sqlaudit.lattices.search.border import Border, Climb, climb_side_by_side
from sqlaudit.lattices.search.loss import Incumbent
from sqlaudit.lattices.verdicts import Node, at_level

_SHARE = 5
"""A turn begins when less than one of so many verdicts was asked for by local search."""
_TOGETHER = 4
"""Descents of one question."""
_KICKS = 24
"""Descents in vain after which it starts from the finest node again."""
_STARTS = 5
"""Starts in vain after which it ends."""
_LEAST_STEP = 1e-3
"""What a step costs at least, so that also steps without a cost are weighed."""


class LocalSearch:
    """A local search beside a search that proves which node is best.

    Args:
        border: what is known, and who is asked.
        incumbent: the best safe node so far, to be undercut.
    """

    def __init__(self, border: Border, incumbent: Incumbent) -> None:
        self._border, self._incumbent = border, incumbent
        self._columns = [column for column, height in enumerate(border.heights) if height]
        self._random = random.Random(0)
        self._asked = self._kicks = self._starts = 0
        self._current: tuple[float, Node] = (math.inf, ())
        """The node from which it goes on: its loss and levels."""

    def take_turn(self) -> None:
        """Descend until its share of the verdicts is used up.

        Raises:
            BudgetSpent: the budget ended before.
        """
        while self._starts < _STARTS and _SHARE * self._asked < self._border.inquiry.checked:
            best = self._incumbent.key
            nodes = [self._kick() for _ in range(_TOGETHER)]
            ends = climb_side_by_side(map(self._descend, nodes), self._border.is_safe, self._ask)
            losses, bound = self._incumbent.losses, self._incumbent.loss.bound
            self._kicks += _TOGETHER
            # a node that was not priced has a bound above the best loss
            reached = min((losses.get(node, bound(node)), node) for node in ends)
            if reached < self._current:
                self._current, self._kicks = reached, 0
            elif self._kicks >= _KICKS:
                self._current, self._kicks, self._starts = (math.inf, ()), 0, self._starts + 1
            if self._incumbent.key < best:
                self._starts = 0

    def _ask(self, nodes: Sequence[Node]) -> list[bool]:
        self._asked += len(nodes)
        self._border.ask(nodes)
        return [bool(self._border.is_safe(node)) for node in nodes]

    def _kick(self) -> Node:
        """Return the current node with other levels in one to three columns; at a start the finest node."""
        node = self._current[1]
        if not node:
            return (0,) * len(self._border.heights)
        for _ in range(self._random.randint(1, 3)):
            column = self._random.choice(self._columns)
            node = at_level(node, column, self._random.randint(0, self._border.heights[column]))
        return node

    def _descend(self, node: Node) -> Climb:
        """Go up to a safe node, and down to one from which no column can be lowered; the top if that is not safe."""
        steps = 1
        while not (yield node):
            if node == self._border.heights:
                return node
            for _ in range(steps):
                columns = [column for column in self._columns if node[column] < self._border.heights[column]]
                if columns:
                    cheap = [1 / self._cost(column, node[column] + 1) for column in columns]
                    (column,) = self._random.choices(columns, cheap)
                    node = at_level(node, column, node[column] + 1)
            steps *= 2
        # a column that cannot be lowered here cannot be lowered in finer nodes either, where safety is inherited
        columns = self._columns
        while columns := [column for column in columns if node[column]]:
            dear = {column: self._cost(column, node[column]) * self._random.uniform(0.7, 1.3) for column in columns}
            column = max(columns, key=dear.__getitem__)
            finer = at_level(node, column, node[column] - 1)
            if (yield finer):
                node = finer
            else:
                columns.remove(column)
        return node

    def _cost(self, column: int, level: int) -> float:
        """Return what the step to a level of a column costs."""
        terms = self._incumbent.loss.terms[column]
        return max(_LEAST_STEP, terms[level] - terms[level - 1])
