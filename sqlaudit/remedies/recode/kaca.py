"""Group classes: KACA merges failing classes with their nearest class, Mondrian splits the table."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sqlaudit.base.errors import BudgetSpent, Stop, never
from sqlaudit.remedies.recode.classes import Classes, ColumnTree, Flags, GroupJudge, common_of, dense, sorted_groups
from sqlaudit.remedies.recode.request import Order
from sqlaudit.remedies.rewriting import Integers, groups_of

# The nearest class of a class, without a look at all of them.
#
# The distance of two classes of n1 and n2 rows with the closest common generalization g is n1·WHD(q1→g) + n2·WHD(q2→g),
# summed over the columns: (n1 + n2)·G − n1·S1 − n2·S2, where G is the height of g and S the height of a class.
# Classes are in blocks, all under one coarser node. The rise of a class to the node of a block bounds its distance from
# every class there. So blocks are visited nearest first, up to the distance of the nearest class found.

_SINGLE_BLOCK = 1500
"""Largest number of classes in a single block."""
_PLANNING_CLASSES, _PLANNING_SEARCHES = 200_000, 24
"""Sample sizes, of classes and of searches among them, to choose the levels of blocks."""
_BLOCK_COST = 2.0
"""Cost of visiting a block, in classes."""
_BATCH_CLASSES = 4096
"""Smallest number of classes that are visited at once after the nearest block."""
_REBUILD_MOVES, _REBUILD_SHARE = 1000, 50
"""Blocks are rebuilt after this number of moves, or this fraction (1/50) of the classes, whichever is larger."""
_UNREACHABLE = np.iinfo(np.int64).max
NONE = -1


@dataclass
class MergingState:
    """The remaining classes, by their numbers. A merged class keeps the smaller number of its two.

    Args:
        trees: the trees of the columns.
        nodes, sizes: the nodes and the number of rows of each class.
        alive: which classes remain.
        total_height: the sum of the heights of each class's nodes.
    """

    trees: tuple[ColumnTree, ...]
    nodes: Integers
    sizes: Integers
    alive: Flags
    total_height: Integers


def total_heights(trees: tuple[ColumnTree, ...], nodes: Integers) -> Integers:
    """Return the sum of the heights of nodes over the columns."""
    heights = np.zeros(len(nodes), dtype=np.int64)
    for column, tree in enumerate(trees):
        heights += tree.heights[tree.level[nodes[:, column]]]
    return heights


class NearestClassIndex:
    """An index that finds nearest classes in a changing state. It is rebuilt from time to time.

    Args:
        state: the classes. Changes must be announced with `moved`.
    """

    def __init__(self, state: MergingState) -> None:
        self._state = state
        self._moved = np.zeros(0, dtype=np.int64)
        self._levels: list[int] = []
        self._planned = 0
        self._build()

    def nearest(self, number: int) -> int:
        """Return the nearest remaining class, of equally near ones the one with the smallest number, NONE if none
        remains.
        """
        if self._movements >= len(self._moved):
            self._build()
        bounds = _distance_bounds(self._state, number, self._nodes, self._smallest)
        distance, nearest = self._nearest_among(number, self._moved[: self._movements], _UNREACHABLE, NONE)
        near = np.flatnonzero(bounds <= distance)
        near = near[np.argsort(bounds[near], kind="stable")]
        start, stop = 0, 1
        while start < len(near) and bounds[near[start]] <= distance:
            distance, nearest = self._nearest_among(
                number, self._candidates(near[start:stop], bounds, distance, nearest), distance, nearest
            )
            start = stop
            stop = self._batch_end(near, start)
        return nearest

    def moved(self, number: int) -> None:
        """Note that a class has new nodes. Others may no longer remain."""
        if self._movements < len(self._moved):
            self._moved[self._movements] = number
        self._movements += 1
        self._at_home[number] = False

    # --- blocks ---

    def _build(self) -> None:
        """Arrange the remaining classes in blocks. Choose their levels anew if half of the classes are gone."""
        state = self._state
        left = np.flatnonzero(state.alive)
        if len(left) <= self._planned // 2 or not self._levels:
            self._levels, self._planned = _choose_block_levels(state, left), len(left)
        self._members, self._starts, nodes = _arrange_blocks(state, left, self._levels)
        self._counts = np.diff(np.append(self._starts, len(left)))
        self._nodes = nodes
        self._smallest = np.minimum.reduceat(state.sizes[self._members], self._starts) if len(left) else left
        self._lowest = self._members[self._starts]
        self._at_home = state.alive.copy()
        self._movements = 0
        self._moved = np.zeros(max(_REBUILD_MOVES, len(left) // _REBUILD_SHARE), dtype=np.int64)

    def _batch_end(self, blocks: Integers, start: int) -> int:
        """Return the end of a batch of blocks with enough classes to visit at once."""
        reached = np.cumsum(self._counts[blocks[start : start + 512]])
        return start + min(len(reached), int(np.searchsorted(reached, _BATCH_CLASSES)) + 1)

    def _candidates(self, blocks: Integers, bounds: Integers, distance: int, nearest: int) -> Integers:
        """Return the classes of blocks that may be nearer, or as near with a smaller number."""
        blocks = blocks[(bounds[blocks] < distance) | (self._lowest[blocks] < nearest)]
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

    def _nearest_among(self, number: int, members: Integers, distance: int, nearest: int) -> tuple[int, int]:
        """Return distance and number of the nearest class so far and among these members."""
        members = members[self._state.alive[members] & (members != number)]
        if not len(members):
            return distance, nearest
        distances = _distances_to(self._state, number, members)
        least = int(distances.min())
        if least > distance or least == _UNREACHABLE:
            return distance, nearest
        best = int(members[distances == least].min())
        return (least, best) if least < distance or nearest == NONE else (distance, min(best, nearest))


def _distances_to(state: MergingState, number: int, members: Integers) -> Integers:
    """Return the distances of a class from others, `_UNREACHABLE` from those that it cannot be merged with."""
    height = np.zeros(len(members), dtype=np.int64)
    incompatible = np.zeros(len(members), dtype=bool)
    for column, tree in enumerate(state.trees):
        node, others = int(state.nodes[number, column]), state.nodes[members, column]
        if tree.is_fixed:
            incompatible |= others != node
        else:
            height += tree.rise_to_meet(node, others)
    sizes, size = state.sizes[members], state.sizes[number]
    distances = (sizes + size) * height - size * state.total_height[number] - sizes * state.total_height[members]
    distances[incompatible] = _UNREACHABLE
    return np.asarray(distances)


def _distance_bounds(state: MergingState, number: int, blocks: Sequence[Integers], smallest: Integers) -> Integers:
    """Return a lower bound of the distance to the classes of each block, `_UNREACHABLE` if none can be merged.

    Args:
        blocks: the nodes of the blocks, column by column.
        smallest: a lower bound of the rows of a class in each block.
    """
    height = np.zeros(len(smallest), dtype=np.int64)
    other = np.zeros(len(smallest), dtype=np.int64)
    incompatible = np.zeros(len(smallest), dtype=bool)
    for column, (tree, nodes) in enumerate(zip(state.trees, blocks, strict=True)):
        node = int(state.nodes[number, column])
        if tree.is_fixed:
            incompatible |= nodes != node
            continue
        meeting = tree.rise_to_meet(node, nodes)
        block_heights = tree.heights[tree.level[nodes]]
        above = meeting > block_heights
        height += np.where(above, meeting, tree.heights[tree.level[node]])
        other += np.where(above, meeting - block_heights, 0)
    bounds = state.sizes[number] * (height - state.total_height[number]) + smallest * other
    bounds[incompatible] = _UNREACHABLE
    return np.asarray(bounds)


def _arrange_blocks(
    state: MergingState, left: Integers, levels: Sequence[int]
) -> tuple[Integers, Integers, list[Integers]]:
    """Return classes in the order of their blocks, the start of each block, and the blocks' nodes column by column."""
    numbers = _block_numbers(state, left, levels)
    order = np.argsort(numbers, kind="stable")
    members = left[order]
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    firsts = members[starts]
    nodes = [
        tree.ancestors_at(level, state.nodes[firsts, column])
        for column, (tree, level) in enumerate(zip(state.trees, levels, strict=True))
    ]
    return members, starts, nodes


def _block_numbers(state: MergingState, left: Integers, levels: Sequence[int]) -> Integers:
    """Return a number for the block of each class, 0 or more."""
    numbers = np.zeros(len(left), dtype=np.int64)
    largest = 1
    for column, (tree, level) in enumerate(zip(state.trees, levels, strict=True)):
        if largest * len(tree.level) >= 1 << 62:
            numbers = np.unique(numbers, return_inverse=True)[1].ravel().astype(np.int64)
            largest = len(left)
        numbers = numbers * len(tree.level) + tree.ancestors_at(level, state.nodes[left, column])
        largest *= len(tree.level)
    return numbers


def _choose_block_levels(state: MergingState, left: Integers) -> list[int]:
    """Return the levels whose nodes make blocks.

    They are refined step by step, as long as that makes some searches cheaper. The cost of a search is the number of
    blocks, and of the classes in blocks that may hold the nearest one.
    """
    levels = [0 if tree.is_fixed else tree.height for tree in state.trees]
    if len(left) <= _SINGLE_BLOCK:
        return levels
    sample = left[:: max(1, len(left) // _PLANNING_CLASSES)]
    searched = sample[:: max(1, len(sample) // _PLANNING_SEARCHES)]
    nearest = [int(np.partition(_distances_to(state, number, sample), 1)[1]) for number in searched.tolist()]
    searches = list(zip(searched.tolist(), nearest, strict=True))
    cost = float("inf")
    while True:
        finer = [[*levels[:column], level - 1, *levels[column + 1 :]] for column, level in enumerate(levels) if level]
        costs = [(_search_cost(state, sample, finer_levels, searches), finer_levels) for finer_levels in finer]
        if not costs or min(costs)[0] >= cost:
            return levels
        cost, levels = min(costs)


def _search_cost(
    state: MergingState, sample: Integers, levels: list[int], searches: Sequence[tuple[int, int]]
) -> float:
    """Return the average cost of some searches for classes at a known distance."""
    members, starts, nodes = _arrange_blocks(state, sample, levels)
    counts = np.diff(np.append(starts, len(sample)))
    smallest = np.minimum.reduceat(state.sizes[members], starts)
    visited = sum(
        int(counts[_distance_bounds(state, number, nodes, smallest) <= distance].sum()) for number, distance in searches
    )
    return visited / len(searches) + _BLOCK_COST * len(starts)


# KACA: while a class fails, it is merged with its nearest class. Source: Li, Wong, Fu, Pei, DaWaK 2006;
# Wiegnand and Schallner, section 4.1.
#
# The source leaves some choices open. Here the next class is the smallest failing one, of equally small ones the one
# with the smallest number. Or it is a random one: every class draws a number when it is made, evenly between that of
# the class chosen last and 1, and the lowest is next, so that each choice is uniform among all failing classes. Classes
# are numbered in the order of their values; a merged class keeps the smaller number of its two. Of equally near classes
# the one with the smallest number is taken. When the generalized class has the values of another class, both are one.
# First come the requirements on sizes, then, in the same way, all requirements.

_CLOCK_MERGES = 64
"""Number of merges between two checks of the time."""
Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Grouping:
    """The groups of classes.

    Args:
        groups: the group of each class, 0, 1, ….
        merges: the number of merges.
        stuck: the number of rows in failing classes that cannot be merged with any other.
    """

    groups: Integers
    merges: int
    stuck: int = 0


def silent(merges: int, left: int) -> None:
    """Ignore progress."""


def merge_classes(
    classes: Classes,
    judges: tuple[GroupJudge, ...],
    order: Order = Order.SMALLEST,
    seed: int = 0,
    stop: Stop = never,
    tell: Tell = silent,
) -> Grouping:
    """Merge classes until none fails.

    Args:
        classes: classes with different nodes.
        judges: used one after the other; the last one has all requirements.
        order, seed: the class that is merged next.
        stop: called now and then; returns True to stop.
        tell: called with the number of merges and of remaining classes.

    Raises:
        BudgetSpent: `stop` returned True.
    """
    run = _Merging(classes, stop, tell)
    stuck = 0
    for judge in judges:
        stuck = run.merge_until_all_pass(judge, order, seed)
    return Grouping(dense(run.roots()), run.merges, stuck)


class _Merging:
    """Classes that are being merged."""

    def __init__(self, classes: Classes, stop: Stop, tell: Tell) -> None:
        self.merges = 0
        self._stop, self._tell = stop, tell
        self._words = classes.words.copy()
        nodes = classes.nodes.copy()
        everybody = np.ones(len(classes), dtype=bool)
        self._state = MergingState(
            classes.trees, nodes, classes.sizes.copy(), everybody, total_heights(classes.trees, nodes)
        )
        self._left = len(classes)
        self._parent = np.arange(len(classes))

    @cached_property
    def _index(self) -> NearestClassIndex:
        return NearestClassIndex(self._state)

    @cached_property
    def _by_nodes(self) -> dict[bytes, int]:
        return {nodes.tobytes(): number for number, nodes in enumerate(self._state.nodes)}

    def roots(self) -> Integers:
        """Return the class that each class has become part of."""
        roots = self._parent
        while (roots[roots] != roots).any():
            roots = roots[roots]
        return roots

    def merge_until_all_pass(self, judge: GroupJudge, order: Order, seed: int) -> int:
        """Merge until all classes satisfy a judge. Return the rows of failing classes that cannot be merged."""
        left = np.flatnonzero(self._state.alive)
        short = judge.short(self._state.sizes[left], self._words[left])
        if not short.any():
            return 0
        queue = _Queue(self._state, order, seed, left, short)
        stuck = 0
        while (
            number := queue.next(lambda classes: judge.short(self._state.sizes[classes], self._words[classes]))
        ) != NONE:
            if self.merges % _CLOCK_MERGES == 0:
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
        """Merge two classes, and any class that already has the merged nodes. Return the number of the merged class."""
        state = self._state
        pairs = zip(state.trees, state.nodes[number].tolist(), state.nodes[other].tolist(), strict=True)
        nodes = np.array([tree.common_ancestor((node, other_node)) for tree, node, other_node in pairs], dtype=np.int64)
        self.merges += 1
        for merged_number in (number, other):
            del self._by_nodes[state.nodes[merged_number].tobytes()]
        survivor = self._join(number, other, nodes)
        twin = self._by_nodes.pop(nodes.tobytes(), NONE)
        if twin != NONE:
            survivor = self._join(survivor, twin, nodes)
        self._by_nodes[nodes.tobytes()] = survivor
        return survivor

    def _join(self, first: int, second: int, nodes: Integers) -> int:
        """Add a class to another, which gets these nodes. Return the smaller number, which the merged class keeps."""
        survivor, removed = min(first, second), max(first, second)
        state = self._state
        state.sizes[survivor] += state.sizes[removed]
        self._words[survivor] += self._words[removed]
        state.alive[removed] = False
        state.nodes[survivor] = nodes
        state.total_height[survivor] = total_heights(state.trees, nodes[None, :])[0]
        self._parent[removed] = survivor
        self._left -= 1
        self._index.moved(survivor)
        return survivor


class _Queue:
    """The classes that may fail, in the order in which they are chosen.

    Merged classes are judged when the first of them is next, all at once.
    """

    def __init__(self, state: MergingState, order: Order, seed: int, left: Integers, short: Flags) -> None:
        self._state, self._order = state, order
        self._random = random.Random(seed)
        self._last_rank = 0.0
        self._version = np.zeros(len(state.sizes), dtype=np.int64)
        self._failing: set[int] = set(left[short].tolist())
        self._unjudged: set[int] = set()
        ranks = {number: self._rank(number) for number in left.tolist()}
        self._heap = [(rank, number, 0) for number, rank in ranks.items() if number in self._failing]
        heapq.heapify(self._heap)

    def put(self, number: int) -> None:
        """Add a merged class."""
        self._version[number] += 1
        self._unjudged.add(number)
        heapq.heappush(self._heap, (self._rank(number), number, int(self._version[number])))

    def next(self, short: Callable[[Integers], Flags]) -> int:
        """Return the next failing class, NONE if none fails."""
        while self._heap:
            rank, number, version = heapq.heappop(self._heap)
            if self._version[number] != version or not self._state.alive[number]:
                continue
            if number in self._unjudged:
                unjudged = np.array(
                    sorted(class_number for class_number in self._unjudged if self._state.alive[class_number]),
                    dtype=np.int64,
                )
                self._failing -= self._unjudged
                self._failing |= set(unjudged[short(unjudged)].tolist())
                self._unjudged.clear()
            if number in self._failing:
                self._last_rank = rank if self._order is Order.RANDOM else 0.0
                return int(number)
        return NONE

    def _rank(self, number: int) -> float:
        """Return the rank of a class: the lowest is next."""
        if self._order is Order.SMALLEST:
            return float(self._state.sizes[number])
        return self._last_rank + (1.0 - self._last_rank) * self._random.random()


# Strict multidimensional Mondrian: the table is split as long as every part satisfies the requirements.
#
# A part is split by the column in which it is widest (by its share of the column's range, or of its values below the
# closest common label), or by the next one if that split fails. An ordered column is cut at its median: rows up to the
# smallest value that half of them reach, and the others; below the largest value if that is the median itself.
# Missing values come last there, and a part with some of them is as wide as the column. A column with a hierarchy of
# categories is split into the children of the common label. Of equally wide columns the first one is taken. Source:
# LeFevre, DeWitt, Ramakrishnan: Mondrian Multidimensional k-Anonymity, ICDE 2006, sections 3 and 4.

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Axis:
    """A column that can be split.

    Args:
        tree: its nodes.
        points: the position of each value of an ordered column, NaN for NULL; None = split along the hierarchy.
    """

    tree: ColumnTree
    points: Floats | None = None

    @property
    def values(self) -> int:
        """Return the number of different values."""
        return int((self.tree.level == 0).sum())

    @property
    def missing(self) -> int:
        """Return the number of NULL in an ordered column, -1 without one."""
        last = self.values - 1
        return last if self.points is not None and last >= 0 and np.isnan(self.points[last]) else -1


def split_classes(
    classes: Classes, axes: Sequence[Axis], judge: GroupJudge, stop: Stop = never, tell: Tell = silent
) -> Grouping:
    """Split the table into groups of classes.

    Args:
        classes: classes with different nodes.
        axes: the columns.
        judge: decides which groups fail.
        stop: called before each round; returns True to stop.
        tell: called with the number of rounds and of groups.

    Raises:
        BudgetSpent: `stop` returned True.
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
    return Grouping(dense(parts.groups), 0, stuck)


class _Parts:
    """Parts of a table that are being split. `open[i]` is True if part i can still be split."""

    def __init__(self, classes: Classes, axes: Sequence[Axis], judge: GroupJudge) -> None:
        self._classes, self._axes, self._judge = classes, axes, judge
        fixed_columns = [column for column, tree in enumerate(classes.trees) if tree.is_fixed]
        self.groups = groups_of(classes.nodes, fixed_columns)
        count = int(self.groups.max()) + 1 if len(classes) else 0
        self.open = np.ones(count, dtype=bool)
        self._order = np.full((count, len(axes)), -1, dtype=np.int64)
        self._tried = np.full(count, -1, dtype=np.int64)

    def begin(self) -> int:
        """Return the rows of parts that fail before anything is split."""
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
        """Order the columns of new parts, the widest first."""
        if not len(inside):
            return
        order, starts = sorted_groups(self.groups[inside])
        members = inside[order]
        parts = self.groups[members[starts]]
        widths = np.column_stack(
            [
                np.zeros(len(parts))
                if tree.is_fixed
                else _part_widths(axis, self._classes.nodes[members, column], starts)
                for column, (axis, tree) in enumerate(zip(self._axes, self._classes.trees, strict=True))
            ]
        )
        ranked = np.argsort(-widths, axis=1, kind="stable")
        self._order[parts] = np.where(np.take_along_axis(widths, ranked, axis=1) > 0, ranked, -1)
        self._tried[parts] = 0

    def _children(self, inside: Integers, column: Integers) -> Integers:
        """Return for each class of the open parts the number of the child that it would go to."""
        chosen = column[self.groups[inside]]
        children = np.zeros(len(inside), dtype=np.int64)
        for number, axis in enumerate(self._axes):
            chosen_classes = np.flatnonzero(chosen == number)
            if not len(chosen_classes):
                continue
            order, starts = sorted_groups(self.groups[inside[chosen_classes]])
            members = inside[chosen_classes[order]]
            nodes, sizes = self._classes.nodes[members, number], self._classes.sizes[members]
            if axis.points is None:  # the children of the closest common label
                common = np.repeat(common_of(axis.tree, nodes, starts), _group_lengths(starts, len(nodes)))
                cut = axis.tree.ancestors[np.maximum(0, axis.tree.level[common] - 1), nodes]
            else:
                cut = _split_at_median(nodes, sizes, starts)
            children[chosen_classes[order]] = cut
        return children

    def _accept(self, inside: Integers, children: Integers) -> None:
        """Make the splits whose parts all satisfy the requirements. The other parts try their next column."""
        pairs = groups_of(np.column_stack([self.groups[inside], children]), (0, 1))
        order, starts = sorted_groups(pairs)
        members = inside[order]
        sizes, words = self._classes.summed(members, starts)
        short = self._judge.short(sizes, words)
        parts = self.groups[members[starts]]
        bad = np.zeros(len(self.open), dtype=bool)
        bad[parts[short]] = True
        split = self.open & ~bad
        self._tried[self.open & bad] += 1
        is_split = split[self.groups[inside]]
        new_parts = dense(pairs[is_split])
        count = int(new_parts.max()) + 1 if len(new_parts) else 0
        first = len(self.open)
        self.open[split] = False
        self.groups[inside[is_split]] = first + new_parts
        self.open = np.append(self.open, np.ones(count, dtype=bool))
        self._tried = np.append(self._tried, np.full(count, -1, dtype=np.int64))
        self._order = np.vstack([self._order, np.full((count, len(self._axes)), -1, dtype=np.int64)])


def _part_widths(axis: Axis, nodes: Integers, starts: Integers) -> Floats:
    """Return the widths of parts, from 0 (cannot be split) to 1."""
    common = common_of(axis.tree, nodes, starts)
    has_labels = np.maximum.reduceat((axis.tree.level[nodes] > 0).astype(np.int64), starts) > 0
    if axis.points is None:
        leaf_counts = np.bincount(axis.tree.ancestors[:, : axis.values].ravel(), minlength=len(axis.tree.level))
        has_common_node = np.maximum.reduceat(
            (nodes == np.repeat(common, _group_lengths(starts, len(nodes)))).astype(np.int64), starts
        )
        width = (leaf_counts[common] - 1) / max(1, axis.values - 1)
        return np.where((axis.tree.level[common] == 0) | (has_common_node > 0), 0.0, width)
    last = axis.values - 1 - (axis.missing >= 0)
    low, high = np.minimum.reduceat(nodes, starts), np.maximum.reduceat(nodes, starts)
    mixed = (high == axis.missing) & (low != axis.missing)
    ends = np.where(high == axis.missing, low, high)
    points = axis.points
    spread = float(points[last] - points[0]) if last > 0 else 0.0
    width = np.zeros(len(starts))
    plain = ~has_labels & ~mixed & (high != axis.missing)
    if spread > 0:
        width[plain] = (points[ends[plain]] - points[low[plain]]) / spread
    width[plain & (ends > low)] = np.maximum(width[plain & (ends > low)], np.finfo(float).tiny)
    width[~has_labels & mixed] = 1.0
    return width


def _group_lengths(starts: Integers, total: int) -> Integers:
    return np.diff(np.append(starts, total))


def _split_at_median(nodes: Integers, sizes: Integers, starts: Integers) -> Integers:
    """Return for each node 1 if it is above the median of its part, else 0. Missing values are the largest.

    Args:
        nodes: the nodes, part after part.
        sizes: how much each node counts.
        starts: where each part begins.

    If the median is the largest node, the part is cut below it, so that neither side is empty.
    """
    lengths = _group_lengths(starts, len(nodes))
    part = np.repeat(np.arange(len(starts)), lengths)
    largest = np.maximum.reduceat(nodes, starts)
    order = np.lexsort([nodes, part])
    reached = np.cumsum(sizes[order])
    before = np.concatenate([[0], reached])[starts]
    total = np.add.reduceat(sizes, starts)
    reaches_half = 2 * (reached - before[part]) >= total[part]
    median_at = np.full(len(starts), len(nodes), dtype=np.int64)
    np.minimum.at(median_at, part[reaches_half], np.flatnonzero(reaches_half))
    median = nodes[order][median_at]
    below_largest = np.where(nodes < largest[part], nodes, -1)
    cut = np.where(median < largest, median, np.maximum.reduceat(below_largest, starts))
    return (nodes > cut[part]).astype(np.int64)
