"""The command line on a real PostgreSQL server, and what it says when databases fail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.runner import run
from tests.postgres_load import Loader
from tests.reports.schemas import validator

PEOPLE = [(30, "F", "flu")] * 4 + [(30, "M", "flu")] * 2 + [(40, "F", "flu"), (40, "F", "cold"), (40, "M", "ulcer")]
ENDLESS = "SELECT hash(a.range * b.range) % 7919 AS a FROM range(10000000) a, range(10000000) b"


@pytest.mark.postgres
def test_an_audit_on_postgresql(load: Loader, postgres_url: str) -> None:
    load("Cli People", PEOPLE, ["Age", "sex", "disease"])
    arguments = ("--db", postgres_url, 'public."Cli People"', "--qi", "Age,sex", "--sensitive", "disease")
    ran = run("audit", *arguments, "--require", "k=3", "--format", "json")
    assert (ran.code, ran.err) == (1, "")
    data = json.loads(ran.out)
    assert [error.message for error in validator("audit").iter_errors(data)] == []
    assert data["target"]["rows"] == 9
    assert data["classes"]["sizes"] == [[1, 1], [2, 2], [4, 1]]
    assert data["checks"][0]["failing_rows"] == 5
    assert data["target"]["engine"].startswith("PostgreSQL ")
    text = run("audit", *arguments, "--require", "k=3", "--show-values")
    assert "Age 40, sex M" in text.said
    assert "FAILS k-anonymity 1 at least 3 5 rows (55.6%) in 3 groups" in text.said


@pytest.mark.postgres
def test_the_statements_on_postgresql(load: Loader, postgres_url: str) -> None:
    load("cli_people", PEOPLE, ["age", "sex", "disease"])
    arguments = ("--db", postgres_url, "cli_people", "--qi", "age,sex", "--sensitive", "disease")
    data = json.loads(run("audit", *arguments, "--dry-run", "--format", "json").out)
    assert [error.message for error in validator("plan").iter_errors(data)] == []
    assert [name.split(".")[-1].strip('"') for name in data["tables"]] == ["cli_people"]
    explained = run("audit", *arguments, "--explain")
    assert explained.code == 0
    assert "Aggregate" in explained.out
    shown = run("audit", *arguments, "--show-sql")
    assert "-- sensitive values, " in shown.err


@pytest.mark.postgres
def test_a_wrong_password_is_one_sentence(postgres_url: str) -> None:
    user, _, rest = postgres_url.partition("@")
    wrong = user.rpartition(":")[0] + ":wrong-secret@" + rest
    ran = run("audit", "--db", wrong, "t", "--qi", "a")
    assert (ran.code, ran.out) == (3, "")
    assert len(ran.err.splitlines()) == 1
    assert "wrong-secret" not in ran.err


def test_no_server() -> None:
    ran = run("audit", "--db", "postgresql://auditor:secret@127.0.0.1:1/db", "t", "--qi", "a")
    assert (ran.code, ran.err) == (3, "sqlaudit: No PostgreSQL server answers at 127.0.0.1:1.\n")


def test_a_time_limit_is_incomplete() -> None:
    ran = run("audit", "--query", ENDLESS, "--qi", "a", "--threads", "1", "--timeout", "0.5s")
    assert (ran.code, ran.out) == (4, "")
    assert ran.err.startswith("sqlaudit: The time limit of 0.5 seconds was reached")


def test_missing_and_broken_files(tmp_path: Path) -> None:
    missing = tmp_path / "no.csv"
    assert run("audit", missing, "--qi", "a").err == f"sqlaudit: There is no file '{missing}'.\n"
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"secret" * 100)
    ran = run("audit", broken, "--qi", "a")
    assert ran.code == 2
    assert ran.err == f"sqlaudit: '{broken}' is not a Parquet file, or was cut off.\n"
