"""The console at a terminal: a prompt, results through a pager, Ctrl-C that cancels and never leaves."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator

import click

from sqlaudit.base.errors import ExitCode, SqlauditError
from sqlaudit.base.version import __version__
from sqlaudit.cli.console.cancelling import Cancelling
from sqlaudit.cli.console.layout import width_of
from sqlaudit.cli.console.screen import Terminal
from sqlaudit.cli.console.session import Session
from sqlaudit.cli.console.splitting import Piece, split
from sqlaudit.cli.console.wording import sentence
from sqlaudit.cli.console.words import StatementError
from sqlaudit.cli.exits import Boundary, say
from sqlaudit.cli.output import Output, print_data
from sqlaudit.cli.session import Interruptible, ProgressBar
from sqlaudit.cli.signals import ENDING
from sqlaudit.reports.escape import in_encoding, visible

SHOWN_ROWS = 1_000
WIDEST = 60
_BESIDE_THE_TEXT = 2
"""Lines of a screen that a result leaves to the prompt."""


class Outside:
    """What a console writes to. A progress bar ends before anything is written.

    Args:
        at_prompt: whether somebody reads along, so that long results are paged.
    """

    def __init__(self, at_prompt: bool = False) -> None:
        self._at_prompt = at_prompt
        self._bar: ProgressBar | None = None

    def terminal(self, save: Callable[..., None]) -> Terminal:
        """This as the console knows it."""
        limit, widest = (SHOWN_ROWS, WIDEST) if self._at_prompt else (None, None)
        return Terminal(
            self.write, say, save, lambda: Output().width, lambda: Output().colour, widest=widest, limit=limit
        )

    def write(self, text: str) -> None:
        """A text on stdout, through a pager when it is longer or wider than the screen."""
        if self._bar is not None:
            self._bar.__exit__()
        if self._at_prompt and not _fits(text):
            os.environ.setdefault("LESS", "SRX")  # long lines are scrolled sideways, colours kept
            click.echo_via_pager(in_encoding(text, sys.stdout.encoding).rstrip("\n"), color=True)
        else:
            print_data(text)

    @contextlib.contextmanager
    def working(self, session: Session) -> Iterator[None]:
        """While a step runs: a bar on a terminal when it takes long."""
        with ProgressBar() as bar:
            self._bar = bar
            session.engine.progress = bar.update
            try:
                yield
            finally:
                self._bar = None

    @contextlib.contextmanager
    def interruptible(self, session: Session) -> Iterator[None]:
        """The same for a script, which Ctrl-C ends."""
        with Interruptible(session.cancel, session.engine.executed), self.working(session):
            yield


def converse(session: Session, outside: Outside) -> ExitCode:
    """Read and carry out what somebody types, until they leave."""
    from sqlaudit.cli.console.prompt import Prompt

    colour = Output().colour
    prompt = Prompt(session, colour)
    click.echo(f"sqlaudit {__version__} on {session.engine.version()}. \\? lists the commands, \\q leaves.")
    while not session.left and not ENDING.leaves:
        ENDING.forgive()
        try:
            _carry_out(session, outside, prompt.read())
        except EOFError:
            break
        except KeyboardInterrupt:  # at the prompt it drops what was typed
            continue
    return ExitCode.INTERRUPTED if ENDING.leaves else ExitCode.OK


def _carry_out(session: Session, outside: Outside, text: str) -> None:
    """The statements of a text, up to the first that goes wrong."""
    try:
        pieces = list(split(text, session.workspace.dialect))
    except SqlauditError as error:
        say(str(error))
        return
    for piece in pieces:
        if session.left or not _step(session, outside, piece):
            return


def _step(session: Session, outside: Outside, piece: Piece) -> bool:
    """Whether a piece was carried out; what went wrong has been said."""
    begun = time.monotonic()
    with Boundary() as boundary:
        try:
            with Cancelling(session.cancel) as cancelling, outside.working(session):
                session.run(piece)
        except StatementError as error:
            click.echo("\n".join(visible(line) for line in error.pointed.split("\n")), err=True)
            say(str(error))
            return False
        except KeyboardInterrupt:
            say(f"{ENDING.word}." if ENDING.leaves else "cancelled.")
            return False
        except SqlauditError as error:
            say("cancelled." if cancelling.stopped else sentence(str(error)))
            return False
    tell_time(session, begun)
    return not boundary.code


def tell_time(session: Session, begun: float) -> None:
    """How long a step took, when that is wanted."""
    if session.timing:
        click.echo(f"Time: {time.monotonic() - begun:.3f} s", err=True)


def _fits(text: str) -> bool:
    """Whether a text fits on the screen, in height and width; colours take no place."""
    size = shutil.get_terminal_size((80, 24))
    lines = click.unstyle(text).splitlines()
    return len(lines) <= size.lines - _BESIDE_THE_TEXT and all(width_of(line) <= size.columns for line in lines)
