"""What known events tell, against every subset of every person's events, on all engines."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.errors import BudgetSpent, UsageError
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Limits, NullPolicy, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.events import unicity
from sqlaudit.events.occurrences import Occurrences
from sqlaudit.events.request import PersonsRequest
from sqlaudit.events.result import PersonsResult
from sqlaudit.events.run import find_persons
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import render_text
from tests.audit_values import values_query
from tests.events import oracle
from tests.few import LEAST
from tests.strategies import run

MONTH = st.sampled_from(["may", "May", "june", None])
rows = st.lists(st.tuples(st.integers(1, 7), MONTH, st.sampled_from([1, 2])), min_size=LEAST, max_size=14)
COLUMNS = {"person": "int", 'the "month"': "text", "clinic": "int"}
EVENT = ['"the ""month"""', "clinic"]


def asked(**more: Any) -> PersonsRequest:
    return PersonsRequest(**{"target": Target("events"), "entity": "who", "qi": ("at",)} | more)


def found_in(engine: Engine, table: list[tuple[Any, ...]], request: PersonsRequest, static: int = 0) -> PersonsResult:
    names = list(COLUMNS)
    query = values_query([dict(zip(names, one, strict=True)) for one in table], COLUMNS)
    fixed, varying = names[1 : 1 + static], names[1 + static :]
    target = Target(query=query)
    return find_persons(
        engine, replace(request, target=target, entity="person", qi=tuple(varying), static=tuple(fixed))
    )


def check(found: PersonsResult, persons: dict[Any, tuple[Any, ...]], request: PersonsRequest) -> None:
    assert found.persons == len(persons)
    assert found.pairs == sum(map(len, persons.values()))
    for one in found.curve:
        m, repeats = one.known, request.multiset
        assert one.exact
        assert one.smallest == oracle.smallest(persons, m, repeats), m
        assert one.exposed_persons == oracle.exposed(persons, m, request.k, repeats), m
        assert one.unique_persons == oracle.exposed(persons, m, 2, repeats), m
        assert one.minimal_sets == oracle.minimal_sets(persons, m, request.k, repeats), m
    assert (found.profile.k, found.profile.unique_persons, found.profile.classes) == oracle.profile(persons)
    for drawn in found.random:
        assert not drawn.sampled
        assert math.isclose(drawn.unique_share, oracle.unicity(persons, drawn.known), abs_tol=1e-12), drawn.known


@pytest.mark.few_on_postgres(1)
@pytest.mark.parametrize("nulls", ["equal", "distinct"])
@pytest.mark.parametrize("repeats", [False, True])
def test_every_figure_is_what_all_subsets_say(engine: Engine, nulls: str, repeats: bool) -> None:
    @run(*((25, 4) if engine.dialect == "duckdb" else (5, 3)))
    @given(rows, st.integers(2, 6))
    def compare(table: list[tuple[Any, ...]], k: int) -> None:
        random = 0 if repeats else 3
        request = asked(known=4, k=k, multiset=repeats, nulls=NullPolicy(nulls), random=random)
        check(found_in(engine, table, request), oracle.events_of(table, nulls, repeats), request)

    compare()


@pytest.mark.few_on_postgres(0)
@pytest.mark.parametrize("repeats", [False, True])
def test_parts_of_the_events_say_the_same_together(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, repeats: bool
) -> None:
    monkeypatch.setattr("sqlaudit.events.occurrences.PART", 3)

    @run(15, some=3)
    @given(rows, st.integers(2, 6))
    def compare(table: list[tuple[Any, ...]], k: int) -> None:
        request = asked(known=3, k=k, multiset=repeats, random=0 if repeats else 3)
        check(found_in(engine, table, request), oracle.events_of(table, "equal", repeats), request)

    compare()


def test_static_attributes_are_known_beside_each_event(engine: Engine) -> None:
    months = {1: "may", 2: "may", 3: "june", 4: "june", 5: None}

    @run(*((12, 3) if engine.dialect == "duckdb" else (3, 2)))
    @given(st.lists(st.tuples(st.integers(1, 5), st.sampled_from([1, 2, 3])), min_size=LEAST, max_size=14))
    def compare(visits: list[tuple[int, int]]) -> None:
        table = [(person, months[person], clinic) for person, clinic in visits]
        request = asked(known=3, k=2, random=2)
        found = found_in(engine, table, request, static=1)
        check(found, oracle.events_of(table, static=1), request)
        persons = {person for person, _ in visits}
        assert found.static_k == min(sum(months[a] == months[b] for b in persons) for a in persons)

    compare()


@pytest.mark.few_on_postgres(0)
@pytest.mark.parametrize("repeats", [False, True])
def test_those_who_alone_share_two_events_are_found_however_many_they_are(engine: Engine, repeats: bool) -> None:
    """Up to four persons of a set are told by sums, more are looked up; random tables seldom have so many."""
    for number in range(1, 6):
        both = [3, 8, 9, 20, 21][:number]
        table = [(who, "may", 1) for who in (*both, *range(30, 36))] + [
            (who, "may", 2) for who in (*both, *range(40, 46))
        ]
        request = asked(known=2, k=6, multiset=repeats, random=0)
        found = found_in(engine, table, request)
        check(found, oracle.events_of(table, "equal", repeats), request)
        assert (found.at(1).exposed_persons, found.at(2).exposed_persons) == (0, number)


def test_a_static_value_that_changes_is_refused(engine: Engine) -> None:
    table = [(1, "may", 1), (1, "june", 2), (2, "may", 1), (3, None, 1), (3, "may", 1)]
    with pytest.raises(UsageError, match='2 people have several values in static column \'"the ""month"""\''):
        found_in(engine, table, asked(), static=1)


def test_the_persons_of_2008() -> None:
    """Any two purchases are shared by two people, three are not: Terrovitis and others, section 3, in small."""
    baskets = {1: "ab", 2: "abc", 3: "bc", 4: "ac"}
    table = pd.DataFrame([(who, item) for who, items in baskets.items() for item in items], columns=["who", "item"])
    with connect() as engine:
        request = asked(target=Target(frame=table), qi=("item",), known=3, k=2, random=3)
        found = find_persons(engine, request)
    assert [(one.smallest, one.exposed_persons, one.minimal_sets) for one in found.curve] == [
        (3, 0, 0),
        (2, 0, 0),
        (1, 1, 1),
    ]
    assert found.profile.k == 1
    assert [drawn.unique_share for drawn in found.random] == [0.0, 0.0, 0.25]


@pytest.mark.parametrize("seed", [0, 7])
def test_drawn_persons_say_what_all_say_within_their_interval(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    chance = Random(5)
    table = pd.DataFrame([(who, chance.randrange(120)) for who in range(300) for _ in range(6)], columns=["who", "at"])
    ask = asked(target=Target(frame=table), known=3, random=3, draws=200, seed=seed)
    with connect() as engine:
        whole = find_persons(engine, ask)
        monkeypatch.setattr("sqlaudit.events.unicity.COUNTED", 0)
        drawn = find_persons(engine, ask)
        again = find_persons(engine, ask)
    assert drawn.random == again.random
    assert 0.1 < whole.random[1].unique_share < 0.9
    for exact, some in zip(whole.random, drawn.random, strict=True):
        assert not exact.sampled
        assert some.sampled
        assert some.low <= exact.unique_share <= some.high


def test_drawing_everybody_with_all_their_events_is_counting() -> None:
    table = [(1, "may", 1), (1, "may", 2), (2, "may", 1), (2, "may", 2), (3, "june", 1)]
    with connect() as engine, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sqlaudit.events.unicity.COUNTED", 0)
        found = found_in(engine, table, asked(random=2))
    assert [drawn.unique_share for drawn in found.random] == [pytest.approx(1 / 3), pytest.approx(1 / 3)]


@pytest.mark.few_on_postgres(0)
def test_leaving_out_a_column_is_counted_again(engine: Engine) -> None:
    @run(8, some=3)
    @given(rows)
    def compare(table: list[tuple[Any, ...]]) -> None:
        found = found_in(engine, table, asked(known=2, k=3, effects=True))
        for place, effect in enumerate(found.effects):
            persons = oracle.events_of([(row[0], row[2 - place]) for row in table])
            assert effect.column == list(COLUMNS)[1 + place]
            assert effect.exposed_persons == oracle.exposed(persons, 2, 3)
            assert effect.unique_persons == oracle.exposed(persons, 2, 2)
            assert effect.profile_k == oracle.profile(persons)[0]
        assert len(found.effects) == 2

    compare()


def test_when_time_is_up_the_curve_ends_with_what_is_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    table = [(who, "may", clinic) for who in range(1, 5) for clinic in (1, 2)]
    with connect() as engine:
        found = found_in(engine, table, asked(known=3, k=5, time_budget=0.0, random=1))
    assert [(one.known, one.exact) for one in found.curve] == [(1, True), (2, False)]
    assert not found.complete
    assert (found.curve[1].smallest, found.curve[1].exposed_persons) == (4, 4)


@pytest.mark.parametrize("ends", [KeyboardInterrupt, BudgetSpent])
def test_what_ends_a_search_keeps_what_was_counted_before(
    monkeypatch: pytest.MonkeyPatch, ends: type[BaseException]
) -> None:
    monkeypatch.setattr("sqlaudit.events.occurrences.PART", 100)
    keep, parts = Occurrences.keep, iter(range(100))

    def stopped(asked: Occurrences, name: str, template: str, **given: Any) -> Raw:
        if template == "events_sets" and next(parts) == 3:
            raise ends
        return keep(asked, name, template, **given)

    chance = Random(3)
    table = [(who, "may", clinic) for who in range(60) for clinic in chance.sample(range(30), 5)]
    request = asked(known=3, k=3, random=2, records=2)
    with connect() as engine:
        whole = found_in(engine, table, request)
        monkeypatch.setattr(Occurrences, "keep", stopped)
        found = found_in(engine, table, request)
        assert engine.run(Statement("tables", "SELECT COUNT(*) FROM duckdb_tables() WHERE NOT internal")) == [(0,)]
    assert (found.curve[0], found.profile) == (whole.curve[0], whole.profile)
    part = found.curve[1]
    assert (len(found.curve), part.exact, found.complete) == (2, False, False)
    assert 0 < part.exposed_persons < whole.curve[1].exposed_persons
    assert 0 < part.minimal_sets < whole.curve[1].minimal_sets
    assert found.by_hand == (ends is KeyboardInterrupt)
    assert len(found.random) == (0 if found.by_hand else 2)
    assert found.by_hand == ("Interrupted while counting sets of 2" in shown(found))


def test_the_end_of_the_time_cuts_off_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    keep = Occurrences.keep
    endless = "SELECT COUNT(*) AS n FROM RANGE(10000000) AS a(x), RANGE(10000000) AS b(y) WHERE x % 7 = y % 5"

    def slow(asked: Occurrences, name: str, template: str, **given: Any) -> Raw:
        if template == "events_sets":
            asked.bench.run(Statement("endless", endless))
        return keep(asked, name, template, **given)

    monkeypatch.setattr(Occurrences, "keep", slow)
    table = [(who, "may", clinic) for who in range(1, 5) for clinic in (1, 2)]
    with connect() as engine:
        found = found_in(engine, table, asked(known=3, k=5, time_budget=0.5))
    assert [(one.known, one.exact, one.exposed_persons) for one in found.curve] == [(1, True, 4), (2, False, 4)]
    assert not found.by_hand


def shown(found: PersonsResult) -> str:
    return " ".join(render_text(document_of(found)).split())


def test_an_empty_table_has_nobody(engine: Engine) -> None:
    query = (
        values_query([], COLUMNS)
        if engine.dialect == "duckdb"
        else 'SELECT 1 AS person, \'a\' AS "the ""month""", 1 AS clinic LIMIT 0'
    )
    found = find_persons(engine, asked(target=Target(query=query), entity="person", qi=("clinic",), random=2))
    assert (found.persons, found.profile.k, found.random) == (0, 0, ())
    assert [(one.smallest, one.exposed_persons) for one in found.curve] == [(0, 0), (0, 0)]


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"known": 0}, "at least 1 and at most 6"),
        ({"random": 7}, "at least 0 and at most 6"),
        ({"k": 1}, "at least 2, not 1"),
        ({"draws": 0}, "draws= must be at least 1"),
        ({"nulls": NullPolicy.WILDCARD, "multiset": True}, "match anything"),
        ({"multiset": True, "random": 1}, "cannot be combined"),
    ],
)
def test_requests_that_make_no_sense(request_: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        asked(**request_)


def test_columns_that_are_not_there(engine: Engine) -> None:
    one = Target(query=values_query([{"p": 1, "clinic": 1}], {"p": "int", "clinic": "int"}))
    with pytest.raises(UsageError, match="no column 'clinick'"):
        find_persons(engine, asked(target=one, entity="p", qi=("clinick",)))
    with pytest.raises(UsageError, match="identifies the person"):
        find_persons(engine, asked(target=one, entity="p", qi=("p",)))


@pytest.mark.few_on_postgres(0)
def test_numbers_of_very_many_persons_are_added_as_integers(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlaudit.events.occurrences.FEW", 0)

    @run(12, some=3)
    @given(rows, st.integers(4, 6))
    def compare(table: list[tuple[Any, ...]], k: int) -> None:
        request = asked(known=3, k=k)
        check(found_in(engine, table, request), oracle.events_of(table, "equal"), request)

    compare()


def test_four_persons_with_large_numbers_are_told_apart() -> None:
    last = (1 << 25) - 1
    with connect() as engine:
        people = [last, last - 1, last - 3, last - 4]
        values = ", ".join(f"({person})" for person in people)
        squares = engine.run(
            Statement(
                "squares",
                "SELECT CAST(SUM(CAST(p AS DOUBLE)) AS BIGINT), CAST(SUM(CAST(p AS DOUBLE) * p) AS HUGEINT) "
                f"FROM (VALUES {values}) AS people(p)",
            )
        )
    assert squares == [(sum(people), sum(person**2 for person in people))]


def test_parts_are_as_large_as_the_memory_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    table = [(who, "may", clinic) for who in range(1, 9) for clinic in {1, 2, 3, who}]
    request = asked(known=3, k=3)

    def parts(memory: str) -> int:
        with connect(None, Limits(memory=memory)) as engine:
            check(found_in(engine, table, request), oracle.events_of(table, "equal"), request)
            return sum(done.name.startswith("sets of ") for done in engine.executed)

    assert parts("1GB") == 2  # a part for each size
    monkeypatch.setattr("sqlaudit.events.occurrences.A_SET", 10_000_000)
    assert parts("1GB") == 2
    assert parts("200MB") > 2


@pytest.mark.parametrize("persons", [[1], [1, 1, 1], [1, 5, 5, 90], [1] * 40 + [1000]], ids=len)
def test_cuts_leave_no_event_out_whatever_their_sizes(persons: list[int]) -> None:
    counts = ", ".join(f"({event}, {many})" for event, many in enumerate(persons, 1))
    source = Raw(f"(SELECT * FROM (VALUES {counts}) AS events(event, persons))")
    with connect() as engine:
        for parts, size in ((1, 2), (3, 2), (7, 3), (100, 6), (4, 1)):
            statement = render("events/events_ranges.sql", "duckdb", dictionary=source, parts=parts, size=size)
            lasts = [row[0] for row in engine.run(statement)]
            assert lasts == sorted(set(lasts))
            assert lasts[-1] == len(persons)
            assert len(lasts) <= parts


SAME_NUMBER = st.integers(1, 3).flatmap(
    lambda number: st.lists(st.sets(st.sampled_from("abcd"), min_size=number, max_size=number), min_size=1, max_size=7)
)


@run(40, some=4)
@given(SAME_NUMBER, st.integers(2, 4))
def test_who_knows_as_many_events_as_persons_have_knows_all_of_them(sets: list[set[str]], k: int) -> None:
    """Where no person's events are part of another one's, as where all have as many."""
    table = pd.DataFrame([(who, at) for who, events in enumerate(sets) for at in sorted(events)], columns=["who", "at"])
    number = len(sets[0])
    with connect() as engine:
        found = find_persons(engine, asked(target=Target(frame=table), qi=("at",), known=number, k=k))
    last = found.at(number)
    exposed, unique = found.profile.exposed_persons, found.profile.unique_persons
    assert (last.smallest, last.exposed_persons, last.unique_persons) == (found.profile.k, exposed, unique)


def test_part_of_the_events_of_another_one_fits_more_than_the_same() -> None:
    table = pd.DataFrame([(1, "a"), (2, "a"), (2, "b"), (3, "a"), (3, "b")], columns=["who", "at"])
    with connect() as engine:
        found = find_persons(engine, asked(target=Target(frame=table), qi=("at",), known=2, k=2))
    assert (found.at(2).smallest, found.profile.k) == (2, 1)


@run(30, some=3)
@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 5)), min_size=1, max_size=14))
def test_coarser_events_are_never_worse_and_more_known_ones_never_better(table: list[tuple[int, int]]) -> None:
    request = asked(qi=("at", "place"), known=3, k=3)
    frames = [
        pd.DataFrame([(who, 0, at // width) for who, at in table], columns=["who", "at", "place"])
        for width in (1, 2, 6)
    ]
    with connect() as engine:
        curves = [find_persons(engine, replace(request, target=Target(frame=frame))) for frame in frames]
    for fine, coarse in pairwise(curves):
        assert coarse.profile.k >= fine.profile.k
        for one, other in zip(fine.curve, coarse.curve, strict=True):
            assert other.smallest >= one.smallest
            assert other.exposed_persons <= one.exposed_persons
    for found in curves:
        for fewer, more in pairwise(found.curve):
            assert more.smallest <= fewer.smallest
            assert more.exposed_persons >= fewer.exposed_persons


def test_the_baskets_of_the_paper_of_2008() -> None:
    """Four baskets of items a1, a2, b1 and b2; where a1 and a2 are said as A, any two known items have two baskets."""
    baskets = {1: "a1 b1 b2", 2: "a2 b1", 3: "a2 b1 b2", 4: "a1 a2 b2"}
    found = {}
    with connect() as engine:
        for name, items in (
            ("plain", baskets),
            ("coarse", {who: one.replace("a1", "A").replace("a2", "A") for who, one in baskets.items()}),
        ):
            rows_ = [(who, item) for who, some in items.items() for item in some.split()]
            table = pd.DataFrame(rows_, columns=["who", "item"])
            curve = find_persons(engine, asked(target=Target(frame=table), qi=("item",), known=2, k=2)).curve
            found[name] = [(one.smallest, one.exposed_persons) for one in curve]
    assert found == {"plain": [(2, 0), (1, 2)], "coarse": [(3, 0), (2, 0)]}


def test_nothing_is_drawn_beyond_the_most_events_that_a_person_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """All events of a person are known then; a larger number says the same."""
    chance = Random(5)
    table = pd.DataFrame([(who, chance.randrange(9)) for who in range(60) for _ in range(3)], columns=["who", "at"])
    sizes: list[int] = []
    draw = unicity.sampled
    monkeypatch.setattr(unicity, "COUNTED", 0)
    monkeypatch.setattr(unicity, "sampled", lambda *given: [sizes.append(given[2]), draw(*given)][1])
    with connect() as engine:
        found = find_persons(engine, asked(target=Target(frame=table), known=1, random=6, draws=50)).random
    assert sizes == [1, 2, 3]
    assert [one.known for one in found] == [1, 2, 3, 4, 5, 6]
    assert {(one.unique_share, one.low, one.high) for one in found[2:]} == {
        (found[2].unique_share, found[2].low, found[2].high)
    }
