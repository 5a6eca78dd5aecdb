"""Sessions of Spark: found, started, or on a server; each engine works in a session of its own.

An engine never works in the session that somebody handed over: it works in a clone, which sees the same tables,
temporary views and functions, and keeps its own settings and views. So nothing has to be put back, and two audits at
once do not meet. What runs below (the context, its executors) is shared, and is stopped only by who started it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import warnings
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlaudit.engines.spill import SpillFolder
from sqlaudit.errors import ConnectionFailed, EngineError, MissingDriver, SqlauditError, UsageError
from sqlaudit.spec import Limits

INSTALL = "pip install 'sqlaudit[spark]'"
OLDEST = (4, 0)

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyspark warns of versions of pandas, which nothing here needs
        import pyspark
        import pyspark.testing.utils  # which pyspark imports later, and which warns then
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
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
        self.started: tuple[str, Limits] | None = None
        self.stop: Callable[[], None] | None = None

    def borrow(self, where: str, limits: Limits) -> None:
        """One more user; the first one starts it.

        Raises:
            UsageError: it runs elsewhere, or with other limits.
        """
        wanted = where, replace(limits, timeout=None)
        with self.lock:
            if self.users == 0:
                self.stop = _start(where, limits)
                self.started = wanted
            elif self.started != wanted:
                raise UsageError(
                    "This process runs one Spark already, on another master or with other limits; close its engines "
                    "first, or give its SparkSession as db."
                )
            self.users += 1

    def give_back(self) -> None:
        """One user less; the last one stops it."""
        with self.lock:
            self.users -= 1
            if self.users == 0 and self.stop is not None:
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
    if not isinstance(db, str):
        _refuse_limits(limits, "a session that is given")
        return of_session(db)
    if db.startswith("sc://"):
        from sqlaudit.engines.spark_connect import connected

        _refuse_limits(limits, "a server of Spark Connect")
        return connected(db)
    from pyspark import SparkContext

    where = master(db, limits)
    if SparkContext._active_spark_context is not None and _OURS.users == 0:
        _refuse_limits(limits, "a Spark that runs already")
        return of_session(SparkSession(SparkContext._active_spark_context))  # somebody else's, not ours to stop
    _OURS.borrow(where, limits)
    session = SparkSession(SparkContext._active_spark_context).newSession()
    return Lease(session, False, _once(_OURS.give_back), where.startswith("local"))


def _refuse_limits(limits: Limits, what: str) -> None:
    given = {
        "--memory-limit": bool(limits.memory),
        "--threads": limits.threads is not None,
        "--temp-directory": bool(limits.temp_directory),
    }
    for option, is_given in given.items():
        if is_given:
            raise UsageError(f"{option} is for a Spark that is started here; {what} has its own.")


def of_session(session: Any) -> Lease:
    """A clone of somebody's session; closing it leaves theirs as it was."""
    if is_remote(session):
        clone = session.cloneSession()
        return Lease(clone, True, _once(clone.stop))
    cloned = session._jsparkSession.cloneSession()
    return Lease(type(session)(session.sparkContext, cloned), False, lambda: None)


def is_remote(session: Any) -> bool:
    """True for a session of Spark Connect."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def master(db: str, limits: Limits) -> str:
    """Spark's own name for where it runs.

    Example:
        >>> master("spark:local", Limits(threads=2)), master("spark:yarn", Limits()), master("spark://h:7077", Limits())
        ('local[2]', 'yarn', 'spark://h:7077')
    """
    if db.startswith("spark://"):
        return db
    name = db.partition(":")[2]
    if name in ("", "local"):
        return f"local[{limits.threads or '*'}]"
    if not name.startswith(("local[", "local-cluster[", "yarn", "k8s://", "spark://")):
        raise UsageError(
            f"--db {db!r} names no Spark: write spark:local, spark:local[4], spark:local-cluster[2,1,1024], "
            "spark://host:port, spark:yarn, spark:k8s://…, or sc://host:port for Spark Connect."
        )
    return name


def _once(action: Callable[[], None]) -> Callable[[], None]:
    left = [action]

    def run() -> None:
        if left:
            left.pop()()

    return run


def _java() -> None:
    home = os.environ.get("JAVA_HOME", "")
    found = (Path(home) / "bin" / "java").exists() if home else shutil.which("java") is not None
    if not found:
        raise MissingDriver(
            "Spark needs a Java runtime, version 17 or newer, and there is none "
            + ("in JAVA_HOME." if home else "in the path: install one (openjdk-17-jre-headless) or set JAVA_HOME.")
        )


def _start(where: str, limits: Limits) -> Callable[[], None]:
    """Start Spark, without a word on stderr; return what stops it and removes its folder."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    _java()
    folder = SpillFolder(limits.temp_directory)
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
        return MissingDriver("Spark needs a Java runtime of version 17 or newer; the one found is older.")
    if "Could not parse Master URL" in str(error):
        return UsageError(f"Spark does not understand the master {where!r}.")
    if where.startswith(("local", "local-cluster")):
        return EngineError("Spark did not start: its Java process ended, or refused its settings.")
    return ConnectionFailed(f"Spark could not be started on {where!r}: no such cluster answers, or it refused.")


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
        raise UsageError(f"--memory-limit {size!r} is not a size; write for instance 4GB.") from None
    if not 512 <= amount < 2**31:
        raise UsageError(f"--memory-limit {size!r} does not do for Spark, which starts with 512MB at least.")
    return f"{int(amount)}m"
