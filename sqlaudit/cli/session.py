"""A connection for a command: it prints statements, draws progress, stops at Ctrl-C and is closed at the end."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

import click

from sqlaudit.base.addresses import Whereabouts
from sqlaudit.base.errors import Interrupted, SqlauditError
from sqlaudit.base.spec import Limits, Target
from sqlaudit.cli.exits import is_quiet
from sqlaudit.cli.options import Trace
from sqlaudit.cli.requests import written_files
from sqlaudit.cli.signals import ENDING, Ended, Handler, LastResort, handled_signals
from sqlaudit.engines.contract import Engine, Executed
from sqlaudit.engines.writing import files_read, refuse_overwriting
from sqlaudit.reports.document import in_encoding, listing, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

PATIENCE = 0.5
"""Seconds of silence before a progress bar appears."""
FORCED = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
"""Variables that make rich draw although stderr is no terminal."""
NOT_CANCELLED = (
    "the database did not cancel the running statement, which may continue for a while. Nothing was changed."
)


@contextlib.contextmanager
def session(db: str | Whereabouts | None, limits: Limits, trace: Trace, *targets: Target) -> Iterator[Engine]:
    """Yield an open engine for one command.

    Args:
        db: the value of `--db`.
        limits: the budgets of the command.
        trace: what is printed of the statements that run.
        targets: everything that will be read.

    Raises:
        SqlauditError: whatever `connect` raises, and `Interrupted` after Ctrl-C.
    """
    from sqlaudit.engines import connect

    context = click.get_current_context(silent=True)
    if context is not None and (written := written_files(context)):
        # Not earlier: only now the database of an environment variable or profile is known
        refuse_overwriting(written, files_read(db, targets))
    with LastResort(limits.timeout) as last_resort:
        with ProgressBar():  # a Spark takes seconds to start
            connection = connect(db, limits, *targets)
        with connection as engine, contextlib.ExitStack() as at_end:
            if trace.timings:
                from sqlaudit.cli.timings import print_timings

                at_end.callback(print_timings, engine)
            at_end.enter_context(Interruptible(engine.cancel, engine.executed, last_resort))
            if trace.show_sql:
                engine.tracer = show_statement
                yield engine
                return
            with ProgressBar() as bar:
                engine.progress = bar.update
                yield engine


def statement_text(executed: Executed) -> str:
    """Return a statement that ran, headed by its step and time, with a semicolon and an end of line behind it."""
    seconds = "" if executed.seconds is None else f", {executed.seconds:.3f} s"
    lines = (visible(line) for line in executed.sql.rstrip().splitlines())
    return f"-- {executed.name}{seconds}\n" + "\n".join(lines) + ";\n"


def show_statement(executed: Executed) -> None:
    """Print a statement that ran on stderr, with an empty line after it."""
    click.echo(in_encoding(statement_text(executed), getattr(sys.stderr, "encoding", None)), err=True)


class Interruptible:
    """A block in which the first Ctrl-C cancels the running statement, and a second one ends the process at once.

    SIGTERM and SIGHUP do the same. A database that does not answer is not waited for without end.

    Args:
        cancel: stops the running statement; called from the signal handler. It raises if that failed.
        executed: the statements that finished by then, which the message lists.
        last: ends the process when nothing stops.

    Raises:
        Interrupted: at the end of the block, after a signal.
    """

    def __init__(self, cancel: Callable[[], None], executed: list[Executed], last: LastResort | None = None) -> None:
        self._cancel, self._executed = cancel, executed
        self._own = LastResort()
        self._last = last or self._own
        self._previous: dict[int, Handler] = {}
        self._stopped = self._failed = False

    def __enter__(self) -> Interruptible:
        if threading.current_thread() is threading.main_thread():
            self._previous = {number: signal.signal(number, self._stop) for number in handled_signals()}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._own.__exit__()
        if self._stopped:
            raise Interrupted(_interruption_sentence(self._executed, self._failed)) from None

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Cancel the running statement at the first signal, and end the process at the second."""
        if self._stopped:
            ENDING.leave()
        self._stopped, ENDING.signal = True, number
        self._last.signalled()
        try:
            self._cancel()
        except (SqlauditError, OSError):
            self._failed = True
        raise Ended


def _interruption_sentence(executed: list[Executed], failed: bool) -> str:
    """Return the message of an interruption: whether the statement was cancelled, and the steps finished by then."""
    steps = list(dict.fromkeys(statement.name.replace("_", " ") for statement in executed if statement.sql))
    finished = f"Finished by then: {listing(steps)}." if steps else "Nothing was finished by then."
    if failed:
        return f"{ENDING.word}; {NOT_CANCELLED} {finished}"
    return f"{ENDING.word}; the running statement was cancelled and nothing was changed. {finished}"


class ProgressBar:
    """A bar on stderr, only on a terminal and only when the work takes longer than `PATIENCE`."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or _terminal_console()
        at_terminal = self._console is not None and self._console.is_terminal and not self._console.is_dumb_terminal
        self._enabled = at_terminal and not is_quiet()
        self._lock = threading.Lock()
        self._step, self._share, self._has_share = "starting", 0.0, False
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._timer = threading.Timer(PATIENCE, self._show)
        self._timer.daemon = True

    def __enter__(self) -> ProgressBar:
        if self._enabled:
            from sqlaudit.base.threads import start_thread

            try:
                start_thread(self._timer)
            except BaseException:  # Ctrl-C while it starts: no one would cancel it later
                self._timer.cancel()
                raise
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._enabled = False
            if self._bar is not None:
                self._bar.stop()

    def update(self, step: str, share: float | None) -> None:
        """Show the running step, and the share of it that is done (0 to 1, None if unknown)."""
        with self._lock:
            self._step, self._has_share, self._share = visible(step.replace("_", " ")), share is not None, share or 0.0
            self._draw()

    def _show(self) -> None:
        """Draw the bar, unless the work ended before `PATIENCE`."""
        with self._lock:
            if not self._enabled:
                return
            assert self._console is not None
            self._bar = _bar_on(self._console)
            self._task = self._bar.add_task(self._step, total=None)
            try:
                self._bar.start()
            except RuntimeError:  # no further thread
                self._bar = None
            self._draw()

    def _draw(self) -> None:
        if self._bar is not None and self._task is not None:
            total = 1.0 if self._has_share else None
            self._bar.update(self._task, description=self._step, total=total, completed=self._share)


def _terminal_console() -> Console | None:
    """Return a console to draw on, None if no one would see it. Then nothing that draws is imported."""
    if not (sys.stderr is not None and sys.stderr.isatty()) and not any(os.environ.get(name) for name in FORCED):
        return None
    from rich.console import Console

    return Console(stderr=True, highlight=False, markup=False)


def _bar_on(console: Console) -> Progress:
    """Return a bar that leaves nothing behind. rich is imported only when one is drawn."""
    from rich.progress import BarColumn, Progress, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.text import Text

    class TimeLeft(TimeRemainingColumn):
        """A column with the remaining time, empty if it is unknown or the step still runs when the bar is full."""

        def render(self, task: Task) -> Text:
            unknown = task.time_remaining is None or task.percentage > 99
            return Text() if unknown else Text("left: ").append_text(super().render(task))

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeLeft(compact=True))
    return Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
