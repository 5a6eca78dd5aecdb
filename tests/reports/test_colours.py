"""Colours of charts: different for people who see no red, no green or no blue, and visible on their background."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import resources
from itertools import combinations

import numpy as np
import pytest

from sqlaudit.reports.charts import _COLOURS

# Machado, Oliveira and Fernandes, A Physiologically-based Model for Simulation of Color Vision Deficiency, 2009:
# severity 1.0 of protanomaly, deuteranomaly and tritanomaly
DEFICIENCIES = (
    np.eye(3),
    np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
)
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
LEAST_DISTANCE, LEAST_CONTRAST = 20, 3
"""CIE 1976 difference of two series (2.3 is just noticeable), and WCAG's contrast of graphical objects."""


def linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(light: np.ndarray) -> np.ndarray:
    x, y, z = XYZ @ light / np.array([0.95047, 1, 1.08883])
    x, y, z = (np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def least_distance(colours: Sequence[str]) -> float:
    seen = [[lab(np.clip(one @ linear(colour), 0, 1)) for colour in colours] for one in DEFICIENCIES]
    return min(float(np.linalg.norm(a - b)) for all_seen in seen for a, b in combinations(all_seen, 2))


def contrast(one: str, other: str) -> float:
    dark, bright = sorted(float(XYZ[1] @ linear(colour)) for colour in (one, other))
    return (bright + 0.05) / (dark + 0.05)


def themes() -> list[dict[str, str]]:
    style = resources.files("sqlaudit.reports").joinpath("page.css").read_text(encoding="utf-8")
    return [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", part)) for part in style.split("@media", 2)[:2]]


@pytest.mark.parametrize("theme", themes(), ids=["light", "dark"])
def test_series_differ_for_everyone(theme: dict[str, str]) -> None:
    series = [theme[f"series-{number}"] for number in (1, 2, 3, 4)]
    assert least_distance(series) >= LEAST_DISTANCE
    assert min(contrast(colour, theme["paper"]) for colour in series) >= LEAST_CONTRAST


def test_files_have_the_colours_of_light_pages() -> None:
    light = themes()[0]
    assert {name.removeprefix("var(--").removesuffix(")") for name in _COLOURS} <= {*light}
    assert all(light[name.removeprefix("var(--").removesuffix(")")] == colour for name, colour in _COLOURS.items())


def test_red_and_green_would_be_found() -> None:
    assert least_distance(["#d62728", "#2ca02c"]) < LEAST_DISTANCE
    assert least_distance(["#b3261e", "#8a5a00"]) < LEAST_DISTANCE
