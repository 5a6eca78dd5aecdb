"""From a path or glob, as a user writes it, to files that exist and the format they have."""

from __future__ import annotations

import glob
from pathlib import Path

from sqlaudit.base.connection_texts import looks_like_connection
from sqlaudit.base.errors import InputError, PermissionDenied, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import closest
from sqlaudit.base.paths import exists as lies_there
from sqlaudit.base.paths import expanded, is_file, is_folder, is_sqlite
from sqlaudit.base.words import spelled

FORMATS = ("csv", "json", "parquet", "arrow")
_SUFFIXES = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt", ".data", ".dat"), "csv"),
    **dict.fromkeys((".json", ".ndjson", ".jsonl"), "json"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".feather", ".ipc", ".arrows"), "arrow"),
}
_PACKED = (".gz", ".zst")
_FOREIGN = {
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "a spreadsheet; save the sheet as CSV"),
    **dict.fromkeys((".sas7bdat", ".xpt", ".sav", ".dta", ".rds"), "a statistics file; export CSV or Parquet"),
    **dict.fromkeys((".sqlite", ".sqlite3"), "called like an SQLite database, and is none"),
    **dict.fromkeys((".zip", ".bz2", ".xz", ".7z", ".tar", ".tgz"), "an archive; unpack it, or use gzip or zstd"),
}
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow"}


@dataclass(frozen=True)
class Files:
    """Files that form one table.

    Args:
        paths: absolute paths, none of them empty, in a fixed order.
        format: csv, json, parquet or arrow.
        label: the path or glob as the user wrote it.
    """

    paths: tuple[Path, ...]
    format: str
    label: str

    @property
    def texts(self) -> list[str]:
        """The paths as DuckDB takes them: it reads every one as a pattern, so signs of patterns are escaped."""
        return [glob.escape(str(path)) for path in self.paths]

    @property
    def bytes(self) -> int:
        """The size of all files on disk."""
        return sum(path.stat().st_size for path in self.paths)


def looks_like_path(text: str) -> bool:
    """True for a text that can only be meant as a file: it has a known suffix, a slash, or a wildcard."""
    name = Path(text).name
    return any(c in text for c in "/\\*?") or _suffix(name) in _SUFFIXES or Path(name).suffix in _FOREIGN


def exists(text: str) -> bool:
    """True when a text names a file, or a glob that fits one."""
    return any(is_file(path) for path in matching(text))


def find_files(text: str, format: str = "") -> Files:
    """The files that a path or glob names.

    Args:
        text: a path or glob as the user wrote it.
        format: csv, json, parquet or arrow; empty = by the files' names and first bytes.

    Raises:
        UsageError: no such file, a folder without tables, a web address, or a format that is not read.
        InputError: files without any content.
        PermissionDenied: a file that this user may not read.
    """
    if looks_like_connection(text):
        raise UsageError(
            f"The name of a file or table looks like a connection to a database; give that with {spelled('db')}."
        )
    if "://" in text:
        raise UsageError(f"{text!r} is a web address; only local files are read, so download it first.")
    paths = matching(text)
    if not paths:
        raise missing(text)
    for path in paths:
        _check(path, text)
    filled = tuple(path for path in paths if path.stat().st_size)
    if not filled:
        raise InputError(f"{text!r} is empty (0 bytes).")
    kinds = {_format(path, format) for path in filled}
    if len(kinds) > 1:
        raise UsageError(f"{text!r} names files of several formats ({', '.join(sorted(kinds))}); name one at a time.")
    return Files(filled, kinds.pop(), text)


def matching(text: str) -> list[Path]:
    """The absolute paths that a text names, those in a folder; a file of just this name goes before a pattern."""
    plain = expanded(text)
    if is_folder(plain):
        return in_folder(plain.absolute())
    if lies_there(plain):
        return [plain.absolute()]
    if not glob.has_magic(text):
        return []
    found = sorted(glob.glob(str(plain), recursive=True))  # noqa: PTH207 (Path.glob takes no absolute pattern)
    return [path.absolute() for path in map(Path, found) if is_file(path)]


def in_folder(folder: Path) -> list[Path]:
    """The files of a folder and those below it whose names say that they are tables, hidden ones left out."""
    found = (path for path in sorted(folder.rglob("*")) if _suffix(path.name) in _SUFFIXES and is_file(path))
    return [path for path in found if not any(part[0] in "._" for part in path.relative_to(folder).parts)]


def missing(text: str) -> UsageError:
    if is_folder(expanded(text)):
        endings = ", ".join(dict.fromkeys(_SUFFIXES))
        return UsageError(f"The folder {text!r} has no file that ends in {endings}.")
    if glob.has_magic(text):
        return UsageError(f"No file fits the pattern {text!r}.")
    folder = expanded(text).parent
    try:
        names = [entry.name for entry in folder.iterdir()] if is_folder(folder) else []
    except OSError:
        names = []
    return UsageError(f"There is no file {text!r}.{closest(Path(text).name, names)}")


def _check(path: Path, text: str) -> None:
    name = text if expanded(text).absolute() == path else path.name
    if not is_file(path):
        raise UsageError(f"{name!r} is not a regular file; an audit reads its input more than once.")
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except PermissionError:
        raise PermissionDenied(f"{name!r} may not be read by this user.") from None
    except OSError:
        raise InputError(f"{name!r} can't be read from the disk.") from None
    kind = "a DuckDB" if start[8:12] == b"DUCK" else "an SQLite" if is_sqlite(path) else ""
    if kind:
        raise UsageError(f"{name!r} is {kind} database; give it with {spelled('db')} and name a table or view of it.")


def _format(path: Path, format: str) -> str:
    if format:
        if format not in FORMATS:
            raise UsageError(f"There is no format {format!r}; name one of {', '.join(FORMATS)}.")
        return format
    if path.suffix.lower() in _FOREIGN:
        raise UsageError(f"{path.name!r} is {_FOREIGN[path.suffix.lower()]}.")
    by_name = _SUFFIXES.get(_suffix(path.name))
    with path.open("rb") as file:
        start = file.read(8)
    by_bytes = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
    return by_bytes or by_name or "csv"


def _suffix(name: str) -> str:
    """The suffix that tells the format: the last one, or the one before .gz and .zst."""
    path = Path(name.lower())
    return Path(path.stem).suffix if path.suffix in _PACKED else path.suffix
