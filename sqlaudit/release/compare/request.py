"""The request to compare a release with its original. Standard library only, apart from specs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import (
    FLAG,
    NAMES,
    NOT_NEGATIVE,
    ORDERED,
    QUERIES,
    SOURCE,
    WHOLE,
    check_bounds,
    one_of,
    option,
)
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import ROLES, Folding, Requirement, Target, values_option
from sqlaudit.models.measures import NOISE, Measure, chosen

DISTANCES = ("equal", "ordered", "hierarchical")

MOST_QUERIES = 10_000

_PAIRS, _LOST, _USE = "Pairing of rows", "Information loss", "Queries"


@dataclass(frozen=True)
class CompareRequest:
    """The tables to compare, and how.

    Args:
        original, release: the two tables. other: another release, to compare how coarse both are.
        qi: the quasi-identifiers: columns that both tables have. sensitive: sensitive attributes, unchanged in both.
        key: columns that identify a row in both tables. by_position: rows correspond by their order.
        values: whether sensitive values that folding merges are one; None = not given.
        hierarchies: as for `sqlaudit.hierarchies.read.read_hierarchies`; a column without one has default levels.
        measures: names of loss measures; empty = all.
        beta: the exponent of the height weights of the weighted hierarchical distance, 0 or more; 0 = even.
        distance: of sensitive values: equal, ordered or hierarchical (which needs a tree among the inputs).
        noise_queries: random range queries for the noise, at least 2. seed: of everything random.
        workload: random counting queries; with 0 there are none, and no noise unless `measures` names it.
        queries: the texts of aggregate queries.
        requirements, inputs: for the audit of the release. show_values: whether answers may show their groups.

    Raises:
        UsageError: options that exclude each other, or a number out of its range.
    """

    original: Target
    release: Target
    other: Target | None = None
    requirements: tuple[Requirement, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)
    qi: tuple[str, ...] = option((), NAMES, "Quasi-identifiers, which both tables have.", ROLES, metavar="COLUMNS")
    sensitive: tuple[str, ...] = option(
        (), NAMES, "Sensitive columns, unchanged in the release.", ROLES, metavar="COLUMNS"
    )
    values: Folding | None = values_option()
    hierarchies: Any = option(None, SOURCE, "Hierarchies of the release.", ROLES, metavar="FILE|DIR")
    key: tuple[str, ...] = option((), ORDERED, "Columns that identify a row in both tables.", _PAIRS, metavar="COLUMNS")
    by_position: bool = option(False, FLAG, "Pair rows by their order in both tables.", _PAIRS)
    measures: tuple[str, ...] = option(
        (), NAMES, "Loss measures: loss,entropy … [default: all]", _LOST, metavar="NAMES"
    )
    beta: Fraction = option(
        Fraction(1), NOT_NEGATIVE, "For height weights 1/(j-1)^beta.", _LOST, metavar="NUMBER", shown="1", least=0
    )
    distance: str = option(
        "equal", one_of(*DISTANCES), "Distance of sensitive values, for losses that need it.", _LOST, shown="equal"
    )
    noise_queries: int = option(
        100,
        WHOLE,
        "Number of queries for range-query-noise.",
        _LOST,
        metavar="N",
        shown="100",
        least=2,
        most=MOST_QUERIES,
    )
    queries: tuple[str, ...] = option(
        (), QUERIES, "Aggregate queries (SQL) to run on both tables.", _USE, metavar="FILE"
    )
    workload: int = option(
        0,
        WHOLE,
        "Number of random counting queries, for example 100; also computes range-query-noise.",
        _USE,
        metavar="N",
        shown="0",
        least=0,
        most=MOST_QUERIES,
    )
    seed: int = option(0, WHOLE, "Seed of all random choices.", _USE, metavar="N")
    show_values: bool = option(False, FLAG, "Show the values of the groups of queries.", _USE)

    def __post_init__(self) -> None:
        check_bounds(self)
        chosen(self.measures)
        if not self.qi:
            raise UsageError(f"No quasi-identifiers are named. Name columns of both tables with {spelled('qi')}.")
        if self.key and self.by_position:
            raise UsageError(f"{spelled('key')} and {spelled('by_position', True)} exclude each other: give one.")

    @property
    def wanted(self) -> tuple[Measure, ...]:
        """The measures; that of random queries where these are asked for, or it is named."""
        every = chosen(self.measures)
        return tuple(one for one in every if self.measures or self.workload or one.name != NOISE)

    @property
    def targets(self) -> tuple[Target, ...]:
        """Every table that is read."""
        return (self.original, self.release, *((self.other,) if self.other else ()))
