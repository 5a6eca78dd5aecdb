"""The interval of each hidden cell that follows from published ones, and the sum of equations that proves it.

An interval has two sides of the truth: outer limits, beyond which no value is possible (proven), and inner ones, which
occur in possible tables (found). They are equal unless a time limit ended the search. A cell is unsafe when even the
outer interval is too narrow, safe when the inner one is wide enough, and undecided between: never safe by mistake.
"""

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
    build_system,
    propagate_limits,
    run_starts,
)

FRACTIONS = 12
"""Values that need not be whole are computed in twelfths of a unit: vertices of small tables are such fractions."""


@dataclass(frozen=True)
class DeducedLimits:
    """The limits of hidden cells that an attacker can deduce.

    Args:
        cells: the numbers of the hidden cells.
        low, high: limits that hold for every possible table, -FREE or FREE where there is none.
        least, most: the extreme values in tables that were found; equal to the limits where these are exact.
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
    """The required width of the intervals of hidden cells (Handbook on Statistical Disclosure Control, section 4.2).

    Args:
        sliding: upper minus lower limit, of each cell of the table; 0 where a cell needs none.
        values: the true values, where they are known.
        below, above: distances of the limits below and above these.
    """

    sliding: Integers
    values: Integers | None = None
    below: Integers | None = None
    above: Integers | None = None


def deduce(table: PublishedTable, *, seconds: float | None = None, searched: int | None = None) -> DeducedLimits:
    """Return the interval of each hidden cell.

    Args:
        table: what is published.
        seconds: time limit of all programs, None = no limit.
        searched: only this many of the table's first cells are searched by programs, None = all.

    Raises:
        Contradiction: no table fits. UsageError: the values are too large for exact sums.
        EngineError: the solver failed.
    """
    scale = 1 if table.whole else FRACTIONS
    scaled = table.scaled(scale)
    system = build_system(scaled)
    blocks = system.blocks
    low, high = propagate_limits(system, scaled.lower[system.cells], scaled.upper[system.cells])
    is_exact = np.append(blocks.tree, True)[blocks.of_column]  # -1, the last one: a determined cell
    least, most = np.where(is_exact, low, FREE), np.where(is_exact, high, -FREE)
    deduced = DeducedLimits(system.cells, low, high, least, most, scale)
    if blocks.tree.all():
        return deduced
    if not available():
        return replace(deduced, unfinished="solver")
    is_searched = system.cells < (len(table.hidden) if searched is None else searched)
    return _search_blocks(system, deduced, is_searched, table.whole, deadline_after(seconds))


def _search_blocks(
    system: System, deduced: DeducedLimits, is_searched: Booleans, whole: bool, end: float | None
) -> DeducedLimits:
    """Search the limits that single equations leave open, block by block, the smallest first, and change them in place.

    Args:
        is_searched: the columns that are searched.
    """
    blocks, reason = system.blocks, ""
    cyclic = np.flatnonzero(~blocks.tree)
    sizes = np.bincount(blocks.of_column[blocks.of_column >= 0], minlength=blocks.number)
    for number in cyclic[np.argsort(sizes[cyclic], kind="stable")].tolist():
        if is_late(end):
            return replace(deduced, unfinished="time")
        columns, block = extract_block(system, number, deduced.low, deduced.high, whole)
        prober = Prober(block, end)
        for cell, sign in prober.open_limits():
            if is_searched[columns[cell]]:
                prober.probe(cell, sign)
            if is_late(end):  # a program that was stopped has proven some limits: use them
                reason = "time"
                break
        for name in ("low", "high", "least", "most"):
            getattr(deduced, name)[columns] = getattr(prober, name)
    return replace(deduced, unfinished=reason)


@dataclass(frozen=True)
class CellVerdicts:
    """The hidden cells that are known too well.

    Args:
        unsafe: even the widest possible interval is too narrow.
        undecided: neither unsafe nor proven to be safe.
    """

    unsafe: Booleans
    undecided: Booleans


def judge(deduced: DeducedLimits, protection: Protection) -> CellVerdicts:
    """Return the hidden cells whose interval is narrower than required."""
    unsafe = ~_are_wide_enough(deduced.low, deduced.high, deduced, protection)
    safe = _are_wide_enough(deduced.least, deduced.most, deduced, protection)
    return CellVerdicts(unsafe, ~safe & ~unsafe)


def _are_wide_enough(low: Integers, high: Integers, deduced: DeducedLimits, protection: Protection) -> Booleans:
    cells, scale = deduced.cells, deduced.scale
    wide = _width(low, high) >= protection.sliding[cells] * scale
    if protection.values is not None and protection.below is not None:
        wide &= low <= (protection.values - protection.below)[cells] * scale
    if protection.values is not None and protection.above is not None:
        wide &= high >= (protection.values + protection.above)[cells] * scale
    return np.asarray(wide, dtype=np.bool_)


def _width(low: Integers, high: Integers) -> Integers:
    return np.where((low <= -FREE) | (high >= FREE), FREE, high - low)


def deadline_after(seconds: float | None) -> float | None:
    """Return the time at which these seconds are used up, by `time.monotonic`; None = never."""
    return None if seconds is None else time.monotonic() + seconds


def seconds_left(end: float | None, least: float = 0.0) -> float | None:
    """Return the seconds until a deadline, but no less than `least`; None without a deadline."""
    return None if end is None else max(least, end - time.monotonic())


def is_late(end: float | None) -> bool:
    """Return True if the deadline has passed."""
    return end is not None and time.monotonic() >= end


def extract_block(system: System, number: int, low: Integers, high: Integers, whole: bool) -> tuple[Integers, Block]:
    """Return the columns of one block in the system, and the block."""
    done, blocks = system.determined, system.blocks
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
class InsiderLimits:
    """The narrowest interval of each hidden cell that the only contributor of another hidden cell can deduce.

    Args:
        low, high, least, most: as in `DeducedLimits`, of the same cells; those of an outsider where no insider knows
            more.
        by: the cell whose contributor knows most, -1 where no one knows more than an outsider.
        unfinished: `time` when some contributors were not tried, else empty.
    """

    low: Integers
    high: Integers
    least: Integers
    most: Integers
    by: Integers
    unfinished: str = ""

    def replace_limits(self, outsider: DeducedLimits) -> DeducedLimits:
        """Return the limits of an outsider, replaced by these."""
        return replace(outsider, low=self.low, high=self.high, least=self.least, most=self.most)


def deduce_for_contributors(
    table: PublishedTable,
    outsider: DeducedLimits,
    is_alone: Booleans,
    values: Integers,
    *,
    seconds: float | None = None,
) -> InsiderLimits:
    """Return what the only contributors of hidden cells deduce of the other cells in their block.

    Args:
        table: what is published.
        outsider: the limits that everybody can deduce.
        is_alone: cells of the table with one contributor.
        values: the true values of these.
        seconds: time limit, None = no limit.

    Raises:
        Contradiction: the value of a contributor fits no table.
    """
    system = build_system(table)
    is_known, block = system.determined.known, system.blocks.of_column
    nobody = np.full(len(outsider.cells), -1, dtype=np.int64)
    low, high, least, most = (limits.copy() for limits in (outsider.low, outsider.high, outsider.least, outsider.most))
    insiders, end = InsiderLimits(low, high, least, most, nobody), deadline_after(seconds)
    for column in np.flatnonzero(is_alone[outsider.cells] & ~is_known).tolist():
        if is_late(end):
            return replace(insiders, unfinished="time")
        own_cell = int(outsider.cells[column])
        part, cells = _extract_part(table, outsider.cells[block == block[column]], np.flatnonzero(is_known), outsider)
        position = int(np.searchsorted(cells, own_cell))
        part.hidden[position], part.values[position] = False, int(values[own_cell])
        _update_insiders(insiders, outsider.cells, deduce(part, seconds=seconds_left(end)), cells, own_cell)
    return insiders


def _extract_part(
    table: PublishedTable, hidden: Integers, determined_columns: Integers, outsider: DeducedLimits
) -> tuple[PublishedTable, Integers]:
    """Return the equations of some hidden cells as a table, and the numbers of its cells in the full table."""
    values, is_hidden = table.values.copy(), table.hidden.copy()
    determined = outsider.cells[determined_columns]
    values[determined], is_hidden[determined] = outsider.low[determined_columns] // outsider.scale, False
    is_chosen = np.zeros(len(values), dtype=np.bool_)
    is_chosen[hidden] = True
    numbers = np.flatnonzero(table.equations.touching(is_chosen))
    starts = run_starts(np.diff(table.equations.starts)[numbers])
    parts = np.concatenate(
        [np.zeros(0, dtype=np.int64), *(table.equations.parts_of(number) for number in numbers.tolist())]
    )
    totals = table.equations.totals[numbers]
    cells = np.unique(np.concatenate([totals, parts]))
    equations = Equations(len(cells), np.searchsorted(cells, totals), starts, np.searchsorted(cells, parts))
    part = PublishedTable(
        equations, values[cells], is_hidden[cells], table.lower[cells], table.upper[cells], whole=table.whole
    )
    return part, cells


def _update_insiders(
    insiders: InsiderLimits, hidden: Integers, deduced: DeducedLimits, cells: Integers, own_cell: int
) -> None:
    """Replace the limits of insiders by narrower ones, in place."""
    columns = np.searchsorted(hidden, cells[deduced.cells])
    before, now = _width(insiders.low[columns], insiders.high[columns]), _width(deduced.low, deduced.high)
    nearer = _width(deduced.least, deduced.most) < _width(insiders.least[columns], insiders.most[columns])
    better = (now < before) | nearer & (now == before)
    at = columns[better]
    insiders.low[at], insiders.high[at] = deduced.low[better], deduced.high[better]
    insiders.least[at], insiders.most[at] = deduced.least[better], deduced.most[better]
    insiders.by[at] = own_cell


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
        exact: True if the sum is the value, False if it is a lower limit.
    """

    cell: int
    times: int
    published: tuple[tuple[int, int], ...]
    limits: tuple[tuple[int, int], ...]
    equations: tuple[int, ...]
    exact: bool


class Prover:
    """Finds proofs for the cells of one table.

    Args:
        table: what is published.

    Raises:
        Contradiction: no table fits. UsageError: the values are too large for exact sums.
    """

    def __init__(self, table: PublishedTable) -> None:
        self._scaled = table.scaled(1 if table.whole else FRACTIONS)
        self._system: System = build_system(self._scaled)
        self._done = self._system.determined
        self._order_of = {int(column): number for number, column in enumerate(self._done.order)}

    def prove(self, cell: int) -> Proof | None:
        """Return the sum that gives the lower limit of a hidden cell; None without such a sum, or without a solver.

        Args:
            cell: its number in the table.
        """
        column = int(np.searchsorted(self._system.cells, cell))
        if column in self._order_of:
            return self._build_proof(column, 1, Counter(), Counter({column: 1}))
        combination = self._multipliers(column) if available() else None
        if combination is None:
            return None
        rows, times = combination
        needed: Counter[int] = Counter()
        for row, weight in rows.items():
            needed.subtract({other: weight * sign for other, sign in self._row_entries(row) if self._done.known[other]})
        return self._build_proof(column, times, rows, needed)

    def _multipliers(self, column: int) -> tuple[Counter[int], int] | None:
        """Return the multipliers of the block's rows that prove the limit of a column, and the factor of the column."""
        number = int(self._system.blocks.of_column[column])
        low, high = (limits[self._system.cells] for limits in (self._scaled.lower, self._scaled.upper))
        columns, block = extract_block(self._system, number, low, high, self._scaled.whole)
        position = int(np.searchsorted(columns, column))
        multipliers = Prober(block).multipliers(position)
        if (
            multipliers is None
            or block.bound(multipliers[0], position, multipliers[1], block.lower, block.upper) is None
        ):
            return None
        rows = np.flatnonzero(self._system.blocks.of_row == number)
        used = np.flatnonzero(multipliers[0])
        return Counter(dict(zip(rows[used].tolist(), multipliers[0][used].tolist(), strict=True))), multipliers[1]

    def _build_proof(self, column: int, times: int, rows: Counter[int], needed: Counter[int]) -> Proof:
        """Return the proof from rows and determined columns.

        Args:
            column: the column that is proven.
            times: its factor.
            rows: rows with their multipliers.
            needed: determined columns with the factors that the sum needs.
        """
        for index in range(max(map(self._order_of.__getitem__, needed), default=-1), -1, -1):
            self._substitute(index, rows, needed)
        published, rest = Counter[int](), Counter({column: times})
        for row, weight in rows.items():
            published.update({cell: weight * part for cell, part in self._published_terms(row)})
            rest.subtract({other: weight * part for other, part in self._row_entries(row)})
        limits = {int(self._system.cells[other]): weight for other, weight in rest.items() if weight}
        divisor = int(np.gcd.reduce([times, *published.values(), *limits.values()]))
        return Proof(
            int(self._system.cells[column]),
            times // divisor,
            _sort_terms(published, divisor),
            _sort_terms(limits, divisor),
            tuple(sorted(int(self._system.equations[row]) for row, weight in rows.items() if weight)),
            exact=not limits,
        )

    def _substitute(self, index: int, rows: Counter[int], needed: Counter[int]) -> None:
        """Replace a determined column by its row: by published cells, and columns determined before."""
        column, row = int(self._done.order[index]), int(self._done.rows[index])
        entries = dict(self._row_entries(row))
        weight = needed[column] * entries[column]
        rows[row] += weight
        needed.subtract({other: weight * sign for other, sign in entries.items()})

    def _row_entries(self, row: int) -> list[tuple[int, int]]:
        """Return the columns of a row with their signs."""
        entries = slice(int(self._system.starts[row]), int(self._system.starts[row + 1]))
        return list(zip(self._system.columns[entries].tolist(), self._system.signs[entries].tolist(), strict=True))

    def _published_terms(self, row: int) -> list[tuple[int, int]]:
        """Return the published cells of a row's right side: the total, less parts."""
        equations, hidden = self._scaled.equations, self._scaled.hidden
        number = int(self._system.equations[row])
        total, parts = int(equations.totals[number]), equations.parts_of(number)
        published: Integers = parts[~hidden[parts]]
        return [*([] if hidden[total] else [(total, 1)]), *((part, -1) for part in published.tolist())]


def _sort_terms(weights: Mapping[int, int], divisor: int) -> tuple[tuple[int, int], ...]:
    return tuple((cell, weight // divisor) for cell, weight in sorted(weights.items()) if weight)
