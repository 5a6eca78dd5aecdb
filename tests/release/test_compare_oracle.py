"""Everything that `compare` computes against brute force, on both engines."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

import sqlaudit
from sqlaudit.compare_result import CompareResult
from sqlaudit.engines.base import Engine
from sqlaudit.spec import Target
from tests.audit_values import values_query
from tests.release import cases, oracle
from tests.release.cases import Drawn
from tests.strategies import run

CELLS: dict[str, Callable[[oracle.Case], Any]] = {
    "modification-rate": lambda case: oracle.modified(case) / (case.n * len(case.qi)),
    "whd": oracle.whd,
    "whd-height": lambda case: oracle.whd(case, 1.0),
    "redactions": oracle.redactions,
    "tree": oracle.tree_measure,
    "entropy": oracle.entropy,
    "monotone-entropy": oracle.monotone_entropy,
    "non-uniform-entropy": oracle.non_uniform_entropy,
    "loss": oracle.loss,
    "ncp": oracle.ncp,
    "precision": oracle.precision,
    "discernibility": oracle.discernibility,
    "class-size": oracle.average_class_size,
    "variance-loss": oracle.variance_loss,
    "entropy-volume-inflation": oracle.entropy_volume_inflation,
    "independent-entropy-volume-inflation": oracle.entropy_volume_inflation_independent,
}
PAIRS: dict[str, Callable[[oracle.Case], Any]] = {
    "volume-inflation": oracle.volume_inflation,
    "independent-volume-inflation": oracle.volume_inflation_independent,
    "hybrid": oracle.hybrid,
}


def compared(engine: Engine, drawn: Drawn, **options: Any) -> CompareResult:
    """The package on the tables of a case."""
    case = drawn.case
    original = Target(query=values_query(case.original, cases.COLUMNS), label="original")
    release = Target(query=values_query(case.release, cases.RELEASED), label="release")
    given = {"qi": case.qi, "sensitive": case.sensitive, "hierarchies": drawn.hierarchies, "workload": 0, **options}
    return sqlaudit.compare(original, release, db=engine, **given)


def views(case: oracle.Case) -> list[tuple[str | None, oracle.Case]]:
    return [(None, case), *((column, case.only(column)) for column in case.qi)]


def check(result: CompareResult, case: oracle.Case, names: dict[str, Callable[[oracle.Case], Any]]) -> None:
    for column, view in views(case):
        for name, expected in names.items():
            wanted = expected(view)
            found = result.loss(name, column).value
            where = f"{name} of {column}"
            if wanted is None:
                assert found is None, where
            else:
                assert found is not None, where
                assert math.isclose(float(found), float(wanted), rel_tol=1e-12, abs_tol=1e-11), (where, found, wanted)


@pytest.mark.parametrize("examples", [120])
def test_losses_of_paired_rows(engine: Engine, examples: int) -> None:
    @run(examples)
    @given(cases.cases())
    def agree(drawn: Drawn) -> None:
        result = compared(engine, drawn, key="id", noise_queries=2)
        assert result.pairing == "key"
        check(result, drawn.case, {**CELLS, **PAIRS})
        facts = result.generalization
        assert facts.answer == "yes"
        assert (facts.recoding == "local") is oracle.is_local(drawn.case)

    agree()
