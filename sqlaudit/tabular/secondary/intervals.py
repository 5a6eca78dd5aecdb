"""The interval of each hidden cell that published cells and totals leave, and whether it is wide enough.

An interval has two sides of the truth: outer limits, beyond which no value fits (proven), and inner ones, which occur
in tables that fit (found). They are equal unless a budget ended the search. A cell is unsafe when even the outer
interval is too narrow, safe when the inner one is wide enough, and undecided between: never safe by mistake.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from sqlaudit.remedies.suppress.solver import available
from sqlaudit.tabular.secondary.blocks import Block
from sqlaudit.tabular.secondary.programs import Prober
from sqlaudit.tabular.secondary.structure import Booleans, Integers
from sqlaudit.tabular.secondary.system import (
    FREE,
    CellBlocks,
    Determined,
    PublishedTable,
    System,
    blocks_of,
    determined,
    limits_of,
    system_of,
)

FRACTIONS = 12
"""Values that need not be whole are computed in twelfths of their unit: corners of small tables are such parts."""


@dataclass(frozen=True)
class Deduced:
    """What an attacker can deduce of the hidden cells.

    Args:
        cells: the numbers of the hidden cells. low, high: limits that hold for every table that fits, -FREE or FREE
            where there is none. least, most: values in tables that were found to fit; the limits where `exact`.
        scale: limits are in units of the values divided by this.
        by_equations: cells that one equation after the other determines. blocks: parts that were solved apart.
        programs: how many programs that took. unfinished: why the search ended early: `time`, `solver` or empty.
    """

    cells: Integers
    low: Integers
    high: Integers
    least: Integers
    most: Integers
    scale: int
    by_equations: Booleans
    blocks: int
    programs: int
    unfinished: str = ""

    @property
    def exact(self) -> Booleans:
        """The cells whose interval is exact."""
        return np.asarray((self.low == self.least) & (self.high == self.most), dtype=np.bool_)

    @property
    def known(self) -> Booleans:
        """The cells that an attacker knows exactly."""
        return np.asarray(self.low == self.high, dtype=np.bool_)


@dataclass(frozen=True)
class Protection:
    """How wide the intervals of hidden cells must be (Handbook on Statistical Disclosure Control, section 4.2).

    Args:
        sliding: upper minus lower limit, of each cell of the table; 0 where a cell needs none.
        values: the true values, where they are known. below, above: how far the interval reaches below and above these.
    """

    sliding: Integers
    values: Integers | None = None
    below: Integers | None = None
    above: Integers | None = None


def deduce(table: PublishedTable, *, seconds: float | None = None, asked: int | None = None) -> Deduced:
    """The interval of each hidden cell.

    Args:
        table: what is published. seconds: how long programs may run in all, None = as long as they need.
        asked: only so many of the table's first cells are searched by programs, None = all.

    Raises:
        Contradiction: no table fits. UsageError: the values are too large for exact sums.
        EngineError: the solver failed.
    """
    scale = 1 if table.whole else FRACTIONS
    scaled = table.scaled(scale)
    system = system_of(scaled)
    done = determined(system)
    blocks = blocks_of(system, done)
    low, high = limits_of(system, done, blocks, scaled.lower[system.cells], scaled.upper[system.cells])
    wanted = system.cells < (len(table.hidden) if asked is None else asked)
    found = _Found(system, done, blocks, low, high, table.whole, end_of(seconds), wanted)
    found.search()
    number = blocks.number
    return Deduced(
        system.cells,
        found.low,
        found.high,
        found.least,
        found.most,
        scale,
        done.known,
        number,
        found.programs,
        found.why,
    )


@dataclass(frozen=True)
class CellVerdicts:
    """Which hidden cells are too well known.

    Args:
        unsafe: even the widest interval that is possible is too narrow. undecided: it is not proven that they are safe.
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
    free = (low <= -FREE) | (high >= FREE)
    wide = np.where(free, FREE, high - low) >= protection.sliding[cells] * scale
    if protection.values is not None and protection.below is not None:
        wide &= low <= (protection.values - protection.below)[cells] * scale
    if protection.values is not None and protection.above is not None:
        wide &= high >= (protection.values + protection.above)[cells] * scale
    return np.asarray(wide, dtype=np.bool_)


def end_of(seconds: float | None) -> float | None:
    """When so much time is used up, by `time.monotonic`; None = never."""
    return None if seconds is None else time.monotonic() + seconds


def late(end: float | None) -> bool:
    """Whether the time is used up."""
    return end is not None and time.monotonic() >= end


class _Found:
    """The search of the limits that single equations leave open, block by block, the smallest first."""

    def __init__(
        self,
        system: System,
        done: Determined,
        blocks: CellBlocks,
        low: Integers,
        high: Integers,
        whole: bool,
        end: float | None,
        wanted: Booleans,
    ) -> None:
        self.wanted = wanted
        self.system, self.done, self.blocks, self.whole, self.end = system, done, blocks, whole, end
        self.low, self.high = low, high
        settled = np.append(blocks.tree, True)[blocks.of_column]  # -1, the last one: a determined cell
        self.least, self.most = np.where(settled, low, FREE), np.where(settled, high, -FREE)
        self.programs = 0
        self.why = ""

    def search(self) -> None:
        """Search every block with a cycle."""
        cyclic = np.flatnonzero(~self.blocks.tree)
        if not len(cyclic):
            return
        if not available():
            self.why = "solver"
            return
        sizes = np.bincount(self.blocks.of_column[self.blocks.of_column >= 0], minlength=self.blocks.number)
        for columns, block in _each(self, cyclic[np.argsort(sizes[cyclic], kind="stable")]):
            self._block(columns, block)

    def _block(self, columns: Integers, block: Block) -> None:
        if late(self.end):
            self.why = "time"
            return
        prober = Prober(block, self.end)
        for cell, sign in prober.range.open():
            if self.wanted[columns[cell]]:
                prober.probe(cell, sign)
            if late(self.end):  # a program may have stopped before its end: what it proved until then is kept
                self.why = "time"
                break
        self.programs += prober.programs
        found = prober.range
        self.low[columns], self.high[columns] = found.low, found.high
        self.least[columns], self.most[columns] = found.least, found.most


def _each(found: _Found, numbers: Integers) -> list[tuple[Integers, Block]]:
    """The blocks of some numbers, with their columns."""
    return [
        block_of(found.system, found.done, found.blocks, int(one), found.low, found.high, found.whole)
        for one in numbers
    ]


def block_of(
    system: System, done: Determined, blocks: CellBlocks, number: int, low: Integers, high: Integers, whole: bool
) -> tuple[Integers, Block]:
    """One block, with its columns in the system."""
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
