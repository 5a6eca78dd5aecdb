"""What worst-case disclosure costs in the database, against the engine's own GROUP BY, in one run.

    python benchmarks/disclosure.py [--rows 10000000] [--knowledge 12]     by classes and sensitive values
    python benchmarks/disclosure.py --levels 0 3 6 12 25 50                by pieces of knowledge, for 14 and 200 values

`after` is everything that follows the class histogram: reading the signatures out of it and running the program for all
k. It is compared with the bare GROUP BY qi, s (the smallest class histogram there is) and the bare GROUP BY qi. Seconds
depend on the machine, the ratios within a run are what counts; every figure is the best of `--repeat` runs.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import duckdb
from audit import THREADS, grouped, table_of
from generate import SENSITIVE

from sqlaudit.audits.disclosure.attribute import Disclosure
from sqlaudit.audits.disclosure.run import open_attribute
from sqlaudit.base.spec import Limits, Roles, Target
from sqlaudit.classes.opening import resolve_roles
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine

T = TypeVar("T")

KEYS = {
    "few classes": ("age", "sex", "race", "education"),
    "many classes": ("age", "sex", "zip", "race"),
    "more classes": ("age", "sex", "zip", "education"),
    "most classes": ("age", "sex", "zip", "race", "education"),
}


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Seconds and result."""
    begun = time.perf_counter()
    found = work()
    return time.perf_counter() - begun, found


def database_of(rows: int, folder: Path) -> Path:
    """The generated table in a DuckDB file, made when it is not there."""
    database = folder / f"people_{rows}.duckdb"
    if not database.exists():
        path = table_of(rows, folder)
        with duckdb.connect(str(database)) as connection:
            connection.execute("CREATE TABLE people AS SELECT * FROM read_parquet(?)", [str(path)])
    return database


def bare(database: Path, columns: tuple[str, ...], repeat: int) -> float:
    """Seconds of the bare GROUP BY."""
    with duckdb.connect(str(database), read_only=True) as connection:
        connection.execute(f"SET threads = {THREADS}")
        query = grouped(", ".join(columns))
        return min(_once(connection, query) for _ in range(repeat))


def _once(connection: duckdb.DuckDBPyConnection, query: str) -> float:
    return timed(lambda: connection.execute(query).fetchall())[0]


def steps(engine: Engine, keys: tuple[str, ...], sensitive: str, knowledge: int) -> dict[str, float]:
    """Seconds of each step of the command, and what it found."""
    roles = Roles(keys, (sensitive,))
    relation = engine.open(Target("people"))
    resolved = resolve_roles(roles, relation, engine)
    values, opened = timed(lambda: open_attribute(engine, relation, resolved, resolved.sensitive[0], roles))
    histogram, classes = timed(lambda: opened.builder.build(opened.attribute.sql, opened.table))
    read, signatures = timed(lambda: classes.signatures(min(knowledge, opened.table.distinct)))
    disclosure = Disclosure(sensitive, knowledge, signatures)
    program, points = timed(lambda: disclosure.points)
    certain = disclosure.smallest_certain_k
    level = knowledge if certain is None else max(0, certain - 1)
    weakest, _ = timed(lambda: disclosure.weakest(level, 5))
    proof, _ = timed(lambda: disclosure.witness(knowledge))
    return {
        "values": values,
        "histogram": histogram,
        "read": read,
        "program": program,
        "weakest": weakest,
        "proof": proof,
        "after": read + program,
        "classes": signatures.classes,
        "signatures": len(signatures),
        "certain": -1 if certain is None else certain,
        "maximum": float(points[-1].maximum),
    }


def best_steps(database: Path, keys: tuple[str, ...], sensitive: str, knowledge: int, repeat: int) -> dict[str, float]:
    """The run with the smallest `after`."""
    runs = []
    for _ in range(repeat):
        with connect(str(database), Limits(threads=THREADS), Target("people")) as engine:
            runs.append(steps(engine, keys, sensitive, knowledge))
    return min(runs, key=lambda run: run["after"])


def by_classes(database: Path, knowledge: int, repeat: int) -> None:
    """One line a set of quasi-identifiers and sensitive attribute."""
    print(
        f"{'':13} {'values':>6} {'classes':>10} {'signatures':>10} {'bare qi':>8} {'bare qi,s':>9} {'values':>7} "
        f"{'histogram':>9} {'read':>6} {'program':>7} {'after':>6} {'/qi,s':>6} {'/qi':>6} {'weakest':>7} {'proof':>6}"
    )
    for name, keys in KEYS.items():
        alone = bare(database, keys, repeat)
        for sensitive, values in zip(SENSITIVE, (14, 200), strict=True):
            both = bare(database, (*keys, sensitive), repeat)
            run = best_steps(database, keys, sensitive, knowledge, repeat)
            print(
                f"{name:13} {values:6} {run['classes']:10,} {run['signatures']:10,} {alone:8.2f} {both:9.2f} "
                f"{run['values']:7.2f} {run['histogram']:9.2f} {run['read']:6.3f} {run['program']:7.3f} "
                f"{run['after']:6.2f} {run['after'] / both:6.2f} {run['after'] / alone:6.2f} {run['weakest']:7.3f} "
                f"{run['proof']:6.3f}",
                flush=True,
            )


def by_level(database: Path, levels: list[int], repeat: int) -> None:
    """One line a number of pieces of knowledge."""
    print(
        f"{'':13} {'values':>6} {'k':>4} {'certain at':>10} {'signatures':>10} {'read':>7} {'program':>8} {'after':>7}"
    )
    for name in ("few classes", "many classes"):
        for sensitive, values in zip(SENSITIVE, (14, 200), strict=True):
            for knowledge in levels:
                run = best_steps(database, KEYS[name], sensitive, knowledge, repeat)
                certain = "" if run["certain"] < 0 else f"{run['certain']:.0f}"
                print(
                    f"{name:13} {values:6} {knowledge:4} {certain:>10} {run['signatures']:10,} {run['read']:7.3f} "
                    f"{run['program']:8.3f} {run['after']:7.3f}",
                    flush=True,
                )


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--knowledge", type=int, default=12)
    parser.add_argument("--levels", type=int, nargs="+", default=[])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "sqlaudit_benchmarks")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    database = database_of(given.rows, given.folder)
    print(f"{given.rows:,} rows on DuckDB {duckdb.__version__}, {THREADS} threads; seconds")
    if given.levels:
        by_level(database, given.levels, given.repeat)
    else:
        by_classes(database, given.knowledge, given.repeat)


if __name__ == "__main__":
    main()
