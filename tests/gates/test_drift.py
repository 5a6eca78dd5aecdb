"""A baseline accepts a state exactly; what got worse fails, and says by how much."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.result import Number, Status
from sqlaudit.gates.result import ColumnSetFigures, Drift, GateTest, Outcome, Place
from sqlaudit.gates.stored import History, accepted_from, exact_text, number_of, sets_of, sets_text, settled
from sqlaudit.models.base import Check
from tests.gates.databases import PATIENTS, SECRET, in_duckdb
from tests.strategies import run

PLACE = Place("p.yml", 3)


def result(
    level: Number | None, failing: int, operator: str = ">=", outcome: Outcome = Outcome.FAIL, model: str = "m"
) -> GateTest:
    check = Check(model, None, {}, level, {}, operator, 5, Status.FAIL, 1, failing)
    return GateTest("t", "k=5", outcome, PLACE, check=check, rows=100)


@given(st.one_of(st.integers(0, 10**9), st.fractions(), st.floats(allow_nan=False)))
@run(300)
def test_levels_come_back_exactly(level: Number) -> None:
    text = exact_text(level)
    assert text is not None
    assert number_of(text) == level
    if isinstance(level, Fraction) and level.denominator > 1:
        assert isinstance(number_of(text), Fraction)


@pytest.mark.parametrize(
    ("before", "now", "drift", "outcome", "said"),
    [
        (result(3, 10), result(3, 10), Drift.SAME, Outcome.ACCEPTED, ""),
        (
            result(None, 0, outcome=Outcome.PASS),
            result(None, 0),
            Drift.WORSE,
            Outcome.FAIL,
            "It passed before and fails now.",
        ),
        (result(3, 10), result(2, 10), Drift.WORSE, Outcome.FAIL, "The level was 3 and is 2."),
        (result(3, 10), result(3, 11), Drift.WORSE, Outcome.FAIL, "10 rows failed before and 11 fail now."),
        (
            result(3, 10),
            result(2, 11),
            Drift.WORSE,
            Outcome.FAIL,
            "The level was 3 and is 2; 10 rows failed before and 11 fail now.",
        ),
        (result(3, 10), result(4, 10), Drift.BETTER, Outcome.ACCEPTED, "The level was 3 and is 4."),
        (result(3, 10), result(4, 11), Drift.WORSE, Outcome.FAIL, "10 rows failed before and 11 fail now."),
        (
            result(Fraction(1, 3), 10, "<="),
            result(Fraction(1, 2), 10, "<="),
            Drift.WORSE,
            Outcome.FAIL,
            "The level was 1/3 and is 1/2.",
        ),
        (
            result(Fraction(1, 2), 10, "<"),
            result(Fraction(1, 3), 9, "<"),
            Drift.BETTER,
            Outcome.ACCEPTED,
            "The level was 1/2 and is 1/3; 10 rows failed before and 9 fail now.",
        ),
        (result(2.5, 10, "<="), result(2.5 * (1 + 1e-13), 10, "<="), Drift.SAME, Outcome.ACCEPTED, ""),
        (result(2.5, 10, "<="), result(math.inf, 10, "<="), Drift.WORSE, Outcome.FAIL, "The level was 2.5 and is inf."),
        (result(math.inf, 10, "<="), result(math.inf, 10, "<="), Drift.SAME, Outcome.ACCEPTED, ""),
        (
            result(9, 0, outcome=Outcome.PASS),
            result(3, 10),
            Drift.WORSE,
            Outcome.FAIL,
            "The level was 9 and is 3; 0 rows failed before and 10 fail now.",
        ),
        (
            result(9, 0, outcome=Outcome.PASS),
            result(6, 0, outcome=Outcome.PASS),
            Drift.WORSE,
            Outcome.PASS,
            "The level was 9 and is 6.",
        ),
        (result(3, 10), result(3, 10, outcome=Outcome.WARN), Drift.SAME, Outcome.ACCEPTED, ""),
    ],
)
def test_what_is_worse(before: GateTest, now: GateTest, drift: Drift, outcome: Outcome, said: str) -> None:
    found = settled(now, accepted_from(before))
    assert found.change is not None
    assert (found.change.drift, found.outcome, found.change.sentence) == (drift, outcome, said)


def test_a_test_without_an_accepted_state_is_new() -> None:
    found = settled(result(3, 10), None)
    assert found.change is not None
    assert (found.change.drift, found.outcome, found.change.sentence) == (
        Drift.NEW,
        Outcome.FAIL,
        "It has no accepted state.",
    )


@pytest.mark.parametrize("outcome", [Outcome.ERROR, Outcome.UNDETERMINED, Outcome.SKIPPED])
def test_what_says_nothing_is_neither_accepted_nor_compared(outcome: Outcome) -> None:
    silent = result(3, 10, outcome=outcome)
    assert accepted_from(silent) is None
    assert settled(silent, accepted_from(result(3, 10))) == silent


def sets(*found: tuple[str, int]) -> GateTest:
    figures = tuple(ColumnSetFigures(tuple(names.split()), rows) for names, rows in found)
    worst = max((rows for _, rows in found), default=0)
    outcome = Outcome.FAIL if found else Outcome.PASS
    return replace(result(len(found), worst, "<=", outcome, "column_sets"), sets=figures)


@pytest.mark.parametrize(
    ("before", "now", "drift", "said"),
    [
        (sets(("a b", 5)), sets(("a b", 5)), Drift.SAME, ""),
        (sets(("a b", 5)), sets(("a b", 6)), Drift.WORSE, "A, b put 5 rows at risk and puts 6."),
        (sets(("a b", 5)), sets(("a b", 4)), Drift.BETTER, "A, b put 5 rows at risk and puts 4."),
        (sets(("a b", 5)), sets(("a", 5)), Drift.WORSE, "The column set a is beyond the limit now."),
        (sets(("a", 5)), sets(("a b", 5), ("a c", 5)), Drift.BETTER, "The column set a keeps the limit now."),
        (sets(("a", 5)), sets(("a", 5), ("b c", 1)), Drift.WORSE, "The column set b, c is beyond the limit now."),
        (sets(), sets(("a", 1)), Drift.WORSE, "The column set a is beyond the limit now."),
    ],
)
def test_column_sets_are_compared_one_by_one(before: GateTest, now: GateTest, drift: Drift, said: str) -> None:
    found = settled(now, accepted_from(before))
    assert found.change is not None
    assert (found.change.drift, found.change.sentence) == (drift, said)
    assert found.outcome is (Outcome.FAIL if drift is Drift.WORSE else Outcome.ACCEPTED)


def test_sets_come_back_from_their_text() -> None:
    accepted = accepted_from(sets(('a "odd" b', 5), ("c", 1)))
    assert accepted is not None
    assert sets_of(sets_text(accepted)) == accepted.sets


POLICY = """
tables:
  - table: patients
    quasi_identifiers: [age, sex]
    sensitive: [disease]
    requirements: [k=3, l=2, t=0.9, {column_sets: {max_size: 1, k: 3}}]
  - {table: patients, name: empty, where: 1 = 0, quasi_identifiers: [age], requirements: [k=2]}
"""


def test_a_table_through_its_runs(tmp_path: Path) -> None:
    made, kept = in_duckdb(tmp_path, {"patients": PATIENTS}), tmp_path / "kept.duckdb"
    policy = made.policy(POLICY)
    first = sqlaudit.gate(policy, baseline=kept, accept=True)
    assert first.notes == (f"Accepted the state of 4 tests in {str(kept)!r}.", "1 tests have no result to accept.")
    same = sqlaudit.gate(policy, baseline=kept)
    assert [test.outcome.value for test in same.tests] == ["accepted", "accepted", "pass", "accepted", "undetermined"]
    worse = [*PATIENTS, {"age": 77, "sex": "M", "disease": SECRET}]
    in_duckdb(tmp_path, {"patients": worse})
    found = sqlaudit.gate(policy, baseline=kept)
    assert [test.outcome.value for test in found.tests] == ["fail", "fail", "pass", "fail", "undetermined"]
    assert [test.change.sentence for test in found.tests if test.change] == [
        "The level was 2 and is 1; 4 rows failed before and 5 fail now.",
        "2 rows failed before and 3 fail now.",
        found.tests[2].change.sentence if found.tests[2].change else "",
        "Age put 2 rows at risk and puts 3.",
    ]
    sqlaudit.gate(policy, baseline=kept, accept=True, select=["requirement:k"])
    again = sqlaudit.gate(policy, baseline=kept)
    assert [test.outcome.value for test in again.tests] == ["accepted", "fail", "pass", "fail", "undetermined"]
    moments = History(kept).moments()[("patients", "k=3", "")]
    assert [(moment.run, moment.accepted, moment.outcome, moment.level, moment.failing_rows) for moment in moments] == [
        (5, False, "accepted", "1", 5),
        (4, True, "fail", "1", 5),
        (3, False, "fail", "1", 5),
        (2, False, "accepted", "2", 4),
        (1, True, "fail", "2", 4),
    ]


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("[age, sex]", "[sex, age]", True),
        ("tables:", "# a line more\n\ntables:", True),
        ("k=3,", "{k: 3, severity: warn, tags: [a], owner: b},", True),
        ("sensitive: [disease]", "sensitive: [disease]\n    description: all of them", True),
        ("[age, sex]", "[age]", False),
        ("    sensitive: [disease]", "    sensitive: [disease]\n    where: age > 0", False),
        ("    sensitive: [disease]", "    sensitive: [disease]\n    nulls: distinct", False),
        ("table: patients\n", "table: others\n    name: patients\n", False),
        ("table: patients\n", "query: SELECT * FROM patients\n    name: patients\n", False),
        ("clinic.duckdb", "second.duckdb", False),
        ("    sensitive: [disease]", "    sensitive: [disease]\n    inputs: {dont_care: [cold]}", False),
    ],
)
def test_what_was_accepted_is_what_was_asked(before: str, after: str, same: bool, tmp_path: Path) -> None:
    made, kept = in_duckdb(tmp_path, {"patients": PATIENTS, "others": PATIENTS}), tmp_path / "kept.duckdb"
    (tmp_path / "second.duckdb").write_bytes((tmp_path / "clinic.duckdb").read_bytes())
    assert sqlaudit.gate(made.policy(POLICY), baseline=kept, accept=True).tests[0].outcome is Outcome.FAIL
    policy = made.policy(POLICY)
    policy.write_text(policy.read_text().replace(before, after, 1))
    test = sqlaudit.gate(policy, baseline=kept).tests[0]
    assert (test.outcome, test.change and test.change.sentence) == (
        (Outcome.ACCEPTED, "")
        if same
        else (Outcome.FAIL, "Its rows, roles or inputs have changed since it was accepted. Accept it again.")
    )


def test_what_was_accepted_is_known_wherever_the_policy_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "people.csv").write_text("age,ill\n30,flu\n31,flu\n", encoding="utf-8")
    text = "version: 1\ntables: [{file: people.csv, quasi_identifiers: [age], where: age > 3, requirements: [k=2]}]\n"
    (tmp_path / "a" / "sqlaudit.yml").write_text(text, encoding="utf-8")
    kept = tmp_path / "kept.duckdb"
    sqlaudit.gate(tmp_path / "a" / "sqlaudit.yml", baseline=kept, accept=True)
    (tmp_path / "a").rename(tmp_path / "b")
    monkeypatch.chdir(tmp_path / "b")
    assert sqlaudit.gate("sqlaudit.yml", baseline=kept).tests[0].outcome is Outcome.ACCEPTED
    assert b"age > 3" not in kept.read_bytes()


def test_a_baseline_where_nothing_can_be_written_is_still_compared_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, kept = in_duckdb(tmp_path, {"patients": PATIENTS}), tmp_path / "kept.duckdb"
    policy = made.policy(POLICY)
    sqlaudit.gate(policy, baseline=kept, accept=True)

    def refuse(*_: object, **__: object) -> int:
        raise UsageError("the disk is read-only.")

    monkeypatch.setattr(History, "add", refuse)
    found = sqlaudit.gate(policy, baseline=kept)
    assert found.tests[0].outcome is Outcome.ACCEPTED
    assert found.notes == ("This run was not added to the history: the disk is read-only.",)
    with pytest.raises(UsageError, match="the disk is read-only"):
        sqlaudit.gate(policy, baseline=kept, accept=True)


def test_what_the_policy_no_longer_has_is_said(tmp_path: Path) -> None:
    made, kept = in_duckdb(tmp_path, {"patients": PATIENTS}), tmp_path / "kept.duckdb"
    sqlaudit.gate(made.policy(POLICY), baseline=kept, accept=True)
    found = sqlaudit.gate(made.policy(POLICY.replace("l=2, ", "l=1, ")), baseline=kept)
    assert found.gone == ("patients: l=2 for disease",)
    new = next(test for test in found.tests if test.requirement == "l=1")
    assert new.change is not None
    assert (new.change.drift, new.outcome) == (Drift.NEW, Outcome.PASS)


def test_a_baseline_holds_no_value(tmp_path: Path) -> None:
    made, kept = in_duckdb(tmp_path, {"patients": PATIENTS}), tmp_path / "kept.duckdb"
    sqlaudit.gate(made.policy(POLICY), baseline=kept, accept=True)
    with duckdb.connect(str(kept), read_only=True) as connection:
        said = str([connection.execute(f"FROM {table}").fetchall() for table in ("runs", "results")])
    assert SECRET not in said
    assert "471147114" not in said
    assert SECRET.encode() not in kept.read_bytes()


def test_a_baseline_that_is_none(tmp_path: Path) -> None:
    made = in_duckdb(tmp_path, {"patients": PATIENTS})
    policy = made.policy(POLICY)
    with pytest.raises(UsageError, match="There is no baseline"):
        sqlaudit.gate(policy, baseline=tmp_path / "none.duckdb")
    duckdb.connect(str(tmp_path / "other.duckdb")).close()
    with pytest.raises(UsageError, match="is a DuckDB file without a baseline"):
        sqlaudit.gate(policy, baseline=tmp_path / "other.duckdb")
    (tmp_path / "text.duckdb").write_text("no database", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be used"):
        sqlaudit.gate(policy, baseline=tmp_path / "text.duckdb")
