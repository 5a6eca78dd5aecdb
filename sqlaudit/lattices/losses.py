"""What a node of the lattice costs: the information that its generalization and its suppressed rows take away.

Every measure is a loss, smaller is better. Losses of cells add up column by column, so they need little of a node:
what each column costs at its level when no row is suppressed, and, for the suppressed rows, what their cells would
have cost. `LossParts` is what the database says of a node; the rest is arithmetic.

The leaves under a label are those that the hierarchy lists, where it lists its values; else the different values of
the table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sqlaudit.base.errors import OutOfRange, UsageError
from sqlaudit.base.names import closest_column
from sqlaudit.base.parameter_names import about
from sqlaudit.base.relation import Relation
from sqlaudit.base.sql import render
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices.verdicts import CellWeight, LossParts, Node
from sqlaudit.models.measures import OF_NODES, Measure

TOP = "*"
_SHARES = ("level", "changed")
"""Costs of which a loss is the mean over all cells."""
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
class ColumnCosts:
    """What one column costs under a measure.

    Args:
        name: the column. height: its highest level; 0 = it is kept as it is.
        kept: for each level from 0 on, the sum over all rows of the cost of their cell.
        value: what a cell at level 0 costs. suppressed: what the cell of a suppressed row costs.
        leaves: the values that a cell may stand for, those included that only the hierarchy knows.
    """

    name: str
    height: int
    kept: tuple[float, ...]
    value: float = 0.0
    suppressed: float = 0.0
    leaves: int = 0


@dataclass(frozen=True)
class Losses:
    """Losses of nodes under one measure over one table.

    Args:
        measure: the measure. rows: rows of the table. columns: what each column costs, in the order of a node.
        weights: of the columns, in their order; empty = all equal. labels: what cells with one label cost.

    Raises:
        UsageError: weights for a measure that knows no columns.

    Example:
        >>> age = ColumnCosts("age", 2, (4, 8, 12), 1, 3, leaves=3)
        >>> sex = ColumnCosts("sex", 1, (4, 8), 1, 2, leaves=2)
        >>> losses = Losses(OF_NODES["loss"], 4, (age, sex))
        >>> losses.whole((0, 0)), round(losses.whole((1, 0)), 6), round(losses.whole((2, 1)), 6)
        (0.0, 0.224745, 1.0)
    """

    measure: Measure
    rows: int
    columns: tuple[ColumnCosts, ...]
    weights: tuple[Fraction, ...] = ()
    labels: tuple[CellWeight, ...] = ()

    def __post_init__(self) -> None:
        if self.weights and not self.measure.separable:
            raise UsageError(
                f"{self.measure.name} counts classes, not columns, so weights do not apply. "
                f"They apply to {', '.join(name for name, one in OF_NODES.items() if one.separable)}."
            )

    def of(self, parts: LossParts) -> float:
        """The loss of a node, the rows in failing classes suppressed."""
        if self.measure.name in parts.figures:
            return parts.figures[self.measure.name]
        if not self.measure.separable:
            return _OF_CLASSES[self.measure.name](parts)
        return self._sum(parts.node, parts if parts.failing_rows else None)

    @property
    def wanted(self) -> frozenset[str]:
        """Return what has to be counted besides classes: `bits`, `tuples` or `inflation`; see `LossParts`."""
        measure = self.measure
        wanted = {"bits": measure.cell == "size_bits", "inflation": measure.by == "pairs"}
        wanted["tuples"] = measure.name == "entropy-volume-inflation"
        return frozenset(name for name, is_wanted in wanted.items() if is_wanted)

    @property
    def of_classes(self) -> bool:
        """True if the classes of a node give its loss: their keys and sizes, and which of them fail."""
        return not self.wanted and not self.measure.sensitive

    def whole(self, node: Node) -> float:
        """The loss of a node when no row is suppressed; for `bounded` measures a lower bound of the loss otherwise.

        Raises:
            ValueError: the measure counts classes, so levels do not tell.
        """
        if not self.measure.separable:
            raise ValueError(self.measure.name)
        return self._sum(node, None)

    def terms(self) -> list[list[float]]:
        """For each column and level a number whose sum over the columns orders the nodes as their losses do, without
        suppressed rows; it never falls from one level to the next when the measure is monotone."""
        return [
            [self._term(position, level) for level in range(column.height + 1)]
            for position, column in enumerate(self.columns)
        ]

    def transform(self, total: Any) -> Any:
        """The loss of nodes from the sums of their terms: a number or a numpy array."""
        weight = float(sum(self.weights) if self.weights else len(self.columns)) or 1.0
        if self.measure.cell == "leaves":
            return np.expm1(total / weight)
        return total / weight if self.measure.cell in _SHARES else total

    def _sum(self, node: Node, parts: LossParts | None) -> float:
        """The loss of a node; `parts` of one in which rows are suppressed."""
        added = [self._added(position, parts) if parts else 0.0 for position, _ in enumerate(self.columns)]
        terms = (self._term(position, *two) for position, two in enumerate(zip(node, added, strict=True)))
        return float(self.transform(math.fsum(terms)))

    def _added(self, position: int, parts: LossParts) -> float:
        """By how much more the suppressed rows cost than their cells would."""
        column, level = self.columns[position], parts.node[position]
        if not self.measure.cell:
            return 0.0
        if self.measure.cell == "size_bits":
            return parts.failing_bits_at_top[position] - parts.failing_bits[position]
        if self.measure.cell == "level":
            return parts.failing_rows * (1 - (level / column.height if column.height else 0.0))
        if self.measure.cell in _OF_LEVELS:
            return parts.failing_rows * (column.suppressed - (column.kept[level] / self.rows if self.rows else 0.0))
        cells: float = parts.failing_rows * (column.value if level == 0 else column.suppressed)
        if 0 < level < column.height:
            cells = parts.failing_weights[position]
        return parts.failing_rows * column.suppressed - cells

    def _scaled(self, column: ColumnCosts, cost: float) -> float:
        """Return what the column adds: for shares a number between 0 and 1, else bits or levels."""
        if self.measure.cell not in ("leaves", *_SHARES):
            return cost
        if not self.rows:
            return 0.0
        if self.measure.cell in _SHARES:
            return cost / self.rows
        # (x - 1/L) / (1 - 1/L) for x = cost / (rows L), in whole numbers as long as it can be
        return (cost - self.rows) / (self.rows * (column.leaves - 1)) if column.leaves > 1 else 0.0

    def _term(self, position: int, level: int, added: float = 0.0) -> float:
        """Return what a column at a level adds to the sum that the loss follows from."""
        column = self.columns[position]
        scaled = self._scaled(column, (column.kept[level] if self.measure.cell else level) + added)
        weight = float(self.weights[position]) if self.weights else 1.0
        return weight * (math.log1p(scaled) if self.measure.cell == "leaves" else scaled)


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
        dictionary=dictionary,
        levels=list(range(1, height)),
        top=height,
        numeric=numeric,
    )
    return [
        Label(int(level), text, int(rows), int(values), max(0.0, math.log2(rows) - float(bits) / rows), width)
        for level, text, rows, values, bits, width in workbench.run(statement)
    ]


def costs_of(
    measure: Measure, rows: int, columns: Sequence[CostedColumn], beta: Fraction = Fraction(1)
) -> tuple[tuple[ColumnCosts, ...], tuple[CellWeight, ...]]:
    """The costs of all columns over a table of so many rows, and those of single labels, which rows that are
    suppressed no longer cost; `beta` of height weights."""
    weights: list[CellWeight] = []
    if measure.cell not in ("", "size_bits", *_OF_LEVELS):
        of_label = _OF_LABELS[measure.cell]
        weights = [
            CellWeight(position, one.level, one.text, of_label(column, one))
            for position, column in enumerate(columns)
            for one in column.labels
            if 0 < one.level < column.height
        ]
    return tuple(_costs_of_column(measure, column, rows, beta) for column in columns), tuple(weights)


def _costs_of_column(measure: Measure, column: CostedColumn, rows: int, beta: Fraction) -> ColumnCosts:
    """Return the loss of a column at every level, and of a value and a suppressed cell."""
    height = column.height
    if measure.cell in _OF_LEVELS:
        kept = tuple(float(rows * cost) for cost in _OF_LEVELS[measure.cell](height, beta))
        return ColumnCosts(column.name, height, kept, 0.0, 1.0)
    of_label = _OF_LABELS[measure.cell]
    value = 1.0 if measure.cell == "leaves" else 0.0
    sums = [rows * value] + [0.0] * height
    for one in column.labels:
        if one.level:
            sums[one.level] += one.rows * of_label(column, one)
    suppressed = of_label(column, column.labels[-1]) if column.labels else 0.0
    return ColumnCosts(column.name, height, tuple(sums), value, suppressed, column.leaves)


def risen(height: int, beta: Fraction) -> tuple[float, ...]:
    """For each level the weighted hierarchical distance from the values, 0 to 1; weights 1/(j−1)^beta, j from the root.

    Example:
        >>> risen(2, Fraction(0)), [round(one, 4) for one in risen(5, Fraction(1))][3]
        ((0.0, 0.5, 1.0), 0.3431)
    """
    steps = [math.pow(level, -float(beta)) for level in range(height, 0, -1)]
    return tuple(math.fsum(steps[:level]) / math.fsum(steps) if steps else 0.0 for level in range(height + 1))


def column_weights(given: Mapping[str, Fraction], columns: Sequence[str]) -> tuple[Fraction, ...]:
    """The weights in the order of the columns, 1 where none is given; empty when none is given at all.

    Raises:
        UsageError: a weight for no such column, a negative one, or all of them 0.
    """
    if not given:
        return ()
    folded = {name.casefold(): name for name in columns}
    weights = dict.fromkeys(columns, Fraction(1))
    for name, weight in given.items():
        column = name if name in weights else folded.get(name.casefold())
        if column is None:
            hint = closest_column(name, columns)
            raise UsageError(f"{about('weights')}: {name!r} is not a column of the search.{hint}")
        if weight < 0:
            raise OutOfRange(f"{about('weights')}: a weight must be at least 0; that of {name!r} is {weight}.")
        weights[column] = weight
    if not any(weights.values()):
        raise UsageError(f"{about('weights')}: at least one column needs a weight above 0.")
    return tuple(weights[name] for name in columns)


def _spread(column: CostedColumn, label: Label) -> float:
    """The width of the values under a label over that of the column; of values that are no numbers, how many of the
    column's values these are, 0 for a single one."""
    whole = column.labels[-1]
    label = whole if label.text == TOP else label
    if column.numeric:
        return (label.width or 0.0) / whole.width if whole.width and math.isfinite(whole.width) else 0.0
    return label.values / whole.values if label.values > 1 else 0.0


_OF_LABELS: Mapping[str, Callable[[CostedColumn, Label], float]] = {
    "": lambda column, label: 0.0,
    "leaves": lambda column, label: column.leaves_under(label),
    "entropy": lambda column, label: label.entropy,
    "size_bits": lambda column, label: label.entropy,
    "monotone_entropy": lambda column, label: label.rows / column.labels[-1].rows * label.entropy,
    "redacted": lambda column, label: float(
        label.level == column.height or label.text == TOP or label.values == column.labels[-1].values
    ),
    "spread": _spread,
}
"""What a cell costs whose label decides; bits of single values are summed up as the entropy of their cell."""
_OF_LEVELS: Mapping[str, Callable[[int, Fraction], Sequence[float | Fraction]]] = {
    "level": lambda height, beta: [Fraction(level, height or 1) for level in range(height + 1)],
    "changed": lambda height, beta: [float(level > 0) for level in range(height + 1)],
    "risen": lambda height, beta: risen(height, Fraction(0)),
    "risen_by_weight": risen,
}
"""What a cell costs at each level, where the level alone decides."""
_OF_CLASSES: Mapping[str, Callable[[LossParts], float]] = {
    "discernibility": lambda parts: float(parts.kept_squares + parts.rows * parts.failing_rows),
    "class-size": lambda parts: parts.rows / (parts.kept_classes + (parts.failing_rows > 0)) if parts.rows else 0.0,
    "entropy-volume-inflation": lambda parts: max(
        0.0, parts.kept_bits + parts.failing_rows * (math.log2(parts.rows) if parts.rows else 0.0) - parts.tuple_bits
    ),
}
"""The losses that follow from the classes of a node."""
