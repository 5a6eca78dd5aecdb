"""Spark for the tests: one Java process a test run, with settings for tables of a few rows.

The bodies of the tests write their tables as queries that DuckDB and PostgreSQL both read (`values_query`); here these
are translated, and the engine itself sees Spark's own SQL alone.
"""

from __future__ import annotations

import os
from dataclasses import replace

import sqlglot

from sqlaudit.engines.base import Relation
from sqlaudit.engines.spark import SparkEngine
from sqlaudit.spec import Limits, Target

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
        return super().open(replace(target, query=in_spark(target.query), where=in_spark(target.where)))


def in_spark(text: str) -> str:
    """A query or expression of a test, in Spark's SQL."""
    return sqlglot.transpile(text, read="duckdb", write="spark")[0] if text else ""


def small_engine(limits: Limits | None = None) -> TranslatingEngine:
    """An engine for small tables, in the Java process of this test run."""
    os.environ.setdefault("JDK_JAVA_OPTIONS", JAVA)
    engine = TranslatingEngine("spark:local[1]", limits or Limits(memory=MEMORY))
    for name, value in SMALL.items():
        engine._session.conf.set(name, value)
    return engine
