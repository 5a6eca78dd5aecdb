"""Every rarer model on a table where it holds and on one where it does not, on every engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlaudit.audits.result import AuditResult
from sqlaudit.base.result import Status
from sqlaudit.models.registry import parse_requirement
from tests.audit_values import values_query
from tests.audits.unwarned import unwarned  # noqa: F401
from tests.models import oracle_rare

CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "cases.yml").read_text(encoding="utf-8"))
COLUMNS = {"q": "text", "o": "text", "s": "text"}


def rows_of(text: str) -> list[dict[str, Any]]:
    """Rows from `class:values`; a digit after the class tells original quasi-identifiers apart."""
    parts = [part.partition(":") for part in text.split()]
    return [{"q": key[0], "o": key, "s": value} for key, _, values in parts for value in values]


def test_there_is_a_case_for_every_model() -> None:
    assert {case["model"] for case in CASES} == set(oracle_rare.MODELS)


@pytest.mark.few_on_postgres(len(CASES))  # those that fail: which statements are asked does not depend on the verdict
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["model"])
@pytest.mark.parametrize("holds", [pytest.param(False, id="fail"), pytest.param(True, id="pass")])
def test_case(audit_on: Callable[..., AuditResult], case: dict[str, Any], holds: bool) -> None:
    expected = case["pass" if holds else "fail"]
    inputs = dict(case.get("inputs", {}))
    if "population" in case:
        inputs["population"] = {"query": values_query(rows_of(case["population"]), COLUMNS)}
        inputs["original_qi"] = ["o"]
    requirement = parse_requirement(f"{case['model']}={expected['require']}")
    result = audit_on(rows_of(expected["rows"]), COLUMNS, qi=["q"], sensitive="s", require=[requirement], inputs=inputs)
    (check,) = result.checks
    assert check.level is not None
    assert float(check.level) == pytest.approx(expected["level"], rel=1e-12)
    assert check.status is (Status.PASS if holds else Status.FAIL)
    if check.failing_classes is not None:
        assert (check.failing_classes, check.failing_rows) == (expected.get("classes", 0), expected.get("count", 0))
