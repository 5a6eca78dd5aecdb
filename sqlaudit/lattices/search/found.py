"""What a search found, what it proves, and what is not known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from sqlaudit.lattices.search.board import Board
from sqlaudit.lattices.search.border import Border
from sqlaudit.lattices.search.inquiry import Inquiry
from sqlaudit.lattices.search.loss import BestNode, Incumbent, lowered, rounded
from sqlaudit.lattices.search.tags import ASKED, SAFE, UNSAFE, Bools, Tags, strictly_above
from sqlaudit.lattices.verdicts import Node, Verdict

Known = Callable[[Node], bool | None]

COUNTED = 1_000_000
"""Nodes that are looked at one by one to count those whose verdict is not known, after a search that tags none."""


@dataclass(frozen=True)
class NodeCounts:
    """How much was asked and concluded.

    Args:
        nodes: of the lattice (of the chain, for `chain`).
        checked: verdicts asked for, no node twice; with columns left out that are kept, those nodes included.
        tagged_safe, tagged_unsafe: nodes of the lattice whose verdict was concluded; None where the nodes are not
            tagged one by one.
        unknown: nodes of the lattice whose verdict is not known; without tags counted only after a search that was
            stopped, in a lattice of up to `COUNTED` nodes, else None.
        safe: safe nodes; None unless every verdict is known.
        priced: nodes whose loss was looked at.
    """

    nodes: int
    checked: int
    tagged_safe: int | None
    tagged_unsafe: int | None
    unknown: int | None
    safe: int | None
    priced: int


@dataclass(frozen=True)
class Found:
    """What a search found. Everything said here is proven, also when the search was stopped.

    Args:
        find, algorithm: the question, and the algorithm that was taken. heights: of the columns.
        counts: how much was asked and concluded.
        minimal: nodes proven to be safe with no finer safe node, in the order of their levels.
        all_minimal: whether these are all of them.
        best: the best safe node known (for `chain` the finest safe one of the chain), None when none is; its loss is
            None when nobody asked for it.
        best_proven: whether no safe node is better (for `chain`: none of the chain is finer); with no `best`: whether
            there is no safe node at all.
        lower_bound: no safe node loses less; None without a loss, for `chain`, and where nothing is safe.
        complete: whether the question is answered. stopped: why it is not: `budget`, `interrupted` or `limit`.
        walk: the verdicts in the order in which they were asked for, the first ones.
        known: tells of a node whether it is safe, None when that is not known.
        safe_nodes: the nodes known to be safe, in the order of their levels; only asked ones where none are tagged.
    """

    find: str
    algorithm: str
    heights: Node
    counts: NodeCounts
    minimal: tuple[Node, ...]
    all_minimal: bool
    best: BestNode | None
    best_proven: bool
    lower_bound: float | None
    complete: bool
    stopped: str
    walk: tuple[Verdict, ...] = field(repr=False)
    known: Known = field(repr=False, compare=False)
    safe_nodes: Callable[[], Iterator[Node]] = field(repr=False, compare=False)


@dataclass(frozen=True)
class Ending:
    """How a search came to its end: the question, the algorithm, and why it stopped (empty: it was done)."""

    find: str
    algorithm: str
    stopped: str


def found_by_tags(ending: Ending, board: Board, heights: Node) -> Found:
    """The answer of a search that tagged nodes.

    Raises:
        ValueError: verdicts contradict the promise that safety is inherited.
    """
    tags, incumbent = within(board.tags, heights), board.incumbent
    safe, unsafe = tags.cells & SAFE > 0, tags.cells & UNSAFE > 0
    if bool((safe & unsafe).any()):
        raise ValueError("a node is safe and lies below an unsafe one, though safety was said to be inherited")
    counts = _counts(tags, board.inquiry, incumbent)
    surely, maybe = safe & ~strictly_above(~unsafe), ~unsafe & ~strictly_above(safe)
    minimal, all_minimal = tags.nodes(np.flatnonzero(surely)), bool(np.array_equal(surely, maybe))
    best = _best_of(incumbent, tags, safe) if incumbent is not None else None
    lower = _lower_bound(incumbent, unsafe, safe, best) if incumbent is not None else None
    proven = _is_proven(ending, incumbent, all_minimal) or bool(unsafe.all())
    complete = {"minimal": all_minimal, "all": not counts.unknown}.get(ending.find, proven)
    return Found(
        ending.find,
        ending.algorithm,
        heights,
        counts,
        tuple(minimal),
        all_minimal,
        best,
        proven,
        _proven_loss(best) if proven else lower,
        complete,
        "" if complete else ending.stopped,
        tuple(board.inquiry.walk),
        tags.known,
        lambda: iter(tags.nodes(np.flatnonzero(safe))),
    )


def found_by_border(ending: Ending, border: Border, minimal: list[Node] | None, *, all_minimal: bool) -> Found:
    """The answer of a search that keeps the border alone; `minimal`: what was enumerated, if anything was."""
    border.conclude()
    inquiry, incumbent = border.inquiry, border.incumbent
    nothing = border.passes(border.heights) is False
    all_minimal = all_minimal or nothing
    best = incumbent.best if incumbent is not None else None
    proven = _is_proven(ending, incumbent, all_minimal) or nothing
    complete = all_minimal if ending.find == "minimal" else proven
    unknown = 0 if nothing else border.unknown() if not complete and border.nodes <= COUNTED else None
    counts = NodeCounts(
        border.nodes,
        inquiry.checked,
        None,
        None,
        unknown,
        0 if nothing else None,
        len(incumbent.prices) if incumbent is not None else 0,
    )
    asked = sorted(node for node, safe in border.safe.items() if safe)
    return Found(
        ending.find,
        ending.algorithm,
        border.heights,
        counts,
        tuple(border.minimal() if minimal is None else sorted(minimal)),
        all_minimal,
        best,
        proven,
        _proven_loss(best) if proven else border.lower,
        complete,
        "" if complete else ending.stopped,
        tuple(inquiry.walk),
        border.known,
        lambda: iter(asked),
    )


def found_on_chain(
    ending: Ending, heights: Node, inquiry: Inquiry, length: int, best: BestNode | None, known: Known
) -> Found:
    """The answer of a search along a chain."""
    done = not ending.stopped
    counts = NodeCounts(
        length, inquiry.checked, None, None, None, None, int(best is not None and best.loss is not None)
    )
    safe = sorted(one.node for one in inquiry.walk if one.safe)
    return Found(
        ending.find,
        ending.algorithm,
        heights,
        counts,
        (),
        False,
        best,
        done,
        None,
        done,
        ending.stopped,
        tuple(inquiry.walk),
        known,
        lambda: iter(safe),
    )


def within(tags: Tags, heights: Node) -> Tags:
    """The tags of the nodes up to these heights; those above are left out."""
    if tags.heights == heights:
        return tags
    inner = Tags(heights, monotone=tags.monotone)
    inner.cells[...] = tags.cells[tuple(slice(0, height + 1) for height in heights)]
    return inner


def _counts(tags: Tags, inquiry: Inquiry, incumbent: Incumbent | None) -> NodeCounts:
    cells = tags.flat
    safe, unsafe = int(np.count_nonzero(cells & SAFE)), int(np.count_nonzero(cells & UNSAFE))
    unknown = cells.size - safe - unsafe
    return NodeCounts(
        nodes=cells.size,
        checked=inquiry.checked,
        tagged_safe=int(np.count_nonzero(cells & (SAFE | ASKED) == SAFE)),
        tagged_unsafe=int(np.count_nonzero(cells & (UNSAFE | ASKED) == UNSAFE)),
        unknown=unknown,
        safe=None if unknown else safe,
        priced=len(incumbent.prices) if incumbent is not None else 0,
    )


def _proven_loss(best: BestNode | None) -> float | None:
    return best.loss if best is not None else None


def _is_proven(ending: Ending, incumbent: Incumbent | None, all_minimal: bool) -> bool:
    """Whether no safe node is better than the best one."""
    if incumbent is None:
        return False
    if ending.find == "minimal":
        return all_minimal and incumbent.loss.never_falls and not ending.stopped
    return not ending.stopped


def _best_of(incumbent: Incumbent, tags: Tags, safe: Bools) -> BestNode | None:
    """The best node of those that are known to be safe, also when the search stopped before it looked at them."""
    if incumbent.loss.exact is not None and incumbent.best is not None:
        return incumbent.best
    indexes = np.flatnonzero(safe)
    if not len(indexes):
        return None
    bounds = incumbent.loss.lower_all()[indexes]
    close = bounds <= bounds.min() + 1e-11 * abs(bounds.min())
    keyed = min(
        (rounded(float(bound)), node) for bound, node in zip(bounds[close], tags.nodes(indexes[close]), strict=True)
    )
    return BestNode(keyed[1], incumbent.loss.lower(keyed[1]) if incumbent.loss.exact is None else None)


def _lower_bound(incumbent: Incumbent, unsafe: Bools, safe: Bools, best: BestNode | None) -> float | None:
    """The least that a node may lose that is not known to be unsafe and whose loss is not known."""
    maybe = ~unsafe
    if incumbent.loss.never_falls:
        maybe &= ~strictly_above(safe)
    if incumbent.loss.exact is not None:
        for node in incumbent.prices:
            maybe[node] = False
    open_bounds = incumbent.loss.lower_all()[maybe.reshape(-1)]
    known = [best.loss] if best is not None and best.loss is not None else []
    return min([*known, lowered(float(open_bounds.min()))] if len(open_bounds) else known, default=None)
