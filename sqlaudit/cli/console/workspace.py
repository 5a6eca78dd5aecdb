"""The workspace of a console: one read-only connection, named files, and the names of the catalog.

An engine closes access to all other files before the first statement runs. When another file is named later, the
console opens a new engine that may read this file, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from sqlglot import exp

from sqlaudit.base.errors import SqlauditError, UsageError
from sqlaudit.base.guard import NotASelect, guard_expression, guard_query
from sqlaudit.base.names import quote
from sqlaudit.base.relation import ColumnInfo, Relation, Row, Statement
from sqlaudit.base.spec import Limits, Reading, Target
from sqlaudit.base.sql import render
from sqlaudit.engines import check_reading, connect
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.duckdb.paths import exists
from sqlaudit.engines.writing import files_read, refuse_overwriting
from sqlaudit.gates.proposal import tables_of

MOST_COLUMNS = 20_000
"""Number of columns of a catalog that are read for completion."""
_SELECT_STAR_PARTS = {"expressions", "from_", "where"}
_TABLE_NAME_PARTS = {"this", "db", "catalog", "alias"}


@dataclass(frozen=True)
class Rows:
    """The result of a SELECT: its columns, and its rows in batches, which are read once."""

    columns: tuple[ColumnInfo, ...]
    batches: Iterator[list[Row]]


class Workspace:
    """The database, files and frames of a console.

    Args:
        db: a DuckDB file or PostgreSQL URL, None for files alone.
        limits: memory, threads and where to spill; a timeout is the console's business.
        read: how files are read, each with the options of its format.

    Raises:
        SqlauditError: whatever `connect` raises.

    Example:
        >>> with Workspace() as workspace:
        ...     rows = workspace.rows(workspace.query("SELECT 1 AS one, 'a' AS letter"), None)
        ...     [column.name for column in rows.columns], list(rows.batches)
        (['one', 'letter'], [[(1, 'a')]])
    """

    def __init__(self, db: str | None = None, limits: Limits | None = None, read: Reading | None = None) -> None:
        self.db, self._limits, self._read = db, limits or Limits(), read or Reading()
        self.files: dict[str, str] = {}
        """The files that can be named like tables, by that name."""
        self._is_checked = False
        self._announced: list[Target] = []
        self._tables: list[str] | None = None
        self._columns: dict[str, list[str]] | None = None
        self.engine: Engine = connect(db, self._limits)

    @property
    def dialect(self) -> str:
        """Return the sqlglot name of the database's dialect."""
        return self.engine.dialect

    @property
    def _announces_files(self) -> bool:
        """Return True if files that a query names have to be announced to the engine before they are read."""
        return self.engine.reads_files and not self.engine.finds_files

    def short_name(self, path: str) -> str | None:
        """Return the name by which a file can be named like a table, None if it has none."""
        return next((name for name, file in self.files.items() if file == path), None)

    def target(self, written: str) -> Target:
        """Return the table or file of this name. A file becomes readable."""
        name = written.strip()
        if len(name) > 1 and name[0] == name[-1] == "'":
            name = name[1:-1].replace("''", "'")
        path = self.files.get(name.casefold())
        if path is not None and not self._is_table(name):
            return self._file(path)
        if not self.engine.reads_files or self._is_table(name) or not exists(name):
            return Target(relation=name)
        return replace(self._file(name), shared=frozenset()) if self.engine.finds_files else self._allow(name)

    def check_not_read(self, path: Path) -> None:
        """Raise UsageError if the console reads this file, which then must not be written.

        Raises:
            UsageError: the console reads it.
        """
        refuse_overwriting([path], files_read(self.db, self._announced))

    def check_reading(self) -> None:
        """Check what was said of how files are read, now that all files of the start are known, and from now on.

        Raises:
            UsageError: options of a file that is not there, or that no file takes.
        """
        if self._read.options.given and not self.engine.reads_files:
            raise UsageError(f"Options for reading files do not apply to {self.engine.name}.")
        check_reading(self.engine, self._announced, self._read)
        self._is_checked = True

    def query(self, text: str) -> Target:
        """Return a SELECT as a target. The files that it names become readable.

        Raises:
            UsageError: it is not one SELECT that only reads.
        """
        try:
            root = guard_query(text, self.dialect)
        except NotASelect as error:
            raise UsageError(f"The console only reads, but this is {error.what}.") from None
        restricted = self._restricted(root)
        if restricted is not None:
            return restricted
        if not self._announces_files:
            return Target(query=text)
        from sqlaudit.engines.duckdb.queries import named_tables

        reads_files, changed = False, False
        for table in named_tables(root):
            if table.db or self._is_table(table.name):
                continue
            path = self.files.get(table.name.casefold())
            if path is not None:
                # A file in the place of its short name, which becomes its alias
                if not table.alias:
                    table.set("alias", exp.TableAlias(this=table.this.copy()))
                table.set("this", exp.to_identifier(path, quoted=True))
                reads_files = changed = True
            elif (table.this.quoted or not self.db) and exists(table.name):
                self._allow(table.name)
                reads_files = True
        sql = root.sql(dialect=self.dialect, comments=False) if changed else text
        return self._read.table(Target(query=sql)) if reads_files else Target(query=sql)

    def _restricted(self, root: exp.Query) -> Target | None:
        """Return `SELECT * FROM table WHERE condition` as that table with its condition, which keeps its name in
        reports.
        """
        table = _only_table(root)
        if table is None:
            return None
        where = root.args.get("where")
        condition = where.this.sql(dialect=self.dialect, comments=False) if where is not None else ""
        try:
            if condition:
                guard_expression(condition, self.dialect, "WHERE")
        except UsageError:  # a subquery, which a condition may not have
            return None
        parts = [part.name if part.args.get("quoted") else self.engine.folded(part.name) for part in table.parts]
        may_be_file = len(parts) == 1 and self._announces_files and not self._is_table(parts[0])
        name = parts[0] if may_be_file else ".".join(quote(part, "duckdb") for part in parts)
        return replace(self.target(name), where=condition)

    def describe(self, target: Target) -> Relation:
        """Return a target with its columns."""
        relation = self.engine.open(target)
        columns_of_table = self.columns()
        if target.relation and relation.label not in columns_of_table:
            columns_of_table[self.short_name(target.relation) or target.relation] = [
                column.name for column in relation.columns
            ]
        return relation

    def rows(self, target: Target, limit: int | None) -> Rows:
        """Return the rows of a target, all or the first ones.

        Raises:
            SqlauditError: as `Engine.open`. Errors while rows are read are raised by the iterator.
        """
        relation = self.engine.open(target)
        return Rows(relation.columns, self.engine.stream(self._all_of(relation, limit)))

    def plan(self, target: Target, show_values: bool) -> str:
        """Return the database's plan for reading a target, with constants if values are shown."""
        return self.engine.explain(self._all_of(self.engine.open(target), None), show_values)

    def _all_of(self, relation: Relation, limit: int | None) -> Statement:
        return render("cli/console/rows.sql", self.dialect, step="rows", source=relation, limit=limit)

    def tables(self) -> list[str]:
        """Return the names for a FROM clause: tables and views of the database, and files by their short names."""
        if self._tables is None:
            self._tables = tables_of(self.engine) if self.db else []
        return [*self._tables, *self.files]

    def columns(self) -> dict[str, list[str]]:
        """Return the columns of each table of the catalog, and of described files, for completion."""
        if self._columns is None:
            self._columns = {}
            if self.db:
                rows = self.engine.catalog_columns(MOST_COLUMNS)
                if rows is None:
                    rows = self.engine.run(render("cli/console/columns.sql", self.dialect, limit=MOST_COLUMNS))
                for _, table, column in rows:
                    self._columns.setdefault(table, []).append(column)
        return self._columns

    def refresh(self) -> None:
        """Connect again. PostgreSQL shows the state of its data at the time of connecting.

        Raises:
            SqlauditError: whatever `connect` raises. Then the old connection stays.
        """
        # What was said of how they are read is checked apart, as files are named one after another
        announced = (replace(target, shared=frozenset(), reading=None) for target in self._announced)
        engine = connect(self.db, self._limits, *announced)
        self.engine.close()
        self.engine, self._tables = engine, None
        files = {name: columns for name, columns in self.columns().items() if name in self.files}
        self._columns = None
        self.columns().update(files)

    def is_alive(self) -> bool:
        """Return True if the connection still answers."""
        try:
            self.engine.run(render("cli/console/alive.sql", self.dialect))
        except SqlauditError:
            return False
        return True

    def close(self) -> None:
        """Release the connection."""
        self.engine.close()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _is_table(self, name: str) -> bool:
        if not self.db:
            return False
        folded = _unquoted(name).casefold()
        self.tables()
        names = [_unquoted(table).casefold() for table in self._tables or ()]
        return any(folded in (table, table.rpartition(".")[2]) for table in names)

    def _file(self, path: str) -> Target:
        """Return a file as a target, read with the options of its format."""
        return self._read.table(Target(relation=path))

    def _allow(self, path: str) -> Target:
        """Return the file as a target. It is readable from now on, also under a short name."""
        target = self._file(path)
        if target not in self._announced:
            if self._is_checked:
                check_reading(self.engine, [*self._announced, target], self._read)
            self._announced.append(target)
            short = Path(path).name.split(".")[0]
            if short.isidentifier():
                self.files.setdefault(short.casefold(), path)
            self.refresh()
            self.describe(target)
        return target


def _only_table(root: exp.Query) -> exp.Table | None:
    """Return the table of a query that selects every column of one table, perhaps with a condition. Otherwise None."""
    parts = {key for key, value in root.args.items() if value}
    if not isinstance(root, exp.Select) or parts - _SELECT_STAR_PARTS or "from_" not in parts or not root.expressions:
        return None
    (column, *further), table = root.expressions, root.args["from_"].this
    if further or not isinstance(column, exp.Star) or any(column.args.values()) or not isinstance(table, exp.Table):
        return None
    plain = isinstance(table.this, exp.Identifier) and not {k for k, v in table.args.items() if v} - _TABLE_NAME_PARTS
    qualified = any(column.table for column in root.find_all(exp.Column))
    return table if plain and not qualified else None


def _unquoted(name: str) -> str:
    """Return the name of a table without the quotes of any dialect."""
    return name.replace('"', "").replace("`", "")
