"""The engines: one module a database, all with the contract of `sqlaudit.engines.contract`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlaudit.base.addresses import Whereabouts, whereabouts
from sqlaudit.base.connection_texts import looks_like_connection
from sqlaudit.base.errors import EngineError, MissingDriver, UsageError
from sqlaudit.base.files import exists
from sqlaudit.base.options import made
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import Limits, Target
from sqlaudit.engines.contract import Database, Engine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_POSTGRES = ("postgresql", "postgres")


def connect(db: Database = None, limits: Limits | None = None, *targets: Target) -> Engine:
    """An engine for `--db`: DuckDB for files, frames and database files, PostgreSQL and Spark for what names them.

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
    targets = tuple(table for target in targets for table in target.tables)
    frames = [target.frame for target in targets if _is_spark(target.frame)]
    if _is_spark(db) or (frames and db is None):
        session: Any = db if db is not None else frames[0].sparkSession
        return _spark(session, limits)
    if db is not None and not isinstance(db, str | Whereabouts):
        if is_one(db, "duckdb", "DuckDBPyConnection"):
            from sqlaudit.engines.duckdb.engine import ConnectedDuckDB

            connection: Any = db
            return ConnectedDuckDB(connection, limits, targets)
        db = place_of(db)
    place = _without_driver(whereabouts(db)) if db else None
    if place is not None and not exists(place.text):
        if names_spark(place.text):
            return _spark(place, limits)
        if _is_postgres(place.text):
            from sqlaudit.engines.postgres.engine import PostgresEngine

            return PostgresEngine(place, limits)
        _refuse_others(place)
    from sqlaudit.engines.duckdb.engine import DuckDBEngine

    return DuckDBEngine(place, limits, targets)


def opened(db: Database, limits: Limits | Mapping[str, Any] | None, *targets: Target) -> AbstractContextManager[Engine]:
    """What `db=` of a Python call names, for a `with` block: opened and closed again, or left open if it was open.

    Args:
        db, limits, targets: as for `connect`; `limits` of an open engine are its own.

    Raises:
        SqlauditError: whatever `connect` raises.
    """
    return nullcontext(db) if isinstance(db, Engine) else connect(db, made(Limits, limits, "limits"), *targets)


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


def _refuse_others(place: Whereabouts) -> None:
    """What is no file and names neither PostgreSQL nor Spark; none of its words is said, as any may be secret."""
    if place.text.startswith("adbc:"):
        raise UsageError(
            f"{place.source} is an ADBC database, which supports only the tests of a policy: use sqlaudit test."
        )
    scheme = place.text.partition("://")[0].partition("+")[0].lower()
    if scheme in _WAREHOUSES and "://" in place.text:
        raise UsageError(
            f"{place.source} is a {_WAREHOUSES[scheme]} database, which sqlaudit does not connect to. Write the checks "
            "as SQL with `sqlaudit compile`, or run a policy through an ADBC driver: `sqlaudit test` with adbc:…"
        )
    if "://" in place.text or (place.file is None and looks_like_connection(place.text)):
        raise UsageError(
            f"{place.source} is not a supported database. Give a DuckDB file, a PostgreSQL URL "
            "(postgresql://host/db) or conninfo, or Spark (spark:local, sc://host:port). In a URL, write an at sign, "
            "colon or slash of a name or password as %40, %3A or %2F."
        )


def names_spark(db: str) -> bool:
    """Whether what `--db` says is a Spark.

    Example:
        >>> names_spark("spark:local"), names_spark("sc://host:15002"), names_spark("spark.duckdb")
        (True, True, False)
    """
    return db == "spark" or db.startswith(("spark:", "sc://"))


def _spark(db: Whereabouts | SparkSession, limits: Limits | None) -> Engine:
    from sqlaudit.engines.spark.engine import SparkEngine

    return SparkEngine(db, limits)


def _is_spark(given: Any) -> bool:
    """True for a session or a frame of Spark, classic or Connect; nothing of Spark is imported to see it."""
    kind = type(given)
    return kind.__module__.startswith("pyspark.sql.") and kind.__name__ in ("SparkSession", "DataFrame")


def _without_driver(place: Whereabouts) -> Whereabouts:
    """The place without the driver that SQLAlchemy's URLs name (`postgresql+psycopg://`)."""
    scheme, colon, rest = place.text.partition("://")
    kind, plus, _ = scheme.partition("+")
    return replace(place, text=kind + colon + rest) if colon and plus and kind in _POSTGRES else place


def _is_postgres(db: str) -> bool:
    """True for a URL of PostgreSQL and for a conninfo string, which starts with a parameter's name."""
    scheme, colon, _ = db.partition("://")
    parameter, equals, _ = db.partition("=")
    return scheme in _POSTGRES if colon and "=" not in scheme else bool(equals) and parameter.strip().isidentifier()


# Databases that somebody in Python has open already: what of them is a place to connect to, and what is used itself.
#
# A server is reached over a connection of our own, to where theirs leads, so theirs keeps its transaction and settings.
# Only tables in the memory of this process have no second door; see `ConnectedDuckDB`.

_TAKEN = (
    "a path or URL, an open connection of DuckDB or psycopg, an engine or URL of SQLAlchemy, a SparkSession, or an "
    "open engine of sqlaudit"
)
_SESSION_PARTS = ("client_encoding", "fallback_application_name", "krbsrvname", "tty")
"""Parameters of a connection that another one does not need."""


def is_one(given: Any, package: str, *names: str) -> bool:
    """Whether it is of a class of a package; nothing of the package is imported to see it."""
    module = sys.modules.get(package)
    return module is not None and any(isinstance(given, getattr(module, name, ())) for name in names)


def is_relation(given: Any) -> bool:
    """Whether it is a relation of DuckDB (`connection.table("people")`)."""
    return is_one(given, "duckdb", "DuckDBPyRelation")


def place_of(db: Any) -> Whereabouts:
    """Where an open connection of psycopg leads, or an engine, connection or URL of SQLAlchemy.

    Raises:
        UsageError: something else, or a kind of database that sqlaudit does not know.
        MissingDriver: psycopg is not installed. EngineError: the connection is closed.
    """
    if is_relation(db):
        said = "Give a relation as the table, for example sqlaudit.audit(connection.table('people'))"
        raise UsageError(f"{spelled('db')} takes a database, not a relation. {said}.")
    package = type(db).__module__.partition(".")[0]
    if package in ("psycopg", "psycopg2") and hasattr(db, "info"):
        return _of_psycopg(db)
    if package == "sqlalchemy":
        url = getattr(getattr(db, "engine", db), "url", db)
        if hasattr(url, "get_backend_name"):
            return _of_url(url)
    raise UsageError(f"{spelled('db')} takes {_TAKEN}, not a value of type {type(db).__name__}.")


def _of_psycopg(connection: Any) -> Whereabouts:
    if connection.closed:
        raise EngineError(f"The connection of {spelled('db')} is closed.")
    try:
        from psycopg.conninfo import make_conninfo
    except ImportError:
        raise MissingDriver("PostgreSQL needs the package psycopg: pip install 'sqlaudit[postgres]'.") from None
    own = connection.info
    found = own.get_parameters() if hasattr(own, "get_parameters") else connection.get_dsn_parameters()
    parts = {name: value for name, value in found.items() if value and name not in _SESSION_PARTS}
    if own.password:
        parts["password"] = own.password
    return Whereabouts(make_conninfo(**parts), secret=True)


def _of_url(url: Any) -> Whereabouts:
    kind = url.get_backend_name()
    if kind == "postgresql":
        return Whereabouts(url.set(drivername=kind).render_as_string(hide_password=False), secret=True)
    if kind in ("duckdb", "sqlite") and url.database not in (None, "", ":memory:"):
        return Whereabouts(url.database)
    if kind == "duckdb":
        said = "which only its own connection can read. Pass that DuckDB connection itself"
        raise UsageError(f"{spelled('db')} is a database in memory, {said}.")
    raise UsageError(
        f"{spelled('db')} is a SQLAlchemy engine of {kind}. sqlaudit reads DuckDB, SQLite files, PostgreSQL and Spark."
    )
