"""An audit by criteria, as a document: for whoever has to answer to them, and for the public."""

from __future__ import annotations

from collections.abc import Iterator

from sqlaudit.audits.criteria.result import CriteriaResult, Criterion
from sqlaudit.base.result import MEANING
from sqlaudit.reports.blocks import Block, Bullets, Column, Facts, Paragraph, Table, Toned, Words
from sqlaudit.reports.document import About, Document, section
from sqlaudit.reports.figures import listing
from sqlaudit.reports.ran import moment

_PUBLIC = (
    "Counts are rounded to multiples of {base}, smaller ones are told as smaller, and shares are made of rounded "
    "counts: no count of this page is about one person."
)
_INTERNAL = "Counts are exact: small ones may point to persons. For publication, make the public version."


def criteria_document(result: CriteriaResult) -> Document:
    """An audit by criteria as a document for any layout."""
    return Document(
        f"What the figures say to five criteria ({result.version} version)",
        tuple(_lead(result)),
        (
            *(part for criterion in result.criteria for part in section(criterion.title, *_criterion(criterion))),
            *section("How this was computed", Facts(tuple(_how(result)))),
            *section("What a page like this does not say", Bullets((_LAWFUL, MEANING))),
        ),
        about=About(result.target, result.time),
    )


_LAWFUL = (
    "That a release is anonymous or lawful: people decide that, with these figures and with what no figure answers."
)


def _lead(result: CriteriaResult) -> Iterator[Block]:
    known = listing(result.roles.get("quasi_identifiers", ()))
    yield Paragraph(f"{result.target}: {result.rows} rows, for somebody who knows {known} of a person.")
    if result.required:
        yield Bullets(tuple(f"{one.name}: {one.text}" for one in result.required))
    yield Paragraph(_PUBLIC.format(base=result.rounded_to) if result.version == "public" else _INTERNAL)


def _criterion(criterion: Criterion) -> Iterator[Block]:
    rows = tuple((one.name, one.text) for one in criterion.figures)
    yield Paragraph(f"{criterion.question} ({criterion.source})")
    yield Table((Column("figure"), Column("answer")), rows)
    yield Paragraph("No figure answers:")
    yield Bullets(tuple(_open(one) for one in criterion.open))


def _open(said: str) -> Words:
    """What no figure answers; a last sentence that names a command is for whoever runs one."""
    text, _, last = said.rpartition(". ")
    return Toned(f"{text}.", hint=last) if text and "`sqlaudit " in last else said


def _how(result: CriteriaResult) -> Iterator[tuple[str, Words]]:
    roles = result.roles
    yield "table", result.target
    yield "quasi-identifiers", ", ".join(roles.get("quasi_identifiers", ()))
    if roles.get("sensitive"):
        yield "sensitive columns", ", ".join(roles["sensitive"])
    yield "computed by", f"sqlaudit {result.versions.get('sqlaudit', '')} on {result.engine}"
    yield "finished", moment(result.time)
