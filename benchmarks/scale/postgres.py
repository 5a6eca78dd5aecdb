"""PostgreSQL: a server of its own, started from the binaries of the test extra, loaded by COPY."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import psycopg
from psycopg import sql

from benchmarks.scale.job import Job
from benchmarks.scale.measure import Prepare
from benchmarks.scale.shapes import Shape, generate

SETTINGS = {"shared_buffers": "1GB", "work_mem": "256MB", "max_parallel_workers_per_gather": "2", "jit": "off"}
_PIECE = 1 << 20


@contextmanager
def served() -> Iterator[Prepare]:
    """A running server, as what prepares jobs on it; it and its data are gone afterwards."""
    from tests.postgres_server import new_server

    server = new_server(SETTINGS)
    try:
        server.start()
        url = server.admin_url("postgres")
        postmaster = int((server.data / "postmaster.pid").read_text().split()[0])
        spill = str(server.data / "base" / "pgsql_tmp")
        yield lambda shape, folder: (
            Job((), "people", shape.columns, url, postmaster, spill),
            loaded(shape, folder, url),
        )
    finally:
        server.delete()


def loaded(shape: Shape, folder: Path, url: str) -> float:
    """Load a table as `people`, unless it is there already; its megabytes."""
    with psycopg.connect(url, autocommit=True) as connection:
        there = connection.execute("SELECT obj_description(to_regclass('people'))").fetchone()
        if there is None or there[0] != shape.name:
            _load(shape, folder, connection)
        found = connection.execute("SELECT pg_relation_size('people')").fetchone()
    return float(found[0]) / 1e6 if found else 0.0


def _load(shape: Shape, folder: Path, connection: psycopg.Connection) -> None:
    kinds = ["text" if place % 2 else "integer" for place in range(shape.qis)]
    columns = [
        sql.SQL("{} {}").format(sql.Identifier(n), sql.SQL(k)) for n, k in zip(shape.columns, kinds, strict=True)
    ]
    connection.execute("DROP TABLE IF EXISTS people")
    connection.execute(sql.SQL("CREATE UNLOGGED TABLE people ({}, s text)").format(sql.SQL(", ").join(columns)))
    lines = folder / f"{shape.name}.{os.getpid()}.csv"
    try:
        duckdb.connect().read_parquet(str(generate(shape, folder))).write_csv(str(lines), header=False)
        with lines.open("rb") as file, connection.cursor().copy("COPY people FROM STDIN (FORMAT csv)") as copy:
            while piece := file.read(_PIECE):
                copy.write(piece)
    finally:
        lines.unlink(missing_ok=True)
    connection.execute("VACUUM (ANALYZE) people")
    connection.execute(sql.SQL("COMMENT ON TABLE people IS {}").format(sql.Literal(shape.name)))
