"""From the outcome of a search to the result that reports read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from sqlaudit.audits.disclosure.attribute import Disclosure
from sqlaudit.base.errors import STOPPED, BudgetSpent, Stop, Undecidable, by_hand, never
from sqlaudit.base.parameter_names import spelled
from sqlaudit.classes.opening import describe_roles
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.hierarchies.dictionary import Dictionary
from sqlaudit.hierarchies.levels import Hierarchy, Use
from sqlaudit.lattices.evaluate import Evaluator
from sqlaudit.lattices.losses import Losses
from sqlaudit.lattices.proposals import Accepts, Least, Priced, PricedNode, least_of, propose, rank_of
from sqlaudit.lattices.request import Find, LatticeRequest
from sqlaudit.lattices.result import (
    DisclosedNode,
    LatticeColumn,
    LatticeNode,
    LatticeProposal,
    LatticeResult,
    LocalOptimum,
    Strategies,
)
from sqlaudit.lattices.search.chain import climb
from sqlaudit.lattices.search.lattice import NodeCounts, SearchOutcome
from sqlaudit.lattices.search.loss import NodeLoss, round_bound
from sqlaudit.lattices.search.section import LatticeSection
from sqlaudit.lattices.search.strategies import count_local_optima
from sqlaudit.lattices.verdicts import Node, Shortfall, Verdict
from sqlaudit.reports.document import listing, plural

MOST_PRICED = 20_000
"""Nodes that a result lists one by one, with their verdict and loss."""
SHARE, MOST_ASKED, MANY_CLASSES = 10, 8, 100_000
"""Proposals ask about one node for every `SHARE` that the search asked about, and about up to `MOST_ASKED` more: fewer,
the more of `MANY_CLASSES` the finest classes are. So they add at most a tenth to the time of a search."""


@dataclass(frozen=True)
class LatticeSearch:
    """A search over a table: the request, and how its nodes are decided and priced.

    Args:
        request: the request.
        hierarchies: of the quasi-identifiers, in their order.
        dictionaries: of those that take part, by place.
        evaluator: decides nodes.
        losses: prices nodes.
        section: the nodes that are searched.
        count_values: counts the different values of a sensitive attribute.
        workbench: where the dictionaries lie.
    """

    request: LatticeRequest
    hierarchies: tuple[Hierarchy, ...]
    dictionaries: Mapping[int, Dictionary]
    evaluator: Evaluator
    losses: Losses
    section: LatticeSection
    count_values: Callable[[str], int]
    workbench: Engine

    def node_loss(self) -> NodeLoss:
        """Return the loss as a search needs it: the bound by the levels, and the exact loss where it differs."""
        measure, limit = self.losses.measure, self.evaluator.limit_rows
        bounded = measure.separable and (measure.bounded or not limit)
        terms = self.losses.terms() if bounded else [[0.0] * (height + 1) for height in self.evaluator.heights]
        if measure.name in ("hybrid", "hybrid-log"):  # no row gains more than a distance of 1 in the whole table
            least = -float(self.evaluator.rows * self.evaluator.tuples)
            terms = [[least] * len(column) if not place else column for place, column in enumerate(terms)]
        if self.by_levels:
            return NodeLoss(terms, self.losses.transform)
        rises = not limit and measure.monotone != "no"
        return NodeLoss(terms, self.losses.transform, self.price, monotone=rises)

    @property
    def by_levels(self) -> bool:
        """True if the levels of a safe node alone determine its loss."""
        measure = self.losses.measure
        return measure.separable and (not self.evaluator.limit_rows or not measure.cell)

    def price_leaving_out(self, nodes: Sequence[Node]) -> list[PricedNode]:
        """Return safe nodes with their losses and the rows that they leave out."""
        if not self.evaluator.limit_rows:
            return [PricedNode(node, loss, 0) for node, loss in zip(nodes, self.price(nodes), strict=True)]
        parts = self.evaluator.loss_parts(nodes, self.losses.labels, self.losses.wanted)
        return [PricedNode(part.node, self.losses.of(part), part.failing_rows) for part in parts]

    def price(self, nodes: Sequence[Node], *, leave_out: bool = False) -> list[float]:
        """Return the losses of nodes.

        Args:
            nodes: safe ones. leave_out: True if some are not safe: their failing rows are left out without a limit.
        """
        if self.by_levels and not leave_out:
            return [self.losses.whole(node) for node in nodes]
        parts = self.evaluator.loss_parts(nodes, self.losses.labels, self.losses.wanted, leave_out=leave_out)
        return [self.losses.of(part) for part in parts]


class _ResultNodes:
    """Nodes of a result: their verdicts from the search, or asked for now."""

    def __init__(self, search: LatticeSearch, verdicts: Iterable[Verdict]) -> None:
        self._search = search
        self._verdicts = {verdict.node: verdict for verdict in verdicts}

    def describe(self, nodes: Sequence[Node], *, priced: bool) -> tuple[LatticeNode, ...]:
        """Return the nodes with their figures, and their loss where they are priced."""
        undecided = [node for node in nodes if node not in self._verdicts]
        self._verdicts.update(zip(undecided, self._search.evaluator.decide(undecided), strict=True))
        losses: Sequence[float | None] = [None] * len(nodes)
        if priced and len(nodes) <= MOST_PRICED:
            losses = self._search.price(nodes)
        return tuple(node_of(self._verdicts[node], loss) for node, loss in zip(nodes, losses, strict=True))

    def select_decided(self, nodes: Iterable[Node]) -> list[Node]:
        """Return the nodes whose verdict has figures, because it was asked for and not concluded."""
        return [node for node in nodes if node in self._verdicts]


def node_of(verdict: Verdict, loss: float | None = None) -> LatticeNode:
    """Return a verdict as results have it."""
    figures = (verdict.classes, verdict.smallest, verdict.failing_rows)
    smallest_left = verdict.smallest_left if verdict.failing_rows else verdict.smallest
    return LatticeNode(verdict.node, verdict.safe, *figures, verdict.fails, loss, smallest_left)


def result_of(
    engine: Engine, search: LatticeSearch, outcome: SearchOutcome | None, already: int, stop: Stop = never
) -> LatticeResult:
    """Return the result of a search.

    Args:
        engine: where the table lies.
        search: the request, and how nodes are decided.
        outcome: the answer; None for a table without rows.
        already: how many statements had run before.
        stop: returns True when the time is over for figures beyond the answer.
    """
    request, evaluator = search.request, search.evaluator
    nodes = _ResultNodes(search, outcome.walk if outcome else ())
    answers = _answers(request.find, search, outcome, nodes) if outcome else _answers_without_rows(search)
    if outcome and outcome.complete and request.knowledge:
        answers |= _disclosures(search, stop)
    if outcome and outcome.complete and request.find is not Find.CHAIN and search.section.is_whole:
        answers |= _proposals(search, outcome, answers, stop)
    return LatticeResult(
        target=request.target.name,
        rows=evaluator.rows,
        roles=describe_roles(request.roles),
        columns=columns_of(search),
        requirements=tuple(requirement.text for requirement in request.requirements if requirement.severity != "warn"),
        warn_only=tuple(requirement.text for requirement in request.requirements if requirement.severity == "warn"),
        suppression=request.suppression,
        limit_rows=evaluator.limit_rows,
        find=request.find.value,
        measure=request.measure,
        monotone=evaluator.monotone,
        loss_monotone=search.node_loss().never_falls,
        beta=request.beta if search.losses.measure.cell == "risen_by_weight" else None,
        **provenance(engine, already),
        **answers,  # type: ignore[arg-type]
    )


def _answers_without_rows(search: LatticeSearch) -> dict[str, object]:
    nodes = math.prod(height + 1 for height in search.section.heights)
    counts = NodeCounts(nodes, checked=0, tagged_safe=0, tagged_unsafe=0, unknown=nodes)
    why = ("The table has no rows.",)
    return vars(counts) | {"algorithm": "exhaustive", "minimal": None, "best": None, "why": why}


def _answers(find: Find, search: LatticeSearch, outcome: SearchOutcome, nodes: _ResultNodes) -> dict[str, object]:
    """Return the fields of a result that follow from the outcome; nodes without a verdict are decided now."""
    best = nodes.describe([outcome.best.node], priced=True) if outcome.best else ()
    minimal = nodes.describe(outcome.minimal, priced=True) if outcome.all_minimal else None
    top: tuple[LatticeNode, ...] = ()
    if not best and outcome.complete:
        top = nodes.describe([search.section.top], priced=False)
    safe = nodes.describe(nodes.select_decided(outcome.safe_nodes()), priced=True) if find is Find.ALL else ()
    with_walk = search.request.walk or find is Find.CHAIN
    chain: tuple[Node, ...] = ()
    if find is Find.CHAIN:
        climbed = climb(search.section.heights, search.section.loss(search.node_loss()).terms)
        chain = tuple(map(tuple, search.request.chain)) or tuple(map(search.section.outer, climbed))
    return vars(outcome.counts) | {
        "algorithm": outcome.algorithm,
        "minimal": minimal,
        "best": best[0] if best else None,
        "top": top[0] if top else None,
        "chain": chain,
        "safe_nodes": tuple(sorted(safe, key=lambda node: (node.loss is None, node.loss or 0.0, node.levels))),
        "local": _strategies(search, outcome, safe) if find is Find.ALL and outcome.complete else None,
        "bound": outcome.lower_bound,
        "verdicts": _verdicts(outcome) if search.section.is_whole else (),
        "complete": outcome.complete,
        "stopped": outcome.stopped,
        "walk": tuple(node_of(verdict) for verdict in outcome.walk) if with_walk else (),
        "why": tuple(_explain_failure(search, top[0])) if top else (),
    }


def _strategies(search: LatticeSearch, outcome: SearchOutcome, safe: Sequence[LatticeNode]) -> Strategies | None:
    """Return the strategies by their local optimum; None when not every safe node is priced."""
    section = search.section
    losses = {section.inner(node.levels): node.loss for node in safe if node.loss is not None}
    if len(losses) != outcome.counts.safe:
        return None
    local = count_local_optima(section.heights, losses)
    optima = None
    if local.optima is not None:
        optima = tuple(LocalOptimum(section.outer(node), losses[node], number) for node, number in local.optima)
    return Strategies(local.strategies, local.without, local.loss_decreases, optima)


def _proposals(
    search: LatticeSearch, outcome: SearchOutcome, answers: Mapping[str, object], stop: Stop
) -> dict[str, object]:
    """Return the proposals where the nodes that may be one are known, or few others are left to decide."""
    best: LatticeNode | None = answers["best"]  # type: ignore[assignment]
    if best is None:
        return {"proposals": ()}
    if outcome.counts.nodes > MOST_PRICED or best.loss is None:
        return {}
    safe: Sequence[LatticeNode] = answers["safe_nodes"]  # type: ignore[assignment]
    columns = [(hierarchy.column, hierarchy.height) for hierarchy in search.hierarchies if hierarchy.takes_part]
    try:
        (coarsest,) = search.price([search.section.top])
        is_listed = len(safe) == outcome.counts.safe and all(node.loss is not None for node in safe)
        least: Least[Priced] = least_of(safe) if is_listed else _SafeNodes(search, outcome, best, stop).least
        named = propose(best, least, columns, coarsest)
    except STOPPED as why:
        return {"complete": False, "stopped": "interrupted"} if by_hand(why) else {}
    except (_TooManyNodes, Undecidable):  # the search itself needed no verdict on some nodes
        return {}
    chosen = ((one.name, one.node) for one in named)
    proposals = (LatticeProposal(name, node.levels, node.loss or 0.0, node.failing_rows) for name, node in chosen)
    return {"proposals": tuple(proposals)}


class _TooManyNodes(Exception):
    """Proposals ask about more nodes than they may."""


class _SafeNodes:
    """The safe nodes after a search, by their losses: those that it left open are decided and priced when needed.

    Args:
        search: decides and prices nodes. outcome: the verdicts that are known. best: the answer.
        stop: returns True when the time is over.
    """

    def __init__(self, search: LatticeSearch, outcome: SearchOutcome, best: LatticeNode, stop: Stop) -> None:
        self._search, self._outcome, self._stop = search, outcome, stop
        bounds = zip(search.node_loss().bounds().tolist(), search.section.nodes(), strict=True)
        possible = ((round_bound(bound), node) for bound, node in bounds if outcome.is_safe(node) is not False)
        self._possible = sorted(possible)
        self._verdicts = {verdict.node: verdict for verdict in outcome.walk}
        self._priced: dict[Node, Priced] = {best.levels: best}
        self._room = len(outcome.walk) // SHARE + int(MOST_ASKED / (1 + search.evaluator.tuples / MANY_CLASSES))

    def least(self, accepts: Accepts, most: float = math.inf, *, complete: bool = False) -> Priced | None:
        """Return the safe node of least loss as `propose` asks for it."""
        least: Priced | None = None
        rank: tuple[float, Node] = (most, self._search.section.top)
        for place in self._possible:
            if place > rank:  # no node from here on loses less
                break
            _, node = place
            if accepts(node) and (priced := self._price(node, complete=complete)) and rank_of(priced) <= rank:
                least, rank = priced, rank_of(priced)
        return least

    def _price(self, node: Node, *, complete: bool) -> Priced | None:
        """Return a node with its loss; None if it is not safe, or leaves out rows and may not."""
        if node not in self._priced:
            if complete or self._outcome.is_safe(node) is None:
                if node not in self._verdicts:
                    self._ask()
                    (self._verdicts[node],) = self._search.evaluator.decide([node])
                verdict = self._verdicts[node]
                if not verdict.safe or (complete and verdict.failing_rows):
                    return None
            if self._search.evaluator.limit_rows or not self._search.by_levels:
                self._ask()
            (self._priced[node],) = self._search.price_leaving_out([node])
        priced = self._priced[node]
        return None if complete and priced.failing_rows else priced

    def _ask(self) -> None:
        """Count a question to the database.

        Raises:
            BudgetSpent: the time is over.
            _TooManyNodes: it is one too many.
        """
        if self._stop():
            raise BudgetSpent
        self._room -= 1
        if self._room < 0:
            raise _TooManyNodes


def _disclosures(search: LatticeSearch, stop: Stop) -> dict[str, object]:
    """Return the maximum disclosure at every node, or why it is not complete."""
    knowledge = search.request.knowledge
    labels = search.request.roles.sensitive
    nodes = list(search.section.nodes())
    disclosures = []
    try:
        for classes in search.evaluator.classes(nodes, knowledge[-1]):
            if stop():
                raise BudgetSpent
            label = labels[classes.attribute]
            points = Disclosure(label, knowledge[-1], classes.signatures).points
            selected = tuple(points[k] for k in knowledge)
            disclosures.append(DisclosedNode(classes.node, label, math.log(classes.entropy), selected))
    except STOPPED as why:
        return {"complete": False, "stopped": "interrupted" if by_hand(why) else "budget"}
    disclosures.sort(key=lambda disclosed: (labels.index(disclosed.sensitive), disclosed.levels))
    return {"disclosures": tuple(disclosures)}


def _verdicts(outcome: SearchOutcome) -> tuple[bool | None, ...]:
    """Return whether each node is safe, in the order of their levels; nothing for a chain or too many nodes."""
    if outcome.find == Find.CHAIN or outcome.counts.nodes > MOST_PRICED:
        return ()
    return tuple(map(outcome.is_safe, product(*(range(height + 1) for height in outcome.heights))))


def columns_of(search: LatticeSearch) -> tuple[LatticeColumn, ...]:
    """Return the quasi-identifiers, those that are dropped last."""
    weights = dict(zip((c.name for c in search.losses.columns), search.losses.weights, strict=False))
    columns, fixed = [], dict(zip(search.dictionaries, search.section.levels, strict=True))
    for place, hierarchy in enumerate(search.hierarchies):
        dictionary = search.dictionaries.get(place)
        column = LatticeColumn(
            hierarchy.column,
            hierarchy.height,
            hierarchy.level_names(),
            hierarchy.form,
            hierarchy.use.value,
            dictionary.values if dictionary else None,
            weights.get(hierarchy.column),
            hierarchy.examples(),
            hierarchy.by_default,
            fixed.get(place),
            tuple(level.groups for level in dictionary.levels) if dictionary else (),
        )
        columns.append(column)
    return tuple(sorted(columns, key=lambda column: column.use == Use.DROP))


def _explain_failure(search: LatticeSearch, top: LatticeNode) -> Iterator[str]:
    """Yield why even the coarsest node is not safe (Hsu, section 3.3: feasibility comes before any search)."""
    unchanged = [hierarchy.column for hierarchy in search.hierarchies if hierarchy.use is Use.KEEP]
    for short in top.fails:
        about = f" for {short.sensitive}" if short.sensitive else ""
        if short.classes is None:
            yield f"{short.requirement}{about} fails even at the coarsest node."
        elif top.classes == 1:
            yield (
                f"{short.requirement}{about} fails even for all rows together, so no generalization can meet it: "
                f"{_describe_table(search, short)}."
            )
        else:
            yield (
                f"{short.requirement}{about}: {short.classes:,} of {top.classes:,} classes with {short.rows:,} rows "
                "fail even at the coarsest node."
            )
    if not search.section.is_whole and top.classes > 1:
        yield f"Other levels of {listing(search.request.level)} may be safe: leave out {spelled('level')}."
    if unchanged and top.classes > 1:
        yield f"Unchanged at every node: {', '.join(unchanged)}. Give them a hierarchy, or drop them."


def _describe_table(search: LatticeSearch, short: Shortfall) -> str:
    """Return what the whole table has of what a requirement counts."""
    if short.sensitive is None:
        return f"the table has {plural(search.evaluator.rows, 'row')}"
    return f"{short.sensitive} has {plural(search.count_values(short.sensitive), 'different value')}"
