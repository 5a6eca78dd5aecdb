"""Tables of counts and sums, slowly and plainly: equations by looking at every pair, intervals by every table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Equation = tuple[int, tuple[int, ...]]


def equations(keys: Sequence[Sequence[int]], rollups: Sequence[Sequence[Sequence[int]]]) -> set[Equation]:
    """Each total with the cells that differ from it in one dimension, where its code is their parent."""
    found = set()
    for dimension, ways in enumerate(rollups):
        for parents in ways:
            for total, key in enumerate(keys):
                parts = tuple(
                    cell
                    for cell, other in enumerate(keys)
                    if parents[other[dimension]] == key[dimension]
                    and all(a == b for at, (a, b) in enumerate(zip(key, other, strict=True)) if at != dimension)
                )
                if parts:
                    found.add((total, parts))
    return found


def tables(
    size: int, sums: Sequence[Equation], known: Sequence[int | None], limits: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, ...]]:
    """All tables of whole numbers within limits that fit what is published: cell by cell, every value that may fit."""
    reach = [limits[cell] if value is None else (value, value) for cell, value in enumerate(known)]
    of_cell = [[one for one in sums if cell == one[0] or cell in one[1]] for cell in range(size)]

    def possible(cell: int) -> tuple[int, int]:
        low, high = reach[cell]
        for total, parts in of_cell[cell]:
            others = [reach[part] for part in parts if part != cell]
            least, most = sum(one for one, _ in others), sum(one for _, one in others)
            if cell == total:
                low, high = max(low, least), min(high, most)
            else:
                low, high = max(low, reach[total][0] - most), min(high, reach[total][1] - least)
        return low, high

    def going_on(cell: int) -> Iterator[tuple[int, ...]]:
        if cell == size:
            yield tuple(low for low, _ in reach)
            return
        before = reach[cell]
        low, high = possible(cell)
        for choice in range(low, high + 1):
            reach[cell] = (choice, choice)
            yield from going_on(cell + 1)
        reach[cell] = before

    for _ in range(size):
        reach = [possible(cell) for cell in range(size)]
    yield from going_on(0)


def intervals(
    size: int, sums: Sequence[Equation], known: Sequence[int | None], limits: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The least and the largest value of each cell over all tables that fit; empty when none does."""
    found: list[tuple[int, int]] = []
    for table in tables(size, sums, known, limits):
        found = found or [(value, value) for value in table]
        found = [(min(low, value), max(high, value)) for (low, high), value in zip(found, table, strict=True)]
    return found
