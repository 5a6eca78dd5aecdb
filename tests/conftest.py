"""Fixtures that several test modules share. A test that needs PostgreSQL fails, and does not skip, without a server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgres_load import Loader, prepare
from tests.postgres_server import NoServer, PostgresServer, new_server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A real server that lives as long as the test run."""
    try:
        server = new_server()
        server.start()
    except NoServer as reason:
        pytest.fail(str(reason), pytrace=False)
    try:
        prepare(server)
        yield server
    finally:
        server.delete()


@pytest.fixture(scope="session")
def postgres_url(postgres_server: PostgresServer) -> str:
    """A URL for the role `auditor`, which may read what it was granted and nothing else."""
    return postgres_server.url()


@pytest.fixture(scope="session")
def postgres_admin_url(postgres_server: PostgresServer) -> str:
    """A URL for the superuser, for preparing and for comparing before and after."""
    return postgres_server.admin_url()


@pytest.fixture(scope="session")
def load(postgres_server: PostgresServer) -> Iterator[Loader]:
    """`load(name, rows, columns)` makes a table that the auditor may read; see `Loader.__call__`.

    Load before an engine is opened: an engine sees the database as it was when it connected.
    """
    loader = Loader(postgres_server)
    yield loader
    loader.close()
