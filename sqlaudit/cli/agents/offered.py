"""The tables that agents may ask about: fixed when the server starts, by the person who starts it.

An agent gives a name of this list and never a path, so that there is no path of its to be looked at. What lies behind a
name is looked at again for each call: a file in whose place somebody put a link leads elsewhere.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import closest
from sqlaudit.base.paths import expanded, is_file, is_folder, resolved
from sqlaudit.base.spec import Limits, ReadOptions, Target
from sqlaudit.engines.duckdb.paths import in_folder, missing

MOST_TABLES = 200
"""More than this no agent reads through; who offers them names fewer."""
LONGEST = 80
"""Signs of a text of an agent that a sentence repeats."""


@dataclass(frozen=True)
class Offered:
    """What agents may ask about.

    Args:
        tables: by the name that agents give: a table or view as the database knows it, or the absolute path of a file.
        db: what a driver connects with; None for files. read: how files are read. limits: of each call.
    """

    tables: Mapping[str, str]
    db: str | None = None
    read: ReadOptions = ReadOptions()
    limits: Limits = Limits()

    def target(self, name: str) -> Target:
        """The table of a name, as it may be opened now.

        Raises:
            UsageError: there is no such name, or another file lies in its place.
        """
        relation = self.tables.get(name)
        if relation is None:
            hint = closest(name[:LONGEST], self.tables) or f" There are: {', '.join(list(self.tables)[:12])}."
            raise UsageError(
                f"There is no table {name[:LONGEST]!r} here: who started this server fixed what may be looked at.{hint}"
            )
        if self.db is None and not _as_it_was(relation):
            raise UsageError(f"The file of {name!r} is gone, or a link lies in its place; nothing of it was read.")
        if self.db is not None and Path(self.db).is_absolute() and not _as_it_was(self.db):
            raise UsageError("The file of the database is gone, or a link lies in its place; nothing of it was read.")
        return Target(relation=relation, read=self.read, label=name)


def _as_it_was(path: str) -> bool:
    """Whether a path that had no link in it still has none, and leads to a file."""
    return is_file(path) and str(resolved(path)) == path


def database(text: str) -> str:
    """What a driver connects with: the file of a database by its full path, anything else as it was given."""
    return str(resolved(expanded(text))) if is_file(expanded(text)) else text


def files_of(names: Sequence[str]) -> dict[str, str]:
    """The files behind names of files and folders: absolute paths by what agents call them.

    A file is called as it was named, one of a folder by its path in there. A link is followed where a person named it;
    links in folders are left out, and so are names that could be read as patterns.

    Raises:
        UsageError: there is no such file, a folder has none, or two have one name.
    """
    found: dict[str, str] = {}
    for name in names:
        path = expanded(name)
        listed = list(_in(path)) if is_folder(path) else [(name, path)]
        if not listed or not all(is_file(one) for _, one in listed):
            raise missing(name)
        for label, one in listed:
            if found.setdefault(label, str(resolved(one))) != str(resolved(one)):
                raise UsageError(f"Two files are called {label!r}; name one of their folders alone.")
    return found


def _in(folder: Path) -> Iterator[tuple[str, Path]]:
    root = resolved(folder)
    for path in in_folder(root):
        label = str(path.relative_to(root))
        if resolved(path) == path and not glob.has_magic(label):
            yield label, path


def not_too_many(tables: Mapping[str, str]) -> Mapping[str, str]:
    """The tables, when an agent can be told of them.

    Raises:
        UsageError: there are too many, or none.
    """
    if not tables:
        raise UsageError("There is no table to offer.")
    if len(tables) > MOST_TABLES:
        raise UsageError(
            f"There are {len(tables)} tables, and agents are told of {MOST_TABLES} at most; name those "
            "that they may ask about."
        )
    return tables
