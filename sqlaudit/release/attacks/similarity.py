"""Similarity: the values of a class differ, yet all mean the same: one category, or a narrow range."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.base.errors import UsageError
from sqlaudit.base.words import spelled
from sqlaudit.classes.attribute_inputs import Categories
from sqlaudit.classes.facts import Fact
from sqlaudit.models.base import expression
from sqlaudit.models.diversity import DISTINCT
from sqlaudit.release.attacks.base import FIRST, LI, AttackedAttribute, ClassAttack, Scene, of_all, shown_classes
from sqlaudit.release.attacks.result import Exposure, Figure

LAST = Fact("last_lane", "last_lane")
MAX_RANGES = 200_000
"""At most so many different (smallest, largest) pairs of classes are looked at."""


class Similarity(ClassAttack):
    """Classes with all values in one category, or within a width."""

    name: ClassVar[str] = "similarity"
    title: ClassVar[str] = "Similarity"
    source: ClassVar[str] = LI

    def lacks(self, scene: Scene) -> str:
        """Categories or a width, too."""
        missing = super().lacks(scene)
        if missing:
            return missing
        if scene.request.width is None and not any("categories" in one.inputs for one in scene.attributes):
            return (
                f"It needs categories of values ({spelled('categories')}), or a width for numbers ({spelled('width')})."
            )
        return ""

    def run(self, scene: Scene) -> Iterator[Exposure]:
        """One exposure for each attribute and each notion of similar that fits it."""
        for attribute in scene.attributes:
            if "categories" in attribute.inputs:
                yield self.attack(scene, attribute)
            if scene.request.width is not None and attribute.table.ordered:
                yield self._within(scene, attribute, scene.request.width)
        if scene.request.width is not None and not any(one.table.ordered for one in scene.attributes):
            raise UsageError(f"{spelled('width')} measures numbers and dates; the sensitive columns hold neither.")

    def attack(self, scene: Scene, attribute: AttackedAttribute) -> Exposure:
        """Members of classes with all values in one category; the don't-care set is none."""
        categories: Categories = attribute.inputs["categories"]
        shares = [Fact(f"category_{i}", "members", {"lanes": list(lanes)}) for i, lanes in enumerate(categories.lanes)]
        names = ["members", "exposed", "exposed_classes", "several_values", "highest"]
        found = attribute.figures(
            "release/attacks/attack_similarity.sql",
            (DISTINCT, *shares),
            shares=[fact.name for fact in shares],
            names=[*names, *(fact.name for fact in shares)],
        )
        exposed, members = int(found["exposed"]), int(found["members"])
        several = int(found["several_values"])
        steps: tuple[Mapping[str, Figure], ...] = tuple(
            {"category": name, "exposed": int(found[fact.name])}
            for name, fact in zip(categories.names, shares, strict=True)
        )
        alike = " OR ".join(expression("all_members", fact=fact.name) for fact in shares) or expression("never")
        return Exposure(
            attack=self.name,
            title=self.title,
            about=attribute.label,
            exposed=exposed,
            of=members,
            unit=scene.unit,
            probability=Fraction(1),
            highest=found["highest"],
            sentence=_sentence(scene.unit, attribute.label, "one category", exposed, several, members),
            figures={"classes": int(found["exposed_classes"]), "in_classes_of_several_values": several},
            steps=steps,
            examples=shown_classes(scene, attribute, alike, (DISTINCT, FIRST, LAST, *shares)),
            source=self.source,
        )

    def _within(self, scene: Scene, attribute: AttackedAttribute, width: Fraction) -> Exposure:
        """Members of classes whose values lie no further apart than the width; a class with a NULL never counts."""
        table = attribute.table
        statement = attribute.histogram.statement(
            "release/attacks/attack_members.sql",
            (DISTINCT, FIRST, LAST),
            f"ranges of {attribute.label}",
            names=[FIRST.name, LAST.name],
            limit=MAX_RANGES + 1,
        )
        rows = [tuple(map(int, row)) for row in scene.engine.run(statement)]
        if len(rows) > MAX_RANGES:
            raise UsageError(f"{attribute.label} has too many different ranges of values; round it first.")
        null = table.distinct - 1 if table.has_null else -1
        near = [
            row
            for row in rows
            if row[1] != null and (row[0] == row[1] or _apart(table.values[row[0]], table.values[row[1]]) <= width)
        ]
        exposed, members = sum(row[3] for row in near), sum(row[3] for row in rows)
        several = sum(row[3] for row in near if row[0] != row[1])
        return Exposure(
            attack=self.name,
            title=self.title,
            about=attribute.label,
            exposed=exposed,
            of=members,
            unit=scene.unit,
            probability=Fraction(1),
            highest=None,
            sentence=_sentence(
                scene.unit, attribute.label, f"a range of at most {_width(width)}", exposed, several, members
            ),
            figures={"classes": sum(row[2] for row in near), "in_classes_of_several_values": several, "width": width},
            source=self.source,
        )


def _apart(low: Any, high: Any) -> Fraction | float:
    """How far two values are apart: exactly for numbers, in days for dates and times."""
    if isinstance(low, datetime.datetime | datetime.date):
        apart = high - low
        return Fraction(apart // datetime.timedelta(microseconds=1), 86_400_000_000)
    if isinstance(low, bool) or not isinstance(low, int | float | Decimal | Fraction):
        return float("inf") if low != high else 0
    if isinstance(low, float) or isinstance(high, float):
        return 0.0 if low == high else abs(float(high) - float(low))
    return Fraction(high) - Fraction(low)


def _width(width: Fraction) -> str:
    return f"{width.numerator:,}" if width.denominator == 1 else f"{float(width):g}"


def _sentence(unit: str, label: str, what: str, exposed: int, several: int, members: int) -> str:
    if not exposed:
        return f"No class has all its values of {label} in {what}."
    return (
        f"{of_all(exposed, members, unit, ('lies', 'lie'))} in classes with all values of {label} in {what}, "
        f"{f'{several:,}' if several else 'none'} of them in classes that look diverse."
    )
