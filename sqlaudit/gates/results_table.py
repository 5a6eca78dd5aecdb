"""A policy's run as a table with a row for each test: for a warehouse, a catalogue or a spreadsheet."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from sqlaudit.base.documents import plain
from sqlaudit.gates.report import sentence
from sqlaudit.gates.result import GateResult, GateTest, Mistake, Outcome
from sqlaudit.models.check import Check
from sqlaudit.reports.escape import visible

COLUMNS = (
    "run_id",
    "run_time",
    "check_id",
    "policy",
    "line",
    "namespace",
    "dataset",
    "table",
    "requirement",
    "sensitive",
    "model",
    "severity",
    "outcome",
    "publishable",
    "level",
    "operator",
    "required",
    "failing_classes",
    "failing_rows",
    "table_rows",
    "owner",
    "tags",
    "message",
    "sqlaudit",
)
"""The columns, which stay: new ones are added behind."""
_UNCHECKED = Check("", None, {}, None, {}, "")


def result_rows(result: GateResult) -> list[tuple[Any, ...]]:
    """The rows, in the order of the policy.

    Mistakes of the policy that belong to no test have rows with the outcome `error`, so that no table of results holds
    only what holds when the run does not.
    """
    run = {"run_id": result.run_id, "run_time": result.time, "policy": result.policy}
    run["sqlaudit"] = result.versions.get("sqlaudit", "")
    found = [_of_test(result, test) for test in result.tests] + [_of_mistake(one) for one in result.mistakes]
    return [tuple((run | row).get(name) for name in COLUMNS) for row in found]


def result_lines(result: GateResult) -> str:
    """The rows as JSON lines, in ASCII."""
    rows = (dict(zip(COLUMNS, row, strict=True)) for row in result_rows(result))
    return "".join(f"{json.dumps(row, allow_nan=False)}\n" for row in rows)


def _of_mistake(mistake: Mistake) -> dict[str, Any]:
    said = {"message": visible(mistake.message), "line": mistake.place.line}
    return said | {"severity": "error", "outcome": Outcome.ERROR.value, "publishable": False}


def _of_test(result: GateResult, test: GateTest) -> dict[str, Any]:
    dataset, check = result.dataset_of(test.table), test.check or _UNCHECKED
    named = [dataset.namespace, dataset.name, *test.key]
    return {
        "check_id": sha256(json.dumps(named).encode()).hexdigest()[:32],
        "line": test.place.line,
        "namespace": dataset.namespace,
        "dataset": dataset.name,
        "table": test.table,
        "requirement": test.requirement,
        "sensitive": test.sensitive,
        "model": check.model or None,
        "severity": test.severity,
        "outcome": test.outcome.value,
        "publishable": not test.blocks,
        "level": plain(check.level),
        "operator": check.operator or None,
        "required": plain(check.required),
        "failing_classes": check.failing_classes,
        "failing_rows": check.failing_rows,
        "table_rows": test.rows,
        "owner": test.owner or None,
        "tags": " ".join(test.tags) or None,
        "message": visible(sentence(test)),
    }
