"""A bucketized release whose two tables were joined by mistake, so that each person has every value of the bucket.

Five people and five values make 25 rows, and k would be 25. Such a table is recognized by its numbers alone: each class
has a square number of rows, and in it values and other columns are independent of each other, to the row. If the table
of values has counts, a class has each value once for each person, and the counts add up to the people. Where rows have
an identifier of their own, or where people are counted, the table is no such join.

Where three classes or more have the very same people and values, nothing was joined: all columns were crossed, as in a
balanced survey or trial.

Where the quasi-identifiers are those of the people, a class is not a bucket but a person, repeated for each value of
the bucket. Then another column is that of the buckets, and its classes have such squares.
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
"""Number of classes with the same cells from which on a table is a balanced design: buckets differ in their people."""


def refuse_joined(
    engine: Engine, target: Target, relation: Relation, roles: ResolvedRoles, requested: Roles, sizes: ClassSizes
) -> None:
    """Refuse a table that is a join of the two tables of a bucketized release.

    A statement runs only if all class sizes are squares or a column without a role is named like a count; and one for
    each column that may have the buckets if all sizes are multiples of one number. All of these are rare.

    Args:
        engine: the engine with the table.
        target: the table as requested.
        relation: the opened table, with all columns.
        roles: the roles as resolved.
        requested: the roles as requested.
        sizes: the sizes of the classes.

    Raises:
        UsageError: the table is such a join.
    """
    persons_counted = roles.entity is not None or requested.nulls is NullPolicy.WILDCARD
    if persons_counted or target.buckets is not None or not sizes.sizes:
        return
    smallest = sizes.sizes[0][0]
    counts = roleless_counts(relation, roles) if roles.sensitive else []
    roleless = _quote_roleless(relation, roles, engine.dialect) if sizes.all_squares else None
    class_keys = [Raw(role.sql) for role in roles.quasi_identifiers]
    if roleless is not None and _is_product(engine, relation, roles, class_keys, roleless):  # classes are buckets
        raise UsageError(_describe_join(relation.label, smallest, isqrt(smallest)))
    if _is_join_by_person(engine, relation, roles, sizes):
        raise UsageError(_describe_join(relation.label, smallest, 1))
    persons = next(filter(None, (_find_persons_of_join(engine, relation, roles, count) for count in counts)), None)
    if persons is not None:
        raise UsageError(_describe_join(relation.label, smallest, persons))


def _is_join_by_person(engine: Engine, relation: Relation, roles: ResolvedRoles, sizes: ClassSizes) -> bool:
    """True if classes are people, and a column has the buckets, in which each person has every value."""
    others = _quote_roleless(relation, roles, engine.dialect) if sizes.all_multiples else None
    if others is None:
        return False
    columns = [*others, *(Raw(role.sql) for role in roles.quasi_identifiers)]
    return any(
        _is_product(engine, relation, roles, [bucket], [*columns[:position], *columns[position + 1 :]])
        for position, bucket in enumerate(columns)
        if len(columns) > 1
    )


def _quote_roleless(relation: Relation, roles: ResolvedRoles, dialect: str) -> list[Raw] | None:
    """Return the quoted columns without a role; None if one of them cannot be grouped."""
    roleless = unassigned_columns(relation, roles)
    if any(column.kind is Kind.OTHER for column in roleless):
        return None
    return [Raw(quote(column.name, dialect)) for column in roleless]


def _is_product(engine: Engine, relation: Relation, roles: ResolvedRoles, keys: list[Raw], others: list[Raw]) -> bool:
    """True if each class of the keys combines all of its people with all of its values."""
    for persons, values in _split_columns(others, [Raw(role.sql) for role in roles.sensitive]):
        statement = render(
            "audits/joined.sql",
            engine.dialect,
            step="joined buckets",
            source=Raw(relation.sql),
            keys=keys,
            others=persons,
            sensitive=values,
        )
        mismatches, evidence, differing, classes = (int(number) for number in engine.run(statement)[0])
        is_design = not differing and classes >= BALANCED
        if not mismatches and evidence and not is_design:
            return True
    return False


def _find_persons_of_join(engine: Engine, relation: Relation, roles: ResolvedRoles, count: ColumnInfo) -> int | None:
    """Return the fewest people of a class if each has every value with its count; None if this is no such join."""
    statement = render(
        "audits/joined_counts.sql",
        engine.dialect,
        step="joined counts of buckets",
        source=Raw(relation.sql),
        keys=[Raw(role.sql) for role in roles.quasi_identifiers],
        sensitive=[Raw(role.sql) for role in roles.sensitive],
        count=Raw(quote(count.name, engine.dialect)),
    )
    mismatches, evidence, persons = engine.run(statement)[0]
    return None if mismatches or not evidence else int(persons)


def _split_columns(others: list[Raw], sensitive: list[Raw]) -> Iterator[tuple[list[Raw], list[Raw]]]:
    """Yield columns that may be those of people, and those of values: by their roles, else each column in turn."""
    if sensitive and others:
        yield others, sensitive
    elif not sensitive and len(others) > 1:
        yield from ((others[:position] + others[position + 1 :], [column]) for position, column in enumerate(others))


def _describe_join(label: str, smallest: int, persons: int) -> str:
    people = "1 person" if persons == 1 else f"{persons:,} people"
    return (
        f"{label} looks like the two tables of a bucketized release, joined: each group combines every person with "
        f"every value, so the smallest has {smallest:,} rows for {people}. Audit the table of people, and name the "
        f"table of values with {spelled('buckets')}. If each row is a person, name a column that identifies people "
        f"with {spelled('entity')}, or add a column that numbers the rows."
    )
