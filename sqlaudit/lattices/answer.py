"""From the outcome of a search to the result that reports read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from sqlaudit.audits.disclosure.attribute import Disclosure
from sqlaudit.base.errors import STOPPED, BudgetSpent, Stop, by_hand, never
from sqlaudit.classes.opening import describe_roles
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.hierarchies.dictionary import Dictionary
from sqlaudit.hierarchies.levels import Hierarchy, Use
from sqlaudit.lattices.evaluate import Evaluator
from sqlaudit.lattices.losses import Losses
from sqlaudit.lattices.request import Find, LatticeRequest
from sqlaudit.lattices.result import DisclosedNode, LatticeColumn, LatticeNode, LatticeResult, LocalOptimum, Strategies
from sqlaudit.lattices.search.lattice import Found, NodeCounts
from sqlaudit.lattices.search.tags import NodeLoss, climb, local_optima
from sqlaudit.lattices.verdicts import Node, Shortfall, Verdict
from sqlaudit.reports.document import plural

MOST_PRICED = 20_000
"""Nodes of which a result tells one by one whether they are safe, and what they lose."""


@dataclass(frozen=True)
class Searched:
    """What was searched, and how its nodes are decided and priced.

    Args:
        request: what was asked. hierarchies: of the quasi-identifiers, in their order. dictionaries: of those that take
            part, by place. evaluator: decides. losses: price. values: counts the different ones of a
            sensitive attribute.
    """

    request: LatticeRequest
    hierarchies: tuple[Hierarchy, ...]
    dictionaries: Mapping[int, Dictionary]
    evaluator: Evaluator
    losses: Losses
    values: Callable[[str], int]

    def node_loss(self) -> NodeLoss:
        """The loss as a search needs it: what the levels say of it, and how the rest is asked."""
        measure, limit = self.losses.measure, self.evaluator.limit_rows
        bounded = measure.separable and (measure.bounded or not limit)
        terms = self.losses.terms() if bounded else [[0.0] * (height + 1) for height in self.evaluator.heights]
        if measure.name in ("hybrid", "hybrid-log"):  # no row gains more than a distance of 1 in the whole table
            least = -float(self.evaluator.rows * self.evaluator.tuples)
            terms = [[least] * len(column) if not place else column for place, column in enumerate(terms)]
        if self._by_levels:
            return NodeLoss(terms, self.losses.transform)
        rises = not limit and measure.monotone != "no"
        return NodeLoss(terms, self.losses.transform, self.exact, monotone=rises)

    @property
    def _by_levels(self) -> bool:
        """Whether the levels of a safe node alone say what it loses."""
        measure = self.losses.measure
        return measure.separable and (not self.evaluator.limit_rows or not measure.cell)

    def exact(self, nodes: Sequence[Node]) -> list[float]:
        """The losses of safe nodes."""
        if self._by_levels:
            return [self.losses.whole(node) for node in nodes]
        parts = self.evaluator.loss_parts(nodes, self.losses.labels, self.losses.wanted)
        return [self.losses.of(part) for part in parts]


class _Nodes:
    """Nodes of a result: verdicts that are known already, and those that are asked for now."""

    def __init__(self, searched: Searched, known: Iterable[Verdict]) -> None:
        self._searched = searched
        self._known = {verdict.node: verdict for verdict in known}

    def of(self, nodes: Sequence[Node], *, priced: bool) -> tuple[LatticeNode, ...]:
        """The nodes with their figures, and their loss where that was asked for."""
        unknown = [node for node in nodes if node not in self._known]
        self._known.update(zip(unknown, self._searched.evaluator.decide(unknown), strict=True))
        losses: Sequence[float | None] = [None] * len(nodes)
        if priced and len(nodes) <= MOST_PRICED:
            losses = self._searched.exact(nodes)
        return tuple(node_of(self._known[node], loss) for node, loss in zip(nodes, losses, strict=True))

    def asked(self, nodes: Iterable[Node]) -> list[Node]:
        """Those whose verdict is known with its figures."""
        return [node for node in nodes if node in self._known]


def node_of(verdict: Verdict, loss: float | None = None) -> LatticeNode:
    """A verdict as results have it."""
    figures = (verdict.classes, verdict.smallest, verdict.failing_rows)
    left = verdict.smallest_left if verdict.failing_rows else verdict.smallest
    return LatticeNode(verdict.node, verdict.safe, *figures, verdict.fails, loss, left)


def result_of(
    engine: Engine, searched: Searched, found: Found | None, already: int, stop: Stop = never
) -> LatticeResult:
    """The result.

    Args:
        engine: where the table lies. searched: what was searched. found: None for a table without rows.
        already: how many statements had run before. stop: whether the time for what is told besides is over.
    """
    request, evaluator = searched.request, searched.evaluator
    nodes = _Nodes(searched, found.walk if found else ())
    answers = _answers(request.find, searched, found, nodes) if found else _nothing(evaluator)
    if found and found.complete and request.knowledge:
        answers |= _disclosed(searched, stop)
    return LatticeResult(
        target=request.target.name,
        rows=evaluator.rows,
        roles=describe_roles(request.roles),
        columns=_columns(searched),
        requirements=tuple(one.text for one in request.requirements if one.severity != "warn"),
        warn_only=tuple(one.text for one in request.requirements if one.severity == "warn"),
        suppression=request.suppression,
        limit_rows=evaluator.limit_rows,
        find=request.find.value,
        measure=request.measure,
        monotone=evaluator.monotone,
        loss_monotone=searched.node_loss().never_falls,
        beta=request.beta if searched.losses.measure.cell == "risen_by_weight" else None,
        **provenance(engine, already),
        **answers,  # type: ignore[arg-type]
    )


def _nothing(evaluator: Evaluator) -> dict[str, object]:
    """The answers for a table without rows."""
    nodes = math.prod(height + 1 for height in evaluator.heights)
    counts = NodeCounts(nodes, checked=0, tagged_safe=0, tagged_unsafe=0, unknown=nodes)
    why = ("The table has no rows.",)
    return vars(counts) | {"algorithm": "exhaustive", "minimal": None, "best": None, "why": why}


def _answers(find: Find, searched: Searched, found: Found, nodes: _Nodes) -> dict[str, object]:
    best = nodes.of([found.best.node], priced=True) if found.best else ()
    minimal = nodes.of(found.minimal, priced=True) if found.all_minimal else None
    top: tuple[LatticeNode, ...] = ()
    if not best and found.complete:
        top = nodes.of([tuple(searched.evaluator.heights)], priced=False)
    safe = nodes.of(nodes.asked(found.safe_nodes()), priced=True) if find is Find.ALL else ()
    show = searched.request.walk or find is Find.CHAIN
    chain: tuple[Node, ...] = ()
    if find is Find.CHAIN:
        chain = tuple(map(tuple, searched.request.chain)) or climb(found.heights, searched.node_loss().terms)
    return vars(found.counts) | {
        "algorithm": found.algorithm,
        "minimal": minimal,
        "best": best[0] if best else None,
        "top": top[0] if top else None,
        "chain": chain,
        "safe_nodes": tuple(sorted(safe, key=lambda node: (node.loss is None, node.loss or 0.0, node.levels))),
        "local": _local(found, safe) if find is Find.ALL and found.complete else None,
        "bound": found.lower_bound,
        "verdicts": _verdicts(found),
        "complete": found.complete,
        "stopped": found.stopped,
        "walk": tuple(node_of(verdict) for verdict in found.walk) if show else (),
        "why": tuple(_why(searched, top[0])) if top else (),
    }


def _local(found: Found, safe: Sequence[LatticeNode]) -> Strategies | None:
    """The strategies by their local optimum; None when not every safe node is priced."""
    losses = {node.levels: node.loss for node in safe if node.loss is not None}
    if len(losses) != found.counts.safe:
        return None
    told = local_optima(found.heights, losses)
    optima = None
    if told.optima is not None:
        optima = tuple(LocalOptimum(node, losses[node], number) for node, number in told.optima)
    return Strategies(told.strategies, told.without, told.falls, optima)


def _disclosed(searched: Searched, stop: Stop) -> dict[str, object]:
    """What can be learnt at every node, or why that is not told."""
    asked = searched.request.knowledge
    labels = searched.request.roles.sensitive
    every = list(product(*(range(height + 1) for height in searched.evaluator.heights)))
    found = []
    try:
        for classes in searched.evaluator.classes(every, asked[-1]):
            if stop():
                raise BudgetSpent
            label = labels[classes.attribute]
            points = Disclosure(label, asked[-1], classes.signatures).points
            told = tuple(points[k] for k in asked)
            found.append(DisclosedNode(classes.node, label, math.log(classes.entropy), told))
    except STOPPED as why:
        return {"complete": False, "stopped": "interrupted" if by_hand(why) else "budget"}
    return {"disclosures": tuple(sorted(found, key=lambda one: (labels.index(one.sensitive), one.levels)))}


def _verdicts(found: Found) -> tuple[bool | None, ...]:
    """What is known of every node, in the order of their levels; nothing of a chain or of too many nodes."""
    if found.find == Find.CHAIN or found.counts.nodes > MOST_PRICED:
        return ()
    return tuple(map(found.known, product(*(range(height + 1) for height in found.heights))))


def _columns(searched: Searched) -> tuple[LatticeColumn, ...]:
    """The quasi-identifiers, those that are dropped last."""
    weights = dict(zip((c.name for c in searched.losses.columns), searched.losses.weights, strict=False))
    columns = []
    for place, hierarchy in enumerate(searched.hierarchies):
        made, names = searched.dictionaries.get(place), enumerate(hierarchy.level_names())
        column = LatticeColumn(
            hierarchy.column,
            hierarchy.height,
            tuple(f"{name} {level}" if name in ("listed", "SQL") else name for level, name in names),
            hierarchy.form,
            hierarchy.use.value,
            made.values if made else None,
            weights.get(hierarchy.column),
            hierarchy.examples(),
            hierarchy.by_default,
        )
        columns.append(column)
    return tuple(sorted(columns, key=lambda column: column.use == Use.DROP))


def _why(searched: Searched, top: LatticeNode) -> Iterator[str]:
    """Why even the coarsest node is not safe (Hsu, section 3.3: feasibility comes before any search)."""
    kept = [hierarchy.column for hierarchy in searched.hierarchies if hierarchy.use is Use.KEEP]
    for short in top.fails:
        about = f" for {short.sensitive}" if short.sensitive else ""
        if short.classes is None:
            yield f"{short.requirement}{about} fails even at the coarsest node."
        elif top.classes == 1:
            yield (
                f"{short.requirement}{about} fails even for all rows together, so no generalization can meet it: "
                f"{_feasibility(searched, short)}."
            )
        else:
            yield (
                f"{short.requirement}{about}: {short.classes:,} of {top.classes:,} classes with {short.rows:,} rows "
                "fail even at the coarsest node."
            )
    if kept and top.classes > 1:
        yield f"Unchanged at every node: {', '.join(kept)}. Give them a hierarchy, or drop them."


def _feasibility(searched: Searched, short: Shortfall) -> str:
    """What the whole table has of what is required."""
    if short.sensitive is None:
        return f"the table has {plural(searched.evaluator.rows, 'row')}"
    return f"{short.sensitive} has {plural(searched.values(short.sensitive), 'different value')}"
