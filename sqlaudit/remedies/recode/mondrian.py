"""Strict multidimensional Mondrian: the table is split as long as every part satisfies the requirements.

A part is split by the column in which it is widest (in its share of the column's range, or of its values below the
closest common label), by the next one when that does not do. An ordered column is cut at its median: rows up to the
smallest value that half of them reach, and the others; below the largest value when that is the median itself. Missing
values come last there, and a part with some of them is as wide as the column. A column with a hierarchy of categories
is split into the children of the common label. Of equally wide columns the first one is taken. Source: LeFevre, DeWitt,
Ramakrishnan: Mondrian Multidimensional k-Anonymity, ICDE 2006, sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sqlaudit.column_sets.budget import BudgetSpent, Stop, never
from sqlaudit.remedies.recode.classes import Classes, SaysWhatIsShort, common_of, dense, sorted_groups
from sqlaudit.remedies.recode.kaca import Merged, Tell, silent
from sqlaudit.remedies.recode.trees import ColumnTree, Integers

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Axis:
    """How a column is split.

    Args:
        tree: its nodes. points: for an ordered column where each value lies, NaN for NULL; None = along the hierarchy.
    """

    tree: ColumnTree
    points: Floats | None = None

    @property
    def values(self) -> int:
        """Different values."""
        return int((self.tree.level == 0).sum())

    @property
    def missing(self) -> int:
        """The number of NULL in an ordered column, -1 = there is none."""
        last = self.values - 1
        return last if self.points is not None and last >= 0 and np.isnan(self.points[last]) else -1


def split_classes(
    classes: Classes, axes: Sequence[Axis], judge: SaysWhatIsShort, stop: Stop = never, tell: Tell = silent
) -> Merged:
    """Split the table into groups of classes.

    Args:
        classes: no two with the same nodes. axes: of the columns. judge: which groups fall short.
        stop: asked before each round. tell: told of rounds and groups.

    Raises:
        BudgetSpent: `stop` said so.
    """
    parts = _Parts(classes, axes, judge)
    stuck = parts.begin()
    rounds = 0
    while not stuck and parts.open.any():
        if stop():
            raise BudgetSpent
        parts.split()
        rounds += 1
        tell(rounds, len(parts.open))
    return Merged(dense(parts.groups), 0, stuck)


class _Parts:
    """The parts of a table while they are split; part i has `open[i]`, and its columns are tried in `order[i]`."""

    def __init__(self, classes: Classes, axes: Sequence[Axis], judge: SaysWhatIsShort) -> None:
        self._classes, self._axes, self._judge = classes, axes, judge
        kept = [place for place, tree in enumerate(classes.trees) if tree.kept]
        self.groups = _numbered(classes.nodes[:, kept]) if kept else np.zeros(len(classes), dtype=np.int64)
        count = int(self.groups.max()) + 1 if len(classes) else 0
        self.open = np.ones(count, dtype=bool)
        self._order = np.full((count, len(axes)), -1, dtype=np.int64)
        self._tried = np.full(count, -1, dtype=np.int64)

    def begin(self) -> int:
        """The rows of parts that fall short before anything is split."""
        if not len(self._classes):
            return 0
        sizes, words = self._classes.summed(*sorted_groups(self.groups))
        return int(sizes[self._judge.short(sizes, words)].sum())

    def split(self) -> None:
        """Try one column on every open part."""
        inside = np.flatnonzero(self.open[self.groups])
        self._rank(inside[self._tried[self.groups[inside]] < 0])
        column = np.full(len(self.open), -1, dtype=np.int64)
        tried = np.flatnonzero(self.open)
        column[tried] = self._order[tried, np.minimum(self._tried[tried], len(self._axes) - 1)]
        column[self._tried >= len(self._axes)] = -1
        done = self.open & (column < 0)
        self.open[done] = False
        inside = inside[self.open[self.groups[inside]]]
        if len(inside):
            self._accept(inside, self._children(inside, column))

    def _rank(self, inside: Integers) -> None:
        """The columns of new parts, the widest first."""
        if not len(inside):
            return
        order, starts = _lined(self.groups[inside])
        lined = inside[order]
        parts = self.groups[lined[starts]]
        widths = np.column_stack(
            [
                np.zeros(len(parts)) if tree.kept else _widths(axis, self._classes.nodes[lined, place], starts)
                for place, (axis, tree) in enumerate(zip(self._axes, self._classes.trees, strict=True))
            ]
        )
        ranked = np.argsort(-widths, axis=1, kind="stable")
        self._order[parts] = np.where(np.take_along_axis(widths, ranked, axis=1) > 0, ranked, -1)
        self._tried[parts] = 0

    def _children(self, inside: Integers, column: Integers) -> Integers:
        """For each class of the open parts the number of the child that it would go to."""
        chosen = column[self.groups[inside]]
        found = np.zeros(len(inside), dtype=np.int64)
        for place, axis in enumerate(self._axes):
            some = np.flatnonzero(chosen == place)
            if not len(some):
                continue
            order, starts = _lined(self.groups[inside[some]])
            lined = inside[some[order]]
            nodes, sizes = self._classes.nodes[lined, place], self._classes.sizes[lined]
            cut = _by_label(axis, nodes, starts) if axis.points is None else _by_median(nodes, sizes, starts)
            found[some[order]] = cut
        return found

    def _accept(self, inside: Integers, children: Integers) -> None:
        """Make those splits whose parts all satisfy the requirements; the others try their next column."""
        pairs = _numbered(np.column_stack([self.groups[inside], children]))
        order, starts = _lined(pairs)
        lined = inside[order]
        sizes, words = self._classes.summed(lined, starts)
        short = self._judge.short(sizes, words)
        parts = self.groups[lined[starts]]
        bad = np.zeros(len(self.open), dtype=bool)
        bad[parts[short]] = True
        split = self.open & ~bad
        self._tried[self.open & bad] += 1
        taken = split[self.groups[inside]]
        made = dense(pairs[taken])
        count = int(made.max()) + 1 if len(made) else 0
        first = len(self.open)
        self.open[split] = False
        self.groups[inside[taken]] = first + made
        self.open = np.append(self.open, np.ones(count, dtype=bool))
        self._tried = np.append(self._tried, np.full(count, -1, dtype=np.int64))
        self._order = np.vstack([self._order, np.full((count, len(self._axes)), -1, dtype=np.int64)])


def _numbered(rows: Integers) -> Integers:
    """Equal rows get equal numbers 0, 1, …."""
    found = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        numbers = np.unique(column, return_inverse=True)[1].ravel().astype(np.int64)
        width = int(numbers.max()) + 1 if len(numbers) else 1
        found = np.unique(found * width + numbers, return_inverse=True)[1].ravel().astype(np.int64)
    return found


def _lined(groups: Integers) -> tuple[Integers, Integers]:
    """Places in the order of their groups, and where each group begins."""
    order = np.argsort(groups, kind="stable")
    return order, np.flatnonzero(np.diff(groups[order], prepend=-1))


def _widths(axis: Axis, nodes: Integers, starts: Integers) -> Floats:
    """How wide parts are, 0 (they cannot be split) to 1."""
    common = common_of(axis.tree, nodes, starts)
    whole = np.maximum.reduceat((axis.tree.level[nodes] > 0).astype(np.int64), starts) > 0
    if axis.points is None:
        under = np.bincount(axis.tree.ancestors[:, : axis.values].ravel(), minlength=len(axis.tree.level))
        sits = np.maximum.reduceat((nodes == np.repeat(common, _lengths(starts, len(nodes)))).astype(np.int64), starts)
        width = (under[common] - 1) / max(1, axis.values - 1)
        return np.where((axis.tree.level[common] == 0) | (sits > 0), 0.0, width)
    last = axis.values - 1 - (axis.missing >= 0)
    low, high = np.minimum.reduceat(nodes, starts), np.maximum.reduceat(nodes, starts)
    mixed = (high == axis.missing) & (low != axis.missing)
    ends = np.where(high == axis.missing, low, high)
    points = axis.points
    spread = float(points[last] - points[0]) if last > 0 else 0.0
    width = np.zeros(len(starts))
    plain = ~whole & ~mixed & (high != axis.missing)
    if spread > 0:
        width[plain] = (points[ends[plain]] - points[low[plain]]) / spread
    width[plain & (ends > low)] = np.maximum(width[plain & (ends > low)], np.finfo(float).tiny)
    width[~whole & mixed] = 1.0
    return width


def _lengths(starts: Integers, total: int) -> Integers:
    return np.diff(np.append(starts, total))


def _by_label(axis: Axis, nodes: Integers, starts: Integers) -> Integers:
    """The children of the closest common labels."""
    common = np.repeat(common_of(axis.tree, nodes, starts), _lengths(starts, len(nodes)))
    return np.asarray(axis.tree.ancestors[np.maximum(0, axis.tree.level[common] - 1), nodes])


def _by_median(nodes: Integers, sizes: Integers, starts: Integers) -> Integers:
    """1 above the median of each part, 0 up to it; missing values are the largest."""
    lengths = _lengths(starts, len(nodes))
    part = np.repeat(np.arange(len(starts)), lengths)
    high = np.maximum.reduceat(nodes, starts)
    order = np.lexsort([nodes, part])
    reached = np.cumsum(sizes[order])
    before = np.concatenate([[0], reached])[starts]
    total = np.add.reduceat(sizes, starts)
    half = 2 * (reached - before[part]) >= total[part]
    first = np.full(len(starts), len(nodes), dtype=np.int64)
    np.minimum.at(first, part[half], np.flatnonzero(half))
    median = nodes[order][first]
    below = np.where(nodes < high[part], nodes, -1)
    cut = np.where(median < high, median, np.maximum.reduceat(below, starts))
    return (nodes > cut[part]).astype(np.int64)
