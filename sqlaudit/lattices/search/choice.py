"""The choice of the algorithm: which answers which question, and why.

Searches that tag every node differ only in the order in which they ask (`steps`); `bounds` keeps the border between
safe and unsafe nodes alone, and so answers lattices of any size; `chain` searches one chain.

**Safety is inherited** (every node coarser than a safe one is safe): one verdict decides many nodes.

- `minimal`: `incognito` while no column has more than `LOW` levels above its own: nodes of few columns are cheap, fail
  often and settle much, and its questions are large (Adult, 12,960 nodes, k = 5: 163 verdicts in 15 questions where
  `ola` takes 150 in 27; with 5% suppressed 2,754 in 40 against 3,070 in 199). With higher columns `ola`: binary search
  along chains pays (three columns of 20 to 30 levels: 208 verdicts where `incognito` takes 2,582). Beyond `TAGGED`
  nodes `bounds`, which needs no memory for nodes.
- `best`: when the loss of a node is known from its levels, `bounds`: the cheapest node that nothing speaks against is
  asked first, so a lattice of any size takes as many questions as the proof of the answer needs. When suppressed rows
  or classes decide the loss, `best-first`: all nodes whose lower bound is below the best loss must be settled, and
  chains settle them with few questions (Adult, k = 5, 5% suppressed: 612 verdicts where `bounds` takes 1,725 and `ola`
  3,070); beyond `TAGGED` nodes `bounds` again.
- `all`: `exhaustive`, since a verdict with its figures is wanted on every node; beyond `ASKED` nodes `ola`, which finds
  for every node whether it is safe, and gives figures of those that were asked.
- `chain`: binary search (Theorem 14 of Worst case).

**Safety is not inherited** (suppression together with models that it makes so): a verdict speaks for its node alone,
except that a failure of the requirements that *are* inherited decides all finer nodes. `ola` and `incognito` find where
those hold and ask every node above, `minimal` without the nodes above a safe one; `best-first` asks in the order of the
lower bounds; a chain is scanned from there on. `bounds` finds the best node only. A lattice beyond `TAGGED` nodes is
then refused for `minimal` and `all`: the answer itself may be that large.

What each algorithm costs is in `docs/performance.md`, "Which algorithm".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlaudit.base.errors import Undecidable, UsageError

if TYPE_CHECKING:
    from sqlaudit.lattices.search.loss import NodeLoss

AUTO, EXHAUSTIVE, INCOGNITO, OLA, CHAIN = "auto", "exhaustive", "incognito", "ola", "chain"
BEST_FIRST, BOUNDS = "best-first", "bounds"
TAGGED = 20_000_000
"""Nodes that are tagged one by one, a byte each (and eight for their loss)."""
LOW = 5
"""Levels of a column up to which asking level by level is no worse than binary search."""
ASKED = 100_000
"""Nodes up to which `all` asks about every one."""

FITS: Mapping[str, tuple[str, ...]] = {
    "best": (BOUNDS, BEST_FIRST, OLA, INCOGNITO, EXHAUSTIVE),
    "minimal": (OLA, INCOGNITO, BOUNDS, EXHAUSTIVE),
    "all": (EXHAUSTIVE, OLA, INCOGNITO),
    "chain": (CHAIN,),
}
"""The algorithms that answer each question."""


def choose(
    find: str, algorithm: str, heights: Sequence[int], *, monotone: bool, loss: NodeLoss | None, tagged: int = TAGGED
) -> str:
    """Return the algorithm to take: the named one, if it can answer the question; for `auto`, the one that fits best.

    Args:
        find: `best`, `minimal`, `all` or `chain`.
        algorithm: a name, or `auto`.
        heights: the highest level of every column.
        monotone: True if safety is inherited.
        loss: what `best` minimizes; None without a loss.
        tagged: the largest number of nodes that can be tagged.

    Raises:
        UsageError: the algorithm does not answer the question, or the lattice is too large for it.

    Example:
        >>> choose("minimal", "auto", (4, 3), monotone=True, loss=None)
        'incognito'
    """
    if find not in FITS:
        raise UsageError(f"Cannot find {find!r}. Use one of {', '.join(FITS)}.")
    if find == "best" and loss is None:
        raise UsageError("The best node needs a loss measure.")
    nodes = math.prod(height + 1 for height in heights)
    chosen = _select_fitting(find, heights, monotone, loss, tagged) if algorithm == AUTO else algorithm
    if chosen not in FITS[find]:
        raise UsageError(f"{chosen!r} cannot find {find}. Use one of {', '.join((AUTO, *FITS[find]))}.")
    if chosen == BOUNDS and find == "minimal" and not monotone:
        raise UsageError(
            "With suppression, coarser nodes can fail these requirements, so bounds cannot find the minimal nodes. "
            "Choose another algorithm."
        )
    if chosen not in (BOUNDS, CHAIN) and nodes > tagged:
        raise Undecidable(
            f"The lattice has {nodes:,} nodes, but {chosen} allows at most {tagged:,}. "
            "Leave out levels, drop columns, or search for the best node."
        )
    return chosen


def _select_fitting(find: str, heights: Sequence[int], monotone: bool, loss: NodeLoss | None, tagged: int) -> str:
    """Return the algorithm that fits best, by the rules of this module's docstring."""
    nodes = math.prod(height + 1 for height in heights)
    if find == "chain":
        return CHAIN
    if find == "all":
        return EXHAUSTIVE if nodes <= ASKED or not monotone else OLA
    if find == "minimal":
        tagging = OLA if max(heights, default=0) > LOW else INCOGNITO
        return BOUNDS if monotone and nodes > tagged else tagging
    is_known_from_levels = loss is not None and loss.exact is None and loss.rising
    return BOUNDS if nodes > tagged or (monotone and is_known_from_levels) else BEST_FIRST
