"""What the tab key offers, asked without a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from sqlaudit.cli.console.completion import ConsoleCompleter
from sqlaudit.cli.console.workspace import Workspace
from tests.cli.console.helpers import Console, console


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Console]:
    """A console at the table people, beside others that are called as aliases and functions often are."""
    with duckdb.connect(str(tmp_path / "a.duckdb")) as made:
        made.execute("CREATE TABLE people (age INTEGER, disease TEXT)")
        made.execute("CREATE TABLE n (number INTEGER)")
        made.execute('CREATE TABLE "min" (least INTEGER)')
    with Workspace(str(tmp_path / "a.duckdb")) as workspace:
        session = console(workspace)
        session.run("\\use people")
        yield session


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("SELECT count(*) AS n, min(dis", {"disease", "distinct"}),
        ("SELECT x.numb", set()),
        ("SELECT 1 FROM n WHERE numb", {"number"}),
        ("SELECT 1 FROM people WHERE n = 1 AND numb", set()),
        ("SELECT 1 FROM people p, main.n WHERE numb", {"number"}),
        ("SELECT 1 FROM people p JOIN n ON dis", {"disease", "distinct"}),
        ('SELECT lea FROM "min" WHERE lea', {"least"}),
        ("AUDIT n BY (numb", {"number"}),
        ("SELECT ag", {"age"}),
    ],
)
def test_columns_of_the_tables_that_a_statement_reads(opened: Console, typed: str, offered: set[str]) -> None:
    completer = ConsoleCompleter(opened.session)
    found = completer.get_completions(Document(typed), CompleteEvent())
    assert {completion.text for completion in found} == offered
