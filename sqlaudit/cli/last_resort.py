"""What ends a command whose database does not answer any more: a limit of this process, not of the server.

A statement's time is first limited by the engine. But a request that is lost on the way, or a driver that waits without
end, would hold the process for ever; then it ends without waiting.
"""

from __future__ import annotations

import threading
from functools import partial

from sqlaudit.base.errors import ExitCode
from sqlaudit.cli.signals import ENDING

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
                f"The time limit of {self._timeout:g} seconds was reached, and the database does not answer any more; "
                "its statement may go on there for a while."
            )
            self._after(self._timeout + GRACE, sentence, ExitCode.INCOMPLETE)
        return self

    def __exit__(self, *_: object) -> None:
        for timer in self._timers:
            timer.cancel()

    def signalled(self) -> None:
        """A signal asked what runs to stop."""
        sentence = (
            f"{ENDING.word}; what ran did not stop within {PATIENCE:g} s and was left alone: a statement may go on in "
            "the database for a while. Nothing was changed."
        )
        self._after(PATIENCE, sentence, ExitCode.INTERRUPTED)

    def _after(self, seconds: float, sentence: str, code: ExitCode) -> None:
        timer = threading.Timer(seconds, partial(ENDING.leave, sentence, code))
        timer.daemon = True
        timer.start()
        self._timers.append(timer)
