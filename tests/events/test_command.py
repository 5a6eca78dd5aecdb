"""`sqlaudit persons` as it is typed, and its JSON, its page and its refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.engines import connect
from sqlaudit.reports.document import Toned
from sqlaudit.reports.notebook import document_of
from tests.cli.runner import run
from tests.reports.schemas import schema, validator

VISITS = pd.DataFrame({"who": [1, 1, 2, 2, 3, 3, 4, 4], 'the "place" 😀': list("abacbcab"), "sex": list("ffffmmmm")})
PLACE = 'the "place" 😀'


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    VISITS.to_csv(path, index=False)
    return path


def asked(visits: Path, *more: Any) -> tuple[str, ...]:
    return ("persons", str(visits), "--entity", "who", "--qi", '"the ""place"" 😀"', *map(str, more))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"known": 3, "k": 2, "random": 3, "effects": True, "static": ["sex"]},
        {"multiset": True, "nulls": "distinct"},
        {"time_budget": 0.0, "known": 4},
    ],
    ids=str,
)
def test_the_json_follows_its_schema(options: dict[str, Any]) -> None:
    data = sqlaudit.persons(VISITS, entity="who", qi=[PLACE], **options).to_dict()
    assert data["schema"] == "sqlaudit-persons/1" == schema("persons")["title"]
    validator("persons").validate(json.loads(json.dumps(data)))


def test_the_command_tells_what_python_tells(visits: Path) -> None:
    ran = run(*asked(visits, "--known", "1..2", "--k", 3, "--random", 2, "--format", "json"))
    assert ran.code == 0
    told = json.loads(ran.out)["persons"]
    found = sqlaudit.persons(VISITS, entity="who", qi=[PLACE], k=3, random=2).to_dict()["persons"]
    assert told == found
    assert told["curve"] == [
        {"known": 1, "smallest": 2, "exposed_persons": 2, "unique_persons": 0, "minimal_sets": 1, "exact": True},
        {"known": 2, "smallest": 1, "exposed_persons": 4, "unique_persons": 2, "minimal_sets": 1, "exact": True},
    ]
    assert told["profile"] == {"k": 1, "unique_persons": 2, "exposed_persons": 4, "classes": 3}
    assert [one["unique_share"] for one in told["random"]] == [0.0, 0.5]


def test_no_value_leaves_the_database(visits: Path) -> None:
    ran = run(*asked(visits, "--known", 3, "--random", 3, "--effects", "--static", "sex", "--show-sql"))
    assert ran.code == 0
    assert "'a'" not in ran.err
    assert "'f'" not in ran.err
    with connect() as engine:
        sqlaudit.persons(VISITS, entity="who", qi=[PLACE], random=2, db=engine)
        assert not [done for done in engine.executed if "'a'" in done.sql]


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_every_layout_says_whom_known_events_find(visits: Path, form: str) -> None:
    ran = run(*asked(visits, "--known", 2, "--k", 2, "--format", form))
    assert ran.code == 0
    assert "2 known events can single out 2 of 4 people (50.0%)." in " ".join(ran.out.split())


def test_when_time_is_up_the_exit_code_says_so(visits: Path) -> None:
    ran = run(*asked(visits, "--known", 3, "--time-budget", "0.000001s"))
    assert ran.code == 4
    assert "Time limit reached while counting sets of 2 events" in " ".join(ran.out.split())


def test_a_count_of_minutes_says_so_before(visits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not run(*asked(visits, "--known", 2)).err
    monkeypatch.setattr("sqlaudit.events.occurrences.LONG", 3)
    announced = run(*asked(visits, "--known", 2)).err
    assert "People have 4 sets of 2 events" in announced
    assert "Use a smaller --known, or --time-budget" in announced
    assert not run(*asked(visits, "--known", 2, "--time-budget", "60s")).err
    assert not run(*asked(visits, "--known", 2, "--quiet")).err


def test_the_statement_that_reads_the_table_is_shown(visits: Path) -> None:
    ran = run(*asked(visits, "--dry-run"))
    assert ran.code == 0
    assert "events_codes" in ran.out
    assert "Nothing was measured" in ran.out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--known", "2..3"), "--known takes a number of events, 3 or 1..3"),
        (("--known", "9"), "--known must be at least 1 and at most 6"),
        (("--known", "9" * 5000), "--known takes a number of events, 3 or 1..3"),
        (("--k", "1"), "--k must be at least 2, not 1"),
        (("--multiset", "--random", "2"), "--multiset and --random cannot be combined"),
        (("--static", "sexx"), "no column 'sexx'"),
        (("--static", "who"), "identifies the person"),
        (("--plot", "curve.pdf"), ".svg"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(visits: Path, more: tuple[str, ...], said: str) -> None:
    ran = run(*asked(visits, *more))
    assert ran.code == 2
    assert not ran.out
    assert said in " ".join(ran.err.split())


def test_rows_without_a_person_are_refused() -> None:
    table = VISITS.assign(who=pd.array([1, None, 2, 2, 3, 3, 4, 4], dtype="Int64"))
    with pytest.raises(sqlaudit.SqlauditError, match="missing in 1 of 8 rows"):
        sqlaudit.persons(table, entity="who", qi=[PLACE])


def test_persons_without_events_to_expose_them_are_safe() -> None:
    table = pd.DataFrame({"who": range(5), "place": ["a"] * 5})
    found = sqlaudit.persons(table, entity="who", qi=["place"], known=3)
    assert [(one.smallest, one.exposed_persons) for one in found.curve] == [(5, 0)] * 3
    assert "are always shared by at least 5 people" in str(document_of(found).headline)


def test_a_search_that_ended_early_is_no_good_news() -> None:
    table = pd.DataFrame({"who": [who for who in range(5) for _ in "ab"], "place": list("ab") * 5})
    found = sqlaudit.persons(table, entity="who", qi=["place"], known=3, time_budget=0.0)
    headline = document_of(found).headline
    assert isinstance(headline, Toned)
    assert (headline.tone, headline.text) == (
        "warn",
        "frame: 1 known event of a person is always shared by at least 5 people; larger numbers were not decided",
    )


def test_the_report_is_told_before_a_curve_that_cannot_be_drawn(visits: Path, tmp_path: Path) -> None:
    ran = run(*asked(visits, "--known", 1, "--plot", tmp_path / "curve.svg"))
    assert ran.code == 2
    assert "of a person" in ran.out
    assert "There is no curve to draw" in ran.err
    assert not (tmp_path / "curve.svg").exists()
