"""Every command that a report proposes or repeats runs: on a workbook, on labelled SPSS data, and on PostgreSQL."""

from __future__ import annotations

import csv
import html
import json
import random
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from sqlaudit.base.names import typed
from tests.cli.runner import Ran, run

AGE, ZIP, WEIGHT, ILLNESS, SEX = "Alter\nin Jahren", " PLZ\u00a0(Wohnort)", " Größe ", "Diagnose, Haupt", '"Geschlecht"'
HEADER = (AGE, ZIP, WEIGHT, ILLNESS, SEX, "Fall-Nr.", "Anzahl")
TITLE_ROWS = 2
CONDITION = "1 = 1"

HIDDEN_VALUES = {
    "--db": "a report has no address of a database",
    "--where": "a condition may hold values of the table",
    "--to": "a report names no file that it wrote",
    "--certificate": "likewise",
}
"""Options whose values a report hides, and why: the test gives them again."""


class Source(NamedTuple):
    """A table with options to read it, those that a report shows first, and what its columns are called."""

    table: list[str]
    names: dict[str, str]
    hidden: dict[str, str]

    def list(self, *names: str) -> str:
        return ",".join(typed(self.names.get(name, name)) for name in names)


def _rows() -> list[tuple[object, ...]]:
    chance = random.Random(7)
    domains = ((20, 30, 40, 50), ("10115", "20095"), (160, 170), ("Grippe", "Asthma"), "mw")
    return [(*map(chance.choice, domains), number // 2, 6 + number % 3) for number in range(120)]


@pytest.fixture
def workbook(tmp_path: Path) -> Source:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Daten 2024"
    for row in (["Patienten"], [], HEADER, *_rows()):
        book.active.append(row)
    book.create_sheet("Legende").append(["Feld"])
    book.save(tmp_path / "Patienten 2024.xlsx")
    reading = ["--sheet", "Daten 2024", "--skip", str(TITLE_ROWS), "--null-values", "-99"]
    return Source([str(tmp_path / "Patienten 2024.xlsx"), *reading], {}, {})


@pytest.fixture
def spss(tmp_path: Path) -> Source:
    pandas, pyreadstat = pytest.importorskip("pandas"), pytest.importorskip("pyreadstat")
    names = dict(zip(HEADER, ("Alter", "PLZ", "Größe", "Diagnose", "Geschlecht", "Fall", "Anzahl"), strict=True))
    frame = pandas.DataFrame(_rows(), columns=list(names.values()))
    frame["Geschlecht"] = frame["Geschlecht"].map({"m": 1, "w": 2})
    labels = {"Geschlecht": {1: "männlich", 2: "weiblich"}}
    pyreadstat.write_sav(frame, str(tmp_path / "p.sav"), variable_value_labels=labels)
    return Source([str(tmp_path / "p.sav"), "--labels"], names, {})


@pytest.fixture
def postgres(load: Callable[..., object], postgres_url: str) -> Source:
    load("Patienten 2024", _rows(), HEADER)
    table = ["--db", postgres_url, '"Patienten 2024"', "--where", CONDITION]
    return Source(table, {}, {"--db": postgres_url, "--where": CONDITION})


@pytest.fixture(params=["workbook", "spss", "postgres"])
def source(request: pytest.FixtureRequest) -> Source:
    found: Source = request.getfixturevalue(request.param)
    return found


def _asked(source: Source, folder: Path) -> Iterator[list[str]]:
    """The commands that make a report of one table, with odd names in each option that takes them."""
    known, person = ["--qi", source.list(AGE, ZIP, SEX)], ["--entity", source.list("Fall-Nr.")]
    roles = [*known, "--sensitive", source.list(ILLNESS)]
    k2 = ["--require", "k=2"]
    yield ["profile"]
    yield ["audit", *roles, *k2, "--require", "l=2"]
    yield ["audit", *roles, *person, *k2, "--nulls", "distinct", "--insensitive", source.list(WEIGHT)]
    yield ["audit", *known, "--criteria", "internal"]
    yield ["columns", "--exclude", source.list("Fall-Nr.", "Anzahl"), "--max-size", "2"]
    yield ["persons", *person, "--qi", source.list(AGE, ZIP), "--tolerance", f"{source.list(AGE)}=10"]
    yield ["records", *known, "--weights", source.list(WEIGHT)]
    yield ["disclosure", *roles]
    yield ["lattice", *known, *k2, "--suppress", "5%", "--weights", f"{source.list(AGE)}=2"]
    yield ["recode", *roles, *k2, "--keep-column", source.list("Fall-Nr."), "--to", str(folder / "release.csv")]
    yield ["suppress", *known, *k2, "--keep-column", source.list("Fall-Nr.")]
    yield ["attack", *roles]
    yield ["hierarchy", source.list(AGE), "--widths", "10,20"]
    yield ["aggregates", "--by", source.list(AGE, SEX), "--count", source.list("Anzahl"), "--require", "threshold=2"]


def _words_in(report: str, kind: str) -> Iterator[str]:
    """The commands in a report: in lines of their own or between backticks, in <pre>, and in any field of JSON."""
    if kind == "text":
        report = re.sub(r" \\\n +", " ", report)
        yield from re.findall(r"^ +(sqlaudit [a-z]+ .*)$", report, re.MULTILINE)
        yield from (found for found in re.findall("`(sqlaudit [^`]+)`", report) if found.count(" ") > 2)
    elif kind == "html":
        for found in re.findall(r"<(?:pre|code)\b[^>]*>(.*?)</(?:pre|code)>", report, re.DOTALL):
            text = html.unescape(re.sub("<[^>]*>", "", found))
            if re.match("sqlaudit [a-z]+ .", text):
                yield text
    else:
        for value in _values_in(json.loads(report)):
            text = " ".join(value) if isinstance(value, list) and value[:1] == ["sqlaudit"] else str(value)
            if re.match("sqlaudit [a-z]+ .", text):
                yield text


def _values_in(value: object) -> Iterator[object]:
    yield value
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for child in children:
        yield from _values_in(child)


def _run_again(command: str, source: Source, folder: Path) -> Ran:
    words = shlex.split(command)
    assert words[0] == "sqlaudit"
    given = {**source.hidden, "--to": str(folder / "again.csv"), "--certificate": str(folder / "again.json")}
    for position, word in enumerate(words):
        if word == "…":
            assert words[position - 1] in HIDDEN_VALUES, command
            words[position] = given[words[position - 1]]
    assert "…" not in words
    return run(*words[1:])


def test_every_command_of_the_first_report_runs(source: Source, tmp_path: Path) -> None:
    assert _run_commands_of([["profile"]], source, tmp_path) >= 3


def test_every_command_of_every_report_runs(source: Source, tmp_path: Path) -> None:
    assert _run_commands_of(_asked(source, tmp_path), source, tmp_path) > 15


def test_commands_of_reports_on_several_files_run(workbook: Source, tmp_path: Path) -> None:
    """A workbook beside its release with semicolons: a command about one of them reads it with its own options."""
    original, *_ = workbook.table
    lines = Path(original).with_name("release.csv")
    kept = ["--keep-column", typed("Fall-Nr."), "--to", lines]
    assert run("suppress", *workbook.table, "--qi", workbook.list(AGE, SEX), "--require", "k=2", *kept).code == 0
    with lines.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    with lines.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";", lineterminator="\n").writerows(rows)
    roles = ["--qi", workbook.list(AGE, SEX), "--sensitive", workbook.list(ILLNESS)]
    general = ["--sheet", "Daten 2024", "--delimiter", ";", "--null-values", "-99"]
    asked = [
        ["compare", original, lines, *roles, *general, "--read", "original:skip=2"],
        ["compare", original, lines, *roles, "--delimiter", ";", "--read", f"{original}:sheet=Daten 2024,skip=2"],
        [
            "compare",
            original,
            lines,
            *roles,
            *general[:2],
            "--read",
            "release:delimiter=;",
            "--read",
            "original:skip=2",
        ],
        ["compare", original, lines, *roles, *general, "--read", f"{Path(original).name}:skip=2"],
        ["attack", original, *roles, "--identified", lines, *general, "--read", "target:skip=2"],
    ]
    count = 0
    for number, words in enumerate(asked):
        for kind, suffix in (("text", "txt"), ("html", "html"), ("json", "json")):
            file = tmp_path / f"several{number}.{suffix}"
            ran = run(*words, "-o", file)
            assert ran.code in (0, 1), ran.err
            for command in dict.fromkeys(_words_in(file.read_text("utf-8"), kind)):
                again = _run_again(command, workbook, tmp_path)
                assert again.code in (0, 1), (command, again.err)
                count += 1
    assert count > 12


def _events(folder: Path) -> list[str]:
    """The options of a table of places, whose columns have odd names."""
    names = ("Wer, wo", "x (m)", "y\u00a0(m)", "Zeit")
    with (folder / "Wege 1.csv").open("w", encoding="utf-8", newline="") as file:
        rows = [(number, number % 4, number % 3, f"2024-05-01 10:{number:02}:00") for number in range(40)]
        csv.writer(file, delimiter=";").writerows([names, *rows])
    columns = zip(("--user", "--x", "--y", "--time"), names, strict=True)
    return [str(folder / "Wege 1.csv"), *(word for flag, name in columns for word in (flag, typed(name)))]


def test_commands_of_releases_places_and_synthetic_tables_run(workbook: Source, tmp_path: Path) -> None:
    """Reports on several tables and on people repeat their commands with odd names, and a way to read each file."""
    known, secret = workbook.list(AGE, SEX), ["--sensitive", workbook.list(ILLNESS)]
    roles, person = ["--qi", known, *secret], ["--entity", workbook.list("Fall-Nr.")]
    original, *reading = workbook.table
    single = tmp_path / "einzeln.csv"
    with single.open("w", encoding="utf-8", newline="") as file:
        rows = {row[-2]: row for row in _rows()}
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows.values()])
    sheet, boxes = reading[:2], ["--k", "2", "--box", "4", "--interval", "1h"]
    asked = [
        ["releases", single, single, *roles, *person],
        ["compare", original, single, *roles, *sheet, "--read", "original:skip=2", "--synthetic", "--known", "1"],
        ["compare", original, original, *roles, *reading, "--by-position"],
        ["audit", *workbook.table, "--qi", known, "--population-size", "5000", "--require", "k=2"],
        ["audit", *workbook.table, *roles, "--criteria", "public"],
        ["persons", *workbook.table, *person, "--qi", known, "--require", "km@1=2"],
        ["aggregates", single, "--by", known, "--count", workbook.list("Anzahl"), "--require", "threshold=2"],
        ["cloak", *_events(tmp_path), *boxes],
    ]
    count = 0
    for number, words in enumerate(asked):
        for kind, suffix in (("html", "html"), ("json", "json")):
            file = tmp_path / f"further{number}.{suffix}"
            ran = run(*words, "-o", file)
            assert ran.code in (0, 1), (words, ran.err)
            found = dict.fromkeys(_words_in(file.read_text("utf-8"), kind))
            assert any(command.startswith(f"sqlaudit {words[0]} ") for command in found), words
            for command in found:
                again = _run_again(command, workbook, tmp_path)
                assert again.code in (0, 1), (command, again.err)
                count += 1
    assert count >= 2 * len(asked)


def test_the_command_of_a_certificate_runs(source: Source, tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    roles = ["--qi", source.list(AGE, ZIP), "--sensitive", source.list(ILLNESS), "--entity", source.list("Fall-Nr.")]
    assert run("audit", *source.table, *roles, "--require", "k=2", "--certificate", file).code in (0, 1)
    database = ["--db", source.hidden["--db"], "--where", CONDITION] if source.hidden else []
    verified = run("verify", file, *database, "--format", "json")
    assert verified.code == 0, verified.err
    commands = [json.loads(file.read_text("utf-8"))["command"], *_words_in(verified.out, "json")]
    for command in commands:
        ran = _run_again(command, source, tmp_path)
        assert ran.code in (0, 1), (command, ran.err)


def _run_commands_of(reports: Iterable[list[str]], source: Source, tmp_path: Path) -> int:
    """Run the commands in the reports, each once. Return their number."""
    commands: dict[str, str] = {}
    for number, (name, *options) in enumerate(reports):
        position = [name, *source.table]
        for kind, suffix in (("text", "txt"), ("html", "html"), ("json", "json")):
            file = tmp_path / f"report{number}.{suffix}"
            asked = run(*position, *options, "-o", file)
            assert asked.code in (0, 1), (name, asked.err)
            found = list(_words_in(file.read_text("utf-8"), kind))
            assert found or kind == "text", (name, kind)
            commands |= dict.fromkeys(found, f"{name}, {kind}")
    for command, place in commands.items():
        ran = _run_again(command, source, tmp_path)
        assert ran.code in (0, 1), (place, command, ran.err)
    return len(commands)


def test_a_proposed_audit_reads_what_was_profiled(source: Source, tmp_path: Path) -> None:
    """The rows, the roles and the columns are those of the profile, in each format."""
    profiled = json.loads(run("profile", *source.table, "--format", "json").out)
    text = run("profile", *source.table).out
    (command,) = (found for found in _words_in(text, "text") if found.startswith("sqlaudit audit"))
    audited = _run_again(f"{command} --format json", source, tmp_path)
    result = json.loads(audited.out)
    names = {column["name"] for column in profiled["columns"]}
    assert names == {source.names.get(name, name) for name in HEADER}
    assert result["target"]["rows"] == 120
    assert set(result["roles"]["quasi_identifiers"]) <= names


def _hint(ran: Ran, pattern: str) -> list[str]:
    """The words that an error proposes, by the rules of a shell."""
    assert (ran.code, ran.err.count("\n")) == (2, 1), ran.err
    found = re.search(pattern, ran.err)
    assert found is not None, ran.err
    return shlex.split(found[1])


def test_the_option_in_a_refusal_settles_it(workbook: Source) -> None:
    """A workbook with two sheets and a title: each error names the option that takes it."""
    file, sheet = workbook.table[0], workbook.table[1:3]
    assert "'Daten 2024'" in run("profile", file).err
    hint = _hint(run("profile", file, *sheet), r"(--skip \d+)")
    assert run("profile", file, *sheet, *hint).code == 0
    message = run(
        "lattice", *workbook.table, "--qi", typed(SEX), "--require", "k=2", "--to", Path(file).parent / "r.csv"
    )
    kept = _hint(message, r"(--keep-column .*)\.")
    assert run("lattice", *workbook.table, "--qi", typed(SEX), "--require", "k=2", *kept).code == 0


NEAR_MISSES = {
    AGE: ("Alter in Jahren", "alter  in jahren", "AlterinJahren", "Alter\\n in Jahren"),
    ZIP: ("PLZ (Wohnort)", '" PLZ (Wohnort)"', "plz\u00a0(wohnort)"),
    WEIGHT: ("Größe", '"größe"', "Gro\u0308\u00dfe"),
    ILLNESS: ("Diagnose, Haupt", "Diagnose,Haupt"),
    SEX: ("Geschlecht", '"Geschlecht"'),
}


@pytest.mark.parametrize("source", ["workbook", "postgres"], indirect=True)
@pytest.mark.parametrize(("name", "near"), [(name, near) for name, several in NEAR_MISSES.items() for near in several])
def test_the_name_in_a_refusal_is_typed_as_it_stands_there(source: Source, name: str, near: str) -> None:
    (hint,) = _hint(run("audit", *source.table, "--qi", near), r"Did you mean ('.*')\?")
    ran = run("audit", *source.table, "--qi", hint, "--format", "json")
    assert (ran.code, json.loads(ran.out)["roles"]["quasi_identifiers"]) == (0, [name])
    listed = run("audit", *source.table, "--qi", "?")
    assert typed(name) in listed.err


def test_the_policy_that_is_proposed_passes_its_own_test(tmp_path: Path, workbook: Source) -> None:
    """`init` names odd columns so that `test` finds them, and says how to run it, whatever the files are called."""
    release = tmp_path / "r e lease.csv"
    run(
        "recode", *workbook.table, "--qi", workbook.list(AGE, ZIP, SEX), "--require", "k=5", "--keep-column", "Fall-Nr."
    )
    made = ["--qi", workbook.list(AGE, ZIP, SEX), "--require", "k=5", "--identifier", "Fall-Nr.", "--to", release]
    assert run("recode", *workbook.table, *made).code == 0
    written = run("init", release, "-o", tmp_path / "a policy.yml")
    assert written.code == 0, written.err
    command = written.err.partition("then run: sqlaudit ")[2]
    tested = run(*shlex.split(command))
    assert tested.code in (0, 1), tested.err
    assert "has no column" not in tested.out + tested.err
