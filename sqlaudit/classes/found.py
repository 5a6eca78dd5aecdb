"""What is said of equivalence classes: how large they are, and which fall short."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlaudit.base.result import Number, plain


@dataclass(frozen=True)
class ClassSizes:
    """The equivalence classes by size: `sizes` holds (size, number of classes of that size), ascending.

    Sizes are persons when there is an entity column, rows otherwise. `per_row` says that classes overlap
    (NULL as wildcard), so that each row counts as one neighbourhood.
    """

    sizes: tuple[tuple[int, int], ...]
    per_row: bool = False

    @property
    def count(self) -> int:
        """The number of classes."""
        return sum(classes for _, classes in self.sizes)

    @property
    def members(self) -> int:
        """Rows (or persons) in all classes together."""
        return self.count if self.per_row else sum(size * classes for size, classes in self.sizes)

    @property
    def min_size(self) -> int | None:
        """The smallest class, None for an empty table."""
        return self.sizes[0][0] if self.sizes else None

    @property
    def max_size(self) -> int | None:
        """The largest class, None for an empty table."""
        return self.sizes[-1][0] if self.sizes else None

    def below(self, k: int) -> tuple[int, int]:
        """(classes, rows) in classes smaller than k."""
        small = [(size, classes) for size, classes in self.sizes if size < k]
        rows = sum(classes if self.per_row else size * classes for size, classes in small)
        return sum(classes for _, classes in small), rows

    def to_dict(self) -> dict[str, Any]:
        """The sizes as the JSON schema has them."""
        return {
            "count": self.count,
            "min_size": self.min_size,
            "max_size": self.max_size,
            "per_row": self.per_row,
            "sizes": [list(pair) for pair in self.sizes],
        }


@dataclass(frozen=True)
class FailingClass:
    """A class that falls short of at least one requirement.

    `key` holds the quasi-identifier values, and is None unless values were asked for. `figures` holds the
    class's own figures by name, `fails` the requirements it breaks, as the user wrote them; `sensitive` the attribute
    that one of these is about, None when none is. Without keys, classes that look alike are one entry: `classes` is how
    many there are, each of `rows` rows. A class that only a population has has no rows.
    """

    size: int
    rows: int
    figures: Mapping[str, Number | None]
    fails: tuple[str, ...]
    sensitive: str | None = None
    key: Mapping[str, Any] | None = None
    classes: int = 1

    def to_dict(self) -> dict[str, Any]:
        """The class as the JSON schema has it."""
        return {
            "size": self.size,
            "rows": self.rows,
            "classes": self.classes,
            "sensitive": self.sensitive,
            "fails": list(self.fails),
            "figures": {k: plain(v) for k, v in self.figures.items()},
            "key": None if self.key is None else {k: plain(v) for k, v in self.key.items()},
        }
