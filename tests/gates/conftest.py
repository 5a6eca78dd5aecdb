"""`database(tables)` puts tables into a database of the engine in turn, for policies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.gates.databases import Database, Rows, in_duckdb, in_postgres, in_spark_views

Make = Callable[[Mapping[str, Rows]], Database]


@pytest.fixture
def database(engine_name: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes a database with tables, on every engine in turn."""

    def make(tables: Mapping[str, Rows]) -> Database:
        if engine_name == "duckdb":
            return in_duckdb(tmp_path, tables)
        if engine_name == "spark":
            request.getfixturevalue("small_spark")
            return in_spark_views(tmp_path, request.getfixturevalue("engine"), tables)
        load, server = request.getfixturevalue("load"), request.getfixturevalue("postgres_server")
        return in_postgres(tmp_path, load, server, tables, monkeypatch)

    return make
