"""A session with PostgreSQL: its one transaction, its limits, its errors, and its end."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Self

import psycopg
from psycopg.pq import TransactionStatus

from sqlaudit.base.addresses import Whereabouts, whereabouts
from sqlaudit.base.errors import EngineError, Incomplete, Interrupted, SqlauditError, UsageError
from sqlaudit.base.relation import Row
from sqlaudit.base.spec import Limits
from sqlaudit.base.sql import environment
from sqlaudit.base.threads import start_thread
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.postgres import connect as connecting
from sqlaudit.engines.postgres.errors import CANCELLED, NO_COLUMN, NO_TABLE, sentence
from sqlaudit.engines.postgres.open import Names
from sqlaudit.engines.watch import Deadline

CANCEL_SECONDS = 5


class PostgresSession(Engine):
    """A connection in one transaction; an error, a cancel or a time limit ends a statement but not the transaction.

    The next statement sees the same snapshot.
    """

    def __init__(self, db: str | Whereabouts, limits: Limits | None = None) -> None:
        super().__init__(limits)
        self._running = False
        self._cancelled = False
        self._severed = False
        self._cancelled_at = 0.0
        self._thread = 0
        self._server_limit: int | None = None  # not known yet
        self._path: list[str] = []  # the schemas in which the role's names without a schema are looked up, in order
        self._settings: dict[str, str | None] = connecting.settings(self.limits)
        left = self.seconds_left()
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
                self._settings["client_check"] = self._client_check()
            on_failure.pop_all()
        self._server_limit = self._session.statement_timeout

    def _client_check(self) -> str | None:
        """Return how often a running statement looks whether its client is still there; None if the server cannot."""
        if self._connection.info.server_version < connecting.CHECKS_CLIENT:
            return None
        try:
            self._catalog("client_check.sql", {"interval": connecting.CLIENT_CHECK})
        except (psycopg.DataError, psycopg.ProgrammingError):  # not on this platform, or not in this fork
            self._recover()
            return None
        return connecting.CLIENT_CHECK

    def _ask(self, template: str, parameters: Mapping[str, object]) -> list[Row]:
        """Return the rows of a template over PostgreSQL's catalog, with errors as ours."""
        self._settle("PostgreSQL's catalog")
        with self._at_work("PostgreSQL's catalog"):
            return self._catalog(template, parameters)

    def _catalog(self, template: str, parameters: Mapping[str, object]) -> list[Row]:
        text = environment().get_template("engines/postgres/" + template).render()
        return self._connection.execute(text.encode(), {**parameters, "path": self._path}).fetchall()

    def _settle(self, during: str) -> None:
        """Make all settings that matter again, since an earlier statement may have changed them.

        Among them is the time limit of the next statement, at most the server's own limit for this role.
        """
        left = self.seconds_left()
        if left is not None and left <= 0:
            raise self.out_of_time(during)
        limits = [] if left is None else [max(1, int(left * 1000))]
        limits += [self._server_limit] if self._server_limit else []
        milliseconds = None if self._server_limit is None else str(min(limits, default=0))
        with self._at_work(during):
            self._catalog("settings.sql", {**self._settings, "milliseconds": milliseconds})

    @contextmanager
    def _at_work(self, during: str, text: str = "", names: Names | None = None) -> Iterator[None]:
        """Run the block: errors in it are raised as ours, and the transaction stays usable."""
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
        """Raise UsageError if the transaction has ended, and with it the snapshot and the read-only mode."""
        if self._connection.pgconn.transaction_status == TransactionStatus.IDLE:
            self._connection.close()
            raise UsageError(f"An audit only reads, but {during} ended its transaction.")

    def _recover(self) -> None:
        """Return to the savepoint, so that the next statement runs in the same snapshot."""
        if self._connection.pgconn.transaction_status == TransactionStatus.INERROR:
            with suppress(psycopg.Error):
                self._connection.execute(b"ROLLBACK TO SAVEPOINT sqlaudit")

    def _reason(
        self, error: psycopg.Error, during: str, text: str, names: Names | None, seconds: float
    ) -> SqlauditError:
        """Return our error for an error in a statement."""
        if error.sqlstate == CANCELLED or self._severed:
            return self._cancellation_error(during, seconds)
        known_names = names(error.sqlstate) if names and error.sqlstate in (NO_COLUMN, NO_TABLE) else ()
        return sentence(error, during, text, known_names, f"waited {connecting.LOCK_SECONDS} s")

    def _cancellation_error(self, during: str, seconds: float) -> SqlauditError:
        """Return the error for a cancelled statement: by the user, by a time limit, or by someone on the server."""
        if self._cancelled:
            return Interrupted(f"Stopped in {during}.")
        left = self.seconds_left()
        if left is not None and left < 0.05:
            return self.out_of_time(during)
        if self._severed:
            return EngineError(f"The connection was closed before {during}: the server did not respond.")
        if self._server_limit and seconds * 1000 >= self._server_limit * 0.99:
            return Incomplete(
                f"The server's statement_timeout of {self._server_limit / 1000:g} s was reached in {during}; ask for a "
                "longer one for this role."
            )
        return EngineError(f"Another user cancelled {during} on the server.")

    def cancel(self) -> None:
        """Stop the running statement, which then raises `Interrupted`; does nothing if none runs.

        Raises:
            EngineError: the server did not take the request. The connection is closed; the statement may go on there.
        """
        if not self._running:
            return
        if not self._cancelled:
            self._cancelled, self._cancelled_at = True, time.monotonic()
        try:
            self._connection.cancel_safe(timeout=CANCEL_SECONDS)
            ignored = time.monotonic() - self._cancelled_at > CANCEL_SECONDS
        except psycopg.Error:
            ignored = True
        if ignored and self._running:
            self._sever()
            raise EngineError("The server did not cancel the statement, which may continue for a while.")

    def _sever(self) -> None:
        """Close the socket of a server that does not answer, so that the waiting statement fails."""
        if not self._running:
            return
        self._severed = True
        connecting.sever(self._connection)
        if threading.get_ident() == self._thread:  # in a signal handler: no statement waits below
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def close(self) -> None:
        """Stop what runs, roll back, and release the connection; safe to call twice."""
        try:
            self._deadline.stop()
            with suppress(psycopg.Error):
                self._end_transaction()
        finally:  # also if Ctrl-C comes meanwhile: the server then ends the open transaction
            self._connection.close()

    def _end_transaction(self) -> None:
        """Cancel the running statement, or roll back. Without an answer, the server does so when the socket closes."""
        status = self._connection.pgconn.transaction_status
        if status == TransactionStatus.ACTIVE:
            self._connection.cancel_safe(timeout=CANCEL_SECONDS)
        elif status != TransactionStatus.UNKNOWN:
            waiting = threading.Timer(CANCEL_SECONDS, connecting.sever, [self._connection])
            waiting.daemon = True
            is_watched = start_thread(waiting)
            try:
                self._connection.rollback()
            finally:
                if is_watched:
                    waiting.cancel()
                    waiting.join()
