"""What is said of equivalence classes: how large they are, and which fall short."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from math import gcd, isqrt
from typing import Any

from sqlaudit.base.documents import Documented, after, told
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.result import Number


@dataclass(frozen=True)
class ClassSizes(Documented):
    """The equivalence classes by size: `sizes` holds (size, number of classes of that size), ascending.

    Sizes are persons when there is an entity column, rows otherwise. `per_row` says that classes overlap
    (NULL as wildcard), so that each row counts as one neighbourhood.
    """

    sizes: tuple[tuple[int, int], ...]
    per_row: bool = field(default=False, metadata=after("max_size"))

    @property
    @told("")
    def count(self) -> int:
        """The number of classes."""
        return sum(classes for _, classes in self.sizes)

    @property
    def members(self) -> int:
        """Rows (or persons) in all classes together."""
        return self.count if self.per_row else sum(size * classes for size, classes in self.sizes)

    @property
    def all_squares(self) -> bool:
        """Whether every class has a square number of rows, and one of them 9 or more."""
        return bool(self.sizes) and self.sizes[-1][0] >= 9 and all(isqrt(size) ** 2 == size for size, _ in self.sizes)

    @property
    def all_multiples(self) -> bool:
        """Whether some number from 3 on divides the sizes of all classes."""
        return gcd(*(size for size, _ in self.sizes)) >= 3

    @property
    @told("count")
    def min_size(self) -> int | None:
        """The smallest class, None for an empty table."""
        return self.sizes[0][0] if self.sizes else None

    @property
    @told("min_size")
    def max_size(self) -> int | None:
        """The largest class, None for an empty table."""
        return self.sizes[-1][0] if self.sizes else None

    def below(self, k: int) -> tuple[int, int]:
        """(classes, rows) in classes smaller than k."""
        small = [(size, classes) for size, classes in self.sizes if size < k]
        rows = sum(classes if self.per_row else size * classes for size, classes in small)
        return sum(classes for _, classes in small), rows


@dataclass(frozen=True)
class FailingClass(Documented):
    """A class that falls short of at least one requirement.

    `key` holds the quasi-identifier values, and is None unless values were asked for. `figures` holds the
    class's own figures by name, `fails` the requirements it breaks, as the user wrote them; `sensitive` the attribute
    that one of these is about, None when none is. Without keys, classes that look alike are one entry: `classes` is how
    many there are, each of `rows` rows. A class that only a population has has no rows.
    """

    size: int
    rows: int
    figures: Mapping[str, Number | None]
    fails: tuple[str, ...] = field(metadata=after("sensitive"))
    sensitive: str | None = field(default=None, metadata=after("classes"))
    key: Mapping[str, Any] | None = None
    classes: int = field(default=1, metadata=after("rows"))
