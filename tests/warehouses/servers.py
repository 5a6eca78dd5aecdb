"""Databases for compiled statements: started here, in this process or as a child of it, and ended with it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PLAIN_ANSI = {"spark.sql.ansi.enabled": "true", "spark.ui.enabled": "false", "spark.sql.session.timeZone": "UTC"}


@contextmanager
def clickhouse() -> Iterator[Any]:
    """A session of chdb, which is ClickHouse in this process."""
    from chdb.session import Session

    with Session() as opened:
        yield opened


@contextmanager
def postgres() -> Iterator[Any]:
    """A connection to a PostgreSQL server of its own."""
    import psycopg

    from tests.postgres_server import new_server

    server = new_server()
    server.start()
    try:
        with psycopg.connect(server.admin_url("postgres"), autocommit=True) as connection:
            yield connection
    finally:
        server.delete()


@contextmanager
def mariadb() -> Iterator[Any]:
    """A connection to a MariaDB server of its own, without a network; Debian's mariadb-server has the programs.

    Raises:
        RuntimeError: the server did not start within a minute.
    """
    import pymysql

    with tempfile.TemporaryDirectory(prefix="mdb", ignore_cleanup_errors=True) as name:
        data, socket = Path(name, "data"), str(Path(name, "s"))
        own = ["--no-defaults", f"--datadir={data}"]
        made = ["mariadb-install-db", *own, "--auth-root-authentication-method=normal", "--skip-test-db"]
        subprocess.run([*made, *_as_owner()], check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        small = ["--skip-networking", "--innodb-buffer-pool-size=16M", "--skip-log-bin", f"--socket={socket}"]
        program = shutil.which("mariadbd") or "/usr/sbin/mariadbd"
        with Path(name, "log").open("wb") as log:
            server = subprocess.Popen([program, *own, *small, *_as_owner()], stdout=log, stderr=log)
        try:
            _wait_for(server, Path(socket))
            with pymysql.connect(unix_socket=socket, user="root", autocommit=True, charset="utf8mb4") as connection:
                connection.cursor().execute("CREATE DATABASE odd")
                connection.select_db("odd")
                yield connection
        finally:
            server.terminate()
            server.wait(30)


def _as_owner() -> list[str]:
    """As root, MariaDB wants to be told that it shall stay that."""
    import getpass

    return [f"--user={getpass.getuser()}"]


def _wait_for(server: subprocess.Popen[bytes], socket: Path) -> None:
    for _ in range(600):
        if socket.exists():
            return
        if server.poll() is not None:
            break
        time.sleep(0.1)
    raise RuntimeError("MariaDB did not start.")


@contextmanager
def snowflake() -> Iterator[Any]:
    """A connection to fakesnow, an emulator of Snowflake: sqlglot makes its SQL that of DuckDB.

    Needs `fakesnow` and `snowflake-connector-python<4`, in an environment of its own: it wants an older sqlglot. It
    escapes no single quote in the name of a column.
    """
    import fakesnow
    import snowflake.connector

    with fakesnow.patch():
        yield snowflake.connector.connect(database="clinic", schema="odd")


@contextmanager
def spark() -> Iterator[Any]:
    """A Spark session in ANSI mode, for tables of a few rows; a Spark that runs already goes on."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from tests.spark_session import SMALL

    runs = SparkContext._active_spark_context
    if runs is not None:
        session = SparkSession(runs).newSession()
        for name, value in {**PLAIN_ANSI, **SMALL}.items():
            if name.startswith("spark.sql."):  # others are of the Spark below
                session.conf.set(name, value)
        yield session
        return
    builder = SparkSession.builder.master("local[1]").appName("warehouses")
    for name, value in {**PLAIN_ANSI, **SMALL}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()
