"""Limits of writing: never over a file that is read, and in an audited database one view, on demand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlaudit.base.addresses import Whereabouts
from sqlaudit.base.errors import SqlauditError, UsageError
from sqlaudit.base.files import exists, is_file, resolved
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import Target
from sqlaudit.engines import names_spark
from sqlaudit.engines.contract import View

# The only function that writes to an audited database: it makes one view or table, on demand.
#
# It has a connection of its own and one transaction, and replaces only views, if the user says so.

LONGEST_IN_POSTGRES = 63
"""Largest number of bytes in a name; PostgreSQL cuts longer ones, with no more than a notice."""


def create_view(db: Any, view: View, *, replace: bool = False) -> None:
    """Make a view or table in a database, in a transaction of its own.

    Args:
        db: the DuckDB file, the PostgreSQL URL or conninfo, or Spark. view: the view or table.
        replace: True if a view of this name may be replaced; a table never is.

    Raises:
        UsageError: there is no database, or a relation of this name is there already.
        EngineError: the database refused or is in use elsewhere.
    """
    check_view(db, view)
    if isinstance(db, str) and exists(db):
        from sqlaudit.engines.duckdb.store import make_view
    elif names_spark(db):
        from sqlaudit.engines.spark.engine import make_view
    else:
        from sqlaudit.engines.postgres.engine import make_view
    make_view(db, view, replace)


def check_view(db: object, view: View) -> None:
    """Raise UsageError if a view or table cannot be made in this database, before long work begins.

    Args:
        db: a database as `engines.connect` takes it. Of one that is open only a session of Spark may write.

    Raises:
        UsageError: no database is named, the text is not a name, or PostgreSQL would cut it, or find a relation of its
            own instead.
    """
    if names_spark(db):
        view.parts()
        return
    if not isinstance(db, str) or not db:
        raise UsageError(
            f"{spelled('execute', True)} creates a {view.kind} in a database. Name the database with {spelled('db')}."
        )
    parts = view.parts(2)
    if exists(db):
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


# No written file may replace a file that is read.
#
# One file has many names: links, hard links, other spellings, and paths in environment variables or profiles. So files
# are compared when all files that are read are known, by device and inode.

Identity = tuple[int, int] | Path


def refuse_overwriting(written: Iterable[str | Path | None], read: Iterable[Path]) -> None:
    """Refuse to write a file that is read, or the same file twice.

    Args:
        written: the files to be written; None is ignored. read: the files that are read, under any name.

    Raises:
        UsageError: there is such a file.
    """
    files = [Path(file) for file in written if file is not None and str(file) != "-"]
    identities_read = {identity for file in read for identity in _identities(file)} if files else set()
    identities_written: set[Identity] = set()
    for file in files:
        identities = _identities(file)
        if identities_written & identities and (is_file(file) or not exists(file)):
            raise UsageError(f"{str(file)!r} is named twice for writing, by this or another name. Name two files.")
        identities_written |= identities
        if identities_read & identities:
            raise UsageError(
                f"{str(file)!r} is an input, by this or another name, and cannot be overwritten. Name another file."
            )


def files_read(db: object, targets: Iterable[Target]) -> Iterator[Path]:
    """Yield the files behind a database and targets: the database file with its log, files, globs, those of queries.

    Args:
        db: a database as `engines.connect` takes it, or an open engine.
    """
    if isinstance(db, str | Whereabouts) and db:
        yield from _database_files(Path(db if isinstance(db, str) else db.text))
    named: Iterable[Path] = getattr(db, "files", tuple)()
    for file in named:
        yield from _database_files(file)
    for table in (table for target in targets for table in target.tables):
        names = [table.relation] if table.relation else []
        for name in names + tables_named(table.query):
            yield from files_named(name)


def files_named(text: str) -> list[Path]:
    """Return the files that a text names as a target does: by its name or as a glob; none for the name of a table."""
    from sqlaudit.engines.duckdb.paths import matching

    return matching(text) if text else []


def tables_named(query: str) -> list[str]:
    """Return the tables that a query names, some of which are files; none if the query cannot be read."""
    if not query:
        return []
    from sqlaudit.base.guard import guard_query
    from sqlaudit.engines.duckdb.queries import named_tables

    with suppress(SqlauditError):
        return [table.name for table in named_tables(guard_query(query, "duckdb"))]
    return []


def _database_files(path: Path) -> Iterator[Path]:
    """Yield a file, and the log that DuckDB writes beside it, which may not exist yet."""
    if exists(path):
        yield path
        yield from (Path(f"{alias}.wal") for alias in (path, resolved(path)))


def _identities(path: Path) -> set[Identity]:
    """Return the identities of a file: device and inode if it exists, and its path without links."""
    identities: set[Identity] = {resolved(path)}
    if is_file(path):
        with suppress(OSError):
            facts = path.stat()
            identities.add((facts.st_dev, facts.st_ino))
    return identities
