"""Turn errors into one sentence and an exit code. The command line handles errors nowhere else."""

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

_BY_SEVERITY = (0, 1, 4, 2, 3, ExitCode.INTERRUPTED)
_FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NAMES_CODE_ONLY = (AttributeError, ImportError, NameError, NotImplementedError)
"""Exceptions whose messages name parts of the program, never data."""


_SPOOLED = re.compile(r"""(^)?(['"])[^'"]*[/\\]sqlaudit-stdin-[^'"]*\2""")
"""The file into which `spool_stdin` writes standard input, as sentences quote it."""
QUIET = "sqlaudit.quiet"
"""Key of a context: only errors are printed."""


ARGUMENTS = "sqlaudit.given"
"""Key of a context: the arguments of its command, as they were given."""


def is_quiet() -> bool:
    """Return True if the running command prints nothing but errors."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(QUIET))


def worst(*codes: int) -> ExitCode:
    """Return the exit code of several: interrupted comes before 3, then 2, 4, 1 and 0."""
    return max((ExitCode(code) for code in codes), key=_BY_SEVERITY.index, default=ExitCode.OK)


def say(sentence: str) -> None:
    """Print one line on stderr, beginning with our name, without texts of connections or names of our own files."""
    sentence = _SPOOLED.sub(lambda match: "standard input" if match[1] is None else "Standard input", sentence)
    line = in_encoding(f"sqlaudit: {visible(without_connections(sentence))}", getattr(sys.stderr, "encoding", None))
    with contextlib.suppress(OSError):  # nothing can be printed when stderr is full or gone
        click.echo(line, err=True)


def tell(sentence: str) -> None:
    """Print one line of information on stderr, unless `--quiet` is given."""
    if not is_quiet():
        say(sentence)


@contextlib.contextmanager
def division_warnings_on_stderr() -> Iterator[None]:
    """Print each `DivisionWarning` of the block once on stderr."""
    with warnings.catch_warnings():
        printed: set[str] = set()

        def show(message: Warning | str, category: type[Warning], *position: Any, **options: Any) -> None:
            if not issubclass(category, DivisionWarning):
                show_others(message, category, *position, **options)
            elif str(message) not in printed:
                printed.add(str(message))
                say(str(message))

        show_others, warnings.showwarning = warnings.showwarning, show
        warnings.simplefilter("always", DivisionWarning)
        yield


class Boundary:
    """A block that ends in an exit code, whatever happens in it: `with Boundary() as boundary: …`; `boundary.code`.

    Every `SqlauditError` becomes its sentence. An unexpected exception becomes an internal error, printed with its type
    only, because its message may hold a value of the audited table. With SQLAUDIT_DEBUG=1 the lines of the program
    are printed too, still without messages.
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
        self.code = _report_error(error)
        if os.environ.get("SQLAUDIT_DEBUG", "") not in ("", "0"):
            _print_frames(error)
        return True


def close_stdout() -> None:
    """Point stdout at nothing when its reader is gone, so that Python's own flush at exit stays silent."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


def _report_error(error: BaseException) -> ExitCode:
    """Print the sentence of an error. Return its exit code."""
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
    out_of_space = _out_of_space(error)
    if out_of_space is not None:
        say(out_of_space[0])
        return out_of_space[1]
    say(
        f"internal error ({type(error).__name__}). This is a bug in sqlaudit, please report it. "
        "SQLAUDIT_DEBUG=1 shows where it happened, without values of your table."
    )
    return ExitCode.ENGINE


def _out_of_space(error: BaseException) -> tuple[str, ExitCode] | None:
    """Return the sentence and exit code of an error that memory or a disk was full, None for other errors."""
    if isinstance(error, MemoryError):
        sentence = "out of memory. Set --memory-limit, so that the database spills to disk."
        return sentence, ExitCode.INCOMPLETE
    if isinstance(error, OSError) and error.errno in _FULL_DISK:
        return f"the disk is full: {os.strerror(error.errno)}.", ExitCode.USAGE
    return None


def _click_sentence(error: click.ClickException) -> str:
    """Return click's message as a sentence, with a hint at the help page."""
    context = getattr(error, "ctx", None)
    message = error.format_message().strip()
    sentence = message if message.endswith((".", "?", "!")) else message + "."
    return f"{sentence} See '{context.command_path} --help'." if context is not None else sentence


def _print_frames(error: BaseException) -> None:
    """Print the lines of the program that an error and its causes came through, without its message."""
    for frame in traceback.extract_tb(error.__traceback__):
        click.echo(f"  {frame.filename}:{frame.lineno} in {frame.name}", err=True)
    detail = f": {error}" if isinstance(error, _NAMES_CODE_ONLY) else ""
    click.echo(f"  {type(error).__qualname__}{visible(detail)}", err=True)
    following = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if following is not None:
        click.echo("  which came from", err=True)
        _print_frames(following)
