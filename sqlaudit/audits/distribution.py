"""How the sensitive values of the worst classes are spread, beside the whole table. Read by reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sqlaudit.base.result import plain

FAILING = "failing"
LEAST_DIVERSE = "least_diverse"
WORST_CLASSES = 3
"""Of so many classes an audit tells how the sensitive values are spread in them, unless another number is asked for."""


@dataclass(frozen=True)
class SharedValue:
    """A sensitive value in the whole table, or the rarest ones together.

    Args:
        rank: its place by frequency in the table, 1 = most frequent (ties in the order of the values); None for the
            others together.
        values: how many values it stands for. total: rows with it (persons with it, where there is an entity column).
        share: of all rows, exactly. shown: whether `value` was read, which is None for a missing one.
    """

    rank: int | None
    values: int
    total: int
    share: Fraction
    shown: bool = False
    value: Any = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The value as the JSON schema has it."""
        known = {"value": plain(self.value)} if self.shown else {}
        return {"rank": self.rank, "values": self.values, "total": self.total, "share": float(self.share)} | known


@dataclass(frozen=True)
class ClassDistribution:
    """One class, or some with the same counts.

    Args:
        size: rows or persons. rows: rows of one such class. classes: how many classes it stands for.
        counts: rows (or persons) with each of the listed values. key: the quasi-identifiers, None unless asked for.
    """

    size: int
    rows: int
    classes: int
    counts: tuple[int, ...]
    key: Mapping[str, Any] | None = field(default=None, repr=False)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The counts as shares of the class, exactly."""
        return tuple(Fraction(count, sum(self.counts)) for count in self.counts)

    def to_dict(self) -> dict[str, Any]:
        """The class as the JSON schema has it."""
        return {
            "size": self.size,
            "rows": self.rows,
            "classes": self.classes,
            "key": None if self.key is None else {name: plain(value) for name, value in self.key.items()},
            "counts": list(self.counts),
            "shares": [float(share) for share in self.shares],
        }


@dataclass(frozen=True)
class WorstClasses:
    """The worst classes for one sensitive attribute, worst first.

    Args:
        basis: `failing` when they fall short of a requirement on the attribute, the largest first; `least_diverse` when
            none does: then those of at least two rows (or persons) with the fewest different values.
        values: the most frequent values of the table, most frequent first, the rest together last.
        classes: as many as were asked for; their `counts` follow `values`.
    """

    sensitive: str
    basis: str
    values: tuple[SharedValue, ...]
    classes: tuple[ClassDistribution, ...]

    def to_dict(self) -> dict[str, Any]:
        """The distributions as the JSON schema has them."""
        return {
            "sensitive": self.sensitive,
            "basis": self.basis,
            "values": [value.to_dict() for value in self.values],
            "classes": [found.to_dict() for found in self.classes],
        }
