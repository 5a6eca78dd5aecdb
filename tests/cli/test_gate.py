"""`sqlaudit test`, `init` and `baseline` as a stranger types them: formats, exit codes, and not one value anywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import duckdb
import pytest
import xmlschema
import yaml
from jsonschema import Draft202012Validator

import sqlaudit
from sqlaudit.cli.policies import FORMATS
from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.run import mistakes_of
from tests.cli.runner import run
from tests.gates.databases import PATIENTS, SECRET, in_duckdb, write
from tests.gates.test_schema import errors
from tests.places import REPOSITORY
from tests.postgres_load import Loader
from tests.postgres_server import PostgresServer
from tests.reports.schemas import schema, validator

HERE = REPOSITORY / "tests"
ROOT = HERE.parent
JUNIT = xmlschema.XMLSchema(str(HERE / "gates" / "junit.xsd"))
SARIF = json.loads((HERE / "gates" / "sarif.json").read_text(encoding="utf-8"))
POLICY = """
tables:
  - table: patients
    tags: [release]
    quasi_identifiers: [age, sex]
    sensitive: [disease]
    requirements:
      - k=3
      - l: 2
        severity: warn
      - t=0.9
      - kk=5
      - column_sets: {max_size: 1, k: 3}
      - average_risk: 0.1
    exceptions:
      - {requirement: average_risk, until: 2999-01-01, reason: "50%, agreed::until then"}
  - {table: nowhere, quasi_identifiers: [age], requirements: [k=2]}
  - {table: patients, name: empty, where: 1 = 0, quasi_identifiers: [age], requirements: [k=2]}
  - {table: patients, name: broken, quasi_identifers: [age], requirements: [k=2]}
"""
"""One test for every way to end but two: accepted and skipped need an earlier run."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a policy and its database, as the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    in_duckdb(tmp_path, {"patients": PATIENTS}).policy(POLICY)
    return tmp_path


ENDINGS = {"junit": "xml", "markdown": "md", "text": "txt", "openlineage": "openlineage.json", "github": ""}


@pytest.mark.parametrize(
    "chosen", ["github", *(pytest.param(one, marks=pytest.mark.all_cases) for one in FORMATS if one != "github")]
)
def test_no_format_holds_a_value(chosen: str, folder: Path) -> None:
    """All reports of one run; that `--format` gives the same is asked of each with `--cases all`."""
    files = [folder / f"report.{ending}" for one in FORMATS if (ending := ENDINGS.get(one, one))]
    reports = [part for file in files for part in ("--report", file.name)]
    ran = run("test", "--format", chosen, "--store-failures", "kept.duckdb", "--show-values", *reports)
    assert ran.code == 2
    for told in (ran.out, *(file.read_text(encoding="utf-8") for file in files)):
        assert SECRET not in told + ran.err
        assert "471147114" not in told + ran.err
        assert "average_risk" in told.replace("\\", "")


def test_text_says_the_verdict_first(folder: Path) -> None:
    ran = run("test")
    assert ran.said.startswith(
        "FAIL: 2 of 9 tests fail, 1 could not be decided, 3 could not be run, 1 warns, 1 is excepted, the policy "
        "has 1 mistake "
    )
    for said in (
        "sqlaudit.yml, line 22: a table has no key 'quasi_identifers'. Did you mean 'quasi_identifiers'?",
        "patients: k=3 (line 11) FAILS: k-anonymity is 2; at least 3 is required. 4 rows (57.1%) in 2 groups fail.",
        "2 minimal column sets of at most 1 column have any of the rows in classes smaller than 3: age: 2 of 7 "
        "rows (28.6%) in classes smaller than 3;",
        "empty: k=2 (line 21) undetermined: k-anonymity is undefined; at least 2 is required. The table has no rows.",
        "Excepted until 2999-01-01: 50%, agreed::until then.",
        "patients: l=2 for disease (line 12) warns: Distinct l-diversity is 1; at least 2 is required. "
        "2 rows (28.6%) in 1 group fail.",
    ):
        assert said in ran.said, said


def test_json_follows_its_schema(folder: Path) -> None:
    data = json.loads(run("test", "--format", "json").out)
    validator("gate").validate(data)
    assert data["schema"] == "sqlaudit-gate/1" == schema("gate")["title"]
    assert data["counts"] == {"pass": 1, "warn": 1, "fail": 2, "undetermined": 1, "error": 3, "excepted": 1}
    assert [test["exit_code"] for test in data["tests"]] == [1, 0, 0, 2, 1, 0, 2, 1, 2]
    assert data["tests"][4]["column_sets"] == [{"columns": ["age"], "at_risk": 2}, {"columns": ["sex"], "at_risk": 2}]
    assert [mistake["line"] for mistake in data["mistakes"]] == [22]


def test_junit_follows_its_schema(folder: Path) -> None:
    ran = run("test", "--format", "junit", "--baseline", _accepted(folder))
    JUNIT.validate(ran.out)
    root = ET.fromstring(ran.out)
    assert {name: root.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "10",
        "failures": "1",
        "errors": "4",
    }
    suites = {suite.get("name"): suite for suite in root}
    assert list(suites) == ["patients", "nowhere", "empty", "broken", "the policy"]
    cases = {str(case.get("name")): [child.tag for child in case] for case in suites["patients"].iter("testcase")}
    assert cases == {
        "k=3": ["skipped"],
        "l=2 for disease": ["skipped"],
        "t=0.9 for disease": [],
        "kk=5": ["error"],
        "column_sets=max_size:1,k:3,share:0%": ["skipped"],
        "average_risk=0.1": ["skipped"],
    }
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        JUNIT.validate(ran.out.replace("classname=", "klass="))


def _accepted(folder: Path) -> Path:
    run("baseline", "--baseline", folder / "kept.yml")
    return folder / "kept.yml"


def test_sarif_follows_its_schema(folder: Path) -> None:
    Draft202012Validator.check_schema(SARIF)
    check = Draft202012Validator(SARIF)
    data = json.loads(run("test", "--format", "sarif").out)
    check.validate(data)
    found = [(result["ruleId"], result["level"], _line(result)) for result in data["runs"][0]["results"]]
    assert found == [
        ("policy", "error", ("sqlaudit.yml", 22)),
        ("k_anonymity", "error", ("sqlaudit.yml", 11)),
        ("distinct_l_diversity", "warning", ("sqlaudit.yml", 12)),
        ("kk", "error", ("sqlaudit.yml", 15)),
        ("column_sets", "error", ("sqlaudit.yml", 16)),
        ("average_risk", "warning", ("sqlaudit.yml", 17)),
        ("k", "error", ("sqlaudit.yml", 20)),
        ("k_anonymity", "error", ("sqlaudit.yml", 21)),
        ("k", "error", ("sqlaudit.yml", 22)),
        ("possible_quasi_identifier", "warning", ("sqlaudit.yml", 21)),
        ("selected_rows", "note", ("sqlaudit.yml", 21)),
        ("columns_without_role", "note", ("sqlaudit.yml", 21)),
    ]
    excepted = next(result for result in data["runs"][0]["results"] if "suppressions" in result)
    assert excepted["suppressions"] == [
        {"kind": "inSource", "justification": "Until 2999-01-01: 50%, agreed::until then"}
    ]
    rules = [rule["id"] for rule in data["runs"][0]["tool"]["driver"]["rules"]]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in data["runs"][0]["results"])
    compared = json.loads(run("test", "--format", "sarif", "--baseline", _accepted(folder)).out)
    check.validate(compared)
    states = [result.get("baselineState") for result in compared["runs"][0]["results"]]
    assert states == [None, "unchanged", "unchanged", None, "unchanged", "unchanged", *[None] * 6]


def _line(result: dict[str, list[dict[str, dict[str, dict[str, object]]]]]) -> tuple[object, object]:
    place = result["locations"][0]["physicalLocation"]
    return place["artifactLocation"]["uri"], place["region"]["startLine"]


def test_github_annotates_the_lines_of_the_policy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = run("test", "--format", "github").out.splitlines()
    assert lines[0] == (
        "::error file=sqlaudit.yml,line=22,title=the policy::a table has no key 'quasi_identifers'. Did you mean "
        "'quasi_identifiers'?"
    )
    assert lines[1] == (
        "::error file=sqlaudit.yml,line=11,title=patients%3A k=3 FAILS::k-anonymity is 2; at least 3 is required. "
        "4 rows (57.1%25) in 2 groups fail. Tested: clinic.main.patients"
    )
    verdict = next(place for place, line in enumerate(lines) if line.startswith("FAIL: 2 of 9 tests fail"))
    notices = [line for line in lines[:verdict] if line.startswith("::notice ")]
    assert notices == [
        "::notice file=sqlaudit.yml,line=17,title=patients%3A average_risk=0.1 excepted::Average risk (over rows) is "
        "0.4286; at most 0.1 is required. Excepted until 2999-01-01: 50%25, agreed::until then. "
        "Tested: clinic.main.patients"
    ]
    assert lines[verdict + 1].startswith("Tested: patients = clinic.main.patients")
    assert all(line.startswith(("::notice ", "::warning ")) for line in lines[verdict + 2 : -1])
    assert lines[-1].endswith("(sqlaudit help verdicts).")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(folder.parent))
    assert f"file={folder.name}/sqlaudit.yml,line=11" in run("test", "--format", "github").out


@pytest.mark.parametrize(
    ("requirements", "code"),
    [("[k=2]", 0), ("[k=3]", 1), ("[{k: 3, severity: warn}]", 0), ("[kk=3]", 2), ("[k=3, kk=3]", 2), ("[l=2]", 2)],
)
def test_exit_codes(requirements: str, code: int, folder: Path) -> None:
    text = f"\ntables: [{{table: patients, quasi_identifiers: [age, sex], requirements: {requirements}}}]\n"
    in_duckdb(folder, {"patients": PATIENTS}).policy(text)
    assert run("test").code == code


def test_several_reports_from_one_run(folder: Path) -> None:
    names = ("a.json", "b.xml", "c.sarif", "d.md", "e.html", "f.txt")
    ran = run("test", "--format", "github", *(part for name in names for part in ("--report", name)), "--output", "g")
    assert (ran.code, ran.out) == (2, "")
    validator("gate").validate(json.loads((folder / "a.json").read_text(encoding="utf-8")))
    JUNIT.validate(str(folder / "b.xml"))
    Draft202012Validator(SARIF).validate(json.loads((folder / "c.sarif").read_text(encoding="utf-8")))
    assert (folder / "d.md").read_text(encoding="utf-8").startswith("# FAIL: 2 of 9 tests fail")
    assert "<html" in (folder / "e.html").read_text(encoding="utf-8")
    assert (folder / "f.txt").read_text(encoding="utf-8").startswith("FAIL: 2 of 9 tests fail")
    assert (folder / "g").read_text(encoding="utf-8").startswith("::error file=sqlaudit.yml,line=22")
    assert run("test", "--report", "h.pdf").code == 2
    run("test", "--output", "i.sarif")
    assert json.loads((folder / "i.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"


def test_failing_classes_are_stored_without_their_values(folder: Path) -> None:
    ran = run("test", "--store-failures", "kept.duckdb", "--select", "patients,requirement:k=3", "--format", "json")
    assert json.loads(ran.out)["notes"] == ["2 failing classes are in 'kept.duckdb', without their values."]
    with duckdb.connect("kept.duckdb") as connection:
        rows = connection.execute("FROM failures").fetchall()
        connection.execute("CREATE TABLE mine AS SELECT 1 AS x")
    assert rows == [("patients", "k=3", None, 2, 2, 2, "{}", None)]
    assert SECRET.encode() not in (folder / "kept.duckdb").read_bytes()
    run("test", "--store-failures", "kept.duckdb", "--show-values", "--select", "patients,requirement:k=3")
    with duckdb.connect("kept.duckdb", read_only=True) as connection:
        keys = connection.execute("SELECT key, class_rows FROM failures ORDER BY key").fetchall()
        assert connection.execute("FROM mine").fetchall() == [(1,)]
    assert keys == [('{"age": 30, "sex": "M"}', 2), ('{"age": 471147114, "sex": "F"}', 2)]


def test_values_are_refused_where_nothing_is_stored(folder: Path) -> None:
    ran = run("test", "--show-values")
    assert ran.code == 2
    assert "--show-values needs --store-failures: reports of a policy never show values." in ran.err


def test_list_reads_the_policy_and_connects_to_nothing(folder: Path) -> None:
    (folder / "clinic.duckdb").unlink()
    ran = run("test", "--list", "--select", "tag:release")
    assert ran.code == 2
    assert ran.out.splitlines() == [
        "sqlaudit.yml, line 11: patients: k=3",
        "sqlaudit.yml, line 12: patients: l=2 (warns)",
        "sqlaudit.yml, line 14: patients: t=0.9",
        "sqlaudit.yml, line 15: patients: kk=5",
        "sqlaudit.yml, line 16: patients: column_sets=max_size:1,k:3,share:0%",
        "sqlaudit.yml, line 17: patients: average_risk=0.1",
    ]
    assert "sqlaudit: sqlaudit.yml, line 15: patients: There is no privacy model 'kk'." in ran.err
    assert "sqlaudit: sqlaudit.yml, line 22: a table has no key 'quasi_identifers'." in ran.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("-f", "nope.yml"), "nope.yml: cannot be read (No such file or directory)."),
        (("--select", "tag:nope"), "--select 'tag:nope' matches no test."),
        (("--dbt-target", "dev"), "--dbt-target needs --dbt-project"),
        (("-f", "sqlaudit.yml", "--dbt-project", "."), "exclude each other"),
        (("--dbt-project", "."), "dbt_project.yml: cannot be read"),
        (("--baseline", "nope.yml"), "There is no baseline 'nope.yml'"),
        (("--store-failures", "kept.csv"), "'kept.csv' must end in .duckdb or .db."),
    ],
)
def test_requests_that_cannot_be_carried_out(options: tuple[str, ...], said: str, folder: Path) -> None:
    ran = run("test", *options)
    assert ran.code == 2
    assert said in ran.err


def test_a_baseline_is_accepted_and_shown(folder: Path) -> None:
    ran = run("baseline")
    assert ran.code == 2
    assert ran.out.startswith("Accepted the state of 5 tests, 4 of which fail today")
    assert "Not accepted" in ran.out
    assert run("baseline", "--select", "patients,requirement:k").out.startswith("Accepted the state of 1 test,")
    for _ in range(2):
        run("test", "--history", "runs.jsonl")
    shown = run("baseline", "--history", "runs.jsonl")
    assert shown.code == 0
    assert "patients: k=3" in shown.out
    data = json.loads(run("baseline", "--history", "runs.jsonl", "--format", "json").out)
    validator("history").validate(data)
    runs = next(test["runs"] for test in data["tests"] if test["requirement"] == "k=3")
    assert [(one["run"], one["level"], one["failing_rows"], one["accepted"]) for one in runs] == [
        (2, "2", 4, False),
        (1, "2", 4, False),
    ]
    validator("gate").validate(json.loads(run("baseline", "--format", "json").out))


# --- init ---


def test_init_writes_a_policy_that_runs(folder: Path) -> None:
    ran = run("init", "--db", "clinic.duckdb", "--output", "new.yml", "--schema", "policy.json")
    assert (ran.code, ran.out) == (0, "")
    text = (folder / "new.yml").read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=policy.json\n")
    assert SECRET not in text
    assert "471147114" not in text
    policy = load_policy(folder / "new.yml")
    assert mistakes_of(policy) == []
    assert errors(text) == []
    table = policy.tables[0]
    assert set(table.roles.quasi_identifiers) == {"age", "sex"}
    assert table.roles.sensitive == ("disease",)
    assert [test.requirement for test in table.tests] == ["k=5", "l=2"]
    assert run("test", "-f", "new.yml").code == 1
    assert json.loads((folder / "policy.json").read_text(encoding="utf-8")) == schema("policy")


def test_init_names_persons_with_several_rows_from_the_data(folder: Path) -> None:
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("""
            CREATE TABLE people AS SELECT i * 7 AS patient_id, 30 + i % 3 AS age FROM range(20) AS r(i);
            CREATE TABLE visits AS SELECT i % 20 * 7 AS patient_id, i AS case_id, 30 + i % 5 AS age
            FROM range(80) AS r(i);
            CREATE TABLE strangers AS SELECT i % 4 + 1000 AS "Patient ID", 30 + i % 5 AS age FROM range(80) AS r(i);
            CREATE TABLE gaps AS SELECT CASE WHEN i > 2 THEN i % 4 END AS patient_id, 30 + i % 5 AS age
            FROM range(9) AS r(i)
        """)
    names = ("people", "visits", "strangers", "gaps")
    assert run("init", "--db", "clinic.duckdb", *names, "--output", "new.yml").code == 0
    text = (folder / "new.yml").read_text(encoding="utf-8")
    policy = load_policy(folder / "new.yml")
    assert mistakes_of(policy) == []
    told = {table.name: (table.roles.entity, [test.requirement for test in table.tests]) for table in policy.tables}
    assert told == {
        "people": (None, ["k=5", "no direct identifier patient_id"]),
        "visits": ("patient_id", ["k=5", "km@2=5", "no direct identifier case_id"]),
        "strangers": ("Patient ID", ["k=5", "km@2=5"]),
        "gaps": (None, ["k=5", "no direct identifier patient_id"]),
    }
    assert "entity: patient_id # 4.0 rows per value; every value is in patient_id of people" in text
    assert 'entity: "Patient ID" # 20.0 rows per value; its name suggests that it identifies people' in text
    assert policy.tables[1].roles.identifiers == ("case_id",)
    assert run("test", "-f", "new.yml").code == 1


def test_init_leaves_out_what_cannot_be_read(folder: Path) -> None:
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("CREATE TABLE gone (age BIGINT); CREATE VIEW broken AS FROM gone; DROP TABLE gone")
        connection.execute('CREATE VIEW "o\'dd: ""one" AS SELECT age AS "age: x", sex FROM patients')
    ran = run("init", "--db", "clinic.duckdb", "--output", "new.yml")
    assert ran.code == 0
    assert "broken is left out: There is no table or view 'gone'" in ran.err
    text = (folder / "new.yml").read_text(encoding="utf-8")
    policy = load_policy("new.yml")
    assert [table.name for table in policy.tables] == ['"o\'dd: ""one"', "patients"]
    assert policy.tables[0].roles.quasi_identifiers == ("age: x", "sex")
    assert all(line == line.rstrip() for line in text.splitlines())
    assert [test.outcome.value for test in sqlaudit.gate("new.yml").tests][:1] == ["fail"]
    assert run("init", "--db", "clinic.duckdb", "broken", "--output", "other.yml").code == 2
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute('DROP VIEW "o\'dd: ""one"; DROP TABLE patients')
    ran = run("init", "--db", "clinic.duckdb", "--output", "other.yml")
    assert (ran.code, ran.err.splitlines()[-1]) == (2, "sqlaudit: This database has no readable table or view.")


def test_init_for_files_beside_the_policy(folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "data" / "odd name.csv").write_text("age,sex\n30,f\n30,f\n40,m\n40,m\n", encoding="utf-8")
    assert run("init", "data/odd name.csv", "--output", "data/p.yml").code == 0
    policy = load_policy("data/p.yml")
    assert policy.tables[0].target is not None
    assert policy.tables[0].target.relation == "data/odd name.csv"
    assert run("test", "-f", "data/p.yml").code == 1


def test_init_from_postgres(
    load: Loader, postgres_server: PostgresServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load("patients", [list(row.values()) for row in PATIENTS], list(PATIENTS[0]), schema="gate")
    monkeypatch.setenv("CLINIC_URL", postgres_server.url())
    assert run("init", "--db-env", "CLINIC_URL", "gate.patients", "--output", "pg.yml").code == 0
    text = (folder / "pg.yml").read_text(encoding="utf-8")
    assert "main: {env: CLINIC_URL}" in text
    assert "- table: gate.patients # 7 rows" in text
    ran = run("test", "-f", "pg.yml", "--format", "json")
    assert [(test["requirement"], test["rows"]) for test in json.loads(ran.out)["tests"]] == [("k=5", 7), ("l=2", 7)]
    listed = run("init", "--db-env", "CLINIC_URL", "--output", "-").out
    assert "table: gate.patients" in listed
    assert "information_schema" not in listed


def test_init_writes_no_password_and_replaces_nothing(folder: Path) -> None:
    ran = run("init", "--db", "postgresql://me:hush@db/x", "t", "--output", "x.yml")
    assert ran.code == 2
    assert "A policy must not contain a password" in ran.err
    assert "hush" not in ran.err
    ran = run("init", "--db", "clinic.duckdb")
    assert ran.code == 2
    assert "'sqlaudit.yml' exists. Replace it with --force" in ran.err
    assert run("init", "--db", "clinic.duckdb", "--force").code == 0
    assert run("init").code == 2


def test_tables_without_known_columns_are_written_as_comments(folder: Path) -> None:
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("CREATE TABLE counts AS SELECT i AS n, 7 AS total FROM range(3) AS r(i)")
    text = run("init", "--db", "clinic.duckdb", "--output", "-").out
    write(folder, text, "both.yml")
    assert [table.name for table in load_policy("both.yml").tables] == ["patients"]
    only = run("init", "--db", "clinic.duckdb", "counts", "--output", "-").out
    assert load_policy(write(folder, only, "only.yml")).tables == ()
    assert "# - table: counts" in only


# --- the action and the hooks ---


def _action(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    given = {"PATH": path, "HOME": str(folder), "GITHUB_WORKSPACE": str(folder), **variables}
    return subprocess.run(
        [ROOT / "integrations" / "github_action.sh"],
        cwd=folder,
        env=given,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_the_action_annotates_sums_up_and_keeps_the_exit_code(folder: Path) -> None:
    summary, output = folder / "summary.md", folder / "output.txt"
    ran = _action(folder, GITHUB_STEP_SUMMARY=str(summary), GITHUB_OUTPUT=str(output), SQLAUDIT_REPORTS="out/gate")
    assert ran.returncode == 2, ran.stderr
    assert "::error file=sqlaudit.yml,line=11,title=patients%3A k=3 FAILS::" in ran.stdout
    assert summary.read_text(encoding="utf-8").startswith("# FAIL: 2 of 9 tests fail")
    assert output.read_text(encoding="utf-8") == "exit-code=2\n"
    assert sorted(path.name for path in (folder / "out" / "gate").iterdir()) == ["gate.json", "gate.sarif", "gate.xml"]
    selected = _action(folder, SQLAUDIT_SELECT="patients,requirement:t $(touch hacked)")
    assert selected.returncode == 2
    assert not (folder / "hacked").exists()
    baseline = str(_accepted(folder))
    (folder / "sqlaudit.yml").rename(folder / "other.yml")
    ran = _action(
        folder, SQLAUDIT_SELECT="patients,requirement:k", SQLAUDIT_POLICY="other.yml", SQLAUDIT_BASELINE=baseline
    )
    assert ran.returncode == 2
    assert "accepted::" in ran.stdout


def test_the_action_hands_every_input_to_its_script() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    step = action["runs"]["steps"][-1]
    script = (ROOT / "integrations" / "github_action.sh").read_text(encoding="utf-8")
    assert step["run"] == '"${GITHUB_ACTION_PATH}/integrations/github_action.sh"'
    assert os.access(ROOT / "integrations" / "github_action.sh", os.X_OK)
    assert all("${" + name in script for name in step["env"])
    used = {
        name
        for step in action["runs"]["steps"]
        for value in str(step).split("inputs.")[1:]
        for name in [value.split(" ")[0]]
    }
    assert used == set(action["inputs"])


def test_the_hooks_run(folder: Path) -> None:
    hooks = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    codes = {name: run(*hook["entry"].split()[1:]).code for name, hook in hooks.items()}
    assert codes == {"sqlaudit-policy": 2, "sqlaudit-test": 2}
    in_duckdb(folder, {"patients": PATIENTS}).policy(
        "\ntables: [{table: patients, quasi_identifiers: [age], requirements: [k=2]}]\n"
    )
    assert {name: run(*hook["entry"].split()[1:]).code for name, hook in hooks.items()} == dict.fromkeys(codes, 0)
    assert all(hook["entry"].split()[0] == "sqlaudit" and not hook["pass_filenames"] for hook in hooks.values())
