"""Ctrl-C at a prompt: it cancels what runs, however often it is pressed, and never ends the console."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable
from types import FrameType

from sqlaudit.base.errors import SqlauditError


class Cancelling:
    """While it lasts, Ctrl-C cancels the running statement; only the first one raises, the others cancel again.

    Args:
        cancel: stops what is running; called from the signal handler.

    Raises:
        KeyboardInterrupt: inside the block, at the first Ctrl-C.
    """

    def __init__(self, cancel: Callable[[], None]) -> None:
        self._cancel = cancel
        self._previous: Callable[[int, FrameType | None], object] | int | None = None
        self.stopped = False
        """Whether there was a Ctrl-C."""

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
