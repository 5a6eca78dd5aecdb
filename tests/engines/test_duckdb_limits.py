"""Time, memory, Ctrl-C and progress."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from sqlaudit.base.errors import EngineError, ExitCode, Incomplete, Interrupted, PermissionDenied, SqlauditError
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Limits, Target
from sqlaudit.engines import connect
from sqlaudit.engines.duckdb import session
from sqlaudit.engines.duckdb.engine import DuckDBEngine
from sqlaudit.engines.duckdb.errors import ErrorContext, translate
from sqlaudit.engines.duckdb.session import FIXED, half_of_free
from tests.engines.duckdb_helpers import SECRET, sentence, written

SLOW = Statement("slow", "SELECT count(*) FROM range(100000) a(i), range(1000000) b(j) WHERE (i * j) % 7 = 3")
ONE = Statement("one", "SELECT 1")


def test_the_time_limit_is_for_all_statements_together() -> None:
    with connect(None, Limits(timeout=0.3)) as engine:
        with pytest.raises(Incomplete) as first:
            engine.run(SLOW)
        with pytest.raises(Incomplete) as second:
            engine.run(ONE)
    assert sentence(first.value) == "The time limit of 0.3 seconds was reached in the step 'slow'."
    assert sentence(second.value) == "The time limit of 0.3 seconds was reached before the step 'one'."
    assert first.value.exit_code == ExitCode.INCOMPLETE


def test_the_time_limit_holds_for_exports_and_plans() -> None:
    with connect(None, Limits(timeout=0.3)) as engine, pytest.raises(Incomplete) as caught:
        list(engine.stream(SLOW))
    assert sentence(caught.value) == "The time limit of 0.3 seconds was reached in the step 'slow'."


def test_within_the_time_limit_nothing_happens() -> None:
    before = set(threading.enumerate())  # of engines that the whole test run shares
    with connect(None, Limits(timeout=60)) as engine:
        assert engine.run(ONE) == [(1,)]
    assert set(threading.enumerate()) <= before


def test_cancel_stops_the_running_statement_and_no_other() -> None:
    with connect() as engine:
        engine.cancel()
        assert engine.run(ONE) == [(1,)]
        for ask in (engine.run, lambda statement: list(engine.stream(statement)), engine.columns_as_arrays):
            threading.Timer(0.2, engine.cancel).start()
            with pytest.raises(Interrupted) as caught:
                ask(SLOW)
            assert sentence(caught.value) == "Stopped in the step 'slow'."
            assert caught.value.exit_code == ExitCode.INTERRUPTED
            assert engine.run(ONE) == [(1,)]


@pytest.fixture
def ctrl_c() -> Iterator[threading.Timer]:
    """Ctrl-C in a moment, with Python's own handler (a test run in the background may ignore it)."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    try:
        yield timer
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, previous)


def test_ctrl_c_is_heard_at_once_and_the_engine_stays_usable(ctrl_c: threading.Timer) -> None:
    with connect() as engine:
        ctrl_c.start()
        with pytest.raises(KeyboardInterrupt):
            engine.run(SLOW)
        assert engine.run(ONE) == [(1,)]


def test_a_handler_that_cancels_leaves_the_sentence(ctrl_c: threading.Timer) -> None:
    with connect() as engine:
        signal.signal(signal.SIGINT, lambda *_: engine.cancel())
        ctrl_c.start()
        with pytest.raises(Interrupted) as caught:
            engine.run(SLOW)
        assert sentence(caught.value) == "Stopped in the step 'slow'."


def test_the_engine_works_in_any_thread() -> None:
    found: list[object] = []
    with connect() as engine:
        thread = threading.Thread(target=lambda: found.append(engine.run(ONE)))
        thread.start()
        thread.join()
        assert engine.run(ONE) == found[0] == [(1,)]


def test_progress_is_told_while_a_statement_runs() -> None:
    told: list[tuple[str, float | None]] = []
    with connect() as engine:

        def hook(step: str, share: float | None) -> None:
            told.append((step, share))
            engine.cancel()

        engine.progress = hook
        with pytest.raises(Interrupted):
            engine.run(SLOW)
        engine.progress = None
        assert engine.run(ONE) == [(1,)]
    assert {step for step, _ in told} == {"slow"}
    assert all(share is None or 0 <= share <= 1 for _, share in told)


def test_nothing_is_printed_while_a_statement_runs(capfd: pytest.CaptureFixture[str]) -> None:
    with connect() as engine:
        engine.run(Statement("busy", "SELECT count(*) FROM (SELECT i % 1000 FROM range(3000000) r(i) GROUP BY 1)"))
    assert capfd.readouterr() == ("", "")


def test_memory_that_is_not_enough() -> None:
    with connect(None, Limits(memory="20MB", threads=1)) as engine, pytest.raises(Incomplete) as caught:
        engine.run(Statement("lists", "SELECT len(list(i)) FROM range(30000000) r(i)"))
    assert sentence(caught.value) == (
        "The step 'lists' ran out of memory. Its limit is 20MB. Raise it with limits=Limits(memory=…), or lower "
        "limits=Limits(threads=…)."
    )


def test_half_of_the_free_memory_is_taken(tmp_path: Path) -> None:
    """What is free on the machine and in each control group around the process; pages of files count as free."""

    def free(machine: int, **groups: tuple[str, int, int]) -> str:
        written = {"proc/meminfo": f"MemFree: 5 kB\nMemAvailable:   {machine} kB\n", "proc/self/cgroup": "0::/a/b\n"}
        for name, (most, current, files) in groups.items():
            folder = "sys/fs/cgroup/a" + ("/b" if name == "inner" else "")
            written |= {f"{folder}/memory.max": f"{most}\n", f"{folder}/memory.current": f"{current}\n"}
            written[f"{folder}/memory.stat"] = f"anon 7\ninactive_file {files}\nactive_file 1\nfile 9\n"
        for name, text in written.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return half_of_free(tmp_path)

    assert half_of_free(tmp_path) == ""  # not a Linux
    assert free(8_000_000) == "4096MB"
    assert free(200_000) == "500MB"
    assert free(8_000_000, inner=("max", 1, 1)) == "4096MB"
    assert free(8_000_000, inner=("3000000000", 1_000_000_000, 399_999_999)) == "1200MB"
    assert free(8_000_000, outer=("2000000000", 1_000_000_000, 399_999_999)) == "700MB"


def test_a_limit_that_nobody_gave_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "half_of_free", lambda: "20MB")
    with connect(None, Limits(threads=1)) as engine, pytest.raises(Incomplete) as caught:
        engine.run(Statement("lists", "SELECT len(list(i)) FROM range(30000000) r(i)"))
    assert " Its limit is 20MB, half of the memory that was free. Raise it with " in sentence(caught.value)
    known = translate(duckdb.OutOfMemoryException("Out of Memory Error"), ErrorContext("lists"))
    assert " Its limit is 80% of this machine's memory. Raise it with " in sentence(known)


def test_a_file_larger_than_memory_is_read_by_spilling(tmp_path: Path) -> None:
    path = str(tmp_path / "people.parquet")
    with duckdb.connect() as connection:
        rows = "(SELECT hash(i) AS a, hash(-i - 1) AS b FROM range(2500000) r(i))"
        connection.execute("COPY " + rows + " TO '" + path + "' (COMPRESSION snappy)")
    spill = tmp_path / "spill"
    spill.mkdir()
    limits = Limits(memory="35MB", threads=1, temp_directory=str(spill))
    assert Path(path).stat().st_size > 35_000_000
    seen: list[int] = []
    with DuckDBEngine(limits=limits) as engine:
        engine.progress = lambda *_: seen.append(sum(f.stat().st_size for f in spill.rglob("duckdb_temp_*")))
        relation = engine.open(Target(relation=path))
        sql = "SELECT count(*), max(n) FROM (SELECT a, b, count(*) AS n FROM " + relation.sql + " GROUP BY a, b)"
        assert engine.run(Statement("classes", sql)) == [(2_500_000, 1)]
    assert max(seen) > 35_000_000


def test_the_deadline_ends_with_the_engine() -> None:
    engine = connect(None, Limits(timeout=3600))
    assert "sqlaudit-deadline" in [thread.name for thread in threading.enumerate()]
    engine.close()
    for _ in range(100):
        if "sqlaudit-deadline" not in [thread.name for thread in threading.enumerate()]:
            break
        time.sleep(0.05)
    assert "sqlaudit-deadline" not in [thread.name for thread in threading.enumerate()]


@pytest.mark.parametrize(
    ("error", "kind", "expected"),
    [
        (
            duckdb.IOException("IO Error: Could not write file: No space left on device SECRET"),
            Incomplete,
            "The disk is full in the step 'classes'. Name a larger limits=Limits(temp_directory=…).",
        ),
        (
            duckdb.OutOfMemoryException("Out of Memory Error: adjust max_temp_directory_size SECRET"),
            Incomplete,
            "The disk is full in the step 'classes'. Name a larger limits=Limits(temp_directory=…).",
        ),
        (
            duckdb.InternalException("INTERNAL Error: SECRET"),
            EngineError,
            "DuckDB failed with an internal error in the step 'classes'. Nothing was changed.",
        ),
        (
            duckdb.FatalException("FATAL Error: SECRET"),
            EngineError,
            "DuckDB failed with an internal error in the step 'classes'. Nothing was changed.",
        ),
        (
            duckdb.TransactionException("TransactionContext Error: SECRET"),
            EngineError,
            "DuckDB could not run the step 'classes' (TransactionException).",
        ),
        (
            duckdb.InvalidInputException(
                "Invalid Input Error: Attempting to execute an unsuccessful or closed pending query result\n"
                "Error: Out of Memory Error: SECRET"
            ),
            Incomplete,
            "The step 'classes' ran out of memory. Its limit is 80% of this machine's memory. Raise it with "
            "limits=Limits(memory=…), or lower limits=Limits(threads=…).",
        ),
        (duckdb.Error("SECRET"), EngineError, "DuckDB could not run the step 'classes' (Error)."),
        (
            duckdb.IOException('IO Error: Cannot open file "SECRET": Permission denied'),
            PermissionDenied,
            "The input is not readable by this user.",
        ),
    ],
)
def test_what_can_not_be_brought_about_here(error: duckdb.Error, kind: type[EngineError], expected: str) -> None:
    found = translate(error, ErrorContext("classes"))
    assert isinstance(found, kind)
    assert str(found) == expected


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT CAST('SECRET' AS INT)",
        "SELECT CAST(v AS INT) FROM (VALUES ('SECRET')) t(v)",
        "SELECT CAST(v AS DATE) FROM (VALUES ('SECRET')) t(v)",
        "SELECT strptime(v, '%Y') FROM (VALUES ('SECRET')) t(v)",
        "SELECT regexp_matches('a', v) FROM (VALUES ('SECRET(')) t(v)",
        "SELECT error(v) FROM (VALUES ('SECRET')) t(v)",
        "SELECT error('Malformed JSON in file \"SECRET\"')",
        "SELECT error('CSV Error on Line: 5 SECRET')",
        "SELECT json_extract(v, '$.a') FROM (VALUES ('SECRET')) t(v)",
        "SELECT CAST(v AS UUID) FROM (VALUES ('SECRET')) t(v)",
        "SELECT CAST(v AS BLOB) FROM (VALUES ('SECRET\\x')) t(v)",
        "SELECT CAST(v AS DECIMAL(4, 2)) FROM (VALUES ('SECRET')) t(v)",
        "SELECT CAST(v AS ENUM('a')) FROM (VALUES ('SECRET')) t(v)",
        "SELECT CAST(v AS INT[]) FROM (VALUES ('SECRET')) t(v)",
        "SELECT CAST(n + 9223372036854775807 AS BIGINT) FROM (VALUES (5)) t(n)",
        "SELECT CAST(1e300 AS INT)",
        "SELECT decode(v) FROM (VALUES ('\\xFF'::BLOB)) t(v)",
        "SELECT chr(CAST(v AS INT)) FROM (VALUES (-1)) t(v)",
        "SELECT (SELECT v FROM (VALUES ('SECRET'), ('SECRET')) t(v))",
        "SELECT to_timestamp(CAST(v AS DOUBLE)) FROM (VALUES ('SECRET')) t(v)",
        "SELECT 'SECRET'::INTERVAL",
        "SELECT SECRET",
    ],
)
def test_no_error_holds_a_value(tmp_path: Path, sql: str) -> None:
    path = written(tmp_path / "people.csv", "a\n1\n")
    with connect() as engine:
        engine.open(Target(relation=path))
        with pytest.raises(SqlauditError) as caught:
            engine.run(Statement("ask", sql))
    shown = str(caught.value)
    assert SECRET not in shown.replace("no column 'SECRET'", "")
    assert not any(part in shown for part in ("9223372036854775807", "1e+300", "xFF"))
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("rows", "query", "threads", "used"),
    [(9, False, None, 1), (9, False, 3, 3), (40_000, False, None, 2), (9, True, None, 2)],
    ids=["small", "said", "large", "a query"],
)
def test_small_files_need_one_thread(
    tmp_path: Path, rows: int, query: bool, threads: int | None, used: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sqlaudit.engines.duckdb.session.FIXED", {**FIXED, "threads": "2"})
    file = written(tmp_path / "a.csv", "a\n" + "1\n" * rows)
    target = Target(query=f"SELECT * FROM '{file}'") if query else Target(relation=file)
    with connect(None, Limits(threads=threads), target) as engine:
        assert engine.run(Statement("threads", "SELECT CURRENT_SETTING('threads')")) == [(used,)]
