"""Which classes are worst for a sensitive attribute, and how its values are spread in them: one statement."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from sqlaudit.audits.distribution import FAILING, LEAST_DIVERSE, ClassDistribution, SharedValue, WorstClasses
from sqlaudit.base.relation import Row, Statement
from sqlaudit.classes.facts import ClassHistogram, SensitiveTable
from sqlaudit.models.diversity import DISTINCT, LARGEST
from sqlaudit.models.judge import Asked, Judged, merged_facts

MOST_VALUES = 20
"""Up to this many values are listed one by one."""
LISTED_VALUES = 12
"""Of more values so many are, the most frequent ones of the table; the rest are told together."""
_COUNT = 2**40 - 1


def worst_classes(
    histogram: ClassHistogram,
    asked: Sequence[Asked],
    judged: Judged,
    number: int,
    keys: Sequence[str] = (),
    collated: Sequence[bool] = (),
    show_values: bool = False,
) -> WorstClasses | None:
    """The worst classes with their distributions; None where there are no classes of that kind.

    Args:
        histogram: the classes of one sensitive attribute. asked, judged: the models and what was found of them.
        number: how many classes at most. keys: labels of q1, q2, …, when the histogram holds keys that may be shown.
        collated: which of these are text. show_values: whether the sensitive values may be named.
    """
    table = histogram.table
    if table is None or not table.total:
        return None
    rows = histogram.ask(worst_statement(histogram, asked, judged.blamed, number, keys, collated))
    if not rows:
        return None
    lanes = _listed_lanes(table)
    return WorstClasses(
        table.name,
        FAILING if judged.blamed else LEAST_DIVERSE,
        _values(table, lanes, show_values),
        tuple(_class(row, keys, lanes, table.distinct) for row in rows),
    )


def worst_statement(
    histogram: ClassHistogram,
    asked: Sequence[Asked],
    blamed: Sequence[str],
    number: int,
    keys: Sequence[str] = (),
    collated: Sequence[bool] = (),
) -> Statement:
    """What asks for the worst classes: those of the predicates `blamed`, without one the least diverse."""
    models = [item.model for item in asked if item.model.needs_sensitive] if blamed else []
    wanted = list({fact.name: fact for fact in (*merged_facts(models), DISTINCT, LARGEST)}.values())
    return histogram.statement(
        "audits/worst_classes.sql",
        wanted,
        "distribution in the worst classes",
        condition=" OR ".join("(" + predicate + ")" for predicate in blamed),
        key_names=[f"q{place}" for place, _ in enumerate(keys, 1)],
        collated=list(collated),
        lane_count=histogram.lane_count,
        limit=number,
    )


def _listed_lanes(table: SensitiveTable) -> list[int]:
    """The lanes told one by one, most frequent first; the lanes that are not among them are told together."""
    ranked = sorted(range(table.distinct), key=lambda lane: (-table.totals[lane], lane))
    return ranked if len(ranked) <= MOST_VALUES else ranked[:LISTED_VALUES]


def _values(table: SensitiveTable, lanes: Sequence[int], shown: bool) -> tuple[SharedValue, ...]:
    listed = [
        SharedValue(
            rank,
            1,
            table.totals[lane],
            Fraction(table.totals[lane], table.total),
            shown,
            table.values[lane] if shown else None,
        )
        for rank, lane in enumerate(lanes, 1)
    ]
    rest = table.total - sum(value.total for value in listed)
    if len(lanes) < table.distinct:
        listed.append(SharedValue(None, table.distinct - len(lanes), rest, Fraction(rest, table.total)))
    return tuple(listed)


def _class(row: Row, keys: Sequence[str], lanes: Sequence[int], distinct: int) -> ClassDistribution:
    size, n, classes, table_rows = (int(value) for value in row[len(keys) : len(keys) + 4])
    counts = _counts(row[len(keys) + 4 :], distinct)
    listed = [counts[lane] for lane in lanes]
    if len(lanes) < distinct:
        listed.append(n - sum(listed))
    key = dict(zip(keys, row, strict=False)) if keys else None
    return ClassDistribution(size, table_rows // classes, classes, tuple(listed), key)


def _counts(given: Sequence[Any], distinct: int) -> list[int]:
    """The counts by lane, from one column a lane or from one list of cells."""
    if len(given) == distinct and not isinstance(given[0], list):
        return [int(count) for count in given]
    counts = [0] * distinct
    for cell in given[0]:
        counts[int(cell) >> 40] = int(cell) & _COUNT
    return counts
