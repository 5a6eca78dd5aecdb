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


def hard_rows(vertices: int, edges: Sequence[tuple[int, int]]) -> list[tuple[str, str, str]]:
    """The table of a graph in which every vertex has three edges (Chakaravarthy et al., section 3.1): with k = 7 it
    costs 27 vertices + 2 edges + 14 + the size of the smallest vertex cover."""
    specials = iter(range(1_000_000))

    def special() -> str:
        return f"?{next(specials)}"

    rows = []
    for vertex in map(str, range(vertices)):
        rows += [("0", vertex, vertex)] * 6
        rows += [(special(), vertex, vertex)]
        rows += [(special(), vertex, special()) for _ in range(7)]
        rows += [("0", vertex, "Z")] * 3 + [("0", "Z", vertex)] * 3
    for x, y in edges:
        rows += [("0", str(x), str(y)), ("0", str(y), str(x))]
    rows += [("0", special(), "Z") for _ in range(7)]
    return rows + [("0", "Z", special()) for _ in range(7)]


def clique_rows(vertices: int, edges: Sequence[tuple[int, int]], first: int, size: int) -> list[tuple[list[int], str]]:
    """The table of a graph whose cheapest 2-diverse suppression tells how many edges `size` vertices with `first` have
    (Hsu, construction 5.2.3): (cells, sensitive value) of each row. Vertices count from 1."""
    order = [first, *(v for v in range(1, vertices + 1) if v != first)]
    block = len(edges) * (2 * size - 1)
    rows = []
    for number, vertex in enumerate(order):
        cells = []
        for p, q in edges:
            group = [0] * (vertices - 1)
            if vertex in (p, q):
                group[0] = 1 if vertex == p else 2
            else:
                others = [v for v in range(1, vertices + 1) if v not in (p, q)]
                group[1 + others.index(vertex)] = 1
            cells += group
        rows.append((cells + [0] * block * (vertices - size), "black" if number == 0 else "white"))
    for lower in range(vertices - size):
        marks = [0] * block * (vertices - size)
        marks[lower * block : (lower + 1) * block] = [1] * block
        rows.append(([0] * len(edges) * (vertices - 1) + marks, "black"))
    return rows
