"""A bucketized release whose two tables were joined by mistake: every person beside every value of the bucket.

Five persons and five values make 25 rows, and k would be 25. Such a table is told by its numbers alone: each class has
a square number of rows, and in it values and other columns are independent of each other, to the row. Where rows have
an identifier of their own this cannot be, nor where persons are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt

from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.relation import Kind, Relation
from sqlaudit.base.spec import NullPolicy, Roles, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import spelled
from sqlaudit.classes.found import ClassSizes
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine


def refuse_joined(
    engine: Engine, target: Target, relation: Relation, roles: ResolvedRoles, given: Roles, sizes: ClassSizes
) -> None:
    """Nothing, unless the table is a join of the two tables of a bucketized release. Runs a statement where all sizes
    of classes are squares, which is rare.

    Args:
        engine: where the table lies. target: what was asked for. relation: the table, with all columns.
        roles: as they were found there. given: as they were named. sizes: of the classes.

    Raises:
        UsageError: it is.
    """
    if not sizes.all_squares:
        return
    named = {role.column for role in (*roles.quasi_identifiers, *roles.sensitive)}
    others = [column for column in relation.columns if column.name not in named]
    persons_counted = roles.entity is not None or given.nulls is NullPolicy.WILDCARD
    if persons_counted or target.buckets is not None or not others:
        return
    if any(column.kind is Kind.OTHER for column in others):  # not everything can be grouped
        return
    keys = [Raw(role.sql) for role in roles.quasi_identifiers]
    columns = [Raw(quote(column.name, engine.dialect)) for column in others]
    for persons, values in _splits(columns, [Raw(role.sql) for role in roles.sensitive]):
        statement = render(
            "audits/joined.sql",
            engine.dialect,
            step="joined buckets",
            source=Raw(relation.sql),
            keys=keys,
            others=persons,
            sensitive=values,
        )
        odd, telling = (int(number) for number in engine.run(statement)[0])
        if not odd and telling:
            raise UsageError(_said(relation.label, sizes.sizes[0][0]))


def _splits(others: list[Raw], sensitive: list[Raw]) -> Iterator[tuple[list[Raw], list[Raw]]]:
    """Which columns may be those of persons, and which those of values: as was said, else each column by itself."""
    if sensitive:
        yield others, sensitive
    elif len(others) > 1:
        yield from ((others[:place] + others[place + 1 :], [column]) for place, column in enumerate(others))


def _said(label: str, smallest: int) -> str:
    return (
        f"{label} looks like the two tables of a bucketized release, joined: in each class every person is beside "
        f"every value, so that the smallest one has {smallest:,} rows for {isqrt(smallest):,} persons. Give the table "
        f"of persons, and that of values with {spelled('buckets')}. If each row is a person, name a column that tells "
        f"them apart with {spelled('entity')}, or give the table a column that numbers its rows."
    )
