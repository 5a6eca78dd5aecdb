"""Rows in, figures out: every file of `cases/` on every engine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlaudit.audits.result import AuditResult
from sqlaudit.models.registry import REGISTRY
from tests import oracle

AuditOn = Callable[..., AuditResult]
FOLDER = Path(__file__).parent / "cases"


def cases() -> Iterator[Any]:
    for file in sorted(FOLDER.glob("*.yml")):
        written = yaml.safe_load(file.read_text(encoding="utf-8"))
        for case in written["cases"]:
            yield pytest.param(case, written["tables"][case["table"]], id=f"{file.stem}: {case['name']}")


@pytest.mark.all_on_spark
@pytest.mark.parametrize(("case", "table"), list(cases()))
def test_case(audit_on: AuditOn, case: dict[str, Any], table: dict[str, Any]) -> None:
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    roles = {name: case[name] for name in ("qi", "sensitive", "entity", "nulls") if name in case}
    [check] = audit_on(rows, table["columns"], **roles, require=[case["require"]]).checks
    if case["level"] is None or math.isinf(case["level"]):
        assert check.level == case["level"]
    else:
        assert float(check.level or 0) == pytest.approx(case["level"], rel=1e-12, abs=1e-12)
    assert check.status == case["status"]
    assert (check.failing_classes, check.failing_rows) == (case.get("failing_classes"), case.get("failing_rows"))


def test_every_model_of_the_oracle_has_a_passing_and_a_failing_case() -> None:
    from sqlaudit.models.requirements import parse_requirement

    seen = {
        (parse_requirement(case["require"]).model, case["status"])
        for file in FOLDER.glob("*.yml")
        for case in yaml.safe_load(file.read_text(encoding="utf-8"))["cases"]
    }
    wanted = {(model, status) for model in oracle.MODELS for status in ("pass", "fail")}
    assert wanted <= seen
    assert set(oracle.MODELS) <= set(REGISTRY)
