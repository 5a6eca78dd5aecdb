"""The best safe node of a lattice far too large to visit, by proven lower bounds (implicit hitting sets).

Every unsafe node is a constraint on the safe ones: some column must rise above it. The cheapest node that satisfies the
constraints known so far cannot be undercut by any safe node. It is asked; when it is unsafe, it is raised to a maximal
unsafe node, which is a new constraint; when it is safe, it is the best. The number of questions depends on how many
unsafe nodes it takes to prove the answer, not on the size of the lattice.

Where suppression makes the loss of a node larger than its bound, or safety is not inherited, the same walk goes on
through all nodes whose bound is below the best loss known: it is exact, and may be long; what is proven is said.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlaudit.generalization.search.border import Border, probe_small_subsets
from sqlaudit.generalization.search.boxes import Box, Boxes
from sqlaudit.generalization.search.loss import Incumbent, NodeLoss
from sqlaudit.generalization.verdicts import Node

_SIDE_BY_SIDE = 32
"""Candidates of one question where more than one will be needed anyhow."""


class BoundsSearch:
    """The search for the best safe node.

    Args:
        border: what is known, and who is asked. incumbent: the best safe node so far.
    """

    def __init__(self, border: Border, incumbent: Incumbent) -> None:
        self.border, self.incumbent = border, incumbent
        self._loss: NodeLoss = incumbent.loss
        self._boxes = Boxes(border.heights, self._loss, border.constraints, border.inquiry.stop)
        # the first candidate that is safe ends the search, so asking for more at once would be waste
        self._first_ends = border.monotone and self._loss.exact is None and self._loss.rising

    def run(self) -> None:
        """Search; the incumbent is then the best safe node, or there is none.

        Raises:
            BudgetSpent: the budget ended before; `border.lower` is proven.
        """
        border = self.border
        if not border.ask([border.heights])[0]:
            border.constraints.add(border.heights)
            return
        probe_small_subsets(border)
        while boxes := self._candidates():
            border.lower = min(boxes[0].bound, self.incumbent.key[0])
            self._decide([box.low for box in boxes])
            for box in boxes:
                self._put_back(box)

    def _candidates(self) -> list[Box]:
        boxes: list[Box] = []
        while len(boxes) < (1 if self._first_ends else _SIDE_BY_SIDE):
            box = self._boxes.next(self.incumbent.key)
            if box is None:
                break
            boxes.append(box)
        return boxes

    def _decide(self, nodes: Sequence[Node]) -> None:
        """Ask about candidates, take in the safe ones, and find what speaks against those that fail."""
        border = self.border
        border.ask([node for node in nodes if self._open(node)])
        self.incumbent.offer(self.incumbent.worth([node for node in nodes if border.known(node)]))
        failing = [node for node in nodes if border.passes(node) is False and not border.constraints.broken(node)]
        border.raise_to_border(failing, [self._cheap_first(node) for node in failing])

    def _open(self, node: Node) -> bool:
        return self.border.passes(node) is None if self.border.monotone else node not in self.border.safe

    def _put_back(self, box: Box) -> None:
        border = self.border
        if border.constraints.broken(box.low):
            self._boxes.put(box.low, box.cap, box.bound)
        elif not (border.known(box.low) and self._loss.never_falls):
            self._boxes.without_finest(box)

    def _cheap_first(self, node: Node) -> list[int]:
        """Columns that cost little at their top first, so that a constraint is left to the dear ones."""
        terms = self._loss.terms
        return sorted(range(len(node)), key=lambda at: (terms[at][-1] - terms[at][node[at]], at))
