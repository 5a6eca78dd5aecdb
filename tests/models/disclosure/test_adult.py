"""The numbers of docs/disclosure_paper.md, from the two commands of that page."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

import sqlaudit
from sqlaudit.lattices.report import disclosure_blocks
from tests.places import REPOSITORY

ADULT = REPOSITORY.parent / "shared" / "data" / "adult.csv"
PAGE = REPOSITORY / "docs" / "disclosure_paper.md"
LEVELS = (1, 3, 5, 7, 9, 11)

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not ADULT.exists(), reason="the Adult table is not beside the checkout"),
]


def table_rows(heading: str) -> list[list[float]]:
    """The numbers of the table under a heading of the page."""
    section = PAGE.read_text(encoding="utf-8").split(f"## {heading}")[1]
    lines = [line for line in section.split("\n## ")[0].splitlines() if line.startswith("|")]
    return [[float(cell) for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_figure_5() -> None:
    found = sqlaudit.disclosure_curve(str(ADULT), qi=["age // 20"], sensitive="occupation", knowledge=12).disclosure
    assert sorted(found.signatures.n.tolist()) == [143, 2052, 3103, 16569, 23355]
    printed = [[point.k, round(float(point.maximum), 4), round(float(point.negated), 4)] for point in found.points]
    assert printed == table_rows("Figure 5")
    assert found.smallest_certain_k == 12
    assert found.curve[0] == Fraction(648, 2052)
    failing = found.failing(Fraction(2, 5), 1)
    assert (failing.classes, failing.rows) == (1, 2052)


def test_figure_6(tmp_path: Path) -> None:
    levels = tmp_path / "paper.yml"
    levels.write_text(PAGE.read_text(encoding="utf-8").split("```yaml\n")[1].split("```")[0], encoding="utf-8")
    found = sqlaudit.lattice(
        str(ADULT),
        qi=["age", "marital-status", "race", "sex"],
        sensitive="occupation",
        hierarchies=levels,
        require="k=1",
        find="all",
        knowledge=LEVELS,
    )
    assert len(found.disclosures) == 72
    curves = {k: found.least_disclosure(k) for k in LEVELS}
    rows = [
        [round(entropy, 4), *(round(float(curve[place][1]), 4) for curve in curves.values())]
        for place, (entropy, _) in enumerate(curves[1])
    ]
    assert len(rows) == 24
    assert all(row in rows for row in table_rows("Figure 6"))
    (said,) = [block for block in disclosure_blocks(found) if isinstance(block, str)][:1]
    assert said == (
        "Steps at which disclosure increases with entropy, of 23: 6 for k = 1, 4 for k = 3, 3 for k = 5, "
        "2 for k = 7, 2 for k = 9 and 3 for k = 11."
    )
    negated = {k: found.least_disclosure(k, negated=True) for k in LEVELS}
    rises = {k: sum(after > before for (_, before), (_, after) in pairwise(curve)) for k, curve in negated.items()}
    assert rises == {1: 4, 3: 4, 5: 3, 7: 3, 9: 3, 11: 3}
    assert [round(float(least), 4) for _, least in negated[3]][-3:] == [0.3372, 0.3101, 0.2174]
