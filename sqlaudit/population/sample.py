"""A sample as estimators see it: the sizes of its classes, and how large the population is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor

from sqlaudit.base.errors import UsageError
from sqlaudit.base.words import spelled


@dataclass(frozen=True)
class Sample:
    """Classes by size in a random sample without replacement, and the people of the population.

    Args:
        sizes: (members of a class, classes of that size), ascending. population: people in the population.

    Raises:
        UsageError: the population is smaller than the sample.
    """

    sizes: tuple[tuple[int, int], ...]
    population: int

    def __post_init__(self) -> None:
        if self.population < self.members:
            raise UsageError(
                f"{spelled('population_size')} says {self.population:,} people, but the sample has "
                f"{self.members:,}: a population is at least as large as its sample."
            )

    @classmethod
    def of_fraction(cls, sizes: Iterable[tuple[int, int]], fraction: Fraction) -> Sample:
        """The sample that is this fraction of its population, in whole people.

        Example:
            >>> Sample.of_fraction([(1, 3), (2, 2)], Fraction(2, 5)).population
            18
        """
        held = tuple(sizes)
        members = sum(size * classes for size, classes in held)
        return cls(held, floor(members / fraction + Fraction(1, 2)))

    @cached_property
    def members(self) -> int:
        """Members of the sample."""
        return sum(size * classes for size, classes in self.sizes)

    @cached_property
    def classes(self) -> int:
        """Classes that the sample has members of."""
        return sum(classes for _, classes in self.sizes)

    @cached_property
    def fraction(self) -> float:
        """The share of the population that is in the sample."""
        return self.members / self.population if self.population else 1.0

    def of_size(self, size: int) -> int:
        """How many classes have that size."""
        return next((classes for one, classes in self.sizes if one == size), 0)
