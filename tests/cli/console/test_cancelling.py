"""Ctrl-C cancels the running statement of either engine, however often it is pressed; the session goes on."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from sqlaudit.cli.console.run import Cancelling
from sqlaudit.cli.console.workspace import Workspace
from tests.cli.console.helpers import console
from tests.cli.console.test_session import ENDLESS


def test_a_statement_is_cancelled_and_the_next_one_runs(engine_name: str, request: pytest.FixtureRequest) -> None:
    urls = {"postgres": "postgres_url", "spark": "small_spark"}
    url = None if engine_name == "duckdb" else request.getfixturevalue(urls[engine_name])
    before = signal.getsignal(signal.SIGINT)
    with Workspace(url) as workspace:
        opened = console(workspace)
        presses = [threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)) for seconds in (0.3, 0.31, 0.5)]
        waiting = threading.Timer(0.6, lambda: None)
        with Cancelling(opened.session.cancel) as cancelling:
            for press in (*presses, waiting):
                press.start()
            with pytest.raises(KeyboardInterrupt):
                opened.run(ENDLESS[engine_name])
            while waiting.is_alive():  # for the last press, which comes when nothing runs any more
                time.sleep(0.01)
        assert cancelling.stopped
        assert signal.getsignal(signal.SIGINT) is before
        assert opened.words("SELECT 1 AS one;") == "one --- 1 (1 row)"
        assert opened.words("AUDIT (SELECT 1 AS a) BY (a) REQUIRE k=1").startswith("PASS")


def test_only_the_first_one_raises() -> None:
    cancelled = []
    with Cancelling(lambda: cancelled.append(1)):
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    assert cancelled == [1, 1]
