"""One private, in-memory DuckDB: its settings, its sandbox, and the one method that every statement runs through.

The sandbox is DuckDB's own. Before the first SQL of a user runs, access is closed to every file but the inputs and
the spill folder, and the configuration is locked. Nothing is downloaded, and Python's variables cannot be read.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TypeVar

from sqlaudit.base.errors import EngineError, Incomplete, InputError, OutOfRange, PermissionDenied, UsageError
from sqlaudit.base.files import PrivateFolder
from sqlaudit.base.files import exists as lies_there
from sqlaudit.base.names import literal, quote
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Row
from sqlaudit.base.spec import Limits
from sqlaudit.engines.contract import ProgressHook
from sqlaudit.engines.duckdb.driver import DUCKDB_1, duckdb, with_frames
from sqlaudit.engines.duckdb.errors import ErrorContext, translate
from sqlaudit.engines.duckdb.types import has_zoned, with_zones, without_zones
from sqlaudit.engines.watch import Deadline, Worker, reporting

DIALECT = "duckdb"
MEMORY = "memory"
"""DuckDB's name of its in-memory catalog."""
INPUTS = "input"
"""The schema of the views over files, frames and queries."""
LEAST_MEMORY = 500
"""Megabytes that DuckDB may always use, however little memory is free: a small audit takes less."""

T = TypeVar("T")

_SIZE = r"\s*\d+(\.\d+)?\s*([KMGT]i?B|%)\s*"
FIXED = {
    "python_enable_replacements": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "preserve_insertion_order": "false",
    "pandas_analyze_sample": "100000",
    # Spill files are encrypted with a key that lives in memory. DuckDB's built-in cipher draws it from a generator
    # that its makers call unsafe; the only other one comes with an extension that has to be downloaded.
    "temp_file_encryption": "true",
    "force_mbedtls_unsafe": "true",
    # DuckDB 1.x makes windows joins of their input with a copy of it. 1.5.0 fails where that is a file or a frame, and
    # 1.5.3 where windows are nested; all of them take keys that are named twice for other ones.
    **({"disabled_optimizers": "window_self_join"} if DUCKDB_1 else {}),
}
_WITHOUT_PUSHDOWN = "filter_pushdown,join_filter_pushdown,statistics_propagation,top_n,window_self_join"
"""Optimizers that ask a scan, or its statistics, which rows fit a filter."""
_PROGRESS = {"enable_progress_bar": True, "enable_progress_bar_print": False, "progress_bar_time": 0}


class DuckDBSession:
    """A connection with its settings, its spill folder and its deadline.

    Args:
        limits: time, memory, threads and the folder for spilling.
        threads: number of threads if the limits name none; None = all.

    Raises:
        UsageError: a limit that DuckDB does not understand, or a temporary directory that can't be used.
    """

    def __init__(self, limits: Limits, threads: int | None = None) -> None:
        self.columns: dict[str, dict[str, str]] = {}
        self.files: dict[str, str] = {}
        self.progress: ProgressHook | None = None
        self._sealed = self._closed = False
        self._catalog = ""
        self._frames: dict[str, object] = {}
        _check_limits(limits)
        self._cursors: set[duckdb.DuckDBPyConnection] = set()
        self._others: list[tuple[Callable[[], None], Callable[[], None]]] = []
        with ExitStack() as on_failure:  # also if the time limit or Ctrl-C comes before the session is complete
            self._spill = on_failure.enter_context(PrivateFolder("spill", limits.temp_directory))
            memory = limits.memory or half_of_free()
            self._memory = limits.memory or (memory and memory + ", half of the memory that was free")
            used = replace(limits, memory=memory, threads=limits.threads or threads)
            self._connection = _connect(used, self._spill.path)
            on_failure.callback(self._connection.close)
            self._worker = Worker(self.interrupt)
            on_failure.callback(self._worker.stop)
            self._deadline = Deadline(limits.timeout, self.interrupt)
            on_failure.callback(self._deadline.stop)
            self.fetch("SET GLOBAL TimeZone = 'UTC'", "settings")
            self.guarded("settings", self._note_progress)
            self.fetch("CREATE SCHEMA " + quote(INPUTS, DIALECT), "settings")
            on_failure.pop_all()

    def fetch(self, sql: str, step: str, parameters: Sequence[object] | None = None) -> list[Row]:
        """Return all rows of a statement.

        Raises:
            SqlauditError: DuckDB failed; the message is ours.
        """

        def rows() -> list[Row]:
            types = start(self._connection, sql, parameters)
            return with_zones(self._connection.fetchall(), types)

        return self.guarded(step, rows)

    def fetch_arrays(self, sql: str, step: str) -> list[object]:
        """Return the columns of a statement's result as numpy arrays, masked where a value is NULL."""
        return self.guarded(step, lambda: list(self._connection.execute(sql).fetchnumpy().values()))

    def describe(self, sql: str, step: str) -> list[Row]:
        """Return the names and types of the columns of a SELECT or FROM clause, without running it."""
        return self.fetch("DESCRIBE " + sql, step)

    def fill(self, table: str, columns: Sequence[tuple[str, str]], batches: Iterable[Sequence[Row]], step: str) -> str:
        """Create a table, or replace it, from rows that come in batches. Return the statement that inserts them.

        Args:
            table: its quoted name. columns: their names and types.
        """
        definitions = ", ".join(quote(column, DIALECT) + " " + kind for column, kind in columns)
        self.fetch("CREATE OR REPLACE TABLE " + table + " (" + definitions + ")", step)
        lists = [f"CAST(UNNEST(${position}) AS {kind})" for position, (_, kind) in enumerate(columns, 1)]
        insert = "INSERT INTO " + table + " SELECT " + ", ".join(lists)
        for batch in batches:
            if batch:
                self.fetch(insert, step, [list(values) for values in zip(*batch, strict=True)])
        return insert

    @contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open a second connection that sees the same relations, for a `with` block."""
        cursor = self._connection.cursor()
        self._cursors.add(cursor)
        try:
            for name, frame in self._frames.items():
                cursor.register(name, frame)
            yield cursor
        finally:
            self._release(cursor)

    def watch(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """Stop and close this cursor of another DuckDB together with this session."""
        self._cursors.add(cursor)

    def also_stops(self, stop: Callable[[], None], close: Callable[[], None]) -> None:
        """Call these functions when this session is stopped or closed, for what another library reads for it."""
        self._others.append((stop, close))

    @property
    def out_of_time(self) -> bool:
        """True if the time limit was reached."""
        return self._deadline.over

    def _release(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self._cursors.discard(cursor)
        cursor.close()

    def guarded(self, step: str, work: Callable[[], T]) -> T:
        """Return the result of work on the connection, under the deadline; raise DuckDB's errors as ours."""
        if self._closed:
            raise EngineError(f"The connection was closed before the step {step!r}.")
        if self._deadline.over:
            seconds = self._deadline.seconds
            raise Incomplete(f"The time limit of {seconds:g} seconds was reached before the step {step!r}.")
        try:
            with reporting(self.progress, step, self._share):
                return self._worker.do(work)
        except duckdb.Error as error:
            raise translate(error, self._context(step)) from None

    def attach(self, path: Path, alias: str, label: str) -> None:
        """Attach a database file read-only.

        Names are never looked up in it (`USE`): a macro of it that is called `abs`, `min` or `+` would then replace the
        built-in function in all statements of ours.
        """
        self.files[str(path)] = label
        self._catalog = alias
        attach = "ATTACH " + literal(str(path), DIALECT) + " AS " + quote(alias, DIALECT) + " (READ_ONLY)"
        self.fetch(attach, "open " + label)

    def register(self, name: str, frame: object) -> None:
        """Make a frame readable under a name.

        Raises:
            InputError: a frame with a column that DuckDB can't read.
        """
        with_frames()
        self.guarded("open frame", lambda: self._connection.register(name, frame))
        self._frames[name] = frame

    def unregister(self, name: str) -> None:
        """Remove a frame, whose name can be used again."""
        self._frames.pop(name, None)
        self.guarded("open frame", lambda: self._connection.unregister(name))

    def allow(self, files: Iterable[tuple[Path, str]]) -> None:
        """Add files (path, the user's name for it) to the inputs, before `seal` is called."""
        for path, label in files:
            if self._sealed and str(path) not in self.files:
                raise UsageError(f"{label!r} must be opened before the first statement runs.")
            self.files[str(path)] = label
            self.files[glob.escape(str(path))] = label

    def copy_of(self, path: Path) -> Path:
        """Return the place in the private folder for a copy of an input that DuckDB can read."""
        return self._spill.path / (hashlib.sha256(os.fsencode(path)).hexdigest() + ".csv")

    def stop_pushdown(self) -> None:
        """Keep scans and statistics from deciding filters, since some ignore NaN; safe to call twice."""
        self.fetch("SET disabled_optimizers = " + literal(_WITHOUT_PUSHDOWN, DIALECT), "settings")

    def seal(self) -> None:
        """Close access to all files but the inputs, and lock the configuration; safe to call twice."""
        if self._sealed or self._closed:
            return
        self._sealed = True
        self.fetch("SET allowed_paths = " + literal(list(self.files), DIALECT), "settings")
        self.fetch("SET enable_external_access = FALSE", "settings")
        self.fetch("SET allowed_configs = ['disabled_optimizers']", "settings")
        self.fetch("SET lock_configuration = TRUE", "settings")

    def interrupt(self) -> None:
        """Stop the running statements of all connections; safe from any thread."""
        for stop, _ in self._others:
            stop()
        for connection in (self._connection, *tuple(self._cursors)):
            with suppress(duckdb.ConnectionException):  # closed meanwhile
                connection.interrupt()

    def close(self) -> None:
        """Release the connections and remove the spill folder; safe to call twice."""
        self._closed = True
        with ExitStack() as callbacks:  # from the last to the first, each also if Ctrl-C ends the one before it
            callbacks.callback(self._spill.close)
            callbacks.callback(self._frames.clear)
            callbacks.callback(self._connection.close)
            for _, close in self._others:
                callbacks.callback(close)
            for cursor in tuple(self._cursors):
                callbacks.callback(self._release, cursor)
            callbacks.callback(self._worker.stop)
            callbacks.callback(self._deadline.stop)

    def _note_progress(self) -> None:
        """Turn on progress reports. In a notebook without ipywidgets DuckDB refuses, and no progress is shown."""
        with suppress(duckdb.InvalidInputException):
            for name, value in _PROGRESS.items():
                self._connection.execute("SET " + name + " = " + literal(value, DIALECT))

    def _share(self) -> float | None:
        """Return the share of the running statement that is done; None if DuckDB does not know."""
        done = -1.0
        with suppress(duckdb.Error):
            done = self._connection.query_progress()
        return done / 100 if 0 <= done <= 100 else None

    def _context(self, step: str) -> ErrorContext:
        timeout = self._deadline.seconds if self._deadline.over else None
        return ErrorContext(step, self.columns, self.files, timeout, self._catalog, self._memory)


def start(connection: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[object] | None = None) -> list[str]:
    """Start a statement, and return the types of its columns as DESCRIBE spells them, for `with_zones`."""
    types = [str(column[1]) for column in connection.execute(sql, parameters).description or ()]
    if has_zoned(types):
        connection.execute(without_zones(sql, types), parameters)
    return types


def _connect(limits: Limits, spill: Path) -> duckdb.DuckDBPyConnection:
    """Return a connection to a new in-memory DuckDB with these limits."""
    settings: dict[str, str | bool | int | float | list[str]] = {**FIXED, "temp_directory": str(spill)}
    if limits.threads is not None:
        settings["threads"] = limits.threads
    if limits.memory:
        settings["memory_limit"] = limits.memory
    try:
        return duckdb.connect(":memory:", config=settings)
    except duckdb.Error:
        raise EngineError("DuckDB could not be started with these limits.") from None


def half_of_free(root: Path = Path("/")) -> str:
    """Return half of the free memory as DuckDB reads it, at least `LEAST_MEMORY`; empty if it is unknown.

    Limits of the process's control groups count.

    Args:
        root: the folder that has `proc` and `sys` of Linux.
    """
    try:
        available = re.findall(r"^MemAvailable: *(\d+) kB", (root / "proc/meminfo").read_text(), re.MULTILINE)
        free = [1024 * int(size) for size in available]
        groups = re.findall("^0::/(.*)", (root / "proc/self/cgroup").read_text(), re.MULTILINE)
        for group in (root / "sys/fs/cgroup" / name for name in groups):
            for folder in (group, *group.parents):
                limit_file = folder / "memory.max"
                if limit_file.is_file() and (limit := limit_file.read_text().strip()) != "max":
                    files = re.findall(r"^(?:in)?active_file (\d+)", (folder / "memory.stat").read_text(), re.MULTILINE)
                    used = int((folder / "memory.current").read_text()) - sum(map(int, files))
                    free.append(int(limit) - used)
    except OSError:
        return ""
    return f"{max(LEAST_MEMORY, min(free) // 2_000_000)}MB" if free else ""


def _check_limits(limits: Limits) -> None:
    """Refuse limits that DuckDB would not understand, or would read as no limit."""
    if limits.threads is not None and limits.threads < 1:
        raise OutOfRange(f"{spelled('threads')} takes a number of at least 1, not {limits.threads}.")
    if limits.memory and not (
        re.fullmatch(_SIZE, limits.memory, re.IGNORECASE | re.ASCII) and any(c in "123456789" for c in limits.memory)
    ):
        raise UsageError(f"{spelled('memory_limit')} takes a size such as 4GB, not {limits.memory!r}.")


# The write-ahead log beside a DuckDB file, all of which DuckDB must replay.
#
# DuckDB refuses a log with a wrong checksum or of another database. It ignores other faults silently: it stops at an
# entry that was cut off, leaves out what was not committed, and looks for the log under one name only. A table without
# its last rows must not be audited as if it were complete, so the log is read here, entry by entry.

_LOG = ".wal"
_LEFT_OVER = (".wal.checkpoint", ".wal.recovery")
"""Suffixes of files that remain if DuckDB is killed while it moves a log into its database."""
_HEAD_BYTES = 256
_FRAME = 16
"""Bytes before each entry: its length and its checksum."""
_VERSION, _CHECKPOINT, _FLUSH = 98, 99, 100
_KIND, _IDENTIFIER = 100, 102
"""Numbers of the fields of an entry: its kind, and in the first entry the database that the log belongs to."""
_END = 0xFFFF


def refuse_unread_log(path: Path, label: str) -> None:
    """Refuse a database with a log that DuckDB does not replay in full when it attaches the file read-only.

    Args:
        path: the database file. label: the user's name for it.

    Raises:
        InputError: the log is cut off, ends within a transaction, does not name its database, or is not looked for.
        PermissionDenied: this user may not read the log.

    Example:
        >>> refuse_unread_log(Path("no such file.duckdb"), "clinic")
    """
    for suffix in (_LOG, *_LEFT_OVER):
        for log in {_log_path(path, suffix), Path(str(path) + suffix)}:
            try:
                if not lies_there(log) or not log.stat().st_size:
                    continue
                is_read = suffix == _LOG and log == _log_path(path, suffix)
                reason = _find_fault(log) if is_read else f"is not read ({log.name!r})"
            except OSError:
                raise PermissionDenied(f"The write-ahead log beside {label!r} is not readable by this user.") from None
            if reason:
                raise InputError(
                    f"The write-ahead log of {label!r} {reason}, so rows may be missing. Open the database once with "
                    "DuckDB for writing and run CHECKPOINT, or audit a complete copy."
                )


def _log_path(path: Path, suffix: str) -> Path:
    """Return the path under which DuckDB looks for a log: it inserts the suffix before the first question mark."""
    text = str(path)
    at = text.find("?")
    return Path(text + suffix) if at < 0 else Path(text[:at] + suffix + text[at:])


def _find_fault(log: Path) -> str:
    """Return the fault of a log as the end of a sentence, empty if all of it is replayed."""
    size = log.stat().st_size
    with log.open("rb") as file:
        kind, identifies, position = _parse_entry(file.read(_HEAD_BYTES))
        if kind != _VERSION or not identifies:
            return "does not say which database it belongs to"
        kind = _FLUSH
        while position < size:
            file.seek(position)
            start = file.read(_FRAME + _HEAD_BYTES)
            length = int.from_bytes(start[:8], "little")
            if len(start) < _FRAME or length < 1 or position + _FRAME + length > size:
                return "was cut off or is damaged"
            kind, *_ = _parse_entry(start[_FRAME : _FRAME + length])
            position += _FRAME + length
    return "" if kind in (_FLUSH, _CHECKPOINT) else "ends within a transaction"


def _parse_entry(data: bytes) -> tuple[int, bool, int]:
    """Return the kind of an entry (-1 = none); and for the first entry, whether it names its database, and its length.

    An entry is fields with their numbers (two bytes each), and numbers of seven bits a byte.
    """
    rest = BytesIO(data)
    kind, identifies = -1, False

    def field() -> int:
        return int.from_bytes(rest.read(2), "little")

    def number() -> int:
        value = shift = 0
        while True:
            byte = rest.read(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    with suppress(IndexError):  # the data end
        kind = number() if field() == _KIND else -1
        if kind == _VERSION:
            for name in iter(field, _END):
                count = number()
                if name == _IDENTIFIER:
                    identifies = bool([number() for _ in range(count)])
            return kind, identifies, rest.tell()
    return kind, False, 0
