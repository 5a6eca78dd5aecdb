"""Figures on known events: unicity, coherence with sensitive values, the most revealing events, facts for models."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb, sqrt
from typing import Any

from sqlaudit.base.errors import Stop, never
from sqlaudit.base.relation import Kind, Relation, Statement
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.facts import Frame
from sqlaudit.column_sets.counting import Chosen, Coded
from sqlaudit.engines.contract import Engine
from sqlaudit.events.occurrences import (
    COUNTED,
    Levels,
    Occurrences,
    Watcher,
    coded_rows,
    contributions_of,
    drop_occurrences,
    occurrences_from,
    occurrences_of,
    reading,
)
from sqlaudit.events.result import Coherence, PersonAtRisk, PersonsFound, RevealingColumn, RevealingValue
from sqlaudit.models.people import KnownEvents, PeopleFigures, Profile, RandomEvents, ValueDisclosure
from sqlaudit.models.persons import PersonsWanted, covers

# Unicity: how often events drawn at random single a person out (de Montjoye and others, Scientific Reports 2013).

_NORMAL = 1.959963984540054
"""The quantile of the normal distribution for 95%."""


def counted(by_number: Mapping[int, int], shared: Mapping[int, Mapping[int, int]], size: int) -> Fraction:
    """The exact expected share of people whom so many of their events, drawn at random (or all), single out.

    Args:
        by_number: people by their number of events.
        shared: for each size of sets and number of events of a person, the number of sets that others have, too.

    Example:
        >>> counted({2: 3}, {1: {2: 4}}, 1)
        Fraction(1, 3)
    """
    persons = sum(by_number.values())
    both = Fraction(0)
    for events in by_number:
        drawn = min(size, events)
        both += Fraction(shared.get(drawn, {}).get(events, 0), comb(events, drawn))
    return 1 - both / persons if persons else Fraction(0)


def wilson(hits: int, draws: int) -> tuple[float, float]:
    """The 95% confidence interval of a share (Wilson 1927).

    Example:
        >>> [round(end, 4) for end in wilson(50, 100)]
        [0.4038, 0.5962]
    """
    share, square = hits / draws, _NORMAL**2
    middle = (share + square / (2 * draws)) / (1 + square / draws)
    half = _NORMAL * sqrt(share * (1 - share) / draws + square / (4 * draws**2)) / (1 + square / draws)
    return middle - half if hits else 0.0, middle + half if hits < draws else 1.0


def singled_out(
    occurrences: Occurrences, levels: Levels, curve: Sequence[KnownEvents], size: int, draws: int, seed: int
) -> RandomEvents:
    """The figures on people whom so many random events single out; exact where all sets are counted.

    Args:
        curve: the figures of the search over sets. draws, seed: of people, where they are sampled.
    """
    if covers(curve, size) and levels.sets_of_persons(size) <= COUNTED:
        share = counted(levels.by_number, levels.shared, size)
        return RandomEvents(size, float(share), float(share), float(share), False, share)
    return sampled(occurrences, levels, size, draws, seed)


def sampled(occurrences: Occurrences, levels: Levels, size: int, draws: int, seed: int) -> RandomEvents:
    """Return the figures from people sampled without replacement, one sample of events each, with an interval."""
    persons = sum(levels.by_number.values())
    chance = random.Random(seed)
    places = sorted(chance.sample(range(persons), min(draws, persons)))
    bench = occurrences.bench
    name = "sqlaudit_events_drawn"
    try:
        drawn = bench.keep_rows(name, [("place", "BIGINT")], [[(position,) for position in places]])
        numbers = occurrences.ask("events_drawn_persons", state=levels.state, drawn=drawn)
        rows = [(int(position), *_positions(chance, int(events), size)) for position, events in numbers]
        columns = [("place", "BIGINT"), *((f"d{at}", "BIGINT") for at in range(1, size + 1))]
        drawn = bench.keep_rows(name, columns, [rows])
        both = occurrences.ask("events_drawn_alone", state=levels.state, drawn=drawn, size=size)[0][0]
    finally:
        bench.drop(name)
    alone = len(places) - int(both)
    share = alone / len(places)
    return RandomEvents(size, share, *wilson(alone, len(places)), True, Fraction(share))


def _positions(chance: random.Random, events: int, size: int) -> list[int]:
    """Positions of drawn events; where a person has fewer, the first is repeated, which adds nothing."""
    chosen = sorted(chance.sample(range(events), min(size, events)))
    return chosen + [chosen[0]] * (size - len(chosen))


# What known events reveal about a sensitive value.
#
# (h,k,p)-coherence: Xu, Wang, Fu and Yu, *Anonymizing transaction databases for publication*, KDD 2008.
# An attacker who knows a set of events of a person considers all people who have it: their number, and how many have
# the same value. A set of one person alone reveals it for certain; no larger set reveals more.


@dataclass
class Learning(Watcher):
    """What the sets of one search reveal about one sensitive column.

    Args:
        occurrences: the events of each person. held: (person, value), each pair once.
        sensitive, place: the column's name and position. persons: all people. h: the largest allowed share of a value.
        mixed: whether the sets have sensitive values beside events, with numbers of their own.
        curve: the figures by number of known events.
    """

    occurrences: Occurrences
    held: Raw
    sensitive: str
    place: int
    persons: int
    h: Fraction
    mixed: bool = False
    curve: list[ValueDisclosure] = field(default_factory=list)
    _share: Fraction = Fraction(0)
    _told: Raw = field(default_factory=lambda: Raw(""))

    def __post_init__(self) -> None:
        self._told = self._keep("told", "events_told_nobody")

    def look(self, size: int, sets: Raw) -> None:
        parameters = {"size": size, "sets": sets, "held": self.held, "mixed": self.mixed}
        alone = self._keep("alone", "events_learnt_alone", **parameters)
        if self.occurrences.ask("events_some", relation=alone):
            self._share = Fraction(1)
        allowed, denominator, least = limit_in_integers(self.h, self.persons)
        limit = {"allowed": allowed, "whole": denominator, "least": least, "told": self._told, "alone": alone}
        # when the largest share is known, only sets of people who are not told yet can add something
        learnt = self._keep("learnt", "events_learnt", remaining=self._share == 1, **parameters, **limit)
        for most, persons in self.occurrences.ask("events_learnt_shares", learnt=learnt):
            self._share = max(self._share, Fraction(int(most), int(persons)))
        self._told = self._keep("told", "events_told", size=size, learnt=learnt, **limit)

    def take(self, figures: KnownEvents, state: Raw) -> None:
        certain, exposed = self.occurrences.ask("events_told_curve", size=figures.known, state=state, told=self._told)[
            0
        ]
        self.curve.append(
            ValueDisclosure(figures.known, figures.smallest, self._share, int(exposed), int(certain), figures.exact)
        )

    def found(self) -> Coherence:
        """The noted figures, with the prior."""
        most = self.occurrences.ask("events_prior", held=self.held)[0][0]
        return Coherence(self.sensitive, Fraction(int(most or 0), max(self.persons, 1)), tuple(self.curve))

    def close(self) -> None:
        for name in ("told", "learnt", "alone"):
            self.occurrences.drop(f"{name}_{self.place}")

    def _keep(self, name: str, template: str, **parameters: object) -> Raw:
        return self.occurrences.keep(f"{name}_{self.place}", template, **parameters)


Held = Sequence[tuple[int, Raw]]
"""The positions of sensitive columns, and the values of each person."""


def mixed_occurrences(occurrences: Occurrences, helds: Held, k: int) -> Occurrences:
    """Events and sensitive values together, for attackers who know some of both.

    ρ-uncertainty: Cao, Karras, Raïssi and Tan, *ρ-uncertainty: inference-proof transaction anonymization*, VLDB 2010.
    """
    dictionary = occurrences.keep("mixed_dictionary", "events_mixed_dictionary", helds=helds)
    person_events = occurrences.keep("mixed_own", "events_mixed_own", helds=helds, mixed=dictionary)
    return occurrences_from(occurrences.bench, person_events, dictionary, k, repeats=occurrences.repeats)


def limit_in_integers(h: Fraction, persons: int) -> tuple[int, int, int]:
    """(a, b, least), so that `b * holders - a * all >= least` means holders / all > h, for up to so many people.

    h may have any number of digits, while shares are fractions of numbers of people. No such share lies between h and
    the nearest one, which replaces h: allowed itself if it is below h, too large if it is above.

    Example:
        >>> limit_in_integers(Fraction(4, 5), 10), limit_in_integers(Fraction("0.33333"), 10)
        ((4, 5, 1), (1, 3, 0))
    """
    nearest = h.limit_denominator(max(persons, 1))
    return nearest.numerator, nearest.denominator, 1 if nearest <= h else 0


# What models ask of persons and their events, counted for their judges: audits, nodes of a lattice.

DRAWS = 10_000
"""People sampled where there are too many sets to count all."""
_PLACE = 900
"""Relations of values that a model asks about are numbered from here."""


@dataclass(frozen=True)
class CountedPersons(PeopleFigures):
    """The figures on people, counted as far as they are wanted.

    Args:
        drawn, seed: people sampled where there are too many sets to count all.
    """

    drawn: int = DRAWS
    seed: int = 0

    def found(self) -> PersonsFound:
        """Return the counts as figures of a result; of several curves the strictest."""
        k = max(self.curves, default=None)
        random = tuple(self.draws[number] for number in sorted(self.draws))
        curve = () if k is None else tuple(self.curves[k])
        profile = Profile.of(self.group_sizes, k or 2)
        return PersonsFound(self.persons, self.rows, self.events, k, profile, curve, random)

    def search(
        self, events: Occurrences, asked_of_persons: PersonsWanted, values: Raw | None = None, stop: Stop = never
    ) -> None:
        """Count the wanted sets of events that are not counted yet, in one search for each k; the first one also counts
        random events.

        Args:
            events: the events of each person. asked_of_persons: the sets, and the smallest allowed numbers.
            values: the sensitive values of each person. stop: whether the time is used up.
        """
        asked_of_persons = self._missing(asked_of_persons)
        limits = {*asked_of_persons.known, *(k for k, _ in asked_of_persons.disclosure)} or (
            {2} if asked_of_persons.drawn else set()
        )
        for index, k in enumerate(sorted(limits, reverse=True)):
            self._search(
                events.with_limit(k),
                k,
                asked_of_persons,
                asked_of_persons.drawn if index == 0 else frozenset(),
                values,
                stop,
            )

    def _missing(self, asked_of_persons: PersonsWanted) -> PersonsWanted:
        sizes = {k: most for k, most in asked_of_persons.known.items() if not _reaches(self.curves.get(k, ()), most)}
        sizes_of_values = {
            kh: most for kh, most in asked_of_persons.disclosure.items() if not _reaches(self.learnt.get(kh, ()), most)
        }
        return PersonsWanted(sizes, asked_of_persons.drawn - self.draws.keys(), sizes_of_values)

    def _search(
        self,
        events: Occurrences,
        k: int,
        asked_of_persons: PersonsWanted,
        drawn: frozenset[int],
        values: Raw | None,
        stop: Stop,
    ) -> None:
        """Search the events that expose people, and keep the curve and the draws that requirements need."""
        sizes_by_share = (
            {h: number for (limit, h), number in asked_of_persons.disclosure.items() if limit == k}
            if values is not None
            else {}
        )
        learning = {
            h: Learning(events, values, "", _PLACE + index, self.persons, h)
            for index, h in enumerate(sizes_by_share)
            if values is not None
        }
        most = max([asked_of_persons.known.get(k, 1), *sizes_by_share.values()])
        with closing(Levels(events, k, stop, max(drawn, default=0), tuple(learning.values()))) as levels:
            curve = tuple(_curve(levels, most, drawn))
            if drawn and events.pairs:
                for size in sorted(drawn):
                    self.draws[size] = singled_out(events, levels, curve, size, self.drawn, self.seed)
        self.learnt.update({(k, h): tuple(watcher.curve[: sizes_by_share[h]]) for h, watcher in learning.items()})
        if k in asked_of_persons.known:
            self.curves[k] = curve[: asked_of_persons.known[k]]


def _reaches(curve: Sequence[KnownEvents] | Sequence[ValueDisclosure], most: int) -> bool:
    """Return True if a curve covers so many events, or ended before at the time limit."""
    return len(curve) >= most or (bool(curve) and not curve[-1].exact)


def count_persons(engine: Engine, frame: Frame, asked_of_persons: PersonsWanted) -> CountedPersons:
    """Count the wanted figures on the people of a table.

    Args:
        engine: the engine of the table. frame: its rows; an event is a combination of the keys, the entity is a person.
        asked_of_persons: the sets of events, and the smallest allowed numbers.

    Raises:
        UsageError: rows without a person.
        EngineError: the database refused a statement, failed or disconnected.
    """
    relation, chosen, person = _columns(frame, with_sensitive=bool(asked_of_persons.disclosure))
    keys = max(len(frame.keys), 1)
    nulls = NullPolicy.DISTINCT if frame.solo and frame.keys else NullPolicy.EQUAL
    with coded_rows(engine, relation, chosen, person) as (bench, coded):
        try:
            events = occurrences_of(bench, coded, range(keys), 2, nulls, repeats=False, events=keys)
            people_by_group = events.alike()
            contributed = contributions_of(bench, coded, keys) if asked_of_persons.contributions else {}
            counted_persons = CountedPersons(
                coded.rows, coded.persons, events.events, people_by_group, contributed=contributed
            )
            values = None
            if len(chosen) > keys:
                parameters: dict[str, object] = {"source": coded.source, "column": Raw(f"c{keys}"), "static": ()}
                values = events.keep(f"held_{_PLACE}", "events_held", **parameters)
            counted_persons.search(events, asked_of_persons, values)
        finally:
            drop_occurrences(bench)
            bench.drop(f"sqlaudit_events_held_{_PLACE}")
    return counted_persons


def reading_of(engine: Engine, frame: Frame) -> Statement:
    """The statement that reads the events of a frame's table, for `--dry-run`."""
    return reading(engine, *_columns(frame, with_sensitive=True))


def _columns(frame: Frame, *, with_sensitive: bool) -> tuple[Relation, list[Chosen], Chosen]:
    """A frame's rows, their columns (the sensitive one where `with_sensitive` is wanted), and the person of a row."""
    assert frame.entity is not None
    columns = [*(frame.keys or ("1",))]  # where nothing is known, all events are one
    columns += [frame.sensitive] if with_sensitive and frame.sensitive is not None else []
    chosen = [Chosen(f"q{position}", sql, Kind.OTHER) for position, sql in enumerate(columns)]
    return Relation(frame.source, (), ""), chosen, Chosen("e", frame.entity, Kind.OTHER)


def _curve(levels: Levels, most: int, drawn: frozenset[int]) -> Iterator[KnownEvents]:
    """The largest size of sets that is required, or larger where random sets are few enough to count."""
    for figures in levels.curve(max(most, *drawn, 1)):
        yield figures
        countable_sizes = [size for size in drawn if levels.sets_of_persons(size) <= COUNTED]
        if figures.known >= max([most, *countable_sizes]):
            return


# Which events tell most: values of columns in many minimal sets, and the persons whom the fewest events single out.

MOST_VALUES = 10
"""The number of values of a column in the report."""


@dataclass(frozen=True)
class CellsBehind:
    """The cells behind codes, when values may be shown.

    Args:
        engine: the engine of the relation. bench: that of its codes. relation: the coded table. coded: its codes.
    """

    engine: Engine
    bench: Engine
    relation: Relation
    coded: Coded

    def of(self, column: Chosen, code: str, codes: Sequence[int]) -> dict[int, str | None]:
        """The values of a column by some of its codes; codes have the order of values, so that positions find them.

        Args:
            code: the column's name among the codes.
        """
        wanted_codes = sorted({code_number for code_number in codes if code_number})
        if not wanted_codes:
            return {0: None}

        def ask(engine: Engine, template: str, **parameters: Any) -> dict[int, Any]:
            return dict(engine.run(render(f"events/{template}.sql", engine.dialect, **parameters)))

        places = ask(self.bench, "events_code_places", source=self.coded.source, column=Raw(code), codes=wanted_codes)
        source, column_of = self.relation, column
        cells = ask(self.engine, "events_values_at", source=source, column=column_of, places=sorted(places.values()))
        return {0: None} | {number: str(cells[position]) for number, position in places.items()}


class Tally(Watcher):
    """The number of minimal sets below k of each event.

    Args:
        occurrences: the events of each person, with separate columns. k: people who must share a set.
    """

    def __init__(self, occurrences: Occurrences, k: int) -> None:
        self.occurrences, self.k = occurrences, k
        self._tally = occurrences.keep("tally", "events_tally_nothing")

    def look(self, size: int, sets: Raw) -> None:
        self._tally = self.occurrences.keep("tally", "events_tally", tally=self._tally, size=size, sets=sets, k=self.k)

    def columns(self, chosen: Sequence[Chosen], values: CellsBehind | None) -> Iterator[RevealingColumn]:
        """The columns with the figures of their values; with the values themselves where these may be shown."""
        names = self.occurrences.names()
        for position, column in enumerate(chosen):
            parameters = {"tally": self._tally, "names": names, "key": Raw(f"k{position}"), "top": MOST_VALUES}
            rows = self.occurrences.ask("events_tally_column", **parameters)
            telling, half = (int(rows[0][0]), int(rows[0][1])) if rows else (0, 0)
            cells = {} if values is None else values.of(column, f"c{position}", [int(row[2]) for row in rows])
            top = tuple(RevealingValue(cells.get(int(code)), int(sets)) for _, _, code, sets in rows) if values else ()
            yield RevealingColumn(column.name, telling, half, top)

    def close(self) -> None:
        self.occurrences.drop("tally")


def most_at_risk(
    occurrences: Occurrences, state: Raw, top: int, chosen: Sequence[Chosen], person: Chosen, values: CellsBehind | None
) -> Iterator[PersonAtRisk]:
    """The people whom the fewest events single out, then those whom the fewest expose.

    Args:
        occurrences: the events of each person, with separate columns. state: people with that number of events.
        top: the number of people. chosen: the columns of events. values: the cells, when values may be shown.
    """
    at_risk = occurrences.keep("at_risk", "events_at_risk", state=state, top=top)
    people = occurrences.ask("events_at_risk_rows", at_risk=at_risk)
    sets = dict(_telling_sets(occurrences, at_risk, {int(row[3]) for row in people if row[3] is not None}))
    keys: dict[int, str | None] = {}
    cells_of_event: dict[int, tuple[str | None, ...]] = {}
    if values is not None:
        keys = values.of(person, "e", [int(row[0]) for row in people])
        cells_of_event = _events_in_cells(
            occurrences, chosen, values, sorted({event for _, events in sets.values() for event in events})
        )
    for who, events, exposed, alone in people:
        number, telling = sets.get(int(who), (0, ()))
        yield PersonAtRisk(
            None if alone is None else int(alone),
            int(exposed),
            int(events),
            number,
            keys.get(int(who)),
            tuple(cells_of_event[event] for event in telling) if values is not None else (),
        )


def _telling_sets(
    occurrences: Occurrences, at_risk: Raw, sizes: set[int]
) -> Iterator[tuple[int, tuple[int, tuple[int, ...]]]]:
    for size in sorted(sizes):
        for person, sets, *events in occurrences.ask("events_telling_sets", at_risk=at_risk, size=size):
            yield int(person), (int(sets), tuple(abs(int(event)) for event in events))


def _events_in_cells(
    occurrences: Occurrences, chosen: Sequence[Chosen], values: CellsBehind, events: Sequence[int]
) -> dict[int, tuple[str | None, ...]]:
    """Return the cells of these events, one a column, by the number of the event."""
    if not events:
        return {}
    keys = Raw(", ".join(f"k{position}" for position in range(len(chosen))))
    rows = occurrences.ask("events_event_codes", names=occurrences.names(), keys=keys, events=events)
    cells = [
        values.of(column, f"c{position}", [int(row[1 + position]) for row in rows])
        for position, column in enumerate(chosen)
    ]
    return {int(event): tuple(cells[at][int(code)] for at, code in enumerate(codes)) for event, *codes in rows}
