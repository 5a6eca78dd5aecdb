"""The kinds of pictures that matplotlib draws: curves, bars, sizes of classes, sets, grids and graphs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from sqlaudit.reports.page.plain_svg import CALLED, labels_above

INK, QUIET, LINE, FIRST, SECOND, THIRD = "C0", "C1", "C2", "C3", "C4", "C5"
"""What is drawn in which colour; matplotlib looks the colours up when it draws."""
HEIGHT = 3.0
_MARKS = [
    (FIRST, "-", "o"),
    (SECOND, "--", "s"),
    (THIRD, ":", "^"),
    (QUIET, "-.", "D"),
    (FIRST, ":", "v"),
    (SECOND, "-", "P"),
    (THIRD, "--", "X"),
    (QUIET, "-", "*"),
]
"""How curves are told apart: colour, stroke and mark."""

Draw = Callable[[Any, Mapping[str, Any]], None]


def _label(text: str, longest: int = 36) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _tick(value: float) -> str:
    """A number at an axis, as sentences and tables have it: `4,000`, `0.2`, `−1`."""
    said = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:g}"
    return said.replace("-", "−")


def _plain_numbers(axis: Any) -> None:
    """Tick labels as 1, 10, 100, not as powers, which are formulas; of a short axis 1, 2, 5, 10 as well."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_data_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 1000 * low else (1,), numticks=20))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value)))
    axis.set_minor_formatter(NullFormatter())


def _grouped(axis: Any) -> None:
    """Tick labels with the separators that sentences and tables have: 4,000."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value)))


def _sizes(axes: Any, data: Mapping[str, Any]) -> None:
    """How many rows lie in classes of which size, in the bands that the table beside it has."""
    labels, values = data["labels"], data["values"]
    low = [FIRST if bound >= data.get("safe", 0) else SECOND for bound in data["from"]]
    bars = axes.bar(range(len(values)), values, color=low, width=0.8)
    axes.yaxis.get_major_locator().set_params(integer=True)
    _grouped(axes.yaxis)
    axes.set_xticks(
        range(len(labels)), labels, rotation=45 if len(labels) > 6 else 0, ha="right" if len(labels) > 6 else "center"
    )
    axes.bar_label(bars, [f"{value:,}" for value in values], fontsize=8, color=QUIET, padding=2)
    axes.set_ylim(0, max([*values, 1]) * 1.15)
    axes.set_xlabel(_label(data["x"], 80))
    axes.set_ylabel(_label(data["y"], 60))


def _steps(axes: Any, data: Mapping[str, Any]) -> None:
    """Curves over one another: each a list of (x, y) with a name."""
    for (name, points), (colour, line, mark) in zip(data["curves"].items(), _MARKS, strict=False):
        dense = len(points) > 40
        axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            line,
            color=colour,
            label=_label(name),
            markersize=4,
            marker="" if dense else mark,
            drawstyle="steps-post" if data.get("steps") else "default",
        )
    if data.get("limit") is not None:
        axes.axhline(
            data["limit"], color=QUIET, linewidth=1, linestyle=(0, (1, 2)), label=data.get("limit_name", "limit")
        )
    if data.get("log_x"):
        axes.set_xscale("log")
        _plain_numbers(axes.xaxis)
    elif all(float(x).is_integer() for points in data["curves"].values() for x, _ in points):
        axes.xaxis.get_major_locator().set_params(integer=True)
    if data.get("share", True):
        axes.set_ylim(0, 1.03)
    else:
        _grouped(axes.yaxis)
    axes.set_xlabel(_label(data["x"], 80))
    axes.set_ylabel(_label(data["y"], 60))
    axes.grid(alpha=0.6, linewidth=0.6)
    if len(data["curves"]) > 1 or data.get("limit") is not None:
        axes.legend(frameon=False, loc=data.get("legend", "lower right"))


def _bars(axes: Any, data: Mapping[str, Any]) -> None:
    """Bars to the right, up to four a name, best at the top."""
    names, series = data["names"], data["series"]
    depth, most = 0.8 / len(series), max(1e-9, *(max(values, default=0) for values in series.values()))
    for place, ((title, values), colour) in enumerate(zip(series.items(), (FIRST, SECOND, THIRD, QUIET), strict=False)):
        at = [row + place * depth - 0.4 + depth / 2 for row in range(len(names))]
        bars = axes.barh(at, values, height=depth * 0.9, color=colour, label=_label(title))
        axes.bar_label(bars, [_number(value) if value else "" for value in values], fontsize=7, color=QUIET, padding=2)
    axes.set_yticks(range(len(names)), [_label(name) for name in names])
    axes.invert_yaxis()
    _grouped(axes.xaxis)
    axes.set_xlim(1.15 * min(0, *(min(values, default=0) for values in series.values())), most * 1.15)
    axes.set_xlabel(_label(data["x"], 80))
    axes.grid(axis="x", alpha=0.6, linewidth=0.6)
    if len(series) > 2:  # too many names to find room among the bars
        axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    elif len(series) > 1:
        axes.legend(frameon=False)


def _matrix(axes: Any, data: Mapping[str, Any]) -> None:
    """Which columns belong to which set: dots that a line joins, as up-set pictures have them; a bar a set above."""
    columns, sets = data["columns"], data["sets"]
    for place, members in enumerate(sets):
        rows = sorted(columns.index(name) for name in members)
        axes.plot([place] * len(columns), range(len(columns)), "o", color=LINE, markersize=6)
        axes.plot([place] * len(rows), rows, "-o", color=FIRST, markersize=7, linewidth=2)
    axes.set_yticks(range(len(columns)), [_label(name) for name in columns])
    axes.set_xticks(
        range(len(sets)), [_label(label, 9) for label in data["labels"]], rotation=60, ha="right", fontsize=8
    )
    axes.set_xlabel(_label(data["x"], 80))
    axes.set_xlim(-0.7, len(sets) - 0.3)
    axes.invert_yaxis()
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.tick_params(length=0)


def _heat(axes: Any, data: Mapping[str, Any]) -> None:
    """Shares in a grid, the more the fuller the square, with the number in it."""
    grid = data["values"]
    for y, row in enumerate(grid):
        for x, value in enumerate(row):
            if value is None:
                continue
            side = math.sqrt(max(0.02, value)) * 0.9
            axes.add_patch(_square(x, y, side))
            axes.text(x, y, data["texts"][y][x], ha="center", va="center", fontsize=7, color=INK)
    if data.get("marked") is not None:
        y, x = data["marked"]
        axes.add_patch(_square(x, y, 0.97, THIRD))
    axes.set_xticks(range(len(data["columns"])), [_label(name, 14) for name in data["columns"]])
    axes.set_yticks(range(len(data["rows"])), [_label(name, 24) for name in data["rows"]])
    axes.set_xlim(-0.6, len(data["columns"]) - 0.4)
    axes.set_ylim(len(data["rows"]) - 0.4, -0.6)
    axes.set_xlabel(_label(data["x"], 80))
    axes.set_ylabel(_label(data["y"], 60))
    axes.set_aspect("equal")


def _square(x: float, y: float, side: float, edge: str = "") -> Any:
    """A full square, or with a colour for its edge an empty one."""
    from matplotlib.patches import Rectangle

    corner = (x - side / 2, y - side / 2)
    if edge:
        return Rectangle(corner, side, side, fill=False, edgecolor=edge, linewidth=2)
    return Rectangle(corner, side, side, facecolor=FIRST, alpha=0.35, edgecolor="none")


_NODES = {
    "safe": (FIRST, "o"),
    "unsafe": (SECOND, "X"),
    "minimal": (FIRST, "D"),
    "best": (THIRD, "*"),
    "open": (LINE, "o"),
}


def _graph(axes: Any, data: Mapping[str, Any]) -> None:
    """A Hasse diagram: nodes in rows of equal height above the bottom, lines to the nodes just above."""
    places = {node["name"]: (node["x"], node["y"]) for node in data["nodes"]}
    for low, high in data["edges"]:
        (x1, y1), (x2, y2) = places[low], places[high]
        axes.plot([x1, x2], [y1, y2], "-", color=LINE, linewidth=0.8, zorder=1)
    for kind, (colour, mark) in _NODES.items():
        chosen = [node for node in data["nodes"] if node["kind"] == kind]
        if chosen:
            axes.plot(
                [n["x"] for n in chosen],
                [n["y"] for n in chosen],
                mark,
                color=colour,
                label=CALLED.get(kind, kind),
                zorder=2,
                markersize=18 if kind == "best" else 7,
                linestyle="none",
            )
    for node, above in zip(data["nodes"], labels_above(data["nodes"]), strict=True):
        if above is not None:
            axes.annotate(
                node["name"],
                (node["x"], node["y"]),
                textcoords="offset points",
                xytext=(0, (11 if node["kind"] == "best" else 6) if above else -13),
                ha="center",
                fontsize=7,
                color=INK,
                weight="bold" if node["kind"] == "best" else "normal",
            )
    axes.set_xticks([])
    axes.set_ylabel(_label(data["y"], 60))
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.spines["bottom"].set_visible(False)
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=5)


def _flat(_: Mapping[str, Any]) -> float:
    return HEIGHT


def _by_names(data: Mapping[str, Any]) -> float:
    bars = len(data["series"])
    return max(1.6, 0.9 + 0.3 * len(data["names"]) * max(1, 0.7 * min(bars, 2) + 0.3 * max(0, bars - 2)))


def _by_columns(data: Mapping[str, Any]) -> float:
    return max(1.8, 1.2 + 0.28 * len(data["columns"]))


def _by_grid(data: Mapping[str, Any]) -> float:
    return float(min(9, max(2.5, 1 + 5.5 * len(data["rows"]) / max(1, len(data["columns"])))))


def _by_levels(data: Mapping[str, Any]) -> float:
    return float(min(10, max(3.2, 1 + 0.75 * len({node["y"] for node in data["nodes"]}))))


KINDS: Mapping[str, tuple[Draw, Callable[[Mapping[str, Any]], float]]] = {
    "sizes": (_sizes, _flat),
    "curves": (_steps, _flat),
    "bars": (_bars, _by_names),
    "matrix": (_matrix, _by_columns),
    "heat": (_heat, _by_grid),
    "graph": (_graph, _by_levels),
}
"""How each is drawn, and how high."""
