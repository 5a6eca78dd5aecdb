"""Every version of PostgreSQL that can be had here: the same results as DuckDB's, of what the commands ask most."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import duckdb
import pytest

import sqlaudit
from tests.postgres_load import Loader
from tests.postgres_server import PostgresServer
from tests.servers.installed import folders, server

COLUMNS = ["id", "day", "age", "zip", "illness"]
ROWS = [
    (n % 40, n % 5, (n * 7) % 11 if n % 13 else None, f"zip '{n % 4}\"", ("flu", "cold", "cough", None)[n * n % 4])
    for n in range(200)
]
TOLD_APART = {"access", "type", "time", "elapsed", "seconds", "engine", "statements", "version", "target", "provenance"}


@pytest.fixture(scope="module", params=sorted(folders()))
def version(request: pytest.FixtureRequest) -> Iterator[PostgresServer]:
    with server(folders()[request.param]) as running:
        loader = Loader(running)
        loader("events", ROWS, COLUMNS)
        loader.close()
        yield running


def told(result: Any) -> Any:
    """The JSON of a result without what two databases tell differently: names, times and statements."""

    def kept(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: kept(inner) for key, inner in value.items() if key not in TOLD_APART}
        if isinstance(value, float):  # floats of two engines agree to 1e-12
            return float(f"{value:.10g}")
        return [kept(inner) for inner in value] if isinstance(value, list) else value

    return kept(result.to_dict())


CALLS: dict[str, Callable[..., Any]] = {
    "audit": partial(sqlaudit.audit, "events", qi=["age", "zip"], sensitive="illness"),
    "audit of persons": partial(
        sqlaudit.audit,
        "events",
        qi=["age", "zip"],
        sensitive="illness",
        entity="id",
        require={"k": 2, "l": 2, "km@2": 2, "t": 0.5},
    ),
    "columns": partial(sqlaudit.columns, "events", max_size=3, k=2),
    "disclosure": partial(sqlaudit.disclosure_curve, "events", qi=["zip"], sensitive="illness"),
    "persons": partial(sqlaudit.persons, "events", entity="id", qi=["day", "age"]),
    "profile": partial(sqlaudit.profile, "events"),
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What DuckDB finds in the same rows."""
    path = tmp_path_factory.mktemp("duckdb") / "events.duckdb"
    types = "id INTEGER, day INTEGER, age INTEGER, zip TEXT, illness TEXT"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE events ({types})")
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", ROWS)
    return {name: told(call(db=str(path))) for name, call in CALLS.items()}


@pytest.mark.parametrize("name", CALLS)
def test_each_version_finds_what_duckdb_finds(version: PostgresServer, expected: dict[str, Any], name: str) -> None:
    assert told(CALLS[name](db=version.url())) == expected[name]
