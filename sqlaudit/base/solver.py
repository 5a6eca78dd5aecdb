"""Integer programs, solved by HiGHS: with a start, a time limit, bounds, and an end that comes when somebody asks."""

from __future__ import annotations

import importlib.util
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sqlaudit.base.errors import EngineError, MissingDriver
from sqlaudit.base.threads import start_thread

if TYPE_CHECKING:
    import highspy


Floats = npt.NDArray[np.float64]
_LOOK = 0.05
"""Seconds between two looks whether somebody wants to stop."""
_SHORT = 5_000
"""Coefficients of a linear program that ends before anybody waits for it; a thread for it would cost half a
millisecond, which is more than most of these take."""


@dataclass
class Program:
    """A program to minimize, built row by row.

    Args:
        costs, lowers, uppers, whole: of the variables: what they cost, where they lie, and whether they are integers.
        lower, upper, starts, index, value: of the rows, and of their coefficients.
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
        """Return a further variable from 0 to `upper`; returns its number."""
        self.costs.append(cost)
        self.lowers.append(0.0)
        self.uppers.append(upper)
        self.whole.append(whole)
        return len(self.costs) - 1

    def row(self, terms: list[tuple[int, float]], lower: float, upper: float) -> None:
        """Return a further row: lower <= sum of coefficient · variable <= upper."""
        self.starts.append(len(self.index))
        self.index += [variable for variable, _ in terms]
        self.value += [coefficient for _, coefficient in terms]
        self.lower.append(lower)
        self.upper.append(upper)


@dataclass(frozen=True)
class Solved:
    """What a solver found.

    Args:
        values: of the variables in the best solution, None when there is none.
        bound: no solution costs less. stopped: why it ended early: `time`, `interrupted`, or empty.
    """

    values: Floats | None
    bound: float
    stopped: str = ""


def solve(
    program: Program, *, step: float, start: Floats | None = None, seconds: float | None = None, relaxed: bool = False
) -> Solved:
    """Minimize a program.

    Args:
        program: what is minimized. step: costs of solutions differ by a multiple of this; the search may stop when the
            bound is nearer than that. start: a solution to begin with. seconds: the time it may take, None = any.
        relaxed: without asking for integers.

    Raises:
        MissingDriver: HiGHS is not installed. EngineError: the solver failed.
    """
    require()
    import highspy

    # one thread: the same program gives the same answer
    solver = silent({"threads": 1, "parallel": "off", "mip_rel_gap": 0.0, "mip_abs_gap": 0.999 * step})
    if seconds is not None:
        solver.setOptionValue("time_limit", max(0.0, seconds))
    solver.passModel(_model(program, relaxed))
    if start is not None:
        given = highspy.HighsSolution()
        given.col_value = start.tolist()
        solver.setSolution(given)
    stopped = ""
    try:
        run_beside(solver)
    except KeyboardInterrupt:  # the best so far is worth having
        stopped = "interrupted"
    return _read(solver, stopped)


def silent(options: Mapping[str, bool | int | float | str]) -> highspy.Highs:
    """Return a new HiGHS that says nothing, and that Ctrl-C can stop.

    Args:
        options: what it is told before it gets a model.
    """
    solver = _silent_highs()()
    for option, setting in options.items():
        solver.setOptionValue(option, setting)
    solver.HandleUserInterrupt = True
    return solver


@cache
def _silent_highs() -> Callable[[], highspy.Highs]:
    import highspy

    class Silent(highspy.Highs):
        """Since 1.16 the first solver of a process introduces itself on stdout when it is told whom to call."""

        def enableCallbacks(self) -> None:  # noqa: N802 - so it is called there
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()  # type: ignore[no-untyped-call, unused-ignore]

    return Silent


def run_linear(solver: highspy.Highs, end: float | None = None) -> None:
    """Run a linear program, beside this thread where it is large.

    Args:
        solver: with `HandleUserInterrupt`. end: when it has to stop, by `time.monotonic`; None = when it is done.

    Raises:
        KeyboardInterrupt: somebody wants to stop; the solver has stopped.
    """
    left = math.inf if end is None else max(0.0, end - time.monotonic())
    solver.setOptionValue("time_limit", solver.getRunTime() + left)  # the clock of a solver goes on from run to run
    import highspy

    # A thread that has used HiGHS with another number of threads refuses to run it; a new thread has no such number.
    if solver.getNumNz() > _SHORT or solver.run() == highspy.HighsStatus.kError:
        run_beside(solver)


def run_beside(solver: highspy.Highs) -> None:
    """Run a solver beside this thread, so that Ctrl-C arrives here.

    Args:
        solver: with `HandleUserInterrupt`.

    Raises:
        KeyboardInterrupt: somebody wants to stop; the solver has stopped, and runs no more.
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
    """Nothing when HiGHS is installed.

    Raises:
        MissingDriver: it is not.
    """
    if not available():
        raise MissingDriver("This needs the solver HiGHS: pip install 'sqlaudit[remedies]'.")


def _model(program: Program, relaxed: bool) -> highspy.HighsLp:
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
        model.integrality_ = [kinds[one] for one in program.whole]
    return model


def _read(solver: highspy.Highs, stopped: str) -> Solved:
    """What came out.

    Raises:
        EngineError: neither an answer nor one of the reasons for none.
    """
    import highspy

    status, info = solver.getModelStatus(), solver.getInfo()
    reasons = highspy.HighsModelStatus
    if status == reasons.kInfeasible:
        return Solved(None, math.inf)
    if status in (reasons.kTimeLimit, reasons.kInterrupt):
        stopped = stopped or ("time" if status == reasons.kTimeLimit else "interrupted")
    elif status not in (reasons.kOptimal, reasons.kModelEmpty):
        raise EngineError(f"The solver ended without an answer ({solver.modelStatusToString(status)}).")
    known = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    values = np.array(solver.getSolution().col_value, dtype=np.float64) if known else None
    is_program = any(kind == highspy.HighsVarType.kInteger for kind in solver.getLp().integrality_)
    bound = info.mip_dual_bound if is_program else info.objective_function_value if not stopped else -math.inf
    return Solved(values, bound, stopped if status != reasons.kOptimal else "")


# Exact arithmetic with arrays of whole numbers: in 64 bits where these are enough, else in Python's own.

Wholes: TypeAlias = Any
"""An array of whole numbers: int64, or Python's integers (dtype object) where some do not fit."""
_MOST = 1 << 62


def wholes(found: Sequence[int]) -> Wholes:
    """Whole numbers as an array, with room for a sum of two."""
    wide = max(map(abs, found), default=0) >= _MOST
    return np.array(found, dtype=object if wide else np.int64)


def largest(units: Wholes) -> int:
    """Return the largest absolute value, 0 of none."""
    return max(abs(int(units.max())), abs(int(units.min()))) if len(units) else 0


def times(units: Wholes, factor: int) -> Wholes:
    """Whole numbers times another one.

    Example:
        >>> import numpy as np
        >>> times(np.array([2**40, 3]), 2**30).tolist()
        [1180591620717411303424, 3221225472]
    """
    if units.dtype != object and largest(units) * abs(factor) >= _MOST:
        units = units.astype(object)
    return units * factor


def product(one: Wholes, other: Wholes) -> Wholes:
    """Whole numbers times others, one by one."""
    if one.dtype != object and largest(one) * largest(other) >= _MOST:
        one = one.astype(object)
    return one * other


def plus(one: Wholes, other: Wholes) -> Wholes:
    """Return the sum of whole numbers, one by one."""
    if one.dtype != object and largest(one) + largest(other) >= _MOST:
        one = one.astype(object)
    return one + other


def minus(one: Wholes, other: Wholes) -> Wholes:
    """Return the difference of whole numbers, one by one."""
    return plus(one, times(other, -1))
