"""Which cells to hide as an integer program: its rows say which choices protect a cell, as proofs find them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sqlaudit.remedies.suppress.solver import Program
from sqlaudit.tabular.secondary.hiding import Hiding, Need
from sqlaudit.tabular.secondary.intervals import late
from sqlaudit.tabular.secondary.moves import NEAR, Moves
from sqlaudit.tabular.secondary.structure import Booleans, Integers

_LEAST_WEIGHT = 1e-8
Row = tuple[list[tuple[int, float]], float]
"""Weights of cells, and what those that are hidden must have together."""


class Choices:
    """The choices of cells that protect every sensitive one, as far as rows say it.

    Args:
        hiding: what is asked. moves: of its cells. fixed: cells that are hidden anyway.
    """

    def __init__(self, hiding: Hiding, moves: Moves, fixed: Booleans) -> None:
        self.hiding, self.moves, self.fixed = hiding, moves, fixed
        self.program = self._program()

    def _program(self) -> Program:
        program = Program()
        for cost, fixed in zip(self.hiding.costs.tolist(), self.fixed.tolist(), strict=True):
            program.variable(0.0 if fixed else float(cost), 1.0, whole=not fixed)
        return program

    def forbid(self, chosen: Booleans, needs: Sequence[Need], end: float | None = None) -> bool:
        """Add the rows that a choice of cells does not fulfil, of as many needs as there is time for; whether any."""
        found: list[Row] = []
        for need in needs:
            if late(end):
                break
            found += [row for row in self._missing(need, chosen) if _violated(row, chosen)]
        for row, least in found:
            self.program.row(row, least, math.inf)
        return bool(found)

    def _missing(self, need: Need, hidden: Booleans) -> list[Row]:
        """Rows that every choice of cells fulfils that protects the need, and this one does not."""
        hidden = need.movable(hidden)
        reach = {sign: self.moves.farthest(need.cell, sign, hidden) for sign in (1, -1)}
        rows = []
        for amount, sign in ((need.above, 1), (need.below, -1)):
            if reach[sign][0] < amount - NEAR:
                rows.append(self._row(need, [(sign, *reach[sign][1:])], amount))
        if reach[1][0] + reach[-1][0] < need.sliding - NEAR:
            rows.append(self._row(need, [(sign, *reach[sign][1:]) for sign in (1, -1)], need.sliding))
        return rows

    def _row(self, need: Need, proofs: list[tuple[int, Integers, int]], amount: int) -> Row:
        """One row: what hidden cells allow together is at least the amount; one alone counts at most for all of it.

        Weights are shares of the amount: HiGHS refuses numbers of 10^15, and takes those below 10^-9 for nothing.
        """
        total = np.zeros(self.hiding.equations.cells)
        for sign, multipliers, times in proofs:
            total += self.moves.weights(need.cell, sign, multipliers, times)
        total = np.minimum(total, amount)
        if need.known is not None:
            total[need.known] = 0.0
        sure = float(total[self.fixed].sum())
        used = np.flatnonzero((total > 0) & ~self.fixed)
        rest = max(0.0, amount - sure)
        if not rest:
            return [], 0.0
        weights = np.clip(total[used] / rest, _LEAST_WEIGHT, 1.0)
        return list(zip(used.tolist(), weights.tolist(), strict=True)), 1 - 1e-9


def _violated(row: Row, chosen: Booleans) -> bool:
    """Whether a choice does not fulfil a row, so that the program gives another one."""
    terms, least = row
    return sum(weight for cell, weight in terms if chosen[cell]) < least - NEAR
