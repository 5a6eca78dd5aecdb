"""Two audits side by side: what a change of the roles changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from sqlaudit.audits.result import AuditResult
from sqlaudit.base.documents import Documented
from sqlaudit.models.check import Check
from sqlaudit.models.phrases import VERDICTS, full_title, level_text, limit_text
from sqlaudit.reports.blocks import Bullets, Column, Paragraph, Table, Toned, Words
from sqlaudit.reports.document import Document, section
from sqlaudit.reports.figures import count, listing, part, percent
from sqlaudit.reports.notices import notices_block

_RISK = 5


@dataclass(frozen=True)
class Changed(Documented):
    """A change with the audits before and after it; `change` says it in a few words."""

    change: str
    before: AuditResult
    after: AuditResult


def changed_document(changed: Changed) -> Document:
    """The figures before and after, side by side."""
    before, after = changed.before, changed.after
    known = listing(after.roles.get("quasi_identifiers", ()))
    return Document(
        _headline(changed),
        (Paragraph(f"Quasi-identifiers now: {known}. \\undo takes the change back."), *notices_block(after.notices)),
        (
            *section("Classes", _table(tuple(_class_rows(before, after)))),
            *section("Models", _table(tuple(_check_rows(before, after)), judged=bool(after.required))),
            *section(
                "Warnings",
                Bullets(
                    tuple(Toned(warned.message, "warn") for warned in after.warnings if warned not in after.notices)
                ),
            ),
        ),
    )


def _headline(changed: Changed) -> Toned:
    if not changed.after.required:
        return Toned(f"What if: {changed.change}")
    when = "still" if changed.before.passed == changed.after.passed else "now"
    if changed.after.passed:
        return Toned(f"{when} PASS: {changed.change}", "good")
    return Toned(f"{when} FAIL: {changed.change}", "bad")


def _table(rows: tuple[tuple[Words, ...], ...], judged: bool = False) -> Table:
    heads = [Column("figure"), Column("before", True), Column("after", True)]
    if judged:
        heads += [Column("limit", True), Column("verdict")]
    return Table(tuple(heads), rows)


def _class_rows(before: AuditResult, after: AuditResult) -> Iterator[tuple[Words, ...]]:
    """How many classes, how small, and how many rows are easily found."""
    for title, figures in zip(_TITLES, zip(_figures(before), _figures(after), strict=True), strict=True):
        yield title, *figures


_TITLES = (
    "equivalence classes",
    "smallest class",
    "alone in their class",
    f"in classes below {_RISK}",
    "risk on average",
)


def _figures(result: AuditResult) -> tuple[str, ...]:
    sizes = result.classes
    _, alone = sizes.below(2)
    _, few = sizes.below(_RISK)
    risk = percent(Fraction(sizes.count, sizes.members)) if sizes.members and not sizes.per_row else "–"
    return (
        count(sizes.count),
        count(sizes.min_size or 0),
        f"{count(alone)} ({part(alone, sizes.members)})",
        f"{count(few)} ({part(few, sizes.members)})",
        risk,
    )


def _check_rows(before: AuditResult, after: AuditResult) -> Iterator[tuple[Words, ...]]:
    """The main figure of every model in both audits."""
    known = {_key(check): check for check in before.checks}
    for check in after.checks:
        was = known.get(_key(check))
        about = f"{full_title(check)} of {check.sensitive}" if check.sensitive is not None else full_title(check)
        figures: tuple[Words, ...] = (about, level_text(was) if was else "–", level_text(check))
        yield (*figures, limit_text(check), VERDICTS[check.status]) if after.required else figures


def _key(check: Check) -> tuple[object, ...]:
    return check.model, check.sensitive, tuple(sorted((name, str(value)) for name, value in check.parameters.items()))
