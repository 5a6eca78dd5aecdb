"""The papers' tables by value, and the command that hands them out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import duckdb
import pytest

from sqlaudit.papers import tables
from sqlaudit.papers.tables import find_table, paper_tables
from tests.cli.runner import run


def classes(name: str) -> list[int]:
    """The sizes of the equivalence classes."""
    table = find_table(name)
    places = [table.columns.index(column) for column in table.quasi_identifiers]
    return sorted(Counter(tuple(row[place] for place in places) for row in table.rows).values())


def values(name: str, column: str) -> list[str]:
    table = find_table(name)
    return [row[table.columns.index(column)] for row in table.rows]


def test_every_file_is_listed_and_every_table_has_its_columns() -> None:
    files = {path.stem.replace("-", ":", 1) for path in Path(tables.__file__).with_name("tables").glob("*.csv")}
    made = {"000:example-4.2", "002:theorem-3.1", "003:figure-5.2-4"}
    assert set(paper_tables()) == files | made
    assert list(paper_tables()) == sorted(paper_tables(), key=lambda name: name.partition(":")[0])
    for table in paper_tables().values():
        assert {*table.quasi_identifiers, *table.sensitive} <= set(table.columns)
        assert {len(row) for row in table.rows} == {len(table.columns)}
        assert table.about


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("001:table-2", [2, 2, 2]),
        ("001:table-4-released", [4, 4, 4]),
        ("001:table-5-released", [2, 2, 2]),
        ("002:figure-1-released", [2, 2]),
        ("003:table-2.1-2", [4, 4, 4]),
        ("003:example-3.5.1", [10, 10, 10]),
        ("003:table-4.3-1", [2, 2, 2, 2]),
        ("003:table-4.3-2-left", [2, 2, 2, 2]),
        ("003:table-4.3-2-right", [2, 2, 2, 2]),
        ("004:figure-2", [5, 5]),
    ],
)
def test_releases_have_the_classes_of_the_paper(name: str, sizes: list[int]) -> None:
    assert classes(name) == sizes


def test_values_of_the_papers() -> None:
    assert find_table("003:table-2.1-1").rows[1] == ("2", "13068", "29", "American", "Heart Disease")
    assert find_table("004:figure-1").rows[6] == ("Hannah", "14850", "22", "F", "Flu")
    assert find_table("000:example-4.2").rows[3] == ("⊥", "4", "4", "4")
    assert values("003:table-2.1-1", "condition") == values("003:table-2.1-2", "condition")
    assert Counter(values("004:figure-1", "disease")) == Counter(values("004:figure-3", "disease"))
    for sex, counts in (("M", [2, 2, 1]), ("F", [2, 1, 1, 1])):
        held = Counter(row[4] for row in find_table("004:figure-3").rows if row[3] == sex)
        assert sorted(held.values(), reverse=True) == counts


def test_releases_that_change_values_are_those_of_the_errata() -> None:
    def changed(before: str, after: str, column: str) -> list[int]:
        pairs = zip(values(before, column), values(after, column), strict=True)
        return [row for row, (old, new) in enumerate(pairs, 1) if old != new]

    assert changed("001:table-1", "001:table-2", "problem") == [1]
    assert changed("001:table-4", "001:table-4-released", "problem") == [3, 5, 11]
    assert changed("001:table-5", "001:table-5-released", "disease") == []
    assert changed("003:table-4.3-1", "003:table-4.3-2-left", "disease") == []


def test_the_list_names_every_table() -> None:
    ran = run("demo", "--paper")
    assert (ran.code, ran.err) == (0, "")
    assert [line.split()[0] for line in ran.out.splitlines()] == list(paper_tables())
    assert "002:theorem-3.1        106 × 3  the hardness construction" in ran.out


def test_a_table_goes_to_stdout_or_into_a_new_file(tmp_path: Path) -> None:
    assert run("demo", "--paper", "002:figure-1").out == "a,b,c\nx,a,b\nz,c,d\ny,a,b\nz,c,e\n"
    for name in ("t.csv", "t.parquet"):
        file = tmp_path / name
        ran = run("demo", "--paper", "004:figure-3", "--save", file)
        assert (ran.code, ran.out) == (0, "")
        assert ran.err.endswith(f"Try: sqlaudit audit {file} --qi zip,age,sex --sensitive disease\n")
        assert duckdb.sql(f"SELECT COUNT(*), SUM(age), MIN(disease) FROM '{file}'").fetchall() == [
            (10, 249, "Breast Cancer")
        ]
        before = file.read_bytes()
        again = run("demo", "--paper", "004:figure-1", "--save", file)
        assert (again.code, again.err) == (2, f"sqlaudit: {str(file)!r} exists. Name another file.\n")
        assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("004:figur-1",), "No table of the papers is called '004:figur-1'. Did you mean 004:figure-1? "),
        (("", "--save", "t.csv"), "Name the table to save: --paper 004:figure-1 --save t.csv. "),
        (("004:figure-1", "--save", "t.xls"), "'t.xls' must end in .csv, .parquet, .xlsx, .sav or .dta."),
    ],
)
def test_what_cannot_be_is_refused(arguments: tuple[str, ...], said: str) -> None:
    ran = run("demo", "--paper", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"sqlaudit: {said}")
