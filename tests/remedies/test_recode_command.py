"""`sqlaudit recode` as strangers use it: what it prints, its exit codes, and what it writes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import duckdb
import pytest

from tests.cli.runner import run, write_csv
from tests.postgres_load import Loader
from tests.reports.schemas import validator

ROWS = [
    "30,f,13053,flu",
    "31,m,13068,flu",
    "35,f,13053,cold",
    "38,m,13068,HIV",
    "52,f,14850,flu",
    "57,,14853,cold",
    "99,f,99999,flu",
]
HIERARCHIES = """
hierarchies:
  age: {widths: [5, 10, 20], low: 20, high: 60}
  zip: {mask: [1, 2, 3]}
"""
ODD = 'se"x 😀'
COMMON = ("--qi", "age,zip", "--sensitive", "dx", "--hierarchies", "h.yml", "--require", "k=2")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table, its hierarchies, and the same table in a database."""
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "p.csv", 'age,"se""x 😀",zip,dx', *ROWS)
    (tmp_path / "h.yml").write_text(HIERARCHIES, encoding="utf-8")
    with duckdb.connect("p.duckdb") as made:
        made.execute("CREATE TABLE p AS FROM read_csv('p.csv', types = {'zip': 'VARCHAR'})")
    return tmp_path


def test_the_groups_and_their_losses_are_told() -> None:
    ran = run("recode", "p.csv", *COMMON, "--all-text", "--hierarchies", "h.yml")
    assert ran.code == 2
    assert "intervals need numbers" in ran.err
    ran = run("recode", "--db", "p.duckdb", "p", *COMMON)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Generalize age in 100% of rows and zip in 42.9%\n")
    assert "7 classes were recoded into 3." in ran.said
    assert "Smallest class 2 rows" in ran.said
    assert "Audit of the release: PASS; 7 rows in 3 classes." in ran.said
    assert "Best node by loss (ARX): age as *, zip as * (levels 4,4), 1 class." in ran.said
    assert not re.search("1305|HIV|flu", ran.out)


def test_json_is_documented_and_complete() -> None:
    ran = run("recode", "--db", "p.duckdb", "p", *COMMON, "--method", "mondrian", "--format", "json", "--publish-sql")
    found = json.loads(ran.out)
    validator("recode").validate(found)
    assert (found["method"], found["order"], found["beta"], found["classes"], found["groups"]) == (
        "mondrian",
        None,
        None,
        7,
        3,
    )
    with duckdb.connect("p.duckdb", read_only=True) as base:
        rows = base.sql(found["release"]["sql"]).fetchall()
    assert sorted(row[0] for row in rows) == [*["[30, 35]"] * 2, *["[31, 38]"] * 2, *["[52, 99]"] * 3]


def test_sql_is_printed_after_the_report_and_written_to_files() -> None:
    ran = run("recode", "--db", "p.duckdb", "p", *COMMON, "--publish-sql", "--no-lattice")
    assert "best" not in ran.out
    assert ran.out.rstrip().endswith(";")
    assert "-- A release by sqlaudit." in ran.out
    ran = run("recode", "--db", "p.duckdb", "p", *COMMON, "--to", "r.sql", "--no-lattice", "--format", "markdown")
    assert (ran.code, ran.err) == (0, "sqlaudit: wrote the SELECT of the release to 'r.sql'.\n")
    ran = run("recode", "--db", "p.duckdb", "p", *COMMON, "--to", "r.csv", "--no-lattice", "--format", "html")
    assert (ran.code, ran.err) == (0, "sqlaudit: wrote 7 rows to 'r.csv'.\n")
    again = run("audit", "r.csv", "--qi", "age,zip", "--require", "k=2")
    assert again.code == 0


def test_no_recoding_is_exit_code_1_and_writes_nothing() -> None:
    ran = run("recode", "--db", "p.duckdb", "p", *COMMON, "--require", "l=4", "--to", "r.csv")
    assert (ran.code, ran.err) == (1, "sqlaudit: nothing was published: no recoding was found.\n")
    assert "l=4 for dx fails even for all rows together, so no recoding can meet it." in ran.said
    assert not Path("r.csv").exists()


def test_wrong_requests_are_one_sentence() -> None:
    refused = {
        ("--to", "r.txt"): "r.txt",
        ("--beta", "x"): "--beta takes a number of at least 0, for example 0.5, not 'x'.",
        ("--require", "average_risk=0.1"): "is about the whole table, not about single classes",
    }
    for options, sentence in refused.items():
        ran = run("recode", "--db", "p.duckdb", "p", *COMMON, *options)
        assert ran.code == 2
        assert sentence in " ".join(ran.err.split())
        assert ran.out == ""


def test_a_plan_runs_nothing() -> None:
    ran = run("recode", "--db", "p.duckdb", "p", *COMMON, "--dry-run")
    assert ran.code == 0
    assert [line for line in ran.out.splitlines() if "sqlaudit:" in line] == [
        "/* sqlaudit: values of age */",
        "/* sqlaudit: values of zip */",
        "/* sqlaudit: sensitive values */",
        "/* sqlaudit: row patterns */",
    ]


@pytest.mark.postgres
def test_databases_and_strange_names_give_the_same(load: Loader, postgres_url: str) -> None:
    rows = [[value or None for value in line.split(",")] for line in ROWS]
    name = load("recode_p", [(int(age or 0), *rest) for age, *rest in rows], ["age", ODD, "zip", "dx"])
    asked = (
        "--qi",
        "age,zip",
        "--qi",
        '"se""x 😀"',
        "--sensitive",
        "dx",
        "--hierarchies",
        "h.yml",
        "--require",
        "k=3",
        "--format",
        "json",
        "--nulls",
        "distinct",
        "--order",
        "random",
        "--seed",
        "7",
        "--no-lattice",
    )
    found = [
        json.loads(run("recode", "--db", db, table, *asked).out)
        for db, table in (("p.duckdb", "p"), (postgres_url, name))
    ]
    for key in ("classes", "groups", "merges", "columns", "seed"):
        assert found[0][key] == found[1][key]
    for one, other in zip(found[0]["losses"], found[1]["losses"], strict=True):
        assert one["value"] == (None if other["value"] is None else pytest.approx(other["value"]))
