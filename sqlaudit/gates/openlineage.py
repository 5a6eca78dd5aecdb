"""A policy's run as an event of OpenLineage: what was asserted of each dataset and whether it holds, without a value.

Source: OpenLineage 2-0-2, facet DataQualityAssertionsDatasetFacet 1-1-0 (openlineage.io/spec).
"""

from __future__ import annotations

from typing import Any

from sqlaudit.base.documents import plain
from sqlaudit.gates.result import GateResult, GateTest, Outcome
from sqlaudit.models.phrases import full_title
from sqlaudit.reports.escape import visible
from sqlaudit.reports.figures import limit

SCHEMA_URL = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
FACET_URL = (
    "https://openlineage.io/spec/facets/1-1-0/DataQualityAssertionsDatasetFacet.json"
    "#/$defs/DataQualityAssertionsDatasetFacet"
)
_ALLOWED = (Outcome.WARN, Outcome.EXCEPTED, Outcome.ACCEPTED)


def openlineage_event(result: GateResult, namespace: str = "sqlaudit") -> dict[str, Any]:
    """The run as one event, which ends it.

    A test that was not run is no assertion. `success` is that the test holds: what is undecided, could not be run, or
    falls short and is allowed to, is none. The run is COMPLETE whatever its verdict, and FAIL where a test could not be
    run or the policy has a mistake.

    Args:
        result: what the run found. namespace: of the job; its name is the policy's file.
    """
    producer = f"pkg:pypi/sqlaudit@{result.versions.get('sqlaudit', '')}"
    broken = bool(result.mistakes) or any(test.outcome is Outcome.ERROR for test in result.tests)
    tables = dict.fromkeys(test.table for test in result.tests if test.outcome is not Outcome.SKIPPED)
    return {
        "eventType": "FAIL" if broken else "COMPLETE",
        "eventTime": result.time,
        "run": {"runId": result.run_id},
        "job": {"namespace": namespace, "name": result.policy},
        "inputs": [_input(result, table, producer) for table in tables],
        "outputs": [],
        "producer": producer,
        "schemaURL": SCHEMA_URL,
    }


def _input(result: GateResult, table: str, producer: str) -> dict[str, Any]:
    dataset = result.dataset_of(table)
    tests = [test for test in result.tests if test.table == table and test.outcome is not Outcome.SKIPPED]
    facet = {"_producer": producer, "_schemaURL": FACET_URL, "assertions": [_assertion(test) for test in tests]}
    return {"namespace": dataset.namespace, "name": dataset.name, "inputFacets": {"dataQualityAssertions": facet}}


def _assertion(test: GateTest) -> dict[str, Any]:
    check = test.check
    said: dict[str, Any] = {
        "assertion": check.model if check is not None else test.requirement.partition("=")[0],
        "success": test.outcome is Outcome.PASS,
        "severity": "warn" if test.outcome in _ALLOWED else test.severity,
        "name": visible(test.name),
    }
    if test.sensitive is not None:
        said["column"] = test.sensitive
    if test.description or check is not None:
        said["description"] = visible(test.description or (full_title(check) if check is not None else ""))
    if check is not None and check.required is not None:
        said["expected"] = f"{check.operator} {limit(check.required)}"
    if check is not None and (level := plain(check.level)) is not None:
        said["actual"] = str(level)
    return said
