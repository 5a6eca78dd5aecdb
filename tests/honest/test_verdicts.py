"""Honest tables get the verdict that can be defended: a check that cries wolf is switched off."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.honest.honest_table import HonestTable
from tests.honest.tables import honest_tables

TABLES = honest_tables()


@pytest.mark.parametrize("table", TABLES, ids=[table.name for table in TABLES])
def test_an_honest_table_gets_its_verdict(table: HonestTable, tmp_path: Path) -> None:
    answer = table.answer(tmp_path)
    assert table.is_refused(answer) == bool(table.refused_because), answer.out + answer.err
    if table.settled_by:
        assert table.settled_by.split()[0] in answer.out + answer.err
        settled = table.answer(tmp_path, table.settled_by)
        assert not table.is_refused(settled), settled.out + settled.err


def test_names_are_unique_and_at_most_two_percent_are_refused() -> None:
    assert len({table.name for table in TABLES}) == len(TABLES)
    assert sum(bool(table.refused_because) for table in TABLES) <= 0.02 * len(TABLES)
