"""Sketches against the exact answer: how long they take, how far they err, and how often their bounds hold."""

from __future__ import annotations

import csv
import math
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.scale.bounds import (
    HASHES,
    hll_standard_error,
    kmv_classes_at_least,
    kmv_estimate,
    kmv_standard_error,
    share_of_small,
    small_classes_between,
    too_small_at_least,
)
from benchmarks.scale.job import MEMORY, THREADS
from benchmarks.scale.records import DOCS
from benchmarks.scale.shapes import Shape, generate
from benchmarks.scale.texts import text

FIGURES = DOCS / "scale_sketches.csv"
K, L = 5, 3
ERROR = 0.025
"""How often each bound may be wrong."""
REGISTERS = 1024
"""Of DuckDB's approx_count_distinct, since 1.5; its standard error is 3.25%."""
SAMPLES = (1024, 4096, 16384, 65536)


@dataclass(frozen=True)
class Exact:
    """All classes, those with fewer than K rows, those with fewer than L values, and what counting them took."""

    classes: int
    small: int
    uniform: int
    cpu: float


@dataclass(frozen=True)
class Row:
    """One line of the results: a method over a table, over several seeds.

    Args:
        method, size: hll or sample; registers, or how many classes were aimed at.
        cpu: mean processor seconds;
        exact_cpu: of counting all classes.
        expected, observed: relative standard error of the number of classes, by theory and over the seeds.
        small_error: relative standard deviation of the estimated number of small classes; empty for hll.
        held: share of bounds (classes, small classes, share of small ones) that hold; each may fail with 2.5%.
        proved: share of seeds in which the sketch alone proves that the table fails k = K.
    """

    rows: int
    classes: int
    small: int
    uniform: int
    skew: int
    method: str
    size: int
    seeds: int
    cpu: float
    exact_cpu: float
    expected: float
    observed: float
    small_error: float
    held: float
    proved: float


@dataclass(frozen=True)
class Table:
    """A table with a connection of the benchmark's limits."""

    connection: duckdb.DuckDBPyConnection
    shape: Shape
    source: str

    def ask(self, template: str, **more: Any) -> tuple[tuple[Any, ...], float]:
        """The one row of an answer, and processor seconds."""
        begun = time.process_time()
        sql = text(template, columns=self.shape.columns, source=self.source, **more)
        row = self.connection.execute(sql).fetchone()
        return row or (), time.process_time() - begun

    def exact(self) -> Exact:
        """The exact answer."""
        (classes, small, uniform, _), cpu = self.ask("counted.sql", k=K, l=L)
        return Exact(classes, small, uniform, cpu)


def opened(shape: Shape, folder: Path) -> Table:
    """The table's file, made where it is missing."""
    connection = duckdb.connect(config={"memory_limit": MEMORY, "threads": THREADS})
    connection.execute("SET enable_progress_bar = false")
    connection.execute("SET preserve_insertion_order = false")
    return Table(connection, shape, f"'{generate(shape, folder)}'")


def hll(table: Table, exact: Exact, seeds: int) -> Row:
    """HyperLogLog: no bound is exact here, so the number of classes is taken three standard errors below."""
    estimates, cpus, proved = [], [], 0
    for seed in range(seeds):
        (rows, estimate), cpu = table.ask("distinct.sql", seed=seed)
        estimates.append(estimate)
        cpus.append(cpu)
        proved += too_small_at_least(int(estimate / (1 + 3 * hll_standard_error(REGISTERS))), rows, K) > 0
    within = [abs(e / exact.classes - 1) <= 3 * hll_standard_error(REGISTERS) for e in estimates]
    return Row(
        table.shape.rows,
        exact.classes,
        exact.small,
        exact.uniform,
        int(table.shape.skew),
        "hll",
        REGISTERS,
        seeds,
        statistics.mean(cpus),
        exact.cpu,
        hll_standard_error(REGISTERS),
        spread(estimates, exact.classes),
        0.0,
        statistics.mean(within),
        proved / seeds,
    )


@dataclass(frozen=True)
class Drawn:
    """One sample of classes, judged against the exact answer."""

    classes: float
    small: float
    held: tuple[bool, ...]
    proved: bool
    cpu: float


def drawn(table: Table, exact: Exact, size: int, seed: int) -> Drawn:
    """Draw one sample of about `size` classes."""
    threshold = min(HASHES - 1, int(size / exact.classes * HASHES))
    (sampled, small, _, smallest, largest), cpu = table.ask(
        "sampled.sql", k=K, l=L, seed=seed, threshold=f"{threshold}::UBIGINT"
    )
    taken, minimum = threshold / HASHES, (largest + 1) / HASHES
    low, high = small_classes_between(small, taken, ERROR)
    share = share_of_small(small, sampled, ERROR)
    held = (
        kmv_classes_at_least(minimum, sampled, ERROR) <= exact.classes,
        low <= exact.small,
        high is None or exact.small <= high,
        share.low <= exact.small / exact.classes <= share.high,
    )
    return Drawn(kmv_estimate(minimum, sampled), small / taken, held, smallest < K, cpu)


def sample(table: Table, exact: Exact, size: int, seeds: int) -> Row:
    """Samples of classes with exact figures."""
    runs = [drawn(table, exact, size, seed) for seed in range(seeds)]
    return Row(
        table.shape.rows,
        exact.classes,
        exact.small,
        exact.uniform,
        int(table.shape.skew),
        "sample",
        size,
        seeds,
        statistics.mean(run.cpu for run in runs),
        exact.cpu,
        kmv_standard_error(size),
        spread([run.classes for run in runs], exact.classes),
        spread([run.small for run in runs], exact.small),
        statistics.mean(held for run in runs for held in run.held),
        statistics.mean(run.proved for run in runs),
    )


def spread(estimates: list[float], truth: int) -> float:
    """The root of the mean squared relative error; 0 where there is nothing to find."""
    return math.sqrt(statistics.mean((e / truth - 1) ** 2 for e in estimates)) if truth else 0.0


def screened(shape: Shape, folder: Path, seeds: int) -> Iterator[Row]:
    """Every method over one table."""
    table = opened(shape, folder)
    exact = min((table.exact() for _ in range(2 if shape.rows < 10**8 else 1)), key=lambda found: found.cpu)
    yield hll(table, exact, seeds)
    for size in SAMPLES:
        if size * 4 <= exact.classes:
            yield sample(table, exact, size, seeds)


def screen(folder: Path, rows: int, seeds: int, say: Callable[[str], None] = print) -> None:
    """Screen tables with few and with many small classes, skewed too; lines of other numbers of rows are kept."""
    shapes = (Shape(rows, rows // 10), Shape(rows, rows // 4), Shape(rows, rows // 20, skew=True))
    kept = [row for row in read() if row["rows"] != str(rows)]
    fresh = []
    for shape in shapes:
        for row in screened(shape, folder, seeds):
            say(str(row))
            fresh.append({name: f"{v:.4g}" if isinstance(v, float) else str(v) for name, v in vars(row).items()})
    ordered = sorted([*kept, *fresh], key=lambda row: int(row["rows"]))
    with FIGURES.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(ordered[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(ordered)


def read() -> list[dict[str, str]]:
    """The lines measured so far."""
    if not FIGURES.exists():
        return []
    with FIGURES.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
