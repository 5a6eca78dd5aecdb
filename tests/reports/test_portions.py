"""The picture that a page begins with: which part of its cells, blocks, boxes, figures and rows passes or fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

import sqlaudit
from sqlaudit.gates.report import history_document
from sqlaudit.gates.result import Moment
from sqlaudit.reports.document import Document, Picture
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.page import render_html
from tests.cli.runner import run, write_csv

CROWDS = {"0,64,0,64,0,64": 12, "64,128,0,64,0,64": 9, "0,32,64,128,0,64": 4}


def _first(document: Document) -> tuple[str, Any]:
    """Return the kind of the picture at the top of a page, and its data."""
    (picture,) = (block for block in document.lead if isinstance(block, Picture))
    return picture.kind, picture.data


def _portions(document: Document) -> dict[str, list[tuple[str, list[float]]]]:
    kind, data = _first(document)
    assert kind == "strips"
    return {
        row["name"]: [(strip["label"], [round(part, 9) for part in strip["parts"]]) for strip in row["strips"]]
        for row in data["rows"]
    }


def test_cells_by_rule() -> None:
    """One of four counts is below 5; half of all is below 10."""
    cells = pd.DataFrame({"region": ["n", "n", "s", "s"], "ill": ["a", "b"] * 2, "n": [2, 30, 9, 12]})
    result = sqlaudit.aggregates(cells, by=["region", "ill"], count="n", require=["threshold=5", "threshold=10"])
    assert _portions(document_of(result)) == {"threshold=5": [("1 of 4", [1, 3])], "threshold=10": [("2 of 4", [2, 2])]}


def test_a_frame_of_a_notebook_begins_with_the_picture_and_has_it_once() -> None:
    cells = pd.DataFrame({"region": ["n", "s"], "n": [2, 30]})
    result = sqlaudit.aggregates(cells, by="region", count="n", require="threshold=5")
    page = render_html(document_of(result), framed=True)
    assert page.count("<figure") == 1
    assert page.index("</header>") < page.index("<figure") < page.index("<table")


def test_blocks_of_a_cube_and_their_people() -> None:
    """Twelve women; four men and two others are left out, which is a third of 18 people."""
    people = pd.DataFrame({"sex": ["f"] * 12 + ["m"] * 4 + ["x"] * 2})
    result = sqlaudit.cube(people, dimensions=["sex"], require={"threshold": 5})
    assert _portions(document_of(result)) == {
        "Blocks": [("1 of 3", [1, 2])],
        "People": [("66.7%", [round(12 / 18, 9), round(6 / 18, 9)])],
    }


def test_a_cube_draws_no_number_of_people_that_its_page_does_not_say() -> None:
    people = pd.DataFrame({"sex": ["f"] * 12 + ["m"] * 4})
    result = sqlaudit.cube(people, dimensions=["sex"], require={"threshold": 5})
    assert _portions(document_of(result)) == {"Blocks": [("1 of 2", [1, 1])]}


def test_boxes_with_enough_users() -> None:
    """Boxes of 12, 9 and 4 users, of which nine have to be in each."""
    rows = [[*map(int, box.split(",")), user] for box, users in CROWDS.items() for user in range(users)]
    boxes = pd.DataFrame(rows, columns=["x_min", "x_max", "y_min", "y_max", "t_min", "t_max", "user"])
    result = sqlaudit.audit_boxes(boxes, k=9, user="user")
    assert _portions(document_of(result)) == {"Users in a box": [("2 of 3", [2, 1])]}


def test_figures_of_a_certificate(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "p.csv", "age", *("30", "30", "40"))
    assert run("audit", file, "--qi", "age", "--certificate", tmp_path / "c.json").code == 0

    def compared() -> dict[str, tuple[float, float]]:
        ran = run("verify", tmp_path / "c.json", "--output", tmp_path / "verified.json")
        assert ran.code in (0, 1)
        (picture,) = (
            block
            for block in json.loads((tmp_path / "verified.json").read_text("utf-8"))["report"]["lead"]
            if block["kind"] == "picture"
        )
        return {row["name"]: tuple(row["strips"][0]["parts"]) for row in picture["data"]["rows"]}

    same = compared()
    certificate = json.loads((tmp_path / "c.json").read_text("utf-8"))
    assert same["SQL statements"] == (len(certificate["sql"]), 0)
    assert all(matching > 0 and not differing for matching, differing in same.values())
    certificate["figures"]["classes"]["min_size"] = 7
    (tmp_path / "c.json").write_text(json.dumps(certificate), "utf-8")
    figures = same["Figures"][0]
    assert compared() == same | {"Figures": (figures - 1, 1)}


def test_shares_of_criteria_are_those_of_their_texts() -> None:
    """Of 200 rows two are unique (one percent), which the public version does not say."""
    people = pd.DataFrame({"age": [1, 2] + [3] * 198})
    audited = sqlaudit.audit(people, qi=["age"])
    exact, public = (_portions(document_of(audited.by_criteria(public=public))) for public in (False, True))
    assert exact["Singling out"] == [("1.0% unique rows", [1, 99]), ("1.0% rows in groups below 5", [1, 99])]
    assert public["Singling out"] == [("under 3% unique rows", [3, 97]), ("under 3% rows in groups below 5", [3, 97])]
    assert public["Linkability"][0] == ("above 20.0% highest chance", [20, 80])
    assert exact["Linkability"][0] == ("100% highest chance", [100, 0])
    assert list(exact) == ["Singling out", "Linkability", "HIPAA, expert determination", "EMA Policy 0070"]


def test_rows_that_fail_through_the_runs_of_a_history() -> None:
    """The newest run comes first; a run without a number of rows has no point; with a single run there are bars."""
    runs = [(3, 5), (2, None), (1, 20)]
    moments = [Moment(number, "", False, "fail", "1", failing, 100) for number, failing in runs]
    key = ("people", "k=5", "")
    assert _first(history_document("runs.jsonl", {key: moments})) == (
        "curves",
        {"curves": {"people: k=5": [(1, 0.2), (3, 0.05)]}, "x": "run", "y": "share of rows"},
    )
    kind, data = _first(history_document("runs.jsonl", {key: moments[:1]}))
    assert (kind, data["names"], data["series"]) == ("bars", ["people: k=5"], {"rows": [0.05]})
    many = {("people", f"k={k}", ""): [Moment(1, "", False, "fail", "1", k, 100)] for k in range(2, 20)}
    _, data = _first(history_document("runs.jsonl", many))
    assert data["names"] == [f"people: k={k}" for k in range(19, 11, -1)]
    unknown = {key: [Moment(1, "", False, "fail", None, None, 100)]}
    assert not [block for block in history_document("runs.jsonl", unknown).lead if isinstance(block, Picture)]
