"""The whole way of three people through `sqlaudit app` in Chromium: officer, statistician, engineer."""

from __future__ import annotations

import csv
import random
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import openpyxl
import pandas
import pyreadstat
import pytest
import xlsxwriter
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Request, expect

from tests.places import REPOSITORY

DATA = REPOSITORY.parent / "shared" / "data" / "adult.csv"
LONG = 120_000
KNOWN, HIDDEN, NAMES, NEITHER = "quasi_identifiers", "sensitive", "identifiers", "insensitive"


@contextmanager
def window(browser: Browser, folder: Path, *arguments: str, scripts: bool = True) -> Iterator[Page]:
    """Open the window as a person does, by its entry file; it asks no one but itself, and says nothing wrong."""
    command = [sys.executable, "-m", "sqlaudit", "app", "--no-browser", *arguments]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page, asked, said = context.new_page(), list[Request](), list[str]()
    page.set_default_timeout(LONG)
    expect.set_options(timeout=LONG)
    page.on("request", lambda request: asked.append(request))  # noqa: PLW0108 (no builtin can be a listener)
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    try:
        line = process.stderr.readline()
        found = re.search(r"'([^']+)'", line)
        assert found, line
        page.goto(Path(found[1]).as_uri())
        page.wait_for_selector("h1:has-text('?')")
        if not scripts:
            page = _without_scripts(browser, page)
        yield page
        host = urlsplit(page.url).netloc
        others = {request.url for request in asked if urlsplit(request.url).scheme not in ("file", "data")}
        assert {urlsplit(url).netloc for url in others} == {host}
        assert not any("?" in url or "=" in url for url in others)
        assert said == []
    finally:
        context.close()
        process.terminate()
        process.wait()
        process.stderr.close()


def _without_scripts(browser: Browser, page: Page) -> Page:
    context = browser.new_context(java_script_enabled=False, storage_state=page.context.storage_state())
    plain = context.new_page()
    plain.set_default_timeout(LONG)
    plain.goto(page.url)
    return plain


def settled(page: Page) -> None:
    expect(page.locator("[data-working]")).to_have_count(0)


def decide(page: Page, **roles: str) -> None:
    """Give each column its role; those that are not named are neither."""
    page.wait_for_selector("#main-form tr")
    for row in page.locator("tr[id^=c]").all():
        name = row.locator("th").inner_text().split("\n")[0]
        row.locator(f"input[value={roles.get(name, NEITHER)}]").check(force=True)
    page.wait_for_timeout(700)
    settled(page)


def primary(page: Page, heading: str) -> None:
    """Press the primary button, and wait for the next question."""
    expect(page.locator("footer .primary")).to_be_enabled()
    page.locator("footer .primary").click()
    page.wait_for_selector(f"h1:has-text('{heading}')")
    settled(page)


def looked_at(page: Page, screenshots: Path, name: str) -> None:
    """A page is accessible, fits a phone, is dark where that is asked for, and has its picture taken."""
    for width, scheme in ((1280, "light"), (400, "light"), (1280, "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        page.evaluate("document.querySelector('footer').style.position = 'static'")  # it covers the middle of a picture
        page.screenshot(path=screenshots / f"app-{name}-{width}-{scheme}.png", full_page=True)
        page.evaluate("document.querySelector('footer').style.position = ''")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light")


@pytest.fixture(scope="session")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workbook of two sheets, the first a note, the second UCI Adult below a title, with names in German."""
    if not DATA.exists():
        pytest.skip("UCI Adult is not here")
    wanted = {
        "age": "Alter",
        "sex": "Geschlecht",
        "race": "Herkunft",
        "marital-status": "Familienstand",
        "native-country": "Staatsangehörigkeit",
        "education": "Höchster Abschluß",
        "income": "Einkommen",
    }
    file = tmp_path_factory.mktemp("survey") / "Befragung Öffentlich 2025.xlsx"
    book = xlsxwriter.Workbook(str(file), {"constant_memory": True})
    book.add_worksheet("Hinweise").write_row(0, 0, ["Stand: März"])
    sheet = book.add_worksheet("Daten")
    sheet.write_row(0, 0, ["Befragung der Bürgerinnen und Bürger"])
    sheet.write_row(2, 0, ["Fall-Nr.", *wanted.values()])
    with DATA.open(encoding="utf-8") as opened:
        for number, row in enumerate(csv.DictReader(opened)):
            cells = [int(row[name]) if name == "age" else row[name].strip() for name in wanted]
            sheet.write_row(number + 3, 0, [f"F{number:06}", *cells])
    book.close()
    return file


@pytest.mark.shared_data
def test_the_officer_ends_with_a_workbook(browser: Browser, survey: Path, screenshots: Path) -> None:
    before = survey.read_bytes()
    with window(browser, survey.parent) as page:
        page.get_by_role("button", name=survey.name).click()
        expect(page.get_by_text("45,222 rows, 8 columns")).to_be_visible()
        expect(page.get_by_label("Daten")).to_be_checked()
        assert page.locator("#row").input_value() == "3"
        looked_at(page, screenshots, "1-open")
        primary(page, "What may someone already know")
        roles = dict.fromkeys(("Alter", "Geschlecht", "Herkunft", "Familienstand", "Staatsangehörigkeit"), KNOWN)
        decide(page, **roles, **{"Höchster Abschluß": KNOWN, "Einkommen": HIDDEN, "Fall-Nr.": NAMES})
        looked_at(page, screenshots, "2-columns")
        primary(page, "Not safe")
        looked_at(page, screenshots, "3-verdict")
        primary(page, "How much detail")
        expect(page.locator("#pill")).to_have_text("✓ Safe")
        looked_at(page, screenshots, "4-safe")
        slider = page.locator("#slide-0")
        slider.focus()
        page.keyboard.press("Home")
        expect(page.locator("#pill")).to_have_text("✗ Not safe")
        assert page.evaluate("document.activeElement.id") == "slide-0"
        expect(page.locator("footer .primary")).to_be_disabled()
        page.keyboard.press("Control+z")
        expect(page.locator("#pill")).to_have_text("✓ Safe")
        said = page.locator("#beside").inner_text()
        primary(page, "The release meets")
        looked_at(page, screenshots, "5-release")
        page.locator("#paper-report").check()
        page.wait_for_timeout(700)
        page.locator("footer .primary").click()
        expect(page.locator("#done")).to_be_visible()
        looked_at(page, screenshots, "5-written")
        expect(page.locator("#written")).to_contain_text(f"{survey.stem}_release.xlsx")
        command = page.locator("#command").inner_text()
    assert survey.read_bytes() == before
    released = survey.with_name(f"{survey.stem}_release.xlsx")
    book = openpyxl.load_workbook(released, read_only=True)
    names, *rows = book.active.iter_rows(values_only=True)
    book.close()
    assert names == (*roles, "Höchster Abschluß", "Einkommen")
    assert min(Counter(row[:-1] for row in rows).values()) >= 5
    left_out = int(re.search(r"Rows left out\s+–\s+([0-9,]+)", said)[1].replace(",", ""))  # type: ignore[index]
    assert len(rows) == 45_222 - left_out
    written = released.read_bytes()
    repeated = subprocess.run(
        [sys.executable, "-m", "sqlaudit", *shlex.split(command)[1:]], capture_output=True, text=True, check=False
    )
    assert repeated.returncode == 0, repeated.stderr
    assert released.read_bytes() == written


def test_the_statistician_keeps_labels(browser: Browser, tmp_path: Path) -> None:
    generator = random.Random(2)
    frame = pandas.DataFrame(
        {
            "gender": [float(generator.choice([1, 2])) for _ in range(400)],
            "age": [float(generator.randint(18, 70)) for _ in range(400)],
            "mood": [float(generator.choice([1, 2, 9])) for _ in range(400)],
        }
    )
    labels = {"gender": {1.0: "woman", 2.0: "man"}, "mood": {1.0: "fine", 2.0: "low", 9.0: "no answer"}}
    texts = {"gender": "Gender of the person", "age": "Age in years", "mood": "How are you?"}
    original = tmp_path / "survey.sav"
    pyreadstat.write_sav(frame, str(original), variable_value_labels=labels, column_labels=texts)
    with window(browser, tmp_path, "survey.sav") as page:
        primary(page, "What may someone already know")
        decide(page, gender=KNOWN, age=KNOWN, mood=HIDDEN)
        expect(page.get_by_text("Age in years")).to_be_visible()
        primary(page, "afe")
        primary(page, "How much detail")
        primary(page, "The release meets")
        expect(page.locator("input[value='.sav']")).to_be_checked()
        page.locator("footer .primary").click()
        expect(page.locator("#done")).to_be_visible()
    released, meta = pyreadstat.read_sav(str(tmp_path / "survey_release.sav"))
    assert meta.column_names_to_labels == texts
    assert meta.variable_value_labels["mood"] == labels["mood"]
    assert min(Counter(zip(released["gender"], released["age"], strict=True)).values()) >= 5


def test_the_engineer_takes_a_policy(
    browser: Browser, tmp_path: Path, postgres_url: str, postgres_admin_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    generator = random.Random(4)
    with psycopg.connect(postgres_admin_url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS app_patients")
        connection.execute("CREATE TABLE app_patients (nr text, age int, sex text, ill text)")
        rows = [
            (f"p{row}", generator.randint(20, 80), generator.choice("fm"), generator.choice(["flu", "cold"]))
            for row in range(500)
        ]
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO app_patients VALUES (%s, %s, %s, %s)", rows)
        connection.execute("GRANT SELECT ON app_patients TO PUBLIC")
    monkeypatch.setenv("PATIENTS_URL", postgres_url)
    with window(browser, tmp_path, "--db-env", "PATIENTS_URL", "public.app_patients") as page:
        expect(page.locator("h1")).to_contain_text("What may someone already know")
        decide(page, nr=NAMES, age=KNOWN, sex=KNOWN, ill=HIDDEN)
        primary(page, "afe")
        primary(page, "How much detail")
        primary(page, "The release meets")
        assert page.locator("input[name=type]").first.get_attribute("value") == "policy"
        expect(page.locator("input[name=type]").first).to_be_checked()
        page.locator("footer .primary").click()
        expect(page.locator("#done")).to_contain_text("No table was.")
        commands = page.locator("#done code").all_inner_texts()
    assert [path.name for path in tmp_path.iterdir()] == ["app_patients.sqlaudit.yml"]
    for command in commands:
        ran = subprocess.run(
            [sys.executable, "-m", "sqlaudit", *shlex.split(command)[1:]],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.fixture
def people(tmp_path: Path) -> Path:
    generator = random.Random(1)
    rows = "".join(f"{generator.randint(20, 60)},{generator.choice('fm')},flu\n" for _ in range(200))
    (tmp_path / "people.csv").write_text("age,sex,ill\n" + rows, encoding="utf-8")
    return tmp_path / "people.csv"


def test_the_keyboard_is_enough(browser: Browser, people: Path) -> None:
    with window(browser, people.parent, "people.csv") as page:

        def to(selector: str) -> None:
            """Press Tab until the focus is there."""
            for _ in range(80):
                if page.evaluate("(wanted) => document.activeElement.matches(wanted)", selector):
                    return
                page.keyboard.press("Tab")
            raise AssertionError(f"Tab does not reach {selector}")

        def go(heading: str) -> None:
            expect(page.locator("footer .primary")).to_be_enabled()
            to("footer .primary")
            page.keyboard.press("Enter")
            page.wait_for_selector(f"h1:has-text('{heading}')")
            settled(page)
            page.evaluate("document.activeElement.blur()")

        settled(page)
        go("What may someone already know")
        for row, role in enumerate((KNOWN, KNOWN, HIDDEN)):
            to(f"#c{row} input")
            if not page.locator(f"#c{row} input:checked").count():
                page.keyboard.press("Space")
            for _ in range(4):
                if page.locator(f"#c{row} input:checked").get_attribute("value") != role:
                    page.keyboard.press("ArrowRight")
                    page.wait_for_timeout(700)
            assert page.locator(f"#c{row} input:checked").get_attribute("value") == role
        go("afe")
        go("How much detail")
        to("#slide-0")
        page.keyboard.press("Home")
        expect(page.locator("#undo")).to_contain_text("Undo: age")
        settled(page)
        page.keyboard.press("Control+z")
        expect(page.locator("#redo")).to_contain_text("Redo: age")
        settled(page)
        to(".choice:checked, .choice")
        page.keyboard.press("Space")
        expect(page.locator(".choice:checked")).to_have_count(1)
        settled(page)
        go("The release meets")
        to("footer .primary")
        page.keyboard.press("Enter")
        expect(page.locator("#done")).to_be_visible()
    assert (people.parent / "people_release.csv").is_file()


def test_a_verdict_is_not_older_than_the_levels_beside_it(browser: Browser, people: Path) -> None:
    with window(browser, people.parent, "people.csv") as page:
        primary(page, "What may someone already know")
        decide(page, age=KNOWN, sex=KNOWN, ill=HIDDEN)
        primary(page, "afe")
        primary(page, "How much detail")
        page.route("**/levels", lambda route: None)  # the answer never comes
        page.locator("#slide-0").focus()
        page.keyboard.press("Home")
        expect(page.locator("#beside")).to_have_text("Checking these levels …")
        expect(page.locator("footer .primary")).to_be_disabled()


def test_without_scripts_all_works(browser: Browser, people: Path) -> None:
    with window(browser, people.parent, "people.csv", scripts=False) as page:
        primary(page, "What may someone already know")
        for number, role in enumerate((KNOWN, KNOWN, HIDDEN)):
            page.locator(f"#c{number} input[value={role}]").check(force=True)
        primary(page, "afe")
        primary(page, "How much detail")
        page.locator("#level-0").select_option("2")
        page.get_by_role("button", name="Show what this costs").click()
        expect(page.locator("#pill")).to_be_visible()
        page.locator(".choice").first.check()
        page.get_by_role("button", name="Use the chosen point").click()
        expect(page.locator("#pill")).to_have_text("✓ Safe")
        primary(page, "The release meets")
        page.locator("footer .primary").click()
        expect(page.locator("#done")).to_be_visible()
    assert (people.parent / "people_release.csv").is_file()
