"""Persons in many rows: what somebody learns who knows some events of a person, or all of them.

An event is one combination of the quasi-identifiers. No class of rows tells these models anything: they name how many
events are known and how few persons are too few, and are judged from what was counted of persons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from sqlaudit.base.errors import UsageError
from sqlaudit.base.words import spelled
from sqlaudit.models.base import Answers, Judgement, Model, Parameter

MOST_KNOWN = 6
"""Sets of more events are more than anybody counts."""
TERROVITIS = "Terrovitis, Mamoulis, Kalnis: Privacy-preserving anonymization of set-valued data, VLDB 2008"


@dataclass(frozen=True)
class PersonsWanted:
    """What models ask of persons.

    Args:
        known: for each number of persons that is enough, the most events that somebody knows.
        drawn: numbers of events that are drawn at random.
    """

    known: Mapping[int, int]
    drawn: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Shared:
    """What sets of at most so many events say.

    Args:
        smallest: the fewest persons who share one. exposed: persons with one that too few share.
        sets: minimal sets that too few share. exact: whether all were counted; else `smallest` may be lower, and the
            others are at least so many.
    """

    smallest: int
    exposed: int
    sets: int
    exact: bool


@dataclass(frozen=True)
class Singled:
    """The expected share of persons whom events drawn at random single out, and where it lies: counted, or with 95%."""

    share: Fraction
    low: Fraction
    high: Fraction


class PersonsFacts(Protocol):
    """What was counted of persons and their events."""

    @property
    def persons(self) -> int:
        """How many."""

    @property
    def alike(self) -> Mapping[int, int]:
        """Classes of persons whose events are the same, by their size."""

    def shared(self, k: int, known: int) -> Shared:
        """What at most so many events say, where fewer than k persons are too few."""

    def singled(self, known: int) -> Singled:
        """Whom so many events drawn at random single out."""


class PersonsModel(Model):
    """A model of persons' events. `note` says of whom figures are."""

    needs_sensitive: ClassVar[bool] = False
    needs_entity: ClassVar[bool] = True
    by_default: ClassVar[bool] = False
    by_figures: ClassVar[bool] = False
    own_statements: ClassVar[bool] = True
    of_persons: ClassVar[bool] = True
    note: ClassVar[str] = "Failing rows are persons."
    recipe: ClassVar[str] = "persons"

    @classmethod
    def why_not_alone(cls, parameters: Mapping[str, Any], inputs: Mapping[str, Any]) -> str:
        """Sets of events are counted size by size."""
        return "sets of events are counted size by size, each from the one before, in several statements."

    def judge(self, answers: Answers) -> Judgement:
        """From what was counted of persons."""
        assert answers.persons is not None
        return self.judge_persons(answers.persons)

    def judge_persons(self, facts: PersonsFacts) -> Judgement:
        """The judgement from what was counted of persons."""
        raise NotImplementedError(self.name)

    def enough(self) -> tuple[int, int] | None:
        """How many persons are enough, and how many events somebody knows; None where no set of events is asked for."""
        return None

    def drawn(self) -> int:
        """How many events are drawn at random; 0 = none are."""
        return 0


class KmAnonymity(PersonsModel):
    """Any m events that somebody may know of a person are shared by k persons."""

    name: ClassVar[str] = "km_anonymity"
    title: ClassVar[str] = "kᵐ-anonymity"
    definition: ClassVar[str] = (
        "At least k persons have every set of at most m events (combinations of the quasi-identifiers) that some "
        "person has."
    )
    reference: ClassVar[str] = TERROVITIS
    parameters: ClassVar = (
        Parameter("k", "integer", "fewest persons who may share what is known", Fraction(1)),
        Parameter("m", "integer", "events that somebody knows", Fraction(1), Fraction(MOST_KNOWN), default=2),
    )
    short_forms: ClassVar = ("km",)
    main: ClassVar[str] = "k"

    def enough(self) -> tuple[int, int]:
        """k, and m."""
        return max(2, self.values["k"] or 2), self.values["m"]

    def judge_persons(self, facts: PersonsFacts) -> Judgement:
        """The fewest persons who share a set; with too little time only what is proven."""
        found = facts.shared(*self.enough())
        levels = {"k": found.smallest if facts.persons else None}
        if not self.is_required:
            return Judgement(levels)
        exposed, sets = (found.exposed, found.sets) if self.values["k"] > 1 else (0, 0)
        details = {"persons": facts.persons, "minimal_sets": sets}
        if found.exact:
            return Judgement(levels, sets, exposed, details)
        note = "the time was up before all sets of events were counted: the level is at most what is said"
        if not exposed:
            return Judgement(levels, details={"persons": facts.persons}, note=note)
        return Judgement(levels, max(1, sets), exposed, details, note=note)


class ProfileKAnonymity(PersonsModel):
    """Whoever knows all events of a person finds k persons who have the same."""

    name: ClassVar[str] = "profile_k_anonymity"
    title: ClassVar[str] = "profile k-anonymity"
    definition: ClassVar[str] = (
        "At least k persons have the same set of events (combinations of the quasi-identifiers) as each person."
    )
    reference: ClassVar[str] = "k-anonymity of Samarati and Sweeney 1998, where a person's row is the set of all events"
    parameters: ClassVar = (Parameter("k", "integer", "fewest persons who may have the same events", Fraction(1)),)
    short_forms: ClassVar = ("profile_k",)
    main: ClassVar[str] = "k"

    def judge_persons(self, facts: PersonsFacts) -> Judgement:
        """The smallest class of persons with the same events."""
        levels = {"k": min(facts.alike, default=None)}
        if not self.is_required:
            return Judgement(levels)
        short = {size: classes for size, classes in facts.alike.items() if size < self.values["k"]}
        persons = sum(size * classes for size, classes in short.items())
        return Judgement(levels, sum(short.values()), persons, {"persons": facts.persons})


class Unicity(PersonsModel):
    """Events of a person, drawn at random, single few persons out."""

    name: ClassVar[str] = "unicity"
    title: ClassVar[str] = "unicity"
    definition: ClassVar[str] = (
        "The expected share of persons whom m of their events, drawn at random, single out (all of them, where there "
        "are fewer)."
    )
    reference: ClassVar[str] = "de Montjoye, Hidalgo, Verleysen, Blondel: Unique in the Crowd, Scientific Reports 2013"
    note: ClassVar[str] = (
        "A figure of the whole table. Where persons are drawn, it holds when all of the 95% interval does, and is "
        "undecided when the limit lies inside."
    )
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (
        Parameter("share", "decimal", "largest share of persons allowed", Fraction(0), Fraction(1)),
        Parameter("m", "integer", "events drawn at random", Fraction(1), Fraction(MOST_KNOWN), default=4),
    )
    main: ClassVar[str] = "share"
    verdict_by_level: ClassVar[bool] = True
    inherited: ClassVar[bool] = False
    """Where two common events become one, a rare one is drawn more often."""

    def drawn(self) -> int:
        """m."""
        return int(self.values["m"])

    def judge_persons(self, facts: PersonsFacts) -> Judgement:
        """The share; undecided where the interval of drawn persons holds the limit."""
        if not facts.persons:
            return Judgement({"share": None})
        found = facts.singled(self.drawn())
        levels: dict[str, Any] = {"share": found.share}
        if found.low == found.high:
            return Judgement(levels)
        levels |= {"low": found.low, "high": found.high}
        limit = self.values["share"]
        if limit is not None and found.low <= limit < found.high:
            return Judgement(levels, note="the limit lies in the 95% interval of the drawn persons", undecided=True)
        return Judgement(levels)


def persons_wanted(models: Sequence[Model]) -> PersonsWanted | None:
    """What some models ask of persons together; None when none asks."""
    asking = [model for model in models if isinstance(model, PersonsModel)]
    if not asking:
        return None
    known: dict[int, int] = {}
    for model in asking:
        if (enough := model.enough()) is not None:
            known[enough[0]] = max(enough[1], known.get(enough[0], 0))
    return PersonsWanted(known, frozenset(model.drawn() for model in asking if model.drawn()))


def refuse_without_entity(model: type[Model], text: str, entity: str | None) -> None:
    """Nothing when a model that is about persons knows their column.

    Raises:
        UsageError: it does not.
    """
    if model.needs_entity and not entity:
        raise UsageError(
            f"{text!r} is about persons with many rows; name the column that says which person a row is about with "
            f"{spelled('entity')}."
        )
