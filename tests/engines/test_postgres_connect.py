"""Reaching a server: every way libpq knows to say where it is, and one sentence for every way it can fail."""

from __future__ import annotations

import logging
import socket
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sqlaudit import engines
from sqlaudit.base.errors import ConnectionFailed, ExitCode, MissingDriver, SqlauditError, UsageError
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Limits
from sqlaudit.engines.postgres.connect import work_mem
from sqlaudit.engines.postgres.engine import PostgresEngine
from tests.postgres_load import Loader
from tests.postgres_server import AUDITOR, DATABASE, PASSWORD, PostgresServer, wait_until

pytestmark = pytest.mark.postgres

WHO = Statement("who", "SELECT current_user::text, current_database()::text, current_setting('application_name')")
ME = [(AUDITOR, DATABASE, "sqlaudit")]


def who(db: str) -> list[tuple[str, ...]]:
    with PostgresEngine(db) as engine:
        return engine.run(WHO)


def failure(db: str, limits: Limits | None = None) -> str:
    with pytest.raises(ConnectionFailed) as caught:
        PostgresEngine(db, limits)
    assert caught.value.exit_code == ExitCode.ENGINE
    assert caught.value.__context__ is None
    assert PASSWORD not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


@pytest.fixture
def no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Only what a test sets says where the server is; returns an empty home."""
    for name in ("PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGPASSWORD", "PGSERVICE", "PGSERVICEFILE", "PGPASSFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("no_environment")
def test_urls_and_conninfo_strings(postgres_server: PostgresServer) -> None:
    place = f"host={postgres_server.folder} port={postgres_server.port}"
    assert who(postgres_server.url()) == ME
    assert who(postgres_server.url(host="127.0.0.1")) == ME
    assert who(postgres_server.url().replace("postgresql:", "postgres:")) == ME
    assert who(f"{place} dbname={DATABASE} user={AUDITOR} password='{PASSWORD}'") == ME
    assert who(postgres_server.url() + "&application_name=night") == [(AUDITOR, DATABASE, "night")]
    with engines.connect(postgres_server.url()) as engine:
        assert (engine.name, engine.dialect, engine.can_materialize) == ("PostgreSQL", "postgres", False)
        assert engine.version().startswith("PostgreSQL 1")


def test_the_environment_services_and_password_files(
    postgres_server: PostgresServer, no_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGHOST", str(postgres_server.folder))
    monkeypatch.setenv("PGPORT", str(postgres_server.port))
    monkeypatch.setenv("PGDATABASE", DATABASE)
    monkeypatch.setenv("PGUSER", AUDITOR)
    asks = "PostgreSQL asks for the password of the user of PGUSER: put it into ~/.pgpass or PGPASSWORD."
    assert failure("postgresql://") == asks
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert who("postgresql://") == ME
    monkeypatch.delenv("PGPASSWORD")
    passwords = no_environment / ".pgpass"
    passwords.write_text(f"*:*:{DATABASE}:{AUDITOR}:{PASSWORD}\n")
    passwords.chmod(0o600)
    assert who("postgresql://") == ME
    assert who(f"dbname={DATABASE}") == ME
    for name in ("PGHOST", "PGPORT", "PGDATABASE", "PGUSER"):
        monkeypatch.delenv(name)
    service = (
        f"[night]\nhost={postgres_server.folder}\nport={postgres_server.port}\ndbname={DATABASE}\nuser={AUDITOR}\n"
    )
    (no_environment / ".pg_service.conf").write_text(service)
    assert who("service=night") == ME
    monkeypatch.setenv("PGSERVICE", "night")
    assert who("postgresql://") == ME


@pytest.mark.usefixtures("no_environment")
def test_who_and_what_is_wrong_is_said(load: Loader, postgres_server: PostgresServer) -> None:
    url, folder, port = postgres_server.url, postgres_server.folder, postgres_server.port
    rejected = "PostgreSQL did not accept the user {!r} or the password."
    assert failure(url(password="wrong")) == rejected.format(AUDITOR)
    assert failure(url(user="nobody_known")) == rejected.format("nobody_known")
    assert failure(url(database="clinc")) == f"There is no database 'clinc' at {folder}:{port}."
    assert failure(url(host="127.0.0.1") + "?sslmode=require") == (
        f"The server at 127.0.0.1:{port} and this client do not agree on encryption (sslmode)."
    )
    assert failure(url(host="127.0.0.1") + "?target_session_attrs=standby") == (
        f"No server at 127.0.0.1:{port} is in the state that target_session_attrs asks for."
    )
    load.execute("ALTER ROLE auditor CONNECTION LIMIT 0")
    try:
        assert failure(url()) == f"The server at {folder}:{port} has no connection to spare. Try again later."
    finally:
        load.execute("ALTER ROLE auditor CONNECTION LIMIT -1")


@pytest.mark.usefixtures("no_environment")
def test_where_nobody_answers_is_said() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        assert failure(f"postgresql://u:{'secret'}@127.0.0.1:{port}/d") == (
            f"No PostgreSQL server answers at 127.0.0.1:{port}."
        )
    assert failure("host=/nowhere/at/all port=5432") == "No PostgreSQL server answers at /nowhere/at/all:5432."
    assert failure("postgresql://u@no-such-host.invalid/d") == "The host 'no-such-host.invalid' is not known."
    assert failure("host=/tmp port=99999999") == "The port '99999999' is not a port number."
    assert failure("service=nowhere") == "There is no service 'nowhere' in pg_service.conf."
    with answering(b"HTTP/1.1 400 Bad Request\r\n") as port:
        assert failure(f"postgresql://u@127.0.0.1:{port}/d") == (
            f"The server at 127.0.0.1:{port} is not a PostgreSQL server."
        )
    with answering(b"") as port:
        assert failure(f"postgresql://u@127.0.0.1:{port}/d?connect_timeout=2", Limits(timeout=100)) == (
            f"The PostgreSQL server at 127.0.0.1:{port} did not answer within 2 s."
        )


@contextmanager
def answering(reply: bytes) -> Iterator[int]:
    """A server on this machine that says the same to everybody, or nothing."""
    done = threading.Event()

    def serve() -> None:
        while not done.is_set():
            try:
                client, _ = server.accept()
            except TimeoutError:
                continue
            held.append(client)
            if reply:
                client.recv(1024)
                client.sendall(reply)

    held: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            done.set()
            thread.join()
            for client in held:
                client.close()


@pytest.mark.usefixtures("no_environment")
@pytest.mark.parametrize(
    "db",
    [
        "hots=secret-7731",
        "postgresql://u:secret-7731%zz@h/d",
        "host=x password='secret-7731",
        "connect_timeout=secret-7731",
    ],
)
def test_a_text_that_libpq_cannot_read_is_not_quoted(db: str) -> None:
    with pytest.raises(UsageError) as caught:
        PostgresEngine(db)
    assert str(caught.value) == "db could not be read as a PostgreSQL URL or conninfo string."
    assert "7731" not in "".join(traceback.format_exception(caught.value)).replace(db, "")


def test_the_password_is_nowhere_to_be_seen(postgres_url: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with PostgresEngine(postgres_url) as engine:
        engine.run(WHO)
        seen = [caplog.text, repr(engine), *map(repr, vars(engine).values()), *map(repr, engine.executed)]
    assert PASSWORD not in "".join(seen)
    assert "p%40ss" not in "".join(seen)


def test_nothing_is_set_for_the_session_and_nothing_is_prepared(postgres_url: str) -> None:
    """So a pooler that lends a connection for one transaction (pgbouncer) is as good as the server itself."""
    with PostgresEngine(postgres_url, Limits(timeout=100, memory="1GB", threads=1)) as engine:
        assert engine.run(Statement("set", "SELECT current_setting('jit'), current_setting('row_security')")) == [
            ("off", "off")
        ]
        for _ in range(10):
            assert engine.run(Statement("prepared", "SELECT COUNT(*) FROM pg_prepared_statements")) == [(0,)]
        sent = engine._connection.info.get_parameters()
        connection = engine._connection
        connection.rollback()
        changed = connection.execute("SELECT name FROM pg_settings WHERE source = 'session' ORDER BY 1").fetchall()
    assert {name[0] for name in changed} <= {"transaction_isolation", "transaction_read_only", "transaction_deferrable"}
    startup = {"fallback_application_name": "sqlaudit", "client_encoding": "UTF8"}
    assert {key: sent[key] for key in startup} == startup
    assert "options" not in sent


def test_budgets_become_settings_of_the_transaction(postgres_url: str) -> None:
    shown = Statement(
        "shown",
        """SELECT current_setting('work_mem'), current_setting('max_parallel_workers_per_gather'),
           current_setting('lock_timeout'), current_setting('transaction_isolation'),
           current_setting('transaction_read_only')""",
    )
    with PostgresEngine(postgres_url, Limits(memory="1 GiB", threads=3)) as engine:
        assert engine.run(shown) == [("128MB", "2", "10s", "repeatable read", "on")]
    with PostgresEngine(postgres_url) as engine:
        assert engine.run(shown) == [("4MB", "2", "10s", "repeatable read", "on")]
    assert [work_mem(size) for size in ("4GB", "512MiB", "1TB", "1B", "99999TB")] == [
        "488281kB",
        "65536kB",
        "122070312kB",
        "64kB",
        "2147483647kB",
    ]
    for wrong in ("many", "4 apples", "GB"):
        with pytest.raises(UsageError) as caught:
            PostgresEngine(postgres_url, Limits(memory=wrong))
        assert str(caught.value) == f"limits=Limits(memory=…) takes a size such as 4GB, not {wrong!r}."
    with pytest.raises(UsageError, match=r"^limits=Limits\(threads=…\) must be at least 1 and at most 1,024, not 0\.$"):
        PostgresEngine(postgres_url, Limits(threads=0))


def test_the_statement_timeout_is_what_is_left(postgres_url: str) -> None:
    query = "SELECT setting::int FROM pg_settings WHERE name = 'statement_timeout'"
    with PostgresEngine(postgres_url, Limits(timeout=100)) as engine:
        first, second = (engine.run(Statement("left", query))[0][0] for _ in range(2))
        assert 90_000 < second <= first <= 100_000


def test_a_missing_driver_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, postgres_url: str) -> None:
    for name in [name for name in sys.modules if name.startswith("sqlaudit.engines.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(SqlauditError) as caught:
        engines.connect(postgres_url)
    assert (type(caught.value), str(caught.value)) == (
        MissingDriver,
        "PostgreSQL needs the driver psycopg: pip install 'sqlaudit[postgres]'.",
    )


def test_closing_twice_and_failing_to_open_leave_no_session(postgres_url: str, load: Loader) -> None:
    engine = PostgresEngine(postgres_url)
    engine.close()
    engine.close()
    with pytest.raises(SqlauditError) as caught:
        engine.run(WHO)
    assert str(caught.value) == "The connection to PostgreSQL was lost in the step 'who'. Nothing was changed."
    count = "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'sqlaudit'"
    wait_until(lambda: load.execute(count) == [(0,)], "a session stayed")
