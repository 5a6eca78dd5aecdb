"""Where no thread can be started, as in a container at its limit or in WebAssembly, the caller does the work."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

import sqlaudit
from sqlaudit.base.errors import Incomplete
from sqlaudit.base.spec import Limits
from sqlaudit.base.threads import start_thread
from sqlaudit.engines.watch import Deadline, Worker, in_time, reporting
from tests.cli.runner import patients, run


@pytest.fixture(autouse=True)
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)


def test_an_audit_runs_in_the_thread_of_its_caller(tmp_path: Path) -> None:
    file = patients(tmp_path)
    result = sqlaudit.audit(str(file), qi=["age", "sex"], require={"k": 2})
    assert (result.passed, result.rows) == (False, 12)
    for more in ([], ["--timeout", "60"], ["--threads", "1"]):
        answer = run("audit", file, "--qi", "age", "--sensitive", "disease", "--require", "k=5", *more)
        assert (answer.code, "internal error" in answer.err) == (0, False), answer.err


def test_work_is_done_once() -> None:
    done: list[int] = []
    worker = Worker(lambda: None)
    for _ in range(2):
        worker.do(lambda: done.append(threading.get_ident()))
    worker.stop()
    assert done == [threading.get_ident()] * 2
    assert in_time(lambda: 1, 5, print) == 1
    with reporting(lambda step, share: None, "step", lambda: None):
        pass
    assert not start_thread(threading.Thread(target=print))


def test_a_time_limit_holds_between_statements(tmp_path: Path) -> None:
    deadline = Deadline(0.01, lambda: None)
    time.sleep(0.02)
    assert deadline.over
    with pytest.raises(Incomplete):
        sqlaudit.audit(str(patients(tmp_path)), qi=["age"], limits=Limits(timeout=1e-9))


def test_a_solver_runs_in_the_thread_of_its_caller(tmp_path: Path) -> None:
    written = tmp_path / "release.csv"
    answer = run("suppress", patients(tmp_path), "--qi", "age,sex", "--require", "k=3", "--to", written)
    assert answer.code == 0, answer.err
    assert written.exists()


def test_a_postgresql_audit(postgres_url: str) -> None:
    result = sqlaudit.audit(
        query="SELECT n % 2 AS a FROM generate_series(1, 10) AS t(n)", db=postgres_url, qi=["a"], require={"k": 5}
    )
    assert result.passed
