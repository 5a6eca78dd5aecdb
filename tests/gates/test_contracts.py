"""Data contracts: quality blocks of sqlaudit are a policy, and a policy is written as quality rules."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
import yaml

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.run import mistakes_of
from tests.cli.runner import run

CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: 53581432-6c55-4ba2-a65f-72344a91553a
version: 1.0.0
status: active
servers:
  - {server: here, type: duckdb, database: warehouse.duckdb, schema: clinic}
schema:
  - name: patients
    physicalName: patients_v2
    properties:
      - {name: zip, logicalType: string, quality: [{type: library, metric: nullValues, mustBe: 0}]}
    quality:
      - {type: sql, query: SELECT 1, mustBe: 1}
      - {type: custom, engine: soda, implementation: "row_count > 0"}
      - type: custom
        engine: sqlaudit
        description: What others may know.
        tags: [release]
        implementation:
          quasi_identifiers: [zip]
          sensitive: [ill]
          requirements: [k=2, {l: 2, severity: warn}]
      - type: custom
        engine: sqlaudit
        severity: warning
        implementation: |
          name: patients by age
          quasi_identifiers: [age]
          requirements: [k=2]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "warehouse.duckdb")) as clinic:
        clinic.execute("CREATE SCHEMA clinic")
        clinic.execute(
            "CREATE TABLE clinic.patients_v2 AS SELECT * FROM (VALUES ('8', 1, 'flu'), ('8', 2, 'flu'),"
            " ('9', 3, 'cold'), ('9', 3, 'flu')) AS made (zip, age, ill)"
        )
    (tmp_path / "contract.yaml").write_text(CONTRACT)
    return tmp_path


def test_a_contract_is_a_policy(folder: Path) -> None:
    result = sqlaudit.gate(folder / "contract.yaml")
    assert [(test.name, test.outcome.value, test.severity) for test in result.tests] == [
        ("patients: k=2", "pass", "error"),
        ("patients: l=2 for ill", "warn", "warn"),
        ("patients by age: k=2", "warn", "warn"),
    ]
    assert [(test.tags, test.place.line) for test in result.tests[:2]] == [(("release",), 23), (("release",), 23)]
    assert result.passed
    assert result.dataset_of("patients").name == "clinic.patients_v2"


def test_rules_that_are_written_say_what_a_run_says(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert run("compile", "-f", "contract.yaml", "-o", "rules.yaml").code == 0
    written = yaml.safe_load(Path("rules.yaml").read_text())
    assert [(one["name"], one["physicalName"]) for one in written["schema"]] == [
        ("patients", "clinic.patients_v2"),
        ("patients by age", "clinic.patients_v2"),
    ]
    rules = [rule for one in written["schema"] for rule in one["quality"]]
    with duckdb.connect("warehouse.duckdb", read_only=True) as clinic:
        answers = [clinic.execute(rule["query"]).fetchone() for rule in rules]
    assert [(rule["name"], rule["mustBe"], rule["severity"]) for rule in rules] == [
        ("k=2", 0, "error"),
        ("l=2 for ill", 0, "warning"),
        ("k=2", 0, "warning"),
    ]
    assert answers == [(0,), (2,), (2,)]


def test_a_test_that_no_rule_carries_is_told_in_words(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    Path("sqlaudit.yml").write_text(
        "version: 1\nconnections: {here: {env: HERE}}\ntables: [{table: people, quasi_identifiers: [zip],"
        " requirements: [{column_sets: {max_size: 2}}]}]\n"
    )
    assert run("compile", "-f", "sqlaudit.yml", "-o", "rules.yml").code == 1  # a requirement without a statement
    [rule] = yaml.safe_load(Path("rules.yml").read_text())["schema"][0]["quality"]
    assert (rule["type"], "mustBe" in rule) == ("text", False)
    assert rule["description"].startswith("Not written as SQL: column sets are searched for")


def test_a_contract_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    said = run("compile", "-f", "contract.yaml", "--returns", "verdict", "-o", "rules.yaml")
    assert (said.code, "A data contract counts what fails" in said.err) == (2, True)
    assert run("compile", "--table", "a", "--qi", "b", "k=2", "-o", "rules.yaml").code == 2
    assert not Path("rules.yaml").exists()


def test_a_server_elsewhere_is_compiled_for_and_not_connected_to(folder: Path) -> None:
    elsewhere = "{server: there, type: snowflake, account: a, database: d, schema: s}"
    written = folder / "contract.yaml"
    written.write_text(
        CONTRACT.replace("{server: here, type: duckdb, database: warehouse.duckdb, schema: clinic}", elsewhere)
    )
    result = sqlaudit.gate(written)
    assert {test.outcome.value for test in result.tests} == {"error"}
    assert "server 'there' is snowflake, which sqlaudit does not connect to" in result.tests[0].message
    ran = run("compile", "-f", str(written), "--dialect", "snowflake")
    assert (ran.code, ran.out.count("test_id:")) == (0, 3)


def test_a_server_of_postgresql_is_where_libpq_finds_it(folder: Path) -> None:
    there = "{server: there, type: postgres, host: db.example.org, port: 5433, database: o'h, schema: public}"
    written = folder / "contract.yaml"
    written.write_text(
        CONTRACT.replace("{server: here, type: duckdb, database: warehouse.duckdb, schema: clinic}", there)
    )
    policy = load_policy(written)
    assert policy.connections["there"].value == "host='db.example.org' port='5433' dbname='o\\'h'"
    assert policy.tables[0].target is not None
    assert policy.tables[0].target.relation == "public.patients_v2"


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("engine: sqlaudit\n        desc", "engine: sql-audit\n        desc", 17, "there is no engine 'sql-audit'."),
        ("quasi_identifiers: [zip]", "quasi_identifier: [zip]", 21, "has no key 'quasi_identifier'."),
        ("requirements: [k=2]", "requirements: [kk=2]", 27, "There is no privacy model 'kk'."),
        (
            "type: custom\n        engine: sqlaudit\n        desc",
            "engine: sqlaudit\n        desc",
            16,
            "is of 'type: custom'",
        ),
        ("implementation: |\n          name", "others: |\n          name", 24, "has no 'implementation'"),
        ("mustBe: 0}", "mustBe: 0}, {type: custom, engine: sqlaudit, implementation: {}}", 12, "belongs to the table"),
        ("name: patients by age", "name: [", 27, "the text of 'implementation' is not YAML."),
        ("sensitive: [ill]", "server: nowhere", 22, "the contract has no server 'nowhere'."),
        ("          name: patients by age\n", "", 27, "two policies for one table"),
        (
            "duckdb, database: warehouse.duckdb",
            "postgres, host: db, port: 5432",
            7,
            "of type postgres needs 'database'.",
        ),
        ("schema: clinic}", "schema: clinic}\n  - {server: here, type: duckdb}", 8, "two servers 'here'"),
        ("schema: clinic}", "schema: clinic}\n  - {server: b, type: duckdb}", 17, "has several 'servers'"),
    ],
)
def test_a_mistake_is_told_at_its_line(old: str, new: str, line: int, said: str, folder: Path) -> None:
    written = folder / "contract.yaml"
    assert CONTRACT.count(old) == 1
    written.write_text(CONTRACT.replace(old, new))
    mistakes = mistakes_of(load_policy(written))
    assert [(one.place.line, one.message) for one in mistakes if said in one.message], mistakes
    assert not sqlaudit.gate(written).passed
    assert line in {one.place.line for one in mistakes if said in one.message}, mistakes


@pytest.mark.parametrize(
    ("contract", "said"),
    [
        (CONTRACT.replace("engine: sqlaudit", "engine: other"), "no quality block of the contract is 'type: custom'"),
        (CONTRACT.replace("v3.1.0", "v2.2.2"), "line 1: data contracts need 'apiVersion' v3.0"),
        (CONTRACT + "    quality: []\n", "the same key is here twice"),
        ("kind: DataContract\n", "line 1: data contracts need"),
    ],
)
def test_what_is_no_contract_of_ours_is_refused(contract: str, said: str, tmp_path: Path) -> None:
    written = tmp_path / "contract.yaml"
    written.write_text(contract)
    with pytest.raises(UsageError) as refused:
        load_policy(written)
    assert said in str(refused.value)
