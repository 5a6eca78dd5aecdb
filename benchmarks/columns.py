"""Column sets: identifying sets beside HPIValid, violating sets by themselves.

    python -m benchmarks.columns TABLE.csv [--hpivalid] [--skip identifying] [--max-size 4]

Both sides read the same CSV file; loading is included. Prints seconds on the clock, CPU seconds, peak memory, sets,
sets decided and counted, statements, and the time of each kind of statement. Every run has a process of its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sqlaudit.base.spec import Limits, Target
from sqlaudit.column_sets.request import ColumnRequest
from sqlaudit.column_sets.search import find_columns
from sqlaudit.engines import connect

Found = dict[str, Any]


def ours(request: ColumnRequest, memory: str) -> Found:
    """One search, from opening the file to the result."""
    with connect(None, Limits(threads=2, memory=memory), request.target) as engine:
        result = find_columns(engine, replace(request, effects=False))
        steps: Counter[str] = Counter()
        for done in engine.executed:
            steps[done.name] += round(1000 * (done.seconds or 0))
    counts = result.counts
    return {
        "sets": result.sets_found,
        "complete": result.complete,
        "decided": counts.decided,
        "counted": counts.counted,
        "statements": counts.queries,
        "agree sets": counts.sampled,
        "ms a step": dict(steps.most_common(4)),
    }


def hpivalid(path: str) -> Found:
    """HPIValid on the same file; full-row duplicates must be gone."""
    import desbordante

    algorithm = desbordante.ucc.algorithms.HPIValid()
    algorithm.load_data(table=(path, ",", True))
    algorithm.execute()
    return {"sets": len(algorithm.get_uccs())}


def measured(function: Any, *arguments: Any) -> Found:
    """What a function found, with its time and memory, in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measure, (function, arguments))


def _measure(function: Any, arguments: tuple[Any, ...]) -> Found:
    clock, cpu = time.perf_counter(), time.process_time()
    found = function(*arguments)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    spent = {"seconds": round(time.perf_counter() - clock, 2), "cpu": round(time.process_time() - cpu, 2), "MB": peak}
    return {**spent, **found}


def main() -> None:
    """Run what was asked for, one line a run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path")
    parser.add_argument("--hpivalid", action="store_true", help="run HPIValid too (needs the package desbordante)")
    parser.add_argument("--skip", choices=("identifying", "violating"))
    parser.add_argument("--max-size", type=int, default=4)
    parser.add_argument("--memory", default="")
    given = parser.parse_args()
    target = Target(relation=given.path)
    if given.skip != "identifying":
        if given.hpivalid:
            print("identifying, HPIValid", measured(hpivalid, given.path), flush=True)
        print("identifying, sqlaudit", measured(ours, ColumnRequest(target, identifying=True), given.memory))
    for tolerance in (Fraction(0), Fraction(1, 100)) if given.skip != "violating" else ():
        request = ColumnRequest(target, k=5, tolerance=tolerance, max_size=given.max_size, limit=10_000)
        print(f"violating, {float(tolerance):.0%}", measured(ours, request, given.memory), flush=True)


if __name__ == "__main__":
    main()
