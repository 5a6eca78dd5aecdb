"""The only place that writes to an audited database: it makes one view, because somebody said so.

A connection of its own, one transaction, and nothing is replaced unless that was asked for, and then views alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlaudit.engines import names_spark
from sqlaudit.errors import UsageError
from sqlaudit.guard import quote, split_name
from sqlaudit.paths import exists
from sqlaudit.sql import environment

LONGEST_IN_POSTGRES = 63
"""Bytes of a name; PostgreSQL cuts longer ones, with nothing but a notice."""


@dataclass(frozen=True)
class View:
    """A view to be made.

    Args:
        name: as a user writes it: `release`, `public."odd name"`. select: the SELECT behind it, in the database's SQL.
    """

    name: str
    select: str

    def parts(self) -> tuple[str, ...]:
        """The schema, if one was named, and the view.

        Raises:
            UsageError: the text is no such name.
        """
        parts = split_name(self.name)
        if len(parts) > 2:
            raise UsageError(f"{self.name!r} should be a view's name, or schema.view.")
        return parts

    def quoted(self, dialect: str) -> str:
        """The quoted name."""
        return ".".join(quote(part, dialect) for part in self.parts())

    def statement(self, dialect: str) -> str:
        """CREATE VIEW, in one dialect.

        Example:
            >>> print(View("release", "SELECT 1 AS one").statement("duckdb"))
            CREATE VIEW "release" AS
            SELECT 1 AS one
        """
        template = environment().get_template("publish_view.sql")
        return template.render(name=self.quoted(dialect), select=self.select, dialect=dialect).strip()


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
        raise UsageError("A view needs a database to be made in: name it with --db, or write the release to a file.")
    check_view(db, view)
    if exists(db):
        from sqlaudit.engines.duckdb_writing import make_view
    elif names_spark(db):
        from sqlaudit.engines.spark_writing import make_view
    else:
        from sqlaudit.engines.postgres_writing import make_view
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


def taken(view: View, kind: str, replace: bool) -> UsageError | None:
    """What to say of a name that is in use, None when that may be replaced.

    Args:
        view: what is to be made. kind: what has the name: empty = nothing, else `view`, `table` ...
    """
    if not kind or (kind == "view" and replace):
        return None
    if kind == "view":
        return UsageError(f"There is a view {view.name!r} already; --replace replaces it, or choose another name.")
    return UsageError(f"There is a {kind} {view.name!r}, which is never replaced; choose another name.")
