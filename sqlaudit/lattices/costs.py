"""What each column costs at each of its levels, from the dictionary of its values.

The leaves under a label are those that the hierarchy lists, where it lists its values; else the different values of
the table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlaudit.base.relation import Relation
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices.losses import ColumnCosts
from sqlaudit.lattices.verdicts import CellWeight
from sqlaudit.models.measures import Measure

TOP = "*"
Listed = Mapping[int, Mapping[str | None, int]]
"""For each level how many of a hierarchy's own values lie under each of its labels; level 0 has one entry a value."""


@dataclass(frozen=True)
class Label:
    """A label of one level: rows and different values of the table under it, the entropy among these in bits, and of
    numbers the width; None where none is under it."""

    level: int
    text: str | None
    rows: int
    values: int
    entropy: float
    width: float | None = None


@dataclass(frozen=True)
class CostedColumn:
    """A column as its costs need it.

    Args:
        name: the column. height: its highest level, 0 for a column that is kept as it is.
        labels: those of the levels between, and last the whole column. listed: the values that its hierarchy lists.
        numeric: whether the column holds numbers, so that labels have widths.
    """

    name: str
    height: int
    labels: Sequence[Label]
    listed: Listed | None = None
    numeric: bool = False

    @property
    def leaves(self) -> int:
        """The values that * stands for."""
        values = self.labels[-1].values if self.labels else 0
        return values if self.listed is None else max(values, sum(self.listed.get(0, {}).values()))

    def leaves_under(self, label: Label) -> int:
        """The values that a label may stand for."""
        if label.level == self.height:
            return self.leaves
        listed = None if self.listed is None else self.listed.get(label.level, {}).get(label.text)
        if listed is None:
            return self.leaves if label.text == TOP else label.values
        return listed


@dataclass(frozen=True)
class CostTable:
    """The costs of all columns, and those of single labels, which rows that are suppressed no longer cost."""

    columns: tuple[ColumnCosts, ...]
    labels: tuple[CellWeight, ...]


def labels_of(workbench: Engine, dictionary: Relation, height: int, *, numeric: bool = False) -> list[Label]:
    """The labels of the levels between the values and the top, and last * for the whole column; none for no row.

    Args:
        workbench: what holds the dictionary. dictionary: (row_count, l1, l2, ...), one row a value.
        height: the column's highest level, 0 for a column that is kept as it is.
        numeric: whether the dictionary has numbers in a column v.
    """
    statement = render(
        "lattices/lattice_costs.sql",
        workbench.dialect,
        step="labels of a column",
        dictionary=Raw(dictionary.sql),
        levels=list(range(1, height)),
        top=height,
        numeric=numeric,
    )
    return [
        Label(int(level), text, int(rows), int(values), max(0.0, math.log2(rows) - float(bits) / rows), width)
        for level, text, rows, values, bits, width in workbench.run(statement)
    ]


def cost_table(measure: Measure, rows: int, columns: Sequence[CostedColumn], beta: Fraction = Fraction(1)) -> CostTable:
    """The costs of columns and labels under a measure, over a table of so many rows; `beta` of height weights."""
    weights = []
    if measure.cell in _OF_LABELS:
        weights = [
            CellWeight(position, one.level, one.text, _cost(measure, column, one, rows))
            for position, column in enumerate(columns)
            for one in column.labels
            if 0 < one.level < column.height
        ]
    return CostTable(tuple(_column(measure, column, rows, beta) for column in columns), tuple(weights))


_OF_LABELS = ("leaves", "entropy", "monotone_entropy", "redacted", "spread")
"""Costs of cells that their label decides, and not their level alone."""


def risen(height: int, beta: Fraction) -> tuple[float, ...]:
    """For each level the weighted hierarchical distance from the values, 0 to 1; weights 1/(j−1)^beta, j from the root.

    Example:
        >>> risen(2, Fraction(0)), [round(one, 4) for one in risen(5, Fraction(1))][3]
        ((0.0, 0.5, 1.0), 0.3431)
    """
    steps = [math.pow(level, -float(beta)) for level in range(height, 0, -1)]
    return tuple(math.fsum(steps[:level]) / math.fsum(steps) if steps else 0.0 for level in range(height + 1))


def _of_level(measure: Measure, height: int, beta: Fraction) -> tuple[float, ...] | None:
    """What a cell of each level costs, where the level alone decides."""
    if measure.cell == "changed":
        return tuple(float(level > 0) for level in range(height + 1))
    if measure.cell in ("risen", "risen_by_weight"):
        return risen(height, beta if measure.cell == "risen_by_weight" else Fraction(0))
    return None


def _column(measure: Measure, column: CostedColumn, rows: int, beta: Fraction) -> ColumnCosts:
    height = column.height
    levels = _of_level(measure, height, beta)
    if levels is not None:
        return ColumnCosts(column.name, height, tuple(rows * cost for cost in levels), 0.0, 1.0)
    if measure.cell == "level":
        kept = tuple(rows * level / height if height else 0.0 for level in range(height + 1))
        return ColumnCosts(column.name, height, kept, 0.0, 1.0)
    value = 1.0 if measure.cell == "leaves" else 0.0
    sums = [rows * value] + [0.0] * height
    for one in column.labels:
        if one.level:
            sums[one.level] += one.rows * _cost(measure, column, one, rows)
    suppressed = _cost(measure, column, column.labels[-1], rows) if column.labels else 0.0
    return ColumnCosts(column.name, height, tuple(sums), value, suppressed, column.leaves)


def _cost(measure: Measure, column: CostedColumn, label: Label, rows: int) -> float:
    """What a cell with this label costs; bits of single values are summed up as the entropy of their cell."""
    if measure.cell == "leaves":
        return column.leaves_under(label)
    if measure.cell == "redacted":
        return float(label.level == column.height or label.text == TOP or label.values == column.labels[-1].values)
    if measure.cell == "spread":
        return _spread(column, column.labels[-1] if label.text == TOP else label)
    share = label.rows / rows if measure.cell == "monotone_entropy" else 1.0
    return share * label.entropy if measure.cell else 0.0


def _spread(column: CostedColumn, label: Label) -> float:
    """The width of the values under a label over that of the column; of values that are no numbers, how many of the
    column's values these are, 0 for a single one."""
    whole = column.labels[-1]
    if column.numeric:
        return (label.width or 0.0) / whole.width if whole.width and math.isfinite(whole.width) else 0.0
    return label.values / whole.values if label.values > 1 else 0.0
