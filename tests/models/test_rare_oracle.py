"""The rarer models against brute force, on every engine and in both physical forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given as for_all

from sqlaudit.audits.result import AuditResult
from sqlaudit.base.result import Status
from sqlaudit.classes import histogram
from sqlaudit.models.base import Check
from sqlaudit.models.registry import REGISTRY, requirement_from
from tests import oracle
from tests.audits.unwarned import unwarned  # noqa: F401
from tests.models import oracle_rare
from tests.models.strategies import RareCase, rare_cases
from tests.strategies import run

AuditOn = Callable[..., AuditResult]
STATUS = {True: Status.PASS, False: Status.FAIL, None: Status.UNDETERMINED}


def audited(audit_on: AuditOn, case: RareCase, nulls: str = "equal") -> AuditResult:
    requirements = [requirement_from(name, limit) for name, limit in case.limits.items()]
    return audit_on(
        case.rows,
        case.columns,
        qi=case.qi,
        sensitive="s",
        entity=case.entity,
        require=requirements,
        inputs=case.inputs(),
        failing_classes=None,
        nulls=nulls,
    )


def expected_of(case: RareCase, name: str, table: oracle.Table) -> oracle.Expected:
    # required together with mu_dilution, density has no limit on the don't-care set
    more = {"diluted": True} if name == "d_density_control" else {}
    return oracle_rare.MODELS[name](table, case.given, **case.limits[name], **more)


def assert_level(found: Any, expected: Any, name: str) -> None:
    if expected == "none":
        assert found is None, name
    elif expected in (None, math.inf) or (isinstance(expected, int | Fraction) and isinstance(found, int | Fraction)):
        assert found == expected, name
    else:
        assert found == pytest.approx(float(expected), rel=1e-12, abs=1e-12), name


def assert_check(check: Check, expected: oracle.Expected, rows: int) -> None:
    assert_level(check.level, expected.level, check.model)
    if not rows:
        assert check.status is Status.UNDETERMINED
        return
    assert check.status is STATUS[expected.holds], check
    if expected.failing_classes is not None:
        assert (check.failing_classes, check.failing_rows) == (expected.failing_classes, expected.failing_rows), check


def assert_agrees(result: AuditResult, case: RareCase, nulls: str = "equal") -> None:
    table = case.table(nulls)
    assert [check.model for check in result.checks] == list(case.limits)
    listed = set()
    for check in result.checks:
        expected = expected_of(case, check.model, table)
        assert_check(check, expected, len(case.rows))
        if case.rows and expected.holds is False:  # of a table without rows nothing falls short
            listed |= {g.key for g in expected.failing} if nulls == "equal" else {id(g) for g in expected.failing}
        if check.model == "pd_recursive_c_l_diversity":
            c = case.limits[check.model]["c"]
            assert check.levels["largest_l"] == oracle_rare.largest_l(table, case.given.dont_care, c)
    assert result.failing_total == len(listed)


@for_all(case=rare_cases())
@run(14, some=4)
def test_every_rare_model_agrees_with_brute_force(audit_on: AuditOn, case: RareCase) -> None:
    assert_agrees(audited(audit_on, case), case)


@for_all(case=rare_cases(rows=12))
@run(8, some=3)
def test_the_cells_form_agrees_too(audit_on: AuditOn, case: RareCase) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(histogram, "PACKED_VALUES", 0)
        assert_agrees(audited(audit_on, case), case)


@for_all(case=rare_cases(rows=12))
@run(8, some=3)
def test_a_missing_value_matches_any_value(audit_on: AuditOn, case: RareCase) -> None:
    offered = {name: limit for name, limit in case.limits.items() if REGISTRY[name].wildcard}
    assert set(offered) == {"l_categorical_diversity", "delta_range_control", "l_r_linear_diversity"}
    wild = replace(case, limits=offered)
    assert_agrees(audited(audit_on, wild, "wildcard"), wild, "wildcard")
