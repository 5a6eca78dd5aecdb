"""Opening targets in Spark: tables and views of the catalog, files, frames, queries and conditions."""

from __future__ import annotations

import re
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.base.files import exists, is_folder
from sqlaudit.base.guard import RandomRowsError, condition_remarks, guard_expression, guard_query
from sqlaudit.base.names import closest, quote, split_name
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.engines.contract import LAKES, lake_error, partition_columns, refuse_same
from sqlaudit.engines.duckdb.frames import FRAME, exact_column, make_scannable, pandas_as_arrow, with_inner_types
from sqlaudit.engines.spark import session
from sqlaudit.engines.spark.session import PySparkException, frame_of, is_remote
from sqlaudit.engines.spark.values import columns_of

# Files as Spark reads them: the formats that are read at all, and folders whose names are columns.

_PARQUET = (".parquet", ".pq")
_OTHERS = (
    *(".csv", ".tsv", ".tab", ".txt", ".json", ".ndjson", ".jsonl", ".orc", ".gz", ".zst", ".bz2"),
    *(".xlsx", ".xlsm", ".sav", ".zsav", ".dta", ".sas7bdat", ".xpt"),
)
READERS = ("csv", "json", "parquet", "orc", "text", "avro", "xml", "binaryfile")
"""The words before a path in a query of Spark: csv.`path`."""
REFUSAL = (
    "On Spark only Parquet files can be audited, because Spark may change or omit values of other files. Audit other "
    "files with DuckDB (without {db}), or load them as a table or Parquet."
)
HIDDEN = {"ignoredPathSegmentRegex": "^[._]"}
"""The option for the files that Spark leaves out of folders, whatever the session sets."""
EVERYTHING = {"ignoredPathSegmentRegex": "(?!)", "recursiveFileLookup": True}
ALONE = {**HIDDEN, "recursiveFileLookup": True, "mergeSchema": False}
"""Options to read only the content of files, and nothing from the names of their folders."""
_OF_WRITERS = re.compile(r"_SUCCESS|_(common_)?metadata|_(started|committed)_\d+|\..*\.crc")
"""Names of files that Spark itself writes beside the rows."""


FILE_OPTIONS = ("format", "hive_partitioning")
"""The options of how files are read that Parquet files have here."""


def looks_like_path(text: str) -> bool:
    """Return True if a text can only mean files: it has a suffix of tables, a slash, a wildcard or a scheme."""
    return any(sign in text for sign in "/\\*?") or text.lower().endswith(_PARQUET + _OTHERS)


def parquet_path(text: str, read: ReadOptions) -> str:
    """Return the path, glob or folder of Parquet files as Spark takes it.

    Raises:
        UsageError: the files have another format, or an option is set that Parquet files do not have.
    """
    is_parquet = text.lower().endswith(_PARQUET) or is_folder(text)
    if read.format != "parquet" and (read.format or not is_parquet):
        raise UsageError(f"{text!r} does not have the name of a Parquet file. " + REFUSAL.format(db=spelled("db")))
    refuse_read_options(read, "Parquet", FILE_OPTIONS)
    if "://" in text:
        return text
    path = str(Path(text).absolute())
    return as_pattern(path) if exists(text) else path


def folder_options(path: str, read: ReadOptions) -> dict[str, object]:
    """Return options that read folders named `column=value` from the first one on, or that read none."""
    if not read.hive_partitioning:
        return ALONE
    parts = path.split("/")
    first = next((i for i, part in enumerate(parts) if "=" in part or any(sign in part for sign in "*?[{")), None)
    base = {} if first is None else {"basePath": "/".join(parts[:first]) or "/"}
    return {**HIDDEN, "mergeSchema": False, **base}


def below_folders(paths: Iterable[str]) -> list[Path]:
    """Return the files that are in folders named `column=value`."""
    return [Path(path) for path in paths if any("=" in folder for folder in path.split("/")[:-1])]


def as_pattern(path: str) -> str:
    r"""Return a pattern that matches only this path.

    Example:
        >>> print(as_pattern("/data/a[1].parquet"))
        /data/a\[1\].parquet
    """
    return re.sub(r"([\\{}\[\]*?,])", r"\\\1", path)


def refuse_left_out(named: Iterable[str], read_paths: Iterable[str], label: str) -> None:
    """Refuse a path that names files which Spark does not read. Of the files that it lists, it reads no summaries.

    Raises:
        InputError: there is one.
    """
    read = {path for path in read_paths if not path.rpartition("/")[2].startswith(("_metadata", "_common_metadata"))}
    count = sum(not _OF_WRITERS.fullmatch(path.rpartition("/")[2]) for path in set(named) - read)
    if count:
        raise InputError(
            f"Spark leaves out {count} of the files that {label!r} names: their names, or those of their folders, "
            "end with ._COPYING_ or begin with _ or a dot. Rename or remove these, or name the others."
        )


def refuse_read_options(read: ReadOptions, source: str, allowed: tuple[str, ...] = ()) -> None:
    """Refuse options for reading files, except the allowed ones.

    Raises:
        UsageError: an option is set.
    """
    refused = [f.name.replace("_", " ") for f in fields(read) if f.name in read.given - {"format", *allowed}]
    if refused:
        raise UsageError(f"The option {refused[0]!r} applies to text files, not to {source}.")


# Frames of Python as Arrow tables, which is how they reach Spark.


def arrow_table(frame: object) -> object:
    """Return a pandas, polars or Arrow frame as an Arrow table of types that Spark has.

    Raises:
        UsageError: the object is not a frame.
        InputError: the frame has no columns, or a column that Spark would round or does not read.
    """
    import pyarrow as pa

    table, names = make_scannable(frame)
    if hasattr(table, "isetitem"):
        table = pandas_as_arrow(table, names)
    if hasattr(table, "collect"):  # a lazy frame of polars
        table = table.collect()
    if hasattr(table, "to_arrow"):
        table = table.to_arrow()
    elif hasattr(table, "to_table"):
        table = table.to_table()
    columns = [exact_column(column, name, FRAME, spark_type) for column, name in zip(table.columns, names, strict=True)]
    return pa.Table.from_arrays(columns, names=names)


def spark_type(kind: Any) -> object:
    """Return the Arrow type as which Spark reads a type exactly, if a cast to it keeps the values; else None."""
    import pyarrow as pa

    types = pa.types
    read = kind
    if types.is_dictionary(kind) or hasattr(kind, "storage_type"):
        read = spark_type(kind.value_type if types.is_dictionary(kind) else kind.storage_type)
    elif types.is_unsigned_integer(kind):
        read = pa.int64() if kind.bit_width < 64 else pa.decimal128(20, 0)
    elif types.is_timestamp(kind):
        read = pa.timestamp("us", kind.tz)
    elif types.is_time(kind):
        read = pa.time64("us")
    elif types.is_string_view(kind):
        read = pa.string()
    elif types.is_binary_view(kind) or types.is_fixed_size_binary(kind):
        read = pa.binary()
    elif types.is_decimal(kind):
        read = pa.decimal128(kind.precision, kind.scale)
    elif types.is_list_view(kind) or types.is_large_list_view(kind):
        read = None
    elif kind.num_fields:
        read = with_inner_types(kind, spark_type)
    return read


DIALECT = "spark"
Do = Callable[..., Any]
_RANDOM = re.compile(r"\b(rand|randn|uuid)\((?=-?\d|Some\()|^[\s:+|-]*Sample [\d.]+, [\d.]+, ", re.MULTILINE)
"""Random rows in the text of a plan, in which functions have seeds, unlike in the text of a query."""


@dataclass(frozen=True)
class SparkOpener:
    """Opener of targets in a session.

    Args:
        session: the engine's session.
        do: `do(during, work, names)` runs work on Spark and turns its errors into ours.
        keep: `keep(frame, stem)` makes a temporary view over a frame of Spark, and returns its quoted name.
        missing: the settings that the session does not have, as `settle` returns them.
        behind: the source of each temporary view, as a FROM item that any session understands; empty = there is none.
    """

    session: Any
    do: Do
    keep: Callable[[object, str], str]
    missing: frozenset[str] = frozenset()
    behind: dict[str, str] = field(default_factory=dict)

    def open(self, target: Target) -> Relation:
        """Return the relation of a target, as `Engine.open` describes."""
        where = guard_expression(target.where, DIALECT, about("where")) if target.where else None
        if target.query:
            return self._open_query(target, where)
        if target.frame is not None:
            refuse_read_options(target.read_as(()), "a frame")
            source = self._view_of_frame(target.frame)
            frame = self.do("the frame", lambda: _analyzed(self.session.table(source)))
            return self._make_relation(target, source, (), frame, where)
        parts = self._find_table(target.relation)
        if parts is None:
            return self._open_files(target, where)
        refuse_read_options(target.read_as(()), "a table")
        name = ".".join(quote(part, DIALECT) for part in parts)
        frame = self.do(f"the table {target.relation!r}", lambda: _analyzed(self.session.table(name)))
        return self._make_relation(target, name, (".".join(parts),), frame, where)

    def reading_options(self, target: Target) -> frozenset[str]:
        """Return the options of how files are read that a table has: none, unless it is a file."""
        is_file = bool(target.relation) and self._find_table(target.relation) is None
        return frozenset(FILE_OPTIONS if is_file else ())

    def _make_relation(
        self, target: Target, source: str, tables: tuple[str, ...], frame: Any, where: exp.Expression | None
    ) -> Relation:
        """Return the relation over a FROM item whose frame is analyzed, restricted to a condition."""
        if self.do(f"the plan of {target.name}", lambda: frame.isStreaming):
            raise UsageError(
                f"{target.name} is a stream, whose rows never end. Audit the table that it is written to, or one batch "
                "of it (foreachBatch)."
            )
        names = [field.name for field in frame.schema.fields]
        twice = [name for name, times in Counter(map(str.casefold, names)).items() if times > 1]
        if twice:  # one name to Spark, which would refuse each statement in its own words
            raise UsageError(
                f"{target.name} has several columns called {twice[0]!r} (Spark ignores case). Rename all but one."
            )
        session.refuse_substituted("".join(names), self.missing)
        self._refuse_unread_rows(names, target.name)
        self._refuse_random(source, target.name)
        if where is not None:
            condition = where.sql(dialect=DIALECT)
            session.refuse_substituted(condition, self.missing)
            select = "SELECT * FROM " + source + " WHERE " + condition
            frame = self.do(spelled("where"), lambda: _analyzed(self.session.sql(select)), names)
            below = self.behind.get(source, source)
            source = self._keep_view(frame, "rows", below and "(SELECT * FROM " + below + " WHERE " + condition + ")")
        columns = columns_of(frame.schema)
        return Relation(source, columns, target.name, tables, remarks=condition_remarks(where, columns, DIALECT))

    def _refuse_random(self, source: str, label: str) -> None:
        """Refuse views and frames whose plan shows that they give other rows each time they are read."""
        plan_rows = self.do(
            f"the plan of {label}", lambda: self.session.sql("EXPLAIN EXTENDED SELECT * FROM " + source).collect()
        )
        match = _RANDOM.search(str(plan_rows[0][0]))
        if match:
            raise RandomRowsError(label, f"{match[1]}()" if match[1] else "a sample")

    def _open_query(self, target: Target, where: exp.Expression | None) -> Relation:
        """Return the relation of a query, as a temporary view."""
        root = guard_query(target.query, DIALECT)
        refuse_read_options(target.read_as(()), "a query")
        self._refuse_paths(root)
        tables = tuple(dict.fromkeys(".".join(part.name for part in table.parts) for table in _tables(root)))
        below = self._open_named_files(root)
        text = root.sql(dialect=DIALECT, comments=False)
        session.refuse_substituted(text, self.missing)

        def names_for_hint(code: str) -> Iterable[str]:
            return self.list_tables() if code == "TABLE_OR_VIEW_NOT_FOUND" else ()

        try:
            frame = self.do(spelled("query"), lambda: _analyzed(self.session.sql(text)), names_for_hint)
        except UsageError:
            lake = next((table for table in _tables(root) if table.db.lower() == "delta" and "/" in table.name), None)
            if lake is None:
                raise
            raise UsageError(
                f"{spelled('query')}: Spark finds no table at the path after {lake.db}, or was started without Delta "
                "Lake (its package and its settings). Correct the path, or give a session of Spark that has it."
            ) from None
        names = [field.name for field in frame.schema.fields]
        twice = [name for name, times in Counter(name.casefold() for name in names).items() if times > 1]
        if twice:
            raise UsageError(f"{spelled('query')} has several columns named {twice[0]!r}. Give each its own name (AS).")
        return self._make_relation(target, self._keep_view(frame, "query", below), tables, frame, where)

    def _open_named_files(self, root: exp.Query) -> str:
        """Open the Parquet files that a query names in quotes, as on DuckDB; put their views in the place of the names.

        Returns:
            The query as a FROM item of any session; empty if there is none.
        """
        lasting = root.copy()
        for table, named in zip(_tables(root), _tables(lasting), strict=True):
            if table.db or not looks_like_path(table.name) or self._exists((table.name,)):
                continue
            view = self._open_files(Target(relation=table.name), None).sql
            alias = table.args.get("alias") or exp.TableAlias(
                this=exp.to_identifier(Path(table.name).stem, quoted=True)
            )
            table.replace(exp.to_table(view, dialect=DIALECT, alias=alias))
            if not self.behind[view]:
                lasting = exp.Select()
            named.replace(exp.to_table(self.behind[view] or view, dialect=DIALECT, alias=alias.copy()))
        return "(" + lasting.sql(dialect=DIALECT, comments=False) + ")" if lasting.expressions else ""

    def _open_files(self, target: Target, where: exp.Expression | None) -> Relation:
        """Return the relation of Parquet files, all of which Spark reads with the same columns."""
        label, read = target.relation, target.read_as(FILE_OPTIONS)
        path = parquet_path(label, read)
        if set(session.FOR_FILES) & self.missing:
            raise UsageError(
                f"{label!r} cannot be read exactly here: files by their path need {' and '.join(session.FOR_FILES)} = "
                "false in Spark's settings, which cannot be made. Load them as a table, and name that."
            )
        frame = self._read(label, path, folder_options(path, read))
        paths = self._paths(label, frame)
        self._refuse_lake(label, paths)
        self._refuse_left_out(label, path, paths)
        below = below_folders(paths)
        if below or len(paths) > 1:
            names = self._same_columns(label, paths)
            if read.hive_partitioning:  # of a column in both, Spark would take the folders' values
                refuse_same(names, partition_columns(below, label), label)
        source = self._keep_view(frame, "file", "" if below else "parquet." + quote(path, DIALECT))
        return self._make_relation(target, source, (label,), frame, where)

    def _read(self, label: str, path: str, options: dict[str, object], files: str = "parquet") -> Any:
        reader = self.session.read.format(files).options(**options)
        return self.do(f"the file {label!r}", lambda: _analyzed(reader.load(path)))

    def _paths(self, label: str, frame: Any) -> list[str]:
        return [unquote(address) for address in self.do(f"the file {label!r}", frame.inputFiles)]

    def _listed(self, label: str, pattern: str) -> list[str]:
        """Return the paths of all files that a path or pattern names, also of those that Spark leaves out."""
        if is_remote(self.session):  # where only Spark itself lists files, and leaves none out since 4.3
            return self._paths(label, self._read(label, pattern, EVERYTHING, "binaryFile"))
        listed = self.do(f"the file {label!r}", lambda: session.listed_files(self.session, pattern))
        return [unquote(address) for address in listed]

    def _refuse_lake(self, label: str, paths: Sequence[str]) -> None:
        """Refuse files of a table whose log lies beside them, or in a folder above, in any storage that Spark reads."""
        above: dict[str, set[str]] = {}
        for path in paths:
            scheme, _, rest = path.partition("//")
            host, *parts = rest.split("/")
            folders = ("/".join(map(as_pattern, parts[:depth])) for depth in range(1, len(parts)))
            above.setdefault(f"{scheme}//{host}/", set()).update(folders)
        for root, folder_patterns in above.items():
            logs: list[str] = []
            any_folder = f"{{{','.join(sorted(folder_patterns))}}}/"
            for folder in ("", any_folder):  # logs at the root of a bucket, or in any folder below it
                with suppress(UsageError):  # there is none
                    pattern = f"{root}{folder}{{{','.join(LAKES)}}}"
                    logs += self._listed(label, pattern)
            for log, name in LAKES.items():
                folder = f"/{log.partition('/')[0]}/"
                table_folder = next((path.partition(folder)[0] for path in logs if folder in path), None)
                if table_folder is not None:
                    raise lake_error(label, name, table_folder)

    def _refuse_left_out(self, label: str, path: str, paths: Sequence[str]) -> None:
        """Refuse a path that names files which Spark leaves out, or might leave out without a report."""
        is_one_file = len(paths) == 1 and paths[0].endswith(path)
        if is_remote(self.session) and not is_one_file and not session.names_left_out(self.session):
            raise UsageError(
                f"Spark Connect before 4.3 does not say which files of {label!r} it leaves out: name one file, a "
                "table, or a data frame."
            )
        refuse_left_out(self._listed(label, path), paths, label)

    def _same_columns(self, label: str, paths: Sequence[str]) -> list[str]:
        """Return the names of the columns, which must be the same in all files: Spark takes those of any file."""
        first: dict[str, str] = {}
        for path in paths:
            fields = self._read(label, as_pattern(path), ALONE).schema.fields
            columns = {field.name: field.dataType.simpleString() for field in fields}
            first = first or columns
            odd = [name for name in (*first, *columns) if first.get(name) != columns.get(name)]
            if odd:
                raise InputError(
                    f"The files of {label!r} do not have the same columns: {odd[0]!r} is missing in one of them, or "
                    "has another type there. Write them with one schema, or audit them one by one."
                )
        return list(first)

    def _refuse_paths(self, root: exp.Query) -> None:
        """Refuse files that a query reads by path: csv.`path`, or a path after the name of a Java class.

        Only files that are the target were checked for rows that Spark changes or leaves out.
        """
        for table in _tables(root):
            has_reader = table.db.lower() in READERS or "." in table.db
            if has_reader and not table.catalog and not self._exists((table.db, table.name)):
                raise UsageError(
                    f"{spelled('query')} reads files by their path ({table.db}.`…`), which is not supported. Name a "
                    "table there, or Parquet files as the target."
                )

    def _refuse_unread_rows(self, names: Sequence[str], label: str) -> None:
        """Refuse a table with the column in which Spark keeps lines that it could not read."""
        setting = "spark.sql.columnNameOfCorruptRecord"
        corrupt_column = self.do("Spark's settings", lambda: session.setting(self.session, setting, "_corrupt_record"))
        if corrupt_column.casefold() in map(str.casefold, names):
            raise UsageError(
                f"{label} has a column {corrupt_column!r}, where Spark keeps lines that it could not read. Read the "
                "files again without loss, or leave out these rows and the column with a query."
            )

    def _view_of_frame(self, frame: Any) -> str:
        """Return a view over a frame. One of Spark comes through a global view if its session is another one."""
        if not type(frame).__module__.startswith("pyspark.sql"):
            table = arrow_table(frame)
            return self._keep_view(self.do("the frame", lambda: frame_of(self.session, table)), "frame", "")
        if frame.sparkSession is self.session:
            return self._keep_view(frame, "frame", "")
        shared = "sqlaudit_" + uuid.uuid4().hex
        catalog = frame.sparkSession.catalog
        self.do("the frame", lambda: frame.createGlobalTempView(shared))
        try:
            schema = self.session.conf.get("spark.sql.globalTempDatabase", "global_temp")
            name = ".".join(quote(part, DIALECT) for part in (schema, shared))
            return self._keep_view(self.do("the frame", lambda: _analyzed(self.session.table(name))), "frame", "")
        finally:
            self.do("the frame", lambda: catalog.dropGlobalTempView(shared))

    def _keep_view(self, frame: object, stem: str, behind: str) -> str:
        """Keep a view over a frame, with its source outside of the session; return its quoted name."""
        view = self.keep(frame, stem)
        self.behind[view] = behind
        return view

    def lasting(self, relation: Relation) -> str:
        """Return a FROM item that means a relation in any session, as `Engine.lasting` describes.

        Raises:
            UsageError: the relation is a frame, or files in folders that are columns.
        """
        source = self.behind.get(relation.sql, relation.sql)
        if not source:
            raise UsageError(
                f"{relation.label} exists only in this session of Spark, so a view cannot read it. Name a table, or a "
                "Parquet file."
            )
        return source

    def _find_table(self, name: str) -> tuple[str, ...] | None:
        """Return the parts of the name of a table or view that exists; None if the text is the name of a file.

        Raises:
            UsageError: the text is neither a table nor like a file's name.
        """
        parts = _parts(name)
        if parts and self._exists(parts):
            return parts
        if looks_like_path(name):
            return None
        hint = closest(name, self.list_tables(parts[:-1]))
        raise UsageError(f"There is no table {name!r} in Spark's catalog.{hint}")

    def _exists(self, parts: Sequence[str]) -> bool:
        name = ".".join(quote(part, DIALECT) for part in parts)
        try:
            return bool(self.do("Spark's catalog", lambda: self.session.catalog.tableExists(name)))
        except UsageError:  # more parts than this catalog has
            return False

    def list_tables(self, schema: Sequence[str] = ()) -> list[str]:
        """Return the names of the tables and views of a schema, by default the current one."""
        text = "SHOW TABLES" + (" IN " + ".".join(quote(part, DIALECT) for part in schema) if schema else "")
        try:
            rows = self.do("Spark's catalog", lambda: self.session.sql(text).collect())
        except UsageError:
            return []
        return [".".join((*schema, row["tableName"])) for row in rows]


def _analyzed(frame: Any) -> object:
    """Return the frame after its names are resolved, which Spark Connect does only when the schema is read."""
    frame.schema  # noqa: B018
    return frame


def _parts(name: str) -> tuple[str, ...]:
    """Return the parts of a table's name, with Spark's backticks or with double quotes; none if it is not a name."""
    try:
        if "`" in name:
            return tuple(part.name for part in exp.to_table(name, dialect=DIALECT).parts)
        return split_name(name)
    except (UsageError, SqlglotError):
        return ()


def _tables(query: exp.Query) -> list[exp.Table]:
    """Return the tables that a query reads, without its own CTEs and functions."""
    cte_names = {cte.alias for cte in query.find_all(exp.CTE)}
    tables = [table for table in query.find_all(exp.Table) if isinstance(table.this, exp.Identifier)]
    return [table for table in tables if table.args.get("db") or table.name not in cte_names]


def bind_parameters(text: str, names: Sequence[str]) -> str:
    """Return the statement with these in the place of its parameters $1, $2, …, except in texts."""
    tokens = sqlglot.tokenize(text, dialect=DIALECT)
    pieces, position = [], 0
    for sign, number in pairwise(tokens):
        if (
            sign.text == "$"
            and number.text.isdigit()
            and number.start == sign.end + 1
            and int(number.text) <= len(names)
        ):
            pieces += [text[position : sign.start], names[int(number.text) - 1]]
            position = number.end + 1
    return "".join([*pieces, text[position:]])


# The content of Spark's catalog, for proposals and completion: Spark has no information_schema.

MOST_TABLES = 100
"""Number of tables whose columns are read in advance; each takes a request to the metastore."""
_OURS = "sqlaudit_"


def tables(session: Any) -> list[tuple[str, str]]:
    """Return (schema, name) of the tables and views of the current catalog; temporary views have no schema."""
    names = set()
    for (schema,) in session.sql("SHOW DATABASES").collect():
        for row in session.sql("SHOW TABLES IN " + quote(schema, "spark")).collect():
            if not row["tableName"].startswith(_OURS):
                names.add(("" if row["isTemporary"] else schema, row["tableName"]))
    return sorted(names)


def columns(session: Any, tables_with_schemas: Sequence[tuple[str, str]], most: int) -> list[tuple[str, str, str]]:
    """Return (schema, table, column) of the first tables; a view that cannot be resolved is left out."""
    names: list[tuple[str, str, str]] = []
    for schema, name in tables_with_schemas[:MOST_TABLES]:
        full_name = ".".join(quote(part, "spark") for part in (schema, name) if part)
        with suppress(PySparkException):
            names += [(schema, name, column) for column in session.table(full_name).schema.names]
    return names[:most]
