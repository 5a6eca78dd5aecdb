"""Files that change while they are read: which files stand behind a FROM item, and what they were when it was made.

DuckDB reads a file anew with every statement, so a file that is replaced in the middle of an audit would give figures
of two tables, mixed. A database file is locked instead, and rows that were copied to memory are read once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlaudit.base.errors import InputError, SqlauditError
from sqlaudit.base.paths import Stamp, stamp


class Readings:
    """The files behind the views and frames of a session."""

    def __init__(self) -> None:
        self._files: dict[str, dict[Path, tuple[Stamp | None, str]]] = {}

    def note(self, item: str, files: Iterable[tuple[Path, Stamp | None, str]]) -> None:
        """A FROM item reads files: their paths, what they were before anything of them was read, and their names."""
        self._files[item] = {path: (before, label) for path, before, label in files}

    def view(self, name: str, body: str) -> None:
        """A view of that quoted name reads what its body reads."""
        self._files[name] = self._behind(body)

    @contextmanager
    def unchanged(self, sql: str) -> Iterator[None]:
        """While it lasts, a statement runs; also what fails then may fail because a file is not what it was.

        Raises:
            InputError: a file that the statement reads is another one now, or has another size or time of change.
        """
        try:
            yield
        except SqlauditError:
            self._refuse_changed(sql)
            raise
        self._refuse_changed(sql)

    def _refuse_changed(self, sql: str) -> None:
        for path, (before, label) in self._behind(sql).items():
            if stamp(path) != before:
                raise InputError(
                    f"{label!r} was changed while it was read, so figures of two states would be mixed; begin again, "
                    "or audit a copy."
                ) from None

    def _behind(self, sql: str) -> dict[Path, tuple[Stamp | None, str]]:
        """The files of all known items that a text names; the names are ours, or whole calls with quoted paths."""
        found: dict[Path, tuple[Stamp | None, str]] = {}
        for item, files in self._files.items():
            if item in sql:
                found |= files
        return found
