"""Addresses of the form `adbc:driver:uri`, and connections over them that run SELECTs; no error holds a value."""

from __future__ import annotations

import importlib
import re
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, unquote, urlsplit

from sqlaudit.base.errors import ConnectionFailed, EngineError, Incomplete, MissingDriver, UnknownFile, UsageError
from sqlaudit.base.files import expanded, is_file, resolved
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.parameter_names import about
from sqlaudit.base.spec import Limits
from sqlaudit.base.threads import start_thread

# Addresses of the form `adbc:driver:uri`: a driver, its options, and what keeps it from writing.

PREFIX = "adbc:"


@dataclass(frozen=True)
class AdbcDriver:
    """An ADBC driver, and how it is kept from writing.

    Args:
        name: the name after `adbc:`; its package is `adbc_driver_<name>`. dialect: the SQL of its database, empty =
            unknown. settings: SQL that begins a transaction. proof: a SELECT of one text, and the text by which the
            database confirms that it only reads. entrypoint: the entry point of its library, if not the usual one.
        commits: True if it has transactions. access: what keeps it from writing, for reports.
    """

    name: str
    dialect: str
    access: str
    settings: tuple[str, ...] = ()
    proof: tuple[str, str] | None = None
    entrypoint: str | None = None
    commits: bool = True


_ONLY_SELECTS = "nothing but SELECTs was sent; what the role may do is the database's to say"
DRIVERS = {
    driver.name: driver
    for driver in (
        AdbcDriver(
            "sqlite",
            "sqlite",
            "the file was opened read-only, in one transaction",
            ("PRAGMA query_only = 1",),
            ("SELECT CAST(query_only AS TEXT) FROM pragma_query_only", "1"),
        ),
        AdbcDriver(
            "duckdb",
            "duckdb",
            "the file was opened read-only, and every other file is closed",
            (),
            (
                "SELECT CAST(readonly AS VARCHAR) FROM duckdb_databases() WHERE database_name = CURRENT_DATABASE()",
                "true",
            ),
            "duckdb_adbc_init",
        ),
        AdbcDriver(
            "postgresql",
            "postgres",
            "one transaction, REPEATABLE READ and READ ONLY",
            ("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY", "SET LOCAL row_security = off"),
            ("SELECT pg_catalog.current_setting('transaction_read_only')", "on"),
        ),
        AdbcDriver("flightsql", "", _ONLY_SELECTS, commits=False),
        AdbcDriver("snowflake", "snowflake", _ONLY_SELECTS, commits=False),
        AdbcDriver("bigquery", "bigquery", _ONLY_SELECTS, commits=False),
    )
}
"""Drivers by name. The first four were tried; the others are used in the same way but were not tried."""


@dataclass(frozen=True)
class AdbcPlace:
    """The address of a database behind an ADBC driver.

    Args:
        driver: the driver. options: its options, which may hold a password. file: the file of a database of one file.
    """

    driver: AdbcDriver
    options: Mapping[str, str] = field(repr=False)
    file: Path | None = None


def is_adbc(db: str) -> bool:
    """Return True if the text of `--db` names an ADBC driver.

    Example:
        >>> is_adbc("adbc:sqlite:///clinic.db"), is_adbc("clinic.duckdb")
        (True, False)
    """
    return db.startswith(PREFIX)


def adbc_place(db: str) -> AdbcPlace:
    """Return the driver and its options.

    Args:
        db: `adbc:sqlite:///clinic.db`, `adbc:duckdb:clinic.duckdb`, `adbc:postgresql://host/db`,
            `adbc:flightsql:grpc+tls://host:port`, `adbc:snowflake://…`.

    Raises:
        UsageError: no such driver or file, or a file that cannot be read without writing. Of the text, only the
            driver is shown.

    Example:
        >>> adbc_place("adbc:postgresql://host/db").options["uri"]
        'postgresql://host/db'
    """
    name, _, rest = db.removeprefix(PREFIX).partition(":")
    name = {"postgres": "postgresql"}.get(name, name)
    driver = DRIVERS.get(name)
    if driver is None:
        raise UsageError(f"{about('db')}: name a driver after 'adbc:', one of {', '.join(DRIVERS)}.")
    if not rest:
        raise UsageError(f"{about('db')}: no address is given. Write adbc:{name}:// with the address.")
    if name in ("sqlite", "duckdb"):
        return _address_of_file(driver, rest)
    if name == "flightsql":
        return AdbcPlace(driver, _flight_options(rest))
    return AdbcPlace(driver, {"uri": f"{name}:{rest}" if rest.startswith("//") else rest})


def _address_of_file(driver: AdbcDriver, rest: str) -> AdbcPlace:
    """Return the address of a file, given by its path or after `///`. As in URLs of SQLAlchemy, four slashes begin an
    absolute path.
    """
    file = resolved(expanded(rest.removeprefix("///")))
    if not is_file(file):
        raise UnknownFile(f"{about('db')}: there is no such file for the ADBC driver {driver.name}.")
    if driver.name == "sqlite":
        from sqlaudit.engines.duckdb.sqlite import has_log, is_in_wal_mode

        if is_in_wal_mode(file) or has_log(file):
            raise UsageError(
                f"{about('db')}: this file has a write-ahead log, which its driver cannot read without writing. Name "
                "the file as a connection of the policy instead, or give a copy without a log (VACUUM INTO)."
            )
        return AdbcPlace(driver, {"uri": f"file:{quote(str(file))}?mode=ro"}, file)
    walls = {"access_mode": "READ_ONLY", "enable_external_access": "false", "lock_configuration": "true"}
    return AdbcPlace(driver, {"path": str(file), **walls}, file)


def _flight_options(rest: str) -> dict[str, str]:
    """Return the options for a Flight SQL server; the driver takes user and password by name, not in the URI."""
    try:
        parts = urlsplit(rest)
        host = parts.netloc.rpartition("@")[2]
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
    except ValueError:
        raise UsageError(
            f"{about('db')}: this is not the address of a Flight SQL server. Write for example grpc+tls://host:port."
        ) from None
    named = {"username": user, "password": password}
    return {"uri": parts._replace(netloc=host).geturl(), **{name: value for name, value in named.items() if value}}


# A connection over an ADBC driver that runs SELECTs within a time limit; no error holds a value.

T = TypeVar("T")
CANCEL_SECONDS = 5.0
"""Seconds in which a cancelled statement must end."""


class AdbcReader:
    """An open connection; `with` closes it.

    Args:
        address: the address of the database. limits: only the time limit is used.

    Raises:
        MissingDriver: the manager or the driver is not installed. ConnectionFailed: the database cannot be reached.
        EngineError: the database does not confirm that it only reads. Incomplete: the time limit was reached.
    """

    def __init__(self, address: AdbcPlace, limits: Limits) -> None:
        self._driver = address.driver
        self._ends = None if limits.timeout is None else time.monotonic() + limits.timeout
        self._timeout = limits.timeout
        self._running: Any = None
        self._open: Any = self._in_time(_connector(address), ConnectionFailed, "The database could not be reached")
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def rows(self, sql: str) -> list[Mapping[str, object]]:
        """Return at most two rows of a SELECT, by the names of their columns, with values as the driver gives them.

        Raises:
            EngineError: the database refused or failed. Incomplete: the time limit was reached.
        """

        def work() -> list[Mapping[str, object]]:
            with self._open.cursor() as cursor:
                self._running = cursor
                cursor.execute(sql)
                names = [column[0] for column in cursor.description or ()]
                return [dict(zip(names, row, strict=True)) for row in cursor.fetchmany(2)]

        try:
            return self._in_time(work, EngineError, "The database refused the statement, or failed", sql)
        except EngineError:  # some databases take no more statements in a transaction that failed
            self._begin_again()
            raise

    def close(self) -> None:
        """Close the connection; a statement that does not end is left alone."""
        if self._open is not None and self._running is None:
            with suppress(Exception):
                self._open.close()
        self._open = None

    def __enter__(self) -> AdbcReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self) -> None:
        """Begin a transaction that only reads, and check that the database confirms it."""
        for setting in self._driver.settings:
            self._in_time(partial(self._set, setting), EngineError, "The database refused a setting")
        if self._driver.proof is None:
            return
        query, expected = self._driver.proof
        answers = self._in_time(
            partial(self._answer, query), EngineError, "The database did not report whether it is read-only"
        )
        if [str(value).casefold() for value in answers] != [expected]:
            raise EngineError(
                "The database does not confirm that this connection is read-only, so no statement was run."
            )

    def _begin_again(self) -> None:
        """Begin a new transaction after a failed statement: some databases accept no more statements in the old one."""
        if self._driver.commits and self._running is None:
            with suppress(EngineError):
                self._in_time(self._open.rollback, EngineError, "The transaction could not be ended")
            self._begin()

    def _set(self, sql: str) -> None:
        """Run a statement that makes a setting."""
        with self._open.cursor() as cursor:
            if self._driver.name == "postgresql":
                cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})
            cursor.execute(sql)

    def _answer(self, sql: str) -> list[object]:
        """Return the first values of the first column of a query."""
        with self._open.cursor() as cursor:
            cursor.execute(sql)
            return [row[0] for row in cursor.fetchmany(2)]

    def _in_time(self, work: Callable[[], T], kind: type[EngineError], failure: str, sql: str = "") -> T:
        """Return what work returns. It runs in a second thread, so that signals and the time limit take effect while a
        driver waits.
        """
        done: list[T] = []
        failed: list[BaseException] = []

        def run() -> None:
            try:
                done.append(work())
            except BaseException as error:  # noqa: BLE001 (raised in the other thread)
                failed.append(error)

        thread = threading.Thread(target=run, daemon=True)
        if not start_thread(thread):
            run()
        else:
            try:
                thread.join(None if self._ends is None else max(0.0, self._ends - time.monotonic()))
            except BaseException:
                self._cancel(thread)
                raise
            if thread.is_alive():
                self._cancel(thread)
                raise Incomplete(f"The time limit of {self._timeout:g} seconds was reached.")
        self._running = None
        if failed and not isinstance(failed[0], Exception):
            raise failed[0]
        if failed:
            missing = missing_name(str(failed[0]), sql)
            failure = f"The database has no column or table {missing!r}" if missing else failure
            raise kind(f"{failure} ({type(failed[0]).__name__}, over the ADBC driver {self._driver.name}).") from None
        return done[0]

    def _cancel(self, thread: threading.Thread) -> None:
        """Cancel the running statement, and wait some seconds for its end.

        A statement that does not end stays in `_running`, so that neither `close` nor a new transaction touches the
        connection that it uses.
        """
        running = self._running
        if running is not None:
            with suppress(Exception):
                running.adbc_cancel()
        thread.join(CANCEL_SECONDS)
        self._running = (running or thread) if thread.is_alive() else None


_MISSING = re.compile(
    r"""no[ ]such[ ](?:column|table):[ ](?:\w+\.)?(?P<sqlite>[^\n]+)
    |(?:column|table|relation)[ ](?:with[ ]name[ ])?(?:\w+\.)?"?(?P<others>[^"\n]+?)"?[ ]
    (?:not[ ]found|does[ ]not[ ]exist)
    |invalid[ ]identifier[ ]'"?(?P<snowflake>[^"'\n]+)
    |Unrecognized[ ]name:[ ](?P<bigquery>\w+)
    |does[ ]not[ ]have[ ]a[ ]column[ ]named[ ]"(?P<duckdb>[^"\n]+)\"""",
    re.VERBOSE | re.IGNORECASE,
)
"""Messages of databases about a missing name."""


def missing_name(message: str, sql: str) -> str:
    """Return the column or table that a database does not find; empty if it is not a name of the statement.

    A driver's message may quote values, so only a name that is in the statement is taken from it, as written there.

    Example:
        >>> missing_name('column "zap" does not exist', 'SELECT "zap" FROM t'), missing_name("no such column: Bob", "")
        ('zap', '')
    """
    match = _MISSING.search(message)
    name = "" if match is None else next(filter(None, match.groups()), "").strip()
    name_in_sql = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sql, re.IGNORECASE) if name else None
    return name_in_sql.group() if name_in_sql else ""


def _connector(address: AdbcPlace) -> Callable[[], object]:
    """Return a function that connects.

    Raises:
        MissingDriver: a package is not installed.
    """
    name = address.driver.name
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
        entrypoint=address.driver.entrypoint,
        db_kwargs=dict(address.options),
        autocommit=not address.driver.commits,
    )
