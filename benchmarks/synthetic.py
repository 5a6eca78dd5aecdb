"""What comparing a synthetic table costs, against the bare GROUP BY of both tables.

python benchmarks/synthetic.py [ROWS] [FOLDER]

The tables have six keys, three sensitive attributes and no other column; a fifth of the synthetic rows are copies. Times
are CPU seconds of one process each. The bare query groups each table by the keys and each of the attributes.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb

KEYS = ("age", "sex", "region", "education", "status", "job")
TARGETS = ("illness", "income", "party")
_DRAWN = """
SELECT
    18 + {0} % 70 AS age, {1} % 2 AS sex, {2} % 20 AS region, {3} % 8 AS education, {4} % 5 AS status, {5} % 30 AS job,
    least({6} % 7, {7} % 12, 9 + {1} % 2) AS illness, ({3} % 8 + {8} % 5) // 3 AS income, {9} % 40 AS party
FROM range({rows}) AS t(i)
"""


def drawn(rows: int, seed: int) -> str:
    """A SELECT of random people, the same for the same seed."""
    return _DRAWN.format(*(f"CAST(hash(i, {place}, {seed}) % 1000003 AS INTEGER)" for place in range(10)), rows=rows)


def make(file: Path, rows: int) -> None:
    """The database with the three tables."""
    file.unlink(missing_ok=True)
    with duckdb.connect(str(file)) as made:
        made.execute(f"CREATE TABLE original AS {drawn(rows, 1)}")
        made.execute(f"CREATE TABLE others AS {drawn(rows, 2)}")
        made.execute(
            f"CREATE TABLE synthetic AS {drawn(rows - rows // 5, 3)} UNION ALL "
            f"(SELECT * FROM original LIMIT {rows // 5})"
        )


def bare(file: Path, targets: tuple[str, ...]) -> None:
    """GROUP BY of both tables for each attribute; nothing comes back but the number of groups."""
    with duckdb.connect(str(file), read_only=True) as opened:
        for table in ("original", "synthetic"):
            for target in targets:
                names = ", ".join((*KEYS, *([target] if target else [])))
                opened.execute(f"SELECT COUNT(*) FROM (SELECT {names}, COUNT(*) FROM {table} GROUP BY {names})")
                opened.fetchall()


def compare(file: Path, **more: Any) -> None:
    """The comparison, with the CPU seconds of each statement."""
    import sqlaudit

    found = sqlaudit.compare("original", "synthetic", synthetic=True, qi=KEYS, sensitive=TARGETS, db=str(file), **more)
    for one in found.statements:
        if (one.seconds or 0) > 0.05:
            print(f"    {one.seconds:8.1f} s (clock)  {one.name}", flush=True)


STEPS = {
    "bare": lambda file: bare(file, TARGETS),
    "bare-keys": lambda file: bare(file, ("",)),
    "compare": compare,
    "holdout": lambda file: compare(file, holdout="others"),
    "known": lambda file: compare(file, known=2),
}


def measured(step: str, file: Path) -> str:
    """One step in a process of its own."""
    began = time.monotonic()
    subprocess.run([sys.executable, __file__, "--step", step, str(file)], check=True)
    clock, used = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return f"{step:12} CPU {used.ru_utime + used.ru_stime:8.1f} s so far, clock {clock:6.1f} s, peak {used.ru_maxrss / 2**20:5.2f} GiB"


def main() -> None:
    """Make the tables and run every step."""
    if sys.argv[1:2] == ["--step"]:
        STEPS[sys.argv[2]](Path(sys.argv[3]))
        return
    rows, folder = int(float((sys.argv[1:] or ["1e6"])[0])), Path((sys.argv[2:] or ["/tmp"])[0])
    file = folder / f"synthetic_{rows}.duckdb"
    if not file.exists():
        make(file, rows)
    before = 0.0
    for step in sys.argv[3:] or STEPS:
        line = measured(step, file)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        now = used.ru_utime + used.ru_stime
        print(f"{step:12} CPU {now - before:8.1f} s, {line.split('so far, ')[1]}", flush=True)
        before = now


if __name__ == "__main__":
    main()
