"""Worst-case disclosure of many nodes: most are settled in the database, the rest by the program over signatures.

With k pieces of knowledge somebody is certain as soon as a class has at most k + 1 different values, and negated atoms
alone (the l-diversity attacker) never disclose more than all knowledge does. Both are facts of single classes, so that
the database finds most unsafe nodes; only what is left has its signatures read. Source: Martin et al., Worst-Case
Background Knowledge, sections 3.2 to 3.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sqlaudit.base.result import Number
from sqlaudit.classes.facts import Fact
from sqlaudit.classes.signatures import Signatures
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices.attributes import Attribute
from sqlaudit.lattices.checks import AttributeBlock, placed, prepared
from sqlaudit.lattices.rollup import Chunk
from sqlaudit.models.base import Context, expression
from sqlaudit.models.disclosure.program import maximum_disclosure
from sqlaudit.models.diversity import DISTINCT, LARGEST, EntropyDiversity, head
from sqlaudit.models.judge import Asked


@dataclass(frozen=True)
class NodeDisclosure:
    """One requirement on worst-case disclosure, asked of many nodes.

    Args:
        workbench: where the classes lie. attribute: the sensitive attribute. item: the requirement.
        wide: the type in which products of counts fit.
    """

    workbench: Engine
    attribute: Attribute
    item: Asked
    wide: str

    @property
    def knowledge(self) -> int:
        """How many pieces of knowledge decide."""
        return self.item.model.knowledge()

    @property
    def limit(self) -> Fraction:
        """What disclosure must stay below."""
        return Fraction(self.item.model.required or 0)

    def failing(self, chunk: Chunk) -> dict[int, Number | None]:
        """The nodes whose maximum disclosure reaches the limit, with it; None where a bound was enough."""
        left = list(chunk.nodes)
        found: dict[int, Number | None] = {}
        for place in self._settled(chunk, left, (DISTINCT,), ""):
            found[place] = 1
        left = [place for place in left if place not in found]
        for place in self._settled(chunk, left, self._bound_facts(), self._bound()):
            found[place] = None
        left = [place for place in left if place not in found]
        for place, signatures in self._signatures(chunk, left):
            level = maximum_disclosure(signatures, self.knowledge)[self.knowledge].maximum
            if level >= self.limit:
                found[place] = level
        return found

    def _settled(self, chunk: Chunk, places: Sequence[int], facts: Sequence[Fact], reached: str) -> list[int]:
        """The nodes that facts of single classes show to be unsafe."""
        if not places:
            return []
        statement = prepared(
            "lattices/lattice_disclosed.sql",
            "certain disclosure",
            block=self._block(facts),
            ids=list(places),
            reached=reached,
        )
        rows = self.workbench.run(placed(statement, chunk.sql))
        if reached:
            return [int(place) for place, classes in rows if classes]
        return [int(place) for place, fewest in rows if fewest <= self.knowledge + 1]

    def _bound_facts(self) -> tuple[Fact, ...]:
        return (LARGEST, head(self.knowledge + 1))

    def _bound(self) -> str:
        """SQL: the negated atoms' disclosure r1 / (n − r2 − … − r(k+1)) reaches the limit."""
        rest = f"(n - {head(self.knowledge + 1).name} + largest)"
        return expression("reaches", count="largest", rest=rest, limit=self.limit) if self.limit else "TRUE"

    def _signatures(self, chunk: Chunk, places: Sequence[int]) -> list[tuple[int, Signatures]]:
        if not places:
            return []
        of_chunk = {place: chunk.nodes[place] for place in places}
        return signatures_of(self.workbench, self.attribute, self.wide, Chunk(chunk.sql, of_chunk), self.knowledge)

    def _block(self, facts: Sequence[Fact]) -> dict[str, object]:
        return AttributeBlock(self.attribute, tuple(facts), ()).shown(self.wide)


def signatures_of(
    workbench: Engine, attribute: Attribute, wide: str, chunk: Chunk, knowledge: int
) -> list[tuple[int, Signatures]]:
    """The signatures of the nodes of a chunk by their ids, for up to so many pieces of knowledge.

    Args:
        workbench: where the classes lie. attribute: the sensitive attribute. wide: the type in which products of counts
            fit. chunk: the nodes. knowledge: not more than the attribute has values.
    """
    depth = min(knowledge + 1, attribute.table.distinct if attribute.table else 1)
    top = Fact("top_counts", "top", {"count": depth})
    statement = prepared(
        "lattices/lattice_signatures.sql",
        "signatures of nodes",
        block=AttributeBlock(attribute, (top,), ()).shown(wide),
        ids=list(chunk.nodes),
        depth=depth,
    )
    place, n, *counts, classes = workbench.columns_as_arrays(placed(statement, chunk.sql)).values()
    counts += [np.zeros_like(n)] * (knowledge + 1 - depth)
    starts = np.flatnonzero(np.concatenate([[True], place[1:] != place[:-1]]))
    ends = [*starts[1:], len(place)]
    return [
        (int(place[a]), Signatures.from_columns([column[a:b] for column in (n, *counts, classes)]))
        for a, b in zip(starts, ends, strict=True)
    ]


def entropies_of(workbench: Engine, attribute: Attribute, wide: str, chunk: Chunk) -> dict[int, float]:
    """exp(entropy) of the class that has the least, by the ids of a chunk's nodes."""
    model = EntropyDiversity({}, Context(attribute.table, 0))
    statement = prepared(
        "lattices/lattice_entropies.sql",
        "entropies of nodes",
        block=AttributeBlock(attribute, model.facts(), ()).shown(wide),
        ids=list(chunk.nodes),
        level=model.levels()["l"].expression,
    )
    return {int(place): float(least) for place, least in workbench.run(placed(statement, chunk.sql))}
