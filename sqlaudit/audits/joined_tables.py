"""A bucketized release whose two tables were joined by mistake: every person beside every value of the bucket.

Five persons and five values make 25 rows, and k would be 25. Such a table is told by its numbers alone: each class has
a square number of rows, and in it values and other columns are independent of each other, to the row. Joined with
values and their counts, a class has each value once for each person, and the counts add up to the persons. Where rows
have an identifier of their own the first cannot be, and neither where persons are counted.

Where three classes or more have the very same persons and values, nothing was joined: everything was crossed with
everything, as in a balanced survey or trial.

Where quasi-identifiers are those of the persons, a class is not the bucket but a person, so many times as the bucket
has values. Then another column is that of the buckets, and has such squares.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt

from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import ColumnInfo, Kind, Relation
from sqlaudit.base.spec import NullPolicy, Roles, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.failing import ClassSizes
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.names import roleless_counts, unassigned_columns

BALANCED = 3
"""From so many classes on that have the same cells, a table is a balanced design: buckets differ in their persons."""


def refuse_joined(
    engine: Engine, target: Target, relation: Relation, roles: ResolvedRoles, given: Roles, sizes: ClassSizes
) -> None:
    """Nothing, unless the table is a join of the two tables of a bucketized release. Runs a statement where all sizes
    of classes are squares or where a column without a role is called like a count, and one for each column that may
    have the buckets where all sizes are multiples of one number, all of which are rare.

    Args:
        engine: where the table lies. target: what was asked for. relation: the table, with all columns.
        roles: as they were found there. given: as they were named. sizes: of the classes.

    Raises:
        UsageError: it is.
    """
    persons_counted = roles.entity is not None or given.nulls is NullPolicy.WILDCARD
    if persons_counted or target.buckets is not None or not sizes.sizes:
        return
    smallest = sizes.sizes[0][0]
    counts = roleless_counts(relation, roles) if roles.sensitive else []
    others = _others(relation, roles, engine.dialect) if sizes.all_squares else None
    known = [Raw(role.sql) for role in roles.quasi_identifiers]
    if others is not None and _is_product(engine, relation, roles, known, others):  # classes are buckets
        raise UsageError(_said(relation.label, smallest, isqrt(smallest)))
    if _has_squares_of_persons(engine, relation, roles, sizes):
        raise UsageError(_said(relation.label, smallest, 1))
    persons = next(filter(None, (_persons_of(engine, relation, roles, count) for count in counts)), None)
    if persons is not None:
        raise UsageError(_said(relation.label, smallest, persons))


def _has_squares_of_persons(engine: Engine, relation: Relation, roles: ResolvedRoles, sizes: ClassSizes) -> bool:
    """Whether classes are persons, and some column is that of buckets, in which each person is beside each value."""
    others = _others(relation, roles, engine.dialect) if sizes.all_multiples else None
    if others is None:
        return False
    columns = [*others, *(Raw(role.sql) for role in roles.quasi_identifiers)]
    return any(
        _is_product(engine, relation, roles, [bucket], [*columns[:place], *columns[place + 1 :]])
        for place, bucket in enumerate(columns)
        if len(columns) > 1
    )


def _others(relation: Relation, roles: ResolvedRoles, dialect: str) -> list[Raw] | None:
    """The columns without a role; None where not everything can be grouped."""
    others = unassigned_columns(relation, roles)
    if any(column.kind is Kind.OTHER for column in others):
        return None
    return [Raw(quote(column.name, dialect)) for column in others]


def _is_product(engine: Engine, relation: Relation, roles: ResolvedRoles, keys: list[Raw], others: list[Raw]) -> bool:
    """Whether each class of some keys is all of its persons beside all of its values."""
    for persons, values in _splits(others, [Raw(role.sql) for role in roles.sensitive]):
        statement = render(
            "audits/joined.sql",
            engine.dialect,
            step="joined buckets",
            source=Raw(relation.sql),
            keys=keys,
            others=persons,
            sensitive=values,
        )
        odd, telling, unlike, classes = (int(number) for number in engine.run(statement)[0])
        is_design = not unlike and classes >= BALANCED
        if not odd and telling and not is_design:
            return True
    return False


def _persons_of(engine: Engine, relation: Relation, roles: ResolvedRoles, count: ColumnInfo) -> int | None:
    """The fewest persons of a class where each is beside every value and its count; None where this is no such join."""
    statement = render(
        "audits/joined_counts.sql",
        engine.dialect,
        step="joined counts of buckets",
        source=Raw(relation.sql),
        keys=[Raw(role.sql) for role in roles.quasi_identifiers],
        sensitive=[Raw(role.sql) for role in roles.sensitive],
        count=Raw(quote(count.name, engine.dialect)),
    )
    odd, telling, persons = engine.run(statement)[0]
    return None if odd or not telling else int(persons)


def _splits(others: list[Raw], sensitive: list[Raw]) -> Iterator[tuple[list[Raw], list[Raw]]]:
    """Which columns may be those of persons, and which those of values: as was said, else each column by itself."""
    if sensitive and others:
        yield others, sensitive
    elif not sensitive and len(others) > 1:
        yield from ((others[:place] + others[place + 1 :], [column]) for place, column in enumerate(others))


def _said(label: str, smallest: int, persons: int) -> str:
    people = "1 person" if persons == 1 else f"{persons:,} people"
    return (
        f"{label} looks like the two tables of a bucketized release, joined: each group combines every person with "
        f"every value, so the smallest has {smallest:,} rows for {people}. Audit the table of people, and name the "
        f"table of values with {spelled('buckets')}. If each row is a person, name a column that identifies people "
        f"with {spelled('entity')}, or add a column that numbers the rows."
    )
