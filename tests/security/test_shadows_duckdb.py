"""Macros of the audited DuckDB file that bear the names of built-in functions: no command may call one.

The names are all that DuckDB has built in, so a new template is covered; the functions of the statements that really
ran are read off them, and have to be among those names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
from click.testing import CliRunner
from sqlglot import exp

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.cli import cli
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Executed

_TABLES = """
CREATE TABLE people AS
SELECT 20 + i % 7 AS age, '130' || (i % 5) AS zip, CASE i % 3 WHEN 0 THEN 'f' ELSE 'm' END AS sex,
    ['flu', 'cold', 'HIV', 'none'][1 + i % 4] AS disease, i / 8.0 AS weight, i AS person,
    DATE '2020-01-01' + (i % 9)::INTEGER AS seen
FROM range(60) r(i);
CREATE TABLE released AS
SELECT CASE WHEN age < 24 THEN '20-23' ELSE '24-27' END AS age, '130*' AS zip, sex, disease, weight, person, seen
FROM people;
"""
_ARGUMENTS = ["()", *("(" + ", ".join("abcdef"[:count]) + ")" for count in range(1, 5))]
_COMMANDS: list[tuple[str, dict[str, Any]]] = [
    ("audit", {"qi": ["age", "sex"], "sensitive": "disease", "require": ["k=3", "l=2", "t=0.6"]}),
    ("audit", {"qi": ["floor(age / 10)"], "sensitive": "weight", "where": "abs(person) < 50", "nulls": "wildcard"}),
    ("audit", {"qi": ["age", "zip"], "entity": "person", "require": ["k=2"], "failing_classes": 5}),
    ("profile", {}),
    ("columns", {}),
    ("records", {"qi": ["age", "sex", "zip"]}),
    ("persons", {"entity": "person", "qi": ["sex", "zip"], "known": 3, "k": 6, "random": 4, "effects": True}),
    ("aggregates", {"by": ["sex", "zip"], "count": "age", "require": ["threshold=40"], "show_values": True}),
    ("disclosure_curve", {"qi": ["age", "sex"], "sensitive": "disease"}),
    ("lattice", {"qi": ["age", "sex"], "require": ["k=9"], "hierarchies": {"age": {"widths": [2, 4]}}}),
    ("recode", {"qi": ["age", "sex"], "require": ["k=4"], "hierarchies": {"age": {"widths": [2, 4]}}}),
    ("suppress", {"qi": ["age", "sex"], "require": ["k=4"]}),
    (
        "compare",
        {"qi": ["age", "zip", "sex"], "sensitive": "disease", "key": "person", "workload": 3, "noise_queries": 3},
    ),
    ("attack", {"qi": ["age", "zip", "sex"], "sensitive": "disease"}),
    ("releases", {"entity": "person", "qi": ["age", "zip", "sex"], "sensitive": "disease"}),
]


def _built_in(connection: duckdb.DuckDBPyConnection) -> list[str]:
    return [
        str(name)
        for (name,) in connection.execute(
            "SELECT DISTINCT function_name FROM duckdb_functions() WHERE internal ORDER BY ALL"
        ).fetchall()
    ]


def _database(path: Path, shadowed: bool) -> str:
    with duckdb.connect(str(path)) as connection:
        connection.execute(_TABLES)
        for name in _built_in(connection) if shadowed else ():
            _shadow(connection, name)
    return str(path)


def _shadow(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """A macro that gives NULL whatever it is given; for names that no macro may have, a table macro."""
    quoted = '"' + name.replace('"', '""') + '"'
    kept = 0
    for body in (", ".join(f"{arguments} AS NULL" for arguments in _ARGUMENTS), "() AS TABLE SELECT 0 AS i"):
        try:
            connection.execute(f"CREATE MACRO main.{quoted} {body}")
            kept += 1
        except duckdb.Error:
            continue
    assert kept, name


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _database(tmp_path_factory.mktemp("honest") / "clinic.duckdb", False)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _database(tmp_path_factory.mktemp("hostile") / "clinic.duckdb", True)


@pytest.fixture(scope="module")
def shadowed(hostile: str) -> set[str]:
    """The names that the file has macros for."""
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{hostile}' AS clinic (READ_ONLY)")
        found = connection.execute(
            "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE database_name = 'clinic'"
        )
        return {str(name) for (name,) in found.fetchall()}


def _called(ran: Iterable[Executed]) -> set[str]:
    """The functions that statements call, as DuckDB calls them."""
    names: set[str] = set()
    for done in (done for done in ran if done.sql):
        for tree in sqlglot.parse(done.sql, dialect="duckdb"):
            assert tree is not None
            for call in tree.find_all(exp.Func):
                spelled = call.sql(dialect="duckdb")
                names.add(spelled.partition("(")[0].lower() if "(" in spelled else "")
    return {name for name in names if name.replace("_", "a").isalnum()}


def _result(command: str, db: str, **options: Any) -> tuple[dict[str, Any], Sequence[Executed]]:
    with connect(db) as engine:
        targets: tuple[Any, ...] = ("people", "released") if command == "compare" else ("people",)
        targets = (["people", "released"],) if command == "releases" else targets
        found = getattr(sqlaudit, command)(*targets, db=engine, **options)
        ran = tuple(engine.executed)
    return _without_times(json.loads(json.dumps(found.to_dict(), default=str))), ran


def _without_times(value: Any) -> Any:
    changing = {"seconds", "time", "started", "finished", "statements", "run", "created", "path", "at", "took"}
    if isinstance(value, dict):
        return {key: _without_times(item) for key, item in value.items() if key not in changing}
    if isinstance(value, float):
        return round(value, 12)  # DuckDB 1.5 adds logarithms in any order
    return [_without_times(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("command", "options"), _COMMANDS)
def test_no_macro_of_the_file_changes_a_result(
    honest: str, hostile: str, shadowed: set[str], command: str, options: dict[str, Any]
) -> None:
    expected, ran = _result(command, honest, **options)
    assert _result(command, hostile, **options)[0] == expected
    called = _called(ran)
    grammar = {
        "cast",
        "try_cast",
        "case",
        "coalesce",
        "and",
        "or",
        "exists",
        "array",
        "filter",
        "if",
        "interval",
        "grouping",
    }
    assert called - grammar <= shadowed
    assert len(called & shadowed) >= 3


def test_the_file_shadows_what_it_is_meant_to(hostile: str) -> None:
    """In the database itself, as `USE` would have it, the macros are called."""
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{hostile}' AS clinic (READ_ONLY)")
        connection.execute("USE clinic")
        found = connection.execute("SELECT abs(-1), min(age), count(age), floor(1.5), 1 + 1 FROM people LIMIT 1")
        assert found.fetchone() == (None, None, None, None, None)


def test_the_command_line_says_fail(hostile: str) -> None:
    line = ["audit", "people", "--db", hostile, "--qi", "age,zip,sex", "--require", "k=5"]
    assert CliRunner().invoke(cli, line).exit_code == 1


def test_no_view_is_made_where_it_would_call_macros(hostile: str) -> None:
    with pytest.raises(UsageError, match="has macros with the names of built-in functions"):
        sqlaudit.lattice(
            "people",
            db=hostile,
            qi=["age"],
            identifier=["person"],
            require=["k=9"],
            hierarchies={"age": {"widths": [2, 4]}},
            publish_view="safe",
            execute=True,
            keep_column=["weight"],
        )
