"""The session on both engines: statements, roles, questions, what-if, and what is written."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import psycopg
import pytest

from sqlaudit.base.errors import EngineError, Incomplete, UsageError
from sqlaudit.base.spec import Limits
from sqlaudit.cli.console.workspace import Workspace
from sqlaudit.gates.reading import load_policy
from tests.audits.unwarned import unwarned  # noqa: F401
from tests.cli.console.helpers import COLUMNS, PEOPLE, Console, console, people_csv
from tests.cli.runner import as_parquet
from tests.postgres_load import Loader

ENDLESS = {
    "duckdb": "SELECT count(*) AS n FROM range(10000000) a, range(10000000) b WHERE a.range * b.range % 7 = 3",
    "postgres": "SELECT count(*) AS n FROM generate_series(1, 10000000) a, generate_series(1, 10000000) b "
    "WHERE a::bigint * b % 7 = 3",
    "spark": "SELECT count(*) AS n FROM range(10000000) a CROSS JOIN range(10000000) b WHERE a.id * b.id % 7 = 3",
}


@pytest.fixture(scope="module")
def workspace(
    engine_name: str, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Workspace]:
    if engine_name == "duckdb":
        path = people_csv(tmp_path_factory.mktemp("console"))
        with Workspace() as opened:
            opened.target(str(path))
            yield opened
        return
    if engine_name == "spark":
        from tests.spark_session import make_views

        rows = [dict(zip(COLUMNS, person, strict=True)) for person in PEOPLE]
        kinds = dict(zip(COLUMNS, ["int", "text", "text", "text"], strict=True))
        make_views(request.getfixturevalue("engine"), "default", "console_people", rows, kinds)
        with Workspace(request.getfixturevalue("small_spark"), Limits()) as opened:
            yield opened
        return
    load: Loader = request.getfixturevalue("load")
    load("console_people", PEOPLE, COLUMNS)
    with Workspace(request.getfixturevalue("lasting_postgres_url"), Limits()) as opened:
        yield opened


@pytest.fixture
def table(engine_name: str) -> str:
    return "people" if engine_name == "duckdb" else "console_people"


@pytest.fixture
def opened(workspace: Workspace, table: str) -> Console:
    made = console(workspace)
    made.run(f"\\use {table}")
    return made


def test_a_select_shows_its_rows(opened: Console, table: str) -> None:
    query = (
        f"SELECT sex, zip, count(*) AS n FROM {table} WHERE age > 50 GROUP BY sex, zip ORDER BY n DESC, zip NULLS LAST;"
    )
    assert opened.run(query) == (
        "sex | zip    | n\n----+--------+--\nf   | 148-50 | 2\nm   | 148-53 | 1\nm   | NULL   | 1\n(3 rows)\n"
    )


def test_what_stands_in_values_is_shown_and_not_obeyed(opened: Console) -> None:
    shown = opened.run("SELECT 'a' || chr(27) || '[31mred' AS x, 'b' || chr(10) AS y, '日本' AS z, -1.5 AS n;")
    assert shown.splitlines()[2] == "a\\x1b[31mred | b\\n | 日本 | -1.5"
    assert "\x1b" not in shown


def test_nothing_can_be_written(opened: Console, table: str) -> None:
    for statement in (f"DROP TABLE {table}", f"DELETE FROM {table}", "CREATE TABLE x (a INT)", "COPY x TO 'file'"):
        with pytest.raises(UsageError):
            opened.run(statement)
    assert opened.words(f"SELECT count(*) AS n FROM {table};") == "n - 8 (1 row)"


def test_a_plan_is_explained(opened: Console, table: str) -> None:
    plan = opened.run(f"EXPLAIN SELECT sex, count(*) AS n FROM {table} GROUP BY sex;").lower()
    assert "group" in plan or "aggregate" in plan
    assert opened.session.selected is None


def test_the_statement_audits_and_sets_what_follows(opened: Console, table: str) -> None:
    shown = opened.words(f"AUDIT {table} BY (age, sex) SENSITIVE disease REQUIRE k >= 2, l >= 2;")
    assert shown.startswith("FAIL: neither requirement is met")
    assert "FAILS k-anonymity 1 at least 2 8 rows (100%)" in shown
    assert opened.session.state.roles.quasi_identifiers == ("age", "sex")
    below = opened.words("\\classes below 3")
    assert "8 of 8 groups have fewer than 3 rows (8 rows in total)" in below
    assert "\\values on lists the groups with their values" in below


def test_an_audit_of_a_select(opened: Console, table: str) -> None:
    shown = opened.words(f"AUDIT (SELECT sex, disease FROM {table} WHERE age < 40) BY (sex) REQUIRE k = 2")
    assert shown.startswith("PASS: the requirement is met query: 4 rows in 2 groups (rows with the same sex).")


def test_the_last_select_is_audited_when_no_table_is_chosen(workspace: Workspace, table: str) -> None:
    fresh = console(workspace)
    with pytest.raises(UsageError, match=r"^No relation is selected. Name a table or file with \\use"):
        fresh.run("\\audit")
    shown = fresh.words(f"SELECT sex FROM {table};\n\\qi sex\n\\audit")
    assert "8 rows in 2 groups (rows with the same sex)" in shown
    fresh.run(f"SELECT age FROM {table};\n\\use")
    with pytest.raises(UsageError, match="sex"):
        fresh.run("\\audit")


def test_a_select_can_be_chosen(opened: Console, table: str) -> None:
    shown = opened.words(f"\\use SELECT sex, zip FROM {table} WHERE age > 50\n\\qi sex\n\\audit")
    assert opened.said[-1] == "the current relation is query (2 columns)."
    assert "query: 4 rows in 2 groups (rows with the same sex)" in shown
    assert "relation a SELECT" in opened.words("\\qi")
    assert "4 rows in 1 group" in opened.words("\\generalize sex substr(sex, 2, 1)\n\\audit").split("PASS")[-1]


def test_whole_rows_of_a_table_keep_its_name_and_can_be_saved(opened: Console, table: str, tmp_path: Path) -> None:
    opened.run(f"\\use SELECT * FROM {table} AS p WHERE age > 50 AND zip IS NOT NULL\n\\qi sex\n\\require k=1")
    assert "with a condition" in opened.words("\\qi")
    assert "3 rows in 2 groups (rows with the same sex)" in opened.words("\\audit")
    opened.run(f"\\save {tmp_path / 'policy.yml'} CLINIC_URL")
    target = load_policy(tmp_path / "policy.yml").tables[0].target
    assert target is not None
    assert target.where in ("age > 50 AND NOT zip IS NULL", "age > 50 AND zip IS NOT NULL")
    compiled = opened.words("\\compile snowflake").replace("audited.", "")  # which may qualify columns
    assert "WHERE age > 50 AND NOT zip IS NULL" in compiled
    for text in (
        f"SELECT * FROM {table} LIMIT 3",
        f"SELECT DISTINCT * FROM {table}",
        f"SELECT p.* FROM {table} p",
        f"SELECT * FROM {table} WHERE age > (SELECT min(age) FROM {table})",
        f"WITH w AS (SELECT * FROM {table}) SELECT * FROM w",
        f"SELECT * FROM {table} p WHERE p.age > 1",
        f"SELECT * FROM {table} a JOIN (SELECT 1 AS x) b ON true",
    ):
        assert opened.session.workspace.query(text).relation == ""


def test_a_query_over_files_has_no_place_in_a_policy(opened: Console, table: str, tmp_path: Path) -> None:
    opened.run(f"\\use SELECT sex, zip FROM {table}\n\\qi sex\n\\require k=2")
    if opened.session.workspace.db is None:
        with pytest.raises(UsageError, match="no query over files"):
            opened.run(f"\\save {tmp_path / 'policy.yml'}")
    else:
        opened.run(f"\\save {tmp_path / 'policy.yml'} CLINIC_URL")
        policy = load_policy(tmp_path / "policy.yml")
        assert (policy.mistakes, policy.tables[0].mistakes) == ((), ())
        assert policy.tables[0].target is not None
        assert policy.tables[0].target.query == f"SELECT sex, zip FROM {table}"


def test_quasi_identifiers_are_proposed_when_none_are_named(opened: Console) -> None:
    with pytest.raises(UsageError, match=r"^No quasi-identifiers are set.* \\profile proposes: \\qi age, sex, zip$"):
        opened.run("\\sensitive disease\n\\audit")


def test_roles_are_checked_and_shown(opened: Console) -> None:
    with pytest.raises(UsageError, match=r"Did you mean 'age'\?"):
        opened.run("\\qi agee")
    opened.run("\\qi age sex\n\\sensitive disease\n\\require k=2 l >= 2")
    assert opened.words("\\qi").endswith(
        "sensitive columns disease direct identifiers none entity none requirements k=2, l=2"
    )
    opened.run("\\require none\n\\sensitive none")
    assert opened.words("\\require").endswith(
        "sensitive columns none direct identifiers none entity none requirements none"
    )
    with pytest.raises(UsageError, match=r"^\\require, line 1, column 2: k is a lower limit"):
        opened.run("\\require k<5")


def test_values_of_classes_are_hidden_unless_wanted(opened: Console) -> None:
    opened.run("\\qi zip sex")
    hidden = opened.run("\\classes below 2")
    assert "148-53" not in hidden
    opened.run("\\values on")
    assert "zip 148-53, sex m" in opened.words("\\classes below 2")
    assert opened.said[-1] == "values of classes are shown."


def test_what_if_shows_before_and_after_side_by_side(opened: Console) -> None:
    opened.run("\\qi age sex zip\n\\sensitive disease\n\\require k=2")
    dropped = opened.words("\\drop zip")
    assert dropped.startswith("still FAIL: without zip Quasi-identifiers now: age and sex.")
    assert "groups 8 8" in dropped
    generalize_column = opened.words("\\generalize age 10")
    assert generalize_column.startswith("now PASS: age as floor(age / 10.0) * 10")
    assert "groups 8 4" in generalize_column
    assert "k-anonymity 1 2 ≥ 2 passes" in generalize_column
    assert "unique 8 (100%) 0 (0%)" in generalize_column
    again = opened.words("\\generalize age 100")
    assert "groups 4 2" in again
    assert "smallest group 2 4" in again
    added = opened.words("\\add zip")
    assert "groups 2 5" in added
    assert opened.session.state.roles.quasi_identifiers == ("floor(age / 100.0) * 100", "sex", "zip")
    masked = opened.words("\\generalize zip 3")
    assert "zip as substr(zip, 1, 3)" in masked
    opened.run("\\undo\n\\undo\n\\undo\n\\undo")
    assert opened.session.state.roles.quasi_identifiers == ("age", "sex")


def test_a_change_that_has_no_meaning_changes_nothing(opened: Console) -> None:
    opened.run("\\qi age sex")
    for text, problem in (
        ("\\drop zip", r"\\drop: zip is not a quasi-identifier. \\add zip makes it one."),
        (
            "\\generalize age year",
            r"age has numbers: give the width of the intervals, for example \\generalize age 10.",
        ),
        (
            "\\generalize sex month",
            r"sex has texts: give the number of characters to keep, for example \\generalize sex 3.",
        ),
        ("\\generalize age sex || 'x'", r"\"sex \|\| 'x'\" uses other columns than age."),
        ("\\generalize age count(*)", "without subquery, aggregate or window"),
        ("\\add sex", r"Column 'sex' is named twice as quasi-identifier"),
        ("\\add nothing", "has no column 'nothing'"),
    ):
        with pytest.raises(UsageError, match=problem):
            opened.run(text)
    assert opened.session.state.roles.quasi_identifiers == ("age", "sex")


def test_the_other_questions(opened: Console) -> None:
    opened.run("\\qi age sex\n\\sensitive disease\n\\require k=2")
    assert "someone's disease is certain without any knowledge" in opened.words("\\disclosure 0..2")
    sets = opened.words("\\columns 1")
    assert "age" in sets
    assert "disease" not in sets.split("How")[0]
    assert "Generalization: age in steps of 10 years; sex unchanged (levels 2,0): 4 classes." in opened.words(
        "\\lattice"
    )
    assert "homogeneity" in opened.words("\\attack").lower()
    assert "Others may know age, sex and zip." in opened.words("\\profile")


def test_a_release_is_compared_with_the_current_relation(opened: Console, table: str, tmp_path: Path) -> None:
    opened.run("\\qi age sex\n\\require k=2")
    if opened.session.workspace.dialect == "postgres":
        with pytest.raises(UsageError, match="nothing_here"):
            opened.run("\\compare nothing_here")
        assert "k-anonymity" in opened.words(f"\\compare {table}")
        return
    lines = [f"{age // 10 * 10}-{age // 10 * 10 + 9},{sex},{zip_},{disease}" for age, sex, zip_, disease in PEOPLE]
    release = tmp_path / "coarse release.csv"
    release.write_text("\n".join([",".join(COLUMNS), *lines]).replace("None", "") + "\n", encoding="utf-8")
    if opened.session.workspace.dialect == "spark":
        with pytest.raises(UsageError, match="only Parquet files can be audited"):
            opened.run(f"\\compare '{release}'")
        release = as_parquet(release)
    levels = tmp_path / "levels.yml"
    levels.write_text("hierarchies:\n  age: {widths: [10]}\n", encoding="utf-8")
    shown = opened.words(f"\\compare '{release}' hierarchies {levels}")
    assert "passes k-anonymity 2 at least 2" in shown
    assert "generalization" in shown
    with pytest.raises(UsageError, match="No release is given"):
        opened.run("\\compare")


def test_roles_that_a_command_does_not_look_at_are_no_pass(opened: Console, table: str) -> None:
    opened.run("\\qi age sex\n\\entity zip\n\\require k=2")
    with pytest.raises(UsageError, match="compare with requirements does not support"):
        opened.run(f"\\compare {table}")
    opened.run("\\require none")
    assert "generalization" in opened.words(f"\\compare {table}")


def test_a_lattice_looks_at_the_weights_of_rows(opened: Console) -> None:
    opened.run("\\qi sex\n\\sample age\n\\require population_uniqueness=50%")
    assert "NO SAFE GENERALIZATION" in opened.words("\\lattice")  # an estimate from weights passes nothing


def test_the_statements_of_the_last_step(opened: Console) -> None:
    opened.run("\\qi age sex\n\\audit")
    shown = opened.run("\\sql")
    assert "sqlaudit: equivalence classes" in shown
    assert "GROUP BY" in shown
    assert "flu" not in shown
    assert opened.run("\\sql") == shown  # which ran nothing itself


def test_requirements_for_another_warehouse(opened: Console, table: str) -> None:
    opened.run("\\qi age sex\n\\require k=2\n\\generalize age 10")
    shown = opened.run("\\compile snowflake clinic.people")
    assert "FROM clinic.people" in shown
    assert "(FLOOR(audited.age / 10.0) * 10)" in shown.replace("NULLIF(10.0, 0)", "10.0")  # Spark's own SQL, translated
    there = duckdb.connect()
    there.execute(f"CREATE TABLE people ({', '.join(f'{name} VARCHAR' for name in COLUMNS)})")
    there.executemany(f"INSERT INTO people VALUES ({', '.join('?' * len(COLUMNS))})", PEOPLE)
    there.execute("ALTER TABLE people ALTER age TYPE INTEGER")
    groups = there.execute("SELECT DISTINCT age // 10, sex FROM people").fetchall()
    ran = there.execute(opened.run("\\compile duckdb people")).fetchone()
    assert ran is not None
    assert ran[:2] == (len(groups), len(PEOPLE))  # classes and rows
    assert f"FROM {table}" in opened.run("\\compile bigquery")
    with pytest.raises(UsageError, match="snowflake"):
        opened.run("\\compile snowflak")


def test_a_policy_says_what_the_session_says(opened: Console, tmp_path: Path, engine_name: str, table: str) -> None:
    opened.run("\\qi age, substr(zip, 1, 3)\n\\sensitive disease\n\\require k=2 recursive_l=c:3,l:2")
    if engine_name == "postgres":
        with pytest.raises(UsageError, match="A policy must not contain a password"):
            opened.run(f"\\save {tmp_path / 'policy.yml'}")
    opened.run(f"\\save {tmp_path / 'policy.yml'} CLINIC_URL")
    policy = load_policy(tmp_path / "policy.yml")
    assert policy.mistakes == ()
    entry = policy.tables[0]
    assert entry.mistakes == ()
    assert entry.roles == opened.session.state.roles
    assert [test.requirement for test in entry.tests] == ["k=2", "recursive_l=c:3,l:2"]
    assert entry.target is not None
    if engine_name != "duckdb":
        assert (entry.target.relation, policy.connections["main"].value) == (table, "CLINIC_URL")
    else:
        assert Path(entry.target.relation).read_text() == people_csv(tmp_path).read_text()
    with pytest.raises(UsageError, match=r"exists. Name another file"):
        opened.run(f"\\save {tmp_path / 'policy.yml'} CLINIC_URL")


def test_reports_are_written_in_every_layout(opened: Console, tmp_path: Path) -> None:
    opened.run("\\qi age sex\n\\require k=2\n\\generalize age 10")
    for name, begin in (("a.html", "<!doctype html>"), ("a.md", "# PASS"), ("a.txt", "PASS"), ("a.json", "{")):
        opened.run(f"\\report {tmp_path / name}")
        assert (tmp_path / name).read_text().lower().startswith(begin.lower())
    assert json.loads((tmp_path / "a.json").read_text())["roles"]["quasi_identifiers"] == [
        "floor(age / 10.0) * 10",
        "sex",
    ]
    with pytest.raises(UsageError, match=r"must end in \.html"):
        opened.run(f"\\report {tmp_path / 'a.csv'}")


def test_a_report_without_an_audit_before_makes_one(opened: Console, tmp_path: Path) -> None:
    assert opened.run(f"\\qi age sex\n\\report '{tmp_path / 'the page.md'}'") == ""
    assert "8 rows in 8 groups" in (tmp_path / "the page.md").read_text().replace("\n", " ")


def test_results_go_into_a_file_and_back(opened: Console, tmp_path: Path, table: str) -> None:
    out = tmp_path / "out.txt"
    assert opened.run(f"\\o {out}\nSELECT count(*) AS n FROM {table};\n\\o\nSELECT 1 AS one;") == (
        "one\n---\n  1\n(1 row)\n"
    )
    assert out.read_text() == "n\n-\n8\n(1 row)\n"


def test_a_catalog_can_be_looked_at(opened: Console, table: str) -> None:
    assert table in opened.words("\\d")
    described = opened.words(f"\\d {table}")
    assert f"{table}{'.csv' if table == 'people' else ''}: 4 columns" in described
    assert [name for name in COLUMNS if name not in described] == []
    assert opened.session.workspace.columns()[table] == COLUMNS


def test_csv_and_json(workspace: Workspace, table: str) -> None:
    query = f"SELECT sex, zip, CAST(age / 2.0 AS DECIMAL(5, 1)) AS half FROM {table} WHERE age > 57 ORDER BY age;"
    as_csv = console(workspace, "csv")
    assert as_csv.run(query) == "sex,zip,half\nm,148-53,29.0\nm,,29.5\n"
    assert as_csv.run(f"AUDIT {table} BY (sex) REQUIRE k=4").splitlines()[0] == "Verdict,Requirement,Result,Required"
    as_json = console(workspace, "json")
    data = json.loads(as_json.run(query))
    assert [column["name"] for column in data["columns"]] == ["sex", "zip", "half"]
    assert [row[:2] for row in data["rows"]] == [["m", "148-53"], ["m", None]]
    lines = as_json.run(f"AUDIT {table} BY (sex) REQUIRE k=4;\\qi")
    audited, roles = (json.loads(line) for line in lines.splitlines())
    assert (audited["status"], roles["quasi-identifiers"]) == ("pass", "sex")


def test_a_time_limit_ends_a_statement_and_not_the_session(workspace: Workspace, engine_name: str, table: str) -> None:
    limited = console(workspace, timeout=0.3)
    begun = time.monotonic()
    with pytest.raises(Incomplete, match=r"^The time limit of 0\.3 seconds was reached\.$"):
        limited.run(ENDLESS[engine_name])
    assert time.monotonic() - begun < 30
    limited.session.timeout = None
    assert limited.words(f"SELECT count(*) AS n FROM {table};") == "n - 8 (1 row)"


def test_a_command_that_is_not_there(opened: Console) -> None:
    with pytest.raises(UsageError, match=r"^There is no command \\audti\. Did you mean 'audit'\? \\\? lists them\.$"):
        opened.run("\\audti")
    shown = opened.run("\\?")
    assert all(word in shown for word in ("\\audit", "\\generalize COLUMN HOW", "\\q"))


@pytest.mark.postgres
def test_a_lost_connection_is_made_again(load: Loader, postgres_url: str, postgres_admin_url: str) -> None:
    load("console_lost", PEOPLE, COLUMNS)
    name = "sqlaudit_console_lost"
    with Workspace(f"{postgres_url}&application_name={name}") as opened:
        lost = console(opened)
        assert lost.words("SELECT count(*) AS n FROM console_lost;") == "n - 8 (1 row)"
        with psycopg.connect(postgres_admin_url, autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s", [name])
        with pytest.raises(EngineError, match=r"The console has connected again\.$"):
            lost.run("SELECT count(*) AS n FROM console_lost;")
        assert lost.words("SELECT count(*) AS n FROM console_lost;") == "n - 8 (1 row)"


@pytest.mark.postgres
def test_the_data_stay_as_they_were_until_refreshed(load: Loader, lasting_postgres_url: str) -> None:
    load("console_fresh", PEOPLE, COLUMNS)
    with Workspace(lasting_postgres_url) as opened:
        looking = console(opened)
        looking.run("\\use console_fresh\n\\qi sex")
        assert "8 rows in 2 groups" in looking.words("\\audit")
        load.connection.execute("INSERT INTO console_fresh SELECT * FROM console_fresh")
        assert "8 rows in 2 groups" in looking.words("\\audit")
        looking.run("\\refresh")
        assert "16 rows in 2 groups" in looking.words("\\audit")


def test_requirements_on_persons_are_judged(opened: Console, table: str) -> None:
    """Illnesses in the place of persons: whoever knows two sexes of one of them."""
    said = " ".join(opened.run(f"AUDIT {table} BY (sex) ENTITY disease REQUIRE km@2 >= 99, profile_k >= 1;").split())
    assert "FAILS kᵐ-anonymity (m = 2)" in said
    assert "passes Profile k-anonymity" in said
    with pytest.raises(UsageError, match=r"'km@2=2' is about people with many rows\. Name the column"):
        opened.run(f"AUDIT {table} BY (sex) REQUIRE km@2>=2;")


def test_show_tables_and_describe_are_understood() -> None:
    from sqlaudit.cli.console.session import _describe_argument

    assert [
        _describe_argument(text) for text in ("SHOW TABLES;", "show all tables", "DESCRIBE people", "desc 'a b.csv'")
    ] == ["", "", "people", "'a b.csv'"]
    assert [_describe_argument(text) for text in ("DESCRIBE SELECT 1", "SHOW ALL", "SELECT 1")] == [None, None, None]
