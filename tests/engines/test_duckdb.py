"""The engine's contract on DuckDB: rows, batches, arrays, kept relations, plans, and what is shown of them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.errors import EngineError, UsageError
from sqlaudit.base.relation import ColumnInfo, Kind, Relation, Statement
from sqlaudit.base.spec import Target
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Executed
from sqlaudit.engines.duckdb.driver import DUCKDB_1
from sqlaudit.engines.duckdb.engine import DuckDBEngine
from sqlaudit.engines.duckdb.types import kind_of
from tests.engines.duckdb_helpers import sentence
from tests.strategies import run

PEOPLE = pa.table({"age": [34, 34, 51], "sex": ["f", "f", None]})


@pytest.fixture
def engine() -> Iterator[DuckDBEngine]:
    with DuckDBEngine() as opened:
        yield opened


def ask(engine: DuckDBEngine, sql: str) -> list[tuple[object, ...]]:
    return engine.run(Statement("ask", sql))


def test_rows_are_plain_python_values(engine: DuckDBEngine) -> None:
    people = engine.open(Target(frame=PEOPLE))
    assert people == Relation(
        '"input"."frame"', (ColumnInfo("age", "BIGINT", Kind.INTEGER), ColumnInfo("sex", "VARCHAR", Kind.TEXT)), "frame"
    )
    sql = "SELECT age, sex, count(*) AS n, sum(age) AS total FROM " + people.sql + " GROUP BY age, sex ORDER BY age"
    assert ask(engine, sql) == [(34, "f", 2, 68), (51, None, 1, 51)]
    assert ask(engine, "SELECT 1 WHERE false") == []


def test_kept_relations_are_replaced_and_dropped(engine: DuckDBEngine) -> None:
    first = engine.materialize("classes", Statement("classes", "SELECT 1 AS n"))
    assert first == Relation('"classes"', (ColumnInfo("n", "INTEGER", Kind.INTEGER),), "classes")
    second = engine.materialize("classes", Statement("classes", "/* again */ SELECT 2 AS m, 'x' AS s"))
    assert [column.name for column in second.columns] == ["m", "s"]
    assert ask(engine, "SELECT * FROM " + second.sql) == [(2, "x")]
    engine.drop("classes")
    engine.drop("classes")
    with pytest.raises(UsageError) as caught:
        ask(engine, "SELECT * FROM " + second.sql)
    assert sentence(caught.value) == "There is no table or view 'classes', which the step 'ask' reads."


def test_kept_relations_may_be_called_as_inputs_are(engine: DuckDBEngine) -> None:
    frame = engine.open(Target(frame=PEOPLE))
    kept = engine.materialize("frame", Statement("frame", "SELECT count(*) AS n FROM " + frame.sql))
    assert ask(engine, "SELECT n FROM " + kept.sql) == [(3,)]
    assert ask(engine, "SELECT count(*) FROM " + frame.sql) == [(3,)]


def test_several_inputs_have_names_of_their_own(engine: DuckDBEngine) -> None:
    relations = [engine.open(Target(frame=pa.table({"a": [i]}))) for i in range(3)]
    assert [relation.sql for relation in relations] == ['"input"."frame"', '"input"."frame_2"', '"input"."frame_3"']
    assert [ask(engine, "SELECT a FROM " + relation.sql) for relation in relations] == [[(0,)], [(1,)], [(2,)]]


def test_batches_while_other_statements_run(engine: DuckDBEngine) -> None:
    people = engine.open(Target(frame=PEOPLE))
    kept = engine.materialize("kept", Statement("kept", "SELECT i FROM range(25000) r(i)"))
    sql = "SELECT i, (SELECT count(*) FROM " + people.sql + ") AS n FROM " + kept.sql + " ORDER BY i DESC"
    batches = engine.stream(Statement("rows", sql), batch=10_000)
    first = next(batches)
    assert (first[0], len(first)) == ((24_999, 3), 10_000)
    assert ask(engine, "SELECT 1") == [(1,)]
    assert [len(batch) for batch in batches] == [10_000, 5_000]


def test_batches_that_nobody_finishes(engine: DuckDBEngine) -> None:
    batches = engine.stream(Statement("rows", "SELECT i FROM range(50000000) r(i)"), batch=5)
    assert next(batches) == [(i,) for i in range(5)]
    batches.close()
    assert ask(engine, "SELECT 1") == [(1,)]


def test_times_with_a_zone_come_in_utc(engine: DuckDBEngine) -> None:
    sql = "SELECT TIMESTAMPTZ '2020-01-01 01:00:00+02' + to_days(i::INT) AS t, i FROM range(2) r(i) ORDER BY i DESC"
    rows = [(dt.datetime(2020, 1, 1, 23, tzinfo=dt.UTC), 1), (dt.datetime(2019, 12, 31, 23, tzinfo=dt.UTC), 0)]
    assert ask(engine, sql) == rows
    assert list(engine.stream(Statement("rows", sql))) == [rows]
    assert ask(engine, "SELECT NULL::TIMESTAMPTZ") == [(None,)]


def test_rows_with_a_zone_keep_their_order(engine: DuckDBEngine) -> None:
    plain = ask(engine, "SELECT i FROM range(200000) r(i) ORDER BY hash(i)")
    zoned = ask(engine, "SELECT i, TIMESTAMPTZ '2020-01-01 00:00:00+00' AS t FROM range(200000) r(i) ORDER BY hash(i)")
    assert [row[0] for row in zoned] == [row[0] for row in plain]


def test_arrays_are_exact(engine: DuckDBEngine) -> None:
    sql = (
        "SELECT count(*) AS n, sum(i) AS total, sum(i) << 70 AS wide, CAST(1.25 AS DECIMAL(5, 2)) AS part, "
        '0.5::DOUBLE AS x, 340282366920938463463374607431768211455::UHUGEINT AS most, \'a\' AS "text ""q""" '
        "FROM range(4) r(i)"
    )
    arrays = engine.columns_as_arrays(Statement("arrays", sql))
    assert list(arrays) == ["n", "total", "wide", "part", "x", "most", 'text "q"']
    assert {name: array.tolist() for name, array in arrays.items()} == {
        "n": [4],
        "total": [6],
        "wide": [6 << 70],
        "part": [Decimal("1.25")],
        "x": [0.5],
        "most": [2**128 - 1],
        'text "q"': ["a"],
    }
    assert (arrays["total"].dtype, arrays["wide"].dtype) == (np.dtype("int64"), np.dtype(object))


def test_wide_integers_are_exact(engine: DuckDBEngine) -> None:
    @given(st.lists(st.none() | st.integers(-(2**127), 2**127 - 1) | st.integers(-(2**63), 2**63 - 1), min_size=1))
    @run(200)
    def compare(numbers: list[int | None]) -> None:
        values = ", ".join(f"('{n}'::HUGEINT)" if n is not None else "(NULL)" for n in numbers)
        sql = "SELECT CAST(v AS HUGEINT) AS v FROM (VALUES " + values + ") AS t(v)"
        assert engine.columns_as_arrays(Statement("arrays", sql))["v"].tolist() == numbers

    compare()


def test_columns_with_nulls_are_masked_arrays(engine: DuckDBEngine) -> None:
    sql = "SELECT * FROM (VALUES (1, 1::HUGEINT, 1.5), (NULL, NULL, NULL)) AS t(a, b, c)"
    arrays = engine.columns_as_arrays(Statement("arrays", sql))
    assert {name: array.tolist() for name, array in arrays.items()} == {
        "a": [1, None],
        "b": [1, None],
        "c": [Decimal("1.5"), None],
    }
    empty = engine.columns_as_arrays(Statement("arrays", "SELECT 1 AS a, 1::HUGEINT AS b WHERE false"))
    assert {name: array.tolist() for name, array in empty.items()} == {"a": [], "b": []}


def test_names_plans_and_version(engine: DuckDBEngine) -> None:
    statement = Statement("ask", 'SELECT 1 AS a, 2 AS "B c", 3 AS "select"')
    assert list(engine.result_names(statement)) == ["a", "B c", "select"]
    assert "RANGE" in engine.explain(Statement("plan", "SELECT count(*) FROM range(3)"))
    assert engine.version() == f"DuckDB {duckdb.__version__}"
    assert (engine.name, engine.dialect, engine.can_materialize) == ("DuckDB", "duckdb", True)


def test_every_statement_is_told_with_its_time(engine: DuckDBEngine) -> None:
    told: list[Executed] = []
    engine.tracer = told.append
    people = engine.open(Target(frame=PEOPLE, where="age > 40"))
    engine.run(Statement("ask", "SELECT 1"))
    engine.materialize("kept", Statement("keep", "SELECT 1"))
    list(engine.stream(Statement("export", "SELECT * FROM " + people.sql)))
    engine.columns_as_arrays(Statement("arrays", "SELECT 1"))
    assert [done.name for done in told] == ["open", "ask", "keep", "export", "arrays"]
    assert told[0].sql == 'CREATE VIEW "input"."frame" AS SELECT * FROM sqlaudit_frame WHERE age > 40'
    assert all(done.seconds is not None and done.seconds >= 0 for done in told)
    assert [done for done in engine.executed if done.sql] == told


def test_a_closed_engine_says_so() -> None:
    engine = connect()
    engine.close()
    engine.close()
    engine.cancel()
    with pytest.raises(EngineError) as caught:
        engine.run(Statement("ask", "SELECT 1"))
    assert sentence(caught.value) == "The connection was closed before the step 'ask'."


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("TRUE", Kind.BOOLEAN),
        *((f"1::{name}", Kind.INTEGER) for name in ("TINYINT", "SMALLINT", "INT", "BIGINT", "HUGEINT", "UHUGEINT")),
        *((f"1::{name}", Kind.INTEGER) for name in ("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "BIGNUM")),
        ("1.5", Kind.DECIMAL),
        ("1::DECIMAL(38, 10)", Kind.DECIMAL),
        ("1::FLOAT", Kind.FLOAT),
        ("'nan'::DOUBLE", Kind.FLOAT),
        ("'x'", Kind.TEXT),
        ("'x'::ENUM('x', 'SECRET(')", Kind.TEXT),
        ("'00000000-0000-4000-8000-000000000001'::UUID", Kind.TEXT),
        ("DATE '2020-01-01'", Kind.DATE),
        ("TIMESTAMP '2020-01-01'", Kind.TIMESTAMP),
        ("TIMESTAMP_S '2020-01-01'", Kind.TIMESTAMP),
        ("TIMESTAMP_MS '2020-01-01'", Kind.TIMESTAMP),
        ("TIMESTAMP_NS '2020-01-01'", Kind.TIMESTAMP),
        ("TIMESTAMPTZ '2020-01-01'", Kind.TIMESTAMP),
        ("TIME '10:00'", Kind.TIME),
        ("TIME_NS '10:00'", Kind.TIME),
        ("TIMETZ '10:00+00'", Kind.TIME),
        ("INTERVAL 3 MONTHS", Kind.OTHER),
        ("'x'::BLOB", Kind.OTHER),
        ("'101'::BIT", Kind.OTHER),
        ("[1]", Kind.OTHER),
        ("array_value(1, 2)", Kind.OTHER),
        ("['x'::ENUM('x', 'SECRET')]", Kind.OTHER),
        ("{'a': 1}", Kind.OTHER),
        ("MAP {'a': 1}", Kind.OTHER),
        ("union_value(k := 1)", Kind.OTHER),
        ("'{}'::JSON", Kind.OTHER),
        ("1::VARIANT", Kind.OTHER),
        ("NULL", Kind.INTEGER if DUCKDB_1 else Kind.OTHER),
    ],
)
def test_every_type_has_a_kind_and_shows_no_value(engine: DuckDBEngine, sql: str, kind: Kind) -> None:
    relation = engine.open(Target(query="SELECT " + sql + " AS v"))
    assert [column.kind for column in relation.columns] == [kind]
    assert "SECRET" not in relation.columns[0].type


def test_a_type_that_is_not_known_is_other() -> None:
    assert kind_of("SOMETHING NEW(3)") == Kind.OTHER
    assert kind_of("DATE[3]") == Kind.OTHER
