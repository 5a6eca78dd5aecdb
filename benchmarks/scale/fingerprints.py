"""What it costs to prove that parts of a table did not change, beside counting their histogram again."""

from __future__ import annotations

import csv
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import psycopg

import sqlaudit
from benchmarks.scale.job import MEMORY, REQUIRED, THREADS
from benchmarks.scale.postgres import served
from benchmarks.scale.records import DOCS
from benchmarks.scale.shapes import Shape, generate
from benchmarks.scale.texts import text
from sqlaudit.base.spec import Limits

FIGURES = DOCS / "scale_fingerprints.csv"
HASHES = {
    "DuckDB": {
        "own hash": "hash({c})",
        "SHA-256": "CAST('0x' || substr(sha256(concat_ws('|', {c})), 1, 15) AS BIGINT)",
    },
    "PostgreSQL": {
        "own hash": "hash_record_extended(ROW({c}), 7)",
        "SHA-256": "('x' || substr(encode(sha256(convert_to(ROW({c})::text, 'UTF8')), 'hex'), 1, 16))::bit(64)::bigint",
    },
}
"""The hash of a row: the engine's own of 64 bits, and the first digits of a cryptographic one."""


def seconds(work: Callable[[], Any], times: int = 3) -> float:
    """The median of some runs on the clock."""
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def fingerprints(folder: Path, rows: int) -> None:
    """The figures of tables with few, some and many classes, on both engines."""
    lines = []
    with served() as prepare:
        for classes in (rows // 10_000, rows // 100, rows // 10):
            shape = Shape(rows, max(1, classes))
            lines += [_in_duckdb(shape, folder), _in_postgres(shape, prepare(shape, folder)[0].db)]
            print(lines[-2:], flush=True)
    with FIGURES.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def _in_duckdb(shape: Shape, folder: Path) -> dict[str, Any]:
    generated = generate(shape, folder)
    with tempfile.TemporaryDirectory() as place:
        path = str(Path(place) / "people.duckdb")
        with duckdb.connect(path, config={"memory_limit": MEMORY, "threads": THREADS}) as connection:
            connection.execute("SET enable_progress_bar = false")
            connection.execute(f"CREATE TABLE people AS SELECT * FROM '{generated}'")
            found = _measured("DuckDB", shape, lambda sql: connection.execute(sql).fetchall())
        return found | {"audit": _audited(shape, path)}


def _in_postgres(shape: Shape, url: str | None) -> dict[str, Any]:
    assert url is not None
    with psycopg.connect(url, autocommit=True) as connection:
        found = _measured("PostgreSQL", shape, lambda sql: connection.execute(sql).fetchall())
    return found | {"audit": _audited(shape, url)}


def _measured(engine: str, shape: Shape, ask: Callable[[str], Any]) -> dict[str, Any]:
    cells = text("histogram.sql", columns=shape.columns, source="people")
    listed = ", ".join((*shape.columns, "s"))
    own = {
        name: seconds(lambda sql=sql: ask(sql))  # type: ignore[misc]
        for name, form in HASHES[engine].items()
        for sql in [text("fingerprint.sql", columns=shape.columns, source="people", hashed=form.format(c=listed))]
    }
    counted = seconds(lambda: ask(f"SELECT COUNT(*), MAX(c) FROM ({cells}) AS cells"))
    figures = {name: f"{value:.3g}" for name, value in (own | {"histogram": counted}).items()}
    return {"engine": engine, "rows": shape.rows, "classes": shape.classes, **figures}


def _audited(shape: Shape, db: str) -> str:
    limits = Limits(memory=MEMORY, threads=THREADS)
    asked = {"qi": shape.columns, "sensitive": "s", "require": REQUIRED, "failing_classes": 0, "worst_classes": 0}
    return f"{seconds(lambda: sqlaudit.audit('people', db=db, limits=limits, **asked)):.3g}"
