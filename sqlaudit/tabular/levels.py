"""Hidden sums whose largest contributions are given: whether what is published leaves them as open as a rule asks.

The second largest contributor takes the upper limit of the cell for its value, subtracts what they know, and has an
estimate of the largest. So a hidden cell is open enough when the rule would let it be published with its upper limit as
its value: that is the upper protection level of the Handbook on Statistical Disclosure Control, in which the value
itself cancels out.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sqlaudit.base.whole_arrays import times
from sqlaudit.models.cell_rules import CellRule
from sqlaudit.tabular.cells import Bools, CellMeasure, TableCells
from sqlaudit.tabular.secondary.structure import Integers
from sqlaudit.tabular.secondary.system import FREE


def hidden_with_contributions(cells: TableCells, rule: CellRule) -> Bools:
    """Hidden sums of which all the contributions are given that a rule looks at."""
    found = np.zeros(len(cells), dtype=np.bool_)
    value = cells.read_through.value
    top = cells.top(rule.contributions) if rule.contributions else None
    if value is None or top is None:
        return found
    some: Bools = ~value.known & top.known
    return some


def judged_at_limits(cells: TableCells, rule: CellRule) -> tuple[Bools, Bools]:
    """Which of these are not open enough, and of which that is decided.

    A proven upper limit that is too low is unsafe; one that occurs in a table that fits, and is high enough, is safe.
    """
    asked = hidden_with_contributions(cells, rule)
    unsafe, judged = np.zeros_like(asked), np.zeros_like(asked)
    found = next((one.deduced for one in cells.unpicked if one.measure == "value" and not one.loose), None)
    if found is None or not bool(asked.any()):
        return unsafe, judged
    own = np.flatnonzero(found.cells < len(cells))
    at = found.cells[own]
    unsafe[at] = _falls_short(cells, rule, at, found.high[own], found.scale)
    free = found.high[own] >= FREE
    reached = np.where(free, FREE, np.minimum(found.most[own], found.high[own]))
    judged[at] = ~_falls_short(cells, rule, at, reached, found.scale)
    return unsafe & asked, (judged | unsafe) & asked


def _falls_short(cells: TableCells, rule: CellRule, at: Integers, limits: Integers, scale: int) -> Bools:
    """What a rule says of some cells, if limits in parts of a unit were their values."""
    assert cells.value is not None
    which = np.zeros(len(cells), dtype=np.bool_)
    which[at] = True
    some = cells.some(which)
    order = np.argsort(at, kind="stable")
    value = CellMeasure(limits[order], np.ones(len(at), dtype=np.bool_), cells.value.places)
    largest = tuple(replace(one, units=times(one.units, scale)) for one in some.largest)
    verdicts = rule.verdicts(replace(some, value=value, largest=largest))
    found = np.zeros(len(at), dtype=np.bool_)
    found[order] = verdicts.unsafe & (limits[order] < FREE)
    return found
