"""Exact arithmetic with arrays of whole numbers: in 64 bits where these are enough, else in Python's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

Wholes: TypeAlias = Any
"""An array of whole numbers: int64, or Python's integers (dtype object) where some do not fit."""
_MOST = 1 << 62


def wholes(found: Sequence[int]) -> Wholes:
    """Whole numbers as an array, with room for a sum of two."""
    import numpy as np

    wide = max(map(abs, found), default=0) >= _MOST
    return np.array(found, dtype=object if wide else np.int64)


def largest(units: Wholes) -> int:
    """The largest absolute value, 0 of none."""
    return max(abs(int(units.max())), abs(int(units.min()))) if len(units) else 0


def times(units: Wholes, factor: int) -> Wholes:
    """Whole numbers times another one.

    Example:
        >>> import numpy as np
        >>> times(np.array([2**40, 3]), 2**30).tolist()
        [1180591620717411303424, 3221225472]
    """
    if units.dtype != object and largest(units) * abs(factor) >= _MOST:
        units = units.astype(object)
    return units * factor


def product(one: Wholes, other: Wholes) -> Wholes:
    """Whole numbers times others, one by one."""
    if one.dtype != object and largest(one) * largest(other) >= _MOST:
        one = one.astype(object)
    return one * other


def plus(one: Wholes, other: Wholes) -> Wholes:
    """The sum of whole numbers, one by one."""
    if one.dtype != object and largest(one) + largest(other) >= _MOST:
        one = one.astype(object)
    return one + other


def minus(one: Wholes, other: Wholes) -> Wholes:
    """The difference of whole numbers, one by one."""
    return plus(one, times(other, -1))
