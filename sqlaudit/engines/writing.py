"""What may be written: never over something that is read, and in an audited database one view, on demand."""

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

# The only place that writes to an audited database: it makes one view, because somebody said so.
#
# A connection of its own, one transaction, and nothing is replaced unless that was asked for, and then views alone.

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
        raise UsageError(f"A view needs a database: name it with {spelled('db')}, or write the release to a file.")
    check_view(db, view)
    if exists(db):
        from sqlaudit.engines.duckdb.store import make_view
    elif names_spark(db):
        from sqlaudit.engines.spark.engine import make_view
    else:
        from sqlaudit.engines.postgres.engine import make_view
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


# Nothing that is written takes the place of something that is read: files are compared by what they are.
#
# One file has many names: links, hard links, other spellings, and what an environment variable or a profile says. So
# the question is asked when it is known which files are read, and by device and number.

Identity = tuple[int, int] | Path


def refuse_overwriting(written: Iterable[str | Path | None], read: Iterable[Path]) -> None:
    """Nothing when no file that will be written is one that is read, or is written twice.

    Args:
        written: the files to be written, None for those that nobody wants. read: what is read, under any name.

    Raises:
        UsageError: one is.
    """
    wanted = [Path(file) for file in written if file is not None and str(file) != "-"]
    taken = {one for file in read for one in _identities(file)} if wanted else set()
    before: set[Identity] = set()
    for file in wanted:
        own = _identities(file)
        if before & own and (is_file(file) or not exists(file)):
            raise UsageError(f"{str(file)!r} is named twice for writing, by this or another name. Name two files.")
        before |= own
        if taken & own:
            raise UsageError(
                f"{str(file)!r} is an input, by this or another name, and cannot be overwritten. Name another file."
            )


def files_read(db: Any, targets: Iterable[Target]) -> Iterator[Path]:
    """The files behind a database and targets: the database's own with its log, files and globs, those of queries.

    Args:
        db: what `engines.connect` takes, or an engine that is open.
    """
    if isinstance(db, str | Whereabouts) and db:
        yield from _database(Path(db if isinstance(db, str) else db.text))
    named: Iterable[Path] = getattr(db, "files", tuple)()
    for file in named:
        yield from _database(file)
    for target in (table for one in targets for table in one.tables):
        names = [target.relation] if target.relation else []
        for name in names + _named(target.query):
            yield from files_named(name)


def files_named(text: str) -> list[Path]:
    """The files that a text names as a target does: by its name or as a glob, none for the name of a table."""
    from sqlaudit.engines.duckdb.paths import matching

    return matching(text) if text else []


def _named(query: str) -> list[str]:
    """The tables that a query names, of which some are files; none where it cannot be read, which is said later."""
    if not query:
        return []
    from sqlaudit.base.guard import guard_query
    from sqlaudit.engines.duckdb.queries import named_tables

    with suppress(SqlauditError):
        return [table.name for table in named_tables(guard_query(query, "duckdb"))]
    return []


def _database(path: Path) -> Iterator[Path]:
    """A file, and the log that DuckDB writes beside it, which may come into being yet."""
    if exists(path):
        yield path
        yield from (Path(f"{one}.wal") for one in (path, resolved(path)))


def _identities(path: Path) -> set[Identity]:
    """What tells a file: device and number where there is one, and the place that its name leads to."""
    found: set[Identity] = {resolved(path)}
    if is_file(path):
        with suppress(OSError):
            facts = path.stat()
            found.add((facts.st_dev, facts.st_ino))
    return found
