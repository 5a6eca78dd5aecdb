"""The layout as HTML. Names and values are data: everything is escaped here, and nothing else writes markup."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from importlib import resources

from sqlaudit.reports.document import (
    Block,
    Bullets,
    Code,
    Document,
    Facts,
    Paragraph,
    Picture,
    Section,
    Table,
    Words,
    text_of,
    tone_of,
)
from sqlaudit.reports.escape import visible
from sqlaudit.reports.page.pictures import drawn

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""A browser that reads this refuses every script and every request, whatever the page holds."""


def render_html(document: Document) -> str:
    """The document as one page that needs nothing besides itself.

    Args:
        document: what to lay out; its pictures are drawn, simpler where matplotlib is missing, and each has its table.

    Returns:
        A whole HTML document that ends with a line feed.
    """
    title = _escaped(text_of(document.headline))
    numbered = list(enumerate(document.sections, 1))
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
        f"<style>\n{_style()}</style>",
        "</head>",
        "<body>",
        '<a class="skip" href="#report">Skip to the report</a>',
        '<main id="report">',
        *_header(document),
        *_contents(numbered),
        *(line for number, section in numbered for line in _section(number, section)),
        "</main>",
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _style() -> str:
    return resources.files("sqlaudit.reports.page").joinpath("page.css").read_text(encoding="utf-8")


def _header(document: Document) -> Iterator[str]:
    yield f'<header class="{tone_of(document.headline)}">'
    yield f"<h1>{_escaped(text_of(document.headline))}</h1>"
    for block in document.lead:
        yield from _block(block)
    yield "</header>"
    if document.worst:
        yield '<ol class="worst" aria-label="The worst facts">'
        yield from (f'<li class="{tone_of(words)}">{_escaped(text_of(words))}</li>' for words in document.worst)
        yield "</ol>"


def _contents(numbered: list[tuple[int, Section]]) -> Iterator[str]:
    if len(numbered) < 3:
        return
    yield '<nav aria-label="Sections"><ul>'
    yield from (f'<li><a href="#s{number}">{_escaped(section.title)}</a></li>' for number, section in numbered)
    yield "</ul></nav>"


def _section(number: int, section: Section) -> Iterator[str]:
    yield f'<section id="s{number}" aria-labelledby="h{number}">'
    yield f'<h2 id="h{number}">{_escaped(section.title)}</h2>'
    for block in section.blocks:
        yield from _block(block)
    yield "</section>"


def _block(block: Block) -> Iterable[str]:
    if isinstance(block, Paragraph):
        return [f"<p{_tone(block.words)}>{_escaped(text_of(block.words))}</p>"]
    if isinstance(block, Bullets):
        return ["<ul>", *(f"<li{_tone(item)}>{_escaped(text_of(item))}</li>" for item in block.items), "</ul>"]
    if isinstance(block, Facts):
        return ["<dl>", *(line for name, words in block.pairs for line in _fact(name, words)), "</dl>"]
    if isinstance(block, Picture):
        return _picture(block)
    if isinstance(block, Code):
        return [
            f"<details><summary>{_escaped(block.summary)}</summary>",
            f'<pre tabindex="0">{_escaped(block.text, lines=True)}</pre></details>',
        ]
    return _table(block)


def _fact(name: str, words: Words) -> Iterator[str]:
    yield f"<div><dt>{_escaped(name)}</dt>"
    yield f"<dd{_tone(words)}>{_escaped(text_of(words))}</dd></div>"


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
    return f"<td{_class(classes)}>{_escaped(text_of(words))}</td>"


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
