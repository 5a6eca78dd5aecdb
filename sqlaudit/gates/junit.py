"""A policy's run as JUnit XML: one suite a table, one case a test, for every CI service that shows tests."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from sqlaudit.base.result import MEANING
from sqlaudit.gates.report import sentence
from sqlaudit.gates.result import GateResult, GateTest, Mistake, Outcome
from sqlaudit.reports.escape import visible

_SKIPPED = (Outcome.EXCEPTED, Outcome.ACCEPTED, Outcome.SKIPPED)
_TAGS = {Outcome.FAIL: "failure", Outcome.UNDETERMINED: "failure", Outcome.ERROR: "error"}


def render_junit(result: GateResult) -> str:
    """The run as JUnit XML; mistakes of the policy are errors of a suite of their own.

    Exceptions and accepted failures are skipped cases; warnings are cases that hold, with what they say as output.
    What the verdict on a table does not cover is the output of its suite.
    """
    root = ET.Element("testsuites", name="sqlaudit")
    tables = dict.fromkeys(test.table for test in result.tests)
    for table in tables:
        notices = [notice.message for name, notice in result.notices if name == table]
        _suite(root, table, [test for test in result.tests if test.table == table], result.time, notices)
    if result.mistakes:
        _policy(root, result)
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(root: ET.Element, table: str, tests: Sequence[GateTest], time: str, notices: Sequence[str]) -> None:
    suite = ET.SubElement(root, "testsuite", name=visible(table), tests=str(len(tests)), timestamp=time[:19])
    for test in tests:
        _case(suite, test)
    _count(suite)
    if tests:
        ET.SubElement(suite, "system-out").text = visible_lines([*notices, MEANING])


def visible_lines(sentences: Sequence[str]) -> str:
    """Sentences, one a line."""
    return "\n".join(visible(sentence) for sentence in sentences)


def _count(suite: ET.Element) -> None:
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"testcase/{tag}"))))


def _case(suite: ET.Element, test: GateTest) -> None:
    about = f" for {test.sensitive}" if test.sensitive is not None else ""
    case = ET.SubElement(suite, "testcase", name=visible(test.requirement + about), classname=visible(test.table))
    said = visible(sentence(test))
    if test.outcome in _TAGS:
        found = ET.SubElement(case, _TAGS[test.outcome], message=said, type=test.outcome.value)
        found.text = visible(f"{test.place}: {sentence(test)}")
    elif test.outcome in _SKIPPED:
        ET.SubElement(case, "skipped", message=f"{test.outcome.value}: {said}")
    elif test.outcome is Outcome.WARN:
        ET.SubElement(case, "system-out").text = f"warns: {said}"


def _policy(root: ET.Element, result: GateResult) -> None:
    mistakes: Sequence[Mistake] = result.mistakes
    suite = ET.SubElement(root, "testsuite", name="the policy", tests=str(len(mistakes)), timestamp=result.time[:19])
    for mistake in mistakes:
        case = ET.SubElement(suite, "testcase", name=visible(str(mistake.place)), classname="the policy")
        ET.SubElement(case, "error", message=visible(mistake.message), type="mistake").text = visible(
            f"{mistake.place}: {mistake.message}"
        )
    _count(suite)
