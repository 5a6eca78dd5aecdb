"""What is searched for: the property, the way to find it, and how far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import NullPolicy


class Find(StrEnum):
    """Which sets are wanted: all minimal ones, one smallest, some minimal ones, or all sets by a figure."""

    ALL = "all"
    MINIMUM = "minimum"
    GREEDY = "greedy"
    RANKING = "ranking"


class Ratio(StrEnum):
    """How nearly a set identifies: by its different values, or by the pairs of rows that it separates."""

    DISTINCT = "distinct"
    SEPARATION = "separation"


class RankBy(StrEnum):
    """The figure that a ranking sorts by, largest first."""

    AT_RISK = "at-risk"
    UNIQUE = "unique"
    DISTINCTION = "distinction"
    SEPARATION = "separation"


DEFAULT_MAX_SIZE = 4
"""The attacker who knows at most four columns: the size limit where a search without one could be endless."""


@dataclass(frozen=True)
class ColumnRequest:
    """A search for column sets.

    Args:
        identifying: search identifying sets instead of violating ones.
        k: rows (or persons) a class must have at least.
        tolerance: share of rows that may lie in smaller classes, between 0 and 1.
        epsilon: how far below 1 the ratio may lie, between 0 and 1 (1 excluded).
        ratio: which ratio; only with epsilon.
        max_size: the largest size of a set, None = any.
        find: which sets are wanted. rank_by: the figure of a ranking.
        limit: how many sets are reported; all are counted.
        start: the columns a greedy walk starts from, in order; empty = all.
        restarts: further greedy walks from random orders. seed: of those orders.
        nulls: how missing values are read.
        time_budget: seconds, None = no limit.

    Raises:
        UsageError: a number out of its range, or a combination that has no meaning.
    """

    identifying: bool = False
    k: int = 5
    tolerance: Fraction = Fraction(0)
    epsilon: Fraction = Fraction(0)
    ratio: Ratio = Ratio.DISTINCT
    max_size: int | None = None
    find: Find = Find.ALL
    rank_by: RankBy = RankBy.AT_RISK
    limit: int = 1000
    start: Sequence[str] = ()
    restarts: int = 0
    seed: int = 0
    nulls: NullPolicy = NullPolicy.EQUAL
    time_budget: float | None = None

    def __post_init__(self) -> None:
        _at_least("k", self.k, 1)
        _at_least("max size", self.max_size if self.max_size is not None else 1, 1)
        _at_least("limit", self.limit, 1)
        _at_least("restarts", self.restarts, 0)
        for name, share in (("tolerance", self.tolerance), ("epsilon", self.epsilon)):
            if not 0 <= share < 1:
                raise UsageError(f"The {name} is a share of at least 0 and below 1; it is {share}.")
        if self.identifying and self.nulls is NullPolicy.WILDCARD:
            raise UsageError(
                "Identifying sets need classes, and with wildcards a missing value belongs to several; "
                "read missing values as equal or distinct."
            )
        if self.nulls is NullPolicy.WILDCARD and self.rank_by in (RankBy.DISTINCTION, RankBy.SEPARATION):
            raise UsageError(
                f"With wildcards there are no classes to rank by {self.rank_by}; rank by at-risk or unique."
            )
        if self.start and self.find is not Find.GREEDY:
            raise UsageError("A start order is for the greedy search.")
        if self.restarts and self.find is not Find.GREEDY:
            raise UsageError("Restarts are for the greedy search.")

    def size_limit(self, width: int) -> int | None:
        """The size limit that applies; violating sets of any size are searched only when asked for by a large limit."""
        if self.max_size is not None:
            return min(self.max_size, width)
        bounded = self.find is Find.RANKING or (self.find is Find.ALL and not self.identifying)
        return min(DEFAULT_MAX_SIZE, width) if bounded else None


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise UsageError(f"The {name} must be at least {least}; it is {value}.")
