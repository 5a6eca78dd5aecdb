"""What a run tells catalogues: an event of OpenLineage and a table of results, with every outcome told truly."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from uuid import UUID

import duckdb
import pytest

import sqlaudit
from sqlaudit.gates.outputs import COLUMNS, openlineage_event, result_lines, result_rows
from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.result import GateResult
from tests.cli.runner import run

POLICY = """
version: 1
connections: {shop: {duckdb: shop.duckdb, namespace: "duckdb://shop"}}
tables:
  - table: people
    name: the people
    quasi_identifiers: [zip]
    sensitive: [ill]
    owner: data-protection@example.org
    tags: [release]
    requirements:
      - k=2
      - {k: 3, description: three at least}
      - {l: 2, severity: warn}
      - {l: 3, severity: warn}
      - t: 0.1
      - {alpha_k_anonymity: {alpha: 0.5, k: 2}}
    exceptions: [{requirement: t=0.1, until: 2999-12-31, reason: in spring}]
  - {table: nobody, quasi_identifiers: [zip], requirements: [k=2]}
  - {table: gone, quasi_identifiers: [zip], requirements: [k=2]}
  - {file: other.csv, quasi_identifiers: [zip], requirements: [k=1]}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("catalogues")
    with duckdb.connect(str(made / "shop.duckdb")) as shop:
        shop.execute(
            "CREATE TABLE people AS SELECT * FROM (VALUES ('8', 'flu'), ('8', 'secret'), ('8', 'flu'),"
            " ('9', 'cold'), ('9', 'flu')) AS made (zip, ill)"
        )
        shop.execute("CREATE TABLE nobody (zip VARCHAR)")
    (made / "other.csv").write_text("zip\n1\n")
    (made / "sqlaudit.yml").write_text(POLICY)
    return made


@pytest.fixture(scope="module")
def result(folder: Path) -> GateResult:
    return sqlaudit.gate(folder / "sqlaudit.yml")


def test_an_event_tells_what_holds(result: GateResult, folder: Path) -> None:
    event = openlineage_event(result, "jobs")
    assert (event["eventType"], event["job"]) == ("FAIL", {"namespace": "jobs", "name": str(folder / "sqlaudit.yml")})
    assert event["run"]["runId"] == result.run_id == str(UUID(result.run_id))
    inputs = [(one["namespace"], one["name"]) for one in event["inputs"]]
    assert inputs == [
        ("duckdb://shop", "people"),
        ("duckdb://shop", "nobody"),
        ("duckdb://shop", "gone"),
        ("file", "other.csv"),
    ]
    found = [one["inputFacets"]["dataQualityAssertions"]["assertions"] for one in event["inputs"]]
    told = [(one["assertion"], one["success"], one["severity"], one.get("column")) for one in found[0]]
    assert told == [
        ("k_anonymity", True, "error", None),
        ("k_anonymity", False, "error", None),
        ("distinct_l_diversity", True, "warn", "ill"),
        ("distinct_l_diversity", False, "warn", "ill"),
        ("t_closeness", False, "warn", "ill"),
        ("alpha_k_anonymity", False, "error", "ill"),
    ]
    assert found[0][1] == {
        "assertion": "k_anonymity",
        "success": False,
        "severity": "error",
        "name": "the people: k=3",
        "description": "three at least",
        "expected": ">= 3",
        "actual": "2",
    }
    assert [one[0]["success"] for one in found[1:]] == [False, False, True]


def test_a_run_without_trouble_is_complete_whatever_its_verdict(folder: Path) -> None:
    fails = sqlaudit.gate(folder / "sqlaudit.yml", select=["tag:release"])
    assert not fails.passed
    assert openlineage_event(fails)["eventType"] == "COMPLETE"


def test_what_was_not_run_asserts_nothing(folder: Path) -> None:
    stopped = openlineage_event(sqlaudit.gate(folder / "sqlaudit.yml", fail_fast=True))
    assert [one["name"] for one in stopped["inputs"]] == ["people"]


def test_a_table_of_results_has_a_row_for_each_test(result: GateResult, folder: Path) -> None:
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in result_rows(result)]
    assert [(row["dataset"], row["requirement"], row["outcome"], row["publishable"]) for row in rows] == [
        ("people", "k=2", "pass", True),
        ("people", "k=3", "fail", False),
        ("people", "l=2", "pass", True),
        ("people", "l=3", "warn", True),
        ("people", "t=0.1", "excepted", True),
        ("people", "alpha_k_anonymity=alpha:0.5,k:2", "fail", False),
        ("nobody", "k=2", "undetermined", False),
        ("gone", "k=2", "error", False),
        ("other.csv", "k=1", "pass", True),
    ]
    names = [row["check_id"] for row in rows]
    assert len(set(names)) == 9
    assert names == [row[COLUMNS.index("check_id")] for row in result_rows(sqlaudit.gate(folder / "sqlaudit.yml"))]
    one = rows[1]
    assert (one["run_id"], one["run_time"], one["line"], one["table"]) == (result.run_id, result.time, 13, "the people")
    figures = ("level", "operator", "required", "failing_classes", "failing_rows", "table_rows")
    assert [one[name] for name in figures] == [2, ">=", 3, 1, 2, 5]
    assert (one["owner"], one["tags"], rows[7]["level"]) == ("data-protection@example.org", "release", None)
    assert [json.loads(line) for line in result_lines(result).splitlines()] == rows


def test_no_catalogue_is_told_a_value(result: GateResult) -> None:
    assert "secret" not in json.dumps(openlineage_event(result)) + result_lines(result)


def test_reports_are_told_by_their_ending(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("OPENLINEAGE_NAMESPACE", "nightly")
    names = ("a.openlineage.json", "a.csv", "a.jsonl", "a.parquet")
    ran = run("test", *(part for name in names for part in ("--report", name)), "--output", "b.openlineage.json")
    assert ran.code == 2  # a table is not there
    event = json.loads(Path(names[0]).read_text())
    assert event == json.loads(Path("b.openlineage.json").read_text())
    assert event["job"]["namespace"] == "nightly"
    lines = [json.loads(line) for line in Path("a.jsonl").read_text().splitlines()]
    assert {line["run_id"] for line in lines} == {event["run"]["runId"]}
    with Path("a.csv").open(newline="") as file:
        in_csv = list(csv.DictReader(file))
    assert [row["requirement"] for row in in_csv] == [line["requirement"] for line in lines]
    kept = duckdb.sql("SELECT * FROM 'a.parquet'")
    assert (kept.columns, len(kept.fetchall())) == (list(COLUMNS), 9)


def test_mistakes_of_the_policy_are_rows_and_end_the_run(tmp_path: Path) -> None:
    written = tmp_path / "sqlaudit.yml"
    (tmp_path / "p.csv").write_text("zip\n1\n")
    written.write_text("version: 1\nwrong: 1\ntables: [{file: p.csv, quasi_identifiers: [zip], requirements: [k=1]}]\n")
    result = sqlaudit.gate(written)
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in result_rows(result)]
    assert [(row["outcome"], row["publishable"], row["line"]) for row in rows] == [
        ("pass", True, 3),
        ("error", False, 2),
    ]
    assert openlineage_event(result)["eventType"] == "FAIL"


def test_a_namespace_holds_no_password(tmp_path: Path) -> None:
    written = tmp_path / "sqlaudit.yml"
    written.write_text("version: 1\nconnections: {a: {env: A, namespace: 'postgres://me:hidden@db'}}\ntables: []\n")
    mistakes = load_policy(written).mistakes
    assert "a password has no place in a policy" in mistakes[0].message
    assert "hidden" not in mistakes[0].message
