"""The search through what can be known: sets of one event, of two, of three, each size from the one before.

A set that one person alone has is not extended: every larger one tells the same person, who is singled out already.
Terrovitis, Mamoulis and Kalnis, *Privacy-preserving anonymization of set-valued data* (VLDB 2008).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from math import comb
from time import monotonic

from sqlaudit.base.errors import SqlauditError
from sqlaudit.base.sql import Raw
from sqlaudit.column_sets.budget import STOPPED, BudgetSpent, Stop, by_hand
from sqlaudit.engines.watch import Deadline
from sqlaudit.events.occurrences import Occurrences
from sqlaudit.events.result import Known

Watcher = Callable[[int, Raw], None]
"""Who is shown the sets of a size, with the persons of each and one of them by number."""
PART = 20_000_000
"""So many sets of single persons are grouped by one statement."""
HURRIED = 2_000_000
"""The same where the time may end: about a second, so that little of what was begun is lost."""
A_SET = 160
"""Bytes of memory for each of them, twice what grouping takes: the other half is for tables."""
FEW = 1 << 25
"""Numbers of up to so many persons have squares of which four add up exactly in floating point."""


@dataclass
class Levels:
    """The levels of one search, sizes in rising order.

    Args:
        occurrences: who has which event. k: what is too few. stop: whether the time is used up.
        ends: when it will be, by `time.monotonic()`; a statement that still runs then is cut off. None = never.
        stoppable: whether Ctrl-C ends the search with what is proven, and sets `by_hand`; else it ends who asked.
        shared_draws: whether to count, for `unicity`, the sets of persons that others have, too.
        watchers: who is shown every set that is counted, before the figures of its size are told.
    """

    occurrences: Occurrences
    k: int
    stop: Stop
    shared_draws: bool = False
    watchers: Sequence[Watcher] = ()
    ends: float | None = None
    stoppable: bool = False
    by_hand: bool = False
    shared: dict[int, dict[int, int]] = field(default_factory=dict)
    by_number: dict[int, int] = field(default_factory=dict)
    _fit_by_number: dict[int, int] = field(default_factory=dict)
    _state: Raw = field(default_factory=lambda: Raw(""))
    _kept: list[str] = field(default_factory=list)

    def curve(self, most: int) -> Iterator[Known]:
        """What is found with 1, 2, …, `most` known events; ends early when time is up, with an entry that says so."""
        asked = self.occurrences
        self._state = self._keep("state", "events_first_state", k=self.k)
        self.by_number = {int(n): int(persons) for n, persons in asked.ask("events_by_number", state=self._state)}
        if asked.near:
            self._fit_by_number = {int(n): int(persons) for n, persons in asked.ask("events_fits_by_number")}
        singles = self._keep("sets_1", "events_single_sets")
        smallest, minimal = self._first()
        self._count_shared(1, singles)
        if self.watchers:
            self._show(1, self._keep("singles", "events_singles"))
        yield self._known(1, smallest, minimal)
        before: Raw | None = singles if asked.repeats else None
        some = asked.first_shared <= asked.events
        for size in range(2, most + 1):
            if not some:
                yield self._known(size, smallest, 0)
                continue
            found = self._level(size, before)
            smallest = min(smallest, found.smallest)
            yield self._known(size, smallest, found.minimal, exact=found.complete)
            if not found.complete:
                return
            before, some = found.shared, found.some

    def close(self) -> None:
        """Release what was kept."""
        for name in self._kept:
            self.occurrences.drop(name)

    @property
    def state(self) -> Raw:
        """Persons with their number of events, and with how many known ones they are exposed and singled out."""
        return self._state

    def sets_of_persons(self, size: int) -> int:
        """How many sets of so many events all persons have together."""
        return _sets(self.by_number, size)

    def _first(self) -> tuple[int, int]:
        row = self.occurrences.ask("events_first_level", k=self.k)[0]
        return int(row[0] or 0), int(row[1])

    def _level(self, size: int, before: Raw | None) -> _Level:
        level = _Level()
        pieces: list[str] = []
        try:
            with self._in_time():
                self._count(level, size, before, pieces)
        except STOPPED as why:  # what was counted by then stays so
            level.complete, self.by_hand = False, by_hand(why)
            if self.by_hand and not self.stoppable:
                raise
        level.some = bool(pieces)
        if pieces:
            level.shared = Raw(pieces[0] if len(pieces) == 1 else "(FROM " + " UNION ALL FROM ".join(pieces) + ")")
        return level

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        """While it lasts, the end of the time cuts off what runs.

        Raises:
            BudgetSpent: it did.
        """
        if self.ends is None:
            yield
            return
        deadline = Deadline(self.ends - monotonic(), self.occurrences.bench.cancel)
        try:
            yield
        except SqlauditError:
            if deadline.over:
                raise BudgetSpent from None
            raise
        finally:
            deadline.stop()

    def _count(self, level: _Level, size: int, before: Raw | None, pieces: list[str]) -> None:
        """Count the sets of one size part by part, into `level` and `pieces`."""
        for low, high in self._ranges(size):
            if self.stop():
                raise BudgetSpent
            sets = self._keep(
                f"sets_{size}",
                "events_sequences" if self.occurrences.sequence else "events_sets",
                size=size,
                low=low,
                high=high,
                k=self.k,
                first_shared=self.occurrences.first_shared,
                first_safe=self.occurrences.first_safe,
                shared=before,
                many=sum(self.by_number.values()) > FEW,
            )
            total, smallest, minimal, unnamed, shared = self.occurrences.ask("events_level", sets=sets, k=self.k)[0]
            level.minimal += int(minimal)
            if not total:
                continue
            level.smallest = min(level.smallest, int(smallest))
            self._find_persons(size, sets, unnamed=bool(unnamed))
            self._show(size, sets)
            if shared:
                self._count_shared(size, sets)
                pieces.append(self._keep(f"shared_{size}_{len(pieces)}", "events_shared", size=size, sets=sets).sql)

    def _find_persons(self, size: int, sets: Raw, *, unnamed: bool) -> None:
        self._state = self._keep("state", "events_state", size=size, sets=sets, state=self._state, k=self.k, named=True)
        if unnamed:
            self._state = self._keep(
                "state", "events_state", size=size, sets=sets, state=self._state, k=self.k, named=False
            )

    def _show(self, size: int, sets: Raw) -> None:
        for look in self.watchers:
            look(size, sets)

    def _count_shared(self, size: int, sets: Raw) -> None:
        if not self.shared_draws:
            return
        found = self.shared.setdefault(size, {})
        for events, count in self.occurrences.ask("events_shared_draws", size=size, sets=sets, state=self._state):
            found[int(events)] = found.get(int(events), 0) + int(count)

    def _ranges(self, size: int) -> Iterator[tuple[int, int]]:
        """Ranges of events that sets begin with, so that one range has not many more sets than one statement groups."""
        parts = max(1, -(-_sets(self._fit_by_number or self.by_number, size) // self._part()))
        decisive = 1 if self.occurrences.sequence else size  # what comes first in time is not the rarest
        lasts = [int(row[0]) for row in self.occurrences.ask("events_ranges", parts=parts, size=decisive)]
        first = 1 if self.occurrences.repeats else self.occurrences.first_shared
        for before, last in pairwise([0, *lasts]):
            if last >= first:
                yield max(before + 1, first), last

    def _part(self) -> int:
        """How many sets of single persons one statement groups: what fits the memory, and no more than `PART`."""
        most, memory = PART if self.ends is None else HURRIED, self.occurrences.bench.memory()
        return most if memory is None else max(1, min(most, memory // A_SET))

    def _known(self, size: int, smallest: int, minimal: int, *, exact: bool = True) -> Known:
        exposed, singled_out = self.occurrences.ask("events_curve", size=size, state=self._state)[0]
        return Known(size, smallest, int(exposed), int(singled_out), minimal, exact)

    def _keep(self, name: str, template: str, **parameters: object) -> Raw:
        if name not in self._kept:
            self._kept.append(name)
        return self.occurrences.keep(name, template, **parameters)


def _sets(by_number: Mapping[int, int], size: int) -> int:
    return sum(comb(events, size) * persons for events, persons in by_number.items())


@dataclass
class _Level:
    """What the sets of one size said."""

    smallest: int = 1 << 62
    minimal: int = 0
    complete: bool = True
    some: bool = False
    shared: Raw | None = None
