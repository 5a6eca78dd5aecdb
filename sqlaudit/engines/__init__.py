"""The engines: one module a database, all with the contract of `sqlaudit.engines.contract`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlaudit.base.addresses import Whereabouts, whereabouts
from sqlaudit.base.connection_texts import looks_like_connection
from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import exists
from sqlaudit.base.options import made
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
        from sqlaudit.engines.given import is_duckdb, place_of

        if is_duckdb(db):
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


def _refuse_others(place: Whereabouts) -> None:
    """What is no file and names neither PostgreSQL nor Spark; none of its words is said, as any may be secret."""
    if place.text.startswith("adbc:"):
        raise UsageError(
            f"{place.source} is behind an ADBC driver, which answers the tests of a policy and nothing else: "
            "sqlaudit test, with this database and the policy."
        )
    if "://" in place.text or (place.file is None and looks_like_connection(place.text)):
        raise UsageError(
            f"{place.source} names no database that sqlaudit knows: write a DuckDB file, a PostgreSQL URL "
            "(postgresql://host/db) or conninfo, or Spark (spark:local, sc://host:port). An at sign, colon or slash in "
            "a name or password of a URL is written as %40, %3A or %2F."
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
