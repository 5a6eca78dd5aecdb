"""The same policy by a run on DuckDB, and compiled for a warehouse and judged from its rows: the same of every test.

What this needs is not among what the tests need: pip install -r tests/warehouses/requirements.txt and Debian's
mariadb-server, as .ci/run does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import sqlaudit
from tests.gates.standalone.answering import alike, answers_of, kept
from tests.gates.standalone.collations import refuses_what_is_folded
from tests.gates.standalone.random_policies import in_clickhouse, in_mariadb, random_policy
from tests.gates.standalone.test_warehouses import VALUES, says_what_a_run_says
from tests.warehouses import servers


@pytest.fixture(scope="module")
def clickhouse() -> Iterator[Any]:
    """ClickHouse in this process."""
    with servers.clickhouse() as session:
        yield session


@pytest.fixture(scope="module")
def mariadb() -> Iterator[Any]:
    """A server of its own."""
    with servers.mariadb() as connection:
        yield connection


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(6))
def test_clickhouse_says_what_a_run_says(seed: int, clickhouse: Any, tmp_path: Path) -> None:
    made = random_policy(seed, tmp_path)
    rows = answers_of(made.path, in_clickhouse(made.rows, clickhouse), "clickhouse")
    alike(sqlaudit.gate(made.path), sqlaudit.gate(made.path, results=[kept(rows, tmp_path / "rows.json")]))


@pytest.mark.parametrize("seed", range(6))
def test_mariadb_says_what_a_run_says(seed: int, mariadb: Any, tmp_path: Path) -> None:
    made = random_policy(seed, tmp_path)
    rows = answers_of(made.path, in_mariadb(made.rows, mariadb), "mysql")
    alike(sqlaudit.gate(made.path), sqlaudit.gate(made.path, results=[kept(rows, tmp_path / "rows.json")]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("seed", range(6))
def test_names_of_several_spellings_in_clickhouse(
    seed: int, values: str | None, clickhouse: Any, tmp_path: Path
) -> None:
    says_what_a_run_says(seed, values, tmp_path, lambda rows: in_clickhouse(rows, clickhouse), "clickhouse")


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("seed", range(6))
def test_names_of_several_spellings_in_mariadb(seed: int, values: str | None, mariadb: Any, tmp_path: Path) -> None:
    says_what_a_run_says(seed, values, tmp_path, lambda rows: in_mariadb(rows, mariadb), "mysql")


@pytest.mark.parametrize("collation", ["utf8mb4_general_ci", "utf8mb4_unicode_nopad_ci"])
def test_mariadb_passes_nothing_that_its_collation_folds(collation: str, mariadb: Any) -> None:
    cursor = mariadb.cursor()

    def fill(rows: Sequence[tuple[str, str]]) -> Callable[[str], Any]:
        cursor.execute("DROP TABLE IF EXISTS people")
        cursor.execute(
            f"CREATE TABLE people (name VARCHAR(9), ill VARCHAR(9)) CHARACTER SET utf8mb4 COLLATE {collation}"
        )
        cursor.executemany("INSERT INTO people VALUES (%s, %s)", rows)

        def run(sql: str) -> Any:
            cursor.execute(sql)
            return cursor.fetchone()

        return run

    refuses_what_is_folded(fill, "mysql")
