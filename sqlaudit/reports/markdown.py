"""The layout for pull requests, wikis and e-mail: GitHub-flavoured Markdown in which names and values stay literal."""

from __future__ import annotations

import re

from sqlaudit.reports import document as doc
from sqlaudit.reports.glossary import sentence_of


def render_markdown(document: doc.Document) -> str:
    """The document as Markdown that ends with a line feed."""
    about = document.about
    lead = doc.in_words((*doc.asked_by(about), *document.first_screen))
    title = [doc.markdown(about.title)] if about.title else []
    parts = [*title, f"# {_inline(document.headline)}", *(_block(block) for block in lead)]
    for section in (*document.sections, *doc.signed_by(about)):
        if blocks := doc.in_words(section.blocks):
            parts += [f"## {doc.markdown(section.title)}", *(_block(block) for block in blocks)]
    if explained := sentence_of(document):
        parts.append(explained)
    return "\n\n".join(parts) + "\n"


def _block(block: doc.InWords) -> str:
    """Return a block as Markdown."""
    if isinstance(block, doc.Paragraph):
        return _inline(block.words)
    if isinstance(block, doc.Bullets):
        return "\n".join(f"- {_inline(item)}" for item in block.items)
    if isinstance(block, doc.Facts):
        return "\n".join(f"- **{doc.markdown(name)}**: {_inline(words)}" for name, words in block.pairs)
    if isinstance(block, doc.ProposedCommand):
        line = doc.visible(" ".join(block.words))
        # a fence that is longer than any in the line
        fence = "`" * max(3, 1 + max((len(one) for one in re.findall("`+", line)), default=0))
        return f"{doc.markdown(block.what)}\n\n{fence}sh\n{line}\n{fence}"
    return _table(block)


def _table(table: doc.Table) -> str:
    heads = [doc.markdown(column.title) or " " for column in table.columns]
    rules = ["---:" if column.numeric else ":---" for column in table.columns]
    rows = [heads, rules, *([_cell(cell) for cell in row] for row in table.rows)]
    caption = doc.markdown(table.caption) + "\n\n" if table.caption else ""
    return caption + "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _inline(words: doc.Words) -> str:
    return doc.markdown(doc.text_of(words))


def _cell(words: doc.Words) -> str:
    text = _inline(words)
    return f"**{text}**" if doc.tone_of(words) == "bad" and text.strip() else text
