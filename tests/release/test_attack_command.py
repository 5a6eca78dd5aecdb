"""`sqlaudit attack` as a stranger types it, the Python call of the same name, and the JSON that follows its schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from tests.cli.runner import Ran, run, write_csv
from tests.postgres_load import Loader
from tests.reports.schemas import schema, validator

RELEASE = [
    "≥40,021**,Viral infection",
    "≥40,021**,Heart disease",
    "3*,0223*,Cancer",
    "≤30,021**,Fever",
    "3*,0223*,Cancer",
    "3*,0223*,Cancer",
    "≥40,021**,Viral infection",
    "≤30,021**,Cancer",
    "≤30,021**,Short of breath",
    "≥40,021**,Viral infection",
    "3*,0223*,Cancer",
    "≤30,021**,Viral infection",
]
VOTERS = [
    "42,02135",
    "41,02133",
    "38,02238",
    "29,02139",
    "37,02232",
    "34,02236",
    "53,02138",
    "23,02139",
    "23,02141",
    "46,02139",
    "31,02239",
    "28,02130",
    "70,99999",
]
ROLES = ("--qi", "age,zip", "--sensitive", "problem")


def tables(folder: Path) -> tuple[Path, Path]:
    """The release of Table 4 in Barriers, and its original's quasi-identifiers as a register, with one stranger."""
    release = write_csv(folder / "release.csv", "age,zip,problem", *RELEASE)
    named = [f"Person {i},{line}" for i, line in enumerate(VOTERS)]
    return release, write_csv(folder / "voters.csv", "name,age,zip", *named)


def attack(folder: Path, *options: object) -> Ran:
    return run("attack", tables(folder)[0], *ROLES, *options)


def test_linkage_through_generalized_cells(tmp_path: Path) -> None:
    voters = tables(tmp_path)[1]
    ran = attack(tmp_path, "--identified", voters, "--match", "zip,age", "--all-text", "--format", "json")
    validator("attack").validate(json.loads(ran.out))
    found = {one["attack"]: one for one in json.loads(ran.out)["attacks"]}
    linkage = found["linkage"]
    assert (ran.code, linkage["of"], linkage["figures"]["matched"], linkage["exposed"]) == (0, 13, 12, 0)
    assert (linkage["figures"]["below_k"], linkage["highest"], linkage["figures"]["expected_right"]) == (12, 0.25, 3.0)
    assert (found["linkage_attribute"]["exposed"], found["linkage_attribute"]["figures"]["without_identity"]) == (4, 4)
    assert "For 4 of 13 people (30.8%), all candidates have the same problem" in found["linkage_attribute"]["sentence"]


def test_the_report_in_words(tmp_path: Path) -> None:
    ran = attack(tmp_path, "--identified", tables(tmp_path)[1], "--all-text")
    assert ran.code == 0
    assert "release.csv: 4 of 5 attacks expose people" in ran.said
    assert "4 of 12 rows (33.3%) are in 1 group with a single value of problem" in ran.said
    assert "Similarity. It needs categories of values (--categories) or a width for numbers (--width)." in ran.said
    assert "Cancer" not in ran.out
    assert "0223*" not in ran.out
    shown = attack(tmp_path, "--show-values", "--only", "homogeneity", "--all-text")
    assert "age zip Size Value" in shown.said
    assert "3* 0223* 4 Cancer" in shown.said
    markdown = attack(tmp_path, "--format", "markdown", "--all-text")
    assert "| Homogeneity: problem | 4 | 12 rows | 33.3% | 100% | 100% |" in markdown.out


def test_the_page_has_pictures_and_tables(tmp_path: Path) -> None:
    page = tmp_path / "attacks.html"
    ran = attack(tmp_path, "--identified", tables(tmp_path)[1], "--all-text", "--output", page)
    text = page.read_text("utf-8")
    assert (ran.code, text.count("<figure"), text.count("<svg")) == (0, 2, 4)
    assert "Share of people that each attack exposes" in text
    assert "Share of 12 rows exposed when an attacker rules out m values of problem" in text
    assert "<td>Homogeneity: problem</td>" in text
    assert "Cancer" not in text
    alone = tmp_path / "alone.html"
    attack(tmp_path, "--only", "homogeneity", "--output", alone)
    assert alone.read_text("utf-8").count("<figure") == 0


def test_a_file_of_categories(tmp_path: Path) -> None:
    file = tmp_path / "c.yml"
    file.write_text(
        "categories:\n  heart and lung: [Heart disease, Short of breath]\n"
        "  other: [Viral infection, Fever]\n  cancer: [Cancer]\n"
    )
    ran = attack(tmp_path, "--categories", file, "--all-text", "--only", "similarity")
    assert "4 of 12 rows (33.3%) are in groups with all values of problem in one category; none of them" in ran.said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--match", "zip"), "--match needs a table to link with"),
        (("--identified", "nowhere.csv"), "nowhere.csv"),
        (("--other-qi", "zip"), "need another release"),
        (("--k", "0"), "--k must be at least 1, not 0."),
        (("--pieces", "-1"), "--pieces must be at least 0, not -1."),
        (("--sure", "2"), "--sure"),
        (("--width", "wide"), "--width takes a number"),
        (("--only", "homogenity"), "Did you mean 'homogeneity'?"),
        (("--node", "1,2"), "--node needs the requirement of the search"),
        (("--require", "l=2", "--node", "a,b"), "--node takes one level per quasi-identifier"),
        (("--key", "a,b"), "--key takes one column"),
        (("--width", "3"), "are neither"),
    ],
)
def test_what_is_refused(tmp_path: Path, options: tuple[object, ...], said: str) -> None:
    ran = attack(tmp_path, *options)
    assert ran.code == 2
    assert said in ran.err
    assert "Cancer" not in ran.err


def test_a_column_without_match_and_cells_that_cannot_be_read(tmp_path: Path) -> None:
    release = write_csv(tmp_path / "r.csv", "age,s", "[20-30,flu", "[30-40),flu")
    people = write_csv(tmp_path / "p.csv", "name,age", "Ann,25")
    ran = run("attack", release, "--qi", "age", "--sensitive", "s", "--identified", people)
    assert ran.code == 2
    assert "age: 1 of 2 different cells of the release cannot be read" in ran.err
    assert "[20-30" not in ran.err.split("; a cell is")[0]
    strangers = write_csv(tmp_path / "q.csv", "who,years", "Ann,25")
    ran = run("attack", release, "--qi", "age", "--sensitive", "s", "--identified", strangers)
    assert "has no column 'age'" in ran.err


def test_empty_tables_and_no_quasi_identifiers(tmp_path: Path) -> None:
    empty = pd.DataFrame({"age": pd.Series([], dtype="int64"), "s": pd.Series([], dtype="str")})
    result = sqlaudit.attack(empty, qi=["age"], sensitive="s", identified=empty, match=["age"], other_release=empty)
    assert [(one.exposed, one.of) for one in result.exposures] == [(0, 0)] * len(result.exposures)
    assert (result.rows, result.classes, result.smallest) == (0, 0, None)
    validator("attack").validate(result.to_dict())
    with pytest.raises(UsageError, match="No quasi-identifiers are named"):
        sqlaudit.attack(empty)


def test_the_plan_is_shown_without_attacking(tmp_path: Path) -> None:
    ran = attack(tmp_path, "--dry-run")
    assert (ran.code, "GROUP BY" in ran.out) == (0, True)


PEOPLE = pd.DataFrame({"name": list("abcd"), "age": [31, 35, 47, 47], "zip": ["02138"] * 4, "id": [1, 2, 3, 9]})
TABLE = pd.DataFrame(
    {
        "age": ["[30-40)", "[30-40)", "[40-50)"],
        "zip": ["021**"] * 3,
        "s": ["x", "y", "x"],
        "pay": [1, 2, 9],
        "id": [1, 2, 3],
    }
)
CALLS: list[dict[str, Any]] = [
    {},
    {"identified": PEOPLE, "match": ["age", "zip"], "key": "id"},
    {"other_release": TABLE, "show_values": True},
    {"categories": {"sensitive": {"s": {"categories": {"one": ["x"], "two": ["y"]}}}}},
    {"width": "1.5", "sensitive": ["s", "pay"]},
    {"nulls": "wildcard"},
    {"entity": "id"},
    {"hierarchies": {"age": {"widths": [10], "low": 0, "high": 90}}, "identified": PEOPLE, "match": ["age"]},
]


@pytest.mark.parametrize("options", CALLS, ids=lambda options: ",".join(options) or "plain")
def test_json_follows_its_schema(options: dict[str, Any]) -> None:
    data = sqlaudit.attack(TABLE, **{"qi": ["age", "zip"], "sensitive": "s", **options}).to_dict()
    assert data["schema"] == "sqlaudit-attack/1" == schema("attack")["title"]
    validator("attack").validate(data)


def test_the_python_call_links_and_confirms() -> None:
    result = sqlaudit.attack(TABLE, qi=["age", "zip"], sensitive="s", identified=PEOPLE, match=["age", "zip"], key="id")
    figures = result.exposure("linkage").figures
    assert (figures["matched"], figures["unique"], figures["confirmed_unique"], figures["wrong_unique"]) == (4, 2, 1, 1)
    assert (figures["in_release"], figures["confirmed"], figures["one_to_one"]) == (3, 3, 0)


@pytest.mark.postgres
def test_the_command_on_postgres(load: Loader, postgres_url: str) -> None:
    names = ["age", "zip", "problem"]
    release = load("attacked", [tuple(line.split(",")) for line in RELEASE], names, dict.fromkeys(names, "text"))
    rows = [(f"Person {i}", int(line.split(",")[0]), line.split(",")[1]) for i, line in enumerate(VOTERS)]
    people = load("voters", rows, ["name", "age", "zip"], {"name": "text", "age": "int", "zip": "text"})
    ran = run(
        "attack",
        "--db",
        postgres_url,
        release.replace('"', ""),
        *ROLES,
        "--identified",
        people.replace('"', ""),
        "--match",
        "zip,age",
        "--format",
        "json",
    )
    found = {one["attack"]: one for one in json.loads(ran.out)["attacks"]}
    assert (found["linkage"]["figures"]["matched"], found["linkage_attribute"]["exposed"]) == (12, 4)
