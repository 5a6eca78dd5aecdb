"""Every command on PostgreSQL; the table of commands and engines in docs/engines.md."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.engines import matrix
from tests.postgres_load import Loader
from tests.recording import POSTGRES, columns_of


@pytest.mark.postgres
def test_every_command_on_postgresql_gives_the_figures_of_duckdb(
    load: Loader, postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with duckdb.connect() as connection:
        for name, query in matrix.tables().items():
            connection.execute(f"CREATE TABLE {name} AS {query}")
            relation = connection.sql(f"FROM {name}")
            types = {column: POSTGRES[str(kind)] for column, kind in columns_of(relation)}
            load(name, relation.fetchall(), relation.columns, types)
    assert matrix.found_at("postgres", postgres_url) == matrix.recorded()["postgres"]


def test_the_table_of_commands_and_engines_is_what_the_tests_found() -> None:
    assert matrix.PAGE.read_text(encoding="utf-8") == matrix.page()
