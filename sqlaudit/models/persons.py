"""Persons in many rows: what somebody learns who knows some events of a person, or all of them.

An event is one combination of the quasi-identifiers. No class of rows tells these models anything: they name how many
events are known and how few persons are too few, and are judged from what was counted of persons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.parameter_names import command, spelled
from sqlaudit.models.base import Answers, Judgement, Model, Parameter

if TYPE_CHECKING:  # few audits count people
    from sqlaudit.models.people import KnownEvents, PeopleFigures, ValueDisclosure

MOST_ALONE = 2
"""Sets of more events are counted in several statements."""
MOST_KNOWN = 6
"""Sets of more events are more than anybody counts."""
TERROVITIS = "Terrovitis, Mamoulis, Kalnis: Privacy-preserving anonymization of set-valued data, VLDB 2008"


@dataclass(frozen=True)
class PersonsWanted:
    """What models ask of persons.

    Args:
        known: for each number of persons that is enough, the most number of known events.
        drawn: numbers of events that are drawn at random.
        disclosure: for each number of persons that is enough, and largest share of them with one sensitive value, the
            most number of known events.
        contributions: whether to count the rows and groups of each person.
    """

    known: Mapping[int, int]
    drawn: frozenset[int] = frozenset()
    disclosure: Mapping[tuple[int, Fraction], int] = field(default_factory=dict)
    contributions: bool = False


class PersonsModel(Model):
    """A model of persons' events. `note` says of whom figures are."""

    needs_sensitive: ClassVar[bool] = False
    needs_entity: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True
    note: ClassVar[str] = "Failing rows are people."
    recipe: ClassVar[str] = "persons"
    counted: ClassVar[str | None] = None
    """What of each person is counted, where it is no event: `rows` or `groups`, a column of its statement."""
    why_several: ClassVar = "sets of events are counted size by size, each from the one before, in several statements."
    """Why it needs several statements; empty where one SELECT carries it."""

    @classmethod
    def why_not_alone(cls, parameters: Mapping[str, object], inputs: Mapping[str, object]) -> str:
        """Return why it needs several statements."""
        return cls.why_several

    @classmethod
    def level_range(cls, classes: int, rows: int) -> tuple[float, float]:
        """Return what so many people allow: where people are counted, each is a class."""
        return super().level_range(1, classes)

    def why_not_by_class(self) -> str:
        """People have several rows."""
        return "is about people with many rows, but recode needs one row per person. Use lattice."

    def select_parameters(self) -> dict[str, object]:
        """Return what the one SELECT over people takes."""
        return {"known": self.select_events(), "counted": self.counted, "limit": self.values[self.main]}

    def judge(self, answers: Answers) -> Judgement:
        """From what was counted of persons."""
        assert answers.persons is not None
        return self.judge_persons(answers.persons)

    def judge_persons(self, facts: PeopleFigures) -> Judgement:
        """The judgement from what was counted of persons."""
        raise NotImplementedError(self.name)

    def required_people(self) -> tuple[int, int] | None:
        """The number of people that suffices, and the number of known events; None where no set of events is
        required."""
        return None

    def select_events(self) -> int:
        """Return how many events somebody knows in one SELECT, where one carries it; 0 = all."""
        return 0

    def random_events(self) -> int:
        """Return how many events are drawn at random; 0 = none are."""
        return 0

    def required_disclosure(self) -> tuple[int, Fraction, int] | None:
        """The number of people that suffices, the share of them who may have one sensitive value, and the number of
        known events; None where no sensitive attribute is read."""
        return None


class KmAnonymity(PersonsModel):
    """Any m events that somebody may know of a person are shared by k persons."""

    name: ClassVar[str] = "km_anonymity"
    title: ClassVar[str] = "kᵐ-anonymity"
    definition: ClassVar = (
        "Every set of at most m events of a person (combinations of the quasi-identifiers) is shared by at least k "
        "people."
    )
    reference: ClassVar[str] = TERROVITIS
    parameters: ClassVar = (
        Parameter("k", "integer", "smallest number of people who share the known events", 1),
        Parameter("m", "integer", "number of known events", 1, MOST_KNOWN, default=2),
    )
    short_forms: ClassVar = ("km",)

    @classmethod
    def why_not_alone(cls, parameters: Mapping[str, Any], inputs: Mapping[str, Any]) -> str:
        """Larger sets need the ones before."""
        events = int(parameters.get("m", 2))
        if events <= MOST_ALONE:
            return ""
        return f"it joins sets of at most {MOST_ALONE} events of a person; {command('audit')} takes m = {events}."

    def select_events(self) -> int:
        """m."""
        return int(self.values["m"])

    def required_people(self) -> tuple[int, int]:
        """k, and m."""
        return max(2, self.values["k"] or 2), self.values["m"]

    def judge_persons(self, facts: PeopleFigures) -> Judgement:
        """The fewest persons who share a set; with too little time only what is proven."""
        k, events = self.required_people()
        curve = facts.curves[k][:events]
        levels = {"k": curve[-1].smallest if facts.persons else None}
        if not self.is_required:
            return Judgement(levels)
        counts = curve[-1].exposed_persons, sum(figures.minimal_sets for figures in curve)
        exposed, sets = counts if self.values["k"] > 1 else (0, 0)
        details = {"persons": facts.persons, "minimal_sets": sets}
        if covers(curve, events):
            return Judgement(levels, sets, exposed, details)
        note = "time ran out before all sets of events were counted; the true level is at most this one"
        if not exposed:
            return Judgement(levels, details={"persons": facts.persons}, note=note)
        return Judgement(levels, max(1, sets), exposed, details, note=note)


class ProfileKAnonymity(PersonsModel):
    """An attacker who knows all events of a person finds k people who have the same."""

    name: ClassVar[str] = "profile_k_anonymity"
    title: ClassVar[str] = "profile k-anonymity"
    definition: ClassVar = (
        "Every person shares all events (combinations of the quasi-identifiers) with at least k − 1 other people."
    )
    reference: ClassVar[str] = "k-anonymity of Samarati and Sweeney 1998, where a person's row is the set of all events"
    parameters: ClassVar = (Parameter("k", "integer", "smallest number of people with the same events", 1),)
    short_forms: ClassVar = ("profile_k",)
    why_several: ClassVar = ""

    def judge_persons(self, facts: PeopleFigures) -> Judgement:
        """The smallest class of persons with the same events."""
        k = self.values["k"] or 1
        profile = facts.profile(k)
        levels = {"k": profile.k or None}
        if not self.is_required:
            return Judgement(levels)
        too_small = sum(classes for size, classes in profile.sizes.items() if size < k)
        return Judgement(levels, too_small, profile.exposed_persons, {"persons": facts.persons})


class Unicity(PersonsModel):
    """Events of a person, drawn at random, single few persons out."""

    name: ClassVar[str] = "unicity"
    title: ClassVar[str] = "unicity"
    definition: ClassVar = (
        "The expected share of people whom m of their events, drawn at random, single out (all events where there "
        "are fewer)."
    )
    reference: ClassVar[str] = "de Montjoye, Hidalgo, Verleysen, Blondel: Unique in the Crowd, Scientific Reports 2013"
    note: ClassVar[str] = (
        "A figure of the whole table. Where people are sampled, it is met when the whole 95% interval meets it, and "
        "undecided when the limit lies inside."
    )
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (
        Parameter("share", "decimal", "largest share of people allowed", 0, 1),
        Parameter("m", "integer", "events drawn at random", 1, MOST_KNOWN, default=4),
    )
    verdict_by_level: ClassVar[bool] = True
    inherited: ClassVar[bool] = False
    """Where two common events become one, a rare one is drawn more often."""

    def random_events(self) -> int:
        """m."""
        return int(self.values["m"])

    def judge_persons(self, facts: PeopleFigures) -> Judgement:
        """The share; undecided where the interval of drawn persons holds the limit."""
        if not facts.persons:
            return Judgement({"share": None})
        drawn = facts.draws[self.random_events()]
        levels: dict[str, Any] = {"share": drawn.share}
        if not drawn.sampled:
            return Judgement(levels)
        levels |= {"low": Fraction(drawn.low), "high": Fraction(drawn.high)}
        limit = self.values["share"]
        if limit is not None and drawn.low <= limit < drawn.high:
            return Judgement(levels, note="the limit lies in the 95% interval of the sampled people", undecided=True)
        return Judgement(levels)


class HkpCoherence(PersonsModel):
    """An attacker who knows p events of a person finds k people, of whom not too many share a sensitive value."""

    name: ClassVar[str] = "coherence"
    title: ClassVar[str] = "(h,k,p)-coherence"
    definition: ClassVar = (
        "Every set of at most p events of a person is shared by at least k people, of whom at most a share h have "
        "the same sensitive value (a missing value is not one)."
    )
    reference: ClassVar[str] = "Xu, Wang, Fu, Yu: Anonymizing transaction databases for publication, KDD 2008"
    needs_sensitive: ClassVar[bool] = True
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (
        Parameter("p", "integer", "number of known events", 1, MOST_KNOWN, default=2),
        Parameter("k", "integer", "smallest number of people who share the known events", 2, default=2),
        Parameter("h", "decimal", "largest share of them with one value", 0, 1),
    )
    main: ClassVar[str] = "h"
    inherited: ClassVar[bool] = False
    """Who has a coarse event is who has one of several fine ones, and sets that overlap may tell more together."""
    why_several: ClassVar = (
        "sets of events are counted size by size, each with the values of its persons, in several statements."
    )

    def required_disclosure(self) -> tuple[int, Fraction, int]:
        """k, h and p."""
        h = self.values["h"]
        return self.values["k"], Fraction(1 if h is None else h), self.values["p"]

    def judge_persons(self, facts: PeopleFigures) -> Judgement:
        """The largest share, and the fewest persons; with too little time only what is proven."""
        if not facts.persons:
            return Judgement({"h": None, "fewest": None})
        k, h, events = self.required_disclosure()
        curve = facts.learnt[k, h][:events]
        exposed = curve[-1].exposed_persons
        levels: dict[str, Any] = {"h": curve[-1].share, "fewest": curve[-1].smallest}
        if not self.is_required:
            return Judgement(levels)
        details = {"persons": facts.persons}
        if covers(curve, events):
            return Judgement(levels, exposed, exposed, details)
        note = "time ran out before all sets of events were counted; the true share may be higher"
        if not exposed:
            return Judgement(levels, details=details, note=note)
        return Judgement(levels, exposed, exposed, details, note=note)


class ContributionBound(PersonsModel):
    """No person contributes more than a promised number of rows or groups."""

    reference: ClassVar[str] = (
        "bounded user contribution: Wilson, Zhang, Lam, Desfontaines, Simmons-Marengo, Gipson: Differentially private "
        "SQL with bounded user contribution, PoPETs 2020"
    )
    note: ClassVar[str] = (
        "Failing rows are people. The exact maximum depends on single people: choose the bound without looking at the "
        "data. The privacy loss ε of queries is not checked."
    )
    operator: ClassVar[str] = "<="
    counted: ClassVar[str]
    why_several: ClassVar = ""

    def judge_persons(self, facts: PeopleFigures) -> Judgement:
        """The most of any person, and the people above the bound."""
        people = facts.contributed[self.counted]
        levels = {self.counted: max(people, default=None)}
        if not self.is_required:
            return Judgement(levels)
        over = sum(persons for number, persons in people.items() if number > self.values[self.counted])
        return Judgement(levels, over, over, {"persons": facts.persons})


class RowsPerPerson(ContributionBound):
    """No person has more than a promised number of rows."""

    name: ClassVar[str] = "rows_per_person"
    title: ClassVar[str] = "rows per person"
    definition: ClassVar = "Every person has at most the given number of rows."
    counted: ClassVar[str] = "rows"
    parameters: ClassVar = (Parameter("rows", "integer", "most rows of one person", 1),)


class GroupsPerPerson(ContributionBound):
    """No person is in more than a promised number of groups."""

    name: ClassVar[str] = "groups_per_person"
    title: ClassVar[str] = "groups per person"
    definition: ClassVar = (
        "Every person is in at most the given number of groups (combinations of the quasi-identifiers; a missing value "
        "is a value, as in GROUP BY)."
    )
    counted: ClassVar[str] = "groups"
    parameters: ClassVar = (Parameter("groups", "integer", "most groups of one person", 1),)


def covers(curve: Sequence[KnownEvents] | Sequence[ValueDisclosure], events: int) -> bool:
    """Return True if a curve has exact figures for up to so many known events."""
    return len(curve) >= events and curve[events - 1].exact


def persons_wanted(models: Sequence[Model]) -> PersonsWanted | None:
    """Return what some models ask of persons together; None when none asks."""
    asking = [model for model in models if isinstance(model, PersonsModel)]
    if not asking:
        return None
    events_by_k: dict[int, int] = {}
    for model in asking:
        if (required := model.required_people()) is not None:
            people, known = required
            events_by_k[people] = max(known, events_by_k.get(people, 0))
    events_by_limits: dict[tuple[int, Fraction], int] = {}
    for k, h, p in filter(None, (model.required_disclosure() for model in asking)):
        events_by_limits[k, h] = max(p, events_by_limits.get((k, h), 0))
    drawn = frozenset(model.random_events() for model in asking if model.random_events())
    return PersonsWanted(events_by_k, drawn, events_by_limits, any(model.counted for model in asking))


def refuse_without_entity(model: type[Model], text: str, entity: str | None) -> None:
    """Raise UsageError if a model is about people but no column identifies them.

    Raises:
        UsageError: it does not.
    """
    if model.needs_entity and not entity:
        raise UsageError(
            f"{text!r} is about people with many rows. Name the column that identifies the person with "
            f"{spelled('entity')}."
        )
