"""Cell suppression in whole numbers: what is asked, what an answer is, and what it costs, counted exactly.

The rows of one group are published alike: a column in which they differ becomes `*` in all of them. A solution is a
partition of the rows into groups of at least k rows and l sensitive values; it costs the sum over the groups of rows
times the weights of the columns that are not constant. Source: Chakaravarthy, Pandit, Sabharwal: On the Complexity of
the k-Anonymization Problem, section 2. Copies of one pattern may be in different groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]
_WIDEST = 1 << 62


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
        renamed = _renamed(codes, missing_alone=problem.missing_alone)
        if len(set(renamed)) > 1 or 0 in renamed:
            weights[renamed] = weights.get(renamed, 0) + weight
    if len(weights) == problem.width or not weights or problem.whole:  # a whole row costs what all columns weigh
        return problem
    return replace(problem, codes=np.array(list(weights), dtype=np.int64).T, weights=tuple(weights.values()))


def _renamed(codes: Sequence[int], *, missing_alone: bool) -> tuple[int, ...]:
    """Codes in the order of their first row; 0 stays what it is where missing values are alone."""
    names: dict[int, int] = {0: 0} if missing_alone else {}
    return tuple(names.setdefault(code, len(names) if missing_alone else len(names) + 1) for code in codes)


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


def solution_of(problem: Problem, units: Integers, copies: Integers, groups: Integers) -> Solution:
    """The solution that a partition is: what is not constant in a group is starred, and equal groups are one.

    Args:
        problem: what is asked. units, copies, groups: the partition, in any order; groups have any numbers.

    Raises:
        ValueError: it is no solution; a row is missing or taken twice, or a group is too small or not diverse.
    """
    _, groups = np.unique(groups, return_inverse=True)
    starred = _starred(problem, units, groups)
    shown = np.where(starred[groups], -1, problem.codes[units])
    groups = groups_of(shown + 1, range(problem.width))
    taken, groups, copies = _summed(units, groups, copies)
    _, first = np.unique(groups, return_index=True)
    starred = _starred(problem, taken, groups)
    if not np.array_equal(np.bincount(taken, weights=copies, minlength=problem.units).astype(np.int64), problem.sizes):
        raise ValueError("a partition takes every row once")
    if not problem.trivial and not problem.satisfied(groups, copies, taken, len(first)).all():
        raise ValueError("a group is too small or not diverse")
    rows = np.zeros(len(first), dtype=np.int64)
    np.add.at(rows, groups, copies)
    cells = tuple(int(rows[starred[:, column]].sum()) for column in range(problem.width))
    cost = sum(weight * count for weight, count in zip(problem.weights, cells, strict=True))
    return Solution(taken, copies, groups, starred, cost, cells)


def as_it_is(problem: Problem) -> Solution:
    """The solution that suppresses nothing, for a problem that asks for nothing."""
    units = np.arange(problem.units)
    groups = groups_of(problem.codes, range(problem.width))
    return Solution(
        units,
        problem.sizes,
        groups,
        np.zeros((problem.row_patterns, problem.width), dtype=np.bool_),
        0,
        (0,) * problem.width,
    )


def groups_of(codes: Integers, columns: Sequence[int]) -> Integers:
    """A number 0, 1, … for each row of codes, the same for rows that agree in some columns.

    Example:
        >>> groups_of(np.array([[3, 1], [4, 1], [3, 1]]), [0, 1]).tolist()
        [0, 1, 0]
    """
    packed, size = np.zeros(len(codes), dtype=np.int64), 1
    for column in columns:
        width = int(codes[:, column].max(initial=0)) + 1
        if size * width >= _WIDEST:
            found, packed = np.unique(packed, return_inverse=True)
            size = len(found)
        packed = packed * width + codes[:, column]
        size *= width
    return np.asarray(np.unique(packed, return_inverse=True)[1], dtype=np.int64)


def _starred(problem: Problem, units: Integers, groups: Integers) -> Booleans:
    """The columns that differ within each group."""
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


def _summed(units: Integers, groups: Integers, copies: Integers) -> tuple[Integers, Integers, Integers]:
    """One entry for each unit and group, in this order, with the copies of both added up."""
    width = int(groups.max(initial=0)) + 1
    pairs, place = np.unique(units * width + groups, return_inverse=True)
    total = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(total, place, copies)
    kept = total > 0
    return (pairs // width)[kept], (pairs % width)[kept], total[kept]
