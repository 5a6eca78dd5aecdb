"""The engines: one module a database, all with the contract of `sqlaudit.engines.base`."""

from __future__ import annotations

from sqlaudit.engines.base import Engine
from sqlaudit.spec import Limits, Target

_POSTGRES_URLS = ("postgresql://", "postgres://")


def connect(db: str | None = None, limits: Limits | None = None, *targets: Target) -> Engine:
    """An engine for `--db`: DuckDB for files, frames and *.duckdb, PostgreSQL for its URLs and conninfo strings.

    Args:
        db: a DuckDB database file, a PostgreSQL URL or conninfo (`service=…`, `host=… dbname=…`), or None for files
            and frames.
        limits: the budgets of the whole command.
        targets: everything that will be opened, so that access can be closed to all other files.

    Raises:
        UsageError: the database file does not exist.
        ConnectionFailed: the database cannot be reached.
        MissingDriver: the driver for PostgreSQL is not installed.
    """
    if db is not None and _is_postgres(db):
        from sqlaudit.engines.postgres import PostgresEngine

        return PostgresEngine(db, limits)
    from sqlaudit.engines.duckdb import DuckDBEngine

    return DuckDBEngine(db, limits, targets)


def _is_postgres(db: str) -> bool:
    first = db.split("=", 1)[0].strip()
    return db.startswith(_POSTGRES_URLS) or ("=" in db and first.isidentifier() and first.islower())
