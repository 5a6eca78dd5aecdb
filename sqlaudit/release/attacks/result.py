"""What attacks on a release found. Frozen; reports read it, `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.base.documents import AS_TEXT, Documented, after, key, shown, told
from sqlaudit.base.result import MeasuredResult
from sqlaudit.reports.notebook import Shown

Figure = int | float | Fraction | str | bool | None


def _floats(value: Any) -> Any:
    """Fractions as floats, whole ones too, so that a share of all is 1.0; other figures as they are."""
    if isinstance(value, Mapping):
        return {name: _floats(one) for name, one in value.items()}
    if isinstance(value, tuple):
        return [_floats(one) for one in value]
    return float(value) if isinstance(value, Fraction) else value


SINGULAR = {
    "values": "value",
    "rows": "row",
    "cells": "cell",
    "persons": "person",
    "people": "person",
    "positions": "position",
    "classes": "class",
    "finer nodes": "finer node",
}


@dataclass(frozen=True)
class Example(Documented):
    """One class or value that an attack exposes, with values of the table; only read when values may be shown.

    Args:
        key: the quasi-identifier cells of the class, None for a finding about values alone.
        size: how many persons. value: what is learned about them.
    """

    key: Mapping[str, Any] | None = field(metadata=AS_TEXT)
    size: int
    value: tuple[Any, ...] = field(default=(), metadata=AS_TEXT)


@dataclass(frozen=True)
class Exposure(Documented):
    """What one attack achieves.

    Args:
        attack: its short name. title: its name for people. about: the sensitive attribute, None when none is involved.
        exposed: persons about whom the attacker is right with at least `probability`. of: how many could have been.
        unit: what `exposed` and `of` count (`rows`, `persons`, `people`).
        probability: how sure the attacker is of each of the exposed at least (1 = certain); None when only counted.
        highest: the best chance that the attack gives against anybody, None when it has no meaning.
        sentence: all that in words. figures: further numbers by name.
        steps: the same attack at growing strength, one mapping of figures a step.
        examples: classes with their values, when values may be shown. source: who described the attack.
        note: what the figures do not cover, empty when there is nothing to say.
        at_most: how many are exposed at most, where `exposed` is only known to be at least; else None.
    """

    attack: str
    title: str
    about: str | None = field(metadata=key("sensitive"))
    exposed: int
    of: int
    unit: str
    probability: float | Fraction | None = field(metadata=shown(_floats))
    highest: float | Fraction | None = field(metadata=shown(_floats))
    sentence: str
    figures: Mapping[str, Figure] = field(default_factory=dict, metadata=shown(_floats))
    steps: tuple[Mapping[str, Figure], ...] = field(default=(), metadata=shown(_floats))
    examples: tuple[Example, ...] = ()
    source: str = ""
    note: str = ""
    at_most: int | None = field(default=None, metadata=after("exposed"))

    @property
    @told("unit", shown(_floats))
    def share(self) -> Fraction | None:
        """The exposed as a share, None when there is nobody."""
        return Fraction(self.exposed, self.of) if self.of else None

    @property
    def heading(self) -> str:
        """The title, with the sensitive attribute if there is one."""
        return self.title if self.about is None else f"{self.title}: {self.about}"


@dataclass(frozen=True)
class NotTried(Documented):
    """An attack that could not be tried, and what it would have needed."""

    attack: str
    title: str
    reason: str


@dataclass(frozen=True, kw_only=True, repr=False)
class AttackResult(MeasuredResult, Shown):
    """What an attacker can still do with a release.

    Args:
        target: the release. rows: its rows. classes: its equivalence classes, None where they overlap.
        smallest: the size of the smallest class, None when there is none.
        quasi_identifiers, sensitive, entity, nulls: the roles as they were given.
        k: who hides among fewer persons counts as exposed by linkage.
        exposures: what was tried, in a fixed order. not_tried: the rest, with what it would have needed.
        engine, time, statements, versions: as in an audit.
    """

    schema: ClassVar = "sqlaudit-attack/1"
    shown_by: ClassVar = "sqlaudit.release.attacks.report:attack_document"
    frame_of: ClassVar = "attacks"

    engine: str = ""
    target: str
    rows: int
    classes: int | None
    smallest: int | None = field(metadata=key("smallest_class"))
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    entity: str | None
    nulls: str
    k: int
    exposures: tuple[Exposure, ...] = field(metadata=key("attacks"))
    not_tried: tuple[NotTried, ...] = ()

    def exposure(self, attack: str, about: str | None = None) -> Exposure:
        """The exposure by an attack, about a sensitive attribute where several were attacked.

        Raises:
            KeyError: the attack was not tried.
        """
        for found in self.exposures:
            if found.attack == attack and about in (None, found.about):
                return found
        raise KeyError(attack)


def exposed_most(exposures: Sequence[Exposure]) -> list[Exposure]:
    """The exposures by how large a share they expose, largest first; ties keep their order."""
    return sorted(exposures, key=lambda one: one.share or Fraction(0), reverse=True)
