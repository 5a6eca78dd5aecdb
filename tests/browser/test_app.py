"""The window in Chromium: the whole way by keyboard, accessible, on phones, in the dark, and with no other request."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from sqlaudit.app.server import IDLE
from tests.browser.window import looked_at, press_until, settled, window

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


def test_the_whole_way_with_the_keyboard_alone(browser: Browser, tmp_path: Path, screenshots: Path) -> None:
    write_table(tmp_path)
    with window(browser, tmp_path) as page:
        looked_at(page, screenshots, "0-folder")
        press_until(page, "Tab", "button.file")
        page.keyboard.press("Enter")
        settled(page)
        expect(page.get_by_text("400 rows, 7 columns")).to_be_visible()
        looked_at(page, screenshots, "1-odd")
        assert SECRET not in page.content()
        press_until(page, "Tab", "button.primary")
        page.keyboard.press("Enter")
        page.wait_for_url("**/columns")
        settled(page)
        undecided = page.locator("tr.ask").count()
        assert undecided >= 1
        looked_at(page, screenshots, "2-odd")
        assert SECRET not in page.content()
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
        settled(page)
        expect(page.locator("h1")).to_contain_text("Not safe")
        looked_at(page, screenshots, "3-odd")
        press_until(page, "Tab", "#size")
        page.keyboard.press("ArrowUp")
        expect(page.locator("#undo")).to_have_text("Undo: group size 3")
        settled(page)
        expect(page.locator(".figs")).to_contain_text("groups below 3")
        page.keyboard.press("Escape")
        page.locator("main").focus()
        page.keyboard.press("Control+z")
        expect(page.locator("#redo")).to_have_text("Redo: group size 3")
        settled(page)
        expect(page.locator(".figs")).to_contain_text("groups below 5")
        expect(page.locator("#written")).to_contain_text("Nothing has been written.")
        assert SECRET not in page.content()
    assert [path.name for path in tmp_path.iterdir()] == ["Befragung.csv"]


def test_the_button_back_and_a_second_tab_show_the_newest_state(browser: Browser, tmp_path: Path) -> None:
    file = write_table(tmp_path)
    with window(browser, tmp_path, file.name) as page:
        settled(page)
        second = page.context.new_page()
        second.goto(page.url)
        settled(second)
        page.get_by_role("button", name="Use this table").click()
        page.wait_for_url("**/columns")
        settled(page)
        second.get_by_role("button", name="another file or project").click()
        expect(second.get_by_role("alert")).to_contain_text("nothing was done")
        page.go_back()
        settled(page)
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
