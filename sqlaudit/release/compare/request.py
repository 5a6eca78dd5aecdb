"""What a comparison of a release with its original was asked for. Standard library only, apart from specs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Requirement, Target
from sqlaudit.base.words import spelled

DISTANCES = ("equal", "ordered", "hierarchical")
MOST_QUERIES = 10_000


@dataclass(frozen=True)
class CompareRequest:
    """What is compared, and how.

    Args:
        original, release: the two tables. other: another release, to say which of the two is coarser.
        qi: the quasi-identifiers: columns that both tables have. sensitive: sensitive attributes, unchanged in both.
        key: columns that name a row in both tables. by_position: rows correspond by their order.
        hierarchies: what `sqlaudit.hierarchies.read.read_hierarchies` takes; None = values are kept or suppressed.
        measures: names of loss measures; empty = all.
        beta: the exponent of the height weights of the weighted hierarchical distance, 0 or more; 0 = even.
        distance: of sensitive values: equal, ordered or hierarchical (the latter wants a tree among the inputs).
        noise_queries: random range queries for the noise, at least 2. workload: random counting queries, 0 = none.
        seed: of both. queries: the texts of aggregate queries.
        requirements, inputs: for the audit of the release. show_values: whether answers may name their groups.

    Raises:
        UsageError: parts that do not go together, or a number without a meaning.
    """

    original: Target
    release: Target
    qi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    by_position: bool = False
    hierarchies: Any = None
    other: Target | None = None
    measures: tuple[str, ...] = ()
    beta: Fraction = Fraction(1)
    distance: str = "equal"
    noise_queries: int = 100
    workload: int = 100
    seed: int = 0
    queries: tuple[str, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)
    show_values: bool = False

    def __post_init__(self) -> None:
        if not self.qi:
            raise UsageError(
                f"Name the quasi-identifiers that original and release have in common, with {spelled('qi')}."
            )
        if self.key and self.by_position:
            raise UsageError(f"Rows are paired by {spelled('key')} or {spelled('by_position', True)}, not by both.")
        if self.beta < 0:
            raise UsageError(f"{spelled('beta')} is a number of 0 or more.")
        if self.distance not in DISTANCES:
            raise UsageError(f"{spelled('distance')} is one of {', '.join(DISTANCES)}.")
        if not 2 <= self.noise_queries <= MOST_QUERIES:
            raise UsageError(f"{spelled('noise_queries')} is a number between 2 and {MOST_QUERIES:,}.")
        if not 0 <= self.workload <= MOST_QUERIES:
            raise UsageError(f"{spelled('workload')} is a number between 0 and {MOST_QUERIES:,}.")

    @property
    def targets(self) -> tuple[Target, ...]:
        """Every table that is read."""
        return (self.original, self.release, *((self.other,) if self.other else ()))
