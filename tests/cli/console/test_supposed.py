"""`\\replace` and `\\grow`: the curve of worst-case disclosure before and after classes change."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlaudit.base.errors import UsageError
from sqlaudit.cli.console.workspace import Workspace
from sqlaudit.papers.tables import find_table
from tests.cli.console.helpers import Console, console
from tests.cli.runner import run, write_csv

MERGED = "0 0.4 0.4 2/5 1 0.6667 0.5455 6/11 2 1 0.7059 12/17"


def _figure_3(folder: Path) -> Path:
    table = find_table("004:figure-3")
    places = [table.columns.index(name) for name in ("sex", "disease")]
    return write_csv(
        folder / "figure3.csv", "sex,disease", *(",".join(str(row[at]) for at in places) for row in table.rows)
    )


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Console]:
    with Workspace() as workspace:
        made = console(workspace)
        made.run(f"\\use {_figure_3(tmp_path)}\n\\qi sex\n\\sensitive disease\n\\disclosure 0..2")
        yield made


def test_classes_that_are_replaced(opened: Console) -> None:
    merged = opened.words("\\replace 2 2 1, 2 1 1 1 with 4 2 1 1 1 1")
    assert "What if: without 2 classes, with 1 class instead" in merged
    assert merged.endswith("Maximum disclosure of disease k before after exactly " + "─" * 29 + " " + MERGED)
    more = opened.words("\\replace with 3 2 2")
    assert more.endswith("0 0.4 0.4286 3/7 1 0.5455 0.6 3/5 2 0.7059 1 1")  # the classes that docs/disclosure.md has
    opened.run("\\replace")
    assert opened.words("\\replace 2 2 1, 2 1 1 1 with 4 2 1 1 1 1") == merged
    opened.run("\\disclosure 0..1")  # another number of pieces begins with the relation again
    assert opened.words("\\replace 2 2 1").endswith("0 0.4 0.4 2/5 1 0.6667 0.5714 4/7")


def test_rows_that_come(opened: Console, tmp_path: Path) -> None:
    come = write_csv(tmp_path / "come.csv", "sex,disease", "M,Mumps", *["X,Flu", "X,Cold"] * 3)
    both = tmp_path / "both.csv"
    both.write_text((tmp_path / "figure3.csv").read_text() + come.read_text().partition("\n")[2])
    grown = opened.words(f"\\grow {come}")
    assert "What if: with 7 more rows, in 2 classes" in grown
    assert grown.endswith("0 0.4 0.5 1/2 1 0.6667 1 1 2 1 1 1")
    twice = opened.words("\\grow come")
    assert twice.endswith("0 0.5 0.5 1/2 1 1 1 1 2 1 1 1")
    whole = json.loads(
        run("disclosure", both, "--qi", "sex", "--sensitive", "disease", "--knowledge", "0..2", "--format", "json").out
    )
    curve = [point["exact"] for point in whole["disclosure"]["curve"]]
    assert curve == ["1/2", "1", "1"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\\replace 3 3", "Some of these classes do not exist. Nothing was changed."),
        ("\\replace 2 2 1, 2 1 1 1", "No class is left. Nothing was changed."),
        ("\\replace flu", "\\replace takes classes by the counts of their values: \\replace 2 2 1, 2 1 1 with 4 3 2."),
        ("\\replace 2 0", "\\replace takes classes by the counts of their values"),
        ("\\replace with", "Name the classes to remove and to add: \\replace 2 2 1, 2 1 1 with 4 3 2."),
        ("\\grow", "Name the table with the new rows: \\grow march.csv."),
        ("\\sensitive none\n\\replace with 1", "Name it: \\sensitive disease."),
    ],
)
def test_what_cannot_be_supposed_changes_nothing(opened: Console, text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        opened.run(text)
    assert said in str(caught.value)
    opened.run("\\sensitive disease")
    assert opened.words("\\replace 2 2 1, 2 1 1 1 with 4 2 1 1 1 1").endswith(MERGED)


def test_json_has_both_curves(tmp_path: Path) -> None:
    asked = ["--qi", "sex", "--sensitive", "disease", "--format", "json"]
    ran = run("console", _figure_3(tmp_path), *asked, "-c", "\\replace 2 2 1, 2 1 1 1 with 4 2 1 1 1 1")
    found = json.loads(ran.out)
    assert (found["change"], found["sensitive"]) == ("without 2 classes, with 1 class instead", "disease")
    assert [found[side][1]["exact"] for side in ("before", "after")] == ["2/3", "6/11"]
    assert len(found["after"]) == 9
