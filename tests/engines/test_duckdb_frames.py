"""Frames of pandas, polars and Arrow: read in place, and never changed."""

from __future__ import annotations

import datetime as dt
import importlib.util
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

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
            pd.DataFrame({"x": pd.period_range("2020-01", "2020-03", freq="M")}),
            "Column 'x' of the frame has the type period[M], which DuckDB does not read.",
        ),
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
