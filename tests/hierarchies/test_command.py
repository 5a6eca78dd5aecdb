"""`sqlaudit hierarchy` as a stranger types it, and the Python call of the same name."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from tests.cli.runner import as_parquet, run, write_csv
from tests.postgres_load import Loader
from tests.reports.schemas import schema, validator

ROWS = ["34,02138,flu", "38,02139,cold", "38,10115,Secret Disease", "51,2139,flu", ",02138,cold"]


def people(folder: Path) -> Path:
    """Five rows of age, zip and disease; one age is missing."""
    return write_csv(folder / "people.csv", "age,zip,disease", *ROWS)


def test_levels_are_told_and_values_are_not(tmp_path: Path) -> None:
    ran = run("hierarchy", people(tmp_path), "age", "--widths", "5,10", "--low", 20, "--high", 50)
    assert (ran.code, ran.err) == (0, "")
    assert "people.csv: the hierarchy of age can be used" in ran.said
    assert "3 values in 5 rows; 1 row without a value." in ran.said
    assert "Level Form Groups Smallest Largest Nested" in ran.said
    assert "0 unchanged 4 1 2 1 width 5 4 1 2 yes 2 width 10 3 1 3 yes 3 * 1 5 5 yes" in ran.said
    assert "Missing values stay missing below the highest level" in ran.said
    assert "34" not in ran.out
    shown = run("hierarchy", people(tmp_path), "age", "--widths", "5,10", "--show-values")
    assert "34 [30, 35) [30, 40) *" in shown.said


def test_a_hierarchy_that_cannot_be_used_is_exit_code_1_and_no_file(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("flu;a;b;*\ncold;a;c;*\n", encoding="utf-8")
    options = ("--from", tmp_path / "h.csv", "--to", tmp_path / "out.csv")
    ran = run("hierarchy", people(tmp_path), "disease", *options)
    assert ran.code == 1
    assert "the hierarchy of disease cannot be used" in ran.said
    assert "disease, level 1: 1 value in 1 row is not listed in" in ran.said
    assert "disease, level 2 (listed 2 of 2): does not nest with level 1; 1 of its 2 groups" in ran.said
    assert "2 listed 2 of 2 3 1 2 NO 1" in ran.said
    assert "No file was written" in ran.said
    assert "Secret" not in ran.out
    assert not (tmp_path / "out.csv").exists()
    assert "1 of its 2 groups" in run("hierarchy", people(tmp_path), "disease", *options, "--default", "*").said


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        (
            ("zip", "--mask", "1,4", "--all-text"),
            ["02138;0213*;0****;*", "02139;0213*;0****;*", "10115;1011*;1****;*", "2139;213*;****;*"],
        ),
        (("age", "--mask", 1), ["34;3*;*", "38;3*;*", "51;5*;*"]),
        (
            ("age", "--widths", "0.5,10"),
            ["34;[34.0, 34.5);[30, 40);*", "38;[38.0, 38.5);[30, 40);*", "51;[51.0, 51.5);[50, 60);*"],
        ),
    ],
)
def test_the_file_is_read_back_and_says_the_same(tmp_path: Path, options: tuple[str, ...], lines: list[str]) -> None:
    file = tmp_path / "h.csv"
    ran = run("hierarchy", people(tmp_path), *options, "--to", file)
    assert ran.code == 0
    assert f"{len(lines)} lines of values and labels written." in ran.said
    assert file.read_text(encoding="utf-8").splitlines() == lines
    first, again = (
        json.loads(run("hierarchy", people(tmp_path), options[0], *more, "--format", "json").out)["levels"]
        for more in (options[1:], ("--from", file, *options[3:]))
    )
    assert [level["groups"] for level in first] == [level["groups"] for level in again]


def test_whole_numbers_have_no_leading_zeros_to_mask(tmp_path: Path) -> None:
    said = "age has whole numbers: any leading zeros are lost"
    assert said in run("hierarchy", people(tmp_path), "age", "--mask", 1).said
    assert "Notes" not in run("hierarchy", people(tmp_path), "zip", "--mask", 3).said


def test_trees_dates_folders_and_yaml(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", "born,job", "1980-02-29,nurse", "1981-01-01,doctor", "1992-07-01,teacher")
    ran = run("hierarchy", table, "born", "--dates")
    assert "month 3 1 1 yes 2 quarter 3 1 1 yes 3 year 3 1 1 yes 4 decade 2 1 2 yes 5 * 1 3 3 yes" in ran.said
    assert "Level 1, 2, 3: not coarser than the level below, for these values." in ran.said
    ran = run("hierarchy", table, "born", "--dates", "5 years,20 years", "--show-values")
    assert "1 5 years 2 1 2 yes 2 20 years 1 3 3 yes 3 * 1 3 3 yes" in ran.said
    assert "1981-01-01 1980-1984 1980-1999 *" in ran.said
    ran = run("hierarchy", table, "born", "--dates", "year,century")
    assert "1 year 3 1 1 yes 2 century 1 3 3 yes" in ran.said
    (tmp_path / "tree.yml").write_text("health: [nurse, doctor]\nschool: [teacher]\n", encoding="utf-8")
    assert "1 listed 2 1 2 yes" in run("hierarchy", table, "job", "--tree", tmp_path / "tree.yml").said
    (tmp_path / "jobs_job.csv").write_text("nurse;a;*\ndoctor;b;*\n", encoding="utf-8")
    ran = run("hierarchy", table, "job", "--from", tmp_path, "--default", "other")
    assert (ran.code, "1 listed 3 1 1 yes" in ran.said) == (0, True)
    (tmp_path / "h.yml").write_text("hierarchies:\n  job: {mask: 1}\n  sex: keep\n", encoding="utf-8")
    assert "last 1 masked" in run("hierarchy", table, "JOB", "--from", tmp_path / "h.yml").said
    assert "Did you mean 'job'?" in run("hierarchy", table, "jobs", "--from", tmp_path / "h.yml").err


def test_a_query_has_no_target(tmp_path: Path) -> None:
    query = f"SELECT age + 1 AS older FROM '{people(tmp_path)}'"
    ran = run("hierarchy", "--query", query, "older", "--widths", 10)
    assert (ran.code, "query: the hierarchy of older can be used" in ran.said) == (0, True)
    ran = run("hierarchy", people(tmp_path), "age // 10 * 10", "--mask", 1)
    assert "the hierarchy of age // 10 * 10 can be used" in ran.said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("age",), "No levels are given. Use one of --widths, --mask, --dates, --tree, --from, --propose."),
        (("age", "--widths", ""), "No levels are given. Use one of --widths"),
        (("age", "--widths", "5", "--mask", "1"), "Use one of"),
        (("age", "--mask", "1", "--low", "3"), "--low needs --widths."),
        ((), "Name the COLUMN"),
        (("agee", "--mask", "1"), "has no column 'agee'. Did you mean 'age'?"),
        (("age", "--widths", "5,10,25"), "--widths, age, level 3: width 25 is not a multiple of width 10 at level 2"),
        (("disease", "--widths", "5"), "disease, level 1 (width 5): intervals need numbers"),
        (("age", "--dates", "year"), "needs dates, but the column has whole numbers"),
        (("age", "--mask", "1", "--to", "h.txt"), "must end in .csv"),
        (("age", "--from", "missing.csv"), "missing.csv: cannot be read"),
        (("disease", "--widths", "5", "--dry-run"), "intervals need numbers"),
    ],
)
def test_what_is_refused(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    ran = run("hierarchy", people(tmp_path), *options)
    assert ran.code == 2
    assert said in ran.err


def test_the_plan_is_one_statement_over_the_table(tmp_path: Path) -> None:
    ran = run("hierarchy", people(tmp_path), "age", "--widths", 5, "--dry-run")
    assert ran.code == 0
    assert ran.out.count("GROUP BY v") == 1


def test_the_python_call_and_its_schema(tmp_path: Path) -> None:
    data = pd.DataFrame({"age": [34.0, 38.0, None, 38.0], "job": ["a", "b", "b", "c"]})
    found = sqlaudit.hierarchy(data, "age", {"widths": [5, 10]}, to=tmp_path / "age.csv")
    assert (found.usable, found.written, found.missing_rows, found.values) == (True, 2, 1, ())
    assert (tmp_path / "age.csv").read_text() == "34.0;[30, 35);[30, 40);*\n38.0;[35, 40);[30, 40);*\n"
    assert found.levels[1].sql is not None
    assert found.levels[1].sql.startswith("CASE")
    again = sqlaudit.hierarchy(data, "age", tmp_path / "age.csv", show_values=True)
    assert again.values == (
        ("34.0", "[30, 35)", "[30, 40)", "*"),
        ("38.0", "[35, 40)", "[30, 40)", "*"),
        (None, None, None, "*"),
    )
    broken = sqlaudit.hierarchy(data, "job", {"values": {"a": ["x"], "b": ["y"]}}, to=tmp_path / "job.csv")
    for result in (found, again, broken):
        validator("hierarchy").validate(result.to_dict())
        assert result.to_dict()["schema"] == schema("hierarchy")["title"] == "sqlaudit-hierarchy/1"
    assert broken.problems == (
        "job, level 1: 1 value in 1 row is not listed in the hierarchy. Add them, or give a default label.",
    )
    assert "No file was written, because the hierarchy cannot be used." in broken.notes
    (tmp_path / "h.yml").write_text("hierarchies: {job: keep}\n", encoding="utf-8")
    with pytest.raises(UsageError, match="kept or dropped, so there are no levels to check"):
        sqlaudit.hierarchy(data, "job", tmp_path / "h.yml")


def test_null_and_the_empty_text_share_a_line(tmp_path: Path) -> None:
    data = pd.DataFrame({"job": ["", "a", None]})
    levels = {"values": {"": ["empty"], "a": ["x"], None: ["none"]}}
    assert sqlaudit.hierarchy(data, "job", levels, to=tmp_path / "job.csv").written == 2
    assert (tmp_path / "job.csv").read_text() == "a;x;*\n;none;*\n"
    data = pd.DataFrame({"job": ["", "a"]})
    assert sqlaudit.hierarchy(data, "job", {"mask": 1}, to=tmp_path / "job.csv").written == 2
    assert (tmp_path / "job.csv").read_text() == ";;*\na;*;*\n"


@pytest.mark.postgres
def test_on_postgres(load: Loader, postgres_url: str, tmp_path: Path) -> None:
    table = load("aged", [(34, "a'b"), (38, "c"), (None, "c")], ["age", "job"]).replace('"', "")
    ran = run("hierarchy", "--db", postgres_url, table, "age", "--widths", "5,10", "--to", tmp_path / "age.csv")
    assert (ran.code, "2 values in 3 rows; 1 row without a value." in ran.said) == (0, True), ran.said
    assert (tmp_path / "age.csv").read_text() == "34;[30, 35);[30, 40);*\n38;[35, 40);[30, 40);*\n"
    (tmp_path / "job.csv").write_text("a'b;x;*\nc;y;*\n", encoding="utf-8")
    ran = run("hierarchy", "--db", postgres_url, table, "job", "--from", tmp_path / "job.csv", "--show-values")
    assert "a'b x * c y *" in ran.said


@pytest.mark.spark
def test_on_spark(spark_url: str, tmp_path: Path) -> None:
    table = as_parquet(write_csv(tmp_path / "aged.csv", "age,job", "34,a'b", "38,c", ",c"))
    ran = run("hierarchy", "--db", spark_url, table, "age", "--widths", "5,10", "--to", tmp_path / "age.csv")
    assert (ran.code, "2 values in 3 rows; 1 row without a value." in ran.said) == (0, True), ran.said
    assert (tmp_path / "age.csv").read_text() == "34;[30, 35);[30, 40);*\n38;[35, 40);[30, 40);*\n"
    (tmp_path / "job.csv").write_text("a'b;x;*\nc;y;*\n", encoding="utf-8")
    ran = run("hierarchy", "--db", spark_url, table, "job", "--from", tmp_path / "job.csv", "--show-values")
    assert "a'b x * c y *" in ran.said


def test_formulas_are_escaped_in_the_file_and_read_back(tmp_path: Path) -> None:
    import duckdb

    table = tmp_path / "people.parquet"
    names = ["=1+1", "x;=2", "＝3", "'=4", "-5"]
    listed = ", ".join("('" + name.replace("'", "''") + "')" for name in names)
    duckdb.sql("SELECT * FROM (VALUES " + listed + ") AS t(job)").write_parquet(str(table))
    groups = {name: "@lower" if place < 3 else "b" for place, name in enumerate(names)}
    made = sqlaudit.hierarchy(table, "job", {"values": groups}, to=tmp_path / "job.csv")
    assert made.usable
    text = (tmp_path / "job.csv").read_text(encoding="utf-8")
    assert sorted(text.splitlines()) == sorted(
        ["'=1+1;'@lower;*", "\"x;'=2\";'@lower;*", "'＝3;'@lower;*", "''=4;b;*", "-5;b;*"]
    )
    read = sqlaudit.hierarchy(table, "job", str(tmp_path / "job.csv"), to=tmp_path / "again.csv")
    assert read.usable
    assert (tmp_path / "again.csv").read_text(encoding="utf-8") == text


def test_dates_that_a_file_spells_as_the_data_does_are_said_and_read_as_text(tmp_path: Path) -> None:
    days = [f"{day:02d}/04/1965" for day in range(13, 18)]
    table, levels = tmp_path / "seen.csv", tmp_path / "levels.csv"
    table.write_text("seen\n" + "".join(f"{day}\n" for day in days * 4), encoding="utf-8")
    levels.write_text("".join(f"{day};04/1965;*\n" for day in days), encoding="utf-8")
    ran = run("hierarchy", table, "seen", "--from", levels)
    assert "Dates are listed as YYYY-MM-DD; --all-text reads them as they are written." in ran.said
    assert "default label" not in ran.said
    assert "cannot be used" not in run("hierarchy", table, "seen", "--from", levels, "--all-text").said


def test_a_lone_carriage_return_is_read_again(tmp_path: Path) -> None:
    data = pd.DataFrame({"job": ["nurse\rnight", "nurse\rday", "cook"]})
    sqlaudit.hierarchy(data, "job", {"mask": [1]}, to=tmp_path / "job.csv")
    assert b'"nurse\rnight";' in (tmp_path / "job.csv").read_bytes()
    found = sqlaudit.hierarchy(data, "job", tmp_path / "job.csv")
    assert not found.problems
    assert [level.groups for level in found.levels][:2] == [3, 3]
