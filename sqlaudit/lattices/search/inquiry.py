"""Asking for verdicts: in batches, within the budget, with a record of the answers and reports of progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sqlaudit.base.errors import BudgetSpent, Stop, never
from sqlaudit.lattices.search.choice import TAGGED
from sqlaudit.lattices.verdicts import Node, Verdict

Decide = Callable[[Sequence[Node]], Sequence[Verdict]]


@dataclass(frozen=True)
class SearchOptions:
    """How a search works; what it finds does not depend on it.

    Args:
        batch: nodes of one question, at most; the budget is looked at between questions.
        walk: verdicts that are kept in the result.
        width: chains that are searched side by side, at most.
        tagged: nodes that may be tagged one by one, a byte each.
        most_minimal: `bounds` stops looking for minimal nodes when it has so many, or as many maximal unsafe ones.
    """

    batch: int = 2000
    walk: int = 100_000
    width: int = 32
    tagged: int = TAGGED
    most_minimal: int = 100_000


DEFAULTS = SearchOptions()


@dataclass(frozen=True)
class Progress:
    """How far a search is.

    Args:
        decided: nodes whose verdict is known, asked or concluded; for lattices too large to tag, those asked.
        total: nodes of the lattice.
        checked: nodes asked.
        best: the best loss so far, None before there is one.
        lower_bound: no safe node loses less, None if unknown.
    """

    decided: int
    total: int
    checked: int
    best: float | None = None
    lower_bound: float | None = None


OnProgress = Callable[[Progress], None]


def ignore_progress(progress: Progress) -> None:
    """Do nothing: the default where no one watches."""


class Inquiry:
    """The questions of one search.

    Args:
        decide: returns the verdicts, in the order of the nodes.
        stop: returns True when the budget is used up; asked before every batch.
        on_progress: receives progress.
        options: sizes of batches, and how many verdicts are kept.
    """

    def __init__(
        self,
        decide: Decide,
        *,
        stop: Stop = never,
        on_progress: OnProgress = ignore_progress,
        options: SearchOptions = DEFAULTS,
    ) -> None:
        self.stop, self.on_progress, self.batch = stop, on_progress, options.batch
        self.checked = 0
        self.walk: list[Verdict] = []
        """The first verdicts, in the order in which they were asked for."""
        self.listeners: list[Callable[[Sequence[Verdict]], None]] = []
        """Receive all verdicts, of every step that asks for them."""
        self._decide, self._walk_limit = decide, options.walk

    def ask(self, nodes: Sequence[Node]) -> Iterator[Sequence[Verdict]]:
        """Yield the verdicts, one batch after the other.

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
