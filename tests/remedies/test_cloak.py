"""Boxes of messages beside brute force, on every engine: who shares a box, where boxes lie, who is dropped and why."""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import itertools
import math
import random
from collections.abc import Mapping
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.spec import Target
from sqlaudit.engines.contract import Engine
from sqlaudit.remedies.cloak.messages import messages_statement, open_messages
from sqlaudit.remedies.cloak.request import CloakRequest, Divide, Places, Tolerances
from sqlaudit.remedies.cloak.result import MessageOutcome
from sqlaudit.remedies.cloak.run import count_useful_levels
from tests.audit_values import long_query
from tests.remedies import oracle_cloak as oracle
from tests.strategies import fewer, run

PLACES = [
    0.0,
    -0.0,
    1.0,
    24.999999999999996,
    25.0,
    49.99,
    50.0,
    75.0,
    99.99999999999999,
    100.0,
    130.0,
    -1.0,
    -25.0,
    -26.0,
]
FAR = [-1e-300, 5e-324, 1e12, -1e12, 1e12 + 1, 1e300, math.inf, -math.inf, math.nan, 2.0**40 - 100, -999999999975.0]
ODD_TIMES = [math.nan, math.inf, -1e-310]
TIMES = [0.0, 7.0, 7.499999999999999, 7.5, 15.0, 29.0, 30.0, 59.9, 60.0, -0.1, -60.0]
COLUMNS = {
    "id": "int",
    "user": "text",
    "x": "float",
    "y": "float",
    "t": "float",
    "k": "int",
    "box": "float",
    "interval": "float",
}
USERS = ["ann", "bob", "Zaphod Beeblebrox", "d;'--", None]


def request_of(
    rows: list[dict[str, Any]], *, own: bool = False, columns: Mapping[str, str] = COLUMNS, **more: Any
) -> CloakRequest:
    """A request over rows, with boxes of 100 m and a minute unless `more` says otherwise."""
    asked: dict[str, Any] = {"k": 2, "box": Fraction(100), "interval": Fraction(60)} | more
    asked.setdefault("smallest_box", asked["box"] / 4)
    asked.setdefault("smallest_interval", asked["interval"] / 4)
    places = asked.pop("places", Places("user", "x", "y", "t"))
    return CloakRequest(
        Target(query=long_query(rows, columns)),
        places,
        tolerances=Tolerances("k", "box", "interval") if own else Tolerances(),
        **asked,
    )


def boxes_on(engine: Engine, request: CloakRequest, numbered: str = "id") -> dict[int, tuple[int, int | None, Any]]:
    """(outcome, level, box) of each message by its number, as the engine finds them."""
    messages = open_messages(engine, request)
    tried = count_useful_levels(messages)
    place = 10 + messages.columns.index(numbered)
    found = {}
    for row in engine.run(messages_statement(messages, tried=tried)):
        box = None if row[4] is None else tuple(map(_in_utc, row[4:10]))
        found[row[place]] = (row[3], row[2], box)
    return found


def _in_utc(bound: Any) -> Any:
    """A bound. On Spark a time of the year 10000 makes texts of all."""
    if isinstance(bound, str):
        with contextlib.suppress(ValueError):
            bound = dt.datetime.fromisoformat(bound)
    return bound.replace(tzinfo=None) if isinstance(bound, dt.datetime) else bound


def table(rng: random.Random, *, far: bool = False, own: bool = False) -> list[dict[str, Any]]:
    """Messages: several of one user, some at the same place, some on boundaries, some that ask for more than others."""
    places = rng.sample(PLACES, rng.randint(1, 4)) + (rng.sample([*FAR, None], 2) if far else [])
    north, times = rng.sample(PLACES, rng.randint(1, 4)), rng.sample(TIMES, rng.randint(1, 4))
    return [
        {
            "user": rng.choice(USERS),
            "x": rng.choice(places),
            "y": rng.choice(north),
            "t": rng.choice(ODD_TIMES) if far and rng.random() < 0.1 else rng.choice(times),
            "k": rng.choice([None, 0, 1, 2, 3, 4]) if own else None,
            "box": rng.choice([None, None, 20.0, 25.0, 49.9, 50.0, 100.0, 1e9, -1.0]) if own else None,
            "interval": rng.choice([None, None, 15.0, 31.0, 60.0]) if own else None,
        }
        for _ in range(rng.randint(0, 12))
    ]


def side_by_side(tables: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Many small tables as one: each lies ten of the largest boxes north of the one before, so none meets another."""
    rows = [{**row, "y": row["y"] + 1000.0 * place} for place, rows in enumerate(tables) for row in rows]
    return [{"id": number, **row} for number, row in enumerate(rows)]


def expected_of(rows: list[dict[str, Any]], order: str, k: int, suppress: Fraction) -> list[Any]:
    """What brute force makes of each of the small tables by itself; its boxes never overlap."""
    levels = oracle.sizes(Fraction(100), Fraction(60), order)
    expected = []
    for _, part in itertools.groupby(rows, key=lambda row: (row["y"] + 500) // 1000):
        found = oracle.cloaked(list(part), levels, k, suppress)
        boxes = {box for _, _, box in found if box is not None}
        assert not any(oracle.overlap(*pair) for pair in itertools.combinations(boxes, 2))
        expected += found
    return expected


ORDERS = {Divide.ALTERNATELY: "stst", Divide.SPACE_FIRST: "sstt", Divide.TIME_FIRST: "ttss"}
SHARES = [Fraction(0), Fraction(1, 3), Fraction(1, 10)]


@functools.cache
def brute_force(own: bool, far: bool) -> list[tuple[Divide, int, Fraction, list[dict[str, Any]], list[Any]]]:
    """Ways to divide, with k, the share that may be dropped, rows, and what is expected of them on every engine."""
    rng, found = random.Random(17 * own + far), []
    number = 60 if own and not far else max(15, fewer(60))  # fewer do not meet all outcomes that the test asks for
    for divide, k, suppress in zip(Divide, (2, 3, 2), SHARES, strict=True):
        rows = side_by_side([table(rng, own=own, far=far) for _ in range(number)])
        found.append((divide, k, suppress, rows, expected_of(rows, ORDERS[divide], k, suppress)))
    return found


@pytest.mark.parametrize("far", [False, True], ids=["near", "far"])
@pytest.mark.parametrize("own", [False, True], ids=["alike", "of its own"])
def test_boxes_are_those_of_brute_force(engine: Engine, own: bool, far: bool) -> None:
    """Sixty random tables for each way to divide, 720 on each engine, or a quarter of them."""
    outcomes = set()
    for divide, k, suppress, rows, expected in brute_force(own, far):
        found = boxes_on(engine, request_of(rows, own=own, k=k, suppress=suppress, divide=divide))
        assert [found[number] for number in range(len(rows))] == expected
        outcomes |= {(outcome, level) for outcome, level, _ in expected}
    assert len({level for outcome, level in outcomes if outcome == oracle.PUBLISHED}) >= 4
    assert {(oracle.MISSING, None), (oracle.TOO_FEW, None)} <= outcomes
    assert ((oracle.NO_PLACE, None) in outcomes) == far
    assert ((oracle.NO_TOLERANCE, None) in outcomes) == own


@st.composite
def tables(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Such a table."""
    return table(random.Random(draw(st.integers(0, 10**6))), own=True)


@run(150)
@given(tables(), st.integers(1, 3), st.sampled_from(SHARES))
def test_no_choice_of_boxes_publishes_more(rows: list[dict[str, Any]], k: int, suppress: Fraction) -> None:
    """Of brute force, which the engines equal: at most the share that may be dropped is lost to finer boxes."""
    levels = oracle.sizes(Fraction(100), Fraction(60), "st")
    able = [row for row in rows if row["user"] is not None and any(oracle.tolerates(row, size) for size in levels)]
    for part in oracle.groups(able, levels[0]):
        chosen = oracle.choose(part, levels, k, suppress)
        most = max(map(len, oracle.every_choice(part, levels, k)))
        assert len(chosen) >= (1 - suppress) * most
        together: dict[Any, list[Any]] = {}
        for message, level in chosen:
            together.setdefault((level, oracle.cell(message, levels[level])), []).append(message)
        for messages in together.values():
            assert len({one["user"] for one in messages}) >= max(oracle.wanted(one, k) for one in messages)


@pytest.mark.parametrize("kinds", [("float", "int"), ("decimal", "float")], ids="-".join)
@pytest.mark.parametrize("size", [Fraction(100), Fraction(3), Fraction(1, 8), Fraction(2**31), Fraction(777777, 8)])
def test_numbers_on_boundaries_begin_a_cell(engine: Engine, kinds: tuple[str, str], size: Fraction) -> None:
    """Whole multiples of a cell's width lie in the cell that begins there, the number before them in the one before."""
    exact = [n * size / 1024 * m for n in (-3, -2, -1, 0, 1, 2, 5) for m in (1, 1024, 333)]
    whole: list[Any] = [int(n) for n in exact if n.denominator == 1]
    floats = [float(n) for n in exact]
    near = [one for n in floats for one in (math.nextafter(n, -math.inf), n, math.nextafter(n, math.inf))]
    numbers = [itertools.cycle(near if kind == "float" else whole) for kind in kinds]
    rows = [{"id": i, "user": "u", "x": next(numbers[0]), "y": next(numbers[1]), "t": 0.0} for i in range(len(near))]
    columns = {"id": "int", "user": "text", "x": kinds[0], "y": kinds[1], "t": "float"}
    with patch("sqlaudit.remedies.cloak.request.check_bounds"):  # cells finer than an eighth of a metre
        request = request_of(
            rows, columns=columns, k=1, box=size, smallest_box=size / 1024, smallest_interval=Fraction(60)
        )
    found = boxes_on(engine, request)
    for row in rows:
        expected = oracle.cell(row, (size / 1024, Fraction(60)))
        assert found[row["id"]] == (0, 10, expected), row["id"]


def test_decimals_are_read_as_they_print(engine: Engine) -> None:
    numbers = ["0.0001", "-0.0001", "99.9999", "100.0000", "-100.0000", "1234567890123456.0000"]
    rows = [{"id": i, "user": "u", "x": n, "y": n, "t": 0} for i, n in enumerate(numbers)]
    columns = {"id": "int", "user": "text", "x": "decimal", "y": "decimal", "t": "int"}
    request = request_of(rows, columns=columns, k=1, smallest_box=Fraction(100), smallest_interval=Fraction(60))
    found = boxes_on(engine, request)
    assert [found[i][0] for i in range(6)] == [0, 0, 0, 0, 0, MessageOutcome.NO_PLACE]
    assert [found[i][2][0] for i in range(5)] == [0, -100, 0, 100, -100]


def test_timestamps_and_dates_are_cut_at_whole_intervals(engine: Engine) -> None:
    moments = [
        "1969-12-31 23:59:59.999999",
        "1970-01-01 00:00:00",
        "2024-02-29 12:09:59.999999",
        "2024-02-29 12:10:00",
        "0001-01-01 00:00:00",
        "9999-12-31 23:59:59",
    ]
    rows = [{"id": i, "user": "u", "x": 1, "y": 1, "t": moment} for i, moment in enumerate(moments)]
    columns = {"id": "int", "user": "text", "x": "int", "y": "int", "t": "text"}
    places = Places("user", "x", "y", "CAST(t AS TIMESTAMP)")
    asked = {"k": 1, "smallest_box": Fraction(100), "interval": Fraction(600), "smallest_interval": Fraction(600)}
    found = boxes_on(engine, request_of(rows, columns=columns, places=places, **asked))
    assert {outcome for outcome, _, _ in found.values()} == {0}
    starts = [found[i][2][4] for i in range(len(moments) - 1)]
    assert starts[0] == dt.datetime(1969, 12, 31, 23, 50)
    assert found[0][2][5] == starts[1] == dt.datetime(1970, 1, 1)
    assert starts[2:4] == [dt.datetime(2024, 2, 29, 12), dt.datetime(2024, 2, 29, 12, 10)]
    assert starts[4] == dt.datetime(1, 1, 1)
    by_day = Places("user", "x", "y", "CAST(CAST(t AS TIMESTAMP) AS DATE)")
    asked |= {"interval": Fraction(86400 * 7), "smallest_interval": Fraction(86400 * 7)}
    found = boxes_on(engine, request_of(rows, columns=columns, places=by_day, **asked))
    assert found[2][2][4:] == (dt.datetime(2024, 2, 29), dt.datetime(2024, 3, 7))  # weeks since 1970-01-01, a Thursday


def test_timestamps_are_cut_as_numbers_are(engine: Engine) -> None:
    """Brute force with seconds since 1970 beside engines with timestamps, before and after."""
    rng, start = random.Random(5), dt.datetime(1970, 1, 1)
    rows = side_by_side([[{**row, "t": rng.randint(-400, 400) * 2.5} for row in table(rng)] for _ in range(60)])
    expected = expected_of(rows, "stst", 2, Fraction(0))
    texts = [{**row, "t": str(start + dt.timedelta(seconds=row["t"]))} for row in rows]
    request = request_of(
        texts, columns={**COLUMNS, "t": "text"}, places=Places("user", "x", "y", "CAST(t AS TIMESTAMP)")
    )
    found = boxes_on(engine, request)
    assert [found[i][:2] for i in range(len(rows))] == [one[:2] for one in expected]
    for number, (_, _, box) in enumerate(expected):
        if box is not None:
            low, high = ((found[number][2][place] - start).total_seconds() for place in (4, 5))
            assert (*found[number][2][:4], low, high) == box
    assert {one[1] for one in expected} == {None, 0, 1, 2, 3, 4}


def test_levels_without_enough_users_are_not_looked_at(engine: Engine) -> None:
    """Two users meet in cells of 50 m and 30 s, and in none that is finer; all levels give the same boxes."""
    rows = [
        {"id": i, "user": user, "x": x, "y": 1, "t": t, "k": None, "box": None, "interval": None}
        for i, (user, x, t) in enumerate([("a", 1, 0), ("b", 49, 29), ("a", 2, 3), ("c", 88, 59)])
    ]
    for k, expected in [(2, 3), (3, 1), (4, 1), (1, 5)]:
        messages = open_messages(engine, request_of(rows, k=k))
        assert count_useful_levels(messages) == expected
        found = [sorted(engine.run(messages_statement(messages, tried=tried)), key=repr) for tried in (None, expected)]
        assert found[0] == found[1]
    assert found[0][0][2] == 4  # alone, and so at the finest level
