"""Silence: pyspark logs errors with the values that they quote; not while a statement of ours runs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from pyspark.logger import PySparkLogger

T = TypeVar("T")


class _Silence(logging.Filter):
    """Drops what pyspark logs of errors while a statement of ours runs: its messages quote values."""

    def __init__(self) -> None:
        super().__init__()
        self.local = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:
        """False in a thread that is at work for an engine."""
        return not getattr(self.local, "at_work", False)


_SILENCE = _Silence()


def _silence_loggers() -> None:
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).addFilter(_SILENCE)


_silence_loggers()


@contextmanager
def _silently() -> Iterator[None]:
    _SILENCE.local.at_work = True
    try:
        yield
    finally:
        _SILENCE.local.at_work = False


def quietly(work: Callable[[], T]) -> T:
    """What the work returns; what pyspark logs of errors meanwhile is dropped, since it quotes values."""
    with _silently():
        return work()
