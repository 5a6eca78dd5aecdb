"""Audits from kept histograms: parts counted alone, merged by SUM, equal to the audit of all rows."""

from __future__ import annotations

import csv
import resource
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

import sqlaudit
from benchmarks.scale.job import MEMORY, REQUIRED, THREADS
from benchmarks.scale.records import DOCS
from benchmarks.scale.shapes import Shape, generate, select, write
from benchmarks.scale.texts import text
from sqlaudit.base.spec import Limits

FIGURES = DOCS / "scale_increments.csv"
NEW = 0.01
"""The share of rows that come after the histogram was kept."""


@dataclass(frozen=True)
class Spent:
    """Processor seconds of each step, and the sizes of what is kept, in megabytes.

    Args:
        cells: rows of the merged histogram.
        full: sqlaudit's audit of k, l and t over all rows, old and new.
        recount: the same figures from all rows by the SQL below, without a kept histogram.
        kept: counting the old rows and writing their histogram, once.
        new: the same for the new rows.
        merged: reading both histograms and writing the new one.
        figures: k, l, α and t from it.
    """

    rows: int
    classes: int
    cells: int
    table_mb: float
    histogram_mb: float
    full: float
    recount: float
    kept: float
    new: float
    merged: float
    figures: float

    @property
    def incremental(self) -> float:
        """What the second audit costs."""
        return self.new + self.merged + self.figures


def processor() -> float:
    """Processor seconds of this process so far."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What the work gives and its processor seconds."""
    begun = processor()
    return work(), processor() - begun


def increment(shape: Shape, folder: Path) -> Spent:
    """Keep the histogram of a table, add 1% of rows, audit from histograms, and compare with a full audit.

    Raises:
        AssertionError: a figure differs.
    """
    old = generate(shape, folder)
    new = folder / f"new_{shape.name}"
    count = max(1, int(shape.rows * NEW))
    write(select(shape, shape.rows, shape.rows + count), new)
    parts = [folder / f"histogram_{place}_{shape.name}" for place in ("old", "new", "merged")]
    try:
        return _increment(shape, (old, new), parts)
    finally:
        for path in (new, *parts):
            path.unlink(missing_ok=True)


def _increment(shape: Shape, tables: tuple[Path, Path], parts: list[Path]) -> Spent:
    connection = duckdb.connect(config={"memory_limit": MEMORY, "threads": THREADS})
    connection.execute("SET enable_progress_bar = false")
    connection.execute("SET preserve_insertion_order = false")

    def written(sql: str, path: Path) -> float:
        return timed(lambda: connection.sql(sql).write_parquet(str(path), compression="zstd"))[1]

    def of(source: str, template: str = "histogram.sql") -> str:
        return text(template, columns=shape.columns, source=source)

    kept, new = (written(of(f"'{table}'"), part) for table, part in zip(tables, parts[:2], strict=True))
    merged = written(text("merged.sql", columns=shape.columns, parts=parts[:2]), parts[2])
    found, figures = timed(lambda: connection.execute(of(f"'{parts[2]}'", "figures.sql")).fetchone())
    both = f"read_parquet(['{tables[0]}', '{tables[1]}'])"
    again, recount = timed(lambda: connection.execute(of(f"({of(both)})", "figures.sql")).fetchone())
    limits = Limits(memory=MEMORY, threads=THREADS)
    query = f"SELECT * FROM '{tables[0]}' UNION ALL SELECT * FROM '{tables[1]}'"
    audit, full = timed(
        lambda: sqlaudit.audit(
            query=query,
            qi=shape.columns,
            sensitive="s",
            require=REQUIRED,
            limits=limits,
            failing_classes=0,
            worst_classes=0,
        )
    )
    _agree(found, again, audit)
    cells = connection.execute(f"SELECT COUNT(*) FROM '{parts[2]}'").fetchall()[0][0]
    size = sum(table.stat().st_size for table in tables) / 1e6
    return Spent(
        audit.rows,
        audit.classes.count,
        cells,
        size,
        parts[2].stat().st_size / 1e6,
        full,
        recount,
        kept,
        new,
        merged,
        figures,
    )


def _agree(found: tuple[Any, ...], again: tuple[Any, ...], audit: sqlaudit.AuditResult) -> None:
    """The figures of the histograms are those of all rows, and those of the audit."""
    k, distinct, alpha, t, rows, classes = found
    assert (k, distinct, rows, classes) == (again[0], again[1], again[4], again[5]), "merged and counted anew differ"
    assert abs(alpha - again[2]) <= 1e-12
    assert abs(t - again[3]) <= 1e-12 * t
    levels = [check.level for check in audit.checks]
    assert (k, distinct, rows, classes) == (levels[0], levels[1], audit.rows, audit.classes.count)
    assert abs(t - float(levels[2] or 0)) <= 1e-12 * t


def increments(folder: Path, rows: int) -> None:
    """Tables with as many classes as a hundredth of a percent, one percent and ten percent of their rows."""
    with tempfile.TemporaryDirectory() as warm:  # templates and imports belong to no table
        increment(Shape(1000, 10), Path(warm))
    kept = [line for line in read() if int(line["rows"]) != rows + int(rows * NEW)]
    fresh = []
    for classes in (rows // 10_000, rows // 100, rows // 10):
        spent = increment(Shape(rows, classes), folder)
        print(spent, f"incremental {spent.incremental:.2f}", flush=True)
        fresh.append({name: f"{v:.4g}" if isinstance(v, float) else str(v) for name, v in vars(spent).items()})
    ordered = sorted([*kept, *fresh], key=lambda line: (int(line["rows"]), int(line["classes"])))
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
