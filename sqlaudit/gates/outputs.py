"""A policy's run for other tools: GitHub's annotations, JUnit, SARIF, OpenLineage, and a table of results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as ET

from sqlaudit.base.result import MEANING, Warned, is_note, plain
from sqlaudit.gates.report import OUTCOMES, GateReport, relations_text, sentence, tested_sentence
from sqlaudit.gates.result import ALLOWED, Drift, GateResult, GateTest, Mistake, Outcome, Place
from sqlaudit.models.base import Check
from sqlaudit.models.phrases import full_title, title_of
from sqlaudit.reports.document import limit, text_of, visible
from sqlaudit.reports.formats import json_text

# A policy's run as commands of GitHub's workflows, which annotate the policy's lines in a pull request.

_COMMANDS = {Outcome.WARN: "warning", Outcome.EXCEPTED: "notice", Outcome.ACCEPTED: "notice"}


def render_github(result: GateResult, root: Path) -> str:
    """The run as one line a finding, then the verdict, and under it what it does not cover.

    Args:
        result: what the run found. root: the root of the repository.
    """
    lines = [_command("error", mistake.place, root, "the policy", mistake.message) for mistake in result.mistakes]
    for test in result.tests:
        kind = "error" if test.blocks else _COMMANDS.get(test.outcome)
        if kind is not None:
            title = f"{test.name} {text_of(OUTCOMES[test.outcome])}"
            lines.append(_command(kind, test.place, root, title, tested_sentence(test)))
    notices = [
        _command("notice" if is_note(notice) else "warning", result.place_of(table), root, table, notice.message)
        for table, notice in result.notices
    ]
    relations = relations_text(result)
    verdict = (text_of(GateReport().headline(result)), *((f"Tested: {relations}",) if relations else ()))
    return "\n".join([*lines, *map(visible, verdict), *notices, visible(MEANING)]) + "\n"


def _command(kind: str, location: Place, root: Path, title: str, message: str) -> str:
    line = {} if location.line is None else {"line": str(location.line)}
    fields = {"file": location.relative(root), **line, "title": title}
    encoded = {name: _data(value).replace(":", "%3A").replace(",", "%2C") for name, value in fields.items()}
    properties = ",".join(f"{name}={value}" for name, value in encoded.items())
    return f"::{kind} {properties}::{_data(message)}"


def _data(text: str) -> str:
    """A message: what would end the command is written as the runner decodes it."""
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


# A policy's run as JUnit XML: one suite a table, one case a test, for every CI service that shows tests.

_SKIPPED = (Outcome.EXCEPTED, Outcome.ACCEPTED, Outcome.SKIPPED)


def render_junit(result: GateResult) -> str:
    """The run as JUnit XML; mistakes of the policy are errors of a suite of their own.

    Exceptions and accepted failures are skipped cases; warnings are cases that hold, with what they say as output.
    What the verdict on a table does not cover is the output of its suite.
    """
    root = ET.Element("testsuites", name="sqlaudit")
    for table in dict.fromkeys(test.table for test in result.tests):
        suite = _suite(root, table, [_case(test) for test in result.tests if test.table == table], result)
        notices = [notice.message for name, notice in result.notices if name == table]
        relation = result.relations[table]
        output_lines = [*notices, *((f"Tested: {relation}",) if relation not in ("", table) else ()), MEANING]
        ET.SubElement(suite, "system-out").text = "\n".join(map(visible, output_lines))
    if result.mistakes:
        _suite(root, "the policy", [_case_of(mistake) for mistake in result.mistakes], result)
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(root: ET.Element, name: str, cases: Sequence[ET.Element], result: GateResult) -> ET.Element:
    number, time = str(len(cases)), result.time[:19]
    suite = ET.SubElement(root, "testsuite", name=visible(name), tests=number, timestamp=time)
    suite.extend(cases)
    for count, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(count, str(len(suite.findall(f"testcase/{tag}"))))
    return suite


def _case(test: GateTest) -> ET.Element:
    """Return the JUnit element of a test."""
    case = ET.Element("testcase", name=visible(test.wanted), classname=visible(test.table))
    message = visible(sentence(test))
    if test.blocks:
        tag = "error" if test.outcome is Outcome.ERROR else "failure"
        problem = ET.SubElement(case, tag, message=message, type=test.outcome.value)
        problem.text = visible(f"{test.place}: {tested_sentence(test)}")
    elif test.outcome in _SKIPPED:
        ET.SubElement(case, "skipped", message=f"{test.outcome.value}: {message}")
    elif test.outcome is Outcome.WARN:
        ET.SubElement(case, "system-out").text = f"warns: {message}"
    return case


def _case_of(mistake: Mistake) -> ET.Element:
    case = ET.Element("testcase", name=visible(str(mistake.place)), classname="the policy")
    problem = ET.SubElement(case, "error", message=visible(mistake.message), type="mistake")
    problem.text = visible(f"{mistake.place}: {mistake.message}")
    return case


# A policy's run as an event of OpenLineage: what was asserted of each dataset and whether it holds, without a value.
#
# Source: OpenLineage 2-0-2, facet DataQualityAssertionsDatasetFacet 1-1-0 (openlineage.io/spec).

SCHEMA_URL = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
FACET_URL = (
    "https://openlineage.io/spec/facets/1-1-0/DataQualityAssertionsDatasetFacet.json"
    "#/$defs/DataQualityAssertionsDatasetFacet"
)


def openlineage_event(result: GateResult, namespace: str = "sqlaudit") -> dict[str, object]:
    """The run as one event, which ends it.

    A test that was not run is no assertion. `success` is that the test holds: what is undecided, could not be run, or
    fails and is allowed to, is none. The run is COMPLETE whatever its verdict, and FAIL where a test could not be
    run or the policy has a mistake.

    Args:
        result: what the run found. namespace: of the job; its name is the policy's file.
    """
    producer = f"pkg:pypi/sqlaudit@{result.versions.get('sqlaudit', '')}"
    tables = dict.fromkeys(test.table for test in result.tests if test.outcome is not Outcome.SKIPPED)
    return {
        "eventType": "FAIL" if result.broken else "COMPLETE",
        "eventTime": result.time,
        "run": {"runId": result.run_id},
        "job": {"namespace": namespace, "name": result.policy},
        "inputs": [_dataset(result, table, producer) for table in tables],
        "outputs": [],
        "producer": producer,
        "schemaURL": SCHEMA_URL,
    }


def _dataset(result: GateResult, table: str, producer: str) -> dict[str, object]:
    dataset = result.dataset_of(table)
    tests = [test for test in result.tests if test.table == table and test.outcome is not Outcome.SKIPPED]
    facet = {"_producer": producer, "_schemaURL": FACET_URL, "assertions": [_assertion(test) for test in tests]}
    return {"namespace": dataset.namespace, "name": dataset.name, "inputFacets": {"dataQualityAssertions": facet}}


def _assertion(test: GateTest) -> dict[str, object]:
    """Return the assertion of a test as OpenLineage has it."""
    check = test.check
    assertion: dict[str, object] = {
        "assertion": test.model,
        "success": test.outcome is Outcome.PASS and not test.tolerated,
        "severity": "warn" if test.outcome in ALLOWED or test.tolerated else test.severity,
        "name": visible(test.name),
    }
    if test.sensitive is not None:
        assertion["column"] = test.sensitive
    if test.description or check is not None:
        assertion["description"] = visible(test.description or (full_title(check) if check is not None else ""))
    if check is not None and check.required is not None:
        assertion["expected"] = f"{check.operator} {limit(check.required)}"
    if check is not None and (level := plain(check.level)) is not None:
        assertion["actual"] = str(level)
    return assertion


# A policy's run as a table with a row for each test: for a warehouse, a catalogue or a spreadsheet.

COLUMNS = (
    *("run_id", "run_time", "check_id", "policy", "line"),
    *("namespace", "dataset", "table", "requirement", "sensitive", "model", "severity", "outcome", "publishable"),
    *("level", "operator", "required", "failing_classes", "failing_rows", "table_rows"),
    *("owner", "tags", "message", "sqlaudit", "relation"),
)
"""The columns, which stay: new ones are added behind."""
_UNCHECKED = Check("", None, {}, None, {}, "")


def result_rows(result: GateResult) -> list[tuple[object, ...]]:
    """The rows, in the order of the policy.

    Mistakes of the policy that belong to no test have rows with the outcome `error`, so that no table of results holds
    only what holds when the run does not.
    """
    run = {"run_id": result.run_id, "run_time": result.time, "policy": result.policy}
    run["sqlaudit"] = result.versions.get("sqlaudit", "")
    wrong = {"severity": "error", "outcome": Outcome.ERROR.value, "publishable": False}
    rows = [_of_test(result, test) for test in result.tests]
    rows += [wrong | {"message": visible(mistake.message), "line": mistake.place.line} for mistake in result.mistakes]
    return [tuple((run | row).get(name) for name in COLUMNS) for row in rows]


def result_lines(result: GateResult) -> str:
    """The rows as JSON lines, in ASCII."""
    rows = (dict(zip(COLUMNS, row, strict=True)) for row in result_rows(result))
    return "".join(f"{json_text(row)}\n" for row in rows)


def _of_test(result: GateResult, test: GateTest) -> dict[str, object]:
    """Return the record of a test in JSON lines."""
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
        "relation": visible(test.relation),
    }


# A policy's run as SARIF 2.1.0: findings at lines of the policy, for code scanning.

SCHEMA_URI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MISTAKE = "policy"
_DRIFT = {Drift.NEW: "new", Drift.SAME: "unchanged", Drift.BETTER: "updated", Drift.WORSE: "updated"}
_SUPPRESSED = (Outcome.EXCEPTED, Outcome.ACCEPTED)


def sarif_data(result: GateResult, root: Path) -> dict[str, object]:
    """The run as a SARIF log.

    Tests that hold, and those that were not run, are no findings; what the verdict does not cover is one, of level
    warning or note. An exception, or an accepted state, is a suppression.

    Args:
        result: what the run found. root: what the addresses of files are relative to.
    """
    reported = [test for test in result.tests if test.outcome not in (Outcome.PASS, Outcome.SKIPPED)]
    rules = _rules(reported, [notice for _, notice in result.notices], bool(result.mistakes))
    findings = [_entry(MISTAKE, "error", mistake.message, mistake.place, root) for mistake in result.mistakes]
    findings += [_finding(test, root) for test in reported]
    for table, notice in result.notices:
        level, message = "note" if is_note(notice) else "warning", f"{table}: {notice.message}"
        key = "\0".join((table, notice.code, *notice.columns))
        findings.append(_entry(notice.code, level, message, result.place_of(table), root, notice=key))
    numbers = {rule["id"]: position for position, rule in enumerate(rules)}
    findings = [
        {"ruleId": finding["ruleId"], "ruleIndex": numbers[finding["ruleId"]], **finding} for finding in findings
    ]
    driver = {
        "name": "sqlaudit",
        "version": result.versions.get("sqlaudit", ""),
        "rules": rules,
        "fullDescription": {"text": MEANING},
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": not result.broken}],
        "columnKind": "unicodeCodePoints",
        "results": findings,
        "properties": {"relations": {table: visible(relation) for table, relation in result.relations.items()}},
    }
    return {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}


def _rules(reported: list[GateTest], notices: list[Warned], mistakes: bool) -> list[dict[str, object]]:
    titles = {test.model: title_of(test.check) if test.check else test.requirement for test in reported}
    titles |= {notice.code: notice.code.replace("_", " ").capitalize() for notice in notices}
    if mistakes:
        titles[MISTAKE] = "The policy can be read"
    return [{"id": name, "shortDescription": {"text": visible(title)}} for name, title in sorted(titles.items())]


def _entry(rule: str, level: str, message: str, location: Place, root: Path, **key: str) -> dict[str, Any]:
    """A finding at a place; one that can be told from others has a key, by the version of its form."""
    path = quote(location.relative(root))
    physical: dict[str, object] = {"artifactLocation": {"uri": f"file://{path}" if path.startswith("/") else path}}
    if location.line is not None:
        physical["region"] = {"startLine": location.line}
    entry = {
        "ruleId": rule,
        "level": level,
        "message": {"text": visible(message)},
        "locations": [{"physicalLocation": physical}],
    }
    prints = {f"{kind}/v1": sha256(text.encode()).hexdigest() for kind, text in key.items()}
    return entry | ({"partialFingerprints": prints} if prints else {})


def _finding(test: GateTest, root: Path) -> dict[str, object]:
    """Return the SARIF result of a test that failed, warns or is excepted."""
    gentle = test.outcome is Outcome.WARN or test.outcome in _SUPPRESSED
    level, message = "warning" if gentle else "error", f"{test.name}: {tested_sentence(test)}"
    entry = _entry(test.model, level, message, test.place, root, test="\0".join(test.key))
    if test.tags:
        entry["properties"] = {"tags": sorted(set(test.tags))}
    if test.outcome in _SUPPRESSED:
        exception = test.exception if test.outcome is Outcome.EXCEPTED else None
        why = f"Until {exception.until}: {exception.reason}" if exception else "Not worse than the accepted baseline."
        kind = "inSource" if exception else "external"
        entry["suppressions"] = [{"kind": kind, "justification": visible(why)}]
    if test.change is not None:
        entry["baselineState"] = _DRIFT[test.change.drift]
    return entry
