"""What a report is made of: sentences with their tone, lists, facts, tables, pictures. Layouts read nothing else.

Texts are data until a layout escapes them: nothing here is markup.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from sqlaudit.base.frozen import dataclass

Tone = Literal["plain", "good", "bad", "warn", "quiet"]


@dataclass(frozen=True)
class Toned:
    """A text with the tone in which it is said: colour in a terminal, nothing that only colour says.

    `hint` is for whoever runs commands: it follows the text, but a page says it under "How to repeat this".
    """

    text: str
    tone: Tone = "plain"
    hint: str = ""


Words = str | Toned


def text_of(words: Words) -> str:
    """The bare text, its hint included."""
    if isinstance(words, str):
        return words
    return f"{words.text} {words.hint}" if words.hint else words.text


def without_hint(words: Words) -> str:
    """The bare text for readers who run nothing."""
    return words.text if isinstance(words, Toned) else words


def hint_of(words: Words) -> str:
    """What is for whoever runs commands, empty without it."""
    return words.hint if isinstance(words, Toned) else ""


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


@dataclass(frozen=True)
class ProposedCommand:
    """A command to be copied whole: what it is for, and its words. A page says it under "How to repeat this"."""

    what: str
    words: tuple[str, ...]


Block = Paragraph | Bullets | Facts | Table | Picture | Code | ProposedCommand
InWords = Paragraph | Bullets | Facts | Table | ProposedCommand


def has_content(block: Block) -> bool:
    """Whether a block says anything."""
    if isinstance(block, Paragraph):
        return bool(text_of(block.words))
    if isinstance(block, Picture):
        return bool(block.data)
    if isinstance(block, Code | ProposedCommand):
        return bool(block.text if isinstance(block, Code) else block.words)
    return bool(block.items if isinstance(block, Bullets) else block.pairs if isinstance(block, Facts) else block.rows)


def words_of(block: Block) -> tuple[Words, ...]:
    """Everything that a block says; of pictures, code and commands their titles."""
    if isinstance(block, Paragraph):
        return (block.words,)
    if isinstance(block, Bullets):
        return block.items
    if isinstance(block, Facts):
        return tuple(said for pair in block.pairs for said in pair)
    if isinstance(block, Picture | Code):
        return (block.title if isinstance(block, Picture) else block.summary,)
    if isinstance(block, ProposedCommand):
        return (block.what,)
    heads = (block.caption, *(column.title for column in block.columns))
    return (*heads, *(cell for row in block.rows for cell in row))


def in_words(blocks: tuple[Block, ...]) -> tuple[InWords, ...]:
    """The blocks without pictures and code: what terminals and Markdown show."""
    return tuple(block for block in blocks if not isinstance(block, Picture | Code))
