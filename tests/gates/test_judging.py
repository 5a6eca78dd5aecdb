"""Severity, thresholds and exceptions decide as their definitions say, case by case."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.errors import ExitCode
from sqlaudit.base.nodes import Node
from sqlaudit.base.result import Status
from sqlaudit.gates.judging import judged, outcome_of
from sqlaudit.gates.nodes import threshold, up_to
from sqlaudit.gates.result import Outcome, Place
from sqlaudit.gates.spec import PolicyException, TableEntry, TestSpec
from sqlaudit.models.check import Check
from sqlaudit.models.requirements import parse_requirement
from tests.strategies import run

PLACE = Place("p.yml", 3)
SPEC = TestSpec("k=5", PLACE, model=parse_requirement("k=5"))
TODAY = datetime.date(2027, 1, 15)


def check(failing: int | None, status: Status = Status.FAIL) -> Check:
    return Check("k_anonymity", None, {}, 1, {"k": 1}, ">=", 5, status, 1, failing, text="k=5")


def limit(text: str) -> Node:
    return Node(text, "p.yml, line 3")


@pytest.mark.parametrize(
    ("severity", "warn_if", "error_if", "failing", "outcome"),
    [
        ("error", "", "", 1, Outcome.FAIL),
        ("warn", "", "", 1, Outcome.WARN),
        ("warn", "> 10", "", 10, Outcome.PASS),
        ("warn", "> 10", "", 11, Outcome.WARN),
        ("error", "", "> 10", 10, Outcome.WARN),
        ("error", "", "> 10", 11, Outcome.FAIL),
        ("error", "> 5", "> 10", 5, Outcome.PASS),
        ("error", "> 5", "> 10", 6, Outcome.WARN),
        ("error", "> 5", "> 10%", 10, Outcome.WARN),
        ("error", "> 5", "> 10%", 11, Outcome.FAIL),
        ("error", "> 5%", ">= 10 rows", 10, Outcome.FAIL),
        ("error", "", "> 0.333%", 1, Outcome.FAIL),
        ("error", "", "!= 3", 3, Outcome.WARN),
    ],
)
def test_thresholds_of_a_hundred_rows(
    severity: str, warn_if: str, error_if: str, failing: int, outcome: Outcome
) -> None:
    spec = replace(
        SPEC,
        severity=severity,
        warn_if=threshold("warn_if")(limit(warn_if)) if warn_if else None,
        error_if=threshold("error_if")(limit(error_if)) if error_if else None,
    )
    assert outcome_of(spec, check(failing), 100)[0] is outcome


@given(st.sampled_from([">", ">=", "<", "<=", "=", "!="]), st.integers(0, 20), st.integers(0, 20), st.integers(1, 20))
@run(200)
def test_thresholds_are_exact(operator: str, bound: int, failing: int, rows: int) -> None:
    spelled = {"=": "=="}.get(operator, operator)
    assert threshold("x")(limit(f"{operator} {bound}")).met(failing, rows) is eval(f"{failing} {spelled} {bound}")
    # the same in percent, over whole numbers: failing / rows against bound / 100
    in_percent = eval(f"{failing} * 100 {spelled} {bound} * {rows}")
    assert threshold("x")(limit(f"{operator} {bound}%")).met(failing, rows) is in_percent


def test_what_cannot_be_decided_keeps_back_unless_it_only_warns() -> None:
    undecided = replace(check(None, Status.UNDETERMINED), note="too many combinations")
    assert outcome_of(SPEC, undecided, 7) == (Outcome.UNDETERMINED, "Too many combinations.")
    assert outcome_of(replace(SPEC, severity="warn"), undecided, 7)[0] is Outcome.WARN
    assert outcome_of(SPEC, check(0, Status.UNDETERMINED), 0) == (Outcome.UNDETERMINED, "There is no row to test.")


def entry(until: str, up: str = "", sensitive: str = "") -> TableEntry:
    bound = up_to("up_to")(limit(up)) if up else None
    exception = PolicyException("k=5", sensitive, datetime.date.fromisoformat(until), "Known", bound, PLACE)
    return TableEntry("t", PLACE, None, exceptions=(exception,))


@pytest.mark.parametrize(
    ("table", "failing", "outcome", "said"),
    [
        (entry("2027-01-15"), 9, Outcome.EXCEPTED, ""),
        (entry("2027-01-14"), 9, Outcome.FAIL, "Its exception expired on 2027-01-14."),
        (entry("2027-02-01", "9"), 9, Outcome.EXCEPTED, ""),
        (entry("2027-02-01", "8"), 9, Outcome.FAIL, "Its exception is for up to 8 only."),
        (entry("2027-02-01", "9%"), 9, Outcome.EXCEPTED, ""),
        (entry("2027-02-01", "8.9%"), 9, Outcome.FAIL, "Its exception is for up to 8.9% only."),
        (entry("2027-02-01", sensitive="other"), 9, Outcome.FAIL, ""),
    ],
)
def test_exceptions(table: TableEntry, failing: int, outcome: Outcome, said: str) -> None:
    test = judged(table, SPEC, check(failing), 100, 10, TODAY)
    assert (test.outcome, test.message) == (outcome, said)
    assert test.exit_code is (ExitCode.REQUIREMENT_FAILED if outcome is Outcome.FAIL else ExitCode.OK)


def test_an_exception_that_is_no_longer_needed_is_said() -> None:
    test = judged(entry("2027-02-01"), SPEC, check(0, Status.PASS), 100, 10, TODAY)
    assert (test.outcome, test.message) == (Outcome.PASS, "The exception is no longer needed.")


def test_nothing_is_excepted_that_nobody_counted() -> None:
    test = judged(entry("2027-02-01"), SPEC, check(None, Status.UNDETERMINED), 100, 10, TODAY)
    assert test.outcome is Outcome.UNDETERMINED
