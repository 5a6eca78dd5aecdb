"""NaN is the largest number wherever rows are filtered, joined or ordered: statistics of files know nothing of it."""

from __future__ import annotations

import inspect
import json
import math
import shlex
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import sqlaudit
from sqlaudit.base.errors import EngineError
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Target
from sqlaudit.engines.duckdb.driver import DUCKDB_1
from sqlaudit.engines.duckdb.engine import DuckDBEngine
from tests.cli.runner import run

NAN = math.nan
NEGATIVE_NAN = struct.unpack("<d", struct.pack("<Q", 0xFFF8_0000_0000_0001))[0]
VALUES = [1.0, 2.0, 3.0, 2.0, 1.0, 3.0, 2.0, 4.0, -1.0, -0.0, 5.0, 1.5, NAN, NEGATIVE_NAN]


def rank(value: float) -> float:
    """Return a number that orders values as SQL does: NaN is the largest, and all NaN are equal."""
    return 1e308 if math.isnan(value) else value


ABOVE_5 = sum(rank(value) > 5 for value in VALUES)
FORMS: dict[str, tuple[str, Any]] = {
    "a filter": ("SELECT count(*) FROM {t} WHERE x > 0", sum(rank(value) > 0 for value in VALUES)),
    "a filter beyond the largest number": ("SELECT count(*) FROM {t} WHERE x > 5", ABOVE_5),
    "a filter turned round": ("SELECT count(*) FROM {t} WHERE NOT (x <= 5)", ABOVE_5),
    "a filter of FLOAT": ("SELECT count(*) FROM {t} WHERE f >= 100", ABOVE_5),
    "a filter on a field": ("SELECT count(*) FROM {t} WHERE s.a > 5", ABOVE_5),
    "a filter on an element": ("SELECT count(*) FROM {t} WHERE l[1] > 5", ABOVE_5),
    "isnan": ("SELECT count(*) FROM {t} WHERE isnan(x)", 2),
    "equal to NaN": ("SELECT count(*) FROM {t} WHERE x = CAST('nan' AS DOUBLE)", 2),
    "equal to zero": ("SELECT count(*) FROM {t} WHERE x = 0", 1),
    "in a list": ("SELECT count(*) FROM {t} WHERE x IN (0, CAST('nan' AS DOUBLE))", 3),
    "an expression": ("SELECT count(DISTINCT x > 5) FROM {t}", 2),
    "classes of an expression": ("SELECT min(n) FROM (SELECT count(*) AS n FROM {t} GROUP BY x > 5)", ABOVE_5),
    "a condition in a value": ("SELECT count(DISTINCT CASE WHEN f > 5 THEN 1 ELSE 0 END) FROM {t}", 2),
    "the maximum": ("SELECT isnan(max(x)) AND isnan(max(s.a)) AND isnan(max(f)) FROM {t}", True),
    "the minimum": ("SELECT min(x) FROM {t}", -1.0),
    "the first of an order": ("SELECT isnan(x) FROM {t} ORDER BY x DESC LIMIT 1", True),
    "the last of an order": ("SELECT count(*) FROM (SELECT f FROM {t} ORDER BY f DESC LIMIT 3) WHERE isnan(f)", 2),
    "a join": ("SELECT count(*) FROM {t} AS a JOIN {t} AS b ON a.x = b.x WHERE isnan(a.x)", 4),
    "a join with other numbers": (
        "SELECT count(*) FROM {t} AS a JOIN (VALUES (CAST('nan' AS DOUBLE)), (0.0), (7.0)) AS b(y) ON a.x = b.y",
        3,
    ),
    "a join by order": ("SELECT count(*) FROM {t} AS a JOIN (VALUES (5.0)) AS b(y) ON a.x > b.y", ABOVE_5),
    "a subquery": ("SELECT count(*) FROM {t} WHERE x IN (SELECT max(x) FROM {t})", 2),
    "a bare GROUP BY": ("SELECT count(*) FROM (SELECT x FROM {t} GROUP BY x)", len(set(map(rank, VALUES)))),
}


def table(kind: Callable[[], pa.DataType] = pa.float64) -> pa.Table:
    values = pa.array(np.array(VALUES, kind().to_pandas_dtype()), from_pandas=False)
    structs = pa.StructArray.from_arrays([values], ["a"])
    lists = pa.ListArray.from_arrays(list(range(len(VALUES) + 1)), values)
    numbers = list(range(len(VALUES)))
    return pa.table({"i": numbers, "x": values, "f": pa.array(VALUES, pa.float32()), "s": structs, "l": lists})


def by_arrow(folder: Path, **options: Any) -> Target:
    pq.write_table(table(), folder / "t.parquet", **options)
    return Target(relation=str(folder / "t.parquet"))


def by_polars(folder: Path) -> Target:
    pl.DataFrame(table()).write_parquet(folder / "t.parquet")
    return Target(relation=str(folder / "t.parquet"))


def by_duckdb(folder: Path) -> Target:
    by_arrow(folder)
    rows = f"SELECT * FROM read_parquet('{folder}/t.parquet', can_have_nan = TRUE)"
    duckdb.sql(f"COPY ({rows}) TO '{folder}/u.parquet'")
    return Target(relation=str(folder / "u.parquet"))


def by_feather(folder: Path) -> Target:
    feather.write_feather(table(), str(folder / "t.feather"))
    return Target(relation=str(folder / "t.feather"))


SOURCES: dict[str, Callable[[Path], Target]] = {
    "Parquet by pyarrow": by_arrow,
    "Parquet with pages and their index": lambda folder: by_arrow(
        folder, write_page_index=True, data_page_size=16, write_batch_size=2, row_group_size=7
    ),
    **(
        {"Parquet with Bloom filters": lambda folder: by_arrow(folder, bloom_filter_options={"x": True, "f": True})}
        if "bloom_filter_options" in inspect.signature(pq.write_table).parameters
        else {}
    ),
    "Parquet of half floats": lambda folder: (
        pq.write_table(table(pa.float16), folder / "t.parquet"),
        Target(relation=str(folder / "t.parquet")),
    )[1],
    "Parquet by polars": by_polars,
    "Parquet by DuckDB": by_duckdb,
    "a folder of Parquet": lambda folder: (
        (folder / "in" / "year=2024").mkdir(parents=True),
        by_arrow(folder / "in" / "year=2024"),
        Target(relation=str(folder / "in")),
    )[2],
    "Feather": by_feather,
    "an Arrow table": lambda folder: Target(frame=table()),
    "a polars frame": lambda folder: Target(frame=pl.DataFrame(table())),
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_form_of_a_statement_knows_nan(tmp_path: Path, source: str) -> None:
    target = SOURCES[source](tmp_path)
    with DuckDBEngine(targets=(target,)) as engine:
        relation = engine.open(target).sql
        answers = {form: engine.run(Statement(form, sql.format(t=relation)))[0][0] for form, (sql, _) in FORMS.items()}
    assert answers == {form: expected for form, (_, expected) in FORMS.items()}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with `plain.parquet` and, with the same rows, the table `t` of `t.duckdb`."""
    values = [NAN if math.isnan(value) else value for value in VALUES]
    plain = pa.table({"i": list(range(14)), "x": values, "f": pa.array(values, pa.float32())})
    pq.write_table(plain, tmp_path / "plain.parquet")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as db:
        db.execute("CREATE TABLE t AS SELECT * FROM plain")
    return tmp_path


EDGES = {
    "--where": "audit {t} --qi i --where x>5",
    "--qi": "audit {t} --qi x>5 --require k=3",
    "--qi with a function": "audit {t} --qi isnan(x),f>=5",
    "--sensitive": "audit {t} --qi i<3 --sensitive x>5 --require l=2",
    "--query": "audit --query 'SELECT x, i FROM {q} WHERE x > 5' --qi i",
    "a query that joins": "audit --query 'SELECT a.i FROM {q} a JOIN {q} b ON a.x = b.x WHERE b.f > 5' --qi i",
    "lattice": "lattice {t} --qi f --require k=2 --where x>1.6",
    "profile": "profile {t} --where x>4",
    "columns": "columns {t} --columns x,f --where x>2",
    "persons": "persons {t} --entity i --qi x --where x>1",
    "suppress": "suppress {t} --qi f>5 --require k=3",
    "recode": "recode {t} --qi f --require k=2 --where x>1.6",
    "disclosure": "disclosure {t} --qi f --sensitive x>5",
    "records": "records {t} --qi x,f --where x>1",
}
OTHERWISE = ("time", "access", "statements", "report", "engine")
"""Keys of a result that may differ between two sources of one table, beside the name of the table."""


@pytest.mark.parametrize("edge", EDGES)
def test_every_command_reads_the_rows_of_the_database(files: Path, edge: str) -> None:
    """The table of a DuckDB database has exact statistics, so it says what the Parquet file has to."""

    def answer(name: str, *more: str) -> tuple[int, dict[str, Any]]:
        words = [word.format(t=name, q=f'"{name}"') for word in shlex.split(EDGES[edge])]
        ran = run(*words, *more, "--format", "json")
        assert ran.out.startswith("{"), ran.err
        figures = {key: value for key, value in json.loads(ran.out).items() if key not in OTHERWISE}
        return ran.code, json.loads(json.dumps(figures).replace(name, "t"))

    assert answer(str(files / "plain.parquet")) == answer("t", "--db", str(files / "t.duckdb"))


def test_a_policy_reads_the_rows_of_the_database(files: Path) -> None:
    asked = [{"where": "x > 5", "quasi_identifiers": ["f"]}, {"quasi_identifiers": ["x > 5"]}]
    tables = [
        {"file": "plain.parquet", "name": f"t{number}", "requirements": ["k=3"], **keys}
        for number, keys in enumerate(asked)
    ]
    (files / "policy.yml").write_text(json.dumps({"tables": tables}))
    result = sqlaudit.gate(str(files / "policy.yml"))
    assert [(test.rows, test.classes, test.outcome.value) for test in result.tests] == [(2, 1, "fail"), (14, 2, "fail")]


def test_an_open_connection_keeps_nan_and_its_settings(files: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW v AS SELECT * FROM '{files}/plain.parquet'")
        before = connection.execute("FROM duckdb_settings()").fetchall()
        for name in (f"'{files}/plain.parquet'", "v", f"read_parquet('{files}/plain.parquet')"):
            query = f"SELECT i FROM {name} WHERE x > 5"
            assert sqlaudit.audit(query=query, qi="i", db=connection).rows == ABOVE_5
        assert sqlaudit.audit("v", qi="x > 5", db=connection).classes.count == 2
        assert connection.execute("FROM duckdb_settings()").fetchall() == before


def test_a_locked_connection_is_refused_where_it_loses_nan(files: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT range AS i FROM range(14)")
        connection.execute("SET lock_configuration = TRUE")
        assert sqlaudit.audit("t", qi="i", db=connection).rows == len(VALUES)
        if DUCKDB_1:
            return
        with pytest.raises(EngineError, match="NaN"):
            sqlaudit.audit(query=f"SELECT i FROM '{files}/plain.parquet' WHERE x > 5", qi="i", db=connection)


def test_a_view_of_a_database_over_parquet_keeps_nan(files: Path) -> None:
    file = str(files / "plain.parquet")
    with duckdb.connect(str(files / "t.duckdb")) as db:
        db.execute(f"CREATE VIEW v AS SELECT * FROM '{file}'")
    targets = (Target(relation="v"), Target(relation=file))
    with DuckDBEngine(str(files / "t.duckdb"), targets=targets) as engine:
        view = engine.open(targets[0])
        assert engine.run(Statement("rows", f"SELECT count(*) FROM {view.sql} WHERE x > 5")) == [(ABOVE_5,)]


def test_a_published_view_keeps_nan(files: Path) -> None:
    target = Target(relation=str(files / "plain.parquet"))
    with DuckDBEngine(targets=(target,)) as engine:
        text = engine.lasting(engine.open(target))
    assert duckdb.sql(f"SELECT count(*) FROM {text} WHERE isnan(x) AND x > 5").fetchall() == [(ABOVE_5,)]
