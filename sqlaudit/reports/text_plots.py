"""Pictures as rows of bars, for terminals: the sizes of classes and the curve of disclosure. Other kinds have none.

A bar is made of block characters, to an eighth of a column; where an output cannot carry these, `escape.in_encoding`
spells them in ASCII, one character for one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlaudit.base.errors import InputError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.words import spelled
from sqlaudit.reports.blocks import Picture, Tone
from sqlaudit.reports.escape import visible
from sqlaudit.reports.figures import count, figure

KNOWLEDGE = "pieces of knowledge, k"
"""What the curve of disclosure is drawn over."""
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
_FULL = "█"
_LONGEST = 48
_MOST_LINES = 24


@dataclass(frozen=True)
class PlotLine:
    """One line of a plot: a heading when it has no bar, and the tone of its bar."""

    label: str
    bar: str = ""
    value: str = ""
    tone: Tone = "plain"


def plotted(picture: Picture, width: int) -> list[PlotLine]:
    """The lines of a plot in `width` columns; none for a picture of which no plot is made.

    Raises:
        InputError: the picture's data are not what its kind needs.

    Example:
        >>> data = {"labels": ["1", "2"], "from": [1, 2], "values": [9, 0], "safe": 2, "x": "class size", "y": "rows"}
        >>> for line in plotted(Picture("sizes", "", data), 40):
        ...     print(line)
        PlotLine(label='class size: rows', bar='', value='', tone='plain')
        PlotLine(label='1', bar='████████████████████████', value='9 (below 2)', tone='bad')
        PlotLine(label='2', bar='', value='0', tone='plain')
    """
    try:
        if picture.kind == "sizes":
            return list(_sizes(picture.data, width))
        if picture.kind == "curves" and picture.data["x"] == KNOWLEDGE:
            return list(_curves(picture.data, width))
    except (LookupError, TypeError, ValueError, AttributeError):  # a stored result that somebody changed
        raise InputError(
            f"A picture in this file is damaged: make it again with {spelled('format', 'json')}."
        ) from None
    return []


def bar(share: float, columns: int) -> str:
    """A bar of a share of so many columns, to an eighth; anything but nothing shows.

    Example:
        >>> bar(0.5, 5), bar(1, 3), bar(0.001, 10), bar(0, 10)
        ('██▌', '███', '▏', '')
    """
    eighths = round(min(1.0, max(0.0, share)) * columns * 8)
    whole, rest = divmod(max(eighths, 1) if share > 0 else 0, 8)
    return _FULL * whole + _EIGHTHS[rest]


def _sizes(data: Mapping[str, Any], width: int) -> Iterator[PlotLine]:
    """Rows by the size of their class; bars are as long as their numbers, and anything but nothing shows."""
    labels, safe = [visible(label) for label in data["labels"]], data["safe"]
    below = [low < safe for low in data["from"]]
    split = [high is None or high >= safe for high in data.get("to", data["from"])]
    numbers = [
        count(value) + (f" ({'some ' if some else ''}below {safe})" if short and value else "")
        for value, short, some in zip(data["values"], below, split, strict=True)
    ]
    columns = _columns(labels, numbers, width)
    most = max(data["values"])
    yield PlotLine(visible(f"{data['x']}: {data['y']}"))
    for label, value, number, short in zip(labels, data["values"], numbers, below, strict=True):
        yield PlotLine(label, bar(value / most if most else 0, columns), number, "bad" if short else "plain")


def _curves(data: Mapping[str, Any], width: int) -> Iterator[PlotLine]:
    """What each number of pieces reveals, from nothing to certainty, one attacker after the other."""
    limit = data.get("limit")
    curves = {name: _thinned(points) for name, points in data["curves"].items()}
    drawn = [point for points in curves.values() for point in points]
    columns = _columns([figure(k) for k, _ in drawn], [figure(level) for _, level in drawn], width)
    for name, points in curves.items():
        yield PlotLine(visible(f"{data['y']} by k, {name}"))
        for k, level in points:
            reached = limit is not None and level >= limit
            yield PlotLine(figure(k), bar(level, columns), figure(level), "bad" if reached else "plain")


def _thinned(points: Sequence[Any]) -> Sequence[Any]:
    """At most so many points as there may be lines, the last one among them."""
    if len(points) <= _MOST_LINES:
        return points
    step = -(-(len(points) - 1) // (_MOST_LINES - 1))
    return [*points[:-1:step], points[-1]]


def _columns(labels: Sequence[str], numbers: Sequence[str], width: int) -> int:
    """How long a bar may be beside its label and its number."""
    taken = max(map(len, labels), default=0) + max(map(len, numbers), default=0) + 4
    return max(4, min(_LONGEST, width - taken))
