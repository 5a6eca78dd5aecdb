"""The one entry point: a question about a lattice, answered by the algorithm that fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sqlaudit.base.errors import Incomplete, Interrupted
from sqlaudit.column_sets.budget import BudgetSpent, Stop, never
from sqlaudit.lattices.search import choice
from sqlaudit.lattices.search.along import ChainSearch, checked_chain, climb
from sqlaudit.lattices.search.board import Board
from sqlaudit.lattices.search.border import Border
from sqlaudit.lattices.search.bounds import BoundsSearch, look_for_cheap_node
from sqlaudit.lattices.search.chains import WIDTH, settle, settle_all, settle_by_subsets, with_kept_left_out
from sqlaudit.lattices.search.finish import Cheap, decide_rest, price_safe_nodes
from sqlaudit.lattices.search.found import Ending, Found, found_by_border, found_by_tags, found_on_chain, within
from sqlaudit.lattices.search.inquiry import Inquiry, Tell, silent
from sqlaudit.lattices.search.loss import BestNode, Incumbent, NodeLoss
from sqlaudit.lattices.search.tags import SAFE, UNSAFE, Tags
from sqlaudit.lattices.search.transversals import MinimalSearch
from sqlaudit.lattices.verdicts import Node, Verdict


class NodeAnswers(Protocol):
    """What is searched: a lattice, and whoever decides its nodes."""

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
        leave_out_kept: whether Incognito's subsets may leave out columns that are kept as they are.
    """

    batch: int = 2000
    walk: int = 100_000
    width: int = WIDTH
    tagged: int = choice.TAGGED
    most_minimal: int = 100_000
    leave_out_kept: bool = False


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
        out = algorithm == choice.INCOGNITO and self.options.leave_out_kept
        tags = Tags(with_kept_left_out(self.heights) if out else self.heights, monotone=self.monotone)
        board = Board(tags, self.inquiry, self.incumbent, eager=algorithm == choice.BEST_FIRST)

        def run() -> None:
            self._settle(algorithm, board)
            board.tags = within(board.tags, self.heights)
            self._finish(board)

        stopped = _until_stopped(run)
        return found_by_tags(Ending(self.find, algorithm, stopped), board, self.heights)

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
            return found_by_border(Ending(self.find, choice.BOUNDS, stopped), border, None, all_minimal=False)
        search = MinimalSearch(border, self.options.most_minimal)

        def run() -> None:
            search.run()
            if self.incumbent is not None:
                self.incumbent.offer(search.found.nodes)

        stopped = _until_stopped(run) or ("" if search.complete else "limit")
        ending = Ending(self.find, choice.BOUNDS, stopped)
        return found_by_border(ending, border, search.found.nodes, all_minimal=search.complete)

    def along_chain(self, chain: Sequence[Node]) -> Found:
        """Search one chain."""
        loss = self.incumbent.loss if self.incumbent is not None else None
        nodes = checked_chain(chain, self.heights) if chain else climb(self.heights, loss.terms if loss else ())
        search = ChainSearch(nodes, self.inquiry, monotone=self.monotone)
        best: list[BestNode] = []

        def run() -> None:
            search.run()
            if (finest := search.finest()) is not None and self.incumbent is not None:
                self.incumbent.offer([finest])

        stopped = _until_stopped(run)
        finest = search.finest()
        if finest is not None:
            prices = self.incumbent.prices if self.incumbent is not None else {}
            best.append(BestNode(finest, prices.get(finest)))
        ending = Ending(self.find, choice.CHAIN, stopped)
        return found_on_chain(ending, self.heights, self.inquiry, len(nodes), best[0] if best else None, search.known)


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
