"""The engines: one package per database, all with the contract of `sqlaudit.engines.contract`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlaudit.base.addresses import Whereabouts, whereabouts
from sqlaudit.base.connection_texts import looks_like_connection
from sqlaudit.base.errors import EngineError, MissingDriver, UsageError
from sqlaudit.base.files import exists
from sqlaudit.base.names import closest
from sqlaudit.base.options import made
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import Limits, Reading, Target
from sqlaudit.engines.contract import Database, Engine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_POSTGRES = ("postgresql", "postgres")


def connect(db: Database = None, limits: Limits | None = None, *targets: Target) -> Engine:
    """Return an engine for `--db`: DuckDB for files, frames and database files, or else PostgreSQL or Spark.

    Args:
        db: a DuckDB or SQLite file, a PostgreSQL URL (`postgresql://host/db`) or conninfo (`service=…`,
            `host=… dbname=…`), a Spark (`spark:local`, `spark:yarn`, `sc://host:15002` …), a SparkSession (which is
            left as it is), the same as `Whereabouts` of a policy, or None for files and frames. Also what is open
            already: a connection of DuckDB, of psycopg or of SQLAlchemy, or an engine or URL of that.
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
    tables = tuple(table for target in targets for table in target.tables)
    engine = _engine_of(db, limits, tables)
    try:
        check_reading(engine, tables)
    except BaseException:
        engine.close()
        raise
    return engine


def check_reading(engine: Engine, tables: Sequence[Target], reading: Reading | None = None) -> None:
    """Check what was said of how the tables of a command are read, before any of them is.

    Args:
        engine: the engine that reads them. tables: all of them. reading: what was said; None = as the tables have it.

    Raises:
        UsageError: options of a table that is not there, or of a name that two tables have; or options of all tables,
            of which none has such a format.
    """
    reading = reading or next((table.reading for table in tables if table.reading), None)  # they have the same
    if reading is not None and reading.tables:
        from sqlaudit.engines.writing import files_named, tables_named

        named = [table for table in tables if table.reading]
        inside = [table.file(name) for table in named for name in tables_named(table.query) if files_named(name)]
        _check_names(reading, [*named, *(file for file in inside if engine.reading_options(file))])
    if any(table.shared for table in tables):
        taken = frozenset[str]().union(*map(engine.reading_options, tables))
        for table in tables:
            if unused := table.shared - taken:
                engine.open(replace(table, shared=table.shared - unused))  # which says why it does not take them


def _check_names(reading: Reading, tables: Sequence[Target]) -> None:
    """Raise UsageError if what is said of one table names none of these, or several."""
    for name in reading.tables:
        count = sum(name in table.names for table in tables)
        if count > 1:
            raise UsageError(f"{spelled('read')}: {count} tables are called {name!r}. Name one by its role or path.")
        if not count:
            names = [table.role or table.name for table in tables]
            hint = closest(name, [*names, *(other for table in tables for other in table.names)])
            hint = hint or (f" Available: {', '.join(names)}." if names else "")
            raise UsageError(f"{spelled('read')}: there is no table {name!r}.{hint}")


def _engine_of(db: Database, limits: Limits | None, targets: Sequence[Target]) -> Engine:
    """Return the engine for a database, as `connect` does, without a check of how its tables are read."""
    frames = [target.frame for target in targets if _is_spark(target.frame)]
    if _is_spark(db) or (frames and db is None):
        session: object = db if db is not None else frames[0].sparkSession
        return _spark(session, limits)
    if db is not None and not isinstance(db, str | Whereabouts):
        if is_instance_of(db, "duckdb", "DuckDBPyConnection"):
            from sqlaudit.engines.duckdb.engine import ConnectedDuckDB

            connection: Any = db
            return ConnectedDuckDB(connection, limits, targets)
        db = place_of(db)
    address = _without_driver(whereabouts(db)) if db else None
    if address is not None and not exists(address.text):
        if names_spark(address.text):
            return _spark(address, limits)
        if _is_postgres(address.text):
            from sqlaudit.engines.postgres.engine import PostgresEngine

            return PostgresEngine(address, limits)
        _refuse_others(address)
    from sqlaudit.engines.duckdb.engine import DuckDBEngine

    return DuckDBEngine(address, limits, targets)


def opened(
    db: Database, limits: Limits | Mapping[str, object] | None, *targets: Target
) -> AbstractContextManager[Engine]:
    """Return the engine that `db=` of a Python call names, for a `with` block; an engine that was open stays open.

    Args:
        db, limits, targets: as for `connect`; `limits` of an open engine are its own.

    Raises:
        SqlauditError: whatever `connect` raises.
    """
    if not isinstance(db, Engine):
        return connect(db, made(Limits, limits, "limits"), *targets)
    check_reading(db, [table for target in targets for table in target.tables])
    return nullcontext(db)


_WAREHOUSES = {
    "mysql": "MySQL",
    "mariadb": "MariaDB",
    "snowflake": "Snowflake",
    "bigquery": "BigQuery",
    "redshift": "Redshift",
    "mssql": "SQL Server",
    "oracle": "Oracle",
    "trino": "Trino",
    "databricks": "Databricks",
    "clickhouse": "ClickHouse",
}


def _refuse_others(address: Whereabouts) -> None:
    """Raise UsageError for a text that names no file, and neither PostgreSQL nor Spark. No part of it is shown, as any
    may be secret.
    """
    if address.text.startswith("adbc:"):
        raise UsageError(
            f"{address.source} is an ADBC database, which supports only the tests of a policy: use sqlaudit test."
        )
    scheme = address.text.partition("://")[0].partition("+")[0].lower()
    if scheme in _WAREHOUSES and "://" in address.text:
        raise UsageError(
            f"{address.source} is a {_WAREHOUSES[scheme]} database, which sqlaudit does not connect to. Write the "
            "checks as SQL with `sqlaudit compile`, or run a policy through an ADBC driver: `sqlaudit test` with adbc:…"
        )
    if "://" in address.text or (address.file is None and looks_like_connection(address.text)):
        raise UsageError(
            f"{address.source} is not a supported database. Give a DuckDB file, a PostgreSQL URL "
            "(postgresql://host/db) or conninfo, or Spark (spark:local, sc://host:port). In a URL, write an at sign, "
            "colon or slash of a name or password as %40, %3A or %2F."
        )


def names_spark(db: object) -> bool:
    """Return True if the text of `--db` names a Spark, or if it is a session of Spark.

    Example:
        >>> names_spark("spark:local"), names_spark("sc://host:15002"), names_spark("spark.duckdb")
        (True, True, False)
    """
    return (db == "spark" or db.startswith(("spark:", "sc://"))) if isinstance(db, str) else _is_spark(db)


def _spark(db: Whereabouts | SparkSession, limits: Limits | None) -> Engine:
    from sqlaudit.engines.spark.engine import SparkEngine

    return SparkEngine(db, limits)


def _is_spark(candidate: object) -> bool:
    """Return True for a session or a frame of Spark, classic or Connect; nothing of Spark is imported for it."""
    kind = type(candidate)
    return kind.__module__.startswith("pyspark.sql.") and kind.__name__ in ("SparkSession", "DataFrame")


def _without_driver(address: Whereabouts) -> Whereabouts:
    """Return the address without the driver that URLs of SQLAlchemy name (`postgresql+psycopg://`)."""
    scheme, colon, rest = address.text.partition("://")
    kind, plus, _ = scheme.partition("+")
    return replace(address, text=kind + colon + rest) if colon and plus and kind in _POSTGRES else address


def _is_postgres(db: str) -> bool:
    """Return True for a URL of PostgreSQL and for a conninfo string, which starts with the name of a parameter."""
    scheme, colon, _ = db.partition("://")
    parameter, equals, _ = db.partition("=")
    return scheme in _POSTGRES if colon and "=" not in scheme else bool(equals) and parameter.strip().isidentifier()


# Databases that the caller in Python has open already.
#
# A server is reached over a connection of our own to the same address, so theirs keeps its transaction and settings.
# Only tables in the memory of this process cannot be reached by a second connection; see `ConnectedDuckDB`.

_DATABASES = (
    "a path or URL, an open connection of DuckDB or psycopg, an engine or URL of SQLAlchemy, a SparkSession, or an "
    "open engine of sqlaudit"
)
_SESSION_PARTS = ("client_encoding", "fallback_application_name", "krbsrvname", "tty")
"""Parameters of a connection that a second one does not need."""


def is_instance_of(candidate: object, package: str, *names: str) -> bool:
    """Return True if an object is of one of these classes of a package; the package is not imported for it."""
    module = sys.modules.get(package)
    return module is not None and any(isinstance(candidate, getattr(module, name, ())) for name in names)


def is_relation(candidate: object) -> bool:
    """Return True if an object is a relation of DuckDB (`connection.table("people")`)."""
    return is_instance_of(candidate, "duckdb", "DuckDBPyRelation")


def place_of(db: object) -> Whereabouts:
    """Return the address of an open connection of psycopg, or of an engine, connection or URL of SQLAlchemy.

    Raises:
        UsageError: something else, or a kind of database that sqlaudit does not know.
        MissingDriver: psycopg is not installed. EngineError: the connection is closed.
    """
    if is_relation(db):
        hint = "Give a relation as the table, for example sqlaudit.audit(connection.table('people'))"
        raise UsageError(f"{spelled('db')} takes a database, not a relation. {hint}.")
    package = type(db).__module__.partition(".")[0]
    if package in ("psycopg", "psycopg2") and hasattr(db, "info"):
        return _address_of_psycopg(db)
    if package == "sqlalchemy":
        url = getattr(getattr(db, "engine", db), "url", db)
        if hasattr(url, "get_backend_name"):
            return _address_of_url(url)
    raise UsageError(f"{spelled('db')} takes {_DATABASES}, not a value of type {type(db).__name__}.")


def _address_of_psycopg(connection: Any) -> Whereabouts:
    """Return the address of an open connection of psycopg; raise EngineError if it is closed."""
    if connection.closed:
        raise EngineError(f"The connection of {spelled('db')} is closed.")
    try:
        from psycopg.conninfo import make_conninfo
    except ImportError:
        raise MissingDriver("PostgreSQL needs the package psycopg: pip install 'sqlaudit[postgres]'.") from None
    info = connection.info
    parameters = info.get_parameters() if hasattr(info, "get_parameters") else connection.get_dsn_parameters()
    parts = {name: value for name, value in parameters.items() if value and name not in _SESSION_PARTS}
    if info.password:
        parts["password"] = info.password
    return Whereabouts(make_conninfo(**parts), secret=True)


def _address_of_url(url: Any) -> Whereabouts:
    """Return the address that a URL of SQLAlchemy names; raise UsageError if sqlaudit cannot read that database."""
    kind = url.get_backend_name()
    if kind == "postgresql":
        return Whereabouts(url.set(drivername=kind).render_as_string(hide_password=False), secret=True)
    if kind in ("duckdb", "sqlite") and url.database not in (None, "", ":memory:"):
        return Whereabouts(url.database)
    if kind == "duckdb":
        reason = "which only its own connection can read. Pass that DuckDB connection itself"
        raise UsageError(f"{spelled('db')} is a database in memory, {reason}.")
    raise UsageError(
        f"{spelled('db')} is a SQLAlchemy engine of {kind}. sqlaudit reads DuckDB, SQLite files, PostgreSQL and Spark."
    )
