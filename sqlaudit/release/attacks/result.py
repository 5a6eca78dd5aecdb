"""What attacks on a release found. Frozen; reports read it, `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.base.result import Timing
from sqlaudit.reports.notebook import Shown

SCHEMA = "sqlaudit-attack/1"
Figure = int | float | Fraction | str | bool | None


@dataclass(frozen=True)
class Example:
    """One class or value that an attack exposes, with values of the table; only read when values may be shown.

    Args:
        key: the quasi-identifier cells of the class, None for a finding about values alone.
        size: how many persons. value: what is learned about them.
    """

    key: Mapping[str, Any] | None
    size: int
    value: tuple[Any, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The example as the JSON has it."""
        key = None if self.key is None else {name: _text(value) for name, value in self.key.items()}
        return {"key": key, "size": self.size, "value": [_text(value) for value in self.value]}


@dataclass(frozen=True)
class Exposure:
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
    about: str | None
    exposed: int
    of: int
    unit: str
    probability: float | Fraction | None
    highest: float | Fraction | None
    sentence: str
    figures: Mapping[str, Figure] = field(default_factory=dict)
    steps: tuple[Mapping[str, Figure], ...] = ()
    examples: tuple[Example, ...] = ()
    source: str = ""
    note: str = ""
    at_most: int | None = None

    @property
    def share(self) -> Fraction | None:
        """The exposed as a share, None when there is nobody."""
        return Fraction(self.exposed, self.of) if self.of else None

    @property
    def heading(self) -> str:
        """The title, with the sensitive attribute if there is one."""
        return self.title if self.about is None else f"{self.title}: {self.about}"

    def to_dict(self) -> dict[str, Any]:
        """The exposure as the JSON has it."""
        return {
            "attack": self.attack,
            "title": self.title,
            "sensitive": self.about,
            "exposed": self.exposed,
            "at_most": self.at_most,
            "of": self.of,
            "unit": self.unit,
            "share": _plain(self.share),
            "probability": _plain(self.probability),
            "highest": _plain(self.highest),
            "sentence": self.sentence,
            "figures": {name: _plain(value) for name, value in self.figures.items()},
            "steps": [{name: _plain(value) for name, value in step.items()} for step in self.steps],
            "examples": [example.to_dict() for example in self.examples],
            "source": self.source,
            "note": self.note,
        }


@dataclass(frozen=True)
class NotTried:
    """An attack that could not be tried, and what it would have needed."""

    attack: str
    title: str
    reason: str

    def to_dict(self) -> dict[str, str]:
        """The attack as the JSON has it."""
        return {"attack": self.attack, "title": self.title, "reason": self.reason}


@dataclass(frozen=True)
class AttackResult(Shown):
    """What an attacker can still do with a release.

    Args:
        target: the release. rows: its rows. classes: its equivalence classes, None where they overlap.
        smallest: the size of the smallest class, None when there is none.
        quasi_identifiers, sensitive, entity, nulls: the roles as they were given.
        k: who hides among fewer persons counts as exposed by linkage.
        exposures: what was tried, in a fixed order. not_tried: the rest, with what it would have needed.
        engine, time, statements, versions: as in an audit.
    """

    shown_by: ClassVar = "sqlaudit.release.attacks.report:attack_document"

    target: str
    rows: int
    classes: int | None
    smallest: int | None
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    entity: str | None
    nulls: str
    k: int
    exposures: tuple[Exposure, ...]
    not_tried: tuple[NotTried, ...] = ()
    engine: str = ""
    time: str = ""
    statements: tuple[Timing, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    access: str = ""

    def exposure(self, attack: str, about: str | None = None) -> Exposure:
        """The exposure by an attack, about a sensitive attribute where several were attacked.

        Raises:
            KeyError: the attack was not tried.
        """
        for found in self.exposures:
            if found.attack == attack and about in (None, found.about):
                return found
        raise KeyError(attack)

    def to_dict(self) -> dict[str, Any]:
        """The result as the documented JSON (`sqlaudit/release/attacks/schema.json`)."""
        return {
            "schema": SCHEMA,
            "versions": dict(self.versions),
            "time": self.time,
            "access": self.access,
            "engine": self.engine,
            "target": self.target,
            "rows": self.rows,
            "classes": self.classes,
            "smallest_class": self.smallest,
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": list(self.sensitive),
            "entity": self.entity,
            "nulls": self.nulls,
            "k": self.k,
            "attacks": [exposure.to_dict() for exposure in self.exposures],
            "not_tried": [attack.to_dict() for attack in self.not_tried],
            "statements": [timing.to_dict() for timing in self.statements],
        }


def exposed_most(exposures: Sequence[Exposure]) -> list[Exposure]:
    """The exposures by how large a share they expose, largest first; ties keep their order."""
    return sorted(exposures, key=lambda one: one.share or Fraction(0), reverse=True)


def _plain(value: Figure) -> int | float | str | bool | None:
    return float(value) if isinstance(value, Fraction) else value


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
