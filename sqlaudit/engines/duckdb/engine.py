"""DuckDB: files, frames and DuckDB databases, read in place.

Everything happens in a private in-memory database. A database file is attached to it read-only; files and frames
become views; relations that an audit keeps are in memory, or encrypted in the spill folder, and end with it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from sqlaudit.base.addresses import Whereabouts, whereabouts
from sqlaudit.base.errors import EngineError
from sqlaudit.base.files import expanded, is_file
from sqlaudit.base.names import quote
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import ColumnInfo, Relation, Row, Statement
from sqlaudit.base.spec import Limits, Target
from sqlaudit.engines.contract import Engine, hide_constants, returned_rows
from sqlaudit.engines.duckdb.catalog import Name, find_table, quote_name, unknown_table
from sqlaudit.engines.duckdb.driver import DUCKDB_1, duckdb
from sqlaudit.engines.duckdb.errors import ErrorContext, translate
from sqlaudit.engines.duckdb.open import DuckDBOpener, Readings, database_file
from sqlaudit.engines.duckdb.paths import exists
from sqlaudit.engines.duckdb.session import DIALECT, DuckDBSession, start
from sqlaudit.engines.duckdb.types import as_arrays, columns_of, for_arrays, is_plain, with_zones

T = TypeVar("T")
_SMALL = 64_000
"""Size of files, in bytes, below which a second thread gains nothing, and waking it costs a tenth of the audit."""


_NAMES_IN_PLANS = ("Table", "Type", "Estimated Cardinality")
"""The keys of an operator in a plan that are not expressions."""


def _plan_lines(node: Mapping[str, Any], format_text: Callable[[str], str], indent: str = "") -> Iterator[str]:
    """Yield the lines of an operator and of those that it reads from, which are indented."""
    yield indent + node["name"].strip()
    for name, details in node["extra_info"].items():
        texts = [str(text) for text in details] if isinstance(details, list) else [str(details)]
        yield f"{indent}  {name}: {', '.join(text if name in _NAMES_IN_PLANS else format_text(text) for text in texts)}"
    for child in node["children"]:
        yield from _plan_lines(child, format_text, indent + "  ")


class DuckDBEngine(Engine):
    """An in-memory DuckDB that reads its inputs and changes nothing.

    Args:
        db: a DuckDB database file, None for files and frames.
        limits: the budgets of the whole command.
        targets: everything that will be opened. Files that are not named here have to be opened before the first
            statement runs and before the first query or condition of a user: access is closed then.

    Raises:
        UsageError: no such database file, or a limit that DuckDB does not understand.
        InputError: a file that is not a DuckDB database, or is damaged.
        EngineError: a database that is open for writing elsewhere, or was written by a newer DuckDB.

    Example:
        >>> import pyarrow as pa
        >>> with DuckDBEngine() as engine:
        ...     people = engine.open(Target(frame=pa.table({"age": [34, 34, 51]})))
        ...     engine.run(Statement("rows", "SELECT count(*) FROM " + people.sql))
        [(3,)]
    """

    name = "DuckDB"
    dialect = DIALECT
    can_materialize = True
    own_workbench = True
    numbers_rows = True
    reads_files = True
    own_schema = "main"
    plain_name = r"[A-Za-z_]\w*"

    def __init__(
        self, db: str | Whereabouts | None = None, limits: Limits | None = None, targets: Sequence[Target] = ()
    ) -> None:
        super().__init__(limits)
        address = whereabouts(db) if db else None
        path = database_file(address) if address else None
        self._session = DuckDBSession(self.limits, 1 if address is None and _are_small(targets) else None)
        self._readings = Readings()
        self._opener = DuckDBOpener(self._session, self._readings, self.record)
        with ExitStack() as on_failure:
            on_failure.callback(self.close)
            if address is not None and path is not None:
                self._opener.attach(path, address)
            for target in targets:
                self._opener.announce(target)
            on_failure.pop_all()

    def open(self, target: Target) -> Relation:
        """Resolve a target to a relation: a table as it is, or a view over files, frames, queries and conditions.

        With a database, a relation is a table or view of it, else a file. Without one, a relation is a file or glob,
        and a query reads the files that it names (`FROM 'visits.csv'`), with the target's read options.

        Raises:
            UsageError: no such table or file, a query that is not one SELECT, a condition that is not one expression.
            InputError: a file that cannot be read in its format.
            PermissionDenied: a file that this user may not read, or one that a view reads besides the inputs.
        """
        if target.buckets is not None:
            from sqlaudit.engines.buckets import open_buckets

            return open_buckets(self, target, target.buckets)
        return self.note_remarks(self._opener.open(target))

    def reading_options(self, target: Target) -> frozenset[str]:
        """Return the options of how files are read that a table has: those of the formats of its files."""
        return self._opener.reading_options(target)

    def catalog_tables(self) -> list[tuple[str, str]] | None:
        """Return (schema, name) of the tables and views of the database; None without a database."""
        return self._opener.tables if self._opener.catalog else None

    def run(self, statement: Statement, parameters: Sequence[Any] = ()) -> list[Row]:
        """Return all rows of a statement; `parameters` are its $1, $2, …"""
        return self._run(
            statement, lambda: self._session.fetch(statement.sql, statement.name, list(parameters) or None)
        )

    def stream(self, statement: Statement, batch: int = 10_000) -> Iterator[list[Row]]:
        """Yield the rows of a statement in batches; other statements may run in between."""
        begun, streamed = self._begin(), 0
        with self._readings.unchanged(statement.sql), self._session.cursor() as cursor:
            types = self._session.guarded(statement.name, lambda: start(cursor, statement.sql))
            while rows := self._session.guarded(statement.name, lambda: cursor.fetchmany(batch)):
                streamed += len(rows)
                yield with_zones(rows, types)
        self.record(statement, time.monotonic() - begun, streamed)

    def materialize(self, name: str, statement: Statement) -> Relation:
        """Keep the result of a statement in the in-memory database, replacing an older one of this name."""
        table = self._memory_name(name)
        self._keep(statement, "CREATE OR REPLACE TABLE " + table + " AS\n")
        described = self._session.describe("SELECT * FROM " + table, statement.name)
        return Relation(table, columns_of(described), name)

    def extend(self, name: str, statement: Statement) -> None:
        """Add the result of a statement to the table kept under this name."""
        self._keep(statement, "INSERT INTO " + self._memory_name(name) + "\n")

    def memory(self) -> int:
        """Return the bytes that statements may take before they spill, by DuckDB's own setting."""
        return bytes_of(str(self._session.fetch("SELECT CURRENT_SETTING('memory_limit')", "memory limit")[0][0]))

    def keep_frame(self, name: str, frame: object) -> Relation:
        """Keep an Arrow table, or numpy arrays by name, in the in-memory database, replacing an older relation."""
        arrived = quote(name + "_arrived", DIALECT)
        self._session.register(name + "_arrived", frame)
        try:
            return self.materialize(name, Statement("keep " + name, "SELECT * FROM " + arrived))
        finally:
            self._session.unregister(name + "_arrived")

    def keep_rows(self, name: str, columns: Sequence[tuple[str, str]], batches: Iterable[Sequence[Row]]) -> Relation:
        """Keep rows that come in batches in the in-memory database, replacing an older relation of this name."""
        begun = self._begin()
        table = self._memory_name(name)
        fill = Statement("keep " + name, self._session.fill(table, columns, batches, "keep " + name))
        self.record(fill, time.monotonic() - begun)
        described = self._session.describe("SELECT * FROM " + table, fill.name)
        return Relation(table, columns_of(described), name)

    def drop(self, name: str) -> None:
        """Drop a relation made by `materialize` or `keep_rows`."""
        self._session.fetch("DROP TABLE IF EXISTS " + self._memory_name(name), "drop " + name)

    def columns_as_arrays(self, statement: Statement) -> dict[str, object]:
        """Return the result as one numpy array per column: integers exact at any width, decimals as Decimal objects.

        A column with NULLs is a masked array; integers beyond 64 bits are an array of Python integers.
        """

        def arrays() -> dict[str, object]:
            described = self._session.describe(statement.sql, statement.name)
            names, types = [row[0] for row in described], [row[1] for row in described]
            sql = statement.sql if is_plain(types) else for_arrays(statement.sql, types)
            return as_arrays(self._session.fetch_arrays(sql, statement.name), names, types)

        return self._run(statement, arrays)

    def result_columns(self, statement: Statement) -> tuple[ColumnInfo, ...]:
        """Return the columns of a statement's result with their kinds; the statement is not run."""
        self._begin()
        return columns_of(self._session.describe(statement.sql, statement.name))

    def explain(self, statement: Statement, show_values: bool = False) -> str:
        """Return DuckDB's plan for a statement; the statement is not run."""
        self._begin()
        rows = self._session.fetch("EXPLAIN (FORMAT JSON) " + statement.sql, statement.name)
        format_text = str if show_values else hide_constants
        return "\n".join(line for row in rows for node in json.loads(row[1]) for line in _plan_lines(node, format_text))

    def version(self) -> str:
        """Return the name and version of the engine, such as `DuckDB 2.0.0`."""
        return f"DuckDB {duckdb.__version__}"

    def access(self) -> str:
        """Return what the engine may do. DuckDB has no roles: databases are attached read-only, and files that no one
        named are closed.
        """
        return "read only; only the named files were read" if self._session.files else "read only"

    def cancel(self) -> None:
        """Stop the running statement; safe from any thread. The next statement is not affected."""
        self._session.interrupt()

    def close(self) -> None:
        """Release the connection, and remove kept relations and spilled files; safe to call twice."""
        self._session.close()

    def files(self) -> Sequence[Path]:
        """Return the file of the database and the files that were named."""
        return [Path(file) for file in self._session.files]

    def lasting(self, relation: Relation) -> str:
        """Return a FROM item that means the relation in any session that has the database, or can read the files.

        Raises:
            UsageError: the relation is a frame, which lives in Python alone.
        """
        from sqlaudit.engines.duckdb.queries import lasting

        return lasting(relation.sql, self._opener.views, self._opener.catalog)

    def _begin(self) -> float:
        """Close access to other files, pass on the progress hook, and return the time."""
        self._session.seal()
        self._session.progress = self.progress
        return time.monotonic()

    def _run(self, statement: Statement, work: Callable[[], T], count: Callable[[T], int | None] = returned_rows) -> T:
        """Return what the work of a statement returns, which reads files that must not change; record the statement."""
        begun = self._begin()
        with self._readings.unchanged(statement.sql):
            done = work()
        self.record(statement, time.monotonic() - begun, count(done))
        return done

    def _keep(self, statement: Statement, into: str) -> None:
        """Keep the result of a statement; `into` is the head of the statement that does, which returns a count."""
        self._run(
            statement, lambda: self._session.fetch(into + statement.sql, statement.name), lambda counted: counted[0][0]
        )

    def _memory_name(self, name: str) -> str:
        return self._opener.qualified("main", name) if self._opener.catalog else quote(name, DIALECT)


def bytes_of(size: str) -> int:
    """Return the number of bytes in a size as DuckDB writes it.

    Example:
        >>> bytes_of("953.6 MiB"), bytes_of("512 bytes")
        (999922073, 512)
    """
    number, _, unit = size.partition(" ")
    return int(float(number) * 1024 ** "BKMGT".index(unit[:1].upper() or "B"))


def _are_small(targets: Sequence[Target]) -> bool:
    """Return True if all targets are small files, each under its own name."""
    files = [expanded(target.relation) for target in targets]
    return bool(files) and all(map(is_file, files)) and sum(file.stat().st_size for file in files) <= _SMALL


# Tables behind a connection to DuckDB that the caller has open, read through a session of our own.
#
# Our statements never run over theirs: its settings would change what they mean, and relations that an audit keeps
# would be in its database. Theirs runs one SELECT per target, in a read-only transaction of a cursor of its own, whose
# rows pass into ours in batches.

_THEIRS = "the database of an open connection"
_LOSES_NAN = re.compile("PARQUET" + ("|ARROW" if DUCKDB_1 else ""))
"""Scans in a plan that leave NaN out of filters."""
_THEIR_TABLES = """
SELECT database_name, schema_name, table_name FROM duckdb_tables() WHERE NOT internal
UNION ALL
SELECT database_name, schema_name, view_name FROM duckdb_views() WHERE NOT internal
ORDER BY ALL
"""


class ConnectedDuckDB(DuckDBEngine):
    """A DuckDB of our own beside an open connection, whose database is not changed.

    Args:
        connection: an open connection. Its temporary tables and registered frames can be read as well.
        limits, targets: as for `DuckDBEngine`.

    Raises:
        EngineError: the connection is closed.
    """

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, limits: Limits | None = None, targets: Sequence[Target] = ()
    ) -> None:
        super().__init__(None, limits, [target for target in targets if not target.query])
        self._theirs = connection
        try:
            self._cursor = connection.cursor()
            self._session.watch(self._cursor)
            self._keeps_nan = self._try_setting("SET SESSION parquet_can_have_nan = TRUE")  # since DuckDB 2.0.1
            self._is_locked = not self._keeps_nan and not self._try_setting("PRAGMA enable_optimizer")
            self._cursor.execute("BEGIN TRANSACTION READ ONLY")
            self._seen = self._tables(self._cursor)
        except duckdb.Error:
            self.close()
            raise EngineError(f"The connection of {spelled('db')} is closed, or does not answer.") from None

    def open(self, target: Target) -> Relation:
        """Resolve a target: a table, view or query of the connection, a file, or a frame.

        Raises:
            UsageError: no such table or file, or a query that is not one SELECT.
            EngineError: the connection is busy with a result that was not fetched to its end.
        """
        if target.buckets is not None:
            from sqlaudit.engines.buckets import open_buckets

            return open_buckets(self, target, target.buckets)
        if target.frame is not None:
            return super().open(target)
        if target.query:
            from sqlaudit.base.guard import guard_query

            return self._open_rows(target, self._cursor, guard_query(target.query, DIALECT).sql(dialect=DIALECT))
        name = find_table(target.relation, self._seen, _THEIRS)
        if name is not None:
            return self._open_rows(target, self._cursor, "SELECT * FROM " + quote_name(name))
        # The cursor does not see temporary tables and registered frames, the caller's connection itself does
        unseen = self._unseen_tables()
        name = find_table(target.relation, unseen, _THEIRS)
        if name is not None:
            return self._open_rows(target, self._theirs, "SELECT * FROM " + quote_name(name))
        # No such table, but perhaps a file of that name
        if not exists(target.relation):
            raise unknown_table(target.relation, [*self._seen, *unseen], _THEIRS)
        return super().open(target)

    def reading_options(self, target: Target) -> frozenset[str]:
        """Return the options of how files are read that a table has: none, if the connection has it."""
        is_theirs = target.query or find_table(target.relation, [*self._seen, *self._unseen_tables()], _THEIRS)
        return frozenset() if is_theirs else super().reading_options(target)

    def access(self) -> str:
        """Return what the engine may do, for reports."""
        return "read only, beside an open connection of the caller"

    def _unseen_tables(self) -> list[Name]:
        """Return the tables that the connection sees and its cursor does not: temporary ones, and registered frames."""
        try:
            return [name for name in self._tables(self._theirs) if name not in self._seen]
        except duckdb.Error as error:
            raise translate(error, ErrorContext("open")) from None

    def _open_rows(self, target: Target, connection: duckdb.DuckDBPyConnection, sql: str) -> Relation:
        """Return a relation over a SELECT that a connection runs, opened as a frame."""
        try:
            if connection is self._cursor and not self._keeps_nan:
                self._stop_pushdown(sql)
            their_relation = connection.sql(sql)
        except duckdb.Error as error:
            raise translate(error, ErrorContext("open " + target.name)) from None
        return super().open(replace(target, relation="", query="", frame=their_relation, label=target.name))

    def _try_setting(self, statement: str) -> bool:
        """Return True if the cursor accepts a setting: it exists and is not locked."""
        with suppress(duckdb.Error):
            self._cursor.execute(statement)
            return True
        return False

    def _stop_pushdown(self, sql: str) -> None:
        """Turn off the optimizer of the cursor if this statement has a scan that leaves NaN out of filters.

        Raises:
            EngineError: the configuration is locked.
        """
        if self._is_locked:
            texts = [sql, *(row[0] for row in self._cursor.sql("SELECT sql FROM duckdb_views()").fetchall())]
            if any("parquet" in text.lower() for text in texts):
                raise EngineError(
                    f"The configuration of {spelled('db')} is locked, and its queries may leave NaN out of filters "
                    "over Parquet. Audit the file itself, or use a connection that is not locked."
                )
            return
        self._cursor.execute("PRAGMA disable_optimizer")  # a plan without it has all scans
        self._keeps_nan = bool(_LOSES_NAN.search(self._cursor.sql(sql).explain()))
        if not self._keeps_nan:
            self._cursor.execute("PRAGMA enable_optimizer")

    @staticmethod
    def _tables(connection: duckdb.DuckDBPyConnection) -> list[Name]:
        return [(row[0], row[1], row[2]) for row in connection.sql(_THEIR_TABLES).fetchall()]
