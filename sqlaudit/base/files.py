"""Files that sqlaudit writes: whole or not at all, never half."""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import IO, Any

from sqlaudit.base.csv_cells import csv_cell, flat
from sqlaudit.base.errors import UsageError
from sqlaudit.base.leftovers import forget, temporary_beside
from sqlaudit.base.paths import exists, is_file, is_folder, resolved

TABLE_SUFFIXES = (".csv", ".parquet")
_to_json = json.JSONEncoder(check_circular=False).encode

Batches = Iterable[Sequence[Sequence[Any]]]


def check_destination(path: Path, suffixes: Sequence[str] = ()) -> None:
    """Nothing when a file can be put at `path`; asked before long work, so that hours are not spent in vain.

    Args:
        path: the file to be written. suffixes: the endings that are allowed, empty = any.

    Raises:
        UsageError: it is a folder, its folder is missing or not writable, or the ending is not one of `suffixes`.
    """
    if suffixes and path.suffix.lower() not in suffixes:
        raise UsageError(f"{str(path)!r} should end in {' or '.join(suffixes)}.")
    if is_folder(path):
        raise UsageError(f"{str(path)!r} is a folder; name a file to write.")
    folder = resolved(path).parent
    if not is_folder(folder):
        raise UsageError(f"The folder of {str(path)!r} does not exist.")
    if not os.access(folder if not exists(path) or is_file(path) else path, os.W_OK):
        raise UsageError(f"{str(path)!r} cannot be written: no permission.")


def check_ending(path: Path, suffixes: Sequence[str]) -> None:
    """Nothing when the name of a file that takes text ends in one of `suffixes`, or in nothing (`report`, /dev/null).

    Raises:
        UsageError: another ending, which would promise what the file does not hold.
    """
    ending = path.suffix.lower()
    if ending and ending not in suffixes:
        raise UsageError(f"{str(path)!r} should end in {', '.join(suffixes[:-1])} or {suffixes[-1]}, or in nothing.")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file in the folder of `path` that takes its place when the block ends well, and is gone otherwise.

    Args:
        path: the file to be written; a link is followed; what is no regular file (a pipe, /dev/null) is written to.

    Raises:
        UsageError: the file cannot be written there.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with replacing(Path(folder, "a.txt")) as temporary:
        ...         _ = temporary.write_text("whole")
        ...     Path(folder, "a.txt").read_text()
        'whole'
    """
    check_destination(path)
    final = resolved(path)
    special = final.exists() and not final.is_file()
    temporary = final if special else temporary_beside(final)
    try:
        yield temporary
        if not special:
            temporary.chmod(_mode_for(final))
            temporary.replace(final)
    except OSError as error:
        raise UsageError(f"{str(path)!r} could not be written: {error.strerror or 'the disk refused'}.") from None
    finally:
        if not special:
            forget(temporary)


def write_text(path: Path, text: str) -> None:
    """Write a report as UTF-8, whole or not at all.

    Raises:
        UsageError: the file cannot be written.
    """
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


def write_rows(path: Path, names: Sequence[str], batches: Batches) -> int:
    """Stream rows into a CSV or Parquet file, by the ending of its name; returns how many were written.

    Args:
        path: the file, ending in .csv or .parquet. names: the column names. batches: rows, some thousand at a time.

    In CSV a missing value is an empty field, and a text that a spreadsheet would run as a formula gets an apostrophe
    in front (OWASP, CSV injection; see `csv_cells`). Parquet keeps every value exactly.

    Raises:
        UsageError: another ending, or the file cannot be written.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_rows(Path(folder, "a.csv"), ["n", "text"], [[(1, "=1+1"), (2, None)]])
        ...     Path(folder, "a.csv").read_text()
        2
        "n,text\\n1,'=1+1\\n2,\\n"
    """
    check_destination(path, TABLE_SUFFIXES)
    with replacing(path) as temporary:
        if path.suffix.lower() == ".csv":
            return _write_csv(temporary, names, batches)
        return _write_parquet(temporary, names, batches)


def _mode_for(final: Path) -> int:
    """The permissions of the file that is replaced; for a new one what the user's umask leaves."""
    if final.exists():
        return final.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _write_csv(path: Path, names: Sequence[str], batches: Batches) -> int:
    written = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([csv_cell(name) for name in names])
        for batch in batches:
            writer.writerows([csv_cell(value) for value in row] for row in batch)
            written += len(batch)
    return written


def _write_parquet(path: Path, names: Sequence[str], batches: Batches) -> int:
    """Through a spool of JSON lines: only when all rows are known, the type of each column is."""
    spool = temporary_beside(path)
    try:
        types = [_ColumnType() for _ in names]
        with spool.open("w", encoding="utf-8") as file:
            written = sum(_spool(file, types, batch) for batch in batches)
        _convert(spool, path, names, [column.sql for column in types])
    finally:
        forget(spool)
    return written


def _spool(file: IO[str], types: Sequence[_ColumnType], batch: Sequence[Sequence[Any]]) -> int:
    names = [f"c{i}" for i in range(len(types))]
    takers = [column.take for column in types]
    for row in batch:
        cells = [take(value) for take, value in zip(takers, row, strict=True)]
        file.write(_to_json(dict(zip(names, cells, strict=True))) + "\n")
    return len(batch)


def _convert(spool: Path, path: Path, names: Sequence[str], types: Sequence[str]) -> None:
    import duckdb

    declared = {f"c{i}": kind for i, kind in enumerate(types)}
    try:
        with duckdb.connect() as connection:
            rows = connection.read_json(str(spool), format="newline_delimited", columns=declared)
            renamed = rows.project(", ".join(f"c{i} AS {_quoted(name)}" for i, name in enumerate(names)))
            renamed.write_parquet(str(path), compression="zstd")
    except duckdb.Error as error:  # its message may quote a value
        raise UsageError(f"The Parquet file could not be written ({type(error).__name__}).") from None


def _quoted(name: str) -> str:
    from sqlaudit.base.names import quote

    return quote(name, "duckdb")


_AS_THEY_ARE = {str: "VARCHAR", bool: "BOOLEAN"}
"""What JSON lines carry unchanged; the fast way for most cells."""


class _ColumnType:
    """The narrowest DuckDB type that holds every value seen in a column; text when kinds are mixed."""

    _SPELLED: tuple[tuple[type, str], ...] = (
        (bool, "BOOLEAN"),
        (int, "BIGINT"),
        (float, "DOUBLE"),
        (str, "VARCHAR"),
        (dt.datetime, "TIMESTAMP"),
        (dt.date, "DATE"),
        (dt.time, "TIME"),
    )

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._whole = self._decimals = 0

    def take(self, value: Any) -> Any:
        """Note a value's type and return the value as JSON lines carry it."""
        kind = _AS_THEY_ARE.get(type(value))
        if kind is not None:
            self._seen.add(kind)
            return value
        value = flat(value)
        if value is None:
            return None
        if isinstance(value, Decimal):
            return self._take_decimal(value)
        kind = next((sql for python, sql in self._SPELLED if isinstance(value, python)), "VARCHAR")
        if kind == "BIGINT" and not -(2**63) <= value < 2**63:
            kind = "DECIMAL(38, 0)" if abs(value) < 10**38 else "VARCHAR"
        self._seen.add("TIMESTAMPTZ" if kind == "TIMESTAMP" and value.tzinfo is not None else kind)
        return str(value)

    @property
    def sql(self) -> str:
        """The type's name."""
        if len(self._seen) == 1:
            (only,) = self._seen
            return f"DECIMAL({self._whole + self._decimals}, {self._decimals})" if only == "DECIMAL" else only
        if self._seen == {"BIGINT", "DECIMAL(38, 0)"}:
            return "DECIMAL(38, 0)"
        return "DOUBLE" if self._seen and self._seen <= {"BIGINT", "DOUBLE"} else "VARCHAR"

    def _take_decimal(self, value: Decimal) -> str:
        _, digits, exponent = value.as_tuple()
        if not isinstance(exponent, int):
            self._seen.add("DOUBLE")
            return str(value)
        self._decimals = max(self._decimals, -exponent)
        self._whole = max(self._whole, len(digits) + exponent, 1)
        self._seen.add("DECIMAL" if self._whole + self._decimals <= 38 else "VARCHAR")
        return f"{value:f}"
