"""Which classes further rows get into: the counts of their values before and after, for an index of disclosure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import NullPolicy, Roles, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import spelled
from sqlaudit.classes.opening import ResolvedRoles, frame_of, resolve_roles
from sqlaudit.engines.contract import Engine

MOST_CELLS = 100_000
"""So many counts of values are read, as numbers in Python must not grow with the rows."""


@dataclass(frozen=True)
class GrownClasses:
    """Classes by the counts of their values: `gone` as they were, `come` as they are with the further rows."""

    gone: tuple[tuple[int, ...], ...]
    come: tuple[tuple[int, ...], ...]
    rows: int


def grown_classes(engine: Engine, tables: Sequence[Target], roles: Roles) -> GrownClasses:
    """What rows of one more table do to the classes of those before it.

    Args:
        engine: where all of them lie. tables: the table, those that came to it already, and last the one that comes
            now. roles: of all of them, with one sensitive attribute.

    Raises:
        UsageError: columns that are not there or hold something else, classes that rows do not add up to, or more
            classes with new rows than are read.
    """
    if roles.entity is not None or roles.nulls is not NullPolicy.EQUAL:
        raise UsageError(
            f"Rows that come are counted as rows, and a missing value as a value like others; leave "
            f"{spelled('entity')} and other ways to read missing values out, or look at both tables as one."
        )
    opened = [_opened(engine, target, roles) for target in tables]
    for relation, found in opened[1:]:
        _check_alike(opened[0][1], found, relation.label)
    statement = render(
        "audits/disclosure/grown.sql",
        engine.dialect,
        step="classes that grow",
        sources=[
            {
                "rows": Raw(relation.sql),
                "columns": [Raw(sql) for sql in frame_of(relation, found, found.sensitive[0], roles).keys],
                "value": Raw(found.sensitive[0].sql),
            }
            for relation, found in opened
        ],
        keys=list(frame_of(*opened[0], opened[0][1].sensitive[0], roles).keys),
        limit=MOST_CELLS + 1,
    )
    cells = [(int(row[0]), int(row[1]), int(row[2])) for row in engine.run(statement)]
    if len(cells) > MOST_CELLS:
        raise UsageError(
            f"The rows that come touch more than {MOST_CELLS:,} counts of values; look at both tables as one."
        )
    return _grown(cells)


def _opened(engine: Engine, target: Target, roles: Roles) -> tuple[Relation, ResolvedRoles]:
    relation = engine.open(target)
    return relation, resolve_roles(roles, relation, engine.dialect)


def _check_alike(first: ResolvedRoles, other: ResolvedRoles, label: str) -> None:
    def columns(roles: ResolvedRoles) -> tuple[Resolved, ...]:
        return (*roles.quasi_identifiers, *roles.sensitive)

    for one, two in zip(columns(first), columns(other), strict=True):
        if one.kind is not two.kind:
            raise UsageError(f"{label}: {two.label} is {two.kind} there and {one.kind} in the table that it comes to.")


def _grown(cells: Sequence[tuple[int, int, int]]) -> GrownClasses:
    gone, come = [], []
    for _, found in groupby(cells, key=lambda cell: cell[0]):
        counts = list(found)
        before = tuple(n for _, n, _ in counts if n)
        gone += [before] if before else []
        come.append(tuple(n for _, _, n in counts))
    return GrownClasses(tuple(gone), tuple(come), sum(map(sum, come)) - sum(map(sum, gone)))
