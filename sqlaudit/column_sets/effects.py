"""What each column contributes: how often it is in a found set, and what leaving it out or coarsening it would save."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from sqlaudit.base.relation import Kind, Relation
from sqlaudit.base.sql import environment
from sqlaudit.column_sets.budget import BudgetSpent
from sqlaudit.column_sets.coding import on_target
from sqlaudit.column_sets.counting import Figures, SetCounter
from sqlaudit.column_sets.masks import bits
from sqlaudit.column_sets.result import ColumnSet, ColumnSets, Effect
from sqlaudit.column_sets.selection import Chosen

_MOST_COLUMNS = 25
_BANDED = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.DATE, Kind.TIMESTAMP, Kind.TIME)


def column_effects(
    result: ColumnSets,
    minimal: Sequence[int],
    counter: SetCounter,
    relation: Relation,
    chosen: Sequence[Chosen],
    person: Chosen | None,
) -> ColumnSets:
    """The result with its effects: for every column in a found set, reported or not, the most frequent ones first;
    without shares where the time budget ended before they were counted."""
    times = Counter(position for mask in minimal for position in bits(mask))
    everything = (1 << len(chosen)) - 1
    told = sorted(times, key=lambda position: (-times[position], position))[:_MOST_COLUMNS]
    masks = [everything, *(everything ^ 1 << position for position in told)]
    uncounted = tuple(Effect(chosen[position].name, times[position]) for position in told)
    if counter.stop():
        return replace(result, effects=uncounted)
    try:
        figures = counter.figures(masks)
    except BudgetSpent:
        return replace(result, effects=uncounted)
    shares = [_share(one.at_risk, counter.total) for one in figures]
    effects = []
    for position, without in zip(told, shares[1:], strict=True):
        name = chosen[position].name
        effect = Effect(name, times[position], shares[0], without)
        effects.append(effect if counter.stop() else _coarsened(effect, position, counter, relation, chosen, person))
    whole = described(figures[0], result.columns, counter, figures[0])
    return replace(result, effects=tuple(effects), whole=whole)


def described(figures: Figures, columns: tuple[str, ...], counter: SetCounter, top: Figures | None) -> ColumnSet:
    """Figures as reports show them, with their shares; `top` are the figures of all columns together."""
    rows, total = counter.coded.rows, counter.total
    share = Fraction(figures.at_risk, total) if total else Fraction(0)
    pairs = rows * (rows - 1)
    return ColumnSet(
        columns,
        figures.classes,
        figures.min_size,
        figures.at_risk,
        figures.unique,
        share,
        distinction=Fraction(figures.classes, top.classes) if top and top.classes and figures.classes else None,
        distinct_share=Fraction(figures.classes, rows) if rows and figures.classes is not None else None,
        separation=1 - Fraction(figures.pairs, pairs) if pairs and figures.pairs is not None else None,
    )


def _coarsened(
    effect: Effect,
    position: int,
    counter: SetCounter,
    relation: Relation,
    chosen: Sequence[Chosen],
    person: Chosen | None,
) -> Effect:
    """The effect with the share at risk once the column is replaced by a coarser one, where there is a natural one."""
    column = chosen[position]
    macro = "bands" if column.kind in _BANDED else "prefix" if column.kind is Kind.TEXT else ""
    if not macro or (macro == "bands" and counter.on_cluster):  # bands want all rows in order on one machine
        return effect
    module = environment().get_template("column_sets/_columns_coarser.sql").module
    expression = str(getattr(module, macro)(column.sql, counter.database.dialect)).strip()
    replaced = [replace(one, sql=expression) if one is column else one for one in chosen]
    coded = on_target(counter.coded, relation, replaced, person)
    other = SetCounter(counter.database, coded, counter.k, counter.nulls)
    at_risk = other.figures([(1 << len(chosen)) - 1])[0].at_risk
    words = "ten bands" if macro == "bands" else "its first two characters"
    return replace(effect, coarsened=_share(at_risk, counter.total), coarsening=words)


def _share(count: int, total: int) -> Fraction:
    return Fraction(count, total) if total else Fraction(0)
