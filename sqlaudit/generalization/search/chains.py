"""Where the inherited requirements begin to hold: binary search along chains, with predictive tagging both ways.

This is the first step of OLA (El Emam et al.: A Globally Optimal k-Anonymity Method, JAMIA 2009; Barriers, section
4.2). A chain is a strategy of generalization: one level more at every step. Several chains are searched side by side,
so that one question carries their middles; nodes that lie on one path with another one of the same question wait,
because its answer may tag them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from sqlaudit.generalization.search.board import Board
from sqlaudit.generalization.search.tags import PASSES, UNSAFE, Indexes
from sqlaudit.generalization.verdicts import Node

WIDTH = 8
"""Chains that are searched side by side."""


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


def settle(board: Board, region: Region | None = None, width: int = WIDTH) -> None:
    """Find out for every node (of the region) whether the inherited requirements hold.

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
        for at in range(max(0, min(width, len(pool)) - len(chains))):
            start = board.tags.node(int(pool[(2 * at + 1) * len(pool) // (2 * width)]))
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
