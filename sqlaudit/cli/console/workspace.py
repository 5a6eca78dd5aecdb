"""What a console works on: one read-only connection, the files that were named, and what the catalog knows.

An engine closes access to all other files before the first statement runs. When somebody names another file later,
the console opens a new engine that may read this one, too; nothing of the old one was kept.
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
from sqlaudit.base.spec import Limits, ReadOptions, Target
from sqlaudit.base.sql import render
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.duckdb.paths import exists
from sqlaudit.engines.writing import files_read, refuse_overwriting
from sqlaudit.gates.proposal import tables_of

MOST_COLUMNS = 20_000
"""So many columns of a catalog are read for completion."""
_WHOLE_ROWS = {"expressions", "from_", "where"}
_A_NAME = {"this", "db", "catalog", "alias"}


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
        read: how files are read.

    Raises:
        SqlauditError: whatever `connect` raises.

    Example:
        >>> with Workspace() as workspace:
        ...     rows = workspace.rows(workspace.query("SELECT 1 AS one, 'a' AS letter"), None)
        ...     [column.name for column in rows.columns], list(rows.batches)
        (['one', 'letter'], [[(1, 'a')]])
    """

    def __init__(self, db: str | None = None, limits: Limits | None = None, read: ReadOptions | None = None) -> None:
        self.db, self._limits, self._read = db, limits or Limits(), read or ReadOptions()
        self.files: dict[str, str] = {}
        """The files that can be named like tables, by that name."""
        self._announced: list[Target] = []
        self._tables: list[str] | None = None
        self._columns: dict[str, list[str]] | None = None
        self.engine: Engine = connect(db, self._limits)

    @property
    def dialect(self) -> str:
        """The sqlglot name of the database's dialect."""
        return self.engine.dialect

    @property
    def _announces_files(self) -> bool:
        """Whether a query names files, which have to be announced before they are read."""
        return self.engine.reads_files and not self.engine.finds_files

    def short_name(self, path: str) -> str | None:
        """How a file can be named like a table, None when it cannot."""
        return next((name for name, file in self.files.items() if file == path), None)

    def target(self, written: str) -> Target:
        """The table or file that somebody means by a name; a file becomes readable."""
        name = written.strip()
        if len(name) > 1 and name[0] == name[-1] == "'":
            name = name[1:-1].replace("''", "'")
        path = self.files.get(name.casefold())
        if path is not None and not self._is_table(name):
            return Target(relation=path, read=self._read)
        if not self.engine.reads_files or self._is_table(name) or not exists(name):
            return Target(relation=name)
        return Target(relation=name, read=self._read) if self.engine.finds_files else self._allow(name)

    def keep(self, path: Path) -> None:
        """Nothing when a file may be written; what the console reads stays as it is.

        Raises:
            UsageError: it is read.
        """
        refuse_overwriting([path], files_read(self.db, self._announced))

    def query(self, text: str) -> Target:
        """A SELECT as a target; the files that it names become readable.

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
        return Target(query=sql, read=self._read if reads_files else ReadOptions())

    def _restricted(self, root: exp.Query) -> Target | None:
        """`SELECT * FROM table WHERE condition` as that table with its condition, which keeps its name in reports."""
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
        """The columns of a target."""
        relation = self.engine.open(target)
        known = self.columns()
        if target.relation and relation.label not in known:
            known[self.short_name(target.relation) or target.relation] = [column.name for column in relation.columns]
        return relation

    def rows(self, target: Target, limit: int | None) -> Rows:
        """The rows of a target, all or the first ones.

        Raises:
            SqlauditError: as `Engine.open`; what goes wrong while rows are read is raised by the iterator.
        """
        relation = self.engine.open(target)
        return Rows(relation.columns, self.engine.stream(self._all_of(relation, limit)))

    def plan(self, target: Target, show_values: bool) -> str:
        """Return the database's plan for reading a target, with constants if values are shown."""
        return self.engine.explain(self._all_of(self.engine.open(target), None), show_values)

    def _all_of(self, relation: Relation, limit: int | None) -> Statement:
        return render("cli/console/rows.sql", self.dialect, step="rows", source=relation, limit=limit)

    def tables(self) -> list[str]:
        """What can be named in a FROM clause: tables and views of the database, and files by their short names."""
        if self._tables is None:
            self._tables = tables_of(self.engine) if self.db else []
        return [*self._tables, *self.files]

    def columns(self) -> dict[str, list[str]]:
        """The columns of each table that is known, for completion."""
        if self._columns is None:
            self._columns = {}
            if self.db:
                known = self.engine.catalog_columns(MOST_COLUMNS)
                if known is None:
                    known = self.engine.run(render("cli/console/columns.sql", self.dialect, limit=MOST_COLUMNS))
                for _, table, column in known:
                    self._columns.setdefault(table, []).append(column)
        return self._columns

    def refresh(self) -> None:
        """Connect again: PostgreSQL shows the state of its data at the time of connecting.

        Raises:
            SqlauditError: whatever `connect` raises; the old connection stays then.
        """
        engine = connect(self.db, self._limits, *self._announced)
        self.engine.close()
        self.engine, self._tables = engine, None
        files = {name: columns for name, columns in self.columns().items() if name in self.files}
        self._columns = None
        self.columns().update(files)

    def is_alive(self) -> bool:
        """Whether the connection still answers."""
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
        folded = _bare(name).casefold()
        self.tables()
        known = [_bare(table).casefold() for table in self._tables or ()]
        return any(folded in (table, table.rpartition(".")[2]) for table in known)

    def _allow(self, path: str) -> Target:
        """The file as a target, readable from now on, also under a short name."""
        target = Target(relation=path, read=self._read)
        if target not in self._announced:
            self._announced.append(target)
            short = Path(path).name.split(".")[0]
            if short.isidentifier():
                self.files.setdefault(short.casefold(), path)
            self.refresh()
            self.describe(target)
        return target


def _only_table(root: exp.Query) -> exp.Table | None:
    """The table of which a query selects every column, and nothing else than perhaps a condition."""
    given = {key for key, value in root.args.items() if value}
    if not isinstance(root, exp.Select) or given - _WHOLE_ROWS or "from_" not in given or not root.expressions:
        return None
    (column, *others), table = root.expressions, root.args["from_"].this
    if others or not isinstance(column, exp.Star) or any(column.args.values()) or not isinstance(table, exp.Table):
        return None
    plain = isinstance(table.this, exp.Identifier) and not {k for k, v in table.args.items() if v} - _A_NAME
    qualified = any(column.table for column in root.find_all(exp.Column))
    return table if plain and not qualified else None


def _bare(name: str) -> str:
    """The name of a table without the quotes of any dialect."""
    return name.replace('"', "").replace("`", "")
