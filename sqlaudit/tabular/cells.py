"""The cells of a published table as numbers: their keys, their measures, and which cells are totals of others.

Row i of every array is the same cell. Arrays hold up to a million cells and no value of a dimension, only its code. An
axis is the index of a dimension.
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
from sqlaudit.base.names import shown
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
"""Fields of `TableCells` that mark some of its cells."""


@dataclass(frozen=True, eq=False)
class Breakdown:
    """A dimension of a table: its codes, and which codes are part of which others.

    Args:
        name: the column or expression.
        parents: for each code the code that it is part of, -1 for none. A total is the parent of all others; with a
            hierarchy parents have parents. A cell is the sum of the cells that differ from it only in having one of the
            children here.
        nested: True if some codes may be totals of those that extend them.
    """

    name: str
    parents: Codes
    nested: bool = False

    @classmethod
    def plain(cls, name: str, size: int) -> Breakdown:
        """Return a dimension of this many codes, none of which is part of another."""
        return cls(name, np.full(size, NO_PARENT, dtype=np.int32))

    @property
    def size(self) -> int:
        """Number of different values, totals among them: codes are 0 … size − 1."""
        return len(self.parents)

    @cached_property
    def is_total(self) -> Bools:
        """For each code, True if other codes are part of it."""
        is_parent = np.zeros(self.size, dtype=np.bool_)
        is_parent[self.parents[self.parents != NO_PARENT]] = True
        return is_parent

    @property
    def is_grand(self) -> Bools:
        """For each code, True if all other codes are part of it."""
        tops = np.asarray(self.parents == NO_PARENT, dtype=np.bool_)
        return self.is_total & tops if int(tops.sum()) == 1 else np.zeros_like(tops)

    @property
    def subtotals(self) -> int:
        """Number of codes that are sums of others, and not of all."""
        return int((self.is_total & ~self.is_grand).sum())


@dataclass(frozen=True, eq=False)
class CellLimits:
    """Limits of hidden numbers that readers know before they add anything up, in units of the measure.

    Args:
        lower, upper: the limits; -FREE and FREE where there are none.
        promised: the distance between the limits that the mark of the cell states; FREE where it states none.
        least: lower limit of every number that is hidden in its row.
        stated: True if that is certain, whatever totals say.
    """

    lower: Integers
    upper: Integers
    promised: Integers
    least: int = 0
    stated: bool = False

    @classmethod
    def unlimited(cls, cells: int) -> CellLimits:
        """Return no limits for this number of cells."""
        free = np.full(cells, FREE, dtype=np.int64)
        return cls(-free, free, free.copy())

    def apply(self, change: Callable[[Integers], Integers]) -> CellLimits:
        """Return the limits after a change to each array."""
        lower, upper, promised = map(change, (self.lower, self.upper, self.promised))
        return CellLimits(lower, upper, promised, self.least, self.stated)


@dataclass(frozen=True, eq=False)
class CellMeasure:
    """One number for every cell, exactly: `units / 10**places`.

    Args:
        units: whole numbers; 0 where the number is not known.
        known: True where the number is published.
        places: number of decimal places.
        elsewhere: of linked tables, True where one table hides what another one publishes; None of one table.
        limits: of hidden numbers; None where readers know none.
    """

    units: Wholes
    known: Bools
    places: int = 0
    elsewhere: Bools | None = None
    limits: CellLimits | None = None

    @property
    def hidden(self) -> Bools:
        """Cells whose number some table hides."""
        return ~self.known if self.elsewhere is None else ~self.known | self.elsewhere

    def select(self, which: Bools | Wholes) -> CellMeasure:
        """Return the measure of some cells, which may be selected several times."""
        elsewhere = None if self.elsewhere is None else self.elsewhere[which]
        limits = self.limits and self.limits.apply(lambda array: array[which])
        return CellMeasure(self.units[which], self.known[which], self.places, elsewhere, limits)


@dataclass(frozen=True, eq=False)
class TableCells:
    """The cells of a published table, or of several linked ones.

    Args:
        dimensions: what they are broken down by.
        keys: the code of every cell in each dimension, cells × dimensions.
        count: the count that is published, a whole number; None when none is.
        contributors: number of people (enterprises, …) in a cell: a column of its own, or the count.
        value: the sum that is published.
        largest: the largest contributions to the sum, in falling order, as far as given, with as many decimal places as
            the value.
        weights: the sampling weight of each of these; empty = 1. The value and contributions then have at least as many
            decimal places as these.
        volume: lower limit of the sum of all absolute contributions, where some may be negative and `largest` has
            absolute values; None where that is the value.
        holdings: number of different holdings (households, groups) that the contributors belong to.
        structural: cells in which no one can be; None when nothing was stated.
        fractional: cells one of whose counts is not a whole number, and was rounded down; None without any.
        unclear: cells that may be totals, though nothing shows it for certain; None without any.
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

    def select(self, which: Bools | Wholes) -> TableCells:
        """Return some of the cells with all that is known of them, without their release."""
        count = self.count and self.count.select(which)
        counts_contributors = self.contributors is self.count
        return TableCells(
            self.dimensions,
            self.keys[which],
            count,
            count if counts_contributors else self.contributors and self.contributors.select(which),
            self.value and self.value.select(which),
            tuple(contribution.select(which) for contribution in self.largest),
            tuple(weight.select(which) for weight in self.weights),
            self.holdings and self.holdings.select(which),
            volume=self.volume and self.volume.select(which),
            **{name: marks[which] for name in MARKS if (marks := getattr(self, name)) is not None},
        )

    def with_hidden_cells(self, keys: Codes) -> TableCells:
        """Return the cells and further ones, which are hidden because they have no row."""
        cells = self.select(np.append(np.arange(len(self)), np.zeros(len(keys), dtype=np.int64)))
        last = slice(len(self), None)
        cells.keys[last] = keys
        single = (cells.count, cells.contributors, cells.value, cells.holdings, cells.volume)
        measures = (*single, *cells.largest, *cells.weights)
        for measure in measures:
            if measure is not None:
                measure.units[last], measure.known[last] = 0, False
                if measure.elsewhere is not None:
                    measure.elsewhere[last] = False
                if measure.limits is not None:
                    measure.limits.lower[last], measure.limits.upper[last], measure.limits.promised[last] = (
                        -FREE,
                        FREE,
                        FREE,
                    )
        for name in MARKS:
            if (marks := getattr(cells, name)) is not None:
                marks[last] = False
        return replace(cells, left_out=np.arange(len(cells)) >= len(self))

    @cached_property
    def published(self) -> tuple[CellMeasure, ...]:
        """The numbers that a reader of the table sees: its count and its value."""
        return tuple(measure for measure in (self.count, self.value) if measure is not None)

    @cached_property
    def hidden(self) -> Bools:
        """Cells of which a published number is missing or marked as hidden."""
        is_hidden: Bools = np.logical_or.reduce(
            [np.zeros(len(self), np.bool_), *(measure.hidden for measure in self.published)]
        )
        return is_hidden

    @cached_property
    def totals(self) -> Bools:
        """Cells that are the sum of others in some dimension."""
        columns = zip(self.dimensions, self.keys.T, strict=True)
        is_total: Bools = np.logical_or.reduce([dimension.is_total[codes] for dimension, codes in columns])
        return is_total

    @property
    def broken_down(self) -> Integers:
        """For each cell the number of dimensions in which it is not the total of everything."""
        grand = (
            (dimension.is_total & (dimension.parents == NO_PARENT))[codes]
            for dimension, codes in zip(self.dimensions, self.keys.T, strict=True)
        )
        return np.asarray(len(self.dimensions) - sum(grand, np.zeros(len(self), dtype=np.int64)), dtype=np.int64)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the dimensions."""
        return tuple(dimension.name for dimension in self.dimensions)

    def top(self, number: int) -> CellMeasure | None:
        """Return the sum of the largest contributions of each cell; None when too few contributions are known.

        A contribution with a weight stands for that many contributors, the last of them in part.

        Args:
            number: how many contributions are added up.
        """
        if len(self.largest) < number:
            return None
        if self.weights:
            return self._weighted_top(number)
        units, is_known = self.largest[0].units, self.largest[0].known
        for contribution in self.largest[1:number]:
            units, is_known = plus(units, contribution.units), is_known & contribution.known
        return CellMeasure(units, is_known, self.largest[0].places)

    def _weighted_top(self, number: int) -> CellMeasure:
        """Return the sum of the largest contributions, each counted as often as its weight says, up to the number."""
        places = self.weights[0].places
        left = np.full(len(self), number * 10**places, dtype=self.weights[0].units.dtype)
        units, is_known = left * 0, self.largest[0].known
        for contribution, weight in zip(self.largest[:number], self.weights, strict=False):
            used_weight = np.minimum(left, weight.units)
            # exact: contributions have at least as many decimal places as weights
            units = plus(units, product(contribution.units, used_weight) // 10**places)
            left, is_known = left - used_weight, is_known & contribution.known
        return CellMeasure(units, is_known, self.largest[0].places)

    @cached_property
    def packed_keys(self) -> npt.NDArray[Any]:
        """One whole number for each cell, equal where all keys are equal."""
        return self.pack_keys(self.keys)

    def with_dimension(self, axis: int, dimension: Breakdown) -> TableCells:
        """Return the cells with another dimension at an axis."""
        return replace(self, dimensions=(*self.dimensions[:axis], dimension, *self.dimensions[axis + 1 :]))

    def pack_keys(self, keys: Codes, axes: Sequence[int] | None = None) -> npt.NDArray[Any]:
        """Return keys as one whole number each.

        Args:
            keys: codes, cells × dimensions.
            axes: the dimensions that count; None = all.
        """
        axes = range(len(self.dimensions)) if axes is None else axes
        sizes = [self.dimensions[axis].size for axis in axes]
        wide = np.prod([float(size) for size in sizes]) >= 2.0**62
        packed: npt.NDArray[Any] = np.zeros(len(keys), dtype=object if wide else np.int64)
        for axis, size in zip(axes, sizes, strict=True):
            packed = packed * size + keys[:, axis]
        return packed

    def group_along(self, axis: int) -> tuple[npt.NDArray[np.int64], int]:
        """Return the group of each cell, and the number of groups. A group differs in this dimension alone."""
        others = [other for other in range(len(self.dimensions)) if other != axis]
        _, group = np.unique(self.pack_keys(self.keys, others), return_inverse=True)
        group = group.reshape(-1).astype(np.int64)
        return group, int(group.max(initial=-1)) + 1

    def margin(self, dimension: int) -> tuple[Wholes, Bools]:
        """Return for each cell the contributors of the next larger one in a dimension, and where these are known.

        The next larger cell is that of the parent, where it is published, else the sum over all cells with the same
        parent, where all of them are. A total that is part of nothing has none: -1.
        """
        assert self.contributors is not None
        units, is_known = self.contributors.units, self.contributors.known
        if not len(self):
            return units, is_known
        group, _ = self.group_along(dimension)
        breakdown = self.dimensions[dimension]
        codes = self.keys[:, dimension].astype(np.int64)
        parents = breakdown.parents[codes].astype(np.int64)
        parent_ids = group * (breakdown.size + 1) + parents + 1
        families, family = np.unique(parent_ids, return_inverse=True)
        family = family.reshape(-1)
        sums = np.zeros(len(families), dtype=units.dtype)
        np.add.at(sums, family, units)
        complete = np.bincount(family[~is_known], minlength=len(families)) == 0
        margin, is_complete = sums[family], complete[family]
        cell_ids = group * (breakdown.size + 1) + codes + 1
        order = np.argsort(cell_ids, kind="stable")
        position = np.searchsorted(cell_ids[order], parent_ids)
        parent_cell = order[np.minimum(position, len(cell_ids) - 1)]
        is_parent_known = (cell_ids[parent_cell] == parent_ids) & (parents != NO_PARENT) & is_known[parent_cell]
        top = breakdown.is_total[codes] & (parents == NO_PARENT)
        return np.where(
            top, -1, np.where(is_parent_known, units[parent_cell], margin)
        ), is_parent_known | is_complete | top


def cache_per_table(compute: Callable[[TableCells], T]) -> Callable[[TableCells], T]:
    """Return a function of a table that is computed once for each table and stored in it: tables never change."""

    @wraps(compute)
    def cached(cells: TableCells) -> T:
        if compute.__qualname__ not in cells.__dict__:
            cells.__dict__[compute.__qualname__] = compute(cells)
        value: T = cells.__dict__[compute.__qualname__]
        return value

    return cached


def published_measures(cells: TableCells) -> Iterator[tuple[str, CellMeasure]]:
    """Yield the name and the measure of what is published: `count`, `value`."""
    yield from (
        (name, cell_measure)
        for name, cell_measure in (("count", cells.count), ("value", cells.value))
        if cell_measure is not None
    )


_WHOLE_FLOATS = 2.0**53
_MOST_DIGITS = 40
_EXACT = Context(prec=100)
MOST_PLACES = 18


def read_measure(name: str, column: npt.NDArray[Any], hidden: Sequence[str] = (), decimal: str = ".") -> CellMeasure:
    """Return a column as exact numbers; NULL and the marks of hidden cells are not known.

    Args:
        name: the column.
        column: its cells, NULLs masked.
        hidden: texts that mark hidden cells.
        decimal: the decimal sign of texts; the other one may separate thousands.

    Raises:
        InputError: cells that are neither a number nor such a mark.
    """
    is_known = ~np.ma.getmaskarray(column)
    data = np.ma.getdata(column)
    if data.dtype.kind in "iubf":
        is_known &= ~_find_marked(data, hidden)
    if data.dtype.kind in "iub":
        return CellMeasure(
            np.where(is_known, data, 0).astype(np.int64 if data.dtype != np.uint64 else object), is_known
        )
    if data.dtype.kind == "f":
        is_known &= ~np.isnan(np.where(is_known, data, 0.0))
        data = np.where(is_known, data, 0.0)
        if bool(np.all((data == np.floor(data)) & (np.abs(data) < _WHOLE_FLOATS))):
            return CellMeasure(data.astype(np.int64), is_known)
    return _read_texts(name, data, is_known, hidden, decimal)


def _read_texts(name: str, data: npt.NDArray[Any], is_known: Bools, hidden: Sequence[str], decimal: str) -> CellMeasure:
    """Return texts, decimals, large numbers or fractions as exact numbers. Each different text is read once.

    Raises:
        InputError: cells that are neither a number nor a mark, or have too many decimal places.
    """
    marks = {mark.strip() for mark in hidden}
    texts = [str(cell).strip() if is_present else "" for cell, is_present in zip(data, is_known, strict=True)]
    are_texts = any(isinstance(cell, str) for cell in data[is_known])
    read = {text: _parse_number(plain_number(text, decimal) if are_texts else text) for text in set(texts) - marks}
    strange = {text for text, number in read.items() if number is None}
    if cells := sum(text in strange for text, is_present in zip(texts, is_known, strict=True) if is_present):
        raise InputError(
            f"{plural(cells, 'cell')} of {shown(name)} {'is not a number' if cells == 1 else 'are not numbers'}. "
            f"Name the marks of hidden cells with {spelled('hidden')}."
        )
    same = set(map(_parse_number, marks))
    numbers = {text: number for text, number in read.items() if number is not None and number not in same}
    exponents = [number.normalize(_EXACT).as_tuple().exponent for number in numbers.values()]
    places = max([0, *(-exponent for exponent in exponents if isinstance(exponent, int))])
    if places > MOST_PLACES:
        raise InputError(f"{shown(name)} has numbers with more than {MOST_PLACES} decimal places. Round them.")
    units_by_text = {text: int(number.scaleb(places, _EXACT)) for text, number in numbers.items()}
    units = wholes([units_by_text.get(text, 0) for text in texts])
    return CellMeasure(units, np.array([text in units_by_text for text in texts], dtype=np.bool_), places)


def with_mark_limits(
    cell_measure: CellMeasure, column: npt.NDArray[Any], marks: Sequence[Mark], least: int | None
) -> CellMeasure:
    """Return the measure with the limits that marks set for its hidden cells.

    Args:
        cell_measure: the measure of a column.
        column: the cells of the column, NULLs masked.
        marks: of hidden cells.
        least: lower limit of hidden counts, 1 where zeros are published; None of a column without counts.
    """
    limits = CellLimits.unlimited(len(cell_measure.units))
    missing, data = np.ma.getmaskarray(column), np.ma.getdata(column)
    for mark in marks:
        if (mark.low is None and mark.high is None) or (mark.counts_only and least is None):
            continue
        cells = missing if not mark.text else _find_marked(data, [mark.text]) if data.dtype.kind in "iubf" else ~missing
        if mark.text and data.dtype.kind not in "iubf":
            cells = cells & np.array([str(cell).strip() == mark.text for cell in data], dtype=np.bool_)
        start = -FREE if mark.low is None else ceil(mark.low * 10**cell_measure.places)
        limits.lower[cells] = np.maximum(limits.lower[cells], start)
        if mark.high is not None:
            end, begin = (
                floor(mark.high * 10**cell_measure.places),
                int(least is not None) if mark.low is None else start,
            )
            limits.upper[cells], limits.promised[cells] = end, max(1, end - max(begin, least or 0))
    return replace(cell_measure, limits=limits)


def _find_marked(data: npt.NDArray[Any], hidden: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return the cells whose number is a mark of hidden cells, as -1 or 999 may be."""
    is_marked = np.zeros(len(data), dtype=np.bool_)
    for number in [number for mark in hidden if (number := _parse_number(mark.strip())) is not None]:
        is_marked |= data == (int(number) if number == number.to_integral_value(context=_EXACT) else float(number))
    return is_marked


def _parse_number(text: str) -> Decimal | None:
    try:
        number = Decimal(text if text.isascii() and "_" not in text else "")
    except InvalidOperation:
        return None
    return number if number.is_finite() and number.adjusted() < _MOST_DIGITS else None


def align_decimals(measures: Sequence[CellMeasure]) -> tuple[CellMeasure, ...]:
    """Return the same numbers, all with as many decimal places as the measure that has most."""
    places = max((cell_measure.places for cell_measure in measures), default=0)
    return tuple(_with_places(cell_measure, places) for cell_measure in measures)


def _with_places(cell_measure: CellMeasure, places: int) -> CellMeasure:
    """Return the same numbers with more decimal places."""
    factor = 10 ** (places - cell_measure.places)
    free = FREE // factor
    limits = cell_measure.limits and cell_measure.limits.apply(
        lambda limit: np.where(np.abs(limit) >= free, np.sign(limit) * FREE, limit * factor)
    )
    return replace(cell_measure, units=times(cell_measure.units, factor), places=places, limits=limits)


def as_integers(cell_measure: CellMeasure) -> npt.NDArray[np.int64] | None:
    """Return the units of a measure as 64-bit integers; None where some do not fit."""
    if cell_measure.units.dtype != object:
        return cell_measure.units.astype(np.int64)
    if any(abs(unit) >= FREE for unit in cell_measure.units.tolist()):
        return None
    return cell_measure.units.astype(np.int64)
