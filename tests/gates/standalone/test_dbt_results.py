"""dbt's run_results.json as the answers of a warehouse: judged as rows are, and never when something is not dbt's."""

from __future__ import annotations

import copy
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import sqlaudit
from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.standalone.policies import Wording, policy_statements, statement_text
from tests.cli.runner import run
from tests.gates.databases import in_duckdb
from tests.gates.standalone.answering import Execute, alike, in_duckdb_file, rows_of

VISITS = [{"age": age, "sex": sex} for age, sex in [(30, "F")] * 3 + [(40, "M")] * 2 + [(50, "M")]]
POLICY = """
tables:
  - table: visits
    quasi_identifiers: [age, sex]
    requirements: [k=1, {k: 3, error_if: '> 60%'}, k=2, prosecutor_risk=0.5]
    exceptions: [{requirement: k=2, until: 2999-12-31, reason: soon, up_to: 1}]
"""
SCHEMA = "https://schemas.getdbt.com/dbt/run-results/v6.json"
Artefact = dict[str, Any]


def artefact_of(policy: Path, execute: Execute) -> Artefact:
    """What dbt writes when it has run the statements of a policy and another model; tests/dbt has the real one."""

    def message(sql: str) -> str:
        (row,) = rows_of(execute, sql)
        return json.dumps([{name: None if value is None else str(value) for name, value in row.items()}])

    results = [
        {
            "status": "success",
            "message": message(one.compiled.sql),
            "failures": None,
            "unique_id": f"model.shop.{one.test_id}",
            "compiled_code": statement_text(one).removesuffix("\n"),
        }
        for one in policy_statements(load_policy(policy).tables, Wording("duckdb"))
    ]
    other = {"status": "success", "message": "OK", "unique_id": "model.shop.orders", "compiled_code": "select 1"}
    return {"metadata": {"dbt_schema_version": SCHEMA}, "results": [other, *results], "args": {}}


@pytest.fixture(scope="module")
def ran() -> Iterator[tuple[Path, Artefact]]:
    """A policy, and the artefact of its run."""
    with tempfile.TemporaryDirectory(prefix="sqlaudit-") as folder:
        policy = in_duckdb(Path(folder), {"visits": VISITS}).policy(POLICY)
        yield policy, artefact_of(policy, in_duckdb_file(policy.with_name("clinic.duckdb")))


@pytest.fixture
def made(ran: tuple[Path, Artefact], tmp_path: Path) -> tuple[Path, Artefact]:
    """The same in a folder of the test's own, with its database."""
    for name in ("clinic.duckdb", ran[0].name):
        shutil.copy(ran[0].with_name(name), tmp_path)
    return tmp_path / ran[0].name, copy.deepcopy(ran[1])


def kept(found: Any, folder: Path) -> Path:
    path = folder / "run_results.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    return path


def test_an_artefact_says_what_a_run_says(made: tuple[Path, Artefact], tmp_path: Path) -> None:
    policy, found = made
    result = sqlaudit.gate(policy, results=[kept(found, tmp_path)])
    alike(sqlaudit.gate(policy), result)
    assert [test.outcome.value for test in result.tests] == ["pass", "warn", "excepted", "fail"]
    assert not any("to no test" in note for note in result.notes)


def test_a_baseline_accepts_what_an_artefact_says(made: tuple[Path, Artefact], tmp_path: Path) -> None:
    policy, found = made
    path, history = kept(found, tmp_path), tmp_path / "history.yml"
    sqlaudit.gate(policy, results=[path], baseline=history, accept=True)
    assert sqlaudit.gate(policy, results=[path], baseline=history).tests[3].outcome.value == "accepted"


def edited(found: Artefact, change: Mapping[str, Any]) -> Artefact:
    """The artefact with something else in the result of k=3, which falls short."""
    (number,) = (at for at, one in enumerate(found["results"]) if "__k_3__" in one["unique_id"])
    results = [{**one, **change} if at == number else one for at, one in enumerate(found["results"])]
    return {**found, "results": results}


def with_row(**change: Any) -> Callable[[Artefact], Mapping[str, Any]]:
    def changed(result: Artefact) -> Mapping[str, Any]:
        return {"message": json.dumps([json.loads(result["message"])[0] | change])}

    return changed


PASSES = {"failing_classes": "0", "failing_rows": "0", "verdict": "pass", "level": "3"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda _: {"status": "error"}, "did not run to its end"),
        (lambda _: {"status": "skipped"}, "did not run to its end"),
        (lambda one: {"compiled_code": one["compiled_code"].replace("< 3", "< 2")}, "another statement"),
        (lambda one: {"compiled_code": one["compiled_code"] + "\nWHERE true"}, "another statement"),
        (lambda _: {"compiled_code": "-- k=3\n"}, "another statement"),
        (lambda _: {"compiled_code": ""}, "which statement dbt ran"),
        (lambda _: {"compiled_code": None}, "which statement dbt ran"),
        (lambda _: {"message": "SELECT 1"}, "no row of figures"),
        (lambda _: {"message": "[]"}, "no row of figures"),
        (lambda _: {"message": None}, "no row of figures"),
        (lambda one: {"message": json.dumps(json.loads(one["message"]) * 2)}, "no row of figures"),
        (with_row(test_id="visits__k_1"), "of another statement"),
        (with_row(verdict="pass"), "contradict"),
        (with_row(**PASSES | {"level": "1"}), "contradict"),
        (with_row(failing_rows="many"), "values that are not numbers"),
    ],
)
def test_an_edited_artefact_never_passes(
    change: Callable[[Artefact], Mapping[str, Any]], said: str, made: tuple[Path, Artefact], tmp_path: Path
) -> None:
    policy, found = made
    (result,) = (one for one in found["results"] if "__k_3__" in one["unique_id"])
    done = edited(found, change(result))
    judged = sqlaudit.gate(policy, results=[kept(done, tmp_path)])
    assert [test.outcome.value for test in judged.tests] == ["pass", "error", "excepted", "fail"]
    assert said in judged.tests[1].message
    assert not judged.passed


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"metadata": {"dbt_schema_version": SCHEMA}, "results": []}, "ran no statement of a policy"),
        (
            {"metadata": {"dbt_schema_version": SCHEMA}, "results": [{"unique_id": "test.shop.k__duckdb_" + "0" * 20}]},
            "ran no statement of a policy",
        ),
        ({"metadata": {"dbt_schema_version": SCHEMA.replace("run-results", "manifest")}, "nodes": {}}, "another"),
        ({"metadata": {"dbt_schema_version": SCHEMA}}, "another artefact"),
    ],
)
def test_artefacts_of_something_else(found: Artefact, said: str, made: tuple[Path, Artefact], tmp_path: Path) -> None:
    ran = run("test", "-f", made[0], "--results", kept(found, tmp_path))
    assert ran.code == 2
    assert said in " ".join(ran.err.split())


def test_an_artefact_of_an_older_policy_answers_nothing(made: tuple[Path, Artefact], tmp_path: Path) -> None:
    policy, found = made
    path = kept(found, tmp_path)
    policy.write_text(policy.read_text().replace("[age, sex]", "[age]"))
    result = sqlaudit.gate(policy, results=[path])
    assert [test.outcome.value for test in result.tests] == ["error"] * 4
    assert sqlaudit.gate(policy, results=[path], run="tuesday").passed is False


def test_two_runs_of_one_statement_are_an_error(made: tuple[Path, Artefact], tmp_path: Path) -> None:
    policy, found = made
    first = kept(found, tmp_path)
    (tmp_path / "again").mkdir()
    result = sqlaudit.gate(policy, results=[first, kept(found, tmp_path / "again")])
    assert {test.outcome.value for test in result.tests} == {"error"}
