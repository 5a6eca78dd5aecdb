"""The process that computes for the window: `python -m sqlaudit.app.worker`.

Jobs come as lines of JSON on stdin, because a connection may hold a password and other users can read the arguments of
a process; progress and results go out as lines on stdout. It ends when stdin does, so that nothing outlives the window.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

_LEAVING = 3.0
"""Seconds in which a job has to end after the window has gone."""
_RESTING = 60.0
"""Seconds without a job after which a database's connection, and its snapshot of all tables, is given back."""
_OUT_OF_MEMORY = (
    "Reading this table takes more memory than this computer has free. Close other programs, or save a smaller table."
)


def main() -> None:
    """Answer jobs until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the terminal is for the window, which ends this process
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers, open(os.devnull, "w") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), 1)  # whatever prints must not stand between answers
        _Bench(answers).work(sys.stdin)


class _Bench:
    """The open table, and the job that runs on it.

    Args:
        answers: takes the lines for the window.
    """

    def __init__(self, answers: IO[str]) -> None:
        from sqlaudit.app.tasks import OpenTable

        self._answers, self._lock = answers, threading.Lock()
        self._table: OpenTable | None = None
        self._jobs: list[Mapping[str, Any] | None] = []
        self._arrived = threading.Semaphore(0)

    def work(self, lines: IO[str]) -> None:
        """Run jobs one by one, in the order of their lines."""
        _bound_memory()
        threading.Thread(target=self._listen, args=(lines,), daemon=True).start()
        try:
            with contextlib.suppress(BrokenPipeError):
                while (job := self._next()) is not None:
                    self._send(self._run(job))
        finally:
            if self._table is not None:
                self._table.close()

    def _next(self) -> Mapping[str, Any] | None:
        """Return the next job; None when there will be none. A database that waits long is left alone meanwhile."""
        if not self._arrived.acquire(timeout=_RESTING):
            if self._table is not None and self._table.place["db"] is not None:
                self._table.close()
                self._table = None
            self._arrived.acquire()
        return self._jobs.pop(0)

    def _listen(self, lines: IO[str]) -> None:
        """Take jobs; at a `stop`, cancel the statement that runs; when the window is gone, end."""
        for line in lines:
            job = json.loads(line)
            if job != "stop":
                self._jobs.append(job)
                self._arrived.release()
            elif self._table is not None:
                self._table.cancel()
        self._jobs[:] = [None]
        self._arrived.release()
        if self._table is not None:
            self._table.cancel()
        time.sleep(_LEAVING)
        os._exit(1)

    def _run(self, job: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run a job and return its result, or the sentence of its error."""
        from sqlaudit.app import release_tasks  # noqa: F401 (registers its tasks)
        from sqlaudit.app.tasks import TASKS, OpenTable, in_the_window
        from sqlaudit.base.errors import SqlauditError
        from sqlaudit.base.parameter_names import speaking

        fields: list[str] = []

        def spelled(field: str, values: tuple[object, ...]) -> str:
            fields.append(field)
            return in_the_window(field, values)

        place = job["place"]
        try:
            with speaking(spelled):
                if self._table is None or self._table.place != place:
                    if self._table is not None:
                        self._table.close()
                    self._table = OpenTable(place, lambda step, share: self._send({"progress": [step, share]}))
                self._table.check_unchanged()
                result = TASKS[job["task"]](self._table, **job["arguments"])
                self._table.check_unchanged()
            return {"result": result}
        except SqlauditError as error:
            known = dict.fromkeys(fields)
            return {"error": str(error), "fields": [*known], "kind": type(error).__name__}
        except MemoryError:
            return {"error": _OUT_OF_MEMORY, "fields": [], "kind": "MemoryError"}

    def _send(self, answer: Mapping[str, Any]) -> None:
        with self._lock:
            self._answers.write(json.dumps(answer) + "\n")
            self._answers.flush()


def stamp_of(file: str) -> list[int] | None:
    """Return the identity and state of a file as plain numbers; None if it is not there."""
    from sqlaudit.base.files import stamp

    facts = stamp(Path(file))
    return None if facts is None else [*asdict(facts).values()]


def _bound_memory() -> None:
    """Limit this process to three quarters of the free memory, so that a table ends it and not the computer."""
    from sqlaudit.engines.duckdb.session import half_of_free

    half = half_of_free().removesuffix("MB")
    with contextlib.suppress(ImportError, OSError, ValueError):  # not on Windows; or less is allowed already
        import resource

        if half:
            limit = int(half) * 1_500_000
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


if __name__ == "__main__":
    main()
