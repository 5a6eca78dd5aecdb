"""Errors, with their exit codes.

Every error has one message for its reader: what is wrong, where, and what to do. No message ever contains a cell value,
or the text of a connection.

* SqlauditError
  x UsageError (exit code 2)
    - UnknownColumn
    - ConflictingRoles
    - OutOfRange
    - Undecidable
    - InputError
      + UnknownFile
    - MisreadError, NotASelect, RandomRowsError (base.guard)
    - ContradictoryKnowledge (models.disclosure.witness)
    - Contradiction (tabular.secondary.system)
    - NotCarried (gates.standalone.recipes)
    - StatementError (cli.console.statements)
  x EngineError (exit code 3)
    - ConnectionFailed
    - PermissionDenied
    - MissingDriver (exit code 2)
  x Incomplete (exit code 4)
  x Interrupted (exit code 130)
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


def verdict(passed: bool, complete: bool = True) -> ExitCode:
    """Return the exit code of a requirement that is met, fails, or could not be decided (not complete)."""
    if not complete:
        return ExitCode.INCOMPLETE
    return ExitCode.OK if passed else ExitCode.REQUIREMENT_FAILED


_PACKAGE = str(Path(__file__).parent.parent)


class SqlauditError(Exception):
    """The base of every error that sqlaudit raises on purpose.

    Args:
        sentence: the message; a part that looks like a connection is left out, as it may hold a password.
    """

    exit_code: ExitCode = ExitCode.USAGE

    def __init__(self, sentence: str = "") -> None:
        super().__init__(without_connections(sentence))

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows instead of our own frames: the user's line, and the message."""
        import traceback

        frames = traceback.extract_tb(self.__traceback__)
        caller = next((frame for frame in reversed(frames) if not frame.filename.startswith((_PACKAGE, "<"))), None)
        location = [f"line {caller.lineno}: {caller.line}"] if caller is not None and caller.line else []
        return [*location, f"{type(self).__name__}: {self}"]


class UsageError(SqlauditError):
    """The request cannot be carried out as written: a wrong option, column, file or policy.

    Args:
        hint: the end of the message that names what exists, which `bare` leaves out.
    """

    def __init__(self, sentence: str = "", hint: str = "") -> None:
        super().__init__(sentence + hint)
        self.bare = sentence if hint else ""


class UnknownColumn(UsageError):
    """A column that was named is not in the table, or not among the columns that the option can name."""


class ConflictingRoles(UsageError):
    """A column has two roles, or is named twice."""


class OutOfRange(UsageError):
    """A number is outside the range of its option."""


class Undecidable(UsageError):
    """The request cannot be decided for this table: it has no defined answer, or computing it is too much work."""


class InputError(UsageError):
    """A file or frame could not be read, or not in its format."""


class UnknownFile(InputError):
    """A file or folder that was named does not exist, or a pattern matches none."""


def unreadable_file(file: Path | str, error: OSError) -> InputError:
    """Return the error for a file that the operating system cannot read: `UnknownFile` if it does not exist."""
    kind = UnknownFile if isinstance(error, FileNotFoundError) else InputError
    return kind(f"{file}: cannot be read ({error.strerror}).")


class EngineError(SqlauditError):
    """The database refused, failed or went away."""

    exit_code = ExitCode.ENGINE


class ConnectionFailed(EngineError):
    """The database could not be reached, or refused the connection."""


class PermissionDenied(EngineError):
    """The database accepted the connection but does not let this role read the data."""


class MissingDriver(EngineError):
    """A package that the request needs is not installed. The message has the command that installs it."""

    exit_code = ExitCode.USAGE


class Incomplete(SqlauditError):
    """A time or memory budget was reached before the answer was complete."""

    exit_code = ExitCode.INCOMPLETE


class Interrupted(SqlauditError):
    """The user stopped the work."""

    exit_code = ExitCode.INTERRUPTED


class DivisionWarning(UserWarning):
    """A warning about an expression that divides whole numbers, which engines do in two ways."""


# The time budget of a search: long work checks whether it is used up, and then raises an exception.

Stop = Callable[[], bool]
"""A function that returns True if the budget is used up."""
NODES = 2000
"""Nodes of an enumeration between two checks of the clock."""


class BudgetSpent(Exception):
    """The budget ended inside a step; the search that made the step catches it and reports what is proven."""


STOPPED = (BudgetSpent, Interrupted, KeyboardInterrupt)
"""Exceptions that end a search early: the budget, or the user. What was proven by then remains proven."""


def by_hand(why: BaseException) -> bool:
    """Return True if the user ended a search."""
    return not isinstance(why, BudgetSpent)


def at_once() -> bool:
    """Return True: the budget of work after a search that the user ended."""
    return True


def never() -> bool:
    """Return False: a budget without a limit."""
    return False


def until(began: float, budget: float | None) -> Stop:
    """Return the budget of these seconds from a moment of `time.monotonic()` on; None = no limit.

    Example:
        >>> until(time.monotonic(), 60)(), until(time.monotonic() - 61, 60)(), until(0, None)()
        (False, True, False)
    """
    return never if budget is None else lambda: time.monotonic() - began > budget
