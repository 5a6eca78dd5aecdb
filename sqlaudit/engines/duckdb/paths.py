"""Files behind a path or glob, and their format."""

from __future__ import annotations

import glob
from contextlib import suppress
from pathlib import Path

from sqlaudit.base.connection_texts import looks_like_connection
from sqlaudit.base.errors import InputError, PermissionDenied, UnknownFile, UsageError
from sqlaudit.base.files import exists as lies_there
from sqlaudit.base.files import expanded, is_file, is_folder, is_sqlite
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import closest
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import FILE_FORMATS
from sqlaudit.engines.contract import refuse_lake

_SUFFIXES = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt", ".data", ".dat"), "csv"),
    **dict.fromkeys((".json", ".ndjson", ".jsonl"), "json"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".feather", ".ipc", ".arrows"), "arrow"),
    **dict.fromkeys((".xlsx", ".xlsm"), "excel"),
    **dict.fromkeys((".sav", ".zsav"), "spss"),
    ".dta": "stata",
    **dict.fromkeys((".sas7bdat", ".xpt"), "sas"),
}
PACKED = (".gz", ".zst")
_FRAME, _SKIPPED, _SKIPPABLE = 0xFD2FB528, 0x184D2A50, 0xFFFFFFF0
"""The first bytes of a zstd frame, and of frames without data: the sixteen numbers from `_SKIPPED` on."""
_RUN = 1
"""The kind of a block that consists of one byte and its number of repetitions."""
_FOREIGN = {
    **dict.fromkeys((".xls", ".xlsb", ".ods"), "a spreadsheet of another format: save it as .xlsx or CSV"),
    **dict.fromkeys((".por", ".rds", ".rdata"), "a statistics file of another format: export CSV or Parquet"),
    **dict.fromkeys((".sqlite", ".sqlite3"), "named like an SQLite database, but is not one"),
    **dict.fromkeys((".zip", ".bz2", ".xz", ".7z", ".tar", ".tgz"), "an archive: unpack it, or use gzip or zstd"),
}
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow"}


@dataclass(frozen=True)
class Files:
    """Files that form one table.

    Args:
        paths: absolute paths, none of them empty, in a fixed order.
        format: one of `FILE_FORMATS`.
        label: the path or glob as the user wrote it.
    """

    paths: tuple[Path, ...]
    format: str
    label: str

    @property
    def texts(self) -> list[str]:
        """The paths as DuckDB takes them. It reads each as a pattern, so the special characters of patterns are
        escaped.
        """
        return [glob.escape(str(path)) for path in self.paths]

    @property
    def bytes(self) -> int:
        """The size of all files on disk."""
        return sum(path.stat().st_size for path in self.paths)


def looks_like_path(text: str) -> bool:
    """Return True if a text can only mean a file: it has a suffix of tables, a slash, or a wildcard."""
    name = Path(text).name
    return any(c in text for c in "/\\*?") or _suffix(name) in _SUFFIXES or Path(name).suffix in _FOREIGN


def exists(text: str) -> bool:
    """Return True if a text names a file, or a glob that matches one."""
    return any(is_file(path) for path in matching(text))


def find_files(text: str, format: str = "") -> Files:
    """Return the files that a path or glob names.

    Args:
        text: a path or glob as the user wrote it.
        format: one of `FILE_FORMATS`; empty = by the files' names and first bytes.

    Raises:
        UsageError: no such file, a folder without tables, a web address, a format that is not read, or files of a table
            that keeps deleted rows.
        InputError: files without any content.
        PermissionDenied: a file that this user may not read.
    """
    if looks_like_connection(text):
        raise UsageError(
            f"The name of a file or table looks like a database connection. Give that with {spelled('db')}."
        )
    if "://" in text:
        raise UsageError(f"{text!r} is a web address. Only local files are read: download it first.")
    paths = matching(text)
    if not paths:
        raise missing(text)
    refuse_lake(paths, text)
    starts = {path: _read_start(path, text) for path in paths}
    filled = tuple(path for path in paths if path.stat().st_size)
    if not filled:
        raise InputError(f"{text!r} is empty (0 bytes).")
    kinds = {_format(path, starts[path], format): path.name for path in reversed(filled)}
    if len(kinds) > 1:
        listing = ", ".join(f"{name!r} is {kind}" for kind, name in sorted(kinds.items()))
        raise UsageError(
            f"{text!r} names files of several formats: {listing}. Name one format, for example with *.csv."
        )
    return Files(filled, next(iter(kinds)), text)


def matching(text: str) -> list[Path]:
    """Return the absolute paths of a file of exactly this name, of the files in a folder, or of those of a pattern."""
    plain = expanded(text)
    if is_folder(plain):
        return in_folder(plain.absolute())
    if lies_there(plain):
        return [plain.absolute()]
    if not glob.has_magic(text):
        return []
    matches = sorted(glob.glob(str(plain), recursive=True))  # noqa: PTH207 (Path.glob takes no absolute pattern)
    return [path.absolute() for path in map(Path, matches) if is_file(path)]


def in_folder(folder: Path) -> list[Path]:
    """Return the files in a folder and below it whose suffixes are those of tables, without hidden ones."""
    tables = (path for path in sorted(folder.rglob("*")) if _suffix(path.name) in _SUFFIXES and is_file(path))
    return [path for path in tables if not any(part[0] in "._" for part in path.relative_to(folder).parts)]


def missing(text: str) -> UsageError:
    """Return the error for a text that names no file."""
    if is_folder(expanded(text)):
        endings = ", ".join(dict.fromkeys(_SUFFIXES))
        return UnknownFile(f"The folder {text!r} has no file that ends in {endings}.")
    if glob.has_magic(text):
        return UnknownFile(f"No file matches the pattern {text!r}.")
    names: list[str] = []
    with suppress(OSError, ValueError):
        names = [entry.name for entry in expanded(text).parent.iterdir()]
    return UnknownFile(f"There is no file {text!r}.{closest(Path(text).name, names)}")


def _read_start(path: Path, text: str) -> bytes:
    """Return the first bytes of a file that is not a database and can be read."""
    name = text if expanded(text).absolute() == path else path.name
    if not is_file(path):
        raise UsageError(
            f"{name!r} is not a regular file, but an audit reads its input more than once. Save it as a file."
        )
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except PermissionError:
        raise PermissionDenied(f"{name!r} is not readable by this user.") from None
    except OSError:
        raise InputError(f"{name!r} can't be read from the disk.") from None
    if path.suffix.lower() == ".zst" and _is_cut(path):
        raise InputError(f"{name!r} is not a complete zstd file, so rows may be missing.")
    kind = "a DuckDB" if start[8:12] == b"DUCK" else "an SQLite" if is_sqlite(path) else ""
    if kind:
        raise UsageError(
            f"{name!r} is {kind} database. Give it with {spelled('db')}, and name one of its tables or views."
        )
    return start


def _is_cut(path: Path) -> bool:
    """Return True if a file is not zstd, or ends before its last block: DuckDB would read the rows up to there.

    Blocks have their length in their header, so nothing is decompressed (RFC 8878, section 3.1).
    """
    size = path.stat().st_size
    with path.open("rb") as file:

        def number(length: int) -> int:
            return int.from_bytes(file.read(length), "little")

        while file.tell() < size:
            start = number(4)
            if start & _SKIPPABLE == _SKIPPED:
                file.seek(number(4), 1)
                continue
            if start != _FRAME:
                return True
            descriptor = number(1)
            one_segment = descriptor >> 5 & 1
            file.seek((1 - one_segment) + (0, 1, 2, 4)[descriptor & 3] + (one_segment, 2, 4, 8)[descriptor >> 6], 1)
            last = 0
            while not last:
                if file.tell() + 3 > size:
                    return True
                block = number(3)
                last, kind, length = block & 1, block >> 1 & 3, block >> 3
                file.seek(1 if kind == _RUN else length, 1)
            file.seek(4 * (descriptor >> 2 & 1), 1)
        return file.tell() > size


def _format(path: Path, start: bytes, format: str) -> str:
    """Return the format of a file: the named one, or that of its first bytes or suffix."""
    if format:
        if format not in FILE_FORMATS:
            raise UsageError(f"There is no format {format!r}. Use one of {', '.join(FILE_FORMATS)}.")
        return format
    if path.suffix.lower() in _FOREIGN:
        raise UsageError(f"{path.name!r} is {_FOREIGN[path.suffix.lower()]}.")
    by_bytes = (kind for magic, kind in _MAGIC.items() if start.startswith(magic))
    return next(by_bytes, _SUFFIXES.get(_suffix(path.name), "csv"))


def format_of_name(name: str) -> str:
    """Return the format that the name of a file shows; empty if it shows none that is read."""
    return _SUFFIXES.get(_suffix(name), "")


def _suffix(name: str) -> str:
    """Return the suffix that shows the format: the last one, or the one before .gz and .zst."""
    path = Path(name.lower())
    return Path(path.stem).suffix if path.suffix in PACKED else path.suffix
