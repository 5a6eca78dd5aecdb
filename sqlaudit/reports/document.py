"""A report before it is laid out: sections of sentences, lists and tables. All layouts read this, so they say the same.

Texts are data until a layout escapes them: nothing here is markup.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Tone = Literal["plain", "good", "bad", "warn", "quiet"]


@dataclass(frozen=True)
class Toned:
    """A text with the tone in which it is said: colour in a terminal, nothing that only colour says."""

    text: str
    tone: Tone = "plain"


Words = str | Toned


def text_of(words: Words) -> str:
    """The bare text."""
    return words.text if isinstance(words, Toned) else words


def tone_of(words: Words) -> Tone:
    """The tone, plain when none was set."""
    return words.tone if isinstance(words, Toned) else "plain"


@dataclass(frozen=True)
class Paragraph:
    """One paragraph."""

    words: Words


@dataclass(frozen=True)
class Bullets:
    """A list of sentences."""

    items: tuple[Words, ...]


@dataclass(frozen=True)
class Facts:
    """Names with what they stand for, one a line."""

    pairs: tuple[tuple[str, Words], ...]


@dataclass(frozen=True)
class Column:
    """A table's column: its heading, and whether it holds numbers (aligned right)."""

    title: str
    numeric: bool = False


@dataclass(frozen=True)
class Table:
    """A table; `caption` stands above it."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Words, ...], ...]
    caption: str = ""


@dataclass(frozen=True)
class Picture:
    """What a page draws beside the table that says the same; layouts without pictures leave it out.

    Args:
        kind: which drawing (`sqlaudit.reports.pictures` has them).
        title: what it shows, in one sentence. data: plain numbers and texts, as JSON has them.
    """

    kind: str
    title: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Code:
    """Text to be read letter by letter, folded away under its summary; only pages show it."""

    summary: str
    text: str


Block = Paragraph | Bullets | Facts | Table | Picture | Code


@dataclass(frozen=True)
class Section:
    """A heading with its blocks."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    """A whole report.

    Args:
        headline: the verdict, or what the page is about, in a few words.
        lead: what a reader must know when they read nothing else.
        sections: the rest, most important first; empty ones are left out by `section`.
        worst: up to three facts that a page shows large beside the verdict, worst first.
    """

    headline: Words
    lead: tuple[Block, ...] = ()
    sections: tuple[Section, ...] = ()
    worst: tuple[Words, ...] = ()


def section(title: str, *blocks: Block | None) -> tuple[Section, ...]:
    """A section of the blocks that have content, nothing when none has: `(*section(…), *section(…))`."""
    filled = tuple(block for block in blocks if block is not None and _has_content(block))
    return (Section(title, filled),) if filled else ()


def _has_content(block: Block) -> bool:
    if isinstance(block, Paragraph):
        return bool(text_of(block.words))
    if isinstance(block, Picture):
        return bool(block.data)
    if isinstance(block, Code):
        return bool(block.text)
    return bool(block.items if isinstance(block, Bullets) else block.pairs if isinstance(block, Facts) else block.rows)


def in_words(blocks: tuple[Block, ...]) -> tuple[Paragraph | Bullets | Facts | Table, ...]:
    """The blocks without pictures and code: what terminals and Markdown show."""
    return tuple(block for block in blocks if not isinstance(block, Picture | Code))
