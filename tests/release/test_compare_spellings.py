"""Cells that are the beginning of a value, texts that a file reads as numbers, and texts in another case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError

ZIPS = ["10115", "10117", "12045", "12047", "80331", "80333"]


def answer(column: str, original: list[Any], release: list[Any], **more: Any) -> str:
    tables = (pd.DataFrame({column: cells}) for cells in (original, release))
    return sqlaudit.compare(*tables, qi=[column], by_position=True, **more).generalization.answer.value


@pytest.mark.parametrize("fill", ["", "X", "x", "#", "*"])
@pytest.mark.parametrize("whole", [False, True])
def test_the_beginning_of_a_code_is_a_mask(fill: str, whole: bool) -> None:
    original = [int(zip) for zip in ZIPS] if whole else ZIPS
    release: list[Any] = [zip[:2] + fill * 3 for zip in ZIPS]
    assert answer("zip", original, [int(cell) for cell in release] if whole and not fill else release) == "yes"


@pytest.mark.parametrize(
    ("column", "original", "release"),
    [
        ("age", [34, 38, 51], [3, 3, 5]),  # another number
        ("income", [10115, 12045, 80331], [10, 12, 80]),
        ("age", ["34", "38", "51"], ["3", "3", "5"]),
        ("zip", [*ZIPS, "10"], ["10", "10", "12", "12", "80", "80", "10"]),  # a value of the original
        ("zip", ZIPS, ["10", "10", "12", "12", "12", "80"]),  # of another value
        ("zip", ZIPS, ["12XXX", "10XXX", "12XXX", "12XXX", "80XXX", "80XXX"]),
        ("zip", ZIPS, ["10", "101", "12", "12", "80", "80"]),  # of two lengths
        ("zip", ["10115", "1011"], ["10", "10"]),
    ],
)
def test_what_is_no_mask_is_no_generalization(column: str, original: list[Any], release: list[Any]) -> None:
    try:
        assert answer(column, original, release) == "no"
    except UsageError as refused:
        assert "cannot be read" in str(refused)  # noqa: PT017 - a refusal is right, too


@pytest.mark.parametrize("values", [["1", "1.0", "2"], ["8001", "8001 ", "8002"], ["0.1", "0.10", "0.2"]])
def test_texts_of_the_original_are_texts_of_the_release(values: list[str], tmp_path: Path) -> None:
    people = pd.DataFrame({"code": values * 4, "age": [30, 40] * 6, "ill": ["a", "b", "c", "d"] * 3})
    file = tmp_path / "release.csv"
    made = sqlaudit.lattice(people, qi=["code"], sensitive="ill", require="k=2", to=file)
    assert made.best is not None
    found = sqlaudit.compare(people, str(file), qi=["code"], sensitive="ill")
    assert found.generalization.answer.value == "yes"
    assert found.audit.classes.count == 3
    assert sqlaudit.compare(people, str(file), qi=["code", "age"], sensitive="ill").generalization.answer.value == "yes"


def test_other_columns_of_such_a_release_keep_their_types(tmp_path: Path) -> None:
    people = pd.DataFrame({"code": ["1", "1.0", "2"] * 8, "cost": [1.5, 2.5, 3.5, 4.5] * 6, "ill": list("abcd") * 6})
    people.to_csv(file := tmp_path / "release.csv", index=False)
    query = "SELECT AVG(cost) FROM people"
    found = sqlaudit.compare(people, str(file), qi=["code"], sensitive="ill", queries=[query], by_position=True)
    assert found.queries[0].groups[0].answers["conditional"] == 3
    ordered = {"require": "t_closeness_ordered=1", "by_position": True}
    found = sqlaudit.compare(people, str(file), qi=["code"], sensitive="cost", **ordered)
    assert (found.generalization.answer.value, found.audit.passed) == ("yes", True)


def test_folding_holds_between_the_tables() -> None:
    original, release = ["Berlin", "Bonn", "Kiel"], ["BERLIN", "bonn ", "Kiel"]
    assert answer("city", original, release) == "no"
    assert answer("city", original, release, values="fold") == "yes"
    assert answer("city", original, ["BERLIN", "KIEL", "bonn"], values="fold") == "no"
