"""`persons` of a policy: tables of persons, said once for every table that has their column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sqlaudit
from sqlaudit.base.errors import ExitCode
from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.result import GateResult, GateTest
from sqlaudit.gates.run import mistakes_of
from tests.audits.unwarned import unwarned  # noqa: F401
from tests.gates.conftest import Make
from tests.gates.databases import write

PEOPLE = [{"who": who, "Sex": "fm"[who % 2], "born": 1950 + who // 4} for who in range(8)]
VISITS = [{"WHO": who, "clinic": "abc"[place], "cost": who} for who in range(8) for place in (0, 1 + who // 4)]
LAB = [{"who": who, "test": "x"} for who in range(8)]
POLICY = """
persons:
  - {table: "{schema}.people", entity: who, static: [sex]}
tables:
  - {table: "{schema}.visits", name: visits, quasi_identifiers: [clinic], requirements: [k=3, km@2=3, profile_k=2]}
  - {table: "{schema}.lab", name: lab, quasi_identifiers: [test], requirements: [k=4, km@2=9]}
  - {table: "{schema}.people", name: people, quasi_identifiers: [born], requirements: [k=4]}
"""
TABLES = {"people": PEOPLE, "visits": VISITS, "lab": LAB}


def of(result: GateResult, table: str, requirement: str) -> GateTest:
    return next(test for test in result.tests if (test.table, test.requirement) == (table, requirement))


def level(test: GateTest) -> Any:
    return test.check.level if test.check else None


def test_every_table_with_the_column_is_judged_by_persons_with_what_is_known_of_them(database: Make) -> None:
    """By place and sex two persons each have both visits, by place alone four."""
    made = database(TABLES)
    path = made.policy(POLICY)
    result = sqlaudit.gate(path)
    found = {(test.table, test.requirement): (level(test), test.outcome.value) for test in result.tests}
    assert found == {
        ("visits", "k=3"): (2, "fail"),
        ("visits", "km@2=3"): (2, "fail"),
        ("visits", "profile_k=2"): (2, "pass"),
        ("lab", "k=4"): (4, "pass"),
        ("lab", "km@2=9"): (4, "fail"),
        ("people", "k=4"): (4, "pass"),
    }


@pytest.mark.parametrize(
    ("people", "said"),
    [
        (PEOPLE[1:], "has no row for 1 person with events in"),
        ([*PEOPLE, {"who": 0, "Sex": "m", "born": 1}], "has several rows for 1 person, which differ in 'Sex'"),
        ([{"who": str(row["who"]), "Sex": row["Sex"], "born": 1} for row in PEOPLE], "cannot be joined by entity"),
        ([{"whom": row["who"], "Sex": row["Sex"]} for row in PEOPLE], "has no column 'who'"),
        ([{"who": row["who"], "sexx": row["Sex"]} for row in PEOPLE], "has no column 'sex'"),
    ],
)
def test_persons_that_do_not_fit_fail_the_tables_and_pass_none(
    people: list[dict[str, Any]], said: str, database: Make
) -> None:
    made = database({**TABLES, "people": people})
    result = sqlaudit.gate(made.policy(POLICY.partition('  - {table: "{schema}.people", name')[0]))
    visits = [test for test in result.tests if test.table == "visits"]
    assert {test.outcome.value for test in visits} == {"error"}
    assert all(said in test.message for test in visits)
    assert ExitCode.USAGE in result.exit_codes


def test_rows_without_a_person_are_not_joined_away(database: Make) -> None:
    made = database({**TABLES, "visits": [*VISITS, {"WHO": None, "clinic": "a", "cost": 1}]})
    result = sqlaudit.gate(made.policy(POLICY))
    assert {of(result, "visits", text).outcome.value for text in ("k=3", "km@2=3")} == {"error"}
    assert "no value in the entity column" in of(result, "visits", "km@2=3").message


def test_a_table_may_be_kept_apart_or_have_another_column(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("who,sex\n1,f\n2,m\n")
    (tmp_path / "visits.csv").write_text("who,car,place\n1,1,a\n1,2,b\n2,3,a\n2,4,b\n")
    head = "persons: [{file: people.csv, entity: who, static: sex}]\ntables:\n"
    table = "  - {file: visits.csv, name: %s, quasi_identifiers: place, requirements: [k=2]%s}\n"
    rows = [("joined", ""), ("apart", ", persons: false"), ("cars", ", entity: car"), ("sensitive", ", sensitive: sex")]
    written = write(tmp_path, head + "".join(table % one for one in rows))
    result = sqlaudit.gate(written)
    assert [(test.table, level(test)) for test in result.tests] == [
        ("joined", 1),
        ("apart", 2),
        ("cars", 2),
        ("sensitive", 2),
    ]


@pytest.mark.parametrize(
    ("persons", "said"),
    [
        ("{file: people.csv}", "a table of persons needs 'entity'"),
        ("{file: people.csv, entity: }", "entity is a text."),
        ("{file: people.csv, entity: ' '}", "entity is empty."),
        ("{entity: who}", "this table has no connection"),
        ("{file: people.csv, entity: who, statics: sex}", "Did you mean 'static'?"),
        ("{file: a.csv, entity: who}, {file: b.csv, entity: Who}", "two tables of 'persons' have the entity 'Who'"),
    ],
)
def test_mistakes_are_told_with_their_line_and_nothing_passes(persons: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("who,place\n1,a\n2,a\n")
    text = f"persons: [{persons}]\ntables:\n  - {{file: visits.csv, quasi_identifiers: place, requirements: [k=2]}}\n"
    path = write(tmp_path, text)
    found = mistakes_of(load_policy(path))
    assert [(one.place.line, said in one.message) for one in found][:1] == [(1, True)]
    assert ExitCode.USAGE in sqlaudit.gate(path).exit_codes


def test_persons_of_no_table_are_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("who,sex\n1,f\n2,m\n")
    (tmp_path / "visits.csv").write_text("WHO,place\n1,a\n2,a\n")
    head = "persons: [{file: people.csv, entity: %s}]\n"
    table = "tables:\n  - {file: visits.csv, name: visits, quasi_identifiers: place, requirements: [k=2]}\n"
    found = sqlaudit.gate(write(tmp_path, head % "sex" + table))
    (mistake,) = found.mistakes
    assert (mistake.place.line, ExitCode.USAGE in found.exit_codes) == (1, True)
    assert mistake.message.startswith("no table has the column 'sex' of")
    assert not sqlaudit.gate(write(tmp_path, head % "who" + table)).mistakes
