"""What the process of the window computes, against audits, slow counts, and figures by hand."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

import sqlaudit
from sqlaudit.app import tasks
from sqlaudit.app.project import ColumnRole, Project
from sqlaudit.app.screens import draw_bars, judge
from tests.app.conftest import opened

NOBODY: dict[str, list[str]] = {role: [] for role in ColumnRole}


def write_table(file: Path, columns: list[str], rows: list[list[object]]) -> Path:
    with file.open("w", encoding="utf-8", newline="") as opened_file:
        csv.writer(opened_file).writerows([columns, *rows])
    return file


@pytest.mark.parametrize("seed", range(4))
def test_causes_are_the_figures_of_an_audit_of_each_set(tmp_path: Path, seed: int) -> None:
    """Alone and without each column: the failing rows of audits of just these columns, missing values included."""
    chance = random.Random(seed)
    names = ["age", "zip code", '"job"', "sex"]
    rows: list[list[object]] = [
        [chance.choice(["", *range(most)]) for most in (40, 9, 14, 2)] for _ in range(chance.randint(20, 300))
    ]
    file = write_table(tmp_path / "people.csv", names, rows)
    known = ["age", "zip code", '"""job"""', "sex"]

    def rows_below(columns: list[str]) -> int:
        (check, *_) = sqlaudit.audit(str(file), qi=columns, require="k=5").checks
        return check.failing_rows or 0

    with opened(file) as table:
        found = tasks.causes(table, {**NOBODY, "quasi_identifiers": known}, 5)["columns"]
    expected = [
        {"column": name, "alone": rows_below([column]), "without": rows_below([c for c in known if c != column])}
        for name, column in zip(names, known, strict=True)
    ]
    assert found == sorted(expected, key=lambda cause: (cause["without"], -int(cause["alone"])))


def test_causes_of_many_columns_need_few_statements(tmp_path: Path) -> None:
    """36 columns with 2^36 combinations, of which each is counted alone and left out."""
    names = [f"c{number}" for number in range(36)]
    rows: list[list[object]] = [[row % 2] * 35 + [row % 10] for row in range(40)]
    with opened(write_table(tmp_path / "people.csv", names, rows)) as table:
        found = tasks.causes(table, {**NOBODY, "quasi_identifiers": names}, 5)["columns"]
        assert len(table.engine.executed) < 36
    assert found[0] == {"column": "c35", "alone": 40, "without": 0}
    assert found[1:] == [{"column": name, "alone": 0, "without": 40} for name in names[:-1]]


def test_people_with_several_rows_are_counted_once(tmp_path: Path) -> None:
    """A is alone in two groups and B in one; C and D share theirs: 2 of 4 people are alone, 4 in groups below 5."""
    rows: list[list[object]] = [["A", 1], ["A", 2], ["B", 3], ["C", 4], ["D", 4], ["C", 4]]
    roles = {**NOBODY, "quasi_identifiers": ["age"], "entity": ["who"]}
    with opened(write_table(tmp_path / "visits.csv", ["who", "age"], rows)) as table:
        found = tasks.verdict(table, roles, ["k=5"], ["", ""], 5)
        causes = tasks.causes(table, roles, 2)["columns"]
    assert (found["counted"], found["unique"], found["below"]) == (4, 2, 4)
    # Without age all four look alike
    assert causes == [{"column": "age", "alone": 2, "without": 0}]
    project = Project(roles={"who": ColumnRole.ENTITY, "age": ColumnRole.KNOWN}, decided=True)
    said = judge(project, found, 5)
    assert said["headline"] == "Not safe: 2 people can be singled out"
    assert said["verdict"] == "Someone who knows age of a person finds 2 of the 4 people exactly."


def test_people_who_are_unique_hide_no_group_that_reveals(tmp_path: Path) -> None:
    """One person is unique, and the nine others of one age all have flu: both are said."""
    rows: list[list[object]] = [[30, "flu"]] * 9 + [[31, "cold"]]
    roles = {**NOBODY, "quasi_identifiers": ["age"], "sensitive": ["ill"]}
    project = Project(roles={"age": ColumnRole.KNOWN, "ill": ColumnRole.SECRET}, decided=True)
    with opened(write_table(tmp_path / "people.csv", ["age", "ill"], rows)) as table:
        for requirements, more in ((["k=5"], ""), (["k=5", "l=2"], " In some groups everyone has the same ill.")):
            said = judge(project, tasks.verdict(table, roles, requirements, ["", ""], 5), 5)
            assert said["verdict"] == "Someone who knows age of a person finds 1 of the 10 rows exactly." + more


def test_the_rows_of_a_picture_have_no_value(tmp_path: Path) -> None:
    ages = ["one"] * 9 + ["two"] * 6 + ["three"] * 4 + ["four"]
    rows: list[list[object]] = [[age, number] for number, age in enumerate(ages)]
    with opened(write_table(tmp_path / "people.csv", ["age", "other"], rows)) as table:
        found = tasks.spread(table, ["age"])
    assert found == {"age": [[9, 6], 5]}
    # Half as many rows are half as high; that of all rare values is the last, and flat
    assert draw_bars([8, 4], 2) == [(0, 0, 13, 26, ""), (14, 13, 13, 13, ""), (28, 23, 13, 3, "rare")]
    assert draw_bars([], 20) == [(0, 23, 111, 3, "rare")]
    assert draw_bars([10**6, 5], 0)[1][2:] == (13, 1, "")
    wide = draw_bars([9] * 20, 100)
    assert len(wide) == 21
    assert wide[-1][0] + wide[-1][2] <= 112
