"""The equivalence classes of a table as local recoding sees them, and the hierarchies of columns as numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sqlaudit.remedies.rewriting import Integers, groups_of

# The hierarchy of a column as numbers: nodes with their ancestors, and what it costs to rise from one level to
# another.
#
# Nodes 0, 1, … are the values of the column in their order; the labels of levels 1, 2, … follow. The weighted
# hierarchical distance of two nodes on one path is a difference of `heights`: with levels counted from the root (1) to
# the leaves (h), it is the sum of w_j between them over the sum of all, w_j = 1/(j-1)^beta. Source: Li, Wong, Fu, Pei:
# Achieving k-Anonymity by Clustering in Attribute Hierarchical Structures, DaWaK 2006, section 2; Wiegnand and
# Schallner, section 3.1.

_LARGEST = 1 << 61
"""Distances stay below, so that sums of 64-bit numbers are exact."""
_WHOLE_ROWS = 2048
"""Up to so many nodes, the heights at which a node meets all others are kept."""


@dataclass(frozen=True)
class ColumnTree:
    """The nodes of one column.

    Args:
        ancestors: (height + 1, nodes) the node's ancestor at each level; below its own level a number that no other
            node has there.
        level: of each node. heights: what it costs to rise from level 0 to each level, as whole numbers.
        kept: the column is published as it is: no two values ever meet.
    """

    ancestors: Integers
    level: Integers
    heights: Integers
    kept: bool = False
    _rows: dict[int, Integers] = field(default_factory=dict, repr=False, compare=False)

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.ancestors) - 1

    def lifted(self, level: int, nodes: Integers) -> Integers:
        """The ancestors of nodes at a level, the nodes themselves where they lie above it."""
        return np.asarray(self.ancestors[np.maximum(level, self.level[nodes]), nodes])

    def meeting(self, node: int, others: Integers) -> Integers:
        """How high a node must rise to meet each of some others, counted from level 0."""
        if len(self.level) > _WHOLE_ROWS:
            return self._met(node, others)
        row = self._rows.get(node)
        if row is None:
            row = self._rows[node] = self._met(node, np.arange(len(self.level)))
        return row[others]

    def _met(self, node: int, others: Integers) -> Integers:
        found = np.zeros(len(others), dtype=np.int64)
        own = self.ancestors[:, node]
        own = np.where(own < 0, -2 - len(self.level), own)
        for level in range(self.height):
            step = self.heights[level + 1] - self.heights[level]
            found += step * (self.ancestors[level, others] != own[level])
        return found

    def meet(self, nodes: Sequence[int]) -> int:
        """The closest common ancestor.

        Raises:
            ValueError: different values of a column that is kept.
        """
        for row in self.ancestors:
            first = int(row[nodes[0]])
            if first >= 0 and all(row[node] == first for node in nodes[1:]):
                return first
        raise ValueError("values of a column that is kept do not meet")


def tree_of(labels: Integers, heights: Integers, *, kept: bool = False) -> ColumnTree:
    """The tree of a column.

    Args:
        labels: (height + 1, values) the number of each value's label at each level; row 0 is 0, 1, ….
        heights: what `whole_heights` gave. kept: whether the column is published as it is.

    Example:
        >>> tree = tree_of(np.array([[0, 1, 2], [0, 0, 1], [0, 0, 0]]), np.array([0, 1, 2]))
        >>> tree.level.tolist(), tree.meet([0, 1]), tree.meet([0, 2]), tree.meeting(0, np.arange(3)).tolist()
        ([0, 0, 0, 1, 1, 2], 3, 5, [0, 1, 2])
    """
    numbers, first, level = [], 0, []
    for number, row in enumerate(labels):
        _, dense = np.unique(row, return_inverse=True)
        numbers.append(np.asarray(dense, dtype=np.int64) + first)
        count = int(dense.max()) + 1 if len(dense) else 0
        level += [number] * count
        first += count
    ancestors = np.full((len(labels), first), 0, dtype=np.int64)
    for own, nodes in enumerate(numbers):
        for above in range(len(numbers)):
            ancestors[above, nodes] = numbers[above] if above >= own else -1 - nodes
    return ColumnTree(ancestors, np.array(level, dtype=np.int64), heights, kept)


def rises(height: int, beta: Fraction) -> list[Fraction | float]:
    """The weighted hierarchical distance from the leaves to each level, 0 to 1; exact when beta is a whole number.

    Example:
        >>> rises(2, Fraction(0)), rises(2, Fraction(1))
        ([Fraction(0, 1), Fraction(1, 2), Fraction(1, 1)], [Fraction(0, 1), Fraction(1, 3), Fraction(1, 1)])
    """
    if not height:
        return [Fraction(0)]
    steps: list[Fraction | float] = [
        Fraction(1, level ** int(beta)) if beta.denominator == 1 else math.pow(level, -float(beta))
        for level in range(height, 0, -1)
    ]
    total = sum(steps)
    return [sum(steps[:level], Fraction(0)) / total for level in range(height + 1)]


def whole_heights(heights: Sequence[int], beta: Fraction, rows: int) -> list[Integers]:
    """The distances of `rises` for columns of these heights as whole numbers, one scale for all.

    With a common denominator when the distances of a table of so many rows then fit into 64 bits, else rounded to the
    finest scale that does.
    """
    found = [rises(height, beta) for height in heights]
    room = _LARGEST // max(1, 4 * rows * max(1, len(heights)))
    exact = [value for column in found for value in column if isinstance(value, Fraction)]
    scale = math.lcm(*(value.denominator for value in exact)) if exact else 1
    if beta.denominator != 1 or scale > room:
        scale = 1 << max(0, room.bit_length() - 1)
    levels = [[round(value * scale) - level for level, value in enumerate(column)] for column in found]
    # each level lies above the one below even where rounding made them one
    return [np.maximum.accumulate(np.array(column, dtype=np.int64)) + np.arange(len(column)) for column in levels]


# The equivalence classes of a table as local recoding sees them: nodes of every column, rows, and words of counts.

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Classes:
    """Equivalence classes, in the order of their values, which numbers them.

    Args:
        trees: of the columns. nodes: (classes × columns) what each class holds; values, unless NULLs are equal to
            nothing: then a class begins at the level at which its missing value has a label.
        sizes: rows of each. words: (classes × words) the counts of its sensitive values, as judges read them.
    """

    trees: tuple[ColumnTree, ...]
    nodes: Integers
    sizes: Integers
    words: Integers

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return int(self.sizes.sum())

    def summed(self, order: Integers, starts: Integers) -> tuple[Integers, Integers]:
        """Rows and words of groups of classes: `order` lists the classes, `starts` where each group begins."""
        sizes = np.add.reduceat(self.sizes[order], starts)
        words = np.add.reduceat(self.words[order], starts, axis=0)
        return sizes, words


class SaysWhatIsShort(Protocol):
    """Knows which groups of classes fail."""

    def short(self, sizes: Integers, words: Integers) -> Flags:
        """Which groups fail, by their rows and (groups × words) counts."""


def unique_classes(classes: Classes) -> tuple[Classes, Integers]:
    """The classes with equal nodes made one, and the number of each one's class among them."""
    if not len(classes):
        return classes, np.zeros(0, dtype=np.int64)
    groups = dense(groups_of(classes.nodes, range(len(classes.trees))))
    order, starts = sorted_groups(groups)
    sizes, words = classes.summed(order, starts)
    return replace(classes, nodes=classes.nodes[order[starts]], sizes=sizes, words=words), groups


def dense(groups: Integers) -> Integers:
    """Numbers of groups as 0, 1, … in the order in which they first occur."""
    values, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    place = np.empty(len(values), dtype=np.int64)
    place[np.argsort(first, kind="stable")] = np.arange(len(values))
    return np.asarray(place[inverse], dtype=np.int64)


def sorted_groups(groups: Integers) -> tuple[Integers, Integers]:
    """The classes in the order of their groups 0, 1, …, and where each group begins."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.concatenate([[True], np.diff(groups[order]) > 0])) if len(order) else order
    return order, starts


def common_of(tree: ColumnTree, nodes: Integers, starts: Integers) -> Integers:
    """The closest common ancestor of each group of nodes; -1 where values of a column that is kept differ."""
    found = np.full(len(starts), -1, dtype=np.int64)
    for row in tree.ancestors:
        low = np.minimum.reduceat(row[nodes], starts)
        high = np.maximum.reduceat(row[nodes], starts)
        fits = (found < 0) & (low == high) & (low >= 0)
        found[fits] = low[fits]
    return found
