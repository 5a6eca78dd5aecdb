"""Any SELECT on a published cube: a copy of it in a DuckDB in memory, from which nothing else can be reached.

What the cube shows may be known, so no query is refused for what it asks. The sandbox keeps a query from everything
else: files, settings, other tables, and more time, memory and output than it is given.
"""

from __future__ import annotations

import glob
import json
import re
import threading
from collections.abc import Iterator, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlglot.expressions as exp

from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.base.files import CUBE, CUBE_NOTE, is_duckdb
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.guard import guard_query
from sqlaudit.base.names import literal
from sqlaudit.base.result import plain
from sqlaudit.base.spec import Limits
from sqlaudit.engines.duckdb.driver import duckdb
from sqlaudit.engines.duckdb.errors import ErrorContext, translate
from sqlaudit.engines.duckdb.session import DIALECT, FIXED

COUNTS = ("people", "rows")
"""The columns by which a file is recognized as a cube; both are whole numbers."""
MOST_ROWS, MOST_SIGNS, LONGEST_QUERY = 1_000, 200_000, 10_000
"""Limits of an answer, in rows and characters, and of a query."""
UNKNOWN = "The file does not show that sqlaudit cube made it: what it may reveal was not checked."
_RULE = re.compile(r"[a-z_%]+=[\w:.,%/]{1,80}")
_ROW_FUNCTIONS = ("unnest", "range", "generate_series", "generateseries")
"""Functions that a query may name in the place of a table."""
_CONTENTS = """
SELECT schema_name, table_name, 'table' FROM duckdb_tables() WHERE database_name = 'published'
UNION ALL
SELECT schema_name, view_name, 'view' FROM duckdb_views() WHERE database_name = 'published' AND NOT internal
"""
_OF_THE_MACHINE = ("current_setting", "getenv", "write_log", "json_serialize_plan", "json_execute_serialized_sql")
"""Functions that read or write settings and logs, or evaluate SQL in a text, which may call these."""


@dataclass(frozen=True)
class CubeAnswer:
    """The answer to a query on a cube.

    Args:
        columns: names of its columns. rows: its first rows. more: True if it has more rows.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON has it; dates, decimals and other types of SQL are texts."""
        rows = [[plain(cell) for cell in row] for row in self.rows]
        return {"columns": list(self.columns), "rows": rows, "more": self.more}


@dataclass(frozen=True)
class CubeDescription:
    """What a file shows of its cube.

    Args:
        columns: its columns with their types.
        origin: how it was made, or that that is not known. is_known: True if it is known.
    """

    columns: dict[str, str]
    origin: str
    is_known: bool


def describe_cube(file: Path, label: str) -> CubeDescription:
    """Return the columns of a cube, and how it was made.

    Args:
        file: the Parquet file or DuckDB database. label: its name in messages.

    Raises:
        InputError: the file cannot be read, or is no cube.
    """
    with _loaded(file, Limits(), label) as connection:
        columns = _columns(connection)
        ((note,),) = connection.execute("SELECT comment FROM duckdb_tables() WHERE table_name = ?", [CUBE]).fetchall()
        ((blocks, fewest),) = connection.execute(f"SELECT count(*), min(people) FROM {CUBE}").fetchall()
    origin = _origin(note or "", list(columns), blocks, fewest)
    return CubeDescription(columns, origin or UNKNOWN, bool(origin))


def _origin(note: str, columns: list[str], blocks: int, fewest: int | None) -> str:
    """Return how a cube was made, by the note in its file; empty where the file is not the one that got the note.

    Agents read the sentence, so of the note's texts it has those only that are rules.
    """
    try:
        made = json.loads(note)
        threshold, rules = int(made["threshold"]), [str(rule) for rule in made["rules"]]
        is_same = [*map(str, made["columns"])] == columns and made["blocks"] == blocks
    except (ValueError, TypeError, KeyError):
        return ""
    if not is_same or fewest is None or fewest < threshold or not all(map(_RULE.fullmatch, rules)):
        return ""
    people = "people" if made.get("person") else "people, one for each row of its table"
    kept = " In some groups, everyone may have the same value." if made.get("uniform") == "keep" else ""
    return f"sqlaudit cube made it: groups of at least {threshold} {people}, which meet {', '.join(rules)}.{kept}"


def query_cube(file: Path, sql: str, limits: Limits) -> CubeAnswer:
    """Return the answer to one SELECT on a cube.

    Args:
        file: the Parquet file or DuckDB database.
        sql: the SELECT, in DuckDB's SQL; the cube is called `cube` in it.
        limits: time and memory.

    Raises:
        UsageError: not one SELECT, or one that names anything but the cube. InputError: the file cannot be read.
        Incomplete: the time limit was reached, or the answer is too large.
    """
    if len(sql) > LONGEST_QUERY:
        raise UsageError(f"The query is longer than {LONGEST_QUERY:,} characters. Shorten it.")
    root = guard_query(sql, DIALECT)
    over = threading.Event()
    with _loaded(file, limits, "the cube") as connection:
        views = connection.execute("SELECT lower(view_name) FROM duckdb_views()").fetchall()
        _refuse_others(root, {name for (name,) in views})

        def stop() -> None:
            over.set()
            connection.interrupt()

        timer = None if limits.timeout is None else threading.Timer(limits.timeout, stop)
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            result = connection.execute(sql)
            columns = tuple(str(column[0]) for column in result.description or ())
            rows = result.fetchmany(MOST_ROWS + 1)
        except duckdb.Error as error:
            if isinstance(error, duckdb.OutOfMemoryException):
                raise UsageError("The query needs more memory than it may use. Select fewer rows or columns.") from None
            timeout = limits.timeout if over.is_set() else None
            raise translate(error, ErrorContext("query", {CUBE: _columns(connection)}, timeout=timeout)) from None
        finally:
            if timer is not None:
                timer.cancel()
    answer = CubeAnswer(columns, tuple(rows[:MOST_ROWS]), len(rows) > MOST_ROWS)
    if sum(len(str(cell)) for row in (columns, *rows) for cell in row) > MOST_SIGNS:
        raise UsageError(f"The answer has more than {MOST_SIGNS:,} characters. Aggregate more, or add LIMIT.")
    return answer


def _columns(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    described = connection.execute(f"DESCRIBE {CUBE}").fetchall()
    return {str(name): str(kind) for name, kind, *_ in described}


def _refuse_others(root: exp.Query, views: Set[str]) -> None:
    """Raise UsageError if a query names a table that is not the cube, or a function of rows that may read more.

    Args:
        root: the query.
        views: names of DuckDB's own views, which show settings. A WITH of such a name allows nothing: outside of its
            scope, the name is the view's.
    """
    with_names = {cte.alias.lower() for cte in root.find_all(exp.CTE)} - views
    for table in root.find_all(exp.Table, exp.Lateral):
        is_named = isinstance(table.this, exp.Identifier)
        name = table.name.lower() if is_named else _function_name(table.this)
        is_allowed = name in ({CUBE, *with_names} if is_named else _ROW_FUNCTIONS)
        is_subquery = isinstance(table, exp.Lateral) and isinstance(table.this, exp.Subquery)
        if table.args.get("db") or table.args.get("catalog") or not (is_allowed or is_subquery):
            raise UsageError(f"A query reads the table {CUBE} and nothing else, but it names {name[:60]!r}.")
    for name in map(_function_name, root.find_all(exp.Func)):
        if name in _OF_THE_MACHINE:
            raise UsageError(f"A query reads the table {CUBE} and nothing else, but it calls {name}.")


def _function_name(call: exp.Expr) -> str:
    """Return the name of a function as it was written, in small letters."""
    if isinstance(call, exp.Func) and not isinstance(call, exp.Anonymous):
        return call.sql_name().lower()
    return (call.name or call.key).lower()


@contextmanager
def _loaded(file: Path, limits: Limits, label: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a DuckDB in memory that has a copy of the cube, and can reach nothing else.

    Raises:
        InputError: the file cannot be read, or is no cube: it may hold rows of single people.
    """
    settings: dict[str, Any] = {**FIXED, "temp_directory": ""}
    if limits.memory:
        settings["memory_limit"] = limits.memory
    if limits.threads is not None:
        settings["threads"] = limits.threads
    with duckdb.connect(":memory:", config=settings) as connection:
        _copy(connection, file, label)
        columns = _columns(connection)
        if any(columns.get(name) != "BIGINT" for name in COUNTS):
            raise InputError(
                f"{label} is no cube: it has no columns of whole numbers people and rows. Make one with sqlaudit cube."
            )
        ((few,),) = connection.execute(f"SELECT count(*) FROM {CUBE} WHERE people IS NULL OR people < 2").fetchall()
        if few:
            raise InputError(f"{label} is no cube: some of its rows are about fewer than two people.")
        connection.execute("SET enable_progress_bar = FALSE")  # it is drawn on stdout, where a server speaks
        connection.execute("SET enable_external_access = FALSE")
        connection.execute("SET lock_configuration = TRUE")
        yield connection


def _copy(connection: duckdb.DuckDBPyConnection, file: Path, label: str) -> None:
    """Copy a cube into a connection, with its note as comment.

    Beside its table a database has nothing: a view could read other files.

    Raises:
        InputError: the file cannot be read, or has anything else.
    """
    try:
        if is_duckdb(file):
            connection.execute(f"ATTACH {literal(str(file), DIALECT)} AS published (READ_ONLY)")
            if connection.execute(_CONTENTS).fetchall() != [("main", CUBE, "table")]:
                raise InputError(f"{label} is no cube: it must have the table {CUBE} and nothing else.")
            notes = connection.execute("SELECT comment FROM duckdb_tables() WHERE comment IS NOT NULL").fetchall()
            connection.execute(f"CREATE TABLE {CUBE} AS FROM published.main.{CUBE}")
            connection.execute("DETACH published")
        else:
            source = literal(glob.escape(str(file)), DIALECT)
            noted = f"SELECT decode(value) FROM parquet_kv_metadata({source}) WHERE decode(key) = '{CUBE_NOTE}'"
            notes = connection.execute(noted).fetchall()
            connection.execute(f"CREATE TABLE {CUBE} AS FROM read_parquet([{source}])")
        if len(notes) == 1:
            connection.execute(f"COMMENT ON TABLE {CUBE} IS {literal(notes[0][0], DIALECT)}")
    except duckdb.Error:
        raise InputError(
            f"{label} cannot be read as Parquet or DuckDB. Name the .parquet or .duckdb file of a cube."
        ) from None


def parquet_of(file: Path, copy: Path, label: str) -> None:
    """Write the table of a DuckDB database that has only a cube into a Parquet file.

    Raises:
        InputError: the file cannot be read, or has anything else.
    """
    with duckdb.connect(":memory:", config={**FIXED}) as connection:
        _copy(connection, file, label)
        connection.execute(f"COPY {CUBE} TO {literal(str(copy), DIALECT)} (FORMAT parquet)")
