"""Sessions of Spark: found, started, or on a server, with the settings that a correct result depends on."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import warnings
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sqlaudit.base.addresses import Whereabouts, whereabouts
from sqlaudit.base.errors import ConnectionFailed, EngineError, MissingDriver, SqlauditError, UsageError
from sqlaudit.base.files import PrivateFolder
from sqlaudit.base.parameter_names import about
from sqlaudit.base.spec import Limits

# Starting a Spark in this process, and ending it: without a word on stderr, and with nothing left behind.

INSTALL = "pip install 'sqlaudit[spark]'"
OLDEST = (4, 0)
_PLAIN_MASTER = re.compile(r"local\[[\d*,]+\]|local-cluster\[[\d,]+\]|yarn")

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyspark warns of versions of pandas, which nothing here needs
        import pyspark
        import pyspark.sql
        import pyspark.testing.utils  # which pyspark imports later, and which warns then
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException as PySparkException  # noqa: PLC0414 - handed on
        from pyspark.logger import PySparkLogger as PySparkLogger  # noqa: PLC0414 - handed on
except ImportError:
    raise MissingDriver(f"Spark needs the package pyspark: {INSTALL}.") from None

if tuple(int(part) for part in pyspark.__version__.split(".")[:2]) < OLDEST:
    raise MissingDriver(f"Spark needs pyspark 4.0 or newer; this is {pyspark.__version__}. {INSTALL}.")

try:
    from grpc import RpcError
except ImportError:  # only Spark Connect needs it

    class RpcError(Exception):  # type: ignore[no-redef]
        """Never raised."""


FAILURES: tuple[type[Exception], ...] = (PySparkException, Py4JError, OSError, RpcError)
"""What leaves pyspark when something fails."""
_REFUSALS: tuple[type[Exception], ...] = (*FAILURES, ValueError)


def _java() -> None:
    home = os.environ.get("JAVA_HOME", "")
    found = (Path(home) / "bin" / "java").exists() if home else shutil.which("java") is not None
    if not found:
        raise MissingDriver(
            "Spark needs a Java runtime, version 17 or newer, and there is none "
            + ("in JAVA_HOME." if home else "in the path: install one (openjdk-17-jre-headless) or set JAVA_HOME.")
        )


def start(where: str, limits: Limits) -> Callable[[], None]:
    """Start Spark, without a word on stderr; return what stops it and removes its folder."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    _java()
    folder = PrivateFolder("spill", limits.temp_directory)
    log = folder.path / "start.log"
    settings = _settings(where, limits, folder.path)
    conf = SparkConf(loadDefaults=False)
    for name, value in settings.items():
        conf.set(name, value)
    gateway = SparkContext._gateway
    handler = signal.getsignal(signal.SIGINT)
    with ExitStack() as on_failure:
        on_failure.callback(folder.close)
        try:
            if gateway is None:
                with log.open("wb") as said:
                    gateway = launch_gateway(conf, popen_kwargs={"stdout": said, "stderr": said})
            on_failure.callback(_end_gateway, gateway)
            context = SparkContext(conf=conf, gateway=gateway)
        except _REFUSALS as error:
            raise _not_started(error, log, where) from None
        finally:
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGINT, handler)  # pyspark puts its own there
        on_failure.pop_all()

    def stop() -> None:
        with suppress(OSError, PySparkException, Py4JError):
            context.stop()
        _end_gateway(gateway)
        folder.close()

    return stop


def _end_gateway(gateway: Any) -> None:
    """End the Java process that was started for us, and wait for it: it removes its own files."""
    from pyspark import SparkContext

    if gateway is None:
        return
    SparkContext._gateway = None
    SparkContext._jvm = None
    with suppress(Py4JError, OSError):
        gateway.shutdown()
    process = getattr(gateway, "proc", None)
    if process is not None:
        with suppress(OSError):
            process.stdin.close()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _not_started(error: Exception, log: Path, where: str) -> SqlauditError:
    """Why Spark did not start; its own words stay in the log, which goes away with the folder."""
    said = log.read_text(errors="replace") if log.exists() else ""
    if "UnsupportedClassVersionError" in said or "Unrecognized option" in said:
        return MissingDriver("Spark needs a Java runtime of version 17 or newer, but the one found is older.")
    if "Could not parse Master URL" in str(error):
        return UsageError(f"Spark does not understand {_called(where)}.")
    if where.startswith(("local", "local-cluster")):
        return EngineError("Spark did not start: its Java process ended, or refused its settings.")
    return ConnectionFailed(f"Spark could not be started on {_called(where)}: no such cluster answers, or it refused.")


def _called(where: str) -> str:
    """A master as sentences call it: only where it can hold no secret."""
    return f"the master {where!r}" if _PLAIN_MASTER.fullmatch(where) else "this master"


def _settings(where: str, limits: Limits, folder: Path) -> dict[str, str]:
    """What a Spark is started with: silent, private, and nothing left in the folder that we are in."""
    local = where.startswith("local")
    chosen = {
        "spark.master": where,
        "spark.app.name": "sqlaudit",
        "spark.log.level": "OFF",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.io.encryption.enabled": "true",
        "spark.driver.maxResultSize": "1g",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.artifact.isolation.enabled": "false",
    }
    if local:
        chosen |= {
            "spark.local.dir": str(folder),
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={folder} -Dderby.system.home={folder}",
            "spark.sql.shuffle.partitions": str(max(2, limits.threads or os.cpu_count() or 2)),
        }
    if limits.memory:
        chosen["spark.driver.memory"] = megabytes(limits.memory)
    if not _has_metastore():
        chosen["spark.sql.warehouse.dir"] = (folder / "warehouse").as_uri()
    return chosen


def _has_metastore() -> bool:
    """Whether the user's Spark is configured for a metastore, whose warehouse is then theirs."""
    homes = [os.environ.get(name, "") for name in ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "HIVE_CONF_DIR")]
    homes += [str(Path(os.environ["SPARK_HOME"]) / "conf")] if os.environ.get("SPARK_HOME") else []
    return any((Path(home) / "hive-site.xml").exists() for home in homes if home)


_UNITS = {"k": 1 / 1024, "m": 1, "g": 1024, "t": 1024**2}


def megabytes(size: str) -> str:
    """A size as DuckDB writes it (`4GB`, `512 MiB`) as Java takes it.

    Raises:
        UsageError: not a size, or one that no Java process can start with.

    Example:
        >>> megabytes("4GB"), megabytes("1.5 GiB")
        ('4096m', '1536m')
    """
    text = size.strip().lower().removesuffix("b").removesuffix("i")
    try:
        amount = float(text[:-1]) * _UNITS[text[-1:]]
    except (KeyError, ValueError):
        raise UsageError(f"{about('memory_limit')} {size!r} is not a size. Write for example 4GB.") from None
    if not 512 <= amount < 2**31:
        raise UsageError(f"{about('memory_limit')} {size!r} is too small for Spark, which needs at least 512MB.")
    return f"{int(amount)}m"


# Sessions of Spark: found, started, or on a server; each engine works in a session of its own.
#
# An engine never works in the session that somebody handed over: it works in a clone, which sees the same tables,
# temporary views and functions, and keeps its own settings and views. So nothing has to be put back, and two audits at
# once do not meet. What runs below (the context, its executors) is shared, and is stopped only by who started it.

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
                    "This process already runs a Spark on another master or with other limits. Close its engines "
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
            raise UsageError(f"{option} applies to a Spark that sqlaudit starts, but {what} has its own. Leave it out.")


def of_session(session: Any) -> Lease:
    """A clone of somebody's session; closing it leaves theirs as it was."""
    if is_remote(session):
        try:
            clone = session.cloneSession()
        except _NO_CLONE:
            raise UsageError("This session of Spark Connect cannot be cloned. Give its URL (sc://…) as db.") from None
        return Lease(clone, True, _once(clone.stop))
    cloned = session._jsparkSession.cloneSession()
    return Lease(type(session)(session.sparkContext, cloned), False, lambda: None)


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


# Spark Connect: a session on a server, or one sentence within seconds.

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
    told = where.told({"host": host, "port": str(port)}) if "@" not in where.text else {}
    named = f"{told['host']}:{told['port']}" if told else f"the place that {where.source} names"
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
    raise ConnectionFailed(f"The server at {named} is not a Spark Connect server, or refused the connection.")


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
        raise UsageError(f"{where.source} is not a URL of Spark Connect. Write sc://host:15002.")
    return host, port


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


# The settings of Spark that a correct result depends on, made in the engine's own session.

NEEDED = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.variable.substitute": "false",
    "spark.sql.groupByAliases": "true",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.orderByOrdinal": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.functionResolution.sessionOrder": "second",
    "spark.sql.parquet.filterPushdown": "false",
}
"""Overflow is an error and no wrong number; times are UTC; `${env:…}` in a text stays text, and so does the
name of a folder; a file that cannot be read is an error and not left out; a function that somebody registered does not
stand for a built-in one; the statistics of a Parquet file, which know nothing of NaN, decide no filter."""
USUAL = tuple(
    "spark.sql." + name
    for name in (
        "legacy.", "parser.", "ansi.", "parquet.", "function", "path.", "defaultPath", "caseSensitive", "timestampType",
        "mapKeyDedupPolicy", "session.collation", "icu.",
    )
)  # fmt: skip
"""Settings that begin so are Spark's own: older behaviour, how a statement is read, and what values a file has."""
WISHED = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.skewJoin.enabled": "true",
    "spark.sql.adaptive.coalescePartitions.enabled": "true",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.analyzer.maxIterations": "1000",
    "spark.sql.optimizer.maxIterations": "1000",
    "spark.sql.shuffle.orderIndependentChecksum.enabled": "true",
    "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch": "true",
}
"""Speed and skew (a plan is written down for each statement, at length where nobody says otherwise); and a stage whose
rows come out otherwise when it is run again is run again as a whole."""


def settle(session: Any) -> None:
    """Make the settings.

    Raises:
        UsageError: one that is needed cannot be made here.
    """
    for name in session.conf.getAll:
        if name.startswith(USUAL) and name not in NEEDED:
            _make(name, "its default", partial(session.conf.unset, name))
    for name, value in NEEDED.items():
        if _current(session, name) != value:
            _make(name, value, partial(session.conf.set, name, value))
    for name, value in WISHED.items():
        with suppress(PySparkException):
            session.conf.set(name, value)


def _make(name: str, value: str, change: Callable[[], None]) -> None:
    try:
        change()
    except PySparkException:
        raise UsageError(f"An audit needs Spark's setting {name} = {value}, which cannot be made here.") from None


def names_left_out(session: Any) -> bool:
    """Whether this Spark can be asked for the files that it leaves out of folders (since 4.3)."""
    return _current(session, "spark.sql.files.ignoredPathSegmentRegex") is not None


def _current(session: Any, name: str) -> str | None:
    """The value of a setting, its default where nobody made it; asked first, since some warn when they are made."""
    try:
        return str(session.conf.get(name))
    except PySparkException:
        return None


PARTITION_BYTES = 32 * 2**20
MOST_PARTITIONS = 1000


def fit_partitions(session: Any, frame: Any) -> None:
    """As many partitions of a shuffle as the largest table so far needs; a Spark of one machine starts with few.

    Spark's own 200 make a small table slow, and a few make a large one spill. On a cluster it is the user's setting.
    """
    size = int(str(frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))
    needed = min(MOST_PARTITIONS, -(-size // PARTITION_BYTES))
    if needed > int(session.conf.get("spark.sql.shuffle.partitions")):
        session.conf.set("spark.sql.shuffle.partitions", str(needed))
