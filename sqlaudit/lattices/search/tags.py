"""What is known about every node of a lattice, one byte a node, and what a verdict says about its neighbours.

Predictive tagging (El Emam et al.: A Globally Optimal k-Anonymity Method, JAMIA 2009; Barriers, section 4.2): when
safety is inherited, all nodes coarser than a safe one are safe, and all nodes finer than an unsafe one are unsafe. When
it is not, only a failure of the requirements that *are* inherited says something about finer nodes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sqlaudit.lattices.verdicts import Node, Verdict

SAFE, UNSAFE, ASKED = 1, 2, 4
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
        heights: the highest level of every column. monotone: whether every node coarser than a safe one is safe.

    Example:
        >>> tags = Tags((2, 1), monotone=True)
        >>> tags.learn([Verdict((1, 0), True, True, 3, 0, 5)])
        >>> tags.known((2, 1)), tags.known((0, 1)), tags.minimal(tags.cells & SAFE > 0)
        (True, None, [(1, 0)])
    """

    def __init__(self, heights: Sequence[int], *, monotone: bool) -> None:
        self.heights = tuple(heights)
        self.monotone = monotone
        self.cells: Bytes = np.zeros([height + 1 for height in heights], dtype=np.uint8)
        self.flat: Bytes = self.cells.reshape(-1)
        self.strides = tuple(math.prod(height + 1 for height in heights[at + 1 :]) for at in range(len(heights)))

    def index(self, node: Node) -> int:
        """The place of a node among all, in the order of the levels."""
        return sum(level * stride for level, stride in zip(node, self.strides, strict=True))

    def node(self, index: int) -> Node:
        """The node at a place."""
        levels = []
        for stride in self.strides:
            level, index = divmod(index, stride)
            levels.append(level)
        return tuple(levels)

    def nodes(self, indexes: Indexes) -> list[Node]:
        """The nodes at several places."""
        if not self.heights:
            return [() for _ in indexes]
        columns = np.unravel_index(indexes, self.cells.shape)
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def known(self, node: Node) -> bool | None:
        """Whether the node is safe; None when that is not known."""
        cell = int(self.flat[self.index(node)])
        return True if cell & SAFE else False if cell & UNSAFE else None

    def heights_of(self, indexes: Indexes) -> NDArray[np.int64]:
        """The sums of the levels of several nodes."""
        total = np.zeros(len(indexes), dtype=np.int64)
        for stride, height in zip(self.strides, self.heights, strict=True):
            total += indexes // stride % (height + 1)
        return total

    def learn(self, verdicts: Sequence[Verdict]) -> None:
        """Note verdicts, each node's once, and everything that follows from them."""
        holds = [one.safe if self.monotone else one.prunable_safe for one in verdicts]
        self._spread([one.node for one, held in zip(verdicts, holds, strict=True) if not held], UNSAFE, upward=False)
        passing = PASSES | SAFE if self.monotone else PASSES
        self._spread([one.node for one, held in zip(verdicts, holds, strict=True) if held], passing, upward=True)
        if not self.monotone:
            self._spread_above([one.node for one in verdicts if one.safe])
        for one in verdicts:
            self.flat[self.index(one.node)] |= ASKED | (SAFE if one.safe else UNSAFE)

    def _spread(self, nodes: Sequence[Node], bits: int, *, upward: bool) -> None:
        """Tag the nodes and all coarser (finer) ones, in slices, or all at once where that is less work."""
        regions = [self._cone(node, upward) for node in nodes]
        volumes = [math.prod(one.stop - one.start for one in region) for region in regions]
        if sum(volumes) > 4 * len(self.heights) * self.flat.size:
            seeds = np.zeros(self.cells.shape, dtype=np.bool_)
            seeds.reshape(-1)[[self.index(node) for node in nodes]] = True
            self.cells[close(seeds, upward=upward)] |= bits
            return
        for at in sorted(range(len(nodes)), key=volumes.__getitem__, reverse=True):
            # a node that was tagged before it was asked lies in a region that is tagged already
            if int(self.cells[nodes[at]]) & bits != bits:
                self.cells[regions[at]] |= bits

    def _spread_above(self, nodes: Sequence[Node]) -> None:
        for node in sorted(nodes, key=sum):
            if not int(self.cells[node]) & ABOVE:
                self.cells[self._cone(node, True)] |= ABOVE
                self.cells[node] &= ~np.uint8(ABOVE)

    def _cone(self, node: Node, upward: bool) -> tuple[slice, ...]:
        if upward:
            return tuple(slice(level, top + 1) for level, top in zip(node, self.heights, strict=True))
        return tuple(slice(0, level + 1) for level in node)

    def minimal(self, among: Bools, other: Bools | None = None) -> list[Node]:
        """The nodes of `among` with no node of `other` strictly below (default: none of `among` itself)."""
        chosen = among & ~strictly_above(among if other is None else other)
        return self.nodes(np.flatnonzero(chosen))


def close(seeds: Bools, *, upward: bool = True) -> Bools:
    """The seeds and all nodes that are coarser (finer) than one of them."""
    closed = seeds.copy()
    for axis in range(seeds.ndim):
        moved = np.moveaxis(closed, axis, 0)[:: 1 if upward else -1]
        for level in range(1, len(moved)):
            moved[level] |= moved[level - 1]
    return closed


def strictly_above(seeds: Bools) -> Bools:
    """All nodes that are coarser than a seed."""
    closed = close(seeds)
    strict = np.zeros_like(seeds)
    for axis in range(seeds.ndim):
        np.moveaxis(strict, axis, 0)[1:] |= np.moveaxis(closed, axis, 0)[:-1]
    return strict
