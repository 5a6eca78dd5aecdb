"""A server whose certificate an authority of its own signed: who is reached, and a sentence for every way to fail."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlaudit.base.errors import ConnectionFailed
from sqlaudit.engines.postgres.engine import PostgresEngine
from tests.cli.runner import run
from tests.postgres_load import Loader
from tests.postgres_server import PASSWORD, PostgresServer
from tests.servers.installed import Authority, encrypted_server


@pytest.fixture(scope="module")
def authorities() -> Iterator[tuple[Authority, Authority]]:
    """The one that signed the server's certificate, and one that did not."""
    with tempfile.TemporaryDirectory(prefix="sqlaudit-ca-") as folder:
        yield Authority(Path(folder), "own"), Authority(Path(folder), "other")


@pytest.fixture(scope="module")
def encrypted(authorities: tuple[Authority, Authority]) -> Iterator[PostgresServer]:
    with encrypted_server(authorities[0], "localhost") as running:
        yield running


def asked(server: PostgresServer, mode: str, root: Path | str = "", host: str = "localhost") -> str:
    rooted = f"&sslrootcert={root}" if root else ""
    return f"{server.url(host=host)}?sslmode={mode}{rooted}"


def failure(db: str) -> str:
    with pytest.raises(ConnectionFailed) as caught:
        PostgresEngine(db)
    assert PASSWORD not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("mode", ["require", "verify-ca", "verify-full"])
def test_an_audit_over_a_verified_connection(
    encrypted: PostgresServer, authorities: tuple[Authority, Authority], mode: str
) -> None:
    loader = Loader(encrypted)
    try:
        loader("visits", [(30, "flu"), (30, "cold"), (40, "flu")], ["age", "illness"])
    finally:
        loader.close()
    url = asked(encrypted, mode, authorities[0].file)
    with PostgresEngine(url) as engine:
        assert engine._connection.pgconn.ssl_in_use
    done = run("audit", "visits", "--db", url, "--qi", "age", "--require", "k=2")
    assert (done.code, done.out.splitlines()[0]) == (1, "FAIL: the requirement is not met")
    assert "FAILS k-anonymity 1 at least" in done.said


def test_why_it_is_not_reached(encrypted: PostgresServer, authorities: tuple[Authority, Authority]) -> None:
    own, other = (authority.file for authority in authorities)
    place = f"localhost:{encrypted.port}"
    no_file = (
        "The file with the authorities that the server's certificate is held against (sslrootcert, or "
        "~/.postgresql/root.crt) is not there or holds no certificate."
    )
    assert failure(asked(encrypted, "verify-full", "/nowhere/root.crt")) == no_file
    assert failure(asked(encrypted, "verify-full", os.devnull)) == no_file
    assert failure(asked(encrypted, "verify-full", other)) == (
        f"The certificate of the server at {place} is signed by none of the authorities that this client trusts "
        "(sslrootcert), or is out of date."
    )
    assert failure(asked(encrypted, "verify-full", own, host="127.0.0.1")) == (
        f"The certificate of the server at 127.0.0.1:{encrypted.port} is for another host (sslmode=verify-full)."
    )
    assert failure(asked(encrypted, "disable")) == (
        f"The server at {place} does not let the user 'auditor' connect to the database 'clinic' from here "
        "(its pg_hba.conf)."
    )
    assert failure(asked(encrypted, "verify-full", own) + f"&sslcert={own}&sslkey=/nowhere/client.key") == (
        "The private key for this client's certificate (sslkey) could not be used."
    )
