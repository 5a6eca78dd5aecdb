"""The result of attacks on a release, and the report. Frozen; `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from sqlaudit.base import result as base
from sqlaudit.column_sets.result import READS
from sqlaudit.reports import document as doc
from sqlaudit.reports.notebook import Shown
from sqlaudit.reports.report import MeasuredReport

Attack = Annotated[
    str,
    Literal[
        "linkage",
        "linkage_attribute",
        "homogeneity",
        "background_knowledge",
        "skewness",
        "similarity",
        "unsorted_matching",
        "complementary_releases",
        "minimality",
    ],
]
Figure = int | float | Fraction | str | bool | None


def _floats(value: Any) -> Any:
    """Return the value with fractions as floats, integral ones too, so that a share of all is 1.0."""
    if isinstance(value, Mapping):
        return {name: _floats(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return [_floats(item) for item in value]
    return float(value) if isinstance(value, Fraction) else value


SINGULAR = {f"{one}s": one for one in ("value", "row", "cell", "person", "position", "finer node")}
SINGULAR |= {"people": "person", "groups": "group"}


@dataclass(frozen=True)
class Example(base.Documented):
    """One class or value that an attack exposes, with values of the table; only read when values may be shown.

    Args:
        key: the cells of the class by column, None for a finding about values alone.
        size: the number of people. value: what is learned about them.
    """

    key: Mapping[str, Any] | None = field(metadata=base.AS_TEXT)
    size: int
    value: tuple[Any, ...] = field(default=(), metadata=base.AS_TEXT)


@dataclass(frozen=True)
class Exposure(base.Documented):
    """The result of one attack.

    Args:
        attack: its short name. title: its name for people. about: the sensitive attribute, None when none is involved.
        exposed: people about whom the attacker is right with at least `probability`. of: the number attacked.
        unit: what `exposed` and `of` count: rows, persons or people.
        probability: the attacker's certainty about each exposed person at least (1 = certain); None when only counted.
        highest: the best chance of the attack against any person, None where it does not apply.
        sentence: the result in words. figures: further numbers by name.
        steps: the same attack at growing strength, or column by column, one mapping of figures per step.
        examples: classes with their values, when values may be shown. source: the publication of the attack.
        note: what the figures do not cover, or empty.
        at_most: an upper bound of `exposed`, where only a lower bound is known; else None. It bounds what this attack
            counts, not everyone whom the release exposes.
    """

    attack: Attack
    title: str
    about: str | None = field(metadata=base.key("sensitive"))
    exposed: int
    of: int
    unit: str
    probability: Annotated[float | Fraction, base.FROM_0_TO_1] | None = field(metadata=base.shown(_floats))
    highest: Annotated[float | Fraction, base.FROM_0_TO_1] | None = field(metadata=base.shown(_floats))
    sentence: str
    figures: Mapping[str, Figure] = field(default_factory=dict, metadata=base.shown(_floats))
    steps: tuple[Mapping[str, Figure], ...] = field(default=(), metadata=base.shown(_floats))
    examples: tuple[Example, ...] = ()
    source: str = ""
    note: str = ""
    at_most: int | None = field(default=None, metadata=base.after("exposed"))

    @property
    @base.told("unit", base.shown(_floats))
    def share(self) -> Annotated[Fraction, base.FROM_0_TO_1] | None:
        """The exposed as a share, None when there is no one."""
        return Fraction(self.exposed, self.of) if self.of else None

    @property
    def heading(self) -> str:
        """The title, with the sensitive attribute if there is one."""
        return self.title if self.about is None else f"{self.title}: {self.about}"


@dataclass(frozen=True)
class NotTried(base.Documented):
    """An attack that could not be tried.

    Args:
        reason: what it needs.
    """

    attack: Attack
    title: str
    reason: str


@dataclass(frozen=True, kw_only=True, repr=False)
class AttackResult(base.MeasuredResult, Shown):
    """The result of attacks on a release.

    Args:
        engine: the engine and its version. target: the release. rows: its rows.
        classes: its equivalence classes, None where they overlap.
        smallest: the size of the smallest class, None when there is none.
        k: people with fewer candidates are reported by linkage.
        exposures: the attacks that were tried, in a fixed order. not_tried: the others, with what they need.
    """

    schema: ClassVar = "sqlaudit-attack/1"
    shown_by: ClassVar = "sqlaudit.release.attacks.result:AttackReport"
    frame_of: ClassVar = "attacks"

    engine: str = ""
    target: str
    rows: int
    classes: int | None
    smallest: int | None = field(metadata=base.key("smallest_class"))
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    entity: str | None
    nulls: base.Nulls
    k: Annotated[int, base.FROM_1]
    exposures: tuple[Exposure, ...] = field(metadata=base.key("attacks"))
    not_tried: tuple[NotTried, ...] = ()

    def exposure(self, attack: str, about: str | None = None) -> Exposure:
        """Return the exposure by an attack, about a sensitive attribute where several were attacked.

        Raises:
            KeyError: the attack was not tried.
        """
        for exposure in self.exposures:
            if exposure.attack == attack and about in (None, exposure.about):
                return exposure
        raise KeyError(attack)


def exposed_most(exposures: Sequence[Exposure]) -> list[Exposure]:
    """Return the exposures by the share that they expose, largest first; ties keep their order."""
    return sorted(exposures, key=lambda exposure: exposure.share or Fraction(0), reverse=True)


# The report of attacks on a release.


def exposed_picture(result: AttackResult) -> doc.Picture | None:
    """Return the bars of the shares that the attacks expose; None for fewer than two attacks, or without success."""
    tried = [exposure for exposure in result.exposures if exposure.of]
    series = {"exposed": [float(exposure.share or 0) for exposure in tried]}
    title, names = "Share of people that each attack exposes", (exposure.heading for exposure in tried)
    return (
        doc.bars(title, names, series, "share exposed", share=True)
        if len(tried) > 1 and any(series["exposed"])
        else None
    )


def ruled_out_picture(exposure: Exposure) -> doc.Picture | None:
    """Return the curves of those exposed once an attacker rules out m values; None for fewer than two points."""
    if len(exposure.steps) < 2 or not exposure.of:
        return None
    figures_by_label = {
        "certain, values per person": "certain",
        "nearly sure": "nearly_sure",
        "certain, same values for everyone": "certain_if_ruled_out_for_all",
    }
    curves = {
        label: [[float(step["ruled_out"] or 0), float(step[figure] or 0) / exposure.of] for step in exposure.steps]
        for label, figure in figures_by_label.items()
        if figure in exposure.steps[0]
    }
    whom = f"{doc.count(exposure.of)} {exposure.unit}"
    title = f"Share of {whom} exposed when an attacker rules out m values of {exposure.about}"
    return doc.curves(title, curves, "values ruled out, m", f"share of {exposure.unit}", "upper left")


_SHARES = {"highest", "highest_of_the_rest", "chance", "rows_fitting_beside", "chance_of_agreeing", "chance_of_alike"}
_SHARES |= {"chance_unsafe", "prior", "posterior", "right_guesses", "right_guesses_without_release"}
_NAMES = {
    "exposed": "People",
    "of": "Of",
    "certain_if_ruled_out_for_all": "Certain, same values for everyone",
    "highest_of_the_rest": "Best chance of the rest",
    "highest": "Best chance",
    "classes": "Groups exposed",
    "alone_in_class": "Unique rows",
    "largest_posterior_over_prior": "Largest likelihood ratio",
    "times": "Likelihood ratio above",
    "chance": "Probability by chance",
    "agree_by_chance": "By chance",
    "alike_pairs_by_chance": "By chance",
    "chance_of_agreeing": "Probability by chance",
    "chance_of_alike": "Probability by chance",
    "chance_unsafe": "Unsafe worlds",
    "matched": "People who match a row",
    "unique": "People who match a single row",
    "below_k": "People who match fewer than k rows",
    "one_to_one": "One-to-one matches",
    "expected_right": "Expected right guesses",
    "rows_matched": "Rows that match a person",
    "rows_of_one_person": "Rows that match a single person",
    "rows_below_k": "Rows that match fewer than k people",
    "in_release": "People in the release, by the key",
    "confirmed": "Own row among the matches",
    "confirmed_unique": "Single match, own row",
    "confirmed_below_k": "Own row among fewer than k",
    "wrong_unique": "Single match, another person's row",
    "without_identity": "Value learned without identity",
}


class AttackReport(MeasuredReport[AttackResult]):
    """The report on attacks: whom each exposes, with what certainty."""

    kind = "Attacks"

    def headline(self, result: AttackResult) -> doc.Toned:
        tried = doc.plural(len(result.exposures), "attack")
        if _successful(result):
            return doc.bad(f"{result.target}: {self.successes(result)}")
        if not result.exposures:
            return doc.good(f"{result.target}: no attack could be tried")
        possible = sum(1 for exposure in result.exposures if exposure.at_most)
        surely = f" for sure, {doc.count(possible)} may" if possible else ""
        return doc.good(f"{result.target}: none of {tried} exposes anyone{surely}")

    @staticmethod
    def successes(result: AttackResult) -> str:
        """Return how many attacks expose people: `1 of 5 attacks exposes people`."""
        successful, tried = len(_successful(result)), doc.plural(len(result.exposures), "attack")
        return f"{doc.count(successful)} of {tried} {'exposes' if successful == 1 else 'expose'} people"

    def key_figures(self, result: AttackResult) -> Iterator[doc.KeyFigure]:
        successful = _successful(result)
        if result.exposures:
            attacks = f"{len(successful)} of {len(result.exposures)}"
            yield doc.KeyFigure(attacks, "Attacks that succeed", "bad" if successful else "good")
        for worst in exposed_most(successful)[:1]:
            people = f"{doc.count(worst.exposed)} of {doc.count(worst.of)} ({doc.part(worst.exposed, worst.of)})"
            yield doc.KeyFigure(people, "Exposed by the worst attack", "bad")

    def lead(self, result: AttackResult) -> Iterator[doc.Words]:
        for exposure in exposed_most(result.exposures):
            if exposure.exposed or exposure.at_most:
                yield doc.Toned(exposure.sentence, "bad" if exposure.exposed else "warn")
        harmless = [
            attack.title[:1].lower() + attack.title[1:] + ("" if attack.about is None else f" ({attack.about})")
            for attack in result.exposures
            if not attack.exposed and not attack.at_most
        ]
        if harmless:
            yield doc.good(f"No one is exposed by {doc.listing(harmless, last='or')}.")

    def sections(self, result: AttackResult) -> Iterator[tuple[doc.Section, ...]]:
        headings = ("Attack", "#Exposed", "#Of", "#Share", "#Certainty", "#Best chance")
        yield doc.section("Attacks", doc.table(headings, map(_row, result.exposures)), exposed_picture(result))
        yield from map(_details, result.exposures)
        not_tried = (doc.Toned(f"{attack.title}.", hint=attack.reason) for attack in result.not_tried)
        yield doc.section("Not tried", not_tried)

    def method(self, result: AttackResult) -> Iterator[tuple[str, doc.Cell]]:
        classes = "overlapping groups" if result.classes is None else doc.plural(result.classes, "group")
        is_linked = any(exposure.attack == "linkage" for exposure in result.exposures)
        yield "rows", result.rows
        yield "groups", classes if result.smallest is None else f"{classes} (smallest: {doc.count(result.smallest)})"
        yield "quasi-identifiers", doc.joined(result.quasi_identifiers)
        yield "sensitive", doc.joined(result.sensitive) or "none"
        yield "missing values", READS[result.nulls]
        yield "reported matches", f"fewer than {doc.count(result.k)} candidates" if is_linked else ""
        yield "persons", result.entity

    def limits(self, result: AttackResult) -> tuple[str, ...]:
        return ()


def _successful(result: AttackResult) -> list[Exposure]:
    """Return the attacks that expose people."""
    return [exposure for exposure in result.exposures if exposure.exposed]


def _row(attack: Exposure) -> tuple[str, ...]:
    """Return the row of an attack: whom it exposes, of how many, and with what certainty."""
    exposed, at_most = attack.exposed, attack.at_most
    numbers = doc.count(exposed) + (f" to {doc.count(at_most)}" if at_most is not None and at_most > exposed else "")
    of = f"{doc.count(attack.of)} {SINGULAR.get(attack.unit, attack.unit) if attack.of == 1 else attack.unit}"
    certainty = doc.percent(attack.probability) if exposed and attack.probability is not None else ""
    best = "" if attack.highest is None else doc.percent(attack.highest)
    return attack.heading, numbers, of, doc.part(exposed, attack.of), certainty, best


def _details(exposure: Exposure) -> tuple[doc.Section, ...]:
    """Return the section of an attack: figures, a table of its steps, and examples.

    The sentence of an attack that exposes people is left out, since it is in the lead of the report. A figure that each
    step has is left out of the figures.
    """
    step_figures = list(exposure.steps[0]) if exposure.steps else []
    texts = {name for name in step_figures if any(isinstance(step[name], str) for step in exposure.steps)}
    figures = {name: value for name, value in exposure.figures.items() if name not in step_figures}
    return doc.section(
        exposure.heading,
        "" if exposure.exposed or exposure.at_most else exposure.sentence,
        doc.Facts(tuple((_label(name), _format(name, value)) for name, value in figures.items())),
        doc.table(
            (doc.Column(_label(name), name not in texts) for name in step_figures),
            ((_format(name, step[name]) for name in step_figures) for step in exposure.steps),
        ),
        ruled_out_picture(exposure) if exposure.attack == "background_knowledge" else None,
        _examples(exposure.examples),
        exposure.note,
    )


def _examples(examples: tuple[Example, ...]) -> doc.Table:
    """Return the table of exposed classes: key, size and the values that each may have."""
    keys = list(next((example.key for example in examples if example.key is not None), {}))
    widest = max((len(example.value) for example in examples), default=0)
    values = ["Value"] if widest == 1 else [f"Value {number}" for number in range(1, widest + 1)]
    rows = []
    for example in examples:
        key, padded_values = example.key or {}, [*example.value, *[None] * (widest - len(example.value))]
        cells = [*(key.get(name) for name in keys), doc.count(example.size), *padded_values]
        rows.append([None if cell is None else str(cell) for cell in cells])
    return doc.table((*map(doc.Column, keys), "#Size", *values), rows)


def _label(name: str) -> str:
    """Return the label of a figure."""
    return _NAMES.get(name) or name.replace("_", " ").replace("classes", "groups").capitalize()


def _format(name: str, value: Figure) -> str:
    """Return the text of a figure: shares as percentages, None as a dash."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    return doc.percent(value) if name in _SHARES else doc.figure(value)
