"""Integer programs, solved by HiGHS: with a start, a time limit, bounds, and an end at Ctrl-C."""

from __future__ import annotations

import importlib.util
import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sqlaudit.base.errors import EngineError, MissingDriver
from sqlaudit.base.threads import start_thread

if TYPE_CHECKING:
    import highspy


Floats = npt.NDArray[np.float64]
_LOOK = 0.05
"""Seconds between two checks for Ctrl-C."""
_SHORT = 5_000
"""Number of coefficients up to which a linear program ends at once; a thread for it would cost half a millisecond, more
than most of these programs take."""


@dataclass
class Program:
    """A program to minimize, built row by row.

    Args:
        costs, lowers, uppers, whole: of the variables: their costs and bounds, and True for integers.
        lower, upper, starts, index, value: of the rows: their bounds, where they start, variables and coefficients.
    """

    costs: list[float] = field(default_factory=list)
    lowers: list[float] = field(default_factory=list)
    uppers: list[float] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    index: list[int] = field(default_factory=list)
    value: list[float] = field(default_factory=list)

    def variable(self, cost: float, upper: float, *, whole: bool) -> int:
        """Add a variable from 0 to `upper`; return its number."""
        self.costs.append(cost)
        self.lowers.append(0.0)
        self.uppers.append(upper)
        self.whole.append(whole)
        return len(self.costs) - 1

    def row(self, terms: list[tuple[int, float]], lower: float, upper: float) -> None:
        """Add a row: lower <= sum of coefficient · variable <= upper."""
        self.starts.append(len(self.index))
        self.index += [variable for variable, _ in terms]
        self.value += [coefficient for _, coefficient in terms]
        self.lower.append(lower)
        self.upper.append(upper)


@dataclass(frozen=True)
class ProgramSolution:
    """The result of a solver.

    Args:
        values: the values of the variables in the best solution, None if there is none.
        bound: a lower bound of all costs. stopped: why it ended early: `time`, `interrupted`, or empty.
    """

    values: Floats | None
    bound: float
    stopped: str = ""


def solve(
    program: Program, *, step: float, start: Floats | None = None, seconds: float | None = None, relaxed: bool = False
) -> ProgramSolution:
    """Minimize a program.

    Args:
        program: the program. step: costs of solutions differ by a multiple of this, so the search may stop when the
            bound is nearer than that. start: a solution to begin with. seconds: the time limit, None = none.
        relaxed: True to allow fractions for all variables.

    Raises:
        MissingDriver: HiGHS is not installed. EngineError: the solver failed.
    """
    require()
    import highspy

    # one thread: the same program gives the same answer
    solver = silent({"threads": 1, "parallel": "off", "mip_rel_gap": 0.0, "mip_abs_gap": 0.999 * step})
    if seconds is not None:
        solver.setOptionValue("time_limit", max(0.0, seconds))
    solver.passModel(_make_model(program, relaxed))
    if start is not None:
        start_solution = highspy.HighsSolution()
        start_solution.col_value = start.tolist()
        solver.setSolution(start_solution)
    stopped = ""
    try:
        run_beside(solver)
    except KeyboardInterrupt:  # the best solution so far is returned
        stopped = "interrupted"
    return _read_result(solver, stopped)


def silent(options: Mapping[str, bool | int | float | str]) -> highspy.Highs:
    """Return a new HiGHS without output, which Ctrl-C can stop.

    Args:
        options: options that are set before it gets a model.
    """
    solver = _silent_highs()()
    for option, setting in options.items():
        solver.setOptionValue(option, setting)
    solver.HandleUserInterrupt = True
    return solver


@cache
def _silent_highs() -> Callable[[], highspy.Highs]:
    """Return a class of HiGHS that prints no banner, made when the package is first needed."""
    import highspy

    class Silent(highspy.Highs):
        """HiGHS without output: since 1.16, the first one of a process prints a banner when callbacks are enabled."""

        def enableCallbacks(self) -> None:  # noqa: N802 - so it is called there
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()  # type: ignore[no-untyped-call, unused-ignore]

    return Silent


def run_linear(solver: highspy.Highs, end: float | None = None) -> None:
    """Run a linear program, in a second thread if it is large.

    Args:
        solver: a solver of `silent`. end: when it has to stop, by `time.monotonic`; None = no limit.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed; the solver has stopped.
    """
    left = math.inf if end is None else max(0.0, end - time.monotonic())
    solver.setOptionValue("time_limit", solver.getRunTime() + left)  # the clock of a solver goes on from run to run
    import highspy

    # A thread that has used HiGHS with another number of threads refuses to run it; a new thread has no such number.
    if solver.getNumNz() > _SHORT or solver.run() == highspy.HighsStatus.kError:
        run_beside(solver)


def run_beside(solver: highspy.Highs) -> None:
    """Run a solver in a second thread, so that Ctrl-C arrives in this one.

    Args:
        solver: a solver of `silent`.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed; the solver has stopped.
    """
    ended = threading.Event()  # Python 3.11 takes a thread for dead when Ctrl-C interrupts the waiting for it

    def run() -> None:
        try:
            solver.run()
        finally:
            ended.set()

    try:
        if not start_thread(threading.Thread(target=run, daemon=True)):
            run()
        while not ended.wait(_LOOK):
            pass
    except KeyboardInterrupt:
        cancel: Callable[[], None] = solver.cancelSolve
        cancel()
        while not ended.wait(_LOOK):
            pass
        raise


def available() -> bool:
    """Return True if HiGHS is installed."""
    return importlib.util.find_spec("highspy") is not None


def require() -> None:
    """Raise MissingDriver if HiGHS is not installed.

    Raises:
        MissingDriver: HiGHS is not installed.
    """
    if not available():
        raise MissingDriver("This needs the solver HiGHS: pip install 'sqlaudit[remedies]'.")


def _make_model(program: Program, relaxed: bool) -> highspy.HighsLp:
    """Return a program as the model that HiGHS takes."""
    import highspy

    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(program.costs), len(program.lower)
    model.col_cost_ = np.array(program.costs, dtype=np.float64)
    model.col_lower_ = np.array(program.lowers, dtype=np.float64)
    model.col_upper_ = np.array(program.uppers, dtype=np.float64)
    model.row_lower_ = np.array(program.lower, dtype=np.float64)
    model.row_upper_ = np.array(program.upper, dtype=np.float64)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.array([*program.starts, len(program.index)], dtype=np.int32)
    model.a_matrix_.index_ = np.array(program.index, dtype=np.int32)
    model.a_matrix_.value_ = np.array(program.value, dtype=np.float64)
    if not relaxed:
        kinds = highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger
        model.integrality_ = [kinds[is_whole] for is_whole in program.whole]
    return model


def _read_result(solver: highspy.Highs, stopped: str) -> ProgramSolution:
    """Return the result of a solver that has run.

    Raises:
        EngineError: the solver ended without a solution for another reason than a limit.
    """
    import highspy

    status, info = solver.getModelStatus(), solver.getInfo()
    reasons = highspy.HighsModelStatus
    if status == reasons.kInfeasible:
        return ProgramSolution(None, math.inf)
    if status in (reasons.kTimeLimit, reasons.kInterrupt):
        stopped = stopped or ("time" if status == reasons.kTimeLimit else "interrupted")
    elif status not in (reasons.kOptimal, reasons.kModelEmpty):
        raise EngineError(f"The solver ended without an answer ({solver.modelStatusToString(status)}).")
    is_feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    values = np.array(solver.getSolution().col_value, dtype=np.float64) if is_feasible else None
    is_program = any(kind == highspy.HighsVarType.kInteger for kind in solver.getLp().integrality_)
    bound = info.mip_dual_bound if is_program else info.objective_function_value if not stopped else -math.inf
    return ProgramSolution(values, bound, stopped if status != reasons.kOptimal else "")
