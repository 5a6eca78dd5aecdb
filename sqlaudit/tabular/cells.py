"""The cells of a published table as numbers: which cell it is, what it says, and which cells are totals of others.

Row i of every array is the same cell. Arrays hold up to a million cells; nothing here is a value of a dimension.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sqlaudit.base.whole_arrays import plus, product

if TYPE_CHECKING:
    from sqlaudit.tabular.hidden import HiddenCells
    from sqlaudit.tabular.sums import MissedSums
    from sqlaudit.tabular.totals import AddedUp

Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int32]
Wholes: TypeAlias = npt.NDArray[Any]
"""Whole numbers: int64, or Python's integers (dtype object) where some do not fit."""
NO_PARENT = -1


@dataclass(frozen=True, eq=False)
class Breakdown:
    """What a table is broken down by.

    Args:
        name: the column or expression.
        parents: for each code the code that it is part of, -1 for none. A total is the parent of all others; with a
            hierarchy parents have parents. A cell is the sum of the cells that differ from it only in having one of the
            children here.
    """

    name: str
    parents: Codes

    @property
    def size(self) -> int:
        """How many different values there are, totals among them: codes are 0 … size − 1."""
        return len(self.parents)

    @cached_property
    def is_total(self) -> Bools:
        """For each code, whether others are part of it."""
        found = np.zeros(self.size, dtype=np.bool_)
        found[self.parents[self.parents != NO_PARENT]] = True
        return found

    @property
    def is_grand(self) -> Bools:
        """For each code, whether all others are part of it."""
        tops = np.asarray(self.parents == NO_PARENT, dtype=np.bool_)
        return self.is_total & tops if int(tops.sum()) == 1 else np.zeros_like(tops)

    @property
    def subtotals(self) -> int:
        """How many codes are sums of others, and not of all."""
        return int((self.is_total & ~self.is_grand).sum())


@dataclass(frozen=True, eq=False)
class CellMeasure:
    """One number for every cell, exactly: `units / 10**places`.

    Args:
        units: whole numbers; 0 where it is not known. known: where it is published. places: decimal places.
        elsewhere: of linked tables, where one hides it that another one publishes; None of one table.
    """

    units: Wholes
    known: Bools
    places: int = 0
    elsewhere: Bools | None = None

    @property
    def hidden(self) -> Bools:
        """Where some table hides it."""
        return ~self.known if self.elsewhere is None else ~self.known | self.elsewhere


@dataclass(frozen=True, eq=False)
class TableCells:
    """The cells of a published table, or of several linked ones.

    Args:
        dimensions: what they are broken down by. keys: the code of every cell in each of these, cells × dimensions.
        count: the count that is published, a whole number; None when none is.
        contributors: how many persons (enterprises, …) are behind a cell: a column of its own, or the count.
        value: the sum that is published. largest: the largest contributions to it, in falling order, as far as given,
            with as many decimal places as the value. weights: the sampling weight of each of these; none = 1; value and
            contributions then have at least as many decimal places as these.
        holdings: how many different holdings (households, groups) the contributors belong to.
        structural: cells in which nobody can be; None when nothing was said.
        fractional: cells one of whose counts is no whole number, and was rounded down; None without any.
        unclear: cells that may be totals, though nothing says so for certain; None without any.
        release: of several tables read together, the number of the one that a cell is from; None of one table.
        disagreeing: cells of which linked tables publish different numbers; None of one table.
        misnamed: cells whose values may be those of others by another name; None without any.
    """

    dimensions: tuple[Breakdown, ...]
    keys: Codes
    count: CellMeasure | None = None
    contributors: CellMeasure | None = None
    value: CellMeasure | None = None
    largest: tuple[CellMeasure, ...] = ()
    weights: tuple[CellMeasure, ...] = ()
    holdings: CellMeasure | None = None
    structural: Bools | None = None
    fractional: Bools | None = None
    release: Wholes | None = None
    unclear: Bools | None = None
    disagreeing: Bools | None = None
    misnamed: Bools | None = None

    def __len__(self) -> int:
        return len(self.keys)

    def some(self, which: Bools) -> TableCells:
        """Some of the cells, with all that is known of them but their release."""

        def of(one: CellMeasure) -> CellMeasure:
            elsewhere = None if one.elsewhere is None else one.elsewhere[which]
            return CellMeasure(one.units[which], one.known[which], one.places, elsewhere)

        def said(one: Bools | None) -> Bools | None:
            return None if one is None else one[which]

        count = None if self.count is None else of(self.count)
        same = self.contributors is self.count
        return TableCells(
            self.dimensions,
            self.keys[which],
            count=count,
            contributors=count if same or self.contributors is None else of(self.contributors),
            value=None if self.value is None else of(self.value),
            largest=tuple(map(of, self.largest)),
            weights=tuple(map(of, self.weights)),
            holdings=None if self.holdings is None else of(self.holdings),
            structural=said(self.structural),
            fractional=said(self.fractional),
            unclear=said(self.unclear),
            disagreeing=said(self.disagreeing),
            misnamed=said(self.misnamed),
        )

    @cached_property
    def published(self) -> tuple[CellMeasure, ...]:
        """The numbers that a reader of the table sees: its count and its value."""
        return tuple(one for one in (self.count, self.value) if one is not None)

    @cached_property
    def hidden(self) -> Bools:
        """Cells of which a published number is missing or marked as hidden."""
        found = np.zeros(len(self), dtype=np.bool_)
        for one in self.published:
            found |= one.hidden
        return found

    @cached_property
    def totals(self) -> Bools:
        """Cells that are the sum of others in some dimension."""
        found = np.zeros(len(self), dtype=np.bool_)
        for place, dimension in enumerate(self.dimensions):
            found |= dimension.is_total[self.keys[:, place]]
        return found

    @cached_property
    def added_up(self) -> AddedUp | None:
        """Which cells are sums of which others; None of several releases, and where a cell is there twice."""
        from sqlaudit.tabular.totals import added_up

        return added_up(self)

    @cached_property
    def missed(self) -> Mapping[str, MissedSums]:
        """For each measure the totals that are not the sums of their parts."""
        from sqlaudit.tabular.sums import missed_sums

        given = {"count": self.count, "value": self.value}
        added = self.added_up
        found = {} if added is None else {name: missed_sums(name, one, added) for name, one in given.items() if one}
        return {name: one for name, one in found.items() if one is not None}

    @property
    def is_noisy(self) -> bool:
        """Whether totals miss their parts in so many places, by so little, that noise was added."""
        return any(one.noisy for one in self.missed.values())

    @cached_property
    def unpicked(self) -> tuple[HiddenCells, ...]:
        """What can be deduced of hidden cells, for each measure that has some."""
        from sqlaudit.tabular.hidden import unpicked

        return unpicked(self, self.added_up)

    @cached_property
    def read_through(self) -> TableCells:
        """The cells as somebody has them who subtracts: hidden numbers that follow from others are published."""
        given = {one.measure: one for one in self.unpicked}
        count, value = (
            one and replace(given[name].given_away(one) if name in given else one, elsewhere=None)
            for name, one in (("count", self.count), ("value", self.value))
        )
        contributors = count if self.contributors is self.count else self.contributors
        return replace(self, count=count, value=value, contributors=contributors)

    def pinned(self, width: Fraction) -> tuple[Bools, Bools, str]:
        """Hidden cells that published ones leave less than a width, where that is decided, and what was missing."""
        unsafe = np.zeros(len(self), dtype=np.bool_)
        judged = np.full(len(self), self.added_up is not None)
        missing = "" if self.added_up is not None else "one row for each cell, and not too many totals left out"
        for one in self.unpicked:
            narrow, known = one.judge(width)
            unsafe |= narrow
            judged &= known
            missing = one.missing or missing
        if width > 0:
            for measure in self.published:
                unsafe |= measure.hidden & measure.known  # another table tells it
        return unsafe, judged | unsafe, missing or "more time, or the solver HiGHS: pip install 'sqlaudit[remedies]'"

    @property
    def names(self) -> tuple[str, ...]:
        """What the cells are broken down by."""
        return tuple(one.name for one in self.dimensions)

    def top(self, number: int) -> CellMeasure | None:
        """What the so many largest contributors have together; None when too few contributions are at hand.

        A contribution with a weight stands for so many contributors, the last of them in part.
        """
        if len(self.largest) < number:
            return None
        if self.weights:
            return self._weighted_top(number)
        units, known = self.largest[0].units, self.largest[0].known
        for one in self.largest[1:number]:
            units, known = plus(units, one.units), known & one.known
        return CellMeasure(units, known, self.largest[0].places)

    def _weighted_top(self, number: int) -> CellMeasure:
        places = self.weights[0].places
        left = np.full(len(self), number * 10**places, dtype=self.weights[0].units.dtype)
        units, known = left * 0, self.largest[0].known
        for one, weight in zip(self.largest[:number], self.weights, strict=False):
            taken = np.minimum(left, weight.units)
            units = plus(units, product(one.units, taken) // 10**places)  # exact: `read` gave them these places more
            left, known = left - taken, known & one.known
        return CellMeasure(units, known, self.largest[0].places)

    @cached_property
    def numbers(self) -> npt.NDArray[Any]:
        """One whole number for each cell, equal where all keys are."""
        return self.packed(self.keys)

    def packed(self, keys: Codes, places: Sequence[int] | None = None) -> npt.NDArray[Any]:
        """Keys, in some dimensions or all, as one number each."""
        places = range(len(self.dimensions)) if places is None else places
        sizes = [self.dimensions[place].size for place in places]
        wide = np.prod([float(size) for size in sizes]) >= 2.0**62
        packed: npt.NDArray[Any] = np.zeros(len(keys), dtype=object if wide else np.int64)
        for place, size in zip(places, sizes, strict=True):
            packed = packed * size + keys[:, place]
        return packed

    def groups(self, dimension: int) -> tuple[npt.NDArray[np.int64], int]:
        """For each cell the number of its group, and how many groups: cells that differ in this dimension alone."""
        others = [place for place in range(len(self.dimensions)) if place != dimension]
        _, group = np.unique(self.packed(self.keys, others), return_inverse=True)
        group = group.reshape(-1).astype(np.int64)
        return group, int(group.max(initial=-1)) + 1

    def margin(self, dimension: int) -> tuple[Wholes, Bools]:
        """For each cell the contributors of the next larger one in a dimension, and where these are known.

        That is the cell of the parent, where it is published, else the sum over all that have the same parent, where
        all of them are. A total that is part of nothing has none: -1.
        """
        assert self.contributors is not None
        units, known = self.contributors.units, self.contributors.known
        group, _ = self.groups(dimension)
        one = self.dimensions[dimension]
        codes = self.keys[:, dimension].astype(np.int64)
        parents = one.parents[codes].astype(np.int64)
        family = group * (one.size + 1) + parents + 1
        labels, place = np.unique(family, return_inverse=True)
        place = place.reshape(-1)
        sums = np.zeros(len(labels), dtype=units.dtype)
        np.add.at(sums, place, units)
        complete = np.bincount(place[~known], minlength=len(labels)) == 0
        margin, sure = sums[place], complete[place]
        own = group * (one.size + 1) + codes + 1
        order = np.argsort(own, kind="stable")
        found = np.searchsorted(own[order], family)
        there = (found < len(own)) & (parents != NO_PARENT)
        at = order[np.minimum(found, len(own) - 1)] if len(own) else found
        there &= own[at] == family if len(own) else there
        there &= known[at]
        margin = np.where(there, units[at], margin) if len(own) else margin
        top = one.is_total[codes] & (parents == NO_PARENT)
        return np.where(top, -1, margin), there | sure | top
