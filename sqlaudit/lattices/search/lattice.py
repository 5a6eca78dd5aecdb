"""The one entry point: a question about a lattice, answered by the algorithm that fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from sqlaudit.base.errors import BudgetSpent, Incomplete, Interrupted, Stop, never
from sqlaudit.lattices.search import choice
from sqlaudit.lattices.search.border import Border
from sqlaudit.lattices.search.bounds import BoundsSearch
from sqlaudit.lattices.search.chain import ChainSearch, check_chain, climb
from sqlaudit.lattices.search.inquiry import DEFAULTS, Inquiry, OnProgress, SearchOptions, ignore_progress
from sqlaudit.lattices.search.loss import BestNode, Incumbent, NodeLoss, round_bound, round_loss
from sqlaudit.lattices.search.minimal import MinimalSearch
from sqlaudit.lattices.search.steps import SETTLE, decide_rest, price_safe_nodes, settle_cheap_nodes
from sqlaudit.lattices.search.tagging import ASKED, SAFE, UNSAFE, TaggedSearch, Tags, strictly_above
from sqlaudit.lattices.verdicts import Node, Verdict

COUNTED = 1_000_000
"""Nodes that are looked at one by one to count those whose verdict is not known, after a search that tags none."""


@dataclass(frozen=True)
class NodeCounts:
    """How many nodes were asked and concluded.

    Args:
        nodes: of the lattice (of the chain, for `chain`).
        checked: verdicts asked for, no node twice; nodes of the subsets of columns included.
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
class SearchOutcome:
    """The answer of a search, and what it proves. Every part is proven, also when the search was stopped.

    Args:
        find, algorithm: the question, and the algorithm that was taken.
        heights: the highest level of every column.
        counts: how many nodes were asked and concluded.
        minimal: nodes proven to be safe with no finer safe node, in the order of their levels.
        all_minimal: True if these are all of them.
        best: the best safe node so far (for `chain` the finest safe one of the chain), None when there is none; its
            loss is None when it was not computed.
        best_proven: True if no safe node is better (for `chain`: none of the chain is finer); with no `best`: if
            there is no safe node at all.
        lower_bound: no safe node loses less; None without a loss, for `chain`, and where nothing is safe.
        complete: True if the question is answered.
        stopped: why it is not: `budget`, `interrupted` or `limit`.
        walk: the verdicts in the order in which they were asked for, the first ones.
        is_safe: returns whether a node is safe, None when that is not known.
        safe_nodes: returns the nodes known to be safe, in the order of their levels; only asked ones where none are
            tagged.
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
    is_safe: Callable[[Node], bool | None] = field(repr=False, compare=False)
    safe_nodes: Callable[[], Iterator[Node]] = field(repr=False, compare=False)


class NodeAnswers(Protocol):
    """The lattice to search, and what decides its nodes."""

    @property
    def heights(self) -> tuple[int, ...]:
        """The highest level of every column; 0 for a column that is kept as it is."""

    @property
    def monotone(self) -> bool:
        """True if every node coarser than a safe one is safe."""

    def decide(self, nodes: Sequence[Node]) -> Sequence[Verdict]:
        """Return the verdicts in the order of the nodes."""


def search_lattice(
    answers: NodeAnswers,
    find: str = "best",
    *,
    loss: NodeLoss | None = None,
    algorithm: str = choice.AUTO,
    chain: Sequence[Node] = (),
    stop: Stop = never,
    on_progress: OnProgress = ignore_progress,
    options: SearchOptions = DEFAULTS,
) -> SearchOutcome:
    """Search a generalization lattice (SPEC section 4).

    A minimal node is a safe one with no safe node strictly below it, whether or not safety is inherited. Of nodes whose
    losses agree to 12 digits the best is the one with the lexicographically smallest levels.

    Args:
        answers: the lattice and who decides its nodes.
        find: `best` (needs a loss), `minimal`, `all` verdicts, or `chain`: the finest safe node of one chain.
        loss: what `best` minimizes; with `minimal` and `all`, the best of the nodes of the answer is determined, too.
        algorithm: `auto` (see `choice`), `exhaustive`, `incognito`, `ola`, `bounds`, `best-first`, `chain`.
        chain: for `chain`: nodes from fine to coarse; none = from the bottom to the top, one level a step, the step
            that costs least first.
        stop: returns True when the time budget is used up.
        on_progress: receives progress.
        options: how to work.

    Returns:
        The answer. When the budget ends, when the work is interrupted (Ctrl-C, or the engine says so), or when the
        engine runs out of its own budget, that is what is known by then.

    Raises:
        UsageError: the algorithm does not answer this question, the lattice is too large for it, or no such chain.
        ValueError: verdicts contradict the promise that safety is inherited.

    Example:
        >>> class Sum:
        ...     heights, monotone = (2, 2), True
        ...     def decide(self, nodes):
        ...         return [Verdict(node, sum(node) > 1, sum(node) > 1, 1, 0, 1) for node in nodes]
        >>> outcome = search_lattice(Sum(), "minimal")
        >>> outcome.minimal, outcome.counts.safe
        (((0, 2), (1, 1), (2, 0)), 6)
        >>> search_lattice(Sum(), loss=NodeLoss([[0, 1, 2], [0, 2, 4]])).best
        BestNode(node=(2, 0), loss=2.0)
    """
    inquiry = Inquiry(answers.decide, stop=stop, on_progress=on_progress, options=options)
    search = _NodeSearch(answers, find, inquiry, Incumbent(loss, stop) if loss is not None else None, options)
    chosen = choice.choose(find, algorithm, search.heights, monotone=answers.monotone, loss=loss, tagged=options.tagged)
    if chosen == choice.CHAIN:
        return search.search_chain(chain)
    if chosen == choice.BOUNDS:
        return search.search_border()
    return search.search_tagged(chosen)


class _NodeSearch:
    """One search: what all algorithms need, and their outcomes."""

    def __init__(
        self, answers: NodeAnswers, find: str, inquiry: Inquiry, incumbent: Incumbent | None, options: SearchOptions
    ) -> None:
        self.heights: Node = tuple(answers.heights)
        self.monotone, self.find, self.options = answers.monotone, find, options
        self.inquiry, self.incumbent = inquiry, incumbent

    # --- every node is tagged ---

    def search_tagged(self, algorithm: str) -> SearchOutcome:
        """Search with tags on every node: the steps of the algorithm, then those that all share."""
        tags = Tags(self.heights, monotone=self.monotone)
        best_first = algorithm == choice.BEST_FIRST
        search = TaggedSearch(tags, self.inquiry, self.incumbent, width=self.options.width, eager=best_first)

        def run() -> None:
            if best_first and self.incumbent is not None:
                settle_cheap_nodes(search, self.incumbent)
            else:
                SETTLE[algorithm](search)
            if self.find != "best":
                decide_rest(search, minimal=self.find == "minimal")
            if self.incumbent is not None and self.find == "minimal":
                self.incumbent.offer(tags.minimal(tags.safe, ~tags.unsafe))
            elif self.incumbent is not None:
                price_safe_nodes(search, self.incumbent)

        return self._outcome_of_tags(algorithm, _run_until_stopped(run), tags)

    def _outcome_of_tags(self, algorithm: str, stopped: str, tags: Tags) -> SearchOutcome:
        """Return what follows from the tags.

        Raises:
            ValueError: verdicts contradict the promise that safety is inherited.
        """
        safe, unsafe = tags.safe, tags.unsafe
        if bool((safe & unsafe).any()):
            raise ValueError("a node is safe and lies below an unsafe one, though safety was said to be inherited")
        # minimal whatever the unknown nodes are, and minimal if the unknown ones are as they would have to be
        surely, possibly = safe & ~strictly_above(~unsafe), ~unsafe & ~strictly_above(safe)
        best = _best_of_tags(self.incumbent, tags) if self.incumbent is not None else None
        lower_bound = _lower_bound_of_tags(self.incumbent, tags, best) if self.incumbent is not None else None
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
        outcome = SearchOutcome(
            find=self.find,
            algorithm=algorithm,
            heights=self.heights,
            counts=counts,
            minimal=tuple(tags.nodes(np.flatnonzero(surely))),
            all_minimal=bool(np.array_equal(surely, possibly)),
            best=best,
            lower_bound=lower_bound,
            stopped=stopped,
            walk=tuple(self.inquiry.walk),
            is_safe=tags.is_safe,
            safe_nodes=lambda: iter(tags.nodes(np.flatnonzero(safe))),
        )
        return self._conclude(outcome, none_safe=bool(unsafe.all()))

    # --- the border alone is kept ---

    def search_border(self) -> SearchOutcome:
        """Search for the best node or all minimal nodes, keeping the border alone."""
        border = Border(self.heights, self.inquiry, monotone=self.monotone, incumbent=self.incumbent)
        if self.find == "best" and self.incumbent is not None:
            stopped = _run_until_stopped(BoundsSearch(border, self.incumbent).run)
            return self._outcome_of_border(stopped, border, None, all_minimal=False)
        search = MinimalSearch(border, self.options.most_minimal)

        def run() -> None:
            search.run()
            if self.incumbent is not None:
                self.incumbent.offer(search.minimal.nodes)

        stopped = _run_until_stopped(run) or ("" if search.complete else "limit")
        return self._outcome_of_border(stopped, border, search.minimal.nodes, all_minimal=search.complete)

    def _outcome_of_border(
        self, stopped: str, border: Border, minimal: list[Node] | None, *, all_minimal: bool
    ) -> SearchOutcome:
        """Return what follows from the border; `minimal`: the nodes that were enumerated, None without enumeration."""
        border.conclude()
        none_safe = border.is_passing(border.heights) is False
        outcome = SearchOutcome(
            find=self.find,
            algorithm=choice.BOUNDS,
            heights=self.heights,
            counts=NodeCounts(border.nodes, self.inquiry.checked, safe=0 if none_safe else None),
            minimal=tuple(border.minimal() if minimal is None else sorted(minimal)),
            all_minimal=all_minimal or none_safe,
            best=self.incumbent.best if self.incumbent is not None else None,
            lower_bound=border.lower,
            stopped=stopped,
            walk=tuple(self.inquiry.walk),
            is_safe=border.is_safe,
            safe_nodes=lambda: iter(sorted(node for node, safe in border.safe.items() if safe)),
        )
        outcome = self._conclude(outcome, none_safe=none_safe)
        unknown = 0 if none_safe else None
        if not outcome.complete and border.nodes <= COUNTED:
            unknown = border.count_unknown()
        return replace(outcome, counts=replace(outcome.counts, unknown=unknown))

    def _conclude(self, outcome: SearchOutcome, *, none_safe: bool) -> SearchOutcome:
        """Return the outcome of a search through the whole lattice with what it proves."""
        loss = self.incumbent.loss if self.incumbent is not None else None
        enough = self.find != "minimal" or (outcome.all_minimal and loss is not None and loss.never_falls)
        proven = none_safe or (loss is not None and not outcome.stopped and enough)
        complete = {"minimal": outcome.all_minimal, "all": not outcome.counts.unknown}.get(self.find, proven)
        lower_bound = outcome.lower_bound
        if proven:
            lower_bound = outcome.best.loss if outcome.best is not None else None
        stopped = "" if complete else outcome.stopped
        return replace(outcome, best_proven=proven, lower_bound=lower_bound, complete=complete, stopped=stopped)

    # --- one chain ---

    def search_chain(self, chain: Sequence[Node]) -> SearchOutcome:
        """Search one chain for its finest safe node."""
        loss = self.incumbent.loss if self.incumbent is not None else None
        nodes = check_chain(chain, self.heights) if chain else climb(self.heights, loss.terms if loss else ())
        search = ChainSearch(nodes, self.inquiry, monotone=self.monotone)

        def run() -> None:
            search.run()
            if (finest := search.finest()) is not None and self.incumbent is not None:
                self.incumbent.offer([finest])

        stopped, finest = _run_until_stopped(run), search.finest()
        losses = self.incumbent.losses if self.incumbent is not None else {}
        return SearchOutcome(
            find=self.find,
            algorithm=choice.CHAIN,
            heights=self.heights,
            counts=NodeCounts(len(nodes), self.inquiry.checked),
            best=BestNode(finest, losses.get(finest)) if finest is not None else None,
            best_proven=not stopped,
            complete=not stopped,
            stopped=stopped,
            walk=tuple(self.inquiry.walk),
            is_safe=search.is_safe,
            safe_nodes=lambda: iter(sorted(verdict.node for verdict in self.inquiry.walk if verdict.safe)),
        )


def _best_of_tags(incumbent: Incumbent, tags: Tags) -> BestNode | None:
    """Return the best of the nodes that are known to be safe, also when the search stopped before it priced them."""
    if incumbent.loss.exact is not None and incumbent.best is not None:
        return incumbent.best
    indexes = np.flatnonzero(tags.safe)
    if not len(indexes):
        return None
    bounds = incumbent.loss.bounds()[indexes]
    close = bounds <= bounds.min() + 1e-11 * abs(bounds.min())
    keys = zip(map(round_loss, bounds[close].tolist()), tags.nodes(indexes[close]), strict=True)
    _, node = min(keys)
    return BestNode(node, incumbent.loss.bound(node) if incumbent.loss.exact is None else None)


def _lower_bound_of_tags(incumbent: Incumbent, tags: Tags, best: BestNode | None) -> float | None:
    """Return the least that a safe node may lose: the best one, or one that is not priced or not decided."""
    candidates = ~tags.unsafe
    if incumbent.loss.never_falls:
        candidates &= ~strictly_above(tags.safe)
    if incumbent.loss.exact is not None:
        for node in incumbent.losses:
            candidates[node] = False
    bounds = incumbent.loss.bounds()[candidates.reshape(-1)]
    losses = [best.loss] if best is not None and best.loss is not None else []
    return min([*losses, round_bound(float(bounds.min()))] if len(bounds) else losses, default=None)


def _run_until_stopped(run: Callable[[], None]) -> str:
    """Run to the end, or until the budget or the user ends it. Return why it ended, empty when it was done."""
    try:
        run()
    except (BudgetSpent, Incomplete):
        return "budget"
    except (Interrupted, KeyboardInterrupt):
        return "interrupted"
    return ""
