"""The head and foot of printed pages: which file, when, and which page of how many."""

from __future__ import annotations

import string

from sqlaudit.reports.document import About
from sqlaudit.reports.escape import visible
from sqlaudit.reports.ran import moment

_LITERAL = frozenset(string.ascii_letters + string.digits + " .,-_:;")
_LONGEST = 60
_SIZE = "font: 8pt sans-serif; color: #333;"


def paper_style(about: About) -> str:
    """Style for paper that repeats on every page what the report is about.

    Args:
        about: names in it are data: nothing but letters and digits reaches the style as it stands.
    """
    subject = about.subject if len(about.subject) <= _LONGEST else about.subject[: _LONGEST - 1] + "…"
    head = " – ".join(text for text in (about.title[:_LONGEST], subject) if text)
    boxes = [
        ("top-left", _quoted(head)),
        ("top-right", _quoted(moment(about.time))),
        ("bottom-left", _quoted(f"sqlaudit{f'; checksum of the figures {about.checksum}' if about.checksum else ''}")),
        ("bottom-right", '"page " counter(page) " of " counter(pages)'),
    ]
    lines = "".join(f"  @{place} {{ content: {content}; {_SIZE} }}\n" for place, content in boxes)
    return f"@page {{\n  margin: 20mm 16mm;\n{lines}}}\n"


def _quoted(text: str) -> str:
    """A text as a string of CSS, in which every other character is written as its number."""
    safe = (
        one if one.isascii() and (one.isalnum() or one in " .,-_:;") else f"\\{ord(one):x} " for one in visible(text)
    )
    return '"' + "".join(safe) + '"'
