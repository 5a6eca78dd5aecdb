"""The best safe node of a lattice far too large to visit, by proven lower bounds (implicit hitting sets).

Every unsafe node is a constraint on the safe ones: some column must rise above it. The cheapest node that satisfies the
constraints known so far cannot be undercut by any safe node. It is asked; when it is unsafe, it is raised to a maximal
unsafe node, which is a new constraint; when it is safe, it is the best. The number of questions depends on how many
unsafe nodes it takes to prove the answer, not on the size of the lattice.

Where suppression makes the loss of a node larger than its bound, or safety is not inherited, the same walk goes on
through all nodes whose bound is below the best loss known: it is exact, and may be long; what is proven is said.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import pairwise

from sqlaudit.column_sets.budget import BudgetSpent
from sqlaudit.lattices.search.border import Border, probe_small_subsets
from sqlaudit.lattices.search.boxes import Box, Boxes
from sqlaudit.lattices.search.inquiry import Inquiry
from sqlaudit.lattices.search.loss import Incumbent, NodeLoss
from sqlaudit.lattices.verdicts import Node

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
        failing = [node for node in nodes if border.passes(node) is False and not border.constraints.broken(node)]
        starts = [(node, order) for node in failing for order in self._orders(node, alone=len(failing) < _ALONE)]
        border.raise_to_border([node for node, _ in starts], [order for _, order in starts])

    def _open(self, node: Node) -> bool:
        return self.border.passes(node) is None if self.border.monotone else node not in self.border.safe

    def _put_back(self, box: Box) -> None:
        border = self.border
        if border.constraints.broken(box.low):
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
