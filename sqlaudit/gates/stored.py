"""`--store-failures`: the classes that fall short, in a DuckDB file of the user's choice.

Their keys are values of the audited table, and are kept only when that was asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlaudit.base.documents import plain
from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import check_destination, write_rows
from sqlaudit.base.leftovers import PrivateFolder
from sqlaudit.classes.failing import AllFailing
from sqlaudit.classes.found import FailingClass

if TYPE_CHECKING:
    from sqlaudit.engines.duckdb.store import Store

NAMES = ("table", "falls_short_of", "sensitive", "class_size", "class_rows", "classes", "figures", "key")
MARKER = "sqlaudit: classes that fall short; every run replaces this table"
"""The comment of our table, by which it is known: nothing else is ever replaced."""
_BATCH = 10_000


@dataclass
class FailureStore:
    """Writes failing classes into the table `failures` of a DuckDB file, which every run replaces.

    Args:
        path: the file; other tables in it stay. classes: how many were written. unnamed: sentences on requirements
            that do not hold and whose classes nothing tells.

    Raises:
        UsageError: the file cannot be written, is of another kind, or has a `failures` that is not ours.
    """

    path: Path
    classes: int = field(default=0, init=False)
    unnamed: list[str] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        check_destination(self.path, (".duckdb", ".db"))
        with self._open() as store:
            found = store.relations().get("failures")
            if found is not None and found[:2] != ("table", MARKER):
                raise UsageError(
                    f"{str(self.path)!r} holds a {found[0]} 'failures' that sqlaudit did not make, and that is never "
                    "replaced; name another file, or rename it there."
                )
            store.run("store_failures.sql", marker=MARKER)

    def add(self, table: str, failing: Iterable[FailingClass]) -> None:
        """Write the classes of a table, streamed through a file beside the database's spill files.

        Raises:
            UsageError: the file cannot be written.
        """
        if isinstance(failing, AllFailing):
            self.unnamed += [f"{table}: {sentence}" for sentence in failing.unnamed]
        with PrivateFolder("failures") as folder:
            spool = Path(folder.path, "failures.parquet")
            write_rows(spool, NAMES, self._batches(table, failing))
            with self._open(spool) as store:
                store.run("add_failures.sql", [str(spool)])

    def _batches(self, table: str, failing: Iterable[FailingClass]) -> Iterator[list[list[Any]]]:
        rest = iter(failing)
        while batch := [_row(table, item) for item in islice(rest, _BATCH)]:
            self.classes += sum(row[5] for row in batch)
            yield batch

    @contextmanager
    def _open(self, *also: Path) -> Iterator[Store]:
        import duckdb

        from sqlaudit.engines.duckdb.store import open_store

        try:
            with open_store(self.path, also=also) as store:
                yield store
        except duckdb.Error as error:  # its message may quote a value
            raise UsageError(f"{str(self.path)!r} can't be written ({type(error).__name__}).") from None


def _row(table: str, item: FailingClass) -> list[Any]:
    figures = json.dumps({name: plain(value) for name, value in item.figures.items()})
    key = None if item.key is None else json.dumps({name: plain(value) for name, value in item.key.items()})
    return [table, ", ".join(item.fails), item.sensitive, item.size, item.rows, item.classes, figures, key]
