"""Two ways to group classes: KACA merges what fails with what is nearest, Mondrian splits the table."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sqlaudit.base.errors import BudgetSpent, Stop, never
from sqlaudit.remedies.recode.classes import (
    Classes,
    ColumnTree,
    Flags,
    SaysWhatIsShort,
    common_of,
    dense,
    sorted_groups,
)
from sqlaudit.remedies.recode.request import Order
from sqlaudit.remedies.rewriting import Integers, groups_of

# The nearest class of a class, found without looking at all of them.
#
# The distance of two classes of n1 and n2 rows with the closest common generalization g is n1·WHD(q1→g) + n2·WHD(q2→g),
# summed over the columns: (n1 + n2)·G − n1·S1 − n2·S2, where G is how high g lies and S how high a class lies already.
# Classes lie in blocks, all under one coarser node. What a class must rise to meet the node of a block bounds its
# distance from every class there, so that blocks are looked into nearest first, and no further than the nearest class
# found.

_SMALL = 1500
"""Up to so many classes are one block."""
_PLANNED, _SEARCHES = 200_000, 24
"""Classes, and searches among them, by which the levels of blocks are chosen."""
_BLOCK = 2.0
"""What a block costs a search, in classes that it looks at."""
_AT_ONCE = 4096
"""Classes that are looked at together, at least, once the own block is done."""
_FEW, _SHARE = 1000, 50
"""After so many movements, or this share of the classes, blocks are rebuilt."""
_FAR = np.iinfo(np.int64).max
NONE = -1


@dataclass
class MergingState:
    """The classes that are left, by their numbers; a merged class keeps the smaller number of its two.

    Args:
        trees: of the columns. nodes, sizes: of each class. alive: which are left. risen: how high each lies, over all
            columns.
    """

    trees: tuple[ColumnTree, ...]
    nodes: Integers
    sizes: Integers
    alive: Flags
    risen: Integers


def risen(trees: tuple[ColumnTree, ...], nodes: Integers) -> Integers:
    """How high nodes lie, added up over the columns."""
    found = np.zeros(len(nodes), dtype=np.int64)
    for place, tree in enumerate(trees):
        found += tree.heights[tree.level[nodes[:, place]]]
    return found


class Index:
    """Finds nearest classes in a state that changes; rebuilt from time to time.

    Args:
        state: the classes; who changes it says so with `moved`.
    """

    def __init__(self, state: MergingState) -> None:
        self._state = state
        self._moved = np.zeros(0, dtype=np.int64)
        self._levels: list[int] = []
        self._planned = 0
        self._build()

    def nearest(self, number: int) -> int:
        """The nearest class that is left, of equally near ones that with the smallest number; NONE = there is none."""
        if self._movements >= len(self._moved):
            self._build()
        bounds = _bounds(self._state, number, self._nodes, self._smallest)
        distance, found = self._look(number, self._moved[: self._movements], _FAR, NONE)
        near = np.flatnonzero(bounds <= distance)
        near = near[np.argsort(bounds[near], kind="stable")]
        start, stop = 0, 1
        while start < len(near) and bounds[near[start]] <= distance:
            distance, found = self._look(number, self._of(near[start:stop], bounds, distance, found), distance, found)
            start = stop
            stop = self._enough(near, start)
        return found

    def moved(self, kept: int) -> None:
        """A class has new nodes; others may be left no more."""
        if self._movements < len(self._moved):
            self._moved[self._movements] = kept
        self._movements += 1
        self._at_home[kept] = False

    # --- blocks ---

    def _build(self) -> None:
        state = self._state
        left = np.flatnonzero(state.alive)
        if len(left) <= self._planned // 2 or not self._levels:
            self._levels, self._planned = _levels_of_blocks(state, left), len(left)
        self._members, self._starts, nodes = _blocks(state, left, self._levels)
        self._counts = np.diff(np.append(self._starts, len(left)))
        self._nodes = nodes
        self._smallest = np.minimum.reduceat(state.sizes[self._members], self._starts) if len(left) else left
        self._lowest = self._members[self._starts]
        self._at_home = state.alive.copy()
        self._movements = 0
        self._moved = np.zeros(max(_FEW, len(left) // _SHARE), dtype=np.int64)

    def _enough(self, blocks: Integers, start: int) -> int:
        """Where to stop, so that enough classes are looked at together."""
        reached = np.cumsum(self._counts[blocks[start : start + 512]])
        return start + min(len(reached), int(np.searchsorted(reached, _AT_ONCE)) + 1)

    def _of(self, blocks: Integers, bounds: Integers, distance: int, found: int) -> Integers:
        """The classes of blocks that may be nearer, or as near with a smaller number."""
        blocks = blocks[(bounds[blocks] < distance) | (self._lowest[blocks] < found)]
        if len(blocks) == 1:
            start = self._starts[blocks[0]]
            members = self._members[start : start + self._counts[blocks[0]]]
        else:
            counts = self._counts[blocks]
            ends = np.cumsum(counts)
            total = int(ends[-1]) if len(ends) else 0
            members = self._members[np.arange(total) + np.repeat(self._starts[blocks] - ends + counts, counts)]
        return members[self._at_home[members]]

    # --- classes ---

    def _look(self, number: int, members: Integers, distance: int, found: int) -> tuple[int, int]:
        """The nearest class so far, after looking at some more."""
        members = members[self._state.alive[members] & (members != number)]
        if not len(members):
            return distance, found
        far = _distances(self._state, number, members)
        least = int(far.min())
        if least > distance or least == _FAR:
            return distance, found
        best = int(members[far == least].min())
        return (least, best) if least < distance or found == NONE else (distance, min(best, found))


def _distances(state: MergingState, number: int, members: Integers) -> Integers:
    """The distances of a class from others, `_FAR` from those that it cannot be merged with."""
    height = np.zeros(len(members), dtype=np.int64)
    apart = np.zeros(len(members), dtype=bool)
    for place, tree in enumerate(state.trees):
        node, others = int(state.nodes[number, place]), state.nodes[members, place]
        if tree.kept:
            apart |= others != node
        else:
            height += tree.meeting(node, others)
    sizes, size = state.sizes[members], state.sizes[number]
    found = (sizes + size) * height - size * state.risen[number] - sizes * state.risen[members]
    found[apart] = _FAR
    return np.asarray(found)


def _bounds(state: MergingState, number: int, blocks: Sequence[Integers], smallest: Integers) -> Integers:
    """How near a class of each block can be at best, `_FAR` where none can be merged with it.

    Args:
        blocks: their nodes, column by column. smallest: a number of rows that no class of the block is below.
    """
    height = np.zeros(len(smallest), dtype=np.int64)
    other = np.zeros(len(smallest), dtype=np.int64)
    apart = np.zeros(len(smallest), dtype=bool)
    for place, (tree, nodes) in enumerate(zip(state.trees, blocks, strict=True)):
        node = int(state.nodes[number, place])
        if tree.kept:
            apart |= nodes != node
            continue
        meeting = tree.meeting(node, nodes)
        theirs = tree.heights[tree.level[nodes]]
        above = meeting > theirs
        height += np.where(above, meeting, tree.heights[tree.level[node]])
        other += np.where(above, meeting - theirs, 0)
    found = state.sizes[number] * (height - state.risen[number]) + smallest * other
    found[apart] = _FAR
    return np.asarray(found)


def _blocks(state: MergingState, left: Integers, levels: Sequence[int]) -> tuple[Integers, Integers, list[Integers]]:
    """Classes in the order of their blocks, where each block begins, and the blocks' nodes column by column."""
    numbers = _numbers(state, left, levels)
    order = np.argsort(numbers, kind="stable")
    members = left[order]
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    firsts = members[starts]
    nodes = [
        tree.lifted(level, state.nodes[firsts, place])
        for place, (tree, level) in enumerate(zip(state.trees, levels, strict=True))
    ]
    return members, starts, nodes


def _numbers(state: MergingState, left: Integers, levels: Sequence[int]) -> Integers:
    """One number for the block of each class, 0 or more."""
    found = np.zeros(len(left), dtype=np.int64)
    largest = 1
    for place, (tree, level) in enumerate(zip(state.trees, levels, strict=True)):
        if largest * len(tree.level) >= 1 << 62:
            found = np.unique(found, return_inverse=True)[1].ravel().astype(np.int64)
            largest = len(left)
        found = found * len(tree.level) + tree.lifted(level, state.nodes[left, place])
        largest *= len(tree.level)
    return found


def _levels_of_blocks(state: MergingState, left: Integers) -> list[int]:
    """The levels whose nodes make blocks: refined step by step, as long as that makes some searches cheaper. What a
    search costs is the number of blocks, and of the classes in those that may hold the nearest one.
    """
    levels = [0 if tree.kept else tree.height for tree in state.trees]
    if len(left) <= _SMALL:
        return levels
    some = left[:: max(1, len(left) // _PLANNED)]
    asked = some[:: max(1, len(some) // _SEARCHES)]
    nearest = [int(np.partition(_distances(state, number, some), 1)[1]) for number in asked.tolist()]
    searches = list(zip(asked.tolist(), nearest, strict=True))
    cost = float("inf")
    while True:
        finer = [[*levels[:at], level - 1, *levels[at + 1 :]] for at, level in enumerate(levels) if level]
        tried = [(_cost(state, some, one, searches), one) for one in finer]
        if not tried or min(tried)[0] >= cost:
            return levels
        cost, levels = min(tried)


def _cost(state: MergingState, some: Integers, levels: list[int], searches: Sequence[tuple[int, int]]) -> float:
    """What some searches for classes in a known distance would look at, on average."""
    members, starts, nodes = _blocks(state, some, levels)
    counts = np.diff(np.append(starts, len(some)))
    smallest = np.minimum.reduceat(state.sizes[members], starts)
    looked = sum(int(counts[_bounds(state, number, nodes, smallest) <= far].sum()) for number, far in searches)
    return looked / len(searches) + _BLOCK * len(starts)


# KACA: while a class fails, it is merged with its nearest class. Source: Li, Wong, Fu, Pei, DaWaK 2006;
# Wiegnand and Schallner, section 4.1.
#
# What the source leaves open is settled here. The class that is chosen is the smallest one that fails, of equally
# small ones the one with the smallest number; or a random one: every class draws a number when it comes into being,
# evenly between that of the class chosen last and 1, and the lowest is next, so that each choice is even among all that
# fail. Classes are numbered in the order of their values; a merged class keeps the smaller number of its two. Of
# equally near classes the one with the smallest number is taken. When the generalized class has the values of another
# class, both are one. First come the requirements on sizes, then, in the same way, all requirements.

_LOOK = 64
"""Merges between two looks at the clock."""
Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Merged:
    """What the merging came to.

    Args:
        groups: of each class, 0, 1, …. merges: how many. stuck: rows in classes that fail and have no partner
            left.
    """

    groups: Integers
    merges: int
    stuck: int = 0


def silent(merges: int, left: int) -> None:
    """Progress that nobody watches."""


def merge_classes(
    classes: Classes,
    judges: tuple[SaysWhatIsShort, ...],
    order: Order = Order.SMALLEST,
    seed: int = 0,
    stop: Stop = never,
    tell: Tell = silent,
) -> Merged:
    """Merge classes until none fails.

    Args:
        classes: no two with the same nodes. judges: one after the other; the last one knows all requirements.
        order, seed: which class is next. stop: asked now and then. tell: told of merges, and of classes that are left.

    Raises:
        BudgetSpent: `stop` said so.
    """
    run = _Merging(classes, stop, tell)
    stuck = 0
    for judge in judges:
        stuck = run.until_none_falls_short(judge, order, seed)
    return Merged(dense(run.roots()), run.merges, stuck)


class _Merging:
    """The classes while they are merged."""

    def __init__(self, classes: Classes, stop: Stop, tell: Tell) -> None:
        self.merges = 0
        self._stop, self._tell = stop, tell
        self._words = classes.words.copy()
        nodes = classes.nodes.copy()
        everybody = np.ones(len(classes), dtype=bool)
        self._state = MergingState(classes.trees, nodes, classes.sizes.copy(), everybody, risen(classes.trees, nodes))
        self._left = len(classes)
        self._parent = np.arange(len(classes))

    @cached_property
    def _index(self) -> Index:
        return Index(self._state)

    @cached_property
    def _by_nodes(self) -> dict[bytes, int]:
        return {nodes.tobytes(): number for number, nodes in enumerate(self._state.nodes)}

    def roots(self) -> Integers:
        """The class that each class has become part of."""
        found = self._parent
        while (found[found] != found).any():
            found = found[found]
        return found

    def until_none_falls_short(self, judge: SaysWhatIsShort, order: Order, seed: int) -> int:
        """Merge until all satisfy a judge; returns the rows of classes that fail and have no partner."""
        left = np.flatnonzero(self._state.alive)
        short = judge.short(self._state.sizes[left], self._words[left])
        if not short.any():
            return 0
        queue = _Queue(self._state, order, seed, left, short)
        stuck = 0
        while (number := queue.next(lambda some: judge.short(self._state.sizes[some], self._words[some]))) != NONE:
            if self.merges % _LOOK == 0:
                if self._stop():
                    raise BudgetSpent
                self._tell(self.merges, self._left)
            other = self._index.nearest(number)
            if other == NONE:
                stuck += int(self._state.sizes[number])
                continue
            queue.put(self._merge(number, other))
        return stuck

    def _merge(self, number: int, other: int) -> int:
        """Two classes made one, and one with any that has its values already; returns its number."""
        state = self._state
        pairs = zip(state.trees, state.nodes[number].tolist(), state.nodes[other].tolist(), strict=True)
        nodes = np.array([tree.meet((own, their)) for tree, own, their in pairs], dtype=np.int64)
        self.merges += 1
        for one in (number, other):
            del self._by_nodes[state.nodes[one].tobytes()]
        kept = self._join(number, other, nodes)
        twin = self._by_nodes.pop(nodes.tobytes(), NONE)
        if twin != NONE:
            kept = self._join(kept, twin, nodes)
        self._by_nodes[nodes.tobytes()] = kept
        return kept

    def _join(self, one: int, two: int, nodes: Integers) -> int:
        kept, gone = min(one, two), max(one, two)
        state = self._state
        state.sizes[kept] += state.sizes[gone]
        self._words[kept] += self._words[gone]
        state.alive[gone] = False
        state.nodes[kept] = nodes
        state.risen[kept] = risen(state.trees, nodes[None, :])[0]
        self._parent[gone] = kept
        self._left -= 1
        self._index.moved(kept)
        return kept


class _Queue:
    """The classes that may fail, in the order in which they are chosen. What a merged class is worth is asked
    when it is its turn, for all such classes at once."""

    def __init__(self, state: MergingState, order: Order, seed: int, left: Integers, short: Flags) -> None:
        self._state, self._order = state, order
        self._drawn = random.Random(seed)
        self._last = 0.0
        self._version = np.zeros(len(state.sizes), dtype=np.int64)
        self._short: set[int] = set(left[short].tolist())
        self._unknown: set[int] = set()
        ranks = {number: self._rank(number) for number in left.tolist()}
        self._heap = [(rank, number, 0) for number, rank in ranks.items() if number in self._short]
        heapq.heapify(self._heap)

    def put(self, number: int) -> None:
        """A class that was merged."""
        self._version[number] += 1
        self._unknown.add(number)
        heapq.heappush(self._heap, (self._rank(number), number, int(self._version[number])))

    def next(self, short: Callable[[Integers], Flags]) -> int:
        """The class that is next, NONE when none fails."""
        while self._heap:
            rank, number, version = heapq.heappop(self._heap)
            if self._version[number] != version or not self._state.alive[number]:
                continue
            if number in self._unknown:
                asked = np.array(sorted(one for one in self._unknown if self._state.alive[one]), dtype=np.int64)
                self._short -= self._unknown
                self._short |= set(asked[short(asked)].tolist())
                self._unknown.clear()
            if number in self._short:
                self._last = rank if self._order is Order.RANDOM else 0.0
                return int(number)
        return NONE

    def _rank(self, number: int) -> float:
        if self._order is Order.SMALLEST:
            return float(self._state.sizes[number])
        return self._last + (1.0 - self._last) * self._drawn.random()


# Strict multidimensional Mondrian: the table is split as long as every part satisfies the requirements.
#
# A part is split by the column in which it is widest (in its share of the column's range, or of its values below the
# closest common label), by the next one when that does not do. An ordered column is cut at its median: rows up to the
# smallest value that half of them reach, and the others; below the largest value when that is the median itself.
# Missing values come last there, and a part with some of them is as wide as the column. A column with a hierarchy of
# categories is split into the children of the common label. Of equally wide columns the first one is taken. Source:
# LeFevre, DeWitt, Ramakrishnan: Mondrian Multidimensional k-Anonymity, ICDE 2006, sections 3 and 4.

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
        classes: no two with the same nodes. axes: of the columns. judge: which groups fail.
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
        self.groups = groups_of(classes.nodes, kept)
        count = int(self.groups.max()) + 1 if len(classes) else 0
        self.open = np.ones(count, dtype=bool)
        self._order = np.full((count, len(axes)), -1, dtype=np.int64)
        self._tried = np.full(count, -1, dtype=np.int64)

    def begin(self) -> int:
        """The rows of parts that fail before anything is split."""
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
        order, starts = sorted_groups(self.groups[inside])
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
            order, starts = sorted_groups(self.groups[inside[some]])
            lined = inside[some[order]]
            nodes, sizes = self._classes.nodes[lined, place], self._classes.sizes[lined]
            if axis.points is None:  # the children of the closest common label
                common = np.repeat(common_of(axis.tree, nodes, starts), _lengths(starts, len(nodes)))
                cut = axis.tree.ancestors[np.maximum(0, axis.tree.level[common] - 1), nodes]
            else:
                cut = _by_median(nodes, sizes, starts)
            found[some[order]] = cut
        return found

    def _accept(self, inside: Integers, children: Integers) -> None:
        """Make those splits whose parts all satisfy the requirements; the others try their next column."""
        pairs = groups_of(np.column_stack([self.groups[inside], children]), (0, 1))
        order, starts = sorted_groups(pairs)
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
