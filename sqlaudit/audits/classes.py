"""The worst classes of an audit: the distribution of the sensitive values in them and in the whole table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import Annotated, Literal, TypedDict

from sqlaudit.base.frozen import dataclass
from sqlaudit.base.relation import Row, Statement
from sqlaudit.base.result import AS_FLOAT, FROM_0_TO_1, FROM_1, HERE, LEFT_OUT, NOT_EMPTY, Documented, after, told
from sqlaudit.classes.facts import ClassHistogram, SensitiveTable
from sqlaudit.models.diversity import DISTINCT, LARGEST
from sqlaudit.models.judge import Asked, Judged, merged_facts

# The distribution of sensitive values in the worst classes and in the whole table, for reports.

FAILING = "failing"
LEAST_DIVERSE = "least_diverse"


class _ValueIfShown(TypedDict, total=False):
    """A value that may be shown.

    Args:
        value: the value itself, None when missing; only with `--show-values`, and not for the others together.
    """

    value: object


@dataclass(frozen=True)
class SharedValue(Documented):
    """A sensitive value in the whole table, or the rarest ones together.

    Args:
        rank: its place by frequency in the table, 1 = most frequent (ties in the order of the values); None for the
            others together.
        values: how many values it stands for. total: rows with it (persons with it, where there is an entity column).
        share: the same as a share of all. shown: whether `value` was read, which is None for a missing one.
    """

    rank: Annotated[int, FROM_1] | None
    values: Annotated[int, FROM_1]
    total: int
    share: Annotated[Fraction, FROM_0_TO_1] = field(metadata=AS_FLOAT)
    shown: bool = field(default=False, metadata=LEFT_OUT)
    value: object = field(default=None, repr=False, metadata=LEFT_OUT)

    @told("share", HERE)
    def _known(self) -> _ValueIfShown:
        return {"value": self.value} if self.shown else {}


@dataclass(frozen=True)
class ClassDistribution(Documented):
    """One class, or some with the same counts.

    Args:
        size: rows, or persons when there is an entity column. rows: rows of one such class.
        classes: classes that this entry stands for.
        counts: rows (or persons) with each of the listed values, in their order.
        key: its quasi-identifier values with --show-values, None otherwise.
    """

    size: Annotated[int, FROM_1]
    rows: Annotated[int, FROM_1]
    classes: Annotated[int, FROM_1]
    counts: tuple[int, ...] = field(metadata=after("key"))
    key: Mapping[str, object] | None = field(default=None, repr=False)

    @property
    @told("counts", AS_FLOAT)
    def shares(self) -> tuple[Annotated[Fraction, FROM_0_TO_1], ...]:
        """The counts as shares of the class, exactly."""
        return tuple(Fraction(count, sum(self.counts)) for count in self.counts)


@dataclass(frozen=True)
class WorstClasses(Documented):
    """The worst classes for one sensitive attribute, worst first.

    Args:
        sensitive: the sensitive attribute.
        basis: `failing` when they fail a requirement on the attribute, the largest first; `least_diverse` when
            none does: then those of at least two rows (or persons) with the fewest different values.
        values: values of the whole table, most frequent first: all of up to 20, else the 12 most frequent ones and the
            others together. classes: as many as were asked for (three unless another number was), worst first.
    """

    sensitive: str
    basis: Annotated[str, Literal["failing", "least_diverse"]]
    values: Annotated[tuple[SharedValue, ...], NOT_EMPTY]
    classes: Annotated[tuple[ClassDistribution, ...], NOT_EMPTY]


# The worst classes for a sensitive attribute, with the distribution of its values, from one statement.

MOST_VALUES = 20
"""Up to this many values are listed one by one."""
LISTED_VALUES = 12
"""Number of the most frequent values that are listed if there are more; the others are reported together."""


def worst_classes(
    histogram: ClassHistogram,
    requests: Sequence[Asked],
    judgment: Judged,
    number: int,
    keys: Sequence[str] = (),
    collated: Sequence[bool] = (),
    show_values: bool = False,
) -> WorstClasses | None:
    """Return the worst classes with their distributions; None if there are none.

    Args:
        histogram: the classes of one sensitive attribute.
        requests, judgment: the models, and their results.
        number: the most classes to return.
        keys: labels of q1, q2, … if the histogram has keys that may be shown.
        collated: for each key, whether it is text.
        show_values: whether the sensitive values may be shown.
    """
    table = histogram.table
    if table is None or not table.total:
        return None
    rows = histogram.ask(worst_statement(histogram, requests, judgment.blamed, number, keys, collated))
    if not rows:
        return None
    # lanes that are listed, the most frequent first; the others are reported together
    ranked = sorted(range(table.distinct), key=lambda lane: (-table.totals[lane], lane))
    lanes = ranked if len(ranked) <= MOST_VALUES else ranked[:LISTED_VALUES]
    return WorstClasses(
        table.name,
        FAILING if judgment.blamed else LEAST_DIVERSE,
        _list_values(table, lanes, show_values),
        tuple(_describe_class(histogram, row, keys, lanes) for row in rows),
    )


def worst_statement(
    histogram: ClassHistogram,
    requests: Sequence[Asked],
    blamed: Sequence[str],
    number: int,
    keys: Sequence[str] = (),
    collated: Sequence[bool] = (),
) -> Statement:
    """Return the statement for the worst classes: those of the predicates `blamed`, else the least diverse."""
    models = [request.model for request in requests if request.model.needs_sensitive] if blamed else []
    facts = list({fact.name: fact for fact in (*merged_facts(models), DISTINCT, LARGEST)}.values())
    return histogram.statement(
        "audits/worst_classes.sql",
        facts,
        "distribution in the worst classes",
        condition=" OR ".join("(" + predicate + ")" for predicate in blamed),
        key_names=[f"q{position}" for position, _ in enumerate(keys, 1)],
        collated=list(collated),
        lane_count=histogram.lane_count,
        limit=number,
    )


def _list_values(table: SensitiveTable, lanes: Sequence[int], show_values: bool) -> tuple[SharedValue, ...]:
    """Return the listed values of the table, and the others together."""
    values = [
        SharedValue(
            rank,
            1,
            table.totals[lane],
            Fraction(table.totals[lane], table.total),
            show_values,
            table.values[lane] if show_values else None,
        )
        for rank, lane in enumerate(lanes, 1)
    ]
    rest = table.total - sum(value.total for value in values)
    if len(lanes) < table.distinct:
        values.append(SharedValue(None, table.distinct - len(lanes), rest, Fraction(rest, table.total)))
    return tuple(values)


def _describe_class(
    histogram: ClassHistogram, row: Row, keys: Sequence[str], lanes: Sequence[int]
) -> ClassDistribution:
    """Return a class with its counts of the listed values, and of the others together."""
    size, members, classes, table_rows = (int(number) for number in row[len(keys) : len(keys) + 4])
    counts = histogram.counts_of(row[len(keys) + 4 :])
    listed_counts = [counts[lane] for lane in lanes]
    if len(lanes) < len(counts):
        listed_counts.append(members - sum(listed_counts))
    key = dict(zip(keys, row, strict=False)) if keys else None
    return ClassDistribution(size, table_rows // classes, classes, tuple(listed_counts), key)
