"""Cells and equations that hang together, and what is known of their values: the half that computes in whole numbers.

What `programs.py` is told in floating point counts only as far as this bears it out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sqlaudit.tabular.secondary.structure import Integers
from sqlaudit.tabular.secondary.system import FREE

Floats = npt.NDArray[np.float64]
_MULTIPLES = 1, 2, 3, 4, 6, 12, 60, 5040
"""Multipliers are fractions of one of these; beyond, they are rounded, and the bound may be wider."""


@dataclass(frozen=True)
class Block:
    """Cells and equations that hang together: the signed sum of the columns of a row is its right side.

    Args:
        rows, columns, signs: of each entry. right: of each row. lower, upper: of each column, FREE where none.
        whole: only whole numbers fit.
    """

    rows: Integers
    columns: Integers
    signs: Integers
    right: Integers
    lower: Integers
    upper: Integers
    whole: bool

    def fits(self, values: Integers) -> bool:
        """Whether values fulfil all equations and limits, exactly."""
        if bool((values < self.lower).any() or (values > self.upper).any()):
            return False
        return not bool((self.left(values) != self.right).any())

    def left(self, values: Integers) -> Integers:
        """The signed sum of each row."""
        sums = np.zeros(len(self.right), dtype=np.int64)
        np.add.at(sums, self.rows, self.signs * values[self.columns])
        return sums

    def bound(self, multipliers: Integers, cell: int, times: int, lower: Integers, upper: Integers) -> int | None:
        """What `times` · cell is at least within limits, as the sum of equations with these multipliers proves.

        Args:
            multipliers: of the rows, any whole numbers. cell: a column. times: how often it is counted, or 0.
            lower, upper: limits of the columns.

        Returns:
            The bound; None where a limit that the sum needs is missing.
        """
        rest = np.zeros(len(lower), dtype=np.int64)
        np.add.at(rest, self.columns, -self.signs * multipliers[self.rows])
        rest[cell] += times
        limits = np.where(rest > 0, lower, upper)
        used = rest != 0
        if bool((np.abs(limits[used]) >= FREE).any()):
            return None
        return _dot(multipliers, self.right) + _dot(rest[used], limits[used])


def _dot(left: Integers, right: Integers) -> int:
    """The sum of products, exactly."""
    if float(np.abs(left).astype(np.float64) @ np.abs(right).astype(np.float64)) < 2.0**62:
        return int(left @ right)
    return sum(a * b for a, b in zip(left.tolist(), right.tolist(), strict=True))


@dataclass
class Range:
    """What is known of the values of the columns of a block: they lie within the outer limits; the inner ones occur.

    Args:
        low, high: no value beyond fits. least, most: values that fit were found; least > most where none was.
    """

    low: Integers
    high: Integers
    least: Integers
    most: Integers

    @classmethod
    def of(cls, block: Block) -> Range:
        """Before anything was found."""
        nothing = np.full(len(block.lower), FREE, dtype=np.int64)
        return cls(block.lower.copy(), block.upper.copy(), nothing, -nothing)

    def see(self, values: Integers) -> None:
        """Values of all columns that fit."""
        np.minimum(self.least, values, out=self.least)
        np.maximum(self.most, values, out=self.most)

    def open(self) -> Iterator[tuple[int, int]]:
        """Columns with a limit that no value that fits reaches: the column, and 1 for the lower, -1 for the upper."""
        for cell in range(len(self.low)):
            if self.least[cell] > self.low[cell]:
                yield cell, 1
            if self.most[cell] < self.high[cell]:
                yield cell, -1


def whole_multiples(multipliers: Floats) -> tuple[Integers, int]:
    """Whole numbers in the proportion of floats, and the factor between them."""
    for times in _MULTIPLES:
        whole = np.rint(multipliers * times)
        if (np.abs(whole - multipliers * times) < 1e-6).all():
            break
    return whole.astype(np.int64), times
