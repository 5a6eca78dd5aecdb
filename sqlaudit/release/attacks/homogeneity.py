"""Homogeneity: everybody in a class has the same sensitive value, so it need not be known who is who."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.models.base import expression
from sqlaudit.models.diversity import DISTINCT, LARGEST
from sqlaudit.release.attacks.base import (
    FIRST,
    MACHANAVAJJHALA,
    AttackedAttribute,
    ClassAttack,
    Scene,
    of_all,
    shown_classes,
    some,
)
from sqlaudit.release.attacks.result import Exposure

_NAMES = ("members", "pairs", "exposed", "exposed_classes", "alone", "nearly", "right_guesses", "highest")


class Homogeneity(ClassAttack):
    """Classes with a single sensitive value."""

    name: ClassVar[str] = "homogeneity"
    title: ClassVar[str] = "Homogeneity"
    source: ClassVar[str] = MACHANAVAJJHALA

    def attack(self, scene: Scene, attribute: AttackedAttribute) -> Exposure:
        """Members of classes with one value, and how often guessing the most frequent value of a class is right."""
        found = attribute.figures(
            "release/attacks/attack_homogeneity.sql", (DISTINCT, LARGEST), sure=scene.request.sure, names=_NAMES
        )
        pairs, top = int(found["pairs"]), max(attribute.table.totals, default=0)
        return Exposure(
            attack=self.name,
            title=self.title,
            about=attribute.label,
            exposed=int(found["exposed"]),
            of=int(found["members"]),
            unit=scene.unit,
            probability=Fraction(1),
            highest=found["highest"],
            sentence=_sentence(scene.unit, attribute.label, found),
            figures={
                "classes": int(found["exposed_classes"]),
                "alone_in_class": int(found["alone"]),
                "nearly_sure": int(found["nearly"]),
                "right_guesses": Fraction(int(found["right_guesses"]), pairs) if pairs else None,
                "right_guesses_without_release": Fraction(top, pairs) if pairs else None,
            },
            examples=shown_classes(
                scene, attribute, expression("below", fact=DISTINCT.name, limit=2), (DISTINCT, FIRST)
            ),
            source=self.source,
        )


def _sentence(unit: str, label: str, found: dict[str, Any]) -> str:
    exposed, members = int(found["exposed"]), int(found["members"])
    if not exposed:
        return f"No class holds a single value of {label}."
    alone = f", {found['alone']:,} of them alone" if found["alone"] and exposed > 1 else ""
    return (
        f"{of_all(exposed, members, unit, ('lies', 'lie'))} in {some(int(found['exposed_classes']), 'classes')} with "
        f"a single value of {label}{alone}: who knows that somebody is there knows the value for certain."
    )
