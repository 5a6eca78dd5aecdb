"""What models ask of persons and their events, counted for whoever judges them: audits, nodes of a lattice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from sqlaudit.base.relation import Kind, Relation, Statement
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import Raw
from sqlaudit.classes.facts import Frame
from sqlaudit.column_sets.budget import Stop, never
from sqlaudit.column_sets.selection import Chosen
from sqlaudit.engines.contract import Engine
from sqlaudit.events.coherence import Learning
from sqlaudit.events.levels import Levels
from sqlaudit.events.occurrences import Occurrences, coded_rows, drop_occurrences, occurrences_of, reading
from sqlaudit.events.result import Drawn, Known, Learnt, PersonsFound, Profile
from sqlaudit.events.unicity import COUNTED, singled_out
from sqlaudit.models.persons import Alike, PersonsWanted, Shared, Singled, Told

DRAWS = 10_000
"""Persons drawn where there are too many sets to count all."""
_PLACE = 900
"""Relations of values that a model asks about are numbered from here."""


@dataclass
class CountedPersons:
    """What was counted of persons and their events.

    Args:
        rows: of the table. persons: different ones. events: different ones. alike: classes of persons with the same
            events, by their size; when `near` how many fit all events of somebody, each by themselves.
        curves: for each k what 1, 2, … known events tell of persons. learnt: for each k and h what they tell of a
            sensitive attribute. draws: events drawn at random, by their number, exactly.
        drawn, seed: persons drawn where there are too many sets to count all.
    """

    rows: int
    persons: int
    events: int
    alike: Mapping[int, int]
    curves: dict[int, tuple[Known, ...]] = field(default_factory=dict)
    learnt: dict[tuple[int, Fraction], tuple[Learnt, ...]] = field(default_factory=dict)
    draws: dict[int, tuple[Drawn, Fraction]] = field(default_factory=dict)
    near: bool = False
    drawn: int = DRAWS
    seed: int = 0

    def same(self, k: int) -> Alike:
        """Who has the same events as somebody else, where fewer than k persons are too few."""
        few = {size: classes for size, classes in self.alike.items() if size < k}
        persons = sum(classes if self.near else size * classes for size, classes in few.items())
        return Alike(min(self.alike, default=None), sum(few.values()), persons)

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

    def told(self, k: int, h: Fraction, known: int) -> Told:
        """What at most so many events tell, where fewer than k persons are too few and a share above h too large."""
        curve = self.learnt[k, h][:known]
        last = curve[-1]
        return Told(last.share, last.smallest, last.exposed_persons, len(curve) == known and last.exact)

    def found(self) -> PersonsFound:
        """The same for a result; of several curves the strictest."""
        k = max(self.curves, default=None)
        random = tuple(self.draws[known][0] for known in sorted(self.draws))
        curve = () if k is None else self.curves[k]
        profile = Profile.of(self.alike, k or 2)
        return PersonsFound(self.persons, self.rows, self.events, k, profile, curve, random)

    def search(self, events: Occurrences, wanted: PersonsWanted, held: Raw | None = None, stop: Stop = never) -> None:
        """Count the sets of events that are wanted and not counted yet, a search for each k; the first one counts what
        is drawn, too.

        Args:
            events: who has which event. wanted: which sets, and what is too few.
            held: who holds which value of the sensitive attribute. stop: whether the time is used up.
        """
        wanted = self._missing(wanted)
        limits = {*wanted.known, *(k for k, _ in wanted.told)} or ({2} if wanted.drawn else set())
        for place, k in enumerate(sorted(limits, reverse=True)):
            self._search(events.with_limit(k), k, wanted, wanted.drawn if place == 0 else frozenset(), held, stop)

    def _missing(self, wanted: PersonsWanted) -> PersonsWanted:
        known = {k: most for k, most in wanted.known.items() if not _reaches(self.curves.get(k, ()), most)}
        told = {kh: most for kh, most in wanted.told.items() if not _reaches(self.learnt.get(kh, ()), most)}
        return PersonsWanted(known, wanted.drawn - self.draws.keys(), told)

    def _search(
        self, events: Occurrences, k: int, wanted: PersonsWanted, drawn: frozenset[int], held: Raw | None, stop: Stop
    ) -> None:
        told = {h: known for (limit, h), known in wanted.told.items() if limit == k and held is not None}
        learning = {
            h: Learning(events, held, "", _PLACE + place, self.persons, h)
            for place, h in enumerate(told)
            if held is not None
        }
        watchers = tuple(one.look for one in learning.values())
        levels = Levels(events, k, stop, shared_draws=bool(drawn), watchers=watchers)
        most = max([wanted.known.get(k, 1), *told.values()])
        curve: list[Known] = []
        try:
            for known in _curve(levels, most, drawn):
                curve.append(known)
                for one in learning.values():
                    one.take(known, levels.state)
            if drawn and events.pairs:
                self.draws |= {
                    size: singled_out(events, levels, curve, size, self.drawn, self.seed) for size in sorted(drawn)
                }
            self.learnt |= {(k, h): one.curve[: told[h]] for h, one in learning.items()}
        finally:
            levels.close()
            for one in learning.values():
                one.close()
        if k in wanted.known:
            self.curves[k] = tuple(curve[: wanted.known[k]])


def _reaches(curve: Sequence[Known] | Sequence[Learnt], most: int) -> bool:
    """Whether a curve says what is known of so many events, or ended before because time was up."""
    return len(curve) >= most or (bool(curve) and not curve[-1].exact)


def count_persons(engine: Engine, frame: Frame, wanted: PersonsWanted) -> CountedPersons:
    """Count what is wanted of the persons of a table.

    Args:
        engine: where the table lies. frame: its rows; an event is a combination of the keys, the entity names a person.
        wanted: which sets of events, and what is too few.

    Raises:
        UsageError: rows without a person.
        EngineError: the database refused, failed or went away.
    """
    assert frame.entity is not None
    keys = frame.keys or ("1",)  # where nothing is known, all events are one
    values = [frame.sensitive] if frame.sensitive is not None and wanted.told else []
    chosen = [Chosen(f"q{place}", sql, Kind.OTHER) for place, sql in enumerate([*keys, *values])]
    nulls = NullPolicy.DISTINCT if frame.solo and frame.keys else NullPolicy.EQUAL
    person = Chosen("e", frame.entity, Kind.OTHER)
    with coded_rows(engine, Relation(frame.source, (), ""), chosen, person) as (bench, coded):
        try:
            events = occurrences_of(bench, coded, range(len(keys)), 2, nulls, repeats=False, events=len(keys))
            found = CountedPersons(coded.rows, coded.persons, events.events, events.alike())
            found.search(events, wanted, _held(events, coded.source, len(keys)) if values else None)
        finally:
            drop_occurrences(bench)
            bench.drop(f"sqlaudit_events_held_{_PLACE}")
    return found


def reading_of(engine: Engine, frame: Frame) -> Statement:
    """The statement that reads the table of a frame to count what persons' events tell, for `--dry-run`."""
    assert frame.entity is not None
    columns = [*(frame.keys or ("1",)), *([frame.sensitive] if frame.sensitive is not None else [])]
    chosen = [Chosen(f"q{place}", sql, Kind.OTHER) for place, sql in enumerate(columns)]
    return reading(engine, Relation(frame.source, (), ""), chosen, Chosen("e", frame.entity, Kind.OTHER))


def _held(events: Occurrences, source: Raw, place: int) -> Raw:
    return events.keep(f"held_{_PLACE}", "events_held", source=source, column=Raw(f"c{place}"))


def _curve(levels: Levels, most: int, drawn: frozenset[int]) -> Iterator[Known]:
    """As far as sets are asked for, and farther where those drawn are few enough to count."""
    for one in levels.curve(max(most, *drawn, 1)):
        yield one
        few = [size for size in drawn if levels.sets_of_persons(size) <= COUNTED]
        if one.known >= max([most, *few]):
            return
