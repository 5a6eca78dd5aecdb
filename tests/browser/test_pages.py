"""Every page: quiet, alone, accessible, at home on phones and on paper, and deaf to what names and values say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import Literal

import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

import sqlaudit
from sqlaudit.reports.document import Picture, Strip, compose, section, table
from sqlaudit.reports.document import bars as bars_of
from sqlaudit.reports.document import strips as strips_of
from sqlaudit.reports.page import render_html
from tests.browser.conftest import COMMANDS, HEIGHT, KEPT, NAMES, SCRIPT, SECRET, Pages, listen

Theme = Literal["light", "dark"]
WIDTHS = {"phone": 360, "wide phone": 400, "tablet": 820, "laptop": 1280, "desk": 1440}
PAPER: dict[Theme, str] = {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 28)"}
MOST_BYTES = 1_500_000


@contextmanager
def opened(
    browser: Browser, path: Path, width: int = 1440, theme: Theme = "light", strict: bool = True
) -> Iterator[Page]:
    """The page; what it says in the console or asks for fails the test."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme, bypass_csp=not strict)
    page = context.new_page()
    said, asked = listen(page)
    page.goto(path.as_uri())
    yield page
    context.close()
    if strict:
        assert said == []
    assert asked == [path.as_uri()]


@pytest.fixture(scope="module", params=NAMES)
def named(request: pytest.FixtureRequest, browser: Browser, pages: Pages) -> Iterator[tuple[str, Page]]:
    """A page by its name, loaded once for all tests that look at it in widths and themes, and leave it as it is."""
    with opened(browser, pages[request.param]) as page:
        yield request.param, page


def look(page: Page, width: int, theme: Theme = "light") -> None:
    """Show a page in a width and a theme."""
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=theme)


def test_a_page_is_small_and_quiet(named: tuple[str, Page], pages: Pages) -> None:
    name, page = named
    assert pages[name].stat().st_size < MOST_BYTES
    assert page.locator("h1").count() == 1
    assert page.locator("script").count() == 1  # its own, which the policy names by its checksum
    assert page.evaluate("window.planted") is None
    assert page.title() == page.locator("h1").inner_text()


def test_a_page_fits_every_width_in_both_themes(named: tuple[str, Page], screenshots: Path) -> None:
    name, page = named
    for theme, paper in PAPER.items():
        for width, pixels in WIDTHS.items():
            look(page, pixels, theme)
            if KEPT and width in ("wide phone", "laptop"):
                page.screenshot(path=screenshots / f"{name}-{width}-{theme}.png", full_page=True)
            assert page.evaluate("document.documentElement.scrollWidth") <= pixels
            assert page.evaluate("getComputedStyle(document.body).backgroundColor") == paper


SMALLEST_TEXT = 11
"""Pixels that letters of charts have at least."""
_CHARTS = """() => {
    const box = one => (({left, right, top, bottom}) => ({left, right, top, bottom}))(one.getBoundingClientRect())
    const size = svg => parseFloat(svg.style.fontSize) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width
    const text = one => ({words: one.textContent, ...box(one)})
    return [...document.querySelectorAll('figure svg')].filter(svg => getComputedStyle(svg).display != 'none').map(
        svg => ({size: size(svg), box: box(svg), texts: [...svg.querySelectorAll('text')].map(text)}))
}"""


WITHOUT_CHARTS = {"baseline", "disclosure", "model", "models", "rules", "test", "what if"}
"""The pages of results that have nothing to draw."""


def test_charts_can_be_read(named: tuple[str, Page]) -> None:
    """Letters are large enough, none is cut, and no text covers another."""
    name, page = named
    for width in (400, 820, 1280):
        look(page, width)
        charts = page.evaluate(_CHARTS)
        assert bool(charts) is (name not in WITHOUT_CHARTS)
        for chart in charts:
            assert chart["size"] >= SMALLEST_TEXT - 0.2, (width, chart["size"])
            box, texts = chart["box"], chart["texts"]
            for text in texts:
                assert min(text["left"] - box["left"], box["right"] - text["right"]) >= -1, (width, text["words"])
                assert min(text["top"] - box["top"], box["bottom"] - text["bottom"]) >= -1, (width, text["words"])
            for one, other in combinations(texts, 2):
                across = min(one["right"], other["right"]) - max(one["left"], other["left"])
                down = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
                assert across <= 1.5 or down <= 3, (width, one["words"], other["words"])


@pytest.mark.parametrize("width", [400, 1280])
def test_wide_labels_are_not_cut(browser: Browser, tmp_path: Path, width: int) -> None:
    """Labels of the widest letters, and shares in words, whose letters are wider than the usual ones."""
    names, shares = ["summary", "mammogram", "MWMWMWMW", "ill"], [1.0, 0.9999, 0.972, 0.0001]
    bars = bars_of("bars", names, {"with it": shares, "without it": shares}, "rows", share=True)
    rows = {"rows": names, "columns": names, "x": "requirement", "y": "table"}
    heat = Picture("heat", "cells", {**rows, "values": [shares] * 4, "texts": [["1"] * 4] * 4})
    sets = {
        "columns": names,
        "sets": [[name] for name in names],
        "labels": ["over 99.9%", "100%", "17.7%", "under 0.1%"],
    }
    matrix = Picture("matrix", "sets", {**sets, "x": "rows at risk"})
    strips = strips_of("strips", {name: [Strip("over 99.9% suppressed", [1, 2])] for name in names})
    path = tmp_path / "page.html"
    path.write_text(render_html(compose("Labels", (), section("Charts", bars, heat, matrix, strips))), "utf-8")
    with opened(browser, path, width) as page:
        charts = page.evaluate(_CHARTS)
    assert len(charts) == 4
    for chart in charts:
        box = chart["box"]
        for text in chart["texts"]:
            assert min(text["left"] - box["left"], box["right"] - text["right"]) >= -1, text["words"]
            assert min(text["top"] - box["top"], box["bottom"] - text["bottom"]) >= -1, text["words"]


_BOXES = """() => {
    const shown = one => one.checkVisibility() && one.getClientRects().length > 0
    const inline = one => [...one.childNodes].some(node => node.nodeType == 3 && node.textContent.trim())
    const scrolls = one => one.closest('.table, pre, svg') !== null
    const box = one => { const range = document.createRange(); range.selectNodeContents(one)
        return (({left, right, top, bottom}) => ({left, right, top, bottom}))(range.getBoundingClientRect()) }
    return [...document.body.querySelectorAll('*')].filter(one => shown(one) && inline(one) && !scrolls(one)
        && !one.closest('script, .skip')).map(one => ({words: one.textContent.slice(0, 60), ...box(one),
        inside: [...document.querySelectorAll('nav, main')].findIndex(part => part.contains(one)),
        parents: one.parentElement && inline(one.parentElement)}))
}"""


def test_no_text_of_a_page_is_cut_or_covers_another(named: tuple[str, Page]) -> None:
    for width in (400, 1100, 1280):
        look(named[1], width)
        texts = [text for text in named[1].evaluate(_BOXES) if not text["parents"]]
        texts.sort(key=lambda text: text["top"])
        assert len(texts) > 10
        for place, one in enumerate(texts):
            assert one["left"] >= -0.5, (width, one["words"])
            assert one["right"] <= width + 0.5, (width, one["words"])
            for other in texts[place + 1 :]:
                if other["top"] >= one["bottom"]:
                    break
                across = min(one["right"], other["right"]) - max(one["left"], other["left"])
                down = min(one["bottom"], other["bottom"]) - other["top"]
                assert across <= 1.5 or down <= 3, (width, one["words"], other["words"])


_PLACES = "all => all.map(one => one.getBoundingClientRect().left)"


def test_contents_stay_beside_the_report_where_there_is_room(browser: Browser, pages: Pages) -> None:
    for width, beside in ((1099, False), (1100, True), (1280, True)):
        with opened(browser, pages["audit"], width) as page:
            page.evaluate("scrollTo(0, 1200)")
            left, right, top = page.eval_on_selector(
                "nav", "one => (({left, right, top}) => [left, right, top])(one.getBoundingClientRect())"
            )
            assert (top >= 0) is beside
            assert left >= 10
            if beside:
                assert right < min(page.eval_on_selector_all("h2", _PLACES))


_CELLS = "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"


def test_tables_are_sorted_by_mouse_and_keyboard(browser: Browser, tmp_path: Path) -> None:
    figures = ["9", "1,000", "−3", "", "3.2%", "under 0.1%", "∞", "12 (40.0%)", "1/3", "1 in 5"]
    rows = [(f"name {place}", figure) for place, figure in enumerate(figures)]
    ascending = ["−3", "under 0.1%", "1 in 5", "1/3", "3.2%", "9", "12 (40.0%)", "1,000", "∞"]
    path = tmp_path / "table.html"
    many = [*rows, *((f"name {place}", str(place)) for place in range(20, 40))]
    short, long = table(("name", "#figure"), rows), table(("name", "#figure"), many)
    path.write_text(render_html(compose("Two tables", [short, long])), "utf-8")
    with opened(browser, path) as page:
        first, heads = page.locator("table").first, page.locator("table").first.locator("th")
        heads.nth(1).locator("button").click()
        assert heads.nth(1).get_attribute("aria-sort") == "descending"
        assert [row[1] for row in first.locator("tbody tr").evaluate_all(_CELLS)] == [*ascending[::-1], ""]
        page.keyboard.press("Enter")
        assert heads.nth(1).get_attribute("aria-sort") == "ascending"
        assert [row[1] for row in first.locator("tbody tr").evaluate_all(_CELLS)] == [*ascending, ""]
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Space")
        assert [head.get_attribute("aria-sort") for head in heads.all()] == ["ascending", None]
        assert [tuple(row) for row in first.locator("tbody tr").evaluate_all(_CELLS)] == rows
        page.locator("table").nth(1).locator("th button").nth(1).click()  # the folded rows are sorted in
        values = page.locator("table").nth(1).locator("tbody tr").evaluate_all(_CELLS)
        assert [row[1] for row in values[:3]] == ["∞", "1,000", "39"]
        assert len(values) == len(many)
        assert page.locator("details").count() == 0


def test_a_page_is_whole_without_scripts(browser: Browser, pages: Pages) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(pages["audit"].as_uri())
    assert page.locator("th button").count() == 0
    assert page.locator("th").count() > 5
    context.close()


@pytest.mark.parametrize("name", ["audit", "attack"])
def test_the_first_chart_is_visible_in_a_notebook(browser: Browser, pages: Pages, tmp_path: Path, name: str) -> None:
    """In a cell as wide as Jupyter's, before anything is scrolled; the links of the contents lead somewhere."""
    people, roles = pd.read_csv(pages.folder / "people.csv"), {"qi": ["age", "sex"], "sensitive": "ill"}
    found = getattr(sqlaudit, name)(people, **roles)
    path = tmp_path / "notebook.html"
    path.write_text(
        f'<!DOCTYPE html><html lang="en"><title>n</title><body>{found._repr_html_()}</body></html>', "utf-8"
    )
    with opened(browser, path, 940, strict=False) as page:  # scripts of the test itself are refused in the frame
        frame = page.frame_locator("iframe")
        bottom = page.locator("iframe").bounding_box()
        chart = frame.locator("figure").first.locator("svg").first.bounding_box()
        assert bottom is not None
        assert chart is not None
        assert chart["y"] + 0.6 * chart["height"] < bottom["y"] + bottom["height"]
        assert frame.locator("script").count() == 0
        frame.locator("nav a").last.click()
        assert frame.locator("html").evaluate("html => html.scrollTop") > 0


def test_the_links_of_a_page_lead_somewhere(named: tuple[str, Page]) -> None:
    links = named[1].eval_on_selector_all("nav a", "all => all.map(one => one.getAttribute('href'))")
    assert [link for link in links if named[1].locator(link).count() != 1] == []


def test_only_those_who_repeat_it_read_of_commands(named: tuple[str, Page]) -> None:
    name, page = named
    if COMMANDS.get(name, name) == "models":
        return
    hide = (
        "hidden => document.querySelectorAll('pre, details').forEach(one => one.style.display = hidden ? 'none' : '')"
    )
    page.evaluate(hide, True)
    said = page.inner_text("main")
    page.evaluate(hide, False)
    before, repeated, _ = said.partition("How to repeat this\n\n")
    assert repeated
    assert re.findall(r"(?<![\w-])--[a-z][a-z-]*|`sqlaudit[^`]*`", before) == []


def test_names_and_values_stay_text(named: tuple[str, Page], pages: Pages) -> None:
    name, page = named
    assert HEIGHT in page.inner_text("main") or name != "columns"
    text = pages[name].read_text("utf-8")
    assert SECRET not in text
    assert "secret" not in text
    assert SCRIPT not in text


def test_every_picture_is_named_and_its_figures_are_in_words_too(named: tuple[str, Page]) -> None:
    for figure in named[1].locator("figure").all():
        assert figure.get_attribute("role") == "img"
        assert figure.get_attribute("aria-label") == figure.locator("figcaption").inner_text()
        section = figure.locator("xpath=ancestor::*[self::section or self::main][1]")
        assert section.locator("table, dl, p, ul").count() > 0


def test_axe_finds_nothing_serious(named: tuple[str, Page]) -> None:
    """The last one, as it opens what is folded."""
    _, page = named
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    for theme in PAPER:
        look(page, WIDTHS["desk"], theme)
        found = Axe().run(page).response
        assert len(found["passes"]) > 10
        assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == [], theme


def test_the_keyboard_reaches_everything(browser: Browser, pages: Pages) -> None:
    with opened(browser, pages["audit"]) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
        reachable = page.locator("a, summary, button, [tabindex='0']").count()
        seen = set()
        for _ in range(reachable):
            page.keyboard.press("Tab")
            seen.add(page.evaluate("document.activeElement.outerHTML.slice(0, 200)"))
        assert page.locator("summary").count() > 0
        assert any("<summary" in one for one in seen)
        assert any('class="table"' in one for one in seen)


def test_paper_is_white_whatever_the_theme(browser: Browser, pages: Pages, screenshots: Path) -> None:
    with opened(browser, pages["audit"], theme="dark") as page:
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.evaluate("getComputedStyle(document.querySelector('header p')).color") == "rgb(0, 0, 0)"
        if KEPT:
            page.screenshot(path=screenshots / "audit-paper.png", full_page=True)


def test_a_notebook_shows_the_report_in_its_frame(browser: Browser, tmp_path: Path) -> None:
    people = pd.DataFrame({"age": [31, 31, 52], SCRIPT: ["f", "f", "m"]})
    frame = sqlaudit.audit(people, qi=["age", SCRIPT], require={"k": 2})._repr_html_()
    path = tmp_path / "notebook.html"
    path.write_text(f'<!DOCTYPE html><html lang="en"><title>n</title><body>{frame}</body></html>', "utf-8")
    context = browser.new_context()
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(path.as_uri())
    inside = page.frame_locator("iframe")
    assert inside.locator("h1").inner_text() == "FAIL: the requirement is not met"
    assert page.evaluate("window.planted") is None
    assert said == []  # below, the test's own scripts are refused in the frame, which is said
    inside.locator("nav a").last.click()
    assert inside.locator("html").evaluate("html => html.scrollTop") > 0
    context.close()
