"""The classes of all nodes of a lattice, in one sweep over sorted keys in memory.

A search needs some nodes, an explorer all of them. The finest classes leave the workbench once,
and one integer holds the ranks of all columns' values. Columns are raised one after the other, each level from the
classes of the level below, which are sorted and added up. The last column needs no sorting: ranks follow the paths of
its hierarchy, so that classes which become one are neighbors.

What decides a class is its vector: its rows, or (where requirements look at sensitive values) its rows and the counts
of the values, kept once and numbered. The workbench judges each vector once, by the models' own predicates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.errors import BudgetSpent, Stop, never
from sqlaudit.lattices.losses import Losses
from sqlaudit.lattices.verdicts import LossParts, Node, at_level

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

BITS = 63
"""Bits of a key, and of a key beside its vector when these are sorted together."""
_TABLE = 2**22
"""Largest range of a column's codes in which ranks are looked up in an array."""
_PENDING = 2**22
"""Number of classes from which those that wait are judged."""


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of one node: their keys, ascending, and the vector of each."""

    keys: Integers
    vectors: Integers


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


class Vectors(Protocol):
    """The vectors of classes, by number: what decides a class."""

    def merge(self, vectors: Integers, starts: Integers) -> Integers:
        """Return the vectors of classes that each consist of the classes from one start to the next."""

    def sizes(self, vectors: Integers) -> Integers:
        """Return the rows of the classes."""

    def failing(self, vectors: Integers) -> Integers:
        """Return a number for each class, in which bit i is set if it fails check i."""

    def judge(self) -> None:
        """Judge the vectors that were not judged yet; `failing` may be asked for them then."""


class SizeVectors:
    """Vectors of classes whose rows alone decide: the number of a vector is the number of rows.

    Args:
        fewest: the fewest rows that meet each check.
    """

    def __init__(self, fewest: Sequence[int]) -> None:
        self._fewest = fewest

    def merge(self, vectors: Integers, starts: Integers) -> Integers:
        return np.add.reduceat(vectors, starts)

    def sizes(self, vectors: Integers) -> Integers:
        return vectors

    def failing(self, vectors: Integers) -> Integers:
        failing: Integers = np.zeros(len(vectors), dtype=np.int64)
        for place, least in enumerate(self._fewest):
            failing |= (vectors < least).astype(np.int64) << place
        return failing

    def judge(self) -> None:
        pass


class CountVectors:
    """Vectors of classes that counts of sensitive values decide, one row each: size, and the words of the counts.

    Args:
        sizes: of the finest classes. words: of their counts. aggregates: of each word, `SUM` or `BIT_OR`.
        judge: returns a number for each vector, in which bit i is set if it fails check i.
    """

    def __init__(
        self,
        sizes: Integers,
        words: Sequence[Integers],
        aggregates: Sequence[str],
        judge: Callable[[Integers, Sequence[Integers]], Integers],
    ) -> None:
        self._add = [np.add, *({"SUM": np.add, "BIT_OR": np.bitwise_or}[name] for name in aggregates)]
        self._judge = judge
        self._rows = np.empty((1 + len(words), 1024), dtype=np.int64)
        self._count = 0
        self._failing: Integers = np.empty(0, dtype=np.int64)
        self.base = self._number([sizes, *words])

    def merge(self, vectors: Integers, starts: Integers) -> Integers:
        lengths = np.diff(starts, append=len(vectors))
        several = lengths > 1
        merged: Integers = vectors[starts]
        cells = vectors[np.repeat(several, lengths)]
        ends = np.cumsum(lengths[several])
        begins = ends - lengths[several]
        sums = [add.reduceat(row[cells], begins) for add, row in zip(self._add, self._rows, strict=True)]
        merged[several] = self._number(sums)
        return merged

    def sizes(self, vectors: Integers) -> Integers:
        sizes: Integers = self._rows[0][vectors]
        return sizes

    def failing(self, vectors: Integers) -> Integers:
        return self._failing[vectors]

    def judge(self) -> None:
        judged = len(self._failing)
        if judged < self._count:
            size, *words = self._rows[:, judged : self._count]
            self._failing = np.concatenate([self._failing, self._judge(size, words)])

    def _number(self, rows: Sequence[Integers]) -> Integers:
        """Add vectors, equal ones of these once, and return their numbers."""
        order = _order(rows)
        begins = np.ones(len(order), dtype=np.bool_)
        begins[1:] = np.logical_or.reduce([row[order[1:]] != row[order[:-1]] for row in rows])
        first = order[begins]
        numbers = np.empty(len(order), dtype=np.int64)
        numbers[order] = self._count - 1 + np.cumsum(begins)
        count = self._count + len(first)
        if count > self._rows.shape[1]:
            grown = np.empty((len(rows), 2 * count), dtype=np.int64)
            grown[:, : self._count] = self._rows[:, : self._count]
            self._rows = grown
        for place, row in enumerate(rows):
            self._rows[place, self._count : count] = row[first]
        self._count = count
        return numbers


def _order(rows: Sequence[Integers]) -> Integers:
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
        short: for each check the classes that fail it, and their rows.
        parts: of its loss, with the rows of failing classes left out.
    """

    classes: int
    smallest: int
    smallest_left: int
    short: tuple[tuple[int, int], ...]
    parts: LossParts


class Sweep:
    """The classes of all nodes.

    Args:
        columns: in the order of a node.
        base: the finest classes, in any order; their keys are made of the columns' ranks.
        vectors: of their classes.
        checks: the number of checks.
        losses: the costs of cells. weights: by column and level those of labels, by their rank.
        rows: rows of the table.
    """

    def __init__(
        self,
        columns: Sequence[RankedColumn],
        vectors: Vectors,
        base: Integers,
        checks: int,
        losses: Losses,
        weights: Mapping[tuple[int, int], Floats],
        rows: int,
    ) -> None:
        self._columns, self._vectors, self._checks = columns, vectors, checks
        self._losses, self._weights, self._rows = losses, weights, rows
        self._heights = tuple(column.height for column in losses.columns)
        self.order = sweep_order([len(column.codes) for column in columns], self._heights)
        shift = 0
        for place in reversed(self.order):
            columns[place].shift = shift
            shift += columns[place].width
        keys = np.zeros(len(base), dtype=np.int64)
        for column in columns:
            keys |= column.ranks << column.shift
        self._key_bits = shift
        self._base = self._sorted(Classes(keys, base))

    def node(self, node: Node) -> SweptNode:
        """Return one node, from the finest classes."""
        keys = self._base.keys
        for column, level in zip(self._columns, node, strict=True):
            if level:
                keys = column.raise_keys(keys, 0, level)
        classes = self._sorted(Classes(keys, self._base.vectors)) if any(node) else self._base
        self._vectors.judge()
        return self._describe(node, classes)

    def nodes(self, stop: Stop = never) -> Iterator[SweptNode]:
        """Yield all nodes.

        Raises:
            BudgetSpent: `stop` returned True.
        """
        finest = (0,) * len(self._columns)
        pending: list[tuple[Node, Classes]] = []
        waiting = 0
        for node, classes in self._walk(finest, self._base, self.order):
            if stop():
                raise BudgetSpent
            pending.append((node, classes))
            waiting += len(classes.keys)
            if waiting >= _PENDING:
                yield from self._judged(pending)
                pending, waiting = [], 0
        yield from self._judged(pending)

    def _judged(self, pending: Sequence[tuple[Node, Classes]]) -> Iterator[SweptNode]:
        self._vectors.judge()
        for node, classes in pending:
            yield self._describe(node, classes)

    def _walk(self, node: Node, classes: Classes, order: Sequence[int]) -> Iterator[tuple[Node, Classes]]:
        """Yield the node and all nodes that are coarser in the columns of the order."""
        if not order:
            yield node, classes
            return
        place, *rest = order
        column = self._columns[place]
        for level in range(self._heights[place] + 1):
            if level:
                raised = Classes(column.raise_keys(classes.keys, level - 1, level), classes.vectors)
                classes = self._sorted(raised, runs=True) if rest else self._merged(raised)
            yield from self._walk(at_level(node, place, level), classes, rest)

    def _sorted(self, classes: Classes, *, runs: bool = False) -> Classes:
        """Return the classes sorted by their keys, equal keys added up.

        With one column raised, keys are long runs that ascend: merging these takes a tenth of the time of sorting.
        """
        keys, vectors = classes.keys, classes.vectors
        bits = int(vectors.max()).bit_length() if len(vectors) else 0
        if self._key_bits + bits > BITS:
            order = np.argsort(keys)
            return self._merged(Classes(keys[order], vectors[order]))
        # sorting keys together with their vectors takes a quarter of the time of sorting places by keys
        packed = keys << bits | vectors
        packed.sort(kind="stable" if runs else None)
        return self._merged(Classes(packed >> bits, packed & (1 << bits) - 1))

    def _merged(self, classes: Classes) -> Classes:
        """Return classes of ascending keys with equal keys added up."""
        begins = np.ones(len(classes.keys), dtype=np.bool_)
        np.not_equal(classes.keys[1:], classes.keys[:-1], out=begins[1:])
        starts = np.flatnonzero(begins)
        if len(starts) == len(classes.keys):
            return classes
        return Classes(classes.keys[starts], self._vectors.merge(classes.vectors, starts))

    def _describe(self, node: Node, classes: Classes) -> SweptNode:
        """Return the figures of a node."""
        sizes, failing = self._vectors.sizes(classes.vectors), self._vectors.failing(classes.vectors)
        fails = failing != 0
        kept = ~fails
        left = sizes[kept]
        failing_rows = self._rows - int(left.sum())
        found = [(len(sizes) - len(left), failing_rows)]
        if self._checks != 1:
            checks, short = failing[fails], sizes[fails]
            bits = (checks >> place & 1 for place in range(self._checks))
            found = [(int(one.sum()), int((short * one).sum())) for one in bits]
        squares, kept_bits = self._of_classes(left)
        parts = LossParts(
            node=node,
            classes=len(sizes),
            kept_classes=len(left),
            rows=self._rows,
            failing_rows=failing_rows,
            kept_squares=squares,
            failing_weights=self._weigh(node, classes.keys, sizes, fails, kept),
            kept_bits=kept_bits,
        )
        return SweptNode(len(sizes), int(sizes.min()), int(left.min()) if len(left) else 0, tuple(found), parts)

    def _of_classes(self, left: Integers) -> tuple[int, float]:
        """Return for losses of classes the sums of their squared rows, and of their rows times their logarithm."""
        if self._losses.measure.separable:
            return 0, 0.0
        sizes, counts = np.unique(left, return_counts=True)
        squares = sum(int(size) ** 2 * int(count) for size, count in zip(sizes, counts, strict=True))
        return squares, float(np.sum(sizes * np.log2(sizes) * counts))

    def _weigh(
        self, node: Node, keys: Integers, sizes: Integers, fails: NDArray[np.bool_], kept: NDArray[np.bool_]
    ) -> tuple[float, ...]:
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
