"""Every command of the pages on the papers runs: those of their tables and sentences, too, not of blocks alone."""

from __future__ import annotations

import csv
import random
import re
import shutil
from pathlib import Path

import pytest

from sqlaudit.papers import tables
from sqlaudit.papers.tables import paper_tables
from tests.pages.test_docs import blocks, run
from tests.places import REPOSITORY

DOCS = REPOSITORY / "docs"
PAGES = ("papers.md", "errata.md")
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(\[)?`([^`]+)`(?:\]\(([^)#]+)(?:#[^)]*)?\))?")
COMPLETE = re.compile(r"sqlaudit \w+ \S")
FIGURES = {
    "sqlaudit suppress 003-figure-5.2-4.csv": "159 cells suppressed (proven minimum)",
    "sqlaudit compare 003-table-4.3-1.csv": "variance loss −2 −0.25 −100% hybrid −4",
    "sqlaudit attack 004-figure-2.csv": "0 a single row, 0 fewer than 5",
    "sqlaudit disclosure t.csv": "0.6667",
}
"""What the output of some of them says."""


def spans(page: str) -> list[tuple[str, str]]:
    """What stands between backticks outside of blocks, each with the page that it links to, if it does."""
    prose = BLOCK.sub("", (DOCS / page).read_text(encoding="utf-8"))
    return [(" ".join(text.replace("\\|", "|").split()), link) for _, text, link in SPAN.findall(prose)]


def commands() -> list[str]:
    """Every complete command, in the order of the pages."""
    return list(dict.fromkeys(text for page in PAGES for text, _ in spans(page) if COMPLETE.match(text)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The papers' tables as the pages name them, a small table like Adult, and the hierarchies of its page."""
    place = tmp_path_factory.mktemp("papers")
    for name, table in paper_tables().items():
        _write(place / f"{name.replace(':', '-')}.csv", table.columns, table.rows)
    shutil.copy(place / "004-figure-3.csv", place / "t.csv")
    chance = random.Random(1)
    status = ("Never-married", "Divorced", "Separated", "Widowed", "Married-civ-spouse", "Married-spouse-absent")
    people = [
        (chance.randint(17, 90), chance.choice(status), chance.choice("wb"), chance.choice("fm"), f"o{place % 14}")
        for place in range(300)
    ]
    _write(place / "adult.csv", ("age", "marital-status", "race", "sex", "occupation"), people)
    described = (DOCS / "disclosure_paper.md").read_text(encoding="utf-8")
    (place / "paper.yml").write_text(described.split("```yaml\n")[1].split("```")[0], encoding="utf-8")
    return place


def _write(path: Path, columns: tuple[str, ...], rows: object) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)  # type: ignore[arg-type]


@pytest.mark.parametrize("command", commands())
def test_a_command_between_the_lines_runs(command: str, folder: Path, tmp_path: Path, warm: Path) -> None:
    place = tmp_path if "--save" in command else folder
    printed = run(f"{command}; echo exit code $?", place, warm)
    assert printed.splitlines()[-1] in ("exit code 0", "exit code 1"), printed
    shown = " ".join(printed.split())
    for start, figure in FIGURES.items():
        assert not command.startswith(start) or figure in shown, printed


def test_the_figures_are_of_commands() -> None:
    assert all(any(command.startswith(start) for command in commands()) for start in FIGURES)
    assert len(commands()) >= 10


@pytest.mark.parametrize("page", PAGES)
def test_an_option_alone_is_run_in_a_block(page: str) -> None:
    for text, link in spans(page):
        options = re.findall(r"(?:^|\s)--([a-z-]+)", text) or re.findall(r"^([a-z_]+)=", text)
        if COMPLETE.match(text) or not (options or re.fullmatch(r"sqlaudit \w+", text)):
            continue
        pages = [DOCS / link] if link else sorted(DOCS.glob("*.md"))
        ran = "".join(block for path in pages for _, block in blocks(path))
        for option in options:
            name = option.replace("-", "_")
            assert re.search(rf'--{option}\b|\b{name}=|"{name}":', ran), (text, link)
        if not options:
            assert text in ran, (text, link)


@pytest.mark.parametrize("page", PAGES)
def test_what_is_named_is_there(page: str) -> None:
    for text, _ in spans(page):
        assert not text.startswith("tests/") or (REPOSITORY / text).exists(), text
        assert not text.endswith("_rows") or hasattr(tables, text), text


def test_no_row_is_without_a_value_or_a_reason() -> None:
    lines = (DOCS / "papers.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines if line.startswith("| ")]
    rows = [row for row in rows if row[0] not in ("place", "---")]
    assert len(rows) > 60
    for row in rows:
        assert len(row) == 4, row
        assert all(row), row
        assert row[1] != "–" or row[3] not in ("–", "none"), row
