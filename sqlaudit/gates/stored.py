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

from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import PrivateFolder, check_destination, write_rows
from sqlaudit.base.result import plain
from sqlaudit.classes.failing import AllFailing, FailingClass

if TYPE_CHECKING:
    from sqlaudit.engines.duckdb.store import Store

NAMES = ("table", "falls_short_of", "sensitive", "class_size", "class_rows", "classes", "figures", "key")
MARKER = "sqlaudit: classes that fall short; every run replaces this table"
"""The comment of our table, by which it is known: nothing else is ever replaced."""
_BATCH = 10_000


@dataclass
class FailureStore:
    """Writes failing classes into the table `failures` of a DuckDB file, which every run replaces when it ends.

    Args:
        path: the file; other tables in it stay. classes: how many were written. unnamed: sentences on requirements
            that do not hold and whose classes nothing tells.

    Raises:
        UsageError: the file cannot be written, is of another kind, or has a `failures` that is not ours.
    """

    path: Path
    classes: int = field(default=0, init=False)
    unnamed: list[str] = field(default_factory=list, init=False)
    _folder: PrivateFolder = field(default_factory=lambda: PrivateFolder("failures"), init=False, repr=False)
    _spools: list[Path] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        check_destination(self.path, (".duckdb", ".db"))
        with self._open() as store:
            found = store.relations().get("failures")
            if found is not None and found[:2] != ("table", MARKER):
                raise UsageError(
                    f"{str(self.path)!r} holds a {found[0]} 'failures' that sqlaudit did not make, and that is never "
                    "replaced; name another file, or rename it there."
                )

    def add(self, table: str, failing: Iterable[FailingClass]) -> None:
        """Keep the classes of a table for `write`, streamed into a file beside the database's spill files.

        Raises:
            UsageError: there is no room for them.
        """
        if isinstance(failing, AllFailing):
            self.unnamed += [f"{table}: {sentence}" for sentence in failing.unnamed]
        spool = Path(self._folder.path, f"{len(self._spools)}.parquet")
        write_rows(spool, NAMES, self._batches(table, failing))
        self._spools.append(spool)

    def write(self) -> None:
        """Write all classes in one transaction, so that runs at the same time are not mixed.

        Raises:
            UsageError: the file cannot be written.
        """
        with self._open(*self._spools) as store:
            store.run("store_failures.sql", marker=MARKER)
            for spool in self._spools:
                store.run("add_failures.sql", [str(spool)])
        self._folder.close()

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
