"""What searches take for granted of real requirements, and every algorithm over real tables."""

from __future__ import annotations

import math
from collections.abc import Mapping

from hypothesis import given

from sqlaudit.engines.contract import Engine
from sqlaudit.lattices.search.choice import FITS
from sqlaudit.lattices.search.lattice import search_lattice
from sqlaudit.lattices.search.loss import NodeLoss
from tests.lattices import oracle_nodes
from tests.lattices.lattices import NodeCase, evaluating, node_cases, rare_node_cases
from tests.lattices.oracle_search import leq
from tests.strategies import run


def audited(case: NodeCase) -> Mapping[tuple[int, ...], oracle_nodes.Expected]:
    """Every node, audited from the definitions."""
    lattice = case.lattice
    return {node: oracle_nodes.verdict(lattice, node, case.required, case.limit) for node in lattice.nodes()}


def assert_inherited(case: NodeCase) -> None:
    """What prunes is inherited by coarser nodes, whatever is suppressed; and a safe node satisfies it."""
    found = audited(case)
    for node, verdict in found.items():
        assert verdict.prunable_safe or not verdict.safe
        if verdict.prunable_safe:
            for coarser, above in found.items():
                assert above.prunable_safe or not leq(node, coarser), (node, coarser)


@given(case=node_cases())
@run(150, some=20)
def test_what_prunes_is_inherited(case: NodeCase) -> None:
    assert_inherited(case)


@given(case=node_cases(plain=False))
@run(100, some=14)
def test_what_prunes_is_inherited_by_persons_and_missing_values(case: NodeCase) -> None:
    assert_inherited(case)


@given(case=rare_node_cases())
@run(100, some=14)
def test_what_prunes_is_inherited_by_the_rarer_models(case: NodeCase) -> None:
    assert_inherited(case)


@given(case=node_cases())
@run(25, some=4)
def test_every_algorithm_over_real_tables(engine: Engine, case: NodeCase) -> None:
    """The same minimal and the same best node from every algorithm, and from an audit of every node."""
    safe = {node for node, verdict in audited(case).items() if verdict.safe}
    minimal = [node for node in sorted(safe) if not any(one != node and leq(one, node) for one in safe)]
    loss = NodeLoss([[math.sqrt(level) for level in range(height + 1)] for height in case.lattice.heights])
    best = min(((round(loss.bound(node), 9), node) for node in safe), default=None)
    with evaluating(engine, case) as evaluator:
        for algorithm in FITS["minimal"]:
            if evaluator.monotone or algorithm != "bounds":
                assert list(search_lattice(evaluator, "minimal", algorithm=algorithm).minimal) == minimal
        for algorithm in FITS["best"]:
            found = search_lattice(evaluator, loss=loss, algorithm=algorithm)
            assert found.best_proven
            assert (found.best.node if found.best else None) == (best[1] if best else None)
        for algorithm in FITS["all"]:
            assert set(search_lattice(evaluator, "all", algorithm=algorithm).safe_nodes()) == safe
