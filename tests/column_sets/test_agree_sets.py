"""Pairs of rows read above keys, and figures learned on the way, against a look at all pairs."""

from __future__ import annotations

import math
from itertools import combinations, islice
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.spec import NullPolicy, Target
from sqlaudit.column_sets import identify
from sqlaudit.column_sets.counting import SetCounter, choose_columns, code_columns, drop_codes
from sqlaudit.column_sets.identify import AgreeSets
from sqlaudit.column_sets.masks import bits, mask_of
from sqlaudit.column_sets.request import ColumnRequest
from sqlaudit.column_sets.search import find_columns
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from tests.column_sets import oracle
from tests.column_sets.test_counting import quick

KINDS = [pa.int64(), pa.string(), pa.float64(), pa.int8(), pa.int32()]
row = st.tuples(
    st.one_of(st.none(), st.integers(0, 2)),
    st.one_of(st.none(), st.sampled_from(["", "a", "A", "a "])),
    st.one_of(st.none(), st.sampled_from([0.0, -0.0, math.nan, 1e300])),
    st.just(7),
    st.sampled_from([-(2**31), 0, 2**31 - 1]),
)
tables = st.lists(row, min_size=1, max_size=7).flatmap(lambda rows: st.lists(st.sampled_from(rows), max_size=9))


def table(rows: list[tuple[Any, ...]]) -> Target:
    columns = {f"c{i}": pa.array([one[i] for one in rows], kind) for i, kind in enumerate(KINDS)}
    return Target(frame=pa.table(columns))


def plain(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """NaN equals itself, and no zero has a sign."""
    return [tuple("nan" if isinstance(v, float) and math.isnan(v) else v for v in one) for one in rows]


def searched(engine: Engine, target: Target, k: int, nulls: NullPolicy) -> SetCounter:
    relation = engine.open(target)
    return SetCounter(engine, code_columns(engine, relation, choose_columns(relation, engine.dialect), None), k, nulls)


def agree_of(rows: list[tuple[Any, ...]], key: int, nulls: NullPolicy) -> set[int]:
    """Of all pairs of rows that agree on the key, the columns that they agree on, but for those equal everywhere."""
    alone = nulls is NullPolicy.DISTINCT
    found = {
        mask_of(i for i in range(5) if one[i] == other[i] and not (alone and one[i] is None))
        for one, other in combinations(plain(rows), 2)
    }
    return {mask for mask in found if mask & key == key and mask != 0b11111}


@pytest.mark.parametrize("nulls", [NullPolicy.EQUAL, NullPolicy.DISTINCT])
def test_pairs_above_a_key_are_all_pairs_and_figures_are_those_of_all_rows(nulls: NullPolicy) -> None:
    @quick(20)
    @given(tables, st.lists(st.integers(1, 31), min_size=1, max_size=3, unique=True), st.integers(1, 3))
    def run(rows: list[tuple[Any, ...]], keys: list[int], k: int) -> None:
        with connect() as engine:
            counter = searched(engine, table(rows), k, nulls)
            agree = AgreeSets(counter, 5)
            seen: set[int] = set()
            for key in keys:
                agree.count_pairs(key)
                agree.read_pairs(key)
                seen |= agree_of(rows, key, nulls)
                assert set(agree.maximal_sets()) == set(oracle.maximal_only(seen))
            for mask, figures in counter.cache.items():
                expected = oracle.figures(plain(rows), tuple(bits(mask)), k, nulls.value)
                assert (figures.classes, figures.min_size) == (expected["classes"], expected["min_size"]), bits(mask)
                assert (figures.at_risk, figures.unique) == (expected["at_risk"], expected["unique"]), bits(mask)
                assert figures.pairs == expected["pairs"]
            different = agree.rows == len(set(plain(rows)))
            assert different or nulls is NullPolicy.DISTINCT
            agree.close()
            drop_codes(engine)

    run()


@pytest.mark.parametrize("nulls", [NullPolicy.EQUAL, NullPolicy.DISTINCT])
def test_searches_whose_keys_have_too_many_pairs_or_that_read_several_at_once(
    nulls: NullPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a sample of few rows, so that nearly all is learned from keys."""
    monkeypatch.setattr(identify, "_SAMPLE_ROWS", 2)

    @quick(20)
    @given(tables, st.sampled_from([1, 3, 100]), st.sampled_from([0, 500]), st.one_of(st.none(), st.integers(1, 3)))
    def run(rows: list[tuple[Any, ...]], pairs: int, few: int, most: int | None) -> None:
        monkeypatch.setattr(identify, "_PAIRS", pairs)
        monkeypatch.setattr(identify, "_FEW_CANDIDATES", few)
        with connect() as engine:
            found = find_columns(engine, ColumnRequest(table(rows), identifying=True, nulls=nulls, max_size=most))
        same = plain(rows)
        expected = oracle.minimal_sets(5, lambda some: oracle.identifies(same, 5, some, nulls.value), most)
        assert found.complete
        assert {tuple(int(name[1]) for name in one.columns) for one in found.sets} == expected
        for one in found.sets:
            figures = oracle.figures(same, tuple(int(name[1]) for name in one.columns), 5, nulls.value)
            assert (one.classes, one.unique_rows) == (figures["classes"], figures["unique"])
            assert one.rows_at_risk == figures["at_risk"]

    run()


def test_different_rows_are_counted_by_what_is_read_and_equal_ones_are_found_whenever_they_appear() -> None:
    unlike = [(i // 4, "ab"[i % 2], float(i // 2 % 2), 7, 0) for i in range(8)]
    with connect() as engine:
        apart = find_columns(engine, ColumnRequest(table(unlike), identifying=True))
        twice = find_columns(engine, ColumnRequest(table(unlike + unlike[:1]), identifying=True))
    assert [one.columns for one in apart.sets] == [one.columns for one in twice.sets] == [("c0", "c1", "c2")]
    assert (apart.sets[0].classes, apart.sets[0].unique_rows) == (8, 8)
    assert (twice.sets[0].classes, twice.sets[0].unique_rows, twice.total) == (8, 7, 9)
    names = [[one.name for one in islice(found.statements, 100)] for found in (apart, twice)]
    assert ["columns_distinct" in some for some in names] == [False, True]
