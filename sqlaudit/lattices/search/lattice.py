"""The one entry point: a question about a lattice, answered by the algorithm that fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from sqlaudit.base.errors import BudgetSpent, Incomplete, Interrupted, Stop, never
from sqlaudit.lattices.search import choice
from sqlaudit.lattices.search.large import Border, BoundsSearch, MinimalSearch, look_for_cheap_node
from sqlaudit.lattices.search.tags import (
    ASKED,
    SAFE,
    UNSAFE,
    WIDTH,
    BestNode,
    Board,
    Bools,
    ChainSearch,
    Cheap,
    Incumbent,
    Inquiry,
    NodeLoss,
    Tags,
    Tell,
    checked_chain,
    climb,
    decide_rest,
    lowered,
    price_safe_nodes,
    rounded,
    settle,
    settle_all,
    settle_by_subsets,
    silent,
    strictly_above,
)
from sqlaudit.lattices.verdicts import Node, Verdict

# What a search found, what it proves, and what is not known.

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
    """

    nodes: int
    checked: int
    tagged_safe: int | None = None
    tagged_unsafe: int | None = None
    unknown: int | None = None
    safe: int | None = None


@dataclass(frozen=True, kw_only=True)
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
    minimal: tuple[Node, ...] = ()
    all_minimal: bool = False
    best: BestNode | None
    best_proven: bool = False
    lower_bound: float | None = None
    complete: bool = False
    stopped: str
    walk: tuple[Verdict, ...] = field(repr=False)
    known: Known = field(repr=False, compare=False)
    safe_nodes: Callable[[], Iterator[Node]] = field(repr=False, compare=False)


def _best_of(incumbent: Incumbent, tags: Tags, safe: Bools) -> BestNode | None:
    """The best node of those that are known to be safe, also when the search stopped before it looked at them."""
    if incumbent.loss.exact is not None and incumbent.best is not None:
        return incumbent.best
    indexes = np.flatnonzero(safe)
    if not len(indexes):
        return None
    bounds = incumbent.loss.lower_all()[indexes]
    close = bounds <= bounds.min() + 1e-11 * abs(bounds.min())
    keyed = zip(map(rounded, bounds[close].tolist()), tags.nodes(indexes[close]), strict=True)
    _, node = min(keyed)
    return BestNode(node, incumbent.loss.lower(node) if incumbent.loss.exact is None else None)


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


class NodeAnswers(Protocol):
    """The lattice to search, and what decides its nodes."""

    @property
    def heights(self) -> tuple[int, ...]:
        """The highest level of every column; 0 for a column that is kept as it is."""

    @property
    def monotone(self) -> bool:
        """Whether every node coarser than a safe one is safe."""

    def decide(self, nodes: Sequence[Node]) -> Sequence[Verdict]:
        """The verdicts in the order of the nodes."""


@dataclass(frozen=True)
class SearchOptions:
    """How a search works; what it finds does not depend on it.

    Args:
        batch: nodes of one question, at most; the budget is looked at between questions.
        walk: verdicts that are kept. width: chains that are searched side by side.
        tagged: nodes that may be tagged one by one, a byte each.
        most_minimal: `bounds` stops looking for minimal nodes when it has so many, or as many maximal unsafe ones.
    """

    batch: int = 2000
    walk: int = 100_000
    width: int = WIDTH
    tagged: int = choice.TAGGED
    most_minimal: int = 100_000


_PLAIN = SearchOptions()


def search_lattice(
    answers: NodeAnswers,
    find: str = "best",
    *,
    loss: NodeLoss | None = None,
    algorithm: str = choice.AUTO,
    chain: Sequence[Node] = (),
    stop: Stop = never,
    tell: Tell = silent,
    options: SearchOptions = _PLAIN,
) -> Found:
    """Search a generalization lattice (SPEC section 4).

    A minimal node is a safe one with no safe node strictly below it, whether or not safety is inherited. Of nodes whose
    losses agree to 12 digits the best is the one with the lexicographically smallest levels.

    Args:
        answers: the lattice and who decides its nodes.
        find: `best` (needs a loss), `minimal`, `all` verdicts, or `chain`: the finest safe node of one chain.
        loss: with `minimal` and `all`, the best of the nodes found is looked for, too.
        algorithm: `auto` (see `choice`), `exhaustive`, `incognito`, `ola`, `bounds`, `best-first`, `chain`.
        chain: for `chain`: nodes from fine to coarse; none = from the bottom to the top, one level a step, the step
            that costs least first.
        stop: whether the time budget is used up. tell: told of progress. options: how to work.

    Returns:
        What was found. When the budget ends, when the work is interrupted (Ctrl-C, or the engine says so), or when the
        engine runs out of its own budget, that is what is known by then.

    Raises:
        UsageError: the algorithm does not answer this question, the lattice is too large for it, or no such chain.
        ValueError: verdicts contradict the promise that safety is inherited.

    Example:
        >>> class Sum:
        ...     heights, monotone = (2, 2), True
        ...     def decide(self, nodes):
        ...         return [Verdict(node, sum(node) > 1, sum(node) > 1, 1, 0, 1) for node in nodes]
        >>> found = search_lattice(Sum(), "minimal")
        >>> found.minimal, found.counts.safe
        (((0, 2), (1, 1), (2, 0)), 6)
        >>> search_lattice(Sum(), loss=NodeLoss([[0, 1, 2], [0, 2, 4]])).best
        BestNode(node=(2, 0), loss=2.0)
    """
    search = _NodeSearch(answers, find, loss, stop, tell, options)
    chosen = choice.choose(find, algorithm, search.heights, monotone=answers.monotone, loss=loss, tagged=options.tagged)
    if chosen == choice.CHAIN:
        return search.along_chain(chain)
    if chosen == choice.BOUNDS:
        return search.by_bounds()
    return search.by_tags(chosen)


class _NodeSearch:
    """One search: the parts that all algorithms need."""

    def __init__(
        self, answers: NodeAnswers, find: str, loss: NodeLoss | None, stop: Stop, tell: Tell, options: SearchOptions
    ) -> None:
        self.heights: Node = tuple(answers.heights)
        self.monotone, self.find, self.options = answers.monotone, find, options
        self.inquiry = Inquiry(answers.decide, stop=stop, tell=tell, batch=options.batch, walk=options.walk)
        self.incumbent = Incumbent(loss, stop) if loss is not None else None

    def by_tags(self, algorithm: str) -> Found:
        """Tag every node."""
        tags = Tags(self.heights, monotone=self.monotone)
        board = Board(tags, self.inquiry, self.incumbent, eager=algorithm == choice.BEST_FIRST)

        def run() -> None:
            self._settle(algorithm, board)
            self._finish(board)

        return self._found_by_tags(algorithm, _until_stopped(run), board)

    def _found_by_tags(self, algorithm: str, stopped: str, board: Board) -> Found:
        """The answer of a search that tagged every node.

        Raises:
            ValueError: verdicts contradict the promise that safety is inherited.
        """
        tags, incumbent = board.tags, self.incumbent
        safe, unsafe = tags.cells & SAFE > 0, tags.cells & UNSAFE > 0
        if bool((safe & unsafe).any()):
            raise ValueError("a node is safe and lies below an unsafe one, though safety was said to be inherited")
        surely, maybe = safe & ~strictly_above(~unsafe), ~unsafe & ~strictly_above(safe)
        all_minimal = bool(np.array_equal(surely, maybe))
        best = _best_of(incumbent, tags, safe) if incumbent is not None else None
        lower = _lower_bound(incumbent, unsafe, safe, best) if incumbent is not None else None
        cells, number_safe = tags.flat, int(np.count_nonzero(safe))
        unknown = cells.size - number_safe - int(np.count_nonzero(unsafe))
        counts = NodeCounts(
            cells.size,
            self.inquiry.checked,
            int(np.count_nonzero(cells & (SAFE | ASKED) == SAFE)),
            int(np.count_nonzero(cells & (UNSAFE | ASKED) == UNSAFE)),
            unknown,
            None if unknown else number_safe,
        )
        found = Found(
            find=self.find,
            algorithm=algorithm,
            heights=self.heights,
            counts=counts,
            minimal=tuple(tags.nodes(np.flatnonzero(surely))),
            all_minimal=all_minimal,
            best=best,
            lower_bound=lower,
            stopped=stopped,
            walk=tuple(self.inquiry.walk),
            known=tags.known,
            safe_nodes=lambda: iter(tags.nodes(np.flatnonzero(safe))),
        )
        return self._concluded(found, nothing=bool(unsafe.all()))

    def _concluded(self, found: Found, *, nothing: bool) -> Found:
        """The answer of a search through the whole lattice, with what it proves; `nothing`: that no node is safe."""
        loss = self.incumbent.loss if self.incumbent is not None else None
        enough = self.find != "minimal" or (found.all_minimal and loss is not None and loss.never_falls)
        proven = nothing or (loss is not None and not found.stopped and enough)
        complete = {"minimal": found.all_minimal, "all": not found.counts.unknown}.get(self.find, proven)
        lower = found.lower_bound
        if proven:
            lower = found.best.loss if found.best is not None else None
        stopped = "" if complete else found.stopped
        return replace(found, best_proven=proven, lower_bound=lower, complete=complete, stopped=stopped)

    def _settle(self, algorithm: str, board: Board) -> None:
        if algorithm == choice.EXHAUSTIVE:
            ask_all(board)
        elif algorithm == choice.INCOGNITO:
            settle_by_subsets(board)
        elif algorithm == choice.BEST_FIRST and self.incumbent is not None:
            look_for_cheap_node(self.heights, self.inquiry, self.incumbent, monotone=self.monotone)
            settle(board, Cheap(self.incumbent), self.options.width)
        else:
            settle_all(board, self.options.width)

    def _finish(self, board: Board) -> None:
        if self.find != "best":
            decide_rest(board, minimal=self.find == "minimal")
        if self.incumbent is None:
            return
        if self.find == "minimal":
            safe, unsafe = board.tags.cells & SAFE > 0, board.tags.cells & UNSAFE > 0
            self.incumbent.offer(board.tags.minimal(safe, ~unsafe))
        else:
            price_safe_nodes(board, self.incumbent)

    def by_bounds(self) -> Found:
        """Keep the border alone."""
        border = Border(self.heights, self.inquiry, monotone=self.monotone, incumbent=self.incumbent)
        if self.find == "best" and self.incumbent is not None:
            stopped = _until_stopped(BoundsSearch(border, self.incumbent).run)
            return self._found_by_border(stopped, border, None, all_minimal=False)
        search = MinimalSearch(border, self.options.most_minimal)

        def run() -> None:
            search.run()
            if self.incumbent is not None:
                self.incumbent.offer(search.found.nodes)

        stopped = _until_stopped(run) or ("" if search.complete else "limit")
        return self._found_by_border(stopped, border, search.found.nodes, all_minimal=search.complete)

    def _found_by_border(self, stopped: str, border: Border, minimal: list[Node] | None, *, all_minimal: bool) -> Found:
        """The answer of a search that keeps the border alone; `minimal`: what was enumerated, if anything was."""
        border.conclude()
        nothing = border.passes(border.heights) is False
        found = Found(
            find=self.find,
            algorithm=choice.BOUNDS,
            heights=self.heights,
            counts=NodeCounts(border.nodes, self.inquiry.checked, safe=0 if nothing else None),
            minimal=tuple(border.minimal() if minimal is None else sorted(minimal)),
            all_minimal=all_minimal or nothing,
            best=self.incumbent.best if self.incumbent is not None else None,
            lower_bound=border.lower,
            stopped=stopped,
            walk=tuple(self.inquiry.walk),
            known=border.known,
            safe_nodes=lambda: iter(sorted(node for node, safe in border.safe.items() if safe)),
        )
        found = self._concluded(found, nothing=nothing)
        unknown = 0 if nothing else None
        if not found.complete and border.nodes <= COUNTED:
            unknown = border.unknown()
        return replace(found, counts=replace(found.counts, unknown=unknown))

    def along_chain(self, chain: Sequence[Node]) -> Found:
        """Search one chain."""
        loss = self.incumbent.loss if self.incumbent is not None else None
        nodes = checked_chain(chain, self.heights) if chain else climb(self.heights, loss.terms if loss else ())
        search = ChainSearch(nodes, self.inquiry, monotone=self.monotone)

        def run() -> None:
            search.run()
            if (finest := search.finest()) is not None and self.incumbent is not None:
                self.incumbent.offer([finest])

        stopped, finest = _until_stopped(run), search.finest()
        prices = self.incumbent.prices if self.incumbent is not None else {}
        return Found(
            find=self.find,
            algorithm=choice.CHAIN,
            heights=self.heights,
            counts=NodeCounts(len(nodes), self.inquiry.checked),
            best=BestNode(finest, prices.get(finest)) if finest is not None else None,
            best_proven=not stopped,
            complete=not stopped,
            stopped=stopped,
            walk=tuple(self.inquiry.walk),
            known=search.known,
            safe_nodes=lambda: iter(sorted(one.node for one in self.inquiry.walk if one.safe)),
        )


def ask_all(board: Board) -> None:
    """Ask about every node, in batches that hold all levels of the last columns: these are cheapest to decide.

    Raises:
        BudgetSpent: before a batch.
    """
    size, batch = 1, board.inquiry.batch
    for height in reversed(board.tags.heights):
        if size * (height + 1) > batch:
            break
        size *= height + 1
    size *= max(1, batch // size)
    every = np.arange(board.tags.flat.size)
    for start in range(0, every.size, size):
        board.ask_about(every[start : start + size])


def _until_stopped(run: Callable[[], None]) -> str:
    """Run to the end, or until the budget or the user ends it; why it ended, empty when it was done."""
    try:
        run()
    except (BudgetSpent, Incomplete):
        return "budget"
    except (Interrupted, KeyboardInterrupt):
        return "interrupted"
    return ""
