"""What stays the same of persons, from another table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import NullPolicy, Target
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.events.request import PersonsRequest
from sqlaudit.events.run import find_persons, plan_persons
from sqlaudit.events.sources import source_of
from tests.audit_values import values_query
from tests.cli.runner import run as run_command
from tests.events import oracle
from tests.strategies import run

SEX = 'the "sex" 😀'
VISITS = {"who": "int", "clinic": "text", "illness": "text"}
PEOPLE = {"WHO": "int", SEX: "text", "born": "int"}


def query(rows: list[tuple[Any, ...]], columns: dict[str, str]) -> Target:
    return Target(query=values_query([dict(zip(columns, row, strict=True)) for row in rows], columns))


def asked(people: Target, **more: Any) -> PersonsRequest:
    given: dict[str, Any] = {"entity": "who", "qi": ("clinic",), "static": (SEX, "born"), "static_from": people}
    return PersonsRequest(**given | more)


def test_values_of_another_table_are_those_beside_the_events(engine: Engine) -> None:
    @run(*((15, 4) if engine.dialect == "duckdb" else (4, 3)))
    @given(
        st.lists(st.tuples(st.integers(1, 5), st.sampled_from(["a", "b", None])), min_size=1, max_size=12),
        st.lists(st.tuples(st.sampled_from(["f", "m'", None]), st.sampled_from([1, 2])), min_size=7, max_size=7),
        st.sampled_from(list(NullPolicy)[:2]),
    )
    def compare(visits: list[tuple[Any, ...]], people: list[tuple[Any, ...]], nulls: NullPolicy) -> None:
        table = [(who, clinic, "flu") for who, clinic in visits]
        known = [*((who, *one) for who, one in enumerate(people)), (1, *people[1]), (None, "f", 1), (None, "m'", 1)]
        request = asked(
            query(known, PEOPLE), target=query(table, VISITS), k=2, known=3, nulls=nulls, sensitive=("illness",)
        )
        found = find_persons(engine, request)
        joined = [(who, *people[who], clinic) for who, clinic in visits]
        persons = oracle.events_of(joined, nulls.value, static=2)
        for one in found.curve:
            assert one.smallest == oracle.smallest(persons, one.known)
            assert one.exposed_persons == oracle.exposed(persons, one.known, 2)
        everybody = {who for who, _ in visits}
        assert found.static_k == min(sum(people[a] == people[b] for b in everybody) for a in everybody)
        assert (found.rows, found.static, found.static_from) == (len(visits), (SEX, "born"), "query")
        assert found.coherence[0].curve[0].share == 1

    compare()


@pytest.mark.parametrize(
    ("people", "said"),
    [
        ([(1, "f", 1)], "query has no row for 1 person with events in query, by 'who'"),
        ([(1, "f", 1), (2, "f", 1), (2, None, 1)], "query has several rows for 1 person, which differ in"),
        ([], "no row for 2 people"),
    ],
)
def test_persons_who_are_missing_or_told_twice_are_refused(engine: Engine, people: Any, said: str) -> None:
    visits = query([(1, "a", "flu"), (2, "a", "flu"), (2, "b", None)], VISITS)
    with pytest.raises(UsageError, match=said) as refused:
        find_persons(engine, asked(query(people, PEOPLE), target=visits))
    assert "'f'" not in str(refused.value)


def test_persons_named_in_two_types_are_not_joined(engine: Engine) -> None:
    visits, people = query([(1, "a", "flu")], VISITS), query([("1", "f", 1)], PEOPLE | {"WHO": "text"})
    with pytest.raises(UsageError, match=r"'who' is integer in query and text in query.* Give both the same type"):
        find_persons(engine, asked(people, target=visits))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"static": ()}, "Name them with static="),
        ({"static": ("sexx",)}, "no column 'sexx'"),
        ({"static": ("WHO",)}, "identifies the person"),
        ({"entity": "clinic", "qi": ("illness",)}, "no column 'clinic'"),
    ],
)
def test_what_makes_no_sense_is_refused(more: dict[str, Any], said: str) -> None:
    people = query([(1, "f", 1)], PEOPLE)
    with connect() as engine, pytest.raises(UsageError, match=said):
        find_persons(engine, asked(people, target=query([(1, "a", "flu")], VISITS), **more))


def test_rows_without_a_person_are_still_refused() -> None:
    with connect() as engine, pytest.raises(UsageError, match="missing in 1 of 2 rows"):
        find_persons(
            engine, asked(query([(1, "f", 1)], PEOPLE), target=query([(1, "a", "x"), (None, "a", "x")], VISITS))
        )


def test_the_command_joins_two_files(tmp_path: Path) -> None:
    pd.DataFrame({"who": [1, 1, 2, 3], "clinic": list("abaa")}).to_csv(tmp_path / "visits.csv", index=False)
    pd.DataFrame({"who": [1, 2, 3, 4], "sex": list("ffmm")}).to_csv(tmp_path / "people.csv", index=False)
    visits, people = str(tmp_path / "visits.csv"), str(tmp_path / "people.csv")
    line = ("persons", visits, "--entity", "who", "--qi", "clinic", "--static", "sex", "--static-from", people)
    ran = run_command(*line, "--k", "2", "--format", "json")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert told["static_from"] == people
    assert [one["exposed_persons"] for one in told["persons"]["curve"]] == [2, 2]
    with connect(None, None, Target(relation=visits), Target(relation=people)) as engine:
        request = PersonsRequest(
            target=Target(relation=visits),
            entity="who",
            qi=("clinic",),
            static=("sex",),
            static_from=Target(relation=people),
        )
        assert source_of(engine, request, check=False).relation.tables == (visits, people)
        assert len(plan_persons(engine, request)) == 1
    planned = run_command(*line, "--dry-run")
    assert planned.code == 0
    assert "people.csv" in planned.out


def test_python_takes_two_frames() -> None:
    visits = pd.DataFrame({"who": [1, 1, 2, 3], "clinic": list("abaa")})
    people = pd.DataFrame({"who": [1, 2, 3], "sex": list("ffm")})
    found = sqlaudit.persons(visits, entity="who", qi=["clinic"], static=["sex"], static_from=people, k=2)
    assert (found.static_k, found.at(1).exposed_persons, found.static_from) == (1, 2, "frame")
