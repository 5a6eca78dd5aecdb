"""Moves: what can be added to the true values of hidden cells so that every published cell stays as it is.

A cell is protected when moves change it far enough. A move in whole numbers that keeps all equations is a table that an
attacker cannot tell from the true one, whatever the solver computed to find it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from sqlaudit.remedies.suppress.solver import require, run_beside, run_linear, silent
from sqlaudit.tabular.secondary.blocks import Floats, whole_multiples
from sqlaudit.tabular.secondary.structure import Booleans, Equations, Integers
from sqlaudit.tabular.secondary.system import FREE

if TYPE_CHECKING:
    import highspy

NEAR = 1e-6
"""Floating point decides nothing finer than this."""
_SECONDS = 2.0
"""What one move in whole numbers may take."""


class Moves:
    """Finds moves of the cells of one table.

    Args:
        equations: between cells. down, up: how far each cell can move, FREE where there is no limit.
        farthest: no cell moves farther than this where it has no limit. end: when programs have to stop, by
            `time.monotonic`; None = when they are done.

    Raises:
        MissingDriver: HiGHS is not installed.
    """

    def __init__(
        self, equations: Equations, down: Integers, up: Integers, farthest: int, end: float | None = None
    ) -> None:
        require()
        self.equations, self.down, self.up, self.end = equations, down, up, end
        self._limits = np.minimum(np.concatenate([up, down]), farthest).astype(np.float64)
        self._solver = _solver(equations, self._limits)

    @property
    def late(self) -> bool:
        """Whether the time is used up: that no move was found then tells nothing."""
        return self.end is not None and time.monotonic() >= self.end

    def cheapest(self, cell: int, amount: int, costs: Floats) -> Integers | None:
        """A move of a cell by an amount, where each other cell costs so much for each unit; None where there is none.

        Args:
            cell: what moves. amount: by how much. costs: of every cell, infinite for one that must not move.
        """
        size = self.equations.cells
        limits = np.where(np.isinf(np.concatenate([costs, costs])), 0.0, self._limits)
        own, other = (cell, cell + size) if amount > 0 else (cell + size, cell)
        lower = np.zeros(2 * size)
        lower[own] = limits[own] = abs(amount)
        limits[other] = 0.0
        self._solver.clearSolver()  # costs and limits are others: what was optimal before is a bad place to start from
        if not self._solved(np.tile(np.where(np.isinf(costs), 0.0, costs), 2), lower, limits):
            return None
        move = self._move()
        if self._keeps(move, cell, amount):
            return move
        return self._whole_move(cell, amount)

    def farthest(self, cell: int, sign: int, hidden: Booleans) -> tuple[float, Integers, int]:
        """How far a cell moves up (sign 1) or down (-1) when only hidden cells move.

        Returns:
            The amount, and whole multipliers of the equations, with their divisor, that prove about that.
        """
        size = self.equations.cells
        costs = np.zeros(2 * size)
        costs[cell], costs[cell + size] = -sign, sign
        limits = np.where(np.tile(hidden, 2), self._limits, 0.0)
        if not self._solved(costs, np.zeros(2 * size), limits):
            return 0.0, np.zeros(len(self.equations), dtype=np.int64), 1
        multipliers, times = whole_multiples(np.array(self._solver.getSolution().row_dual))
        return -float(self._solver.getInfo().objective_function_value), multipliers, times

    def weights(self, cell: int, sign: int, multipliers: Integers, times: int) -> Floats:
        """What each hidden cell allows a cell to move, as a sum of equations with these multipliers proves.

        Returns:
            For each cell an amount, infinite without limit: no move is farther than those of hidden cells together.
        """
        rest = np.zeros(self.equations.cells, dtype=np.int64)
        np.add.at(rest, self.equations.parts, multipliers[self.equations.owners])
        np.subtract.at(rest, self.equations.totals, multipliers)
        rest[cell] += sign * times
        room = np.where(rest > 0, self.up, self.down)
        most = np.where(room >= FREE, np.inf, room.astype(np.float64))
        return np.where(rest == 0, 0.0, np.abs(np.where(rest == 0, 1, rest)) / times * most)

    def _solved(self, costs: Floats, lower: Floats, upper: Floats) -> bool:
        import highspy

        places = np.arange(len(costs), dtype=np.int32)
        self._solver.changeColsCost(len(costs), places, costs)
        self._solver.changeColsBounds(len(costs), places, lower, upper)
        run_linear(self._solver, self.end)
        return bool(self._solver.getModelStatus() == highspy.HighsModelStatus.kOptimal)

    def _move(self) -> Integers:
        found = np.array(self._solver.getSolution().col_value).reshape(2, -1)
        return np.asarray(np.rint(found[0] - found[1]), dtype=np.int64)

    def _keeps(self, move: Integers, cell: int, amount: int) -> bool:
        """Whether a move is one, exactly."""
        inside = bool((move <= self.up).all() and (move >= -self.down).all())
        return inside and int(move[cell]) == amount and not self.equations.residuals(move).any()

    def _whole_move(self, cell: int, amount: int) -> Integers | None:
        """The same program, asked for whole numbers."""
        import highspy

        size = 2 * self.equations.cells
        places = np.arange(size, dtype=np.int32)
        kinds = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous
        self._solver.changeColsIntegrality(size, places, np.array([kinds[0]] * size))
        left = _SECONDS if self.end is None else max(0.0, min(_SECONDS, self.end - time.monotonic()))
        self._solver.setOptionValue("time_limit", self._solver.getRunTime() + left)
        run_beside(self._solver)
        move = self._move()
        self._solver.changeColsIntegrality(size, places, np.array([kinds[1]] * size))
        return move if self._keeps(move, cell, amount) else None


def _solver(equations: Equations, limits: Floats) -> highspy.Highs:
    """HiGHS with the equations of moves: the parts of a total move as it does, upwards less downwards."""
    import highspy

    size = equations.cells
    rows = np.concatenate([equations.owners, np.arange(len(equations))])
    columns = np.concatenate([equations.parts, equations.totals])
    signs = np.concatenate([np.ones(len(equations.parts)), -np.ones(len(equations))])
    rows, columns, signs = np.tile(rows, 2), np.concatenate([columns, columns + size]), np.concatenate([signs, -signs])
    order = np.argsort(rows, kind="stable")
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = 2 * size, len(equations)
    model.col_cost_, model.col_lower_, model.col_upper_ = np.zeros(2 * size), np.zeros(2 * size), limits
    model.row_lower_ = model.row_upper_ = np.zeros(len(equations))
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(equations)))])
    model.a_matrix_.start_, model.a_matrix_.index_ = starts.astype(np.int32), columns[order].astype(np.int32)
    model.a_matrix_.value_ = signs[order]
    solver = silent({"threads": 1, "presolve": "off"})
    solver.passModel(model)
    return solver
