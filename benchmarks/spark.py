"""What an audit takes of Spark, beside the bare GROUP BY: its executors' CPU, jobs, rows read, bytes shuffled, memory.

    python -m benchmarks.spark FOLDER                                       10⁶ rows, 10⁵ classes, two executors
    python -m benchmarks.spark FOLDER --rows 10000000 --classes 1000000 --master local[2]

The session is started here and given to the audit, so that Spark's status store can be read before and after: figures
of the executors themselves, whatever else the machine does. Every task runs once cold, in the order of the table, then
`--runs` times warm; the last run counts. Lines of `python -m benchmarks.user --lines spark` are made here.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import sqlaudit
from benchmarks.scale.job import grouped
from benchmarks.scale.shapes import Shape, generate
from sqlaudit.base.spec import Limits, Target
from sqlaudit.engines import connect

MASTER = "local-cluster[2,1,1024]"
LIMITS = {"k": ("k=5",), "k, l, t": ("k=5", "l=3", "t=0.2")}
HEAD = (
    "| table | master | task | executor CPU, cold | warm | jobs | rows read | shuffled | clock, warm | driver heap | "
    "Python |\n| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
)


@dataclass(frozen=True)
class Work:
    """What Spark's status store counts of all stages so far."""

    cpu: float
    """Seconds of the executors' tasks."""
    jobs: int
    rows: int
    shuffled: int

    def since(self, before: Work) -> Work:
        """Return what was added since then."""
        cpu, jobs, rows, shuffled = (here - there for here, there in zip(astuple(self), astuple(before), strict=True))
        return Work(cpu, jobs, rows, shuffled)


@contextmanager
def session(master: str, folder: Path) -> Iterator[Any]:
    """A session that keeps the figures of every stage, and its files in a folder."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("benchmark").config("spark.ui.enabled", "false")
    kept = {"spark.ui.retainedStages": "100000", "spark.ui.retainedJobs": "100000", "spark.log.level": "ERROR"}
    others = {"spark.sql.shuffle.partitions": "4", "spark.sql.warehouse.dir": (folder / "warehouse").resolve().as_uri()}
    for name, value in (kept | others).items():
        builder = builder.config(name, value)
    started = builder.getOrCreate()
    try:
        yield started
    finally:
        started.stop()


def work(spark: Any) -> Work:
    """The work that the executors have done so far."""
    context = spark.sparkContext
    java, gateway = context._jsc.sc(), context._gateway
    java.listenerBus().waitUntilEmpty()
    store = java.statusStore()
    nothing = gateway.new_array(context._jvm.double, 0), context._jvm.java.util.ArrayList()
    found = store.stageList(None, False, False, *nothing)
    stages = [found.apply(place) for place in range(found.size())]
    cpu = sum(int(stage.executorCpuTime()) for stage in stages) / 1e9
    rows, shuffled = (
        sum(int(getattr(stage, name)()) for stage in stages) for name in ("inputRecords", "shuffleWriteBytes")
    )
    return Work(cpu, int(store.jobsList(None).size()), rows, shuffled)


def heap(spark: Any) -> float:
    """The most that the driver's heap held since the last question, in MB."""
    pools = spark.sparkContext._jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
    peak = 0
    for pool in pools:
        if str(pool.getType().name()) == "HEAP":
            peak += int(pool.getPeakUsage().getUsed())
            pool.resetPeakUsage()
    return peak / 1e6


def tasks(shape: Shape, path: Path, spark: Any) -> dict[str, Callable[[], object]]:
    """The bare GROUP BY of quasi-identifiers and value, and audits, by their names."""

    def group() -> object:
        with connect(spark, Limits(), Target(relation=str(path))) as engine:
            return grouped(engine, shape.columns, Target(relation=str(path)))

    def audit(limits: Sequence[str]) -> object:
        return sqlaudit.audit(str(path), qi=shape.columns, sensitive="s", require=limits, db=spark)

    audits = {f"`audit`, {name}": lambda limits=limits: audit(limits) for name, limits in LIMITS.items()}
    return {"bare GROUP BY qi, s": group, **audits}


def rows(shape: Shape, folder: Path, master: str, runs: int) -> Iterator[str]:
    """The lines of a table of one run."""
    path = generate(shape, folder)
    table = f"{shape.rows:,} rows, {shape.classes:,} classes"
    with session(master, folder) as spark:
        for name, task in tasks(shape, path, spark).items():
            spent = []
            heap(spark)
            for _ in range(1 + runs):
                before, begun = work(spark), time.perf_counter()
                task()
                spent.append((work(spark).since(before), time.perf_counter() - begun))
            (cold, _), (warm, clock) = spent[0], spent[-1]
            python = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
            cells = [table, f"`{master}`", name, f"{cold.cpu:.1f} s", f"{warm.cpu:.1f} s", str(warm.jobs)]
            cells += [f"{warm.rows:,}", f"{warm.shuffled / 1e6:.1f} MB", f"{clock:.1f} s"]
            yield f"| {' | '.join([*cells, f'{heap(spark):,.0f} MB', f'{python:,.0f} MB'])} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="where tables are made, and stay")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--classes", type=int, default=100_000)
    parser.add_argument("--master", default=MASTER)
    parser.add_argument("--runs", type=int, default=2, help="warm runs of each task")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    print(HEAD, end="")
    for row in rows(Shape(given.rows, given.classes), given.folder, given.master, given.runs):
        print(row, flush=True)


if __name__ == "__main__":
    main()
