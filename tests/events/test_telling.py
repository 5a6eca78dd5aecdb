"""Which values tell most, and who is most at risk, against every subset of every person's events, on all engines."""

from __future__ import annotations

from collections import Counter
from datetime import date
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
from sqlaudit.events.request import PersonsRequest, read_tolerances
from sqlaudit.events.result import PersonsResult
from sqlaudit.events.run import find_persons
from sqlaudit.reports.notebook import document_of
from tests.audit_values import values_query
from tests.cli.runner import run as run_command
from tests.events import oracle
from tests.few import LEAST
from tests.strategies import run

PLACE = 'the "place" 😀'
COLUMNS = {"who": "text", PLACE: "text", "month": "int"}
rows = st.lists(
    st.tuples(
        st.sampled_from(["Ann", "Bob", "Cy", "Di", "Ed"]), st.sampled_from(["a", "B's", None]), st.integers(1, 3)
    ),
    min_size=LEAST,
    max_size=12,
)


def found_in(engine: Engine, table: list[tuple[Any, ...]], **more: Any) -> PersonsResult:
    query = values_query([dict(zip(COLUMNS, one, strict=True)) for one in table], COLUMNS)
    asked: dict[str, Any] = {"entity": "who", "qi": (PLACE, "month"), "effects": True, "records": 9} | more
    return find_persons(engine, PersonsRequest(target=Target(query=query), **asked))


def minimal(persons: oracle.Persons, most: int, k: int, multiset: bool) -> list[frozenset[oracle.Event]]:
    """Sets of at most so many events that fewer than k share, and no part of which fewer than k share."""
    sets = {
        known
        for events in persons.values()
        for size in range(1, most + 1)
        if len(events) >= size
        for known in oracle.known_sets(events, size, multiset)
    }
    too_few = {known for known in sets if oracle.support(persons, known) < k}
    return [one for one in too_few if not any(other < one for other in too_few)]


def shown(value: Any) -> str | None:
    return None if value is None else str(value)


@pytest.mark.few_on_postgres(1)
@pytest.mark.parametrize("repeats", [False, True])
def test_values_and_persons_are_those_of_all_subsets(engine: Engine, repeats: bool) -> None:
    @run(*((12, 3) if engine.dialect == "duckdb" else (3, 2)))
    @given(rows, st.integers(2, 4))
    def compare(table: list[tuple[Any, ...]], k: int) -> None:
        found = found_in(engine, table, k=k, known=3, multiset=repeats, show_values=True)
        persons = oracle.events_of(table, multiset=repeats)
        sets = minimal(persons, 3, k, repeats)
        for place, one in enumerate(found.revealing_values):
            counted = Counter(shown(event[place]) for known in sets for event in known)
            assert {top.value: top.sets for top in one.top} == dict(counted)
            assert one.values == len(counted)
            largest = sorted(counted.values(), reverse=True)
            assert one.values_for_half == next((n for n in range(4) if 2 * sum(largest[:n]) >= sum(largest)), 0)
        exposed = [who for who in persons if _fewest(persons, who, k, repeats)]
        assert sorted(one.key or "" for one in found.most_at_risk) == sorted(exposed)
        for one in found.most_at_risk:
            assert one.key is not None
            assert one.exposed == _fewest(persons, one.key, k, repeats)
            assert one.singled_out == _fewest(persons, one.key, 2, repeats)
            assert one.events == len(persons[one.key])
            if one.singled_out is not None:
                alone = [
                    known
                    for known in oracle.known_sets(persons[one.key], one.singled_out, repeats)
                    if oracle.support(persons, known) == 1
                ]
                assert one.sets == len(alone)
                told = sorted(one.revealing_events, key=repr)
                assert told in [sorted((tuple(map(shown, event[:2])) for event in known), key=repr) for known in alone]
        order = [(one.singled_out or 9, one.exposed, one.events) for one in found.most_at_risk]
        assert order == sorted(order)

    compare()


def _fewest(persons: oracle.Persons, who: str, k: int, repeats: bool) -> int | None:
    """The fewest events of a person, at most three, that fewer than k share."""
    sizes = [
        size
        for size in range(1, 4)
        for known in oracle.known_sets(persons[who], size, repeats)
        if len(known) == size and oracle.support(persons, known) < k
    ]
    return min(sizes, default=None)


def test_near_events_are_told_by_their_values() -> None:
    table = [("Ann", "a", 1), ("Bob", "a", 2), ("Cy", "a", 5), ("Cy", "a", 5)]
    with connect() as engine:
        tolerance = read_tolerances("tolerance", "month=1")
        found = found_in(engine, table, k=2, known=1, tolerance=tolerance, show_values=True)
    assert [(one.key, one.singled_out, one.revealing_events) for one in found.most_at_risk] == [
        ("Cy", 1, (("a", "5"),))
    ]
    assert [(one.column, [top.value for top in one.top]) for one in found.revealing_values] == [
        (PLACE, ["a"]),
        ("month", ["5"]),
    ]


def test_missing_values_that_match_anything_are_told_as_missing() -> None:
    table = [("Ann", None, 1), ("Bob", "a", 2)]
    with connect() as engine:
        found = found_in(engine, table, k=2, known=1, nulls=NullPolicy.WILDCARD, show_values=True)
    assert {one.key: one.revealing_events for one in found.most_at_risk} == {
        "Ann": ((None, "1"),),
        "Bob": (("a", "2"),),
    }


def test_coarser_columns_are_counted_again(engine: Engine) -> None:
    columns = {"who": "int", "day": "date", "place": "text"}
    days = [date(2024, 1, 5), date(2024, 3, 5), date(2024, 4, 5), date(2024, 4, 9)]
    table = [dict(zip(columns, (who, days[who], "abc" if who % 2 else "abd"), strict=True)) for who in range(4)]
    target = Target(query=values_query(table, columns))
    found = find_persons(
        engine, PersonsRequest(target=target, entity="who", qi=("day", "place"), k=2, effects=True, known=1)
    )
    told = {one.column: (one.exposed_persons, one.coarsening, one.coarser_exposed_persons) for one in found.effects}
    assert told == {"day": (0, "quarters of years", 4), "place": (4, "its first two characters", 4)}
    alone = find_persons(engine, PersonsRequest(target=target, entity="who", qi=("day",), k=2, effects=True, known=1))
    assert alone.effects == ()


def test_coarser_numbers_are_ten_bands() -> None:
    table = pd.DataFrame({"who": range(40), "age": [who // 2 + 20 for who in range(40)], "sex": ["f"] * 40})
    found = sqlaudit.persons(table, entity="who", qi=["age", "sex"], k=3, known=1, effects=True)
    told = {one.column: (one.coarsening, one.coarser_exposed_persons) for one in found.effects}
    assert found.at(1).exposed_persons == 40
    assert told == {"age": ("ten bands", 0), "sex": ("its first two characters", 40)}


def test_no_value_is_told_unless_it_may_be(tmp_path: Any) -> None:
    table = pd.DataFrame({"who": ["Ann", "Bob", "Cy"], "place": ["Xanten", "Yverdon", "Yverdon"]})
    table.to_csv(tmp_path / "visits.csv", index=False)
    line = ("persons", str(tmp_path / "visits.csv"), "--entity", "who", "--qi", "place", "--k", "2", "--effects")
    for form in ("text", "json", "html"):
        ran = run_command(*line, "--records", "5", "--format", form, "--show-sql")
        assert ran.code == 0
        assert not [name for name in ("Ann", "Xanten", "Yverdon") if name in ran.out + ran.err]
    ran = run_command(*line, "--records", "5", "--show-values")
    assert "Xanten" in ran.out
    assert "Ann" in ran.out
    assert "Bob" not in ran.out


def test_nobody_is_at_risk_of_nothing() -> None:
    with connect() as engine:
        for table in ([], [("Ann", "a", 1), ("Bob", "a", 1)]):
            found = found_in(engine, table, k=2, show_values=True)
            assert found.most_at_risk == ()
            assert [(one.values, one.values_for_half, one.top) for one in found.revealing_values] == [(0, 0, ())] * 2
            assert document_of(found)


def test_values_of_nothing_are_not_asked_for() -> None:
    with pytest.raises(UsageError, match="needs records= or effects="):
        PersonsRequest(target=Target("events"), entity="who", qi=("at",), show_values=True)
