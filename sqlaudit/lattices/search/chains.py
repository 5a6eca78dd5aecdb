"""Where the inherited requirements begin to hold: binary search along chains, with predictive tagging both ways.

This is the first step of OLA (El Emam et al.: A Globally Optimal k-Anonymity Method, JAMIA 2009; Barriers, section
4.2). A chain is a strategy of generalization: one level more at every step. Several chains are searched side by side,
so that one question carries their middles; nodes that lie on one path with another one of the same question wait,
because its answer may tag them.

Where the inherited requirements begin to hold: level by level over growing subsets of the columns (Incognito).

LeFevre, DeWitt, Ramakrishnan: Incognito, SIGMOD 2005; with any inherited requirement, as Worst case (section 3.4) says.
A subset of the columns at some levels is the node that has the other columns at their top, where every row has the
same value. So the lattices of all subsets lie in the one lattice: subset S is the nodes with exactly the columns of S
below their top. Incognito's a-priori pruning (a node can only be safe when its projections on every smaller subset are)
is then the tagging of everything finer than an unsafe node, and its roll-up the tagging of everything coarser than a
safe one.

A column that is kept as it is has no top. By default it belongs to every subset: the verdict on a node without it says
less than that with it. With `leave_out_kept` it is left out of subsets, too, at one level above its height, as the
original does; these extra nodes are cheap, being coarser than any node of the lattice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from sqlaudit.lattices.search.board import Board
from sqlaudit.lattices.search.tags import PASSES, UNSAFE, Bytes, Indexes
from sqlaudit.lattices.verdicts import Node


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
        board.ask([board.top])
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
            start = board.tags.node(int(pool[(2 * at + 1) * len(pool) // (2 * wanted)]))
            chains.append(_chain(board, region, start, turn))
            turn += 1
        board.ask(_incomparable(chain[len(chain) // 2] for chain in chains))


def _open(board: Board, region: Region | None, node: Node) -> bool:
    if int(board.tags.cells[node]) & (PASSES | UNSAFE):
        return False
    return region is None or region.holds(board.tags.index(node))


def _chain(board: Board, region: Region | None, start: Node, turn: int) -> list[Node]:
    """A path through unsettled nodes, from one that has none below it to one that has none above it."""
    down = list(_walk(board, region, start, -1, turn))
    return [*reversed(down), start, *_walk(board, region, start, 1, turn)]


def _walk(board: Board, region: Region | None, node: Node, step: int, turn: int) -> Iterable[Node]:
    """One level of one column at a time, the columns in turn."""
    width = len(node)
    stuck = 0
    while stuck < width:
        column = turn % width
        turn += 1
        level = node[column] + step
        moved = (*node[:column], level, *node[column + 1 :])
        if 0 <= level <= board.top[column] and _open(board, region, moved):
            node, stuck = moved, 0
            yield node
        else:
            stuck += 1


def _incomparable(nodes: Iterable[Node]) -> list[Node]:
    chosen: list[Node] = []
    for node in nodes:
        if not any(_ordered(node, other) for other in chosen):
            chosen.append(node)
    return chosen


def _ordered(one: Node, other: Node) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True)) or all(a >= b for a, b in zip(one, other, strict=True))
