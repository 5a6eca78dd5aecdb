"""Smallest covers and largest unions of few sets, exactly. Elements are bits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb


def smallest_cover(elements: int, sets: Sequence[int]) -> int | None:
    """How many of the sets are needed to cover all elements; None when they cannot.

    Args:
        elements: what is to be covered, a number whose bits are the elements.
        sets: the same of every set.

    Example:
        >>> smallest_cover(0b1111, [0b0111, 0b1100, 0b0011])
        2
    """
    useful = _largest(sorted({cover & elements for cover in sets}))
    union = 0
    for cover in useful:
        union |= cover
    if union != elements:
        return None
    return next(size for size in range(len(useful) + 1) if _covers(elements, useful, size))


def _covers(elements: int, sets: Sequence[int], size: int) -> bool:
    """Whether `size` sets are enough: some set must hold the element that the fewest sets hold."""
    if not elements:
        return True
    if not size:
        return False
    rest, fewest = elements, list(sets)
    while rest:
        bit = rest & -rest
        rest ^= bit
        holding = [cover for cover in sets if cover & bit]
        if len(holding) < len(fewest) or rest == elements ^ bit:
            fewest = holding
    return any(_covers(elements & ~cover, sets, size - 1) for cover in fewest)


def _largest(sets: Sequence[int]) -> list[int]:
    """The sets that lie in no other one."""
    return [one for one in sets if not any(one != other and one & other == one for other in sets)]


def largest_unions(sets: Sequence[frozenset[int]], count: int, limit: int) -> list[frozenset[int]] | None:
    """The unions of `count` sets (all of them when there are fewer) that lie in no other; None beyond `limit` choices.

    Example:
        >>> largest_unions([frozenset({0}), frozenset({0, 1}), frozenset({2})], 1, 10)
        [frozenset({0, 1}), frozenset({2})]
    """
    size = min(count, len(sets))
    if comb(len(sets), size) > limit:
        return None
    unions = {frozenset[int]().union(*chosen) for chosen in combinations(sets, size)}
    return sorted((one for one in unions if not any(one < other for other in unions)), key=sorted)
