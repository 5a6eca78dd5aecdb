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


@dataclass(frozen=True)
class RoundedTable:
    """A table whose cells are multiples of a base, and that still adds up.

    Args:
        values: of the cells. moved: the sum of how far cells are from their true values. bound: none moves less.
        farthest: how far the farthest cell is. stopped: `time` when the search ended early, else empty.
    """

    values: Integers
    moved: int
    bound: int
    farthest: int
    stopped: str = ""


def round_together(
    equations: Equations, values: Integers, base: int, *, seconds: float | None = None
) -> RoundedTable | None:
    """Controlled rounding: every cell becomes a multiple of a base near its value, so that all sums still add up.

    Each cell becomes one of both neighbours, and a multiple stays, where that is possible; else some go further.

    Args:
        equations: of the table. values: of the cells, none below zero. base: of rounding.
        seconds: how long it may take, None = as long as it needs.

    Returns:
        The table that moves least in all; None where none was found in time.

    Raises:
        MissingDriver: HiGHS is not installed.
    """
    from sqlaudit.remedies.suppress.solver import require

    require()
    for wider in (0, 1, 2):
        found = _rounded(equations, values, base, wider, seconds)
        if found is not None:
            return found
    return None


def _rounded(
    equations: Equations, values: Integers, base: int, wider: int, seconds: float | None
) -> RoundedTable | None:
    """The same, where cells may move by so many bases more than to a neighbour."""
    from sqlaudit.remedies.suppress.solver import Program, solve

    lowest = np.maximum(values // base - wider, 0)
    highest = -(-values // base) + wider
    program = Program()
    for low, high, value in zip(lowest.tolist(), highest.tolist(), values.tolist(), strict=True):
        program.variable(0.0, float(high - low), whole=True)
        far = program.variable(1.0, math.inf, whole=False)  # how far the cell is from its value, from both sides
        program.row([(far, 1.0), (far - 1, -float(base))], float(base * low - value), math.inf)
        program.row([(far, 1.0), (far - 1, float(base))], float(value - base * low), math.inf)
    for number, left in enumerate(equations.residuals(lowest).tolist()):
        parts = [(2 * int(part), 1.0) for part in equations.parts_of(number)]
        program.row([*parts, (2 * int(equations.totals[number]), -1.0)], float(left), float(left))
    solved = solve(program, step=1.0, seconds=seconds)
    if solved.values is None:
        return None
    rounded = (lowest + np.rint(solved.values[::2]).astype(np.int64)) * base
    if equations.residuals(rounded).any():
        return None
    apart = np.abs(rounded - values)
    bound = math.ceil(solved.bound - 1e-6) if math.isfinite(solved.bound) else 0
    moved = int(apart.sum())
    return RoundedTable(rounded, moved, min(bound, moved), int(apart.max(initial=0)), solved.stopped)
