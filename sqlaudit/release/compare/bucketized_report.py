"""The report of a bucketized release beside its original."""

from __future__ import annotations

from sqlaudit.audits.report import headline as verdict_of
from sqlaudit.base.result import MEANING
from sqlaudit.release.compare.report import attacks_section, audit_section, computed
from sqlaudit.release.compare.result import Answer, CompareResult
from sqlaudit.reports.blocks import Bullets, Facts, Paragraph, Toned, Words
from sqlaudit.reports.document import About, Document, section
from sqlaudit.reports.figures import count, plural
from sqlaudit.reports.notices import notices_block
from sqlaudit.reports.ran import sql_section

_LOST = (
    "All cells of persons are kept, so that no loss of cells was measured. What is lost is who of a bucket has "
    "which of its values."
)


def bucketized_document(result: CompareResult) -> Document:
    """The result as a document for any layout."""
    facts = result.generalization
    lead: list[Words] = [f"{facts.reason[:1].upper()}{facts.reason[1:]}"]
    if facts.missing:
        lead.append(f"Not in the release: {plural(facts.missing, 'original row')}.")
    counts: list[tuple[str, Words]] = [
        ("persons without an original", count(facts.foreign)),
        ("persons with another quasi-identifier", count(facts.misfit_rows or 0)),
        *((f"values of {name} in a wrong bucket", count(changed)) for name, changed in facts.changed.items()),
        ("rows left out", count(facts.missing)),
    ]
    return Document(
        _headline(result),
        (Bullets(tuple(lead)), *notices_block(result.audit.notices)),
        (
            *section("Is it a release of that table?", Facts(tuple(counts))),
            *audit_section(result),
            *section("What was lost", Paragraph(_LOST)),
            *attacks_section(result),
            *section("How this was computed", computed(result)),
            *section("What this does not say", Bullets((MEANING,))),
            *sql_section(result),
        ),
        about=About(f"{result.release} beside {result.original}", result.time),
    )


def _headline(result: CompareResult) -> Toned:
    fits = result.generalization.answer is Answer.YES
    said = f"{result.release} is {'a' if fits else 'NO'} bucketized release of {result.original}"
    if not result.audit.required:
        return Toned(said, "good" if fits else "bad")
    verdict = verdict_of(result.audit)
    return Toned(f"{said}; {verdict.text}", verdict.tone if fits else "bad")
