"""The first screen of every report: the verdict, at most three large figures, a line a requirement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.reports.charts import draw
from sqlaudit.reports.document import Document, Toned, bars, curves
from sqlaudit.reports.notebook import document_of

PEOPLE = pd.DataFrame({"age": [30, 30, 31, 40, 40, 45], "sex": list("ffffmm"), "ill": list("abaabb")})
CELLS = pd.DataFrame({"region": ["north", "south", "west"], "n": [10, 2, 30]})
ROLES: dict[str, Any] = {"qi": ["age", "sex"], "sensitive": "ill"}
ASKED: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "lattice": (lambda: sqlaudit.lattice(PEOPLE, **ROLES, require="k=2"), ("Smallest class", "Loss (ARX)")),
    "no safe node": (
        lambda: sqlaudit.lattice(PEOPLE, **ROLES, require="k=7"),
        ("Failing rows, coarsest levels", "Safe generalizations"),
    ),
    "compare": (
        lambda: sqlaudit.compare(PEOPLE, PEOPLE, **ROLES, require="k=1"),
        ("Smallest group", "Loss (LM)", "Requirements met"),
    ),
    "profile": (lambda: sqlaudit.profile(PEOPLE), ("Direct identifiers", "Columns others may know")),
    "suppress": (
        lambda: sqlaudit.suppress(PEOPLE, **ROLES, require="k=2"),
        ("Suppressed cells", "Rows with suppressed cells", "Requirements met"),
    ),
    "recode": (
        lambda: sqlaudit.recode(PEOPLE, **ROLES, require="k=2"),
        ("Smallest class", "Loss (LM)", "Requirements met"),
    ),
    "aggregates": (
        lambda: sqlaudit.aggregates(CELLS, by="region", count="n", require="threshold=5"),
        ("Unsafe cells",),
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_large_figures(name: str) -> None:
    asked, names = ASKED[name]
    document: Document = document_of(asked())
    assert tuple(one.name for one in document.figures)[: len(names)] == names
    assert len(document.figures) <= 3


def test_no_red_figure_where_every_requirement_is_met() -> None:
    result = sqlaudit.audit(PEOPLE, **ROLES, require="k=1")
    assert result.passed
    assert result.classes.min_size == 1
    assert "bad" not in {one.tone for one in document_of(result).figures}


def test_no_name_in_a_legend_is_cut() -> None:
    names = ("certain, values per person", "nearly sure", "certain, same values for everyone")
    lines = draw(curves("", {name: [(0, 0), (1, 1)] for name in names}, "x", "y"))
    boxes = draw(bars("", ["a"], {name: [1] for name in names}, "x"))
    assert all(f">{name}<" in picture for name in names for picture in (lines, boxes))


def test_a_headline_says_why_a_passing_release_is_no_good_news() -> None:
    people = pd.DataFrame({"age": [30] * 5 + [40] * 5, "ill": ["a"] * 5 + ["b", "c", "b", "c", "b"]})
    exposed = document_of(sqlaudit.compare(people, people, qi="age", sensitive="ill", require="k=5")).headline
    assert isinstance(exposed, Toned)
    assert exposed.tone == "warn"
    # homogeneity (a) and background knowledge (b or c); no value is more than twice as likely in its group (a 1 of 0.5)
    assert exposed.text.endswith("; PASS: the requirement is met, but 2 of 3 attacks expose people")
    safe = document_of(sqlaudit.compare(people, people, qi="age", require="k=5")).headline
    assert isinstance(safe, Toned)
    assert (safe.tone, safe.text) == ("good", "release is a generalization of original; PASS: the requirement is met")
