"""Spark for the tests: one Java process a test run, with settings for tables of a few rows.

The bodies of the tests write their tables as queries that DuckDB and PostgreSQL both read (`values_query`); here these
are translated, and the engine itself sees Spark's own SQL alone.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyspark
import pytest
import sqlglot
from sqlglot import exp

from sqlaudit.base.names import quote
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import Limits, Target
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.spark import session as spark_session
from sqlaudit.engines.spark.engine import SparkEngine
from tests.audit_values import values_query

MEMORY = "1GB"
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A Java process of a few minutes: what its best compiler saves, it does not pay back."""
SMALL = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Compiling a statement takes longer than a few rows; the tests of the engine itself run with Spark's own settings."""


class TranslatingEngine(SparkEngine):
    """Spark, with the queries and conditions of targets in the SQL of the other engines' tests."""

    def open(self, target: Target) -> Relation:
        """The relation of a target whose SQL is DuckDB's."""
        if target.buckets is not None:  # its two tables are opened here again, one by one
            return super().open(target)
        return super().open(replace(target, query=in_spark(target.query), where=in_spark(target.where)))


def in_spark(text: str) -> str:
    """A query or expression of a test, in Spark's SQL."""
    if not text:
        return ""
    tree = sqlglot.parse_one(text, dialect="duckdb")
    for series in list(tree.find_all(exp.GenerateSeries)):  # as a table
        after = exp.Add(this=series.args["end"].copy(), expression=exp.Literal.number(1))
        series.replace(exp.Anonymous(this="RANGE", expressions=[series.args["start"].copy(), after]))
    return tree.sql("spark")


def make_views(
    engine: Engine, schema: str, name: str, rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]
) -> None:
    """Rows as a view that every session of this process sees."""
    assert isinstance(engine, SparkEngine)
    place = ".".join(quote(part, "spark") for part in (schema, name))
    engine._session.sql("CREATE DATABASE IF NOT EXISTS " + quote(schema, "spark"))
    engine._session.sql("CREATE OR REPLACE VIEW " + place + " AS " + in_spark(values_query(rows, columns)))


@contextmanager
def small_sessions() -> Iterator[None]:
    """Meanwhile every engine that is opened has the settings for small tables."""
    lease = spark_session.lease

    def small(db: Any, limits: Limits) -> spark_session.Lease:
        found = lease(
            db, replace(limits, memory=MEMORY) if str(getattr(db, "text", db)).startswith("spark:") else limits
        )
        for name, value in SMALL.items():
            found.session.conf.set(name, value)
        return found

    with patch.object(spark_session, "lease", small):
        yield


def small_engine(limits: Limits | None = None) -> TranslatingEngine:
    """An engine for small tables, in the Java process of this test run."""
    os.environ.setdefault("JDK_JAVA_OPTIONS", JAVA)
    engine = TranslatingEngine("spark:local[1]", limits or Limits(memory=MEMORY))
    for name, value in SMALL.items():
        engine._session.conf.set(name, value)
    return engine


SECONDS = 300


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """Yield the URL of a server of Spark Connect that runs meanwhile, with its files in a folder."""
    home = Path(pyspark.__file__).parent
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
