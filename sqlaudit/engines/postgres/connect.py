"""Connections to PostgreSQL servers: parameters for libpq, and the settings of the audit's one transaction.

Settings are made for the transaction and none for the session, so a pooler that lends its connections for one
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
from sqlaudit.base.errors import EngineError, Incomplete, OutOfRange, SqlauditError, UsageError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import Limits
from sqlaudit.engines.postgres.errors import connection_failed
from sqlaudit.engines.postgres.values import register_loaders
from sqlaudit.engines.watch import in_time

CONNECT_SECONDS = 15
LEAST_SECONDS = 2
"""The shortest time that libpq waits for a connection."""
GRACE_SECONDS = 1.0
"""Seconds beyond the time limit, in which a server may report itself that it was reached."""
LOCK_SECONDS = 10
OLDEST = 130000
"""The oldest version that works, as PostgreSQL numbers versions: 13."""
CLIENT_CHECK = "2s"
"""How often a running statement looks whether its client is still there; after a kill it would otherwise go on."""
CHECKS_CLIENT = 140000
"""The first version that can look."""

_DEFAULTS = {
    "fallback_application_name": "sqlaudit",
    # a server that vanishes is noticed after a minute, not after two hours
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
}
VARIABLES = {"host": "PGHOST", "port": "PGPORT", "dbname": "PGDATABASE", "user": "PGUSER", "service": "PGSERVICE"}
"""The parts of a connection that messages name, and the variable from which libpq takes each."""
_UNITS = {"": 1, "B": 1}
_UNITS |= {sign + "B": 1000**power for power, sign in enumerate("KMGT", 1)}
_UNITS |= {sign + "IB": 1024**power for power, sign in enumerate("KMGT", 1)}
WORK_MEMORY_SHARE = 8
"""The divisor of the memory limit: a statement holds a few hash tables and sorts at once, hash tables may take twice
work_mem, and workers double it."""


class OneStatementCursor(psycopg.Cursor[tuple[Any, ...]]):
    """A cursor for which the server refuses a second statement (`SELECT 1; COMMIT; DROP ...`).

    psycopg sends a text without parameters by the simple protocol, which takes several statements; the extended one,
    which it has too, takes one. psycopg has no public switch for it (tried with 3.2 and 3.3), so a test checks this.
    """

    def _execute_send(self, query: Any, **options: Any) -> None:
        super()._execute_send(query, **{**options, "force_extended": True})


@dataclass(frozen=True)
class ServerFacts:
    """Facts that the server reports; its own time limit for this role is in milliseconds, 0 = none."""

    version: str
    statement_timeout: int
    role: str
    database: str


class QuietConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection whose `repr` does not show host, user and database, as psycopg's does."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at 0x{id(self):x}>"


def connect(address: Whereabouts, timeout: float | None) -> psycopg.Connection[tuple[Any, ...]]:
    """Return a connection whose transactions are REPEATABLE READ and READ ONLY; nothing has been sent on it yet.

    Args:
        address: a URL or conninfo string; missing parts come from a service, PG* variables and ~/.pgpass.
        timeout: seconds that are left for the whole command, None = no limit.

    Raises:
        UsageError: it is neither a URL nor a conninfo string, or has an @ that must be escaped.
        ConnectionFailed: the server could not be reached or did not let us in.
        Incomplete: the time limit was reached.
        EngineError: the server is too old.
    """
    if re.match(r"postgres(ql)?://[^/?]*@[^/?]*@", address.text):
        raise UsageError(f"{address.source} has an @ in its user name or password. Write it as %40.")
    connection, failure = _try_to_connect(address, timeout)
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


def _try_to_connect(
    address: Whereabouts, timeout: float | None
) -> tuple[psycopg.Connection[tuple[object, ...]] | None, SqlauditError | None]:
    """Return the connection, or the error. It is not raised here, because psycopg's own error would become its context,
    and that quotes pieces of the text, even of a password.
    """
    try:
        conninfo = conninfo_to_dict(address.text)
        seconds = _connect_seconds(conninfo, timeout)
    except (psycopg.Error, ValueError):
        return None, UsageError(f"{address.source} could not be read as a PostgreSQL URL or conninfo string.")
    parameters: dict[str, object] = {**_DEFAULTS, **conninfo, "client_encoding": "UTF8", "connect_timeout": seconds}
    begun = time.monotonic()
    try:
        return _connect_in_time(parameters, timeout), None
    except TimeoutError:
        return None, _too_late(timeout)
    except psycopg.Error as error:
        if timeout is not None and time.monotonic() - begun > timeout - 1:  # libpq waits for whole seconds
            return None, _too_late(timeout)
        return None, connection_failed(error, named_parts(address, conninfo), seconds)
    except (UnicodeError, ValueError):  # the resolver's, for a host with a part of more than 63 signs, or a NUL
        return None, UsageError(f"{address.source} names an invalid host.")


def _connect_in_time(parameters: dict[str, Any], timeout: float | None) -> psycopg.Connection[tuple[object, ...]]:
    """Return a connection. With a time limit it is not waited for much longer, even if a name server is silent."""

    def connected() -> psycopg.Connection[tuple[object, ...]]:
        # no prepared statements: a pooler may forget them between transactions
        return QuietConnection.connect(**parameters, prepare_threshold=None, cursor_factory=OneStatementCursor)

    if timeout is None:
        return connected()
    return in_time(connected, max(timeout, LEAST_SECONDS) + GRACE_SECONDS, lambda late: late.close())


def _too_late(timeout: float | None) -> Incomplete:
    """Return the error for a time limit that ended before the connection was established."""
    return Incomplete(
        f"The time limit of {timeout or 0:.3g} seconds was reached before the connection was established."
    )


def sever(connection: psycopg.Connection[object]) -> None:
    """Shut down the socket of a server that does not answer, so that a waiting call fails; safe from any thread."""
    with suppress(OSError, ValueError, psycopg.Error):
        line = socket.fromfd(connection.pgconn.socket, socket.AF_INET, socket.SOCK_STREAM)
        with line:
            line.shutdown(socket.SHUT_RDWR)


def settings(limits: Limits) -> dict[str, str | None]:
    """Return the parameters of `postgres/settings.sql` that follow from the limits.

    Raises:
        UsageError: PostgreSQL has no setting for a limit, or it cannot be read.
    """
    if limits.temp_directory:
        raise UsageError(
            f"{spelled('temp_directory')} does not apply to PostgreSQL: the server spills into its own "
            "temp_tablespaces."
        )
    if limits.threads is not None and limits.threads < 1:
        raise OutOfRange(f"{spelled('threads')} takes a number from 1, not {limits.threads}.")
    return {
        "lock_timeout": f"{LOCK_SECONDS}s",
        "work_mem": work_mem(limits.memory) if limits.memory else None,
        "workers": str(limits.threads - 1) if limits.threads else None,
        "client_check": None,  # not known yet
    }


def work_mem(memory: str) -> str:
    """Return the setting `work_mem` for a memory limit in the form that DuckDB takes.

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


def _connect_seconds(conninfo: dict[str, Any], timeout: float | None) -> int:
    """Return the seconds to wait for a connection: the user's setting, at most what is left of the command's time."""
    is_set = "connect_timeout" in conninfo or "PGCONNECT_TIMEOUT" in os.environ
    seconds = timeout_from_conninfo(conninfo) if is_set else CONNECT_SECONDS
    return seconds if timeout is None else max(LEAST_SECONDS, min(seconds, int(timeout)))


def named_parts(address: Whereabouts, conninfo: Mapping[str, Any]) -> dict[str, str]:
    """Return host, port, database, user and service for messages, each with a space in front, or empty.

    A part that libpq takes from the environment is named by its variable, and a doubtful one not at all.
    """
    values = {key: str(conninfo.get(key) or "") for key in VARIABLES}
    public = address.public_parts({**values, "hostaddr": str(conninfo.get("hostaddr") or "")})
    parts = {key: f" {value!r}" for key in values if (value := public.get(key, ""))}
    missing = {
        key: f" of {variable}"
        for key, variable in VARIABLES.items()
        if not conninfo.get(key) and os.environ.get(variable)
    }
    return {
        **dict.fromkeys(VARIABLES, ""),
        "dbname": " of that name",
        **missing,
        **parts,
        "place": _describe_server(address, public, missing),
    }


def _describe_server(address: Whereabouts, public: Mapping[str, str], missing: Mapping[str, str]) -> str:
    """Return where the server is, in words."""
    if not public:
        return f"the place that {address.source} names"
    if host := public["host"] or public["hostaddr"]:
        return f"{host}:{public['port']}" if public["port"] else host
    if "host" in missing:
        return f"the host{missing['host']}"
    service = f" {public['service']!r}" if public["service"] else missing.get("service", "")
    return f"the service{service}" if service else "the local socket"
