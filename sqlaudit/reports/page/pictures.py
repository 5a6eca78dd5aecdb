"""Pictures of results as SVG. matplotlib draws them, in colours that the page's style then sets for light and dark.

A picture's data are plain numbers and texts, so that it can be drawn from a stored result as well.
"""

from __future__ import annotations

import importlib.util
import io
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from sqlaudit.base.errors import InputError, MissingDriver
from sqlaudit.base.words import spelled
from sqlaudit.reports.blocks import Picture
from sqlaudit.reports.drawing import HINT
from sqlaudit.reports.escape import visible
from sqlaudit.reports.page.kinds import INK, KINDS, LINE, QUIET

_THEMED = {
    "#010203": "var(--ink)",
    "#010204": "var(--quiet)",
    "#010205": "var(--line)",
    "#010206": "var(--series-1)",
    "#010207": "var(--series-2)",
    "#010208": "var(--series-3)",
}
"""In the same order for pages: colours that stand for names of the page's style."""
_PLAIN = ("#1b1f24", "#57606a", "#d0d7de", "#1f5fa8", "#b3261e", "#8a5a00")
"""The same for files of their own, where no style sets them."""
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "sqlaudit",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": QUIET,
    "axes.edgecolor": QUIET,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "grid.color": LINE,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.parse_math": False,
}
_WIDTH = 6.6
_UNKNOWN = "A picture in this file is of a kind that this version cannot draw."


def can_draw() -> bool:
    """Whether pictures can be drawn here."""
    return importlib.util.find_spec("matplotlib") is not None


def drawn(picture: Picture) -> str:
    """The picture as an `<svg>` element for a page; simpler where matplotlib is missing."""
    if not can_draw():
        return _hidden_from_readers(_plainly(picture))
    text = _drawing(picture, "svg", tuple(_THEMED)).decode("utf-8")
    for colour, name in _THEMED.items():
        text = text.replace(colour, name)
    start = text.index("<svg")
    return _hidden_from_readers(text[start:].rstrip())


def _hidden_from_readers(svg: str) -> str:
    """For those who listen to the page: the figure's title and its table say the same."""
    return svg.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)


def _plainly(picture: Picture) -> str:
    from sqlaudit.reports.page.plain_svg import KINDS, svg

    if picture.kind not in KINDS:
        raise InputError(_UNKNOWN)
    try:
        return svg(picture.kind, _shown(picture.data))
    except (LookupError, TypeError, ValueError, AttributeError):  # a stored result that somebody changed
        raise InputError(_damaged()) from None


def _damaged() -> str:
    return f"A picture in this file is damaged: make it again with {spelled('format', 'json')}."


def draw_file(picture: Picture, kind: str) -> bytes:
    """The picture as the content of a file.

    Args:
        kind: svg or png.

    Raises:
        MissingDriver: matplotlib is not installed.
        InputError: the picture's data are not what its kind needs.
    """
    if not can_draw():
        raise MissingDriver(HINT)
    return _drawing(picture, kind, _PLAIN)


def _drawing(picture: Picture, kind: str, colours: Sequence[str]) -> bytes:
    import matplotlib as mpl
    from cycler import cycler
    from matplotlib.figure import Figure

    if picture.kind not in KINDS:
        raise InputError(_UNKNOWN)
    draw, height = KINDS[picture.kind]
    style = {**_STYLE, "axes.prop_cycle": cycler(color=colours), "savefig.transparent": kind == "svg"}
    with mpl.rc_context(style), warnings.catch_warnings():
        # in a page the reader's fonts draw the text, whatever alphabet a name is in
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        try:
            figure = Figure(figsize=(_WIDTH, height(picture.data)), layout="constrained")
            draw(figure.subplots(), _shown(picture.data))
        except (LookupError, TypeError, ValueError, AttributeError):  # a stored result that somebody changed
            raise InputError(_damaged()) from None
        target = io.BytesIO()
        metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
        figure.savefig(target, format=kind, dpi=144, metadata=metadata)
    return target.getvalue()


def _shown(data: Any) -> Any:
    """The data with every text as one may show it."""
    if isinstance(data, str):
        return visible(data)
    if isinstance(data, Mapping):
        return {visible(name): _shown(value) for name, value in data.items()}
    return [_shown(item) for item in data] if isinstance(data, list | tuple) else data
