"""Skewness: a value is much more frequent in somebody's class than in the table, so suspicion grows."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlaudit.classes.facts import Fact
from sqlaudit.release.attacks.base import LI, AttackedAttribute, ClassAttack, Scene, of_all
from sqlaudit.release.attacks.result import Exposure

TIMES = (2, 5, 10)
"""Members are counted whose value is more than so many times as likely as before."""


class Skewness(ClassAttack):
    """The largest posterior over prior."""

    name: ClassVar[str] = "skewness"
    title: ClassVar[str] = "Skewness"
    source: ClassVar[str] = LI

    def attack(self, scene: Scene, attribute: AttackedAttribute) -> Exposure:
        """Members whose own value became more than twice, five and ten times as likely."""
        lift = Fact("largest_lift", "largest_lift")
        above = [
            Fact(f"above_{times}", "members_gaining", {"numerator": times - 1, "denominator": 1}) for times in TIMES
        ]
        names = ["members", "highest", *(fact.name for fact in above)]
        found = attribute.figures(
            "release/attacks/attack_skewness.sql", (lift, *above), above=[fact.name for fact in above], names=names
        )
        members, exposed = int(found["members"]), int(found[above[0].name])
        steps = tuple(
            {"times": times, "exposed": int(found[fact.name])} for times, fact in zip(TIMES, above, strict=True)
        )
        return Exposure(
            attack=self.name,
            title=self.title,
            about=attribute.label,
            exposed=exposed,
            of=members,
            unit=scene.unit,
            probability=None,
            highest=None,
            sentence=_sentence(scene.unit, attribute.label, found, exposed, members),
            figures={"largest_posterior_over_prior": found["highest"]},
            steps=steps,
            source=self.source,
        )


def _sentence(unit: str, label: str, found: dict[str, Any], exposed: int, members: int) -> str:
    if found["highest"] is None:
        return f"There is nobody whose {label} could be suspected."
    return (
        f"A value of {label} is {_likely(found['highest'])} in a class as in the whole release; "
        f"{of_all(exposed, members, unit, ('has', 'have'))} a value that the release makes more than twice as likely."
    )


def _likely(times: float) -> str:
    return "as likely" if times == 1 else f"up to {_times(times)} times as likely"


def _times(number: float) -> str:
    return (
        f"{number:,.0f}"
        if number >= 100 or number == round(number)
        else f"{number:.2g}"
        if number < 10
        else f"{number:.1f}"
    )
