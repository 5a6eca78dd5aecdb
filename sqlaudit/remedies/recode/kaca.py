"""KACA: while a class falls short, it is merged with its nearest class. Source: Li, Wong, Fu, Pei, DaWaK 2006;
Wiegnand and Schallner, section 4.1.

What the source leaves open is settled here. The class that is chosen is the smallest one that falls short, of equally
small ones the one with the smallest number; or a random one: every class draws a number when it comes into being,
evenly between that of the class chosen last and 1, and the lowest is next, so that each choice is even among all that
fall short. Classes are numbered in the order of their values; a merged class keeps the smaller number of its two. Of
equally near classes the one with the smallest number is taken. When the generalized class has the values of another
class, both are one. First come the requirements on sizes, then, in the same way, all requirements.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sqlaudit.column_sets.budget import BudgetSpent, Stop, never
from sqlaudit.remedies.recode.classes import Classes, Flags, SaysWhatIsShort, dense
from sqlaudit.remedies.recode.nearest import NONE, Index, MergingState, risen
from sqlaudit.remedies.recode.request import Order
from sqlaudit.remedies.recode.trees import Integers

_UNKNOWN, _SHORT, _FINE = 0, 1, 2
_LOOK = 64
"""Merges between two looks at the clock."""
Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Merged:
    """What the merging came to.

    Args:
        groups: of each class, 0, 1, …. merges: how many. stuck: rows in classes that fall short and have no partner
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
    """Merge classes until none falls short.

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
        self._index: Index | None = None
        self._by_nodes: dict[bytes, int] = {}

    def roots(self) -> Integers:
        """The class that each class has become part of."""
        found = self._parent
        while (found[found] != found).any():
            found = found[found]
        return found

    def until_none_falls_short(self, judge: SaysWhatIsShort, order: Order, seed: int) -> int:
        """Merge until all satisfy a judge; returns the rows of classes that fall short and have no partner."""
        left = np.flatnonzero(self._state.alive)
        short = judge.short(self._state.sizes[left], self._words[left])
        if not short.any():
            return 0
        self._prepare()
        queue = _Queue(self._state, order, seed, left, short)
        stuck = 0
        while (number := queue.next(lambda some: judge.short(self._state.sizes[some], self._words[some]))) != NONE:
            other = self._nearest(number)
            if other == NONE:
                stuck += int(self._state.sizes[number])
                continue
            queue.put(self._merge(number, other))
        return stuck

    def _prepare(self) -> None:
        if self._index is None:
            self._index = Index(self._state)
            nodes = self._state.nodes
            self._by_nodes = {nodes[number].tobytes(): number for number in range(len(nodes))}

    def _nearest(self, number: int) -> int:
        if self.merges % _LOOK == 0:
            if self._stop():
                raise BudgetSpent
            self._tell(self.merges, self._left)
        return NONE if self._index is None else self._index.nearest(number)

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
        if self._index is not None:
            self._index.moved(kept)
        return kept


class _Queue:
    """The classes that may fall short, in the order in which they are chosen. What a merged class is worth is asked
    when it is its turn, for all such classes at once."""

    def __init__(self, state: MergingState, order: Order, seed: int, left: Integers, short: Flags) -> None:
        self._state, self._order = state, order
        self._drawn = random.Random(seed)
        self._last = 0.0
        self._version = np.zeros(len(state.sizes), dtype=np.int64)
        self._status = np.full(len(state.sizes), _FINE, dtype=np.int8)
        self._status[left[short]] = _SHORT
        self._unknown: set[int] = set()
        ranks = [self._rank(number) for number in left.tolist()]
        self._heap = [
            (rank, number, 0) for rank, number, falls in zip(ranks, left.tolist(), short.tolist(), strict=True) if falls
        ]
        heapq.heapify(self._heap)

    def put(self, number: int) -> None:
        """A class that was merged."""
        self._version[number] += 1
        self._status[number] = _UNKNOWN
        self._unknown.add(number)
        heapq.heappush(self._heap, (self._rank(number), number, int(self._version[number])))

    def next(self, short: Callable[[Integers], Flags]) -> int:
        """The class that is next, NONE when none falls short."""
        while self._heap:
            rank, number, version = self._heap[0]
            if self._version[number] == version and self._state.alive[number]:
                if self._status[number] == _UNKNOWN:
                    self._learn(short)
                if self._status[number] == _SHORT:
                    heapq.heappop(self._heap)
                    self._last = rank if self._order is Order.RANDOM else 0.0
                    return int(number)
            heapq.heappop(self._heap)
        return NONE

    def _rank(self, number: int) -> float:
        if self._order is Order.SMALLEST:
            return float(self._state.sizes[number])
        return self._last + (1.0 - self._last) * self._drawn.random()

    def _learn(self, short: Callable[[Integers], Flags]) -> None:
        asked = np.array(sorted(one for one in self._unknown if self._state.alive[one]), dtype=np.int64)
        self._unknown.clear()
        self._status[asked] = np.where(short(asked), _SHORT, _FINE)
