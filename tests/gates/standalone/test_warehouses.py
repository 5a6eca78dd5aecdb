"""The same policy by a run on DuckDB, and compiled and judged from another database's rows: the same of every test.

SQLite and PostgreSQL are here; `tests/warehouses` has what no other test needs.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

import sqlaudit
from sqlaudit.gates.result import GateResult
from sqlaudit.gates.standalone.names import DIALECTS
from tests.audits.unwarned import unwarned  # noqa: F401
from tests.gates.standalone.answering import Execute, alike, answers_of, in_duckdb_file, kept
from tests.gates.standalone.random_policies import Cells, in_postgres, in_sqlite, random_policy, unclear
from tests.places import REPOSITORY
from tests.strategies import fewer

SEEDS = (0, 3, 5, 7)
"""Policies that between them tell a wrong limit, count, quotient, logarithm or condition apart, each twice."""


@functools.cache
def run_of(seed: int) -> GateResult:
    """A run on DuckDB of the policy of a seed, for every warehouse that is compared with it."""
    with tempfile.TemporaryDirectory(prefix="sqlaudit-") as folder:
        return sqlaudit.gate(random_policy(seed, Path(folder)).path)


@pytest.mark.parametrize("seed", range(8) if fewer(8) == 8 else SEEDS)
def test_sqlite_says_what_a_run_says(seed: int, tmp_path: Path) -> None:
    made = random_policy(seed, tmp_path)
    rows = answers_of(made.path, in_sqlite(made.rows), "sqlite")
    alike(run_of(seed), sqlaudit.gate(made.path, results=[kept(rows, tmp_path / "rows.json")]))


@pytest.mark.postgres
@pytest.mark.parametrize("seed", range(3) if fewer(8) == 8 else SEEDS[1:3])
def test_postgres_says_what_a_run_says(seed: int, postgres_admin_url: str, tmp_path: Path) -> None:
    made = random_policy(seed, tmp_path)
    with psycopg.connect(postgres_admin_url, autocommit=True) as connection:
        rows = answers_of(made.path, in_postgres(made.rows, connection), "postgres")
    alike(run_of(seed), sqlaudit.gate(made.path, results=[kept(rows, tmp_path / "rows.json")]))


VALUES = (None, "fold", "exact")
"""What a policy says of names of several spellings."""


def says_what_a_run_says(
    seed: int, values: str | None, folder: Path, execute: Callable[[Cells], Execute], dialect: str
) -> None:
    """Compare results of names of several spellings with a run in which no one mistakes a name."""
    made = random_policy(seed, folder, values)
    rows = answers_of(made.path, execute(made.rows), dialect)
    found = sqlaudit.gate(made.path, results=[kept(rows, folder / "rows.json")])
    alike(sqlaudit.gate(made.plain), found, unclear(made.rows, dialect, values))


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("seed", range(fewer(12)))
def test_names_of_several_spellings_in_sqlite(seed: int, values: str | None, tmp_path: Path) -> None:
    says_what_a_run_says(seed, values, tmp_path, in_sqlite, "sqlite")


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("seed", range(fewer(12)))
def test_names_of_several_spellings_in_duckdb(seed: int, values: str | None, tmp_path: Path) -> None:
    says_what_a_run_says(seed, values, tmp_path, lambda _: in_duckdb_file(tmp_path / "odd.duckdb"), "duckdb")


@pytest.mark.postgres
@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("seed", range(fewer(12)))
def test_names_of_several_spellings_in_postgres(
    seed: int, values: str | None, postgres_admin_url: str, tmp_path: Path
) -> None:
    with psycopg.connect(postgres_admin_url, autocommit=True) as connection:
        says_what_a_run_says(seed, values, tmp_path, lambda rows: in_postgres(rows, connection), "postgres")


def test_the_matrix_of_dialects_is_made_from_what_is_known_of_them() -> None:
    from docs.make_dialects import PAGE, page

    assert PAGE.read_text(encoding="utf-8") == page()


def test_a_dialect_is_executed_or_says_what_is_assumed() -> None:
    assert {name for name, one in DIALECTS.items() if one.executed} == {
        "clickhouse",  # tests/warehouses
        "duckdb",
        "mysql",  # tests/warehouses, by MariaDB
        "postgres",
        "spark",
        "sqlite",
    }
    assert all(one.executed or one.assumed for one in DIALECTS.values())
    assert "tests/warehouses" in (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
