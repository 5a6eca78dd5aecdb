"""Exact arithmetic with arrays of whole numbers: in 64 bits if these are enough, else with Python's integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

Wholes: TypeAlias = Any
"""An array of whole numbers: int64, or Python's integers (dtype object) if some do not fit."""
_MOST = 1 << 62


def wholes(numbers: Sequence[int]) -> Wholes:
    """Return whole numbers as an array, with room for a sum of two."""
    wide = max(map(abs, numbers), default=0) >= _MOST
    return np.array(numbers, dtype=object if wide else np.int64)


def largest(units: Wholes) -> int:
    """Return the largest absolute value, 0 for an empty array."""
    return max(abs(int(units.max())), abs(int(units.min()))) if len(units) else 0


def times(units: Wholes, factor: int) -> Wholes:
    """Return whole numbers times a factor.

    Example:
        >>> import numpy as np
        >>> times(np.array([2**40, 3]), 2**30).tolist()
        [1180591620717411303424, 3221225472]
    """
    if units.dtype != object and largest(units) * abs(factor) >= _MOST:
        units = units.astype(object)
    return units * factor


def product(left: Wholes, right: Wholes) -> Wholes:
    """Return the products of two arrays, element by element."""
    if left.dtype != object and largest(left) * largest(right) >= _MOST:
        left = left.astype(object)
    return left * right


def plus(left: Wholes, right: Wholes) -> Wholes:
    """Return the sums of two arrays, element by element."""
    if left.dtype != object and largest(left) + largest(right) >= _MOST:
        left = left.astype(object)
    return left + right


def minus(left: Wholes, right: Wholes) -> Wholes:
    """Return the differences of two arrays, element by element."""
    return plus(left, times(right, -1))
