"""Reaching a PostgreSQL server: what libpq is told, and the settings of the audit's one transaction.

Everything is set for the transaction and nothing for the session, so a pooler that lends its connections for one
transaction at a time gets this one back as it was.
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import IsolationLevel
from psycopg.conninfo import conninfo_to_dict, timeout_from_conninfo

from sqlaudit.base.addresses import Whereabouts
from sqlaudit.base.errors import EngineError, Incomplete, SqlauditError, UsageError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import Limits
from sqlaudit.engines.postgres.errors import connection_failed
from sqlaudit.engines.postgres.values import register_loaders
from sqlaudit.engines.watch import in_time

CONNECT_SECONDS = 15
LEAST_SECONDS = 2
"""libpq waits no shorter for a connection."""
GRACE_SECONDS = 1.0
"""Beyond the time limit, for a server that says itself that it was reached."""
LOCK_SECONDS = 10
OLDEST = 130000
"""The oldest version that is known to work, as PostgreSQL counts: 13."""

_DEFAULTS = {
    "fallback_application_name": "sqlaudit",
    # a server that vanishes without a word is noticed after a minute, not after two hours
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
}
VARIABLES = {"host": "PGHOST", "port": "PGPORT", "dbname": "PGDATABASE", "user": "PGUSER", "service": "PGSERVICE"}
"""The parts of a connection that sentences name, and the variable that libpq takes each from."""
_UNITS = {"": 1, "B": 1}
_UNITS |= {sign + "B": 1000**power for power, sign in enumerate("KMGT", 1)}
_UNITS |= {sign + "IB": 1024**power for power, sign in enumerate("KMGT", 1)}
WORK_MEMORY_SHARE = 8
"""A statement holds a few hash tables and sorts at once, hash tables may take twice work_mem, and workers double it."""


class OneStatementCursor(psycopg.Cursor[tuple[Any, ...]]):
    """A cursor that the server refuses a second statement (`SELECT 1; COMMIT; DROP ...`).

    psycopg sends a text without parameters by the simple protocol, which takes several statements; the extended one,
    which it has too, takes one. A test says so, since psycopg has no public switch for it.
    """

    def _execute_send(self, query: Any, **options: Any) -> None:
        super()._execute_send(query, **{**options, "force_extended": True})


@dataclass(frozen=True)
class ServerFacts:
    """What the server says about itself; its own time limit for this role is in milliseconds, 0 = none."""

    version: str
    statement_timeout: int
    role: str
    database: str


class QuietConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection whose `repr` does not tell host, user and database, as psycopg's does."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at 0x{id(self):x}>"


def connect(place: Whereabouts, timeout: float | None) -> psycopg.Connection[tuple[Any, ...]]:
    """A connection whose transactions are REPEATABLE READ and READ ONLY; nothing has been sent on it yet.

    Args:
        place: a URL or conninfo string; what it leaves out comes from a service, PG* variables and ~/.pgpass.
        timeout: seconds that are left for the whole command, None = no limit.

    Raises:
        UsageError: it is neither a URL nor a conninfo string, or has an @ that must be escaped.
        ConnectionFailed: the server could not be reached or did not let us in.
        Incomplete: the time limit was reached.
        EngineError: the server is too old.
    """
    if re.match(r"postgres(ql)?://[^/?]*@[^/?]*@", place.text):
        raise UsageError(f"{place.source} has an @ in its user name or password. Write it as %40.")
    connection, failure = _attempt(place, timeout)
    if failure is not None:  # raised here, since the error of psycopg would come along as its context
        raise failure
    assert connection is not None
    if connection.info.server_version < OLDEST:
        connection.close()
        raise EngineError(f"PostgreSQL {OLDEST // 10000} or newer is needed.")
    connection.isolation_level = IsolationLevel.REPEATABLE_READ
    connection.read_only = True
    register_loaders(connection)
    return connection


def _attempt(
    place: Whereabouts, timeout: float | None
) -> tuple[psycopg.Connection[tuple[Any, ...]] | None, SqlauditError | None]:
    """The connection, or why there is none; psycopg's own words quote pieces of the text, even of a password."""
    try:
        given = conninfo_to_dict(place.text)
        seconds = _connect_seconds(given, timeout)
    except (psycopg.Error, ValueError):
        return None, UsageError(f"{place.source} could not be read as a PostgreSQL URL or conninfo string.")
    parameters: dict[str, Any] = {**_DEFAULTS, **given, "client_encoding": "UTF8", "connect_timeout": seconds}
    begun = time.monotonic()
    try:
        return _connected(parameters, timeout), None
    except TimeoutError:
        return None, _too_late(timeout)
    except psycopg.Error as error:
        if timeout is not None and time.monotonic() - begun > timeout - 1:  # libpq waits for whole seconds
            return None, _too_late(timeout)
        return None, connection_failed(error, named_parts(place, given), seconds)
    except (UnicodeError, ValueError):  # the resolver's, for a host with a part of more than 63 signs, or a NUL
        return None, UsageError(f"{place.source} names an invalid host.")


def _connected(parameters: dict[str, Any], timeout: float | None) -> psycopg.Connection[tuple[Any, ...]]:
    """A connection; with a time limit it is not waited for much longer, even if a name server is silent."""

    def connected() -> psycopg.Connection[tuple[Any, ...]]:
        # no prepared statements: a pooler may forget them between transactions
        return QuietConnection.connect(**parameters, prepare_threshold=None, cursor_factory=OneStatementCursor)

    if timeout is None:
        return connected()
    return in_time(connected, max(timeout, LEAST_SECONDS) + GRACE_SECONDS, lambda late: late.close())


def _too_late(timeout: float | None) -> Incomplete:
    return Incomplete(
        f"The time limit of {timeout or 0:.3g} seconds was reached before the connection was established."
    )


def sever(connection: psycopg.Connection[Any]) -> None:
    """Cut the line to a server that does not answer, so that who waits for it gets an error; safe from any thread."""
    with suppress(OSError, ValueError, psycopg.Error):
        line = socket.fromfd(connection.pgconn.socket, socket.AF_INET, socket.SOCK_STREAM)
        with line:
            line.shutdown(socket.SHUT_RDWR)


def settings(limits: Limits) -> dict[str, str | None]:
    """The parameters of `postgres/settings.sql` that follow from the budgets.

    Raises:
        UsageError: a budget that PostgreSQL has no setting for, or that cannot be read.
    """
    if limits.temp_directory:
        raise UsageError(
            f"{spelled('temp_directory')} does not apply to PostgreSQL: the server spills into its own "
            "temp_tablespaces."
        )
    if limits.threads is not None and limits.threads < 1:
        raise UsageError(f"{spelled('threads')} takes a number from 1, not {limits.threads}.")
    return {
        "lock_timeout": f"{LOCK_SECONDS}s",
        "work_mem": work_mem(limits.memory) if limits.memory else None,
        "workers": str(limits.threads - 1) if limits.threads else None,
    }


def work_mem(memory: str) -> str:
    """The setting `work_mem` for a memory limit written as DuckDB writes it.

    Raises:
        UsageError: not a size.

    Example:
        >>> work_mem("4GB")
        '488281kB'
    """
    text = memory.strip().upper()
    digits = text.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ ")
    unit = text[len(digits) :].strip()
    try:
        size = float(digits) * _UNITS[unit]
    except (ValueError, KeyError):
        raise UsageError(f"{spelled('memory_limit')} takes a size such as 4GB, not {memory!r}.") from None
    kilobytes = int(size / WORK_MEMORY_SHARE / 1024)
    return f"{min(max(kilobytes, 64), 2**31 - 1)}kB"


def _connect_seconds(given: dict[str, Any], timeout: float | None) -> int:
    """How long to wait for the connection: what the user said, never more than what is left of the command's time."""
    is_said = "connect_timeout" in given or "PGCONNECT_TIMEOUT" in os.environ
    wanted = timeout_from_conninfo(given) if is_said else CONNECT_SECONDS
    return wanted if timeout is None else max(LEAST_SECONDS, min(wanted, int(timeout)))


def named_parts(place: Whereabouts, given: Mapping[str, Any]) -> dict[str, str]:
    """Host, port, database, user and service as sentences name them: with a space in front, or nothing at all.

    What libpq takes from the environment is named by its variable, and what is doubtful not at all.
    """
    wanted = {key: str(given.get(key) or "") for key in VARIABLES}
    told = place.told({**wanted, "hostaddr": str(given.get("hostaddr") or "")})
    parts = {key: f" {value!r}" for key in wanted if (value := told.get(key, ""))}
    missing = {
        key: f" of {variable}" for key, variable in VARIABLES.items() if not given.get(key) and os.environ.get(variable)
    }
    return {
        **dict.fromkeys(VARIABLES, ""),
        "dbname": " of that name",
        **missing,
        **parts,
        "place": _place(place, told, missing),
    }


def _place(place: Whereabouts, told: Mapping[str, str], missing: Mapping[str, str]) -> str:
    """Where the server is, in words."""
    if not told:
        return f"the place that {place.source} names"
    if host := told["host"] or told["hostaddr"]:
        return f"{host}:{told['port']}" if told["port"] else host
    if "host" in missing:
        return f"the host{missing['host']}"
    service = f" {told['service']!r}" if told["service"] else missing.get("service", "")
    return f"the service{service}" if service else "the local socket"
