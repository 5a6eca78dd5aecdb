"""Paths that people write: a text that can be no path, or lies where nobody may look, is no file and no exception."""

from __future__ import annotations

import os
from pathlib import Path

from sqlaudit.base.errors import InputError
from sqlaudit.base.frozen import dataclass

_SQLITE = b"SQLite format 3\0"


def exists(path: str | Path) -> bool:
    """Whether something lies there; false for a name that is too long, holds a NUL, or is in a closed folder.

    Example:
        >>> exists("."), exists("no" * 200)
        (True, False)
    """
    return os.path.exists(path)  # noqa: PTH110 (Path.exists raises where this says no)


def is_file(path: str | Path) -> bool:
    """Whether a regular file lies there; see `exists`."""
    return os.path.isfile(path)  # noqa: PTH113


def is_sqlite(path: str | Path) -> bool:
    """Whether a file is an SQLite database, by its first bytes."""
    if not is_file(path):
        return False
    try:
        with Path(path).open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def is_folder(path: str | Path) -> bool:
    """Whether a folder lies there; see `exists`."""
    return os.path.isdir(path)  # noqa: PTH112


def expanded(text: str | Path) -> Path:
    """The path with `~` as the home folder, as a shell reads it: as it stands when nobody has that name.

    Example:
        >>> expanded("~no such person/a.csv").name
        'a.csv'
    """
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)


def resolved(path: str | Path) -> Path:
    """The path without links; as it stands, below the current folder, when it can be no path."""
    try:
        return Path(path).resolve()
    except (OSError, ValueError, RuntimeError):
        return Path(path).absolute()


@dataclass(frozen=True)
class Stamp:
    """What tells a file from another one in its place, and from itself after a change: times are nanoseconds.

    The time of change (mtime) can be set back by anybody who may write; that of the entry (ctime) is the system's own.
    """

    device: int
    inode: int
    size: int
    changed: int
    touched: int


def stamp(path: Path) -> Stamp | None:
    """The stamp of a file, None when there is none any more."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return Stamp(facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)


def no_name(path: str | Path) -> InputError:
    """The error for a path with a sign that no file's name can have: a NUL, or half of a pair in UTF-16."""
    return InputError(f"{str(path)!r} cannot be the name of a file.")
