"""Where no thread can be started (a container at its limit, WebAssembly), work runs in the caller."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import Incomplete
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Limits
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.watch import in_time
from tests.cli.runner import run

PEOPLE = pd.DataFrame({"id": range(8), "age": [30, 40] * 4, "dx": list("aabb") * 2})


@pytest.fixture(autouse=True)
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)


def test_an_audit_runs_in_the_caller(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    PEOPLE.to_csv(file, index=False)
    for more in ((), ("--timeout", "60s")):
        answer = run("audit", file, "--qi", "age", "--sensitive", "dx", "--require", "k=4", *more)
        assert (answer.code, "internal error" in answer.err) == (0, False)
    assert sqlaudit.audit(PEOPLE, qi="age", require="k=4", limits=Limits(timeout=60)).passed
    asked: Any = {"qi": "age,dx", "require": "k=2"}
    assert sqlaudit.suppress(PEOPLE, how="exact", **asked).to_dict()
    assert sqlaudit.recode(PEOPLE, **asked).to_dict()


def test_postgres_is_asked_in_the_caller(postgres_url: str) -> None:
    with connect(postgres_url, Limits(timeout=60)) as engine:
        assert engine.run(Statement("one", "SELECT 1")) == [(1,)]


def test_a_time_limit_is_looked_at_between_statements() -> None:
    with connect(None, Limits(timeout=0.05)) as engine, pytest.raises(Incomplete, match=r"time limit of 0\.05 seconds"):
        _count_for_a_while(engine)


def test_what_is_waited_for_is_done_here() -> None:
    assert in_time(lambda: 2, 1, print) == 2


def _count_for_a_while(engine: Engine) -> None:
    for _ in range(100):
        engine.run(Statement("count", "SELECT SUM(a.range) FROM range(3000000) AS a"))
