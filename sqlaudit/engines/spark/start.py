"""Starting a Spark in this process, and ending it: without a word on stderr, and with nothing left behind."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
import warnings
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import ConnectionFailed, EngineError, MissingDriver, SqlauditError, UsageError
from sqlaudit.base.spec import Limits
from sqlaudit.base.words import about
from sqlaudit.engines.spill import SpillFolder

__all__ = ["FAILURES", "INSTALL", "PySparkException", "megabytes", "start"]

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
        from pyspark.errors import PySparkException
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
        raise UsageError(f"{about('memory_limit')} {size!r} is not a size; write for instance 4GB.") from None
    if not 512 <= amount < 2**31:
        raise UsageError(f"{about('memory_limit')} {size!r} does not do for Spark, which starts with 512MB at least.")
    return f"{int(amount)}m"
