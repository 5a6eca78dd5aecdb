"""Cell suppression in whole numbers: what is asked, what an answer is, and what it costs, counted exactly.

The rows of one group are published alike: a column in which they differ becomes `*` in all of them. A solution is a
partition of the rows into groups of at least k rows and l sensitive values; it costs the sum over the groups of rows
times the weights of the columns that are not constant. Source: Chakaravarthy, Pandit, Sabharwal: On the Complexity of
the k-Anonymization Problem, section 2. Copies of one pattern may be in different groups.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sqlaudit.remedies.rewriting import Integers, groups_of

Booleans = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Problem:
    """What has to be made safe.

    Args:
        codes: (units × columns) the rank of each value in its column, 0 = NULL. A unit is a row pattern, or a row
            pattern with one sensitive value where l > 1.
        sizes: rows of each unit. sensitive: its sensitive value; all 0 where l = 1.
        k, l: rows and sensitive values that a group needs. weights: of the columns, whole numbers.
        missing_alone: a missing value is equal to nothing, so that it is always suppressed.
        whole: a row is published as it is, or all its columns are `*`.
    """

    codes: Integers
    sizes: Integers
    sensitive: Integers
    k: int
    l: int  # noqa: E741
    weights: tuple[int, ...]
    missing_alone: bool = False
    whole: bool = False

    @property
    def units(self) -> int:
        """How many units there are."""
        return len(self.sizes)

    @property
    def width(self) -> int:
        """How many columns there are."""
        return int(self.codes.shape[1])

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.sizes.sum())

    @cached_property
    def row_patterns(self) -> int:
        """How many different rows there are, whatever their sensitive value."""
        return int(groups_of(self.codes, range(self.width)).max(initial=-1)) + 1

    @property
    def trivial(self) -> bool:
        """Whether every row may stay as it is."""
        return self.k <= 1 and self.l <= 1

    def comparable(self, kept: Sequence[int]) -> Booleans:
        """The units that can be equal to others in some columns: without a missing value there, if that is alone."""
        if not self.missing_alone:
            return np.ones(self.units, dtype=np.bool_)
        return np.asarray((self.codes[:, list(kept)] > 0).all(axis=1), dtype=np.bool_)

    def satisfied(self, groups: Integers, copies: Integers, units: Integers, number: int) -> Booleans:
        """Whether each of the groups 0 … number-1 has k rows and l sensitive values."""
        enough = np.bincount(groups, weights=copies, minlength=number).astype(np.int64) >= self.k
        if self.l > 1:
            pairs = groups * (int(self.sensitive.max(initial=0)) + 1) + self.sensitive[units]
            different = np.unique(pairs[copies > 0]) // (int(self.sensitive.max(initial=0)) + 1)
            enough &= np.bincount(different, minlength=number) >= self.l
        return np.asarray(enough, dtype=np.bool_)

    def grouped(self, kept: Sequence[int], among: Booleans, copies: Integers) -> tuple[Integers, Integers]:
        """Of some units those that agree in some columns with enough others, and a number for those that agree.

        Args:
            kept: the columns. among: which units. copies: how many of each unit there are.
        """
        units = np.flatnonzero(among & self.comparable(kept))
        if not len(units):
            return units, units
        groups = groups_of(self.codes[units], kept)
        good = self.satisfied(groups, copies[units], units, int(groups.max()) + 1)[groups]
        return units[good], groups[good]


def reduced(problem: Problem) -> Problem:
    """The same problem with fewer columns: those that tell the same rows apart become one, with the sum of weights.

    Such columns are constant in the same groups, so that they are suppressed together. A column with one value goes.

    Example:
        >>> twins = Problem(np.array([[1, 2, 1], [2, 1, 1]]), np.array([1, 1]), np.zeros(2, int), 2, 1, (1, 1, 1))
        >>> reduced(twins).codes.tolist(), reduced(twins).weights
        ([[1], [2]], (2,))
    """
    weights: dict[tuple[int, ...], int] = {}
    for codes, weight in zip(problem.codes.T.tolist(), problem.weights, strict=True):
        # in the order of their first row; 0 stays what it is where missing values are alone
        names: dict[int, int] = {0: 0} if problem.missing_alone else {}
        first = 1 - len(names)
        renamed = tuple(names.setdefault(code, len(names) + first) for code in codes)
        if len(set(renamed)) > 1 or 0 in renamed:
            weights[renamed] = weights.get(renamed, 0) + weight
    if len(weights) == problem.width or not weights or problem.whole:  # a whole row costs what all columns weigh
        return problem
    return replace(problem, codes=np.array(list(weights), dtype=np.int64).T, weights=tuple(weights.values()))


@dataclass(frozen=True)
class Solution:
    """Which copies go into which group, with what is published of each group.

    Args:
        units, copies, groups: so many copies of a unit are in a group; one entry a unit and group, in order.
        starred: (groups × columns) what is suppressed. cost: the weighted number of suppressed cells.
        cells: suppressed cells of each column.
    """

    units: Integers
    copies: Integers
    groups: Integers
    starred: Booleans
    cost: int
    cells: tuple[int, ...]

    @property
    def pieces(self) -> Iterator[tuple[int, int, int]]:
        """(unit, copies, group), in order."""
        return zip(self.units.tolist(), self.copies.tolist(), self.groups.tolist(), strict=True)


def solution_of(problem: Problem, units: Integers, copies: Integers, groups: Integers) -> Solution:
    """The solution that a partition is: what is not constant in a group is starred, and equal groups are one.

    Args:
        problem: what is asked. units, copies, groups: the partition, in any order; groups have any numbers.

    Raises:
        ValueError: it is no solution; a row is missing or taken twice, or a group is too small or not diverse.
    """
    _, groups = np.unique(groups, return_inverse=True)
    starred = starred_in(problem, units, groups)
    shown = np.where(starred[groups], -1, problem.codes[units])
    groups = groups_of(shown + 1, range(problem.width))
    number = int(groups.max(initial=-1)) + 1
    pairs, place = np.unique(units * max(number, 1) + groups, return_inverse=True)
    total = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(total, place, copies)
    pairs, copies = pairs[total > 0], total[total > 0]
    taken, groups = np.divmod(pairs, max(number, 1))
    starred = starred_in(problem, taken, groups)
    if not np.array_equal(np.bincount(taken, weights=copies, minlength=problem.units).astype(np.int64), problem.sizes):
        raise ValueError("a partition takes every row once")
    if not problem.trivial and not problem.satisfied(groups, copies, taken, number).all():
        raise ValueError("a group is too small or not diverse")
    rows = np.zeros(number, dtype=np.int64)
    np.add.at(rows, groups, copies)
    cells = tuple(int(rows[starred[:, column]].sum()) for column in range(problem.width))
    cost = sum(weight * count for weight, count in zip(problem.weights, cells, strict=True))
    return Solution(taken, copies, groups, starred, cost, cells)


class Membership:
    """Which copies of units are attached to which group.

    Args:
        problem: what is asked. pieces: (unit, copies, group) to begin with.
    """

    def __init__(self, problem: Problem, pieces: Iterable[tuple[int, int, int]]) -> None:
        self._problem = problem
        self.sensitive: list[int] = problem.sensitive.tolist()
        self.members: dict[int, Counter[int]] = defaultdict(Counter)
        self.homes: dict[int, set[int]] = defaultdict(set)
        self.sizes: Counter[int] = Counter()
        self.values: dict[int, Counter[int]] = defaultdict(Counter)
        for unit, count, group in pieces:
            self.put(unit, group, count)

    def put(self, unit: int, group: int, count: int) -> None:
        """Attach copies of a unit to a group; a negative number takes them out."""
        members, values, value = self.members[group], self.values[group], self.sensitive[unit]
        members[unit] += count
        values[value] += count
        self.sizes[group] += count
        if not values[value]:
            del values[value]
        if members[unit]:
            self.homes[unit].add(group)
        else:
            del members[unit]
            self.homes[unit].discard(group)

    def spare(self, unit: int, group: int) -> int:
        """How many copies of a unit a group can do without."""
        spare = min(self.members[group][unit], self.sizes[group] - self._problem.k)
        if self._problem.l > 1 and len(self.values[group]) <= self._problem.l:
            spare = min(spare, self.values[group][self.sensitive[unit]] - 1)
        return spare

    def partition(self) -> tuple[Integers, Integers, Integers]:
        """(units, copies, groups)."""
        listed = [(unit, n, group) for group, members in self.members.items() for unit, n in members.items()]
        units, copies, groups = (np.array(part, dtype=np.int64) for part in zip(*listed, strict=True))
        return units, copies, groups


def starred_in(problem: Problem, units: Integers, groups: Integers) -> Booleans:
    """What is suppressed in each group, 0, 1, …: the columns that differ within it."""
    number = int(groups.max(initial=-1)) + 1
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(number))
    codes = problem.codes[units[order]]
    low, high = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
    starred = low != high
    if problem.missing_alone and not problem.trivial:
        starred |= low == 0
    if problem.whole:
        starred |= starred.any(axis=1, keepdims=True)
    return np.asarray(starred, dtype=np.bool_)


# Anonymization patterns that can be used at all: those with enough compatible rows, and nothing suppressed in vain.
#
# A pattern keeps some columns and stars the others; its rows are those that agree with it in what it keeps. When a
# pattern has too few rows, so has every pattern that keeps more (Apriori): the walk goes from the pattern that stars
# everything to those that keep more, and never makes one below a pattern that failed. A pattern whose rows all agree
# in a starred column is dominated by the one that keeps that column, too: the same rows, at no higher cost. It is left
# out, safely. Source: the program of Chakaravarthy, Pandit, Sabharwal, section 4.

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

    @cached_property
    def units(self) -> list[list[int]]:
        """The members of each pattern."""
        listed = self.members.tolist()
        return [listed[a:b] for a, b in pairwise(self.starts.tolist())]

    def attached(self, solution: Solution) -> Iterator[tuple[int, int, int]]:
        """(unit, copies, pattern) of a solution. Its patterns are candidates: what they star differs."""
        number = {(kept, unit): pattern for pattern, kept in enumerate(self.kept) for unit in self.units[pattern]}
        shown = [tuple(np.flatnonzero(~row).tolist()) for row in solution.starred]
        return ((unit, count, number[shown[group], unit]) for unit, count, group in solution.pieces)


def candidates(problem: Problem, most_pairs: int, most_work: int) -> PatternCandidates | None:
    """The patterns that the exact program chooses from; None when they explode.

    Args:
        problem: what is asked. most_pairs: of a pattern and a unit, at most. most_work: units looked at, at most.
    """
    members: list[Integers] = []
    costs: list[int] = []
    columns: list[tuple[int, ...]] = []
    pairs = work = 0
    for kept, alive, groups in _walk(problem):
        work += problem.units + A_CHOICE
        made, cost = _closed(problem, kept, alive, groups)
        members += made
        costs += [cost] * len(made)
        columns += [kept] * len(made)
        pairs += sum(map(len, made))
        if pairs > most_pairs or work > most_work:
            return None
    starts = np.concatenate([[0], np.cumsum([len(one) for one in members])]).astype(np.int64)
    return PatternCandidates(starts, np.concatenate(members), np.array(costs, dtype=np.int64), columns)


def _walk(problem: Problem) -> Iterator[tuple[tuple[int, ...], Integers, Integers]]:
    """Every choice of kept columns with a pattern that has enough rows: (columns, their units, pattern of each)."""
    everything = np.ones(problem.units, dtype=np.bool_)
    layer: dict[tuple[int, ...], Booleans] = {(): everything}
    yield (), np.flatnonzero(everything), np.zeros(problem.units, dtype=np.int64)
    if problem.whole:
        every = tuple(range(problem.width))
        units, groups = problem.grouped(every, everything, problem.sizes)
        if len(units):
            yield every, units, groups
        return
    while layer:
        below: dict[tuple[int, ...], Booleans] = {}
        for kept in layer:
            for column in range(kept[-1] + 1 if kept else 0, problem.width):
                chosen = (*kept, column)
                # only units whose patterns have enough rows above, in every direction
                above = [layer.get(chosen[:place] + chosen[place + 1 :]) for place in range(len(chosen))]
                known = [one for one in above if one is not None]
                if len(known) < len(above):
                    continue
                units, groups = problem.grouped(chosen, np.logical_and.reduce(known), problem.sizes)
                if len(units):
                    below[chosen] = np.zeros(problem.units, dtype=np.bool_)
                    below[chosen][units] = True
                    yield chosen, units, groups
        layer = below


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
