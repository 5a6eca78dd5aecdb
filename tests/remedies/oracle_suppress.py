"""Optimal suppression the slow way: every partition of the rows into groups. Only for a handful of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


def partitions(items: list[int]) -> Iterator[list[list[int]]]:
    """Every way to part a list into groups."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for parted in partitions(rest):
        yield [[first], *parted]
        for place in range(len(parted)):
            yield [*parted[:place], [first, *parted[place]], *parted[place + 1 :]]


def group_cost(
    rows: Sequence[Sequence[Any]], group: Sequence[int], weights: Sequence[int], *, missing_alone: bool, whole: bool
) -> int:
    """What suppressing the columns in which a group differs costs."""
    cost = 0
    for column, weight in enumerate(weights):
        seen = {rows[row][column] for row in group}
        lone = missing_alone and None in seen and len(group) > 1
        cost += weight if len(seen) > 1 or lone else 0
    return len(group) * (sum(weights) if whole and cost else cost)


def cheapest(
    rows: Sequence[Sequence[Any]],
    k: int,
    l: int = 1,
    sensitive: Sequence[Any] | None = None,
    weights: Sequence[int] | None = None,
    *,
    missing_alone: bool = False,
    whole: bool = False,
) -> int | None:
    """The lowest cost of any solution, None when there is none."""
    weights = weights or [1] * len(rows[0])
    best: int | None = None
    for parted in partitions(list(range(len(rows)))):
        if any(len(group) < k for group in parted):
            continue
        if sensitive is not None and any(len({sensitive[row] for row in group}) < l for group in parted):
            continue
        cost = sum(group_cost(rows, g, weights, missing_alone=missing_alone, whole=whole) for g in parted)
        best = cost if best is None else min(best, cost)
    return best
