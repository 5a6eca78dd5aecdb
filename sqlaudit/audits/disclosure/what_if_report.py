"""The report of a what-if: how probable each statement is, given the knowledge, and without it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from sqlaudit.reports.blocks import Bullets, Column, Facts, Table, Words
from sqlaudit.reports.document import About, Document, section
from sqlaudit.reports.figures import figure, plural
from sqlaudit.reports.ran import made

if TYPE_CHECKING:
    from sqlaudit.audits.disclosure.what_if import WhatIfAnswer, WhatIfResult

_LONGEST = 24
_WHAT = (
    "The probability is exact: the share of all tables with these equivalence classes in which the statement holds, "
    "among those in which all the knowledge holds.",
    "It is what somebody believes who knows everybody's quasi-identifiers, the published table, this knowledge, and "
    "nothing else.",
)


def what_if_document(result: WhatIfResult) -> Document:
    """The answers as a document for any layout."""
    about = (
        f"{plural(result.pieces, 'piece')} of knowledge about {plural(result.people, 'person', 'persons')} in "
        f"{plural(result.classes, 'class', 'classes')}"
    )
    heads = (Column("statement"), Column("probability", True), Column("exactly"), Column("without knowledge", True))
    surprise = f"Before anything is known, all of this knowledge holds with probability {_both(result.knowledge)}."
    return Document(
        f"{result.target}: what {about} {'tells' if result.pieces == 1 else 'tell'} about {result.sensitive}",
        (Bullets((surprise,) if result.pieces else ()),),
        (
            *section("Answers", Table(heads, tuple(_row(answer) for answer in result.answers))),
            *section("What the figures mean", Bullets(_WHAT)),
            *section("How this was computed", _how(result)),
        ),
        about=About(result.target, result.time),
    )


def _row(answer: WhatIfAnswer) -> tuple[Words, ...]:
    said = answer.place if answer.person is None else f"{answer.person} has {answer.value}"
    return said, figure(answer.probability), _exact(answer.probability), figure(answer.prior)


def _exact(value: Fraction) -> str:
    if value.numerator > 10**_LONGEST or value.denominator > 10**_LONGEST:
        return ""
    text = str(value)
    return text if len(text) <= _LONGEST else ""


def _both(value: Fraction) -> str:
    exact = _exact(value)
    return f"{figure(value)} ({exact})" if "/" in exact else figure(value)


def _how(result: WhatIfResult) -> Facts:
    return Facts((("quasi-identifiers", ", ".join(result.roles["quasi_identifiers"])), *made(result)))
