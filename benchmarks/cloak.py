"""Cloaking: how long a million messages take, and how fine their boxes become.

    python -m benchmarks.cloak [--rows 1000000] [--db postgresql://…/database] [--k 5]

Messages of 50,000 users around 40 places of a city of 30 km, in one day, seeded. On DuckDB they are a frame; with
`--db` they are loaded into that database first, as the table `cloak_benchmark`, which is dropped at the end. Prints
seconds on the clock, CPU seconds of this process (DuckDB runs in it, PostgreSQL does not), peak memory, and the steps
that took longest.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np

from sqlaudit.base.spec import Limits, Target
from sqlaudit.engines import connect
from sqlaudit.remedies.cloak.request import CloakRequest, Places, Tolerances
from sqlaudit.remedies.cloak.result import CloakResult
from sqlaudit.remedies.cloak.run import cloak_messages

TABLE = "cloak_benchmark"


def messages(rows: int) -> Any:
    """The messages as a frame; `asks` is a k of its own for one message in ten."""
    import pandas as pd

    rng = np.random.default_rng(7)
    homes = rng.uniform(0, 30_000, (40, 2))
    at = homes[rng.integers(0, 40, rows)] + rng.normal(0, 1_500, (rows, 2))
    asks = pd.array(np.where(rng.random(rows) < 0.1, rng.integers(6, 20, rows), 0), dtype="Int64")
    return pd.DataFrame(
        {
            "user": rng.integers(0, 50_000, rows),
            "x": at[:, 0].round(1),
            "y": at[:, 1].round(1),
            "sent": rng.integers(0, 86_400, rows),
            "asks": asks,
            "text": np.char.add("m", (np.arange(rows) % 97).astype(str)),
        }
    )


def load(url: str, frame: Any) -> None:
    """Put the messages into PostgreSQL."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP TABLE IF EXISTS {TABLE}")
        connection.execute(
            f'CREATE TABLE {TABLE} ("user" bigint, x float8, y float8, sent bigint, asks bigint, text text)'
        )
        with connection.cursor() as cursor, cursor.copy(f"COPY {TABLE} FROM STDIN") as copy:
            for row in frame.itertuples(index=False):
                copy.write_row(row)
        connection.execute(f"ANALYZE {TABLE}")


def drop(url: str) -> None:
    """Remove them again."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP TABLE IF EXISTS {TABLE}")


def measured(db: str | None, target: Target, k: int, own: bool) -> tuple[CloakResult, float, float]:
    """One run, from connecting to the audited result, with seconds on the clock and of this process."""
    request = CloakRequest(
        target,
        Places("user", "x", "y", "sent"),
        k,
        Fraction(1000),
        Fraction(600),
        tolerances=Tolerances(k="asks") if own else Tolerances(),
        identifiers=() if own else ("asks",),
    )
    clock, cpu = time.perf_counter(), time.process_time()
    with connect(db, Limits(threads=2), target) as engine:
        result = cloak_messages(engine, request)
    return result, time.perf_counter() - clock, time.process_time() - cpu


def main() -> None:
    """Run both kinds of request, one block each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--db")
    parser.add_argument("--k", type=int, default=5)
    given = parser.parse_args()
    frame = messages(given.rows)
    if given.db:
        load(given.db, frame)
    target = Target(relation=TABLE) if given.db else Target(frame=frame)
    try:
        for own in (False, True):
            result, seconds, cpu = measured(given.db, target, given.k, own)
            steps: Counter[str] = Counter()
            for timing in result.statements:
                steps[timing.name] += round(1000 * (timing.seconds or 0))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            name, longest = "k of its own" if own else "one k", dict(steps.most_common(5))
            print(f"{name}: {seconds:.1f} s, CPU {cpu:.1f} s, {peak} MB, {longest}")
            print(f"  {result.published:,} of {result.rows:,} messages in {result.boxes:,} boxes")
            print("  ", [(float(one.side), float(one.seconds), one.messages) for one in result.levels], flush=True)
    finally:
        if given.db:
            drop(given.db)


if __name__ == "__main__":
    main()
