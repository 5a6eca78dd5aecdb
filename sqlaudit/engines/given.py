"""Databases that somebody in Python has open already: what of them is a place to connect to, and what is used itself.

A server is reached over a connection of our own, to where theirs leads: theirs keeps its transaction and its settings.
Only tables in the memory of this process have no second door; see `duckdb/engine.py`.
"""

from __future__ import annotations

import sys
from typing import Any

from sqlaudit.base.addresses import Whereabouts
from sqlaudit.base.errors import EngineError, MissingDriver, UsageError
from sqlaudit.base.parameter_names import spelled

_TAKEN = (
    "a path or URL, an open connection of DuckDB or psycopg, an engine or URL of SQLAlchemy, a SparkSession, or an "
    "open engine of sqlaudit"
)
_SESSION_PARTS = ("client_encoding", "fallback_application_name", "krbsrvname", "tty")
"""What a connection says of itself and no other one has to be told."""


def is_one(given: Any, package: str, *names: str) -> bool:
    """Whether it is of a class of a package; nothing of the package is imported to see it."""
    module = sys.modules.get(package)
    return module is not None and any(isinstance(given, getattr(module, name, ())) for name in names)


def is_duckdb(db: Any) -> bool:
    """Whether it is an open connection of DuckDB."""
    return is_one(db, "duckdb", "DuckDBPyConnection")


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
        said = "name the relation as the table, for instance sqlaudit.audit(connection.table('people'))"
        raise UsageError(f"{spelled('db')} takes a database, and a relation is a table of one: {said}.")
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
        said = "which only its own connection sees; pass that DuckDB connection itself"
        raise UsageError(f"{spelled('db')} is a database in memory, {said}.")
    raise UsageError(
        f"{spelled('db')} is a SQLAlchemy engine of {kind}; sqlaudit reads DuckDB, SQLite files, PostgreSQL and Spark."
    )
