"""Temporary files and folders that hold rows: named so that the next run can tell, and remove, those of a killed one.

A name says which machine and process made it: a folder may be shared by containers and hosts, and a process of another
host can't be asked whether it lives. Things of other users, and of processes that live, are left alone. What lies
beside a file that was to be written is also noted in the temporary directory, so that it is found from any folder.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import tempfile
import weakref
from pathlib import Path

from sqlaudit.base.errors import UsageError

_OURS = re.compile(r"sqlaudit-(?P<kind>[a-z]+)-(?P<host>[^-]+)-(?P<pid>\d+)-[^-]+")
_PART = re.compile(r"\..*\.(?P<host>[^-.]+)-(?P<pid>\d+)-[^-.]+\.part", re.DOTALL)
_NOTE = "unfinished"
"""The kind of a file that holds nothing but the path of another one."""
_LONGEST_PATH = 65_536
_unfinished: dict[Path, Path | None] = {}
"""The temporary files of this process, each with the note of it."""
_folders: set[Path] = set()


class PrivateFolder:
    """A folder for rows that only this user may enter (0700), removed by `close` or with the object.

    Args:
        kind: a word for its name. parent: where to make it; empty = the system's temporary directory.

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
            made = tempfile.mkdtemp(prefix=f"sqlaudit-{kind}-{_host()}-{os.getpid()}-", dir=root)
        except OSError:
            raise UsageError(f"The temporary directory {str(root)!r} can't be written to.") from None
        self.path = Path(made).resolve()
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
    shutil.rmtree(path, ignore_errors=True)
    _folders.discard(path)


def temporary_beside(final: Path) -> Path:
    """An empty file (0600) in the folder of `final`, which `forget` ends; what killed runs left there is removed.

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
    _unfinished[Path(name)] = _noted(Path(name), mark)
    return Path(name)


def forget(temporary: Path) -> None:
    """Remove a temporary file, if it is there still, and the note of it."""
    temporary.unlink(missing_ok=True)
    note = _unfinished.pop(temporary, None)
    if note is not None:
        with contextlib.suppress(OSError):
            note.unlink()


def discard_unfinished() -> None:
    """Remove what this process will not finish: for the moment before it ends without another word."""
    for temporary in list(_unfinished):
        with contextlib.suppress(OSError):
            forget(temporary)
    for folder in list(_folders):
        _remove_folder(folder)


def remove_leftovers(root: Path | None = None) -> list[Path]:
    """Remove what runs that are gone left in a temporary directory, and the files whose notes they left there.

    Args:
        root: the directory; None = the system's.

    Returns:
        The paths that were removed, notes apart.
    """
    removed = []
    for entry in _entries(root or Path(tempfile.gettempdir())):
        found = _OURS.fullmatch(entry.name)
        if found is None or not _is_left(entry, found):
            continue
        with contextlib.suppress(OSError):
            if found["kind"] == _NOTE:
                removed += _removed_by_note(entry, found["pid"])
            elif entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)
                removed.append(entry)
    return removed


def remove_files(folder: Path) -> list[Path]:
    """Remove the unfinished files that runs that are gone left in a folder; returns their paths."""
    return [entry for entry in _entries(folder) if _PART.fullmatch(entry.name) and _removed(entry)]


def _removed(path: Path, pid: str = "") -> bool:
    """Whether an unfinished file was one of a run that is gone (of `pid`, where it is named), and is removed."""
    found = _PART.fullmatch(path.name)
    if found is None or pid not in ("", found["pid"]) or not _is_left(path, found):
        return False
    with contextlib.suppress(OSError):
        if stat.S_ISREG(path.lstat().st_mode):
            path.unlink()
            return True
    return False


def _noted(temporary: Path, mark: str) -> Path | None:
    """The note of a temporary file; none where the temporary directory takes nothing, as it only helps."""
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(prefix=f"sqlaudit-{_NOTE}-{mark}")
        with os.fdopen(handle, "wb") as file:
            file.write(os.fsencode(temporary.absolute()))
        return Path(name)
    return None


def _removed_by_note(note: Path, pid: str) -> list[Path]:
    """The file that a note names, when it was there still; both are gone afterwards."""
    if not stat.S_ISREG(note.lstat().st_mode):
        return []
    with note.open("rb") as file:
        named = Path(os.fsdecode(file.read(_LONGEST_PATH)))
    removed = [named] if named.is_absolute() and _removed(named, pid) else []
    note.unlink()
    return removed


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _is_left(path: Path, found: re.Match[str]) -> bool:
    """True for a thing of this user, made on this machine by a process that is gone; a link is none."""
    if found["host"] != _host():
        return False
    try:
        facts = path.lstat()
    except (OSError, ValueError):
        return False
    owner = os.getuid() if hasattr(os, "getuid") else facts.st_uid
    return facts.st_uid == owner and not stat.S_ISLNK(facts.st_mode) and not _is_alive(int(found["pid"]))


def _host() -> str:
    return "".join(c for c in _machine() if c.isalnum())[:40] or "host"


def _machine() -> str:
    if hasattr(os, "uname"):
        return os.uname().nodename
    import socket  # which takes longer to import than all else here

    return socket.gethostname()


def _is_alive(pid: int) -> bool:
    if os.name == "nt":  # signal 0 would be a Ctrl-C there
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
