"""Whose report it is, and the command that a page repeats."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import duckdb
import pytest

from sqlaudit.cli import cli
from sqlaudit.cli.exits import ARGUMENTS
from sqlaudit.cli.output import _is_shown, command_line
from tests.cli.runner import patients, run
from tests.recording import COMMANDS, HIERARCHIES, TABLES, with_files
from tests.security.world import POLICY

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


def test_flags_of_one_letter_in_one_word_are_read_as_the_command_reads_them() -> None:
    assert _repeated("audit", "t", "-qo", "Anna.html", "--qi", "a") == "sqlaudit audit t -q --qi a"
    assert _repeated("audit", "t", "-qoAnna.html", "--qi", "a") == "sqlaudit audit t -q --qi a"


def test_a_repeated_cube_names_its_columns_and_the_files_that_it_is_compared_with() -> None:
    given = ["t", "--dimensions", "age=5 years,sex", "--measures=income", "--holdings", "firm", "--suppress", "5%"]
    said = "sqlaudit cube t --dimensions 'age=5 years,sex' --measures income --holdings firm --suppress 5%"
    compared = ["--before", "may.parquet", "--margins", "totals.csv"]
    assert _repeated("cube", *given, *compared) == f"{said} {' '.join(compared)}"


CONFIDENTIAL = {
    "address": {"--db"},
    "condition, query or script": {"--where", "--query", "--structural", "--command", "--file"},
    "value of the table": {"--total", "--hidden", "--default"},
    "file or view that is written": {"--publish-view"},
    "words for readers": {"--title", "--purpose", "--sign-off", "--report-owner"},
    "no page": {
        "--db-env",
        "--dbt-profile",
        "--dbt-target",
        "--dialect",
        "--run",
        "--table",
        "--tables",
        "--cube",
        "--paper",
    },
}
"""Options whose texts no report repeats, by what may be in them."""


def test_every_option_that_takes_a_text_is_either_harmless_or_hidden() -> None:
    """A new option has to be put either here or among those that a report may repeat."""
    context, hidden, shown = click.Context(cli), set(), set()
    for command in (cli.get_command(context, name) for name in cli.list_commands(context)):
        for option in command.params if command else ():
            if isinstance(option, click.Option) and type(option.type) is click.types.StringParamType:
                name = max(option.opts, key=len)
                (shown if _is_shown(option, name, "Anna") else hidden).add(name)
    assert hidden == set().union(*CONFIDENTIAL.values())
    assert not shown & set().union(*CONFIDENTIAL.values()) - {"--db-env"}


def test_a_repeated_command_shows_a_database_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "c.duckdb").touch()
    assert _repeated("audit", "--db", str(tmp_path / "c.duckdb"), "t") == f"sqlaudit audit --db {tmp_path}/c.duckdb t"
    assert _repeated("audit", "--db", "service=clinic", "t") == "sqlaudit audit --db … t"


FURTHER = {
    "criteria": "audit people --qi age,sex,zip --criteria public",
    "population": "audit people --qi age,sex --sampling-fraction 0.1 --require population_uniqueness=10%",
    "what if": "disclosure people --qi person --sensitive disease --given knowledge.yml",
    "synthetic": "compare people synthetic --qi age,sex,zip --sensitive disease --synthetic",
    "verify": "verify certificate.json",
    "report": "report result.json",
    "baseline": "baseline -f sqlaudit.yml",
    "history": "baseline -f sqlaudit.yml --history runs.jsonl",
    "model": "models k",
    "cube": "cube people --dimensions age,sex --require threshold=2",
}
LINES = {name: f"{name} {words}" for name, words in COMMANDS.items()} | FURTHER


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tables and files that the commands read."""
    folder = tmp_path_factory.mktemp("cover")
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        for name, query in TABLES.items():
            connection.execute(f"CREATE TABLE {name} AS {query}")
            connection.execute(f"COPY {name} TO '{folder / name}.csv'")
    knowledge = "people:\n  Ben: {person: 3}\nknowledge: []\nask: {Ben: Zq7flu}\n"
    for name, text in {"sqlaudit.yml": POLICY, "hierarchies.yml": HIERARCHIES, "knowledge.yml": knowledge}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def _pages() -> set[str]:
    """The commands that can write a page."""
    context = click.Context(cli)
    commands = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    formats = {
        name: option.type.choices
        for name, command in commands.items()
        for option in (command.params if command else ())
        if "--format" in option.opts and isinstance(option.type, click.Choice)
    }
    return {name for name, choices in formats.items() if "html" in choices}


def test_every_command_that_makes_a_page_is_tried() -> None:
    assert {line.split()[0] for line in LINES.values()} >= _pages()


@pytest.mark.parametrize("name", [name for name, line in LINES.items() if line.split()[0] in _pages()])
def test_every_page_says_what_it_is_and_whose(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    words = with_files(LINES[name].split(), "csv")
    if name == "verify":
        assert run("audit", "people.csv", "--qi", "age", "--certificate", "certificate.json").code == 0
    if name == "report":
        run("audit", "people.csv", "--qi", "age", "-o", "result.json")
    if name == "history":
        run("test", "-f", "sqlaudit.yml", "--history", "runs.jsonl")
    cover = ["--report-owner" if name == "cloak" and word == "--owner" else word for word in COVER]
    ran = run(*words, *cover, "--purpose", "research <now>", "-o", f"{name}.html")
    assert ran.code in (0, 1), ran.err
    text = _plain(folder / f"{name}.html")
    (masthead,) = re.findall('<p class="masthead">(.*)</p>', (folder / f"{name}.html").read_text("utf-8"))
    kind, *told, owner = re.sub("</?span>", "|", masthead).strip("|").split("| |")
    assert kind
    assert owner == "Owner: Jo Doe"
    if name not in ("models", "model"):  # which are about no table, and the same at all times
        subject, time = told
        assert subject
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", time)
    assert '<p class="title">Yearly check</p>' in text
    assert "research &lt;now&gt;" in text
    assert [text.count(f"<td>{who}</td>") for who in ("DPO", "Head of data")] == [1, 1]


def test_formats_for_programs_refuse_a_cover_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    ran = run("test", "-f", "sqlaudit.yml", "--format", "junit", "--owner", "Jo Doe")
    assert (ran.code, ran.out) == (2, "")
    assert "junit has no place for them. Add --report FILE.html." in ran.err
    both = run("test", "-f", "sqlaudit.yml", "--format", "junit", "--owner", "Jo Doe", "--report", "both.html")
    assert both.code in (0, 1)
    assert "Owner: Jo Doe" in (folder / "both.html").read_text("utf-8")
