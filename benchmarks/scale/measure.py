"""Which tables are measured with which tasks, and the run of one measurement after the other."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.scale import records
from benchmarks.scale.job import Job
from benchmarks.scale.records import Record
from benchmarks.scale.shapes import Shape, generate
from benchmarks.scale.texts import text
from benchmarks.scale.watch import Peaks, watched

Prepare = Callable[[Shape, Path], tuple[Job, float]]
"""From a table to what is measured over it (its task still empty), and the megabytes that one scan reads."""


def grid(largest: int, middle: int) -> Iterator[tuple[Shape, tuple[str, ...]]]:
    """Tables and tasks: time against rows, then at `middle` rows against classes, quasi-identifiers and values."""
    rows = 100_000
    while rows <= largest:
        for shape in (Shape(rows, rows // 10), Shape(rows, 10_000), Shape(rows, rows // 10, skew=True)):
            yield shape, ("group by", "audit", "disclosure")
        rows *= 10
    for classes in (100, middle // 1000, middle // 100, 3 * middle // 10):
        yield Shape(middle, classes), ("group by", "audit")
    for qis in (2, 8, 12):
        yield Shape(middle, middle // 10, qis=qis), ("group by", "audit")
    for values in (2, 48, 200):
        yield Shape(middle, middle // 10, values=values), ("group by", "audit")


def run(engine: str, prepare: Prepare, folder: Path, largest: int, middle: int) -> None:
    """Measure what has not been measured yet; every figure is written at once."""
    for shape, tasks in grid(largest, middle):
        for task in tasks:
            known = records.read()
            if (engine, task, shape) in {record.key for record in known}:
                continue
            job, megabytes = prepare(shape, folder)
            record = one(engine, task, shape, job, megabytes)
            records.write([*records.read(), record])
            print(
                f"{engine:10} {task:10} {shape.name:45} cpu {record.cpu:8.2f} wall {record.wall:8.2f} "
                f"peak {record.peak_mb:6.0f} MB spilled {record.spilled_mb:6.0f} MB load {record.load:.1f}",
                flush=True,
            )


def one(engine: str, task: str, shape: Shape, job: Job, megabytes: float) -> Record:
    """One measurement in a process of its own."""
    times = 3 if shape.rows <= 1_000_000 else 2 if shape.rows <= 10_000_000 else 1
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as temp:
        given = {**asdict(job), "task": task, "temp": job.temp or temp, "times": times}
        ran = _child(given)
    found = json.loads(ran.printed.splitlines()[-1])
    return Record(
        engine, task, shape.rows, shape.classes, shape.qis, shape.values, int(shape.skew), found["start"]["cpu"],
        found["first"]["cpu"], found["last"]["cpu"], found["last"]["wall"], ran.memory / 1e6,
        found.get("spilled", ran.spilled) / 1e6, megabytes, found.get("shuffled", 0) / 1e6, load,
        found.get("levels", str(found.get("cells", ""))),
    )  # fmt: skip


def _child(given: dict[str, Any]) -> Peaks:
    also = (given["server"],) if given["server"] else ()
    return watched([sys.executable, "-m", "benchmarks.scale.job", json.dumps(given)], Path(given["temp"]), also)


def of_file(shape: Shape, folder: Path, db: str | None = None) -> tuple[Job, float]:
    """A job over a Parquet file, made where it is missing."""
    path = generate(shape, folder)
    sql = text("stored.sql", columns=[*shape.columns, "s"])
    with duckdb.connect() as connection:
        ((size,),) = connection.execute(sql, {"path": str(path)}).fetchall()
    return Job("", str(path), shape.columns, db), size / 1e6
