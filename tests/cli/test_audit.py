"""`sqlaudit audit` on real files, from the command line to the last sentence."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import duckdb
import pytest

from tests.cli.runner import patients, run, write_csv
from tests.reports.schemas import validator

QI = ("--qi", "age,sex")
ALL = (*QI, "--sensitive", "disease")


def test_figures_without_a_requirement(tmp_path: Path) -> None:
    ran = run("audit", patients(tmp_path), *ALL)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Figures of the table; no requirements were set\n")
    assert "12 rows in 4 groups (rows with the same age and sex)." in ran.said
    assert "Unique rows 1 (8.3%)" in ran.said
    assert "At least one group has a single value of disease" in ran.said
    assert "k-anonymity 1" in ran.said
    assert "lawful is not decided here. • A verdict covers" in ran.said
    assert ran.said.endswith("(sqlaudit help verdicts). `sqlaudit help glossary` explains the words of this report.")


def test_a_requirement_that_fails(tmp_path: Path) -> None:
    ran = run("audit", patients(tmp_path), *ALL, "--require", "k=3", "--require", "l=1")
    assert ran.code == 1
    assert ran.out.startswith("FAIL: 1 of 2 requirements is not met\n")
    assert "FAILS k-anonymity 1 at least 3 3 rows (25.0%) in 2 groups" in ran.said


def test_requirements_that_hold(tmp_path: Path) -> None:
    ran = run("audit", patients(tmp_path), *ALL, "--require", "k=1", "--require", "l=1")
    assert ran.code == 0
    assert ran.out.startswith("PASS: both requirements are met\n")


def test_json_of_a_whole_audit(tmp_path: Path) -> None:
    ran = run("audit", patients(tmp_path), *ALL, "--require", "k=3", "--format", "json")
    data = json.loads(ran.out)
    assert ran.code == 1
    assert [error.message for error in validator("audit").iter_errors(data)] == []
    assert data["target"]["rows"] == 12
    assert data["classes"]["sizes"] == [[1, 1], [2, 1], [4, 1], [5, 1]]
    assert data["roles"]["quasi_identifiers"] == ["age", "sex"]
    (k,) = [check for check in data["checks"] if check["model"] == "k_anonymity"]
    assert (k["level"], k["required"], k["status"]) == (1, 3, "fail")
    assert (k["failing_classes"], k["failing_rows"], k["failing_share"]) == (2, 3, 0.25)
    assert data["status"] == "fail"
    assert data["failing_total"] == 2
    assert [entry["key"] for entry in data["failing"]] == [None, None]


def test_every_model_in_json_is_what_the_schema_says(tmp_path: Path) -> None:
    data = json.loads(run("audit", patients(tmp_path), *ALL, "--format", "json").out)
    assert [error.message for error in validator("audit").iter_errors(data)] == []
    assert len(data["checks"]) >= 10


def test_values_are_hidden_until_asked_for(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "t.csv", "town,disease", "Atlantis,flu", "Elsewhere,flu", "Elsewhere,cold")
    hidden = run("audit", file, "--qi", "town", "--sensitive", "disease", "--require", "k=2")
    assert "Atlantis" not in hidden.out
    shown = run("audit", file, "--qi", "town", "--sensitive", "disease", "--require", "k=2", "--show-values")
    assert "town Atlantis" in shown.said
    assert "Elsewhere" not in shown.out


def test_an_empty_table_is_undetermined(tmp_path: Path) -> None:
    ran = run("audit", patients(tmp_path), *QI, "--where", "age > 99", "--require", "k=2")
    assert ran.code == 1
    assert ran.out.startswith("UNDETERMINED: the table has no rows\n")
    assert (
        json.loads(
            run("audit", patients(tmp_path), *QI, "--where", "age > 99", "--require", "k=2", "--format", "json").out
        )["status"]
        == "undetermined"
    )
    assert run("audit", patients(tmp_path), *QI, "--where", "age > 99").code == 0


def test_a_table_in_a_database_file(tmp_path: Path) -> None:
    db = tmp_path / "warehouse.duckdb"
    with duckdb.connect(str(db)) as connection:
        connection.execute("CREATE TABLE claimants AS SELECT 1 AS a, 'x' AS s UNION ALL SELECT 1, 'y'")
    ran = run(
        "audit", "--db", db, "main.claimants", "--qi", "a", "--sensitive", "s", "--require", "k=2", "--require", "l=2"
    )
    assert ran.code == 0
    ran = run(
        "audit", "--db", db, "--query", "SELECT a, s FROM claimants WHERE s = 'x'", "--qi", "a", "--require", "k=2"
    )
    assert ran.code == 1
    assert "query: 1 row in 1 group" in ran.said
    assert "claimants" not in ran.out


def test_expressions_and_odd_names(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "t.csv", '"last, first",age,"select"', "a,31,x", "a,32,y", "a,39,x")
    ran = run("audit", file, "--qi", '"last, first",floor(age / 10)', "--sensitive", "select", "--require", "k=3")
    assert ran.code == 0
    assert 'the same "last, first" and floor(age / 10)' in ran.said


def test_output_goes_to_a_file_and_its_ending_says_how(tmp_path: Path) -> None:
    file = patients(tmp_path)
    for name, start in (("r.txt", "FAIL:"), ("r.md", "# FAIL:"), ("r.json", "{\n")):
        ran = run("audit", file, *QI, "--require", "k=9", "--output", tmp_path / name)
        assert (ran.code, ran.out, ran.err) == (1, "", "")
        assert (tmp_path / name).read_text("utf-8").startswith(start)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["patients.csv", "r.json", "r.md", "r.txt"]
    assert run("audit", file, *QI, "--output", "-").out.startswith("Figures of the table")


def test_text_in_files_has_no_colour_and_eighty_columns(tmp_path: Path) -> None:
    run("audit", patients(tmp_path), *ALL, "--output", tmp_path / "r.txt")
    text = (tmp_path / "r.txt").read_text("utf-8")
    assert "\x1b" not in text
    assert max(len(line) for line in text.splitlines()) <= 80


def test_failing_classes_to_a_file(tmp_path: Path) -> None:
    out = tmp_path / "failing.csv"
    ran = run(
        "audit", patients(tmp_path), *ALL, "--require", "k=3", "--failing-classes", "0", "--failing-classes-to", out
    )
    assert ran.code == 1
    assert ran.err == (f"sqlaudit: wrote 2 failing classes to '{out}'. Values are left out; --show-values adds them.\n")
    assert "Failing groups" not in ran.out
    header, *rows = out.read_text("utf-8").splitlines()
    assert header.startswith("size,rows,classes,sensitive,failed_requirements")
    assert [row.split(",")[:5] for row in rows] == [["1", "1", "1", "", "k=3"], ["2", "2", "1", "", "k=3"]]


def test_failing_classes_with_their_keys(tmp_path: Path) -> None:
    out = tmp_path / "failing.parquet"
    ran = run("audit", patients(tmp_path), *ALL, "--require", "k=3", "--show-values", "--failing-classes-to", out)
    assert ran.err == f"sqlaudit: wrote 2 failing classes to '{out}'.\n"
    rows = duckdb.sql(f"SELECT age, sex, size, failed_requirements FROM '{out}' ORDER BY size").fetchall()
    assert rows == [(40, "M", 1, "k=3"), (30, "M", 2, "k=3")]


def test_models_that_no_fact_of_a_class_decides_list_their_classes_too(tmp_path: Path) -> None:
    out, population = tmp_path / "failing.csv", write_csv(tmp_path / "all.csv", "age,sex", *["40,M"] * 3, "50,F")
    table = write_csv(tmp_path / "t.csv", "age,sex,disease", "40,M,flu", "40,M,cold")
    inputs = tmp_path / "inputs.yml"
    inputs.write_text(f"population: {population}\n", encoding="utf-8")
    ran = run(
        "audit",
        table,
        *ALL,
        "--inputs",
        inputs,
        "--require",
        "k_map=4",
        "--require",
        "delta_presence=max:0.9,min:0.5",
        "--require",
        "disclosure@1=0.9",
        "--show-values",
        "--failing-classes-to",
        out,
    )
    assert (ran.code, ran.err) == (1, f"sqlaudit: wrote 2 failing classes to '{out}'.\n")
    with out.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    assert [(line["age"], line["sex"], line["size"], line["rows"], line["failed_requirements"]) for line in found] == [
        ("50", "F", "0", "0", "delta_presence=max:0.9,min:0.5"),
        ("40", "M", "2", "2", "k_map=4, disclosure@1=0.9"),
    ]
    assert [line["people_in_population"] for line in found] == ["1.0", "3.0"]
    assert "2 groups fail." in ran.said


def test_no_file_where_no_class_is_to_blame(tmp_path: Path) -> None:
    out = tmp_path / "failing.csv"
    asked = ("audit", patients(tmp_path), *ALL, "--require", "average_risk=0.01", "--failing-classes-to", out)
    ran = run(*asked)
    assert ran.code == 2
    assert ran.err == (
        f"sqlaudit: '{out}' was not written, because there is nothing to list. 'average_risk=0.01' is a figure of the "
        "whole table, not of single groups.\n"
    )
    assert not out.exists()
    assert "Not listed: 'average_risk=0.01' is a figure of the whole table, not of single groups." in ran.said
    beside = run(*asked, "--require", "k=3")
    assert beside.code == 1
    assert "Not there: 'average_risk=0.01' is a figure of the whole table" in beside.err
    assert [row.split(",")[4] for row in out.read_text("utf-8").splitlines()[1:]] == ["k=3", "k=3"]


def test_joined_attributes_are_exported_under_their_own_names(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", "a,s,r", "1,x,5", "1,y,6")
    out = tmp_path / "failing.csv"
    run(
        "audit",
        table,
        "--qi",
        "a",
        "--sensitive",
        "s,r",
        "--joint",
        "--require",
        "l=2",
        "--show-values",
        "--failing-classes-to",
        out,
    )
    with out.open(encoding="utf-8", newline="") as file:
        found = [(line["a"], line["r"], line["s"], line["sensitive"]) for line in csv.DictReader(file)]
    assert found == [("1", "5", "", "s"), ("1", "6", "", "s"), ("1", "", "x", "r"), ("1", "", "y", "r")]


def test_show_sql_is_talk(tmp_path: Path) -> None:
    ran = run("audit", patients(tmp_path), *ALL, "--show-sql", "--format", "json")
    json.loads(ran.out)
    assert "-- equivalence classes, 0." in ran.err
    assert "SELECT" in ran.err
    for value in ("flu", "cold", "ulcer"):
        assert value not in ran.err


def test_dry_run_executes_nothing_and_names_what_is_read(tmp_path: Path) -> None:
    file = patients(tmp_path)
    ran = run("audit", file, *ALL, "--dry-run")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"-- Reads: {file}\n-- Nothing was measured.")
    assert "/* sqlaudit: equivalence classes */" in ran.out
    data = json.loads(run("audit", file, *ALL, "--dry-run", "--format", "json").out)
    assert [error.message for error in validator("plan").iter_errors(data)] == []
    assert data["tables"] == [str(file)]
    assert "plan" not in data["statements"][0]


def test_explain_shows_the_plans(tmp_path: Path) -> None:
    data = json.loads(run("audit", patients(tmp_path), *ALL, "--explain", "--format", "json").out)
    assert [error.message for error in validator("plan").iter_errors(data)] == []
    assert all("Projection" in entry["plan"] for entry in data["statements"])
    assert "-- " in run("audit", patients(tmp_path), *QI, "--explain").out


@pytest.mark.parametrize("choice", ["text", "markdown"])
def test_planted_names_stay_names(tmp_path: Path, choice: str) -> None:
    name = "a\x1b[31m|<script>"
    file = tmp_path / "t.csv"
    file.write_text(f'"{name}",s\n1,x\n1,y\n', encoding="utf-8")
    ran = run("audit", file, "--qi", f'"{name}"', "--sensitive", "s", "--format", choice)
    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert ("a\\x1b[31m|<script>" if choice == "text" else "a\\\\x1b\\[31m\\|&lt;script&gt;") in ran.out


def test_inputs_from_a_file_and_a_population(tmp_path: Path) -> None:
    file = patients(tmp_path)
    population = write_csv(tmp_path / "all.csv", "age,sex", *["30,F", "30,M", "40,F", "40,M"] * 6)
    inputs = tmp_path / "inputs.yml"
    inputs.write_text(
        f"categories: {{mild: [flu, cold], severe: [ulcer]}}\npopulation: {population}\n", encoding="utf-8"
    )
    ran = run(
        "audit", file, *ALL, "--inputs", inputs, "--require", "k_map=7", "--require", "d_density=1", "--format", "json"
    )
    assert ran.err == ""
    data = json.loads(ran.out)
    assert [error.message for error in validator("audit").iter_errors(data)] == []
    assert [(check["model"], check["level"], check["status"]) for check in data["checks"]] == [
        ("k_map", 6, "fail"),
        ("d_density_control", 1, "pass"),
    ]
    missing = run("audit", file, *ALL, "--inputs", tmp_path / "no.yml")
    assert (missing.code, missing.err) == (
        2,
        f"sqlaudit: {tmp_path / 'no.yml'}: cannot be read (No such file or directory).\n",
    )


def test_the_worst_classes_are_told_when_asked_for(tmp_path: Path) -> None:
    asked = ("audit", patients(tmp_path), *ALL, "--require", "l=2")
    assert "worst classes" not in run(*asked).out
    ran = run(*asked, "--worst-classes", "2")
    said = ran.out.split("Sensitive values in the worst groups\n")[1].splitlines()
    assert said[:10] == [
        "  Share of each value of disease in the whole table and in the largest groups",
        "  that fail a requirement on it. Values are numbered by frequency in the table,",
        "  the most frequent first. --show-values names the values.",
        "",
        "  Value     Whole table   Group of 2 rows   Group of 1 row",
        "  ────────────────────────────────────────────────────────",
        "  value 1         58.3%              100%               0%",
        "  value 2         25.0%                0%               0%",
        "  value 3         16.7%                0%             100%",
        "",
    ]
    shown = run(*asked, "--worst-classes", "1", "--show-values").out.split("Sensitive values in the worst groups\n")[1]
    assert [line.split() for line in shown.splitlines()[3:8]] == [
        ["Value", "Whole", "table", "age", "30,", "sex", "M"],
        ["─" * 35],
        ["flu", "58.3%", "100%"],
        ["cold", "25.0%", "0%"],
        ["ulcer", "16.7%", "0%"],
    ]


def test_pages_and_json_have_three_worst_classes_and_no_value(tmp_path: Path) -> None:
    asked = ("audit", patients(tmp_path), *ALL, "--format")
    told = json.loads(run(*asked, "json").out)["worst_classes"]
    assert [(one["sensitive"], one["basis"]) for one in told] == [("disease", "least_diverse")]
    assert [(v["rank"], v["total"]) for v in told[0]["values"]] == [(1, 7), (2, 3), (3, 2)]
    assert [(c["size"], c["counts"], c["key"]) for c in told[0]["classes"]] == [
        (2, [2, 0, 0], None),
        (4, [3, 1, 0], None),
        (5, [2, 2, 1], None),
    ]
    assert json.loads(run(*asked, "json", "--worst-classes", "0").out)["worst_classes"] == []
    page = run(*asked, "html").out
    assert "Shares of each value of disease in the whole table and in the worst groups" in page
    assert "Group of 4 rows" in page
    for value in ("ulcer", "cold"):
        assert value not in page
        assert value not in str(told)
    assert "ulcer" in run(*asked, "html", "--show-values").out
