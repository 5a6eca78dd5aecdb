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
    """All tables of whole numbers within limits that fit what is published."""

    def going_on(table: list[int]) -> Iterator[tuple[int, ...]]:
        cell = len(table)
        if cell == size:
            yield tuple(table)
            return
        value = known[cell]
        low, high = limits[cell] if value is None else (value, value)
        for choice in range(low, high + 1):
            table.append(choice)
            if all(_may_hold(total, parts, table, limits) for total, parts in sums):
                yield from going_on(table)
            table.pop()

    yield from going_on([])


def _may_hold(total: int, parts: Sequence[int], table: Sequence[int], limits: Sequence[tuple[int, int]]) -> bool:
    """Whether an equation holds, or can hold still for the cells that are not chosen."""

    def reach(cell: int) -> tuple[int, int]:
        return (table[cell], table[cell]) if cell < len(table) else limits[cell]

    low, high = (sum(reach(part)[end] for part in parts) for end in (0, 1))
    return low <= reach(total)[1] and reach(total)[0] <= high


def intervals(
    size: int, sums: Sequence[Equation], known: Sequence[int | None], limits: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The least and the largest value of each cell over all tables that fit; empty when none does."""
    found: list[tuple[int, int]] = []
    for table in tables(size, sums, known, limits):
        found = found or [(value, value) for value in table]
        found = [(min(low, value), max(high, value)) for (low, high), value in zip(found, table, strict=True)]
    return found
