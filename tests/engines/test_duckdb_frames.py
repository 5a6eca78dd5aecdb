"""Frames of pandas, polars and Arrow: read in place, and never changed."""

from __future__ import annotations

import datetime as dt
import importlib.util
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import sqlaudit
from sqlaudit.base.errors import InputError, MissingDriver, UsageError
from sqlaudit.base.relation import Kind, Statement
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.engines import connect
from tests.engines.duckdb_helpers import error_of, read

ROWS = [(34, "f"), (51, None)]
COLUMNS = {"age": [34, 51], "sex": ["f", None]}


class Streamed:
    """A frame of a package that sqlaudit does not know, with an Arrow stream."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.table(COLUMNS).__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(pd.DataFrame(COLUMNS), id="pandas"),
        pytest.param(pl.DataFrame(COLUMNS), id="polars"),
        pytest.param(pl.LazyFrame(COLUMNS), id="polars, lazy"),
        pytest.param(pa.table(COLUMNS), id="Arrow table"),
        pytest.param(pa.record_batch(COLUMNS), id="Arrow batch"),
        pytest.param(pa.table(COLUMNS).to_reader(), id="Arrow reader"),
        pytest.param(ds.dataset(pa.table(COLUMNS)), id="Arrow dataset"),
        pytest.param(Streamed(), id="Arrow stream"),
    ],
)
def test_frames_are_read_as_often_as_needed(frame: object) -> None:
    with connect() as engine:
        relation = engine.open(Target(frame=frame))
        for _ in range(2):
            assert engine.run(Statement("rows", "SELECT * FROM " + relation.sql)) == ROWS
        restricted = engine.open(Target(frame=pa.table(COLUMNS), where="age > 40"))
        assert engine.run(Statement("rows", "SELECT age FROM " + restricted.sql)) == [(51,)]
        assert list(engine.stream(Statement("rows", "SELECT * FROM " + relation.sql))) == [ROWS]


def test_values_of_pandas() -> None:
    columns = {
        "kind": pd.Categorical(["x", "y", None]),
        "count": pd.array([1, None, 3], dtype="Int64"),
        "part": [0.5, np.nan, np.inf],
        "day": pd.to_datetime(["2020-01-01", None, "2021-01-01"]),
        "moment": pd.to_datetime(["2020-01-01T00:00:00Z", None, "2020-01-01T12:00:00+02:00"], utc=True),
        "price": [Decimal("1.5"), None, Decimal("12345678901234567890.123")],
        "birth": [dt.date(2020, 1, 1), None, dt.date(1999, 1, 1)],
        "huge": [2**70, None, 1],
        7: ["a", "b", "c"],
    }
    relation, rows = read(Target(frame=pd.DataFrame(columns)))
    assert rows[1] == (*"y", None, None, None, None, None, None, None, "b")
    assert rows[2] == (
        None,
        3,
        float("inf"),
        dt.datetime(2021, 1, 1),
        dt.datetime(2020, 1, 1, 10, tzinfo=dt.UTC),
        Decimal("12345678901234567890.123"),
        dt.date(1999, 1, 1),
        1,
        "c",
    )
    assert {column.name: column.kind for column in relation.columns} == {
        "kind": Kind.TEXT,
        "count": Kind.INTEGER,
        "part": Kind.FLOAT,
        "day": Kind.TIMESTAMP,
        "moment": Kind.TIMESTAMP,
        "price": Kind.DECIMAL,
        "birth": Kind.DATE,
        "huge": relation.columns[7].kind,
        "7": Kind.TEXT,
    }
    assert relation.columns[0].type == "ENUM"


def test_a_column_of_several_kinds_is_read_as_text_and_stays_as_it_was() -> None:
    values = [1] * 120_000 + ["SECRET", None, 2.5]
    frame = pd.DataFrame({"id": pd.Series(values, dtype=object), "n": 1})
    relation, rows = read(Target(frame=frame, where="id <> '1' OR id IS NULL"))
    assert rows == [("SECRET", 1), (None, 1), ("2.5", 1)]
    assert relation.columns[0].kind == Kind.TEXT
    assert frame["id"].tolist() == values


def test_a_frame_without_rows() -> None:
    relation, rows = read(Target(frame=pa.table({"a": pa.array([], pa.int64())})))
    assert (rows, relation.columns[0].kind) == ([], Kind.INTEGER)


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        ([1], "A frame must be a pandas, polars or Arrow table, not a list."),
        ({"a": [1]}, "A frame must be a pandas, polars or Arrow table, not a dict."),
        (np.arange(3), "A frame must be a pandas, polars or Arrow table, not a ndarray."),
    ],
)
def test_what_is_no_frame(frame: object, expected: str) -> None:
    assert error_of(UsageError, Target(frame=frame)) == expected


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (pd.DataFrame(), "The frame has no columns."),
        (
            pl.DataFrame({"a": [1], "A": [2]}),
            "The columns 'a' and 'A' of 'frame' differ only in upper and lower case, which DuckDB ignores. Rename one.",
        ),
    ],
)
def test_frames_that_can_not_be_read(frame: object, expected: str) -> None:
    assert error_of(InputError, Target(frame=frame)) == expected


def test_read_options_have_no_meaning_for_a_frame() -> None:
    target = Target(frame=pa.table(COLUMNS), read=ReadOptions(delimiter=";"))
    expected = "The option 'delimiter' applies to files, not to a frame."
    assert error_of(UsageError, target) == expected


def test_polars_needs_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pyarrow")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    expected = "Reading polars frames needs the package pyarrow: pip install 'sqlaudit[frames]'."
    assert error_of(MissingDriver, Target(frame=pl.DataFrame(COLUMNS))) == expected


def test_variables_of_python_are_out_of_reach() -> None:
    private = pd.DataFrame({"a": [1]})
    assert len(private) == 1
    expected = "There is no file 'private'. For a table, name its database with db=."
    assert error_of(UsageError, Target(query="SELECT * FROM private")) == expected
    with connect() as engine, pytest.raises(UsageError) as caught:
        engine.run(Statement("ask", "SELECT * FROM private"))
    assert str(caught.value) == "There is no table or view 'private', which the step 'ask' reads."


# No two values become equal, and what cannot be told apart is refused by the column's name.

QUITE = "cannot be read without changing values. Make it text, or drop it."
LONG = np.arange(2000.0)


def values_in(frame: object) -> int:
    """How many values the column x of a frame has for DuckDB."""
    with connect() as engine:
        relation = engine.open(Target(frame=frame))
        return int(engine.run(Statement("values", "SELECT count(DISTINCT x) FROM " + relation.sql))[0][0])


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([[1234567890123.0], [1234567890124.0]], id="lists"),
        pytest.param([np.array([1 + n * 1e-9]) for n in range(6)], id="arrays"),
        pytest.param([LONG, LONG + (LONG == 1000)], id="long arrays"),
        pytest.param([np.array([0.1], "float32"), np.array([0.2], "float32")], id="arrays of float32"),
        pytest.param([{"a": 0.1}, {"a": 0.1 + 2**-56}], id="dictionaries"),
        pytest.param([("a",), ("b",), None], id="tuples"),
        pytest.param([[float("nan")], [None], [1.0]], id="NaN and None in lists"),
        pytest.param([[2**53], [2**53 + 1]], id="whole numbers in lists"),
        pytest.param([[dt.datetime(2020, 1, 1)], [dt.datetime(2020, 1, 1, 0, 0, 0, 1)]], id="moments in lists"),
        pytest.param([1, 1.5, 2], id="whole and other numbers"),
        pytest.param(pd.Categorical([2**53, 2**53 + 1, None]), id="categories of whole numbers"),
        pytest.param(pd.Categorical(pd.to_datetime([1, 2], utc=True)), id="categories of moments"),
        pytest.param(pd.cut([1, 11, 12, 21], [0, 10, 20, 30]), id="pd.cut"),
        pytest.param(pd.IntervalIndex.from_tuples([(0, 0.1), (0, 0.1 + 2**-56)]), id="intervals"),
        pytest.param(pd.period_range("2020-01", "2020-03", freq="M"), id="periods"),
        pytest.param(pd.arrays.SparseArray([0, 0, 1]), id="sparse"),
        pytest.param(np.array([1, 2, 256], ">i4"), id="big-endian"),
        pytest.param(pd.Series([1, 2], dtype=pd.ArrowDtype(pa.duration("ns"))), id="Arrow durations"),
        pytest.param(pd.Series([1, 2], dtype=pd.ArrowDtype(pa.timestamp("ns", "UTC"))), id="Arrow moments"),
        pytest.param(pd.array([1, None, 2], dtype="Int64"), id="Int64"),
    ],
)
def test_values_of_pandas_stay_different(values: object) -> None:
    frame = pd.DataFrame({"x": pd.Series(values)}) if isinstance(values, list) else pd.DataFrame({"x": values})
    expected = len({repr(value.tolist() if hasattr(value, "tolist") else value) for value in frame["x"].dropna()})
    assert values_in(frame) == expected
    assert values_in(frame[::-1]) == expected


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1, "1"], "values of different types"),
        ([1, True], "values of different types"),
        ([1, 1.0, "a"], "values of different types"),
        ([b"1", "b'1'"], "values of different types"),
        ([dt.date(2020, 1, 1), "2020-01-01"], "values of different types"),
        (pd.Categorical([1, "1"]), "values of different types"),
        ([[1], ["1"]], QUITE),
        ([[1], (1,)], "the type object (list, tuple), which " + QUITE),
        ([[1], np.array([1])], QUITE),
        ([["a"], [b"a"]], QUITE),
        ([[True], [1]], QUITE),
        ([[dt.date(2020, 1, 1)], [dt.datetime(2020, 1, 1)]], QUITE),
        ([[dt.datetime(2020, 1, 1)], [dt.datetime(2020, 1, 1, tzinfo=dt.UTC)]], QUITE),
        ([[pd.Timestamp(1)], [pd.Timestamp(2)]], QUITE),
        ([[np.datetime64(1, "ns")]], QUITE),
        ([{"a": 1}, {"a": 1, "b": None}], QUITE),
        ([[2**53 + 1], [1.5]], QUITE),
        ([[2**70]], QUITE),
        ([pd.Series([1]), pd.Series([2])], QUITE),
        ([{1, 2}, {2, 1}], QUITE),
        ([Streamed(), Streamed()], QUITE),
        (np.array([1, 1 + 2j]), QUITE),
        (np.array([1, 2], np.longdouble), QUITE),
        (["\ud800", "a"], "half of a surrogate pair"),
        ([["\ud800"], ["a"]], "half of a surrogate pair"),
        (["\ud800", 1], "half of a surrogate pair"),
    ],
)
def test_values_of_pandas_that_would_become_equal_are_refused(values: object, said: str) -> None:
    column = pd.Series(values, dtype=object) if isinstance(values, list) else values
    sentence = error_of(InputError, Target(frame=pd.DataFrame({"y": 1, "x": column})))
    assert sentence.startswith("Column 'x' of the frame has ")
    assert said in sentence


EPOCH = pa.array([1, 2], pa.timestamp("ns", "UTC"))


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(pa.array(np.array([1.5, 2.5], "float16")), id="float16"),
        pytest.param(pa.array([np.array([1.5], "float16"), np.array([2.5], "float16")]), id="lists of float16"),
        pytest.param(pa.array([Decimal("1E3"), Decimal("2E3")], pa.decimal128(5, -3)), id="negative scale"),
        pytest.param(pa.array([Decimal(1), Decimal(2)], pa.decimal256(50, 0)), id="decimal256"),
        pytest.param(EPOCH, id="ns with zone"),
        pytest.param(EPOCH.dictionary_encode(), id="dictionary of ns"),
        pytest.param(pa.RunEndEncodedArray.from_arrays([1, 2], EPOCH), id="run ends of ns"),
        pytest.param(pa.array([1, 2], pa.time64("ns")), id="times"),
        pytest.param(pa.array([1, 2], pa.duration("ns")), id="durations"),
        pytest.param(pa.array([2**60, 2**60 + 1], pa.duration("s")), id="long durations"),
        pytest.param(pa.array([[1], [2]], pa.list_view(pa.int64())), id="list views"),
        pytest.param(pa.array([[("a", 1)], [("a", 2)]], pa.map_(pa.string(), pa.int64())), id="maps"),
        pytest.param(pa.array([[1000], [2000]], pa.list_(pa.timestamp("ns", "UTC"))), id="lists of whole ns"),
    ],
)
def test_values_of_arrow_stay_different(values: pa.Array) -> None:
    table = pa.table({"x": values})
    for frame in (table, ds.dataset(table), table.to_reader()):
        assert values_in(frame) == 2


UNREAD = [
    pa.UnionArray.from_dense(pa.array([0], pa.int8()), pa.array([0], pa.int32()), [pa.array([1]), pa.array(["1"])]),
    pa.array([[Decimal(1)]], pa.list_(pa.decimal256(50, 0))),
    pa.array([[1]], pa.list_(pa.timestamp("ns", "UTC"))),
    pa.array([[1]], pa.list_(pa.duration("ns"))),
    pa.array([1], pa.date64()),
    pa.array([pa.MonthDayNano([1, 0, 0])]),
    pa.array([{"a": 1}], pa.struct([("a", pa.int64()), ("A", pa.int64())])),
    pa.array([{}], pa.struct([])),
]  # fmt: skip


@pytest.mark.parametrize("values", UNREAD, ids=lambda values: str(values.type))
def test_types_of_arrow_that_would_change_are_refused(values: pa.Array, tmp_path: Path) -> None:
    table = pa.table({"x": values})
    for frame in (table, ds.dataset(table)):
        sentence = error_of(InputError, Target(frame=frame))
        assert sentence == f"Column 'x' of the frame has the type {values.type}, which {QUITE}"
    path = str(tmp_path / "p.feather")
    try:
        feather.write_feather(table, path)
    except pa.ArrowException:  # the writer has no such type
        return
    assert error_of(InputError, Target(relation=path)).startswith(f"Column 'x' of {path!r} has the type ")


def test_types_of_polars_that_arrow_does_not_have() -> None:
    wide = [pl.Int128] if hasattr(pl, "Int128") else []  # since polars 1.18
    for kind in (*(pl.List(kind) for kind in wide), pl.Object):
        values = [[1]] if kind != pl.Object else [Streamed()]
        frame = pl.DataFrame({"x": pl.Series(values, dtype=kind)})
        assert (
            error_of(InputError, Target(frame=frame)) == f"Column 'x' of the frame has the type {kind}, which {QUITE}"
        )
    whole = [pl.DataFrame({"x": [1, 2]}, schema={"x": kind}) for kind in wide]
    for frame in (*whole, pl.DataFrame({"x": [1, 2, 2]})[::-1]):
        assert values_in(frame) == values_in(frame.lazy()) == 2


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2], [1, 3]], columns=["a", "a"]),
        pd.DataFrame([[1, 2], [1, 3]], columns=["a", "b"]).rename(columns={"b": "a"}),
        pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]),
        pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]).to_reader(),
    ],
)
def test_two_columns_of_one_name_are_refused(frame: object, tmp_path: Path) -> None:
    assert error_of(InputError, Target(frame=frame)) == "The frame has two columns named 'a'. Rename one of them."
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    for name, new in (("p.feather", pa.ipc.new_file), ("p.arrows", pa.ipc.new_stream)):
        path = str(tmp_path / name)
        with new(path, table.schema) as writer:
            writer.write_table(table)
        assert error_of(InputError, Target(relation=path)) == f"{path!r} has two columns named 'a'. Rename one of them."


def test_names_that_are_one_text_are_refused() -> None:
    expected = "The frame has two columns named '1'. Rename one of them."
    assert error_of(InputError, Target(frame=pd.DataFrame([[1, 2]], columns=["1", 1]))) == expected


def columns_of_frame(frame: pd.DataFrame) -> list[str]:
    return [column.name for column in read(Target(frame=frame))[0].columns]


def test_an_index_with_values_is_a_column() -> None:
    mails = [f"p{n}@example.org" for n in range(4)]
    assert columns_of_frame(pd.DataFrame({"a": 1}, index=mails)) == ["index", "a"]
    assert columns_of_frame(pd.DataFrame({"a": 1}, index=pd.Index([3, 1, 2], name="id"))) == ["id", "a"]
    assert columns_of_frame(pd.DataFrame({"a": 1}, index=pd.to_datetime(["2020-01-01"]))) == ["index", "a"]
    two = pd.MultiIndex.from_tuples([("x", 1), ("y", 2)], names=["who", None])
    assert columns_of_frame(pd.DataFrame({"a": 1}, index=two)) == ["who", "level_1", "a"]
    result = sqlaudit.audit(pd.DataFrame({"a": 1}, index=mails), qi=["a"], require={"k": 2}, all_columns_named=True)
    assert not result.passed


def test_numbers_of_rows_are_no_column() -> None:
    frame = pd.DataFrame({"a": range(9), "b": 1})
    for one in (frame, frame[frame["a"] > 5], frame[::-1], frame.sort_values("b").tail(3), frame.head(0)):
        assert columns_of_frame(one) == ["a", "b"]
    assert columns_of_frame(pd.DataFrame({"a": []}, index=[])) == ["a"]
    assert columns_of_frame(frame.set_index("a", drop=False)) == ["a", "b"]


def test_an_index_with_the_name_of_another_column_is_refused() -> None:
    frame = pd.DataFrame({"a": [1, 2]}, index=pd.Index([1, 3], name="a"))
    expected = "The frame has a column and an index named 'a'. Rename one of them."
    assert error_of(InputError, Target(frame=frame)) == expected
    frame = pd.DataFrame({"index": [1], "level_0": [2]}, index=["x"])
    assert "has an index without a name" in error_of(InputError, Target(frame=frame))


def test_what_is_written_are_the_values_of_the_cells(tmp_path: Path) -> None:
    """A release of a frame is that of the Parquet file that it was read from, with every digit."""
    source = tmp_path / "points.parquet"
    points = [[float(n) * 1e-9 + 1] for n in range(2)] * 5
    pq.write_table(pa.table({"x": points, "sex": ["f"] * 9 + ["m"]}), source)
    releases = []
    for place, given in enumerate((pd.read_parquet(source), source)):
        target = tmp_path / f"release{place}.parquet"
        sqlaudit.suppress(given, qi=["x", "sex"], require={"k": 2}, to=target)
        releases.append(pq.read_table(target))
    assert releases[0] == releases[1]
    assert set(releases[0].column("x").to_pylist()) == {"[1.0]", "[1.000000001]"}
