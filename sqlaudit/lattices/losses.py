"""What a node of the lattice costs: the information that its generalization and its suppressed rows take away.

Every measure is a loss, smaller is better. Losses of cells add up column by column, so they need little of a node:
what each column costs at its level when no row is suppressed, and, for the suppressed rows, what their cells would
have cost. `LossParts` is what the database says of a node; the rest is arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import closest
from sqlaudit.base.words import about
from sqlaudit.lattices.verdicts import LossParts, Node
from sqlaudit.models.measures import OF_NODES, Measure

_SHARES = ("level", "changed")
"""Costs of which a loss is the mean over all cells."""
_BY_LEVEL = ("changed", "risen", "risen_by_weight")
"""Costs that all cells of a level have alike."""


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
        weights: of the columns, in their order; empty = all equal.

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

    def __post_init__(self) -> None:
        if self.weights and not self.measure.separable:
            raise UsageError(
                f"Weights of columns have no meaning for {self.measure.name}: it counts classes, not columns. "
                f"They have one for {', '.join(name for name, one in OF_NODES.items() if one.separable)}."
            )

    @property
    def by_columns(self) -> bool:
        """Whether a node's loss is known from its levels alone when no row is suppressed."""
        return self.measure.separable

    def of(self, parts: LossParts) -> float:
        """The loss of a node, the rows in failing classes suppressed."""
        if self.measure.name == "discernibility":
            return float(parts.kept_squares + self.rows * parts.failing_rows)
        if self.measure.name == "entropy-volume-inflation":
            whole = math.log2(self.rows) if self.rows else 0.0
            return max(0.0, parts.kept_bits + parts.failing_rows * whole - parts.tuple_bits)
        if self.measure.by == "pairs" or self.measure.sensitive:
            inflated = {"volume-inflation": parts.inflation, "independent-volume-inflation": parts.inflation_apart}
            return {**inflated, **parts.of_values}[self.measure.name]
        if self.measure.name == "class-size":
            classes = parts.kept_classes + (parts.failing_rows > 0)
            return self.rows / classes if classes else 0.0
        costs = [
            self._kept(column, level) + (self._added(position, parts) if parts.failing_rows else 0.0)
            for position, (column, level) in enumerate(zip(self.columns, parts.node, strict=True))
        ]
        return self._together([self._scaled(column, cost) for column, cost in zip(self.columns, costs, strict=True)])

    def whole(self, node: Node) -> float:
        """The loss of a node when no row is suppressed; for `bounded` measures a lower bound of the loss otherwise.

        Raises:
            ValueError: the measure counts classes, so levels do not tell.
        """
        if not self.by_columns:
            raise ValueError(self.measure.name)
        costs = (self._kept(column, level) for column, level in zip(self.columns, node, strict=True))
        return self._together([self._scaled(column, cost) for column, cost in zip(self.columns, costs, strict=True)])

    def terms(self) -> list[list[float]]:
        """For each column and level a number whose sum over the columns orders the nodes as their losses do, without
        suppressed rows; it never falls from one level to the next when the measure is monotone."""
        found = []
        for position, column in enumerate(self.columns):
            costs = (self._kept(column, level) for level in range(column.height + 1))
            found.append([self._term(position, self._scaled(column, cost)) for cost in costs])
        return found

    def transform(self, total: Any) -> Any:
        """The loss of nodes from the sums of their terms: a number or a numpy array."""
        weight = self._weight or 1.0
        if self.measure.cell == "leaves":
            return np.expm1(total / weight)
        return total / weight if self.measure.cell in _SHARES else total

    @property
    def _weight(self) -> float:
        return float(sum(self.weights)) if self.weights else float(len(self.columns))

    def _kept(self, column: ColumnCosts, level: int) -> float:
        return column.kept[level] if self.measure.cell else level

    def _added(self, position: int, parts: LossParts) -> float:
        """By how much more the suppressed rows cost than their cells would."""
        column, level = self.columns[position], parts.node[position]
        if not self.measure.cell:
            return 0.0
        if self.measure.cell == "size_bits":
            return parts.failing_bits_at_top[position] - parts.failing_bits[position]
        if self.measure.cell == "level":
            return parts.failing_rows * (1 - (level / column.height if column.height else 0.0))
        if self.measure.cell in _BY_LEVEL:
            return parts.failing_rows * (column.suppressed - (column.kept[level] / self.rows if self.rows else 0.0))
        cells: float = parts.failing_rows * (column.value if level == 0 else column.suppressed)
        if 0 < level < column.height:
            cells = parts.failing_weights[position]
        return parts.failing_rows * column.suppressed - cells

    def _scaled(self, column: ColumnCosts, cost: float) -> float:
        """What the column adds: for shares a number between 0 and 1, else bits or levels."""
        if self.measure.cell not in ("leaves", *_SHARES):
            return cost
        if not self.rows:
            return 0.0
        if self.measure.cell in _SHARES:
            return cost / self.rows
        # (x - 1/L) / (1 - 1/L) for x = cost / (rows L), in whole numbers as long as it can be
        return (cost - self.rows) / (self.rows * (column.leaves - 1)) if column.leaves > 1 else 0.0

    def _term(self, position: int, scaled: float) -> float:
        weight = float(self.weights[position]) if self.weights else 1.0
        return weight * (math.log1p(scaled) if self.measure.cell == "leaves" else scaled)

    def _together(self, scaled: Sequence[float]) -> float:
        return float(self.transform(math.fsum(self._term(position, one) for position, one in enumerate(scaled))))


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
            raise UsageError(
                f"{about('weights')}: {name!r} is not among the columns that take part.{closest(name, columns)}"
            )
        if weight < 0:
            raise UsageError(f"{about('weights')}: a weight is 0 or more; that of {name!r} is {weight}.")
        weights[column] = weight
    if not any(weights.values()):
        raise UsageError(f"{about('weights')}: at least one column needs a weight above 0.")
    return tuple(weights[name] for name in columns)
