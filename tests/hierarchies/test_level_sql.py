"""Labels computed in SQL are those of the oracle, on both engines."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.relation import Kind, Statement
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.levels import (
    ColumnType,
    DatePart,
    Hierarchy,
    Level,
    date_levels,
    level_sql,
    mask_levels,
    published_column,
    width_levels,
)
from sqlaudit.hierarchies.read import read_hierarchies
from tests.audit_values import spelled, values_query
from tests.hierarchies import oracle
from tests.strategies import run

TIMES = {"timestamp": "TIMESTAMP", "real": "REAL"}
HOLDS = {
    "int": ColumnType(Kind.INTEGER, "BIGINT"),
    "decimal": ColumnType(Kind.DECIMAL, "DECIMAL(20,4)"),
    "float": ColumnType(Kind.FLOAT, "DOUBLE"),
    "text": ColumnType(Kind.TEXT, "VARCHAR"),
    "date": ColumnType(Kind.DATE, "DATE"),
}
TEXTS = ["", "1", "13053", "a😀b", "e\u0301", "ß", "*", "1*", "a'b--", "  ", "long text"]


def labels(engine: Engine, levels: Sequence[Level], values: Sequence[Any], kind: str) -> list[tuple[Any, ...]]:
    """(value's place, label at level 1, …) as the engine computes them."""
    made = Hierarchy("v", tuple(levels))
    rows = [{"i": place, "v": value} for place, value in enumerate(values)]
    table = spelled(values_query(rows, {"i": "int", "v": kind}), engine.dialect)
    name = quote("v", engine.dialect)
    columns = [level_sql(made, number, name, engine.dialect, HOLDS[kind]) for number in range(1, made.height + 1)]
    statement = f"SELECT i, {', '.join(columns)} FROM ({table}) AS t ORDER BY i"
    return [tuple(row[1:]) for row in engine.run(Statement("labels", statement))]


def expected(levels: Sequence[Level], values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The same by the oracle."""
    made = Hierarchy("v", tuple(levels))
    return [tuple(oracle.label(made, number, value) for number in range(1, made.height + 1)) for value in values]


def test_intervals_by_hand(engine: Engine) -> None:
    levels = width_levels([Fraction(5), Fraction(10)], "v", low=Fraction(15), high=Fraction(90))
    assert labels(engine, levels, [14, 15, 24, 25, 89, 90, -7, None], "int") == [
        ("<15", "<15", "*"),
        ("[15, 20)", "[15, 20)", "*"),
        ("[20, 25)", "[20, 30)", "*"),
        ("[25, 30)", "[20, 30)", "*"),
        ("[85, 90)", "[80, 90)", "*"),
        (">=90", ">=90", "*"),
        ("<15", "<15", "*"),
        (None, None, "*"),
    ]
    quarter = width_levels([Fraction(1, 4)], "v", origin=Fraction(-1, 8))
    assert labels(engine, quarter, [Decimal("0.1249"), Decimal("0.125"), Decimal("-0.1251")], "decimal") == [
        ("[-0.125, 0.125)", "*"),
        ("[0.125, 0.375)", "*"),
        ("[-0.375, -0.125)", "*"),
    ]
    tenth = width_levels([Fraction(1, 10)], "v")
    assert labels(engine, tenth, [0.3, 0.7, 0.1 + 0.2, -0.1, math.nan, math.inf, 1e15], "float") == [
        ("[0.3, 0.4)", "*"),
        ("[0.7, 0.8)", "*"),
        ("[0.3, 0.4)", "*"),
        ("[-0.1, 0.0)", "*"),
        (None, "*"),
        (None, "*"),
        (None, "*"),
    ]


WIDTHS = [[5, 10, 20, 40], [1], [Fraction(1, 2), 3], [Fraction(1, 8)], [7, 21], [10**6]]
BOUNDS = st.sampled_from([None, Fraction(-3), Fraction(0), Fraction(15), Fraction(5, 2), Fraction(90)])
NUMBERS = {
    "int": st.one_of(st.integers(-50, 120), st.integers(-(2**63), 2**63 - 1)),
    "decimal": st.one_of(
        st.decimals(-100, 100, places=4), st.decimals(-(10**15), 10**15, places=4), st.sampled_from([Decimal(20)])
    ),
    "float": st.one_of(
        st.floats(-100, 100).filter(lambda f: f == 0 or abs(f) > 1e-15),
        st.sampled_from([math.nan, math.inf, -math.inf, 1e300, 19.999999999999996, 0.1 + 0.2, -0.0]),
        st.integers(-400, 400).map(lambda n: n / 8),
        st.integers(-400, 400).map(lambda n: n / 10),
    ),
}


@pytest.mark.parametrize("kind", ["int", "decimal", "float"])
def test_intervals_are_those_of_the_oracle(engine: Engine, kind: str) -> None:
    @run(60)
    @given(
        st.sampled_from(WIDTHS),
        st.sampled_from([Fraction(0), Fraction(3), Fraction(-7, 4)]),
        BOUNDS,
        BOUNDS,
        st.lists(st.one_of(st.none(), NUMBERS[kind]), min_size=1, max_size=30),
    )
    def check(widths: list[Any], origin: Fraction, low: Fraction | None, high: Fraction | None, values: Any) -> None:
        if low is not None and high is not None and low >= high:
            low, high = None, low
        levels = width_levels([Fraction(width) for width in widths], "v", origin=origin, low=low, high=high)
        assert labels(engine, levels, values, kind) == expected(levels, values)

    check()


@run(60)
@given(values=st.lists(st.one_of(st.none(), st.sampled_from(TEXTS), st.text("ab1*é😀", max_size=6)), min_size=1))
def test_masks_are_those_of_the_oracle(engine: Engine, values: list[str | None]) -> None:
    for levels in (mask_levels([1, 2, 4], "v"), mask_levels([3, 1], "v", keeps=True)):
        assert labels(engine, levels, values, "text") == expected(levels, values)


def test_masks_of_numbers_are_masks_of_their_digits(engine: Engine) -> None:
    levels = mask_levels([1, 2, 3], "v")
    values = [2138, 13053, 7, -12, 0, None]
    assert labels(engine, levels, values, "int") == expected(levels, values)
    assert labels(engine, levels, [2138, 7, -12], "int") == [
        ("213*", "21**", "2***", "*"),
        ("*", "*", "*", "*"),
        ("-1*", "-**", "***", "*"),
    ]


@run(60)
@given(
    values=st.lists(
        st.one_of(
            st.none(),
            st.dates(datetime.date(1, 1, 1)),
            st.sampled_from([datetime.date(1999, 12, 31), datetime.date(2000, 1, 1), datetime.date(2024, 2, 29)]),
        ),
        min_size=1,
    )
)
def test_dates_are_those_of_the_oracle(engine: Engine, values: list[datetime.date | None]) -> None:
    for twin in (DatePart.YEARS_10, DatePart.DECADE):
        levels = date_levels([part.value for part in DatePart if part is not twin], "v")
        found = labels(engine, levels, values, "date")
        assert found == expected(levels, values)
        for below, above in pairwise(range(len(levels) + 1)):  # nested: a label has one label above it
            assert len({(row[below], row[above]) for row in found}) == len({row[below] for row in found})


def test_dates_without_a_year_have_no_label(engine: Engine) -> None:
    (level, _) = Hierarchy("v", date_levels(["year"], "v")).levels
    sql = level_sql(Hierarchy("v", (level,)), 1, "v", engine.dialect, HOLDS["date"])
    early = {"duckdb": "0044-03-15 (BC)", "postgres": "0044-03-15 BC", "spark": "-0044-03-15"}[engine.dialect]
    late = {"spark": "+10000-01-01"}.get(engine.dialect, "10000-01-01")  # Spark has no infinity
    dates = [early, late, late if engine.dialect == "spark" else "infinity"]
    values = " UNION ALL ".join(f"SELECT DATE '{date}' AS v" for date in dates)
    assert engine.run(Statement("odd dates", f"SELECT {sql} FROM ({values}) AS t")) == [(None,)] * 3


def test_times_are_cut_as_dates_are(engine: Engine) -> None:
    made = Hierarchy("v", date_levels(["day", "month", "decade"], "v"))
    given_value = "CAST('2024-02-29 23:59:59.5' AS TIMESTAMP)"
    columns = [
        level_sql(made, n, given_value, engine.dialect, ColumnType(Kind.TIMESTAMP, "TIMESTAMP")) for n in (1, 2, 3)
    ]
    assert engine.run(Statement("times", "SELECT " + ", ".join(columns))) == [("2024-02-29", "2024-02", "2020-2029")]


def test_moments_with_a_zone_have_the_day_that_utc_has(engine: Engine) -> None:
    made = Hierarchy("v", date_levels(["day", "quarter", "decade"], "v"))
    holds = ColumnType(Kind.TIMESTAMP, "timestamp with time zone")
    columns = [level_sql(made, n, "v", engine.dialect, holds) for n in (1, 2, 3)]
    moment = "SELECT CAST('2024-01-01 00:30:00+02' AS TIMESTAMPTZ) AS v"
    found = engine.run(Statement("zoned", f"SELECT {', '.join(columns)} FROM ({spelled(moment, engine.dialect)}) AS t"))
    assert found == [("2023-12-31", "2023-Q4", "2020-2029")]


def test_single_precision_is_read_as_it_prints(engine: Engine) -> None:
    made = Hierarchy("v", width_levels([Fraction(1, 10)], "v"))
    sql = level_sql(made, 1, "CAST(0.7 AS REAL)", engine.dialect, ColumnType(Kind.FLOAT, "REAL"))
    assert engine.run(Statement("real", "SELECT " + sql)) == [("[0.7, 0.8)",)]


def test_expressions_are_over_the_column_alone(engine: Engine) -> None:
    asked = {"age": {"sql": ["value / 10.0 * 10", "CASE WHEN AGE < 50 THEN 'young' ELSE 'old' END", "'*'"]}}
    (made,) = read_hierarchies(asked).for_columns(["age"])
    assert made.level_names() == ("unchanged", "SQL 1 of 2", "SQL 2 of 2", "*")
    sql = [level_sql(made, n, "age + 1", engine.dialect, HOLDS["int"]) for n in (0, 1, 2, 3)]
    ages = spelled(values_query([{"age": 49}, {"age": 48}, {"age": None}], {"age": "int"}), engine.dialect)
    found = engine.run(Statement("own", f"SELECT {', '.join(sql)} FROM ({ages}) AS t"))
    numbers = [(row[0], None if row[1] is None else float(row[1]), *row[2:]) for row in found]
    assert numbers == [(50, 50, "old", "*"), (49, 49, "young", "*"), (None, None, "old", "*")]
    for text, said in [
        ("zip", "an expression may use this column only, but it uses 'zip'"),
        ("ag || 'x'", "Did you mean 'age'?"),
        ("(SELECT 1)", "without subquery"),
        ("1; DROP TABLE x", "takes one expression"),
    ]:
        (broken,) = read_hierarchies({"age": {"sql": [text]}}).for_columns(["age"])
        with pytest.raises(UsageError, match=said.replace("?", r"\?")):
            level_sql(broken, 1, "age", engine.dialect, HOLDS["int"])


LISTED = {
    "v": {
        "values": {
            "a'b": ["it's", "x"],
            "ß😀": ["*", "x"],
            "1.0": ["one", "y"],
            "b": ["two", "y"],
            None: ["none", "y"],
        },
        "default": "o'ther",
    }
}


def test_listed_levels_are_published_as_a_joined_table(engine: Engine) -> None:
    (made,) = read_hierarchies(LISTED).for_columns(["v"])
    rows = values_query([{"v": v} for v in ("a'b", "ß😀", "1.0", "1", "b", None, "zz")], {"v": "text"})
    name = quote("v", engine.dialect)
    told = published_column(made, 1, name, engine.dialect, HOLDS["text"])
    sql = f"SELECT {name}, {told.expression} FROM ({spelled(rows, engine.dialect)}) AS t {told.join}"
    assert sorted(engine.run(Statement("published", sql)), key=str) == sorted(
        [
            ("a'b", "it's"),
            ("ß😀", "*"),
            ("1.0", "one"),
            ("1", "o'ther"),
            ("b", "two"),
            (None, "none"),
            ("zz", "o'ther"),
        ],
        key=str,
    )
    assert published_column(made, 0, name, engine.dialect, HOLDS["text"]).expression == name
    assert published_column(made, 3, name, engine.dialect, HOLDS["text"]).expression == "'*'"


def test_a_file_that_names_no_value_of_the_column_leaves_the_default(engine: Engine) -> None:
    (made,) = read_hierarchies({"v": {"values": {"x": ["a"]}, "default": "rest"}}).for_columns(["v"])
    told = published_column(made, 1, quote("v", engine.dialect), engine.dialect, HOLDS["int"])
    rows = spelled(values_query([{"v": 1}, {"v": None}], {"v": "int"}), engine.dialect)
    found = engine.run(
        Statement("published", f"SELECT {told.expression} FROM ({rows}) AS t {told.join} ORDER BY 1 NULLS LAST")
    )
    assert [row[0] for row in found] == ["rest", None]


@pytest.mark.parametrize(
    ("kind", "texts", "values"),
    [
        ("int", ["1.0", "-7", "1e2"], [1, -7, 100]),
        ("decimal", ["1.50", "2", "-0.0001"], [Decimal("1.5"), Decimal(2), Decimal("-0.0001")]),
        ("float", ["1", "0.10", "1E+20"], [1.0, 0.1, 1e20]),
        (
            "date",
            ["2024-02-29", "1900-01-01", "0044-03-15"],
            [datetime.date(2024, 2, 29), datetime.date(1900, 1, 1), datetime.date(44, 3, 15)],
        ),
        ("bool", ["True", "FALSE", "x"], [True, False, None]),
    ],
)
def test_values_are_found_however_they_are_spelled(
    engine: Engine, kind: str, texts: list[str], values: list[Any]
) -> None:
    (made,) = read_hierarchies({"v": {"values": {text: [f"l{i}"] for i, text in enumerate(texts)}}}).for_columns(["v"])
    told = published_column(
        made, 1, quote("v", engine.dialect), engine.dialect, HOLDS.get(kind, ColumnType(Kind.BOOLEAN))
    )
    query = values_query([{"i": i, "v": value} for i, value in enumerate(values)], {"i": "int", "v": kind})
    rows = spelled(query, engine.dialect)
    found = engine.run(Statement("found", f"SELECT {told.expression} FROM ({rows}) AS t {told.join} ORDER BY i"))
    assert [row[0] for row in found] == [f"l{i}" if value is not None else None for i, value in enumerate(values)]
