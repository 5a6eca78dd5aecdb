"""Whose report it is, and the command that a page repeats."""

from __future__ import annotations

import json
import re
from pathlib import Path

from sqlaudit.cli.output import command_line
from tests.cli.runner import patients, run

COVER = ("--title", "Yearly check", "--owner", "Jo Doe", "--sign-off", "DPO", "--sign-off", "Head of data")


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
    said = command_line("sqlaudit audit", [*given, "--title=Anna"], ["-q", "--quiet"])
    assert said == "sqlaudit audit … -q --db … --query … --qi 'a b'"


def test_an_option_that_stands_alone_takes_no_word_of_the_next() -> None:
    given = ["t", "--witness", "--format", "html", "--witness", "3", "--witness"]
    assert command_line("sqlaudit disclosure", given, [], ["--witness"]) == (
        "sqlaudit disclosure t --witness --witness 3 --witness"
    )
