"""What comparing a synthetic table costs, against the bare GROUP BY of both tables.

python benchmarks/synthetic.py [ROWS] [FOLDER] [STEP …]

The tables have six keys, three sensitive attributes and no other column; a fifth of the synthetic rows are copies.
The bare query groups each table by the keys and each of the attributes. `figures` is `compare` without copies, which
group by all columns, and once more for each column that is left out. The step `sdmetrics` has to be named.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from dataclasses import replace
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


def compare(file: Path, *, copies: bool = True, **more: Any) -> None:
    """The comparison, with the copies or without."""
    from sqlaudit.base.spec import Target
    from sqlaudit.engines import connect
    from sqlaudit.release.compare.request import CompareRequest
    from sqlaudit.release.synthetic import run

    others = {name: Target(relation=name) for name in more.pop("tables", ())}
    asked = {"qi": KEYS, "sensitive": TARGETS, "synthetic": True, "holdout": others.get("others")} | more
    request = CompareRequest(Target(relation="original"), Target(relation="synthetic"), **asked)
    if not copies:
        counting = run.open_counting
        run.open_counting = lambda engine, asked: _without_columns(counting(engine, asked))
    with connect(str(file)) as engine:
        run.find_disclosure(engine, request)


def _without_columns(counting: Any) -> Any:
    counting.tables = [replace(table, columns=()) for table in counting.tables]
    return counting


def sdmetrics(file: Path) -> None:
    """Other measures, row by row, of the first 5,000 rows: with `pip install sdmetrics`."""
    from sdmetrics.single_table import DisclosureProtection, NewRowSynthesis

    with duckdb.connect(str(file), read_only=True) as opened:
        tables = [opened.sql(f"SELECT * FROM {name} LIMIT 5000").df() for name in ("original", "synthetic")]
    texts = [table.astype(str) for table in tables]
    for target in TARGETS:
        DisclosureProtection.compute(*texts, known_column_names=[*KEYS], sensitive_column_names=[target])
    NewRowSynthesis.compute(*tables, {"columns": {name: {"sdtype": "categorical"} for name in (*KEYS, *TARGETS)}})


STEPS = {
    "bare": lambda file: bare(file, TARGETS),
    "bare-keys": lambda file: bare(file, ("",)),
    "figures": lambda file: compare(file, copies=False),
    "holdout": lambda file: compare(file, copies=False, tables=("others",)),
    "known": lambda file: compare(file, copies=False, known=2),
    "compare": compare,
    "sdmetrics": sdmetrics,
}


def main() -> None:
    """Make the tables and run every step in a process of its own."""
    if sys.argv[1:2] == ["--step"]:
        STEPS[sys.argv[2]](Path(sys.argv[3]))
        used = resource.getrusage(resource.RUSAGE_SELF)
        print(f"{sys.argv[2]:10} CPU {used.ru_utime + used.ru_stime:7.1f} s, peak {used.ru_maxrss / 2**20:5.2f} GiB")
        return
    rows, folder = int(float((sys.argv[1:] or ["1e6"])[0])), Path((sys.argv[2:] or ["/tmp"])[0])
    file = folder / f"synthetic_{rows}.duckdb"
    if not file.exists():
        make(file, rows)
    for step in sys.argv[3:] or [*STEPS][:-1]:
        subprocess.run([sys.executable, __file__, "--step", step, str(file)], check=True)


if __name__ == "__main__":
    main()
