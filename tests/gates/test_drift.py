"""A baseline accepts a state exactly; what got worse fails, and says by how much."""

from __future__ import annotations

import math
import re
import subprocess
import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import SqlauditError, UsageError
from sqlaudit.base.result import Number, Status
from sqlaudit.gates.outputs import render_github
from sqlaudit.gates.result import Change, ColumnSetFigures, Drift, GateTest, Outcome, Place
from sqlaudit.gates.stored import (
    WITHOUT_ROLE,
    Accepted,
    Baseline,
    History,
    accepted_from,
    exact_text,
    number_of,
    settled,
)
from sqlaudit.models.base import IDENTIFIER, Check
from tests.cli.runner import run as command
from tests.gates.databases import PATIENTS, SECRET, in_duckdb, old_baseline
from tests.places import REPOSITORY
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


def test_an_accepted_identifier_stays_accepted_when_rows_are_added() -> None:
    accepted = accepted_from(result(1, 400, "<=", model=IDENTIFIER))
    grown = settled(result(1, 401, "<=", model=IDENTIFIER), accepted)
    assert (grown.outcome, grown.change) == (Outcome.ACCEPTED, Change(Drift.SAME))


@pytest.mark.parametrize("figure", ["level", "failing_rows"])
def test_a_figure_that_was_taken_out_of_the_baseline_accepts_nothing(figure: str) -> None:
    accepted = accepted_from(result(3, 10))
    assert accepted is not None
    without: Any = {figure: None}
    judged = settled(result(3, 10), replace(accepted, **without))
    assert judged.change == Change(Drift.WORSE, f"{figure.capitalize()} is missing in the accepted state.")
    assert judged.outcome is Outcome.FAIL
    passing = settled(result(7, 0, outcome=Outcome.PASS), replace(accepted, **without))
    assert passing.outcome is Outcome.PASS


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


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
STATES = st.builds(
    Accepted,
    st.booleans(),
    st.one_of(st.none(), st.one_of(st.integers(0, 10**9), st.fractions(), st.floats(0)).map(exact_text)),
    st.one_of(st.none(), st.integers(0, 10**9)),
    st.one_of(st.none(), st.integers(0, 10**9)),
    st.one_of(st.none(), st.integers(0, 10**9)),
    st.lists(st.tuples(st.lists(NAMES, min_size=1, max_size=3).map(tuple), st.integers(0, 9)), max_size=3).map(tuple),
    st.one_of(st.just(""), NAMES),
    st.one_of(st.none(), st.lists(NAMES, max_size=3).map(tuple)),
)


@given(st.dictionaries(st.tuples(NAMES, NAMES, st.one_of(st.just(""), NAMES)), STATES, max_size=4))
@run(200)
def test_a_baseline_comes_back_from_its_text(states: dict[tuple[str, str, str], Accepted]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        kept = Baseline(Path(folder, "kept.yml"))
        kept.write(states)
        assert kept.accepted() == states
        lines = kept.path.read_text(encoding="utf-8").split("\n")
        assert len([line for line in lines if line.startswith("- ")]) == len(states)  # one line a test


POLICY = """
tables:
  - table: patients
    quasi_identifiers: [age, sex]
    sensitive: [disease]
    requirements: [k=3, l=2, t=0.9, {column_sets: {max_size: 1, k: 3}}]
  - {table: patients, name: empty, where: 1 = 0, quasi_identifiers: [age], requirements: [k=2]}
"""


def test_a_table_through_its_runs(tmp_path: Path) -> None:
    made, kept = in_duckdb(tmp_path, {"patients": PATIENTS}), tmp_path / "kept.yml"
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


def test_a_history_has_the_runs_that_were_added(tmp_path: Path) -> None:
    made, kept = in_duckdb(tmp_path, {"patients": PATIENTS}), tmp_path / "kept.yml"
    policy, runs = made.policy(POLICY), tmp_path / "runs.jsonl"
    sqlaudit.gate(policy, baseline=kept, accept=True, history=runs)
    sqlaudit.gate(policy, baseline=kept, history=runs)
    in_duckdb(tmp_path, {"patients": [*PATIENTS, {"age": 77, "sex": "M", "disease": SECRET}]})
    sqlaudit.gate(policy, baseline=kept, history=runs)
    sqlaudit.gate(policy, history=runs)
    sqlaudit.gate(policy)
    moments = History(runs).moments()[("patients", "k=3", "")]
    assert [(moment.run, moment.accepted, moment.outcome, moment.level, moment.failing_rows) for moment in moments] == [
        (4, False, "fail", "1", 5),
        (3, False, "fail", "1", 5),
        (2, False, "accepted", "2", 4),
        (1, True, "fail", "2", 4),
    ]
    assert [moment.run for moment in History(runs).moments(2)[("patients", "k=3", "")]] == [4, 3]
    assert SECRET not in runs.read_text(encoding="utf-8")
    runs.write_text(runs.read_text(encoding="utf-8") + "{}\n", encoding="utf-8")
    with pytest.raises(UsageError, match="line 17: is not a line of a history"):
        History(runs).moments()


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
    made, kept = in_duckdb(tmp_path, {"patients": PATIENTS, "others": PATIENTS}), tmp_path / "kept.yml"
    (tmp_path / "second.duckdb").write_bytes((tmp_path / "clinic.duckdb").read_bytes())
    assert sqlaudit.gate(made.policy(POLICY), baseline=kept, accept=True).tests[0].outcome is Outcome.FAIL
    policy = made.policy(POLICY)
    policy.write_text(policy.read_text().replace(before, after, 1))
    test = sqlaudit.gate(policy, baseline=kept).tests[0]
    assert (test.outcome, test.change and test.change.sentence) == (
        (Outcome.ACCEPTED, "") if same else (Outcome.FAIL, _said_of(after))
    )


def _said_of(after: str) -> str:
    if after == "[age]":
        return "No longer among the quasi-identifiers: sex."
    return "Its rows, roles or inputs have changed since it was accepted."


def test_what_was_accepted_is_known_wherever_the_policy_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "people.csv").write_text("age,ill\n30,flu\n31,flu\n", encoding="utf-8")
    text = "version: 1\ntables: [{file: people.csv, quasi_identifiers: [age], where: age > 3, requirements: [k=2]}]\n"
    (tmp_path / "a" / "sqlaudit.yml").write_text(text, encoding="utf-8")
    kept = tmp_path / "kept.yml"
    sqlaudit.gate(tmp_path / "a" / "sqlaudit.yml", baseline=kept, accept=True)
    (tmp_path / "a").rename(tmp_path / "b")
    monkeypatch.chdir(tmp_path / "b")
    assert sqlaudit.gate("sqlaudit.yml", baseline=kept).tests[0].outcome is Outcome.ACCEPTED
    assert b"age > 3" not in kept.read_bytes()


def test_a_run_only_reads_its_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, kept = in_duckdb(tmp_path, {"patients": PATIENTS}), tmp_path / "kept.yml"
    policy = made.policy(POLICY)
    sqlaudit.gate(policy, baseline=kept, accept=True)
    before = kept.read_bytes()
    kept.chmod(0o400)
    monkeypatch.setattr(History, "add", refuse)
    found = sqlaudit.gate(policy, baseline=kept, history=tmp_path / "runs.jsonl")
    assert found.tests[0].outcome is Outcome.ACCEPTED
    assert found.notes == ("This run was not added to the history: the disk is read-only.",)
    assert kept.read_bytes() == before
    monkeypatch.setattr("os.replace", refuse_writing)
    with pytest.raises(UsageError, match="could not be written"):
        sqlaudit.gate(policy, baseline=kept, accept=True)
    with pytest.raises(UsageError, match=r"\.yml"):
        sqlaudit.gate(policy, baseline=tmp_path / "kept.duckdb", accept=True)


def refuse(*_: object, **__: object) -> None:
    raise UsageError("the disk is read-only.")


def refuse_writing(*_: object, **__: object) -> None:
    raise OSError(30, "Read-only file system")


def test_what_is_accepted_again_keeps_what_says_nothing(tmp_path: Path) -> None:
    """An entry of a test that has no result today stays; that of a test that is gone goes, unless some are chosen."""
    made, kept = in_duckdb(tmp_path, {"patients": PATIENTS}), tmp_path / "kept.yml"
    sqlaudit.gate(made.policy(POLICY), baseline=kept, accept=True)
    before = Baseline(kept).accepted()
    sqlaudit.gate(made.policy(POLICY), baseline=kept, accept=True)
    assert Baseline(kept).accepted() == before
    in_duckdb(tmp_path, {"others": PATIENTS})
    sqlaudit.gate(made.policy(POLICY), baseline=kept, accept=True)
    assert Baseline(kept).accepted() == before
    in_duckdb(tmp_path, {"patients": PATIENTS})
    policy = made.policy(POLICY.replace("l=2, ", ""))
    sqlaudit.gate(policy, baseline=kept, accept=True, select=["patients"])
    assert Baseline(kept).accepted() == before
    sqlaudit.gate(policy, baseline=kept, accept=True)
    assert before.keys() - Baseline(kept).accepted().keys() == {("patients", "l=2", "disease")}


def test_what_the_policy_no_longer_has_is_said(tmp_path: Path) -> None:
    made, kept = in_duckdb(tmp_path, {"patients": PATIENTS}), tmp_path / "kept.yml"
    sqlaudit.gate(made.policy(POLICY), baseline=kept, accept=True)
    found = sqlaudit.gate(made.policy(POLICY.replace("l=2, ", "l=1, ")), baseline=kept)
    assert found.removed_tests == ("patients: l=2 for disease",)
    new = next(test for test in found.tests if test.requirement == "l=1")
    assert new.change is not None
    assert (new.change.drift, new.outcome) == (Drift.NEW, Outcome.PASS)


def test_a_baseline_holds_no_value(tmp_path: Path) -> None:
    made, kept = in_duckdb(tmp_path, {"patients": PATIENTS}), tmp_path / "kept.yml"
    sqlaudit.gate(made.policy(POLICY), baseline=kept, accept=True)
    said = kept.read_text(encoding="utf-8")
    assert SECRET not in said
    assert "471147114" not in said


LINE = '{table: patients, requirement: "k=3", fails: true, level: "1", asked: x}'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no database", "is not a baseline of this version"),
        ("", "is not a baseline of this version"),
        (f"version: 2\naccepted: [{LINE}]", "is not a baseline of this version"),
        (f"accepted: [{LINE}]", "is not a baseline of this version"),
        (f"version: 1\nacepted: [{LINE}]", "is not a baseline of this version"),
        (f"version: 1\naccepted:\n- {LINE}\n- {LINE}\n", "line 4: patients: k=3 is here twice"),
        (f"version: 1\naccepted:\n<<<<<<< main\n- {LINE}\n=======\n", "line 4: is not YAML"),
        (f"version: 1\naccepted:\n- {LINE.replace('level', 'levle')}\n", "line 3: an accepted state has no key"),
        (f"version: 1\naccepted:\n- {LINE.replace('fails: true, ', '')}\n", "line 3: is no accepted state"),
        (f"version: 1\naccepted:\n- {LINE.replace('true', 'perhaps')}\n", "true or false"),
        (f"version: 1\naccepted:\n- {LINE.replace('1', 'nan')}\n", "line 3: is no accepted state"),
        (f"version: 1\naccepted:\n- {LINE.replace('asked', 'failing_rows')}\n", "line 3: failing_rows must be"),
        (f"version: 1\naccepted:\n- {LINE.replace('asked: x', 'findings: [[a]]')}\n", "line 3"),
    ],
)
def test_a_baseline_that_is_none(text: str, said: str, tmp_path: Path) -> None:
    policy = in_duckdb(tmp_path, {"patients": PATIENTS}).policy(POLICY)
    (tmp_path / "kept.yml").write_text(text, encoding="utf-8")
    with pytest.raises(SqlauditError, match=re.escape(said)):
        sqlaudit.gate(policy, baseline=tmp_path / "kept.yml")


def test_there_has_to_be_a_baseline(tmp_path: Path) -> None:
    policy = in_duckdb(tmp_path, {"patients": PATIENTS}).policy(POLICY)
    with pytest.raises(UsageError, match="There is no baseline"):
        sqlaudit.gate(policy, baseline=tmp_path / "none.yml")


def test_a_baseline_of_an_older_version_is_read_once(tmp_path: Path) -> None:
    policy = in_duckdb(tmp_path, {"patients": PATIENTS}).policy(POLICY)
    sqlaudit.gate(policy, baseline=tmp_path / "kept.yml", accept=True)
    states = {key: state for key, state in Baseline(tmp_path / "kept.yml").accepted().items() if key[1] != WITHOUT_ROLE}
    old = old_baseline(tmp_path / "old.duckdb", states)
    for accept in (False, True):
        with pytest.raises(UsageError, match=r"of an older version.*sqlaudit baseline|\.yml"):
            sqlaudit.gate(policy, baseline=old, accept=accept)
    ran = command("baseline", "-f", str(policy), "--baseline", str(old))
    assert (ran.code, ran.out) == (0, "")
    assert "converted" in ran.err
    new = tmp_path / "old.yml"
    assert Baseline(new).accepted() == {key: replace(state, quasi_identifiers=None) for key, state in states.items()}
    outcomes = [test.outcome.value for test in sqlaudit.gate(policy, baseline=new).tests]
    assert outcomes == ["accepted", "accepted", "pass", "accepted", "undetermined"]
    assert command("baseline", "-f", str(policy), "--baseline", str(old)).code == 2  # it is there already
    duckdb.connect(str(tmp_path / "other.duckdb")).close()
    assert (
        "without a baseline" in command("baseline", "-f", str(policy), "--baseline", str(tmp_path / "other.duckdb")).err
    )


def test_two_branches_that_accept_other_tests_merge(tmp_path: Path) -> None:
    """Of a file with a line for each test, git merges what two branches changed in lines that are not neighbours."""
    states = {("t", f"k={k}", ""): Accepted(True, str(k), 1, k, 9) for k in range(2, 9)}
    files = {}
    for name, changed in {"base": [], "mine": [2], "theirs": [7]}.items():
        kept = Baseline(tmp_path / f"{name}.yml")
        kept.write(states | {("t", f"k={k}", ""): Accepted(True, "1", 2, 3, 9) for k in changed})
        files[name] = str(kept.path)
    subprocess.run(["git", "merge-file", files["mine"], files["base"], files["theirs"]], check=True)
    merged = Baseline(tmp_path / "mine.yml").accepted()
    assert [key for key, state in merged.items() if state.level == "1"] == [("t", "k=2", ""), ("t", "k=7", "")]


def test_the_hook_with_a_baseline_leaves_a_clean_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_duckdb(tmp_path, {"patients": PATIENTS}).policy(POLICY.partition("  - {table: patients, name")[0])
    monkeypatch.chdir(tmp_path)
    assert command("baseline").code == 0
    for git in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "all"]):
        subprocess.run(["git", *git], check=True)
    (hook,) = (
        one for one in yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text()) if "pre-push" in str(one)
    )
    for _ in range(2):
        assert command(*hook["entry"].split()[1:], "--baseline", "sqlaudit-baseline.yml").code == 0
        state = subprocess.run(["git", "status", "--porcelain"], check=True, capture_output=True, encoding="utf-8")
        assert state.stdout == ""


# What the author of a pull request sees.


def test_a_quasi_identifier_that_is_new_is_named_at_its_line(tmp_path: Path) -> None:
    rows = [{"zip": str(i), "sex": "fm"[i % 2], "ill": "x"} for i in range(20)]
    made, kept = in_duckdb(tmp_path, {"people": rows}), tmp_path / "kept.yml"
    text = "\ntables:\n- table: people\n  quasi_identifiers:\n  - sex\n{}  requirements: [k=5]\n"
    sqlaudit.gate(made.policy(text.format("")), baseline=kept, accept=True)
    policy = made.policy(text.format("  - zip\n"))
    (test,) = sqlaudit.gate(policy, baseline=kept).tests
    assert test.outcome is Outcome.FAIL
    assert test.change == Change(Drift.NEW, "New among the quasi-identifiers: zip; k was 10, is 1.")
    line = policy.read_text(encoding="utf-8").splitlines().index("  - zip") + 1
    assert test.place.line == line
    annotated = render_github(sqlaudit.gate(policy, baseline=kept), tmp_path)
    assert f"line={line},title=people%3A k=5 FAILS::" in annotated
    assert "New among the quasi-identifiers: zip; k was 10, is 1." in annotated


@pytest.mark.parametrize("named", [False, True])
def test_a_column_that_is_new_and_has_no_role_is_annotated(named: bool, tmp_path: Path) -> None:
    rows = [{"sex": "f", "note": "x"}, {"sex": "f", "note": "x"}]
    made, kept = in_duckdb(tmp_path, {"people": rows}), tmp_path / "kept.yml"
    more = "  all_columns_named: true\n" if named else ""
    policy = made.policy(f"\ntables:\n- table: people\n  quasi_identifiers: [sex]\n{more}  requirements: [k=2]\n")
    sqlaudit.gate(policy, baseline=kept, accept=True)
    same = sqlaudit.gate(policy, baseline=kept)
    assert same.passed
    assert "new_column" not in {one.code for _, one in same.notices}
    in_duckdb(tmp_path, {"people": [row | {"bmi": 20} for row in rows]})
    found = sqlaudit.gate(policy, baseline=kept)
    told = [line for line in render_github(found, tmp_path).splitlines() if "bmi" in line]
    assert found.passed is not named
    if named:
        assert told[0].startswith("::error ")
        assert "Bmi was not accepted." in told[0]
    else:
        assert told[0].startswith("::warning ")
        assert "bmi is a new column without a role" in told[0]
        sqlaudit.gate(policy, baseline=kept, accept=True)
        assert not [one for _, one in sqlaudit.gate(policy, baseline=kept).notices if one.code == "new_column"]


# Safe Harbor: which clause and which column, and not how many.


def test_another_identifier_in_the_place_of_an_accepted_one_fails(tmp_path: Path) -> None:
    policy, kept = tmp_path / "p.yml", tmp_path / "kept.yml"
    policy.write_text(
        "version: 1\ntables: [{file: t.csv, requirements: [{preset: hipaa-safe-harbor}]}]\n", encoding="utf-8"
    )

    def judge(header: str, cells: str) -> GateTest:
        (tmp_path / "t.csv").write_text(f"{header}\n" + f"{cells}\n" * 3, encoding="utf-8")
        return sqlaudit.gate(policy, baseline=kept).tests[0]

    (tmp_path / "t.csv").write_text("email,sex\na@example.org,f\n", encoding="utf-8")
    assert not sqlaudit.gate(policy, baseline=kept, accept=True).passed
    assert judge("email,sex", "a@example.org,f").outcome is Outcome.ACCEPTED
    for header, cells in (
        ("ssn,sex", "123-45-6789,f"),
        ("mail2,sex", "a@example.org,f"),
        ("email,town", "a@example.org,York"),
    ):
        other = judge(header, cells)
        assert other.outcome is Outcome.FAIL, header
        assert other.change is not None
        assert "was not accepted" in other.change.sentence
    assert judge("sex,x", "f,1").outcome is Outcome.PASS
