"""A policy's `release:`: what lattice makes of it, what a test of the file finds, and what --save writes."""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import openpyxl.comments
import openpyxl.workbook.defined_name
import pyreadstat
import pytest
import yaml
from openpyxl.worksheet.datavalidation import DataValidation

import sqlaudit
from sqlaudit.gates.result import GateResult
from sqlaudit.models.phrases import ALL_NAMED
from tests.cli.runner import run
from tests.gates.conftest import Make
from tests.gates.test_schema import errors

ROWS = 240
K = 5
HIERARCHIES = """
      hierarchies:
        age: {widths: [5, 10, 20]}
        town: {values: {Bonn: [Rhine, West], Köln: [Rhine, West], Jena: [Saale, East], Halle: [Saale, East]}}
"""
POLICY = f"""
version: 1
tables:
  - file: people.csv
    quasi_identifiers: [age, town]
    sensitive: [illness]
    identifiers: [name]
    requirements: [k={K}]
    release:{HIERARCHIES}      levels: {{age: width 10, town: 1}}
      suppress: 10%
      to: release.csv
"""
TOWNS = {"Bonn": "Rhine", "Köln": "Rhine", "Jena": "Saale", "Halle": "Saale"}


def people(folder: Path) -> list[dict[str, str]]:
    """A table with names, ages with a thin tail, towns and illnesses, also as people.csv."""
    drawn = random.Random(4)
    rows = [
        {
            "name": f"person{number}@example.org",
            "age": str(min(89, int(20 + drawn.expovariate(1 / 18)))),
            "town": drawn.choice([*TOWNS]),
            "illness": drawn.choice(["flu", "cold", "=1+1", ""]),
        }
        for number in range(ROWS)
    ]
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)
    return rows


def generalized(rows: Sequence[dict[str, str]]) -> Counter[tuple[str, ...]]:
    """The release by hand: tens of years, the river of a town, groups of fewer than K left out, no names."""
    tens = [int(row["age"]) // 10 * 10 for row in rows]
    labels = [(f"[{ten}, {ten + 10})", TOWNS[row["town"]]) for ten, row in zip(tens, rows, strict=True)]
    sizes = Counter(labels)
    return Counter(
        (*label, row["illness"].replace("=1+1", "'=1+1"))
        for label, row in zip(labels, rows, strict=True)
        if sizes[label] >= K
    )


def lines(file: Path) -> list[list[str]]:
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.reader(opened))


def write_lines(file: Path, table: Sequence[Sequence[str]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened).writerows(table)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """The folder of a policy whose release was made."""
    people(tmp_path)
    (tmp_path / "p.yml").write_text(POLICY, encoding="utf-8")
    ran = run("lattice", "-f", tmp_path / "p.yml")
    assert ran.code == 0, ran.err
    return tmp_path


def outcomes(result: GateResult) -> dict[str, str]:
    return {test.requirement: test.outcome.value for test in result.tests}


def of_release(result: GateResult) -> Any:
    return next(test for test in result.tests if test.requirement.startswith("release"))


def test_the_release_is_the_one_that_the_policy_describes(tmp_path: Path) -> None:
    rows = people(tmp_path)
    (tmp_path / "p.yml").write_text(POLICY, encoding="utf-8")
    assert not errors(POLICY)
    ran = run("lattice", "-f", tmp_path / "p.yml")
    assert ran.code == 0, ran.err
    header, *released = lines(tmp_path / "release.csv")
    assert header == ["age", "town", "illness"]
    assert Counter(map(tuple, released)) == generalized(rows)
    assert 0 < ROWS - len(released) <= ROWS // 10
    result = sqlaudit.gate(tmp_path / "p.yml")
    assert set(outcomes(result).values()) == {"pass"}
    k = next(test for test in result.tests if test.requirement == f"k={K}")
    assert k.check is not None
    assert k.check.level == min(Counter(tuple(row[:2]) for row in released).values())
    assert (k.rows, [test.exit_code for test in result.tests]) == (len(released), [0, 0, 0])


def finer(table: list[list[str]]) -> None:
    table[1][0] = "[20, 25)"


def no_label(table: list[list[str]]) -> None:
    table[1][1] = "Bonn"


def other_label(table: list[list[str]]) -> None:
    table[1][1] = {"Rhine": "Saale", "Saale": "Rhine"}[table[1][1]]


def one_more(table: list[list[str]]) -> None:
    table.append(table[1])


def one_less(table: list[list[str]]) -> None:
    del table[1]


def one_twice(table: list[list[str]]) -> None:
    differing = next(row for row in table[2:] if row != table[1])
    table[1] = differing


def another_illness(table: list[list[str]]) -> None:
    table[1][2] = "plague"


def other_order(table: list[list[str]]) -> None:
    table[:] = [[row[1], row[0], *row[2:]] for row in table]


def with_names(table: list[list[str]]) -> None:
    table[:] = [[*row, "name" if at == 0 else f"person{at}@example.org"] for at, row in enumerate(table)]


def without_header(table: list[list[str]]) -> None:
    del table[0]


def renamed_column(table: list[list[str]]) -> None:
    table[0][0] = "Age"


def no_rows(table: list[list[str]]) -> None:
    del table[1:]


TAMPERED: list[tuple[Callable[[list[list[str]]], None], str]] = [
    (finer, "age: 1 cell that level 'width 10' does not give."),
    (no_label, "town: 1 cell that level"),
    (other_label, "1 row of the file is not in the policy's release, and 1 of its rows is not in the file."),
    (one_more, "1 row of the file is not in the policy's release, and 0 of its rows are"),
    (one_less, "0 rows of the file are not in the policy's release, and 1 of its rows is"),
    (one_twice, "1 row of the file is not"),
    (another_illness, "1 row of the file is not"),
    (other_order, "they are in another order"),
    (with_names, "it has 1 others"),
    (without_header, "it lacks age, town and illness"),
    (renamed_column, "it lacks age"),
    (no_rows, "0 rows of the file are not"),
]


@pytest.mark.parametrize(("tamper", "said"), TAMPERED, ids=[tamper.__name__ for tamper, _ in TAMPERED])
def test_a_changed_file_does_not_pass(
    made: Path, tamper: Callable[[list[list[str]]], None], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = lines(made / "release.csv")
    tamper(table)
    write_lines(made / "release.csv", table)
    result = sqlaudit.gate(made / "p.yml")
    assert of_release(result).outcome == "fail"
    assert said in of_release(result).message
    assert not any(test.outcome == "pass" for test in result.tests)
    ran = run("test", "-f", made / "p.yml", "--format", "json")
    assert ran.code == 1
    for value in ("[20, 25)", "plague", "person1@", "Saale", "[20, 30)"):
        assert value not in ran.out + ran.err


def test_the_order_of_rows_is_not_looked_at(made: Path) -> None:
    header, *rows = lines(made / "release.csv")
    write_lines(made / "release.csv", [header, *reversed(rows)])
    assert sqlaudit.gate(made / "p.yml").passed


@pytest.mark.parametrize("content", [None, b"", b"\x00\xff\xfe", "a folder"])
def test_what_cannot_be_read_is_an_error(made: Path, content: bytes | str | None) -> None:
    (made / "release.csv").unlink()
    if isinstance(content, bytes):
        (made / "release.csv").write_bytes(content)
    elif content:
        (made / "release.csv").mkdir()
    result = sqlaudit.gate(made / "p.yml")
    assert not result.passed
    assert not any(test.outcome == "pass" for test in result.tests)
    assert all(test.exit_code for test in result.tests)


def edited(folder: Path, old: str, new: str) -> GateResult:
    text = (folder / "p.yml").read_text(encoding="utf-8")
    assert old in text
    (folder / "p.yml").write_text(text.replace(old, new), encoding="utf-8")
    return sqlaudit.gate(folder / "p.yml")


def test_a_level_that_is_inserted_does_not_move_a_name(made: Path) -> None:
    assert edited(made, "widths: [5, 10, 20]", "widths: [5, 10, 20, 40]").passed
    assert edited(made, "widths: [5, 10, 20, 40]", "widths: [2, 10, 20, 40]").passed


def test_a_level_that_is_renamed_or_removed_is_named(made: Path) -> None:
    test = of_release(edited(made, "widths: [5, 10, 20]", "widths: [5, 20]"))
    assert test.outcome == "error"
    assert "'age' has no level 'width 10'." in test.message
    ran = run("lattice", "-f", made / "p.yml", "--force")
    assert (ran.code, "'age' has no level 'width 10'" in ran.err) == (2, True)


def test_a_level_with_other_labels_is_named(made: Path) -> None:
    test = of_release(edited(made, "Bonn: [Rhine,", "Bonn: [Elbe,"))
    assert test.outcome == "fail"
    assert "1 row" not in test.message
    test = of_release(edited(made, "age: {widths: [5, 10, 20]}", "age: {widths: [5, 10, 20], origin: 2}"))
    assert test.outcome == "fail"
    assert "age: " in test.message
    assert "that level 'width 10' does not give" in test.message


def test_a_number_that_means_another_level_now_does_not_pass(made: Path) -> None:
    test = of_release(edited(made, "town: 1}", "town: 2}"))
    assert test.outcome == "fail"
    assert "town: 2 cells that level" in test.message


def test_a_table_that_has_changed_since_does_not_pass(made: Path) -> None:
    with (made / "people.csv").open("a", encoding="utf-8", newline="") as file:
        file.write("new@example.org,21,Bonn,flu\r\n")
    assert "0 rows of the file are not" in of_release(sqlaudit.gate(made / "p.yml")).message


def test_levels_that_are_not_safe_make_no_release(tmp_path: Path) -> None:
    people(tmp_path)
    text = POLICY.replace("age: width 10", "age: 0").replace("town: 1", "town: 0")
    (tmp_path / "p.yml").write_text(text, encoding="utf-8")
    ran = run("lattice", "-f", tmp_path / "p.yml")
    assert (ran.code, (tmp_path / "release.csv").exists()) == (1, False)
    (tmp_path / "release.csv").write_text("age,town,illness\n1,Bonn,flu\n", encoding="utf-8")
    result = sqlaudit.gate(tmp_path / "p.yml")
    assert (
        outcomes(result)
        == {"release=release.csv": "fail", f"k={K}": "undetermined", "no direct identifier name": "undetermined"}
        or of_release(result).outcome == "fail"
    )
    assert "The policy makes no release" in of_release(result).message


def test_without_levels_those_that_lose_least_are_taken(tmp_path: Path) -> None:
    people(tmp_path)
    text = POLICY.replace("      levels: {age: width 10, town: 1}\n", "")
    (tmp_path / "p.yml").write_text(text, encoding="utf-8")
    (tmp_path / "h.yml").write_text("hierarchies:" + HIERARCHIES.partition(":")[2], encoding="utf-8")
    assert run("lattice", "-f", tmp_path / "p.yml").code == 0
    options = ["--qi", "age,town", "--sensitive", "illness", "--identifier", "name", "--require", f"k={K}"]
    options += ["--hierarchies", tmp_path / "h.yml", "--suppress", "10%"]
    assert run("lattice", tmp_path / "people.csv", *options, "--to", tmp_path / "again.csv").code == 0
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "release.csv").read_bytes()
    assert sqlaudit.gate(tmp_path / "p.yml").passed


def test_an_existing_release_is_replaced_with_force_only(made: Path) -> None:
    (made / "release.csv").write_text("mine\n", encoding="utf-8")
    ran = run("lattice", "-f", made / "p.yml")
    assert ran.code == 2
    assert "exists. Replace it with --force" in ran.err
    assert (made / "release.csv").read_text(encoding="utf-8") == "mine\n"
    assert run("lattice", "-f", made / "p.yml", "--dry-run").code == 0
    assert run("lattice", "-f", made / "p.yml", "--force").code == 0
    assert sqlaudit.gate(made / "p.yml").passed


@pytest.mark.parametrize("name", ["people.csv", "towns.csv", "ages.csv", "other.csv"])
def test_no_file_that_is_read_is_replaced(made: Path, name: str) -> None:
    (made / "towns.csv").write_text("Bonn;Rhine\nKöln;Rhine\nJena;Saale\nHalle;Saale\n", encoding="utf-8")
    (made / "ages.csv").write_text("1;2\n", encoding="utf-8")
    (made / "h.yml").write_text("hierarchies: {town: {csv: towns.csv}, age: {csv: ages.csv}}\n", encoding="utf-8")
    people(made)
    (made / "people.csv").rename(made / "other.csv")
    people(made)
    text = POLICY.replace(HIERARCHIES, "\n      hierarchies: h.yml\n").replace("to: release.csv", f"to: {name}")
    text += "  - {file: other.csv, quasi_identifiers: [age], requirements: [k=1], release: {to: x.csv}}\n"
    (made / "p.yml").write_text(text, encoding="utf-8")
    before = (made / name).read_bytes()
    ran = run("lattice", "-f", made / "p.yml", "--select", "people.csv", "--force")
    assert ran.code == 2
    assert "is an input" in ran.err
    assert (made / name).read_bytes() == before


REFUSED = [
    (["-f", "p.yml", "people.csv"], "Leave out TARGET."),
    (["-f", "p.yml", "--qi", "age", "--suppress", "0"], "Leave out --qi, --suppress."),
    (["-f", "p.yml", "--to", "x.csv"], "Leave out --to."),
    (["-f", "p.yml", "--save", "x.yml"], "-f and --save exclude each other"),
    (["-f", "p.yml", "--select", "nobody"], "matches no test"),
    (["-f", "none.yml"], "cannot be read"),
    (["--select", "people.csv"], "--select needs -f"),
    (["people.csv", "--qi", "age", "--require", "k=2", "--force"], "--force needs -f or --save"),
    (["people.csv", "--qi", "age", "--require", "k=2", "--save", "p.yml"], "exists. Replace it with --force"),
    (["people.csv", "--qi", "age", "--require", "k=2", "--save", "x.txt"], "must end in .yml or .yaml"),
    (["people.csv", "--qi", "age", "--require", "k=2", "--save", "x.yml", "--to", "x.sql"], "whose rows are in a file"),
    (["--query", "SELECT 1 AS age", "--qi", "age", "--require", "k=2", "--save", "x.yml"], "needs a file, or --db"),
]


@pytest.mark.parametrize(("arguments", "said"), REFUSED)
def test_what_does_not_go_together_is_refused(
    made: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(made)
    names = {path.name for path in made.iterdir()}
    ran = run("lattice", *arguments)
    assert ran.code == 2
    assert said in ran.err
    assert {path.name for path in made.iterdir()} == names


MISTAKES = [
    ("age: width 10, town: 1", "aeg: width 10", "'aeg' is not a quasi-identifier of this table. Did you mean 'age'?"),
    ("to: release.csv", "to: release.sql", "'to' must end in"),
    ("suppress: 10%", "supress: 10%", "has no key 'supress'"),
    ("suppress: 10%", "suppress: 110%", "'suppress'"),
    (f"requirements: [k={K}]", "requirements: [{k: 5, error_if: '> 1%'}]", "has a threshold"),
    (f"requirements: [k={K}]", "requirements: [{l: 2, sensitive: illness}]", "is for some sensitive columns"),
    (f"requirements: [k={K}]", "requirements: [k=5, {loss: {original: x, measure: ncp, at_most: 1}}]", "not searched"),
    (f"requirements: [k={K}]", "requirements: [{k: 5, severity: warn}]", "only warn"),
    (f"requirements: [k={K}]", "requirements: [k=5, delta_presence=0.5]", ""),
    ("widths: [5, 10, 20]", "widths: [5, 12, 20]", "width 12 is not a multiple"),
    ("    release:\n", "    release: release.csv\n    x-y:\n", "must be a mapping"),
]


@pytest.mark.parametrize(("old", "new", "said"), MISTAKES)
def test_mistakes_are_told_with_their_line(made: Path, old: str, new: str, said: str) -> None:
    result = edited(made, old, new)
    assert not result.passed
    assert not any(test.outcome == "pass" for test in result.tests)
    messages = " ".join([*(mistake.message for mistake in result.mistakes), *(test.message for test in result.tests)])
    assert said in messages
    assert all(mistake.place.line for mistake in result.mistakes)
    ran = run("lattice", "-f", made / "p.yml", "--force")
    assert ran.code == 2
    assert said in " ".join(ran.err.split())


def test_a_column_without_a_level_is_searched(made: Path) -> None:
    (made / "h.yml").write_text("hierarchies:" + HIERARCHIES.partition(":")[2], encoding="utf-8")
    options = ["--qi", "age,town", "--sensitive", "illness", "--identifier", "name", "--require", f"k={K}"]
    options += ["--hierarchies", made / "h.yml", "--suppress", "10%", "--level", "town=1"]
    assert run("lattice", made / "people.csv", *options, "--to", made / "again.csv").code == 0
    edited(made, "age: width 10, town: 1", '"TOWN": 1')
    assert run("lattice", "-f", made / "p.yml", "--force").code == 0
    assert (made / "release.csv").read_bytes() == (made / "again.csv").read_bytes()
    assert sqlaudit.gate(made / "p.yml").passed
    text = POLICY.replace("age: {widths: [5, 10, 20]}", "age: drop")
    (made / "p.yml").write_text(text, encoding="utf-8")
    assert "levels: 'age' is not a column of the search." in of_release(sqlaudit.gate(made / "p.yml")).message


def test_statements_for_warehouses_say_what_they_do_not_check(made: Path) -> None:
    ran = run("compile", "--dialect", "snowflake", "-f", made / "p.yml")
    assert ran.code == 1
    assert "it is about the release of its table" in ran.err
    assert "SELECT" not in ran.out


def test_the_source_is_in_a_database(database: Make) -> None:
    drawn = random.Random(1)
    rows = [
        {"age": drawn.randrange(20, 60), "sex": drawn.choice("fm"), "illness": drawn.choice(["flu", "cold"])}
        for _ in range(200)
    ]
    made = database({"people": rows})
    policy = made.policy("""
tables:
  - table: "{schema}.people"
    name: people
    quasi_identifiers: [age, sex]
    sensitive: [illness]
    requirements: [k=5, l=2]
    release:
      hierarchies: {age: {widths: [5, 10]}}
      levels: {age: width 10, sex: 0}
      to: out.parquet
""")
    ran = run("lattice", "-f", policy)
    assert ran.code == 0, ran.err
    import duckdb

    found = duckdb.sql(f"SELECT age, sex, illness FROM '{policy.parent / 'out.parquet'}'").fetchall()
    expected = [(f"[{r['age'] // 10 * 10}, {r['age'] // 10 * 10 + 10})", r["sex"], r["illness"]) for r in rows]  # type: ignore[operator]
    assert Counter(found) == Counter(expected)
    assert sqlaudit.gate(policy).passed
    duckdb.sql(f"FROM '{policy.parent / 'out.parquet'}' LIMIT 199").write_parquet(str(policy.parent / "out.parquet"))
    assert of_release(sqlaudit.gate(policy)).outcome == "fail"


# What --save writes.


def saved_and_made_again(folder: Path, source: Path, *options: object, to: str = "out.csv") -> dict[str, Any]:
    """Make a release and its policy, make it again from the policy, test it; return the policy."""
    policy, release = folder / "saved.yml", folder / to
    ran = run("lattice", source, *options, "--to", release, "--save", policy)
    assert ran.code == 0, ran.err
    first = release.read_bytes()
    release.unlink()
    ran = run("lattice", "-f", policy)
    assert ran.code == 0, ran.err
    assert release.read_bytes() == first
    result = sqlaudit.gate(policy)
    assert result.passed, [test.message for test in result.tests]
    written: dict[str, Any] = yaml.safe_load(policy.read_text(encoding="utf-8"))
    assert not errors(policy.read_text(encoding="utf-8"))
    return written["tables"][0]  # type: ignore[no-any-return]


def test_the_demo_is_saved_and_made_again(tmp_path: Path) -> None:
    assert run("demo", "--save", tmp_path / "injury.csv").code == 0
    options = ("--qi", "age,male,prewage", "--sensitive", "injtype", "--require", "k=5", "--suppress", "2%")
    table = saved_and_made_again(tmp_path, tmp_path / "injury.csv", *options)
    assert table["file"] == "injury.csv"
    assert table["requirements"] == ["k=5"]
    assert table["release"]["suppress"] == "2%"
    assert table["release"]["levels"]["age"] == "10 years"


ODD = ["Alter (J.)", "Straße, Ort", 'der "Beruf"', " Rand ", "level:s #1", "yes", "😀"]


@pytest.mark.parametrize("suppressed", ["drop", "star"])
def test_odd_names_of_a_workbook_are_saved_and_made_again(tmp_path: Path, suppressed: str) -> None:
    drawn = random.Random(2)
    book = openpyxl.Workbook()
    sheet = book.create_sheet("Daten 2025, #1")
    sheet.append(ODD)
    for _ in range(300):
        words = [drawn.choice([f"{name}{end}" for end in "abc"]) for name in ODD[1:]]
        sheet.append([drawn.randrange(20, 70), *words])
    book.active.append(["not this"])
    book.save(tmp_path / "odd names.xlsx")
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in ODD[:5])
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "towns.csv").write_text(
        "".join(f"Straße, Ort{end};{label}\n" for end, label in zip("abc", ("x", "'=y", "'=y"), strict=True)),
        encoding="utf-8",
    )
    hierarchies = {
        "Alter (J.)": {"widths": [5, 10], "low": 25, "high": 60},
        "Straße, Ort": {"csv": "towns.csv"},
        'der "Beruf"': {"tree": {"yes": ['der "Beruf"a'], "no: 1": ['der "Beruf"b', 'der "Beruf"c']}},
    }
    text = yaml.safe_dump({"hierarchies": hierarchies}, allow_unicode=True)
    (tmp_path / "sub" / "h.yml").write_text(text, encoding="utf-8")
    options = [
        "--sheet",
        "Daten 2025, #1",
        "--qi",
        quoted,
        "--sensitive",
        '"yes"',
        "--require",
        "k=4",
        "--suppress",
        "30%",
    ]
    options += ["--hierarchies", tmp_path / "sub" / "h.yml", "--suppressed", suppressed]
    options += ["--where", "\"Alter (J.)\" < 69 AND 'it''s' <> \"😀\""]
    table = saved_and_made_again(tmp_path, tmp_path / "odd names.xlsx", *options, to="Straße 1.csv")
    assert table["read"] == {"sheet": "Daten 2025, #1"}
    assert table["release"]["hierarchies"][
        '"Straße, Ort"' if '"Straße, Ort"' in table["release"]["hierarchies"] else "Straße, Ort"
    ] == {"csv": "sub/towns.csv"}


ROUND_TRIPS: list[list[str]] = [
    ["--qi", "(age // 2),town", "--identifier", "name,age", "--require", "k=4", "--suppress", "7.5%"],
    ["--qi", "age,town", "--entity", "name", "--known-rows", "one", "--require", "k=4", "--suppress", "1/9"],
    ["--qi", "age,town", "--keep-column", "name", "--require", "k=4", "--hierarchies", "folder"],
    ["--qi", "age,town", "--identifier", "name", "--require", "k=4", "--nulls", "distinct", "--null-values", '"",Jena'],
    [
        "--qi",
        "age,town",
        "--identifier",
        "name",
        "--require",
        "k=3",
        "--sampling-fraction",
        "0.25",
        "--measure",
        "entropy",
    ],
    ["--qi", "age,town", "--identifier", "name", "--require", "pd_recursive_l=c:9,l:2", "--inputs", "inputs.yml"],
    ["--qi", "age,town", "--identifier", "name", "--require", "k=2", "--require", "disclosure@1=1", "--level", "age=*"],
    ["--qi", "age,town", "--identifier", "name", "--preset", "ema-0070", "--where", "age < 60 AND town <> 'it''s'"],
]


@pytest.mark.parametrize("options", ROUND_TRIPS, ids=lambda options: " ".join(options[:6]))
def test_a_search_is_saved_and_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]) -> None:
    people(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "x_town.csv").write_text("Bonn;W\nKöln;W\nJena;E\nHalle;E\n", encoding="utf-8")
    (tmp_path / "inputs.yml").write_text("dont_care: [cold]\n", encoding="utf-8")
    (tmp_path / "policies").mkdir()
    monkeypatch.chdir(tmp_path)
    table = saved_and_made_again(tmp_path / "policies", Path("people.csv"), "--sensitive", "illness", *options)
    assert table["file"] == "../people.csv"
    if "folder" in options:
        assert table["release"]["hierarchies"]["town"] == {"csv": "../folder/x_town.csv"}


def test_a_table_of_a_database_is_saved_and_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import duckdb

    people(tmp_path)
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("d.duckdb") as db:
        db.execute("CREATE TABLE \"My people\" AS FROM 'people.csv'")
    common = ("--db", "d.duckdb", "--qi", "age,town", "--identifier", "name", "--require", "k=4", "--suppress", "10%")
    table = saved_and_made_again(tmp_path, Path('"My people"'), *common, to="out.parquet")
    assert table["table"] == '"My people"'
    (tmp_path / "saved.yml").unlink()
    query = 'SELECT age, town FROM "My people" WHERE age <> 30'
    arguments = ["--query", query, *common[:4], *common[6:], "--to", "query.csv", "--save", "saved.yml"]
    assert run("lattice", *arguments).code == 0
    assert sqlaudit.gate("saved.yml").passed


def test_without_a_file_there_is_nothing_to_test(tmp_path: Path) -> None:
    people(tmp_path)
    options = ["--qi", "age,town", "--identifier", "name", "--require", "k=4", "--suppress", "10%"]
    ran = run("lattice", tmp_path / "people.csv", *options, "--save", tmp_path / "p.yml")
    assert ran.code == 0, ran.err
    assert run("lattice", "-f", tmp_path / "p.yml").code == 0
    test = of_release(sqlaudit.gate(tmp_path / "p.yml"))
    assert (test.outcome, test.exit_code) == ("error", 2)
    assert "'release' has no 'to'" in test.message


def test_nothing_is_saved_when_no_node_is_safe(tmp_path: Path) -> None:
    people(tmp_path)
    options = ["--qi", "age,town", "--identifier", "name", "--require", "k=9999", "--to", tmp_path / "x.csv"]
    ran = run("lattice", tmp_path / "people.csv", *options, "--save", tmp_path / "p.yml")
    assert ran.code == 1
    assert "was not written: no node is safe" in ran.err
    assert not (tmp_path / "p.yml").exists()


def test_the_files_of_a_folder_of_hierarchies_are_not_replaced(tmp_path: Path) -> None:
    people(tmp_path)
    (tmp_path / "folder").mkdir()
    hierarchy = tmp_path / "folder" / "x_town.csv"
    hierarchy.write_text("Bonn;W\nKöln;W\nJena;E\nHalle;E\n", encoding="utf-8")
    options = ["--qi", "age,town", "--identifier", "name", "--require", "k=4", "--hierarchies", tmp_path / "folder"]
    ran = run("lattice", tmp_path / "people.csv", *options, "--to", hierarchy)
    assert ran.code == 2
    assert "is an input" in ran.err
    assert hierarchy.read_text(encoding="utf-8").startswith("Bonn;W")


def test_one_of_several_releases_is_chosen_by_its_name(made: Path) -> None:
    text = POLICY.replace("to: release.csv", "to: b.csv").replace(
        "file: people.csv", "name: my people\n    file: people.csv"
    )
    (made / "p.yml").write_text(POLICY + text.partition("tables:\n")[2], encoding="utf-8")
    ran = run("lattice", "-f", made / "p.yml", "--force")
    assert ran.code == 2
    assert "has several releases: people.csv, my people. Choose one with --select." in ran.err
    assert run("lattice", "-f", made / "p.yml", "--select", "my people").code == 0
    assert (made / "b.csv").read_bytes() == (made / "release.csv").read_bytes()


@pytest.mark.parametrize("to", ["release.csv", "./release.csv", "x/../release.csv"])
def test_two_releases_in_one_file_are_refused(made: Path, to: str) -> None:
    text = POLICY.replace("to: release.csv", f"to: {to}").replace(
        "- file: people.csv", "- file: people.csv\n    name: b"
    )
    (made / "p.yml").write_text(POLICY + text.partition("tables:\n")[2], encoding="utf-8")
    before = (made / "release.csv").read_bytes()
    said = "has the same 'to' as that of"
    for words in (["test"], ["lattice", "--select", "b", "--force"], ["lattice", "--force"]):
        ran = run(words[0], "-f", made / "p.yml", *words[1:])
        assert (ran.code, said in f"{ran.said} {ran.err}") == (2, True), ran
    assert (made / "release.csv").read_bytes() == before


def test_tables_of_people_are_not_joined(made: Path) -> None:
    text = POLICY.replace("version: 1\n", "version: 1\npersons: [{file: x.csv, entity: name}]\n")
    (made / "p.yml").write_text(text, encoding="utf-8")
    assert "write 'persons: false'" in sqlaudit.gate(made / "p.yml").mistakes[0].message
    (made / "p.yml").write_text(text.replace("  - file", "  - persons: false\n    file"), encoding="utf-8")
    assert {test.outcome for test in sqlaudit.gate(made / "p.yml").tests} == {"pass"}


def test_no_report_replaces_a_release(made: Path) -> None:
    before = (made / "release.csv").read_bytes()
    ran = run("test", "-f", made / "p.yml", "--report", made / "release.csv")
    assert ran.code == 2
    with pytest.raises(sqlaudit.UsageError, match="is an input"):
        sqlaudit.gate(made / "p.yml", history=made / "release.csv")
    assert (made / "release.csv").read_bytes() == before


def test_a_policy_without_releases_says_so(made: Path) -> None:
    (made / "p.yml").write_text(POLICY.partition("    release:")[0], encoding="utf-8")
    ran = run("lattice", "-f", made / "p.yml")
    assert ran.code == 2
    assert "there is no section 'release' (people.csv)" in ran.err


def test_columns_without_a_role_are_looked_for_in_the_release(made: Path) -> None:
    (made / "p.yml").write_text(POLICY.replace("    sensitive: [illness]\n", "    all_columns_named: true\n"), "utf-8")
    assert run("lattice", "-f", made / "p.yml", "--force").code == 0
    assert outcomes(sqlaudit.gate(made / "p.yml"))[ALL_NAMED] == "fail"
    text = (made / "p.yml").read_text(encoding="utf-8")
    (made / "p.yml").write_text(text.replace("    all_col", "    insensitive: [illness]\n    all_col"), "utf-8")
    assert sqlaudit.gate(made / "p.yml").passed


def test_a_baseline_from_before_there_were_releases_still_holds(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,sex\n1,f\n1,f\n2,m\n", encoding="utf-8")
    table = "{file: people.csv, quasi_identifiers: [age, sex], requirements: [k=2]}"
    (tmp_path / "p.yml").write_text(f"version: 1\ntables:\n  - {table}\n", encoding="utf-8")
    asked = "400ed594d5d1d11b6b40566b902d9f70b46c46687ad6a2bb6d903f2b19b608a2"  # of version 1.0.0
    assert sqlaudit.gate(tmp_path / "p.yml").tests[0].asked == asked


def test_a_baseline_of_another_release_does_not_hold(made: Path) -> None:
    before = [test.asked for test in sqlaudit.gate(made / "p.yml").tests]
    after = [test.asked for test in edited(made, "suppress: 10%", "suppress: 11%").tests]
    assert not {*before} & {*after}


# Releases of Excel, SPSS and Stata: what a file has beside its cells


@pytest.fixture
def office(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A release as a file of Excel, SPSS or Stata, whose policy passes."""
    people(tmp_path)
    text = POLICY.replace("release.csv", f"release.{request.param}")
    (tmp_path / "p.yml").write_text(text, encoding="utf-8")
    ran = run("lattice", "-f", tmp_path / "p.yml")
    assert ran.code == 0, ran.err
    assert sqlaudit.gate(tmp_path / "p.yml").passed
    return tmp_path / f"release.{request.param}"


def with_hidden_sheet(book: Any) -> None:
    book.create_sheet("names").sheet_state = "hidden"


def with_comment(book: Any) -> None:
    book.active["A2"].comment = openpyxl.comments.Comment("person1", "someone")


def with_footer(book: Any) -> None:
    book.active.oddFooter.center.text = "person1"


def with_name(book: Any) -> None:
    book.defined_names["person1"] = openpyxl.workbook.defined_name.DefinedName("person1", attr_text='"x"')


def with_list(book: Any) -> None:
    book.active.add_data_validation(DataValidation(type="list", formula1='"person1,person2"', sqref="A2"))


@pytest.mark.parametrize("office", ["xlsx"], indirect=True)
def test_a_workbook_has_nothing_beside_its_cells(office: Path) -> None:
    policy = office.parent / "p.yml"
    openpyxl.load_workbook(office).save(office)  # saved by another program, but the same cells
    assert sqlaudit.gate(policy).passed
    saved = office.read_bytes()
    for change in (with_hidden_sheet, with_comment, with_footer, with_name, with_list):
        office.write_bytes(saved)
        book = openpyxl.load_workbook(office)
        change(book)
        book.save(office)
        found = of_release(sqlaudit.gate(policy))
        assert (change.__name__, found.outcome) == (change.__name__, "fail")
        assert "contents beside the cells of one sheet, such as comments, names or hidden sheets" in found.message
        assert "person1" not in found.message


@pytest.mark.parametrize("office", ["sav", "dta"], indirect=True)
def test_labels_and_notes_of_others_are_found(office: Path) -> None:
    is_spss = office.suffix == ".sav"
    read = pyreadstat.read_sav if is_spss else pyreadstat.read_dta
    write = pyreadstat.write_sav if is_spss else pyreadstat.write_dta
    rows, about = read(str(office))
    write(rows, str(office), column_labels=about.column_labels)
    assert sqlaudit.gate(office.parent / "p.yml").passed
    write(rows, str(office), column_labels=["person1", *about.column_labels[1:]])
    found = of_release(sqlaudit.gate(office.parent / "p.yml"))
    assert (found.outcome, "labels of age that the policy's release has not" in found.message) == ("fail", True)
    write(rows, str(office), column_labels=about.column_labels, file_label="of person1")
    assert "The file has a title or notes." in of_release(sqlaudit.gate(office.parent / "p.yml")).message
