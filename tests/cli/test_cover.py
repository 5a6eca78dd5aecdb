"""Whose report it is, and the command that a page repeats."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click

from sqlaudit.cli import cli
from sqlaudit.cli.exits import ARGUMENTS
from sqlaudit.cli.output import command_line
from tests.cli.runner import patients, run

COVER = ("--title", "Yearly check", "--owner", "Jo Doe", "--sign-off", "DPO", "--sign-off", "Head of data")


def _repeated(name: str, *arguments: str) -> str:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    context = click.Context(command, info_name=name)
    context.meta[ARGUMENTS] = arguments
    return command_line(context)


def _plain(page: Path) -> str:
    """A page without the marks of where lines of commands may end."""
    return re.sub("</?span>|<wbr>", "", page.read_text("utf-8"))


def test_a_page_says_how_to_ask_again_and_who_signs(tmp_path: Path) -> None:
    asked = ["audit", patients(tmp_path), "--qi", "age,sex", "--where", "disease <> 'ulcer'", "--require=k=3", *COVER]
    page, stored = tmp_path / "page.html", tmp_path / "stored.json"
    assert run(*asked, "-o", page).code == 1
    text = _plain(page)
    assert f"sqlaudit audit {asked[1]} --qi age,sex --where … --require k=3</pre>" in text
    assert "ulcer" not in text.partition("The SQL that ran</h2>")[0]
    assert [text.count(f"<td>{who}</td>") for who in ("DPO", "Head of data")] == [1, 1]
    assert "<title>Yearly check: FAIL" in text
    assert run(*asked, "-o", stored).code == 1
    assert json.loads(stored.read_text("utf-8"))["report"]["about"]["owner"] == "Jo Doe"
    assert run("report", stored, "--owner", "Somebody else", "--purpose", "research").code == 0
    again = _plain(tmp_path / "stored.html")
    assert "<dt>Owner</dt>\n<dd>Somebody else</dd>" in again.replace("</dt><dd>", "</dt>\n<dd>")
    assert "Yearly check" in again
    assert "--where … --require k=3</pre>" in again
    sums = [one.split("checksum ")[1][:16] for one in (text, again) if "checksum " in one]
    assert len(sums) == 2
    assert sums[0] == sums[1]


def test_a_repeated_command_has_no_value_that_may_be_secret() -> None:
    database = "postgresql://u:secret@h/d"
    given = [database, "-q", f"--db={database}", "--query", "SELECT 'Anna'", "--qi", "a b", "-o", "x.html"]
    said = _repeated("audit", *given, "--title=Anna")
    assert said == "sqlaudit audit … -q --db … --query … --qi 'a b'"


def test_an_option_that_stands_alone_takes_no_word_of_the_next() -> None:
    given = ["t", "--witness", "--format", "html", "--witness", "3", "--witness"]
    assert _repeated("disclosure", *given) == "sqlaudit disclosure t --witness --witness 3 --witness"


def test_a_repeated_command_has_the_options_that_say_how_a_table_is_read() -> None:
    given = ["t.xlsx", "--sheet", "Daten 2024", "--skip=2", "--no-header", "--null-values", "-99", "--threads", "2"]
    said = "sqlaudit audit t.xlsx --sheet 'Daten 2024' --skip 2 --no-header --null-values -99 --threads 2"
    assert _repeated("audit", *given, "--failing-classes-to", "f.csv", "-opage.html") == (
        said + " --failing-classes-to …"
    )


def test_a_repeated_command_shows_a_database_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "c.duckdb").touch()
    assert _repeated("audit", "--db", str(tmp_path / "c.duckdb"), "t") == f"sqlaudit audit --db {tmp_path}/c.duckdb t"
    assert _repeated("audit", "--db", "service=clinic", "t") == "sqlaudit audit --db … t"
