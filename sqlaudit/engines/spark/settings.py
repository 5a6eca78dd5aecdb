"""The settings of Spark that a correct result depends on, made in the engine's own session."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.engines.spark.start import PySparkException

NEEDED = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.variable.substitute": "false",
    "spark.sql.groupByAliases": "true",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.orderByOrdinal": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}
"""Overflow is an error and no wrong number; times are UTC; `${env:…}` in a text stays text, and so does the
name of a folder; a file that cannot be read is an error and not left out."""
WISHED = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.skewJoin.enabled": "true",
    "spark.sql.adaptive.coalescePartitions.enabled": "true",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.analyzer.maxIterations": "1000",
    "spark.sql.optimizer.maxIterations": "1000",
    "spark.sql.shuffle.orderIndependentChecksum.enabled": "true",
    "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch": "true",
}
"""Speed and skew (a plan is written down for each statement, at length where nobody says otherwise); and a stage whose
rows come out otherwise when it is run again is run again as a whole."""


def settle(session: Any) -> None:
    """Make the settings.

    Raises:
        UsageError: one that is needed cannot be made here.
    """
    for name, value in NEEDED.items():
        if _current(session, name) == value:
            continue
        try:
            session.conf.set(name, value)
        except PySparkException:
            raise UsageError(f"An audit needs Spark's setting {name} = {value}, which cannot be made here.") from None
    for name, value in WISHED.items():
        with suppress(PySparkException):
            session.conf.set(name, value)


def _current(session: Any, name: str) -> str | None:
    """The value of a setting, its default where nobody made it; asked first, since some warn when they are made."""
    try:
        return str(session.conf.get(name))
    except PySparkException:
        return None


PARTITION_BYTES = 32 * 2**20
MOST_PARTITIONS = 1000


def fit_partitions(session: Any, frame: Any) -> None:
    """As many partitions of a shuffle as the largest table so far needs; a Spark of one machine starts with few.

    Spark's own 200 make a small table slow, and a few make a large one spill. On a cluster it is the user's setting.
    """
    size = int(str(frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))
    needed = min(MOST_PARTITIONS, -(-size // PARTITION_BYTES))
    if needed > int(session.conf.get("spark.sql.shuffle.partitions")):
        session.conf.set("spark.sql.shuffle.partitions", str(needed))
