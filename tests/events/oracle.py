"""Persons and their events again, the obvious way: every subset of every person is listed and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

Event = tuple[Hashable, ...]
Known = tuple[Event, ...]
Persons = dict[Any, tuple[Event, ...]]


def events_of(
    rows: Iterable[Sequence[Any]], nulls: str = "equal", multiset: bool = False, static: int = 0
) -> dict[Any, tuple[Event, ...]]:
    """The events of each person: rows are (person, static values …, event values …); repeats once, unless `multiset`.

    Static values are part of every event, since whoever knows an event knows them, too. With `multiset` the i-th repeat
    is an event that presupposes the ones before it.
    """
    out: dict[Any, list[Event]] = {}
    for number, (person, *values) in enumerate(rows):
        mark = (number,) if nulls == "distinct" and None in values[static:] else ()
        out.setdefault(person, []).append((*values, mark))
    if not multiset:
        return {person: tuple(dict.fromkeys(events)) for person, events in out.items()}
    return {person: tuple(_numbered(events)) for person, events in out.items()}


def _numbered(events: Iterable[Event]) -> list[Event]:
    seen: Counter[Event] = Counter()
    out = []
    for event in events:
        seen[event] += 1
        out.append((*event, seen[event]))
    return out


def known_sets(events: Sequence[Event], size: int, multiset: bool = False) -> list[frozenset[Event]]:
    """What somebody can know with exactly `size` events of a person, or with all of them where there are fewer."""
    sets = [frozenset(chosen) for chosen in combinations(events, min(size, len(events)))]
    return [one for one in sets if _whole(one)] if multiset else sets


def _whole(known: frozenset[Event]) -> bool:
    """Whether the repeats of an event are known from the first on: two visits are two events, not "the second"."""
    return all(event[-1] == 1 or (*event[:-1], event[-1] - 1) in known for event in known)


def support(persons: dict[Any, tuple[Event, ...]], known: frozenset[Event]) -> int:
    """How many persons have all these events."""
    return sum(known <= set(events) for events in persons.values())


def fitted(persons: dict[Any, tuple[Event, ...]], fits: Callable[[Event, Event], bool]) -> Persons:
    """The known events, of anybody, that each person fits: who has an event that fits a known one."""
    known = {event for events in persons.values() for event in events}
    return {person: tuple(one for one in known if any(fits(one, own) for own in persons[person])) for person in persons}


def contributions(rows: Iterable[Sequence[Any]]) -> dict[str, dict[Any, int]]:
    """The rows and the groups of each person, the first value of a row; a missing value is a value."""
    rows = list(rows)
    of = {person: [tuple(row[1:]) for row in rows if row[0] == person] for person, *_ in rows}
    return {
        "rows": {person: len(groups) for person, groups in of.items()},
        "groups": {person: len(set(groups)) for person, groups in of.items()},
    }


def smallest(
    persons: dict[Any, tuple[Event, ...]], most: int, multiset: bool = False, near: Persons | None = None
) -> int:
    """The smallest number of persons who share what is known with at most `most` events, or, when `near`, fit it."""
    return min(
        (
            support(near or persons, known)
            for events in persons.values()
            for size in range(1, most + 1)
            for known in known_sets(events, size, multiset)
        ),
        default=0,
    )


def exposed(
    persons: dict[Any, tuple[Event, ...]], most: int, k: int, multiset: bool = False, near: Persons | None = None
) -> int:
    """Persons of whom at most `most` events are shared by fewer than k."""
    return sum(
        any(
            support(near or persons, known) < k
            for size in range(1, most + 1)
            for known in known_sets(events, size, multiset)
        )
        for events in persons.values()
    )


def minimal_sets(
    persons: dict[Any, tuple[Event, ...]], size: int, k: int, multiset: bool = False, near: Persons | None = None
) -> int:
    """Sets of exactly so many events that fewer than k share, while each smaller part is shared by k."""
    sets = {known for events in persons.values() if len(events) >= size for known in known_sets(events, size, multiset)}
    return sum(
        support(near or persons, known) < k
        and all(
            support(near or persons, part) >= k
            for smaller in range(1, size)
            for part in known_sets(sorted(known, key=repr), smaller, multiset)
        )
        for known in sets
    )


def unicity(persons: dict[Any, tuple[Event, ...]], size: int, near: Persons | None = None) -> Fraction:
    """The mean over persons of the share of their sets of `size` events that no one else has."""
    if not persons:
        return Fraction(0)
    shares = [
        Fraction(
            sum(support(near or persons, known) == 1 for known in known_sets(events, size)),
            comb(len(events), min(size, len(events))),
        )
        for events in persons.values()
    ]
    return sum(shares, Fraction(0)) / len(persons)


def profile(persons: dict[Any, tuple[Event, ...]]) -> tuple[int, int, int]:
    """(smallest class, persons alone, classes) of persons whose events are the same."""
    classes = Counter(frozenset(events) for events in persons.values())
    return min(classes.values(), default=0), sum(size == 1 for size in classes.values()), len(classes)


Held = dict[Any, frozenset[Hashable]]


def held_by(rows: Iterable[Sequence[Any]]) -> Held:
    """The sensitive values of each person, from rows whose last value is sensitive; a missing one is no value."""
    out: dict[Any, set[Hashable]] = {}
    for person, *_, value in rows:
        out.setdefault(person, set()).update([] if value is None else [value])
    return {person: frozenset(values) for person, values in out.items()}


def learnt(
    persons: dict[Any, tuple[Event, ...]],
    held: Held,
    most: int,
    h: Fraction,
    multiset: bool = False,
    near: Persons | None = None,
) -> tuple[Fraction, set[Any]]:
    """(the largest share of persons with a set of at most `most` events who hold one value, persons with a set where it
    is larger than h)."""
    largest, told = Fraction(0), set()
    for one, events in persons.items():
        for known in (known for size in range(1, most + 1) for known in known_sets(events, size, multiset)):
            having = [other for other in persons if known <= set((near or persons)[other])]
            for value in frozenset().union(*(held[other] for other in having)):
                share = Fraction(sum(value in held[other] for other in having), len(having))
                largest = max(largest, share)
                told |= {one} if share > h else set()
    return largest, told


def learnt_of_rest(
    persons: dict[Any, tuple[Event, ...]], held: Held, most: int, h: Fraction, multiset: bool = False
) -> tuple[Fraction, set[Any]]:
    """The same where what is known may hold sensitive values, and the value told is another one (ρ-uncertainty)."""
    private = {person: {("sensitive", value, 1) for value in held[person]} for person in persons}
    everything = {person: (*events, *sorted(private[person], key=repr)) for person, events in persons.items()}
    largest, told = Fraction(0), set()
    for one, items in everything.items():
        for known in (known for size in range(1, most + 1) for known in known_sets(items, size, multiset)):
            having = [other for other in persons if known <= set(everything[other])]
            for value in set().union(*(private[other] for other in having)) - known:
                share = Fraction(sum(value in private[other] for other in having), len(having))
                largest = max(largest, share)
                told |= {one} if share > h else set()
    return largest, told


def persons_below(persons: dict[Any, tuple[Event, ...]], most: int, k: int) -> set[Any]:
    """Those of whom at most `most` events are shared by fewer than k persons."""
    return {
        one
        for one, events in persons.items()
        for size in range(1, most + 1)
        for known in known_sets(events, size)
        if support(persons, known) < k
    }


def profile_below(persons: dict[Any, tuple[Event, ...]], k: int) -> int:
    """Persons whose events fewer than k persons have, and nothing else."""
    classes = Counter(frozenset(events) for events in persons.values())
    return sum(size for size in classes.values() if size < k)


Dated = dict[Any, frozenset[tuple[Any, Event]]]
Pattern = tuple[frozenset[Event], ...]


def dated_events_of(rows: Iterable[Sequence[Any]], nulls: str = "equal") -> Dated:
    """The moments and events of each person; rows are (person, moment, event values …), and equal ones are one."""
    out: dict[Any, set[tuple[Any, Event]]] = {}
    for number, (person, moment, *values) in enumerate(rows):
        mark = (number,) if nulls == "distinct" and None in values else ()
        out.setdefault(person, set()).add((moment, (*values, mark)))
    return {person: frozenset(events) for person, events in out.items()}


def in_order(events: Iterable[tuple[Any, Event]]) -> Pattern:
    """What somebody who knows these events and their order knows: what happened at once, and what after that."""
    chosen = list(events)
    return tuple(frozenset(e for at, e in chosen if at == moment) for moment in sorted({at for at, _ in chosen}))


def patterns(events: Iterable[tuple[Any, Event]], size: int) -> list[Pattern]:
    """What can be known of a person by so many events of theirs, or all, once for each choice of them."""
    chosen = list(events)
    return [in_order(some) for some in combinations(chosen, min(size, len(chosen)))]


def pattern_support(persons: Dated, known: Pattern) -> int:
    """How many persons have these events in this order."""
    return sum(known in patterns(events, sum(map(len, known))) for events in persons.values())


def patterns_below(persons: Dated, most: int, k: int) -> set[Any]:
    """Persons of whom at most so many events, in their order, are shared by fewer than k."""
    return {
        one
        for one, events in persons.items()
        for size in range(1, most + 1)
        for known in patterns(events, size)
        if pattern_support(persons, known) < k
    }


def smallest_pattern(persons: Dated, most: int) -> int:
    """The fewest persons who share what is known of somebody by at most so many events and their order."""
    sizes = range(1, most + 1)
    known = {one for events in persons.values() for size in sizes for one in patterns(events, size)}
    return min((pattern_support(persons, one) for one in known), default=0)


def minimal_patterns(persons: Dated, size: int, k: int) -> int:
    """Known sequences of exactly so many events that fewer than k share, while k share what is left without any."""
    known = {one for events in persons.values() if len(events) >= size for one in patterns(events, size)}
    return sum(
        pattern_support(persons, one) < k
        and all(pattern_support(persons, part) >= k for smaller in range(1, size) for part in _parts(one, smaller))
        for one in known
    )


def _parts(known: Pattern, size: int) -> list[Pattern]:
    return patterns([(place, event) for place, events in enumerate(known) for event in events], size)


def pattern_unicity(persons: Dated, size: int) -> Fraction:
    """The mean over persons of the share of choices of `size` events whose order and events no one else has."""
    shares = []
    for events in persons.values():
        known = patterns(events, size)
        shares.append(Fraction(sum(pattern_support(persons, one) == 1 for one in known), len(known)))
    return sum(shares, Fraction(0)) / max(len(persons), 1)


def patterns_learnt(persons: Dated, held: Held, most: int, h: Fraction) -> tuple[Fraction, set[Any]]:
    """As `learnt`, where the order of events is known."""
    largest, told = Fraction(0), set()
    for one, events in persons.items():
        for known in {known for size in range(1, most + 1) for known in patterns(events, size)}:
            having = [who for who, theirs in persons.items() if known in patterns(theirs, sum(map(len, known)))]
            for value in frozenset().union(*(held[who] for who in having)):
                share = Fraction(sum(value in held[who] for who in having), len(having))
                largest = max(largest, share)
                told |= {one} if share > h else set()
    return largest, told
