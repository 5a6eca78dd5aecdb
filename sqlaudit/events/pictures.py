"""What a page draws of persons in many rows: how fast known events find them."""

from __future__ import annotations

from sqlaudit.events.result import PersonsResult
from sqlaudit.reports.blocks import Picture


def curve_picture(result: PersonsResult) -> Picture | None:
    """Shares of persons exposed and singled out, against how many events are known; None without a curve."""
    counted = [one for one in result.curve if one.exact]
    if not result.persons or not counted:
        return None
    share = 1 / result.persons
    curves = {
        f"exposed: fewer than {result.k} share them": [[one.known, one.exposed_persons * share] for one in counted],
        "singled out by the most telling": [[one.known, one.unique_persons * share] for one in counted],
    }
    if result.random:
        curves["singled out by random ones"] = [[one.known, one.unique_share] for one in result.random]
    if max(map(len, curves.values())) < 2:
        return None
    return Picture(
        "curves",
        "How many persons are found by how many known events",
        {"curves": curves, "x": "known events", "y": "share of persons"},
    )
