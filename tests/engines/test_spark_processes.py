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
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pyspark
import pytest

from sqlaudit.base.errors import ConnectionFailed, UsageError
from sqlaudit.engines import connect
from tests.spark_session import JAVA

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


def test_executors_in_processes_of_their_own_answer_alike(table: Path, tmp_path: Path) -> None:
    """An audit and a lattice where a result that lies in the driver's memory would not be found."""
    text = f"""
        import json, os, pyspark
        os.environ["SPARK_HOME"] = os.path.dirname(pyspark.__file__)
        import sqlaudit
        from sqlaudit.engines import connect
        from sqlaudit.base.relation import Statement
        answers = {{}}
        for db in (None, "spark:local-cluster[2,1,1024]"):
            with connect(db) as engine:
                roles = dict(qi=["age", "sex", "zip"], sensitive="disease", db=engine)
                audit = sqlaudit.audit({str(table)!r}, require=["k=5", "l=2", "t=0.3"], **roles)
                lattice = sqlaudit.lattice(
                    {str(table)!r}, require=["k=5"],
                    hierarchies={{"age": {{"widths": [2, 4]}}, "sex": {{"mask": [1]}}, "zip": {{"mask": [1, 5]}}}},
                    **roles,
                )
                compared = sqlaudit.compare(
                    {str(table)!r}, {str(table)!r}, qi=["age", "sex", "zip"], sensitive="disease", db=engine,
                )
                answers[str(db)] = [
                    compared.rows, compared.released, compared.generalization.answer.value,
                    [(one.measure, one.column, one.value and round(float(one.value), 9)) for one in compared.losses],
                    audit.classes.sizes, [(c.level, c.failing_rows) for c in audit.checks], audit.failing_total,
                    lattice.nodes, repr(lattice.best),
                ]
        first, second = answers.values()
        print(json.dumps([repr(first) == repr(second), audit.failing_total, lattice.best.levels]))
        print(repr(answers))
    """
    ran = python(text, tmp_path)
    assert ran.returncode == 0, ran.stderr
    same, failing, best = json.loads(ran.stdout.splitlines()[0])
    assert same, ran.stdout
    assert (failing, best) == (12, [0, 0, 1])
    assert list((tmp_path / "cwd").iterdir()) == []


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
    folder, home = tmp_path_factory.mktemp("connect"), Path(pyspark.__file__).parent
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "spark.connect.grpc.binding.port": port,
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.local.dir": folder,
        "spark.sql.warehouse.dir": folder / "warehouse",
        "spark.sql.shuffle.partitions": 1,
    }
    command = [home / "bin" / "spark-submit", "--master", "local[2]"]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    command += [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    environment = {**os.environ, "SPARK_HOME": str(home), "JDK_JAVA_OPTIONS": JAVA}
    with (folder / "log").open("wb") as log:
        running = subprocess.Popen(
            [*command, "spark-internal"], cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        _wait_for(port, running, folder / "log")
        yield f"sc://127.0.0.1:{port}"
    finally:
        running.kill()
        running.wait()


def _wait_for(port: int, running: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if running.poll() is not None:
            pytest.fail("the server of Spark Connect ended: " + log.read_text()[-2000:])
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    pytest.fail("the server of Spark Connect does not answer")


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


def test_a_view_lasts_in_the_catalog_of_a_server(server: str, table: Path, tmp_path: Path) -> None:
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
        print(json.dumps(said))
    """
    ran = python(text, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == [[True, "pass"], True, True, True]


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
