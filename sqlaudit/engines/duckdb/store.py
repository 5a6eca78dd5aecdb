"""DuckDB files that are written: our own, and a view on demand."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sqlaudit.base.addresses import whereabouts
from sqlaudit.base.errors import EngineError, UsageError
from sqlaudit.base.names import literal, quote
from sqlaudit.base.relation import Row
from sqlaudit.base.sql import environment
from sqlaudit.engines.contract import View, refuse_taken
from sqlaudit.engines.duckdb.catalog import alias_for
from sqlaudit.engines.duckdb.driver import duckdb
from sqlaudit.engines.duckdb.errors import ErrorContext, translate
from sqlaudit.engines.duckdb.session import DIALECT, FIXED

# DuckDB files of our own, with baselines and failing classes, opened in the same sandbox as an audited file.
#
# Somebody else may have written such a file: a view in it could read other files, a macro could replace a function of
# ours, and a table could have the name of ours by chance. So it is attached to an instance in memory, access to all
# other files is closed, its names are always written in full, and our relations are recognized before they are used.

PATIENCE = 10.0
"""Seconds to wait for a file that another program has open."""
_IN_USE = re.compile(r"Could not set lock(?:.*held in (.+?) \(PID (\d+))?|already attached by|file handle conflict")
CATALOG = "store"
"""The name under which the file is attached; the templates of `gates/` name relations as `store.main.…`."""


class Store:
    """An open file, in one transaction: all changes are kept, or none."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def run(self, template: str, parameters: Sequence[object] = (), **words: str) -> list[Row]:
        """Return the rows of a template of `gates/`; `words` are put into it as literals."""
        spelled = {name: literal(word, DIALECT) for name, word in words.items()}
        text = environment().get_template("gates/" + template).render(**spelled)
        return self._connection.execute(text, list(parameters)).fetchall()

    def relations(self) -> Mapping[str, tuple[str, str, tuple[str, ...]]]:
        """Return (`table` or `view`, comment, columns as `name TYPE`) of each relation in `main`, by name."""
        relations: dict[str, tuple[str, str, tuple[str, ...]]] = {}
        for name, kind, comment, columns in self.run("store_relations.sql"):
            relations[str(name)] = (str(kind), str(comment), tuple(columns or ()))
        return relations


@contextmanager
def open_store(path: Path, *, read_only: bool = False, also: Sequence[Path] = ()) -> Iterator[Store]:
    """Open the file in the sandbox of an audited one; create it if it does not exist and may be written.

    Args:
        path: the file. also: further files that may be read.

    Raises:
        duckdb.Error: the file cannot be opened, or something in it reaches for another file.
        UsageError: another program keeps it open.
    """
    with duckdb.connect(":memory:", config=dict(FIXED)) as connection:
        _attach(connection, path, " (READ_ONLY)" if read_only else "")
        connection.execute("SET allowed_paths = " + literal([str(file.absolute()) for file in also], DIALECT))
        connection.execute("SET enable_external_access = FALSE")
        connection.execute("SET lock_configuration = TRUE")
        connection.begin()
        yield Store(connection)
        connection.commit()


def _attach(connection: duckdb.DuckDBPyConnection, path: Path, options: str) -> None:
    """Attach the file, after waiting for another run that writes it."""
    attach = "ATTACH " + literal(str(path.absolute()), DIALECT) + " AS " + CATALOG + options
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute(attach)
            return
        except duckdb.Error as error:
            lock = _IN_USE.search(str(error))
            if lock is None:
                raise
            if time.monotonic() > deadline:
                who = f"process {lock[2]} ({Path(lock[1]).name})" if lock[2] else "another run in this process"
                raise UsageError(
                    f"{str(path)!r} is in use by {who}, also after {PATIENCE:g} s. Try again when that has ended."
                ) from None
            time.sleep(0.05)


# Making a view in a DuckDB file: attached for writing to an instance of its own, for one transaction.

_KIND = """
SELECT 'view' FROM duckdb_views() WHERE database_name = $1 AND schema_name = $2 AND lower(view_name) = lower($3)
UNION ALL
SELECT 'table' FROM duckdb_tables() WHERE database_name = $1 AND schema_name = $2 AND lower(table_name) = lower($3)
"""

_SHADOWS = """
SELECT DISTINCT lower(own.function_name) AS name
FROM duckdb_functions() AS own
JOIN duckdb_functions() AS built_in ON lower(built_in.function_name) = lower(own.function_name)
WHERE own.database_name = $1 AND NOT own.internal AND built_in.internal
ORDER BY name
LIMIT 4
"""
"""Macros of the database that stand for built-in functions in each view of it."""


def make_view(db: str, view: View, replace: bool) -> None:
    """Make the view, as `create_view` describes."""
    path = Path(db).absolute()
    alias = alias_for(path)
    during = "making the view"
    try:
        with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
            connection.execute("ATTACH " + literal(str(path), "duckdb") + " AS " + quote(alias, "duckdb"))
            _refuse_shadows(connection, alias, db)
            connection.execute("USE " + quote(alias, "duckdb"))
            _make(connection, alias, view, replace)
    except duckdb.IOException:
        raise EngineError(
            f"{whereabouts(db).subject} cannot be written: it is open elsewhere, or this user may not write it."
        ) from None
    except duckdb.Error as error:
        raise translate(error, ErrorContext(during, files={str(path): whereabouts(db).label})) from None


def _make(connection: duckdb.DuckDBPyConnection, alias: str, view: View, replace: bool) -> None:
    """Make the view in one transaction; a view of this name is dropped first.

    Raises:
        UsageError: the name is in use, and `replace` is False or it is no view.
    """
    *schema, name = view.parts(2)
    row = connection.execute(_KIND, [alias, schema[0] if schema else "main", name]).fetchone()
    kind = str(row[0]) if row else ""
    refuse_taken(view, kind, replace)
    connection.execute("BEGIN TRANSACTION")
    with ExitStack() as on_failure:
        on_failure.callback(connection.execute, "ROLLBACK")
        if kind:  # a view, as all else was refused
            connection.execute("DROP VIEW " + view.quoted("duckdb"))
        connection.execute(view.statement("duckdb"))
        connection.execute("COMMIT")
        on_failure.pop_all()


def _refuse_shadows(connection: duckdb.DuckDBPyConnection, alias: str, db: str) -> None:
    """Refuse a database with macros named like built-in functions, which a view would call each time it is read."""
    names = [str(name) for (name,) in connection.execute(_SHADOWS, [alias]).fetchall()]
    if names:
        listing = ", ".join(map(repr, names[:3])) + (" and others" if len(names) > 3 else "")
        raise UsageError(
            f"{db!r} has macros with the names of built-in functions ({listing}), which a view in it would call: drop "
            "or rename them, or write the release to a file."
        )
