"""The words of reports, each explained once: for the end of every page, and for docs/glossary.md."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlaudit.reports.document import Document, said_in, text_of

PAGE = "sqlaudit help glossary"


@dataclass(frozen=True)
class Term:
    """A word, what it means in one or two plain sentences, and how else it is written in reports."""

    name: str
    meaning: str
    spellings: tuple[str, ...] = ()


def _terms() -> Iterator[Term]:
    """The paragraphs of `glossary.txt`: a line with the word and its other spellings, then what it means."""
    for paragraph in Path(__file__).with_name("glossary.txt").read_text(encoding="utf-8").strip().split("\n\n"):
        names, *lines = paragraph.split("\n")
        name, *spellings = names.split("; ")
        yield Term(name, " ".join(lines), tuple(spellings))


TERMS = tuple(_terms())


def terms_of(document: Document) -> tuple[Term, ...]:
    """The terms that a report uses."""
    return tuple(explained((text_of(document.headline), *said_in(document))))


def sentence_of(document: Document) -> str:
    """Return where the words of a report are explained; empty where it uses none that are."""
    return f"`{PAGE}` explains the words of this report." if terms_of(document) else ""


def explained(texts: Iterable[str]) -> Iterator[Term]:
    """The terms that occur in any of the texts, in the order of the glossary."""
    whole = "\n".join(texts).lower()
    for term in TERMS:
        names = "|".join(re.escape(name.lower()) for name in (term.name, *term.spellings))
        if re.search(rf"(?<![\w-])(?:{names})(?!\w)", whole):
            yield term


def in_markdown() -> str:
    """The whole glossary, as docs/glossary.md has it."""
    return "".join(f"\n**{term.name}.** {term.meaning}\n" for term in sorted(TERMS, key=lambda one: _order(one.name)))


def _order(name: str) -> str:
    return name.lower().lstrip("(").replace("δ", "delta").replace("β", "beta")
