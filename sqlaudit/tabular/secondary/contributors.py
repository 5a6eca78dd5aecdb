"""What somebody who is alone in a hidden cell deduces: they know its value, and so more of the other cells."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from sqlaudit.tabular.secondary.intervals import Deduced, deduce, end_of, late
from sqlaudit.tabular.secondary.structure import Booleans, Equations, Integers
from sqlaudit.tabular.secondary.system import FREE, PublishedTable, blocks_of, determined, system_of


@dataclass(frozen=True)
class Insiders:
    """The narrowest interval of each hidden cell that somebody alone in another hidden cell can deduce.

    Args:
        low, high, least, most: as in `Deduced`, of the same cells; those of an outsider where no insider knows more.
        by: the cell whose contributor knows most, -1 where nobody knows more than an outsider.
        asked: how many contributors were asked. unfinished: `time` when some were not, else empty.
    """

    low: Integers
    high: Integers
    least: Integers
    most: Integers
    by: Integers
    asked: int
    unfinished: str = ""

    def instead(self, outsider: Deduced) -> Deduced:
        """These intervals in the place of those of an outsider."""
        return replace(outsider, low=self.low, high=self.high, least=self.least, most=self.most)


def ask_contributors(
    table: PublishedTable, outsider: Deduced, alone: Booleans, values: Integers, *, seconds: float | None = None
) -> Insiders:
    """What those who are alone in a hidden cell deduce of the others in its block.

    Args:
        table: what is published. outsider: what everybody deduces. alone: cells of the table with one contributor.
        values: the true values of these. seconds: how long it may take.

    Raises:
        Contradiction: the value of a contributor fits no table.
    """
    system = system_of(table)
    done = determined(system)
    blocks = blocks_of(system, done)
    found = Insiders(
        outsider.low.copy(),
        outsider.high.copy(),
        outsider.least.copy(),
        outsider.most.copy(),
        np.full(len(outsider.cells), -1, dtype=np.int64),
        0,
    )
    asked, end = 0, end_of(seconds)
    for column in np.flatnonzero(alone[outsider.cells] & ~done.known).tolist():
        if late(end):
            return replace(found, asked=asked, unfinished="time")
        columns = np.flatnonzero(blocks.of_column == blocks.of_column[column])
        mine = int(outsider.cells[column])
        part, cells = _part(table, outsider.cells[columns], np.flatnonzero(done.known), outsider)
        here = int(np.searchsorted(cells, mine))
        part.hidden[here], part.values[here] = False, int(values[mine])
        left = None if end is None else max(0.0, end - time.monotonic())
        _narrow(found, outsider.cells, deduce(part, seconds=left), cells, mine)
        asked += 1
    return replace(found, asked=asked)


def _part(
    table: PublishedTable, hidden: Integers, determined_columns: Integers, outsider: Deduced
) -> tuple[PublishedTable, Integers]:
    """The equations of some hidden cells as a table of its own, and the numbers of its cells in the whole one."""
    values, still = table.values.copy(), table.hidden.copy()
    settled = outsider.cells[determined_columns]
    values[settled], still[settled] = outsider.low[determined_columns] // outsider.scale, False
    chosen = np.zeros(len(values), dtype=np.bool_)
    chosen[hidden] = True
    kept = np.flatnonzero(table.equations.touching(chosen))
    starts = np.concatenate([[0], np.cumsum(np.diff(table.equations.starts)[kept])]).astype(np.int64)
    parts = np.concatenate([np.zeros(0, dtype=np.int64), *(table.equations.parts_of(one) for one in kept.tolist())])
    totals = table.equations.totals[kept]
    cells = np.unique(np.concatenate([totals, parts]))
    equations = Equations(len(cells), np.searchsorted(cells, totals), starts, np.searchsorted(cells, parts))
    part = PublishedTable(
        equations, values[cells], still[cells], table.lower[cells], table.upper[cells], whole=table.whole
    )
    return part, cells


def _narrow(found: Insiders, hidden: Integers, deduced: Deduced, cells: Integers, mine: int) -> None:
    """Keep what is narrower than what anybody knew before."""
    columns = np.searchsorted(hidden, cells[deduced.cells])
    before = _width(found.low[columns], found.high[columns])
    better = _width(deduced.low, deduced.high) < before
    better |= (_width(deduced.least, deduced.most) < _width(found.least[columns], found.most[columns])) & (
        _width(deduced.low, deduced.high) == before
    )
    at = columns[better]
    found.low[at], found.high[at] = deduced.low[better], deduced.high[better]
    found.least[at], found.most[at] = deduced.least[better], deduced.most[better]
    found.by[at] = mine


def _width(low: Integers, high: Integers) -> Integers:
    return np.where((low <= -FREE) | (high >= FREE), FREE, high - low)
