"""Spark Connect: a session on a server, or one sentence within seconds."""

from __future__ import annotations

import socket
import warnings
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from sqlaudit.base.errors import ConnectionFailed, MissingDriver, UsageError
from sqlaudit.base.whereabouts import Whereabouts
from sqlaudit.engines.spark.session import FAILURES, INSTALL, Lease

SECONDS = 10
RETRIES = 5
"""Of a call that the server does not answer: for about ten seconds, where the client's own habit is ten minutes."""
PORT = 15002


def connected(where: Whereabouts) -> Lease:
    """A session of our own on a server of Spark Connect.

    Raises:
        ConnectionFailed: no server answers, or it does not let us in.
        MissingDriver: the client's packages are not installed.
        UsageError: not a URL of Spark Connect.
    """
    host, port = _place(where)
    named = _named(where, host, port)
    _knock(host, port, named)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pyspark.sql.connect.client.retries import DefaultPolicy
            from pyspark.sql.connect.session import SparkSession
    except ImportError:
        raise MissingDriver(f"Spark Connect needs the client's packages: {INSTALL}.") from None
    session = None
    with suppress(*FAILURES, ValueError):  # their words quote the URL, and its token
        session = SparkSession.builder.remote(where.text).create()
        session.client.set_retry_policies([DefaultPolicy(max_retries=RETRIES)])
        session.version  # noqa: B018  the first call that reaches the server
        return Lease(session, True, partial(_stop, session))
    if session is not None:
        _stop(session)
    raise ConnectionFailed(f"What answers at {named} is no Spark Connect server, or it did not let us in.")


def _stop(session: Any) -> None:
    with suppress(*FAILURES):
        session.stop()


def _place(where: Whereabouts) -> tuple[str, int]:
    try:
        parts = urlsplit(where.text)
        host, port = parts.hostname, parts.port or PORT
    except ValueError:
        host, port = None, PORT
    if not host:
        raise UsageError(f"{where.source} is not a URL of Spark Connect; write sc://host:15002.")
    return host, port


def _named(where: Whereabouts, host: str, port: int) -> str:
    told = where.told({"host": host, "port": str(port)}) if "@" not in where.text else {}
    return f"{told['host']}:{told['port']}" if told else f"the place that {where.source} names"


def _knock(host: str, port: int, named: str) -> None:
    """Fail in seconds: the client itself tries again for minutes."""
    try:
        socket.create_connection((host, port), timeout=SECONDS).close()
    except socket.gaierror:
        raise ConnectionFailed(f"The host at {named} is not known.") from None
    except TimeoutError:
        raise ConnectionFailed(f"The server at {named} did not answer within {SECONDS} s.") from None
    except (OSError, ValueError):
        raise ConnectionFailed(f"No Spark Connect server answers at {named}.") from None
