"""Nothing that is written takes the place of something that is read: files are compared by what they are.

One file has many names: links, hard links, other spellings, and what an environment variable or a profile says. So the
question is asked when it is known which files are read, and by device and number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import SqlauditError, UsageError
from sqlaudit.base.paths import exists, is_file, resolved
from sqlaudit.base.spec import Target
from sqlaudit.base.whereabouts import Whereabouts

Identity = tuple[int, int] | Path


def refuse_overwriting(written: Iterable[str | Path | None], read: Iterable[Path]) -> None:
    """Nothing when no file that will be written is one that is read.

    Args:
        written: the files to be written, None for those that nobody wants. read: what is read, under any name.

    Raises:
        UsageError: one is.
    """
    wanted = [Path(file) for file in written if file is not None and str(file) != "-"]
    taken = {one for file in read for one in _identities(file)} if wanted else set()
    for file in wanted:
        if taken & _identities(file):
            raise UsageError(
                f"{str(file)!r} is read here, by this or another name, and would be lost; name a file of its own to "
                "write."
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
