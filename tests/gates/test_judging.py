"""Severity, thresholds and exceptions decide as their definitions say, case by case."""

from __future__ import annotations

import datetime
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.nodes import Node
from sqlaudit.base.result import Status
from sqlaudit.gates.judging import judged, outcome_of
from sqlaudit.gates.nodes import threshold, up_to
from sqlaudit.gates.result import Outcome, Place, PolicyException, TableEntry, TestSpec, Threshold
from sqlaudit.models.base import Check
from sqlaudit.models.registry import parse_requirement
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
        ("error", "", "!= 0", 3, Outcome.FAIL),
    ],
)
def test_thresholds_of_a_hundred_rows(
    severity: str, warn_if: str, error_if: str, failing: int, outcome: Outcome
) -> None:
    spec = replace(
        SPEC,
        severity=severity,
        warn_if=threshold(limit(warn_if), "warn_if") if warn_if else None,
        error_if=threshold(limit(error_if), "error_if") if error_if else None,
    )
    assert outcome_of(spec, check(failing), 100)[0] is outcome


@given(st.sampled_from([">", ">=", "<="]), st.integers(0, 20), st.integers(0, 20), st.integers(1, 20))
@run(200)
def test_thresholds_are_exact(operator: str, bound: int, failing: int, rows: int) -> None:
    def read(text: str) -> Threshold:
        return up_to(limit(text), "x") if operator == "<=" else threshold(limit(f"{operator} {text}"), "x")

    assert read(f"{bound}").met(failing, rows) is eval(f"{failing} {operator} {bound}")
    # the same in percent, over whole numbers: failing / rows against bound / 100
    assert read(f"{bound}%").met(failing, rows) is eval(f"{failing} * 100 {operator} {bound} * {rows}")


@pytest.mark.parametrize(
    "text", ["> 100%", ">= 100.1%", "> 1000%", "< 0", "<= 0%", "< 5", "<= 5%", "= 0", "== 3", "!= 100", "!= 5%"]
)
@pytest.mark.parametrize("option", ["warn_if", "error_if"])
def test_a_threshold_that_more_rows_would_not_meet_is_refused(option: str, text: str) -> None:
    with pytest.raises(UsageError, match=option):
        threshold(limit(text), option)


@pytest.mark.parametrize("text", ["> 0", ">= 1", "!= 0", "!= 0%", "> 99.9%", ">= 100%", "> 7 rows"])
def test_a_threshold_that_all_rows_meet_is_read(text: str) -> None:
    assert threshold(limit(text), "error_if").met(10, 10)


def test_an_exception_is_for_no_more_than_all_rows() -> None:
    assert up_to(limit("100%"), "up_to").met(10, 10)
    with pytest.raises(UsageError, match="at most 100%"):
        up_to(limit("101%"), "up_to")


@pytest.mark.parametrize(("severity", "outcome"), [("error", Outcome.FAIL), ("warn", Outcome.WARN)])
def test_a_threshold_beyond_the_table_loosens_nothing(severity: str, outcome: Outcome) -> None:
    spec = replace(SPEC, severity=severity, warn_if=Threshold("> 100", ">", Fraction(100), False))
    spec = replace(spec, error_if=spec.warn_if if severity == "error" else None)
    assert outcome_of(spec, check(1), 100) == (
        outcome,
        "'> 100' allows every row of this table, so it is not used. Write a smaller limit.",
    )
    assert outcome_of(spec, check(1), 101) == (Outcome.PASS, "Within the limit '> 100'.")


def test_a_share_of_persons_is_of_persons_and_not_of_their_rows() -> None:
    spec = replace(SPEC, error_if=threshold(limit("> 5%"), "error_if"))
    of_persons = replace(check(10), details={"persons": 100})
    excepted = judged(entry("2027-02-01", "5%"), spec, of_persons, 10_000, None, TODAY)
    assert (excepted.outcome, excepted.message) == (Outcome.FAIL, "Its exception is for up to 5% only.")
    table = replace(entry("2027-02-01"), exceptions=())
    assert judged(table, spec, of_persons, 10_000, None, TODAY).outcome is Outcome.FAIL
    assert judged(table, spec, check(10), 10_000, None, TODAY).outcome is Outcome.WARN


def test_what_cannot_be_decided_keeps_back_unless_it_only_warns() -> None:
    undecided = replace(check(None, Status.UNDETERMINED), note="too many combinations")
    assert outcome_of(SPEC, undecided, 7) == (Outcome.UNDETERMINED, "Too many combinations.")
    assert outcome_of(replace(SPEC, severity="warn"), undecided, 7)[0] is Outcome.WARN
    assert outcome_of(SPEC, check(0, Status.UNDETERMINED), 0) == (Outcome.UNDETERMINED, "The table has no rows.")


def entry(until: str, up: str = "", sensitive: str = "") -> TableEntry:
    bound = up_to(limit(up), "up_to") if up else None
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
