"""What is judged is what was written: a forgotten comma or AND is an error of every command, in every place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from tests.cli.runner import Ran, run, write_csv

ALIAS = "{!r} is an alias here, which has no effect"


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Rows of one sex whose zip codes all differ: unique by zip, one class by sex."""
    return write_csv(tmp_path / "people.csv", "sex,zip,age,disease", *(f"f,{n},{17 + n},flu" for n in range(6)))


def refused(ran: Ran, alias: str) -> bool:
    return ran.code == 2 and not ran.out and ALIAS.format(alias) in ran.err


ROLES = ("--qi", "sex", "--sensitive", "disease")
COMMANDS: dict[str, tuple[str, ...]] = {
    "audit": ("audit", "people.csv", *ROLES, "--require", "k=6"),
    "disclosure": ("disclosure", "people.csv", *ROLES),
    "columns": ("columns", "people.csv"),
    "records": ("records", "people.csv", "--qi", "sex"),
    "aggregates": ("aggregates", "people.csv", "--by", "sex", "--value", "zip"),
    "persons": ("persons", "people.csv", "--entity", "zip", "--qi", "sex"),
    "lattice": ("lattice", "people.csv", *ROLES, "--require", "k=2"),
    "suppress": ("suppress", "people.csv", *ROLES, "--require", "k=2"),
    "recode": ("recode", "people.csv", *ROLES, "--require", "k=2"),
    "attack": ("attack", "people.csv", *ROLES),
    "profile": ("profile", "people.csv"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_condition_is_read_to_its_end(command: str, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(people.parent)
    ran = run(*COMMANDS[command], "--where", "age >= 18 x")
    assert refused(ran, "x"), ran


@pytest.mark.parametrize("option", ["--qi", "--sensitive", "--identifier", "--entity"])
def test_a_role_is_no_alias(option: str, people: Path) -> None:
    roles = () if option == "--qi" else ("--qi", "age")
    ran = run("audit", people, *roles, option, "sex zip", "--require", "k=1")
    assert refused(ran, "zip")
    assert f"{option}: " in ran.err
    assert "Put commas between columns" in ran.err


def test_columns_to_search_are_no_aliases(people: Path) -> None:
    assert refused(run("columns", people, "--columns", "age,sex zip"), "zip")


def test_a_column_with_a_blank_in_its_name_works(tmp_path: Path) -> None:
    named = write_csv(tmp_path / "named.csv", "sex zip,sex,zip", *(f"{n},f,{n % 2}" for n in range(6)))
    found = sqlaudit.audit(named, qi="sex zip", require="k=2")
    assert found.classes.count == 6
    ran = run("audit", named, "--qi", "sex zip", "--where", '"sex zip" < 4', "--format", "json")
    assert (ran.code, json.loads(ran.out)["target"]["rows"]) == (0, 4)
    assert run("audit", named, "--qi", '"sex zip"', "--require", "k=2").code == 1


def test_numbers_in_conditions_are_not_cut(tmp_path: Path) -> None:
    rich = write_csv(tmp_path / "rich.csv", "income", "10", "40", "40000", "60000")
    ran = run("audit", rich, "--qi", "income", "--where", "income < 50_000", "--format", "json")
    assert json.loads(ran.out)["target"]["rows"] == 3


def test_a_policy_names_the_alias(people: Path) -> None:
    policy = people.parent / "sqlaudit.yml"
    text = """
tables:
  - {file: people.csv, quasi_identifiers: [sex zip], requirements: [k=6]}
  - {file: people.csv, name: cut, where: age >= 18 x, quasi_identifiers: [sex], requirements: [k=1]}
"""
    policy.write_text(text, encoding="utf-8")
    ran = run("test", "--file", policy, "--format", "json")
    assert ran.code == 2
    said = [test["message"] for test in json.loads(ran.out)["tests"]]
    assert [ALIAS.format(name) in message for name, message in zip(("zip", "x"), said, strict=True)] == [True, True]


def test_a_level_of_a_hierarchy_is_no_alias(people: Path) -> None:
    file = people.parent / "zip.yml"
    file.write_text("hierarchies:\n  zip: {sql: [value // 2 half]}\n", encoding="utf-8")
    ran = run("lattice", people, "--qi", "zip", "--hierarchies", file, "--require", "k=2")
    assert refused(ran, "half"), ran


@pytest.mark.parametrize(
    ("query", "alias"),
    [
        ("SELECT COUNT(*) FROM t WHERE age >= 18 x", None),
        ("SELECT COUNT(*) FROM t WHERE (age >= 18 x)", "x"),
        ("SELECT SUM(age x) FROM t", None),
        ("SELECT COUNT(*) AS n, sex AS s FROM t GROUP BY sex", ""),
    ],
)
def test_queries_of_compare_are_read_to_their_end(query: str, alias: str | None, people: Path) -> None:
    from sqlaudit.release.compare.query_text import read_queries

    if alias == "":
        assert read_queries([query], "duckdb")[0].groups == ("sex",)
        return
    with pytest.raises(UsageError, match=None if alias is None else "is an alias here"):
        read_queries([query], "duckdb")
