"""Rows as suppression problems, without a database between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from sqlaudit.remedies.suppress.problem import Problem, Solution


def problem_of(
    rows: Sequence[Sequence[Any]],
    k: int,
    l: int = 1,
    sensitive: Sequence[Any] = (),
    weights: Sequence[int] = (),
    *,
    missing_alone: bool = False,
    whole: bool = False,
) -> Problem:
    """The problem of some rows, as SQL would number their patterns; None is a missing value."""
    counted = Counter(zip(map(tuple, rows), sensitive if l > 1 else [""] * len(rows), strict=True))
    units = sorted(counted, key=repr)
    ranks = [sorted({row[column] for row, _ in units} - {None}) for column in range(len(rows[0]))]
    codes = [[0 if v is None else ranks[c].index(v) + 1 for c, v in enumerate(row)] for row, _ in units]
    values = sorted({value for _, value in units})
    return Problem(
        np.array(codes, dtype=np.int64),
        np.array([counted[unit] for unit in units], dtype=np.int64),
        np.array([values.index(value) for _, value in units], dtype=np.int64),
        k,
        l,
        tuple(weights or [1] * len(rows[0])),
        missing_alone,
        whole,
    )


def check(problem: Problem, solution: Solution) -> None:
    """A solution is one, cell by cell, and costs what it says."""
    taken: Counter[int] = Counter()
    groups: dict[int, list[tuple[int, int]]] = {}
    for unit, count, group in zip(
        solution.units.tolist(), solution.copies.tolist(), solution.groups.tolist(), strict=True
    ):
        assert count > 0
        taken[unit] += count
        groups.setdefault(group, []).append((unit, count))
    assert taken == Counter(dict(enumerate(problem.sizes.tolist())))
    cost = 0
    for group, members in groups.items():
        rows = sum(count for _, count in members)
        assert rows >= problem.k
        assert len({int(problem.sensitive[unit]) for unit, _ in members}) >= problem.l
        for column, star in enumerate(solution.starred[group].tolist()):
            cost += problem.weights[column] * rows if star else 0
            shown = {int(problem.codes[unit, column]) for unit, _ in members}
            assert star or len(shown) == 1
            assert star or not problem.missing_alone or problem.trivial or shown != {0}
    assert cost == solution.cost
