"""Events known in their order, against every choice of every person's events, on all engines."""

from __future__ import annotations

import math
from collections import Counter
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
from sqlaudit.events.result import PersonsResult
from sqlaudit.events.run import find_persons
from tests.audit_values import values_query
from tests.cli.runner import run as cli
from tests.events import oracle
from tests.few import LEAST
from tests.strategies import run

WHEN = 'the "day" 😀'
COLUMNS = {"person": "int", WHEN: "int", "clinic": "text", "illness": "text"}
rows = st.lists(
    st.tuples(st.integers(1, 5), st.integers(1, 4), st.sampled_from(["a", "b", "it's", None]), st.sampled_from("xy")),
    min_size=LEAST,
    max_size=13,
)


def found_in(engine: Engine, table: list[tuple[Any, ...]], **more: Any) -> PersonsResult:
    query = values_query([dict(zip(COLUMNS, one, strict=True)) for one in table], COLUMNS)
    asked: dict[str, Any] = {"entity": "person", "qi": ("clinic",), "sequence": WHEN} | more
    return find_persons(engine, PersonsRequest(target=Target(query=query), **asked))


def check(found: PersonsResult, table: list[tuple[Any, ...]]) -> None:
    persons = oracle.dated_events_of([row[:3] for row in table], found.nulls)
    assert found.pairs == sum(map(len, persons.values()))
    for one in found.curve:
        m = one.known
        assert one.exact
        assert one.smallest == oracle.smallest_pattern(persons, m), m
        assert one.exposed_persons == len(oracle.patterns_below(persons, m, found.k)), m
        assert one.unique_persons == len(oracle.patterns_below(persons, m, 2)), m
        assert one.minimal_sets == oracle.minimal_patterns(persons, m, found.k), m
    classes = Counter(oracle.in_order(events) for events in persons.values())
    assert found.profile.sizes == Counter(classes.values())
    for drawn in found.random:
        assert math.isclose(drawn.unique_share, oracle.pattern_unicity(persons, drawn.known), abs_tol=1e-12)
    held = oracle.held_by(table)
    for told in found.coherence[0].curve if found.coherence else ():
        share, whom = oracle.patterns_learnt(persons, held, told.known, found.h)
        assert (told.share, told.disclosed_persons) == (share, len(whom)), told.known


@pytest.mark.parametrize("nulls", ["equal", "distinct"])
def test_every_figure_is_what_all_sequences_say(engine: Engine, nulls: str) -> None:
    @run(*((25, 4) if engine.dialect == "duckdb" else (4, 2)))
    @given(rows, st.integers(2, 5))
    def compare(table: list[tuple[Any, ...]], k: int) -> None:
        more: dict[str, Any] = {"sensitive": ("illness",)} if nulls == "equal" else {}
        check(found_in(engine, table, k=k, known=4, random=3, nulls=NullPolicy(nulls), **more), table)

    compare()


def test_parts_say_the_same_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlaudit.events.occurrences.PART", 3)

    @run(15, some=3)
    @given(rows, st.integers(2, 6))
    def compare(table: list[tuple[Any, ...]], k: int) -> None:
        with connect() as engine:
            check(found_in(engine, table, k=k, known=3, random=3, sensitive=("illness",)), table)

    compare()


def test_an_order_tells_no_less_than_none_and_nothing_where_all_happens_at_once() -> None:
    @run(20, some=3)
    @given(rows)
    def compare(table: list[tuple[Any, ...]]) -> None:
        with connect() as engine:
            ordered, free = found_in(engine, table, known=3), found_in(engine, table, known=3, sequence="")
            for one, other in zip(ordered.curve, free.curve, strict=True):
                assert one.smallest <= other.smallest
                assert one.exposed_persons >= other.exposed_persons
            at_once = [(row[0], 7, *row[2:]) for row in table]
            assert found_in(engine, at_once, known=3).curve == free.curve
            assert found_in(engine, at_once, known=3).profile == free.profile

    compare()


def test_drawing_everybody_with_all_their_events_is_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlaudit.events.unicity.COUNTED", 0)

    @run(15, some=3)
    @given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 3), st.sampled_from("ab")), min_size=1, max_size=10))
    def compare(table: list[tuple[Any, ...]]) -> None:
        persons = oracle.dated_events_of(table)
        most = max(map(len, persons.values()))
        if most > 6:
            return
        with connect() as engine:
            found = found_in(engine, [(*row, "x") for row in table], known=1, random=most)
        assert found.random[-1].sampled
        whole = oracle.pattern_unicity(persons, most)
        assert math.isclose(found.random[-1].unique_share, whole, abs_tol=1e-12)

    compare()


ROUNDS = pd.DataFrame(
    {"who": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5], "day": [1, 2, 1, 9, 2, 1, 4, 4, 1, 2, 3], "place": list("ababababaab")}
)
"""Two went from a to b, one from b to a, one was at both at once, one twice at a and then at b."""


def test_what_an_order_is() -> None:
    found = sqlaudit.persons(ROUNDS, entity="who", qi=["place"], k=2, known=2, sequence="day", random=2)
    assert [(one.smallest, one.exposed_persons, one.unique_persons) for one in found.curve] == [(5, 0, 0), (1, 3, 3)]
    assert found.curve[1].minimal_sets == 3  # b and then a; both at once; a and again a
    assert found.random[1].unique_share == pytest.approx((0 + 0 + 1 + 1 + 1 / 3) / 5)
    assert found.profile.sizes == {2: 1, 1: 3}
    document = found.to_dict()
    assert (document["sequence"], document["persons"]["occurrences"]) == ("day", 11)


def test_the_persons_at_risk_are_told_with_the_sequences_that_single_them_out() -> None:
    asked: dict[str, Any] = {"entity": "who", "qi": ["place"], "k": 2, "sequence": "day", "effects": True}
    found = sqlaudit.persons(ROUNDS, **asked, records=5, show_values=True)
    assert [(one.key, one.singled_out, one.sets, one.revealing_events) for one in found.most_at_risk] == [
        ("3", 2, 1, (("b",), ("a",))),
        ("4", 2, 1, (("a",), ("b",))),
        ("5", 2, 1, (("a",), ("a",))),
    ]
    assert [(one.value, one.sets) for one in found.revealing_values[0].top] == [("a", 4), ("b", 2)]


def test_times_of_dates_moments_and_another_table(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("who,sex\n1,f\n2,f\n3,f\n4,f\n5,m\n")
    moments = pd.to_datetime("2024-01-31") + pd.to_timedelta(ROUNDS["day"], unit="h")
    table = ROUNDS.assign(day=moments)
    asked: dict[str, Any] = {"entity": "who", "qi": ["place"], "k": 2, "sequence": "day"}
    found = sqlaudit.persons(table, **asked, static=["sex"], static_from=str(tmp_path / "people.csv"))
    assert [(one.smallest, one.unique_persons) for one in found.curve] == [(1, 1), (1, 3)]
    assert sqlaudit.persons(table, **asked).curve == sqlaudit.persons(ROUNDS, **asked).curve


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"multiset": True}, "cannot be combined with multiset="),
        ({"tolerance": {"day": "7"}, "qi": ["day"]}, "tolerance"),
        ({"nulls": "wildcard"}, "match anything"),
        ({"rho": True, "sensitive": ["place"]}, "rho"),
        ({"sequence": "dya"}, "no column 'dya'"),
        ({"sequence": "place", "qi": ["day"]}, "'place' is text"),
        ({"sequence": "day + 1"}, "'day . 1' is an expression"),
    ],
)
def test_what_makes_no_sense_is_refused(more: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        sqlaudit.persons(ROUNDS, **{"entity": "who", "qi": ["place"], "sequence": "day"} | more)


def test_a_missing_time_is_refused_with_the_number_of_rows(engine: Engine) -> None:
    table = [(1, None, "a", "x"), (1, 2, "b", "x"), (2, None, "a", "x")]
    with pytest.raises(UsageError, match="is missing in 2 of 3 rows, so that their order is unknown"):
        found_in(engine, table)


def test_the_command_says_in_which_order(tmp_path: Path) -> None:
    ROUNDS.to_csv(tmp_path / "rounds.csv", index=False)
    asked = ("--entity", "who", "--qi", "place", "--k", "2", "--sequence", "day")
    ran = cli("persons", str(tmp_path / "rounds.csv"), *asked)
    assert ran.code == 0
    said = " ".join(ran.out.split())
    assert "2 known events of a person, in the order of day, can single out 3 of 5 people (60.0%)" in said
    assert "People with the same events in the same order form 4 groups" in said
