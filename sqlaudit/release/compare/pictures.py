"""What a page draws of a comparison: the loss of every column, and how far answers to queries are off."""

from __future__ import annotations

from sqlaudit.release.compare.result import CompareResult
from sqlaudit.reports.blocks import Picture

_DRAWN = ("loss", "non-uniform-entropy", "modification-rate")


def losses_picture(result: CompareResult) -> Picture | None:
    """A bar a column and measure: the loss as a share of what suppressing the column would lose."""
    series = {}
    for name in _DRAWN:
        found = {loss.column: loss.share for loss in result.losses if loss.measure == name and loss.column is not None}
        if found:
            series[name] = [float(found.get(column) or 0) for column in result.qi]
    if not series:
        return None
    return Picture(
        "bars",
        "What each column lost, as a share of what suppressing it would lose",
        {"names": list(result.qi), "series": series, "share": True, "x": "share of complete suppression"},
    )


def errors_picture(result: CompareResult) -> Picture | None:
    """The relative errors of random queries that half, nine tenths and 95% of the answers do not exceed."""
    workload = result.workload
    if workload is None or not any(one.answers for one in workload.errors.values()):
        return None
    series = {
        name: [float(value or 0) for value in (one.median, one.q90, one.q95)] for name, one in workload.errors.items()
    }
    return Picture(
        "bars",
        "Relative errors of random counting queries that so many answers do not exceed",
        {"names": ["half of them", "90%", "95%"], "series": series, "share": True, "x": "relative error"},
    )
