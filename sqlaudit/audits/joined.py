"""A bucketized release whose two tables were joined by mistake: every person beside every value of the bucket.

Five persons and five values make 25 rows, and k would be 25. Such a table is told by its numbers alone: each class has
a square number of rows, and in it values and other columns are independent of each other, to the row. Joined with
values and their counts, a class has each value once for each person, and the counts add up to the persons. Where rows
have an identifier of their own the first cannot be, and neither where persons are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt

from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.relation import ColumnInfo, Kind, Relation
from sqlaudit.base.spec import NullPolicy, Roles, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import spelled
from sqlaudit.classes.found import ClassSizes
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.count_tables import counts_beside, without_role


def refuse_joined(
    engine: Engine, target: Target, relation: Relation, roles: ResolvedRoles, given: Roles, sizes: ClassSizes
) -> None:
    """Nothing, unless the table is a join of the two tables of a bucketized release. Runs a statement where all sizes
    of classes are squares, or where a column without a role is called like a count, which both are rare.

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
    counts = counts_beside(relation, roles) if roles.sensitive else []
    if sizes.all_squares and _is_product(engine, relation, roles):
        raise UsageError(_said(relation.label, smallest, isqrt(smallest)))
    persons = next(filter(None, (_persons_of(engine, relation, roles, count) for count in counts)), None)
    if persons is not None:
        raise UsageError(_said(relation.label, smallest, persons))


def _is_product(engine: Engine, relation: Relation, roles: ResolvedRoles) -> bool:
    """Whether each class is all of its persons beside all of its values."""
    others = without_role(relation, roles)
    if any(column.kind is Kind.OTHER for column in others):  # not everything can be grouped
        return False
    columns = [Raw(quote(column.name, engine.dialect)) for column in others]
    for persons, values in _splits(columns, [Raw(role.sql) for role in roles.sensitive]):
        statement = render(
            "audits/joined.sql",
            engine.dialect,
            step="joined buckets",
            source=Raw(relation.sql),
            keys=[Raw(role.sql) for role in roles.quasi_identifiers],
            others=persons,
            sensitive=values,
        )
        odd, telling = (int(number) for number in engine.run(statement)[0])
        if not odd and telling:
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
    return (
        f"{label} looks like the two tables of a bucketized release, joined: in each class every person is beside "
        f"every value, so that the smallest one has {smallest:,} rows for {persons:,} persons. Give the table "
        f"of persons, and that of values with {spelled('buckets')}. If each row is a person, name a column that tells "
        f"them apart with {spelled('entity')}, or give the table a column that numbers its rows."
    )
