"""Log-linear models of the cells of a sample, counted in the database: what they say of sample uniques."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod, sqrt
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Row, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.facts import Frame

# Log-linear models of the cells of a sample: what they say of sample uniques, and how well they fit.
#
# Cells are all combinations of the values of the quasi-identifiers. The counts of the sample are independent Poisson
# numbers with means μ, and those of the population with λ = μ/π; μ is fitted to the marginals of single columns (main
# effects) or of all pairs (two-way interactions) by iterative proportional fitting.

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
class CellRisk:
    """What a log-linear model says of the sample uniques of a table.

    Args:
        model: main effects or two-way interactions. tau1: expected sample uniques that are population uniques.
        tau2: expected correct matches of sample uniques, Σ E[1/F]. test: about standard normal where the model holds,
            far above 0 where it underfits, far below where it overfits; None where there are too many cells for it.
        why_not: why this is no estimate; empty where it is.
    """

    model: str
    tau1: float
    tau2: float
    test: float | None
    why_not: str = ""

    @property
    def off(self) -> float:
        """How far the test stands from 0."""
        return abs(self.test or 0.0)

    @property
    def good(self) -> bool:
        """Whether the test does not speak against it."""
        return self.off <= GOOD


def fit_models(shape: Sequence[int], cells: Mapping[tuple[int, ...], int], fraction: float) -> list[CellRisk]:
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


def measured(model: str, counts: Any, means: Any, fraction: float) -> CellRisk:
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
    return CellRisk(model, tau1, tau2, excess / sqrt(spread) if spread > 0 else 0.0)


def chosen(models: Sequence[CellRisk]) -> CellRisk:
    """The first that the test does not speak against, from the simplest on; else the one it speaks against least."""
    return next((one for one in models if one.good), min(models, key=lambda one: one.off))


# What log-linear models say of a table: its cells are counted in the database, and fitted here unless too many.

Ask = Callable[[Statement], list[Row]]


def cell_risk(frame: Frame, dialect: str, fraction: float, ask: Ask) -> CellRisk:
    """Main effects, or two-way interactions where the test of Skinner and Shlomo speaks against these.

    Args:
        frame: the table. dialect: of its SQL. fraction: its share of the population. ask: runs a statement.

    Raises:
        UsageError: rows that are no cells: persons with several, or NULLs that are equal to nothing.
    """
    if frame.entity is not None or frame.solo:
        given = spelled("entity") if frame.entity is not None else spelled("nulls", "distinct")
        raise UsageError(f"A log-linear model does not support {given}. Use another estimator.")
    *shape, total = (int(value) for value in ask(_statement(frame, dialect, "shape"))[0])
    if prod(shape) > MOST_CELLS:
        rest = Raw(f"{(1 - fraction) / fraction:.17e}")
        tau1, tau2 = ask(_statement(frame, dialect, "main", total=total, rest=rest))[0]
        why = f"its fit cannot be tested with {prod(shape):,} cells (at most {MOST_CELLS:,})"
        return CellRisk(MAIN, float(tau1 or 0), float(tau2 or 0), None, why)
    rows = ask(_statement(frame, dialect, "cells"))
    cells = {tuple(int(place) for place in row[:-1]): int(row[-1]) for row in rows}
    best = chosen(fit_models(shape, cells, fraction))
    if best.good:
        return best
    return replace(best, why_not=f"the test of fit rejects every model ({best.test:.2f} for {best.model})")


def _statement(frame: Frame, dialect: str, stage: str, **more: Any) -> Statement:
    keys = [Raw(key) for key in frame.keys]
    return render("population/cells.sql", dialect, source=Raw(frame.source), keys=keys, stage=stage, **more)
