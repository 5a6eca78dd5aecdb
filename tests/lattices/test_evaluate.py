"""Verdicts of whole lattices against brute force, on every engine, the fast way and the slow way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.column_sets import counting
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices import evaluate, rollup
from sqlaudit.lattices.verdicts import CellWeight, Verdict
from tests.lattices import oracle_nodes
from tests.lattices.lattices import NodeCase, evaluating, label_weights, node_cases, rare_node_cases, suppressed_cases
from tests.strategies import on_spark, run


def assert_verdicts(found: list[Verdict], case: NodeCase) -> None:
    nodes = case.lattice.nodes()
    assert [verdict.node for verdict in found] == nodes
    for verdict in found:
        expected = oracle_nodes.verdict(case.lattice, verdict.node, case.required, case.limit)
        assert (verdict.safe, verdict.prunable_safe) == (expected.safe, expected.prunable_safe), verdict
        assert (verdict.classes, verdict.smallest) == (expected.classes, expected.smallest), verdict
        assert verdict.failing_rows == expected.failing_rows, verdict
        named = {failure.requirement for failure in verdict.fails}
        # worst-case disclosure is not asked of a node that fails anyway
        assert named <= expected.fails
        assert expected.fails - named <= {r.text for r in case.require if r.model == "c_k_safety"}


def decided(engine: Engine, case: NodeCase) -> list[Verdict]:
    with evaluating(engine, case) as evaluator:
        assert evaluator.heights == case.lattice.heights
        assert evaluator.rows == len(case.lattice.rows)
        assert evaluator.limit_rows == int(case.limit * len(case.lattice.rows))
        return evaluator.decide(case.lattice.nodes())


def assert_parts(engine: Engine, case: NodeCase) -> None:
    """What losses are made of, at every node, for weights that differ from label to label."""
    lattice, rows = case.lattice, len(case.lattice.rows)
    limit_rows = int(case.limit * rows)
    weights = label_weights(lattice)
    given_weights = [CellWeight(*place, weight) for place, weight in weights.items()]
    with evaluating(engine, case) as evaluator:
        found = evaluator.loss_parts(lattice.nodes(), given_weights, ["bits"])
    assert [part.node for part in found] == lattice.nodes()
    for part in found:
        failing = oracle_nodes.failing_keys(lattice, part.node, case.required) if limit_rows else set()
        for name, value in oracle_nodes.parts(lattice, part.node, failing, weights).items():
            assert getattr(part, name) == pytest.approx(value, abs=1e-9), (part.node, name)
        assert part.rows == rows


ON_DUCKDB = pytest.mark.parametrize("engine_name", ["duckdb"], indirect=True)
BESIDE = pytest.mark.parametrize(
    "engine_name",
    [pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("postgres", "spark")],
    indirect=True,
)
"""Engines whose counts go to a workbench beside them."""


@ON_DUCKDB
@given(case=node_cases())
@run(110, some=14)
def test_every_node_of_a_lattice_agrees_with_brute_force(engine: Engine, case: NodeCase) -> None:
    assert_verdicts(decided(engine, case), case)


@ON_DUCKDB
@given(case=rare_node_cases())
@run(60, some=8)
def test_the_rarer_models_agree_too(engine: Engine, case: NodeCase) -> None:
    assert_verdicts(decided(engine, case), case)


@ON_DUCKDB
@given(case=rare_node_cases(queries=True))
@run(40, some=6)
def test_populations_and_beliefs_agree_too(engine: Engine, case: NodeCase) -> None:
    assert_verdicts(decided(engine, case), case)


@ON_DUCKDB
@given(case=node_cases(plain=False))
@run(40, some=4)
def test_persons_missing_values_and_joint_classes_agree_too(engine: Engine, case: NodeCase) -> None:
    assert_verdicts(decided(engine, case), case)


@ON_DUCKDB
@given(case=node_cases())
@run(10, some=3)
def test_auditing_node_by_node_says_the_same(engine: Engine, case: NodeCase) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluate, "needs_audits", lambda attributes, roles: True)
        assert_verdicts(decided(engine, case), case)


@ON_DUCKDB
@given(case=node_cases(), batch=st.integers(1, 7))
@run(30, some=4)
def test_batches_of_scattered_nodes_start_from_others(engine: Engine, case: NodeCase, batch: int) -> None:
    """As with millions of groups: every node that several others can start from is grouped first."""
    nodes = case.lattice.nodes()
    shuffled = sorted(nodes, key=lambda node: hash((batch, node)))
    with pytest.MonkeyPatch.context() as patch, evaluating(engine, case) as evaluator:
        patch.setattr(rollup, "_WORTHWHILE", 1)
        patch.setattr(rollup, "_FEWER", 1)
        asked = (evaluator.decide(shuffled[start : start + batch]) for start in range(0, len(nodes), batch))
        found = {verdict.node: verdict for verdicts in asked for verdict in verdicts}
    assert_verdicts([found[node] for node in nodes], case)


@BESIDE
@given(case=st.one_of(node_cases(), rare_node_cases(), rare_node_cases(queries=True), node_cases(plain=False)))
@run(120 if on_spark() else 14, some=4)
def test_engines_beside_the_workbench_agree_about_every_node(engine: Engine, case: NodeCase) -> None:
    assert_verdicts(decided(engine, case), case)


@pytest.mark.spark
@given(case=node_cases(plain=False), fits=st.booleans())
@run(20, some=3)
def test_nodes_are_audited_beside_spark_where_the_rows_fit(engine: Engine, case: NodeCase, fits: bool) -> None:
    """A node takes Spark seconds, so that none runs there; where rows do not fit, each node does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "MOST_CODES", counting.MOST_CODES if fits else -1)
        with evaluating(engine, case) as evaluator:
            already = len(engine.executed)
            assert_verdicts(evaluator.decide(case.lattice.nodes()), case)
    if case.lattice.rows:  # else a node may be known without a statement
        assert (len(engine.executed) == already) == fits


@ON_DUCKDB
@given(case=st.one_of(suppressed_cases(), suppressed_cases(plain=False)))
@run(40, some=6)
def test_parts_of_losses_agree_with_brute_force(engine: Engine, case: NodeCase) -> None:
    assert_parts(engine, case)


@BESIDE
@given(case=suppressed_cases())
@run(60 if on_spark() else 6, some=3)
def test_engines_beside_the_workbench_agree_about_parts_of_losses(engine: Engine, case: NodeCase) -> None:
    assert_parts(engine, case)
