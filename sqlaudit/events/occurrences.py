"""The events of each person as numbers, and the search over sets of known events, each size from the one before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import comb
from time import monotonic
from typing import Any

from sqlaudit.base.errors import STOPPED, BudgetSpent, SqlauditError, Stop, UsageError, by_hand
from sqlaudit.base.names import shown
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import Raw, render
from sqlaudit.column_sets.counting import Chosen, Coded, code_columns, drop_codes
from sqlaudit.column_sets.masks import bits
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.watch import Deadline
from sqlaudit.engines.workbench import keep, workbench_of
from sqlaudit.events.request import Tolerance
from sqlaudit.models.people import KnownEvents

# From a table of events to numbers: who has which event, on an engine where searching is cheap.

_CODES = "sqlaudit_events_codes"


@dataclass(frozen=True)
class Occurrences:
    """The events of each person.

    Args:
        bench: the engine that has the relations, always one that keeps some.
        own: (person, event), each pair once. dictionary: events by number, with the people who have them.
        events: different events. pairs: pairs of a person and an event.
        first_shared: the first event, from the rarest on, that two people have. first_safe: that k have.
        repeats: whether repeats of an event are events of their own.
        sequence: whether `own` has the time of each event, and the order of known events counts.
        fits: (person, event, has) with a tolerance: the people that a known event fits, and whether they have it. None
            without a tolerance. plain: the dictionary that numbers these events.
    """

    bench: Engine
    own: Raw
    dictionary: Raw
    events: int
    pairs: int
    first_shared: int
    first_safe: int
    repeats: bool
    fits: Raw | None = None
    plain: Raw | None = None
    sequence: bool = False

    @property
    def near(self) -> bool:
        """Return True if events match within a tolerance."""
        return self.fits is not None

    def ask(self, template: str, **parameters: object) -> list[tuple[Any, ...]]:
        """The rows of a question about the events."""
        return self.bench.run(self._statement(template, parameters))

    def keep(self, name: str, template: str, **parameters: object) -> Raw:
        """Keep the rows of a question as a relation of this name."""
        statement = self._statement(template, parameters)
        return Raw(self.bench.materialize(f"sqlaudit_events_{name}", statement).sql)

    def _statement(self, template: str, parameters: Mapping[str, Any]) -> Statement:
        """Return a statement over these occurrences, by the name of its template."""
        template_parameters = {
            "own": self.own,
            "fits": self.fits or self.own,
            "near": self.near,
            "dictionary": self.dictionary,
            "repeats": self.repeats,
            "sequence": self.sequence,
            **parameters,
        }
        return render(f"events/{template}.sql", self.bench.dialect, **template_parameters)

    def alike(self) -> dict[int, int]:
        """Groups of people with the same events, by size; with a tolerance, people by how many fit all events."""
        rows = self.ask("events_near_profiles" if self.near else "events_profiles")
        return {int(members): int(classes) for members, classes in rows}

    def names(self) -> Raw:
        """Events by number, each with its column codes where the dictionary keeps these apart."""
        return self.keep("names", "events_names", plain=self.plain or self.dictionary)

    def with_limit(self, k: int) -> Occurrences:
        """Return a copy for another k."""
        return replace(self, first_safe=int(self.ask("events_totals", k=k)[0][3] or 0))

    def drop(self, name: str) -> None:
        """Release what `keep` kept."""
        self.bench.drop(f"sqlaudit_events_{name}")


@contextmanager
def coded_rows(
    engine: Engine, relation: Relation, chosen: Sequence[Chosen], entity: Chosen
) -> Iterator[tuple[Engine, Coded]]:
    """The rows as codes on a workbench, for as long as they are needed.

    Raises:
        UsageError: rows without a person.
    """
    coded = code_columns(engine, relation, chosen, entity, ordered=True)
    try:
        if coded.coded:
            yield coded.engine or engine, coded
            return
        with workbench_of(engine) as bench:
            yield bench, _carried(engine, bench, coded)
    finally:
        drop_codes(engine)


def _carried(engine: Engine, bench: Engine, coded: Coded) -> Coded:
    """The codes of a database that keeps nothing, batch by batch into the workbench: numbers, never a cell."""
    columns = coded.columns or ()
    names = [f"c{position}" for position in range(len(columns))]
    codes = _codes(engine, coded.source, columns, coded.entity)
    codes_table = keep(engine, bench, _CODES, codes, [(name, "INTEGER") for name in (*names, "e")])
    largest = bench.run(render("column_sets/columns_domains.sql", bench.dialect, source=codes_table, names=names))[0]
    domains = tuple(int(value or 0) + 1 for value in largest)
    return Coded(Raw(codes_table.sql), None, Raw("e"), coded.rows, coded.persons, coded.missing, domains)


def _codes(engine: Engine, source: Raw, columns: Sequence[Raw], entity: Raw | None) -> Statement:
    return render("events/events_codes.sql", engine.dialect, source=source, columns=list(columns), entity=entity)


def reading(engine: Engine, relation: Relation, chosen: Sequence[Chosen], entity: Chosen) -> Statement:
    """The one statement that reads the table, as a question that stands alone."""
    return _codes(engine, Raw(relation.sql), [Raw(column.sql) for column in chosen], Raw(entity.sql))


def check_static(bench: Engine, coded: Coded, chosen: Sequence[Chosen], static: Sequence[int]) -> None:
    """Check that the columns at these positions have one value for each person.

    Raises:
        UsageError: some people have several values.
    """
    names = [f"c{position}" for position in static]
    if not names:
        return
    row = bench.run(render("events/events_unsteady.sql", bench.dialect, source=coded.source, names=names))[0]
    for position, persons in zip(static, row, strict=True):
        if persons:
            raise UsageError(
                f"{persons} {'person has' if persons == 1 else 'people have'} several values in static column "
                f"{shown(chosen[position].name)}. Name it with {spelled('qi')} instead."
            )


def check_moments(coded: Coded, chosen: Sequence[Chosen], moment: int | None) -> None:
    """Check that every row has a time, by the column at this position.

    Raises:
        UsageError: some rows have none, so that their place in the order is unknown.
    """
    if moment is not None and coded.missing[moment]:
        raise UsageError(
            f"{shown(chosen[moment].name)} is missing in {coded.missing[moment]} of {coded.rows} rows, so that their "
            f"order is unknown. Leave these rows out with {spelled('where')}, or leave out {spelled('sequence')}."
        )


def occurrences_of(
    bench: Engine,
    coded: Coded,
    columns: Sequence[int],
    k: int,
    nulls: NullPolicy,
    *,
    repeats: bool,
    events: int,
    by_column: bool = False,
    further_events: int = 0,
    moment: int | None = None,
) -> Occurrences:
    """The events of some of the columns.

    Args:
        columns: places of the columns that take part. events: the first so many of all columns are of events, and only
            these make an event unequal to all others where they are missing and `nulls` says distinct.
        by_column: whether the dictionary keeps each column by itself, as k0, k1, …
        further_events: further columns of events, as a mask.
        moment: the position of the column that orders the events of a person.
    """
    mask = sum(1 << position for position in columns)
    packed = [[(f"c{position}", 1)] for position in columns] if by_column else coded.keys(mask)
    keys = Raw(", ".join(f"k{position}" for position in range(len(packed))))
    missing = mask & coded.nullable & ((1 << events) - 1 | further_events) if nulls is NullPolicy.DISTINCT else 0
    when = None if moment is None else Raw(f"c{moment}")
    alone = [f"c{position}" for position in bits(missing)]
    occurrences = _kept(
        bench, "occurrences", source=coded.source, packed=packed, alone=alone, repeats=repeats, moment=when
    )
    parameters = {"occurrences": occurrences, "keys": keys, "repeats": repeats, "sequence": when is not None}
    dictionary = _kept(bench, "dictionary", **parameters)
    person_events = _kept(bench, "own", dictionary=dictionary, **parameters)
    bench.drop("sqlaudit_events_occurrences")
    return occurrences_from(bench, person_events, dictionary, k, repeats=repeats, sequence=when is not None)


def occurrences_from(
    bench: Engine,
    person_events: Raw,
    dictionary: Raw,
    k: int,
    *,
    repeats: bool,
    fits: Raw | None = None,
    sequence: bool = False,
) -> Occurrences:
    """Who has which event, when the relations are made."""
    parameters: dict[str, Any] = {"own": person_events, "dictionary": dictionary, "sequence": sequence, "k": k}
    totals = bench.run(render("events/events_totals.sql", bench.dialect, **parameters))[0]
    count, pairs, first_shared, first_safe = (int(value or 0) for value in totals)
    return Occurrences(
        bench, person_events, dictionary, count, pairs, first_shared, first_safe, repeats, fits, sequence=sequence
    )


def contributions_of(bench: Engine, coded: Coded, columns: int) -> dict[str, dict[int, int]]:
    """People by their number of `rows`, and of `groups`: combinations of the first so many columns.

    A missing value is a value, as in GROUP BY; repeats and tolerances change nothing.
    """
    packed = coded.keys((1 << columns) - 1)
    statement = render("events/events_contributions.sql", bench.dialect, source=coded.source, packed=packed)
    contributions = bench.run(statement)
    return {
        "rows": {int(rows): int(persons) for rows, _, persons in contributions if rows is not None},
        "groups": {int(groups): int(persons) for _, groups, persons in contributions if groups is not None},
    }


def drop_occurrences(bench: Engine) -> None:
    """Release what `occurrences_of` keeps."""
    plain, near = ("own", "dictionary", "occurrences"), ("covers", "fitting", "near_dictionary", "fits", "near_own")
    for name in (*plain, *near, "names", "at_risk"):
        bench.drop(f"sqlaudit_events_{name}")


def _kept(bench: Engine, name: str, **parameters: Any) -> Raw:
    statement = render(f"events/events_{name}.sql", bench.dialect, **parameters)
    return Raw(bench.materialize(f"sqlaudit_events_{name}", statement).sql)


# Approximate knowledge: events match within a tolerance.
#
# Matches are not transitive, so they form no disjoint groups. For each known event the people that it fits are counted.
# A set of known events fits a person who has, for each of them, an event that it fits.


def kept_spans(
    engine: Engine, bench: Engine, relation: Relation, chosen: Sequence[Chosen], within: dict[int, Tolerance]
) -> Iterator[tuple[int, Raw]]:
    """For each of these columns, by its place: which values are within the tolerance, as places in their order."""
    for position, tolerance in within.items():
        statement = span_statement(engine, relation, chosen[position], tolerance)
        columns = [("place", "BIGINT"), ("low", "BIGINT"), ("high", "BIGINT")]
        yield position, Raw(keep(engine, bench, span_name(position), statement, columns).sql)


def span_statement(engine: Engine, relation: Relation, column: Chosen, tolerance: Tolerance) -> Statement:
    """Return which values of a column are within the tolerance of which."""
    parameters = {"source": relation, "column": column, **tolerance.span(column)}
    return render("events/events_spans.sql", engine.dialect, **parameters)


def span_name(position: int) -> str:
    """The relation of a column's spans."""
    return f"sqlaudit_events_span_{position}"


def near_occurrences(
    plain: Occurrences, columns: Sequence[int], spans: dict[int, Raw], wild: int, k: int
) -> Occurrences:
    """Events that match when they are near.

    Args:
        plain: the same events, equal or not, with each column apart. columns: their places. spans: of `kept_spans`.
        wild: the columns whose missing values match anything, as a mask.
    """
    described = [
        {"name": f"k{at}", "spans": spans.get(position), "wild": bool(wild >> position & 1)}
        for at, position in enumerate(columns)
    ]
    covers = plain.keep("covers", "events_covers", columns=described)
    fitting = plain.keep("fitting", "events_fitting", covers=covers)
    dictionary = plain.keep("near_dictionary", "events_near_dictionary", fitting=fitting)
    fits = plain.keep("fits", "events_fits", fitting=fitting, dictionary=dictionary)
    person_events = plain.keep("near_own", "events_near_own", fits=fits)
    for name in ("covers", "fitting"):
        plain.drop(name)
    near = occurrences_from(plain.bench, person_events, dictionary, k, repeats=False, fits=fits)
    return replace(near, pairs=plain.pairs, plain=plain.dictionary)


# The search over known events: sets of one event, of two, of three, each size from the one before.
#
# A set that only one person has is not extended: every larger one identifies the same person, who is already singled
# out. Terrovitis, Mamoulis and Kalnis, *Privacy-preserving anonymization of set-valued data* (VLDB 2008).


class Watcher:
    """Receives all sets of a search, sizes in rising order, and the figures of each size."""

    def look(self, size: int, sets: Raw) -> None:
        """Take some sets of this size into account: each with its persons, and one of them by number."""

    def take(self, figures: KnownEvents, state: Raw) -> None:
        """Note the figures for up to so many known events, when all their sets were shown.

        Args:
            figures: the figures. state: people with the number of known events that expose them.
        """

    def close(self) -> None:
        """Drop the kept relations."""


LONG = 500_000_000
"""Beyond so many sets of single people, counting those of one size takes minutes and is announced."""
COUNTED = 20_000_000
"""Up to so many sets of single people are all counted for unicity; beyond, people are sampled."""
PART = 20_000_000
"""The number of sets of single people that one statement groups."""
HURRIED = 2_000_000
"""The same with a time limit: about a second of work, so that little is lost when it is reached."""
A_SET = 160
"""Bytes of memory for each of them, twice what grouping takes: the other half is for tables."""
FEW = 1 << 25
"""Numbers of up to so many people have squares of which four add up exactly in floating point."""


@dataclass
class Levels:
    """The levels of one search, sizes in rising order.

    Args:
        occurrences: the events of each person. k: people who must share a set. stop: whether the time is used up.
        ends: when it will be, by `time.monotonic()`; a statement that still runs then is cut off. None = never.
        stoppable: whether Ctrl-C ends the search, keeps what is proven, and sets `by_hand`; else it is raised.
        shared_draws: the largest size for which to count, for `unicity`, the sets of each person that others have, too.
        watchers: receive every counted set, before the figures of its size.
        announce: is called with a size and its sets before more than `LONG` are counted without a time limit.
        state: people with their number of events, and with the number of known ones that expose and single them out.
    """

    occurrences: Occurrences
    k: int
    stop: Stop
    shared_draws: int = 0
    watchers: Sequence[Watcher] = ()
    ends: float | None = None
    stoppable: bool = False
    announce: Callable[[int, int], None] | None = None
    by_hand: bool = False
    shared: dict[int, dict[int, int]] = field(default_factory=dict)
    by_number: dict[int, int] = field(default_factory=dict)
    state: Raw = field(default_factory=lambda: Raw(""))
    _kept: list[str] = field(default_factory=list)

    def curve(self, most: int) -> Iterator[KnownEvents]:
        """The figures for 1, 2, …, `most` known events; at the time limit it ends early with an inexact entry."""
        occurrences = self.occurrences
        self.state = self._keep("state", "events_first_state", k=self.k)
        self.by_number = {int(n): int(persons) for n, persons in occurrences.ask("events_by_number", state=self.state)}
        singles = self._keep("sets_1", "events_single_sets")
        fewest, minimal_sets = occurrences.ask("events_first_level", k=self.k)[0]
        smallest, minimal = int(fewest or 0), int(minimal_sets)
        self._count_shared(1, singles)
        if self.watchers:
            self._show(1, self._keep("singles", "events_singles"))
        yield self._known(1, smallest, minimal)
        before: Raw | None = singles if occurrences.repeats else None
        has_sets = occurrences.first_shared <= occurrences.events
        for size in range(2, most + 1):
            if not has_sets:
                yield self._known(size, smallest, 0)
                continue
            level = self._level(size, before)
            smallest = min(smallest, level.smallest)
            yield self._known(size, smallest, level.minimal, exact=level.complete)
            if not level.complete:
                return
            before, has_sets = level.shared, bool(level.pieces)

    def close(self) -> None:
        """Drop the kept relations, those of watchers, too."""
        for name in self._kept:
            self.occurrences.drop(name)
        for watcher in self.watchers:
            watcher.close()

    def sets_of_persons(self, size: int) -> int:
        """The number of sets of so many events, over all people."""
        return sum(comb(events, size) * persons for events, persons in self.by_number.items())

    def _level(self, size: int, before: Raw | None) -> _Level:
        """Count the sets of one size; a level that is stopped is not complete."""
        level = _Level()
        if self.announce is not None and self.ends is None and (sets := self.sets_of_persons(size)) > LONG:
            self.announce(size, sets)
        try:
            with self._in_time():
                self._count(level, size, before)
        except STOPPED as why:  # what was counted by then stays so
            level.complete, self.by_hand = False, by_hand(why)
            if self.by_hand and not self.stoppable:
                raise
        return level

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        """Cancel a running statement at the time limit.

        Raises:
            BudgetSpent: it did.
        """
        left = None if self.ends is None else self.ends - monotonic()
        deadline = Deadline(left, self.occurrences.bench.cancel)
        try:
            yield
        except SqlauditError:
            if deadline.over:
                raise BudgetSpent from None
            raise
        finally:
            deadline.stop()

    def _count(self, level: _Level, size: int, before: Raw | None) -> None:
        """Count the sets of one size part by part, into `level`."""
        ranges = list(self._ranges(size))
        for part, (low, high) in enumerate(ranges, 1):
            if self.stop():
                raise BudgetSpent
            sets = self._keep(
                f"sets_{size}",
                "events_sequences" if self.occurrences.sequence else "events_sets",
                step=f"sets of {size} events" + (f", part {part} of {len(ranges)}" if len(ranges) > 1 else ""),
                size=size,
                low=low,
                high=high,
                k=self.k,
                first_shared=self.occurrences.first_shared,
                first_safe=self.occurrences.first_safe,
                shared=before,
                many=sum(self.by_number.values()) > FEW,
            )
            if self.occurrences.near:
                sets = self._keep(f"near_sets_{size}", "events_near_sets", size=size, sets=sets, low=low, high=high)
            total, smallest, minimal, unnamed, shared = self.occurrences.ask("events_level", sets=sets, k=self.k)[0]
            level.minimal += int(minimal)
            if not total:
                continue
            level.smallest = min(level.smallest, int(smallest))
            for named in (True, False) if unnamed else (True,):
                parameters = {"size": size, "sets": sets, "state": self.state, "k": self.k, "named": named}
                self.state = self._keep("state", "events_state", **parameters)
            self._show(size, sets)
            if shared:
                self._count_shared(size, sets)
                name = f"shared_{size}_{len(level.pieces)}"
                level.pieces.append(self._keep(name, "events_shared", size=size, sets=sets).sql)

    def _show(self, size: int, sets: Raw) -> None:
        for watcher in self.watchers:
            watcher.look(size, sets)

    def _count_shared(self, size: int, sets: Raw) -> None:
        if all(self.sets_of_persons(drawn) > COUNTED for drawn in range(size, self.shared_draws + 1)):
            return  # people are sampled; where they are not, those with fewer events need the smaller sizes, too
        shared_sets = self.shared.setdefault(size, {})
        for events, count in self.occurrences.ask("events_shared_draws", size=size, sets=sets, state=self.state):
            shared_sets[int(events)] = shared_sets.get(int(events), 0) + int(count)

    def _ranges(self, size: int) -> Iterator[tuple[int, int]]:
        """Ranges of the first events of sets, so that a range has about as many sets as one statement groups."""
        parts = max(1, -(-self.sets_of_persons(size) // self._part()))
        decisive = 1 if self.occurrences.sequence else size  # what comes first in time is not the rarest
        lasts = [int(row[0]) for row in self.occurrences.ask("events_ranges", parts=parts, size=decisive)]
        first = 1 if self.occurrences.repeats else self.occurrences.first_shared
        for before, last in pairwise([0, *lasts]):
            if last >= first:
                yield max(before + 1, first), last

    def _part(self) -> int:
        """The number of sets of single people that one statement groups: what fits the memory, at most `PART`."""
        most, memory = PART if self.ends is None else HURRIED, self.occurrences.bench.memory()
        return most if memory is None else max(1, min(most, memory // A_SET))

    def _known(self, size: int, smallest: int, minimal: int, *, exact: bool = True) -> KnownEvents:
        exposed, singled_out = self.occurrences.ask("events_curve", size=size, state=self.state)[0]
        figures = KnownEvents(size, smallest, int(exposed), int(singled_out), minimal, exact)
        for watcher in self.watchers:
            watcher.take(figures, self.state)
        return figures

    def _keep(self, name: str, template: str, **parameters: object) -> Raw:
        if name not in self._kept:
            self._kept.append(name)
        return self.occurrences.keep(name, template, **parameters)


@dataclass
class _Level:
    """The figures of the sets of one size."""

    smallest: int = 1 << 62
    minimal: int = 0
    complete: bool = True
    pieces: list[str] = field(default_factory=list)

    @property
    def shared(self) -> Raw:
        """The sets that several people have, when there are some."""
        return Raw(self.pieces[0] if len(self.pieces) == 1 else "(FROM " + " UNION ALL FROM ".join(self.pieces) + ")")
