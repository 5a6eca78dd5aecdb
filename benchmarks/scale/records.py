"""The raw figures: one line a measurement in a CSV file that the plots and the cost model read."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from benchmarks.scale.shapes import Shape

DOCS = Path(__file__).parents[2] / "docs"
FIGURES = DOCS / "scale.csv"


@dataclass(frozen=True)
class Record:
    """One measurement.

    Args:
        engine, task: what ran.
        rows, classes, qis, values, skew: the table (`Shape`).
        start_cpu: processor seconds of opening the engine: imports, a JVM, a connection.
        first_cpu: of the first run, templates and the engine's own warming up included.
        cpu, wall: processor seconds and seconds on the clock of the last run.
        peak_mb, spilled_mb: the most memory of the process tree, and the most that lay in its spill files.
        read_mb: compressed bytes of the named columns in Parquet, or of the whole table in PostgreSQL.
        shuffled_mb: bytes that Spark's stages wrote for others to read; 0 elsewhere.
        load: the machine's load average over a minute when it began; two cores, shared.
        levels: the k, l and t, or the points of the curve, which all engines must agree on.
    """

    engine: str
    task: str
    rows: int
    classes: int
    qis: int
    values: int
    skew: int
    start_cpu: float
    first_cpu: float
    cpu: float
    wall: float
    peak_mb: float
    spilled_mb: float
    read_mb: float
    shuffled_mb: float
    load: float
    levels: str

    @property
    def shape(self) -> Shape:
        """The table."""
        return Shape(self.rows, self.classes, self.qis, self.values, bool(self.skew))

    @property
    def key(self) -> tuple[str, str, Shape]:
        """What was measured; measured once."""
        return self.engine, self.task, self.shape


_TYPES: dict[str, Any] = {"int": int, "float": float, "str": str}


def read(path: Path = FIGURES) -> list[Record]:
    """The measurements of a file; none when it is not there."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    return [Record(**{f.name: _TYPES[str(f.type)](line[f.name]) for f in fields(Record)}) for line in lines]


def write(records: Iterable[Record], path: Path = FIGURES) -> None:
    """Write all measurements, in the order of engine, task and table."""
    ordered = sorted(records, key=lambda r: (r.engine, r.task, r.skew, r.rows, r.classes, r.qis, r.values))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [f.name for f in fields(Record)], lineterminator="\n")
        writer.writeheader()
        for record in ordered:
            cells = asdict(record)
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in cells.items()})
