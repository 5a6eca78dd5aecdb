"""Searches that tag every node: binary search along chains, and the nodes that are left after that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np

from sqlaudit.base.errors import UsageError
from sqlaudit.lattices.search.tags import (
    ABOVE,
    PASSES,
    SAFE,
    UNSAFE,
    Board,
    Bytes,
    Floats,
    Incumbent,
    Indexes,
    Inquiry,
    Progress,
    lowered,
    strictly_above,
)
from sqlaudit.lattices.verdicts import Node, Verdict, at_level, is_finer, node_text

# Where the inherited requirements begin to hold: level by level over growing subsets of the columns (Incognito).
#
# LeFevre, DeWitt, Ramakrishnan: Incognito, SIGMOD 2005; with any inherited requirement, as Worst case (section 3.4)
# says. A subset of the columns at some levels is the node that has the other columns at their top, where every row has
# the same value. So the lattices of all subsets lie in the one lattice: subset S is the nodes with exactly the columns
# of S below their top. Incognito's a-priori pruning (a node can only be safe when its projections on every smaller
# subset are) is then the tagging of everything finer than an unsafe node, and its roll-up the tagging of everything
# coarser than a safe one.
#
# A column that is kept as it is has no top. By default it belongs to every subset: the verdict on a node without it
# says less than that with it. With `leave_out_kept` it is left out of subsets, too, at one level above its height, as
# the original does; these extra nodes are cheap, being coarser than any node of the lattice.


def with_kept_left_out(heights: Sequence[int]) -> tuple[int, ...]:
    """The heights of the lattice in which columns that are kept can be left out.

    Example:
        >>> with_kept_left_out((0, 3))
        (1, 3)
    """
    return tuple(max(height, 1) for height in heights)


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


class Region(Protocol):
    """The nodes that still matter. With two nodes it holds everything between them, and it never grows."""

    def holds(self, index: int) -> bool:
        """Whether the node at this place matters."""

    def keep(self, indexes: Indexes) -> Indexes:
        """Those of several nodes that matter."""


def ask_top(board: Board) -> bool:
    """Ask about the coarsest node, which decides whether anything can be safe at all.

    Raises:
        BudgetSpent: the budget ended before.
    """
    if board.tags.flat[-1] & (PASSES | UNSAFE) == 0:
        board.ask([board.tags.heights])
    return bool(board.tags.flat[-1] & PASSES)


class FewColumns:
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
    settle(board, None, width)


def settle(board: Board, region: Region | None = None, width: int = WIDTH) -> None:
    """Find out for every node of a region whether the inherited requirements hold.

    Args:
        board: the search. region: the nodes that matter, asked again after every question; None = all.
        width: chains side by side.

    Raises:
        BudgetSpent: the budget ended before.
    """
    if not ask_top(board):
        return
    pool, chains, turn = board.unsettled(), list[list[Node]](), 0
    while True:
        pool = board.unsettled(pool)
        pool = region.keep(pool) if region is not None else pool
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


def _open(board: Board, region: Region | None, node: Node) -> bool:
    if int(board.tags.cells[node]) & (PASSES | UNSAFE):
        return False
    return region is None or region.holds(board.tags.index(node))


def _walk(board: Board, region: Region | None, node: Node, step: int, turn: int) -> Iterable[Node]:
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


class Cheap:
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
