"""Attacks on the sensitive values of a class: homogeneity, similarity, skewness, background knowledge."""

from __future__ import annotations

import datetime
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.base.errors import Undecidable, UsageError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.classes.attribute_inputs import Categories
from sqlaudit.classes.facts import Fact
from sqlaudit.models.base import MAX_VECTORS, expression
from sqlaudit.models.diversity import DISTINCT, LARGEST, MACHANAVAJJHALA, head
from sqlaudit.release.attacks.base import (
    FIRST,
    LI,
    AttackedAttribute,
    AttackedRelease,
    ClassAttack,
    chance,
    of_all,
    shown_classes,
    some,
)
from sqlaudit.release.attacks.result import Example, Exposure, Figure

# Homogeneity: everybody in a class has the same sensitive value, so it need not be known who is who.

_NAMES = ("members", "pairs", "exposed", "exposed_classes", "alone", "nearly", "right_guesses", "highest")


class Homogeneity(ClassAttack):
    """Classes with a single sensitive value."""

    name: ClassVar[str] = "homogeneity"
    title: ClassVar[str] = "Homogeneity"
    source: ClassVar[str] = MACHANAVAJJHALA

    def attack(self, release: AttackedRelease, attribute: AttackedAttribute) -> Exposure:
        """Members of classes with one value, and how often guessing the most frequent value of a class is right."""
        figures = attribute.figures("attack_homogeneity", (DISTINCT, LARGEST), sure=release.request.sure, names=_NAMES)
        # Without the release the best guess is the most frequent value of the table
        pairs, most_frequent = int(figures["pairs"]), max(attribute.table.totals, default=0)
        has_one_value = expression("below", fact=DISTINCT.name, limit=2)
        return self.exposure_of(
            release,
            attribute,
            exposed=int(figures["exposed"]),
            of=int(figures["members"]),
            highest=figures["highest"],
            sentence=_homogeneity_sentence(release.unit, attribute.label, figures),
            figures={
                "classes": int(figures["exposed_classes"]),
                "alone_in_class": int(figures["alone"]),
                "nearly_sure": int(figures["nearly"]),
                "right_guesses": Fraction(int(figures["right_guesses"]), pairs) if pairs else None,
                "right_guesses_without_release": Fraction(most_frequent, pairs) if pairs else None,
            },
            examples=shown_classes(release, attribute, has_one_value, (DISTINCT, FIRST)),
        )


def _homogeneity_sentence(unit: str, label: str, figures: dict[str, Any]) -> str:
    exposed, members = int(figures["exposed"]), int(figures["members"])
    if not exposed:
        return f"No group has a single value of {label}."
    alone = f" ({figures['alone']:,} unique)" if figures["alone"] and exposed > 1 else ""
    return (
        f"{of_all(exposed, members, unit, ('is', 'are'))} in {some(int(figures['exposed_classes']), 'groups')} with a "
        f"single value of {label}{alone}. Anyone known to be in such a group has that value."
    )


# Similarity: the values of a class differ, yet all mean the same: one category, or a narrow range.

LAST = Fact("last_lane", "last_lane")
MAX_RANGES = 200_000
"""At most so many different (smallest, largest) pairs of classes are looked at."""


class Similarity(ClassAttack):
    """Classes with all values in one category, or within a width."""

    name: ClassVar[str] = "similarity"
    title: ClassVar[str] = "Similarity"
    source: ClassVar[str] = LI

    def lacks(self, release: AttackedRelease) -> str:
        """Return why the attack cannot be tried: as for its base class, or no categories and no width."""
        missing = super().lacks(release)
        if (
            missing
            or release.request.width is not None
            or any("categories" in attribute.inputs for attribute in release.attributes)
        ):
            return missing
        return f"It needs categories of values ({spelled('categories')}) or a width for numbers ({spelled('width')})."

    def run(self, release: AttackedRelease) -> Iterator[Exposure]:
        """Yield an exposure for each attribute and each notion of similarity that fits it."""
        for attribute in release.attributes:
            if "categories" in attribute.inputs:
                yield self.attack(release, attribute)
            if release.request.width is not None and attribute.table.ordered:
                yield self._within(release, attribute, release.request.width)
        if release.request.width is not None and not any(attribute.table.ordered for attribute in release.attributes):
            raise UsageError(f"{spelled('width')} applies to numbers and dates, but the sensitive columns are neither.")

    def attack(self, release: AttackedRelease, attribute: AttackedAttribute) -> Exposure:
        """Members of classes with all values in one category; the don't-care set is none."""
        categories: Categories = attribute.inputs["categories"]
        shares = [Fact(f"category_{i}", "members", {"lanes": list(lanes)}) for i, lanes in enumerate(categories.lanes)]
        names = ["members", "exposed", "exposed_classes", "several_values", "highest"]
        figures = attribute.figures(
            "attack_similarity",
            (DISTINCT, *shares),
            shares=[fact.name for fact in shares],
            names=[*names, *(fact.name for fact in shares)],
        )
        exposed, members = int(figures["exposed"]), int(figures["members"])
        several = int(figures["several_values"])
        both = zip(categories.names, shares, strict=True)
        steps = tuple({"category": name, "exposed": int(figures[fact.name])} for name, fact in both)
        same_category = " OR ".join(expression("all_members", fact=fact.name) for fact in shares) or expression("never")
        return self.exposure_of(
            release,
            attribute,
            exposed=exposed,
            of=members,
            highest=figures["highest"],
            sentence=_similarity_sentence(release.unit, attribute.label, "one category", exposed, several, members),
            figures={"classes": int(figures["exposed_classes"]), "in_classes_of_several_values": several},
            steps=steps,
            examples=shown_classes(release, attribute, same_category, (DISTINCT, FIRST, LAST, *shares)),
        )

    def _within(self, release: AttackedRelease, attribute: AttackedAttribute, width: Fraction) -> Exposure:
        """Members of classes whose values lie no further apart than the width; a class with a NULL never counts."""
        table = attribute.table
        statement = attribute.histogram.statement(
            "release/attacks/attack_members.sql",
            (DISTINCT, FIRST, LAST),
            f"ranges of {attribute.label}",
            names=[FIRST.name, LAST.name],
            limit=MAX_RANGES + 1,
        )
        rows = [tuple(map(int, row)) for row in release.engine.run(statement)]
        if len(rows) > MAX_RANGES:
            raise Undecidable(f"{attribute.label} has too many different ranges of values. Round it first.")
        null = table.distinct - 1 if table.has_null else -1
        near = [
            (low, high, classes, size)
            for low, high, classes, size in rows
            if high != null and (low == high or _apart(table.values[low], table.values[high]) <= width)
        ]
        exposed, members = sum(row[3] for row in near), sum(row[3] for row in rows)
        several = sum(row[3] for row in near if row[0] != row[1])
        wide = f"{width.numerator:,}" if width.denominator == 1 else f"{float(width):g}"
        return self.exposure_of(
            release,
            attribute,
            exposed=exposed,
            of=members,
            sentence=_similarity_sentence(
                release.unit, attribute.label, f"a range of at most {wide}", exposed, several, members
            ),
            figures={"classes": sum(row[2] for row in near), "in_classes_of_several_values": several, "width": width},
        )


def _apart(low: object, high: Any) -> Fraction | float:
    """Return how far two values are apart: exactly for numbers, in days for dates and times."""
    if isinstance(low, datetime.datetime | datetime.date):
        difference = high - low
        return Fraction(difference // datetime.timedelta(microseconds=1), 86_400_000_000)
    if isinstance(low, bool) or not isinstance(low, int | float | Decimal | Fraction):
        return float("inf") if low != high else 0
    if isinstance(low, float) or isinstance(high, float):
        return 0.0 if low == high else abs(float(high) - float(low))
    return Fraction(high) - Fraction(low)


def _similarity_sentence(unit: str, label: str, what: str, exposed: int, several: int, members: int) -> str:
    if not exposed:
        return f"No group has all its values of {label} in {what}."
    return (
        f"{of_all(exposed, members, unit, ('is', 'are'))} in groups with all values of {label} in {what}; "
        f"{f'{several:,}' if several else 'none'} of them in groups with several values."
    )


# Skewness: a value is much more frequent in somebody's class than in the table, so suspicion grows.

TIMES = (2, 5, 10)
"""Members are counted whose value is more than so many times as likely as before."""


class Skewness(ClassAttack):
    """The largest posterior over prior."""

    name: ClassVar[str] = "skewness"
    title: ClassVar[str] = "Skewness"
    source: ClassVar[str] = LI

    def attack(self, release: AttackedRelease, attribute: AttackedAttribute) -> Exposure:
        """Members whose own value became more than twice, five and ten times as likely."""
        lift = Fact("largest_lift", "largest_lift")
        above = [
            Fact(f"above_{times}", "members_gaining", {"numerator": times - 1, "denominator": 1}) for times in TIMES
        ]
        names = ["members", "highest", *(fact.name for fact in above)]
        figures = attribute.figures("attack_skewness", (lift, *above), above=[fact.name for fact in above], names=names)
        members, exposed = int(figures["members"]), int(figures[above[0].name])
        steps = tuple(
            {"times": times, "exposed": int(figures[fact.name])} for times, fact in zip(TIMES, above, strict=True)
        )
        return self.exposure_of(
            release,
            attribute,
            exposed=exposed,
            of=members,
            probability=None,
            sentence=_skewness_sentence(release.unit, attribute.label, figures, exposed, members),
            figures={"largest_posterior_over_prior": figures["highest"]},
            steps=steps,
        )


def _skewness_sentence(unit: str, label: str, figures: dict[str, Any], exposed: int, members: int) -> str:
    if figures["highest"] is None:
        return f"No row has a value of {label}."
    likely = f" (up to {_times(figures['highest'])} times)" if exposed else ""
    whom = of_all(exposed, members, unit) if exposed else "no one"
    return (
        f"For {whom}, the value of {label} is more than twice as likely in the group as in the whole release{likely}."
    )


def _times(number: float) -> str:
    if number >= 100 or number == round(number):
        return f"{number:,.0f}"
    return f"{number:.2g}" if number < 10 else f"{number:.1f}"


# Background knowledge: the attacker rules out some values, and what is left of a class gives the rest away.
#
# *Instance-level*: for each target the attacker rules out m values that this person does not have, those that help
# most. *Demographic*: the same m values are ruled out for everybody ("people like these hardly ever have it"); the
# figure is for the worst choice of them.

MAX_CHOICES = 100_000
"""Up to this many choices of values are tried one by one; beyond, values are added greedily and it is said."""

_PER_STEP = ("certain", "nearly", "highest", "rest")


@dataclass(frozen=True)
class Choice:
    """Values ruled out for everybody (lanes), how many that makes certain, and whether no choice does more."""

    lanes: tuple[int, ...]
    certain: int
    proven: bool


class BackgroundKnowledge(ClassAttack):
    """Ruling out m values, person by person or for everybody alike."""

    name: ClassVar[str] = "background_knowledge"
    title: ClassVar[str] = "Background knowledge"
    source: ClassVar[str] = MACHANAVAJJHALA

    def attack(self, release: AttackedRelease, attribute: AttackedAttribute) -> Exposure:
        """Members who are certain at every m, and what the worst common choice of values does."""
        most = max(attribute.table.distinct - 2, 0)  # with all values but one ruled out, that one is always certain
        pieces = min(release.request.pieces, most)
        figures = _instance(release, attribute, pieces)
        common = _demographic(attribute, pieces)
        steps = tuple(_step(figures, m, common) for m in range(pieces + 1))
        examples: tuple[Example, ...] = ()
        if release.request.show_values and common is not None:  # what does most harm when all are known to lack it
            values, chosen = (
                attribute.table.values,
                {choice.lanes: choice for choice in reversed(common) if choice.lanes},
            )
            harmful = reversed(chosen.items())
            examples = tuple(
                Example(None, choice.certain, tuple(values[x] for x in lanes)) for lanes, choice in harmful
            )
        note = (
            "" if common is not None else "Values ruled out for everyone were not checked: too many different groups."
        )
        if most < release.request.pieces:
            note = (
                f"Ruling out all values of {attribute.label} but one is always certain and not counted. {note}".strip()
            )
        return self.exposure_of(
            release,
            attribute,
            exposed=int(figures[f"certain_{pieces}"]),
            of=int(figures["members"]),
            highest=figures[f"highest_{pieces}"],
            sentence=_background_sentence(release.unit, attribute.label, steps, int(figures["members"])),
            figures={"ruled_out": pieces, "nearly_sure": steps[-1]["nearly_sure"]},
            steps=steps,
            examples=examples,
            note=note,
        )


def _instance(release: AttackedRelease, attribute: AttackedAttribute, pieces: int) -> dict[str, Any]:
    heads = [head(m + 1) for m in range(pieces + 1)]
    names = ["members"] + [f"{what}_{m}" for m in range(pieces + 1) for what in _PER_STEP]
    return attribute.figures(
        "attack_background",
        (DISTINCT, LARGEST, *heads),
        heads=[fact.name for fact in heads],
        sure=release.request.sure,
        names=names,
    )


def _demographic(attribute: AttackedAttribute, pieces: int) -> list[Choice] | None:
    """The worst choice of at most m values for m = 0 … pieces; None when there are too many kinds of classes."""
    if not attribute.table.distinct:
        return worst_choices((), pieces)
    few_values = expression("below", fact=DISTINCT.name, limit=pieces + 2)
    vectors = attribute.histogram.vectors((DISTINCT,), few_values, MAX_VECTORS + 1)
    if len(vectors) > MAX_VECTORS:
        return None
    return worst_choices(((counts, classes) for counts, classes, _ in vectors), pieces)


def worst_choices(classes: Iterable[tuple[Mapping[int, int], int]], pieces: int) -> list[Choice]:
    """The m values that make most members certain when they are ruled out for everybody, for m = 0 … pieces.

    Args:
        classes: (count by lane, number of such classes), at least all with up to pieces + 1 different values.
        pieces: the most values.

    Example:
        >>> [choice.certain for choice in worst_choices([({0: 2}, 1), ({1: 1, 2: 3}, 1)], 1)]
        [2, 5]
    """
    gains: dict[frozenset[int], Counter[int]] = defaultdict(Counter)
    for counts, times in classes:
        for lane, count in counts.items():
            gains[frozenset(counts) - {lane}][lane] += count * times
    lanes = sorted({lane for needed in gains if len(needed) <= pieces for lane in needed})
    choices = [Choice((), _certain((), gains), True)]
    for m in range(1, pieces + 1):
        exact = math.comb(len(lanes), m) <= MAX_CHOICES
        if exact:
            tried: Iterable[tuple[int, ...]] = itertools.combinations(lanes, m)
        else:
            tried = (tuple(sorted((*choices[-1].lanes, lane))) for lane in lanes if lane not in choices[-1].lanes)
        before = choices[-1]
        certain, out = max(((_certain(out, gains), out) for out in tried), key=lambda item: item[0], default=(0, ()))
        if certain <= before.certain:
            certain, out = before.certain, before.lanes
        choices.append(Choice(out, certain, exact and before.proven))
    return choices


def _certain(out: tuple[int, ...], gains: Mapping[frozenset[int], Counter[int]]) -> int:
    """Members whose class has nothing but their own value left."""
    return sum(
        count
        for size in range(len(out) + 1)
        for needed in itertools.combinations(out, size)
        for lane, count in gains.get(frozenset(needed), Counter()).items()
        if lane not in out
    )


def _step(figures: Mapping[str, Any], m: int, common: list[Choice] | None) -> dict[str, Figure]:
    """Return the figures for attackers who rule out m values."""
    step: dict[str, Figure] = {
        "ruled_out": m,
        "certain": int(figures[f"certain_{m}"]),
        "nearly_sure": int(figures[f"nearly_{m}"]),
        "highest": figures[f"highest_{m}"],
        "highest_of_the_rest": figures[f"rest_{m}"],
    }
    if common is not None:
        step |= {"certain_if_ruled_out_for_all": common[m].certain, "proven": common[m].proven}
    return step


def _background_sentence(unit: str, label: str, steps: tuple[dict[str, Figure], ...], members: int) -> str:
    """Return how many people's values are certain, without and with values ruled out."""
    if len(steps) == 1:
        exposed = of_all(int(steps[0]["certain"] or 0), members, unit, ("is", "are"))
        return f"Without ruling out any value of {label}, {exposed} certain."
    last = steps[-1]
    rest = last["highest_of_the_rest"]
    certain, before = int(last["certain"] or 0), int(steps[0]["certain"] or 0)
    best = "For the others, the best" if certain else "The best"
    others = "" if rest is None else f" {best} chance is {chance(float(rest))}."
    sentence = (
        f"An attacker who can rule out {some(len(steps) - 1, 'values')} of {label} per person is certain about "
        f"{f'{of_all(certain, members, unit)}, up from {before:,}' if certain else 'no one'}.{others}"
    )
    common = last.get("certain_if_ruled_out_for_all")
    if common is None:
        return sentence
    least = "" if last["proven"] else "(or more than) "
    whom = f"up to {least}{common:,}" if common or least else "no one"
    return f"{sentence} If the same values are ruled out for everyone: {whom}."
