"""Numbers of any length are as different in the audit as they are in the file.

What counts as equal: a column that is read as numbers has as many values as its texts have exact numbers (`1e3` is
1000, `1.0` is 1); a column that is read as text has as many values as there are texts.
"""

from __future__ import annotations

import datetime
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.base.relation import Kind, Statement
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.duckdb import csv as csv_files
from sqlaudit.engines.duckdb import inputs as json_files
from sqlaudit.engines.duckdb.engine import DuckDBEngine
from tests.engines.duckdb_helpers import error_of, read, rows_of, types_of, written
from tests.strategies import run

BIG = 2**53
NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
LONG = [f"52.123456789012345{i}" for i in range(10, 20)]
IDS = [f"{10**39 + i}" for i in range(10)]


def counted(engine: Engine, path: str, **options: Any) -> tuple[Kind, int]:
    """The kind of the column `n` of a file, and how many values it has in what is audited."""
    relation = engine.open(Target(relation=path, read=ReadOptions(**options)))
    kind = next(column.kind for column in relation.columns if column.name == "n")
    found = engine.run(Statement("count", "SELECT count(DISTINCT n) FROM " + relation.sql))
    return kind, int(found[0][0])


def csv_of(folder: Path, texts: Sequence[str]) -> str:
    return written(folder / "n.csv", "n,x\n" + "".join(f"{text},a\n" for text in texts))


def json_of(folder: Path, texts: Sequence[str]) -> str:
    return written(folder / "n.json", "".join('{"n": %s, "x": "a"}\n' % text for text in texts))  # noqa: UP031


def digits(low: int, high: int) -> st.SearchStrategy[str]:
    return st.integers(low, high).flatmap(lambda n: st.text("0123456789", min_size=n, max_size=n))


@st.composite
def numerals(draw: st.DrawFn) -> str:
    """A number as JSON and CSV write it: up to 45 digits, before and behind the point, with a power now and then."""
    whole = draw(st.one_of(st.just("0"), digits(1, 30).map(lambda text: text.lstrip("0") or "0")))
    part = draw(st.one_of(st.just(""), digits(1, 15).map(lambda text: "." + text)))
    power = draw(st.sampled_from(["", "", "", "", "e0", "e3", "E+2", "e-7", "e300", "e-320"]))
    return draw(st.sampled_from(["", "-"])) + whole + part + power


@st.composite
def columns(draw: st.DrawFn) -> list[str]:
    """Numbers, and neighbours of them: one more digit, the last one changed, or written in another way."""
    found = draw(st.lists(numerals(), min_size=1, max_size=4))
    for text in draw(st.lists(st.sampled_from(found), max_size=4)):
        mantissa, sign, power = text.lower().partition("e")
        point = "" if "." in mantissa else "."
        zeros = mantissa + point + "0"
        near = mantissa + point + draw(digits(1, 3))
        found.append(draw(st.sampled_from([zeros, near])) + sign + power)
        if point and not sign:
            found.append(str(int(mantissa) + 1))
    return found


Maker = Callable[[Path, Sequence[str]], str]


def counted_together(folder: Path, make: Maker, columns: Sequence[Sequence[str]]) -> list[tuple[Kind, int]]:
    """The same for several columns, each in a file of its own, from one engine: it opens all before it reads any.

    Small files of CSV are looked at twice, and what is found has to be what one look at a large one finds.
    """
    files = []
    for place, texts in enumerate(columns):
        (folder / str(place)).mkdir()
        files.append(Target(relation=make(folder / str(place), texts)))
    found = counted_in(files)
    if make is csv_of:
        with patch.object(csv_files, "_SMALL_BYTES", 0):
            assert counted_in(files) == found
    return found


def counted_in(files: Sequence[Target]) -> list[tuple[Kind, int]]:
    found = []
    with DuckDBEngine(targets=files) as engine:
        for relation in [engine.open(file) for file in files]:
            kind = next(column.kind for column in relation.columns if column.name == "n")
            rows = engine.run(Statement("count", "SELECT count(DISTINCT n) FROM " + relation.sql))
            found.append((kind, int(rows[0][0])))
    return found


def check(engine: Engine, make: Maker, texts: list[str]) -> None:
    """The number of values of what is audited, beside exact readings of the raw texts."""
    with tempfile.TemporaryDirectory() as folder:
        kind, found = counted(engine, make(Path(folder), texts))
    assert_exact(make, texts, kind, found)


def check_together(make: Maker, columns: list[list[str]]) -> None:
    """The same for several columns, which one engine reads."""
    with tempfile.TemporaryDirectory() as folder:
        found = counted_together(Path(folder), make, columns)
    for texts, (kind, number) in zip(columns, found, strict=True):
        assert_exact(make, texts, kind, number)


def assert_exact(make: Maker, texts: list[str], kind: Kind, found: int) -> None:
    exact = len({Decimal(text) for text in texts})
    assert found == (exact if kind in NUMBERS else len(set(texts)))
    if all(len(text) <= 15 and "e" not in text.lower() for text in texts):
        assert kind in NUMBERS or make is csv_of  # short numbers stay numbers; DuckDB finds `00.5` in CSV odd


SEVERAL = st.lists(columns(), min_size=4, max_size=4)
"""One engine reads them all: opening it takes longer than one of them."""


@run(30, some=4)
@given(columns=SEVERAL)
def test_csv_numbers_are_as_many_as_in_the_file(columns: list[list[str]]) -> None:
    check_together(csv_of, columns)


@run(30, some=4)
@given(columns=SEVERAL)
def test_json_numbers_are_as_many_as_in_the_file(columns: list[list[str]]) -> None:
    check_together(json_of, columns)


CHANGED: dict[str, tuple[list[str], Kind | None, int]] = {
    "forty digits": (IDS, Kind.TEXT, 10),
    "eighteen digits with a point": (LONG, Kind.TEXT, 10),
    "2^53 beside a power": ([str(BIG), str(BIG + 1), "1e3"], Kind.TEXT, 3),
    "beyond 64 bits": ([str(2**64 + i) for i in range(3)], None, 3),
    "whole numbers": ([str(BIG), str(BIG + 1)], Kind.INTEGER, 2),
    "floats as written": (["0.1", "52.520008000000004", "0.30000000000000004"], Kind.FLOAT, 3),
    "equal numbers": (["1.50", "1.5", "1e3", "1000.0"], Kind.FLOAT, 2),
    "below the smallest": (["5e-324", "4.9e-324", "0.5"], Kind.TEXT, 3),
    "above the largest": (["1e400", "2e400", "0.5"], Kind.TEXT, 3),
}
"""Texts, their kind, and how many values they are; several whole numbers beyond 64 bits may be of any kind."""


@pytest.mark.parametrize("make", [csv_of, json_of])
def test_numbers_that_their_type_would_change_stay_text(tmp_path: Path, make: Maker) -> None:
    columns = counted_together(tmp_path, make, [texts for texts, _, _ in CHANGED.values()])
    found = dict(zip(CHANGED, columns, strict=True))
    assert {name: number for name, (_, number) in found.items()} == {
        name: number for name, (_, _, number) in CHANGED.items()
    }
    assert {name: kind for name, (kind, _) in found.items() if name != "beyond 64 bits"} == {
        name: kind for name, (_, kind, _) in CHANGED.items() if kind is not None
    }
    for name in ("eighteen digits with a point", "above the largest"):
        path = make(tmp_path, CHANGED[name][0])
        assert sqlaudit.audit(path, qi=["n"], require=["k=2"]).classes.count == CHANGED[name][2]


@pytest.mark.parametrize(
    ("texts", "type_name", "rows"),
    [
        pytest.param(["0x1F", "31"], "VARCHAR", ["0x1F", "31"], id="another base"),
        pytest.param(["1_000", "1000"], "VARCHAR", ["1_000", "1000"], id="underscores"),
        pytest.param(
            ["10:00:00.1234567", "10:00:00.1234568"],
            "VARCHAR",
            ["10:00:00.1234567", "10:00:00.1234568"],
            id="nanoseconds",
        ),
        pytest.param(
            ["2020-01-01 10:00:00.1234567", "2020-01-01 10:00:00.1234568"],
            "VARCHAR",
            ["2020-01-01 10:00:00.1234567", "2020-01-01 10:00:00.1234568"],
            id="nanoseconds of a day",
        ),
        pytest.param(
            ["2020-01-01 10:00:00.123"],
            "TIMESTAMP",
            [datetime.datetime(2020, 1, 1, 10, 0, 0, 123_000)],
            id="milliseconds",
        ),
    ],
)
def test_other_texts_of_csv_that_a_type_would_change(
    tmp_path: Path, texts: list[str], type_name: str, rows: list[object]
) -> None:
    path = csv_of(tmp_path, texts)
    assert types_of(path)["n"] == type_name
    assert [row[0] for row in rows_of(path)] == rows


TIMES = {
    "seconds or none": ["12:00", "12:00:00"],
    "fractions": ["12:00:00", "12:00:00.000"],
    "zeros": ["2020-01-01", "2020-1-1"],
    "zones": ["2020-01-02 00:00:00+00", "2020-01-02 01:00:00+01:00"],
    "a zone and none": ["2020-01-02T00:00:00Z", "2020-01-02 00:00:00"],
    "the end of a day": ["2020-01-01 24:00:00", "2020-01-02 00:00:00"],
    "days first": ["13/02/2020", "13/2/2020"],
}


def quoted(folder: Path, texts: Sequence[str]) -> str:
    return json_of(folder, [json.dumps(text) for text in texts])


@pytest.mark.parametrize("make", [csv_of, quoted])
def test_times_that_are_written_in_two_ways_stay_two(tmp_path: Path, make: Maker) -> None:
    """Whoever reads the file tells them apart, and a zone that is not written may be another one."""
    found = counted_together(tmp_path, make, list(TIMES.values()))
    assert dict(zip(TIMES, found, strict=True)) == dict.fromkeys(TIMES, (Kind.TEXT, 2))


def test_times_that_are_as_many_as_their_texts_stay_times(tmp_path: Path) -> None:
    times = [["2020-01-31", "2020-02-01"], ["31.1.2020", "1.12.2020"], ["12:00", "12:30"]]
    found = counted_together(tmp_path, csv_of, [texts * 2 for texts in times])
    assert [(kind in (Kind.DATE, Kind.TIME), number) for kind, number in found] == [(True, 2)] * 3


def test_times_of_json_without_keys(tmp_path: Path) -> None:
    day = written(tmp_path / "days.json", '["2020-01-01", "2020-01-02"]')
    assert list(types_of(day).values()) == ["DATE"]
    twice = written(tmp_path / "twice.json", '["2020-01-01", "2020-1-1"]')
    assert "dates or times" in error_of(InputError, Target(relation=twice))


def test_a_number_behind_the_sample_is_not_rounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "_FULL_SCAN_BYTES", 1000)  # files of 32 MB are looked through, and take their time
    monkeypatch.setattr(json_files, "_FULL_SCAN_BYTES", 1000)
    lines = "".join(f"{i % 5},x\n" for i in range(220_000))
    path = written(tmp_path / "n.csv", "n,x\n" + lines + "1.4,y\n")
    with DuckDBEngine() as engine:
        assert counted(engine, path) == (Kind.TEXT, 6)
    lines = "".join('{"n": %d, "x": "x"}\n' % (i % 5) for i in range(30_000))  # noqa: UP031
    path = written(tmp_path / "n.json", lines + '{"n": 1.4, "x": "y"}\n')
    with DuckDBEngine() as engine:
        assert counted(engine, path) == (Kind.TEXT, 6)


def test_files_of_one_table_are_looked_through_together(tmp_path: Path) -> None:
    csv_of(tmp_path, ["1.5"])
    written(tmp_path / "o.csv", "n,x\n" + "".join(f"{text},a\n" for text in LONG))
    assert len({row[0] for row in rows_of(str(tmp_path / "*.csv"))}) == 11


def test_json_beside_its_long_numbers_keeps_its_types(tmp_path: Path) -> None:
    records = [
        '{"n": 52.12345678901234561, "day": "2020-01-31", "s": "a \\" 5, 12345678901234567890.5", "k": {"z": 1.5}}',
        '{"n": 52.12345678901234562, "b": true, "k": {"z": 2}, "m": [1, {"q": 52.12345678901234561}]}',
    ]
    path = written(tmp_path / "n.json", "[" + ",\n".join(records) + "]")
    assert types_of(path) == {
        "n": "VARCHAR",
        "day": "DATE",
        "s": "VARCHAR",
        "k": "JSON",
        "b": "BOOLEAN",
        "m": "VARCHAR",
    }
    first, second = rows_of(path)
    assert first == (
        "52.12345678901234561",
        datetime.date(2020, 1, 31),
        'a " 5, 12345678901234567890.5',
        '{"z":1.5}',
        None,
        None,
    )
    assert second[5] == '["number:1",{"q":"number:52.12345678901234561"}]'
    assert rows_of(path, all_text=True)[0][0] == "52.12345678901234561"
    twins = written(tmp_path / "t.json", '[{"id": 9007199254740993, "k": {"z": 1.5}}]')
    assert types_of(twins) == {"id": "BIGINT", "k": "STRUCT(z DOUBLE)"}
    alone = written(tmp_path / "alone.json", "[" + ",".join(LONG) + "]")
    assert error_of(InputError, Target(relation=alone)).startswith(f"{alone!r} has numbers with more digits")


WIDE = [10**37 + i for i in range(10)]
FRAMES = {
    "39 digits": pd.DataFrame({"n": [Decimal(text) for text in IDS]}),
    "wide": pd.DataFrame({"n": [Decimal(10**30), *(Decimal(f"0.12345678901234567{i}") for i in range(9))]}),
    "no number": pd.DataFrame({"n": [*(Decimal(BIG + i) for i in range(9)), Decimal("Infinity")]}, dtype=object),
    "integers": pd.DataFrame({"n": [2**64 + i for i in range(10)]}, dtype=object),
    "long integers": pd.DataFrame({"n": [2**130 + i for i in range(10)]}, dtype=object),
    "several kinds": pd.DataFrame({"n": [1.5, *(BIG + i for i in range(9))]}, dtype=object),
    "arrow": pa.table({"n": pa.array([Decimal(text) for text in IDS], pa.decimal256(41, 1))}),
    **({"polars": pl.DataFrame({"n": pl.Series(WIDE, dtype=pl.Int128)})} if hasattr(pl, "Int128") else {}),
}


@pytest.mark.parametrize("name", FRAMES)
def test_numbers_of_frames_are_as_many_as_in_the_frame(name: str) -> None:
    assert len({row[0] for row in read(Target(frame=FRAMES[name]))[1]}) == 10


def _objects(*values: object) -> pd.DataFrame:
    return pd.DataFrame({"n": pd.Series(values, dtype=object)})


MOMENT = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
FINE = {
    "arrow": pa.table({"n": pa.array([1, 2], pa.duration("ns"))}),
    "polars": pl.DataFrame({"n": pl.Series([1, 2], dtype=pl.Duration("ns"))}),
    "pandas": pd.DataFrame({"n": pd.to_timedelta([1, 2], unit="ns")}),
    "pandas with a zone": pd.DataFrame({"n": pd.to_datetime([1, 2], unit="ns", utc=True)}),
    "pandas without": pd.DataFrame({"n": pd.to_datetime([1, 2], unit="ns")}),
    "objects": _objects(pd.Timedelta(1), pd.Timedelta(2)),
    "objects of pandas": _objects(pd.Timestamp(1), pd.Timestamp(2)),
    "a day and its midnight": _objects(MOMENT.date(), datetime.datetime(2020, 1, 1)),
    "a zone and none": _objects(MOMENT, MOMENT.replace(tzinfo=None)),
    "hours with a zone and without": _objects(MOMENT.timetz(), MOMENT.time()),
}


@pytest.mark.parametrize("name", FINE)
def test_times_of_frames_are_as_many_as_in_the_frame(name: str) -> None:
    assert sqlaudit.audit(FINE[name], qi="n", require="k=1").classes.count == 2


def test_of_large_files_what_is_named_is_exact_in_every_line_and_the_rest_in_the_first(tmp_path: Path) -> None:
    path = written(tmp_path / "n.csv", "n,m,x\n" + "0.5,0.5,a\n" * 3000 + "".join(f"{one},{one},a\n" for one in LONG))
    kinds = {}
    with patch.object(csv_files, "_SMALL_BYTES", 0), DuckDBEngine(targets=[Target(relation=path)]) as engine:
        for named in ({"n"}, {"x"}, {"n + 1"}, None):
            found = engine.open(Target(relation=path, named=None if named is None else frozenset(named)))
            kinds[str(named)] = "".join(column.kind.name[0] for column in found.columns)
        narrowed = engine.open(Target(relation=path, where="m = '0.5'", named=frozenset({"n"})))
        found_by = {qi: sqlaudit.audit(path, qi=qi, require="k=1").classes.count for qi in "nm"}
    assert kinds == {"{'n'}": "TFT", "{'x'}": "FFT", "{'n + 1'}": "TTT", "None": "TTT"}
    assert [column.kind for column in narrowed.columns] == [Kind.TEXT] * 3
    assert found_by == {"n": 11, "m": 11}


def test_persons_of_joined_tables_are_told_apart_by_columns_that_nobody_named(tmp_path: Path) -> None:
    fractions = [one.partition(".")[2] for one in LONG[:3]]
    rows = [f"{bucket},{bucket}.{end},{value}\n" for bucket in range(400) for end in fractions for value in "xyz"]
    path = written(tmp_path / "joined.csv", "bucket,person,value\n" + "".join(rows[::-1]))
    with (
        patch.object(csv_files, "_SMALL_BYTES", 0),
        patch.object(csv_files, "_SAMPLE_LINES", 0),
        pytest.raises(UsageError, match="looks like the two tables of a bucketized release, joined"),
    ):
        sqlaudit.audit(path, qi="bucket", sensitive="value", require="k=5")


def test_durations_inside_of_lists_are_refused_where_they_would_be_rounded() -> None:
    for frame in (
        pa.table({"n": pa.array([[1], [2]], pa.list_(pa.duration("ns")))}),
        pl.DataFrame({"n": pl.Series([[1], [2]], dtype=pl.List(pl.Duration("ns")))}),
    ):
        assert "duration[ns]" in error_of(InputError, Target(frame=frame))
    whole = pa.table({"n": pa.array([1000, 2000], pa.duration("ns"))})
    assert read(Target(frame=whole))[0].columns[0].type == "INTERVAL"


def test_equal_decimals_of_a_frame_are_one_value() -> None:
    frame = pd.DataFrame({"n": [Decimal(10**39), Decimal("1E+39"), Decimal("1.50"), Decimal("1.5"), None]})
    assert [row[0] for row in read(Target(frame=frame))[1]] == ["1E+39", "1E+39", "1.5", "1.5", None]


@pytest.fixture(scope="module")
def spark() -> Iterator[Engine]:
    """An engine with the settings for small tables."""
    from tests.spark_session import small_engine

    with small_engine() as engine:
        yield engine


@pytest.mark.spark
@pytest.mark.parametrize(("frames", "values"), [(FRAMES, 10), (FINE, 2)], ids=["numbers", "times"])
def test_values_of_frames_on_spark(spark: Engine, frames: dict[str, Any], values: int) -> None:
    found = {}
    for name, frame in frames.items():
        relation = spark.open(Target(frame=frame))
        found[name] = spark.run(Statement("count", "SELECT count(DISTINCT n) FROM " + relation.sql))
    assert found == {name: [(values,)] for name in frames}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ('"0000000a-0000-4000-8000-00000000000a"', '"0000000A-0000-4000-8000-00000000000A"'),
        ('{"on": "2024-02-29"}', '{"on": "2024-02-29 "}'),
        ('["2024-02-29", "2024-03-01"]', '["2024-02-29", "2024-3-1"]'),
        ('{"at": "2024-02-29T10:00:00Z"}', '{"at": "2024-02-29T11:00:00+01:00"}'),
        ('{"n": 1}', '{"n": 1.0}'),
        ('{"id": "0000000a-0000-4000-8000-00000000000a"}', '{"id": "0000000A-0000-4000-8000-00000000000A"}'),
    ],
)
def test_texts_of_json_that_a_type_would_make_one_stay_two(tmp_path: Path, first: str, second: str) -> None:
    file = tmp_path / "p.ndjson"
    file.write_text("".join(f'{{"x": {value}}}\n' for value in [first, second] * 3))
    assert sqlaudit.audit(str(file), qi=["x"]).classes.count == 2
    file.write_text("".join(f'{{"x": {value}}}\n' for value in [first, first] * 3))
    assert sqlaudit.audit(str(file), qi=["x"]).classes.count == 1


def test_variants_are_refused_by_name(tmp_path: Path) -> None:
    with duckdb.connect() as db:
        db.execute(f"ATTACH '{tmp_path / 'p.duckdb'}' AS p (STORAGE_VERSION 'v1.5.0')")  # 1.5's default is 1.0
        db.execute(
            "CREATE TABLE p.t AS SELECT CAST(1 AS VARIANT) AS x, 'f' AS sex UNION ALL SELECT CAST(1.0 AS VARIANT), 'f'"
        )
    expressions = ("(x)", "coalesce(x, x)", "CAST(x AS VARIANT)", "x = 1", "CAST(coalesce(x, x) AS VARCHAR)")
    for roles in ({"qi": ["x"]}, {"qi": ["sex"], "sensitive": "x"}, *({"qi": [text]} for text in expressions)):
        with pytest.raises(UsageError, match="'x' has the type VARIANT"):
            sqlaudit.audit("t", db=str(tmp_path / "p.duckdb"), **roles)
    assert sqlaudit.audit("t", db=str(tmp_path / "p.duckdb"), qi=["sex"]).rows == 2
    assert sqlaudit.audit("t", db=str(tmp_path / "p.duckdb"), qi=["CAST(x AS VARCHAR)"]).classes.count == 2
    assert sqlaudit.audit("t", db=str(tmp_path / "p.duckdb"), qi=["x IS NULL"]).classes.count == 1
