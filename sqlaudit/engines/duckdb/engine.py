"""DuckDB: files, frames and DuckDB databases, read in place.

Everything happens in a private in-memory database. A database file is attached to it read-only; files and frames
become views; what an audit keeps for a while lies in memory, or encrypted in the spill folder, and goes away with it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from sqlaudit.base.errors import InputError, PermissionDenied, UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.paths import exists as lies_there
from sqlaudit.base.paths import is_file, stamp
from sqlaudit.base.relation import ColumnInfo, Relation, Remark, Row, Statement
from sqlaudit.base.spec import Limits, Target
from sqlaudit.base.whereabouts import Whereabouts, whereabouts
from sqlaudit.base.words import about, spelled
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.duckdb.catalog import UNNAMED, Name, alias_for, find, relations, unknown
from sqlaudit.engines.duckdb.catalog import spelled as in_sql
from sqlaudit.engines.duckdb.inputs import InputSource, file_source, frame_source, refuse_read_options, refuse_twins
from sqlaudit.engines.duckdb.paths import Files, exists, find_files, looks_like_path
from sqlaudit.engines.duckdb.readings import Readings
from sqlaudit.engines.duckdb.session import DIALECT, INPUTS, MEMORY, DuckDBSession, types_of
from sqlaudit.engines.duckdb.types import (
    as_arrays,
    columns_of,
    for_arrays,
    has_zoned,
    is_plain,
    with_zones,
    without_zones,
)
from sqlaudit.engines.duckdb.wal import refuse_unread_log

if TYPE_CHECKING:
    from sqlglot import exp


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
        place = whereabouts(db) if db else None
        path = _database(place) if place else None
        self._session = DuckDBSession(self.limits)
        self._db = place.label if place else ""
        self._secret = place is not None and place.file is None
        self._catalog = ""
        self._known: list[Name] = []
        self._opened: list[str] = []
        self._views: dict[str, str] = {}
        self._readings = Readings()
        with ExitStack() as on_failure:
            on_failure.callback(self.close)
            if path is not None:
                self._attach(path)
            for target in targets:
                self._announce(target)
            on_failure.pop_all()

    def open(self, target: Target) -> Relation:
        """Resolve a target to a relation: a table as it is, or a view over files, frames, queries and conditions.

        With a database, a relation is a table or view of it, else a file. Without one, a relation is a file or glob,
        and a query reads the files that it names (`FROM 'visits.csv'`), with the target's read options.

        Raises:
            UsageError: no such table or file, a query that is not one SELECT, a condition that is not one expression.
            InputError: a file that can't be read as what it is.
            PermissionDenied: a file that this user may not read, or one that a view reads besides the inputs.
        """
        source = self._source(target)
        condition = _condition(target.where) if target.where else None
        described = self._session.describe("SELECT * FROM " + source.sql, "open " + target.name)
        refuse_twins(source.names, described, target.name)
        self._session.columns[target.relation or target.name] = {row[0]: row[1] for row in described}
        direct = condition is None and source.sql.startswith('"')
        sql = source.sql if direct else self._view(target, source, condition)
        columns = columns_of(described)
        remarks = source.remarks if condition is None else (*source.remarks, *_remarks(condition, columns))
        return Relation(sql, columns, target.name, source.tables, source.parsed, remarks=remarks)

    def run(self, statement: Statement, parameters: Sequence[Any] = ()) -> list[Row]:
        """All rows of a statement; `parameters` stand in it as $1, $2, …"""
        begun = self._begin()
        with self._readings.unchanged(statement.sql):
            rows = self._session.fetch(statement.sql, statement.name, list(parameters) or None)
        self.record(statement, time.monotonic() - begun)
        return rows

    def stream(self, statement: Statement, batch: int = 10_000) -> Iterator[list[Row]]:
        """The rows of a statement in batches; other statements may run in between."""
        begun = self._begin()
        cursor = self._session.cursor()
        try:
            with self._readings.unchanged(statement.sql):
                types = self._session.guarded(statement.name, lambda: _start(cursor, statement.sql))
                while rows := self._session.guarded(statement.name, lambda: cursor.fetchmany(batch)):
                    yield with_zones(rows, types) if has_zoned(types) else rows
        finally:
            self._session.release(cursor)
        self.record(statement, time.monotonic() - begun)

    def materialize(self, name: str, statement: Statement) -> Relation:
        """Keep the result of a statement in the in-memory database, replacing an older one of this name."""
        begun = self._begin()
        kept = self._in_memory(name)
        with self._readings.unchanged(statement.sql):
            self._session.fetch("CREATE OR REPLACE TABLE " + kept + " AS\n" + statement.sql, statement.name)
        self.record(statement, time.monotonic() - begun)
        described = self._session.describe("SELECT * FROM " + kept, statement.name)
        return Relation(kept, columns_of(described), name)

    def keep_arrow(self, name: str, table: Any) -> Relation:
        """Keep an Arrow table in the in-memory database, replacing an older relation of this name."""
        arrived = quote(name + "_arrived", DIALECT)
        self._session.register(name + "_arrived", table)
        try:
            return self.materialize(name, Statement("keep " + name, "SELECT * FROM " + arrived))
        finally:
            self._session.unregister(name + "_arrived")

    def keep_rows(self, name: str, columns: Sequence[tuple[str, str]], batches: Iterable[Sequence[Row]]) -> Relation:
        """Keep rows that come in batches in the in-memory database, replacing an older relation of this name."""
        begun = self._begin()
        kept = self._in_memory(name)
        listed = ", ".join(quote(column, DIALECT) + " " + spelled for column, spelled in columns)
        self._session.fetch("CREATE OR REPLACE TABLE " + kept + " (" + listed + ")", "keep " + name)
        lists = [f"CAST(UNNEST(${place}) AS {spelled})" for place, (_, spelled) in enumerate(columns, 1)]
        fill = Statement("keep " + name, "INSERT INTO " + kept + " SELECT " + ", ".join(lists))
        for batch in batches:
            if batch:
                self._session.fetch(fill.sql, fill.name, [list(values) for values in zip(*batch, strict=True)])
        self.record(fill, time.monotonic() - begun)
        described = self._session.describe("SELECT * FROM " + kept, fill.name)
        return Relation(kept, columns_of(described), name)

    def drop(self, name: str) -> None:
        """Drop a relation made by `materialize` or `keep_rows`."""
        self._session.fetch("DROP TABLE IF EXISTS " + self._in_memory(name), "drop " + name)

    def columns_as_arrays(self, statement: Statement) -> dict[str, Any]:
        """The result as one numpy array a column: integers exact at any width, decimals as Decimal objects.

        A column with NULLs is a masked array; integers beyond 64 bits are an array of Python integers.
        """
        begun = self._begin()
        described = self._session.describe(statement.sql, statement.name)
        names, types = [row[0] for row in described], [row[1] for row in described]
        sql = statement.sql if is_plain(types) else for_arrays(statement.sql, types)
        with self._readings.unchanged(sql):
            arrays = as_arrays(self._session.fetch_arrays(sql, statement.name), names, types)
        self.record(statement, time.monotonic() - begun)
        return arrays

    def result_names(self, statement: Statement) -> Sequence[str]:
        """The column names of a statement's result; the statement is not run."""
        return [row[0] for row in self._session.describe(statement.sql, statement.name)]

    def result_columns(self, statement: Statement) -> tuple[ColumnInfo, ...]:
        """The columns of a statement's result with their kinds; the statement is not run."""
        self._begin()
        return columns_of(self._session.describe(statement.sql, statement.name))

    def explain(self, statement: Statement) -> str:
        """DuckDB's plan for a statement; the statement is not run."""
        self._begin()
        return "\n".join(str(row[1]) for row in self._session.fetch("EXPLAIN " + statement.sql, statement.name))

    def version(self) -> str:
        """For instance `DuckDB 2.0.0`."""
        return f"DuckDB {duckdb.__version__}"

    def access(self) -> str:
        """DuckDB has no roles: databases are attached read-only, and files that nobody named are closed."""
        return "read only; no file but those that were named"

    def cancel(self) -> None:
        """Stop the running statement; safe from any thread. What runs next is not affected."""
        self._session.interrupt()

    def close(self) -> None:
        """Release the connection, and remove what was kept and spilled; safe to call twice."""
        self._session.close()

    def files(self) -> Sequence[Path]:
        """The database's file and those that were named."""
        return [Path(file) for file in self._session.files]

    def lasting(self, relation: Relation) -> str:
        """A FROM item that means the relation in any session that has the database, or can read the files.

        Raises:
            UsageError: the relation is a frame, which lives in Python alone.
        """
        from sqlaudit.engines.duckdb.lasting import lasting

        return lasting(relation.sql, self._views, self._catalog)

    def _begin(self) -> float:
        self._session.seal()
        self._session.progress = self.progress
        return time.monotonic()

    def _attach(self, path: Path) -> None:
        alias = UNNAMED if self._secret else alias_for(path)  # statements are shown, and hold this name
        path = path.resolve()  # DuckDB looks for the log beside the name it is given, and a link has none
        self._session.attach(path, alias, self._db)
        refuse_unread_log(path, self._db)  # now that nobody else may write
        self._catalog = alias
        self._known = relations(self._session.fetch, alias)

    def _announce(self, target: Target) -> None:
        """Allow the files of a target before access is closed; what is wrong with it is said when it is opened."""
        names = [target.relation] if target.relation else []
        if target.query:
            from sqlaudit.engines.duckdb.queries import files_named

            names = files_named(target.query)
        for name in names:
            if self._table(name) is None and exists(name):
                self._allow(find_files(name, target.read.format))

    def _allow(self, files: Files) -> Files:
        self._session.allow((path, files.label) for path in files.paths)
        return files

    def _source(self, target: Target) -> InputSource:
        if target.query:
            return self._query(target)
        if target.frame is not None:
            refuse_read_options(target.read, "a frame")
            return frame_source(self._session, target.frame, self._fresh("sqlaudit_frame"))
        table = self._table(target.relation)
        if table is not None:
            refuse_read_options(target.read, "a table of a database")
            self._session.seal()  # a view may read files
            return InputSource(in_sql(table), (), (f"{table[1]}.{table[2]}",))
        return self._file(target.relation, target)

    def _table(self, name: str) -> Name | None:
        """The table or view of the database that a text names; none when it can only be a file's name."""
        if not self._catalog or (exists(name) and looks_like_path(name)):
            return next((known for known in self._known if known[2] == name), None)
        return find(name, self._known, self._db)

    def _file(self, name: str, target: Target) -> InputSource:
        if self._catalog and not exists(name):
            raise unknown(name, self._known, self._db)
        if not lies_there(name) and not looks_like_path(name):
            raise UsageError(f"There is no file {name!r}; for a table, name its database with {spelled('db')}.")
        files = self._allow(find_files(name, target.read.format))
        stamped = [(path, stamp(path), files.label) for path in files.paths]
        source = file_source(self._session, files, target.read, self._fresh("sqlaudit_frame"))
        self._readings.note(source.sql, stamped)
        return source

    def _query(self, target: Target) -> InputSource:
        """The query with the files it names replaced by views over them."""
        from sqlaudit.base.guard import guard_query
        from sqlaudit.engines.duckdb.queries import named_tables, put_in_full, put_view

        root = guard_query(target.query, DIALECT)
        tables: list[str] = []
        remarks: list[Remark] = []
        parsed = False
        for table in named_tables(root):
            known = find(".".join(quote(part.name, DIALECT) for part in table.parts), self._known, self._db)
            if known is not None:
                tables.append(f"{known[1]}.{known[2]}")
                put_in_full(table, known)
            elif not table.db and (table.this.quoted or not self._catalog):
                tables.append(table.name)
                file = self.open(Target(relation=table.name, read=target.read))
                put_view(table, file.sql)
                parsed = parsed or file.parsed
                remarks += file.remarks
        if set(tables) <= {f"{schema}.{name}" for _, schema, name in self._known}:
            refuse_read_options(target.read, "a query that reads no file")
        self._session.seal()
        sql = root.sql(dialect=DIALECT)
        names = tuple(row[0] for row in self._session.describe(sql, "query"))
        return InputSource("(" + sql + ")", names, tuple(dict.fromkeys(tables)), parsed, tuple(dict.fromkeys(remarks)))

    def _view(self, target: Target, source: InputSource, condition: exp.Expression | None) -> str:
        view = self._qualified(INPUTS, self._fresh(_stem(target)))
        body = "SELECT * FROM " + source.sql
        if condition is not None:
            self._session.seal()
            body += " WHERE " + condition.sql(dialect=DIALECT)
        self._views[view] = body
        self._readings.view(view, body)
        statement = Statement("open", "CREATE VIEW " + view + " AS " + body)
        begun = time.monotonic()
        self._session.fetch(statement.sql, "open " + target.name)
        self.record(statement, time.monotonic() - begun)
        return view

    def _fresh(self, stem: str) -> str:
        """A name that no view has yet."""
        taken = self._opened.count(stem.lower())
        self._opened.append(stem.lower())
        return self._fresh(f"{stem}_{taken + 1}") if taken else stem

    def _in_memory(self, name: str) -> str:
        return self._qualified("main", name) if self._catalog else quote(name, DIALECT)

    def _qualified(self, schema: str, name: str) -> str:
        parts = (MEMORY, schema, name) if self._catalog else (schema, name)
        return ".".join(quote(part, DIALECT) for part in parts)


def _condition(text: str) -> exp.Expression:
    """What `--where` says; the guard's parser is imported only when there is one."""
    from sqlaudit.base.guard import guard_expression

    return guard_expression(text, DIALECT, about("where"))


def _remarks(condition: exp.Expression, columns: Sequence[ColumnInfo]) -> tuple[Remark, ...]:
    from sqlaudit.base.division import condition_remarks

    return condition_remarks(condition, columns, DIALECT)


def _stem(target: Target) -> str:
    """What a view is called: as the file or table, where that has a plain name."""
    if not target.relation:
        return "query" if target.query else "frame"
    stem = Path(target.relation).name.split(".")[0]
    return stem if stem and not any(c in stem for c in '*?[]"') else "target"


def _start(cursor: duckdb.DuckDBPyConnection, sql: str) -> list[str]:
    """Start a statement on a cursor, and return the types of its columns."""
    types = types_of(cursor.execute(sql))
    if has_zoned(types):
        cursor.execute(without_zones(sql, types))
    return types


def _database(place: Whereabouts) -> Path:
    path = Path(place.text)
    if not lies_there(path):
        raise UsageError(f"There is no database file {place.named}.")
    if not is_file(path):
        raise UsageError(f"The database {place.named} is a folder, not a file.")
    try:
        with path.open("rb") as file:
            start = file.read(12)
    except PermissionError:
        raise PermissionDenied(f"{place.subject} may not be read by this user.") from None
    if start[8:] != b"DUCK":
        raise InputError(f"{place.subject} is not a DuckDB database.")
    return path.absolute()
