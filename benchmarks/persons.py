"""Persons in many rows: known events beside the bare GROUP BY of events, and beside scikit-mobility.

    python -m benchmarks.persons [--persons 1000000] [--events 10] [--known 2] [--time-budget 60]
    python -m benchmarks.persons --persons 20 --events 5 --places 12 --mobility /path/to/venv/bin/python

Made-up visits: places of very different size, one of twelve months. Clocks start when files are open. scikit-mobility,
in an environment of its own, gets the same visits as a trajectory, a place a point; it is for tens of persons only.
Prints seconds, peak memory, and what was found; every run of ours has a process of its own. Seconds of the bare
GROUP BY are of CPU, for ours both are told.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.columns import measured
from sqlaudit.base.spec import Limits, Target
from sqlaudit.engines import connect
from sqlaudit.events.request import PersonsRequest
from sqlaudit.events.run import find_persons

VISITS = """
    COPY (
        SELECT
            i // {events} AS who,
            CAST(floor({places} * pow((hash(i * 3 + 1) % 1000003) / 1000003.0, 2)) AS INTEGER) AS place,
            CAST(hash(i * 7 + 5) % 12 AS INTEGER) AS month
        FROM range({persons} * {events}) AS visits(i)
    ) TO '{path}' (FORMAT parquet)
"""
BASELINE = Path(__file__).with_name("mobility_baseline.py")


def make(path: Path, persons: int, events: int, places: int) -> None:
    """Write made-up visits."""
    duckdb.execute(VISITS.format(persons=persons, events=events, places=places, path=path))


def bare(path: str, threads: int) -> dict[str, Any]:
    """Persons by event, and events by person, each by one GROUP BY over the rows in memory: seconds of CPU."""
    with duckdb.connect(config={"threads": threads}) as database:
        database.execute(f"CREATE TABLE visits AS FROM '{path}'")
        begun = time.process_time()
        database.execute("SELECT MIN(n) FROM (SELECT COUNT(DISTINCT who) AS n FROM visits GROUP BY place, month)")
        first = time.process_time() - begun
        database.execute("SELECT COUNT(*) FROM (SELECT who, place, month FROM visits GROUP BY ALL)")
        return {"group by event": round(first, 2), "distinct events": round(time.process_time() - begun - first, 2)}


def ours(request: PersonsRequest, memory: str, threads: int) -> dict[str, Any]:
    """What is found with so many known events, from the rows in memory on."""
    with connect(None, Limits(threads=threads, memory=memory), request.target) as engine:
        engine.open(request.target)
        begun, used = time.perf_counter(), time.process_time()
        result = find_persons(engine, request)
        return {
            "search": round(time.perf_counter() - begun, 2),
            "search CPU": round(time.process_time() - used, 2),
            "curve": [
                (one.known, one.smallest, one.exposed_persons, one.unique_persons, one.exact) for one in result.curve
            ],
        }


def mobility(python: str, path: Path, known: int) -> dict[str, Any]:
    """The attacks of scikit-mobility on the same visits."""
    table = path.with_suffix(".csv")
    duckdb.execute(f"COPY (FROM '{path}') TO '{table}'")
    ran = subprocess.run([python, str(BASELINE), str(table), str(known)], capture_output=True, text=True, check=True)
    return dict(json.loads(ran.stdout.splitlines()[-1]))


def main() -> None:
    """Run what was asked for, one line a run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--persons", type=int, default=1_000_000)
    parser.add_argument("--events", type=int, default=10)
    parser.add_argument("--places", type=int, default=200)
    parser.add_argument("--known", type=int, default=2)
    parser.add_argument("--time-budget", type=float)
    parser.add_argument("--memory", default="")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--mobility", help="a Python that has scikit-mobility")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "visits.parquet"
        make(path, given.persons, given.events, given.places)
        if not given.mobility:
            print("bare", measured(bare, str(path), given.threads), flush=True)
            request = PersonsRequest(
                target=Target(relation=str(path)),
                entity="who",
                qi=("place", "month"),
                known=given.known,
                time_budget=given.time_budget,
            )
            print("sqlaudit", measured(ours, request, given.memory, given.threads), flush=True)
            return
        for multiset in (False, True):
            target = Target(relation=str(path))
            request = PersonsRequest(target=target, entity="who", qi=("place",), known=given.known, multiset=multiset)
            print("sqlaudit", measured(ours, request, given.memory, given.threads), flush=True)
        print("scikit-mobility", mobility(given.mobility, path, given.known), flush=True)


if __name__ == "__main__":
    main()
