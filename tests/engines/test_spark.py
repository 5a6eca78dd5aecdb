"""Spark as an engine: values, targets, what is kept, errors, cancelling; each engine in a session of its own."""

from __future__ import annotations

import datetime
import math
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pyspark
import pytest

import sqlaudit
from sqlaudit.base.errors import EngineError, Incomplete, InputError, Interrupted, UsageError
from sqlaudit.base.guard import RandomRowsError
from sqlaudit.base.relation import Kind, Statement
from sqlaudit.base.spec import Limits, Reading, ReadOptions, Target
from sqlaudit.engines import check_reading
from sqlaudit.engines.contract import View
from sqlaudit.engines.spark.engine import SparkEngine, checkpoint
from sqlaudit.engines.spark.errors import sentence
from sqlaudit.engines.spark.open import bind_parameters
from sqlaudit.engines.spark.session import master, megabytes, refuse_replaced
from tests.engines.test_lakes import LOGS, lake
from tests.engines.test_lakes import sentence as lake_sentence
from tests.spark_session import MEMORY, small_engine

pytestmark = pytest.mark.spark
WHERE, LIMITS = "spark:local[1]", Limits(memory=MEMORY)
ENDLESS = Statement("endless", "SELECT COUNT(*) FROM range(10000000) a, range(10000000) b WHERE a.id * b.id % 7 = 3")
SECRET = "Zaphod-4711"


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkEngine]:
    """An engine with the settings for small tables."""
    with small_engine() as engine:
        yield engine


def run(engine: SparkEngine, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    return engine.run(Statement("test", sql), parameters)


def test_values_are_those_of_the_other_engines(spark: SparkEngine) -> None:
    row = run(
        spark,
        "SELECT CAST(2 AS DECIMAL(38, 0)), CAST('2.50' AS DECIMAL(9, 2)), TIMESTAMP'2020-01-01 10:00:00', "
        "TIMESTAMP_NTZ'2020-01-01 10:00:00', DATE'2020-02-29', CAST('NaN' AS DOUBLE), true, NULL, ARRAY(1, 2)",
    )[0]
    assert row[:5] == (
        2,
        Decimal("2.50"),
        datetime.datetime(2020, 1, 1, 10, tzinfo=datetime.UTC),
        datetime.datetime(2020, 1, 1, 10),
        datetime.date(2020, 2, 29),
    )
    assert type(row[0]) is int
    assert math.isnan(row[5])
    assert row[6:] == (True, None, [1, 2])


def test_parameters_are_bound_and_never_pasted(spark: SparkEngine) -> None:
    text = "it's $1; -- `x`"
    assert run(spark, "SELECT $1, '$1', $2 + 1, $3 /* $1 */", text, 41, 10**20) == [(text, "$1", 42, 10**20)]
    for values in (["it's", None, "$1", "b\"'é\n\\"], [], [1, 2**40], [1.0, 2.5], [True, None]):
        assert run(spark, "SELECT $1, '$1'", values) == [(values, "$1")]
    assert bind_parameters("SELECT $2, '$2', $3", [":p1", ":p2"]) == "SELECT :p2, '$2', $3"


def test_arrays_are_exact_and_masked(spark: SparkEngine) -> None:
    sql = (
        "SELECT id, CAST(id AS DECIMAL(38, 0)) AS d, IF(id = 1, NULL, id) AS n, CAST(id AS DOUBLE) / 2 AS f, "
        "CAST(id AS DECIMAL(38, 0)) * 10000000000000000000 AS wide FROM range(3) ORDER BY id"
    )
    arrays = spark.columns_as_arrays(Statement("arrays", sql))
    assert arrays["d"].dtype == np.int64
    assert arrays["n"].mask.tolist() == [False, True, False]
    assert arrays["f"].tolist() == [0.0, 0.5, 1.0]
    assert arrays["wide"].tolist() == [0, 10**19, 2 * 10**19]


def test_a_stream_gives_the_rows_in_order_and_in_batches(spark: SparkEngine) -> None:
    sql = "SELECT id, CAST(id AS DECIMAL(38, 0)) AS d, TIMESTAMP'2020-06-01 00:00:00' AS t FROM range(7) ORDER BY id"
    batches = list(spark.stream(Statement("stream", sql), 3))
    assert [len(batch) for batch in batches] == [3, 3, 1]
    assert [row for batch in batches for row in batch] == run(spark, sql)


def test_relations_are_kept_replaced_dropped_and_freed(spark: SparkEngine) -> None:
    held = spark._session.sparkContext._jsc.getPersistentRDDs
    before = held().size()
    kept = spark.materialize("kept", Statement("kept", "SELECT id, MONOTONICALLY_INCREASING_ID() AS n FROM range(9)"))
    again = spark.materialize("kept", Statement("kept", "SELECT id + 1 AS id FROM range(2)"))
    assert kept.sql == again.sql
    assert sorted(run(spark, "SELECT id FROM " + again.sql)) == [(1,), (2,)]
    rows = [[(1, "x", 2**70)], [], [(2, None, None)]]
    given = spark.keep_rows("given", [("a", "BIGINT"), ("odd `b`", "STRING"), ("c", "DECIMAL(38, 0)")], rows)
    assert [column.kind for column in given.columns] == [Kind.INTEGER, Kind.TEXT, Kind.DECIMAL]
    assert sorted(run(spark, "SELECT * FROM " + given.sql)) == [(1, "x", 2**70), (2, None, None)]
    assert held().size() == before + 2
    spark.drop("kept")
    spark.drop("given")
    assert held().size() == before


def test_what_an_executor_lost_is_an_error_and_never_made_again(spark: SparkEngine) -> None:
    kept = spark.materialize("lost", Statement("lost", "SELECT id, RAND() AS r FROM range(9)"))
    frame = spark._views[kept.sql.strip("`")]
    frame._jdf.queryExecution().logical().rdd().unpersist(False)
    with pytest.raises(EngineError, match="was lost with one of Spark's executors"):
        run(spark, "SELECT SUM(r) FROM " + kept.sql)
    spark.drop("lost")


def test_two_engines_share_a_spark_and_do_not_meet(spark: SparkEngine) -> None:
    spark.materialize("same", Statement("same", "SELECT 1 AS a"))
    with SparkEngine(WHERE, LIMITS) as other:
        theirs = other.materialize("same", Statement("same", "SELECT 2 AS a"))
        assert run(other, "SELECT a FROM " + theirs.sql) == [(2,)]
        assert run(other, "SELECT COUNT(*) FROM range(3)") == [(3,)]
    assert run(spark, f"SELECT a FROM `{spark.private_prefix}kept_same`") == [(1,)]
    with pytest.raises(UsageError, match="already runs a Spark"):
        SparkEngine("spark:local[3]", LIMITS)


# --- targets ---


@pytest.fixture
def plain(spark: SparkEngine) -> Iterator[SparkEngine]:
    """An engine that takes Spark's own SQL, in a session that has a view `people`."""
    with SparkEngine(WHERE, LIMITS) as engine:
        engine._session.sql("SELECT id AS age, 'x' AS `odd.name 😀` FROM range(3)").createTempView("people")
        yield engine


def test_views_and_frames_that_give_other_rows_each_time_are_refused(plain: SparkEngine) -> None:
    session = plain._session
    rows = session.range(8).selectExpr("id % 2 AS a")
    session.sql("SELECT id, rand() AS r FROM range(8)").createTempView("drawn")
    session.sql("SELECT * FROM people TABLESAMPLE (50 PERCENT)").createTempView("part")
    for target, said in (
        (Target("drawn"), r"drawn returns different rows each time it is read, because of rand\(\)"),
        (Target("part"), "because of a sample"),
        (Target(query="SELECT * FROM part"), "because of a sample"),
        (Target(frame=rows.selectExpr("a", "uuid() AS r")), r"because of uuid\(\)"),
        (Target(frame=rows.sample(0.5)), "because of a sample"),
    ):
        with pytest.raises(RandomRowsError, match=said):
            plain.open(target)
    assert plain.open(Target(frame=rows.selectExpr("a", "'rand() Sample 0.0, 0.5, ' AS r"))).columns


def test_tables_queries_and_conditions(plain: SparkEngine) -> None:
    people = plain.open(Target("people", where="`odd.name 😀` = 'x' AND age > 0"))
    assert [column.name for column in people.columns] == ["age", "odd.name 😀"]
    assert run(plain, "SELECT COUNT(*) FROM " + people.sql) == [(2,)]
    query = plain.open(Target(query="SELECT age AS `a``b`, 'it\\'s' AS s FROM people"))
    assert query.tables == ("people",)
    assert query.columns[0].name == "a`b"
    result = sqlaudit.audit("people", db=plain, qi=["odd.name 😀"], sensitive="age", require={"k": 3, "l": 3})
    assert result.passed
    assert [check.level for check in result.checks] == [3, 3]


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (Target("peple"), "There is no table 'peple' in Spark's catalog. Did you mean 'people'"),
        (Target("nowhere.people"), "There is no table 'nowhere.people'"),
        (Target("no/such.parquet"), "Spark finds no such file in the file 'no/such.parquet'"),
        (Target("people", read=ReadOptions(delimiter=";")), "The option 'delimiter' applies to text files"),
        (Target(query="SELECT agee FROM people"), "There is no column 'agee' in query="),
        (Target(query="SELECT age FROM peple"), "There is no table 'peple' in query=. Did you mean 'people'"),
        (Target(query="SELECT age, age + 1 AS AGE FROM people"), "query= has several columns named 'age'"),
        (Target(query="SELECT * FROM csv.`/etc/passwd`"), "query= reads files by their path (csv.`…`)"),
        (
            Target(query="SELECT a.* FROM (SELECT * FROM Parquet.`a/*.parquet`) AS a"),
            "query= reads files by their path",
        ),
        (Target(query="SELECT * FROM `org.spark.TextFormat`.`a`"), "query= reads files by their path (org.spark.Text"),
        (Target(query="SELECT * FROM IDENTIFIER('text.`/etc/passwd`')"), "the function identifier accesses more"),
        (Target("csv.`/etc/passwd`"), "only Parquet files can be audited"),
        (Target(query="DROP TABLE people"), "query takes one SELECT"),
        (Target(query="SELECT reflect('java.lang.System', 'getenv', 'HOME')"), "the function reflect accesses more"),
        (Target(query="SELECT builtin.JAVA_METHOD('a', 'b')"), "the function java_method accesses more"),
        (Target(query="SELECT TRANSFORM(age) USING 'cat' AS (a) FROM people"), "TRANSFORM, which runs a program"),
        (Target("people", where="try_reflect('a', 'b') = 'c'"), "the function try_reflect accesses more"),
    ],
)
def test_what_cannot_be_opened_is_said_in_one_sentence(plain: SparkEngine, target: Target, reason: str) -> None:
    with pytest.raises(UsageError) as refusal:
        plain.open(target)
    assert reason in str(refusal.value)
    assert refusal.value.__cause__ is None


def test_nothing_is_substituted_in_a_text(plain: SparkEngine) -> None:
    assert run(plain, "SELECT '${env:HOME}' AS a, '${spark.app.name}' AS b") == [("${env:HOME}", "${spark.app.name}")]


def write(file: Path, **columns: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    pa.parquet.write_table(pa.table(columns), file)
    return file


def rows(engine: SparkEngine, place: Path, **read: Any) -> int:
    relation = engine.open(Target(str(place), read=ReadOptions(**read)))
    assert not relation.parsed
    return int(run(engine, "SELECT COUNT(*) FROM " + relation.sql)[0][0])


def test_parquet_files(plain: SparkEngine, tmp_path: Path) -> None:
    for name in ("a.parquet", "b.parquet", "odd/a[1] {x},%.parquet", "odd/a1 x.parquet"):
        write(tmp_path / name, age=[30, 30, 41], zip=["1", "1", None])
    for name in ("odd/_SUCCESS", "odd/.a1 x.parquet.crc"):  # as Spark itself writes
        (tmp_path / name).touch()
    assert rows(plain, tmp_path / "*.parquet") == rows(plain, tmp_path / "odd") == 6
    assert rows(plain, tmp_path / "odd" / "a[1] {x},%.parquet") == 3
    for options, reason in [({"encoding": "latin-1"}, "encoding"), ({"null_values": ("a",)}, "null values")]:
        with pytest.raises(UsageError, match=f"The option '{reason}' applies to text files"):
            rows(plain, tmp_path / "a.parquet", **options)


def test_options_for_files_are_no_error_for_a_table_beside_them(plain: SparkEngine, tmp_path: Path) -> None:
    write(tmp_path / "zip=01" / "a.parquet", age=[30, 30, 41])
    reading = Reading(ReadOptions(hive_partitioning=True))
    table, file = reading.table(Target("people"), "original"), reading.table(Target(str(tmp_path)), "release")
    check_reading(plain, [table, file])
    assert [column.name for column in plain.open(table).columns] == ["age", "odd.name 😀"]
    assert [column.name for column in plain.open(file).columns] == ["age", "zip"]
    with pytest.raises(UsageError, match="there is no table 'people'"):
        check_reading(plain, [Reading(tables={"people": {"skip": 1}}).table(Target(query="SELECT * FROM people"))])
    for alone in ([table], [table, replace(reading, options=ReadOptions(skip=1)).table(file, "release")]):
        with pytest.raises(UsageError, match="applies to text files, not to"):
            check_reading(plain, alone)


def test_statistics_of_parquet_decide_no_filter(plain: SparkEngine, tmp_path: Path) -> None:
    """They know nothing of NaN, which is larger than every number."""
    file, numbers = str(tmp_path / "a.parquet"), [1.0, 5.0, math.nan, math.nan]
    structs = pa.StructArray.from_arrays([pa.array(numbers)], ["a"])
    pyarrow.parquet.write_table(pa.table({"x": numbers, "s": structs}), file)
    for condition in ("x > 5", "s.a > 5", "x > 100 AND x <> 0", "isnan(x)"):
        relation = plain.open(Target(relation=file, where=condition))
        assert run(plain, f"SELECT count(*) FROM {relation.sql}") == [(2,)]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv.gz", "*.json", "a.jsonl", "a.orc", "b/a.txt", "a.xlsx/", "a.sav"])
def test_other_files_are_refused(plain: SparkEngine, tmp_path: Path, name: str) -> None:
    for target in (str(tmp_path / name), name):
        with pytest.raises(UsageError, match=r"only Parquet files can be audited.*Audit other files with DuckDB"):
            plain.open(Target(target))
    write(tmp_path / "a.parquet", a=[1])
    with pytest.raises(UsageError, match="only Parquet files can be audited"):
        rows(plain, tmp_path / "a.parquet", format="csv")


@pytest.mark.parametrize(
    ("left_out", "shown"), [("_b.parquet", 1), (".b.parquet", 1), ("_old/b.parquet", 1), ("_metadata_b.parquet", 1)]
)
def test_a_file_that_spark_would_leave_out_is_an_error(
    plain: SparkEngine, tmp_path: Path, left_out: str, shown: int
) -> None:
    """The rows of one file: k = 2; of both: 1."""
    write(tmp_path / "a.parquet", zip=[1, 1])
    write(tmp_path / left_out, zip=[2])
    for place in (tmp_path, *([tmp_path / "*.parquet"] if left_out.startswith(("_b", ".b")) else ())):
        with pytest.raises(InputError, match=f"Spark leaves out {shown} of the files that '.*' names"):
            sqlaudit.audit(str(place), db=plain, qi=["zip"], require={"k": 2})


NAMES = ("a b.parquet", "p%20c,.parquet", "😀 ü+&#;.parquet", "br{1}[x]?*.parquet", "sub/c.parquet", "zip=1/d.parquet")


def test_names_of_every_kind_are_read(plain: SparkEngine, tmp_path: Path) -> None:
    """Each file has as many rows as its place says: 1, 2, 4, …, so that a sum tells which were read."""
    for number, name in enumerate(NAMES):
        write(tmp_path / "all" / name, a=[number] * 2**number)
        assert rows(plain, tmp_path / "all" / name) == 2**number
    (tmp_path / "all" / "_SUCCESS").touch()
    (tmp_path / "all" / "link.parquet").symlink_to(tmp_path / "all" / NAMES[0])
    assert rows(plain, tmp_path / "all") == 64
    globs = {"all/*.parquet": 16, "al?/{a,p}*.parquet": 3, "all/sub/*": 16, "a*": 64, "*/[s-z]*": 48}
    for glob, expected in globs.items():
        assert rows(plain, tmp_path / glob, format="parquet") == expected, glob
    write(tmp_path / "all" / "sub" / "_e.parquet", a=[1])
    for glob in ("all", "*", "all/*/*.parquet"):
        with pytest.raises(InputError, match="Spark leaves out 1 of the files"):
            rows(plain, tmp_path / glob, format="parquet")
    assert rows(plain, tmp_path / "all" / "*.parquet") == 16


def test_an_older_spark_connect_is_asked_for_one_file(
    plain: SparkEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It cannot say what it leaves out."""
    monkeypatch.setattr("sqlaudit.engines.spark.open.is_remote", lambda session: True)
    monkeypatch.setattr("sqlaudit.engines.spark.session.names_left_out", lambda session: False)
    assert rows(plain, write(tmp_path / "a.parquet", zip=[1, 1])) == 2
    said = r"Spark Connect before 4\.3 does not say which files of '.*' it leaves out"
    for place in (tmp_path, tmp_path / "*.parquet"):
        with pytest.raises(UsageError, match=said):
            rows(plain, place)


@pytest.mark.parametrize(
    ("other", "odd"),
    [
        ({"a": [1]}, "b"),
        ({"a": [1], "b": ["x"], "c": [1]}, "c"),
        ({"a": pa.array([1], pa.int32()), "b": ["x"]}, "a"),
        ({"A": [1], "b": ["x"]}, "a"),
    ],
)
@pytest.mark.parametrize("order", ["ab", "ba"])
def test_files_have_the_same_columns(
    plain: SparkEngine, tmp_path: Path, other: dict[str, Any], odd: str, order: str
) -> None:
    write(tmp_path / f"{order[0]}.parquet", a=[1, 2], b=["x", "y"])
    write(tmp_path / f"{order[1]}.parquet", **other)
    with pytest.raises(InputError, match=f"do not have the same columns: '(?i:{odd})' is missing in one of them"):
        rows(plain, tmp_path)


def test_rows_that_could_not_be_read_are_an_error(plain: SparkEngine, tmp_path: Path) -> None:
    said = "has a column '_corrupt_record', where Spark keeps lines that it could not read"
    with pytest.raises(UsageError, match=said):
        rows(plain, write(tmp_path / "a.parquet", a=[1, None], _corrupt_record=[None, SECRET]))
    plain._session.conf.set("spark.sql.columnNameOfCorruptRecord", "unread")
    with pytest.raises(UsageError, match=said.replace("_corrupt_record", "unread")):
        plain.open(Target(query="SELECT 1 AS a, 'x' AS Unread"))


# --- sessions that are given ---


def settings(session: Any) -> list[tuple[str, str]]:
    return [(name, value) for name, value in session.sql("SET").collect()]


def test_a_session_that_is_given_stays_as_it_was(spark: SparkEngine) -> None:
    mine = spark._session.newSession()
    mine.conf.set("spark.sql.ansi.enabled", "false")
    mine.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    mine.sql("SELECT id % 2 AS a, id AS s FROM range(6)").createTempView("mine")
    before = settings(mine), mine.catalog.listTables(), mine.catalog.currentDatabase()
    result = sqlaudit.audit("mine", db=mine, qi=["a"], sensitive="s", require={"k": 3, "l": 4})
    assert [(check.level, check.status) for check in result.checks] == [(3, "pass"), (3, "fail")]
    assert (settings(mine), mine.catalog.listTables(), mine.catalog.currentDatabase()) == before
    frame = mine.table("mine").where("s > 1")
    assert sqlaudit.audit(frame, qi=["a"], require={"k": 2}).checks[0].level == 2
    assert sqlaudit.audit(frame, db=mine, qi=["a"], require={"k": 2}).passed
    assert (settings(mine), mine.catalog.listTables(), mine.catalog.currentDatabase()) == before
    assert mine.catalog.listTables("global_temp") == mine.catalog.listTables()
    assert mine.sql("SELECT 1/0 AS a").collect()[0].a is None
    with pytest.raises(UsageError, match=r"limits=Limits\(memory=…\) applies to a Spark that sqlaudit starts"):
        sqlaudit.audit("mine", db=mine, qi=["a"], limits=Limits(memory="1GB"))


@pytest.mark.parametrize("order", ["first", "second"])
def test_no_function_of_a_session_stands_for_a_built_in_one(spark: SparkEngine, order: str) -> None:
    mine = spark._session.newSession()
    mine.conf.set("spark.sql.functionResolution.sessionOrder", order)
    for name in ("min", "sum", "greatest"):
        mine.udf.register(name, lambda *_: 0, "bigint")
    mine.sql("SELECT id AS a FROM range(6)").createTempView("mine")
    found = sqlaudit.audit("mine", db=mine, qi=["a"], require={"k": 3})
    assert [(check.level, check.status, check.failing_rows) for check in found.checks] == [(1, "fail", 6)]


def test_settings_that_change_results_are_those_of_spark(spark: SparkEngine) -> None:
    mine = spark._session.newSession()
    usual = {
        "spark.sql.parser.quotedRegexColumnNames": "true",
        "spark.sql.legacy.setopsPrecedence.enabled": "true",
        "spark.sql.parquet.binaryAsString": "true",
        "spark.sql.caseSensitive": "true",
        "spark.sql.timestampType": "TIMESTAMP_NTZ",
    }
    for name, value in {**usual, "spark.sql.files.ignoreCorruptFiles": "true"}.items():
        mine.conf.set(name, value)
    with SparkEngine(mine) as engine:
        conf = engine._session.conf
        own = spark._session.conf
        assert [conf.get(name) for name in usual] == [own.get(name) for name in usual]
        assert conf.get("spark.sql.files.ignoreCorruptFiles") == "false"
    assert [mine.conf.get(name) for name in usual] == list(usual.values())


def test_frames_of_python(spark: SparkEngine) -> None:
    import pandas as pd

    people = pd.DataFrame({"age": [1, 1, 2], "s": ["a", "b", None]})
    assert sqlaudit.audit(people, db=spark, qi=["age"], sensitive="s").checks[0].level == 1
    table = pa.table({"age": pa.array([1, 1], pa.uint8()), "job": pa.array(["a", "b"]).dictionary_encode()})
    assert [sqlaudit.audit(table, db=spark, qi=[name]).checks[0].level for name in ("age", "job")] == [2, 1]


def test_frames_of_python_keep_their_values(spark: SparkEngine) -> None:
    import pandas as pd

    zoned = pa.array([1, 2], pa.timestamp("ns", "UTC"))
    read = {
        "lists": pd.DataFrame({"x": [[1234567890123.0], [1234567890124.0]]}),
        "bands": pd.DataFrame({"x": pd.cut(pd.Series([1, 11]), [0, 10, 20])}),
        "wide": pd.DataFrame({"x": [2**70, 2**70 + 1]}),
        "categories": pd.DataFrame({"x": pd.Categorical([2**53, 2**53 + 1])}),
        "index": pd.DataFrame({"y": 1}, index=pd.Index(["a", "b"], name="x")),
        "half": pa.table({"x": pa.array(np.array([1.5, 2.5], "float16"))}),
        "scale": pa.table({"x": pa.array([Decimal("1E3"), Decimal("2E3")], pa.decimal128(5, -3))}),
        "ns": pa.table({"x": zoned.dictionary_encode()}),
        "times": pa.table({"x": pa.array([1, 2], pa.time64("ns"))}),
        "nested unsigned": pa.table({"x": pa.array([[2**63], [2**63 + 1]], pa.list_(pa.uint64()))}),
        "views": pa.table({"x": pa.array([["a"], ["b"]], pa.list_(pa.string_view()))}),
    }
    for name, frame in read.items():
        relation = spark.open(Target(frame=frame))
        assert run(spark, "SELECT count(DISTINCT x) FROM " + relation.sql) == [(2,)], name
    refused = {
        "kinds": pd.DataFrame({"x": [1, "1"]}),
        "nested ns": pa.table({"x": pa.array([[1]], pa.list_(pa.timestamp("ns")))}),
        "nested times": pa.table({"x": pa.array([[1]], pa.list_(pa.time64("ns")))}),
        "views of lists": pa.table({"x": pa.array([["a"]], pa.list_view(pa.string()))}),
        "intervals": pa.table({"x": pa.array([pa.MonthDayNano([1, 0, 0])])}),
        "names": pa.Table.from_arrays([zoned, zoned], names=["x", "x"]),
    }
    for name, frame in refused.items():
        with pytest.raises(InputError, match="'x'"):
            spark.open(Target(frame=frame, label=name))


def test_a_query_names_parquet_files_in_quotes_as_on_duckdb(plain: SparkEngine, tmp_path: Path) -> None:
    file, other = tmp_path / "people 1.parquet", tmp_path / "more" / "part.parquet"
    other.parent.mkdir()
    pa.parquet.write_table(pa.table({"age": [30, 31, 32], "id": [1, 2, 3]}), file)
    pa.parquet.write_table(pa.table({"id": [2, 3]}), other)
    query = (
        f"SELECT `people 1`.age, m.id FROM '{file}' JOIN (SELECT * FROM '{other.parent}') AS m "
        "ON m.id = `people 1`.id WHERE age > 30"
    )
    relation = plain.open(Target(query=query))
    assert relation.tables == (str(file), str(other.parent))
    assert sorted(run(plain, "SELECT age, id FROM " + relation.sql)) == [(31, 2), (32, 3)]
    lasting = plain.lasting(relation)
    assert plain.private_prefix not in lasting
    assert sorted(run(plain, "SELECT age, id FROM " + lasting)) == [(31, 2), (32, 3)]
    with pytest.raises(UsageError, match="On Spark only Parquet files can be audited"):
        plain.open(Target(query="SELECT * FROM 'people.csv'"))
    (other.parent / "_left.parquet").write_bytes(other.read_bytes())
    with pytest.raises((InputError, UsageError), match=r"leaves out 1 of the files|name one file, a table"):
        plain.open(Target(query=f"SELECT * FROM '{other.parent}/*.parquet'"))


def test_effects_without_bands_are_said(plain: SparkEngine) -> None:
    query = "SELECT CAST(id % 4 AS INT) AS who, CAST(id AS INT) AS age, CAST(id % 3 AS STRING) AS zip FROM range(12)"
    found = sqlaudit.persons(db=plain, query=query, entity="who", qi=["age", "zip"], effects=True)
    assert [remark.message for remark in found.remarks if remark.code == "no_bands"] == [
        "The effect of ten bands is left out for age: bands need all rows sorted on one machine, and Spark has them on "
        "many. For a coarser form, name an expression, such as floor(age / 10)."
    ]
    without = sqlaudit.persons(db=plain, query=query, entity="who", qi=["zip"], effects=True)
    assert not [remark for remark in without.remarks if remark.code == "no_bands"]


def test_boxes_of_messages_have_times_without_a_zone(plain: SparkEngine, tmp_path: Path) -> None:
    """As on the other engines: a file has one type, wherever it was made."""
    moments = [datetime.datetime(2024, 1, 1, 0, minute) for minute in range(12)]
    columns = {"who": [n % 6 for n in range(12)], "x": [n * 10 % 50 for n in range(12)], "sent": moments}
    table = pa.table({**columns, "cost": pa.array([Decimal(n) for n in range(12)], pa.decimal128(9, 0))})
    pa.parquet.write_table(table, tmp_path / "sent.parquet")
    asked: dict[str, Any] = {"user": "who", "x": "x", "y": "x", "time": "sent", "k": 2, "box": 1000, "interval": 1200}
    for name, db in (("here", None), ("there", plain)):
        out = tmp_path / f"{name}.parquet"
        sqlaudit.cloak(tmp_path / "sent.parquet", db=db, to=out, keep_column=["cost"], **asked)
    here, there = (pa.parquet.read_table(tmp_path / f"{name}.parquet") for name in ("here", "there"))
    assert here.schema.field("t_min").type == pa.timestamp("us")
    assert here.schema.field("cost").type == pa.int64()
    assert there.schema == here.schema
    assert there.to_pylist() == here.to_pylist()


@pytest.mark.skipif(pyspark.__version__ < "4", reason="Spark 3.5 does not find the class of this catalog")
def test_tables_of_other_catalogs_versions_and_tables_by_path(plain: SparkEngine) -> None:
    """A second catalog is a database in memory. No format with versions is here: their SQL is passed on."""
    catalog = "spark.sql.catalog.second"
    plain._session.conf.set(catalog, "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog")
    plain._session.conf.set(catalog + ".url", f"jdbc:derby:memory:{uuid.uuid4().hex};create=true")
    plain._session.conf.set(catalog + ".driver", "org.apache.derby.iapi.jdbc.AutoloadedDriver")
    plain._session.sql("CREATE TABLE second.app.visits AS SELECT CAST(id % 2 AS INT) AS age FROM range(6)").collect()
    for target in (Target("second.app.visits"), Target(query="SELECT age FROM second.app.visits")):
        relation = plain.open(target)
        assert relation.tables == ("second.app.visits",)
        assert run(plain, "SELECT COUNT(*), COUNT(DISTINCT age) FROM " + relation.sql) == [(6, 2)]
        assert "second.app.visits" in plain.lasting(relation).replace("`", "")
    plain.refuse_fleeting(View("second.app.release", "", "table"))
    with pytest.raises(UsageError, match="so it cannot keep a table"):
        plain.refuse_fleeting(View("default.release", "", "table"))
    for query in ("people VERSION AS OF 3", "people TIMESTAMP AS OF '2026-01-01'"):
        with pytest.raises(UsageError, match="such as VERSION AS OF on a table whose format has no versions"):
            plain.open(Target(query="SELECT * FROM " + query))
    with pytest.raises(UsageError, match="Spark finds no table at the path after delta, or was started without Delta"):
        plain.open(Target(query="SELECT * FROM delta.`/data/people` VERSION AS OF 12"))


@pytest.mark.parametrize("name", LOGS)
def test_files_of_a_lake_are_refused(name: str, spark: SparkEngine, tmp_path: Path) -> None:
    root = lake(tmp_path, LOGS[name])
    for label in (str(root), str(root / "*.parquet"), str(root / "data" / "year=live" / "live.parquet")):
        with pytest.raises(UsageError) as caught:
            spark.open(Target(relation=label))
        assert str(caught.value) == lake_sentence(label, name, f"file://{root}")
    beside = tmp_path / "beside.parquet"
    pyarrow.parquet.write_table(pa.table({"age": [1]}), beside)
    assert spark.open(Target(relation=str(beside))).columns


def test_an_old_client_of_spark_connect_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no checkpoints and no clones."""
    monkeypatch.setattr("pyspark.__version__", "3.5.9")
    with pytest.raises(
        UsageError, match=r"Spark Connect can be audited from Spark 4\.0 on, and this client is 3\.5\.9"
    ):
        SparkEngine("sc://nowhere.invalid")


# --- errors, limits, the way out ---


def test_errors_hold_no_value_and_nothing_is_logged(spark: SparkEngine, capfd: pytest.CaptureFixture[str]) -> None:
    for sql, reason in [
        (f"SELECT CAST('{SECRET}' AS INT)", "a text cannot be read as the type"),
        (f"SELECT CAST(v AS INT) FROM VALUES ('1'), ('{SECRET}') AS t(v)", "a text cannot be read as the type"),
        ("SELECT 9223372036854775807 + 1", "a number is out of range"),
        ("SELECT 1 / 0", "division by zero"),
    ]:
        with pytest.raises(EngineError, match=reason) as failure:
            run(spark, sql)
        assert SECRET not in str(failure.value)
        assert failure.value.__cause__ is None
    said = capfd.readouterr()
    assert said.out + said.err == ""
    too_much = sentence(RuntimeError("Total size … is bigger than spark.driver.maxResultSize (1g)"), "the step 'x'")
    assert isinstance(too_much, Incomplete)
    assert "larger than what may come back to one machine" in str(too_much)


def test_a_statement_is_cancelled_and_the_next_one_runs(spark: SparkEngine) -> None:
    shares: list[float | None] = []
    with SparkEngine(WHERE, LIMITS) as engine:
        engine.progress = lambda step, share: shares.append(share)
        timer = threading.Timer(3, engine.cancel)
        timer.start()
        with pytest.raises(Interrupted, match="Stopped in the step 'endless'"):
            engine.run(ENDLESS)
        engine.progress = None
        assert run(engine, "SELECT 1") == [(1,)]
        assert shares
        engine.cancel()  # nothing runs, nothing happens
        assert run(engine, "SELECT 2") == [(2,)]
    tracker = spark._session.sparkContext.statusTracker()
    deadline = time.monotonic() + 20
    while tracker.getActiveStageIds() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert list(tracker.getActiveStageIds()) == []


@pytest.mark.parametrize("how", ["cancelled", "too late", "fails"])
def test_what_was_to_be_kept_is_freed_when_its_statement_is_stopped(spark: SparkEngine, how: str) -> None:
    context = spark._session.sparkContext
    before = set(context._jsc.getPersistentRDDs())
    rows = Statement("rows", "SELECT id FROM range(1000000000000000) WHERE id % 7 = 8")  # of one stage, and without end
    broken = Statement("broken", "SELECT RAISE_ERROR('no') AS a FROM range(2)")
    with SparkEngine(WHERE, Limits(memory=MEMORY, timeout=6 if how == "too late" else None)) as engine:
        if how == "cancelled":
            threading.Thread(target=lambda: (_until_a_stage_runs(context), engine.cancel())).start()
        with pytest.raises((Interrupted, Incomplete, EngineError)):
            engine.materialize("kept", broken if how == "fails" else rows)
        assert set(context._jsc.getPersistentRDDs()) == before


def test_what_was_kept_too_late_is_freed(spark: SparkEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cancel that comes while the last rows are computed: the statement ends well, and its result is not wanted."""
    held = spark._session.sparkContext._jsc.getPersistentRDDs
    before = set(held())
    made: list[set[int]] = []

    def checkpoint_then_cancel(*given: Any) -> Any:
        kept = checkpoint(*given)
        made.append(set(held()) - before)
        spark._cancelled.set()
        return kept

    monkeypatch.setattr("sqlaudit.engines.spark.engine.checkpoint", checkpoint_then_cancel)
    with pytest.raises(Interrupted):
        spark.materialize("late", Statement("late", "SELECT 1 AS a"))
    with pytest.raises(Interrupted):
        spark.keep_rows("late", [("a", "BIGINT")], [[(1,)]])
    assert [len(one) for one in made] == [1, 1]
    assert set(held()) == before


def _until_a_stage_runs(context: Any) -> None:
    while not context.statusTracker().getActiveStageIds():
        time.sleep(0.05)


def test_a_time_limit_ends_a_statement(spark: SparkEngine) -> None:
    with SparkEngine(WHERE, Limits(memory=MEMORY, timeout=4)) as engine:
        with pytest.raises(Incomplete, match="time limit of 4 seconds was reached"):
            engine.run(ENDLESS)
        with pytest.raises(Incomplete, match="time limit of 4 seconds was reached"):
            run(engine, "SELECT 1")
    assert run(spark, "SELECT 1") == [(1,)]


def test_masters_and_sizes() -> None:
    assert master("spark:local", Limits(threads=3)) == "local[3]"
    assert master("spark:", Limits()) == master("spark", Limits()) == "local[*]"
    assert master("spark:k8s://https://h:443", Limits()) == "k8s://https://h:443"
    with pytest.raises(UsageError, match="names no Spark"):
        master("spark:nowhere", Limits())
    assert megabytes("512MiB") == "512m"
    for size in ("4", "GB", "80%", "1MB"):
        with pytest.raises(UsageError, match=r"limits=Limits\(memory=…\)"):
            megabytes(size)


# --- plans ---


@pytest.mark.parametrize("sensitive", [None, "s"])
def test_one_class_with_half_of_the_rows_is_added_up_where_its_rows_are(
    plain: SparkEngine, sensitive: str | None
) -> None:
    """Every GROUP BY of classes adds up before rows travel, and no window sees rows: one key is no problem."""
    query = "SELECT IF(id % 2 = 0, 0, id) AS a, id % 5 AS s FROM range(0, 40000, 1, 4)"
    seen: list[str] = []
    plain.tracer = lambda done: seen.append(done.sql) if "keep" not in done.name else None
    result = sqlaudit.audit(query=query, db=plain, qi=["a"], sensitive=sensitive or (), require=["k=2"])
    plain.tracer = None
    assert result.classes.sizes == ((1, 20000), (20000, 1))
    made = next(sql for sql in seen if "sqlaudit: equivalence classes" in sql)
    plan = plain.explain(Statement("plan", made), show_values=True)
    assert "partial_count" in plan
    windows = [line for line in plan.splitlines() if "Window (" in line]
    assert windows == []  # the sensitive values have their numbers already


def test_the_weights_of_values_go_to_the_rows_and_no_row_to_them(plain: SparkEngine) -> None:
    plain._session.conf.set("spark.sql.autoBroadcastJoinThreshold", "2MB")
    seen: list[str] = []
    plain.tracer = lambda done: seen.append(done.sql) if "keep" not in done.name else None
    query = "SELECT id % 7 AS a, id % 5 AS s FROM range(0, 400000, 1, 2)"
    result = sqlaudit.audit(query=query, db=plain, qi=["a"], sensitive="s", require=["l=5"])
    plain.tracer = None
    assert [check.level for check in result.checks] == [5]
    made = next(sql for sql in seen if "sqlaudit: equivalence classes" in sql)
    plan = plain.explain(Statement("plan", made), show_values=True)
    assert "BroadcastHashJoin" in plan
    assert not any(other in plan for other in ("SortMergeJoin", "ShuffledHashJoin"))


def test_functions_that_stand_for_built_in_ones_are_refused_before_a_setting_sees_to_it() -> None:
    built_in = "org.apache.spark.sql.catalyst.expressions.aggregate.Min"
    ours = "org.apache.spark.sql.classic.UDFRegistration$$Lambda$2958"

    def session(version: str, *functions: tuple[str, str | None]) -> Any:
        listed = [SimpleNamespace(name=name, className=class_name) for name, class_name in functions]
        return SimpleNamespace(version=version, catalog=SimpleNamespace(listFunctions=lambda: listed))

    refuse_replaced(session("4.0.5", ("min", built_in), ("case", None), ("my_own", ours)))
    refuse_replaced(session("4.2.1", ("min", ours)))
    for name in ("min", "MIN"):
        with pytest.raises(UsageError, match=f"The function '{name}' of this session stands for Spark's own one"):
            refuse_replaced(session("4.1.4", (name, ours)))
