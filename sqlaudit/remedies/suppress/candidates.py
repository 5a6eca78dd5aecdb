"""Anonymization patterns that can be used at all: those with enough compatible rows, and nothing suppressed in vain.

A pattern keeps some columns and stars the others; its rows are those that agree with it in what it keeps. When a
pattern has too few rows, so has every pattern that keeps more (Apriori): the walk goes from the pattern that stars
everything to those that keep more, and never makes one below a pattern that failed. A pattern whose rows all agree in a
starred column is dominated by the one that keeps that column, too: the same rows, at no higher cost. It is left out,
safely.
Source: the program of Chakaravarthy, Pandit, Sabharwal, section 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sqlaudit.remedies.suppress.problem import Booleans, Integers, Problem, groups_of

A_CHOICE = 1000
"""What a choice of columns costs beside its units, in units."""


@dataclass(frozen=True)
class PatternCandidates:
    """Patterns with the units that may be attached to them.

    Args:
        starts: where the members of each pattern begin, one more at the end. members: units, pattern by pattern.
        costs: what each pattern costs a row. kept: the columns that it keeps.
    """

    starts: Integers
    members: Integers
    costs: Integers
    kept: Sequence[tuple[int, ...]]

    @property
    def patterns(self) -> int:
        """How many patterns there are."""
        return len(self.costs)

    @property
    def owner(self) -> Integers:
        """For each member the pattern that it stands under."""
        return np.repeat(np.arange(self.patterns), np.diff(self.starts))


@dataclass(frozen=True)
class _Layer:
    kept: tuple[int, ...]
    alive: Booleans


def candidates(problem: Problem, most_pairs: int, most_work: int) -> PatternCandidates | None:
    """The patterns that the exact program chooses from; None when they explode.

    Args:
        problem: what is asked. most_pairs: of a pattern and a unit, at most. most_work: units looked at, at most.
    """
    found: list[tuple[list[Integers], int]] = []
    columns: list[tuple[int, ...]] = []
    pairs = work = 0
    for kept, alive, groups in _walk(problem):
        work += problem.units + A_CHOICE
        made, cost = _closed(problem, kept, alive, groups)
        found.append((made, cost))
        columns += [kept] * len(made)
        pairs += sum(map(len, made))
        if pairs > most_pairs or work > most_work:
            return None
    members = [one for made, _ in found for one in made]
    costs = [cost for made, cost in found for _ in made]
    starts = np.concatenate([[0], np.cumsum([len(one) for one in members])]).astype(np.int64)
    return PatternCandidates(starts, np.concatenate(members), np.array(costs, dtype=np.int64), columns)


def _walk(problem: Problem) -> Iterator[tuple[tuple[int, ...], Integers, Integers]]:
    """Every choice of kept columns with a pattern that has enough rows: (columns, their units, pattern of each)."""
    everything = np.ones(problem.units, dtype=np.bool_)
    layer: dict[tuple[int, ...], _Layer] = {(): _Layer((), everything)}
    yield (), np.flatnonzero(everything), np.zeros(problem.units, dtype=np.int64)
    if problem.whole:
        step = _alive(problem, tuple(range(problem.width)), everything)
        if step is not None:
            yield step
        return
    while layer:
        below: dict[tuple[int, ...], _Layer] = {}
        for kept, above in layer.items():
            for column in range(kept[-1] + 1 if kept else 0, problem.width):
                chosen = (*kept, column)
                alive = _inherited(chosen, layer, above.alive)
                step = _alive(problem, chosen, alive) if alive is not None else None
                if step is not None:
                    still = np.zeros(problem.units, dtype=np.bool_)
                    still[step[1]] = True
                    below[chosen] = _Layer(chosen, still)
                    yield step
        layer = below


def _inherited(chosen: tuple[int, ...], layer: dict[tuple[int, ...], _Layer], alive: Booleans) -> Booleans | None:
    """The units whose patterns have enough rows above, in every direction."""
    alive = alive.copy()
    for left_out in range(len(chosen) - 1):
        above = layer.get(chosen[:left_out] + chosen[left_out + 1 :])
        if above is None:
            return None
        alive &= above.alive
    return alive


def _alive(
    problem: Problem, kept: tuple[int, ...], alive: Booleans
) -> tuple[tuple[int, ...], Integers, Integers] | None:
    """The units under patterns with enough rows and sensitive values."""
    units = np.flatnonzero(alive & problem.comparable(kept))
    if not len(units):
        return None
    groups = groups_of(problem.codes[units], kept)
    good = problem.satisfied(groups, problem.sizes[units], units, int(groups.max()) + 1)[groups]
    return (kept, units[good], groups[good]) if good.any() else None


def _closed(problem: Problem, kept: tuple[int, ...], units: Integers, groups: Integers) -> tuple[list[Integers], int]:
    """The patterns that suppress nothing in vain, as lists of units, and what one costs a row."""
    order = np.argsort(groups, kind="stable")
    units, groups = units[order], groups[order]
    starts = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
    starred = [column for column in range(problem.width) if column not in kept]
    codes = problem.codes[units][:, starred]
    low, high = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
    constant = (low == high) & ((low > 0) | (not problem.missing_alone))
    vain = constant.all(axis=1) & bool(starred) if problem.whole else constant.any(axis=1)
    ends = [*starts.tolist(), len(units)]
    made = [units[a:b] for (a, b), useless in zip(pairwise(ends), vain.tolist(), strict=True) if not useless]
    return made, sum(problem.weights[column] for column in starred)
