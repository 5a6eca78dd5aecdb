"""What a recoding loses, by the measures of `compare`: each class is set beside its group, so that no row is read
again.

The measures are computed by the machinery of `compare`, from relations that it would have made of the two tables. Here
it is known which class went into which group, so that nothing has to be paired.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.relation import Relation
from sqlaudit.engines.contract import Engine
from sqlaudit.models.measures import NOISE, OF_RELEASES
from sqlaudit.release.compare.coding import (
    CodedPair,
    Covered,
    PairedAttribute,
    PairedColumn,
    distance_of,
    measured_cells,
)
from sqlaudit.release.compare.pairing import Bench
from sqlaudit.release.compare.regions import find_classes, find_regions
from sqlaudit.release.compare.result import Loss
from sqlaudit.release.losses import LossScene, LossView, column_costs, column_losses, in_order, view_losses
from sqlaudit.remedies.recode.reading import Counted, ReadTable
from sqlaudit.remedies.rewriting import Integers

PREFIX = "sqlaudit_recode_"
MANY = 20_000
"""Beyond so many classes, losses that compare each with many others are left out."""
TOO_MANY = f"left out beyond {MANY:,} classes: compare computes it from the published table"
MOST_MEMBERS = 5_000_000
TOO_WIDE = f"the cells stand for more than {MOST_MEMBERS:,} values together: compare computes it from the table"
_BATCH = 50_000


@dataclass(frozen=True)
class Cells:
    """The cells of one column: which one each group has, and what each stands for.

    Args:
        of_group: (groups) the number of its cell. kinds: of each cell `value`, `label`, `all` or `other`.
        levels: of each cell; of ranges 0.
        members: (cell, value): which values each stands for.
    """

    of_group: Integers
    kinds: tuple[str, ...]
    levels: tuple[int, ...]
    members: list[tuple[int, int]]


def node_cells(read: ReadTable, place: int, nodes: Integers) -> Cells:
    """The cells of groups that are published at nodes of the hierarchy."""
    tree = read.classes.trees[place]
    used, of_group = np.unique(nodes, return_inverse=True)
    levels = tree.level[used]
    kinds = tuple("value" if not level else "all" if level == tree.height else "label" for level in levels.tolist())
    members: list[tuple[int, int]] = []
    for level in np.unique(levels).tolist():
        above = tree.ancestors[level, : read.dictionaries[place].values]
        under = np.flatnonzero(np.isin(above, used))
        members += zip(np.searchsorted(used, above[under]).tolist(), under.tolist(), strict=True)
    return Cells(of_group.ravel(), kinds, tuple(levels.tolist()), members)


def range_cells(read: ReadTable, place: int, spans: Integers) -> Cells:
    """The cells of groups that are published as ranges of value numbers; (-1, -1) = any value."""
    tree, count = read.classes.trees[place], read.dictionaries[place].values
    used, of_group = np.unique(spans, axis=0, return_inverse=True)
    kinds, members = [], []
    for cell, (low, high) in enumerate(used.tolist()):
        kinds.append("all" if low < 0 else "value" if low == high else "other")
        members += [(cell, value) for value in (range(count) if low < 0 else range(low, high + 1))]
    levels = tuple(tree.height if kind == "all" else 0 for kind in kinds)
    return Cells(of_group.ravel(), tuple(kinds), levels, members)


def measured(
    workbench: Engine,
    engine: Engine,
    read: ReadTable,
    attributes: Sequence[Counted],
    groups: Integers,
    cells: Sequence[Cells],
    *,
    beta: Fraction,
    inputs: Mapping[str, Any],
    seed: int = 0,
) -> tuple[Loss, ...]:
    """The losses of a recoding, in the order of `compare`'s measures.

    Args:
        workbench, engine: where dictionaries and the table lie. read: the table. attributes: the sensitive ones.
        groups: of each class. cells: of each column. beta: of height weights. inputs: of distances. seed: of noise.
    """
    if sum(len(one.members) for one in cells) > MOST_MEMBERS:
        return tuple(Loss(name, None, None, why=TOO_WIDE) for name in OF_RELEASES)
    with closing(Bench(engine, workbench, prefix=PREFIX)) as bench:
        found = list(_Measuring(bench, read, groups, cells, beta, inputs, seed).losses(attributes))
    labels = [attribute.resolved.label for attribute in attributes if attribute.resolved]
    return tuple(in_order(found, OF_RELEASES.values(), labels, [made.hierarchy.column for made in read.dictionaries]))


@dataclass(frozen=True)
class _Measuring:
    """One recoding on one workbench."""

    bench: Bench
    read: ReadTable
    groups: Integers
    cells: Sequence[Cells]
    beta: Fraction
    inputs: Mapping[str, Any]
    seed: int

    def losses(self, attributes: Sequence[Counted]) -> Iterator[Loss]:
        """All losses; those of sensitive attributes one attribute after the other."""
        told: list[Counted | None] = [one for one in attributes if one.counted]
        for place, attribute in enumerate(told or [None]):
            yield from self._of(attribute, first=not place)

    def _of(self, attribute: Counted | None, *, first: bool) -> Iterator[Loss]:
        columns = list(map(self._column, range(len(self.cells))))
        sensitive = [] if attribute is None else [self._attribute(attribute, columns[0].cells)]
        source = self._rows(attribute)
        rows = self.read.classes.rows
        coded = CodedPair(tuple(columns), tuple(sensitive), source, source, True, rows, rows, rows)
        covered = measured_cells(self.bench, coded, [self._cover(place) for place in range(len(columns))])
        if first:
            costs = [column_costs(self.bench, coded, one, self.beta, 0) for one in covered]
            yield from column_losses(costs, [one for one in OF_RELEASES.values() if one.by == "cells"])
        yield from self._of_classes(coded, covered, first=first)
        self.bench.close()

    def _of_classes(self, coded: CodedPair, covered: Sequence[Covered], *, first: bool) -> Iterator[Loss]:
        wanted = [one for one in OF_RELEASES.values() if one.by != "cells" and (first or one.sensitive)]
        tuples, classes = find_classes(self.bench, coded, covered)
        few = len(self.groups) <= MANY
        regions = find_regions(self.bench, coded, covered, tuples, classes) if few else None
        view = LossView(None, "q", "c", tuple(covered), None if regions is None else regions.table)
        scene = LossScene(self.bench, coded, coded.original)
        attribute = coded.sensitive[0] if coded.sensitive else None
        distance = None if attribute is None else distance_of(self.bench, attribute, "equal", self.inputs)
        asked = wanted if few else [one for one in wanted if one.by != "noise"]
        for loss in view_losses(scene, view, attribute, distance, asked, 100, self.seed):
            yield loss if few or loss.value is not None or attribute is None else replace(loss, why=TOO_MANY)
        if not few:
            yield Loss(NOISE, None, None, sensitive=attribute.label if attribute else None, why=TOO_MANY)

    def _column(self, place: int) -> PairedColumn:
        made, cells = self.read.dictionaries[place], self.cells[place]
        rows = [
            (code, None, 0, None, kind, level, False)
            for code, (kind, level) in enumerate(zip(cells.kinds, cells.levels, strict=True), 1)
        ]
        columns = ("code", "t", "n", "number", "reading", "level", "is_common")
        kinds = ("INTEGER", "VARCHAR", "BIGINT", "BIGINT", "VARCHAR", "INTEGER", "BOOLEAN")
        types = list(zip(columns, kinds, strict=True))
        readings = self.bench.rows(f"readings_{place + 1}", types, rows)
        role: Resolved = self.read.table.roles.quasi_identifiers[place]
        return PairedColumn(made.hierarchy.column, place + 1, role, role, made, readings, len(rows) + 1)

    def _cover(self, place: int) -> Relation:
        types = [("cell", "INTEGER"), ("word", "INTEGER"), ("fits", "BOOLEAN"), ("is_exact", "BOOLEAN")]
        rows = [(cell + 1, value, True, False) for cell, value in self.cells[place].members]
        return self.bench.rows(f"cover_{place + 1}", types, rows)

    def _attribute(self, attribute: Counted, lanes: Relation) -> PairedAttribute:
        if attribute.resolved is None or attribute.table is None:
            raise ValueError("an attribute without values has no losses")
        role, values = attribute.resolved, attribute.table
        return PairedAttribute(role.label, 1, role, role, lanes, values, values.distinct - 1 if values.has_null else -1)

    def _rows(self, attribute: Counted | None) -> Relation:
        """Every class beside its group, for each sensitive value that occurs there."""
        numbers = np.arange(len(self.groups))
        places, lanes, rows = numbers, numbers[:0], self.read.classes.sizes
        if attribute is not None:
            places, lanes, rows = self.read.lanes[attribute.position]
        groups = self.groups[places]
        parts = [places, groups]
        names = ["q", "c"]
        for column, cells in enumerate(self.cells):
            parts += [self.read.values[places, column], cells.of_group[groups] + 1]
            names += [f"v{column + 1}", f"g{column + 1}"]
        if attribute is not None:
            parts += [lanes, lanes]
            names += ["s1", "z1"]
        table = np.column_stack([*parts, rows])
        batches = (list(map(tuple, table[start : start + _BATCH].tolist())) for start in range(0, len(table), _BATCH))
        name = self.bench.prefix + "rows"
        made = self.bench.workbench.keep_rows(name, [(name, "BIGINT") for name in (*names, "n")], batches)
        self.bench.kept["rows"] = made
        return made
