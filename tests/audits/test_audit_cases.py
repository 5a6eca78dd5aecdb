"""Rows in, figures out: every file of `cases/` on every engine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlaudit.audits.result import AuditResult
from sqlaudit.models.base import Check
from sqlaudit.models.registry import REGISTRY
from tests import oracle
from tests.audits.unwarned import unwarned  # noqa: F401

AuditOn = Callable[..., AuditResult]
FOLDER = Path(__file__).parent / "cases"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Every process of the tests reads the files before its first test; the loader in C takes a tenth of the time."""


def cases() -> Iterator[Any]:
    for file in sorted(FOLDER.glob("*.yml")):
        written = yaml.load(file.read_text(encoding="utf-8"), LOADER)
        for case in written["cases"]:
            yield pytest.param(case, written["tables"][case["table"]], id=f"{file.stem}: {case['name']}")


def roles_of(case: dict[str, Any]) -> dict[str, Any]:
    return {name: case[name] for name in ("qi", "sensitive", "entity", "nulls") if name in case}


def rows_of(table: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def assert_says(check: Check, case: dict[str, Any]) -> None:
    if case["level"] is None or math.isinf(case["level"]):
        assert check.level == case["level"]
    else:
        assert float(check.level or 0) == pytest.approx(case["level"], rel=1e-12, abs=1e-12)
    assert check.status == case["status"]
    assert (check.failing_classes, check.failing_rows) == (case.get("failing_classes"), case.get("failing_rows"))


@pytest.mark.few_on_postgres(0)
@pytest.mark.parametrize(("case", "table"), list(cases()))
def test_case(audit_on: AuditOn, case: dict[str, Any], table: dict[str, Any]) -> None:
    [check] = audit_on(rows_of(table), table["columns"], **roles_of(case), require=[case["require"]]).checks
    assert_says(check, case)


def together() -> Iterator[Any]:
    """Cases of one table and the same roles, which one audit answers."""
    of_one: dict[str, list[dict[str, Any]]] = {}
    tables = {}
    for one in cases():
        case, table = one.values
        name = f"{one.id.partition(':')[0]}: {case['table']} {roles_of(case)}"
        of_one.setdefault(name, []).append(case)
        tables[name] = table
    for name, found in of_one.items():
        yield pytest.param(found, tables[name], id=name)


@pytest.mark.spark
@pytest.mark.parametrize(("together", "table"), list(together()))
def test_cases_of_one_table(audit_on: AuditOn, together: list[dict[str, Any]], table: dict[str, Any]) -> None:
    """Every case on the other engines too, where statements take longer to spell, or to run."""
    required = [case["require"] for case in together]
    checks = audit_on(rows_of(table), table["columns"], **roles_of(together[0]), require=required).checks
    for check, case in zip(checks, together, strict=True):
        assert_says(check, case)


def test_every_model_of_the_oracle_has_a_passing_and_a_failing_case() -> None:
    from sqlaudit.models.registry import parse_requirement

    seen = {
        (parse_requirement(case["require"]).model, case["status"])
        for file in FOLDER.glob("*.yml")
        for case in yaml.safe_load(file.read_text(encoding="utf-8"))["cases"]
    }
    wanted = {(model, status) for model in oracle.MODELS for status in ("pass", "fail")}
    assert wanted <= seen
    assert set(oracle.MODELS) <= set(REGISTRY)
