"""An open lattice gives the figures of a search and of audits for every node, and proposals by their rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import BudgetSpent, UsageError
from sqlaudit.base.spec import Requirement, Roles, Target
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices import sweep
from sqlaudit.lattices.explorer import Explorer
from sqlaudit.lattices.losses import ColumnCosts, Losses
from sqlaudit.lattices.proposals import propose
from sqlaudit.lattices.request import Find, LatticeRequest
from sqlaudit.models.measures import OF_NODES
from sqlaudit.models.registry import requirement_from
from tests import oracle
from tests.audit_values import values_query
from tests.lattices import oracle_nodes
from tests.lattices.lattices import NodeCase, evaluating, node_cases
from tests.lattices.test_publish import COLUMNS, HIERARCHIES, ODD, REQUIREMENTS, ROW
from tests.strategies import run

SWEPT = ["k_anonymity", "l_diversity", "t_closeness", "entropy_l_diversity", "prosecutor_risk"]


def exploring(engine: Engine | None, rows: Sequence[Mapping[str, Any]], require: Any, **options: Any) -> Explorer:
    request = LatticeRequest(
        Target(query=values_query(rows, COLUMNS)),
        Roles((ODD, "age"), ("s",)),
        tuple(requirement_from(name, parameters) for name, parameters, _ in require),
        hierarchies=HIERARCHIES,
        **options,
    )
    return Explorer.open(engine, request)


@run(60, some=12)
@given(case=node_cases())
def test_a_sweep_decides_as_brute_force_does(engine: Engine, case: NodeCase) -> None:
    """Every model that single classes decide: rows, classes, sizes and shortfalls of every node."""
    lattice = case.lattice
    names = {requirement.model for requirement in case.require}
    with evaluating(engine, case) as evaluator:
        costs = tuple(
            ColumnCosts(name, h, (0.0,) * (h + 1)) for name, h in zip(lattice.labels, lattice.heights, strict=True)
        )
        losses = Losses(OF_NODES["precision"], evaluator.rows, costs)
        found = evaluator.sweep(losses)
        if found is None:
            assert not lattice.rows or not names <= set(SWEPT)
            return
        decided = {verdict.node: verdict for verdict, _ in found.nodes()}
        assert set(decided) == set(lattice.nodes())
        for node, verdict in decided.items():
            expected = oracle_nodes.verdict(lattice, node, case.required, case.limit)
            assert (verdict.safe, verdict.failing_rows) == (expected.safe, expected.failing_rows), verdict
            assert (verdict.classes, verdict.smallest) == (expected.classes, expected.smallest), verdict
            assert {failure.requirement for failure in verdict.fails} == expected.fails
            assert found.node(node)[0] == verdict
        for verdict in evaluator.decide(lattice.nodes()):
            assert replace(decided[verdict.node], prunable_safe=verdict.prunable_safe) == verdict
            assert decided[verdict.node].smallest_left == verdict.smallest_left


@run(25, some=8)
@given(st.data())
def test_an_explorer_has_the_figures_of_a_search(engine: Engine, data: st.DataObject) -> None:
    """Under every measure: verdicts of `find=all`, and (with a limit of all rows) the losses of all nodes."""
    rows = data.draw(st.lists(ROW, min_size=4, max_size=12))
    require = data.draw(st.lists(st.sampled_from(REQUIREMENTS), min_size=1, max_size=2, unique_by=str))
    measure = data.draw(st.sampled_from(list(OF_NODES)))
    suppress = data.draw(st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(1)]))
    options: dict[str, Any] = {"measure": measure, "find": Find.ALL, "walk": True}
    result = sqlaudit.lattice(
        query=values_query(rows, COLUMNS),
        qi=[ODD, "age"],
        sensitive="s",
        hierarchies=HIERARCHIES,
        db=engine,
        require=[requirement_from(name, parameters) for name, parameters, _ in require],
        suppress=suppress,
        algorithm="exhaustive",
        **options,
    )
    with exploring(engine, rows, require, suppression=suppress, **options) as explorer:
        nodes = {node.levels: node for node in explorer.nodes()}
        assert list(nodes) == list(product(range(3), range(4)))
        for walked in result.walk:
            node = nodes[walked.levels]
            assert (node.meets, node.rows_left_out) == (walked.safe, walked.failing_rows)
            assert (node.classes, node.smallest, node.fails) == (walked.classes, walked.smallest, walked.fails)
            assert node.smallest_left == walked.smallest_left
        for priced in result.safe_nodes:
            assert nodes[priced.levels].loss == pytest.approx(priced.loss, rel=1e-9, abs=1e-12)
        for levels, node in nodes.items():
            alone = explorer.node(levels)
            assert replace(alone, loss=None) == replace(node, loss=None)
            assert alone.loss == pytest.approx(node.loss)
        if result.safe_nodes:
            proposals = explorer.proposals()
            assert proposals[0].node.levels == result.safe_nodes[0].levels
            assert len({one.name for one in proposals}) == len({one.node.levels for one in proposals}) == len(proposals)
