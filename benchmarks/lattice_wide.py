"""Lattices of 12 and 15 quasi-identifiers: the best node at no suppression, or what is proven in the time there is.

    python -m benchmarks.lattice_wide --columns 15 --shape skewed --rows 100000 [--suppress 0] [--require k=5]

Prints nodes, verdicts asked for, seconds from the Parquet file to the result, peak memory, the best loss and the proven
lower bound. The columns are drawn by DuckDB from hashes of the row number, so the same arguments give the same table.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

import sqlaudit

COLUMNS = {
    "age": (80, [5, 10, 20, 40]),
    "place": (125, [5, 25]),
    "born_in": (36, [6]),
    "job": (60, [3, 12]),
    "education": (16, [2, 4, 8]),
    "income": (50, [5, 10, 20]),
    "employer": (24, [6]),
    "origin": (12, [3]),
    "marital": (7, [2]),
    "household": (9, [3]),
    "sex": (2, []),
    "housing": (8, [4]),
    "arrival": (30, [5, 10]),
    "language": (10, [5]),
    "cars": (4, [2]),
}
"""For each column how many values it has, and the widths of its levels below `*`."""

SHAPES = ("skewed", "uniform", "groups")
"""`skewed`: independent, few values are frequent. `uniform`: independent, all are. `groups`: the values of a row follow
from which of 400 groups it belongs to, but for one cell in twenty."""

VALUE = {
    "skewed": "CAST(floor({values} * pow((hash(i, {place}) % 1000003) / 1000003.0, 3)) AS INTEGER)",
    "uniform": "CAST(hash(i, {place}) % {values} AS INTEGER)",
    "groups": "CAST(CASE WHEN hash(i, {place}, 1) % 20 = 0 THEN hash(i, {place}) "
    "ELSE hash(CAST(floor(400 * pow((hash(i) % 1000003) / 1000003.0, 2)) AS INTEGER), {place}) END "
    "% {values} AS INTEGER)",
}


def table(path: Path, columns: int, shape: str, rows: int) -> None:
    """Write the table to a Parquet file."""
    drawn = [
        VALUE[shape].format(place=place, values=values) + f" AS {name}"
        for place, (name, (values, _)) in enumerate(list(COLUMNS.items())[:columns])
    ]
    drawn.append("CAST(floor(12 * pow((hash(i, 99) % 1000003) / 1000003.0, 2)) AS INTEGER) AS diagnosis")
    with duckdb.connect() as connection:
        numbers = connection.sql("FROM range($rows) AS numbers(i)", params={"rows": rows})
        numbers.project(", ".join(drawn)).write_parquet(str(path))


def search(path: Path, given: argparse.Namespace) -> dict[str, Any]:
    """One search, from opening the file to the result."""
    started, cpu = time.perf_counter(), time.process_time()
    names = list(COLUMNS)[: given.columns]
    hierarchies = {name: {"widths": COLUMNS[name][1]} for name in names if COLUMNS[name][1]}
    found = sqlaudit.lattice(
        str(path),
        qi=names,
        sensitive="diagnosis",
        require=given.require,
        hierarchies=hierarchies,
        suppress=given.suppress,
        find=given.find,
        measure=given.measure,
        time_budget=given.budget,
        algorithm=given.algorithm,
        walk=False,
    )
    best = found.best
    return {
        "algorithm": found.algorithm,
        "nodes": found.nodes,
        "checked": found.checked,
        "seconds": round(time.perf_counter() - started, 1),
        "cpu": round(time.process_time() - cpu, 1),
        "MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "complete": found.complete,
        "bound": found.bound,
        "loss": best and best.loss,
        "levels": best and best.levels,
        "minimal": None if found.minimal is None else len(found.minimal),
        "safe": found.safe,
    }


def main() -> None:
    """Make the table and search it, in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=15)
    parser.add_argument("--shape", choices=SHAPES, default="skewed")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--require", action="append")
    parser.add_argument("--suppress", default="0")
    parser.add_argument("--find", default="best")
    parser.add_argument("--measure", default="loss")
    parser.add_argument("--algorithm", default="auto")
    parser.add_argument("--budget", type=float)
    given = parser.parse_args()
    given.require = given.require or ["k=5"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.parquet"
        table(path, given.columns, given.shape, given.rows)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(given.columns, given.shape, given.rows, pool.apply(search, (path, given)), flush=True)


if __name__ == "__main__":
    main()
