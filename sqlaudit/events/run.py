"""From a table of events to what somebody learns who knows some of them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.spec import NullPolicy, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.column_sets.budget import Stop, at_once, until
from sqlaudit.column_sets.coding import Coded
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.provenance import provenance
from sqlaudit.events.coherence import Held, Learning, mixed_held, mixed_occurrences
from sqlaudit.events.facts import CountedPersons
from sqlaudit.events.levels import Levels, Watcher
from sqlaudit.events.nearness import kept_spans, near_occurrences, span_name, span_statement
from sqlaudit.events.occurrences import (
    Occurrences,
    check_moments,
    check_static,
    coded_rows,
    drop_occurrences,
    occurrences_of,
    reading,
)
from sqlaudit.events.request import PersonsRequest
from sqlaudit.events.result import Drawn, Known, Learnt, PersonAtRisk, PersonsResult, Profile, WithoutColumn
from sqlaudit.events.sources import EventSource, source_of
from sqlaudit.events.telling import CellsBehind, Tally, most_at_risk
from sqlaudit.events.tolerance import tolerated
from sqlaudit.events.unicity import singled_out

if TYPE_CHECKING:
    from sqlaudit.models.check import Check
    from sqlaudit.models.judge import Asked


def find_persons(engine: Engine, target: Target | Relation, request: PersonsRequest) -> PersonsResult:
    """Tell how easily persons are found by what is known of their events.

    Args:
        engine: an open engine. target: a table with a row for each event.
        request: what an event is, how much is known, what is too few.

    Raises:
        UsageError: an unknown column, rows without a person, static values that change.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd
        >>> from sqlaudit.engines import connect
        >>> visits = pd.DataFrame({"who": [1, 1, 2, 2, 3, 3], "clinic": list("ababac")})
        >>> with connect() as engine:
        ...     request = PersonsRequest(entity="who", qi=("clinic",), k=2)
        ...     found = find_persons(engine, Target(frame=visits), request)
        >>> [(one.known, one.smallest, one.exposed_persons) for one in found.curve]
        [(1, 1, 1), (2, 1, 1)]
    """
    already = len(engine.executed)
    begun = time.monotonic()
    asked = _asked(request)
    source = source_of(engine, target, request)
    _refuse_spellings(engine, source, asked)
    within = tolerated(source.chosen, source.events, request.tolerance)
    stop = until(begun, request.time_budget)
    ends = None if request.time_budget is None else begun + request.time_budget
    with coded_rows(engine, source.relation, source.chosen, source.person) as (bench, coded):
        check_static(bench, coded, source.chosen, source.static)
        check_moments(coded, source.chosen, source.moment)
        values = CellsBehind(engine, bench, source.relation, coded)
        search = _Findings(bench, coded, request, source, stop, ends, values, asked)
        try:
            search.spans |= kept_spans(engine, bench, source.relation, source.chosen, within)
            found = search.result()
        finally:
            search.close()
    return replace(found, **provenance(engine, already))


def plan_persons(
    engine: Engine, target: Target | Relation, request: PersonsRequest
) -> tuple[tuple[str, ...], list[Statement]]:
    """The tables that are read, and the statement that reads them, for `--dry-run`.

    All other statements read the numbers that it makes.

    Raises:
        UsageError: an unknown column.
    """
    _asked(request)
    source = source_of(engine, target, request, check=False)
    within = tolerated(source.chosen, source.events, request.tolerance)
    statements = [reading(engine, source.relation, source.chosen, source.person)]
    statements += [span_statement(engine, source.relation, source.chosen[place], one) for place, one in within.items()]
    return source.relation.tables, statements


def _refuse_spellings(engine: Engine, source: EventSource, asked: Sequence[Asked]) -> None:
    """What is required of persons and of sensitive values must not be found in spellings of one.

    Raises:
        UsageError: it may be.
    """
    if not asked:
        return
    from sqlaudit.classes.persons_spelled import refuse_respelled
    from sqlaudit.classes.spellings import TEXTS, refuse_spellings

    persons = [(source.relation, source.person)]
    refuse_respelled(engine, source.person.name, persons, asked[0].requirement.text)
    required = [item.requirement.text for item in asked if item.model.needs_sensitive]
    for one in source.chosen[source.quasi : source.told]:
        if required and one.kind in TEXTS:
            refuse_spellings(engine, one.name, [(source.relation.sql, one.sql)], required[0])


def _asked(request: PersonsRequest) -> list[Asked]:
    """The models that are required, if any is."""
    if not request.requirements:
        return []
    from sqlaudit.events.required import asked_of

    return asked_of(request)


class _Findings:
    """One table's events, and the questions about them."""

    def __init__(
        self,
        bench: Engine,
        coded: Coded,
        request: PersonsRequest,
        source: EventSource,
        stop: Stop,
        ends: float | None,
        values: CellsBehind,
        asked: Sequence[Asked],
    ) -> None:
        self.bench, self.coded, self.request, self.source = bench, coded, request, source
        names = tuple(one.name for one in source.chosen)
        self.names, self.sensitive = names[: source.quasi], names[source.quasi : source.told]
        self.events, self.stop, self.ends, self.asked = source.events, stop, ends, asked
        self.by_hand = False
        self.spans: dict[int, Raw] = {}
        self.values = values if request.show_values else None

    def result(self) -> PersonsResult:
        """Everything that was asked, without where it comes from."""
        request, every = self.request, range(len(self.names))
        occurrences = self._occurrences(every)
        helds = tuple(self._held(occurrences))
        profile = _profile(occurrences, request.k)
        learning = self._learning(occurrences, helds)
        tally = Tally(occurrences, request.k) if request.effects else None
        watchers = tuple(one.look for one in (*learning, *([tally] if tally else ())))
        levels = self._levels(occurrences, watchers, shared_draws=bool(request.random))
        try:
            curve = []
            for known in levels.curve(max(request.known, 1)):
                curve.append(known)
                for one in learning:
                    one.take(known, levels.state)
            self._look(levels)
            draws = tuple(self._random(occurrences, levels, curve))
            by_number = levels.by_number
            coherence = tuple(one.found() for one in learning)
            described = self.source.chosen[: self.events]
            telling = tuple(tally.columns(described, self.values)) if tally else ()
            at_risk = tuple(self._at_risk(occurrences, levels.state)) if request.records and not self.by_hand else ()
        finally:
            levels.close()
            for one in (*learning, *([tally] if tally else ())):
                one.close()
        if request.rho and not self.by_hand:
            rows = self._uncertainty(occurrences, helds)
            coherence = tuple(replace(one, uncertainty=row) for one, row in zip(coherence, rows, strict=True))
        static_k = self._static_k()
        checks = self._checks(occurrences, helds, curve, draws, profile)
        events, pairs = occurrences.events, occurrences.pairs
        effects = tuple(self._effects(len(curve))) if request.effects else ()
        return PersonsResult(
            target=self.source.label,
            entity=self.source.person.name,
            columns=self.names[: self.events],
            static=self.names[self.events :],
            static_from=self.source.static_from,
            k=request.k,
            h=request.h,
            multiset=request.multiset,
            tolerance=tuple((one.column, one.within) for one in request.tolerance),
            sequence="" if self.source.moment is None else self.source.chosen[self.source.moment].name,
            nulls=request.nulls.value,
            rows=self.coded.rows,
            persons=self.coded.persons,
            events=events,
            pairs=pairs,
            by_number=by_number,
            profile=profile,
            curve=tuple(curve),
            random=tuple(drawn for drawn, _ in draws),
            static_k=static_k,
            effects=effects,
            coherence=coherence,
            telling=telling,
            most_at_risk=at_risk,
            checks=checks,
            _by_hand=self.by_hand,
        )

    def _levels(self, occurrences: Occurrences, watchers: Sequence[Watcher], *, shared_draws: bool = False) -> Levels:
        """A search that the end of the time, or somebody, ends with what is proven."""
        asked, ends = self.request, self.ends
        return Levels(occurrences, asked.k, self.stop, shared_draws, watchers, ends=ends, stoppable=True)

    def _look(self, levels: Levels) -> None:
        """Ask for nothing more when somebody stopped the search."""
        if levels.by_hand:
            self.by_hand, self.stop = True, at_once

    def close(self) -> None:
        """Release what was kept."""
        drop_occurrences(self.bench)
        for place in range(self.events):
            self.bench.drop(span_name(place))
        places = range(len(self.names), len(self.names) + len(self.sensitive))
        of_values = (f"{name}_{place}" for name in ("held", "mixed_held") for place in places)
        for name in ("mixed_own", "mixed_dictionary", *of_values):
            self.bench.drop(f"sqlaudit_events_{name}")

    def _at_risk(self, occurrences: Occurrences, state: Raw) -> Iterator[PersonAtRisk]:
        described, person = self.source.chosen[: self.events], self.source.person
        return most_at_risk(occurrences, state, self.request.records, described, person, self.values)

    def _occurrences(self, columns: Sequence[int]) -> Occurrences:
        request = self.request
        coarser = sum(1 << at for _, at in self.source.coarser.values())
        plain = occurrences_of(
            self.bench,
            self.coded,
            columns,
            request.k,
            request.nulls,
            repeats=request.multiset,
            events=self.events,
            apart=request.near or bool(request.records) or request.effects,
            more=coarser,
            moment=self.source.moment,
        )
        if not request.near:
            return plain
        wild = self.coded.nullable & ((1 << self.events) - 1 | coarser) if request.nulls is NullPolicy.WILDCARD else 0
        return near_occurrences(plain, columns, self.spans, wild, request.k)

    def _held(self, occurrences: Occurrences) -> Iterator[tuple[int, Raw]]:
        for place in range(len(self.names), len(self.names) + len(self.sensitive)):
            column = Raw(f"c{place}")
            yield place, occurrences.keep(f"held_{place}", "events_held", source=self.coded.source, column=column)

    def _learning(self, occurrences: Occurrences, helds: Held, *, mixed: bool = False) -> tuple[Learning, ...]:
        persons, h = self.coded.persons, self.request.h
        return tuple(
            Learning(occurrences, held, name, place, persons, h, mixed)
            for name, (place, held) in zip(self.sensitive, helds, strict=True)
        )

    def _uncertainty(self, occurrences: Occurrences, helds: Held) -> list[tuple[Learnt, ...]]:
        mixed = mixed_occurrences(occurrences, helds, self.request.k)
        values = [(place, mixed_held(mixed, place, held)) for place, held in helds]
        learning = self._learning(mixed, values, mixed=True)
        levels = self._levels(mixed, tuple(one.look for one in learning))
        try:
            for known in levels.curve(self.request.known):
                for one in learning:
                    one.take(known, levels.state)
            self._look(levels)
            return [one.curve for one in learning]
        finally:
            levels.close()
            for one in learning:
                one.close()

    def _random(
        self, occurrences: Occurrences, levels: Levels, curve: Sequence[Known]
    ) -> Iterator[tuple[Drawn, Fraction]]:
        if not self.coded.persons or self.by_hand:
            return
        for size in range(1, self.request.random + 1):
            yield singled_out(occurrences, levels, curve, size, self.request.draws, self.request.seed)

    def _checks(
        self,
        occurrences: Occurrences,
        helds: Held,
        curve: Sequence[Known],
        draws: Sequence[tuple[Drawn, Fraction]],
        profile: Profile,
    ) -> tuple[Check, ...]:
        """What is required, judged; what was counted already is not counted again."""
        if not self.asked or self.by_hand:
            return ()
        from sqlaudit.events.required import checks_of

        counted = CountedPersons(
            self.coded.rows,
            self.coded.persons,
            occurrences.events,
            profile.sizes,
            {self.request.k: tuple(curve)},
            draws={drawn.known: (drawn, share) for drawn, share in draws if not drawn.sampled},
            near=occurrences.near,
            drawn=self.request.draws,
            seed=self.request.seed,
        )
        return tuple(checks_of(self.asked, counted, occurrences, helds, self.sensitive, self.stop))

    def _static_k(self) -> int | None:
        if self.events == len(self.names):
            return None
        mask = sum(1 << place for place in range(self.events, len(self.names)))
        statement = render(
            "events/events_static_classes.sql",
            self.bench.dialect,
            source=self.coded.source,
            packed=self.coded.keys(mask),
        )
        return int(self.bench.run(statement)[0][0] or 0)

    def _effects(self, known: int) -> Iterator[WithoutColumn]:
        for place, name in enumerate(self.names):
            rest = [other for other in range(len(self.names)) if other != place]
            if not rest:
                return
            found = self._with_columns(rest, known)
            if found is None:
                return
            effect = WithoutColumn(name, found[0].exposed_persons, found[0].unique_persons, found[1].k)
            yield self._coarsened(effect, place, rest, known)

    def _coarsened(self, effect: WithoutColumn, place: int, rest: Sequence[int], known: int) -> WithoutColumn:
        words, at = self.source.coarser.get(place, ("", 0))
        found = self._with_columns([*rest, at], known) if words else None
        if found is None:
            return effect
        exposed, unique = found[0].exposed_persons, found[0].unique_persons
        return replace(effect, coarsening=words, coarser_exposed_persons=exposed, coarser_unique_persons=unique)

    def _with_columns(self, columns: Sequence[int], known: int) -> tuple[Known, Profile] | None:
        """What these columns tell with so many known events, and with all; None when time was up before."""
        if self.stop():
            return None
        occurrences = self._occurrences(columns)
        levels = self._levels(occurrences, ())
        try:
            curve = list(levels.curve(known))
            self._look(levels)
        finally:
            levels.close()
        return (curve[-1], _profile(occurrences, self.request.k)) if curve[-1].exact else None


def _profile(occurrences: Occurrences, k: int) -> Profile:
    if occurrences.near:
        return Profile.of_fits({int(fit): int(persons) for fit, persons in occurrences.ask("events_near_profiles")}, k)
    return Profile.of(occurrences.alike(), k)
