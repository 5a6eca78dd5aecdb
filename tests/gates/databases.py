"""Tables for policies on every engine, and policies as files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import duckdb
import pytest

from sqlaudit.engines.contract import Engine
from sqlaudit.gates.stored import Accepted
from tests.postgres_load import Loader
from tests.postgres_server import PASSWORD, PostgresServer

Rows = Sequence[Mapping[str, Any]]
SECRET = "Zebra-Fever"
"""A sensitive value that no output may hold."""
PATIENTS: Rows = [
    *({"age": 30, "sex": "F", "disease": d} for d in ("flu", "flu", "cold")),
    *({"age": 30, "sex": "M", "disease": d} for d in ("flu", SECRET)),
    *({"age": 471147114, "sex": "F", "disease": SECRET} for _ in range(2)),
]
"""Seven rows in classes of 3, 2 and 2; the last holds a single disease."""
TYPES = {int: "BIGINT", str: "TEXT", float: "DOUBLE"}


@dataclass
class Database:
    """Where a test's tables are, as a policy says it: `connection` is the content of one connection."""

    connection: str
    schema: str
    folder: Path

    def policy(self, text: str, name: str = "sqlaudit.yml") -> Path:
        """A policy with this connection as `main`, and `{schema}` filled in."""
        head = f"version: 1\nconnections:\n  main: {self.connection}\n"
        return write(self.folder, head + dedent(text).replace("{schema}", self.schema), name)


def write(folder: Path, text: str, name: str = "sqlaudit.yml") -> Path:
    """A policy as it is."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def in_duckdb(folder: Path, tables: Mapping[str, Rows], columns: Mapping[str, str] | None = None) -> Database:
    """The tables in a DuckDB file."""
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        for name, rows in tables.items():
            kinds = columns or {column: TYPES[type(value)] for column, value in rows[0].items()}
            listed = ", ".join(f'"{column}" {kind}' for column, kind in kinds.items())
            connection.execute(f'CREATE OR REPLACE TABLE "{name}" ({listed})')
            if rows:
                marks = ", ".join("(" + ", ".join("?" for _ in kinds) + ")" for _ in rows)
                values = [row[column] for row in rows for column in kinds]
                connection.execute(f'INSERT INTO "{name}" VALUES {marks}', values)
    return Database("{duckdb: clinic.duckdb}", "main", folder)


def in_spark_views(folder: Path, engine: Engine, tables: Mapping[str, Rows]) -> Database:
    """The tables as views of a schema in the Spark of this test run."""
    from tests.spark_session import make_views

    kinds = {int: "int", str: "text", float: "float"}
    for name, rows in tables.items():
        make_views(engine, "gate", name, rows, {column: kinds[type(value)] for column, value in rows[0].items()})
    return Database("{url: 'spark:local[1]'}", "gate", folder)


def in_postgres(
    folder: Path, load: Loader, server: PostgresServer, tables: Mapping[str, Rows], monkeypatch: pytest.MonkeyPatch
) -> Database:
    """The tables in a schema of the test server; the password comes from the environment."""
    for name, rows in tables.items():
        load(name, [list(row.values()) for row in rows], list(rows[0]), schema="gate")
    monkeypatch.setenv("GATE_PASSWORD", PASSWORD)
    return Database(f"{{url: '{server.url(password='')}', password_env: GATE_PASSWORD}}", "gate", folder)


def old_baseline(path: Path, states: dict[tuple[str, str, str], Accepted]) -> Path:
    """A baseline as version 1.0 wrote it."""
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE runs (run INTEGER, finished TIMESTAMP, accepted BOOLEAN, policy VARCHAR, version VARCHAR);"
            "CREATE TABLE results (run INTEGER, table_name VARCHAR, requirement VARCHAR, sensitive VARCHAR, "
            "outcome VARCHAR, falls_short BOOLEAN, level VARCHAR, failing_classes BIGINT, failing_rows BIGINT, "
            "table_rows BIGINT, column_sets VARCHAR, asked VARCHAR)"
        )
        connection.execute("INSERT INTO runs VALUES (1, '2027-01-01', TRUE, 'p.yml', '1.0.0')")
        for key, state in states.items():
            sets = json.dumps([[list(names), rows] for names, rows in state.findings])
            figures = (state.falls_short, state.level, state.failing_classes, state.failing_rows, state.rows)
            connection.execute(
                "INSERT INTO results VALUES (1, ?, ?, ?, 'fail', ?, ?, ?, ?, ?, ?, ?)",
                [*key, *figures, sets, state.asked],
            )
    return path
