"""The noise of range queries of nodes: how far the rows that a query means are from the class that it gets (Hsu, 4.5).

The source sums over all subsets of a class, which is out of reach. Random range queries draw such subsets: a hundred,
the same ones for every node, so that nodes differ by what they are and not by what was drawn. They are those that a
comparison of the release with its original draws unless it is told otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from sqlaudit.base.relation import Relation
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices.attributes import Attribute
from sqlaudit.lattices.checks import placed, prepared
from sqlaudit.lattices.coding import CodedColumn, KeyLayout
from sqlaudit.lattices.rollup import Chunk
from sqlaudit.lattices.variance import lane_counts
from sqlaudit.models.ranges import RangeQuery, random_ranges

MEASURE = "range-query-noise"
QUERIES, SEED = 100, 0
_AT_ONCE = 50
"""Queries of one statement."""
_RANKED = "sqlaudit_lattice_ranked"


class NodeNoise:
    """The measure `range-query-noise` of the nodes of chunks, with equal distances between sensitive values.

    Args:
        workbench: where the chunks lie. layout: the columns' places in the key. base: the finest classes, with the
            lanes of the attribute. attribute: the sensitive one. rows: rows of the table.
    """

    def __init__(self, workbench: Engine, layout: KeyLayout, base: Relation, attribute: Attribute, rows: int) -> None:
        self._workbench, self._layout, self._base = workbench, layout, base
        self._attribute, self._rows = attribute, rows
        self._kept: tuple[Relation, list[RangeQuery]] | None = None

    def of(
        self, chunks: Iterable[Chunk], masked: Callable[[Chunk], Relation], given: dict[str, Any]
    ) -> dict[int, dict[str, float]]:
        """The measure of the nodes of some chunks, by place and name.

        Args:
            chunks: of nodes. masked: makes the relation of their masks. given: which of their classes are left out.
        """
        ranked, queries = self._finest()
        found: dict[int, list[float]] = {}
        for chunk in chunks:
            nodes = masked(chunk)
            found |= {place: [] for place in chunk.nodes}
            for start in range(0, len(queries), _AT_ONCE):
                statement = prepared(
                    "lattices/lattice_part_noise.sql",
                    "noise of range queries",
                    key=self._layout.key,
                    ranked=Raw(ranked.sql),
                    nodes=Raw(nodes.sql),
                    places=list(range(1, len(self._layout.columns) + 1)),
                    queries=[query.parts() for query in queries[start : start + _AT_ONCE]],
                    rows=self._rows,
                    **given,
                )
                for place, noise in self._workbench.run(placed(statement, chunk.sql)):
                    found[int(place)].append(float(noise))
        scale = 2 * len(queries) * max(1, self._rows)
        return {place: {MEASURE: math.fsum(noises) / scale} for place, noises in found.items()}

    def _finest(self) -> tuple[Relation, list[RangeQuery]]:
        """The counts of values in the finest classes with the numbers of their values, and the queries."""
        if self._kept is None:
            counts = lane_counts(self._workbench, self._layout.key, self._base, self._attribute)
            statement = render(
                "lattices/lattice_ranked.sql",
                self._workbench.dialect,
                step="numbers of the values of the finest classes",
                counts=Raw(counts.sql),
                columns=[self._coded(column) for column in self._layout.columns],
            )
            ranked = self._workbench.materialize(_RANKED, statement)
            domains = list(enumerate(map(self._values, self._layout.columns), 1))
            self._kept = (ranked, random_ranges(QUERIES, SEED, domains))
        return self._kept

    def _coded(self, column: CodedColumn) -> dict[str, Any]:
        masks = column.masks(0, self._layout.words)
        return {"codes": Raw(column.codes.sql), "words": [(word, mask) for word, mask in enumerate(masks) if mask]}

    def _values(self, column: CodedColumn) -> int:
        """How many values a column has, without NULL."""
        statement = render(
            "lattices/lattice_values_known.sql",
            self._workbench.dialect,
            step="values of " + column.label,
            codes=Raw(column.codes.sql),
        )
        return int(self._workbench.run(statement)[0][0])
