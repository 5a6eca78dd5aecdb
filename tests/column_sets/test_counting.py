"""Figures of column sets against brute force, for every NULL policy, rows and persons, on both engines."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.spec import NullPolicy, Target
from sqlaudit.column_sets import counting
from sqlaudit.column_sets.counting import Coded, SetCounter, choose_column, choose_columns, code_columns
from sqlaudit.column_sets.masks import bits, mask_of
from sqlaudit.column_sets.request import ColumnRequest
from sqlaudit.column_sets.search import find_columns
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from tests.audit_values import values_query
from tests.column_sets import oracle
from tests.postgres_load import Loader
from tests.strategies import run

value = st.one_of(st.none(), st.integers(0, 2))
word = st.one_of(st.none(), st.sampled_from(["", "a", "B", "b "]))
number = st.one_of(st.none(), st.sampled_from([0.5, -1.0, 2.25e300]))
row = st.tuples(value, word, number, st.just(7), st.integers(-3, 3))
tables = st.lists(row, max_size=12)
NAMES = ["a", "select", 'odd "name"', "constant", "person"]


def quick(some: int, of: int | None = None) -> settings:
    return run(of or some, some)


def frame(rows: list[tuple[Any, ...]], names: list[str]) -> pd.DataFrame:
    types = ["Int64", "string", "Float64", "Int64", "Int64"]
    return pd.DataFrame({n: pd.array([r[i] for r in rows], dtype=types[i]) for i, n in enumerate(names)})


def counter(engine: Engine, relation: Relation, k: int, nulls: str, entity: bool) -> SetCounter:
    chosen = choose_columns(relation, engine.dialect, exclude=["person"])
    person = choose_column(relation, engine.dialect, "person", "entity") if entity else None
    return SetCounter(engine, code_columns(engine, relation, chosen, person), k, NullPolicy(nulls))


def check(counting: SetCounter, rows: list[tuple[Any, ...]], k: int, nulls: str, *, entity: bool) -> None:
    sets = oracle.all_sets(4)
    found = counting.figures([mask_of(chosen) for chosen in sets])
    for chosen, figures in zip(sets, found, strict=True):
        expected = oracle.figures(rows, chosen, k, nulls, 4 if entity else None)
        assert counting.total == expected["total"]
        assert (figures.classes, figures.min_size) == (expected["classes"], expected["min_size"]), chosen
        assert (figures.at_risk, figures.unique) == (expected["at_risk"], expected["unique"]), chosen
        if rows:
            assert figures.pairs == (None if entity else expected["pairs"]), chosen


@pytest.mark.few_on_postgres(0)
@pytest.mark.parametrize("nulls", ["equal", "distinct", "wildcard"])
@pytest.mark.parametrize("entity", [False, True])
def test_duckdb_counts_what_brute_force_counts(engine: Engine, nulls: str, entity: bool) -> None:
    @quick(3, 18 if nulls != "wildcard" else 8)
    @given(tables, st.integers(1, 4))
    def compare(rows: list[tuple[Any, ...]], k: int) -> None:
        relation = engine.open(query_of(rows))
        check(counter(engine, relation, k, nulls, entity), rows, k, nulls, entity=entity)

    compare()


@pytest.mark.postgres
@pytest.mark.parametrize("nulls", ["equal", "distinct", "wildcard"])
@pytest.mark.parametrize("entity", [False, True])
def test_postgres_counts_what_brute_force_counts(nulls: str, entity: bool, load: Loader, postgres_url: str) -> None:
    @quick(2, 3)
    @given(tables.filter(bool), st.integers(1, 4))
    def compare(rows: list[tuple[Any, ...]], k: int) -> None:
        kinds = dict(zip(NAMES, ["int", "text", "float8", "int", "int"], strict=True))
        name = load("column sets", rows, NAMES, kinds)
        with connect(postgres_url) as engine:
            check(counter(engine, engine.open(Target(relation=name)), k, nulls, entity), rows, k, nulls, entity=entity)

    compare()


KINDS = dict(zip(NAMES, ["int", "text", "float", "int", "int"], strict=True))


def query_of(rows: list[tuple[Any, ...]]) -> Target:
    """The rows on an engine where nothing is created."""
    return Target(query=values_query([dict(zip(NAMES, row, strict=True)) for row in rows], KINDS), label="rows")


@pytest.mark.spark
@pytest.mark.parametrize("most", [counting.MOST_CODES, 0], ids=["codes", "in place"])
@pytest.mark.parametrize("nulls", ["equal", "distinct", "wildcard"])
@pytest.mark.parametrize("entity", [False, True])
def test_spark_counts_what_brute_force_counts(
    nulls: str, entity: bool, most: int, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As codes on the workbench, and on the target itself, which is what happens to large tables."""
    monkeypatch.setattr(counting, "MOST_CODES", most)

    @quick(3, 3 if most else 2)
    @given(tables, st.integers(1, 4))
    def compare(rows: list[tuple[Any, ...]], k: int) -> None:
        counting = counter(engine, engine.open(query_of(rows)), k, nulls, entity)
        assert counting.coded.coded is bool(most or not rows)
        check(counting, rows, k, nulls, entity=entity)

    compare()


def test_codes_are_packed_into_as_few_numbers_as_fit() -> None:
    from sqlaudit.base.sql import Raw

    coded = Coded(Raw("t"), None, None, 1, 1, (0, 0, 0), (1 << 30, 1 << 31, 1 << 31))
    assert coded.keys(0b111) == [[("c0", 1), ("c1", 1 << 30)], [("c2", 1)]]
    assert coded.keys(0) == []


def test_columns_that_follow_from_others_are_not_counted() -> None:
    data = pd.DataFrame({"zip": [1, 1, 2, 3], "city": ["x", "x", "y", "y"], "person": [1, 2, 3, 4]})
    with connect() as engine:
        counting = counter(engine, engine.open(Target(frame=data)), 2, "equal", False)
        counting.figures([0b00, 0b01, 0b10])
        counting.figures([0b11])
        assert (counting.counted, counting.derived) == (4, 0)
    wide = data.assign(flag=[0, 1, 0, 1])
    with connect() as engine:
        counting = counter(engine, engine.open(Target(frame=wide)), 2, "equal", False)
        for masks in ([1, 2, 4], [3, 5, 6], [7]):
            found = counting.figures(masks)
        assert (counting.counted, counting.derived) == (6, 1)
        assert found[0].classes == 4


def test_unknown_columns_and_nameless_persons_are_refused() -> None:
    data = pd.DataFrame({"Zip": [1, 2], "person": pd.array([1, None], dtype="Int64")})
    with connect() as engine:
        relation = engine.open(Target(frame=data))
        with pytest.raises(UsageError, match=r"has no column 'zap'\. Did you mean 'Zip'"):
            choose_columns(relation, "duckdb", ["zap"])
        with pytest.raises(UsageError, match="missing in 1 of 2 rows"):
            counter(engine, relation, 2, "equal", True)
        assert [c.name for c in choose_columns(relation, "duckdb", ["zip", "Zip + 1"])] == ["Zip", "Zip + 1"]


@pytest.mark.parametrize("nulls", ["equal", "distinct"])
def test_sets_counted_from_a_wider_set_have_the_same_figures(nulls: str) -> None:
    rows = [(i % 2, i // 2 % 2, None if i % 7 == 0 else 1, i // 3 % 2, i // 5 % 2, i // 7 % 2) for i in range(260)]
    data = pd.DataFrame({f"x{j}": pd.array([row[j] for row in rows], dtype="Int64") for j in range(6)})
    with connect() as engine:
        relation = engine.open(Target(frame=data))
        chosen = choose_columns(relation, engine.dialect)
        counting = SetCounter(engine, code_columns(engine, relation, chosen, None), 5, NullPolicy(nulls))
        masks = [mask_of(chosen) for chosen in oracle.all_sets(6, 3) if len(chosen) == 3]
        counting.figures([mask_of(chosen) for chosen in oracle.all_sets(6, 2)])
        counting.prepare(masks)
        found = counting.figures(masks)
        counting.close()
        kept = [done.name for done in engine.executed if done.name == "columns_cuboid"]
    assert kept
    for mask, figures in zip(masks, found, strict=True):
        expected = oracle.figures(rows, tuple(bits(mask)), 5, nulls)
        assert (figures.classes, figures.min_size) == (expected["classes"], expected["min_size"])
        assert (figures.at_risk, figures.unique, figures.pairs) == (
            expected["at_risk"],
            expected["unique"],
            expected["pairs"],
        )


@pytest.mark.parametrize("nulls", ["equal", "distinct"])
@run(60)
@given(st.data())
def test_sets_closed_together_are_those_that_would_be_counted_as_safe(nulls: str, data: st.DataObject) -> None:
    """Wide sets that put few at risk decide the sets inside them: the same sets are found, with fewer counted."""
    width, rows = data.draw(st.integers(4, 7)), data.draw(st.integers(1, 90))
    domains = data.draw(st.lists(st.integers(1, 4), min_size=width, max_size=width))
    generator = data.draw(st.randoms(use_true_random=False))
    table = pd.DataFrame(
        {
            f"x{place}": pd.array([generator.choice([None, *range(domain)]) for _ in range(rows)], dtype="Int64")
            for place, domain in enumerate(domains)
        }
    )
    request = ColumnRequest(
        Target(frame=table),
        k=data.draw(st.integers(1, 4)),
        nulls=NullPolicy(nulls),
        tolerance=data.draw(st.sampled_from([Fraction(0), Fraction(1, 20), Fraction(1, 4)])),
        effects=False,
    )
    with connect() as engine:
        counted = find_columns(engine, request)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_MANY_SETS", "_LEAST_SETS", "_ROWS_PER_SAFE_CLASS"):
            patch.setattr(counting, name, 1)
        with connect() as engine:
            closed = find_columns(engine, request)
    assert closed.sets == counted.sets
    assert (closed.border, closed.complete) == (counted.border, counted.complete)
    assert closed.repair == counted.repair


def test_one_cuboid_is_stored_at_a_time() -> None:
    generator = random.Random(1)
    data = pd.DataFrame({f"x{place}": generator.choices(range(2), k=400) for place in range(12)})
    with connect() as engine:
        relation = engine.open(Target(frame=data))
        chosen = choose_columns(relation, engine.dialect)
        counting = SetCounter(engine, code_columns(engine, relation, chosen, None), 5, NullPolicy.EQUAL)
        for size in (1, 2, 3):
            masks = [mask_of(one) for one in oracle.all_sets(12, size) if len(one) == size]
            counting.prepare(masks)
            for mask in masks:
                counting.figures([mask])
                stored = "SELECT COUNT(*) FROM duckdb_tables() WHERE table_name LIKE '%columns_cuboid%'"
                assert engine.run(Statement("cuboids", stored))[0][0] <= 1
        counting.close()
        assert sum(done.name == "columns_cuboid" for done in engine.executed) > 1
