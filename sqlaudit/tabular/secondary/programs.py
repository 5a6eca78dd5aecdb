"""The least and largest value of cells in a block, by linear programs whose answers are checked in whole numbers.

HiGHS computes in floating point; nothing that it says is believed. Its solution, rounded, counts when it fits all
equations and limits exactly: then cells can have these values. Its multipliers, rounded, give a sum of equations
that bounds a cell, whatever the multipliers are; the bound is computed in whole numbers. Where both meet, the limit
of a cell is exact. Where a vertex is not whole, though counts are, branches are searched, each bounded in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sqlaudit.base.errors import EngineError
from sqlaudit.base.solver import run_linear, silent
from sqlaudit.tabular.secondary.system import FREE, Contradiction, Integers, starts_of

if TYPE_CHECKING:
    import highspy


Floats = npt.NDArray[np.float64]
_MULTIPLES = 1, 2, 3, 4, 6, 12, 60, 5040
"""Multipliers are fractions of one of these; beyond, they are rounded, and the bound may be wider."""


@dataclass(frozen=True)
class Block:
    """Cells and equations that hang together: the signed sum of the columns of a row is its right side.

    Args:
        rows, columns, signs: of each entry.
        right: of each row.
        lower, upper: of each column, FREE where none.
        whole: only whole numbers fit.
    """

    rows: Integers
    columns: Integers
    signs: Integers
    right: Integers
    lower: Integers
    upper: Integers
    whole: bool

    def fits(self, values: Integers) -> bool:
        """Whether values fulfil all equations and limits, exactly."""
        inside = (values >= self.lower).all() and (values <= self.upper).all()
        return bool(inside and (self.left(values) == self.right).all())

    def left(self, values: Integers) -> Integers:
        """The signed sum of each row."""
        sums = np.zeros(len(self.right), dtype=np.int64)
        np.add.at(sums, self.rows, self.signs * values[self.columns])
        return sums

    def bound(self, multipliers: Integers, cell: int, times: int, lower: Integers, upper: Integers) -> int | None:
        """What `times` · cell is at least within limits, as the sum of equations with these multipliers proves.

        Args:
            multipliers: of the rows, any whole numbers.
            cell: a column.
            times: how often it is counted, or 0.
            lower, upper: limits of the columns.

        Returns:
            The bound; None where a limit that the sum needs is missing.
        """
        rest = np.zeros(len(lower), dtype=np.int64)
        np.add.at(rest, self.columns, -self.signs * multipliers[self.rows])
        rest[cell] += times
        limits = np.where(rest > 0, lower, upper)
        used = rest != 0
        if bool((np.abs(limits[used]) >= FREE).any()):
            return None
        return _dot(multipliers, self.right) + _dot(rest[used], limits[used])


def _dot(left: Integers, right: Integers) -> int:
    """The sum of products, exactly."""
    if float(np.abs(left).astype(np.float64) @ np.abs(right).astype(np.float64)) < 2.0**62:
        return int(left @ right)
    return sum(a * b for a, b in zip(left.tolist(), right.tolist(), strict=True))


def whole_multiples(multipliers: Floats) -> tuple[Integers, int]:
    """Whole numbers in the proportion of floats, and the factor between them."""
    for times in _MULTIPLES:
        whole = np.rint(multipliers * times)
        if (np.abs(whole - multipliers * times) < 1e-6).all():
            break
    return whole.astype(np.int64), times


_DUAL, _PRIMAL = 1, 4
"""HiGHS' numbers of simplex methods: limits change in the one, costs in the other. The first answer stays feasible when
costs change: the primal simplex goes on from there."""
_NODES = 200
"""So many branches for one limit of one cell."""
_BRANCHED = 400
"""Cells of a block in which branches are searched; beyond, limits of fractions stand for those of whole numbers."""
_NEAR = 1e-6


class Prober:
    """Finds the limits of the cells of one block.

    No value beyond the outer limits, `low` and `high`, fits; the inner ones, `least` and `most`, are values that were
    found to fit: least > most where none was.

    Args:
        block: the cells. end: when programs have to stop, by `time.monotonic`; None = when they are done.
    """

    def __init__(self, block: Block, end: float | None = None) -> None:
        self.block, self.end = block, end
        self.low, self.high = block.lower.copy(), block.upper.copy()
        self.least = np.full(len(block.lower), FREE, dtype=np.int64)
        self.most = -self.least
        self.branching = block.whole and len(block.lower) <= _BRANCHED
        self._reached = {sign: np.zeros(len(block.lower), dtype=np.bool_) for sign in (1, -1)}
        limits = _as_floats(block.lower, block.upper)
        self._solver = linear_solver(block.rows, block.columns, block.signs, block.right, limits)
        self._costs = np.zeros(len(block.lower))
        # any values that fit: without costs the dual simplex has nothing to do but to find them
        self._solver.setOptionValue("solver", "simplex")
        self._solver.setOptionValue("simplex_strategy", _DUAL)
        if self._run() == "optimal":
            self._note_values()
        self._solver.setOptionValue("simplex_strategy", _PRIMAL)

    def open(self) -> Iterator[tuple[int, int]]:
        """Columns with a limit that no value that fits reaches: the column, and 1 for the lower, -1 for the upper."""
        for cell in range(len(self.low)):
            if self.least[cell] > self.low[cell]:
                yield cell, 1
            if self.most[cell] < self.high[cell]:
                yield cell, -1

    def probe(self, cell: int, sign: int) -> None:
        """Find the lower limit (sign 1) or the upper one (-1) of a cell."""
        if self._best(cell, sign) <= self._proved(cell, sign) or (self._reached[sign][cell] and not self.branching):
            return
        status = self._minimize(cell, sign)
        if status == "unbounded":
            self._note_ray(cell, sign)
        if status == "infeasible" and self._proven_empty(self.block.lower, self.block.upper, again=True):
            raise Contradiction()
        if status != "optimal":
            return
        values = self._note_values()
        self._note_bound(cell, sign, self._proven(cell, sign, self.block.lower, self.block.upper))
        if values is None and self.branching and self._best(cell, sign) > self._proved(cell, sign):
            self._branch(cell, sign)

    def multipliers(self, cell: int) -> tuple[Integers, int] | None:
        """Whole multipliers of the rows that prove the lower limit of a cell best, and what it is multiplied by."""
        if self._minimize(cell, 1) != "optimal":
            return None
        return whole_multiples(np.array(self._solver.getSolution().row_dual))

    def _proved(self, cell: int, sign: int) -> int:
        """What sign · cell is at least, as far as is proven."""
        return int(self.low[cell] if sign > 0 else -self.high[cell])

    def _best(self, cell: int, sign: int) -> int:
        """The least value of sign · cell that was found."""
        return int(self.least[cell] if sign > 0 else -self.most[cell])

    def _minimize(self, cell: int, sign: int) -> str:
        costs = np.zeros(len(self._costs))
        costs[cell] = sign
        changed = np.flatnonzero(costs != self._costs)
        if len(changed):
            self._solver.changeColsCost(len(changed), changed.astype(np.int32), costs[changed])
            self._costs = costs
        return self._run()

    def _run(self) -> str:
        """The status in one word.

        Raises:
            EngineError: the solver failed.
        """
        import highspy

        run_linear(self._solver, self.end)
        reasons = highspy.HighsModelStatus
        status = self._solver.getModelStatus()
        if status == reasons.kUnboundedOrInfeasible:
            self._solver.clearSolver()
            run_linear(self._solver, self.end)
            status = self._solver.getModelStatus()
        words = {reasons.kOptimal: "optimal", reasons.kUnbounded: "unbounded", reasons.kInfeasible: "infeasible"}
        words[reasons.kTimeLimit] = "late"
        if status in words:
            return words[status]
        if status in (reasons.kUnknown, reasons.kUnboundedOrInfeasible, reasons.kIterationLimit, reasons.kSolveError):
            self._solver.clearSolver()
            return "unknown"
        raise EngineError(f"The solver ended without an answer ({self._solver.modelStatusToString(status)}).")

    def _note_values(self) -> Integers | None:
        """The solver's values, rounded, if they fit: then they are seen."""
        found = np.array(self._solver.getSolution().col_value)
        if not len(found):
            return None
        self._reached[1] |= found <= self.low + _NEAR
        self._reached[-1] |= found >= self.high - _NEAR
        values: Integers = np.rint(found).astype(np.int64)
        if not self.block.fits(values):
            return None
        np.minimum(self.least, values, out=self.least)
        np.maximum(self.most, values, out=self.most)
        return values

    def _note_bound(self, cell: int, sign: int, bound: int | None) -> None:
        if bound is None:
            return
        if sign > 0:
            self.low[cell] = max(int(self.low[cell]), bound)
        else:
            self.high[cell] = min(int(self.high[cell]), -bound)

    def _note_ray(self, cell: int, sign: int) -> None:
        """Values that may grow for ever: the limit is none, if the ray keeps all equations and limits exactly."""
        whole = self._ray("getPrimalRay")
        if whole is None:
            return
        up, down = self.block.upper < FREE, self.block.lower > -FREE
        grows, falls = whole > 0, whole < 0
        stays = (self.block.left(whole) == 0).all() and not (grows & up).any() and not (falls & down).any()
        if stays and (grows if sign < 0 else falls)[cell]:
            self.most[grows], self.least[falls] = FREE, -FREE

    def _proven(self, cell: int, sign: int, lower: Integers, upper: Integers) -> int | None:
        """What sign · cell is at least, rounded up where only whole numbers fit, down elsewhere."""
        multipliers, times = whole_multiples(np.array(self._solver.getSolution().row_dual))
        bound = self.block.bound(multipliers, cell, sign * times, lower, upper)
        if bound is None:
            return None
        return -(-bound // times) if self.block.whole else bound // times

    def _branch(self, cell: int, sign: int) -> None:
        """Search whole values of a cell's limit, depth first, each branch bounded by a proof."""
        self._solver.setOptionValue("simplex_strategy", _DUAL)
        waiting = [(self.block.lower, self.block.upper, self._proved(cell, sign))]
        unproven, nodes = FREE, 0
        while waiting and nodes < _NODES:
            lower, upper, above = waiting.pop()
            if above >= self._best(cell, sign):
                continue
            nodes += 1
            halves, left = self._branches(cell, sign, lower, upper, above)
            waiting += halves
            unproven = min(unproven, left)
        self._within(self.block.lower, self.block.upper)
        self._solver.setOptionValue("simplex_strategy", _PRIMAL)
        proven = min([self._best(cell, sign), unproven, *(above for _, _, above in waiting)])
        if proven >= FREE:
            raise Contradiction()
        self._note_bound(cell, sign, proven)

    def _branches(
        self, cell: int, sign: int, lower: Integers, upper: Integers, above: int
    ) -> tuple[list[tuple[Integers, Integers, int]], int]:
        """The two halves of a branch, none when it is settled; and what it is at least where that is all that is known,
        else FREE."""
        self._within(lower, upper)
        status = self._run()
        if status == "infeasible" and self._proven_empty(lower, upper):
            return [], FREE
        if status != "optimal":
            return [], above
        values = np.array(self._solver.getSolution().col_value)
        bound = self._proven(cell, sign, lower, upper)
        above = above if bound is None else max(above, bound)
        apart = np.abs(values - np.rint(values))
        noted = self._note_values() is not None
        if above >= self._best(cell, sign):
            return [], FREE
        if noted or not (apart > 1e-6).any():  # the best of this branch, but no multipliers that prove it
            return [], above
        at = int(np.argmax(apart))
        top, bottom = upper.copy(), lower.copy()
        top[at], bottom[at] = math.floor(values[at]), math.ceil(values[at])
        halves = [(bottom, upper, above), (lower, top, above)]
        return halves if at != cell or sign > 0 else halves[::-1], FREE

    def _proven_empty(self, lower: Integers, upper: Integers, again: bool = False) -> bool:
        """Whether a sum of equations shows that nothing fits within limits."""
        if again:  # the primal simplex tells no such sum
            self._solver.clearSolver()
            self._solver.setOptionValue("simplex_strategy", _DUAL)
            run_linear(self._solver, self.end)
        whole = self._ray("getDualRay")
        if whole is None:
            return False
        bounds = (self.block.bound(multipliers, 0, 0, lower, upper) for multipliers in (whole, -whole))
        return any(bound is not None and bound > 0 for bound in bounds)

    def _ray(self, name: str) -> Integers | None:
        """A direction that the solver found, in whole numbers; None where it found none, or is too old to tell."""
        tell = getattr(self._solver, name, None)
        known, ray = tell()[1:3] if tell else (False, ())
        if not known or not len(ray):
            return None
        way = np.array(ray, dtype=np.float64)
        return whole_multiples(way / max(1e-12, float(np.abs(way).max())))[0]

    def _within(self, lower: Integers, upper: Integers) -> None:
        places = np.arange(len(lower), dtype=np.int32)
        self._solver.changeColsBounds(len(lower), places, *_as_floats(lower, upper))


def _as_floats(lower: Integers, upper: Integers) -> tuple[Floats, Floats]:
    return np.where(lower <= -FREE, -np.inf, lower), np.where(upper >= FREE, np.inf, upper)


def linear_solver(
    rows: Integers, columns: Integers, signs: Integers, right: Integers, limits: tuple[Floats, Floats]
) -> highspy.Highs:
    """HiGHS with equations, and no costs.

    Args:
        rows, columns, signs: of each entry.
        right: of each row.
        limits: the lower and upper one of each column.
    """
    import highspy

    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(limits[0]), len(right)
    model.col_cost_ = np.zeros(len(limits[0]))
    model.col_lower_, model.col_upper_ = limits
    model.row_lower_ = model.row_upper_ = right.astype(np.float64)
    order = np.argsort(rows, kind="stable")
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = starts_of(np.bincount(rows, minlength=len(right))).astype(np.int32)
    model.a_matrix_.index_ = columns[order].astype(np.int32)
    model.a_matrix_.value_ = signs[order].astype(np.float64)
    solver = silent({"threads": 1, "presolve": "off"})
    solver.passModel(model)
    return solver
