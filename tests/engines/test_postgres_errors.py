"""Errors of PostgreSQL as sentences: no value of the data in them, the right class, the engine usable afterwards."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from sqlaudit.base.errors import EngineError, Incomplete, Interrupted, SqlauditError, UnknownColumn, UsageError
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Limits, Target
from sqlaudit.engines.postgres import connect as postgres_connect
from sqlaudit.engines.postgres.engine import PostgresEngine
from tests.places import REPOSITORY
from tests.postgres_load import Loader
from tests.postgres_server import PostgresServer, wait_until

pytestmark = pytest.mark.postgres

ONE = Statement("one", "SELECT 1")
SLEEP = Statement("sleep", "SELECT pg_sleep(30)")


def failure(url: str, sql: str) -> SqlauditError:
    """What running a statement raises; afterwards the engine still works."""
    with PostgresEngine(url) as engine:
        engine.open(Target("ages"))
        with pytest.raises(SqlauditError) as caught:
            engine.run(Statement("classes", sql))
        assert engine.run(ONE) == [(1,)]
    assert "hiv-7731" not in "".join(traceback.format_exception(caught.value))
    return caught.value


DATA = "PostgreSQL could not compute a value in the step 'classes': "
SQL_ERRORS = {
    "SELECT disease::int FROM public.ages": (
        EngineError,
        DATA + "a text cannot be read as the type that is asked for (22P02).",
    ),
    "SELECT disease::date FROM public.ages": (EngineError, DATA + "a text is not a date or time (22007)."),
    "SELECT age / 0 FROM public.ages": (EngineError, DATA + "division by zero (22012)."),
    "SELECT ln(age - 30) FROM public.ages": (
        EngineError,
        DATA + "a logarithm of zero or of a negative number (2201E).",
    ),
    "SELECT (age * 100000000000)::int FROM public.ages": (EngineError, DATA + "a number is out of range (22003)."),
    "SELECT chr(0 * age::int) FROM public.ages": (
        EngineError,
        "A limit of PostgreSQL was reached in the step 'classes' (54000).",
    ),
    "SELECT year(born) FROM public.ages": (
        UsageError,
        "PostgreSQL has no function or operator 'year' for these arguments in the step 'classes'; expressions are "
        "written in PostgreSQL's own SQL, for instance extract(year FROM birth).",
    ),
    "SELECT t.agee FROM public.ages AS t": (
        UnknownColumn,
        "There is no column 'agee' in the step 'classes'. Did you mean 'age'?",
    ),
    "SELECT age FROM agess": (UsageError, "There is no table 'agess' in the step 'classes'. Did you mean 'age'?"),
    "SELECT age FROM": (UsageError, "PostgreSQL could not read the SQL of the step 'classes'."),
    "SELECT age WHERE FROM public.ages": (
        UsageError,
        "PostgreSQL could not read the SQL of the step 'classes' near 'FROM'.",
    ),
    "SELECT age FROM public.ages WHERE disease": (
        UsageError,
        "The types in the step 'classes' do not fit near 'disease'.",
    ),
    "SELECT age, COUNT(*) FROM public.ages": (
        UsageError,
        "PostgreSQL does not accept the SQL of the step 'classes' near 'age' (42803).",
    ),
    "INSERT INTO public.ages (age) VALUES (1)": (UsageError, "An audit only reads, but the step 'classes' writes."),
    "CREATE TEMP TABLE t (a int)": (UsageError, "An audit only reads, but the step 'classes' writes."),
    "SELECT set_config('transaction_read_only', 'off', FALSE)": (
        UsageError,
        "An audit only reads, but the step 'classes' tries to change its transaction.",
    ),
    "SELECT public.fails(disease) FROM public.ages": (
        EngineError,
        "A function or view that the step 'classes' uses raised an error of its own (P0001).",
    ),
}


@pytest.fixture(scope="module")
def ages(load: Loader) -> None:
    load("ages", [(30, "hiv-7731", "2020-01-31")], ["age", "disease", "born"], {"born": "date"})
    load.execute(
        """
        CREATE OR REPLACE FUNCTION fails(text) RETURNS text LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'the value is %', $1; END $$"""
    )


@pytest.mark.usefixtures("ages")
@pytest.mark.parametrize("sql", SQL_ERRORS)
def test_sql_errors_become_sentences_without_values(postgres_url: str, sql: str) -> None:
    kind, sentence = SQL_ERRORS[sql]
    error = failure(postgres_url, sql)
    assert (type(error), str(error)) == (kind, sentence)
    assert error.__suppress_context__


def test_a_broken_text_of_a_database_without_encoding_is_an_error(
    load: Loader, postgres_server: PostgresServer
) -> None:
    load.execute("DROP DATABASE IF EXISTS bytes_only")
    load.execute(
        "CREATE DATABASE bytes_only TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'"
        + (" LOCALE_PROVIDER 'libc'" if load.connection.info.server_version >= 150000 else "")
    )
    with PostgresEngine(postgres_server.url(database="bytes_only")) as engine:
        with pytest.raises(EngineError) as caught:
            engine.run(Statement("keys", "SELECT convert_from('\\xe9'::bytea, 'SQL_ASCII')"))
        assert str(caught.value) == (
            "PostgreSQL could not compute a value in the step 'keys': a text is not valid UTF-8, and the database's "
            "encoding does not say what its bytes mean (22021)."
        )
        assert engine.run(ONE) == [(1,)]


def test_the_time_limit_is_for_the_whole_command(postgres_url: str) -> None:
    with PostgresEngine(postgres_url, Limits(timeout=0.4)) as engine:
        begun = time.monotonic()
        for step in ("first", "second"):
            with pytest.raises(Incomplete) as caught:
                engine.run(Statement(step, SLEEP.sql))
            assert str(caught.value) == f"The time limit of 0.4 seconds was reached in the step {step!r}."
        with pytest.raises(Incomplete):
            engine.open(Target("ages"))
        assert time.monotonic() - begun < 5
        engine.limits = Limits(timeout=100)
        assert engine.run(ONE) == [(1,)]
        assert list(engine.stream(ONE)) == [[(1,)]]


def test_the_servers_own_limit_is_kept_and_named(load: Loader, postgres_server: PostgresServer) -> None:
    load.execute("ALTER ROLE auditor SET statement_timeout = '200ms'")
    try:
        for limits in (Limits(), Limits(timeout=100)):
            with PostgresEngine(postgres_server.url(), limits) as engine, pytest.raises(Incomplete) as caught:
                engine.run(SLEEP)
            assert str(caught.value) == (
                "The server's statement_timeout of 0.2 s was reached in the step 'sleep'; ask for a longer one for "
                "this role."
            )
    finally:
        load.execute("ALTER ROLE auditor RESET statement_timeout")


def test_an_idle_audit_that_the_server_ends_names_the_setting(load: Loader, postgres_server: PostgresServer) -> None:
    load.execute("ALTER ROLE auditor SET idle_in_transaction_session_timeout = '50ms'")
    try:
        with PostgresEngine(postgres_server.url()) as engine:
            time.sleep(0.3)
            with pytest.raises(EngineError) as caught:
                engine.run(ONE)
        assert str(caught.value) == (
            "The server's idle_in_transaction_session_timeout ended the audit before the step 'one'; ask for a longer "
            "one for this role."
        )
    finally:
        load.execute("ALTER ROLE auditor RESET idle_in_transaction_session_timeout")


@pytest.mark.usefixtures("ages")
def test_a_lock_is_waited_for_only_so_long(
    postgres_url: str, postgres_admin_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_connect, "LOCK_SECONDS", 0.2)
    sentence = "Another session keeps a table of {} locked (as ALTER TABLE or VACUUM FULL do); waited 0.2 s."
    with psycopg.connect(postgres_admin_url) as admin, PostgresEngine(postgres_url) as engine:
        admin.execute("LOCK TABLE ages IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(EngineError) as caught:
            engine.run(Statement("totals", "SELECT COUNT(*) FROM public.ages"))
        assert str(caught.value) == sentence.format("the step 'totals'")
        with pytest.raises(EngineError) as caught:
            engine.open(Target("ages"))
        assert str(caught.value) == sentence.format("the table 'public.ages'")
        admin.rollback()
        assert engine.run(Statement("totals", "SELECT COUNT(*) FROM public.ages")) == [(1,)]


@contextmanager
def timer(seconds: float, action: object) -> Iterator[None]:
    thread = threading.Timer(seconds, action)  # type: ignore[arg-type]
    thread.start()
    try:
        yield
    finally:
        thread.join()


def test_cancel_from_another_thread_stops_the_statement(postgres_url: str) -> None:
    with PostgresEngine(postgres_url) as engine:
        engine.cancel()  # nothing runs: nothing happens
        assert engine.run(ONE) == [(1,)]
        begun = time.monotonic()
        with timer(0.2, engine.cancel), pytest.raises(Interrupted) as caught:
            engine.run(SLEEP)
        assert str(caught.value) == "Stopped in the step 'sleep'."
        assert time.monotonic() - begun < 10
        assert [done.name for done in engine.executed] == ["one"]
        with timer(0.2, engine.cancel), pytest.raises(Interrupted):
            list(engine.stream(Statement("export", "SELECT pg_sleep(0.05) FROM generate_series(1, 500)"), 100))
        assert engine.run(ONE) == [(1,)]


def test_cancel_from_a_signal_handler_stops_the_statement(postgres_url: str) -> None:
    with PostgresEngine(postgres_url) as engine:
        before = signal.signal(signal.SIGALRM, lambda *_: engine.cancel())
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            with pytest.raises(Interrupted):
                engine.run(SLEEP)
        finally:
            signal.signal(signal.SIGALRM, before)
        assert engine.run(ONE) == [(1,)]


def sessions(load: Loader) -> int:
    query = "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'sqlaudit'"
    count: int = load.execute(query)[0][0]
    return count


INTERRUPTED = """
import signal
import sys
from sqlaudit.base.relation import Statement
from sqlaudit.engines.postgres.engine import PostgresEngine
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job inherits that it is ignored
with PostgresEngine(sys.argv[1]) as engine:
    print("ready", flush=True)
    try:
        engine.run(Statement("sleep", "SELECT pg_sleep(30)"))
    except KeyboardInterrupt:
        print(engine.run(Statement("one", "SELECT 1")), flush=True)
"""


def test_ctrl_c_stops_the_statement_and_leaves_no_session(load: Loader, postgres_url: str) -> None:
    command = [sys.executable, "-c", INTERRUPTED, postgres_url]
    root = REPOSITORY
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        wait_until(lambda: asleep(load), "the statement did not start")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (out, err, process.returncode) == ("[(1,)]\n", "", 0)
    wait_until(lambda: sessions(load) == 0, "the session stayed")


def asleep(load: Loader) -> bool:
    return bool(load.execute("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"))


LONG = "SELECT a % 7 AS zip FROM generate_series(1, 100000) AS x(a), generate_series(1, 100000) AS y(b)"


def test_a_killed_command_leaves_no_statement_on_the_server(load: Loader, postgres_url: str) -> None:
    """Without a check of its client, a server notices only when it has rows to send."""
    running = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '/* sqlaudit: equivalence classes%'"
    arguments = ["audit", "--db", postgres_url, "--query", LONG, "--qi", "zip", "--require", "k=2"]
    command = [sys.executable, "-c", "from sqlaudit.cli import main; main()", *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=REPOSITORY) as process:
        try:
            wait_until(lambda: bool(load.execute(running)), "the statement did not start")
        finally:
            process.kill()
    wait_until(lambda: not load.execute(running), "the statement goes on", 15)
    wait_until(lambda: sessions(load) == 0, "the session stayed")


@pytest.mark.parametrize("version", [130000, 140000])
def test_a_server_that_does_not_check_its_clients_is_audited_all_the_same(
    postgres_url: str, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before 14 there is no such setting; later, some platforms and forks refuse it, as others refuse this value."""
    monkeypatch.setattr(postgres_connect, "CLIENT_CHECK", "never")
    monkeypatch.setattr(postgres_connect, "CHECKS_CLIENT", 10**9 if version < 140000 else version)
    with PostgresEngine(postgres_url) as engine:
        shown = Statement("shown", "SELECT current_setting('client_connection_check_interval')")
        assert engine.run(shown) == [("0",)]
        assert engine.run(ONE) == [(1,)]


def end_session(load: Loader) -> None:
    load.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sqlaudit'")


def test_a_connection_that_is_ended_mid_statement_is_said_once_and_then_again(load: Loader, postgres_url: str) -> None:
    with PostgresEngine(postgres_url) as engine:
        with timer(0.2, lambda: end_session(load)), pytest.raises(EngineError) as caught:
            engine.run(SLEEP)
        assert str(caught.value) == (
            "The server ended the connection in the step 'sleep' (an administrator, or a shutdown); nothing was "
            "changed."
        )
        with pytest.raises(EngineError) as caught:
            engine.run(ONE)
        assert str(caught.value) == "The connection to PostgreSQL was lost in the step 'one'. Nothing was changed."
        with pytest.raises(EngineError):
            list(engine.stream(ONE))
        engine.cancel()
        engine.close()


def test_somebody_elses_cancel_is_not_taken_for_ours(load: Loader, postgres_url: str) -> None:
    query = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'sqlaudit'"
    with (
        PostgresEngine(postgres_url) as engine,
        timer(0.2, lambda: load.execute(query)),
        pytest.raises(EngineError) as caught,
    ):
        engine.run(SLEEP)
    assert str(caught.value) == "Another user cancelled the step 'sleep' on the server."


def test_disk_and_memory_limits_are_named(load: Loader, postgres_server: PostgresServer) -> None:
    big = Statement(
        "sort", "SELECT COUNT(*) FROM (SELECT x, md5(x::text) FROM generate_series(1, 50000) x ORDER BY 2) t"
    )
    load.execute("ALTER ROLE auditor SET temp_file_limit = '64kB'")
    try:
        with PostgresEngine(postgres_server.url(), Limits(memory="1MB")) as engine, pytest.raises(Incomplete) as caught:
            engine.run(big)
        assert str(caught.value) == (
            "The server's temp_file_limit was reached in the step 'sort'; ask for a larger one for this role, or raise "
            "limits=Limits(memory=…)."
        )
        with PostgresEngine(postgres_server.url(), Limits(memory="1GB")) as engine:
            assert engine.run(big) == [(50000,)]
    finally:
        load.execute("ALTER ROLE auditor RESET temp_file_limit")
