"""Sessions of Spark: found, started, or on a server; each engine works in a session of its own.

An engine never works in the session that somebody handed over: it works in a clone, which sees the same tables,
temporary views and functions, and keeps its own settings and views. So nothing has to be put back, and two audits at
once do not meet. What runs below (the context, its executors) is shared, and is stopped only by who started it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Limits
from sqlaudit.base.whereabouts import Whereabouts, whereabouts
from sqlaudit.base.words import about
from sqlaudit.engines.spark.start import FAILURES, INSTALL, start

__all__ = ["FAILURES", "INSTALL", "Lease", "is_remote", "lease", "master", "of_session"]

_NO_CLONE: tuple[type[Exception], ...] = (AttributeError, *FAILURES)
"""A client, or a server, that is too old for it."""


@dataclass
class Lease:
    """A session that an engine works in.

    Args:
        session: the session of its own.
        remote: whether it is one of Spark Connect. local: whether it runs in this process's own Spark.
        give_back: ends the session; and what lies below when nobody else needs it.
    """

    session: Any
    remote: bool
    give_back: Callable[[], None]
    local: bool = False


class _Context:
    """The Spark that this process has started, shared by all engines and stopped with the last of them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.number = 0
        self.started: tuple[str, Limits] | None = None
        self.stop: Callable[[], None] | None = None

    def borrow(self, where: str, limits: Limits, *, alive: bool) -> Callable[[], None]:
        """One more user; the first one starts it. Returns what gives it back; the last user stops it.

        Args:
            where: its master. alive: whether it runs; somebody else may have stopped it below its users.

        Raises:
            UsageError: it runs elsewhere, or with other limits.
        """
        wanted = where, replace(limits, timeout=None)
        with self.lock:
            if self.users and not alive:
                self._end()
            if self.users == 0:
                self.number += 1
                self.stop = start(where, limits)
                self.started = wanted
            elif self.started != wanted:
                raise UsageError(
                    "This process runs one Spark already, on another master or with other limits; close its engines "
                    "first, or give its SparkSession as db."
                )
            self.users += 1
            number = self.number
        return _once(lambda: self._give_back(number))

    def _give_back(self, number: int) -> None:
        with self.lock:
            if number == self.number and self.users:
                self.users -= 1
                if self.users == 0:
                    self._end()

    def _end(self) -> None:
        self.users = 0
        if self.stop is not None:
            self.stop()
            self.stop = None


_OURS = _Context()


def lease(db: Any, limits: Limits) -> Lease:
    """A session for what `--db` says: `spark:…` and `spark://…` start Spark here, `sc://…` connects to a server.

    Raises:
        MissingDriver: no Java, or one that is too old.
        ConnectionFailed: no server answers.
        UsageError: a master or a limit that Spark does not understand, or that comes too late for a Spark that runs.
    """
    if not isinstance(db, str | Whereabouts):
        _refuse_limits(limits, "a session that is given")
        return of_session(db)
    place = whereabouts(db)
    if place.text.startswith("sc://"):
        from sqlaudit.engines.spark.connect import connected

        _refuse_limits(limits, "a server of Spark Connect")
        return connected(place)
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    where = master(place, limits)
    if SparkContext._active_spark_context is not None and _OURS.users == 0:
        _refuse_limits(limits, "a Spark that runs already")
        return of_session(SparkSession(SparkContext._active_spark_context))  # somebody else's, not ours to stop
    give_back = _OURS.borrow(where, limits, alive=SparkContext._active_spark_context is not None)
    session = SparkSession(SparkContext._active_spark_context).newSession()
    return Lease(session, False, give_back, where.startswith("local"))


def _refuse_limits(limits: Limits, what: str) -> None:
    given = {
        about("memory_limit"): bool(limits.memory),
        about("threads"): limits.threads is not None,
        about("temp_directory"): bool(limits.temp_directory),
    }
    for option, is_given in given.items():
        if is_given:
            raise UsageError(f"{option} is for a Spark that is started here; {what} has its own.")


def of_session(session: Any) -> Lease:
    """A clone of somebody's session; closing it leaves theirs as it was."""
    if is_remote(session):
        return _of_remote(session)
    cloned = session._jsparkSession.cloneSession()
    return Lease(type(session)(session.sparkContext, cloned), False, lambda: None)


def _of_remote(session: Any) -> Lease:
    try:
        clone = session.cloneSession()
    except _NO_CLONE:
        raise UsageError(
            "This session of Spark Connect cannot be cloned, and an audit leaves it alone; give its URL (sc://…) as db."
        ) from None
    return Lease(clone, True, _once(clone.stop))


def is_remote(session: Any) -> bool:
    """True for a session of Spark Connect."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def master(db: str | Whereabouts, limits: Limits) -> str:
    """Spark's own name for where it runs.

    Example:
        >>> master("spark:local", Limits(threads=2)), master("spark:yarn", Limits()), master("spark://h:7077", Limits())
        ('local[2]', 'yarn', 'spark://h:7077')
    """
    place = whereabouts(db)
    if place.text.startswith("spark://"):
        return place.text
    name = place.text.partition(":")[2]
    if name in ("", "local"):
        return f"local[{limits.threads or '*'}]"
    if not name.startswith(("local[", "local-cluster[", "yarn", "k8s://", "spark://")):
        raise UsageError(
            f"{place.source} names no Spark: write spark:local, spark:local[4], spark:local-cluster[2,1,1024], "
            "spark://host:port, spark:yarn, spark:k8s://…, or sc://host:port for Spark Connect."
        )
    return name


def _once(action: Callable[[], None]) -> Callable[[], None]:
    left = [action]

    def run() -> None:
        if left:
            left.pop()()

    return run
