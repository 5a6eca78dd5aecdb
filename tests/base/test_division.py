"""A division of whole numbers means two things on two engines: said in every result, with both spellings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlglot

import sqlaudit
from sqlaudit.base.errors import DivisionWarning
from sqlaudit.base.guard import kinds_of, remark_on
from sqlaudit.base.relation import ColumnInfo, Kind
from sqlaudit.base.spec import Target
from sqlaudit.column_sets.request import ColumnRequest
from sqlaudit.column_sets.search import find_columns
from sqlaudit.engines.contract import Engine
from tests.cli.runner import run, write_csv

KINDS = kinds_of(
    [
        ColumnInfo("age", "INTEGER", Kind.INTEGER),
        ColumnInfo("zip", "VARCHAR", Kind.TEXT),
        ColumnInfo("x", "DOUBLE", Kind.FLOAT),
        ColumnInfo("born", "DATE", Kind.DATE),
        ColumnInfo("seen", "DATE", Kind.DATE),
    ]
)
PEOPLE = "SELECT 20 AS age UNION ALL SELECT 21 UNION ALL SELECT 39"
HERE = {
    "duckdb": "DuckDB returns fractions, where PostgreSQL returns whole numbers. "
    "Write age // 20 or floor(age / 20.0) for whole numbers, age / 20.0 for fractions.",
    "spark": "Spark returns fractions, where PostgreSQL returns whole numbers. "
    "Write age DIV 20 or floor(age / 20.0) for whole numbers, age / 20.0 for fractions.",
    "postgres": "PostgreSQL returns whole numbers, where DuckDB and Spark return fractions. "
    "Write floor(age / 20.0) for whole numbers, age / 20.0 for fractions.",
}


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
@pytest.mark.parametrize(
    ("text", "differs"),
    [
        ("age / 20", True),
        ("age / 20 * 20", True),
        ("round(age / 20)", True),
        ("ceil(age / 20)", True),
        ("CAST(age / 20 AS INT)", True),
        ("(age + 1) / (1 + 1)", True),
        ("-age / 20", True),
        ("length(zip) / 2", True),
        ("coalesce(age, 0) / 20", True),
        ("CASE WHEN age > 3 THEN age END / 2", True),
        ("CAST(zip AS INT) / 100", True),
        ("(born - seen) / 7", True),
        ("age / 20.0", False),
        ("floor(age / 20)", False),
        ("floor((age / 20))", False),
        ("x / 20", False),
        ("age / x", False),
        ("age * 2 - 1", False),
        ("CAST(age AS DOUBLE PRECISION) / 20", False),
    ],
)
def test_which_divisions_differ(text: str, differs: bool, dialect: str) -> None:
    tree = sqlglot.parse_one(text, dialect=dialect)
    assert bool(remark_on(tree, KINDS, dialect, text)) is differs


def classes(engine: Engine, qi: str, **more: Any) -> Any:
    return sqlaudit.audit(query=PEOPLE, db=engine, qi=qi, **more)


def test_the_remark_is_true_and_its_spellings_do_what_they_say(engine: Engine) -> None:
    with pytest.warns(DivisionWarning, match="age / 20 divides whole numbers"):
        found = classes(engine, "age / 20")
    (warned,) = [one for one in found.warnings if one.code == "division_of_whole_numbers"]
    assert warned.message == f"age / 20 divides whole numbers: {HERE[engine.dialect]}"
    assert warned.columns == ("age / 20",)
    assert found.classes.count == (1 if engine.dialect == "postgres" else 3)
    assert classes(engine, "age / 20.0").classes.count == 3
    whole = {"duckdb": ["age // 20"], "spark": ["age DIV 20"]}.get(engine.dialect, [])
    for spelled in ("floor(age / 20.0)", *whole):
        again = classes(engine, spelled)
        assert again.classes.count == 1
        assert not [one for one in again.warnings if one.code == "division_of_whole_numbers"]


def test_a_condition_and_a_search_are_warned_of(engine: Engine) -> None:
    with pytest.warns(DivisionWarning, match=r"^age / 20 divides whole numbers"):
        find_columns(engine, ColumnRequest(Target(query=PEOPLE), columns=["age / 20"], effects=False))


@pytest.mark.parametrize(
    "command",
    [
        ("audit", "--qi", "age / 20"),
        ("audit", "--qi", "age", "--where", "age / 20 > 0"),
        ("columns", "--columns", "age / 20"),
        ("records", "--qi", "age / 20"),
        ("lattice", "--qi", "age / 20", "--require", "k=1"),
        ("disclosure", "--qi", "age / 20", "--sensitive", "zip"),
    ],
    ids=" ".join,
)
def test_every_command_says_it_once(command: tuple[str, ...], tmp_path: Path) -> None:
    people = write_csv(tmp_path / "people.csv", "age,zip", "20,a", "21,b", "39,a")
    ran = run(command[0], people, *command[1:])
    assert ran.err.count("divides whole numbers: DuckDB returns fractions") == 1, ran


def test_a_policy_says_it_with_its_outcome(tmp_path: Path) -> None:
    write_csv(tmp_path / "people.csv", "age,zip", "20,a", "20,b")
    policy = tmp_path / "sqlaudit.yml"
    table = "{file: people.csv, where: age / 20 > 0, quasi_identifiers: [age / 20], requirements: [k=2]}"
    policy.write_text(f"tables:\n  - {table}\n", encoding="utf-8")
    for chosen in ("text", "json", "markdown", "html", "junit", "github", "sarif"):
        ran = run("test", "--file", policy, "--format", chosen)
        assert ran.code == 0
        assert "divides whole numbers" in " ".join((ran.out + ran.err).split()), chosen
    said = " ".join(run("test", "--file", policy).out.split())
    assert "age / 20 divides whole numbers: DuckDB returns fractions" in said
    assert "divides whole numbers" in said.replace("age / 20 divides", "", 1)
