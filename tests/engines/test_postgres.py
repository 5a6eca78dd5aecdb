"""The PostgreSQL engine on a real server."""

from __future__ import annotations

import pytest

from sqlaudit.engines.base import Kind, Statement
from sqlaudit.engines.postgres import PostgresEngine
from sqlaudit.spec import Target
from tests.postgres_load import Loader

pytestmark = pytest.mark.postgres


def test_opens_a_table_and_counts_its_classes(load: Loader, postgres_url: str) -> None:
    load("patients", [(30, "f", "flu"), (30, "f", "cold"), (41, "m", None)], ["age", "sex", "disease"])
    with PostgresEngine(postgres_url) as engine:
        relation = engine.open(Target("patients"))
        assert [(c.name, c.kind) for c in relation.columns] == [
            ("age", Kind.INTEGER),
            ("sex", Kind.TEXT),
            ("disease", Kind.TEXT),
        ]
        counted = Statement("classes", "SELECT age, COUNT(*) AS n FROM " + relation.sql + " GROUP BY age ORDER BY age")
        assert engine.run(counted) == [(30, 2), (41, 1)]
        assert list(engine.stream(counted, 1)) == [[(30, 2)], [(41, 1)]]
        assert engine.result_names(counted) == ["age", "n"]
