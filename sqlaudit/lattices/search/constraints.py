"""What is known about a lattice too large to tag: the nodes on both sides of the border, as bit sets.

An unsafe node m is a constraint on every safe node v: some column of v lies above its level in m. Constraints and safe
nodes are kept by number; for every column and level there is a set of numbers, so that looking a node up is one
intersection a column, however many are known.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sqlaudit.lattices.verdicts import Node


class Constraints:
    """Unsafe nodes whose finer nodes are all unsafe: what a safe node must rise above.

    Example:
        >>> constraints = Constraints((2, 2))
        >>> constraints.add((1, 2))
        >>> constraints.broken((1, 1)), constraints.broken((2, 0))
        (1, 0)
    """

    def __init__(self, heights: Sequence[int]) -> None:
        self.heights = tuple(heights)
        self.nodes: list[Node] = []
        self.below: list[list[int]] = [[0] * (height + 1) for height in heights]
        """For each column and level: the constraints that this level alone does not satisfy."""
        self._matrix: NDArray[np.int64] = np.zeros((0, len(heights)), dtype=np.int64)

    def add(self, node: Node) -> None:
        """Note that nothing at or below the node is safe."""
        if self.broken(node):
            return
        bit = 1 << len(self.nodes)
        self.nodes.append(node)
        for column, level in zip(self.below, node, strict=True):
            for at in range(level + 1):
                column[at] |= bit

    def broken(self, node: Node) -> int:
        """The constraints that the node does not satisfy; 0 when nothing is known against it."""
        left = -1 if self.nodes else 0
        for column, level in zip(self.below, node, strict=True):
            left &= column[level]
            if not left:
                break
        return left & ((1 << len(self.nodes)) - 1)

    @property
    def matrix(self) -> NDArray[np.int64]:
        """The constraints, one row each."""
        if len(self._matrix) < len(self.nodes):
            grown = np.array(self.nodes[len(self._matrix) :], dtype=np.int64)
            self._matrix = np.concatenate([self._matrix, grown.reshape(-1, len(self.heights))])
        return self._matrix


class SafeNodes:
    """Safe nodes whose coarser nodes are all known to be safe, or known to be of no interest."""

    def __init__(self, heights: Sequence[int]) -> None:
        self.nodes: list[Node] = []
        self._above: list[list[int]] = [[0] * (height + 1) for height in heights]

    def add(self, node: Node) -> None:
        """Note a node."""
        if self.under(node):
            return
        bit = 1 << len(self.nodes)
        self.nodes.append(node)
        for column, level in zip(self._above, node, strict=True):
            for at in range(level, len(column)):
                column[at] |= bit

    def under(self, node: Node) -> bool:
        """Whether one of the nodes is the given one or finer."""
        left = (1 << len(self.nodes)) - 1
        for column, level in zip(self._above, node, strict=True):
            left &= column[level]
        return bool(left)
