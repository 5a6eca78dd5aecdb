"""Log-linear models of the cells of a sample: the risk of sample uniques, and the fit of the models.

Cells are all combinations of the values of the quasi-identifiers. The counts of the sample are independent Poisson
numbers with means μ, and those of the population with λ = μ/π; μ is fitted to the marginals of single columns (main
effects) or of all pairs (two-way interactions) by iterative proportional fitting. Cells are counted in the database,
and fitted here unless there are too many.
"""

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

SOURCE = (
    "Skinner, Holmes: Estimating the Re-identification Risk per Record in Microdata, JOS 14(4), 1998; Elamir, Skinner: "
    "Record Level Measures of Disclosure Risk for Survey Microdata, JOS 22(3), 2006; Skinner, Shlomo: Assessing "
    "Identification Risk in Survey Microdata Using Log-Linear Models, JASA 103, 2008"
)
MAIN, TWO_WAY = "main effects", "two-way interactions"
MOST_CELLS = 2_000_000
"""Largest number of cells that are fitted here."""
GOOD = 1.959963984540054
"""Limit of the absolute test statistic, at 5%."""
_ROUNDS, _CLOSE = 200, 1e-8


@dataclass(frozen=True)
class CellRisk:
    """The risk of the sample uniques of a table by a log-linear model.

    Args:
        model: main effects or two-way interactions.
        tau1: expected sample uniques that are population uniques.
        tau2: expected correct matches of sample uniques, Σ E[1/F].
        test: about standard normal where the model holds, far above 0 where it underfits, far below where it overfits;
            None where there are too many cells for it.
        why_not: why this is no estimate; empty where it is one.
    """

    model: str
    tau1: float
    tau2: float
    test: float | None
    why_not: str = ""

    @property
    def off(self) -> float:
        """Distance of the test from 0."""
        return abs(self.test or 0.0)

    @property
    def good(self) -> bool:
        """True if the test does not reject the model."""
        return self.off <= GOOD


def fit_models(shape: Sequence[int], cells: Mapping[tuple[int, ...], int], fraction: float) -> list[CellRisk]:
    """Return the risk by both models over a table of cells.

    Args:
        shape: number of values of each column.
        cells: members of the cells that have any, by the codes of their values.
        fraction: the sample's share of its population.

    Returns:
        Main effects, and with three columns or more two-way interactions.
    """
    import numpy as np

    counts = np.zeros(tuple(shape))
    for cell, members in cells.items():
        counts[cell] = members
    singles = [(axis,) for axis in range(len(shape))]
    risks = [measure_risk(MAIN, counts, fit_means(counts, singles), fraction)]
    if len(shape) > 2:
        pairs = list(combinations(range(len(shape)), 2))
        risks.append(measure_risk(TWO_WAY, counts, fit_means(counts, pairs), fraction))
    return risks


def fit_means(counts: Any, margins: Sequence[tuple[int, ...]]) -> Any:
    """Return means with the marginals of the counts, by iterative proportional fitting from equal means.

    Args:
        counts: members of each cell, an axis for each column.
        margins: the axes of each marginal.
    """
    import numpy as np

    means = np.full(counts.shape, counts.sum() / counts.size)
    others = [tuple(axis for axis in range(counts.ndim) if axis not in margin) for margin in margins]
    targets = [counts.sum(axis=gone, keepdims=True) for gone in others]
    for _ in range(_ROUNDS):
        worst = 0.0
        for gone, target in zip(others, targets, strict=True):
            now = means.sum(axis=gone, keepdims=True)
            worst = max(worst, float(np.abs(now - target).max()))
            means *= np.divide(target, now, out=np.zeros_like(now), where=now > 0)
        if worst <= _CLOSE * max(1.0, float(counts.sum())) / counts.size or len(margins) == 1:
            break
    return means


def measure_risk(model: str, counts: object, means: Any, fraction: float) -> CellRisk:
    """Return τ1, τ2 and the test of Skinner and Shlomo for fitted means.

    With x = λ(1 - π) a sample unique is a population unique with the probability e^-x, and E[1/F] is (1 - e^-x)/x. The
    test adds up λ e^-λ (1-π) {(1-π)((f-μ)² - f)/(2π) - (f-μ)} over all cells, in multiples of its standard error for
    Poisson counts, whose square is Σ λ² e^-2λ (1-π)² {μ + (1-π)² μ²/(2π²)}. It is above 0 where cells vary more than in
    the model, and τ1 is too low then.
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


def choose_model(models: Sequence[CellRisk]) -> CellRisk:
    """Return the simplest model that the test does not reject; otherwise the one with the test nearest to 0."""
    return next((model for model in models if model.good), min(models, key=lambda model: model.off))


Ask = Callable[[Statement], list[Row]]


def cell_risk(frame: Frame, dialect: str, fraction: float, ask: Ask) -> CellRisk:
    """Return the risk by main effects, or by two-way interactions where the test of Skinner and Shlomo rejects these.

    Args:
        frame: the table.
        dialect: of its SQL.
        fraction: its share of the population.
        ask: runs a statement.

    Raises:
        UsageError: rows that are not cells: people with several, or NULLs that are equal to nothing.
    """
    if frame.entity is not None or frame.solo:
        conflict = spelled("entity") if frame.entity is not None else spelled("nulls", "distinct")
        raise UsageError(f"A log-linear model does not support {conflict}. Use another estimator.")
    *shape, total = (int(value) for value in ask(_statement(frame, dialect, "shape"))[0])
    if prod(shape) > MOST_CELLS:
        rest = Raw(f"{(1 - fraction) / fraction:.17e}")
        tau1, tau2 = ask(_statement(frame, dialect, "main", total=total, rest=rest))[0]
        reason = f"its fit cannot be tested with {prod(shape):,} cells (at most {MOST_CELLS:,})"
        return CellRisk(MAIN, float(tau1 or 0), float(tau2 or 0), None, reason)
    rows = ask(_statement(frame, dialect, "cells"))
    cells = {tuple(int(code) for code in row[:-1]): int(row[-1]) for row in rows}
    best = choose_model(fit_models(shape, cells, fraction))
    if best.good:
        return best
    return replace(best, why_not=f"the test of fit rejects every model ({best.test:.2f} for {best.model})")


def _statement(frame: Frame, dialect: str, stage: str, **parameters: Any) -> Statement:
    """Return the statement of one stage: `shape`, `main` or `cells`."""
    keys = [Raw(key) for key in frame.keys]
    return render("population/cells.sql", dialect, source=Raw(frame.source), keys=keys, stage=stage, **parameters)
