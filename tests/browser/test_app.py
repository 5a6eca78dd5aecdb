"""The window in Chromium: the whole way by keyboard, accessible, on phones, in the dark, and with no other request."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from sqlaudit.app.server import IDLE
from tests.app.process import started

SECRET = "Wernher-7391"
NAME = 'Größe "<b>x</b>" 🙂'


def write_table(folder: Path) -> Path:
    """Write a table with a key, what others may know, a secret, and two columns to decide on."""
    lines = [f'Fall-Nr.,Alter,PLZ,Beruf,Einkommen,"{NAME.replace(chr(34), chr(34) * 2)}",xq']
    for row in range(400):
        known = f"{20 + row % 50},0{row % 7}115,{SECRET if row == 9 else 'Bäcker'}"
        lines.append(f"F{row},{known},{row % 4},{row % 3},{row % 2}")
    file = folder / "Befragung.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


@contextmanager
def window(
    browser: Browser, folder: Path, *arguments: str, width: int = 1280, theme: str = "light", script: bool = True
) -> Iterator[Page]:
    """A window that was entered by its file. It may say nothing in the console, and ask no other host."""
    with started(folder, *arguments, PYTHONPATH=os.environ.get("PYTHONPATH", "")) as (_, entry):
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=theme,  # type: ignore[arg-type]
        )
        page = context.new_page()
        said: list[str] = []
        asked: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(entry.as_uri())
        page.wait_for_url("http://*/open")
        if not script:
            cookies, address = context.cookies(), page.url
            context.close()
            context = browser.new_context(java_script_enabled=False)
            context.add_cookies(cookies)  # type: ignore[arg-type]
            page = context.new_page()
            page.goto(address)
        yield page
        origin = re.match(r"http://a[0-9a-f]{16}\.localhost:\d+/", page.url)
        assert origin, page.url
        assert [url for url in asked if not url.startswith((origin[0], entry.as_uri()))] == []
        assert [url for url in asked if SECRET in url or "Befragung" in url or "token" in url] == []
        assert said == []
        context.close()


def computed(page: Page) -> None:
    """Wait until nothing is computed."""
    expect(page.locator("[data-working]")).to_have_count(0, timeout=60_000)


def looked_at(page: Page, screenshots: Path, name: str) -> None:
    """Take a picture for people, and let axe look at the page."""
    page.screenshot(path=screenshots / f"app-{name}.png", full_page=True)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    assert page.locator("h1").count() == 1
    assert page.evaluate("window.planted") is None
    assert SECRET not in page.content()
    assert re.fullmatch("sqlaudit: (Open|Columns|Verdict)", page.title())


def press_until(page: Page, key: str, selector: str) -> None:
    """Press a key until an element has the focus."""
    for _ in range(200):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{selector} is not reached")


def test_the_whole_way_with_the_keyboard_alone(browser: Browser, tmp_path: Path, screenshots: Path) -> None:
    write_table(tmp_path)
    with window(browser, tmp_path) as page:
        looked_at(page, screenshots, "1-folder")
        press_until(page, "Tab", "button.file")
        page.keyboard.press("Enter")
        computed(page)
        expect(page.get_by_text("400 rows, 7 columns")).to_be_visible()
        looked_at(page, screenshots, "1-open")
        press_until(page, "Tab", "button.primary")
        page.keyboard.press("Enter")
        page.wait_for_url("**/columns")
        computed(page)
        undecided = page.locator("tr.ask").count()
        assert undecided >= 1
        looked_at(page, screenshots, "2-columns")
        for left in range(undecided - 1, -1, -1):
            press_until(page, "Tab", "tr.ask input")
            page.keyboard.press("Space")
            for _ in range(3):
                page.keyboard.press("ArrowRight")
            expect(page.locator("tr.ask")).to_have_count(left)
            expect(page.locator(":focus")).to_have_value("insensitive")
        expect(page.locator("#undo")).to_contain_text("Undo: role of")
        press_until(page, "Tab", "button.primary")
        page.keyboard.press("Enter")
        page.wait_for_url("**/verdict")
        computed(page)
        expect(page.locator("h1")).to_contain_text("Not safe")
        looked_at(page, screenshots, "3-verdict")
        press_until(page, "Tab", "#size")
        page.keyboard.press("ArrowUp")
        expect(page.locator("#undo")).to_have_text("Undo: group size 3")
        computed(page)
        expect(page.locator(".figs")).to_contain_text("groups below 3")
        page.keyboard.press("Escape")
        page.locator("main").focus()
        page.keyboard.press("Control+z")
        page.wait_for_load_state()
        computed(page)
        expect(page.locator(".figs")).to_contain_text("groups below 5")
        expect(page.locator("#redo")).to_have_text("Redo: group size 3")
        expect(page.locator("#written")).to_contain_text("Nothing has been written.")
    assert [path.name for path in tmp_path.iterdir()] == ["Befragung.csv"]


@pytest.mark.parametrize(("width", "theme"), [(400, "light"), (400, "dark"), (1280, "dark")])
def test_the_screens_fit_a_phone_and_the_dark(
    browser: Browser, tmp_path: Path, screenshots: Path, width: int, theme: str
) -> None:
    file = write_table(tmp_path)
    with window(browser, tmp_path, file.name, width=width, theme=theme) as page:
        computed(page)
        looked_at(page, screenshots, f"1-open-{width}-{theme}")
        page.get_by_role("button", name="Use this table").click()
        page.wait_for_url("**/columns")
        computed(page)
        looked_at(page, screenshots, f"2-columns-{width}-{theme}")
        while page.locator("tr.ask").count():
            row = page.locator("tr.ask").first
            place = row.get_attribute("id")
            row.get_by_label("Others may know").check()
            expect(page.locator(f"#{place}.ask")).to_have_count(0)
        page.get_by_role("button", name="Show the verdict").click()
        page.wait_for_url("**/verdict")
        computed(page)
        looked_at(page, screenshots, f"3-verdict-{width}-{theme}")


def test_the_screens_work_without_javascript(browser: Browser, tmp_path: Path) -> None:
    file = write_table(tmp_path)
    with window(browser, tmp_path, file.name, script=False) as page:
        page.wait_for_selector("text=400 rows, 7 columns", timeout=60_000)
        page.get_by_role("button", name="Use this table").click()
        page.wait_for_selector(".cols", timeout=60_000)
        for row in page.locator("tr.ask").all():
            row.get_by_label("Neither").check()
        page.get_by_role("button", name="Show the verdict").click()
        page.wait_for_selector(".figs", timeout=60_000)
        expect(page.locator("h1")).to_contain_text("Not safe")


def test_the_button_back_and_a_second_tab_show_the_newest_state(browser: Browser, tmp_path: Path) -> None:
    file = write_table(tmp_path)
    with window(browser, tmp_path, file.name) as page:
        computed(page)
        second = page.context.new_page()
        second.goto(page.url)
        computed(second)
        page.get_by_role("button", name="Use this table").click()
        page.wait_for_url("**/columns")
        computed(page)
        second.get_by_role("button", name="another file or project").click()
        expect(second.get_by_role("alert")).to_contain_text("nothing was done")
        page.go_back()
        computed(page)
        expect(page.locator("#undo")).to_have_text("Undo: how the file is read")
        second.close()


def test_a_second_browser_stays_outside(browser: Browser, tmp_path: Path) -> None:
    with window(browser, tmp_path) as page:
        other = browser.new_context()
        stranger = other.new_page()
        answer = stranger.goto(page.url)
        assert answer is not None
        assert answer.status == 401
        other.close()
        page.get_by_text("Project", exact=True).click()
        page.get_by_role("button", name="Close this window").click()
        expect(page.locator("h1")).to_have_text("sqlaudit has ended")
    assert IDLE > 60
