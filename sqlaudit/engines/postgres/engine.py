"""PostgreSQL, through psycopg 3: one read-only snapshot, nothing created, every statement stands alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from operator import itemgetter
from typing import Any, Self, TypeAlias, TypeVar

from sqlaudit.base.errors import EngineError, Incomplete, Interrupted, MissingDriver, SqlauditError, UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.relation import ColumnInfo, Relation, Row, Statement
from sqlaudit.base.spec import Limits, Target
from sqlaudit.base.sql import environment
from sqlaudit.base.whereabouts import Whereabouts, whereabouts
from sqlaudit.engines.contract import Engine

try:
    import psycopg
except ImportError:
    raise MissingDriver("PostgreSQL needs the driver psycopg: pip install 'sqlaudit[postgres]'.") from None

from psycopg.pq import TransactionStatus

from sqlaudit.engines.postgres import connect as connecting
from sqlaudit.engines.postgres.catalog import describe
from sqlaudit.engines.postgres.errors import CANCELLED, NO_COLUMN, NO_TABLE, sentence
from sqlaudit.engines.postgres.open import Described, Names, PostgresOpener
from sqlaudit.engines.postgres.together import apart, together
from sqlaudit.engines.postgres.values import as_array
from sqlaudit.engines.watch import Deadline

CANCEL_SECONDS = 5
Cursor: TypeAlias = "psycopg.Cursor[Row]"
T = TypeVar("T")


class PostgresEngine(Engine):
    """A connection to PostgreSQL in one REPEATABLE READ, READ ONLY transaction.

    Every statement sees the database as it was when the engine connected. An error, a cancel or a time limit ends a
    statement, not the transaction: the next one sees the same snapshot. Nothing is created, so a hot standby and a role
    without any right but SELECT will do.

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
        super().__init__(limits)
        self._running = False
        self._cancelled = False
        self._severed = False
        self._asked = 0.0
        self._thread = 0
        self._streams = 0
        self._columns: list[str] = []
        self._server_limit: int | None = None  # not known yet
        self._path: list[str] = []  # the schemas in which the role's names without a schema are looked up, in order
        self._settings: dict[str, str | None] = connecting.settings(self.limits)
        left = self._seconds_left()
        self._deadline = Deadline(None if left is None else left + connecting.GRACE_SECONDS, self._sever)
        with ExitStack() as on_failure:
            on_failure.callback(self._deadline.stop)
            self._connection = connecting.connect(whereabouts(db), left)
            on_failure.callback(self.close)
            with self._at_work("the start of the audit"):
                ((self._path, self._settings["role"], _),) = self._catalog("pin.sql", {})
            self._session = connecting.ServerFacts(*self._ask("session.sql", {})[0])
            with self._at_work("the start of the audit"):
                self._connection.execute(b"SAVEPOINT sqlaudit")
            on_failure.pop_all()
        self._server_limit = self._session.statement_timeout

    # --- targets ---

    def folded(self, name: str) -> str:
        """A name without quotes is lower case to PostgreSQL."""
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
            from sqlaudit.engines.buckets import of_buckets

            return of_buckets(self, target, target.buckets)
        relation = PostgresOpener(self._ask, self._probe, self._session, self._respelled).open(target)
        self._columns += [column.name for column in relation.columns]
        return relation

    def _ask(self, template: str, parameters: Mapping[str, Any]) -> list[Row]:
        self._settle("PostgreSQL's catalog")
        with self._at_work("PostgreSQL's catalog"):
            return self._catalog(template, parameters)

    def _catalog(self, template: str, parameters: Mapping[str, Any]) -> list[Row]:
        text = environment().get_template("engines/postgres/" + template).render()
        return self._connection.execute(text.encode(), {**parameters, "path": self._path}).fetchall()

    def _probe(self, select: str, during: str, names: Names | None = None) -> Described:
        text = select + " LIMIT 0"
        self._settle(during)
        with self._at_work(during, text, names):
            cursor = self._connection.execute(text.encode())
        return self._described(cursor)

    def _respelled(self, select: str, columns: Sequence[str]) -> Sequence[bool]:
        """Which columns of a SELECT have a collation that finds texts equal which are written differently."""
        template = environment().get_template("engines/postgres/collations.sql")
        text = template.render(select=select, columns=[quote(name, self.dialect) for name in columns])
        return self._execute(text, "the collations of columns", lambda cursor: cursor.fetchall())[0]

    @staticmethod
    def _described(cursor: Cursor) -> Described:
        result = cursor.pgresult
        columns = enumerate(cursor.description or ())
        return [(column.name, column.type_code, result.fmod(i) if result else -1) for i, column in columns]

    # --- statements ---

    def run(self, statement: Statement, parameters: Sequence[Any] = ()) -> list[Row]:
        """Execute a statement and return all its rows (aggregates only); `parameters` stand in it as $1, $2, …

        Integers are ints even where PostgreSQL says numeric; what Python cannot hold (the date 'infinity') is text.

        Raises:
            UsageError: an expression that PostgreSQL does not understand.
            PermissionDenied, EngineError: the server refused or failed.
            Incomplete: the time limit was reached.
            Interrupted: `cancel` was called.
        """
        return self._finished(statement, lambda cursor: cursor.fetchall(), parameters)

    def run_together(self, statements: Sequence[Statement], shared: Sequence[str]) -> list[list[Row]]:
        """The rows of each statement, all from one that computes what they share once.

        Raises:
            PermissionDenied, EngineError, Incomplete, Interrupted: as from `run`.
        """
        if len(statements) < 2:
            return [self.run(statement) for statement in statements]
        return self._finished(together(statements, shared), apart)

    def _finished(self, statement: Statement, take: Callable[[Cursor], T], parameters: Sequence[Any] = ()) -> T:
        """What `take` makes of a statement's finished cursor; noted with its time."""
        if self.progress is not None:
            self.progress(statement.name, None)
        begun = time.monotonic()
        taken = self._execute(statement.sql, _step(statement), take, parameters)
        self.record(statement, time.monotonic() - begun)
        return taken

    def _execute(self, text: str, during: str, take: Callable[[Cursor], T], parameters: Sequence[Any] = ()) -> T:
        self._settle(during)
        with self._at_work(during, text, lambda _: self._columns):
            if parameters:  # a raw cursor knows $1 and leaves a % in somebody's expression alone
                return take(psycopg.RawCursor(self._connection).execute(text.encode(), parameters))
            return take(self._connection.execute(text.encode()))

    def stream(self, statement: Statement, batch: int = 10_000) -> Iterator[list[Row]]:
        """Execute a statement and yield its rows in batches, through a cursor in the server.

        Other statements may run between two batches; one that fails closes the cursor.
        """
        if self.progress is not None:
            self.progress(statement.name, None)
        begun = time.monotonic()
        self._streams += 1
        cursor = f"sqlaudit_stream_{self._streams}"
        self._execute("DECLARE " + cursor + " NO SCROLL CURSOR FOR\n" + statement.sql, _step(statement), _nothing)
        try:
            fetch = f"FETCH FORWARD {int(batch)} FROM {cursor}"
            while rows := self._execute(fetch, _step(statement), lambda result: result.fetchall()):
                yield rows
        finally:
            self._close_cursor(cursor)
        self.record(statement, time.monotonic() - begun)

    def _close_cursor(self, cursor: str) -> None:
        if self._connection.pgconn.transaction_status == TransactionStatus.INTRANS:
            with suppress(SqlauditError), self._at_work("the end of a step"):  # an error since then has closed it
                self._connection.execute(b"CLOSE " + cursor.encode())

    def columns_as_arrays(self, statement: Statement) -> dict[str, Any]:
        """The result as one numpy array a column: int64, float64, or objects where neither is exact; NULLs masked."""

        def arrays(cursor: Cursor) -> dict[str, Any]:
            columns, rows = enumerate(cursor.description or ()), cursor.fetchall()
            return {c.name: as_array(c.type_code, list(map(itemgetter(i), rows))) for i, c in columns}

        return self._finished(statement, arrays)

    def result_names(self, statement: Statement) -> Sequence[str]:
        """The column names of a statement's result, without running it."""
        text = "SELECT * FROM (\n" + statement.sql + "\n) AS statement"
        return [name for name, *_ in self._probe(text, _step(statement))]

    def result_columns(self, statement: Statement) -> tuple[ColumnInfo, ...]:
        """The columns of a statement's result with their kinds, without running it."""
        text = "SELECT * FROM (\n" + statement.sql + "\n) AS statement"
        return tuple(column.info for column in describe(self._ask, self._probe(text, _step(statement))))

    def explain(self, statement: Statement) -> str:
        """PostgreSQL's plan for a statement."""
        rows = self._execute("EXPLAIN " + statement.sql, _step(statement), lambda cursor: cursor.fetchall())
        return "\n".join(line for (line,) in rows)

    def version(self) -> str:
        """For instance `PostgreSQL 18.4`."""
        return "PostgreSQL " + self._session.version.split(maxsplit=1)[0]

    def access(self) -> str:
        """The role, in a transaction that the server keeps from writing."""
        return f"role {self._session.role}, in one read-only transaction"

    # --- limits, errors, the way out ---

    def _seconds_left(self) -> float | None:
        if self.limits.timeout is None:
            return None
        return self.limits.timeout - (time.monotonic() - self.started)

    def _settle(self, during: str) -> None:
        """Say every setting that matters again, since what was read before may have changed it.

        Among them: how long the next statement may take, never longer than the server's own limit for this role.
        """
        left = self._seconds_left()
        if left is not None and left <= 0:
            raise self._out_of_time(during)
        limits = [] if left is None else [max(1, int(left * 1000))]
        limits += [self._server_limit] if self._server_limit else []
        milliseconds = None if self._server_limit is None else str(min(limits, default=0))
        with self._at_work(during):
            self._catalog("settings.sql", {**self._settings, "milliseconds": milliseconds})

    def _out_of_time(self, during: str) -> Incomplete:
        return Incomplete(f"The time limit of {self.limits.timeout:g} seconds was reached in {during}.")

    @contextmanager
    def _at_work(self, during: str, text: str = "", names: Names | None = None) -> Iterator[None]:
        """Whatever goes wrong inside leaves as an error of ours, and the transaction usable."""
        begun = time.monotonic()
        self._cancelled, self._thread, self._running = False, threading.get_ident(), True
        try:
            yield
        except psycopg.Error as error:
            self._recover()
            self._check_transaction(during)
            raise self._reason(error, during, text, names, time.monotonic() - begun) from None
        except KeyboardInterrupt:
            self._recover()
            raise
        finally:
            self._running = False
        self._check_transaction(during)
        if self._cancelled:
            raise Interrupted(f"Stopped in {during}.")

    def _check_transaction(self, during: str) -> None:
        """Without its transaction the audit has lost its snapshot, its settings and its promise to write nothing."""
        if self._connection.pgconn.transaction_status == TransactionStatus.IDLE:
            self._connection.close()
            raise UsageError(f"An audit only reads, and {during} ended its transaction.")

    def _recover(self) -> None:
        """Back to the savepoint, so that the next statement runs in the same snapshot; useless once disconnected."""
        if self._connection.pgconn.transaction_status == TransactionStatus.INERROR:
            with suppress(psycopg.Error):
                self._connection.execute(b"ROLLBACK TO SAVEPOINT sqlaudit")

    def _reason(
        self, error: psycopg.Error, during: str, text: str, names: Names | None, seconds: float
    ) -> SqlauditError:
        if error.sqlstate == CANCELLED or self._severed:
            return self._stopped(during, seconds)
        known = names(error.sqlstate) if names and error.sqlstate in (NO_COLUMN, NO_TABLE) else ()
        return sentence(error, during, text, known, f"waited {connecting.LOCK_SECONDS} s")

    def _stopped(self, during: str, seconds: float) -> SqlauditError:
        """Why the server cancelled a statement: its SQLSTATE is the same for a person and for a time limit."""
        if self._cancelled:
            return Interrupted(f"Stopped in {during}.")
        left = self._seconds_left()
        if left is not None and left < 0.05:
            return self._out_of_time(during)
        if self._severed:
            return EngineError(f"The connection was given up before {during}: the server did not answer.")
        if self._server_limit and seconds * 1000 >= self._server_limit * 0.99:
            return Incomplete(
                f"The server's statement_timeout of {self._server_limit / 1000:g} s was reached in {during}; ask for a "
                "longer one for this role."
            )
        return EngineError(f"Somebody on the server cancelled {during}.")

    def cancel(self) -> None:
        """Stop the running statement, which then raises `Interrupted`; does nothing when none runs.

        Raises:
            EngineError: the server did not take the request. The connection is given up; the statement may go on there.
        """
        if not self._running:
            return
        if not self._cancelled:
            self._cancelled, self._asked = True, time.monotonic()
        try:
            self._connection.cancel_safe(timeout=CANCEL_SECONDS)
            ignored = time.monotonic() - self._asked > CANCEL_SECONDS
        except psycopg.Error:
            ignored = True
        if ignored and self._running:
            self._sever()
            raise EngineError("The server did not take the request to cancel; its statement may go on for a while.")

    def _sever(self) -> None:
        """Give up on a server that does not answer: the statement that waits for it fails."""
        if not self._running:
            return
        self._severed = True
        connecting.sever(self._connection)
        if threading.get_ident() == self._thread:  # in a signal handler: nothing waits below, and nobody should again
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def close(self) -> None:
        """Stop what runs, roll back, and release the connection; safe to call twice."""
        try:
            self._deadline.stop()
            with suppress(psycopg.Error):
                self._end_transaction()
        finally:  # also when Ctrl-C comes meanwhile: the server then ends what was left open
            self._connection.close()

    def _end_transaction(self) -> None:
        status = self._connection.pgconn.transaction_status
        if status == TransactionStatus.ACTIVE:
            self._connection.cancel_safe(timeout=CANCEL_SECONDS)
        elif status != TransactionStatus.UNKNOWN:
            self._roll_back()

    def _roll_back(self) -> None:
        """End the transaction; without an answer the server ends it when the line is cut."""
        waiting = threading.Timer(CANCEL_SECONDS, connecting.sever, [self._connection])
        waiting.daemon = True
        waiting.start()
        try:
            self._connection.rollback()
        finally:
            waiting.cancel()
            waiting.join()


def _step(statement: Statement) -> str:
    return f"the step {statement.name!r}"


def _nothing(_: Cursor) -> None:
    return None
