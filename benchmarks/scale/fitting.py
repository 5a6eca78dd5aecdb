"""Least squares with constants that are not negative, for times that span several powers of ten."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """Constants of a sum of terms, and how far the measurements lie from it.

    Args:
        constants: one a term, none negative.
        residuals: measured / predicted - 1, one a measurement.
    """

    constants: tuple[float, ...]
    residuals: tuple[float, ...]

    @property
    def typical(self) -> float:
        """The median of the residuals' sizes."""
        return statistics.median(map(abs, self.residuals))

    @property
    def worst(self) -> float:
        """The largest of them."""
        return max(map(abs, self.residuals))


def fit(terms: Sequence[Sequence[float]], measured: Sequence[float]) -> Fit:
    """The constants whose relative errors have the least sum of squares.

    A constant that would have to be negative is zero: every set of the other terms is tried, which for a handful of
    terms is exact and needs no further package.

    Args:
        terms: one line a measurement, one number a term.
        measured: what came out, above zero.

    Example:
        >>> [round(constant, 6) for constant in fit([[1, 2], [1, 4], [1, 8]], [5, 9, 17]).constants]
        [1.0, 2.0]
        >>> fit([[1, 1], [1, 2]], [2, 1]).constants[1]
        0.0
    """
    scaled: Matrix = np.array(terms, dtype=float) / np.array(measured, dtype=float)[:, None]
    used = [place for place in range(scaled.shape[1]) if scaled[:, place].any()]
    best = min((_solved(scaled, chosen) for chosen in _subsets(used)), key=lambda found: found[0])
    constants = best[1]
    residuals = 1 / (scaled @ constants) - 1
    return Fit(tuple(float(c) for c in constants), tuple(float(r) for r in residuals))


def _subsets(places: Sequence[int]) -> list[tuple[int, ...]]:
    return [chosen for size in range(1, len(places) + 1) for chosen in itertools.combinations(places, size)]


def _solved(scaled: Matrix, chosen: tuple[int, ...]) -> tuple[float, Matrix]:
    """The sum of squares and the constants with some terms only; infinite where one comes out negative."""
    constants = np.zeros(scaled.shape[1])
    part = scaled[:, chosen]
    size = np.abs(part).max(axis=0)
    constants[list(chosen)] = np.linalg.lstsq(part / size, np.ones(len(scaled)), rcond=None)[0] / size
    if (constants < 0).any():
        return float("inf"), constants
    return float(((scaled @ constants - 1) ** 2).sum()), constants
