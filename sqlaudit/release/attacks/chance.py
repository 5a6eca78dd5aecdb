"""Is a pairing of two columns better than a random one? Two statistics, each with a valid bound of its probability.

*Agreeing positions*: cells that fit each other. Under a random order of one column their number is a sum Σ a(i, π(i))
with a in {0, 1}, for which Chatterjee (Stein's method for concentration inequalities, PTRF 2007, Proposition 1.1) gives
P(|X − E X| ≥ t) ≤ 2 exp(−t² / (4 E X + 2 t)).

*Alike pairs*: pairs of rows that are alike in one column and alike in the other. This needs no reading of cells, so it
finds pairings even where it is not known what the cells of one release mean. Mean and variance under a random order are
those of Mantel's statistic (Cancer Research 1967); Cantelli's inequality makes them a bound.

For short tables both are shuffled instead: (1 + shuffles at least as good) / (1 + shuffles) is a valid probability.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

SHUFFLES = 4_999
_AT_ONCE = 20_000
"""So many positions of shuffled columns are counted together."""
_LEAST = 1e-300
"""No order is impossible; smaller numbers would print as 0."""


@dataclass(frozen=True)
class Paired:
    """Counts of one column of two tables that are paired by position.

    Args:
        positions: how many. my_values, their_values: different cells on each side.
        agree: positions with cells that fit. finer: positions at which the other table is finer.
        possible: Σ over fitting cells of the product of their counts.
        alike: pairs of positions that are alike on both sides. my_pairs, their_pairs: that are alike on one side.
        my_paths, their_paths: paths of two such pairs on one side, Σ n(n−1)(n−2)/2.
    """

    positions: int
    my_values: int
    their_values: int
    agree: int
    finer: int
    possible: int
    alike: int
    my_pairs: int
    their_pairs: int
    my_paths: int
    their_paths: int

    @property
    def telling(self) -> bool:
        """Whether the order can matter: with a single value on one side it cannot."""
        return self.my_values > 1 and self.their_values > 1

    @property
    def expected_agree(self) -> Fraction:
        """Agreeing positions under a random order."""
        return Fraction(self.possible, self.positions) if self.positions else Fraction(0)

    @property
    def expected_alike(self) -> Fraction:
        """Alike pairs under a random order."""
        pairs = math.comb(self.positions, 2)
        return Fraction(self.my_pairs * self.their_pairs, pairs) if pairs else Fraction(0)

    @property
    def variance_alike(self) -> Fraction:
        """The variance of the alike pairs under a random order."""
        mean, n = self.expected_alike, self.positions
        all_paths = n * math.comb(n - 1, 2) if n > 2 else 0
        apart = math.comb(math.comb(n, 2), 2) - all_paths
        square = mean
        if all_paths:
            square += Fraction(2 * self.my_paths * self.their_paths, all_paths)
        if apart:
            mine = math.comb(self.my_pairs, 2) - self.my_paths
            theirs = math.comb(self.their_pairs, 2) - self.their_paths
            square += Fraction(2 * mine * theirs, apart)
        return square - mean * mean

    def bound_agree(self) -> float:
        """At most how likely so many agreeing positions are under a random order."""
        excess = float(self.agree - self.expected_agree)
        if excess <= 0:
            return 1.0
        return min(1.0, _LEAST + 2 * math.exp(-excess * excess / (4 * float(self.expected_agree) + 2 * excess)))

    def bound_alike(self) -> float:
        """At most how likely so many alike pairs are under a random order."""
        excess, variance = self.alike - self.expected_alike, self.variance_alike
        if excess <= 0:
            return 1.0
        return float(variance / (variance + excess * excess))


def shuffled(rows: Sequence[tuple[Any, ...]], seed: int) -> tuple[float, float]:
    """How likely as many agreeing positions, and as many alike pairs, are under a random order: by shuffling.

    Args:
        rows: (kind, my code, their code, count) with kind `paired` for how many positions hold both cells, and
            `fits` for cells that fit.
        seed: of the shuffles.

    Returns:
        two probabilities, of which each is valid: under a random order it is below p with probability at most p.
    """
    paired = sorted((int(mine), int(theirs), int(count)) for kind, mine, theirs, count in rows if kind == "paired")
    left = np.repeat([mine for mine, _, _ in paired], [count for _, _, count in paired])
    right = np.repeat([theirs for _, theirs, _ in paired], [count for _, _, count in paired])
    width = int(right.max()) + 1
    fits = np.zeros((int(left.max()) + 1, width), dtype=bool)
    for kind, mine, theirs, _ in rows:
        if kind == "fits":
            fits[int(mine), int(theirs)] = True
    cells = left * width
    seen_agree, seen_alike = _agree(fits, left, right[None])[0], _alike(cells, right[None], fits.size)[0]
    generator = np.random.default_rng(seed)
    agree = alike = 1
    at_once = max(1, _AT_ONCE // len(right))
    for done in range(0, SHUFFLES, at_once):
        orders = np.array([generator.permutation(right) for _ in range(min(at_once, SHUFFLES - done))])
        agree += int((_agree(fits, left, orders) >= seen_agree).sum())
        alike += int((_alike(cells, orders, fits.size) >= seen_alike).sum())
    return agree / (SHUFFLES + 1), alike / (SHUFFLES + 1)


def _agree(fits: NDArray[np.bool_], left: NDArray[Any], orders: NDArray[Any]) -> NDArray[Any]:
    """Positions that agree, of each order."""
    found: NDArray[Any] = fits[left, orders].sum(axis=1)
    return found


def _alike(cells: NDArray[Any], orders: NDArray[Any], size: int) -> NDArray[Any]:
    """Pairs of positions that are alike on both sides, of each order: Σ n² over the cells of both columns, less Σ n."""
    numbered = cells + orders + np.arange(len(orders))[:, None] * size
    if size <= 4 * orders.shape[1]:
        counted = np.bincount(numbered.ravel(), minlength=len(orders) * size).reshape(-1, size)
        squares: NDArray[Any] = (counted**2).sum(axis=1)
    else:
        values, counts = np.unique(numbered, return_counts=True)
        squares = np.bincount(values // size, weights=counts.astype(float) ** 2).astype(np.int64)
    pairs: NDArray[Any] = (squares - orders.shape[1]) // 2
    return pairs
