"""The worst classes of an audit, and how the sensitive values are spread in them and in the whole table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import Annotated, Any, Literal, TypedDict

from sqlaudit.base.frozen import dataclass
from sqlaudit.base.relation import Row, Statement
from sqlaudit.base.result import AS_FLOAT, FROM_0_TO_1, FROM_1, HERE, LEFT_OUT, NOT_EMPTY, Documented, after, told
from sqlaudit.classes.facts import ClassHistogram, SensitiveTable
from sqlaudit.models.diversity import DISTINCT, LARGEST
from sqlaudit.models.judge import Asked, Judged, merged_facts

# How the sensitive values of the worst classes are spread, beside the whole table. Read by reports.

FAILING = "failing"
LEAST_DIVERSE = "least_diverse"


class _ValueIfShown(TypedDict, total=False):
    """A value that may be shown.

    Args:
        value: the value itself, None when missing; only with `--show-values`, and not for the others together.
    """

    value: Any


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
    value: Any = field(default=None, repr=False, metadata=LEFT_OUT)

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
    key: Mapping[str, Any] | None = field(default=None, repr=False)

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


# Which classes are worst for a sensitive attribute, and how its values are spread in them: one statement.

MOST_VALUES = 20
"""Up to this many values are listed one by one."""
LISTED_VALUES = 12
"""Of more values so many are, the most frequent ones of the table; the rest are told together."""


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
    # The lanes told one by one, most frequent first; the others are told together
    ranked = sorted(range(table.distinct), key=lambda lane: (-table.totals[lane], lane))
    lanes = ranked if len(ranked) <= MOST_VALUES else ranked[:LISTED_VALUES]
    return WorstClasses(
        table.name,
        FAILING if judged.blamed else LEAST_DIVERSE,
        _values(table, lanes, show_values),
        tuple(_class(histogram, row, keys, lanes) for row in rows),
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


def _class(histogram: ClassHistogram, row: Row, keys: Sequence[str], lanes: Sequence[int]) -> ClassDistribution:
    size, n, classes, table_rows = (int(value) for value in row[len(keys) : len(keys) + 4])
    counts = histogram.counts_of(row[len(keys) + 4 :])
    listed = [counts[lane] for lane in lanes]
    if len(lanes) < len(counts):
        listed.append(n - sum(listed))
    key = dict(zip(keys, row, strict=False)) if keys else None
    return ClassDistribution(size, table_rows // classes, classes, tuple(listed), key)
