"""The equivalence classes of a table as local recoding sees them: nodes of every column, rows, and words of counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sqlaudit.remedies.recode.trees import ColumnTree, Integers

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
    """Knows which groups of classes fall short."""

    def short(self, sizes: Integers, words: Integers) -> Flags:
        """Which groups fall short, by their rows and (groups × words) counts."""


def unique_classes(classes: Classes) -> tuple[Classes, Integers]:
    """The classes with equal nodes made one, and the number of each one's class among them."""
    if not len(classes):
        return classes, np.zeros(0, dtype=np.int64)
    order = np.lexsort(classes.nodes.T[::-1])
    lined = classes.nodes[order]
    changes = np.flatnonzero(np.concatenate([[True], (lined[1:] != lined[:-1]).any(axis=1)]))
    sizes, words = classes.summed(order, changes)
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.repeat(np.arange(len(changes)), np.diff(np.append(changes, len(order))))
    first = np.full(len(changes), len(order), dtype=np.int64)
    np.minimum.at(first, group, np.arange(len(order)))
    by_first = np.argsort(first, kind="stable")
    place = np.empty(len(changes), dtype=np.int64)
    place[by_first] = np.arange(len(changes))
    found = replace(classes, nodes=lined[changes][by_first], sizes=sizes[by_first], words=words[by_first])
    return found, place[group]


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
