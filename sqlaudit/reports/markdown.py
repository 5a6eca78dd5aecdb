"""The layout for pull requests, wikis and e-mail: GitHub-flavoured Markdown in which names and values stay literal."""

from __future__ import annotations

import re

from sqlaudit.reports.document import (
    Bullets,
    Document,
    Facts,
    InWords,
    Paragraph,
    ProposedCommand,
    Table,
    Words,
    asked_by,
    in_words,
    markdown,
    signed_by,
    text_of,
    tone_of,
    visible,
)
from sqlaudit.reports.glossary import PAGE, sentence_of


def render_markdown(document: Document) -> str:
    """The document as Markdown that ends with a line feed."""
    about = document.about
    lead = in_words((*asked_by(about), *document.lead))
    title = [markdown(about.title)] if about.title else []
    parts = [*title, f"# {_inline(document.headline)}", *(_block(block) for block in lead)]
    for section in (*document.sections, *signed_by(about)):
        if blocks := in_words(section.blocks):
            parts += [f"## {markdown(section.title)}", *(_block(block) for block in blocks)]
    if explained := sentence_of(document):
        parts.append(markdown(explained).replace(markdown(PAGE), f"[{PAGE}]({PAGE})"))
    return "\n\n".join(parts) + "\n"


def _block(block: InWords) -> str:
    if isinstance(block, Paragraph):
        return _inline(block.words)
    if isinstance(block, Bullets):
        return "\n".join(f"- {_inline(item)}" for item in block.items)
    if isinstance(block, Facts):
        return "\n".join(f"- **{markdown(name)}**: {_inline(words)}" for name, words in block.pairs)
    if isinstance(block, ProposedCommand):
        line = visible(" ".join(block.words))
        # a fence that is longer than any in the line
        fence = "`" * max(3, 1 + max((len(one) for one in re.findall("`+", line)), default=0))
        return f"{markdown(block.what)}\n\n{fence}sh\n{line}\n{fence}"
    return _table(block)


def _table(table: Table) -> str:
    heads = [markdown(column.title) or " " for column in table.columns]
    rules = ["---:" if column.numeric else ":---" for column in table.columns]
    rows = [heads, rules, *([_cell(cell) for cell in row] for row in table.rows)]
    caption = markdown(table.caption) + "\n\n" if table.caption else ""
    return caption + "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _inline(words: Words) -> str:
    return markdown(text_of(words))


def _cell(words: Words) -> str:
    text = _inline(words)
    return f"**{text}**" if tone_of(words) == "bad" and text.strip() else text
