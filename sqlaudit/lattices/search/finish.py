"""After the inherited requirements are settled: the nodes that still need a verdict, and the best of the safe ones."""

from __future__ import annotations

import numpy as np

from sqlaudit.lattices.search.board import Board
from sqlaudit.lattices.search.loss import Floats, Incumbent, lowered
from sqlaudit.lattices.search.tags import ABOVE, SAFE, UNSAFE, Indexes, strictly_above

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
    bounds = incumbent.loss.lower_all()
    pool, size, at = _in_order(board, incumbent, bounds), _FIRST, 0
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


def _in_order(board: Board, incumbent: Incumbent, bounds: Floats) -> Indexes:
    """The nodes that may be best, the smallest bound first, then the smallest levels."""
    maybe = board.tags.cells & UNSAFE == 0
    if incumbent.loss.never_falls:
        maybe &= ~strictly_above(board.tags.cells & SAFE > 0)
    pool = np.flatnonzero(maybe)
    return pool[np.argsort(bounds[pool], kind="stable")]
