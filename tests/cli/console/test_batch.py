"""`sqlaudit console` with -c and -f: what it prints, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from tests.cli.console.helpers import PEOPLE, people_csv
from tests.cli.runner import run


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return people_csv(tmp_path)


def test_a_verdict_is_the_exit_code(people: Path) -> None:
    passed = run("console", people, "-c", "AUDIT people BY (sex) REQUIRE k >= 4")
    assert (passed.code, passed.err) == (0, "")
    assert passed.out.startswith("PASS: the requirement is met\n")
    failed = run(
        "console", people, "-c", "AUDIT people BY (age) REQUIRE k >= 4;", "-c", "SELECT count(*) AS n FROM people"
    )
    assert failed.code == 1
    assert failed.out.endswith("n\n-\n8\n(1 row)\n")  # what follows is still run


def test_how_missing_values_are_read_holds_for_statements(people: Path) -> None:
    text = "AUDIT people BY (zip) REQUIRE k >= 1"
    assert "8 rows in 5 groups" in run("console", people, "-c", text).said
    wild = run("console", people, "--nulls", "wildcard", "-c", text)
    assert "8 rows. A missing value matches any value of zip." in wild.said


def test_what_if_gives_no_verdict(people: Path) -> None:
    ran = run("console", people, "--qi", "age,sex", "--require", "k=4", "-c", "\\drop sex")
    assert (ran.code, ran.said.split(":")[0]) == (0, "still FAIL")


def test_a_script_stops_at_its_first_error(people: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.sql"
    script.write_text("SELECT 1 AS one;\n\nSELECT agee FROM people;\nSELECT 2 AS two;\n", encoding="utf-8")
    ran = run("console", people, "-f", script, "--format", "csv")
    assert (ran.code, ran.out) == (2, "one\n1\n")
    assert ran.err.startswith("sqlaudit: Line 3: ")
    assert "agee" in ran.err
    assert run("console", people, "-c", "\\audit").code == 2
    assert run("console", people, "-c", "AUDIT people BY age").err == (
        "sqlaudit: AUDIT, line 1, column 17: the quasi-identifiers must be in parentheses: BY (age, sex).\n"
    )
    assert run("console", people, "-c", "DROP TABLE people").err == (
        "sqlaudit: The console only reads, but this is a DROP statement.\n"
    )


def test_a_script_may_leave(people: Path) -> None:
    ran = run("console", people, "-c", "SELECT 1 AS one; \\q", "-c", "SELECT 2 AS two", "--format", "csv")
    assert (ran.code, ran.out) == (0, "one\n1\n")


def test_results_as_json_lines(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    select = "SELECT sex, count(*) AS n FROM people GROUP BY sex ORDER BY sex;"
    text = f"{select} AUDIT people BY (sex) REQUIRE k=5;\n\\drop sex"
    ran = run("console", people, "--format", "json", "--output", out, "-c", text)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "sqlaudit: Line 2: sex is the only quasi-identifier and cannot be dropped.\n"
    rows, audit = (json.loads(line) for line in out.read_text().splitlines())
    assert rows == {
        "columns": [{"name": "sex", "type": "VARCHAR"}, {"name": "n", "type": "BIGINT"}],
        "rows": [["f", 4], ["m", 4]],
    }
    assert (audit["schema"], audit["status"]) == ("sqlaudit/1", "fail")


def test_a_database_and_a_file_together(tmp_path: Path, people: Path) -> None:
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE visits (age INTEGER, ward VARCHAR)")
        connection.executemany("INSERT INTO visits VALUES (?, ?)", [(row[0], row[1]) for row in PEOPLE])
    before = path.read_bytes()
    text = (
        "SELECT count(*) AS n FROM visits JOIN people USING (age);\n\\d\n"
        f"SELECT count(*) AS m FROM '{people}' AS p JOIN main.visits AS v ON p.age = v.age;"
    )
    ran = run("console", "--db", path, "visits", people, "-c", text)
    assert (ran.code, ran.err) == (0, "")
    assert ran.said == "n - 8 (1 row) 2 tables and files name ────── visits people m - 8 (1 row)"
    assert path.read_bytes() == before


def test_a_file_that_is_named_later_is_opened(people: Path) -> None:
    ran = run(
        "console",
        "-c",
        f"SELECT 1 AS one; SELECT count(*) AS n FROM '{people}'; AUDIT people BY (sex)",
        "--format",
        "csv",
    )
    assert ran.code == 0
    assert ran.out.startswith("one\n1\nn\n8\n")


def test_read_options_are_for_files(tmp_path: Path) -> None:
    path = tmp_path / "odd.txt"
    path.write_text("a;b\n01;x\n02;?\n", encoding="utf-8")
    options = ("--delimiter", ";", "--null-values", "?", "--all-text", "--file-format", "csv")
    ran = run("console", path, *options, "--format", "csv", "-c", "SELECT a, b FROM odd ORDER BY a")
    assert (ran.code, ran.out) == (0, "a,b\n01,x\n02,\n")


def test_a_population_file_of_the_inputs_is_read(people: Path, tmp_path: Path) -> None:
    population = tmp_path / "everybody.csv"
    population.write_text(people.read_text() * 1 + "34,f,x,flu\n" * 6, encoding="utf-8")
    inputs = tmp_path / "inputs.yml"
    inputs.write_text(f"population: {population}\n", encoding="utf-8")
    text = "SELECT 1 AS one; AUDIT people BY (sex) REQUIRE k_map=10;\n\\audit"
    ran = run("console", people, "--inputs", inputs, "-c", text)
    assert ran.code == 1
    assert ran.said.count("k-map 4 at least 10") == 2


def test_what_cannot_be_asked_for(tmp_path: Path, people: Path) -> None:
    assert run("console", people, "-c", "SELECT 1", "-f", "x.sql").err.startswith(
        "sqlaudit: -c and -f exclude each other"
    )
    assert "cannot be read" in run("console", people, "-f", tmp_path / "none.sql").err
    assert run("console", "nothing.csv", "-c", "SELECT 1").code == 2
    assert run("console", people, "-c", "\\o /nowhere/at/all").code == 2
    assert run("console", people, "--output", "/nowhere/x", "-c", "SELECT 1").code == 2
