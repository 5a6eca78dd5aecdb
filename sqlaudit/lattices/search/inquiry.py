"""Asking for verdicts: in batches, within the budget, with a record of what was asked and progress told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sqlaudit.column_sets.budget import BudgetSpent, Stop, never
from sqlaudit.lattices.verdicts import Node, Verdict

Decide = Callable[[Sequence[Node]], Sequence[Verdict]]


@dataclass(frozen=True)
class Progress:
    """How far a search is.

    Args:
        decided: nodes whose verdict is known, asked or concluded; for lattices too large to tag, those asked.
        total: nodes of the lattice. checked: nodes asked.
        best: the best loss so far, None before there is one. lower_bound: no safe node loses less, None if unknown.
    """

    decided: int
    total: int
    checked: int
    best: float | None = None
    lower_bound: float | None = None


Tell = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Progress that nobody watches."""


class Inquiry:
    """The questions of one search.

    Args:
        decide: answers, in the order of the nodes. stop: whether the budget is used up, asked before every batch.
        tell: told of progress by whoever knows it. batch: nodes a question, at most.
        walk: how many verdicts are kept, the first ones.
    """

    def __init__(
        self, decide: Decide, *, stop: Stop = never, tell: Tell = silent, batch: int = 2000, walk: int = 100_000
    ) -> None:
        self.stop, self.tell, self.batch = stop, tell, batch
        self.checked = 0
        self.walk: list[Verdict] = []
        self.listeners: list[Callable[[Sequence[Verdict]], None]] = []
        """Told of all verdicts, whoever asked."""
        self._decide, self._walk_limit = decide, walk

    def ask(self, nodes: Sequence[Node]) -> Iterator[Sequence[Verdict]]:
        """The verdicts, one batch after the other.

        Raises:
            BudgetSpent: before a batch; those before it were answered.
        """
        for start in range(0, len(nodes), self.batch):
            if self.stop():
                raise BudgetSpent
            verdicts = self._decide(nodes[start : start + self.batch])
            self.checked += len(verdicts)
            self.walk += verdicts[: max(0, self._walk_limit - len(self.walk))]
            for listener in self.listeners:
                listener(verdicts)
            yield verdicts
