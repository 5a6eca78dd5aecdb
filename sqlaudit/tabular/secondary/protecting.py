"""The search for further cells to hide, at the least cost, so that totals do not reveal the sensitive ones.

Two ways. Fast: each sensitive cell in turn gets the cheapest move; cells that moves need are hidden, and those that
turn out to be superfluous are published again. Exact: Fischetti and Salazar-González, Models and algorithms for
optimizing cell suppression (JASA 2001): an integer program chooses cells; where these let a cell move too little, the
equations that prove it become one more row of the program. Its bound is a bound of every answer.

A move is what can be added to the true values of hidden cells so that every published cell stays as it is. A cell is
protected when moves change it far enough. A move in whole numbers that keeps all equations is a table that an attacker
cannot tell from the true one, whatever the solver computed to find it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from math import prod

import numpy as np

from sqlaudit.base.errors import UsageError
from sqlaudit.base.solver import Program, require, run_beside, run_linear, solve
from sqlaudit.tabular.secondary.intervals import (
    CellVerdicts,
    DeducedLimits,
    Protection,
    deadline_after,
    deduce,
    deduce_for_contributors,
    is_late,
    judge,
    seconds_left,
)
from sqlaudit.tabular.secondary.programs import Floats, linear_solver, to_integer_multiples
from sqlaudit.tabular.secondary.system import FREE, Booleans, Equations, Integers, Lookup, PublishedTable

NEAR = 1e-6
"""Tolerance of floating-point results."""
_SECONDS = 2.0
"""Time limit for one move in whole numbers."""


class Moves:
    """Finds moves of the cells of one table.

    Args:
        equations: between cells.
        down, up: how far each cell can move, FREE where there is no limit.
        farthest: largest move of a cell that has no limit.
        end: deadline of programs, by `time.monotonic`; None = no deadline.

    Raises:
        MissingDriver: HiGHS is not installed.
    """

    def __init__(
        self, equations: Equations, down: Integers, up: Integers, farthest: int, end: float | None = None
    ) -> None:
        require()
        self.equations, self.down, self.up, self.end = equations, down, up, end
        self._limits = np.minimum(np.concatenate([up, down]), farthest).astype(np.float64)
        # the parts of a total move as it does, upwards less downwards
        rows = np.concatenate([equations.owners, np.arange(len(equations))])
        columns = np.concatenate([equations.parts, equations.totals])
        signs = np.repeat([1, -1], [len(equations.parts), len(equations)])
        columns, signs = np.concatenate([columns, columns + equations.cells]), np.concatenate([signs, -signs])
        limits = np.zeros(2 * equations.cells), self._limits
        self._solver = linear_solver(np.tile(rows, 2), columns, signs, np.zeros_like(equations.totals), limits)

    @property
    def is_late(self) -> bool:
        """True if the deadline has passed: a move that was not found may then exist."""
        return is_late(self.end)

    def cheapest(self, cell: int, amount: int, costs: Floats) -> Integers | None:
        """Return the cheapest move of a cell by an amount; None where there is none.

        Args:
            cell: the cell.
            amount: by how much.
            costs: of every cell for each unit, infinite for one that must not move.
        """
        size = self.equations.cells
        limits = np.where(np.isinf(np.concatenate([costs, costs])), 0.0, self._limits)
        variable, opposite = (cell, cell + size) if amount > 0 else (cell + size, cell)
        lower = np.zeros(2 * size)
        lower[variable] = limits[variable] = abs(amount)
        limits[opposite] = 0.0
        self._solver.clearSolver()  # with new costs and limits, the old optimum is a bad start
        if not self._solve(np.tile(np.where(np.isinf(costs), 0.0, costs), 2), lower, limits):
            return None
        move = self._read_move()
        if self._is_exact_move(move, cell, amount):
            return move
        return self._find_integer_move(cell, amount)

    def farthest(self, cell: int, sign: int, hidden: Booleans) -> tuple[float, Integers, int]:
        """Return how far a cell moves up (sign 1) or down (-1) when only hidden cells move.

        Returns:
            The amount, and whole multipliers of the equations, with their divisor, that prove about that.
        """
        size = self.equations.cells
        costs = np.zeros(2 * size)
        costs[cell], costs[cell + size] = -sign, sign
        limits = np.where(np.tile(hidden, 2), self._limits, 0.0)
        if not self._solve(costs, np.zeros(2 * size), limits):
            return 0.0, np.zeros(len(self.equations), dtype=np.int64), 1
        multipliers, times = to_integer_multiples(np.array(self._solver.getSolution().row_dual))
        return -float(self._solver.getInfo().objective_function_value), multipliers, times

    def weights(self, cell: int, sign: int, multipliers: Integers, times: int) -> Floats:
        """Return how far each hidden cell lets a cell move, as a sum of equations with these multipliers proves.

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

    def _solve(self, costs: Floats, lower: Floats, upper: Floats) -> bool:
        """Solve the program with these costs and limits. Return True if the solution is optimal."""
        import highspy

        variables = np.arange(len(costs), dtype=np.int32)
        self._solver.changeColsCost(len(costs), variables, costs)
        self._solver.changeColsBounds(len(costs), variables, lower, upper)
        run_linear(self._solver, self.end)
        return bool(self._solver.getModelStatus() == highspy.HighsModelStatus.kOptimal)

    def _read_move(self) -> Integers:
        """Return the solver's solution as a move, rounded."""
        solution = np.array(self._solver.getSolution().col_value).reshape(2, -1)
        return np.asarray(np.rint(solution[0] - solution[1]), dtype=np.int64)

    def _is_exact_move(self, move: Integers, cell: int, amount: int) -> bool:
        """Return True if the move keeps every equation and limit, in exact arithmetic."""
        inside = bool((move <= self.up).all() and (move >= -self.down).all())
        return inside and int(move[cell]) == amount and not self.equations.residuals(move).any()

    def _find_integer_move(self, cell: int, amount: int) -> Integers | None:
        """Return a solution of the same program in whole numbers; None where none was found in time."""
        import highspy

        size = 2 * self.equations.cells
        variables = np.arange(size, dtype=np.int32)
        kinds = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous
        self._solver.changeColsIntegrality(size, variables, np.array([kinds[0]] * size))
        left = _SECONDS if self.end is None else max(0.0, min(_SECONDS, self.end - time.monotonic()))
        self._solver.setOptionValue("time_limit", self._solver.getRunTime() + left)
        run_beside(self._solver)
        move = self._read_move()
        self._solver.changeColsIntegrality(size, variables, np.array([kinds[1]] * size))
        return move if self._is_exact_move(move, cell, amount) else None


_CUBES = 250_000
"""Largest number of cubes that are tried for one cell; beyond it, only the cheapest cells of each dimension."""
_WIDEST = 1 << 62


class Cubes:
    """Finds cubes in one table: moves of the corners of a box, with alternating signs.

    Args:
        keys: (cells × dimensions) the codes of every cell.
        equations: between them.
        down, up: how far each cell can move.
    """

    def __init__(self, keys: Integers, equations: Equations, down: Integers, up: Integers) -> None:
        self.keys, self.equations, self.down, self.up = keys.astype(np.int64), equations, down, up
        sizes = (self.keys.max(axis=0, initial=0) + 1).tolist()
        self.usable = prod(sizes) < _WIDEST
        strides = [prod(sizes[axis + 1 :]) if self.usable else 0 for axis in range(len(sizes))]
        self._strides = np.array(strides, dtype=np.int64)
        packed = self.keys @ self._strides
        self._order = np.argsort(packed, kind="stable")
        self._packed = packed[self._order]
        self._of_part = Lookup.of(equations.parts, equations.cells)
        self._owners = equations.owners
        self._is_total = np.zeros(equations.cells, dtype=np.bool_)
        self._is_total[equations.totals] = True

    def cheapest(self, cell: int, amount: int, costs: Floats) -> Integers | None:
        """Return the cheapest cube that moves a cell by an amount; None without one, or for a total.

        Args:
            cell: the cell.
            amount: by how much.
            costs: of every cell, infinite for one that must not move.
        """
        if not self.usable or self._is_total[cell] or (self.up if amount > 0 else self.down)[cell] < abs(amount):
            return None
        steps = self._steps(cell, costs)
        if not steps:
            return None
        shape = [len(step) for step in steps]
        signs = {corner: amount * (-1) ** sum(corner) for corner in product((0, 1), repeat=len(steps))}
        corners = {corner: self._corner_cells(cell, corner, steps) for corner in signs}
        total = np.zeros(shape)
        for corner, cells in corners.items():
            if any(corner):
                total = total + self._cost(cells, signs[corner], costs)
        best = np.unravel_index(int(np.argmin(total)), shape)
        if not np.isfinite(total[best]):
            return None
        move = np.zeros(len(self.keys), dtype=np.int64)
        for corner, cells in corners.items():
            at = tuple(int(index) if used else 0 for index, used in zip(best, corner, strict=True))
            move[cells[at]] = signs[corner]
        return move

    def _steps(self, cell: int, costs: Floats) -> list[Integers]:
        """Return for each dimension that sums the cell up the differences between its key and those of other parts."""
        most = int(_CUBES ** (1 / max(1, self.keys.shape[1])))
        steps: dict[int, Integers] = {}
        for equation in self._owners[self._of_part.entries(np.array([cell]))].tolist():
            parts = self.equations.parts_of(equation)
            others = parts[(parts != cell) & ~self._is_total[parts] & np.isfinite(costs[parts])]
            if not len(others):
                return []
            axis = int(np.flatnonzero(self.keys[others[0]] != self.keys[cell])[0])
            cheap = others[np.argsort(costs[others], kind="stable")[:most]]
            steps.setdefault(axis, (self.keys[cheap, axis] - self.keys[cell, axis]) * self._strides[axis])
        return list(steps.values())

    def _corner_cells(self, cell: int, corner: tuple[int, ...], steps: list[Integers]) -> Integers:
        """Return the cells at one corner of all cubes, -1 where the table has none."""
        cell_keys = np.full([1] * len(steps), int(self.keys[cell] @ self._strides), dtype=np.int64)
        for axis, (used, step) in enumerate(zip(corner, steps, strict=True)):
            if used:
                cell_keys = cell_keys + step.reshape([-1 if at == axis else 1 for at in range(len(steps))])
        position = np.minimum(np.searchsorted(self._packed, cell_keys), len(self._packed) - 1)
        return np.where(self._packed[position] == cell_keys, self._order[position], -1)

    def _cost(self, cells: Integers, amount: int, costs: Floats) -> Floats:
        """Return the cost of moving cells by an amount, infinite where they cannot move that far."""
        room = self.up if amount > 0 else self.down
        fine = (cells >= 0) & (room[cells] >= abs(amount))
        return np.where(fine, costs[cells], np.inf)


@dataclass(frozen=True)
class HidingProblem:
    """The cells that must be protected, and the cost of hiding others.

    Args:
        equations: between cells.
        values: the true values.
        sensitive: cells that are hidden first.
        protection: how open these must be.
        costs: of hiding each cell, whole numbers, 0 = hidden anyway.
        lower, upper: limits of cells that everybody knows.
        whole: True if values are whole units.
        alone: cells with one contributor, who knows the value: other cells must be open to them, too.
        keys: the codes of every cell, by which large tables are searched for cubes; None = by programs alone.
    """

    equations: Equations
    values: Integers
    sensitive: Booleans
    protection: Protection
    costs: Integers
    lower: Integers
    upper: Integers
    whole: bool = True
    alone: Booleans | None = None
    keys: Integers | None = None

    @property
    def down(self) -> Integers:
        """For each cell the largest fall within its limits."""
        return np.where(self.lower <= -FREE, FREE, self.values - self.lower)

    @property
    def up(self) -> Integers:
        """For each cell the largest rise within its limits."""
        return np.where(self.upper >= FREE, FREE, self.upper - self.values)

    @cached_property
    def amounts(self) -> tuple[Integers, Integers, Integers]:
        """Required width of each cell above its value, below it, and in all: 0 except for sensitive cells."""
        protection = self.protection
        zero = np.zeros_like(self.values)
        required = (
            zero if amount is None else amount for amount in (protection.above, protection.below, protection.sliding)
        )
        above, below, sliding = (np.where(self.sensitive, amount, 0) for amount in required)
        return above, below, sliding

    @property
    def needs(self) -> list[Need]:
        """Required moves of each sensitive cell, within its limits."""
        above, below, sliding = self.amounts
        amounts = np.minimum(self.up, above), np.minimum(self.down, below), np.minimum(self.up + self.down, sliding)
        cells = np.flatnonzero(self.sensitive)
        return [Need(*need) for need in np.stack([cells, *(amount[cells] for amount in amounts)], axis=1).tolist()]

    def published(self, hidden: Booleans) -> PublishedTable:
        """Return the table as an attacker sees it."""
        return PublishedTable(
            self.equations, np.where(hidden, 0, self.values), hidden, self.lower, self.upper, self.whole
        )


@dataclass(frozen=True)
class HidingSolution:
    """The cells to hide.

    Args:
        hidden: all hidden cells, with the sensitive ones.
        cost: of the others.
        bound: proven lower bound of the cost of any answer.
        open: sensitive cells that nothing protects, however much is hidden.
        deduced, verdicts: what an attacker deduces of the answer, audited again.
        stopped: `time` or `interrupted` when the search ended early, else empty.
    """

    hidden: Booleans
    cost: int
    bound: int
    open: Integers
    deduced: DeducedLimits
    verdicts: CellVerdicts
    stopped: str = ""

    @property
    def safe(self) -> bool:
        """True if every hidden cell is proven to be open enough."""
        return not (self.verdicts.unsafe | self.verdicts.undecided).any()


@dataclass
class Need:
    """The required moves of one sensitive cell, and moves that prove them.

    Args:
        cell: the sensitive cell.
        above, below, sliding: the required amounts: upwards, downwards, and in all.
        known: another cell, whose only contributor knows it; None for outsiders.
        moves: moves that fulfil the need.
    """

    cell: int
    above: int
    below: int
    sliding: int
    known: int | None = None
    moves: list[Integers] = field(default_factory=list)

    def movable(self, hidden: Booleans) -> Booleans:
        """Return the hidden cells that may move."""
        is_movable = hidden.copy()
        if self.known is not None:
            is_movable[self.known] = False
        return is_movable

    def ways(self, up: int, down: int) -> list[list[int]]:
        """Return alternatives of amounts that fulfil the need together, in the order in which they are tried."""
        rest = max(0, self.sliding - self.above - self.below)
        lower = min(down, self.below + rest)
        ways = [[self.above + rest, -self.below], [self.above + rest - (lower - self.below), -lower]]
        alternatives = ways if rest else ways[:1]
        return [[amount for amount in way if amount] for way in alternatives if -way[1] <= down and way[0] <= up]


_LEAST_WEIGHT = 1e-8
Row = tuple[list[tuple[int, float]], float]
"""Weights of cells, and the least sum of those that are hidden."""


_LARGE = 20_000
"""Number of parts of all sums above which cubes are tried first: programs take too long."""
_FARTHER = 1000
"""Largest move of a cell without limit, as a multiple of the largest required one."""

_AUDITED = 10.0
"""Time limit of the audit of the answer: moves have proven already that it is open enough."""
_PROVING = 1.0
"""Least time limit, in seconds, for the bound of the fast answer; it is the time of the answer if that is more."""


def hide(hiding: HidingProblem, *, exact: bool = True, seconds: float | None = None) -> HidingSolution:
    """Hide further cells, so that the sensitive ones are protected, at a low cost or the least.

    Args:
        hiding: the problem.
        exact: True to search for the least cost, False to end with the first good answer.
        seconds: time limit, None = no limit.

    Raises:
        UsageError: the true values do not add up. MissingDriver: HiGHS is not installed.
    """
    if hiding.equations.residuals(hiding.values).any():
        raise UsageError("The table cannot be protected, because its cells do not add up. Correct the totals first.")
    search = _HidingSearch(hiding, deadline_after(seconds))
    began = time.monotonic()
    search.start()
    search.prove(max(_PROVING, time.monotonic() - began))
    if exact:
        search.improve()
    return search.answer()


class _HidingSearch:
    """The state of a search for cells to hide."""

    def __init__(self, hiding: HidingProblem, end: float | None) -> None:
        self.hiding, self.end = hiding, end
        self.needs = hiding.needs
        farthest = max([need.above + need.below + need.sliding for need in self.needs], default=1)
        self.moves = Moves(hiding.equations, hiding.down, hiding.up, _FARTHER * max(1, farthest), end)
        self.cubes: Cubes | None = None
        if hiding.keys is not None and len(hiding.equations.parts) > _LARGE:
            self.cubes = Cubes(hiding.keys, hiding.equations, hiding.down, hiding.up)
        self.fixed = hiding.sensitive | (hiding.costs <= 0)
        self.hidden = self.fixed.copy()
        self.best: tuple[int, Booleans, list[list[Integers]]] | None = None
        self.open: list[int] = []
        self.bound, self.stopped = 0, ""
        self.program = Program()  # chooses cells that protect every sensitive one, by its rows
        for cost, fixed in zip(hiding.costs.tolist(), self.fixed.tolist(), strict=True):
            self.program.variable(0.0 if fixed else float(cost), 1.0, whole=not fixed)

    def start(self) -> None:
        """Find the fast answer."""
        for need in sorted(self.needs, key=lambda need: -need.above - need.below - need.sliding):
            is_protected = self._protect(need)
            if self._is_late():
                break
            if not is_protected:
                self.open.append(need.cell)
        self.needs = [need for need in self.needs if need.cell not in self.open]
        self._record_answer()

    def _add_contributor_needs(self) -> None:
        """Add needs: each sensitive cell must move without those cells whose contributor knows them."""
        alone = self.hiding.alone
        if alone is None:
            return
        existing = {(need.cell, need.known) for need in self.needs}
        for need in [need for need in self.needs if need.known is None]:
            moved = np.logical_or.reduce([alone & (move != 0) for move in need.moves]) if need.moves else alone & False
            for cell in np.flatnonzero(moved).tolist():
                further = replace(need, known=cell, moves=[])
                if cell == need.cell or (need.cell, cell) in existing:
                    continue
                if self._protect(further):
                    self.needs.append(further)
                elif self._is_late():  # the audit of the answer tries them again
                    return
                elif need.cell not in self.open:
                    self.open.append(need.cell)
        self.needs = [need for need in self.needs if need.cell not in self.open]

    def _is_late(self) -> bool:
        """Return True if the deadline has passed, and note it as the reason why the search ended."""
        if self.moves.is_late:
            self.stopped = "time"
        return self.moves.is_late

    def improve(self) -> None:
        """Add rows from proofs and solve the integer program, until its answer protects everything."""
        while self.best is not None and self.bound < self.best[0] and not self.stopped:
            if self._is_late():
                return
            solved = solve(self.program, step=1.0, seconds=seconds_left(self.end))
            if math.isfinite(solved.bound):
                self.bound = max(self.bound, min(math.ceil(solved.bound - NEAR), self.best[0]))
            if solved.stopped or solved.values is None:
                self.stopped = solved.stopped
                return
            chosen = self.fixed | (solved.values > 0.5)
            narrower = self._add_violated_rows(chosen, self.end)
            self.hidden = chosen.copy()
            if all(self._protect_within(need, self.hidden) or self._protect(need) for need in self.needs):
                self._record_answer()
            if not narrower:  # moves in fractions protect: rows cannot improve the answer
                return

    def prove(self, seconds: float) -> None:
        """Find a bound for the fast answer by the same program, where cells may be hidden in part.

        Args:
            seconds: time limit.
        """
        chosen = self.fixed
        end = time.monotonic() + seconds if self.end is None else min(self.end, time.monotonic() + seconds)
        while self.best is not None and self.bound < self.best[0]:
            half = (time.monotonic() + end) / 2  # the other half of the time is for the program
            if not self._add_violated_rows(chosen, half) or (left := end - time.monotonic()) <= 0:
                return
            solved = solve(self.program, step=1.0, seconds=left, relaxed=True)
            if solved.stopped or solved.values is None:
                if solved.stopped == "interrupted":
                    self.stopped = solved.stopped
                return
            proven = math.ceil(solved.bound * (1 - 1e-9) - NEAR)
            self.bound = max(self.bound, min(proven, self.best[0]))
            chosen = self.fixed | (solved.values > NEAR)

    def answer(self) -> HidingSolution:
        """Return the best answer, audited."""
        hiding = self.hiding
        cost, hidden, moves = self.best if self.best is not None else (0, self.fixed, [])
        left = seconds_left(self.end, 1.0)
        deduced = deduce(hiding.published(hidden), seconds=None if left is None else min(left, _AUDITED))
        for move in (np.zeros_like(hiding.values), *chain.from_iterable(moves)):
            table = (hiding.values + move)[deduced.cells] * deduced.scale
            np.minimum(deduced.least, table, out=deduced.least)
            np.maximum(deduced.most, table, out=deduced.most)
        above, below, sliding = hiding.amounts
        required = Protection(sliding, hiding.values, below, above)
        verdicts = judge(self._with_insiders(deduced, hidden, left), required)
        bound = self.bound if self.needs else 0
        return HidingSolution(
            hidden, cost, bound, np.array(sorted(self.open), dtype=np.int64), deduced, verdicts, self.stopped
        )

    def _with_insiders(self, outsider: DeducedLimits, hidden: Booleans, seconds: float | None) -> DeducedLimits:
        """Return the limits for those who know most: outsiders, or the only contributor of a hidden cell."""
        hiding = self.hiding
        if hiding.alone is None or not bool((hiding.alone & hidden).any()):
            return outsider
        insiders = deduce_for_contributors(
            hiding.published(hidden), outsider, hiding.alone & hidden, hiding.values, seconds=seconds
        )
        if insiders.unfinished:
            return replace(outsider, least=outsider.least * 0 + FREE, most=outsider.most * 0 - FREE)
        return insiders.replace_limits(outsider)

    def _add_violated_rows(self, chosen: Booleans, end: float | None) -> bool:
        """Add rows that a choice of cells violates, for as many needs as time allows. Return True if there are any."""
        violated: list[Row] = []
        for need in self.needs:
            if is_late(end):
                break
            for terms, least in self._find_violated_rows(need, chosen):
                if sum(weight for cell, weight in terms if chosen[cell]) < least - NEAR:
                    violated.append((terms, least))
        for terms, least in violated:
            self.program.row(terms, least, math.inf)
        return bool(violated)

    def _find_violated_rows(self, need: Need, hidden: Booleans) -> list[Row]:
        """Return rows that every choice of cells that protects the need fulfils, and this one does not."""
        hidden = need.movable(hidden)
        reach = {sign: self.moves.farthest(need.cell, sign, hidden) for sign in (1, -1)}
        rows = []
        for amount, sign in ((need.above, 1), (need.below, -1)):
            if reach[sign][0] < amount - NEAR:
                rows.append(self._build_row(need, [(sign, *reach[sign][1:])], amount))
        if reach[1][0] + reach[-1][0] < need.sliding - NEAR:
            rows.append(self._build_row(need, [(sign, *reach[sign][1:]) for sign in (1, -1)], need.sliding))
        return rows

    def _build_row(self, need: Need, proofs: list[tuple[int, Integers, int]], amount: int) -> Row:
        """Return one row: hidden cells together allow at least the amount; a single cell counts at most for all of it.

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

    def _read_move(self, need: Need, costs: Floats, cheapest: Callable[[int, int, Floats], Integers | None]) -> bool:
        """Find moves for a need, each the cheapest one."""
        for way in need.ways(int(self.hiding.up[need.cell]), int(self.hiding.down[need.cell])):
            left, moves = costs.copy(), []
            for amount in way:
                move = cheapest(need.cell, amount, left)
                if move is None:
                    break
                moves.append(move)
                left[move != 0] = 0.0
            else:
                need.moves = moves
                return True
        return False

    def _protect(self, need: Need) -> bool:
        """Find moves for a need, and hide what they move."""
        costs = np.where(self.hidden, 0.0, self.hiding.costs).astype(np.float64)
        if need.known is not None:
            costs[need.known] = np.inf
        has_moves = self._read_move(need, costs, self._cheapest_move)
        for move in need.moves if has_moves else ():
            self.hidden |= move != 0
        return has_moves

    def _cheapest_move(self, cell: int, amount: int, costs: Floats) -> Integers | None:
        """Return the cheapest move, in large tables along a cube."""
        cube = self._cheapest_cube(cell, amount, costs)
        return self.moves.cheapest(cell, amount, costs) if cube is None else cube

    def _cheapest_cube(self, cell: int, amount: int, costs: Floats) -> Integers | None:
        """Return the cheapest cube that keeps all equations."""
        cube = None if self.cubes is None else self.cubes.cheapest(cell, amount, costs)
        return None if cube is None or self.hiding.equations.residuals(cube).any() else cube

    def _protect_within(self, need: Need, hidden: Booleans) -> bool:
        """Find moves for a need that move hidden cells only."""
        hidden = need.movable(hidden)
        costs = np.where(hidden, 0.0, np.inf)
        if self.cubes is not None:
            return self._read_move(need, costs, self._cheapest_cube)
        up, down = (math.floor(self.moves.farthest(need.cell, sign, hidden)[0] + NEAR) for sign in (1, -1))
        above = min(up, max(need.above, need.sliding - need.below))
        below = max(need.below, need.sliding - above)
        if above < need.above or below > down:
            return False
        candidates = [self.moves.cheapest(need.cell, amount, costs) for amount in (above, -below) if amount]
        moves = [move for move in candidates if move is not None]
        if len(moves) < len(candidates):
            return False
        need.moves = moves
        return True

    def _publish_again(self) -> None:
        """Publish cells, the dearest first, that no need needs."""
        further = np.flatnonzero(self.hidden & ~self.fixed)
        for cell in further[np.argsort(-self.hiding.costs[further], kind="stable")].tolist():
            if self._is_late():
                return
            users = [need for need in self.needs if any(move[cell] for move in need.moves)]
            before = [need.moves for need in users]
            self.hidden[cell] = False
            if not all(self._protect_within(need, self.hidden) for need in users):
                self.hidden[cell] = True
                for need, moves in zip(users, before, strict=True):
                    need.moves = moves

    def _record_answer(self) -> None:
        """Ask contributors, publish again what no need needs, and record the answer when it is better."""
        self._add_contributor_needs()
        self._publish_again()
        self._add_contributor_needs()  # moves have changed
        cost = int(self.hiding.costs[self.hidden & ~self.fixed].sum())
        if self.best is None or cost < self.best[0]:
            self.best = cost, self.hidden.copy(), [need.moves for need in self.needs]
