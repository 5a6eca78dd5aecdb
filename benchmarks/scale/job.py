"""Measurements in a process of their own: `python -m benchmarks.scale.job '{…}'` prints what they took as JSON.

Opening the engine (a JVM, a connection) is timed apart from the work. Audits require k, l and t, so that
all engines compute the same and nothing else.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sqlaudit
from benchmarks.scale.texts import text
from benchmarks.scale.watch import seconds_of
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Limits, Target
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine

REQUIRED = ("k=5", "l=3", "t=0.2")
KNOWLEDGE = 12
MEMORY = "4GB"
THREADS = 2


@dataclass(frozen=True)
class Job:
    """What is measured: tasks over a table, one after the other with the same engine.

    Args:
        server: the process of a database server, 0 = none.
        temp: where the engine spills; empty = a folder that the measurement makes.
        times: how often the work is done; the last time counts. Once: in DuckDB after a warm-up on the file's first
            rows, in Spark as it comes.
    """

    tasks: tuple[str, ...]
    target: str
    columns: tuple[str, ...]
    db: str | None = None
    server: int = 0
    temp: str = ""
    times: int = 1


def timed(work: Callable[[], Any], *roots: int) -> tuple[Any, dict[str, float]]:
    """What the work gives, with its seconds on the clock and on the processors."""
    cpu, begun = seconds_of(*roots), time.perf_counter()
    result = work()
    return result, {"wall": time.perf_counter() - begun, "cpu": seconds_of(*roots) - cpu}


def grouped(engine: Engine, columns: tuple[str, ...], target: Target) -> dict[str, Any]:
    """The bare GROUP BY qi, s: how many cells there are."""
    sql = text("grouped.sql", source=engine.open(target).sql, columns=[*columns, "s"])
    return {"cells": int(engine.run(Statement("grouped", sql))[0][0])}


def audited(engine: Engine, columns: tuple[str, ...], target: Target) -> dict[str, Any]:
    """An audit of k, l and t: its levels, which all engines must agree on."""
    result = sqlaudit.audit(
        target, qi=columns, sensitive="s", require=REQUIRED, db=engine, failing_classes=0, worst_classes=0
    )
    levels = [f"{float(check.level or 0):.9g}" for check in result.checks]
    return {"rows": result.rows, "classes": result.classes.count, "levels": " ".join(levels)}


def disclosed(engine: Engine, columns: tuple[str, ...], target: Target) -> dict[str, Any]:
    """The curve of worst-case disclosure."""
    result = sqlaudit.disclosure_curve(target, qi=columns, sensitive="s", knowledge=KNOWLEDGE, db=engine, weakest=0)
    points = result.disclosures[0].points
    return {"levels": " ".join(f"{float(points[k].maximum):.9g}" for k in (0, 3, 12))}


TASKS = {"group by": grouped, "audit": audited, "disclosure": disclosed}


def measure(job: Job) -> dict[str, Any]:
    """Open the engine, do every task `times` times, and tell what opening and each task took."""
    roots = (os.getpid(), job.server) if job.server else (os.getpid(),)
    limits = Limits() if job.server else Limits(memory=MEMORY, threads=THREADS, temp_directory=job.temp)
    engine, start = timed(lambda: connect(job.db, limits, Target(relation=job.target)), *roots)
    if job.times == 1 and not job.db:
        _warm_up(job)
    with engine:
        return {"start": start, **{task: _repeated(engine, job, task, roots) for task in job.tasks}}


def _repeated(engine: Engine, job: Job, task: str, roots: tuple[int, ...]) -> dict[str, Any]:
    """What a task found and took, the first time and the last: a warm one where it is repeated."""
    runs = []
    for _ in range(job.times):
        before, already = len(engine.executed), _stages(job)
        found, spent = timed(lambda: TASKS[task](engine, job.columns, Target(relation=job.target)), *roots)
        runs.append(spent)
    found |= {name: count - already[name] for name, count in _stages(job).items()}
    statements = [(done.name, done.seconds) for done in engine.executed[before:]]
    return {**found, "first": runs[0], "last": runs[-1], "statements": statements}


def _warm_up(job: Job) -> None:
    """Read templates and imports over the file's first rows, so that a single run does not count them."""
    few = Target(query=f"SELECT * FROM '{job.target}' LIMIT 1000")
    with connect(None, Limits(threads=THREADS), few) as engine:
        for task in job.tasks:
            TASKS[task](engine, job.columns, few)


def _stages(job: Job) -> dict[str, int]:
    """What Spark has shuffled and spilled so far; nothing for other engines."""
    if not (job.db or "").startswith("spark"):
        return {}
    from benchmarks.scale.spark_stages import stages

    return vars(stages())


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    named = {name: tuple(given[name]) for name in ("tasks", "columns")}
    print(json.dumps(measure(Job(**{**given, **named}))))
