"""How open a hidden cell has to be: how far its limits are from each other, and from its true value."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

import numpy as np

from sqlaudit.models.cell_rules import CellRule, FewContributors
from sqlaudit.models.margin_rules import NoUnpickableCell
from sqlaudit.tabular.cells import Bools, CellMeasure, TableCells
from sqlaudit.tabular.secondary.intervals import Protection
from sqlaudit.tabular.secondary.structure import Integers
from sqlaudit.tabular.secondary.system import FREE

_SHARE = Fraction(1, 10)
"""How far apart the limits of the sum of an unsafe cell are at least, as a share of it, where nothing else says it."""


def protection_of(
    cells: TableCells, name: str, one: CellMeasure, values: Integers, unsafe: Bools, rules: Sequence[CellRule]
) -> Protection:
    """What is asked of the limits of unsafe cells.

    Sums that a rule on contributions finds unsafe have the protection levels of the Handbook on Statistical Disclosure
    Control: their limits are below and above the true value by as much as lets the rule hold. Others, and what
    `no_unpickable_cell` asks, have a width.

    Args:
        cells: with all their numbers. name, one: of the measure, `count` or `value`. values: its units.
        unsafe: cells that rules find. rules: that were asked for.

    Raises:
        UsageError: a rule that nothing protects from.
    """
    sliding = np.where(unsafe, _width(name, one, values, rules), 0)
    if name != "value":
        return Protection(sliding)
    level = np.where(unsafe, _level(cells, values, rules), 0)
    if not any(rule.name == NoUnpickableCell.name for rule in rules):
        sliding = np.where(level > 0, 0, sliding)
    return Protection(sliding, values, np.minimum(level, values), level)


def _level(cells: TableCells, values: Integers, rules: Sequence[CellRule]) -> Integers:
    """The highest level that a rule asks of each cell, 0 where none does."""
    found = np.zeros_like(values)
    for rule in rules:
        asked = rule.level(cells)
        if asked is not None:
            units, known = asked
            within = np.minimum(np.where(known, units, 0), FREE // 4)  # farther than any limit is
            found = np.maximum(found, within.astype(np.int64))
    return found


def _width(name: str, one: CellMeasure, values: Integers, rules: Sequence[CellRule]) -> Integers:
    """How far apart the limits of an unsafe cell are at least, in units of the measure."""
    asked = [Fraction(rule.values["width"]) for rule in rules if rule.name == NoUnpickableCell.name]
    if asked:
        return np.full_like(values, max(1, ceil(max(asked) * 10**one.places)))
    if name == "count":
        threshold = [int(rule.values["n"]) for rule in rules if rule.name == FewContributors.name]
        return np.full_like(values, max([1, *(n - 1 for n in threshold)]))
    return np.maximum(1, -(-values * _SHARE.numerator // _SHARE.denominator))
