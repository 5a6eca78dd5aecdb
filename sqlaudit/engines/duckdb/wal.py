"""The write-ahead log beside a DuckDB file: whether what DuckDB replays from it is all that it holds.

DuckDB refuses a log with a wrong checksum or of another database. Other faults it passes over without a word: it stops
at an entry that was cut off, leaves out what was not committed, and looks for the log under one name only. A table
without its last rows must not be audited as if it were whole, so the log is walked through here, from entry to entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from sqlaudit.base.errors import InputError, PermissionDenied
from sqlaudit.base.paths import exists as lies_there

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
            if not lies_there(log) or not _size(log, label):
                continue
            if suffix != _LOG or log != _beside(path, suffix):
                raise _refusal(label, f"is not read ({log.name!r})")
            reason = _fault(log, label)
            if reason:
                raise _refusal(label, reason)


def _beside(path: Path, suffix: str) -> Path:
    """Where DuckDB looks: it puts the suffix before the first question mark."""
    text = str(path)
    at = text.find("?")
    return Path(text + suffix) if at < 0 else Path(text[:at] + suffix + text[at:])


def _refusal(label: str, reason: str) -> InputError:
    return InputError(
        f"{label!r} has a write-ahead log beside it that {reason}, so rows would be missing: open the database once "
        "with DuckDB for writing and run CHECKPOINT, or audit a complete copy."
    )


def _size(log: Path, label: str) -> int:
    try:
        return log.stat().st_size
    except OSError:
        raise _closed(label) from None


def _closed(label: str) -> PermissionDenied:
    return PermissionDenied(f"The write-ahead log beside {label!r} may not be read by this user.")


def _fault(log: Path, label: str) -> str:
    """What is wrong with a log, empty when all of it is replayed."""
    try:
        with log.open("rb") as file:
            return _walked(file, log.stat().st_size)
    except PermissionError:
        raise _closed(label) from None


def _walked(file: BinaryIO, size: int) -> str:
    head = _Entry(file.read(_HEAD_BYTES))
    if head.kind != _VERSION or not head.identifies:
        return "does not say which database it belongs to"
    at, kind = head.length, _FLUSH
    while at < size:
        file.seek(at)
        start = file.read(_FRAME + _HEAD_BYTES)
        length = int.from_bytes(start[:8], "little")
        if len(start) < _FRAME or length < 1 or at + _FRAME + length > size:
            return "was cut off or is damaged"
        kind = _Entry(start[_FRAME : _FRAME + length]).kind
        at += _FRAME + length
    return "" if kind in (_FLUSH, _CHECKPOINT) else "ends within a transaction"


class _Entry:
    """The beginning of an entry: fields with their numbers (two bytes each), numbers seven bits a byte.

    Only the first entry is read beyond its kind.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self.kind, self.identifies, self.length = -1, False, 0
        try:
            self._read()
        except IndexError:
            self.identifies = False

    def _read(self) -> None:
        if self._field() != _KIND:
            return
        self.kind = self._number()
        if self.kind != _VERSION:
            return
        for field in iter(self._field, _END):
            count = self._number()
            if field == _IDENTIFIER:
                self.identifies = len(list(self._numbers(count))) == count > 0
        self.length = self._at

    def _field(self) -> int:
        low, high = self._data[self._at], self._data[self._at + 1]
        self._at += 2
        return low + 256 * high

    def _numbers(self, count: int) -> Iterator[int]:
        return (self._number() for _ in range(count))

    def _number(self) -> int:
        value, shift = 0, 0
        while True:
            byte = self._data[self._at]
            self._at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
