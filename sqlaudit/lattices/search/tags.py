"""Searches that tag every node, for lattices that fit in memory: tags, losses, what was asked, and what is best."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.errors import BudgetSpent, Stop, UsageError, never
from sqlaudit.lattices.verdicts import Node, Verdict, at_level, is_finer, just_above, just_below, node_text

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
    """The best safe node so far. For the same loss the lexicographically smallest levels win, so a finer node does.

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
        tell: receives progress. batch: nodes a question, at most.
        walk: how many verdicts are kept, the first ones.
    """

    def __init__(
        self, decide: Decide, *, stop: Stop = never, tell: Tell = silent, batch: int = 2000, walk: int = 100_000
    ) -> None:
        self.stop, self.tell, self.batch = stop, tell, batch
        self.checked = 0
        self.walk: list[Verdict] = []
        self.listeners: list[Callable[[Sequence[Verdict]], None]] = []
        """Receives all verdicts."""
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


# Where the inherited requirements begin to hold: level by level over growing subsets of the columns (Incognito).
#
# LeFevre, DeWitt, Ramakrishnan: Incognito, SIGMOD 2005; with any inherited requirement, as Worst case (section 3.4)
# says. A subset of the columns at some levels is the node that has the other columns at their top, where every row has
# the same value. So the lattices of all subsets lie in the one lattice: subset S is the nodes with exactly the columns
# of S below their top. Incognito's a-priori pruning (a node can only be safe when its projections on every smaller
# subset are) is then the tagging of everything finer than an unsafe node, and its roll-up the tagging of everything
# coarser than a safe one.
#
# A column that is kept as it is has no top and belongs to every subset: the verdict on a node without it says less than
# that with it. (The original leaves it out of subsets, too.)


def settle_by_subsets(board: Board) -> None:
    """Find out for every node whether the inherited requirements hold.

    The nodes of all subsets of one size and one sum of levels are one question.

    Raises:
        BudgetSpent: the budget ended before.
    """
    sizes = sizes_of(board.tags.heights)
    for size in range(len(board.tags.heights) + 1):
        pool = board.unsettled(np.flatnonzero(sizes == size))
        heights = board.tags.heights_of(pool)
        order = np.argsort(heights, kind="stable")
        pool, heights = pool[order], heights[order]
        for level in np.unique(heights):
            row = pool[np.searchsorted(heights, level) : np.searchsorted(heights, level, side="right")]
            board.ask_about(board.unsettled(row))


def sizes_of(heights: Sequence[int]) -> Bytes:
    """For every node how many columns are below their top."""
    total: Bytes = np.zeros(1, dtype=np.uint8)
    for height in heights:
        column = (np.arange(height + 1) < height).astype(np.uint8)
        total = (total[:, None] + column[None, :]).reshape(-1)
    return total


# Where the inherited requirements begin to hold: binary search along chains, with predictive tagging both ways.
#
# This is the first step of OLA (El Emam et al.: A Globally Optimal k-Anonymity Method, JAMIA 2009; Barriers, section
# 4.2). A chain is a strategy of generalization: one level more at every step. Several chains are searched side by side,
# so that one question carries their middles; nodes that lie on one path with another one of the same question wait,
# because its answer may tag them.

WIDTH = 32
"""Chains that are searched side by side, at most."""
_LEAST, _SHARE = 8, 64
"""There are at least 8, and one for every 64 unsettled nodes: late in the search more would ask in vain."""
_FEW = 2


class Region:
    """The nodes that still matter: all. With two nodes a region holds everything between them, and it never grows."""

    def holds(self, index: int) -> bool:
        """Whether the node at this place matters."""
        return True

    def keep(self, indexes: Indexes) -> Indexes:
        """Those of several nodes that matter."""
        return indexes


def ask_top(board: Board) -> bool:
    """Ask about the coarsest node, which decides whether anything can be safe at all.

    Raises:
        BudgetSpent: the budget ended before.
    """
    if board.tags.flat[-1] & (PASSES | UNSAFE) == 0:
        board.ask([board.tags.heights])
    return bool(board.tags.flat[-1] & PASSES)


class FewColumns(Region):
    """The region of the nodes with so many columns below their top."""

    def __init__(self, sizes: Bytes, size: int) -> None:
        self._sizes, self._size = sizes, size

    def holds(self, index: int) -> bool:
        """Whether the node at this place is one."""
        return int(self._sizes[index]) == self._size

    def keep(self, indexes: Indexes) -> Indexes:
        """Those of several nodes that are."""
        kept: Indexes = indexes[self._sizes[indexes] == self._size]
        return kept


def settle_all(board: Board, width: int = WIDTH) -> None:
    """Find out for every node whether the inherited requirements hold.

    Single columns and pairs come first: they take few questions, cheap ones, and a pair that fails settles much.

    Raises:
        BudgetSpent: the budget ended before.
    """
    if not ask_top(board):
        return
    sizes = sizes_of(board.tags.heights)
    for size in range(1, _FEW + 1):
        settle(board, FewColumns(sizes, size), width)
    settle(board, Region(), width)


def settle(board: Board, region: Region, width: int = WIDTH) -> None:
    """Find out for every node of a region whether the inherited requirements hold.

    Args:
        board: the search. region: the nodes that matter, asked again after every question.
        width: chains side by side.

    Raises:
        BudgetSpent: the budget ended before.
    """
    if not ask_top(board):
        return
    pool, chains, turn = board.unsettled(), list[list[Node]](), 0
    while True:
        pool = region.keep(board.unsettled(pool))
        if not len(pool):
            return
        chains = [rest for rest in ([node for node in chain if _open(board, region, node)] for chain in chains) if rest]
        wanted = min(width, len(pool), max(_LEAST, len(pool) // _SHARE))
        for at in range(len(chains), wanted):
            (start,) = board.tags.nodes(pool[[(2 * at + 1) * len(pool) // (2 * wanted)]])
            # from a node that has no unsettled one below it to one that has none above it
            down, up = (list(_walk(board, region, start, step, turn)) for step in (-1, 1))
            chains.append([*reversed(down), start, *up])
            turn += 1
        board.ask(_incomparable(chain[len(chain) // 2] for chain in chains))


def _open(board: Board, region: Region, node: Node) -> bool:
    return not int(board.tags.cells[node]) & (PASSES | UNSAFE) and region.holds(board.tags.index(node))


def _walk(board: Board, region: Region, node: Node, step: int, turn: int) -> Iterable[Node]:
    """One level of one column at a time, the columns in turn."""
    width = len(node)
    stuck = 0
    while stuck < width:
        column = turn % width
        turn += 1
        level = node[column] + step
        moved = at_level(node, column, level)
        if 0 <= level <= board.tags.heights[column] and _open(board, region, moved):
            node, stuck = moved, 0
            yield node
        else:
            stuck += 1


def _incomparable(nodes: Iterable[Node]) -> list[Node]:
    chosen: list[Node] = []
    for node in nodes:
        if not any(is_finer(node, other) or is_finer(other, node) for other in chosen):
            chosen.append(node)
    return chosen


# Binary search along one chain of nodes (Martin et al., Worst-Case Background Knowledge, Theorem 14).
#
# Where safety is not inherited, the binary search is only for the first node at which the inherited requirements hold;
# from there on every node is asked, finest first.


def climb(heights: Sequence[int], terms: Sequence[Sequence[float]] = ()) -> tuple[Node, ...]:
    """A chain from the bottom to the top, one level a step: the step that costs least first, then the leftmost column.

    Args:
        heights: of the columns. terms: for each column the cost of every level; empty = the lowest column first.

    Example:
        >>> climb((1, 2), [[0, 5], [0, 1, 9]])
        ((0, 0), (0, 1), (1, 1), (1, 2))
    """
    node = [0] * len(heights)
    chain = [tuple(node)]
    while open_columns := [at for at, height in enumerate(heights) if node[at] < height]:

        def cost(at: int) -> tuple[float, int, int]:
            step = terms[at][node[at] + 1] - terms[at][node[at]] if terms else 0.0
            return (step, node[at], at)

        node[min(open_columns, key=cost)] += 1
        chain.append(tuple(node))
    return tuple(chain)


def checked_chain(chain: Sequence[Node], heights: Sequence[int]) -> tuple[Node, ...]:
    """The chain, when every node is in the lattice and coarser than the one before.

    Raises:
        UsageError: when it is not one.
    """
    for node in chain:
        if len(node) != len(heights) or not all(0 <= level <= top for level, top in zip(node, heights, strict=True)):
            raise UsageError(f"The chain leaves the lattice at {node_text(node)}; its top is {node_text(heights)}.")
    for finer, coarser in pairwise(chain):
        if finer == coarser or not is_finer(finer, coarser):
            raise UsageError(f"The chain goes from {node_text(finer)} to {node_text(coarser)}, which is not coarser.")
    return tuple(map(tuple, chain))


class ChainSearch:
    """The search for the finest safe node of a chain.

    Args:
        chain: from fine to coarse. inquiry: who is asked. monotone: whether safety is inherited.
    """

    def __init__(self, chain: Sequence[Node], inquiry: Inquiry, *, monotone: bool) -> None:
        self.chain, self.monotone = chain, monotone
        self.verdicts: dict[int, Verdict] = {}
        self._inquiry = inquiry

    def run(self) -> None:
        """Search; `finest` then says what was found.

        Raises:
            BudgetSpent: the budget ended before.
        """
        low, high = 0, len(self.chain)
        while low < high:
            middle = (low + high) // 2
            verdict = self._ask(middle)
            if verdict.safe if self.monotone else verdict.prunable_safe:
                high = middle
            else:
                low = middle + 1
        for at in range(low, len(self.chain)) if not self.monotone else ():
            if (self.verdicts[at] if at in self.verdicts else self._ask(at)).safe:
                return

    def finest(self) -> Node | None:
        """The finest node of the chain that is known to be safe."""
        safe = [at for at, verdict in self.verdicts.items() if verdict.safe]
        return self.chain[min(safe)] if safe else None

    def known(self, node: Node) -> bool | None:
        """Whether a node is safe, as far as the verdicts on the chain tell."""
        for verdict in self.verdicts.values():
            if verdict.node == node:
                return verdict.safe
            if self.monotone and verdict.safe and is_finer(verdict.node, node):
                return True
            if not (verdict.safe if self.monotone else verdict.prunable_safe) and is_finer(node, verdict.node):
                return False
        return None

    def _ask(self, at: int) -> Verdict:
        for verdicts in self._inquiry.ask([self.chain[at]]):
            self.verdicts[at] = verdicts[0]
        self._inquiry.tell(Progress(len(self.verdicts), len(self.chain), self._inquiry.checked))
        return self.verdicts[at]


# After the inherited requirements are settled: the nodes that still need a verdict, and the best of the safe ones.

_FIRST = 16


class Cheap(Region):
    """The region of the nodes whose lower bound leaves room below the best loss known; it shrinks as that falls.

    Only bounds that never fall from one level to the next make it a region; with others it is everything.
    """

    def __init__(self, incumbent: Incumbent) -> None:
        self._incumbent = incumbent
        self._bounds: Floats | None = incumbent.loss.lower_all() if incumbent.loss.rising else None

    def holds(self, index: int) -> bool:
        """Whether the node at this place may still be best."""
        return self._bounds is None or lowered(float(self._bounds[index])) <= self._incumbent.key[0]

    def keep(self, indexes: Indexes) -> Indexes:
        """Those of several nodes that may still be best."""
        if self._bounds is None:
            return indexes
        limit = self._incumbent.key[0]
        return indexes[self._bounds[indexes] <= limit + 1e-11 * abs(limit)] if np.isfinite(limit) else indexes


def decide_rest(board: Board, *, minimal: bool) -> None:
    """Ask for every verdict that is not known; `minimal`: only as far as minimal safe nodes depend on them.

    Where safety is not inherited, nodes are asked row by row from the finest. A node above a safe one is not minimal
    whatever it is, so it is left out.

    Raises:
        BudgetSpent: the budget ended before.
    """
    pool = board.undecided(minimal=minimal)
    heights = board.tags.heights_of(pool)
    for level in np.unique(heights) if minimal else [None]:
        row = pool if level is None else pool[heights == level]
        board.ask_about(board.undecided(row, minimal=minimal))


def price_safe_nodes(board: Board, incumbent: Incumbent) -> None:
    """Find the best of all safe nodes, in the order of the lower bounds; verdicts are asked for where they are unknown.

    Nodes whose bound is above the best loss are neither asked nor priced, and, when coarsening never lowers the loss,
    nodes above a safe one are not either. Batches grow, so that a good node found early saves most of the work.

    Raises:
        BudgetSpent: the budget ended before.
    """
    bounds, maybe = incumbent.loss.lower_all(), board.tags.cells & UNSAFE == 0
    if incumbent.loss.never_falls:
        maybe &= ~strictly_above(board.tags.cells & SAFE > 0)
    pool = np.flatnonzero(maybe)
    pool, size, at = pool[np.argsort(bounds[pool], kind="stable")], _FIRST, 0
    while at < len(pool):
        batch = pool[at : at + size]
        batch = batch[[lowered(float(bound)) <= incumbent.key[0] for bound in bounds[batch]]]
        if not len(batch):
            return
        _price(board, incumbent, batch)
        at, size = at + size, min(2 * size, 4096)


def _price(board: Board, incumbent: Incumbent, batch: Indexes) -> None:
    """Decide and price some nodes, finer ones first where a safe one makes those above it needless."""
    board.ask_about(board.undecided(batch, minimal=incumbent.loss.never_falls))
    cells = board.tags.flat[batch]
    wanted = cells & SAFE > 0
    if incumbent.loss.never_falls:
        wanted &= cells & ABOVE == 0
    incumbent.offer(board.tags.nodes(batch[wanted]))


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
