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
from sqlaudit.base.names import quote
from sqlaudit.base.relation import Row
from sqlaudit.engines.duckdb.catalog import Name, in_sql
from sqlaudit.engines.duckdb.session import DIALECT, DuckDBSession

SCHEMA = "main"
PATIENCE = 5.0
"""Seconds to wait for someone who writes."""
_WAL = 2
"""What a file in the mode of write-ahead logging says in its header."""
_TABLES = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite~_%' ESCAPE '~'"
_COLLATIONS = "SELECT COUNT(*) FROM sqlite_schema WHERE sql LIKE '%collate%'"
_BATCH = 20_000
_WIDEST = 150
"""Columns whose kinds are counted in one statement."""
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
_SAID: dict[int | None, tuple[type[SqlauditError], str]] = {
    sqlite3.SQLITE_CORRUPT: (InputError, _DAMAGED),
    sqlite3.SQLITE_NOTADB: (InputError, _DAMAGED),
    sqlite3.SQLITE_BUSY: (EngineError, _LOCKED),
    sqlite3.SQLITE_LOCKED: (EngineError, _LOCKED),
    sqlite3.SQLITE_CANTOPEN: (EngineError, _CLOSED),
    sqlite3.SQLITE_READONLY: (EngineError, _CLOSED),
}
_PLAIN = 0xFF
"""The part of an error's number that says what it is; the rest says where it came from."""
_STEPS = 100_000
"""Steps of SQLite between two looks at the clock."""


class SqliteFile:
    """The tables of an SQLite file, of which those that are asked for pass into a DuckDB session.

    Args:
        path: the file. label: what the user calls it. alias: the catalog of the session that takes the tables.
        session: where they go.

    Raises:
        InputError: the file is damaged. EngineError: it may not be read now.
    """

    def __init__(self, path: Path, label: str, alias: str, session: DuckDBSession) -> None:
        self._path, self._label, self._session = path, label, session
        # Whether a file in the mode of write-ahead logging has no log: SQLite would make one beside it to read it
        self._before = stamp(path) if (is_in_wal_mode(path) and not has_log(path)) else None
        if self._before and _is_filled(Path(f"{path}-journal")):
            raise _half_written(label)
        # Whether there is a log that no program has in use: SQLite would make the index of it anew, beside the file
        if not self._before and (has_log(path) and not is_file(Path(f"{path}-shm"))):
            raise InputError(
                f"{label!r} was not closed by who wrote it last: {label + '-wal'!r} has changes that SQLite can only "
                "read by writing beside the file. Open the file once with the program that made it, or audit a copy "
                "that was opened so."
            )
        self._copied: set[Name] = set()
        address = f"file:{in_url(str(path))}?mode=ro&" + ("immutable=1" if self._before else "readonly_shm=1")
        with self._translated():
            self._connection = sqlite3.connect(
                address, uri=True, isolation_level=None, check_same_thread=False, timeout=PATIENCE
            )
        session.also_stops(self._connection.interrupt, self._connection.close)
        with self._translated():
            self._connection.set_progress_handler(lambda: int(session.out_of_time), _STEPS)
            self._connection.execute("BEGIN")
            self.tables: list[Name] = [(alias, SCHEMA, row[0]) for row in self._connection.execute(_TABLES)]
        session.files[str(path)] = label
        session.fetch("ATTACH ':memory:' AS " + quote(alias, DIALECT), "open " + label)

    def copy(self, name: Name) -> None:
        """Make a table or view readable in the session, with the rows it has now; done once.

        Raises:
            UsageError: a column with texts and numbers. InputError: a text that is none, or a damaged file.
            EngineError: somebody writes to the file.
        """
        if name in self._copied:
            return
        columns = self._columns(name[2])
        rows = self._rows("SELECT * FROM " + quote(name[2], DIALECT))
        self._session.fill(in_sql(name), columns, rows, "open " + self._label)
        if self._before and stamp(self._path) != self._before:
            raise InputError(f"{self._label!r} was changed while it was read. Try again, or audit a copy.")
        self._copied.add(name)

    def _rows(self, sql: str) -> Iterator[Sequence[Row]]:
        with self._translated():
            cursor = self._connection.execute(sql)
            while batch := cursor.fetchmany(_BATCH):
                yield batch

    def _columns(self, table: str) -> list[tuple[str, str]]:
        """The columns with the types that hold each cell of them."""
        with self._translated():
            described = self._connection.execute("SELECT * FROM " + quote(table, DIALECT) + " LIMIT 0").description
            names = [str(column[0]) for column in described]
            told = self._connection.execute("PRAGMA table_xinfo(" + quote(table, DIALECT) + ")")
            declared = {str(row[1]): str(row[2]) for row in told}
            parts = [names[start : start + _WIDEST] for start in range(0, len(names), _WIDEST)]
            counted = [cells for part in parts for cells in self._counted(table, part)]
            self._refuse_equal_texts(table, [name for name, cells in zip(names, counted, strict=True) if cells[2]])
        return [
            (name, self._type(table, name, cells, declared.get(name, "")))
            for name, cells in zip(names, counted, strict=True)
        ]

    def _counted(self, table: str, names: Sequence[str]) -> list[Row]:
        """Of each column how many cells are whole, floating, texts and bytes, and the range of the whole ones."""
        parts = [part.replace("?", quote(name, DIALECT)) for name in names for part in _COUNTED]
        row = self._connection.execute("SELECT " + ", ".join(parts) + " FROM " + quote(table, DIALECT)).fetchone()
        each = len(_COUNTED)
        return [row[start : start + each] for start in range(0, len(row), each)]

    def _refuse_equal_texts(self, table: str, names: Sequence[str]) -> None:
        """Raise UsageError where a collation takes texts for equal that are written in different ways."""
        if not self._connection.execute(_COLLATIONS).fetchone()[0]:
            return
        for name in names:
            column = quote(name, DIALECT)
            values = "COUNT(DISTINCT " + column + "), COUNT(DISTINCT " + column + " COLLATE BINARY)"
            equal, written = self._connection.execute("SELECT " + values + " FROM " + quote(table, DIALECT)).fetchone()
            if equal != written:
                raise UsageError(
                    f"Column {name!r} of {table!r} has texts that its collation treats as equal, such as letters in "
                    f"two cases, but an audit treats as different. Make a view in {self._label!r} with one spelling, "
                    "for example with LOWER(…), and name that."
                )

    def _type(self, table: str, name: str, cells: Row, declared: str) -> str:
        whole, floating, texts, blobs = (int(count or 0) for count in cells[:4])
        if sum(count > 0 for count in (whole + floating, texts, blobs)) > 1:
            raise UsageError(
                f"Column {name!r} of {table!r} has values of several types (numbers, texts or bytes), which are never "
                f"equal in SQLite. Make a view in {self._label!r} with one type, for example with CAST(… AS TEXT), and "
                "name that."
            )
        if whole and floating and not -_EXACT <= cells[4] <= cells[5] <= _EXACT:
            raise UsageError(
                f"Column {name!r} of {table!r} has floating-point numbers and whole numbers beyond 2^53, which no type "
                "stores exactly. Name a view without it."
            )
        if not whole + floating + texts + blobs:
            return next((ours for part, ours in _DECLARED if part in declared.upper()), "VARCHAR")
        return "DOUBLE" if floating else "BIGINT" if whole else "VARCHAR" if texts else "BLOB"

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """SQLite's errors become ours; its messages may quote a value, so none of them passes."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._sentence(error) from None

    def _sentence(self, error: sqlite3.Error) -> SqlauditError:
        code, name = getattr(error, "sqlite_errorcode", None), repr(self._label)
        if self._session.out_of_time:
            return Incomplete(f"The time limit was reached while {name} was read.")
        if code == sqlite3.SQLITE_INTERRUPT:
            return Interrupted(f"Stopped while {name} was read.")
        if "UTF-8" in str(error):
            return InputError(f"{name} has a text that is not UTF-8.")
        if code == sqlite3.SQLITE_READONLY_ROLLBACK:
            return _half_written(self._label)
        kind, said = _SAID.get(code and code & _PLAIN, (EngineError, _ELSE))
        return kind(f"{name} {said}")


def is_in_wal_mode(path: Path) -> bool:
    """Whether an SQLite file keeps a log beside it, of which SQLite makes an index to read it."""
    with path.open("rb") as file:
        header = file.read(20)
    return header[18:20] == bytes((_WAL, _WAL))


def has_log(path: Path) -> bool:
    """Whether there is a log beside an SQLite file; SQLite reads it whatever the file itself says."""
    return _is_filled(Path(f"{path}-wal"))


def _is_filled(path: Path) -> bool:
    return is_file(path) and path.stat().st_size > 0


def _half_written(label: str) -> InputError:
    """For a file whose last writer was killed: what it holds is no state that ever was."""
    return InputError(
        f"{label!r} is half written: {label + '-journal'!r} has what it was before, and SQLite can only undo that by "
        "writing. Open the file once with the program that made it, or audit a copy that was opened so."
    )
