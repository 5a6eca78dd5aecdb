"""From a target to what DuckDB reads: a table as it is, or a view over files, frames, queries and conditions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from sqlaudit.base.addresses import Whereabouts
from sqlaudit.base.errors import InputError, PermissionDenied, SqlauditError, UsageError
from sqlaudit.base.files import Stamp, is_file, is_sqlite, stamp
from sqlaudit.base.files import exists as lies_there
from sqlaudit.base.names import quote
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import MissingCodes, Relation, Remark, Row, Statement
from sqlaudit.base.spec import Target
from sqlaudit.base.sql import Raw, expression
from sqlaudit.engines.duckdb.catalog import (
    COLLATIONS,
    MACROS,
    RELATIONS,
    UNNAMED,
    VIEWS,
    Name,
    alias_for,
    find_table,
    in_sql,
    unknown_table,
)
from sqlaudit.engines.duckdb.driver import DUCKDB_1
from sqlaudit.engines.duckdb.inputs import InputSource, file_source, frame_source, refuse_read_options, refuse_twins
from sqlaudit.engines.duckdb.paths import PACKED, Files, exists, find_files, looks_like_path
from sqlaudit.engines.duckdb.session import DIALECT, INPUTS, MEMORY, DuckDBSession, refuse_unread_log
from sqlaudit.engines.duckdb.types import columns_of

if TYPE_CHECKING:
    from sqlglot import exp


# Files that change while they are read: which files stand behind a FROM item, and what they were when it was made.
#
# DuckDB reads a file anew with every statement, so a file that is replaced in the middle of an audit would give figures
# of two tables, mixed. A database file is locked instead, and rows that were copied to memory are read once.


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
                    f"{label!r} was changed while it was read, so its figures are mixed. Try again, or audit a copy."
                ) from None

    def _behind(self, sql: str) -> dict[Path, tuple[Stamp | None, str]]:
        """The files of all known items that a text names; the names are ours, or whole calls with quoted paths."""
        known = (files.items() for item, files in self._files.items() if item in sql)
        return dict(chain.from_iterable(known))


class DuckDBOpener:
    """The database, files, frames and queries of one session.

    Args:
        session: where they become relations. readings: notes what files were when they were read.
        record: notes a statement with its seconds.
    """

    def __init__(self, session: DuckDBSession, readings: Readings, record: Callable[[Statement, float], None]) -> None:
        self._session = session
        self._readings = readings
        self._record = record
        self._db = ""
        self._known: list[Name] = []
        self._opened: list[str] = []
        self.catalog = ""
        """What the attached database is called, empty without one."""
        self._collates = False
        self._copy: Callable[[Name], None] = lambda name: None
        self.views: dict[str, str] = {}
        """Every view that was made, with its SELECT."""

    def open(self, target: Target) -> Relation:
        """As `DuckDBEngine.open` says."""
        source = self._source(target)
        condition = None
        if target.where:
            from sqlaudit.base.guard import condition_remarks, guard_expression

            condition = guard_expression(target.where, DIALECT, about("where"))
        described = self._session.describe("SELECT * FROM " + source.sql, "open " + target.name)
        refuse_twins(source.names, described, target.name)
        if source.loses_nan and any("FLOAT" in row[1] or "DOUBLE" in row[1] for row in described):
            self._session.stop_pushdown()
        self._session.columns[target.relation or target.name] = {row[0]: row[1] for row in described}
        respelled: tuple[str, ...] = ()
        if self._collates or "collate" in target.query.lower():
            respelled = find_respelled(self._session, source.sql, described, "open " + target.name)
        if condition is not None and source.missing:
            condition = _without_codes(condition, source.missing)
        direct = condition is None and source.sql.startswith('"') and not respelled
        sql = source.sql if direct else self._view(target, source, condition, respelled)
        columns = columns_of(described)
        remarks = source.remarks
        if condition is not None:
            remarks += condition_remarks(condition, columns, DIALECT)
        return Relation(
            sql,
            columns,
            target.name,
            source.tables,
            source.parsed,
            remarks=remarks,
            respelled=respelled,
            written=self._written(target, source),
            sampled=source.sampled,
            missing=source.missing,
        )

    def attach(self, path: Path, place: Whereabouts) -> None:
        """Attach the database that is audited, read-only, and note its tables."""
        alias = alias_for(path) if place.file is not None else UNNAMED  # statements are shown, and hold this name
        self._db = place.label
        path = path.resolve()  # a log lies beside the file itself, and not beside a link to it
        if is_sqlite(path):
            from sqlaudit.engines.duckdb.sqlite import SqliteFile

            source = SqliteFile(path, self._db, alias, self._session)
            self.catalog, self._known, self._copy = alias, source.tables, source.copy
            return
        self._session.attach(path, alias, self._db)
        refuse_unread_log(path, self._db)  # now that nobody else may write
        self.catalog = alias
        rows = self._session.fetch(RELATIONS, "catalog", [alias])
        self._known = [(alias, schema, name) for schema, name in rows]
        self._collates = bool(self._session.fetch(COLLATIONS, "catalog", [alias])[0][0])

    @property
    def tables(self) -> list[tuple[str, str]]:
        """Schema and name of the tables and views of the database."""
        return [name[1:] for name in self._known]

    def announce(self, target: Target) -> None:
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
            self._refuse_random([table[2]])
            self._copy(table)
            self._session.seal()  # a view may read files
            return InputSource(in_sql(table), (), (f"{table[1]}.{table[2]}",))
        return self._file(target.relation, target)

    def _table(self, name: str) -> Name | None:
        """The table or view of the database that a text names; none when it can only be a file's name."""
        if not self.catalog or (exists(name) and looks_like_path(name)):
            return next((known for known in self._known if known[2] == name), None)
        return find_table(name, self._known, self._db, by_catalog=not name.startswith('"'))  # as dbt's names

    def _file(self, name: str, target: Target) -> InputSource:
        if self.catalog and not exists(name):
            raise unknown_table(name, self._known, self._db)
        if not lies_there(name) and not looks_like_path(name):
            raise UsageError(f"There is no file {name!r}. For a table, name its database with {spelled('db')}.")
        files = self._allow(find_files(name, target.read.format))
        refuse_packed(files)
        stamped = [(path, stamp(path), files.label) for path in files.paths]
        source = file_source(self._session, files, target, self._fresh("sqlaudit_frame"))
        self._readings.note(source.sql, stamped)
        return source

    def _query(self, target: Target) -> InputSource:
        """The query with the files it names replaced by views over them."""
        from sqlglot import exp

        from sqlaudit.base.guard import guard_query
        from sqlaudit.engines.duckdb.queries import named_tables, put_in_full, put_view

        root = guard_query(target.query, DIALECT)
        self._refuse_random([node.name for node in root.find_all(exp.Table, exp.Anonymous)], macros=True)
        tables: list[str] = []
        remarks: list[Remark] = []
        parsed = False
        for table in named_tables(root):
            known = find_table(".".join(quote(part.name, DIALECT) for part in table.parts), self._known, self._db)
            if known is not None:
                tables.append(f"{known[1]}.{known[2]}")
                self._copy(known)
                put_in_full(table, known)
            elif not table.db and (table.this.quoted or not self.catalog):
                tables.append(table.name)
                file = self.open(Target(relation=table.name, read=target.read))
                _refuse_codes(root, file)
                put_view(table, file.sql)
                parsed = parsed or file.parsed
                remarks += file.remarks
        if set(tables) <= {f"{schema}.{name}" for _, schema, name in self._known}:
            refuse_read_options(target.read, "a query that reads no file")
        self._session.seal()
        sql = root.sql(dialect=DIALECT)
        names = tuple(row[0] for row in self._session.describe(sql, "query"))
        return InputSource("(" + sql + ")", names, tuple(dict.fromkeys(tables)), parsed, tuple(dict.fromkeys(remarks)))

    def _refuse_random(self, names: Sequence[str], *, macros: bool = False) -> None:
        """Refuse views and macros of the database that give other rows each time they are read."""
        known = self._session.fetch(VIEWS, "catalog", [self.catalog]) if self.catalog else []
        if any("parquet" in sql.lower() for _, sql in known):  # read without `can_have_nan`
            self._session.stop_pushdown()
        if known or (macros and self.catalog):
            known += self._session.fetch(MACROS, "catalog", [self.catalog])
        if known:
            from sqlaudit.base.guard import refuse_random_views

            refuse_random_views(names, dict(known), DIALECT)

    def _written(self, target: Target, source: InputSource) -> str:
        """A view of the texts of a text file; empty for other sources."""
        if not source.written:
            return ""
        view = self.qualified(INPUTS, self._fresh(_stem(target) + "_as_text"))
        body = "SELECT * FROM " + source.written
        self._readings.view(view, body)
        self._session.fetch("CREATE VIEW " + view + " AS " + body, "open " + target.name)
        return view

    def _view(
        self, target: Target, source: InputSource, condition: exp.Expression | None, respelled: Sequence[str]
    ) -> str:
        view = self.qualified(INPUTS, self._fresh(_stem(target)))
        body = "SELECT " + with_one_text(respelled) + " FROM " + source.sql
        if condition is not None:
            self._session.seal()
            body += " WHERE " + condition.sql(dialect=DIALECT)
        self.views[view] = body
        self._readings.view(view, body)
        statement = Statement("open", "CREATE VIEW " + view + " AS " + body)
        begun = time.monotonic()
        self._session.fetch(statement.sql, "open " + target.name)
        self._record(statement, time.monotonic() - begun)
        return view

    def _fresh(self, stem: str) -> str:
        """A name that no view has yet."""
        taken = self._opened.count(stem.lower())
        self._opened.append(stem.lower())
        return self._fresh(f"{stem}_{taken + 1}") if taken else stem

    def qualified(self, schema: str, name: str) -> str:
        """A name of the in-memory database, in full beside a database that is attached."""
        parts = (MEMORY, schema, name) if self.catalog else (schema, name)
        return ".".join(quote(part, DIALECT) for part in parts)


def _without_codes(condition: exp.Expression, missing: Sequence[MissingCodes]) -> exp.Expression:
    """Return a condition in which codes for missing values are NULL: they are no numbers to compare with."""
    import sqlglot
    from sqlglot import exp

    codes = {each.column.casefold(): each.sql for each in missing}
    whole = exp.Paren(this=condition)
    for column in [each for each in whole.find_all(exp.Column) if each.name.casefold() in codes]:
        column.replace(sqlglot.parse_one(codes[column.name.casefold()], dialect=DIALECT))
    return whole


def _refuse_codes(root: exp.Query, file: Relation) -> None:
    """Refuse a query over columns with codes for missing values, as nothing tells them from values in its result.

    Raises:
        UsageError: it reads one.
    """
    from sqlglot import exp

    names = {column.name.casefold() for column in root.find_all(exp.Column)}
    is_any = any(True for _ in root.find_all(exp.Star))
    read = [each.column for each in file.missing if is_any or each.column.casefold() in names]
    if read:
        raise UsageError(
            f"Column {read[0]!r} of {file.label!r} has codes for missing values, which a query does not tell from "
            f"values. Name the file as the table, with {spelled('where')}, or the codes with {spelled('null_values')}."
        )


def _stem(target: Target) -> str:
    """What a view is called: as the file or table, where that has a plain name."""
    if not target.relation:
        return "query" if target.query else "frame"
    stem = Path(target.relation).name.split(".")[0]
    return stem if stem and not any(c in stem for c in '*?[]"') else "target"


def refuse_packed(files: Files) -> None:
    """Refuse compressed files that DuckDB reads in part, as if they were not compressed, or with changed bytes.

    DuckDB compares no checksum of a gzip file, and 1.x reads one that was cut.
    """
    for path in files.paths:
        name = files.label if len(files.paths) == 1 else path.name
        suffix = path.suffix.lower()
        if DUCKDB_1 and suffix in PACKED and path.suffix != suffix:
            raise UsageError(f"DuckDB 1.x does not decompress {name!r}. Rename it so that it ends in {suffix}.")
        if suffix == ".gz":
            import gzip
            import zlib

            try:
                with gzip.open(path) as file:
                    while file.read(1 << 20):
                        pass
            except (EOFError, OSError, zlib.error):
                raise InputError(f"{name!r} is not a complete gzip file, or was changed.") from None


def database_file(place: Whereabouts) -> Path:
    """The file of a database.

    Raises:
        UsageError: there is none. InputError: it is no DuckDB database. PermissionDenied: it may not be read.
    """
    path = Path(place.text)
    if not lies_there(path):
        raise UsageError(f"There is no database file {place.named}.")
    if not is_file(path):
        raise UsageError(f"The database {place.named} is a folder, not a file.")
    try:
        with path.open("rb") as file:
            start = file.read(12)
    except PermissionError:
        raise PermissionDenied(f"{place.subject} is not readable by this user.") from None
    if start[8:] != b"DUCK" and not is_sqlite(path):
        raise InputError(f"{place.subject} is not a DuckDB database.")
    return path.absolute()


# Columns of a DuckDB database whose collation takes texts for equal that are written differently (`COLLATE NOCASE`).
#
# DuckDB tells the collation of no column of a SELECT, so values are looked at, and only where the database or the query
# speaks of collations at all. As on PostgreSQL such a column is read with one text for all values that it finds equal:
# then everything that follows finds equal what the column does.


def find_respelled(session: DuckDBSession, source: str, described: Sequence[Row], step: str) -> tuple[str, ...]:
    """The columns of text with values that are equal and written differently.

    Args:
        source: a FROM item. described: its columns, as DESCRIBE has them. step: what is being done.
    """
    names = [row[0] for row in described if row[1] == "VARCHAR"]
    if not names:
        return ()
    columns = [quote(name, DIALECT) for name in names]
    statement = expression("engines/duckdb/read_respelled.sql", DIALECT, source=Raw(source), columns=columns)
    found = session.fetch(statement, step)[0]
    return tuple(name for name, differ in zip(names, found, strict=True) if differ)


def with_one_text(names: Sequence[str]) -> str:
    """What is selected where these columns are read with the smallest among equal texts.

    Example:
        >>> with_one_text(["town"])
        '* REPLACE (min("town" COLLATE "binary") OVER (PARTITION BY "town") AS "town")'
    """
    if not names:
        return "*"
    quoted = [quote(name, DIALECT) for name in names]
    each = (f'min({one} COLLATE "binary") OVER (PARTITION BY {one}) AS {one}' for one in quoted)
    return f"* REPLACE ({', '.join(each)})"
