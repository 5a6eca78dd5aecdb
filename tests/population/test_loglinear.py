"""Log-linear models of cells: plain proportional fitting, sums cell by cell, known populations, and the same in SQL."""

from __future__ import annotations

from itertools import combinations
from math import isclose
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Target
from sqlaudit.classes.facts import Frame
from sqlaudit.engines.contract import Engine
from sqlaudit.population import loglinear as room
from sqlaudit.population.loglinear import MAIN, TWO_WAY, cell_risk, choose_model, fit_models
from tests.audit_values import values_query
from tests.population import oracle

SHAPE = (3, 4, 2)


def drawn(seed: int, members: int = 60) -> dict[tuple[int, ...], int]:
    random = np.random.default_rng(seed)
    shares = [random.dirichlet(np.ones(size) * 2) for size in SHAPE]
    cells: dict[tuple[int, ...], int] = {}
    for _ in range(members):
        place = tuple(int(random.choice(len(share), p=share)) for share in shares)
        cells[place] = cells.get(place, 0) + 1
    return cells


@pytest.mark.parametrize("seed", range(4))
def test_plain_fitting_and_sums(seed: int) -> None:
    cells = drawn(seed)
    main, pairs = fit_models(SHAPE, cells, 0.1)
    for found, margins in ((main, [(0,), (1,), (2,)]), (pairs, list(combinations(range(3), 2)))):
        means = oracle.plain_ipf(SHAPE, cells, margins)
        tau1, tau2, test = oracle.cell_measures(cells, means, 0.1)
        assert isclose(found.tau1, tau1, rel_tol=1e-4, abs_tol=1e-9)
        assert isclose(found.tau2, tau2, rel_tol=1e-4, abs_tol=1e-9)
        assert isclose(found.test, test, rel_tol=1e-3, abs_tol=1e-6)
    assert (main.model, pairs.model) == (MAIN, TWO_WAY)


def population(interacting: bool, seed: int) -> tuple[Any, Any]:
    """A population of 60,000 in 5,760 cells, and a sample of a tenth."""
    random = np.random.default_rng(seed)
    shares = np.ones(())
    for size in (10, 8, 12, 6):
        shares = np.multiply.outer(shares, random.dirichlet(np.ones(size) * 2))
    if interacting:
        shares = shares * np.exp(random.normal(0, 1, (10, 8, 1, 1)) + random.normal(0, 1, (1, 8, 12, 1)))
    people = random.poisson(60_000 * shares / shares.sum())
    return people, random.binomial(people, 0.1)


@pytest.mark.parametrize("interacting", [False, True])
def test_known_populations(interacting: bool) -> None:
    """τ1 and τ2 are near the truth for the chosen model; the test refuses main effects where columns interact."""
    people, members = population(interacting, 5)
    alone = members == 1
    tau1, tau2 = int((alone & (people == 1)).sum()), float((1 / people[alone]).sum())
    cells = {tuple(place): int(members[tuple(place)]) for place in np.argwhere(members).tolist()}
    models = fit_models(members.shape, cells, 0.1)
    best = choose_model(models)
    assert best.model == (TWO_WAY if interacting else MAIN)
    assert best.tau1 == pytest.approx(tau1, rel=0.25)
    assert best.tau2 == pytest.approx(tau2, rel=0.1)
    assert (models[0].test > 10) is interacting


def rows_of(cells: dict[tuple[int, ...], int]) -> list[dict[str, Any]]:
    """The rows of cells; the first value of the first column is missing."""
    return [{"a": place[0] or None, "b": f"v{place[1]}", "c": place[2]} for place, n in cells.items() for _ in range(n)]


def test_the_same_from_a_database(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells with NULLs, and main effects without reading cells, which is what too many cells get."""
    cells = drawn(7)
    relation = engine.open(Target(query=values_query(rows_of(cells), {"a": "int", "b": "text", "c": "int"})))
    frame = Frame(relation.sql, ("a", "b", "c"), None, False)
    main, pairs = fit_models(SHAPE, cells, 0.2)
    found = cell_risk(frame, engine.dialect, 0.2, engine.run)
    best = choose_model([main, pairs])
    assert found.model == best.model
    assert isclose(found.tau1, best.tau1, rel_tol=1e-9)
    assert found.test is not None
    assert isclose(found.test, best.test, rel_tol=1e-6)
    monkeypatch.setattr(room, "MOST_CELLS", 5)
    large = cell_risk(frame, engine.dialect, 0.2, engine.run)
    assert isclose(large.tau1, main.tau1, rel_tol=1e-9)
    assert isclose(large.tau2, main.tau2, rel_tol=1e-9)
    assert large.why_not == "its fit cannot be tested with 24 cells (at most 5)"


def frame_of(interacting: bool) -> pd.DataFrame:
    _, members = population(interacting, 5)
    places = np.argwhere(members)
    return pd.DataFrame(np.repeat(places, members[members > 0], axis=0), columns=list("abcd"))


def test_a_requirement(monkeypatch: pytest.MonkeyPatch) -> None:
    require = ["population_uniqueness=limit:5%,estimator:loglinear"]
    frame = frame_of(False)
    (check,) = sqlaudit.audit(frame, qi=list("abcd"), sampling_fraction="10%", require=require).required
    people, _ = population(False, 5)
    assert check.status == "undetermined"  # an estimate alone
    assert float(check.level or 0) == pytest.approx(float((people == 1).sum()) / float(people.sum()), rel=0.25)
    assert check.details["model"] == MAIN
    monkeypatch.setattr(room, "MOST_CELLS", 5)
    (check,) = sqlaudit.audit(frame, qi=list("abcd"), sampling_fraction="10%", require=require).required
    assert (check.level, check.status) == (None, "undetermined")  # untested, and so no pass
    with pytest.raises(UsageError, match="which nodes of a lattice do not have"):
        sqlaudit.lattice(frame, qi=list("abcd"), sampling_fraction="10%", require=require)
    with pytest.raises(UsageError, match="A log-linear model does not support entity="):
        sqlaudit.audit(frame, qi=list("abc"), entity="d", sampling_fraction="10%", require=require)
