"""A policy's `cube:`: what `cube -f` makes of it, and what a test of the file finds."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from openpyxl.comments import Comment

import sqlaudit
from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.run import mistakes_of
from tests.cli.runner import run
from tests.gates.conftest import Make
from tests.gates.test_schema import errors

COLUMNS = ("who", "a,b", "sex", "income")
PEOPLE = [(f"p{n}", ("north", "'=1+1", "small")[min(n // 20, 2)], "fm"[n % 2], f"{n}.5") for n in range(46)]
POLICY = """
version: 1
tables:
  - file: people.csv
    entity: who
    cube:
      dimensions: ['"a,b"', sex]
      measures: income
      require: [threshold=5, "dominance=n:1,k:85"]
      to: cube.csv
"""


def save(people: Sequence[tuple[str, ...]]) -> None:
    with Path("people.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *people])


def cells() -> list[list[str]]:
    with Path("cube.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def found(policy: str = "p.yml") -> list[tuple[str, str, str]]:
    return [(test.requirement, test.outcome.value, test.message) for test in sqlaudit.gate(policy).tests]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a policy whose cube was made."""
    monkeypatch.chdir(tmp_path)
    save(PEOPLE)
    Path("p.yml").write_text(POLICY, encoding="utf-8")
    assert not errors(POLICY)
    ran = run("cube", "-f", "p.yml")
    assert ran.code == 0, ran.err
    return tmp_path


def test_the_cube_is_the_one_that_the_policy_describes(folder: Path) -> None:
    expected = {}
    for _, area, sex, _ in PEOPLE[:40]:
        of_block = [float(row[3]) for row in PEOPLE if row[1:3] == (area, sex)]
        expected[area, sex] = [10, 10, sum(of_block), 10]
    header, *blocks = cells()
    assert header == ["a,b", "sex", "people", "rows", "income_sum", "income_count"]
    assert {(area.lstrip("'"), sex): [*map(float, more)] for area, sex, *more in blocks} == {
        (area.lstrip("'"), sex): figures for (area, sex), figures in expected.items()
    }
    tests = ["cube=cube.csv", "cube=threshold=5", "cube=dominance=n:1,k:85", "cube=full_cell=any"]
    assert found() == [(name, "pass", "") for name in tests]
    ran = run("test", "-f", "p.yml", "--output", "gate.xml", "--select", "requirement:cube=threshold*")
    assert (ran.code, Path("gate.xml").read_text().count("<testcase")) == (0, 1), ran.err
    assert "exists. Replace it with --force" in run("cube", "-f", "p.yml").err
    assert run("cube", "-f", "p.yml", "--force").code == 0
    assert "Leave out --measures" in run("cube", "-f", "p.yml", "--measures", "income").err


def other_figure(table: list[list[str]]) -> None:
    table[1][4] = str(float(table[1][4]) + 1)


def left_out_block(table: list[list[str]]) -> None:
    table.append(["small", "f", "3", "3", "129", "3"])


def one_less(table: list[list[str]]) -> None:
    del table[1]


def one_twice(table: list[list[str]]) -> None:
    table.append(table[1])


def other_order(table: list[list[str]]) -> None:
    for row in table:
        row[2], row[3] = row[3], row[2]


def one_more_column(table: list[list[str]]) -> None:
    for row in table:
        row.append("person42")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (other_figure, "1 block of the file is not in the policy's cube, and 1 of its blocks is not in the file."),
        (left_out_block, "0 of its blocks are not in the file. 1 block of the file must be left out, or no longer"),
        (one_less, "0 blocks of the file are not in the policy's cube, and 1 of its blocks is not in the file."),
        (one_twice, "1 block of the file is not in the policy's cube, and 0 of its blocks are not in the file."),
        (other_order, "they are in another order."),
        (one_more_column, "it has 1 others."),
    ],
)
def test_a_changed_file_is_not_the_cube(folder: Path, change: Callable[[list[list[str]]], None], said: str) -> None:
    table = cells()
    change(table)
    with Path("cube.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(table)
    (_, outcome, message), *rules = found()
    assert outcome == "fail"
    assert said in message
    assert "person42" not in message
    assert {(outcome, message.split(",")[0]) for _, outcome, message in rules} == {("undetermined", "Not judged")}
    assert run("test", "-f", "p.yml").code == 1


def test_a_stale_cube_and_a_missing_one(folder: Path) -> None:
    save(PEOPLE[1:])
    assert found()[0][1] == "fail"
    assert run("cube", "-f", "p.yml", "--force").code == 0
    assert {outcome for _, outcome, _ in found()} == {"pass"}
    save(PEOPLE[:3])
    (_, outcome, message), *_ = found()
    assert (outcome, "The policy makes no cube: no block meets the rules." in message) == ("fail", True)
    Path("cube.csv").unlink()
    ran = run("test", "-f", "p.yml")
    assert (ran.code, "There is no cube" in ran.said) == (2, True)
    ran = run("cube", "-f", "p.yml")
    assert (ran.code, Path("cube.csv").exists()) == (1, False)


def test_levels_older_cubes_and_workbooks(folder: Path) -> None:
    more = "      suppress: 0%\n      hierarchies: {sex: '*', '\"a,b\"': '*'}\n      before: [old.parquet]\n"
    text = POLICY.replace("cube.csv", "cube.xlsx") + more
    Path("q.yml").write_text(text, encoding="utf-8")
    assert not errors(text)
    asked = ("--dimensions", '"a,b",sex', "--entity", "who", "--measures", "income", "--require", "threshold=5")
    assert run("cube", "people.csv", *asked, "--to", "old.parquet").code == 0
    ran = run("cube", "-f", "q.yml")
    assert (ran.code, "with an older cube" in ran.out) == (1, True), ran.said
    Path("q.yml").write_text(text.replace("      before: [old.parquet]\n", ""), encoding="utf-8")
    assert run("cube", "-f", "q.yml").code == 0
    assert {outcome for _, outcome, _ in found("q.yml")} == {"pass"}
    book = openpyxl.load_workbook("cube.xlsx")
    book.active["A1"].comment = Comment("person42", "who")
    book.save("cube.xlsx")
    (_, outcome, message), *_ = found("q.yml")
    assert (outcome, "such as comments" in message) == ("fail", True)


def test_a_cube_beside_requirements_and_severities(folder: Path) -> None:
    text = POLICY + "    severity: warn\n    quasi_identifiers: [sex]\n    requirements: [k=100]\n"
    Path("p.yml").write_text(text, encoding="utf-8")
    save(PEOPLE[1:])
    assert [outcome for _, outcome, _ in found()] == ["warn"] * 5
    text = text.replace("file: people.csv", "table: people").replace("tables", "connections: {a: {duckdb: b}}\ntables")
    Path("p.yml").write_text(text, encoding="utf-8")
    ran = run("compile", "-f", "p.yml", "--dialect", "sqlite")
    assert "a file that `sqlaudit test` makes again and compares" in ran.said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("threshold=5, ", "", "No threshold is given"),
        ("      require", "      x-require", "'cube' needs 'require'"),
        ("cube.csv", "cube.sql", "'to' must end in"),
        ("threshold=5", "treshold=5", "threshold"),
        ("measures", "mesures", "Did you mean 'measures'"),
        (
            "    entity",
            "    release: {to: r.csv}\n    qi: [sex]\n    entity".replace("qi", "quasi_identifiers"),
            "or a",
        ),
        ("threshold=5", "holdings=2, threshold=5", "'holdings'"),
        ("version: 1", "version: 1\npersons: [{file: people.csv, entity: who}]", "persons: false"),
    ],
)
def test_mistakes_are_named_with_their_line(folder: Path, old: str, new: str, said: str) -> None:
    Path("p.yml").write_text(POLICY.replace(old, new), encoding="utf-8")
    (mistake, *_) = mistakes_of(load_policy("p.yml"))
    assert said in mistake.message
    assert mistake.place.line
    assert run("cube", "-f", "p.yml", "--force").code == 2


def test_the_source_is_in_a_database(database: Make) -> None:
    rows = [{"age": 20 + n % 40, "sex": "fm"[n % 2], "cost": n / 8} for n in range(200)]
    made = database({"people": rows})
    policy = made.policy("""
tables:
  - table: "{schema}.people"
    name: people
    cube:
      dimensions: [age=20 years, sex]
      measures: cost
      require: [threshold=5]
      margins: totals.csv
      to: cube.parquet
    exceptions: [{requirement: cube, until: 2999-12-31, reason: late}]
""")
    (policy.parent / "totals.csv").write_text(f"cost_sum\n{sum(n / 8 for n in range(200))}\n", encoding="utf-8")
    certificate = policy.parent / "cube.json"
    ran = run("cube", "-f", policy, "--certificate", certificate)
    assert ran.code == 0, ran.err
    assert run("verify", certificate).code == 0
    refused = run("verify", certificate, "people")
    assert (refused.code, "name the database with --db" in refused.err) == (2, True)
    assert {outcome for _, outcome, _ in found(str(policy))} == {"pass"}
    cube = pd.read_parquet(policy.parent / "cube.parquet")
    assert sorted(zip(cube.age, cube.people, cube.cost_sum, strict=True)) == sorted(
        (f"[{age}, {age + 20})", len(one), sum(one))
        for age in (20, 40)
        for sex in "fm"
        for one in [[float(r["cost"]) for r in rows if r["sex"] == sex and r["age"] // 20 * 20 == age]]
    )
    cube.assign(people=cube.people + 1).to_parquet(policy.parent / "cube.parquet")
    assert [outcome for _, outcome, _ in found(str(policy))] == ["excepted", "undetermined", "undetermined"]
    assert run("verify", certificate).code == 1
