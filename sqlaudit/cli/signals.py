"""Signals, each of which ends a command in the same way, and what ends one whose database does not answer."""

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

# SIGINT, SIGTERM and SIGHUP: each ends a command in the same way, and its exit code says which one it was.
#
# Imports nothing large: it is at work before anything else is loaded.

Handler: TypeAlias = "Callable[[int, FrameType | None], object] | int | None"

INTERRUPTED = 130
SHOW_CURSOR = b"\r\n\x1b[?25h"
NUMBERS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
STOPPED = "stopped by Ctrl-C"
_WORDS = {"SIGTERM": "terminated", "SIGHUP": "hung up"}


class Ended(KeyboardInterrupt):
    """A signal that ends the command, as Ctrl-C does."""


class EndingSignal:
    """Which signal ends this process, and how.

    Before and after a command there is nothing to clean up, so that a signal ends the process at once. While one runs,
    a signal raises `Ended` in the main thread, which everything on the way out knows as Ctrl-C.
    """

    def __init__(self) -> None:
        self.signal = 0
        self._raises = False

    @property
    def word(self) -> str:
        """What happened, in few words: stopped by Ctrl-C, terminated or hung up."""
        return _WORDS.get(signal.Signals(self.signal).name, STOPPED) if self.signal else STOPPED

    @property
    def leaves(self) -> bool:
        """Whether a signal came that a console leaves for; Ctrl-C is none."""
        return self.signal not in (0, signal.SIGINT)

    def take(self) -> None:
        """Hear the signals of this process from now on, but for those that it was started to ignore (`nohup`)."""
        for number in heard():
            signal.signal(number, self._heard)

    @contextmanager
    def raising(self) -> Iterator[None]:
        """While it lasts, a signal raises."""
        self.signal = 0
        self._raises = True
        try:
            yield
        finally:
            self._raises = False

    def forgive(self) -> None:
        """The signal was Ctrl-C at a prompt, which ends nothing; the next one is the first again."""
        self.signal = 0

    def code(self, code: int) -> int:
        """An exit code, where `interrupted` becomes that of the signal: 143 for SIGTERM, 129 for SIGHUP."""
        return 128 + self.signal if code == INTERRUPTED and self.signal else code

    def leave(self, sentence: str = "", code: int = INTERRUPTED) -> NoReturn:
        """End the process at once: what it had begun to write is removed, and nothing else happens."""
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


def heard() -> list[int]:
    """The signals that end a command here; one that is ignored, as under nohup, is left alone."""
    return [number for number in NUMBERS if signal.getsignal(number) is not signal.SIG_IGN]


ENDING = EndingSignal()


# What ends a command whose database does not answer any more: a limit of this process, not of the server.
#
# A statement's time is first limited by the engine. But a request that is lost on the way, or a driver that waits
# without end, would hold the process for ever; then it ends without waiting.

GRACE = 5.0
"""Seconds beyond --timeout that an engine has to end in good order."""
PATIENCE = 10.0
"""Seconds after Ctrl-C that what runs has to stop."""


class LastResort:
    """While it lasts, the process ends some seconds after a time limit, or after a signal, whatever it waits for.

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
        """A signal asked what runs to stop."""
        sentence = (
            f"{ENDING.word}; the running statement did not stop within {PATIENCE:g} s and may continue in the database "
            "for a while. Nothing was changed."
        )
        self._after(PATIENCE, sentence, ExitCode.INTERRUPTED)

    def _after(self, seconds: float, sentence: str, code: ExitCode) -> None:
        timer = threading.Timer(seconds, partial(ENDING.leave, sentence, code))
        timer.daemon = True
        from sqlaudit.base.threads import start_thread

        self._timers.append(timer)
        try:
            start_thread(timer)
        except BaseException:  # Ctrl-C while it starts: nobody would cancel it later
            timer.cancel()
            raise
