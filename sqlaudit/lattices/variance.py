"""Losses of nodes that look at a sensitive attribute: how far classes are from the table, before and after (Hsu, 4.4).

Distances are the earth mover's with equal ones between values, from counts that the finest classes hold in lanes. The
sums of distances are whole numbers, so that what must not fall from one node to a coarser one does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from sqlaudit.base.relation import Relation
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices.attributes import Attribute
from sqlaudit.lattices.checks import placed, prepared
from sqlaudit.lattices.rollup import Chunk

_COUNTS = "sqlaudit_lattice_lane_counts"
_TUPLES = "sqlaudit_lattice_tuple_distances"
_HALF = Fraction(1, 2)
"""What a difference of shares weighs, where all values are equally far apart."""


def lane_counts(workbench: Engine, key: Sequence[str], base: Relation, attribute: Attribute) -> Relation:
    """The counts of sensitive values in the finest classes, on the workbench: key, lane, c, and part of the table."""
    packing = attribute.packing
    words = zip(attribute.words, packing.words, strict=True)
    unpacked = render(
        "lattices/lattice_lane_counts.sql",
        workbench.dialect,
        step="sensitive values of the finest classes",
        key=list(key),
        base=Raw(base.sql),
        lanes=[(lane, name, shift) for (name, _), word in words for lane, shift in word],
        mask=2**packing.bits - 1,
    )
    return workbench.materialize(_COUNTS, unpacked)


class NodeVariance:
    """The measures `variance-loss`, `hybrid` and `hybrid-log` of the nodes of chunks.

    Args:
        workbench: where the chunks lie. key: the words of the key. base: the finest classes, with the lanes of the
            attribute. attribute: the sensitive one. rows: rows of the table.
    """

    def __init__(self, workbench: Engine, key: list[str], base: Relation, attribute: Attribute, rows: int) -> None:
        self._workbench, self._key, self._base = workbench, key, base
        self._attribute, self._rows = attribute, rows
        self._kept: tuple[Relation, Relation, int] | None = None

    def of(
        self, chunks: Iterable[Chunk], masked: Callable[[Chunk], Relation], given: dict[str, Any]
    ) -> dict[int, dict[str, float]]:
        """The measures of the nodes of some chunks, by place and name.

        Args:
            chunks: of nodes. masked: makes the relation of their masks. given: which of their classes are left out.
        """
        counts, tuples, before = self._finest()
        found: dict[int, dict[str, float]] = {}
        for chunk in chunks:
            statement = prepared(
                "lattices/lattice_part_distances.sql",
                "distances of classes",
                key=self._key,
                counts=Raw(counts.sql),
                tuples=Raw(tuples.sql),
                nodes=Raw(masked(chunk).sql),
                rows=self._rows,
                **given,
            )
            for place, after, hybrid, hybrid_log in self._workbench.run(placed(statement, chunk.sql)):
                scale = _HALF / self._rows
                found[int(place)] = {
                    "variance-loss": float((before - int(after)) * scale),
                    "hybrid": float(hybrid) * float(scale),
                    "hybrid-log": float(hybrid_log) * float(scale),
                }
        return found

    def _finest(self) -> tuple[Relation, Relation, int]:
        """Counts of values, distances of the finest classes, and the sum of these."""
        if self._kept is None:
            dialect = self._workbench.dialect
            counts = lane_counts(self._workbench, self._key, self._base, self._attribute)
            measured = render(
                "lattices/lattice_tuple_distances.sql",
                dialect,
                step="distances of the finest classes",
                key=self._key,
                counts=Raw(counts.sql),
                rows=self._rows,
            )
            tuples = self._workbench.materialize(_TUPLES, measured)
            whole = render("lattices/lattice_distance.sql", dialect, step="distance", tuples=Raw(tuples.sql))
            self._kept = (counts, tuples, int(self._workbench.run(whole)[0][0]))
        return self._kept
