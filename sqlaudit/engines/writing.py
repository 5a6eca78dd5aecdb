"""The only place that writes to an audited database: it makes one view, because somebody said so.

A connection of its own, one transaction, and nothing is replaced unless that was asked for, and then views alone.
"""

from __future__ import annotations

from sqlaudit.base.errors import UsageError
from sqlaudit.base.paths import exists
from sqlaudit.base.words import spelled
from sqlaudit.engines import names_spark
from sqlaudit.engines.view import View

LONGEST_IN_POSTGRES = 63
"""Bytes of a name; PostgreSQL cuts longer ones, with nothing but a notice."""


def create_view(db: str | None, view: View, *, replace: bool = False) -> None:
    """Make a view in a database, in a transaction of its own.

    Args:
        db: the DuckDB file, the PostgreSQL URL or conninfo, or Spark. view: what to make.
        replace: whether a view of this name may be replaced; a table never is.

    Raises:
        UsageError: there is no database, or a relation of this name is there already.
        EngineError: the database refused or is in use elsewhere.
    """
    if not db:
        raise UsageError(
            f"A view needs a database to be made in: name it with {spelled('db')}, or write the release to a file."
        )
    check_view(db, view)
    if exists(db):
        from sqlaudit.engines.duckdb.writing import make_view
    elif names_spark(db):
        from sqlaudit.engines.spark.writing import make_view
    else:
        from sqlaudit.engines.postgres.writing import make_view
    make_view(db, view, replace)


def check_view(db: str, view: View) -> None:
    """Nothing when a view may bear its name in this kind of database; asked before long work.

    Raises:
        UsageError: the text is no name, or PostgreSQL would cut it or find something of its own under it.
    """
    parts = view.parts()
    if exists(db) or names_spark(db):
        return
    for part in parts:
        if len(part.encode()) > LONGEST_IN_POSTGRES:
            raise UsageError(
                f"{part!r} has {len(part.encode())} bytes; PostgreSQL would cut it after {LONGEST_IN_POSTGRES}. Choose "
                "a shorter name."
            )
    if parts[-1].startswith("pg_"):
        raise UsageError(
            f"{view.name!r} begins as PostgreSQL's own relations do, which are found before it; choose another name."
        )
