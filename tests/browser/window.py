"""The window in Chromium, opened by its entry file as a person does."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Error, Page, expect

from tests.app.process import started
from tests.browser.conftest import listen

LONG = 120_000
"""Milliseconds for which a page is waited for."""
KNOWN, HIDDEN, NAMES, NEITHER = "quasi_identifiers", "sensitive", "identifiers", "insensitive"
Look = tuple[int, Literal["light", "dark"]]
DESK: Look = (1280, "light")
LOOKS: Sequence[Look] = (DESK, (400, "light"), (400, "dark"), (1280, "dark"))
"""Widths and themes in which a page is looked at."""


@contextmanager
def window(browser: Browser, folder: Path, *arguments: str, scripts: bool = True) -> Iterator[Page]:
    """Open the window in a folder. It may say nothing in the console, ask no other host, and name nothing in addresses.

    Args:
        arguments: of `sqlaudit app`. scripts: False = they are switched off once the window was entered.
    """
    with started(folder, *arguments, PYTHONPATH=os.environ.get("PYTHONPATH", "")) as (_, entry):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        page.set_default_timeout(LONG)
        expect.set_options(timeout=LONG)
        said, asked = listen(page)
        page.goto(entry.as_uri())
        page.wait_for_selector("h1:has-text('?')")
        if not scripts:
            state, address = context.storage_state(), page.url
            context.close()
            context = browser.new_context(java_script_enabled=False, storage_state=state)
            page = context.new_page()
            page.set_default_timeout(LONG)
            page.goto(address)
        yield page
        host = urlsplit(page.url).netloc
        assert re.fullmatch(r"a[0-9a-f]{16}\.localhost:\d+", host)
        others = {url for url in asked if urlsplit(url).scheme not in ("file", "data")}
        assert {urlsplit(url).netloc for url in others} == {host}
        # No name, value or token: paths are ours
        assert all(re.fullmatch(r"http://[^/]+/[a-z./]*(#[\w-]*)?", url) for url in others), others
        assert said == []
        context.close()


def settled(page: Page) -> None:
    """Wait until no form is under way, and nothing is computed."""
    while True:
        try:
            if not page.evaluate("typeof sending === 'boolean' && (sending || again !== null)"):
                break
        except Error:  # that page has just gone; the next one is asked
            page.wait_for_load_state()
        page.wait_for_timeout(20)
    expect(page.locator("[data-working]")).to_have_count(0)


def primary(page: Page, heading: str) -> None:
    """Press the primary button, and wait for the next question."""
    expect(page.locator("footer .primary")).to_be_enabled()
    page.locator("footer .primary").click()
    page.wait_for_selector(f"h1:has-text('{heading}')")
    settled(page)


def decide(page: Page, **roles: str) -> None:
    """Give each column its role; those that are not named are neither."""
    page.wait_for_selector("#main-form tr")
    for row in page.locator("tr[id^=c]").all():
        name = row.locator("th").inner_text().split("\n")[0]
        row.locator(f"input[value={roles.get(name, NEITHER)}]").check(force=True)
    settled(page)


def press_until(page: Page, key: str, selector: str) -> None:
    """Press a key until an element has the focus."""
    for _ in range(200):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{selector} is not reached")


def looked_at(page: Page, screenshots: Path, name: str, looks: Sequence[Look] = LOOKS) -> None:
    """A page is accessible, fits a phone, is dark where that is asked for, and has its pictures taken."""
    for width, theme in looks:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        page.evaluate("document.querySelector('footer').style.position = 'static'")  # it covers the middle of a picture
        page.screenshot(path=screenshots / f"app-{name}-{width}-{theme}.png", full_page=True)
        page.evaluate("document.querySelector('footer').style.position = ''")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light")
    assert page.locator("h1").count() == 1
    assert page.evaluate("window.planted") is None
    assert re.fullmatch("sqlaudit: (Open|Columns|Verdict|Make it safe|Release)", page.title())
