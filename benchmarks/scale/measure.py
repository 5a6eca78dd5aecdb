"""Which tables are measured with which tasks, and the run of one measurement after the other."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

import duckdb

from benchmarks.scale import records
from benchmarks.scale.job import Job
from benchmarks.scale.records import Record
from benchmarks.scale.shapes import Shape, generate
from benchmarks.scale.texts import text
from benchmarks.scale.watch import watched

Prepare = Callable[[Shape, Path], tuple[Job, float]]
"""From a table to what is measured over it (its task still empty), and the megabytes that one scan reads."""


SHORT, LONG = ("group by", "audit"), ("group by", "audit", "disclosure")


def grid(largest: int, middle: int) -> Iterator[tuple[Shape, tuple[str, ...]]]:
    """Tables and tasks: time against rows, then at `middle` rows against classes, quasi-identifiers and values."""
    rows = 100_000
    while rows <= largest:
        for shape in (Shape(rows, rows // 10), Shape(rows, 10_000), Shape(rows, rows // 10, skew=True)):
            yield shape, LONG
        rows *= 10
    for classes in (100, middle // 1000, middle // 100, 3 * middle // 10):
        yield Shape(middle, classes), SHORT
    for qis in (2, 8, 12):
        yield Shape(middle, middle // 10, qis=qis), SHORT
    for values in (2, 48, 200):
        yield Shape(middle, middle // 10, values=values), SHORT


def thin_grid(largest: int) -> Iterator[tuple[Shape, tuple[str, ...]]]:
    """Rows alone, for an engine whose start costs more than most of its work; what matters most comes first."""
    sizes = [10**power for power in (6, 7, 5) if 10**power <= largest]
    for rows in sizes:
        yield Shape(rows, rows // 10), LONG
    for rows in sizes[:2][::-1]:
        yield Shape(rows, 10_000), SHORT
        yield Shape(rows, rows // 10, skew=True), SHORT


def run(engine: str, prepare: Prepare, folder: Path, largest: int, middle: int) -> None:
    """Measure what has not been measured yet; every figure is written at once.

    Spark does all tasks over a table in one process and once, the bare GROUP BY first, as its start costs more than
    most of them; the others do one in each, so that the peak of memory belongs to it.
    """
    thin = engine == "spark"
    for shape, tasks in thin_grid(largest) if thin else grid(largest, middle):
        known = {record.key for record in records.read()}
        left = [task for task in tasks if (engine, task, shape) not in known]
        for together in [left] if thin and left else [[task] for task in left]:
            job, megabytes = prepare(shape, folder)
            found = measured(engine, shape, replace(job, tasks=tuple(together)), megabytes)
            records.write([*records.read(), *found])
            for record in found:
                print(shown(record), flush=True)


def shown(record: Record) -> str:
    """A line for whoever watches."""
    return (
        f"{record.engine:10} {record.task:10} {record.shape.name:45} cpu {record.cpu:8.2f} wall {record.wall:8.2f} "
        f"peak {record.peak_mb:6.0f} MB spilled {record.spilled_mb:6.0f} MB load {record.load:.1f}"
    )


def measured(engine: str, shape: Shape, job: Job, megabytes: float) -> list[Record]:
    """The tasks of one job in a process of their own."""
    times = {"duckdb": 3 if shape.rows <= 1_000_000 else 1, "postgres": 2, "spark": 1}[engine]
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as temp:
        given = asdict(replace(job, temp=job.temp or temp, times=times))
        command = [sys.executable, "-m", "benchmarks.scale.job", json.dumps(given)]
        ran = watched(command, Path(given["temp"]), (job.server,) if job.server else ())
    found = json.loads(ran.printed.splitlines()[-1])
    return [
        Record(
            engine,
            task,
            shape.rows,
            shape.classes,
            shape.qis,
            shape.values,
            int(shape.skew),
            found["start"]["cpu"],
            done["first"]["cpu"],
            done["last"]["cpu"],
            done["last"]["wall"],
            ran.memory / 1e6,
            done.get("spilled", ran.spilled) / 1e6,
            megabytes,
            done.get("shuffled", 0) / 1e6,
            load,
            done.get("levels", str(done.get("cells", ""))),
        )
        for task, done in found.items()
        if task != "start"
    ]


def of_file(shape: Shape, folder: Path, db: str | None = None) -> tuple[Job, float]:
    """A job over a Parquet file, made where it is missing."""
    path = generate(shape, folder)
    sql = text("stored.sql", columns=[*shape.columns, "s"])
    with duckdb.connect() as connection:
        ((size,),) = connection.execute(sql, {"path": str(path)}).fetchall()
    return Job((), str(path), shape.columns, db), size / 1e6
