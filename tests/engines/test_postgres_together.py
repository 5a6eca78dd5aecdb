"""Several results from one statement of PostgreSQL: the same as from statements of their own, and counted once."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

import sqlaudit
from sqlaudit.base.errors import Incomplete
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Limits
from sqlaudit.classes import histogram
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.postgres.engine import PostgresEngine
from tests.audit_values import values_query
from tests.strategies import fewer

pytestmark = pytest.mark.postgres
NO_ROW, ONE_ROW = 55, 13
"""Seeds of tables that are as small as that."""
COLUMNS = {"a": "int", "b": "text", "p": "int", "s": "text", "u": "int"}


def rows_of(seed: int, values: int, size: int = 60) -> list[dict[str, Any]]:
    """A skewed table with NULLs; persons have up to three rows."""
    draw = random.Random(seed)

    def row() -> dict[str, Any]:
        value = min(int(draw.expovariate(0.7)), values - 1)
        return {
            "a": draw.choice([None, 0, 0, 0, 1, 2]),
            "b": draw.choice([None, "x", "y", "Y"]),
            "p": draw.randrange(size // 2),
            "s": draw.choice([f"v{value}", f"v{value}", None]),
            "u": draw.randrange(3),
        }

    return [row() for _ in range({NO_ROW: 0, ONE_ROW: 1}.get(seed, size))]


@pytest.fixture(autouse=True)
def classes_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Classes stay in PostgreSQL, as those do that a workbench does not take."""
    monkeypatch.setattr(histogram.HistogramBuilder, "hand_over", lambda *asked: None)


@pytest.fixture(scope="module")
def postgres(lasting_postgres_url: str) -> Iterator[Engine]:
    """One session for all tests: the tables are queries."""
    with connect(lasting_postgres_url) as engine:
        yield engine


def told(rows: list[dict[str, Any]], engine: Engine, **request: Any) -> tuple[dict[str, Any], list[str]]:
    """The document of an audit without what belongs to a run, and the statements over the classes."""
    document = sqlaudit.audit(query=values_query(rows, COLUMNS), qi=["a", "b"], db=engine, **request).to_dict()
    statements = [statement["name"] for statement in document.pop("statements")]
    for key in ("time", "started", "seconds", "versions"):
        document.pop(key, None)
    return document, [name for name in statements if "figures" in name or "sizes" in name or "classes" in name]


REQUESTS: list[dict[str, Any]] = [
    {"sensitive": "s"},
    {},
    {"sensitive": "s", "require": ["k=2", "l=2"]},
    {"sensitive": "s", "require": ["k=1", "l=1", "t=0.9"]},
    {"sensitive": "s", "require": ["k=1", "l=9", "t=0.9", "disclosure=c:0.5,k:1"]},
    {"sensitive": "s", "require": ["k=3", "l=1", "average_risk=0.01"], "show_values": True, "failing_classes": None},
    {"sensitive": ["s", "u"], "require": ["k=3", "l=2"], "joint": True},
    {"sensitive": ["s", "u"], "require": ["k=3", "l=3"]},
    {"sensitive": "s", "require": ["k=2", "entropy_l=1.5"], "nulls": "distinct"},
    {"sensitive": "s", "require": ["k=2", "l=2"], "nulls": "wildcard", "failing_classes": 0},
    {"sensitive": "s", "require": ["k=2", "l=2"], "entity": "p", "worst_classes": 0},
]


@pytest.mark.parametrize("request_number", range(len(REQUESTS)))
@pytest.mark.parametrize("packed", [48, 0])
def test_together_and_one_by_one_agree(
    postgres: Engine, monkeypatch: pytest.MonkeyPatch, request_number: int, packed: int
) -> None:
    monkeypatch.setattr(histogram, "PACKED_VALUES", packed)
    small = (NO_ROW, ONE_ROW)[(request_number + bool(packed)) % 2]
    for seed in (request_number, small, *((NO_ROW, ONE_ROW, 6) if fewer(3, 0) else ())):
        rows = rows_of(seed, 5)
        once, _ = told(rows, postgres, **REQUESTS[request_number])
        with monkeypatch.context() as alone:
            alone.setattr(PostgresEngine, "answers_together", False)
            apart, _ = told(rows, postgres, **REQUESTS[request_number])
        assert once == apart


@pytest.mark.parametrize(
    ("request_number", "statements"),
    [
        (0, ["figures of s, signatures, distribution in the worst classes"]),
        (1, ["class sizes"]),
        (2, ["figures of s, failing classes, distribution in the worst classes"]),
        (3, ["figures of s, failing classes, distribution in the worst classes"]),
        (4, ["figures of s, signatures, failing classes, distribution in the worst classes"]),
        (5, ["figures of s", "failing classes, distribution in the worst classes"]),
    ],
)
def test_classes_are_counted_once(postgres: Engine, request_number: int, statements: list[str]) -> None:
    _, ran = told(rows_of(request_number, 5), postgres, **REQUESTS[request_number])
    assert [name for name in ran if name != "distribution in the worst classes"][: len(statements)] == statements


def test_answers_keep_their_order_and_their_types(postgres_url: str) -> None:
    shared = "(SELECT x, x * 2.5 AS y FROM generate_series(1, 4) AS g(x))"
    asked = [
        Statement("down", f"SELECT x, CAST(y AS double precision) FROM {shared} AS s ORDER BY x DESC"),
        Statement("none", f"SELECT y FROM {shared} AS s WHERE x > 9"),
        Statement("large", "SELECT 12345678901234567890123 AS x, CAST(NULL AS text), ARRAY[1, 2]"),
    ]
    with connect(postgres_url) as engine:
        assert engine.run_together(asked, [shared]) == [engine.run(statement) for statement in asked]
        assert engine.run_together(asked, [shared]) == [
            [(4, 10.0), (3, 7.5), (2, 5.0), (1, 2.5)],
            [],
            [(12345678901234567890123, None, [1, 2])],
        ]
        assert engine.executed[-1].name == "down, none, large"
        assert engine.executed[-1].sql.count(shared) == 1


def test_a_time_limit_ends_them_all(postgres_url: str) -> None:
    asked = [Statement("one", "SELECT 1"), Statement("two", "SELECT pg_sleep(20)")]
    with connect(postgres_url, Limits(timeout=0.7)) as engine, pytest.raises(Incomplete, match="'one, two'"):
        engine.run_together(asked, [])
