"""What people meet on the first day: files from Excel, addresses of other databases, words of other tools."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from tests.cli.runner import run

LINES = "age;sex;weight\n30;m;71,5\n31;f;80,25\n30;m;71,5\n"


@pytest.mark.parametrize(
    ("above", "skip", "said"),
    [
        ("sep=;\n", 1, "Line 1 of '{file}' is Excel's 'sep=' line. Skip it with --skip 1."),
        (
            "Patients 2024\n\n",
            2,
            "Line 1 of '{file}' has one field and line 3 has more, so line 1 looks like a title. Skip the lines above "
            "the header with --skip 2, or name the separator with --delimiter.",
        ),
        (
            "Patients 2024;;\n",
            1,
            "Line 1 of '{file}' has only one name for 3 columns, so it looks like a title. Skip the lines above the "
            "header with --skip 1.",
        ),
    ],
    ids=["sep", "title", "fields"],
)
def test_lines_above_the_header_are_named_and_skipped(tmp_path: Path, above: str, skip: int, said: str) -> None:
    file = tmp_path / "t.csv"
    file.write_text(above + LINES)
    ran = run("audit", file, "--qi", "age,sex")
    assert (ran.code, ran.err) == (2, f"sqlaudit: {said.format(file=file)}\n")
    skipped = run("audit", file, "--qi", "age,sex", "--skip", skip)
    assert skipped.code == 0
    assert "3 rows in 2 groups" in skipped.said
    read = sqlaudit.ReadOptions(skip=skip)
    assert sqlaudit.audit(file, qi=["age"], read=read).classes.count == 2


@pytest.mark.parametrize("lines", ['name\n"Doe, A"\n"Roe, B"\n"Poe, C"\n', "note\na, b\nc\nd\n", "n\n1\n2\n"])
def test_one_column_is_no_title(tmp_path: Path, lines: str) -> None:
    file = tmp_path / "t.csv"
    file.write_text(lines)
    assert "looks like a title" not in run("profile", file).err


def test_decimal_commas_are_numbers_where_it_is_said(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text(LINES)
    assert "weight" in run("profile", file).out
    assert "or of a CSV file --decimal ," in run("profile", file).said
    assert run("audit", file, "--qi", "weight + 1").code == 2
    ran = run("audit", file, "--qi", "weight + 1", "--decimal", ",")
    assert ran.code == 0
    assert "3 rows in 2 groups" in ran.said
    quoted = tmp_path / "q.csv"
    quoted.write_text('a,w\n1,"71,5"\n2,"0,25"\n')
    assert run("audit", quoted, "--qi", "w + 1", "--decimal", ",").code == 0
    parquet = tmp_path / "t.parquet"
    duckdb.sql("SELECT 1 AS a").write_parquet(str(parquet))
    assert "The option 'decimal' applies to CSV files" in run("audit", parquet, "--qi", "a", "--decimal", ",").err


def test_files_in_the_encoding_of_excel(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes("name;town\nMüller;Köln\nWeiß;Öhringen\n".encode("cp1252"))
    ran = run("audit", file, "--qi", "town")
    said = (
        f"Line 2 of '{file}' is not UTF-8. Name its encoding: --encoding cp1252 if it is from Western Europe, else for "
        "example cp1251, gbk or shift_jis."
    )
    assert (ran.code, ran.err) == (2, f"sqlaudit: {said}\n")
    for encoding in ("latin-1", "cp1252"):
        assert run("audit", file, "--qi", "town", "--encoding", encoding).code == 0
    file.write_bytes("name;town\nMüller;Köln – Süd\n".encode("cp1252"))
    ran = run("audit", file, "--qi", "town", "--encoding", "cp1252")
    assert ran.code == 0
    ran = run("audit", file, "--qi", "town", "--encoding", "latin-1")
    said = f"'{file}' has characters of cp1252 that latin-1 lacks. Use --encoding cp1252."
    assert (ran.code, ran.err) == (2, f"sqlaudit: {said}\n")


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("age,age,sex\n30,31,m\n31,33,f\n")
    ran = run("audit", file, "--qi", "age")
    assert (ran.code, ran.err) == (2, f"sqlaudit: '{file}' has two columns named 'age'. Rename one of them.\n")


def test_a_folder_names_the_file_that_differs(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age,sex\n30,m\n")
    (tmp_path / "b.csv").write_text("age,town\n30,m\n")
    assert "'b.csv' does not have the columns of 'a.csv' in the same order." in run("profile", tmp_path).err
    (tmp_path / "b.csv").rename(tmp_path / "b.json")
    ran = run("profile", tmp_path)
    assert ran.code == 2
    assert "names files of several formats: 'a.csv' is csv, 'b.json' is json." in ran.err
    folder = tmp_path / "parquet"
    folder.mkdir()
    for name, column in (("a", "sex"), ("b", "town")):
        duckdb.sql(f"SELECT 1 AS age, 2 AS {column}").write_parquet(str(folder / f"{name}.parquet"))
    assert f"'b.parquet' of '{folder}' does not have the columns of the first file" in run("profile", folder).err


def test_values_without_quotes_and_rows_without_an_entity(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("person,job\n,Post\n1,Post\n2,Bank\n")
    ran = run("audit", file, "--qi", "job", "--where", "job = Post")
    said = "There is no column 'Post'. Is it a value? Texts need single quotes."
    assert (ran.code, ran.err) == (2, f"sqlaudit: {said}\n")
    ran = run("audit", file, "--qi", "job", "--entity", "person")
    assert ran.code == 2
    assert "1 row has no value in the entity column person. Leave them out with --where" in ran.err
    assert '--where "person IS NOT NULL", or fill them.' in ran.err


def test_what_python_is_given_by_mistake() -> None:
    people = pd.DataFrame({"age": [30, 31]})
    with pytest.raises(UsageError, match=r"The target is a Series, which is one column\. Use its \.to_frame\(\)\."):
        sqlaudit.audit(people["age"], qi=["age"])
    for word in ("quasi", "quasi_identifiers"):
        with pytest.raises(TypeError, match="Did you mean 'qi'\\?"):
            sqlaudit.audit(people, **{word: ["age"]})


@pytest.mark.parametrize(
    ("address", "said"),
    [
        (
            "mysql://u:secret@h/db",
            "--db is a MySQL database, which sqlaudit does not connect to. Write the checks as SQL",
        ),
        ("snowflake://u:secret@a/db", "--db is a Snowflake database, which sqlaudit does not connect to."),
        ("postgresql://u:p@secret@h/db", "--db has an @ in its user name or password. Write it as %40."),
    ],
)
def test_addresses(address: str, said: str) -> None:
    ran = run("audit", "t", "--qi", "a", "--db", address)
    assert ran.code == 2
    assert ran.err.startswith(f"sqlaudit: {said}")
    assert "secret" not in ran.err


@pytest.mark.parametrize(
    ("command", "required", "said"),
    [
        ("audit", "nk=3", "Use `sqlaudit aggregates` with dominance=n:1,k:80."),
        ("audit", "p%=10", "Use `sqlaudit aggregates` with p_percent=10."),
        ("audit", "suda=3", "Use `sqlaudit records`, which computes SUDA scores."),
        (
            "aggregates",
            "dominance=1,80",
            "Several parameters are written with their names, for instance dominance=n:1,k:80.",
        ),
    ],
)
def test_words_of_the_field(tmp_path: Path, command: str, required: str, said: str) -> None:
    file = tmp_path / "t.csv"
    file.write_text("job,n\na,3\nb,4\n")
    columns = ("--qi", "job") if command == "audit" else ("--by", "job", "--count", "n")
    ran = run(command, file, *columns, "--require", required)
    assert ran.code == 2
    assert said in ran.err


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (".tables", "Commands begin with a backslash here: \\d lists tables, \\? all commands."),
        ("\\dt", "There is no command \\dt. \\d lists tables. \\? lists them."),
        ("selct 1", "The console only reads, but this is a SELCT statement, perhaps meant as SELECT."),
    ],
)
def test_habits_of_other_consoles(typed: str, said: str) -> None:
    ran = run("console", "-c", typed)
    assert ran.code == 2
    assert ran.err == f"sqlaudit: {said}\n"


def test_what_reading_does_not_take() -> None:
    with pytest.raises(UsageError, match=r"is one of '\.', ',', not ';'"):
        sqlaudit.ReadOptions(decimal=";")
    with pytest.raises(UsageError, match="skip"):
        sqlaudit.ReadOptions(skip=-1)


def test_a_file_with_fewer_lines_than_are_skipped(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text(LINES)
    said = f"sqlaudit: '{file}' has no line 10. Use a smaller number with --skip.\n"
    assert run("audit", file, "--qi", "age", "--skip", 9).err == said


def test_a_model_by_the_name_of_its_family() -> None:
    said = "There is no requirement 'l-diversity'. Use l=2 (distinct l-diversity), or entropy_l or recursive_l."
    with pytest.raises(UsageError, match=re.escape(said)):
        sqlaudit.audit(pd.DataFrame({"q": [1], "s": [1]}), qi=["q"], sensitive=["s"], require=["l-diversity=2"])
