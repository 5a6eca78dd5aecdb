"""Sessions of Spark: open ones, started ones, or on a server, with the settings that a correct result depends on."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import uuid
import warnings
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from sqlaudit.base.addresses import Whereabouts, whereabouts
from sqlaudit.base.errors import ConnectionFailed, EngineError, MissingDriver, SqlauditError, UsageError
from sqlaudit.base.files import PrivateFolder
from sqlaudit.base.parameter_names import about
from sqlaudit.base.spec import Limits

# Starting a Spark in this process, and ending it, without output on stderr and without files left behind.

INSTALL = "pip install 'sqlaudit[spark]'"
OLDEST = (3, 5)
_PLAIN_MASTER = re.compile(r"local\[[\d*,]+\]|local-cluster\[[\d,]+\]|yarn")
_PACKAGES = {"py4j": "py4j", "pyarrow": "'pyarrow>=16'", "distutils": "setuptools"}
"""The packages of modules that are needed beside pyspark."""


def _missing(error: ImportError, what: str) -> MissingDriver:
    """Return the error for what is missing beside an installed pyspark, which stays as it is: it is the cluster's."""
    package = _PACKAGES.get((error.name or "").partition(".")[0])
    if package:
        return MissingDriver(f"{what} needs a package that is missing here: pip install {package}.")
    words = str(error).rpartition("] ")[2].rstrip(".")  # of pyspark or pyarrow, about packages
    return MissingDriver(f"{what} cannot be used here: {words}.")


try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyspark warns of versions of pandas, which nothing here needs
        import pyspark
except ImportError as error:
    if error.name == "pyspark":
        raise MissingDriver(f"Spark needs the package pyspark: {INSTALL}.") from None
    raise _missing(error, "Spark") from None

VERSION = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
if VERSION < OLDEST:
    raise MissingDriver(
        f"Spark needs pyspark 3.5 or newer, and {pyspark.__version__} is installed. Use a cluster with Spark 3.5 or "
        "newer, or install sqlaudit into an environment of its own."
    )

get_logger: Callable[[str], logging.Logger] = logging.getLogger
"""Return a logger of pyspark."""

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pyarrow
        import pyspark.sql
        from py4j.protocol import Py4JError, Py4JJavaError
        from pyarrow.types import is_string_view as _is_string_view  # noqa: F401  which pyarrow has since 16
        from pyspark.errors import PySparkException as PySparkException  # noqa: PLC0414 - handed on

        if VERSION < (4, 0):
            import distutils.version  # noqa: F401  which pyspark imports later, and Python 3.12 does not have
        else:
            import pyspark.testing.utils  # which pyspark imports later, and which warns then
            from pyspark.logger import PySparkLogger

            get_logger = PySparkLogger.getLogger
except ImportError as error:
    raise _missing(error, "Spark") from None

try:
    from grpc import RpcError
except ImportError:  # only Spark Connect needs it

    class RpcError(Exception):  # type: ignore[no-redef]
        """Never raised."""


FAILURES: tuple[type[Exception], ...] = (PySparkException, Py4JError, OSError, RpcError)
"""The errors that pyspark raises."""
ROWS_OF_A_BATCH = 10_000
T = TypeVar("T")
_REFUSALS: tuple[type[Exception], ...] = (*FAILURES, ValueError)


# Attributes of pyspark that are not public, each in one line; tried with pyspark 3.5, 4.0, 4.2 and 4.3.


def java_session(session: Any) -> Any:
    """Return the Java session of a session of classic Spark."""
    return session._jsparkSession


def is_stopped(session: Any) -> bool:
    """Return True if somebody has stopped the context of a session of classic Spark."""
    return session.sparkContext._jsc is None


def java_plan(frame: Any) -> Any:
    """Return the Java plan (QueryExecution) of a frame of classic Spark."""
    return frame._jdf.queryExecution()


def put_built_ins_back(session: Any) -> None:
    """Let no registered function stand for a built-in one in a session of our own; since 4.2 a setting sees to it."""
    built_in = session._jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry.builtin().functionBuilders()
    getattr(java_session(session).sessionState().functionRegistry().functionBuilders(), "$plus$plus$eq")(built_in)


def listed_files(session: Any, pattern: str) -> list[str]:
    """Return the addresses of all files that a path or pattern names in classic Spark, as Hadoop lists them: also
    those that Spark leaves out.
    """
    path = session._jvm.org.apache.hadoop.fs.Path(pattern)
    system = path.getFileSystem(java_session(session).sessionState().newHadoopConf())
    addresses = []
    for named in system.globStatus(path) or ():
        files = system.listFiles(named.getPath(), True)
        while files.hasNext():
            addresses.append(files.next().getPath().toUri().toString())
    return addresses


def arrow_of(frame: Any) -> Any:
    """Return the rows of a frame as an Arrow table."""
    if VERSION >= (4, 0):
        return frame.toArrow()
    from pyspark.sql.pandas.types import to_arrow_schema

    schema, batches = to_arrow_schema(frame.schema), frame._collect_as_arrow()
    return pyarrow.Table.from_batches(batches).cast(schema) if batches else schema.empty_table()


def frame_of(session: Any, table: Any, schema: Any = None) -> Any:
    """Return a frame of the rows of an Arrow table; before 4.0 in the way that pyspark 4.0 takes."""
    if VERSION >= (4, 0):
        return session.createDataFrame(table, schema)
    from pyspark.sql.pandas.serializers import ArrowStreamSerializer
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    schema = schema or from_arrow_schema(table.schema)
    if not table.num_rows:
        return session.createDataFrame([], schema)
    batches, java = table.cast(to_arrow_schema(schema)).to_batches(ROWS_OF_A_BATCH), session._jvm
    read, serve = java.PythonSQLUtils.readArrowStreamFromFile, java.ArrowIteratorServer
    rows = session.sparkContext._serialize_to_jvm(batches, ArrowStreamSerializer(), read, serve)
    return pyspark.sql.DataFrame(java.PythonSQLUtils.toDataFrame(rows, schema.json(), java_session(session)), session)


def bind_to_session(frame: Any, session: object) -> object:
    """Return a frame of Spark Connect that belongs to another session."""
    frame._plan._spark_session = session
    return type(frame)(frame._plan, session)


def active_context() -> object:
    """Return the context of classic Spark in this process, no matter what started it; None if there is none."""
    return pyspark.SparkContext._active_spark_context


def current_gateway() -> object:
    """Return the gateway to the Java process of classic Spark; None if there is none."""
    return pyspark.SparkContext._gateway


def forget_gateway() -> None:
    """Let pyspark start another Java process next time."""
    pyspark.SparkContext._gateway = pyspark.SparkContext._jvm = None


def _require_java() -> None:
    """Raise MissingDriver if there is no Java runtime."""
    home = os.environ.get("JAVA_HOME", "")
    is_installed = (Path(home) / "bin" / "java").exists() if home else shutil.which("java") is not None
    if not is_installed:
        raise MissingDriver(
            "Spark needs a Java runtime, version 17 or newer, and there is none "
            + ("in JAVA_HOME." if home else "in the path: install one (openjdk-17-jre-headless) or set JAVA_HOME.")
        )


def start(where: str, limits: Limits) -> Callable[[], None]:
    """Start Spark, without output on stderr; return a function that stops it and removes its folder."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    _require_java()
    folder = PrivateFolder("spill", limits.temp_directory)
    log = folder.path / "start.log"
    settings = _settings(where, limits, folder.path)
    conf = SparkConf(loadDefaults=False)
    for name, value in settings.items():
        conf.set(name, value)
    gateway = current_gateway()
    handler = signal.getsignal(signal.SIGINT)
    with ExitStack() as on_failure:
        on_failure.callback(folder.close)
        try:
            if gateway is None:
                with log.open("wb") as log_file:
                    gateway = launch_gateway(conf, popen_kwargs={"stdout": log_file, "stderr": log_file})
            on_failure.callback(_end_gateway, gateway)
            context = SparkContext(conf=conf, gateway=gateway)
        except _REFUSALS as error:
            raise _start_error(error, log, where) from None
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
    """End the Java process that was started for us, and wait for it, since it removes its own files."""
    if gateway is None:
        return
    forget_gateway()
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


def _start_error(error: Exception, log: Path, where: str) -> SqlauditError:
    """Return the error for a Spark that did not start. Its own messages stay in the log, which is removed with the
    folder.
    """
    log_text = log.read_text(errors="replace") if log.exists() else ""
    if "UnsupportedClassVersionError" in log_text or "Unrecognized option" in log_text:
        return MissingDriver("Spark needs a Java runtime of version 17 or newer, but the one found is older.")
    if "Could not parse Master URL" in str(error):
        return UsageError(f"Spark does not understand {_describe_master(where)}.")
    if where.startswith(("local", "local-cluster")):
        return EngineError("Spark did not start: its Java process ended, or refused its settings.")
    return ConnectionFailed(
        f"Spark could not be started on {_describe_master(where)}: no such cluster answers, or it refused."
    )


def _describe_master(where: str) -> str:
    """Return how messages name a master: by its address only if that can hold no secret."""
    return f"the master {where!r}" if _PLAIN_MASTER.fullmatch(where) else "this master"


def _settings(where: str, limits: Limits, folder: Path) -> dict[str, str]:
    """Return the settings with which a Spark is started: silent, private, and without files in the current folder."""
    local = where.startswith("local")
    settings = {
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
        settings |= {
            "spark.local.dir": str(folder),
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={folder} -Dderby.system.home={folder}",
            "spark.sql.shuffle.partitions": str(max(2, limits.threads or os.cpu_count() or 2)),
        }
    if limits.memory:
        settings["spark.driver.memory"] = megabytes(limits.memory)
    if not _has_metastore():
        settings["spark.sql.warehouse.dir"] = (folder / "warehouse").as_uri()
    return settings


def _has_metastore() -> bool:
    """Return True if the user's Spark is configured for a metastore, which then has a warehouse of its own."""
    homes = [os.environ.get(name, "") for name in ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "HIVE_CONF_DIR")]
    homes += [str(Path(os.environ["SPARK_HOME"]) / "conf")] if os.environ.get("SPARK_HOME") else []
    return any((Path(home) / "hive-site.xml").exists() for home in homes if home)


_UNITS = {"k": 1 / 1024, "m": 1, "g": 1024, "t": 1024**2}


def megabytes(size: str) -> str:
    """Return a size in the form that DuckDB takes (`4GB`, `512 MiB`) in the form that Java takes.

    Raises:
        UsageError: the text is not a size, or Java cannot start with so little.

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


# Sessions of Spark: open ones, started ones, or on a server; each engine works in a session of its own.
#
# An engine works in a clone of the session that the caller gave, which sees the same tables, temporary views and
# functions, and keeps its own settings and views. So no setting has to be restored, and two audits at the same time do
# not interfere. The context and its executors are shared; only who started them stops them. Where a server makes no
# clones, the engine works beside the caller in their session: it checks the settings, changes none, and stops only
# operations with its own tag.

_NO_CLONE: tuple[type[Exception], ...] = (AttributeError, *FAILURES)
"""The errors of a client or server that is too old for clones."""


@dataclass
class Lease:
    """A session that an engine works in.

    Args:
        session: the session.
        remote: True if it is one of Spark Connect. local: True if it runs in a Spark of this process.
        give_back: ends the session, and its Spark if no other session needs it.
        tag: the tag of our operations, if the session is one of Spark Connect and the caller's own.
        jobs: the tag of our jobs in classic Spark.
    """

    session: Any
    remote: bool
    give_back: Callable[[], None]
    local: bool = False
    tag: str = ""
    jobs: str = field(default_factory=lambda: "sqlaudit_" + uuid.uuid4().hex)

    def do(self, work: Callable[[], T]) -> T:
        """Return what work returns; its jobs have a tag, unless a server keeps our session apart.

        Raises:
            EngineError: somebody has stopped this Spark.
        """
        if self.remote and not self.tag:
            return work()
        if not self.remote and is_stopped(self.session):
            raise EngineError("The Spark of this session has been stopped. Open another session.")
        context = None if self.remote else java_session(self.session).sparkContext()
        context.addJobTag(self.jobs) if context else self.session.addTag(self.tag)
        try:
            return work()
        finally:
            with suppress(*FAILURES):
                context.removeJobTag(self.jobs) if context else self.session.removeTag(self.tag)

    def interrupt(self) -> None:
        """Stop all operations of our own session, or those with our tag in the caller's."""
        with suppress(*FAILURES):
            if not self.remote:
                java_session(self.session).sparkContext().cancelJobsWithTag(self.jobs)
            elif self.tag:
                self.session.interruptTag(self.tag)
            else:
                self.session.interruptAll()


class _Context:
    """The Spark that this process has started, which all engines share; it is stopped with the last of them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.number = 0
        self.started: tuple[str, Limits] | None = None
        self.stop: Callable[[], None] | None = None

    def borrow(self, where: str, limits: Limits, *, alive: bool) -> Callable[[], None]:
        """Add a user, for the first of which Spark is started. Return a function that removes the user; with the last
        one, Spark stops.

        Args:
            where: its master. alive: True if it runs; somebody else may have stopped it while it was in use.

        Raises:
            UsageError: it runs elsewhere, or with other limits.
        """
        request = where, replace(limits, timeout=None)
        with self.lock:
            if self.users and not alive:
                self._end()
            if self.users == 0:
                self.number += 1
                self.stop = start(where, limits)
                self.started = request
            elif self.started != request:
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


def lease(db: object, limits: Limits) -> Lease:
    """Return a session for the value of `--db`. `spark:…` and `spark://…` start Spark here, `sc://…` connects to a
    server.

    Raises:
        MissingDriver: no Java, or one that is too old.
        ConnectionFailed: no server answers.
        UsageError: a master or a limit that Spark does not understand, or that comes too late for a Spark that runs.
    """
    if not isinstance(db, str | Whereabouts):
        _refuse_limits(limits, "a session that is given")
        return clone_session(db)
    address = whereabouts(db)
    if address.text.startswith("sc://"):
        _refuse_limits(limits, "a server of Spark Connect")
        return connect_to_server(address)
    from pyspark.sql import SparkSession

    where = master(address, limits)
    context = active_context()
    if context is not None and _OURS.users == 0:
        _refuse_limits(limits, "a Spark that runs already")
        return clone_session(SparkSession(context))  # started by somebody else, so it is not stopped here
    give_back = _OURS.borrow(where, limits, alive=context is not None)
    session = SparkSession(active_context()).newSession()
    return Lease(session, False, give_back, where.startswith("local"))


def _refuse_limits(limits: Limits, what: str) -> None:
    """Raise UsageError if a limit is set that only a Spark started here can have."""
    is_set = {
        about("memory_limit"): bool(limits.memory),
        about("threads"): limits.threads is not None,
        about("temp_directory"): bool(limits.temp_directory),
    }
    for option, is_option_set in is_set.items():
        if is_option_set:
            raise UsageError(f"{option} applies to a Spark that sqlaudit starts, but {what} has its own. Leave it out.")


def clone_session(session: Any) -> Lease:
    """Return a clone of a session, or the session itself where a server makes none; closing leaves it as it was.

    A frame comes to a clone through a view that both sessions see, so where there are none, clones are of no use.
    """
    if is_remote(session):
        _refuse_old_connect(pyspark.__version__, "this client")
        refuse_replaced(session)
        view = "sqlaudit_" + uuid.uuid4().hex
        try:
            session.sql("SELECT 1").createGlobalTempView(view)
            session.catalog.dropGlobalTempView(view)
            clone = session.cloneSession()
        except _NO_CLONE:
            return Lease(session, True, lambda: None, tag=view)
        return Lease(clone, True, _once(clone.stop))
    clone = type(session)(session.sparkContext, java_session(session).cloneSession())
    if VERSION < (4, 2):
        put_built_ins_back(clone)
    return Lease(clone, False, lambda: None)


def refuse_replaced(session: Any) -> None:
    """Raise UsageError if functions of the caller stand for built-in ones in a session of Spark Connect.

    Since Spark 4.2 a setting sees to it, and in classic Spark `put_built_ins_back` does.
    """
    from pyspark.sql import functions

    if tuple(int(part) for part in session.version.split(".")[:2]) >= (4, 2):
        return
    for function in session.catalog.listFunctions():
        own = function.className and not function.className.startswith("org.apache.spark.sql.catalyst.")
        if own and hasattr(functions, function.name.lower()):
            raise UsageError(
                f"The function {function.name!r} of this session stands for Spark's own one, also in an audit. Give a "
                "session without it."
            )


def is_remote(session: object) -> bool:
    """Return True for a session of Spark Connect."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def master(db: str | Whereabouts, limits: Limits) -> str:
    """Return Spark's own name for the place where it runs.

    Example:
        >>> master("spark:local", Limits(threads=2)), master("spark:yarn", Limits()), master("spark://h:7077", Limits())
        ('local[2]', 'yarn', 'spark://h:7077')
    """
    address = whereabouts(db)
    if address.text.startswith("spark://"):
        return address.text
    name = address.text.partition(":")[2]
    if name in ("", "local"):
        return f"local[{limits.threads or '*'}]"
    if not name.startswith(("local[", "local-cluster[", "yarn", "k8s://", "spark://")):
        raise UsageError(
            f"{address.source} names no Spark: write spark:local, spark:local[4], spark:local-cluster[2,1,1024], "
            "spark://host:port, spark:yarn, spark:k8s://…, or sc://host:port for Spark Connect."
        )
    return name


def _once(action: Callable[[], None]) -> Callable[[], None]:
    """Return a function that calls the action the first time it is called, and then does nothing."""
    left = [action]

    def run() -> None:
        if left:
            left.pop()()

    return run


# Spark Connect: a session on a server, or an error within seconds.

SECONDS = 10
RETRIES = 5
"""Number of retries of an unanswered call: about ten seconds, instead of the client's ten minutes."""
PORT = 15002


def connect_to_server(where: Whereabouts) -> Lease:
    """Return a session of our own on a server of Spark Connect.

    Raises:
        ConnectionFailed: no server answers, or it does not let us in.
        MissingDriver: the client's packages are not installed.
        UsageError: not a URL of Spark Connect.
    """
    _refuse_old_connect(pyspark.__version__, "this client")
    host, port = _parse_server(where)
    public = where.public_parts({"host": host, "port": str(port)}) if "@" not in where.text else {}
    server = f"{public['host']}:{public['port']}" if public else f"the place that {where.source} names"
    _refuse_silent_server(host, port, server)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pyspark.sql.connect.client.retries import DefaultPolicy
            from pyspark.sql.connect.session import SparkSession
    except ImportError as error:
        raise _missing(error, "Spark Connect") from None
    session, version = None, ""
    with suppress(*FAILURES, ValueError):  # their messages quote the URL, and its token
        session = SparkSession.builder.remote(where.text).create()
        session.client.set_retry_policies([DefaultPolicy(max_retries=RETRIES)])
        version = session.version  # the first call that reaches the server
    with ExitStack() as on_failure:
        on_failure.callback(_stop_quietly, session)
        if version:
            _refuse_old_connect(version, "the server")
            on_failure.pop_all()
            return Lease(session, True, partial(_stop_quietly, session))
    raise ConnectionFailed(f"The server at {server} is not a Spark Connect server, or refused the connection.")


def _refuse_old_connect(version: str, where: str) -> None:
    """Raise UsageError for a client or server of Spark Connect that cannot keep what was counted."""
    if int(version.partition(".")[0]) < 4:
        raise UsageError(
            f"Spark Connect can be audited from Spark 4.0 on, and {where} is {version}. Run sqlaudit where the driver "
            "runs, with a classic SparkSession or spark:yarn."
        )


def _stop_quietly(session: Any) -> None:
    """Stop a session of Spark Connect, if there is one, and ignore errors."""
    with suppress(*FAILURES):
        if session is not None:
            session.stop()


def _parse_server(where: Whereabouts) -> tuple[str, int]:
    """Return host and port of a URL of Spark Connect."""
    try:
        parts = urlsplit(where.text)
        host, port = parts.hostname, parts.port or PORT
    except ValueError:
        host, port = None, PORT
    if not host:
        raise UsageError(f"{where.source} is not a URL of Spark Connect. Write sc://host:15002.")
    return host, port


def _refuse_silent_server(host: str, port: int, server: str) -> None:
    """Raise ConnectionFailed within seconds if no server answers; the client itself would retry for minutes."""
    try:
        socket.create_connection((host, port), timeout=SECONDS).close()
    except socket.gaierror:
        raise ConnectionFailed(f"The host at {server} is not known.") from None
    except TimeoutError:
        raise ConnectionFailed(f"The server at {server} did not answer within {SECONDS} s.") from None
    except (OSError, ValueError):
        raise ConnectionFailed(f"No Spark Connect server answers at {server}.") from None


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
"""Settings without which results would be wrong: overflow is an error and not a wrong number; times are UTC; `${env:…}`
in a text stays text, and so does the name of a folder; a file that cannot be read is an error and not left out; a
registered function does not replace a built-in one; the statistics of a Parquet file, which ignore NaN, decide no
filter."""
USUAL = tuple(
    "spark.sql." + name
    for name in (
        "legacy.", "parser.", "ansi.", "parquet.", "function", "path.", "defaultPath", "caseSensitive", "timestampType",
        "mapKeyDedupPolicy", "session.collation", "icu.",
    )
)  # fmt: skip
"""Prefixes of settings that get Spark's defaults: older behaviour, the parsing of statements, the values of files."""
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
"""Settings for speed and skew (Spark writes down the plan of each statement, by default at length); and a stage whose
rows differ when a part of it is run again is run again completely."""


WRITING = tuple("spark.sql." + name for name in ("parquet.compression", "parquet.cacheMetadata", "legacy.createHive"))
"""Prefixes of such settings that change nothing that is read; clusters are often configured with them."""
SUBSTITUTION = "spark.sql.variable.substitute"
FOR_FILES = ("spark.sql.sources.partitionColumnTypeInference.enabled", "spark.sql.parquet.filterPushdown")
UNLIKE_DEFAULT = (SUBSTITUTION, *FOR_FILES, "spark.sql.ansi.enabled", "spark.sql.session.timeZone")
"""Settings whose default is another one, or another one somewhere. A server that lets others be neither read nor
changed has their defaults."""


def settle(session: Any, *, check_only: bool = False) -> frozenset[str]:
    """Make the settings in a session, or check that it has them where they cannot be made.

    Args:
        session: the session. check_only: True in a session in which the caller works, too; nothing is changed there.

    Returns:
        Those of `SUBSTITUTION` and `FOR_FILES` that this session does not have. Other tables and statements than those
        which they matter for can be audited all the same.

    Raises:
        UsageError: it does not have another setting that is needed.
    """
    missing = set()
    for name in _list_settings(session):
        if name.startswith(USUAL) and not name.startswith(WRITING) and name not in NEEDED:
            if check_only:
                raise _setting_error(name, "its default", f'spark.conf.unset("{name}")')
            _change_setting(name, "its default", partial(session.conf.unset, name))
    for name, value in NEEDED.items():
        current = _current(session, name)
        if current == value or (current, value) == ("Etc/UTC", "UTC"):
            continue
        try:
            if check_only:
                raise _setting_error(name, value, f'spark.conf.set("{name}", "{value}")')
            _change_setting(name, value, partial(session.conf.set, name, value))
        except UsageError:
            if name == SUBSTITUTION or name in FOR_FILES:
                missing.add(name)
            elif current is not None or name in UNLIKE_DEFAULT:
                raise
    for name, value in () if check_only else WISHED.items():
        with suppress(PySparkException):
            session.conf.set(name, value)
    return frozenset(missing)


def _list_settings(session: Any) -> list[str]:
    """Return the names of the settings that a session has; none if the server does not list them."""
    try:
        return [row[0] for row in session.sql("SET").collect()]
    except PySparkException:
        return []


def _change_setting(name: str, value: str, change: Callable[[], None]) -> None:
    """Make a change of a setting; raise UsageError if Spark refuses it."""
    try:
        change()
    except PySparkException:
        raise _setting_error(name, value) from None


def _setting_error(name: str, value: str, way: str = "") -> UsageError:
    """Return the error for a setting that a session does not have; `way` sets it, if the caller can."""
    text = f"An audit needs Spark's setting {name} = {value}, which cannot be made here."
    own = f"An audit needs Spark's setting {name} = {value}, and works in your own session here. Set it: {way}."
    return UsageError(own if way else text)


def refuse_substituted(text: str, missing: frozenset[str]) -> None:
    """Raise UsageError for SQL with ${…} in a session that replaces it, by settings and variables of the server."""
    if SUBSTITUTION in missing and "${" in text:
        raise UsageError(
            f"This Spark replaces ${{…}} in SQL, also in names and texts, because its setting {SUBSTITUTION} is not "
            "false. Rename what contains ${, or leave it out."
        )


def names_left_out(session: object) -> bool:
    """Return True if this Spark can be asked for the files that it leaves out of folders (since 4.3)."""
    return _current(session, "spark.sql.files.ignoredPathSegmentRegex") is not None


def _current(session: Any, name: str) -> str | None:
    """Return the value of a setting, by default Spark's own. It is read before a change, since some settings warn when
    they are made.
    """
    try:
        return str(session.conf.get(name))
    except (PySparkException, Py4JJavaError):  # an unknown one, since 4.0 and before
        return None


def setting(session: object, name: str, default: str) -> str:
    """Return the value of a setting; `default` if it has none, or may not be read."""
    return _current(session, name) or default


PARTITION_BYTES = 32 * 2**20
MOST_PARTITIONS = 1000


def fit_partitions(session: Any, frame: object) -> None:
    """Raise the number of shuffle partitions to what the largest table so far needs, on a Spark of one machine.

    Spark's own 200 make a small table slow, and a few make a large one spill. On a cluster it is the user's setting.
    """
    size = int(str(java_plan(frame).optimizedPlan().stats().sizeInBytes()))
    needed = min(MOST_PARTITIONS, -(-size // PARTITION_BYTES))
    if needed > int(session.conf.get("spark.sql.shuffle.partitions")):
        session.conf.set("spark.sql.shuffle.partitions", str(needed))
