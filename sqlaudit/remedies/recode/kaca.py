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
# every class there. So the nearest block is searched first, then all within the distance of the nearest class found.

_SINGLE_BLOCK = 1500
"""Largest number of classes in a single block."""
_PLANNING_CLASSES, _PLANNING_SEARCHES = 100_000, 24
"""Sample sizes, of classes and of searches among them, to choose the levels of blocks."""
_BLOCK_COST = 1.0
"""Cost of visiting a block, in classes."""
_JOINED_NODES = 4096
"""Largest number of pairs of nodes up to which columns are looked up together."""
_REBUILD_MOVES, _REBUILD_SHARE = 1000, 100
"""Blocks are rebuilt after this number of moves, or this fraction (1/100) of the classes, whichever is larger."""
_UNREACHABLE, _FARTHEST = 1 << 62, 1 << 61
NONE = -1


@dataclass
class MergingState:
    """The remaining classes, by their numbers. A merged class keeps the smaller number of its two.

    Args:
        trees: the trees of the columns.
        nodes: (classes × columns) the nodes of each class.
        paths: (classes × levels of all columns) the nodes above each class, itself included, `NONE` below it.
        sizes: the number of rows of each class.
        alive: which classes remain.
        total_height: the sum of the heights of each class's nodes.
    """

    trees: tuple[ColumnTree, ...]
    nodes: Integers
    paths: Integers
    sizes: Integers
    alive: Flags
    total_height: Integers

    @cached_property
    def starts(self) -> Integers:
        """Return where the levels of each column start in paths."""
        return np.cumsum([0, *(len(tree.heights) for tree in self.trees)])[:-1]

    @cached_property
    def steps(self) -> Integers:
        """Return the height of the step above each level of paths, 0 above the last one of a column."""
        return np.concatenate([np.diff(tree.heights, append=tree.heights[-1]) for tree in self.trees])

    def merge(self, survivor: int, removed: int) -> None:
        """Add a class to another."""
        path = np.where(self.paths[survivor] == self.paths[removed], self.paths[survivor], NONE)
        is_below = path == NONE
        self.paths[survivor] = path
        self.nodes[survivor] = path[self.starts + np.add.reduceat(is_below, self.starts, dtype=np.int64)]
        self.total_height[survivor] = self.steps @ is_below
        self.sizes[survivor] += self.sizes[removed]
        self.alive[removed] = False


def merging_state(classes: Classes) -> MergingState:
    """Return the state before classes are merged."""
    columns = list(zip(classes.trees, classes.nodes.T, strict=True))
    return MergingState(
        classes.trees,
        classes.nodes.copy(),
        np.maximum(np.column_stack([tree.ancestors.T[nodes] for tree, nodes in columns]), NONE).astype(np.int32),
        classes.sizes.copy(),
        np.ones(len(classes), dtype=bool),
        np.sum([tree.heights[tree.level[nodes]] for tree, nodes in columns], axis=0),
    )


class NearestClassIndex:
    """An index that finds nearest classes in a changing state.

    The classes are in the order of their blocks, then come those that have moved since. A class that moves on leaves
    its place empty, until all places are arranged anew. Distances are without what the searching class has risen.

    Args:
        state: the classes. Changes must be announced with `moved`.
    """

    def __init__(self, state: MergingState) -> None:
        self._state = state
        self._groups = _join_columns(state.trees)
        self._strides = np.zeros((len(state.trees), len(self._groups)), dtype=np.int64)
        for number, group in enumerate(self._groups):
            self._strides[group, number] = np.cumprod([1, *(len(state.trees[column].level) for column in group[:-1])])
        self._places = np.zeros(len(state.sizes), dtype=np.int64)
        self._planned = self._end = 0
        self._arrange()

    def nearest(self, number: int) -> int:
        """Return the nearest remaining class, of equally near ones the one with the smallest number, NONE if none
        remains.
        """
        if self._end == len(self._numbers):
            self._arrange()
        place = self._places[number]
        weighted, self._weighted[place] = self._weighted[place], -_UNREACHABLE
        bounds = _distance_bounds(self._state, number, self._blocks, self._smallest, self._column_bounds)
        tables = [self._rises(number, group) for group in self._groups]
        first = int(bounds.argmin())
        places = np.append(
            np.arange(self._starts[first], self._starts[first + 1]), np.arange(self._starts[-1], self._end)
        )
        nearest = self._nearest_at(number, places, tables, _FARTHEST, NONE)
        bounds[first] = _UNREACHABLE
        near = np.flatnonzero(bounds <= nearest[0])
        if len(near):
            starts, ends = self._starts[near], self._starts[near + 1]
            reached = np.cumsum(ends - starts)
            places = np.arange(reached[-1]) + np.repeat(ends - reached, ends - starts)
            nearest = self._nearest_at(number, places, tables, *nearest)
        self._weighted[place] = weighted
        return nearest[1]

    def moved(self, number: int, removed: int) -> None:
        """Note that a class has new nodes, and that another has become part of it."""
        state, place = self._state, self._end
        self._weighted[self._places[[number, removed]]] = -_UNREACHABLE
        if place < len(self._numbers):
            self._numbers[place], self._sizes[place] = number, state.sizes[number]
            self._weighted[place] = state.sizes[number] * state.total_height[number]
            self._nodes[:, place] = state.nodes[number] @ self._strides
            self._places[number] = place
            self._end = place + 1

    def _rises(self, number: int, group: list[int]) -> Integers | None:
        """Return the height at which a class meets each node of joined columns; None if they have no table."""
        rises = None
        for column in group:
            tree, node = self._state.trees[column], self._state.nodes[number, column]
            if tree.is_fixed or tree.meeting is None:
                return None
            rises = tree.meeting[node] if rises is None else np.add.outer(tree.meeting[node], rises).ravel()
        return rises

    def _nearest_at(
        self, number: int, places: Integers, tables: Sequence[Integers | None], distance: int, nearest: int
    ) -> tuple[int, int]:
        """Return distance and number of the nearest class so far and at these places."""
        state, incompatible = self._state, []
        distances = np.zeros(len(places), dtype=np.int64)
        for group, table, nodes in zip(self._groups, tables, self._nodes, strict=True):
            tree, node, others = state.trees[group[0]], state.nodes[number, group[0]], nodes.take(places)
            if table is not None:
                distances += table.take(others)
            elif tree.is_fixed:
                incompatible.append(others != node)
            else:
                distances += tree.rise_to_meet(node, others)
        distances *= self._sizes.take(places) + state.sizes[number]
        distances -= self._weighted.take(places)
        for others_differ in incompatible:
            distances[others_differ] = _UNREACHABLE
        least = int(distances.min(initial=_UNREACHABLE))
        if least > distance:
            return distance, nearest
        best = int(self._numbers[places[distances == least]].min())
        return least, best if least < distance or nearest == NONE else min(best, nearest)

    def _arrange(self) -> None:
        """Arrange the remaining classes in blocks. Choose their levels anew if half of the classes are gone."""
        state = self._state
        left = np.flatnonzero(state.alive)
        if len(left) <= self._planned // 2 or not self._planned:
            self._levels, self._planned = _choose_block_levels(state, left), len(left)
            self._smallest = int(state.sizes[left].min())
            self._column_bounds: dict[tuple[int, int, int], Integers] = {}
        left, starts, self._blocks = _arrange_blocks(state, left, self._levels)
        self._starts = np.append(starts, len(left))
        spare = np.zeros(max(_REBUILD_MOVES, len(left) // _REBUILD_SHARE), dtype=np.int64)
        self._numbers, self._sizes = np.append(left, spare), np.append(state.sizes[left], spare)
        self._weighted = self._sizes * np.append(state.total_height[left], spare)
        self._nodes = np.zeros((len(self._groups), len(self._numbers)), dtype=np.int64)
        self._nodes[:, : len(left)] = (state.nodes[left] @ self._strides).T
        self._places[left] = np.arange(len(left))
        self._end = len(left)


def _join_columns(trees: Sequence[ColumnTree]) -> list[list[int]]:
    """Return groups of columns whose nodes are looked up together, because there are few pairs of them.

    Columns that are published as they are, or have no table, stay alone.
    """
    groups: list[list[int]] = []
    nodes: list[int] = []
    for column in sorted(range(len(trees)), key=lambda column: -len(trees[column].level)):
        count = len(trees[column].level) if not trees[column].is_fixed else _JOINED_NODES + 1
        group = next((number for number, others in enumerate(nodes) if others * count <= _JOINED_NODES), len(groups))
        if group == len(groups):
            groups.append([])
            nodes.append(1)
        groups[group].append(column)
        nodes[group] *= count
    return groups


def _distance_bounds(
    state: MergingState,
    number: int,
    blocks: Sequence[Integers],
    smallest: int,
    by_column: dict[tuple[int, int, int], Integers],
) -> Integers:
    """Return lower bounds of the distances to the classes of each block, far away if none can be merged.

    Args:
        blocks: the nodes of the blocks, column by column.
        smallest: a lower bound of the rows of a class.
        by_column: keeps what a column, a node in it and a number of rows add to the bounds at each node.
    """
    size = int(state.sizes[number])
    bounds = np.zeros(len(blocks[0]), dtype=np.int64)
    for column, (tree, nodes, node) in enumerate(zip(state.trees, blocks, state.nodes[number].tolist(), strict=True)):
        bound = by_column.get((column, node, size))
        if bound is None:
            all_nodes, heights = np.arange(len(tree.level)), tree.heights[tree.level]
            meeting = tree.rise_to_meet(node, all_nodes)
            bound = size * np.where(meeting > heights, meeting, heights[node]) + smallest * (meeting - heights)
            if tree.is_fixed:
                bound = np.where(all_nodes == node, 0, _FARTHEST)
            by_column[column, node, size] = bound
        bounds += bound.take(nodes)
        if tree.is_fixed:
            np.minimum(bounds, _UNREACHABLE, out=bounds)
    return bounds


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
    searched = sample[:: max(1, len(sample) // _PLANNING_SEARCHES)].tolist()
    smallest = int(state.sizes[left].min())
    by_column: dict[tuple[int, int, int], Integers] = {}
    nodes = list(state.nodes[sample].T)
    nearest = [np.partition(_distance_bounds(state, number, nodes, smallest, by_column), 1)[1] for number in searched]
    cost = float("inf")
    while True:
        finer = [[*levels[:column], level - 1, *levels[column + 1 :]] for column, level in enumerate(levels) if level]
        costs = []
        for finer_levels in finer:
            _, starts, blocks = _arrange_blocks(state, sample, finer_levels)
            counts = np.diff(np.append(starts, len(sample)))
            visited = [
                counts[_distance_bounds(state, number, blocks, smallest, by_column) <= distance].sum()
                for number, distance in zip(searched, nearest, strict=True)
            ]
            costs.append((float(np.mean(visited)) + _BLOCK_COST * len(starts), finer_levels))
        if not costs or min(costs)[0] >= cost:
            return levels
        cost, levels = min(costs)


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
_AHEAD = 512
"""Number of classes that are next, some of which are searched for together."""
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
        self._state = merging_state(classes)
        self._left = len(classes)
        self._parent = np.arange(len(classes))

    @cached_property
    def _index(self) -> NearestClassIndex:
        return NearestClassIndex(self._state)

    @cached_property
    def _by_path(self) -> dict[bytes, int]:
        return {path.tobytes(): number for number, path in enumerate(self._state.paths)}

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
        queue = _Queue(self._state, judge, self._words, order, seed, left[short])
        stuck = 0
        while (number := queue.next()) != NONE:
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
        self.merges += 1
        del self._by_path[self._state.paths[number].tobytes()], self._by_path[self._state.paths[other].tobytes()]
        survivor = self._join(number, other)
        twin = self._by_path.pop(self._state.paths[survivor].tobytes(), NONE)
        if twin != NONE:
            survivor = self._join(survivor, twin)
        self._by_path[self._state.paths[survivor].tobytes()] = survivor
        return survivor

    def _join(self, first: int, second: int) -> int:
        """Add a class to another. Return the smaller number, which the merged class keeps."""
        survivor, removed = min(first, second), max(first, second)
        self._state.merge(survivor, removed)
        self._words[survivor] += self._words[removed]
        self._parent[removed] = survivor
        self._left -= 1
        self._index.moved(survivor, removed)
        return survivor


class _Queue:
    """The classes that may fail, in the order in which they are chosen.

    Merged classes are judged when the first of them is next, all at once.
    """

    def __init__(
        self, state: MergingState, judge: GroupJudge, words: Integers, order: Order, seed: int, failing: Integers
    ) -> None:
        self._state, self._judge, self._words, self._order = state, judge, words, order
        self._random = random.Random(seed)
        self._last_rank = 0.0
        self._version = np.zeros(len(state.sizes), dtype=np.int64)
        self._failing: set[int] = set(failing.tolist())
        self._unjudged: set[int] = set()
        ranks = {number: self._rank(number) for number in np.flatnonzero(state.alive).tolist()}
        self._next = [(ranks[number], number, 0) for number in failing.tolist()]
        heapq.heapify(self._next)
        self._soon: list[tuple[float, int, int]] = []

    def put(self, number: int) -> None:
        """Add a merged class."""
        self._version[number] += 1
        self._unjudged.add(number)
        heapq.heappush(self._next, (self._rank(number), number, int(self._version[number])))

    def next(self) -> int:
        """Return the next failing class, NONE if none fails."""
        while self._next or self._soon:
            if not self._soon:
                self._soon = [heapq.heappop(self._next) for _ in range(min(_AHEAD, len(self._next)))][::-1]
            is_soon = not self._next or self._soon[-1] < self._next[0]
            rank, number, version = self._soon.pop() if is_soon else heapq.heappop(self._next)
            if self._version[number] != version or not self._state.alive[number]:
                continue
            if number in self._unjudged:
                self._judge_merged()
            if number in self._failing:
                self._last_rank = rank if self._order is Order.RANDOM else 0.0
                return number
        return NONE

    def ahead(self) -> Integers:
        """Return the classes that are next unless merged ones come before them."""
        return np.array([number for _, number, _ in self._soon if number in self._failing], dtype=np.int64)

    def _judge_merged(self) -> None:
        """Judge the merged classes."""
        unjudged = np.array(sorted(self._unjudged), dtype=np.int64)
        unjudged = unjudged[self._state.alive[unjudged]]
        self._failing -= self._unjudged
        self._failing |= set(unjudged[self._judge.short(self._state.sizes[unjudged], self._words[unjudged])].tolist())
        self._unjudged.clear()

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
