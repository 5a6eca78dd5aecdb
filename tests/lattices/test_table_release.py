"""Releases that become a table of the database: printed or made there, never over anything, and whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import pytest

import sqlaudit
from sqlaudit.audits import release
from sqlaudit.base.errors import UsageError
from sqlaudit.engines import writing
from tests.cli.runner import run
from tests.cli.test_lattice import COMMON, ODD, ROWS, folder
from tests.postgres_load import Loader

__all__ = ["folder"]
REMEDIES = {
    "lattice": (*COMMON, "--suppress", "15%"),
    "recode": COMMON,
    "suppress": ("--qi", "age,zip", "--sensitive", "dx", "--require", "k=2"),
}
NAME = "table_release"


@dataclass
class Place:
    """A database with the table `p`: its `--db`, and how it is asked."""

    db: str
    table: str
    ask: Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture(params=["duckdb", pytest.param("postgres", marks=pytest.mark.postgres)])
def place(request: pytest.FixtureRequest, folder: Path) -> Iterator[Place]:
    """A database that may be written to, without a release."""
    if request.param == "duckdb":

        def ask(text: str) -> list[tuple[Any, ...]]:
            with duckdb.connect(str(folder / "p.duckdb")) as connection:
                return connection.execute(text).fetchall()

        yield Place(str(folder / "p.duckdb"), "p", ask)
        return
    load: Loader = request.getfixturevalue("load")
    rows = [tuple(part or None for part in line.split(",")) for line in ROWS]
    load("table_p", [(int(age or 0), *rest) for age, *rest in rows], ["age", ODD, "zip", "dx"])
    url = request.getfixturevalue("postgres_admin_url")
    try:
        yield Place(url, "table_p", load.execute)
    finally:
        load.execute(f"DROP VIEW IF EXISTS {NAME}_view")
        load.execute(f"DROP TABLE IF EXISTS {NAME}")


@pytest.mark.parametrize("remedy", REMEDIES)
def test_a_release_becomes_the_table_that_a_file_has(remedy: str, place: Place) -> None:
    asked = (remedy, place.table, "--db", place.db, *REMEDIES[remedy])
    seed = ("--seed", "7") if remedy == "suppress" else ()
    to_file = run(*asked, *seed, "--to", "release.parquet")
    assert to_file.code == 0, to_file.err
    rows = duckdb.execute("FROM 'release.parquet'").fetchall()
    printed = run(*asked, *seed, "--to", f"table:{NAME}")
    assert printed.code == 0, printed.err
    assert f'CREATE TABLE "{NAME}" AS\n' in printed.out
    with pytest.raises(Exception, match=NAME):  # nothing was made
        place.ask(f"SELECT * FROM {NAME}")
    made = run(*asked, *seed, "--to", f"table:{NAME}", "--execute", "--format", "json")
    assert made.code == 0, made.err
    assert f'"table:{NAME}"' in made.out
    names = '"age", "zip"' if remedy == "suppress" else "age, zip"
    assert sorted(map(repr, place.ask(f"SELECT * FROM {NAME}"))) == sorted(map(repr, rows))
    assert len(place.ask(f"SELECT DISTINCT {names} FROM {NAME}")) == len({row[:1] + row[2:3] for row in rows})
    again = run(*asked, *seed, "--to", f"table:{NAME}", "--execute")
    assert (again.code, f"There is already a table '{NAME}', which is never replaced" in again.err) == (2, True)
    assert sorted(map(repr, place.ask(f"SELECT * FROM {NAME}"))) == sorted(map(repr, rows))


def test_the_order_of_a_table_is_that_of_its_published_values(place: Place) -> None:
    """Rows in the order of the source could be matched with another release, one by one."""
    asked = ("lattice", place.table, "--db", place.db, *REMEDIES["lattice"], "--to", f"table:{NAME}")
    text = run(*asked).out
    assert "ORDER BY" in text[text.rindex("FROM") :]


def test_views_tables_and_names_that_are_taken_or_wrong_are_refused(place: Place) -> None:
    asked = ("lattice", place.table, "--db", place.db, *REMEDIES["lattice"])
    place.ask(f"CREATE VIEW {NAME}_view AS SELECT 1 AS one")
    view = run(*asked, "--to", f"table:{NAME}_view", "--execute")
    assert (view.code, f"There is already a view '{NAME}_view', which is never replaced" in view.err) == (2, True)
    own = run(*asked, "--to", f"table:{place.table}", "--execute")
    assert (own.code, "which is never replaced" in own.err) == (2, True)
    replaced = run(*asked, "--to", f"table:{NAME}", "--execute", "--replace")
    assert (replaced.code, "--replace needs --execute and --publish-view" in replaced.err) == (2, True)
    deep = run(*asked, "--to", "table:a.b.c", "--execute")
    assert (deep.code, "'a.b.c' is not a table name. Write table or schema.table." in deep.err) == (2, True)
    without = run(*asked, "--to", "release.csv", "--execute")
    assert (without.code, "--to table:NAME" in without.err) == (2, True)
    place.ask(f"DROP VIEW {NAME}_view")


def test_nothing_is_left_of_a_table_that_is_stopped(place: Place) -> None:
    asked: dict[str, Any] = {"db": place.db, "qi": ["age"], "require": ["k=2"], "keep_column": [ODD, "zip"]}
    create = writing.create_view

    def stopped(db: Any, view: Any, *, replace: bool = False) -> None:
        select = f"SELECT * FROM ({view.select}) AS given CROSS JOIN (SELECT CAST('x' AS INTEGER) AS broken) AS broken"
        create(db, type(view)(view.name, select, view.kind), replace=replace)

    with patch("sqlaudit.audits.release.create_view", stopped), pytest.raises(sqlaudit.SqlauditError):
        sqlaudit.suppress(place.table, to=f"table:{NAME}", execute=True, **asked)
    with pytest.raises(Exception, match=NAME):
        place.ask(f"SELECT * FROM {NAME}")
    found = sqlaudit.suppress(place.table, to=f"table:{NAME}", execute=True, **asked)
    assert found.release is not None
    assert (found.release.file, found.release.select[:2]) == (f"table:{NAME}", "--")


@pytest.mark.parametrize("remedy", ["recode", "suppress"])
def test_a_table_that_its_source_made_unsafe_meanwhile_is_named(remedy: str, place: Place) -> None:
    """Rows and groups are as many as in the audit; only the sensitive values are others."""
    options = [*REMEDIES[remedy], "--require", "l=2"]
    options[options.index("--require") + 1] = "k=2"
    whole = release.create_view

    def later(db: Any, view: Any, **others: Any) -> None:
        place.ask(f"UPDATE {place.table} SET dx = 'flu'")
        whole(db, view, **others)

    with patch.object(release, "create_view", later):
        ran = run(remedy, place.table, "--db", place.db, *options, "--to", f"table:{NAME}", "--execute")
    assert ran.code == 3, ran.err
    assert f"The table '{NAME}' differs from the audit: its source has changed." in ran.err


def test_without_a_database_or_as_messages_there_is_no_table() -> None:
    rows = {"age": [1, 1], "zip": ["a", "b"]}
    import pandas as pd

    with pytest.raises(UsageError, match=r"creates a table in a database\. Name the database with db="):
        sqlaudit.lattice(pd.DataFrame(rows), qi=["age"], require=["k=2"], to="table:t", execute=True)
    ran = run(
        "cloak",
        "p.csv",
        "--user",
        "u",
        "--x",
        "x",
        "--y",
        "y",
        "--time",
        "t",
        "--k",
        "2",
        "--box",
        "1km",
        "--interval",
        "10min",
        "--to",
        "table:t",
    )
    assert (ran.code, "messages do not become a table" in ran.err) == (2, True), ran.err
