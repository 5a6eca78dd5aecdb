"""Coarser columns hold exactly the values that plain arithmetic puts together."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.relation import ColumnInfo, Kind, Statement
from sqlaudit.base.spec import Target
from sqlaudit.cli.console.commands.roles import generalize_column
from sqlaudit.engines.contract import Engine
from tests.audit_values import values_query

WIDTHS = ("1", "2", "5", "10", "17", "0.1", "0.25", "2.5", "0.3", "1/3")
FEW = settings(max_examples=25, derandomize=True, deadline=None)


def groups_on(engine: Engine, kind: str, values: list[Any], how: str) -> list[list[Any]]:
    """Which rows the coarser column puts together, by their numbers."""
    rows = [{"place": place, "value": value} for place, value in enumerate(values)]
    relation = engine.open(Target(query=values_query(rows, {"place": "int", "value": kind})))
    column = next(column for column in relation.columns if column.name == "value")
    expression = generalize_column(column, how, relation, engine.dialect)
    query = f"SELECT place, {expression} AS label FROM {relation.sql} AS given"
    found: dict[Any, list[Any]] = {}
    for place, label in engine.run(Statement("groups", query)):
        found.setdefault(label, []).append(place)
    return sorted(sorted(group) for group in found.values())


def groups_of(values: list[Any], label: Any) -> list[list[int]]:
    found: dict[Any, list[int]] = {}
    for place, value in enumerate(values):
        found.setdefault(None if value is None else label(value), []).append(place)
    return sorted(sorted(group) for group in found.values())


@FEW
@given(
    st.lists(st.none() | st.integers(-200, 200) | st.integers(-(10**9), 10**9), min_size=1, max_size=8),
    st.sampled_from(WIDTHS),
)
def test_intervals_of_whole_numbers(engine: Engine, values: list[int | None], width: str) -> None:
    expected = groups_of(values, lambda value: math.floor(Fraction(value) / Fraction(width)))
    assert groups_on(engine, "int", values, width) == expected


@FEW
@given(st.lists(st.none() | st.integers(-30000, 30000), min_size=1, max_size=8), st.sampled_from(WIDTHS))
def test_intervals_of_decimals(engine: Engine, tenths: list[int | None], width: str) -> None:
    values = [None if value is None else Decimal(value).scaleb(-1) for value in tenths]
    expected = groups_of(values, lambda value: math.floor(Fraction(value) / Fraction(width)))
    assert groups_on(engine, "decimal", values, width) == expected


@FEW
@given(
    st.lists(st.none() | st.integers(-3000, 3000), min_size=1, max_size=8), st.sampled_from(("1", "5", "10", "0.25"))
)
def test_intervals_of_floats(engine: Engine, quarters: list[int | None], width: str) -> None:
    values = [None if value is None else value / 4 for value in quarters]
    expected = groups_of(values, lambda value: math.floor(Fraction(value) / Fraction(width)))
    assert groups_on(engine, "float", values, width) == expected


@FEW
@given(st.lists(st.none() | st.text("ab1é😀", max_size=4), min_size=1, max_size=8), st.integers(1, 4))
def test_beginnings_of_texts(engine: Engine, values: list[str | None], kept: int) -> None:
    expected = groups_of(values, lambda value: value[:kept])
    assert groups_on(engine, "text", values, str(kept)) == expected


@FEW
@given(
    st.lists(st.none() | st.dates(datetime.date(1900, 1, 1), datetime.date(2030, 12, 31)), min_size=1, max_size=8),
    st.sampled_from(("year", "quarter", "month", "week", "day")),
)
def test_parts_of_dates(engine: Engine, values: list[datetime.date | None], part: str) -> None:
    labels = {
        "year": lambda value: value.year,
        "quarter": lambda value: (value.year, (value.month - 1) // 3),
        "month": lambda value: (value.year, value.month),
        "week": lambda value: value.isocalendar()[:2],
        "day": lambda value: value,
    }
    assert groups_on(engine, "date", values, part) == groups_of(values, labels[part])


def test_the_same_classes_as_a_hierarchy_of_the_same_width() -> None:
    pd = pytest.importorskip("pandas")
    people = pd.DataFrame({"age": [0, 9, 10, 19, 20, 34, 35, 39, 40, 59, 60], "sex": list("fmfmfmfmfmf")})
    expression = generalize_column(ColumnInfo("age", "BIGINT", Kind.INTEGER), "20", None, "duckdb")  # type: ignore[arg-type]
    found = sqlaudit.audit(people, qi=[expression], require={"k": 2})
    search = sqlaudit.lattice(
        people,
        qi=["age"],
        require={"k": 2},
        hierarchies={"age": {"widths": [20]}},
        find="chain",
        chain=[(1,)],
        algorithm="chain",
    )
    assert found.classes.sizes == ((1, 1), (2, 1), (4, 2))
    assert search.best is None
