"""Soak: hundreds of audits in one process, cancelled, timed out and failing at random; what do they leave?

    python -m benchmarks.soak [--audits 500] [--seed 1] [--rows 5000] [--db DUCKDB_FILE_OR_URL]... [--no-files]
                              [--start-postgres] [--trace] [--json FILE] [--svg FILE]

Without --db: CSV and Parquet files and a DuckDB database of the same table; --start-postgres adds a PostgreSQL server
of its own. A --db (`spark:local`, a PostgreSQL URL) has the tables `people` and `released`; Spark reads the files.
Prints memory, descriptors, threads and what is left, twenty times; exit code 1 when something was left.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import threading
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlaudit.base.spec import Limits
from tests.security.soaking import (
    Elsewhere,
    Left,
    Place,
    Soak,
    growth,
    heap_of_spark,
    left,
    make_files,
    sessions_of,
    spark_holds,
)

WIDTH, HEIGHT = 640, 180


@contextmanager
def postgres(folder: Path) -> Iterator[tuple[Place, Elsewhere]]:
    """A server of its own with the tables, and who looks at what is left on it."""
    import psycopg

    from tests.postgres_load import Loader, prepare
    from tests.postgres_server import new_server

    server = new_server()
    try:
        server.start()
        prepare(server)
        loader = Loader(server)
        for table in ("people", "released"):
            loader(
                table,
                folder / f"{table}.csv",
                types={"person": "integer", "age": "integer"} if table == "people" else {},
            )
        loader.close()
        with psycopg.connect(server.admin_url(), autocommit=True) as admin:
            yield Place("postgres", "people", "released", server.url()), sessions_of(admin)
    finally:
        server.delete()


def curve_svg(curve: Sequence[Left]) -> str:
    """Resident memory against audits, as a small drawing."""
    most = max(one.resident for one in curve) * 1.1
    points = " ".join(
        f"{40 + (WIDTH - 50) * i / max(1, len(curve) - 1):.1f},{HEIGHT - 20 - (HEIGHT - 30) * one.resident / most:.1f}"
        for i, one in enumerate(curve)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f"<style>text{{font:11px sans-serif}}</style>"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'
        f'<path d="M40 10V{HEIGHT - 20}H{WIDTH - 10}" fill="none" stroke="#888"/>'
        f'<polyline points="{points}" fill="none" stroke="#2563eb" stroke-width="1.2"/>'
        f'<text x="4" y="16">{most:,.0f} MB</text><text x="20" y="{HEIGHT - 20}">0</text>'
        f'<text x="{WIDTH - 90}" y="{HEIGHT - 5}">{len(curve)} audits</text></svg>\n'
    )


def main() -> int:
    """Run what was asked for."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore Ctrl-C
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--audits", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--db", action="append", default=[])
    parser.add_argument("--no-files", action="store_true")
    parser.add_argument("--start-postgres", action="store_true")
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--svg", type=Path)
    asked = parser.parse_args()
    for variable in ("json", "svg"):
        if getattr(asked, variable):
            setattr(asked, variable, getattr(asked, variable).absolute())
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        folder = Path(name).resolve()
        for part in ("tables", "tmp", "home"):
            (folder / part).mkdir()
        places = make_files(folder / "tables", asked.rows)
        os.chdir(folder / "home")
        os.environ["TMPDIR"], tempfile.tempdir = str(folder / "tmp"), None
        if asked.no_files:
            places = []
        places += [_elsewhere(db, folder / "tables") for db in asked.db]
        if any(place.is_spark for place in places):
            with places[-1].open(Limits()):  # one Spark for all of them, as in a notebook
                return _soak(places, folder, asked, spark_holds())
        if not asked.start_postgres:
            return _soak(places, folder, asked, tuple)
        os.environ.pop("TMPDIR")
        tempfile.tempdir = None
        with postgres(folder / "tables") as (place, look):
            os.environ["TMPDIR"], tempfile.tempdir = str(folder / "tmp"), None
            return _soak([*places, place], folder, asked, look)


def _elsewhere(db: str, tables: Path) -> Place:
    """Tables of a server by their names; Spark reads the Parquet files."""
    if db.startswith(("spark", "sc:")):
        return Place(db, f"{tables}/people.parquet", f"{tables}/released.parquet", db)
    return Place(db.partition(":")[0], "people", "released", db)


def _heap(places: Sequence[Place]) -> str:
    return f"  {heap_of_spark():.1f} MB in the JVM" if any(place.is_spark for place in places) else ""


def _soak(places: Sequence[Place], folder: Path, asked: argparse.Namespace, look: Elsewhere) -> int:
    begun = time.monotonic()
    soak = Soak(places, folder / "tables", asked.seed, look)
    before = left(look)
    first: list[tracemalloc.Snapshot] = []

    def tell(number: int, now: Left) -> None:
        if number == asked.audits // 4 and asked.trace:
            tracemalloc.start(10)
        if number == asked.audits // 3 and asked.trace:
            first.append(tracemalloc.take_snapshot())
        if (number + 1) % max(1, asked.audits // 20) == 0:
            print(
                f"{number + 1:4d} audits  {time.monotonic() - begun:6.0f} s  {now.resident:6.1f} MB  {now.files} files "
                f"{len(now.threads)} threads  {now.folders} {now.elsewhere}{_heap(places)}",
                flush=True,
            )

    print(
        "places:",
        ", ".join(place.name for place in places),
        f"| before: {before.resident:.1f} MB, {before.files} files",
        flush=True,
    )
    soak.run(asked.audits, tell)
    early, late = growth(soak.curve)
    print(f"memory: {early:.1f} MB in the second quarter, {late:.1f} MB in the last")
    print("outcomes:", dict(sorted(soak.outcomes.items())))
    print("not finished though undisturbed:", soak.unfinished)
    settled = soak.curve[len(soak.curve) // 4]
    print(
        "files:", settled.files, "->", soak.curve[-1].files, "threads:", settled.threads, "->", soak.curve[-1].threads
    )
    if asked.trace:
        for line in tracemalloc.take_snapshot().compare_to(first[0], "lineno")[:12]:
            print("  ", line)
    if asked.json:
        asked.json.write_text(json.dumps([one.__dict__ for one in soak.curve]))
    if asked.svg:
        asked.svg.write_text(curve_svg(soak.curve))
    strays = [one for one in soak.curve if set(one.folders) - set(before.folders) or one.elsewhere]
    print(
        "left behind:",
        [(one.folders, one.elsewhere) for one in strays[:5]],
        threading.active_count(),
        "threads at the end",
    )
    return 1 if strays or soak.unfinished else 0


if __name__ == "__main__":
    sys.exit(main())
