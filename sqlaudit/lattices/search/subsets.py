"""Where the inherited requirements begin to hold: level by level over growing subsets of the columns (Incognito).

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

from collections.abc import Sequence

import numpy as np

from sqlaudit.lattices.search.board import Board
from sqlaudit.lattices.search.tags import Bytes


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
