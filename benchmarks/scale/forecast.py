"""What `python -m benchmarks.scale cost` prints: constants, residuals, and a table no one has measured."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from benchmarks.scale.cost_model import (
    TERMS,
    Cluster,
    Prediction,
    Table,
    cells_counted,
    crossover_cores,
    expected_cells,
    fitted,
    groups_sent,
    predict,
    processor_seconds,
    signatures_at_most,
    table_of,
)
from benchmarks.scale.fitting import Fit
from benchmarks.scale.records import Record, read

CLUSTER = Cluster(machines=32, cores=16, memory=64e9)
"""Thirty-two machines of sixteen cores and 64 GB, 10 Gbit/s, 500 MB/s from storage."""
MACHINE = Cluster(machines=1, cores=32, memory=256e9, network=math.inf, disk=2e9, start=1.0)
"""One machine of thirty-two cores and 256 GB with an NVMe disk; nothing goes over a network."""
QIS, VALUES = 4, 14
IDLE = 150e6
"""Bytes of a process with DuckDB that has audited next to nothing."""
SPLIT = 4.0
"""Megabytes up to which Spark reads a file in one task; beyond, in as many as it has threads, here two."""


def models(records: Sequence[Record]) -> dict[str, Fit]:
    """The constants of an audit, by engine."""
    return {engine: fitted(records, engine)[0] for engine in ("duckdb", "postgres", "spark") if _any(records, engine)}


def _any(records: Sequence[Record], engine: str) -> bool:
    return any((record.engine, record.task) == (engine, "audit") for record in records)


def group_bytes(records: Sequence[Record]) -> float:
    """Bytes of a group in Spark's shuffle of an audit: the largest seen, over tables of a hundred thousand groups."""
    sizes = [
        record.shuffled_mb * 1e6 / groups_sent(record.rows, record.classes, 1 if record.read_mb <= SPLIT else 2)
        for record in records
        if (record.engine, record.task) == ("spark", "audit") and record.classes >= 100_000
    ]
    return max(sizes, default=0.0)


def bytes_a_row(records: Sequence[Record]) -> float:
    """Compressed bytes of a row's named columns, at the largest number of rows: the most of several tables."""
    chosen = [r for r in records if (r.engine, r.qis, r.values) == ("duckdb", QIS, VALUES)]
    return max((record.rows, record.read_mb * 1e6 / record.rows) for record in chosen)[1]


def lines(rows: int, classes: int) -> Iterator[str]:
    """Markdown tables."""
    records = read()
    found = models(records)
    yield "| engine | audits | " + " | ".join(TERMS) + " | off, typically | at worst |"
    yield "| --- |" + " ---: |" * (len(TERMS) + 3)
    for engine, model in found.items():
        constants = " | ".join([f"{model.constants[0]:.2g} s", *(f"{c * 1e9:.3g} ns" for c in model.constants[1:])])
        yield f"| {engine} | {len(model.residuals)} | {constants} | {model.typical:.0%} | {model.worst:.0%} |"
    yield ""
    yield from held_out(records, 10_000_000)
    yield from forecast(records, found, rows, classes)


def held_out(records: Sequence[Record], most: int) -> Iterator[str]:
    """How constants from tables of up to `most` rows do on larger ones, which they have not seen."""
    cells = cells_counted(records)
    larger = [r for r in records if (r.engine, r.task) == ("duckdb", "audit") and r.rows > most]
    if larger:
        model, _ = fitted(records, "duckdb", most=most)
    for record in larger:
        told_before = processor_seconds(model.constants, table_of(record, cells))
        yield (
            f"duckdb, {record.rows:,} rows, {record.classes:,} classes, not fitted: {told_before:.1f} s predicted, "
            f"{record.cpu:.1f} s measured"
        )


def forecast(records: Sequence[Record], found: dict[str, Fit], rows: int, classes: int) -> Iterator[str]:
    """One table on the cluster and on the machine."""
    table = Table(rows, classes, QIS, expected_cells(rows, classes, VALUES))
    read_bytes, size = bytes_a_row(records) * rows, group_bytes(records)
    yield f"{rows:,} rows, {classes:,} classes, {table.cells:,.0f} cells, {read_bytes / 1e9:,.0f} GB read a scan"
    yield f"at most {signatures_at_most(rows, classes, VALUES):,} signatures"
    state = duckdb_state(records)
    yield f"duckdb, one machine, {state:.0f} bytes a class: " + told(
        predict(found["duckdb"].constants, table, MACHINE, group_bytes=state / 2, read=read_bytes)
    )
    if "spark" in found:
        constants = found["spark"].constants
        prediction = predict(constants, table, CLUSTER, group_bytes=size, read=read_bytes)
        yield f"spark, cluster, {size:.0f} bytes a group, {prediction.shuffled / 1e9:,.0f} GB sent: {told(prediction)}"
        needed = crossover_cores(constants, found["duckdb"].constants, table)
        yield f"spark needs {needed:.1f} cores for each core of one machine with DuckDB"


def duckdb_state(records: Sequence[Record]) -> float:
    """Bytes in memory and spill files that DuckDB takes for a class: the most that peaks grew, from 10^6 classes on."""
    chosen = [
        r
        for r in records
        if (r.engine, r.task) == ("duckdb", "audit") and r.classes >= 1_000_000 and r.values <= VALUES and r.qis == QIS
    ]
    return max(((record.peak_mb + record.spilled_mb) * 1e6 - IDLE) / record.classes for record in chosen)


def told(prediction: Prediction) -> str:
    """A prediction as a line."""
    return (
        f"{prediction.processor:,.0f} processor seconds, {prediction.clock:,.0f} s on the clock, "
        f"{prediction.state / 1e9:,.0f} GB of classes held, {prediction.state_share:.0%} of the memory"
    )
