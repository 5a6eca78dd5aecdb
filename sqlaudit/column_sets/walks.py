"""Walkers over the lattice of column sets. They decide what to ask; somebody else counts.

The property must be inherited by every superset ("breaks k-anonymity", "identifies"). `Decide` answers for several
sets at once, or raises `BudgetSpent`; `Stop` says whether the time budget is used up. Whatever a walker returns when
the budget ends, or when somebody stops it, is proven: its minimal sets are minimal, its safe sets lack the property
(and may not be maximal yet).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

from sqlaudit.column_sets.border import FoundSets, SetBorder, ordered, proof
from sqlaudit.column_sets.budget import NODES, STOPPED, BudgetSpent, Stop, by_hand, never
from sqlaudit.column_sets.hitting_sets import minimal_hitting_sets, minimum_hitting_set
from sqlaudit.column_sets.masks import bits, mask_of, without_one

Decide = Callable[[Sequence[int]], list[bool]]
Expect = Callable[[Sequence[int]], None]
Tell = Callable[[int, int], None]
"""Called with the number of sets decided and the size of the border known so far."""

_BATCH = 20
_CHAINS = 8
_ROUND = 400


def unprepared(masks: Sequence[int]) -> None:
    """A level that nobody prepares for."""


def silent(decided: int, border: int) -> None:
    """Progress that nobody watches."""


def greedy(start: Sequence[int], decide: Decide, stop: Stop = never) -> int | None:
    """One minimal set inside the start set: drop columns as long as the property stays (Yuan, section 5.1).

    The paper tries all subsets with one column less, the last column left out first, and starts again after each
    success. A column that could not be left out before cannot be left out later either, so one pass finds the same set.

    Args:
        start: the columns to begin with, in the order that decides which are tried first (the last ones).

    Returns:
        The minimal set, or None when the start set itself lacks the property.

    Raises:
        BudgetSpent: before the set was minimal.
    """
    current = mask_of(start)
    if stop():
        raise BudgetSpent
    if not decide([current])[0]:
        return None
    for column in reversed(start):
        smaller = current & ~(1 << column)
        if stop():
            raise BudgetSpent
        if decide([smaller])[0]:
            current = smaller
    return current


def greedy_restarts(columns: Sequence[int], restarts: int, seed: int, decide: Decide, stop: Stop = never) -> FoundSets:
    """The greedy walk from the given order and from random orders; deterministic for a seed.

    `complete` is never claimed: greedy finds some minimal sets, not all.
    """
    generator = random.Random(seed)
    found: set[int] = set()
    border = SetBorder()
    asked = _Remembered(decide, border)
    order = list(columns)
    for _ in range(restarts + 1):
        try:
            one = greedy(order, asked, stop)
        except STOPPED as why:
            return FoundSets(ordered(found), proof(border.negative), False, asked.asked, None, 1, by_hand(why))
        if one is None:
            return FoundSets((), proof(border.negative), True, asked.asked)
        found.add(one)
        generator.shuffle(order)
    whole = found == {0}
    return FoundSets(ordered(found), proof(border.negative), whole, asked.asked)


class _Remembered:
    """A `Decide` that asks only what the border does not know."""

    def __init__(self, decide: Decide, border: SetBorder) -> None:
        self._decide = decide
        self.border = border
        self.asked = 0

    def __call__(self, masks: Sequence[int]) -> list[bool]:
        unknown = [mask for mask in dict.fromkeys(masks) if self.border.lookup(mask) is None]
        if unknown:
            self.asked += len(unknown)
            for mask, answer in zip(unknown, self._decide(unknown), strict=True):
                self.border.add(mask, answer)
        return [bool(self.border.lookup(mask)) for mask in masks]


def all_by_levels(
    width: int, max_size: int, decide: Decide, stop: Stop = never, tell: Tell = silent, *, expect: Expect = unprepared
) -> FoundSets:
    """All minimal sets of at most `max_size` columns, level by level; `expect` is told each level before it is decided.

    A set is asked about only when all its subsets with one column less lack the property; so what has it is minimal.
    """
    minimal: list[int] = []
    safe: list[int] = []
    lacking: list[int] = []
    level, asked, complete = [0], 0, True
    size = waiting = 0
    try:
        for size in range(min(max_size, width) + 1):
            lacking, waiting = [], len(level)
            expect(level)
            for begin in range(0, len(level), _BATCH):
                batch = level[begin : begin + _BATCH]
                if stop():
                    raise BudgetSpent
                answers = decide(batch)
                asked += len(batch)
                waiting -= len(batch)
                for mask, has_property in zip(batch, answers, strict=True):
                    (minimal if has_property else lacking).append(mask)
                tell(asked, len(minimal) + len(lacking))
            safe = _uncovered(safe, lacking) + lacking
            if size < min(max_size, width):
                level, complete = _next_level(lacking, width, stop)
            if not complete:
                return FoundSets(ordered(minimal), ordered(safe), False, asked, size, max(1, len(level)))
    except STOPPED as why:
        safe = _uncovered(safe, lacking) + lacking
        return FoundSets(ordered(minimal), ordered(safe), False, asked, size - 1, max(1, waiting), by_hand(why))
    return FoundSets(ordered(minimal), ordered(safe), True, asked, min(max_size, width))


def _uncovered(older: Sequence[int], newer: Sequence[int]) -> list[int]:
    """The older safe sets that no newer one contains; all newer ones are one column larger than the last older ones."""
    covered = {smaller for mask in newer for smaller in without_one(mask)}
    return [mask for mask in older if mask not in covered]


def _next_level(safe: Sequence[int], width: int, stop: Stop) -> tuple[list[int], bool]:
    """Sets of one column more, all of whose subsets with one column less are safe; False when the budget ended."""
    known = set(safe)
    wider_sets: list[int] = []
    for number, mask in enumerate(safe, 1):
        if number % NODES == 0 and stop():
            return wider_sets, False
        for column in range(mask.bit_length(), width):
            wider = mask | 1 << column
            if all(smaller in known for smaller in without_one(wider)):
                wider_sets.append(wider)
    return wider_sets, True


def all_by_border(
    width: int, max_size: int | None, decide: Decide, stop: Stop = never, tell: Tell = silent, *, seed: int = 0
) -> FoundSets:
    """All minimal sets by advancing the border from both sides, for sets too wide to walk level by level.

    Every minimal set hits the complement of every set that lacks the property (Mannila and Toivonen's dualization). The
    minimal hitting sets of the complements known so far are asked about: those that have the property are minimal and
    proven; the others are widened until they are maximal, and join the known ones. Nothing is left when all have it.
    """
    everything = (1 << width) - 1
    generator = random.Random(seed)
    border = SetBorder()
    asked = _Remembered(decide, border)
    fresh: list[int] = []
    try:
        while True:
            edges = [everything & ~negative for negative in border.negative]
            fresh, exhausted = _fresh_candidates(edges, max_size, set(border.positive), stop)
            if not fresh and exhausted:
                minimal = ordered(_within(border.positive, max_size))
                return FoundSets(minimal, proof(border.negative), True, asked.asked, max_size)
            _advance(fresh, everything, asked, generator, stop, tell)
    except STOPPED as why:
        waiting = sum(border.lookup(mask) is None for mask in fresh)
        minimal = ordered(_within(_proven(border), max_size))
        return FoundSets(minimal, proof(border.negative), False, asked.asked, None, max(1, waiting), by_hand(why))


def _advance(
    fresh: Sequence[int], everything: int, asked: _Remembered, generator: random.Random, stop: Stop, tell: Tell
) -> None:
    """Ask about candidates until some lack the property; these are widened."""
    border = asked.border
    for begin in range(0, len(fresh), _BATCH):
        if stop():
            raise BudgetSpent
        lacking = _decide_candidates(fresh[begin : begin + _BATCH], asked)
        if lacking:
            _widen(lacking[:_CHAINS], everything, asked, generator, stop)
        tell(asked.asked, len(border.positive) + len(border.negative))
        if lacking:
            return


def _decide_candidates(candidates: Sequence[int], asked: _Remembered) -> list[int]:
    answers = asked(candidates)
    return [mask for mask, has_property in zip(candidates, answers, strict=True) if not has_property]


def _fresh_candidates(
    edges: Sequence[int], max_size: int | None, known: set[int], stop: Stop
) -> tuple[list[int], bool]:
    """Hitting sets that are not decided yet, at most a round's worth, and whether there are no more."""
    fresh = []
    for candidate in minimal_hitting_sets(edges, max_size, stop=stop):
        if candidate not in known:
            fresh.append(candidate)
            if len(fresh) >= _ROUND:
                return fresh, False
    return fresh, True


def _within(masks: Iterable[int], max_size: int | None) -> list[int]:
    return [mask for mask in masks if max_size is None or mask.bit_count() <= max_size]


def _proven(border: SetBorder) -> list[int]:
    """The sets with the property whose subsets with one column less are all known to lack it."""
    return [mask for mask in border.positive if all(border.lookup(smaller) is False for smaller in without_one(mask))]


def _widen(masks: Sequence[int], everything: int, asked: _Remembered, generator: random.Random, stop: Stop) -> None:
    """Widen sets without the property until no column can be added; all chains ask together."""
    chains = []
    for mask in masks:
        rest = bits(everything & ~mask)
        generator.shuffle(rest)
        chains.append((mask, rest))
    while chains:
        if stop():
            raise BudgetSpent
        answers = asked([mask | 1 << rest[-1] for mask, rest in chains if rest])
        moved = []
        for (mask, rest), has_property in zip([chain for chain in chains if chain[1]], answers, strict=True):
            column = rest.pop()
            moved.append((mask if has_property else mask | 1 << column, rest))
        chains = moved


def minimum(
    width: int, max_size: int | None, decide: Decide, stop: Stop = never, tell: Tell = silent, *, seed: int = 0
) -> FoundSets:
    """A smallest set, proven: implicit hitting sets (Moreno-Centeno and Karp, *Operations Research* 2013).

    A smallest set that hits all known complements is a lower bound. When it has the property it is the minimum;
    else it is widened to a maximal set without the property, which gives a new complement. `decided_size` is the
    proven bound: no set of at most so many columns has the property (other than the minimum itself).
    """
    everything = (1 << width) - 1
    generator = random.Random(seed)
    border = SetBorder()
    asked = _Remembered(decide, border)
    proven = -1
    try:
        while True:
            candidate = minimum_hitting_set((everything & ~negative for negative in border.negative), stop)
            if candidate is None:
                return FoundSets((), proof(border.negative), True, asked.asked, width)
            proven = max(proven, candidate.bit_count() - 1)
            if max_size is not None and proven >= max_size:
                return FoundSets((), proof(border.negative), True, asked.asked, max_size)
            if stop():
                raise BudgetSpent
            if asked([candidate])[0]:
                return FoundSets((candidate,), proof(border.negative), True, asked.asked, proven)
            _widen([candidate] * _CHAINS, everything, asked, generator, stop)
            tell(asked.asked, len(border.positive) + len(border.negative))
    except STOPPED as why:
        return FoundSets((), proof(border.negative), False, asked.asked, proven, 1, by_hand(why))
