"""The report of a comparison: is it a release of that table, is it safe, what was lost, what is still of use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlaudit.audits.report import audit_document
from sqlaudit.audits.report import headline as verdict_of
from sqlaudit.base.result import MEANING
from sqlaudit.base.words import spelled
from sqlaudit.release.attacks.report import attack_document
from sqlaudit.release.compare.figures_report import by_column_blocks, losses_blocks, percent_or_more, useful_blocks
from sqlaudit.release.compare.result import (
    NO_ATTACKS,
    Answer,
    ColumnFit,
    CompareResult,
    Errors,
    Generalization,
    Recoding,
)
from sqlaudit.reports.blocks import Block, Bullets, Column, Facts, Paragraph, Table, Toned, Words, text_of
from sqlaudit.reports.document import About, Document, Section, section
from sqlaudit.reports.figures import count, listing, percent, plural
from sqlaudit.reports.notices import notices_block
from sqlaudit.reports.ran import made, sql_section

_ANSWERS = {
    Answer.YES: ("is a generalization of", "good"),
    Answer.NO: ("is not a generalization of", "bad"),
    Answer.UNDECIDED: ("may be a generalization of", "warn"),
}
_RECODINGS = {
    Recoding.NONE: "no value was changed",
    Recoding.FULL_DOMAIN: "full-domain: every column lies at one level of its hierarchy",
    Recoding.GLOBAL: "global: every value has one cell wherever it occurs, at different levels",
    Recoding.LOCAL: "local: some values have several cells",
}
_PAIRINGS = {
    "key": "by key",
    "position": "by position",
    "containment": "by what the cells contain, which leaves no choice",
    "none": "not known: cells alone leave a choice",
}
_MAIN = ("loss", "non-uniform-entropy", "modification-rate")
_OF_AUDIT = ("Classes that fall short", "All figures", "Warnings")
_OF_ATTACKS = "What each attack achieves"
_ATTACKED = "What can still be done with the release alone"


def _pairing(result: CompareResult) -> Words:
    hint = f"({spelled('key')} or {spelled('by_position', True)} says it)" if result.pairing == "none" else ""
    return Toned(_PAIRINGS[result.pairing], hint=hint)


def compare_document(result: CompareResult) -> Document:
    """The result of a comparison as a document for any layout."""
    if result.shown_by != CompareResult.shown_by:
        from sqlaudit.release.compare.bucketized_report import bucketized_document

        return bucketized_document(result)
    return Document(
        _headline(result),
        (Bullets(tuple(_lead(result))), *notices_block(result.audit.notices)),
        (
            *section("Is it a generalization?", *_generalization(result)),
            *audit_section(result),
            *section("What was lost", *losses_blocks(result)),
            *section("What was lost, column by column", *by_column_blocks(result)),
            *section("What is still of use", *useful_blocks(result)),
            *attacks_section(result),
            *section("How this was computed", computed(result)),
            *section("What this does not say", Bullets((MEANING,))),
            *sql_section(result),
        ),
        about=About(f"{result.release} beside {result.original}", result.time),
    )


def _headline(result: CompareResult) -> Toned:
    words, tone = _ANSWERS[result.generalization.answer]
    said = f"{result.release} {words} {result.original}"
    if not result.audit.required:
        return Toned(said, "bad" if tone == "bad" else "warn" if tone == "warn" else "good")
    verdict = verdict_of(result.audit)
    return Toned(f"{said}; {verdict.text}", "bad" if tone == "bad" else verdict.tone)


def _lead(result: CompareResult) -> Iterator[Words]:
    facts = result.generalization
    recoding = "" if facts.answer is Answer.NO else f" Recoding: {_recoding(facts)}."
    tone = "bad" if facts.answer is Answer.NO else "good" if facts.answer is Answer.YES else "warn"
    yield Toned(f"{_sentence(facts.reason)}{recoding}", "bad" if tone == "bad" else "plain")
    if facts.missing or facts.suppressed:
        left_out, suppressed = plural(facts.missing, "original row"), plural(facts.suppressed, "released row")
        yield f"Not in the release: {left_out}. Suppressed cell by cell: {suppressed}."
    if result.coarser is not None:
        other = result.coarser
        yield f"Beside {other.other} the release is {other.relation}: {other.reason}"
    if lost := _lost(result):
        yield lost
    if result.workload is not None and result.workload.errors:
        yield _off(result.workload.errors, f"{result.workload.queries} random counting queries")
    if result.attacks is not None:
        yield from (
            Toned(one.sentence, "bad")
            for one in result.attacks.exposures
            if one.attack == "homogeneity" and one.exposed
        )


def _recoding(facts: Generalization) -> str:
    """How values were recoded, in words; rows that are suppressed as a whole do not count."""
    if facts.recoding is Recoding.NONE and facts.suppressed:
        return f"{_RECODINGS[Recoding.NONE]} in the rows that are not suppressed as a whole"
    return _RECODINGS[facts.recoding]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lost(result: CompareResult) -> str:
    said = [
        f"{loss.measure} {percent(loss.share)}"
        for loss in result.losses
        if loss.column is None and loss.measure in _MAIN and loss.share is not None
    ]
    return f"Lost, of what complete suppression loses: {', '.join(said)}." if said else ""


def _off(errors: Mapping[str, Errors], asked: str) -> str:
    said = [f"{name} {percent_or_more(one.median)}" for name, one in errors.items()]
    return f"The answers to {asked} are off by a median of {listing(said)}."


def _generalization(result: CompareResult) -> Iterator[Block]:
    facts = result.generalization
    heads = ("column", "rows by level", "cells", "values", "misfits", "empty", "split")
    rows = tuple(
        (
            one.name,
            _levels(one),
            count(one.cells),
            count(one.values),
            count(one.misfits),
            count(one.empty_cells),
            count(one.split_values),
        )
        for one in facts.columns
    )
    yield Table(tuple(Column(head, place > 1) for place, head in enumerate(heads)), rows)
    yield Paragraph(
        "Misfits: rows whose value is not under their cell. Empty: cells that stand for no value of the original. "
        "Split: values with several cells."
    )
    pairs: list[tuple[str, Words]] = [("recoding", _recoding(facts)), ("pairing", _pairing(result))]
    if facts.misfit_rows is not None:
        pairs.append(("rows that do not fit", count(facts.misfit_rows)))
    pairs += [(f"changed values of {name}", count(changed)) for name, changed in facts.changed.items()]
    pairs += [
        ("rows without an original", count(facts.foreign)),
        ("rows too many", count(facts.too_many)),
        ("rows left out", count(facts.missing)),
        ("rows suppressed", count(facts.suppressed)),
    ]
    yield Facts(tuple(pairs))


def _levels(one: ColumnFit) -> str:
    if len(one.levels) == 1:
        return f"all at {one.levels[0][0]} of {one.height}"
    return ", ".join(f"{count(rows)} at {level}" for level, rows in one.levels) + f" of {one.height}"


def audit_section(result: CompareResult) -> tuple[Section, ...]:
    """Some sections of the audit as one."""
    document = audit_document(result.audit)
    told = notices_block(result.audit.notices)  # these stand at the top of the report
    blocks: list[Block] = [Paragraph(document.headline), *(block for block in document.lead if block not in told)]
    blocks += [block for one in document.sections if one.title in _OF_AUDIT for block in one.blocks]
    return section("Is it safe?", *blocks)


def attacks_section(result: CompareResult) -> tuple[Section, ...]:
    """What the attacks on the release achieve."""
    if result.attacks is None:
        why, _, hint = NO_ATTACKS.partition(". ")
        return section(_ATTACKED, Paragraph(Toned(f"{why}.", hint=hint)))
    document = attack_document(result.attacks)
    blocks: list[Block] = [*document.lead]
    blocks += [block for one in document.sections if one.title == _OF_ATTACKS for block in one.blocks]
    others = "Attacks that take another table or categories were not tried."
    blocks.append(Paragraph(Toned(others, hint="`sqlaudit attack` tries them.")))
    return section(_ATTACKED, *blocks)


def computed(result: CompareResult) -> Facts:
    """What was compared, how, when and where."""
    pairs: list[tuple[str, Words]] = [
        ("original", f"{result.original}, {plural(result.rows, 'row')}"),
        ("release", f"{result.release}, {plural(result.released, 'row')}"),
        ("quasi-identifiers", ", ".join(result.qi)),
        ("sensitive columns", ", ".join(result.sensitive)),
        ("rows are paired", _pairing(result)),
        ("distance of sensitive values", result.distance if result.sensitive else ""),
        *made(result),
    ]
    return Facts(tuple(pair for pair in pairs if text_of(pair[1])))
