"""Many random policies by a run on DuckDB, and compiled and judged from the rows of SQLite and ClickHouse.

Run it where chdb is: python benchmarks/warehouses.py FIRST LAST. It prints what disagrees, and how many agree.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import sqlaudit
from tests.gates.standalone.answering import alike, answers_of, kept
from tests.gates.standalone.random_policies import in_clickhouse, in_sqlite, random_policy


def main(first: int, last: int) -> int:
    """Compare the policies of these seeds; the number that disagrees."""
    from chdb.session import Session

    wrong = tests = 0
    session = Session()
    for seed in range(first, last):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            made = random_policy(seed, folder)
            run = sqlaudit.gate(made.path)
            for dialect, execute in (
                ("clickhouse", in_clickhouse(made.rows, session)),
                ("sqlite", in_sqlite(made.rows)),
            ):
                rows = answers_of(made.path, execute, dialect)
                try:
                    alike(run, sqlaudit.gate(made.path, results=[kept(rows, folder / "rows.json")]))
                except AssertionError:
                    wrong += 1
                    print(f"seed {seed}: {dialect} disagrees")
                tests += len(run.tests)
    print(f"{tests} tests of {last - first} policies, {wrong} policies disagree")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(int(sys.argv[1]), int(sys.argv[2]))))
