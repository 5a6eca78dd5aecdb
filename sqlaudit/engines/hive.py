"""Folders that are named `column=value`, as Hive and Spark lay out a table.

Readers take such folders for columns by themselves, and a column of the same name in the file gives way to the folder's
single value. So nothing of a path is read unless somebody asks for it; then the values are texts, as they stand in the
path (`zip=01234` is not 1234), and a column that is in the file as well is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from sqlaudit.base.errors import InputError


def partition_columns(paths: Sequence[Path], label: str) -> tuple[str, ...]:
    """The columns that the folders of files are named for, outermost first; none for files in plain folders.

    Args:
        paths: absolute paths of files; every folder on the way counts.
        label: how the user calls them.

    Raises:
        InputError: folders of different columns, or one column twice on the way.

    Example:
        >>> partition_columns([Path("/data/year=2020/zip=01234/p.parquet")], "data/*/*/*.parquet")
        ('year', 'zip')
    """
    found = {_columns(path) for path in paths}
    if len(found) > 1:
        raise InputError(f"The files of {label!r} lie in folders for different columns; name those of one table.")
    columns = next(iter(found), ())
    repeated = [name for i, name in enumerate(columns) if name.casefold() in map(str.casefold, columns[:i])]
    if repeated:
        raise InputError(f"Two folders on the way to {label!r} are named for the column {repeated[0]!r}.")
    return columns


def refuse_same(columns: Iterable[str], folders: Sequence[str], label: str) -> None:
    """Refuse a column that both the file and its folder have: one of the two would be hidden by the other.

    Raises:
        InputError: there is one.
    """
    known = {name.casefold() for name in folders}
    for name in columns:
        if name.casefold() in known:
            raise InputError(
                f"{name!r} is a column of {label!r} and the name of a folder on the way to it; read it without hive "
                "partitioning, or rename one of them."
            )


def _columns(path: Path) -> tuple[str, ...]:
    return tuple(name for folder in reversed(path.parents) if (name := _column(folder.name)))


def _column(folder: str) -> str:
    name, sign, _ = folder.partition("=")
    return name if sign else ""
