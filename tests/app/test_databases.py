"""A table of a database: the window begins at the columns, and its project names the connection without a password."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
import yaml

from sqlaudit.app.project import ColumnRole, read_project
from sqlaudit.gates.result import Connection, Place
from tests.app.conftest import CSV, at_the_window
from tests.app.test_screens import text_of
from tests.cli.runner import run
from tests.postgres_load import Loader
from tests.postgres_server import PASSWORD

KNOWN, HIDDEN, NAMES = ColumnRole.KNOWN.value, ColumnRole.SECRET.value, ColumnRole.IDENTIFIER.value
ROLES = {"id": NAMES, "age": KNOWN, "zip": KNOWN, "job": KNOWN, "income": HIDDEN}


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_from_a_table_to_a_policy(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    columns, *rows = (line.split(",") for line in CSV.splitlines())
    if engine == "duckdb":
        (tmp_path / "people.csv").write_text(CSV, encoding="utf-8")
        with duckdb.connect(str(tmp_path / "clinic.duckdb")) as database:
            database.execute("CREATE TABLE people AS SELECT * FROM read_csv(?)", [str(tmp_path / "people.csv")])
        kind, value, table = "duckdb", "../clinic.duckdb", "people"
    else:
        load: Loader = request.getfixturevalue("load")
        table = load("window_people", rows, columns)
        monkeypatch.setenv("CLINIC_URL", request.getfixturevalue("postgres_url"))
        kind, value = "env", "CLINIC_URL"
    connection = Connection("main", kind, value, Place("--db"), folder)
    with at_the_window(folder, monkeypatch, connection, table) as person:
        person.enter()
        assert person.client.get("/", follow_redirects=False).headers["location"] == "/columns"
        page = text_of(person.decide(**ROLES))
        assert "Not safe: 120 rows are in groups below 5" in page
        assert "Smallest group 4 rows" in page
        person.post("/requirement", {"size": "3"}, "/verdict")
        page = person.post("/save", {"path": "sqlaudit.yml"}, "/verdict")
        assert "Written: sqlaudit.yml." in page
        assert "120 rows, 5 columns" in text_of(person.get("/open"))
        person.client.post("/again", data={"page": "/verdict"}, headers={"origin": person.origin})
        assert "Smallest group 4 rows" in text_of(person.get("/verdict"))
        everything = "".join(map(person.get, ("/open", "/columns", "/verdict")))
        assert PASSWORD not in everything
        project = person.window.history.project
    text = (folder / "sqlaudit.yml").read_text(encoding="utf-8")
    assert PASSWORD not in text
    assert yaml.safe_load(text)["connections"] == {"main": {kind: value}}
    again, reopened = read_project(folder / "sqlaudit.yml")
    assert reopened is not None
    assert (reopened.kind, reopened.value) == (kind, value)
    assert replace(again, connection=None) == replace(project, connection=None)
    monkeypatch.chdir(folder)
    with at_the_window(
        folder, monkeypatch, Connection("other", "duckdb", "none.duckdb", Place("--db"), folder)
    ) as person:
        person.enter()
        person.post("/file", {"path": "sqlaudit.yml"})
        assert "Smallest group 4 rows" in text_of(person.get("/verdict"))
        (folder / "other.csv").write_text(CSV, encoding="utf-8")
        person.post("/file", {"path": "other.csv"})
        person.post("/undo", {}, "/open")
        assert "Smallest group 4 rows" in text_of(person.get("/verdict"))
    tested = run("test", "--format", "json")
    assert tested.code == 1  # it has the column that names people, and would not be published
    assert '"requirement": "k=3"' in tested.out


def test_a_database_that_is_not_there_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = Connection("main", "url", "postgresql://127.0.0.1:1/none", Place("--db"), tmp_path)
    with at_the_window(tmp_path, monkeypatch, connection, "people") as person:
        page = person.enter().get("/columns")
        assert "Try again" in page
        assert "Role of" not in page
        person.client.post("/again", data={"page": "/columns"}, headers={"origin": person.origin})
        assert "Try again" in person.get("/columns")
