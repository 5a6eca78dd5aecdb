"""Private folders for what an engine spills to disk.

A spill file holds rows. So it lies in a folder that only its owner may enter, goes away with the engine, and what a
killed run left behind goes away when the next one starts.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import tempfile
import weakref
from pathlib import Path

from sqlaudit.errors import UsageError

_PREFIX = "sqlaudit-spill"


class SpillFolder:
    """A folder that only this user may enter (0700), removed by `close` or with the object.

    Args:
        parent: where to make it; empty = the system's temporary directory.

    Raises:
        UsageError: the parent is not a folder, or nothing can be created in it.

    Example:
        >>> with SpillFolder() as folder:
        ...     oct(folder.path.stat().st_mode & 0o777)
        '0o700'
    """

    def __init__(self, parent: str = "") -> None:
        root = Path(parent or tempfile.gettempdir())
        if not root.is_dir():
            raise UsageError(f"The temporary directory {parent!r} is not a folder.")
        remove_leftovers(root)
        try:
            made = tempfile.mkdtemp(prefix=f"{_PREFIX}-{_host()}-{os.getpid()}-", dir=root)
        except OSError:
            raise UsageError(f"The temporary directory {str(root)!r} can't be written to.") from None
        self.path = Path(made).resolve()
        self._remove = weakref.finalize(self, shutil.rmtree, made, ignore_errors=True)

    def close(self) -> None:
        """Remove the folder and all that is in it; safe to call twice."""
        self._remove()

    def __enter__(self) -> SpillFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def remove_leftovers(root: Path) -> list[Path]:
    """Remove the folders of runs that are gone, and return their paths.

    A folder's name says which machine and process made it: the temporary directory may be shared by containers and
    hosts, and a process of another host can't be asked whether it lives. Folders of other users are left alone.
    """
    removed = []
    for folder in root.glob(f"{_PREFIX}-*"):
        with contextlib.suppress(OSError):
            if _is_ours(folder) and not _is_alive(_pid(folder)):
                shutil.rmtree(folder, ignore_errors=True)
                removed.append(folder)
    return removed


def _host() -> str:
    return "".join(c for c in socket.gethostname() if c.isalnum())[:40] or "host"


def _is_ours(folder: Path) -> bool:
    """True for a real folder of this user, made on this machine."""
    facts = folder.lstat()
    owner = os.getuid() if hasattr(os, "getuid") else facts.st_uid
    made_here = folder.name.startswith(f"{_PREFIX}-{_host()}-")
    return made_here and folder.is_dir() and not folder.is_symlink() and facts.st_uid == owner


def _pid(folder: Path) -> int:
    """The process that made the folder; this one when the name does not say, so that nothing is removed by mistake."""
    parts = folder.name.split("-")
    return int(parts[3]) if len(parts) == 5 and parts[3].isdigit() else os.getpid()


def _is_alive(pid: int) -> bool:
    if os.name == "nt":  # signal 0 would be a Ctrl-C there
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
