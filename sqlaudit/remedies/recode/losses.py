"""Measure the information loss of a recoding by the measures of `compare`, without reading rows again.

The code of `compare` computes the measures from relations that it would have made of the two tables. Here the group of
each class is known, so that rows need not be paired.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction

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
from sqlaudit.remedies.recode.reading import CountedAttribute, ReadTable
from sqlaudit.remedies.rewriting import Integers

PREFIX = "sqlaudit_recode_"
MOST_CLASSES = 20_000
"""Number of classes up to which losses are measured that compare each class with many others."""
TOO_MANY_CLASSES = f"left out beyond {MOST_CLASSES:,} classes: compare computes it from the published table"
MOST_MEMBERS = 5_000_000
TOO_WIDE = f"the cells stand for more than {MOST_MEMBERS:,} values together: compare computes it from the table"


@dataclass(frozen=True)
class Cells:
    """The cells of one column: the cell of each group, and the values that each cell stands for.

    Args:
        of_group: (groups) the number of each group's cell.
        kinds: the kind of each cell: `value`, `label`, `all` or `other`.
        levels: the level of each cell, 0 for ranges.
        members: (cell, value) for each value that a cell stands for.
    """

    of_group: Integers
    kinds: tuple[str, ...]
    levels: tuple[int, ...]
    members: list[tuple[int, int]]


def node_cells(read: ReadTable, column: int, nodes: Integers) -> Cells:
    """Return the cells of groups that are published at nodes of the hierarchy."""
    tree = read.classes.trees[column]
    used, of_group = np.unique(nodes, return_inverse=True)
    levels = tree.level[used]
    kinds = tuple("value" if not level else "all" if level == tree.height else "label" for level in levels.tolist())
    members: list[tuple[int, int]] = []
    for level in np.unique(levels).tolist():
        above = tree.ancestors[level, : read.dictionaries[column].values]
        values_below = np.flatnonzero(np.isin(above, used))
        members += zip(np.searchsorted(used, above[values_below]).tolist(), values_below.tolist(), strict=True)
    return Cells(of_group.ravel(), kinds, tuple(levels.tolist()), members)


def range_cells(read: ReadTable, column: int, spans: Integers) -> Cells:
    """Return the cells of groups that are published as ranges of value numbers; (-1, -1) = any value."""
    tree, count = read.classes.trees[column], read.dictionaries[column].values
    used, of_group = np.unique(spans, axis=0, return_inverse=True)
    kinds, members = [], []
    for cell, (low, high) in enumerate(used.tolist()):
        kinds.append("all" if low < 0 else "value" if low == high else "other")
        members += [(cell, value) for value in (range(count) if low < 0 else range(low, high + 1))]
    levels = tuple(tree.height if kind == "all" else 0 for kind in kinds)
    return Cells(of_group.ravel(), tuple(kinds), levels, members)


def measure_losses(
    workbench: Engine,
    engine: Engine,
    read: ReadTable,
    attributes: Sequence[CountedAttribute],
    groups: Integers,
    cells: Sequence[Cells],
    *,
    beta: Fraction,
    inputs: Mapping[str, object],
    noise: bool,
) -> tuple[Loss, ...]:
    """Return the losses of a recoding, in the order of `compare`'s measures.

    Args:
        workbench, engine: the engines with the dictionaries and with the table.
        read: the table.
        attributes: the sensitive attributes.
        groups: the group of each class.
        cells: the cells of each column.
        beta: the exponent of the weights of heights.
        inputs: further inputs of distances.
        noise: whether to measure the noise of range queries, which takes as long as several other losses together.
    """
    if sum(len(column_cells.members) for column_cells in cells) > MOST_MEMBERS:
        return tuple(Loss(name, None, None, why=TOO_WIDE) for name in OF_RELEASES)
    with closing(Bench(engine, workbench, prefix=PREFIX)) as bench:
        losses = list(_LossMeasurement(bench, read, groups, cells, beta, inputs, noise).losses(attributes))
    labels = [attribute.resolved.label for attribute in attributes if attribute.resolved]
    return tuple(
        in_order(
            losses, OF_RELEASES.values(), labels, [dictionary.hierarchy.column for dictionary in read.dictionaries]
        )
    )


@dataclass(frozen=True)
class _LossMeasurement:
    """The measurement of one recoding on one workbench."""

    bench: Bench
    read: ReadTable
    groups: Integers
    cells: Sequence[Cells]
    beta: Fraction
    inputs: Mapping[str, object]
    noise: bool

    def losses(self, attributes: Sequence[CountedAttribute]) -> Iterator[Loss]:
        """Yield all losses; those of sensitive attributes one attribute after the other."""
        with_counts: list[CountedAttribute | None] = [candidate for candidate in attributes if candidate.counted]
        for number, attribute in enumerate(with_counts or [None]):
            yield from self._losses_of_attribute(attribute, first=not number)

    def _losses_of_attribute(self, attribute: CountedAttribute | None, *, first: bool) -> Iterator[Loss]:
        """Yield the losses that depend on a sensitive attribute, and for the first one those of the cells, too."""
        columns = list(map(self._paired_column, range(len(self.cells))))
        sensitive = [] if attribute is None else [self._paired_attribute(attribute, columns[0].cells)]
        source = self._paired_rows(attribute)
        rows = self.read.classes.rows
        coded = CodedPair(tuple(columns), tuple(sensitive), source, source, True, rows, rows, rows)
        covered = measured_cells(self.bench, coded, [self._cell_members(column) for column in range(len(columns))])
        if first:
            costs = [column_costs(self.bench, coded, column_cells, self.beta, 0) for column_cells in covered]
            yield from column_losses(costs, [measure for measure in OF_RELEASES.values() if measure.by == "cells"])
        yield from self._losses_by_class(coded, covered, first=first)
        self.bench.close()

    def _losses_by_class(self, coded: CodedPair, covered: Sequence[Covered], *, first: bool) -> Iterator[Loss]:
        """Yield the losses that are measured class by class."""
        measures = [
            measure for measure in OF_RELEASES.values() if measure.by != "cells" and (first or measure.sensitive)
        ]
        tuples, classes = find_classes(self.bench, coded, covered)
        is_small = len(self.groups) <= MOST_CLASSES
        regions = find_regions(self.bench, coded, covered, tuples, classes) if is_small else None
        view = LossView(None, "q", "c", tuple(covered), None if regions is None else regions.table)
        scene = LossScene(self.bench, coded, coded.original)
        attribute = coded.sensitive[0] if coded.sensitive else None
        distance = None if attribute is None else distance_of(self.bench, attribute, "equal", self.inputs)
        with_noise = is_small and self.noise
        possible_measures = [measure for measure in measures if with_noise or measure.by != "noise"]
        for loss in view_losses(scene, view, attribute, distance, possible_measures, 100, 0):
            yield (
                loss if is_small or loss.value is not None or attribute is None else replace(loss, why=TOO_MANY_CLASSES)
            )
        if not with_noise:
            why = TOO_MANY_CLASSES if self.noise else "it is measured only if it is the first loss"
            yield Loss(NOISE, None, None, sensitive=attribute.label if attribute else None, why=why)

    def _paired_column(self, column: int) -> PairedColumn:
        """Return a column as `compare` codes it, with the kinds and levels of its cells."""
        dictionary, cells = self.read.dictionaries[column], self.cells[column]
        rows = [
            (code, None, 0, None, kind, level, False)
            for code, (kind, level) in enumerate(zip(cells.kinds, cells.levels, strict=True), 1)
        ]
        columns = ("code", "t", "n", "number", "reading", "level", "is_common")
        kinds = ("INTEGER", "VARCHAR", "BIGINT", "BIGINT", "VARCHAR", "INTEGER", "BOOLEAN")
        types = list(zip(columns, kinds, strict=True))
        readings = self.bench.rows(f"readings_{column + 1}", types, rows)
        role: Resolved = self.read.table.roles.quasi_identifiers[column]
        return PairedColumn(dictionary.hierarchy.column, column + 1, role, role, dictionary, readings, len(rows) + 1)

    def _cell_members(self, column: int) -> Relation:
        """Return the relation of the values that each cell of a column stands for."""
        types = [("cell", "INTEGER"), ("word", "INTEGER"), ("fits", "BOOLEAN"), ("is_exact", "BOOLEAN")]
        rows = [(cell + 1, value, True, False) for cell, value in self.cells[column].members]
        return self.bench.rows(f"cover_{column + 1}", types, rows)

    def _paired_attribute(self, attribute: CountedAttribute, lanes: Relation) -> PairedAttribute:
        """Return a sensitive attribute as `compare` codes it."""
        if attribute.resolved is None or attribute.table is None:
            raise ValueError("an attribute without values has no losses")
        role, values = attribute.resolved, attribute.table
        return PairedAttribute(role.label, 1, role, role, lanes, values, values.distinct - 1 if values.has_null else -1)

    def _paired_rows(self, attribute: CountedAttribute | None) -> Relation:
        """Return the relation of every class with its group, for each sensitive value that occurs in the class."""
        numbers = np.arange(len(self.groups))
        classes, lanes, rows = numbers, numbers[:0], self.read.classes.sizes
        if attribute is not None:
            classes, lanes, rows = self.read.lanes[attribute.position]
        groups = self.groups[classes]
        parts = [classes, groups]
        names = ["q", "c"]
        for column, cells in enumerate(self.cells):
            parts += [self.read.values[classes, column], cells.of_group[groups] + 1]
            names += [f"v{column + 1}", f"g{column + 1}"]
        if attribute is not None:
            parts += [lanes, lanes]
            names += ["s1", "z1"]
        table = dict(zip([*names, "n"], [*parts, rows], strict=True))
        relation = self.bench.workbench.keep_frame(self.bench.prefix + "rows", table)
        self.bench.kept["rows"] = relation
        return relation
