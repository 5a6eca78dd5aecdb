"""The tables of docs/scale.md, from the raw figures: `python -m benchmarks.scale tables`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchmarks.scale import increments, screening
from benchmarks.scale.records import Record, read

NAMES = {"duckdb": "DuckDB", "postgres": "PostgreSQL", "spark": "Spark, local"}


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """A Markdown table; all columns but the first are numbers."""
    yield "| " + " | ".join(head) + " |"
    yield "| --- |" + " ---: |" * (len(head) - 1)
    for row in rows:
        yield "| " + " | ".join(str(cell) for cell in row) + " |"


def seconds(value: float) -> str:
    """Seconds to two digits that count.

    Example:
        >>> seconds(0.123), seconds(2.34), seconds(123.4)
        ('0.12', '2.3', '123')
    """
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def lines() -> Iterator[str]:
    """All of them."""
    records = read()
    yield from by_rows(records)
    yield ""
    yield from by_shape(records)
    yield ""
    yield from by_sketch(screening.read())
    yield ""
    yield from by_increment(increments.read())


def by_rows(records: Sequence[Record]) -> Iterator[str]:
    """Time against rows, for the three kinds of table."""
    found = {(r.engine, r.task, r.rows, r.classes, r.skew): r for r in records if (r.qis, r.values) == (4, 14)}
    head = ("engine, rows", "classes", "GROUP BY", "audit", "disclosure", "on the clock", "load", "peak", "spilled")
    cells = []
    for (engine, task, rows, classes, skew), record in sorted(found.items(), key=lambda item: str(item[0][0])):
        if task != "audit" or classes not in (rows // 10, 10_000):
            continue
        others = [found.get((engine, name, rows, classes, skew)) for name in ("group by", "disclosure")]
        taken = [seconds(other.cpu) if other else "" for other in others]
        cells.append(
            (
                list(NAMES).index(engine),
                skew,
                classes != rows // 10,
                rows,
                f"{NAMES[engine]}, {rows:,}",
                f"{classes:,}{', skewed' if skew else ''}",
                taken[0],
                seconds(record.cpu),
                taken[1],
                seconds(record.wall),
                f"{record.load:.0f}",
                f"{record.peak_mb:,.0f} MB",
                f"{record.spilled_mb:,.0f} MB",
            )
        )
    return table(head, (cell[4:] for cell in sorted(cells)))


def by_shape(records: Sequence[Record]) -> Iterator[str]:
    """Time against classes, quasi-identifiers and values."""
    found = {(r.engine, r.task, r.shape): r for r in records}
    head = ("engine, rows", "classes", "QIs", "values", "GROUP BY", "audit", "ratio", "peak")
    rows = []
    for (engine, task, shape), record in found.items():
        middle = {"duckdb": 10_000_000, "postgres": 1_000_000}.get(engine)
        bare = found.get((engine, "group by", shape))
        if task == "audit" and shape.rows == middle and not shape.skew and bare is not None:
            key = (engine, shape.qis, shape.values, shape.classes)
            rows.append(
                (
                    *key,
                    (
                        f"{NAMES[engine]}, {shape.rows:,}",
                        f"{shape.classes:,}",
                        shape.qis,
                        shape.values,
                        seconds(bare.cpu),
                        seconds(record.cpu),
                        f"{record.cpu / bare.cpu:.1f}",
                        f"{record.peak_mb:,.0f} MB",
                    ),
                )
            )
    return table(head, (row[-1] for row in sorted(rows, key=lambda row: row[:-1])))


def by_sketch(found: Sequence[dict[str, str]]) -> Iterator[str]:
    """Sketches against exact counts."""
    head = (
        "rows, classes",
        "small",
        "method",
        "time, exact = 1",
        "error expected",
        "seen",
        "small ones",
        "held",
        "FAIL",
    )
    rows = []
    for line in found:
        name = f"{int(line['rows']):,}, {int(line['classes']):,}{', skewed' if line['skew'] == '1' else ''}"
        method = f"{line['method']} {int(line['size']):,}"
        small = "" if line["method"] == "hll" else f"{float(line['small_error']):.1%}"
        rows.append(
            (
                name,
                f"{int(line['small']):,}",
                method,
                f"{float(line['cpu']) / float(line['exact_cpu']):.3f}",
                f"{float(line['expected']):.1%}",
                f"{float(line['observed']):.1%}",
                small,
                f"{float(line['held']):.1%}",
                f"{float(line['proved']):.0%}",
            )
        )
    return table(head, rows)


def by_increment(found: Sequence[dict[str, str]]) -> Iterator[str]:
    """Kept histograms against full audits."""
    head = ("rows, classes", "cells", "kept", "full audit", "count new rows", "merge", "figures", "together")
    rows = []
    for line in found:
        steps = [float(line[name]) for name in ("new", "merged", "figures")]
        rows.append(
            (
                f"{int(line['rows']):,}, {int(line['classes']):,}",
                f"{int(line['cells']):,}",
                f"{float(line['histogram_mb']):,.1f} MB",
                seconds(float(line["full"])),
                *map(seconds, steps),
                f"{seconds(sum(steps))} ({sum(steps) / float(line['full']):.0%})",
            )
        )
    return table(head, rows)
