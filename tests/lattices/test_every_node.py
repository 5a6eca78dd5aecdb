"""All nodes of Adult's lattices, decided one by one: what ARX says of them, from one walk for every limit."""

from __future__ import annotations

import numpy as np
import pytest

import sqlaudit
from tests.places import REPOSITORY

ARX = REPOSITORY.parent / "shared" / "data" / "adult_arx"
NINE = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
]
EIGHT = [name for name in NINE if name != "occupation"]
ROWS = 30_162
pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not ARX.exists(), reason="needs shared/data beside the checkout"),
]


def minimal(safe: np.ndarray) -> int:
    """How many safe nodes have no finer one that is safe."""
    below = safe.copy()
    for axis in range(safe.ndim):
        below = np.logical_or.accumulate(below, axis)
    count = 0
    for node in zip(*np.nonzero(safe), strict=True):
        finer = [below[(*node[:axis], level - 1, *node[axis + 1 :])] for axis, level in enumerate(node) if level]
        count += not any(finer)
    return count


@pytest.mark.parametrize(
    ("qi", "require", "figures"),
    [
        (
            NINE,
            "k=5",
            [(0, 87, 27, (0, 4, 1, 1, 3, 2, 2, 1, 0), 0), (5, 5184, 1071, (0, 3, 0, 0, 2, 1, 1, 2, 0), 1346)],
        ),
        (EIGHT, "l=3", [(0, 60, 18, (0, 4, 1, 2, 3, 2, 0, 0), 0), (5, 2459, 396, (0, 3, 0, 0, 2, 1, 1, 0), 1400)]),
        (EIGHT, "t=0.2", [(0, 2, 1, (1, 4, 1, 1, 3, 2, 2, 1), 0), (5, 5, 2, (1, 4, 1, 1, 3, 1, 2, 1), 235)]),
    ],
)
def test_every_node_of_adult(
    qi: list[str], require: str, figures: list[tuple[int, int, int, tuple[int, ...], int]]
) -> None:
    """Without suppression every node is asked; its failing rows say whether it is safe under any limit."""
    sensitive = [] if qi == NINE else ["occupation"]
    found = sqlaudit.lattice(
        ARX / "adult.csv",
        qi=qi,
        sensitive=sensitive,
        hierarchies=ARX,
        require=sorted({"k=5", require}),
        find="all",
        algorithm="exhaustive",
        walk=True,
    )
    heights = [column.height for column in found.columns]
    failing = np.full([height + 1 for height in heights], -1)
    for node in found.walk:
        failing[node.levels] = node.failing_rows
    assert found.checked == found.nodes == failing.size == (12960 if qi == NINE else 4320)
    assert failing.min() >= 0
    assert failing[tuple(heights)] == 0
    for percent, safe, least, best, suppressed in figures:
        within = failing <= ROWS * percent // 100
        assert int(np.count_nonzero(within)) == safe
        assert minimal(within) == least
        assert failing[best] == suppressed
    assert (found.safe, len(found.minimal or ())) == figures[0][1:3]
