"""The interval of each hidden cell that published ones leave, and the sum of equations that proves it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sqlaudit.base.solver import available
from sqlaudit.tabular.secondary.programs import Block, Prober
from sqlaudit.tabular.secondary.system import (
    FREE,
    Booleans,
    Equations,
    Integers,
    PublishedTable,
    System,
    limits_of,
    starts_of,
    system_of,
)

# The interval of each hidden cell that published cells and totals leave, and whether it is wide enough.
#
# An interval has two sides of the truth: outer limits, beyond which no value fits (proven), and inner ones, which occur
# in tables that fit (found). They are equal unless a budget ended the search. A cell is unsafe when even the outer
# interval is too narrow, safe when the inner one is wide enough, and undecided between: never safe by mistake.

FRACTIONS = 12
"""Values that need not be whole are computed in twelfths of their unit: corners of small tables are such parts."""


@dataclass(frozen=True)
class Deduced:
    """What an attacker can deduce of the hidden cells.

    Args:
        cells: the numbers of the hidden cells.
        low, high: limits that hold for every table that fits, -FREE or FREE where there is none.
        least, most: values in tables that were found to fit; the limits where exact.
        scale: limits are in units of the values divided by this.
        unfinished: why the search ended early: `time`, `solver` or empty.
    """

    cells: Integers
    low: Integers
    high: Integers
    least: Integers
    most: Integers
    scale: int
    unfinished: str = ""

    @property
    def known(self) -> Booleans:
        """The cells that an attacker knows exactly."""
        return np.asarray(self.low == self.high, dtype=np.bool_)


@dataclass(frozen=True)
class Protection:
    """How wide the intervals of hidden cells must be (Handbook on Statistical Disclosure Control, section 4.2).

    Args:
        sliding: upper minus lower limit, of each cell of the table; 0 where a cell needs none.
        values: the true values, where they are known.
        below, above: how far the interval reaches below and above these.
    """

    sliding: Integers
    values: Integers | None = None
    below: Integers | None = None
    above: Integers | None = None


def deduce(table: PublishedTable, *, seconds: float | None = None, asked: int | None = None) -> Deduced:
    """The interval of each hidden cell.

    Args:
        table: what is published.
        seconds: how long programs may run in all, None = as long as they need.
        asked: only so many of the table's first cells are searched by programs, None = all.

    Raises:
        Contradiction: no table fits. UsageError: the values are too large for exact sums.
        EngineError: the solver failed.
    """
    scale = 1 if table.whole else FRACTIONS
    scaled = table.scaled(scale)
    system = system_of(scaled)
    blocks = system.blocks
    low, high = limits_of(system, scaled.lower[system.cells], scaled.upper[system.cells])
    settled = np.append(blocks.tree, True)[blocks.of_column]  # -1, the last one: a determined cell
    least, most = np.where(settled, low, FREE), np.where(settled, high, -FREE)
    found = Deduced(system.cells, low, high, least, most, scale)
    if blocks.tree.all():
        return found
    if not available():
        return replace(found, unfinished="solver")
    wanted = system.cells < (len(table.hidden) if asked is None else asked)
    return _search(system, found, wanted, table.whole, end_of(seconds))


def _search(system: System, found: Deduced, wanted: Booleans, whole: bool, end: float | None) -> Deduced:
    """Search the limits that single equations leave open, block by block, the smallest first, and change them in place.

    Args:
        wanted: the columns that are searched.
    """
    blocks, why = system.blocks, ""
    cyclic = np.flatnonzero(~blocks.tree)
    sizes = np.bincount(blocks.of_column[blocks.of_column >= 0], minlength=blocks.number)
    for number in cyclic[np.argsort(sizes[cyclic], kind="stable")].tolist():
        if late(end):
            return replace(found, unfinished="time")
        columns, block = block_of(system, number, found.low, found.high, whole)
        prober = Prober(block, end)
        for cell, sign in prober.open():
            if wanted[columns[cell]]:
                prober.probe(cell, sign)
            if late(end):  # a program may have stopped before its end: what it proved until then is kept
                why = "time"
                break
        for name in ("low", "high", "least", "most"):
            getattr(found, name)[columns] = getattr(prober, name)
    return replace(found, unfinished=why)


@dataclass(frozen=True)
class CellVerdicts:
    """Which hidden cells are too well known.

    Args:
        unsafe: even the widest interval that is possible is too narrow.
        undecided: it is not proven that they are safe.
    """

    unsafe: Booleans
    undecided: Booleans


def judge(deduced: Deduced, protection: Protection) -> CellVerdicts:
    """Which hidden cells have an interval narrower than they need."""
    unsafe = ~_wide_enough(deduced.low, deduced.high, deduced, protection)
    safe = _wide_enough(deduced.least, deduced.most, deduced, protection)
    return CellVerdicts(unsafe, ~safe & ~unsafe)


def _wide_enough(low: Integers, high: Integers, deduced: Deduced, protection: Protection) -> Booleans:
    cells, scale = deduced.cells, deduced.scale
    wide = _width(low, high) >= protection.sliding[cells] * scale
    if protection.values is not None and protection.below is not None:
        wide &= low <= (protection.values - protection.below)[cells] * scale
    if protection.values is not None and protection.above is not None:
        wide &= high >= (protection.values + protection.above)[cells] * scale
    return np.asarray(wide, dtype=np.bool_)


def _width(low: Integers, high: Integers) -> Integers:
    return np.where((low <= -FREE) | (high >= FREE), FREE, high - low)


def end_of(seconds: float | None) -> float | None:
    """When so much time is used up, by `time.monotonic`; None = never."""
    return None if seconds is None else time.monotonic() + seconds


def seconds_left(end: float | None, least: float = 0.0) -> float | None:
    """The seconds until then, but at least so many; None where there is no end."""
    return None if end is None else max(least, end - time.monotonic())


def late(end: float | None) -> bool:
    """Whether the time is used up."""
    return end is not None and time.monotonic() >= end


def block_of(system: System, number: int, low: Integers, high: Integers, whole: bool) -> tuple[Integers, Block]:
    """One block, with its columns in the system."""
    done, blocks = system.done, system.blocks
    columns, rows = np.flatnonzero(blocks.of_column == number), np.flatnonzero(blocks.of_row == number)
    entries = np.flatnonzero((blocks.of_row[system.rows] == number) & ~done.known[system.columns])
    return columns, Block(
        np.searchsorted(rows, system.rows[entries]),
        np.searchsorted(columns, system.columns[entries]),
        system.signs[entries],
        done.right[rows],
        low[columns],
        high[columns],
        whole,
    )


@dataclass(frozen=True)
class Insiders:
    """The narrowest interval of each hidden cell that somebody alone in another hidden cell can deduce.

    Args:
        low, high, least, most: as in `Deduced`, of the same cells; those of an outsider where no insider knows more.
        by: the cell whose contributor knows most, -1 where nobody knows more than an outsider.
        unfinished: `time` when some were not, else empty.
    """

    low: Integers
    high: Integers
    least: Integers
    most: Integers
    by: Integers
    unfinished: str = ""

    def instead(self, outsider: Deduced) -> Deduced:
        """These intervals in the place of those of an outsider."""
        return replace(outsider, low=self.low, high=self.high, least=self.least, most=self.most)


def ask_contributors(
    table: PublishedTable, outsider: Deduced, alone: Booleans, values: Integers, *, seconds: float | None = None
) -> Insiders:
    """What those who are alone in a hidden cell deduce of the others in its block.

    Args:
        table: what is published.
        outsider: what everybody deduces.
        alone: cells of the table with one contributor.
        values: the true values of these.
        seconds: how long it may take.

    Raises:
        Contradiction: the value of a contributor fits no table.
    """
    system = system_of(table)
    known, block = system.done.known, system.blocks.of_column
    nobody = np.full(len(outsider.cells), -1, dtype=np.int64)
    low, high, least, most = (one.copy() for one in (outsider.low, outsider.high, outsider.least, outsider.most))
    found, end = Insiders(low, high, least, most, nobody), end_of(seconds)
    for column in np.flatnonzero(alone[outsider.cells] & ~known).tolist():
        if late(end):
            return replace(found, unfinished="time")
        mine = int(outsider.cells[column])
        part, cells = _part(table, outsider.cells[block == block[column]], np.flatnonzero(known), outsider)
        here = int(np.searchsorted(cells, mine))
        part.hidden[here], part.values[here] = False, int(values[mine])
        _narrow(found, outsider.cells, deduce(part, seconds=seconds_left(end)), cells, mine)
    return found


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
    starts = starts_of(np.diff(table.equations.starts)[kept])
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
    before, now = _width(found.low[columns], found.high[columns]), _width(deduced.low, deduced.high)
    nearer = _width(deduced.least, deduced.most) < _width(found.least[columns], found.most[columns])
    better = (now < before) | nearer & (now == before)
    at = columns[better]
    found.low[at], found.high[at] = deduced.low[better], deduced.high[better]
    found.least[at], found.most[at] = deduced.least[better], deduced.most[better]
    found.by[at] = mine


# Which published numbers together give a limit of a hidden cell: a sum of equations, so that anybody can add it up.


@dataclass(frozen=True)
class Proof:
    """A sum that bounds a hidden cell.

    `times` · the cell is at least, or exactly (`exact`), the sum of weight · value of `published`, plus weight · limit
    of `limits`: hidden cells of which only a limit is known, such as zero.

    Args:
        cell: the hidden cell.
        times: how often the sum counts it.
        published, limits: (cell, weight), in order of cells.
        equations: the numbers of the equations that are added up.
        exact: it is the value, with nothing left open.
    """

    cell: int
    times: int
    published: tuple[tuple[int, int], ...]
    limits: tuple[tuple[int, int], ...]
    equations: tuple[int, ...]
    exact: bool


class Prover:
    """Finds proofs for the cells of one table, as many as are asked for.

    Args:
        table: what is published.

    Raises:
        Contradiction: no table fits. UsageError: the values are too large for exact sums.
    """

    def __init__(self, table: PublishedTable) -> None:
        self._scaled = table.scaled(1 if table.whole else FRACTIONS)
        self._system: System = system_of(self._scaled)
        self._done = self._system.done
        self._place = {int(column): number for number, column in enumerate(self._done.order)}

    def prove(self, cell: int) -> Proof | None:
        """The sum that gives the lower limit of a hidden cell; None where none does, or HiGHS is needed and missing.

        Args:
            cell: its number in the table.
        """
        column = int(np.searchsorted(self._system.cells, cell))
        if column in self._place:
            return self._summed(column, 1, Counter(), Counter({column: 1}))
        found = self._multipliers(column) if available() else None
        if found is None:
            return None
        rows, times = found
        needed: Counter[int] = Counter()
        for row, weight in rows.items():
            needed.subtract({other: weight * sign for other, sign in self._entries(row) if self._done.known[other]})
        return self._summed(column, times, rows, needed)

    def _multipliers(self, column: int) -> tuple[Counter[int], int] | None:
        """The rows of the column's block that prove its limit, by what everybody knows of cells beforehand."""
        number = int(self._system.blocks.of_column[column])
        low, high = (one[self._system.cells] for one in (self._scaled.lower, self._scaled.upper))
        columns, block = block_of(self._system, number, low, high, self._scaled.whole)
        here = int(np.searchsorted(columns, column))
        found = Prober(block).multipliers(here)
        if found is None or block.bound(found[0], here, found[1], block.lower, block.upper) is None:
            return None
        rows = np.flatnonzero(self._system.blocks.of_row == number)
        used = np.flatnonzero(found[0])
        return Counter(dict(zip(rows[used].tolist(), found[0][used].tolist(), strict=True))), found[1]

    def _summed(self, column: int, times: int, rows: Counter[int], needed: Counter[int]) -> Proof:
        """The proof from rows with their multipliers, and determined columns that it needs with theirs."""
        for place in range(max(map(self._place.__getitem__, needed), default=-1), -1, -1):
            self._replace(place, rows, needed)
        published, rest = Counter[int](), Counter({column: times})
        for row, weight in rows.items():
            published.update({cell: weight * part for cell, part in self._published(row)})
            rest.subtract({other: weight * part for other, part in self._entries(row)})
        limits = {int(self._system.cells[other]): weight for other, weight in rest.items() if weight}
        divisor = int(np.gcd.reduce([times, *published.values(), *limits.values()]))
        return Proof(
            int(self._system.cells[column]),
            times // divisor,
            _sorted(published, divisor),
            _sorted(limits, divisor),
            tuple(sorted(int(self._system.equations[row]) for row, weight in rows.items() if weight)),
            exact=not limits,
        )

    def _replace(self, place: int, rows: Counter[int], needed: Counter[int]) -> None:
        """Say a determined column as its row says it: by published cells, and columns determined before."""
        column, row = int(self._done.order[place]), int(self._done.rows[place])
        entries = dict(self._entries(row))
        weight = needed[column] * entries[column]
        rows[row] += weight
        needed.subtract({other: weight * sign for other, sign in entries.items()})

    def _entries(self, row: int) -> list[tuple[int, int]]:
        here = slice(int(self._system.starts[row]), int(self._system.starts[row + 1]))
        return list(zip(self._system.columns[here].tolist(), self._system.signs[here].tolist(), strict=True))

    def _published(self, row: int) -> list[tuple[int, int]]:
        """The published cells of a row's right side: the total, less parts."""
        equations, hidden = self._scaled.equations, self._scaled.hidden
        number = int(self._system.equations[row])
        total, parts = int(equations.totals[number]), equations.parts_of(number)
        shown: Integers = parts[~hidden[parts]]
        return [*([] if hidden[total] else [(total, 1)]), *((part, -1) for part in shown.tolist())]


def _sorted(weights: Mapping[int, int], divisor: int) -> tuple[tuple[int, int], ...]:
    return tuple((cell, weight // divisor) for cell, weight in sorted(weights.items()) if weight)
