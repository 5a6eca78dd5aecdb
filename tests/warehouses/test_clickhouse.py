"""The same policy by a run on DuckDB, and compiled for ClickHouse and judged from its rows: the same of every test.

chdb is not among what the tests need: pip install -r tests/warehouses/requirements.txt, as .ci/run does.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sqlaudit
from tests.gates.standalone.answering import alike, answers_of, kept
from tests.gates.standalone.random_policies import in_clickhouse, random_policy


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    """ClickHouse in this process."""
    from chdb.session import Session

    with Session() as opened:
        yield opened


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(6))
def test_clickhouse_says_what_a_run_says(seed: int, session: Any, tmp_path: Path) -> None:
    made = random_policy(seed, tmp_path)
    rows = answers_of(made.path, in_clickhouse(made.rows, session), "clickhouse")
    alike(sqlaudit.gate(made.path), sqlaudit.gate(made.path, results=[kept(rows, tmp_path / "rows.json")]))
