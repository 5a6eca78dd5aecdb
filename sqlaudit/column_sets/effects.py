"""What each column contributes: how often it is in a found set, and what leaving it out or coarsening it would save."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from sqlaudit.base.relation import Kind, Relation
from sqlaudit.base.sql import environment
from sqlaudit.column_sets.budget import STOPPED, by_hand
from sqlaudit.column_sets.coding import on_target
from sqlaudit.column_sets.counting import Figures, SetCounter
from sqlaudit.column_sets.masks import bits, mask_of
from sqlaudit.column_sets.result import ColumnSet, ColumnSets, Effect
from sqlaudit.column_sets.selection import Chosen

_MOST_COLUMNS = 25
_FEW = 4
"""So many columns are left out one by one; more of them together first."""
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
    without shares where the search was stopped before they were counted."""
    times = Counter(position for mask in minimal for position in bits(mask))
    told = sorted(times, key=lambda position: (-times[position], position))[:_MOST_COLUMNS]
    uncounted = tuple(Effect(chosen[position].name, times[position]) for position in told)
    if counter.stop():
        return replace(result, effects=uncounted)
    effects: list[Effect] = []
    try:
        top, at_risk = _at_risk_without(told, counter, (1 << len(chosen)) - 1)
        for position in told:
            share, without = _share(top.at_risk, counter.total), _share(at_risk[position], counter.total)
            effect = Effect(chosen[position].name, times[position], share, without)
            effects.append(
                effect if counter.stop() else _coarsened(effect, position, counter, relation, chosen, person)
            )
    except STOPPED as why:
        return replace(result, effects=(*effects, *uncounted[len(effects) :]), _by_hand=by_hand(why))
    return replace(result, effects=tuple(effects), whole=described(top, result.columns, counter, top))


def _at_risk_without(told: Sequence[int], counter: SetCounter, everything: int) -> tuple[Figures, dict[int, int]]:
    """The figures of all columns, and for each of some columns the rows (persons) at risk without it.

    A set puts nobody at risk whom all columns do not put at risk. So where a subset is known to put as many at risk as
    all columns, every column outside it changes nothing, and columns are left out together as long as that holds.

    Raises:
        BudgetSpent: before all was counted.
    """
    alone = [everything ^ 1 << column for column in told]
    at_once = len(told) <= _FEW and everything not in counter.known
    top = counter.figures([everything, *alone] if at_once else [everything])[0]
    proofs = [mask for mask, figures in counter.known.items() if figures.at_risk == top.at_risk and mask != everything]
    needed = [column for column in told if all(mask >> column & 1 for mask in proofs)]
    at_risk = dict.fromkeys(told, top.at_risk)
    groups = [[column] for column in needed] if counter.on_cluster else _parts(needed)
    while groups:
        counted = counter.figures([everything & ~mask_of(group) for group in groups])
        falling = []
        for group, figures in zip(groups, counted, strict=True):
            if len(group) == 1:
                at_risk[group[0]] = figures.at_risk
            elif figures.at_risk < top.at_risk:
                falling += _parts(group)
        groups = falling
    return top, at_risk


def _parts(columns: Sequence[int]) -> list[list[int]]:
    """Two halves that both have frequent and rare columns, or the columns one by one where there are few."""
    return [list(columns[::2]), list(columns[1::2])] if len(columns) > _FEW else [[column] for column in columns]


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
    """The effect with the share at risk once the column is replaced by a coarser one, where there is a natural one.

    The coarser column says no more than the column and no less than none: where these two put as many at risk, so does
    the coarser one.
    """
    column = chosen[position]
    macro = "bands" if column.kind in _BANDED else "prefix" if column.kind is Kind.TEXT else ""
    if not macro or (macro == "bands" and counter.on_cluster):  # bands want all rows in order on one machine
        return effect
    words = "ten bands" if macro == "bands" else "its first two characters"
    if effect.without == effect.at_risk:
        return replace(effect, coarsened=effect.at_risk, coarsening=words)
    module = environment().get_template("column_sets/_columns_coarser.sql").module
    expression = str(getattr(module, macro)(column.sql, counter.database.dialect)).strip()
    replaced = [replace(one, sql=expression) if one is column else one for one in chosen]
    coded = on_target(counter.coded, relation, replaced, person)
    other = SetCounter(counter.database, coded, counter.k, counter.nulls)
    at_risk = other.figures([(1 << len(chosen)) - 1])[0].at_risk
    return replace(effect, coarsened=_share(at_risk, counter.total), coarsening=words)


def _share(count: int, total: int) -> Fraction:
    return Fraction(count, total) if total else Fraction(0)
