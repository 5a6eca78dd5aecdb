"""SQL that gives different rows each time is refused: an audit reads its rows several times."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

import sqlaudit
from sqlaudit.base.guard import RandomRowsError
from sqlaudit.base.relation import Kind
from sqlaudit.base.spec import Target
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.postgres.engine import PostgresEngine
from tests.audit_values import values_query

ROWS = [{"a": number % 2, "b": "xy"[number % 2]} for number in range(8)]
QUERY = values_query(ROWS, {"a": "int", "b": "text"})


def test_queries_conditions_and_expressions(engine: Engine) -> None:
    function = "rand" if engine.dialect == "spark" else "random"
    asked: dict[str, Any] = {"db": engine, "require": {"k": 2}}
    for given in (
        {"query": f"SELECT a, {function}() AS r FROM ({QUERY}) AS t", "qi": ["a", "r"]},
        {"query": QUERY, "where": f"{function}() < 0.5", "qi": ["a"]},
        {"query": QUERY, "qi": [f"a + {function.upper()}()"]},
    ):
        with pytest.raises(
            RandomRowsError, match=rf"returns different rows each time it is read, because of {function}\(\)"
        ):
            sqlaudit.audit(**asked, **given)
    named = f"SELECT a AS {function}, '{function}()' AS b FROM ({QUERY}) AS t"
    assert sqlaudit.audit(query=named, qi=[function, "b"], **asked).passed


def test_views_and_macros_of_duckdb(tmp_path: Path) -> None:
    file = tmp_path / "d.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE t AS SELECT i % 2 AS a FROM range(8) r(i)")
        connection.execute("CREATE VIEW drawn AS SELECT a, random() AS r FROM t")
        connection.execute("CREATE VIEW above AS SELECT a FROM drawn")
        connection.execute("CREATE VIEW part AS SELECT a FROM t TABLESAMPLE 50%")
        connection.execute("CREATE VIEW part2 AS SELECT a FROM t USING SAMPLE 4 ROWS")
        connection.execute("CREATE MACRO coin() AS random() < 0.5")
        connection.execute("CREATE VIEW flipped AS SELECT a, coin() AS r FROM t")
        connection.execute("CREATE VIEW steady AS SELECT a, 'random()' AS r FROM t")
    for name, said in {
        "drawn": "'drawn' .* random",
        "above": "'drawn' .* random",
        "part": "'part' .* TABLESAMPLE",
        "part2": "'part2' .* TABLESAMPLE",
        "flipped": "'coin' .* random",
    }.items():
        for target in ({"target": name}, {"query": f"SELECT a FROM {name}"}):
            with pytest.raises(RandomRowsError, match=said):
                sqlaudit.audit(**target, db=str(file), qi=["a"], require={"k": 2})
    with pytest.raises(RandomRowsError, match="'coin' "):
        sqlaudit.audit(query="SELECT a, coin() AS r FROM t", db=str(file), qi=["a"])
    assert sqlaudit.audit("steady", db=str(file), qi=["a", "r"], require={"k": 4}).passed


@pytest.fixture
def views(postgres_admin_url: str) -> Iterator[None]:
    """Views of PostgreSQL, and a table with numbers of objects."""
    made = """
        CREATE SCHEMA rr; CREATE TABLE rr.t AS SELECT i % 2 AS a, (i % 2 + 5)::oid AS o FROM generate_series(1, 8) AS i;
        CREATE VIEW rr.drawn AS SELECT a, random() AS r FROM rr.t; CREATE VIEW rr.above AS SELECT a FROM rr.drawn;
        CREATE VIEW rr.part AS SELECT a FROM rr.t TABLESAMPLE SYSTEM (50); CREATE VIEW rr.steady AS SELECT a FROM rr.t;
        GRANT USAGE ON SCHEMA rr TO PUBLIC; GRANT SELECT ON ALL TABLES IN SCHEMA rr TO PUBLIC
    """
    with psycopg.connect(postgres_admin_url, autocommit=True) as connection:
        connection.execute(made)
        yield
        connection.execute("DROP SCHEMA rr CASCADE")


@pytest.mark.postgres
@pytest.mark.usefixtures("views")
def test_views_and_numbers_of_objects_on_postgres(postgres_url: str) -> None:
    asked: dict[str, Any] = {"db": postgres_url, "qi": ["a"], "require": {"k": 2}}
    for name, said in {"drawn": "'drawn' .* random", "above": "'drawn'", "part": "TABLESAMPLE"}.items():
        for target in ({"target": f"rr.{name}"}, {"query": f"SELECT a FROM rr.{name}"}):
            with pytest.raises(RandomRowsError, match=said):
                sqlaudit.audit(**target, **asked)
    assert sqlaudit.audit("rr.steady", **asked).passed
    with PostgresEngine(postgres_url) as engine:
        assert [one.kind for one in engine.open(Target("rr.t")).columns] == [Kind.INTEGER, Kind.OTHER]
    for roles in ({"qi": ["o"]}, {"qi": ["a"], "sensitive": "o"}, {"qi": ["a"], "entity": "o"}):
        assert sqlaudit.audit("rr.t", db=postgres_url, require={"k": 1}, **roles).passed
