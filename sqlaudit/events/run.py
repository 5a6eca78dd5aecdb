"""From a table of events to what someone who knows some of them learns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from sqlaudit.base.errors import Stop, UsageError, at_once, until, verdict
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.opening import ColumnValues, refuse_spelling_conflicts
from sqlaudit.column_sets.counting import Coded
from sqlaudit.engines.command import command
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.events.occurrences import (
    Levels,
    Occurrences,
    Watcher,
    check_moments,
    check_static,
    coded_rows,
    contributions_of,
    drop_occurrences,
    kept_spans,
    near_occurrences,
    occurrences_of,
    reading,
    span_name,
    span_statement,
)
from sqlaudit.events.request import PersonsRequest, tolerated
from sqlaudit.events.result import Contribution, PersonAtRisk, PersonsResult, WithoutColumn
from sqlaudit.events.sources import EventSource, source_of
from sqlaudit.events.unicity import (
    CellsBehind,
    CountedPersons,
    Held,
    Learning,
    Tally,
    mixed_occurrences,
    most_at_risk,
    singled_out,
)
from sqlaudit.models.base import Check, Context
from sqlaudit.models.judge import Asked, check_of_people
from sqlaudit.models.people import KnownEvents, Profile, RandomEvents, ValueDisclosure
from sqlaudit.models.persons import PersonsWanted, persons_wanted
from sqlaudit.models.registry import OF_PERSONS


def find_persons(
    engine: Engine, request: PersonsRequest, announce: Callable[[int, int], None] | None = None
) -> PersonsResult:
    """Measure what someone who knows a few events of a person can learn.

    Args:
        engine: an open engine.
        request: the table of events, how many are known, and how many people must share them.
        announce: is called with a number of known events and of their sets before a count that takes minutes.

    Raises:
        UsageError: an unknown column, rows without a person, static values that change.
        EngineError: the database refused a statement, failed or disconnected.

    Example:
        >>> import pandas as pd
        >>> from sqlaudit.base.spec import Target
        >>> from sqlaudit.engines import connect
        >>> visits = pd.DataFrame({"who": [1, 1, 2, 2, 3, 3], "clinic": list("ababac")})
        >>> with connect() as engine:
        ...     request = PersonsRequest(target=Target(frame=visits), entity="who", qi=("clinic",), k=2)
        ...     found = find_persons(engine, request)
        >>> [(one.known, one.smallest, one.exposed_persons) for one in found.curve]
        [(1, 1, 1), (2, 1, 1)]
    """
    already = len(engine.executed)
    begun = time.monotonic()
    required = asked_of(request)
    source = source_of(engine, request)
    named = [ColumnValues(source.person.name, [(source.relation, source.person)], missing=False)]
    named += [
        ColumnValues(source.chosen[position].name, [(source.relation, source.chosen[position])])
        for position in source.sensitive
    ]
    refuse_spelling_conflicts(engine, named, request.values)
    within = tolerated(source.chosen, source.events, request.tolerance)
    stop = until(begun, request.time_budget)
    ends = None if request.time_budget is None else begun + request.time_budget
    with coded_rows(engine, source.relation, source.chosen, source.person) as (bench, coded):
        check_static(bench, coded, source.chosen, source.static)
        check_moments(coded, source.chosen, source.moment)
        values = CellsBehind(engine, bench, source.relation, coded) if request.show_values else None
        search = _Findings(bench, coded, request, source, stop, ends, values, required, announce=announce)
        try:
            search.spans |= kept_spans(engine, bench, source.relation, source.chosen, within)
            result = search.result()
        finally:
            search.close()
    return replace(result, **provenance(engine, already))


def plan_persons(engine: Engine, request: PersonsRequest) -> list[Statement]:
    """Return the statement that reads the tables, for `--dry-run`, and those that find the values within tolerances.

    All other statements read the numbers that the first one returns.

    Raises:
        UsageError: an unknown column.
    """
    asked_of(request)
    source = source_of(engine, request, check=False)
    within = tolerated(source.chosen, source.events, request.tolerance)
    spans = (
        span_statement(engine, source.relation, source.chosen[position], tolerance)
        for position, tolerance in within.items()
    )
    return [reading(engine, source.relation, source.chosen, source.person), *spans]


@dataclass
class _Findings:
    """The events of one table, and the questions about them."""

    bench: Engine
    coded: Coded
    request: PersonsRequest
    source: EventSource
    stop: Stop
    ends: float | None
    values: CellsBehind | None
    asked: Sequence[Asked]
    by_hand: bool = False
    announce: Callable[[int, int], None] | None = None
    spans: dict[int, Raw] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [column.name for column in self.source.chosen]
        self.names = tuple(names[: self.source.quasi])
        self.sensitive = tuple(names[position] for position in self.source.sensitive)
        self.events = self.source.events

    def result(self) -> PersonsResult:
        """All requested figures, without their provenance."""
        request, all_columns = self.request, range(len(self.names))
        occurrences = self._occurrences(all_columns)
        helds = tuple(self._held(occurrences))
        profile = _profile(occurrences, request.k)
        contributed = contributions_of(self.bench, self.coded, self.events)
        learning = self._learning(occurrences, helds)
        tally = Tally(occurrences, request.k) if request.effects else None
        watchers = learning if tally is None else (*learning, tally)
        with closing(self._levels(occurrences, watchers, shared_draws=request.random)) as levels:
            levels.announce = self.announce
            curve = self._search(levels, max(request.known, 1))
            draws = tuple(self._random(occurrences, levels, curve))
            coherence = tuple(watcher.found() for watcher in learning)
            described, person = self.source.chosen[: self.events], self.source.person
            telling = tuple(tally.columns(described, self.values)) if tally else ()
            at_risk: tuple[PersonAtRisk, ...] = ()
            if request.records and not self.by_hand:
                parameters = levels.state, request.records, described, person, self.values
                at_risk = tuple(most_at_risk(occurrences, *parameters))
        if request.rho and not self.by_hand:
            rows = self._uncertainty(occurrences, helds)
            coherence = tuple(replace(figures, uncertainty=row) for figures, row in zip(coherence, rows, strict=True))
        static_k = self._static_k()
        checks = self._checks(occurrences, helds, curve, draws, profile, contributed)
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
            tolerance=tuple((tolerance.column, tolerance.within) for tolerance in request.tolerance),
            sequence="" if self.source.moment is None else self.source.chosen[self.source.moment].name,
            nulls=request.nulls.value,
            rows=self.coded.rows,
            persons=self.coded.persons,
            events=occurrences.events,
            pairs=occurrences.pairs,
            by_number=levels.by_number,
            contribution=Contribution(*(max(contributed[unit], default=0) for unit in ("rows", "groups"))),
            profile=profile,
            curve=tuple(curve),
            random=tuple(draws),
            static_k=static_k,
            effects=effects,
            coherence=coherence,
            revealing_values=telling,
            most_at_risk=at_risk,
            checks=checks,
            _by_hand=self.by_hand,
        )

    def _levels(self, occurrences: Occurrences, watchers: Sequence[Watcher], *, shared_draws: int = 0) -> Levels:
        """A search that the time limit or the user may end, keeping what is proven."""
        request, ends = self.request, self.ends
        return Levels(occurrences, request.k, self.stop, shared_draws, watchers, ends=ends, stoppable=True)

    def _search(self, levels: Levels, most: int) -> list[KnownEvents]:
        """The figures for up to so many known events; a search that the user stopped ends all others."""
        curve = list(levels.curve(most))
        if levels.by_hand:
            self.by_hand, self.stop = True, at_once
        return curve

    def close(self) -> None:
        """Drop the kept relations."""
        drop_occurrences(self.bench)
        for position in range(self.events):
            self.bench.drop(span_name(position))
        names = ("held", "held_static", "mixed_held")
        of_values = (f"{name}_{position}" for name in names for position in self.source.sensitive)
        for name in ("mixed_own", "mixed_dictionary", *of_values):
            self.bench.drop(f"sqlaudit_events_{name}")

    def _occurrences(self, columns: Sequence[int]) -> Occurrences:
        """Return the occurrences of events in these columns, with tolerances if the request has them."""
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
            by_column=request.near or bool(request.records) or request.effects,
            further_events=coarser,
            moment=self.source.moment,
        )
        if not request.near:
            return plain
        wild = self.coded.nullable & ((1 << self.events) - 1 | coarser) if request.nulls is NullPolicy.WILDCARD else 0
        return near_occurrences(plain, columns, self.spans, wild, request.k)

    def _held(self, occurrences: Occurrences, static: Sequence[Raw] = ()) -> Iterator[tuple[int, Raw]]:
        """The sensitive values of each person, kept apart by static values."""
        name, parameters = "held_static" if static else "held", {"source": self.coded.source, "static": static}
        for position in self.source.sensitive:
            column = Raw(f"c{position}")
            yield position, occurrences.keep(f"{name}_{position}", "events_held", column=column, **parameters)

    def _learning(self, occurrences: Occurrences, helds: Held, *, mixed: bool = False) -> tuple[Learning, ...]:
        persons, h = self.coded.persons, self.request.h
        return tuple(
            Learning(occurrences, values, name, position, persons, h, mixed)
            for name, (position, values) in zip(self.sensitive, helds, strict=True)
        )

    def _uncertainty(self, occurrences: Occurrences, helds: Held) -> list[tuple[ValueDisclosure, ...]]:
        """Return what is disclosed to attackers who know events or sensitive values, for each attribute."""
        static = [Raw(f"c{position}") for position in range(self.events, len(self.names))]
        helds = tuple(self._held(occurrences, static)) if static else helds
        mixed = mixed_occurrences(occurrences, helds, self.request.k)
        values = [
            (
                position,
                mixed.keep(
                    f"mixed_held_{position}",
                    "events_mixed_held",
                    mixed=mixed.dictionary,
                    place=position,
                    held=values_of_persons,
                ),
            )
            for position, values_of_persons in helds
        ]
        learning = self._learning(mixed, values, mixed=True)
        with closing(self._levels(mixed, learning)) as levels:
            self._search(levels, self.request.known)
        return [tuple(watcher.curve) for watcher in learning]

    def _random(self, occurrences: Occurrences, levels: Levels, curve: Sequence[KnownEvents]) -> Iterator[RandomEvents]:
        if not self.coded.persons or self.by_hand:
            return
        most, figures = max(levels.by_number, default=0), None
        for size in range(1, self.request.random + 1):
            if figures is None or size <= most:
                figures = singled_out(occurrences, levels, curve, size, self.request.draws, self.request.seed)
            yield replace(figures, known=size)  # no one has more events to draw

    def _checks(
        self,
        occurrences: Occurrences,
        helds: Held,
        curve: Sequence[KnownEvents],
        draws: Sequence[RandomEvents],
        profile: Profile,
        contributed: Mapping[str, Mapping[int, int]],
    ) -> tuple[Check, ...]:
        """The verdicts on the requirements; nothing is counted twice."""
        if not self.asked or self.by_hand:
            return ()
        figures = CountedPersons(
            self.coded.rows,
            self.coded.persons,
            occurrences.events,
            profile.sizes,
            {self.request.k: tuple(curve)},
            draws={drawn.known: drawn for drawn in draws if not drawn.sampled},
            near=occurrences.near,
            drawn=self.request.draws,
            seed=self.request.seed,
            contributed=contributed,
        )
        return tuple(checks_of(self.asked, figures, occurrences, helds, self.sensitive, self.stop))

    def _static_k(self) -> int | None:
        if self.events == len(self.names):
            return None
        mask = sum(1 << position for position in range(self.events, len(self.names)))
        parameters: dict[str, Any] = {"source": self.coded.source, "packed": self.coded.keys(mask)}
        statement = render("events/events_static_classes.sql", self.bench.dialect, **parameters)
        return int(self.bench.run(statement)[0][0] or 0)

    def _effects(self, number: int) -> Iterator[WithoutColumn]:
        """Yield how many people are exposed without each column, and with its coarser form."""
        for position, name in enumerate(self.names):
            rest = [other for other in range(len(self.names)) if other != position]
            figures = self._with_columns(rest, number) if rest else None
            if figures is None:
                return
            effect = WithoutColumn(name, figures[0].exposed_persons, figures[0].unique_persons, figures[1].k)
            words, at = self.source.coarser.get(position, ("", 0))
            figures = self._with_columns([*rest, at], number) if words else None
            if figures is not None:
                exposed, unique = figures[0].exposed_persons, figures[0].unique_persons
                effect = replace(
                    effect, coarsening=words, coarser_exposed_persons=exposed, coarser_unique_persons=unique
                )
            yield effect

    def _with_columns(self, columns: Sequence[int], number: int) -> tuple[KnownEvents, Profile] | None:
        """The figures of these columns for so many known events, and for all; None when the time limit is reached."""
        if self.stop():
            return None
        occurrences = self._occurrences(columns)
        with closing(self._levels(occurrences, ())) as levels:
            curve = self._search(levels, number)
        return (curve[-1], _profile(occurrences, self.request.k)) if curve[-1].exact else None


def _profile(occurrences: Occurrences, k: int) -> Profile:
    return Profile.of(occurrences.alike(), k, near=occurrences.near)


@command(
    PersonsRequest,
    plan_persons,
    code=lambda result: verdict(result.passed, result.complete),
    reads=lambda request: request.targets,
    stopped=lambda result: result.by_hand,
)
def persons(engine: Engine, request: PersonsRequest) -> PersonsResult:
    """Measure what someone who knows a few events of a person can learn (`sqlaudit persons`).

    Args:
        target: a table with a row for each event: a table, view, file path or glob, or a pandas, polars or Arrow table;
            None with `query`.
        static_from: the table of the static columns, joined by `entity`: as `target`; None = the target.
        tolerance: columns, and how far from the true value a known one may be: {"day": "7d", "amount": 10}.
        random: the largest number of random events to compute the share of people singled out for.
        require: requirements on people: `{"km@2": 5, "profile_k": 5}`, or texts such as "unicity@4=5%".
        roles: entity, qi, sensitive and nulls at once, instead of these: a mapping of roles, or a `Roles`.

    Raises:
        UsageError: an unknown column, rows without a person, static values that change, a number out of its range.
        EngineError: the database refused a statement, failed or disconnected.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> visits = pd.DataFrame({"who": [1, 1, 2, 2, 3, 3], "clinic": list("ababac")})
        >>> found = sqlaudit.persons(visits, entity="who", qi=["clinic"], k=2)
        >>> found.at(1).smallest, found.at(2).unique_persons, found.profile.k
        (1, 1, 1)
    """
    return find_persons(engine, request)


# Requirements on people, judged from what `sqlaudit persons` counted.


def asked_of(request: PersonsRequest) -> list[Asked]:
    """The required models, each once; those of sensitive columns are judged for each column later.

    Raises:
        UsageError: a requirement is not defined for this request.
    """
    evaluations = []
    for requirement in request.requirements:
        kind = OF_PERSONS.get(requirement.model)
        if kind is None:
            raise UsageError(f"{requirement.text!r} is about classes of rows, not about events of people.")
        model = kind(requirement.parameters, Context(None, 0))
        if model.needs_sensitive and not request.sensitive:
            raise UsageError(f"{requirement.text!r} needs a sensitive column. Name one with {spelled('sensitive')}.")
        if model.random_events() and request.multiset:
            raise UsageError(f"{requirement.text!r} cannot be combined with {spelled('multiset', True)}.")
        evaluations.append(Asked(model, requirement, None))
    return evaluations


def checks_of(
    evaluations: Sequence[Asked],
    figures: CountedPersons,
    events: Occurrences,
    helds: Held,
    sensitive: Sequence[str],
    stop: Stop,
) -> Iterator[Check]:
    """The checks of all requirements; one for each sensitive column.

    Args:
        figures: the figures so far. events: the events of each person. helds: the values of `sensitive` of each person.
    """
    asked_of_persons = persons_wanted([item.model for item in evaluations])
    if asked_of_persons is None:
        return
    figures.search(events, PersonsWanted(asked_of_persons.known, asked_of_persons.drawn), stop=stop)
    yield from (check_of_people(item, figures, figures.rows) for item in evaluations if not item.model.needs_sensitive)
    of_values = [item for item in evaluations if item.model.needs_sensitive]
    for name, (_, values) in zip(sensitive, helds, strict=True) if of_values else ():
        figures.learnt.clear()
        figures.search(events, PersonsWanted({}, disclosure=asked_of_persons.disclosure), values, stop)
        yield from (check_of_people(replace(item, sensitive=name), figures, figures.rows) for item in of_values)
