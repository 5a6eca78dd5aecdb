"""The local optima of all strategies equal those that are found by walking every one of them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.lattices.search import strategies
from sqlaudit.lattices.search.loss import round_loss
from sqlaudit.lattices.search.strategies import count_local_optima
from sqlaudit.lattices.verdicts import Node
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import render_text
from tests.lattices.oracle_search import Lattice, losses_for, mixed_lattice, monotone_lattice
from tests.reports.schemas import validator


def walked(node: Node, top: Node) -> Iterator[list[Node]]:
    """Every way from a node to the top, one level a step."""
    if node == top:
        yield [node]
    for at, level in enumerate(node):
        if level < top[at]:
            for rest in walked((*node[:at], level + 1, *node[at + 1 :]), top):
                yield [node, *rest]


def small(lattice: Lattice) -> bool:
    return len(lattice.nodes()) <= 40 and sum(lattice.heights) <= 7


@pytest.mark.parametrize("make", [monotone_lattice, mixed_lattice])
def test_every_strategy_has_the_local_optimum_that_a_walk_finds(make):
    seen = 0
    for seed in range(200):
        rng = random.Random(seed)
        lattice = make(rng)
        if not small(lattice):
            continue
        for loss in losses_for(rng, lattice):
            exact = loss.exact or (lambda nodes, loss=loss: [loss.bound(node) for node in nodes])
            safe = lattice.safe()
            losses = dict(zip(safe, exact(safe), strict=True))
            wanted: Counter[Node | None] = Counter()
            ways = list(walked((0,) * len(lattice.heights), lattice.heights))
            for way in ways:
                wanted[min((n for n in way if n in losses), key=lambda n: round_loss(losses[n]), default=None)] += 1
            found = count_local_optima(lattice.heights, losses)
            assert (found.strategies, found.without) == (len(ways), wanted.pop(None, 0))
            assert found.optima is not None
            assert dict(found.optima) == wanted
            if found.optima:
                assert found.optima[0][0] == lattice.best(loss)[1]  # the best of the local optima is the best of all
            seen += bool(wanted)
    assert seen > 20


PEOPLE = pd.DataFrame({"age": [31, 34, 38, 52, 57, 59], "sex": list("fmfmff")})


def searched(**more):
    asked = {"qi": ["age", "sex"], "require": "k=2", "hierarchies": {"age": {"widths": [10, 20]}}, "find": "all"}
    return sqlaudit.lattice(PEOPLE, **(asked | more))


def test_a_report_shows_the_local_optimum_of_each_strategy():
    found = searched(measure="precision")
    local = found.local
    assert (local.strategies, local.without, local.loss_decreases) == (4, 0, 0)
    assert [(one.levels, one.strategies) for one in local.optima] == [((3, 0), 1), ((1, 1), 2), ((2, 1), 1)]
    assert local.optima[0].loss == found.best.loss
    assert found.loss_monotone is True
    said = " ".join(render_text(document_of(found)).split())
    assert "4 strategies. A strategy goes" in said
    assert "Loss can fall at coarser nodes no" in said
    document = found.to_dict()
    validator("lattice").validate(document)
    assert document["lattice"]["local"]["optima"][0] == {"levels": [3, 0], "loss": 0.5, "strategies": 1}
    assert "local" not in searched(find="best").to_dict()["lattice"]


def test_where_a_coarser_node_may_lose_less_it_is_said():
    found = searched(measure="discernibility", suppress="34%")
    assert found.loss_monotone is False
    losses = {node.levels: node.loss for node in found.safe_nodes}
    assert (losses[1, 0], losses[1, 1]) == (20, 18)  # two rows are left out, or classes of 3 and 3
    assert found.local.loss_decreases == 2  # the same with ages in twenties
    assert found.local.optima[0].levels == found.best.levels
    said = " ".join(render_text(document_of(found)).split())
    assert "Loss can fall at coarser nodes yes" in said
    assert "the coarser node has less loss" in said


def test_too_many_ways_are_not_counted(monkeypatch):
    monkeypatch.setattr(strategies, "MOST_STEPS", 10)
    found = searched(measure="discernibility", suppress="34%")
    assert found.local.optima is None
    assert "are not counted" in " ".join(render_text(document_of(found)).split())
    validator("lattice").validate(found.to_dict())
