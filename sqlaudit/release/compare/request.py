"""The request to compare a release with its original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import (
    FLAG,
    NAMES,
    NOT_NEGATIVE,
    ORDERED,
    QUERIES,
    SOURCE,
    TABLE,
    WHOLE,
    Given,
    OptionKind,
    check_bounds,
    choice,
    one_of,
    option,
    part,
)
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.spec import (
    LOOK,
    ROLES,
    Folding,
    NullPolicy,
    Requirement,
    Target,
    make_target,
    name_from,
    values_option,
)
from sqlaudit.models.measures import NOISE, Measure, chosen
from sqlaudit.models.required import inputs_option, requirements_part

DISTANCES = ("equal", "ordered", "hierarchical")

MOST_QUERIES = 10_000

_PAIRS, _LOST, _USE, _SYNTHETIC = "Pairing of rows", "Information loss", "Queries", "Synthetic data"
_SHARED = (
    "original",
    "release",
    "requirements",
    "qi",
    "sensitive",
    "values",
    "show_values",
    "seed",
    "inputs",
    "hierarchies",
)
"""What a comparison of any kind takes."""
_OF_SYNTHETIC = ("synthetic", "holdout", "known", "nulls")
"""What only a comparison of synthetic data takes."""
_KEY = OptionKind(ORDERED.name, ORDERED.read, python=NAMES.python)


def _table(given: Given, parameter: str) -> Target | None:
    """Return a table as a target, read as the others are; None if there is none.

    Raises:
        UsageError: its name is empty.
    """
    table = given.get(parameter)
    if isinstance(table, str) and not table:
        raise UsageError("Every table needs a name, but one is empty.")
    if table is None:
        return None
    name = name_from(given, parameter, is_main=parameter == "release")
    return make_target(table, read=given.get("read"), role=parameter, name=name, frame=parameter)


def _needed_table(given: Given, parameter: str) -> Target:
    """Return a table as `_table` does. Raise UsageError if there is none, as for every target."""
    return _table(given, parameter) or make_target(None)


def _release(given: Given, parameter: str) -> Target:
    """Return the release, with the table of values of one in buckets."""
    return make_target(_needed_table(given, parameter), buckets=given.get("buckets"))


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
        synthetic: whether the release is a synthetic table, whose rows are not people. holdout: people who were not
            used for it. known: how many quasi-identifiers somebody knows who does not know all; 0 = not asked.
        nulls: how a missing quasi-identifier is read, of synthetic data.
        requirements, inputs: for the audit of the release. show_values: whether answers may show their groups.

    Raises:
        UsageError: options that exclude each other, or a number out of its range.
    """

    original: Target = part(_needed_table, parameters=("original", "name"), kind="original")
    release: Target = part(_release, parameters=("release", "read", "buckets"), kind="release")
    other: Target | None = option(
        None,
        TABLE,
        "Another release, to compare how coarse both are.",
        LOOK,
        _table,
        flags=("--other-release",),
        metavar="TABLE",
    )
    holdout: Target | None = option(
        None, TABLE, "With --synthetic: people who were not used for the release.", LOOK, _table, metavar="TABLE"
    )
    qi: tuple[str, ...] = option(
        (), NAMES, "Quasi-identifiers, which both tables have.", ROLES, metavar="COLUMNS", needed=True
    )
    sensitive: tuple[str, ...] = option(
        (), NAMES, "Sensitive columns, unchanged in the release.", ROLES, metavar="COLUMNS"
    )
    values: Folding | None = values_option()
    hierarchies: Any = option(None, SOURCE, "Hierarchies of the release.", ROLES, metavar="FILE|DIR")
    key: tuple[str, ...] = option((), _KEY, "Columns that identify a row in both tables.", _PAIRS, metavar="COLUMNS")
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
    show_values: bool = option(
        False, FLAG, "Show values: the groups of queries, the most common sensitive value.", _USE
    )
    synthetic: bool = option(
        False, FLAG, "RELEASE is synthetic: measure what it discloses of the original's people.", _SYNTHETIC
    )
    known: int = option(
        0,
        WHOLE,
        "With --synthetic: also all sets of 1 to N known quasi-identifiers.",
        _SYNTHETIC,
        metavar="1..3",
        shown="0",
        least=0,
        most=3,
    )
    nulls: NullPolicy = option(
        NullPolicy.EQUAL,
        choice(NullPolicy),
        "With --synthetic: missing quasi-identifiers equal each other, or equal nothing.",
        _SYNTHETIC,
        shown="equal",
    )
    requirements: tuple[Requirement, ...] = requirements_part("OF_COMPARISONS", default=())
    inputs: Mapping[str, Any] = inputs_option()

    def __post_init__(self) -> None:
        check_bounds(self)
        chosen(self.measures)
        if not self.qi:
            raise UsageError(f"No quasi-identifiers are named. Name columns of both tables with {spelled('qi')}.")
        if self.key and self.by_position:
            raise UsageError(f"{spelled('key')} and {spelled('by_position', True)} exclude each other: give one.")
        self._refuse_others()
        if self.requirements and not self.synthetic:
            from sqlaudit.models.registry import OF_SYNTHETIC

            if (found := next((one for one in self.requirements if one.model in OF_SYNTHETIC), None)) is not None:
                raise UsageError(f"{found.text!r} is about synthetic data. Add {spelled('synthetic', True)}.")

    def _refuse_others(self) -> None:
        """Nothing, unless an option is given that has no meaning for this kind of release."""
        given = [one.name for one in fields(self) if one.name not in _SHARED and self._is_given(one.name)]
        if not self.synthetic and (extra := [name for name in given if name in _OF_SYNTHETIC]):
            raise UsageError(f"{about(extra[0])} is for synthetic data: add {spelled('synthetic', True)}.")
        if not self.synthetic:
            return
        if extra := [name for name in given if name not in _OF_SYNTHETIC] or ["inputs"][: len(self.inputs)]:
            raise UsageError(
                f"{about(extra[0])} does not apply to synthetic data, whose rows are not people. Leave it out."
            )
        if self.release.buckets is not None:
            raise UsageError(f"{about('buckets')} does not apply to synthetic data. Leave it out.")
        if self.nulls is NullPolicy.WILDCARD:
            raise UsageError(
                f"{spelled('nulls', 'wildcard')} does not apply to synthetic data: a missing value that matches any "
                f"value has no group. Use {spelled('nulls', 'equal')} or {spelled('nulls', 'distinct')}."
            )

    def _is_given(self, name: str) -> bool:
        value = getattr(self, name)
        return bool(value) and value != next(one.default for one in fields(self) if one.name == name)

    @property
    def wanted(self) -> tuple[Measure, ...]:
        """The measures; that of random queries where these are asked for, or it is named."""
        every = chosen(self.measures)
        return tuple(one for one in every if self.measures or self.workload or one.name != NOISE)

    @property
    def targets(self) -> tuple[Target, ...]:
        """Every table that is read."""
        return tuple(one for one in (self.original, self.release, self.other, self.holdout) if one is not None)
