"""What can go wrong, and the exit code that goes with it.

Every error carries one sentence for the person who reads it: what is wrong, where, what to do. No message
ever contains a cell value, and none the text of a connection.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path

from sqlaudit.base.connection_texts import without_connections


class ExitCode(IntEnum):
    """The exit codes of the command line."""

    OK = 0
    REQUIREMENT_FAILED = 1
    USAGE = 2
    ENGINE = 3
    INCOMPLETE = 4
    INTERRUPTED = 130


_PACKAGE = str(Path(__file__).parent.parent)


class SqlauditError(Exception):
    """Base of every error that sqlaudit raises on purpose.

    Args:
        sentence: what is said; a piece that looks like the text of a connection is left out, as it may hold a password.
    """

    exit_code: ExitCode = ExitCode.USAGE

    def __init__(self, sentence: str = "") -> None:
        super().__init__(without_connections(sentence))

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows in place of a hundred lines of our own frames: the user's line, and the sentence."""
        import traceback

        frames = traceback.extract_tb(self.__traceback__)
        own = next((one for one in reversed(frames) if not one.filename.startswith((_PACKAGE, "<"))), None)
        place = [f"line {own.lineno}: {own.line}"] if own is not None and own.line else []
        return [*place, f"{type(self).__name__}: {self}"]


class UsageError(SqlauditError):
    """The request cannot be carried out as written: a wrong option, column, file or policy.

    Args:
        hint: the end of the sentence that names what is there, which `bare` leaves out.
    """

    def __init__(self, sentence: str = "", hint: str = "") -> None:
        super().__init__(sentence + hint)
        self.bare = sentence if hint else ""


class InputError(UsageError):
    """A file or frame could not be read as what it claims to be."""


class EngineError(SqlauditError):
    """The database refused, failed or went away."""

    exit_code = ExitCode.ENGINE


class ConnectionFailed(EngineError):
    """The database could not be reached, or did not let us in."""


class PermissionDenied(EngineError):
    """The database let us in but does not let us read what was asked for."""


class MissingDriver(EngineError):
    """The Python package for an engine is not installed."""


class Incomplete(SqlauditError):
    """A time or memory budget was reached before the answer was complete."""

    exit_code = ExitCode.INCOMPLETE


class Interrupted(SqlauditError):
    """The user stopped the work."""

    exit_code = ExitCode.INTERRUPTED


class DivisionWarning(UserWarning):
    """An expression divides whole numbers, which engines read in two ways."""


# The time budget of a search: who works long asks whether it is used up, and says so with an exception.

Stop = Callable[[], bool]
"""Whether the budget is used up."""
NODES = 2000
"""Nodes of an enumeration between two looks at the clock."""


class BudgetSpent(Exception):
    """The budget ended inside a step; the walker that made the step catches it and says what is proven."""


STOPPED = (BudgetSpent, Interrupted, KeyboardInterrupt)
"""What ends a walk before its end: the budget, or somebody. What was proven by then stays so."""


def by_hand(why: BaseException) -> bool:
    """Return True if it was somebody."""
    return not isinstance(why, BudgetSpent)


def at_once() -> bool:
    """Return the budget of what would come after a search that somebody stopped."""
    return True


def never() -> bool:
    """Return the budget of a search without one."""
    return False


def until(began: float, budget: float | None) -> Stop:
    """Return the budget of so many seconds from a moment of `time.monotonic()` on; None = no limit.

    Example:
        >>> until(time.monotonic(), 60)(), until(time.monotonic() - 61, 60)(), until(0, None)()
        (False, True, False)
    """
    return never if budget is None else lambda: time.monotonic() - began > budget
