"""The pictures of docs/scale.md, drawn from the raw figures alone. The same figures give the same bytes."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.scale import records, screening
from benchmarks.scale.cost_model import cells_counted, fitted, processor_seconds, table_of
from benchmarks.scale.records import DOCS, Record

_STYLE: Any = {
    "svg.hashsalt": "sqlaudit",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
COLOURS = {"duckdb": "#1f5fa8", "postgres": "#b3261e", "spark": "#8a5a00"}
NAMES = {"duckdb": "DuckDB", "postgres": "PostgreSQL", "spark": "Spark, local"}
MARKS = {"duckdb": "o-", "postgres": "s-", "spark": "^-"}
_GREY = "#555555"


def plot(folder: Path = DOCS) -> list[Path]:
    """Draw all pictures; the files."""
    found = records.read()
    pictures = {
        "scale_rows": lambda: against_rows(found),
        "scale_shapes": lambda: against_shapes(found),
        "scale_model": lambda: predicted(found),
        "scale_sketches": lambda: sketches(screening.read()),
    }
    return [_saved(draw, folder / f"{name}.svg") for name, draw in pictures.items()]


def _saved(draw: Callable[[], Figure], path: Path) -> Path:
    with mpl.rc_context(_STYLE):
        target = io.BytesIO()
        draw().savefig(target, format="svg", metadata={"Date": None})
    # matplotlib ends some lines of paths with a blank
    lines = target.getvalue().decode().splitlines()
    path.write_text("".join(line.rstrip() + "\n" for line in lines), encoding="utf-8")
    return path


def _panels(number: int, height: float = 3.4) -> tuple[Figure, Sequence[Any]]:
    figure = Figure(figsize=(3.6 * number, height), layout="constrained")
    axes = figure.subplots(1, number, squeeze=False)[0]
    for panel in axes:
        panel.grid(alpha=0.25)
    return figure, axes


def _engines(found: Sequence[Record]) -> list[str]:
    return [engine for engine in NAMES if any(record.engine == engine for record in found)]


def against_rows(found: Sequence[Record]) -> Figure:
    """Processor time and memory against rows, a class of ten rows on average."""
    figure, (time, memory) = _panels(2)
    for engine in _engines(found):
        line = sorted(
            (r for r in found if (r.engine, r.task, r.skew) == (engine, "audit", 0) and _plain(r, r.rows // 10)),
            key=lambda r: r.rows,
        )
        rows = [r.rows for r in line]
        style = {"color": COLOURS[engine], "label": NAMES[engine]}
        time.loglog(rows, [r.cpu for r in line], MARKS[engine], **style)
        memory.loglog(rows, [r.peak_mb for r in line], MARKS[engine], **style)
    time.set(xlabel="rows", ylabel="processor seconds", title="Audit of k, l and t")
    memory.set(xlabel="rows", ylabel="megabytes", title="Peak memory of all its processes")
    time.legend(frameon=False)
    return figure


def _plain(record: Record, classes: int) -> bool:
    return (record.classes, record.qis, record.values) == (classes, 4, 14)


def against_shapes(found: Sequence[Record]) -> Figure:
    """Processor time against classes, quasi-identifiers and sensitive values, for the engines that were asked."""
    figure, axes = _panels(3, 3.6)
    for engine in ("duckdb", "postgres"):
        mine = [r for r in found if (r.engine, r.skew) == (engine, 0)]
        middle = 10_000_000 if engine == "duckdb" else 1_000_000
        for task, dash in (("audit", "-"), ("group by", ":")):
            chosen = [r for r in mine if r.rows == middle and r.task == task]
            label = f"{NAMES[engine]}, {middle:.0e} rows, {task}".replace("e+0", "0^")
            lines = (
                [(r.classes, r.cpu) for r in chosen if (r.qis, r.values) == (4, 14)],
                [(r.qis, r.cpu) for r in chosen if (r.classes, r.values) == (middle // 10, 14)],
                [(r.values, r.cpu) for r in chosen if (r.classes, r.qis) == (middle // 10, 4)],
            )
            for panel, points in zip(axes, lines, strict=True):
                points.sort()
                panel.plot(*_columns(points), MARKS[engine][0] + dash, color=COLOURS[engine], label=label)
    for panel, name in zip(axes, ("equivalence classes", "quasi-identifiers", "sensitive values"), strict=True):
        panel.set(xlabel=name, ylabel="processor seconds")
        panel.set_ylim(bottom=0)
    axes[0].set_xscale("log")
    axes[2].set_xscale("log")
    figure.legend(*_legend(axes[0]), frameon=False, ncols=4, loc="outside lower center")
    return figure


def _columns(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _legend(axes: Any) -> tuple[list[Any], list[str]]:
    """Labels with numbers of rows as powers of ten."""
    lines, labels = axes.get_legend_handles_labels()
    return lines, [label.replace("10^7", "$10^7$").replace("10^6", "$10^6$") for label in labels]


def predicted(found: Sequence[Record]) -> Figure:
    """Measured against fitted processor seconds, every audit."""
    figure, (axes,) = _panels(1, 3.6)
    cells = cells_counted(found)
    most = 0.0
    for engine in _engines(found):
        model, chosen = fitted(found, engine)
        expected = [processor_seconds(model.constants, table_of(record, cells)) for record in chosen]
        axes.loglog(expected, [r.cpu for r in chosen], MARKS[engine][0], color=COLOURS[engine], label=NAMES[engine])
        most = max(most, *expected)
    axes.plot([0.03, most], [0.03, most], color=_GREY, linewidth=1, linestyle=":", label="equal")
    axes.set(xlabel="processor seconds by the model", ylabel="processor seconds measured", title="Audits of k, l and t")
    axes.legend(frameon=False)
    return figure


def sketches(lines: Sequence[dict[str, str]]) -> Figure:
    """How far samples of classes err, and what they cost, beside the exact count."""
    figure, (error, cost) = _panels(2, 4.2)
    shades = ("#1f5fa8", "#b3261e", "#8a5a00", "#2e7d32", "#6a3d9a", "#555555")
    tables = sorted({(int(r["rows"]), int(r["classes"]), r["skew"]) for r in lines})
    for colour, table in zip(shades, tables, strict=False):
        mine = [r for r in lines if (int(r["rows"]), int(r["classes"]), r["skew"]) == table and r["method"] == "sample"]
        sizes = [int(r["size"]) for r in mine]
        label = f"{table[0]:,} rows, {table[1]:,} classes{', skewed' if table[2] == '1' else ''}"
        error.loglog(sizes, [100 * float(r["observed"]) for r in mine], "o", color=colour, label=label)
        cost.semilogx(sizes, [float(r["cpu"]) / float(r["exact_cpu"]) for r in mine], "o-", color=colour, label=label)
    sizes = sorted({int(r["size"]) for r in lines if r["method"] == "sample"})
    error.loglog(sizes, [100 / (size - 2) ** 0.5 for size in sizes], ":", color=_GREY, label="1 / sqrt(k - 2)")
    error.set(xlabel="classes in the sample, k", ylabel="error in the number of classes, %")
    cost.set(xlabel="classes in the sample, k", ylabel="processor time, exact count = 1")
    cost.set_ylim(bottom=0)
    figure.legend(*error.get_legend_handles_labels(), frameon=False, ncols=2, loc="outside lower center")
    return figure
