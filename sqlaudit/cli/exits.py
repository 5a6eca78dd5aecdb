"""Where errors become one sentence and an exit code. Nowhere else does the command line handle them."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import click

from sqlaudit.base.connection_texts import without_connections
from sqlaudit.base.errors import DivisionWarning, ExitCode, Interrupted, SqlauditError
from sqlaudit.cli.signals import ENDING
from sqlaudit.reports.document import in_encoding, visible

_RANK = (0, 1, 4, 2, 3, ExitCode.INTERRUPTED)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_SPEAKS_OF_CODE_ONLY = (AttributeError, ImportError, NameError, NotImplementedError)
"""Exceptions whose messages name pieces of the program, never of the data."""


_SPOOLED = re.compile(r"""(^)?(['"])[^'"]*[/\\]sqlaudit-stdin-[^'"]*\2""")
"""The file that standard input was put into (`options.py`), as sentences quote it."""
QUIET = "sqlaudit.quiet"
"""Where a context notes that nothing but errors is said."""


GIVEN = "sqlaudit.given"
"""Where a context notes the arguments of its command, as they were given."""


def is_quiet() -> bool:
    """Whether the command that runs was told to say nothing but errors."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(QUIET))


def worst(*codes: int) -> ExitCode:
    """The exit code when several things happened: interrupted, then 3 over 2 over 4 over 1."""
    return max((ExitCode(code) for code in codes), key=_RANK.index, default=ExitCode.OK)


def say(sentence: str) -> None:
    """One line of talk on stderr, with our name in front, and without the text of a connection or of a file of ours."""
    sentence = _SPOOLED.sub(lambda found: "standard input" if found[1] is None else "Standard input", sentence)
    line = in_encoding(f"sqlaudit: {visible(without_connections(sentence))}", getattr(sys.stderr, "encoding", None))
    with contextlib.suppress(OSError):  # nobody can be told when stderr is full or gone
        click.echo(line, err=True)


def tell(sentence: str) -> None:
    """The same for what is good to know and nothing went wrong: nothing with `--quiet`."""
    if not is_quiet():
        say(sentence)


@contextlib.contextmanager
def remarks_told() -> Iterator[None]:
    """A block in which what a result's reader should know of an expression is said on stderr, each once."""
    with warnings.catch_warnings():
        told: set[str] = set()

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if not issubclass(category, DivisionWarning):
                usual(message, category, *place, **more)
            elif str(message) not in told:
                told.add(str(message))
                say(str(message))

        usual, warnings.showwarning = warnings.showwarning, show
        warnings.simplefilter("always", DivisionWarning)
        yield


class Boundary:
    """A block that ends in an exit code, whatever happens in it: `with Boundary() as boundary: …`; `boundary.code`.

    Every `SqlauditError` becomes its sentence. An exception that nobody expected becomes an internal error that is
    told by its type only, as its message may hold a value of the audited table. With SQLAUDIT_DEBUG=1 the places in
    the program are printed too, still without messages.
    """

    def __init__(self) -> None:
        self.code: int = ExitCode.OK

    def __enter__(self) -> Boundary:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None or isinstance(error, SystemExit | GeneratorExit):
            return False
        if isinstance(error, BrokenPipeError):
            close_stdout()
            return True
        self.code = _told(error)
        if os.environ.get("SQLAUDIT_DEBUG", "") not in ("", "0"):
            _show_places(error)
        return True


def close_stdout() -> None:
    """Nobody reads on: point stdout at nothing, so that Python's own flush at exit stays silent."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


def _told(error: BaseException) -> ExitCode:
    if isinstance(error, SqlauditError):
        say(str(error))
        return error.exit_code
    if isinstance(error, click.exceptions.Exit):
        return ExitCode(error.exit_code)
    if isinstance(error, click.ClickException):
        say(_click_sentence(error))
        return ExitCode.USAGE
    if isinstance(error, KeyboardInterrupt | click.Abort):
        say(f"{ENDING.word}.")
        return Interrupted.exit_code
    room = _no_room(error)
    if room is not None:
        say(room[0])
        return room[1]
    say(
        f"internal error ({type(error).__name__}). This is a bug in sqlaudit, please report it. "
        "SQLAUDIT_DEBUG=1 shows where it happened, without values of your table."
    )
    return ExitCode.ENGINE


def _no_room(error: BaseException) -> tuple[str, ExitCode] | None:
    """What to say when memory or a disk was not enough, None when it was something else."""
    if isinstance(error, MemoryError):
        said = "out of memory. Set --memory-limit, so that the database spills to disk."
        return said, ExitCode.INCOMPLETE
    if isinstance(error, OSError) and error.errno in _FULL:
        return f"the disk is full: {os.strerror(error.errno)}.", ExitCode.USAGE
    return None


def _click_sentence(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    message = error.format_message().strip()
    ended = message if message.endswith((".", "?", "!")) else message + "."
    return f"{ended} See '{context.command_path} --help'." if context is not None else ended


def _show_places(error: BaseException) -> None:
    for frame in traceback.extract_tb(error.__traceback__):
        click.echo(f"  {frame.filename}:{frame.lineno} in {frame.name}", err=True)
    detail = f": {error}" if isinstance(error, _SPEAKS_OF_CODE_ONLY) else ""
    click.echo(f"  {type(error).__qualname__}{visible(detail)}", err=True)
    following = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if following is not None:
        click.echo("  which came from", err=True)
        _show_places(following)
