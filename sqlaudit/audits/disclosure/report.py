"""The reports of worst-case disclosure: what a few pieces of knowledge are enough for, the proof, and what-ifs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from sqlaudit.audits.report import disclosure_pictures, key_text, value_text
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.result import MEANING
from sqlaudit.reports import document as doc
from sqlaudit.reports.stored import made, sql_section

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


def disclosure_document(result: DisclosureResult) -> doc.Document:
    """The disclosure of a table as a document for any layout."""
    names = doc.listing(attribute.disclosure.sensitive for attribute in result.attributes)
    last = result.attributes[0].disclosure.knowledge
    return doc.report_on(
        result,
        f"{result.target}: what 0 to {doc.plural(last, 'piece')} of knowledge can reveal about {names}",
        (
            doc.Bullets(tuple(words for attribute in result.attributes for words in _lead(result, attribute))),
            *doc.notices_block(result.notices),
        ),
        *(_attribute(result, attribute) for attribute in result.attributes),
        doc.section("What the figures mean", doc.Bullets(WHAT_IT_IS)),
        doc.section(
            "Warnings", doc.Bullets(tuple(warned.message for warned in result.warnings if warned not in result.notices))
        ),
        _how(result),
        sql_section(result),
        doc.section("Limits of this analysis", NOT_SAID),
        figures=_key_figures(result.attributes) if len(result.attributes) == 1 else (),
    )


def _key_figures(attributes: Sequence[AttributeResult]) -> Iterator[doc.KeyFigure]:
    """What the curve begins and ends with, and from how many pieces of knowledge on a value is certain."""
    for found in (attribute.disclosure for attribute in attributes if attribute.disclosure.points):
        last, certain = found.knowledge, found.smallest_certain_k
        yield doc.KeyFigure(
            doc.figure(found.curve[0]), "Disclosure without knowledge", "bad" if certain == 0 else "plain"
        )
        if last:
            yield doc.KeyFigure(doc.figure(found.curve[-1]), f"Disclosure with {doc.plural(last, 'piece')}")
        pieces = f"more than {last}" if certain is None else doc.count(certain)
        yield doc.KeyFigure(pieces, "Pieces for certainty")


def _lead(result: DisclosureResult, attribute: AttributeResult) -> Iterator[doc.Words]:
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
    failing = {item.k: item for item in attribute.failing}
    points = attribute.disclosure.points[result.first_k :]
    if result.threshold is None and len(points) > 2 and len({(one.maximum, one.negated) for one in points}) == 1:
        levels = f"{_probability(points[0].maximum)}, and {_probability(points[0].negated)} for negated atoms"
        return f"Maximum disclosure is {levels}, for every k from {points[0].k} to {points[-1].k}."
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
    if not attribute.weakest or attribute.weakest_k is None:
        return
    k = attribute.weakest_k
    known = f"with {_pieces(k)}" if k else "without any knowledge"
    yield doc.Paragraph(f"The groups with the highest disclosure {known}.")
    keyed = "example" if any(classes.keys for classes in attribute.weakest) else None
    rows = (
        (
            doc.count(one.classes),
            doc.count(one.size),
            _counts(one),
            doc.figure(one.disclosure),
            key_text(one.keys[0] if one.keys else None),
        )
        for one in attribute.weakest
    )
    yield doc.table(("#groups", "#rows each", "largest counts", "#disclosure", keyed), rows)


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


def _how(result: DisclosureResult) -> tuple[doc.Section, ...]:
    groups = ", ".join(
        f"{doc.count(d.signatures.classes)}, with {doc.plural(len(d.signatures), 'different list')} of value counts"
        for d in result.disclosures
    )
    how = doc.facts(
        ("table", f"{result.target}, {doc.plural(result.rows, 'row')}"),
        ("quasi-identifiers", ", ".join(result.roles["quasi_identifiers"])),
        ("sensitive columns", ", ".join(result.roles["sensitive"])),
        ("groups", groups),
        *made(result),
    )
    return doc.section("How this was computed", how)


_LONGEST = 24
_WHAT = (
    "The probability is exact: the share of all tables with these equivalence classes in which the statement holds, "
    "among those in which all the knowledge holds.",
    "It is the belief of an attacker who knows everyone's quasi-identifiers, the published table and this knowledge, "
    "and nothing else.",
)


def what_if_document(result: WhatIfResult) -> doc.Document:
    """How probable each statement is, given the knowledge, and without it, as a document for any layout."""
    about = (
        f"{doc.plural(result.pieces, 'piece')} of knowledge about {doc.plural(result.people, 'person', 'people')} in "
        f"{doc.plural(result.classes, 'group')}"
    )
    prior = _probability(result.knowledge, _LONGEST)
    surprise = f"In the table alone, all of this knowledge is true with probability {prior}."
    rows = (
        (
            one.place if one.person is None else f"{one.person} has {one.value}",
            doc.figure(one.probability),
            _exact(one.probability, _LONGEST),
            doc.figure(one.prior),
        )
        for one in result.answers
    )
    how = doc.facts(("quasi-identifiers", ", ".join(result.roles["quasi_identifiers"])), *made(result))
    return doc.report_on(
        result,
        f"{result.target}: what {about} {'reveals' if result.pieces == 1 else 'reveal'} about {result.sensitive}",
        (doc.Bullets((surprise,) if result.pieces else ()),),
        doc.section("Answers", doc.table(("statement", "#probability", "exactly", "#without knowledge"), rows)),
        doc.section("What the figures mean", doc.Bullets(_WHAT)),
        doc.section("How this was computed", how),
    )
