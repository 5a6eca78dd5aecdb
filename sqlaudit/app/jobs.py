"""The window's side of the process that computes: jobs go to it one by one, and their results are kept."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlaudit.base.files import remove_leftovers

PATIENCE = 2.0
"""Seconds in which a job has to stop before its process is killed."""
_KEPT, _LONGEST_LINE = 500, 1 << 26
_FAILED = "Internal error. This is a bug in sqlaudit, please report it. Nothing was written."
_DIED = "Reading this table took more memory than this computer has free, and was ended. Save a smaller table."


@dataclass(frozen=True)
class JobResult:
    """How a job ended: with plain data, or with the sentence of an error.

    Args:
        fields: the options for reading that the sentence names. kind: the class of the error, or `Stopped`.
    """

    value: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    fields: tuple[str, ...] = ()
    kind: str = ""


class JobQueue:
    """Jobs, their results by what they depend on, and the process that runs them."""

    def __init__(self) -> None:
        self._results: OrderedDict[str, JobResult] = OrderedDict()
        self._waiting: OrderedDict[str, Mapping[str, Any]] = OrderedDict()
        self._running = ""
        self._process: Process | None = None
        self._loop: asyncio.Task[None] | None = None
        self.task = ""
        """The task of the running job."""
        self.progress: tuple[str, float | None] = ("", None)
        """The step of the running job, and the share of it that is done; None = unknown."""

    def result(self, job: Mapping[str, Any]) -> JobResult | None:
        """Return how a job ended; None while it waits or runs. One that is new waits from now on."""
        key = json.dumps(job, sort_keys=True)
        if key in self._results:
            self._results.move_to_end(key)
            return self._results[key]
        if key != self._running:
            self._waiting.setdefault(key, job)
            if self._loop is None or self._loop.done():
                self._loop = asyncio.create_task(self._run_waiting())
        return None

    def ended(self, job: Mapping[str, Any]) -> tuple[bool, JobResult | None]:
        """Return whether a job waits or runs, and how it ended; it is never begun by this."""
        key = json.dumps(job, sort_keys=True)
        return key == self._running or key in self._waiting, self._results.get(key)

    async def settle(self, seconds: float) -> None:
        """Wait until all jobs have ended, but no longer than some seconds."""
        if self._loop is not None and not self._loop.done():
            await asyncio.wait([self._loop], timeout=seconds)

    async def stop(self, *, keep: bool = True) -> None:
        """Stop the running job and drop those that wait.

        Args:
            keep: True to note that they were stopped, until `forget`.
        """
        stopped = [*self._waiting, *([self._running] if self._running else [])]
        self._waiting.clear()
        if self._running and self._process is not None and self._process.stdin is not None and self._loop is not None:
            self._process.stdin.write(b'"stop"\n')
            loop = self._loop
            await asyncio.wait([loop], timeout=PATIENCE)
            if not loop.done():
                await self._kill()
                await asyncio.wait([loop])
        for key in stopped:
            self._results.pop(key, None)
            if keep:
                self._keep(key, JobResult(error="This was stopped.", kind="Stopped"))

    def forget(self) -> None:
        """Forget errors, so that their jobs run again."""
        for key in [key for key, outcome in self._results.items() if outcome.error]:
            del self._results[key]

    async def close(self) -> None:
        """End the process, and remove what it may have left."""
        self._waiting.clear()
        await self._kill()
        if self._loop is not None:
            await asyncio.wait([self._loop])

    async def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        remove_leftovers()

    def _keep(self, key: str, outcome: JobResult) -> None:
        self._results[key] = outcome
        while len(self._results) > _KEPT:
            self._results.popitem(last=False)

    async def _run_waiting(self) -> None:
        while self._waiting:
            self._running, job = self._waiting.popitem(last=False)
            self.task, self.progress = job["task"], ("", None)
            try:
                outcome = await self._answer(job)
            finally:
                key, self._running = self._running, ""
            self._keep(key, outcome)

    async def _answer(self, job: Mapping[str, Any]) -> JobResult:
        """Give a job to the process, and wait for its answer."""
        if self._process is None:
            command = (sys.executable, "-P", "-m", "sqlaudit.app.worker")
            self._process = await asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=_LONGEST_LINE
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(ConnectionError):
            process.stdin.write(json.dumps(job).encode() + b"\n")
            await process.stdin.drain()
        while line := await process.stdout.readline():
            answer = json.loads(line)
            if "progress" in answer:
                self.progress = (answer["progress"][0].replace("_", " "), answer["progress"][1])
            elif "result" in answer:
                return JobResult(answer["result"])
            else:
                return JobResult({}, answer["error"], tuple(answer["fields"]), answer["kind"])
        code = await process.wait()
        if self._process is process:
            self._process = None
            remove_leftovers()
        return JobResult(error=_DIED if code < 0 else _FAILED, kind="MemoryError" if code < 0 else "InternalError")
