"""Verdicts of whole lattices against brute force, on every engine, the fast way and the slow way."""

from __future__ import annotations

import pytest
from hypothesis import given

from sqlaudit.engines.base import Engine
from sqlaudit.generalization import evaluate
from sqlaudit.generalization.verdicts import Verdict
from tests.generalization import oracle_nodes
from tests.generalization.lattices import NodeCase, evaluating, node_cases, rare_node_cases
from tests.strategies import run


def assert_verdicts(found: list[Verdict], case: NodeCase) -> None:
    nodes = case.lattice.nodes()
    assert [verdict.node for verdict in found] == nodes
    for verdict in found:
        expected = oracle_nodes.verdict(case.lattice, verdict.node, case.required, case.limit)
        assert (verdict.safe, verdict.prunable_safe) == (expected.safe, expected.prunable_safe), verdict
        assert (verdict.classes, verdict.smallest) == (expected.classes, expected.smallest), verdict
        assert verdict.failing_rows == expected.failing_rows, verdict
        named = {failure.text for failure in verdict.fails}
        # worst-case disclosure is not asked of a node that fails anyway
        assert named <= expected.fails
        assert expected.fails - named <= {r.text for r in case.require if r.model == "c_k_safety"}


def decided(engine: Engine, case: NodeCase) -> list[Verdict]:
    with evaluating(engine, case) as evaluator:
        assert evaluator.heights == case.lattice.heights
        assert evaluator.rows == len(case.lattice.rows)
        assert evaluator.limit_rows == int(case.limit * len(case.lattice.rows))
        return evaluator.decide(case.lattice.nodes())


@given(case=node_cases())
@run(60)
def test_every_node_of_a_lattice_agrees_with_brute_force(engine: Engine, case: NodeCase) -> None:
    assert_verdicts(decided(engine, case), case)


@given(case=rare_node_cases())
@run(40)
def test_the_rarer_models_agree_too(engine: Engine, case: NodeCase) -> None:
    assert_verdicts(decided(engine, case), case)


@given(case=node_cases(plain=False))
@run(40)
def test_persons_missing_values_and_joint_classes_agree_too(engine: Engine, case: NodeCase) -> None:
    assert_verdicts(decided(engine, case), case)


@given(case=node_cases())
@run(25)
def test_auditing_node_by_node_says_the_same(engine: Engine, case: NodeCase) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluate, "needs_audits", lambda attributes, roles: True)
        assert_verdicts(decided(engine, case), case)
