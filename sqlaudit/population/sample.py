"""How a table is a sample: the sizes of its classes, its share of a population, and risk from weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import floor, isfinite, log, log1p

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import OutOfRange, UsageError
from sqlaudit.base.names import shown
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import NUMBERS, Kind, Relation, Statement
from sqlaudit.base.spec import Roles
from sqlaudit.base.sql import render
from sqlaudit.classes.failing import ClassSizes
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine


@dataclass(frozen=True)
class Sample:
    """Classes by size in a random sample without replacement, and the people of the population.

    Args:
        sizes: (members of a class, classes of that size), ascending.
        population: people in the population.

    Raises:
        UsageError: the population is smaller than the sample.
    """

    sizes: tuple[tuple[int, int], ...]
    population: int

    def __post_init__(self) -> None:
        if self.population < self.members:
            raise OutOfRange(
                f"{spelled('population_size')} is {self.population:,}, but the sample has {self.members:,} people. A "
                "population is at least as large as its sample."
            )

    @classmethod
    def of_fraction(cls, sizes: Iterable[tuple[int, int]], fraction: Fraction) -> Sample:
        """Return the sample that is this fraction of its population, in whole people.

        Example:
            >>> Sample.of_fraction([(1, 3), (2, 2)], Fraction(2, 5)).population
            18
        """
        class_sizes = tuple(sizes)
        members = sum(size * classes for size, classes in class_sizes)
        return cls(class_sizes, floor(members / fraction + Fraction(1, 2)))

    @cached_property
    def members(self) -> int:
        """Number of members of the sample."""
        return sum(size * classes for size, classes in self.sizes)

    @cached_property
    def classes(self) -> int:
        """Number of classes with members in the sample."""
        return sum(classes for _, classes in self.sizes)

    @cached_property
    def fraction(self) -> float:
        """Share of the population that is in the sample."""
        return self.members / self.population if self.population else 1.0

    def of_size(self, size: int) -> int:
        """Return the number of classes of this size."""
        return next((classes for members, classes in self.sizes if members == size), 0)


LARGEST = 10**11
"""Upper limit of weights, which are read with at most twelve digits before the point."""


@dataclass(frozen=True)
class SampledFrom:
    """The population of a table, as far as it is known.

    Args:
        fraction: the table's share of it, None for an empty table.
        population: its people, None where only the share is known.
        weighted: True if each row states how many people it stands for.
        rows: rows of the whole sample, also those that were left out of the table.
    """

    fraction: Fraction | None
    population: int | None = None
    weighted: bool = False
    rows: int = 0

    def sample(self, sizes: ClassSizes) -> Sample | None:
        """Return the classes as estimators need them; None without rows.

        Raises:
            UsageError: more members than people.
        """
        if not sizes.members or self.fraction is None:
            return None
        if self.population is not None:
            return Sample(sizes.sizes, self.population)
        return Sample.of_fraction(sizes.sizes, self.fraction)


def resolve_sampling(engine: Engine, relation: Relation, roles: ResolvedRoles, stated: Roles) -> SampledFrom | None:
    """Return the population that the roles state; None when they state none.

    Raises:
        UsageError: weights that are no numbers above 0, or a population smaller than the table.
    """
    sampling = stated.sampling
    if not sampling.given:
        return None
    if roles.weights is not None:
        return _sampling_by_weights(engine, relation, roles.weights, stated)
    (statement,) = sampling_statements(engine.dialect, relation, roles)
    rows, members, *_ = (int(count) for count in engine.run(statement)[0])
    if sampling.sampling_fraction is not None:
        return SampledFrom(sampling.sampling_fraction, rows=sampling.rows or rows)
    assert sampling.population_size is not None
    return replace(_sampling_of(members, sampling.population_size), rows=sampling.rows or rows)


def inputs_with_sampling(
    inputs: Mapping[str, object], engine: Engine, relation: Relation, roles: ResolvedRoles, stated: Roles
) -> Mapping[str, object]:
    """Return the inputs of models with the population that the roles state.

    Raises:
        UsageError: as `resolve_sampling`.
    """
    sampling = resolve_sampling(engine, relation, roles, stated)
    return inputs if sampling is None else {**inputs, "sampling": sampling}


def sampling_statements(dialect: str, relation: Relation, roles: ResolvedRoles) -> tuple[Statement, ...]:
    """Return the statements that find the table's share of the population."""
    if roles.weights is not None:
        return tuple(
            render(template, dialect, step="sampling weights", source=relation, weight=roles.weights)
            for template in ("population/weights.sql", "population/people.sql")
        )
    step = "members of the sample"
    return (render("column_sets/columns_totals.sql", dialect, step=step, source=relation, entity=roles.entity),)


def check_weights(rows: int, refused: int, largest: float | None, column: str) -> None:
    """Check that every weight is a number above 0.

    Raises:
        UsageError: one is missing, 0, negative or too large.
    """
    if refused:
        raise UsageError(
            f"{about('weights')}: {column} is missing, 0 or negative in {refused:,} of {rows:,} rows. Give each row "
            "the number of people it stands for, including itself."
        )
    if largest is not None and not (isfinite(largest) and largest < LARGEST):
        raise UsageError(f"{about('weights')}: {column} has a number that is too large for a number of people.")


def refuse_no_numbers(column: str, kind: Kind) -> None:
    """Check that the weights can be added up.

    Raises:
        UsageError: they are text, dates or truth values.
    """
    if kind not in (*NUMBERS, Kind.OTHER):
        raise UsageError(f"{about('weights')}: the weights in {shown(column)} are not numbers.")


def _sampling_by_weights(engine: Engine, relation: Relation, weights: Resolved, stated: Roles) -> SampledFrom:
    """Return the population by weights.

    Raises:
        UsageError: a column of persons, weights that are no numbers above 0, or a sum below the number of rows.
    """
    if stated.entity is not None:
        raise UsageError(
            f"{spelled('weights')} and {spelled('entity')} exclude each other. Give a table with one row per person."
        )
    refuse_no_numbers(weights.label, weights.kind)
    roles = ResolvedRoles((), (), (), None, weights)
    checking, adding = sampling_statements(engine.dialect, relation, roles)
    rows, refused, largest = engine.run(checking)[0]
    check_weights(int(rows), int(refused), None if largest is None else float(largest), weights.label)
    added = engine.run(adding)[0][0]
    people = round(Fraction(Decimal(str(added)))) if added is not None else 0
    if people < int(rows):
        raise UsageError(
            f"{about('weights')}: {weights.label} adds up to {people:,} people, but there are {int(rows):,} rows. Give "
            "each row the number of people it stands for, including itself."
        )
    return replace(_sampling_of(int(rows), people), weighted=True)


def _sampling_of(members: int, people: int) -> SampledFrom:
    """Return the share of these members in a population of this many people.

    Raises:
        UsageError: more members than people.
    """
    Sample(((1, members),) if members else (), people)
    return SampledFrom(Fraction(members, people) if members else None, people)


_EXACT_TO = 12
_ENOUGH = 1e-17


def individual_risk(members: int, share: float) -> float:
    """Return E[1/F], where F is negative binomial given f members in the sample, each drawn with probability p.

    r(1) = p/q ln(1/p) with q = 1 - p, and r(f+1) = p/q (1/f - r(f)): r(2) = p/q (1 - r(1)), r(3) = p/q (1/2 - r(2)).
    Where p > 1/2, which would lose digits, and for large classes: p/f Σ q^j j!/((f+1)…(f+j)).

    This is the individual risk of Benedetti and Franconi.

    Args:
        members: f, at least 1.
        share: p, above 0; from 1 on all of the class is in the sample, and the risk is 1/f.

    Example:
        >>> round(individual_risk(1, 1 / 17), 6), round(individual_risk(2, 2 / 110), 6)
        (0.177076, 0.017144)
    """
    if share >= 1:
        return 1 / members
    rest = 1 - share
    if members > _EXACT_TO or share > 0.5:
        return share / members * _sum_series(members, rest)
    odds = share / rest
    risk = odds * (-log(share) if share < 0.5 else -log1p(-rest))
    for size in range(1, members):
        risk = odds * (1 / size - risk)
    return risk


def _sum_series(members: int, rest: float) -> float:
    """Return Σ q^j j!/((f+1)…(f+j)) over j from 0."""
    total, term, step = 0.0, 1.0, 0
    while term > _ENOUGH * total:
        total += term
        step += 1
        term *= rest * step / (members + step)
    return total
