"""The cells of a published table as numbers: which cell it is, what it says, and which cells are totals of others.

Row i of every array is the same cell. Arrays hold up to a million cells; nothing here is a value of a dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal, InvalidOperation
from functools import cached_property, wraps
from math import ceil, floor
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from sqlaudit.base.errors import InputError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.whole_arrays import plus, product, times, wholes
from sqlaudit.reports.document import plural
from sqlaudit.tabular.labels import Mark, plain_number
from sqlaudit.tabular.secondary.system import FREE, Integers

Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int32]
Wholes: TypeAlias = npt.NDArray[Any]
"""Whole numbers: int64, or Python's integers (dtype object) where some do not fit."""
T = TypeVar("T")
NO_PARENT = -1
MARKS = ("structural", "fractional", "unclear", "nested", "rolled_up", "disagreeing", "misnamed", "left_out")
"""What is said of some cells of a table."""


@dataclass(frozen=True, eq=False)
class Breakdown:
    """What a table is broken down by.

    Args:
        name: the column or expression.
        parents: for each code the code that it is part of, -1 for none. A total is the parent of all others; with a
            hierarchy parents have parents. A cell is the sum of the cells that differ from it only in having one of the
            children here.
        nested: whether some codes may be totals of those that extend them.
    """

    name: str
    parents: Codes
    nested: bool = False

    @classmethod
    def plain(cls, name: str, size: int) -> Breakdown:
        """So many values, none of which is part of another."""
        return cls(name, np.full(size, NO_PARENT, dtype=np.int32))

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
class CellLimits:
    """The limits of hidden numbers that readers know before they add anything up, in units of the measure.

    Args:
        lower, upper: limits; -FREE and FREE where there are none. promised: how far apart the mark of the cell says
            that they are; FREE where it says nothing.
        least: of every number that is hidden in its row. stated: whether that is certain, whatever totals say.
    """

    lower: Integers
    upper: Integers
    promised: Integers
    least: int = 0
    stated: bool = False

    @classmethod
    def none(cls, cells: int) -> CellLimits:
        """Return no limits for so many cells."""
        free = np.full(cells, FREE, dtype=np.int64)
        return cls(-free, free, free.copy())

    def each(self, change: Callable[[Integers], Integers]) -> CellLimits:
        """Return the limits after a change to each array."""
        lower, upper, promised = map(change, (self.lower, self.upper, self.promised))
        return CellLimits(lower, upper, promised, self.least, self.stated)


@dataclass(frozen=True, eq=False)
class CellMeasure:
    """One number for every cell, exactly: `units / 10**places`.

    Args:
        units: whole numbers; 0 where it is not known. known: where it is published. places: decimal places.
        elsewhere: of linked tables, where one hides it that another one publishes; None of one table.
        limits: of hidden numbers; None where readers know none.
    """

    units: Wholes
    known: Bools
    places: int = 0
    elsewhere: Bools | None = None
    limits: CellLimits | None = None

    @property
    def hidden(self) -> Bools:
        """Where some table hides it."""
        return ~self.known if self.elsewhere is None else ~self.known | self.elsewhere

    def some(self, which: Bools | Wholes) -> CellMeasure:
        """The same of some cells, which may be there several times."""
        elsewhere = None if self.elsewhere is None else self.elsewhere[which]
        limits = self.limits and self.limits.each(lambda one: one[which])
        return CellMeasure(self.units[which], self.known[which], self.places, elsewhere, limits)


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
        volume: the least that the sizes of all contributions add up to, where some may be negative and `largest` has
            sizes; None where that is the value.
        holdings: how many different holdings (households, groups) the contributors belong to.
        structural: cells in which nobody can be; None when nothing was said.
        fractional: cells one of whose counts is no whole number, and was rounded down; None without any.
        unclear: cells that may be totals, though nothing says so for certain; None without any.
        nested: cells whose code others extend, and that may be the totals of these; None without any.
        rolled_up: those of them with a missing value, as ROLLUP writes totals: rows that were left out may follow.
        release: of several tables read together, the number of the one that a cell is from; None of one table.
        disagreeing: cells of which linked tables publish different numbers; None of one table.
        misnamed: cells whose values may be those of others by another name; None without any.
        left_out: hidden cells that have no row, though totals count them; None without any.
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
    nested: Bools | None = None
    rolled_up: Bools | None = None
    disagreeing: Bools | None = None
    misnamed: Bools | None = None
    left_out: Bools | None = None
    volume: CellMeasure | None = None

    def __len__(self) -> int:
        return len(self.keys)

    def some(self, which: Bools | Wholes) -> TableCells:
        """Some of the cells, with all that is known of them but their release."""
        count = self.count and self.count.some(which)
        counted = self.contributors is self.count
        return TableCells(
            self.dimensions,
            self.keys[which],
            count,
            count if counted else self.contributors and self.contributors.some(which),
            self.value and self.value.some(which),
            tuple(one.some(which) for one in self.largest),
            tuple(one.some(which) for one in self.weights),
            self.holdings and self.holdings.some(which),
            volume=self.volume and self.volume.some(which),
            **{name: marks[which] for name in MARKS if (marks := getattr(self, name)) is not None},
        )

    def with_left_out(self, keys: Codes) -> TableCells:
        """The cells with further ones, which are hidden because they have no row."""
        found = self.some(np.append(np.arange(len(self)), np.zeros(len(keys), dtype=np.int64)))
        last = slice(len(self), None)
        found.keys[last] = keys
        single = (found.count, found.contributors, found.value, found.holdings, found.volume)
        measures = (*single, *found.largest, *found.weights)
        for one in measures:
            if one is not None:
                one.units[last], one.known[last] = 0, False
                if one.elsewhere is not None:
                    one.elsewhere[last] = False
                if one.limits is not None:
                    one.limits.lower[last], one.limits.upper[last], one.limits.promised[last] = -FREE, FREE, FREE
        for name in MARKS:
            if (marks := getattr(found, name)) is not None:
                marks[last] = False
        return replace(found, left_out=np.arange(len(found)) >= len(self))

    @cached_property
    def published(self) -> tuple[CellMeasure, ...]:
        """The numbers that a reader of the table sees: its count and its value."""
        return tuple(one for one in (self.count, self.value) if one is not None)

    @cached_property
    def hidden(self) -> Bools:
        """Cells of which a published number is missing or marked as hidden."""
        found: Bools = np.logical_or.reduce([np.zeros(len(self), np.bool_), *(one.hidden for one in self.published)])
        return found

    @cached_property
    def totals(self) -> Bools:
        """Cells that are the sum of others in some dimension."""
        columns = zip(self.dimensions, self.keys.T, strict=True)
        found: Bools = np.logical_or.reduce([one.is_total[codes] for one, codes in columns])
        return found

    @property
    def broken_down(self) -> Integers:
        """By how many dimensions each cell is broken down: those in which it is not the total of everything."""
        grand = (
            (one.is_total & (one.parents == NO_PARENT))[codes]
            for one, codes in zip(self.dimensions, self.keys.T, strict=True)
        )
        return np.asarray(len(self.dimensions) - sum(grand, np.zeros(len(self), dtype=np.int64)), dtype=np.int64)

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
            units = plus(units, product(one.units, taken) // 10**places)  # exact: they have these places more
            left, known = left - taken, known & one.known
        return CellMeasure(units, known, self.largest[0].places)

    @cached_property
    def numbers(self) -> npt.NDArray[Any]:
        """One whole number for each cell, equal where all keys are."""
        return self.packed(self.keys)

    def with_dimension(self, place: int, dimension: Breakdown) -> TableCells:
        """The cells with another reading of one dimension."""
        return replace(self, dimensions=(*self.dimensions[:place], dimension, *self.dimensions[place + 1 :]))

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
        if not len(self):
            return units, known
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
        at = order[np.minimum(found, len(own) - 1)]
        there = (own[at] == family) & (parents != NO_PARENT) & known[at]
        top = one.is_total[codes] & (parents == NO_PARENT)
        return np.where(top, -1, np.where(there, units[at], margin)), there | sure | top


def once_per_table(compute: Callable[[TableCells], T]) -> Callable[[TableCells], T]:
    """A function of a table that is computed once and kept with it: tables never change."""

    @wraps(compute)
    def kept(cells: TableCells) -> T:
        if compute.__qualname__ not in cells.__dict__:
            cells.__dict__[compute.__qualname__] = compute(cells)
        found: T = cells.__dict__[compute.__qualname__]
        return found

    return kept


def measures_of(cells: TableCells) -> Iterator[tuple[str, CellMeasure]]:
    """What is published, by its name."""
    yield from ((name, one) for name, one in (("count", cells.count), ("value", cells.value)) if one is not None)


_WHOLE_FLOATS = 2.0**53
_MOST_DIGITS = 40
_EXACT = Context(prec=100)
MOST_PLACES = 18


def measure(name: str, given: npt.NDArray[Any], hidden: Sequence[str] = (), decimal: str = ".") -> CellMeasure:
    """A column as exact numbers; NULL and the marks of hidden cells are not known.

    Args:
        name: of the column. given: its cells, NULLs masked. hidden: texts that mark hidden cells. decimal: the decimal
            sign of texts; the other one may separate thousands.

    Raises:
        InputError: cells that are neither a number nor such a mark.
    """
    known = ~np.ma.getmaskarray(given)
    data = np.ma.getdata(given)
    if data.dtype.kind in "iubf":
        known &= ~_marked(data, hidden)
    if data.dtype.kind in "iub":
        return CellMeasure(np.where(known, data, 0).astype(np.int64 if data.dtype != np.uint64 else object), known)
    if data.dtype.kind == "f":
        known &= ~np.isnan(np.where(known, data, 0.0))
        data = np.where(known, data, 0.0)
        if bool(np.all((data == np.floor(data)) & (np.abs(data) < _WHOLE_FLOATS))):
            return CellMeasure(data.astype(np.int64), known)
    return _written(name, data, known, hidden, decimal)


def _written(name: str, data: npt.NDArray[Any], known: Bools, hidden: Sequence[str], decimal: str) -> CellMeasure:
    """Cells that are texts, decimals, large numbers or fractions: each different one is read once."""
    marks = {mark.strip() for mark in hidden}
    texts = [str(cell).strip() if there else "" for cell, there in zip(data, known, strict=True)]
    are_texts = any(isinstance(cell, str) for cell in data[known])
    read = {text: _number(plain_number(text, decimal) if are_texts else text) for text in set(texts) - marks}
    strange = {text for text, number in read.items() if number is None}
    if cells := sum(text in strange for text, there in zip(texts, known, strict=True) if there):
        raise InputError(
            f"{plural(cells, 'cell')} of {name!r} {'is not a number' if cells == 1 else 'are not numbers'}. "
            f"Name the marks of hidden cells with {spelled('hidden')}."
        )
    same = set(map(_number, marks))
    numbers = {text: number for text, number in read.items() if number is not None and number not in same}
    exponents = [number.normalize(_EXACT).as_tuple().exponent for number in numbers.values()]
    places = max([0, *(-one for one in exponents if isinstance(one, int))])
    if places > MOST_PLACES:
        raise InputError(f"{name!r} has numbers with more than {MOST_PLACES} decimal places. Round them.")
    whole = {text: int(number.scaleb(places, _EXACT)) for text, number in numbers.items()}
    units = wholes([whole.get(text, 0) for text in texts])
    return CellMeasure(units, np.array([text in whole for text in texts], dtype=np.bool_), places)


def limits_of(one: CellMeasure, given: npt.NDArray[Any], marks: Sequence[Mark], least: int | None) -> CellMeasure:
    """Return the measure with what marks say of its hidden cells.

    Args:
        one: the measure of a column. given: the cells of the column, NULLs masked. marks: of hidden cells.
        least: of hidden counts, 1 where zeros are published; None of a column that is not one of counts.
    """
    limits = CellLimits.none(len(one.units))
    missing, data = np.ma.getmaskarray(given), np.ma.getdata(given)
    for mark in marks:
        if (mark.low is None and mark.high is None) or (mark.counts_only and least is None):
            continue
        cells = missing if not mark.text else _marked(data, [mark.text]) if data.dtype.kind in "iubf" else ~missing
        if mark.text and data.dtype.kind not in "iubf":
            cells = cells & np.array([str(cell).strip() == mark.text for cell in data], dtype=np.bool_)
        start = -FREE if mark.low is None else ceil(mark.low * 10**one.places)
        limits.lower[cells] = np.maximum(limits.lower[cells], start)
        if mark.high is not None:
            end, begin = floor(mark.high * 10**one.places), int(least is not None) if mark.low is None else start
            limits.upper[cells], limits.promised[cells] = end, max(1, end - max(begin, least or 0))
    return replace(one, limits=limits)


def _marked(data: npt.NDArray[Any], hidden: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Which numbers are marks of hidden cells, as -1 or 999 may be."""
    found = np.zeros(len(data), dtype=np.bool_)
    for number in [number for mark in hidden if (number := _number(mark.strip())) is not None]:
        found |= data == (int(number) if number == number.to_integral_value(context=_EXACT) else float(number))
    return found


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text if text.isascii() and "_" not in text else "")
    except InvalidOperation:
        return None
    return number if number.is_finite() and number.adjusted() < _MOST_DIGITS else None


def alike(measures: Sequence[CellMeasure]) -> tuple[CellMeasure, ...]:
    """The same numbers, all with as many decimal places as the one that has most."""
    places = max((one.places for one in measures), default=0)
    return tuple(_in_places(one, places) for one in measures)


def _in_places(one: CellMeasure, places: int) -> CellMeasure:
    """Return the same numbers with more decimal places."""
    factor = 10 ** (places - one.places)
    free = FREE // factor
    limits = one.limits and one.limits.each(
        lambda some: np.where(np.abs(some) >= free, np.sign(some) * FREE, some * factor)
    )
    return replace(one, units=times(one.units, factor), places=places, limits=limits)


def as_integers(one: CellMeasure) -> npt.NDArray[np.int64] | None:
    """The units of a measure as 64 bits; None where some do not fit."""
    if one.units.dtype != object:
        return one.units.astype(np.int64)
    if any(abs(unit) >= FREE for unit in one.units.tolist()):
        return None
    return one.units.astype(np.int64)
