"""What a page draws of column sets: which columns belong to which set, those that put most at risk first."""

from __future__ import annotations

from sqlaudit.column_sets.result import ColumnSets
from sqlaudit.reports.blocks import Picture
from sqlaudit.reports.figures import count, percent

MOST_SETS = 24
"""More would be too narrow to read."""


def sets_picture(result: ColumnSets) -> Picture | None:
    """A column of dots for each set, with its share at risk below; None for fewer than two sets."""
    shown = sorted(result.sets, key=lambda one: (-one.share_at_risk, len(one.columns)))[:MOST_SETS]
    used = {name for one in shown for name in one.columns}
    if len(shown) < 2 or not used:
        return None
    first = "" if len(shown) == result.sets_found else f" The first {count(len(shown))}."
    return Picture(
        "matrix",
        f"Which columns belong to which set, those with most {result.unit} at risk first.{first}",
        {
            "columns": [name for name in result.columns if name in used],
            "sets": [list(one.columns) for one in shown],
            "labels": [percent(one.share_at_risk) for one in shown],
            "x": f"{result.unit} at risk (in classes below {result.k})",
        },
    )
