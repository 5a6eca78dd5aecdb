"""Seeded random range queries over quasi-identifiers: in the order of values, never by value."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class RangeQuery:
    """A conjunction of ranges: for some columns (by place 1, 2, …) the numbers of the first and the last value."""

    ranges: tuple[tuple[int, int, int], ...]

    def parts(self) -> list[dict[str, int]]:
        """The ranges for templates."""
        return [{"place": place, "low": low, "high": high} for place, low, high in self.ranges]


def random_ranges(
    count: int, seed: int, domains: Sequence[tuple[int, int]], only: int | None = None
) -> list[RangeQuery]:
    """Random range queries.

    A query restricts a random number of random columns, each from one to another of two values drawn from the
    column's different values, both ends included.

    Args:
        count: how many. seed: the same seed gives the same queries.
        domains: (place, different values without NULL) of the columns. only: the place of the one column to restrict.

    Example:
        >>> random_ranges(1, 0, [(1, 10)])[0].ranges
        ((1, 2, 5),)
    """
    generator = random.Random(f"{seed} {only}")
    known = [(place, size) for place, size in domains if size > 0 and only in (None, place)]
    queries = []
    for _ in range(count):
        chosen = generator.sample(known, generator.randint(1, len(known))) if known else []
        ranges = []
        for place, size in sorted(chosen):
            low, high = sorted((generator.randrange(size), generator.randrange(size)))
            ranges.append((place, low, high))
        queries.append(RangeQuery(tuple(ranges)))
    return queries
