"""Binary search along one chain of nodes (Martin et al., Worst-Case Background Knowledge, Theorem 14).

Where safety is not inherited, the binary search is only for the first node at which the inherited requirements hold;
from there on every node is asked, finest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sqlaudit.base.errors import UsageError
from sqlaudit.lattices.search.inquiry import Inquiry, Progress
from sqlaudit.lattices.verdicts import Node, Verdict, is_finer, node_text


def climb(heights: Sequence[int], terms: Sequence[Sequence[float]] = ()) -> tuple[Node, ...]:
    """Return a chain from the bottom to the top, one level a step: the cheapest step first, then the leftmost column.

    Args:
        heights: the highest level of every column.
        terms: for each column the cost of every level; empty = the lowest column first.

    Example:
        >>> climb((1, 2), [[0, 5], [0, 1, 9]])
        ((0, 0), (0, 1), (1, 1), (1, 2))
    """
    node = [0] * len(heights)
    chain = [tuple(node)]
    while open_columns := [at for at, height in enumerate(heights) if node[at] < height]:

        def cost(at: int) -> tuple[float, int, int]:
            step = terms[at][node[at] + 1] - terms[at][node[at]] if terms else 0.0
            return (step, node[at], at)

        node[min(open_columns, key=cost)] += 1
        chain.append(tuple(node))
    return tuple(chain)


def check_chain(chain: Sequence[Node], heights: Sequence[int]) -> tuple[Node, ...]:
    """Return the chain, when every node is in the lattice and coarser than the one before.

    Raises:
        UsageError: a node that is outside of the lattice, or not coarser than the one before.
    """
    for node in chain:
        if len(node) != len(heights) or not all(0 <= level <= top for level, top in zip(node, heights, strict=True)):
            raise UsageError(f"The chain leaves the lattice at {node_text(node)}; its top is {node_text(heights)}.")
    for finer, coarser in pairwise(chain):
        if finer == coarser or not is_finer(finer, coarser):
            raise UsageError(f"The chain goes from {node_text(finer)} to {node_text(coarser)}, which is not coarser.")
    return tuple(map(tuple, chain))


class ChainSearch:
    """The search for the finest safe node of a chain.

    Args:
        chain: from fine to coarse.
        inquiry: who is asked.
        monotone: True if safety is inherited.
    """

    def __init__(self, chain: Sequence[Node], inquiry: Inquiry, *, monotone: bool) -> None:
        self.chain, self.monotone = chain, monotone
        self.verdicts: dict[int, Verdict] = {}
        """The verdicts by their place in the chain."""
        self._inquiry = inquiry

    def run(self) -> None:
        """Search; `finest` then returns the answer.

        Raises:
            BudgetSpent: the budget ended before.
        """
        low, high = 0, len(self.chain)
        while low < high:
            middle = (low + high) // 2
            if self._is_passing(self._ask(middle)):
                high = middle
            else:
                low = middle + 1
        if self.monotone:
            return
        for at in range(low, len(self.chain)):
            if (self.verdicts[at] if at in self.verdicts else self._ask(at)).safe:
                return

    def finest(self) -> Node | None:
        """Return the finest node of the chain that is known to be safe."""
        safe = [at for at, verdict in self.verdicts.items() if verdict.safe]
        return self.chain[min(safe)] if safe else None

    def is_safe(self, node: Node) -> bool | None:
        """Return whether a node is safe, as far as it follows from the verdicts on the chain; None = not known."""
        for verdict in self.verdicts.values():
            if verdict.node == node:
                return verdict.safe
            if self.monotone and verdict.safe and is_finer(verdict.node, node):
                return True
            if not self._is_passing(verdict) and is_finer(node, verdict.node):
                return False
        return None

    def _is_passing(self, verdict: Verdict) -> bool:
        return verdict.safe if self.monotone else verdict.prunable_safe

    def _ask(self, at: int) -> Verdict:
        for verdicts in self._inquiry.ask([self.chain[at]]):
            self.verdicts[at] = verdicts[0]
        self._inquiry.on_progress(Progress(len(self.verdicts), len(self.chain), self._inquiry.checked))
        return self.verdicts[at]
