"""Steps of the searches that tag every node, in three parts: settle, decide the rest, compare losses.

The first part finds for every node whether the inherited requirements hold there. The algorithms differ in this part
alone, by the order in which they ask (see `SETTLE`):

- `exhaustive` asks about every node.
- `incognito` goes level by level over growing subsets of the columns.
- `ola` searches chains by halves; `best-first` does so among the nodes that may be best.

The other two parts are the same for all: `decide_rest`, and `price_safe_nodes` where a loss is minimized.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from sqlaudit.lattices.search.bounds import look_for_cheap_node
from sqlaudit.lattices.search.choice import EXHAUSTIVE, INCOGNITO, OLA
from sqlaudit.lattices.search.loss import Incumbent, round_bound
from sqlaudit.lattices.search.tagging import (
    ABOVE,
    PASSES,
    SAFE,
    UNSAFE,
    Bools,
    Bytes,
    Indexes,
    TaggedSearch,
    strictly_above,
)
from sqlaudit.lattices.verdicts import Node, at_level, is_finer

_LEAST_CHAINS, _SHARE = 8, 64
"""There are at least 8 chains, and one for every 64 unsettled nodes: late in the search more would ask in vain."""
_FEW = 2
"""Subsets of up to so many columns are settled before all nodes."""
_FIRST, _LARGEST = 16, 4096
"""Nodes of the first batch that is priced, and of the largest."""


def ask_all(search: TaggedSearch) -> None:
    """Ask about every node, in batches that hold all levels of the last columns: these are cheapest to decide.

    Raises:
        BudgetSpent: before a batch.
    """
    size, batch = 1, search.inquiry.batch
    for height in reversed(search.tags.heights):
        if size * (height + 1) > batch:
            break
        size *= height + 1
    size *= max(1, batch // size)
    indexes = np.arange(search.tags.flat.size)
    for start in range(0, indexes.size, size):
        search.ask_indexes(indexes[start : start + size])


# Level by level over growing subsets of the columns.
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


def settle_by_subsets(search: TaggedSearch) -> None:
    """Settle every node by growing subsets of the columns (Incognito).

    The nodes of all subsets of one size and one sum of levels are one question.

    Raises:
        BudgetSpent: the budget ended before.
    """
    sizes = subset_sizes(search.tags.heights)
    for size in range(len(search.tags.heights) + 1):
        pool = search.unsettled(np.flatnonzero(sizes == size))
        heights = search.tags.heights_of(pool)
        order = np.argsort(heights, kind="stable")
        pool, heights = pool[order], heights[order]
        for height in np.unique(heights):
            row = pool[np.searchsorted(heights, height) : np.searchsorted(heights, height, side="right")]
            search.ask_indexes(search.unsettled(row))


def subset_sizes(heights: Sequence[int]) -> Bytes:
    """Return for every node how many columns are below their top."""
    total: Bytes = np.zeros(1, dtype=np.uint8)
    for height in heights:
        column = (np.arange(height + 1) < height).astype(np.uint8)
        total = (total[:, None] + column[None, :]).reshape(-1)
    return total


# Binary search along chains, with predictive tagging both ways.
#
# This is the first step of OLA (El Emam et al.: A Globally Optimal k-Anonymity Method, JAMIA 2009; Barriers, section
# 4.2). A chain is a strategy of generalization: one level more at every step. Several chains are searched side by side,
# so that one question carries their middles; nodes that lie on one path with another one of the same question wait,
# because its answer may tag them.

Region = Callable[[], Bools | None]
"""Returns the nodes that still matter, as a mask; None = all. With two nodes a region has all nodes between them, and
it never grows."""


def settle_by_chains(search: TaggedSearch) -> None:
    """Settle every node by binary search along chains (OLA).

    Single columns and pairs come first: they take few questions, cheap ones, and a pair that fails settles much.

    Raises:
        BudgetSpent: the budget ended before.
    """
    if not _ask_top(search):
        return
    sizes = subset_sizes(search.tags.heights).reshape(search.tags.cells.shape)
    for size in range(1, _FEW + 1):
        settle_region(search, _fix(sizes == size))
    settle_region(search, _fix(None))


def _fix(mask: Bools | None) -> Region:
    return lambda: mask


def settle_cheap_nodes(search: TaggedSearch, incumbent: Incumbent) -> None:
    """Settle the nodes that may still be best, by binary search along chains (best-first).

    Raises:
        BudgetSpent: the budget ended before.
    """
    look_for_cheap_node(search.tags.heights, search.inquiry, incumbent, monotone=search.tags.monotone)
    settle_region(search, CheapNodes(incumbent, search.tags.cells.shape))


SETTLE: Mapping[str, Callable[[TaggedSearch], None]] = {
    EXHAUSTIVE: ask_all,
    INCOGNITO: settle_by_subsets,
    OLA: settle_by_chains,
}
"""How each algorithm settles the nodes; `best-first` does it by `settle_cheap_nodes`."""


class CheapNodes:
    """The region of the nodes whose lower bound is not above the best loss so far; it shrinks as that falls.

    Only bounds that never fall from one level to the next make it a region; with others it is every node.
    """

    def __init__(self, incumbent: Incumbent, shape: tuple[int, ...]) -> None:
        self._incumbent = incumbent
        self._bounds = incumbent.loss.bounds().reshape(shape) if incumbent.loss.rising else None
        self._limit = math.inf
        self._mask: Bools | None = None

    def __call__(self) -> Bools | None:
        """Return the nodes that may still be best; None = all."""
        limit = self._incumbent.key[0]
        if self._bounds is not None and limit < self._limit:
            self._limit, self._mask = limit, self._bounds <= limit + 1e-11 * abs(limit)
        return self._mask


def settle_region(search: TaggedSearch, region: Region) -> None:
    """Settle the nodes of a region, which is looked at again after every question.

    Raises:
        BudgetSpent: the budget ended before.
    """
    if not _ask_top(search):
        return
    pool, chains, turn = search.unsettled(), list[list[Node]](), 0
    while True:
        pool, mask = search.unsettled(pool), region()
        if mask is not None:
            pool = pool[mask.reshape(-1)[pool]]
        if not len(pool):
            return
        chains = [[node for node in chain if _is_open(search, mask, node)] for chain in chains]
        chains = [chain for chain in chains if chain]
        width = min(search.width, len(pool), max(_LEAST_CHAINS, len(pool) // _SHARE))
        for at in range(len(chains), width):
            (start,) = search.tags.nodes(pool[[(2 * at + 1) * len(pool) // (2 * width)]])
            # from a node that has no unsettled one below it to one that has none above it
            down, up = (list(_walk(search, mask, start, step, turn)) for step in (-1, 1))
            chains.append([*reversed(down), start, *up])
            turn += 1
        search.ask(_select_incomparable(chain[len(chain) // 2] for chain in chains))


def _ask_top(search: TaggedSearch) -> bool:
    """Ask about the coarsest node. Return False if it fails: no node can be safe then."""
    if search.tags.flat[-1] & (PASSES | UNSAFE) == 0:
        search.ask([search.tags.heights])
    return bool(search.tags.flat[-1] & PASSES)


def _is_open(search: TaggedSearch, mask: Bools | None, node: Node) -> bool:
    return search.is_unsettled(node) and (mask is None or bool(mask[node]))


def _walk(search: TaggedSearch, mask: Bools | None, node: Node, step: int, turn: int) -> Iterator[Node]:
    """Yield open nodes, each one level of one column further, the columns in turn, until there is none."""
    columns = len(node)
    stuck = 0
    while stuck < columns:
        column = turn % columns
        turn += 1
        level = node[column] + step
        moved = at_level(node, column, level)
        if 0 <= level <= search.tags.heights[column] and _is_open(search, mask, moved):
            node, stuck = moved, 0
            yield node
        else:
            stuck += 1


def _select_incomparable(nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes that are neither finer nor coarser than one before them."""
    selected: list[Node] = []
    for node in nodes:
        if not any(is_finer(node, other) or is_finer(other, node) for other in selected):
            selected.append(node)
    return selected


# After the inherited requirements are settled: the nodes that still need a verdict, and the best of the safe ones.


def decide_rest(search: TaggedSearch, *, minimal: bool) -> None:
    """Ask for every verdict that is not known; `minimal`: only as far as minimal safe nodes depend on them.

    Where safety is not inherited, nodes are asked row by row from the finest. A node above a safe one is not minimal
    whatever it is, so it is left out.

    Raises:
        BudgetSpent: the budget ended before.
    """
    pool = search.undecided(minimal=minimal)
    heights = search.tags.heights_of(pool)
    for height in np.unique(heights) if minimal else [None]:
        row = pool if height is None else pool[heights == height]
        search.ask_indexes(search.undecided(row, minimal=minimal))


def price_safe_nodes(search: TaggedSearch, incumbent: Incumbent) -> None:
    """Find the best of all safe nodes, in the order of the lower bounds; verdicts are asked for where they are unknown.

    Nodes whose bound is above the best loss are neither asked nor priced, and, when coarsening never lowers the loss,
    nodes above a safe one are not either. Batches grow, so that a good node found early saves most of the work.

    Raises:
        BudgetSpent: the budget ended before.
    """
    bounds, candidates = incumbent.loss.bounds(), ~search.tags.unsafe
    if incumbent.loss.never_falls:
        candidates &= ~strictly_above(search.tags.safe)
    pool = np.flatnonzero(candidates)
    pool, size, at = pool[np.argsort(bounds[pool], kind="stable")], _FIRST, 0
    while at < len(pool):
        batch = pool[at : at + size]
        batch = batch[[round_bound(float(bound)) <= incumbent.key[0] for bound in bounds[batch]]]
        if not len(batch):
            return
        _price(search, incumbent, batch)
        at, size = at + size, min(2 * size, _LARGEST)


def _price(search: TaggedSearch, incumbent: Incumbent, batch: Indexes) -> None:
    """Decide some nodes, and offer the safe ones. Where the loss never falls, those above a safe node are left out."""
    search.ask_indexes(search.undecided(batch, minimal=incumbent.loss.never_falls))
    cells = search.tags.flat[batch]
    safe = cells & SAFE > 0
    if incumbent.loss.never_falls:
        safe &= cells & ABOVE == 0
    incumbent.offer(search.tags.nodes(batch[safe]))
