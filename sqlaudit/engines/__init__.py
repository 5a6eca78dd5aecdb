"""The engines: one module a database, all with the contract of `sqlaudit.engines.base`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlaudit.engines.base import Engine
from sqlaudit.errors import UsageError
from sqlaudit.paths import exists
from sqlaudit.spec import Limits, Target

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_POSTGRES = ("postgresql", "postgres")


def connect(db: str | SparkSession | None = None, limits: Limits | None = None, *targets: Target) -> Engine:
    """An engine for `--db`: DuckDB for files, frames and database files, PostgreSQL and Spark for what names them.

    Args:
        db: a DuckDB database file, a PostgreSQL URL (`postgresql://host/db`) or conninfo (`service=…`,
            `host=… dbname=…`), a Spark (`spark:local`, `spark:yarn`, `sc://host:15002` …), a SparkSession (which is
            left as it is), or None for files and frames.
        limits: the budgets of the whole command.
        targets: everything that will be opened, so that access can be closed to all other files.

    Raises:
        UsageError: the database file does not exist, or the URL is of another kind of database.
        InputError: the file is not a DuckDB database.
        ConnectionFailed: the database cannot be reached.
        MissingDriver: the driver for PostgreSQL, or pyspark or Java, is not installed.

    Example:
        >>> with connect() as engine:
        ...     engine.name
        'DuckDB'
    """
    frames = [target.frame for target in targets if _is_spark(target.frame)]
    if _is_spark(db) or (frames and db is None):
        return _spark(db if db is not None else frames[0].sparkSession, limits)
    if db and not exists(db):
        if names_spark(db):
            return _spark(db, limits)
        if _is_postgres(db):
            from sqlaudit.engines.postgres import PostgresEngine

            return PostgresEngine(db, limits)
        scheme, colon, _ = db.partition("://")
        if colon:
            raise UsageError(
                f"--db takes a DuckDB file, a PostgreSQL URL, or Spark (spark:local, sc://host:port); {scheme!r} is "
                "none of these."
            )
    from sqlaudit.engines.duckdb import DuckDBEngine

    return DuckDBEngine(db, limits, targets)


def names_spark(db: str) -> bool:
    """Whether what `--db` says is a Spark.

    Example:
        >>> names_spark("spark:local"), names_spark("sc://host:15002"), names_spark("spark.duckdb")
        (True, True, False)
    """
    return db == "spark" or db.startswith(("spark:", "sc://"))


def _spark(db: str | SparkSession, limits: Limits | None) -> Engine:
    from sqlaudit.engines.spark import SparkEngine

    return SparkEngine(db, limits)


def _is_spark(given: Any) -> bool:
    """True for a session or a frame of Spark, classic or Connect; nothing of Spark is imported to see it."""
    kind = type(given)
    return kind.__module__.startswith("pyspark.sql.") and kind.__name__ in ("SparkSession", "DataFrame")


def _is_postgres(db: str) -> bool:
    """True for a URL of PostgreSQL and for a conninfo string, which starts with a parameter's name."""
    scheme, colon, _ = db.partition("://")
    parameter, equals, _ = db.partition("=")
    return scheme in _POSTGRES if colon and "=" not in scheme else bool(equals) and parameter.strip().isidentifier()
