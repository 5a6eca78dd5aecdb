"""Charts of results as SVG, drawn with nothing but arithmetic.

A picture's data are plain numbers and texts, so that it can be drawn from a stored result as well. Colours are names of
the page's style. One unit is one pixel. A page has each picture twice, for wide screens and for phones, and its style
shows one: text that is scaled down cannot be read.
"""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlaudit.base.errors import InputError
from sqlaudit.reports import document as doc

WIDTH, NARROW = 880.0, 360.0
_FILE_WIDTH = 640.0
_ROOM = 500.0
"""The width from which on names stand beside bars and not above them."""
_LETTER = 6.6
"""The width of a letter, roughly."""
_WIDE_LETTERS = "mwMW%@"
_LEFT, _RIGHT, _TOP, _BOTTOM = 58.0, 14.0, 14.0, 44.0
_ROW = 22.0
_LONGEST_LABEL = 34
SERIES = ("var(--series-1)", "var(--series-2)", "var(--series-3)", "var(--series-4)")
INK, QUIET, LINE = "var(--ink)", "var(--quiet)", "var(--line)"
_NODES = {"safe": SERIES[0], "minimal": SERIES[0], "unsafe": SERIES[1], "best": SERIES[2], "open": LINE}
_CALLED = {"unsafe": "not safe", "minimal": "minimal safe", "best": "chosen", "open": "not decided"}
"""What kinds of nodes are called."""
_LARGE = ("minimal", "best")
_MOST_LABELS = 60
"""In a picture of more nodes only the chosen one has a label."""
_DASHES = ("", "6 4", "2 3", "8 3 2 3")
_COLOURS = {
    "var(--ink)": "#1b1f24",
    "var(--quiet)": "#57606a",
    "var(--line)": "#d0d7de",
    "var(--series-1)": "#14407a",
    "var(--series-2)": "#dc4918",
    "var(--series-3)": "#b45fe0",
    "var(--series-4)": "#631d1d",
}
"""Names of the page's style, and what stands for them in a file of its own, where no style sets them."""
_TITLE_LETTERS = 95


def draw(picture: doc.Picture, width: float = WIDTH) -> str:
    """The picture as an `<svg>` element for a page.

    Raises:
        InputError: the picture's kind is unknown, or its data are not what its kind needs.
    """
    # the figure's title and its table say the same to those who listen to the page
    hidden = f' class="{"wide" if width >= _ROOM else "narrow"}" aria-hidden="true" focusable="false"'
    return _svg(width, *_parts(picture, width), hidden)


def draw_file(pictures: Sequence[doc.Picture]) -> bytes:
    """The pictures with their titles, one below the other, as the content of an SVG file.

    Raises:
        InputError: as `draw`.
    """
    below, stacked = 0.0, []
    for picture in pictures:
        height, elements = _parts(picture, _FILE_WIDTH)
        lines = textwrap.wrap(doc.visible(picture.title), _TITLE_LETTERS)
        title = [_text(8, 18 + 16 * number, line, colour=INK) for number, line in enumerate(lines)]
        top = 10 + 16 * len(lines)
        stacked += [
            f'<g transform="translate(0 {below:g})">',
            *title,
            f'<g transform="translate(0 {top:g})">',
            *elements,
        ]
        stacked.append("</g></g>")
        below += top + height
    text = _svg(_FILE_WIDTH, below, stacked)
    for name, colour in _COLOURS.items():
        text = text.replace(name, colour)
    return text.encode()


def _svg(width: float, height: float, elements: Sequence[str], attributes: str = "") -> str:
    box = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    style = f"font-family:sans-serif;font-size:{13 if width > _FILE_WIDTH else 12}px"
    begin = f'<svg{attributes} xmlns="http://www.w3.org/2000/svg" {box} style="{style}">'
    return "\n".join([begin, *elements, "</svg>"])


def _parts(picture: doc.Picture, width: float) -> tuple[float, list[str]]:
    """Return how high the picture of a width is, and its elements."""
    if picture.kind not in KINDS:
        raise InputError("A picture in this file is of a kind that this version cannot draw.")
    try:
        return KINDS[picture.kind](_made_visible(picture.data), width)
    except (LookupError, TypeError, ValueError, AttributeError):  # a stored result that somebody changed
        raise doc.damaged("A picture") from None


def _made_visible(content: object) -> Any:
    """The data with every text as one may show it."""
    if isinstance(content, str):
        return doc.visible(content)
    if isinstance(content, Mapping):
        return {doc.visible(name): _made_visible(value) for name, value in content.items()}
    return [_made_visible(element) for element in content] if isinstance(content, list | tuple) else content


def _text(x: float, y: float, words: object, *, at: str = "start", colour: str = QUIET, turn: bool = False) -> str:
    turned = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turn else ""
    escaped = html.escape(doc.shortened(words, _TITLE_LETTERS))
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{at}" fill="{colour}"{turned}>{escaped}</text>'


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


def _width_of(words: Iterable[str]) -> float:
    """Return the width of the widest words in a picture, a little more than any usual font needs."""
    letters = (len(text) + 0.7 * sum(letter in _WIDE_LETTERS for letter in text) for text in words)
    return 1.1 * _LETTER * max(letters, default=0)


def _short(words: object) -> str:
    return doc.shortened(words, _LONGEST_LABEL)


def _sizes(chart: Mapping[str, Any], width: float) -> tuple[float, list[str]]:
    """Rows by class size; bars have the length of their number, which stands beside them."""
    labels, values = chart["labels"], chart["values"]
    most, left = max([*values, 1]), 130.0
    elements = [_text(left - 8, 16, chart["x"], at="end"), _text(left, 16, chart["y"])]
    for index, (label, value, bound) in enumerate(zip(labels, values, chart["from"], strict=True)):
        y = 26 + index * _ROW
        colour = SERIES[0] if bound >= chart.get("safe", 0) else SERIES[1]
        length = (width - left - 80) * value / most
        elements += [_text(left - 8, y + 13, label, at="end"), _box(left, y, length, _ROW - 6, colour)]
        elements.append(_text(left + length + 6, y + 13, f"{value:,}", colour=INK))
    return 34 + len(labels) * _ROW, elements


def _bars(chart: Mapping[str, Any], width: float) -> tuple[float, list[str]]:
    """Bars to the right, up to four a name, with their numbers. Names stand beside their bars, or above them."""
    names, series = chart["names"], chart["series"]
    most = max([*(float(value) for values in series.values() for value in values), 1e-9])
    shown = doc.percent if chart.get("share") else _coordinate
    beside, depth = width >= _ROOM, 14.0
    left = 16 + _width_of(map(_short, names)) if beside else 4.0
    right = 12 + _width_of(shown(float(value)) for values in series.values() for value in values)
    lines = list(_legend(list(series), width, lines=False))
    elements = [element for line in lines for element in line]
    y = 8 + 18.0 * len(lines)
    for index, name in enumerate(names):
        if not beside:
            elements.append(_text(left, y + 11, _short(name), colour=INK))
            y += 16
        else:
            elements.append(_text(left - 8, y + 11, _short(name), at="end", colour=INK))
        for number, values in enumerate(series.values()):
            length = (width - left - right) * float(values[index]) / most
            elements.append(_box(left, y, length, depth - 3, SERIES[number % 4]))
            elements.append(_text(left + length + 6, y + 10, shown(float(values[index]))))
            y += depth
        y += 8
    elements.append(_text(left, y + 12, chart["x"]))
    return y + 20, elements


def _curves(chart: Mapping[str, Any], width: float) -> tuple[float, list[str]]:
    """Curves over one another, with marked axes that fit the data; one or two points of a curve are bars."""
    curves = {name: [(float(x), float(y)) for x, y in points] for name, points in chart["curves"].items()}
    if (bars := _as_bars(chart, curves)) is not None:
        return _bars(bars, width)
    logarithmic = bool(chart.get("log_x"))
    scale: Callable[[float], float] = (lambda x: math.log10(max(x, 1e-9))) if logarithmic else float
    xs = [scale(x) for points in curves.values() for x, _ in points]
    low, high = min(xs), max(*xs, min(xs) + 1e-9)
    limit = [] if chart.get("limit") is None else [float(chart["limit"])]
    step = _nice_step(max([y for points in curves.values() for _, y in points] + [1e-9, *limit]))
    steps = math.ceil(max([y for points in curves.values() for _, y in points] + [1e-9, *limit]) / step - 1e-9)
    height, most = 280.0, steps * step
    legend = list(_legend(list(curves), width))
    bottom, top = height - _BOTTOM, _TOP + 18 * max(1, len(legend))

    def at(x: float, y: float) -> tuple[float, float]:
        across = (scale(x) - low) / (high - low)
        return _LEFT + across * (width - _LEFT - _RIGHT), bottom - y / most * (bottom - top)

    floor = 10**low if logarithmic else low
    elements = [element for line in legend for element in line]
    percent = chart.get("share", True) and chart["y"].startswith("share of")  # as the table beside it has them
    for number in range(steps + 1):
        y, mark = at(floor, number * step)[1], f"{100 * number * step:g}%" if percent else _coordinate(number * step)
        elements += [_line(_LEFT, y, width - _RIGHT, y), _text(_LEFT - 6, y + 4, mark, at="end")]
    ticks = _ticks(low, high, logarithmic, all(x.is_integer() for x in xs))
    longest = max((len(_coordinate(x)) for x in ticks), default=1)
    stride = max(1, math.ceil(len(ticks) * (longest * _LETTER + 10) / (width - _LEFT - _RIGHT)))
    for x in ticks[::stride]:
        elements.append(_text(at(x, 0)[0], bottom + 16, _coordinate(x), at="middle"))
    for value in limit:
        y = at(floor, value)[1]
        elements.append(_line(_LEFT, y, width - _RIGHT, y, QUIET, "2 3"))
        elements.append(_text(width - _RIGHT, y - 4, chart.get("limit_name", "limit"), at="end"))
    for number, points in enumerate(curves.values()):
        elements.append(_path([at(x, y) for x, y in points], number, bool(chart.get("steps"))))
    elements.append(_text((width + _LEFT) / 2, height - 8, chart["x"], at="middle"))
    return height, [*elements, _text(12, (bottom + top) / 2, chart["y"], at="middle", turn=True)]


def _as_bars(chart: Mapping[str, Any], curves: Mapping[str, Sequence[tuple[float, float]]]) -> Mapping[str, Any] | None:
    """Return curves of at most two points as bars, since a line between two points suggests what no one measured."""
    xs = [tuple(x for x, _ in points) for points in curves.values()]
    if not xs or len(xs[0]) > 2 or len({*xs}) > 1 or len(curves) > len(SERIES) or chart.get("limit") is not None:
        return None
    share = bool(chart.get("share", True))
    names = [f"{chart['x']} {_coordinate(x)}" for x in xs[0]]
    series = {name: [y for _, y in points] for name, points in curves.items()}
    return {"names": names, "series": series, "x": chart["y"], "share": share}


def _nice_step(most: float) -> float:
    """Return the distance of the marks of an axis from 0 to a number: at most five round steps.

    Example:
        >>> _nice_step(0.06), _nice_step(1.0), _nice_step(37)
        (0.02, 0.2, 10.0)
    """
    power = 10.0 ** math.floor(math.log10(most) - 1)
    return next(times * power for times in (1, 2, 5, 10, 20, 50) if most / (times * power) <= 5 + 1e-9)


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
        return [tick for tick in ticks if low - 1e-9 <= math.log10(tick) <= high + 1e-9]
    step = 10 ** math.floor(math.log10(high - low))
    step *= next(times for times in (0.2, 0.5, 1, 2) if (high - low) / (step * times) <= 10)
    step = max(step, 1) if whole else step  # there is no event and a half
    first = math.ceil(low / step - 1e-9)
    return [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]


def _matrix(chart: Mapping[str, Any], width: float) -> tuple[float, list[str]]:
    """Return which columns belong to which set: dots that a line joins."""
    columns, sets = chart["columns"], chart["sets"]
    names = [doc.shortened(name, int((230 if width >= _ROOM else 130) / _LETTER)) for name in columns]
    left = 20 + _width_of(names)
    fitting = int((width - left - 20) // 16)
    axis = chart["x"] + (f", first {fitting}" if len(sets) > fitting else "")
    sets = sets[:fitting]
    wide = min(60.0, (width - left - 20) / max(1, len(sets)))
    elements = [_text(left - 14, 24 + row * _ROW, name, at="end", colour=INK) for row, name in enumerate(names)]
    labels = [str(label)[:10] for label in chart["labels"]]
    below, longest = 20 + len(columns) * _ROW, _width_of(labels)
    turn = longest > wide - 6
    for index, members in enumerate(sets):
        x = left + (index + 0.5) * wide
        rows = sorted(columns.index(name) for name in members)
        elements += [_dot(x, 20 + row * _ROW, 3, LINE) for row in range(len(columns))]
        if rows:
            elements.append(_line(x, 20 + rows[0] * _ROW, x, 20 + rows[-1] * _ROW, SERIES[0], width=2))
        elements += [_dot(x, 20 + row * _ROW, 5, SERIES[0]) for row in rows]
        at = "end" if turn else "middle"
        elements.append(_text(x + 4 * turn, below - 6 + 12 * (not turn), labels[index], at=at, turn=turn))
    bottom = below + 14 + (longest if turn else 12)
    return bottom + 8, [*elements, _text(max(4.0, min(left, width - _width_of([axis]))), bottom, axis)]


def _strips(chart: Mapping[str, Any], width: float) -> tuple[float, list[str]]:
    """Strips of one length, cut into their parts; those of a name are below it, and a label is beside each."""
    lines = list(_legend(chart["legend"], width, lines=False))
    elements = [element for line in lines for element in line]
    strips, y = [strip for row in chart["rows"] for strip in row["strips"]], 8 + 18.0 * len(lines)
    right = 12 + _width_of(_short(strip["label"]) for strip in strips)
    room, one_colour = width - 4 - right, chart["rest"] and not chart["legend"]
    for row in chart["rows"]:
        elements.append(_text(4, y + 12, _short(row["name"]), colour=INK))
        y += 18
        for number, strip in enumerate(row["strips"]):
            x, whole, names = 4.0, max(float(sum(strip["parts"])), 1e-9), strip["names"]
            for index, share in enumerate(strip["parts"]):
                length, last = float(share) / whole * room, index == len(strip["parts"]) - 1
                shade = 0.12 + 0.36 * index / max(1, len(names) - 1) if names else 0.3 if chart["rest"] and last else 1
                colour = SERIES[0 if one_colour else number % 4]
                elements.append(_box(x, y, length - (1 if length > 3 else 0.3), 16, colour, shade))
                if names and len(names[index]) * _LETTER * 1.1 < length - 8:
                    elements.append(_text(x + 5, y + 12, names[index], colour=INK))
                x += length
            elements.append(_text(x + 8, y + 12, _short(strip["label"])))
            y += 19
        y += 7
    return y, elements


def _panels(chart: Mapping[str, Any], width: float) -> tuple[float, list[str]]:
    """Small charts in rows: bars, over them the outline of other bars, above both a name and a note."""
    several, height, gap = (4 if width >= _ROOM else 2), 92.0, 22.0
    wide, elements = (width - gap * (several - 1)) / several, []
    for index, name in enumerate(chart["legend"]):  # each in its half: no name is cut
        x = 4 + index * width / 2
        mark = _line(x, 10, x + 20, 10, SERIES[1], width=2.5) if index else _box(x, 4, 20, 10, SERIES[0], 0.4)
        elements += [mark, _text(x + 26, 14, _short(name), colour=INK)]
    for index, panel in enumerate(chart["panels"]):
        left, bottom = index % several * (wide + gap), 30 + (index // several + 1) * (height + 48) - 12
        fitting = int(wide / (1.15 * _LETTER))
        elements.append(_text(left, bottom - height - 18, doc.shortened(panel["name"], fitting), colour=INK))
        elements.append(_text(left, bottom - height - 3, doc.shortened(panel["note"], fitting)))
        before, after = ([float(share) for share in panel[side]] for side in ("before", "after"))
        bar_width, scale = wide / len(before), (height - 8) / max(*before, *after, 1e-9)
        bars = [
            _box(left + number * bar_width, bottom - share * scale, bar_width - 1, share * scale, SERIES[0], 0.4)
            for number, share in enumerate(before)
        ]
        edges = (
            ((left + number * bar_width, left + (number + 1) * bar_width - 1), share)
            for number, share in enumerate(after)
        )
        path = "L".join(f"{x:.1f} {bottom - share * scale:.1f}" for ends, share in edges for x in ends)
        elements += [*bars, f'<path d="M{path}" fill="none" stroke="{SERIES[1]}" stroke-width="2"/>']
        elements.append(_line(left, bottom, left + wide - 1, bottom, QUIET))
    return 30 + -(-len(chart["panels"]) // several) * (height + 48) - 8, elements


def _heat(chart: Mapping[str, Any], width: float) -> tuple[float, list[str]]:
    """Return the height and the elements of a grid of shares: the larger a share, the darker its cell."""
    rows = [doc.shortened(name, int((170 if width >= _ROOM else 100) / _LETTER)) for name in chart["rows"]]
    names = [doc.shortened(name, 24) for name in chart["columns"]]
    left, top, high = 16 + _width_of(rows), 24.0, 30.0
    side = min(90.0, (width - left - 10) / max(1, len(names)))
    elements = [_text(left, 14, chart["y"] + " by " + chart["x"])]
    for y, row in enumerate(chart["values"]):
        elements.append(_text(left - 8, top + (y + 0.5) * high + 4, rows[y], at="end", colour=INK))
        for x, value in enumerate(row):
            if value is not None:
                shade = 0.06 + 0.44 * min(max(float(value), 0), 1)
                elements.append(_box(left + x * side + 1, top + y * high + 1, side - 2, high - 2, SERIES[0], shade))
                middle, text = left + (x + 0.5) * side, chart["texts"][y][x]
                elements.append(_text(middle, top + (y + 0.5) * high + 4, text, at="middle", colour=INK))
    if chart.get("marked") is not None:
        y, x = chart["marked"]
        sides = f'x="{left + x * side + 1:.1f}" y="{top + y * high + 1:.1f}" width="{side - 2:.1f}"'
        elements.append(f'<rect {sides} height="{high - 2:.1f}" fill="none" stroke="{SERIES[1]}" stroke-width="2"/>')
    bottom = top + len(chart["values"]) * high
    longest = _width_of(names)
    turn = longest > side - 2
    for x, name in enumerate(names):
        middle = left + (x + 0.5) * side
        elements.append(
            _text(middle + 4 * turn, bottom + 14 - 6 * turn, name, at="end" if turn else "middle", turn=turn)
        )
    return bottom + (14 + longest if turn else 22), elements


def _labels_above(nodes: Sequence[Mapping[str, Any]], places: Mapping[str, tuple[float, float]]) -> list[bool | None]:
    """Return True if a node's label stands above it, False if it stands below; None where it covers another label."""
    ends: dict[tuple[float, bool], float] = {}
    above: dict[str, bool | None] = {}
    for node in sorted(nodes, key=lambda node: (node["kind"] != "best", places[node["name"]])):
        (x, y), half = places[node["name"]], len(str(node["name"])) * _LETTER / 2
        sides = (side for side in (True, False) if ends.get((y, side), -math.inf) < x - half)
        crowded = len(nodes) > _MOST_LABELS and node["kind"] != "best"
        side = above[node["name"]] = None if crowded else next(sides, None)
        if side is not None:
            ends[y, side] = x + half + _LETTER
    return [above[node["name"]] for node in nodes]


def _graph(chart: Mapping[str, Any], width: float) -> tuple[float, list[str]]:
    """A Hasse diagram: nodes in rows by their height above the bottom, lines to the nodes just above."""
    nodes = chart["nodes"]
    xs, ys = [float(node["x"]) for node in nodes], [float(node["y"]) for node in nodes]
    height = min(900.0, 80 + 64 * (max(ys) - min(ys) + 1))
    across, up = max(max(xs) - min(xs), 1e-9), max(max(ys) - min(ys), 1e-9)
    places = {
        node["name"]: (
            60 + (float(node["x"]) - min(xs)) / across * (width - 120),
            height - 50 - (float(node["y"]) - min(ys)) / up * (height - 90),
        )
        for node in nodes
    }
    elements = [_line(*places[low], *places[high]) for low, high in chart["edges"]]
    for node, above in zip(nodes, _labels_above(nodes, places), strict=True):
        x, y = places[node["name"]]
        elements.append(_dot(x, y, 8 if node["kind"] in _LARGE else 5, _NODES[node["kind"]]))
        if above is not None:
            elements.append(_text(x, y - 10 if above else y + 18, node["name"], colour=INK, at="middle"))
    kinds = [kind for kind in _NODES if any(node["kind"] == kind for node in nodes)]
    several = max(1, int((width - 20) // 140))
    for number, kind in enumerate(kinds):
        x, y = 24 + number % several * 140.0, height - 14 + number // several * 20.0
        elements.append(_dot(x, y, 8 if kind in _LARGE else 5, _NODES[kind]))
        elements.append(_text(x + 12, y + 4, _CALLED.get(kind, kind)))
    return height + 20 * ((len(kinds) - 1) // several), [
        *elements,
        _text(14, height / 2, chart["y"], at="middle", turn=True),
    ]


def _legend(names: Sequence[str], width: float, *, lines: bool = True) -> Iterator[list[str]]:
    """Colours by name, and strokes of curves, when there are several: so many in a line that no name is cut."""
    longest = max((len(_short(name)) for name in names), default=0)
    several = next(count for count in (4, 3, 2, 1) if count == 1 or (width - 20) / count >= 34 + _LETTER * longest)
    for first in range(0, len(names) if len(names) > 1 else 0, several):
        y, elements = 14 + first // several * 18.0, []
        for index, name in enumerate(names[first : first + several]):
            x, number = 8 + index * (width - 20) / several, first + index
            colour = SERIES[number % 4]
            mark = (
                _line(x, y - 4, x + 20, y - 4, colour, _stroke(number), 3) if lines else _box(x, y - 9, 20, 10, colour)
            )
            elements += [mark, _text(x + 26, y, _short(name), colour=INK)]
        yield elements


def _coordinate(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


KINDS: Mapping[str, Callable[[Mapping[str, object], float], tuple[float, list[str]]]] = {
    "sizes": _sizes,
    "curves": _curves,
    "bars": _bars,
    "matrix": _matrix,
    "strips": _strips,
    "panels": _panels,
    "heat": _heat,
    "graph": _graph,
}
