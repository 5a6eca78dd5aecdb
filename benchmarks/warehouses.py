"""Many random policies by a run on DuckDB, and compiled and judged from the rows of other databases.

python benchmarks/warehouses.py FIRST LAST [clickhouse|mysql|postgres|spark|sqlite|snowflake]... where chdb, pymysql,
Debian's mariadb-server and pyspark are. It prints what disagrees, and how many agree. Snowflake is an emulator and
asked for by name: `tests/warehouses/servers.py` says what it needs.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import sqlaudit
from tests.gates.standalone import random_policies as made_of
from tests.gates.standalone.answering import Execute, alike, answers_of, kept
from tests.warehouses import servers

Place = tuple[Callable[[], AbstractContextManager[Any]], Callable[[made_of.Cells, Any], Execute]]
PLACES: dict[str, Place] = {
    "clickhouse": (servers.clickhouse, made_of.in_clickhouse),
    "mysql": (servers.mariadb, made_of.in_mariadb),
    "postgres": (servers.postgres, made_of.in_postgres),
    "spark": (servers.spark, made_of.in_spark),
    "sqlite": (nullcontext, lambda rows, _: made_of.in_sqlite(rows)),
    "snowflake": (servers.snowflake, made_of.in_snowflake),
}
EMULATORS = ("snowflake",)


def compared(seed: int, dialect: str, opened: Any) -> tuple[int, bool]:
    """How many tests the policy of a seed has, and whether the dialect's rows say the same of all."""
    with tempfile.TemporaryDirectory() as name:
        made = made_of.random_policy(seed, Path(name))
        run = sqlaudit.gate(made.path)
        rows = answers_of(made.path, PLACES[dialect][1](made.rows, opened), dialect)
        try:
            alike(run, sqlaudit.gate(made.path, results=[kept(rows, Path(name, "rows.json"))]))
        except AssertionError:
            return len(run.tests), False
    return len(run.tests), True


def _without_single_quote() -> AbstractContextManager[Any]:
    """Meanwhile the odd name of a column has none, which is too much for emulators."""
    name = made_of.ODD.replace("'", "")
    kinds = {name if one == made_of.ODD else one: kind for one, kind in made_of.KINDS.items()}
    return patch.multiple(made_of, ODD=name, KINDS=kinds)


def main(first: int, last: int, dialects: list[str]) -> int:
    """Compare the policies of these seeds; the number that disagrees."""
    wrong = 0
    with ExitStack() as stack:
        for dialect in dialects:
            if dialect in EMULATORS:
                stack.enter_context(_without_single_quote())
            opened = stack.enter_context(PLACES[dialect][0]())
            found = {seed: compared(seed, dialect, opened) for seed in range(first, last)}
            bad = [seed for seed, (_, agrees) in found.items() if not agrees]
            tests = sum(number for number, _ in found.values())
            print(f"{dialect}: {tests} tests of {len(found)} policies, {len(bad)} policies disagree {bad}", flush=True)
            wrong += len(bad)
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] or sorted(PLACES.keys() - EMULATORS))))
