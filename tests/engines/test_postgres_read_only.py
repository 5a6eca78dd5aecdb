"""An auditor changes nothing: catalog, contents, settings and transaction counter are the same before and after."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress

import psycopg
import pytest
from psycopg import sql

from sqlaudit.base.errors import SqlauditError, UsageError
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Limits, Target
from sqlaudit.engines.postgres.engine import PostgresEngine
from tests.postgres_load import Loader
from tests.postgres_server import wait_until

pytestmark = pytest.mark.postgres

CATALOG = {
    "relations": "SELECT oid, relname, relnamespace, relkind, relfilenode, relowner, relacl::text FROM pg_class",
    "columns": "SELECT attrelid, attname, atttypid, attnum, attacl::text FROM pg_attribute",
    "functions": "SELECT oid, proname, proacl::text FROM pg_proc",
    "types": "SELECT oid, typname FROM pg_type",
    "schemas": "SELECT oid, nspname, nspacl::text FROM pg_namespace",
    "roles": "SELECT oid, rolname, rolsuper FROM pg_roles",
    "settings": "SELECT setdatabase, setrole, setconfig::text FROM pg_db_role_setting",
    "databases": "SELECT oid, datname, datacl::text FROM pg_database",
    "statistics": "SELECT starelid, staattnum FROM pg_statistic",
    "next transaction": "SELECT pg_snapshot_xmax(pg_current_snapshot())::text",
    "tables": "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
}


def fingerprint(load: Loader) -> dict[str, object]:
    """The whole catalog, and every row of every table with the place and the transaction that wrote it."""
    seen: dict[str, object] = {name: sorted(map(repr, load.execute(query))) for name, query in CATALOG.items()}
    for (name,) in load.execute(CATALOG["tables"]):
        rows = load.execute("SELECT ctid::text, xmin::text, xmax::text, t::text FROM " + name + " AS t")
        seen["rows of " + name] = sorted(rows)
    return seen


@pytest.fixture
def unchanged(load: Loader) -> Iterator[None]:
    """The database at the end is what it was at the beginning, and no one is connected or waits."""
    load("visits", [(30, "f", "flu"), (41, "m", None)] * 500, ["age", "sex", "disease"])
    load.execute("CREATE SEQUENCE IF NOT EXISTS visit_numbers; GRANT ALL ON visit_numbers TO auditor")
    load.execute("GRANT ALL ON visits TO auditor")  # even where the role could write, the transaction does not
    before = fingerprint(load)
    yield
    others = "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'sqlaudit'"
    wait_until(lambda: load.execute(others) == [(0,)], "a session stayed")
    assert load.execute("SELECT COUNT(*) FROM pg_locks WHERE relation = 'visits'::regclass") == [(0,)]
    assert load.execute("SELECT last_value, is_called FROM visit_numbers") == [(1, False)]
    assert fingerprint(load) == before


SLEEP = Statement("sleep", "SELECT pg_sleep(30) FROM public.visits")


def audit(engine: PostgresEngine) -> None:
    relation = engine.open(Target("visits", where="age > 0"))
    classes = "SELECT age, sex, COUNT(*) AS n FROM " + relation.sql + " AS t GROUP BY age, sex ORDER BY age"
    assert engine.run(Statement("classes", classes)) == [(30, "f", 500), (41, "m", 500)]
    assert [len(batch) for batch in engine.stream(Statement("keys", "SELECT * FROM public.visits"), 400)] == [
        400,
        400,
        200,
    ]
    assert list(engine.columns_as_arrays(Statement("classes", classes))["n"]) == [500, 500]
    assert "visits" in engine.explain(Statement("classes", classes))
    engine.open(Target(query="SELECT age FROM visits"))


@pytest.mark.usefixtures("unchanged")
def test_an_audit_changes_nothing(postgres_url: str) -> None:
    with PostgresEngine(postgres_url) as engine:
        audit(engine)


WRITES = [
    "INSERT INTO public.visits VALUES (1, 'x', 'y')",
    "WITH gone AS (DELETE FROM public.visits RETURNING *) SELECT COUNT(*) FROM gone",
    "SELECT age INTO copied FROM public.visits",
    "SELECT * FROM public.visits FOR UPDATE",
    "CREATE TEMP TABLE t AS SELECT * FROM public.visits",
    "CREATE VIEW v AS SELECT * FROM public.visits",
    "CREATE INDEX ON public.visits (age)",
    "DROP TABLE public.visits",
    "TRUNCATE public.visits",
    "SELECT nextval('visit_numbers')",
    "SELECT setval('visit_numbers', 7)",
    "SELECT pg_notify('channel', 'text') FROM nothing",
    "COPY public.visits TO PROGRAM 'cat'",
    "COPY public.visits FROM STDIN",
    "VACUUM public.visits",
    "ALTER ROLE auditor SET jit = on",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
    "SET TRANSACTION READ WRITE",
]
ENDS = ["COMMIT", "ROLLBACK", "END", "ABORT", "COMMIT AND CHAIN", "PREPARE TRANSACTION 'x'"]


@pytest.mark.usefixtures("unchanged")
def test_nothing_that_writes_gets_through(postgres_url: str) -> None:
    with PostgresEngine(postgres_url) as engine:
        for text in WRITES:
            with suppress(SqlauditError):
                engine.run(Statement("write", text))
            with suppress(SqlauditError):
                engine.open(Target(query=text))
        audit(engine)


@pytest.mark.usefixtures("unchanged")
def test_a_second_statement_is_refused(postgres_url: str) -> None:
    with PostgresEngine(postgres_url) as engine:
        for text in ("SELECT 1; SELECT 2", "COMMIT; INSERT INTO public.visits VALUES (1, 'x', 'y')"):
            with pytest.raises(UsageError) as caught:
                engine.run(Statement("two", text))
            assert str(caught.value) == "PostgreSQL could not read the SQL of the step 'two'."
        audit(engine)


def test_what_a_read_only_transaction_lets_through_is_rolled_back(load: Loader, postgres_url: str) -> None:
    """Before version 16, PostgreSQL creates large objects even there."""
    with PostgresEngine(postgres_url) as engine, suppress(SqlauditError):
        engine.run(Statement("large object", "SELECT lo_create(0)"))
    assert load.execute("SELECT COUNT(*) FROM pg_largeobject_metadata") == [(0,)]


@pytest.mark.usefixtures("load")
@pytest.mark.parametrize("text", ENDS)
def test_an_audit_without_its_transaction_is_over(postgres_url: str, text: str) -> None:
    with PostgresEngine(postgres_url) as engine:
        with pytest.raises(UsageError):
            engine.run(Statement("end", text))
        with pytest.raises(SqlauditError) as caught:
            engine.run(Statement("next", "INSERT INTO public.visits VALUES (1, 'x', 'y')"))
        assert str(caught.value) in {
            "The connection to PostgreSQL was lost in the step 'next'. Nothing was changed.",
            "An audit only reads, but the step 'next' writes.",
        }


@pytest.mark.usefixtures("unchanged")
def test_an_error_a_time_limit_and_a_cancel_change_nothing(postgres_url: str) -> None:
    with PostgresEngine(postgres_url) as engine:
        with pytest.raises(SqlauditError):
            engine.run(Statement("classes", "SELECT 1 / (age - 30) FROM public.visits"))
        timer = threading.Timer(0.2, engine.cancel)
        timer.start()
        with pytest.raises(SqlauditError):
            engine.run(SLEEP)
        timer.join()
        audit(engine)
    with PostgresEngine(postgres_url, Limits(timeout=0.2)) as engine, pytest.raises(SqlauditError):
        engine.run(SLEEP)


@pytest.mark.usefixtures("unchanged")
def test_a_dropped_connection_changes_nothing(postgres_url: str, postgres_admin_url: str) -> None:
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sqlaudit'"
    with psycopg.connect(postgres_admin_url, autocommit=True) as admin, PostgresEngine(postgres_url) as engine:
        audit(engine)
        export = engine.stream(Statement("keys", "SELECT * FROM public.visits"), 10)
        assert len(next(export)) == 10
        timer = threading.Timer(0.2, admin.execute, [sql.SQL(end)])
        timer.start()
        with pytest.raises(SqlauditError):
            engine.run(SLEEP)
        timer.join()
        with pytest.raises(SqlauditError):
            next(export)


@pytest.mark.usefixtures("unchanged")
def test_closing_while_a_statement_runs_stops_it(load: Loader, postgres_url: str) -> None:
    engine = PostgresEngine(postgres_url)
    failed: list[SqlauditError] = []

    def work() -> None:
        try:
            engine.run(SLEEP)
        except SqlauditError as error:
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    asleep = "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    wait_until(lambda: load.execute(asleep) == [(1,)], "the statement did not start")
    engine.cancel()
    engine.close()
    thread.join(20)
    assert len(failed) == 1
