"""Threads around a running statement: one runs it, one stops it at the time limit, one reports progress."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from contextvars import copy_context
from typing import TypeVar

from sqlaudit.base.errors import SqlauditError
from sqlaudit.engines.contract import ProgressHook

T = TypeVar("T")

_AGAIN = 0.05
_POLL = 0.2


class Worker:
    """A thread that does the work of the main thread, so that Ctrl-C always has an effect.

    A signal handler runs in the main thread and between two steps of Python. While that thread computes inside the
    database's library, Ctrl-C waits, possibly for minutes; while it waits for another thread, it does not.

    Args:
        interrupt: stops the running work; called when the waiting is interrupted.
    """

    def __init__(self, interrupt: Callable[[], None]) -> None:
        self._interrupt = interrupt
        self._pool: ThreadPoolExecutor | None = ThreadPoolExecutor(1, thread_name_prefix="sqlaudit-worker")

    def do(self, work: Callable[[], T]) -> T:
        """Return the result of the work. It is done in the caller's thread if no other one can be started.

        Raises:
            BaseException: whatever the work raises, or a signal handler meanwhile (then the work has been stopped).
        """
        if self._pool is None or threading.current_thread() is not threading.main_thread():
            return work()
        try:
            running = self._pool.submit(copy_context().run, work)
        except RuntimeError:
            self._pool.shutdown(cancel_futures=True)  # the work waits in its queue, and must not be done twice
            self._pool = None
            return work()
        try:
            return running.result()
        finally:
            while not running.done():
                self._interrupt()
                wait([running], timeout=_AGAIN)

    def stop(self) -> None:
        """End the thread; safe to call twice."""
        if self._pool is not None:
            self._pool.shutdown()


class Deadline:
    """A timer that interrupts the running work at its end, again and again until it is stopped.

    It does so repeatedly, because a statement that starts just after an interruption would not notice it.

    Args:
        seconds: the time from now; None = no limit.
        interrupt: stops the running statement; called from another thread.
    """

    def __init__(self, seconds: float | None, interrupt: Callable[[], None]) -> None:
        self.seconds = seconds
        self._over = threading.Event()
        self._stopped = threading.Event()
        self._interrupt = interrupt
        self._ends: float | None = None
        if seconds is not None:
            from sqlaudit.base.threads import start_thread

            thread = threading.Thread(target=self._wait, args=(seconds,), name="sqlaudit-deadline", daemon=True)
            self._ends = None if start_thread(thread) else time.monotonic() + seconds

    @property
    def over(self) -> bool:
        """True if the time is over; without a thread, nothing interrupts the running statement."""
        return self._over.is_set() or (self._ends is not None and time.monotonic() > self._ends)

    def stop(self) -> None:
        """End the thread; safe to call twice."""
        self._stopped.set()

    def _wait(self, seconds: float) -> None:
        """Interrupt the running work from the end of the time on, until the timer is stopped."""
        pause = max(0.0, seconds)
        while not self._stopped.wait(pause):
            self._over.set()
            with suppress(SqlauditError):  # a cancel that failed: the next one may not
                self._interrupt()
            pause = _AGAIN


def in_time(work: Callable[[], T], seconds: float, discard: Callable[[T], object]) -> T:
    """Return the result of work that may never end, done in a thread that is abandoned when the time is over.

    Args:
        work: the work. seconds: how long to wait. discard: takes a result that comes too late.

    Raises:
        TimeoutError: the time is over. BaseException: whatever the work raises.

    Example:
        >>> in_time(lambda: 1 + 1, 10, print)
        2
    """
    from sqlaudit.base.threads import start_thread

    running: Future[T] = Future()
    context = copy_context()

    def do() -> None:
        try:
            running.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001  whatever it is, it is raised in the waiting thread
            running.set_exception(error)

    if not start_thread(threading.Thread(target=do, name="sqlaudit-waiting", daemon=True)):
        return work()
    with ExitStack() as on_failure:  # the time is over, or a signal handler has ended the waiting
        on_failure.callback(running.add_done_callback, lambda late: late.exception() or discard(late.result()))
        result = running.result(seconds)
        on_failure.pop_all()
    return result


@contextmanager
def reporting(hook: ProgressHook | None, step: str, share: Callable[[], float | None]) -> Iterator[None]:
    """Call `hook` a few times a second with the share of the step that is done, while the block runs.

    Args:
        hook: the function to call; None = no thread is started.
        step: the step's name.
        share: the share done between 0 and 1, None when unknown; called from another thread.
    """
    if hook is None:
        yield
        return
    from sqlaudit.base.threads import start_thread

    done = threading.Event()

    def report() -> None:
        while not done.wait(_POLL):
            hook(step, share())

    thread = threading.Thread(target=report, name="sqlaudit-progress", daemon=True)
    try:
        start_thread(thread)  # a Ctrl-C that comes while it starts must end it, too
        yield
    finally:
        done.set()
        if thread.is_alive():
            thread.join()
