"""Somebody who knows about when and about how much, against every subset of every person's events, on all engines."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from decimal import Decimal
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
from sqlaudit.events.request import PersonsRequest, read_tolerances
from sqlaudit.events.result import PersonsResult
from sqlaudit.events.run import find_persons
from tests.audit_values import values_query
from tests.events import oracle
from tests.few import LEAST
from tests.strategies import run

DAY = 'the "day" 😀'
COLUMNS = {"person": "int", DAY: "date", "amount": "decimal", "clinic": "text", "illness": "text"}
DAYS = st.sampled_from([None, *(datetime.date(2024, 2, 26) + datetime.timedelta(days) for days in (0, 1, 3, 4, 9))])
AMOUNTS = st.sampled_from([None, *map(Decimal, ("-0.0001", "0", "0.5", "0.5001", "7"))])
rows = st.lists(
    st.tuples(st.integers(1, 6), DAYS, AMOUNTS, st.sampled_from(["a", "it's", None]), st.sampled_from(["flu", None])),
    min_size=LEAST,
    max_size=12,
)
NEAR = {DAY: (datetime.timedelta(2), "2d"), "amount": (Decimal("0.5"), "0.5")}


def found_in(engine: Engine, table: list[tuple[Any, ...]], **more: Any) -> PersonsResult:
    query = values_query([dict(zip(COLUMNS, one, strict=True)) for one in table], COLUMNS)
    asked: dict[str, Any] = {"entity": "person", "qi": (DAY, "amount", "clinic")} | more
    return find_persons(engine, PersonsRequest(target=Target(query=query), **asked))


def near(columns: list[str], said: list[str], nulls: str) -> Callable[[oracle.Event, oracle.Event], bool]:
    """Whether a person's event fits a known one."""

    def alike(column: str, known: Any, own: Any) -> bool:
        if known is None or own is None:
            return nulls == "wildcard" or (nulls == "equal" and known is own)
        return bool(abs(known - own) <= NEAR[column][0]) if column in said else bool(known == own)

    def fits(known: oracle.Event, own: oracle.Event) -> bool:
        return known == own or all(map(alike, columns, known, own))

    return fits


@pytest.mark.few_on_postgres(1)
@pytest.mark.parametrize("nulls", ["equal", "distinct", "wildcard"])
def test_every_figure_is_what_all_subsets_say(engine: Engine, nulls: str) -> None:
    @run(*((30, 4) if engine.dialect == "duckdb" else (5, 3)))
    @given(rows, st.integers(2, 6), st.sampled_from([[DAY], ["amount"], [DAY, "amount"], []]))
    def compare(table: list[tuple[Any, ...]], k: int, said: list[str]) -> None:
        if not said and nulls != "wildcard":
            said = [DAY]
        tolerance = read_tolerances("tolerance", {column: NEAR[column][1] for column in said})
        found = found_in(
            engine, table, k=k, known=3, random=2, nulls=NullPolicy(nulls), tolerance=tolerance, sensitive=("illness",)
        )
        check(found, table, near(list(COLUMNS)[1:4], said, nulls))

    compare()


def check(found: PersonsResult, table: list[tuple[Any, ...]], fits: Callable[[Any, Any], bool]) -> None:
    persons = oracle.events_of([row[:-1] for row in table], found.nulls)
    fitted = oracle.fitted(persons, fits)
    held = oracle.held_by(table)
    assert found.pairs == sum(map(len, persons.values()))
    for one, told in zip(found.curve, found.coherence[0].curve, strict=True):
        m = one.known
        assert one.smallest == oracle.smallest(persons, m, near=fitted), m
        assert one.exposed_persons == oracle.exposed(persons, m, found.k, near=fitted), m
        assert one.unique_persons == oracle.exposed(persons, m, 2, near=fitted), m
        assert one.minimal_sets == oracle.minimal_sets(persons, m, found.k, near=fitted), m
        share, whom = oracle.learnt(persons, held, m, found.h, near=fitted)
        assert (told.share, told.disclosed_persons) == (share, len(whom)), m
    for drawn in found.random:
        assert math.isclose(drawn.unique_share, oracle.unicity(persons, drawn.known, fitted), abs_tol=1e-12)
    sizes = [oracle.support(fitted, frozenset(events)) for events in persons.values()]
    assert (found.profile.k, found.profile.unique_persons) == (min(sizes), sizes.count(1))
    assert found.profile.exposed_persons == sum(size < found.k for size in sizes)


@pytest.mark.few_on_postgres(0)
def test_parts_and_draws_say_the_same(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlaudit.events.occurrences.PART", 3)
    monkeypatch.setattr("sqlaudit.events.unicity.COUNTED", 0)

    @run(15, some=3)
    @given(rows)
    def compare(table: list[tuple[Any, ...]]) -> None:
        tolerance = read_tolerances("tolerance", [f"{DAY}=2d"])
        found = found_in(engine, table, k=3, known=3, random=1, tolerance=tolerance, sensitive=("illness",))
        fitted = oracle.fitted(oracle.events_of([row[:-1] for row in table]), near(list(COLUMNS)[1:4], [DAY], "equal"))
        assert found.random[0].sampled
        single = [row for row in found.by_number if row > 1]
        if not single:  # one event a person: drawing everybody is counting
            persons = oracle.events_of([row[:-1] for row in table])
            assert math.isclose(found.random[0].unique_share, oracle.unicity(persons, 1, fitted), abs_tol=1e-12)
        check(PersonsResult(**{**vars(found), "random": ()}), table, near(list(COLUMNS)[1:4], [DAY], "equal"))

    compare()


@pytest.mark.parametrize(
    ("values", "within", "smallest"),
    [
        ([1, 11, 21, 2**62], "10", [2, 3, 2, 1]),
        ([-(2**63), 2**63 - 1, 2**63 - 2], "1", [1, 2, 2]),
        (pd.to_datetime(["2024-01-01 00:00:00", "2024-01-01 12:00:00", "2024-01-02 00:00:01"]), "12h", [2, 2, 1]),
        (pd.to_datetime(["2024-01-01", "2024-01-08", "2024-01-16"]), "1w", [2, 2, 1]),
        ([Decimal("0.10"), Decimal("0.40"), Decimal("0.41")], "0.3", [2, 3, 2]),
    ],
)
def test_what_is_near(values: Any, within: str, smallest: list[int]) -> None:
    table = pd.DataFrame({"who": range(len(values)), "at": values})
    found = sqlaudit.persons(table, entity="who", qi=["at"], known=1, k=2, tolerance={"at": within})
    assert found.profile.sizes == {size: smallest.count(size) for size in sorted(set(smallest))}
    assert found.to_dict()["tolerance"] == [{"column": "at", "within": within}]


def test_leaving_out_a_column_keeps_the_tolerance_of_the_others() -> None:
    table = [(1, None, Decimal(1), "a", None), (2, None, Decimal("1.5"), "b", None), (3, None, Decimal(3), "b", None)]
    with connect() as engine:
        tolerance = read_tolerances("tolerance", "amount=0.5")
        found = found_in(engine, table, qi=("amount", "clinic"), k=2, known=1, tolerance=tolerance, effects=True)
    assert found.at(1).exposed_persons == 3
    assert [(one.column, one.exposed_persons) for one in found.effects] == [("amount", 1), ("clinic", 1)]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"tolerance": ("day",)}, "tolerance= needs a column and a distance"),
        ({"tolerance": ("=7d",)}, "tolerance= needs a column and a distance"),
        ({"tolerance": ("illness=7d",)}, "not in qi="),
        ({"tolerance": ("amount=1", "amount=2")}, "names 'amount' twice"),
        ({"tolerance": (DAY + "=7",)}, "has times. Give a duration: 30min, 12h, 7d or 2w"),
        ({"tolerance": ("amount=7d",)}, "has numbers. Give a number of at least 0"),
        ({"tolerance": ("amount=-1",)}, "has numbers. Give a number of at least 0"),
        ({"tolerance": ("clinic=7",)}, "'clinic' is text. A tolerance needs dates, times"),
        ({"tolerance": ("amount=1",), "multiset": True}, "cannot be combined with tolerance="),
        ({"tolerance": ("amount=1",), "sensitive": ("illness",), "rho": True}, "cannot be combined with tolerance="),
    ],
)
def test_what_makes_no_sense_is_refused(more: dict[str, Any], said: str) -> None:
    def ask(engine: Engine) -> PersonsResult:
        tolerance = read_tolerances("tolerance", more["tolerance"])
        return found_in(engine, [(1, None, None, "a", "flu")], **more | {"tolerance": tolerance})

    with connect() as engine, pytest.raises(UsageError, match=said):
        ask(engine)


def test_nobody_has_nothing_near() -> None:
    with connect() as engine:
        found = found_in(engine, [], tolerance=read_tolerances("tolerance", "amount=1"), sensitive=("illness",))
    assert (found.persons, found.profile.k, found.coherence[0].curve[-1].share) == (0, 0, Fraction(0))
