"""Unicity: how often events drawn at random single a person out (de Montjoye and others, Scientific Reports 2013)."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import comb, sqrt

from sqlaudit.base.sql import Raw
from sqlaudit.events.levels import Levels
from sqlaudit.events.occurrences import Occurrences
from sqlaudit.events.result import Drawn, Known

COUNTED = 20_000_000
"""Up to so many sets of single persons are all counted; beyond, persons are drawn."""
_NORMAL = 1.959963984540054
"""The quantile of the normal distribution for 95%."""


def counted(by_number: Mapping[int, int], shared: Mapping[int, Mapping[int, int]], size: int) -> Fraction:
    """The expected share of persons whom so many random events of theirs (or all) single out, exactly.

    Args:
        by_number: persons by their number of events.
        shared: for each size of sets and number of events of a person, how many sets somebody else has, too.

    Example:
        >>> counted({2: 3}, {1: {2: 4}}, 1)
        Fraction(1, 3)
    """
    persons = sum(by_number.values())
    both = Fraction(0)
    for events in by_number:
        taken = min(size, events)
        both += Fraction(shared.get(taken, {}).get(events, 0), comb(events, taken))
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
    occurrences: Occurrences, levels: Levels, curve: Sequence[Known], size: int, draws: int, seed: int
) -> tuple[Drawn, Fraction]:
    """Whom so many random events single out, and the exact share: counted where all sets were, and are few enough.

    Args:
        curve: what the search through sets has found. draws, seed: of persons, where they are drawn.
    """
    if size <= len(curve) and curve[size - 1].exact and levels.sets_of_persons(size) <= COUNTED:
        share = counted(levels.by_number, levels.shared, size)
        return Drawn(size, float(share), float(share), float(share), sampled=False), share
    drawn = sampled(occurrences, levels, size, draws, seed)
    return drawn, Fraction(drawn.unique_share)


def sampled(occurrences: Occurrences, levels: Levels, size: int, draws: int, seed: int) -> Drawn:
    """The same from persons drawn at random without replacement, one draw of events each, with an interval."""
    persons = sum(levels.by_number.values())
    chance = random.Random(seed)
    places = sorted(chance.sample(range(persons), min(draws, persons)))
    bench = occurrences.bench
    name = "sqlaudit_events_drawn"
    try:
        drawn = Raw(bench.keep_rows(name, [("place", "BIGINT")], [[(place,) for place in places]]).sql)
        numbers = occurrences.ask("events_drawn_persons", state=levels.state, drawn=drawn)
        rows = [(int(place), *_positions(chance, int(events), size)) for place, events in numbers]
        columns = [("place", "BIGINT"), *((f"d{at}", "BIGINT") for at in range(1, size + 1))]
        drawn = Raw(bench.keep_rows(name, columns, [rows]).sql)
        both = occurrences.ask("events_drawn_alone", state=levels.state, drawn=drawn, size=size)[0][0]
    finally:
        bench.drop(name)
    alone = len(places) - int(both)
    return Drawn(size, alone / len(places), *wilson(alone, len(places)), sampled=True)


def _positions(chance: random.Random, events: int, size: int) -> list[int]:
    """Places of drawn events; where a person has fewer, the first stands for what is missing, and adds nothing."""
    chosen = sorted(chance.sample(range(events), min(size, events)))
    return chosen + [chosen[0]] * (size - len(chosen))
