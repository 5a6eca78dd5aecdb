"""Column sets as Python ints: bit i stands for column i, so a table may have any number of columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from math import comb


def bits(mask: int) -> list[int]:
    """The positions of the bits that are set, ascending.

    Example:
        >>> bits(0b1011)
        [0, 1, 3]
    """
    out = []
    while mask:
        low = mask & -mask
        out.append(low.bit_length() - 1)
        mask ^= low
    return out


def mask_of(positions: Iterable[int]) -> int:
    """The set of the given columns.

    Example:
        >>> mask_of([0, 1, 3])
        11
    """
    mask = 0
    for position in positions:
        mask |= 1 << position
    return mask


def without_one(mask: int) -> Iterator[int]:
    """All subsets with one column less."""
    rest = mask
    while rest:
        low = rest & -rest
        yield mask ^ low
        rest ^= low


def subsets_up_to(columns: int, size: int) -> Iterator[int]:
    """All sets of at most `size` columns, small sets first."""
    for members in range(min(size, columns) + 1):
        for chosen in combinations(range(columns), members):
            yield mask_of(chosen)


def count_subsets(columns: int, size: int | None) -> int:
    """How many sets of at most `size` columns there are (None = of any size).

    Example:
        >>> count_subsets(20, 4)
        6196
    """
    if size is None or size >= columns:
        return int(2**columns)
    return sum(comb(columns, members) for members in range(size + 1))


def minimal_only(masks: Iterable[int]) -> list[int]:
    """The sets that contain no other one, small sets first.

    Example:
        >>> minimal_only([0b110, 0b010, 0b101])
        [2, 5]
    """
    kept: list[int] = []
    for mask in sorted(set(masks), key=lambda m: (m.bit_count(), m)):
        if not any(small & mask == small for small in kept):
            kept.append(mask)
    return kept


def maximal_only(masks: Iterable[int]) -> list[int]:
    """The sets that lie in no other one, large sets first.

    Example:
        >>> maximal_only([0b110, 0b010, 0b101])
        [6, 5]
    """
    kept: list[int] = []
    for mask in sorted(set(masks), key=lambda m: (-m.bit_count(), -m)):
        if not any(mask & large == mask for large in kept):
            kept.append(mask)
    return kept


def names(mask: int, columns: Sequence[str]) -> tuple[str, ...]:
    """The names of a set's columns, in the table's order."""
    return tuple(columns[position] for position in bits(mask))
