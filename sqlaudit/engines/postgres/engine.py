"""PostgreSQL, through psycopg 3: one read-only snapshot, in which nothing is created and no statement needs another."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace as replace_fields
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from sqlaudit.base.errors import EngineError, MissingDriver, PermissionDenied, SqlauditError, UsageError

try:
    import psycopg
except ImportError:
    raise MissingDriver("PostgreSQL needs the driver psycopg: pip install 'sqlaudit[postgres]'.") from None

from psycopg.pq import TransactionStatus

from sqlaudit.base.addresses import Whereabouts, whereabouts
from sqlaudit.base.names import quote
from sqlaudit.base.relation import ColumnInfo, Relation, Row, Statement
from sqlaudit.base.spec import Limits, Target
from sqlaudit.base.sql import environment
from sqlaudit.engines.contract import View, hide_constants, refuse_taken, step_of
from sqlaudit.engines.postgres.connect import LOCK_SECONDS, connect
from sqlaudit.engines.postgres.errors import sentence
from sqlaudit.engines.postgres.open import Fields, Names, PostgresOpener, describe
from sqlaudit.engines.postgres.session import PostgresSession
from sqlaudit.engines.postgres.values import as_array

if TYPE_CHECKING:  # few commands need a workbench
    from sqlaudit.engines.duckdb.engine import DuckDBEngine

# Several statements as one, since PostgreSQL can keep nothing: shared parts are computed once, within that statement.
#
# The answers are side by side, each after a column that marks its rows, so each column keeps its type and no number
# passes through a text.

BATCH = 20_000
"""Rows of a result that are Python objects at a time, if it goes to the workbench."""
MARK = "sqlaudit_answer"
"""The column before each answer; it is NULL in the rows of the other answers."""


def combine_statements(statements: Sequence[Statement], shared: Sequence[str]) -> Statement:
    """Return one statement with the answers of several; each FROM item that they share becomes a CTE of it."""
    names = {item: f"sqlaudit_shared_{number}" for number, item in enumerate(shared, 1)}
    texts = [statement.sql for statement in statements]
    for item, name in names.items():
        texts = [text.replace(item, name) for text in texts]
    template = environment().get_template("engines/postgres/together.sql")
    step = ", ".join(dict.fromkeys(statement.name for statement in statements))
    return Statement(
        step, template.render(heading=step, shared=list(names.items()), statements=texts, mark=MARK).strip()
    )


def split_answers(cursor: psycopg.Cursor[Row]) -> list[list[Row]]:
    """Return the rows of each answer to such a statement, in its order."""
    marks = [position for position, column in enumerate(cursor.description or ()) if column.name == MARK]
    answers: list[list[Any]] = [[] for _ in marks]
    for row in cursor:
        for answer, begin, end in zip(answers, marks, [*marks[1:], len(row)], strict=True):
            if row[begin] is not None:
                answer.append(row[begin + 1 : end])
    return answers


Cursor: TypeAlias = "psycopg.Cursor[Row]"
T = TypeVar("T")


class PostgresEngine(PostgresSession):
    """PostgreSQL in one REPEATABLE READ, READ ONLY transaction; nothing is created.

    Every statement sees the database as it was when the engine connected, so a hot standby and a role without any right
    but SELECT will do.

    Args:
        db: a URL (`postgresql://auditor@host/clinic`) or conninfo string (`service=clinic`); what it leaves out comes
            from PG* variables, services and ~/.pgpass, so `postgresql://` takes everything from there.
        limits: `timeout` is for the whole command; `memory` becomes work_mem (an eighth of it, since a statement
            holds several hash tables in several workers); `threads` is the number of processes a statement may use.

    Raises:
        UsageError: `db` or a limit cannot be understood.
        ConnectionFailed: the server cannot be reached or does not let us in.
        Incomplete: the time limit was reached.

    Example:
        >>> from sqlaudit.base.spec import Target  # doctest: +SKIP
        >>> with PostgresEngine("postgresql://auditor@localhost/clinic") as engine:  # doctest: +SKIP
        ...     engine.open(Target("patients")).columns[0].name
        'age'
    """

    name = "PostgreSQL"
    dialect = "postgres"
    answers_together = True

    def __init__(self, db: str | Whereabouts, limits: Limits | None = None) -> None:
        self._streams = 0
        self._columns: list[str] = []
        self._bench: DuckDBEngine | None = None
        super().__init__(db, limits)

    # --- targets ---

    def folded(self, name: str) -> str:
        """Return a name without quotes as PostgreSQL reads it: in lower case."""
        return name.lower()

    def open(self, target: Target) -> Relation:
        """Resolve a target: a table, partitioned table, view, materialized view or foreign table, or a query.

        Names are taken exactly as written first, then in other letters. Columns that the role may not read are left
        out and listed in `unreadable`. Columns whose type has no equality (json, xml, point ...) are read as text.

        Raises:
            UsageError: no such relation or column, an ambiguous name, or a query or condition that cannot be run.
            PermissionDenied: a GRANT is missing, or row-level security hides rows.
            EngineError: a materialized view without data, or another failure of the server.
        """
        if target.buckets is not None:
            from sqlaudit.engines.buckets import open_buckets

            return open_buckets(self, target, target.buckets)
        relation = PostgresOpener(self._ask, self._probe, self._session, self._respelled).open(target)
        self._columns += [column.name for column in relation.columns]
        return self.note_remarks(relation)

    def _probe(self, select: str, during: str, names: Names | None = None) -> Fields:
        """Return the columns of a SELECT, which is run without reading a row."""
        text = select + " LIMIT 0"
        self._settle(during)
        with self._at_work(during, text, names):
            cursor = self._connection.execute(text.encode())
        result, columns = cursor.pgresult, enumerate(cursor.description or ())
        return [(column.name, column.type_code, result.fmod(i) if result else -1) for i, column in columns]

    def _respelled(self, select: str, columns: Sequence[str]) -> Sequence[bool]:
        """Return for each column of a SELECT whether its collation finds texts equal that are written differently."""
        template = environment().get_template("engines/postgres/collations.sql")
        text = template.render(select=select, columns=[quote(name, self.dialect) for name in columns])
        return self._execute(text, "the collations of columns", lambda cursor: cursor.fetchall())[0]

    # --- statements ---

    def run(self, statement: Statement, parameters: Sequence[object] = ()) -> list[Row]:
        """Execute a statement and return all its rows (aggregates only); `parameters` are its $1, $2, …

        Integers are ints even if PostgreSQL's type is numeric; values that Python lacks (the date 'infinity') are text.

        Raises:
            UsageError: PostgreSQL does not understand an expression.
            PermissionDenied, EngineError: the server refused or failed.
            Incomplete: the time limit was reached.
            Interrupted: `cancel` was called.
        """
        return self._run(statement, lambda cursor: cursor.fetchall(), parameters)

    def run_together(self, statements: Sequence[Statement], shared: Sequence[str]) -> list[list[Row]]:
        """Return the rows of each statement, from one statement that computes their shared FROM items once.

        Raises:
            PermissionDenied, EngineError, Incomplete, Interrupted: as from `run`.
        """
        if len(statements) < 2:
            return [self.run(statement) for statement in statements]
        return self._run(combine_statements(statements, shared), split_answers)

    def _run(self, statement: Statement, take: Callable[[Cursor], T], parameters: Sequence[object] = ()) -> T:
        """Return what `take` makes of a statement's finished cursor, and record the statement with its time."""
        if self.progress is not None:
            self.progress(statement.name, None)
        begun = time.monotonic()
        result, rows = self._execute(
            statement.sql, step_of(statement), lambda cursor: (take(cursor), cursor.rowcount), parameters
        )
        self.record(statement, time.monotonic() - begun, rows)
        return result

    def _execute(self, text: str, during: str, take: Callable[[Cursor], T], parameters: Sequence[object] = ()) -> T:
        """Return what `take` makes of the cursor of a text that was executed."""
        self._settle(during)
        with self._at_work(during, text, lambda _: self._columns):
            if parameters:  # a raw cursor knows $1 and leaves a % in a user's expression alone
                return take(psycopg.RawCursor(self._connection).execute(text.encode(), parameters))
            return take(self._connection.execute(text.encode()))

    def stream(self, statement: Statement, batch: int = 10_000) -> Iterator[list[Row]]:
        """Execute a statement and yield its rows in batches, through a cursor in the server.

        Other statements may run between two batches; one that fails closes the cursor.
        """
        if self.progress is not None:
            self.progress(statement.name, None)
        begun, streamed = time.monotonic(), 0
        self._streams += 1
        cursor = f"sqlaudit_stream_{self._streams}"
        self._execute(
            "DECLARE " + cursor + " NO SCROLL CURSOR FOR\n" + statement.sql, step_of(statement), lambda _: None
        )
        try:
            fetch = f"FETCH FORWARD {int(batch)} FROM {cursor}"
            while rows := self._execute(fetch, step_of(statement), lambda result: result.fetchall()):
                streamed += len(rows)
                yield rows
        finally:
            self._close_cursor(cursor)
        self.record(statement, time.monotonic() - begun, streamed)

    def _close_cursor(self, cursor: str) -> None:
        if self._connection.pgconn.transaction_status == TransactionStatus.INTRANS:
            with suppress(SqlauditError), self._at_work("the end of a step"):  # an error since then has closed it
                self._connection.execute(b"CLOSE " + cursor.encode())

    def columns_as_arrays(self, statement: Statement) -> dict[str, object]:
        """Return the result as one numpy array per column: int64, float64, or else objects; NULLs are masked."""

        def arrays(cursor: Cursor) -> dict[str, object]:
            columns, rows = enumerate(cursor.description or ()), cursor.fetchall()
            return {c.name: as_array(c.type_code, list(map(itemgetter(i), rows))) for i, c in columns}

        return self._run(statement, arrays)

    def result_names(self, statement: Statement) -> Sequence[str]:
        """Return the column names of a statement's result, without running it."""
        text = "SELECT * FROM (\n" + statement.sql + "\n) AS statement"
        return [name for name, *_ in self._probe(text, step_of(statement))]

    def result_columns(self, statement: Statement) -> tuple[ColumnInfo, ...]:
        """Return the columns of a statement's result with their kinds, without running it."""
        text = "SELECT * FROM (\n" + statement.sql + "\n) AS statement"
        return tuple(column.info for column in describe(self._ask, self._probe(text, step_of(statement))))

    def workbench(self) -> DuckDBEngine:
        """Return a DuckDB in memory, with what is left of the limits."""
        if self._bench is None:
            from sqlaudit.engines.duckdb.engine import DuckDBEngine

            self._bench = DuckDBEngine(None, self.limits_left())
            self._bench.executed = self.executed
        self._bench.tracer, self._bench.progress = self.tracer, self.progress
        return self._bench

    def hand_over(self, name: str, statement: Statement) -> Relation:
        """Keep the result of a statement, integers without NULLs, on the workbench as `name`."""
        return self.workbench().keep_frame(name, self._run(statement, _integers))

    def cancel(self) -> None:
        """Stop the running statement, here or on the workbench."""
        if self._bench is not None:
            self._bench.cancel()
        super().cancel()

    def close(self) -> None:
        """Close the workbench, and release the connection; safe to call twice."""
        try:
            if self._bench is not None:
                self._bench.close()
        finally:
            super().close()

    def explain(self, statement: Statement, show_values: bool = False) -> str:
        """Return PostgreSQL's plan for a statement."""
        rows = self._execute("EXPLAIN " + statement.sql, step_of(statement), lambda cursor: cursor.fetchall())
        return "\n".join(line if show_values or "  (cost=" in line else hide_constants(line) for (line,) in rows)

    def version(self) -> str:
        """Return the name and version of the engine, such as `PostgreSQL 18.4`."""
        return "PostgreSQL " + self._session.version.split(maxsplit=1)[0]

    def access(self) -> str:
        """Return the role, in a transaction in which the server refuses writes."""
        return f"role {self._session.role}, in one read-only transaction"


def _integers(cursor: Cursor) -> dict[str, object]:
    """Return a result of integers as one array per column; Python's own integers are made for some rows at a time."""
    import numpy as np

    names = [column.name for column in cursor.description or ()]
    batches = iter(lambda: cursor.fetchmany(BATCH), [])
    arrays = [np.empty((0, len(names)), dtype=np.int64), *(np.array(rows, dtype=np.int64) for rows in batches)]
    return dict(zip(names, np.ascontiguousarray(np.concatenate(arrays).T), strict=True))


# Views in PostgreSQL, made over a connection of their own in one transaction that may write.

DURING = "making the view"


def make_view(db: str, view: View, replace: bool) -> None:
    """Make the view, as `create_view` describes."""
    connection = connect(whereabouts(db), None)
    try:
        connection.read_only = False
        with connection.transaction():
            _make(connection, view, replace)
    except psycopg.Error as error:
        raise _reason(error, view) from None
    finally:
        connection.close()


def _make(connection: psycopg.Connection[tuple[str, ...]], view: View, replace: bool) -> None:
    """Make the view or table in the open transaction; a view of this name is dropped first."""
    *schema, name = view.parts(2)
    default_schema = _pin_names(connection)
    if view.kind == "table":  # its rows are made now, and have to be those of the audit
        settings = dict.fromkeys(("role", "work_mem", "workers", "client_check", "milliseconds"))
        text = environment().get_template("engines/postgres/settings.sql").render().encode()
        connection.execute(text, {**settings, "lock_timeout": f"{LOCK_SECONDS}s"})
    schema_name = schema[0] if schema else default_schema
    look_up = environment().get_template("engines/postgres/kind_of.sql").render().encode()
    row = connection.execute(look_up, {"name": name, "schema": schema_name}).fetchone()
    refuse_taken(view, row[0] if row else "", replace)
    full = replace_fields(view, name=".".join(quote(part, "postgres") for part in (schema_name, name)))
    if row:
        connection.execute(b"DROP VIEW " + full.quoted("postgres").encode())
    connection.execute(full.statement("postgres").encode())


def _pin_names(connection: psycopg.Connection[tuple[str, ...]]) -> str:
    """Return the schema in which views are made; from now on names are looked up in pg_catalog alone.

    A view keeps the operators and functions that its names meant when it was made.
    """
    pin = environment().get_template("engines/postgres/pin_writer.sql").render().encode()
    row = connection.execute(pin).fetchone()
    return row[0] if row and row[0] else "public"


def _reason(error: psycopg.Error, view: View) -> SqlauditError:
    """Return our error for an error of making a view."""
    code = error.sqlstate or ""
    schema = f"the schema {quote(view.parts()[0], 'postgres')}" if len(view.parts()) > 1 else "the schema"
    if code == "42501":
        return PermissionDenied(
            f"This role may not make the {view.kind} {view.name!r}: it needs CREATE on {schema}, SELECT on the table, "
            "and to own a view that it replaces."
        )
    if code == "25006":
        return EngineError(
            f"The server is read-only, so the {view.kind} {view.name!r} cannot be made. Name the primary."
        )
    if code == "3F000":
        return UsageError(f"There is no schema for the {view.kind} {view.name!r}.")
    if code == "2BP01":
        return UsageError(f"Other views read {view.name!r}, so it cannot be replaced. Choose another name.")
    return sentence(error, DURING)
