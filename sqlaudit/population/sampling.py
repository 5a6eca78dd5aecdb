"""How the table is a sample: the share that was named, or the one that follows from the population or the weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Kind, Relation, Statement
from sqlaudit.base.spec import Roles
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import about, spelled
from sqlaudit.classes.found import ClassSizes
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine
from sqlaudit.population.sample import Sample

LARGEST = 10**11
"""Weights are read as numbers of at most twelve digits before the point."""


@dataclass(frozen=True)
class SampledFrom:
    """What is known of the population of a table.

    Args:
        fraction: the table's share of it, None for an empty table. population: its people, None where only the share is
            known. weighted: whether each row says how many people it stands for.
    """

    fraction: Fraction | None
    population: int | None = None
    weighted: bool = False

    def sample(self, sizes: ClassSizes) -> Sample | None:
        """The classes as estimators see them; None without rows.

        Raises:
            UsageError: more members than people.
        """
        if not sizes.members or self.fraction is None:
            return None
        if self.population is not None:
            return Sample(sizes.sizes, self.population)
        return Sample.of_fraction(sizes.sizes, self.fraction)


def sampled_from(engine: Engine, relation: Relation, roles: ResolvedRoles, given: Roles) -> SampledFrom | None:
    """What the roles say of the population; None when they say nothing.

    Raises:
        UsageError: weights that are no numbers above 0, or a population smaller than the table.
    """
    sampling = given.sampling
    if sampling.sampling_fraction is not None:
        return SampledFrom(sampling.sampling_fraction)
    if not sampling.given:
        return None
    if roles.weights is not None:
        return _of_weights(engine, relation, roles.weights, given)
    assert sampling.population_size is not None
    (statement,) = sampling_statements(engine.dialect, relation, roles, given)
    return _share_of(int(engine.run(statement)[0][1]), sampling.population_size)


def inputs_with_sampling(
    inputs: Mapping[str, Any], engine: Engine, relation: Relation, roles: ResolvedRoles, given: Roles
) -> Mapping[str, Any]:
    """Inputs of models, with what the roles say of the population.

    Raises:
        UsageError: as `sampled_from`.
    """
    found = sampled_from(engine, relation, roles, given)
    return inputs if found is None else {**inputs, "sampling": found}


def sampling_statements(dialect: str, relation: Relation, roles: ResolvedRoles, given: Roles) -> tuple[Statement, ...]:
    """What is asked of the table to know its share of the population."""
    source = Raw(relation.sql)
    if roles.weights is not None:
        return tuple(
            render(template, dialect, step="sampling weights", source=source, weight=Raw(roles.weights.sql))
            for template in ("population/weights.sql", "population/people.sql")
        )
    if given.sampling.population_size is None:
        return ()
    entity = Raw(roles.entity.sql) if roles.entity else None
    return (
        render("column_sets/columns_totals.sql", dialect, step="members of the sample", source=source, entity=entity),
    )


def check_weights(rows: int, refused: int, largest: float | None, column: str) -> None:
    """Nothing when every weight is a number above 0.

    Raises:
        UsageError: one is missing, 0, negative or too large.
    """
    if refused:
        raise UsageError(
            f"{about('weights')}: {column} is missing, 0 or negative in {refused:,} of {rows:,} rows; a weight says "
            "how many people of the population a row stands for, itself included."
        )
    if largest is not None and not (isfinite(largest) and largest < LARGEST):
        raise UsageError(f"{about('weights')}: {column} holds a number too large to be a number of people.")


def refuse_no_numbers(column: str, kind: Kind) -> None:
    """Nothing when the weights can be added up.

    Raises:
        UsageError: they are text, dates or truth values.
    """
    if kind not in (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.OTHER):
        raise UsageError(f"{about('weights')}: the weights in {column!r} are not numbers.")


def _of_weights(engine: Engine, relation: Relation, weights: Resolved, given: Roles) -> SampledFrom:
    if given.entity is not None:
        raise UsageError(
            f"{spelled('weights')} says how many people a row stands for, and {spelled('entity')} that several rows "
            "are about one person; give a table with one row a person."
        )
    refuse_no_numbers(weights.label, weights.kind)
    roles = ResolvedRoles((), (), (), None, weights)
    checking, adding = sampling_statements(engine.dialect, relation, roles, given)
    rows, refused, largest = engine.run(checking)[0]
    check_weights(int(rows), int(refused), None if largest is None else float(largest), weights.label)
    added = engine.run(adding)[0][0]
    people = round(Fraction(Decimal(str(added)))) if added is not None else 0
    if people < int(rows):
        raise UsageError(
            f"{about('weights')}: {weights.label} adds up to {people:,} people, but there are {int(rows):,} rows; a "
            "weight says how many people of the population a row stands for, itself included."
        )
    return replace(_share_of(int(rows), people), weighted=True)


def _share_of(members: int, people: int) -> SampledFrom:
    """Members of a population of so many people.

    Raises:
        UsageError: more members than people.
    """
    Sample(((1, members),) if members else (), people)
    return SampledFrom(Fraction(members, people) if members else None, people)
