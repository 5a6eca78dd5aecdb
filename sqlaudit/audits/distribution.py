"""How the sensitive values of the worst classes are spread, beside the whole table. Read by reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from typing import Any

from sqlaudit.base.documents import AS_FLOAT, HERE, LEFT_OUT, Documented, after, told
from sqlaudit.base.frozen import dataclass

FAILING = "failing"
LEAST_DIVERSE = "least_diverse"
WORST_CLASSES = 3
"""Of so many classes an audit tells how the sensitive values are spread in them, unless another number is asked for."""


@dataclass(frozen=True)
class SharedValue(Documented):
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
    share: Fraction = field(metadata=AS_FLOAT)
    shown: bool = field(default=False, metadata=LEFT_OUT)
    value: Any = field(default=None, repr=False, metadata=LEFT_OUT)

    @told("share", HERE)
    def _known(self) -> dict[str, Any]:
        return {"value": self.value} if self.shown else {}


@dataclass(frozen=True)
class ClassDistribution(Documented):
    """One class, or some with the same counts.

    Args:
        size: rows or persons. rows: rows of one such class. classes: how many classes it stands for.
        counts: rows (or persons) with each of the listed values. key: the quasi-identifiers, None unless asked for.
    """

    size: int
    rows: int
    classes: int
    counts: tuple[int, ...] = field(metadata=after("key"))
    key: Mapping[str, Any] | None = field(default=None, repr=False)

    @property
    @told("counts", AS_FLOAT)
    def shares(self) -> tuple[Fraction, ...]:
        """The counts as shares of the class, exactly."""
        return tuple(Fraction(count, sum(self.counts)) for count in self.counts)


@dataclass(frozen=True)
class WorstClasses(Documented):
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
