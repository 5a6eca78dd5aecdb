"""Run a console from its start to its exit code, at a prompt or with scripts.

Results at a prompt go through a pager, and Ctrl-C there cancels and never leaves.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

import click
from prompt_toolkit import PromptSession
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.styles import Style
from pygments.lexers.sql import PostgresLexer
from pygments.token import Keyword, _TokenType

from sqlaudit.audits.result import AuditResult
from sqlaudit.audits.run import code_of as audit_code
from sqlaudit.base.errors import ExitCode, Interrupted, SqlauditError, UsageError, verdict
from sqlaudit.base.spec import Limits, Reading, Requirement, Roles, Target
from sqlaudit.base.version import __version__
from sqlaudit.classes.inputs import population_target
from sqlaudit.cli.console.commands import GROUPS
from sqlaudit.cli.console.completion import ConsoleCompleter
from sqlaudit.cli.console.screen import Screen, Terminal, check_into, width_of
from sqlaudit.cli.console.session import Session, State, as_sentence
from sqlaudit.cli.console.statements import Piece, StatementError, is_complete, split
from sqlaudit.cli.console.workspace import Workspace
from sqlaudit.cli.exits import Boundary, say, worst
from sqlaudit.cli.output import Output, print_data
from sqlaudit.cli.session import Interruptible, ProgressBar
from sqlaudit.cli.signals import ENDING
from sqlaudit.column_sets.result import ColumnSets
from sqlaudit.lattices.result import LatticeResult
from sqlaudit.release.attacks.result import AttackResult
from sqlaudit.release.compare.result import CompareResult
from sqlaudit.reports.document import in_encoding, visible
from sqlaudit.tabular.result import AggregatesResult


@dataclass(frozen=True)
class ConsoleRequest:
    """The options that a console was started with.

    Args:
        names: tables and files; commands act on the first.
        db: the value of `--db`.
        read: how files are read.
        texts: what to run, in order; empty for a prompt.
        roles, requirements: those that hold until they are changed.
        inputs: further inputs of models.
        layout: one of `command.FORMATS`.
        file: the file for all results.
        show_values: whether classes show their values.
        limits: the budgets of each statement.
    """

    names: tuple[str, ...]
    db: str | None
    read: Reading
    texts: tuple[str, ...]
    roles: Roles
    requirements: tuple[Requirement, ...]
    inputs: Mapping[str, Any]
    layout: str
    file: Path | None
    show_values: bool
    limits: Limits


def run_console(request: ConsoleRequest) -> ExitCode:
    """Run the texts, or a prompt until the user leaves. Return the exit code of all of it.

    Raises:
        SqlauditError: a statement or command of a script cannot be run.
    """
    if request.file is not None:
        check_into(request.file)
    at_prompt = not request.texts
    if at_prompt and not sys.stdout.isatty():
        raise UsageError("A prompt needs a terminal. Run statements with -c or -f.")
    outside = Outside(at_prompt)
    with ProgressBar():  # a Spark takes seconds to start
        connection = Workspace(request.db, replace(request.limits, timeout=None), request.read)
    with connection as workspace:
        screen = Screen(outside.terminal(), request.layout)
        session = Session(
            workspace, screen, GROUPS, request.inputs, request.show_values, timeout=request.limits.timeout
        )
        session.state = _first_state(workspace, request)
        if request.file is not None:
            workspace.check_not_read(request.file)  # also what the inputs name
        screen.into(request.file)
        with contextlib.ExitStack() as unfinished:
            unfinished.callback(screen.drop)  # whatever ends it, Ctrl-C too: half a report is no file
            try:
                code = converse(session, outside) if at_prompt else run_script(session, outside, request.texts)
            except SqlauditError as error:
                if isinstance(error, Interrupted):
                    unfinished.close()
                unfinished.pop_all()
                screen.close_after_error()
                raise
            if code is not ExitCode.INTERRUPTED:
                unfinished.pop_all()
        screen.close()
        return code


def _first_state(workspace: Workspace, request: ConsoleRequest) -> State:
    """Return the state at the start. Tables and inputs are read, so that errors in them come first."""
    targets = [workspace.target(name) for name in request.names]
    inputs = request.inputs
    for target in targets:
        workspace.describe(target)
    if "population" in inputs:  # a table that an audit reads besides
        population = population_target(inputs, request.read.table(Target(relation="audited")))
        workspace.query(population.query) if population.query else workspace.target(population.relation)
    workspace.check_reading()
    return State(targets[0] if targets else None, request.roles, request.requirements)


def run_script(session: Session, outside: Outside, texts: Sequence[str]) -> ExitCode:
    """Run scripts up to their end, to `\\q` or to the first error. Return the exit code of all of it.

    Raises:
        SqlauditError: a statement or command cannot be run; the message has its line in the script.
    """
    codes = [ExitCode.OK]
    for text in texts:
        for piece in split(text, session.workspace.dialect):
            codes.append(_script_step(session, outside, piece, len(texts) == 1))
            if session.left:
                return worst(*codes)
    return worst(*codes)


def _script_step(session: Session, outside: Outside, piece: Piece, name_lines: bool) -> ExitCode:
    """Run a piece of a script. Return its exit code; an error gets the line, if asked for."""
    try:
        with Interruptible(session.cancel, session.engine.executed), outside.working(session):
            return code_of(session.run(piece))
    except StatementError:
        raise
    except SqlauditError as error:
        position = f"Line {piece.line}: " if name_lines and piece.line > 1 else ""
        error.args = (position + as_sentence(str(error)),)
        raise


def code_of(result: object | None) -> ExitCode:
    """Return the exit code of a step's result."""
    if isinstance(result, AuditResult):
        return audit_code(result)
    if isinstance(result, LatticeResult):
        from sqlaudit.lattices.run import code_of as code_of_lattice

        return code_of_lattice(result)
    if isinstance(result, CompareResult):
        from sqlaudit.release.compare.run import code_of as code_of_comparison

        return code_of_comparison(result)
    if isinstance(result, AggregatesResult):
        return verdict(result.passed)
    if isinstance(result, ColumnSets):
        return verdict(True, result.complete or not result.open_sets)
    assert result is None or isinstance(result, AttackResult)
    return ExitCode.OK


# Ctrl-C at a prompt cancels the running statement, however often it is pressed, and never ends the console.


class Cancelling:
    """A block in which Ctrl-C cancels the running statement. Only the first one raises; the others cancel again.

    Args:
        cancel: stops the running statement; called from the signal handler.

    Raises:
        KeyboardInterrupt: inside the block, at the first Ctrl-C.
    """

    def __init__(self, cancel: Callable[[], None]) -> None:
        self._cancel = cancel
        self._previous: Callable[[int, FrameType | None], object] | int | None = None
        self.stopped = False
        """True after a Ctrl-C."""

    def __enter__(self) -> Cancelling:
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        first, self.stopped = not self.stopped, True
        with contextlib.suppress(SqlauditError, OSError):
            self._cancel()
        if first:  # a second one would leave the work that waits for the first half done
            raise KeyboardInterrupt


SHOWN_ROWS = 1_000
WIDEST = 60
_PROMPT_LINES = 2
"""Lines of a screen that a result leaves to the prompt."""


class Outside:
    """The stdout and stderr of a console. A progress bar ends before anything is written.

    Args:
        at_prompt: True if long results are paged.
    """

    def __init__(self, at_prompt: bool = False) -> None:
        self._at_prompt = at_prompt
        self._bar: ProgressBar | None = None

    def terminal(self) -> Terminal:
        """Return the terminal that a `Screen` writes to."""
        limit, widest = (SHOWN_ROWS, WIDEST) if self._at_prompt else (None, None)
        return Terminal(self.write, say, widest=widest, limit=limit)

    def write(self, text: str) -> None:
        """Write a text on stdout, through a pager if it is longer or wider than the screen."""
        if self._bar is not None:
            self._bar.__exit__()
        if self._at_prompt and not _fits(text):
            os.environ.setdefault("LESS", "SRX")  # long lines are scrolled sideways, colours kept
            click.echo_via_pager(in_encoding(text, sys.stdout.encoding).rstrip("\n"), color=True)
        else:
            print_data(text)

    @contextlib.contextmanager
    def working(self, session: Session) -> Iterator[None]:
        """Show a progress bar while a step runs, and afterwards its time if that is on."""
        begun = time.monotonic()
        with ProgressBar() as bar:
            self._bar = bar
            session.engine.progress = bar.update
            try:
                yield
            finally:
                self._bar = None
        if session.timing:
            click.echo(f"Time: {time.monotonic() - begun:.3f} s", err=True)


def _fits(text: str) -> bool:
    """Return True if a text fits on the screen, in height and width. Colours take no width."""
    size = shutil.get_terminal_size((80, 24))
    lines = click.unstyle(text).splitlines()
    return len(lines) <= size.lines - _PROMPT_LINES and all(width_of(line) <= size.columns for line in lines)


def converse(session: Session, outside: Outside) -> ExitCode:
    """Read and run what the user types until they leave. Return the exit code."""
    read = prompt_of(session)
    click.echo(f"sqlaudit {__version__} on {session.engine.version()}. \\? lists the commands, \\q exits.")
    while not session.left and not ENDING.leaves:
        ENDING.forgive()
        try:
            _run_typed(session, outside, read())
        except EOFError:
            break
        except KeyboardInterrupt:  # at the prompt it drops the line
            continue
    return ExitCode.INTERRUPTED if ENDING.leaves else ExitCode.OK


def _run_typed(session: Session, outside: Outside, text: str) -> None:
    """Run the statements of a text, up to the first error."""
    try:
        pieces = list(split(text, session.workspace.dialect))
    except SqlauditError as error:
        say(str(error))
        return
    for piece in pieces:
        if session.left or not _run_piece(session, outside, piece):
            return


def _run_piece(session: Session, outside: Outside, piece: Piece) -> bool:
    """Run a piece. Return True if it succeeded; otherwise the error has been printed."""
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
            say("cancelled." if cancelling.stopped else as_sentence(str(error)))
            return False
    return not boundary.code


# The prompt: a line editor with history, completion and highlighting. Results never get into the history.

HISTORY = "SQLAUDIT_HISTORY"
"""Environment variable with another file for the history; empty = no history."""
PLAIN_WORDS = {"exit": "\\q", "quit": "\\q", "help": "\\?"}
"""Words that people type before they know the commands."""
_STATEMENT_WORDS = ("AUDIT", "AGGREGATES", "SENSITIVE", "REQUIRE", "ENTITY")
_COLOURS = Style.from_dict(
    {
        "pygments.keyword": "ansiblue",
        "pygments.literal.string": "ansigreen",
        "pygments.literal.number": "ansimagenta",
        "pygments.comment": "ansibrightblack",
    }
)


class ConsoleLexer(PostgresLexer):  # type: ignore[misc]  # pygments has no types
    """A lexer for SQL with the words of AUDIT, and for commands."""

    def get_tokens_unprocessed(self, text: str, *args: object) -> Iterator[tuple[int, _TokenType, str]]:
        """Return positions, kinds and texts of tokens."""
        if text.lstrip().startswith("\\"):
            end = len(text) - len(text.lstrip()) + len(text.split(None, 1)[0])
            yield 0, Keyword, text[:end]
            for at, kind, value in super().get_tokens_unprocessed(text[end:], *args):
                yield at + end, kind, value
            return
        for at, kind, value in super().get_tokens_unprocessed(text, *args):
            yield at, Keyword if value.upper() in _STATEMENT_WORDS else kind, value


def prompt_of(session: Session) -> Callable[[], str]:
    """Return a function that reads the next statements or command of the user.

    It raises EOFError at Ctrl-D, and KeyboardInterrupt at Ctrl-C, which drops the line.
    """
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        """Run what is complete; else begin another line."""
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None
        elif buffer.text.strip().casefold() in PLAIN_WORDS or is_complete(buffer.text, session.workspace.dialect):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    editor: PromptSession[str] = PromptSession(
        history=history(),
        completer=ConsoleCompleter(session),
        complete_while_typing=False,
        multiline=True,
        key_bindings=keys,
        lexer=PygmentsLexer(ConsoleLexer) if Output().colour else None,
        style=_COLOURS,
        prompt_continuation=lambda width, line, wrapped: " " * max(0, width - 3) + "-> ",
        include_default_pygments_style=False,
    )

    def read() -> str:
        typed = editor.prompt(f"{visible(session.called()) or 'sqlaudit'}=> ")
        return PLAIN_WORDS.get(typed.strip().casefold(), typed)

    return read


def history() -> History:
    """Return the history of earlier sessions, in a file that only this user can read, or in memory if no file can be
    used.
    """
    named = os.environ.get(HISTORY)
    if named == "":
        return InMemoryHistory()
    state = os.environ.get("XDG_STATE_HOME") or str(Path("~/.local/state").expanduser())
    path = Path(named) if named else Path(state, "sqlaudit", "console_history")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        path.chmod(0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))
