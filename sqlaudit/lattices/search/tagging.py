"""Predictive tagging: every node of a lattice in memory, and what a verdict says about finer and coarser nodes.

When safety is inherited, all nodes coarser than a safe one are safe, and all nodes finer than an unsafe one are unsafe
(El Emam et al.: A Globally Optimal k-Anonymity Method, JAMIA 2009; Barriers, section 4.2). When it is not, only a
failure of the requirements that *are* inherited says something about finer nodes. A node *passes* when it meets those;
where all requirements are inherited, a node that passes is safe.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sqlaudit.lattices.search.inquiry import Inquiry, Progress
from sqlaudit.lattices.search.loss import Incumbent
from sqlaudit.lattices.verdicts import Node, Verdict

SAFE, UNSAFE, ASKED = 1, 2, 4
"""Bits of the byte that each node has."""
PASSES = 8
"""The requirements that are inherited hold here (when all are, this is `SAFE`)."""
ABOVE = 16
"""Strictly above a safe node; kept only where safety is not inherited."""

Bytes = NDArray[np.uint8]
Bools = NDArray[np.bool_]
Indexes = NDArray[np.intp]


class Tags:
    """The nodes of a lattice and what is known about them.

    Args:
        heights: the highest level of every column.
        monotone: True if every node coarser than a safe one is safe.

    Example:
        >>> tags = Tags((2, 1), monotone=True)
        >>> tags.learn([Verdict((1, 0), True, True, 3, 0, 5)])
        >>> tags.is_safe((2, 1)), tags.is_safe((0, 1)), tags.minimal(tags.safe)
        (True, None, [(1, 0)])
    """

    def __init__(self, heights: Sequence[int], *, monotone: bool) -> None:
        self.heights = tuple(heights)
        self.monotone = monotone
        self.cells: Bytes = np.zeros([height + 1 for height in heights], dtype=np.uint8)
        self.flat: Bytes = self.cells.reshape(-1)
        self.strides = tuple(math.prod(height + 1 for height in heights[at + 1 :]) for at in range(len(heights)))

    @property
    def safe(self) -> Bools:
        """The nodes that are known to be safe, as a mask of the lattice."""
        return self.cells & SAFE > 0

    @property
    def unsafe(self) -> Bools:
        """The nodes that are known to be unsafe, as a mask of the lattice."""
        return self.cells & UNSAFE > 0

    def index(self, node: Node) -> int:
        """Return the index of a node among all, in the order of the levels."""
        return sum(level * stride for level, stride in zip(node, self.strides, strict=True))

    def nodes(self, indexes: Indexes) -> list[Node]:
        """Return the nodes at several indexes."""
        if not self.heights:
            return [() for _ in indexes]
        columns = np.unravel_index(indexes, self.cells.shape)
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def is_safe(self, node: Node) -> bool | None:
        """Return whether the node is safe; None when that is not known."""
        cell = int(self.flat[self.index(node)])
        return True if cell & SAFE else False if cell & UNSAFE else None

    def heights_of(self, indexes: Indexes) -> NDArray[np.int64]:
        """Return the sums of the levels of several nodes."""
        total = np.zeros(len(indexes), dtype=np.int64)
        for stride, height in zip(self.strides, self.heights, strict=True):
            total += indexes // stride % (height + 1)
        return total

    def learn(self, verdicts: Sequence[Verdict]) -> None:
        """Note verdicts, each node's once, and everything that follows from them."""
        passing = {verdict.node: verdict.safe if self.monotone else verdict.prunable_safe for verdict in verdicts}
        self._spread([node for node, passes in passing.items() if not passes], UNSAFE, upward=False)
        bits = PASSES | SAFE if self.monotone else PASSES
        self._spread([node for node, passes in passing.items() if passes], bits, upward=True)
        if not self.monotone:
            self._spread_above([verdict.node for verdict in verdicts if verdict.safe])
        for verdict in verdicts:
            self.flat[self.index(verdict.node)] |= ASKED | (SAFE if verdict.safe else UNSAFE)

    def minimal(self, nodes: Bools, finer: Bools | None = None) -> list[Node]:
        """Return the nodes of a mask with no node of `finer` strictly below; None = of the mask itself."""
        return self.nodes(np.flatnonzero(nodes & ~strictly_above(nodes if finer is None else finer)))

    def _spread(self, nodes: Sequence[Node], bits: int, *, upward: bool) -> None:
        """Tag the nodes and all coarser (finer) ones."""
        cones = [self._cone(node, upward) for node in nodes]
        volumes = [math.prod(levels.stop - levels.start for levels in cone) for cone in cones]
        # one pass over the lattice where the cones together are larger
        if sum(volumes) > 4 * len(self.heights) * self.flat.size:
            seeds = np.zeros(self.cells.shape, dtype=np.bool_)
            seeds.reshape(-1)[[self.index(node) for node in nodes]] = True
            self.cells[close(seeds, upward=upward)] |= bits
            return
        for at in sorted(range(len(nodes)), key=volumes.__getitem__, reverse=True):
            # a node that was tagged before it was asked lies in a cone that is tagged already
            if int(self.cells[nodes[at]]) & bits != bits:
                self.cells[cones[at]] |= bits

    def _spread_above(self, nodes: Sequence[Node]) -> None:
        for node in sorted(nodes, key=sum):
            if not int(self.cells[node]) & ABOVE:
                self.cells[self._cone(node, True)] |= ABOVE
                self.cells[node] &= ~np.uint8(ABOVE)

    def _cone(self, node: Node, upward: bool) -> tuple[slice, ...]:
        if upward:
            return tuple(slice(level, top + 1) for level, top in zip(node, self.heights, strict=True))
        return tuple(slice(0, level + 1) for level in node)


def close(seeds: Bools, *, upward: bool = True) -> Bools:
    """Return the seeds and all nodes that are coarser (finer) than one of them."""
    closed = seeds.copy()
    for axis in range(seeds.ndim):
        moved = np.moveaxis(closed, axis, 0)[:: 1 if upward else -1]
        for level in range(1, len(moved)):
            moved[level] |= moved[level - 1]
    return closed


def strictly_above(seeds: Bools) -> Bools:
    """Return all nodes that are coarser than a seed."""
    closed = close(seeds)
    strict = np.zeros_like(seeds)
    for axis in range(seeds.ndim):
        np.moveaxis(strict, axis, 0)[1:] |= np.moveaxis(closed, axis, 0)[:-1]
    return strict


class TaggedSearch:
    """The state of one search over tagged nodes, which its steps share.

    Args:
        tags: what is known.
        inquiry: who is asked.
        incumbent: the best safe node so far; None without a loss.
        width: chains that are searched side by side, at most.
        eager: True if nodes that are asked and safe are compared with the incumbent at once.
    """

    def __init__(
        self, tags: Tags, inquiry: Inquiry, incumbent: Incumbent | None, *, width: int, eager: bool = False
    ) -> None:
        self.tags, self.inquiry, self.incumbent, self.width = tags, inquiry, incumbent, width
        self._eager = eager
        inquiry.listeners.append(tags.learn)

    def ask(self, nodes: Sequence[Node]) -> None:
        """Ask about nodes that were never asked, and note what follows.

        Raises:
            BudgetSpent: before a batch.
        """
        for verdicts in self.inquiry.ask(nodes):
            if self._eager and self.incumbent is not None:
                safe = [verdict.node for verdict in verdicts if verdict.safe]
                self.incumbent.offer(self.incumbent.select_candidates(safe))
            self._report_progress()

    def ask_indexes(self, indexes: Indexes) -> None:
        """Ask about the nodes at these indexes, which were never asked, batch by batch.

        Raises:
            BudgetSpent: before a batch.
        """
        for start in range(0, len(indexes), self.inquiry.batch):
            self.ask(self.tags.nodes(indexes[start : start + self.inquiry.batch]))

    def is_unsettled(self, node: Node) -> bool:
        """Return True if it is not known whether the inherited requirements hold at a node."""
        return not int(self.tags.cells[node]) & (PASSES | UNSAFE)

    def unsettled(self, indexes: Indexes | None = None) -> Indexes:
        """Return the nodes (of all, or of these) where it is not known whether the inherited requirements hold."""
        return self._without(PASSES | UNSAFE, indexes)

    def undecided(self, indexes: Indexes | None = None, *, minimal: bool = False) -> Indexes:
        """Return the nodes whose verdict is not known; `minimal`: without those strictly above a safe node."""
        return self._without(SAFE | UNSAFE | (ABOVE if minimal else 0), indexes)

    def _without(self, bits: int, indexes: Indexes | None) -> Indexes:
        if indexes is None:
            return np.flatnonzero(self.tags.flat & bits == 0)
        matching: Indexes = indexes[self.tags.flat[indexes] & bits == 0]
        return matching

    def _report_progress(self) -> None:
        decided = int(np.count_nonzero(self.tags.flat & (SAFE | UNSAFE)))
        best = self.incumbent.best.loss if self.incumbent is not None and self.incumbent.best else None
        self.inquiry.on_progress(Progress(decided, self.tags.flat.size, self.inquiry.checked, best))
