"""One private, in-memory DuckDB: its settings, its walls, and the way every statement goes through it.

The walls are DuckDB's own. Before the first SQL of a user runs, access is closed to every file but the inputs and
the spill folder, and the configuration is locked. Nothing is ever downloaded, and Python's variables can't be read.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

from sqlaudit.base.errors import EngineError, Incomplete, InputError, PermissionDenied, UsageError
from sqlaudit.base.files import PrivateFolder
from sqlaudit.base.files import exists as lies_there
from sqlaudit.base.names import literal, quote
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Row
from sqlaudit.base.spec import Limits
from sqlaudit.engines.contract import ProgressHook
from sqlaudit.engines.duckdb.driver import DUCKDB_1, duckdb, with_frames
from sqlaudit.engines.duckdb.errors import ErrorPlace, translate
from sqlaudit.engines.duckdb.types import has_zoned, with_zones, without_zones
from sqlaudit.engines.watch import Deadline, Worker, reporting

DIALECT = "duckdb"
MEMORY = "memory"
"""What DuckDB calls its in-memory catalog."""
INPUTS = "input"
"""The schema of the views over files, frames and queries."""
LEAST_MEMORY = 500
"""Megabytes that DuckDB may use however little is free: a small audit takes less."""

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
        limits: time, memory, threads and the place to spill.
        threads: how many threads it uses where the limits say nothing; None = all.

    Raises:
        UsageError: a limit that DuckDB does not understand, or a temporary directory that can't be used.
    """

    def __init__(self, limits: Limits, threads: int | None = None) -> None:
        self.columns: dict[str, dict[str, str]] = {}
        self.files: dict[str, str] = {}
        self.progress: ProgressHook | None = None
        self._sealed = self._closed = False
        self._catalog = ""
        self._frames: dict[str, Any] = {}
        _check(limits)
        self._cursors: set[duckdb.DuckDBPyConnection] = set()
        self._others: list[tuple[Callable[[], None], Callable[[], None]]] = []
        with ExitStack() as on_failure:  # also when the time is over, or Ctrl-C comes, before all of it stands
            self._spill = on_failure.enter_context(PrivateFolder("spill", limits.temp_directory))
            memory = limits.memory or half_of_free()
            self._memory = limits.memory or (memory and memory + ", half of the memory that was free")
            used = replace(limits, memory=memory, threads=limits.threads or threads)
            self._connection = _connected(used, self._spill.path)
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
        """All rows of a statement.

        Raises:
            SqlauditError: whatever DuckDB says, in our words.
        """

        def rows() -> list[Row]:
            types = start(self._connection, sql, parameters)
            return with_zones(self._connection.fetchall(), types)

        return self.guarded(step, rows)

    def fetch_arrays(self, sql: str, step: str) -> list[Any]:
        """The columns of a statement's result as numpy arrays (masked where a value is NULL)."""
        return self.guarded(step, lambda: list(self._connection.execute(sql).fetchnumpy().values()))

    def describe(self, sql: str, step: str) -> list[Row]:
        """The names and types of the columns of a SELECT or FROM clause, without running it."""
        return self.fetch("DESCRIBE " + sql, step)

    def fill(self, table: str, columns: Sequence[tuple[str, str]], batches: Iterable[Sequence[Row]], step: str) -> str:
        """Make a table, replacing an older one, of rows that come in batches; returns the statement that fills it.

        Args:
            table: its quoted name. columns: their names and types.
        """
        listed = ", ".join(quote(column, DIALECT) + " " + kind for column, kind in columns)
        self.fetch("CREATE OR REPLACE TABLE " + table + " (" + listed + ")", step)
        lists = [f"CAST(UNNEST(${place}) AS {kind})" for place, (_, kind) in enumerate(columns, 1)]
        insert = "INSERT INTO " + table + " SELECT " + ", ".join(lists)
        for batch in batches:
            if batch:
                self.fetch(insert, step, [list(values) for values in zip(*batch, strict=True)])
        return insert

    @contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A second connection that sees the same relations, for a `with` block."""
        cursor = self._connection.cursor()
        self._cursors.add(cursor)
        try:
            for name, frame in self._frames.items():
                cursor.register(name, frame)
            yield cursor
        finally:
            self._release(cursor)

    def watch(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """Stop and close this cursor of another DuckDB, too, when this session is."""
        self._cursors.add(cursor)

    def also_stops(self, stop: Callable[[], None], close: Callable[[], None]) -> None:
        """Stop and close what another library reads for this session, too, when this session is."""
        self._others.append((stop, close))

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit was reached."""
        return self._deadline.over

    def _release(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self._cursors.discard(cursor)
        cursor.close()

    def guarded(self, step: str, work: Callable[[], T]) -> T:
        """Do a piece of work on the connection; its errors become ours, the deadline and progress go along."""
        if self._closed:
            raise EngineError(f"The connection was closed before the step {step!r}.")
        if self._deadline.over:
            seconds = self._deadline.seconds
            raise Incomplete(f"The time limit of {seconds:g} seconds was reached before the step {step!r}.")
        try:
            with reporting(self.progress, step, self._share):
                return self._worker.do(work)
        except duckdb.Error as error:
            raise translate(error, self._place(step)) from None

    def attach(self, path: Path, alias: str, label: str) -> None:
        """Attach a database file read-only.

        It is never made the place where names are looked up (`USE`): a macro of it that is called `abs`, `min` or `+`
        would then stand for the built-in function in every statement of ours.
        """
        self.files[str(path)] = label
        self._catalog = alias
        attach = "ATTACH " + literal(str(path), DIALECT) + " AS " + quote(alias, DIALECT) + " (READ_ONLY)"
        self.fetch(attach, "open " + label)

    def register(self, name: str, frame: Any) -> None:
        """Make a frame readable under a name.

        Raises:
            InputError: a frame with a column that DuckDB can't read.
        """
        with_frames()
        self.guarded("open frame", lambda: self._connection.register(name, frame))
        self._frames[name] = frame

    def unregister(self, name: str) -> None:
        """Forget a frame; the name can be used again."""
        self._frames.pop(name, None)
        self.guarded("open frame", lambda: self._connection.unregister(name))

    def allow(self, files: Iterable[tuple[Path, str]]) -> None:
        """Say that files (path, the user's name for it) are inputs; to be called before `seal`."""
        for path, label in files:
            if self._sealed and str(path) not in self.files:
                raise UsageError(f"{label!r} must be opened before the first statement runs.")
            self.files[str(path)] = label
            self.files[glob.escape(str(path))] = label

    def stop_pushdown(self) -> None:
        """Let no filter be decided by a scan or by statistics: some know nothing of NaN. Safe to call again."""
        self.fetch("SET disabled_optimizers = " + literal(_WITHOUT_PUSHDOWN, DIALECT), "settings")

    def seal(self) -> None:
        """Close access to all files but the inputs, and lock the configuration; safe to call again."""
        if self._sealed or self._closed:
            return
        self._sealed = True
        self.fetch("SET allowed_paths = " + literal(list(self.files), DIALECT), "settings")
        self.fetch("SET enable_external_access = FALSE", "settings")
        self.fetch("SET allowed_configs = ['disabled_optimizers']", "settings")
        self.fetch("SET lock_configuration = TRUE", "settings")

    def interrupt(self) -> None:
        """Stop what runs on any connection; safe from any thread."""
        for stop, _ in self._others:
            stop()
        for connection in (self._connection, *tuple(self._cursors)):
            with suppress(duckdb.ConnectionException):  # closed meanwhile
                connection.interrupt()

    def close(self) -> None:
        """Release the connections and remove the spill folder; safe to call twice."""
        self._closed = True
        with ExitStack() as each:  # from the last to the first, each also when Ctrl-C ends the one before it
            each.callback(self._spill.close)
            each.callback(self._frames.clear)
            each.callback(self._connection.close)
            for _, close in self._others:
                each.callback(close)
            for cursor in tuple(self._cursors):
                each.callback(self._release, cursor)
            each.callback(self._worker.stop)
            each.callback(self._deadline.stop)

    def _note_progress(self) -> None:
        """Let DuckDB say how far a statement is; in a notebook without ipywidgets it refuses to, and nobody is told."""
        with suppress(duckdb.InvalidInputException):
            for name, value in _PROGRESS.items():
                self._connection.execute("SET " + name + " = " + literal(value, DIALECT))

    def _share(self) -> float | None:
        done = -1.0
        with suppress(duckdb.Error):
            done = self._connection.query_progress()
        return done / 100 if 0 <= done <= 100 else None

    def _place(self, step: str) -> ErrorPlace:
        timeout = self._deadline.seconds if self._deadline.over else None
        return ErrorPlace(step, self.columns, self.files, timeout, self._catalog, self._memory)


def start(connection: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[object] | None = None) -> list[str]:
    """Start a statement; returns the types of its columns as DESCRIBE spells them, which `with_zones` takes."""
    types = [str(column[1]) for column in connection.execute(sql, parameters).description or ()]
    if has_zoned(types):
        connection.execute(without_zones(sql, types), parameters)
    return types


def _connected(limits: Limits, spill: Path) -> duckdb.DuckDBPyConnection:
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
    """Half of the memory that is free, within the limits of the process's control groups, as DuckDB reads it: at least
    `LEAST_MEMORY`; empty where the system does not say.

    Args:
        root: where the files of Linux that say it begin.
    """
    try:
        available = re.findall(r"^MemAvailable: *(\d+) kB", (root / "proc/meminfo").read_text(), re.MULTILINE)
        free = [1024 * int(size) for size in available]
        groups = re.findall("^0::/(.*)", (root / "proc/self/cgroup").read_text(), re.MULTILINE)
        for group in (root / "sys/fs/cgroup" / name for name in groups):
            for folder in (group, *group.parents):
                most = folder / "memory.max"
                if most.is_file() and (limit := most.read_text().strip()) != "max":
                    files = re.findall(r"^(?:in)?active_file (\d+)", (folder / "memory.stat").read_text(), re.MULTILINE)
                    taken = int((folder / "memory.current").read_text()) - sum(map(int, files))
                    free.append(int(limit) - taken)
    except OSError:
        return ""
    return f"{max(LEAST_MEMORY, min(free) // 2_000_000)}MB" if free else ""


def _check(limits: Limits) -> None:
    """Refuse limits that DuckDB would not understand, or would take for no limit at all."""
    if limits.threads is not None and limits.threads < 1:
        raise UsageError(f"{spelled('threads')} takes a number of at least 1, not {limits.threads}.")
    if limits.memory and not (
        re.fullmatch(_SIZE, limits.memory, re.IGNORECASE | re.ASCII) and any(c in "123456789" for c in limits.memory)
    ):
        raise UsageError(f"{spelled('memory_limit')} takes a size such as 4GB, not {limits.memory!r}.")


# The write-ahead log beside a DuckDB file: whether what DuckDB replays from it is all that it holds.
#
# DuckDB refuses a log with a wrong checksum or of another database. Other faults it passes over without a word: it
# stops at an entry that was cut off, leaves out what was not committed, and looks for the log under one name only. A
# table without its last rows must not be audited as if it were whole, so the log is walked through here, from entry to
# entry.

_LOG = ".wal"
_LEFT_OVER = (".wal.checkpoint", ".wal.recovery")
"""What stays when DuckDB is killed while it moves a log into its database."""
_HEAD_BYTES = 256
_FRAME = 16
"""Before each entry stand its length and its checksum."""
_VERSION, _CHECKPOINT, _FLUSH = 98, 99, 100
_KIND, _IDENTIFIER = 100, 102
"""Fields of an entry: its kind; and, of the first one, the database that the log belongs to."""
_END = 0xFFFF


def refuse_unread_log(path: Path, label: str) -> None:
    """Refuse a database whose log holds more than DuckDB replays when it attaches the file read-only.

    Args:
        path: the database file. label: how the user calls it.

    Raises:
        InputError: a log that is cut off, ends within a transaction, does not say whose it is, or is not looked for.
        PermissionDenied: a log that this user may not read.

    Example:
        >>> refuse_unread_log(Path("no such file.duckdb"), "clinic")
    """
    for suffix in (_LOG, *_LEFT_OVER):
        for log in {_beside(path, suffix), Path(str(path) + suffix)}:
            try:
                if not lies_there(log) or not log.stat().st_size:
                    continue
                is_read = suffix == _LOG and log == _beside(path, suffix)
                reason = _fault(log) if is_read else f"is not read ({log.name!r})"
            except OSError:
                raise PermissionDenied(f"The write-ahead log beside {label!r} is not readable by this user.") from None
            if reason:
                raise InputError(
                    f"The write-ahead log of {label!r} {reason}, so rows may be missing. Open the database once with "
                    "DuckDB for writing and run CHECKPOINT, or audit a complete copy."
                )


def _beside(path: Path, suffix: str) -> Path:
    """Where DuckDB looks: it puts the suffix before the first question mark."""
    text = str(path)
    at = text.find("?")
    return Path(text + suffix) if at < 0 else Path(text[:at] + suffix + text[at:])


def _fault(log: Path) -> str:
    """What is wrong with a log, empty when all of it is replayed."""
    size = log.stat().st_size
    with log.open("rb") as file:
        kind, identifies, at = _entry(file.read(_HEAD_BYTES))
        if kind != _VERSION or not identifies:
            return "does not say which database it belongs to"
        kind = _FLUSH
        while at < size:
            file.seek(at)
            start = file.read(_FRAME + _HEAD_BYTES)
            length = int.from_bytes(start[:8], "little")
            if len(start) < _FRAME or length < 1 or at + _FRAME + length > size:
                return "was cut off or is damaged"
            kind, *_ = _entry(start[_FRAME : _FRAME + length])
            at += _FRAME + length
    return "" if kind in (_FLUSH, _CHECKPOINT) else "ends within a transaction"


def _entry(data: bytes) -> tuple[int, bool, int]:
    """The kind of an entry (-1 = none); and of the first one, whether it names its database, and its length.

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
