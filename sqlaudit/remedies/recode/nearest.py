"""The nearest class of a class, found without looking at all of them.

The distance of two classes of n1 and n2 rows with the closest common generalization g is n1·WHD(q1→g) + n2·WHD(q2→g),
summed over the columns: (n1 + n2)·G − n1·S1 − n2·S2, where G is how high g lies and S how high a class lies already.
Classes lie in blocks, all under one coarser node. What a class must rise to meet the node of a block bounds its
distance from every class there, so that blocks are looked into nearest first, and no further than the nearest class
found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlaudit.remedies.recode.classes import Flags
from sqlaudit.remedies.recode.trees import ColumnTree, Integers

_SMALL = 1500
"""Up to so many classes are one block."""
_PLANNED, _SEARCHES = 200_000, 24
"""Classes, and searches among them, by which the levels of blocks are chosen."""
_BLOCK = 2.0
"""What a block costs a search, in classes that it looks at."""
_AT_ONCE = 4096
"""Classes that are looked at together, at least, once the own block is done."""
_FEW, _SHARE = 1000, 50
"""After so many movements, or this share of the classes, blocks are made anew."""
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
    """Finds nearest classes in a state that changes; made anew from time to time.

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
        _lifted(tree, level, state.nodes[firsts, place])
        for place, (tree, level) in enumerate(zip(state.trees, levels, strict=True))
    ]
    return members, starts, nodes


def _lifted(tree: ColumnTree, level: int, nodes: Integers) -> Integers:
    """The ancestors of nodes at a level, the nodes themselves where they lie above it."""
    return np.asarray(tree.ancestors[np.maximum(level, tree.level[nodes]), nodes])


def _numbers(state: MergingState, left: Integers, levels: Sequence[int]) -> Integers:
    """One number for the block of each class, 0 or more."""
    found = np.zeros(len(left), dtype=np.int64)
    largest = 1
    for place, (tree, level) in enumerate(zip(state.trees, levels, strict=True)):
        if largest * len(tree.level) >= 1 << 62:
            found = np.unique(found, return_inverse=True)[1].ravel().astype(np.int64)
            largest = len(left)
        found = found * len(tree.level) + _lifted(tree, level, state.nodes[left, place])
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
        tried = [
            (_cost(state, some, finer, searches), finer)
            for finer in (_finer(state, levels, place) for place in range(len(levels)))
            if finer
        ]
        if not tried or min(tried)[0] >= cost:
            return levels
        cost, levels = min(tried)


def _finer(state: MergingState, levels: list[int], place: int) -> list[int]:
    """The levels with one column refined; empty when it cannot be."""
    if not levels[place] or state.trees[place].kept:
        return []
    return [*levels[:place], levels[place] - 1, *levels[place + 1 :]]


def _cost(state: MergingState, some: Integers, levels: list[int], searches: Sequence[tuple[int, int]]) -> float:
    """What some searches for classes in a known distance would look at, on average."""
    members, starts, nodes = _blocks(state, some, levels)
    counts = np.diff(np.append(starts, len(some)))
    smallest = np.minimum.reduceat(state.sizes[members], starts)
    looked = sum(int(counts[_bounds(state, number, nodes, smallest) <= far].sum()) for number, far in searches)
    return looked / len(searches) + _BLOCK * len(starts)
