"""A report before it is laid out: sections of sentences, lists and tables. All layouts read this, so they say the same.

Texts are data until a layout escapes them: nothing here is markup.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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


Block = Paragraph | Bullets | Facts | Table


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
    """

    headline: Words
    lead: tuple[Block, ...] = ()
    sections: tuple[Section, ...] = ()


def section(title: str, *blocks: Block | None) -> tuple[Section, ...]:
    """A section of the blocks that have content, nothing when none has: `(*section(…), *section(…))`."""
    filled = tuple(block for block in blocks if block is not None and _has_content(block))
    return (Section(title, filled),) if filled else ()


def _has_content(block: Block) -> bool:
    if isinstance(block, Paragraph):
        return bool(text_of(block.words))
    return bool(block.items if isinstance(block, Bullets) else block.pairs if isinstance(block, Facts) else block.rows)
