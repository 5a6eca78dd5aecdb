"""The layout as HTML. Names and values are data: everything is escaped here, and nothing else writes markup."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from importlib import resources

from sqlaudit.reports.blocks import (
    Block,
    Bullets,
    Code,
    Facts,
    Paragraph,
    Picture,
    ProposedCommand,
    Table,
    Words,
    hint_of,
    text_of,
    tone_of,
    without_hint,
    words_of,
)
from sqlaudit.reports.document import Document, Section, asked_by, signed_by
from sqlaudit.reports.escape import visible
from sqlaudit.reports.figures import count
from sqlaudit.reports.glossary import terms_of
from sqlaudit.reports.page.paper import paper_style
from sqlaudit.reports.page.pictures import drawn

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""A browser that reads this refuses every script and every request, whatever the page holds."""


def render_html(document: Document) -> str:
    """The document as one page that needs nothing besides itself.

    What is for whoever runs commands stands at its end, and then the words that occur in it with their meaning.

    Args:
        document: what to lay out; its pictures are drawn, simpler where matplotlib is missing, and each has its table.

    Returns:
        A whole HTML document that ends with a line feed.
    """
    title = _escaped(": ".join(filter(None, (document.about.title, without_hint(document.headline)))))
    parts_of_page = list(enumerate(_for_readers(document), 1))
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="generator" content="sqlaudit">',
        f"<title>{title}</title>",
        f"<style>\n{_style()}{paper_style(document.about)}</style>",
        "</head>",
        "<body>",
        '<a class="skip" href="#report">Skip to the report</a>',
        '<main id="report">',
        *_header(document),
        *_contents([(number, title) for number, (title, _) in parts_of_page]),
        *(line for number, (title, lines) in parts_of_page for line in _section(number, title, lines)),
        "</main>",
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _for_readers(document: Document) -> Iterator[tuple[str, Iterable[str]]]:
    """The sections in the order of a page, each with its lines."""
    cards = {*document.worst}
    for section in document.sections:
        blocks = [
            block
            for block in section.blocks
            if not isinstance(block, ProposedCommand) and not (isinstance(block, Bullets) and {*block.items} <= cards)
        ]
        if blocks and not section.repeating and not all(isinstance(block, Code) for block in blocks):
            yield section.title, _blocks(blocks)
    if repeated := list(_repeating(document)):
        yield "How to repeat this", repeated
    yield from ((signing.title, _blocks(signing.blocks)) for signing in signed_by(document.about))
    if terms := terms_of(document):
        yield "Words on this page", _block(Facts(tuple((term.name, term.meaning) for term in terms)))
    for section in document.sections:
        if section.blocks and all(isinstance(block, Code) for block in section.blocks):
            yield section.title, _folded(section)


def _every_block(document: Document) -> Iterator[Block]:
    yield from document.lead
    for section in document.sections:
        yield from section.blocks


def _repeating(document: Document) -> Iterator[str]:
    """What is for whoever runs commands: the command, what to try, how it was computed, and hints of sentences."""
    about = document.about
    if about.command:
        yield from ("<p>The same again:</p>", _command(about.command))
    facts = (("figures", f"checksum {about.checksum}: the same figures have the same checksum"),)
    if about.checksum:
        yield from _block(Facts(facts))
    said = (words for block in _every_block(document) for words in words_of(block) if hint_of(words))
    if hints := dict.fromkeys(map(text_of, said)):
        yield from _block(Bullets(tuple(hints)))
    for section in document.sections:
        if not section.repeating:
            yield from _blocks(block for block in section.blocks if isinstance(block, ProposedCommand))
        else:
            yield f"<h3>{_escaped(section.title)}</h3>"
            yield from _blocks(section.blocks)


def _folded(section: Section) -> Iterator[str]:
    """A section of nothing but code behind one summary, each text behind its own."""
    if len(section.blocks) == 1:
        yield from _blocks(section.blocks)
        return
    yield f"<details><summary>Show all {count(len(section.blocks))}</summary>"
    yield from _blocks(section.blocks)
    yield "</details>"


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        yield from _block(block)


def _style() -> str:
    return resources.files("sqlaudit.reports.page").joinpath("page.css").read_text(encoding="utf-8")


def _header(document: Document) -> Iterator[str]:
    about = document.about
    if about.title:
        yield f'<p class="title">{_escaped(about.title)}</p>'
    yield f'<header class="{tone_of(document.headline)}">'
    yield f"<h1>{_escaped(without_hint(document.headline))}</h1>"
    yield from _blocks(document.lead)
    yield "</header>"
    if document.worst:
        yield '<ol class="worst" aria-label="The worst facts">'
        yield from (f'<li class="{tone_of(words)}">{_escaped(without_hint(words))}</li>' for words in document.worst)
        yield "</ol>"
    yield from _blocks(asked_by(about))


def _contents(numbered: list[tuple[int, str]]) -> Iterator[str]:
    if len(numbered) < 3:
        return
    yield '<nav aria-label="Sections"><ul>'
    yield from (f'<li><a href="#s{number}">{_escaped(title)}</a></li>' for number, title in numbered)
    yield "</ul></nav>"


def _section(number: int, title: str, lines: Iterable[str]) -> Iterator[str]:
    yield f'<section id="s{number}" aria-labelledby="h{number}">'
    yield f'<h2 id="h{number}">{_escaped(title)}</h2>'
    yield from lines
    yield "</section>"


def _block(block: Block) -> Iterable[str]:
    if isinstance(block, Paragraph):
        return [f"<p{_tone(block.words)}>{_escaped(without_hint(block.words))}</p>"]
    if isinstance(block, Bullets):
        return ["<ul>", *(f"<li{_tone(item)}>{_escaped(without_hint(item))}</li>" for item in block.items), "</ul>"]
    if isinstance(block, Facts):
        return ["<dl>", *(line for name, words in block.pairs for line in _fact(name, words)), "</dl>"]
    if isinstance(block, Picture):
        return _picture(block)
    return _table(block) if isinstance(block, Table) else _letters(block)


def _letters(block: Code | ProposedCommand) -> list[str]:
    """What is read letter by letter."""
    if isinstance(block, ProposedCommand):
        return [f"<p>{_escaped(block.what)}</p>", _command(" ".join(block.words))]
    return [
        f"<details><summary>{_escaped(block.summary)}</summary>",
        f'<pre tabindex="0">{_escaped(block.text, lines=True)}</pre></details>',
    ]


def _command(text: str) -> str:
    return f'<pre class="command" tabindex="0">{_escaped(text, lines=True)}</pre>'


def _fact(name: str, words: Words) -> Iterator[str]:
    yield f"<div><dt>{_escaped(name)}</dt>"
    yield f"<dd{_tone(words)}>{_escaped(without_hint(words))}</dd></div>"


def _picture(picture: Picture) -> Iterator[str]:
    image = drawn(picture)
    yield f'<figure role="img" aria-label="{_escaped(picture.title)}">'
    yield image
    yield f"<figcaption>{_escaped(picture.title)}</figcaption></figure>"


def _table(table: Table) -> Iterator[str]:
    """A table in a box that scrolls by itself, so that the page never does sideways."""
    label = _escaped(table.caption or "table")
    yield f'<div class="table" tabindex="0" role="group" aria-label="{label}"><table>'
    if table.caption:
        yield f"<caption>{_escaped(table.caption)}</caption>"
    heads = (f'<th scope="col"{_number(c.numeric)}>{_escaped(c.title)}</th>' for c in table.columns)
    yield f"<thead><tr>{''.join(heads)}</tr></thead>"
    yield "<tbody>"
    for row in table.rows:
        cells = (_cell(words, column.numeric) for words, column in zip(row, table.columns, strict=True))
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table></div>"


def _cell(words: Words, numeric: bool) -> str:
    classes = " ".join(name for name in ("number" if numeric else "", tone_of(words)) if name not in ("", "plain"))
    return f"<td{_class(classes)}>{_escaped(without_hint(words))}</td>"


def _number(numeric: bool) -> str:
    return _class("number" if numeric else "")


def _tone(words: Words) -> str:
    return _class("" if tone_of(words) == "plain" else tone_of(words))


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def _escaped(text: str, *, lines: bool = False) -> str:
    """The text as data: markup is shown, and so are characters that would steer what shows it."""
    shown = "\n".join(visible(line) for line in text.split("\n")) if lines else visible(text)
    return html.escape(shown, quote=True)
