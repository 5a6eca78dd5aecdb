"""A server that does not answer any more: a time limit and a cancel end the waiting all the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from sqlaudit.base.errors import EngineError, ExitCode, Incomplete, Interrupted
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Limits
from sqlaudit.engines.postgres import session as postgres
from sqlaudit.engines.postgres.engine import PostgresEngine
from tests.engines.stalling import StallingProxy
from tests.postgres_load import Loader
from tests.postgres_server import PostgresServer

pytestmark = pytest.mark.postgres

COMMAND = (sys.executable, "-c", "from sqlaudit.cli import main; main()")
ONE = Statement("one", "SELECT 1")


def url_through(proxy: StallingProxy, server: PostgresServer) -> str:
    """The URL of the server, by way of the proxy."""
    return (
        server.url(host="127.0.0.1")
        .replace(f":{server.port}/", f":{proxy.port}/")
        .replace(f"port={server.port}", f"port={proxy.port}")
    )


def audit(proxy: StallingProxy, server: PostgresServer, *options: str) -> subprocess.Popen[str]:
    """The real command in a process of its own."""
    arguments = ["audit", "--db", url_through(proxy, server), "stalls", "--qi", "zip", "--require", "k=2", *options]
    return subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )


def test_a_time_limit_ends_a_statement_that_is_never_answered(postgres_server: PostgresServer) -> None:
    with StallingProxy(postgres_server.port) as proxy:
        engine = PostgresEngine(url_through(proxy, postgres_server), Limits(timeout=1.5))
        assert engine.run(ONE) == [(1,)]
        proxy.stalled.set()
        with pytest.raises(Incomplete) as caught:
            engine.run(ONE)
        engine.close()
    assert caught.value.exit_code == ExitCode.INCOMPLETE
    assert str(caught.value).startswith("The time limit of 1.5 seconds was reached in ")


def test_a_time_limit_ends_connecting(postgres_server: PostgresServer) -> None:
    with StallingProxy(postgres_server.port) as proxy:
        proxy.stalled.set()
        with pytest.raises(Incomplete) as caught:
            PostgresEngine(url_through(proxy, postgres_server), Limits(timeout=1))
    assert str(caught.value) == "The time limit of 1 seconds was reached before the connection was established."


def test_a_resolver_that_never_answers_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()
    monkeypatch.setattr(postgres.connecting.psycopg, "connect", lambda **_: over.wait())
    with pytest.raises(Incomplete, match="was reached before the connection was established"):
        PostgresEngine("postgresql://silent.example/db", Limits(timeout=0.1))
    over.set()


def test_a_cancel_that_is_not_taken_says_so_and_ends_the_waiting(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "CANCEL_SECONDS", 0.3)
    told: list[str] = []

    def cancel(engine: PostgresEngine, stalled: threading.Event) -> None:
        stalled.wait()
        try:
            engine.cancel()
        except EngineError as error:
            told.append(str(error))

    with StallingProxy(postgres_server.port, b"for_ever") as proxy:
        engine = PostgresEngine(url_through(proxy, postgres_server))
        thread = threading.Thread(target=cancel, args=(engine, proxy.stalled))
        thread.start()
        with pytest.raises(Interrupted):
            engine.run(Statement("endless", "SELECT 1 AS for_ever"))
        thread.join()
        engine.close()
    assert told == ["The server did not cancel the statement, which may continue for a while."]


def test_closing_does_not_wait_for_a_silent_server(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "CANCEL_SECONDS", 0.3)
    with StallingProxy(postgres_server.port) as proxy:
        engine = PostgresEngine(url_through(proxy, postgres_server))
        proxy.stalled.set()
        engine.close()
    assert engine._connection.closed


@pytest.fixture
def stalls(load: Loader) -> None:
    """A small table."""
    load("stalls", [("a",), ("a",), ("b",)], ["zip"])


@pytest.mark.usefixtures("stalls")
@pytest.mark.parametrize("at", [b"", b"stalls"], ids=["connecting", "a statement"])
def test_the_command_leaves_with_4(postgres_server: PostgresServer, at: bytes) -> None:
    with StallingProxy(postgres_server.port, at) as proxy:
        if not at:
            proxy.stalled.set()
        out, err = (process := audit(proxy, postgres_server, "--timeout", "2s")).communicate(timeout=60)
    assert (process.returncode, out) == (4, "")
    assert err.startswith("sqlaudit: The time limit of ")
    assert len(err.splitlines()) == 1


@pytest.mark.usefixtures("stalls")
def test_ctrl_c_does_not_claim_a_cancel_that_failed(postgres_server: PostgresServer) -> None:
    with StallingProxy(postgres_server.port, b"stalls") as proxy:
        process = audit(proxy, postgres_server)
        assert proxy.stalled.wait(60)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == (
        "sqlaudit: stopped by Ctrl-C; the database did not cancel the running "
        "statement, which may continue for a while. Nothing was changed. Nothing was finished by then.\n"
    )
