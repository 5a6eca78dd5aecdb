"""A published table read as cells: which values of a dimension stand for others, and keys as codes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain, pairwise
from math import ceil, floor
from typing import Any

import numpy as np

from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.whole_arrays import minus, plus
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.read import read_hierarchies
from sqlaudit.reports.document import plural
from sqlaudit.tabular.cells import (
    NO_PARENT,
    Bools,
    Breakdown,
    CellLimits,
    CellMeasure,
    Codes,
    TableCells,
    Wholes,
    alike,
    limits_of,
    measure,
    measures_of,
)
from sqlaudit.tabular.labels import code_parents, never_totals
from sqlaudit.tabular.listing import ListedCells, check_contributions
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.secondary.system import FREE, Integers, rounding_base
from sqlaudit.tabular.totals import with_left_out

_MOST_GROUPS, _MOST_STEPS = 100, 5_000
"""So many groups of cells, and ways to put a value under others in them, are tried for each value."""
# Which values of a dimension stand for others: named ones, usual words, those of a hierarchy, or what adds up.
_MOST_ALONE = 100
"""Of so many values without others beside them it is asked whether they are the total of the table."""
_NOISE = 50
"""A total may miss its parts by fiftieth of itself, as where noise was added to each."""
_ADDABLE = 2**40
"""Numbers below this, a million of them, add up within 64 bits."""


def likely_totals(cells: TableCells, place: int, known_total: int | None = None) -> list[int]:
    """Values that may be the sum of all others in some group of cells, and in none are something else.

    Others may be sums themselves, of further ones: a country beside its regions and their towns. Then each of these
    has to find a place below it, and what is left of a sum is that of hidden cells.

    Args:
        cells: the table. place: of the dimension. known_total: the code that stands for all in any case; groups that
            publish it say nothing of others, as they have to add up to it.
    """
    codes, parents = cells.keys[:, place], cells.dimensions[place].parents
    group, groups = cells.groups(place)
    looked = (parents[codes] == NO_PARENT) & (codes != known_total)
    says, denies = np.zeros(len(parents), dtype=np.bool_), np.zeros(len(parents), dtype=np.bool_)
    nested: list[_Nested] = []
    for one in cells.published:
        lacks = np.bincount(group[(codes == known_total) & ~one.known], minlength=groups) > 0
        which = looked if known_total is None else looked & lacks[group]
        found = _Nested(codes[which], group[which], groups, one.some(which))
        says[found.codes[found.possible]] = True
        denies[found.codes[found.impossible]] = True
        nested.append(found)
    return [code for code in np.flatnonzero(says & ~denies).tolist() if all(one.is_top(code) for one in nested)]


def may_be_total(cells: TableCells, place: int, code: int) -> bool:
    """Whether a value may be the sum of all others, some of which may have no row: no number of it is too small."""
    which = cells.dimensions[place].parents[cells.keys[:, place]] == NO_PARENT
    group, groups = cells.groups(place)
    for one in cells.published:
        if bool((one.units < 0).any()):
            continue
        found = _Nested(cells.keys[which, place], group[which], groups, one.some(which), left_out=True)
        if bool(found.impossible[found.codes == code].any()) or not found.is_top(code):
            return False
    return True


def lone_totals(cells: TableCells, place: int, totals: Mapping[int, int]) -> list[int]:
    """Values that have no cell beside others, and are at least as much as all others: the total of a whole table.

    Args:
        cells: the table. place: of the dimension. totals: by dimension, the code that is known to stand for all.
    """
    codes = cells.keys[:, place]
    group, groups = cells.groups(place)
    beside = np.bincount(group, minlength=groups)[group] > 1
    alone = np.setdiff1d(codes, codes[beside])
    below = np.ones(len(cells), dtype=np.bool_)
    for other, code in totals.items():
        below &= (cells.keys[:, other] != code) | (other == place)
    found = set()
    for one in cells.published:
        for code in alone[:_MOST_ALONE].tolist():
            own, others = (codes == code) & one.known, (codes != code) & below
            whole = (
                sum(one.units[own & below].tolist()) if bool((own & below).any()) else max(one.units[own], default=-1)
            )
            if bool((others & ~one.known).any()) and whole >= sum(one.units[others & one.known].tolist()):
                found.add(code)
    return sorted(found)


@dataclass
class _Nested:
    """Cells in groups that differ in one dimension alone, of which one may be the sum of all others.

    Args:
        codes: in that dimension. group: the number of each cell's. groups: how many. one: what is published of each.
        left_out: whether cells of any group may have no row.
    """

    codes: Wholes
    group: Wholes
    groups: int
    one: CellMeasure
    left_out: bool = False
    steps: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        units, known, group = self.one.units, self.one.known, self.group
        self.hidden = np.bincount(group[~known], minlength=self.groups)
        self.beside = np.bincount(group, minlength=self.groups)[group] - 1
        sums = np.zeros(self.groups, dtype=units.dtype if int(np.abs(units).max(initial=0)) < _ADDABLE else object)
        np.add.at(sums, group, units)  # what is not known is 0
        base = None if units.dtype == object else rounding_base(units[known].astype(np.int64))
        each = 2 * (base.base - 1) if base is not None else 0
        noise = np.where(self.beside > 1, np.abs(units) // _NOISE, 0)
        self.slack = np.maximum(np.where(self.beside > 0, (self.beside + 1) * each, 0), noise)
        others, whole = sums[group] - units, (self.hidden[group] == 0) & (not self.left_out)
        if bool((units < 0).any()):  # then hidden cells may be below zero, too
            self.flat = np.where(whole, np.abs(units - others) <= self.slack, True).astype(np.bool_)
            self.deep = np.zeros_like(known)
        else:
            largest = np.zeros(self.groups, dtype=units.dtype)
            np.maximum.at(largest, group, units)
            enough = units + self.slack >= others
            within = units - self.slack <= others + most_hidden(self.one, group, self.groups)[group]
            within |= self.left_out
            self.flat = np.where(whole, enough & (units - self.slack <= others), enough & within).astype(np.bool_)
            top = units + self.slack >= largest[group]
            deep = top & (2 * (units + self.slack) >= others) & ~self.flat
            self.deep = (deep & within).astype(np.bool_)
        seen = known & (self.beside > 0)
        self.possible = seen & (self.flat | self.deep) & ((units != 0).astype(np.bool_) | ~whole)
        self.impossible = seen & ~(self.flat | self.deep)

    def is_top(self, code: int) -> bool:
        """Whether all others find a place below a value, in every group where they are more than the value together."""
        deep = np.flatnonzero((self.codes == code) & self.deep & self.one.known)
        for cell in deep[np.argsort(self.beside[deep], kind="stable")][:_MOST_GROUPS].tolist():
            beside = (self.group == self.group[cell]) & self.one.known
            beside[cell] = False
            values = sorted(self.one.units[beside].tolist(), reverse=True)
            self.steps = 0
            top, slack = int(self.one.units[cell]), int(self.slack[cell])
            if not self._fits(values, [top], [0], int(self.hidden[self.group[cell]]), slack):
                return False
        return True

    def _fits(self, values: Sequence[int], left: list[int], parts: list[int], hidden: int, slack: int) -> bool:
        """Put the next value under the first one, or under one of those that are there already.

        Args:
            values: that have no place yet, in falling order. left: of the sum, then of each of its parts. parts: how
                many each has. hidden: sums that hidden cells may be the rest of.
        """
        self.steps += 1
        if self.steps > _MOST_STEPS:
            return True  # nobody knows
        if not values:
            return sum(rest > slack for rest, some in zip(left, parts, strict=True) if some) <= hidden
        tried = set()
        for place, rest in enumerate(left):
            if rest + slack < values[0] or (rest, parts[place] > 0, place == 0) in tried:
                continue
            tried.add((rest, parts[place] > 0, place == 0))
            own = [values[0]] if place == 0 else []
            further = [rest - values[0] if at == place else one for at, one in enumerate(left)] + own
            more = [some + (at == place) for at, some in enumerate(parts)] + [0] * len(own)
            if self._fits(values[1:], further, more, hidden, slack):
                return True
        return False


def most_hidden(one: CellMeasure, group: Wholes, groups: int) -> Integers:
    """Return for each group of cells the most that its hidden ones can be together, FREE where one has no limit."""
    upper = np.where(one.known, 0, FREE if one.limits is None else one.limits.upper)
    free = np.bincount(group[upper >= FREE], minlength=groups) > 0
    sums = np.zeros(groups, dtype=np.int64)
    np.add.at(sums, group, np.where(upper >= FREE, 0, upper))
    return np.where(free, FREE, sums)


_FEWEST_VALUES, _MOST_VALUES, _MOST_PARTS, _MOST_SUBTOTAL_GROUPS = 3, 200, 40, 12
_MOST_SUBTOTAL_STEPS, _MOST_NUMBERS = 50_000, 5_000_000
_SURE = 16.0
"""Bits by which what adds up is more than what chance would make add up."""


def subtotals_of(cells: TableCells, dimension: int, left_out: Sequence[int]) -> dict[int, int]:
    """The value that each value is part of, for values that are a sum of others in every group of cells.

    A group is of cells that differ in this dimension alone. A sum counts where it is the only one that fits, and where
    so many groups agree in such large numbers that no chance would have it.

    Args:
        cells: the table. dimension: in which. left_out: codes that are neither parts nor sums: totals of everything.
    """
    every = _groups(cells, dimension, left_out)
    if every is None or bool((every < 0).any()):
        return {}
    search = _SumSearch(every[np.argsort(-np.count_nonzero(every, axis=1), kind="stable")[:_MOST_SUBTOTAL_GROUPS]])
    found: dict[int, int] = {}
    others = [code for code in range(every.shape[1]) if bool(every[:, code].any())]
    for code in sorted(others, key=lambda one: (int(every[:, one].sum()), one)):
        left = [one for one in others if one != code and one not in found]
        parts = search.only(code, [one for one in left if bool((every[:, one] <= every[:, code]).all())])
        if parts and np.array_equal(every[:, list(parts)].sum(axis=1), every[:, code]):
            found |= dict.fromkeys(parts, code)
    return found


def _groups(cells: TableCells, dimension: int, left_out: Sequence[int]) -> Integers | None:
    """Groups × values: the numbers of groups of which everything is published, each different one once."""
    if not cells.published or len(np.unique(cells.numbers)) < len(cells):
        return None
    one, size = cells.published[0], cells.dimensions[dimension].size
    if one.units.dtype == object or not _FEWEST_VALUES <= size <= _MOST_VALUES:
        return None
    group, number = cells.groups(dimension)
    code = cells.keys[:, dimension]
    whole = np.ones(number, dtype=np.bool_)
    whole[group[~one.known & ~np.isin(code, list(left_out))]] = False
    row = np.cumsum(whole) - 1
    there = whole[group]
    if not int(whole.sum()) or int(whole.sum()) * size > _MOST_NUMBERS:
        return None
    table = np.zeros((int(whole.sum()), size), dtype=np.int64)
    table[row[group[there]], code[there]] = one.units[there]
    table[:, list(left_out)] = 0
    return np.asarray(np.unique(table, axis=0), dtype=np.int64)


@dataclass
class _SumSearch:
    """Sums of columns that are another column, in all rows.

    Args:
        rows: groups × values.
    """

    rows: Integers
    steps: int = 0
    _found: list[tuple[int, ...]] = field(default_factory=list)

    def only(self, code: int, parts: Sequence[int]) -> tuple[int, ...]:
        """The parts of a value; none where there are several ways, none, or too little that says so."""
        target = self.rows[:, code]
        sure = float(np.log2(target + 1.0).sum()) - len(parts)
        if not 2 <= len(parts) <= _MOST_PARTS or sure < _SURE:
            return ()
        order = sorted(parts, key=lambda one: -int(self.rows[:, one].sum()))
        columns = [self.rows[:, one].tolist() for one in order]
        left = np.cumsum(self.rows[:, order[::-1]], axis=1)[:, ::-1].T.tolist()
        self._found = []
        self._step(columns, [*left, [0] * len(target)], target.tolist(), 0, ())
        found = self._found
        return tuple(order[place] for place in found[0]) if len(found) == 1 and len(found[0]) > 1 else ()

    def _step(
        self, columns: list[list[int]], left: list[list[int]], target: list[int], at: int, taken: tuple[int, ...]
    ) -> None:
        """Take the next value, or leave it, as long as what is left can still be reached."""
        self.steps += 1
        if not any(target):
            self._found.append(taken)
            return
        if at == len(columns) or len(self._found) > 1 or self.steps > _MOST_SUBTOTAL_STEPS:
            self._found += [()] * (self.steps > _MOST_SUBTOTAL_STEPS) * 2
            return
        if any(rest < wanted for rest, wanted in zip(left[at], target, strict=True)):
            return
        smaller = [wanted - own for wanted, own in zip(target, columns[at], strict=True)]
        if min(smaller) >= 0:
            self._step(columns, left, smaller, at + 1, (*taken, at))
        self._step(columns, left, target, at + 1, taken)


def levels_of(rows: Mapping[str | None, Sequence[str | None]], top: str, codes: Mapping[str, int]) -> dict[int, int]:
    """The value that each value is part of, by a hierarchy: the next of its labels that the dimension has.

    Args:
        rows: each value with its labels, finest first. top: the label of the highest level. codes: of the values that
            the dimension has.

    Example:
        >>> rows = {"10115": ("Berlin", "East"), "04103": ("Leipzig", "East")}
        >>> levels_of(rows, "*", {"10115": 1, "04103": 2, "East": 3, "*": 4})
        {1: 3, 3: 4, 2: 3}
    """
    found: dict[int, int] = {}
    for value, labels in rows.items():
        chain = [codes[name] for name in (value, *labels, top) if name is not None and name in codes]
        for part, whole in pairwise(chain):
            put_under(found, part, whole)
    return found


def put_under(found: dict[int, int], part: int, whole: int) -> None:
    """Make a value part of another one, where it is part of none yet, and the other one is no part of it."""
    above = whole
    while above != part and above in found:
        above = found[above]
    if part not in found and above != part:
        found[part] = whole


MISSING, ALL = 0, 0
"""The codes of a missing value, and, where grouping sets say it, of all values together (a missing one is then 1)."""


def with_totals(engine: Engine, listed: ListedCells, cells: TableCells, request: AggregatesRequest) -> TableCells:
    """The cells with what is part of what in each dimension.

    Raises:
        UsageError: a total that no cell has, or a hierarchy that lists no values.
    """
    if listed.flags:
        return _with(cells, {place: ALL for place in range(len(listed.names)) if _has(cells, place, ALL)})
    if not listed.finished:
        return cells
    return structured(cells, stated_totals(engine, listed, cells, request))


@dataclass(frozen=True)
class StatedTotals:
    """What names and hierarchies say of totals, before any number is looked at; all by dimension.

    Args:
        words: the codes that read like a total; several are not clear, and an empty list says that none is looked for.
        links: what a hierarchy says is part of what. unlisted: the codes that it says nothing of.
        named: the dimensions whose total somebody named; no other value is looked for there.
        siblings: the codes whose labels say that they are no total. nested: the code that each code extends.
        orphans: the dimensions in which longer codes extend none. fewest: a smaller difference between a code and those
            that extend it reveals people.
    """

    words: Mapping[int, list[int]]
    links: Mapping[int, dict[int, int]]
    unlisted: Mapping[int, list[int]]
    named: frozenset[int]
    siblings: Mapping[int, set[int]] = field(default_factory=dict)
    nested: Mapping[int, dict[int, int]] = field(default_factory=dict)
    orphans: Mapping[int, bool] = field(default_factory=dict)
    fewest: int = 1

    def within(self, cells: TableCells) -> StatedTotals:
        """The same of one of several tables that were read together: with the codes that it has."""
        own = {place: [code for code in codes if _has(cells, place, code)] for place, codes in self.words.items()}
        return replace(self, words={place: codes for place, codes in own.items() if codes or not self.words[place]})


def stated_totals(engine: Engine, listed: ListedCells, cells: TableCells, request: AggregatesRequest) -> StatedTotals:
    """What the request and the names of values say of totals.

    Raises:
        UsageError: a named total that no cell has, or a hierarchy that lists no values.
    """
    named = request.totals()
    words = _total_words(engine, listed, cells, named)
    links, unlisted = _listed_levels(engine, listed, cells, None if request.nested() else request.hierarchies)
    found = listed.labels(engine, [np.unique(column).tolist() for column in cells.keys.T])
    siblings, nested, orphans = {}, {}, {}
    for place, name in enumerate(request.by):
        labels = {code: text for (at, code), text in found.items() if at == place and code not in words.get(place, [])}
        siblings[place] = never_totals(labels)
        nested[place], orphans[place] = code_parents(labels)
        if name == request.nested():
            links[place] = nested.pop(place)
    counts = [int(one.parameters["n"]) for one in request.requirements if one.model == "threshold"]
    fewest = FREE if request.protect else max(counts, default=1)
    of_names = frozenset(map(request.by.index, named))
    return StatedTotals(words, links, unlisted, of_names, siblings, nested, orphans, fewest)


def structured(cells: TableCells, stated: StatedTotals) -> TableCells:
    """The cells of one table, which have no totals yet, with what is part of what."""
    words, links, unlisted = stated.words, stated.links, stated.unlisted
    labelled = {place: codes[0] for place, codes in words.items() if len(codes) == 1}
    unclear = {place: codes for place, codes in words.items() if len(codes) > 1}
    rolled_up: dict[int, list[int]] = {}
    nested: dict[int, set[int]] = {}
    found = dict(labelled)
    for place in range(len(cells.dimensions)):
        total = labelled.get(place)
        if place in links:
            cells = _linked(cells, place, links[place], total)
        elif not (_is_missing_total(cells, place) if total is None else adds_up(cells, place, total)):
            own, unclear_codes = ({}, set()) if words.get(place) == [] else _nested_codes(cells, place, stated)
            own = own or subtotals_of(cells, place, [] if total is None else [total])
            cells = _linked(cells, place, own, total)
            if unclear_codes := unclear_codes - set(own.values()):
                nested[place] = unclear_codes
                cells = cells.with_dimension(place, replace(cells.dimensions[place], nested=True))
        if words.get(place) == []:
            continue
        if place not in found and _is_missing_total(cells, place):
            found[place] = MISSING
        missing_root = place not in found and place not in words and _is_missing_root(cells, place)
        if missing_root and may_be_total(cells, place, MISSING):  # some of the others may have no row
            unclear[place] = [MISSING]
            rolled_up[place] = [MISSING]
        elif place not in stated.named and place not in links and not bool(cells.dimensions[place].is_grand.any()):
            likely = likely_totals(cells, place, found.get(place))
            likely += [] if place in found else lone_totals(cells, place, found)
            unclear[place] = [*unclear.get(place, []), *(set(likely) - stated.siblings.get(place, set()))]
        if place in unlisted and not (place in found and adds_up(cells, place, found[place])):
            unclear[place] = [*unclear.get(place, []), *(set(unlisted[place]) - {found.get(place)})]
    cells = replace(
        _with(cells, found),
        unclear=cells_with(cells, unclear),
        nested=cells_with(cells, nested),
        rolled_up=cells_with(cells, rolled_up),
    )
    return with_left_out(cells)


def _nested_codes(cells: TableCells, place: int, stated: StatedTotals) -> tuple[dict[int, int], set[int]]:
    """Return the tree that codes form and numbers prove, or else the codes that may be totals of what extends them.

    A tree is proven where every code but the shortest extends another one, and where each code whose parts are all
    published is their sum. A code may be a total where it is never less than its parts, and one of them is hidden or
    few people are missing.
    """
    parents = {part: whole for part, whole in stated.nested.get(place, {}).items() if _has(cells, place, part)}
    parents = {part: whole for part, whole in parents.items() if _has(cells, place, whole)}
    if not parents:
        return {}, set()
    refuted, inexact, exact, unclear = set[int](), set[int](), set[int](), set[int]()
    size = cells.dimensions[place].size
    above = np.full(size, NO_PARENT, dtype=np.int64)
    above[list(parents)] = list(parents.values())
    codes, (group, _) = cells.keys[:, place].astype(np.int64), cells.groups(place)
    part, own = np.flatnonzero(above[codes] != NO_PARENT), group * size + codes
    families, at = np.unique(group[part] * size + above[codes[part]], return_inverse=True)
    order = np.argsort(own, kind="stable")
    whole = order[np.minimum(np.searchsorted(own[order], families), len(own) - 1)]
    there, wholes = own[whole] == families, families % size
    parts = np.bincount(above[list(parents)], minlength=size)[wholes]
    for name, one in measures_of(cells):
        sums = np.zeros(len(families), dtype=one.units.dtype)
        np.add.at(sums, at, np.where(one.known[part], one.units[part], 0))
        shown, rows = (np.bincount(some, minlength=len(families)) for some in (at[one.known[part]], at))
        left, read = one.units[whole] - sums, there & one.known[whole]
        fewest = stated.fewest if name == "count" else min(stated.fewest, 1)
        near = (shown < rows) & (left < most_hidden(one.some(part), at, len(families)) + stated.fewest)
        refuted |= set(wholes[read & (left < 0)].tolist())
        inexact |= set(wholes[read & (shown == parts) & (left != 0)].tolist())
        exact |= set(wholes[read & (shown == parts) & (parts > 1) & (left == 0) & (sums > 0)].tolist())
        unclear |= set(wholes[(there & ~read) | (read & (near | ((left > 0) & (left < fewest))))].tolist())
    if exact and not refuted and not inexact and not stated.orphans.get(place):
        return parents, set()
    for code in list(unclear):
        while (code := parents.get(code, NO_PARENT)) != NO_PARENT:
            unclear.add(code)
    return {}, unclear - refuted


def cells_with(cells: TableCells, codes: Mapping[int, Collection[int]]) -> Bools | None:
    """Which cells have one of some codes in a dimension; None where no dimension is given."""
    if not codes:
        return None
    found = np.zeros(len(cells), dtype=np.bool_)
    for place, some in codes.items():
        found |= np.isin(cells.keys[:, place], list(some))
    return found


def _has(cells: TableCells, place: int, code: int) -> bool:
    return bool(np.any(cells.keys[:, place] == code))


def _is_missing_total(cells: TableCells, place: int) -> bool:
    return _is_missing_root(cells, place) and adds_up(cells, place, MISSING)


def _is_missing_root(cells: TableCells, place: int) -> bool:
    """Whether some cell has a missing value, which is part of no other."""
    return bool(cells.dimensions[place].parents[MISSING] == NO_PARENT) and _has(cells, place, MISSING)


def _linked(cells: TableCells, place: int, links: Mapping[int, int], total: int | None) -> TableCells:
    """The cells whose values in a dimension are part of others; a total of everything is added later."""
    parents = cells.dimensions[place].parents.copy()
    for part, whole in links.items():
        if total not in (part, whole):
            parents[part] = whole
    cells = cells.with_dimension(place, replace(cells.dimensions[place], parents=parents))
    used = np.unique(cells.keys[:, place])
    tops = used[parents[used] == NO_PARENT]
    return _with(cells, {place: int(tops[0])}) if total is None and links and len(tops) == 1 else cells


def _with(cells: TableCells, totals: Mapping[int, int]) -> TableCells:
    for place, code in totals.items():
        cells = cells.with_dimension(place, with_total(cells.dimensions[place], code))
    return cells


def _total_words(engine: Engine, listed: ListedCells, cells: TableCells, named: dict[str, str]) -> dict[int, list[int]]:
    """The code of the total of each dimension that has one as it is named, or by a usual word; several of these.

    A total named by an empty text, which no cell has, is none: the list is empty.

    Raises:
        UsageError: a named total that no cell has.
    """
    by_label = {name: label for name, label in named.items() if label != "NULL"}
    places = {name: f"${number}" for number, name in enumerate(by_label, 1)}
    statement = render(
        "tabular/tabular_totals.sql",
        engine.dialect,
        source=listed.source,
        dimensions=list(listed.dimensions),
        named=[Raw(places[name]) if name in places else None for name in listed.names],
    )
    labelled: dict[int, list[int]] = {}
    for place, code in engine.run(statement, list(by_label.values())):
        labelled.setdefault(int(place), []).append(int(code))
    found = {}
    for place, name in enumerate(listed.names):
        codes = [MISSING] if named.get(name) == "NULL" else labelled.get(place, [])
        if named.get(name) == "" and not codes:
            found[place] = codes
            continue
        if name in named and not (codes and _has(cells, place, codes[0])):
            raise UsageError(f"{spelled('total')}: no cell has the value given for {name!r}.")
        if codes:
            found[place] = codes[:1] if name in named else codes
    return found


def _listed_levels(
    engine: Engine, listed: ListedCells, cells: TableCells, hierarchies: Any
) -> tuple[dict[int, dict[int, int]], dict[int, list[int]]]:
    """What is part of what in the dimensions that a file of hierarchies has, and the values that these leave out.

    Raises:
        UsageError: a hierarchy that lists no values.
    """
    if not hierarchies:
        return {}, {}
    made = read_hierarchies(hierarchies).for_columns(listed.names)
    wanted = [place for place, one in enumerate(made) if one.form]
    for place in wanted:
        if made[place].table is None:
            raise UsageError(
                f"{made[place].place}: subtotals need a list of the values of {listed.names[place]!r}: a tree, values, "
                "or a CSV file."
            )
    codes = [np.unique(cells.keys[:, place]).tolist() if place in wanted else [] for place in range(len(made))]
    labels = listed.labels(engine, codes)
    found, unlisted = {}, {}
    for place in wanted:
        table = made[place].table
        assert table is not None
        named = {label: code for (where, code), label in labels.items() if where == place}
        found[place] = levels_of(table.rows, table.top, named)
        known = {table.top, *table.rows, *chain.from_iterable(table.rows.values())}
        unlisted[place] = [code for label, code in named.items() if label not in known and code != MISSING]
    return found, unlisted


def with_total(dimension: Breakdown, total: int) -> Breakdown:
    """The dimension, all of whose values without a parent are now part of one."""
    parents = np.where(dimension.parents == NO_PARENT, total, dimension.parents).astype(np.int32)
    parents[total] = NO_PARENT
    return replace(dimension, parents=parents)


def adds_up(cells: TableCells, dimension: int, code: int) -> bool:
    """Whether the cells of one value are the sum of all others in a dimension, as far as these are published.

    Values that are part of others count with these. Nothing may contradict, and something must say so: a group of which
    everything is known and adds up.
    """
    codes = cells.keys[:, dimension]
    roots = (cells.dimensions[dimension].parents[codes] == NO_PARENT) | (codes == code)
    group, groups = cells.groups(dimension)
    total = codes[roots] == code
    said = False
    for one in cells.published:
        agrees = _agrees(CellMeasure(one.units[roots], one.known[roots]), group[roots], groups, total)
        if agrees is False:
            return False
        said |= bool(agrees)
    return said


def _agrees(one: CellMeasure, group: Wholes, groups: int, total: Bools) -> bool | None:
    """Whether totals of a measure are the sums of their groups; None when nothing tells."""
    units = one.units
    sums = np.zeros(groups, dtype=units.dtype)
    np.add.at(sums, group[~total], units[~total])
    whole = np.bincount(group[~total & ~one.known], minlength=groups) == 0
    parts = np.bincount(group[~total], minlength=groups)
    at = np.flatnonzero(total & one.known)
    at = at[parts[group[at]] > 0]
    complete = whole[group[at]]
    found, expected = units[at], sums[group[at]]
    if bool(np.any(complete & (found != expected))) or bool(np.any(~complete & (found < expected))):
        return False
    return True if bool(np.any(complete & (parts[group[at]] > 1))) else None


# From a published table to its cells as numbers. Keys become codes in the database.


def with_spellings(engine: Engine, listed: ListedCells, cells: TableCells) -> TableCells:
    """The cells, with those marked whose values differ from others in large letters or blanks only.

    Nothing is looked at where no cell is hidden.
    """
    if not bool(cells.hidden.any()) or listed.flags:
        return cells
    statement = render(
        "tabular/tabular_spellings.sql", engine.dialect, source=listed.source, dimensions=list(listed.dimensions)
    )
    found = np.zeros(len(cells), dtype=np.bool_)
    for place, code in engine.run(statement):
        found |= cells.keys[:, int(place)] == int(code)
    return replace(cells, misnamed=found) if bool(found.any()) else cells


def unmatched(used: Sequence[Sequence[set[int]]]) -> list[list[set[int]]]:
    """For each table and dimension the values that another table lacks, which has others that this one lacks.

    Args:
        used: for each table the codes of each dimension, empty where it does not have it.

    Example:
        >>> unmatched([[{1, 2}, {5}], [{1, 3}, set()], [{1}, {5}]])
        [[{2}, set()], [{3}, set()], [set(), set()]]
    """
    found: list[list[set[int]]] = []
    for own in used:
        beside = [[(mine - theirs, theirs - mine) for mine, theirs in zip(own, other, strict=True)] for other in used]
        found.append([set().union(*(a for a, b in pairs if a and b)) for pairs in zip(*beside, strict=True)])
    return found


def read_cells(engine: Engine, listed: ListedCells, request: AggregatesRequest) -> TableCells:
    """The cells with their numbers, and which of them are totals.

    Raises:
        InputError: cells that are neither a number nor marked as hidden.
    """
    arrays = engine.columns_as_arrays(listed.statement(engine.dialect))
    columns = list(arrays.values())
    width = len(listed.names)
    keys = np.stack([np.ma.getdata(one).astype(np.int32) for one in columns[:width]], axis=1)
    given = dict(zip(listed.measures, columns[width:], strict=True))
    flags, release = given.pop("structural", None), given.pop("release", None)
    structural = None if flags is None else np.ma.filled(flags, False).astype(np.bool_)
    marks = request.marks()
    measures = {
        name: measure(
            listed.columns.get(name, name), column, [mark.text for mark in marks if mark.text], request.decimal
        )
        for name, column in given.items()
    }
    measures |= {name: replace(measures[name], places=places) for name, places in listed.places.items()}
    check_contributions(measures)
    if listed.rows is None:
        counted = "count" if "count" in measures else "contributors"
        for name in {counted, "value"} & set(measures):
            least = _least_hidden(measures[name], structural, request) if name == counted else None
            found = limits_of(measures[name], given[name], marks, least)
            limits = found.limits and replace(found.limits, least=least or 0, stated=request.zeros == "shown")
            measures[name] = replace(found, limits=limits)
    for place in range(len(request.rates())):
        rate, denominator = measures.pop(f"rate_{place}"), measures.pop(f"denominator_{place}")
        measures["count"] = with_rate(measures["count"], rate, denominator)
    cells = replace(_cells(listed, keys, measures, structural), release=release)
    if listed.finished:
        cells = _with_sizes(cells, request)
        _check_order(listed, cells)
        cells = with_spellings(engine, listed, cells)
    return with_totals(engine, listed, cells, request)


def _least_hidden(one: CellMeasure, structural: Bools | None, request: AggregatesRequest) -> int:
    """Return the least number that a hidden count can be: 1 where zeros are published, or said to be."""
    zeros = one.known & (one.units == 0) & (True if structural is None else ~structural)
    return int(request.zeros == "shown" or (not request.zeros and bool(zeros.any())))


def with_rate(count: CellMeasure, rate: CellMeasure, denominator: CellMeasure) -> CellMeasure:
    """Return the counts with the limits that published rates set for hidden ones.

    A rate is count / denominator, or a hundred, thousand … times that, rounded to its last decimal place. Where no
    published count exceeds its denominator, no hidden one does, even where its rate is hidden, too.

    Raises:
        InputError: published counts do not fit the rates, or a rate has neither a count nor a denominator beside it.
    """
    if alone := int((rate.known & ~count.known & ~denominator.known).sum()):
        raise InputError(
            f"{plural(alone, 'rate')} without a count and a denominator cannot be judged. Hide the rate there, too, or "
            f"leave out {spelled('rate')}."
        )
    half = Fraction(1, 2 * 10**rate.places)
    shown = np.flatnonzero(denominator.known & count.known).tolist()
    is_part = all(_exact(count, cell) <= _exact(denominator, cell) for cell in shown)
    shown = [cell for cell in shown if rate.known[cell]]

    def bounds(cell: int, scale: int) -> tuple[int, int]:
        of = _exact(denominator, cell)
        if not rate.known[cell]:
            return 0, floor(of)
        value = _exact(rate, cell)
        return ceil(of * (value - half) / scale), floor(of * (value + half) / scale)

    scales = []
    for scale in (1, 100, 1000, 10_000, 100_000):
        limits_shown = (bounds(cell, scale) for cell in shown)
        if all(low <= _exact(count, cell) <= high for cell, (low, high) in zip(shown, limits_shown, strict=True)):
            scales.append(scale)
    if not scales:
        raise InputError(
            f"Rates are not the count divided by the denominator in {plural(len(shown), 'published cell')}. Correct "
            f"{spelled('rate')}, or give the rates with more decimal places."
        )
    both = rate.known & denominator.known
    scale = next((one for one in scales if not bool((rate.units[both] > one * 10**rate.places).any())), scales[-1])
    limits = count.limits or CellLimits.none(len(count.units))
    for cell in np.flatnonzero(denominator.known & (rate.known | is_part) & ~count.known).tolist():
        low, high = bounds(cell, scale)
        limits.lower[cell] = max(int(limits.lower[cell]), low)
        limits.upper[cell] = min(int(limits.upper[cell]), high)
    return replace(count, limits=limits)


def _exact(one: CellMeasure, cell: int) -> Fraction:
    return Fraction(int(one.units[cell]), 10**one.places)


def _with_sizes(cells: TableCells, request: AggregatesRequest) -> TableCells:
    """Return the cells with the sizes of their largest contributions, where some are negative.

    What the other contributions add up to, with their signs, is the least that their sizes add up to.

    Raises:
        InputError: a contribution is negative, and nothing says that sizes count.
    """
    negative = sum(int((one.known & (one.units < 0)).sum()) for one in cells.largest)
    if negative and request.negative != "absolute":
        raise InputError(
            f"{plural(negative, 'contribution')} of {spelled('largest')} {'is' if negative == 1 else 'are'} negative. "
            f"Compare sizes with {spelled('negative', 'absolute')}."
        )
    together = cells.top(len(cells.largest)) if cells.largest else None
    if request.negative != "absolute" or together is None or cells.value is None:
        return cells
    largest = tuple(replace(one, units=np.abs(one.units)) for one in cells.largest)
    sizes = replace(cells, largest=largest).top(len(largest))
    assert sizes is not None
    rest = np.abs(minus(cells.value.units, together.units))
    volume = CellMeasure(plus(sizes.units, rest), cells.value.known & sizes.known, cells.value.places)
    return replace(cells, largest=largest, volume=volume)


def _check_order(listed: ListedCells, cells: TableCells) -> None:
    """Nothing where contributions are in falling order, as rules take them.

    Raises:
        InputError: a cell has a larger one behind a smaller one.
    """
    for place, (first, second) in enumerate(pairwise(cells.largest), 1):
        if wrong := int((first.known & second.known & (first.units < second.units)).sum()):
            names = [listed.columns[f"largest_{at}"] for at in (place, place + 1)]
            raise InputError(
                f"{names[0]!r} is less than {names[1]!r} in {plural(wrong, 'cell')}. {spelled('largest')} needs the "
                "contributions of every row in falling order."
            )


def _cells(listed: ListedCells, keys: Codes, measures: dict[str, CellMeasure], structural: Bools | None) -> TableCells:
    """Cells without totals yet; whatever is money has equally many decimal places."""
    weights = [name for name in measures if name.startswith("weight_")]
    largest = [name for name in measures if name.startswith("largest_")]
    money = [name for name in ("value", *largest) if name in measures]
    for some in (money, weights):
        measures |= dict(zip(some, alike([measures[name] for name in some]), strict=True))
    if (many := measures.get("contributors", measures.get("count"))) is not None:
        for place, name in enumerate(largest, 1):  # a contribution is known to be 0 where there are fewer contributors
            one, fewer = measures[name], (many.known & (many.units < place * 10**many.places)).astype(np.bool_)
            units = np.where(fewer & ~one.known, 0, one.units)
            measures[name] = replace(one, units=units, known=one.known | fewer)
    counts = {name: measures[name] for name in ("count", "contributors", "holdings") if name in measures}
    fractional = [one.units % 10**one.places != 0 for one in counts.values() if one.places]
    measures |= {
        name: CellMeasure(one.units // 10**one.places, one.known, limits=None if one.places else one.limits)
        for name, one in counts.items()
    }
    if fractional and bool(np.logical_or.reduce(fractional).any()):  # 1.204 may be 1,204: no count is small for certain
        counted = measures.get("contributors", measures["count"])
        measures["contributors"] = replace(counted, known=counted.known & False)
    keys += bool(listed.flags)
    sizes = (keys.max(axis=0, initial=0) + 1).tolist()
    return TableCells(
        tuple(map(Breakdown.plain, listed.names, sizes)),
        keys,
        measures.get("count", None if money or listed.rows else measures.get("contributors")),  # all there is
        measures.get("contributors", measures.get("count")),
        measures.get("value"),
        tuple(measures[name] for name in largest),
        tuple(measures[name] for name in weights),
        measures.get("holdings"),
        structural,
        np.logical_or.reduce(fractional) if fractional else None,
    )
