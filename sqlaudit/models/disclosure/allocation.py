"""How atoms are best spread over classes: minima of products, steered by floats and decided by fractions.

A `Best` holds, for every number of atoms t, the least product that t atoms can reach and the way they are spread.
Two of them that speak of different classes combine into one by trying every split of t. That single operation,
applied class after class, is the paper's Minimize2; run from both ends, it also gives the minimum without any one
class.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.frozen import dataclass
from sqlaudit.models.disclosure.candidates import Candidates
from sqlaudit.models.disclosure.exact import Product, exact_products
from sqlaudit.models.disclosure.products import SMALLEST, UNCERTAIN, FloatArray, tolerance

# (candidate, atoms, holds the consequent) for every class that takes part, sorted, so that equal ways are equal tuples.
Way = tuple[tuple[int, int, bool], ...]


@dataclass(frozen=True)
class Best:
    """For t = 0 … J atoms: the least product in floats (infinite if they cannot be placed), and the way to reach it."""

    approximate: FloatArray
    ways: tuple[Way | None, ...]


class Allocator:
    """Computes with `Best` values over one set of candidates, for up to `atoms` atoms, all with positive M(j)."""

    def __init__(self, candidates: Candidates, atoms: int) -> None:
        self.atoms = atoms
        self._candidates = candidates
        self._values: dict[Way, Fraction] = {}
        self._singles: dict[tuple[int, bool], Best] = {}
        split = np.arange(atoms + 1)
        self._split = split[:, None] - split[None, :]
        self.nothing = Best(np.where(split == 0, 1.0, np.inf), ((), *[None] * atoms))

    def products(self, candidate: int) -> tuple[Product, ...]:
        """M(0 … atoms) of a candidate, exactly."""
        n, counts = self._candidates.signatures.signature(candidate)
        return exact_products(n, counts[: self.atoms], self.atoms)

    def weight(self, candidate: int) -> Fraction:
        """n / r1 of a candidate."""
        n, counts = self._candidates.signatures.signature(candidate)
        return Fraction(n, counts[0])

    def value(self, way: Way) -> Fraction:
        """The product that a way reaches, exactly."""
        if way not in self._values:
            factors = [self.products(candidate)[atoms].value for candidate, atoms, _ in way]
            weights = [self.weight(candidate) for candidate, _, own in way if own]
            self._values[way] = prod(factors + weights, start=Fraction(1))
        return self._values[way]

    def single(self, candidate: int, approximate: FloatArray, own: bool) -> Best:
        """What one class alone can do; with `own` it holds the consequent, so it has at least one atom."""
        key = (candidate, own)
        if key not in self._singles:
            ways: list[Way | None] = [((candidate, atoms, own),) for atoms in range(self.atoms + 1)]
            ways[0] = None if own else ()
            values = approximate * float(self.weight(candidate)) if own else approximate.copy()
            values[0] = np.inf if own else 1.0
            self._singles[key] = Best(values, tuple(ways))
        return self._singles[key]

    def combine(self, left: Best, right: Best) -> Best:
        """The best split of t atoms between two groups of classes, for every t."""
        usable = self._split >= 0
        table = left.approximate[None, :] * right.approximate[np.where(usable, self._split, 0)]
        table = np.where(usable, np.maximum(table, SMALLEST), np.inf)
        near = self._near(table)
        ways: list[Way | None] = list(left.ways)
        for t in np.flatnonzero(near.sum(axis=1) - near.diagonal()).tolist():  # elsewhere all t atoms stay left
            splits = np.flatnonzero(near[t]).tolist()
            ways[t] = self._decide(_join(left.ways[s], right.ways[t - s]) for s in splits)
        return Best(table.min(axis=1), tuple(ways))

    def lower(self, several: Sequence[Best]) -> Best:
        """For every t the lowest of several."""
        table = np.array([best.approximate for best in several]).T
        near = self._near(table)
        ways = [
            self._decide(several[place].ways[t] for place in np.flatnonzero(row).tolist()) for t, row in enumerate(near)
        ]
        return Best(table.min(axis=1), tuple(ways))

    def _near(self, table: FloatArray) -> NDArray[np.bool_]:
        """Which entries of each row may be its minimum in truth."""
        least = table.min(axis=1)
        limit = np.maximum(least * (1 + tolerance(self.atoms)), UNCERTAIN)
        return np.asarray((table <= limit[:, None]) & np.isfinite(table))

    def _decide(self, ways: Iterable[Way | None]) -> Way | None:
        different = {way for way in ways if way is not None}
        if len(different) < 2:
            return next(iter(different), None)
        return min(different, key=lambda way: (self.value(way), len(way), way))


def _join(left: Way | None, right: Way | None) -> Way | None:
    if left is None or right is None:
        return None
    return tuple(sorted(left + right))
