"""Spark Connect: a session on a server, or one sentence within seconds."""

from __future__ import annotations

import socket
import warnings
from contextlib import suppress
from urllib.parse import urlsplit

from sqlaudit.engines.spark_session import FAILURES, INSTALL, Lease
from sqlaudit.errors import ConnectionFailed, MissingDriver, UsageError

SECONDS = 10
RETRIES = 5
"""Of a call that the server does not answer: for about ten seconds, where the client's own habit is ten minutes."""
PORT = 15002


def connected(url: str) -> Lease:
    """A session of our own on a server of Spark Connect.

    Raises:
        ConnectionFailed: no server answers, or it does not let us in.
        MissingDriver: the client's packages are not installed.
        UsageError: not a URL of Spark Connect.
    """
    place = _place(url)
    _knock(*place)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pyspark.sql.connect.client.retries import DefaultPolicy
            from pyspark.sql.connect.session import SparkSession
    except ImportError:
        raise MissingDriver(f"Spark Connect needs the client's packages: {INSTALL}.") from None
    try:
        session = SparkSession.builder.remote(url).create()
        session.client.set_retry_policies([DefaultPolicy(max_retries=RETRIES)])
        session.version  # noqa: B018  the first call that reaches the server
    except FAILURES:
        raise ConnectionFailed(
            f"What answers at {place[0]}:{place[1]} is no Spark Connect server, or it did not let us in."
        ) from None

    def stop() -> None:
        with suppress(*FAILURES):
            session.stop()

    return Lease(session, True, stop)


def _place(url: str) -> tuple[str, int]:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or PORT
    except ValueError:
        host, port = None, PORT
    if not host:
        raise UsageError("--db sc://… is not a URL of Spark Connect; write sc://host:15002.")
    return host, port


def _knock(host: str, port: int) -> None:
    """Fail in seconds: the client itself tries again for minutes."""
    try:
        socket.create_connection((host, port), timeout=SECONDS).close()
    except socket.gaierror:
        raise ConnectionFailed(f"The host {host!r} is not known.") from None
    except TimeoutError:
        raise ConnectionFailed(f"The server at {host}:{port} did not answer within {SECONDS} s.") from None
    except OSError:
        raise ConnectionFailed(f"No Spark Connect server answers at {host}:{port}.") from None
