"""The reports of worst-case disclosure: what a few pieces of knowledge are enough for, the proof, and what-ifs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from sqlaudit.audits.report import disclosure_pictures, key_text, value_text
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.result import MEANING
from sqlaudit.reports import document as doc
from sqlaudit.reports.report import MeasuredReport, computed_by

if TYPE_CHECKING:
    from sqlaudit.audits.disclosure.attribute import WeakClasses
    from sqlaudit.audits.disclosure.results import AttributeResult, DisclosureResult, ShownWitness
    from sqlaudit.audits.disclosure.what_if import WhatIfResult


WHAT_IT_IS = (
    "A piece of knowledge is a basic implication about named people: if these people have these values, one of those "
    "people has one of those values. 'This person does not have that value' (a negated atom) is one, too.",
    "Maximum disclosure is the highest probability that any k pieces give to any statement 'this person has this "
    "value', for an attacker who knows everyone's quasi-identifiers.",
)
NOT_SAID = (
    "The curve shows how much knowledge is enough, not whether an attacker has it.",
    "Other kinds of knowledge are not covered, for example how values depend on each other in the population.",
    "Joins with other releases or older versions of this table were not checked.",
    MEANING,
)
_LARGEST_SHOWN = 4


class DisclosureReport(MeasuredReport["DisclosureResult"]):
    """The report on worst-case disclosure: what a few pieces of knowledge are enough for, and the proof."""

    kind = "Disclosure"
    method_title = "How this was computed"
    limits_title = "Limits of this analysis"
    limits_last = True

    def headline(self, result: DisclosureResult) -> doc.Words:
        disclosures, last = [attribute.disclosure for attribute in result.attributes], result.disclosure.knowledge
        certain = {one.sensitive: one.smallest_certain_k for one in disclosures if one.smallest_certain_k is not None}
        if not all(one.points for one in disclosures):
            return f"{result.target}: the table has no rows"
        if certain:
            least = min(certain.values())
            names = doc.listed((name for name, pieces in certain.items() if pieces == least), last="or")
            if not least:
                return doc.bad(f"{result.target}: someone's {names} is certain without any knowledge")
            return f"{result.target}: {_pieces(least)} can make someone's {names} certain"
        names = doc.listed(one.sensitive for one in disclosures)
        most = doc.figure(max(one.curve[-1] for one in disclosures))
        verb = "reveals" if last == 1 else "reveal"
        knowledge = f"{_pieces(last)} {verb} {names}" if last else f"without any knowledge, {names} can be inferred"
        return f"{result.target}: {knowledge} with a probability of at most {most}"

    def key_figures(self, result: DisclosureResult) -> Iterator[doc.KeyFigure]:
        disclosure = result.disclosure
        if len(result.attributes) > 1 or not disclosure.points:
            return
        last, certain = disclosure.knowledge, disclosure.smallest_certain_k
        start, end = doc.figure(disclosure.curve[0]), doc.figure(disclosure.curve[-1])
        yield doc.KeyFigure(start, "Disclosure without knowledge", doc.bad_if(certain == 0))
        if last:
            yield doc.KeyFigure(end, f"Disclosure with {doc.plural(last, 'piece')}")
        yield doc.KeyFigure(f"more than {last}" if certain is None else doc.count(certain), "Pieces for certainty")

    def lead(self, result: DisclosureResult) -> Iterator[doc.Words]:
        for attribute in result.attributes:
            yield from _lead(result, attribute)

    def notices(self, result: DisclosureResult) -> Iterable[doc.Block]:
        return doc.notices_block(result.notices)

    def sections(self, result: DisclosureResult) -> Iterator[tuple[doc.Section, ...]]:
        for attribute in result.attributes:
            yield _attribute(result, attribute)
        yield doc.section("What the figures mean", doc.Bullets(WHAT_IT_IS))
        warnings = (warning.message for warning in result.warnings if warning not in result.notices)
        yield doc.section("Warnings", warnings)

    def method(self, result: DisclosureResult) -> Iterator[tuple[str, doc.Cell]]:
        signatures = (disclosure.signatures for disclosure in result.disclosures)
        groups = ((doc.count(counts.classes), doc.plural(len(counts), "different list")) for counts in signatures)
        yield "table", f"{result.target}, {doc.plural(result.rows, 'row')}"
        yield "quasi-identifiers", doc.joined(result.roles["quasi_identifiers"])
        yield "sensitive columns", doc.joined(result.roles["sensitive"])
        yield "groups", ", ".join(f"{classes}, with {lists} of value counts" for classes, lists in groups)

    def limits(self, result: DisclosureResult) -> tuple[str, ...]:
        return NOT_SAID


def _lead(result: DisclosureResult, attribute: AttributeResult) -> Iterator[doc.Words]:
    """Yield for which knowledge values can be inferred: without any, at the threshold, with certainty."""
    name, disclosure = attribute.disclosure.sensitive, attribute.disclosure
    if not disclosure.points:
        yield doc.Toned(f"{name}: undetermined, because the table has no rows.", "warn")
        return
    if disclosure.smallest_certain_k != 0:
        start = _probability(disclosure.curve[0])
        yield f"{name}: without any knowledge, a person's value can be inferred with probability {start}."
    if result.threshold is not None:
        yield _reaching(name, doc.limit(result.threshold), attribute.threshold_k, disclosure.knowledge)
    certain = disclosure.smallest_certain_k
    if certain is None:
        last, most = disclosure.knowledge, _probability(disclosure.curve[-1])
        yield f"{name}: {_pieces(last)} {'reaches' if last == 1 else 'reach'} {most}; no value is certain."
    elif certain == 0:
        yield doc.Toned(f"{name}: at least one person's value is certain without any knowledge.", "bad")
    else:
        yield doc.Toned(f"{name}: {_pieces(certain)} can make a person's value certain.", "warn")


def _reaching(name: str, threshold: str, k: int | None, last: int) -> doc.Toned:
    if k is None:
        return doc.Toned(
            f"{name}: {_pieces(last)} {'does' if last == 1 else 'do'} not reach the threshold {threshold}.", "good"
        )
    if k == 0:
        return doc.Toned(f"{name}: the threshold {threshold} is reached without any knowledge.", "bad")
    return doc.Toned(f"{name}: the threshold {threshold} can be reached with {_pieces(k)}, not with fewer.", "bad")


def _pieces(k: int) -> str:
    return f"{doc.plural(k, 'piece')} of knowledge"


def _attribute(result: DisclosureResult, attribute: AttributeResult) -> tuple[doc.Section, ...]:
    name = f" of {attribute.disclosure.sensitive}" if len(result.attributes) > 1 else ""
    witness = attribute.witness
    return (
        *doc.section(
            f"Curve{name}", _curve(result, attribute), *disclosure_pictures([attribute.disclosure], result.threshold)
        ),
        *doc.section(f"Weakest groups{name}", *_weakest(attribute)),
        *(doc.section(f"Proof{name}", *_proof(witness)) if witness else ()),
    )


def _curve(result: DisclosureResult, attribute: AttributeResult) -> doc.Table | str:
    """Return the maximum disclosure by pieces of knowledge; a sentence instead if it never changes."""
    failing = {item.k: item for item in attribute.failing}
    points = attribute.disclosure.points[result.first_k :]
    if result.threshold is None and len(points) > 2 and len({(one.maximum, one.negated) for one in points}) == 1:
        level, negated = _probability(points[0].maximum), _probability(points[0].negated)
        atoms = "also" if negated == level else f"and {negated}"
        every = f"every k from {points[0].k} to {points[-1].k}"
        return f"Maximum disclosure is {level} for {every}, {atoms} for negated atoms."
    rows: list[tuple[str, list[doc.Words]]] = []
    for point in points:
        bad = result.threshold is not None and point.maximum >= result.threshold
        level, negated = (doc.level_against(one, result.threshold, "<") for one in (point.maximum, point.negated))
        cells: list[doc.Words] = [doc.Toned(level, "bad") if bad else level, _exact(point.maximum), negated]
        if failing:
            item = failing[point.k]
            share = doc.part(item.rows, attribute.disclosure.signatures.rows)
            cells += [doc.count(item.classes), f"{doc.count(item.rows)} ({share})"]
        if rows and rows[-1][1] == cells:  # beyond certainty, each line is as the one before
            rows[-1] = (f"{rows[-1][0].partition(' ')[0]} to {point.k}", cells)
        else:
            rows.append((str(point.k), cells))
    heads = ("#k", "#maximum disclosure", "exactly", "#negated atoms")
    return doc.table(
        (*heads, *(("#failing groups", "#failing rows") if failing else ())), ((k, *cells) for k, cells in rows)
    )


def _exact(value: Fraction, longest: int = 13) -> str:
    """The fraction, if it is short enough for a table."""
    text = str(value) if value.denominator < 10**longest else ""
    return text if len(text) <= longest else ""


def _weakest(attribute: AttributeResult) -> Iterator[doc.Paragraph | doc.Table]:
    """Yield the groups with the highest disclosure, for the `weakest_k` of the result."""
    if not attribute.weakest or attribute.weakest_k is None:
        return
    k = attribute.weakest_k
    known = f"with {_pieces(k)}" if k else "without any knowledge"
    yield doc.Paragraph(f"The groups with the highest disclosure {known}.")
    is_keyed = any(groups.keys for groups in attribute.weakest)
    yield doc.table_of(
        attribute.weakest,
        ("#groups", "classes"),
        ("#rows each", "size"),
        ("largest counts", _counts),
        "#disclosure",
        ("example" if is_keyed else None, lambda groups: key_text(groups.keys[0] if groups.keys else None)),
    )


def _counts(classes: WeakClasses) -> str:
    """The largest counts, with their values in the class that is named."""
    shown = classes.largest[:_LARGEST_SHOWN]
    if classes.values:
        named = zip(shown, classes.values[0], strict=False)
        text = ", ".join(f"{doc.count(number)} {value_text(value)}" for number, value in named)
    else:
        text = ", ".join(map(doc.count, shown))
    return text + (" …" if len(classes.largest) > len(shown) else "")


def _proof(shown: ShownWitness) -> Iterator[doc.Paragraph | doc.Bullets | doc.Facts]:
    """Yield the sentences of a proof, the groups that it needs, and the result of its check."""
    witness = shown.witness
    used = len(witness.implications)
    fewer = f" ({used} of them are enough)" if used < witness.k else ""
    known = f"With {_pieces(witness.k)}{fewer}, nothing" if witness.k else "Without any knowledge, nothing"
    yield doc.Paragraph(f"{known} reveals more than this:")
    yield doc.Bullets((*shown.sentences[:-1], _conclusion(shown)))
    classes = [doc.plural(size, "row") for size in shown.sizes]
    if shown.places:
        classes = [f"{key_text(one.key)} ({size})f" for one, size in zip(shown.places, classes, strict=True)]
    yield doc.Facts(tuple((f"Group {number}", said) for number, said in enumerate(classes, 1)))
    hint = "" if shown.places else f"{spelled('show_values', True)} shows the groups of the people in the proof."
    yield doc.Paragraph(
        doc.Toned(
            f"Checked: a separate count from these sentences alone also gives {_probability(witness.confirmed)}.",
            hint=hint,
        )
    )


def _conclusion(shown: ShownWitness) -> str:
    """The last sentence, with a probability that can be read."""
    exact = shown.witness.probability
    last = shown.sentences[-1] if shown.witness.implications else shown.sentences[-1].removeprefix("Then ")
    return (last[:1].upper() + last[1:]).replace(
        f"with probability {exact}.", f"with probability {_probability(exact)}."
    )


def _probability(value: Fraction, longest: int = 9) -> str:
    """A probability as a decimal, with the fraction when that is short."""
    exact = _exact(value, longest)
    return f"{doc.figure(value)} ({exact})" if "/" in exact else doc.figure(value)


_LONGEST = 24
_WHAT = (
    "The probability is exact: the share of all tables with these equivalence classes in which the statement holds, "
    "among those in which all the knowledge holds.",
    "It is the belief of an attacker who knows everyone's quasi-identifiers, the published table and this knowledge, "
    "and nothing else.",
)


class WhatIfReport(MeasuredReport["WhatIfResult"]):
    """The report on statements: how probable each is given the knowledge, and without it."""

    kind = "Disclosure to an attacker"

    def headline(self, result: WhatIfResult) -> str:
        largest = max(result.answers, key=lambda answer: abs(answer.probability - answer.prior))
        after, before = doc.figure(largest.probability), doc.figure(largest.prior)
        statement = f"the probability of a statement about {result.sensitive}"
        if largest.probability == largest.prior:
            return f"{result.target}: {statement} is {after}" + (
                ", with and without the knowledge" * bool(result.pieces)
            )
        verb = "raise" if largest.probability > largest.prior else "lower"
        changes = f"{_pieces(result.pieces)} {verb}{'s' if result.pieces == 1 else ''}"
        return f"{result.target}: {changes} {statement} from {before} to {after}"

    def lead(self, result: WhatIfResult) -> Iterator[doc.Words]:
        if result.pieces:
            prior = _probability(result.knowledge, _LONGEST)
            yield f"In the table alone, all of this knowledge is true with probability {prior}."

    def sections(self, result: WhatIfResult) -> Iterator[tuple[doc.Section, ...]]:
        answers = doc.table_of(
            result.answers,
            (
                "statement",
                lambda answer: answer.place if answer.person is None else f"{answer.person} has {answer.value}",
            ),
            ("#probability", lambda answer: doc.figure(answer.probability)),
            ("exactly", lambda answer: _exact(answer.probability, _LONGEST)),
            ("#without knowledge", lambda answer: doc.figure(answer.prior)),
        )
        yield doc.section("Answers", answers)
        yield doc.section("What the figures mean", doc.Bullets(_WHAT))

    def closing(self, result: WhatIfResult) -> Iterator[tuple[doc.Section, ...]]:
        quasi_identifiers = doc.joined(result.roles["quasi_identifiers"])
        how = doc.facts(("quasi-identifiers", quasi_identifiers), *computed_by(result))
        yield doc.section("How this was computed", how)
