"""The parts of a report, and tables made of fields."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pytest

from sqlaudit.base.result import MeasuredResult, Warned
from sqlaudit.reports import document as doc
from sqlaudit.reports.report import Report


@dataclass(frozen=True)
class Box:
    name: str
    fewest_users: int
    failing: int = 0


BOXES = (Box("north", 1200), Box("south", 3))


def titles(table: doc.Table) -> list[str]:
    return [column.title for column in table.columns]


def test_fields_become_headings_and_cells() -> None:
    table = doc.table_of(BOXES, "name #fewest_users", caption="All boxes")
    assert table.columns == (doc.Column("Name"), doc.Column("Fewest users", numeric=True))
    assert table.rows == (("north", "1,200"), ("south", "3"))
    assert table.caption == "All boxes"


def test_a_cell_is_a_field_under_another_heading_or_made_of_the_item() -> None:
    table = doc.table_of(
        BOXES, ("Box", "name"), ("#Letters", lambda box: len(box.name)), (doc.Column("a_b"), "failing")
    )
    assert titles(table) == ["Box", "Letters", "a_b"]
    assert table.rows == (("north", "5", "0"), ("south", "5", "0"))


@pytest.mark.parametrize(("failing", "shown"), [(0, ["Name"]), (1, ["Name", "Failing"])])
def test_a_column_with_a_question_mark_is_left_out_when_it_is_empty(failing: int, shown: list[str]) -> None:
    assert titles(doc.table_of([Box("east", 1, failing), *BOXES], "name ?#failing")) == shown
    assert titles(doc.table(("name", "?#failing"), [("east", failing), ("west", None)])) == shown


def test_a_row_has_a_cell_for_each_heading() -> None:
    with pytest.raises(ValueError, match="zip"):
        doc.table(("name", "#rows"), [("east", 1, 2)])


class BoxesReport(Report[Any]):
    def headline(self, result: Any) -> doc.Words:
        return "PASS"

    def opening(self, result: Any) -> Iterable[doc.Content]:
        return ("opening", None, doc.lines(()))

    def lead(self, result: Any) -> Iterable[doc.Words]:
        return ("first finding", "second finding")

    def notices(self, result: Any) -> Iterable[doc.Block]:
        return (doc.Paragraph("notice"),)

    def sections(self, result: Any) -> Iterable[tuple[doc.Section, ...]]:
        yield doc.section("Details", "a sentence")
        yield doc.section("Nothing", "")


def test_a_report_puts_its_parts_together_and_says_how_the_table_was_read() -> None:
    result = MeasuredResult(time="2026-05-04T10:15:00+00:00", remarks=(Warned("guessed_header", (), "Read."),))
    document = BoxesReport().document(result)
    assert [list(map(doc.text_of, doc.words_of(block))) for block in document.lead] == [
        ["opening"],
        ["first finding", "second finding"],
        ["notice"],
        ["Read."],
    ]
    assert [section.title for section in document.sections] == ["Details"]
    assert document.about == doc.About("", result.time)
