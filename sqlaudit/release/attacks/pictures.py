"""What a page draws of attacks: how many each exposes, and how that grows with what an attacker can rule out."""

from __future__ import annotations

from sqlaudit.release.attacks.result import AttackResult, Exposure
from sqlaudit.reports.blocks import Picture
from sqlaudit.reports.figures import count


def exposed_picture(result: AttackResult) -> Picture | None:
    """A bar an attack: the share of those that it could expose; None with fewer than two attacks on somebody."""
    tried = [one for one in result.exposures if one.of]
    if len(tried) < 2:
        return None
    return Picture(
        "bars",
        "Share of those that each attack could expose and does expose",
        {
            "names": [one.heading for one in tried],
            "series": {"exposed": [float(one.share or 0) for one in tried]},
            "share": True,
            "x": "share exposed",
        },
    )


def ruled_out_picture(one: Exposure) -> Picture | None:
    """Who is certain, and nearly sure, once an attacker rules out m values; None without a second point."""
    if len(one.steps) < 2 or not one.of:
        return None
    names = {
        "certain, person by person": "certain",
        "nearly sure": "nearly_sure",
        "certain, the same for everybody": "certain_if_ruled_out_for_all",
    }
    curves = {
        said: [[float(step["ruled_out"] or 0), float(step[name] or 0) / one.of] for step in one.steps]
        for said, name in names.items()
        if name in one.steps[0]
    }
    return Picture(
        "curves",
        f"Share of {count(one.of)} {one.unit} that are exposed once an attacker rules out m values of {one.about}",
        {"curves": curves, "x": "values ruled out, m", "y": f"share of {one.unit}", "legend": "upper left"},
    )
