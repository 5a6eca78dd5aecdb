"""The least and largest value of cells in a block, by linear programs whose answers are checked in whole numbers.

HiGHS computes in floating point, so its answers are not trusted. Its solution, rounded, counts when it fits all
equations and limits exactly: then cells can have these values. Its multipliers, rounded, give a sum of equations that
bounds a cell, whatever the multipliers are; the bound is computed in whole numbers. Where both meet, the limit of a
cell is exact. Where a vertex is not whole, though counts are, branches are searched, each bounded in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from sqlaudit.base.errors import EngineError
from sqlaudit.base.solver import run_linear, silent
from sqlaudit.tabular.secondary.system import FREE, Contradiction, Integers, run_starts

if TYPE_CHECKING:
    import highspy


Floats = npt.NDArray[np.float64]
_MULTIPLES = 1, 2, 3, 4, 6, 12, 60, 5040
"""Denominators that are tried for multipliers; otherwise they are rounded, and the bound may be wider."""


@dataclass(frozen=True)
class Block:
    """Connected cells and equations: the signed sum of the columns of a row is its right side.

    Args:
        rows, columns, signs: of each entry.
        right: of each row.
        lower, upper: of each column, FREE where there is none.
        whole: True if only whole numbers are possible.
    """

    rows: Integers
    columns: Integers
    signs: Integers
    right: Integers
    lower: Integers
    upper: Integers
    whole: bool

    def fits(self, values: Integers) -> bool:
        """Return True if values fulfil all equations and limits, exactly."""
        inside = (values >= self.lower).all() and (values <= self.upper).all()
        return bool(inside and (self.row_sums(values) == self.right).all())

    def row_sums(self, values: Integers) -> Integers:
        """Return the signed sum of each row."""
        sums = np.zeros(len(self.right), dtype=np.int64)
        np.add.at(sums, self.rows, self.signs * values[self.columns])
        return sums

    def bound(self, multipliers: Integers, cell: int, times: int, lower: Integers, upper: Integers) -> int | None:
        """Return a lower bound of `times` · cell within limits, as the sum of equations with these multipliers proves.

        Args:
            multipliers: of the rows, any whole numbers.
            cell: a column.
            times: factor of the cell, or 0.
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
    """Return the sum of products, exactly."""
    if float(np.abs(left).astype(np.float64) @ np.abs(right).astype(np.float64)) < 2.0**62:
        return int(left @ right)
    return sum(a * b for a, b in zip(left.tolist(), right.tolist(), strict=True))


def to_integer_multiples(multipliers: Floats) -> tuple[Integers, int]:
    """Return whole numbers in the proportion of floats, and the factor between them."""
    for times in _MULTIPLES:
        rounded = np.rint(multipliers * times)
        if (np.abs(rounded - multipliers * times) < 1e-6).all():
            break
    return rounded.astype(np.int64), times


_DUAL, _PRIMAL = 1, 4
"""HiGHS' numbers of simplex methods: limits change in the one, costs in the other. The first answer stays feasible when
costs change: the primal simplex goes on from there."""
_NODES = 200
"""Largest number of branches for one limit of one cell."""
_BRANCHED = 400
"""Largest block in which branches are searched; in larger ones limits may be those of fractions."""
_NEAR = 1e-6


class _Branch(NamedTuple):
    """A part of the search: limits of all cells, and a proven lower bound of sign · cell between them."""

    lower: Integers
    upper: Integers
    bound: int


class Prober:
    """Finds the limits of the cells of one block.

    No value beyond the outer limits, `low` and `high`, is possible. The inner ones, `least` and `most`, are values that
    were found in possible tables: least > most where none was found.

    Args:
        block: the cells.
        end: deadline of programs, by `time.monotonic`; None = no deadline.
    """

    def __init__(self, block: Block, end: float | None = None) -> None:
        self.block, self.end = block, end
        self.low, self.high = block.lower.copy(), block.upper.copy()
        self.least = np.full(len(block.lower), FREE, dtype=np.int64)
        self.most = -self.least
        self.branching = block.whole and len(block.lower) <= _BRANCHED
        self._reached = {sign: np.zeros(len(block.lower), dtype=np.bool_) for sign in (1, -1)}
        limits = _to_floats(block.lower, block.upper)
        self._solver = linear_solver(block.rows, block.columns, block.signs, block.right, limits)
        self._costs = np.zeros(len(block.lower))
        # find any possible values first: without costs the dual simplex does nothing else
        self._solver.setOptionValue("solver", "simplex")
        self._solver.setOptionValue("simplex_strategy", _DUAL)
        if self._run() == "optimal":
            self._note_values()
        self._solver.setOptionValue("simplex_strategy", _PRIMAL)

    def open_limits(self) -> Iterator[tuple[int, int]]:
        """Yield columns whose limit no found value reaches: the column, and 1 for the lower, -1 for the upper limit."""
        for cell in range(len(self.low)):
            if self.least[cell] > self.low[cell]:
                yield cell, 1
            if self.most[cell] < self.high[cell]:
                yield cell, -1

    def probe(self, cell: int, sign: int) -> None:
        """Find the lower limit (sign 1) or the upper one (-1) of a cell.

        Raises:
            Contradiction: no table fits.
        """
        if self._best_value(cell, sign) <= self._proven_limit(cell, sign) or (
            self._reached[sign][cell] and not self.branching
        ):
            return
        status = self._minimize(cell, sign)
        if status == "unbounded":
            self._note_ray(cell, sign)
        if status == "infeasible" and self._is_proven_empty(self.block.lower, self.block.upper, again=True):
            raise Contradiction()
        if status != "optimal":
            return
        values = self._note_values()
        self._note_bound(cell, sign, self._bound_by_multipliers(cell, sign, self.block.lower, self.block.upper))
        if values is None and self.branching and self._best_value(cell, sign) > self._proven_limit(cell, sign):
            self._branch(cell, sign)

    def multipliers(self, cell: int) -> tuple[Integers, int] | None:
        """Return whole multipliers of rows that prove the lower limit of a cell best, and the factor of the cell."""
        if self._minimize(cell, 1) != "optimal":
            return None
        return to_integer_multiples(np.array(self._solver.getSolution().row_dual))

    def _proven_limit(self, cell: int, sign: int) -> int:
        """Return the proven lower limit of sign · cell."""
        return int(self.low[cell] if sign > 0 else -self.high[cell])

    def _best_value(self, cell: int, sign: int) -> int:
        """Return the least value of sign · cell that was found."""
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
        """Run the solver. Return its status in one word.

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
        """Note the solver's values, rounded, if they fit all equations. Return them; None where they do not fit."""
        solution = np.array(self._solver.getSolution().col_value)
        if not len(solution):
            return None
        self._reached[1] |= solution <= self.low + _NEAR
        self._reached[-1] |= solution >= self.high - _NEAR
        values: Integers = np.rint(solution).astype(np.int64)
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
        """Note that a cell has no limit, if the solver's ray keeps all equations and limits exactly."""
        ray = self._read_ray("getPrimalRay")
        if ray is None:
            return
        up, down = self.block.upper < FREE, self.block.lower > -FREE
        grows, falls = ray > 0, ray < 0
        keeps_limits = (self.block.row_sums(ray) == 0).all() and not (grows & up).any() and not (falls & down).any()
        if keeps_limits and (grows if sign < 0 else falls)[cell]:
            self.most[grows], self.least[falls] = FREE, -FREE

    def _bound_by_multipliers(self, cell: int, sign: int, lower: Integers, upper: Integers) -> int | None:
        """Return a lower bound of sign · cell, rounded up where only whole numbers are possible, and down otherwise."""
        multipliers, times = to_integer_multiples(np.array(self._solver.getSolution().row_dual))
        bound = self.block.bound(multipliers, cell, sign * times, lower, upper)
        if bound is None:
            return None
        return -(-bound // times) if self.block.whole else bound // times

    def _branch(self, cell: int, sign: int) -> None:
        """Improve a limit of a cell by branch and bound over integer values, and note the limit that is proven.

        Branches are searched depth first. Each has a proven lower bound of sign · cell, so the limit that is proven in
        the end is the lowest of the best value found and the bounds of branches without a decision.

        Args:
            sign: 1 for the lower limit, -1 for the upper one.

        Raises:
            Contradiction: no integer value is possible.
        """
        self._solver.setOptionValue("simplex_strategy", _DUAL)
        open_branches = [_Branch(self.block.lower, self.block.upper, self._proven_limit(cell, sign))]
        undecided_bound, nodes = FREE, 0
        while open_branches and nodes < _NODES:
            branch = open_branches.pop()
            if branch.bound >= self._best_value(cell, sign):
                continue
            nodes += 1
            halves, bound = self._split_branch(cell, sign, branch)
            open_branches += halves
            undecided_bound = min(undecided_bound, bound)
        self._set_limits(self.block.lower, self.block.upper)
        self._solver.setOptionValue("simplex_strategy", _PRIMAL)
        proven = min([self._best_value(cell, sign), undecided_bound, *(branch.bound for branch in open_branches)])
        if proven >= FREE:
            raise Contradiction()
        self._note_bound(cell, sign, proven)

    def _split_branch(self, cell: int, sign: int, branch: _Branch) -> tuple[list[_Branch], int]:
        """Split a branch at the cell whose value is furthest from an integer.

        Returns:
            The halves, none if the branch is not split; and its bound if it ends without a decision, else FREE.
        """
        lower, upper, bound = branch.lower, branch.upper, branch.bound
        self._set_limits(lower, upper)
        status = self._run()
        if status == "infeasible" and self._is_proven_empty(lower, upper):
            return [], FREE
        if status != "optimal":
            return [], bound
        values = np.array(self._solver.getSolution().col_value)
        bound_here = self._bound_by_multipliers(cell, sign, lower, upper)
        bound = bound if bound_here is None else max(bound, bound_here)
        distances = np.abs(values - np.rint(values))
        is_noted = self._note_values() is not None
        if bound >= self._best_value(cell, sign):
            return [], FREE
        if is_noted or not (distances > 1e-6).any():  # the best of this branch, without multipliers that prove it
            return [], bound
        at = int(np.argmax(distances))
        top, bottom = upper.copy(), lower.copy()
        top[at], bottom[at] = math.floor(values[at]), math.ceil(values[at])
        halves = [_Branch(bottom, upper, bound), _Branch(lower, top, bound)]
        return halves if at != cell or sign > 0 else halves[::-1], FREE

    def _is_proven_empty(self, lower: Integers, upper: Integers, again: bool = False) -> bool:
        """Return True if a sum of equations proves that no value is possible within limits.

        Args:
            again: True to solve with the dual simplex first: the primal one has no such sum.
        """
        if again:  # the primal simplex has no dual ray
            self._solver.clearSolver()
            self._solver.setOptionValue("simplex_strategy", _DUAL)
            run_linear(self._solver, self.end)
        ray = self._read_ray("getDualRay")
        if ray is None:
            return False
        bounds = (self.block.bound(multipliers, 0, 0, lower, upper) for multipliers in (ray, -ray))
        return any(bound is not None and bound > 0 for bound in bounds)

    def _read_ray(self, name: str) -> Integers | None:
        """Return a direction that the solver found, in whole numbers; None if it has none, or is too old for it.

        Args:
            name: of the solver's method.
        """
        get_ray = getattr(self._solver, name, None)
        has_ray, ray = get_ray()[1:3] if get_ray else (False, ())
        if not has_ray or not len(ray):
            return None
        direction = np.array(ray, dtype=np.float64)
        return to_integer_multiples(direction / max(1e-12, float(np.abs(direction).max())))[0]

    def _set_limits(self, lower: Integers, upper: Integers) -> None:
        columns = np.arange(len(lower), dtype=np.int32)
        self._solver.changeColsBounds(len(lower), columns, *_to_floats(lower, upper))


def _to_floats(lower: Integers, upper: Integers) -> tuple[Floats, Floats]:
    return np.where(lower <= -FREE, -np.inf, lower), np.where(upper >= FREE, np.inf, upper)


def linear_solver(
    rows: Integers, columns: Integers, signs: Integers, right: Integers, limits: tuple[Floats, Floats]
) -> highspy.Highs:
    """Return HiGHS with equations, and no costs.

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
    model.a_matrix_.start_ = run_starts(np.bincount(rows, minlength=len(right))).astype(np.int32)
    model.a_matrix_.index_ = columns[order].astype(np.int32)
    model.a_matrix_.value_ = signs[order].astype(np.float64)
    solver = silent({"threads": 1, "presolve": "off"})
    solver.passModel(model)
    return solver
