"""A report before it is laid out: sections of blocks under a headline. All layouts read this, so they say the same."""

from __future__ import annotations

from collections.abc import Iterator

from sqlaudit.base.frozen import dataclass
from sqlaudit.reports.blocks import Block, Column, Facts, Table, Words, has_content, without_hint, words_of


@dataclass(frozen=True)
class Section:
    """A heading with its blocks; `repeating`: it is for whoever runs commands, and stands at the end of a page."""

    title: str
    blocks: tuple[Block, ...]
    repeating: bool = False


@dataclass(frozen=True)
class About:
    """What a report is about, and for whom it was made; what is not known is empty.

    Args:
        subject: the table or file. time: when it was finished, ISO 8601.
        command: how to ask the same again, without values that may name persons. checksum: of the figures.
        title, owner, purpose: what whoever asked calls it. sign_off: who signs it, one line each.
    """

    subject: str = ""
    time: str = ""
    command: str = ""
    checksum: str = ""
    title: str = ""
    owner: str = ""
    purpose: str = ""
    sign_off: tuple[str, ...] = ()


@dataclass(frozen=True)
class Document:
    """A whole report.

    Args:
        headline: the verdict, or what the page is about, in a few words.
        lead: what a reader must know when they read nothing else.
        sections: the rest, most important first; empty ones are left out by `section`.
        worst: up to three facts that a page shows large beside the verdict, worst first.
        about: what it is about, when and for whom it was made.
    """

    headline: Words
    lead: tuple[Block, ...] = ()
    sections: tuple[Section, ...] = ()
    worst: tuple[Words, ...] = ()
    about: About = About()


def section(title: str, *blocks: Block | None, repeating: bool = False) -> tuple[Section, ...]:
    """A section of the blocks that have content, nothing when none has: `(*section(…), *section(…))`."""
    filled = tuple(block for block in blocks if block is not None and has_content(block))
    return (Section(title, filled, repeating),) if filled else ()


def asked_by(about: About) -> tuple[Facts, ...]:
    """The owner and the purpose, where they were told."""
    pairs = tuple((name, text) for name, text in (("owner", about.owner), ("purpose", about.purpose)) if text)
    return (Facts(pairs),) if pairs else ()


def signed_by(about: About) -> tuple[Section, ...]:
    """A line to sign on for everybody who signs."""
    heads = tuple(Column(title) for title in ("who", "date", "signature"))
    return section("Sign-off", Table(heads, tuple((who, "_" * 12, "_" * 24) for who in about.sign_off)))


def said_in(document: Document) -> Iterator[str]:
    """Every text of a report as people who run nothing read it."""
    blocks = (*document.lead, *(block for one in document.sections for block in one.blocks))
    yield from (without_hint(words) for block in blocks for words in words_of(block))
