"""A connection over an ADBC driver that runs SELECTs, with limits of time, and whose errors hold no value."""

from __future__ import annotations

import importlib
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any, TypeVar

from sqlaudit.base.errors import ConnectionFailed, EngineError, Incomplete, MissingDriver
from sqlaudit.base.spec import Limits
from sqlaudit.engines.adbc.places import AdbcPlace

T = TypeVar("T")
LEAVING = 5.0
"""Seconds that a statement has to end after it was cancelled."""


class AdbcReader:
    """An open connection; `with` closes it.

    Args:
        place: where the database is. limits: only the time is of use here.

    Raises:
        MissingDriver: the manager or the driver is not installed. ConnectionFailed: the database cannot be reached.
        EngineError: it does not say that it only reads. Incomplete: the time is over.
    """

    def __init__(self, place: AdbcPlace, limits: Limits) -> None:
        self._driver = place.driver
        self._ends = None if limits.timeout is None else time.monotonic() + limits.timeout
        self._timeout = limits.timeout
        self._running: Any = None
        self._open: Any = None
        connect = _connector(place)
        self._open = self._timed(connect, ConnectionFailed, "The database could not be reached")
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def rows(self, sql: str) -> list[Mapping[str, Any]]:
        """The rows of a SELECT, by the names of their columns, as the driver gives them; at most two of them.

        Raises:
            EngineError: the database refused or failed. Incomplete: the time is over.
        """

        def work() -> list[Mapping[str, Any]]:
            with self._open.cursor() as cursor:
                self._running = cursor
                cursor.execute(sql)
                names = [column[0] for column in cursor.description or ()]
                return [dict(zip(names, row, strict=True)) for row in cursor.fetchmany(2)]

        try:
            return self._timed(work, EngineError, "The database refused the statement, or failed")
        except EngineError:
            self._again()
            raise

    def close(self) -> None:
        """Leave the database; what runs is left alone when it does not end."""
        if self._open is not None and self._running is None:
            with suppress(Exception):
                self._open.close()
        self._open = None

    def __enter__(self) -> AdbcReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _begin(self) -> None:
        """Begin a transaction that only reads, and have the database say so."""
        for setting in self._driver.settings:
            self._timed(partial(self._command, setting), EngineError, "The database took no setting")
        if self._driver.proof is None:
            return
        question, wanted = self._driver.proof
        rows = self._timed(
            lambda: self._answer(question), EngineError, "The database did not say whether it only reads"
        )
        if [str(value).casefold() for value in rows] != [wanted]:
            raise EngineError("The database does not say that this connection only reads, so nothing was asked of it.")

    def _again(self) -> None:
        """After a statement that failed, a new transaction: some databases take nothing more in the old one."""
        if self._driver.commits and self._running is None:
            with suppress(EngineError):
                self._timed(self._open.rollback, EngineError, "The transaction could not be ended")
            self._begin()

    def _command(self, sql: str) -> None:
        with self._open.cursor() as cursor:
            if self._driver.name == "postgresql":
                cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})
            cursor.execute(sql)

    def _answer(self, sql: str) -> list[Any]:
        with self._open.cursor() as cursor:
            cursor.execute(sql)
            return [row[0] for row in cursor.fetchmany(2)]

    def _timed(self, work: Callable[[], T], kind: type[EngineError], said: str) -> T:
        """What work returns, in a thread of its own: signals and the time limit are heard while a driver waits."""
        done: list[T] = []
        failed: list[BaseException] = []

        def run() -> None:
            try:
                done.append(work())
            except BaseException as error:  # noqa: BLE001 (told by its kind in the other thread)
                failed.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            thread.join(None if self._ends is None else max(0.0, self._ends - time.monotonic()))
        except BaseException:
            self._cancel(thread)
            raise
        if thread.is_alive():
            self._cancel(thread)
            raise Incomplete(f"The time limit of {self._timeout:g} seconds was reached.")
        self._running = None
        if failed:
            raise kind(f"{said} ({type(failed[0]).__name__}, over the ADBC driver {self._driver.name}).") from None
        return done[0]

    def _cancel(self, thread: threading.Thread) -> None:
        running = self._running
        if running is not None:
            with suppress(Exception):
                running.adbc_cancel()
        thread.join(LEAVING)
        if not thread.is_alive():
            self._running = None
        else:
            self._running = running or thread


def _connector(place: AdbcPlace) -> Callable[[], Any]:
    """What connects.

    Raises:
        MissingDriver: a package is not installed.
    """
    name = place.driver.name
    try:
        dbapi = importlib.import_module("adbc_driver_manager.dbapi")
        importlib.import_module("pyarrow")
    except ImportError:
        raise MissingDriver(
            "ADBC needs the packages adbc-driver-manager and pyarrow: pip install 'sqlaudit[adbc]'."
        ) from None
    try:
        driver = importlib.import_module(f"adbc_driver_{name}")
        path = driver.driver_path() if hasattr(driver, "driver_path") else driver._driver_path()
    except ImportError:
        package = "duckdb" if name == "duckdb" else f"adbc-driver-{name}"
        raise MissingDriver(f"This needs the ADBC driver of {name}: pip install {package}.") from None
    return lambda: dbapi.connect(
        driver=path,
        entrypoint=place.driver.entrypoint,
        db_kwargs=dict(place.options),
        autocommit=not place.driver.commits,
    )
