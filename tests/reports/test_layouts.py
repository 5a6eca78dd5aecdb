"""Text and Markdown from the same document."""

from __future__ import annotations

import shlex

import pytest
from rich.cells import cell_len

from sqlaudit.reports.document import (
    Bullets,
    Column,
    Document,
    Facts,
    Paragraph,
    ProposedCommand,
    Section,
    Table,
    Toned,
    section,
)
from sqlaudit.reports.markdown import render_markdown
from sqlaudit.reports.text import render_text

DOCUMENT = Document(
    Toned("FAIL: one | thing", "bad"),
    (Paragraph("Said first."),),
    (
        Section("List", (Bullets(("one", Toned("two", "bad"))), Facts((("name", "value"),)))),
        Section("Table", (Table((Column("model"), Column("level", True)), (("k", Toned("1", "bad")),), "Caption:"),)),
    ),
)


def test_text() -> None:
    assert render_text(DOCUMENT) == (
        "FAIL: one | thing\n"
        "  Said first.\n"
        "\n"
        "List\n"
        "  • one\n"
        "  • two\n"
        "\n"
        "  name  value\n"
        "\n"
        "Table\n"
        "  Caption:\n"
        "  model   level\n"
        "  ─────────────\n"
        "  k           1\n"
        "\n"
        "`sqlaudit help glossary` explains the words of this report.\n"
    )


def test_markdown() -> None:
    assert render_markdown(DOCUMENT) == (
        "# FAIL: one \\| thing\n\n"
        "Said first.\n\n"
        "## List\n\n"
        "- one\n- two\n\n"
        "- **name**: value\n\n"
        "## Table\n\n"
        "Caption:\n\n"
        "| model | level |\n| :--- | ---: |\n| k | **1** |\n\n"
        "`sqlaudit help glossary` explains the words of this report.\n"
    )


def test_colour_only_when_asked() -> None:
    assert "\x1b" not in render_text(DOCUMENT)
    assert "\x1b[1;31m" in render_text(DOCUMENT, colour=True)


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_no_line_is_longer_than_the_width(width: int) -> None:
    long = "x" * 300
    wide = "漢" * 150
    document = Document(
        long,
        (Paragraph(wide), Bullets((long,)), Facts(((long, wide), ("short", long)))),
        section(
            wide, Table((Column(long), Column("n", True), Column(wide)), ((long, "1", wide), ("a", "2", long)), long)
        ),
    )
    for line in render_text(document, width).splitlines():
        assert cell_len(line) <= width


def test_captions_are_as_wide_as_the_text_and_not_as_their_table() -> None:
    caption = "Highest 0.5, mean 0.25, of one record."
    document = Document("head", (), section("Risk", Table((Column("Risk"),), (("1",),), caption)))
    assert render_text(document).splitlines()[:4] == ["head", "", "Risk", f"  {caption}"]


COMMAND = ("sqlaudit", "audit", "people.csv", "--qi", "zip,age,height", "--sensitive", "'monthly income',diagnosis")


def test_commands_can_be_copied_whole() -> None:
    document = Document("head", (), section("Next", ProposedCommand("Then audit:", COMMAND)))
    assert f"  Then audit:\n    {' '.join(COMMAND)}\n" in render_text(document, 100)
    narrow = render_text(document, 50)
    assert narrow.splitlines()[3:] == [
        "  Then audit:",
        "    sqlaudit audit people.csv \\",
        "      --qi zip,age,height \\",
        "      --sensitive 'monthly income',diagnosis",
    ]
    as_a_shell_reads_it = narrow.partition("Then audit:")[2].replace("\\\n", "")
    assert shlex.split(as_a_shell_reads_it) == shlex.split(" ".join(COMMAND))
    long = ("sqlaudit", "audit", "people.csv", "--qi", ",".join(f"column_{number}" for number in range(20)))
    said = render_text(Document("head", (), section("Next", ProposedCommand("Then audit:", long))), 60)
    assert shlex.split(said.partition("Then audit:")[2].replace("\\\n", "")) == list(long)
    assert f"Then audit:\n\n```sh\n{' '.join(COMMAND)}\n```\n" in render_markdown(document)
    assert "\n````sh\na ```\n````\n" in render_markdown(Document("h", (ProposedCommand("x", ("a", "```")),)))


def test_markup_in_texts_is_text() -> None:
    planted = "[red]no[/red] :smile: \x1b]0;title\x07"
    document = Document(
        planted, (Paragraph(planted), Bullets((planted,))), section(planted, Facts(((planted, planted),)))
    )
    shown = "[red]no[/red] :smile: \\x1b]0;title\\x07"
    assert render_text(document, 200).count(shown) == 5
    assert "\x1b" not in render_markdown(document)


def test_a_section_without_content_is_left_out() -> None:
    assert section("Nothing", Bullets(()), None, Paragraph(""), Facts(()), Table((), ())) == ()
