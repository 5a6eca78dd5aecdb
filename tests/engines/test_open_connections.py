"""`db=` as people in Python have it open already: what is read, and that nothing changes behind it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pandas as pd
import psycopg
import pytest

import sqlaudit
from sqlaudit.base.errors import EngineError, UsageError
from sqlaudit.engines import place_of

ROWS = "SELECT range % 3 AS age, 'z' || range % 2 AS zip, range::HUGEINT * 10::HUGEINT ** 30 AS big FROM range(12)"


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(":memory:") as opened:
        opened.execute("CREATE TABLE people AS " + ROWS)
        yield opened


def state(connection: duckdb.DuckDBPyConnection) -> list[Any]:
    asked = ("duckdb_tables()", "duckdb_views()", "duckdb_settings()", "duckdb_databases()", "duckdb_schemas()")
    return [
        connection.execute(
            "SELECT * EXCLUDE (estimated_size) FROM " + one if "tables" in one else "FROM " + one
        ).fetchall()
        for one in asked
    ]


def test_tables_of_an_open_connection_are_read_and_nothing_changes(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("SET default_null_order = 'nulls_first'")
    before = state(connection)
    result = sqlaudit.audit("people", qi="age,zip", require={"k": 2}, db=connection)
    assert (result.rows, result.classes.count, result.classes.min_size) == (12, 6, 2)
    assert result.target == "people"
    assert result.access == "read only, beside an open connection of the caller"
    assert sqlaudit.audit(query="SELECT age FROM people WHERE age > 0", qi="age", db=connection).rows == 8
    assert sqlaudit.audit('main."people"', qi="age", where="zip = 'z0'", db=connection).rows == 6
    assert state(connection) == before


def test_what_only_the_connection_sees_is_read_too(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("CREATE TEMP TABLE mine AS " + ROWS)
    connection.register("frame", pd.DataFrame({"age": [1, 1, 2]}))
    assert sqlaudit.audit("mine", qi="age", db=connection).classes.min_size == 4
    assert sqlaudit.audit("frame", qi="age", db=connection).classes.min_size == 1
    with pytest.raises(
        UsageError, match=r"There is no table or view 'peple' in 'the database of an open connection'. Did"
    ):
        sqlaudit.audit("peple", qi="age", db=connection)


def test_an_unfinished_result_of_the_caller_stays_as_it_was(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("SELECT age FROM people ORDER BY ALL")
    assert connection.fetchone() == (0,)
    assert sqlaudit.profile("people", db=connection).rows == 12
    assert len(connection.fetchall()) == 11


def test_a_relation_is_a_table(connection: duckdb.DuckDBPyConnection) -> None:
    result = sqlaudit.audit(connection.table("people"), qi=["age"], require={"k": 4})
    assert result.passed
    assert sqlaudit.profile(connection.table("people")).column("big").facts.distinct == 12
    with pytest.raises(UsageError, match=r"db= takes a database, not a relation"):
        sqlaudit.audit("people", qi=["age"], db=connection.table("people"))


def test_queries_over_a_connection_only_read(connection: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(UsageError):
        sqlaudit.audit(query="DELETE FROM people", qi="age", db=connection)
    with pytest.raises(UsageError):
        sqlaudit.audit(query="SELECT 1 AS age; DROP TABLE people", qi="age", db=connection)
    assert connection.execute("SELECT count(*) FROM people").fetchone() == (12,)
    connection.close()
    with pytest.raises(EngineError, match="The connection of db= is closed"):
        sqlaudit.audit("people", qi="age", db=connection)


class Url:
    """What an URL of SQLAlchemy has."""

    __module__ = "sqlalchemy.engine.url"

    def __init__(self, kind: str, driver: str = "", text: str = "", database: str | None = None) -> None:
        self.kind, self.driver, self.text, self.database = kind, driver, text, database

    def get_backend_name(self) -> str:
        return self.kind

    def set(self, drivername: str) -> Url:
        return Url(drivername, "", self.text, self.database)

    def render_as_string(self, hide_password: bool) -> str:
        return self.kind + "://" + ("u:***@h/d" if hide_password else self.text)


def test_sqlalchemy_says_where_a_database_is(tmp_path: Any) -> None:
    engine = type(
        "Engine", (), {"__module__": "sqlalchemy.engine.base", "url": Url("postgresql", "psycopg", "u:p@h/d")}
    )()
    found = place_of(engine)
    assert (found.text, found.secret) == ("postgresql://u:p@h/d", True)
    assert "p@h" not in f"{found!r} {found.label}"
    file = str(tmp_path / "a.duckdb")
    with duckdb.connect(file) as made:
        made.execute("CREATE TABLE people AS " + ROWS)
    assert sqlaudit.audit("people", qi="age", db=Url("duckdb", database=file)).rows == 12
    with pytest.raises(UsageError, match="a database in memory, which only its own connection can read"):
        place_of(Url("duckdb", database=":memory:"))
    with pytest.raises(UsageError, match=r"db= is a SQLAlchemy engine of mysql. sqlaudit reads DuckDB, SQLite files, "):
        place_of(Url("mysql"))


@pytest.mark.parametrize("given", [3, ["a.duckdb"], object()])
def test_what_is_no_database_is_told_by_its_type(given: object) -> None:
    with pytest.raises(UsageError, match=rf"db= takes a path or URL, .*, not a value of type {type(given).__name__}\."):
        sqlaudit.audit("people", qi="age", db=given)


def test_a_connection_of_psycopg_says_where_the_server_is(postgres_url: str) -> None:
    """Ours is another one: theirs keeps its transaction, and what it has not committed is not seen."""
    with psycopg.connect(postgres_url) as theirs:
        begun = theirs.execute("SELECT pg_backend_pid()").fetchone()
        result = sqlaudit.audit(query="SELECT 1 AS age, pg_backend_pid() AS pid", qi="age", db=theirs)
        assert (result.rows, result.engine.split()[0]) == (1, "PostgreSQL")
        assert theirs.execute("SELECT pg_backend_pid()").fetchone() == begun
        assert theirs.info.transaction_status.name == "INTRANS"
    with pytest.raises(EngineError, match="The connection of db= is closed"):
        sqlaudit.audit("people", qi="age", db=theirs)


def test_a_url_with_the_name_of_a_driver_is_one_of_postgresql(postgres_url: str) -> None:
    url = postgres_url.replace("postgresql://", "postgresql+psycopg://")
    assert url != postgres_url
    assert sqlaudit.audit(query="SELECT 1 AS age", qi="age", db=url).rows == 1


@pytest.mark.parametrize("temporary", ["", "TEMP"])
def test_several_tables_of_an_open_connection_are_compared(
    connection: duckdb.DuckDBPyConnection, temporary: str
) -> None:
    """DuckDB 2.0 gives two streams of one connection to no statement."""
    people = "SELECT n AS id, n % 30 AS age, 'f' AS sex, 'ill ' || n % 3 AS ill FROM range(20000) AS t(n)"
    for name in ("inside", "made", "outside"):
        connection.execute(f"CREATE {temporary} TABLE {name} AS {people}")
    asked: dict[str, Any] = {"qi": "age,sex", "sensitive": "ill", "db": connection}
    found = sqlaudit.compare("inside", "made", holdout="outside", synthetic=True, known=1, **asked)
    assert (found.synthetic.copies.rows, found.synthetic.rows.holdout) == (20_000, 20_000)
    assert sqlaudit.compare("inside", "made", key="id", **asked).generalization.answer.value == "yes"
    assert sqlaudit.releases(["inside", "made"], entity="id", **asked).persons == 20_000
    attacked = sqlaudit.attack("inside", identified="made", other_release="outside", **asked)
    assert attacked.rows == 20_000
