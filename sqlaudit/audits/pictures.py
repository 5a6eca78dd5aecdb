"""What a page draws of an audit: how large the classes are, how the risk is spread, the curve of disclosure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

from sqlaudit.audits.classes_report import size_bands, unit_of
from sqlaudit.audits.result import AuditResult
from sqlaudit.classes.found import ClassSizes
from sqlaudit.reports.blocks import Picture
from sqlaudit.reports.figures import figure
from sqlaudit.reports.text_plots import KNOWLEDGE

if TYPE_CHECKING:
    from sqlaudit.audits.disclosure.attribute import Disclosure

_MOST_POINTS = 400


def sizes_picture(result: AuditResult) -> Picture | None:
    """Rows (or persons) by the size of their class, in the bands of the table beside it."""
    bands = list(size_bands(result.classes))
    if not bands:
        return None
    unit = unit_of(result)
    required = [check.required for check in result.required if check.model == "k_anonymity" and check.required]
    k = max(required, default=0)
    split = any(band.low < k and (band.high is None or band.high >= k) for band in bands)
    return Picture(
        "sizes",
        f"How many {unit}s lie in classes of which size"
        + (f"; red: below {figure(k)}{', or some of them' if split else ''}" if required else ""),
        {
            "labels": [band.name for band in bands],
            "from": [band.low for band in bands],
            "to": [band.high for band in bands],
            "values": [band.members for band in bands],
            "safe": math.ceil(k),
            "x": "class size",
            "y": f"{unit}s",
        },
    )


def risk_picture(result: AuditResult) -> Picture | None:
    """The share of rows whose class has at most so many: their risk is at least 1 in that many."""
    points = _risk_points(result.classes)
    if len(points) < 2:
        return None
    unit, logarithmic = unit_of(result), points[-1][0] > 20
    return Picture(
        "curves",
        f"Share of {unit}s in classes of at most that size: each of them is picked out with at least 1 in that size",
        {
            "curves": {f"{unit}s": points},
            "steps": True,
            "log_x": logarithmic,
            "x": "class size" + (", on a logarithmic scale" if logarithmic else ""),
            "y": f"share of {unit}s",
        },
    )


def disclosure_pictures(disclosures: Iterable[Disclosure], threshold: Fraction | None = None) -> Iterator[Picture]:
    """What k pieces of knowledge can reveal, for both attackers, beside the threshold if there is one."""
    for disclosure in disclosures:
        if len(disclosure.points) > 1:
            limit = {} if threshold is None else {"limit": float(threshold), "limit_name": "threshold"}
            yield Picture(
                "curves",
                f"What k pieces of knowledge can reveal about {disclosure.sensitive}",
                {
                    "curves": {
                        "any basic implications": [[point.k, float(point.maximum)] for point in disclosure.points],
                        "negated atoms only": [[point.k, float(point.negated)] for point in disclosure.points],
                    },
                    "x": KNOWLEDGE,
                    "y": "maximum disclosure",
                    **limit,
                },
            )


def _risk_points(sizes: ClassSizes) -> list[list[float]]:
    if not sizes.members:
        return []
    rows = [(classes if sizes.per_row else size * classes) for size, classes in sizes.sizes]
    reached = [total / sizes.members for total in accumulate(rows)]
    points = [[float(size), share] for (size, _), share in zip(sizes.sizes, reached, strict=True)]
    step = -(-len(points) // _MOST_POINTS)
    return points if step == 1 else [*points[:-1:step], points[-1]]
