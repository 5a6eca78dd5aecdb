"""SQLite files: read by Python's own sqlite3, which never writes, and copied table by table into the private DuckDB.

DuckDB's extension for SQLite would have to be downloaded, and an audit downloads nothing. All tables are read in one
transaction, so that they belong to one state. A value means the same as in SQLite, or the table is refused: numbers
stay whole or floating, texts are as they are written, and a column that mixes texts and numbers is neither.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote as in_url

from sqlaudit.base.errors import EngineError, Incomplete, InputError, Interrupted, SqlauditError, UsageError
from sqlaudit.base.files import is_file, stamp
from sqlaudit.base.names import quote, shown
from sqlaudit.base.relation import Row
from sqlaudit.engines.duckdb.catalog import Name, quote_name
from sqlaudit.engines.duckdb.session import DIALECT, DuckDBSession

SCHEMA = "main"
PATIENCE = 5.0
"""Seconds to wait for a program that writes."""
_WAL = 2
"""The number in the header of a file in the mode of write-ahead logging."""
_TABLES = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite~_%' ESCAPE '~'"
_COLLATIONS = "SELECT COUNT(*) FROM sqlite_schema WHERE sql LIKE '%collate%'"
_BATCH = 20_000
_WIDEST = 150
"""Largest number of columns whose kinds are counted in one statement."""
_EXACT = 2**53
_COUNTED = (
    "SUM(typeof(?) = 'integer')",
    "SUM(typeof(?) = 'real')",
    "SUM(typeof(?) = 'text')",
    "SUM(typeof(?) = 'blob')",
    "MIN(CASE WHEN typeof(?) = 'integer' THEN ? END)",
    "MAX(CASE WHEN typeof(?) = 'integer' THEN ? END)",
)
_DECLARED = (("INT", "BIGINT"), ("CHAR", "VARCHAR"), ("CLOB", "VARCHAR"), ("TEXT", "VARCHAR"), ("BLOB", "BLOB"))
_LOCKED = "is being written by another program. Try again, or audit a copy."
_CLOSED = "is readable only with write permission for its folder. Audit a copy."
_DAMAGED = "is damaged, or encrypted."
_ELSE = "could not be read by SQLite. A view may need a function of the program that made it."
_PREDICATES: dict[int | None, tuple[type[SqlauditError], str]] = {
    sqlite3.SQLITE_CORRUPT: (InputError, _DAMAGED),
    sqlite3.SQLITE_NOTADB: (InputError, _DAMAGED),
    sqlite3.SQLITE_BUSY: (EngineError, _LOCKED),
    sqlite3.SQLITE_LOCKED: (EngineError, _LOCKED),
    sqlite3.SQLITE_CANTOPEN: (EngineError, _CLOSED),
    sqlite3.SQLITE_READONLY: (EngineError, _CLOSED),
}
_PLAIN = 0xFF
"""The part of an error's number that is its kind; the rest is its origin."""
_STEPS = 100_000
"""Steps of SQLite between two looks at the clock."""


class SqliteFile:
    """The tables of an SQLite file, which are copied into a DuckDB session when they are needed.

    Args:
        path: the file. label: the user's name for it. alias: the catalog of the session that gets the tables.
        session: the session.

    Raises:
        InputError: the file is damaged. EngineError: it may not be read now.
    """

    def __init__(self, path: Path, label: str, alias: str, session: DuckDBSession) -> None:
        self._path, self._label, self._session = path, label, session
        # A file in the mode of write-ahead logging without a log: SQLite would make a log beside it to read it
        self._before = stamp(path) if (is_in_wal_mode(path) and not has_log(path)) else None
        if self._before and _is_filled(Path(f"{path}-journal")):
            raise _half_written_error(label)
        # A log that no program has in use: SQLite would rebuild the index of it, beside the file
        if not self._before and (has_log(path) and not is_file(Path(f"{path}-shm"))):
            raise InputError(
                f"{label!r} was not closed by the program that wrote it last: {label + '-wal'!r} has changes that "
                "SQLite can only read by writing beside the file. Open the file once with the program that made it, or "
                "audit a copy that was opened so."
            )
        self._copied: set[Name] = set()
        address = f"file:{in_url(str(path))}?mode=ro&" + ("immutable=1" if self._before else "readonly_shm=1")
        with self._translating():
            self._connection = sqlite3.connect(
                address, uri=True, isolation_level=None, check_same_thread=False, timeout=PATIENCE
            )
        session.also_stops(self._connection.interrupt, self._connection.close)
        with self._translating():
            self._connection.set_progress_handler(lambda: int(session.out_of_time), _STEPS)
            self._connection.execute("BEGIN")
            self.tables: list[Name] = [(alias, SCHEMA, row[0]) for row in self._connection.execute(_TABLES)]
        session.files[str(path)] = label
        session.fetch("ATTACH ':memory:' AS " + quote(alias, DIALECT), "open " + label)

    def copy(self, name: Name) -> None:
        """Copy a table or view into the session, with the rows that it has now; later calls do nothing.

        Raises:
            UsageError: a column has texts and numbers. InputError: a text is not UTF-8, or the file is damaged.
            EngineError: another program writes to the file.
        """
        if name in self._copied:
            return
        columns = self._find_types(name[2])
        rows = self._fetch_batches("SELECT * FROM " + quote(name[2], DIALECT))
        self._session.fill(quote_name(name), columns, rows, "open " + self._label)
        if self._before and stamp(self._path) != self._before:
            raise InputError(f"{self._label!r} was changed while it was read. Try again, or audit a copy.")
        self._copied.add(name)

    def _fetch_batches(self, sql: str) -> Iterator[Sequence[Row]]:
        """Yield the rows of a statement in batches."""
        with self._translating():
            cursor = self._connection.execute(sql)
            while batch := cursor.fetchmany(_BATCH):
                yield batch

    def _find_types(self, table: str) -> list[tuple[str, str]]:
        """Return the columns with types that hold all their cells exactly."""
        with self._translating():
            described = self._connection.execute("SELECT * FROM " + quote(table, DIALECT) + " LIMIT 0").description
            names = [str(column[0]) for column in described]
            table_info = self._connection.execute("PRAGMA table_xinfo(" + quote(table, DIALECT) + ")")
            declared = {str(row[1]): str(row[2]) for row in table_info}
            parts = [names[start : start + _WIDEST] for start in range(0, len(names), _WIDEST)]
            cell_counts = [cells for part in parts for cells in self._count_cells(table, part)]
            self._refuse_equal_texts(table, [name for name, cells in zip(names, cell_counts, strict=True) if cells[2]])
        return [
            (name, self._exact_type(table, name, cells, declared.get(name, "")))
            for name, cells in zip(names, cell_counts, strict=True)
        ]

    def _count_cells(self, table: str, names: Sequence[str]) -> list[Row]:
        """Return per column how many cells are whole, floating, texts and bytes, and the range of the whole ones."""
        parts = [part.replace("?", quote(name, DIALECT)) for name in names for part in _COUNTED]
        row = self._connection.execute("SELECT " + ", ".join(parts) + " FROM " + quote(table, DIALECT)).fetchone()
        width = len(_COUNTED)
        return [row[start : start + width] for start in range(0, len(row), width)]

    def _refuse_equal_texts(self, table: str, names: Sequence[str]) -> None:
        """Raise UsageError if a collation treats texts as equal that are written differently."""
        if not self._connection.execute(_COLLATIONS).fetchone()[0]:
            return
        for name in names:
            column = quote(name, DIALECT)
            values = "COUNT(DISTINCT " + column + "), COUNT(DISTINCT " + column + " COLLATE BINARY)"
            equal, written = self._connection.execute("SELECT " + values + " FROM " + quote(table, DIALECT)).fetchone()
            if equal != written:
                raise UsageError(
                    f"Column {shown(name)} of {table!r} has texts that its collation treats as equal, such as letters "
                    f"in two cases, but an audit treats as different. Make a view in {self._label!r} with one "
                    "spelling, for example with LOWER(…), and name that."
                )

    def _exact_type(self, table: str, name: str, cells: Row, declared: str) -> str:
        """Return the type that holds all cells of a column exactly; raise UsageError if there is none."""
        integers, floating, texts, blobs = (int(count or 0) for count in cells[:4])
        if sum(count > 0 for count in (integers + floating, texts, blobs)) > 1:
            raise UsageError(
                f"Column {shown(name)} of {table!r} has values of several types (numbers, texts or bytes), which are "
                f"never equal in SQLite. Make a view in {self._label!r} with one type, for example with CAST(… AS "
                "TEXT), and name that."
            )
        if integers and floating and not -_EXACT <= cells[4] <= cells[5] <= _EXACT:
            raise UsageError(
                f"Column {shown(name)} of {table!r} has floating-point numbers and whole numbers beyond 2^53, which no "
                "type stores exactly. Name a view without it."
            )
        if not integers + floating + texts + blobs:
            return next((ours for part, ours in _DECLARED if part in declared.upper()), "VARCHAR")
        return "DOUBLE" if floating else "BIGINT" if integers else "VARCHAR" if texts else "BLOB"

    @contextmanager
    def _translating(self) -> Iterator[None]:
        """Raise SQLite's errors as ours. Its messages may quote a value, so none of them is passed on."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._translate(error) from None

    def _translate(self, error: sqlite3.Error) -> SqlauditError:
        """Return our error for an error of SQLite."""
        code, name = getattr(error, "sqlite_errorcode", None), repr(self._label)
        if self._session.out_of_time:
            return Incomplete(f"The time limit was reached while {name} was read.")
        if code == sqlite3.SQLITE_INTERRUPT:
            return Interrupted(f"Stopped while {name} was read.")
        if "UTF-8" in str(error):
            return InputError(f"{name} has a text that is not UTF-8.")
        if code == sqlite3.SQLITE_READONLY_ROLLBACK:
            return _half_written_error(self._label)
        kind, predicate = _PREDICATES.get(code and code & _PLAIN, (EngineError, _ELSE))
        return kind(f"{name} {predicate}")


def is_in_wal_mode(path: Path) -> bool:
    """Return True if an SQLite file is in the mode of write-ahead logging, so that SQLite makes an index to read it."""
    with path.open("rb") as file:
        header = file.read(20)
    return header[18:20] == bytes((_WAL, _WAL))


def has_log(path: Path) -> bool:
    """Return True if there is a log beside an SQLite file; SQLite reads it whatever the file itself says."""
    return _is_filled(Path(f"{path}-wal"))


def _is_filled(path: Path) -> bool:
    return is_file(path) and path.stat().st_size > 0


def _half_written_error(label: str) -> InputError:
    """Return the error for a file whose last writer was killed, so that its content is an unfinished state."""
    return InputError(
        f"{label!r} is half written: {label + '-journal'!r} has its former contents, and SQLite can restore them only "
        "by writing. Open the file once with the program that made it, or audit a copy that was opened so."
    )
