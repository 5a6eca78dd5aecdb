"""`sqlaudit disclosure` as a stranger types it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tests.audits.disclosure.tables import rows_of
from tests.cli.runner import Ran, run, write_csv
from tests.places import REPOSITORY
from tests.postgres_load import Loader
from tests.reports.schemas import validator

ADULT = REPOSITORY.parent / "shared" / "data" / "adult.csv"
ROWS = rows_of([[2, 2, 1], [2, 1, 1, 1]])
ROLES = ("--qi", "room", "--sensitive", "disease")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "rooms.csv", "room,disease", *(f"{row['room']},{row['disease']}" for row in ROWS))


def curve(ran: Ran) -> list[tuple[int, str, str]]:
    data: dict[str, Any] = json.loads(ran.out)
    validator("disclosure").validate(data)
    return [(point["k"], point["exact"], point["negated_exact"]) for point in data["disclosure"]["curve"]]


def test_the_text_report(table: Path) -> None:
    ran = run("disclosure", table, *ROLES, "--knowledge", "0..3", "--threshold", "0.6", "--witness")
    assert (ran.code, ran.err) == (0, "")
    for said in (
        "2 pieces of knowledge can make someone's disease certain",
        "without any knowledge, a person's value can be inferred with probability 0.4 (2/5).",
        "the threshold 0.6 can be reached with 1 piece of knowledge, not with fewer.",
        "2 pieces of knowledge can make a person's value certain.",
        "1 0.6667 2/3 0.6667 1 5 (50.0%)",
        "1 5 2, 2, 1 0.6667",
        "With 1 piece of knowledge, nothing reveals more than this:",
        "Person 1 of group 1 does not have its value of rank 2.",
        "Then person 1 of group 1 has its most frequent value with probability 0.6667 (2/3).",
        "Checked: a separate count from these sentences alone also gives",
        "2, with 2 different lists of value counts",
    ):
        assert said in ran.said
    assert "disease 00" not in ran.out


def test_values_only_when_they_may_be_shown(table: Path) -> None:
    ran = run("disclosure", table, *ROLES, "--witness", "1", "--show-values", "--format", "markdown")
    assert "Person 1 of group 1 does not have 'disease 001'." in ran.out
    assert "room 0 (5 rows)" in ran.said
    assert "2 disease 000, 2 disease 001, 1 disease 002" in ran.said


def test_json_on_both_engines(table: Path, load: Loader, postgres_url: str) -> None:
    expected = [(0, "2/5", "2/5"), (1, "2/3", "2/3"), (2, "1", "1")]
    assert curve(run("disclosure", table, *ROLES, "--knowledge", "2", "--format", "json")) == expected
    load("rooms_of_the_paper", ROWS)
    there = ("--db", postgres_url, "rooms_of_the_paper", *ROLES, "--knowledge", "1-2", "--format", "json")
    assert curve(run("disclosure", *there)) == expected[1:]


def test_a_plot_is_the_same_every_time(table: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.svg" for name in "ab"]
    for file in files:
        assert run("disclosure", table, *ROLES, "--threshold", "0.7", "--plot", file).code == 0
    assert files[0].read_bytes() == files[1].read_bytes()
    drawn = "".join(ET.fromstring(files[0].read_bytes()).itertext())
    assert "What k pieces of knowledge can reveal about disease" in drawn
    assert "threshold" in drawn


def test_knowledge_from_a_file(table: Path, tmp_path: Path) -> None:
    known = tmp_path / "knowledge.yml"
    known.write_text(
        "people:\n  Charlie: {room: 0}\n  Hannah: {room: 1}\nknowledge:\n  - if: {Hannah: disease 000}\n"
        "    then: {Charlie: disease 000}\nask:\n  Charlie: disease 000\n"
    )
    ran = run("disclosure", table, *ROLES, "--given", known, "--format", "markdown")
    assert ran.code == 0
    assert "line 8 | 0.5263 | 10/19 | 0.4 |" in ran.said
    assert "probability 0.76 (19/25)" in ran.said
    assert "Charlie" not in ran.out
    shown = run("disclosure", table, *ROLES, "--given", known, "--show-values", "--format", "json")
    data = json.loads(shown.out)
    validator("what-if").validate(data)
    assert (data["answers"][0]["person"], data["answers"][0]["exact"]) == ("Charlie", "10/19")
    known.write_text(known.read_text().replace("Hannah: disease 000", "Hannah: disease 009"))
    wrong = run("disclosure", table, *ROLES, "--given", known)
    assert (wrong.code, wrong.out) == (2, "")
    assert "line 5: no row has this value of disease." in wrong.err
    known.write_text(
        "people: {a: {room: 0}}\nknowledge:\n- never: {a: disease 000}\n- then: {a: disease 000}\n"
        "ask: {a: disease 000}\n"
    )
    against = run("disclosure", table, *ROLES, "--given", known)
    assert against.code == 2
    assert "the knowledge contradicts the table" in against.err


def test_a_dry_run_measures_nothing(table: Path, tmp_path: Path) -> None:
    ran = run("disclosure", table, *ROLES, "--dry-run")
    assert "equivalence classes" in ran.out
    assert "Nothing was measured" in ran.out
    known = tmp_path / "knowledge.yml"
    known.write_text("people: {a: {room: 0}}\nask: {a: disease 000}\n")
    planned = run("disclosure", table, *ROLES, "--given", known, "--dry-run")
    assert "IS NOT DISTINCT FROM $1" in planned.out
    assert "disease 000" not in planned.out


def test_an_empty_table_is_undetermined(table: Path) -> None:
    ran = run("disclosure", table, *ROLES, "--where", "room > 5", "--plot", table.with_name("empty.svg"))
    assert ran.code == 0
    assert "undetermined, because the table has no rows" in ran.said
    assert "There is no curve to draw" in ran.err
    assert not table.with_name("empty.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--knowledge", "x"), "'x' is not a range of numbers. Write 0..12 or 12."),
        (("--knowledge", "0..201"), "within 0..200"),
        (("--knowledge", "3..2"), "They must ascend"),
        (("--threshold", "1.5"), "not a probability above 0 and at most 1"),
        (("--threshold", "nan"), "not a"),
        (("--witness", "13"), "for k = 13 is outside the curve, which ends at 12"),
        (("--witness", "many"), "Put --witness after the TARGET"),
        (("--plot", "curve.pdf"), ".svg"),
        (
            ("--given", "a.yml", "--threshold", "0.5"),
            "--given and --threshold exclude each other: leave out --threshold.",
        ),
        (("--given", "a.yml", "--weakest", "5"), "leave out --weakest."),
        (("--given", "a.yml", "--explain"), "Use --dry-run to see the statements."),
        (("--given", "a.yml"), "a.yml: cannot be read"),
        (("--nulls", "wildcard"), "is not defined with --nulls wildcard"),
    ],
)
def test_bad_requests(table: Path, arguments: tuple[str, ...], said: str) -> None:
    ran = run("disclosure", table, *ROLES, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


@pytest.mark.shared_data
@pytest.mark.skipif(not ADULT.exists(), reason="the Adult table is not beside this checkout")
def test_adult_on_both_engines(load: Loader, postgres_url: str) -> None:
    import csv

    with ADULT.open() as file:
        rows = [{"age": int(row["age"]), "occupation": row["occupation"]} for row in csv.DictReader(file)]
    load("adult_ages", rows)
    asked = ("--sensitive", "occupation", "--witness", "5", "--threshold", "0.7", "--format", "json")
    here = json.loads(run("disclosure", ADULT, "--qi", "age // 20", *asked).out)["disclosure"]
    there = json.loads(run("disclosure", "--db", postgres_url, "adult_ages", "--qi", "age / 20", *asked).out)
    assert there["disclosure"] == here
    assert [round(point["maximum"], 4) for point in here["curve"]] == [
        0.3158,
        0.4081,
        0.5019,
        0.6009,
        0.6877,
        0.7669,
        0.828,
        0.878,
        0.9132,
        0.9403,
        0.9584,
        0.9746,
        1,
    ]
    assert (here["threshold_k"], here["certain_k"], here["witness"]["checked"]) == (5, 12, True)
    assert [(item["classes"], item["rows"]) for item in here["failing"][4:8]] == [
        (0, 0),
        (1, 2052),
        (2, 2195),
        (5, 45222),
    ]


def test_one_piece_of_knowledge_is_said_as_one(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "four.csv", "zip,ill", *(f"1,{ill}" for ill in "abcd"))
    asked = ("disclosure", file, "--qi", "zip", "--sensitive", "ill", "--knowledge", "0..1")
    assert "ill: 1 piece of knowledge reaches 0.3333 (1/3); no value is certain." in run(*asked).out
    assert "ill: 1 piece of knowledge does not reach the threshold 0.9." in run(*asked, "--threshold", "0.9").out
