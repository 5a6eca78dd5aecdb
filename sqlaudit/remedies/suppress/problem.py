"""Cell suppression in whole numbers: problems, solutions and their exact costs.

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
    """A table whose cells are to be suppressed.

    Args:
        codes: (units × columns) the rank of each value in its column, 0 = NULL. A unit is a row pattern, or a row
            pattern with one sensitive value if l > 1.
        sizes: the number of rows of each unit.
        sensitive: the sensitive value of each unit, all 0 if l = 1.
        k, l: the numbers of rows and sensitive values that a group needs.
        weights: whole numbers, the cost of a cell by column.
        missing_alone: True if a missing value is equal to nothing, so that it is always suppressed.
        whole_rows: True if a row is published as it is, or all its columns are `*`.
    """

    codes: Integers
    sizes: Integers
    sensitive: Integers
    k: int
    l: int  # noqa: E741
    weights: tuple[int, ...]
    missing_alone: bool = False
    whole_rows: bool = False

    @property
    def units(self) -> int:
        """Return the number of units."""
        return len(self.sizes)

    @property
    def width(self) -> int:
        """Return the number of columns."""
        return int(self.codes.shape[1])

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return int(self.sizes.sum())

    @cached_property
    def row_patterns(self) -> int:
        """Return the number of different rows, whatever their sensitive value."""
        return int(groups_of(self.codes, range(self.width)).max(initial=-1)) + 1

    @property
    def trivial(self) -> bool:
        """Return True if every row may stay as it is."""
        return self.k <= 1 and self.l <= 1

    def comparable(self, columns: Sequence[int]) -> Booleans:
        """Return which units can be equal to others in these columns: with `missing_alone`, those without missing
        values there.
        """
        if not self.missing_alone:
            return np.ones(self.units, dtype=np.bool_)
        return np.asarray((self.codes[:, list(columns)] > 0).all(axis=1), dtype=np.bool_)

    def satisfied(self, groups: Integers, copies: Integers, units: Integers, number: int) -> Booleans:
        """Return for each of the groups 0 … number-1 whether it has k rows and l sensitive values."""
        enough = np.bincount(groups, weights=copies, minlength=number).astype(np.int64) >= self.k
        if self.l > 1:
            pairs = groups * (int(self.sensitive.max(initial=0)) + 1) + self.sensitive[units]
            different = np.unique(pairs[copies > 0]) // (int(self.sensitive.max(initial=0)) + 1)
            enough &= np.bincount(different, minlength=number) >= self.l
        return np.asarray(enough, dtype=np.bool_)

    def grouped(self, columns: Sequence[int], candidates: Booleans, copies: Integers) -> tuple[Integers, Integers]:
        """Return the units that agree in some columns with enough others, and the number of each one's group.

        Args:
            columns: the columns.
            candidates: which units to look at.
            copies: the number of copies of each unit.
        """
        units = np.flatnonzero(candidates & self.comparable(columns))
        if not len(units):
            return units, units
        groups = groups_of(self.codes[units], columns)
        good = self.satisfied(groups, copies[units], units, int(groups.max()) + 1)[groups]
        return units[good], groups[good]


def merge_equal_columns(problem: Problem) -> Problem:
    """Return the problem with fewer columns: those that separate the same rows become one, with the sum of weights.

    Such columns are constant in the same groups, so that they are suppressed together. Columns with one value are
    removed.

    Example:
        >>> twins = Problem(np.array([[1, 2, 1], [2, 1, 1]]), np.array([1, 1]), np.zeros(2, int), 2, 1, (1, 1, 1))
        >>> merged = merge_equal_columns(twins)
        >>> merged.codes.tolist(), merged.weights
        ([[1], [2]], (2,))
    """
    weights: dict[tuple[int, ...], int] = {}
    for codes, weight in zip(problem.codes.T.tolist(), problem.weights, strict=True):
        # Number the values in the order of their first row. 0 stays 0 if missing values are equal to nothing
        names: dict[int, int] = {0: 0} if problem.missing_alone else {}
        first = 1 - len(names)
        renamed = tuple(names.setdefault(code, len(names) + first) for code in codes)
        if len(set(renamed)) > 1 or 0 in renamed:
            weights[renamed] = weights.get(renamed, 0) + weight
    if len(weights) == problem.width or not weights or problem.whole_rows:  # a whole row costs what all columns weigh
        return problem
    return replace(problem, codes=np.array(list(weights), dtype=np.int64).T, weights=tuple(weights.values()))


@dataclass(frozen=True)
class Solution:
    """A partition of the rows into groups, with the columns suppressed in each group.

    Args:
        units, copies, groups: the number of copies of a unit in a group; one entry a unit and group, in order.
        starred: (groups × columns) True where a column is suppressed.
        cost: the weighted number of suppressed cells.
        cells: the number of suppressed cells of each column.
    """

    units: Integers
    copies: Integers
    groups: Integers
    starred: Booleans
    cost: int
    cells: tuple[int, ...]

    @property
    def pieces(self) -> Iterator[tuple[int, int, int]]:
        """Return (unit, copies, group), in order."""
        return zip(self.units.tolist(), self.copies.tolist(), self.groups.tolist(), strict=True)


def make_solution(problem: Problem, units: Integers, copies: Integers, groups: Integers) -> Solution:
    """Return the solution of a partition: columns that differ within a group are starred, and equal groups are merged.

    Args:
        problem: the problem.
        units, copies, groups: the partition, in any order. Groups have any numbers.

    Raises:
        ValueError: a row is missing or used twice, or a group is too small or not diverse.
    """
    _, groups = np.unique(groups, return_inverse=True)
    starred = starred_columns(problem, units, groups)
    visible_codes = np.where(starred[groups], -1, problem.codes[units])
    groups = groups_of(visible_codes + 1, range(problem.width))
    number = int(groups.max(initial=-1)) + 1
    pairs, pair_numbers = np.unique(units * max(number, 1) + groups, return_inverse=True)
    total = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(total, pair_numbers, copies)
    pairs, copies = pairs[total > 0], total[total > 0]
    member_units, groups = np.divmod(pairs, max(number, 1))
    starred = starred_columns(problem, member_units, groups)
    if not np.array_equal(
        np.bincount(member_units, weights=copies, minlength=problem.units).astype(np.int64), problem.sizes
    ):
        raise ValueError("a partition takes every row once")
    if not problem.trivial and not problem.satisfied(groups, copies, member_units, number).all():
        raise ValueError("a group is too small or not diverse")
    rows = np.zeros(number, dtype=np.int64)
    np.add.at(rows, groups, copies)
    cells = tuple(int(rows[starred[:, column]].sum()) for column in range(problem.width))
    cost = sum(weight * count for weight, count in zip(problem.weights, cells, strict=True))
    return Solution(member_units, copies, groups, starred, cost, cells)


class Membership:
    """A partition that changes: the copies of units in each group.

    Args:
        problem: the problem.
        pieces: (unit, copies, group) to begin with.
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
        """Attach copies of a unit to a group. A negative number removes them."""
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
        """Return the number of copies of a unit that a group can do without."""
        spare = min(self.members[group][unit], self.sizes[group] - self._problem.k)
        if self._problem.l > 1 and len(self.values[group]) <= self._problem.l:
            spare = min(spare, self.values[group][self.sensitive[unit]] - 1)
        return spare

    def partition(self) -> tuple[Integers, Integers, Integers]:
        """Return the partition as (units, copies, groups)."""
        pieces = [(unit, n, group) for group, members in self.members.items() for unit, n in members.items()]
        units, copies, groups = (np.array(part, dtype=np.int64) for part in zip(*pieces, strict=True))
        return units, copies, groups


def starred_columns(problem: Problem, units: Integers, groups: Integers) -> Booleans:
    """Return which columns are suppressed in each group 0, 1, …: those that differ within it."""
    number = int(groups.max(initial=-1)) + 1
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(number))
    codes = problem.codes[units[order]]
    low, high = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
    starred = low != high
    if problem.missing_alone and not problem.trivial:
        starred |= low == 0
    if problem.whole_rows:
        starred |= starred.any(axis=1, keepdims=True)
    return np.asarray(starred, dtype=np.bool_)


# The anonymization patterns that a solution can use: with enough compatible rows, and nothing suppressed needlessly.
#
# A pattern keeps some columns and stars the others; its rows are those that agree with it in what it keeps. When a
# pattern has too few rows, so has every pattern that keeps more (Apriori): the walk goes from the pattern that stars
# everything to those that keep more, and never makes one below a pattern that failed. A pattern whose rows all agree
# in a starred column is dominated by the one that keeps that column, too: the same rows, at no higher cost. It is left
# out, safely. Source: the program of Chakaravarthy, Pandit, Sabharwal, section 4.

CHOICE_COST = 1000
"""Work for a choice of columns in addition to its units, counted in units."""


@dataclass(frozen=True)
class PatternCandidates:
    """Patterns with the units that may be attached to them.

    Args:
        starts: the start of each pattern in `members`, and the end of the last.
        members: units, pattern by pattern.
        costs: the cost of a row under each pattern.
        columns: the columns that each pattern keeps.
    """

    starts: Integers
    members: Integers
    costs: Integers
    columns: Sequence[tuple[int, ...]]

    @property
    def patterns(self) -> int:
        """Return the number of patterns."""
        return len(self.costs)

    @property
    def owner(self) -> Integers:
        """Return the pattern of each member."""
        return np.repeat(np.arange(self.patterns), np.diff(self.starts))

    @cached_property
    def units(self) -> list[list[int]]:
        """Return the members of each pattern."""
        members = self.members.tolist()
        return [members[a:b] for a, b in pairwise(self.starts.tolist())]

    def attached(self, solution: Solution) -> Iterator[tuple[int, int, int]]:
        """Return (unit, copies, pattern) of a solution. Its patterns are candidates, because what they star differs."""
        number = {
            (columns, unit): pattern for pattern, columns in enumerate(self.columns) for unit in self.units[pattern]
        }
        kept_columns = [tuple(np.flatnonzero(~row).tolist()) for row in solution.starred]
        return ((unit, count, number[kept_columns[group], unit]) for unit, count, group in solution.pieces)


def find_candidates(problem: Problem, most_pairs: int, most_work: int) -> PatternCandidates | None:
    """Return the patterns that the exact program chooses from, None if there are too many.

    Args:
        problem: the problem.
        most_pairs: the largest number of pairs of a pattern and a unit.
        most_work: the largest number of units to look at.
    """
    members: list[Integers] = []
    costs: list[int] = []
    kept_columns: list[tuple[int, ...]] = []
    pairs = work = 0
    for columns, alive, groups in _walk_column_choices(problem):
        work += problem.units + CHOICE_COST
        patterns, cost = _useful_patterns(problem, columns, alive, groups)
        members += patterns
        costs += [cost] * len(patterns)
        kept_columns += [columns] * len(patterns)
        pairs += sum(map(len, patterns))
        if pairs > most_pairs or work > most_work:
            return None
    starts = np.concatenate([[0], np.cumsum([len(units) for units in members])]).astype(np.int64)
    return PatternCandidates(starts, np.concatenate(members), np.array(costs, dtype=np.int64), kept_columns)


def _walk_column_choices(problem: Problem) -> Iterator[tuple[tuple[int, ...], Integers, Integers]]:
    """Yield every choice of kept columns that has a pattern with enough rows, its units, and each one's pattern."""
    everything = np.ones(problem.units, dtype=np.bool_)
    layer: dict[tuple[int, ...], Booleans] = {(): everything}
    yield (), np.flatnonzero(everything), np.zeros(problem.units, dtype=np.int64)
    if problem.whole_rows:
        all_columns = tuple(range(problem.width))
        units, groups = problem.grouped(all_columns, everything, problem.sizes)
        if len(units):
            yield all_columns, units, groups
        return
    while layer:
        below: dict[tuple[int, ...], Booleans] = {}
        for columns in layer:
            for column in range(columns[-1] + 1 if columns else 0, problem.width):
                chosen = (*columns, column)
                # Only units whose patterns with one column less have enough rows, for every such choice
                coarser_choices = [
                    layer.get(chosen[:position] + chosen[position + 1 :]) for position in range(len(chosen))
                ]
                coarser = [is_frequent for is_frequent in coarser_choices if is_frequent is not None]
                if len(coarser) < len(coarser_choices):
                    continue
                units, groups = problem.grouped(chosen, np.logical_and.reduce(coarser), problem.sizes)
                if len(units):
                    below[chosen] = np.zeros(problem.units, dtype=np.bool_)
                    below[chosen][units] = True
                    yield chosen, units, groups
        layer = below


def _useful_patterns(
    problem: Problem, columns: tuple[int, ...], units: Integers, groups: Integers
) -> tuple[list[Integers], int]:
    """Return the patterns that suppress nothing needlessly, as lists of units, and the cost of a row under them."""
    order = np.argsort(groups, kind="stable")
    units, groups = units[order], groups[order]
    starts = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
    starred = [column for column in range(problem.width) if column not in columns]
    codes = problem.codes[units][:, starred]
    low, high = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
    constant = (low == high) & ((low > 0) | (not problem.missing_alone))
    vain = constant.all(axis=1) & bool(starred) if problem.whole_rows else constant.any(axis=1)
    ends = [*starts.tolist(), len(units)]
    patterns = [units[a:b] for (a, b), useless in zip(pairwise(ends), vain.tolist(), strict=True) if not useless]
    return patterns, sum(problem.weights[column] for column in starred)
