"""Tables of long names in plain text: no name is broken, and what does not fit is told row by row."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd

import sqlaudit
from sqlaudit.column_sets.result import ColumnSets
from sqlaudit.reports.document import Column, Document, Picture, Section, Table
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import render_text

LONG = ("number_of_laboratory_procedures", "medical_specialty_of_the_doctor")
COLUMNS = (Column("Columns"), Column("Smallest class", True), Column("Rows below k", True), Column("At risk", True))


def text(rows: tuple[tuple[str, ...], ...], width: int) -> str:
    said = render_text(Document("head", (), (Section("Sets", (Table(COLUMNS, rows),)),)), width)
    return said.partition("\n`sqlaudit help glossary`")[0]


def test_names_are_broken_between_words_only() -> None:
    shown = text(((", ".join(LONG), "1", "300", "100%"), ("age", "2", "5", "1%")), 64)
    assert all(name in shown for name in LONG)
    assert max(map(len, shown.splitlines())) <= 64
    assert "100%" in shown


def test_a_table_that_does_not_fit_is_told_row_by_row() -> None:
    assert text(((LONG[0], "1", "300", "100%"), ("age", "2", "5", "1%")), 50) == (
        "head\n\nSets\n"
        "  number_of_laboratory_procedures\n"
        "      smallest class 1; rows below k 300; at risk\n"
        "      100%\n"
        "  age\n"
        "      smallest class 2; rows below k 5; at risk 1%\n"
    )


def many(count: int) -> ColumnSets:
    frame = pd.DataFrame({f"c{i}": range(i, i + 6) for i in range(count)})
    return sqlaudit.columns(frame, max_size=1, k=2)


def test_column_sets_come_by_risk() -> None:
    frame = pd.DataFrame({"a": [1, 1, 2, 2, 3], "b": [1, 2, 3, 4, 5], "c": [1, 1, 1, 2, 3]})
    result = sqlaudit.columns(frame, max_size=1, k=2)
    section = next(one for one in document_of(result).sections if one.title == "Column sets")
    picture, table = section.blocks
    assert isinstance(picture, Picture)
    assert isinstance(table, Table)
    assert [(row[0], row[3]) for row in table.rows] == [("b", "100%"), ("c", "40.0%"), ("a", "20.0%")]
    assert [one.columns for one in result.sets] != [("b",), ("c",), ("a",)], "the JSON keeps its order"


def test_more_sets_than_anybody_reads_are_grouped_by_column() -> None:
    result = many(50)
    assert (result.sets_found, result.tolerance) == (50, Fraction(0))
    section = next(one for one in document_of(result).sections if one.title == "Column sets")
    first, grouped = section.blocks[1:3]
    assert isinstance(first, Table)
    assert isinstance(grouped, Table)
    assert (len(first.rows), first.caption) == (40, "The first 40 with most rows at risk; 10 more were found.")
    assert (len(grouped.rows), grouped.caption) == (50, "All 50 by column:")
    assert grouped.rows[0][1:] == ("1", "100%", "(alone)")
    assert len(result.to_dict()["sets"]) == 50
