"""Releases of tables that Spark reads: files, views as Spark writes them, and where a view would not last."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import duckdb
import pytest

from sqlaudit.base.relation import Statement
from sqlaudit.engines import connect
from tests.cli.runner import run, write_csv
from tests.cli.test_lattice import COMMON, HIERARCHIES, ODD, ROWS

pytestmark = pytest.mark.spark


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "p.csv", 'age,"se""x 😀",zip,dx', *ROWS)
    (tmp_path / "h.yml").write_text(HIERARCHIES, encoding="utf-8")
    duckdb.execute("COPY (FROM read_csv('p.csv', types = {'zip': 'VARCHAR'})) TO 'p.parquet'")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_a_release_goes_to_files_and_views_as_on_duckdb(spark_url: str) -> None:
    asked = (*COMMON, "--require", "l=2", "--suppress", "15%")
    here = run("lattice", "p.parquet", *asked, "--to", "here.parquet")
    there = run("lattice", "p.parquet", *asked, "--db", spark_url, "--to", "there.parquet")
    assert (here.code, there.code) == (0, 0), there.err
    rows = duckdb.execute("FROM 'here.parquet'").fetchall()
    assert rows[0] == ("[30, 40)", "f", "1305*", "cold")
    assert duckdb.execute("FROM 'there.parquet'").fetchall() == rows  # in the order of what is published

    printed = run("lattice", "p.parquet", *asked, "--db", spark_url, "--publish-view", "release")
    assert (printed.code, "The view release was not created" in printed.said) == (0, True), printed.err
    view = printed.out[printed.out.index("CREATE VIEW") :]
    assert "p.parquet`" in view
    assert "sqlaudit_" not in re.sub("sqlaudit_(class|short)[_0-9]*", "", view)  # no view of a session that is over
    with connect(spark_url) as engine:
        found = engine.run(Statement("release", view.partition(" AS\n")[2]))
    assert Counter(found) == Counter(rows)
    assert ODD in printed.said


@pytest.mark.usefixtures("folder")
def test_a_view_that_would_not_last_is_not_made(spark_url: str) -> None:
    asked = ("lattice", *COMMON, "--db", spark_url, "--publish-view", "release")
    with patch("sqlaudit.lattices.run.find_nodes", side_effect=AssertionError("the search began")):
        made = run(*asked, "p.parquet", "--execute")
        table = run("lattice", *COMMON, "--db", spark_url, "p.parquet", "--to", "table:default.release", "--execute")
    assert (made.code, "so it cannot keep a view" in made.err) == (2, True), made.err
    assert (table.code, "so it cannot keep a table" in table.err) == (2, True), table.err
    texts = run(*asked, "p.csv")
    assert (texts.code, "only Parquet files can be audited" in texts.err) == (2, True), texts.err
