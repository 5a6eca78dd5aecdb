"""The request for a search for column sets: their property, the kind of search, and its limits."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import FLAG, MOST, NAMES, ORDERED, SECONDS, SHARE, TEXT, WHOLE, check_bounds, choice, option
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import Folding, NullPolicy, Target, among_roles, target_part, values_option


class FindSets(StrEnum):
    """The kind of search: all minimal sets, one smallest set, some minimal sets, or all sets ranked by a figure."""

    ALL = "all"
    MINIMUM = "minimum"
    GREEDY = "greedy"
    RANKING = "ranking"


class Ratio(StrEnum):
    """The ratio of an approximately identifying set: of its distinct values, or of the pairs of rows it separates."""

    DISTINCT = "distinct"
    SEPARATION = "separation"


class RankBy(StrEnum):
    """The sort key of a ranking, largest first."""

    AT_RISK = "at-risk"
    UNIQUE = "unique"
    DISTINCTION = "distinction"
    SEPARATION = "separation"


DEFAULT_MAX_SIZE = 4
"""The size limit where an unlimited search could take very long: an attacker knows at most four columns."""

ANY_SIZE = 1 << 30

_WHO, _SETS, _FAR = "Columns", "Column sets", "Extent"


def missing_values(section: str, **more: Any) -> Any:
    """Return the option on how missing values are read, for commands that treat them like other values.

    Args:
        section: of the help page.
        more: as `option` has it.
    """
    description = "Missing values are equal to each other, equal to nothing, or match anything."
    return option(NullPolicy.EQUAL, choice(NullPolicy), description, section, shown="equal", **more)


def _among_roles(role: str) -> dict[str, Any]:
    """Return that an option's value may be among the roles; sensitive columns and identifiers play no part here."""
    return among_roles(role, passed_over=("sensitive", "identifiers"), columns="columns")


@dataclass(frozen=True)
class ColumnRequest:
    """A search for column sets.

    Args:
        target: the table, file or query to search.
        columns: names or expressions to search; empty = all but the excluded and the entity.
        exclude: columns to leave out.
        entity: the column that identifies the person; group sizes then count people.
        values: whether persons that folding merges count as one; None = not given.
        identifying: search identifying sets instead of violating ones.
        k: minimum rows (or people) of a class.
        tolerance: share of rows allowed in smaller classes, between 0 and 1.
        epsilon: the allowed distance of the ratio from 1, between 0 and 1 (1 excluded).
        delta: above 0, search sets that separate all pairs of a random sample, so large that with a probability of at
            least 1 - delta each of them separates at least 1 - epsilon of all pairs of rows.
        ratio: which ratio; only with epsilon.
        max_size: the largest size of a set, None = any.
        find: the kind of search.
        rank_by: the figure of a ranking.
        limit: the number of reported sets; all are counted.
        start: the columns a greedy walk starts from, in order; empty = all.
        restarts: further greedy walks from random orders.
        seed: the seed of random orders and samples.
        nulls: how missing values are read.
        time_budget: seconds, None = no limit.
        effects: whether to count the effect of leaving out or coarsening each column.

    Raises:
        UsageError: a number out of its range, or options that contradict each other.
    """

    target: Target = target_part()
    columns: tuple[str, ...] = option(
        (),
        NAMES,
        'Columns or expressions to search: age,zip,"year(birth)".',
        _WHO,
        metavar="COLUMNS",
        **_among_roles("quasi_identifiers"),
    )
    exclude: tuple[str, ...] = option(
        (), NAMES, "Columns to leave out, for example record numbers.", _WHO, metavar="COLUMNS"
    )
    entity: str | None = option(
        None,
        TEXT,
        "Column that identifies the person; group sizes then count people.",
        _WHO,
        metavar="COLUMN",
        **_among_roles("entity"),
    )
    values: Folding | None = values_option(_WHO, **_among_roles("values"))
    identifying: bool = option(
        False, FLAG, "Search sets that separate all rows, instead of sets that violate k-anonymity.", _SETS
    )
    k: int = option(5, WHOLE, "Minimum rows of a class.", _SETS, shown="5", least=1)
    tolerance: Fraction = option(
        Fraction(0),
        SHARE,
        "Share of rows allowed in smaller classes: 1% or 0.01.",
        _SETS,
        metavar="SHARE",
        least=0,
        below=1,
    )
    epsilon: Fraction = option(
        Fraction(0),
        SHARE,
        "Allowed distance of an identifying set's ratio from 1.",
        _SETS,
        metavar="SHARE",
        least=0,
        below=1,
    )
    delta: Fraction = option(
        Fraction(0),
        SHARE,
        "Search a random sample; probability that a set found there separates fewer row pairs than 1 - epsilon.",
        _SETS,
        metavar="SHARE",
        least=0,
        below=1,
    )
    ratio: Ratio = option(Ratio.DISTINCT, choice(Ratio), "Ratio of distinct values, or of row pairs.", _SETS)
    find: FindSets = option(FindSets.ALL, choice(FindSets), "Sets to find.", _SETS, shown="all")
    rank_by: RankBy = option(RankBy.AT_RISK, choice(RankBy), "Sort key of a ranking.", _SETS)
    start: tuple[str, ...] = option(
        (), ORDERED, "Columns that the greedy search starts from, in order.", _SETS, metavar="COLUMNS"
    )
    restarts: int = option(0, WHOLE, "Further greedy searches from random orders.", _SETS, metavar="N", least=0)
    seed: int = option(0, WHOLE, "Seed of random orders and samples.", _SETS, metavar="N")
    nulls: NullPolicy = missing_values(_SETS, **_among_roles("nulls"))
    max_size: int | None = option(
        None,
        MOST,
        "Largest number of columns that an attacker knows. [default: 4 for violating sets]",
        _FAR,
        metavar="N|all",
        least=1,
        every=ANY_SIZE,
    )
    limit: int = option(1000, WHOLE, "Number of sets in the report.", _FAR, metavar="N", shown="1000", least=1)
    time_budget: float | None = option(
        None, SECONDS, "Stop after this time and report what is proven.", _FAR, metavar="TIME"
    )
    effects: bool = option(True, FLAG, "Count the effect of leaving out or coarsening each column.", _FAR)

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.identifying and self.nulls is NullPolicy.WILDCARD:
            raise UsageError(
                "Identifying sets cannot be searched with wildcards, because a missing value belongs to several "
                f"classes. Use {spelled('nulls', 'equal')} or distinct."
            )
        if self.nulls is NullPolicy.WILDCARD and self.rank_by in (RankBy.DISTINCTION, RankBy.SEPARATION):
            raise UsageError(
                f"With wildcards there are no classes to rank by {self.rank_by}. Rank by at-risk or unique."
            )
        if self.delta:
            self._check_sample()
        self._refuse_unused()
        if self.start and self.find is not FindSets.GREEDY:
            raise UsageError(f"{spelled('start')} applies to the greedy search: use {spelled('find', 'greedy')}.")
        if self.restarts and self.find is not FindSets.GREEDY:
            raise UsageError(f"{spelled('restarts')} applies to the greedy search: use {spelled('find', 'greedy')}.")

    @property
    def targets(self) -> tuple[Target, ...]:
        """Everything that the search reads."""
        return (self.target,)

    def _refuse_unused(self) -> None:
        """Refuse an option that the search does not use: its sets would seem to follow the option."""
        identifying = spelled("identifying", True)
        for name in ("epsilon", "ratio"):
            if not self.identifying and getattr(self, name) != ColumnRequest.__dataclass_fields__[name].default:
                raise UsageError(f"{spelled(name)} applies to identifying sets: add {identifying}.")
        if self.identifying and self.tolerance:
            raise UsageError(
                f"{spelled('tolerance')} applies to sets that violate k-anonymity: leave out {identifying}."
            )
        if self.rank_by is not RankBy.AT_RISK and self.find is not FindSets.RANKING:
            raise UsageError(f"{spelled('rank_by')} applies to a ranking: use {spelled('find', 'ranking')}.")

    def _check_sample(self) -> None:
        """Refuse a sample unless identifying sets of rows are searched, by separation."""
        conditions = (
            (spelled("identifying", True), self.identifying),
            (spelled("epsilon"), bool(self.epsilon)),
            (spelled("ratio", "separation"), self.ratio is Ratio.SEPARATION),
        )
        missing = [name for name, is_set in conditions if not is_set]
        if missing:
            raise UsageError(
                f"{spelled('delta')} also needs {' and '.join(missing)}: a sample bounds the share of row pairs that a "
                "set separates, not the size of classes."
            )
        if self.find is FindSets.RANKING:
            raise UsageError(f"A sample cannot rank sets: leave out {spelled('delta')}.")
        if self.entity is not None:
            raise UsageError(f"A sample consists of rows: leave out {spelled('entity')} or {spelled('delta')}.")

    def size_limit(self, width: int) -> int | None:
        """Return the size limit that applies, None for none. Violating sets have a limit unless a large one is set."""
        if self.max_size is not None:
            return min(self.max_size, width)
        bounded = self.find is FindSets.RANKING or (self.find is FindSets.ALL and not self.identifying)
        return min(DEFAULT_MAX_SIZE, width) if bounded else None
