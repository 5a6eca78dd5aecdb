"""A policy's run as SARIF 2.1.0: findings at lines of the policy, for code scanning."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from sqlaudit.base.result import MEANING, Warned, is_note
from sqlaudit.gates.places import relative
from sqlaudit.gates.report import sentence
from sqlaudit.gates.result import Drift, GateResult, GateTest, Mistake, Outcome, Place
from sqlaudit.models.phrases import title_of
from sqlaudit.reports.escape import visible

SCHEMA_URI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MISTAKE = "policy"
_LEVELS = {Outcome.WARN: "warning"}
_DRIFT = {Drift.NEW: "new", Drift.SAME: "unchanged", Drift.BETTER: "updated", Drift.WORSE: "updated"}
_ALLOWED = (Outcome.EXCEPTED, Outcome.ACCEPTED)


def sarif_data(result: GateResult, root: Path) -> dict[str, Any]:
    """The run as a SARIF log.

    Tests that hold, and those that were not run, are no findings; what the verdict does not cover is one, of level
    warning or note. An exception, or an accepted state, is a suppression.

    Args:
        result: what the run found. root: what the addresses of files are relative to.
    """
    told = [test for test in result.tests if test.outcome not in (Outcome.PASS, Outcome.SKIPPED)]
    rules = _rules(told, [notice for _, notice in result.notices], bool(result.mistakes))
    numbers = {rule["id"]: position for position, rule in enumerate(rules)}
    findings = [_mistake(mistake, root, numbers) for mistake in result.mistakes]
    findings += [_finding(test, root, numbers) for test in told]
    findings += [_notice(result, table, notice, root, numbers) for table, notice in result.notices]
    driver = {
        "name": "sqlaudit",
        "version": result.versions.get("sqlaudit", ""),
        "rules": rules,
        "fullDescription": {"text": MEANING},
    }
    broken = bool(result.mistakes) or any(test.outcome is Outcome.ERROR for test in result.tests)
    invocation = {"executionSuccessful": not broken}
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": findings,
    }
    return {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}


def _rules(told: list[GateTest], notices: list[Warned], mistakes: bool) -> list[dict[str, Any]]:
    titles = {_rule(test): title_of(test.check) if test.check else test.requirement for test in told}
    titles |= {notice.code: notice.code.replace("_", " ").capitalize() for notice in notices}
    if mistakes:
        titles[MISTAKE] = "The policy can be read"
    return [{"id": name, "shortDescription": {"text": visible(title)}} for name, title in sorted(titles.items())]


def _rule(test: GateTest) -> str:
    return test.check.model if test.check is not None else test.requirement.partition("=")[0]


def _finding(test: GateTest, root: Path, numbers: dict[str, int]) -> dict[str, Any]:
    rule = _rule(test)
    found: dict[str, Any] = {
        "ruleId": rule,
        "ruleIndex": numbers[rule],
        "level": _LEVELS.get(test.outcome, "error"),
        "message": {"text": visible(f"{test.name}: {sentence(test)}")},
        "locations": [_location(test.place, root)],
        "partialFingerprints": {"test/v1": hashlib.sha256("\0".join(test.key).encode()).hexdigest()},
    }
    if test.tags:
        found["properties"] = {"tags": sorted(set(test.tags))}
    if test.outcome in _ALLOWED:
        found["level"] = "warning"
        found["suppressions"] = [_suppression(test)]
    if test.change is not None:
        found["baselineState"] = _DRIFT[test.change.drift]
    return found


def _notice(result: GateResult, table: str, notice: Warned, root: Path, numbers: dict[str, int]) -> dict[str, Any]:
    """What the verdict on a table does not cover, at the table's entry."""
    key = "\0".join((table, notice.code, *notice.columns))
    return {
        "ruleId": notice.code,
        "ruleIndex": numbers[notice.code],
        "level": "note" if is_note(notice) else "warning",
        "message": {"text": visible(f"{table}: {notice.message}")},
        "locations": [_location(result.place_of(table), root)],
        "partialFingerprints": {"notice/v1": hashlib.sha256(key.encode()).hexdigest()},
    }


def _suppression(test: GateTest) -> dict[str, Any]:
    if test.exception is not None and test.outcome is Outcome.EXCEPTED:
        return {"kind": "inSource", "justification": visible(f"Until {test.exception.until}: {test.exception.reason}")}
    return {"kind": "external", "justification": "No worse than the accepted baseline."}


def _mistake(mistake: Mistake, root: Path, numbers: dict[str, int]) -> dict[str, Any]:
    return {
        "ruleId": MISTAKE,
        "ruleIndex": numbers[MISTAKE],
        "level": "error",
        "message": {"text": visible(mistake.message)},
        "locations": [_location(mistake.place, root)],
    }


def _location(place: Place, root: Path) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(relative(place, root))}}
    if place.line is not None:
        physical["region"] = {"startLine": place.line}
    return {"physicalLocation": physical}


def _uri(path: str) -> str:
    from urllib.parse import quote

    return f"file://{quote(path)}" if path.startswith("/") else quote(path)
