"""What the pages of column sets and of disclosure draw beside their tables."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

import sqlaudit
from sqlaudit.audits.report import disclosure_pictures
from sqlaudit.column_sets.result import sets_picture
from tests.cli.runner import patients, run

TABLE = pd.DataFrame(
    {"zip": [1, 1, 2, 2], "age": [30, 30, 40, 50], "sex": list("mfmf"), "one": [1] * 4, "s": list("abca")}
)


def test_sets_are_drawn_with_most_at_risk_first() -> None:
    found = sqlaudit.columns(TABLE, columns=["zip", "age", "sex", "one"], k=2)
    picture = sets_picture(found)
    assert picture is not None
    assert picture.kind == "matrix"
    assert picture.data["columns"] == ["zip", "age", "sex"]
    drawn = list(zip(picture.data["labels"], map(tuple, picture.data["sets"]), strict=True))
    expected = {("50.0%", ("age",)), ("100%", ("zip", "sex"))}
    assert (drawn[0], set(drawn)) == (("100%", ("zip", "sex")), expected)
    assert sets_picture(sqlaudit.columns(TABLE, columns=["one", "age"], k=2)) is None


def test_both_attackers_are_drawn_beside_the_threshold() -> None:
    found = sqlaudit.disclosure_curve(TABLE, qi=["zip"], sensitive="s", knowledge=2)
    (picture,) = disclosure_pictures(found.disclosures, None)
    points = found.disclosures[0].points
    assert picture.data["curves"]["any basic implications"] == [[point.k, float(point.maximum)] for point in points]
    assert picture.data["curves"]["negated atoms only"] == [[point.k, float(point.negated)] for point in points]
    assert "limit" not in picture.data


def test_pages_hold_them_beside_their_tables(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    asked = ["disclosure", patients(tmp_path), "--qi", "sex", "--sensitive", "disease"]
    run(*asked, "--output", page)
    text = page.read_text("utf-8")
    assert (text.count("<figure"), "What k pieces of knowledge can reveal about disease" in text) == (1, True)
    assert "<table>" in text
    assert "ulcer" not in text
    run("columns", patients(tmp_path), "--columns", "age,sex,disease", "--k", "3", "--output", page)
    text = page.read_text("utf-8")
    assert (text.count("<figure"), "Columns of each set" in text) == (2, True)
