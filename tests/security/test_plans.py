"""Plans hold no value of the table unless values are shown: engines write constants there that no one typed."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from sqlaudit.base.relation import Statement
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from tests.cli.runner import run

LOWEST = 23171
SECRET = "s3-myasthenia"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Return a database with incomes from the lowest one on, and a view whose condition names a value."""
    file = tmp_path / "ex.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(
            f"CREATE TABLE t AS SELECT ({LOWEST} + i % 97)::INTEGER AS income, 1 AS const, 's' || (i % 7) AS s, "
            "CASE i % 2 WHEN 0 THEN 'f' ELSE 'm' END AS sex FROM range(5000) AS r(i)"
        )
        connection.execute(f"CREATE VIEW healthy AS SELECT * FROM t WHERE s <> '{SECRET}'")
    return file


@pytest.mark.parametrize("layout", ["text", "json", "markdown"])
@pytest.mark.parametrize("table", ["t", "healthy"])
def test_explain_prints_no_value(database: Path, table: str, layout: str) -> None:
    asked = ("audit", "--db", database, table, "--qi", "income,sex,const", "--sensitive", "s", "--require", "k=2")
    answer = run(*asked, "--explain", "--format", layout)
    assert answer.code == 0
    assert "income" in answer.out
    assert str(LOWEST) not in answer.out
    assert SECRET not in answer.out
    shown = run(*asked, "--explain", "--format", layout, "--show-values")
    assert (SECRET if table == "healthy" else str(LOWEST)) in shown.out


def test_other_commands_and_the_console_print_no_value_either(database: Path) -> None:
    for asked in (("profile",), ("columns",), ("lattice", "--qi", "income", "--require", "k=2")):
        answer = run(asked[0], "--db", database, "healthy", *asked[1:], "--explain", "--format", "json")
        assert (answer.code, str(LOWEST) in answer.out, SECRET in answer.out) == (0, False, False)
        assert all(entry["plan"] for entry in json.loads(answer.out)["statements"])
    for values, there in (("off", False), ("on", True)):
        answer = run("console", "--db", database, "-c", f"\\values {values}", "-c", "EXPLAIN SELECT * FROM healthy")
        assert ("SEQ_SCAN" in answer.out, SECRET in answer.out) == (True, there)


def test_a_plan_of_postgres_has_no_constant(postgres_url: str) -> None:
    query = f"SELECT relname, oid FROM pg_class WHERE relname <> '{SECRET}' AND oid > {LOWEST} ORDER BY relname"
    with connect(postgres_url) as engine:
        _check_plan(engine, query, "Index Scan using pg_class")


@pytest.mark.spark
def test_a_plan_of_spark_has_no_constant(engine: Engine) -> None:
    query = f"SELECT id % 7 AS a, COUNT(*) AS n FROM (SELECT id, CONCAT('{SECRET[:8]}', id) AS s FROM range(90000))"
    _check_plan(engine, f"{query} WHERE s <> '{SECRET}' AND id <> {LOWEST} GROUP BY 1", "HashAggregate")


def _check_plan(engine: Engine, query: str, operator: str) -> None:
    plan, shown = (engine.explain(Statement("plan", query), show_values) for show_values in (False, True))
    assert operator in plan
    assert operator in shown
    for value in (str(LOWEST), SECRET, SECRET[:8]):
        assert (value in shown, value in plan) == (True, False)
