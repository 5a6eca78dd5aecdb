"""The classes of all nodes of a lattice, in one sweep over sorted keys in memory.

A search needs some nodes, an explorer all of them. The finest classes leave the workbench once, and one integer holds
the ranks of all columns' values. Columns are raised one after the other, each level from the classes of the level
below, which are merged by their keys. The last column needs no sorting: ranks follow the paths of its hierarchy, so
that classes which become one are neighbors.

A class fails by its rows alone where these are fewer than a requirement allows. Of the others, those with the same rows
and the same counts of sensitive values are judged once, many nodes together, by the models' own predicates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.errors import BudgetSpent, Stop, never
from sqlaudit.lattices.losses import Losses
from sqlaudit.lattices.verdicts import LossParts, Node

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

BITS = 63
"""Bits of a key, and of a key beside what is sorted with it."""
_TABLE = 2**22
"""Largest range of a column's codes in which ranks are looked up in an array."""
_PENDING = 2**22
"""Number of classes from which those that wait are judged."""


@dataclass(frozen=True, eq=False)
class SortedClasses:
    """The classes of one node: their keys, ascending, and the vector of each: its rows, and the words of its counts."""

    keys: Integers
    vectors: tuple[Integers, ...]

    def __len__(self) -> int:
        return len(self.keys)

    def select(self, places: NDArray[np.intp] | Booleans) -> SortedClasses:
        """Return some classes, or all of them in another order."""
        return SortedClasses(self.keys[places], tuple(row[places] for row in self.vectors))


class RankedColumn:
    """A column as a field of the keys: the rank of its value, or at a coarser level of its label.

    Args:
        masks: the bits of its codes at each level, all in one word.
        codes: the code of each finest class; may have bits of other columns.
    """

    def __init__(self, masks: Sequence[int], codes: Integers) -> None:
        self._masks = masks
        self._low = max(0, (masks[0] & -masks[0]).bit_length() - 1)
        codes = codes & masks[0]
        span = (masks[0] >> self._low) + 1
        if span <= _TABLE:  # a third of the time of sorting
            places = codes >> self._low
            occurs = np.zeros(span, dtype=np.bool_)
            occurs[places] = True
            self.codes: Integers = np.flatnonzero(occurs) << self._low
            self.ranks: Integers = (np.cumsum(occurs, dtype=np.int64) - 1)[places]
        else:
            self.codes, self.ranks = np.unique(codes, return_inverse=True)
        self.labels = [np.unique(self.codes & mask) for mask in masks]
        """For each level the codes of its labels, in the order of their ranks."""
        self.raised = [self.rank(self.codes, level) for level in range(len(masks))]
        """For each level the rank of the label of each value."""
        self.width = (len(self.codes) - 1).bit_length()
        self.shift = 0

    def rank(self, codes: Integers, level: int) -> Integers:
        """Return the ranks that the labels of some codes have at a level."""
        ranks: Integers = np.searchsorted(self.labels[level], codes & self._masks[level])
        return ranks

    def mask_at(self, level: int) -> int:
        """Return the bits of its codes at a level, and the sign, which no code has."""
        return self._masks[level] | -(2**63)

    def of(self, keys: Integers) -> Integers:
        """Return the ranks in some keys."""
        ranks: Integers = keys >> self.shift & (1 << self.width) - 1
        return ranks

    def raise_keys(self, keys: Integers, below: int, level: int) -> Integers:
        """Return keys in which the column is at a level, from keys in which it is at a lower one."""
        above = np.zeros(len(self.labels[below]), dtype=np.int64)
        above[self.raised[below]] = self.raised[level] << self.shift
        raised: Integers = keys & ~(((1 << self.width) - 1) << self.shift) | above[self.of(keys)]
        return raised


@dataclass(frozen=True)
class Checks:
    """The requirements that decide whether a class fails, by its vector.

    Args:
        count: their number.
        least: the fewest rows of a class that may meet all of them.
        by_size: True if every class with so many rows meets all of them.
        aggregates: of the words of counts, `SUM` or `BIT_OR`.
        judge: takes different vectors, and returns for each a number in which bit i is set if it fails check i.
    """

    count: int
    least: int
    by_size: bool
    aggregates: Sequence[str]
    judge: Callable[[Sequence[Integers]], Integers]

    def failing(self, vectors: Sequence[Integers]) -> Integers:
        """Return for each class a number in which bit i is set if it fails check i; equal vectors are judged once."""
        if self.by_size:
            return self.judge(vectors)
        order = _order(vectors)
        begins = np.ones(len(order), dtype=np.bool_)
        begins[1:] = np.logical_or.reduce([row[order[1:]] != row[order[:-1]] for row in vectors])
        failing = np.empty(len(order), dtype=np.int64)
        if len(order):
            failing[order] = self.judge([row[order[begins]] for row in vectors])[np.cumsum(begins) - 1]
        return failing

    def fails(self, nodes: Sequence[SortedClasses]) -> Iterator[Booleans]:
        """Yield for each of several nodes which of its classes fail."""
        small = [classes.vectors[0] < self.least for classes in nodes]
        if self.by_size:
            yield from small
            return
        large = [classes.select(~fails).vectors for classes, fails in zip(nodes, small, strict=True)]
        failing = self.failing([np.concatenate(rows) for rows in zip(*large, strict=True)]) != 0
        for fails in small:
            count = len(fails) - int(np.count_nonzero(fails))
            fails[~fails], failing = failing[:count], failing[count:]
            yield fails


def _order(rows: Sequence[Integers]) -> NDArray[np.intp]:
    """Return an order in which equal vectors are neighbors; sorting one number is faster than several."""
    bits = [int(row.max()).bit_length() if len(row) else 0 for row in rows]
    if sum(bits) > BITS:
        return np.lexsort(rows)
    packed = np.zeros(len(rows[0]), dtype=np.int64)
    for row, width in zip(rows, bits, strict=True):
        packed = packed << width | row
    return np.argsort(packed)


@dataclass(frozen=True)
class SweptNode:
    """A node with the figures that decide it, and those that its loss follows from.

    Args:
        classes: all classes. smallest: rows of the smallest one.
        smallest_left: rows of the smallest class that does not fail; 0 if none is left.
        parts: of its loss, with the rows of failing classes left out.
        short: for each check the classes that fail it, and their rows; empty unless asked for.
    """

    classes: int
    smallest: int
    smallest_left: int
    parts: LossParts
    short: tuple[tuple[int, int], ...] = ()


class Sweep:
    """The classes of all nodes.

    Args:
        columns: in the order of a node.
        vectors: of the finest classes, whose keys are made of the columns' ranks.
        checks: of classes.
        losses: the costs of cells. weights: by column and level those of labels, by their rank.
        rows: rows of the table.
    """

    def __init__(
        self,
        columns: Sequence[RankedColumn],
        vectors: Sequence[Integers],
        checks: Checks,
        losses: Losses,
        weights: Mapping[tuple[int, int], Floats],
        rows: int,
    ) -> None:
        self._columns, self._checks, self._losses, self._rows = columns, checks, losses, rows
        self._heights = tuple(column.height for column in losses.columns)
        *self._first, self._last = sweep_order([len(column.codes) for column in columns], self._heights)
        # the keys of merged classes keep the value of the last column that their first class has
        raised = columns[self._last].raised
        self._weights = {
            (place, level): by_rank[raised[level]] if place == self._last else by_rank
            for (place, level), by_rank in weights.items()
        }
        shift = 0
        for place in (self._last, *reversed(self._first)):
            columns[place].shift = shift
            shift += columns[place].width
        keys = np.zeros(len(vectors[0]), dtype=np.int64)
        for column in columns:
            keys |= column.ranks << column.shift
        self._key_bits = shift
        self._base = self._sorted(SortedClasses(keys, tuple(vectors)))

    def node(self, node: Node) -> SweptNode:
        """Return one node, from the finest classes, with the classes that fail each check."""
        classes = self._base
        if any(node[place] for place in self._first):
            keys = classes.keys
            for place in self._first:
                keys = self._columns[place].raise_keys(keys, 0, node[place])
            classes = self._sorted(SortedClasses(keys, classes.vectors))
        ((_, classes),) = self._raise_last(classes, [node[self._last]])
        failing = self._checks.failing(classes.vectors)
        bits = [failing >> place & 1 for place in range(self._checks.count)]
        short = tuple((int(one.sum()), int(np.dot(one, classes.vectors[0]))) for one in bits)
        return self._describe(node, classes, failing != 0, self._rows, short)

    def nodes(self, nodes: Sequence[Node], priced_rows: int, stop: Stop = never) -> Iterator[SweptNode]:
        """Yield some nodes or all, each from the classes of a finer one, in an order of their own.

        Args:
            nodes: those that are asked for.
            priced_rows: failing rows of a node up to which all parts of its loss are computed.
            stop: asked between nodes.

        Raises:
            BudgetSpent: `stop` returned True.
        """
        pending: list[tuple[Node, SortedClasses]] = []
        waiting = 0
        for some, finest in self._walk(nodes, self._base, self._first):
            by_level = _by_level(some, self._last)
            for level, classes in self._raise_last(finest, list(by_level)):
                if stop():
                    raise BudgetSpent
                pending += [(node, classes) for node in by_level[level]]
                waiting += len(classes)
            if waiting >= _PENDING:
                yield from self._judged(pending, priced_rows)
                pending, waiting = [], 0
        if pending:
            yield from self._judged(pending, priced_rows)

    def _judged(self, pending: Sequence[tuple[Node, SortedClasses]], priced_rows: int) -> Iterator[SweptNode]:
        all_fails = self._checks.fails([classes for _, classes in pending])
        for (node, classes), fails in zip(pending, all_fails, strict=True):
            yield self._describe(node, classes, fails, priced_rows)

    def _walk(
        self, nodes: Sequence[Node], classes: SortedClasses, order: Sequence[int]
    ) -> Iterator[tuple[Sequence[Node], SortedClasses]]:
        """Yield nodes that differ in the last column alone, with their classes before it is raised."""
        if not order:
            yield nodes, classes
            return
        place, *rest = order
        below = 0
        for level, some in _by_level(nodes, place).items():
            if level > below:
                keys = self._columns[place].raise_keys(classes.keys, below, level)
                classes, below = self._sorted(SortedClasses(keys, classes.vectors), runs=True), level
            yield from self._walk(some, classes, rest)

    def _raise_last(self, classes: SortedClasses, levels: Sequence[int]) -> Iterator[tuple[int, SortedClasses]]:
        """Yield the classes with the last column at each of some ascending levels."""
        column = self._columns[self._last]
        codes = column.codes[column.of(classes.keys)]
        differs = np.empty(len(classes), dtype=np.int64)
        differs[1:] = codes[1:] ^ codes[:-1]
        prefix = classes.keys >> column.width
        differs[1:][prefix[1:] != prefix[:-1]] = -1
        differs[:1] = -1
        for level in levels:
            # two neighbors stay two classes as long as a bit of their codes differs that the level keeps
            starts = np.flatnonzero((differs & column.mask_at(level)) != 0)
            if len(starts) < len(classes):
                classes, differs = self._merged(classes, starts), differs[starts]
            yield level, classes

    def _sorted(self, classes: SortedClasses, *, runs: bool = False) -> SortedClasses:
        """Return the classes sorted by their keys, equal keys merged.

        With one column raised, keys are long runs that ascend: merging these takes a tenth of the time of sorting.
        """
        keys, vectors = classes.keys, classes.vectors
        alone = len(vectors) == 1  # rows travel with the keys; longer vectors are fetched by their places
        beside = vectors[0] if alone else np.arange(len(keys))
        bits = int(beside.max()).bit_length() if len(keys) else 0
        kind: Literal["stable", "quicksort"] = "stable" if runs else "quicksort"
        if self._key_bits + bits > BITS:
            classes = classes.select(np.argsort(keys, kind=kind))
        else:
            packed = keys << bits | beside
            packed.sort(kind=kind)
            keys, beside = packed >> bits, packed & (1 << bits) - 1
            classes = SortedClasses(keys, (beside,) if alone else tuple(row[beside] for row in vectors))
        begins = np.ones(len(keys), dtype=np.bool_)
        np.not_equal(classes.keys[1:], classes.keys[:-1], out=begins[1:])
        starts = np.flatnonzero(begins)
        return classes if len(starts) == len(keys) else self._merged(classes, starts)

    def _merged(self, classes: SortedClasses, starts: NDArray[np.intp]) -> SortedClasses:
        """Return one class for all classes from each start to the next."""
        vectors = []
        for row, aggregate in zip(classes.vectors, ("SUM", *self._checks.aggregates), strict=True):
            if aggregate == "BIT_OR":
                vectors.append(np.bitwise_or.reduceat(row, starts))
            else:  # a third of the time of `add.reduceat`; sums that wrap around have the right differences
                sums = np.zeros(len(row) + 1, dtype=np.int64)
                np.cumsum(row, out=sums[1:])
                before = np.append(sums[starts], sums[-1])
                vectors.append(before[1:] - before[:-1])
        return SortedClasses(classes.keys[starts], tuple(vectors))

    def _describe(
        self,
        node: Node,
        classes: SortedClasses,
        fails: Booleans,
        priced_rows: int,
        short: tuple[tuple[int, int], ...] = (),
    ) -> SweptNode:
        """Return the figures of a node."""
        sizes, kept = classes.vectors[0], ~fails
        left = sizes[kept]
        failing_rows = self._rows - int(left.sum())
        is_priced = failing_rows <= priced_rows
        squares, kept_bits = self._of_classes(left) if is_priced else (0, 0.0)
        parts = LossParts(
            node=node,
            classes=len(sizes),
            kept_classes=len(left),
            rows=self._rows,
            failing_rows=failing_rows,
            kept_squares=squares,
            failing_weights=self._weigh(node, classes.keys, sizes, fails, kept) if is_priced else (),
            kept_bits=kept_bits,
        )
        return SweptNode(len(sizes), int(sizes.min()), int(left.min()) if len(left) else 0, parts, short)

    def _of_classes(self, left: Integers) -> tuple[int, float]:
        """Return for losses of classes the sums of their squared rows, and of their rows times their logarithm."""
        if self._losses.measure.separable:
            return 0, 0.0
        sizes, counts = np.unique(left, return_counts=True)
        squares = sum(int(size) ** 2 * int(count) for size, count in zip(sizes, counts, strict=True))
        return squares, float(np.sum(sizes * np.log2(sizes) * counts))

    def _weigh(self, node: Node, keys: Integers, sizes: Integers, fails: Booleans, kept: Booleans) -> tuple[float, ...]:
        """Return for each column the weights of the cells in failing classes.

        Where fewer classes are left than fail, theirs are taken from the sum over all rows.
        """
        selected = [place for place, level in enumerate(node) if (place, level) in self._weights]
        sums = [0.0] * len(node)
        failing = int(np.count_nonzero(fails))
        if not selected or not failing:
            return tuple(sums)
        by_failing = 2 * failing <= len(fails)
        chosen = fails if by_failing else kept
        keys, sizes = keys[chosen], sizes[chosen]
        for place in selected:
            weights = self._weights[place, node[place]][self._columns[place].of(keys)]
            added = float(np.dot(weights, sizes))
            sums[place] = added if by_failing else self._losses.columns[place].kept[node[place]] - added
        return tuple(sums)


def _by_level(nodes: Sequence[Node], place: int) -> dict[int, list[Node]]:
    """Return the nodes by their level of a column, the finest first."""
    by_level: dict[int, list[Node]] = {}
    for node in sorted(nodes, key=lambda node: node[place]):
        by_level.setdefault(node[place], []).append(node)
    return by_level


def sweep_order(values: Sequence[int], heights: Sequence[int]) -> list[int]:
    """Return the columns in the order in which they are raised.

    Last the one with most levels, since it is never sorted for; those with most values first, since raising them
    leaves the fewest classes for the others.

    Example:
        >>> sweep_order([100, 20, 50], [2, 5, 5])
        [0, 2, 1]
    """
    last = min(range(len(values)), key=lambda place: (-heights[place], values[place], place), default=0)
    return [*sorted((place for place in range(len(values)) if place != last), key=lambda place: -values[place]), last]
