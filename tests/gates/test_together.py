"""Runs at the same time that keep something in one file: each is kept whole, or says who has the file."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.engines.duckdb import store
from sqlaudit.gates.stored import History
from tests.gates.databases import PATIENTS, in_duckdb

POLICY = "tables: [{table: patients, quasi_identifiers: [age, sex], requirements: [k=3, k=4]}]\n"
HOLD = """
import duckdb, sys
held = duckdb.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.readline()
"""


@contextmanager
def held(file: Path) -> Iterator[subprocess.Popen[str]]:
    """Another program that has the file open."""
    command = [sys.executable, "-c", HOLD, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        yield other
        if not other.stdin.closed:
            other.stdin.close()


def test_a_file_that_is_held_too_long_is_said_to_be_by_whom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "PATIENCE", 0.2)
    policy, failures = in_duckdb(tmp_path, {"patients": PATIENTS}).policy(POLICY), tmp_path / "failures.duckdb"
    with (
        held(failures) as other,
        pytest.raises(UsageError, match=rf"is in use by process {other.pid} \(python.*also after 0.2 s"),
    ):
        sqlaudit.gate(policy, store_failures=failures)


def test_a_file_that_another_run_writes_is_waited_for(tmp_path: Path) -> None:
    policy, failures = in_duckdb(tmp_path, {"patients": PATIENTS}).policy(POLICY), tmp_path / "failures.duckdb"
    with held(failures) as other:
        assert other.stdin is not None
        timer = threading.Timer(0.5, other.stdin.close)
        timer.start()
        found = sqlaudit.gate(policy, store_failures=failures)
        timer.join()
    assert [test.outcome.value for test in found.tests] == ["fail", "fail"]
    assert found.mistakes == ()


def test_runs_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    policy = in_duckdb(tmp_path, {"patients": PATIENTS}).policy(POLICY)
    kept, history, failures = (tmp_path / name for name in ("kept.yml", "history.jsonl", "failures.duckdb"))
    sqlaudit.gate(policy, baseline=kept, accept=True, store_failures=failures)
    program = [sys.executable, "-m", "sqlaudit", "test", "-f", str(policy), "--baseline", str(kept)]
    program += ["--history", str(history), "--store-failures", str(failures)]
    runs = [subprocess.Popen(program, stdout=subprocess.DEVNULL) for _ in range(3)]
    assert [run.wait() for run in runs] == [0, 0, 0]
    assert {moment.run for moment in History(history).moments()["patients", "k=3", ""]} == {1, 2, 3}
    with duckdb.connect(str(failures), read_only=True) as connection:
        short = connection.execute(
            "SELECT failed_requirements, SUM(classes) FROM failures GROUP BY ALL ORDER BY ALL"
        ).fetchall()
    assert short == [("k=3, k=4", 2), ("k=4", 1)]  # of one run: classes of 3, 2 and 2 people


def test_what_cannot_be_kept_at_the_end_is_said_beside_the_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, failures = in_duckdb(tmp_path, {"patients": PATIENTS}).policy(POLICY), tmp_path / "failures.duckdb"

    def refuse(*_: object) -> None:
        raise UsageError("The disk is full.")

    monkeypatch.setattr("sqlaudit.gates.stored.FailureStore.write", refuse)
    found = sqlaudit.gate(policy, store_failures=failures)
    assert [test.outcome.value for test in found.tests] == ["fail", "fail"]
    assert [one.message for one in found.mistakes] == ["Failing classes were not written: The disk is full."]
