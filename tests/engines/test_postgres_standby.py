"""A hot standby: an audit runs there as it does on the primary, and a conflict with recovery is named.

The standby is a second server that follows the first by streaming replication.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

import psycopg
import pytest

from sqlaudit.base.errors import ConnectionFailed, EngineError
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Target
from sqlaudit.engines.postgres.engine import PostgresEngine
from tests.postgres_load import Loader
from tests.postgres_server import PostgresServer, new_standby, wait_until

pytestmark = pytest.mark.postgres

COUNT = Statement("totals", "SELECT COUNT(*) FROM public.admitted")


@pytest.fixture(scope="module")
def standby(postgres_server: PostgresServer, load: Loader) -> Iterator[PostgresServer]:
    load("admitted", [(30 + i % 5, "f") for i in range(1000)], ["age", "sex"])
    load.execute("DROP TABLE IF EXISTS unlogged_rows; CREATE UNLOGGED TABLE unlogged_rows (a int)")
    load.execute("GRANT SELECT ON unlogged_rows TO auditor")
    server = new_standby(postgres_server, {"max_standby_streaming_delay": "0", "hot_standby_feedback": "off"})
    try:
        server.start()
        yield server
    finally:
        server.delete()


def caught_up(load: Loader, standby: PostgresServer) -> None:
    """Wait until the standby has replayed what the primary has written."""
    load.execute("CHECKPOINT")  # the tests' server writes its log late
    ((written,),) = load.execute("SELECT pg_current_wal_flush_lsn()::text")
    with psycopg.connect(standby.admin_url(), autocommit=True) as follower:
        query = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"
        wait_until(lambda: follower.execute(query, [written]).fetchone() == (True,), "the standby does not follow")


def test_an_audit_runs_on_a_standby(load: Loader, standby: PostgresServer) -> None:
    caught_up(load, standby)
    with PostgresEngine(standby.url()) as engine:
        relation = engine.open(Target("admitted", where="age < 34"))
        classes = "SELECT age, COUNT(*) AS n FROM " + relation.sql + " AS t GROUP BY age ORDER BY age"
        assert engine.run(Statement("classes", classes)) == [(30, 200), (31, 200), (32, 200), (33, 200)]
        assert [len(batch) for batch in engine.stream(Statement("rows", "SELECT * FROM public.admitted"), 600)] == [
            600,
            400,
        ]
        with pytest.raises(EngineError) as caught:
            engine.run(Statement("zero", "SELECT 1 / 0"))
        assert str(caught.value).endswith("division by zero (22012).")
        assert engine.run(COUNT) == [(1000,)]
        assert engine.run(Statement("where", "SELECT pg_is_in_recovery()")) == [(True,)]


def test_an_unlogged_table_is_not_there_on_a_standby(load: Loader, standby: PostgresServer) -> None:
    caught_up(load, standby)
    with PostgresEngine(standby.url()) as engine, pytest.raises(EngineError) as caught:
        engine.open(Target("unlogged_rows"))
    assert str(caught.value) == "The table 'public.unlogged_rows' is unlogged, so a standby does not have its rows."


def test_a_conflict_with_recovery_is_named(load: Loader, standby: PostgresServer) -> None:
    caught_up(load, standby)
    with PostgresEngine(standby.url()) as engine:
        assert engine.run(COUNT) == [(1000,)]
        load.execute("DELETE FROM admitted WHERE age = 30")
        load.execute("VACUUM admitted")  # removes rows that the standby's snapshot still sees
        caught_up(load, standby)
        with pytest.raises(EngineError) as caught:
            engine.run(COUNT)
        assert str(caught.value) == (
            "The standby had to cancel the step 'totals' to keep up with its primary (40001); try again, raise "
            "max_standby_streaming_delay, or turn hot_standby_feedback on."
        )
    with PostgresEngine(standby.url()) as engine:
        assert engine.run(COUNT) == [(800,)]


def test_a_server_that_goes_away_mid_statement_is_said(load: Loader, standby: PostgresServer) -> None:
    caught_up(load, standby)
    with PostgresEngine(standby.url()) as engine:
        timer = threading.Timer(0.3, standby.crash)
        timer.start()
        with pytest.raises(EngineError) as caught:
            engine.run(Statement("sleep", "SELECT pg_sleep(30)"))
        timer.join()
    assert str(caught.value) == "The connection to PostgreSQL was lost in the step 'sleep'. Nothing was changed."
    with pytest.raises(ConnectionFailed) as refused:
        PostgresEngine(standby.url())
    assert str(refused.value) == f"No PostgreSQL server answers at {standby.folder}:{standby.port}."
