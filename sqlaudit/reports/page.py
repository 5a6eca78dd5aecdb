"""Pages: the layout as HTML, self-contained, with its charts. Everything but charts is escaped here."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib import resources
from itertools import chain
from typing import TypeVar

from sqlaudit.reports import document as doc
from sqlaudit.reports.charts import NARROW, draw
from sqlaudit.reports.glossary import terms_of
from sqlaudit.reports.report import moment

# The head and foot of printed pages: which file, when, and which page of how many.

_LONGEST = 60
_SIZE = "font: 8pt sans-serif; color: #333;"


def paper_style(about: doc.About) -> str:
    """Style for paper that repeats on every page what the report is about.

    Args:
        about: names in it are data: nothing but letters and digits reaches the style as it stands.
    """
    head = " – ".join(filter(None, (about.title[:_LONGEST], doc.shortened(about.subject, _LONGEST))))
    checked = f"; checksum of the figures {about.checksum}" if about.checksum else ""
    boxes = [
        ("top-left", _quoted(head)),
        ("top-right", _quoted(moment(about.time))),
        ("bottom-left", _quoted(f"sqlaudit{checked}")),
        ("bottom-right", '"page " counter(page) " of " counter(pages)'),
    ]
    lines = "".join(f"  @{place} {{ content: {content}; {_SIZE} }}\n" for place, content in boxes)
    return f"@page {{\n  margin: 20mm 16mm;\n{lines}}}\n"


def _quoted(text: str) -> str:
    """A text as a string of CSS, in which every other character is written as its number."""
    safe = re.sub(r"[^A-Za-z0-9 .,\-_:;]", lambda found: f"\\{ord(found[0]):x} ", doc.visible(text))
    return f'"{safe}"'


# The layout as HTML. Names and values are data: everything is escaped here, and nothing else writes markup.

_Cell = TypeVar("_Cell", doc.Column, doc.Words)
_LONG_NAME = 24
"""Letters from which on the first cells of a row stand above its numbers on a phone."""
_LONG_TABLE, _FIRST_ROWS, _FEW_ROWS = 18, 12, 8
"""Tables of more rows than the first number show as many as the second, and fold the others."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""A browser that reads this refuses every request, and every script but the page's own, whatever the page holds."""


def render_html(document: doc.Document, *, framed: bool = False) -> str:
    """The document as one page that needs nothing besides itself.

    What is for people who run commands stands at its end, and then the words that occur in it with their meaning.

    Args:
        document: what to lay out; its pictures are drawn, and each has its table.
        framed: True for the `srcdoc` of a frame. Its links lead nowhere without a base, it runs no scripts, and it is
            low: the first picture is at its top.

    Returns:
        A whole HTML document that ends with a line feed.
    """
    title = _escaped(": ".join(filter(None, (document.about.title, _answer(document, document.headline)))))
    style, script = (
        resources.files("sqlaudit.reports").joinpath(name).read_text(encoding="utf-8")
        for name in ("page.css", "page.js")
    )
    checksum = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = _POLICY if framed else f"{_POLICY}; script-src 'sha256-{checksum}'"
    unfolded = chain(document.lead, *(section.blocks for section in document.sections if not section.folded))
    first = next((block for block in unfolded if isinstance(block, doc.Picture)), None) if framed else None
    parts_of_page = list(enumerate(_for_readers(document, first), 1))
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="generator" content="sqlaudit">',
        *(['<base href="about:srcdoc">'] if framed else []),
        f"<title>{title}</title>",
        f"<style>\n{style}{paper_style(document.about)}</style>",
        "</head>",
        "<body>",
        '<a class="skip" href="#report">Skip to the report</a>',
        '<main id="report">',
        *_header(document, first),
        *_contents([(number, title) for number, (title, _) in parts_of_page]),
        *(line for number, part in parts_of_page for line in _section(number, *part)),
        "</main>",
        *([] if framed else [f"<script>{script}</script>"]),
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _for_readers(document: doc.Document, shown: doc.Picture | None) -> Iterator[tuple[str, Iterable[str]]]:
    """The sections in the order of a page, each with its lines. How a result was computed is folded, at the end.

    Args:
        shown: the picture that stands at the top, and not in its section.
    """
    for section in document.sections:
        blocks = [
            block for block in section.blocks if not isinstance(block, doc.ProposedCommand) and block is not shown
        ]
        lines = _blocks(blocks)
        pictures = [block for block in blocks if isinstance(block, doc.Picture)]
        if len(pictures) == 1:  # one looks before one reads
            others = (block for block in blocks if block is not pictures[0])
            lines = chain(_block(pictures[0]), *(_beside_bars(block, pictures[0]) for block in others))
        if blocks and not (section.repeating or section.folded or all(isinstance(b, doc.Code) for b in blocks)):
            yield section.title, lines
    if repeated := list(_repeating(document)):
        yield "How to repeat this", repeated
    yield from ((signing.title, _blocks(signing.blocks)) for signing in doc.signed_by(document.about))
    if terms := terms_of(document):
        meanings = tuple((term.name, term.meaning) for term in terms)
        yield "Words on this page", _folded(doc.plural(len(terms), "term"), _block(doc.Facts(meanings)))
    for section in document.sections:
        if section.folded:
            yield section.title, _folded("Show", _blocks(section.blocks))
    for section in document.sections:
        if section.blocks and all(isinstance(block, doc.Code) for block in section.blocks):
            lines, texts = _blocks(section.blocks), len(section.blocks)  # each text is folded once more in its block
            yield section.title, _folded(f"Show all {doc.count(texts)}", lines) if texts > 1 else lines


def _beside_bars(block: doc.Block, picture: doc.Picture) -> Iterable[str]:
    """Return the lines of a block beside a picture; a long table of what its bars show is folded."""
    repeats = picture.kind == "bars" and isinstance(block, doc.Table) and len(block.columns) == 2
    if repeats and isinstance(block, doc.Table) and len(block.rows) > _FEW_ROWS:
        return _folded(f"All {doc.count(len(block.rows))} figures", _block(block))
    return _block(block)


def _folded(summary: str, lines: Iterable[str]) -> Iterator[str]:
    yield f"<details><summary>{_escaped(summary)}</summary>"
    yield from lines
    yield "</details>"


def _repeating(document: doc.Document) -> Iterator[str]:
    """For people who run commands: the command, what to try, how it was computed, and hints of sentences.

    A hint that begins with its option needs no sentence before it.
    """
    about = document.about
    if about.command:
        what = "Call in Python:" if about.command.startswith("sqlaudit.") else "Command:"
        yield from (f"<p>{what}</p>", _command(about.command))
    if about.checksum:
        yield from _block(doc.facts(("checksum", f"{about.checksum} (equal figures have equal checksums)")))
    every = (words for block in document.blocks for words in doc.words_of(block))
    hinted = (words for words in every if isinstance(words, doc.Toned) and words.hint)
    if hints := dict.fromkeys(one.hint if one.hint.startswith("--") else doc.text_of(one) for one in hinted):
        yield from _block(doc.Bullets(tuple(hints)))
    for section in document.sections:
        if not section.repeating:
            yield from _blocks(block for block in section.blocks if isinstance(block, doc.ProposedCommand))
        else:
            yield f"<h3>{_escaped(section.title)}</h3>"
            yield from _blocks(section.blocks)


def _section(number: int, title: str, lines: Iterable[str]) -> Iterator[str]:
    yield f'<section id="s{number}" aria-labelledby="h{number}">'
    yield f'<h2 id="h{number}">{_escaped(title)}</h2>'
    yield from lines
    yield "</section>"


def _blocks(blocks: Iterable[doc.Block]) -> Iterator[str]:
    for block in blocks:
        yield from _block(block)


def _answer(document: doc.Document, words: doc.Words) -> str:
    """Return words without the name of the table at their begin, which the line above them has."""
    text = doc.without_hint(words)
    answer = text.removeprefix(f"{document.about.subject}: ")
    return text if answer == text else doc.label(answer)


def _header(document: doc.Document, first: doc.Picture | None) -> Iterator[str]:
    """Yield the head of a page: its title, headline and figures, and the picture at the top if there is one."""
    about = document.about
    if about.title:
        yield f'<p class="title">{_escaped(about.title)}</p>'
    owner = f"Owner: {about.owner}" if about.owner else ""
    if said := [_escaped(words) for words in (about.kind, about.subject, moment(about.time), owner) if words]:
        yield f'<p class="masthead"><span>{"</span> <span>".join(said)}</span></p>'
    yield f'<header class="{doc.tone_of(document.headline)}">'
    yield f"<h1>{_escaped(_answer(document, document.headline))}</h1>"
    yield from (
        f"<p>{_marked(_answer(document, words))}</p>" for one in document.opening for words in doc.words_of(one)
    )
    yield "</header>"
    if document.figures:
        yield '<dl class="figures">'
        for one in document.figures:
            yield f'<div class="{one.tone}"><dt>{_escaped(one.name)}</dt><dd>{_escaped(one.value)}</dd></div>'
        yield "</dl>"
    yield from _block(first) if first is not None else ()
    further = (block for block in document.lead[len(document.opening) :] if block is not first)
    yield from _blocks((*further, *(doc.asked_by(about) if about.purpose else ())))


def _contents(numbered: list[tuple[int, str]]) -> Iterator[str]:
    if len(numbered) > 2:
        yield '<nav aria-label="Sections"><ul>'
        yield from (f'<li><a href="#s{number}">{_escaped(title)}</a></li>' for number, title in numbered)
        yield "</ul></nav>"


def _block(block: doc.Block) -> Iterable[str]:
    """Return the lines of a block."""
    lines: Iterable[str]
    if isinstance(block, doc.Paragraph):
        lines = [_said("p", block.words)]
    elif isinstance(block, doc.Bullets):
        lines = ["<ul>", *(_said("li", item) for item in block.items), "</ul>"]
    elif isinstance(block, doc.Facts):
        pairs = ((f"<div>{_said('dt', name)}", f"{_said('dd', words)}</div>") for name, words in block.pairs)
        lines = ["<dl>", *(line for pair in pairs for line in pair), "</dl>"]
    elif isinstance(block, doc.Picture):
        title = _escaped(block.title)
        figure = f'<figure role="img" aria-label="{title}">'
        lines = [figure, draw(block), draw(block, NARROW), f"<figcaption>{title}</figcaption></figure>"]
    elif isinstance(block, doc.ProposedCommand):
        lines = [_said("p", block.what), _command(" ".join(block.words))]
    elif isinstance(block, doc.Table):
        lines = _table(block)
    else:
        summary = f"<details>{_said('summary', block.summary)}"
        lines = [summary, f'<pre tabindex="0">{_escaped(block.text, lines=True)}</pre></details>']
    return lines


def _command(text: str) -> str:
    """A command whose lines end at blanks and commas, not at hyphens."""
    whole = re.sub(r"[\w-]*-[\w-]+", r"<span>\g<0></span>", _escaped(text, lines=True))
    return f'<pre class="command" tabindex="0">{whole.replace(",", ",<wbr>")}</pre>'


def _table(table: doc.Table) -> Iterator[str]:
    """A table in a box that scrolls by itself, so that the page never does sideways; its caption stays outside.

    Columns without any content are left out. The rows of a long table are folded after the first ones.
    """
    empty = {place for place in range(len(table.columns)) if not any(doc.text_of(row[place]) for row in table.rows)}

    def without_empty(cells: Iterable[_Cell]) -> tuple[_Cell, ...]:
        return tuple(cell for place, cell in enumerate(cells) if place not in empty)

    table = replace(table, columns=without_empty(table.columns), rows=tuple(map(without_empty, table.rows)))
    folded = len(table.rows) > _LONG_TABLE
    yield from _unfolded(replace(table, rows=table.rows[: _FIRST_ROWS if folded else None]))
    if folded:
        rest = replace(table, rows=table.rows[_FIRST_ROWS:], caption="")
        yield from _folded(f"{doc.count(len(rest.rows))} more rows", _unfolded(rest))


def _unfolded(table: doc.Table) -> Iterator[str]:
    if table.caption:
        yield _said("p", table.caption, attributes=' class="caption"')
    label = _escaped(table.caption or "table")
    # On a phone, lists of names take the whole width, and the numbers stand below them
    only_numbers = [column.numeric for column in table.columns] == [False] + [True] * (len(table.columns) - 1)
    longest = max(len(doc.without_hint(row[0])) for row in table.rows)
    stacked = only_numbers and len(table.columns) in range(3, 7) and longest > _LONG_NAME
    attributes = f' class="stacked" style="--numbers:{len(table.columns) - 1}"' if stacked else ""
    yield f'<div class="table" tabindex="0" role="group" aria-label="{label}"><table{attributes}>'
    heads = (_said("th", column.title, column.numeric, ' scope="col"') for column in table.columns)
    yield f"<thead><tr>{''.join(heads)}</tr></thead>"
    yield "<tbody>"
    for row in table.rows:
        yield f"<tr>{''.join(_cell(words, column) for words, column in zip(row, table.columns, strict=True))}</tr>"
    yield "</tbody></table></div>"


def _cell(words: doc.Words, column: doc.Column) -> str:
    """Return a cell; behind a share stands a bar of its length."""
    share = re.search(r"(?:^|\(|over )(\d{1,2}(?:\.\d+)?|100(?:\.0+)?)%\)?$", doc.without_hint(words))
    bar = f' style="background-size:{0.9 * float(share[1]):.1f}% .2rem"' if share and column.numeric else ""
    return _said("td", words, column.numeric, bar)


def _said(tag: str, words: doc.Words, numeric: bool = False, attributes: str = "") -> str:
    """An element with words, in their tone."""
    names = ["number"] * numeric + [doc.tone_of(words)] * (doc.tone_of(words) != "plain")
    classes = f' class="{" ".join(names)}"' if names else ""
    text = _marked(doc.without_hint(words))
    text = text.replace("_", "_<wbr>") if tag == "dt" else text  # a long name ends a line at an underscore
    return f"<{tag}{attributes}{classes}>{text}</{tag}>"


def _marked(text: str) -> str:
    """The text as data, with its commands as code."""
    return re.sub("`(sqlaudit [^`]+)`", r"<code>\1</code>", _escaped(text))


def _escaped(text: str, *, lines: bool = False) -> str:
    """The text as data: markup is shown, and so are characters that would steer what shows it."""
    shown = "\n".join(doc.visible(line) for line in text.split("\n")) if lines else doc.visible(text)
    return html.escape(shown, quote=True)
