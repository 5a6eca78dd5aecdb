"""What known events tell of sensitive values, against every subset of every person's events, on all engines."""

from __future__ import annotations

from fractions import Fraction
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
from sqlaudit.events.unicity import limit_in_integers
from sqlaudit.reports.document import Toned
from sqlaudit.reports.notebook import document_of
from tests.audit_values import values_query
from tests.events import oracle
from tests.few import LEAST
from tests.strategies import run

ILLNESS = 'the "illness" 😀'
COLUMNS = {"person": "int", "clinic": "int", "month": "int", ILLNESS: "text"}
LIMITS = st.sampled_from(
    [Fraction(0), Fraction(1, 2), Fraction(2, 3), Fraction("0.6666666666666666666666666667"), Fraction(1)]
)
illness = st.sampled_from(["flu", "HIV", "it's", None])
rows = st.lists(
    st.tuples(st.integers(1, 6), st.sampled_from([1, 2, None]), st.sampled_from([1, 2]), illness),
    min_size=LEAST,
    max_size=13,
)


def found_in(engine: Engine, table: list[tuple[Any, ...]], **more: Any) -> PersonsResult:
    query = values_query([dict(zip(COLUMNS, one, strict=True)) for one in table], COLUMNS)
    asked = {"entity": "person", "qi": ("clinic", "month"), "sensitive": (ILLNESS,)} | more
    return find_persons(engine, PersonsRequest(target=Target(query=query), **asked))


def check(found: PersonsResult, table: list[tuple[Any, ...]], nulls: str, repeats: bool, rho: bool = False) -> None:
    persons = oracle.events_of([row[:-1] for row in table], nulls, repeats)
    held = oracle.held_by(table)
    (told,) = found.coherence
    assert told.sensitive == ILLNESS
    values = [value for values in held.values() for value in values]
    assert told.prior == Fraction(max((values.count(one) for one in values), default=0), len(persons))
    for one, known in zip(told.curve, found.curve, strict=True):
        share, whom = oracle.learnt(persons, held, one.known, found.h, repeats)
        either = whom | {
            person
            for person, events in persons.items()
            for size in range(1, one.known + 1)
            for some in oracle.known_sets(events, size, repeats)
            if oracle.support(persons, some) < found.k
        }
        assert (one.known, one.smallest, one.exact) == (known.known, known.smallest, True)
        assert (one.share, one.disclosed_persons, one.exposed_persons) == (share, len(whom), len(either)), one.known
    assert len(told.uncertainty) == (len(told.curve) if rho else 0)
    for one in told.uncertainty:
        share, whom = oracle.learnt_of_rest(persons, held, one.known, found.h, repeats)
        assert (one.share, one.disclosed_persons, one.exact) == (share, len(whom), True), one.known


@pytest.mark.few_on_postgres(0)
@pytest.mark.parametrize("nulls", ["equal", "distinct"])
@pytest.mark.parametrize("repeats", [False, True])
def test_what_is_told_is_what_all_subsets_say(engine: Engine, nulls: str, repeats: bool) -> None:
    @run(25, some=3)
    @given(rows, st.integers(2, 4), LIMITS)
    def compare(table: list[tuple[Any, ...]], k: int, h: Fraction) -> None:
        found = found_in(engine, table, known=3, k=k, h=h, multiset=repeats, nulls=NullPolicy(nulls))
        check(found, table, nulls, repeats)

    compare()


@pytest.mark.few_on_postgres(0)
@pytest.mark.parametrize("repeats", [False, True])
def test_known_values_tell_others_as_all_subsets_say(engine: Engine, repeats: bool) -> None:
    @run(25, some=4)
    @given(rows, LIMITS)
    def compare(table: list[tuple[Any, ...]], h: Fraction) -> None:
        found = found_in(engine, table, known=3, k=2, h=h, multiset=repeats, rho=True)
        check(found, table, "equal", repeats, rho=True)

    compare()


@pytest.mark.few_on_postgres(0)
@pytest.mark.parametrize("repeats", [False, True])
def test_known_values_tell_others_among_persons_of_equal_static_values(engine: Engine, repeats: bool) -> None:
    @run(25, some=4)
    @given(rows, st.lists(st.sampled_from([1, 2, None]), min_size=6, max_size=6), LIMITS)
    def compare(table: list[tuple[Any, ...]], static: list[int | None], h: Fraction) -> None:
        steady = [(person, 1, static[person - 1], value) for person, _, _, value in table]
        asked: dict[str, Any] = {"qi": ("clinic",), "static": ("month",), "multiset": repeats, "rho": True}
        (told,) = found_in(engine, steady, known=3, k=2, h=h, **asked).coherence
        persons = oracle.events_of(
            [(person, group, clinic) for person, clinic, group, _ in steady], multiset=repeats, static=1
        )
        held = oracle.held_by([(person, value) for person, *_, value in steady])
        of_person = {person: group for person, _, group, _ in steady}
        groups = [
            {person: events for person, events in persons.items() if of_person[person] == group}
            for group in set(of_person.values())
        ]
        for one in told.uncertainty:
            each = [oracle.learnt_of_rest(group, held, one.known, h, repeats) for group in groups]
            expected = max(share for share, _ in each), sum(len(whom) for _, whom in each)
            assert (one.share, one.disclosed_persons, one.exact) == (*expected, True), one.known

    compare()


def test_values_known_beside_static_ones_tell_within_their_group() -> None:
    """x tells y among women and, the other way round, among men; in all rows together it tells nothing."""
    table = pd.DataFrame(
        {"who": range(8), "sex": list("ffffmmmm"), "at": "a", "x": list("ppqqppqq"), "y": list("rrssssrr")}
    )
    asked: dict[str, Any] = {"entity": "who", "qi": ["at"], "sensitive": ["x", "y"], "k": 2, "known": 1, "rho": True}
    for static, share, persons in ([], Fraction(1, 2), 0), (["sex"], Fraction(1), 8):
        found = sqlaudit.persons(table, static=static, **asked)
        told = [one.uncertainty[0] for one in found.coherence]
        assert [(one.share, one.disclosed_persons) for one in told] == [(share, persons)] * 2


def test_values_of_one_column_tell_those_of_another() -> None:
    table = pd.DataFrame({"who": [1, 2, 3, 4], "at": list("aaaa"), "x": list("ppqq"), "y": list("rrss")})
    asked: dict[str, Any] = {"entity": "who", "qi": ["at"], "sensitive": ["x", "y"], "k": 2, "known": 1}
    events, both = sqlaudit.persons(table, **asked), sqlaudit.persons(table, rho=True, **asked)
    assert [one.curve[0].share for one in events.coherence] == [Fraction(1, 2)] * 2
    assert [one.uncertainty[0].share for one in both.coherence] == [1, 1]
    assert "and with sensitive values can reveal the x of 4 of 4 people" in str(document_of(both).headline)


@pytest.mark.few_on_postgres(0)
def test_parts_of_the_events_tell_the_same_together(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlaudit.events.occurrences.PART", 3)

    @run(15, some=3)
    @given(rows, LIMITS)
    def compare(table: list[tuple[Any, ...]], h: Fraction) -> None:
        check(found_in(engine, table, known=3, k=3, h=h), table, "equal", False)

    compare()


def test_static_values_are_known_besides() -> None:
    table = [(1, 1, 1, "flu"), (2, 1, 1, "HIV"), (3, 1, 2, "flu"), (4, 1, 2, "flu")]
    with connect() as engine:
        bare = found_in(engine, table, qi=("clinic",), k=2)
        more = found_in(engine, table, qi=("clinic",), static=("month",), k=2)
    assert [one.share for one in bare.coherence[0].curve] == [Fraction(3, 4)] * 2
    assert [one.share for one in more.coherence[0].curve] == [1, 1]
    assert [one.disclosed_persons for one in more.coherence[0].curve] == [2, 2]


def test_each_sensitive_column_is_told_by_itself() -> None:
    table = pd.DataFrame({"who": [1, 2, 3, 4], "at": list("aaaa"), "x": list("ppqr"), "y": [None, "s", "s", "s"]})
    found = sqlaudit.persons(table, entity="who", qi=["at"], sensitive=["x", "y"], k=2, h="70%")
    assert [
        (one.sensitive, one.prior, one.curve[0].share, one.curve[0].disclosed_persons) for one in found.coherence
    ] == [("x", Fraction(1, 2), Fraction(1, 2), 0), ("y", Fraction(3, 4), Fraction(3, 4), 4)]
    headline = document_of(found).headline
    assert isinstance(headline, Toned)
    assert headline.tone == "bad"
    assert headline.text.endswith("shared by at least 4 people, and can reveal the y of 4 of 4 people (100%)")


def test_nobody_with_a_value_and_nobody_at_all_tell_nothing(engine: Engine) -> None:
    for table in ([(1, 1, 1, None), (2, 2, 2, None)], []):
        (told,) = found_in(engine, table).coherence
        nothing = Fraction(0)
        assert (told.prior, [(one.share, one.disclosed_persons) for one in told.curve]) == (nothing, [(nothing, 0)] * 2)


def test_a_search_that_ended_early_proves_what_it_told() -> None:
    table = [(1, 1, 1, "flu"), (1, 1, 2, None), (2, 1, 1, "flu"), (2, 1, 2, None), (3, 1, 1, None), (3, 1, 2, None)]
    with connect() as engine:
        found = found_in(engine, table, known=3, k=2, h=Fraction(1, 2), time_budget=0.0)
    assert [(one.known, one.share, one.disclosed_persons, one.exact) for one in found.coherence[0].curve] == [
        (1, Fraction(2, 3), 3, True),
        (2, Fraction(2, 3), 3, False),
    ]


@pytest.mark.parametrize("persons", [1, 3, 7])
def test_a_limit_in_integers_parts_the_same_shares(persons: int) -> None:
    shares = [Fraction(holders, size) for size in range(1, persons + 1) for holders in range(size + 1)]
    for h in [Fraction(place, 97) for place in range(98)] + shares:
        allowed, whole, least = limit_in_integers(h, persons)
        for share in shares:
            assert (whole * share.numerator - allowed * share.denominator >= least) is (share > h), (share, h)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"h": Fraction(3, 2)}, "h= must be a share from 0 to 1"),
        ({"sensitive": (), "rho": True}, "Name them with sensitive="),
        ({"sensitive": ("clinic",)}, "'clinic' is named twice"),
        ({"sensitive": ("illnes",)}, "no column 'illnes'"),
        ({"sensitive": ("person",)}, "identifies the person"),
    ],
)
def test_what_makes_no_sense_is_refused(more: dict[str, Any], said: str) -> None:
    with connect() as engine, pytest.raises(UsageError, match=said):
        found_in(engine, [(1, 1, 1, "flu")], **more)
