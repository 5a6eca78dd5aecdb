"""What an attack is: it says what it lacks, or how many persons it exposes. All figures come from the database.

Numbers as sentences have them. Counts only; no value of a table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any, ClassVar

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import NullPolicy, Roles
from sqlaudit.base.words import spelled
from sqlaudit.classes.facts import ClassHistogram, Fact, SensitiveTable
from sqlaudit.classes.failing import FailingClasses
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.listing import Short
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine
from sqlaudit.release.attacks.readers import Readers, readers_for
from sqlaudit.release.attacks.request import AttackRequest
from sqlaudit.release.attacks.result import SINGULAR, Example, Exposure
from sqlaudit.reports.figures import percent

MACHANAVAJJHALA = "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam: l-Diversity, TKDD 2007"
LI = "Li, Li, Venkatasubramanian: t-Closeness, ICDE 2007"
SWEENEY = "Sweeney: k-Anonymity, IJUFKS 2002"
FIRST = Fact("first_lane", "first_lane")
"""The lowest lane that occurs: the only one where there is only one value."""


@dataclass(frozen=True)
class AttackedAttribute:
    """One sensitive attribute of the release, its classes, and what is known of its values.

    `labels` are what the user calls the columns of the class key.
    """

    resolved: Resolved
    table: SensitiveTable
    histogram: ClassHistogram
    builder: HistogramBuilder
    inputs: Mapping[str, Any]
    labels: Sequence[str]

    @property
    def label(self) -> str:
        """What the user calls it."""
        return self.resolved.label

    def figures(self, template: str, facts: Sequence[Fact], **parameters: Any) -> dict[str, Any]:
        """The one row of a template over class facts, by column name; `names` in the order of its columns."""
        names = parameters.pop("names")
        step = PurePosixPath(template).stem.replace("_", " ")
        statement = self.histogram.statement(template, facts, f"{step} on {self.label}", **parameters)
        return dict(zip(names, self.histogram.engine.run(statement)[0], strict=True))


@dataclass(frozen=True)
class Scene:
    """What every attack may use: the release, its roles, its sensitive attributes, and what the attacker holds.

    `relation` and `roles` are the release as it stands, with its order of rows. `identified` and `other` are the
    attacker's tables, None when there are none. `workbench` keeps the labels of hierarchies.
    """

    engine: Engine
    relation: Relation
    roles: ResolvedRoles
    given: Roles
    request: AttackRequest
    attributes: Sequence[AttackedAttribute]
    rows: int
    identified: Relation | None = None
    other: Relation | None = None
    workbench: Engine | None = None

    @property
    def readers(self) -> Readers:
        """What generalized cells stand for, column by column."""
        return readers_for(self.request.hierarchies)

    @property
    def unit(self) -> str:
        """What classes count."""
        return "rows" if self.roles.entity is None else "persons"

    @property
    def overlapping(self) -> bool:
        """Whether classes overlap, because a missing value matches any."""
        return self.given.nulls is NullPolicy.WILDCARD


class CannotTry(Exception):
    """An attack finds out on the way that it cannot be tried; the message says why, without a value."""


class Attack(ABC):
    """Base of all attacks."""

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    source: ClassVar[str] = ""

    @abstractmethod
    def lacks(self, scene: Scene) -> str:
        """What keeps the attack from being tried, as a sentence; empty when nothing does."""

    @abstractmethod
    def run(self, scene: Scene) -> Iterator[Exposure]:
        """What the attack achieves, one exposure for each sensitive attribute that it is about.

        Raises:
            UsageError: what it was given does not fit.
            EngineError: the database refused, failed or went away.
        """


class ClassAttack(Attack):
    """An attack on the classes of the release, one sensitive attribute at a time."""

    def lacks(self, scene: Scene) -> str:
        """A sensitive attribute, and classes that do not overlap."""
        if not scene.attributes:
            return f"It needs a sensitive attribute ({spelled('sensitive')})."
        if scene.overlapping:
            return f"Classes overlap with {spelled('nulls', 'wildcard')}; use {spelled('nulls', 'equal')} or distinct."
        return ""

    def run(self, scene: Scene) -> Iterator[Exposure]:
        """One exposure an attribute."""
        for attribute in scene.attributes:
            yield self.attack(scene, attribute)

    @abstractmethod
    def attack(self, scene: Scene, attribute: AttackedAttribute) -> Exposure:
        """What is learned about one attribute."""


def shown_classes(
    scene: Scene, attribute: AttackedAttribute, condition: str, facts: Sequence[Fact]
) -> tuple[Example, ...]:
    """Some classes that satisfy a condition, smallest first, with the values in the lanes that facts called `…_lane`
    give; none unless values may be shown."""
    if not scene.request.show_values or not scene.request.top:
        return ()
    keyed = attribute.builder.build(attribute.resolved.sql, attribute.table, keep_keys=True)
    shown = [replace(fact, shown=True) for fact in facts]
    collated = attribute.builder.frame.collated
    labels = tuple(attribute.labels)
    classes = FailingClasses(keyed, (Short("", None, condition),), tuple(shown), labels, tuple(collated), len(labels))
    found, _ = classes.smallest(scene.request.top)
    lanes = [fact.name for fact in facts if fact.name.endswith("_lane")]
    return tuple(
        Example(one.key, one.size, tuple(attribute.table.values[int(one.figures[lane] or 0)] for lane in lanes))
        for one in found
    )


def some(number: int, unit: str) -> str:
    """A count with its unit.

    Example:
        >>> some(1, "rows"), some(1234, "classes")
        ('1 row', '1,234 classes')
    """
    return f"{number:,} {SINGULAR.get(unit, unit) if number == 1 else unit}"


def of_all(number: int, whole: int, unit: str, verbs: tuple[str, str] | None = None) -> str:
    """A part of a whole, with the verb that one or several of them take: `3 of 12 rows (25.0%) lie`.

    Example:
        >>> of_all(3, 12, "rows"), of_all(0, 0, "rows"), of_all(1, 4, "rows", ("lies", "lie"))
        ('3 of 12 rows (25.0%)', '0 of 0 rows', '1 of 4 rows (25.0%) lies')
    """
    share = f" ({percent(Fraction(number, whole))})" if whole else ""
    verb = "" if verbs is None else f" {verbs[number != 1]}"
    return f"{number:,} of {some(whole, unit)}{share}{verb}"


def chance(value: float | Fraction | None) -> str:
    """A probability as a percentage; only certainty prints as 100%.

    Example:
        >>> chance(Fraction(2, 3)), chance(1), chance(None)
        ('66.7%', '100%', 'unknown')
    """
    return "unknown" if value is None else percent(Fraction(value))
