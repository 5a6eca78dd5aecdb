"""What can go wrong, and the exit code that goes with it.

Every error carries one sentence for the person who reads it: what is wrong, where, what to do. No message
ever contains a cell value, and none the text of a connection.
"""

from __future__ import annotations

from enum import IntEnum

from sqlaudit.base.connection_texts import without_connections


class ExitCode(IntEnum):
    """The exit codes of the command line."""

    OK = 0
    REQUIREMENT_FAILED = 1
    USAGE = 2
    ENGINE = 3
    INCOMPLETE = 4
    INTERRUPTED = 130


class SqlauditError(Exception):
    """Base of every error that sqlaudit raises on purpose.

    Args:
        sentence: what is said; a piece that looks like the text of a connection is left out, as it may hold a password.
    """

    exit_code: ExitCode = ExitCode.USAGE

    def __init__(self, sentence: str = "") -> None:
        super().__init__(without_connections(sentence))


class UsageError(SqlauditError):
    """The request cannot be carried out as written: a wrong option, column, file or policy."""


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
