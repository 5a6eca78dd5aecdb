"""Columns that say the same as another one: copies, and the same values under other names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlaudit.base.relation import Relation
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.columns import Source
from sqlaudit.profiles.result import ColumnFacts, Twins

MOST_PAIRS = 20


def find_twins(
    engine: Engine, relation: Relation, sources: Sequence[Source], facts: Sequence[ColumnFacts]
) -> tuple[Twins, ...]:
    """Pairs of columns each of which follows from the other; one statement, and only where group sizes agree.

    Two columns in which every value is unique always follow from each other, so they count only when they are equal.
    Columns that were looked at in a sample are left out. `facts` are those of `sources`, in the same order.
    """
    pairs = list(_candidates(facts))[:MOST_PAIRS]
    if not pairs:
        return ()
    used = sorted({position for pair in pairs for position in pair})
    statement = render(
        "profiles/profile_pairs.sql",
        engine.dialect,
        source=Raw(relation.sql),
        columns=[sources[position].parameters() for position in used],
        pairs=[(used.index(first), used.index(second)) for first, second in pairs],
    )
    found = []
    for number, groups, differing in engine.run(statement):
        first, second = (facts[position] for position in pairs[int(number)])
        says_the_same = int(groups) == _groups(first)
        if says_the_same and (not differing or first.unique_rows != first.rows):
            found.append(Twins(first.name, second.name, not differing))
    return tuple(found)


def _candidates(facts: Sequence[ColumnFacts]) -> Iterator[tuple[int, int]]:
    """Pairs whose groups have the same sizes, as far as the facts tell; each with the first of its likes."""
    firsts: dict[object, int] = {}
    for position, column in enumerate(facts):
        if not column.exact or column.constant or column.entropy is None:
            continue
        sizes = (column.smallest_group, column.rows_below_5, column.unique_rows, round(column.entropy, 9))
        first = firsts.setdefault((_groups(column), *sizes), position)
        if first != position:
            yield first, position


def _groups(column: ColumnFacts) -> int:
    """Groups of equal values, NULL being one."""
    return column.distinct + (column.nulls > 0)
