"""Pictures of a page where matplotlib is not installed: the same data as SVG, drawn with nothing but arithmetic.

Colours are names of the page's style. One unit is one pixel of a picture that is 640 wide and as high as it needs.
"""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

WIDTH = 640.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 12.0, 14.0, 44.0
_ROW = 22.0
_LONGEST = 34
SERIES = ("var(--series-1)", "var(--series-2)", "var(--series-3)", "var(--quiet)")
INK, QUIET, LINE = "var(--ink)", "var(--quiet)", "var(--line)"
_NODES = {"safe": SERIES[0], "minimal": SERIES[0], "unsafe": SERIES[1], "best": SERIES[2], "open": LINE}
CALLED = {"unsafe": "not safe", "minimal": "minimal safe", "best": "chosen", "open": "not decided"}
"""What kinds of nodes are called."""
_ROOMY = 8
"""Nodes of a row whose labels stand beside one another."""
_LETTERS = 72
"""Letters that a row of labels has room for."""
_MOST_LABELS = 60
"""In a picture of more nodes only the chosen one has a label."""
_DASHES = ("", "6 4", "2 3", "8 3 2 3")


def svg(kind: str, data: Mapping[str, Any]) -> str:
    """The picture as an `<svg>` element.

    Args:
        kind: which drawing. data: what it shows, every text as one may show it.

    Raises:
        KeyError: there is no such kind. LookupError, TypeError, ValueError, AttributeError: the data are damaged.
    """
    height, parts = KINDS[kind](data)
    box = f'viewBox="0 0 {WIDTH:g} {height:g}" width="{WIDTH:g}" height="{height:g}"'
    style = "font-family:sans-serif;font-size:12px"
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box} style="{style}">\n' + "\n".join(parts) + "\n</svg>"


def _text(x: float, y: float, words: object, *, at: str = "start", colour: str = QUIET, turn: bool = False) -> str:
    said = str(words)
    said = said if len(said) <= _LONGEST * 2 else said[: _LONGEST * 2 - 1] + "…"
    turned = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turn else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{at}" fill="{colour}"{turned}>{html.escape(said)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str = LINE, dash: str = "", width: float = 1) -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width:g}"{dashed}/>'


def _box(x: float, y: float, width: float, height: float, colour: str, opacity: float = 1) -> str:
    faint = f' fill-opacity="{opacity:g}"' if opacity < 1 else ""
    sides = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}"'
    return f'<rect {sides} fill="{colour}"{faint}/>'


def _dot(x: float, y: float, radius: float, colour: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}"/>'


def _short(words: object) -> str:
    said = str(words)
    return said if len(said) <= _LONGEST else said[: _LONGEST - 1] + "…"


def _sizes(data: Mapping[str, Any]) -> tuple[float, list[str]]:
    """Rows by class size; bars have the length of their number, which stands beside them."""
    labels, values = data["labels"], data["values"]
    most, left = max([*values, 1]), 130.0
    parts = [_text(left - 8, 16, data["x"], at="end"), _text(left, 16, data["y"])]
    for place, (label, value, bound) in enumerate(zip(labels, values, data["from"], strict=True)):
        y = 26 + place * _ROW
        colour = SERIES[0] if bound >= data.get("safe", 0) else SERIES[1]
        width = (WIDTH - left - 80) * value / most
        parts += [_text(left - 8, y + 13, label, at="end"), _box(left, y, width, _ROW - 6, colour)]
        parts.append(_text(left + width + 6, y + 13, f"{value:,}", colour=INK))
    return 34 + len(labels) * _ROW, parts


def _bars(data: Mapping[str, Any]) -> tuple[float, list[str]]:
    """Bars to the right, up to four a name, with their numbers."""
    names, series = data["names"], data["series"]
    most = max([*(float(value) for values in series.values() for value in values), 1e-9])
    left, depth = 230.0, 14.0
    parts = list(_legend(list(series), 14)) if len(series) > 1 else []
    y = 26.0 if len(series) > 1 else 8.0
    for place, name in enumerate(names):
        parts.append(_text(left - 8, y + 11, _short(name), at="end", colour=INK))
        for number, values in enumerate(series.values()):
            width = (WIDTH - left - 70) * float(values[place]) / most
            parts.append(_box(left, y, width, depth - 3, SERIES[number % 4]))
            parts.append(_text(left + width + 6, y + 10, _number(float(values[place]))))
            y += depth
        y += 8
    parts.append(_text(left, y + 12, data["x"]))
    return y + 20, parts


def _curves(data: Mapping[str, Any]) -> tuple[float, list[str]]:
    """Curves over one another, with marked axes."""
    curves = {name: [(float(x), float(y)) for x, y in points] for name, points in data["curves"].items()}
    logarithmic = bool(data.get("log_x"))
    scale: Callable[[float], float] = (lambda x: math.log10(max(x, 1e-9))) if logarithmic else float
    xs = [scale(x) for points in curves.values() for x, _ in points]
    low, high = min(xs), max(*xs, min(xs) + 1e-9)
    most = 1.0 if data.get("share", True) else max([y for points in curves.values() for _, y in points] + [1e-9])
    height = 280.0
    bottom, top = height - _BOTTOM, _TOP + 18 * max(1, math.ceil(len(curves) / 4))

    def at(x: float, y: float) -> tuple[float, float]:
        across = (scale(x) - low) / (high - low)
        return _LEFT + across * (WIDTH - _LEFT - _RIGHT), bottom - y / most * (bottom - top)

    parts = list(_legend(list(curves), 14))
    for step in range(5):
        y = at(10**low if logarithmic else low, most * step / 4)[1]
        parts += [_line(_LEFT, y, WIDTH - _RIGHT, y), _text(_LEFT - 6, y + 4, _number(most * step / 4), at="end")]
    for x in _ticks(low, high, logarithmic, all(x.is_integer() for x in xs)):
        parts.append(_text(at(x, 0)[0], bottom + 16, _number(x), at="middle"))
    if data.get("limit") is not None:
        y = at(10**low if logarithmic else low, float(data["limit"]))[1]
        parts.append(_line(_LEFT, y, WIDTH - _RIGHT, y, QUIET, "2 3"))
        parts.append(_text(WIDTH - _RIGHT, y - 4, data.get("limit_name", "limit"), at="end"))
    for number, points in enumerate(curves.values()):
        parts.append(_path([at(x, y) for x, y in points], number, bool(data.get("steps"))))
    parts += [_text((WIDTH + _LEFT) / 2, height - 8, data["x"], at="middle")]
    parts += [_text(14, (bottom + top) / 2, data["y"], at="middle", turn=True)]
    return height, parts


def _path(points: Sequence[tuple[float, float]], number: int, steps: bool) -> str:
    x, y = points[0]
    drawn = [f"M{x:.1f} {y:.1f}"]
    drawn += [f"H{x:.1f}V{y:.1f}" if steps else f"L{x:.1f} {y:.1f}" for x, y in points[1:]]
    stroke = _stroke(number)
    dash = f' stroke-dasharray="{stroke}"' if stroke else ""
    return f'<path d="{"".join(drawn)}" fill="none" stroke="{SERIES[number % 4]}" stroke-width="2"{dash}/>'


def _stroke(number: int) -> str:
    """The stroke of a curve: those of one colour have different ones."""
    return _DASHES[(number + number // 4) % 4]


def _ticks(low: float, high: float, logarithmic: bool, whole: bool = False) -> list[float]:
    if logarithmic:
        powers = range(math.floor(low), math.floor(high + 1e-9) + 1)
        ticks = [times * 10.0**power for power in powers for times in ((1, 2, 5) if high - low < 3 else (1,))]
        return [one for one in ticks if low - 1e-9 <= math.log10(one) <= high + 1e-9]
    step = 10 ** math.floor(math.log10(high - low))
    step *= next(times for times in (0.2, 0.5, 1, 2) if (high - low) / (step * times) <= 10)
    step = max(step, 1) if whole else step  # there is no event and a half
    first = math.ceil(low / step - 1e-9)
    return [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]


def _matrix(data: Mapping[str, Any]) -> tuple[float, list[str]]:
    """Which columns belong to which set: dots that a line joins."""
    columns, sets, left = data["columns"], data["sets"], 230.0
    wide = (WIDTH - left - 20) / max(1, len(sets))
    parts = [_text(left - 14, 24 + row * _ROW, _short(name), at="end", colour=INK) for row, name in enumerate(columns)]
    bottom = 20 + len(columns) * _ROW
    for place, members in enumerate(sets):
        x = left + (place + 0.5) * wide
        rows = sorted(columns.index(name) for name in members)
        parts += [_dot(x, 20 + row * _ROW, 3, LINE) for row in range(len(columns))]
        if rows:
            parts.append(_line(x, 20 + rows[0] * _ROW, x, 20 + rows[-1] * _ROW, SERIES[0], width=2))
        parts += [_dot(x, 20 + row * _ROW, 5, SERIES[0]) for row in rows]
        parts.append(_text(x + 4, bottom + 46, str(data["labels"][place])[:9], turn=True))
    return bottom + 72, [*parts, _text((WIDTH + left) / 2, bottom + 64, data["x"], at="middle")]


def _heat(data: Mapping[str, Any]) -> tuple[float, list[str]]:
    """Shares in a grid, the more the fuller the square, with the number in it."""
    left, top = 180.0, 24.0
    side = min(64.0, (WIDTH - left - 10) / max(1, len(data["columns"])))
    parts = [_text(left, 14, data["y"] + " by " + data["x"])]
    for y, row in enumerate(data["values"]):
        middle = top + (y + 0.5) * side
        parts.append(_text(left - 8, middle + 4, _short(data["rows"][y])[:24], at="end", colour=INK))
        for x, value in enumerate(row):
            if value is not None:
                full = math.sqrt(max(0.02, float(value))) * side * 0.9
                centre = left + (x + 0.5) * side
                parts.append(_box(centre - full / 2, middle - full / 2, full, full, SERIES[0], 0.35))
                parts.append(_text(centre, middle + 4, data["texts"][y][x], at="middle", colour=INK))
    if data.get("marked") is not None:
        y, x = data["marked"]
        sides = f'x="{left + x * side + 1:.1f}" y="{top + y * side + 1:.1f}" width="{side - 2:.1f}"'
        parts.append(f'<rect {sides} height="{side - 2:.1f}" fill="none" stroke="{SERIES[2]}" stroke-width="2"/>')
    bottom = top + len(data["values"]) * side
    for x, name in enumerate(data["columns"]):
        parts.append(_text(left + (x + 0.5) * side, bottom + 14, str(name)[: max(4, int(side / 7))], at="middle"))
    return bottom + 22, parts


def labels_above(nodes: Sequence[Mapping[str, Any]]) -> list[bool | None]:
    """Whether each label stands above its node.

    In a crowded row every other one stands below; None where that is not enough, so that no label covers another: only
    the chosen node has one there.
    """
    rows: dict[Any, int] = {}
    crowded = Counter(node["y"] for node in nodes)
    longest = max((len(str(node["name"])) for node in nodes), default=0)
    above: list[bool | None] = []
    for node in nodes:
        place, row = rows.get(node["y"], 0), crowded[node["y"]]
        rows[node["y"]] = place + 1
        chosen, letters = node["kind"] == "best", row * (longest + 1)
        if not chosen and (len(nodes) > _MOST_LABELS or letters > 2 * _LETTERS):
            above.append(None)
        else:
            above.append((row <= _ROOMY and letters <= _LETTERS) or place % 2 == 0)
    return above


def _graph(data: Mapping[str, Any]) -> tuple[float, list[str]]:
    """A Hasse diagram: nodes in rows of equal height above the bottom, lines to the nodes just above."""
    nodes = data["nodes"]
    xs, ys = [float(node["x"]) for node in nodes], [float(node["y"]) for node in nodes]
    height = min(900.0, 80 + 64 * (max(ys) - min(ys) + 1))
    across, up = max(max(xs) - min(xs), 1e-9), max(max(ys) - min(ys), 1e-9)
    places = {
        node["name"]: (
            60 + (float(node["x"]) - min(xs)) / across * (WIDTH - 160),
            height - 50 - (float(node["y"]) - min(ys)) / up * (height - 90),
        )
        for node in nodes
    }
    parts = [_line(*places[low], *places[high]) for low, high in data["edges"]]
    for node, above in zip(nodes, labels_above(nodes), strict=True):
        x, y = places[node["name"]]
        parts.append(_dot(x, y, 8 if node["kind"] == "best" else 5, _NODES[node["kind"]]))
        if above is not None:
            parts.append(_text(x, y - 10 if above else y + 18, node["name"], colour=INK, at="middle"))
    kinds = [kind for kind in _NODES if any(node["kind"] == kind for node in nodes)]
    for number, kind in enumerate(kinds):
        called = CALLED.get(kind, kind)
        parts += [_dot(70 + number * 110, height - 14, 5, _NODES[kind]), _text(80 + number * 110, height - 10, called)]
    return height, [*parts, _text(14, height / 2, data["y"], at="middle", turn=True)]


def _legend(names: Sequence[str], y: float) -> Iterator[str]:
    """Colours and strokes by name, when there are several."""
    room = (WIDTH - 20) / min(4, max(1, len(names)))
    for number, name in enumerate(names if len(names) > 1 else ()):
        x, line = 20 + number % 4 * room, y + number // 4 * 18
        yield _line(x, line - 4, x + 20, line - 4, SERIES[number % 4], _stroke(number), 3)
        yield _text(x + 26, line, _short(name)[: int((room - 30) / 6.5)], colour=INK)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


KINDS: Mapping[str, Callable[[Mapping[str, Any]], tuple[float, list[str]]]] = {
    "sizes": _sizes,
    "curves": _curves,
    "bars": _bars,
    "matrix": _matrix,
    "heat": _heat,
    "graph": _graph,
}
