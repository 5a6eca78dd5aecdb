"""Reaching a PostgreSQL server: what libpq is told, and the settings of the audit's one transaction.

Everything is set for the transaction and nothing for the session, so a pooler that lends its connections for one
transaction at a time gets this one back as it was.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import IsolationLevel
from psycopg.conninfo import conninfo_to_dict, timeout_from_conninfo

from sqlaudit.engines.postgres_errors import connection_failed
from sqlaudit.engines.postgres_values import register_loaders
from sqlaudit.errors import EngineError, UsageError
from sqlaudit.spec import Limits

CONNECT_SECONDS = 15
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
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
          "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}  # fmt: skip
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
class Session:
    """What the server says about itself; its own time limit for this role is in milliseconds, 0 = none."""

    version: str
    statement_timeout: int
    is_standby: bool
    role: str
    database: str


def connect(db: str, timeout: float | None) -> psycopg.Connection[tuple[Any, ...]]:
    """A connection whose transactions are REPEATABLE READ and READ ONLY; nothing has been sent on it yet.

    Args:
        db: a URL or conninfo string; what it leaves out comes from a service, PG* variables and ~/.pgpass.
        timeout: seconds that are left for the whole command, None = no limit.

    Raises:
        UsageError: `db` is neither a URL nor a conninfo string.
        ConnectionFailed: the server could not be reached or did not let us in.
        EngineError: the server is too old.
    """
    try:
        given = conninfo_to_dict(db)
        seconds = _connect_seconds(given, timeout)
    except psycopg.Error:  # it quotes what it could not read, and that may be a piece of a password
        raise UsageError("--db could not be read as a PostgreSQL URL or conninfo string.") from None
    parameters: dict[str, Any] = {**_DEFAULTS, **given, "client_encoding": "UTF8", "connect_timeout": seconds}
    try:
        # no prepared statements: a pooler may forget them between transactions
        connection = psycopg.connect(**parameters, prepare_threshold=None, cursor_factory=OneStatementCursor)
    except psycopg.Error as error:
        raise connection_failed(error, _parts(error, parameters), seconds) from None
    except UnicodeError:  # the resolver's, for a host with a part of more than 63 signs
        raise UsageError("--db names a host that can be no host's name.") from None
    if connection.info.server_version < OLDEST:
        connection.close()
        raise EngineError(f"PostgreSQL {OLDEST // 10000} or newer is needed.")
    connection.isolation_level = IsolationLevel.REPEATABLE_READ
    connection.read_only = True
    register_loaders(connection)
    return connection


def settings(limits: Limits) -> dict[str, str | None]:
    """The parameters of `postgres/settings.sql` that follow from the budgets.

    Raises:
        UsageError: a budget that PostgreSQL has no setting for, or that cannot be read.
    """
    if limits.temp_directory:
        raise UsageError(
            "--temp-directory has no meaning on PostgreSQL: the server spills into its own temp_tablespaces."
        )
    if limits.threads is not None and limits.threads < 1:
        raise UsageError(f"--threads takes a number from 1, not {limits.threads}.")
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
        raise UsageError(f"--memory-limit takes a size such as 4GB, not {memory!r}.") from None
    kilobytes = int(size / WORK_MEMORY_SHARE / 1024)
    return f"{min(max(kilobytes, 64), 2**31 - 1)}kB"


def _connect_seconds(given: dict[str, Any], timeout: float | None) -> int:
    """How long to wait for the connection: what the user said, never more than what is left of the command's time."""
    if "connect_timeout" in given or "PGCONNECT_TIMEOUT" in os.environ:
        wanted = timeout_from_conninfo(given)
    else:
        wanted = CONNECT_SECONDS
    return wanted if timeout is None else max(2, min(wanted, int(timeout)))


def _parts(error: psycopg.Error, parameters: dict[str, Any]) -> dict[str, str]:
    """Host, port, database, user and service of an attempt; what libpq filled in where it got so far."""
    parts = {key: str(parameters.get(key) or "") for key in ("host", "port", "dbname", "user", "service")}
    for option in psycopg.pq.Conninfo.get_defaults():
        key = option.keyword.decode()
        if key in parts and not parts[key] and option.val:
            parts[key] = option.val.decode(errors="replace")
    if error.pgconn is not None:
        pg = error.pgconn
        reached = {"host": pg.host, "port": pg.port, "dbname": pg.db, "user": pg.user}
        parts.update({key: value.decode(errors="replace") for key, value in reached.items() if value})
    return parts
