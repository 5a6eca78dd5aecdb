"""The whole way of three people through `sqlaudit app` in Chromium: officer, statistician, engineer."""

from __future__ import annotations

import csv
import random
import re
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import openpyxl
import pyreadstat
import pytest
import xlsxwriter
from playwright.sync_api import Browser, expect

from tests.app.tables import write_survey
from tests.browser.window import (
    DESK,
    HIDDEN,
    KNOWN,
    LOOKS,
    NAMES,
    decide,
    looked_at,
    press_until,
    primary,
    settled,
    window,
)
from tests.places import REPOSITORY

DATA = REPOSITORY.parent / "shared" / "data" / "adult.csv"


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
        looked_at(page, screenshots, "1-open", [DESK])
        primary(page, "What may someone already know")
        roles = dict.fromkeys(("Alter", "Geschlecht", "Herkunft", "Familienstand", "Staatsangehörigkeit"), KNOWN)
        decide(page, **roles, **{"Höchster Abschluß": KNOWN, "Einkommen": HIDDEN, "Fall-Nr.": NAMES})
        looked_at(page, screenshots, "2-columns", [DESK])
        primary(page, "Not safe")
        looked_at(page, screenshots, "3-verdict", [DESK])
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
        # A name alone is that file beside the table; and the picture of the page of docs has no folder of this computer
        page.locator("#path").evaluate("field => { field.value = field.value.split('/').pop(); }")
        looked_at(page, screenshots, "5-release")
        page.locator("#paper-report").check()
        settled(page)
        page.locator("footer .primary").click()
        expect(page.locator("#done")).to_be_visible()
        looked_at(page, screenshots, "5-written", LOOKS[:2])
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
    labels, texts = write_survey(tmp_path / "survey.sav", 400)
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

        def go(heading: str) -> None:
            expect(page.locator("footer .primary")).to_be_enabled()
            press_until(page, "Tab", "footer .primary")
            page.keyboard.press("Enter")
            page.wait_for_selector(f"h1:has-text('{heading}')")
            settled(page)
            page.evaluate("document.activeElement.blur()")

        settled(page)
        go("What may someone already know")
        for row, role in enumerate((KNOWN, KNOWN, HIDDEN)):
            press_until(page, "Tab", f"#c{row} input")
            if not page.locator(f"#c{row} input:checked").count():
                page.keyboard.press("Space")
            for _ in range(4):
                if page.locator(f"#c{row} input:checked").get_attribute("value") != role:
                    page.keyboard.press("ArrowRight")
                    settled(page)
            assert page.locator(f"#c{row} input:checked").get_attribute("value") == role
        go("afe")
        go("How much detail")
        press_until(page, "Tab", "#slide-0")
        page.keyboard.press("Home")
        expect(page.locator("#undo")).to_contain_text("Undo: age")
        settled(page)
        page.keyboard.press("Control+z")
        expect(page.locator("#redo")).to_contain_text("Redo: age")
        settled(page)
        press_until(page, "Tab", ".choice:checked, .choice")
        page.keyboard.press("Space")
        expect(page.locator(".choice:checked")).to_have_count(1)
        settled(page)
        go("The release meets")
        press_until(page, "Tab", "footer .primary")
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
