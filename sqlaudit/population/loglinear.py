"""Log-linear models of the cells of a sample: what they say of sample uniques, and how well they fit.

Cells are all combinations of the values of the quasi-identifiers. The counts of the sample are independent Poisson
numbers with means μ, and those of the population with λ = μ/π; μ is fitted to the marginals of single columns (main
effects) or of all pairs (two-way interactions) by iterative proportional fitting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import Any

SOURCE = (
    "Skinner, Holmes: Estimating the Re-identification Risk per Record in Microdata, JOS 14(4), 1998; Elamir, Skinner: "
    "Record Level Measures of Disclosure Risk for Survey Microdata, JOS 22(3), 2006; Skinner, Shlomo: Assessing "
    "Identification Risk in Survey Microdata Using Log-Linear Models, JASA 103, 2008"
)
MAIN, TWO_WAY = "main effects", "two-way interactions"
MOST_CELLS = 2_000_000
"""Up to so many cells a table of all of them is made."""
GOOD = 1.959963984540054
"""A test statistic within ± this does not speak against a model, at 5%."""
_ROUNDS, _CLOSE = 200, 1e-8


@dataclass(frozen=True)
class Fitted:
    """What a model says.

    Args:
        model: main effects or two-way interactions. tau1: expected sample uniques that are population uniques.
        tau2: expected correct matches of sample uniques, Σ E[1/F]. test: about standard normal where the model holds,
            far above 0 where it underfits, far below where it overfits.
    """

    model: str
    tau1: float
    tau2: float
    test: float

    @property
    def good(self) -> bool:
        """Whether the test does not speak against it."""
        return abs(self.test) <= GOOD


def fit_models(shape: Sequence[int], cells: Mapping[tuple[int, ...], int], fraction: float) -> list[Fitted]:
    """Both models over a table of cells.

    Args:
        shape: how many values each column has. cells: members of the cells that have any, by the places of their
            values.
        fraction: the sample's share of its population.

    Returns:
        Main effects, and with three columns or more two-way interactions.
    """
    import numpy as np

    counts = np.zeros(tuple(shape))
    for place, members in cells.items():
        counts[place] = members
    singles = [(axis,) for axis in range(len(shape))]
    found = [measured(MAIN, counts, fitted(counts, singles), fraction)]
    if len(shape) > 2:
        pairs = list(combinations(range(len(shape)), 2))
        found.append(measured(TWO_WAY, counts, fitted(counts, pairs), fraction))
    return found


def fitted(counts: Any, margins: Sequence[tuple[int, ...]]) -> Any:
    """Means with the marginals of the counts, by iterative proportional fitting from equal ones."""
    import numpy as np

    means = np.full(counts.shape, counts.sum() / counts.size)
    others = [tuple(axis for axis in range(counts.ndim) if axis not in kept) for kept in margins]
    wanted = [counts.sum(axis=gone, keepdims=True) for gone in others]
    for _ in range(_ROUNDS):
        worst = 0.0
        for gone, margin in zip(others, wanted, strict=True):
            now = means.sum(axis=gone, keepdims=True)
            worst = max(worst, float(np.abs(now - margin).max()))
            means *= np.divide(margin, now, out=np.zeros_like(now), where=now > 0)
        if worst <= _CLOSE * max(1.0, float(counts.sum())) / counts.size or len(margins) == 1:
            break
    return means


def measured(model: str, counts: Any, means: Any, fraction: float) -> Fitted:
    """τ1, τ2 and the test of Skinner and Shlomo for fitted means.

    With x = λ(1 - π) a sample unique is a population unique with the chance e^-x, and E[1/F] is (1 - e^-x)/x. The test
    adds up λ e^-λ (1-π) {(1-π)((f-μ)² - f)/(2π) - (f-μ)} over all cells, in multiples of its standard error for Poisson
    counts, whose square is Σ λ² e^-2λ (1-π)² {μ + (1-π)² μ²/(2π²)}. It stands above 0 where cells vary more than the
    model has it, and τ1 is too low then.
    """
    import numpy as np

    rest = 1 - fraction
    rates = means / fraction
    alone = rates[counts == 1] * rest
    tau1 = float(np.exp(-alone).sum())
    tau2 = float(np.where(alone > 1e-9, -np.expm1(-alone) / np.maximum(alone, 1e-300), 1.0).sum())
    weight = rates * np.exp(-rates) * rest
    off = counts - means
    excess = -float((weight * (off - rest * (off**2 - counts) / (2 * fraction))).sum())
    spread = float((weight**2 * (means + rest**2 * means**2 / (2 * fraction**2))).sum())
    return Fitted(model, tau1, tau2, excess / sqrt(spread) if spread > 0 else 0.0)


def chosen(models: Sequence[Fitted]) -> Fitted:
    """The first that the test does not speak against, from the simplest on; else the one it speaks against least."""
    return next((one for one in models if one.good), min(models, key=lambda one: abs(one.test)))
