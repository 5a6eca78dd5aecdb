"""Equivalence classes and hierarchies as arrays of numbers, for local recoding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sqlaudit.remedies.rewriting import Integers, groups_of

# The hierarchy of a column as numbers: nodes with their ancestors, and the cost to rise from one level to another.
#
# Nodes 0, 1, … are the values of the column in their order; the labels of levels 1, 2, … follow. The weighted
# hierarchical distance of two nodes on one path is a difference of `heights`: with levels counted from the root (1) to
# the leaves (h), it is the sum of w_j between them over the sum of all, w_j = 1/(j-1)^beta. Source: Li, Wong, Fu, Pei:
# Achieving k-Anonymity by Clustering in Attribute Hierarchical Structures, DaWaK 2006, section 2; Wiegnand and
# Schallner, section 3.1.

_LARGEST_DISTANCE = 1 << 61
"""Upper bound of distances, with which sums of 64-bit numbers are exact."""
_TABLED_NODES = 2048
"""Number of nodes up to which the heights where any two of them meet are tabled."""


@dataclass(frozen=True)
class ColumnTree:
    """The nodes of one column.

    Args:
        ancestors: (height + 1, nodes) the node's ancestor at each level; below its own level a number that no other
            node has there.
        level: the level of each node.
        heights: the cost to rise from level 0 to each level, as whole numbers.
        is_fixed: True if the column is published as it is: no two values ever meet.
    """

    ancestors: Integers
    level: Integers
    heights: Integers
    is_fixed: bool = False

    @property
    def height(self) -> int:
        """Return the highest level."""
        return len(self.ancestors) - 1

    def ancestors_at(self, level: int, nodes: Integers) -> Integers:
        """Return the ancestors of nodes at a level, or the nodes themselves if they are above it."""
        return np.asarray(self.ancestors[np.maximum(level, self.level[nodes]), nodes])

    @cached_property
    def node_heights(self) -> Integers:
        """Return the height of each node."""
        return self.heights[self.level]

    @cached_property
    def meeting(self) -> Integers | None:
        """Return the heights (nodes × nodes) at which nodes meet, None if there are many."""
        nodes = np.arange(len(self.level))
        return self.rise_to_meet(nodes, nodes[:, None]) if len(nodes) <= _TABLED_NODES else None

    def rise_to_meet(self, node: int | Integers, others: Integers) -> Integers:
        """Return the height to which a node must rise to meet each of some others, counted from level 0."""
        path = self.ancestors[:, node]
        path = np.where(path < 0, -2 - len(self.level), path)
        rises = np.zeros(np.broadcast(node, others).shape, dtype=np.int64)
        for level in range(self.height):
            step = self.heights[level + 1] - self.heights[level]
            rises += step * (self.ancestors[level, others] != path[level])
        return rises

    def common_ancestor(self, nodes: Sequence[int]) -> int:
        """Return the closest common ancestor of nodes.

        Raises:
            ValueError: the nodes are different values of a column that is published as it is.
        """
        for row in self.ancestors:
            first = int(row[nodes[0]])
            if first >= 0 and all(row[node] == first for node in nodes[1:]):
                return first
        raise ValueError("values of a column that is kept do not meet")


def tree_of(labels: Integers, heights: Integers, *, is_fixed: bool = False) -> ColumnTree:
    """Return the tree of a column.

    Args:
        labels: (height + 1, values) the number of each value's label at each level; row 0 is 0, 1, ….
        heights: the result of `scale_heights` for the column.
        is_fixed: whether the column is published as it is.

    Example:
        >>> tree = tree_of(np.array([[0, 1, 2], [0, 0, 1], [0, 0, 0]]), np.array([0, 1, 2]))
        >>> tree.level.tolist(), tree.common_ancestor([0, 1]), tree.common_ancestor([0, 2])
        ([0, 0, 0, 1, 1, 2], 3, 5)
        >>> tree.rise_to_meet(0, np.arange(3)).tolist()
        [0, 1, 2]
    """
    numbers, first, level = [], 0, []
    for number, row in enumerate(labels):
        _, dense = np.unique(row, return_inverse=True)
        numbers.append(np.asarray(dense, dtype=np.int64) + first)
        count = int(dense.max()) + 1 if len(dense) else 0
        level += [number] * count
        first += count
    ancestors = np.full((len(labels), first), 0, dtype=np.int64)
    for own_level, nodes in enumerate(numbers):
        for other_level in range(len(numbers)):
            ancestors[other_level, nodes] = numbers[other_level] if other_level >= own_level else -1 - nodes
    return ColumnTree(ancestors, np.array(level, dtype=np.int64), heights, is_fixed)


def level_distances(height: int, beta: Fraction) -> list[Fraction | float]:
    """Return the weighted hierarchical distance from the leaves to each level, 0 to 1; exact if beta is a whole number.

    Example:
        >>> level_distances(2, Fraction(0)), level_distances(2, Fraction(1))
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


def scale_heights(heights: Sequence[int], beta: Fraction, rows: int) -> list[Integers]:
    """Return the distances of `level_distances` for columns of these heights as whole numbers of one scale.

    The scale is the common denominator if the distances of a table of this many rows then fit into 64 bits. Otherwise
    they are rounded to the finest scale that does.
    """
    distances = [level_distances(height, beta) for height in heights]
    largest = _LARGEST_DISTANCE // max(1, 4 * rows * max(1, len(heights)))
    exact = [value for column in distances for value in column if isinstance(value, Fraction)]
    scale = math.lcm(*(value.denominator for value in exact)) if exact else 1
    if beta.denominator != 1 or scale > largest:
        scale = 1 << max(0, largest.bit_length() - 1)
    levels = [[round(value * scale) - level for level, value in enumerate(column)] for column in distances]
    # Each level must be above the one below, even where rounding made them equal
    return [np.maximum.accumulate(np.array(column, dtype=np.int64)) + np.arange(len(column)) for column in levels]


# Equivalence classes: their nodes by column, their rows, and their counts of sensitive values.

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Classes:
    """Equivalence classes, numbered in the order of their values.

    Args:
        trees: the trees of the columns.
        nodes: (classes × columns) the node of each class. These are values, but if NULLs are equal to nothing, a class
            begins at the level at which its missing value has a label.
        sizes: the number of rows of each class.
        words: (classes × words) the counts of its sensitive values, packed as judges read them.
    """

    trees: tuple[ColumnTree, ...]
    nodes: Integers
    sizes: Integers
    words: Integers

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def rows(self) -> int:
        """Return the number of rows of the table."""
        return int(self.sizes.sum())

    def summed(self, order: Integers, starts: Integers) -> tuple[Integers, Integers]:
        """Return rows and words of groups of classes: `order` lists the classes, `starts` the start of each group."""
        sizes = np.add.reduceat(self.sizes[order], starts)
        words = np.add.reduceat(self.words[order], starts, axis=0)
        return sizes, words


class GroupJudge(Protocol):
    """A judge that decides which groups of classes fail."""

    def short(self, sizes: Integers, words: Integers) -> Flags:
        """Return which groups fail, by their rows and (groups × words) counts."""


def unique_classes(classes: Classes) -> tuple[Classes, Integers]:
    """Merge classes with equal nodes. Return them, and the number of each class's merged class."""
    if not len(classes):
        return classes, np.zeros(0, dtype=np.int64)
    groups = dense(groups_of(classes.nodes, range(len(classes.trees))))
    order, starts = sorted_groups(groups)
    sizes, words = classes.summed(order, starts)
    return replace(classes, nodes=classes.nodes[order[starts]], sizes=sizes, words=words), groups


def dense(groups: Integers) -> Integers:
    """Renumber groups as 0, 1, … in the order in which they first occur."""
    values, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(len(values), dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(values))
    return np.asarray(rank[inverse], dtype=np.int64)


def sorted_groups(groups: Integers) -> tuple[Integers, Integers]:
    """Return the classes in the order of their groups 0, 1, …, and the start of each group."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.concatenate([[True], np.diff(groups[order]) > 0])) if len(order) else order
    return order, starts


def common_of(tree: ColumnTree, nodes: Integers, starts: Integers) -> Integers:
    """Return the closest common ancestor of each group of nodes, -1 if values of a fixed column differ."""
    ancestors = np.full(len(starts), -1, dtype=np.int64)
    for row in tree.ancestors:
        low = np.minimum.reduceat(row[nodes], starts)
        high = np.maximum.reduceat(row[nodes], starts)
        is_common = (ancestors < 0) & (low == high) & (low >= 0)
        ancestors[is_common] = low[is_common]
    return ancestors
