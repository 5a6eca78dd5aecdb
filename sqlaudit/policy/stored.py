"""`--store-failures`: the classes that fall short, in a DuckDB file of the user's choice.

Their keys are values of the audited table, and are kept only when that was asked for.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from sqlaudit.errors import UsageError
from sqlaudit.export import check_destination, write_rows
from sqlaudit.failing import AllFailing
from sqlaudit.result import FailingClass, plain
from sqlaudit.sql import environment

NAMES = ("table", "falls_short_of", "sensitive", "class_size", "class_rows", "classes", "figures", "key")
_BATCH = 10_000


@dataclass
class FailureStore:
    """Writes failing classes into the table `failures` of a DuckDB file, which every run replaces.

    Args:
        path: the file; other tables in it stay. classes: how many were written. unnamed: sentences on requirements
            that do not hold and whose classes nothing tells.

    Raises:
        UsageError: the file cannot be written, or is of another kind.
    """

    path: Path
    classes: int = field(default=0, init=False)
    unnamed: list[str] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        check_destination(self.path, (".duckdb", ".db"))
        self._execute(_text("store_failures.sql"))

    def add(self, table: str, failing: Iterable[FailingClass]) -> None:
        """Write the classes of a table, streamed through a file beside the database's spill files.

        Raises:
            UsageError: the file cannot be written.
        """
        if isinstance(failing, AllFailing):
            self.unnamed += [f"{table}: {sentence}" for sentence in failing.unnamed]
        with tempfile.TemporaryDirectory(prefix="sqlaudit-") as folder:
            spool = Path(folder, "failures.parquet")
            write_rows(spool, NAMES, self._batches(table, failing))
            self._execute(_text("add_failures.sql"), [str(spool)])

    def _batches(self, table: str, failing: Iterable[FailingClass]) -> Iterator[list[list[Any]]]:
        rest = iter(failing)
        while batch := [_row(table, item) for item in islice(rest, _BATCH)]:
            self.classes += sum(row[5] for row in batch)
            yield batch

    def _execute(self, text: str, parameters: Sequence[Any] = ()) -> None:
        import duckdb

        try:
            with duckdb.connect(str(self.path)) as connection:
                connection.execute(text, list(parameters))
        except duckdb.Error as error:  # its message may quote a value
            raise UsageError(f"{str(self.path)!r} can't be written ({type(error).__name__}).") from None


def _row(table: str, item: FailingClass) -> list[Any]:
    figures = json.dumps({name: plain(value) for name, value in item.figures.items()})
    key = None if item.key is None else json.dumps({name: plain(value) for name, value in item.key.items()})
    return [table, ", ".join(item.fails), item.sensitive, item.size, item.rows, item.classes, figures, key]


def _text(name: str) -> str:
    return environment().get_template("gate/" + name).render()
