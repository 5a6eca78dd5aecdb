"""A section of a lattice: the nodes in which some columns have one given level, searched as a lattice of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from sqlaudit.lattices.search.lattice import NodeAnswers, SearchOutcome, search_lattice
from sqlaudit.lattices.search.loss import BestNode, NodeLoss
from sqlaudit.lattices.verdicts import Node, Verdict


@dataclass(frozen=True)
class LatticeSection:
    """The nodes of a lattice in which some columns have one level.

    The search sees a lattice in which these columns have no level to choose, so safety and losses are inherited there
    as in the whole lattice.

    Args:
        whole: decides the nodes of the whole lattice.
        levels: the one level of each column; None where the search chooses.
    """

    whole: NodeAnswers
    levels: tuple[int | None, ...]

    @property
    def is_whole(self) -> bool:
        """True if no column has a given level."""
        return set(self.levels) <= {None}

    @property
    def heights(self) -> Node:
        """The highest level of every column in the search; 0 for one with a given level."""
        pairs = zip(self.whole.heights, self.levels, strict=True)
        return tuple(height if level is None else 0 for height, level in pairs)

    @property
    def monotone(self) -> bool:
        """True if every node coarser than a safe one is safe."""
        return self.whole.monotone

    @property
    def top(self) -> Node:
        """The coarsest node of the section, as a node of the whole lattice."""
        return self.outer(self.heights)

    def nodes(self) -> Iterator[Node]:
        """Yield the nodes of the section as nodes of the whole lattice, in the order of their levels."""
        return map(self.outer, product(*(range(height + 1) for height in self.heights)))

    def outer(self, node: Node) -> Node:
        """Return a node of the search as one of the whole lattice.

        A search through subsets of the columns leaves out a column without levels by putting it above its height.
        """
        columns = zip(node, self.levels, self.whole.heights, strict=True)
        return tuple(at if level is None else max(height, 1) if at else level for at, level, height in columns)

    def inner(self, node: Node) -> Node:
        """Return a node of the section as one of the search."""
        return tuple(at if level is None else 0 for at, level in zip(node, self.levels, strict=True))

    def decide(self, nodes: Sequence[Node]) -> list[Verdict]:
        """Return the verdicts of nodes of the search, in their order."""
        outer = list(dict.fromkeys(map(self.outer, nodes)))
        verdicts = dict(zip(outer, self.whole.decide(outer), strict=True))
        return [replace(verdicts[self.outer(node)], node=node) for node in nodes]

    def loss(self, loss: NodeLoss) -> NodeLoss:
        """Return the loss of nodes of the search from that of nodes of the whole lattice."""
        pairs, price = zip(loss.terms, self.levels, strict=True), loss.exact
        terms = [terms if level is None else [terms[level]] for terms, level in pairs]
        if price is None:
            return replace(loss, terms=terms)
        return replace(loss, terms=terms, exact=lambda nodes: price([self.outer(node) for node in nodes]))

    def search(self, find: str, *, loss: NodeLoss, **options: Any) -> SearchOutcome:
        """Search the section as `search_lattice` does; the nodes of the outcome are those of the whole lattice."""
        if self.is_whole:
            return search_lattice(self.whole, find, loss=loss, **options)
        outcome = search_lattice(self, find, loss=self.loss(loss), **options)
        best = outcome.best
        return replace(
            outcome,
            heights=tuple(self.whole.heights),
            minimal=tuple(map(self.outer, outcome.minimal)),
            best=BestNode(self.outer(best.node), best.loss) if best else None,
            walk=tuple(replace(verdict, node=self.outer(verdict.node)) for verdict in outcome.walk),
            is_safe=lambda node: outcome.is_safe(self.inner(node)) if node == self.outer(self.inner(node)) else None,
            safe_nodes=lambda: map(self.outer, outcome.safe_nodes()),
        )
