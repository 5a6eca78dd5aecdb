"""The base that published cells are rounded to, and whether totals unpick it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sqlaudit.tabular.secondary.structure import Equations, Integers
from sqlaudit.tabular.secondary.system import PublishedTable

_CHANCE = Fraction(1, 1_000_000)
_COUNTED = 40
NEAREST, RANDOM, DOWN = "nearest", "random", "down"
"""How values are rounded: to the nearest multiple, to one of both neighbours, or down."""


@dataclass(frozen=True)
class RoundedTo:
    """A base that all published values are multiples of.

    Args:
        base: in units of the values. cells: how many different values other than zero say so.
        chance: how likely so many values (forty count) are multiples of it when nothing was rounded.
    """

    base: int
    cells: int
    chance: Fraction


def rounding_base(values: Integers) -> RoundedTo | None:
    """The base that published values are rounded to; None where chance would do.

    Args:
        values: the published cells.

    Example:
        >>> rounding_base(np.array([5, 10, 0, 25, 35, 40, 55, 60, 75, 90, 100]))
        RoundedTo(base=5, cells=10, chance=Fraction(1, 9765625))
        >>> rounding_base(np.array([4, 6, 8])) is None
        True
    """
    different = np.unique(np.abs(values[values != 0]))
    if not len(different):
        return None
    base = math.gcd(*different.tolist())
    chance = Fraction(1, base ** min(len(different), _COUNTED))
    return RoundedTo(base, len(different), chance) if base > 1 and chance < _CHANCE else None


def unrounded(equations: Equations, values: Integers, base: int, how: str = RANDOM) -> PublishedTable:
    """The table before it was rounded, as an attacker sees it: nothing is known but that each cell is near its value.

    Args:
        equations: of the table before it was rounded. values: the rounded cells, none below zero. base: of rounding.
        how: `nearest`, `random` or `down`.
    """
    reach = {NEAREST: (base // 2, base // 2), RANDOM: (base - 1, base - 1), DOWN: (0, base - 1)}[how]
    everything = np.ones(len(values), dtype=np.bool_)
    lower = np.maximum(values - reach[0], 0)
    return PublishedTable(equations, values, everything, lower, values + reach[1])
