"""Curves as pictures. The same result gives the same bytes; matplotlib is loaded only here."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from sqlaudit.reports.drawing import check_drawing

if TYPE_CHECKING:
    from sqlaudit.audits.disclosure.attribute import Disclosure
    from sqlaudit.audits.disclosure.results import DisclosureResult

_STYLE: Any = {
    "svg.hashsalt": "sqlaudit",
    "font.family": "DejaVu Sans",
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_WIDTH, _HEIGHT = 6.4, 4.2
_MAXIMUM, _NEGATED, _LIMIT = "#b3261e", "#1f5fa8", "#555555"


def draw_curves(result: DisclosureResult, kind: str) -> bytes:
    """The curves of all sensitive attributes, one above the other, as the content of a file.

    Args:
        kind: svg or png.

    Raises:
        MissingDriver: matplotlib is not installed.
    """
    check_drawing()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE):
        number = len(result.attributes)
        figure = Figure(figsize=(_WIDTH, _HEIGHT * number), layout="constrained")
        all_axes = figure.subplots(number, 1, squeeze=False)[:, 0]
        for axes, disclosure in zip(all_axes, result.disclosures, strict=True):
            _draw(axes, disclosure, result)
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        target = io.BytesIO()
        figure.savefig(target, format=kind, dpi=144, metadata=metadata)
    return target.getvalue()


def _draw(axes: Any, disclosure: Disclosure, result: DisclosureResult) -> None:
    points = disclosure.points[result.first_k :]
    levels = [point.k for point in points]
    axes.plot(levels, [float(p.maximum) for p in points], "o-", color=_MAXIMUM, label="any basic implications")
    axes.plot(levels, [float(p.negated) for p in points], "s--", color=_NEGATED, label="negated atoms only")
    if result.threshold is not None:
        axes.axhline(float(result.threshold), color=_LIMIT, linewidth=1, linestyle=":", label="threshold")
    axes.set_ylim(0, 1.03)
    axes.set_xticks(levels if len(levels) <= 21 else levels[:: len(levels) // 10])
    axes.set_xlabel("pieces of knowledge, k")
    axes.set_ylabel("maximum disclosure")
    axes.set_title(f"What k pieces of knowledge can reveal about {_plain(disclosure.sensitive)}", fontsize="medium")
    axes.grid(alpha=0.25)
    axes.legend(loc="lower right", frameon=False)


def _plain(text: str) -> str:
    """Text that matplotlib does not take for mathematics."""
    return text.replace("$", r"\$")
