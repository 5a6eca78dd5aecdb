"""Audits against brute force: the same random tables on every engine, in every physical form."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

from sqlaudit.audits.result import AuditResult
from sqlaudit.base.result import Status
from sqlaudit.classes import histogram
from sqlaudit.models.base import Check
from tests import oracle
from tests.audits.unwarned import unwarned  # noqa: F401
from tests.strategies import Case, cases, run

AuditOn = Callable[..., AuditResult]
STATUS = {True: Status.PASS, False: Status.FAIL, None: Status.UNDETERMINED}


def audited(audit_on: AuditOn, case: Case, **more: Any) -> AuditResult:
    return audit_on(
        case.rows,
        case.columns,
        qi=case.qi,
        sensitive=case.sensitive or (),
        entity=case.entity,
        nulls=case.nulls,
        require=case.require,
        **more,
    )


def assert_level(found: Any, expected: Any, model: str) -> None:
    if isinstance(expected, int) or expected is None or expected == math.inf:
        assert found == expected, model
    else:
        # floats carry the rounding of their own size, and that of the 1 that was subtracted from a gain
        assert found == pytest.approx(float(expected), rel=1e-12, abs=1e-12), model


def assert_check(check: Check, expected: oracle.Expected, table: oracle.Table) -> None:
    assert_level(check.level, expected.level, check.model)
    assert check.status is (STATUS[expected.holds] if table.rows else Status.UNDETERMINED), check
    if expected.failing_classes is not None:
        assert check.failing_classes == expected.failing_classes, check
        assert check.failing_rows == expected.failing_rows, check
        share = Fraction(expected.failing_rows or 0, table.rows) if table.rows else None
        assert check.failing_share == (None if share is None else float(share)), check


def assert_agrees(result: AuditResult, case: Case) -> None:
    table = case.table()
    assert result.rows == len(case.rows)
    sizes: dict[int, int] = {}
    for group in table.groups:
        sizes[group.size] = sizes.get(group.size, 0) + 1
    assert result.classes.sizes == tuple(sorted(sizes.items()))
    assert [check.model for check in result.checks] == [requirement.model for requirement in case.require]
    failing = []
    for check, requirement in zip(result.checks, case.require, strict=True):
        expected = oracle.MODELS[check.model](table, **requirement.parameters)
        assert_check(check, expected, table)
        if expected.holds is False:
            failing += [group for group in expected.failing if group not in failing]
        if check.model == "delta_disclosure_privacy":
            assert_level(check.levels["delta_present"], oracle.delta_present(table), check.model)
    failing_groups = sum(1 for group in table.groups if group in failing)
    assert result.failing_total == failing_groups
    listed = sum(entry.classes for entry in result.failing)
    assert listed == failing_groups
    assert sum(entry.rows * entry.classes for entry in result.failing) == sum(
        group.rows for group in table.groups if group in failing
    )


@given(case=cases())
@run(80, some=12)
def test_every_model_agrees_with_brute_force(audit_on: AuditOn, case: Case) -> None:
    assert_agrees(audited(audit_on, case, failing_classes=None), case)


@given(case=cases(rows=14))
@run(40, some=6)
def test_the_cells_form_agrees_too(audit_on: AuditOn, case: Case) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(histogram, "PACKED_VALUES", 0)
        result = audited(audit_on, case, failing_classes=None)
    assert_agrees(result, case)
    if case.sensitive and case.rows:
        assert result.sensitive[0].form == "cells"


@given(case=cases("wildcard", rows=14))
@run(40, some=6)
def test_a_missing_value_matches_any_value(audit_on: AuditOn, case: Case) -> None:
    assert_agrees(audited(audit_on, case, failing_classes=None), case)
