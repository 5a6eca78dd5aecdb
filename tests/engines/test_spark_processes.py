"""Spark in processes of its own: the command line, executors apart from the driver, a server of Spark Connect.

Each test starts Java once and does all that it has to do there.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pyspark
import pytest

from sqlaudit.base.errors import ConnectionFailed, UsageError
from sqlaudit.engines import connect
from tests.spark_session import JAVA, connect_server

pytestmark = pytest.mark.spark
SECONDS = 300
ROWS = [(30 + n % 4, "mf"[n % 2], "1305" + str(n % 3), ["flu", "cold", "HIV"][n % 3]) for n in range(48)]
COMMAND = ["--qi", "age,sex", "--sensitive", "disease", "--require", "k=4", "--require", "l=2", "--format", "json"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A Parquet file of 48 rows in a folder of its own."""
    columns = dict(zip(("age", "sex", "zip", "disease"), map(list, zip(*ROWS, strict=True)), strict=True))
    folder = tmp_path / "data"
    folder.mkdir()
    pa.parquet.write_table(pa.table(columns), folder / "people.parquet")
    return folder / "people.parquet"


def at_work(folder: Path) -> dict[str, str]:
    """The environment of a process whose temporary files lie in a folder that can be looked at."""
    (folder / "tmp").mkdir(exist_ok=True)
    (folder / "cwd").mkdir(exist_ok=True)
    return {**os.environ, "TMPDIR": str(folder / "tmp"), "JDK_JAVA_OPTIONS": JAVA}


def python(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)],
        cwd=folder / "cwd",
        env=at_work(folder),
        text=True,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )


def test_the_command_line_is_silent_and_leaves_nothing(table: Path, tmp_path: Path) -> None:
    environment = at_work(tmp_path)
    sqlaudit = Path(sys.executable).with_name("sqlaudit")
    ran = subprocess.run(
        [sqlaudit, "audit", "--db", "spark:local", "--threads", "2", str(table), *COMMAND],
        cwd=tmp_path / "cwd",
        env=environment,
        text=True,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    found = json.loads(ran.stdout)
    assert found["target"]["engine"].startswith("Spark 4.")
    assert [check["level"] for check in found["checks"]] == [12, 3]
    assert list((tmp_path / "cwd").iterdir()) == []
    assert list((tmp_path / "tmp").iterdir()) == []
    assert [path.name for path in table.parent.iterdir()] == ["people.parquet"]


def test_a_session_that_logs_gets_no_value(tmp_path: Path) -> None:
    """Weights and contributions that are no numbers, numbers beyond intervals: Spark logs what a cast does not take."""
    ran = python(
        """
        import sqlaudit
        from pyspark.sql import SparkSession
        from sqlaudit.base.errors import SqlauditError
        mine = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
        mine.sparkContext.setLogLevel("WARN")
        rows = [(1, "Zaphod-4711", 4.711e30), (2, "Beeblebrox", 1.0)]
        mine.createDataFrame(rows, "id int, name string, pay double").createTempView("people")
        asked = [
            lambda: sqlaudit.audit("people", db=mine, qi=["id"], weights="name || ''"),
            lambda: sqlaudit.audit("people", db=mine, qi=["id"], weights="pay"),
            lambda: sqlaudit.aggregates("people", microdata=True, db=mine, by=["id"], value="pay"),
            lambda: sqlaudit.hierarchy("people", "pay", {"widths": [10]}, db=mine),
        ]
        for ask in asked:
            try:
                print(type(ask()).__name__)
            except SqlauditError as error:
                print(error)
        """,
        tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    said = ran.stdout.splitlines()
    assert len(said) == 4, said
    assert "Zaphod" not in ran.stdout + ran.stderr
    assert "4711" not in (ran.stdout + ran.stderr).replace(".", "")


# --- Spark Connect ---


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server of Spark Connect that runs for this module."""
    if pyspark.__version__ < "4":
        pytest.skip("Spark Connect is refused before 4.0")
    with connect_server(tmp_path_factory.mktemp("connect")) as url:
        yield url


def test_spark_connect_answers_like_the_others(server: str, table: Path, tmp_path: Path) -> None:
    text = f"""
        import threading, json, sqlaudit
        from sqlaudit.engines import connect
        from sqlaudit.base.relation import Statement
        from sqlaudit.base.errors import Interrupted, UsageError
        from sqlaudit.base.spec import Target
        from pyspark.sql.connect.session import SparkSession
        from pyspark.sql.types import LongType
        said = {{}}
        with connect({server!r}) as engine:
            said["version"] = engine.version()[:8]
            said["run"] = engine.run(Statement("a", "SELECT $1, CAST(2 AS DECIMAL(38, 0))"), [7])
            kept = engine.keep_rows("given", [("a", "BIGINT"), ("b", "STRING")], [[(1, "x")], [(2, None)]])
            batches = engine.stream(Statement("b", "SELECT * FROM " + kept.sql + " ORDER BY a"), 1)
            said["stream"] = list(batches)
            result = sqlaudit.audit({str(table)!r}, db=engine, qi=["age", "sex"], sensitive="disease",
                require=["k=4", "l=2"])
            said["levels"] = [check.level for check in result.checks]
            threading.Timer(3, engine.cancel).start()
            try:
                engine.run(Statement("endless", "SELECT COUNT(*) FROM range(9999999) a, range(9999999) b "
                    "WHERE a.id * b.id % 7 = 3"))
            except Interrupted as stopped:
                said["stopped"] = str(stopped)
            try:
                engine.open(Target("nope"))
            except UsageError as refused:
                said["refused"] = str(refused)
            said["files"] = []
            for name in ("people.csv", "", "*.parquet"):
                try:
                    said["files"].append(engine.run(Statement("n", "SELECT COUNT(*) FROM " + engine.open(
                        Target({str(table.parent)!r} + "/" + name)).sql))[0][0])
                    open({str(table.parent)!r} + "/_people.parquet", "w").close()
                except UsageError as refused:
                    said["files"].append(str(refused).split(", which reads ")[-1][-60:])
        mine = SparkSession.builder.remote({server!r}).create()
        mine.conf.set("spark.sql.ansi.enabled", "false")
        mine.conf.set("spark.sql.functionResolution.sessionOrder", "first")
        mine.udf.register("min", lambda *_: 0, LongType())
        mine.sql("SELECT id % 2 AS a FROM range(6)").createTempView("mine")
        said["given"] = sqlaudit.audit("mine", db=mine, qi=["a"], require=["k=3"]).passed
        said["frame"] = sqlaudit.audit(mine.table("mine"), qi=["a"], require=["k=4"]).passed
        said["left"] = [mine.conf.get("spark.sql.ansi.enabled"), [t.name for t in mine.catalog.listTables()]]
        said["global"] = [t.name for t in mine.catalog.listTables("global_temp")]
        mine.stop()
        print(json.dumps(said))
    """
    ran = python(text, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == {
        "version": "Spark 4.",
        "run": [[7, 2]],
        "stream": [[[1, "x"]], [[2, None]]],
        "levels": [12, 3],
        "stopped": "Stopped in the step 'endless'.",
        "refused": "There is no table 'nope' in Spark's catalog.",
        "files": [
            "th DuckDB (without db=), or load them as a table or Parquet.",
            48,
            "with _ or a dot. Rename or remove these, or name the others.",
        ],
        "given": True,
        "frame": False,
        "left": ["false", ["mine"]],
        "global": ["mine"],
    }


LIMITED = """
        import json, sys, threading
        from pyspark.errors.exceptions.connect import AnalysisException
        from pyspark.sql.connect.conf import RuntimeConf
        from pyspark.sql.connect.dataframe import DataFrame
        from pyspark.sql.connect.session import SparkSession
        import sqlaudit
        from sqlaudit.base.errors import Interrupted, UsageError
        from sqlaudit.base.relation import Statement
        from sqlaudit.base.spec import Target
        from sqlaudit.engines import connect

        def refuse(code):
            def refused(*_, **__):
                raise AnalysisException(f"[{code}] of 'HIV'", code, {})
            return refused

        def answers(target, **db):
            roles = dict(qi=["age", "sex", "zip"], sensitive="disease", **db)
            found = sqlaudit.audit(target, require=["k=5", "l=2", "t=0.3"], **roles)
            best = sqlaudit.lattice(target, require=["k=5"], hierarchies={"zip": {"mask": [1, 5]}}, **roles).best
            left_out = sqlaudit.suppress(target, require=["k=20"], **roles)
            return [found.classes.sizes, [(c.level, c.failing_rows) for c in found.checks], repr(best),
                repr(left_out.release), found.access]

        def refusal(work):
            try:
                work()
            except UsageError as refused:
                return str(refused)
"""
"""What a server allows that keeps nothing, and whose settings can only be read, if at all."""


def test_a_server_that_keeps_nothing_and_sets_little_answers_like_the_others(
    server: str, table: Path, tmp_path: Path
) -> None:
    """Databricks' serverless, as it is documented: made of the refusals of its client."""
    text = f"""{LIMITED}
        free = ("spark.sql.session.timeZone", "spark.sql.ansi.enabled", "spark.sql.shuffle.partitions")
        internal = ("spark.sql.execution.", "spark.sql.pyspark", "spark.sql.session.localRelation")
        for name in ("set", "get", "unset"):
            def limited(self, key, *rest, call=getattr(RuntimeConf, name)):
                return call(self, key, *rest) if key in free or key.startswith(internal) else refuse(
                    "CONFIG_NOT_AVAILABLE")()
            setattr(RuntimeConf, name, limited)
        RuntimeConf.getAll = property(refuse("CONFIG_NOT_AVAILABLE"))
        for name in ("localCheckpoint", "cache", "persist", "createGlobalTempView"):
            setattr(DataFrame, name, refuse("NOT_SUPPORTED_WITH_SERVERLESS"))
        mine = SparkSession.builder.remote({server!r}).create()
        mine.read.parquet({str(table)!r}).createTempView("people")
        frame = mine.table("people")
        said = [answers(frame), answers("people", db=mine), answers({str(table)!r})]
        said.append([t.name for t in mine.catalog.listTables()])
        with connect({server!r}) as engine:
            said.append([engine.can_materialize, refusal(lambda: engine.open(Target({str(table)!r})))])
            said.append(refusal(lambda: engine.open(Target(query="SELECT '${{env:HOME}}' AS a"))))
        mine.stop()
        print(json.dumps(said))
    """
    ran = python(text, tmp_path)
    assert ran.returncode == 0, ran.stderr
    frame, view, duckdb, left, (keeps, of_file), of_text = json.loads(ran.stdout)
    assert frame == view
    assert frame[:-1] == duckdb[:-1]
    assert frame[-1].endswith("SELECT only; temporary views in the session that was given")
    assert (left, keeps) == (["people"], False)
    assert "files by their path need" in of_file
    assert "parquet.filterPushdown = false" in of_file
    assert "Load them as a table" in of_file
    assert of_text.startswith("This Spark replaces ${…} in SQL")


def test_a_session_that_cannot_be_cloned_is_left_as_it_was(server: str, table: Path, tmp_path: Path) -> None:
    text = f"""{LIMITED}
        SparkSession.cloneSession = refuse("INTERNAL_ERROR")
        mine = SparkSession.builder.remote({server!r}).create()
        mine.read.parquet({str(table)!r}).createTempView("people")
        settings = dict(mine.conf.getAll)
        said = [answers(mine.table("people")), answers({str(table)!r})]
        with connect(mine) as engine:
            begun = threading.Event()
            def endless():
                begun.set()
                engine.run(Statement("endless", "SELECT COUNT(*) FROM range(9999999) a, range(9999999) b "
                    "WHERE a.id * b.id % 7 = 3"))
            stopped = []
            def work():
                try:
                    endless()
                except Interrupted as error:
                    stopped.append(str(error))
            at_work = threading.Thread(target=work)
            at_work.start()
            begun.wait()
            threading.Timer(2, engine.cancel).start()
            theirs = mine.sql("SELECT COUNT(*) FROM range(20000) a, range(20000) b WHERE a.id * b.id % 7 = 3").collect()
            at_work.join()
            said.append([stopped, theirs[0][0] > 0])
        said.append([dict(mine.conf.getAll) == settings, [t.name for t in mine.catalog.listTables()]])
        mine.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
        said.append(refusal(lambda: connect(mine)))
        mine.conf.set("spark.sql.session.timeZone", "UTC")
        mine.conf.set("spark.sql.caseSensitive", "true")
        said.append(refusal(lambda: connect(mine)))
        said.append(mine.sql("SELECT 1").collect()[0][0])
        mine.stop()
        print(json.dumps(said))
    """
    ran = python(text, tmp_path)
    assert ran.returncode == 0, ran.stderr
    frame, duckdb, stopped, left, of_zone, of_case, alive = json.loads(ran.stdout)
    assert frame[:-1] == duckdb[:-1]
    assert stopped == [["Stopped in the step 'endless'."], True]
    assert (left, alive) == ([True, ["people"]], 1)
    assert of_zone.endswith(
        'works in your own session here. Set it: spark.conf.set("spark.sql.session.timeZone", "UTC").'
    )
    assert of_case.endswith('Set it: spark.conf.unset("spark.sql.caseSensitive").')


def test_views_and_tables_last_in_the_catalog_of_a_server(server: str, table: Path, tmp_path: Path) -> None:
    text = f"""
        import json, sqlaudit
        from sqlaudit.base.errors import UsageError
        asked = dict(
            qi=["age", "sex"], sensitive="disease", require=["k=5"], db={server!r}, publish_view="released",
            execute=True, hierarchies={{"age": {{"widths": [2, 4]}}, "sex": {{"mask": [1]}}}},
        )
        said = []
        found = sqlaudit.lattice({str(table)!r}, **asked)
        said.append([found.published.executed, found.published.audit.status])
        said.append(sqlaudit.audit("released", db={server!r}, qi=["age", "sex"], require=["k=5"]).passed)
        try:
            sqlaudit.lattice({str(table)!r}, **asked)
        except UsageError as refused:
            said.append("Replace it with replace_view=True" in str(refused))
        said.append(sqlaudit.lattice({str(table)!r}, replace_view=True, **asked).published.executed)
        asked |= dict(publish_view="", to="table:spark_catalog.default.third")
        said.append(sqlaudit.lattice({str(table)!r}, **asked).published.executed)
        from pyspark.sql.connect.session import SparkSession
        mine = SparkSession.builder.remote({server!r}).create()
        rest = dict(qi=["age", "sex"], sensitive="disease", require=["k=20"], execute=True)
        found = sqlaudit.suppress({str(table)!r}, db=mine, to="table:default.fewer", **rest).release
        said.append([found.file, mine.table("default.fewer").count(), mine.table("default.third").count()])
        for name in ("default.fewer", "default.released"):
            try:
                sqlaudit.suppress({str(table)!r}, db=mine, to="table:" + name, **rest)
            except UsageError as refused:
                said.append(str(refused))
        stream = mine.readStream.format("rate").load()
        stream.createTempView("stream")
        for target in (dict(target=stream), dict(target="stream", db=mine)):
            try:
                sqlaudit.audit(qi=["value"], **target)
            except UsageError as refused:
                said.append(str(refused)[-75:])
        mine.stop()
        print(json.dumps(said))
    """
    ran = python(text, tmp_path)
    assert ran.returncode == 0, ran.stderr
    on_stream = " never end. Audit the table that it is written to, or one batch of it (foreachBatch)."[-75:]
    assert json.loads(ran.stdout) == [
        *([True, "pass"], True, True, True),
        *(True, ["table:default.fewer", 48, 48]),
        "There is already a table 'default.fewer', which is never replaced. Choose another name.",
        "There is already a view 'default.released', which is never replaced. Choose another name.",
        *(on_stream, on_stream),
    ]


def test_no_server_is_said_in_seconds(server: str) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with pytest.raises(ConnectionFailed, match=rf"No Spark Connect server answers at 127\.0\.0\.1:{port}"):
        connect(f"sc://127.0.0.1:{port}")
    with pytest.raises(ConnectionFailed, match=r"The host at nowhere\.invalid:15002 is not known"):
        connect("sc://nowhere.invalid")
    with pytest.raises(UsageError, match="is not a URL of Spark Connect"):
        connect("sc://")
    del server


def test_no_java_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = """
        from sqlaudit.engines import connect
        from sqlaudit.base.errors import MissingDriver
        try:
            connect("spark:local")
        except MissingDriver as missing:
            print(missing)
    """
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert python(text, tmp_path).stdout.startswith(
        "Spark needs a Java runtime, version 17 or newer, and there is none"
    )
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert "there is none in JAVA_HOME" in python(text, tmp_path).stdout


def test_a_spark_that_somebody_stops_is_started_again(table: Path, tmp_path: Path) -> None:
    ran = python(
        f"""
        from pyspark import SparkContext
        from sqlaudit.base.errors import EngineError
        from sqlaudit.engines import connect
        import sqlaudit

        def judged(db):
            return sqlaudit.audit({str(table)!r}, db=db, qi=["age", "sex"], require=["k=4"]).passed

        stopped = connect("spark:local[1]")
        SparkContext._active_spark_context.stop()
        try:
            judged(stopped)
        except EngineError as error:
            print(str(error) == "The Spark of this session has been stopped. Open another session.")
        with connect("spark:local[1]") as engine:
            stopped.close()
            print(judged(engine), SparkContext._active_spark_context is None)
        print(SparkContext._active_spark_context is None)
        """,
        tmp_path,
    )
    assert (ran.returncode, ran.stdout.split()) == (0, ["True", "True", "False", "True"]), ran.stderr
