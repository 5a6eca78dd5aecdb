"""Background knowledge: the attacker rules out some values, and what is left of a class gives the rest away.

*Instance-level*: for each target the attacker rules out m values that this person does not have, those that help
most. *Demographic*: the same m values are ruled out for everybody ("people like these hardly ever have it"); the figure
is for the worst choice of them.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.models.base import expression
from sqlaudit.models.diversity import DISTINCT, LARGEST, head
from sqlaudit.models.judge import MAX_VECTORS
from sqlaudit.release.attacks.base import MACHANAVAJJHALA, AttackedAttribute, ClassAttack, Scene, chance, of_all, some
from sqlaudit.release.attacks.result import Example, Exposure, Figure

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

    def attack(self, scene: Scene, attribute: AttackedAttribute) -> Exposure:
        """Members who are certain at every m, and what the worst common choice of values does."""
        pieces = min(scene.request.pieces, max(attribute.table.distinct - 1, 0))
        found = _instance(scene, attribute, pieces)
        common = _demographic(attribute, pieces)
        steps = tuple(_step(found, m, common) for m in range(pieces + 1))
        last = steps[-1]
        return Exposure(
            attack=self.name,
            title=self.title,
            about=attribute.label,
            exposed=int(found[f"certain_{pieces}"]),
            of=int(found["members"]),
            unit=scene.unit,
            probability=Fraction(1),
            highest=found[f"highest_{pieces}"],
            sentence=_sentence(scene.unit, attribute.label, steps, int(found["members"])),
            figures={"ruled_out": pieces, "nearly_sure": last["nearly_sure"]},
            steps=steps,
            examples=_shown(scene, attribute, common),
            source=self.source,
            note="" if common is not None else "Too many different classes to say what ruling out for all does.",
        )


def _instance(scene: Scene, attribute: AttackedAttribute, pieces: int) -> dict[str, Any]:
    heads = [head(m + 1) for m in range(pieces + 1)]
    names = ["members"] + [f"{what}_{m}" for m in range(pieces + 1) for what in _PER_STEP]
    return attribute.figures(
        "release/attacks/attack_background.sql",
        (DISTINCT, LARGEST, *heads),
        heads=[fact.name for fact in heads],
        sure=scene.request.sure,
        names=names,
    )


def _demographic(attribute: AttackedAttribute, pieces: int) -> list[Choice] | None:
    """The worst choice of at most m values for m = 0 … pieces; None when there are too many kinds of classes."""
    if not attribute.table.distinct:
        return worst_choices((), pieces)
    few = expression("below", fact=DISTINCT.name, limit=pieces + 2)
    vectors = attribute.histogram.vectors((DISTINCT,), few, MAX_VECTORS + 1)
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
        best = max(((_certain(out, gains), out) for out in tried), key=lambda item: item[0], default=(0, ()))
        before = choices[-1]
        choices.append(
            Choice(best[1], best[0], exact and before.proven)
            if best[0] > before.certain
            else Choice(before.lanes, before.certain, exact and before.proven)
        )
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


def _step(found: Mapping[str, Any], m: int, common: list[Choice] | None) -> dict[str, Figure]:
    step: dict[str, Figure] = {
        "ruled_out": m,
        "certain": int(found[f"certain_{m}"]),
        "nearly_sure": int(found[f"nearly_{m}"]),
        "highest": found[f"highest_{m}"],
        "highest_of_the_rest": found[f"rest_{m}"],
    }
    if common is not None:
        step |= {"certain_if_ruled_out_for_all": common[m].certain, "proven": common[m].proven}
    return step


def _shown(scene: Scene, attribute: AttackedAttribute, common: list[Choice] | None) -> tuple[Example, ...]:
    """The values whose ruling out for everybody does most harm."""
    if not scene.request.show_values or common is None:
        return ()
    values = attribute.table.values
    chosen = {choice.lanes: choice for choice in reversed(common) if choice.lanes}
    return tuple(
        Example(None, choice.certain, tuple(values[lane] for lane in lanes))
        for lanes, choice in reversed(chosen.items())
    )


def _sentence(unit: str, label: str, steps: tuple[dict[str, Figure], ...], members: int) -> str:
    if len(steps) == 1:
        exposed = of_all(int(steps[0]["certain"] or 0), members, unit, ("is", "are"))
        return f"Without ruling out a value of {label}, {exposed} certain."
    last = steps[-1]
    rest = last["highest_of_the_rest"]
    certain, before = int(last["certain"] or 0), int(steps[0]["certain"] or 0)
    said = (
        f"Who can rule out {some(len(steps) - 1, 'values')} of {label} for a person is certain about "
        f"{of_all(certain, members, unit)}, against {before:,} without{_rest(rest)}."
    )
    common = last.get("certain_if_ruled_out_for_all")
    if common is None:
        return said
    least = "" if last["proven"] else "at least "
    return f"{said} Ruled out for everybody alike, the worst such values make {least}{common:,} certain."


def _rest(highest: Figure) -> str:
    return "" if highest is None else f"; among the others the best chance is {chance(float(highest))}"
