"""The engines: one module a database, all with the contract of `sqlaudit.engines.base`."""

from __future__ import annotations

from pathlib import Path

from sqlaudit.engines.base import Engine
from sqlaudit.errors import UsageError
from sqlaudit.spec import Limits, Target

_POSTGRES = ("postgresql", "postgres")


def connect(db: str | None = None, limits: Limits | None = None, *targets: Target) -> Engine:
    """An engine for `--db`: DuckDB for files, frames and database files, PostgreSQL for its URLs and conninfo strings.

    Args:
        db: a DuckDB database file, a PostgreSQL URL (`postgresql://host/db`) or conninfo (`service=…`,
            `host=… dbname=…`), or None for files and frames.
        limits: the budgets of the whole command.
        targets: everything that will be opened, so that access can be closed to all other files.

    Raises:
        UsageError: the database file does not exist, or the URL is of another kind of database.
        InputError: the file is not a DuckDB database.
        ConnectionFailed: the database cannot be reached.
        MissingDriver: the driver for PostgreSQL is not installed.

    Example:
        >>> with connect() as engine:
        ...     engine.name
        'DuckDB'
    """
    if db and not Path(db).exists():
        if _is_spark(db):
            from sqlaudit.engines.spark import SparkEngine

            return SparkEngine(db, limits)
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


def _is_spark(db: str) -> bool:
    """True for a Spark that is started (`spark:…`, `spark://…`) and for a server of Spark Connect (`sc://…`)."""
    return db == "spark" or db.startswith(("spark:", "sc://"))


def _is_postgres(db: str) -> bool:
    """True for a URL of PostgreSQL and for a conninfo string, which starts with a parameter's name."""
    scheme, colon, _ = db.partition("://")
    parameter, equals, _ = db.partition("=")
    return scheme in _POSTGRES if colon and "=" not in scheme else bool(equals) and parameter.strip().isidentifier()
