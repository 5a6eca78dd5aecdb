"""Paths and files: paths that people write, files that are written completely or not at all, and temporary files."""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import glob
import json
import os
import re
import shutil
import stat
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TextIO

from sqlaudit.base.errors import InputError, UnknownFile, UsageError
from sqlaudit.base.frozen import dataclass

# Temporary files and folders that hold rows: the next run recognizes those of a killed run by name, and removes them.
#
# A name has the machine and process that made it: a folder may be shared by containers and hosts, and processes of
# another host cannot be checked. Files of other users, and of running processes, are left alone. A temporary file
# beside a file to be written is also noted in the temporary directory, so that it is found from any folder.

_OURS = re.compile(r"sqlaudit-(?P<kind>[a-z]+)-(?P<host>[^-]+)-(?P<pid>\d+)-[^-]+")
_PART = re.compile(r"\..*\.(?P<host>[^-.]+)-(?P<pid>\d+)-[^-.]+\.part", re.DOTALL)
_NOTE = "unfinished"
"""The kind of a file that holds only the path of another one."""
_LONGEST_PATH = 65_536
_unfinished: dict[Path, Path | None] = {}
"""The temporary files of this process, each with its note."""
_folders: set[Path] = set()


class PrivateFolder:
    """A folder for rows that only this user may enter (0700), removed by `close` or with the object.

    Args:
        kind: a word for its name. parent: the folder in which it is made; empty = the system's temporary directory.

    Raises:
        UsageError: the parent is not a folder, or nothing can be created in it.

    Example:
        >>> with PrivateFolder("example") as folder:
        ...     oct(folder.path.stat().st_mode & 0o777)
        '0o700'
    """

    def __init__(self, kind: str, parent: str = "") -> None:
        root = Path(parent or tempfile.gettempdir())
        if not root.is_dir():
            raise UsageError(f"The temporary directory {parent!r} is not a folder.")
        remove_leftovers(root)
        try:
            name = tempfile.mkdtemp(prefix=f"sqlaudit-{kind}-{_host()}-{os.getpid()}-", dir=root)
        except OSError:
            raise UsageError(f"The temporary directory {str(root)!r} is not writable.") from None
        self.path = Path(name).resolve()
        _folders.add(self.path)
        self._remove = weakref.finalize(self, _remove_folder, self.path)

    def close(self) -> None:
        """Remove the folder and all that is in it; safe to call twice."""
        self._remove()

    def __enter__(self) -> PrivateFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _remove_folder(path: Path) -> None:
    """Remove a private folder with all that is in it."""
    shutil.rmtree(path, ignore_errors=True)
    _folders.discard(path)


def temporary_beside(final: Path) -> Path:
    """Return an empty file (0600) in the folder of `final`, which `forget` removes. Files of killed runs there are
    removed first.

    Raises:
        UsageError: nothing can be created there.
    """
    remove_files(final.parent)
    mark = f"{_host()}-{os.getpid()}-"
    try:
        handle, name = tempfile.mkstemp(prefix=f".{final.name[:40]}.{mark}", suffix=".part", dir=final.parent)
    except OSError as error:
        raise UsageError(f"{str(final)!r} cannot be written: {error.strerror}.") from None
    os.close(handle)
    _unfinished[Path(name)] = None
    _unfinished[Path(name)] = _write_note(Path(name), mark)
    return Path(name)


def forget(temporary: Path) -> None:
    """Remove a temporary file, if it still exists, and its note."""
    temporary.unlink(missing_ok=True)
    note = _unfinished.pop(temporary, None)
    if note is not None:
        with contextlib.suppress(OSError):
            note.unlink()


def discard_unfinished() -> None:
    """Remove the temporary files and folders of this process, which will not finish its work."""
    for temporary in list(_unfinished):
        with contextlib.suppress(OSError):
            forget(temporary)
    for folder in list(_folders):
        _remove_folder(folder)


def remove_leftovers(root: Path | None = None) -> list[Path]:
    """Remove what killed runs left in a temporary directory, and the files that their notes there name.

    Args:
        root: the directory; None = the system's.

    Returns:
        The paths that were removed, without those of notes.
    """
    removed = []
    for entry in _entries(root or Path(tempfile.gettempdir())):
        match = _OURS.fullmatch(entry.name)
        if match is None or not _is_left(entry, match):
            continue
        with contextlib.suppress(OSError):
            if match["kind"] == _NOTE:
                removed += _remove_by_note(entry, match["pid"])
            elif entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)
                removed.append(entry)
    return removed


def remove_files(folder: Path) -> list[Path]:
    """Remove the unfinished files that killed runs left in a folder; return their paths."""
    return [entry for entry in _entries(folder) if _PART.fullmatch(entry.name) and _remove_unfinished(entry)]


def _remove_unfinished(path: Path, pid: str = "") -> bool:
    """Remove an unfinished file of a killed run (with `pid`, if it is named). Return True if it was removed."""
    match = _PART.fullmatch(path.name)
    if match is None or pid not in ("", match["pid"]) or not _is_left(path, match):
        return False
    with contextlib.suppress(OSError):
        if stat.S_ISREG(path.lstat().st_mode):
            path.unlink()
            return True
    return False


def _write_note(temporary: Path, mark: str) -> Path | None:
    """Write the path of a temporary file to a note in the system's temporary directory. Return the note's path.

    A later run finds the file by its note if this one is killed. A note that cannot be written is no error, since the
    file is also found when a run writes to the same folder: the answer is then None.

    Args:
        mark: the host and process, as in the name of the temporary file.
    """
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(prefix=f"sqlaudit-{_NOTE}-{mark}")
        with os.fdopen(handle, "wb") as file:
            file.write(os.fsencode(temporary.absolute()))
        return Path(name)
    return None


def _remove_by_note(note: Path, pid: str) -> list[Path]:
    """Remove a note and the file that it names; return the file if it existed."""
    if not stat.S_ISREG(note.lstat().st_mode):
        return []
    with note.open("rb") as file:
        named = Path(os.fsdecode(file.read(_LONGEST_PATH)))
    removed = [named] if named.is_absolute() and _remove_unfinished(named, pid) else []
    note.unlink()
    return removed


def _entries(folder: Path) -> list[Path]:
    """Return the entries of a folder; none if it cannot be read."""
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _is_left(path: Path, name_match: re.Match[str]) -> bool:
    """Return True for a file of this user, made on this machine by a process that has ended; False for a link."""
    if name_match["host"] != _host():
        return False
    try:
        facts = path.lstat()
    except (OSError, ValueError):
        return False
    owner = os.getuid() if hasattr(os, "getuid") else facts.st_uid
    return facts.st_uid == owner and not stat.S_ISLNK(facts.st_mode) and not _is_alive(int(name_match["pid"]))


def _host() -> str:
    """Return the letters and digits of this machine's name."""
    if hasattr(os, "uname"):
        name = os.uname().nodename
    else:
        import socket  # which takes longer to import than all else here

        name = socket.gethostname()
    return "".join(c for c in name if c.isalnum())[:40] or "host"


def _is_alive(pid: int) -> bool:
    """Return True if a process runs, or if that cannot be known."""
    if os.name == "nt":  # signal 0 would be a Ctrl-C there
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


# Cells of CSV files that no spreadsheet takes for formulas, and how sqlaudit reads them back.
#
# A spreadsheet may split a line at another separator than ours, and it ignores blanks and invisible signs. So a formula
# gets an apostrophe in front wherever a cell could begin: at the start of a text, and after each `;`, `,`, `|`, tab or
# line break in it. Apostrophes that are already there are doubled, so that nothing is lost.

_SEPARATORS = re.compile(r"([;,|\t\r\n])")
_FORMULA = "=+\\-@＝＋－＠﹦﹢﹣﹫"
_SUSPECT = re.compile(rf"[{_FORMULA}]|^'*[\t\r]")
_BREAK = re.compile(r"'*[\t\r]")
_UNSEEN = r"\s\x00-\x1f\x7f-\x9f\xad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff"
_RUNS = re.compile(rf"['{_UNSEEN}]*([{_FORMULA}])")
_COMPUTES_NOTHING = re.compile(rf"['{_UNSEEN}]*[+\-＋－][0-9][0-9. ]*(?:[eE][+-]?[0-9]+)?\s*[\])}}]*\s*")
"""A signed number after a separator: `[-10, -5)`."""
_NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?(?:[eE][+-]?[0-9]+)?")
_AS_THEY_ARE = (int, float, Decimal, dt.date, dt.time)


def csv_cell(value: object) -> object:
    """Return the value as a CSV file has it: a text that a spreadsheet would run as a formula gets an apostrophe.

    Example:
        >>> csv_cell("=1+1"), csv_cell("x;=1+1"), csv_cell("a = b"), csv_cell(-5), csv_cell(None)
        ("'=1+1", "x;'=1+1", 'a = b', -5, None)
    """
    value = flat(value)
    return value if value is None or isinstance(value, _AS_THEY_ARE) else harmless(str(value))


def flat(value: object) -> object:
    """Return the value as files have it: fractions as floats, bytes as hexadecimal text."""
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    return value.hex() if isinstance(value, bytes) else value


def harmless(text: str) -> str:
    """Return a text in which no cell of a spreadsheet begins with a formula; `as_written` is the inverse."""
    if not _SUSPECT.search(text):
        return text
    return _with_apostrophe(_change_cells(text, _with_apostrophe), _BREAK.match(text))


def label_cell(text: str | None) -> str | None:
    """Return a value or label of a hierarchy as its file has it: like `csv_cell`, but numbers stay as they are.

    Example:
        >>> label_cell("-5"), label_cell("=1"), label_cell("[-10, -5)")
        ('-5', "'=1", '[-10, -5)')
    """
    return text if text is None or _NUMBER.fullmatch(text) else harmless(text)


def as_written(text: str) -> str:
    """Return the text from which `harmless` made this one.

    Example:
        >>> as_written("'=1+1"), as_written("x;'=1+1"), as_written("'tis"), as_written(harmless("'=1"))
        ('=1+1', 'x;=1+1', "'tis", "'=1")
    """
    if "'" not in text:
        return text
    return _change_cells(_without_apostrophe(text, _BREAK.match(text)), _without_apostrophe)


def _change_cells(text: str, change: Callable[[str, object], str]) -> str:
    """Return the text with each possible cell changed; `change` also gets whether the cell would be computed."""
    first, *rest = _SEPARATORS.split(text)
    runs = (_RUNS.match(piece) and not _COMPUTES_NOTHING.fullmatch(piece) for piece in rest)
    return "".join([change(first, _RUNS.match(first)), *map(change, rest, runs)])


def _with_apostrophe(piece: str, runs: object) -> str:
    return "'" + piece if runs else piece


def _without_apostrophe(piece: str, runs: object) -> str:
    return piece[1:] if runs and piece.startswith("'") else piece


# Paths that people write: a text that cannot be a path, or is in a closed folder, is not a file and no exception.

_SQLITE = b"SQLite format 3\0"


def exists(path: str | Path) -> bool:
    """Return True if a path exists; False for a name that is too long, holds a NUL, or is in a closed folder.

    Example:
        >>> exists("."), exists("no" * 200)
        (True, False)
    """
    return os.path.exists(path)  # noqa: PTH110 (Path.exists raises where this returns False)


def is_file(path: str | Path) -> bool:
    """Return True if a path is a regular file; see `exists`."""
    return os.path.isfile(path)  # noqa: PTH113


def is_sqlite(path: str | Path) -> bool:
    """Return True if a file is an SQLite database, by its first bytes."""
    if not is_file(path):
        return False
    try:
        with Path(path).open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def is_duckdb(path: str | Path) -> bool:
    """Return True if a file is a DuckDB database, by its first bytes."""
    if not is_file(path):
        return False
    try:
        with Path(path).open("rb") as file:
            return file.read(12)[8:] == b"DUCK"
    except OSError:
        return False


def is_folder(path: str | Path) -> bool:
    """Return True if a path is a folder; see `exists`."""
    return os.path.isdir(path)  # noqa: PTH112


def expanded(text: str | Path) -> Path:
    """Return the path with `~` as the home folder, as a shell reads it; unchanged if there is no such user.

    Example:
        >>> expanded("~no such person/a.csv").name
        'a.csv'
    """
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)


def resolved(path: str | Path) -> Path:
    """Return the path without links; if it cannot be a path, the text below the current folder."""
    try:
        return Path(path).resolve()
    except (OSError, ValueError, RuntimeError):
        return Path(path).absolute()


@dataclass(frozen=True)
class Stamp:
    """The identity and state of a file, by which a replaced or changed file is recognized; times are in nanoseconds.

    Anybody who may write can set back the time of change (mtime); that of the inode (ctime) is the system's own.
    """

    device: int
    inode: int
    size: int
    changed: int
    touched: int


def stamp(path: Path) -> Stamp | None:
    """Return the stamp of a file; None if it no longer exists."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return Stamp(facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)


def no_name(path: str | Path) -> InputError:
    """Return the error for a path with a sign that no file name can have: a NUL, or half of a pair in UTF-16."""
    return InputError(f"{str(path)!r} cannot be the name of a file.")


# Files that sqlaudit writes: completely or not at all.

TABLE_SUFFIXES = (".csv", ".parquet")
ROW_SUFFIXES = (".csv", ".parquet", ".xlsx", ".sav", ".dta")
"""The endings of files for the rows of a release."""
DATABASE, CUBE = ".duckdb", "cube"
"""The ending of a DuckDB database that is made for one table, and the name of that table."""
CUBE_NOTE = "sqlaudit_cube"
"""The key of the metadata of a Parquet file that say how its cube was made, as JSON."""
BOM = "utf-8-sig"
"""UTF-8 with the mark at its start by which Excel knows it."""
_to_json = json.JSONEncoder(check_circular=False).encode

Batches = Iterable[Sequence[Sequence[Any]]]


def check_destination(path: Path, suffixes: Sequence[str] = ()) -> None:
    """Raise UsageError if a file cannot be written at `path`, before long work begins.

    Args:
        path: the file to be written. suffixes: the endings that are allowed, empty = any.

    Raises:
        UsageError: it is a folder, its folder is missing or not writable, or the ending is not one of `suffixes`.
    """
    if suffixes and path.suffix.lower() not in suffixes:
        from sqlaudit.base.names import any_of  # which --help does not need

        raise UsageError(f"{str(path)!r} must end in {any_of(suffixes)}.")
    if is_folder(path):
        raise UsageError(f"{str(path)!r} is a folder. Name a file.")
    folder = resolved(path).parent
    if not is_folder(folder):
        raise UnknownFile(f"The folder of {str(path)!r} does not exist.")
    if not os.access(folder if not exists(path) or is_file(path) else path, os.W_OK):
        raise UsageError(f"{str(path)!r} cannot be written: no permission.")


def check_ending(path: Path, suffixes: Sequence[str]) -> None:
    """Raise UsageError if a text file has an ending that is not one of `suffixes`; `report` and /dev/null have none.

    Raises:
        UsageError: another ending, which would promise other content.
    """
    ending = path.suffix.lower()
    if ending and ending not in suffixes:
        from sqlaudit.base.names import any_of

        raise UsageError(f"{str(path)!r} must end in {any_of(suffixes)}, or have no ending.")


_only_new = ContextVar("only_new", default=False)


@contextlib.contextmanager
def only_new_files() -> Iterator[None]:
    """In this block, `replacing` refuses to replace a file, also one that has come while it was written."""
    token = _only_new.set(True)
    try:
        yield
    finally:
        _only_new.reset(token)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary file in the folder of `path` that replaces it when the block succeeds, and is removed otherwise.

    Args:
        path: the file to be written. A link is followed; a pipe or device (/dev/null) is written to directly.

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
    if _only_new.get():
        refuse_existing(path)
    special = exists(final) and not is_file(final)
    temporary = final if special else temporary_beside(final)
    try:
        yield temporary
        if not special:
            temporary.chmod(_mode_for(final))
            if _only_new.get():
                final.touch(exist_ok=False)  # takes the name, which no one else has then
            temporary.replace(final)
    except FileExistsError:
        raise _is_there(path) from None
    except OSError as error:
        raise UsageError(f"{str(path)!r} could not be written: {error.strerror or 'the disk refused'}.") from None
    finally:
        if not special:
            forget(temporary)


def refuse_existing(path: Path) -> None:
    """Raise UsageError if a file, or a link of that name, exists."""
    if os.path.lexists(path):
        raise _is_there(path)


def _is_there(path: Path) -> UsageError:
    return UsageError(f"{path.name!r} exists already, and no file is replaced. Choose another name.")


def write_text(path: Path, text: str) -> None:
    """Write a report as UTF-8, completely or not at all.

    Raises:
        UsageError: the file cannot be written.
    """
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


def write_rows(
    path: Path,
    names: Sequence[str],
    batches: Batches,
    check: Callable[[Path, Path | None], None] | None = None,
    *,
    encoding: str = "utf-8",
    office: Callable[[Path, Path], None] | None = None,
    notes: Mapping[str, str] | None = None,
) -> int:
    """Write rows as a stream into a file, by the ending of its name; return the number of rows.

    Args:
        path: the file, ending in .csv or .parquet, or .xlsx, .sav, .dta or .duckdb. names: the column names.
        batches: rows, some thousand at a time.
        check: is called with the temporary file before it replaces the old one, and may raise an error; for .xlsx, .sav
            and .dta also with the Parquet file of its rows.
        encoding: UTF-8, or `BOM`, of a CSV file.
        office: writes the file of a .xlsx, .sav, .dta or .duckdb from the Parquet file of its rows; None = there is no
            such.
        notes: texts that a Parquet file has as metadata, by key; the table of a .duckdb file has one as its comment.

    In CSV a missing value is an empty field, and a text that a spreadsheet would run as a formula gets an apostrophe
    in front (OWASP, CSV injection; see `csv_cell`). Parquet keeps every value exactly.

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
    check_destination(path, TABLE_SUFFIXES if office is None else (*ROW_SUFFIXES, DATABASE))
    suffix = path.suffix.lower()
    with replacing(path) as temporary:
        if suffix in (".csv", ".parquet"):
            is_csv = suffix == ".csv"
            write = partial(_write_csv, encoding=encoding) if is_csv else partial(_write_parquet, notes=notes)
            written = write(temporary, names, batches)
            if check is not None and is_file(temporary):
                check(temporary, None)
            return written
        assert office is not None
        with PrivateFolder("release") as folder:  # also for the temporary files of other packages
            rows, draft = folder.path / "rows.parquet", folder.path / ("release" + suffix)
            written = _write_parquet(rows, names, batches, notes=notes)
            office(draft, rows)
            if check is not None:
                check(draft, rows)
            shutil.copyfile(draft, temporary)
        return written


def _mode_for(final: Path) -> int:
    """Return the permissions of the file that is replaced; those of the umask for a new file."""
    if final.exists():
        return final.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


class UnixLines:
    """A file whose lines end in a line feed. The csv module quotes a lone carriage return only if both signs end lines.

    Args:
        file: the file that gets the lines.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, line: str) -> int:
        """Write a line that ends in carriage return and line feed."""
        return self._file.write(line[:-2] + "\n")


def _write_csv(path: Path, names: Sequence[str], batches: Batches, encoding: str) -> int:
    """Write rows as CSV, with cells that no spreadsheet runs; return their number."""
    written = 0
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(UnixLines(file), lineterminator="\r\n")
        # Readers strip blanks at the ends of a name, unless it is in quotes
        has_blanks = any(name != name.strip() for name in names)
        quoting: Literal[0, 1] = csv.QUOTE_ALL if has_blanks else csv.QUOTE_MINIMAL
        csv.writer(UnixLines(file), lineterminator="\r\n", quoting=quoting).writerow(map(csv_cell, names))
        for batch in batches:
            writer.writerows([csv_cell(value) for value in row] for row in batch)
            written += len(batch)
    return written


def _write_parquet(path: Path, names: Sequence[str], batches: Batches, notes: Mapping[str, str] | None = None) -> int:
    """Write rows as Parquet, by way of JSON lines, since column types are known only after the last row."""
    spool = temporary_beside(path)
    try:
        columns = {f"c{i}": _ColumnType() for i in range(len(names))}
        takers = [(name, column.take) for name, column in columns.items()]
        written = 0
        with spool.open("w", encoding="utf-8") as file:
            for row in chain.from_iterable(batches):
                cells = {name: take(value) for (name, take), value in zip(takers, row, strict=True)}
                file.write(_to_json(cells) + "\n")
                written += 1
        _convert(spool, path, names, {name: column.sql for name, column in columns.items()}, notes or {})
    finally:
        forget(spool)
    return written


def _convert(spool: Path, path: Path, names: Sequence[str], types: dict[str, str], notes: Mapping[str, str]) -> None:
    """Write the JSON lines of a file as Parquet, with these names and types of columns, and these notes."""
    import duckdb

    from sqlaudit.base.names import literal, quote

    try:
        with duckdb.connect() as connection:
            rows = connection.read_json(str(spool), format="newline_delimited", columns=types)
            named = (f"{column} AS {quote(name, 'duckdb')}" for column, name in zip(types, names, strict=True))
            rows.project(", ".join(named)).create_view("written")
            metadata = f", KV_METADATA {literal(dict(notes), 'duckdb')}" if notes else ""
            target = literal(str(path), "duckdb")
            connection.execute(f"COPY written TO {target} (FORMAT parquet, COMPRESSION zstd{metadata})")
    except duckdb.Error as error:  # its message may quote a value
        raise UsageError(f"The Parquet file could not be written ({type(error).__name__}).") from None


def write_database(path: Path, rows: Path) -> None:
    """Write a DuckDB database whose only table has the rows and the note of a Parquet file. DuckDB 1.0 can read it.

    Raises:
        UsageError: it cannot be written.
    """
    import duckdb

    from sqlaudit.base.names import literal

    target, source = literal(str(path), "duckdb"), literal(glob.escape(str(rows)), "duckdb")
    try:
        with duckdb.connect() as connection:
            connection.execute(f"ATTACH {target} AS made (STORAGE_VERSION 'v1.0.0')")
            connection.execute(f"CREATE TABLE made.{CUBE} AS FROM read_parquet([{source}])")
            query = f"SELECT decode(value) FROM parquet_kv_metadata({source}) WHERE decode(key) = '{CUBE_NOTE}'"
            for (note,) in connection.execute(query).fetchall():
                connection.execute(f"COMMENT ON TABLE made.{CUBE} IS {literal(note, 'duckdb')}")
            connection.execute("DETACH made")
    except duckdb.Error as error:
        raise UsageError(f"The DuckDB file could not be written ({type(error).__name__}).") from None


_KINDS = {str: "VARCHAR", bool: "BOOLEAN"}
"""Types whose values JSON lines hold unchanged: the fast path for most cells."""


class _ColumnType:
    """The narrowest DuckDB type that holds all values of a column; text if kinds are mixed."""

    _TYPE_NAMES: tuple[tuple[type, str], ...] = (
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

    def take(self, value: Any) -> object:
        """Note a value's type, and return the value for a JSON line."""
        kind = _KINDS.get(type(value))
        if kind is not None:
            self._seen.add(kind)
            return value
        value = flat(value)
        if value is None:
            return None
        if isinstance(value, Decimal):
            if not value.is_finite() or int(value.as_tuple().exponent) < 0:
                return self._take_decimal(value)
            value = int(value)  # as engines return it that tell whole decimals from others by their values
        kind = next((sql for python, sql in self._TYPE_NAMES if isinstance(value, python)), "VARCHAR")
        if kind == "BIGINT" and not -(2**63) <= value < 2**63:
            kind = "DECIMAL(38, 0)" if abs(value) < 10**38 else "VARCHAR"
        if kind == "BIGINT":
            self._whole = max(self._whole, len(str(abs(value))))
        self._seen.add("TIMESTAMPTZ" if kind == "TIMESTAMP" and value.tzinfo is not None else kind)
        return str(value)

    @property
    def sql(self) -> str:
        """The name of the type."""
        if len(self._seen) == 1:
            (only,) = self._seen
            return f"DECIMAL({self._whole + self._decimals}, {self._decimals})" if only == "DECIMAL" else only
        if self._seen == {"BIGINT", "DECIMAL(38, 0)"}:
            return "DECIMAL(38, 0)"
        if self._seen == {"BIGINT", "DECIMAL"} and self._whole + self._decimals <= 38:
            return f"DECIMAL({self._whole + self._decimals}, {self._decimals})"
        return "DOUBLE" if self._seen and self._seen <= {"BIGINT", "DOUBLE"} else "VARCHAR"

    def _take_decimal(self, value: Decimal) -> str:
        """Note the digits that a decimal needs, and return it as text."""
        _, digits, exponent = value.as_tuple()
        if not isinstance(exponent, int):
            self._seen.add("DOUBLE")
            return str(value)
        self._decimals = max(self._decimals, -exponent)
        self._whole = max(self._whole, len(digits) + exponent, 1)
        self._seen.add("DECIMAL" if self._whole + self._decimals <= 38 else "VARCHAR")
        return f"{value:f}"
