"""Private folders for what an engine spills to disk.

A spill file holds rows. So it lies in a folder that only its owner may enter, goes away with the engine, and what a
killed run left behind goes away when the next one starts.
"""

from __future__ import annotations

from sqlaudit.base.leftovers import PrivateFolder, remove_leftovers

__all__ = ["SpillFolder", "remove_leftovers"]


class SpillFolder(PrivateFolder):
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
        super().__init__("spill", parent)

    def __enter__(self) -> SpillFolder:
        return self
