"""Brute force: every privacy model straight from its definition, over rows, in fractions. Slow, short and obvious.

Nothing here knows how the package computes. A table is a list of dicts (column to value). Logarithms are compared with
60 digits, except where a condition can be decided in whole numbers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

Row = Mapping[str, Any]
INFINITY = math.inf


@dataclass(frozen=True)
class Group:
    """An equivalence class, or (NULL as wildcard) the rows that one row matches.

    `size` = rows or persons, `rows` = rows of the table it stands for, `counts` = value to rows or persons.
    """

    size: int
    rows: int
    counts: Mapping[Any, int]
    key: tuple[Any, ...] = ()

    @property
    def n(self) -> int:
        return sum(self.counts.values())

    @property
    def ranked(self) -> list[int]:
        return sorted(self.counts.values(), reverse=True)


@dataclass(frozen=True)
class Table:
    """The classes of a table for one sensitive attribute, and that attribute's totals over the table."""

    groups: list[Group]
    totals: Mapping[Any, int]
    per_row: bool = False
    order: Sequence[Any] = field(default=())

    @property
    def total(self) -> int:
        return sum(self.totals.values())

    @property
    def rows(self) -> int:
        return sum(group.rows for group in self.groups)

    def share(self, value: Any) -> Fraction:
        return Fraction(self.totals[value], self.total)


def comparable(value: Any) -> Any:
    """NaN equals itself in a database, and no two NaNs are told apart."""
    return "not a number" if isinstance(value, float | Decimal) and math.isnan(value) else value


def rank_of(value: Any) -> Any:
    """A sort key that puts NaN after everything else."""
    return (1, 0) if value == "not a number" else (0, value)


def table_of(
    rows: Sequence[Row], qi: Sequence[str], sensitive: str | None, entity: str | None = None, nulls: str = "equal"
) -> Table:
    """The classes of `rows`: a list of rows each, then counted."""
    members = _neighbourhoods(rows, qi) if nulls == "wildcard" else _classes(rows, qi, nulls)
    standing_for = 1 if nulls == "wildcard" else None
    groups = [
        Group(
            _size(group, entity),
            standing_for or len(group),
            _counts(group, sensitive, entity),
            tuple(comparable(first[q]) for q in qi),
        )
        for first, group in members
    ]
    totals = _counts(rows, sensitive, entity)
    order = [] if None in totals else sorted(totals, key=rank_of)
    return Table(groups, totals, nulls == "wildcard", order)


def _classes(rows: Sequence[Row], qi: Sequence[str], nulls: str) -> list[tuple[Row, list[Row]]]:
    found: dict[Any, list[Row]] = {}
    for position, row in enumerate(rows):
        key = tuple(comparable(row[q]) for q in qi)
        alone = nulls == "distinct" and None in key
        found.setdefault((key, position if alone else None), []).append(row)
    return [(group[0], group) for group in found.values()]


def _neighbourhoods(rows: Sequence[Row], qi: Sequence[str]) -> list[tuple[Row, list[Row]]]:
    def match(one: Row, other: Row) -> bool:
        pairs = [(comparable(one[q]), comparable(other[q])) for q in qi]
        return all(a is None or b is None or a == b for a, b in pairs)

    return [(row, [other for other in rows if match(row, other)]) for row in rows]


def _size(group: Sequence[Row], entity: str | None) -> int:
    return len(group) if entity is None else len({row[entity] for row in group})


def _counts(group: Sequence[Row], sensitive: str | None, entity: str | None) -> dict[Any, int]:
    if sensitive is None:
        return {None: len(group)}
    if entity is None:
        return dict(Counter(comparable(row[sensitive]) for row in group))
    pairs = {(row[entity], comparable(row[sensitive])) for row in group}
    return dict(Counter(value for _, value in pairs))


@dataclass(frozen=True)
class Expected:
    """What an audit must say: the level, and with a limit the verdict and what falls short (None = not said)."""

    level: Any
    holds: bool | None
    failing_classes: int | None
    failing_rows: int | None
    failing: tuple[Group, ...] = ()


Satisfied = Callable[[Group], bool]


def by_class(table: Table, level: Any, satisfied: Satisfied) -> Expected:
    """A model that every class must satisfy."""
    failing = tuple(group for group in table.groups if not satisfied(group))
    return Expected(level, not failing, len(failing), sum(group.rows for group in failing), failing)


def worst(values: Iterable[Any], fold: Callable[..., Any]) -> Any:
    return fold(values, default=None)


# --- sizes ---


def k_anonymity(table: Table, k: int) -> Expected:
    return by_class(table, worst((g.size for g in table.groups), min), lambda g: g.size >= k)


def prosecutor_risk(table: Table, risk: Fraction) -> Expected:
    level = worst((Fraction(1, g.size) for g in table.groups), max)
    return by_class(table, level, lambda g: Fraction(1, g.size) <= risk)


def _members(table: Table) -> list[Group]:
    """One group a member, so that means and shares run over rows (or persons in their classes)."""
    if table.per_row:
        return list(table.groups)
    return [group for group in table.groups for _ in range(group.size)]


def average_risk(table: Table, risk: Fraction) -> Expected:
    risks = [Fraction(1, g.size) for g in _members(table)]
    level = sum(risks) / len(risks) if risks else None
    return Expected(level, None if level is None else level <= risk, None, None)


def _share(table: Table, at_risk: Satisfied, limit: Fraction) -> Expected:
    members = _members(table)
    level = Fraction(sum(at_risk(g) for g in members), len(members)) if members else None
    failing = tuple(g for g in table.groups if at_risk(g))
    holds = None if level is None else level <= limit
    return Expected(level, holds, len(failing), sum(g.rows for g in failing), failing if holds is False else ())


def rows_at_risk(table: Table, share: Fraction, threshold: Fraction = Fraction(1, 5)) -> Expected:
    return _share(table, lambda g: Fraction(1, g.size) > threshold, share)


def sample_uniqueness(table: Table, share: Fraction) -> Expected:
    return _share(table, lambda g: g.size == 1, share)


# --- diversity ---


def alpha_k_anonymity(table: Table, alpha: Fraction, k: int = 1) -> Expected:
    def largest_share(g: Group) -> Fraction:
        return Fraction(max(g.counts.values()), g.n)

    level = worst((largest_share(g) for g in table.groups), max)
    return by_class(table, level, lambda g: g.size >= k and largest_share(g) <= alpha)


def distinct_l_diversity(table: Table, l: int) -> Expected:
    return by_class(table, worst((len(g.counts) for g in table.groups), min), lambda g: len(g.counts) >= l)


def entropy(counts: Iterable[int]) -> float:
    counts = list(counts)
    n = sum(counts)
    return -math.fsum(c / n * math.log(c / n) for c in counts)


def entropy_at_least(counts: Sequence[int], l: Fraction) -> bool:
    """−Σ p log p ≥ log l, as n^n ≥ l^n Π c^c."""
    n = sum(counts)
    return bool(n**n * l.denominator**n >= l.numerator**n * math.prod(c**c for c in counts))


def entropy_l_diversity(table: Table, l: Fraction) -> Expected:
    level = worst((math.exp(entropy(g.ranked)) for g in table.groups), min)
    return by_class(table, level, lambda g: entropy_at_least(g.ranked, l))


def recursive_c_l_diversity(table: Table, c: Fraction, l: int = 2) -> Expected:
    def infimum(g: Group) -> Any:
        if l == 1:
            return Fraction(0)
        tail = sum(g.ranked[l - 1 :])
        return Fraction(g.ranked[0], tail) if tail else INFINITY

    def satisfied(g: Group) -> bool:
        return l == 1 or g.ranked[0] < c * sum(g.ranked[l - 1 :])

    return by_class(table, worst(map(infimum, table.groups), max), satisfied)


# --- closeness to the table ---


def equal_distance(table: Table, g: Group) -> Fraction:
    return sum((abs(Fraction(g.counts.get(v, 0), g.n) - table.share(v)) for v in table.totals), Fraction(0)) / 2


def ordered_distance(table: Table, g: Group) -> Fraction:
    """The work of moving the class's distribution to the table's, one step between neighbouring ranks at a time."""
    carried, work = Fraction(0), Fraction(0)
    for value in table.order:
        carried += Fraction(g.counts.get(value, 0), g.n) - table.share(value)
        work += abs(carried)
    return work / (len(table.order) - 1) if len(table.order) > 1 else Fraction(0)


def t_closeness(table: Table, t: Fraction) -> Expected:
    level = worst((equal_distance(table, g) for g in table.groups), max)
    return by_class(table, level, lambda g: equal_distance(table, g) <= t)


def t_closeness_ordered(table: Table, t: Fraction) -> Expected:
    level = worst((ordered_distance(table, g) for g in table.groups), max)
    return by_class(table, level, lambda g: ordered_distance(table, g) <= t)


def gains(table: Table, g: Group) -> dict[Any, Fraction]:
    """(p − P)/P of the values that are more frequent in the class than in the table."""
    shares = {v: Fraction(c, g.n) for v, c in g.counts.items()}
    return {v: (p - table.share(v)) / table.share(v) for v, p in shares.items() if p > table.share(v)}


def basic_beta_likeness(table: Table, beta: Fraction) -> Expected:
    level = worst((max(gains(table, g).values(), default=Fraction(0)) for g in table.groups), max)
    return by_class(table, level, lambda g: all(gain <= beta for gain in gains(table, g).values()))


def logarithm(value: Fraction) -> Fraction:
    """ln with 60 digits, as a fraction."""
    with localcontext() as context:
        context.prec = 60
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).ln())


def enhanced_beta_likeness(table: Table, beta: Fraction) -> Expected:
    def within(g: Group) -> bool:
        return all(gain <= -logarithm(table.share(v)) for v, gain in gains(table, g).items())

    def gain_of(g: Group) -> Any:
        return max(gains(table, g).values(), default=Fraction(0)) if within(g) else INFINITY

    satisfied = [g for g in table.groups if within(g) and all(gain <= beta for gain in gains(table, g).values())]
    return by_class(table, worst(map(gain_of, table.groups), max), lambda g: g in satisfied)


def log_ratios(table: Table, g: Group) -> list[Fraction]:
    """|ln(p/P)| of the values that occur in the class."""
    return [abs(logarithm(Fraction(c, g.n) / table.share(v))) for v, c in g.counts.items()]


def delta_disclosure_privacy(table: Table, delta: Fraction) -> Expected:
    def ratio(g: Group) -> Any:
        return max(log_ratios(table, g)) if len(g.counts) == len(table.totals) else INFINITY

    level = worst(map(ratio, table.groups), max)
    return by_class(table, level, lambda g: ratio(g) < delta)


def delta_present(table: Table) -> Any:
    """The largest |ln(p/P)| when absent values are left out."""
    return worst((max(log_ratios(table, g)) for g in table.groups), max)


MODELS: dict[str, Callable[..., Expected]] = {
    function.__name__: function
    for function in (
        k_anonymity,
        alpha_k_anonymity,
        distinct_l_diversity,
        entropy_l_diversity,
        recursive_c_l_diversity,
        t_closeness,
        t_closeness_ordered,
        basic_beta_likeness,
        enhanced_beta_likeness,
        delta_disclosure_privacy,
        prosecutor_risk,
        average_risk,
        rows_at_risk,
        sample_uniqueness,
    )
}
