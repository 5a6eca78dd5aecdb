"""The report of a comparison: is it derived from the original, is it safe, what was lost, how useful is it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from sqlaudit.audits.report import ALL_FIGURES, FAILING_GROUPS, WARNINGS, AuditReport
from sqlaudit.base.parameter_names import spelled
from sqlaudit.hierarchies.result import by_default
from sqlaudit.models.phrases import requirement_lines, requirements_met
from sqlaudit.release.attacks.result import AttackReport
from sqlaudit.release.compare.result import (
    METHODS,
    NO_ATTACKS,
    Answer,
    ColumnSpread,
    CompareResult,
    Errors,
    Generalization,
    Loss,
    QueryAnswer,
    Recoding,
)
from sqlaudit.reports import document as doc
from sqlaudit.reports.report import MeasuredReport

# The figures in the report of a comparison: information loss, and answers to queries.

_MAIN = ("loss", "non-uniform-entropy", "modification-rate")


def losses_picture(result: CompareResult) -> doc.Picture | None:
    """A bar for each column and measure: the loss as a share of suppressing the column."""
    series = {}
    for name in _MAIN:
        found = {loss.column: loss.share for loss in result.losses if loss.measure == name and loss.column is not None}
        if found:
            series[measure_title(name)] = [float(found.get(column) or 0) for column in result.qi]
    title = "Loss by column, as a share of suppressing the column"
    return doc.bars(title, result.qi, series, "share of complete suppression", share=True) if series else None


def errors_picture(errors: Mapping[str, Errors]) -> doc.Picture | None:
    """The relative errors of random queries: median, 90% and 95% quantiles."""
    series = {name: [float(value or 0) for value in (one.median, one.q90, one.q95)] for name, one in errors.items()}
    title = "Relative errors of random counting queries: median, 90% and 95% quantiles"
    drawn = doc.bars(title, ("median", "90%", "95%"), series, "relative error", share=True)
    return drawn if any(one.answers for one in errors.values()) else None


SHOWN_GROUPS = 20


def losses_blocks(result: CompareResult) -> Iterator[doc.Content]:
    """The loss of all columns together."""
    found, rows = [loss for loss in result.losses if loss.column is None], []
    for loss in found:
        error = "" if loss.standard_error is None else f" ± {doc.figure(loss.standard_error, 2)}"
        value = "–" if loss.value is None else doc.figure(loss.value) + error
        share = None if loss.share is None else doc.percent(loss.share)
        rows.append((_measure_of(result, loss.measure, loss.sensitive), value, loss.mean, share))
    yield doc.table(("Measure", "#Value", "#Mean", "#Share"), rows)
    yield "Mean: per cell or row. Share: of the loss of complete suppression."
    yield not_given(found)


def measure_title(measure: str) -> str:
    """A measure in words: `non-uniform entropy`. Lattices know another one that is called loss, ARX's."""
    if measure == "loss":
        return "loss (LM)"
    words = measure.replace("-", " ").replace("non uniform", "non-uniform").split(" ")
    return " ".join(word.upper() if word in ("whd", "ncp") else word for word in words)


def _measure_of(result: CompareResult, measure: str, about: str | None) -> str:
    title = measure_title(measure)
    return title if about is None or len(result.sensitive) < 2 else f"{title} ({about})"


def not_given(losses: Iterable[Loss]) -> Iterator[doc.Words]:
    """Losses that were not computed, and why; the missing options are hints for people who run commands."""
    reasons: dict[str, list[str]] = {}
    for loss in losses:
        if loss.value is None and loss.why:
            reasons.setdefault(loss.why, []).append(measure_title(loss.measure))
    for reason, names in reasons.items():
        measures = ", ".join(dict.fromkeys(names))
        why = reason.replace("it needs", "they need", 1) if "," in measures else reason
        if any(spelled(field) in why for field in ("key", "sensitive")):
            yield doc.Toned(f"Not computed: {measures}.", hint=f"{why[:1].upper()}{why[1:]}.")
        else:
            yield f"Not computed: {measures}, because {why}."


def by_column_blocks(result: CompareResult) -> Iterator[doc.Content]:
    """The loss of each quasi-identifier."""
    yield losses_picture(result)
    found = [loss for loss in result.losses if loss.column is not None]
    values = {(loss.measure, loss.sensitive, loss.column): loss for loss in found}
    keys = dict.fromkeys((loss.measure, loss.sensitive) for loss in found)
    rows = (
        (_measure_of(result, name, about), *(_cell(values.get((name, about, column))) for column in result.qi))
        for name, about in keys
    )
    yield doc.table(("Measure", *(doc.Column(name, True) for name in result.qi)), rows)
    yield "Percentages are shares of the loss of suppressing the column; other figures are values."


def _cell(loss: Loss | None) -> str:
    if loss is None or (loss.share is None and loss.value is None):
        return "–"
    return doc.figure(loss.value) if loss.share is None else doc.percent(loss.share)


def useful_blocks(result: CompareResult) -> Iterator[doc.Content]:
    """Answers of the release to queries."""
    workload = result.workload
    if workload is not None:
        asked = doc.plural(workload.queries, "random counting query", "random counting queries")
        answered = [f"{doc.count(number)} {name}" for name, number in workload.false_positives.items() if number]
        yield (
            f"{asked} (seed {workload.seed}). {doc.count(workload.empty)} {'has' if workload.empty == 1 else 'have'} "
            f"an answer of 0 in the original{f'; the release answers {doc.listing(answered)}' if answered else ''}. "
            "Relative errors of the others:"
        )
        yield _errors(workload.errors)
        yield errors_picture(workload.errors)
        yield f"Conditional: {workload.why}." if workload.why else None
    else:
        hint = f"{spelled('workload', 100)} runs 100 random queries."
        yield doc.Toned("Not computed: errors of random queries and range query noise.", hint=hint)
    for query in result.queries:
        yield from _query(query)


def _errors(errors: Mapping[str, Errors]) -> doc.Table:
    heads = ("Method", "#Answers", "#Median", "#90% are within", "#95% are within", "#Largest")
    shares = {name: (one.median, one.q90, one.q95, one.largest) for name, one in errors.items()}
    rows = ((name, doc.count(errors[name].answers), *map(percent_or_more, some)) for name, some in shares.items())
    return doc.table(heads, rows)


def _query(query: QueryAnswer) -> Iterator[doc.Content]:
    """Yield the answers to a query, their errors and distances."""
    shown = query.groups[:SHOWN_GROUPS]
    more = "" if len(shown) == query.total else f", {len(shown)} of {doc.count(query.total)} groups shown"
    answers = [(one.key, {"original": one.truth, **one.answers}) for one in shown]
    yield _by_group(answers, ("original", *METHODS), f"Query {query.number} ({query.aggregate}){more}:")
    if query.total > 1:
        yield _errors(query.errors)
    if query.distances:  # how far the answers as shares are from the original's: of the worst groups
        yield f"Query {query.number}: distance of the distribution of {query.distribution_of} from the original's:"
        worst = sorted(query.distances, key=lambda one: -max(value or 0.0 for value in one.answers.values()))
        yield _by_group([(one.key, one.answers) for one in worst[:SHOWN_GROUPS]], METHODS)
    yield f"Conditional: {query.why}." if query.why else None


def _by_group(
    answers: Sequence[tuple[tuple[object, ...] | None, Mapping[str, float | None]]],
    names: Sequence[str],
    title: str = "",
) -> doc.Table:
    """The answers for each group, with its key where that may be shown."""
    keys = max((len(key or ()) for key, _ in answers), default=0)
    heads = (*(f"Group {place}" for place in range(1, keys + 1)), *(f"#{name.capitalize()}" for name in names))
    rows = (
        (
            *("" if part is None else str(part) for part in key or ()),
            *("–" if (value := found.get(name)) is None else doc.figure(value) for name in names),
        )
        for key, found in answers
    )
    return doc.table(heads, rows, title)


def percent_or_more(error: float | None) -> str:
    """A relative error as a percentage, past 100% too."""
    if error is None:
        return "–"
    return doc.percent(error) if error <= 1 else f"{error * 100:,.0f}%"


_ANSWERS: Mapping[Answer, tuple[str, doc.Tone]] = {
    Answer.YES: ("is a generalization of", "good"),
    Answer.NO: ("is not a generalization of", "bad"),
    Answer.UNDECIDED: ("may be a generalization of", "warn"),
}
_RECODINGS = {
    Recoding.NONE: "no value was changed",
    Recoding.FULL_DOMAIN: "full-domain (every column is at one level of its hierarchy)",
    Recoding.GLOBAL: "global (every value is generalized in one way, columns at several levels)",
    Recoding.LOCAL: "local (some values are generalized in more than one way)",
}
_PAIRINGS = {
    "key": "by key",
    "position": "by position",
    "containment": "by containment (unique)",
    "none": "unknown: some original rows fit several groups",
}
_OF_AUDIT = (FAILING_GROUPS, ALL_FIGURES, WARNINGS)
_OF_ATTACKS = "Attacks"
_ATTACKED = "Attacks on the release alone"


def _pairing(result: CompareResult) -> doc.Words:
    hint = f"{spelled('key')} or {spelled('by_position', True)} pairs the rows." if result.pairing == "none" else ""
    return doc.Toned(_PAIRINGS[result.pairing], hint=hint)


class CompareReport(MeasuredReport[CompareResult]):
    """The report on a comparison: is it derived from the original, is it safe, what was lost, how useful is it."""

    kind = "Release and original"
    method_title = "How this was computed"

    def headline(self, result: CompareResult) -> doc.Toned:
        words, tone = _ANSWERS[result.generalization.answer]
        answer = f"{result.release} {words} {result.original}"
        if not result.audit.required:
            return doc.Toned(answer, tone)
        verdict = AuditReport().headline(result.audit)
        is_exposed = result.attacks is not None and any(attack.exposed for attack in result.attacks.exposures)
        tones = (tone, verdict.tone, "warn" if is_exposed else "good")  # attacks that succeed leave no good news
        worst: doc.Tone = "bad" if "bad" in tones else "warn" if "warn" in tones else "good"
        but = f", but {AttackReport().successes(result.attacks)}" if result.attacks and is_exposed else ""
        return doc.Toned(f"{answer}; {verdict.text}{but if worst == 'warn' else ''}", worst)

    def key_figures(self, result: CompareResult) -> Iterator[doc.KeyFigure]:
        if result.audit.rows and result.audit.classes.min_size is not None:
            smallest = next(AuditReport().key_figures(result.audit))
            yield replace(smallest, tone="plain") if CompareReport().headline(result).tone == "good" else smallest
        for loss in result.losses:
            if loss.measure == "loss" and loss.column is None and loss.share is not None:
                yield doc.KeyFigure(doc.percent(loss.share), doc.label(measure_title("loss")))
        errors = () if result.workload is None else result.workload.errors.values()
        medians = [error.median for error in errors if error.median is not None]
        if result.audit.required:
            yield from requirements_met(result.audit.required)
        elif medians:
            yield doc.KeyFigure(percent_or_more(min(medians)), "Median error of queries")

    def opening(self, result: CompareResult) -> Iterable[doc.Content]:
        return requirement_lines(result.audit.required, result.audit.rows)

    def lead(self, result: CompareResult) -> Iterator[doc.Words]:
        fit = result.generalization
        is_refuted = fit.answer is Answer.NO
        recoding = "" if is_refuted else f" Recoding: {_recoding(fit)}."
        yield doc.Toned(f"{_sentence(fit.reason)}{recoding}", doc.bad_if(is_refuted))
        if fit.missing:
            yield f"Not in the release: {doc.plural(fit.missing, 'original row')}."
        if fit.suppressed:
            yield f"Suppressed cell by cell: {doc.plural(fit.suppressed, 'released row')}."
        if result.coarser is not None:
            other = result.coarser
            yield f"Compared with {other.other}, the release is {other.relation}: {other.reason}"
        shares = {loss.measure: loss.share for loss in result.losses if loss.column is None and loss.measure in _MAIN}
        if lost := [
            f"{measure_title(measure)} {doc.percent(share)}" for measure, share in shares.items() if share is not None
        ]:
            yield f"Information loss (100% is complete suppression): {', '.join(lost)}."
        if result.workload is not None and result.workload.errors:
            medians = (f"{percent_or_more(error.median)} ({name})" for name, error in result.workload.errors.items())
            yield f"Median error of {result.workload.queries} random counting queries: {doc.listing(medians)}."
        for exposure in result.attacks.exposures if result.attacks is not None else ():
            if exposure.attack == "homogeneity" and exposure.exposed:
                yield doc.warning(exposure.sentence)

    def notices(self, result: CompareResult) -> Iterable[doc.Block]:
        return doc.notices_block(result.audit.notices)

    def sections(self, result: CompareResult) -> Iterator[tuple[doc.Section, ...]]:
        yield doc.section("Columns before and after", *_before_and_after(result))
        yield self.derivation(result)
        yield audit_section(result)
        yield from self.losses(result)
        yield attacks_section(result)

    def derivation(self, result: CompareResult) -> tuple[doc.Section, ...]:
        """Return the section on whether the release is derived from the original."""
        return doc.section("Is it a generalization?", *_generalization(result))

    def losses(self, result: CompareResult) -> Iterator[tuple[doc.Section, ...]]:
        """Yield the sections on what was lost."""
        yield doc.section("Information loss", *losses_blocks(result))
        yield doc.section("Information loss by column", *by_column_blocks(result))
        yield doc.section("Answers to queries", *useful_blocks(result))

    def method(self, result: CompareResult) -> Iterator[tuple[str, doc.Cell]]:
        yield "original", f"{result.original}, {doc.plural(result.rows, 'row')}"
        yield "release", f"{result.release}, {doc.plural(result.released, 'row')}"
        yield "quasi-identifiers", doc.joined(result.qi)
        yield "sensitive columns", doc.joined(result.sensitive)
        yield "pairing of rows", _pairing(result)
        yield "distance of sensitive values", result.distance if result.sensitive else ""


def _before_and_after(result: CompareResult) -> Iterator[doc.Content]:
    """Yield how rows spread over the values of each column, in the original and in the release."""
    if not result.rows or not result.spreads:
        return
    drawn = {
        spread.column: (
            doc.Strip(doc.plural(spread.values, "value"), [*spread.original, spread.original_others]),
            doc.Strip(doc.plural(spread.cells, "value"), [*spread.release, spread.release_others]),
        )
        for spread in result.spreads
    }
    title = "All rows, cut by the values of each column, the most frequent first; the pale part has all rare values"
    yield doc.strips(title, drawn, ("original", "release"), rest=True)
    losses = {loss.column: loss.share for loss in result.losses if loss.measure == "loss"}

    def share_lost(spread: ColumnSpread) -> str:
        share = losses.get(spread.column)
        return "–" if share is None else doc.percent(share)

    yield doc.table_of(
        result.spreads,
        ("Column", "column"),
        "role",
        ("#Values before", "values"),
        ("#Values after", "cells"),
        ("#loss (LM)" if losses else None, share_lost),
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _recoding(fit: Generalization) -> str:
    """The recoding in words; rows that are suppressed as a whole do not count."""
    rest = fit.recoding is Recoding.NONE and fit.suppressed
    return _RECODINGS[fit.recoding] + (" in the rows that are not suppressed as a whole" if rest else "")


def _generalization(result: CompareResult) -> Iterator[doc.Content]:
    """Yield the levels of each column, and whether the release is a generalization."""
    fit = result.generalization
    rows = []
    for one in fit.columns:
        levels = ", ".join(f"{doc.count(rows_at)} at {level}" for level, rows_at in one.levels)
        levels = f"all at level {one.levels[0][0]}" if len(one.levels) == 1 else levels
        counts = (one.cells, one.values, one.misfits, one.empty_cells, one.split_values)
        rows.append((one.name, f"{levels} of {one.height}", *counts))
    yield doc.table(("Column", "Rows by level", "#Cells", "#Values", "#Misfits", "#Empty", "#Split"), rows)
    yield (
        "Misfits: rows whose cell does not contain their value. Empty: cells that contain no value of the original. "
        "Split: values generalized in more than one way."
    )
    yield from by_default(fit.columns, result.original)
    yield doc.facts(
        ("recoding", _recoding(fit)),
        ("pairing", _pairing(result)),
        ("rows with misfits", fit.misfit_rows),
        *((f"changed values of {name}", changed) for name, changed in fit.changed.items()),
        ("rows without an original", fit.foreign),
        ("excess rows", fit.too_many),
        ("rows left out", fit.missing),
        ("suppressed rows", fit.suppressed),
    )


def audit_section(result: CompareResult) -> tuple[doc.Section, ...]:
    """Some sections of the audit as one."""
    document = AuditReport().document(result.audit)
    told = (*doc.notices_block(result.audit.notices), *requirement_lines(result.audit.required, result.audit.rows))
    lead = (block for block in document.lead if block not in told)  # these stand at the top of the report
    return doc.section("Is it safe?", document.headline, *lead, *doc.blocks_of(document, _OF_AUDIT))


def attacks_section(result: CompareResult) -> tuple[doc.Section, ...]:
    """The results of attacks on the release."""
    if result.attacks is None:
        why, _, hint = NO_ATTACKS.partition(". ")
        return doc.section(_ATTACKED, doc.Toned(f"{why}.", hint=hint))
    document = AttackReport().document(result.attacks)
    not_tried = "Attacks that need another table or categories were not tried."
    others = doc.Toned(not_tried, hint="`sqlaudit attack` tries them.")
    return doc.section(_ATTACKED, *document.lead, *doc.blocks_of(document, (_OF_ATTACKS,)), others)


_LOST = (
    "All cells of people are kept, so there is no loss of cells. What is lost is the assignment of the values in a "
    "bucket to its people."
)


class BucketizedReport(CompareReport):
    """The report on a comparison of a bucketized release with its original."""

    def headline(self, result: CompareResult) -> doc.Toned:
        is_one = result.generalization.answer is Answer.YES
        verb = "is a" if is_one else "is NOT a"
        text = f"{result.release} {verb} bucketized release of {result.original}"
        if not result.audit.required:
            return doc.Toned(text, "good" if is_one else "bad")
        verdict = AuditReport().headline(result.audit)
        return doc.Toned(f"{text}; {verdict.text}", verdict.tone if is_one else "bad")

    def lead(self, result: CompareResult) -> Iterator[doc.Words]:
        yield _sentence(result.generalization.reason)
        if missing := result.generalization.missing:
            yield f"Not in the release: {doc.plural(missing, 'original row')}."

    def derivation(self, result: CompareResult) -> tuple[doc.Section, ...]:
        fit = result.generalization
        counts = doc.facts(
            ("people without an original", fit.foreign),
            ("people with a different quasi-identifier", fit.misfit_rows or 0),
            *((f"values of {name} in a wrong bucket", changed) for name, changed in fit.changed.items()),
            ("rows left out", fit.missing),
        )
        return doc.section("Is it derived from the original?", counts)

    def losses(self, result: CompareResult) -> Iterator[tuple[doc.Section, ...]]:
        yield doc.section("Information loss", _LOST)
