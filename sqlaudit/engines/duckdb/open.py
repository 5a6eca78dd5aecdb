"""Opening targets in DuckDB: a table as it is, or a view over files, frames, queries and conditions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from sqlaudit.base.addresses import Whereabouts
from sqlaudit.base.errors import InputError, PermissionDenied, SqlauditError, UnknownFile, UsageError
from sqlaudit.base.files import Stamp, is_file, is_sqlite, stamp
from sqlaudit.base.files import exists as lies_there
from sqlaudit.base.names import quote
from sqlaudit.base.parameter_names import about, of_table, speaking, spelled
from sqlaudit.base.relation import MissingCodes, Relation, Remark, Row, Statement
from sqlaudit.base.spec import FILE_FORMATS, ReadOptions, Target
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
    quote_name,
    unknown_table,
)
from sqlaudit.engines.duckdb.csv import converted_from
from sqlaudit.engines.duckdb.driver import DUCKDB_1
from sqlaudit.engines.duckdb.inputs import (
    FORMATS_OF_OPTIONS,
    InputSource,
    file_source,
    frame_source,
    refuse_read_options,
    refuse_twins,
)
from sqlaudit.engines.duckdb.paths import PACKED, Files, exists, find_files, looks_like_path
from sqlaudit.engines.duckdb.session import DIALECT, INPUTS, MEMORY, DuckDBSession, refuse_unread_log
from sqlaudit.engines.duckdb.types import columns_of

if TYPE_CHECKING:
    from sqlglot import exp


# Files that change while they are read: the files behind each FROM item, and their state when it was made.
#
# DuckDB reads a file again with each statement, so a file that is replaced during an audit would mix the figures of two
# tables. A database file is locked instead, and rows that were copied to memory are read once.


class Readings:
    """The files behind the views and frames of a session."""

    def __init__(self) -> None:
        self._files: dict[str, dict[Path, tuple[Stamp | None, str]]] = {}

    def note(self, item: str, files: Iterable[tuple[Path, Stamp | None, str]]) -> None:
        """Note the files that a FROM item reads: paths, their stamps before anything was read, and labels."""
        self._files[item] = {path: (before, label) for path, before, label in files}

    def note_view(self, name: str, body: str) -> None:
        """Note that a view of this quoted name reads the files of its body."""
        self._files[name] = self._files_in(body)

    @contextmanager
    def unchanged(self, sql: str) -> Iterator[None]:
        """Run the block, in which a statement reads files; a statement that fails may have failed because one changed.

        Raises:
            InputError: a file that the statement reads was replaced, or has another size or time of change.
        """
        try:
            yield
        except SqlauditError:
            self._refuse_changed(sql)
            raise
        self._refuse_changed(sql)

    def _refuse_changed(self, sql: str) -> None:
        for path, (before, label) in self._files_in(sql).items():
            if stamp(path) != before:
                raise InputError(
                    f"{label!r} was changed while it was read, so its figures are mixed. Try again, or audit a copy."
                ) from None

    def _files_in(self, sql: str) -> dict[Path, tuple[Stamp | None, str]]:
        """Return the noted files of all items in a text. Item names are ours, or whole calls with quoted paths."""
        stamped_files = (files.items() for item, files in self._files.items() if item in sql)
        return dict(chain.from_iterable(stamped_files))


class DuckDBOpener:
    """The database, files, frames and queries of one session.

    Args:
        session: the session that has the relations. readings: notes the state of files when they are read.
        record: notes a statement with its seconds.
    """

    def __init__(self, session: DuckDBSession, readings: Readings, record: Callable[[Statement, float], None]) -> None:
        self._session = session
        self._readings = readings
        self._record = record
        self._db = ""
        self._names: list[Name] = []
        self._skipped: dict[str, str] = {}
        self._opened: list[str] = []
        self.catalog = ""
        """The name of the attached database, empty without one."""
        self._collates = False
        self._copy: Callable[[Name], None] = lambda name: None
        self.views: dict[str, str] = {}
        """Every view that was made, with its SELECT."""

    def open(self, target: Target) -> Relation:
        """Return the relation of a target, as `DuckDBEngine.open` describes."""
        source = self._open_source(target)
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
        sql = source.sql if direct else self._make_view(target, source, condition, respelled)
        columns = columns_of(described, source.labels)
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
            written=self._make_text_view(target, source),
            sampled=source.sampled,
            missing=source.missing,
        )

    def attach(self, path: Path, address: Whereabouts) -> None:
        """Attach the audited database, read-only, and note its tables."""
        alias = alias_for(path) if address.file is not None else UNNAMED  # statements are shown, and hold this name
        self._db = address.label
        path = path.resolve()  # a log lies beside the file itself, and not beside a link to it
        if is_sqlite(path):
            from sqlaudit.engines.duckdb.sqlite import SqliteFile

            source = SqliteFile(path, self._db, alias, self._session)
            self.catalog, self._names, self._copy = alias, source.tables, source.copy
            return
        self._session.attach(path, alias, self._db)
        refuse_unread_log(path, self._db)  # now that no one else may write
        self.catalog = alias
        rows = self._session.fetch(RELATIONS, "catalog", [alias])
        self._names = [(alias, schema, name) for schema, name in rows]
        self._collates = bool(self._session.fetch(COLLATIONS, "catalog", [alias])[0][0])

    @property
    def tables(self) -> list[tuple[str, str]]:
        """Schema and name of the tables and views of the database."""
        return [name[1:] for name in self._names]

    def announce(self, target: Target) -> None:
        """Allow the files of a target before access is closed. Faults of a target are reported when it is opened."""
        for files, file in self._files_of(target):
            self._allow(files, file.read)

    def reading_options(self, target: Target) -> frozenset[str]:
        """Return the options of how files are read that a table has: those of the formats of its files.

        A table that is not there has them all: that it is not there is said when it is opened.
        """
        is_missing = target.relation and self._find_table(target.relation) is None and not exists(target.relation)
        formats = set(FILE_FORMATS) if is_missing else {files.format for files, _ in self._files_of(target)}
        return frozenset(name for name, among in FORMATS_OF_OPTIONS.items() if formats & set(among))

    def _files_of(self, target: Target) -> Iterator[tuple[Files, Target]]:
        """Yield the files that a target names, or that its query does, each with how it is read."""
        named = [target] if target.relation else []
        if target.query:
            from sqlaudit.engines.duckdb.queries import files_named

            named = [target.file(name) for name in files_named(target.query)]
        for file in named:
            if self._find_table(file.relation) is None and exists(file.relation):
                yield find_files(file.relation, file.read.format), file

    def _allow(self, files: Files, options: ReadOptions) -> Files:
        """Allow files as inputs, with the copies that they need, and return them."""
        self._session.allow((path, files.label) for path in files.paths)
        if files.format == "csv" and converted_from(files, options):
            self._session.allow((self._session.copy_of(path), files.label) for path in files.paths)
        return files

    def _open_source(self, target: Target) -> InputSource:
        """Return the source of a target: a query, a frame, a table of the database, or files."""
        if target.query:
            return self._open_query(target)
        if target.frame is not None:
            refuse_read_options(target.read_as(()), "a frame")
            return frame_source(self._session, target.frame, self._unused_name("sqlaudit_frame"))
        table = self._find_table(target.relation)
        if table is not None:
            refuse_read_options(target.read_as(()), "a table of a database")
            self._refuse_random([table[2]])
            self._copy(table)
            self._session.seal()  # a view may read files
            return InputSource(quote_name(table), (), (f"{table[1]}.{table[2]}",))
        return self._open_files(target.relation, target)

    def _find_table(self, name: str) -> Name | None:
        """Return the table or view of the database that a text names; None if it can only name a file."""
        if not self.catalog or (exists(name) and looks_like_path(name)):
            return next((table for table in self._names if table[2] == name), None)
        return find_table(name, self._names, self._db, by_catalog=not name.startswith('"'))  # as dbt's names

    def _open_files(self, name: str, target: Target) -> InputSource:
        """Return the source over the files that a name or glob means, and note their state."""
        if self.catalog and not exists(name):
            raise unknown_table(name, self._names, self._db)
        if not lies_there(name) and not looks_like_path(name):
            raise UnknownFile(f"There is no file {name!r}. For a table, name its database with {spelled('db')}.")
        files = self._allow(find_files(name, target.read.format), target.read)
        refuse_packed(files)
        stamped = [(path, stamp(path), files.label) for path in files.paths]
        one_of_several = speaking(of_table(target.role)) if target.role not in ("", "target") else nullcontext()
        with one_of_several:
            if target.read.skip and "skip" in target.shared:
                self._refuse_skipping(files, target)
            source = file_source(self._session, files, target, self._unused_name("sqlaudit_frame"))
        self._readings.note(source.sql, stamped)
        return source

    def _refuse_skipping(self, files: Files, target: Target) -> None:
        """Refuse to skip lines of CSV files and rows of workbooks alike: only one of them may have lines to skip.

        Raises:
            UsageError: the option of all tables skips lines of both, which takes people out of one of them.
        """
        if files.format not in FORMATS_OF_OPTIONS["skip"]:
            return
        self._skipped.setdefault(files.format, files.label)
        if len(self._skipped) > 1 and target.role not in ("", "target"):
            raise UsageError(
                f"Lines are skipped in both the CSV file {self._skipped['csv']!r} and the workbook "
                f"{self._skipped['excel']!r}. Name the file that has lines above its header: "
                f"{spelled('skip', target.read.skip)}."
            )

    def _open_query(self, target: Target) -> InputSource:
        """Return the query, with views in the place of the files that it names."""
        from sqlglot import exp

        from sqlaudit.base.guard import guard_query
        from sqlaudit.engines.duckdb.queries import named_tables, replace_by_view, write_full_name

        root = guard_query(target.query, DIALECT)
        self._refuse_random([node.name for node in root.find_all(exp.Table, exp.Anonymous)], macros=True)
        tables: list[str] = []
        remarks: list[Remark] = []
        parsed = False
        for table in named_tables(root):
            full_name = find_table(".".join(quote(part.name, DIALECT) for part in table.parts), self._names, self._db)
            if full_name is not None:
                tables.append(f"{full_name[1]}.{full_name[2]}")
                self._copy(full_name)
                write_full_name(table, full_name)
            elif not table.db and (table.this.quoted or not self.catalog):
                tables.append(table.name)
                file = self.open(target.file(table.name))
                _refuse_codes(root, file)
                replace_by_view(table, file.sql)
                parsed = parsed or file.parsed
                remarks += file.remarks
        if set(tables) <= {f"{schema}.{name}" for _, schema, name in self._names}:
            refuse_read_options(target.read_as(()), "a query that reads no file")
        self._session.seal()
        sql = root.sql(dialect=DIALECT)
        names = tuple(row[0] for row in self._session.describe(sql, "query"))
        return InputSource("(" + sql + ")", names, tuple(dict.fromkeys(tables)), parsed, tuple(dict.fromkeys(remarks)))

    def _refuse_random(self, names: Sequence[str], *, macros: bool = False) -> None:
        """Refuse views and macros of the database that give other rows each time they are read."""
        definitions = self._session.fetch(VIEWS, "catalog", [self.catalog]) if self.catalog else []
        if any("parquet" in sql.lower() for _, sql in definitions):  # read without `can_have_nan`
            self._session.stop_pushdown()
        if definitions or (macros and self.catalog):
            definitions += self._session.fetch(MACROS, "catalog", [self.catalog])
        if definitions:
            from sqlaudit.base.guard import refuse_random_views

            refuse_random_views(names, dict(definitions), DIALECT)

    def _make_text_view(self, target: Target, source: InputSource) -> str:
        """Return a view of the texts of a text file; empty for other sources."""
        if not source.written:
            return ""
        view = self.qualified(INPUTS, self._unused_name(_view_stem(target) + "_as_text"))
        body = "SELECT * FROM " + source.written
        self._readings.note_view(view, body)
        self._session.fetch("CREATE VIEW " + view + " AS " + body, "open " + target.name)
        return view

    def _make_view(
        self, target: Target, source: InputSource, condition: exp.Expression | None, respelled: Sequence[str]
    ) -> str:
        """Make a view over a source, restricted to a condition, and return its quoted name."""
        view = self.qualified(INPUTS, self._unused_name(_view_stem(target)))
        body = "SELECT " + with_one_text(respelled) + " FROM " + source.sql
        if condition is not None:
            self._session.seal()
            body += " WHERE " + condition.sql(dialect=DIALECT)
        self.views[view] = body
        self._readings.note_view(view, body)
        statement = Statement("open", "CREATE VIEW " + view + " AS " + body)
        begun = time.monotonic()
        self._session.fetch(statement.sql, "open " + target.name)
        self._record(statement, time.monotonic() - begun)
        return view

    def _unused_name(self, stem: str) -> str:
        """Return a name that no view has yet."""
        uses = self._opened.count(stem.lower())
        self._opened.append(stem.lower())
        return self._unused_name(f"{stem}_{uses + 1}") if uses else stem

    def qualified(self, schema: str, name: str) -> str:
        """Return a name of the in-memory database, in full if a database is attached."""
        parts = (MEMORY, schema, name) if self.catalog else (schema, name)
        return ".".join(quote(part, DIALECT) for part in parts)


def _without_codes(condition: exp.Expression, missing: Sequence[MissingCodes]) -> exp.Expression:
    """Return a condition in which codes for missing values are NULL: they are no numbers to compare with."""
    import sqlglot
    from sqlglot import exp

    codes = {coded.column.casefold(): coded.sql for coded in missing}
    parenthesized = exp.Paren(this=condition)
    for column in [node for node in parenthesized.find_all(exp.Column) if node.name.casefold() in codes]:
        column.replace(sqlglot.parse_one(codes[column.name.casefold()], dialect=DIALECT))
    return parenthesized


def _refuse_codes(root: exp.Query, file: Relation) -> None:
    """Refuse a query over columns with codes for missing values, which cannot be told from values in its result.

    Raises:
        UsageError: the query reads such a column.
    """
    from sqlglot import exp

    names = {column.name.casefold() for column in root.find_all(exp.Column)}
    is_any = any(True for _ in root.find_all(exp.Star))
    read = [coded.column for coded in file.missing if is_any or coded.column.casefold() in names]
    if read:
        raise UsageError(
            f"Column {read[0]!r} of {file.label!r} has codes for missing values, which a query cannot distinguish from "
            f"values. Name the file as the table, with {spelled('where')}, or the codes with {spelled('null_values')}."
        )


def _view_stem(target: Target) -> str:
    """Return the name for a view: that of the file or table if it is a plain name."""
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


def database_file(address: Whereabouts) -> Path:
    """Return the path of a database file.

    Raises:
        UsageError: there is no such file. InputError: it is not a database of DuckDB or SQLite.
        PermissionDenied: it may not be read.
    """
    path = Path(address.text)
    if not lies_there(path):
        raise UnknownFile(f"There is no database file {address.named}.")
    if not is_file(path):
        raise UsageError(f"The database {address.named} is a folder, not a file.")
    try:
        with path.open("rb") as file:
            start = file.read(12)
    except PermissionError:
        raise PermissionDenied(f"{address.subject} is not readable by this user.") from None
    if start[8:] != b"DUCK" and not is_sqlite(path):
        raise InputError(f"{address.subject} is not a DuckDB database.")
    return path.absolute()


# Columns of a DuckDB database whose collation takes texts for equal that are written differently (`COLLATE NOCASE`).
#
# DuckDB does not report the collations of a SELECT, so values are compared, and only if the database or the query uses
# collations at all. As on PostgreSQL, such a column is read with one text for all values that it treats as equal, so
# that all later steps treat the same values as equal.


def find_respelled(session: DuckDBSession, source: str, described: Sequence[Row], step: str) -> tuple[str, ...]:
    """Return the text columns with values that are equal but written differently.

    Args:
        source: a FROM item. described: the rows of its DESCRIBE. step: name of the step.
    """
    names = [row[0] for row in described if row[1] == "VARCHAR"]
    if not names:
        return ()
    columns = [quote(name, DIALECT) for name in names]
    statement = expression("engines/duckdb/read_respelled.sql", DIALECT, source=Raw(source), columns=columns)
    differs = session.fetch(statement, step)[0]
    return tuple(name for name, differ in zip(names, differs, strict=True) if differ)


def with_one_text(names: Sequence[str]) -> str:
    """Return the select list that reads these columns with the smallest of the texts that are equal.

    Example:
        >>> with_one_text(["town"])
        '* REPLACE (min("town" COLLATE "binary") OVER (PARTITION BY "town") AS "town")'
    """
    if not names:
        return "*"
    quoted = [quote(name, DIALECT) for name in names]
    replaced = (f'min({column} COLLATE "binary") OVER (PARTITION BY {column}) AS {column}' for column in quoted)
    return f"* REPLACE ({', '.join(replaced)})"
