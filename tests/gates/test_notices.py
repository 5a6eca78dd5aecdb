"""A policy's run says what its verdict does not cover, in every format, and fails on identifiers that are there."""

from __future__ import annotations

import datetime
import html
import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import duckdb
import pytest

import sqlaudit
from sqlaudit.base.names import quote
from sqlaudit.base.nodes import nodes_of
from sqlaudit.base.result import MEANING
from sqlaudit.base.spec import Target
from sqlaudit.gates.outputs import openlineage_event, render_github, render_junit, sarif_data
from sqlaudit.gates.reading import load_policy, table_of
from sqlaudit.gates.run import mistakes_of
from tests.cli.runner import run, write_csv
from tests.gates.conftest import Make
from tests.gates.databases import write

SUSPECTED = "mail looks like a direct identifier. Anyone named in a row can be identified"
PEOPLE = [{"age": 30, "mail": f"p{i}@example.org", "ill": "flu", "batch": f"c{i % 3}"} for i in range(12)]
POLICY = """
tables:
  - table: "{schema}.people"
    name: people
    quasi_identifiers: [age]
    sensitive: [ill]
    identifiers: [mail]
    requirements: [k=2]
"""


def test_a_policy_fails_on_a_declared_identifier(database: Make) -> None:
    result = sqlaudit.gate(database({"people": PEOPLE}).policy(POLICY))
    assert [(test.name, test.outcome.value, test.check and test.check.failing_rows) for test in result.tests] == [
        ("people: k=2", "pass", 0),
        ("people: no direct identifier mail", "fail", 12),
    ]
    assert (result.passed, max(result.exit_codes)) == (False, 1)
    assert [(table, notice.code, notice.columns) for table, notice in result.notices] == [
        ("people", "columns_without_role", ("batch",))
    ]
    assert result.to_dict()["notices"][0]["table"] == "people"


def test_an_identifier_is_accepted_by_name_until_a_day(database: Make) -> None:
    excepted = "    exceptions: [{identifier: mail, until: 2026-06-30, reason: the study needs it}]\n"
    policy = database({"people": PEOPLE}).policy(POLICY + excepted)
    before = sqlaudit.gate(policy, today=datetime.date(2026, 6, 30))
    assert (before.tests[1].outcome.value, before.passed) == ("excepted", True)
    after = sqlaudit.gate(policy, today=datetime.date(2026, 7, 1))
    assert (after.tests[1].outcome.value, after.passed) == ("fail", False)
    assert after.tests[1].message == "Its exception expired on 2026-06-30."


def test_a_policy_can_ask_for_a_role_of_every_column(database: Make) -> None:
    bare = POLICY.replace("    identifiers: [mail]\n", "")
    policy = database({"people": PEOPLE}).policy(bare + "    all_columns_named: true\n    insensitive: [batch]\n")
    result = sqlaudit.gate(policy)
    named = next(test for test in result.tests if test.requirement == "all_columns_named")
    assert (named.outcome.value, named.check and named.check.details) == ("fail", {"columns": ["mail"]})
    assert [notice.code for _, notice in result.notices] == ["possible_direct_identifier", "columns_without_role"]


def test_tests_without_a_model_have_notices_too(database: Make) -> None:
    policy = POLICY.replace("[k=2]", "[{column_sets: {max_size: 1, k: 1}}]")
    result = sqlaudit.gate(database({"people": PEOPLE}).policy(policy))
    assert [test.outcome.value for test in result.tests] == ["pass", "fail"]
    assert [notice.code for _, notice in result.notices] == ["columns_without_role"]


LOOSENED = "1 row does not meet k=2. Within the limit '> 5%'."


def test_every_format_says_that_a_threshold_loosens_a_requirement(tmp_path: Path) -> None:
    write_csv(tmp_path / "people.csv", "age,ill", *("30,flu" for _ in range(19)), "31,cold")
    policy = write(
        tmp_path,
        "version: 1\ntables:\n  - file: people.csv\n    quasi_identifiers: [age]\n    sensitive: [ill]\n"
        "    requirements:\n      - {k: 2, warn_if: '> 5%', error_if: '> 5%'}\n      - {k: 1, error_if: '> 5%'}\n",
    )
    result = sqlaudit.gate(policy)
    assert (result.passed, [(test.outcome.value, test.tolerated) for test in result.tests]) == (
        True,
        [("pass", True), ("pass", False)],
    )
    assert [(name, one.code, one.message) for name, one in result.notices] == [
        ("people.csv", "loosened_requirement", LOOSENED)
    ]
    table = tmp_path / "results.csv"
    ran = run("test", "--file", policy, "--report", table)
    verdict, *under = ran.out.splitlines()
    assert (ran.code, verdict) == (0, "PASS: 1 of 2 tests passes by a threshold")
    assert LOOSENED in " ".join(" ".join(under[1:9]).split())
    assert ran.out.count("tolerated") == 2  # in the list of what is not simply met, and in the table
    for chosen in ("markdown", "html", "json", "junit", "sarif", "github"):
        told = html.unescape(run("test", "--file", policy, "--format", chosen).out).replace("\\", "")
        assert LOOSENED.replace("%", "%25" if chosen == "github" else "%") in told, chosen
    (dataset,) = openlineage_event(result)["inputs"]
    told = dataset["inputFacets"]["dataQualityAssertions"]["assertions"]
    assert [(one["success"], one["severity"]) for one in told] == [(False, "warn"), (True, "error")]
    assert "Within the limit" in table.read_text(encoding="utf-8")


ODD = ("no \ufffe XML", "##vso[task.setvariable variable=x]y", "::error::z", "a##[command]b")


def test_no_name_of_a_column_is_a_command_or_no_xml(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "odd.duckdb")) as connection:
        listed = ", ".join(f"1 AS {quote(name, 'duckdb')}" for name in ODD)
        connection.execute(f"CREATE TABLE t AS SELECT {listed}, 2 AS age")
    policy = json.dumps(
        {
            "version": 1,
            "connections": {"main": {"duckdb": "odd.duckdb"}},
            "tables": [
                {
                    "table": "t",
                    "name": name,
                    "quasi_identifiers": ["age", quote(name, "duckdb")],
                    "requirements": ["k=2"],
                }
                for name in ODD
            ],
        }
    )
    file = write(tmp_path, policy)
    for chosen in ("text", "markdown", "html", "json", "jsonl", "junit", "sarif", "github", "openlineage"):
        said = run("test", "--file", file, "--format", chosen).said
        assert re.search(r"##(vso)?\[", said) is None, chosen
        own = [line for line in said.splitlines() if line.strip().startswith("::")]
        assert all(re.match(r"::(error|warning|notice) file=", line) for line in own), chosen
        assert not own or chosen == "github"
        assert "\ufffe" not in said, chosen
    assert len(ET.fromstring(run("test", "--file", file, "--format", "junit").out).findall("testsuite")) == len(ODD)


def test_every_format_of_a_run_says_what_it_does_not_cover(tmp_path: Path) -> None:
    write_csv(tmp_path / "people.csv", "mail,age,ill", *(f"p{i}@example.org,30,flu" for i in range(12)))
    policy = write(
        tmp_path,
        "version: 1\ntables:\n  - file: people.csv\n    quasi_identifiers: [age]\n    sensitive: [ill]\n"
        "    requirements: [k=2]\n",
    )
    result = sqlaudit.gate(policy)
    assert result.passed
    said = f"{SUSPECTED}, whatever the group size"
    suite = ET.fromstring(render_junit(result)).find("testsuite")
    assert suite is not None
    assert (suite.findtext("system-out") or "").startswith(said)
    assert (suite.findtext("system-out") or "").endswith(MEANING)
    lines = render_github(result, tmp_path).splitlines()
    verdict = lines.index("PASS: the test passes")
    assert lines[verdict + 1] == f"::warning file=sqlaudit.yml,line=3,title=people.csv::{result.notices[0][1].message}"
    assert lines[verdict + 2].startswith("::notice file=sqlaudit.yml,line=3,title=people.csv::Not checked: ")
    (log,) = sarif_data(result, tmp_path)["runs"]
    assert [(one["ruleId"], one["level"]) for one in log["results"]] == [
        ("possible_direct_identifier", "warning"),
        ("columns_without_role", "note"),
    ]
    ran = run("test", "--file", policy)
    assert ran.code == 0
    assert said in ran.said.partition("All tests")[0]


def test_a_dbt_models_meta_declares_identifiers_and_asks_for_names() -> None:
    meta = nodes_of(
        {
            "quasi_identifiers": ["age"],
            "identifiers": ["mail"],
            "requirements": ["k=2"],
            "all_columns_named": True,
            "insensitive": ["batch"],
        },
        "schema.yml, line 3",
    )
    table = table_of(meta, Target(relation="people"), "main", Path(), {})
    assert [test.requirement for test in table.tests] == ["k=2", "no direct identifier mail", "all_columns_named"]
    assert (table.insensitive, table.mistakes) == (("batch",), ())


@pytest.mark.parametrize(
    ("exception", "said"),
    [
        (
            "{identifier: mial, until: 2026-06-30, reason: why}",
            "this table has no direct identifier 'mial'. Did you mean",
        ),
        ("{identifier: mail, requirement: k=2, until: 2026-06-30, reason: why}", "Keep one"),
        ("{identifier: mail}", "an exception needs until and reason."),
    ],
)
def test_exceptions_for_identifiers_are_read_closely(tmp_path: Path, exception: str, said: str) -> None:
    text = POLICY.replace('"{schema}.people"', "people").replace("table:", "file:")
    policy = load_policy(write(tmp_path, "version: 1" + text + f"    exceptions: [{exception}]\n"))
    assert [said in mistake.message for mistake in mistakes_of(policy)] == [True]
