"""PgBouncer in transaction mode with one connection to the server: what an audit leaves behind for the next client."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

import sqlaudit
from sqlaudit.base.errors import Incomplete, SqlauditError
from sqlaudit.base.spec import Limits
from tests.postgres_load import Loader
from tests.postgres_server import PostgresServer
from tests.servers.installed import folders, pooler, server

ROWS = [(n // 3, n % 2, ("flu", "cold", "cough")[n % 3]) for n in range(60)]


@pytest.fixture(scope="module")
def behind() -> Iterator[PostgresServer]:
    *_, newest = folders().values()
    with server(newest) as running:
        loader = Loader(running)
        loader("visits", ROWS, ["age", "sex", "illness"])
        loader.close()
        yield running


@pytest.fixture(scope="module")
def pooled(behind: PostgresServer) -> Iterator[str]:
    with pooler(behind) as url:
        yield url


def settings(url: str) -> list[tuple[str, ...]]:
    """What another client of the pool finds set; the pooler itself passes a client's name on, and its encoding."""
    with psycopg.connect(url, prepare_threshold=None) as connection:
        return connection.execute(
            "SELECT name, setting FROM pg_settings WHERE name NOT IN ('application_name', 'client_encoding')"
        ).fetchall()


def test_audits_take_turns_with_others_and_leave_nothing_set(behind: PostgresServer, pooled: str) -> None:
    before = settings(pooled)
    direct = sqlaudit.audit("visits", qi="age,sex", sensitive="illness", db=behind.url(), require={"k": 2})
    for limits in (Limits(), Limits(memory="1GB", threads=1, timeout=60)):
        found = sqlaudit.audit("visits", qi="age,sex", sensitive="illness", db=pooled, require={"k": 2}, limits=limits)
        assert (found.passed, [check.level for check in found.checks]) == (False, [1])
        assert found.classes == direct.classes
        assert settings(pooled) == before


def test_errors_and_time_limits_give_the_connection_back(pooled: str) -> None:
    before = settings(pooled)
    with pytest.raises(SqlauditError, match="has no column 'zip'"):
        sqlaudit.audit("visits", qi="zip", db=pooled)
    with pytest.raises(SqlauditError):
        sqlaudit.audit(query="SELECT age / 0 AS age FROM visits", qi="age", db=pooled)
    with pytest.raises(Incomplete):
        sqlaudit.audit(query="SELECT pg_sleep(30)::text AS age", qi="age", db=pooled, limits=Limits(timeout=2))
    assert settings(pooled) == before
