"""Signals that end a command, and a last resort for a command whose database does not answer."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import NoReturn, TypeAlias

from sqlaudit.base.errors import ExitCode

# SIGINT, SIGTERM and SIGHUP end a command in the same way. The exit code says which one it was.
#
# This module imports nothing large: it must handle signals before anything else is loaded.

Handler: TypeAlias = "Callable[[int, FrameType | None], object] | int | None"

INTERRUPTED = 130
SHOW_CURSOR = b"\r\n\x1b[?25h"
NUMBERS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
STOPPED = "stopped by Ctrl-C"
_WORDS = {"SIGTERM": "terminated", "SIGHUP": "hung up"}


class Ended(KeyboardInterrupt):
    """A signal that ends the command, as Ctrl-C does."""


class EndingSignal:
    """The signal that ends this process, if one came, and how it does so.

    Before and after a command there is nothing to clean up, so that a signal ends the process at once. While one runs,
    a signal raises `Ended` in the main thread, which is handled as Ctrl-C.
    """

    def __init__(self) -> None:
        self.signal = 0
        self._raises = False

    @property
    def word(self) -> str:
        """Return what happened in a few words: stopped by Ctrl-C, terminated or hung up."""
        return _WORDS.get(signal.Signals(self.signal).name, STOPPED) if self.signal else STOPPED

    @property
    def leaves(self) -> bool:
        """Return True if a signal came that ends a console. Ctrl-C does not."""
        return self.signal not in (0, signal.SIGINT)

    def take(self) -> None:
        """Handle the signals of this process, except those that it was started to ignore (`nohup`)."""
        for number in handled_signals():
            signal.signal(number, self._heard)

    @contextmanager
    def raising(self) -> Iterator[None]:
        """Let signals raise `Ended` inside the block."""
        self.signal = 0
        self._raises = True
        try:
            yield
        finally:
            self._raises = False

    def forgive(self) -> None:
        """Forget a Ctrl-C at a prompt, which ends nothing. The next signal counts as the first again."""
        self.signal = 0

    def code(self, code: int) -> int:
        """Return an exit code, with `interrupted` replaced by that of the signal: 143 for SIGTERM, 129 for SIGHUP."""
        return 128 + self.signal if code == INTERRUPTED and self.signal else code

    def leave(self, sentence: str = "", code: int = INTERRUPTED) -> NoReturn:
        """Remove unfinished files and end the process at once, without any other cleanup."""
        leftovers = sys.modules.get("sqlaudit.base.files")
        if leftovers is not None:
            leftovers.discard_unfinished()
        with suppress(OSError, ValueError, AttributeError):
            if sys.stderr.isatty():
                os.write(sys.stderr.fileno(), SHOW_CURSOR)
            if sentence:
                os.write(sys.stderr.fileno(), f"sqlaudit: {sentence}\n".encode())
        os._exit(self.code(code))

    def _heard(self, number: int, frame: FrameType | None) -> None:
        again, self.signal = self.signal, number
        if not self._raises:
            self.leave(f"{self.word}.")
        if again:
            self.leave()
        raise Ended


def handled_signals() -> list[int]:
    """Return the signals that end a command. One that is ignored, as under nohup, is not among them."""
    return [number for number in NUMBERS if signal.getsignal(number) is not signal.SIG_IGN]


ENDING = EndingSignal()


# A limit of this process, not of the server, for a database that no longer answers.
#
# The engine limits the time of a statement first. But a request that got lost, or a driver that waits without end,
# would hold the process for ever.

GRACE = 5.0
"""Seconds beyond --timeout that an engine has to end in good order."""
PATIENCE = 10.0
"""Seconds after Ctrl-C in which the running statement has to stop."""


class LastResort:
    """A block in which the process ends some seconds after a time limit or a signal, whatever it waits for.

    Args:
        timeout: the time limit in seconds, None = none.
    """

    def __init__(self, timeout: float | None = None) -> None:
        self._timers: list[threading.Timer] = []
        self._timeout = timeout

    def __enter__(self) -> LastResort:
        if self._timeout is not None:
            sentence = (
                f"The time limit of {self._timeout:g} seconds was reached, and the database does not respond. Its "
                "statement may continue for a while."
            )
            self._after(self._timeout + GRACE, sentence, ExitCode.INCOMPLETE)
        return self

    def __exit__(self, *_: object) -> None:
        for timer in self._timers:
            timer.cancel()

    def signalled(self) -> None:
        """Start the time in which the running statement has to stop after a signal."""
        sentence = (
            f"{ENDING.word}; the running statement did not stop within {PATIENCE:g} s and may continue in the database "
            "for a while. Nothing was changed."
        )
        self._after(PATIENCE, sentence, ExitCode.INTERRUPTED)

    def _after(self, seconds: float, sentence: str, code: ExitCode) -> None:
        """End the process with this sentence and code after some seconds, unless the block ends before."""
        timer = threading.Timer(seconds, partial(ENDING.leave, sentence, code))
        timer.daemon = True
        from sqlaudit.base.threads import start_thread

        self._timers.append(timer)
        try:
            start_thread(timer)
        except BaseException:  # Ctrl-C while it starts: no one would cancel it later
            timer.cancel()
            raise
