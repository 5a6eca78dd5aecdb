"""The numbers of docs/disclosure_paper.md, from the example that prints them."""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from itertools import pairwise
from types import ModuleType

import pytest

from sqlaudit.classes.signatures import Signatures
from sqlaudit.models.disclosure.by_class import class_disclosure
from tests.places import REPOSITORY

ADULT = REPOSITORY.parent / "shared" / "data" / "adult.csv"

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not ADULT.exists(), reason="the Adult table is not beside the checkout"),
]


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("worst_case_adult", REPOSITORY / "examples" / "worst_case_adult.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def table_rows(heading: str) -> list[list[float]]:
    """The numbers of the table under a heading of the page."""
    section = (REPOSITORY / "docs" / "disclosure_paper.md").read_text(encoding="utf-8").split(f"## {heading}")[1]
    lines = [line for line in section.split("\n## ")[0].splitlines() if line.startswith("|")]
    return [[float(cell) for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_figure_5(example: ModuleType) -> None:
    counts = example.classes(example.load(ADULT), (3, 2, 1, 1))
    assert sorted(map(sum, counts)) == [143, 2052, 3103, 16569, 23355]
    found = example.curve(counts)
    printed = [[point.k, round(float(point.maximum), 4), round(float(point.negated), 4)] for point in found.points]
    assert printed == table_rows("Figure 5")
    assert found.smallest_certain_k == 12
    assert found[0].maximum == Fraction(648, 2052)
    failing = class_disclosure(Signatures.from_classes(counts, 1), 1)
    assert (failing.failing_classes(Fraction(2, 5)), failing.failing_rows(Fraction(2, 5))) == (1, 2052)


def test_figure_6(example: ModuleType) -> None:
    releases = list(example.all_releases(example.load(ADULT)))
    assert len(releases) == 72
    curves = {k: example.least_by_entropy(releases, k) for k in example.FIGURE_6_LEVELS}
    rows = [
        [round(curves[1][place][0], 4), *(round(curve[place][1], 4) for curve in curves.values())]
        for place in range(len(curves[1]))
    ]
    assert len(rows) == 24
    assert all(row in rows for row in table_rows("Figure 6"))
    rises = {k: sum(after[1] > before[1] for before, after in pairwise(curve)) for k, curve in curves.items()}
    assert rises == {1: 6, 3: 4, 5: 3, 7: 2, 9: 2, 11: 3}
