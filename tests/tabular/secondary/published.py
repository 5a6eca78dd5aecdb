"""Random small tables of counts with hidden cells, for tests."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import numpy as np

from sqlaudit.tabular.secondary.intervals import DeducedLimits, Proof, Protection
from sqlaudit.tabular.secondary.system import FREE, Dimension, Equations, PublishedTable, build_equations
from tests.tabular.secondary import oracle

LARGEST = 60
"""No count of a random table is larger."""


def with_total(size: int, total: int) -> Dimension:
    """A dimension in which one code is the total of all others."""
    return Dimension(size, (np.where(np.arange(size) == total, -1, total),))


def published(equations: Equations, values: np.ndarray, hidden: np.ndarray, *, whole: bool = True) -> PublishedTable:
    """A table of counts, or of sums of what is never negative."""
    nothing = np.zeros(equations.cells, dtype=np.int64)
    return PublishedTable(equations, values, hidden, nothing, np.full_like(nothing, FREE), whole)


def exact(found: DeducedLimits) -> np.ndarray:
    """The cells whose interval is exact."""
    return (found.low == found.least) & (found.high == found.most)


def value_of(proof: Proof, table: PublishedTable) -> int:
    """What the sum of a proof is: `times` · the limit of its cell, in units of the table."""
    known = sum(weight * int(table.values[cell]) for cell, weight in proof.published)
    limits = sum(weight * int((table.lower if weight > 0 else table.upper)[cell]) for cell, weight in proof.limits)
    return known + limits


def grid(sizes: Sequence[int], totals: Sequence[bool]) -> tuple[np.ndarray, list[Dimension]]:
    """The keys of all cells: codes 0 … size-1 in each dimension, and `size` for its total where it has one."""
    keys = itertools.product(*[range(size + total) for size, total in zip(sizes, totals, strict=True)])
    dimensions = [
        with_total(size + 1, size) if total else Dimension(size) for size, total in zip(sizes, totals, strict=True)
    ]
    return np.array(list(keys), dtype=np.int64), dimensions


def filled(
    codes: np.ndarray, equations: Equations, leaves: dict[tuple[int, ...], int], sizes: Sequence[int]
) -> np.ndarray:
    """The values of all cells from those of the leaves."""
    return np.array(
        [
            sum(
                value
                for key, value in leaves.items()
                if all(own in (code, size) for own, code, size in zip(cell, key, sizes, strict=True) if own != code)
            )
            for cell in codes.tolist()
        ],
        dtype=np.int64,
    )


def drawn(
    chance: random.Random, sizes: Sequence[int], *, share: float, totals: float = 0.0, largest: int = 4
) -> PublishedTable:
    """A table of random counts with totals, of which a share of the cells and one of the totals is hidden."""
    codes, dimensions = grid(sizes, [True] * len(sizes))
    equations = build_equations(codes, dimensions)
    leaves = {key: chance.randint(0, largest) for key in itertools.product(*[range(size) for size in sizes])}
    values = filled(codes, equations, leaves, sizes)
    inner = (codes < np.array(sizes)).all(axis=1)
    hidden = np.array([chance.random() < (share if one else totals) for one in inner], dtype=np.bool_)
    hidden[-1] = False
    return published(equations, values, hidden)


def as_equations(table: PublishedTable) -> list[oracle.Equation]:
    """The equations, as the oracle takes them."""
    found = table.equations
    return [(int(found.totals[one]), tuple(found.parts_of(one).tolist())) for one in range(len(found))]


def peer(table: PublishedTable) -> list[tuple[int, int]]:
    """The intervals of the hidden cells by brute force."""
    known = [None if hidden else int(value) for value, hidden in zip(table.values, table.hidden, strict=True)]
    limits = [
        (max(0, low), min(LARGEST, high)) for low, high in zip(table.lower.tolist(), table.upper.tolist(), strict=True)
    ]
    found = oracle.intervals(table.equations.cells, as_equations(table), known, limits)
    return [found[cell] for cell in np.flatnonzero(table.hidden).tolist()]


def of_threshold(cells: int, threshold: int) -> Protection:
    """For the rule that a cell has at least so many contributors: as many values must remain possible."""
    return Protection(np.full(cells, max(1, threshold - 1), dtype=np.int64))
