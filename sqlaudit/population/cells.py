"""What log-linear models say of a table: its cells are counted in the database, and fitted here unless too many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Row, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import spelled
from sqlaudit.classes.facts import Frame
from sqlaudit.population.loglinear import MAIN, MOST_CELLS, chosen, fit_models

Ask = Callable[[Statement], list[Row]]


@dataclass(frozen=True)
class CellRisk:
    """What a log-linear model says of the sample uniques of a table.

    Args:
        model: main effects or two-way interactions. tau1: expected sample uniques that are population uniques.
        tau2: expected correct matches of sample uniques. test: of the fit, None where there are too many cells for it.
        why_not: why this is no estimate; empty where it is.
    """

    model: str
    tau1: float
    tau2: float
    test: float | None
    why_not: str = ""


def cell_risk(frame: Frame, dialect: str, fraction: float, ask: Ask) -> CellRisk:
    """Main effects, or two-way interactions where the test of Skinner and Shlomo speaks against these.

    Args:
        frame: the table. dialect: of its SQL. fraction: its share of the population. ask: runs a statement.

    Raises:
        UsageError: rows that are no cells: persons with several, or NULLs that are equal to nothing.
    """
    if frame.entity is not None or frame.solo:
        given = spelled("entity") if frame.entity is not None else spelled("nulls", "distinct")
        raise UsageError(f"A log-linear model counts rows in cells, which {given} rules out; take another estimator.")
    *shape, total = (int(value) for value in ask(_statement(frame, dialect, "shape"))[0])
    if prod(shape) > MOST_CELLS:
        return _main_effects(frame, dialect, fraction, total, prod(shape), ask)
    rows = ask(_statement(frame, dialect, "cells"))
    cells = {tuple(int(place) for place in row[:-1]): int(row[-1]) for row in rows}
    best = chosen(fit_models(shape, cells, fraction))
    why = "" if best.good else f"the test of fit speaks against every model ({best.test:.2f} for {best.model})"
    return CellRisk(best.model, best.tau1, best.tau2, best.test, why)


def _main_effects(frame: Frame, dialect: str, fraction: float, total: int, cells: int, ask: Ask) -> CellRisk:
    rest = (1 - fraction) / fraction
    tau1, tau2 = ask(_statement(frame, dialect, "main", total=total, rest=Raw(f"{rest:.17e}")))[0]
    why = f"whether it fits cannot be tested, as there are {cells:,} cells (at most {MOST_CELLS:,})"
    return CellRisk(MAIN, float(tau1 or 0), float(tau2 or 0), None, why)


def _statement(frame: Frame, dialect: str, stage: str, **more: Any) -> Statement:
    keys = [Raw(key) for key in frame.keys]
    return render("population/cells.sql", dialect, source=Raw(frame.source), keys=keys, stage=stage, **more)
