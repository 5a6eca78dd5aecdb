"""What is known about a property that every superset inherits: the border between the sets with and without it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from sqlaudit.base.frozen import dataclass
from sqlaudit.column_sets.masks import bits, maximal_only


@dataclass
class SetBorder:
    """Decided sets, kept as their border: minimal sets with the property, maximal ones without it."""

    positive: list[int] = field(default_factory=list)
    """Sets known to have the property; minimal among the known ones."""
    negative: list[int] = field(default_factory=list)
    """Sets known to lack it; maximal among the known ones."""

    def lookup(self, mask: int) -> bool | None:
        """True or False where the border decides, None where it does not."""
        if any(small & mask == small for small in self.positive):
            return True
        if any(mask & large == mask for large in self.negative):
            return False
        return None

    def add_positive(self, mask: int) -> None:
        """Note a set that has the property."""
        if not any(small & mask == small for small in self.positive):
            self.positive = [small for small in self.positive if mask & small != mask]
            self.positive.append(mask)

    def add_negative(self, mask: int) -> None:
        """Note a set that lacks the property."""
        if not any(mask & large == mask for large in self.negative):
            self.negative = [large for large in self.negative if large & mask != large]
            self.negative.append(mask)

    def add(self, mask: int, has_property: bool) -> None:
        """Note a decision."""
        if has_property:
            self.add_positive(mask)
        else:
            self.add_negative(mask)


@dataclass(frozen=True)
class FoundSets:
    """What a walker found.

    Args:
        minimal: the minimal sets, each proven (all its subsets lack the property).
        maximal_safe: maximal sets without the property, the proof that nothing is missing when `complete`.
        complete: whether every minimal set (up to the size limit) is in `minimal`.
        decided_size: every set of at most so many columns is decided; None when sizes were not walked in order.
        open_sets: sets that still have to be decided before anything more can be said; 0 when complete.
        decided: how many sets were asked about.
        by_hand: whether somebody stopped the walk.
    """

    minimal: tuple[int, ...]
    maximal_safe: tuple[int, ...]
    complete: bool
    decided: int
    decided_size: int | None = None
    open_sets: int = 0
    by_hand: bool = False


def ordered(masks: Iterable[int]) -> tuple[int, ...]:
    """Small sets first, then by their columns' positions."""
    return tuple(sorted(set(masks), key=lambda mask: (mask.bit_count(), bits(mask))))


def proof(masks: Iterable[int]) -> tuple[int, ...]:
    """The maximal ones, in order."""
    return ordered(maximal_only(masks))
