"""The state of one search over a lattice whose nodes fit in memory: what is known, who is asked, what is best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sqlaudit.lattices.search.inquiry import Inquiry, Progress
from sqlaudit.lattices.search.loss import Incumbent
from sqlaudit.lattices.search.tags import ABOVE, PASSES, SAFE, UNSAFE, Indexes, Tags
from sqlaudit.lattices.verdicts import Node, Verdict


class Board:
    """One search over tagged nodes.

    Args:
        tags: what is known. inquiry: who is asked. incumbent: the best safe node so far; None without a loss.
        eager: whether the loss of every node that is asked and safe is looked at on the way, when it may be the best.
    """

    def __init__(
        self, tags: Tags, inquiry: Inquiry, incumbent: Incumbent | None = None, *, eager: bool = False
    ) -> None:
        self.tags, self.inquiry, self.incumbent = tags, inquiry, incumbent
        self._eager = eager
        inquiry.listeners.append(self._learn)

    @property
    def top(self) -> Node:
        """The coarsest node."""
        return self.tags.heights

    def ask(self, nodes: Sequence[Node]) -> None:
        """Ask about nodes that were never asked, and note what follows.

        Raises:
            BudgetSpent: before a batch.
        """
        for verdicts in self.inquiry.ask(nodes):
            if self._eager and self.incumbent is not None:
                self.incumbent.offer(self.incumbent.worth([one.node for one in verdicts if one.safe]))
            self.tell()

    def ask_about(self, indexes: Indexes) -> None:
        """The same for the nodes at these places, batch by batch.

        Raises:
            BudgetSpent: before a batch.
        """
        for start in range(0, len(indexes), self.inquiry.batch):
            self.ask(self.tags.nodes(indexes[start : start + self.inquiry.batch]))

    def _learn(self, verdicts: Sequence[Verdict]) -> None:
        self.tags.learn(verdicts)

    def tell(self) -> None:
        """Tell of progress."""
        known = int(np.count_nonzero(self.tags.flat & (SAFE | UNSAFE)))
        best = self.incumbent.best.loss if self.incumbent is not None and self.incumbent.best else None
        self.inquiry.tell(Progress(known, self.tags.flat.size, self.inquiry.checked, best))

    def unsettled(self, indexes: Indexes | None = None) -> Indexes:
        """Those nodes (of all, or of these) of which it is not known whether the inherited requirements hold."""
        if indexes is None:
            return np.flatnonzero(self.tags.flat & (PASSES | UNSAFE) == 0)
        unknown: Indexes = indexes[self.tags.flat[indexes] & (PASSES | UNSAFE) == 0]
        return unknown

    def undecided(self, indexes: Indexes | None = None, *, minimal: bool = False) -> Indexes:
        """Those nodes whose verdict is not known; `minimal`: without those strictly above a safe node."""
        bits = SAFE | UNSAFE | (ABOVE if minimal else 0)
        if indexes is None:
            return np.flatnonzero(self.tags.flat & bits == 0)
        unknown: Indexes = indexes[self.tags.flat[indexes] & bits == 0]
        return unknown
