"""What models ask of persons and their events, counted for whoever judges them: audits, nodes of a lattice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from sqlaudit.base.relation import Kind, Relation
from sqlaudit.base.spec import NullPolicy
from sqlaudit.classes.facts import Frame
from sqlaudit.column_sets.budget import Stop, never
from sqlaudit.column_sets.selection import Chosen
from sqlaudit.engines.contract import Engine
from sqlaudit.events.levels import Levels
from sqlaudit.events.occurrences import Occurrences, coded_rows, drop_occurrences, occurrences_of
from sqlaudit.events.result import Drawn, Known, PersonsFound, Profile
from sqlaudit.events.unicity import COUNTED, counted, sampled
from sqlaudit.models.persons import PersonsWanted, Shared, Singled

DRAWS = 10_000
"""Persons drawn where there are too many sets to count all."""


@dataclass(frozen=True)
class CountedPersons:
    """What was counted of persons and their events.

    Args:
        rows: of the table. persons: different ones. events: different ones. alike: classes of persons with the same
            events, by their size.
        curves: for each k what 1, 2, … known events tell. draws: events drawn at random, by their number, exactly.
    """

    rows: int
    persons: int
    events: int
    alike: Mapping[int, int]
    curves: Mapping[int, tuple[Known, ...]]
    draws: Mapping[int, tuple[Drawn, Fraction]]

    def shared(self, k: int, known: int) -> Shared:
        """What at most so many events say, where fewer than k persons are too few."""
        curve = self.curves[k][:known]
        last = curve[-1]
        sets = sum(one.minimal_sets for one in curve)
        return Shared(last.smallest, last.exposed_persons, sets, len(curve) == known and last.exact)

    def singled(self, known: int) -> Singled:
        """Whom so many events drawn at random single out."""
        drawn, share = self.draws[known]
        if not drawn.sampled:
            return Singled(share, share, share)
        return Singled(share, Fraction(drawn.low), Fraction(drawn.high))

    def found(self) -> PersonsFound:
        """The same for a result; of several curves the strictest."""
        k = max(self.curves, default=None)
        random = tuple(self.draws[known][0] for known in sorted(self.draws))
        curve = () if k is None else self.curves[k]
        profile = Profile.of(self.alike, k or 2)
        return PersonsFound(self.persons, self.rows, self.events, k, profile, curve, random)


def count_persons(engine: Engine, frame: Frame, wanted: PersonsWanted, stop: Stop = never) -> CountedPersons:
    """Count what is wanted of the persons of a table.

    Args:
        engine: where the table lies. frame: its rows; an event is a combination of the keys, the entity names a person.
        wanted: which sets of events, and what is too few. stop: whether the time is used up.

    Raises:
        UsageError: rows without a person.
        EngineError: the database refused, failed or went away.
    """
    assert frame.entity is not None
    keys = frame.keys or ("1",)  # where nothing is known, all events are one
    chosen = [Chosen(f"q{place}", key, Kind.OTHER) for place, key in enumerate(keys)]
    nulls = NullPolicy.DISTINCT if frame.solo and frame.keys else NullPolicy.EQUAL
    person = Chosen("e", frame.entity, Kind.OTHER)
    with coded_rows(engine, Relation(frame.source, (), ""), chosen, person) as (bench, coded):
        try:
            events = occurrences_of(bench, coded, range(len(keys)), 2, nulls, repeats=False, events=len(keys))
            alike = events.alike()
            curves, draws = _searched(events, wanted, stop)
        finally:
            drop_occurrences(bench)
    return CountedPersons(coded.rows, coded.persons, events.events, alike, curves, draws)


def _searched(
    events: Occurrences, wanted: PersonsWanted, stop: Stop
) -> tuple[dict[int, tuple[Known, ...]], dict[int, tuple[Drawn, Fraction]]]:
    """The curve of each k; the first search counts what is drawn, too."""
    known = dict(wanted.known)
    if wanted.drawn and not known:
        known[2] = 1
    curves, drawn = {}, dict[int, tuple[Drawn, Fraction]]()
    for place, (k, most) in enumerate(sorted(known.items(), reverse=True)):
        sizes = wanted.drawn if place == 0 else frozenset[int]()
        levels = Levels(events.with_limit(k), k, stop, shared_draws=bool(sizes))
        try:
            curve = tuple(_curve(levels, most, sizes))
            if sizes and events.pairs:
                drawn = {size: _draw(events, levels, curve, size) for size in sorted(sizes)}
        finally:
            levels.close()
        if k in wanted.known:
            curves[k] = curve[:most]
    return curves, drawn


def _curve(levels: Levels, most: int, drawn: frozenset[int]) -> Iterator[Known]:
    """As far as sets are asked for, and farther where those drawn are few enough to count."""
    farthest = max(most, *drawn, 1)
    for one in levels.curve(farthest):
        yield one
        few = [size for size in drawn if levels.sets_of_persons(size) <= COUNTED]
        if one.known >= max([most, *few]):
            return


def _draw(events: Occurrences, levels: Levels, curve: tuple[Known, ...], size: int) -> tuple[Drawn, Fraction]:
    if size <= len(curve) and curve[size - 1].exact and levels.sets_of_persons(size) <= COUNTED:
        share = counted(levels.by_number, levels.shared, size)
        return Drawn(size, float(share), float(share), float(share), sampled=False), share
    drawn = sampled(events, levels, size, DRAWS, 0)
    return drawn, Fraction(drawn.unique_share)
