"""How far Spark is with what an engine asked for: tasks done of the tasks known so far."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from sqlaudit.engines.spark.session import FAILURES, Lease


class TasksDone:
    """The share of tasks that are done, of the jobs of one session.

    Args:
        lease: the session; a server of Spark Connect tells by itself, another Spark is asked.
    """

    def __init__(self, lease: Lease) -> None:
        self._session, self._remote = lease.session, lease.remote
        self._told: float | None = None
        if self._remote:
            self._session.registerProgressHandler(self._tell)

    def __call__(self) -> float | None:
        """The share between 0 and 1; None when nothing is known."""
        if self._remote:
            return self._told
        with suppress(*FAILURES):
            return self._asked()
        return None

    def close(self) -> None:
        """Listen no more."""
        if self._remote:
            self._session.removeProgressHandler(self._tell)

    def _tell(self, stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        counts = [(stage.num_tasks, stage.num_completed_tasks) for stage in stages or ()]
        self._told = None if done else _share(counts)

    def _asked(self) -> float | None:
        """Of the stages that run now, in jobs that carry the session's own tag."""
        tracker = self._session._jsparkSession.sparkContext().statusTracker()
        jobs = tracker.getJobIdsForTag(self._session._jsparkSession.sessionJobTag())
        counts = []
        for job in jobs:
            for stage in _of(tracker.getJobInfo(job), lambda info: info.stageIds()):
                found = tracker.getStageInfo(stage)
                if found.isDefined():
                    counts.append((found.get().numTasks(), found.get().numCompletedTasks()))
        return _share(counts)


def _of(option: Any, take: Any) -> Any:
    return take(option.get()) if option.isDefined() else ()


def _share(counts: list[tuple[int, int]]) -> float | None:
    tasks = sum(known for known, _ in counts)
    return sum(done for _, done in counts) / tasks if tasks else None
