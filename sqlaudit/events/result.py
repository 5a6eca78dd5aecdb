"""What was found about persons in many rows. Frozen; without a value of the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from sqlaudit.base.documents import IF_ANY, LEFT_OUT, OR_NULL, Documented, exactly, key, objects, shown
from sqlaudit.base.result import MeasuredResult
from sqlaudit.models.check import Check, WithVerdict
from sqlaudit.reports.notebook import Shown


@dataclass(frozen=True)
class Known(Documented):
    """What somebody learns who knows at most so many events of a person.

    Args:
        known: m. smallest: the fewest persons who share such a set; the level of kᵐ-anonymity.
        exposed_persons: persons with a set that fewer than k share. unique_persons: with one that is theirs alone.
        minimal_sets: sets of exactly m events that fewer than k share while every smaller part is shared by k.
        exact: whether all sets were counted; if not, figures are bounds: at least so many persons and sets.
    """

    known: int
    smallest: int
    exposed_persons: int
    unique_persons: int
    minimal_sets: int
    exact: bool = True


@dataclass(frozen=True)
class Drawn(Documented):
    """The expected share of persons singled out by so many of their events, drawn at random.

    Args:
        known: how many. unique_share: the share. low, high: its 95% interval, the share itself when counted.
        sampled: whether persons were drawn.
    """

    known: int
    unique_share: float
    low: float
    high: float
    sampled: bool


@dataclass(frozen=True)
class Profile(Documented):
    """Persons whose events are all the same.

    Args:
        k: the smallest class. unique_persons: persons alone. exposed_persons: in classes below k. classes: how many.
        sizes: classes by their size.
    """

    k: int
    unique_persons: int
    exposed_persons: int
    classes: int
    sizes: Mapping[int, int] = field(metadata=LEFT_OUT)

    @classmethod
    def of(cls, sizes: Mapping[int, int], k: int) -> Profile:
        """From the classes by their size, where fewer than k persons are too few."""
        exposed = sum(members * classes for members, classes in sizes.items() if members < k)
        return cls(min(sizes, default=0), sizes.get(1, 0), exposed, sum(sizes.values()), sizes)

    @classmethod
    def of_fits(cls, fits: Mapping[int, int], k: int) -> Profile:
        """From persons by how many fit all events of theirs; classes overlap there, one for each person."""
        exposed = sum(persons for fit, persons in fits.items() if fit < k)
        return cls(min(fits, default=0), fits.get(1, 0), exposed, sum(fits.values()), fits)


@dataclass(frozen=True)
class WithoutColumn(Documented):
    """What would be found if a column were left out of the events.

    Args:
        column: its name. exposed_persons, unique_persons: with as many known events as the curve goes to.
        profile_k: the smallest class of equal events.
        coarsening: what the column could be instead; empty where there is nothing natural. coarser_exposed_persons,
            coarser_unique_persons: with that.
    """

    column: str
    exposed_persons: int
    unique_persons: int
    profile_k: int
    coarsening: str = field(default="", metadata=OR_NULL)
    coarser_exposed_persons: int | None = None
    coarser_unique_persons: int | None = None


@dataclass(frozen=True)
class Learnt(Documented):
    """What somebody who knows at most so many events of a person learns of a sensitive value.

    Args:
        known: p. smallest: the fewest persons who share such a set.
        share: the largest share of the persons with such a set who hold one and the same value.
        exposed_persons: persons with a set that fewer than k share, or of whom more than h hold one value.
        told_persons: the latter alone.
        exact: whether all sets were counted; if not, figures are bounds: at least so large, at least so many persons.
    """

    known: int
    smallest: int
    share: Fraction = field(metadata=exactly("share_exact"))
    exposed_persons: int
    told_persons: int
    exact: bool = True


@dataclass(frozen=True)
class Coherence(Documented):
    """What events tell of a sensitive column.

    Args:
        sensitive: its name. prior: the share of all persons who hold the most frequent value. curve: who knows 1, 2, …
            events. uncertainty: who knows so many events and sensitive values, of other values than these; empty when
            it was not asked for.
    """

    sensitive: str
    prior: Fraction = field(metadata=exactly("prior_exact"))
    curve: tuple[Learnt, ...]
    uncertainty: tuple[Learnt, ...] = ()


@dataclass(frozen=True)
class PersonsFound(Documented):
    """What an audit counted of persons and their events.

    Args:
        persons, rows, events: how many; an event is a combination of the quasi-identifiers.
        k: the largest number of persons that a requirement on known events asks for, None when none does.
        profile: who knows all events of a person. curve: who knows 1, 2, … of them; empty unless asked for.
        random: events drawn at random; empty unless asked for.
    """

    persons: int
    rows: int
    events: int
    k: int | None
    profile: Profile
    curve: tuple[Known, ...] = ()
    random: tuple[Drawn, ...] = ()


@dataclass(frozen=True)
class TellingValue(Documented):
    """A value of a column, and the minimal sets of events with it.

    Args:
        value: as text, None when it is missing. sets: in how many minimal sets it is, counted for each event.
    """

    value: str | None
    sets: int


@dataclass(frozen=True)
class TellingColumn(Documented):
    """How much the values of a column do in minimal sets: those that fewer than k share, while k share each part.

    Args:
        column: its name. values: how many different ones are in such sets. half: how many of these, from the most
            telling on, make half of all places in sets. top: the most telling ones, when they may be shown.
    """

    column: str
    values: int
    half: int
    top: tuple[TellingValue, ...] = ()


@dataclass(frozen=True)
class PersonAtRisk(Documented):
    """Somebody whom few events expose.

    Args:
        singled_out: the fewest events that nobody else has, None when none of so many are. exposed: the fewest that
            fewer than k share. events: how many the person has. sets: how many of theirs of that size single out.
        key: who it is, and telling: the values of the events of one such set, when they may be shown.
    """

    singled_out: int | None
    exposed: int
    events: int
    sets: int
    key: str | None
    telling: tuple[tuple[str | None, ...], ...]


def _by_number(found: Mapping[int, int]) -> list[dict[str, int]]:
    return [{"events": events, "persons": persons} for events, persons in found.items()]


@dataclass(frozen=True, kw_only=True, repr=False)
class PersonsResult(WithVerdict, MeasuredResult, Shown):
    """How easily persons are found by their events.

    Args:
        target: what was looked at. entity: the column that names persons.
        columns: the quasi-identifiers of an event. static: those that stay the same for a person, and are known.
        static_from: the table that they are of; empty when they stand beside the events.
        k: what is too few. h: the share above which a sensitive value counts as told. multiset: whether repeats count.
        tolerance: columns, and how far from the truth a known value may be. sequence: the column in whose order events
            are known; empty where their order is not. nulls: how missing values are read.
        rows: rows of the table. persons: different persons. events: different events. pairs: pairs of a person and an
            event.
        by_number: persons by how many events they have.
        profile: who knows all events of a person. curve: who knows 1, 2, … of them.
        random: events drawn at random. static_k: the smallest class of static values alone, None without any.
        effects: what leaving out each column would save; empty when it was not asked for.
        coherence: what events tell of sensitive columns. telling: which values are in sets below k; empty unless
            effects were asked for. most_at_risk: persons whom the fewest events single out; empty unless asked for.
        checks: of what was required. engine, time, statements, versions, access: as in an audit.
    """

    schema: ClassVar = "sqlaudit-persons/1"
    shown_by: ClassVar = "sqlaudit.events.report:persons_document"
    frame_of: ClassVar = "persons.curve"

    engine: str = ""
    target: str
    entity: str
    columns: tuple[str, ...]
    static: tuple[str, ...]
    static_from: str = field(default="", metadata=OR_NULL)
    k: int
    h: Fraction = field(default=Fraction(4, 5), metadata=exactly("h_exact"))
    multiset: bool
    tolerance: tuple[tuple[str, str], ...] = field(default=(), metadata=objects("column", "within"))
    sequence: str = field(default="", metadata=OR_NULL)
    nulls: str
    persons: int = field(metadata=key("persons.persons"))
    rows: int = field(metadata=key("persons.rows"))
    events: int = field(metadata=key("persons.events"))
    pairs: int = field(metadata=key("persons.occurrences"))
    by_number: Mapping[int, int] = field(metadata=key("persons.by_number_of_events") | shown(_by_number))
    profile: Profile = field(metadata=key("persons.profile"))
    curve: tuple[Known, ...] = field(metadata=key("persons.curve"))
    random: tuple[Drawn, ...] = field(default=(), metadata=key("persons.random"))
    static_k: int | None = field(default=None, metadata=key("persons.static_k"))
    effects: tuple[WithoutColumn, ...] = field(default=(), metadata=key("persons.effects"))
    coherence: tuple[Coherence, ...] = field(default=(), metadata=key("persons.coherence"))
    telling: tuple[TellingColumn, ...] = field(default=(), metadata=key("persons.telling"))
    most_at_risk: tuple[PersonAtRisk, ...] = field(default=(), metadata=key("persons.most_at_risk"))
    checks: tuple[Check, ...] = field(default=(), metadata=IF_ANY)
    _by_hand: bool = field(default=False, repr=False, compare=False)

    @property
    def by_hand(self) -> bool:
        """Whether somebody stopped the search."""
        return self._by_hand

    @property
    def near(self) -> bool:
        """Whether events match when they are near, so that nothing is a class."""
        return bool(self.tolerance) or self.nulls == "wildcard"

    @property
    def complete(self) -> bool:
        """Whether every number of known events that was asked for was counted."""
        besides = (row.exact for one in self.coherence for row in one.uncertainty)
        return all(one.exact for one in self.curve) and all(besides)

    def at(self, known: int) -> Known:
        """The figures for at most so many known events.

        Raises:
            KeyError: it was not asked for, or time was up before.
        """
        return {one.known: one for one in self.curve}[known]
