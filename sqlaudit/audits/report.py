"""The report of an audit: the verdict first, what the audit does not say last."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace

from sqlaudit.audits.advice import next_steps, standing_out
from sqlaudit.audits.classes_report import failing_table, risk_facts, size_table, unit_of
from sqlaudit.audits.pictures import disclosure_pictures, risk_picture, sizes_picture
from sqlaudit.audits.population_report import beliefs_blocks, population_blocks, sampled_paragraph
from sqlaudit.audits.result import NOT_SAID, AuditResult
from sqlaudit.audits.worst_classes_report import distribution_blocks
from sqlaudit.base.result import Status
from sqlaudit.base.spec import KnownRows
from sqlaudit.base.words import spelled
from sqlaudit.models.check import Check
from sqlaudit.models.coverage import IDENTIFIER
from sqlaudit.models.phrases import (
    VERDICTS,
    full_title,
    level_text,
    limit_text,
    other_levels,
    required_sentence,
    short_cell,
    verdict_of,
)
from sqlaudit.reports.blocks import Block, Bullets, Column, Facts, Paragraph, Table, Toned, Words
from sqlaudit.reports.document import About, Document, Section, section
from sqlaudit.reports.figures import count, figure, listing, plural
from sqlaudit.reports.notices import notice, notices_block
from sqlaudit.reports.ran import made, sql_section

_WORST_FIRST = (Status.FAIL, Status.UNDETERMINED, Status.WARN, Status.PASS, None)


def audit_document(result: AuditResult) -> Document:
    """The result of an audit as a document for any layout.

    Args:
        result: what the audit found; the keys of classes are shown where it holds them, and only there.
    """
    return Document(
        headline(result),
        (_about(result), *sampled_paragraph(result.roles), *_verdicts(result), *notices_block(result.notices)),
        (
            *section("What stands out", Bullets(standing_out(result))),
            *section("Classes that fall short", *_failing(result)),
            *section(
                "Risk of being picked out by someone who knows the quasi-identifiers",
                risk_facts(result),
                risk_picture(result),
            ),
            *section("Sample and population", *population_blocks(result)),
            *section("Beliefs about the stated person", *beliefs_blocks(result)),
            *section("How large the classes are", *_sizes(result)),
            *section("All figures", *_tables(result), _notes(result), *disclosure_pictures(result.disclosures)),
            *section("Sensitive values in the worst classes", *distribution_blocks(result)),
            *section("Warnings", Bullets(tuple(_warnings(result)))),
            *section("What to look at next", Bullets(next_steps(result)), repeating=True),
            *_how(result),
            *section("What this audit does not say", Bullets(NOT_SAID)),
            *sql_section(result),
        ),
        worst_facts(result),
        about=About(result.target, result.time, checksum=_checksum(result)),
    )


def _warnings(result: AuditResult) -> Iterator[Toned]:
    """What stands neither under the verdict nor in a check of its own."""
    said = {*result.notices, *(one for one in result.warnings if one.code == IDENTIFIER)}
    for warned in result.warnings:
        if warned not in said:
            yield notice(warned, "warn")


def worst_facts(result: AuditResult) -> tuple[Words, ...]:
    """What stands out, for the first screen of a page; its verdicts stand above it."""
    return standing_out(result)


def headline(result: AuditResult) -> Toned:
    """The verdict on the whole table in a few words."""
    if not result.complete:
        return Toned("INCOMPLETE: the audit was stopped before every figure was known", "warn")
    if not result.rows:
        return Toned("UNDETERMINED: there is no row to audit", "warn")
    if not result.required:
        return Toned("No verdict was asked for: these are the figures of the table")
    return _narrowed(verdict_of(result.required), result)


def _narrowing(result: AuditResult) -> str | None:
    """How many rows of a person are known, where somebody narrowed that and it makes a difference."""
    several = any(warned.code == "several_combinations" for warned in result.warnings)
    return result.roles.get("known_rows") if several else None


def _narrowed(said: Toned, result: AuditResult) -> Toned:
    """The verdict with whom it is about, where somebody narrowed that and it makes a difference."""
    known = _narrowing(result)
    if known is None:
        return said
    whose = "one row" if known == KnownRows.ONE else "all rows"
    return replace(said, text=f"{said.text}, for somebody who knows {whose} of a person")


def _about(result: AuditResult) -> Paragraph:
    known = listing(result.roles.get("quasi_identifiers", ()))
    classes = plural(result.classes.count, "equivalence class", "equivalence classes")
    if result.classes.per_row:
        return Paragraph(
            f"{result.target}: {plural(result.rows, 'row')}; a missing value matches any value of {known}."
        )
    whose = "persons with equal" if _narrowing(result) == KnownRows.ALL else "equal"
    return Paragraph(f"{result.target}: {plural(result.rows, 'row')} in {classes} of {whose} {known}.")


def _verdicts(result: AuditResult) -> Iterator[Block]:
    ranked = sorted(result.required, key=lambda check: _WORST_FIRST.index(check.status))
    if ranked:
        yield Bullets(tuple(required_sentence(check, result.classes.count, result.rows) for check in ranked))


def _sizes(result: AuditResult) -> Iterator[Block]:
    if unit_of(result) == "person" and result.classes.count:
        yield Paragraph("Sizes count persons. A person with rows in several classes counts in each of them.")
    picture = sizes_picture(result)
    if picture is not None:
        yield picture
    yield size_table(result.classes, unit_of(result))


def _failing(result: AuditResult) -> Iterator[Block]:
    yield from _listed(result)
    if result.failing_unnamed:
        yield Bullets(tuple(f"Not listed: {sentence}" for sentence in result.failing_unnamed))


def _listed(result: AuditResult) -> Iterator[Block]:
    if not result.failing:
        return
    told = sum(failing.classes for failing in result.failing)
    total = max(result.failing_total or 0, told)
    which = "all of them are" if total > 1 else "it is"
    shown = which if total == told else f"the {count(told)} smallest {'is' if told == 1 else 'are'}"
    short = f"{plural(total, 'class falls', 'classes fall')} short"
    hidden = all(failing.key is None for failing in result.failing)
    keys = f"Their values are hidden; {spelled('show_values', True)} shows them." if hidden else ""
    several = len({failing.sensitive for failing in result.failing}) > 1 and not result.roles.get("joint")
    again = " A class counts for each column that it falls short for." if several else ""
    yield Paragraph(Toned(f"{short}; {shown} listed.{again}", hint=keys))
    yield failing_table(result)


def _tables(result: AuditResult) -> Iterator[Table]:
    """One table of the checks that concern the whole record, then one for each sensitive attribute."""
    subjects = dict.fromkeys(check.sensitive for check in result.checks)
    for subject in sorted(subjects, key=lambda name: name is not None):
        checks = [check for check in result.checks if check.sensitive == subject]
        yield _table(checks, result, f"Sensitive column {subject}:" if subject is not None else "")


def _table(checks: list[Check], result: AuditResult, caption: str) -> Table:
    judged = any(check.status is not None for check in checks)
    heads = [Column("model"), Column("level", True)]
    if judged:
        heads += [Column("limit", True), Column("verdict"), Column("rows that fall short", True)]
    return Table(tuple(heads), tuple(row for check in checks for row in _rows(check, result, judged)), caption)


def _rows(check: Check, result: AuditResult, judged: bool) -> Iterator[tuple[Words, ...]]:
    """The line of a check, and one for each further figure of it."""
    first = (full_title(check), level_text(check))
    if not judged:
        yield first
    else:
        yield (*first, limit_text(check), VERDICTS[check.status], short_cell(check, result.rows))
    for name, shown in other_levels(check).items():
        yield (f"… {name}", shown, *[""] * (3 if judged else 0))


def _notes(result: AuditResult) -> Bullets:
    said: dict[str, None] = {}
    for check in result.checks:
        if check.note:
            said[f"{full_title(check)}: {check.note.rstrip('.')}."] = None
    return Bullets(tuple(said))


def _how(result: AuditResult) -> tuple[Section, ...]:
    roles = result.roles
    pairs: list[tuple[str, Words]] = [
        ("table", result.target),
        ("quasi-identifiers", ", ".join(roles.get("quasi_identifiers", ()))),
        ("sensitive columns", ", ".join(roles.get("sensitive", ()))),
        ("direct identifiers", ", ".join(roles.get("identifiers", ()))),
        ("person column", roles.get("entity") or ""),
        ("missing values", _NULLS.get(str(roles.get("nulls", "")), "")),
        *made(result),
    ]
    return section("How this was computed", Facts(tuple(pair for pair in pairs if pair[1])), repeating=True)


def _checksum(result: AuditResult) -> str:
    """The same for the same figures on every engine: sizes of classes, levels and verdicts."""
    levels = [
        (check.text, check.model, check.sensitive, figure(check.level, 10), check.status) for check in result.checks
    ]
    sizes = [(int(size), int(classes)) for size, classes in result.classes.sizes]
    said = repr((int(result.rows), sizes, [[str(part) for part in level] for level in levels]))
    return hashlib.sha256(said.encode()).hexdigest()[:16]


_NULLS = {
    "equal": "missing quasi-identifiers are equal to each other",
    "distinct": "a missing quasi-identifier equals nothing, not even another one",
    "wildcard": "a missing quasi-identifier matches every value",
}
