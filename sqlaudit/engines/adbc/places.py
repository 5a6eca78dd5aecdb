"""What `adbc:driver:uri` means: a driver, what it connects with, and what keeps it from writing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.paths import expanded, is_file, resolved
from sqlaudit.base.words import about

PREFIX = "adbc:"


@dataclass(frozen=True)
class AdbcDriver:
    """A driver that is known.

    Args:
        name: as `adbc:` says it; its package is `adbc_driver_<name>`. dialect: what its database speaks, empty = nobody
            knows. settings: SQL that begins a transaction. proof: a SELECT of one text and the text that it then gives,
            as the database says that it only reads. entrypoint: of its library, where that is an odd one.
        commits: whether it has transactions. access: what keeps it from writing, for reports.
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
    one.name: one
    for one in (
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
"""What was tried (the first four), and what is connected to in the same way and nobody has tried."""


@dataclass(frozen=True)
class AdbcPlace:
    """Where a database is.

    Args:
        driver: the driver. options: what it connects with, which may hold a password. file: of a database of one file.
    """

    driver: AdbcDriver
    options: Mapping[str, str] = field(repr=False)
    file: Path | None = None


def is_adbc(db: str) -> bool:
    """Whether what `--db` says is behind an ADBC driver.

    Example:
        >>> is_adbc("adbc:sqlite:///clinic.db"), is_adbc("clinic.duckdb")
        (True, False)
    """
    return db.startswith(PREFIX)


def adbc_place(db: str) -> AdbcPlace:
    """The driver and what it connects with.

    Args:
        db: `adbc:sqlite:///clinic.db`, `adbc:duckdb:clinic.duckdb`, `adbc:postgresql://host/db`,
            `adbc:flightsql:grpc+tls://host:port`, `adbc:snowflake://…`.

    Raises:
        UsageError: no such driver or file, or one that cannot be read without a trace. Nothing of the text but the
            driver is told.

    Example:
        >>> adbc_place("adbc:postgresql://host/db").options["uri"]
        'postgresql://host/db'
    """
    name, _, rest = db.removeprefix(PREFIX).partition(":")
    name = {"postgres": "postgresql"}.get(name, name)
    driver = DRIVERS.get(name)
    if driver is None:
        raise UsageError(f"{about('db')}: behind 'adbc:' stands a driver: {', '.join(DRIVERS)}.")
    if not rest:
        raise UsageError(f"{about('db')}: say where the database is: adbc:{name}:// and so on.")
    if name in ("sqlite", "duckdb"):
        return _of_file(driver, rest)
    if name == "flightsql":
        return AdbcPlace(driver, _flight(rest))
    return AdbcPlace(driver, {"uri": f"{name}:{rest}" if rest.startswith("//") else rest})


def _of_file(driver: AdbcDriver, rest: str) -> AdbcPlace:
    """A file, by its path or behind `///`, as in URLs of SQLAlchemy: four slashes begin an absolute path."""
    file = resolved(expanded(rest.removeprefix("///")))
    if not is_file(file):
        raise UsageError(f"{about('db')}: there is no such file to be opened by the ADBC driver {driver.name}.")
    if driver.name == "sqlite":
        from sqlaudit.engines.duckdb.sqlite import is_in_wal_mode

        if is_in_wal_mode(file):
            raise UsageError(
                f"{about('db')}: this file keeps a write-ahead log, and its driver would write beside it to read it. "
                "Name the file as a connection of the policy, which does not, or give a copy without a log "
                "(VACUUM INTO)."
            )
        return AdbcPlace(driver, {"uri": f"file:{quote(str(file))}?mode=ro"}, file)
    walls = {"access_mode": "READ_ONLY", "enable_external_access": "false", "lock_configuration": "true"}
    return AdbcPlace(driver, {"path": str(file), **walls}, file)


def _flight(rest: str) -> dict[str, str]:
    """A Flight SQL server; the driver takes a user and a password by name, and not in the URI."""
    try:
        parts = urlsplit(rest)
        host = parts.netloc.rpartition("@")[2]
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
    except ValueError:
        raise UsageError(
            f"{about('db')}: this is no address of a Flight SQL server, such as grpc+tls://host:port."
        ) from None
    named = {"username": user, "password": password}
    return {"uri": parts._replace(netloc=host).geturl(), **{name: value for name, value in named.items() if value}}
