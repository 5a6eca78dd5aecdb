"""Which groups of classes satisfy what is required: many at a time, by the predicates of the models over their counts.

The same SQL decides nodes of the lattice. Groups with the same rows and counts are asked about once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlaudit.base.errors import UsageError
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.histogram import Packing
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices.attributes import LANES, Attribute, decides
from sqlaudit.lattices.evaluate import all_inherited
from sqlaudit.lattices.figures import NodeFigures
from sqlaudit.lattices.rollup import Chunk
from sqlaudit.models.judge import Asked
from sqlaudit.remedies.recode.classes import Flags
from sqlaudit.remedies.recode.trees import Integers

GROUPS = "sqlaudit_recode_groups"
_AT_ONCE = 200_000
"""Groups of one statement: the models' combinations are read for so many at most."""


@dataclass(frozen=True)
class Counted(Attribute):
    """A sensitive attribute whose counts are kept whatever is required: losses speak of them, too."""

    @property
    def counted(self) -> bool:
        """Whether there are values, and few enough for a word of counts each."""
        return self.table is not None and self.table.distinct <= LANES

    @property
    def presence_only(self) -> bool:
        """Always the whole counts."""
        return False

    @property
    def lanes(self) -> list[tuple[int, int, int]]:
        """(lane, number of its word, shift)."""
        packing: Packing = self.packing
        return [(lane, place, shift) for place, word in enumerate(packing.words) for lane, shift in word]


def counted(attributes: Sequence[Attribute]) -> list[Counted]:
    """The attributes with their counts kept.

    Raises:
        UsageError: what is required cannot be decided class by class, or has too many values.
    """
    for attribute in attributes:
        for item in attribute.asked:
            if decides(item):
                _refuse(item)
        if attribute.counted and attribute.table is not None and attribute.table.distinct > LANES:
            raise UsageError(
                f"{attribute.table.name} has {attribute.table.distinct:,} different values, and recode keeps the "
                f"counts of at most {LANES}; round or group it first."
            )
    return [Counted(one.position, one.resolved, one.table, one.asked) for one in attributes]


def _refuse(item: Asked) -> None:
    model, text = item.model, item.requirement.text
    if model.of_persons:
        raise UsageError(
            f"{text!r} is about what is known of persons with many rows, and recode takes tables with one row a "
            "person; use lattice."
        )
    if model.own_statements:
        raise UsageError(
            f"{text!r} compares classes with another table, and classes that are recoded one by one have no "
            "counterpart there; recode offers requirements that a class satisfies by itself. Use lattice."
        )
    if model.of_table:
        raise UsageError(
            f"{text!r} is about the whole table and not about single classes, so no class tells that it must be "
            "merged; use lattice, or a requirement on classes."
        )


def of_sizes(attributes: Sequence[Counted]) -> list[Counted]:
    """The same, with only those requirements that sizes of classes decide."""
    return [replace(one, asked=tuple(item for item in one.asked if _by_size(item))) for one in attributes]


def _by_size(item: Asked) -> bool:
    return decides(item) and not item.model.needs_sensitive and not item.model.facts()


class Judge:
    """Says which groups fall short.

    Args:
        workbench: where groups are judged. attributes: what is required of whom. rows: rows of the table.
        template: what asks; for tests.
    """

    def __init__(self, workbench: Engine, attributes: Sequence[Counted], rows: int) -> None:
        self._workbench = workbench
        self._names = [name for attribute in attributes for name, _ in attribute.words]
        self._figures = NodeFigures(workbench, attributes, rows, max(1, rows))
        self._known: dict[bytes, bool] = {}
        self.asked = 0
        self.decides = bool(self._figures.names())
        self.inherited = all_inherited(attributes, 0)
        self._reads = [bool(block.facts) for block in self._figures.blocks for _ in block.attribute.words]

    def short(self, sizes: Integers, words: Integers) -> Flags:
        """Which groups fall short, in their order.

        Args:
            sizes: rows of each. words: (groups × words) their counts.

        Raises:
            UsageError: more different groups than can be decided.
        """
        if not self.decides or not len(sizes):
            return np.zeros(len(sizes), dtype=bool)
        table = np.ascontiguousarray(np.column_stack([sizes, words * np.array(self._reads, dtype=np.int64)]))
        rows = table.view([("", table.dtype)] * table.shape[1]).ravel()
        _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
        keys = [row.tobytes() for row in table[first]]
        new = [place for place, key in enumerate(keys) if key not in self._known]
        for start in range(0, len(new), _AT_ONCE):
            some = new[start : start + _AT_ONCE]
            for place, verdict in zip(some, self._ask(table[first[some]]), strict=True):
                self._known[keys[place]] = verdict
        found = np.array([self._known[key] for key in keys], dtype=bool)
        return found[inverse.ravel()]

    def _ask(self, groups: Integers) -> list[bool]:
        """One statement for different groups."""
        self.asked += len(groups)
        columns = [(name, "BIGINT") for name in ("id", "g", "n", *self._names)]
        places = np.arange(len(groups))
        table = np.column_stack([np.zeros_like(places), places, groups])
        kept = self._workbench.keep_rows(GROUPS, columns, [list(map(tuple, table.tolist()))])
        given = self._figures.failing(Chunk(kept.sql, {0: ()}))
        statement = render(
            "remedies/recode/recode_short.sql",
            self._workbench.dialect,
            step="groups that fall short",
            grouped=Raw(kept.sql),
            **given,
        )
        found = [False] * len(groups)
        for (place,) in self._workbench.run(statement):
            found[int(place)] = True
        self._workbench.drop(GROUPS)
        return found
