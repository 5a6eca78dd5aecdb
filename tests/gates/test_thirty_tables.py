"""`init` over a warehouse: what is about people is tested, and nothing about things is red."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pandas as pd
import pytest

import sqlaudit
from sqlaudit.gates.reading import load_policy
from sqlaudit.profiles.names import reason_for_things
from tests.cli.runner import run
from tests.gates.thirty_tables import COUNTS, EMPTY, PEOPLE, THINGS, make_warehouse

DAYS = pd.to_datetime("2022-01-01") + pd.to_timedelta(range(60), unit="D")


def test_a_warehouse_of_thirty_tables_has_no_false_alarm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_warehouse(tmp_path / "warehouse.duckdb")
    assert len(PEOPLE | COUNTS | EMPTY | THINGS) == 30
    ran = run("init", "--db", "warehouse.duckdb")
    # departments have no column that others know, which is a comment of its own
    said = "wrote 'sqlaudit.yml' with 30 tables, 19 of them as comments, because they seem not to be about people"
    assert "no requirements yet for departments: no column is one that others are likely to know. If" in ran.err
    assert f"{said} (currencies, days, dim_country, dim_date, " in ran.err
    policy = load_policy("sqlaudit.yml")
    assert {table.name for table in policy.tables} == {*PEOPLE, *COUNTS, *EMPTY}
    found = sqlaudit.gate("sqlaudit.yml").tests
    red = {(one.table, one.requirement) for one in found if one.outcome.value not in ("pass", "warn")}
    assert red == {
        ("patients", "no direct identifier patient_id"),
        ("admissions", "no direct identifier admission_id"),
        ("claims", "no direct identifier claim_id"),
        ("claims", "k=5"),
        ("claims", "km@2=5"),
        ("employees", "no direct identifier employee_id"),
        ("survey", "k=5"),
    }
    entities = {table.name: table.roles.entity for table in policy.tables if table.roles.entity}
    assert entities == {"admissions": "patient_id", "claims": "member_id"}
    assert {one.name: one.roles.quasi_identifiers for one in policy.tables}["admissions"] == ("admission_date",)
    text = (tmp_path / "sqlaudit.yml").read_text(encoding="utf-8")
    assert "entity: patient_id # 2.0 rows per value; every value is in patient_id of patients" in text
    assert "entity: member_id # 5.0 rows per value; its name suggests that it identifies people" in text
    for said in ("a calendar", "its name suggests migrations", "measurements: one row per date and city"):
        assert f"  # # it does not seem to be about people ({said}); if it is, remove the #" in text


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("discharges", {"zip": [i % 9 for i in range(60)], "admission_date": DAYS, "illness": ["a", "b"] * 30}),
        ("homes", {"lat": [i / 7 for i in range(60)], "lon": [i / 3 for i in range(60)]}),
        ("labs", {"cholesterol": range(60), "blood_pressure": range(60)}),
        ("notes", {"diagnosis": [f"note {i}" for i in range(60)], "therapy": [f"try {i}" for i in range(60)]}),
        ("answers", {"marital_status": ["a", "b", "c"], "score": [1, 2, 3]}),
        ("meters", {"meter": [0, 1] * 30, "date": DAYS.repeat(2)[:60], "kwh": range(60)}),
        ("store_visits", {"date": DAYS.repeat(2)[:60], "zip": [0, 1] * 30, "amount": range(60)}),
        ("dim_patient", {"zip": range(60), "city": [f"town {i}" for i in range(60)]}),
        ("dim_people", {"zip": range(60), "age": range(60)}),
        ("few", {"city": ["a", "b", "c"], "hospital": ["x", "y", "z"]}),
        ("codes", {"zip": range(60), "mail": [f"me{i}@example.org" for i in range(60)]}),
    ],
)
def test_what_may_be_about_people_is_no_table_of_things(name: str, columns: dict[str, object]) -> None:
    assert reason_for_things(name, sqlaudit.profile(pd.DataFrame(columns), sets=False).columns) == ""


def test_missing_tables_are_said_before_anything_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("small.duckdb") as db:
        db.execute("CREATE TABLE people AS SELECT 30 AS age FROM range(9)")
    ran = run("init", "--db", "small.duckdb", "peeple", "people", "gone", "-o", "-")
    assert (ran.code, ran.out) == (2, "")
    for name in ("peeple", "gone"):
        assert f"There is no table or view '{name}' in 'small.duckdb'." in ran.err
    entries = "\n".join(
        f"  - {{table: {name}, quasi_identifiers: [age], requirements: [k: 5]}}"
        for name in ("people", "peeple", "gone")
    )
    Path("sqlaudit.yml").write_text(
        f"version: 1\nconnections:\n  main: {{duckdb: small.duckdb}}\ntables:\n{entries}\n", encoding="utf-8"
    )
    tested = run("test")
    assert tested.err.splitlines() == [
        "sqlaudit: 2 of 3 tables cannot be read. Their tests will be errors: peeple, gone."
    ]
    assert tested.code == 2
    assert [one.outcome.value for one in sqlaudit.gate("sqlaudit.yml").tests] == ["pass", "error", "error"]
