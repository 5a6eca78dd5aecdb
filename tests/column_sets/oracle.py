"""Brute force over all column sets and all rows: slow, obvious, and independent of the code under test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

Rows = Sequence[Sequence[Any]]
Columns = tuple[int, ...]


def all_sets(width: int, max_size: int | None = None) -> list[Columns]:
    top = width if max_size is None else min(max_size, width)
    return [chosen for size in range(top + 1) for chosen in combinations(range(width), size)]


def minimal_sets(width: int, has_property: Callable[[Columns], bool], max_size: int | None = None) -> set[Columns]:
    having = [chosen for chosen in all_sets(width, max_size) if has_property(chosen)]
    return {chosen for chosen in having if not any(set(other) < set(chosen) for other in having)}


def maximal_lacking(width: int, has_property: Callable[[Columns], bool], max_size: int | None = None) -> set[Columns]:
    lacking = [chosen for chosen in all_sets(width, max_size) if not has_property(chosen)]
    return {chosen for chosen in lacking if not any(set(chosen) < set(other) for other in lacking)}


def maximal_only(masks: Iterable[int]) -> list[int]:
    """The sets that lie in no other one, large sets first."""
    kept: list[int] = []
    for mask in sorted(set(masks), key=lambda m: (-m.bit_count(), -m)):
        if not any(mask & large == mask for large in kept):
            kept.append(mask)
    return kept


def matches(rows: Rows, chosen: Columns, nulls: str) -> list[list[int]]:
    """For every row the numbers of the rows that it cannot be told apart from, itself included."""
    return [
        [j for j in range(len(rows)) if j == i or _alike(rows[i], rows[j], chosen, nulls)] for i in range(len(rows))
    ]


def _alike(a: Sequence[Any], b: Sequence[Any], chosen: Columns, nulls: str) -> bool:
    for c in chosen:
        missing = a[c] is None or b[c] is None
        if nulls == "wildcard" and missing:
            continue
        if nulls == "distinct" and missing:
            return False
        if a[c] != b[c]:
            return False
    return True


def figures(rows: Rows, chosen: Columns, k: int, nulls: str = "equal", entity: int | None = None) -> dict[str, Any]:
    """Classes, smallest class, rows (or persons) below k and unique, ordered pairs of rows in one class."""
    groups = matches(rows, chosen, nulls)
    sizes = [len(g) if entity is None else len({rows[j][entity] for j in g}) for g in groups]
    person = [i if entity is None else rows[i][entity] for i in range(len(rows))]
    return {
        "classes": None if nulls == "wildcard" else len({tuple(g) for g in groups}),
        "min_size": min(sizes, default=0),
        "at_risk": len({person[i] for i in range(len(rows)) if sizes[i] < k}),
        "unique": len({person[i] for i in range(len(rows)) if sizes[i] == 1}),
        "pairs": None if nulls == "wildcard" else sum(len(g) - 1 for g in groups),
        "total": len(set(person)),
    }


def violates(
    rows: Rows, chosen: Columns, k: int, tolerance: Fraction, nulls: str, *, entity: int | None = None
) -> bool:
    found = figures(rows, chosen, k, nulls, entity)
    return found["at_risk"] > tolerance * found["total"]


def identifies(rows: Rows, width: int, chosen: Columns, nulls: str, entity: int | None = None) -> bool:
    """No two rows (of different persons) that some column tells apart agree on the chosen columns."""
    everything = tuple(range(width))
    for i, j in combinations(range(len(rows)), 2):
        if entity is not None and rows[i][entity] == rows[j][entity]:
            continue
        apart = not _alike(rows[i], rows[j], everything, nulls)
        if apart and _alike(rows[i], rows[j], chosen, nulls):
            return False
    return True


def minimal_uniques(rows: Rows, width: int, max_size: int) -> list[set[Columns]]:
    """For every row its minimal sample uniques (never the empty set); an item with a missing value is in none."""
    out = []
    for i, row in enumerate(rows):

        def unique(chosen: Columns, i: int = i, row: Sequence[Any] = row) -> bool:
            if any(row[c] is None for c in chosen):
                return False
            return not any(j != i and all(rows[j][c] == row[c] for c in chosen) for j in range(len(rows)))

        having = [c for c in all_sets(width, max_size) if c and unique(c)]
        out.append({c for c in having if not any(set(o) < set(c) for o in having)})
    return out
