"""From groups of classes to what is published of them: a level or range for every column of every group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlaudit.remedies.recode.classes import common_of, dense, sorted_groups
from sqlaudit.remedies.recode.losses import Cells, node_cells, range_cells
from sqlaudit.remedies.recode.reading import ReadTable, by_order
from sqlaudit.remedies.recode.trees import Integers
from sqlaudit.remedies.rewriting import RANGE, STAR, ColumnLevel, Piece, at

_SHOWN = ("values", "ranges", "*")


@dataclass(frozen=True)
class Made:
    """Groups, and what is published of them.

    Args:
        groups: of each class, 0, 1, …. sizes: rows of each group.
        levels: what the levels of each column mean. chosen: (groups × columns) the one that each group has.
        cells: the same, column by column, as losses read it.
        names: what reports call the levels of each column. shown: (groups × columns) which of these each group has.
    """

    groups: Integers
    sizes: Integers
    levels: tuple[tuple[ColumnLevel, ...], ...]
    chosen: Integers
    cells: tuple[Cells, ...]
    names: tuple[tuple[str, ...], ...]
    shown: Integers

    def pieces(self, read: ReadTable) -> list[Piece]:
        """What becomes of each row pattern."""
        numbers = np.arange(1, len(self.groups) + 1)
        parts = [numbers, np.ones_like(numbers), read.patterns.sizes, self.groups + 1, self.chosen[self.groups]]
        return [tuple(row) for row in np.column_stack(parts).tolist()]

    def rows_at(self, place: int) -> tuple[tuple[str, int], ...]:
        """The rows at each level of a column."""
        rows = np.bincount(self.shown[:, place], weights=self.sizes, minlength=len(self.names[place]))
        return tuple((name, int(count)) for name, count in zip(self.names[place], rows, strict=True))


def made_of(read: ReadTable, groups: Integers, *, ranges: bool) -> Made:
    """What is published of groups: the closest common generalization, or ranges where columns are only ordered.

    Args:
        read: the table. groups: of each class. ranges: whether ordered columns become ranges.
    """
    groups = dense(groups)
    order, starts = sorted_groups(groups)
    columns = [
        _ranges(read, place, order, starts) if ranges and by_order(made) else _labels(read, place, order, starts)
        for place, made in enumerate(read.dictionaries)
    ]
    return Made(
        groups,
        np.add.reduceat(read.classes.sizes[order], starts),
        tuple(one.levels for one in columns),
        np.column_stack([one.chosen for one in columns]),
        tuple(one.cells for one in columns),
        tuple(one.names for one in columns),
        np.column_stack([one.shown for one in columns]),
    )


@dataclass(frozen=True)
class _Column:
    levels: tuple[ColumnLevel, ...]
    chosen: Integers
    cells: Cells
    names: tuple[str, ...]
    shown: Integers


def _labels(read: ReadTable, place: int, order: Integers, starts: Integers) -> _Column:
    """A column as labels of its hierarchy."""
    made, tree = read.dictionaries[place], read.classes.trees[place]
    nodes = common_of(tree, read.classes.nodes[order, place], starts)
    used, last = set(tree.level[nodes].tolist()), made.hierarchy.height
    levels = tuple(
        at(made.hierarchy, number, made.holds) if number in used else STAR for number in range(last + 1)
    )  # what no group is published at needs no SQL
    names = tuple(made.hierarchy.level_names())
    return _Column(levels, tree.level[nodes], node_cells(read, place, nodes), names, tree.level[nodes])


def _ranges(read: ReadTable, place: int, order: Integers, starts: Integers) -> _Column:
    """A column as ranges from the smallest to the largest value of each group; any value where some are missing."""
    made, tree = read.dictionaries[place], read.classes.trees[place]
    missing = made.values - 1 if made.missing_rows else -1
    values = read.values[order, place]
    raised = np.maximum.reduceat(tree.level[read.classes.nodes[order, place]], starts) > 0
    low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    anything = raised | ((high == missing) & (low != missing))
    spans = np.where(anything[:, None], -1, np.column_stack([low, high]))
    shown = np.where(anything, 2, np.where(low == high, 0, 1))
    levels = (STAR if raised.all() else RANGE, STAR)
    return _Column(levels, raised.astype(np.int64), range_cells(read, place, spans), _SHOWN, shown)


def made_at(read: ReadTable, levels: Sequence[int]) -> tuple[Integers, tuple[Cells, ...]]:
    """The groups and cells of a node of the lattice: every column at one level."""
    nodes = np.column_stack(
        [
            tree.ancestors[np.maximum(level, tree.level[read.classes.nodes[:, place]]), read.classes.nodes[:, place]]
            for place, (tree, level) in enumerate(zip(read.classes.trees, levels, strict=True))
        ]
    )
    groups = dense(np.unique(nodes, axis=0, return_inverse=True)[1].ravel().astype(np.int64))
    order, starts = sorted_groups(groups)
    return groups, tuple(node_cells(read, place, nodes[order[starts], place]) for place in range(nodes.shape[1]))
