"""What is searched for: the property, the way to find it, and how far."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import FLAG, MOST, NAMES, ORDERED, SECONDS, SHARE, TEXT, WHOLE, check_bounds, choice, option
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import Folding, NullPolicy, values_option


class FindSets(StrEnum):
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

ANY_SIZE = 1 << 30

_WHO, _SETS, _FAR = "Which columns", "Which sets", "How far"


def missing_values(section: str) -> Any:
    """The option of how missing values are read where they are values like others."""
    said = "Missing values are equal to each other, equal to nothing, or match anything."
    return option(NullPolicy.EQUAL, choice(NullPolicy), said, section, shown="equal")


@dataclass(frozen=True)
class ColumnRequest:
    """A search for column sets.

    Args:
        columns: names or expressions that take part; empty = all but the excluded and the entity.
        exclude: columns that do not take part.
        entity: the column that says which person a row belongs to; sizes then count persons.
        values: whether persons whom folding merges are one; None = nobody said.
        identifying: search identifying sets instead of violating ones.
        k: rows (or persons) a class must have at least.
        tolerance: share of rows that may lie in smaller classes, between 0 and 1.
        epsilon: how far below 1 the ratio may lie, between 0 and 1 (1 excluded).
        delta: above 0, sets that separate all pairs of a random sample are searched, one so large that with a chance of
            at least 1 - delta each of them separates at least 1 - epsilon of all pairs of rows.
        ratio: which ratio; only with epsilon.
        max_size: the largest size of a set, None = any.
        find: which sets are wanted. rank_by: the figure of a ranking.
        limit: how many sets are reported; all are counted.
        start: the columns a greedy walk starts from, in order; empty = all.
        restarts: further greedy walks from random orders. seed: of those orders, and of a sample.
        nulls: how missing values are read.
        time_budget: seconds, None = no limit.
        effects: whether to count what leaving out or coarsening each column would save.

    Raises:
        UsageError: a number out of its range, or a combination that has no meaning.
    """

    columns: tuple[str, ...] = option(
        (), NAMES, 'Columns or expressions to search: age,zip,"year(birth)".', _WHO, metavar="COLUMNS"
    )
    exclude: tuple[str, ...] = option(
        (), NAMES, "Columns to leave out, for instance record numbers.", _WHO, metavar="COLUMNS"
    )
    entity: str | None = option(
        None, TEXT, "Which person a row is about; sizes then count persons.", _WHO, metavar="COLUMN"
    )
    values: Folding | None = values_option(_WHO)
    identifying: bool = option(
        False, FLAG, "Sets that tell all rows apart, instead of sets that break k-anonymity.", _SETS
    )
    k: int = option(5, WHOLE, "Rows that a class must have at least.", _SETS, shown="5", least=1)
    tolerance: Fraction = option(
        Fraction(0),
        SHARE,
        "Rows that may lie in smaller classes: 1% or 0.01.",
        _SETS,
        metavar="SHARE",
        least=0,
        below=1,
    )
    epsilon: Fraction = option(
        Fraction(0),
        SHARE,
        "How far below 1 the ratio of an identifying set may lie.",
        _SETS,
        metavar="SHARE",
        least=0,
        below=1,
    )
    delta: Fraction = option(
        Fraction(0),
        SHARE,
        "Search a random sample; the chance that a set found there leaves more pairs of rows than epsilon unseparated.",
        _SETS,
        metavar="SHARE",
        least=0,
        below=1,
    )
    ratio: Ratio = option(Ratio.DISTINCT, choice(Ratio), "Of different values, or of row pairs.", _SETS)
    find: FindSets = option(FindSets.ALL, choice(FindSets), "Which sets are wanted.", _SETS, shown="all")
    rank_by: RankBy = option(RankBy.AT_RISK, choice(RankBy), "The figure that a ranking sorts by.", _SETS)
    start: tuple[str, ...] = option(
        (), ORDERED, "The columns that the greedy search starts from, in order.", _SETS, metavar="COLUMNS"
    )
    restarts: int = option(0, WHOLE, "Further greedy searches from random orders.", _SETS, metavar="N", least=0)
    seed: int = option(0, WHOLE, "The seed of random orders and samples.", _SETS, metavar="N")
    nulls: NullPolicy = missing_values(_SETS)
    max_size: int | None = option(
        None,
        MOST,
        "Columns that an attacker knows at most. [default: 4 for violating sets]",
        _FAR,
        metavar="N|all",
        least=1,
        every=ANY_SIZE,
    )
    limit: int = option(1000, WHOLE, "Sets in the report.", _FAR, metavar="N", shown="1000", least=1)
    time_budget: float | None = option(
        None, SECONDS, "Stop after this time and say what is proven.", _FAR, metavar="TIME"
    )
    effects: bool = option(True, FLAG, "Count what leaving out or coarsening each column would save.", _FAR)

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.identifying and self.nulls is NullPolicy.WILDCARD:
            raise UsageError(
                "Identifying sets need classes, and with wildcards a missing value belongs to several; "
                "read missing values as equal or distinct."
            )
        if self.nulls is NullPolicy.WILDCARD and self.rank_by in (RankBy.DISTINCTION, RankBy.SEPARATION):
            raise UsageError(
                f"With wildcards there are no classes to rank by {self.rank_by}; rank by at-risk or unique."
            )
        if self.delta:
            self._check_sample()
        if self.start and self.find is not FindSets.GREEDY:
            raise UsageError("A start order is for the greedy search.")
        if self.restarts and self.find is not FindSets.GREEDY:
            raise UsageError("Restarts are for the greedy search.")

    def _check_sample(self) -> None:
        needed = (
            (spelled("identifying", True), self.identifying),
            (spelled("epsilon"), bool(self.epsilon)),
            (spelled("ratio", "separation"), self.ratio is Ratio.SEPARATION),
        )
        missing = [said for said, given in needed if not given]
        if missing:
            raise UsageError(
                "A sample tells which share of the pairs of rows a set separates at least, and nothing of small "
                f"classes; with {spelled('delta')} give {' and '.join(missing)}, too."
            )
        if self.find is FindSets.RANKING:
            raise UsageError("A sample cannot rank sets: what it tells of each of them is the same.")
        if self.entity is not None:
            raise UsageError("A sample is of pairs of rows; leave out the entity or delta.")

    def size_limit(self, width: int) -> int | None:
        """The size limit that applies; violating sets of any size are searched only when asked for by a large limit."""
        if self.max_size is not None:
            return min(self.max_size, width)
        bounded = self.find is FindSets.RANKING or (self.find is FindSets.ALL and not self.identifying)
        return min(DEFAULT_MAX_SIZE, width) if bounded else None
