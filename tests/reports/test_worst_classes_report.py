"""What reports say of the worst classes: headings that differ, units, values by name or by number."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sqlaudit.audits.classes import ClassDistribution, SharedValue, WorstClasses
from sqlaudit.audits.report import distribution_blocks
from sqlaudit.classes.failing import ClassSizes
from sqlaudit.reports.document import Paragraph, Picture, Table, text_of
from tests.reports.samples import ROLES, result

VALUES = (SharedValue(1, 1, 60, Fraction(3, 5)), SharedValue(None, 30, 40, Fraction(2, 5)))
CLASSES = (
    ClassDistribution(4, 4, 1, (4, 0)),
    ClassDistribution(4, 4, 1, (3, 1)),
    ClassDistribution(2, 2, 1_200, (0, 2)),
    ClassDistribution(2, 2, 1, (1, 1)),
)


def blocks(worst: WorstClasses, **given: Any) -> tuple[str, Picture, Table]:
    """The sentence, the picture and the table."""
    paragraph, picture, table = distribution_blocks(result(worst_classes=(worst,), **given))
    assert isinstance(paragraph, Paragraph)
    assert isinstance(picture, Picture)
    assert isinstance(table, Table)
    return text_of(paragraph.words), picture, table


def heads(table: Table) -> list[str]:
    """The headings of the classes."""
    return [column.title for column in table.columns[2:]]


def test_the_table_and_the_picture_say_the_same() -> None:
    sentence, picture, table = blocks(WorstClasses("disease", "failing", VALUES, CLASSES))
    assert sentence == (
        "Share of each value of disease in the whole table and in the largest groups that fail a requirement on it. "
        "Values are numbered by frequency in the table, the most frequent first. show_values=True names the values."
    )
    titles = ["Group of 4 rows", "Group of 4 rows, no. 2", "1,200 groups of 2 rows", "Group of 2 rows"]
    assert heads(table) == titles
    assert table.rows == (
        ("value 1", "60.0%", "100%", "75.0%", "0%", "50.0%"),
        ("30 other values", "40.0%", "0%", "25.0%", "100%", "50.0%"),
    )
    assert picture.kind == "bars"
    assert picture.data["names"] == ["value 1", "30 other values"]
    assert picture.data["series"] == {
        "Whole table": [0.6, 0.4],
        titles[0]: [1.0, 0.0],
        titles[1]: [0.75, 0.25],
        titles[2]: [0.0, 1.0],
    }


def test_values_and_keys_are_named_where_the_result_holds_them() -> None:
    values = (SharedValue(1, 1, 60, Fraction(3, 5), True, None), SharedValue(2, 1, 40, Fraction(2, 5), True, ""))
    key = {"age": 34, "sex": None}
    classes = (ClassDistribution(2, 2, 1, (2, 0), key), ClassDistribution(1, 1, 1, (0, 1), key))
    sentence, picture, table = blocks(WorstClasses("disease", "least_diverse", values, classes))
    assert sentence == (
        "Share of each value of disease in the whole table and in the groups of at least two rows in which it is least "
        "diverse."
    )
    assert [row[0] for row in table.rows] == ["(missing)", '""']
    assert heads(table) == ["age 34, sex (missing)", "age 34, sex (missing), no. 2"]
    assert list(picture.data["series"]) == ["Whole table", *heads(table)]


def test_persons_and_rows_that_match_are_said_to_be_that() -> None:
    worst = WorstClasses("disease", "least_diverse", VALUES, CLASSES)
    sentence, _, table = blocks(worst, roles={**ROLES, "entity": "person"})
    assert "of at least two people" in sentence
    assert "A person counts once for each value." in sentence
    assert heads(table)[2] == "1,200 groups of 2 people"
    _, _, table = blocks(worst, classes=ClassSizes(((4, 2), (2, 1_201)), per_row=True))
    assert heads(table) == [
        "4 rows that match",
        "4 rows that match, no. 2",
        "2 rows that match (of 1,200 rows)",
        "2 rows that match",
    ]
