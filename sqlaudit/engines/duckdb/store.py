"""DuckDB files of our own: baselines, and the classes that fall short. Opened behind the walls of an audited file.

Somebody else may have written such a file: a view in it could read other files, a macro could stand for a function of
ours, and a table could bear the name of ours by chance. So it is attached to an instance in memory, access to all other
files is closed, its names are always written in full, and what is ours is recognized before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlaudit.base.names import literal
from sqlaudit.base.relation import Row
from sqlaudit.base.sql import environment
from sqlaudit.engines.duckdb.driver import duckdb
from sqlaudit.engines.duckdb.session import DIALECT, FIXED

CATALOG = "store"
"""What the file is attached as; the templates of `gates/` name relations as `store.main.…`."""


class Store:
    """An open file, in one transaction: what is done in it is kept whole or not at all."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def run(self, template: str, parameters: Sequence[object] = (), **words: str) -> list[Row]:
        """The rows of a template of `gates/`; `words` are put into it as literals."""
        spelled = {name: literal(word, DIALECT) for name, word in words.items()}
        text = environment().get_template("gates/" + template).render(**spelled)
        return self._connection.execute(text, list(parameters)).fetchall()

    def relations(self) -> Mapping[str, tuple[str, str, tuple[str, ...]]]:
        """(`table` or `view`, comment, columns as `name TYPE`) of each relation in the schema `main`, by name."""
        found: dict[str, tuple[str, str, tuple[str, ...]]] = {}
        for name, kind, comment, columns in self.run("store_relations.sql"):
            found[str(name)] = (str(kind), str(comment), tuple(columns or ()))
        return found


@contextmanager
def open_store(path: Path, *, read_only: bool = False, also: Sequence[Path] = ()) -> Iterator[Store]:
    """The file, behind the walls of an audited one; made when there is none and it may be written.

    Args:
        path: the file. also: further files that may be read.

    Raises:
        duckdb.Error: the file cannot be opened, or something in it reaches for another file.
    """
    with duckdb.connect(":memory:", config=dict(FIXED)) as connection:
        file = path.absolute()
        attach = "ATTACH " + literal(str(file), DIALECT) + " AS " + CATALOG
        connection.execute(attach + (" (READ_ONLY)" if read_only else ""))
        connection.execute("SET allowed_paths = " + literal([str(one.absolute()) for one in also], DIALECT))
        connection.execute("SET enable_external_access = FALSE")
        connection.execute("SET lock_configuration = TRUE")
        connection.begin()
        yield Store(connection)
        connection.commit()
