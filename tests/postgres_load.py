"""Filling the test server: the auditor's role, and tables loaded with COPY from rows, frames or CSV files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import psycopg
from psycopg import sql

from tests.postgres_server import AUDITOR, DATABASE, PASSWORD, PostgresServer

Rows = Sequence[Sequence[Any]]

_ODD_DEFAULTS = {
    "datestyle": "SQL, DMY",
    "timezone": "Asia/Kathmandu",
    "intervalstyle": "iso_8601",
    "extra_float_digits": "-5",
    "bytea_output": "escape",
    "standard_conforming_strings": "off",
}
"""A role with unfriendly defaults, so that no test passes thanks to friendly ones."""

FIRST_WITH_ITERATIONS = 160000
"""The first version in which the work of checking a password can be chosen, as PostgreSQL counts."""


def prepare(server: PostgresServer) -> None:
    """Create the database and the least-privilege role that audits it."""
    with psycopg.connect(server.admin_url("postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
        role, database = sql.Identifier(AUDITOR), sql.Identifier(DATABASE)
        if connection.info.server_version >= FIRST_WITH_ITERATIONS:
            connection.execute("SET scram_iterations = 1")  # else a fourth of each connection's time is its password
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(role, sql.Literal(PASSWORD)))
        # what an auditor never needs, so that tests prove it
        connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(database))
        for name, value in _ODD_DEFAULTS.items():
            command = sql.SQL("ALTER ROLE {} SET {} = {}")
            connection.execute(command.format(role, sql.Identifier(name), sql.Literal(value)))
        connection.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(database, role))


class Loader:
    """Loads tables into the test server, replacing older ones, and lets the auditor read them."""

    def __init__(self, server: PostgresServer) -> None:
        self.server = server
        # an engine that a test forgot to close holds a lock on its table: better an error than a hang
        self.connection = psycopg.connect(server.admin_url(), autocommit=True, options="-c lock_timeout=5s")

    def __call__(
        self,
        name: str,
        data: Any,
        columns: Sequence[str] = (),
        types: Mapping[str, str] | None = None,
        schema: str = "public",
    ) -> str:
        """Load a table and return its quoted, schema-qualified name.

        Args:
            name: the table's exact name.
            data: rows (with `columns`), a list of dicts, a pandas, polars or Arrow table, or the path of a CSV file.
            columns: the columns' names when data are rows.
            types: PostgreSQL types by column; the others follow from the data.
        """
        names, kinds, rows = _read(data, columns, set(types or {}))
        kinds.update(types or {})
        target = sql.Identifier(schema, name)
        fields = [sql.SQL("{} {}").format(sql.Identifier(n), sql.SQL(kinds[n])) for n in names]
        create = sql.SQL("CREATE TABLE {} ({})").format(target, sql.SQL(", ").join(fields))
        with self.connection.transaction():
            self.connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))
            self.connection.execute(sql.SQL("DROP TABLE IF EXISTS {} CASCADE").format(target))
            self.connection.execute(create)
            self._copy(target, names, rows)
            self.connection.execute(
                sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(sql.Identifier(schema), sql.Identifier(AUDITOR))
            )
            self.connection.execute(sql.SQL("GRANT SELECT ON {} TO {}").format(target, sql.Identifier(AUDITOR)))
        return target.as_string(self.connection)

    def _copy(self, target: sql.Identifier, names: Sequence[str], rows: Iterator[Sequence[Any]]) -> None:
        fields = sql.SQL(", ").join(map(sql.Identifier, names))
        command = sql.SQL("COPY {} ({}) FROM STDIN").format(target, fields)
        with self.connection.cursor() as cursor, cursor.copy(command) as copy:
            for row in rows:
                copy.write_row(row)

    def execute(self, text: str) -> list[tuple[Any, ...]]:
        """Run SQL as the superuser; the rows of the last statement, if it has any."""
        cursor = self.connection.execute(text.encode())
        while cursor.nextset():
            pass
        return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        self.connection.close()


def _read(data: Any, columns: Sequence[str], typed: set[str]) -> tuple[list[str], dict[str, str], Iterator[Any]]:
    if isinstance(data, str | Path):
        return _from_duckdb("FROM read_csv(?)", str(data))
    if not isinstance(data, list | tuple):
        return _from_duckdb("FROM frame", frame=data)
    if data and isinstance(data[0], dict):
        columns = list(data[0])
        data = [[row[c] for c in columns] for row in data]
    kinds = {c: _type_of([row[i] for row in data]) for i, c in enumerate(columns) if c not in typed}
    return list(columns), kinds, iter(data)


def _from_duckdb(query: str, *parameters: Any, **frames: Any) -> tuple[list[str], dict[str, str], Iterator[Any]]:
    connection = duckdb.connect()
    for name, frame in frames.items():
        connection.register(name, frame)
    described = connection.execute("DESCRIBE " + query, parameters).fetchall()
    kinds = {name: _SPELLED.get(kind, kind) for name, kind, *_ in described}
    return list(kinds), kinds, _batches(connection, query, parameters)


def _batches(connection: duckdb.DuckDBPyConnection, query: str, parameters: Sequence[Any]) -> Iterator[Any]:
    with connection:
        connection.execute(query, parameters)
        while rows := connection.fetchmany(50_000):
            yield from rows


_SPELLED = {"TINYINT": "smallint", "DOUBLE": "double precision", "FLOAT": "real", "HUGEINT": "numeric", "BLOB": "bytea"}
_TYPES = {
    "bool": "boolean",
    "int": "bigint",
    "float": "double precision",
    "str": "text",
    "Decimal": "numeric",
    "date": "date",
    "datetime": "timestamp",
    "time": "time",
    "bytes": "bytea",
    "UUID": "uuid",
}


def _type_of(values: Sequence[Any]) -> str:
    """The PostgreSQL type of Python values; text when there is nothing but NULLs."""
    found = {_TYPES[type(value).__name__] for value in values if value is not None}
    if len(found) > 1:
        return "double precision" if found == {"bigint", "double precision"} else "text"
    if found == {"bigint"} and max(abs(value) for value in values if value is not None) >= 2**63:
        return "numeric"
    return found.pop() if found else "text"
