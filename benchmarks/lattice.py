"""What a search over the generalization lattice costs, and what each step of the evaluation of nodes brings.

    python -m benchmarks.lattice adult FOLDER      ARX's table: every row of its figures, from CSV to result
    python -m benchmarks.lattice steps FOLDER      the same table: a node's verdict without and with each step
    python -m benchmarks.lattice large [--rows 10000000]    nine columns against the histogram's own GROUP BY
    python -m benchmarks.lattice scaling           time against rows, columns and levels

FOLDER holds `adult.csv` (`;` between fields) and one hierarchy a column, as ARX's examples have them. Generated tables
are drawn by DuckDB from hashes of the row number: the same arguments give the same table. Wall seconds, CPU seconds of
all threads and peak memory are those of whole processes, Python's start included. For lattices of 12 and 15 columns see
`benchmarks/lattice_wide.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.lattice_steps import steps

THREADS = 2
NINE = "sex,age,race,marital-status,education,native-country,workclass,occupation,salary-class"
EIGHT = NINE.replace("occupation,", "")
DIVERSE = ("--qi", EIGHT, "--sensitive", "occupation", "--require", "k=5", "--require", "l=3")
CLOSE = ("--qi", EIGHT, "--sensitive", "occupation", "--require", "k=5", "--require", "t=0.2")
ASKED = [("k=5", ("--qi", NINE, "--require", "k=5")), ("k=5, l=3", DIVERSE), ("k=5, t=0.2", CLOSE)]

WIDTHS: dict[str, list[int]] = {
    "age": [5, 10, 20, 40],
    "sex": [],
    "zip": [10, 100, 500],
    "race": [3],
    "education": [2, 4, 8],
    "country": [5, 20],
    "work": [4],
    "marital": [3],
    "salary": [],
}
"""The columns of the generated table with the widths of their levels below `*`."""

PEOPLE = """
SELECT
    CAST(15 + hash(i, 1) % 85 AS INTEGER) AS age,
    CAST(hash(i, 2) % 2 AS INTEGER) AS sex,
    CAST(10000 + 2000 * pow((hash(i, 3) % 1000000) / 1e6, 3) AS INTEGER) AS zip,
    CAST(7 * pow((hash(i, 4) % 1000000) / 1e6, 3) AS INTEGER) AS race,
    CAST(16 * pow((hash(i, 5) % 1000000) / 1e6, 2) AS INTEGER) AS education,
    CAST(40 * pow((hash(i, 6) % 1000000) / 1e6, 5) AS INTEGER) AS country,
    CAST(8 * pow((hash(i, 7) % 1000000) / 1e6, 2) AS INTEGER) AS work,
    CAST(6 * pow((hash(i, 8) % 1000000) / 1e6, 2) AS INTEGER) AS marital,
    CAST(hash(i, 9) % 4 = 0 AS INTEGER) AS salary
FROM range($rows) AS numbers(i)
"""


@dataclass(frozen=True)
class Ran:
    """A process that ended: seconds on the clock, CPU seconds of all threads, peak megabytes, its JSON."""

    wall: float
    cpu: float
    peak: int
    report: dict[str, Any]


def sqlaudit(*arguments: object) -> Ran:
    """One `sqlaudit lattice` as a process of its own."""
    command = [str(Path(sys.executable).parent / "sqlaudit"), "lattice", *map(str, arguments), "--format", "json"]
    with tempfile.TemporaryFile() as out:
        begun = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):
            raise SystemExit(f"exit {process.returncode}: {' '.join(command)}")
        out.seek(0)
        return Ran(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024, json.load(out))


def best_of(repeat: int, *arguments: object) -> Ran:
    """The run with the least CPU of several: on a busy machine the clock says little."""
    return min((sqlaudit(*arguments) for _ in range(repeat)), key=lambda ran: ran.cpu)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a Markdown table, row by row as they come."""
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for row in rows:
        cells = (f"{cell:.2f}" if isinstance(cell, float) else f"{cell}" for cell in row)
        print("| " + " | ".join(cells) + " |", flush=True)


def adult(folder: Path, repeat: int) -> None:
    """Every requirement with and without suppression: the best node, all minimal nodes, the verdicts of all nodes."""
    common = (folder / "adult.csv", "--hierarchies", folder)

    def rows() -> Iterable[Sequence[object]]:
        for name, asked in ASKED:
            for suppress in ("0", "5%"):
                for how in (("--find", "best"), ("--find", "minimal"), ("--find", "all", "--algorithm", "exhaustive")):
                    ran = best_of(repeat, *common, *asked, "--suppress", suppress, *how)
                    found = ran.report["lattice"]
                    yield name, suppress, how[1], found["checked"], ran.wall, ran.cpu, ran.peak, found["safe"]

    table(["requirement", "suppressed", "find", "checked", "wall s", "CPU s", "peak MB", "safe"], rows())


def made(rows: int, folder: Path) -> Path:
    """The generated table in a DuckDB file, made when it is not there."""
    database = folder / f"lattice_{rows}.duckdb"
    if not database.exists():
        with duckdb.connect(str(database)) as connection:
            connection.execute("SET enable_progress_bar = false")
            connection.execute("SET preserve_insertion_order = false")
            connection.execute("CREATE TABLE people AS " + PEOPLE, {"rows": rows})
    return database


def bare(database: Path, columns: Sequence[str], repeat: int) -> tuple[float, float, int]:
    """Seconds, CPU seconds and rows of a histogram with one row a class, kept as a table: the GROUP BY alone."""
    runs = []
    with duckdb.connect(str(database), read_only=True) as connection:
        connection.execute(f"SET threads = {THREADS}")
        connection.execute("SET enable_progress_bar = false")
        for _ in range(repeat):
            begun, worked = time.perf_counter(), time.process_time()
            connection.execute(
                f"CREATE OR REPLACE TEMP TABLE histogram AS SELECT {', '.join(columns)}, COUNT(*) AS n "
                f"FROM people GROUP BY {', '.join(columns)}"
            )
            runs.append((time.process_time() - worked, time.perf_counter() - begun))
        ((classes,),) = connection.execute("SELECT COUNT(*) FROM histogram").fetchall()
    cpu, wall = min(runs)
    return wall, cpu, int(classes)


def searched(database: Path, widths: dict[str, list[int]], repeat: int, *more: str) -> Sequence[object]:
    """One search over some columns of the generated table against the bare GROUP BY of these."""
    group_by, group_cpu, classes = bare(database, list(widths), repeat)
    given = {name: {"widths": levels} for name, levels in widths.items() if levels}
    hierarchies = database.parent / "hierarchies.json"
    hierarchies.write_text(json.dumps({"hierarchies": given}))
    more = (*more, "--hierarchies", str(hierarchies)) if given else more
    ran = best_of(repeat, "--db", database, "people", "--qi", ",".join(widths), "--require", "k=5", *more)
    found = ran.report["lattice"]
    return (
        len(widths),
        classes,
        found["nodes"],
        found["checked"],
        group_by,
        group_cpu,
        ran.wall,
        ran.cpu,
        ran.wall / group_by,
        ran.cpu / group_cpu,
        ran.peak,
    )


HEAD = [
    "columns",
    "classes",
    "nodes",
    "checked",
    "GROUP BY s",
    "its CPU s",
    "wall s",
    "CPU s",
    "wall ratio",
    "CPU ratio",
    "MB",
]


def large(folder: Path, rows: int, repeat: int) -> None:
    """The best node and all minimal nodes of a large table."""
    database = made(rows, folder)
    asked = (("best, 0%",), ("minimal, 0%", "--find", "minimal"), ("best, 5%", "--suppress", "5%"))
    table(["search", *HEAD], ((name, *searched(database, WIDTHS, repeat, *more)) for name, *more in asked))


def scaling(folder: Path, repeat: int) -> None:
    """Against rows, then columns, then levels, the others as they are."""
    names = list(WIDTHS)
    table(["rows", *HEAD], ((n, *searched(made(n, folder), WIDTHS, repeat)) for n in (10_000, 100_000, 1_000_000)))
    database = made(1_000_000, folder)
    some = ({name: WIDTHS[name] for name in names[:width]} for width in range(3, 10, 2))
    table(HEAD, (searched(database, widths, repeat) for widths in some))
    capped = ((most, {name: given[-most:] if most else [] for name, given in WIDTHS.items()}) for most in range(5))
    table(["most levels", *HEAD], ((most + 1, *searched(database, widths, repeat)) for most, widths in capped))


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["adult", "steps", "large", "scaling"])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        if given.what in ("adult", "steps") and given.folder is None:
            parser.error(f"{given.what} needs the folder with ARX's table")
        if given.what == "adult":
            adult(given.folder, given.repeat)
        elif given.what == "steps":
            table(["step", "nodes", "ms a node", "CPU ms a node"], steps(given.folder, given.repeat))
        elif given.what == "large":
            large(given.folder or Path(temporary), given.rows, given.repeat)
        else:
            scaling(given.folder or Path(temporary), given.repeat)


if __name__ == "__main__":
    main()
