"""Which published numbers together give a limit of a hidden cell: a sum of equations, so that anybody can add it up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlaudit.remedies.suppress.solver import available
from sqlaudit.tabular.secondary.intervals import FRACTIONS, block_of
from sqlaudit.tabular.secondary.programs import Prober
from sqlaudit.tabular.secondary.structure import Integers
from sqlaudit.tabular.secondary.system import (
    CellBlocks,
    Determined,
    PublishedTable,
    System,
    blocks_of,
    determined,
    system_of,
)


@dataclass(frozen=True)
class Proof:
    """A sum that bounds a hidden cell.

    `times` · the cell is at least (lower limit), at most (upper limit) or exactly (`exact`) the sum of weight · value
    of `published`, plus weight · limit of `limits`: hidden cells of which only a limit is known, such as zero.

    Args:
        cell: the hidden cell. times: how often the sum counts it. published, limits: (cell, weight), in order of cells.
        equations: the numbers of the equations that are added up. exact: it is the value, with nothing left open.
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
        self._done: Determined = determined(self._system)
        self._blocks: CellBlocks = blocks_of(self._system, self._done)
        self._place = {int(column): number for number, column in enumerate(self._done.order)}

    def prove(self, cell: int, *, lower: bool = True) -> Proof | None:
        """The sum that gives a limit of a hidden cell; None where there is none, or HiGHS is needed and missing.

        Args:
            cell: its number in the table. lower: the lower limit, else the upper one.
        """
        column = int(np.searchsorted(self._system.cells, cell))
        if column in self._place:
            return self._summed(column, 1, 1, {}, {column: 1})
        found = self._multipliers(column, 1 if lower else -1) if available() else None
        if found is None:
            return None
        rows, times = found
        needed: dict[int, int] = {}
        for row, weight in rows.items():
            for other, sign in self._entries(row):
                if self._done.known[other]:
                    needed[other] = needed.get(other, 0) - weight * sign
        return self._summed(column, 1 if lower else -1, times, rows, needed)

    def _multipliers(self, column: int, sign: int) -> tuple[dict[int, int], int] | None:
        """The rows of the column's block that prove its limit, by what everybody knows of cells beforehand."""
        number = int(self._blocks.of_column[column])
        low, high = (one[self._system.cells] for one in (self._scaled.lower, self._scaled.upper))
        columns, block = block_of(self._system, self._done, self._blocks, number, low, high, self._scaled.whole)
        here = int(np.searchsorted(columns, column))
        found = Prober(block).multipliers(here, sign)
        if found is None or block.bound(found[0], here, sign * found[1], block.lower, block.upper) is None:
            return None
        rows = np.flatnonzero(self._blocks.of_row == number)
        used = np.flatnonzero(found[0])
        return dict(zip(rows[used].tolist(), found[0][used].tolist(), strict=True)), found[1]

    def _summed(self, column: int, sign: int, times: int, rows: dict[int, int], needed: dict[int, int]) -> Proof:
        """The proof from rows with their multipliers, and determined columns that it needs with theirs."""
        rows = dict(rows)
        self._follow(rows, needed)
        published: dict[int, int] = {}
        rest = {column: sign * times}
        for row, weight in rows.items():
            for cell, part in self._published(row):
                published[cell] = published.get(cell, 0) + weight * part
            for other, part in self._entries(row):
                rest[other] = rest.get(other, 0) - weight * part
        limits = {int(self._system.cells[other]): weight for other, weight in rest.items() if weight}
        divisor = int(np.gcd.reduce([times, *published.values(), *limits.values()]))
        return Proof(
            int(self._system.cells[column]),
            times // divisor,
            _sorted(published, sign * divisor),
            _sorted(limits, sign * divisor),
            tuple(sorted(int(self._system.equations[row]) for row, weight in rows.items() if weight)),
            exact=not limits,
        )

    def _follow(self, rows: dict[int, int], needed: dict[int, int]) -> None:
        """Add the rows that determine what is needed, the last determined first."""
        for place in sorted((self._place[column] for column in needed), reverse=True):
            self._replace(place, rows, needed)
        while open_places := [self._place[column] for column, weight in needed.items() if weight]:
            self._replace(max(open_places), rows, needed)

    def _replace(self, place: int, rows: dict[int, int], needed: dict[int, int]) -> None:
        """Say a determined column as its row says it: by published cells, and columns determined before."""
        column, row = int(self._done.order[place]), int(self._done.rows[place])
        weight = needed.get(column, 0)
        if not weight:
            return
        own = next(sign for other, sign in self._entries(row) if other == column)
        rows[row] = rows.get(row, 0) + weight * own
        for other, sign in self._entries(row):
            needed[other] = needed.get(other, 0) - weight * own * sign

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


def _sorted(weights: dict[int, int], divisor: int) -> tuple[tuple[int, int], ...]:
    return tuple((cell, weight // divisor) for cell, weight in sorted(weights.items()) if weight)


def value_of(proof: Proof, table: PublishedTable, *, lower: bool = True) -> int:
    """What the sum of a proof is: `times` · the limit of its cell, in units of the table."""
    known = sum(weight * int(table.values[cell]) for cell, weight in proof.published)
    low, high = (table.lower, table.upper) if lower else (table.upper, table.lower)
    limits = sum(weight * int((low if weight > 0 else high)[cell]) for cell, weight in proof.limits)
    return known + limits
