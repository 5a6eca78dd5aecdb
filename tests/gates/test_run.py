"""A run of a policy finds what an audit finds, goes on after what goes wrong, and reads a table once."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.spec import Limits, Target
from sqlaudit.cli.exits import worst
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.gates.api import run_gate
from sqlaudit.gates.connections import database_of
from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.request import GateRequest, PolicySource
from sqlaudit.gates.result import GateResult, GateTest, Outcome
from sqlaudit.gates.run import mistakes_of
from tests.gates.conftest import Make
from tests.gates.databases import PATIENTS, in_duckdb, write
from tests.strategies import fewer, run

REQUIREMENTS = ["k=3", "l=2", "t=0.5", "recursive_l=c:3,l:2", "entropy_l=1.5", "disclosure@1=0.9", "average_risk=0.5"]
POLICY = """
tables:
  - table: "{schema}.patients"
    name: patients
    quasi_identifiers: [age, sex]
    sensitive: [disease]
    requirements: [k=3, l=2, t=0.5, "recursive_l=c:3,l:2", entropy_l=1.5, disclosure@1=0.9, average_risk=0.5]
"""


def outcomes(result: GateResult) -> dict[str, str]:
    return {test.name: test.outcome.value for test in result.tests}


def of(result: GateResult, name: str) -> GateTest:
    return next(test for test in result.tests if test.name == name)


def test_a_run_finds_what_an_audit_finds(database: Make) -> None:
    made = database({"patients": PATIENTS})
    policy = made.policy(POLICY)
    result = sqlaudit.gate(policy)
    audit = sqlaudit.audit(
        f"{made.schema}.patients",
        qi=["age", "sex"],
        sensitive="disease",
        require=REQUIREMENTS,
        db=database_of(load_policy(policy).connections["main"]),
    )
    assert [test.check for test in result.tests] == list(audit.checks)
    assert [test.outcome.value for test in result.tests] == [check.status for check in audit.checks]
    assert [test.outcome.value for test in result.tests].count("fail") >= 4
    assert (result.tests[0].rows, result.tests[0].classes) == (7, 3)
    k = of(result, "patients: k=3")
    assert k.check is not None
    assert (k.check.level, k.check.failing_classes, k.check.failing_rows) == (2, 2, 4)
    assert worst(*result.exit_codes) is ExitCode.REQUIREMENT_FAILED


SMALL = st.lists(
    st.fixed_dictionaries({"a": st.integers(0, 2), "b": st.integers(0, 1), "s": st.sampled_from("xyz")}),
    min_size=1,
    max_size=12,
)


@given(SMALL, st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.integers(0, 3))
@run(30)
def test_random_tables_against_brute_force(rows: list[dict[str, Any]], k: int, l: int, size: int, tenths: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        lines = ["a,b,s", *(f"{row['a']},{row['b']},{row['s']}" for row in rows)]
        Path(folder, "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        limit = f"column_sets: {{max_size: {size}, k: {k}, share: {tenths}0%, among: all}}"
        text = (
            "tables: [{file: t.csv, name: t, quasi_identifiers: [a, b], sensitive: s, read: {header: true}, "
            f"requirements: [k={k}, l={l}, {{{limit}}}]}}]"
        )
        found = sqlaudit.gate(write(Path(folder), text))
    classes = Counter((row["a"], row["b"]) for row in rows)
    values = {key: len({row["s"] for row in rows if (row["a"], row["b"]) == key}) for key in classes}
    small = sum(n for n in classes.values() if n < k)
    uniform = sum(n for key, n in classes.items() if values[key] < l)
    assert [test.check and test.check.failing_rows for test in found.tests[:2]] == [small, uniform]
    assert [test.outcome is Outcome.FAIL for test in found.tests[:2]] == [small > 0, uniform > 0]
    expected = minimal_sets(rows, k, size, tenths)
    assert {(one.columns, one.at_risk) for one in found.tests[2].sets} == expected
    assert (found.tests[2].outcome is Outcome.FAIL) is bool(expected)


def minimal_sets(rows: list[dict[str, Any]], k: int, size: int, tenths: int) -> set[tuple[tuple[str, ...], int]]:
    """The minimal column sets that put more than so many tenths of the rows into classes below k."""
    from itertools import combinations

    found: dict[tuple[str, ...], int] = {}
    for number in range(size + 1):
        for columns in combinations(("a", "b", "s"), number):
            classes = Counter(tuple(row[column] for column in columns) for row in rows)
            at_risk = sum(n for n in classes.values() if n < k)
            if at_risk * 10 > tenths * len(rows) and not any(set(known) <= set(columns) for known in found):
                found[columns] = at_risk
    return set(found.items())


def test_what_goes_wrong_in_one_table_leaves_the_others(database: Make) -> None:
    made = database({"patients": PATIENTS})
    policy = made.policy(
        """
        tables:
          - {table: "{schema}.patients", name: missing column, quasi_identifiers: [age, sexx], requirements: [k=2]}
          - {table: "{schema}.patiens", name: missing table, quasi_identifiers: [age], requirements: [k=2, k=3]}
          - {table: "{schema}.patients", name: mistake, quasi_identifiers: [age], requirements: [k=2, kk=2]}
          - table: "{schema}.patients"
            name: does not fit
            quasi_identifiers: [age, sex]
            sensitive: [disease]
            requirements: [k=2, t_ordered=0.5, l=1]
          - {table: "{schema}.patients", name: sound, quasi_identifiers: [age], requirements: [k=2]}
          - {table: "{schema}.patients", name: twice, quasi_identifiers: [age], requirements: [k=2]}
          - {table: "{schema}.patients", name: twice, quasi_identifiers: [sex], requirements: [k=2]}
          - {table: "{schema}.patients", name: empty, where: 1 = 0, quasi_identifiers: [age], requirements: [k=2]}
          - {query: DROP TABLE x, name: no query, quasi_identifiers: [age], requirements: [k=2]}
          - {table: "{schema}.patients", name: two, quasi_identifiers: [age], requirements: [k=2, kk=2], o: 1,
             where: ""}
        """
    )
    result = sqlaudit.gate(policy)
    assert outcomes(result) == {
        "missing column: k=2": "error",
        "missing table: k=2": "error",
        "missing table: k=3": "error",
        "mistake: k=2": "pass",
        "mistake: kk=2": "error",
        "does not fit: k=2": "pass",
        "does not fit: t_ordered=0.5": "error",
        "does not fit: l=1 for disease": "pass",
        "sound: k=2": "pass",
        "twice: k=2": "error",
        "empty: k=2": "undetermined",
        "no query: k=2": "error",
        "two: k=2": "error",
        "two: kk=2": "error",
    }
    said = {test.name: test.message for test in result.tests}
    assert said["missing column: k=2"] == "quasi_identifiers: missing column has no column 'sexx'. Did you mean 'sex'?"
    assert "'patients'" in said["missing table: k=2"] or "patients" in said["missing table: k=2"]
    assert said["empty: k=2"] == "The table has no rows."
    assert (
        "have no natural order. Declare one under 'order' in a file with 'inputs'"
        in said["does not fit: t_ordered=0.5"]
    )
    assert said["twice: k=2"] == "Not run: the policy of this table has a mistake in line 16."
    assert said["two: k=2"] == "Not run: the policy of this table has mistakes in lines 19 and 20."
    assert said["two: kk=2"] == "There is no privacy model 'kk'. Did you mean 'k'? 'sqlaudit models' lists them."
    assert [mistake.place.line for mistake in result.mistakes] == [15, 16, 19, 20]
    codes = {test.name: test.exit_code for test in result.tests}
    assert codes["empty: k=2"] is ExitCode.REQUIREMENT_FAILED
    assert {code for name, code in codes.items() if outcomes(result)[name] == "error"} == {ExitCode.USAGE}
    assert worst(*result.exit_codes) is ExitCode.USAGE


def test_a_missing_column_is_told_at_its_own_line(tmp_path: Path) -> None:
    made = in_duckdb(tmp_path, {"t": PATIENTS})
    policy = made.policy(
        """
        tables:
          - table: t
            quasi_identifiers:
              - age
              - sexx
            requirements: [k=2]
        """
    )
    assert sqlaudit.gate(policy).tests[0].place.line == 9


def test_an_unreachable_database_leaves_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_duckdb(tmp_path, {"t": PATIENTS})
    monkeypatch.delenv("GATE_NOT_SET", raising=False)
    policy = write(
        tmp_path,
        """
version: 1
connections:
  here: {duckdb: clinic.duckdb}
  gone: {duckdb: gone.duckdb}
  unset: {env: GATE_NOT_SET}
  silent: {url: "postgresql://me@127.0.0.1:1/x"}
tables:
  - {table: t, name: silent, connection: silent, quasi_identifiers: [age], requirements: [k=2]}
  - {table: t, name: gone, connection: gone, quasi_identifiers: [age], requirements: [k=2]}
  - {table: t, name: unset, connection: unset, quasi_identifiers: [age], requirements: [k=2]}
  - {table: t, name: here, connection: here, quasi_identifiers: [age], requirements: [k=2]}
  - {file: nowhere.csv, name: nowhere, quasi_identifiers: [age], requirements: [k=2]}
""",
    )
    result = sqlaudit.gate(policy)
    codes = {test.table: int(test.exit_code) for test in result.tests}
    assert codes == {"silent": 3, "gone": 2, "unset": 2, "here": 0, "nowhere": 2}
    said = {test.table: test.message for test in result.tests}
    assert said["silent"] == "No PostgreSQL server answers at 127.0.0.1:1."
    assert said["unset"] == f"Connection 'unset' ({policy}, line 6): the environment variable GATE_NOT_SET is not set."
    assert said["gone"] == f"Connection 'gone' ({policy}, line 5): there is no file {str(tmp_path / 'gone.duckdb')!r}."
    assert said["nowhere"] == f"There is no file {str(tmp_path / 'nowhere.csv')!r}."
    assert worst(*result.exit_codes) is ExitCode.ENGINE


def test_a_file_that_cannot_be_read_leaves_the_others(tmp_path: Path) -> None:
    (tmp_path / "good.csv").write_text("a\n1\n1\n", encoding="utf-8")
    (tmp_path / "empty.csv").write_bytes(b"")
    text = "tables:\n" + "".join(
        f"  - {{file: {name}, quasi_identifiers: [a], requirements: [k=2]}}\n" for name in ("empty.csv", "good.csv")
    )
    result = sqlaudit.gate(write(tmp_path, text))
    assert outcomes(result) == {"empty.csv: k=2": "error", "good.csv: k=2": "pass"}
    assert result.tests[0].message == f"{str(tmp_path / 'empty.csv')!r} is empty (0 bytes)."


def test_expired_exceptions_and_thresholds_in_a_run(database: Make) -> None:
    made = database({"patients": PATIENTS})
    policy = made.policy(
        """
        tables:
          - table: "{schema}.patients"
            name: p
            quasi_identifiers: [age, sex]
            sensitive: [disease]
            requirements: [k=3, l=2, {k: 4, severity: warn}, {k: 5, error_if: "> 7"},
                           {k: 6, warn_if: "> 7", error_if: "> 7"}]
            exceptions:
              - {requirement: k=3, until: 2026-01-01, reason: for a while}
              - {requirement: distinct_l_diversity, until: 2030-01-01, reason: known, up_to: 2}
        """
    )
    result = sqlaudit.gate(policy, today=datetime.date(2026, 6, 1))
    assert outcomes(result) == {
        "p: k=3": "fail",
        "p: l=2 for disease": "excepted",
        "p: k=4": "warn",
        "p: k=5": "fail",  # all seven fall short, and what all may do is no limit
        "p: k=6": "fail",
    }
    assert result.tests[0].message == "Its exception expired on 2026-01-01."
    assert outcomes(sqlaudit.gate(policy, today=datetime.date(2026, 1, 1)))["p: k=3"] == "excepted"


def test_limits_on_column_sets(database: Make) -> None:
    made = database({"patients": PATIENTS})
    policy = made.policy(
        """
        tables:
          - table: "{schema}.patients"
            name: p
            quasi_identifiers: [age, sex]
            sensitive: [disease]
            requirements:
              - column_sets: {max_size: 1, k: 3}
              - column_sets: {max_size: 2, k: 3, share: 60%}
              - column_sets: {max_size: 1, k: 3, among: [sex]}
              - column_sets: {max_size: 3, k: 2, among: all, exclude: [age]}
              - column_sets: {max_size: 1, k: 3, among: all, exclude: [age, disease]}
        """
    )
    first, second, third, fourth, fifth = sqlaudit.gate(policy).tests
    assert [(one.columns, one.at_risk) for one in first.sets] == [(("age",), 2), (("sex",), 2)]
    assert (first.outcome, second.outcome, second.sets) == (Outcome.FAIL, Outcome.PASS, ())
    assert (
        first.message
        == "age: 2 of 7 rows (28.6%) in classes smaller than 3; sex: 2 of 7 rows (28.6%) in classes smaller than 3."
    )
    assert [one.columns for one in third.sets] == [("sex",)]
    # flu and cold of women, and both of men
    assert [(one.columns, one.at_risk) for one in fourth.sets] == [(("disease",), 1)]
    assert [one.columns for one in fifth.sets] == [("sex",)]


def test_column_sets_of_which_every_column_is_excluded_are_refused(database: Make) -> None:
    made = database({"patients": PATIENTS})
    policy = """
        tables:
          - table: "{schema}.patients"
            name: p
            quasi_identifiers: [age, sex]
            requirements: [{column_sets: {max_size: 1, AMONG}}]
        """
    said = "No column is left to search. Exclude fewer."
    for among in ("among: [sex], exclude: [sex]", "exclude: [sex, age]"):
        (test,) = sqlaudit.gate(made.policy(policy.replace("AMONG", among))).tests
        assert (test.outcome, test.exit_code, said in test.message) == (Outcome.ERROR, ExitCode.USAGE, True)
    mistakes = mistakes_of(load_policy(made.policy(policy.replace("AMONG", "among: [sex], exclude: [sex]"))))
    assert [said in one.message for one in mistakes] == [True]  # before anything is connected


def test_people_are_counted_where_there_is_an_entity(database: Make) -> None:
    visits = [{"person": p, "zip": z, "disease": "flu"} for p, z in ((1, 10), (1, 10), (2, 10), (3, 20), (3, 20))]
    made = database({"visits": visits})
    policy = made.policy(
        """
        tables:
          - table: "{schema}.visits"
            name: v
            quasi_identifiers: [zip]
            entity: person
            requirements: [k=2, {column_sets: {max_size: 1, k: 2}}]
        """
    )
    size, sets = sqlaudit.gate(policy).tests
    assert size.check is not None
    assert (size.check.level, size.check.failing_rows, sets.unit, sets.rows) == (1, 2, "persons", 3)
    assert [(one.columns, one.at_risk) for one in sets.sets] == [(("zip",), 1)]


class Counting:
    """Opens engines, and keeps the statements and progress of each."""

    def __init__(self) -> None:
        self.opened = 0
        self.steps: list[str] = []
        self.told: list[str] = []

    @contextmanager
    def __call__(self, db: str | None, limits: Limits, targets: Sequence[Target]) -> Iterator[Engine]:
        self.opened += 1
        with connect(db, limits, *targets) as engine:
            engine.progress = lambda step, share: self.told.append(step)
            yield engine
            self.steps += [done.name for done in engine.executed]


def test_fifty_tables_share_one_connection(database: Make) -> None:
    number = fewer(50)
    made = database({"patients": PATIENTS})
    listed = "\n".join(
        f'  - {{table: "{{schema}}.patients", name: t{i}, where: "age <> {i % (number // 2)}", '
        f"quasi_identifiers: [age, sex], sensitive: [disease], requirements: [k={1 + i % 3}, l={1 + i % 2}]}}"
        for i in range(number)
    )
    counting = Counting()
    result = run_gate(GateRequest(PolicySource(made.policy("tables:\n" + listed))), counting)
    assert (len(result.tests), result.tables, counting.opened) == (2 * number, number, 1)
    failed = sum(i % 3 == 2 for i in range(number)) + sum(i % 2 == 1 for i in range(number))
    assert number != 50 or failed == 41
    assert Counter(test.outcome for test in result.tests) == {Outcome.PASS: 2 * number - failed, Outcome.FAIL: failed}
    assert result.tests[-1].name == f"t{number - 1}: l=2 for disease"
    # twins by rows and roles (t0 and t25, …) share an audit: 25 audits for 50 tables, one scan of classes in each
    scans = [step for step in counting.steps if step == "equivalence classes" or step.startswith("figures of")]
    assert Counter(scans)["figures of disease"] == number // 2
    tables = [step for step in counting.told if ":" not in step]
    assert tables == [f"{i + 1} of {number} t{i}" for i in range(number)]


def test_all_requirements_of_a_table_share_its_histogram(tmp_path: Path) -> None:
    made = in_duckdb(tmp_path, {"patients": PATIENTS})
    counting = Counting()
    run_gate(GateRequest(PolicySource(made.policy(POLICY))), counting)
    assert counting.steps.count("equivalence classes") == 1


def test_fail_fast_stops_after_the_first_failing_table(tmp_path: Path) -> None:
    made = in_duckdb(tmp_path, {"patients": PATIENTS})
    listed = "tables:\n" + "\n".join(
        f"  - {{table: patients, name: {name}, quasi_identifiers: [age, sex], requirements: [{wanted}]}}"
        for name, wanted in (("a", "k=2"), ("b", "k=3, k=1"), ("c", "k=1"))
    )
    assert outcomes(sqlaudit.gate(made.policy(listed), fail_fast=True)) == {
        "a: k=2": "pass",
        "b: k=3": "fail",
        "b: k=1": "pass",
        "c: k=1": "skipped",
    }


def test_an_anchored_list_and_defaults_serve_many_tables(tmp_path: Path) -> None:
    made = in_duckdb(tmp_path, {"patients": PATIENTS})
    text = """
        defaults: {requirements: [k=2], tags: [x]}
        tables:
          - {table: patients, name: a, quasi_identifiers: [age]}
          - {table: patients, name: b, quasi_identifiers: [age], requirements: [k=1]}
        """
    result = sqlaudit.gate(made.policy(text))
    assert outcomes(result) == {"a: k=2": "pass", "b: k=1": "pass"}
    assert result.tests[0].tags == ("x",)


def test_inputs_inline_and_from_a_file(tmp_path: Path) -> None:
    made = in_duckdb(tmp_path, {"patients": PATIENTS})
    (tmp_path / "order.yml").write_text("order: [cold, flu, Zebra-Fever]\n", encoding="utf-8")
    text = """
        tables:
          - &one {table: patients, name: a, quasi_identifiers: [age], sensitive: disease, requirements: [t_ordered=0.9],
                  inputs: order.yml}
          - {table: patients, name: b, quasi_identifiers: [age], sensitive: disease, requirements: [t_ordered=0.9],
             inputs: {order: [cold, flu, Zebra-Fever]}}
        """
    first, second = sqlaudit.gate(made.policy(text)).tests
    assert first.check is not None
    assert second.check is not None
    assert first.check.level == second.check.level
    assert first.outcome is Outcome.PASS


def test_nothing_to_test_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no tables to test"):
        sqlaudit.gate(write(tmp_path, "version: 1\ntables: []"))


def test_what_is_kept_never_goes_into_an_audited_database(tmp_path: Path) -> None:
    made = in_duckdb(tmp_path, {"patients": PATIENTS})
    policy = made.policy(POLICY)
    with pytest.raises(
        UsageError, match=r"is an input, by this or another name, and cannot be overwritten. Name another file"
    ):
        sqlaudit.gate(policy, store_failures=tmp_path / "clinic.duckdb")
    with duckdb.connect(str(tmp_path / "clinic.duckdb"), read_only=True) as connection:
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("patients",)]
