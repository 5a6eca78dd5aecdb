"""The contract of every engine, and functions that engines share. Engines never know the name of a privacy model."""

from __future__ import annotations

import datetime
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Context, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from sqlaudit.base.connection_texts import literals_hidden
from sqlaudit.base.errors import Incomplete, InputError, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import quote, split_name
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import ColumnInfo, Relation, Remark, Row, Statement
from sqlaudit.base.result import Timing, Warned
from sqlaudit.base.spec import Limits, Target
from sqlaudit.base.sql import environment
from sqlaudit.base.version import __version__

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sqlaudit.base.addresses import Whereabouts


Database: TypeAlias = "str | Whereabouts | Engine | SparkSession | Any | None"
"""The values of `db=`: those of `--db`, an open engine or a session of Spark (both stay open), and those that
`sqlaudit.engines.place_of` takes: connections of DuckDB and psycopg, engines, connections and URLs of SQLAlchemy."""


@dataclass(frozen=True)
class Executed:
    """A statement that was run, and how long it took in seconds (None when it was only planned).

    Args:
        remarks: the remarks on a table that was opened; then there is no statement, and `sql` is empty.
        rows: how many rows it returned, or the database kept; None if unknown.
    """

    name: str
    sql: str
    seconds: float | None
    remarks: tuple[Remark, ...] = ()
    rows: int | None = None


Tracer = Callable[[Executed], None]
ProgressHook = Callable[[str, float | None], None]
"""Called with the step's name and the share done between 0 and 1, None when unknown."""


ONE_TASK_ROWS = 100_000
"""Up to this many rows, one task of a cluster numbers what is in them; beyond, tasks share the work."""


class Engine(ABC):
    """A connection to one database, read-only.

    Subclasses implement the abstract methods; they raise only `SqlauditError`s, whose messages hold no
    cell value and whose `__cause__` is suppressed (`raise … from None`).
    """

    name: str
    dialect: str
    """The sqlglot dialect that statements are rendered for."""
    can_materialize: bool = False
    """True if `materialize` works here; if not, each step runs as one standalone SELECT."""
    own_workbench: bool = False
    """True if thousands of small statements are cheap here, so that searches run where the rows are; if not, codes and
    counts go to a DuckDB in memory."""

    is_cluster: bool = False
    """True if rows lie on many machines, so that each statement takes long to start, and no machine sorts all rows."""
    answers_together: bool = False
    """True if `run_together` saves work: nothing can be kept, but one statement may have several results."""
    numbers_rows: bool = False
    """True if the rows of a relation of `materialize` have numbers, `rowid`."""
    joins_nulls: bool = False
    """True if an equality in which NULL equals NULL can be the key of a join, and not only its filter."""
    reads_files: bool = False
    """True if a target may be a file."""
    finds_files: bool = False
    """True if it opens any file; if not, files are named when it is opened, and access to all others is closed."""
    own_schema: str = ""
    """The schema of tables that are named without one."""
    private_prefix: str = ""
    """The prefix of the names of this session's views, if no other session has the same."""
    plain_name: str = "[a-z_][a-z0-9_]*"
    """A pattern of names that need no quotes."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.tracer: Tracer | None = None
        self.progress: ProgressHook | None = None
        self.executed: list[Executed] = []
        self.started = time.monotonic()

    @abstractmethod
    def open(self, target: Target) -> Relation:
        """Resolve a target to a relation; `where`, read options and the guard for queries are applied here.

        Raises:
            UsageError: no such table or file, more than one statement, or a query that is not a SELECT.
            InputError: a file that cannot be read.
            PermissionDenied: the table exists but may not be read completely (privileges, row-level security).
        """

    @abstractmethod
    def run(self, statement: Statement, parameters: Sequence[object] = ()) -> list[Row]:
        """Execute a statement and return all its rows (aggregates only).

        `parameters` stand in the statement as $1, $2, …: a value that a user names never becomes part of the SQL.
        """

    def run_together(self, statements: Sequence[Statement], shared: Sequence[str]) -> list[list[Row]]:
        """Return the rows of each of several statements; FROM items that they share may be computed once for all.

        Args:
            statements: the statements. shared: FROM items of them, parenthesized SELECTs, exactly as written there.
        """
        return [self.run(statement) for statement in statements]

    @abstractmethod
    def stream(self, statement: Statement, batch: int = 10_000) -> Iterator[list[Row]]:
        """Execute a statement and yield its rows in batches, for exports."""

    @abstractmethod
    def explain(self, statement: Statement, show_values: bool = False) -> str:
        """Return the engine's plan for a statement, which is not run.

        Args:
            statement: the statement. show_values: True to show the constants of the plan, which may be values of the
                table: the least value of a column, from its statistics, or a part of a view's condition.
        """

    @abstractmethod
    def version(self) -> str:
        """Return the engine's name and version, such as `DuckDB 2.0.0`."""

    @abstractmethod
    def access(self) -> str:
        """Return what the engine may do with the audited database, for reports: its role, and that it only reads."""

    @abstractmethod
    def cancel(self) -> None:
        """Stop the running statement; safe to call from another thread or a signal handler."""

    @abstractmethod
    def close(self) -> None:
        """Drop what was created and release the connection; safe to call twice."""

    def materialize(self, name: str, statement: Statement) -> Relation:
        """Keep the result of a statement as a temporary relation called `name` (replacing an older one)."""
        raise NotImplementedError(f"{self.name} cannot keep temporary relations")

    def keep_rows(self, name: str, columns: Sequence[tuple[str, str]], batches: Iterable[Sequence[Row]]) -> Relation:
        """Keep rows that come in batches (as `stream` gives them) as a temporary relation called `name`.

        `columns` are (name, type in this engine's dialect). One batch at a time is held in Python.
        """
        raise NotImplementedError(f"{self.name} cannot keep temporary relations")

    def keep_frame(self, name: str, frame: object) -> Relation:
        """Keep an Arrow table, or numpy arrays by name, as a temporary relation called `name`."""
        raise NotImplementedError(f"{self.name} keeps no frames")

    def extend(self, name: str, statement: Statement) -> None:
        """Add the result of a statement, of the same columns, to what `materialize` keeps as `name`."""
        raise NotImplementedError(f"{self.name} cannot add to what it keeps")

    def memory(self) -> int | None:
        """Return the bytes that statements may take before they spill to disk; None if only the server knows."""
        return None

    def look_up(self, name: str, columns: Sequence[tuple[str, str]], rows: Sequence[Row]) -> Relation | None:
        """Return a few rows as a relation called `name` that statements read as data; None if that saves nothing here.

        `columns` are (name, type in this engine's dialect).
        """
        return None

    def drop(self, name: str) -> None:
        """Drop a temporary relation made by `materialize` or `keep_rows`."""
        raise NotImplementedError(f"{self.name} cannot keep temporary relations")

    def folded(self, name: str) -> str:
        """Return a name as the engine reads it without quotes."""
        return name

    def catalog_tables(self) -> list[tuple[str, str]] | None:
        """Return (schema, name) of the tables and views; None if information_schema has them."""
        return None

    def catalog_columns(self, most: int) -> list[tuple[str, str, str]] | None:
        """Return (schema, table, column) of at most `most` columns; None if information_schema has them."""
        return None

    def workbench(self) -> Engine:
        """Return a private engine for the many small statements of a search; it is closed with this one.

        Its statements are recorded with those of this engine, and `cancel` stops them, too.
        """
        raise NotImplementedError(f"{self.name} has no workbench")

    def hand_over(self, name: str, statement: Statement) -> Relation:
        """Keep the result of a statement on the workbench as `name`: codes and counts, never a cell.

        The whole result is in the memory of this machine at one time, so the caller must bound it.
        """
        raise NotImplementedError(f"{self.name} has no workbench")

    def files(self) -> Sequence[Path]:
        """Return the files that the engine reads, or may read."""
        return ()

    def lasting(self, relation: Relation) -> str:
        """Return a FROM item that means the relation in any session, for a view that remains."""
        return relation.sql

    def refuse_fleeting(self, view: View) -> None:
        """Raise UsageError if a view or table made here would end with this session."""
        del view

    def columns_as_arrays(self, statement: Statement) -> dict[str, Any]:
        """Return the result of a statement as one numpy array per column."""
        raise NotImplementedError

    def result_names(self, statement: Statement) -> Sequence[str]:
        """Return the column names of a statement's result; the statement is not run."""
        return [column.name for column in self.result_columns(statement)]

    def result_columns(self, statement: Statement) -> tuple[ColumnInfo, ...]:
        """Return the columns of a statement's result with their kinds; the statement is not run."""
        raise NotImplementedError

    def seconds_left(self) -> float | None:
        """Return the seconds left of the time limit, below 0 after it; None without a limit."""
        return None if self.limits.timeout is None else self.limits.timeout - (time.monotonic() - self.started)

    def limits_left(self) -> Limits:
        """Return the limits with the time that is left, for an engine that continues the work of this one."""
        left = self.seconds_left()
        return self.limits if left is None else replace(self.limits, timeout=max(0.001, left))

    def out_of_time(self, during: str) -> Incomplete:
        """Return the error for a time limit that was reached."""
        return Incomplete(f"The time limit of {self.limits.timeout:g} seconds was reached in {during}.")

    def report_step(self, step: str) -> None:
        """Show the progress of a step outside of statements, and raise `Incomplete` at the time limit."""
        if self.progress is not None:
            self.progress(step, None)
        if (self.seconds_left() or 0.0) < 0:
            raise self.out_of_time(step)

    def record(self, statement: Statement, seconds: float | None, rows: int | None = None) -> None:
        """Record that a statement ran, and call the tracer; connections in its texts are hidden (`dblink('…')`).

        Args:
            statement, seconds, rows: as `Executed` has them.
        """
        done = Executed(statement.name, literals_hidden(statement.sql), seconds, rows=rows)
        self.executed.append(done)
        if self.tracer is not None:
            self.tracer(done)

    def note_remarks(self, relation: Relation) -> Relation:
        """Record the remarks on a relation that was opened, for the result; return the relation."""
        if relation.remarks:
            self.executed.append(Executed("open " + relation.label, "", None, relation.remarks))
        return relation

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def returned_rows(result: object) -> int | None:
    """Return how many rows a result has: a list of rows, or one array per column. None for anything else.

    Example:
        >>> returned_rows([(1,), (2,)]), returned_rows({"age": [30, 31, 32]}), returned_rows({})
        (2, 3, 0)
    """
    if isinstance(result, dict):
        return len(next(iter(result.values()), ()))
    return len(result) if isinstance(result, list) else None


# Decimals of Python that databases keep exactly: those of up to 38 digits on both sides of the point.

DIGITS = 38


def fits_decimal(values: Iterable[Decimal]) -> bool:
    """Return True if one decimal type of a database holds all the values exactly.

    Example:
        >>> fits_decimal([Decimal("1e30"), Decimal("0.5")]), fits_decimal([Decimal("1e30"), Decimal("1e-30")])
        (True, False)
        >>> fits_decimal([Decimal("Infinity")])
        False
    """
    integer_digits = scale = 0
    for value in values:
        _, digits, power = value.as_tuple()
        if not isinstance(power, int):
            return False
        integer_digits, scale = max(integer_digits, len(digits) + power), max(scale, -power)
    return integer_digits + scale <= DIGITS


def plain_decimal(value: Decimal) -> str:
    """Return a text that equal decimals share, without zeros at the end.

    Example:
        >>> plain_decimal(Decimal("1.50")), plain_decimal(Decimal("-0.0")), plain_decimal(Decimal("1" + "0" * 40))
        ('1.5', '0', '1E+40')
    """
    if not value:
        return "0"
    return str(Context(prec=max(1, len(value.as_tuple().digits))).normalize(value))


# Folders that are named `column=value`, as Hive and Spark lay out a table.
#
# Readers take such folders for columns by themselves, and a column of the same name in the file is replaced by the
# folder's single value. So nothing of a path is read unless the user asks for it; then the values are texts, as in the
# path (`zip=01234` is not 1234), and a column that is in the file as well is an error.


def partition_columns(paths: Sequence[Path], label: str) -> tuple[str, ...]:
    """Return the columns that the folders of files are named for, outermost first; none for plain folders.

    Args:
        paths: absolute paths of files; all folders above them count.
        label: the user's name for the files.

    Raises:
        InputError: the folders have different columns, or two folders of a path have the same one.

    Example:
        >>> partition_columns([Path("/data/year=2020/zip=01234/p.parquet")], "data/*/*/*.parquet")
        ('year', 'zip')
    """
    named = ([folder.name.partition("=") for folder in reversed(path.parents)] for path in paths)
    column_sets = {tuple(name for name, sign, _ in folders if name and sign) for folders in named}
    if len(column_sets) > 1:
        raise InputError(f"The files of {label!r} are in folders for different columns. Name those of one table.")
    columns = next(iter(column_sets), ())
    repeated = [name for i, name in enumerate(columns) if name.casefold() in map(str.casefold, columns[:i])]
    if repeated:
        raise InputError(f"Two folders on the way to {label!r} are named for the column {repeated[0]!r}.")
    return columns


def refuse_same(columns: Iterable[str], folders: Sequence[str], label: str) -> None:
    """Refuse a name that two columns have, in the file or in its folder: one of the two would be hidden or renamed.

    Raises:
        InputError: there is one.
    """
    columns = list(columns)
    twice = next((name for position, name in enumerate(columns) if name and name in columns[:position]), None)
    if twice is not None:
        raise InputError(f"{label!r} has two columns named {twice!r}. Rename one of them.")
    folded_folders = {name.casefold() for name in folders}
    for name in columns:
        if name.casefold() in folded_folders:
            raise InputError(
                f"{name!r} is a column of {label!r} and also a folder in its path. Read it without hive partitioning, "
                "or rename one of them."
            )


# Tables of a lake: their files also hold deleted rows, and only the table's log shows which.

LAKES = {"_delta_log": "Delta Lake", ".hoodie": "Hudi", "metadata/*.metadata.json": "Iceberg"}
"""Patterns of the log in the folder of a table, by which such a table is recognized."""


def refuse_lake(paths: Iterable[Path], label: str) -> None:
    """Refuse files of a table whose log lies beside them, or in a folder above.

    Args:
        paths: absolute paths of files. label: the user's name for them.

    Raises:
        UsageError: there is a log.
    """
    for folder in {folder for path in paths for alias in (path, path.resolve()) for folder in alias.parents}:
        for log, name in LAKES.items():
            if any(folder.glob(log)):
                raise lake_error(label, name, str(folder))


def lake_error(label: str, name: str, folder: str) -> UsageError:
    """Return the error that names the way to read a table of a lake."""
    way = f'with {spelled("query")} "SELECT * FROM delta.`{folder}`"'
    if name != "Delta Lake":  # of others Spark reads no path in a query
        way = f'from Python as the frame spark.read.format("{name.lower()}").load("{folder}")'
    return UsageError(
        f"{label!r} is part of the {name} table in {folder!r}, whose files also hold deleted rows. Audit the table on "
        f"Spark, by its name or {way}, or write its current rows to a file elsewhere."
    )


# Plans, whose constants may be values of the table.

_CONSTANT = re.compile(r"""'(?:[^']|'')*'?|(?<![\w#$"`])-?\d[\w.]*""")


def hide_constants(text: str) -> str:
    """Return a part of a plan with … for every text and number; names and places such as `#0` stay.

    Example:
        >>> hide_constants("__internal_compress_integral_utinyint(#0, 23171), sex_2 = 'it''s'")
        '__internal_compress_integral_utinyint(#0, …), sex_2 = …'
    """
    return _CONSTANT.sub("…", text)


# Names of statements in messages, and times as Python values.


def step_of(statement: Statement) -> str:
    """Return how messages call the step that a statement belongs to."""
    return f"the step {statement.name!r}"


def in_utc(value: object) -> object:
    """Return a value, with the zone UTC if it is a time."""
    return value.replace(tzinfo=datetime.UTC) if isinstance(value, datetime.datetime) else value


# Views, which are made on demand.


@dataclass(frozen=True)
class View:
    """A view, or a table with its rows, to be made.

    Args:
        name: as a user writes it: `release`, `public."odd name"`. select: the SELECT behind it, in the database's SQL.
        kind: `view` or `table`.
    """

    name: str
    select: str
    kind: str = "view"

    def parts(self, most: int = 3) -> tuple[str, ...]:
        """Return the catalog and schema, if they were named, and the view.

        Args:
            most: the number of parts that a name of this database has.

        Raises:
            UsageError: the text is no such name.
        """
        parts = split_name(self.name)
        if len(parts) > most:
            names = f"{'catalog.' * (most > 2)}schema.{self.kind}"
            raise UsageError(f"{self.name!r} is not a {self.kind} name. Write {self.kind} or {names}.")
        return parts

    def quoted(self, dialect: str) -> str:
        """Return the quoted name."""
        return ".".join(quote(part, dialect) for part in self.parts())

    def statement(self, dialect: str) -> str:
        """Return the CREATE VIEW or CREATE TABLE in one dialect.

        Example:
            >>> print(View("release", "SELECT 1 AS one").statement("duckdb"))
            CREATE VIEW "release" AS
            SELECT 1 AS one
        """
        template = environment().get_template("engines/publish_view.sql")
        return template.render(name=self.quoted(dialect), select=self.select, kind=self.kind, dialect=dialect).strip()


def refuse_taken(view: View, kind: str, replace: bool) -> None:
    """Refuse to make a view whose name is in use.

    Args:
        view: the view to be made. kind: the kind of relation with this name, such as `table`; empty = none.
        replace: True if a view of this name may be replaced.

    Raises:
        UsageError: the name is in use.
    """
    if not kind or (kind == "view" and replace):
        return
    if view.kind == "table":
        raise UsageError(f"There is already a {kind} {view.name!r}, which is never replaced. Choose another name.")
    if kind == "view":
        raise UsageError(
            f"There is already a view {view.name!r}. Replace it with {spelled('replace_view', True)}, or choose "
            "another name."
        )
    raise UsageError(f"There is a {kind} {view.name!r}, which is never replaced. Choose another name.")


# The provenance of a result: the engine, the time, the statements, and the versions.


class Provenance(TypedDict):
    """The fields of provenance, with the names that they have in all results."""

    engine: str
    access: str
    time: str
    remarks: tuple[Warned, ...]
    statements: tuple[Timing, ...]
    versions: Mapping[str, str]


def provenance(engine: Engine, already: int, workbench: Engine | None = None) -> Provenance:
    """Return the provenance of a result that is finished.

    Args:
        already: the number of statements that the engine had run before the work began.
        workbench: the engine where tables were brought together, if its statements are reported, too.
    """
    version = engine.version()
    executed = engine.executed[already:]
    if workbench is not None and workbench is not engine:
        executed = executed + workbench.executed
    remarks = [remark for statement in executed for remark in statement.remarks]
    return {
        "engine": version,
        "access": engine.access(),
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "remarks": tuple(dict.fromkeys(Warned(remark.code, (), remark.text) for remark in remarks)),
        "statements": tuple(Timing(done.name, done.seconds, done.sql) for done in executed if done.sql),
        "versions": {"sqlaudit": __version__, "engine": version},
    }
