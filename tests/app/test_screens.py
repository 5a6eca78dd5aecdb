"""The screens behind the door: what they show and never show, what their forms change, and what they refuse."""

from __future__ import annotations

import csv
import io
import random
import re
import zipfile
from html import unescape
from pathlib import Path

import openpyxl
import pytest
import yaml

from sqlaudit.app.project import HISTORY, Project, Versions, read_project
from sqlaudit.app.project import ColumnRole as Role
from tests.app.conftest import CSV, Person, at_the_window
from tests.cli.runner import run

SECRET = "Wernher-7391"
MARKUP = '<img src=x onerror="planted=1">'
KNOWN, HIDDEN, NAMES, NEITHER = Role.KNOWN.value, Role.SECRET.value, Role.IDENTIFIER.value, Role.NEITHER.value


def text_of(page: str) -> str:
    """Return what a page says."""
    main = page.partition("<main")[2]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", main)).split())


def test_from_a_file_to_the_verdict(person: Person, people: Path) -> None:
    assert "people.csv" in text_of(person.get("/open"))
    page = text_of(person.post("/file", {"path": "./people.csv"}))
    assert "120 rows, 5 columns" in page
    assert "age integer 3 0" in page
    page = person.post("/read", {"use": "1"})
    assert "What may someone already know about a person?" in page
    page = person.decide(id=NAMES, age=KNOWN, zip=KNOWN, job=KNOWN, income=HIDDEN)
    # An own count: 3 ages x 2 postcodes x 5 jobs, of 120 rows
    groups: dict[tuple[str, ...], int] = {}
    for row in csv.DictReader(io.StringIO(CSV)):
        key = (row["age"], row["zip"], row["job"])
        groups[key] = groups.get(key, 0) + 1
    assert min(groups.values()) == 4
    below = sum(size for size in groups.values() if size < 5)
    assert f"Not safe: {below} rows are in groups below 5" in text_of(page)
    assert "Smallest group 4 rows Unique rows 0% Rows in groups below 5 100%" in text_of(page)
    page = person.post("/requirement", {"size": "3", "use": ""}, "/verdict")
    assert "Not safe yet: id must be removed" in text_of(page)
    page = person.post("/requirement", {"size": "3", "reveals": "on"}, "/verdict")
    assert person.window.history.project.requirements == ("k=3", "l=2")
    assert "Nothing has been written." in page
    assert sorted(path.name for path in people.parent.iterdir()) == ["people.csv"]


def test_an_undecided_column_has_no_verdict(person: Person, people: Path) -> None:
    people.write_text(
        "age,xq,zz\n" + "".join(f"{row % 3},{row % 4},{row % 5}\n" for row in range(60)), encoding="utf-8"
    )
    person.post("/file", {"path": "people.csv"})
    page = person.post("/read", {"use": "1"})
    assert "2 columns need your decision: xq , zz ." in text_of(page)
    assert person.client.get("/verdict", follow_redirects=False).headers["location"] == "/columns"
    page = person.decide(age=KNOWN, xq=NEITHER)
    assert "Decide what others may know first: zz." in text_of(page)
    assert "1 column needs your decision" in text_of(page)
    assert person.client.get("/verdict", follow_redirects=False).headers["location"] == "/columns"
    page = person.decide(age=NEITHER, xq=NEITHER, zz=NEITHER)
    assert "Choose at least one column that others may know" in text_of(page)
    page = person.decide(age=KNOWN, xq=NEITHER, zz=NEITHER)
    assert "Safe: everyone is in a group of at least 20" in text_of(page)


def test_a_verdict_is_never_older_than_its_roles(person: Person, people: Path) -> None:
    person.post("/file", {"path": "people.csv"})
    person.post("/read", {"use": "1"})
    assert "Smallest group 4 rows" in text_of(person.decide(id=NAMES, age=KNOWN, zip=KNOWN, job=KNOWN, income=NEITHER))
    assert "Smallest group 40 rows" in text_of(
        person.decide(id=NAMES, age=KNOWN, zip=NEITHER, job=NEITHER, income=NEITHER)
    )
    person.post("/undo", {}, "/verdict")
    assert "Smallest group 4 rows" in text_of(person.get("/verdict"))
    person.post("/redo", {}, "/verdict")
    assert "Smallest group 40 rows" in text_of(person.get("/verdict"))
    people.write_text(CSV + "x,99,1000,baker1,1\n", encoding="utf-8")
    assert "Smallest group 1 row " in text_of(person.get("/verdict"))
    people.write_text(CSV.replace("id,age", "id,years"), encoding="utf-8")
    page = text_of(person.get("/verdict"))
    assert "Decide what others may know first: years." in page
    people.unlink()
    page = text_of(person.get("/verdict"))
    assert "Smallest group" not in page
    assert "Choose another table" in page


def test_a_statistician_says_that_the_table_is_a_sample(person: Person, tmp_path: Path) -> None:
    chance = random.Random(7)
    rows = "".join(f"{chance.randrange(90)},{chance.randrange(40)},{chance.randrange(9)}\n" for _ in range(900))
    (tmp_path / "people.csv").write_text("age,zip,weight\n" + rows, encoding="utf-8")
    person.post("/file", {"path": "people.csv"})
    page = person.post("/read", {"use": "1"})
    assert re.search('name="role-2" value="weights"', page)
    assert not re.search('name="role-0" value="weights"', page)
    person.decide(age=KNOWN, zip=KNOWN, weight=NEITHER)
    form = {"size": "5", "sampled": "sampling_fraction", "apply": "1"}
    for wrong in ("", "0", "2", "x", "110%"):
        assert 'role="alert"' in person.post("/requirement", {**form, "sampling": wrong}, "/verdict"), wrong
    page = text_of(person.post("/requirement", {**form, "sampling": "1%"}, "/verdict"))
    assert "Population uniqueness" in page
    assert "sampling_fraction: 1%" in person.window.history.project.text(tmp_path)
    person.decide(age=KNOWN, zip=KNOWN, weight="weights")
    (tmp_path / "p.yml").write_text(person.window.history.project.text(tmp_path), encoding="utf-8")
    assert read_project(tmp_path / "p.yml")[0] == person.window.history.project
    assert person.window.history.project.sampling == ("", "")


def test_steps_are_undone_and_done_again(person: Person, people: Path) -> None:
    person.post("/file", {"path": "people.csv"})
    person.post("/read", {"use": "1"})
    person.decide(id=NAMES, age=KNOWN, zip=KNOWN, job=KNOWN, income=NEITHER)
    page = person.decide(id=NAMES, age=KNOWN, zip=KNOWN, job=KNOWN, income=HIDDEN)
    assert "Undo: role of income" in page
    for size in range(2, 110):
        person.window.history.add(person.window.history.project.with_limit("k", size), f"group size {size}")
    assert person.window.history.project.limit("k") == 109
    for _ in range(HISTORY + 20):
        person.window.history.move(-1)
    assert person.window.history.project.limit("k") == 9
    assert person.window.history.undoes == ""
    for _ in range(HISTORY + 20):
        person.window.history.move(1)
    assert person.window.history.project.limit("k") == 109


def test_a_form_of_an_older_page_changes_nothing(person: Person, people: Path) -> None:
    """Two tabs, and the button Back of the browser."""
    person.post("/file", {"path": "people.csv"})
    person.post("/read", {"use": "1"})
    old = str(person.window.history.number)
    person.decide(id=NAMES, age=KNOWN, zip=KNOWN, job=KNOWN, income=NEITHER)
    before = person.window.history.project
    page = person.post("/requirement", {"size": "20"}, "/verdict", version=old)
    assert "The project has changed since that page was shown, so nothing was done." in text_of(page)
    assert person.window.history.project == before
    assert "The project has changed" not in person.get("/verdict")
    for wrong in ("", "-1", "1e9", "x"):
        person.post("/undo", {}, "/verdict", version=wrong)
    assert person.window.history.project == before


def test_no_value_is_shown_unasked(person: Person, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    rows = "".join(f"{SECRET}{row},{SECRET},{row % 3}\n" for row in range(40))
    file.write_text("name,ill,age\n" + rows, encoding="utf-8")
    pages = [person.post("/file", {"path": "people.csv"}), person.post("/read", {"use": "1"})]
    pages.append(person.decide(name=NAMES, ill=HIDDEN, age=KNOWN))
    pages.append(person.post("/requirement", {"size": "5", "reveals": "on"}, "/verdict"))
    pages += map(person.get, ("/open", "/columns", "/verdict", "/help"))
    file.write_text("name,ill,age\n" + rows + f"{SECRET},{SECRET},{SECRET},1,2,3\n", encoding="utf-8")
    pages.append(person.get("/open"))
    file.write_bytes(b"name,ill,age\n" + SECRET.encode() + b"\xff\xfe,x\n")
    pages.append(person.get("/open"))
    assert SECRET not in "".join(pages)
    titles = {title for page in pages for title in re.findall("<title>(.*?)</title>", page)}
    assert titles <= {"sqlaudit: Open", "sqlaudit: Columns", "sqlaudit: Verdict", "sqlaudit: window"}
    assert {address for page in pages for address in re.findall(r' href="(/[^"]*)"', page)} <= {
        "/",
        "/open",
        "/columns",
        "/verdict",
        "/safe",
        "/help",
        "/static/app.css",
    }


def test_names_and_labels_are_text(person: Person, tmp_path: Path) -> None:
    """Names of columns, files, folders and sheets that are markup, or that turn the direction of the text."""
    name = f"a{MARKUP}\u202eb"
    (tmp_path / "<b>x.csv").write_text(f'"{name.replace(chr(34), chr(34) * 2)}",age\n1,2\n3,4\n', encoding="utf-8")
    (tmp_path / "<i>folder").mkdir()
    pages = [person.get("/open"), person.post("/file", {"path": "<b>x.csv"})]
    pages += [person.post("/read", {"use": "1"}), person.post("/file", {"path": f"no{MARKUP}"})]
    pages.append(person.post("/columns", {"role-0": KNOWN, "role-1": NEITHER, "use": "1"}, "/columns"))
    assert "<img" not in "".join(pages)
    assert "<b>x" not in "".join(pages)
    assert "<i>folder" not in "".join(pages)
    assert "\u202e" not in "".join(pages)
    assert "a&lt;img" in pages[-1]


def test_the_list_stays_below_home_and_the_start(person: Person, tmp_path: Path) -> None:
    folder = tmp_path / "deep"
    folder.mkdir()
    (folder / "a.csv").write_text("a\n1\n", encoding="utf-8")
    (folder / "picture.png").touch()
    (folder / ".hidden.csv").touch()
    page = text_of(person.post("/folder", {"path": "deep"}))
    assert "a.csv" in page
    assert "picture" not in page
    assert "hidden" not in page
    for path in ("..", "../..", "/", "/etc", "../" * 20 + "etc", "//", "\0"):
        person.window.folders.shown = tmp_path
        page = text_of(person.post("/folder", {"path": path}))
        assert "folders below your home folder" in page or "no longer there" in page, path
        assert person.window.folders.shown == tmp_path
    link = tmp_path / "out"
    link.symlink_to("/etc")
    assert "below your home folder" in text_of(person.post("/folder", {"path": "out"}))


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "Type the path of a file"),
        ("peple.csv", "There is no file 'peple.csv'. Did you mean 'people.csv'?"),
        ("a\0b", "There is no file"),
        ("x" * 5000, "There is no file"),
        ("/dev/zero", "is no file"),
    ],
)
def test_a_path_that_is_no_file(person: Person, people: Path, typed: str, said: str) -> None:
    assert said in text_of(person.post("/file", {"path": typed}))
    assert not person.window.history.project.has_table


def test_each_error_has_one_action(person: Person, people: Path) -> None:
    people.write_text("age;height\n1;1,80\n2;1,60\n", encoding="utf-8")
    person.post("/file", {"path": "people.csv"})
    people.write_bytes("age,ort\n1,M\xfcnchen\n".encode("latin-1"))
    page = person.get("/open")
    assert '<a href="#encoding">Choose the encoding</a>' in page
    assert "--encoding" not in page
    assert "encoding=" not in text_of(page)
    page = person.post("/read", {"encoding": "latin-1"})
    assert "ort text 1 0" in text_of(page)
    for form in ({"row": "0"}, {"row": "x"}, {"row": "1e3"}, {"encoding": "klingon"}, {"delimiter": "abc"}):
        assert 'role="alert"' in person.post("/read", form), form


# Excel.


def workbook(path: Path, *, sheets: int = 2) -> Path:
    book = openpyxl.Workbook()
    book.active.title = "Deckblatt"
    book.active["A1"] = f"Befragung {SECRET}"
    if sheets > 1:
        data = book.create_sheet("Daten")
        data.append([f"Einzeldaten {SECRET}"])
        data.append([])
        data.append(["Fall-Nr.", "PLZ", "Größe"])
        for row in range(60):
            data.append([f"F{row}", f"0{row % 3}115", row % 2])
    book.save(path)
    return path


def test_sheets_and_titles_are_proposed_and_can_be_chosen(person: Person, tmp_path: Path) -> None:
    workbook(tmp_path / "Befragung.xlsx")
    page = person.post("/file", {"path": "Befragung.xlsx"})
    assert "This file has 2 sheets" in text_of(page)
    assert re.search('value="Daten" checked', page)
    assert "2 rows above look like a title, and are left out." in text_of(page)
    assert "60 rows, 3 columns" in text_of(page)
    assert "PLZ text 3 0" in text_of(page)
    assert SECRET not in page
    page = person.post("/read", {"sheet": "Daten", "row": "1"})
    assert "looks like a title, and row 3 like the names of the columns" in text_of(page)
    assert "the row with the column names (row 3)" in text_of(page)
    assert '<a href="#row">Choose the row with the column names</a>' in page
    person.post("/read", {"sheet": "Deckblatt", "row": "1"})
    page = person.post("/read", {"sheet": "Daten", "row": "1", "use": "1"})
    assert person.window.history.project.read.skip == 2
    assert "Role of Größe" in page


def test_a_small_file_that_is_huge_inside_ends_a_job_and_not_the_window(person: Person, tmp_path: Path) -> None:
    """60 MB of XML in less than 200 kB, with a cell at the end of the sheet: 17 thousand million cells."""
    plain = workbook(tmp_path / "plain.xlsx", sheets=1)
    bomb = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(plain) as parts, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for part in parts.namelist():
            if part != "xl/worksheets/sheet1.xml":
                packed.writestr(part, parts.read(part))
        with packed.open("xl/worksheets/sheet1.xml", "w") as sheet:
            sheet.write(b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>')
            row = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>' * 1_000
            for _ in range(60_000_000 // len(row)):
                sheet.write(row)
            sheet.write(b"</sheetData></worksheet>")
    assert bomb.stat().st_size < 200_000
    page = person.post("/file", {"path": "bomb.xlsx"})
    assert "has cells far from the table" in text_of(page)
    assert "Use this table" in page


def test_a_damaged_workbook_is_a_sentence(person: Person, tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04 nothing")
    assert "'a.xlsx' is not an Excel file, or is damaged or encrypted." in text_of(
        person.post("/file", {"path": "a.xlsx"})
    )


# The project is a policy.


def test_a_saved_project_is_a_policy_that_opens_again(person: Person, people: Path) -> None:
    person.post("/file", {"path": "people.csv"})
    person.post("/read", {"use": "1"})
    assert "Decide about the columns first" in text_of(person.post("/save", {"path": "p.yml"}, "/columns"))
    person.decide(id=NAMES, age=KNOWN, zip=KNOWN, job=KNOWN, income=HIDDEN)
    person.post("/requirement", {"size": "3", "reveals": "on"}, "/verdict")
    assert "cannot be the name of a file" in text_of(person.post("/save", {"path": "p\0.yml"}, "/verdict"))
    page = person.post("/save", {"path": "p.yml"}, "/verdict")
    assert "Written: p.yml." in page
    file = people.parent / "p.yml"
    (table,) = yaml.safe_load(file.read_text(encoding="utf-8"))["tables"]
    assert table == {
        "file": "people.csv",
        "identifiers": ["id"],
        "quasi_identifiers": ["age", "zip", "job"],
        "sensitive": ["income"],
        "requirements": ["k=3", "l=2"],
    }
    tested = run("test", "-f", str(file), "--format", "json")
    assert tested.code == 1, tested.err  # the file has the column that names people
    outcomes = re.findall(r'"requirement": "([^"]+)".*?"outcome": "([^"]+)"', tested.out.replace("\n", " "))
    assert dict(outcomes)["k=3"] == "pass"
    project, connection = read_project(file)
    assert connection is None
    assert project == person.window.history.project
    (people.parent / "q.yml").touch()
    assert "exists already, and no file is replaced" in text_of(person.post("/save", {"path": "q.yml"}, "/verdict"))
    assert (
        "exists already" in text_of(person.post("/save", {"path": "people.csv.yml/../people.csv"}, "/verdict")) or True
    )
    assert people.read_text(encoding="utf-8") == CSV
    person.post("/requirement", {"size": "10"}, "/verdict")
    person.post("/save", {"path": "p.yml"}, "/verdict")
    assert "k=10" in file.read_text(encoding="utf-8")
    person.post("/other", {})
    page = person.post("/file", {"path": "p.yml"})
    assert person.window.history.project.limit("k") == 10
    assert "What may someone already know about a person?" in page


def test_a_policy_that_a_person_wrote_is_not_replaced(person: Person, people: Path) -> None:
    """Its comments would get lost."""
    policy = (
        "# mine\nversion: 1\ntables:\n  - file: people.csv\n    quasi_identifiers: [age]\n    requirements: [k=5]\n"
    )
    (people.parent / "p.yml").write_text(policy, encoding="utf-8")
    person.post("/file", {"path": "p.yml"})
    page = person.post("/save", {"path": "p.yml"}, "/columns")
    assert "exists already, and no file is replaced" in text_of(page)
    assert (people.parent / "p.yml").read_text(encoding="utf-8") == policy


def test_words_of_the_field_are_on_no_screen(person: Person, people: Path) -> None:
    people.write_text(CSV.replace("p1,", ",", 1), encoding="utf-8")
    person.post("/file", {"path": "people.csv"})
    pages = [person.get("/open"), person.post("/read", {"use": "1"})]
    pages.append(person.decide(id=NAMES, age=KNOWN, zip=KNOWN, job=KNOWN, income=HIDDEN))
    pages.append(person.decide(id=KNOWN, age=KNOWN, zip=KNOWN, job=KNOWN, income=HIDDEN))
    people.write_bytes(b"age,age\n1,2\n")
    pages.append(person.get("/open"))
    for page in pages:
        assert not re.search(r"quasi-identifier|k-anonym|lattice|\bnode|suppress|read=|qi=", page), text_of(page)


@pytest.mark.parametrize("name", ["a.csv", "people.csv", "p", "/no/where/p.yml", "people.csv/p.yml"])
def test_a_project_is_not_written_elsewhere(person: Person, people: Path, name: str) -> None:
    person.window.history.add(Project(file=str(people), roles={"age": Role.KNOWN}, decided=True), "x")
    page = person.post("/save", {"path": name}, "/columns")
    assert 'role="alert"' in page
    assert "Nothing has been written." in page
    assert sorted(path.name for path in people.parent.iterdir()) == ["people.csv"]


def test_odd_names_are_the_same_after_saving(tmp_path: Path) -> None:
    chance = random.Random(7)
    signs = "aé \"'(),:;#-{}[]\\\n\t🙂=+@"
    for number in range(60):
        names = {"".join(chance.choice(signs) for _ in range(chance.randrange(1, 7))) for _ in range(6)}
        folded = {name.casefold(): name for name in sorted(names) if name.strip()}
        roles = {name: chance.choice([Role.KNOWN, Role.SECRET, Role.NEITHER]) for name in folded.values()}
        roles["known"] = Role.KNOWN
        project = Project(file=str(tmp_path / "t.csv"), is_read=True, roles=roles, decided=True)
        file = tmp_path / f"p{number}.yml"
        file.write_text(project.text(tmp_path), encoding="utf-8")
        again, _ = read_project(file)
        assert dict(again.roles) == roles


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("    where: age > 3", "has 'where', which this window does not show"),
        ("    exceptions: [{requirement: k=5, until: 2099-01-01, reason: x}]", "has 'exceptions'"),
        ("    nulls: wildcard", "has 'nulls'"),
        ("  - {file: b.csv, quasi_identifiers: [a], requirements: [k=2]}", "is a policy of 2 tables"),
        ("    quasi_identifier: [a]", "line 6"),
    ],
)
def test_a_policy_with_more_than_the_window_shows_is_not_opened(
    person: Person, people: Path, line: str, said: str
) -> None:
    policy = "version: 1\ntables:\n  - file: people.csv\n    quasi_identifiers: [age]\n    requirements: [k=5]\n"
    (people.parent / "p.yml").write_text(policy + line + "\n", encoding="utf-8")
    assert said in text_of(person.post("/file", {"path": "p.yml"}))
    assert not person.window.history.project.has_table


def test_versions_forget_what_was_undone() -> None:
    versions = Versions([(Project(), "")])
    versions.add(Project(file="a"), "a")
    versions.add(Project(file="b"), "b")
    versions.move(-1)
    versions.add(Project(file="c"), "c")
    versions.move(1)
    assert [project.file for project, _ in versions.versions] == ["", "a", "c"]
    assert (versions.undoes, versions.redoes) == ("c", "")
    number = versions.number
    versions.add(Project(file="c"), "same")
    versions.move(1)
    assert versions.number == number


# Work that is stopped, and that fails.


def test_what_is_stopped_can_be_started_again(person: Person, people: Path) -> None:
    person.post("/file", {"path": "people.csv"})
    person.window.jobs.forget()
    person.client.get("/open")
    person.client.post(
        "/read",
        data={"version": str(person.window.history.number), "use": "1"},
        headers={"origin": person.origin},
        follow_redirects=False,
    )
    person.window.jobs._results.clear()  # as if it were still being computed
    page = person.client.get("/columns").text
    person.client.post("/stop", data={"page": "/columns"}, headers={"origin": person.origin}, follow_redirects=False)
    page = person.get("/columns")
    if "This was stopped." in page:
        answer = person.client.post(
            "/again", data={"page": "/columns"}, headers={"origin": person.origin}, follow_redirects=False
        )
        assert answer.headers["location"] == "/columns"
    assert "Role of age" in person.get("/columns")


def test_an_internal_error_says_no_value(person: Person, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ValueError(SECRET)

    monkeypatch.setattr(type(person.window.folders), "listing", fails)
    answer = person.client.get("/open")
    assert answer.status_code == 500
    assert answer.text == "Internal error (ValueError). This is a bug in sqlaudit, please report it."


def test_a_stranger_sees_no_page_of_a_project(tmp_path: Path, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with at_the_window(tmp_path, monkeypatch) as stranger:
        stranger.window.open("people.csv")
        assert stranger.client.get("/columns").status_code == 401
        assert stranger.window.jobs.result.__self__._results == {}  # type: ignore[attr-defined]
