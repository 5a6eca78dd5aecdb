"""How a table was read stands under every result, and in its JSON: a condition, dates, missing values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.request import ProfileRequest
from sqlaudit.profiles.run import profile_target
from tests.audit_values import values_query
from tests.cli.runner import run

KNOWN = ("--qi", "age,sex")
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("audit", *KNOWN, "--sensitive", "dx", "--require", "k=2"),
    ("audit", *KNOWN, "--sensitive", "dx", "--criteria", "internal"),
    ("profile",),
    ("columns", "--columns", "age,sex,town"),
    ("records", "--qi", "age,sex,town"),
    ("persons", "--entity", "id", "--qi", "age"),
    ("disclosure", "--qi", "sex", "--sensitive", "dx"),
    ("attack", *KNOWN, "--sensitive", "dx"),
    ("suppress", *KNOWN, "--require", "k=2"),
    ("recode", *KNOWN, "--require", "k=2"),
    ("lattice", *KNOWN, "--require", "k=2"),
    ("aggregates --from", "--by", "age,sex", "--person", "id", "--require", "threshold=2"),
    ("hierarchy", "age", "--widths", "5"),
    ("cloak", "--user", "id", "--x", "x", "--y", "y", "--time", "t", "--k", "2", "--box", "10", "--interval", "1000"),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a table of 60 people."""
    lines = [f"{n},{20 + n % 3},{'fm'[n % 2]},{'ab'[n // 30]},{'abcd'[n % 4]},{n % 5},{n % 7},{n}" for n in range(60)]
    (file := tmp_path / "people.csv").write_text("\n".join(["id,age,sex,town,dx,x,y,t", *lines]), encoding="utf-8")
    return file


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_condition_is_said_under_every_result(file: Path, command: tuple[str, ...]) -> None:
    name, *options = command
    for where in ((), ("--where", "age > 20")):
        text = run(*name.split(), file, *options, *where)
        data = json.loads(run(*name.split(), file, *options, *where, "--format", "json").out)
        assert ("Only rows that meet a condition were read." in text.said) == bool(where), text.err
        assert data["selected_rows"] is bool(where)
        assert [one["code"] for one in data["remarks"]] == ["selected_rows"] * bool(where)


def test_a_condition_is_said_of_the_cells_of_a_policy(file: Path) -> None:
    policy = file.with_name("policy.yml")
    rules = "[{aggregates: {by: [age, sex], person: id, require: threshold=2}}]"
    for where in ("", 'where: "age > 20", '):
        policy.write_text(f"tables:\n- {{file: {file.name}, {where}requirements: {rules}}}\n", encoding="utf-8")
        ran = run("test", "--file", policy)
        assert ("Only rows that meet a condition were read." in ran.said) == bool(where), ran.said + ran.err


def test_a_table_that_was_opened_before_leaves_no_remark(engine: Engine) -> None:
    query = values_query([{"a": n % 3} for n in range(9)], {"a": "int"})
    assert profile_target(engine, ProfileRequest(Target(query=query))).remarks == ()
    with connect() as duckdb:
        frame = pd.DataFrame({"a": [1, 1, 2]})
        duckdb.open(Target(frame=frame, where="a > 1"))
        assert not sqlaudit.profile(frame, db=duckdb).selected_rows
        assert sqlaudit.profile(frame, db=duckdb, where="a > 1").selected_rows


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("03/04/1965", "seen were read as day, month, year."),
        ("04/13/1965", "seen were read as month, day, year."),
        ("03/04/45", "seen were read as day, month, year of two digits. Years of two digits are 1969 to 2068."),
        ("3.4.1965", "seen were read as day, month, year."),
        ("1965-04-03", ""),
    ],
)
def test_dates_that_were_guessed_are_said(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "seen.csv"
    file.write_text("seen,dx\n" + f"{text},flu\n" * 5, encoding="utf-8")
    result = sqlaudit.audit(file, qi="seen", require="k=5")
    found = [one.message for one in result.remarks if one.code == "dates_guessed"]
    assert len(found) == bool(said)
    assert all(one.startswith(f"Dates of {said} ") and "all_text" in one and "date_order" in one for one in found)
    assert [one.code for one in sqlaudit.profile(file).remarks] == ["dates_guessed"] * bool(said)
    assert not sqlaudit.audit(file, qi="seen", read={"all_text": True}).remarks


@pytest.mark.parametrize(
    ("order", "text", "day", "century"),
    [
        ("dmy", "03/04/1965", "1965-04-03", False),
        ("mdy", "03/04/1965", "1965-03-04", False),
        ("mdy", "3.4.65", "2065-03-04", True),
        ("ymd", "65-04-03", "2065-04-03", True),
        ("dmy", "03-04-1965", "1965-04-03", False),
        ("mdy", "03/04/1965 12:30:00", "1965-03-04 12:30:00", False),
    ],
)
def test_the_order_of_dates_is_named(tmp_path: Path, order: str, text: str, day: str, century: bool) -> None:
    file = tmp_path / "seen.csv"
    file.write_text("seen,dx\n" + f"{text},flu\n" * 5, encoding="utf-8")
    with connect() as engine:
        relation = engine.open(Target(relation=str(file), read=ReadOptions(date_order=order)))
        assert str(engine.run(Statement("all", "SELECT * FROM " + relation.sql))[0][0]) == day
    assert ["two digits" in one.text for one in relation.remarks] == [True] * century


def test_dates_in_several_orders(tmp_path: Path) -> None:
    file = tmp_path / "seen.csv"
    file.write_text("a,b,c,d\n" + "03/04/1965,1965-04-03,1965-04-03 10:00:00,7\n" * 3, encoding="utf-8")
    with connect() as engine:
        relation = engine.open(Target(relation=str(file), read=ReadOptions(date_order="mdy")))
        row = engine.run(Statement("all", "SELECT * FROM " + relation.sql))[0]
        other = engine.open(Target(relation=str(file)))
    assert [str(value) for value in row] == ["1965-03-04", "1965-04-03 00:00:00", "1965-04-03 10:00:00", "7"]
    kinds = [column.kind for column in relation.columns]  # a day as a moment: as DuckDB reads two formats of dates
    assert kinds == [column.kind for column in other.columns]


@pytest.mark.parametrize("text", ["1965-04-03", "x", "13/13/1965"])
def test_an_order_that_no_date_has_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "seen.csv"
    file.write_text("seen,dx\n" + f"{text},flu\n" * 5, encoding="utf-8")
    ran = run("audit", file, "--qi", "seen", "--date-order", "mdy")
    said = f"No column of '{file}' has dates as month, day, year. Leave out --date-order."
    assert (ran.code, ran.err) == (2, f"sqlaudit: {said}\n")


@pytest.mark.parametrize("missing", [0, 1, 4])
def test_missing_sensitive_values_are_said(engine: Engine, missing: int) -> None:
    rows = [{"q": n % 2, "s": None if n < missing else "abc"[n % 3]} for n in range(12)]
    asked: dict[str, Any] = {"query": values_query(rows, {"q": "int", "s": "text"}), "db": engine, "qi": "q"}
    result = sqlaudit.audit(**asked, sensitive="s", require="l=3")
    found = [one.message for one in result.notices if one.code == "missing_sensitive_values"]
    count = "1 row" if missing == 1 else f"{missing} rows"
    start = f"s is missing in {count}, which count as one value of it."
    assert [one.startswith(start) for one in found] == [True] * bool(missing)
