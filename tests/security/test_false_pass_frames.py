"""Frames whose cells are nearly equal: no PASS that the values of Python do not support.

The oracle looks at the objects in the cells alone: it tells apart whatever Python tells apart by type or value, and
counts how many rows share each combination. A frame that cannot be read so is refused by the name of the column.
"""

from __future__ import annotations

import datetime as dt
import math
import tempfile
from collections import Counter
from collections.abc import Hashable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import InputError
from tests.strategies import fewer

EXAMPLES = settings(
    max_examples=fewer(200, some=40),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
UTC = dt.UTC
LONG = np.arange(1100.0)
POOLS: dict[str, Sequence[Any]] = {
    "lists": ([1234567890123.0], [1234567890124.0], [1.0], [1.0 + 2**-52], [], [None], [math.nan], [[1.0]]),
    "arrays": (LONG, LONG + (LONG == 500), np.array([1.0]), np.array([1.0 + 2**-52]), np.array([1], "int8")),
    "mixed lists": ([1], ["1"], (1,), [True], [1.0], [2**53 + 1], [float(2**53)], [b"1"]),
    "dictionaries": ({"a": 1}, {"a": 2}, {"a": 1, "b": None}, {"b": 1}, {"a": "1"}, {"a": [1]}),
    "mixed": (1, "1", 1.0, True, "True", "1.0", b"1", "b'1'", Decimal(1), 2, "2"),
    "numbers": (1, 1.5, 2**53, 2**53 + 1, 2.0**53, 2**70, 2**70 + 1, -1),
    "decimals": (Decimal("1"), Decimal("1.0"), Decimal("1e30"), Decimal("1e-30"), Decimal(10**39), Decimal(10**39 + 1)),
    "clocks": (
        dt.date(2020, 1, 1),
        dt.datetime(2020, 1, 1),
        dt.datetime(2020, 1, 1, tzinfo=UTC),
        pd.Timestamp(1),
        pd.Timestamp(2),
        "2020-01-01",
    ),
    "spans": (pd.Timedelta(1), pd.Timedelta(2), dt.timedelta(microseconds=1), "0 days 00:00:00.000000001"),
    "texts": ("a", "A", "a ", "a\0", "\ud800", "é", "é"),
    "intervals": (*pd.interval_range(0, 3), pd.Interval(0, 1.0 + 2**-52), "(0, 1]"),
    "sets": ({1, 2}, {2, 1}, frozenset({1})),
}
TYPED: dict[str, Any] = {
    "ns with zone": pd.Series(pd.to_datetime([1, 2, 1000, 2000], utc=True)),
    "ns": pd.Series(pd.to_datetime([1, 2, 1000, 2000])),
    "spans of ns": pd.Series(pd.to_timedelta([1, 2, 1000])),
    "cut": pd.Series(pd.cut([1, 11, 21, 22], [0, 10, 20, 30])),
    "qcut": pd.Series(pd.qcut([0.1, 0.2, 0.3, 0.30000000000000004], 3)),
    "categories of numbers": pd.Series(pd.Categorical([2**53, 2**53 + 1, 1])),
    "categories of moments": pd.Series(pd.Categorical(pd.to_datetime([1, 2], utc=True))),
    "categories of kinds": pd.Series(pd.Categorical([1, "1", "a"])),
    "months": pd.Series(pd.period_range("2020-01", periods=3, freq="M")),
    "sparse": pd.Series(pd.arrays.SparseArray([0.0, 0.0, 1.0])),
    "half": pd.Series(np.array([0.1, 0.2], "float16")),
    "Int64": pd.Series([2**53, 2**53 + 1, 1], dtype="Int64"),
    "Arrow spans": pd.Series([1, 2, 1000], dtype=pd.ArrowDtype(pa.duration("ns"))),
    "Arrow lists": pd.Series([[1.0], [1.0 + 2**-52]], dtype=pd.ArrowDtype(pa.list_(pa.float64()))),
}
ARROW = {
    "half": pa.array(np.array([1.5, 1.501], "float16")),
    "scale": pa.array([Decimal("1E3"), Decimal("2E3")], pa.decimal128(5, -3)),
    "wide": pa.array([Decimal(10**40), Decimal(10**40 + 1)], pa.decimal256(50, 0)),
    "nested wide": pa.array([[Decimal(10**40)], [Decimal(10**40 + 1)]], pa.list_(pa.decimal256(50, 0))),
    "zone": pa.array([1, 2, 1000], pa.timestamp("ns", "UTC")),
    "nested zone": pa.array([[1], [2], [1000]], pa.list_(pa.timestamp("ns", "UTC"))),
    "nested whole zone": pa.array([[2000], [1000]], pa.list_(pa.timestamp("ns", "UTC"))),
    "times": pa.array([1, 2], pa.time64("ns")),
    "spans": pa.array([1, 2], pa.duration("ns")),
    "months": pa.array([pa.MonthDayNano([1, 0, 0]), pa.MonthDayNano([0, 30, 0]), pa.MonthDayNano([0, 30, 1])]),
    "date64": pa.array([0, 1, 86_400_000], pa.date64()),
    "union": pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 1]), pa.array(["1", "1"])]),
    **(
        {"json": pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{"a":1}', '{"a": 1}']))}
        if hasattr(pa, "json_")  # since pyarrow 19
        else {}
    ),
    "struct": pa.array([{"a": 0.1}, {"a": 0.1 + 2**-56}]),
}


def exactly(cell: Any) -> Hashable:
    """Return a key that two cells share exactly if Python takes them for one value of one type."""
    if isinstance(cell, np.ndarray | list | tuple):
        kind = "array" if isinstance(cell, np.ndarray) else type(cell).__name__
        return kind, tuple(map(exactly, cell.tolist() if isinstance(cell, np.ndarray) else cell))
    if isinstance(cell, dict):
        return "dict", tuple(sorted((name, exactly(value)) for name, value in cell.items()))
    if isinstance(cell, set | frozenset):
        return type(cell).__name__, frozenset(cell)
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return None
    if isinstance(cell, float) and math.isnan(cell):
        return "nan"
    kind = "number" if isinstance(cell, int | float | Decimal) and not isinstance(cell, bool) else type(cell).__name__
    return kind, cell


def judge(frame: Any, cells: Sequence[Any], k: int) -> None:
    """A refusal names the column; else no class is larger, and no value more frequent, than the cells say."""
    top = [None if isinstance(cell, float) and math.isnan(cell) else cell for cell in cells]
    counts = Counter(map(exactly, top))
    for role in ({"qi": ["x"]}, {"qi": ["one"], "sensitive": "x"}):
        require = {"k": k} if "sensitive" not in role else {"l": len(counts) + 1}
        try:
            result = sqlaudit.audit(frame, require=require, **role)  # type: ignore[arg-type]
        except InputError as refused:
            if "'x'" not in str(refused):
                raise
            return
        assert result.rows == len(cells)
        if "sensitive" in role:
            assert not result.passed, (cells, result.checks)
        else:
            assert result.checks[0].level <= min(counts.values()), (cells, result.checks[0].level)


@EXAMPLES
@given(st.data())
def test_objects_in_cells(data: st.DataObject) -> None:
    pool = data.draw(st.sampled_from(sorted(POOLS)))
    values = data.draw(st.lists(st.sampled_from([*POOLS[pool], None]), min_size=1, max_size=4))
    cells = [value for value in values for _ in range(data.draw(st.integers(1, 3)))]
    column = pd.Series(cells, dtype=object)
    if data.draw(st.booleans()) and all(isinstance(cell, Hashable) for cell in cells):
        column = column.astype("category")
        cells = column.tolist()  # pandas has made one category of equal values
    frame = pd.DataFrame({"x": column, "one": 1})
    if data.draw(st.booleans()):
        frame, cells = frame[::-1], cells[::-1]
    judge(frame, cells, data.draw(st.integers(1, 3)))


@EXAMPLES
@given(st.sampled_from(sorted(TYPED)), st.data())
def test_types_of_pandas(kind: str, data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, len(TYPED[kind]) - 1), min_size=1, max_size=6))
    column = TYPED[kind].iloc[places].reset_index(drop=True)
    if data.draw(st.booleans()):
        column = column.where(column.index != 0)
    if data.draw(st.booleans()):
        column = column[::-1]
    judge(pd.DataFrame({"x": column, "one": 1}), column.tolist(), data.draw(st.integers(1, 3)))


@EXAMPLES
@given(st.sampled_from(sorted(ARROW)), st.sampled_from(["table", "polars", "feather", "dictionary"]), st.data())
def test_types_of_arrow(kind: str, form: str, data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, len(ARROW[kind]) - 1), min_size=1, max_size=6))
    column = pa.concat_arrays([ARROW[kind].slice(place, 1) for place in places])
    cells = column.to_pylist()
    if kind in ("zone", "spans", "times"):
        cells = column.cast(pa.int64()).to_pylist()
    elif kind == "json":
        cells = column.storage.to_pylist()
    k = data.draw(st.integers(1, 3))
    if form == "dictionary" and kind in ("zone", "wide", "times"):
        column = column.dictionary_encode()
    table = pa.table({"x": column, "one": [1] * len(places)})
    if form == "feather":
        with tempfile.TemporaryDirectory(prefix="sqlaudit-") as folder:
            path = str(Path(folder) / "x.feather")
            with pa.ipc.new_file(path, table.schema) as writer:
                writer.write_table(table)
            judge(path, cells, k)
        return
    if form == "polars":
        try:
            table = pl.from_arrow(table)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, pa.ArrowException, ValueError):
            return
        if kind == "date64":
            return  # polars makes dates of them
    judge(table, cells, k)


@pytest.mark.parametrize("pool", sorted(POOLS))
def test_a_column_without_a_role_is_read_or_named(pool: str) -> None:
    frame = pd.DataFrame({"x": pd.Series(list(POOLS[pool]), dtype=object), "one": 1})
    judge(frame, list(POOLS[pool]), 2)
