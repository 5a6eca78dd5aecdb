"""Reading options by table: files of several formats in one command are read as plain copies of them are."""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pandas as pd
import pyreadstat
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Limits, Reading, ReadOptions, Target, reading_from
from sqlaudit.cli.options import reading_of
from sqlaudit.cli.programs import offered_tables
from sqlaudit.engines import connect
from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.run import mistakes_of
from sqlaudit.gates.stored import digest
from tests.cli.runner import run

HEAD = ["Nr", "Alter", "Geschlecht", "PLZ", "Diagnose"]
ROLES = ("--qi", "Alter,Geschlecht,PLZ", "--sensitive", "Diagnose", "--exact-values")
ZIP_CODES = ["01067", "01069", "80331"]
Row = Sequence[Any]


def people(seed: int, rows: int = 120) -> list[Row]:
    draw = random.Random(seed)
    return [
        [number, draw.randint(20, 59), draw.choice("mw"), draw.choice(ZIP_CODES), draw.choice(["Krebs", "Hüfte"])]
        for number in range(1, rows + 1)
    ]


def released(rows: Sequence[Row]) -> list[Row]:
    return [[nr, f"{age // 10}0-{age // 10}9", sex, f"{zip_code[:2]}***", ill] for nr, age, sex, zip_code, ill in rows]


def workbook(path: Path, sheets: Mapping[str, Sequence[Row]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        one = book.create_sheet(name)
        for row in rows:
            one.append(list(row))
    book.save(path)
    return path


def text_file(path: Path, rows: Sequence[Row], delimiter: str = ",", encoding: str = "utf-8") -> Path:
    content = io.StringIO()
    csv.writer(content, delimiter=delimiter, lineterminator="\n").writerows(rows)
    path.write_bytes(content.getvalue().encode(encoding))
    return path


def labelled(path: Path, rows: Sequence[Row]) -> Path:
    """An SPSS file in which the sex is a code with a label."""
    columns = dict(zip(HEAD, map(list, zip(*rows, strict=True)), strict=True))
    columns["Geschlecht"] = [{"m": 1, "w": 2}[sex] for sex in columns["Geschlecht"]]
    pyreadstat.write_sav(pd.DataFrame(columns), path, variable_value_labels={"Geschlecht": {1: "m", 2: "w"}})
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clinic's files as people have them, and in `plain` the same rows as CSV."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain").mkdir()
    rows, others = people(1), people(2)
    tables = {"klinik": rows, "frei": released(rows), "andere": others, "register": rows + others}
    for name, table in tables.items():
        text_file(tmp_path / "plain" / f"{name}.csv", [HEAD, *table])
    title: list[Row] = [["Patienten 2024"]]
    workbook(tmp_path / "klinik.xlsx", {"Notiz": [["x"], [1]], "Patienten": [*title, HEAD, *rows]})
    workbook(tmp_path / "frei.xlsx", {"Freigabe": [HEAD, *tables["frei"]], "Notiz": [["x"], [1]]})
    text_file(tmp_path / "frei.csv", [HEAD, *tables["frei"]], ";", "latin-1")
    text_file(tmp_path / "andere.csv", [HEAD, *others], ";", "latin-1")
    text_file(tmp_path / "klinik.csv", [HEAD, *rows], ";", "latin-1")
    text_file(tmp_path / "register.csv", [HEAD, *tables["register"]], ";", "latin-1")
    labelled(tmp_path / "klinik.sav", rows)
    return tmp_path


NAMES = ("klinik.xlsx", "klinik.sav", "frei.xlsx", "klinik.csv", "frei.csv", "andere.csv", "register.csv")
PASSED_OVER = {"time", "remarks", "report", "statements", "seconds"}
"""What a result says of files besides their rows."""


def figures(out: str) -> Any:
    """The result of a command without the names of its files."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(part) for key, part in value.items() if key not in PASSED_OVER}
        if isinstance(value, list):
            return [without(part) for part in value]
        if isinstance(value, float):
            return pytest.approx(value, rel=1e-9)  # sums of floats in another order
        text = value if isinstance(value, str) else ""
        for name in NAMES:
            text = text.replace(f"plain/{name}", "FILE").replace(name, "FILE")
        return text if isinstance(value, str) else value

    return without(json.loads(out))


EXCEL = ("--read", "klinik.xlsx:sheet=Patienten,skip=1")
POPULATION = ("--sheet", "Patienten", "--skip", "1", "--read", "population:skip=0,delimiter=;,encoding=latin-1")
SEMICOLON, LATIN = ("--delimiter", ";"), ("--encoding", "latin-1")


def latin(name: str) -> Sequence[str]:
    """The options of a text file beside one of SPSS, whose encoding is another."""
    return ("--read", f"{name}:encoding=latin-1", *SEMICOLON, "--labels")


COMMANDS: list[Sequence[str]] = [
    ("compare", "klinik.xlsx", "frei.csv", *ROLES, *EXCEL, *SEMICOLON, *LATIN),
    ("compare", "klinik.xlsx", "frei.csv", *ROLES, "--other-release", "andere.csv", *EXCEL, *SEMICOLON, *LATIN),
    ("compare", "klinik.xlsx", "frei.xlsx", *ROLES, *EXCEL, "--read", "release:sheet=Freigabe"),
    ("compare", "klinik.sav", "frei.csv", *ROLES, *latin("release")),
    ("compare", "klinik.sav", "andere.csv", "--synthetic", *ROLES, *latin("andere.csv")),
    (
        "compare",
        "klinik.xlsx",
        "andere.csv",
        *ROLES,
        "--synthetic",
        "--holdout",
        "klinik.sav",
        *EXCEL,
        *latin("release"),
    ),
    ("attack", "frei.csv", "--identified", "klinik.xlsx", "--match", "Geschlecht", *ROLES, *EXCEL, *SEMICOLON, *LATIN),
    ("attack", "frei.csv", "--other-release", "frei.xlsx", *ROLES, "--sheet", "Freigabe", *SEMICOLON, *LATIN),
    ("releases", "klinik.sav", "klinik.xlsx", "klinik.csv", "--entity", "Nr", *ROLES, *EXCEL, *latin("klinik.csv")),
    ("audit", "klinik.xlsx", *ROLES, "--inputs", "inputs.yml", "--require", "k_map=3", *EXCEL, *SEMICOLON, *LATIN),
    ("audit", "klinik.xlsx", *ROLES, "--inputs", "inputs.yml", "--require", "k_map=3", *POPULATION),
    ("columns", "klinik.xlsx", "--k", "3", "--read", "target:sheet=Patienten,skip=1"),
    ("records", "klinik.csv", "--qi", "Alter,Geschlecht,PLZ", *SEMICOLON, *LATIN),
]


@pytest.mark.parametrize("command", COMMANDS, ids=[" ".join(case[:3]) for case in COMMANDS])
def test_each_file_is_read_with_the_options_of_its_format(command: Sequence[str], folder: Path) -> None:
    def inputs(population: str) -> None:
        (folder / "inputs.yml").write_text(f"population: {population}\n", encoding="utf-8")

    inputs("register.csv")
    ran = run(*command, "--format", "json")
    inputs("plain/register.csv")
    expected = run(*_on_plain_files(command), "--format", "json")
    assert expected.code in (0, 1), expected.err
    assert (ran.code, ran.err) == (expected.code, expected.err)
    assert figures(ran.out) == figures(expected.out)


def _on_plain_files(command: Sequence[str]) -> list[str]:
    """The same command on the plain copies, without any option of how files are read."""
    words, plain = iter(command), list[str]()
    for word in words:
        if word in ("--read", "--delimiter", "--encoding", "--sheet", "--skip"):
            next(words)
        elif word != "--labels":
            plain.append(f"plain/{Path(word).stem}.csv" if word in NAMES else word)
    return plain


REFUSED = [
    (
        "compare klinik.xlsx frei.csv --labels",
        "The option 'labels' applies to SPSS or Stata files, but 'klinik.xlsx' is",
    ),
    ("compare klinik.csv frei.csv --sheet A", "The option 'sheet' applies to Excel files, but 'klinik.csv' is csv."),
    ("audit klinik.csv --sheet A", "The option 'sheet' applies to Excel files, but 'klinik.csv' is csv."),
    (
        "compare plain/klinik.csv frei.csv --read release:sheet=A",
        "The option 'sheet' applies to Excel files, but 'frei.csv'",
    ),
    (
        "compare klinik.xlsx frei.csv --read relaese:skip=1",
        "--read: there is no table 'relaese'. Did you mean 'release'?",
    ),
    (
        "compare klinik.xlsx frei.csv --read xyz:skip=1",
        "--read: there is no table 'xyz'. Available: original, release.",
    ),
    (
        "compare frei.csv frei.csv --read frei.csv:skip=1",
        "--read: 2 tables are called 'frei.csv'. Name one by its role",
    ),
    ("compare klinik.xlsx frei.csv --read release:skp=1", "--read has no 'skp'. Did you mean 'skip'?"),
    ("compare klinik.xlsx frei.csv --read release:skip=a", "--read: skip is a whole number, not 'a'."),
    ("compare klinik.xlsx frei.csv --read release:header=a", "--read: header is yes or no, not 'a'."),
    ("compare klinik.xlsx frei.csv --read release:skip=1001", "--skip must be at least 0 and at most 1,000, not 1001."),
    ("compare klinik.xlsx frei.csv --read release", "--read takes NAME:option=value,…, for example release:sheet=Data"),
    (
        "compare klinik.xlsx frei.csv --read release:skip",
        "--read takes NAME:option=value,…, for example release:sheet=",
    ),
    ("compare klinik.xlsx frei.csv --read release:delimiter=,", "--read 'delimiter=,' has an empty name."),
]


@pytest.mark.parametrize(("command", "sentence"), REFUSED)
def test_what_no_table_has_is_refused(command: str, sentence: str, folder: Path) -> None:
    ran = run(*command.split(), "--qi", "Alter")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"sqlaudit: {sentence}"), ran.err
    assert ran.err.count("\n") == 1


def test_a_message_names_the_option_of_its_table(folder: Path) -> None:
    """Each refusal ends in what settles it, and following it never changes how the other table is read."""
    command, options = ["compare", "klinik.xlsx", "frei.xlsx", *ROLES], list[str]()
    said = []
    for _ in range(3):
        said.append(run(*command, *options).err)
        options += ["--read", said[-1].split("--read ")[1].removesuffix(".\n").replace("…", "Patienten")]
        options[-1] = options[-1].replace("release:sheet=Patienten", "release:sheet=Freigabe")
    assert options[1::2] == ["original:sheet=Patienten", "original:skip=1", "release:sheet=Freigabe"], said
    assert run(*command, *options).code == 0
    with pytest.raises(UsageError, match=r"name one with read=\{'original': \{'sheet': '…'\}\}"):
        sqlaudit.compare("klinik.xlsx", "frei.csv", qi="Alter")
    assert "name one with --sheet." in run("audit", "klinik.xlsx", "--qi", "Alter").err


def test_a_query_reads_each_of_its_files_with_its_own_options(folder: Path) -> None:
    query = "SELECT a.PLZ FROM 'klinik.xlsx' a JOIN 'frei.csv' b USING (Nr)"
    ran = run("audit", "--query", query, "--qi", "PLZ", *EXCEL, *SEMICOLON, *LATIN, "--format", "json")
    assert ran.code == 0, ran.err
    zip_codes = Counter(row[3] for row in people(1))
    assert json.loads(ran.out)["classes"]["min_size"] == min(zip_codes.values())
    refused = run("audit", "--query", query, "--qi", "PLZ", *EXCEL, *SEMICOLON, *LATIN, "--read", "klinik.csv:skip=1")
    assert refused.err == "sqlaudit: --read: there is no table 'klinik.csv'. Did you mean 'klinik.xlsx'?\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('a:null_values="?,NA",skip=1', {"null_values": ("?", "NA"), "skip": 1}),
        ('a:"null_values=?,NA"', {"null_values": ("?", "NA")}),
        ('a:null_values=""', {"null_values": ("",)}),
        ('a:delimiter=",",decimal=.', {"delimiter": ",", "decimal": "."}),
        ("a:delimiter=tab,header=no,all-text=yes", {"delimiter": "\t", "header": False, "all_text": True}),
        ('a:sheet="Erhebung ""2024"", Teil 1"', {"sheet": 'Erhebung "2024", Teil 1'}),
        ("a:sheet=a=b", {"sheet": "a=b"}),
        ("C:\\data\\b.xlsx:sheet=x: y", {"sheet": "x: y"}),
        ("a:file_format=csv,format=json", {"format": "json"}),
        ("a:sheet=", {"sheet": ""}),
    ],
)
def test_values_with_commas_are_written_in_double_quotes(text: str, said: Mapping[str, object]) -> None:
    reading = reading_of(
        **dict.fromkeys(("delimiter", "encoding", "null_values"), None), **_others(), read_tables=(text,)
    )
    assert list(reading.tables.values()) == [said]
    assert list(reading.tables) == ["a" if text.startswith("a") else "C:\\data\\b.xlsx"]


def _others() -> dict[str, Any]:
    names = "file_format all_text header hive_partitioning skip date_order sheet labels"
    return {**dict.fromkeys(names.split()), "decimal": "."}


def test_options_of_one_table_go_before_those_of_all() -> None:
    reading = Reading(ReadOptions(skip=2, sheet="A"), {"release": {"skip": 0}, "b.csv": {"decimal": ","}})
    release = reading.table(Target(relation="x/b.csv"), "release")
    assert (release.read, release.shared) == (ReadOptions(sheet="A", decimal=","), {"sheet"})
    assert release.read_as(["decimal"]) == ReadOptions(decimal=",")
    original = reading.table(Target(relation="a.xlsx"), "original")
    assert (original.read, original.shared) == (ReadOptions(skip=2, sheet="A"), {"skip", "sheet"})


def test_python_says_it_by_table_too(folder: Path) -> None:
    roles = {"qi": ["Alter", "Geschlecht", "PLZ"], "sensitive": "Diagnose", "values": "exact"}
    text = {"delimiter": ";", "encoding": "latin-1"}
    read: dict[str, Any] = {"original": {"sheet": "Patienten", "skip": 1}, "frei.csv": ReadOptions(**text)}

    def losses(*tables: Any, read: Any = None) -> list[Any]:
        result = sqlaudit.compare(*tables, read=read, **roles)
        return [(loss.measure, loss.column, loss.value and pytest.approx(float(loss.value))) for loss in result.losses]

    expected = losses("plain/klinik.csv", "plain/frei.csv")
    assert losses("klinik.xlsx", "frei.csv", read=read) == expected
    mixed = {"original": {"sheet": "Patienten", "skip": 1}, **text}
    assert losses("klinik.xlsx", "frei.csv", read=mixed) == expected
    frame = pd.read_csv("plain/frei.csv")
    assert losses("klinik.xlsx", frame, read={"sheet": "Patienten", "skip": 1}) == expected
    target = Target(relation="frei.csv", read=ReadOptions(**text))
    assert losses("klinik.xlsx", target, read={"sheet": "Patienten", "skip": 1}) == expected
    with pytest.raises(UsageError, match=r"^read=: there is no table 'orginal'. Did you mean 'original'\?$"):
        sqlaudit.compare("klinik.xlsx", "frei.csv", read={"orginal": {"skip": 1}}, **roles)
    with pytest.raises(UsageError, match=r"^read= has no 'shet'. Did you mean 'sheet'\?$"):
        sqlaudit.compare("klinik.xlsx", "frei.csv", read={"original": {"shet": "x"}}, **roles)
    with pytest.raises(UsageError, match=r"^The option 'delimiter' applies to files, not to a frame.$"):
        sqlaudit.audit(frame, qi=["Alter"], read={"delimiter": ";"})
    with connect() as engine, pytest.raises(UsageError, match=r"^The option 'sheet' applies to Excel"):
        sqlaudit.audit("klinik.csv", qi=["Alter"], read={"sheet": "A"}, db=engine)
    assert reading_from({"sheet": "A"}) == Reading(ReadOptions(sheet="A"))


def test_the_table_of_buckets_has_options_of_its_own(folder: Path) -> None:
    rows = [[number, number // 4, "abcd"[number % 4]] for number in range(40)]
    text_file(folder / "persons.csv", [["nr", "bucket"], *(row[:2] for row in rows)], ";")
    workbook(folder / "values.xlsx", {"W": [["Werte"], ["bucket", "s"], *(row[1:] for row in rows)], "x": [["y"], [1]]})
    command = (
        "audit",
        "persons.csv",
        "--qi",
        "bucket",
        "--sensitive",
        "s",
        "--exact-values",
        "--bucket-column",
        "bucket",
    )
    options = ("--delimiter", ";", "--read", "buckets:sheet=W,skip=1")
    ran = run(*command, "--buckets", "values.xlsx", *options, "--require", "l=4", "--format", "json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["checks"][0]["level"] == 4


# Policies, certificates, the console and agents.


def test_what_init_was_given_is_what_test_reads(folder: Path) -> None:
    options = (*EXCEL, "--labels", *SEMICOLON, "--read", 'frei.csv:encoding=latin-1,null_values="?,NA"')
    made = run("init", "klinik.xlsx", "klinik.sav", "frei.csv", *options)
    assert made.code == 0, made.err
    policy = (folder / "sqlaudit.yml").read_text(encoding="utf-8")
    for name, read in {
        "klinik.xlsx": "    read:\n      skip: 1\n      sheet: Patienten\n",
        "klinik.sav": "    read:\n      labels: true\n",
        "frei.csv": '    read:\n      delimiter: ";"\n      encoding: "latin-1"\n      null_values: ["?", NA]\n',
    }.items():
        assert f"- file: {name} # 120 rows\n{read}    #" in policy
    ran = run("test", "--format", "json")
    assert ran.code == 1, ran.err
    levels = {
        test["table"]: test["check"]["level"] for test in json.loads(ran.out)["tests"] if test["requirement"] == "k=5"
    }
    plain = run("init", "plain/klinik.csv", "plain/frei.csv", "-o", "plain.yml")
    assert plain.code == 0, plain.err
    expected = levels_of_k(run("test", "--file", "plain.yml", "--format", "json").out)
    assert levels["klinik.xlsx"] == levels["klinik.sav"] == expected["plain/klinik.csv"]
    assert levels["frei.csv"] == expected["plain/frei.csv"]


def levels_of_k(out: str) -> dict[str, Any]:
    tests = json.loads(out)["tests"]
    return {test["table"]: test["check"]["level"] for test in tests if test["requirement"] == "k=5"}


def test_init_refuses_options_that_no_table_has(folder: Path) -> None:
    assert (
        "The option 'sheet' applies to Excel files, but 'klinik.csv' is csv."
        in run("init", "klinik.csv", *SEMICOLON, *LATIN, "--sheet", "A", "-o", "-").err
    )
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("CREATE TABLE people AS FROM 'plain/klinik.csv'")
    for names in ((), ("people",)):
        ran = run("init", *names, "--db", "clinic.duckdb", "--skip", "1", "-o", "-")
        assert (ran.code, ran.err) == (
            2,
            "sqlaudit: The option 'skip' applies to files, not to a table of a database.\n",
        )
    named = run("init", "--db", "clinic.duckdb", "--read", "peeple:skip=1", "-o", "-")
    assert named.err == "sqlaudit: --read: there is no table 'peeple'. Did you mean 'people'?\n"


POLICY = """
version: 1
tables:
  - file: frei.csv
    read: {{delimiter: ";", encoding: latin-1}}
    quasi_identifiers: [Geschlecht]
    sensitive: [Diagnose]
    values: exact
    requirements:
      - loss: {{original: {original}, measure: entropy, at_most: 1000000}}
      - synthetic: {{original: {original}, holdout: {holdout}, require: exact_copies=1000}}
      - m_invariance: {{m: 1, before: [{original}], entity: Nr}}
"""
ORIGINALS = {
    "klinik.csv": "register.csv",
    "{file: klinik.xlsx, read: {sheet: Patienten, skip: 1}}": "klinik.csv",
    "{file: klinik.sav, read: {labels: yes}}": "{file: klinik.xlsx, read: {sheet: Patienten, skip: 1}}",
}


def levels_of(policy: str) -> list[tuple[str, Any]]:
    Path("policy.yml").write_text(policy, encoding="utf-8")
    result = sqlaudit.gate("policy.yml")
    assert not result.mistakes, result.mistakes
    assert all(test.check for test in result.tests), [test.message for test in result.tests]
    return [(test.check.model, pytest.approx(float(test.check.level or 0))) for test in result.tests if test.check]


@pytest.mark.parametrize("original", ORIGINALS)
def test_other_tables_of_a_policy_are_read_with_their_own_options(original: str, folder: Path) -> None:
    plain = POLICY.replace('    read: {{delimiter: ";", encoding: latin-1}}\n', "").replace(
        "frei.csv", "plain/frei.csv"
    )
    names = (original, ORIGINALS[original])
    csv_names = [f"plain/{name.split('file: ')[-1].split('.')[0]}.csv" for name in names]
    expected = levels_of(plain.format(original=csv_names[0], holdout=csv_names[1]))
    assert levels_of(POLICY.format(original=names[0], holdout=names[1])) == expected


def test_an_original_of_another_format_needs_none_of_the_tables_options(folder: Path) -> None:
    """A workbook with one sheet beside a CSV with a delimiter: what is said of CSV is no error for it."""
    workbook(folder / "klinik2.xlsx", {"P": [HEAD, *people(1)]})
    plain = levels_of(POLICY.format(original="klinik.csv", holdout="register.csv"))
    assert levels_of(POLICY.format(original="klinik2.xlsx", holdout="register.csv")) == plain


@pytest.mark.parametrize("first", ["original", "release"])
def test_lines_are_not_skipped_in_a_csv_because_a_workbook_beside_it_has_a_title(first: str, tmp_path: Path) -> None:
    """Without names, the first person of the CSV was left out, and nothing said so."""
    book, text = tmp_path / "visits.xlsx", tmp_path / "others.csv"
    workbook(book, {"P": [["A title"], *([30, "flu"] for _ in range(4))]})
    text.write_text("30,flu\n" * 4, "utf-8")
    tables = (book, text) if first == "original" else (text, book)
    command = ("compare", *tables, "--qi", "column0", "--by-position", "--no-header")
    ran = run(*command, "--skip", "1")
    assert ran.code == 2
    assert (
        f"Lines are skipped in both the CSV file {str(text)!r} and the workbook {str(book)!r}. Name the file that has "
        "lines above its header: --read release:skip=1."
    ) in ran.err
    assert run(*command, "--read", f"{first}:skip=1").code == 0


def test_an_entry_of_the_policy_is_read_as_it_says(folder: Path) -> None:
    """An original that is another table of the policy has that table's options, and never this one's."""
    text_file(folder / "raw.csv", [HEAD, *people(1)])
    entry = "  - file: raw.csv\n    quasi_identifiers: [Alter]\n    requirements: [k=1]\n"
    comma = POLICY.format(original="raw.csv", holdout="register.csv") + entry
    assert levels_of(comma)[:-1] == levels_of(POLICY.format(original="klinik.csv", holdout="register.csv"))


@pytest.mark.parametrize(
    ("original", "sentence"),
    [
        ("{read: {skip: 1}}", "'original' is a table or a file."),
        ("{file: a.csv, table: b}", "'original' is a table or a file."),
        ("{file: a.csv, rad: {skip: 1}}", "'original' has no key 'rad'. Did you mean 'read'?"),
        ("{file: a.csv, read: {skp: 1}}", "'read' has no key 'skp'. Did you mean 'skip'?"),
        ("[a.csv]", "original is a text."),
    ],
)
def test_a_mistake_in_another_table_is_named_with_its_line(original: str, sentence: str, folder: Path) -> None:
    text = POLICY.split("      - synthetic", maxsplit=1)[0].format(original=original)
    Path("policy.yml").write_text(text, encoding="utf-8")
    mistakes = [(mistake.place.line, mistake.message) for mistake in mistakes_of(load_policy(Path("policy.yml")))]
    assert mistakes == [(10, f"frei.csv: {sentence}")]


def test_the_population_of_inputs_says_how_it_is_read(folder: Path) -> None:
    command = ("audit", "klinik.xlsx", *ROLES, "--inputs", "inputs.yml", "--require", "k_map=3", "--format", "json")
    (folder / "inputs.yml").write_text("population: plain/register.csv\n", encoding="utf-8")
    expected = figures(run(*command, *EXCEL).out)
    read = "{skip: 0, delimiter: ';', encoding: latin-1}"
    (folder / "inputs.yml").write_text(f"population: {{table: register.csv, read: {read}}}\n", encoding="utf-8")
    assert figures(run(*command, "--sheet", "Patienten", "--skip", "1").out) == expected
    (folder / "inputs.yml").write_text("population: {table: register.csv, read: {skp: 1}}\n", encoding="utf-8")
    assert "inputs.yml, line 1: 'read' has no 'skp'. Did you mean 'skip'?" in run(*command, *EXCEL).err


def test_a_certificate_repeats_how_both_tables_were_read(folder: Path) -> None:
    read = "{skip: 0, delimiter: ';', encoding: latin-1}"
    (folder / "inputs.yml").write_text(f"population: {{table: register.csv, read: {read}}}\n", encoding="utf-8")
    command = ("audit", "klinik.xlsx", *ROLES, "--inputs", "inputs.yml", "--require", "k_map=1")
    made = run(*command, "--sheet", "Patienten", "--skip", "1", "--certificate", "audit.json")
    assert made.code == 0, made.err
    assert run("verify", "audit.json", "--inputs", "inputs.yml").code == 0
    refused = run(*command, *EXCEL, "--certificate", "other.json")
    assert "Write 'read' under it in the inputs file." in refused.err
    assert not (folder / "other.json").exists()
    alone = ("audit", "klinik.xlsx", "--qi", "Alter", "--read", "target:sheet=Patienten,skip=1")
    assert run(*alone, "--certificate", "alone.json").code == 0
    assert run("verify", "alone.json").code == 0


def test_the_console_reads_each_file_with_the_options_of_its_format(folder: Path) -> None:
    statement = "SELECT count(*) AS n FROM klinik JOIN frei USING (Nr)"
    options = ("--read", "klinik.xlsx:sheet=Patienten,skip=1", *SEMICOLON, *LATIN, "--format", "json")
    ran = run("console", "klinik.xlsx", "frei.csv", *options, "-c", statement)
    assert ran.code == 0, ran.err
    assert "120" in ran.out
    refused = run("console", "frei.csv", "--sheet", "A", *SEMICOLON, *LATIN, "-c", "SELECT 1 AS a")
    assert (refused.code, refused.err) == (
        2,
        "sqlaudit: The option 'sheet' applies to Excel files, but 'frei.csv' is csv.\n",
    )
    later = run("console", *SEMICOLON, *LATIN, "--sheet", "A", "-c", "SELECT count(*) AS n FROM 'frei.csv'")
    assert "The option 'sheet' applies to Excel files, but 'frei.csv' is csv." in later.err
    typo = run("console", "frei.csv", *SEMICOLON, *LATIN, "--read", "fre.csv:skip=1", "-c", "SELECT 1 AS a")
    assert typo.err == "sqlaudit: --read: there is no table 'fre.csv'. Did you mean 'frei.csv'?\n"
    saved = run("console", "klinik.xlsx", *EXCEL, *SEMICOLON, "-c", "\\policy saved.yml")
    assert "The option 'delimiter' applies to CSV files" in saved.err


def test_agents_get_each_file_with_the_options_of_its_format(folder: Path) -> None:
    reading = reading_from({"klinik.xlsx": {"sheet": "Patienten", "skip": 1}, "delimiter": ";", "encoding": "latin-1"})
    offered = offered_tables(("klinik.xlsx", "frei.csv"), None, (), reading, Limits())
    assert offered.target("klinik.xlsx").read == ReadOptions(sheet="Patienten", skip=1)
    assert offered.target("frei.csv").read == ReadOptions(delimiter=";", encoding="latin-1")
    with pytest.raises(UsageError, match=r"^The option 'sheet' applies to Excel files, but .*frei.csv' is csv.$"):
        offered_tables(("frei.csv",), None, (), reading_from({"sheet": "A"}), Limits())


@pytest.mark.postgres
def test_options_for_files_are_refused_in_a_server(postgres_url: str) -> None:
    console = run("console", "--db", postgres_url, "--skip", "1", "-c", "SELECT 1 AS a")
    assert console.err == "sqlaudit: Options for reading files do not apply to PostgreSQL.\n"
    for command in (("compare", "a", "b"), ("releases", "a", "b", "--entity", "x", "--sensitive", "y"), ("audit", "a")):
        ran = run(*command, "--db", postgres_url, "--qi", "z", "--skip", "1")
        assert "Options for reading files do not apply to PostgreSQL." in ran.err


def test_what_is_said_of_a_table_of_a_database_is_refused(folder: Path) -> None:
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("CREATE TABLE people AS FROM 'plain/klinik.csv'")
    command = ("audit", "--db", "clinic.duckdb", "--qi", "Alter")
    for name in ("people", "target"):
        ran = run(*command, "people", "--read", f"{name}:skip=1")
        assert ran.err == "sqlaudit: The option 'skip' applies to files, not to a table of a database.\n"
    inside = run(*command, "--query", "SELECT * FROM people", "--read", "people:skip=1")
    assert inside.err == "sqlaudit: --read: there is no table 'people'. Available: target.\n"


def test_a_baseline_stays_when_nothing_changes() -> None:
    """What a table lends to its original is no part of what is accepted of its tests, as it was before."""
    plain = Target(relation="a.csv")
    lent = replace(plain, read=ReadOptions(skip=1), shared=frozenset({"skip"}), role="original", reading=Reading())
    assert digest(Path(), lent) == digest(Path(), plain)
    assert digest(Path(), replace(plain, read=ReadOptions(skip=1))) != digest(Path(), plain)


def test_a_population_is_read_as_said_when_a_view_is_audited_again(folder: Path) -> None:
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT Geschlecht, PLZ FROM 'plain/klinik.csv'")
    workbook(folder / "register.xlsx", {"R": [HEAD, *people(1), *people(2)], "Notiz": [["x"], [1]]})
    (folder / "inputs.yml").write_text("population: register.xlsx\n", encoding="utf-8")
    made = ("--inputs", "inputs.yml", "--read", "population:sheet=R", "--publish-view", "safe", "--execute")
    ran = run("lattice", "--db", "clinic.duckdb", "people", "--qi", "Geschlecht,PLZ", "--require", "k=2,k_map=3", *made)
    assert (ran.code, ran.err) == (0, "sqlaudit: created the view 'safe'.\n")


def test_published_tables_of_two_formats_have_one_decimal_sign(folder: Path) -> None:
    rows = [["A", "x", 12], ["A", "y", 3], ["B", "x", 7], ["B", "y", 9]]
    head = ["region", "sex", "n"]
    text_file(folder / "now.csv", [head, *rows], ";")
    older = [[region, sex, count - 1] for region, sex, count in rows]
    text_file(folder / "plain" / "before.csv", [head, *older])
    workbook(folder / "before.xlsx", {"T": [["Title"], head, *older], "x": [["y"], [1]]})
    command = ("aggregates", "now.csv", "--by", "region,sex", "--count", "n", "--require", "threshold=5", *SEMICOLON)
    ran = run(*command, "--before", "before.xlsx", "--read", "before:sheet=T,skip=1", "--format", "json")
    text_file(folder / "now.csv", [head, *rows])
    expected = run(*command[:-2], "--before", "plain/before.csv", "--format", "json")
    assert (ran.code, expected.code) == (1, 1), ran.err
    assert figures(ran.out.replace("before.xlsx", "before.csv")) == figures(
        expected.out.replace("plain/before", "before")
    )
    text_file(folder / "now.csv", [head, *rows], ";")
    mixed = run(*command, "--before", "before.xlsx", "--read", "before:sheet=T,skip=1", "--decimal", ",")
    assert "The option 'decimal' applies to CSV files, but 'before.xlsx' is excel." in mixed.err
    two = run(*command, "--before", "plain/before.csv", "--read", "before:decimal=',',delimiter=','".replace("'", '"'))
    assert two.err == "sqlaudit: --decimal must be the same for all tables here. Write them with one sign.\n"
