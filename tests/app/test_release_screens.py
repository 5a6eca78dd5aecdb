"""Levels and release in the window: figures by an own count, files that are new, and what is never shown or written."""

from __future__ import annotations

import csv
import random
import re
import shutil
from collections import Counter
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pyreadstat
import pytest

from sqlaudit.app import release_tasks
from sqlaudit.app.jobs import JobQueue
from sqlaudit.app.project import read_project
from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import only_new_files, replacing, write_text
from sqlaudit.gates.result import Connection, Place
from tests.app.conftest import Person, opened
from tests.app.tables import write_survey
from tests.cli.runner import run

KNOWN, HIDDEN, NAMES, NEITHER = "quasi_identifiers", "sensitive", "identifiers", "insensitive"
TOWN, ILL = "Kleinzellhausen", "Morbus Wernher"
ROLES = {"nr": NAMES, "age": KNOWN, "town": KNOWN, "ill": HIDDEN, "hours": NEITHER}
WIDTHS = {"unchanged": 1, "5 years": 5, "10 years": 10, "20 years": 20, "40 years": 40, "*": 1000}


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A table of 300 people, some alone with their age or town."""
    generator = random.Random(5)
    towns = [*(["Linz"] * 6), *(["Graz"] * 3), "Wels", TOWN]
    with (tmp_path / "people.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["nr", "age", "town", "ill", "hours"])
        for row in range(300):
            ill = generator.choice(["flu", "cold", ILL])
            age = min(int(generator.gammavariate(9, 4)) + 16, 89)
            writer.writerow([f"p{row}", age, generator.choice(towns), ill, generator.randint(1, 9)])
    return tmp_path / "people.csv"


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


def left_out(file: Path, width: int, with_town: bool, k: int = 5) -> tuple[int, int]:
    """Count the rows in groups below k, and the smallest other group, with ages in bands."""
    groups = Counter((int(row["age"]) // width, row["town"] if with_town else "") for row in rows_of(file))
    return sum(n for n in groups.values() if n < k), min(n for n in groups.values() if n >= k)


def text_of(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.partition("<main")[2])).split())


def choose(person: Person, file: Path, roles: dict[str, str] = ROLES, k: int = 5) -> str:
    """Go from a file to the fourth screen."""
    person.post("/file", {"path": str(file)})
    person.post("/read", {"use": "1"})
    person.decide(**roles)
    return person.post("/requirement", {"size": str(k), "use": "1"}, "/verdict")


def levels(person: Person, **fields: str) -> str:
    return person.post("/levels", fields, "/safe")


def write(person: Person, file: Path, **fields: str) -> str:
    form = {"type": file.suffix, "path": str(file), "paper-project": "on", "use": "1", **fields}
    return person.post("/write", form, "/release")


def pill(page: str) -> str:
    found = re.search(r'id="pill">[✓✗] ([^<]*)<', page)
    return found[1] if found else ""


def test_each_level_has_the_figures_of_an_own_count(person: Person, people: Path) -> None:
    page = choose(person, people)
    assert "How much detail do the readers need?" in page
    for number, width in enumerate(WIDTHS.values()):
        for town in (0, 1):
            page = levels(person, **{"level-0": str(number), "level-1": str(town)})
            rows, smallest = left_out(people, width, not town)
            said = re.search(r"Smallest group 1 row ([0-9]+) rows .* Rows left out – ([0-9]+)", text_of(page))
            assert said is not None
            assert (int(said[2]), int(said[1])) == (rows, smallest), (width, town)
            assert pill(page) == ("Safe" if rows <= 6 else "Not safe")
            is_disabled = "disabled" in page.partition('class="primary"')[2].partition(">")[0]
            assert is_disabled is (rows > 6)


def test_a_release_is_what_the_screen_said(person: Person, people: Path) -> None:
    before = people.read_bytes()
    choose(person, people)
    levels(person, **{"level-0": "3", "level-1": "1"})
    page = levels(person, use="1")
    assert "The release meets your requirement" in page
    assert "nr removed, because it names people" in text_of(page)
    assert "age 20 years, such as [0, 20)" in text_of(page)
    file = people.parent / "out.xlsx"
    page = write(person, file, **{"paper-report": "on"})
    assert f"Written: {file}" in text_of(page)
    assert person.window.footer == "Written: people.sqlaudit.yml, out.xlsx and out.html."
    names, *rows = openpyxl.load_workbook(file).active.iter_rows(values_only=True)
    assert names == ("age", "town", "ill", "hours")
    groups = Counter(row[:2] for row in rows)
    assert len(rows) == 300 - left_out(people, 20, False)[0]
    assert min(groups.values()) == left_out(people, 20, False)[1] >= 5
    assert {town for _, town in groups} == {"*"}
    policy = people.parent / "people.sqlaudit.yml"
    assert f"sqlaudit lattice -f {policy} --force" in text_of(page)
    written = file.read_bytes()
    assert run("lattice", "-f", policy, "--force").code == 0
    assert file.read_bytes() == written
    tested = run("test", "-f", policy)
    assert tested.code == 0, tested.out
    assert people.read_bytes() == before
    assert not [path for path in people.parent.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".sav", ".dta"])
def test_the_command_makes_the_same_bytes(person: Person, people: Path, ending: str) -> None:
    choose(person, people)
    levels(person, use="1")
    file = people.parent / f"release{ending}"
    assert "Written:" in write(person, file)
    written = file.read_bytes()
    file.unlink()
    assert run("lattice", "-f", people.parent / "people.sqlaudit.yml").code == 0
    assert file.read_bytes() == written


def test_a_project_is_reopened_with_its_levels(person: Person, people: Path) -> None:
    choose(person, people)
    levels(person, **{"level-0": "2", "level-1": "1", "share": "5"})
    project = person.window.history.project
    (people.parent / "kept").mkdir()
    person.post("/save", {"path": str(people.parent / "kept" / "a.yml")}, "/safe")
    person.post("/other", {})
    person.post("/file", {"path": str(people.parent / "kept" / "a.yml")})
    again = person.window.history.project
    assert (again.release, again.roles, again.file) == (project.release, project.roles, project.file)
    assert again.release["levels"] == {"age": "10 years", "town": "*"}
    assert again.release["to"] == str(people.parent / "people_release.csv")
    assert 'value="5" required' in person.get("/safe")


def test_levels_of_a_policy_are_those_that_are_shown(person: Person, people: Path) -> None:
    text = """version: 1
tables:
- file: people.csv
  quasi_identifiers: [age, town]
  identifiers: [nr]
  sensitive: [ill]
  insensitive: [hours]
  requirements: [k=5]
  release: {levels: {age: 3, town: "*"}, suppress: 10%, to: out.csv}
"""
    file = people.parent / "mine.yml"
    file.write_text(text, encoding="utf-8")
    person.post("/file", {"path": str(file)})
    page = text_of(person.get("/safe"))
    rows, smallest = left_out(people, 20, False)
    assert f"Smallest group 1 row {smallest} rows" in page
    assert f"Rows left out – {rows}" in page
    assert "does not name a level" not in page
    file.write_text(text.replace("age: 3", "age: 5 years").replace('town: "*"', "town: unchanged, ill: 1"), "utf-8")
    assert "'ill' is not a" in text_of(person.post("/file", {"path": str(file)}))
    file.write_text(text.replace("age: 3, ", ""), encoding="utf-8")
    person.post("/file", {"path": str(file)})
    assert "does not name a level of each column" in text_of(person.get("/safe"))


def test_changes_are_undone(person: Person, people: Path) -> None:
    choose(person, people)
    levels(person, **{"level-0": "2", "level-1": "1"})
    page = levels(person, **{"level-0": "4"})
    assert "Undo: age 40 years, such as [0, 40)" in unescape(page)
    shown = text_of(page)
    page = levels(person, share="0")
    assert "Undo: 0% may be left out" in page
    assert "% of the rows: 0" in text_of(page)
    assert text_of(person.post("/undo", {}, "/safe")) == shown
    assert "Redo: 0% may be left out" in person.get("/safe")
    page = person.post("/redo", {}, "/safe")
    assert 'value="0" required' in page


def test_a_share_that_is_none_is_refused(person: Person, people: Path) -> None:
    choose(person, people)
    release = person.window.history.project.release
    for text in ("", "-1", "101", "2.5.1", "nan", "1e2", "½", "2%%", "9" * 400):
        assert "Type how many percent of the rows" in levels(person, share=text)
        assert person.window.history.project.release == release


def test_no_verdict_stands_beside_levels_of_which_none_is_known(
    person: Person, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(person, people)
    page = levels(person, **{"level-0": "3", "level-1": "1"})
    assert pill(page) == "Safe"
    asked = JobQueue.result

    def never(jobs: JobQueue, job: dict[str, Any]) -> object:
        return None if job["task"] == "combination" else asked(jobs, job)

    monkeypatch.setattr(JobQueue, "result", never)
    form = {"version": str(person.window.history.number), "page": "/safe", "level-0": "0"}
    person.client.post("/levels", data=form, headers={"origin": person.origin}, follow_redirects=False)
    page = person.client.get("/safe").text
    assert pill(page) == ""
    assert "Checking these levels" in page
    assert "Safe: " not in page
    assert "disabled" in page.partition('class="primary"')[2].partition(">")[0]


def test_no_file_is_replaced(person: Person, people: Path) -> None:
    choose(person, people)
    levels(person, use="1")
    before = people.read_bytes()
    for name in ("people.csv", "taken.csv"):
        (people.parent / "taken.csv").write_text("mine", encoding="utf-8")
        page = text_of(write(person, people.parent / name))
        assert "exists already, and no file is replaced" in page
    (people.parent / "new.html").write_text("mine", encoding="utf-8")
    assert "new.html" in text_of(write(person, people.parent / "new.csv", **{"paper-report": "on"}))
    (people.parent / "link.csv").symlink_to("nowhere.csv")
    assert "exists already" in text_of(write(person, people.parent / "link.csv", **{"paper-project": ""}))
    assert people.read_bytes() == before
    assert (people.parent / "taken.csv").read_text(encoding="utf-8") == "mine"
    names = {path.name for path in people.parent.iterdir()}
    assert names == {"people.csv", "taken.csv", "new.html", "link.csv"}
    assert person.window.footer == "Nothing has been written."


def test_a_project_of_another_table_is_not_replaced(person: Person, people: Path) -> None:
    choose(person, people)
    levels(person, use="1")
    other = people.with_name("other.csv")
    other.write_bytes(people.read_bytes())
    choose(person, other)
    person.post("/save", {"path": "other.sqlaudit.yml"}, "/verdict")
    saved = people.with_name("other.sqlaudit.yml").read_bytes()
    while person.window.history.project.file != str(people) or not person.window.history.project.release:
        person.post("/undo", {}, "/columns")
    assert "Written:" in text_of(write(person, people.with_name("out.csv")))
    assert people.with_name("other.sqlaudit.yml").read_bytes() == saved
    assert people.with_name("people.sqlaudit.yml").is_file()


def test_a_file_that_comes_while_another_is_written_stays(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"

    def race() -> None:
        with only_new_files(), replacing(file) as temporary:
            temporary.write_text("ours", encoding="utf-8")
            file.write_text("theirs", encoding="utf-8")

    with pytest.raises(UsageError, match="exists already"):
        race()
    assert file.read_text(encoding="utf-8") == "theirs"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    with pytest.raises(UsageError, match="File name too long"):
        write_text(tmp_path / ("x" * 300), "ours")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    write_text(file, "ours")  # where replacing is meant, it replaces
    assert file.read_text(encoding="utf-8") == "ours"


def policy(file: Path, **release: object) -> dict[str, Any]:
    table = {"file": str(file), "quasi_identifiers": ["age", "town"], "identifiers": ["nr"], "requirements": ["k=5"]}
    return {"version": 1, "tables": [{**table, "insensitive": ["ill", "hours"], "release": release}]}


def test_a_release_that_fails_its_own_audit_is_not_there(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = people.parent / "out.csv"
    finest = policy(people, levels={"age": "unchanged", "town": "unchanged"})
    with opened(people) as table, pytest.raises(UsageError, match="nothing was written"):
        release_tasks.write(table, finest, str(file), "")
    assert not file.exists()
    sound, publish = policy(people, levels={"age": "*", "town": "*"}), release_tasks.search_and_publish

    def failing(*arguments: Any) -> Any:
        result = publish(*arguments)
        assert result.published is not None
        assert result.published.audit is not None
        assert file.exists()
        return replace(
            result, published=replace(result.published, audit=replace(result.published.audit, status="fail"))
        )

    monkeypatch.setattr(release_tasks, "search_and_publish", failing)
    with opened(people) as table, pytest.raises(UsageError, match="nothing was written"):
        release_tasks.write(table, sound, str(file), "")
    assert not file.exists()


def test_a_file_that_changes_before_it_is_written_is_checked_again(person: Person, people: Path) -> None:
    choose(person, people)
    levels(person, **{"level-0": "5", "level-1": "0"})
    assert "The release meets" in levels(person, use="1")
    with people.open("a", encoding="utf-8") as file:
        file.writelines(f"q{row},40,Only{row},flu,1\n" for row in range(30))
    page = text_of(write(person, people.parent / "out.csv"))
    assert "Written" not in page.replace("Nothing has been written", "")
    assert not (people.parent / "out.csv").exists()
    assert "do not meet your requirement" in page
    assert pill(person.get("/safe")) == "Not safe"


def test_values_are_shown_when_a_person_asks_and_no_longer(person: Person, people: Path) -> None:
    choose(person, people)
    levels(person, **{"level-0": "3", "level-1": "0", "share": "30"})
    pages = [person.get(path) for path in ("/safe", "/verdict", "/columns", "/help")]
    page = person.post("/labels", {"column": "town", "level": "unchanged"}, "/safe")
    assert TOWN in text_of(page)
    assert TOWN not in str(person.client.get("/safe").url)
    pages += [person.get("/verdict"), person.get("/safe")]
    person.post("/labels", {"column": "town", "level": "unchanged"}, "/safe")
    pages.append(levels(person, **{"level-0": "4"}))
    person.post("/labels", {"column": "town", "level": "unchanged"}, "/safe")
    pages += [person.post("/labels", {}, "/safe"), levels(person, use="1")]
    pages.append(write(person, people.parent / "out.csv"))
    assert "Written" in pages[-1]
    for page in pages:
        assert TOWN not in page
        assert ILL not in page
        assert "p299" not in page


def test_screens_speak_the_officers_words(person: Person, people: Path) -> None:
    pages = [choose(person, people), levels(person, use="1"), write(person, people.parent / "out.csv")]
    for page in pages:
        shown = re.sub(r"<code.*?</code>", "", page)  # commands have theirs
        said = " ".join([text_of(shown), *re.findall(r'(?:aria-label|title|placeholder)="([^"]*)"', shown)])
        assert not re.search(r"quasi|k-anonym|lattice|\bnode|suppress|hierarch", said, re.IGNORECASE)
    said = text_of(person.get("/help"))
    assert "suppress" in said
    assert "lattice" in said


def test_without_a_safe_combination_nothing_is_released(person: Person, people: Path) -> None:
    page = choose(person, people, k=301)
    assert "No combination of these levels meets your requirement" in page
    assert pill(page) == "Not safe"
    page = text_of(levels(person, use="1"))
    assert "These levels do not meet your requirement" in page
    assert "How much detail" in page


def test_a_release_says_what_no_group_reveals(person: Person, people: Path) -> None:
    choose(person, people)
    person.post("/requirement", {"size": "5", "reveals": "on", "use": "1"}, "/verdict")
    page = text_of(levels(person, use="1"))
    assert "a group of at least 5 people who look alike. No group reveals ill. The release was audited" in page


def test_one_group_that_reveals_is_told(person: Person, people: Path) -> None:
    lines = people.read_text(encoding="utf-8").replace(",Linz,flu,", ",Linz,cold,")
    people.write_text(lines.replace(f",Linz,{ILL},", ",Linz,cold,"), encoding="utf-8")
    choose(person, people)
    levels(person, **{"level-0": "5", "level-1": "0", "share": "20"})
    page = text_of(levels(person, use="1"))
    linz = sum(row["town"] == "Linz" for row in rows_of(people))
    assert f"{linz} rows are in groups in which everyone has the same ill" in page


def test_odd_names_go_the_whole_way(person: Person, people: Path) -> None:
    names = {"age": '"Alter" (J.)', "town": " Ort 🙂", "hours": "<b>h</b>", "ill": "Krank, oder", "nr": "=nr"}
    head, *lines = people.read_text(encoding="utf-8").splitlines()
    quoted = ",".join('"' + names[name].replace('"', '""') + '"' for name in head.split(","))
    people.write_text("\n".join([quoted, *lines]) + "\n", encoding="utf-8")
    page = choose(person, people, {names[name]: role for name, role in ROLES.items()})
    assert "<b>h</b>" not in page
    page = levels(person, use="1")
    assert "The release meets" in page
    file = people.parent / "out.csv"
    assert "Written" in write(person, file)
    written, file_of = file.read_bytes(), people.parent / "people.sqlaudit.yml"
    assert run("lattice", "-f", file_of, "--force").code == 0
    assert file.read_bytes() == written
    project, _ = read_project(file_of)
    kept = person.window.history.project
    assert (project.release, dict(project.roles)) == (dict(kept.release), dict(kept.roles))


def test_labels_of_spss_stay(person: Person, tmp_path: Path) -> None:
    original = tmp_path / "survey.sav"
    labels, texts = write_survey(original, 200)
    choose(person, original, {"gender": KNOWN, "age": KNOWN, "mood": HIDDEN})
    page = levels(person, use="1")
    assert f'value="{tmp_path / "survey_release.sav"}"' in page
    assert "Written" in write(person, tmp_path / "survey_release.sav")
    _, meta = pyreadstat.read_sav(str(tmp_path / "survey_release.sav"))
    assert meta.column_names_to_labels == texts
    assert meta.variable_value_labels["mood"] == labels["mood"]
    written = (tmp_path / "survey_release.sav").read_bytes()
    assert run("lattice", "-f", tmp_path / "survey.sqlaudit.yml", "--force").code == 0
    assert (tmp_path / "survey_release.sav").read_bytes() == written


def test_a_weight_stays_a_number_of_the_release(person: Person, people: Path) -> None:
    head, *lines = people.read_text(encoding="utf-8").splitlines()
    weighted = [f"{head},weight", *(f"{line},{1.5 + number % 2}" for number, line in enumerate(lines))]
    people.write_text("\n".join(weighted) + "\n", encoding="utf-8")
    page = choose(person, people, {**ROLES, "weight": "weights"})
    assert "Highest risk" not in page  # it is that of the sample
    levels(person, use="1")
    file = people.parent / "out.csv"
    assert "Written:" in text_of(write(person, file))
    assert {float(row["weight"]) for row in rows_of(file)} == {1.5, 2.5}


def test_of_people_with_several_rows_all_or_none_stay(person: Person, people: Path) -> None:
    head, *lines = people.read_text(encoding="utf-8").splitlines()
    once = [f"{head},patient_id", *(f"{line},P{number // 2}" for number, line in enumerate(lines))]
    people.write_text("\n".join(once) + "\n", encoding="utf-8")
    person.post("/file", {"path": str(people)})
    person.post("/read", {"use": "1"})
    names = [*head.split(","), "patient_id"]
    roles = {f"role-{names.index(name)}": role for name, role in ROLES.items()}
    person.post("/columns", {**roles, "entity": "5", "use": "1"}, "/columns")
    page = person.post("/requirement", {"size": "5", "use": "1"}, "/verdict")
    assert "because a person may have others" in page
    assert set(re.findall(r"([0-9]+) rows? left out", text_of(page))) == {"0"}
    levels(person, share="50")
    levels(person, use="1")
    assert person.window.history.project.release["suppress"] == "0%"
    file = people.parent / "out.csv"
    assert "Written:" in text_of(write(person, file))
    assert "patient_id" not in rows_of(file)[0]
    assert len(rows_of(file)) == 300


def test_a_table_of_a_database_becomes_a_policy(person: Person, people: Path) -> None:
    database = people.parent / "people.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE TABLE people AS FROM read_csv(?)", [str(people)])
    person.window.db = Connection("main", "duckdb", str(database), Place("--db"), people.parent)
    person.window.open("people")
    person.decide(**ROLES)
    person.post("/requirement", {"size": "5", "use": "1"}, "/verdict")
    page = levels(person, use="1")
    assert page.index('value="policy" checked') < page.index('value=".xlsx"')
    page = text_of(person.post("/write", {"type": "policy", "use": "1"}, "/release"))
    assert "The policy is written. No table was." in page
    file = people.parent / "people.sqlaudit.yml"
    names = {path.name for path in people.parent.iterdir()}
    assert names == {"people.csv", "people.duckdb", "people.sqlaudit.yml"}
    assert f"sqlaudit lattice -f {file} This" in page
    assert run("lattice", "-f", file).code == 0
    assert run("test", "-f", file).code == 0
    released = duckdb.sql(f"SELECT count(*) FROM '{people.parent / 'people_release.parquet'}' GROUP BY age, town")
    assert min(count for (count,) in released.fetchall()) >= 5


def test_a_stranger_is_refused_with_a_sentence(person: Person, people: Path) -> None:
    assert person.client.get("/release", follow_redirects=False).headers["location"] == "/open"
    choose(person, people)
    for fields in ({"choose": "9,9"}, {"choose": "x"}, {"level-0": "-1"}, {"level-0": "²"}, {"level-7": "1"}):
        before = person.window.history.project.release.get("levels")
        levels(person, **fields)
        assert person.window.history.project.release.get("levels") == before, fields
    levels(person, use="1")
    for name in ("no/such/out.csv", "\0.csv", "x" * 300 + ".csv"):
        page = text_of(write(person, Path(name), **{"paper-project": ""}))
        assert "Written:" not in page
        assert "Internal error" not in page
    (people.parent / "folder.csv").mkdir()
    assert "folder" in text_of(write(person, people.parent / "folder.csv"))
    assert "Written:" in write(person, Path("plain"), type=".csv")
    assert (people.parent / "plain.csv").is_file()
    shutil.rmtree(people.parent / "folder.csv")
