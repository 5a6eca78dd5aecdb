"""What is known about a lattice whose nodes fit in memory: tags, losses, what was asked, and what is best."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.errors import BudgetSpent, Stop, never
from sqlaudit.lattices.verdicts import Node, Verdict, just_above, just_below

SAFE, UNSAFE, ASKED = 1, 2, 4
# What is known about every node of a lattice, one byte a node, and what a verdict says about its neighbours.
#
# Predictive tagging (El Emam et al.: A Globally Optimal k-Anonymity Method, JAMIA 2009; Barriers, section 4.2): when
# safety is inherited, all nodes coarser than a safe one are safe, and all nodes finer than an unsafe one are unsafe.
# When it is not, only a failure of the requirements that *are* inherited says something about finer nodes.

PASSES = 8
"""The requirements that are inherited hold here (when all are, this is `SAFE`)."""
ABOVE = 16
"""Strictly above a safe node; kept only where safety is not inherited."""

Bytes = NDArray[np.uint8]
Bools = NDArray[np.bool_]
Indexes = NDArray[np.intp]


class Tags:
    """The nodes of a lattice and what is known about them.

    Args:
        heights: the highest level of every column. monotone: whether every node coarser than a safe one is safe.

    Example:
        >>> tags = Tags((2, 1), monotone=True)
        >>> tags.learn([Verdict((1, 0), True, True, 3, 0, 5)])
        >>> tags.known((2, 1)), tags.known((0, 1)), tags.minimal(tags.cells & SAFE > 0)
        (True, None, [(1, 0)])
    """

    def __init__(self, heights: Sequence[int], *, monotone: bool) -> None:
        self.heights = tuple(heights)
        self.monotone = monotone
        self.cells: Bytes = np.zeros([height + 1 for height in heights], dtype=np.uint8)
        self.flat: Bytes = self.cells.reshape(-1)
        self.strides = tuple(math.prod(height + 1 for height in heights[at + 1 :]) for at in range(len(heights)))

    def index(self, node: Node) -> int:
        """The place of a node among all, in the order of the levels."""
        return sum(level * stride for level, stride in zip(node, self.strides, strict=True))

    def nodes(self, indexes: Indexes) -> list[Node]:
        """The nodes at several places."""
        if not self.heights:
            return [() for _ in indexes]
        columns = np.unravel_index(indexes, self.cells.shape)
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def known(self, node: Node) -> bool | None:
        """Whether the node is safe; None when that is not known."""
        cell = int(self.flat[self.index(node)])
        return True if cell & SAFE else False if cell & UNSAFE else None

    def heights_of(self, indexes: Indexes) -> NDArray[np.int64]:
        """The sums of the levels of several nodes."""
        total = np.zeros(len(indexes), dtype=np.int64)
        for stride, height in zip(self.strides, self.heights, strict=True):
            total += indexes // stride % (height + 1)
        return total

    def learn(self, verdicts: Sequence[Verdict]) -> None:
        """Note verdicts, each node's once, and everything that follows from them."""
        holds = {one.node: one.safe if self.monotone else one.prunable_safe for one in verdicts}
        self._spread([node for node, held in holds.items() if not held], UNSAFE, upward=False)
        passing = PASSES | SAFE if self.monotone else PASSES
        self._spread([node for node, held in holds.items() if held], passing, upward=True)
        if not self.monotone:
            self._spread_above([one.node for one in verdicts if one.safe])
        for one in verdicts:
            self.flat[self.index(one.node)] |= ASKED | (SAFE if one.safe else UNSAFE)

    def _spread(self, nodes: Sequence[Node], bits: int, *, upward: bool) -> None:
        """Tag the nodes and all coarser (finer) ones, in slices, or all at once where that is less work."""
        regions = [self._cone(node, upward) for node in nodes]
        volumes = [math.prod(one.stop - one.start for one in region) for region in regions]
        if sum(volumes) > 4 * len(self.heights) * self.flat.size:
            seeds = np.zeros(self.cells.shape, dtype=np.bool_)
            seeds.reshape(-1)[[self.index(node) for node in nodes]] = True
            self.cells[close(seeds, upward=upward)] |= bits
            return
        for at in sorted(range(len(nodes)), key=volumes.__getitem__, reverse=True):
            # a node that was tagged before it was asked lies in a region that is tagged already
            if int(self.cells[nodes[at]]) & bits != bits:
                self.cells[regions[at]] |= bits

    def _spread_above(self, nodes: Sequence[Node]) -> None:
        for node in sorted(nodes, key=sum):
            if not int(self.cells[node]) & ABOVE:
                self.cells[self._cone(node, True)] |= ABOVE
                self.cells[node] &= ~np.uint8(ABOVE)

    def _cone(self, node: Node, upward: bool) -> tuple[slice, ...]:
        if upward:
            return tuple(slice(level, top + 1) for level, top in zip(node, self.heights, strict=True))
        return tuple(slice(0, level + 1) for level in node)

    def minimal(self, among: Bools, other: Bools | None = None) -> list[Node]:
        """The nodes of `among` with no node of `other` strictly below (default: none of `among` itself)."""
        chosen = among & ~strictly_above(among if other is None else other)
        return self.nodes(np.flatnonzero(chosen))


def close(seeds: Bools, *, upward: bool = True) -> Bools:
    """The seeds and all nodes that are coarser (finer) than one of them."""
    closed = seeds.copy()
    for axis in range(seeds.ndim):
        moved = np.moveaxis(closed, axis, 0)[:: 1 if upward else -1]
        for level in range(1, len(moved)):
            moved[level] |= moved[level - 1]
    return closed


def strictly_above(seeds: Bools) -> Bools:
    """All nodes that are coarser than a seed."""
    closed = close(seeds)
    strict = np.zeros_like(seeds)
    for axis in range(seeds.ndim):
        np.moveaxis(strict, axis, 0)[1:] |= np.moveaxis(closed, axis, 0)[:-1]
    return strict


# What a search knows about the loss of a node: a lower bound from its levels, and the loss itself when asked.

Floats = NDArray[np.float64]
Transform = Callable[[Floats], Any]
Exact = Callable[[Sequence[Node]], Sequence[float]]

_DIGITS = 12
_NOISE = 1e-13
"""Relative: sums of the same numbers in another order differ by less."""
_BATCH = 500


def rounded(loss: float) -> float:
    """The loss to 12 significant digits: losses that agree so far count as equal.

    Example:
        >>> rounded(0.1 + 0.2) == rounded(0.3)
        True
    """
    return float(f"{loss:.{_DIGITS}g}")


def lowered(bound: float) -> float:
    """A lower bound that stays one when the losses that it is compared with carry rounding errors."""
    return rounded(bound - _NOISE * abs(bound))


def identity(total: Floats) -> Floats:
    """The transform of a loss that is the sum itself."""
    return total


@dataclass(frozen=True)
class NodeLoss:
    """The loss of nodes: a bound from below by the levels alone, and the exact loss.

    Args:
        terms: for each column one number a level, from level 0 on. No node loses less than `transform` of the sum over
            the columns of the terms of its levels. All zero where levels say nothing.
        transform: takes an array of sums; increasing.
        exact: the losses of safe nodes, in their order, for measures where classes or suppressed rows matter; None when
            the loss of a node is the bound itself.
        monotone: (of `exact`) no safe node loses less than a finer safe one.

    Raises:
        ValueError: a term that is not a finite number.

    Example:
        >>> NodeLoss(((0, 1, 4), (0, 2))).lower((2, 1))
        6.0
    """

    terms: Sequence[Sequence[float]]
    transform: Transform = identity
    exact: Exact | None = None
    monotone: bool = False

    def __post_init__(self) -> None:
        if not all(math.isfinite(term) for column in self.terms for term in column):
            raise ValueError("terms of losses are finite numbers")

    @property
    def never_falls(self) -> bool:
        """Whether coarsening never lowers the loss, so that a best safe node is among the minimal ones."""
        return self.monotone if self.exact is not None else self.rising

    @property
    def rising(self) -> bool:
        """Whether the lower bound never falls from one level to the next."""
        return all(low <= high for column in self.terms for low, high in pairwise(column))

    def lower(self, node: Node) -> float:
        """The lower bound of one node."""
        return self.of_sum(sum((float(column[at]) for column, at in zip(self.terms, node, strict=True)), 0.0))

    def of_sum(self, total: float) -> float:
        """The transform of one sum."""
        return float(self.transform(np.array([total], dtype=np.float64))[0])

    def lower_all(self) -> Floats:
        """The lower bounds of all nodes, in the order of their levels (the last column varies fastest)."""
        total = np.zeros(1, dtype=np.float64)
        for column in self.terms:
            # left to right for every node, so that the sum is the same as that of one node, bit for bit
            total = (total[:, None] + np.asarray(column, dtype=np.float64)[None, :]).reshape(-1)
        bounds: Floats = np.asarray(self.transform(total), dtype=np.float64)
        return bounds


@dataclass(frozen=True)
class BestNode:
    """The best safe node known: its levels, and its loss; None when nobody was asked for it yet."""

    node: Node
    loss: float | None


class Incumbent:
    """The best safe node so far. Of equal losses the lexicographically smallest levels win, so a finer node does.

    Args:
        loss: what is compared. stop: whether the time budget is used up.
    """

    def __init__(self, loss: NodeLoss, stop: Stop = never) -> None:
        self.loss = loss
        self.prices: dict[Node, float] = {}
        self.best: BestNode | None = None
        self.key: tuple[float, Node] = (math.inf, ())
        self._stop = stop

    def offer(self, nodes: Sequence[Node]) -> None:
        """Take safe nodes into account; asks for their losses where the levels do not tell.

        Raises:
            BudgetSpent: the budget ended; the nodes before it count.
        """
        new = [node for node in dict.fromkeys(nodes) if node not in self.prices]
        for start in range(0, len(new), _BATCH):
            if self.loss.exact is not None and self._stop():
                raise BudgetSpent
            self._take(new[start : start + _BATCH])

    def worth(self, nodes: Sequence[Node]) -> list[Node]:
        """Those whose lower bound still leaves room below the best loss."""
        return [node for node in nodes if lowered(self.loss.lower(node)) <= self.key[0]]

    def _take(self, nodes: Sequence[Node]) -> None:
        losses = self.loss.exact(nodes) if self.loss.exact is not None else [self.loss.lower(node) for node in nodes]
        for node, value in zip(nodes, losses, strict=True):
            if (key := (rounded(value), node)) < self.key:
                self.best, self.key = BestNode(node, value), key
            # last, so that whenever the work is interrupted a node that has a price is no better than the best
            self.prices[node] = value


# Asking for verdicts: in batches, within the budget, with a record of what was asked and progress told.

Decide = Callable[[Sequence[Node]], Sequence[Verdict]]


@dataclass(frozen=True)
class Progress:
    """How far a search is.

    Args:
        decided: nodes whose verdict is known, asked or concluded; for lattices too large to tag, those asked.
        total: nodes of the lattice. checked: nodes asked.
        best: the best loss so far, None before there is one. lower_bound: no safe node loses less, None if unknown.
    """

    decided: int
    total: int
    checked: int
    best: float | None = None
    lower_bound: float | None = None


Tell = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Progress that nobody watches."""


class Inquiry:
    """The questions of one search.

    Args:
        decide: answers, in the order of the nodes. stop: whether the budget is used up, asked before every batch.
        tell: told of progress by whoever knows it. batch: nodes a question, at most.
        walk: how many verdicts are kept, the first ones.
    """

    def __init__(
        self, decide: Decide, *, stop: Stop = never, tell: Tell = silent, batch: int = 2000, walk: int = 100_000
    ) -> None:
        self.stop, self.tell, self.batch = stop, tell, batch
        self.checked = 0
        self.walk: list[Verdict] = []
        self.listeners: list[Callable[[Sequence[Verdict]], None]] = []
        """Told of all verdicts, whoever asked."""
        self._decide, self._walk_limit = decide, walk

    def ask(self, nodes: Sequence[Node]) -> Iterator[Sequence[Verdict]]:
        """The verdicts, one batch after the other.

        Raises:
            BudgetSpent: before a batch; those before it were answered.
        """
        for start in range(0, len(nodes), self.batch):
            if self.stop():
                raise BudgetSpent
            verdicts = self._decide(nodes[start : start + self.batch])
            self.checked += len(verdicts)
            self.walk += verdicts[: max(0, self._walk_limit - len(self.walk))]
            for listener in self.listeners:
                listener(verdicts)
            yield verdicts


# The state of one search over a lattice whose nodes fit in memory: what is known, who is asked, what is best.


class Board:
    """One search over tagged nodes.

    Args:
        tags: what is known. inquiry: who is asked. incumbent: the best safe node so far; None without a loss.
        eager: whether the loss of every node that is asked and safe is looked at on the way, when it may be the best.
    """

    def __init__(
        self, tags: Tags, inquiry: Inquiry, incumbent: Incumbent | None = None, *, eager: bool = False
    ) -> None:
        self.tags, self.inquiry, self.incumbent = tags, inquiry, incumbent
        self._eager = eager
        inquiry.listeners.append(self._learn)

    def _learn(self, verdicts: Sequence[Verdict]) -> None:
        self.tags.learn(verdicts)  # not bound once: the tags are exchanged on the way

    def ask(self, nodes: Sequence[Node]) -> None:
        """Ask about nodes that were never asked, and note what follows.

        Raises:
            BudgetSpent: before a batch.
        """
        for verdicts in self.inquiry.ask(nodes):
            if self._eager and self.incumbent is not None:
                self.incumbent.offer(self.incumbent.worth([one.node for one in verdicts if one.safe]))
            self.tell()

    def ask_about(self, indexes: Indexes) -> None:
        """The same for the nodes at these places, batch by batch.

        Raises:
            BudgetSpent: before a batch.
        """
        for start in range(0, len(indexes), self.inquiry.batch):
            self.ask(self.tags.nodes(indexes[start : start + self.inquiry.batch]))

    def tell(self) -> None:
        """Tell of progress."""
        known = int(np.count_nonzero(self.tags.flat & (SAFE | UNSAFE)))
        best = self.incumbent.best.loss if self.incumbent is not None and self.incumbent.best else None
        self.inquiry.tell(Progress(known, self.tags.flat.size, self.inquiry.checked, best))

    def unsettled(self, indexes: Indexes | None = None) -> Indexes:
        """Those nodes (of all, or of these) of which it is not known whether the inherited requirements hold."""
        return self._without(PASSES | UNSAFE, indexes)

    def undecided(self, indexes: Indexes | None = None, *, minimal: bool = False) -> Indexes:
        """Those nodes whose verdict is not known; `minimal`: without those strictly above a safe node."""
        return self._without(SAFE | UNSAFE | (ABOVE if minimal else 0), indexes)

    def _without(self, bits: int, indexes: Indexes | None) -> Indexes:
        if indexes is None:
            return np.flatnonzero(self.tags.flat & bits == 0)
        found: Indexes = indexes[self.tags.flat[indexes] & bits == 0]
        return found


# The local optimum of every strategy of generalization, many strategies at once.
#
# A strategy goes from the finest node to the coarsest, one level of one column at every step; its local optimum is the
# safe node on it that loses least, the finest of equal ones. There are far more strategies than nodes, so they are
# counted by their local optimum. (El Emam et al.: A Globally Optimal k-Anonymity Method, JAMIA 2009; Barriers, section
# 4.2.)

MOST_STEPS = 300_000
"""Nodes that are looked at, each time that one is, where neither safety nor losses are inherited."""


@dataclass(frozen=True)
class LocalOptima:
    """The strategies by their local optimum.

    Args:
        strategies: how many there are. without: how many of them have no safe node.
        falls: steps from a safe node to a next coarser safe one that loses less.
        optima: of how many strategies each local optimum is one, those of the smallest loss first; None where counting
            them takes too long.
    """

    strategies: int
    without: int
    falls: int
    optima: tuple[tuple[Node, int], ...] | None


def local_optima(heights: Sequence[int], losses: Mapping[Node, float]) -> LocalOptima:
    """The local optima of all strategies.

    Args:
        heights: of the columns. losses: of all safe nodes.

    Example:
        >>> found = local_optima((1, 2), {(0, 2): 2.0, (1, 1): 1.5, (1, 2): 3.0})
        >>> found.strategies, found.optima
        (3, (((1, 1), 2), ((0, 2), 1)))
    """
    top = tuple(heights)
    keys = {node: (rounded(loss), node) for node, loss in losses.items()}
    steps = [(node, coarser) for node in keys for coarser in just_above(node, top)]
    falls = sum(coarser in keys and keys[coarser][0] < keys[node][0] for node, coarser in steps)
    strategies = _paths(top)
    counted: dict[Node, int] = {}
    if not falls and all(coarser in keys for _, coarser in steps):
        for node in keys:  # everything coarser than a safe node is safe, so that ways to it lead past unsafe ones
            entering = sum(_paths(finer) for finer in just_below(node) if finer not in keys) if any(node) else 1
            counted[node] = entering * _paths(_less(top, node))
    elif sum(_volume(node) + _volume(_less(top, node)) for node in keys) > MOST_STEPS:
        return LocalOptima(strategies, 0, falls, None)
    else:
        bottom = (0,) * len(top)
        for node, own in keys.items():
            better = {other for other, key in keys.items() if key < own}
            counted[node] = _avoiding(bottom, node, better) * _avoiding(node, top, better)
    found = tuple((node, counted[node]) for node in sorted(keys, key=keys.__getitem__) if counted[node])
    return LocalOptima(strategies, strategies - sum(counted.values()), falls, found)


def _less(node: Node, other: Node) -> Node:
    return tuple(a - b for a, b in zip(node, other, strict=True))


def _volume(node: Node) -> int:
    return math.prod(level + 1 for level in node)


def _paths(steps: Node) -> int:
    """In how many orders so many steps of each column can be made."""
    found, total = 1, 0
    for step in steps:
        total += step
        found *= math.comb(total, step)
    return found


def _avoiding(low: Node, high: Node, avoided: Collection[Node]) -> int:
    """The ways from one node to a coarser one past all of these."""
    ways: dict[Node, int] = {}
    for node in product(*(range(a, b + 1) for a, b in zip(low, high, strict=True))):
        entering = sum(ways.get(finer, 0) for finer in just_below(node)) if node != low else 1
        ways[node] = 0 if node in avoided else entering
    return ways[high]
